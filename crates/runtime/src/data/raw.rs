//! Raw files: the cells in sequence, little-endian, without a header.
//!
//! The stated type determines the width of a cell and the number of cells in each row; at most one
//! size is found by the length of the file.

use super::{Column, Content, Data, DataError, Element, Format, Limits, npy};
use crate::types::Scalar;
use crate::types::stored::{Axis, Cell, CellKind, FileType};
use crate::value::{Buffer, Class};
use bytes::Bytes;
use num_traits::ToPrimitive;

/// Reads the cells of a file at the stated type.
pub fn read(bytes: &Bytes, wanted: &FileType, limits: &Limits<'_>) -> Result<Data, DataError> {
    let element = cell_element(&wanted.contents)?;
    let each = element.class().bytes() as usize * if element == Element::Complex { 2 } else { 1 };
    let mut shape: Vec<Option<usize>> = Vec::new();
    for axis in &wanted.axes {
        shape.push(match axis {
            Axis::Known(ty) => Some(ty.size().ok().and_then(|n| n.to_usize()).unwrap_or(usize::MAX)),
            Axis::Unknown(_) => None,
        });
    }
    let malformed = |why: String| Err(DataError::Malformed { format: Format::Raw, why });
    let known = shape.iter().flatten().try_fold(each, |all, n| all.checked_mul(*n));
    let unknown = shape.iter().filter(|n| n.is_none()).count();
    let row = known.unwrap_or(usize::MAX);
    let found = match unknown {
        0 if bytes.len() == row => 0,
        0 => return malformed(format!("it has {} bytes, and the type takes {row}", bytes.len())),
        1 if row > 0 && bytes.len().is_multiple_of(row) => bytes.len() / row,
        1 if row == 0 => return malformed("one of the sizes is 0: the others are not found".to_string()),
        1 => return malformed(format!("it has {} bytes, and a row takes {row}", bytes.len())),
        _ => return malformed("its length tells one size, and more are asked for".to_string()),
    };
    let shape = shape.into_iter().map(|n| n.unwrap_or(found)).collect();
    let cells = little_endian_cells(bytes.clone(), element.class(), Format::Raw, &mut limits.clone())?;
    Ok(Data { shape, content: Content::Plain(Column::new(element, cells)) })
}

/// Returns little-endian cells: those of the file itself where they are laid out as slots,
/// otherwise copies.
pub(super) fn little_endian_cells(
    bytes: Bytes,
    class: Class,
    format: Format,
    limits: &mut Limits<'_>,
) -> Result<Buffer, DataError> {
    match Buffer::mapped(bytes.clone(), class) {
        Some(buffer) => Ok(buffer),
        None => copy_words(bytes.chunks_exact(class.bytes() as usize), class, false, format, limits),
    }
}

/// Copies cells by their bits; each place has as many bytes as a slot of the class, up to eight.
pub(super) fn copy_words<'b>(
    places: impl ExactSizeIterator<Item = &'b [u8]>,
    class: Class,
    big_endian: bool,
    format: Format,
    limits: &mut Limits<'_>,
) -> Result<Buffer, DataError> {
    let mut cells = limits.allocate_cells(places.len(), class, format)?;
    macro_rules! read {
        ($cells:expr, $ty:ty) => {
            for (i, place) in places.enumerate() {
                limits.poll(i)?;
                let mut bytes = [0u8; size_of::<$ty>()];
                bytes.copy_from_slice(place);
                let cell = if big_endian { <$ty>::from_be_bytes(bytes) } else { <$ty>::from_le_bytes(bytes) };
                $cells.push(cell);
            }
        };
    }
    match &mut cells {
        Buffer::U8(cells) => read!(cells, u8),
        Buffer::U16(cells) => read!(cells, u16),
        Buffer::U32(cells) => read!(cells, u32),
        Buffer::Word(cells) => read!(cells, u64),
        Buffer::Wide(_) | Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => {
            unreachable!("cells of up to 64 bits are copied into a new buffer")
        }
    }
    Ok(cells)
}

/// Returns the type of a cell in the file.
fn cell_element(held: &CellKind) -> Result<Element, DataError> {
    let not_held = |ty: String| DataError::UnsupportedType {
        format: Format::Raw,
        ty,
        why: "its cells are numbers of up to 64 bits".to_string(),
    };
    match held {
        CellKind::Complex => Ok(Element::Complex),
        CellKind::Cell(Cell::Scalar(scalar))
            if Class::of_scalar(*scalar) != Class::Any && *scalar != Scalar::Char =>
        {
            Ok(Element::Scalar(*scalar))
        }
        CellKind::Cell(Cell::Code(ty)) => {
            let class = super::conversion::class_of_codes(ty);
            super::unsigned_scalar(class).map(Element::Scalar).ok_or_else(|| not_held(ty.to_string()))
        }
        CellKind::Cell(cell) => Err(not_held(cell.text())),
        CellKind::Record(_) => Err(not_held("a record".to_string())),
    }
}

/// Returns the cells as bytes without a header.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let not_held = |ty: &str| DataError::UnsupportedType {
        format: Format::Raw,
        ty: ty.to_string(),
        why: "its cells are numbers of up to 64 bits".to_string(),
    };
    let Content::Plain(column) = &data.content else { return Err(not_held("a record")) };
    if column.cells.class() > Class::Word || column.element == Element::Scalar(Scalar::Char) {
        return Err(not_held(column.element.name()));
    }
    let slots = column.cells.len() as u64;
    let mut out = limits.clone().allocate_file(slots.saturating_mul(column.cells.class().bytes()))?;
    npy::append_cells(&mut out, column, 0..data.count(), 0);
    Ok(out)
}
