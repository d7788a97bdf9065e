//! NumPy's `.npy` files: a header, which is a literal of Python, and the cells.
//!
//! Reads versions 1 to 3, either byte order, C and Fortran order, truth values, integers, floats of
//! 16 to 64 bits, complex numbers, texts, and records of these. Writes version 1, little-endian, C
//! order. The format: `numpy/lib/format.py`.

use super::python_literal::{self, Literal, quote};
use super::{Column, Content, Data, DataError, Element, Format, Limits, raw};
use crate::types::{Scalar, number::Fixed};
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;
use std::sync::Arc;

/// The bytes at the beginning of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The largest number of fields of a record.
const MAX_FIELDS: usize = 4096;

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Npy, why: why.into() }
}

/// The representation of a cell in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dtype {
    kind: DtypeKind,
    /// The size of a cell in bytes.
    bytes: usize,
    big_endian: bool,
}

impl Dtype {
    /// Returns the type of the cell after reading.
    fn element(self) -> Element {
        let fixed = |fixed: Fixed| Element::Scalar(Scalar::Fixed(fixed));
        match (self.kind, self.bytes) {
            (DtypeKind::Bool, _) => Element::Bool,
            (DtypeKind::Signed, 1) => fixed(Fixed::I8),
            (DtypeKind::Signed, 2) => fixed(Fixed::I16),
            (DtypeKind::Signed, 4) => fixed(Fixed::I32),
            (DtypeKind::Signed, _) => Element::Scalar(Scalar::Int),
            (DtypeKind::Unsigned, 1) => fixed(Fixed::U8),
            (DtypeKind::Unsigned, 2) => fixed(Fixed::U16),
            (DtypeKind::Unsigned, 4) => fixed(Fixed::U32),
            (DtypeKind::Unsigned, _) => fixed(Fixed::U64),
            (DtypeKind::Float, 2 | 4) => Element::Scalar(Scalar::Single),
            (DtypeKind::Float, _) => Element::Scalar(Scalar::Real),
            (DtypeKind::Complex, _) => Element::Complex,
            (DtypeKind::Unicode | DtypeKind::Bytes, _) => Element::Scalar(Scalar::String),
        }
    }

    /// Returns true if the bytes of a cell are the bytes of its slots.
    fn is_plain(self) -> bool {
        match self.kind {
            DtypeKind::Signed | DtypeKind::Unsigned => self.bytes == 1 || !self.big_endian,
            DtypeKind::Float => self.bytes > 2 && !self.big_endian,
            DtypeKind::Complex => self.bytes == 16 && !self.big_endian,
            DtypeKind::Bool | DtypeKind::Unicode | DtypeKind::Bytes => false,
        }
    }
}

/// The kind of the type of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DtypeKind {
    /// Truth values.
    Bool,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floats.
    Float,
    /// Pairs of floats.
    Complex,
    /// Code points of four bytes each.
    Unicode,
    /// Bytes.
    Bytes,
}

/// The header of a file.
struct Header {
    shape: Vec<usize>,
    /// True if the first axis is the fastest (Fortran order).
    fortran: bool,
    fields: Vec<(Arc<str>, Dtype)>,
}

/// Reads the array of a file. Numbers that lie as they do in memory are not copied.
pub fn read(bytes: &Bytes, limits: &Limits<'_>) -> Result<Data, DataError> {
    let mut limits = *limits;
    let (Header { shape, fortran, fields }, content) = parse_header(bytes)?;
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
        let element = cell.element();
        let mut cells = match alone && cell.is_plain() {
            true => raw::little_endian_cells(content.clone(), element.class(), Format::Npy, &mut limits)?,
            false => StridedCells { content: &content, offset, stride, count }.cells(cell, &mut limits)?,
        };
        if fortran && shape.len() > 1 {
            let group = if element == Element::Complex { 2 } else { 1 };
            cells = to_row_major(cells, &shape, group, &mut limits)?;
        }
        offset += cell.bytes;
        columns.push((name, Column::new(element, cells)));
    }
    Ok(Data { shape, content: columns_to_content(columns) })
}

