//! Properties of the schemes at random inputs, attacks on what is read, and errors before wrong
//! results.

mod bfv;
mod damage;
mod paillier;
mod sharing;

/// Compiles only if a type implements none of some traits.
macro_rules! lacks {
    ($type:ty: $($trait:path),+) => {
        $(const _: fn() = || {
            trait Ambiguous<A> {
                fn here() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            struct Second;
            impl<T: ?Sized + $trait> Ambiguous<Second> for T {}
            let _ = <$type as Ambiguous<_>>::here;
        };)+
    };
}

lacks!(felis_ciphers::paillier::SecretKey: Clone, std::fmt::Debug, std::fmt::Display);
lacks!(felis_ciphers::bfv::SecretKey: Clone, std::fmt::Debug, std::fmt::Display);
lacks!(felis_ciphers::intersection::PrfKey: Clone, std::fmt::Debug, std::fmt::Display);
lacks!(felis_ciphers::intersection::Exponent: Clone, std::fmt::Debug, std::fmt::Display);

/// Returns a random generator, and prints the seed with which a failure can be repeated.
fn random(name: &str) -> fastrand::Rng {
    let seed = match std::env::var("FELIS_SEED") {
        Ok(seed) => seed.parse().expect("FELIS_SEED is a number"),
        Err(_) => fastrand::u64(..),
    };
    eprintln!("{name}: FELIS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}
