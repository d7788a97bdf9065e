//! Pictures as text for a terminal.
//!
//! Bars alone are drawn horizontally, with room for their names; everything else on a [`canvas`]
//! with axes. Without colors, as in a pipe or a file, layers differ by their marks; with colors by
//! both.

mod bars;
mod canvas;
mod chart;

use super::shape::Color;
use super::{Bounds, Cells, DrawError, Layer, Mark, Picture};
use unicode_width::UnicodeWidthStr;

/// The screen on which a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
    /// The colors of the screen.
    pub colors: Colors,
}

/// The colors of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// No colors, as in a file.
    None,
    /// The 256 indexed colors.
    Indexed,
    /// All 24-bit colors.
    Full,
}

impl Default for Screen {
    /// Returns a page that is no terminal.
    fn default() -> Screen {
        Screen { columns: 72, rows: 24, colors: Colors::None }
    }
}

/// The smallest and the largest number of columns of a picture.
const COLUMN_LIMITS: [usize; 2] = [32, 120];
/// The smallest and the largest number of lines between the axes.
const ROW_LIMITS: [usize; 2] = [6, 40];

/// Colors of layers, visible on white and on black.
const LAYER_COLORS: [Color; 8] = [
    [0x00, 0x87, 0xff],
    [0xff, 0x5f, 0x00],
    [0x00, 0xaf, 0x87],
    [0xd7, 0x5f, 0xd7],
    [0xd7, 0xaf, 0x00],
    [0x5f, 0xaf, 0xd7],
    [0x87, 0x87, 0x87],
    [0xd7, 0x5f, 0x5f],
];
/// The characters that fill bars.
const BAR_FILLS: [char; 4] = ['█', '▓', '▒', '░'];
/// The characters of points.
const POINT_MARKS: [char; 8] = ['●', '◆', '▲', '■', '○', '◇', '△', '□'];
/// Dash patterns: lengths in dots, drawn and not drawn in turns.
const DASH_PATTERNS: [&[usize]; 4] = [&[1], &[6, 4], &[1, 3], &[6, 3, 1, 3]];

/// The style of the marks of a layer.
#[derive(Clone, Copy, Debug)]
struct LayerStyle {
    color: Color,
    fill: char,
    /// The character of points; `None` for dots, where there are too many points.
    point: Option<char>,
    dashes: &'static [usize],
}

/// Returns a picture as lines of text.
pub fn text(picture: &Picture, screen: Screen, bounds: &Bounds<'_>) -> Result<String, DrawError> {
    let screen = Screen {
        columns: screen.columns.clamp(COLUMN_LIMITS[0], COLUMN_LIMITS[1]),
        rows: screen.rows.clamp(ROW_LIMITS[0], ROW_LIMITS[1]),
        ..screen
    };
    let mut out = String::new();
    if !picture.title.is_empty() {
        out.push_str(&screen.bold(&picture.title));
        out.push('\n');
    }
    if let Some(cells) = &picture.cells {
        draw_cells(&mut out, picture, cells, screen, bounds)?;
        return if out.len() > bounds.max_bytes { Err(DrawError::TooLong) } else { Ok(out) };
    }
    let layers: Vec<&Layer> = picture.layers.iter().filter(|layer| !layer.mark.is_empty()).collect();
    if !layers.is_empty() {
        let looks = layer_styles(picture);
        match bars::horizontal_bars(picture).filter(|_| !picture.logarithmic[1]) {
            Some(bars) => bars::draw(&mut out, &bars, &looks, screen, bounds)?,
            None => chart::draw(&mut out, picture, &looks, screen, bounds)?,
        }
        draw_legend(&mut out, picture, &looks, screen);
    }
    let remark = picture.remark();
    if !remark.is_empty() {
        out.push_str(&format!("{remark}\n"));
    }
    if out.len() > bounds.max_bytes {
        return Err(DrawError::TooLong);
    }
    Ok(out)
}

