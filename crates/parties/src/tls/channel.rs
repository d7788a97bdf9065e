//! A TLS connection between buffers.
//!
//! Takes plain bytes and gives sealed ones, and back. Never touches a socket: so the thread that
//! reads and the thread that writes both wait for the socket without holding the lock.

use crate::network::lock;
use rustls::Connection;
use std::io::{self, Read, Write};
use std::sync::Mutex;

/// A connection whose handshake is over.
pub struct Channel(Mutex<Connection>);

impl Channel {
    /// Takes over a connection.
    pub fn new(mut connection: Connection) -> Channel {
        // What is sealed is taken at once.
        connection.set_buffer_limit(None);
        Channel(Mutex::new(connection))
    }

    /// Seals bytes and appends the records to `sealed`, with those that TLS itself has to send;
    /// with `close`, also the one that says that no more will follow. Only one thread may call
    /// this, or records change their order.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn seal(&self, plain: &[u8], close: bool, sealed: &mut Vec<u8>) -> io::Result<()> {
        let connection = &mut *lock(&self.0);
        connection.writer().write_all(plain)?;
        if close {
            connection.send_close_notify();
        }
        while connection.wants_write() {
            connection.write_tls(sealed)?;
        }
        Ok(())
    }

    /// Opens records and appends what is in them to `plain`. Records may be cut anywhere. Returns
    /// whether the other side has said that no more will follow.
    ///
    /// # Errors
    /// The bytes were not sent by the other side, or not in this order.
    pub fn open(&self, mut sealed: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
        let connection = &mut *lock(&self.0);
        loop {
            if !sealed.is_empty() {
                connection.read_tls(&mut sealed)?;
            }
            let state = connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let ready = state.plaintext_bytes_to_read() as u64;
            if ready > 0 {
                connection.reader().take(ready).read_to_end(plain)?;
            }
            if sealed.is_empty() || state.peer_has_closed() {
                return Ok(state.peer_has_closed());
            }
        }
    }
}
