//! Pictures as shapes on a page: axes with numbers, marks, a legend, the colors of a heat map.
//!
//! Everything that is finite is on the page, and texts are cut to the room that they have. Draws nothing.

use super::font::Font;
use super::scale::{Scale, Ticks};
use super::shape::{Anchor, Color, Frame, HEIGHT, MAX_LINE_WIDTH, Shape, Text};
use super::{Bounds, DrawError, Grid, Layer, Mark, Picture, pixels};

/// Room below the axes, and at the sides where nothing stands.
const BELOW: f64 = 56.0;
const SIDE: f64 = 18.0;
/// Room for the colors of a heat map and their numbers.
const COLORS: f64 = 90.0;

const INK: Color = [0x22; 3];
const PALE: Color = [0x88; 3];
const FAINT: Color = [0xe4; 3];

/// Sizes of letters.
const LARGE: f64 = 17.0;
const NORMAL: f64 = 13.0;
const SMALL: f64 = 11.0;

/// Colors of layers that differ for people who see few colors, too (Okabe and Ito 2008).
const PALETTE: [Color; 8] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x00, 0x00, 0x00],
    [0xb8, 0xa9, 0x00],
];

/// The shapes of a picture, from back to front.
pub fn shapes(picture: &Picture, bounds: &Bounds<'_>) -> Result<Vec<Shape>, DrawError> {
    bounds.poll(0)?;
    let mut chart = Chart::new(picture);
    chart.axes(bounds)?;
    chart.marks(bounds)?;
    chart.colors();
    chart.legend(bounds)?;
    chart.remark();
    Ok(chart.shapes)
}

/// A chart that is being made.
struct Chart<'a> {
    picture: &'a Picture,
    font: Font,
    /// Where the marks are.
    area: Frame,
    scales: [Scale; 2],
    /// The vertical axis grows downwards, as rows do.
    rows: bool,
    across: Ticks,
    upward: Ticks,
    /// What stands beside both axes.
    names: [String; 2],
    /// Where the name of the axis that stands upright is.
    beside: f64,
    shapes: Vec<Shape>,
}

