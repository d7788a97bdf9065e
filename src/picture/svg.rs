//! Pictures as SVG: axes with numbers, marks, a legend.
//!
//! Self-contained text in generic fonts; pixels are a PNG inside of it.

use super::scale::Scale;
use super::{Grid, Layer, Mark, Picture, png};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
/// Room beside the axes.
const LEFT: f64 = 78.0;
const BELOW: f64 = 56.0;
/// Room for the colours of a heat map and their numbers.
const BAR: f64 = 90.0;

/// Colours of layers that differ for people who see few colours, too (Okabe and Ito 2008).
const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a900"];

/// Where the marks are.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    scales: [Scale; 2],
    /// The vertical axis grows downwards, as rows do.
    rows: bool,
}

impl Area {
    fn x(&self, value: f64) -> f64 {
        self.left + self.scales[0].place(value) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        let place = self.scales[1].place(value);
        self.top + if self.rows { place } else { 1.0 - place } * self.height
    }
}

/// A picture as SVG.
pub fn svg(picture: &Picture) -> String {
    let rows = picture.layers.iter().any(|layer| layer.mark.is_grid());
    let heat = picture.layers.iter().find_map(|layer| match &layer.mark {
        Mark::Heatmap(_, values) if !layer.mark.is_empty() => Some(values),
        _ => None,
    });
    let top = if picture.title.is_empty() { 18.0 } else { 44.0 };
    let right = if heat.is_some() { BAR } else { 18.0 };
    let scales = picture.scales();
    let (width, height) = (WIDTH - LEFT - right, HEIGHT - top - BELOW);
    let mut area = Area { left: LEFT, top, width, height, scales, rows };
    if let Some(Grid { rows, columns }) = picture.layers.iter().find_map(|layer| match &layer.mark {
        Mark::Image(grid, _) | Mark::Heatmap(grid, _) => Some(*grid),
        _ => None,
    }) {
        // Cells are squares, unless that leaves nothing of one side.
        let ratio = (columns.max(1) as f64 / rows.max(1) as f64).clamp(0.1, 10.0);
        area.width = width.min(height * ratio);
        area.height = area.width / ratio;
    }
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">"
    );
    let _ = writeln!(out, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>");
    if !picture.title.is_empty() {
        text(&mut out, LEFT + width / 2.0, 26.0, "middle", "font-size=\"17\"", &picture.title);
    }
    axes(&mut out, picture, &area);
    let bars = picture.layers.iter().filter(|layer| matches!(layer.mark, Mark::Bars(..))).count();
    let mut bar = 0;
    for (at, layer) in picture.layers.iter().enumerate() {
        mark(&mut out, layer, PALETTE[at % PALETTE.len()], &area, (bar, bars));
        bar += usize::from(matches!(layer.mark, Mark::Bars(..)));
    }
    if let Some(values) = heat {
        color_bar(&mut out, png::scale(values), &area);
    }
    legend(&mut out, picture, &area);
    let remark = picture.remark();
    if picture.layers.iter().all(|layer| layer.mark.is_empty()) {
        let (x, y) = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        text(&mut out, x, y, "middle", "fill=\"#888\"", &remark);
    } else if !remark.is_empty() {
        text(&mut out, WIDTH - 8.0, HEIGHT - 6.0, "end", "fill=\"#888\" font-size=\"11\"", &remark);
    }
    out.push_str("</svg>\n");
    out
}

fn axes(out: &mut String, picture: &Picture, area: &Area) {
    let (bottom, end) = (area.top + area.height, area.left + area.width);
    let names: Option<&[String]> = picture.layers.iter().find_map(|layer| match &layer.mark {
        Mark::Bars(names, _) if !names.is_empty() => Some(&names[..]),
        _ => None,
    });
    let across: Vec<(f64, String)> = match names {
        Some(names) => names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect(),
        None => area.scales[0].ticks(6.0),
    };
    for (value, label) in across {
        let x = area.x(value);
        if names.is_none() {
            line(out, [x, area.top, x, bottom], "#e4e4e4");
        }
        text(out, x, bottom + 18.0, "middle", "", &label);
    }
    for (value, label) in area.scales[1].ticks(5.0) {
        let y = area.y(value);
        line(out, [area.left, y, end, y], "#e4e4e4");
        text(out, area.left - 8.0, y + 4.5, "end", "", &label);
    }
    line(out, [area.left, bottom, end, bottom], "#222");
    line(out, [area.left, area.top, area.left, bottom], "#222");
    let [x, y] = &picture.axes;
    if !x.is_empty() {
        text(out, area.left + area.width / 2.0, bottom + 40.0, "middle", "", x);
    }
    if !y.is_empty() {
        let middle = area.top + area.height / 2.0;
        let turned = format!("transform=\"rotate(-90 18 {middle:.1})\"");
        text(out, 18.0, middle, "middle", &turned, y);
    }
}

