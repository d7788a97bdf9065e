//! The commands of a session at a real pseudo-terminal.

use crate::terminal::{PROMPT, Terminal, folder};
use std::fs;

#[test]
fn misuse_is_told() {
    let mut terminal = Terminal::open();
    terminal.answers(":load", "write `:load FILE`");
    terminal.answers(":reload", "nothing has been loaded yet");
    terminal.answers(":env now", "`:env` takes nothing after it");
    terminal.answers(":why", "there has been no error");
    terminal.answers(":save /tmp/felis-no-folder/x.flx", "nothing to save");
    terminal.answers(":t 1", "`:t` could be `:type`, `:time`");
    terminal.answers(":doc nonsense", "nothing is known by the name `nonsense`");
    terminal.answers(":doc transpos", "did you mean `transpose`?");
    // As after `felis can`: no expression begins with an operator.
    terminal.answers(":can + int int", "yes : int");
    terminal.answers(":can + int real", "E0414");
    terminal.answers(":source nonsense", "nothing is known by the name `nonsense`");
    terminal.answers(":iso int", "write `:iso TYPE ~ TYPE`");
    terminal.answers(":help nonsense", "no command `:nonsense`");
    terminal.answers(":load no such file.flx", "there is no file `no such file.flx`");
    terminal.answers("1 + 1", "2 : int");
}

#[test]
fn an_error_is_explained() {
    let mut terminal = Terminal::open();
    terminal.answers("nothing", "E0401");
    terminal.answers(":why", "In general:");
    terminal.answers(":iso real ^ (3 * 5) ~ real", "E02");
    terminal.answers(":why", "E02");
}

#[test]
fn documentation_and_definitions_are_shown() {
    let mut terminal = Terminal::open();
    terminal.answers(":doc transpose", "transpose[");
    terminal.answers("?transpose", "transpose[");
    terminal.answers(":doc for", "for x in xs do println x; done");
    terminal.answers("?:>>", "reads a value at another type");
    terminal.answers("? +", "adds");
    terminal.takes("fun twice(n:int):int => n * 2");
    terminal.answers(":source twice", "fun twice(n:int):int => n * 2");
    terminal.answers(":source sum", "// stdlib/");
    terminal.takes("struct Point { x : real; y : real; }");
    terminal.answers(":source Point", "struct Point { x : real; y : real; }");
    terminal.answers(":source println", "// built in");
    terminal.answers(":help source", ":source NAME");
    // Names of modules that are not imported, and names that are other words here.
    terminal.answers(":doc shuffle", "import random (shuffle);");
    terminal.answers(":doc argsort", "`argsort` is `order` here");
    terminal.answers(":doc clip", "`clip` is `clamp` here");
}

#[test]
fn evaluation_is_timed() {
    let mut terminal = Terminal::open();
    terminal.types(":time sum (#iota[1000])\r");
    terminal.sees("499500 : int");
    terminal.sees("took ");
    terminal.sees(PROMPT);
    terminal.answers("it", "499500 : int");
}

#[test]
fn numbers_matrices_and_pictures_are_plotted() {
    let mut terminal = Terminal::open();
    terminal.answers(":plot (1, 4, 9)", "┤");
    terminal.answers(":plot #iota[3 \\* 4]", "0 ░░░░▒▒▒▒▓▓▓▓████ 11");
    terminal.answers(":plot bar_chart ((\"Ada\", \"Alan\"), (3, 1)) |> titled \"Cats\"", "Alan │");
    terminal.answers(":plot", "write `:plot EXPRESSION`");
    terminal.answers(":plot \"text\"", "`string` cannot be drawn");
    terminal.answers(":plot nothing", "E0401");
    terminal.answers("1 + 1", "2 : int");
}

#[test]
fn a_picture_that_is_a_result_is_drawn() {
    let mut terminal = Terminal::open();
    terminal.answers("plot (1, 4, 9) |> titled \"Squares\"", "Squares");
    terminal.answers("it", "┤");
    terminal.answers("it", ": picture");
    terminal.answers("(it, 1)", "(a picture of Squares, 1) : picture * int");
    // What is no description of a picture is shown by its words.
    terminal.answers("picture (\"Broken\", \"\", \"\", \"nonsense\")", "a picture of Broken : picture");
}

