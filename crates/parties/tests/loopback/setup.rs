//! Causes that keep the parties from connecting, and the messages of each of them.

use crate::fixture::*;
use felis_parties::{ConnectError, connect, create_certificate};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn errors(fixture: &PartyFixture, change: impl Fn(usize, &mut felis_parties::Options) + Sync) -> Vec<String> {
    let words = |result: Result<_, ConnectError>| match result {
        Ok(_) => "connected".to_string(),
        Err(error) => error.to_string(),
    };
    fixture.attempt(change).into_iter().map(words).collect()
}

#[test]
fn a_difference_is_named_by_all() {
    let fixture = PartyFixture::new(3);
    let differ = |change: fn(&mut felis_parties::Options)| {
        errors(&fixture, move |me, options| {
            if me == 1 {
                change(options)
            }
        })
    };
    let all = |one: &str| -> Vec<String> {
        // Each compares with the first that differs from it.
        [("alice", "bob"), ("bob", "alice"), ("carol", "bob")]
            .map(|(me, other)| one.replace("ME", me).replace("OTHER", other))
            .to_vec()
    };
    assert_eq!(differ(|options| options.program = [2; 32]), all("ME and OTHER run different programs"));
    assert_eq!(
        differ(|options| options.args.push("x".into())),
        all("ME and OTHER run the program with different arguments")
    );
    assert_eq!(
        differ(|options| options.build = "0.3.0".into()),
        [
            "alice runs Felis 0.2.0, bob runs Felis 0.3.0",
            "bob runs Felis 0.3.0, alice runs Felis 0.2.0",
            "carol runs Felis 0.2.0, bob runs Felis 0.3.0"
        ]
    );
}

#[test]
fn other_certificates_of_a_third_party_are_found() {
    // Bob knows another certificate of carol; so she is refused by him.
    let mut fixture = PartyFixture::new(3);
    fixture.limits.connect = Duration::from_millis(600);
    let other = tempfile::tempdir().expect("a folder");
    create_certificate(other.path(), "carol", "x:1").expect("a certificate");
    let path = other.path().join("carol.pem");
    let said = errors(&fixture, |me, options| {
        if me == 1 {
            options.config.parties.get_mut("carol").expect("an entry").certificate = path.clone();
        }
    });
    assert_eq!(said[2], "bob refuses the connection: it knows another certificate of this party");
    assert!(
        said[1].starts_with("carol has not appeared; the last attempt: a connection from 127.0.0.1:"),
        "{}",
        said[1]
    );
    assert!(said[1].ends_with(" was refused: its certificate is of no party"), "{}", said[1]);
    assert_ne!(said[0], "connected");
}

#[test]
fn another_order_of_the_parties_is_named() {
    let mut fixture = PartyFixture::new(2);
    fixture.limits.connect = Duration::from_millis(600);
    let said = errors(&fixture, |me, options| {
        if me == 1 {
            options.parties.reverse();
        }
    });
    // Both believe that the other dials.
    assert!(said[0].starts_with("bob has not appeared"), "{said:?}");
    assert!(said[1].starts_with("alice has not appeared"), "{said:?}");
}

#[test]
fn who_answers_with_another_certificate_is_named() {
    let fixture = PartyFixture::new(2);
    let other = tempfile::tempdir().expect("a folder");
    create_certificate(other.path(), "alice", "x:1").expect("a certificate");
    let path = other.path().join("alice.pem");
    let mut bob = fixture.options(1);
    bob.config.parties.get_mut("alice").expect("an entry").certificate = path;
    let interrupt = AtomicBool::new(false);
    let results = each(2, |me| {
        if me == 0 {
            connect(&fixture.options(0), &interrupt).err()
        } else {
            let error = connect(&bob, &NOT_INTERRUPTED).err();
            interrupt.store(true, Ordering::Relaxed);
            error
        }
    });
    let address = fixture.addresses[0].clone();
    assert_eq!(results[1], Some(ConnectError::Impostor { party: "alice".into(), address }));
    assert_eq!(results[0], Some(ConnectError::Interrupted));
}

#[test]
fn a_party_that_does_not_appear_is_named() {
    let mut fixture = PartyFixture::new(3);
    fixture.limits.connect = Duration::from_millis(600);
    let results = each(2, |me| connect(&fixture.options(me), &NOT_INTERRUPTED).err().expect("no network"));
    for error in results {
        assert_eq!(error.to_string(), "carol has not appeared");
    }
    let error = connect(&fixture.options(2), &NOT_INTERRUPTED).err().expect("no network").to_string();
    assert!(error.starts_with("alice has not appeared; the last attempt: 127.0.0.1:"), "{error}");
}

#[test]
fn what_is_wrong_before_is_said_at_once() {
    let fixture = PartyFixture::new(2);
    let said = |change: &dyn Fn(&mut felis_parties::Options)| {
        let mut options = fixture.options(0);
        change(&mut options);
        connect(&options, &NOT_INTERRUPTED).err().expect("no network")
    };
    assert_eq!(said(&|options| options.me = "dave".into()), ConnectError::NoParty { name: "dave".into() });
    assert_eq!(said(&|options| options.parties.truncate(1)), ConnectError::Count { parties: 1 });
    assert_eq!(
        said(&|options| options.parties = vec!["alice".into(); 65]),
        ConnectError::Count { parties: 65 }
    );
    let name = "a".repeat(65);
    let long = said(&|options| options.parties.push(name.clone()));
    assert_eq!(long, ConnectError::LongName { name: name.clone() });
    fn alice(options: &mut felis_parties::Options) -> &mut felis_parties::Entry {
        options.config.parties.get_mut("alice").expect("an entry")
    }
    let words = |change: &dyn Fn(&mut felis_parties::Options)| said(change).to_string();
    assert_eq!(words(&|options| alice(options).key = None), "the entry of alice lacks the key `key`");
    let bob = fixture.path().join("bob.key");
    let unfit = words(&|options| alice(options).key = Some(bob.clone()));
    assert!(unfit.starts_with("the private key does not belong to the certificate: "), "{unfit}");
    let pem = fixture.path().join("bob.pem");
    assert_eq!(
        words(&|options| alice(options).certificate = pem.clone()),
        "alice and bob have the same certificate"
    );
    let swapped = words(&|options| alice(options).key = Some(pem.clone()));
    assert!(swapped.ends_with(" cannot be used: it holds no section of PEM of this kind"), "{swapped}");
    let missing = words(&|options| alice(options).certificate = fixture.path().join("none"));
    assert!(missing.contains(" cannot be used: "), "{missing}");
    let garbage = fixture.path().join("garbage.pem");
    std::fs::write(&garbage, "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n")
        .expect("a file");
    let garbled = words(&|options| alice(options).certificate = garbage.clone());
    assert!(garbled.ends_with(" cannot be used: it is no PEM"), "{garbled}");
    assert_eq!(
        words(&|options| {
            options.config.parties.remove("bob");
        }),
        "the file of parties has no entry for bob"
    );
    let taken = std::net::TcpListener::bind(&fixture.addresses[0]).expect("a listener");
    let busy = words(&|_| {});
    assert!(busy.starts_with(&format!("cannot listen at {}: ", fixture.addresses[0])), "{busy}");
    drop(taken);
    let elsewhere = free_address();
    let not_there = words(&|options| {
        alice(options).address = "192.0.2.1:9".into();
        alice(options).listen = Some(elsewhere.clone());
        options.limits.connect = Duration::from_millis(50);
    });
    assert_eq!(not_there, "bob has not appeared");
}