/// Returns the size in bytes that the header of a file promises; `None` if the beginning does not
/// determine it.
pub(super) fn expected_file_bytes(bytes: &[u8]) -> Option<u64> {
    let (Header { shape, fields, .. }, content) = parse_header(bytes).ok()?;
    let before = bytes.len() - content.len();
    let stride = fields.iter().map(|(_, cell)| cell.bytes).sum::<usize>();
    let cells = match shape.contains(&0) {
        true => 0,
        false => shape.iter().try_fold(stride, |all, n| all.checked_mul(*n))?,
    };
    u64::try_from(cells.checked_add(before)?).ok()
}

/// Returns the type of a file by its beginning: the columns have no cells.
pub fn describe(bytes: &[u8]) -> Option<Data> {
    let (Header { shape, fields, .. }, _) = parse_header(bytes).ok()?;
    let empty = |cell: Dtype| Column::new(cell.element(), Buffer::Any(Vec::new()));
    let columns = fields.into_iter().map(|(name, cell)| (name, empty(cell))).collect();
    Some(Data { shape, content: columns_to_content(columns) })
}

/// Returns records, or plain cells if the only column has no name.
fn columns_to_content(mut columns: Vec<(Arc<str>, Column)>) -> Content {
    match columns.pop() {
        Some((name, column)) if columns.is_empty() && name.is_empty() => Content::Plain(column),
        last => {
            columns.extend(last);
            Content::Records(columns)
        }
    }
}

/// Parses the header, and returns the bytes after it.
fn parse_header(bytes: &[u8]) -> Result<(Header, &[u8]), DataError> {
    let (version, header, content) = split_header(bytes)?;
    let header = match version {
        3 => std::str::from_utf8(header).map_err(|_| malformed("its header is not UTF-8"))?.to_string(),
        // Versions 1 and 2 are Latin-1.
        _ => header.iter().map(|b| char::from(*b)).collect(),
    };
    let header = python_literal::parse(&header).ok_or_else(|| malformed("its header is no dictionary"))?;
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
    let fields = parse_descr(entry("descr")?)?;
    Ok((Header { shape, fortran, fields }, content))
}

/// Splits a file into version, header and cells.
fn split_header(bytes: &[u8]) -> Result<(u8, &[u8], &[u8]), DataError> {
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
    let (header, content) = rest.split_at_checked(length).ok_or_else(short)?;
    Ok((version[0], header, content))
}

/// Parses the fields of a cell; one field without a name if the cell is no record.
fn parse_descr(descr: &Literal) -> Result<Vec<(Arc<str>, Dtype)>, DataError> {
    if let Some(text) = descr.text() {
        return Ok(vec![("".into(), parse_dtype(text)?)]);
    }
    let items = descr.items().filter(|items| !items.is_empty() && items.len() <= MAX_FIELDS);
    let items = items.ok_or_else(|| malformed("`descr` in its header is no type"))?;
    let mut fields: Vec<(Arc<str>, Dtype)> = Vec::new();
    for item in items {
        match item.items() {
            Some([Literal::Text(name), Literal::Text(ty)]) if !name.is_empty() => {
                fields.push((name.as_str().into(), parse_dtype(ty)?));
            }
            Some([Literal::Text(name), ..]) if !name.is_empty() => {
                return Err(malformed(format!("its field `{name}` is an array or a record itself")));
            }
            _ => return Err(malformed("its records have padding, or fields without a name")),
        }
    }
    Ok(fields)
}

/// Parses the type of a cell, such as `<f8`.
fn parse_dtype(text: &str) -> Result<Dtype, DataError> {
    let unknown = || malformed(format!("its type `{text}` is not known"));
    let mut chars = text.chars();
    let order = chars.next().ok_or_else(unknown)?;
    let (order, kind) = match order {
        '<' | '>' | '=' | '|' => (order, chars.next().ok_or_else(unknown)?),
        kind => ('=', kind),
    };
    let size: usize = match chars.as_str() {
        // A time has its unit here, an object nothing.
        _ if matches!(kind, 'M' | 'm' | 'O') => 8,
        "" if kind == '?' => 1,
        digits => digits.parse().ok().filter(|n| *n <= 1 << 30).ok_or_else(unknown)?,
    };
    let (kind, bytes) = match (kind, size) {
        ('b' | '?', 1) => (DtypeKind::Bool, 1),
        ('i', 1 | 2 | 4 | 8) => (DtypeKind::Signed, size),
        ('u', 1 | 2 | 4 | 8) => (DtypeKind::Unsigned, size),
        ('f', 2 | 4 | 8) => (DtypeKind::Float, size),
        ('c', 8 | 16) => (DtypeKind::Complex, size),
        ('U', _) => (DtypeKind::Unicode, 4 * size),
        ('S' | 'a', _) => (DtypeKind::Bytes, size),
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
    Ok(Dtype { kind, bytes, big_endian })
}

/// The places of the cells of a column: `count` of them, the first at `offset` and each `stride`
/// bytes after the one before.
#[derive(Clone, Copy)]
struct StridedCells<'b> {
    content: &'b [u8],
    offset: usize,
    stride: usize,
    count: usize,
}

