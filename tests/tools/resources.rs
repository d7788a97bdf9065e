//! The command with limited resources: little memory, many threads, file names with terminal
//! commands, and signals.

use crate::empty_folder;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const FELIS: &str = env!("CARGO_BIN_EXE_felis");

fn felis() -> Command {
    let mut command = Command::new(FELIS);
    command.env_remove("RUST_BACKTRACE").env_remove("FELIS_THREADS").stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_number_of_threads_is_a_number() {
    let run = |threads: &str| {
        let mut command = felis();
        command.args(["-e", "1 + 1"]).env("FELIS_THREADS", threads);
        command.output().expect("felis runs")
    };
    for threads in ["", "0", "1", "4", " 2 ", "1000000", "99999999999999999999999"] {
        let output = run(threads);
        assert!(output.status.success(), "{threads}: {}", said(&output));
        assert!(String::from_utf8_lossy(&output.stdout).starts_with('2'), "{threads}");
    }
    for threads in ["-1", "four", "1.5", "0x4"] {
        let output = run(threads);
        assert_eq!(output.status.code(), Some(2), "{threads}");
        let expected = format!(
            "felis: FELIS_THREADS is `{threads}`: it is a number of threads, such as 4, or 0 for as many as there are cores\n"
        );
        assert_eq!(said(&output), expected);
    }
}

/// The smallest stack that a shell here allows a command.
#[test]
fn a_small_stack_is_enough() {
    let folder = empty_folder("stack");
    let program = "fun f(n:int):int => if n == 0 then 0 else 1 + f (n - 1) endif;\nprintln (f 10000);\n";
    fs::write(folder.join("deep.flx"), program).expect("a program");
    for kibibytes in [128, 256, 1024] {
        for (arguments, starts) in [
            ("run deep.flx", "10000\n"),
            ("check deep.flx", ""),
            ("fmt --check deep.flx", ""),
            ("test deep.flx", "there are no examples"),
            ("iso 'int * int' 'int ^ 2'", "equal"),
            ("--help", ""),
        ] {
            let script = format!("ulimit -s {kibibytes}; exec '{FELIS}' {arguments}");
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(script).current_dir(&folder).stdin(Stdio::null());
            let output = shell.output().expect("a shell");
            let code = output.status.code();
            assert!(
                code.is_some_and(|code| code <= 3),
                "{arguments} with {kibibytes} KiB: {}",
                said(&output)
            );
            let out = String::from_utf8_lossy(&output.stdout);
            assert!(out.starts_with(starts), "{arguments} with {kibibytes} KiB: {out}{}", said(&output));
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn names_command_no_terminal() {
    let folder = empty_folder("names");
    let bad = "a\u{1b}[31m\nb.flx";
    let clean = |output: &Output, what: &str| {
        let all = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(!all.contains(&0x1b), "{what}: {}", String::from_utf8_lossy(&all));
        String::from_utf8_lossy(&all).into_owned()
    };
    let run = |arguments: &[&str]| felis().args(arguments).current_dir(&folder).output().expect("felis runs");
    for arguments in [&[bad][..], &["run", bad], &["check", bad], &["fmt", bad], &["test", bad]] {
        let shown = clean(&run(arguments), "no such file");
        assert!(shown.contains(r"a\u{1b}[31m\nb"), "{arguments:?}: {shown}");
    }
    let program = "test \"a \u{1b}[31mred\" { assert (1 == 2); }\nval x = read_text \"no\\u{1B}file\";\nprintln (1 / 0);\n";
    fs::write(folder.join(bad), program).expect("a program");
    for arguments in [&["run", bad][..], &["check", bad], &["test", bad], &["fmt", "--check", bad]] {
        clean(&run(arguments), "a program");
    }
    let shown = clean(&run(&["run", bad]), "a file that is read");
    assert!(shown.contains(r"`no\u{1b}file` cannot be read"), "{shown}");
    let _ = fs::remove_dir_all(&folder);
}

/// Sends a signal to a program after a while; returns the time until it ended.
fn stopped(child: &mut Child, signal: &str) -> Duration {
    let begun = Instant::now();
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    child.wait().expect("it ends");
    begun.elapsed()
}

#[test]
fn a_killed_write_leaves_nothing_over() {
    let folder = empty_folder("killed");
    let program =
        "val a : real ^ 12000000 = fill 1.5;\nfor i in 0..1000 do write_raw (\"out.bin\", a); done\n";
    fs::write(folder.join("write.flx"), program).expect("a program");
    fs::write(folder.join("out.bin"), "old").expect("a file");
    for (round, signal) in ["-KILL", "-TERM", "-KILL", "-INT"].into_iter().enumerate() {
        let mut command = felis();
        command.args(["run", "write.flx"]).current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("felis starts");
        // The file is written repeatedly, so that some signals arrive during a write.
        std::thread::sleep(Duration::from_millis(700 + 37 * round as u64));
        assert!(child.try_wait().expect("a state").is_none(), "it has ended");
        let _ = stopped(&mut child, signal);
        let mut left: Vec<String> = fs::read_dir(&folder)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["out.bin", "write.flx"], "after {signal}");
        let length = fs::metadata(folder.join("out.bin")).expect("a file").len();
        assert!([3, 8 * 12_000_000].contains(&length), "a part of the file: {length}");
    }
    let _ = fs::remove_dir_all(&folder);
}

/// A time that no round of the programs takes that are stopped.
const SHORTEST_ROUND: Duration = Duration::from_millis(20);

/// An operation that takes long is stopped while it runs: in a part of the time that it takes as a
/// whole, which is measured in the same run.
#[test]
fn what_runs_long_is_stopped() {
    let folder = empty_folder("long");
    let programs = [
        (
            "replace",
            "val t = repeat (\"abcab\", 6000000);\nfor i in 0..100 do println (strlen (replace_all (\"b\", \"xy\") t)); done\n",
        ),
        (
            "cases",
            "val t = repeat (\"abcéb \", 6000000);\nfor i in 0..100 do println (strlen (upper (lower t))); done\n",
        ),
        (
            "matmul",
            "val a : real ^ (1200 \\* 1200) = fill 1.5;\nfor i in 0..100 do println (sum (matmul (a, a))); done\n",
        ),
        (
            "sort",
            "val a = map (fun (x) => (x * 7919) % 1000003) #iota[3000000];\nfor i in 0..100 do println (sum (sort a), len (order a)); done\n",
        ),
        (
            "recursion",
            "fun fib(n:int):int => if n < 2 then n else fib (n - 1) + fib (n - 2) endif;\nfor i in 0..100 do println (fib 41); done\n",
        ),
        ("show", "val a : int ^ ?N = iota 3000000;\nfor i in 0..100 do println (strlen (a.str)); done\n"),
    ];
    for (name, program) in programs {
        fs::write(folder.join("long.flx"), program).expect("a program");
        let mut command = felis();
        command.args(["run", "long.flx"]).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("felis starts");
        let mut error = child.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut next_line = || lines.next().expect("a line of each round").expect("text");
        next_line();
        // Two lines may have come while this process waited for its turn.
        let mut round = || {
            let begun = Instant::now();
            next_line();
            begun.elapsed()
        };
        let whole = (0..5).map(|_| round()).find(|time| *time > SHORTEST_ROUND).expect("rounds are long");
        let time = stopped(&mut child, "-INT");
        assert!(time < whole * 3 / 4, "{name}: stopped in {time:?} of {whole:?}");
        let mut text = String::new();
        error.read_to_string(&mut text).expect("text");
        assert!(text.contains("interrupted"), "{name}: {text}");
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Returns a message to the language server with its header.
fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns the next message from the server.
fn received(from: &mut impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(from.read_line(&mut line).expect("a line") > 0, "the server has gone");
        match line.trim().split_once(": ") {
            Some((_, number)) => length = number.parse().expect("a length"),
            None => break,
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("a message");
    serde_json::from_slice(&body).expect("JSON")
}

#[test]
fn the_language_server_goes_on_after_what_is_no_message() {
    let mut child = felis()
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("felis starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    let ask = |id: i32, method: &str| {
        framed(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string())
    };
    let mut send = |text: &str| to.write_all(text.as_bytes()).and_then(|()| to.flush()).expect("it listens");
    send(&framed("{ this is no JSON"));
    assert_eq!(received(&mut from)["error"]["code"], -32700);
    send(&ask(1, "initialize"));
    assert_eq!(received(&mut from)["id"], 1);
    send(&framed(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }).to_string()));
    for (wrong, code) in [
        (framed("[1, 2"), -32700),
        (framed("\u{1}"), -32700),
        (framed("17"), -32600),
        ("Content-Length: 99999999999999999\r\n\r\n".to_string(), -32600),
        ("Content-Length: -5\r\n\r\n".to_string(), -32700),
        ("GET / HTTP/1.1\r\n\r\n".to_string(), -32700),
    ] {
        send(&wrong);
        // An error in a header is detected when the next header arrives.
        send(&ask(2, "shutdown_not"));
        let answers = [received(&mut from), received(&mut from)];
        let codes: Vec<i64> = answers.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
        assert!(codes.contains(&code), "{wrong:?}: {answers:?}");
        assert!(answers.iter().any(|answer| answer["id"] == 2), "{wrong:?}: {answers:?}");
    }
    send(&ask(3, "shutdown"));
    assert_eq!(received(&mut from)["id"], 3);
    send(&framed(&json!({ "jsonrpc": "2.0", "method": "exit" }).to_string()));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_language_server_ends_with_its_input() {
    let mut child =
        felis().arg("lsp").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("felis starts");
    let begun = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it still waits");
        std::thread::sleep(Duration::from_millis(20));
    }
}
