//! Shapes of a chart as SVG.
//!
//! The text is self-contained, in generic fonts; pixels are embedded as PNG.

use super::shape::{
    Anchor, BAR_OPACITY, Color, DISC_OPACITY, DISC_RADIUS, Frame, HALO_WIDTH, STROKE_WIDTH, Shape, Text,
    rim_width,
};
use super::sheet::{Sheet, sheet};
use super::{Bounds, DrawError, Picture, pixels};
use std::fmt::{self, Write};

/// The greatest width at which a page is shown, unless a reader chooses another.
const MAX_SHOWN_WIDTH: f64 = 1_280.0;

/// Returns a picture as SVG.
pub fn svg(picture: &Picture, bounds: &Bounds<'_>) -> Result<String, DrawError> {
    let Sheet { shapes, size, .. } = sheet(picture, bounds)?;
    let mut images = Vec::new();
    for shape in &shapes {
        if let Shape::Pixels(_, grid, bytes) = shape {
            images.push(match pixels::encode_png(*grid, bytes, bounds) {
                Err(DrawError::Unsupported(_)) => None,
                file => Some(file?),
            });
        }
    }
    bounds.write_text(|out| write(out, &shapes, size, images.into_iter()))
}

/// Writes shapes; `images` are the files of the pixels among them, in order.
fn write(
    out: &mut impl Write,
    shapes: &[Shape],
    [width, height]: [f64; 2],
    mut images: impl Iterator<Item = Option<Vec<u8>>>,
) -> fmt::Result {
    // A page that is wider is shown smaller.
    let shrink = (MAX_SHOWN_WIDTH / width).min(1.0);
    let (shown_width, shown_height) = ((width * shrink).round(), (height * shrink).round());
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{shown_width}\" height=\"{shown_height}\" viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">"
    )?;
    writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
    for shape in shapes {
        match shape {
            Shape::Rule([x1, y1], [x2, y2], color) => writeln!(
                out,
                "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{}\"/>",
                hex_color(*color)
            )?,
            Shape::Polyline(points, color) => {
                write!(
                    out,
                    "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{STROKE_WIDTH}\" stroke-linejoin=\"round\" points=\"",
                    hex_color(*color)
                )?;
                for [x, y] in points {
                    write!(out, "{x:.2},{y:.2} ")?;
                }
                out.write_str("\"/>\n")?;
            }
            Shape::Discs(points, color) => {
                writeln!(out, "<g fill=\"{}\" fill-opacity=\"{DISC_OPACITY}\">", hex_color(*color))?;
                for [x, y] in points {
                    writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{DISC_RADIUS}\"/>")?;
                }
                out.write_str("</g>\n")?;
            }
            Shape::Bar(frame, color) => {
                let rim = match rim_width(frame) {
                    0.0 => String::new(),
                    rim => format!(" stroke=\"#ffffff\" stroke-width=\"{rim}\""),
                };
                write_rect(out, frame, *color, &format!(" fill-opacity=\"{BAR_OPACITY}\"{rim}"))?;
            }
            Shape::Block(frame, color) => write_rect(out, frame, *color, "")?,
            Shape::Text(words) => write_text(out, words)?,
            Shape::Pixels(Frame { x, y, width, height }, ..) => {
                let Some(file) = images.next().flatten() else { continue };
                write!(
                    out,
                    "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,"
                )?;
                write_base64(out, &file)?;
                out.write_str("\"/>\n")?;
            }
        }
    }
    out.write_str("</svg>\n")
}

/// Returns a color in hexadecimal notation.
fn hex_color([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Writes a rectangle with further attributes.
fn write_rect(out: &mut impl Write, frame: &Frame, color: Color, more: &str) -> fmt::Result {
    let Frame { x, y, width, height } = frame;
    writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{}\"{more}/>",
        hex_color(color)
    )
}

/// Writes a text element.
fn write_text(out: &mut impl Write, text: &Text) -> fmt::Result {
    let Text { x, y, size, .. } = text;
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    write!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{}\"",
        hex_color(text.color)
    )?;
    if text.upward {
        write!(out, " transform=\"rotate(-90 {x:.1} {y:.1})\"")?;
    }
    if text.halo {
        write!(
            out,
            " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"{HALO_WIDTH}\" stroke-linejoin=\"round\""
        )?;
    }
    out.write_char('>')?;
    for c in text.content.chars() {
        match c {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.write_char(c)?,
        }
    }
    out.write_str("</text>\n")
}

/// Writes bytes in base64 (RFC 4648).
fn write_base64(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.write_char(if i <= three.len() { char::from(digit) } else { '=' })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn bytes_as_text() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut out = String::new();
            write_base64(&mut out, bytes.as_bytes()).expect("a text");
            assert_eq!(out, text);
        }
    }

    #[test]
    fn texts_are_no_markup() {
        let picture = Picture { title: "a < b & \"c\"".into(), ..Picture::default() };
        let bounds = Bounds { max_bytes: 1 << 20, interrupt: &AtomicBool::new(false) };
        let svg = svg(&picture, &bounds).expect("a text");
        assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"));
    }
}
