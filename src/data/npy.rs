//! NumPy's `.npy` files: a header, which is a literal of Python, and the cells.
//!
//! Reads versions 1 to 3, either byte order, C and Fortran order, truth values, integers, floats of 16 to
//! 64 bits, complex numbers, texts, and records of these. Writes version 1, little-endian, C order. The
//! format: `numpy/lib/format.py`.

use super::literal::{self, Literal};
use super::{Column, Content, Data, Element, Format, Limits, Trouble, raw};
use crate::types::{Scalar, number::Fixed};
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;
use std::sync::Arc;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The most fields of a record.
const MOST_FIELDS: usize = 4096;

fn malformed(why: impl Into<String>) -> Trouble {
    Trouble::Malformed { format: Format::Npy, why: why.into() }
}

/// How one cell lies in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    kind: Kind,
    /// Bytes it takes.
    bytes: usize,
    big_endian: bool,
}

impl Cell {
    /// What a cell is whose bytes are those of a slot.
    fn plain(self) -> Option<Element> {
        let fixed = |fixed: Fixed| Some(Element::Scalar(Scalar::Fixed(fixed)));
        match (self.kind, self.bytes) {
            (_, 2..) if self.big_endian => None,
            (Kind::Signed, 1) => fixed(Fixed::I8),
            (Kind::Signed, 2) => fixed(Fixed::I16),
            (Kind::Signed, 4) => fixed(Fixed::I32),
            (Kind::Signed, _) => Some(Element::Scalar(Scalar::Int)),
            (Kind::Unsigned, 1) => fixed(Fixed::U8),
            (Kind::Unsigned, 2) => fixed(Fixed::U16),
            (Kind::Unsigned, 4) => fixed(Fixed::U32),
            (Kind::Unsigned, _) => fixed(Fixed::U64),
            (Kind::Float, 4) => Some(Element::Scalar(Scalar::Single)),
            (Kind::Float, 8) => Some(Element::Scalar(Scalar::Real)),
            (Kind::Complex, 16) => Some(Element::Complex),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    /// Code points of four bytes each.
    Unicode,
    /// Bytes.
    Bytes,
}

/// The array of a file. Numbers that lie as they do in memory are not copied.
pub fn read(bytes: &Bytes, limits: &Limits<'_>) -> Result<Data, Trouble> {
    let (header, content) = split(bytes)?;
    let header = std::str::from_utf8(header)
        .map(str::to_string)
        // Versions 1 and 2 are Latin-1.
        .unwrap_or_else(|_| header.iter().map(|b| char::from(*b)).collect());
    let header = literal::read(&header).ok_or_else(|| malformed("its header is no dictionary"))?;
    let entry = |key: &str| header.get(key).ok_or_else(|| malformed(format!("its header has no `{key}`")));
    let Literal::Bool(fortran) = *entry("fortran_order")? else {
        return Err(malformed("`fortran_order` in its header is neither True nor False"));
    };
    let shape = entry("shape")?.items().ok_or_else(|| malformed("`shape` in its header is no tuple"))?;
    let shape: Option<Vec<usize>> = shape
        .iter()
        .map(|n| match n {
            Literal::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        })
        .collect();
    let shape = shape.ok_or_else(|| malformed("`shape` in its header holds something else than sizes"))?;
    let fields = fields(entry("descr")?)?;
    let stride = fields.iter().map(|(_, cell)| cell.bytes).sum::<usize>();
    let whole = |n: &[usize], by: usize| {
        if n.contains(&0) { Some(0) } else { n.iter().try_fold(by, |all, n| all.checked_mul(*n)) }
    };
    let count = whole(&shape, 1).filter(|count| count.checked_mul(stride.max(1)).is_some());
    let needed = whole(&shape, stride).zip(count);
    let Some((needed, count)) = needed.filter(|(needed, _)| *needed <= content.len()) else {
        return Err(malformed(format!(
            "its header promises {} of {stride} bytes, and {} bytes follow",
            super::shape_text(&shape),
            content.len()
        )));
    };
    let content = bytes.slice_ref(&content[..needed]);
    let alone = fields.len() == 1;
    let mut columns = Vec::new();
    let mut offset = 0;
    for (name, cell) in fields {
        let mut column = match cell.plain().filter(|_| alone) {
            Some(element) => Column::new(element, raw::cells(content.clone(), element.class())),
            None => column(&content, offset, stride, count, cell, limits)?,
        };
        if fortran && shape.len() > 1 {
            let group = if column.element == Element::Complex { 2 } else { 1 };
            column.cells = rows_first(&column.cells, &shape, group, limits)?;
        }
        offset += cell.bytes;
        columns.push((name, column));
    }
    let content = match columns.pop() {
        Some((name, column)) if columns.is_empty() && name.is_empty() => Content::Plain(column),
        last => {
            columns.extend(last);
            Content::Records(columns)
        }
    };
    Ok(Data { shape, content })
}

/// Header and cells.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Trouble> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(malformed("it does not begin as one: `\\x93NUMPY` is missing"));
    };
    let short = || malformed("it ends within its header");
    let (version, rest) = rest.split_at_checked(2).ok_or_else(short)?;
    let (length, rest) = match version[0] {
        1 => rest.split_at_checked(2).map(|(n, rest)| (usize::from(u16::from_le_bytes([n[0], n[1]])), rest)),
        2 | 3 => rest
            .split_at_checked(4)
            .map(|(n, rest)| (u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize, rest)),
        other => return Err(malformed(format!("its version is {other}, and 1 to 3 are known"))),
    }
    .ok_or_else(short)?;
    rest.split_at_checked(length).ok_or_else(short)
}