/// The columns between two pictures of a grid.
const CELL_GAP: usize = 3;

/// Writes the pictures of a grid: side by side if each has enough columns, else one below the
/// other.
fn draw_cells(
    out: &mut String,
    picture: &Picture,
    cells: &Cells,
    screen: Screen,
    bounds: &Bounds<'_>,
) -> Result<(), DrawError> {
    let [across, upward] = &picture.axes;
    let room = screen.columns.saturating_sub(CELL_GAP * (cells.grid.columns - 1)) / cells.grid.columns;
    let beside = if room >= COLUMN_LIMITS[0] { cells.grid.columns } else { 1 };
    let columns = if beside == 1 { screen.columns } else { room };
    let rows = if cells.grid.rows == 1 { screen.rows } else { screen.rows / 2 };
    if !upward.is_empty() {
        out.push_str(&format!("{upward}\n"));
    }
    for row in cells.pictures.chunks(beside) {
        let texts = row.iter().map(|cell| text(cell, Screen { columns, rows, ..screen }, bounds));
        let texts = texts.collect::<Result<Vec<String>, DrawError>>()?;
        let texts: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
        for at in 0..texts.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (cell, text) in texts.iter().enumerate() {
                let part = text.get(at).copied().unwrap_or_default();
                line.push_str(part);
                if cell + 1 < texts.len() {
                    let width = shown_width(part);
                    line.push_str(&" ".repeat((columns + CELL_GAP).saturating_sub(width)));
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    if !across.is_empty() {
        let before = screen.columns.saturating_sub(across.width()) / 2;
        out.push_str(&format!("{}{across}\n", " ".repeat(before)));
    }
    Ok(())
}

/// Returns the columns that a text takes on the screen: the codes of colors take none.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, shown)| shown.width())).sum::<usize>()
}

/// Returns the styles of layers: layers of one kind differ in their marks, too.
fn layer_styles(picture: &Picture) -> Vec<LayerStyle> {
    // The number of points from which dots are drawn.
    const MAX_MARKED_POINTS: usize = 200;
    let points = |layer: &Layer| match &layer.mark {
        Mark::Points(points) => Some(points.len()),
        _ => None,
    };
    let clouds: Vec<usize> = picture.layers.iter().filter_map(points).collect();
    let cloud = clouds.len() == 1 && clouds[0] > MAX_MARKED_POINTS;
    let mut seen = [0; 3];
    let looks = picture.layers.iter().enumerate().map(|(at, layer)| {
        let kind = match layer.mark {
            Mark::Line(_) => Some(0),
            Mark::Points(_) | Mark::ErrorBars(_) => Some(1),
            Mark::Bars(..) | Mark::Histogram(..) => Some(2),
            Mark::Heatmap(..) | Mark::Image(..) => None,
        };
        let which = kind.map_or(0, |kind| seen[kind]);
        if let Some(kind) = kind {
            seen[kind] += 1;
        }
        LayerStyle {
            color: LAYER_COLORS[at % LAYER_COLORS.len()],
            fill: BAR_FILLS[which % BAR_FILLS.len()],
            point: (!cloud).then_some(POINT_MARKS[which % POINT_MARKS.len()]),
            dashes: DASH_PATTERNS[which % DASH_PATTERNS.len()],
        }
    });
    looks.collect()
}

/// Writes the legend: the names of layers, each after a sample of its marks.
fn draw_legend(out: &mut String, picture: &Picture, looks: &[LayerStyle], screen: Screen) {
    const GAP: &str = "   ";
    let mut used = 0;
    for (layer, look) in picture.layers.iter().zip(looks) {
        let key = match layer.mark {
            Mark::Line(_) => canvas::dash_sample(look.dashes),
            Mark::Points(_) => look.point.unwrap_or('⠢').to_string(),
            Mark::ErrorBars(_) => look.point.unwrap_or('●').to_string(),
            Mark::Bars(..) | Mark::Histogram(..) => look.fill.to_string().repeat(2),
            Mark::Heatmap(..) | Mark::Image(..) => continue,
        };
        if layer.label.is_empty() {
            continue;
        }
        let label = truncated(&layer.label, screen.columns - key.width() - 2);
        let width = key.width() + 1 + label.width();
        match used {
            0 => {}
            used if used + GAP.len() + width <= screen.columns => out.push_str(GAP),
            _ => {
                out.push('\n');
                used = 0;
            }
        }
        used += if used == 0 { width } else { GAP.len() + width };
        out.push_str(&screen.painted(&key, look.color));
        out.push_str(&format!(" {label}"));
    }
    if used > 0 {
        out.push('\n');
    }
}

/// Returns the text, truncated with an ellipsis to `room` columns.
fn truncated(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        let mut longer = out.clone();
        longer.push(c);
        if longer.width() + 1 > room {
            break;
        }
        out = longer;
    }
    format!("{}…", out.trim_end())
}

impl Screen {
    /// Returns a text in a color.
    fn painted(self, text: &str, color: Color) -> String {
        match self.color_code(38, color) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_string(),
        }
    }

    /// Returns a text in bold.
    fn bold(self, text: &str) -> String {
        match self.colors {
            Colors::None => text.to_string(),
            _ => format!("\u{1b}[1m{text}\u{1b}[0m"),
        }
    }

    /// Returns the escape code of a foreground (38) or background (48) color (ECMA-48 and ISO
    /// 8613-6).
    fn color_code(self, which: u8, [r, g, b]: Color) -> Option<String> {
        match self.colors {
            Colors::None => None,
            Colors::Full => Some(format!("{which};2;{r};{g};{b}")),
            Colors::Indexed => Some(format!("{which};5;{}", nearest_indexed_color([r, g, b]))),
        }
    }
}

