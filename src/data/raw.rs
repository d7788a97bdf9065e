//! Raw files: the cells one after the other, little-endian, and nothing else.
//!
//! The stated type says how wide a cell is and how many there are in each row; one size at most is found
//! by the length of the file.

use super::{Column, Content, Data, DataError, Element, Format, Limits, npy};
use crate::types::Scalar;
use crate::types::stored::{Axis, Cell, CellKind, FileType};
use crate::value::{Buffer, Class};
use bytes::Bytes;
use num_traits::ToPrimitive;

/// The cells of a file as the type says.
pub fn read(bytes: &Bytes, wanted: &FileType, limits: &Limits<'_>) -> Result<Data, DataError> {
    let element = element(&wanted.contents)?;
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
    let cells = cells(bytes.clone(), element.class(), Format::Raw, &mut limits.clone())?;
    Ok(Data { shape, content: Content::Plain(Column::new(element, cells)) })
}

/// Little-endian cells: those of the file itself where they lie as slots do, copies of them otherwise.
pub(super) fn cells(
    bytes: Bytes,
    class: Class,
    format: Format,
    limits: &mut Limits<'_>,
) -> Result<Buffer, DataError> {
    match Buffer::foreign(bytes.clone(), class) {
        Some(buffer) => Ok(buffer),
        None => words(bytes.chunks_exact(class.bytes() as usize), class, false, format, limits),
    }
}

/// Copies of cells by their bits; each place has as many bytes as a slot of the class, up to eight.
pub(super) fn words<'b>(
    places: impl ExactSizeIterator<Item = &'b [u8]>,
    class: Class,
    big_endian: bool,
    format: Format,
    limits: &mut Limits<'_>,
) -> Result<Buffer, DataError> {
    let mut cells = limits.room_for(places.len(), class, format)?;
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
        Buffer::Wide(_) | Buffer::Any(_) | Buffer::Foreign(_) => {}
    }
    Ok(cells)
}

/// What a cell is in the file.
fn element(held: &CellKind) -> Result<Element, DataError> {
    let not_held = |ty: String| DataError::NotHeld {
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
            let class = super::fit::class_of_codes(ty);
            super::unsigned(class).map(Element::Scalar).ok_or_else(|| not_held(ty.to_string()))
        }
        CellKind::Cell(cell) => Err(not_held(cell.text())),
        CellKind::Record(_) => Err(not_held("a record".to_string())),
    }
}

/// The cells and nothing else.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let not_held = |ty: &str| DataError::NotHeld {
        format: Format::Raw,
        ty: ty.to_string(),
        why: "its cells are numbers of up to 64 bits".to_string(),
    };
    let Content::Plain(column) = &data.content else { return Err(not_held("a record")) };
    if column.cells.class() > Class::Word || column.element == Element::Scalar(Scalar::Char) {
        return Err(not_held(column.element.name()));
    }
    let slots = column.cells.len() as u64;
    let mut out = limits.clone().room_to_write(slots.saturating_mul(column.cells.class().bytes()))?;
    npy::put(&mut out, column, 0..data.count(), 0);
    Ok(out)
}
