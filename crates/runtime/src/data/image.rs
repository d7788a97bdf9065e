//! Images in PNG and JPEG as pixels.
//!
//! Takes the bytes of a file; gives the pixels, rows from above, each by its red, green, blue and
//! opacity from 0 to 255. Never believes a size: memory is taken only for as many pixels as the
//! bytes of the file can hold. The decoder of JPEG is scalar and computes with integers, so a file
//! has the same pixels on every machine. Profiles of color and the gamma of a PNG are passed over,
//! as is all but the first picture of an animation.

use super::{DataError, Format, Limits};
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The pixels of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    /// The number of rows.
    pub rows: usize,
    /// The number of pixels of a row.
    pub columns: usize,
    /// Red, green, blue and opacity of each pixel, row by row.
    pub bytes: Vec<u8>,
}

/// The bytes of a pixel.
const PIXEL_BYTES: usize = 4;

/// The largest number of bytes that a byte of DEFLATE stands for.
const MAX_INFLATION: u64 = 1032;

/// The largest number of pixels for each byte of a JPEG: a block of 64 pixels takes a bit at least.
const MAX_JPEG_PIXELS_PER_BYTE: u64 = 64 * 8;

/// The longest side of an image, in pixels.
const MAX_SIDE: usize = 1 << 20;

/// Returns the pixels of a file of PNG or JPEG.
///
/// # Errors
///
/// The bytes are neither, are damaged, or hold more pixels than fit the memory.
pub fn read_pixels(bytes: &[u8], limits: &Limits<'_>) -> Result<Pixels, DataError> {
    limits.poll(0)?;
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        read_png(bytes, limits)
    } else if bytes.starts_with(b"\xff\xd8") {
        read_jpeg(bytes, limits)
    } else {
        Err(malformed("it is neither PNG nor JPEG"))
    }
}

/// Returns the error of a file that is damaged.
fn malformed(why: impl ToString) -> DataError {
    DataError::Malformed { format: Format::Image, why: why.to_string() }
}

/// Returns the number of bytes of so many pixels.
///
/// # Errors
///
/// They do not fit the memory, or are more than the file can hold.
fn pixel_bytes(rows: usize, columns: usize, most: u64, limits: &Limits<'_>) -> Result<usize, DataError> {
    let pixels = (rows as u64).saturating_mul(columns as u64);
    if pixels > most {
        return Err(malformed(format!(
            "it says that it has {columns} x {rows} pixels, and is too short for them"
        )));
    }
    let bytes = pixels.saturating_mul(PIXEL_BYTES as u64);
    if bytes > limits.memory {
        return Err(DataError::too_large(Format::Image));
    }
    usize::try_from(bytes).map_err(|_| DataError::too_large(Format::Image))
}

/// Allocates bytes that are all 0.
fn zeros(count: usize) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| DataError::too_large(Format::Image))?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// Reads a PNG.
fn read_png(bytes: &[u8], limits: &Limits<'_>) -> Result<Pixels, DataError> {
    let most = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: most });
    decoder.set_transformations(
        png::Transformations::EXPAND | png::Transformations::STRIP_16 | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().map_err(malformed)?;
    let info = reader.info();
    let (rows, columns) = (info.height as usize, info.width as usize);
    // A row of bits takes a byte at least.
    let bits = info.bits_per_pixel().max(1) as u64;
    let most = (bytes.len() as u64).saturating_mul(MAX_INFLATION).saturating_mul(8) / bits;
    let count = pixel_bytes(rows, columns, most, limits)?;
    let mut out = zeros(count)?;
    let gray = reader.output_color_type().0 == png::ColorType::GrayscaleAlpha;
    let needed = reader.output_buffer_size().ok_or_else(|| malformed("its pixels cannot be counted"))?;
    if needed > count {
        return Err(malformed("its pixels are of another depth than it says"));
    }
    limits.poll(0)?;
    reader.next_frame(&mut out[..needed]).map_err(malformed)?;
    if gray {
        // Pixels of two bytes become those of four, from the last on.
        for at in (0..rows * columns).rev() {
            let (level, opacity) = (out[2 * at], out[2 * at + 1]);
            out[PIXEL_BYTES * at..][..PIXEL_BYTES].copy_from_slice(&[level, level, level, opacity]);
        }
    }
    Ok(Pixels { rows, columns, bytes: out })
}

/// Reads a JPEG.
fn read_jpeg(bytes: &[u8], limits: &Limits<'_>) -> Result<Pixels, DataError> {
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGBA);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let wrong = |error: zune_jpeg::errors::DecodeErrors| malformed(error_text(&error));
    decoder.decode_headers().map_err(wrong)?;
    let info = decoder.info().ok_or_else(|| malformed("its head is missing"))?;
    let (rows, columns) = (usize::from(info.height), usize::from(info.width));
    let most = (bytes.len() as u64).saturating_mul(MAX_JPEG_PIXELS_PER_BYTE);
    let count = pixel_bytes(rows, columns, most, limits)?;
    if decoder.output_buffer_size() != Some(count) {
        return Err(malformed("its colors are of a kind that is not read"));
    }
    let mut out = zeros(count)?;
    limits.poll(0)?;
    decoder.decode_into(&mut out).map_err(wrong)?;
    Ok(Pixels { rows, columns, bytes: out })
}

/// Returns the text of an error of the decoder of JPEG, in one line.
fn error_text(error: &zune_jpeg::errors::DecodeErrors) -> String {
    let text = format!("{error:?}");
    let line = text.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    if line.is_empty() { "it is damaged".to_string() } else { line.to_string() }
}
