//! The display while a line is edited, through a real pseudo-terminal.

use crate::terminal::{PROMPT, Terminal, folder};

#[test]
fn words_are_colored_as_they_are_typed() {
    let mut terminal = Terminal::colored();
    terminal.types("val N = \"text\" // end");
    terminal.sees(
        "\u{1b}[35mval\u{1b}[0m \u{1b}[33mN\u{1b}[0m = \u{1b}[32m\"text\"\u{1b}[0m \u{1b}[90m// end\u{1b}[0m",
    );
    terminal.presses("^C");
    terminal.sees(PROMPT);
    terminal.types(":type 42");
    terminal.sees("\u{1b}[1;34m:type\u{1b}[0m \u{1b}[36m42\u{1b}[0m");
}

#[test]
fn further_lines_have_a_mark() {
    let mut terminal = Terminal::open();
    // Ctrl-L draws the whole line, which keys may have drawn in parts.
    terminal.types("val x = (1,\r2,\r3)\u{c}");
    terminal.sees("val x = (1,\r\n  ...> 2,\r\n  ...> 3)");
    terminal.types("\r");
    terminal.sees(PROMPT);
    terminal.answers("x", "(1, 2, 3) : int ^ 3");
    // The lines are recalled with their marks, and unchanged.
    terminal.types("\u{1b}[A\u{1b}[A\u{c}");
    terminal.sees("val x = (1,\r\n  ...> 2,\r\n  ...> 3)");
    terminal.types(" |> sum\r");
    terminal.sees(PROMPT);
    terminal.answers("x", "6 : int");
    let mut terminal = Terminal::colored();
    terminal.types("val x = (1,\r2)");
    terminal.sees("\u{1b}[2m  ...> \u{1b}[0m\u{1b}[36m2\u{1b}[0m");
}

/// The first Tab inserts the common prefix of all names, or lists them.
#[test]
fn an_ambiguous_word_is_completed_as_far_as_it_goes() {
    let mut terminal = Terminal::open();
    terminal.takes("val zebra_one = 1");
    terminal.takes("val zebra_two = 2");
    terminal.types("zeb\t");
    terminal.sees("zebra_");
    terminal.types("\t");
    terminal.sees("zebra_one");
    terminal.sees("zebra_two");
    terminal.sees(PROMPT);
    terminal.types("t\t\r");
    terminal.sees("2 : int");
    terminal.sees(PROMPT);
    terminal.types("import stati\t");
    terminal.sees("import statistics");
}

/// On an empty line, Tab takes the edits that the errors of the last input suggest.
#[test]
fn a_correction_is_taken_by_tab() {
    let mut terminal = Terminal::open();
    terminal.answers("uniform (new_key 3)", "`import random (uniform);`");
    terminal.types("\t\r");
    terminal.sees("0.8653929000279258 : real");
    terminal.sees(PROMPT);
    terminal.answers("sqr 4.0", "did you mean `sqrt`?");
    terminal.types("\t\r");
    terminal.sees("2.0 : real");
    terminal.sees(PROMPT);
    terminal.types("import ran\t");
    terminal.sees("import random");
}

#[test]
fn the_bracket_that_belongs_to_the_one_at_the_cursor_stands_out() {
    let mut terminal = Terminal::colored();
    terminal.types("f (x)");
    terminal.sees("f \u{1b}[1;4m(\u{1b}[0mx\u{1b}[1;4m)\u{1b}[0m");
    // A finished line has no cursor in it.
    terminal.types("\r");
    terminal.sees("f (x)");
}

#[test]
fn without_color_there_is_none() {
    let mut terminal = Terminal::open();
    terminal.types("val N = 42");
    terminal.sees("val N = 42");
    terminal.types("\r");
    terminal.sees(PROMPT);
    assert!(!terminal.everything().contains("\u{1b}[3"), "{:?}", terminal.everything());
}

