//! Establishing connections between all parties: of two, the one with the lower number listens.
//!
//! Takes the configuration and the greeting of this party; gives a connection with each other one,
//! the name of the session, and the keys of the streams. Leaves no thread behind.
//!
//! A program that dials in and is no party costs one thread for [`HANDSHAKE_TIMEOUT`] at most, of
//! [`MAX_UNAUTHENTICATED_CONNECTIONS`] threads.

use super::Limits;
use super::identity::Identity;
use crate::config::Config;
use crate::frame::SessionName;
use crate::handshake::{
    ConnectError, EXPORTER_LABEL, Hash, Hello, MAX_HELLO_BYTES, session_name, verify_agreement,
};
use crate::network::PartyId;
use crate::network::stream::Key;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// The number of connections that have not proved yet who they are, at most.
const MAX_UNAUTHENTICATED_CONNECTIONS: usize = 32;

/// The time that TLS and a greeting may take at most.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that one attempt to reach an address may take at most.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time that who was refused may take to read why.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// The time between two looks at sockets and flags.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time between two attempts to reach an address.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// One party that is connected.
pub struct ConnectedParty {
    /// The socket.
    pub socket: TcpStream,
    /// TLS on it, after the handshake; it may hold bytes that have come already.
    pub connection: Connection,
}

/// All parties that are connected.
pub struct Session {
    /// The name of the session.
    pub name: SessionName,
    /// The connection with each party; `None` for this one.
    pub peers: Vec<Option<ConnectedParty>>,
    /// The master key of the stream with each party, and of this party's own.
    pub keys: Vec<Key>,
}

/// A report of a thread that connects.
enum Report {
    /// A party has greeted.
    Greeted(Box<(PartyId, ConnectedParty, Hello)>),
    /// A failure that no retry repairs.
    Failed(ConnectError),
    /// An attempt to reach a party failed, or a party or somebody else failed to reach this one.
    Attempt(Option<PartyId>, String),
}

/// State that all threads share.
struct Common<'a> {
    config: &'a Config,
    identity: &'a Identity,
    names: &'a [String],
    hello: Vec<u8>,
    me: PartyId,
    deadline: Instant,
    cancelled: AtomicBool,
}

/// The use of a socket until a deadline, or until everything is cancelled.
pub(super) struct TimedSocket<'a> {
    pub(super) socket: &'a TcpStream,
    pub(super) deadline: Instant,
    pub(super) cancelled: &'a AtomicBool,
}

impl TimedSocket<'_> {
    /// Repeats an operation that waits for the socket.
    fn repeat<T>(&self, mut operation: impl FnMut(&TcpStream) -> io::Result<T>) -> io::Result<T> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.cancelled.load(Ordering::Relaxed) {
                return Err(io::Error::new(ErrorKind::TimedOut, "it takes too long"));
            }
            let wait = Some(left.min(POLL_INTERVAL));
            self.socket.set_read_timeout(wait)?;
            self.socket.set_write_timeout(wait)?;
            match operation(self.socket) {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                other => return other,
            }
        }
    }
}

impl Read for TimedSocket<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.repeat(|mut socket| socket.read(bytes))
    }
}

