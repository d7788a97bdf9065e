//! Random programs, on which the evaluator and compiled code must agree: in the output, to the last
//! bit, in the way a program ends, and in the messages with their places.
//!
//! `FELIS_RANDOM=SEEDS` runs that many programs instead of the usual number, `FELIS_RANDOM_SEED=N`
//! begins at a seed, `FELIS_RANDOM_APART=1` runs each in a process of its own, so that a crash can
//! be reduced, too.

use crate::in_four_parts;
use crate::random_programs::{Generator, Node, shrunk, text};
use felis::session::{Executor, ExecutorRun, ExecutorSetup, Session, Status, on_large_stack};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// The number of programs that one session runs before a new one replaces it.
const IN_A_SESSION: u64 = 40;

/// The time after which a program is stopped; no program takes a hundredth of it.
const MAX_RUN_TIME: Duration = Duration::from_secs(10);

const EXECUTORS: [(Executor, usize, &str); 3] = [
    (Executor::Reference, 1, "reference"),
    (Executor::Eager, 1, "eager"),
    (Executor::Compiled, 3, "compiled"),
];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The outcome of a program.
#[derive(Clone, PartialEq, Debug)]
struct Ending {
    status: String,
    output: String,
    /// The codes and places with their messages.
    reported: Vec<String>,
}

/// Interrupts sessions that run too long.
struct Watch {
    begun: Arc<AtomicU64>,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Watch {
    fn new(flag: Arc<AtomicBool>) -> Watch {
        let begun = Arc::new(AtomicU64::new(0));
        let seen = Arc::downgrade(&begun);
        std::thread::spawn(move || {
            while let Some(begun) = seen.upgrade() {
                let at = begun.load(Ordering::Relaxed);
                if at > 0 && START.elapsed().as_millis() as u64 > at + MAX_RUN_TIME.as_millis() as u64 {
                    flag.store(true, Ordering::Relaxed);
                }
                drop(begun);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Watch { begun }
    }

    fn begin(&self) {
        self.begun.store(1 + START.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn end(&self) {
        self.begun.store(0, Ordering::Relaxed);
    }
}

/// A session with its watch.
struct Runner {
    session: Session,
    watch: Watch,
}

impl Runner {
    fn new() -> Runner {
        let session = Session::new();
        let watch = Watch::new(session.interrupt_flag());
        Runner { session, watch }
    }

    /// Returns the outcomes of a program on all executors. The next program finds what the last one
    /// has left.
    fn run(&mut self, program: &str) -> Vec<(&'static str, Ending)> {
        self.watch.begin();
        let executors = EXECUTORS.map(|(executor, threads, _)| ExecutorSetup::new(executor, threads));
        let runs = self.session.evaluate_on_each("program", program, &executors);
        self.watch.end();
        let named = EXECUTORS.iter().zip(runs);
        let ending = |((_, _, name), run): (&(_, _, &'static str), ExecutorRun)| {
            let reported = run.diagnostics.iter().map(|d| self.session.render(d, false)).collect();
            (*name, Ending { status: format!("{:?}", run.status), output: run.output, reported })
        };
        named.map(ending).collect()
    }
}

/// Runs a program in a process of its own; returns its outcome.
fn apart(executor: &str, program: &str) -> Ending {
    let thread = std::thread::current().id();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("random_{}_{thread:?}.flx", std::process::id()));
    std::fs::write(&path, program).expect("a file can be written");
    let run = Command::new("timeout")
        .arg(MAX_RUN_TIME.as_secs().to_string())
        .arg(env!("CARGO_BIN_EXE_felis"))
        .arg(&path)
        .env("FELIS_EXECUTOR", executor)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Ending {
        status: run.status.to_string(),
        output: String::from_utf8_lossy(&run.stdout).into_owned(),
        reported: vec![String::from_utf8_lossy(&run.stderr).into_owned()],
    }
}

/// Returns the outcomes of a program on all executors, in a new session.
fn endings(program: &str) -> Vec<(&'static str, Ending)> {
    if std::env::var_os("FELIS_RANDOM_APART").is_some() {
        return EXECUTORS.iter().map(|(_, _, name)| (*name, apart(name, program))).collect();
    }
    Runner::new().run(program)
}

fn disagree(endings: &[(&'static str, Ending)]) -> bool {
    endings.iter().any(|(_, ending)| *ending != endings[0].1)
}

fn program(seed: u64) -> Vec<Node> {
    Generator::new(seed).program()
}

/// Returns a report on a program with different outcomes, reduced.
fn report(seed: u64, items: &[Node], before: &str) -> String {
    if !disagree(&endings(&text(items))) {
        return format!("seed {seed}, only after others in one session:\n{before}\n");
    }
    let small =
        shrunk(items, Duration::from_secs(number("FELIS_RANDOM_SHRINK").unwrap_or(30)), &mut |items| {
            disagree(&endings(&text(items)))
        });
    let small = text(&small);
    let mut out = format!("seed {seed}:\n{small}\n");
    for (name, ending) in endings(&small) {
        out += &format!("--- {name}: {}\n{}{}", ending.status, ending.output, ending.reported.join(""));
    }
    out
}

fn random_programs_agree(part: u64, parts: u64) {
    let first = number("FELIS_RANDOM_SEED").unwrap_or(1);
    let total = number("FELIS_RANDOM").unwrap_or(1_000);
    let seeds = first + part * total / parts..first + (part + 1) * total / parts;
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let most = number("FELIS_RANDOM_MAX_FAILURES").unwrap_or(3);
    let last = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("agreement_random_last_{part}.flx"));
    let separate = std::env::var_os("FELIS_RANDOM_APART").is_some();
    let (mut wrong, mut refused, mut failed) = (Vec::new(), 0, 0);
    on_large_stack(|| {
        let mut runner = Runner::new();
        for seed in seeds {
            if (seed - first).is_multiple_of(IN_A_SESSION) {
                runner = Runner::new();
            }
            let items = program(seed);
            let text = text(&items);
            // A crash of compiled code leaves no other trace of the program.
            std::fs::write(&last, &text).expect("a file can be written");
            let found = if separate { endings(&text) } else { runner.run(&text) };
            let status = &found[0].1.status;
            refused += usize::from(*status == format!("{:?}", Status::Rejected));
            failed += usize::from(*status == format!("{:?}", Status::Failed));
            if std::env::var_os("FELIS_RANDOM_SHOW").is_some() && *status != format!("{:?}", Status::Ok) {
                eprintln!("seed {seed}: {status}\n{}", found[0].1.reported.join(""));
            }
            if disagree(&found) {
                let before = found.iter().map(|(n, e)| format!("--- {n}: {e:?}\n")).collect::<String>();
                let report = report(seed, &items, &format!("{text}\n{before}"));
                eprintln!("{report}");
                wrong.push(report);
                if wrong.len() as u64 >= most {
                    break;
                }
                runner = Runner::new();
            }
        }
    });
    eprintln!("{count} programs: {refused} were refused, {failed} failed when they ran");
    assert!(wrong.is_empty(), "{} disagreements, from seed {first}:\n{}", wrong.len(), wrong.join("\n"));
    // Rejected programs test nothing.
    assert!(refused * 4 < count as usize || count == 0, "{refused} of {count} programs were refused");
}

in_four_parts!(random_programs_agree);