#[test]
fn the_type_of_what_is_being_typed_is_told() {
    let mut terminal = Terminal::colored();
    terminal.types_to_hint("(1, 2, 3)", "\u{1b}[2m  : int ^ 3\u{1b}[0m");
    // The hint is not part of the line.
    terminal.types("\r");
    terminal.sees("(1, 2, 3) : int ^ 3");
    terminal.sees(PROMPT);
    terminal.types_to_hint("val x = 5", "  x : int");
    terminal.types("\r");
    terminal.sees(PROMPT);
    terminal.types_to_hint("sum (", "  sum[");
}

/// Pasted text may be one input of several lines, or several inputs.
#[test]
fn lines_that_are_pasted_are_as_if_they_were_written() {
    let mut terminal = Terminal::open();
    let paste = |text: &str| format!("\u{1b}[200~{text}\u{1b}[201~\r");
    terminal.types(&paste(
        "fun g(x:int):int {\n  // doubled\n  return x * 2;\n}\nval n = (1,\n  20)\ng 4\n:type n\nmap g n",
    ));
    terminal.sees("8 : int");
    terminal.sees("int ^ 2");
    terminal.sees("(2, 40) : int ^ 2");
    terminal.sees(PROMPT);
    // Text that can be parsed as a whole is one input, wherever its lines end.
    terminal.types(&paste("val total = 1\n  + 2\n  + 40"));
    terminal.sees(PROMPT);
    terminal.types("total\r");
    terminal.sees("43 : int");
    terminal.sees(PROMPT);
    // After an error the rest is dropped, because it may rely on the failed input.
    terminal.types(&paste("val a = nothing\nval total = 0\n"));
    terminal.sees("E0401");
    terminal.sees(PROMPT);
    terminal.types("total\r");
    terminal.sees("43 : int");
}

#[test]
fn fields_are_completed() {
    let mut terminal = Terminal::open();
    terminal.takes("val p = (latitude=1.5, longitude=42.5)");
    terminal.types("p.lon\t\r");
    terminal.sees("p.longitude");
    terminal.sees("42.5 : real");
}

#[test]
fn earlier_lines_are_found_again() {
    let data = folder();
    let mut terminal = Terminal::with_data(&data);
    terminal.takes("val earlier = 40 + 2");
    terminal.takes("val later = 1");
    terminal.presses("^D");
    terminal.ends();
    let mut terminal = Terminal::with_data(&data);
    terminal.presses("^R");
    terminal.types("earl");
    terminal.sees("val earlier = 40 + 2");
    terminal.types("\r");
    terminal.sees(PROMPT);
    terminal.answers("earlier", "42 : int");
}

#[test]
fn lines_are_remembered_where_a_variable_says() {
    let file = folder().join("of").join("lines");
    let open = |history: std::ffi::OsString| {
        Terminal::with(|command| {
            command.env("XDG_DATA_HOME", folder()).env("NO_COLOR", "1").env("FELIS_HISTORY", history);
        })
    };
    let mut terminal = open(file.clone().into());
    terminal.takes("val remembered = 1");
    let text = std::fs::read_to_string(&file).expect("a history");
    assert!(text.contains("val remembered = 1"), "{text}");
    let mut terminal = open("off".into());
    terminal.takes("val forgotten = 1");
    assert!(!std::path::Path::new("off").exists());
}

#[test]
fn a_long_loop_shows_how_far_it_is() {
    let mut terminal = Terminal::open();
    terminal.takes("var n = 0");
    // Texts are not compiled: the evaluator counts the iterations.
    terminal.types("for i in 0..<100000000000 perform n = n + i.str.len\r");
    terminal.sees("  0% ╌");
    terminal.sees(" left");
    terminal.presses("^C");
    // The bar is erased first.
    terminal.sees("\r\u{1b}[K");
    terminal.sees("interrupted");
    terminal.sees(PROMPT);
    terminal.answers("n", "0 : int");
}

#[test]
fn what_takes_long_without_saying_how_far_it_is_shows_the_time() {
    let mut terminal = Terminal::open();
    terminal.types("while true do done\r");
    terminal.sees("1 s so far, Ctrl-C stops");
    terminal.sees("2 s so far, Ctrl-C stops");
    terminal.presses("^C");
    terminal.sees("interrupted");
    terminal.sees(PROMPT);
    terminal.answers("1", "1 : int");
}
