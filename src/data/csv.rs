//! Values between commas or another separator (RFC 4180): a line for each row, the first with the names of the columns where
//! records are wanted; tables of numbers have no such line.
//!
//! The stated type says what the cells are. Columns are found by their names; those that the type does not
//! mention are passed over. An empty cell is none of an option, the empty text, or a mistake.

use super::error::Why;
use super::{Column, Content, Data, DataError, Element, Format, Limits, Separator};
use crate::types::Scalar;
use crate::types::stored::{Cell, CellKind, FileType};
use crate::value::{Buffer, Class, Value};
use ::csv::{ReaderBuilder, StringRecord, WriterBuilder};
use num_bigint::{BigInt, BigUint};

fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Csv(Separator::COMMA), why: why.into() }
}

/// What is said of a line that is one cell, though it has a character that often separates cells.
fn separated(text: &str, separator: Separator) -> Option<DataError> {
    let other = [';', '\t', '|'].into_iter().find(|c| *c as u8 != separator.byte() && text.contains(*c))?;
    Some(malformed(format!(
        "line 1 is one cell; `csv (path, {other:?})` reads what stands between `{other:?}`"
    )))
}

/// The cells of a text at the types that are wanted.
pub fn read(
    bytes: &[u8],
    wanted: &FileType,
    separator: Separator,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let not_held = |ty: String, why: &str| DataError::NotHeld {
        format: Format::Csv(separator),
        ty,
        why: why.to_string(),
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        malformed(format!("line {line} is not UTF-8 text"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(line) = unclosed(text.as_bytes(), separator, limits)? {
        return Err(malformed(format!("line {line} opens a cell with `\"`, which nothing closes")));
    }
    let mut limits = *limits;
    let mut reader = ReaderBuilder::new();
    reader.delimiter(separator.byte()).has_headers(false).flexible(true);
    let mut reader = reader.from_reader(text.as_bytes());
    let mut rows = reader.records();
    match &wanted.contents {
        CellKind::Record(fields) => {
            if wanted.axes.len() != 1 {
                return Err(not_held(wanted.element.to_string(), "the rows of it are one axis: `(…) ^ ?N`"));
            }
            let header = rows.next().transpose().map_err(|error| malformed(error.to_string()))?;
            let header: Vec<String> =
                header.unwrap_or_default().iter().map(|name| name.trim().to_string()).collect();
            let mut columns = Vec::new();
            for (name, cell) in fields {
                let mut found = header.iter().enumerate().filter(|(_, other)| ***other == **name);
                let Some((at, _)) = found.next() else {
                    if let [one] = &header[..]
                        && let Some(trouble) = separated(one, separator)
                    {
                        return Err(trouble);
                    }
                    let similar = super::fit::similar(name, &header);
                    return Err(DataError::NoColumn {
                        what: "column",
                        name: name.to_string(),
                        there: header,
                        similar,
                    });
                };
                if found.next().is_some() {
                    return Err(malformed(format!("two of its columns are named `{name}`")));
                }
                columns.push((at, name.clone(), Cells::of(cell)?));
            }
            let mut count = 0;
            for row in rows {
                limits.poll(count)?;
                let row = row.map_err(|error| malformed(error.to_string()))?;
                let line = line(&row);
                if row.len() != header.len() {
                    return Err(ragged(line, row.len(), 1, header.len()));
                }
                for (at, name, cells) in &mut columns {
                    cells.read(
                        &row[*at],
                        Why::Other,
                        || format!("line {line}, column `{name}`"),
                        &mut limits,
                    )?;
                }
                count += 1;
            }
            let columns = columns.into_iter().map(|(_, name, cells)| (name, cells.column())).collect();
            Ok(Data { shape: vec![count], content: Content::Records(columns) })
        }
        CellKind::Cell(cell) => {
            if !(1..=2).contains(&wanted.axes.len()) {
                return Err(not_held(cell.text(), "it has rows, and columns perhaps: one axis or two"));
            }
            let mut cells = Cells::of(cell)?;
            let (mut count, mut width, mut first) = (0, 0, 0);
            for row in rows {
                limits.poll(count)?;
                let row = row.map_err(|error| malformed(error.to_string()))?;
                let line = line(&row);
                if count == 0 {
                    if let (1, Some(trouble)) = (row.len(), separated(&row[0], separator))
                        && !matches!(cell.inner(), Cell::Scalar(Scalar::String | Scalar::Char))
                    {
                        return Err(trouble);
                    }
                    (width, first) = (row.len(), line);
                } else if row.len() != width {
                    return Err(ragged(line, row.len(), first, width));
                }
                for (at, text) in row.iter().enumerate() {
                    let why = if line == 1 { Why::Header } else { Why::Other };
                    cells.read(text, why, || format!("line {line}, cell {}", at + 1), &mut limits)?;
                }
                count += 1;
            }
            let mut shape = vec![count, width];
            if wanted.axes.len() == 1 && (width == 1 || count == 0) {
                shape.pop();
            }
            Ok(Data { shape, content: Content::Plain(cells.column()) })
        }
        CellKind::Complex => Err(not_held("complex".into(), "a cell holds one number: read two columns")),
    }
}

/// The line in which a quote opens a cell that goes on to the end of the text. Cells are told apart as the crate does.
fn unclosed(text: &[u8], separator: Separator, limits: &Limits<'_>) -> Result<Option<u64>, DataError> {
    if !text.contains(&b'"') {
        return Ok(None);
    }
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Start,
        Inside,
        Quoted,
        /// Behind a quote within quotes: it ends them unless another one follows.
        Behind,
    }
    let (mut at, mut line, mut opened) = (At::Start, 1, 0);
    for (i, byte) in text.iter().enumerate() {
        limits.poll(i)?;
        let ends = *byte == separator.byte() || matches!(byte, b'\n' | b'\r');
        at = match (at, byte) {
            (At::Start, b'"') => {
                opened = line;
                At::Quoted
            }
            (At::Quoted, b'"') => At::Behind,
            (At::Behind, b'"') | (At::Quoted, _) => At::Quoted,
            _ if ends => At::Start,
            _ => At::Inside,
        };
        line += u64::from(*byte == b'\n');
    }
    Ok((at == At::Quoted).then_some(opened))
}

fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, |at| at.line())
}

