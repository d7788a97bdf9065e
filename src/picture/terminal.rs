//! Pictures as text for a terminal: dots of braille for lines and points, blocks for bars, shades for heat
//! maps and images. Without colours, so that a pipe or a file shows the same.

use super::{Bounds, Grid, Layer, Mark, Picture, Undrawn, pixels};
use unicode_width::UnicodeWidthStr;

/// Characters of the place where marks are.
const WIDTH: usize = 64;
const HEIGHT: usize = 16;
/// The most bars, and the most rows of shades, that are shown.
const MOST: usize = 40;

/// A value with its name.
type Bar = (String, f64);

/// A picture as lines of text.
pub fn text(picture: &Picture, bounds: &Bounds<'_>) -> Result<String, Undrawn> {
    let mut out = String::new();
    if !picture.title.is_empty() {
        out.push_str(&format!("{}\n", picture.title));
    }
    let dots: Vec<&Layer> = picture
        .layers
        .iter()
        .filter(|layer| matches!(layer.mark, Mark::Line(_) | Mark::Points(_)) && !layer.mark.is_empty())
        .collect();
    if !dots.is_empty() {
        canvas(&mut out, &dots, &picture.axes, bounds)?;
    }
    // Bars of all layers stand on one axis.
    let lengths = picture.layers.iter().filter_map(bars).flat_map(|(bars, _)| bars);
    let longest = lengths.map(|(_, v)| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    for layer in picture.layers.iter().filter(|layer| !layer.mark.is_empty()) {
        let label = match layer.label.as_str() {
            "" => String::new(),
            label => format!("{label}\n"),
        };
        match &layer.mark {
            Mark::Bars(..) | Mark::Histogram(..) => {
                out.push_str(&label);
                if let Some((bars, all)) = bars(layer) {
                    blocks(&mut out, &bars, all, longest);
                }
            }
            Mark::Heatmap(grid, values) => {
                out.push_str(&label);
                let scale = pixels::scale(values);
                let place = |i: usize| Some(values[i]).filter(|v| v.is_finite()).map(|v| scale.place(v));
                shades(&mut out, *grid, place);
                let ends = numbers(&[scale.value(0.0), scale.value(1.0)]);
                out.push_str(&format!("{} is ░, {} is █\n", ends[0], ends[1]));
            }
            Mark::Image(grid, pixels) => {
                out.push_str(&label);
                // Weights of the colours in what the eye calls bright (Rec. 709).
                let light = |i: usize| {
                    let [r, g, b] = [0, 1, 2].map(|c| f64::from(pixels[3 * i + c]) / 255.0);
                    Some(0.2126 * r + 0.7152 * g + 0.0722 * b)
                };
                shades(&mut out, *grid, light);
            }
            Mark::Line(_) | Mark::Points(_) => {}
        }
    }
    let remark = picture.remark();
    if !remark.is_empty() {
        out.push_str(&format!("{remark}\n"));
    }
    if out.len() > bounds.longest {
        return Err(Undrawn::TooLong);
    }
    Ok(out)
}

/// Lines and points on axes.
fn canvas(
    out: &mut String,
    layers: &[&Layer],
    axes: &[String; 2],
    bounds: &Bounds<'_>,
) -> Result<(), Undrawn> {
    let own = Picture { layers: layers.iter().map(|layer| (*layer).clone()).collect(), ..Picture::default() };
    let [xs, ys] = own.scales();
    let (width, height) = (2 * WIDTH, 4 * HEIGHT);
    let mut dots = vec![0u8; WIDTH * HEIGHT];
    let mut dot = |x: usize, y: usize| {
        // The eight dots of a character, column by column but for the last row.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        dots[y / 4 * WIDTH + x / 2] |= BITS[y % 4][x % 2];
    };
    let at = |[x, y]: [f64; 2]| {
        let column = (xs.place(x) * (width - 1) as f64).round() as usize;
        let row = ((1.0 - ys.place(y)) * (height - 1) as f64).round() as usize;
        (column, row)
    };
    for layer in layers {
        let (Mark::Line(points) | Mark::Points(points)) = &layer.mark else { continue };
        let line = matches!(layer.mark, Mark::Line(_));
        let mut before: Option<(usize, usize)> = None;
        for (i, point) in points.iter().enumerate() {
            bounds.look(i)?;
            if !point.iter().all(|v| v.is_finite()) {
                before = None;
                continue;
            }
            let (x, y) = at(*point);
            let (x0, y0) = before.filter(|_| line).unwrap_or((x, y));
            let steps = x.abs_diff(x0).max(y.abs_diff(y0)).max(1);
            for i in 0..=steps {
                let between = |a: usize, b: usize| (a * (steps - i) + b * i + steps / 2) / steps;
                dot(between(x0, x), between(y0, y));
            }
            before = Some((x, y));
        }
    }
    let ticks = ys.ticks(4.0);
    let row_of = |value: f64| at([xs.value(0.0), value]).1 / 4;
    let labels: Vec<(usize, &String)> = ticks.iter().map(|(value, text)| (row_of(*value), text)).collect();
    let margin = labels.iter().map(|(_, text)| text.width()).max().unwrap_or(0);
    if !axes[1].is_empty() {
        out.push_str(&format!("{}\n", axes[1]));
    }
    for row in 0..HEIGHT {
        let label = labels.iter().find(|(at, _)| *at == row).map_or("", |(_, text)| text);
        let line: String = dots[row * WIDTH..(row + 1) * WIDTH]
            .iter()
            .map(|bits| char::from_u32(0x2800 + u32::from(*bits)).filter(|_| *bits != 0).unwrap_or(' '))
            .collect();
        let corner = if label.is_empty() { '│' } else { '┤' };
        out.push_str(format!("{label:>margin$} {corner}{line}").trim_end());
        out.push('\n');
    }
    let mut rule: Vec<char> = vec!['─'; WIDTH];
    let mut below = vec![' '; WIDTH + 16];
    let mut free = 0;
    for (value, text) in xs.ticks(5.0) {
        let column = at([value, ys.value(0.0)]).0 / 2;
        rule[column] = '┴';
        let start = column.saturating_sub(text.chars().count() / 2);
        let end = start + text.chars().count();
        if start >= free && end <= below.len() {
            below.splice(start..end, text.chars());
            free = end + 1;
        }
    }
    let blank = " ".repeat(margin);
    out.push_str(&format!("{blank} └{}\n", rule.iter().collect::<String>()));
    out.push_str(format!("{blank}  {}", below.iter().collect::<String>()).trim_end());
    out.push('\n');
    if !axes[0].is_empty() {
        let start = (margin + 2 + WIDTH / 2).saturating_sub(axes[0].width() / 2);
        out.push_str(&format!("{}{}\n", " ".repeat(start), axes[0]));
    }
    let named: Vec<&str> = layers.iter().map(|l| l.label.as_str()).filter(|l| !l.is_empty()).collect();
    if !named.is_empty() {
        out.push_str(&format!("{blank}  {}\n", named.join(", ")));
    }
    Ok(())
}

/// What bars a layer shows, if it has some, and how many there are. Bins that are more than are shown are put together.
fn bars(layer: &Layer) -> Option<(Vec<Bar>, usize)> {
    match &layer.mark {
        Mark::Bars(names, values) => {
            let name = |i: usize| names.get(i).cloned().unwrap_or_else(|| i.to_string());
            let shown = values.iter().enumerate().take(MOST).map(|(i, v)| (name(i), *v));
            Some((shown.collect(), values.len()))
        }
        Mark::Histogram(bins, _) => {
            let together = bins.chunks(bins.len().div_ceil(MOST).max(1));
            let bins: Vec<[f64; 3]> = together
                .map(|bins| [bins[0][0], bins[bins.len() - 1][1], bins.iter().map(|bin| bin[2]).sum()])
                .collect();
            let bounds: Vec<f64> =
                bins.iter().map(|bin| bin[0]).chain(bins.last().map(|bin| bin[1])).collect();
            let bounds = numbers(&bounds);
            let name = |i: usize| format!("{} to {}", bounds[i], bounds[i + 1]);
            Some((bins.iter().enumerate().map(|(i, bin)| (name(i), bin[2])).collect(), bins.len()))
        }
        _ => None,
    }
}

/// A bar for each value, with its name and the value.
fn blocks(out: &mut String, shown: &[Bar], all: usize, longest: f64) {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let margin = shown.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in shown {
        let name = format!("{}{name}", " ".repeat(margin - name.width()));
        if !value.is_finite() {
            out.push_str(&format!("{name} │ not finite\n"));
            continue;
        }
        let part = if longest > 0.0 { value.abs() / longest } else { 0.0 };
        let eighths = (part * (WIDTH * 6) as f64).round() as usize;
        let bar = "█".repeat(eighths / 8) + PARTS[eighths % 8];
        let sign = if *value < 0.0 { "-" } else { "" };
        out.push_str(format!("{name} │{sign}{bar} {}", number(*value)).trim_end());
        out.push('\n');
    }
    if all > shown.len() {
        out.push_str(&format!("… and {} more\n", all - shown.len()));
    }
}

/// Cells by how bright they are; of more than fit, some.
fn shades(out: &mut String, grid: Grid, bright: impl Fn(usize) -> Option<f64>) {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    // A small grid is drawn larger. A character is about as high as two are wide.
    let grow = (32 / (2 * grid.columns.max(1))).min(12 / grid.rows.max(1)).max(1);
    let columns = (2 * grow * grid.columns).min(WIDTH);
    let high = (grow * grid.rows).min(MOST);
    let rows = (grid.rows * columns).div_ceil(2 * grid.columns).clamp(1, high.max(1));
    for row in 0..rows {
        let mut line = String::new();
        for column in 0..columns {
            let cell = row * grid.rows / rows * grid.columns + column * grid.columns / columns;
            line.push(match bright(cell) {
                Some(bright) => SHADES[1 + ((bright * 4.0) as usize).min(3)],
                None => SHADES[0],
            });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A number with few digits.
fn number(value: f64) -> String {
    digits(value, 3)
}

/// Numbers that follow each other, with few digits, but as many as it takes to tell neighbours apart.
fn numbers(values: &[f64]) -> Vec<String> {
    // So many digits after the point tell any two floats apart that are written so.
    const MOST_DIGITS: usize = 20;
    let mut texts = Vec::new();
    for count in 3..=MOST_DIGITS {
        texts = values.iter().map(|value| digits(*value, count)).collect::<Vec<String>>();
        let alike = |i: usize| texts[i] == texts[i + 1] && values[i] != values[i + 1];
        if !(0..values.len().saturating_sub(1)).any(alike) {
            break;
        }
    }
    texts
}

/// A number with at most so many digits after its point.
fn digits(value: f64, count: usize) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.count$e}");
    }
    let text = format!("{value:.count$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::{Bounds, numbers, text};
    use crate::picture::{Layer, Mark, Picture};
    use std::sync::atomic::AtomicBool;

    fn drawn(marks: Vec<Mark>) -> String {
        let layers = marks.into_iter().map(|mark| Layer { label: String::new(), mark }).collect();
        let bounds = Bounds { longest: 1 << 20, stop: &AtomicBool::new(false) };
        text(&Picture { layers, ..Picture::default() }, &bounds).expect("drawn")
    }

    #[test]
    fn different_bounds_have_different_texts() {
        assert_eq!(numbers(&[0.0, 0.5, 1.0]), ["0", "0.5", "1"]);
        assert_eq!(numbers(&[1.0001, 1.0002]), ["1.0001", "1.0002"]);
        assert_eq!(numbers(&[1e6, 1e6 + 1.0]), ["1.000000e6", "1.000001e6"]);
        assert_eq!(numbers(&[1.0, 1.0 + f64::EPSILON]), ["1", "1.0000000000000002"]);
        assert_eq!(numbers(&[2.0, 2.0]), ["2", "2"]);
        assert_eq!(numbers(&[]), [""; 0]);
    }

    #[test]
    fn all_bins_are_drawn() {
        let bins: Vec<[f64; 3]> = (0..100).map(|i| [f64::from(i), f64::from(i + 1), 1.0]).collect();
        let text = drawn(vec![Mark::Histogram(bins, 0)]);
        assert_eq!(text.lines().count(), 34, "{text}");
        assert!(text.starts_with("   0 to 3 │"), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.starts_with("99 to 100 │")), "{text}");
        assert!(!text.contains("more"), "{text}");
    }

    #[test]
    fn bars_of_all_layers_have_one_scale() {
        let text = drawn(vec![Mark::Bars(Vec::new(), vec![1.0]), Mark::Bars(Vec::new(), vec![2.0])]);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [24, 48], "{text}");
    }
}