impl Write for TimedSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.repeat(|mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects with all parties, and agrees with them on what is run.
///
/// # Errors
/// See [`ConnectError`].
pub fn establish(
    config: &Config,
    identity: &Identity,
    hello: Hello,
    limits: &Limits,
    interrupt: &AtomicBool,
) -> Result<Session, ConnectError> {
    let me = hello.from;
    let names: Vec<String> = hello.parties.iter().map(|(name, _)| name.clone()).collect();
    let common = Common {
        config,
        identity,
        names: &names,
        hello: hello.encode(),
        me,
        deadline: Instant::now() + limits.connect,
        cancelled: AtomicBool::new(false),
    };
    let (mut peers, mut hellos) = (Vec::new(), vec![hello]);
    for (party, (joined, hello)) in common.gather(interrupt)?.into_iter().enumerate() {
        // This party is none of the gathered ones: its place is between them.
        peers.push(Some(joined));
        if party < me {
            hellos.insert(party, hello);
        } else {
            hellos.push(hello);
        }
    }
    peers.insert(me, None);
    let agreed = verify_agreement(me, &hellos)?;
    common.confirm(&mut peers, &agreed, interrupt)?;
    let keys = common.keys(&peers, &agreed)?;
    for (party, joined) in peers.iter().enumerate() {
        if let Some(ConnectedParty { socket, .. }) = joined {
            let ready = socket.set_read_timeout(None).and_then(|()| socket.set_write_timeout(None));
            ready.map_err(|_| ConnectError::Lost { party: names[party].clone() })?;
        }
    }
    Ok(Session { name: session_name(&agreed), peers, keys })
}

impl Common<'_> {
    fn name(&self, party: PartyId) -> String {
        self.names[party].clone()
    }

    /// Gives the other parties in their order, each with its greeting.
    fn gather(&self, interrupt: &AtomicBool) -> Result<Vec<(ConnectedParty, Hello)>, ConnectError> {
        let listener = if self.me + 1 < self.names.len() { Some(self.listen()?) } else { None };
        let server = self.identity.server()?;
        let strangers = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let outcome = self.start(scope, listener, server, &strangers, interrupt);
            // All threads look at this flag; the scope waits for them.
            self.cancelled.store(true, Ordering::Relaxed);
            outcome
        })
    }

    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        listener: Option<TcpListener>,
        server: Arc<ServerConfig>,
        strangers: &'scope AtomicUsize,
        interrupt: &AtomicBool,
    ) -> Result<Vec<(ConnectedParty, Hello)>, ConnectError> {
        let (reports, reported) = channel();
        if let Some(listener) = listener {
            let reports = reports.clone();
            spawn(scope, move || self.accept(scope, &listener, &server, strangers, &reports))?;
        }
        for party in 0..self.me {
            let (config, reports) = (self.identity.client(party)?, reports.clone());
            spawn(scope, move || self.dial(party, &config, &reports))?;
        }
        let mut greeted: Vec<Option<(ConnectedParty, Hello)>> = self.names.iter().map(|_| None).collect();
        let mut attempts: Vec<Option<String>> = vec![None; self.names.len()];
        let mut stranger = None;
        loop {
            let mut missing =
                (0..self.names.len()).filter(|&party| party != self.me && greeted[party].is_none());
            let Some(party) = missing.next() else {
                return Ok(greeted.into_iter().flatten().collect());
            };
            if interrupt.load(Ordering::Relaxed) {
                return Err(ConnectError::Interrupted);
            }
            if Instant::now() >= self.deadline {
                let why = attempts.swap_remove(party).or(if party > self.me { stranger } else { None });
                return Err(ConnectError::Absent { party: self.name(party), why });
            }
            match reported.recv_timeout(POLL_INTERVAL) {
                // Who greets again has lost its first connection.
                Ok(Report::Greeted(report)) => {
                    let (party, joined, hello) = *report;
                    greeted[party] = Some((joined, hello));
                }
                Ok(Report::Failed(error)) => return Err(error),
                Ok(Report::Attempt(Some(party), why)) => attempts[party] = Some(why),
                Ok(Report::Attempt(None, why)) => stranger = Some(why),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn listen(&self) -> Result<TcpListener, ConnectError> {
        let entry = self.config.entry(&self.names[self.me])?;
        let address = entry.listen.as_ref().unwrap_or(&entry.address);
        let listener =
            TcpListener::bind(address).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        listener.map_err(|error| ConnectError::Listen { address: address.clone(), why: error.to_string() })
    }

    /// Listens until all is cancelled.
    fn accept<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        listener: &TcpListener,
        server: &Arc<ServerConfig>,
        strangers: &'scope AtomicUsize,
        reports: &Sender<Report>,
    ) {
        while !self.cancelled.load(Ordering::Relaxed) {
            let Ok((socket, address)) = listener.accept() else {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            };
            if strangers.fetch_add(1, Ordering::Relaxed) >= MAX_UNAUTHENTICATED_CONNECTIONS {
                strangers.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (server, reports) = (server.clone(), reports.clone());
            let started = spawn(scope, move || {
                let report = self.accept_handshake(socket, server, address);
                // Nobody listens any more when all parties are there.
                let _ = reports.send(report);
                strangers.fetch_sub(1, Ordering::Relaxed);
            });
            if started.is_err() {
                strangers.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Identifies the peer of an incoming connection.
    fn accept_handshake(&self, socket: TcpStream, server: Arc<ServerConfig>, address: SocketAddr) -> Report {
        let refused = |party, why: &dyn std::fmt::Display| {
            Report::Attempt(party, format!("a connection from {address} was refused: {why}"))
        };
        let ready = socket.set_nonblocking(false).and_then(|()| socket.set_nodelay(true));
        if let Err(error) = ready {
            return refused(None, &error);
        }
        let mut connection = match ServerConnection::new(server) {
            Ok(connection) => Connection::Server(connection),
            Err(error) => return refused(None, &error),
        };
        let shaken = self.complete_handshake(&socket, &mut connection);
        let known = connection.peer_certificates().and_then(|certificates| certificates.first());
        let party = self.identity.certificates().iter().position(|own| Some(own) == known);
        if let Err(error) = shaken {
            self.drain_before_close(&socket);
            return refused(party, &error_text(&error));
        }
        let Some(party) = party.filter(|&party| party > self.me) else {
            return refused(None, &"it comes from no party that dials");
        };
        let greeting = self
            .send_framed(&socket, &mut connection, &self.hello)
            .and_then(|()| self.receive_hello(&socket, &mut connection));
        match greeting {
            Ok(Some(hello)) => {
                Report::Greeted(Box::new((party, ConnectedParty { socket, connection }, hello)))
            }
            Ok(None) => Report::Failed(ConnectError::Greeting { party: self.name(party) }),
            Err(error) => refused(Some(party), &error_text(&error)),
        }
    }

    /// Drains the socket of a refused peer, so that a TCP reset does not discard the reason.
    fn drain_before_close(&self, socket: &TcpStream) {
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut timed = self.timed(socket, LINGER_TIMEOUT);
        let mut rest = [0; 1 << 12];
        while matches!(timed.read(&mut rest), Ok(1..)) {}
    }

    /// Dials until the party answers.
    fn dial(&self, party: PartyId, config: &Arc<ClientConfig>, reports: &Sender<Report>) {
        while !self.cancelled.load(Ordering::Relaxed) && Instant::now() < self.deadline {
            let report = self.try_connect(party, config);
            let again = matches!(report, Report::Attempt(..));
            if reports.send(report).is_err() || !again {
                return;
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Dials once.
    fn try_connect(&self, party: PartyId, config: &Arc<ClientConfig>) -> Report {
        let again = |why: String| Report::Attempt(Some(party), why);
        let address = match self.config.entry(&self.names[party]) {
            Ok(entry) => &entry.address,
            Err(error) => return Report::Failed(error.into()),
        };
        let socket = match connect_tcp(address, self.deadline) {
            Ok(socket) => socket,
            Err(error) => return again(format!("{address}: {error}")),
        };
        // Names are not compared; a socket needs one.
        let name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
        let mut connection = match ClientConnection::new(config.clone(), name) {
            Ok(connection) => Connection::Client(connection),
            Err(error) => return Report::Failed(ConnectError::System { why: error.to_string() }),
        };
        // The other greets first: who is refused reads the reason before it sends more.
        let greeting = self
            .complete_handshake(&socket, &mut connection)
            .and_then(|()| self.receive_hello(&socket, &mut connection))
            .and_then(|hello| self.send_framed(&socket, &mut connection, &self.hello).map(|()| hello));
        let error = match greeting {
            Ok(Some(hello)) => {
                return Report::Greeted(Box::new((party, ConnectedParty { socket, connection }, hello)));
            }
            Ok(None) => return Report::Failed(ConnectError::Greeting { party: self.name(party) }),
            Err(error) => error,
        };
        match tls_error(&error) {
            Some(rustls::Error::InvalidCertificate(_)) => {
                Report::Failed(ConnectError::Impostor { party: self.name(party), address: address.clone() })
            }
            Some(rustls::Error::AlertReceived(_)) => {
                Report::Failed(ConnectError::Refused { party: self.name(party), why: error_text(&error) })
            }
            _ => again(format!("{address}: {}", error_text(&error))),
        }
    }

    fn timed<'a>(&'a self, socket: &'a TcpStream, limit: Duration) -> TimedSocket<'a> {
        let deadline = self.deadline.min(Instant::now() + limit);
        TimedSocket { socket, deadline, cancelled: &self.cancelled }
    }

    /// Does the handshake of TLS.
    fn complete_handshake(&self, socket: &TcpStream, connection: &mut Connection) -> io::Result<()> {
        let mut timed = self.timed(socket, HANDSHAKE_TIMEOUT);
        while connection.is_handshaking() {
            connection.complete_io(&mut timed)?;
        }
        Ok(())
    }

    /// Sends bytes, with their number first.
    fn send_framed(&self, socket: &TcpStream, connection: &mut Connection, bytes: &[u8]) -> io::Result<()> {
        let mut timed = self.timed(socket, HANDSHAKE_TIMEOUT);
        write_all(connection, &mut timed, &(bytes.len() as u32).to_le_bytes())?;
        write_all(connection, &mut timed, bytes)
    }

    /// Receives a greeting; `None` if it is something else.
    fn receive_hello(&self, socket: &TcpStream, connection: &mut Connection) -> io::Result<Option<Hello>> {
        let mut timed = self.timed(socket, HANDSHAKE_TIMEOUT);
        let mut length = [0; 4];
        read_exact(connection, &mut timed, &mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HELLO_BYTES {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        read_exact(connection, &mut timed, &mut bytes)?;
        Ok(Hello::decode(&bytes))
    }

    /// Tells all parties which greetings this one has heard, and waits until all have said the
    /// same. A party that still waits for another one takes as long as it may.
    fn confirm(
        &self,
        peers: &mut [Option<ConnectedParty>],
        agreed: &Hash,
        interrupt: &AtomicBool,
    ) -> Result<(), ConnectError> {
        let deadline = self.deadline + HANDSHAKE_TIMEOUT;
        let lost = |party: PartyId, error: io::Error| match error.kind() {
            _ if interrupt.load(Ordering::Relaxed) => ConnectError::Interrupted,
            ErrorKind::TimedOut => ConnectError::Absent {
                party: self.names[party].clone(),
                why: Some("it has greeted and is still waiting for another party".into()),
            },
            _ => ConnectError::Lost { party: self.names[party].clone() },
        };
        for (party, joined) in peers.iter_mut().enumerate() {
            let Some(ConnectedParty { socket, connection }) = joined else { continue };
            let mut timed = TimedSocket { socket, deadline, cancelled: interrupt };
            write_all(connection, &mut timed, agreed).map_err(|error| lost(party, error))?;
        }
        for (party, joined) in peers.iter_mut().enumerate() {
            let Some(ConnectedParty { socket, connection }) = joined else { continue };
            let mut timed = TimedSocket { socket, deadline, cancelled: interrupt };
            let mut heard = Hash::default();
            read_exact(connection, &mut timed, &mut heard).map_err(|error| lost(party, error))?;
            if heard != *agreed {
                return Err(ConnectError::Session { party: self.name(party) });
            }
        }
        Ok(())
    }

    /// Derives the master keys of the streams.
    fn keys(&self, peers: &[Option<ConnectedParty>], agreed: &Hash) -> Result<Vec<Key>, ConnectError> {
        let key = |joined: &Option<ConnectedParty>| match joined {
            Some(ConnectedParty { connection, .. }) => connection
                .export_keying_material(Key::default(), EXPORTER_LABEL, Some(agreed))
                .map_err(|error| ConnectError::System { why: error.to_string() }),
            None => random_bytes(),
        };
        peers.iter().map(key).collect()
    }
}

/// Sends bytes through TLS.
pub(super) fn write_all(
    connection: &mut Connection,
    timed: &mut TimedSocket<'_>,
    bytes: &[u8],
) -> io::Result<()> {
    connection.writer().write_all(bytes)?;
    while connection.wants_write() {
        connection.write_tls(timed)?;
    }
    Ok(())
}

/// Receives bytes through TLS.
pub(super) fn read_exact(
    connection: &mut Connection,
    timed: &mut TimedSocket<'_>,
    mut bytes: &mut [u8],
) -> io::Result<()> {
    while !bytes.is_empty() {
        match connection.reader().read(bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => bytes = &mut bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if connection.read_tls(timed)? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                let processed = connection.process_new_packets();
                processed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Draws bytes that nobody else knows.
///
/// # Errors
/// The operating system has none.
pub fn random_bytes() -> Result<Key, ConnectError> {
    let mut bytes = Key::default();
    let random = ring::rand::SystemRandom::new();
    ring::rand::SecureRandom::fill(&random, &mut bytes)
        .map_err(|_| ConnectError::System { why: "there is no randomness".into() })?;
    Ok(bytes)
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> Result<(), ConnectError> {
    let spawned = Builder::new().name("parties".into()).spawn_scoped(scope, work);
    spawned.map(drop).map_err(|error| ConnectError::System { why: error.to_string() })
}

fn connect_tcp(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now()).min(CONNECT_TIMEOUT);
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Says in words why a connection was not made.
fn error_text(error: &io::Error) -> String {
    use rustls::AlertDescription as Alert;
    use rustls::Error;
    match tls_error(error) {
        Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => {
            "its certificate is of no party".into()
        }
        Some(Error::AlertReceived(
            Alert::AccessDenied
            | Alert::BadCertificate
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::CertificateRequired,
        )) => "it knows another certificate of this party".into(),
        Some(Error::InvalidMessage(_) | Error::InappropriateMessage { .. }) => {
            "what answers does not speak TLS 1.3".into()
        }
        Some(error) => error.to_string(),
        None if error.kind() == ErrorKind::UnexpectedEof => "the connection was closed".into(),
        None => error.to_string(),
    }
}

/// Finds the number of a party.
///
/// # Errors
/// The program has no such party.
pub fn party_number(parties: &[String], name: &str) -> Result<PartyId, ConnectError> {
    let at = parties.iter().position(|party| party == name);
    at.ok_or_else(|| ConnectError::NoParty { name: name.into() })
}
