//! Latencies and throughputs, printed and not asserted:
//! `cargo test --release -p felis-parties --test loopback benchmarks -- --ignored --nocapture`.

use crate::fixture::*;
use std::time::Instant;

const BYTES: usize = 256 << 20;
const ROUNDS: u64 = 2000;

#[test]
#[ignore = "it measures"]
fn measure_latency_and_throughput() {
    for parties in [2, 3] {
        let fixture = PartyFixture::new(parties);
        let begun = Instant::now();
        let nets = fixture.connect();
        println!("{parties} parties connected: {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
        drop(nets);
    }
    let fixture = PartyFixture::new(2);
    let nets = fixture.connect();
    let mebibytes = (BYTES >> 20) as f64;
    let begun = Instant::now();
    each(2, |me| {
        if me == 0 {
            send(&*nets[0], 1, 0, vec![1; BYTES]).expect("sent");
        } else {
            receive(&*nets[1], 0, 0, BYTES).expect("received");
        }
    });
    println!("one way: {:.0} MiB/s", mebibytes / begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    each(2, |me| {
        send(&*nets[me], 1 - me, 1, vec![1; BYTES]).expect("sent");
        receive(&*nets[me], 1 - me, 1, BYTES).expect("received");
    });
    println!("both ways: {:.0} MiB/s each", mebibytes / begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    each(2, |me| {
        for count in 0..ROUNDS {
            send(&*nets[me], 1 - me, count, vec![1; 8]).expect("sent");
            receive(&*nets[me], 1 - me, count, 8).expect("received");
        }
    });
    println!("a round of 8 bytes: {:.0} us", begun.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64);
    let mut words = vec![0; 1 << 22];
    let begun = Instant::now();
    nets[0].random_words(1, &mut words);
    println!("a random word: {:.1} ns", begun.elapsed().as_secs_f64() * 1e9 / words.len() as f64);
}