fn ragged(line: u64, count: usize, first: u64, expected: usize) -> DataError {
    let cells = |n: usize| if n == 1 { "1 cell".to_string() } else { format!("{n} cells") };
    malformed(format!("line {line} has {}, line {first} has {}", cells(count), cells(expected)))
}

/// Cells of one column that have been read.
struct Cells {
    wanted: Cell,
    element: Element,
    /// Of a compact type its size.
    size: BigUint,
    cells: Buffer,
    missing: Vec<bool>,
}

impl Cells {
    fn of(wanted: &Cell) -> Result<Cells, DataError> {
        let (element, size) = match wanted.inner() {
            Cell::Scalar(scalar) => (Element::Scalar(*scalar), BigUint::ZERO),
            Cell::Code(ty) if ty.is_bool() => (Element::Bool, 2u32.into()),
            Cell::Code(ty) => {
                let size = ty.size().unwrap_or_default();
                let integers = super::unsigned(super::fit::class_of_codes(ty));
                let integers = integers.ok_or_else(|| DataError::NotHeld {
                    format: Format::Csv(Separator::COMMA),
                    ty: ty.to_string(),
                    why: "codes of up to 64 bits are read".to_string(),
                })?;
                (Element::Scalar(integers), size)
            }
            Cell::Case(..) => (Element::Scalar(Scalar::String), BigUint::ZERO),
            // No list comes here: the format has none.
            Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => (Element::Bool, BigUint::ZERO),
        };
        let cells = Buffer::with_room(element.class(), 0).unwrap_or(Buffer::Any(Vec::new()));
        Ok(Cells { wanted: wanted.clone(), element, size, cells, missing: Vec::new() })
    }

