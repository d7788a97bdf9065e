//! Pages in Markdown as text for a terminal: programs indented, tables in columns, links without
//! their addresses, headings underlined.

use unicode_width::UnicodeWidthStr;

/// Tables wider than this have a line for each cell but the first, which stands above them.
const MAX_TABLE_WIDTH: usize = 100;

/// Returns a page as text.
pub fn page(markdown: &str) -> String {
    let (mut out, mut fenced) = (String::new(), false);
    let mut table: Vec<Vec<String>> = Vec::new();
    for line in markdown.lines() {
        if !fenced && line.starts_with('|') {
            table.push(cells(line));
            continue;
        }
        out.push_str(&table_text(&std::mem::take(&mut table)));
        if let Some(info) = line.strip_prefix("```") {
            fenced = !fenced;
            // What a program prints is told from the program.
            if fenced && info.split_whitespace().next() == Some("output") {
                out.push_str(if out.ends_with("\n\n") { "prints\n\n" } else { "\nprints\n\n" });
            }
        } else if fenced {
            out.push_str(format!("    {line}").trim_end());
            out.push('\n');
        } else if let Some(heading) = heading(line) {
            let (heading, mark) = (without_marks(heading), if line.starts_with("# ") { "=" } else { "-" });
            out.push_str(&format!("{heading}\n{}\n", mark.repeat(heading.width())));
        } else {
            out.push_str(&without_links(line));
            out.push('\n');
        }
    }
    out.push_str(&table_text(&table));
    out
}

/// Returns the words of a heading.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

/// Returns the cells of a row of a table. A bar after a backslash or within backticks is no end of
/// a cell.
fn cells(line: &str) -> Vec<String> {
    let (mut found, mut cell, mut quoted, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in line.trim().trim_start_matches('|').chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if !quoted => found.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
        quoted ^= c == '`';
        escaped = c == '\\';
    }
    found.push(cell);
    if found.last().is_some_and(|last| last.trim().is_empty()) {
        found.pop();
    }
    found.iter().map(|cell| without_links(cell.trim())).collect()
}

/// Returns the lines of a table.
fn table_text(rows: &[Vec<String>]) -> String {
    let rule = |row: &&Vec<String>| !row.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c)));
    let rows: Vec<&Vec<String>> = rows.iter().filter(rule).collect();
    let count = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..count).map(|at| width(at).unwrap_or(0)).collect();
    let narrow = widths.iter().sum::<usize>() + 2 * count <= MAX_TABLE_WIDTH;
    let mut out = String::new();
    for row in rows {
        if narrow {
            let padded = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width()) + 2)));
            out.push_str(format!("    {}", padded.collect::<String>()).trim_end());
            out.push('\n');
            continue;
        }
        for (at, cell) in row.iter().filter(|cell| !cell.is_empty()).enumerate() {
            // Lines of another indentation are paragraphs of their own where text is wrapped.
            out.push_str(&format!("{}{cell}\n", if at == 0 { "" } else { "  " }));
        }
        out.push('\n');
    }
    out
}

/// Returns a line without the addresses of its links. What stands between backticks stays, unless
/// it is the text of a link.
fn without_links(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let link = from.strip_prefix('[').and_then(|inner| {
            let (text, after) = inner.split_once("](")?;
            let (_, behind) = after.split_once(')')?;
            // A bracket within is that of another link.
            (!text.contains('[') || text.starts_with('`')).then_some((text, behind))
        });
        let code = from.strip_prefix('`').and_then(|inner| inner.split_once('`'));
        match (link, code) {
            (Some((text, behind)), _) => {
                out.push_str(text);
                rest = behind;
            }
            (None, Some((code, behind))) => {
                out.push_str(&format!("`{code}`"));
                rest = behind;
            }
            (None, None) => {
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    out + rest
}

/// Returns a line without links, and without the marks of code and emphasis around words.
pub fn without_marks(line: &str) -> String {
    without_links(line).replace("**", "").replace('`', "").replace("\\_", "_")
}

#[cfg(test)]
mod tests {
    use super::{cells, page, without_links};

    #[test]
    fn a_page_is_laid_out() {
        let markdown = "# A `page`\n\nSee [the other](other.md#place).\n\n```felis\nval x : int ^ 2 = (1, 2);\n```\n\n\
                        ```output\n1\n```\n\n## Part\n\n| a | b |\n|---|---|\n| `x \\| y` | two |\n";
        let text = "A page\n======\n\nSee the other.\n\n    val x : int ^ 2 = (1, 2);\n\nprints\n\n    1\n\n\
                    Part\n----\n\n    a        b\n    `x | y`  two\n";
        assert_eq!(page(markdown), text);
    }

    #[test]
    fn rows_have_cells() {
        assert_eq!(cells("| a | `b | c` | d\\|e |"), ["a", "`b | c`", "d|e"]);
        assert_eq!(cells("| | |"), ["", ""]);
    }

    #[test]
    fn links_lose_their_addresses_and_brackets_of_types_stay() {
        assert_eq!(without_links("a [b](c.md) d [e](f.md)."), "a b d e.");
        assert_eq!(without_links("[`sum`](c.md)"), "`sum`");
        assert_eq!(without_links("`f[T](x : T)` and [e](f.md)"), "`f[T](x : T)` and e");
        assert_eq!(without_links("..[N] and (x), `a"), "..[N] and (x), `a");
    }
}
