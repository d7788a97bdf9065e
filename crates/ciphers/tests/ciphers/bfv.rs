//! BFV against plain arithmetic, the noise that is measured against its bound, and everything that
//! is refused.

use crate::random;
use felis_ciphers::CipherError;
use felis_ciphers::bfv::{
    GaloisKeys, Packed, Parameters, Plain, PublicKey, RelinearizationKey, SecretKey, Shape, generate,
};
use felis_ciphers::magnitude::Magnitude;
use std::sync::LazyLock;

/// The keys of one owner.
pub struct Keys {
    pub secret: SecretKey,
    pub public: PublicKey,
    pub relinearization: RelinearizationKey,
    pub galois: GaloisKeys,
}

impl Keys {
    fn new(degree: usize, primes: usize, columns: &[usize]) -> Keys {
        let parameters = Parameters::new(degree, primes).expect("parameters");
        let (secret, public) = generate(parameters).expect("keys");
        let relinearization = secret.relinearization_key().expect("a key");
        let galois = secret.galois_keys(columns).expect("keys");
        Keys { secret, public, relinearization, galois }
    }

    fn parameters(&self) -> Parameters {
        self.public.parameters()
    }

    fn shape(&self, length: usize, rows: usize) -> Shape {
        Shape::new(self.parameters(), length, rows).expect("a shape")
    }

    fn encrypt(&self, shape: Shape, values: &[i128], bound: Magnitude) -> Packed {
        self.public.encrypt_values(shape, values, bound, 0).expect("a ciphertext")
    }

    /// Tells if there is a key for a rotation by one column.
    fn rotates(&self) -> bool {
        self.parameters().degree() != 8192
    }

    /// Decrypts, and compares the noise with its bound.
    fn decrypt(&self, cipher: &Packed) -> Vec<i128> {
        let measured = self.secret.measure_noise(cipher).expect("a noise");
        assert!(measured <= cipher.noise_bits(), "{measured} {cipher:?}");
        assert!(cipher.budget_bits() > 0.0);
        let values = self.secret.decrypt(cipher).expect("values");
        assert!(values.iter().all(|value| Magnitude::new(value.unsigned_abs()) <= cipher.bound()));
        values
    }
}

/// Degree 4096 and one prime.
pub static SMALL: LazyLock<Keys> =
    LazyLock::new(|| Keys::new(4096, 1, &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]));

/// Another owner with the same parameters.
static OTHER: LazyLock<Keys> = LazyLock::new(|| Keys::new(4096, 1, &[1]));

/// Degree 4096 and four primes: values of 64 bits and their sums.
static WIDE: LazyLock<Keys> = LazyLock::new(|| Keys::new(4096, 4, &[1, 2, 4]));

/// Degree 8192 and one prime.
static LARGE: LazyLock<Keys> = LazyLock::new(|| Keys::new(8192, 1, &[]));

fn bits(bits: u32) -> Magnitude {
    Magnitude::power_of_two(bits)
}

fn values(random: &mut fastrand::Rng, count: usize, most: i128) -> Vec<i128> {
    let value = |random: &mut fastrand::Rng| match random.u8(..5) {
        0 => most,
        1 => -most,
        _ => random.i128(-most..=most),
    };
    (0..count).map(|_| value(random)).collect()
}

fn zip(a: &[i128], b: &[i128], operation: impl Fn(i128, i128) -> i128) -> Vec<i128> {
    a.iter().zip(b).map(|(&a, &b)| operation(a, b)).collect()
}

fn rotated(values: &[i128], length: usize, columns: usize) -> Vec<i128> {
    let row = |row: &[i128]| (0..length).map(|at| row[(at + columns) % length]).collect::<Vec<_>>();
    values.chunks(length).flat_map(row).collect()
}

