//! Runs that succeed: messages, streams, epochs, large exchanges, long work.

use crate::fixture::*;
use felis_runtime::network::{Length, NetworkError, Refusal};
use std::time::Duration;

#[test]
fn all_send_to_all_and_finish() {
    let fixture = PartyFixture::new(3);
    let nets = fixture.connect();
    let results = each(3, |me| {
        let net = &*nets[me];
        assert_eq!((net.me(), net.parties()), (me, 3));
        for epoch in 1..4 {
            net.begin(epoch);
            for count in 0..50 {
                for to in (0..3).filter(|&to| to != me) {
                    send(net, to, count, vec![me as u8; count as usize * 7])?;
                }
                for from in (0..3).filter(|&from| from != me) {
                    let size = count as usize * 7;
                    assert_eq!(receive(net, from, count, size)?, vec![from as u8; size]);
                }
            }
            net.finish(&NOT_INTERRUPTED)?;
        }
        Ok::<_, NetworkError>(net.traffic())
    });
    let traffic = results[0].clone().expect("no failure");
    assert_eq!((traffic.messages_sent, traffic.messages_received, traffic.rounds), (300, 300, 150));
    assert_eq!(traffic.bytes_sent, traffic.bytes_received);
    assert!(results.iter().all(|other| *other == Ok(traffic)));
}

#[test]
fn large_exchanges_do_not_lock() {
    const BYTES: usize = 64 << 20;
    let fixture = PartyFixture::new(2);
    let nets = fixture.connect();
    each(2, |me| {
        let net = &*nets[me];
        send(net, 1 - me, 0, vec![me as u8; BYTES]).expect("sent");
        send(net, 1 - me, 1, vec![me as u8; 3]).expect("sent");
        let data = receive(net, 1 - me, 0, BYTES).expect("received");
        assert!(data.len() == BYTES && data.iter().all(|&byte| byte == 1 - me as u8));
        assert_eq!(receive(net, 1 - me, 1, 3), Ok(vec![1 - me as u8; 3]));
        net.finish(&NOT_INTERRUPTED).expect("finished");
    });
}

#[test]
fn streams_agree_in_a_pair_and_differ_elsewhere() {
    let fixture = PartyFixture::new(3);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..2 {
        let nets = fixture.connect();
        for epoch in 1..3 {
            nets.iter().for_each(|net| net.begin(epoch));
            let words = |one: usize, other: usize| {
                let mut words = [0; 40];
                nets[one].random_words(other, &mut words);
                words
            };
            for (one, other) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
                let drawn = words(one, other);
                assert!(one == other || drawn == words(other, one));
                assert!(drawn.into_iter().all(|word| seen.insert(word)), "{one} {other}");
            }
        }
    }
}

#[test]
fn work_has_no_limit() {
    let mut fixture = PartyFixture::new(2);
    fixture.limits.heartbeat = Duration::from_millis(20);
    fixture.limits.silence = Duration::from_millis(600);
    let nets = fixture.connect();
    each(2, |me| {
        if me == 0 {
            // Longer than the limit of silence: only signs of life keep the other waiting.
            std::thread::sleep(Duration::from_millis(1500));
            send(&*nets[0], 1, 0, vec![1]).expect("sent");
        } else {
            assert_eq!(receive(&*nets[1], 0, 0, 1), Ok(vec![1]));
        }
    });
}

#[test]
fn an_epoch_that_failed_leaves_nothing() {
    let fixture = PartyFixture::new(3);
    let nets = fixture.connect();
    each(3, |me| {
        let net = &*nets[me];
        net.begin(1);
        // More than a window, which is never received.
        let _ = send(net, (me + 1) % 3, 0, vec![9; 12 << 20]);
        if me == 1 {
            net.stop(None);
        } else {
            // Who hears it stops, too, and may be heard first.
            let error = receive(net, (me + 1) % 3, 5, 1);
            assert!(matches!(error, Err(NetworkError::Stopped(_))), "{error:?}");
            net.stop(None);
        }
        for epoch in 2..4 {
            net.begin(epoch);
            send(net, (me + 1) % 3, 0, vec![epoch as u8; 6 << 20]).expect("sent");
            let data = receive(net, (me + 2) % 3, 0, 6 << 20).expect("received");
            assert!(data.iter().all(|&byte| byte == epoch as u8));
            net.finish(&NOT_INTERRUPTED).expect("finished");
        }
    });
}

#[test]
fn frames_out_of_place_are_refused_and_stay_so() {
    let fixture = PartyFixture::new(2);
    let nets = fixture.connect();
    send(&*nets[0], 1, 4, vec![1, 2, 3]).expect("sent");
    let refused = |why| Err(NetworkError::Refused(0, why));
    for _ in 0..2 {
        assert_eq!(receive(&*nets[1], 0, 5, 3), refused(Refusal::OutOfPlace));
        let mut other = header(4);
        other.digest += 1;
        assert_eq!(
            nets[1].receive(0, &other, Length::Exact(3), &NOT_INTERRUPTED),
            refused(Refusal::Diverged)
        );
        assert_eq!(receive(&*nets[1], 0, 4, 2), refused(Refusal::WrongLength));
        assert_eq!(
            nets[1].receive(0, &header(4), Length::AtMost(2), &NOT_INTERRUPTED),
            refused(Refusal::WrongLength)
        );
    }
    assert_eq!(nets[1].receive(0, &header(4), Length::AtMost(3), &NOT_INTERRUPTED), Ok(vec![1, 2, 3]));
}

#[test]
fn what_nobody_asks_for_or_nobody_sends_is_found_at_the_end() {
    let fixture = PartyFixture::new(2);
    let nets = fixture.connect();
    let results = each(2, |me| {
        nets[me].begin(1);
        if me == 0 {
            send(&*nets[0], 1, 0, vec![1]).expect("sent");
        }
        nets[me].finish(&NOT_INTERRUPTED)
    });
    assert_eq!(results, [Ok(()), Err(NetworkError::Refused(0, Refusal::OutOfPlace))]);
    let results = each(2, |me| {
        nets[me].begin(2);
        if me == 0 { receive(&*nets[0], 1, 0, 1).map(drop) } else { nets[1].finish(&NOT_INTERRUPTED) }
            .inspect_err(|_| nets[me].stop(None))
    });
    assert_eq!(results, [Err(NetworkError::Refused(1, Refusal::OutOfPlace)), Err(NetworkError::Stopped(0))]);
}
