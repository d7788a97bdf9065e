//! Wrapping of messages for narrow terminals.
//!
//! Takes a rendered message, or its diagnostic, and a number of columns; gives prose wrapped at
//! words, and source lines truncated to the part around their spans. Never wraps a source line.

use super::Diagnostic;
use crate::source::{SourceId, SourceMap, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The least number of columns that prose is wrapped to, however narrow the terminal is.
const MIN_COLUMNS: usize = 20;

/// The mark in place of a truncated part of a line.
const ELLIPSIS: &str = "…";

/// Breaks a text at blanks into lines of at most `columns` columns. A word that is wider stays
/// whole; so does a line that begins with two blanks, as its layout is intended.
pub fn wrap_text(text: &str, columns: usize) -> Vec<String> {
    if text.width() <= columns || text.starts_with("  ") {
        return vec![text.to_string()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Refills paragraphs that have a line wider than `columns`. Programs, which are indented by four
/// blanks or begin with `>` and continue with their output, keep their lines; list items, table
/// rows and lines that begin with a word and a colon, such as `law:`, begin a paragraph.
pub fn fill_paragraphs(text: &str, columns: usize) -> String {
    let columns = columns.max(MIN_COLUMNS);
    let mut out = String::new();
    let (mut paragraph, mut example): (Vec<&str>, bool) = (Vec::new(), false);
    for line in text.lines() {
        example = line.starts_with('>') || example && !line.trim().is_empty();
        let continues = paragraph.last().is_some_and(|last| indent(last) == indent(line));
        if !continues || line.trim().is_empty() || example || begins_item(line) {
            fill_paragraph(&std::mem::take(&mut paragraph), columns, &mut out);
        }
        if example || indent(line) >= 4 {
            out.extend([line, "\n"]);
        } else {
            paragraph.push(line);
        }
    }
    fill_paragraph(&paragraph, columns, &mut out);
    out
}

/// Returns the number of leading blanks of a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns true if a line begins a list item, a table row or a paragraph of its own.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let first = line.split(' ').next().unwrap_or_default();
    let number = first.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '|', '#'])
        || number == "." && first != "."
        || first.ends_with(':')
        || line.starts_with("work |")
}

/// Writes a paragraph, refilled if a line of it is too wide.
fn fill_paragraph(paragraph: &[&str], columns: usize, out: &mut String) {
    let Some(first) = paragraph.first() else { return };
    if paragraph.iter().all(|line| line.width() <= columns) {
        paragraph.iter().for_each(|line| out.extend([*line, "\n"]));
        return;
    }
    let margin = " ".repeat(indent(first));
    let whole = paragraph.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    for line in wrap_text(&whole, columns.saturating_sub(margin.len()).max(MIN_COLUMNS)) {
        out.push_str(&format!("{margin}{line}\n"));
    }
}

/// A source line of which a part is shown.
struct TruncatedLine {
    source: SourceId,
    /// The line number, from 1.
    line: usize,
    /// The byte range of the whole line.
    whole: std::ops::Range<usize>,
    /// The byte range that is shown.
    visible: std::ops::Range<usize>,
}

impl TruncatedLine {
    /// Returns the mark before the visible part.
    fn before(&self) -> &'static str {
        if self.visible.start > self.whole.start { ELLIPSIS } else { "" }
    }

    /// Returns the mark after the visible part.
    fn after(&self) -> &'static str {
        if self.visible.end < self.whole.end { ELLIPSIS } else { "" }
    }

    /// Returns the length of the truncated line in bytes.
    fn len(&self) -> usize {
        self.before().len() + self.visible.len() + self.after().len()
    }
}

/// The lines that a message points at and that are too wide, each with its visible part.
pub struct TruncatedLines {
    /// The lines, ordered by source and position.
    lines: Vec<TruncatedLine>,
}

