//! Ends of a party while others wait for it: each of them learns of it.

use crate::fixture::*;
use felis_parties::{Limits, connect};
use felis_runtime::network::{Length, NetworkError};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn a_stop_reaches_who_waits_before_what_was_sent() {
    let fixture = PartyFixture::new(3);
    let nets = fixture.connect();
    let results = each(3, |me| match me {
        // The others never ask for this; the stop must not wait behind it.
        0 => {
            send(&*nets[0], 1, 0, vec![0; 32 << 20]).expect("sent");
            nets[0].stop(None);
            Err(NetworkError::Stopped(0))
        }
        1 => receive(&*nets[1], 2, 0, 1).map(drop),
        _ => receive(&*nets[2], 1, 0, 1).map(drop),
    });
    assert_eq!(results, vec![Err(NetworkError::Stopped(0)); 3]);
}

#[test]
fn a_stop_just_before_the_end_of_the_process_is_heard() {
    for _ in 0..6 {
        let fixture = PartyFixture::new(2);
        let mut nets = fixture.connect();
        let (bob, alice) = (nets.pop(), nets.pop().expect("two"));
        let results = each(2, |me| {
            if me == 0 {
                receive(&*alice, 1, 0, 1).map(drop)
            } else {
                let bob = bob.as_ref().expect("two");
                bob.stop(None);
                Ok(())
            }
        });
        drop(bob);
        assert_eq!(results[0], Err(NetworkError::Stopped(1)));
        assert_eq!(receive(&*alice, 1, 0, 1), Err(NetworkError::Stopped(1)));
        alice.begin(1);
        assert_eq!(wait_for_end(&*alice), NetworkError::Lost(1));
    }
}

fn wait_for_end(net: &dyn felis_parties::Network) -> NetworkError {
    net.receive(1, &header(0), Length::AtMost(9), &NOT_INTERRUPTED).expect_err("an end")
}

#[test]
fn who_ends_after_all_have_finished_is_no_loss() {
    for _ in 0..6 {
        let fixture = PartyFixture::new(3);
        let results = each(3, |me| {
            let net = connect(&fixture.options(me), &NOT_INTERRUPTED).expect("connected");
            net.begin(1);
            send(&*net, (me + 1) % 3, 0, vec![1; 1000]).expect("sent");
            receive(&*net, (me + 2) % 3, 0, 1000).expect("received");
            // Dropped at once.
            net.finish(&NOT_INTERRUPTED)
        });
        assert_eq!(results, vec![Ok(()); 3]);
    }
}

#[test]
fn who_goes_without_a_word_is_lost() {
    let fixture = PartyFixture::new(3);
    let mut nets = fixture.connect();
    let gone = std::sync::Mutex::new(nets.pop());
    let results = each(3, |me| {
        if me == 2 {
            drop(gone.lock().expect("a lock").take());
            Ok(vec![])
        } else {
            receive(&*nets[me], 1 - me, 0, 1)
        }
    });
    assert_eq!(results[..2], [Err(NetworkError::Lost(2)), Err(NetworkError::Lost(2))]);
    assert_eq!(send(&*nets[0], 1, 0, vec![]), Err(NetworkError::Lost(2)));
}

#[test]
fn the_flag_interrupts_who_waits() {
    let fixture = PartyFixture::new(3);
    let nets = fixture.connect();
    let flag = AtomicBool::new(false);
    let results = each(3, |me| match me {
        0 => nets[0].receive(2, &header(0), Length::AtMost(9), &flag).map(drop),
        1 => nets[1].finish(&flag),
        _ => {
            std::thread::sleep(Duration::from_millis(50));
            flag.store(true, Ordering::Relaxed);
            Err(NetworkError::Interrupted)
        }
    });
    assert_eq!(results, vec![Err(NetworkError::Interrupted); 3]);
}

/// The other process of [`a_killed_and_a_stopped_process`].
const CHILD: &str = "FELIS_PARTIES_CHILD";

/// A party in a process of its own, which waits for ever. Does nothing unless it is started by the
/// test below.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let config = felis_parties::Config::read(&std::path::Path::new(&folder).join("carol.toml"));
    let mut options = PartyFixture::new(3).options(2);
    options.config = config.expect("a configuration");
    options.limits = limits();
    let net = connect(&options, &NOT_INTERRUPTED).expect("connected");
    let _ = net.receive(0, &header(99), Length::AtMost(9), &NOT_INTERRUPTED);
}

fn limits() -> Limits {
    Limits { connect: MAX_HANG, heartbeat: Duration::from_millis(50), silence: Duration::from_secs(1) }
}

#[cfg(unix)]
#[test]
fn a_killed_and_a_stopped_process() {
    for (signal, want) in [("KILL", NetworkError::Lost(2)), ("STOP", NetworkError::Silent(2))] {
        let mut fixture = PartyFixture::new(3);
        fixture.limits = limits();
        let text: String = (0..3)
            .map(|party| {
                let (name, address) = (NAMES[party], &fixture.addresses[party]);
                format!(
                    "[{name}]\naddress = \"{address}\"\ncertificate = \"{name}.pem\"\nkey = \"{name}.key\"\n"
                )
            })
            .collect();
        std::fs::write(fixture.path().join("carol.toml"), text).expect("a file");
        let mut carol = Command::new(std::env::current_exe().expect("this program"))
            .args(["failures::child", "--exact"])
            .env(CHILD, fixture.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let id = carol.id().to_string();
        let both = Barrier::new(2);
        let results = each(2, |me| {
            let net = connect(&fixture.options(me), &NOT_INTERRUPTED).expect("connected");
            send(&*net, 1 - me, 0, vec![]).expect("sent");
            receive(&*net, 1 - me, 0, 0).expect("received");
            // A party that still receives would be told of the signal there.
            both.wait();
            if me == 0 {
                let sent = Command::new("kill").args(["-s", signal, &id]).status().expect("a signal");
                assert!(sent.success());
            }
            // What is written to a process that is stopped fills the buffers of the system.
            let _ = send(&*net, 2, 0, vec![0; 32 << 20]);
            let error = receive(&*net, 2, 0, 1).expect_err("an end");
            net.stop(None);
            error
        });
        let _ = carol.kill();
        let _ = carol.wait();
        // The first to learn it stops: the other hears of one or the other.
        let heard = |me: usize| results[me] == want || results[me] == NetworkError::Stopped(1 - me);
        assert!(heard(0) && heard(1) && results.contains(&want), "{signal}: {results:?}");
    }
}
