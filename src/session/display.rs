//! The layout of results for people: numbers aligned, the middle of long values left out.
//!
//! Takes the preview of a value ([`Preview`]) and the size of the window; gives lines. `print` and
//! `.str` are independent of it.

use super::Mode;
use felis_calculus::core::Program;
use felis_calculus::types::Type;
use felis_runtime::eval::preview::{Alignment, Cell, Gap, Grid, Preview, Window};
use felis_runtime::eval::{self, Host, Machine, RuntimeError};
use felis_runtime::value::Value;
use unicode_width::UnicodeWidthStr;

/// Returns the text of a value for people as the mode wants it, and the one that reads back.
pub(super) fn texts(
    machine: &mut Machine,
    program: &Program,
    value: &Value,
    ty: &Type,
    mode: Mode,
    host: &mut Host<'_>,
) -> Result<(String, String), Box<RuntimeError>> {
    Ok(match mode {
        Mode::Display(window) => {
            let view = machine.preview(program, value, ty, window, host)?;
            (layout_preview(view, window), String::new())
        }
        Mode::Value => (String::new(), String::new()),
        _ => (machine.value_text(program, value, ty, host)?, eval::read_back(value, ty)),
    })
}

/// A list of more lines than this is shown by its first ones and its last ones.
const MAX_LIST_LINES: usize = 10;
/// Lines of a long list before what is left out, and after.
const HEAD_LINES: usize = 5;
/// Lines of a long list after what is left out.
const TAIL_LINES: usize = 2;
/// The characters of a number above which it and those around it are rounded.
const MAX_EXACT_NUMBER_CHARS: usize = 9;
/// Digits of rounded numbers.
const SIGNIFICANT_DIGITS: usize = 6;
/// Columns of words are not made narrower than this to make room for others.
const MIN_WORD_COLUMN_WIDTH: usize = 16;
/// The blanks between two columns of a grid.
const COLUMN_GAP: usize = 2;

