//! Felis beside native Rust, NumPy, Numba and JAX on seventeen kernels, by turns, in one run.
//!
//! ```sh
//! FELIS_BENCH_PYTHON="$(benches/python.sh)" RUSTFLAGS="-C target-cpu=native" \
//!   cargo bench --bench kernels
//! cargo bench --bench kernels -- axpy stencil     # two of the kernels
//! cargo bench --bench kernels -- --most=100000    # without larger sizes
//! ```
//!
//! Prints a table in Markdown: the medians of rounds, as ratios to Rust. Each contender has its
//! turn in each round. Each result is compared with that of Rust. `--rounds=N` sets the number of
//! rounds, 9 by default.

#[path = "kernels/case.rs"]
mod case;
#[path = "kernels/ceiling.rs"]
mod ceiling;
#[path = "kernels/felis.rs"]
mod felis_session;
#[path = "kernels/native/mod.rs"]
mod native;
#[path = "kernels/peer.rs"]
mod peer;
#[path = "kernels/starting.rs"]
mod starting;

use case::{KERNELS, Kernel, Program};
use ceiling::Ceilings;
use felis_session::Felis;
use peer::Peer;
use std::collections::BTreeMap;
use std::time::Instant;

/// The minimum number of seconds of one measurement, which may need many calls.
const MIN_RUN_SECONDS: f64 = 0.02;

/// The seconds of one call beyond which a contender skips larger sizes.
const MAX_RUN_SECONDS: f64 = 20.0;

/// The maximum seconds of the rounds of one contender.
const BUDGET: f64 = 10.0;

struct Options {
    names: Vec<String>,
    rounds: usize,
    most: f64,
}

fn options() -> Options {
    let mut options = Options { names: Vec::new(), rounds: 9, most: f64::INFINITY };
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--rounds", n)) => options.rounds = n.parse().expect("--rounds=NUMBER"),
            Some(("--most", n)) => options.most = n.parse().expect("--most=ELEMENTS"),
            _ if argument.starts_with("--") => {}
            _ => options.names.push(argument),
        }
    }
    options
}

/// A contender, which can run the kernel of a case.
enum Contender<'a> {
    Felis(Box<Felis>),
    Native(Box<native::Native>),
    Peer(&'a mut Peer),
}

impl Contender<'_> {
    /// Returns the seconds of a call, and the check of the result if the contender reports it.
    fn time(&mut self, kernel: &str, size: usize, calls: usize) -> Result<(Option<f64>, f64), String> {
        match self {
            Contender::Felis(felis) => Ok((Some(felis.check), felis.time(calls)?)),
            Contender::Native(native) => {
                let begun = Instant::now();
                (0..calls).for_each(|_| native.run());
                Ok((None, begun.elapsed().as_secs_f64() / calls as f64))
            }
            Contender::Peer(peer) => {
                peer.time(kernel, size, calls).map(|(check, seconds)| (Some(check), seconds))
            }
        }
    }
}

/// One contender in one case.
struct Entry<'a> {
    name: &'static str,
    contender: Contender<'a>,
    calls: usize,
    rounds: usize,
    times: Vec<f64>,
    error: Option<String>,
}