impl TruncatedLines {
    /// Chooses the visible parts so that the spans of a diagnostic fit into the columns. Its spans
    /// lie in their sources.
    pub fn new(diagnostic: &Diagnostic, sources: &SourceMap, columns: Option<usize>) -> TruncatedLines {
        let Some(columns) = columns else {
            return TruncatedLines { lines: Vec::new() };
        };
        let spans: Vec<Span> =
            diagnostic.labels.iter().chain([&diagnostic.primary]).map(|label| label.span).collect();
        let mut lines: Vec<(SourceId, usize, std::ops::Range<usize>)> = Vec::new();
        let mut several = 0;
        for span in &spans {
            let Some(source) = sources.get(span.source) else { continue };
            let ends = [span.start as usize, (span.end as usize).max(span.start as usize + 1) - 1];
            let found = ends.map(|at| line_around(&source.text, at));
            several += usize::from(found[0] != found[1]);
            for whole in found {
                let number = crate::source::line_number(&source.text, whole.start);
                if !lines.iter().any(|(of, _, known)| *of == span.source && *known == whole) {
                    lines.push((span.source, number, whole));
                }
            }
        }
        let last = lines.iter().map(|(_, line, _)| *line).max().unwrap_or(1);
        // The margin that `ariadne` draws: line numbers, and a bar for each span of several lines.
        let margin = last.to_string().len() + 4 + if several > 0 { 2 * (several + 1) } else { 0 };
        let room = columns.saturating_sub(margin).max(MIN_COLUMNS);
        let mut cuts: Vec<TruncatedLine> = lines
            .into_iter()
            .filter_map(|(of, line, whole)| {
                let text = &sources.get(of)?.text;
                let at = spans.iter().filter(|span| span.source == of);
                let within = |at: u32| (at as usize).clamp(whole.start, whole.end);
                let touched: Vec<_> = at
                    .filter(|span| span.start as usize <= whole.end && span.end as usize >= whole.start)
                    .map(|span| within(span.start)..within(span.end))
                    .collect();
                let kept = visible_range(text, &whole, &touched, room)?;
                Some(TruncatedLine { source: of, line, whole, visible: kept })
            })
            .collect();
        cuts.sort_by_key(|cut| (cut.source, cut.whole.start));
        TruncatedLines { lines: cuts }
    }

    /// Returns the text of a source with its lines truncated.
    pub fn text(&self, id: SourceId, text: String) -> String {
        let mut out = text;
        for cut in self.lines.iter().rev().filter(|cut| cut.source == id) {
            out.replace_range(cut.visible.end..cut.whole.end, cut.after());
            out.replace_range(cut.whole.start..cut.visible.start, cut.before());
        }
        out
    }

    /// Maps a span to a byte range of the truncated source.
    pub fn map_span(&self, span: Span) -> std::ops::Range<usize> {
        let start = self.map_offset(span.source, span.start as usize);
        start..self.map_offset(span.source, span.end as usize).max(start)
    }

    /// Maps an offset to the truncated source.
    fn map_offset(&self, source: SourceId, at: usize) -> usize {
        let mut less = 0;
        for cut in self.lines.iter().filter(|cut| cut.source == source) {
            if at > cut.whole.end {
                less += cut.whole.len() - cut.len();
            } else if at >= cut.whole.start {
                let kept = at.clamp(cut.visible.start, cut.visible.end) - cut.visible.start;
                return cut.whole.start - less + cut.before().len() + kept;
            }
        }
        at - less
    }

    /// Returns the position of a span as `line:column`, in the truncated source and in the source
    /// itself; `None` if its line is not truncated.
    pub fn line_and_column(&self, span: Span, sources: &SourceMap) -> Option<(String, String)> {
        let at = span.start as usize;
        let cut = self
            .lines
            .iter()
            .find(|cut| cut.source == span.source && (cut.whole.start..=cut.whole.end).contains(&at))?;
        let text = &sources.get(span.source)?.text;
        let column = text.get(cut.whole.start..at)?.chars().count() + 1;
        let kept = at.clamp(cut.visible.start, cut.visible.end);
        let shown = cut.before().chars().count() + text.get(cut.visible.start..kept)?.chars().count() + 1;
        Some((format!("{}:{shown}", cut.line), format!("{}:{column}", cut.line)))
    }
}