/// Returns the nearest of 256 colors: of a cube of 6 x 6 x 6, or of 24 grays.
fn nearest_indexed_color(color: Color) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let far = |one: Color| -> i32 { (0..3).map(|c| (i32::from(one[c]) - i32::from(color[c])).pow(2)).sum() };
    let nearest = |value: u8| (0..6).min_by_key(|i| LEVELS[*i].abs_diff(value)).unwrap_or(0);
    let [r, g, b] = color.map(nearest);
    let cube = (16 + 36 * r + 6 * g + b, [LEVELS[r], LEVELS[g], LEVELS[b]]);
    let mean = color.iter().map(|v| usize::from(*v)).sum::<usize>() / 3;
    let gray = (mean.saturating_sub(3) / 10).min(23);
    let gray = (232 + gray, [(8 + 10 * gray) as u8; 3]);
    (if far(gray.1) < far(cube.1) { gray.0 } else { cube.0 }) as u8
}

/// Returns a number with few digits.
fn number_text(value: f64) -> String {
    rounded_text(value, 3)
}

/// Returns numbers with few digits, but enough to distinguish neighbors.
fn distinct_number_texts(values: &[f64]) -> Vec<String> {
    // This many decimals distinguish any two floats that are written so.
    const MAX_DIGITS: usize = 20;
    let mut texts = Vec::new();
    for count in 3..=MAX_DIGITS {
        texts = values.iter().map(|value| rounded_text(*value, count)).collect::<Vec<String>>();
        let alike = |i: usize| texts[i] == texts[i + 1] && values[i] != values[i + 1];
        if !(0..values.len().saturating_sub(1)).any(alike) {
            break;
        }
    }
    texts
}

