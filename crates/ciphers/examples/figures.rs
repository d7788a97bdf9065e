//! Figures of speed, beside the crate `fhe` itself, and beside phe and TenSEAL where
//! `FELIS_BENCH_PYTHON` is a Python that has them:
//! `cargo run --release -p felis-ciphers --example cipher_figures`.
//!
//! A row is the medians of turns: what is compared runs once in each round, and another one begins
//! each round. A ratio is the median of the ratios of the rounds.

use felis_ciphers::bfv::{GaloisKeys, Packed, Parameters, Plain, Shape};
use felis_ciphers::magnitude::Magnitude;
use felis_ciphers::{bfv, intersection, paillier, shamir};
use fhe::bfv as direct;
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use rand_of_fhe::SeedableRng;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// The process of `benches/ciphers.py`.
struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Option<Peer> {
        let python = std::env::var("FELIS_BENCH_PYTHON").ok()?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/ciphers.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("FELIS_BENCH_PYTHON is a Python");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Peer { child, to, from })
    }

    /// Returns the milliseconds of a row, if the peer has it.
    fn time(&mut self, row: &str) -> Option<f64> {
        writeln!(self.to, "{row}").expect("the peer reads");
        let mut answer = String::new();
        self.from.read_line(&mut answer).expect("the peer answers");
        answer.trim().parse().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn milliseconds(function: &mut dyn FnMut()) -> f64 {
    let begun = Instant::now();
    function();
    begun.elapsed().as_secs_f64() * 1e3
}

/// Prints a row of the table, unless the command's argument is no part of its name: ours, `fhe`
/// itself, the peer, and the ratios.
fn row(peer: &mut Option<Peer>, name: &str, ours: &mut dyn FnMut(), fhe: Option<&mut dyn FnMut()>) {
    if std::env::args().nth(1).is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let first = milliseconds(ours);
    let rounds = ((1500.0 / first) as usize).clamp(9, 101);
    let (mut own, mut other, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let mut fhe = fhe;
    for round in 0..rounds {
        for turn in 0..3 {
            match (turn + round) % 3 {
                0 => own.push(milliseconds(ours)),
                1 => other.extend(fhe.as_mut().map(|fhe| milliseconds(*fhe))),
                _ => theirs.extend(peer.as_mut().and_then(|peer| peer.time(name))),
            }
        }
    }
    let cell = |times: &[f64]| match median(times.to_vec()) {
        Some(time) => {
            let ratios = own.iter().zip(times).map(|(own, time)| own / time).collect();
            (format!("{time:.3}"), format!("{:.2}", median(ratios).expect("a ratio")))
        }
        None => ("–".into(), "–".into()),
    };
    let ((fhe, to_fhe), (peer, to_peer)) = (cell(&other), cell(&theirs));
    let own = median(own.clone()).expect("a time");
    println!("| {name} | {own:.3} | {fhe} | {to_fhe} | {peer} | {to_peer} |");
}

fn paillier_rows(peer: &mut Option<Peer>, parameters: paillier::Parameters) {
    let bits = parameters.modulus_bits();
    let (secret, public) = paillier::generate(parameters).expect("keys");
    let bound = Magnitude::power_of_two(64);
    let encrypt = |value| public.encrypt(value, bound, 0).expect("a ciphertext");
    let (a, b) = (encrypt(123_456_789), encrypt(-5));
    let factor = 123_456_789_123_456_789;
    let name = |row: &str| format!("paillier {bits} {row}");
    row(peer, &name("encrypt"), &mut || drop(black_box(encrypt(5))), None);
    let mut adds = || (0..100).for_each(|_| drop(black_box(a.add(&b))));
    row(peer, &name("add, 100 times"), &mut adds, None);
    row(peer, &name("scale"), &mut || drop(black_box(a.scale_public(factor, 0))), None);
    row(peer, &name("scale, negative"), &mut || drop(black_box(a.scale_public(-factor, 0))), None);
    row(peer, &name("scale, secret factor"), &mut || drop(black_box(a.scale_by(factor, bound, 0))), None);
    let ciphers: Vec<_> = (0..100).map(encrypt).collect();
    let factors: Vec<i128> = (0..100).map(|i| if i % 2 == 0 { factor } else { -factor }).collect();
    let mut dot = || drop(black_box(paillier::Ciphertext::dot(&ciphers, &factors, bound, 0)));
    row(peer, &name("dot product of 100"), &mut dot, None);
    row(peer, &name("decrypt"), &mut || drop(black_box(secret.decrypt(&a))), None);
    let mut keys = || drop(black_box(paillier::generate(parameters).expect("keys")));
    row(peer, &name("keys"), &mut keys, None);
}

fn bfv_rows(peer: &mut Option<Peer>, degree: usize) {
    let parameters = Parameters::new(degree, 1).expect("parameters");
    let (secret, public) = bfv::generate(parameters).expect("keys");
    let relinearization = secret.relinearization_key().expect("a key");
    let galois = secret.galois_keys(&GaloisKeys::powers_of_two(parameters)).expect("keys");
    let shape = Shape::new(parameters, degree / 2, 2).expect("a shape");
    let values: Vec<i128> = (0..degree as i128).map(|i| 7 * i % 100 - 50).collect();
    let small: Vec<i128> = values.iter().map(|value| value % 2).collect();
    let bound = Magnitude::new(50);
    let encode = || Plain::encode(parameters, shape, &values, bound, 0).expect("a vector");
    let plain = encode();
    let (a, b) =
        (public.encrypt(&plain).expect("a ciphertext"), public.encrypt(&plain).expect("a ciphertext"));
    let ones = public.encrypt_values(shape, &small, Magnitude::ONE, 0).expect("a ciphertext");

    let mut generator = rand_of_fhe::rngs::StdRng::seed_from_u64(1);
    let context = direct::BfvParameters::default_parameters_128(17)
        .expect("parameters")
        .find(|context| context.degree() == degree)
        .expect("the degree");
    let context: Arc<direct::BfvParameters> = direct::BfvParametersBuilder::new()
        .set_degree(degree)
        .set_plaintext_modulus(65537)
        .set_moduli(context.moduli())
        .build_arc()
        .expect("parameters");
    let key = direct::SecretKey::random(&context, &mut generator);
    let public_key = direct::PublicKey::new(&key, &mut generator);
    let relin = direct::RelinearizationKey::new(&key, &mut generator).expect("a key");
    let mut builder = direct::EvaluationKeyBuilder::new(&key).expect("keys");
    builder.enable_inner_sum().expect("keys");
    let evaluation = builder.build(&mut generator).expect("keys");
    let words: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    let encode_direct =
        || direct::Plaintext::try_encode(&words, direct::Encoding::simd(), &context).expect("a vector");
    let pt = encode_direct();
    let mut encrypt_direct = |pt: &direct::Plaintext| -> direct::Ciphertext {
        public_key.try_encrypt(pt, &mut generator).expect("a ciphertext")
    };
    let (c, d) = (encrypt_direct(&pt), encrypt_direct(&pt));

    let name = |row: &str| format!("bfv {degree} {row}");
    let mut ours = || drop(black_box(public.encrypt(&encode())));
    let mut fhe = || drop(black_box(encrypt_direct(&encode_direct())));
    row(peer, &name("encode and encrypt"), &mut ours, Some(&mut fhe));
    row(peer, &name("add"), &mut || drop(black_box(a.add(&b))), Some(&mut || drop(black_box(&c + &d))));
    let mut ours = || drop(black_box(a.add_plain(&plain)));
    row(peer, &name("add plain"), &mut ours, Some(&mut || drop(black_box(&c + &pt))));
    let mut ours = || drop(black_box(a.multiply_plain(&plain)));
    let mut fhe = || drop(black_box(&c * &pt));
    row(peer, &name("times encoded plain"), &mut ours, Some(&mut fhe));
    let mut ours = || drop(black_box(a.multiply_plain(&encode())));
    let mut fhe = || drop(black_box(&c * &encode_direct()));
    row(peer, &name("times plain"), &mut ours, Some(&mut fhe));
    let mut ours = || drop(black_box(a.multiply(&b, &relinearization)).expect("a product"));
    let mut fhe = || {
        let mut product = &c * &d;
        relin.relinearizes(&mut product).expect("a product");
        black_box(product);
    };
    row(peer, &name("multiply"), &mut ours, Some(&mut fhe));
    let mut ours = || drop(black_box(a.rotate(1, &galois)).expect("a rotation"));
    let mut fhe = || drop(black_box(evaluation.rotates_columns_by(&c, 1)));
    row(peer, &name("rotate"), &mut ours, Some(&mut fhe));
    let mut ours = || drop(black_box(ones.inner_sum(&galois)).expect("a sum"));
    let mut fhe = || drop(black_box(evaluation.computes_inner_sum(&c)));
    row(peer, &name("inner sum"), &mut ours, Some(&mut fhe));
    let mut ours = || drop(black_box(secret.decrypt(&a)));
    let mut fhe = || {
        let pt = key.try_decrypt(&c).expect("a vector");
        drop(black_box(Vec::<i64>::try_decode(&pt, direct::Encoding::simd())));
    };
    row(peer, &name("decrypt"), &mut ours, Some(&mut fhe));
    let bytes = a.to_bytes();
    row(peer, &name("to bytes"), &mut || drop(black_box(a.to_bytes())), None);
    let mut read = || drop(black_box(Packed::from_bytes(&bytes, &public)));
    row(peer, &name("from bytes"), &mut read, None);
    row(peer, &name("flood"), &mut || drop(black_box(a.flood(40))), None);
    println!();
    // Products in a row of the crate itself, until a number is wrong.
    let ones = vec![-1i64; degree];
    let pt = direct::Plaintext::try_encode(&ones, direct::Encoding::simd(), &context).expect("a vector");
    let mut cipher = encrypt_direct(&pt);
    let mut right = 0;
    loop {
        cipher = &cipher * &cipher;
        relin.relinearizes(&mut cipher).expect("a product");
        let pt = key.try_decrypt(&cipher).expect("a vector");
        let values = Vec::<i64>::try_decode(&pt, direct::Encoding::simd()).expect("values");
        if values.iter().any(|&value| value != 1) {
            break;
        }
        right += 1;
    }
    println!("degree {degree}: {right} products in a row decrypt rightly in `fhe`\n");
}

/// Prints the noise after some operations as measured, and its bound.
fn noise_rows(degree: usize) {
    let parameters = Parameters::new(degree, 1).expect("parameters");
    let (secret, public) = bfv::generate(parameters).expect("keys");
    let relinearization = secret.relinearization_key().expect("a key");
    let galois = secret.galois_keys(&GaloisKeys::powers_of_two(parameters)).expect("keys");
    let shape = Shape::new(parameters, degree / 2, 1).expect("a shape");
    let values: Vec<i128> = (0..degree as i128 / 2).map(|i| i % 3 - 1).collect();
    let plain = Plain::encode(parameters, shape, &values, Magnitude::ONE, 0).expect("a vector");
    let fresh = public.encrypt(&plain).expect("a ciphertext");
    let mut rows = vec![
        ("encryption", fresh.clone()),
        ("times plain", fresh.multiply_plain(&plain).expect("a product")),
        ("rotate", fresh.rotate(1, &galois).expect("a rotation")),
        ("inner sum", fresh.inner_sum(&galois).expect("a sum")),
        ("flood by 40 bits", fresh.flood(40).expect("a ciphertext")),
    ];
    let mut power = fresh;
    while let Ok(next) = power.multiply(&power, &relinearization) {
        rows.push(("product of the one before", next.clone()));
        power = next;
    }
    for (name, cipher) in rows {
        let measured = secret.measure_noise(&cipher).expect("a noise");
        let (bound, left) = (cipher.noise_bits(), cipher.budget_bits());
        println!("| {degree} | {name} | {measured:.1} | {bound:.1} | {left:.1} |");
    }
}

fn sharing_rows(peer: &mut Option<Peer>) {
    let secrets: Vec<shamir::Element> = (0..1000).map(shamir::Element::from).collect();
    let sharing = shamir::Sharing::new(5, 3).expect("a sharing");
    let shares = sharing.share(&secrets).expect("shares");
    let mut share = || drop(black_box(sharing.share(&secrets)));
    row(peer, "shamir, 3 of 5: share 1000", &mut share, None);
    let mut reconstruct = || drop(black_box(sharing.reconstruct(&shares[1..4])));
    row(peer, "shamir, 3 of 5: reconstruct 1000", &mut reconstruct, None);
    let items: Vec<[u8; 8]> = (0..1000u64).map(u64::to_le_bytes).collect();
    let items: Vec<&[u8]> = items.iter().map(|item| &item[..]).collect();
    let key = intersection::PrfKey::generate().expect("a key");
    row(peer, "keyed hash of 1000", &mut || drop(black_box(key.tags(&items))), None);
    let exponent = intersection::Exponent::generate().expect("a secret");
    let mut blind = || drop(black_box(exponent.blind(&items)));
    row(peer, "intersection: blind 1000", &mut blind, None);
    let blinded = exponent.blind(&items);
    let mut again = || drop(black_box(exponent.blind_again(&blinded)));
    row(peer, "intersection: blind 1000 again", &mut again, None);
}

fn main() {
    // `-- noise` prints the last table alone, `-- decrypt` the rows with this word.
    if std::env::args().all(|argument| argument != "noise") {
        let mut peer = Peer::start();
        println!("| row | Felis, ms | fhe, ms | ratio | peer, ms | ratio |");
        println!("|---|---|---|---|---|---|");
        paillier_rows(&mut peer, paillier::Parameters::BITS_2048);
        paillier_rows(&mut peer, paillier::Parameters::BITS_3072);
        sharing_rows(&mut peer);
        [4096, 8192, 16384].into_iter().for_each(|degree| bfv_rows(&mut peer, degree));
    }
    println!("| degree | noise after | measured, bits | bound, bits | budget left, bits |");
    println!("|---|---|---|---|---|");
    [4096, 8192, 16384].into_iter().for_each(noise_rows);
}
