//! Shapes of charts: lines, discs, rectangles, texts and pixels at positions of a page.
//!
//! Made by `chart`; `svg` writes them and `raster` draws them. Lengths are in units of the page,
//! which is [`PAGE_WIDTH`] by [`PAGE_HEIGHT`] with its origin at the upper left. Independent of
//! pictures.

use super::Grid;

/// The width of the page.
pub const PAGE_WIDTH: f64 = 640.0;
/// The height of the page.
pub const PAGE_HEIGHT: f64 = 420.0;

/// The radius of a disc.
pub const DISC_RADIUS: f64 = 3.0;
/// The width of a polyline.
pub const STROKE_WIDTH: f64 = 1.8;
/// The opacity of discs.
pub const DISC_OPACITY: f64 = 0.8;
/// The opacity of bars.
pub const BAR_OPACITY: f64 = 0.85;
/// The width of the white rim of a bar.
const RIM_WIDTH: f64 = 0.5;
/// The width of the white rim of a text with a halo.
pub const HALO_WIDTH: f64 = 3.0;

/// Returns the width of the rim of a bar: 0 for a narrow bar.
pub fn rim_width(bar: &Frame) -> f64 {
    if bar.width >= 4.0 { RIM_WIDTH } else { 0.0 }
}

/// Red, green and blue.
pub type Color = [u8; 3];

/// A rectangle by its upper left corner, its width and its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

/// The point of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A line of text; its position is on the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position of the baseline.
    pub y: f64,
    /// The point of the text that is at the position.
    pub anchor: Anchor,
    /// The font size.
    pub size: f64,
    /// The color.
    pub color: Color,
    /// True if the text runs upward.
    pub upward: bool,
    /// True if a white rim separates it from the background.
    pub halo: bool,
    /// The text.
    pub content: String,
}

/// A part of a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A thin line between two points.
    Rule([f64; 2], [f64; 2], Color),
    /// A line through points.
    Polyline(Vec<[f64; 2]>, Color),
    /// Discs around points.
    Discs(Vec<[f64; 2]>, Color),
    /// A bar, with a white rim.
    Bar(Frame, Color),
    /// A filled rectangle.
    Block(Frame, Color),
    /// Words.
    Text(Text),
    /// Pixels in rows, scaled to the frame.
    Pixels(Frame, Grid, Vec<u8>),
}
