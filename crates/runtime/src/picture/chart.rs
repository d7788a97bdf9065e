//! Layout of pictures on a page: axes with numbers, marks, a legend, the color bar of a heat map.
//!
//! All finite values are on the page, and texts are truncated to their room. Draws nothing.

use super::font::Font;
use super::scale::{Scale, Ticks};
use super::shape::{Anchor, Color, Frame, PAGE_HEIGHT, PAGE_WIDTH, Shape, Text};
use super::{Bounds, DrawError, Grid, Layer, Mark, Picture, pixels};

/// The margin below the axes.
const BOTTOM_MARGIN: f64 = 56.0;
/// The margin at sides without labels.
pub const SIDE_MARGIN: f64 = 18.0;
/// The width of the color bar with its numbers.
const COLOR_BAR_WIDTH: f64 = 90.0;

/// The color of texts and axes.
pub const TEXT_COLOR: Color = [0x22; 3];
/// The color of the remark.
const REMARK_COLOR: Color = [0x88; 3];
/// The color of grid lines.
const GRID_COLOR: Color = [0xe4; 3];

/// The font size of the title.
pub const TITLE_SIZE: f64 = 17.0;
/// The font size of labels.
pub const LABEL_SIZE: f64 = 13.0;
/// The font size of the color bar and the remark.
const SMALL_SIZE: f64 = 11.0;

/// Colors of layers that color-blind readers can distinguish (Okabe and Ito 2008).
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

/// Returns the shapes of a picture, from back to front.
pub fn shapes(picture: &Picture, bounds: &Bounds<'_>) -> Result<Vec<Shape>, DrawError> {
    bounds.poll(0)?;
    let mut chart = Chart::new(picture, 0.0);
    chart.push_axes(bounds)?;
    chart.push_marks(bounds)?;
    let entries = chart.legend_entries();
    let size = chart.legend_size(&entries);
    let mut place = None;
    if !entries.is_empty() {
        place = chart.free_legend_place(size, bounds)?;
        if place.is_none() {
            // Where it would hide marks everywhere, it stands beside the axes, which leave it room.
            chart = Chart::new(picture, size[0] + LEGEND_GAP);
            chart.push_axes(bounds)?;
            chart.push_marks(bounds)?;
        }
    }
    chart.push_color_bar();
    let beside = [PAGE_WIDTH - SIDE_MARGIN - size[0] + 2.0 * LEGEND_GAP, chart.area.y];
    chart.push_legend(entries, place.unwrap_or(beside));
    chart.push_remark();
    Ok(chart.shapes)
}

/// Returns a remark at the lower left of a page of this height.
pub fn left_remark(content: String, height: f64) -> Shape {
    let (x, y, anchor) = (8.0, height - 6.0, Anchor::Start);
    Shape::Text(Text {
        x,
        y,
        anchor,
        size: SMALL_SIZE,
        color: REMARK_COLOR,
        upward: false,
        halo: false,
        content,
    })
}

/// The distance of a legend from axes that it stands beside.
const LEGEND_GAP: f64 = 6.0;
/// The height of a line of a legend.
const LEGEND_LINE: f64 = 18.0;
/// The distance of the entries of a legend from its edges.
const LEGEND_PAD: f64 = 6.0;

/// A line of a legend: the color, the mark and the name of a layer.
type LegendEntry<'a> = (Color, &'a Mark, String);

/// A chart under construction.
struct Chart<'a> {
    picture: &'a Picture,
    font: Font,
    /// The area of the marks.
    area: Frame,
    scales: [Scale; 2],
    /// True if the vertical axis points downward, as rows do.
    y_down: bool,
    x_ticks: Ticks,
    y_ticks: Ticks,
    /// The names of both axes.
    names: [String; 2],
    /// The horizontal position of the name of the vertical axis.
    y_name_x: f64,
    shapes: Vec<Shape>,
}