    fn read(
        &mut self,
        text: &str,
        other: Why,
        place: impl Fn() -> String,
        limits: &mut Limits<'_>,
    ) -> Result<(), DataError> {
        let trimmed = text.trim();
        let class = self.element.class();
        let taken = limits.take(class.bytes() + u64::from(self.wanted.is_optional()));
        // A text is kept as it is, a number of any size takes less than its digits.
        let taken =
            taken.and_then(|()| if class == Class::Any { limits.take_text(text.len()) } else { Some(()) });
        taken.ok_or_else(|| DataError::too_large(Format::Csv(Separator::COMMA)))?;
        if self.wanted.is_optional() {
            let empty = trimmed.is_empty();
            self.missing.push(empty);
            if empty {
                let any = matches!(self.cells, Buffer::Any(_));
                self.cells.push(if any { Value::str("") } else { Value::UNIT });
                return Ok(());
            }
        }
        match self.value(text, trimmed) {
            Some(value) => self.cells.push(value),
            None => {
                let wanted = self.wanted.inner().text();
                let empty = trimmed.is_empty();
                let why = if empty { Why::Empty } else { other };
                return Err(DataError::Cell { place: place(), text: trimmed.to_string(), wanted, why });
            }
        }
        Ok(())
    }

    fn value(&self, text: &str, trimmed: &str) -> Option<Value> {
        match self.element {
            Element::Bool => match trimmed {
                "true" | "True" | "TRUE" | "1" => Some(Value::bool(true)),
                "false" | "False" | "FALSE" | "0" => Some(Value::bool(false)),
                _ => None,
            },
            Element::Scalar(Scalar::String) => match self.wanted.inner() {
                Cell::Case(names, _) => {
                    names.iter().find(|name| ***name == *trimmed).map(|name| Value::str(&**name))
                }
                _ => Some(Value::str(text)),
            },
            Element::Scalar(Scalar::Char) => {
                let mut chars = text.chars();
                chars.next().filter(|_| chars.next().is_none()).map(Value::char)
            }
            Element::Scalar(Scalar::Real) => trimmed.parse().ok().map(Value::real),
            Element::Scalar(Scalar::Single) => trimmed.parse().ok().map(Value::single),
            Element::Scalar(Scalar::Bigint) => whole(trimmed).parse::<BigInt>().ok().map(Value::bigint),
            Element::Scalar(Scalar::Int) => whole(trimmed).parse().ok().map(Value::int),
            Element::Scalar(integer @ Scalar::Fixed(fixed)) => {
                let n: i128 = whole(trimmed).parse().ok()?;
                let (low, high) = integer.bounds()?;
                let code = matches!(self.wanted.inner(), Cell::Code(_));
                let below = !code || BigUint::try_from(n).is_ok_and(|n| n < self.size);
                (low <= n && n <= high && below).then(|| Value::Word(fixed.encode(n)))
            }
            Element::Complex => None,
        }
    }

    fn column(self) -> Column {
        let missing = if self.missing.contains(&true) { self.missing } else { Vec::new() };
        Column { missing, ..Column::new(self.element, self.cells) }
    }
}

/// A number without `.0` at its end, as whole numbers are written in a column with empty cells.
fn whole(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        _ => text,
    }
}

/// Columns with a line of their names, or a table without.
pub fn write(data: &Data, separator: Separator, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let not_held = |why: &str| {
        let format = Format::Csv(separator);
        DataError::NotHeld { format, ty: data.type_text(), why: why.to_string() }
    };
    let (rows, columns): (usize, Vec<(&Column, usize)>) = match &data.content {
        Content::Plain(column) => {
            let (rows, width) = match &data.shape[..] {
                [rows] => (*rows, 1),
                [rows, width] => (*rows, *width),
                _ => return Err(not_held("it has rows, and columns perhaps: one axis or two")),
            };
            if column.element == Element::Complex {
                return Err(not_held("a cell holds one number: write the two parts as columns"));
            }
            if width == 0 && rows > 0 {
                return Err(not_held("rows without a cell are no lines"));
            }
            (rows, vec![(column, width)])
        }
        Content::Records(columns) => {
            let [rows] = data.shape[..] else {
                return Err(not_held("the rows of it are one axis: `(…) ^ N`"));
            };
            if columns.iter().any(|(_, column)| column.element == Element::Complex) {
                return Err(not_held("a cell holds one number: write the two parts as columns"));
            }
            (rows, columns.iter().map(|(_, column)| (column, 1)).collect())
        }
    };
    let unwritable = |error: ::csv::Error| DataError::Unwritable { why: error.to_string() };
    let mut writer = WriterBuilder::new().delimiter(separator.byte()).from_writer(Vec::new());
    if let Content::Records(columns) = &data.content {
        writer.write_record(columns.iter().map(|(name, _)| &**name)).map_err(unwritable)?;
    }
    for row in 0..rows {
        for (column, width) in &columns {
            for i in row * width..(row + 1) * width {
                limits.poll(i)?;
                writer.write_field(text(column, i)).map_err(unwritable)?;
                if writer.get_ref().len() as u64 > limits.room {
                    return Err(DataError::too_large_to_write());
                }
            }
        }
        writer.write_record(None::<&[u8]>).map_err(unwritable)?;
    }
    writer.into_inner().map_err(|error| DataError::Unwritable { why: error.error().to_string() })
}