impl Entry<'_> {
    /// Runs once to fill the caches and compile, determines the number of calls of a measurement,
    /// and compares the result.
    fn prepare(&mut self, kernel: &str, size: usize, rounds: usize, expected: (f64, f64)) {
        let mut ask = || {
            self.contender.time(kernel, size, 1)?;
            let mut calls = 1;
            loop {
                let (check, seconds) = self.contender.time(kernel, size, calls)?;
                if seconds * calls as f64 >= MIN_RUN_SECONDS / 2.0 || calls >= 1_000_000 {
                    return Ok::<_, String>((check, seconds));
                }
                calls = ((MIN_RUN_SECONDS / seconds.max(1e-9)) as usize)
                    .clamp(calls * 2, calls * 100)
                    .min(1_000_000);
            }
        };
        match ask() {
            Err(error) => self.error = Some(error),
            Ok((check, seconds)) => {
                self.calls = ((MIN_RUN_SECONDS / seconds) as usize).clamp(1, 1_000_000);
                self.rounds = ((BUDGET / (seconds * self.calls as f64)) as usize).clamp(1, rounds);
                // A library may use fused multiply-add, which gives another point of the Mandelbrot
                // set.
                let tolerance = if self.name == "Felis" { 1e-9 } else { 1e-4 };
                let near = |check: f64| (check - expected.0).abs() <= tolerance * expected.1.max(1e-300);
                if let Some(check) = check.filter(|check| !near(*check)) {
                    self.error = Some(format!("wrong: {check}, not {}", expected.0));
                }
            }
        }
    }

    fn measure(&mut self, kernel: &str, size: usize) {
        if self.error.is_some() || self.times.len() >= self.rounds {
            return;
        }
        match self.contender.time(kernel, size, self.calls) {
            Ok((_, seconds)) => self.times.push(seconds),
            Err(error) => self.error = Some(error),
        }
    }
}

