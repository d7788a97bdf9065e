//! Properties of the schemes at random inputs, attacks on what is read, and errors before wrong
//! results.

mod bfv;
mod damage;
mod paillier;
mod sharing;

/// Returns a random generator, and prints the seed with which a failure can be repeated.
fn random(name: &str) -> fastrand::Rng {
    let seed = match std::env::var("FELIS_SEED") {
        Ok(seed) => seed.parse().expect("FELIS_SEED is a number"),
        Err(_) => fastrand::u64(..),
    };
    eprintln!("{name}: FELIS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}
