//! The command as a process: exit codes, streams, standard input.

use std::io::Write;
use std::path::PathBuf;
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

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
    command.args(arguments).env_remove("RUST_BACKTRACE");
    command
}

fn felis_on(arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("felis starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that does not read closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("felis ends");
    writer.join().expect("the writer ends");
    Ended {
        code: output.status.code().expect("a code"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn felis(arguments: &[&str]) -> Ended {
    felis_on(arguments, b"")
}

/// Makes a file with this content, separate for each test.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("felis-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn a_file_prints_what_it_prints_and_nothing_else() {
    let path = file("prints.flx", b"println 1;\nval x = 41 + 1;\nprintln x;\nx\n");
    let ended = felis(&[text(&path)]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "1\n42\n"));
    // The value of the last expression is not shown.
    assert!(
        ended.err.starts_with("[W0003] Warning: the value of this expression is not used"),
        "{}",
        ended.err
    );
}

#[test]
fn standard_input_is_a_program() {
    let ended = felis_on(&["-"], b"proc p(n:int) {\n  println$ n * 2;\n}\np 21;\n");
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "42\n", ""));
}

#[test]
fn an_expression_prints_its_value() {
    for (expression, expected) in [
        ("1 + 2", "3\n"),
        ("-3 + 1", "-2\n"),
        ("\"a\" + \"b\"", "ab\n"),
        ("(1, 2, 3)", "(1, 2, 3)\n"),
        ("println 7", "7\n"),
        ("val x = 3; x * x", "9\n"),
        ("true", "true\n"),
    ] {
        let ended = felis(&["-e", expression]);
        assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, expected, ""), "{expression}");
    }
}

#[test]
fn errors_have_their_exit_codes() {
    let ended = felis(&["-e", "println 1; println$ (1 +"]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""), "{}", ended.err);
    let ended = felis(&["-e", "println 1; val x : int = \"a\";"]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""), "{}", ended.err);
    assert!(ended.err.contains("E0301"), "{}", ended.err);
    let ended = felis(&["-e", "println 1; println$ 1 / 0; println 2;"]);
    assert_eq!((ended.code, ended.out.as_str()), (FAILED, "1\n"), "{}", ended.err);
    assert!(ended.err.contains("Error"), "{}", ended.err);
    assert_eq!(felis(&["--no-such-option"]).code, USAGE);
    assert_eq!(felis(&["iso", "3"]).code, USAGE);
    assert_eq!(felis(&["-e"]).code, USAGE);
    assert_eq!(felis(&["--help"]).code, OK);
    assert_eq!(felis(&["--version"]).out, format!("felis {}\n", env!("FELIS_VERSION")));
}

#[test]
fn files_that_are_none_are_told_in_a_line() {
    let ended = felis(&["no_such_file.flx"]);
    let expected = "felis: there is no file `no_such_file.flx`\n";
    assert_eq!((ended.code, ended.err.as_str()), (USAGE, expected));
    let ended = felis(&["chekc"]);
    assert_eq!(ended.code, USAGE);
    assert!(ended.err.contains("no command has this name"), "{}", ended.err);
    let ended = felis(&[text(&std::env::temp_dir())]);
    assert_eq!(ended.code, USAGE);
    assert!(ended.err.contains("is a directory"), "{}", ended.err);
}

#[test]
fn a_file_that_is_not_text_is_rejected_with_the_place() {
    let path = file("latin.flx", b"// caf\xe9\nprintln 1;\n");
    let ended = felis(&[text(&path)]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    assert!(ended.err.contains("E0100") && ended.err.contains("0xe9"), "{}", ended.err);
    assert!(ended.err.contains("latin.flx:1:7"), "{}", ended.err);
    assert_eq!(felis_on(&["-"], b"\xff\xfe\x00").code, REJECTED);
}

#[test]
fn an_empty_program_and_one_with_a_byte_order_mark_run() {
    assert_eq!(felis_on(&["-"], b"").code, OK);
    let ended = felis_on(&["-"], "\u{feff}println 5;\r\n".as_bytes());
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "5\n", ""));
}

