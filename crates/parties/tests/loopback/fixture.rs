//! Parties for tests: certificates, files, ports, and threads with a limit on hanging.

use felis_parties::{Config, ConnectError, Limits, Network, Options, connect, create_certificate};
use felis_runtime::network::{Header, Length, NetworkError, PartyId};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// The interrupt flag of a test, which nothing sets.
pub static NOT_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The limit on hanging of anything in these tests.
pub const MAX_HANG: Duration = Duration::from_secs(30);

pub const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// The certificates, addresses and limits of parties that could connect.
pub struct PartyFixture {
    pub folder: TempDir,
    pub names: Vec<String>,
    pub addresses: Vec<String>,
    pub limits: Limits,
}

/// Returns an address on which nobody listens. Its port is below those that the system gives to who
/// dials, and no other test of this process has it.
pub fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 10_000 + (std::process::id() * 64 % 20_000) as u16;
    loop {
        let port = base + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

impl PartyFixture {
    pub fn new(parties: usize) -> PartyFixture {
        let folder = tempfile::tempdir().expect("a folder");
        let names: Vec<String> = NAMES[..parties].iter().map(|name| name.to_string()).collect();
        let addresses: Vec<String> = names.iter().map(|_| free_address()).collect();
        for (name, address) in names.iter().zip(&addresses) {
            create_certificate(folder.path(), name, address).expect("a certificate");
        }
        let limits = Limits {
            connect: Duration::from_secs(20),
            heartbeat: Duration::from_millis(50),
            silence: Duration::from_secs(20),
        };
        PartyFixture { folder, names, addresses, limits }
    }

    /// Returns what a party is told, as if on its own machine.
    pub fn options(&self, me: PartyId) -> Options {
        let text: String = self
            .names
            .iter()
            .zip(&self.addresses)
            .map(|(name, address)| {
                let key =
                    if *name == self.names[me] { format!("key = \"{name}.key\"\n") } else { String::new() };
                format!("[{name}]\naddress = \"{address}\"\ncertificate = \"{name}.pem\"\n{key}")
            })
            .collect();
        Options {
            config: Config::parse(&text, self.folder.path()).expect("a configuration"),
            parties: self.names.clone(),
            me: self.names[me].clone(),
            build: "0.2.0".into(),
            program: [1; 32],
            args: vec!["5".into()],
            limits: self.limits,
        }
    }

    /// Connects all; each may have other options.
    pub fn attempt(
        &self,
        change: impl Fn(PartyId, &mut Options) + Sync,
    ) -> Vec<Result<Arc<dyn Network>, ConnectError>> {
        each(self.names.len(), |me| {
            let mut options = self.options(me);
            change(me, &mut options);
            connect(&options, &NOT_INTERRUPTED)
        })
    }

    pub fn connect(&self) -> Vec<Arc<dyn Network>> {
        self.attempt(|_, _| {}).into_iter().map(|net| net.expect("connected")).collect()
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Does work for each party at the same time; fails if it hangs.
pub fn each<T: Send>(parties: usize, work: impl Fn(PartyId) -> T + Sync) -> Vec<T> {
    let (done, ended) = channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(MAX_HANG) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            // A scope would wait for the threads that hang.
            eprintln!("the parties hang");
            std::process::exit(101);
        }
    });
    let results = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..parties).map(|me| scope.spawn(move || work(me))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    drop(done);
    results
}

pub fn header(count: u64) -> Header {
    Header { count, site: 10 + count, ty: 20, digest: 30 * count }
}

pub fn send(net: &dyn Network, to: PartyId, count: u64, data: Vec<u8>) -> Result<(), NetworkError> {
    net.send(to, &header(count), data)
}

pub fn receive(net: &dyn Network, from: PartyId, count: u64, bytes: usize) -> Result<Vec<u8>, NetworkError> {
    net.receive(from, &header(count), Length::Exact(bytes as u64), &NOT_INTERRUPTED)
}
