//! Rasterization of charts to PNG files.
//!
//! There are two pixels for each unit of the page, and one on the page of a large grid. The result
//! is the same on every machine: the font is embedded, and nothing depends on features of the
//! processor.

use super::font::Font;
use super::shape::{
    Anchor, BAR_OPACITY, Color, DISC_OPACITY, DISC_RADIUS, Frame, HALO_WIDTH, STROKE_WIDTH, Shape, Text,
    rim_width,
};
use super::sheet::{Sheet, sheet};
use super::{Bounds, DrawError, Grid, Picture, chart, pixels};
use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// The number of pixels of a unit of the page.
const PIXELS_PER_UNIT: f64 = 2.0;
/// The largest number of pictures along a side of a grid that has so many; a larger one has one.
const MAX_FINE_CELLS: usize = 3;

/// Returns a picture as a PNG file.
pub fn png(picture: &Picture, bounds: &Bounds<'_>) -> Result<Vec<u8>, DrawError> {
    let Sheet { shapes, size, cells } = sheet(picture, bounds)?;
    let per_unit = if cells <= MAX_FINE_CELLS { PIXELS_PER_UNIT } else { 1.0 };
    let [columns, rows] = size.map(|length| (length * per_unit) as usize);
    let no_page = || DrawError::Unsupported("there is no page of this size".to_string());
    let mut page = Page::new(rows, columns, per_unit).ok_or_else(no_page)?;
    for (i, shape) in shapes.iter().enumerate() {
        bounds.poll(i)?;
        page.draw_shape(shape, bounds)?;
    }
    if let Some(remark) = missing_characters_remark(&page.font, &shapes) {
        page.draw_shape(&chart::left_remark(remark, size[1]), bounds)?;
    }
    // The page is opaque, so premultiplied colors are plain colors.
    let colors: Vec<u8> =
        page.pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    pixels::encode_png(Grid { rows, columns }, &colors, bounds)
}

/// Returns the remark that texts have characters that the font lacks.
fn missing_characters_remark(font: &Font, shapes: &[Shape]) -> Option<String> {
    let missing = shapes.iter().map(|shape| match shape {
        Shape::Text(text) => font.missing(&text.content),
        _ => 0,
    });
    match missing.sum::<usize>() {
        0 => None,
        1 => Some("1 character is not in the font of PNG: save as .svg".to_string()),
        n => Some(format!("{n} characters are not in the font of PNG: save as .svg")),
    }
}

/// A page of pixels.
struct Page {
    pixels: Pixmap,
    font: Font,
    /// The number of pixels of a unit.
    per_unit: f64,
}

/// Returns a paint of a color with an opacity.
fn paint(color: Color, cover: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let [r, g, b] = color;
    paint.set_color_rgba8(r, g, b, (cover * 255.0).round() as u8);
    paint
}

/// Returns a stroke of a width.
fn stroke(width: f64) -> Stroke {
    Stroke { width: width as f32, line_join: LineJoin::Round, ..Stroke::default() }
}

impl Page {
    /// Creates a white page; `None` if it is too large.
    fn new(rows: usize, columns: usize, per_unit: f64) -> Option<Page> {
        let mut pixels = Pixmap::new(u32::try_from(columns).ok()?, u32::try_from(rows).ok()?)?;
        pixels.fill(tiny_skia::Color::WHITE);
        Some(Page { pixels, font: Font::new(), per_unit })
    }

    /// Returns the transformation from units of the page to pixels.
    fn transform(&self) -> Transform {
        Transform::from_scale(self.per_unit as f32, self.per_unit as f32)
    }

    /// Fills a path.
    fn fill(&mut self, path: &Path, color: Color, cover: f64, place: Transform) {
        self.pixels.fill_path(path, &paint(color, cover), FillRule::Winding, place, None);
    }

    /// Draws a shape.
    fn draw_shape(&mut self, shape: &Shape, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        match shape {
            Shape::Rule(from, to, color) => self.draw_rule(*from, *to, *color),
            Shape::Polyline(points, color) => self.draw_polyline(points, *color, bounds)?,
            Shape::Discs(points, color) => {
                for (i, point) in points.iter().enumerate() {
                    bounds.poll(i)?;
                    self.draw_disc(*point, *color);
                }
            }
            Shape::Bar(frame, color) => {
                let Some(rect) = rect(frame) else { return Ok(()) };
                let path = PathBuilder::from_rect(rect);
                self.fill(&path, *color, BAR_OPACITY, self.transform());
                if rim_width(frame) > 0.0 {
                    self.pixels.stroke_path(
                        &path,
                        &paint([255; 3], 1.0),
                        &stroke(rim_width(frame)),
                        self.transform(),
                        None,
                    );
                }
            }
            Shape::Block(frame, color) => {
                if let Some(rect) = rect(frame) {
                    self.fill(&PathBuilder::from_rect(rect), *color, 1.0, self.transform());
                }
            }
            Shape::Text(text) => self.draw_text(text),
            Shape::Pixels(frame, grid, bytes) => self.draw_cells(frame, *grid, bytes, bounds)?,
        }
        Ok(())
    }

