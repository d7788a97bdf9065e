//! Grids of pictures: the pages of their cells on one page, with a title and words around them.

use super::chart::{self, LABEL_SIZE, SIDE_MARGIN, TEXT_COLOR, TITLE_SIZE};
use super::font::Font;
use super::shape::{Anchor, PAGE_HEIGHT, PAGE_WIDTH, Shape, Text};
use super::{Bounds, Cells, DrawError, Picture};

/// The room for the words of a grid along one side.
const WORDS: f64 = 36.0;
/// The part of a page's length by which words of a grid are larger than those of its cells.
const LARGER: f64 = 1.2;

/// The shapes of a picture and the size of the page that they are on.
pub struct Sheet {
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
    /// The width and the height of the page.
    pub size: [f64; 2],
    /// The largest number of pictures side by side or one above the other.
    pub cells: usize,
}

/// Lays a picture, or a grid of pictures, out on a page.
pub fn sheet(picture: &Picture, bounds: &Bounds<'_>) -> Result<Sheet, DrawError> {
    let Some(Cells { grid, pictures }) = &picture.cells else {
        return Ok(Sheet {
            shapes: chart::shapes(picture, bounds)?,
            size: [PAGE_WIDTH, PAGE_HEIGHT],
            cells: 1,
        });
    };
    let room = |words: &str| if words.is_empty() { 0.0 } else { WORDS };
    let [across, upward] = &picture.axes;
    let (left, top) = (room(upward), room(&picture.title));
    let (inner_width, inner_height) = (grid.columns as f64 * PAGE_WIDTH, grid.rows as f64 * PAGE_HEIGHT);
    let size = [left + inner_width, top + inner_height + room(across)];
    let mut shapes = Vec::new();
    for (at, cell) in pictures.iter().enumerate() {
        let x = left + (at % grid.columns) as f64 * PAGE_WIDTH;
        let y = top + (at / grid.columns) as f64 * PAGE_HEIGHT;
        shapes.extend(chart::shapes(cell, bounds)?.into_iter().map(|shape| shape.moved([x, y])));
    }
    let font = Font::new();
    let mut words = |content: &str, [x, y]: [f64; 2], size: f64, room: f64, upward: bool| {
        if content.is_empty() {
            return;
        }
        let content = font.truncated(content, size, room - 2.0 * SIDE_MARGIN);
        let (anchor, color, halo) = (Anchor::Middle, TEXT_COLOR, false);
        shapes.push(Shape::Text(Text { x, y, anchor, size, color, upward, halo, content }));
    };
    let (middle, half) = (left + inner_width / 2.0, top + inner_height / 2.0);
    words(&picture.title, [middle, 26.0], TITLE_SIZE * LARGER, inner_width, false);
    words(across, [middle, size[1] - 12.0], LABEL_SIZE * LARGER, inner_width, false);
    words(upward, [22.0, half], LABEL_SIZE * LARGER, inner_height, true);
    Ok(Sheet { shapes, size, cells: grid.rows.max(grid.columns) })
}

impl Shape {
    /// Returns the shape at another place of the page.
    fn moved(self, [dx, dy]: [f64; 2]) -> Shape {
        let point = |[x, y]: [f64; 2]| [x + dx, y + dy];
        let frame = |mut frame: super::shape::Frame| {
            (frame.x, frame.y) = (frame.x + dx, frame.y + dy);
            frame
        };
        match self {
            Shape::Rule(from, to, color) => Shape::Rule(point(from), point(to), color),
            Shape::Polyline(points, color) => Shape::Polyline(points.into_iter().map(point).collect(), color),
            Shape::Discs(points, color) => Shape::Discs(points.into_iter().map(point).collect(), color),
            Shape::Bar(one, color) => Shape::Bar(frame(one), color),
            Shape::Block(one, color) => Shape::Block(frame(one), color),
            Shape::Text(text) => Shape::Text(Text { x: text.x + dx, y: text.y + dy, ..text }),
            Shape::Pixels(one, grid, bytes) => Shape::Pixels(frame(one), grid, bytes),
        }
    }
}
