//! Programs that ask the machine: standard input, variables, clocks, folders, exit codes; in a
//! session, in tests, with parties, and in a host that has no machine.

use felis::session::{Mode, Session, Status};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Ended {
    code: i32,
    out: String,
    err: String,
}

/// Returns an empty folder for a test, with a program in it.
fn folder(name: &str, program: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("felis-system-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("main.flx"), program).expect("a file");
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
    command.args(arguments).current_dir(folder).env_remove("RUST_BACKTRACE").env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_on(mut command: Command, input: &[u8]) -> Ended {
    let mut child = command.spawn().expect("felis starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().expect("felis ends");
    Ended {
        code: output.status.code().expect("a code"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs a program with this input.
fn run(name: &str, program: &str, input: &str) -> Ended {
    run_on(command(&folder(name, program), &["run", "main.flx"]), input.as_bytes())
}

#[test]
fn standard_input_is_read_by_lines_and_as_a_whole() {
    let program = "import system (*);\n\
        proc shout():int {\n  var count = 0;\n  var line = read_line ();\n  while is_some line do\n\
        println (upper (line |> or_else \"\"));\n    count += 1;\n\
        if count == 3 do break; done\n    line = read_line ();\n  done\n  return count;\n}\n\
        println (shout ());\nprint (read_input ());\nprintln (read_line ());\n";
    let ended = run("lines", program, "a\r\né\n\nrest\nof it");
    assert_eq!((ended.code, &*ended.out, &*ended.err), (0, "A\nÉ\n\n3\nrest\nof itNone\n", ""));
    let ended = run("few", program, "a\nb");
    assert_eq!((ended.code, &*ended.out), (0, "A\nB\n2\nNone\n"));
    let ended = run_on(command(&folder("bytes", program), &["run", "main.flx"]), b"a\n\xff\n");
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("[E0526] Error: standard input cannot be read: it is not UTF-8"),
        "{}",
        ended.err
    );
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let program =
        |body: &str| format!("import system (*);\nprintln \"before\";\n{body}\nprintln \"behind\";\n");
    for (body, code) in [("exit 3;", 3), ("exit 0;", 0), ("proc leave(n:int) { exit n; }\nleave 255;", 255)] {
        let ended = run("exit", &program(body), "");
        assert_eq!((ended.code, &*ended.out, &*ended.err), (code, "before\n", ""), "{body}");
    }
    let ended = run("range", &program("exit 256;"), "");
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("256 is no exit code from 0 to 255"), "{}", ended.err);
    // `main` is not called after the program has ended itself.
    let ended = run("main", "import system (*);\nproc main() { println \"main\"; }\nexit 0;\n", "");
    assert_eq!((ended.code, &*ended.out), (0, ""));
    // A session ends with it.
    let ended = run_on(
        command(&folder("session", ""), &[]),
        b"import system (*);\nprintln 1;\nexit 7;\nprintln 2;\n",
    );
    assert_eq!(
        (ended.code, ended.out.contains('1'), ended.out.contains('2')),
        (7, true, false),
        "{}",
        ended.err
    );
}

#[test]
fn variables_folders_and_standard_error() {
    let program = "import system (*);\n\
        println (env \"FELIS_TEST\", env \"FELIS_NO_SUCH\", env \"\", env \"A=B\");\n\
        println (list_dir \"things\");\nprintln (list_dir \"things/empty\");\n\
        print_error \"to you\";\nprintln (read_lines \"things/b.txt\");\n";
    let place = folder("folders", program);
    fs::create_dir_all(place.join("things/empty")).expect("a folder");
    for name in ["b.txt", "B.txt", "é.txt", "a.txt"] {
        fs::write(place.join("things").join(name), "one\ntwo\r\n").expect("a file");
    }
    let mut wanted = command(&place, &["run", "main.flx"]);
    wanted.env("FELIS_TEST", "a value");
    let ended = run_on(wanted, b"");
    let out = "(Some (a value), None, None, None)\n(B.txt, a.txt, b.txt, empty, é.txt)\n[]\n(one, two)\n";
    assert_eq!((ended.code, &*ended.out, &*ended.err), (0, out, "to you\n"));
    let ended = run("missing", "import system (*); println (list_dir \"no/such\");", "");
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("the folder `no/such` cannot be read: there is no such folder"),
        "{}",
        ended.err
    );
}

#[test]
fn clocks_go_on_and_sleep_waits() {
    let program = "import system (*);\nimport date (*);\n\
        val before = ticks ();\nval start = now ();\nsleep (seconds 0.05);\nval after = ticks ();\n\
        println (after - before >= seconds 0.05, now () >= start, year_of (in_zone \"UTC\" start).day >= 2024);\n\
        sleep (seconds (-1.0));\n";
    let ended = run("clocks", program, "");
    assert_eq!((ended.code, &*ended.out, &*ended.err), (0, "(true, true, true)\n", ""));
}

#[cfg(unix)]
#[test]
fn waiting_for_input_and_sleeping_are_interrupted() {
    for body in ["println (read_line ());", "println (read_input ());", "sleep (nanoseconds 3600000000000);"]
    {
        let program =
            format!("import system (*);\nimport date (nanoseconds);\nprint_error \"waiting\";\n{body}\n");
        let place = folder("interrupt", &program);
        let mut child = command(&place, &["run", "main.flx"]).spawn().expect("felis starts");
        let _open = child.stdin.take();
        let mut said = [0; 7];
        child.stderr.as_mut().expect("a pipe").read_exact(&mut said).expect("a word");
        std::thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a number"));
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("a signal");
        let ended = child.wait().expect("felis ends");
        assert_eq!(ended.code(), Some(130), "{body}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{body}");
    }
}

#[test]
fn pure_functions_ask_nothing_and_parties_ask_at_a_place() {
    let codes = |text: &str| {
        let mut session = Session::new();
        let done =
            session.evaluate("test.flx", &format!("import system (*);\n{text}"), Mode::Script, &mut |_| ());
        (done.status, done.diagnostics.iter().map(|d| d.code.to_string()).collect::<Vec<_>>())
    };
    for (text, wanted) in [
        ("fun f():option[string] => env \"A\";", "E0405"),
        ("val f = env;", "E0405"),
        ("println (map env (\"A\", \"B\"));", "E0405"),
        ("fun f(name:string):int { print_error name; return 1; }", "E0405"),
        ("party P = a | b; val x = env \"A\";", "E1109"),
    ] {
        assert_eq!(codes(text), (Status::Rejected, vec![wanted.to_string()]), "{text}");
    }
    // A host that gives no machine.
    assert_eq!(codes("println (env \"A\");"), (Status::Failed, vec!["E0526".to_string()]));
    let ended = run(
        "parties",
        "import system (*);\nparty P = alice | bob;\n\
        val name = at alice { env \"FELIS_NO_SUCH\" };\nat alice { println (is_some name); };\n",
        "",
    );
    assert_eq!((ended.code, &*ended.out), (0, "alice: false\n"), "{}", ended.err);
}

#[test]
fn tests_of_a_program_ask_the_machine_and_may_not_end_it() {
    let program = "import system (*);\ntest \"a folder\" { assert (len (list_dir \".\") >= 1); }\n\
        test \"an end\" { exit 0; }\n";
    let ended = run_on(command(&folder("tests", program), &["test", "main.flx"]), b"");
    assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
    let said = ended.out + &ended.err;
    assert!(said.contains("ok    test \"a folder\""), "{said}");
    assert!(said.contains("the program has ended with exit code 0"), "{said}");
}