impl<'b> StridedCells<'b> {
    /// Returns the bytes of all cells, each in `parts` equal parts.
    fn parts(self, cell: Dtype, parts: usize) -> impl ExactSizeIterator<Item = &'b [u8]> {
        let StridedCells { content, offset, stride, count } = self;
        let bytes = cell.bytes / parts;
        (0..count * parts).map(move |i| {
            let start = i / parts * stride + offset + i % parts * bytes;
            &content[start..start + bytes]
        })
    }

    /// Reads the cells as a buffer.
    fn cells(self, cell: Dtype, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        limits.poll(0)?;
        let class = cell.element().class();
        let places = self.parts(cell, 1);
        match (cell.kind, cell.bytes) {
            (DtypeKind::Bool, _) => {
                let mut cells = limits.allocate_cells(self.count, class, Format::Npy)?;
                for (i, place) in places.enumerate() {
                    limits.poll(i)?;
                    cells.push(Value::bool(place[0] != 0));
                }
                Ok(cells)
            }
            (DtypeKind::Float, 2) => {
                let halves = raw::copy_words(places, Class::U16, cell.big_endian, Format::Npy, limits)?;
                convert_words(&halves, class, limits, |bits| Value::single(half_to_single(bits as u16)))
            }
            (DtypeKind::Signed | DtypeKind::Unsigned | DtypeKind::Float, _) => {
                raw::copy_words(places, class, cell.big_endian, Format::Npy, limits)
            }
            (DtypeKind::Complex, 8) => {
                let parts = self.parts(cell, 2);
                let singles = raw::copy_words(parts, Class::U32, cell.big_endian, Format::Npy, limits)?;
                let double = |bits: u64| Value::real(f64::from(f32::from_bits(bits as u32)));
                convert_words(&singles, class, limits, double)
            }
            (DtypeKind::Complex, _) => {
                raw::copy_words(self.parts(cell, 2), class, cell.big_endian, Format::Npy, limits)
            }
            (DtypeKind::Unicode | DtypeKind::Bytes, _) => {
                // Texts without a character take nothing in the file.
                let mut cells = limits.allocate_cells(self.count, class, Format::Npy)?;
                for (i, place) in places.enumerate() {
                    limits.poll(i)?;
                    let text = decode_text(place, cell)?;
                    limits.reserve_text(text.len()).ok_or_else(|| DataError::too_large(Format::Npy))?;
                    cells.push(Value::str(text));
                }
                Ok(cells)
            }
        }
    }
}

/// Converts each cell by its bits.
fn convert_words(
    cells: &Buffer,
    class: Class,
    limits: &mut Limits<'_>,
    each: impl Fn(u64) -> Value,
) -> Result<Buffer, DataError> {
    let mut out = limits.allocate_cells(cells.len(), class, Format::Npy)?;
    for i in 0..cells.len() {
        limits.poll(i)?;
        out.push(each(cells.get(i).word()));
    }
    Ok(out)
}

/// Decodes a text without its padding of zeros.
fn decode_text(place: &[u8], cell: Dtype) -> Result<String, DataError> {
    if cell.kind == DtypeKind::Bytes {
        let end = place.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
        let text = std::str::from_utf8(&place[..end]);
        return text.map(str::to_string).map_err(|_| malformed("one of its texts is not UTF-8"));
    }
    let points = place.as_chunks::<4>().0;
    let end = points.iter().rposition(|point| *point != [0; 4]).map_or(0, |at| at + 1);
    let char = |point: &[u8; 4]| {
        char::from_u32(if cell.big_endian { u32::from_be_bytes(*point) } else { u32::from_le_bytes(*point) })
    };
    let text: Option<String> = points[..end].iter().map(char).collect();
    text.ok_or_else(|| malformed("one of its texts holds a number that is no character"))
}

