//! What is seen while a line is written, through a real pseudo-terminal.

#![cfg(unix)]

mod terminal;

use terminal::{PROMPT, Terminal};

#[test]
fn words_are_coloured_as_they_are_typed() {
    let mut terminal = Terminal::coloured();
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
fn the_bracket_that_belongs_to_the_one_at_the_cursor_stands_out() {
    let mut terminal = Terminal::coloured();
    terminal.types("f (x)");
    terminal.sees("f \u{1b}[1;4m(\u{1b}[0mx\u{1b}[1;4m)\u{1b}[0m");
    // A finished line has no cursor in it.
    terminal.types("\r");
    terminal.sees("f (x)");
}

#[test]
fn without_colour_there_is_none() {
    let mut terminal = Terminal::open();
    terminal.types("val N = 42");
    terminal.sees("val N = 42");
    terminal.types("\r");
    terminal.sees(PROMPT);
    assert!(!terminal.everything().contains("\u{1b}[3"), "{:?}", terminal.everything());
}
