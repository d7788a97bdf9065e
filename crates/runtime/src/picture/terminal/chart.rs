//! Charts as characters: layers of all kinds on one pair of axes. Ticks and scales are those of the
//! other output formats.

use super::canvas::{Canvas, is_in_dash};
use super::{Colors, LayerStyle, Screen, truncated};
use crate::picture::chart::ticks;
use crate::picture::scale::{Scale, Ticks};
use crate::picture::shape::Color;
use crate::picture::{Bounds, DrawError, Grid, Mark, Picture, pixels};
use unicode_width::UnicodeWidthStr;

/// Characters by brightness, from empty to full.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// The largest number of columns and lines of a grid whose cells are enlarged.
const MAX_ENLARGED_CELLS: [usize; 2] = [64, 32];

/// Draws all layers of a picture.
pub fn draw(
    out: &mut String,
    picture: &Picture,
    looks: &[LayerStyle],
    screen: Screen,
    bounds: &Bounds<'_>,
) -> Result<(), DrawError> {
    let scales = picture.scales();
    let [across, upward] = ticks(picture, scales, [5.0, 4.0]);
    let margin =
        upward.labels.iter().map(|(_, text)| text.width()).max().unwrap_or(0).min(screen.columns / 3);
    let bare = picture.sole_image().is_some();
    let room = if bare { screen.columns } else { screen.columns - margin - 2 };
    let (columns, rows) = match picture.grid() {
        Some(grid) => grid_size(grid, room, screen),
        None => (room, (room / 4).min(screen.rows).max(6)),
    };
    let down = picture.grid().is_some();
    let mut chart =
        Chart { canvas: Canvas::new(columns, rows), scales, ground: picture.ground(), down, screen, bounds };
    let bars = picture.layers.iter().filter(|layer| matches!(layer.mark, Mark::Bars(..))).count();
    let mut bar = 0;
    for (layer, look) in picture.layers.iter().zip(looks) {
        match &layer.mark {
            Mark::Line(points) => chart.draw_line(points, look)?,
            Mark::Points(points) => chart.draw_points(points, look)?,
            Mark::ErrorBars(bars) => chart.draw_error_bars(bars, look)?,
            Mark::Bars(_, values) => {
                let width = 0.8 / bars as f64;
                for (i, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                    bounds.poll(i)?;
                    let low = i as f64 - 0.4 + width * bar as f64;
                    chart.draw_bar([low, low + width], *value, look);
                }
                bar += 1;
            }
            Mark::Histogram(bins, _) => {
                bins.iter().for_each(|bin| chart.draw_bar([bin[0], bin[1]], bin[2], look))
            }
            Mark::Heatmap(grid, values) => {
                let scale = pixels::heatmap_scale(values);
                let cell = |i: usize| values[i].is_finite().then(|| scale.position(values[i]));
                chart.draw_grid(*grid, |i| cell(i).map(|place| (pixels::colormap(place), place)))?;
            }
            Mark::Image(grid, bytes) => chart.draw_grid(*grid, |i| {
                let color = [0, 1, 2].map(|c| bytes[3 * i + c]);
                // Luma by Rec. 709.
                let [r, g, b] = color.map(|v| f64::from(v) / 255.0);
                Some((color, 0.2126 * r + 0.7152 * g + 0.0722 * b))
            })?,
        }
    }
    if bare {
        (0..rows).for_each(|row| out.push_str(&format!("{}\n", chart.canvas.line(row, screen))));
        return Ok(());
    }
    let name = upward.name(&picture.axes[1]);
    if !name.is_empty() {
        out.push_str(&format!("{}\n", truncated(&name, screen.columns)));
    }
    for row in 0..rows {
        let label = upward.labels.iter().find(|(value, _)| chart.row(*value) == row);
        let label = label.map_or(String::new(), |(_, text)| truncated(text, margin));
        let corner = if label.is_empty() { '│' } else { '┤' };
        let blanks = " ".repeat(margin - label.width());
        out.push_str(format!("{blanks}{label} {corner}{}", chart.canvas.line(row, screen)).trim_end());
        out.push('\n');
    }
    chart.draw_x_axis(out, &across, margin);
    let name = truncated(&across.name(&picture.axes[0]), screen.columns);
    if !name.is_empty() {
        let start = (margin + 2 + columns / 2).saturating_sub(name.width() / 2);
        let start = start.min(screen.columns - name.width());
        out.push_str(&format!("{}{name}\n", " ".repeat(start)));
    }
    if let Some((label, values)) = picture.heatmap() {
        draw_color_bar(out, label, pixels::heatmap_scale(values), screen);
    }
    Ok(())
}