/// Converts a binary16 number to binary32.
pub(super) fn half_to_single(bits: u16) -> f32 {
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

/// Transposes cells from Fortran order to C order; `group` slots make a cell.
fn to_row_major(
    cells: Buffer,
    shape: &[usize],
    group: usize,
    limits: &mut Limits<'_>,
) -> Result<Buffer, DataError> {
    // Without cells the other axes may be of any length.
    if cells.is_empty() {
        return Ok(cells);
    }
    let mut out = limits.allocate_cells(cells.len(), cells.class(), Format::Npy)?;
    let mut steps = Vec::new();
    let mut step = group;
    for n in shape {
        steps.push(step);
        step *= n;
    }
    let mut place = vec![0usize; shape.len()];
    let mut at = 0usize;
    for round in 0..cells.len() / group {
        limits.poll(round)?;
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

/// Returns an array as the bytes of a file.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let columns: Vec<(&str, &Column)> = match &data.content {
        Content::Plain(column) => vec![("", column)],
        Content::Records(columns) => columns.iter().map(|(name, column)| (&**name, column)).collect(),
    };
    let count = data.count();
    let mut descriptions = Vec::new();
    for (name, column) in &columns {
        descriptions.push((*name, column_dtype(column, limits)?));
    }
    let descr = match (&data.content, &descriptions[..]) {
        (Content::Plain(_), [(_, (code, _))]) => quote(code),
        _ => {
            let field =
                |(name, (code, _)): &(&str, (String, usize))| format!("({}, {})", quote(name), quote(code));
            let fields: Vec<String> = descriptions.iter().map(field).collect();
            format!("[{}]", fields.join(", "))
        }
    };
    let shape = match &data.shape[..] {
        [one] => format!("({one},)"),
        several => format!("({})", several.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    // Header and all before it take a multiple of 64 bytes, and it ends with a line break.
    let (version, lead) = match header.len() + 80 < 1 << 16 {
        // Only version 3 has more characters than Latin-1.
        _ if !header.is_ascii() => (3u8, 12),
        true => (1, 10),
        false => (2, 12),
    };
    let length = (lead + header.len() + 1).next_multiple_of(64) - lead;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let sizes = descriptions.iter().map(|(_, (_, bytes))| (count as u64).saturating_mul(*bytes as u64));
    let size = sizes.fold((lead + length) as u64, u64::saturating_add);
    let mut out = limits.clone().allocate_file(size)?;
    out.extend(MAGIC);
    out.extend([version, 0]);
    match version {
        1 => out.extend((length as u16).to_le_bytes()),
        _ => out.extend((length as u32).to_le_bytes()),
    }
    out.extend(header.as_bytes());
    // Cells of a single column are contiguous.
    let step = if columns.len() == 1 { 1 << 16 } else { 1 };
    for start in (0..count).step_by(step) {
        limits.poll(start)?;
        let end = count.min(start + step);
        for ((_, column), (_, (_, bytes))) in columns.iter().zip(&descriptions) {
            append_cells(&mut out, column, start..end, *bytes);
        }
    }
    Ok(out)
}

/// Returns the description of a column, and the size of a cell in bytes.
fn column_dtype(column: &Column, limits: &Limits<'_>) -> Result<(String, usize), DataError> {
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
            let mut longest = 1;
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                longest = longest.max(column.cells.get(i).as_str().chars().count());
            }
            let size = (column.cells.len() as u64).saturating_mul(4 * longest as u64);
            if size > limits.memory {
                let why =
                    "each of its texts takes as much as the longest, and all more memory than may be used";
                return Err(DataError::Unwritable { why: why.to_string() });
            }
            (format!("<U{longest}"), 4 * longest)
        }
        Element::Scalar(other @ (Scalar::Bigint | Scalar::Char)) => {
            let (ty, why) = (other.name().to_string(), "it has no cells of this type".to_string());
            return Err(DataError::UnsupportedType { format: Format::Npy, ty, why });
        }
    })
}