impl<'a> Chart<'a> {
    fn new(picture: &'a Picture) -> Chart<'a> {
        let font = Font::new();
        let scales = picture.scales();
        let grid = picture.grid();
        let rows = grid.is_some();
        let [across, upward] = ticks(picture, scales, [6.0, 5.0]);
        let names = [across.name(&picture.axes[0]), upward.name(&picture.axes[1])];
        let widest = upward.labels.iter().map(|(_, text)| font.width(text, NORMAL)).fold(0.0, f64::max);
        let named = if names[1].is_empty() { 0.0 } else { 26.0 };
        let left = (widest + named + 22.0).clamp(48.0, MAX_LINE_WIDTH / 3.0);
        let top = if picture.title.is_empty() { SIDE } else { 44.0 };
        let right = if picture.heat().is_some() { COLORS } else { SIDE };
        let mut area =
            Frame { x: left, y: top, width: MAX_LINE_WIDTH - left - right, height: HEIGHT - top - BELOW };
        if let Some(Grid { rows, columns }) = grid {
            // Cells are squares, unless that leaves nothing of one side; what is narrow is in the middle.
            let ratio = (columns.max(1) as f64 / rows.max(1) as f64).clamp(0.25, 4.0);
            let room = area.width;
            area.width = room.min(area.height * ratio);
            area.height = area.width / ratio;
            area.x += (room - area.width) / 2.0;
        }
        let beside = (area.x - widest - 30.0).max(18.0);
        let mut chart =
            Chart { picture, font, area, scales, rows, across, upward, names, beside, shapes: Vec::new() };
        if !picture.title.is_empty() {
            let middle = area.x + area.width / 2.0;
            let room = 2.0 * middle.min(MAX_LINE_WIDTH - middle) - SIDE;
            let title = chart.font.fitted(&picture.title, LARGE, room);
            chart.text(middle, 26.0, Anchor::Middle, LARGE, &title);
        }
        chart
    }

    fn x(&self, value: f64) -> f64 {
        self.area.x + self.scales[0].place(value) * self.area.width
    }

    fn y(&self, value: f64) -> f64 {
        let place = self.scales[1].place(value);
        self.area.y + if self.rows { place } else { 1.0 - place } * self.area.height
    }

    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x(x), self.y(y)]
    }

    /// The frame with these two corners.
    fn frame(&self, [x0, x1]: [f64; 2], [y0, y1]: [f64; 2]) -> Frame {
        let (x0, x1, y0, y1) = (self.x(x0), self.x(x1), self.y(y0), self.y(y1));
        Frame { x: x0.min(x1), y: y0.min(y1), width: (x1 - x0).abs(), height: (y1 - y0).abs() }
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, content: &str) {
        let content = content.to_string();
        let text = Text { x, y, anchor, size, color: INK, upward: false, halo: false, content };
        self.shapes.push(Shape::Text(text));
    }

    fn axes(&mut self, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        let Frame { x: left, y: top, width, height } = self.area;
        let (bottom, end) = (top + height, left + width);
        let across = std::mem::take(&mut self.across.labels);
        // A rule through the area goes from a number, none from a name or a cell.
        if self.picture.counts_across().is_none() {
            for (value, _) in &across {
                let x = self.x(*value);
                self.shapes.push(Shape::Rule([x, top], [x, bottom], FAINT));
            }
        }
        for (x, label) in self.spaced(&across, bounds)? {
            self.text(x, bottom + 18.0, Anchor::Middle, NORMAL, &label);
        }
        for (value, label) in std::mem::take(&mut self.upward.labels) {
            let y = self.y(value);
            if !self.rows {
                self.shapes.push(Shape::Rule([left, y], [end, y], FAINT));
            }
            self.text(left - 8.0, y + 4.5, Anchor::End, NORMAL, &label);
        }
        self.shapes.push(Shape::Rule([left, bottom], [end, bottom], INK));
        self.shapes.push(Shape::Rule([left, top], [left, bottom], INK));
        let [x, y] = self.names.clone();
        if !x.is_empty() {
            let middle = left + width / 2.0;
            let room = 2.0 * middle.min(MAX_LINE_WIDTH - middle) - SIDE;
            let name = self.font.fitted(&x, NORMAL, room);
            self.text(middle, bottom + 40.0, Anchor::Middle, NORMAL, &name);
        }
        if !y.is_empty() {
            let content = self.font.fitted(&y, NORMAL, HEIGHT - 2.0 * SIDE);
            // In the middle of its axis, but for what would be cut off.
            let half = self.font.width(&content, NORMAL) / 2.0 + 4.0;
            let y = (top + height / 2.0).clamp(half, HEIGHT - half);
            let anchor = Anchor::Middle;
            let text = Text {
                x: self.beside,
                y,
                anchor,
                size: NORMAL,
                color: INK,
                upward: true,
                halo: false,
                content,
            };
            self.shapes.push(Shape::Text(text));
        }
        Ok(())
    }

    /// Labels below the area with their places: those that have room beside each other, evenly chosen, cut where
    /// even then they are too long.
    fn spaced(&self, labels: &[(f64, String)], bounds: &Bounds<'_>) -> Result<Vec<(f64, String)>, DrawError> {
        const GAP: f64 = 8.0;
        const LEAST: f64 = 110.0;
        let [first, second, ..] = labels else {
            let fitted = |text: &str| self.font.fitted(text, NORMAL, self.area.width);
            return Ok(labels.iter().map(|(value, text)| (self.x(*value), fitted(text))).collect());
        };
        let apart = self.x(second.0) - self.x(first.0);
        let mut widest: f64 = 0.0;
        for (i, (_, text)) in labels.iter().enumerate() {
            bounds.poll(i)?;
            widest = widest.max(self.font.width(text, NORMAL));
        }
        let room = apart.max(widest.min(LEAST) + GAP);
        let step = (room / apart.max(1e-6)).ceil().clamp(1.0, labels.len() as f64) as usize;
        let room = apart * step as f64 - GAP;
        let shown = labels.iter().step_by(step);
        Ok(shown.map(|(value, text)| (self.x(*value), self.font.fitted(text, NORMAL, room))).collect())
    }

    fn marks(&mut self, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        let picture = self.picture;
        let bars = picture.layers.iter().filter(|layer| matches!(layer.mark, Mark::Bars(..))).count();
        let mut bar = 0;
        for (at, layer) in picture.layers.iter().enumerate() {
            self.mark(layer, color(at), [bar, bars], bounds)?;
            bar += usize::from(matches!(layer.mark, Mark::Bars(..)));
        }
        Ok(())
    }

    /// The points of a run with their places on the page.
    fn placed<'p>(
        &self,
        points: impl Iterator<Item = &'p [f64; 2]>,
        bounds: &Bounds<'_>,
    ) -> Result<Vec<[f64; 2]>, DrawError> {
        points.enumerate().map(|(i, point)| bounds.poll(i).map(|()| self.point(*point))).collect()
    }

    /// The shapes of a layer; of layers with bars it is the first number of the second.
    fn mark(
        &mut self,
        layer: &Layer,
        color: Color,
        [bar, bars]: [usize; 2],
        bounds: &Bounds<'_>,
    ) -> Result<(), DrawError> {
        let finite = |point: &[f64; 2]| point.iter().all(|v| v.is_finite());
        match &layer.mark {
            Mark::Line(points) => {
                for run in points.split(|point| !finite(point)).filter(|run| !run.is_empty()) {
                    let mut run = self.placed(run.iter(), bounds)?;
                    // A point between two gaps is seen, too, and a line that goes nowhere.
                    run.dedup();
                    let one = run.len() == 1;
                    self.shapes.push(if one {
                        Shape::Discs(run, color)
                    } else {
                        Shape::Polyline(run, color)
                    });
                }
            }
            Mark::Points(points) => {
                let points = self.placed(points.iter().filter(|point| finite(point)), bounds)?;
                if !points.is_empty() {
                    self.shapes.push(Shape::Discs(points, color));
                }
            }
            Mark::Bars(_, values) => {
                let width = 0.8 / bars.max(1) as f64;
                for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                    bounds.poll(i)?;
                    let low = i as f64 - 0.4 + width * bar as f64;
                    let frame = self.frame([low, low + width], [0.0, *value]);
                    self.shapes.push(Shape::Bar(frame, color));
                }
            }
            Mark::Histogram(bins, _) => {
                for [low, high, count] in bins {
                    let frame = self.frame([*low, *high], [0.0, *count]);
                    self.shapes.push(Shape::Bar(frame, color));
                }
            }
            Mark::Heatmap(grid, values) => self.pixels(*grid, pixels::colors(values)),
            Mark::Image(grid, bytes) => self.pixels(*grid, bytes.clone()),
        }
        Ok(())
    }

    fn pixels(&mut self, grid: Grid, bytes: Vec<u8>) {
        if grid.rows > 0 && grid.columns > 0 {
            let end = |n: usize| [-0.5, n as f64 - 0.5];
            let frame = self.frame(end(grid.columns), end(grid.rows));
            self.shapes.push(Shape::Pixels(frame, grid, bytes));
        }
    }

    /// The colors of a heat map with their values, its name above them.
    fn colors(&mut self) {
        let Some((label, values)) = self.picture.heat() else { return };
        const STEPS: usize = 64;
        let scale = pixels::scale(values);
        let Frame { y: top, height, .. } = self.area;
        let x = self.area.x + self.area.width + 16.0;
        let each = height / STEPS as f64;
        for i in 0..STEPS {
            let y = top + height - each * (i + 1) as f64;
            // A little more than its part, so that no gap is seen between two of them.
            let frame = Frame { x, y, width: 14.0, height: each + if i == 0 { 0.0 } else { 0.5 } };
            self.shapes.push(Shape::Block(frame, pixels::color((i as f64 + 0.5) / STEPS as f64)));
        }
        let ticks = scale.ticks((height / 40.0).clamp(1.0, 5.0));
        let label = ticks.name(label);
        for (value, label) in ticks.labels {
            let y = top + (1.0 - scale.place(value)) * height;
            self.text(x + 19.0, y + 4.5, Anchor::Start, SMALL, &label);
        }
        if !label.is_empty() {
            let label = self.font.fitted(&label, SMALL, MAX_LINE_WIDTH - x - 4.0);
            self.text(x, top - 10.0, Anchor::Start, SMALL, &label);
        }
    }

    /// The names of layers with their colors, where they hide least.
    fn legend(&mut self, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        const LINE: f64 = 18.0;
        const PAD: f64 = 6.0;
        let room = self.area.width / 2.0;
        let named: Vec<(Color, &Mark, String)> = self
            .picture
            .layers
            .iter()
            .enumerate()
            .filter(|(_, layer)| !layer.label.is_empty() && layer.mark.grid().is_none())
            .map(|(at, layer)| (color(at), &layer.mark, self.font.fitted(&layer.label, NORMAL, room)))
            .collect();
        if named.is_empty() {
            return Ok(());
        }
        let widest = named.iter().map(|(.., text)| self.font.width(text, NORMAL)).fold(0.0, f64::max);
        let (width, height) = (widest + 16.0 + 2.0 * PAD, LINE * named.len() as f64 + PAD);
        let Frame { x: left, y: top, .. } = self.area;
        let (right, low) = (left + self.area.width - width - 4.0, top + self.area.height - height - 4.0);
        let middle = left + (self.area.width - width) / 2.0;
        let (left, top) = (left + 4.0, top + 4.0);
        let places = [(right, top), (left, top), (right, low), (left, low), (middle, top), (middle, low)];
        // The first of those that hide as little as any: above on the right, if nothing is there.
        let (mut x, mut y, mut least) = (right, top, usize::MAX);
        for (other_x, other_y) in places {
            let hidden = self.covered(Frame { x: other_x, y: other_y, width, height }, bounds)?;
            if hidden < least {
                (x, y, least) = (other_x, other_y, hidden);
            }
        }
        for (line, (color, mark, label)) in named.into_iter().enumerate() {
            let y = y + LINE * (line + 1) as f64 - 3.0;
            let (left, middle) = (x + PAD, y - 4.5);
            self.shapes.push(match mark {
                Mark::Line(_) => Shape::Polyline(vec![[left, middle], [left + 10.0, middle]], color),
                Mark::Points(_) => Shape::Discs(vec![[left + 5.0, middle]], color),
                _ => Shape::Block(Frame { x: left, y: middle - 5.0, width: 10.0, height: 10.0 }, color),
            });
            let (x, anchor) = (x + PAD + 16.0, Anchor::Start);
            let text =
                Text { x, y, anchor, size: NORMAL, color: INK, upward: false, halo: true, content: label };
            self.shapes.push(Shape::Text(text));
        }
        Ok(())
    }

    /// How much of what is drawn lies in a frame: points of lines and discs, and bars.
    fn covered(&self, frame: Frame, bounds: &Bounds<'_>) -> Result<usize, DrawError> {
        let inside = |p: &[f64; 2]| {
            (frame.x..=frame.x + frame.width).contains(&p[0])
                && (frame.y..=frame.y + frame.height).contains(&p[1])
        };
        // A line passes through a frame in which none of its points is.
        let passed = |pair: &[[f64; 2]]| {
            const PARTS: u32 = 8;
            (0..PARTS)
                .filter(|i| {
                    let part = f64::from(*i) / f64::from(PARTS);
                    inside(&[0, 1].map(|c| pair[0][c] + (pair[1][c] - pair[0][c]) * part))
                })
                .count()
        };
        let of = |shape: &Shape| match shape {
            Shape::Polyline(points, _) => points.windows(2).map(passed).sum(),
            Shape::Discs(points, _) => points.iter().filter(|point| inside(point)).count() * 8,
            Shape::Bar(bar, _) => {
                let apart = bar.x > frame.x + frame.width
                    || bar.x + bar.width < frame.x
                    || bar.y > frame.y + frame.height
                    || bar.y + bar.height < frame.y;
                usize::from(!apart) * 8
            }
            _ => 0,
        };
        let mut all = 0;
        for (i, shape) in self.shapes.iter().enumerate() {
            bounds.poll(i)?;
            all += of(shape);
        }
        Ok(all)
    }

    fn remark(&mut self) {
        let remark = self.picture.remark();
        if remark.is_empty() {
            return;
        }
        let nothing = self.picture.layers.iter().all(|layer| layer.mark.is_empty());
        let (x, y) = (self.area.x + self.area.width / 2.0, self.area.y + self.area.height / 2.0);
        let (x, y, anchor, size) = match nothing {
            true => (x, y, Anchor::Middle, NORMAL),
            false => (MAX_LINE_WIDTH - 8.0, HEIGHT - 6.0, Anchor::End, SMALL),
        };
        let text = Text { x, y, anchor, size, color: PALE, upward: false, halo: false, content: remark };
        self.shapes.push(Shape::Text(text));
    }
}

