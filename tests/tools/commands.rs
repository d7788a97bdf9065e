//! The subcommands as processes: `new`, `run`, `test`, `fmt`, `explain`, `check`, `completions`.

use crate::empty_folder;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const OK: i32 = 0;
const FAILED: i32 = 1;
const USAGE: i32 = 2;
const REJECTED: i32 = 3;

struct Ended {
    code: i32,
    out: String,
    err: String,
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
    command.args(arguments).current_dir(folder).env_remove("RUST_BACKTRACE").env("NO_COLOR", "1");
    command
}

fn felis_on(folder: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("felis starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that does not read closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("felis ends");
    Ended {
        code: output.status.code().expect("a code"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn felis(folder: &Path, arguments: &[&str]) -> Ended {
    felis_on(folder, arguments, "")
}

#[test]
fn a_new_program_runs_is_tested_and_is_laid_out() {
    let place = empty_folder("new");
    let ended = felis(&place, &["new", "first"]);
    assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
    assert!(ended.out.contains("felis run first/main.flx"), "{}", ended.out);
    let ended = felis(&place, &["run", "first/main.flx", "3", "world"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "*** hello, world ***\n", ""));
    let ended = felis(&place, &["test", "first/main.flx", "--quiet"]);
    assert_eq!((ended.code, timeless(&ended.out), ended.err), (OK, "2 passed in TIME\n".into(), "".into()));
    assert_eq!(felis(&place, &["fmt", "--check", "first"]).code, OK);
    let ended = felis(&place, &["test", "first", "--quiet"]);
    assert_eq!((ended.code, timeless(&ended.out), ended.err), (OK, "3 passed in TIME\n".into(), "".into()));
    let ended = felis(&place, &["new", "first"]);
    assert_eq!(ended.code, USAGE);
    assert!(ended.err.contains("it is not empty"), "{}", ended.err);
    let ended = felis(&place, &["new", "my dir"]);
    let said = "made `my dir/main.flx` and `my dir/plot.flx`\n\n  felis run 'my dir/main.flx' 3 world\n  \
                felis test 'my dir/main.flx'\n  felis run 'my dir/plot.flx'\n";
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, said, ""));
}

/// The commands of the README lead from a clone to a plot. The first two, which copy the sources
/// and build them, are compared with the package; the others run in an empty folder.
#[cfg(unix)]
#[test]
fn five_commands_lead_to_a_first_plot() {
    let readme = include_str!("../../README.md");
    let fence = readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a fence");
    let commands: Vec<&str> = fence.lines().collect();
    assert_eq!(commands.len(), 5, "{fence}");
    assert!(commands[0].starts_with("git clone ") && commands[0].ends_with(" felis"), "{fence}");
    assert_eq!(commands[1], "cargo install --locked --path felis");
    let package = include_str!("../../Cargo.toml");
    assert!(package.contains("[[bin]]\nname = \"felis\"\n"));
    let rust = package.lines().find_map(|line| line.strip_prefix("rust-version = ")).expect("a version");
    assert!(readme.contains(&format!("Rust {} or newer", rust.trim_matches('"'))), "{rust}");

    let place = empty_folder("first-plot");
    let felis = Path::new(env!("CARGO_BIN_EXE_felis")).parent().expect("a folder");
    let path = format!("{}:{}", felis.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &commands[2..].join("\n")]).current_dir(&place).env("PATH", path);
    let output = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("A swing comes to rest\nheight\n 1.0 ┤"), "{said}");
    let picture = fs::read_to_string(place.join("first/plot.svg")).expect("a picture");
    assert!(picture.starts_with("<svg ") && picture.contains("A swing comes to rest"), "{picture}");
}

#[cfg(unix)]
#[test]
fn a_script_is_started_by_the_system() {
    let place = empty_folder("shebang");
    assert_eq!(felis(&place, &["new", "s"]).code, OK);
    let binary = Path::new(env!("CARGO_BIN_EXE_felis")).parent().expect("a folder");
    let output = Command::new(place.join("s/main.flx"))
        .args(["1", "you"])
        .env("PATH", format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default()))
        .output()
        .expect("the script starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "* hello, you *\n");
}

#[test]
fn main_takes_typed_words() {
    let place = empty_folder("main");
    let program = "typedef Hour = 24;\n/// Says what it was given.\nproc main(n:int, x:real, b:bool, c:char, h:Hour, s:string) {\n  println (n + 1, x * 2.0, not b, c, h, s + \"!\");\n}\nprintln \"first\";\n";
    fs::write(place.join("p.flx"), program).expect("a file");
    let good = ["run", "p.flx", "-3", "1.5e1", "true", "é", "23", "a \"b\" \\"];
    let ended = felis(&place, &good);
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.as_str()),
        (OK, "first\n(-2, 30.0, false, é, 23, a \"b\" \\!)\n", "")
    );
    // `felis FILE` is the same.
    assert_eq!(felis(&place, &good[1..]).out, ended.out);
    // And so is `felis run FILE -- …`.
    let apart = [&good[..2], &["--"], &good[2..]].concat();
    assert_eq!(felis(&place, &apart).out, ended.out);
    let usage = "usage: p.flx n:int x:real b:bool c:char h:Hour s:string\n";
    for (at, word, why) in [
        (0, "three", "felis: `three` cannot be `n`, which is `int`: it is no whole number\n"),
        (
            0,
            "99999999999999999999",
            "felis: `99999999999999999999` cannot be `n`, which is `int`: it is a number from -9223372036854775808 to 9223372036854775807\n",
        ),
        (1, "nan", "felis: `nan` cannot be `x`, which is `real`: it is no number\n"),
        (2, "yes", "felis: `yes` cannot be `b`, which is `bool`: it is `true` or `false`\n"),
        (3, "ab", "felis: `ab` cannot be `c`, which is `char`: it is one character\n"),
        (4, "24", "felis: `24` cannot be `h`, which is `Hour`: it is a number from 0 to 23\n"),
    ] {
        let mut words = good;
        words[2 + at] = word;
        let ended = felis(&place, &words);
        // Nothing has run.
        assert_eq!((ended.code, ended.out.as_str()), (USAGE, ""));
        assert_eq!(ended.err, format!("{why}{usage}"));
    }
    let ended = felis(&place, &["run", "p.flx", "1"]);
    assert_eq!(
        ended.err,
        format!("felis: the program takes 6 arguments and was given 1: `x` is missing\n{usage}")
    );
    let ended = felis(&place, &["run", "p.flx", "--help"]);
    assert_eq!((ended.code, ended.out), (OK, format!("{usage}\nSays what it was given.\n")));
}

