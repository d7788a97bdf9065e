//! The session at a terminal, through a real pseudo-terminal.

use crate::terminal::{PROMPT, Terminal, folder};

#[test]
fn values_come_with_their_types() {
    let mut terminal = Terminal::open();
    terminal.answers("1 + 2", "3 : int");
    terminal.answers("\"a\" + \"b\"", "\"ab\" : string");
    terminal.takes("val x = (1, 2, 3)");
    terminal.answers("x", "(1, 2, 3) : int ^ 3");
    terminal.answers("println 42", "42");
    terminal.presses("^D");
    terminal.ends();
}

#[test]
fn an_input_takes_as_many_lines_as_it_needs() {
    let mut terminal = Terminal::open();
    terminal.types("fun twice(n:int):int\r");
    terminal.types("{\r");
    terminal.types("return n * 2;\r");
    // Each new line shows the prompt again; the test waits for the one after the last.
    terminal.types("} // end");
    terminal.sees("} // end");
    terminal.takes("");
    terminal.answers("twice 21", "42 : int");
    // Incomplete input is ended by two empty lines.
    terminal.types("(1 +\r\r\r");
    terminal.sees("never closed");
    terminal.sees(PROMPT);
    terminal.answers("5", "5 : int");
}

#[test]
fn lines_typed_ahead_are_not_lost() {
    let mut terminal = Terminal::open();
    terminal.types("40 + 2\r\"and\" + \" more\"\r4 * 4\r");
    terminal.sees("42 : int");
    terminal.sees("\"and more\" : string");
    terminal.sees("16 : int");
    terminal.sees(PROMPT);
}

#[test]
fn a_comment_about_a_definition_waits_for_it() {
    let mut terminal = Terminal::open();
    terminal.types("/// The double.\r");
    terminal.types("fun double(n:int):int => n * 2\r");
    terminal.sees(PROMPT);
    terminal.answers(":doc double", "The double.");
}

#[test]
fn an_error_is_told_and_the_session_goes_on() {
    let mut terminal = Terminal::open();
    terminal.answers("nothing", "E0401");
    terminal.answers("1 / 0", "Error");
    terminal.answers("2", "2 : int");
}

#[test]
fn a_failed_line_changes_nothing() {
    let mut terminal = Terminal::open();
    terminal.takes("var x = 1");
    terminal.answers("x = 5; var y = 2; println$ 1 / 0;", "Error");
    terminal.answers("x", "1 : int");
    terminal.answers("y", "E0401");
    terminal.answers("x = 7; x = \"seven\";", "E0301");
    terminal.answers("x", "1 : int");
}

#[test]
fn control_c_stops_what_runs_and_keeps_the_session() {
    let mut terminal = Terminal::open();
    terminal.takes("var x = 1");
    terminal.types("println$ 6 * 7; while true do x = x + 1; done\r");
    terminal.is_interrupted();
    terminal.answers("x", "1 : int");
    terminal.types("println$ 6 * 7; while true do done\r");
    terminal.is_interrupted();
    terminal.answers("x + 1", "2 : int");
}

/// A second Ctrl-C because of a slow reaction loses nothing.
#[test]
fn control_c_twice_keeps_the_session() {
    let mut terminal = Terminal::open();
    terminal.takes("var x = 1");
    for _ in 0..5 {
        terminal.insists("println$ 6 * 7; while true do x = x + 1; done", "42");
        terminal.presses("^C");
        terminal.presses("^C");
        // A terminal drops unread output at Ctrl-C: the second one may remove the message about the
        // first, but not the prompt after both.
        terminal.sees(PROMPT);
    }
    terminal.insists("x + 1", "2 : int");
}

#[test]
fn control_c_clears_the_line() {
    let mut terminal = Terminal::open();
    terminal.types("val z = (1,\r 2 +");
    // Text typed before the line is given up is lost with it: first all of it must have arrived.
    terminal.sees(" 2 +");
    terminal.presses("^C");
    terminal.sees(PROMPT);
    terminal.answers("3", "3 : int");
}

#[test]
fn commands_answer() {
    let mut terminal = Terminal::open();
    terminal.answers(":type 1.5", "real");
    terminal.answers(":kind 3 \\* N", "COMPACTLINEAR");
    terminal.answers(":size 3 \\* 4", "12");
    terminal.answers(":iso T^(3\\*2) ~ T^6", "natural");
    terminal.takes("var answer = 42");
    terminal.answers(":env", "var answer : int");
    terminal.takes(":reset");
    terminal.answers("answer", "E0401");
    terminal.answers(":help", ":quit");
    terminal.answers(":nonsense", "no command");
    terminal.answers("help", "commands begin with a colon");
    terminal.types(":quit\r");
    terminal.ends();
}

#[test]
fn tab_completes() {
    let mut terminal = Terminal::open();
    terminal.takes("val incomprehensible = 42");
    terminal.types("incompr\t");
    terminal.sees("incomprehensible");
    terminal.types("\r");
    terminal.sees("42 : int");
    terminal.sees(PROMPT);
    terminal.types(":he\t\r");
    terminal.sees(":quit");
    terminal.sees(PROMPT);
}

#[test]
fn lines_are_remembered() {
    let data = folder();
    let mut terminal = Terminal::with_data(&data);
    terminal.answers("40 + 2", "42 : int");
    terminal.presses("^D");
    terminal.ends();
    let mut terminal = Terminal::with_data(&data);
    terminal.types("\u{1b}[A");
    terminal.sees("40 + 2");
    terminal.types("\r");
    terminal.sees("42 : int");
}

#[test]
fn a_session_without_a_place_for_history_works() {
    let file = folder().join("file");
    std::fs::write(&file, "").expect("a file");
    let mut terminal = Terminal::with_data(&file);
    terminal.answers("1", "1 : int");
}

/// Messages, and the output of commands, are wrapped at words to the width of the terminal; lines
/// of programs are cut.
#[test]
fn prose_has_the_width_of_the_terminal() {
    let mut terminal = Terminal::of_width(50);
    let begin = terminal.everything().len();
    for asked in ["val x : int = \"seven\"", ":why", ":doc reduce", "?E0401", ":nonsense"] {
        terminal.takes(asked);
    }
    let long = format!("1{} + \"a\"{}", " + 2".repeat(8), " + 3".repeat(20));
    terminal.types(&format!("{long}\r"));
    terminal.sees("───╯");
    terminal.sees(PROMPT);
    let seen = terminal.everything()[begin..].replace('\r', "");
    // Typed lines are drawn with colors; a signature is a line of a program, and so is indented
    // text.
    let prose =
        |line: &&str| !line.contains('\u{1b}') && !line.starts_with("reduce[") && !line.starts_with("    ");
    let lines: Vec<&str> = seen.lines().filter(prose).collect();
    assert!(lines.len() > 20, "{seen}");
    let wide: Vec<&&str> = lines.iter().filter(|line| line.chars().count() > 50).collect();
    assert!(wide.is_empty(), "{wide:#?}\n{seen}");
    // The words of a message, whatever lines they are in.
    let words =
        |text: &str| text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    let all = words(&seen);
    assert!(all.contains("Combines all elements by an associative operation, after a start."), "{all}");
    assert!(seen.contains('…') && seen.contains(":1:"), "{seen}");
}