/// Returns the number of columns and lines of a grid: cells are squares, unless one side would
/// vanish. A character is about twice as high as wide, and shows two cells below each other.
fn grid_size(grid: Grid, room: usize, screen: Screen) -> (usize, usize) {
    let (columns, rows) = (grid.columns.max(1), grid.rows.max(1));
    let (most_x, most_y) = (room, 2 * screen.rows.min(room / 2));
    let (wide, high) =
        match (MAX_ENLARGED_CELLS[0].min(most_x) / columns).min(MAX_ENLARGED_CELLS[1].min(most_y) / rows) {
            0 => {
                let part = (most_x as f64 / columns as f64).min(most_y as f64 / rows as f64).min(1.0);
                let side = |n: usize| ((n as f64 * part).round() as usize).max(1);
                (side(columns), side(rows))
            }
            // Without colors a character has one shade, so cells are whole characters.
            size if screen.colors == Colors::None && size > 1 => (columns * (size & !1), rows * (size & !1)),
            size => (columns * size, rows * size),
        };
    let wide = wide.max((high / 4).next_multiple_of(columns).min(most_x));
    let high = high.max((wide / 4).next_multiple_of(rows).min(most_y));
    (wide, high.div_ceil(2))
}

/// A chart under construction.
struct Chart<'a> {
    canvas: Canvas,
    scales: [Scale; 2],
    /// The value that bars stand on.
    ground: f64,
    /// True if the vertical axis points downward, as rows do.
    down: bool,
    screen: Screen,
    bounds: &'a Bounds<'a>,
}

