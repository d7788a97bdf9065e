//! Pixels: colormaps and PNG files.

use super::scale::Scale;
use super::{Bounds, DrawError, Grid};
use std::io::Write;

/// Colors from low to high: nine samples of the colormap viridis, with linear interpolation between
/// them.
const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The color of values that are not finite.
const NON_FINITE_COLOR: [u8; 3] = [200, 200, 200];

/// Returns the color at a position from 0 to 1.
pub fn colormap(place: f64) -> [u8; 3] {
    let at = place.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let i = (at as usize).min(VIRIDIS.len() - 2);
    let part = at - i as f64;
    let between = |c: usize| {
        let (low, high) = (f64::from(VIRIDIS[i][c]), f64::from(VIRIDIS[i + 1][c]));
        (low + (high - low) * part).round() as u8
    };
    [between(0), between(1), between(2)]
}

/// Returns the scale of the finite values of a heat map.
pub fn heatmap_scale(values: &[f64]) -> Scale {
    Scale::of(values.iter().copied().filter(|v| v.is_finite()))
}

/// Returns the pixels of a heat map.
pub fn heatmap_pixels(values: &[f64]) -> Vec<u8> {
    let scale = heatmap_scale(values);
    values
        .iter()
        .flat_map(|v| if v.is_finite() { colormap(scale.position(*v)) } else { NON_FINITE_COLOR })
        .collect()
}

/// Returns pixels as a PNG file.
pub fn encode_png(grid: Grid, pixels: &[u8], bounds: &Bounds<'_>) -> Result<Vec<u8>, DrawError> {
    let side = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0 && *n < 1 << 30);
    let (Some(width), Some(height)) = (side(grid.columns), side(grid.rows)) else {
        let why = format!("an image of {} x {} pixels is none", grid.rows, grid.columns);
        return Err(DrawError::Unsupported(why));
    };
    let mut out = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut out, width, height);
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    // Compression is slow, so the flag is polled between chunks.
    const CHUNK_BYTES: usize = 1 << 20;
    let unfit = |error: ::png::EncodingError| DrawError::Unsupported(error.to_string());
    let mut writer = encoder.write_header().map_err(unfit)?;
    let mut stream = writer.stream_writer_with_size(CHUNK_BYTES).map_err(unfit)?;
    for piece in pixels.chunks(CHUNK_BYTES) {
        bounds.poll(0)?;
        stream.write_all(piece).map_err(|error| unfit(error.into()))?;
    }
    stream.finish().map_err(unfit)?;
    writer.finish().map_err(unfit)?;
    Ok(out)
}