#[test]
fn commands_of_the_system_are_run() {
    let mut terminal = Terminal::open();
    terminal.answers(":!echo $((6 * 7))", "42");
    terminal.answers(":shell exit 3", "the command failed (exit status: 3)");
    terminal.answers(":shell", "write `:shell COMMAND`");
    // Ctrl-C is for the command.
    terminal.types(":!echo $((6 * 7)); sleep 60\r");
    terminal.sees("42\r\n");
    terminal.interrupts_until("the command failed");
    terminal.sees(PROMPT);
    terminal.answers("1 + 1", "2 : int");
}

#[test]
fn long_texts_are_shown_by_the_pager() {
    let mut terminal = Terminal::with(|command| {
        command.env("XDG_DATA_HOME", folder()).env("NO_COLOR", "1").env("PAGER", "sed s/^/>/");
    });
    terminal.answers(":page [ i :> int for i in ..[500] ]", ">  : int ^ 500");
    terminal.answers(":help topics", ">  laws");
    // What the screen has room for needs none.
    terminal.answers(":page (1, 2)", "(1, 2) : int ^ 2");
    assert!(!terminal.everything().contains(">(1, 2)"));
}

#[test]
fn topics_of_the_book_are_shown() {
    let mut terminal = Terminal::open();
    terminal.answers(":help from numpy", "Coming from NumPy");
    terminal.answers(":help rename", "goes by what names stand for");
    terminal.answers(":help bits sets", "The book says something of");
    terminal.answers(":help E0302", ":>>");
    terminal.answers(":help xyzzy", "no command `:xyzzy`, and the book says nothing of `xyzzy`");
}

/// On a terminal with colors a picture has them; their encoding depends on the variables of the
/// terminal.
#[test]
fn pictures_have_the_colors_of_the_terminal() {
    let mut terminal = Terminal::with(|command| {
        command.env_remove("COLORTERM");
    });
    terminal.answers(":plot bar_chart (1, 2)", "\u{1b}[38;5;33m█");
    let mut terminal = Terminal::with(|command| {
        command.env("COLORTERM", "truecolor");
    });
    terminal.answers(":plot bar_chart (1, 2)", "\u{1b}[38;2;0;135;255m█");
}

#[test]
fn a_program_is_loaded_and_loaded_again() {
    let folder = folder();
    fs::write(folder.join("unit.flx"), "export fun unit() : int => 1;").expect("a file");
    let file = folder.join("program.flx");
    fs::write(
        &file,
        "import \"unit.flx\" (unit); struct P { a : int; }\nfun f(p:P):int => p.a + #unit; println 41;",
    )
    .expect("a file");
    let mut terminal = Terminal::open();
    terminal.takes("val mine = 5");
    terminal.answers(&format!(":load {}", file.display()), "41");
    terminal.answers("f (P 4)", "5 : int");
    // The present text of the file counts, also for its imports; typed definitions stay.
    fs::write(folder.join("unit.flx"), "export fun unit() : int => 100;").expect("a file");
    fs::write(
        &file,
        "import \"unit.flx\" (unit); struct P { a : int; b : int; }\nfun f(p:P):int => p.b + #unit;",
    )
    .expect("a file");
    terminal.answers(":reload", "loaded again");
    terminal.answers("f (P (4, 7))", "107 : int");
    terminal.answers("mine", "5 : int");
    // A file with an error changes nothing.
    fs::write(&file, "fun f(n:int):int => \"no\";").expect("a file");
    terminal.answers(":reload", "E0301");
    terminal.answers("f (P (4, 8))", "108 : int");
}

#[test]
fn what_is_loaded_and_forgotten_is_told() {
    let file = folder().join("told.flx");
    fs::write(&file, "fun f() : int => 1; val (a, b) = (1, 2); println 42;").expect("a file");
    let mut terminal = Terminal::open();
    terminal.answers(&format!(":load {}", file.display()), "told.flx: f, a, b");
    terminal.answers(":reload", "told.flx: f, a, b");
    fs::write(&file, "println 42;").expect("a file");
    terminal.answers(":reload", "told.flx: it defines nothing");
    terminal.takes("val x = 1");
    terminal.answers(":reset", "forgotten: x");
    terminal.answers(":reset", "nothing had been defined");
}