impl<'a> Chart<'a> {
    /// Lays out the axes of a picture, with room for a legend of this width beside them.
    fn new(picture: &'a Picture, legend_room: f64) -> Chart<'a> {
        let font = Font::new();
        let scales = picture.scales();
        let grid = picture.grid();
        let rows = grid.is_some();
        let [across, upward] = ticks(picture, scales, [6.0, 5.0]);
        let names = [across.name(&picture.axes[0]), upward.name(&picture.axes[1])];
        let widest = upward.labels.iter().map(|(_, text)| font.width(text, LABEL_SIZE)).fold(0.0, f64::max);
        let named = if names[1].is_empty() { 0.0 } else { 26.0 };
        let left = (widest + named + 22.0).clamp(48.0, PAGE_WIDTH / 3.0);
        let top = if picture.title.is_empty() { SIDE_MARGIN } else { 44.0 };
        let right = if picture.heatmap().is_some() { COLOR_BAR_WIDTH } else { SIDE_MARGIN } + legend_room;
        let mut area = Frame {
            x: left,
            y: top,
            width: PAGE_WIDTH - left - right,
            height: PAGE_HEIGHT - top - BOTTOM_MARGIN,
        };
        if let Some(Grid { rows, columns }) = grid {
            // Cells are squares, within bounds on the aspect ratio; a narrow area is centered.
            let ratio = (columns.max(1) as f64 / rows.max(1) as f64).clamp(0.25, 4.0);
            let room = area.width;
            area.width = room.min(area.height * ratio);
            area.height = area.width / ratio;
            area.x += (room - area.width) / 2.0;
        }
        let beside = (area.x - widest - 30.0).max(18.0);
        let mut chart = Chart {
            picture,
            font,
            area,
            scales,
            y_down: rows,
            x_ticks: across,
            y_ticks: upward,
            names,
            y_name_x: beside,
            shapes: Vec::new(),
        };
        if !picture.title.is_empty() {
            let middle = area.x + area.width / 2.0;
            let room = 2.0 * middle.min(PAGE_WIDTH - middle) - SIDE_MARGIN;
            let title = chart.font.truncated(&picture.title, TITLE_SIZE, room);
            chart.push_text(middle, 26.0, Anchor::Middle, TITLE_SIZE, &title);
        }
        chart
    }

    /// Returns the horizontal position of a value.
    fn x(&self, value: f64) -> f64 {
        self.area.x + self.scales[0].position(value) * self.area.width
    }

    /// Returns the vertical position of a value.
    fn y(&self, value: f64) -> f64 {
        let place = self.scales[1].position(value);
        self.area.y + if self.y_down { place } else { 1.0 - place } * self.area.height
    }

    /// Returns the position of a point.
    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x(x), self.y(y)]
    }

    /// Returns the frame between two corners.
    fn frame(&self, [x0, x1]: [f64; 2], [y0, y1]: [f64; 2]) -> Frame {
        let (x0, x1, y0, y1) = (self.x(x0), self.x(x1), self.y(y0), self.y(y1));
        Frame { x: x0.min(x1), y: y0.min(y1), width: (x1 - x0).abs(), height: (y1 - y0).abs() }
    }

    /// Adds a text.
    fn push_text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, content: &str) {
        let content = content.to_string();
        let text = Text { x, y, anchor, size, color: TEXT_COLOR, upward: false, halo: false, content };
        self.shapes.push(Shape::Text(text));
    }

    /// Adds the axes with their ticks and names.
    fn push_axes(&mut self, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        let Frame { x: left, y: top, width, height } = self.area;
        let (bottom, end) = (top + height, left + width);
        let across = std::mem::take(&mut self.x_ticks.labels);
        // Grid lines are drawn at numbers, not at names or cells.
        if self.picture.category_ticks().is_none() {
            for (value, _) in &across {
                let x = self.x(*value);
                self.shapes.push(Shape::Rule([x, top], [x, bottom], GRID_COLOR));
            }
        }
        for (x, label) in self.spaced_labels(&across, bounds)? {
            self.push_text(x, bottom + 18.0, Anchor::Middle, LABEL_SIZE, &label);
        }
        for (value, label) in std::mem::take(&mut self.y_ticks.labels) {
            let y = self.y(value);
            if !self.y_down {
                self.shapes.push(Shape::Rule([left, y], [end, y], GRID_COLOR));
            }
            self.push_text(left - 8.0, y + 4.5, Anchor::End, LABEL_SIZE, &label);
        }
        self.shapes.push(Shape::Rule([left, bottom], [end, bottom], TEXT_COLOR));
        self.shapes.push(Shape::Rule([left, top], [left, bottom], TEXT_COLOR));
        let [x, y] = self.names.clone();
        if !x.is_empty() {
            let middle = left + width / 2.0;
            let room = 2.0 * middle.min(PAGE_WIDTH - middle) - SIDE_MARGIN;
            let name = self.font.truncated(&x, LABEL_SIZE, room);
            self.push_text(middle, bottom + 40.0, Anchor::Middle, LABEL_SIZE, &name);
        }
        if !y.is_empty() {
            let content = self.font.truncated(&y, LABEL_SIZE, PAGE_HEIGHT - 2.0 * SIDE_MARGIN);
            // Centered at its axis, but within the page.
            let half = self.font.width(&content, LABEL_SIZE) / 2.0 + 4.0;
            let y = (top + height / 2.0).clamp(half, PAGE_HEIGHT - half);
            let anchor = Anchor::Middle;
            let text = Text {
                x: self.y_name_x,
                y,
                anchor,
                size: LABEL_SIZE,
                color: TEXT_COLOR,
                upward: true,
                halo: false,
                content,
            };
            self.shapes.push(Shape::Text(text));
        }
        Ok(())
    }

    /// Selects labels below the area: evenly spaced ones that fit beside each other, truncated if
    /// even those are too long.
    fn spaced_labels(
        &self,
        labels: &[(f64, String)],
        bounds: &Bounds<'_>,
    ) -> Result<Vec<(f64, String)>, DrawError> {
        const GAP: f64 = 8.0;
        const MIN_LABEL_WIDTH: f64 = 110.0;
        let [first, second, ..] = labels else {
            let fitted = |text: &str| self.font.truncated(text, LABEL_SIZE, self.area.width);
            return Ok(labels.iter().map(|(value, text)| (self.x(*value), fitted(text))).collect());
        };
        let apart = self.x(second.0) - self.x(first.0);
        let mut widest: f64 = 0.0;
        for (i, (_, text)) in labels.iter().enumerate() {
            bounds.poll(i)?;
            widest = widest.max(self.font.width(text, LABEL_SIZE));
        }
        let room = apart.max(widest.min(MIN_LABEL_WIDTH) + GAP);
        let step = (room / apart.max(1e-6)).ceil().clamp(1.0, labels.len() as f64) as usize;
        let room = apart * step as f64 - GAP;
        let shown = labels.iter().step_by(step);
        Ok(shown.map(|(value, text)| (self.x(*value), self.font.truncated(text, LABEL_SIZE, room))).collect())
    }

    /// Adds the marks of all layers.
    fn push_marks(&mut self, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        let picture = self.picture;
        let bars = picture.layers.iter().filter(|layer| matches!(layer.mark, Mark::Bars(..))).count();
        let mut bar = 0;
        for (at, layer) in picture.layers.iter().enumerate() {
            self.push_mark(layer, layer_color(at), [bar, bars], bounds)?;
            bar += usize::from(matches!(layer.mark, Mark::Bars(..)));
        }
        Ok(())
    }

    /// Returns the positions of points on the page.
    fn page_points<'p>(
        &self,
        points: impl Iterator<Item = &'p [f64; 2]>,
        bounds: &Bounds<'_>,
    ) -> Result<Vec<[f64; 2]>, DrawError> {
        points.enumerate().map(|(i, point)| bounds.poll(i).map(|()| self.point(*point))).collect()
    }

    /// Adds the shapes of a layer, which is number `bar` of `bars` layers with bars.
    fn push_mark(
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
                    let mut run = self.page_points(run.iter(), bounds)?;
                    // A single point between two gaps, and a line of no length, is drawn as a disc.
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
                let points = self.page_points(points.iter().filter(|point| finite(point)), bounds)?;
                if !points.is_empty() {
                    self.shapes.push(Shape::Discs(points, color));
                }
            }
            Mark::ErrorBars(bars) => {
                // Half the width of the ends of a bar.
                const END: f64 = 5.0;
                let mut middles = Vec::new();
                for (i, [x, y, low, high]) in bars.iter().enumerate() {
                    bounds.poll(i)?;
                    if ![x, y, low, high].iter().all(|v| v.is_finite()) {
                        continue;
                    }
                    let (x, low, high) = (self.x(*x), self.y(*low), self.y(*high));
                    let ends = [
                        [x - END, low],
                        [x + END, low],
                        [x, low],
                        [x, high],
                        [x - END, high],
                        [x + END, high],
                    ];
                    self.shapes.push(Shape::Polyline(ends.to_vec(), color));
                    middles.push([x, self.y(*y)]);
                }
                if !middles.is_empty() {
                    self.shapes.push(Shape::Discs(middles, color));
                }
            }
            Mark::Bars(_, values) => {
                let width = 0.8 / bars.max(1) as f64;
                for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                    bounds.poll(i)?;
                    let low = i as f64 - 0.4 + width * bar as f64;
                    let frame = self.frame([low, low + width], [self.picture.ground(), *value]);
                    self.shapes.push(Shape::Bar(frame, color));
                }
            }
            Mark::Histogram(bins, _) => {
                for [low, high, count] in bins {
                    let frame = self.frame([*low, *high], [self.picture.ground(), *count]);
                    self.shapes.push(Shape::Bar(frame, color));
                }
            }
            Mark::Heatmap(grid, values) => self.push_pixels(*grid, pixels::heatmap_pixels(values)),
            Mark::Image(grid, bytes) => self.push_pixels(*grid, bytes.clone()),
        }
        Ok(())
    }

    /// Adds the pixels of a heat map or an image.
    fn push_pixels(&mut self, grid: Grid, bytes: Vec<u8>) {
        if grid.rows > 0 && grid.columns > 0 {
            let end = |n: usize| [-0.5, n as f64 - 0.5];
            let frame = self.frame(end(grid.columns), end(grid.rows));
            self.shapes.push(Shape::Pixels(frame, grid, bytes));
        }
    }

    /// Adds the color bar of a heat map, with its name above.
    fn push_color_bar(&mut self) {
        let Some((label, values)) = self.picture.heatmap() else { return };
        const STEPS: usize = 64;
        let scale = pixels::heatmap_scale(values);
        let Frame { y: top, height, .. } = self.area;
        let x = self.area.x + self.area.width + 16.0;
        let each = height / STEPS as f64;
        for i in 0..STEPS {
            let y = top + height - each * (i + 1) as f64;
            // The blocks overlap slightly, so that no gap is visible.
            let frame = Frame { x, y, width: 14.0, height: each + if i == 0 { 0.0 } else { 0.5 } };
            self.shapes.push(Shape::Block(frame, pixels::colormap((i as f64 + 0.5) / STEPS as f64)));
        }
        let ticks = scale.ticks((height / 40.0).clamp(1.0, 5.0));
        let label = ticks.name(label);
        for (value, label) in ticks.labels {
            let y = top + (1.0 - scale.position(value)) * height;
            self.push_text(x + 19.0, y + 4.5, Anchor::Start, SMALL_SIZE, &label);
        }
        if !label.is_empty() {
            let label = self.font.truncated(&label, SMALL_SIZE, PAGE_WIDTH - x - 4.0);
            self.push_text(x, top - 10.0, Anchor::Start, SMALL_SIZE, &label);
        }
    }

    /// Returns the lines of the legend.
    fn legend_entries(&self) -> Vec<LegendEntry<'a>> {
        let room = self.area.width / 2.0;
        let picture = self.picture;
        let named = picture.layers.iter().enumerate();
        named
            .filter(|(_, layer)| !layer.label.is_empty() && layer.mark.grid().is_none())
            .map(|(at, layer)| {
                (layer_color(at), &layer.mark, self.font.truncated(&layer.label, LABEL_SIZE, room))
            })
            .collect()
    }

    /// Returns the width and the height of a legend.
    fn legend_size(&self, entries: &[LegendEntry<'_>]) -> [f64; 2] {
        let widest = entries.iter().map(|(.., text)| self.font.width(text, LABEL_SIZE)).fold(0.0, f64::max);
        [widest + 16.0 + 2.0 * LEGEND_PAD, LEGEND_LINE * entries.len() as f64 + LEGEND_PAD]
    }

    /// Returns a place within the axes where a legend of this size hides no mark: the upper right,
    /// if nothing is there, and otherwise another corner or the middle of a side. Over cells, which
    /// fill the axes, it is the place where it hides the fewest other marks.
    fn free_legend_place(
        &self,
        [width, height]: [f64; 2],
        bounds: &Bounds<'_>,
    ) -> Result<Option<[f64; 2]>, DrawError> {
        let Frame { x: left, y: top, .. } = self.area;
        let (right, low) = (left + self.area.width - width - 4.0, top + self.area.height - height - 4.0);
        let middle = left + (self.area.width - width) / 2.0;
        let (left, top) = (left + 4.0, top + 4.0);
        let places = [(right, top), (left, top), (right, low), (left, low), (middle, top), (middle, low)];
        let mut best = ([right, top], usize::MAX);
        for (x, y) in places {
            let hidden = self.covered_marks(Frame { x, y, width, height }, bounds)?;
            if hidden < best.1 {
                best = ([x, y], hidden);
            }
        }
        Ok((best.1 == 0 || self.picture.grid().is_some()).then_some(best.0))
    }

    /// Adds the legend at a place.
    fn push_legend(&mut self, entries: Vec<LegendEntry<'_>>, [x, y]: [f64; 2]) {
        for (line, (color, mark, label)) in entries.into_iter().enumerate() {
            let y = y + LEGEND_LINE * (line + 1) as f64 - 3.0;
            let (left, middle) = (x + LEGEND_PAD, y - 4.5);
            let key = match mark {
                Mark::Line(_) => Shape::Polyline(vec![[left, middle], [left + 10.0, middle]], color),
                Mark::Points(_) => Shape::Discs(vec![[left + 5.0, middle]], color),
                Mark::ErrorBars(_) => {
                    self.shapes.push(Shape::Discs(vec![[left + 5.0, middle]], color));
                    Shape::Polyline(vec![[left + 5.0, middle - 6.0], [left + 5.0, middle + 6.0]], color)
                }
                _ => Shape::Block(Frame { x: left, y: middle - 5.0, width: 10.0, height: 10.0 }, color),
            };
            self.shapes.push(key);
            let (x, anchor) = (x + LEGEND_PAD + 16.0, Anchor::Start);
            let text = Text {
                x,
                y,
                anchor,
                size: LABEL_SIZE,
                color: TEXT_COLOR,
                upward: false,
                halo: true,
                content: label,
            };
            self.shapes.push(Shape::Text(text));
        }
    }

    /// Returns the weight of the marks in a frame: points of lines and discs, and bars.
    fn covered_marks(&self, frame: Frame, bounds: &Bounds<'_>) -> Result<usize, DrawError> {
        let inside = |p: &[f64; 2]| {
            (frame.x..=frame.x + frame.width).contains(&p[0])
                && (frame.y..=frame.y + frame.height).contains(&p[1])
        };
        // A line may pass through a frame that contains none of its points.
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

    /// Adds the remark.
    fn push_remark(&mut self) {
        let remark = self.picture.remark();
        if remark.is_empty() {
            return;
        }
        let nothing = self.picture.layers.iter().all(|layer| layer.mark.is_empty());
        let (x, y) = (self.area.x + self.area.width / 2.0, self.area.y + self.area.height / 2.0);
        let (x, y, anchor, size) = match nothing {
            true => (x, y, Anchor::Middle, LABEL_SIZE),
            false => (PAGE_WIDTH - 8.0, PAGE_HEIGHT - 6.0, Anchor::End, SMALL_SIZE),
        };
        let text =
            Text { x, y, anchor, size, color: REMARK_COLOR, upward: false, halo: false, content: remark };
        self.shapes.push(Shape::Text(text));
    }
}

/// Returns the color of a layer.
fn layer_color(at: usize) -> Color {
    PALETTE[at % PALETTE.len()]
}

/// Returns the ticks of both axes: about `wanted` numbers; names of bars; or indices, where there
/// is nothing but bars or cells.
pub fn ticks(picture: &Picture, [x, y]: [Scale; 2], wanted: [f64; 2]) -> [Ticks; 2] {
    let counted = |labels| Ticks { labels, base: None };
    let upward = match picture.grid() {
        Some(grid) => counted(index_ticks(grid.rows)),
        None if picture.logarithmic[1] => y.log_ticks(wanted[1]),
        None => y.ticks(wanted[1]),
    };
    let numbers = || if picture.logarithmic[0] { x.log_ticks(wanted[0]) } else { x.ticks(wanted[0]) };
    let across = picture.category_ticks().map_or_else(numbers, counted);
    [across, upward]
}

impl Picture {
    /// Returns the rows and columns of the first layer that has some.
    pub(super) fn grid(&self) -> Option<Grid> {
        self.layers.iter().find_map(|layer| layer.mark.grid())
    }

    /// Returns the ticks below cells or bars; with other marks, those below named bars.
    fn category_ticks(&self) -> Option<Vec<(f64, String)>> {
        if let Some(grid) = self.grid() {
            return Some(index_ticks(grid.columns));
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
        counts.into_iter().max().map(index_ticks)
    }
}

/// Returns the indices of cells, at round distances if there are many.
fn index_ticks(count: usize) -> Vec<(f64, String)> {
    const MAX_INDEX_TICKS: usize = 10;
    let mut power = 1usize;
    let step = loop {
        let step = [1, 2, 5]
            .map(|n| power.saturating_mul(n))
            .into_iter()
            .find(|step| count.div_ceil(*step) <= MAX_INDEX_TICKS);
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
        let texts = |n| index_ticks(n).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(0), Vec::<String>::new());
        assert_eq!(texts(3), ["0", "1", "2"]);
        assert_eq!(texts(11), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(40), ["0", "5", "10", "15", "20", "25", "30", "35"]);
        assert!((1..=10).contains(&index_ticks(usize::MAX >> 1).len()));
    }
}