/// Returns the byte range of the line around a byte, without its line end.
fn line_around(text: &str, at: usize) -> std::ops::Range<usize> {
    let at = at.min(text.len());
    let bytes = text.as_bytes();
    let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(text.len(), |more| at + more);
    start..end
}

/// Returns the number of columns of a character of a program in a message.
fn columns_of(c: char) -> usize {
    if c == '\t' { 4 } else { c.width().unwrap_or(1) }
}

/// Returns the part of a line around the touched ranges that fits into `room` columns; `None` if
/// all of the line fits.
fn visible_range(
    text: &str,
    whole: &std::ops::Range<usize>,
    touched: &[std::ops::Range<usize>],
    room: usize,
) -> Option<std::ops::Range<usize>> {
    let width = |range: std::ops::Range<usize>| text[range].chars().map(columns_of).sum::<usize>();
    let line = text[whole.clone()].trim_end();
    if line.chars().map(columns_of).sum::<usize>() <= room {
        return None;
    }
    let first = touched.iter().map(|range| range.start).min().unwrap_or(whole.start);
    let last = touched.iter().map(|range| range.end).max().unwrap_or(whole.start);
    let mut from = whole.start;
    if width(whole.start..last) > room * 2 / 3 {
        let mut before = 0;
        from = first;
        for (at, c) in text[whole.start..first].char_indices().rev() {
            before += columns_of(c);
            if before > room / 4 {
                break;
            }
            from = whole.start + at;
        }
    }
    let (mut to, mut used) = (from, 2);
    for (at, c) in text[from..whole.end].char_indices() {
        used += columns_of(c);
        if used > room {
            break;
        }
        to = from + at + c.len_utf8();
    }
    Some(from..to)
}

/// Wraps those lines of a rendered message that end with prose and are too wide; they continue
/// below, under the beginning of the prose.
pub fn wrap_message(message: &str, prose: &[&str], columns: usize) -> String {
    let columns = columns.max(MIN_COLUMNS);
    let mut out = String::with_capacity(message.len() + 64);
    for line in message.lines() {
        let ending = prose.iter().filter(|text| !text.is_empty() && line.ends_with(**text));
        match ending.max_by_key(|text| text.len()) {
            Some(text) if display_columns(line) > columns => wrap_line(line, text, columns, &mut out),
            _ => out.extend([line, "\n"]),
        }
    }
    out
}

/// Writes a line that ends with `text`, wrapped to `columns` columns.
fn wrap_line(line: &str, text: &str, columns: usize, out: &mut String) {
    let before = &line[..line.len() - text.len()];
    let begin = display_columns(before);
    let drawn = continued_bars(before, usize::MAX);
    let last_bar = drawn.rfind('│').map(|at| display_columns(&drawn[..at]) + 2);
    let Some(low) = last_bar else {
        // The first line of a message: continuation lines are indented by two blanks.
        let mut texts = wrap_text(&format!("{}{text}", "x".repeat(begin)), columns).into_iter();
        let first = texts.next().unwrap_or_default();
        out.push_str(&format!("{before}{}\n", &first[begin.min(first.len())..]));
        let rest: Vec<String> = texts.collect();
        for line in wrap_text(&rest.join(" "), columns - 2).iter().filter(|line| !line.is_empty()) {
            out.push_str(&format!("  {line}\n"));
        }
        return;
    };
    // A label stays beside its arrow only if there is enough room; otherwise it is placed below.
    let beside = columns.saturating_sub(begin) >= MIN_COLUMNS + 4;
    let start = if beside { begin } else { low.min(begin) };
    let margin = continued_bars(before, start);
    let mut texts = wrap_text(text, columns.saturating_sub(start).max(MIN_COLUMNS)).into_iter();
    let first = if beside { texts.next().unwrap_or_default() } else { String::new() };
    out.push_str(&format!("{}\n", format!("{before}{first}").trim_end()));
    texts.for_each(|text| out.push_str(&format!("{margin}{text}\n")));
}