fn mark(out: &mut String, layer: &Layer, color: &str, area: &Area, (bar, bars): (usize, usize)) {
    let finite = |point: &[f64; 2]| point.iter().all(|v| v.is_finite());
    match &layer.mark {
        Mark::Line(points) => {
            for run in points.split(|point| !finite(point)).filter(|run| !run.is_empty()) {
                if let [[x, y]] = run {
                    circle(out, area.x(*x), area.y(*y), color);
                    continue;
                }
                let _ = write!(
                    out,
                    "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" points=\""
                );
                for [x, y] in run {
                    let _ = write!(out, "{:.2},{:.2} ", area.x(*x), area.y(*y));
                }
                out.push_str("\"/>\n");
            }
        }
        Mark::Points(points) => {
            for [x, y] in points.iter().filter(|point| finite(point)) {
                circle(out, area.x(*x), area.y(*y), color);
            }
        }
        Mark::Bars(_, values) => {
            let width = 0.8 / bars.max(1) as f64;
            for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                let low = i as f64 - 0.4 + width * bar as f64;
                rect(out, [area.x(low), area.x(low + width)], [area.y(0.0), area.y(*value)], color);
            }
        }
        Mark::Histogram(bins, _) => {
            for [low, high, count] in bins {
                rect(out, [area.x(*low), area.x(*high)], [area.y(0.0), area.y(*count)], color);
            }
        }
        Mark::Heatmap(grid, values) => pixels(out, *grid, &png::colors(values), area),
        Mark::Image(grid, bytes) => pixels(out, *grid, bytes, area),
    }
}

fn pixels(out: &mut String, grid: Grid, bytes: &[u8], area: &Area) {
    let Ok(file) = png::image(grid, bytes) else { return };
    let (x, y) = (area.x(0.0), area.y(0.0));
    let (width, height) = (area.x(grid.columns as f64) - x, area.y(grid.rows as f64) - y);
    let _ = writeln!(
        out,
        "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
        base64(&file)
    );
}

fn color_bar(out: &mut String, scale: Scale, area: &Area) {
    let x = area.left + area.width + 16.0;
    const STEPS: usize = 64;
    for i in 0..STEPS {
        let [r, g, b] = png::color((i as f64 + 0.5) / STEPS as f64);
        let each = area.height / STEPS as f64;
        let y = area.top + area.height - each * (i + 1) as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"14\" height=\"{:.2}\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>",
            each + 0.5
        );
    }
    for (value, label) in scale.ticks(5.0) {
        let y = area.top + (1.0 - scale.place(value)) * area.height;
        text(out, x + 19.0, y + 4.5, "start", "font-size=\"11\"", &label);
    }
}

fn legend(out: &mut String, picture: &Picture, area: &Area) {
    let named = picture.layers.iter().enumerate().filter(|(_, layer)| !layer.label.is_empty());
    for (line, (at, layer)) in named.enumerate() {
        let y = area.top + 16.0 + 18.0 * line as f64;
        let x = area.left + area.width - 10.0;
        let color = PALETTE[at % PALETTE.len()];
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{color}\"/>",
            x - 10.0,
            y - 9.0
        );
        text(
            out,
            x - 16.0,
            y,
            "end",
            "paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"3\"",
            &layer.label,
        );
    }
}

fn line(out: &mut String, [x1, y1, x2, y2]: [f64; 4], color: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{color}\"/>"
    );
}

fn circle(out: &mut String, x: f64, y: f64, color: &str) {
    let _ =
        writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3\" fill=\"{color}\" fill-opacity=\"0.8\"/>");
}

fn rect(out: &mut String, x: [f64; 2], y: [f64; 2], color: &str) {
    let (left, top) = (x[0].min(x[1]), y[0].min(y[1]));
    let (width, height) = ((x[1] - x[0]).abs(), (y[1] - y[0]).abs());
    let _ = writeln!(
        out,
        "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{color}\" fill-opacity=\"0.85\" stroke=\"#fff\" stroke-width=\"0.5\"/>"
    );
}

/// A text; `more` are attributes.
fn text(out: &mut String, x: f64, y: f64, anchor: &str, more: &str, content: &str) {
    let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>");
    for c in content.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out.push_str("</text>\n");
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_text() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn texts_are_no_markup() {
        let picture = Picture { title: "a < b & \"c\"".into(), ..Picture::default() };
        assert!(svg(&picture).contains("a &lt; b &amp; &quot;c&quot;"));
    }
}