/// The lines of a value, without a line end after the last.
pub(super) fn layout_preview(view: Preview, window: Window) -> String {
    match view {
        Preview::Text(text) => text,
        Preview::List(items, gap) => lay_out_list(items, gap, window),
        Preview::Grid(grid) => self::lay_out_grid(grid, window),
        Preview::Fields(fields) => {
            let width = fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
            let lines = fields.iter().map(|(name, text)| format!(" {} = {text}", pad_right(name, width)));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Elements in parentheses: in a line if there is room, else in lines of columns.
fn lay_out_list(mut items: Vec<Cell>, mut gap: Gap, window: Window) -> String {
    if gap.left_out == 0 {
        let line = items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(", ");
        if line.width() + 2 <= window.columns && !line.contains('\n') {
            return format!("({line})");
        }
    }
    let (mut texts, mut width) = align_column(&items.iter().collect::<Vec<_>>());
    let each = |width: usize| ((window.columns.saturating_sub(1)) / (width + 2)).max(1);
    let most = match window.is_page() {
        true => window.rows,
        false => MAX_LIST_LINES.min(window.rows.max(HEAD_LINES + TAIL_LINES + 1)),
    };
    if gap.left_out > 0 || items.len() > each(width) * most {
        // Elements that are left out do not widen the columns.
        let head_lines = if window.is_page() { most - TAIL_LINES - 1 } else { HEAD_LINES };
        let (head, tail) = (each(width) * head_lines, each(width) * TAIL_LINES);
        let count = items.len() + gap.left_out;
        let head = head.min(gap.at).min(items.len());
        let behind = if gap.left_out == 0 { items.len() - head } else { items.len() - gap.at };
        let tail = tail.min(behind);
        items.drain(head..items.len() - tail);
        gap = Gap { at: head, left_out: count - head - tail };
        (texts, width) = align_column(&items.iter().collect::<Vec<_>>());
    }
    let last = texts.len().saturating_sub(1);
    let texts: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(i, text)| format!("{}{}", text.trim_end(), if i == last { ")" } else { "," }))
        .collect();
    let mut lines = Vec::new();
    let (before, after) = texts.split_at(gap.at.min(texts.len()));
    lines.extend(before.chunks(each(width)).map(|line| list_row(line, width)));
    if gap.left_out > 0 {
        lines.push(format!(" … {} left out …", gap.left_out));
        lines.extend(after.chunks(each(width)).map(|line| list_row(line, width)));
    }
    let mut out = lines.join("\n");
    out.replace_range(0..1, "(");
    out
}

/// A line of a list: its elements are followed by a comma each.
fn list_row(texts: &[String], width: usize) -> String {
    let mut out = String::new();
    for text in texts {
        out.push(' ');
        out.push_str(&pad_right(text, width + 1));
    }
    out.trim_end().to_string()
}

/// A column of a grid.
struct Column {
    head: String,
    /// The texts of all slices, from top to bottom.
    texts: Vec<String>,
    width: usize,
    /// True for a column of words, whose cells may be truncated.
    words: bool,
}

/// Rows and columns.
fn lay_out_grid(grid: Grid, window: Window) -> String {
    let rows = || grid.slices.iter().flat_map(|(_, rows)| rows);
    let heads = grid.headers.as_ref().map_or(0, Vec::len);
    let count = rows().next().map_or(heads, Vec::len);
    let mut columns: Vec<Column> = Vec::new();
    for at in 0..count {
        let cells: Vec<&Cell> = rows().filter_map(|row| row.get(at)).collect();
        let (texts, width) = align_column(&cells);
        let right = cells.first().is_some_and(|cell| cell.alignment != Alignment::Left);
        let head = grid.headers.as_ref().and_then(|heads| heads.get(at)).cloned().unwrap_or_default();
        let widest = width.max(head.width()).min(window.columns.saturating_sub(COLUMN_GAP + 1).max(4));
        // A narrow column stands below the end of its head if it is one of numbers.
        let indent = if right { widest.saturating_sub(width) } else { 0 };
        let texts = texts.iter().map(|text| format!("{}{text}", " ".repeat(indent)));
        let texts = texts.map(|text| truncate_to_width(&text, widest)).collect();
        let head =
            if right { format!("{}{head}", " ".repeat(widest.saturating_sub(head.width()))) } else { head };
        columns.push(Column { head: truncate_to_width(&head, widest), texts, width: widest, words: !right });
    }
    if grid.columns.left_out == 0 {
        shrink_word_columns(&mut columns, window.columns);
    }
    let columns_out = visible_columns(&columns, grid.columns, window.columns);
    let (head_columns, tail_columns) = (columns_out.at, columns.len() - columns_out.tail);
    let line = |text: &dyn Fn(&Column) -> String, mark: &str| {
        let mut out = String::new();
        for (at, column) in columns.iter().enumerate() {
            if at == head_columns && columns_out.left_out > 0 {
                out.push_str(&format!("{mark}{}", " ".repeat(COLUMN_GAP)));
            }
            if at < head_columns || at >= tail_columns {
                out.push_str(&pad_right(&text(column), column.width));
                out.push_str(&" ".repeat(COLUMN_GAP));
            }
        }
        if columns_out.left_out > 0 && tail_columns >= columns.len() {
            out.push_str(mark);
        }
        format!(" {}", out.trim_end())
    };
    let mut lines = Vec::new();
    if grid.headers.is_some() {
        lines.push(line(&|column| column.head.clone(), "…"));
        lines.push(line(&|column| "─".repeat(column.width), " "));
    }
    let mut at = 0;
    for (slice, (label, rows)) in grid.slices.iter().enumerate() {
        if slice == grid.left_out.at && grid.left_out.left_out > 0 {
            lines.push(format!("⋮ {}", omission_text(grid.left_out.left_out, "slice")));
        }
        if let Some(label) = label {
            lines.push(format!("{label}:"));
        }
        for number in 0..rows.len() {
            if grid.rows.left_out > 0 && number == grid.rows.at {
                lines.push(format!(" ⋮ {}", omission_text(grid.rows.left_out, "row")));
            }
            lines.push(line(&|column| column.texts[at].clone(), "…"));
            at += 1;
        }
    }
    if columns_out.left_out > 0 {
        lines.push(format!(" … {}", omission_text(columns_out.left_out, "column")));
    }
    lines.join("\n")
}

/// Cuts the widest columns of words, where that makes room for more columns.
fn shrink_word_columns(columns: &mut [Column], room: usize) {
    let all: usize = columns.iter().map(|column| column.width + COLUMN_GAP).sum();
    let mut excess = (all + 1).saturating_sub(room + COLUMN_GAP);
    while excess > 0 {
        let long = columns.iter_mut().filter(|column| column.words && column.width > MIN_WORD_COLUMN_WIDTH);
        let Some(widest) = long.max_by_key(|column| column.width) else { break };
        widest.width -= 1;
        excess -= 1;
    }
    for column in columns.iter_mut().filter(|column| column.words) {
        let width = column.width;
        column
            .texts
            .iter_mut()
            .chain([&mut column.head])
            .for_each(|text| *text = truncate_to_width(text.trim_end(), width));
    }
}

/// The columns that fit into a line.
struct VisibleColumns {
    /// Columns from the first on.
    at: usize,
    /// Columns up to the last one.
    tail: usize,
    left_out: usize,
}

/// Returns as many columns as fit into a line, from both ends; at least one.
fn visible_columns(columns: &[Column], gap: Gap, room: usize) -> VisibleColumns {
    let all: usize = columns.iter().map(|column| column.width + COLUMN_GAP).sum();
    if gap.left_out == 0 && all < room + COLUMN_GAP {
        return VisibleColumns { at: columns.len(), tail: 0, left_out: 0 };
    }
    // The mark of what is left out takes room, too.
    let mut room = room.saturating_sub(COLUMN_GAP + 2);
    let (mut head, mut tail) = (0, 0);
    let (most_head, most_tail) = match gap.left_out {
        0 => (columns.len(), columns.len()),
        _ => (gap.at, columns.len() - gap.at),
    };
    loop {
        if head + tail >= columns.len() {
            break;
        }
        let width =
            |front: bool| columns[if front { head } else { columns.len() - 1 - tail }].width + COLUMN_GAP;
        let may = |front: bool| {
            (if front { head < most_head } else { tail < most_tail })
                && (width(front) <= room || head + tail == 0)
        };
        // Twice as many at the front; where the next one there is too wide, one at the other end
        // may not be.
        let front = head <= tail * 2;
        let Some(front) = [front, !front].into_iter().find(|front| may(*front)) else { break };
        room = room.saturating_sub(width(front));
        if front {
            head += 1;
        } else {
            tail += 1;
        }
    }
    VisibleColumns { at: head, tail, left_out: columns.len() - head - tail + gap.left_out }
}

/// Returns the text for parts that are left out: `3 rows left out`.
fn omission_text(count: usize, what: &str) -> String {
    format!("{count} {what}{} left out", if count == 1 { "" } else { "s" })
}

/// The texts of a column, all of one width.
fn align_column(cells: &[&Cell]) -> (Vec<String>, usize) {
    let round = cells.iter().any(|cell| cell.real.is_some() && cell.text.len() > MAX_EXACT_NUMBER_CHARS);
    let texts: Vec<String> = cells
        .iter()
        .map(|cell| match cell.real {
            Some(x) if round => round_number(x),
            _ => cell.text.replace('\n', " "),
        })
        .collect();
    let point = cells.iter().any(|cell| cell.alignment == Alignment::DecimalPoint);
    let split = |text: &str| {
        let at = if point { text.find(['.', 'e']).unwrap_or(text.len()) } else { text.len() };
        (at, text.width() - text[..at].width())
    };
    let before = texts.iter().map(|text| text[..split(text).0].width()).max().unwrap_or(0);
    let after = texts.iter().map(|text| split(text).1).max().unwrap_or(0);
    let left = cells.first().is_some_and(|cell| cell.alignment == Alignment::Left);
    let aligned = texts.iter().map(|text| {
        let (at, rest) = split(text);
        let (front, back) = (before - text[..at].width(), after - rest);
        if left {
            pad_right(text, before)
        } else {
            format!("{}{text}{}", " ".repeat(front), " ".repeat(back))
        }
    });
    (aligned.collect(), before + after)
}

/// A number with few digits, as it would be written.
fn round_number(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return felis_runtime::eval::real_text(x);
    }
    let scientific = format!("{x:.*e}", SIGNIFICANT_DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("the exponent of `{:e}`");
    let exponent: i32 = exponent.parse().expect("a number as exponent");
    let trimmed = |text: &str| {
        let text = text.trim_end_matches('0');
        if text.ends_with('.') { format!("{text}0") } else { text.to_string() }
    };
    if (-5..SIGNIFICANT_DIGITS as i32).contains(&exponent) {
        let places = (SIGNIFICANT_DIGITS as i32 - 1 - exponent).max(1) as usize;
        trimmed(&format!("{x:.places$}"))
    } else {
        format!("{}e{exponent}", trimmed(mantissa))
    }
}

/// A text with blanks after it.
fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A text that is not wider than this.
fn truncate_to_width(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        if out.width() + c.to_string().width() + 1 > width {
            break;
        }
        out.push(c);
    }
    out + "…"
}

#[cfg(test)]
mod tests {
    use super::round_number;

    #[test]
    fn numbers_are_rounded_to_few_digits() {
        for (x, text) in [
            (0.1 + 0.2, "0.3"),
            (1.0, "1.0"),
            (-123456.7, "-123456.7"),
            (1234567.0, "1.23457e6"),
            (0.00001234567, "0.0000123457"),
            (1e-9, "1.0e-9"),
            (99999.99999, "100000.0"),
            (999999.9, "1.0e6"),
            (0.0, "0.0"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(round_number(x), text);
        }
    }
}
