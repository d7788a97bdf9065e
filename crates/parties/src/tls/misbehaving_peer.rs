//! Tests with a party that has a good certificate and does not follow the protocol inside TLS.

use super::establish::{TimedSocket, read_exact, write_all};
use super::identity::Identity;
use super::{Limits, Options, connect};
use crate::certificate::create_certificate;
use crate::config::Config;
use crate::frame::{HEAD_BYTES, Head, Kind, MAX_PART_BYTES, NO_HEADER, SessionName};
use crate::handshake::{ConnectError, Hash, Hello, session_name, verify_agreement};
use crate::network::{Header, Length, Network, NetworkError, Refusal};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static GO: AtomicBool = AtomicBool::new(false);

/// Bob's end of a connection with alice, without any rules.
struct MisbehavingPeer {
    socket: TcpStream,
    connection: Connection,
}

impl MisbehavingPeer {
    fn timed<T>(&mut self, work: impl FnOnce(&mut Connection, &mut TimedSocket<'_>) -> T) -> T {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut timed = TimedSocket { socket: &self.socket, deadline, cancelled: &GO };
        work(&mut self.connection, &mut timed)
    }

    fn tell(&mut self, bytes: &[u8]) {
        // Alice may have gone.
        let _ = self.timed(|connection, timed| write_all(connection, timed, bytes));
    }

    fn hear(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.timed(|connection, timed| read_exact(connection, timed, &mut bytes)).expect("heard");
        bytes
    }

    fn hear_hello(&mut self) -> Hello {
        let length = self.hear(4).try_into().expect("four bytes");
        Hello::decode(&self.hear(u32::from_le_bytes(length) as usize)).expect("a greeting")
    }

    fn tell_hello(&mut self, hello: &[u8]) {
        self.tell(&(hello.len() as u32).to_le_bytes());
        self.tell(hello);
    }
}

/// Runs alice against a peer; returns what alice and the peer return.
fn against<T: Send>(
    peer: impl FnOnce(MisbehavingPeer) + Send,
    alice: impl FnOnce(Result<Arc<dyn Network>, ConnectError>) -> T + Send,
) -> T {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let port = |next| 30_000 + (std::process::id() * 8 % 2_000) as u16 + next;
    let address = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed))
        .map(|next| format!("127.0.0.1:{}", port(next)))
        .find(|address| TcpListener::bind(address).is_ok())
        .expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    for name in ["alice", "bob"] {
        text += &create_certificate(folder.path(), name, &address).expect("files").own_lines;
    }
    let config = Config::parse(&text, folder.path()).expect("a configuration");
    let parties = vec!["alice".to_string(), "bob".to_string()];
    let options = Options {
        config: config.clone(),
        parties: parties.clone(),
        me: "alice".into(),
        build: "0".into(),
        program: [0; 32],
        args: vec![],
        limits: Limits::default(),
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let socket = loop {
                match TcpStream::connect(&address) {
                    Ok(socket) => break socket,
                    Err(_) => thread::sleep(Duration::from_millis(2)),
                }
            };
            let identity = Identity::read(&config, &parties, 1).expect("an identity");
            let name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
            let client = ClientConnection::new(identity.client(0).expect("a role"), name);
            let mut connection = Connection::Client(client.expect("a connection"));
            connection.set_buffer_limit(None);
            let mut bob = MisbehavingPeer { socket, connection };
            let shaken = bob.timed(|connection, timed| connection.complete_io(timed));
            shaken.expect("TLS is no lie");
            peer(bob);
        });
        alice(connect(&options, &GO))
    })
}

#[test]
fn greetings_that_are_none_are_refused() {
    let cases: [fn(&mut MisbehavingPeer, Hello); 5] = [
        |peer, _| peer.tell(&u32::MAX.to_le_bytes()),
        |peer, _| peer.tell_hello(b""),
        |peer, _| peer.tell_hello(&[7; 500]),
        |peer, hello| peer.tell_hello(&Hello { from: 0, ..hello.clone() }.encode()),
        |peer, hello| peer.tell_hello(&Hello { from: 7, ..hello }.encode()),
    ];
    for case in cases {
        let error = against(
            |mut peer| {
                let hello = peer.hear_hello();
                case(&mut peer, hello);
                // The connection stays until alice has judged.
                let _ = peer.timed(|connection, timed| read_exact(connection, timed, &mut [0]));
            },
            |alice| alice.err(),
        );
        assert_eq!(error, Some(ConnectError::Greeting { party: "bob".into() }));
    }
}

