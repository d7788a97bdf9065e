//! A Python library as a contender: one child process that answers with times.
//!
//! The protocol is that of `benches/peers/peer.py`: a line `KERNEL SIZE ROUNDS` is answered by
//! `CHECK SECONDS`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A library, or the reason why it is absent.
pub struct Peer {
    /// Its name, for display.
    pub name: &'static str,
    /// Its version, or the reason why it is absent.
    pub version: Result<String, String>,
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

impl Peer {
    /// Starts a peer in the Python environment that `FELIS_BENCH_PYTHON` names.
    pub fn start(name: &'static str) -> Peer {
        let mut peer = Peer { name, version: Err("FELIS_BENCH_PYTHON is not set".into()), process: None };
        let Ok(python) = std::env::var("FELIS_BENCH_PYTHON") else { return peer };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/peer.py");
        let mut command = Command::new(python);
        command.arg(script).arg(name.to_lowercase()).stdin(Stdio::piped()).stdout(Stdio::piped());
        match command.stderr(Stdio::null()).spawn() {
            Err(error) => peer.version = Err(error.to_string()),
            Ok(mut child) => {
                let (stdin, stdout) =
                    (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
                peer.process = Some((child, stdin, BufReader::new(stdout)));
                let greeting = peer.read();
                match greeting.split_once(' ') {
                    Some(("ready", version)) => peer.version = Ok(version.to_string()),
                    _ => {
                        peer.version = Err(greeting);
                        peer.stop();
                    }
                }
            }
        }
        peer
    }

    /// Returns the check of a kernel's result, and the seconds of a round; the error is the reason
    /// of a failure.
    pub fn time(&mut self, kernel: &str, size: usize, rounds: usize) -> Result<(f64, f64), String> {
        let Some((_, stdin, _)) = &mut self.process else { return Err("absent".into()) };
        writeln!(stdin, "{kernel} {size} {rounds}")
            .and_then(|()| stdin.flush())
            .map_err(|e| e.to_string())?;
        let answer = self.read();
        let numbers = answer.split_once(' ').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        numbers.ok_or(answer)
    }

    fn read(&mut self) -> String {
        let Some((_, _, stdout)) = &mut self.process else { return String::new() };
        let mut line = String::new();
        match stdout.read_line(&mut line) {
            Ok(0) | Err(_) => "the process has ended".into(),
            Ok(_) => line.trim().to_string(),
        }
    }

    fn stop(&mut self) {
        if let Some((mut child, stdin, _)) = self.process.take() {
            // The process ends at the end of its input.
            drop(stdin);
            let _ = child.wait();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}