/// The fields of a cell; one without a name if it is no record.
fn fields(descr: &Literal) -> Result<Vec<(Arc<str>, Cell)>, Trouble> {
    if let Some(text) = descr.text() {
        return Ok(vec![("".into(), cell(text)?)]);
    }
    let items = descr.items().filter(|items| !items.is_empty() && items.len() <= MOST_FIELDS);
    let items = items.ok_or_else(|| malformed("`descr` in its header is no type"))?;
    let mut fields: Vec<(Arc<str>, Cell)> = Vec::new();
    for item in items {
        match item.items() {
            Some([Literal::Text(name), Literal::Text(ty)]) if !name.is_empty() => {
                fields.push((name.as_str().into(), cell(ty)?));
            }
            Some([Literal::Text(name), ..]) if !name.is_empty() => {
                return Err(malformed(format!("its field `{name}` is an array or a record itself")));
            }
            _ => return Err(malformed("its records have padding, or fields without a name")),
        }
    }
    Ok(fields)
}

/// One cell, from a text such as `<f8`.
fn cell(text: &str) -> Result<Cell, Trouble> {
    let unknown = || malformed(format!("its type `{text}` is not known"));
    let mut chars = text.chars();
    let order = chars.next().ok_or_else(unknown)?;
    let (order, kind) = match order {
        '<' | '>' | '=' | '|' => (order, chars.next().ok_or_else(unknown)?),
        kind => ('=', kind),
    };
    let size: usize = match chars.as_str() {
        // A time says its unit here, an object nothing.
        _ if matches!(kind, 'M' | 'm' | 'O') => 8,
        "" if kind == '?' => 1,
        digits => digits.parse().ok().filter(|n| *n <= 1 << 30).ok_or_else(unknown)?,
    };
    let (kind, bytes) = match (kind, size) {
        ('b' | '?', 1) => (Kind::Bool, 1),
        ('i', 1 | 2 | 4 | 8) => (Kind::Signed, size),
        ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
        ('f', 2 | 4 | 8) => (Kind::Float, size),
        ('c', 8 | 16) => (Kind::Complex, size),
        ('U', _) => (Kind::Unicode, 4 * size),
        ('S' | 'a', _) => (Kind::Bytes, size),
        ('O', _) => {
            return Err(malformed(
                "its cells are objects of Python; write numbers or texts there, not `object`",
            ));
        }
        ('M' | 'm', _) => {
            return Err(malformed("its cells are times; `.astype('int64')` in NumPy makes numbers of them"));
        }
        ('f' | 'c', _) => return Err(malformed("its cells are floats of more than 64 bits")),
        _ => return Err(unknown()),
    };
    let big_endian = order == '>' || order == '=' && cfg!(target_endian = "big");
    Ok(Cell { kind, bytes, big_endian })
}