#[test]
fn another_session_is_refused() {
    let error = against(
        |mut peer| {
            let hello = peer.hear_hello();
            peer.tell_hello(&Hello { from: 1, ..hello }.encode());
            peer.tell(&Hash::default());
        },
        |alice| alice.err(),
    );
    assert_eq!(error, Some(ConnectError::Session { party: "bob".into() }));
}

const HEADER: Header = Header { count: 1, site: 2, ty: 3, digest: 4 };

/// Runs alice against a peer who follows the protocol until all are connected; alice then receives
/// a message, twice.
fn receives(lie: impl Fn(&SessionName) -> Vec<u8> + Sync, length: Length) -> Result<Vec<u8>, NetworkError> {
    let over = AtomicBool::new(false);
    against(
        |mut peer| {
            let hello = peer.hear_hello();
            let mine = Hello { from: 1, ..hello.clone() };
            peer.tell_hello(&mine.encode());
            let agreed = verify_agreement(1, &[hello, mine]).expect("the same");
            peer.tell(&agreed);
            peer.hear(agreed.len());
            peer.tell(&lie(&session_name(&agreed)));
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(2));
            }
        },
        |alice| {
            let alice = alice.expect("connected");
            let first = alice.receive(1, &HEADER, length, &GO);
            if first.is_err() {
                assert_eq!(alice.receive(1, &HEADER, length, &GO), first, "it stays");
            }
            over.store(true, Ordering::Relaxed);
            first
        },
    )
}

fn head(session: &SessionName, kind: Kind, number: u64) -> Vec<u8> {
    let header = if kind == Kind::Data { HEADER } else { NO_HEADER };
    Head { kind, epoch: 0, header, number }.encode(session).to_vec()
}

#[test]
fn frames_that_lie_are_refused() {
    let any = Length::AtMost(u64::MAX);
    let good = |session: &SessionName| [head(session, Kind::Data, 2), vec![5, 6]].concat();
    assert_eq!(receives(good, any), Ok(vec![5, 6]));
    let refused = |why| Err(NetworkError::Refused(1, why));
    assert_eq!(receives(|_| vec![0; HEAD_BYTES], any), refused(Refusal::Malformed));
    assert_eq!(receives(|_| good(&[0; 16]), any), refused(Refusal::OutOfPlace), "another session");
    let huge = |session: &SessionName| head(session, Kind::Data, u64::MAX);
    assert_eq!(receives(huge, Length::Exact(2)), refused(Refusal::WrongLength));
    assert_eq!(receives(huge, Length::AtMost(1 << 40)), refused(Refusal::WrongLength));
    let part = |session: &SessionName| head(session, Kind::Part, MAX_PART_BYTES as u64);
    assert_eq!(receives(part, any), refused(Refusal::OutOfPlace), "a part of nothing");
    let twice = |session: &SessionName| [huge(session), vec![0; MAX_PART_BYTES], huge(session)].concat();
    assert_eq!(receives(twice, any), refused(Refusal::Malformed), "a message within a message");
    let early = |session: &SessionName| head(session, Kind::Finish, 0);
    assert_eq!(receives(early, any), refused(Refusal::OutOfPlace), "the end without the message");
    // A party that lets alice send without end, and is in a later epoch.
    let later = |session: &SessionName| {
        let header = HEADER;
        let data = Head { kind: Kind::Data, epoch: u64::MAX, header, number: 0 }.encode(session);
        [head(session, Kind::Credit, u64::MAX), data.to_vec()].concat()
    };
    assert_eq!(receives(later, any), refused(Refusal::OutOfPlace), "a later epoch");
}