#[test]
fn sums_and_products_are_those_of_integers() {
    let mut random = random("bfv");
    let keys = &*SMALL;
    for (length, rows) in [(2048, 2), (2048, 1), (1, 1), (16, 2), (256, 1)] {
        let shape = keys.shape(length, rows);
        let (x, y) = (values(&mut random, length * rows, 127), values(&mut random, length * rows, 127));
        let (a, b) = (keys.encrypt(shape, &x, bits(7)), keys.encrypt(shape, &y, bits(7)));
        let plain = Plain::encode(keys.parameters(), shape, &y, bits(7), 0).expect("a vector");
        assert_eq!(keys.decrypt(&a), x);
        assert_eq!(keys.decrypt(&a.add(&b).expect("a sum")), zip(&x, &y, |x, y| x + y));
        assert_eq!(keys.decrypt(&a.subtract(&b).expect("a difference")), zip(&x, &y, |x, y| x - y));
        assert_eq!(keys.decrypt(&a.negate()), zip(&x, &x, |x, _| -x));
        assert_eq!(keys.decrypt(&a.add_plain(&plain).expect("a sum")), zip(&x, &y, |x, y| x + y));
        let product = a.multiply_plain(&plain).expect("a product");
        assert_eq!(keys.decrypt(&product), zip(&x, &y, |x, y| x * y));
        let product = a.multiply(&b, &keys.relinearization).expect("a product");
        assert_eq!(keys.decrypt(&product), zip(&x, &y, |x, y| x * y));
        let square = a.multiply(&a, &keys.relinearization).expect("a product");
        assert_eq!(keys.decrypt(&square), zip(&x, &x, |x, y| x * y));
        let factor = random.i128(-200..=200);
        let scaled = a.scale_public(factor, 0).expect("a product");
        assert_eq!(keys.decrypt(&scaled), zip(&x, &x, |x, _| x * factor));
        let flooded = a.flood(40).expect("a ciphertext");
        assert_eq!(keys.decrypt(&flooded), x);
        assert!(keys.secret.measure_noise(&flooded).expect("a noise") > a.noise_bits() + 40.0);
    }
}

#[test]
fn rotations_and_sums_are_those_of_cyclic_vectors() {
    let mut random = random("rotations");
    let keys = &*SMALL;
    for (length, rows) in [(2048, 2), (2048, 1), (1, 2), (16, 2), (64, 1)] {
        let shape = keys.shape(length, rows);
        let most = 32_000 / (length * rows) as i128;
        let x = values(&mut random, length * rows, most);
        let a = keys.encrypt(shape, &x, Magnitude::new(most as u128));
        for columns in [0, 1, random.usize(..2 * length), length - 1] {
            let turned = a.rotate(columns, &keys.galois).expect("a rotation");
            assert_eq!(keys.decrypt(&turned), rotated(&x, length, columns), "{columns} of {length}");
        }
        let exchanged = keys.decrypt(&a.exchange_rows(&keys.galois).expect("rows"));
        assert_eq!(exchanged, x.rchunks(length).flatten().copied().collect::<Vec<_>>());
        let sum = a.inner_sum(&keys.galois).expect("a sum");
        assert_eq!(keys.decrypt(&sum), vec![x.iter().sum::<i128>(); length * rows]);
    }
}

#[test]
fn wide_integers_are_joined_from_primes() {
    let mut random = random("wide");
    let keys = &*WIDE;
    let shape = keys.shape(8, 2);
    let limit = keys.parameters().max_magnitude();
    assert_eq!(limit.ilog2(), 66);
    let x = values(&mut random, 16, i64::MAX.into());
    let y = values(&mut random, 16, i64::MAX.into());
    let (a, b) = (keys.encrypt(shape, &x, bits(63)), keys.encrypt(shape, &y, bits(63)));
    assert_eq!(keys.decrypt(&a.add(&b).expect("a sum")), zip(&x, &y, |x, y| x + y));
    assert_eq!(keys.decrypt(&a.rotate(3, &keys.galois).expect("a rotation")), rotated(&x, 8, 3));
    // To the limit of the range, whose bound is exact with 64 leading digits.
    let most = limit & !7;
    let cipher = keys.encrypt(shape, &[most as i128; 16], Magnitude::new(most));
    assert_eq!(keys.decrypt(&cipher.negate()), [-(most as i128); 16]);
    let x = values(&mut random, 16, 1 << 33);
    let a = keys.encrypt(shape, &x, bits(33));
    let product = a.multiply(&a, &keys.relinearization).expect("a product");
    assert_eq!(keys.decrypt(&product), zip(&x, &x, |x, y| x * y));
}