/// `count` cells, the first at `offset` and each `stride` after the one before.
fn column(
    content: &[u8],
    offset: usize,
    stride: usize,
    count: usize,
    cell: Cell,
    limits: &Limits<'_>,
) -> Result<Column, Trouble> {
    limits.look(0)?;
    let places = (0..count).map(|i| &content[i * stride + offset..i * stride + offset + cell.bytes]);
    let single_of = |bits: [u8; 2]| {
        single(if cell.big_endian { u16::from_be_bytes(bits) } else { u16::from_le_bytes(bits) })
    };
    let native = Cell { big_endian: false, ..cell };
    let (element, cells) = match (cell.kind, cell.bytes) {
        (Kind::Bool, _) => {
            let cells: Vec<u8> = places.map(|place| u8::from(place[0] != 0)).collect();
            (Element::Bool, Buffer::U8(cells))
        }
        (Kind::Float, 2) => {
            let half = |place: &[u8]| single_of([place[0], place[1]]).to_bits();
            (Element::Scalar(Scalar::Single), Buffer::U32(places.map(half).collect()))
        }
        (Kind::Signed | Kind::Unsigned | Kind::Float, _) => {
            let element = native.plain().ok_or_else(|| malformed("its cells are of no known type"))?;
            (element, words(places, cell))
        }
        (Kind::Complex, n) => {
            let part = Cell { kind: Kind::Float, bytes: n / 2, ..cell };
            let parts = places.flat_map(|place| [&place[..n / 2], &place[n / 2..]]);
            let cells = words(parts, part);
            let double = |bits: &u32| f64::from(f32::from_bits(*bits)).to_bits();
            let cells = match &cells {
                Buffer::U32(singles) => Buffer::Word(singles.iter().map(double).collect()),
                _ => cells,
            };
            (Element::Complex, cells)
        }
        (Kind::Unicode | Kind::Bytes, _) => {
            // Texts without a character take nothing in the file.
            if count as u64 > limits.room / Class::Any.bytes() {
                return Err(malformed(format!("{count} texts take more memory than there is")));
            }
            let texts: Result<Vec<Value>, Trouble> = places
                .enumerate()
                .map(|(i, place)| limits.look(i).and_then(|()| text(place, cell)))
                .collect();
            (Element::Scalar(Scalar::String), Buffer::Any(texts?))
        }
    };
    Ok(Column::new(element, cells))
}

/// Cells by their bits.
fn words<'b>(places: impl Iterator<Item = &'b [u8]>, cell: Cell) -> Buffer {
    macro_rules! read {
        ($ty:ty, $n:literal) => {
            places
                .map(|place| {
                    let mut bytes = [0u8; $n];
                    bytes.copy_from_slice(place);
                    if cell.big_endian { <$ty>::from_be_bytes(bytes) } else { <$ty>::from_le_bytes(bytes) }
                })
                .collect()
        };
    }
    match cell.bytes {
        1 => Buffer::U8(read!(u8, 1)),
        2 => Buffer::U16(read!(u16, 2)),
        4 => Buffer::U32(read!(u32, 4)),
        _ => Buffer::Word(read!(u64, 8)),
    }
}

/// A text, without the zeros that fill it up.
fn text(place: &[u8], cell: Cell) -> Result<Value, Trouble> {
    if cell.kind == Kind::Bytes {
        let end = place.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
        let text = std::str::from_utf8(&place[..end]);
        return text.map(Value::str).map_err(|_| malformed("one of its texts is not UTF-8"));
    }
    let points = words(place.chunks_exact(4), Cell { bytes: 4, ..cell });
    let Buffer::U32(points) = &points else {
        return Err(malformed("one of its texts is none"));
    };
    let end = points.iter().rposition(|c| *c != 0).map_or(0, |at| at + 1);
    let text: Option<String> = points[..end].iter().map(|c| char::from_u32(*c)).collect();
    text.map(Value::str).ok_or_else(|| malformed("one of its texts holds a number that is no character"))
}