    /// Draws a disc. There may be a million of them, so pixels are blended here directly, with
    /// antialiasing at the edge.
    fn draw_disc(&mut self, center: [f64; 2], color: Color) {
        let [x, y] = center.map(|v| v * self.per_unit);
        let (radius, cover) = (DISC_RADIUS * self.per_unit, DISC_OPACITY);
        let (columns, rows) = (self.pixels.width() as usize, self.pixels.height() as usize);
        // Negative positions saturate at 0.
        let span =
            |at: f64, most: usize| (at - radius - 1.0) as usize..((at + radius + 2.0) as usize).min(most);
        let data = self.pixels.data_mut();
        for row in span(y, rows) {
            for column in span(x, columns) {
                let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
                let part = (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0) * cover;
                if part > 0.0 {
                    let at = 4 * (row * columns + column);
                    for (old, new) in data[at..at + 3].iter_mut().zip(color) {
                        *old = (f64::from(*old) * (1.0 - part) + f64::from(new) * part).round() as u8;
                    }
                }
            }
        }
    }

    /// Draws a thin line along an axis, on whole pixels, so that it is sharp.
    fn draw_rule(&mut self, from: [f64; 2], to: [f64; 2], color: Color) {
        let [[x0, y0], [x1, y1]] = [from, to].map(|end| end.map(|v| (v * self.per_unit).round() as f32));
        let half = self.per_unit as f32 / 2.0;
        let rect = match x0 == x1 {
            true => Rect::from_ltrb(x0 - half, y0.min(y1), x0 + half, y0.max(y1)),
            false => Rect::from_ltrb(x0.min(x1), y0 - half, x0.max(x1), y0 + half),
        };
        if let Some(rect) = rect {
            self.pixels.fill_rect(rect, &paint(color, 1.0), Transform::identity(), None);
        }
    }

    /// Draws a line through points.
    fn draw_polyline(
        &mut self,
        points: &[[f64; 2]],
        color: Color,
        bounds: &Bounds<'_>,
    ) -> Result<(), DrawError> {
        // In pieces that share their ends, since the cost of a stroke grows faster than its length.
        const POINTS_PER_PATH: usize = 1_000;
        let mut start = 0;
        while start + 1 < points.len() {
            bounds.poll(0)?;
            let end = (start + POINTS_PER_PATH).min(points.len());
            let mut path = PathBuilder::new();
            for (i, [x, y]) in points[start..end].iter().enumerate() {
                match i {
                    0 => path.move_to(*x as f32, *y as f32),
                    _ => path.line_to(*x as f32, *y as f32),
                }
            }
            if let Some(path) = path.finish() {
                self.pixels.stroke_path(
                    &path,
                    &paint(color, 1.0),
                    &stroke(STROKE_WIDTH),
                    self.transform(),
                    None,
                );
            }
            start = end - 1;
        }
        Ok(())
    }

    /// Draws a text.
    fn draw_text(&mut self, text: &Text) {
        let Some(path) = self.font.outline(&text.content, text.size) else { return };
        let width = self.font.width(&text.content, text.size);
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let turn = if text.upward { -90.0 } else { 0.0 };
        let place = self
            .transform()
            .pre_translate(text.x as f32, text.y as f32)
            .pre_concat(Transform::from_rotate(turn))
            .pre_translate(-back as f32, 0.0);
        if text.halo {
            self.pixels.stroke_path(&path, &paint([255; 3], 1.0), &stroke(HALO_WIDTH), place, None);
        }
        self.fill(&path, text.color, 1.0, place);
    }

    /// Draws cells: each pixel of the page is the mean of the cells that it covers, with sharp
    /// edges.
    fn draw_cells(
        &mut self,
        frame: &Frame,
        grid: Grid,
        bytes: &[u8],
        bounds: &Bounds<'_>,
    ) -> Result<(), DrawError> {
        let (columns, rows) = (self.pixels.width() as usize, self.pixels.height() as usize);
        // Returns the pixels of a range of the page, and the cells under each of them.
        let under = |start: f64, length: f64, most: usize, cells: usize| {
            let (first, last) = ((start * self.per_unit).round(), ((start + length) * self.per_unit).round());
            let count = (last - first).max(1.0) as usize;
            let each = move |i: usize| {
                let low = i * cells / count;
                (first as usize + i, low, ((i + 1) * cells / count).max(low + 1))
            };
            (0..count).map(each).filter(move |(at, ..)| *at < most).collect::<Vec<_>>()
        };
        let across = under(frame.x, frame.width, columns, grid.columns);
        let data = self.pixels.data_mut();
        for (y, top, bottom) in under(frame.y, frame.height, rows, grid.rows) {
            bounds.poll(0)?;
            for (x, left, right) in &across {
                let mut sums = [0u64; 3];
                for row in top..bottom {
                    let line = &bytes[3 * (row * grid.columns + left)..3 * (row * grid.columns + right)];
                    for cell in line.chunks_exact(3) {
                        sums = [0, 1, 2].map(|c| sums[c] + u64::from(cell[c]));
                    }
                }
                let count = ((bottom - top) * (right - left)) as u64;
                let at = 4 * (y * columns + x);
                data[at..at + 3].copy_from_slice(&sums.map(|sum| ((sum + count / 2) / count) as u8));
            }
        }
        Ok(())
    }
}

/// Returns a frame as a rectangle; `None` if it is empty.
fn rect(frame: &Frame) -> Option<Rect> {
    Rect::from_xywh(frame.x as f32, frame.y as f32, frame.width as f32, frame.height as f32)
}