/// All cells as text, row by row, between blanks; `None` if that is longer than the room.
pub fn cells_text(data: &Data, limits: &Limits<'_>) -> Result<Option<String>, DataError> {
    let columns: Vec<&Column> = match &data.content {
        Content::Plain(column) => vec![column],
        Content::Records(columns) => columns.iter().map(|(_, column)| column).collect(),
    };
    let mut out = String::new();
    for i in 0..data.count() {
        limits.poll(i)?;
        for column in &columns {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&text(column, i));
        }
        if out.len() as u64 > limits.room {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

/// A cell as text that reads back.
fn text(column: &Column, at: usize) -> String {
    if column.missing.get(at).copied().unwrap_or(false) {
        return String::new();
    }
    let value = column.cells.get(at);
    match column.element {
        Element::Bool => value.as_bool().to_string(),
        Element::Scalar(scalar) => match scalar {
            Scalar::String => value.as_str().to_string(),
            Scalar::Char => value.as_char().to_string(),
            Scalar::Real => format!("{:?}", value.as_real()),
            Scalar::Single => format!("{:?}", value.as_single()),
            Scalar::Bigint => value.as_bigint().to_string(),
            Scalar::Int => value.as_int().to_string(),
            Scalar::Fixed(fixed) => fixed.decode(value.word()).to_string(),
        },
        Element::Complex => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Type;
    use std::sync::atomic::AtomicBool;

    /// The rows of a text of cells, or why there are none.
    fn rows(text: &str, ty: Type, room: u64) -> Result<usize, String> {
        let row = Type::array(ty, Type::unit_sum(1u32));
        let wanted = FileType::of(&row).expect("a table");
        let limits = Limits { room, stop: &AtomicBool::new(false) };
        match read(text.as_bytes(), &wanted, Separator::COMMA, &limits) {
            Ok(data) => Ok(data.shape[0]),
            Err(DataError::Malformed { why, .. }) => Err(why),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_quote_that_nothing_closes_is_refused() {
        let texts = |text: &str| rows(text, Type::string(), 1 << 20);
        for (text, line) in [
            ("\"", 1),
            ("a\n\"b\nc\nd\n", 2),
            ("a,\"b\n", 1),
            ("a\r\nb\r\n\"\"\"\r\n", 3),
            ("\"a\nb\",\"c", 2),
        ] {
            let why = format!("line {line} opens a cell with `\"`, which nothing closes");
            assert_eq!(texts(text), Err(why), "{text:?}");
        }
        for text in
            ["\"\"", "a\"\n", "a\"b\n", "\"a\"", "\"a\nb\"\n", "\"a\"\"\"\n", "\"a\"b\"\n", "\"a\"\r\n"]
        {
            assert_eq!(texts(text), Ok(1), "{text:?}");
        }
    }

    #[test]
    fn cells_that_take_more_than_there_is_are_refused() {
        let too_large = Err("it takes more memory than there is".to_string());
        let numbers = "1\n".repeat(100);
        assert_eq!(rows(&numbers, Type::int(), 800), Ok(100));
        assert_eq!(rows(&numbers, Type::int(), 799), too_large);
        let each = Class::Any.bytes() + 2 * size_of::<usize>() as u64 + 1;
        assert_eq!(rows(&numbers, Type::string(), 100 * each), Ok(100));
        assert_eq!(rows(&numbers, Type::string(), 100 * each - 1), too_large);
    }
}