#[test]
fn messages_are_plain_where_nobody_watches() {
    let ended = felis(&["-e", "no_such_name"]);
    assert_eq!(ended.code, REJECTED);
    assert!(!ended.err.contains('\u{1b}'), "{}", ended.err);
}

#[test]
fn arguments_are_there_as_args() {
    let path = file("args.flx", b"for a in args do println a; done\n");
    let ended = felis(&[text(&path), "-x", "two words", "quo\"te\\"]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "-x\ntwo words\nquo\"te\\\n"), "{}", ended.err);
    let ended = felis(&[text(&path), "one"]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "one\n"), "{}", ended.err);
    let ended = felis(&[text(&path)]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, ""), "{}", ended.err);
    assert_eq!(felis(&["check", text(&path)]).code, OK);
}

#[test]
fn imports_begin_where_the_text_is() {
    let module = file("imported.flx", b"println \"made\"; export fun twice(x:int):int => 2 * x;");
    let folder = module.parent().expect("a folder");
    let main = file("importer.flx", b"import \"imported.flx\";\nprintln$ imported::twice 4;\n");
    // A path in a file is relative to its folder, wherever the command is called.
    let ended = felis(&[text(&main)]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "made\n8\n", ""));
    let ended = felis(&["check", text(&main), text(&main)]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "", ""));
    // A path in other texts is relative to the working folder.
    let here = |arguments: &[&str], input: &[u8]| {
        let mut child = command(arguments);
        child.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("felis starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("it reads");
        let output = child.wait_with_output().expect("felis ends");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let line = "import \"imported.flx\" (twice); twice 5";
    assert_eq!(here(&["-e", line], b""), (Some(OK), "made\n10\n".into(), String::new()));
    assert_eq!(
        here(&["-"], format!("{line} |> println;").as_bytes()),
        (Some(OK), "made\n10\n".into(), String::new())
    );
    assert_eq!(here(&["type", line], b""), (Some(OK), "int\n".into(), String::new()));
    let lines = b"import \"imported.flx\"\nimport \"nothing.flx\"\nimported::twice 6\n:reset\nimport \"imported.flx\" as i\ni::twice 7\n";
    let (code, out, err) = here(&[], lines);
    assert_eq!(
        (code, out.as_str()),
        (Some(REJECTED), "made\n12 : int\nforgotten: imported\nmade\n14 : int\n"),
        "{err}"
    );
    assert!(err.contains("there is no file `nothing.flx`"), "{err}");
    // From another folder the file is found only by its path.
    assert_eq!(felis(&["-e", line]).code, REJECTED);
    assert_eq!(felis(&["-e", &format!("import {:?} as i; i::twice 1", text(&module))]).out, "made\n2\n");
}

#[cfg(unix)]
#[test]
fn imports_read_files_and_nothing_else() {
    let folder = file("plain.flx", b"export val x = 1;").parent().expect("a folder").join("kinds");
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    // One file by two paths is one module.
    let _ = std::os::unix::fs::symlink("../plain.flx", folder.join("link.flx"));
    write("twice.flx", "import \"link.flx\"; import \"../plain.flx\" as link; println link::x;");
    let ended = felis(&[text(&folder.join("twice.flx"))]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "1\n"), "{}", ended.err);
    for path in ["/dev/zero", ".", "", "/", "a\\0b"] {
        write("odd.flx", &format!("import \"{path}\" as odd;"));
        let ended = felis(&[text(&folder.join("odd.flx"))]);
        assert_eq!(ended.code, REJECTED, "{path}: {}", ended.err);
        assert!(ended.err.contains("[E0902]"), "{path}: {}", ended.err);
    }
    let large = std::fs::File::create(folder.join("large.flx")).expect("a file");
    large.set_len(65 << 20).expect("room");
    write("odd.flx", "import \"large.flx\";");
    let ended = felis(&[text(&folder.join("odd.flx"))]);
    assert!(ended.err.contains("larger than 64 MiB"), "{}", ended.err);
}