/// Returns the margin of the continuation line: the bars of `line` continue, over at most `columns`
/// columns, and colors stay.
fn continued_bars(line: &str, columns: usize) -> String {
    let (mut out, mut used, mut command) = (String::new(), 0, false);
    for c in line.chars() {
        if command || c == '\u{1b}' {
            command = c != 'm';
            out.push(c);
        } else if used < columns {
            used += 1;
            out.push(if matches!(c, '│' | '├' | '┼') { '│' } else { ' ' });
        }
    }
    out
}

/// Returns the number of columns of a line, terminal escape sequences not counted.
fn display_columns(line: &str) -> usize {
    let mut command = false;
    line.chars()
        .map(|c| {
            let hidden = command || c == '\u{1b}';
            command = hidden && c != 'm';
            if hidden { 0 } else { c.width().unwrap_or(0) }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::{Help, render_within};
    use super::*;

    #[test]
    fn paragraphs_are_filled_where_a_line_is_too_wide() {
        let text = "One two three four five six seven\nand eight.\n\n    sum (1, 2, 3, 4, 5)\n\
                    - a first item\n- b\nShort.\nlaw: a b c d e f g h\nwork |I|, span log |I|\n\
                    > 1 + 2 + 3 + 4 + 5 + 6\n21 and more, much more\n\nEnd.\n";
        assert_eq!(fill_paragraphs(text, 80), text);
        let narrow = "One two three four\nfive six seven and\neight.\n\n    sum (1, 2, 3, 4, 5)\n\
                      - a first item\n- b\nShort.\nlaw: a b c d e f g h\nwork |I|, span log\n|I|\n\
                      > 1 + 2 + 3 + 4 + 5 + 6\n21 and more, much more\n\nEnd.\n";
        assert_eq!(fill_paragraphs(text, 20), narrow);
    }

    /// No prose is wider than the terminal, and nothing of it is lost.
    #[test]
    fn messages_fit_into_the_columns_there_are() {
        let mut sources = SourceMap::default();
        let long = format!("val y = {}wrong{};", "1 + ".repeat(40), " + 2".repeat(40));
        let text = format!("val x = 1;\n{long}\nfun f (a:int) => {{\n  return a;\n}};\n");
        let id = sources.add("p.flx", text.clone()).id;
        let at = text.find("wrong").unwrap_or(0);
        let several = text.find("fun").unwrap_or(0);
        let words = "a sentence of words that says at some length what is there and why it cannot be so";
        let diagnostic = Diagnostic::error("E0101", Span::new(id, at, at + 5), words, words)
            .label(Span::new(id, 4, 5), words)
            .label(Span::new(id, several, several + 32), "all of this function, which has several lines")
            .note(words)
            .help(Help::new(words));
        for columns in 40..120 {
            let shown = render_within(&diagnostic, &sources, false, Some(columns));
            for line in shown.lines() {
                assert!(line.width() <= columns, "{columns}: {line}\n{shown}");
            }
            assert!(shown.contains("wrong") && shown.contains("p.flx:2:169 ]"), "{shown}");
            let all = shown.replace(['│', '╰', '─'], " ");
            let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(all.matches(words).count(), 5, "{columns}\n{shown}");
            let colored = render_within(&diagnostic, &sources, true, Some(columns));
            assert_eq!(uncolored(&colored), shown);
        }
    }

    fn uncolored(text: &str) -> String {
        let mut command = false;
        let kept = text.chars().filter(|&c| {
            let hidden = command || c == '\u{1b}';
            command = hidden && c != 'm';
            !hidden
        });
        let text: String = kept.collect();
        text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
    }
}