impl Chart<'_> {
    /// Returns the dot at a point.
    fn dot(&self, [x, y]: [f64; 2]) -> (usize, usize) {
        let y = self.scales[1].position(y);
        let y = if self.down { y } else { 1.0 - y };
        // Between two dots the first one is taken, independently of rounding: the centers of equal
        // cells are then equally spaced.
        let at = |place: f64, count: usize| ((place * count as f64 - 1e-6).ceil() - 1.0).max(0.0) as usize;
        (at(self.scales[0].position(x), 2 * self.canvas.columns), at(y, 4 * self.canvas.rows))
    }

    /// Returns the line of a value of the vertical axis.
    fn row(&self, y: f64) -> usize {
        self.dot([0.0, y]).1 / 4
    }

    /// Draws a line through points, in dashes.
    fn draw_line(&mut self, points: &[[f64; 2]], look: &LayerStyle) -> Result<(), DrawError> {
        // Counts dots, so that dashes continue across points.
        let mut drawn = 0;
        let mut round = 0;
        let finite = |point: &[f64; 2]| point.iter().all(|v| v.is_finite());
        for run in points.split(|point| !finite(point)).filter(|run| !run.is_empty()) {
            let mut before = self.dot(run[0]);
            let mut moved = false;
            for point in &run[1..] {
                round += 1;
                self.bounds.poll(round)?;
                let ((x0, y0), (x, y)) = (before, self.dot(*point));
                let steps = x.abs_diff(x0).max(y.abs_diff(y0));
                for i in usize::from(moved)..=steps {
                    if steps == 0 {
                        break;
                    }
                    let between = |a: usize, b: usize| (a * (steps - i) + b * i + steps / 2) / steps;
                    if is_in_dash(look.dashes, drawn) {
                        self.canvas.dot(between(x0, x), between(y0, y), look.color);
                    }
                    drawn += 1;
                }
                moved |= steps > 0;
                before = (x, y);
            }
            if !moved {
                // A single point between two gaps, and a line of no length, is drawn as a mark.
                self.canvas.mark(before.0 / 2, before.1 / 4, '●', Some(look.color));
            }
        }
        Ok(())
    }

    /// Draws points.
    fn draw_points(&mut self, points: &[[f64; 2]], look: &LayerStyle) -> Result<(), DrawError> {
        for (i, point) in points.iter().enumerate() {
            self.bounds.poll(i)?;
            if point.iter().all(|v| v.is_finite()) {
                let (x, y) = self.dot(*point);
                match look.point {
                    Some(mark) => self.canvas.mark(x / 2, y / 4, mark, Some(look.color)),
                    None => self.canvas.dot(x, y, look.color),
                }
            }
        }
        Ok(())
    }

    /// Draws points with bars.
    fn draw_error_bars(&mut self, bars: &[[f64; 4]], look: &LayerStyle) -> Result<(), DrawError> {
        for (i, [x, y, low, high]) in bars.iter().enumerate() {
            self.bounds.poll(i)?;
            if ![x, y, low, high].iter().all(|v| v.is_finite()) {
                continue;
            }
            let ((column, bottom), (_, top), (_, middle)) =
                (self.dot([*x, *low]), self.dot([*x, *high]), self.dot([*x, *y]));
            for line in top..=bottom {
                self.canvas.dot(column, line, look.color);
            }
            for end in [column.saturating_sub(1), (column + 1).min(2 * self.canvas.columns - 1)] {
                self.canvas.dot(end, top, look.color);
                self.canvas.dot(end, bottom, look.color);
            }
            self.canvas.mark(column / 2, middle / 4, look.point.unwrap_or('●'), Some(look.color));
        }
        Ok(())
    }

    /// Draws a bar upward or downward from the ground.
    fn draw_bar(&mut self, [low, high]: [f64; 2], value: f64, look: &LayerStyle) {
        const EIGHTHS: [char; 8] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇'];
        let (columns, rows) = (self.canvas.columns, self.canvas.rows);
        let column = |x: f64| (self.scales[0].position(x) * columns as f64).round() as usize;
        let first = column(low).min(columns - 1);
        let last = column(high).clamp(first + 1, columns);
        // In eighths of a line from below; upward and downward bars meet between two lines.
        let height = |y: f64| {
            let place = self.scales[1].position(y);
            let place = if self.down { 1.0 - place } else { place };
            (place * (8 * rows) as f64).round() as usize
        };
        let ground = (height(self.ground) + 4) / 8 * 8;
        let end = height(value);
        let stands = (value >= self.ground) != self.down;
        let (from, to) = if stands { (ground, end.max(ground)) } else { (end.min(ground), ground) };
        let solid = look.fill == '█';
        for row in 0..rows {
            let below = 8 * (rows - 1 - row);
            let (bottom, top) = (from.clamp(below, below + 8) - below, to.clamp(below, below + 8) - below);
            let mark = match (bottom, top) {
                (bottom, top) if bottom >= top => continue,
                (0, 8) => look.fill,
                (0, top) if solid => EIGHTHS[top],
                (bottom, _) if solid => {
                    if bottom <= 4 {
                        '▀'
                    } else {
                        '▔'
                    }
                }
                (bottom, top) if top - bottom >= 4 => look.fill,
                _ => continue,
            };
            for column in first..last {
                self.canvas.mark(column, row, mark, Some(look.color));
            }
        }
    }

    /// Draws cells with their colors and brightness; if there are more than fit, their means.
    fn draw_grid(
        &mut self,
        grid: Grid,
        cell: impl Fn(usize) -> Option<(Color, f64)>,
    ) -> Result<(), DrawError> {
        let (columns, rows, bounds) = (self.canvas.columns, self.canvas.rows, self.bounds);
        // Returns the cells under each of `parts` parts of an axis.
        let under = |scale: Scale, parts: usize, cells: usize| -> Vec<std::ops::Range<usize>> {
            let part = |i: usize| {
                let [low, middle, high] =
                    [0.0, 0.5, 1.0].map(|end| scale.value((i as f64 + end) / parts as f64) + 0.5);
                let cell = |at: f64| (at.max(0.0) as usize).min(cells);
                match high - low <= 1.0 {
                    true if middle < 0.0 => 0..0,
                    true => cell(middle)..(cell(middle) + 1).min(cells),
                    false => cell(low)..cell(high),
                }
            };
            (0..parts).map(part).collect()
        };
        let across = under(self.scales[0], columns, grid.columns);
        let downward = under(self.scales[1], 2 * rows, grid.rows);
        let mean = |y: usize, x: usize| -> Result<Option<(Color, f64)>, DrawError> {
            let (mut sum, mut bright, mut count) = ([0u64; 3], 0.0, 0u64);
            for row in downward[y].clone() {
                for column in across[x].clone() {
                    bounds.poll(column)?;
                    let Some((color, place)) = cell(row * grid.columns + column) else { continue };
                    sum = [0, 1, 2].map(|c| sum[c] + u64::from(color[c]));
                    (bright, count) = (bright + place, count + 1);
                }
            }
            Ok((count > 0).then(|| (sum.map(|sum| (sum / count) as u8), bright / count as f64)))
        };
        for row in 0..rows {
            for column in 0..columns {
                let both = [mean(2 * row, column)?, mean(2 * row + 1, column)?];
                match (self.screen.colors, both) {
                    (_, [None, None]) => {}
                    (Colors::None, both) => {
                        let found: Vec<f64> = both.iter().flatten().map(|(_, bright)| *bright).collect();
                        let bright = found.iter().sum::<f64>() / found.len() as f64;
                        self.canvas.mark(column, row, shade_character(bright), None);
                    }
                    (_, [Some((upper, _)), lower]) => {
                        self.canvas.half_blocks(column, row, upper, lower.map(|(color, _)| color));
                    }
                    (_, [None, Some((lower, _))]) => self.canvas.mark(column, row, '▄', Some(lower)),
                }
            }
        }
        Ok(())
    }

    /// Draws the horizontal axis with as many labels as fit beside each other.
    fn draw_x_axis(&self, out: &mut String, across: &Ticks, margin: usize) {
        let columns = self.canvas.columns;
        let column = |value: f64| self.dot([value, 0.0]).0 / 2;
        const MAX_LABEL_COLUMNS: usize = 16;
        let labels: Vec<(usize, String)> = across
            .labels
            .iter()
            .map(|(value, text)| (column(*value), truncated(text, MAX_LABEL_COLUMNS)))
            .collect();
        let placed = |step: usize| -> Option<Vec<(usize, &str)>> {
            let mut free = 0;
            let labels = labels.iter().step_by(step).map(|(column, text)| {
                let middle = margin + 2 + column;
                // A label may extend beyond the axis, but not beyond the line.
                let last = self.screen.columns.checked_sub(text.width())?;
                let start = middle.saturating_sub(text.width() / 2).min(last);
                let fits = start >= free;
                free = start + text.width() + 1;
                fits.then_some((start, text.as_str()))
            });
            labels.collect()
        };
        let mut rule: Vec<char> = vec!['─'; columns];
        labels.iter().for_each(|(column, _)| rule[*column] = '┴');
        out.push_str(&format!("{} └{}\n", " ".repeat(margin), rule.iter().collect::<String>()));
        let steps = (0..usize::BITS)
            .flat_map(|power| [1, 2, 5].map(|n: usize| n.saturating_mul(10usize.saturating_pow(power))));
        let step = steps.take_while(|step| *step <= labels.len().max(1)).find_map(placed);
        let (mut line, mut at) = (String::new(), 0);
        for (start, text) in step.unwrap_or_default() {
            line.push_str(&" ".repeat(start - at));
            line.push_str(text);
            at = start + text.width();
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Returns the character of a brightness.
fn shade_character(bright: f64) -> char {
    SHADES[1 + ((bright * 4.0) as usize).min(3)]
}

/// Draws the color bar of a heat map, with its name.
fn draw_color_bar(out: &mut String, label: &str, scale: Scale, screen: Screen) {
    const STEPS: usize = 16;
    let ends = super::distinct_number_texts(&[scale.value(0.0), scale.value(1.0)]);
    let step = |i: usize| {
        let place = (i as f64 + 0.5) / STEPS as f64;
        match screen.colors {
            Colors::None => shade_character(place).to_string(),
            _ => screen.painted("█", pixels::colormap(place)),
        }
    };
    let steps: String = (0..STEPS).map(step).collect();
    let label =
        truncated(label, screen.columns.saturating_sub(STEPS + ends[0].width() + ends[1].width() + 5));
    out.push_str(format!("{} {steps} {}   {label}", ends[0], ends[1]).trim_end());
    out.push('\n');
}