/// A float of 16 bits.
pub(super) fn single(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 31, u32::from(bits) & 1023);
    match exponent {
        0 => {
            let small = fraction as f32 * 2f32.powi(-24);
            if sign == 0 { small } else { -small }
        }
        31 => f32::from_bits(sign | 255 << 23 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Cells that lie with the first axis fastest, with the last axis fastest.
fn rows_first(cells: &Buffer, shape: &[usize], group: usize, limits: &Limits<'_>) -> Result<Buffer, Trouble> {
    let out = Buffer::with_room(cells.class(), cells.len());
    let mut out = out.ok_or_else(|| malformed("it takes more memory than there is"))?;
    let mut steps = Vec::new();
    let mut step = group;
    for n in shape {
        steps.push(step);
        step *= n.max(&1);
    }
    let mut place = vec![0usize; shape.len()];
    let mut at = 0usize;
    for round in 0..cells.len() / group {
        limits.look(round)?;
        (0..group).for_each(|i| out.push(cells.get(at + i)));
        for axis in (0..shape.len()).rev() {
            place[axis] += 1;
            at += steps[axis];
            if place[axis] < shape[axis] {
                break;
            }
            at -= steps[axis] * shape[axis];
            place[axis] = 0;
        }
    }
    Ok(out)
}

/// An array as a file.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, Trouble> {
    let columns: Vec<(&str, &Column)> = match &data.content {
        Content::Plain(column) => vec![("", column)],
        Content::Records(columns) => columns.iter().map(|(name, column)| (&**name, column)).collect(),
    };
    let mut descriptions = Vec::new();
    for (name, column) in &columns {
        descriptions.push((*name, describe(column)?));
    }
    let descr = match (&data.content, &descriptions[..]) {
        (Content::Plain(_), [(_, (code, _))]) => format!("'{code}'"),
        _ => {
            let fields: Vec<String> =
                descriptions.iter().map(|(name, (code, _))| format!("('{name}', '{code}')")).collect();
            format!("[{}]", fields.join(", "))
        }
    };
    let shape = match &data.shape[..] {
        [one] => format!("({one},)"),
        several => format!("({})", several.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    // Header and all before it take a multiple of 64 bytes, and it ends with a line break.
    let (version, lead) = if header.len() + 80 < 1 << 16 { (1u8, 10) } else { (2u8, 12) };
    let length = (lead + header.len() + 1).next_multiple_of(64) - lead;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([version, 0]);
    match version {
        1 => out.extend((length as u16).to_le_bytes()),
        _ => out.extend((length as u32).to_le_bytes()),
    }
    out.extend(header.as_bytes());
    let count: usize = data.shape.iter().product();
    match (&columns[..], &descriptions[..]) {
        ([(_, column)], [(_, (_, bytes))]) => put(&mut out, column, 0..count, *bytes),
        _ => {
            for i in 0..count {
                limits.look(i)?;
                for ((_, column), (_, (_, bytes))) in columns.iter().zip(&descriptions) {
                    put(&mut out, column, i..i + 1, *bytes);
                }
            }
        }
    }
    Ok(out)
}

/// How a column is described, and the bytes of a cell.
fn describe(column: &Column) -> Result<(String, usize), Trouble> {
    let fixed = |fixed: Fixed| {
        let (bits, signed) = fixed.shape();
        let (order, kind) = (if bits == 8 { '|' } else { '<' }, if signed { 'i' } else { 'u' });
        (format!("{order}{kind}{}", bits / 8), bits as usize / 8)
    };
    Ok(match column.element {
        Element::Bool => ("|b1".to_string(), 1),
        Element::Complex => ("<c16".to_string(), 16),
        Element::Scalar(Scalar::Int) => ("<i8".to_string(), 8),
        Element::Scalar(Scalar::Real) => ("<f8".to_string(), 8),
        Element::Scalar(Scalar::Single) => ("<f4".to_string(), 4),
        Element::Scalar(Scalar::Fixed(n)) => fixed(n),
        Element::Scalar(Scalar::String) => {
            let lengths = (0..column.cells.len()).map(|i| column.cells.get(i).as_str().chars().count());
            let longest = lengths.max().unwrap_or(0).max(1);
            (format!("<U{longest}"), 4 * longest)
        }
        Element::Scalar(other @ (Scalar::Bigint | Scalar::Char)) => {
            let (ty, why) = (other.name().to_string(), "it has no cells of this type".to_string());
            return Err(Trouble::NotHeld { format: Format::Npy, ty, why });
        }
    })
}

/// Appends cells of a column.
pub(super) fn put(out: &mut Vec<u8>, column: &Column, places: std::ops::Range<usize>, bytes: usize) {
    let slots = if column.element == Element::Complex { 2 } else { 1 };
    let range = places.start * slots..places.end * slots;
    match &column.cells {
        Buffer::U8(cells) => out.extend_from_slice(&cells[range]),
        Buffer::U16(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::U32(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Word(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Wide(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Foreign(cells) => out.extend_from_slice(cells.slots(range)),
        Buffer::Any(cells) => {
            for cell in &cells[range] {
                let start = out.len();
                cell.as_str().chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_le_bytes()));
                out.resize(start + bytes, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn file(version: u8, header: &str, cells: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend([version, 0]);
        match version {
            1 => out.extend((header.len() as u16).to_le_bytes()),
            _ => out.extend((header.len() as u32).to_le_bytes()),
        }
        out.extend(header.as_bytes());
        out.extend(cells);
        out
    }

    /// Reads with plenty of room.
    fn read(bytes: &[u8]) -> Result<Data, Trouble> {
        let limits = Limits { room: 1 << 20, stop: &AtomicBool::new(false) };
        super::read(&Bytes::copy_from_slice(bytes), &limits)
    }

    fn plain(data: Data) -> (Vec<usize>, Element, Vec<u64>) {
        let Content::Plain(column) = data.content else { panic!("one column") };
        let cells = (0..column.cells.len()).map(|i| column.cells.get(i).word()).collect();
        (data.shape, column.element, cells)
    }

    #[test]
    fn byte_orders_and_versions() {
        for version in 1..=3 {
            for (descr, cells) in [("<i2", [1, 0, 255, 255]), (">i2", [0, 1, 255, 255])] {
                let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}\n");
                let (shape, element, cells) = plain(read(&file(version, &header, &cells)).expect("an array"));
                assert_eq!(shape, [2]);
                assert_eq!(element, Element::Scalar(Scalar::Fixed(Fixed::I16)));
                assert_eq!(cells, [1, 0xffff]);
            }
        }
    }

    #[test]
    fn columns_first() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}";
        let (_, _, cells) = plain(read(&file(1, header, &[0, 3, 1, 4, 2, 5])).expect("an array"));
        assert_eq!(cells, [0, 1, 2, 3, 4, 5]);
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 0, 3)}";
        assert!(plain(read(&file(1, header, &[])).expect("an array")).2.is_empty());
    }

    #[test]
    fn halves() {
        for (bits, x) in [(0x3c00, 1.0f32), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 5.960_464_5e-8)] {
            assert_eq!(single(bits), x, "{bits:x}");
        }
        assert!(single(0x7e00).is_nan() && single(0xfc00) == f32::NEG_INFINITY);
        assert_eq!(single(0x8000).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn headers_that_promise_too_much() {
        for shape in ["(3,)", "(18446744073709551615,)", "(4294967296, 4294967296)", "(0, 1), 'x': (", "3"] {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
            let refused = read(&file(1, &header, &[0; 16]));
            assert!(matches!(refused, Err(Trouble::Malformed { .. })), "{shape}: {refused:?}");
        }
        // Nothing is there of a type without bytes, however often.
        let header = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}";
        assert!(matches!(read(&file(1, header, &[])), Err(Trouble::Malformed { .. })));
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615)}";
        assert!(read(&file(1, header, &[])).is_ok());
    }

    #[test]
    fn every_beginning_of_a_file_is_refused() {
        let data = Data {
            shape: vec![3],
            content: Content::Plain(Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1, 2, 3]))),
        };
        let limits = Limits { room: 0, stop: &AtomicBool::new(false) };
        let bytes = write(&data, &limits).expect("a file");
        assert_eq!((bytes.len() - 24) % 64, 0);
        for end in 0..bytes.len() {
            assert!(matches!(read(&bytes[..end]), Err(Trouble::Malformed { .. })), "{end}");
        }
        assert_eq!(plain(read(&bytes).expect("an array")).2, [1, 2, 3]);
    }
}
