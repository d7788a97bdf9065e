//! Figures of speed: `cargo run --release -p felis-ciphers --example cipher_figures`. A row is the
//! median of turns, in which what is compared alternates.

use felis_ciphers::magnitude::Magnitude;
use felis_ciphers::paillier;
use std::hint::black_box;
use std::time::Instant;

/// Prints the median time of each function in milliseconds, and that of the first divided by that
/// of the last.
fn turns(name: &str, rounds: usize, functions: &mut [(&str, &mut dyn FnMut())]) {
    let mut times = vec![Vec::new(); functions.len()];
    for round in 0..rounds {
        for at in 0..functions.len() {
            let at = (at + round) % functions.len();
            let begun = Instant::now();
            functions[at].1();
            times[at].push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    print!("{name}:");
    for ((name, _), median) in functions.iter().zip(&medians) {
        print!(" {name} {median:.4} ms");
    }
    if medians.len() > 1 {
        print!(", ratio {:.3}", medians[0] / medians[medians.len() - 1]);
    }
    println!();
}

fn paillier_figures(parameters: paillier::Parameters) {
    println!("Paillier, {parameters}");
    turns("keys", 5, &mut [("", &mut || drop(black_box(paillier::generate(parameters))))]);
    let (secret, public) = paillier::generate(parameters).expect("keys");
    let bound = Magnitude::power_of_two(64);
    let encrypt = |value| public.encrypt(value, bound, 0).expect("a ciphertext");
    let (a, b) = (encrypt(123_456_789), encrypt(-5));
    let mut rows: [(&str, &mut dyn FnMut()); 7] = [
        ("encrypt", &mut || drop(black_box(encrypt(5)))),
        ("add", &mut || (0..100).for_each(|_| drop(black_box(a.add(&b))))),
        ("scale", &mut || drop(black_box(a.scale_by(123_456_789_123_456_789, bound, 0)))),
        ("scale public", &mut || drop(black_box(a.scale_public(123_456_789_123_456_789, 0)))),
        ("scale public, negative", &mut || drop(black_box(a.scale_public(-123_456_789_123_456_789, 0)))),
        ("negate", &mut || drop(black_box(a.negate()))),
        ("decrypt", &mut || drop(black_box(secret.decrypt(&a)))),
    ];
    for (name, function) in &mut rows {
        let name = if *name == "add" { "add, 100 times" } else { name };
        turns(name, 21, &mut [("", *function)]);
    }
}

fn main() {
    paillier_figures(paillier::Parameters::BITS_2048);
    paillier_figures(paillier::Parameters::BITS_3072);
}