#[test]
fn files_of_others_are_not_replaced() {
    let folder = folder();
    let (foreign, own) = (folder.join("foreign.flx"), folder.join("own.flx"));
    fs::write(&foreign, "val precious = 1;").expect("a file");
    let mut terminal = Terminal::wide();
    terminal.takes("val x = 1");
    let refused = format!("write `:save! {}` to replace it", foreign.display());
    terminal.answers(&format!(":save {}", foreign.display()), &refused);
    assert_eq!(fs::read_to_string(&foreign).expect("a file"), "val precious = 1;");
    // A file that the session has made or read may be replaced.
    terminal.answers(&format!(":save {}", own.display()), "own.flx: x");
    terminal.takes("val y = 2");
    terminal.answers(&format!(":save {}", own.display()), "own.flx: x, y");
    terminal.answers(&format!(":save! {}", foreign.display()), "foreign.flx: x, y");
    assert_eq!(fs::read_to_string(&foreign).expect("a file"), "val x = 1;\nval y = 2;\n");
    terminal.takes("val z = 3");
    terminal.answers(&format!(":save {}", foreign.display()), "foreign.flx: x, y, z");
    terminal.answers(":env! ", "`:env` takes no `!`");
    let mut second = Terminal::open();
    second.takes(&format!(":load {}", foreign.display()));
    second.answers(&format!(":save {}", foreign.display()), "foreign.flx: x, y, z");
}

/// A session keeps only comments about definitions: load, edit and save do not lose others without
/// a confirmation.
#[test]
fn comments_of_a_loaded_file_are_not_lost() {
    let file = folder().join("remarked.flx");
    let text = "#!/usr/bin/env felis\n// License: mine\nval base = 3; // three\n";
    fs::write(&file, text).expect("a file");
    let mut terminal = Terminal::wide();
    terminal.takes(&format!(":load {}", file.display()));
    terminal.takes("val extra = base + 1");
    let refused = format!("has comments, which would be lost: write `:save! {}`", file.display());
    terminal.answers(&format!(":save {}", file.display()), &refused);
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    terminal.answers(&format!(":save! {}", file.display()), "remarked.flx: base, extra");
    fs::write(&file, "/// Three; see https://example.org.\nval base = 3;\n").expect("a file");
    terminal.takes(&format!(":load {}", file.display()));
    terminal.answers(&format!(":save {}", file.display()), "saved to");
}

/// An import is written relative to the new place.
#[test]
fn imports_are_saved_as_they_are_found_from_the_file() {
    let folder = folder();
    fs::create_dir_all(folder.join("parts")).expect("a folder");
    fs::write(folder.join("parts").join("unit.flx"), "export fun unit() : int => 1;").expect("a file");
    fs::write(folder.join("parts").join("main.flx"), "import \"unit.flx\" (unit); val one = #unit;")
        .expect("a file");
    let mut terminal = Terminal::open();
    terminal.takes(&format!(":load {}", folder.join("parts").join("main.flx").display()));
    let saved = folder.join("saved.flx");
    terminal.answers(&format!(":save {}", saved.display()), "saved.flx: one");
    assert_eq!(
        fs::read_to_string(&saved).expect("a file"),
        "import \"parts/unit.flx\" (unit);\nval one = #unit;\n"
    );
}

#[test]
fn names_of_functions_are_answered_with_their_forms() {
    let mut terminal = Terminal::open();
    terminal.answers("sum", "sum[T, I:COMPACTLINEAR with Add[T]] : T ^ I -> T");
    terminal.answers(":can sum", "sum[T, I:COMPACTLINEAR with Add[T]] : T ^ I -> T");
    terminal.answers("len", "len : string -> int");
    terminal.takes("val v = filter ((1, 2, 3), fun (x:int) => x > 1)");
    terminal.answers("v", "(2, 3) : int ^ K   where K = 2");
}

