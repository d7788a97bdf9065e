//! What a chart is made of: lines, discs, rectangles, texts and pixels at places of a page.
//!
//! `chart` makes them; `svg` writes them down and `raster` draws them. Lengths are those of the page, which is
//! `MAX_LINE_WIDTH` by `HEIGHT`, with its origin above on the left. Knows no picture.

use super::Grid;

/// The size of the page.
pub const MAX_LINE_WIDTH: f64 = 640.0;
pub const HEIGHT: f64 = 420.0;

/// The radius of a disc.
pub const RADIUS: f64 = 3.0;
/// How wide a polyline is.
pub const STROKE: f64 = 1.8;
/// How much discs and bars cover what is behind them.
pub const DISC_COVER: f64 = 0.8;
pub const BAR_COVER: f64 = 0.85;
/// How wide the white rim of a bar is.
const RIM: f64 = 0.5;
/// How wide the white rim of a text with a halo is.
pub const HALO: f64 = 3.0;

/// How wide the rim of a bar is: none around one that is hardly wider than that.
pub fn rim(bar: &Frame) -> f64 {
    if bar.width >= 4.0 { RIM } else { 0.0 }
}

/// Red, green and blue.
pub type Color = [u8; 3];

/// The left and upper end, the width and the height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text; its place is on the line on which letters stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub x: f64,
    pub y: f64,
    pub anchor: Anchor,
    pub size: f64,
    pub color: Color,
    /// It runs upwards.
    pub upward: bool,
    /// A white rim parts it from what is behind it.
    pub halo: bool,
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
    /// Pixels in rows, each as large as it has to be.
    Pixels(Frame, Grid, Vec<u8>),
}
