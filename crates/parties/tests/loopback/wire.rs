//! Strangers and damage on the wire, as seen from outside of TLS.

use crate::fixture::*;
use felis_parties::{ConnectError, Network, connect, create_certificate};
use felis_runtime::network::{Length, NetworkError, Refusal};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Strangers dial while the parties connect; the parties find each other nevertheless.
#[test]
fn strangers_do_not_keep_the_parties_apart() {
    let fixture = PartyFixture::new(2);
    let address = fixture.addresses[0].clone();
    let dial = || loop {
        match TcpStream::connect(&address) {
            Ok(socket) => return socket,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    let results = each(3, |me| -> Option<Arc<dyn Network>> {
        match me {
            0 => connect(&fixture.options(0), &NOT_INTERRUPTED).ok(),
            1 => {
                thread::sleep(Duration::from_millis(300));
                connect(&fixture.options(1), &NOT_INTERRUPTED).ok()
            }
            _ => {
                let mut silent = dial();
                let mut plain = dial();
                plain.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("written");
                let mut garbage = dial();
                let _ = garbage.write_all(&[0xff; 1 << 16]);
                // The head of a record of TLS that is longer than any.
                let mut huge = dial();
                huge.write_all(&[22, 3, 3, 0xff, 0xff]).expect("written");
                drop(dial());
                // Those that sent something are told to go.
                for socket in [&mut plain, &mut garbage, &mut huge] {
                    socket.set_read_timeout(Some(MAX_HANG)).expect("a socket");
                    let mut answer = Vec::new();
                    let _ = socket.read_to_end(&mut answer);
                    assert!(answer.len() < 100, "{answer:?}");
                }
                let _ = silent.write_all(&[22]);
                None
            }
        }
    });
    assert!(results[0].is_some() && results[1].is_some());
}

#[test]
fn a_stranger_with_a_certificate_is_refused() {
    let fixture = PartyFixture::new(2);
    let mut stranger = fixture.options(1);
    let folder = tempfile::tempdir().expect("a folder");
    let created = create_certificate(folder.path(), "bob", "x:1").expect("a certificate");
    let entry = stranger.config.parties.get_mut("bob").expect("an entry");
    (entry.certificate, entry.key) = (created.certificate, Some(created.key));
    let results = each(2, |me| {
        if me == 0 {
            return connect(&fixture.options(0), &NOT_INTERRUPTED).map(|_| ());
        }
        let refused = connect(&stranger, &NOT_INTERRUPTED).map(|_| ());
        assert!(matches!(refused, Err(ConnectError::Refused { .. })), "{refused:?}");
        connect(&fixture.options(1), &NOT_INTERRUPTED).map(|_| ())
    });
    assert_eq!(results, vec![Ok(()); 2]);
}

#[test]
fn something_else_at_the_address_is_said() {
    let mut fixture = PartyFixture::new(2);
    fixture.limits.connect = Duration::from_millis(500);
    let listener = TcpListener::bind(&fixture.addresses[0]).expect("a listener");
    let over = AtomicBool::new(false);
    listener.set_nonblocking(true).expect("a listener");
    let results = each(2, |me| {
        if me == 1 {
            let error = connect(&fixture.options(1), &NOT_INTERRUPTED).err();
            over.store(true, Ordering::Relaxed);
            return error;
        }
        while !over.load(Ordering::Relaxed) {
            if let Ok((mut socket, _)) = listener.accept() {
                let _ = socket.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
                let _ = socket.shutdown(Shutdown::Write);
                let _ = socket.read(&mut [0; 1000]);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    });
    let said = results[1].as_ref().expect("no network").to_string();
    assert!(said.starts_with("alice has not appeared; the last attempt: 127.0.0.1:"), "{said}");
    assert!(said.ends_with(": what answers does not speak TLS 1.3"), "{said}");
}

/// Somebody between the two parties.
struct Between {
    /// Bytes that pass in each direction before one is changed, and which.
    damage: [(usize, u8); 2],
    /// Bytes that pass in each direction before the connection is cut.
    cut: [usize; 2],
}

/// Returns the number of the next byte, from number `at` on, that is not in the head of a record.
/// TLS 1.3 ignores the version there (RFC 8446, section 5.1), and `rustls` decrypts a record
/// whatever type its head states; what the record holds is authenticated, with its own type. After
/// a changed length the receiver may wait for the rest until the limit of silence.
fn next_checked(stream: &[u8], at: usize) -> usize {
    let mut head = 0;
    while head <= at {
        if at < head + 5 {
            return head + 5;
        }
        let Some(&[high, low]) = stream.get(head + 3..head + 5).and_then(|length| length.first_chunk())
        else {
            break;
        };
        head += 5 + usize::from(u16::from_be_bytes([high, low]));
    }
    at
}

#[test]
fn heads_of_records_are_not_changed() {
    let stream = [22, 3, 1, 0, 2, 7, 7, 20, 3, 3, 0, 1, 1, 23, 3];
    let moved: Vec<usize> = (0..18).map(|at| next_checked(&stream, at)).collect();
    assert_eq!(moved, [5, 5, 5, 5, 5, 5, 6, 12, 12, 12, 12, 12, 12, 18, 18, 18, 18, 18]);
}

/// Carries bytes from one socket to the other.
fn carry(mut from: TcpStream, mut to: TcpStream, damage: (usize, u8), cut: usize, carried: &AtomicUsize) {
    let mut bytes = [0; 1 << 14];
    let mut total = 0;
    let mut stream = Vec::new();
    let (mut at, mask) = damage;
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        stream.extend(&bytes[..count]);
        at = if at < total { at } else { next_checked(&stream, at) };
        if (total..total + count).contains(&at) {
            bytes[at - total] ^= mask;
        }
        let count = count.min(cut - total);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
        total += count;
        carried.store(total, Ordering::Relaxed);
        if total == cut {
            let _ = from.shutdown(Shutdown::Both);
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Connects two parties with somebody between; gives the errors of both, and how many bytes were
/// carried in each direction. An error of the setup is given as its words.
fn with(between: Between) -> ([Result<(), String>; 2], [usize; 2]) {
    let mut fixture = PartyFixture::new(2);
    // Who is cut off while connecting tries again until this limit.
    let clean = between.damage == NO_DAMAGE && between.cut == NO_CUT;
    fixture.limits.connect = if clean { MAX_HANG } else { Duration::from_millis(400) };
    let middle = free_address();
    let listener = TcpListener::bind(&middle).expect("a listener");
    listener.set_nonblocking(true).expect("a listener");
    let over = AtomicUsize::new(0);
    let carried = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let results = each(3, |me| {
        if me == 2 {
            // Only the first connection is carried: others are refused by dropping them.
            let mut pair = None;
            while over.load(Ordering::Relaxed) < 2 {
                match listener.accept() {
                    Ok((bob, _)) if pair.is_none() => {
                        let Ok(alice) = TcpStream::connect(&fixture.addresses[0]) else { continue };
                        bob.set_nonblocking(false).expect("a socket");
                        pair = Some((alice, bob));
                        let Some((alice, bob)) = &pair else { continue };
                        let copy = |socket: &TcpStream| socket.try_clone().expect("a socket");
                        thread::scope(|scope| {
                            let (from, to) = (copy(alice), copy(bob));
                            scope.spawn(|| carry(from, to, between.damage[0], between.cut[0], &carried[0]));
                            let (from, to) = (copy(bob), copy(alice));
                            scope.spawn(|| carry(from, to, between.damage[1], between.cut[1], &carried[1]));
                        });
                    }
                    _ => thread::sleep(Duration::from_millis(5)),
                }
            }
            return Ok(());
        }
        let mut options = fixture.options(me);
        if me == 1 {
            options.config.parties.get_mut("alice").expect("an entry").address = middle.clone();
        }
        // Signs of life would make the number of bytes depend on time.
        options.limits.heartbeat = Duration::from_secs(100);
        options.limits.silence = Duration::from_secs(1000);
        let run = || {
            let net = connect(&options, &NOT_INTERRUPTED).map_err(|error| error.to_string())?;
            let exchange = || {
                for count in 0..4 {
                    send(&*net, 1 - me, count, vec![me as u8; 300 * count as usize])?;
                    let data = receive(&*net, 1 - me, count, 300 * count as usize)?;
                    assert!(data.iter().all(|&byte| byte == 1 - me as u8), "damaged data arrive");
                }
                net.finish(&NOT_INTERRUPTED)
            };
            exchange().map_err(|error| format!("{error:?}"))
        };
        let result = run();
        over.fetch_add(1, Ordering::Relaxed);
        result
    });
    let mut results = results.into_iter();
    let results = [0; 2].map(|_| results.next().expect("two results"));
    (results, carried.map(|carried| carried.load(Ordering::Relaxed)))
}

const NO_DAMAGE: [(usize, u8); 2] = [(usize::MAX, 0); 2];
const NO_CUT: [usize; 2] = [usize::MAX; 2];

/// The words of an error that damage may lead to.
fn is_clear(result: &Result<(), String>) -> bool {
    let Err(words) = result else { return true };
    let known: Vec<String> = (0..2)
        .flat_map(|party| {
            [NetworkError::Lost(party), NetworkError::Refused(party, Refusal::Malformed)]
                .map(|error| format!("{error:?}"))
        })
        .collect();
    known.contains(words)
        || NAMES.iter().any(|name| words.starts_with(&format!("{name} ")))
        || words.starts_with("who answers at ")
}

fn damaged_at_random(shard: u64) {
    let (clean, totals) = with(Between { damage: NO_DAMAGE, cut: NO_CUT });
    assert_eq!(clean, [Ok(()), Ok(())]);
    let seed = fastrand::u64(..).wrapping_add(shard);
    eprintln!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..6 {
        let (mut damage, mut cut) = (NO_DAMAGE, NO_CUT);
        let direction = random.usize(..2);
        let at = random.usize(..totals[direction]);
        let cutting = random.bool();
        if cutting {
            cut[direction] = at.max(1);
        } else {
            damage[direction] = (at, 1 << random.u8(..8));
        }
        let (results, _) = with(Between { damage, cut });
        assert!(results.iter().all(is_clear), "at {at} of {totals:?}: {results:?}");
        // The last bytes are those that close the connection.
        let late = at + 150 > totals[direction];
        let found = late || results.iter().any(Result::is_err);
        assert!(found, "at {at} of {totals:?}, {damage:?}, {cut:?}: {results:?}");
    }
}

#[test]
fn damaged_bytes_and_cut_connections_0() {
    damaged_at_random(0);
}

#[test]
fn damaged_bytes_and_cut_connections_1() {
    damaged_at_random(1);
}

/// A party that takes any length is not made to take memory by the length alone: nothing comes, so
/// it waits and can be interrupted.
#[test]
fn a_party_that_sends_nothing_is_waited_for() {
    let fixture = PartyFixture::new(2);
    let nets = fixture.connect();
    let flag = AtomicBool::new(false);
    each(2, |me| {
        if me == 0 {
            thread::sleep(Duration::from_millis(30));
            flag.store(true, Ordering::Relaxed);
        } else {
            let got = nets[1].receive(0, &header(0), Length::AtMost(u64::MAX), &flag);
            assert_eq!(got, Err(NetworkError::Interrupted));
        }
    });
}
