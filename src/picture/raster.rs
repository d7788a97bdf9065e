//! Shapes of a chart as pixels, and those as a PNG file.
//!
//! Two pixels for each unit of the page. Everything is computed in one way on every machine: the font is part of
//! the program, and nothing depends on what the processor can do.

use super::font::Font;
use super::shape::{
    Anchor, BAR_COVER, Color, DISC_COVER, Frame, HALO, HEIGHT, MAX_LINE_WIDTH, RADIUS, STROKE, Shape, Text,
    rim,
};
use super::{Bounds, DrawError, Grid, Picture, chart, pixels};
use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// Pixels for each unit of the page.
const DENSITY: f64 = 2.0;

/// A picture as a PNG file.
pub fn png(picture: &Picture, bounds: &Bounds<'_>) -> Result<Vec<u8>, DrawError> {
    let (rows, columns) = ((HEIGHT * DENSITY) as usize, (MAX_LINE_WIDTH * DENSITY) as usize);
    let no_page = || DrawError::Unfit("there is no page of this size".to_string());
    let mut page = Page::new(rows, columns).ok_or_else(no_page)?;
    for (i, shape) in chart::shapes(picture, bounds)?.iter().enumerate() {
        bounds.poll(i)?;
        page.shape(shape, bounds)?;
    }
    // Nothing is seen through the page, so its colors are as they are stored.
    let colors: Vec<u8> =
        page.pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    pixels::image(Grid { rows, columns }, &colors, bounds)
}

struct Page {
    pixels: Pixmap,
    font: Font,
}

/// From units of the page to pixels.
fn density() -> Transform {
    Transform::from_scale(DENSITY as f32, DENSITY as f32)
}

fn paint(color: Color, cover: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let [r, g, b] = color;
    paint.set_color_rgba8(r, g, b, (cover * 255.0).round() as u8);
    paint
}

fn wide(width: f64) -> Stroke {
    Stroke { width: width as f32, line_join: LineJoin::Round, ..Stroke::default() }
}

impl Page {
    fn new(rows: usize, columns: usize) -> Option<Page> {
        let mut pixels = Pixmap::new(u32::try_from(columns).ok()?, u32::try_from(rows).ok()?)?;
        pixels.fill(tiny_skia::Color::WHITE);
        Some(Page { pixels, font: Font::new() })
    }

    fn fill(&mut self, path: &Path, color: Color, cover: f64, place: Transform) {
        self.pixels.fill_path(path, &paint(color, cover), FillRule::Winding, place, None);
    }

    fn shape(&mut self, shape: &Shape, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        match shape {
            Shape::Rule(from, to, color) => self.rule(*from, *to, *color),
            Shape::Polyline(points, color) => self.polyline(points, *color, bounds)?,
            Shape::Discs(points, color) => {
                for (i, point) in points.iter().enumerate() {
                    bounds.poll(i)?;
                    self.disc(*point, *color);
                }
            }
            Shape::Bar(frame, color) => {
                let Some(rect) = rect(frame) else { return Ok(()) };
                let path = PathBuilder::from_rect(rect);
                self.fill(&path, *color, BAR_COVER, density());
                if rim(frame) > 0.0 {
                    self.pixels.stroke_path(&path, &paint([255; 3], 1.0), &wide(rim(frame)), density(), None);
                }
            }
            Shape::Block(frame, color) => {
                if let Some(rect) = rect(frame) {
                    self.fill(&PathBuilder::from_rect(rect), *color, 1.0, density());
                }
            }
            Shape::Text(text) => self.text(text),
            Shape::Pixels(frame, grid, bytes) => self.cells(frame, *grid, bytes, bounds)?,
        }
        Ok(())
    }

    /// A disc. There may be a million of them, so its pixels are blended here: each is covered as far as it is
    /// within the radius, at its edge in part.
    fn disc(&mut self, center: [f64; 2], color: Color) {
        let [x, y] = center.map(|v| v * DENSITY);
        let (radius, cover) = (RADIUS * DENSITY, DISC_COVER);
        let (columns, rows) = (self.pixels.width() as usize, self.pixels.height() as usize);
        // What is left of the page begins at 0.
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

    /// A thin line along an axis, on whole pixels, so that it is sharp.
    fn rule(&mut self, from: [f64; 2], to: [f64; 2], color: Color) {
        let [[x0, y0], [x1, y1]] = [from, to].map(|end| end.map(|v| (v * DENSITY).round() as f32));
        let half = DENSITY as f32 / 2.0;
        let rect = match x0 == x1 {
            true => Rect::from_ltrb(x0 - half, y0.min(y1), x0 + half, y0.max(y1)),
            false => Rect::from_ltrb(x0.min(x1), y0 - half, x0.max(x1), y0 + half),
        };
        if let Some(rect) = rect {
            self.pixels.fill_rect(rect, &paint(color, 1.0), Transform::identity(), None);
        }
    }

    fn polyline(&mut self, points: &[[f64; 2]], color: Color, bounds: &Bounds<'_>) -> Result<(), DrawError> {
        // In pieces, since what a long line takes grows faster than its length; they share their ends.
        const PIECE: usize = 1_000;
        let mut start = 0;
        while start + 1 < points.len() {
            bounds.poll(0)?;
            let end = (start + PIECE).min(points.len());
            let mut path = PathBuilder::new();
            for (i, [x, y]) in points[start..end].iter().enumerate() {
                match i {
                    0 => path.move_to(*x as f32, *y as f32),
                    _ => path.line_to(*x as f32, *y as f32),
                }
            }
            if let Some(path) = path.finish() {
                self.pixels.stroke_path(&path, &paint(color, 1.0), &wide(STROKE), density(), None);
            }
            start = end - 1;
        }
        Ok(())
    }

    fn text(&mut self, text: &Text) {
        let Some(path) = self.font.outline(&text.content, text.size) else { return };
        let width = self.font.width(&text.content, text.size);
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let turn = if text.upward { -90.0 } else { 0.0 };
        let place = density()
            .pre_translate(text.x as f32, text.y as f32)
            .pre_concat(Transform::from_rotate(turn))
            .pre_translate(-back as f32, 0.0);
        if text.halo {
            self.pixels.stroke_path(&path, &paint([255; 3], 1.0), &wide(HALO), place, None);
        }
        self.fill(&path, text.color, 1.0, place);
    }

    /// Each pixel of the page is the mean of the cells that it covers, and those have sharp edges.
    fn cells(
        &mut self,
        frame: &Frame,
        grid: Grid,
        bytes: &[u8],
        bounds: &Bounds<'_>,
    ) -> Result<(), DrawError> {
        let (columns, rows) = (self.pixels.width() as usize, self.pixels.height() as usize);
        // The pixels from one place to another, and the cells that lie under each of them.
        let under = |start: f64, length: f64, most: usize, cells: usize| {
            let (first, last) = ((start * DENSITY).round(), ((start + length) * DENSITY).round());
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

fn rect(frame: &Frame) -> Option<Rect> {
    Rect::from_xywh(frame.x as f32, frame.y as f32, frame.width as f32, frame.height as f32)
}
