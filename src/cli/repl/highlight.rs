//! Syntax colors of the line that is being typed.
//!
//! Takes a line and the position of the cursor; gives the same characters with escape sequences
//! between them, so that the width stays the same. Lexes the text only: names are not resolved.

use felis::editor::{TokenClass, matching_bracket, tokens};
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// The maximum length of a text that is colored, in bytes; it is lexed again at each key.
const MAX_HIGHLIGHTED_BYTES: usize = 20_000;

/// The sequence that ends a style.
const RESET: &str = "\x1b[0m";
/// The style of a bracket at the cursor and of its partner.
const MATCHING_BRACKET: &str = "\x1b[1;4m";
/// The style of a command.
const COMMAND_STYLE: &str = "\x1b[1;34m";
/// The style of hints and marks beside the typed text.
const DIM: &str = "\x1b[2m";

/// Returns the line in colors. The bracket at the cursor and its partner are emphasized; `cursor`
/// is `None` for a finished line.
pub fn highlight_line(text: &str, cursor: Option<usize>) -> Cow<'_, str> {
    if text.is_empty() || text.len() > MAX_HIGHLIGHTED_BYTES {
        return Cow::Borrowed(text);
    }
    let command = command_len(text);
    let program = &text[command..];
    let pair = cursor.and_then(|at| bracket_pair(program, at.checked_sub(command)?));
    let mut out = String::with_capacity(text.len() * 2);
    if command > 0 {
        paint(&text[..command], Some(COMMAND_STYLE), &mut out);
    }
    let mut end = 0;
    for (range, class) in tokens(program) {
        out.push_str(&program[end..range.start]);
        end = range.end;
        let matched = pair.is_some_and(|(a, b)| range.start == a || range.start == b);
        let color = if matched { Some(MATCHING_BRACKET) } else { token_color(class) };
        paint(&program[range], color, &mut out);
    }
    out.push_str(&program[end..]);
    Cow::Owned(out)
}

/// Replaces the tab at the beginning of each further line of a painted text by a mark, and every
/// other tab by blanks to the next tab stop: the width is that of the line editor.
pub fn draw_continuation_marks(painted: &str, mark: &str, color: bool) -> String {
    // The first line stands behind the prompt, which has the width of a mark.
    let (stop, mut column, mut escape) = (mark.len(), mark.len(), false);
    let mut out = String::with_capacity(painted.len() * 2);
    for c in painted.chars() {
        match c {
            '\t' if column == 0 => {
                out.push_str(&if color { dimmed(mark) } else { mark.to_string() });
                column = stop;
                continue;
            }
            '\t' => {
                let width = stop - column % stop;
                out.extend(std::iter::repeat_n(' ', width));
                column += width;
                continue;
            }
            '\n' => column = 0,
            '\x1b' => escape = true,
            _ if escape => escape = !c.is_ascii_alphabetic(),
            _ => column += c.width().unwrap_or(0),
        }
        out.push(c);
    }
    out
}

/// Returns a text in the style of hints.
pub fn dimmed(text: &str) -> String {
    format!("{DIM}{text}{RESET}")
}

/// Returns the length of the command at the beginning of a line; 0 if there is none.
fn command_len(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    if !text[start..].starts_with(':') {
        return 0;
    }
    text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length)
}

/// Returns the bracket under or before the cursor, and its partner.
fn bracket_pair(text: &str, cursor: usize) -> Option<(usize, usize)> {
    let bracket = |at: &usize| text.as_bytes().get(*at).is_some_and(|b| b"()[]{}".contains(b));
    let here = [Some(cursor), cursor.checked_sub(1)];
    here.into_iter().flatten().filter(bracket).find_map(|at| Some((at, matching_bracket(text, at)?)))
}

/// Returns the style of a class of tokens.
fn token_color(class: TokenClass) -> Option<&'static str> {
    Some(match class {
        TokenClass::Keyword => "\x1b[35m",
        TokenClass::Number => "\x1b[36m",
        TokenClass::Text => "\x1b[32m",
        TokenClass::Comment => "\x1b[90m",
        TokenClass::TypeName => "\x1b[33m",
        TokenClass::Unreadable => "\x1b[31m",
        TokenClass::Name | TokenClass::Open | TokenClass::Close | TokenClass::Operator => return None,
    })
}

/// Writes a part of a text in a color; each line separately, so that no color extends over a line
/// end.
fn paint(text: &str, color: Option<&str>, out: &mut String) {
    let Some(color) = color else { return out.push_str(text) };
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if !line.is_empty() {
            out.extend([color, line, RESET]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{draw_continuation_marks, highlight_line};

    #[test]
    fn further_lines_have_a_mark() {
        assert_eq!(
            draw_continuation_marks("f {\n\tx\ty\n\t}", "  ...> ", false),
            "f {\n  ...> x      y\n  ...> }"
        );
        let painted = highlight_line("(1,\n\tval", None).into_owned();
        assert_eq!(
            draw_continuation_marks(&painted, "  ...> ", true),
            "(\x1b[36m1\x1b[0m,\n\x1b[2m  ...> \x1b[0m\x1b[35mval\x1b[0m"
        );
    }

    /// Returns a text without its colors.
    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\x1b') {
            out.push_str(&rest[..at]);
            let end = rest[at..].find('m').expect("an end of the color");
            rest = &rest[at + end + 1..];
        }
        out + rest
    }

    #[test]
    fn characters_stay_as_they_are() {
        for text in ["val x = 1", ":type  x", "  :iso a ~ b", "\"é", "/* a\n b */ 3", "§§ (", "))", "f ([1])"]
        {
            for cursor in (0..=text.len()).map(Some).chain([None]) {
                assert_eq!(plain(&highlight_line(text, cursor)), text);
            }
        }
    }

    #[test]
    fn brackets_at_the_cursor_stand_out() {
        let marked = "f \x1b[1;4m(\x1b[0mx\x1b[1;4m)\x1b[0m";
        for cursor in [2, 3, 5] {
            assert_eq!(highlight_line("f (x)", Some(cursor)), marked, "{cursor}");
        }
        assert_eq!(highlight_line("f (x)", Some(0)), "f (x)");
        assert_eq!(highlight_line("f (x)", None), "f (x)");
    }

    #[test]
    fn words_have_colors() {
        assert_eq!(
            highlight_line("val T = 1", None),
            "\x1b[35mval\x1b[0m \x1b[33mT\x1b[0m = \x1b[36m1\x1b[0m"
        );
        assert_eq!(highlight_line(":type x", None), "\x1b[1;34m:type\x1b[0m x");
    }
}