#[test]
fn an_editor_is_opened_and_what_it_writes_is_loaded() {
    let folder = folder();
    let script = folder.join("editor.sh");
    fs::write(&script, "#!/bin/sh\necho 'fun edited() : int => 77;' > \"$2\"\n").expect("a file");
    let file = folder.join("edited.flx");
    let mut terminal = Terminal::with(|command| {
        command.env("XDG_DATA_HOME", &folder).env("NO_COLOR", "1");
        command.env_remove("VISUAL").env("EDITOR", format!("sh {} --wait", script.display()));
    });
    terminal.takes(&format!(":edit {}", file.display()));
    terminal.answers("#edited", "77 : int");
    let mut terminal = Terminal::with(|command| {
        command.env("XDG_DATA_HOME", &folder).env("NO_COLOR", "1").env_remove("VISUAL").env_remove("EDITOR");
    });
    terminal.answers(":edit", "set the variable EDITOR");
    let mut terminal = Terminal::with(|command| {
        command
            .env("XDG_DATA_HOME", &folder)
            .env("NO_COLOR", "1")
            .env_remove("VISUAL")
            .env("EDITOR", "no-such-editor");
    });
    terminal.answers(":edit", "cannot start the editor `no-such-editor`");
}

#[test]
fn a_session_is_saved_as_a_program() {
    let file = folder().join("saved.flx");
    let mut terminal = Terminal::wide();
    terminal.takes("/// Twice.\nfun twice(n:int):int => n * 2");
    terminal.takes("fun thrice(n:int):int => n * 4");
    terminal.takes("fun thrice(n:int):int => n * 3");
    terminal.answers("20 + 1", "21 : int");
    terminal.answers("\"not needed\"", "not needed");
    terminal.takes("val answer = twice _2");
    terminal.takes("var total = 0");
    terminal.takes("for i in 0..<3 perform total = total + i");
    terminal.answers(&format!(":save {}", file.display()), "saved to");
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains("/// Twice.\nfun twice(n:int):int => n * 2;"), "{text}");
    assert!(text.contains("n * 3") && !text.contains("n * 4") && !text.contains("not needed"), "{text}");
    let mut second = Terminal::open();
    second.takes(&format!(":load {}", file.display()));
    second.answers("(answer, thrice total)", "(42, 9)");
    // The target of a link is written, and keeps its permissions; a read-only file is not written.
    use std::os::unix::fs::{PermissionsExt, symlink};
    let link = file.with_file_name("link.flx");
    symlink("saved.flx", &link).expect("a link");
    let allow = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("permissions");
    allow(0o640);
    terminal.takes("val more = 1");
    terminal.answers(&format!(":save {}", link.display()), "saved to");
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(fs::read_to_string(&file).expect("a file").contains("val more = 1"));
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    allow(0o444);
    terminal.answers(&format!(":save {}", file.display()), "there is no permission to write it");
}

#[test]
fn names_and_files_are_completed_for_commands() {
    let folder = folder();
    fs::write(folder.join("measurements.flx"), "println 42;").expect("a file");
    let mut terminal = Terminal::open();
    terminal.types(&format!(":load {}/meas\t", folder.display()));
    terminal.sees("measurements.flx");
    terminal.types("\r");
    terminal.sees("42");
    terminal.sees(PROMPT);
    terminal.types(":kind COMP\t");
    terminal.sees("COMPACTLINEAR");
    terminal.presses("^C");
    terminal.sees(PROMPT);
    terminal.types(":inst\tMono\t");
    terminal.sees(":instances Monoid");
}

/// Text that another program has written into a file meanwhile is not lost without a confirmation.
#[test]
fn a_file_that_has_changed_is_not_written_over() {
    let file = folder().join("changed.flx");
    fs::write(&file, "val base = 3;\n").expect("a file");
    let mut terminal = Terminal::wide();
    terminal.takes(&format!(":load {}", file.display()));
    terminal.takes("val extra = base + 1");
    let text = "val base = 3;\nval mine = 5;\n";
    fs::write(&file, text).expect("a file");
    let refused = "is not what it was when it was loaded or saved here";
    terminal.answers(&format!(":save {}", file.display()), refused);
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    terminal.answers(&format!(":save! {}", file.display()), "changed.flx: base, extra");
    terminal.takes("val more = 7");
    terminal.answers(&format!(":save {}", file.display()), "saved to");
}

#[test]
fn classes_codes_and_commands_are_told_of() {
    let mut terminal = Terminal::open();
    terminal.answers(":doc Add", "law zero_left");
    terminal.answers(":doc E0302", "naturally isomorphic");
    terminal.answers(":doc :load", "run a program in this session");
}
