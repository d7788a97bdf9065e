//! A canvas of characters: each is a mark or braille dots, with a foreground and a background
//! color.
//!
//! Later drawing covers earlier drawing. Independent of pictures.

use super::{Colors, Screen};
use crate::picture::shape::Color;

/// A canvas of characters with their colors.
pub struct Canvas {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
    cells: Vec<Cell>,
}

/// A character of a canvas.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// A character; the dots are drawn if it is `None`.
    mark: Option<char>,
    dots: u8,
    ink: Option<Color>,
    paper: Option<Color>,
}

/// The first of the 256 braille characters, which has no dot.
const BRAILLE: u32 = 0x2800;
/// The bits of the eight dots of a character, by lines.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    /// Creates an empty canvas.
    pub fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    /// Draws a dot. A character has two columns and four rows of dots.
    pub fn dot(&mut self, x: usize, y: usize, color: Color) {
        let cell = &mut self.cells[y / 4 * self.columns + x / 2];
        if let Some(mark) = cell.mark.take() {
            // The color of a full block becomes the background of the dot.
            if mark == '█' {
                cell.paper = cell.ink;
            }
        }
        cell.dots |= DOTS[y % 4][x % 2];
        cell.ink = Some(color);
    }

    /// Draws a character; the background stays.
    pub fn mark(&mut self, column: usize, row: usize, mark: char, color: Option<Color>) {
        let cell = &mut self.cells[row * self.columns + column];
        if cell.mark == Some('█') && mark != '█' {
            cell.paper = cell.ink;
        }
        (cell.mark, cell.dots, cell.ink) = (Some(mark), 0, color);
    }

    /// Fills a character with an upper and a lower color; the lower one may be missing.
    pub fn half_blocks(&mut self, column: usize, row: usize, upper: Color, lower: Option<Color>) {
        self.cells[row * self.columns + column] =
            Cell { mark: Some('▀'), dots: 0, ink: Some(upper), paper: lower };
    }

    /// Returns a line as text, without trailing blanks.
    pub fn line(&self, row: usize, screen: Screen) -> String {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        let blank = |cell: &Cell| cell.mark.is_none() && cell.dots == 0 && cell.paper.is_none();
        let end = cells.iter().rposition(|cell| !blank(cell)).map_or(0, |last| last + 1);
        let mut out = String::new();
        let mut before = (None, None);
        for cell in &cells[..end] {
            let look = if blank(cell) { (None, None) } else { (cell.ink, cell.paper) };
            if screen.colors != Colors::None && look != before {
                out.push_str(&color_change(screen, look));
                before = look;
            }
            let dots = || char::from_u32(BRAILLE + u32::from(cell.dots)).filter(|_| cell.dots != 0);
            out.push(cell.mark.or_else(dots).unwrap_or(' '));
        }
        if before != (None, None) {
            out.push_str("\u{1b}[0m");
        }
        out
    }
}

/// Returns the escape sequence that sets these colors.
fn color_change(screen: Screen, (ink, paper): (Option<Color>, Option<Color>)) -> String {
    let codes = [(38, ink), (48, paper)]
        .map(|(which, color)| color.and_then(|color| screen.color_code(which, color)));
    let codes: Vec<String> = std::iter::once("0".to_string()).chain(codes.into_iter().flatten()).collect();
    format!("\u{1b}[{}m", codes.join(";"))
}

/// Returns true if a dashed line is drawn at dot number `at`.
pub fn is_in_dash(dashes: &[usize], at: usize) -> bool {
    let mut rest = at % dashes.iter().sum::<usize>().max(1);
    for (i, length) in dashes.iter().enumerate() {
        match rest.checked_sub(*length) {
            Some(left) => rest = left,
            None => return i % 2 == 0,
        }
    }
    true
}

/// Returns a sample of a dashed line.
pub fn dash_sample(dashes: &[usize]) -> String {
    const COLUMNS: usize = 5;
    let dots = |column: usize| -> u8 {
        (0..2).filter(|x| is_in_dash(dashes, 2 * column + x)).map(|x| DOTS[2][x]).sum()
    };
    let character = |dots: u8| char::from_u32(BRAILLE + u32::from(dots)).filter(|_| dots != 0).unwrap_or(' ');
    (0..COLUMNS).map(dots).map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes() {
        let text = |dashes: &[usize]| -> String {
            (0..14).map(|at| if is_in_dash(dashes, at) { '-' } else { ' ' }).collect()
        };
        assert_eq!(text(&[1]), "--------------");
        assert_eq!(text(&[6, 4]), "------    ----");
        assert_eq!(text(&[1, 3]), "-   -   -   - ");
        assert_eq!(dash_sample(&[1]), "⠤⠤⠤⠤⠤");
        assert_eq!(dash_sample(&[6, 4]), "⠤⠤⠤  ");
        assert_eq!(dash_sample(&[1, 3]), "⠄ ⠄ ⠄");
    }

    #[test]
    fn what_is_drawn_later_is_seen() {
        let red = [255, 0, 0];
        let mut canvas = Canvas::new(4, 1);
        canvas.mark(0, 0, '█', Some(red));
        canvas.dot(0, 0, [0, 0, 255]);
        canvas.mark(1, 0, '●', Some(red));
        canvas.dot(5, 3, red);
        let screen = |colors| Screen { columns: 80, rows: 24, colors };
        assert_eq!(canvas.line(0, screen(Colors::None)), "⠁●⢀");
        assert_eq!(
            canvas.line(0, screen(Colors::Full)),
            "\u{1b}[0;38;2;0;0;255;48;2;255;0;0m⠁\u{1b}[0;38;2;255;0;0m●⢀\u{1b}[0m"
        );
    }
}