/// Returns a number with at most `count` decimals.
fn rounded_text(value: f64, count: usize) -> String {
    let size = value.abs();
    let power = value != 0.0 && !(1e-3..1e6).contains(&size);
    let text = if power { format!("{value:.count$e}") } else { format!("{value:.count$}") };
    let (digits, power) = text.split_at(text.find('e').unwrap_or(text.len()));
    format!("{}{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Colors, Screen, distinct_number_texts, nearest_indexed_color, text, truncated};
    use crate::picture::{Grid, Layer, Mark, Picture};
    use std::sync::atomic::AtomicBool;
    use unicode_width::UnicodeWidthStr;

    const PLAIN: Screen = Screen { columns: 72, rows: 24, colors: Colors::None };

    fn drawn_on(screen: Screen, marks: Vec<Mark>) -> String {
        let label = |at: usize| format!("layer {at}");
        let layers =
            marks.into_iter().enumerate().map(|(at, mark)| Layer { label: label(at), mark }).collect();
        let bounds = Bounds { max_bytes: 1 << 20, interrupt: &AtomicBool::new(false) };
        text(&Picture { layers, ..Picture::default() }, screen, &bounds).expect("drawn")
    }

    fn drawn(marks: Vec<Mark>) -> String {
        drawn_on(PLAIN, marks)
    }

    fn bars(values: &[f64]) -> Mark {
        Mark::Bars(Vec::new(), values.to_vec())
    }

    #[test]
    fn different_bounds_have_different_texts() {
        assert_eq!(distinct_number_texts(&[0.0, 0.5, 1.0]), ["0", "0.5", "1"]);
        assert_eq!(distinct_number_texts(&[1.0001, 1.0002]), ["1.0001", "1.0002"]);
        assert_eq!(distinct_number_texts(&[1e6, 1e6 + 1.0]), ["1e6", "1.000001e6"]);
        assert_eq!(distinct_number_texts(&[1.0, 1.0 + f64::EPSILON]), ["1", "1.0000000000000002"]);
        assert_eq!(distinct_number_texts(&[2.0, 2.0, 1e-300, 10.0]), ["2", "2", "1e-300", "10"]);
        assert_eq!(distinct_number_texts(&[]), [""; 0]);
    }

    #[test]
    fn all_bins_are_drawn() {
        let bins: Vec<[f64; 3]> = (0..100).map(|i| [f64::from(i), f64::from(i + 1), 1.0]).collect();
        let text = drawn(vec![Mark::Histogram(bins, 0)]);
        assert!(text.starts_with("   0 to 3 │"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains('│')).count(), 34, "{text}");
        assert!(text.lines().nth(33).is_some_and(|line| line.starts_with("99 to 100 │")), "{text}");
        assert!(!text.contains("more"), "{text}");
    }

    #[test]
    fn bars_of_all_layers_have_one_scale() {
        let text = drawn(vec![bars(&[10.0]), bars(&[20.0])]);
        let lengths: Vec<usize> = text.lines().take(2).map(|line| line.matches(['█', '▓']).count()).collect();
        assert_eq!(lengths[0] * 2, lengths[1], "{text}");
        assert!(text.ends_with("██ layer 0   ▓▓ layer 1\n"), "{text}");
    }

    #[test]
    fn negative_bars_grow_the_other_way() {
        let text = drawn(vec![bars(&[2.0, -2.0])]);
        let lines: Vec<&str> = text.lines().collect();
        let axis = |line: &str| {
            line.split_once('│').map(|(left, right)| (left.width(), left.contains('█'), right.contains('█')))
        };
        assert_eq!(axis(lines[0]).map(|(at, ..)| at), axis(lines[1]).map(|(at, ..)| at), "{text}");
        assert_eq!(axis(lines[0]).map(|(_, left, right)| (left, right)), Some((false, true)), "{text}");
        assert_eq!(axis(lines[1]).map(|(_, left, right)| (left, right)), Some((true, false)), "{text}");
    }

    #[test]
    fn bars_and_a_line_are_drawn_together() {
        let text = drawn(vec![bars(&[1.0, 2.0, 3.0]), Mark::Line(vec![[0.0, 1.0], [2.0, 3.0]])]);
        let both =
            text.lines().filter(|line| line.contains('█') && line.contains(|c| ('⠁'..='⣿').contains(&c)));
        assert!(both.count() > 3, "{text}");
        assert_eq!(text.matches('└').count(), 1, "{text}");
    }

    #[test]
    fn layers_differ_without_colors() {
        let line = |y: f64| Mark::Line(vec![[0.0, y], [1.0, y]]);
        let points = |y: f64| Mark::Points(vec![[0.5, y]]);
        let text = drawn(vec![line(0.0), line(1.0), points(2.0), points(3.0)]);
        for mark in ["⠤⠤⠤⠤⠤ layer 0", "⠤⠤⠤   layer 1", "● layer 2", "◆ layer 3"] {
            assert!(text.contains(mark), "{mark}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn everything_fits_into_its_screen() {
        let long = "a name that is much longer than there is room for it, wide as 漢字 are".to_string();
        let grid = Grid { rows: 30, columns: 200 };
        let cases = [
            vec![Mark::Bars(vec![long.clone(), long], vec![1e-300, -1e300])],
            vec![Mark::Histogram(vec![[1.0, 1.0 + 1e-12, 3.0], [1.0 + 1e-12, 1.0 + 2e-12, 4.0]], 0)],
            vec![bars(&[1.0, -2.0]), bars(&[3.0, -4.0]), Mark::Points(vec![[0.0, 1.0]])],
            vec![Mark::Line(vec![[1.0 - 1e-12, 1e300], [1.0 + 1e-12, -1e300]])],
            vec![Mark::Heatmap(grid, (0..6000).map(f64::from).collect())],
            vec![Mark::Heatmap(Grid { rows: 1, columns: 1 }, vec![1e-300])],
            vec![Mark::Image(Grid { rows: 200, columns: 3 }, vec![7; 1800])],
        ];
        for marks in cases {
            for columns in [32, 40, 72, 100, 120] {
                for rows in [6, 24, 40] {
                    let text = drawn_on(Screen { columns, rows, colors: Colors::None }, marks.clone());
                    for line in text.lines() {
                        assert!(line.width() <= columns, "{columns}: {}: {line}\n{text}", line.width());
                    }
                    assert!(text.lines().count() <= rows.max(40) + 6, "{rows}: {text}");
                }
            }
        }
    }

    /// With colors a picture is as wide as without.
    #[test]
    fn colors_end_with_their_line() {
        let marks = vec![Mark::Line(vec![[0.0, 1.0], [1.0, 2.0]]), Mark::Points(vec![[0.5, 1.0]])];
        for colors in [Colors::Indexed, Colors::Full] {
            let text = drawn_on(Screen { colors, ..PLAIN }, marks.clone());
            for line in text.lines() {
                let after = line.rsplit_once('\u{1b}').map(|(_, after)| after);
                assert!(after.is_none_or(|after| after.starts_with("[0m")), "{line:?}");
            }
            let mut plain = String::new();
            for (at, part) in text.split('\u{1b}').enumerate() {
                plain.push_str(if at == 0 {
                    part
                } else {
                    part.split_once('m').map_or("", |(_, rest)| rest)
                });
            }
            assert_eq!(plain, drawn(marks.clone()));
        }
    }

    #[test]
    fn the_nearest_of_256_colors() {
        for (color, nearest) in
            [([0, 0, 0], 16), ([255; 3], 231), ([0, 135, 255], 33), ([128; 3], 244), ([255, 95, 0], 202)]
        {
            assert_eq!(nearest_indexed_color(color), nearest, "{color:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(truncated("short", 5), "short");
        assert_eq!(truncated("a long name", 6), "a lon…");
        assert_eq!(truncated("漢字漢字", 5), "漢字…");
        assert_eq!(truncated("ab", 0), "…");
    }
}