fn median(times: &[f64]) -> Option<f64> {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// The results of a run apart from the table.
#[derive(Default)]
struct Notes {
    /// The parts left to the evaluator, with their reasons, and all errors.
    lines: Vec<String>,
    /// The seconds of a call at the last size, with the number of elements, by kernel and
    /// contender.
    last: BTreeMap<(&'static str, &'static str), (f64, f64)>,
}

impl Notes {
    /// Returns true if a contender would take too long at a size.
    fn hopeless(&self, kernel: &'static str, name: &'static str, elements: f64) -> bool {
        self.last
            .get(&(kernel, name))
            .is_some_and(|(seconds, before)| seconds * elements / before > MAX_RUN_SECONDS)
    }
}

/// Runs a kernel at a size; returns a row of the table.
fn case(
    kernel: &Kernel,
    size: usize,
    options: &Options,
    peers: &mut [Peer],
    ceilings: &mut Ceilings,
    notes: &mut Notes,
) -> String {
    let elements = (kernel.elements)(size as f64);
    let mut native = native::kernel(kernel.name, size);
    native.run();
    let expected = native.out.check();
    let mut first = None;
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut enter = |name, contender| {
        entries.push(Entry { name, contender, calls: 1, rounds: 1, times: Vec::new(), error: None });
    };
    enter("Rust", Contender::Native(Box::new(native)));
    if !notes.hopeless(kernel.name, "Felis", elements) {
        match Felis::new(&Program::read(kernel.name, size)) {
            Ok(felis) => {
                first = Some(felis.first);
                for left in &felis.left {
                    let line = format!("{}: left to the evaluator: {left}", kernel.name);
                    if !notes.lines.contains(&line) {
                        notes.lines.push(line);
                    }
                }
                enter("Felis", Contender::Felis(Box::new(felis)));
            }
            Err(message) => notes.lines.push(format!("{} {size}: {message}", kernel.name)),
        }
    }
    for peer in peers.iter_mut().filter(|peer| peer.version.is_ok()) {
        if !notes.hopeless(kernel.name, peer.name, elements) {
            enter(peer.name, Contender::Peer(peer));
        }
    }
    entries.iter_mut().for_each(|entry| entry.prepare(kernel.name, size, options.rounds, expected));
    for round in 0..options.rounds {
        // Another contender begins each round.
        let count = entries.len();
        (0..count).for_each(|k| entries[(k + round) % count].measure(kernel.name, size));
    }
    for entry in &entries {
        if let Some(error) = &entry.error {
            notes.lines.push(format!("{} {size}: {}: {error}", kernel.name, entry.name));
        }
        if let Some(seconds) = median(&entry.times) {
            notes.last.insert((kernel.name, entry.name), (seconds, elements));
        }
    }
    let time = |name: &str| entries.iter().find(|e| e.name == name).and_then(|e| median(&e.times));
    let rust = time("Rust").expect("Rust has run");
    let ratio = |seconds: Option<f64>| seconds.map_or("–".to_string(), |s| format!("{:.2}", s / rust));
    let felis = time("Felis");
    let best = ["NumPy", "Numba", "JAX"].iter().filter_map(|name| time(name)).min_by(f64::total_cmp);
    let behind = match (felis, best) {
        (Some(felis), Some(best)) if elements >= 1e6 && felis > best * 1.05 => {
            format!("**{:.2}**", felis / best)
        }
        (Some(felis), Some(best)) => format!("{:.2}", felis / best),
        _ => "–".to_string(),
    };
    let far = match felis {
        Some(felis) if felis > 2.0 * rust => format!("**{:.2}**", felis / rust),
        _ => ratio(felis),
    };
    let least = ceilings.least((kernel.bytes)(size as f64), (kernel.flops)(size as f64));
    let share = |seconds: Option<f64>| match seconds {
        Some(seconds) => format!("{:.0} %", 100.0 * least / seconds),
        None => "–".to_string(),
    };
    format!(
        "| {} | {} | {} | {far} | {} | {} | {} | {behind} | {} | {} | {} |",
        kernel.name,
        count(elements),
        duration(rust),
        ratio(time("NumPy")),
        ratio(time("Numba")),
        ratio(time("JAX")),
        share(felis),
        share(Some(rust)),
        first.map_or("–".to_string(), duration),
    )
}

fn count(n: f64) -> String {
    let (mantissa, power) = (n / 10f64.powi(n.log10().floor() as i32), n.log10().floor());
    if (mantissa - mantissa.round()).abs() < 0.05 {
        format!("{:.0}e{power:.0}", mantissa)
    } else {
        format!("{mantissa:.1}e{power:.0}")
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn run() {
    let options = options();
    let chosen =
        |name: &str| options.names.is_empty() || options.names.iter().any(|n| name.contains(n.as_str()));
    let mut peers: Vec<Peer> = ["NumPy", "Numba", "JAX"].map(Peer::start).into();
    let mut ceilings = Ceilings::measure();
    let versions: Vec<String> = peers
        .iter()
        .map(|peer| match &peer.version {
            Ok(version) => format!("{} {version}", peer.name),
            Err(why) => format!("{} absent ({why})", peer.name),
        })
        .collect();
    let threads = rayon::current_num_threads();
    println!(
        "Threads: {threads}. {}. Rust for this processor: {}.",
        versions.join(", "),
        cfg!(target_feature = "avx2")
    );
    println!(
        "Ceilings: {:.0} GFLOP/s; triad over 768 MB {:.1} GB/s.",
        ceilings.flops() / 1e9,
        ceilings.bandwidth(768e6) / 1e9
    );
    println!();
    println!(
        "| kernel | elements | Rust | Felis ÷ Rust | NumPy ÷ Rust | Numba ÷ Rust | JAX ÷ Rust | Felis ÷ best peer | Felis, of ceiling | Rust, of ceiling | first call |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut notes = Notes::default();
    for kernel in KERNELS.iter().filter(|kernel| chosen(kernel.name)) {
        for &size in kernel.sizes.iter().filter(|size| (kernel.elements)(**size as f64) <= options.most) {
            println!("{}", case(kernel, size, &options, &mut peers, &mut ceilings, &mut notes));
        }
    }
    if chosen("starting") {
        println!("\n| start | measured |\n|---|---|");
        starting::rows().iter().for_each(|(what, time)| println!("| {what} | {time} |"));
    }
    if !notes.lines.is_empty() {
        println!("\nNotes:\n");
        notes.lines.iter().for_each(|line| println!("- {}", line.replace('\n', "\n  ")));
    }
}

fn main() {
    felis::session::on_large_stack(run);
}