/// A product of random operations that goes on until one is refused: results are right and the
/// noise is below its bound all the way, and the end is an error.
#[test]
fn random_programs_end_in_an_error_before_a_wrong_result() {
    let mut random = random("programs");
    let mut ends = [0; 2];
    for round in 0..12 {
        let keys = if round % 6 == 0 { &*WIDE } else { &*SMALL };
        let shape = keys.shape(8, 2);
        let mut x = values(&mut random, 16, 1);
        let mut cipher = keys.encrypt(shape, &x, Magnitude::ONE);
        loop {
            let y = values(&mut random, 16, 1);
            let other = keys.encrypt(shape, &y, Magnitude::ONE);
            let plain = Plain::encode(keys.parameters(), shape, &y, Magnitude::ONE, 0).expect("plain");
            let columns = random.usize(..8);
            let (next, expected) = match random.u8(..7) {
                0 => (cipher.add(&other), zip(&x, &y, |x, y| x + y)),
                1 => (cipher.subtract(&cipher.negate()), zip(&x, &x, |x, y| x + y)),
                2 => (cipher.multiply_plain(&plain), zip(&x, &y, |x, y| x * y)),
                3 => (cipher.multiply(&other, &keys.relinearization), zip(&x, &y, |x, y| x * y)),
                4 => (cipher.multiply(&cipher, &keys.relinearization), zip(&x, &x, |x, y| x * y)),
                5 => (cipher.rotate(columns, &keys.galois), rotated(&x, 8, columns)),
                _ => (cipher.add_plain(&plain), zip(&x, &y, |x, y| x + y)),
            };
            match next {
                Ok(next) => (cipher, x) = (next, expected),
                Err(CipherError::NoiseExhausted { millibits, limit }) => {
                    assert!(millibits >= limit);
                    ends[0] += 1;
                    break;
                }
                Err(CipherError::Overflow { bits, limit }) => {
                    assert!(bits >= limit);
                    ends[1] += 1;
                    break;
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(keys.decrypt(&cipher), x);
        }
    }
    eprintln!("noise exhausted {} times, overflow {}", ends[0], ends[1]);
}

/// Operands of two keys, three parameters, several shapes and scales in all pairs: what fits is
/// right, what does not is an error, and nothing panics.
#[test]
fn operands_in_all_pairs_fit_or_are_refused() {
    let mut random = random("pairs");
    let mut pool = Vec::new();
    for (at, keys) in [&*SMALL, &*OTHER, &*WIDE, &*LARGE].into_iter().enumerate() {
        let shapes = [(8, 2, 0), (8, 1, 0), (4, 2, 0), (8, 2, 5)];
        // All shapes of one owner, and one of each of the others.
        for (length, rows, scale) in shapes.into_iter().take(if at == 0 { 4 } else { 1 }) {
            let shape = keys.shape(length, rows);
            let x = values(&mut random, length * rows, 3);
            let plain = Plain::encode(keys.parameters(), shape, &x, bits(2), scale).expect("a vector");
            pool.push((at, keys, x, keys.public.encrypt(&plain).expect("a ciphertext"), plain));
        }
    }
    for (i, keys, x, a, _) in &pool {
        for (j, other, y, b, plain) in &pool {
            let same_shape = a.shape() == b.shape();
            let sum_fits = i == j && same_shape && a.scale() == b.scale();
            for (result, fits, expected) in [
                (a.add(b), sum_fits, zip(x, y, |x, y| x + y)),
                (a.subtract(b), sum_fits, zip(x, y, |x, y| x - y)),
                (a.multiply(b, &keys.relinearization), i == j && same_shape, zip(x, y, |x, y| x * y)),
                (
                    a.add_plain(plain),
                    keys.parameters() == other.parameters() && same_shape && a.scale() == b.scale(),
                    zip(x, y, |x, y| x + y),
                ),
                (
                    a.multiply_plain(plain),
                    keys.parameters() == other.parameters() && same_shape,
                    zip(x, y, |x, y| x * y),
                ),
                (Packed::from_bytes(&b.to_bytes(), &keys.public), i == j, y.clone()),
            ] {
                assert_eq!(result.is_ok(), fits, "{a:?} {b:?}");
                if let Ok(result) = result {
                    assert_eq!(keys.secret.decrypt(&result), Ok(expected));
                }
            }
            assert_eq!(a.rotate(1, &other.galois).is_ok(), i == j && keys.rotates());
            assert_eq!(keys.secret.decrypt(b).is_ok(), i == j);
        }
    }
}

#[test]
fn the_largest_degree_works() {
    let keys = Keys::new(16384, 1, &[1]);
    let shape = keys.shape(8192, 2);
    let x: Vec<i128> = (0..16384).map(|at| at % 200 - 100).collect();
    let cipher = keys.encrypt(shape, &x, bits(7));
    let square = cipher.multiply(&cipher, &keys.relinearization).expect("a product");
    let turned = square.rotate(1, &keys.galois).expect("a rotation");
    assert_eq!(keys.decrypt(&turned), rotated(&zip(&x, &x, |x, y| x * y), 8192, 1));
}

#[test]
fn products_in_a_row_end_where_the_table_says() {
    for (keys, products) in [(&*SMALL, 1), (&*LARGE, 4)] {
        let shape = keys.shape(2, 1);
        let mut cipher = keys.encrypt(shape, &[1, -1], Magnitude::ONE);
        for _ in 0..products {
            cipher = cipher.multiply(&cipher, &keys.relinearization).expect("a product");
            assert_eq!(keys.decrypt(&cipher), [1, 1]);
        }
        let measured = keys.secret.measure_noise(&cipher).expect("a noise");
        eprintln!("{measured:.1} bits of noise, bound {:.1}", cipher.noise_bits());
        let error = cipher.multiply(&cipher, &keys.relinearization).expect_err("exhausted");
        assert!(matches!(error, CipherError::NoiseExhausted { .. }), "{error}");
    }
}

#[test]
fn values_do_not_wrap_around() {
    let keys = &*SMALL;
    let shape = keys.shape(2, 1);
    let most = keys.encrypt(shape, &[32_768, -32_768], bits(15));
    assert_eq!(keys.decrypt(&most), [32_768, -32_768]);
    let overflow = CipherError::Overflow { bits: 16, limit: 15 };
    assert_eq!(most.add(&most).err(), Some(overflow.clone()));
    assert_eq!(most.subtract(&most).err(), Some(overflow.clone()));
    assert_eq!(most.scale_public(-2, 0).err(), Some(overflow.clone()));
    assert_eq!(most.inner_sum(&keys.galois).err(), Some(overflow.clone()));
    assert_eq!(
        most.multiply(&most, &keys.relinearization).err(),
        Some(CipherError::Overflow { bits: 30, limit: 15 })
    );
    let encrypt = |values: &[i128], bound| keys.public.encrypt_values(shape, values, bound, 0).err();
    assert_eq!(encrypt(&[0, 9], bits(3)), Some(CipherError::Magnitude { position: 1 }));
    assert_eq!(encrypt(&[0, 0], bits(16)), Some(overflow));
    assert_eq!(encrypt(&[0], bits(3)), Some(CipherError::Length { expected: 2, found: 1 }));
    assert!(matches!(most.scale_public(i128::MIN, 0), Err(CipherError::Overflow { .. })));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (keys, other, large) = (&*SMALL, &*OTHER, &*LARGE);
    let shape = keys.shape(8, 1);
    let a = keys.encrypt(shape, &[1; 8], bits(2));
    let b = other.encrypt(shape, &[1; 8], bits(2));
    let foreign =
        CipherError::ForeignKey { expected: keys.public.fingerprint(), found: other.public.fingerprint() };
    assert_eq!(a.add(&b).err(), Some(foreign.clone()));
    assert_eq!(a.subtract(&b).err(), Some(foreign.clone()));
    assert_eq!(a.multiply(&b, &keys.relinearization).err(), Some(foreign.clone()));
    assert_eq!(a.multiply(&a, &other.relinearization).err(), Some(foreign.clone()));
    assert_eq!(a.rotate(1, &other.galois).err(), Some(foreign.clone()));
    assert_eq!(a.exchange_rows(&other.galois).err(), Some(foreign.clone()));
    assert_eq!(a.inner_sum(&other.galois).err(), Some(foreign.clone()));
    assert_eq!(keys.secret.decrypt(&b).err(), Some(foreign.clone()));
    assert_eq!(Packed::from_bytes(&b.to_bytes(), &keys.public).err(), Some(foreign.clone()));
    let relinearization = other.relinearization.to_bytes();
    assert_eq!(RelinearizationKey::from_bytes(&relinearization, &keys.public).err(), Some(foreign));
    // Other parameters: N = 4096 with 8192, other primes.
    let plain = Plain::encode(large.parameters(), large.shape(8, 1), &[1; 8], bits(2), 0).expect("plain");
    let parameters = a.add_plain(&plain).expect_err("other parameters");
    assert_eq!(
        parameters.to_string(),
        "the parameters are BFV with degree 8192 and 1 prime, \
         where BFV with degree 4096 and 1 prime are needed"
    );
    assert_eq!(a.multiply_plain(&plain).err(), Some(parameters.clone()));
    assert_eq!(keys.public.encrypt(&plain).err(), Some(parameters));
    let big = large.encrypt(large.shape(8, 1), &[1; 8], bits(2));
    assert!(matches!(a.add(&big), Err(CipherError::ForeignKey { .. })));
    assert!(matches!(Packed::from_bytes(&big.to_bytes(), &keys.public), Err(CipherError::Parameters { .. })));
    // Other lengths, rows and scales.
    let short = keys.encrypt(keys.shape(4, 1), &[1; 4], bits(2));
    assert_eq!(a.add(&short).err(), Some(CipherError::Length { expected: 8, found: 4 }));
    let rows = keys.encrypt(keys.shape(4, 2), &[1; 8], bits(2));
    assert_eq!(a.add(&rows).err(), Some(CipherError::Length { expected: 8, found: 4 }));
    let fixed = keys.public.encrypt_values(shape, &[1; 8], bits(2), 8).expect("a ciphertext");
    assert_eq!(a.add(&fixed).err(), Some(CipherError::Scale { left: 0, right: 8 }));
    assert_eq!(fixed.multiply(&fixed, &keys.relinearization).expect("a product").scale(), 16);
    assert!(matches!(fixed.scale_public(1, u32::MAX), Err(CipherError::Overflow { .. })));
    for (length, rows) in [(0, 1), (3, 1), (4096, 1), (8, 0), (8, 3)] {
        let error = Shape::new(keys.parameters(), length, rows).expect_err("no shape");
        assert_eq!(error, CipherError::Shape { length, slots: 2048 });
    }
    assert_eq!(
        other.encrypt(shape, &[1; 8], bits(2)).rotate(2, &other.galois).err(),
        Some(CipherError::NoRotation { columns: 2 })
    );
    assert_eq!(keys.secret.galois_keys(&[2048]).err(), Some(CipherError::NoRotation { columns: 2048 }));
    assert!(matches!(a.flood(80), Err(CipherError::NoiseExhausted { .. })));
    assert!(matches!(a.flood(u32::MAX), Err(CipherError::NoiseExhausted { .. })));
}

#[test]
fn parameters_that_do_not_exist_are_refused() {
    for (degree, primes) in [(0, 1), (2048, 1), (4095, 1), (32768, 1), (4096, 0), (4096, 7)] {
        assert!(matches!(Parameters::new(degree, primes), Err(CipherError::Unsupported { .. })));
    }
}

/// A shape made for larger parameters is checked again.
#[test]
fn a_shape_of_other_parameters_is_refused() {
    let shape = LARGE.shape(4096, 1);
    let error = Plain::encode(SMALL.parameters(), shape, &[0; 4096], bits(1), 0).expect_err("too long");
    assert_eq!(error, CipherError::Shape { length: 4096, slots: 2048 });
}
