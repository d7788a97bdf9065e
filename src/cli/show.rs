//! `run --show` and `run --stats`: the code of compilation units at a stage, and the metrics of a
//! run.

use super::Shell;
use super::repl::format_duration;
use felis::session::{Metrics, Stage, Traffic};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

impl Shell {
    /// Runs `work`, and prints the code at a stage and the metrics, if requested.
    pub(super) fn run_and_report(
        &mut self,
        stage: Option<Stage>,
        stats: bool,
        work: impl FnOnce(&mut Shell) -> u8,
    ) -> u8 {
        let stage = stage.or(stats.then_some(Stage::Scaling));
        if let Some(stage) = stage {
            self.session.trace(stage);
        }
        let begun = Instant::now();
        let code = work(self);
        let took = begun.elapsed();
        if stage.is_none() {
            return code;
        }
        self.output.end_line();
        let without = if stage == Some(Stage::Array) { "not built" } else { "left to the evaluator" };
        let mut shown = BTreeSet::new();
        for (place, text) in self.session.take_traces() {
            match text {
                // A part that is compiled again for other values takes as long.
                Ok(text) if stage == Some(Stage::Scaling) => {
                    if !text.is_empty() && shown.insert((place.clone(), text.clone())) {
                        self.output.write(&format!("{place}: {text}"));
                    }
                }
                Err(_) if stage == Some(Stage::Scaling) => {}
                Ok(text) => self.output.write(&format!("── {place}\n{text}")),
                Err(why) => self.output.write(&format!("── {place}\n{without}: {why}\n")),
            }
        }
        if stats {
            let peak = peak_memory_bytes()
                .map_or(String::new(), |bytes| format!("memory at most {}\n", byte_size_text(bytes)));
            self.output.write(&format!(
                "took {}\n{}{peak}",
                format_duration(took),
                statistics_text(&self.session.metrics())
            ));
        }
        if stats {
            for (party, traffic) in self.session.traffic() {
                self.output.write(&traffic_text(&party, &traffic));
            }
        }
        self.output.flush();
        code
    }
}

/// Returns what a party has sent and received as readable text.
fn traffic_text(party: &str, traffic: &Traffic) -> String {
    format!(
        "{party} sent {} in {}, received {} in {}; {}\n",
        byte_size_text(traffic.bytes_sent),
        counted(traffic.messages_sent, "message"),
        byte_size_text(traffic.bytes_received),
        counted(traffic.messages_received, "message"),
        counted(traffic.rounds, "round"),
    )
}

/// Returns metrics as readable text.
pub fn statistics_text(work: &Metrics) -> String {
    let Metrics { parts, kernels, compiling, declined, runs, failed, fresh, reused, copied: _ } = work;
    let failed = if *failed > 0 { format!(", {failed} of them failed") } else { String::new() };
    let again =
        if *reused > 0 { format!(", and used {} again", byte_size_text(*reused)) } else { String::new() };
    format!(
        "compiled {} as {} in {}; {} left to the evaluator; {}{failed}\n\
         arrays took {}{again}\n",
        counted(*parts, "part"),
        counted(*kernels, "kernel"),
        format_duration(Duration::from_secs_f64(*compiling)),
        declined,
        counted(*runs, "run"),
        byte_size_text(*fresh),
    )
}

/// Returns a number with its noun, in the singular or plural.
fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns a number of bytes in a suitable unit.
fn byte_size_text(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Returns the peak memory of this process in bytes, where the system reports it.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_in_two_lines() {
        let work = Metrics {
            parts: 3,
            kernels: 1,
            compiling: 0.0021,
            declined: 2,
            runs: 7,
            failed: 1,
            fresh: 24_000_000,
            reused: 8_000,
            copied: 0,
        };
        assert_eq!(
            statistics_text(&work),
            "compiled 3 parts as 1 kernel in 2.1 ms; 2 left to the evaluator; 7 runs, 1 of them failed\n\
             arrays took 24.0 MB, and used 8000 bytes again\n"
        );
    }
}