#[test]
fn main_takes_all_words_that_are_left() {
    let place = empty_folder("rest");
    let program =
        "proc main[N:COMPACTLINEAR](factor:int, xs:int ^ N) { println (factor * sum xs, len xs); }\n";
    fs::write(place.join("p.flx"), program).expect("a file");
    for (words, out) in
        [(&["2"][..], "(0, 0)\n"), (&["2", "5"], "(10, 1)\n"), (&["2", "5", "6", "7"], "(36, 3)\n")]
    {
        let ended = felis(&place, &[&["run", "p.flx"], words].concat());
        assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, out, ""));
    }
    let ended = felis(&place, &["run", "p.flx"]);
    let said = "felis: the program takes at least 1 argument and was given none: `factor` is missing\nusage: p.flx factor:int [xs:int ^ N …]\n";
    assert_eq!((ended.code, ended.err.as_str()), (USAGE, said));
}

#[test]
fn main_that_a_program_calls_itself_is_called_once() {
    let place = empty_folder("own");
    fs::write(place.join("p.flx"), "proc main() { println 1; }\nmain ();\n").expect("a file");
    assert_eq!(felis(&place, &["p.flx"]).out, "1\n");
    fs::write(place.join("q.flx"), "proc main() { println 1 / 0; }\n").expect("a file");
    assert_eq!(felis(&place, &["q.flx"]).code, REJECTED);
    fs::write(place.join("r.flx"), "proc main(n:int) { println (1 / n); }\n").expect("a file");
    let ended = felis(&place, &["r.flx", "0"]);
    assert_eq!(ended.code, FAILED);
    assert!(ended.err.contains("E0501") && ended.err.contains("r.flx:1"), "{}", ended.err);
}

#[test]
fn a_main_that_no_words_can_call_is_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["main_array", "main_fun", "main_groups", "main_twice"] {
        let file = format!("tests/diagnostics/{name}.flx");
        let ended = felis(root, &["run", &file, "1"]);
        assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
        let golden = root.join(file.replace(".flx", ".err"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, &ended.err).expect("writable");
        }
        assert_eq!(ended.err, fs::read_to_string(golden).unwrap_or_default(), "{name}");
    }
}

#[test]
fn a_function_called_main_is_called_by_nobody() {
    let place = empty_folder("main-fun");
    fs::write(place.join("p.flx"), "fun main(n:int):int => n + 1;\n").expect("a file");
    for arguments in [&["run", "p.flx", "3"][..], &["p.flx"]] {
        let ended = felis(&place, arguments);
        assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
        assert!(ended.err.contains("E0916"), "{}", ended.err);
    }
    fs::write(place.join("p.flx"), "fun main(n:int):int => n + 1;\nprintln (main 3);\n").expect("a file");
    assert_eq!(felis(&place, &["p.flx"]).out, "4\n");
}

