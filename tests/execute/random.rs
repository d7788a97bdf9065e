//! Common parts of tests with random programs: numbers from a seed that `FELIS_SEED` repeats, and
//! programs that print the same in every executor.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};

/// A generator of numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// 2014).
pub struct Dice {
    /// The seed, which repeats the run.
    pub seed: u64,
    state: u64,
}

impl Dice {
    /// Makes a generator from `FELIS_SEED`, or from the time; prints its seed.
    pub fn seeded() -> Dice {
        let seed = number("FELIS_SEED").unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(1, |now| now.as_nanos() as u64)
        });
        println!("FELIS_SEED={seed}");
        Dice { seed, state: seed }
    }

    /// Returns a number below `n`.
    pub fn roll(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) as u128 * n as u128) >> 64) as usize
    }

    /// Shuffles the elements.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.roll(i + 1));
        }
    }
}

/// Returns the number in an environment variable; panics if it is not a number.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Returns the output of a program, or its messages; they must be the same in every executor.
pub fn run(program: &str) -> String {
    let mut shown: Option<String> = None;
    for executor in [Executor::Reference, Executor::Eager] {
        let text = program.to_string();
        let printed = on_large_stack(move || {
            let mut out = String::new();
            let mut session = Session::new().with_executor(executor, 1);
            let outcome = session.evaluate("program", &text, Mode::Script, &mut |text| out += text);
            match outcome.status {
                Status::Ok => out,
                _ => outcome.diagnostics.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect(),
            }
        });
        assert_eq!(*shown.get_or_insert_with(|| printed.clone()), printed, "{program}");
    }
    shown.unwrap_or_default()
}
