//! Horizontal bars, one in each line, with their names before them and their values behind.
//!
//! Bars of several layers are below each other, on one axis; negative bars grow to the left.

use super::{LayerStyle, Screen, distinct_number_texts, number_text, truncated};
use crate::picture::{Bounds, DrawError, Mark, Picture};
use unicode_width::UnicodeWidthStr;

/// The largest number of lines with names.
const MAX_BARS: usize = 40;

/// Horizontal bars: the names of the places, and for each layer its number and its values.
pub struct Bars {
    names: Vec<String>,
    layers: Vec<(usize, Vec<f64>)>,
}

/// Returns the bars of a picture of nothing but bars, or of one histogram.
pub fn horizontal_bars(picture: &Picture) -> Option<Bars> {
    let layers = || picture.layers.iter().enumerate().filter(|(_, layer)| !layer.mark.is_empty());
    if let (Some((at, layer)), 1) = (layers().next(), layers().count())
        && let Mark::Histogram(bins, _) = &layer.mark
    {
        let (names, values) = merged_bins(bins);
        return Some(Bars { names, layers: vec![(at, values)] });
    }
    let mut bars = Bars { names: Vec::new(), layers: Vec::new() };
    for (at, layer) in layers() {
        let Mark::Bars(names, values) = &layer.mark else { return None };
        if bars.names.len() < names.len() {
            bars.names = names.clone();
        }
        bars.layers.push((at, values.clone()));
    }
    let count = bars.layers.iter().map(|(_, values)| values.len()).max()?;
    bars.names.extend((bars.names.len()..count).map(|i| i.to_string()));
    Some(bars)
}

/// Returns bins with their bounds as names; adjacent bins are merged if there are too many.
fn merged_bins(bins: &[[f64; 3]]) -> (Vec<String>, Vec<f64>) {
    let together = bins.chunks(bins.len().div_ceil(MAX_BARS).max(1));
    let bins: Vec<[f64; 3]> = together
        .map(|bins| [bins[0][0], bins[bins.len() - 1][1], bins.iter().map(|bin| bin[2]).sum()])
        .collect();
    let bounds: Vec<f64> = bins.iter().map(|bin| bin[0]).chain(bins.last().map(|bin| bin[1])).collect();
    let bounds = distinct_number_texts(&bounds);
    let name = |i: usize| format!("{} to {}", bounds[i], bounds[i + 1]);
    ((0..bins.len()).map(name).collect(), bins.iter().map(|bin| bin[2]).collect())
}

/// Draws bars.
pub fn draw(
    out: &mut String,
    bars: &Bars,
    looks: &[LayerStyle],
    screen: Screen,
    bounds: &Bounds<'_>,
) -> Result<(), DrawError> {
    let shown = bars.names.len().min((MAX_BARS / bars.layers.len().max(1)).max(1));
    let values: Vec<f64> = bars
        .layers
        .iter()
        .flat_map(|(_, values)| values.iter().take(shown))
        .copied()
        .filter(|v| v.is_finite())
        .collect();
    let room = |negative: bool| {
        let texts = values.iter().filter(|v| (**v < 0.0) == negative).map(|v| number_text(*v).width() + 1);
        texts.max().unwrap_or(0)
    };
    let (least, most) =
        (values.iter().copied().fold(0.0, f64::min), values.iter().copied().fold(0.0, f64::max));
    // The least length of bars that can be compared; names may take the rest.
    const MIN_BAR_COLUMNS: usize = 8;
    let longest =
        screen.columns.saturating_sub(room(true) + room(false) + 2 + MIN_BAR_COLUMNS).min(screen.columns / 2);
    let names: Vec<String> = bars.names.iter().take(shown).map(|name| truncated(name, longest)).collect();
    let margin = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let columns = screen.columns.saturating_sub(margin + 2 + room(true) + room(false)).max(2);
    // Computed with halves, so that the sum of both sides is finite.
    let negative = (least / 2.0 / (least / 2.0 - most / 2.0)).clamp(0.0, 1.0);
    let negative = if least < 0.0 { negative } else { 0.0 };
    let left = match (negative * columns as f64).round() as usize {
        0 if least < 0.0 => 1,
        all if all == columns && most > 0.0 => columns - 1,
        left => left,
    };
    let before = left + room(true);
    for (at, name) in names.iter().enumerate() {
        for (which, (layer, values)) in bars.layers.iter().enumerate() {
            bounds.poll(at)?;
            let name = if which == 0 { name } else { "" };
            out.push_str(&" ".repeat(margin - name.width()));
            out.push_str(name);
            out.push(' ');
            let look = looks[*layer];
            match values.get(at) {
                None => out.push_str(&format!("{}│", " ".repeat(before))),
                Some(value) if !value.is_finite() => {
                    out.push_str(&format!("{}│ not finite", " ".repeat(before)));
                }
                Some(value) if *value < 0.0 => {
                    let bar = leftward_bar(value / least, left, look.fill);
                    let text = number_text(*value);
                    let blanks = before.saturating_sub(text.width() + 1 + bar.width());
                    out.push_str(&format!(
                        "{}{text} {}│",
                        " ".repeat(blanks),
                        screen.painted(&bar, look.color)
                    ));
                }
                Some(value) => {
                    let part = if most > 0.0 { value / most } else { 0.0 };
                    let bar = rightward_bar(part, columns - left, look.fill);
                    let bar = if bar.is_empty() { bar } else { screen.painted(&bar, look.color) };
                    out.push_str(&format!("{}│{bar} {}", " ".repeat(before), number_text(*value)));
                }
            }
            out.push('\n');
        }
    }
    if bars.names.len() > shown {
        out.push_str(&format!("… and {} more\n", bars.names.len() - shown));
    }
    Ok(())
}

/// Returns a bar that begins on the left, in eighths of a character where its filling allows.
fn rightward_bar(part: f64, columns: usize, fill: char) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if fill != '█' {
        return fill.to_string().repeat((part * columns as f64).round() as usize);
    }
    let eighths = (part * (columns * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Returns a bar that ends on the right, in halves of a character.
fn leftward_bar(part: f64, columns: usize, fill: char) -> String {
    if fill != '█' {
        return fill.to_string().repeat((part * columns as f64).round() as usize);
    }
    let halves = (part * (columns * 2) as f64).round() as usize;
    (if halves % 2 == 1 { "▐" } else { "" }).to_string() + &"█".repeat(halves / 2)
}