/// Appends a range of cells of a column; texts are padded to `bytes` bytes.
pub(super) fn append_cells(out: &mut Vec<u8>, column: &Column, places: std::ops::Range<usize>, bytes: usize) {
    let slots = if column.element == Element::Complex { 2 } else { 1 };
    let range = places.start * slots..places.end * slots;
    match &column.cells {
        Buffer::U8(cells) => out.extend_from_slice(&cells[range]),
        Buffer::U16(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::U32(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Word(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Wide(cells) => cells[range].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes())),
        Buffer::Mapped(cells) => out.extend_from_slice(cells.bytes(range)),
        Buffer::Unboxed(_) => unreachable!("the cells of a column are no sums"),
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
    fn read(bytes: &[u8]) -> Result<Data, DataError> {
        let limits = Limits { memory: 1 << 20, interrupt: &AtomicBool::new(false) };
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
            assert_eq!(half_to_single(bits), x, "{bits:x}");
        }
        assert!(half_to_single(0x7e00).is_nan() && half_to_single(0xfc00) == f32::NEG_INFINITY);
        assert_eq!(half_to_single(0x8000).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn headers_that_promise_too_much() {
        for shape in ["(3,)", "(18446744073709551615,)", "(4294967296, 4294967296)", "(0, 1), 'x': (", "3"] {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
            let refused = read(&file(1, &header, &[0; 16]));
            assert!(matches!(refused, Err(DataError::Malformed { .. })), "{shape}: {refused:?}");
        }
        // Nothing is there of a type without bytes, however often.
        let header = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}";
        assert!(matches!(read(&file(1, header, &[])), Err(DataError::Malformed { .. })));
        for (shape, fortran) in
            [("(0, 18446744073709551615)", "False"), ("(0, 18446744073709551615, 3)", "True")]
        {
            let header = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': {shape}}}");
            let read = read(&file(1, &header, &[])).expect("an array without cells");
            assert_eq!(read.count(), 0);
            let limits = Limits { memory: 1 << 10, interrupt: &AtomicBool::new(false) };
            assert!(write(&read, &limits).is_ok());
        }
    }

    /// Counts of cells of each kind that take a little more memory than there is.
    #[test]
    fn what_takes_more_than_there_is_is_refused() {
        let text = Class::Any.bytes() as usize + 2 * size_of::<usize>() + 1;
        for (descr, bytes, slot) in [
            ("'|b1'", 1, 1),
            ("'>i2'", 2, 2),
            ("'>f8'", 8, 8),
            ("'<f2'", 2, 6),
            ("'<c8'", 8, 24),
            ("'>c16'", 16, 16),
            ("'<U1'", 4, text),
            ("'|S1'", 1, text),
            ("[('a', '<i4'), ('b', '|b1')]", 5, 5),
        ] {
            let count = 100;
            let cells = vec![1; count * bytes];
            let stop = AtomicBool::new(false);
            for fortran in ["False", "True"] {
                let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': (100,)}}");
                let bytes = Bytes::from(file(1, &header, &cells));
                // Texts of one byte each: what four of them are is no character.
                let bytes = match descr {
                    "'<U1'" => Bytes::from(file(1, &header, &b"x\0\0\0".repeat(count))),
                    _ => bytes,
                };
                let room = (count * slot) as u64;
                let enough = super::read(&bytes, &Limits { memory: room, interrupt: &stop });
                assert!(enough.is_ok(), "{descr}: {enough:?}");
                let refused = super::read(&bytes, &Limits { memory: room - 1, interrupt: &stop });
                assert_eq!(refused.err(), Some(DataError::too_large(Format::Npy)), "{descr}");
            }
            // What lies the other way round is moved, which takes it twice.
            let header = format!("{{'descr': {descr}, 'fortran_order': True, 'shape': (10, 10)}}");
            let bytes = Bytes::from(file(1, &header, &[0; 1600]));
            let refused = super::read(&bytes, &Limits { memory: count as u64, interrupt: &stop });
            assert_eq!(refused.err(), Some(DataError::too_large(Format::Npy)), "{descr}");
        }
    }

    #[test]
    fn the_header_alone_says_the_type() {
        for (header, ty) in [
            ("{'descr': '|b1', 'fortran_order': False, 'shape': (1099511627776,)}", "bool ^ ?N"),
            ("{'descr': '<U9', 'fortran_order': True, 'shape': (7, 9)}", "string ^ (?N \\* ?M)"),
            ("{'descr': '>f2', 'fortran_order': True, 'shape': ()}", "f32"),
            (
                "{'descr': [('a', '<c8'), ('b', '<u8')], 'fortran_order': True, 'shape': (3,)}",
                "(a:complex, b:u64) ^ ?N",
            ),
        ] {
            assert_eq!(describe(&file(1, header, &[])).map(|data| data.type_text()).as_deref(), Some(ty));
        }
    }

    #[test]
    fn the_version_says_the_encoding() {
        let header = "{'descr': [('é', '|u1')], 'fortran_order': False, 'shape': (1,)}";
        let name = |bytes: &[u8]| match read(bytes).map(|data| data.content) {
            Ok(Content::Records(columns)) => Ok(columns[0].0.to_string()),
            Ok(Content::Plain(_)) => panic!("no records"),
            Err(error) => Err(error),
        };
        assert_eq!(name(&file(1, header, &[0])), Ok("Ã©".to_string()));
        assert_eq!(name(&file(3, header, &[0])), Ok("é".to_string()));
        let mut latin = file(3, &header.replace('é', "e"), &[0]);
        let at = latin.iter().position(|b| *b == b'[').expect("a bracket") + 3;
        assert_eq!(latin[at], b'e');
        latin[at] = 0xe9;
        assert_eq!(name(&latin), Err(malformed("its header is not UTF-8")));
        latin[MAGIC.len()] = 2;
        assert_eq!(name(&latin), Ok("é".to_string()));
    }

    #[test]
    fn names_read_back() {
        let column = || Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1, 2]));
        let names: [Arc<str>; 3] = ["x'".into(), "plain".into(), "größe".into()];
        for names in [&names[..1], &names[..2], &names] {
            let columns = names.iter().map(|name| (name.clone(), column())).collect();
            let data = Data { shape: vec![2], content: Content::Records(columns) };
            let limits = Limits { memory: 1 << 10, interrupt: &AtomicBool::new(false) };
            let Content::Records(found) =
                read(&write(&data, &limits).expect("a file")).expect("read").content
            else {
                panic!("records")
            };
            assert_eq!(found.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
        }
    }

    #[test]
    fn texts_are_padded_only_where_there_is_room() {
        let mut texts = vec![Value::str("a"); 1000];
        texts.push(Value::str("b".repeat(1000)));
        let column = Column::new(Element::Scalar(Scalar::String), Buffer::Any(texts));
        let data = Data { shape: vec![1001], content: Content::Plain(column) };
        let stop = AtomicBool::new(false);
        let size = 1001 * 4000;
        assert_eq!(
            write(&data, &Limits { memory: size + 128, interrupt: &stop }).expect("a file").len() as u64,
            size + 128
        );
        let why = "each of its texts takes as much as the longest, and all more memory than may be used";
        let refused = write(&data, &Limits { memory: size - 1, interrupt: &stop });
        assert_eq!(refused, Err(DataError::Unwritable { why: why.to_string() }));
        let why = "it takes more memory than may be used";
        let refused = write(&data, &Limits { memory: size, interrupt: &stop });
        assert_eq!(refused, Err(DataError::Unwritable { why: why.to_string() }));
    }

    #[test]
    fn every_beginning_of_a_file_is_refused() {
        let data = Data {
            shape: vec![3],
            content: Content::Plain(Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1, 2, 3]))),
        };
        let limits = Limits { memory: 1 << 10, interrupt: &AtomicBool::new(false) };
        let bytes = write(&data, &limits).expect("a file");
        assert_eq!((bytes.len() - 24) % 64, 0);
        for end in 0..bytes.len() {
            assert!(matches!(read(&bytes[..end]), Err(DataError::Malformed { .. })), "{end}");
        }
        assert_eq!(plain(read(&bytes).expect("an array")).2, [1, 2, 3]);
    }
}