#[test]
fn check_does_not_run() {
    let good = file("good.flx", b"println 1;\n");
    let ended = felis(&["check", text(&good)]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (OK, "", ""));
    let bad = file("bad.flx", b"println 1;\nval x : int = true;\n");
    let ended = felis(&["check", text(&good), text(&bad)]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    assert!(ended.err.contains("bad.flx:2:15"), "{}", ended.err);
    assert_eq!(felis_on(&["check", "-"], b"val x = 1;").code, OK);
}

#[test]
fn iso_says_the_verdict_first() {
    for (left, right, verdict) in [
        ("int * int", "int ^ 2", "equal"),
        ("T^(3\\*2)", "T^6", "natural"),
        ("(int*real)^N", "int^N * real^N", "isomorphic"),
        ("N \\* M", "M \\* N", "natural"),
        ("int", "string", "different"),
    ] {
        let ended = felis(&["iso", left, right]);
        assert_eq!((ended.code, ended.out), (OK, format!("{verdict}\n")), "{left} {right}");
        let ended = felis(&["iso", "--explain", left, right]);
        assert_eq!(ended.out.lines().next(), Some(verdict));
        assert!(ended.out.lines().count() > 1, "{}", ended.out);
    }
    let ended = felis(&["iso", "int", "inf"]);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    assert!(ended.err.contains("E0201"), "{}", ended.err);
}

#[test]
fn iso_answers_a_whole_table() {
    let table = include_str!("../types/isomorphisms.tsv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    // The table has `T` and `U` for any types; on the command line they are index types.
    let rows: Vec<&Vec<&str>> = rows.iter().filter(|row| !row[0].contains(['T', 'U'])).collect();
    assert!(rows.len() > 300);
    let input: String = rows.iter().map(|row| format!("{}\t{}\n", row[1], row[2])).collect();
    let ended = felis_on(&["iso", "--batch"], input.as_bytes());
    assert_eq!((ended.code, ended.err.as_str()), (OK, ""));
    let found: Vec<&str> = ended.out.lines().collect();
    assert_eq!(found.len(), rows.len());
    for (row, found) in rows.iter().zip(found) {
        assert_eq!(row[3], found, "{row:?}");
    }
}

#[test]
fn lines_of_a_batch_correspond() {
    let ended = felis_on(&["iso", "--batch"], b"3\t3\n\nno tab\ninf\t3\r\n2\t3\r\n");
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, "equal\n\nerror\nerror\ndifferent\n"));
    assert!(ended.err.contains("line 3") && ended.err.contains("line 4"), "{}", ended.err);
}

#[test]
fn type_and_size_answer() {
    for (expression, ty) in
        [("1 + 2", "int"), ("(1, 2.5)", "int * real"), ("println 1", "void"), ("-1", "int")]
    {
        let ended = felis(&["type", expression]);
        assert_eq!((ended.code, ended.out, ended.err.as_str()), (OK, format!("{ty}\n"), ""));
    }
    assert_eq!(felis(&["type", "nothing"]).code, REJECTED);
    assert_eq!(felis(&["type", "val x = 3"]).code, REJECTED);
    for (ty, size) in [("3 \\* 4", "12"), ("2 \\^ 100", "1267650600228229401496703205376"), ("N \\* N", "N²")]
    {
        let ended = felis(&["size", ty]);
        assert_eq!(ended.code, OK, "{}", ended.err);
        if ty != "N \\* N" {
            assert_eq!(ended.out, format!("{size}\n"));
        }
    }
    assert_eq!(felis(&["size", "real"]).code, REJECTED);
}

#[test]
fn names_that_may_be_misspelled_types_are_noted() {
    let note = |name: &str| format!("note: `{name}` is no type known here: it stands for any index type\n");
    let ended = felis(&["size", "3 \\* Strng"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err), (OK, "3Strng\n", note("Strng")));
    let ended = felis(&["iso", "Rows \\* Cols", "Cols \\* Rows"]);
    assert_eq!((ended.code, ended.out.as_str()), (OK, "natural\n"));
    assert_eq!(ended.err, note("Cols") + &note("Rows"));
    let ended = felis_on(&[], b":kind Foo\n:kind N \\* M1\n:size Foo\n");
    let lines = format!("COMPACTLINEAR\n{0}COMPACTLINEAR\nFoo\n{0}", note("Foo"));
    assert_eq!((ended.code, ended.out), (OK, lines));
}