/// The color of a layer.
fn color(at: usize) -> Color {
    PALETTE[at % PALETTE.len()]
}

/// What stands along both axes: numbers, some so many; names of bars; where there is nothing but bars or cells, which
/// one it is.
pub fn ticks(picture: &Picture, [x, y]: [Scale; 2], wanted: [f64; 2]) -> [Ticks; 2] {
    let counted = |labels| Ticks { labels, base: None };
    let upward = match picture.grid() {
        Some(grid) => counted(cells(grid.rows)),
        None => y.ticks(wanted[1]),
    };
    let across = picture.counts_across().map_or_else(|| x.ticks(wanted[0]), counted);
    [across, upward]
}

impl Picture {
    /// The rows and columns of the first layer that has some.
    pub(super) fn grid(&self) -> Option<Grid> {
        self.layers.iter().find_map(|layer| layer.mark.grid())
    }

    /// What stands below cells or bars; where there are others, below those with names.
    fn counts_across(&self) -> Option<Vec<(f64, String)>> {
        if let Some(grid) = self.grid() {
            return Some(cells(grid.columns));
        }
        let bars = |layer: &'_ Layer| match &layer.mark {
            Mark::Bars(_, values) => Some(values.len()),
            _ => None,
        };
        let named = self.layers.iter().find_map(|layer| match &layer.mark {
            Mark::Bars(names, _) if !names.is_empty() => Some(names),
            _ => None,
        });
        if let Some(names) = named {
            return Some(names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect());
        }
        let counts: Vec<usize> = self.layers.iter().map(bars).collect::<Option<_>>()?;
        counts.into_iter().max().map(cells)
    }
}

/// Numbers of cells, at round distances if there are many.
fn cells(count: usize) -> Vec<(f64, String)> {
    const MOST: usize = 10;
    let mut power = 1usize;
    let step = loop {
        let step =
            [1, 2, 5].map(|n| power.saturating_mul(n)).into_iter().find(|step| count.div_ceil(*step) <= MOST);
        if let Some(step) = step {
            break step;
        }
        power = power.saturating_mul(10);
    };
    (0..count).step_by(step).map(|i| (i as f64, i.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cells() {
        let texts = |n| cells(n).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(0), Vec::<String>::new());
        assert_eq!(texts(3), ["0", "1", "2"]);
        assert_eq!(texts(11), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(40), ["0", "5", "10", "15", "20", "25", "30", "35"]);
        assert!((1..=10).contains(&cells(usize::MAX >> 1).len()));
    }
}