#[test]
fn a_misspelled_executor_is_no_other_one() {
    let place = empty_folder("executor");
    for (name, value, said) in [
        (
            "FELIS_EXECUTOR",
            "refrence",
            "FELIS_EXECUTOR is `refrence`: it is `reference`, `compiled` or `eager`",
        ),
        (
            "FELIS_THREADS",
            "two",
            "FELIS_THREADS is `two`: it is a number of threads, such as 4, or 0 for as many as there are cores",
        ),
    ] {
        let output = command(&place, &["-e", "1 + 1"]).env(name, value).output().expect("felis ends");
        assert_eq!(output.status.code(), Some(USAGE));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("felis: {said}\n"));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_may_be_another() {
    let place = empty_folder("absent");
    fs::write(place.join("squares.flx"), "println 1;\n").expect("a file");
    for (arguments, said) in [
        (&["check", "nope"][..], "there is no file `nope`"),
        (&["check", "squares"], "there is no file `squares`; did you mean `squares.flx`?"),
        (&["run", "sqares.flx"], "there is no file `sqares.flx`; did you mean `squares.flx`?"),
        (&["squares"], "there is no file `squares`; did you mean `squares.flx`?"),
        (&["nope"], "there is no file `nope`, and no command has this name (see `felis --help`)"),
        (&["doc", "nope", "-o", "out"], "there is no file `nope`"),
        (&["bench", "nope"], "there is no file `nope`"),
    ] {
        let ended = felis(&place, arguments);
        assert_eq!((ended.code, ended.out.as_str()), (USAGE, ""), "{arguments:?}");
        assert_eq!(ended.err, format!("felis: {said}\n"), "{arguments:?}");
    }
    let ended = felis(&place, &["check", "--json", "nope"]);
    assert_eq!((ended.code, ended.err.as_str()), (USAGE, ""));
    let said: serde_json::Value = serde_json::from_str(&ended.out).expect("an object");
    assert_eq!(said["message"], "there is no file `nope`");
    assert_eq!(
        (said["severity"].as_str(), said["code"].as_str(), said["place"].is_null()),
        (Some("error"), Some("E1001"), true)
    );
}

#[test]
fn what_is_wrong_is_not_documented() {
    let place = empty_folder("doc-wrong");
    fs::write(place.join("p.flx"), "/// Says a.\nfun f(x:int):int => \"a\";\n").expect("a file");
    fs::write(place.join("q.flx"), "import \"part.flx\";\n/// One.\nfun one():int => part::x;\n")
        .expect("a file");
    fs::write(place.join("part.flx"), "export val x = 1;\n").expect("a file");
    let ended = felis(&place, &["doc", "p.flx", "-o", "out"]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    assert!(ended.err.contains("E0301") && !place.join("out").exists(), "{}", ended.err);
    assert_eq!(felis(&place, &["doc", "q.flx", "-o", "out"]).code, OK);
    let ended = felis(&place, &["doc", "q.flx", "-o", "part.flx"]);
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (USAGE, "felis: cannot write to `part.flx`: it is a file, not a folder\n")
    );
}

#[test]
fn codes_near_one_that_is_none() {
    let place = empty_folder("near");
    let ended = felis(&place, &["explain", "E9999"]);
    assert_eq!((ended.code, ended.out.as_str()), (USAGE, ""));
    let start = "felis: no diagnostic has the code `E9999`; near it are\n  E0999  ";
    assert!(ended.err.starts_with(start), "{}", ended.err);
    assert!(ended.err.ends_with("\n`felis explain` lists all codes\n"), "{}", ended.err);
    let lines = |code: &str| -> Vec<String> {
        let ended = felis(&place, &["explain", code]);
        ended.err.lines().filter_map(|line| line.strip_prefix("  ")?.get(..5)).map(str::to_string).collect()
    };
    let near = lines("E0399");
    assert!(near.len() > 1 && near.iter().all(|code| code.starts_with("E03")), "{near:?}");
    assert!(lines("utf-8").contains(&"E0100".to_string()));
    assert_eq!(lines("nothing_like_it"), [""; 0]);
}

const TESTED: &str = "/// Doubles.\n///\n/// > double 4\n/// 8\n/// > double 5\n/// 11\nfun double(n:int):int => 2 * n;\nprintln \"unseen\";\nvar count = 0;\ntest \"counts\" {\n  count += 1;\n  assert (count == 1);\n}\ntest \"counts again\" {\n  count += 1;\n  assert (count == 1);\n}\ntest \"is wrong\" {\n  assert (double 2 == 5);\n}\n";

#[test]
fn tests_and_examples_are_run_and_counted() {
    let place = empty_folder("test");
    fs::write(place.join("p.flx"), TESTED).expect("a file");
    let ended = felis(&place, &["test", "p.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (FAILED, ""));
    let told = timeless(&ended.out);
    assert!(
        told.starts_with(
            "p.flx\n  ok    example `double 4`  (TIME)\n  FAIL  example `double 5`  (TIME), p.flx:5\n  says  11\n  gives 10\n  ok    test \"counts\"  (TIME)\n  ok    test \"counts again\"  (TIME)\n  FAIL  test \"is wrong\"  (TIME), p.flx:18\n[E0507]"
        ),
        "{told}"
    );
    assert!(ended.out.contains("p.flx:19:3"), "{}", ended.out);
    assert!(told.ends_with("3 passed, 2 failed in TIME\n"), "{told}");
    // Running the program runs no test.
    assert_eq!(felis(&place, &["p.flx"]).out, "unseen\n");
    fs::write(place.join("q.flx"), "test \"a\" { println nothing; }").expect("a file");
    let ended = felis(&place, &["test", "q.flx"]);
    assert_eq!(ended.code, REJECTED);
    assert!(ended.err.contains("E0401"), "{}", ended.err);
    assert_eq!(felis(&place, &["check", "q.flx"]).code, REJECTED);
    fs::write(place.join("r.flx"), "println 1;\n/// > 1 +\n/// 2\nfun f(x:int):int => x;\n").expect("a file");
    let ended = felis(&place, &["test", "r.flx"]);
    assert_eq!(ended.code, FAILED);
    assert!(ended.out.contains("E01"), "{}", ended.out);
    fs::write(place.join("s.flx"), "println 1;").expect("a file");
    let ended = felis(&place, &["test", "s.flx"]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "there are no examples and no tests\n"));
}

/// Returns a text with a word in the place of each time.
fn timeless(text: &str) -> String {
    let time = fancy_regex::Regex::new(r"\b\d+(\.\d+)? (µs|ms|s)\b").expect("a pattern");
    time.replace_all(text, "TIME").into_owned()
}

#[test]
fn some_tests_are_run() {
    let place = empty_folder("only");
    fs::write(place.join("p.flx"), TESTED).expect("a file");
    let ended = felis(&place, &["test", "--only", "counts", "p.flx"]);
    assert_eq!(
        (ended.code, timeless(&ended.out).as_str()),
        (
            OK,
            "p.flx\n  ok    test \"counts\"  (TIME)\n  ok    test \"counts again\"  (TIME)\n2 passed, 3 left out in TIME\n"
        )
    );
    let ended = felis(&place, &["test", "--only", "double 5", "--only", "again", "--quiet", "p.flx"]);
    assert_eq!(
        (ended.code, timeless(&ended.out).as_str()),
        (
            FAILED,
            "p.flx\n  FAIL  example `double 5`  (TIME), p.flx:5\n  says  11\n  gives 10\n1 passed, 1 failed, 3 left out in TIME\n"
        )
    );
    // A misspelled name is an error.
    let ended = felis(&place, &["test", "--only", "cuonts", "p.flx"]);
    assert_eq!((ended.code, timeless(&ended.out).as_str()), (USAGE, "0 passed, 5 left out in TIME\n"));
    assert_eq!(ended.err, "felis: no example and no test has `cuonts` in its name\n");
}

#[test]
fn a_test_has_a_limit_of_time() {
    let place = empty_folder("limit");
    let text = "/// > spin ()\n/// 0\nfun spin():int { while true do done return 0; }\ntest \"spins\" { var i = 0; while i == 0 do i = i * 2; done }\ntest \"sums\" { val s = sum [ ((i :>> int) :> real) for i in ..[1000] ]; assert (s > 0.0); }\n";
    fs::write(place.join("p.flx"), text).expect("a file");
    let ended = felis(&place, &["test", "--limit", "1.5", "p.flx"]);
    assert_eq!(
        (ended.code, timeless(&ended.out).as_str(), ended.err.as_str()),
        (
            FAILED,
            "p.flx\n  FAIL  example `spin ()`  (TIME), p.flx:1\n  takes longer than TIME\n  FAIL  test \"spins\"  (TIME), p.flx:4\n  takes longer than TIME\n  ok    test \"sums\"  (TIME)\n1 passed, 2 failed in TIME\n",
            ""
        )
    );
    // The time limit applies to the program before the tests, too.
    fs::write(place.join("q.flx"), "var n = 0; while n == 0 do n = n * 2; done\ntest \"a\" { }")
        .expect("a file");
    let ended = felis(&place, &["test", "--limit", "0.2", "q.flx"]);
    assert_eq!((ended.code, timeless(&ended.out).as_str()), (FAILED, "0 passed, 1 failed in TIME\n"));
    assert_eq!(ended.err, "felis: `q.flx` itself takes longer than 0.2 s; nothing of it was tested\n");
    for wrong in ["0", "-1", "nan", "1e99", "soon"] {
        let ended = felis(&place, &["test", &format!("--limit={wrong}"), "p.flx"]);
        assert_eq!((ended.code, ended.out.as_str()), (USAGE, ""), "{wrong}");
        assert!(ended.err.contains("seconds"), "{wrong}: {}", ended.err);
    }
}

#[test]
fn tests_are_told_to_programs() {
    let place = empty_folder("test-json");
    fs::write(place.join("p.flx"), TESTED).expect("a file");
    let ended = felis(&place, &["test", "--json", "p.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (FAILED, ""));
    let lines: Vec<serde_json::Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let fates: Vec<(&str, u64, &str)> = lines[..5]
        .iter()
        .map(|line| {
            assert!(line["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{line}");
            let text = |name: &str| line[name].as_str().expect("a text");
            assert_eq!((text("file"), line["schema"].as_u64()), ("p.flx", Some(1)));
            (text("kind"), line["line"].as_u64().expect("a line"), text("fate"))
        })
        .collect();
    assert_eq!(
        fates,
        [
            ("example", 3, "passed"),
            ("example", 5, "differs"),
            ("test", 10, "passed"),
            ("test", 14, "passed"),
            ("test", 18, "failed")
        ]
    );
    assert_eq!((&lines[1]["expected"], &lines[1]["found"]), (&"11".into(), &"10".into()));
    assert_eq!(lines[4]["messages"][0]["code"], "E0507");
    assert_eq!(
        (lines[5]["passed"].as_u64(), lines[5]["failed"].as_u64(), lines.len()),
        (Some(3), Some(2), 6)
    );
    // A rejected program is reported in the same way.
    fs::write(place.join("q.flx"), "println nothing;").expect("a file");
    let ended = felis(&place, &["test", "--json", "q.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (REJECTED, ""));
    let first = ended.out.lines().next().expect("a line");
    let first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    assert_eq!(first["code"], "E0401");
}

#[test]
fn test_is_still_a_name() {
    let place = empty_folder("name");
    let ended = felis(&place, &["-e", "fun test(s:string):int => strlen s; test \"abc\""]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "3\n"), "{}", ended.err);
    let ended = felis(&place, &["-e", "if true do test \"in\" { println 1; } done"]);
    assert!(ended.err.contains("E0911"), "{}", ended.err);
    let ended = felis(&place, &["-e", "test \"a\" { println 1; } test \"a\" { println 2; }"]);
    assert!(ended.err.contains("E0423"), "{}", ended.err);
}

#[test]
fn files_are_laid_out_in_place() {
    let place = empty_folder("fmt");
    let file = place.join("p.flx");
    fs::write(&file, "val x=1 ; // one\n\n\n\nprintln  x;").expect("a file");
    let ended = felis(&place, &["fmt", "--check", "p.flx"]);
    assert_eq!((ended.code, ended.out.as_str()), (FAILED, "p.flx\n"));
    let ended = felis(&place, &["fmt", "p.flx"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "", ""));
    let laid = "val x = 1;  // one\n\nprintln x;\n";
    assert_eq!(fs::read_to_string(&file).expect("a file"), laid);
    assert_eq!(felis(&place, &["fmt", "--check", "p.flx"]).code, OK);
    assert_eq!(felis_on(&place, &["fmt", "-"], "val x=1;").out, "val x = 1;\n");
    fs::write(place.join("bad.flx"), "val x=(1;").expect("a file");
    let ended = felis(&place, &["fmt", "bad.flx", "p.flx"]);
    assert_eq!(ended.code, REJECTED);
    assert_eq!(fs::read_to_string(place.join("bad.flx")).expect("a file"), "val x=(1;");
    // No file is left over.
    assert_eq!(fs::read_dir(&place).expect("a folder").count(), 2);
}

#[test]
fn codes_are_explained() {
    let place = empty_folder("explain");
    let ended = felis(&place, &["explain", "e0302"]);
    assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
    assert!(
        ended.out.starts_with("E0302\n\n") && ended.out.contains("swap") && !ended.out.contains("```"),
        "{}",
        ended.out
    );
    for short in ["302", "e302", "E302"] {
        assert_eq!(felis(&place, &["explain", short]).out, ended.out);
    }
    let ended = felis(&place, &["explain", "E0906"]);
    assert!(ended.out.contains("geometry.flx:\n"), "{}", ended.out);
    let ended = felis(&place, &["explain", "E9999"]);
    assert_eq!(ended.code, USAGE);
    assert!(ended.err.contains("no diagnostic has the code `E9999`"), "{}", ended.err);
    let all = felis(&place, &["explain"]).out;
    assert!(all.lines().count() > 150 && all.lines().all(|line| line.len() > 12), "{all}");
    assert!(all.lines().is_sorted(), "{all}");
}

#[test]
fn messages_as_json() {
    let place = empty_folder("json");
    fs::write(place.join("p.flx"), "// é\nval é = 1;\nval x = 1;\nx = 2;\n").expect("a file");
    fs::write(place.join("q.flx"), "val x = 1;\n\"é\" + x;\n").expect("a file");
    for arguments in [&["check", "--json", "p.flx", "q.flx"][..], &["check", "--json", "q.flx"]] {
        let ended = felis(&place, arguments);
        assert_eq!((ended.code, ended.err.as_str()), (REJECTED, ""));
        assert!(ended.out.lines().count() >= arguments.len() - 2, "{}", ended.out);
        for line in ended.out.lines() {
            let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(message["schema"], 1, "{line}");
            assert_eq!(message["severity"], "error", "{line}");
            assert!(message["code"].as_str().is_some_and(|code| code.len() == 5), "{line}");
        }
    }
    let ended = felis(&place, &["check", "--json", "q.flx"]);
    let message: serde_json::Value =
        serde_json::from_str(ended.out.lines().next().expect("a line")).expect("JSON");
    assert_eq!(message["place"]["file"], "q.flx");
    assert_eq!(message["place"]["start"]["line"], 2);
    assert_eq!(message["place"]["start"]["column"], 1);
    // `"é" + x` has seven characters in eight bytes.
    assert_eq!(message["place"]["end"]["column"], 8);
    assert_eq!(message["place"]["end"]["byte"], 19);
    let ended = felis(&place, &["run", "--json", "q.flx"]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    assert!(serde_json::from_str::<serde_json::Value>(ended.err.trim()).is_ok(), "{}", ended.err);
}

#[test]
fn a_watched_program_is_checked_again() {
    let place = empty_folder("watch");
    fs::write(place.join("part.flx"), "export val x = 1;\n").expect("a file");
    fs::write(place.join("p.flx"), "import \"part.flx\";\nprintln part::x;\n").expect("a file");
    let mut child = command(&place, &["check", "--watch", "p.flx"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("felis starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert_eq!(next(), "p.flx: nothing is wrong");
    fs::write(place.join("part.flx"), "export val other = 1;\n").expect("a file");
    assert_eq!(next(), "p.flx: refused");
    fs::remove_file(place.join("part.flx")).expect("gone");
    assert_eq!(next(), "p.flx: refused");
    fs::write(place.join("p.flx"), "println 1;\n").expect("a file");
    assert_eq!(next(), "p.flx: nothing is wrong");
    child.kill().expect("it ends");
    let _ = child.wait();
}

#[test]
fn commands_that_are_misspelled_are_guessed() {
    let place = empty_folder("misspelled");
    let ended = felis(&place, &["tset"]);
    let said = "felis: there is no file `tset`, and no command has this name; did you mean `test`?\n";
    assert_eq!((ended.code, ended.err.as_str()), (USAGE, said));
}

#[test]
fn shells_get_their_completions() {
    let place = empty_folder("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = felis(&place, &["completions", shell]);
        assert_eq!((ended.code, ended.err.as_str()), (OK, ""), "{shell}");
        assert!(ended.out.contains("explain") && ended.out.contains("completions"), "{shell}");
    }
}

/// Checks that every opened element is closed, in order.
fn balanced(html: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else { return Err(format!("`<{tag}` is not closed")) };
        let name = tag.split_whitespace().next().unwrap_or_default();
        if ["!doctype", "meta", "input"].contains(&name) {
            continue;
        }
        match name.strip_prefix('/') {
            Some(name) if open.last() == Some(&name) => {
                open.pop();
            }
            Some(name) => return Err(format!("`</{name}>` closes nothing")),
            None => open.push(name),
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are open")) }
}

#[test]
fn pages_say_what_comments_say() {
    let place = empty_folder("doc");
    let text = "// Shapes, <b>not</b> tags.\n\n/// The `area`, always > 0.\n///\n/// law: `area s >= 0.0`\n/// work 1\n/// > area 2.0\n/// 12.0\nexport fun area(r:real):real => 3.0 * r * r;\nfun hidden(x:int):int => x;\nexport struct P { x:int; }\n";
    fs::write(place.join("shapes.flx"), text).expect("a file");
    let ended = felis(&place, &["doc", "shapes.flx", "-o", "out/html"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "2 pages in out/html\n", ""));
    let page = fs::read_to_string(place.join("out/html/shapes.html")).expect("a page");
    assert_eq!(balanced(&page), Ok(()));
    for part in [
        "&lt;b&gt;not",
        "fun area(r:real):real</pre>",
        "Law: <code>area s &gt;= 0.0</code>",
        "&gt; area 2.0\n12.0",
        "struct P { x:int; }",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("hidden (") && !page.contains("fun hidden"), "{page}");
    // What the search looks for.
    assert_eq!(page.matches("<section class=\"entry\">").count(), 2, "{page}");
    assert!(page.contains("<input id=\"search\" type=\"search\""), "{page}");
    let index = fs::read_to_string(place.join("out/html/index.html")).expect("a page");
    let entry = "<a class=\"entry\" href=\"shapes.html#area\" title=\"The `area`, always &gt; 0.\"><code>area</code></a>";
    assert!(index.contains(entry) && index.contains("<section class=\"group\">"), "{index}");
    let ended = felis(&place, &["doc", "--std", "-o", "std"]);
    assert_eq!(ended.code, OK, "{}", ended.err);
    for entry in fs::read_dir(place.join("std")).expect("a folder").flatten() {
        let page = fs::read_to_string(entry.path()).expect("a page");
        assert_eq!(balanced(&page), Ok(()), "{}", entry.path().display());
        assert!(!page.contains("src=") && !page.contains("http"), "{}", entry.path().display());
        for link in page.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap_or_default();
            let (file, id) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                fs::read_to_string(place.join("std").join(file)).expect("a page")
            };
            assert!(id.is_empty() || target.contains(&format!("id=\"{id}\"")), "{link} leads nowhere");
        }
    }
    fs::write(place.join("bad.flx"), "val x = (;").expect("a file");
    assert_eq!(felis(&place, &["doc", "bad.flx", "-o", "bad"]).code, REJECTED);
    fs::write(place.join("none.flx"), "println 1;").expect("a file");
    assert_eq!(felis(&place, &["doc", "none.flx", "-o", "none"]).code, FAILED);
}

#[test]
fn blocks_are_timed_and_summed_up() {
    let place = empty_folder("bench");
    let text = "println \"unseen\";\nvar n = 0;\nbench \"counts\" { n = n + 1; }\ntest \"is no bench\" { assert (n == 0); }\n";
    fs::write(place.join("p.flx"), text).expect("a file");
    let ended = felis(&place, &["bench", "--seconds", "0.01", "p.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
    let words: Vec<&str> = ended.out.split_whitespace().collect();
    assert_eq!((words[0], words[1], words.last()), ("counts", "median", Some(&"runs")), "{}", ended.out);
    let ended = felis(&place, &["bench", "--json", "--seconds", "0", "p.flx"]);
    assert!(
        ended.out.starts_with("{\"bench\":\"counts\"") && ended.out.contains("\"runs\":5"),
        "{}",
        ended.out
    );
    assert_eq!(timeless(&felis(&place, &["test", "p.flx", "-q"]).out), "1 passed in TIME\n");
    fs::write(place.join("q.flx"), "bench \"fails\" { assert false; }").expect("a file");
    let ended = felis(&place, &["bench", "q.flx"]);
    assert_eq!(ended.code, FAILED);
    assert!(ended.out.starts_with("q.flx:1: bench \"fails\" failed\n"), "{}", ended.out);
    let ended = felis(&place, &["bench", "--json", "q.flx", "absent.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (USAGE, ""));
    let lines: Vec<serde_json::Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(lines.len(), 2, "{}", ended.out);
    assert_eq!(
        (&lines[0]["bench"], &lines[0]["fate"], &lines[0]["line"]),
        (&"fails".into(), &"failed".into(), &1.into())
    );
    assert_eq!(lines[0]["messages"][0]["code"], "E0507");
    assert_eq!(lines[1]["code"], "E1001");
    fs::write(place.join("r.flx"), "println 1;").expect("a file");
    assert_eq!(felis(&place, &["bench", "r.flx"]).out, "there are no `bench` blocks\n");
}

#[test]
fn a_run_tells_what_it_took_and_what_parts_became() {
    let place = empty_folder("stats");
    fs::write(place.join("p.flx"), "println (sum [ (i :>> int) :> real for i in ..[5000] ]);")
        .expect("a file");
    let ended = felis(&place, &["run", "--stats", "p.flx"]);
    assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "12497500.0");
    assert!(lines[1].starts_with("took "), "{}", ended.out);
    assert!(
        lines[2].starts_with("compiled 1 part as 1 kernel in ") && lines[2].ends_with("; 1 run"),
        "{}",
        ended.out
    );
    assert!(lines[3].starts_with("arrays took "), "{}", ended.out);
    for (stage, word) in [("core", "sum#"), ("loops", "reduce add"), ("clif", "function")] {
        let ended = felis(&place, &["run", "--show", stage, "p.flx"]);
        assert!(ended.out.contains(word), "{stage}: {}", ended.out);
    }
    assert_eq!(felis(&place, &["run", "--show", "loop", "p.flx"]).code, USAGE);
    fs::write(
        place.join("q.flx"),
        "fun f[N:COMPACTLINEAR](x:real ^ N):real => sum x;\nprintln (f (1.0, 2.0));",
    )
    .expect("a file");
    let ended = felis(&place, &["run", "--show", "array", "q.flx"]);
    let expected = "3.0
── q.flx:1
fun f0 f[n0: N](v0: [n0] f64) -> f64, total {
  v1: f64 = const 0.0
  v4: f64 = reduce add fixed v1 (v2: idx [n0]) {
    v3: f64 = index v0 v2
    yield v3
  }
  yield v4
}
── q.flx:2
not built: output
";
    assert_eq!(ended.out, expected);
}

#[test]
fn the_next_value_of_a_variable_takes_the_memory_of_the_one_before() {
    let place = empty_folder("next");
    let program = |next: &str| {
        format!(
            "proc main() {{
  var y = [ (i :>> int) :> real for i in ..[100000] ];
  for t in 0..<50 do print \"\"; y = [ {next} for i in ..[100000] ]; done
  println (y.(7 :>> 100000));
}}"
        )
    };
    let arrays = |next: &str| {
        fs::write(place.join("p.flx"), program(next)).expect("a file");
        let ended = felis(&place, &["run", "--stats", "p.flx"]);
        assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
        ended.out.lines().find(|line| line.starts_with("arrays took ")).unwrap_or_default().to_string()
    };
    assert_eq!(arrays("y.i * 0.5 + 1.0"), "arrays took 800.0 kB");
    // An element that a later iteration reads must be kept.
    assert_ne!(arrays("y.i * 0.5 + y.(flip i)"), "arrays took 800.0 kB");
}

#[test]
fn declarations_are_known_without_a_call_of_main() {
    let place = empty_folder("declared");
    let text = "println \"run\";\nfun twice(x:int):int => 2 * x;\nproc main(n:int) { println n; }\n";
    fs::write(place.join("p.flx"), text).expect("a file");
    for arguments in [["can", "--with", "p.flx", "twice", "int"], ["can", "twice", "int", "--with", "p.flx"]]
    {
        let ended = felis(&place, &arguments);
        assert_eq!((ended.code, ended.err.as_str()), (OK, ""), "{arguments:?}");
        assert!(ended.out.starts_with("run\nyes : int\n"), "{}", ended.out);
    }
    // Without types, all functions of the name are listed.
    let ended = felis(&place, &["can", "--with", "p.flx", "twice"]);
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.as_str()),
        (OK, "run\ntwice : int -> int  # in this module\n", "")
    );
    let ended = felis(&place, &["laws", "p.flx"]);
    let said = "run\n0 of 0 laws held, 100 choices of values each, seed 0\n";
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, said, ""));
}

#[test]
fn blocks_are_timed_for_some_seconds() {
    let place = empty_folder("seconds");
    fs::write(place.join("p.flx"), "bench \"b\" { }\n").expect("a file");
    for (wrong, said) in [
        ("nan", "seconds are a number from 0 to 999999999"),
        ("-1", "seconds are a number from 0 to 999999999"),
        ("1e300", "seconds are a number from 0 to 999999999"),
        ("soon", "seconds are a number, such as `2` or `0.5`"),
    ] {
        let ended = felis(&place, &["bench", &format!("--seconds={wrong}"), "p.flx"]);
        assert_eq!((ended.code, ended.out.as_str()), (USAGE, ""), "{wrong}");
        assert!(ended.err.contains(said), "{wrong}: {}", ended.err);
    }
}

#[test]
fn a_page_of_a_program_called_index_is_no_index() {
    let place = empty_folder("index");
    fs::write(place.join("index.flx"), "/// One.\nfun one():int => 1;\n").expect("a file");
    for (more, ending, link) in
        [(None, "html", "href=\"index_.html\""), (Some("--markdown"), "md", "(index_.md)")]
    {
        let mut arguments = vec!["doc", "index.flx", "-o", "out"];
        arguments.extend(more);
        assert_eq!(felis(&place, &arguments).code, OK);
        let index = fs::read_to_string(place.join(format!("out/index.{ending}"))).expect("a page");
        assert!(index.contains(link), "{index}");
        let page = fs::read_to_string(place.join(format!("out/index_.{ending}"))).expect("a page");
        assert!(page.contains("One."), "{page}");
    }
}

#[test]
fn a_watch_says_each_round_as_json() {
    let place = empty_folder("watch-json");
    fs::write(place.join("p.flx"), "val x : int = 1;\n").expect("a file");
    let mut child = command(&place, &["check", "--watch", "--json", "p.flx"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("felis starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || -> serde_json::Value {
        serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("an object")
    };
    assert_eq!(next(), serde_json::json!({ "schema": 1, "programs": 1, "refused": 0 }));
    fs::write(place.join("p.flx"), "val x : int = \"a\";\n").expect("a file");
    assert_eq!(next()["code"], "E0301");
    assert_eq!(next(), serde_json::json!({ "schema": 1, "programs": 1, "refused": 1 }));
    child.kill().expect("it ends");
    let _ = child.wait();
}

#[test]
fn examples_stand_in_doc_comments() {
    let place = empty_folder("examples");
    fs::write(place.join("part.flx"), "export val x = 1;\n5;\n").expect("a file");
    let text = "/*\n/// > 1\n/// 2\n*/\nprintln \"a\"; /// > 1\n/// 1\n\n/// > f 1\n/// 2\n/// > println$ f 2; println$ f 3\n/// 3\n/// 4\n///\n/// More.\n/// > import \"part.flx\" as part; part::x + 1\n/// 2\nfun f(x:int):int => x + 1;\n";
    fs::write(place.join("p.flx"), text).expect("a file");
    let ended = felis(&place, &["test", "p.flx"]);
    assert_eq!(
        (ended.code, timeless(&ended.out).as_str(), ended.err.as_str()),
        (
            OK,
            "p.flx\n  ok    example `1`  (TIME)\n  ok    example `f 1`  (TIME)\n  ok    example `println$ f 2; println$ f 3`  (TIME)\n  ok    example `import \"part.flx\" as part; part::x + 1`  (TIME)\n4 passed in TIME\n",
            ""
        )
    );
    assert_eq!(felis(&place, &["doc", "p.flx", "-o", "out"]).code, OK);
    let page = fs::read_to_string(place.join("out/p.html")).expect("a page");
    assert!(page.contains("println$ f 3\n3\n4</pre>\n<p>More.</p>"), "{page}");
}

#[test]
fn folders_stand_for_the_programs_below_them() {
    let place = empty_folder("folders");
    let none = felis(&place, &["check"]);
    assert_eq!(none.code, USAGE);
    assert_eq!(none.err, "felis: there is no program below `.`: no file ends in `.flx`\n");
    fs::create_dir_all(place.join("deep/er")).expect("folders");
    fs::create_dir_all(place.join(".hidden")).expect("folders");
    fs::write(place.join("deep/er/a.flx"), "/// > one ()\n/// 1\nfun one():int => 1;\n").expect("a file");
    // Runs too long for a test, and has none.
    fs::write(place.join("b.flx"), "var n = 1; while n > 0 do n = 1; done\n").expect("a file");
    fs::write(place.join(".hidden/c.flx"), "val x : int = \"wrong\";\n").expect("a file");
    fs::write(place.join("notes.txt"), "no program").expect("a file");
    let checked = felis(&place, &["check"]);
    assert_eq!((checked.code, &*checked.out, &*checked.err), (OK, "", ""));
    for arguments in [&["test", "--quiet"][..], &["test", "--quiet", "."], &["test", "--quiet", "deep"]] {
        let tested = felis(&place, arguments);
        assert!(tested.code == OK && tested.out.starts_with("1 passed in "), "{}{}", tested.out, tested.err);
    }
    let laid = felis(&place, &["fmt", "--check", "."]);
    assert_eq!((laid.code, &*laid.out), (FAILED, "b.flx\n"));
    assert_eq!(felis(&place, &["fmt", "."]).code, OK);
    assert_eq!(felis(&place, &["fmt", "--check", "."]).code, OK);
    // A file that is named is tested whether it has tests or not.
    fs::write(place.join("b.flx"), "val x : int = \"wrong\";\n").expect("a file");
    assert_eq!(felis(&place, &["test", "b.flx"]).code, REJECTED);
    assert_eq!(felis(&place, &["check", "."]).code, REJECTED);
}

#[test]
fn topics_are_shown() {
    let place = empty_folder("topics");
    let page = felis(&place, &["help", "verdicts"]);
    assert_eq!(page.code, OK);
    assert!(page.out.starts_with("Five verdicts\n=============\n"), "{}", page.out);
    assert_eq!(felis(&place, &["help", "five", "verdicts"]).out, page.out);
    let command = felis(&place, &["help", "party", "new"]);
    assert!(command.out.contains("Usage: felis party new [OPTIONS] <NAME>"), "{}", command.out);
    assert!(felis(&place, &["help"]).out.contains("Commands:"));
    assert!(felis(&place, &["help", "transpose"]).out.starts_with("transpose["));
    assert!(felis(&place, &["help", "topics"]).out.contains("from_numpy"));
    let found = felis(&place, &["help", "bits", "sets"]);
    assert!(found.out.starts_with("The book says something of `bits sets` here"), "{}", found.out);
    let unknown = felis(&place, &["help", "xyzzy"]);
    assert_eq!(unknown.code, USAGE);
    assert!(unknown.err.starts_with("felis: the book says nothing of `xyzzy`\n"), "{}", unknown.err);
}

#[test]
fn the_manual_page_names_every_command() {
    let place = empty_folder("manual");
    let (page, help) = (felis(&place, &["man"]), felis(&place, &["help"]));
    assert_eq!(page.code, OK);
    assert!(page.out.contains(".TH felis 1"), "{}", page.out);
    let commands = help.out.split("Commands:\n").nth(1).expect("a list");
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().expect("a name");
        assert!(page.out.contains(&format!(".SH \"FELIS {}\"", name.to_uppercase())), "{name}");
    }
}

#[test]
fn the_version_has_commit_and_target() {
    let place = empty_folder("version");
    let version = felis(&place, &["--version"]).out;
    let form = fancy_regex::Regex::new(r"^felis \d+\.\d+\.\d+ \((development|[0-9a-f]+\+?), \w+(-\w+)+\)\n$");
    assert!(form.expect("a pattern").is_match(&version).expect("a search"), "{version}");
}