#[test]
fn a_piped_session_goes_on_after_errors() {
    let input =
        b"val x = 20\n\nx + 1\nx + \"a\"\nfun twice(n:int):int\n{\n  return n * 2;\n}\ntwice x\n\"text\"\n";
    let ended = felis_on(&[], input);
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, "21 : int\n40 : int\n\"text\" : string\n"));
    assert!(ended.err.contains("Error"), "{}", ended.err);
    let ended = felis_on(&[], b"print 1\n2\n");
    assert_eq!((ended.code, ended.out.as_str()), (OK, "1\n2 : int\n"));
    let ended = felis_on(&[], b"1 +");
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, ""));
    let ended = felis_on(&[], b"1\n:quit\n2\n");
    assert_eq!((ended.code, ended.out.as_str()), (OK, "1 : int\n"));
    let ended = felis_on(&[], b"1 / 0\n2");
    assert_eq!((ended.code, ended.out.as_str()), (FAILED, "2 : int\n"));
}

/// Checks that each line is parsed once, not again with every later line.
#[test]
fn an_input_of_many_lines_is_read_soon() {
    let start = std::time::Instant::now();
    let input = format!("val x = (\n{}]\nprintln 5;\n", "1,\n".repeat(30_000));
    let ended = felis_on(&[], input.as_bytes());
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, "5\n"));
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    // Invalid UTF-8 is reported with its line, and the next input is read.
    let ended = felis_on(&[], b"val x = (\n\xff);\nprintln 6;\n");
    assert_eq!((ended.code, ended.out.as_str()), (REJECTED, "6\n"));
    assert!(ended.err.contains("0xff"), "{}", ended.err);
}

#[test]
fn commands_work_in_a_piped_session() {
    let ended = felis_on(
        &[],
        b":type 1.5\n:kind 3 \\* N\n:size 3 \\* 4\n:iso 3 * 4 ~ 4 * 3\nvar x = 1\n:env\n:reset\n:env\n",
    );
    assert_eq!(ended.code, OK, "{}", ended.err);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[..4], ["real", "COMPACTLINEAR", "12", "isomorphic"]);
    assert_eq!(lines[lines.len() - 2..], ["var x : int", "forgotten: x"]);
    assert_eq!(felis_on(&[], b":nonsense\n").code, USAGE);
    assert_eq!(felis_on(&[], b":type\n").code, USAGE);
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let path = file("endless.flx", b"while true do println \"a line of text\"; done\n");
    let mut child =
        command(&[text(&path)]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("felis");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("an end");
    // The exit code of shells for a command that is ended by SIGPIPE.
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(141), &b""[..]));
    for arguments in [&["explain"][..], &["--help"], &["completions", "bash"], &["-e", "1"]] {
        let mut child =
            command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("felis");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = command(&["-e", "1"]).stdout(full).output().expect("felis");
    assert_eq!(output.status.code(), Some(FAILED));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"));
}

#[cfg(unix)]
#[test]
fn a_signal_stops_a_program() {
    let path = file("loop.flx", b"println 1;\nwhile true do done\n");
    let mut child =
        command(&[text(&path)]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("felis");
    std::thread::sleep(std::time::Duration::from_millis(1000));
    assert!(child.try_wait().expect("a state").is_none(), "it still runs");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
}

#[test]
fn deep_programs_are_answered() {
    for (open, close) in [("(", ")"), ("-", ""), ("f (", ")"), ("[", "]")] {
        let deep = format!("{}1{}", open.repeat(5_000), close.repeat(5_000));
        let ended = felis_on(&["-"], deep.as_bytes());
        assert!([OK, REJECTED].contains(&ended.code), "{open}: {} {}", ended.code, ended.err);
    }
}
