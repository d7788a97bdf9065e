//! Values between commas or another separator (RFC 4180): one line for each row. Where records are
//! wanted, the first line has the names of the columns; tables of numbers have no such line.
//!
//! The stated type determines the type of the cells. Columns are found by their names; columns that
//! the type does not mention are skipped. An empty cell is `None` of an option, the empty text, or
//! an error.

use super::error::CellMismatch;
use super::{Column, Content, Data, DataError, Element, Format, Limits, Separator};
use crate::calendar;
use crate::types::Scalar;
use crate::types::stored::{Cell, CellKind, FileType};
use crate::value::{Buffer, Class, Value};
use ::csv::{ReaderBuilder, StringRecord, WriterBuilder};
use num_bigint::{BigInt, BigUint};

/// Rules by which a CSV file is read, beyond its separator.
#[derive(Default)]
pub struct CsvRules<'a> {
    /// The number of lines before the rows.
    pub skipped: u64,
    /// The words that stand for an empty cell.
    pub missing: Vec<&'a str>,
}

impl CsvRules<'_> {
    /// Returns a text without the lines that are skipped.
    fn rest<'t>(&self, text: &'t str) -> &'t str {
        let mut rest = text;
        for _ in 0..self.skipped {
            match rest.split_once('\n') {
                Some((_, after)) => rest = after,
                None => return "",
            }
        }
        rest
    }

    /// Returns the text of a cell: none for a word that stands for an empty cell.
    fn cell<'t>(&self, text: &'t str) -> &'t str {
        if self.missing.contains(&text.trim()) { "" } else { text }
    }

    /// Returns the number of the line of a row.
    fn line(&self, row: &StringRecord) -> u64 {
        row.position().map_or(0, |at| at.line()) + self.skipped
    }
}

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Csv(Separator::COMMA), why: why.into() }
}

/// Returns the error for a line of one cell that contains another common separator.
fn other_separator(text: &str, separator: Separator, line: u64) -> Option<DataError> {
    let other = [';', '\t', '|'].into_iter().find(|c| *c as u8 != separator.byte() && text.contains(*c))?;
    Some(malformed(format!(
        "line {line} is one cell; `csv (path, {other:?})` reads what stands between `{other:?}`"
    )))
}

/// Reads the cells of a text at the stated type.
pub fn read(
    bytes: &[u8],
    wanted: &FileType,
    separator: Separator,
    rules: &CsvRules<'_>,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let not_held = |ty: String, why: &str| DataError::UnsupportedType {
        format: Format::Csv(separator),
        ty,
        why: why.to_string(),
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        malformed(format!("line {line} is not UTF-8 text"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = rules.rest(text);
    let first_line = rules.skipped + 1;
    if let Some(line) = unclosed_quote_line(text.as_bytes(), separator, limits)? {
        let line = line + rules.skipped;
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
                        && let Some(error) = other_separator(one, separator, first_line)
                    {
                        return Err(error);
                    }
                    let similar = super::conversion::similar_name(name, &header);
                    return Err(DataError::MissingColumn {
                        what: "column",
                        name: name.to_string(),
                        there: header,
                        similar,
                    });
                };
                if found.next().is_some() {
                    return Err(malformed(format!("two of its columns are named `{name}`")));
                }
                columns.push((at, name.clone(), ColumnParser::new(cell)?));
            }
            let mut count = 0;
            for row in rows {
                limits.poll(count)?;
                let row = row.map_err(|error| malformed(error.to_string()))?;
                let line = rules.line(&row);
                if row.len() != header.len() {
                    return Err(ragged_row(line, row.len(), first_line, header.len()));
                }
                for (at, name, cells) in &mut columns {
                    cells.push_cell(
                        rules.cell(&row[*at]),
                        CellMismatch::Unparsable,
                        || format!("line {line}, column `{name}`"),
                        &mut limits,
                    )?;
                }
                count += 1;
            }
            let columns = columns.into_iter().map(|(_, name, cells)| (name, cells.into_column())).collect();
            Ok(Data { shape: vec![count], content: Content::Records(columns) })
        }
        CellKind::Cell(cell) => {
            if !(1..=2).contains(&wanted.axes.len()) {
                return Err(not_held(cell.text(), "it has rows, and columns perhaps: one axis or two"));
            }
            let mut cells = ColumnParser::new(cell)?;
            let (mut count, mut width, mut first) = (0, 0, 0);
            for row in rows {
                limits.poll(count)?;
                let row = row.map_err(|error| malformed(error.to_string()))?;
                let line = rules.line(&row);
                if count == 0 {
                    if let (1, Some(error)) = (row.len(), other_separator(&row[0], separator, line))
                        && !matches!(cell.inner(), Cell::Scalar(Scalar::String | Scalar::Char))
                    {
                        return Err(error);
                    }
                    (width, first) = (row.len(), line);
                } else if row.len() != width {
                    return Err(ragged_row(line, row.len(), first, width));
                }
                for (at, text) in row.iter().enumerate() {
                    let header = line == first_line;
                    let why = if header { CellMismatch::ColumnName } else { CellMismatch::Unparsable };
                    cells.push_cell(
                        rules.cell(text),
                        why,
                        || format!("line {line}, cell {}", at + 1),
                        &mut limits,
                    )?;
                }
                count += 1;
            }
            let mut shape = vec![count, width];
            if wanted.axes.len() == 1 && (width == 1 || count == 0) {
                shape.pop();
            }
            Ok(Data { shape, content: Content::Plain(cells.into_column()) })
        }
        CellKind::Complex => Err(not_held("complex".into(), "a cell holds one number: read two columns")),
    }
}

/// Returns the line in which a quote opens a cell that is not closed. Cells are separated as the
/// `csv` crate does.
fn unclosed_quote_line(
    text: &[u8],
    separator: Separator,
    limits: &Limits<'_>,
) -> Result<Option<u64>, DataError> {
    if !text.contains(&b'"') {
        return Ok(None);
    }
    /// The state of the scan for quotes.
    #[derive(Clone, Copy, PartialEq)]
    enum QuoteState {
        /// The state at the beginning of a cell.
        Start,
        /// Inside a cell without quotes.
        Inside,
        /// Inside quotes.
        Quoted,
        /// The state after a quote within quotes: it closes the cell unless another quote follows.
        Behind,
    }
    let (mut at, mut line, mut opened) = (QuoteState::Start, 1, 0);
    for (i, byte) in text.iter().enumerate() {
        limits.poll(i)?;
        let ends = *byte == separator.byte() || matches!(byte, b'\n' | b'\r');
        at = match (at, byte) {
            (QuoteState::Start, b'"') => {
                opened = line;
                QuoteState::Quoted
            }
            (QuoteState::Quoted, b'"') => QuoteState::Behind,
            (QuoteState::Behind, b'"') | (QuoteState::Quoted, _) => QuoteState::Quoted,
            _ if ends => QuoteState::Start,
            _ => QuoteState::Inside,
        };
        line += u64::from(*byte == b'\n');
    }
    Ok((at == QuoteState::Quoted).then_some(opened))
}

/// Returns the error of rows with different numbers of cells.
fn ragged_row(line: u64, count: usize, first: u64, expected: usize) -> DataError {
    let cells = |n: usize| if n == 1 { "1 cell".to_string() } else { format!("{n} cells") };
    malformed(format!("line {line} has {}, line {first} has {}", cells(count), cells(expected)))
}

/// A parser of the cells of one column.
struct ColumnParser {
    wanted: Cell,
    element: Element,
    /// The size of a compact type.
    size: BigUint,
    cells: Buffer,
    missing: Vec<bool>,
}

impl ColumnParser {
    /// Creates a parser of cells of this type.
    fn new(wanted: &Cell) -> Result<ColumnParser, DataError> {
        let (element, size) = match wanted.inner() {
            Cell::Scalar(scalar) => (Element::Scalar(*scalar), BigUint::ZERO),
            Cell::Code(ty) if ty.is_bool() => (Element::Bool, 2u32.into()),
            Cell::Code(ty) => {
                let integers = super::unsigned_scalar(super::conversion::class_of_codes(ty));
                let integers = integers.ok_or_else(|| DataError::UnsupportedType {
                    format: Format::Csv(Separator::COMMA),
                    ty: ty.to_string(),
                    why: "codes of up to 64 bits are read".to_string(),
                })?;
                let size = ty.size().expect("codes of up to 64 bits have a size");
                (Element::Scalar(integers), size)
            }
            Cell::Case(..) | Cell::Day(_) => (Element::Scalar(Scalar::String), BigUint::ZERO),
            // The format has no lists.
            Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => (Element::Bool, BigUint::ZERO),
        };
        let cells = Buffer::empty(element.class());
        Ok(ColumnParser { wanted: wanted.clone(), element, size, cells, missing: Vec::new() })
    }

    /// Parses a cell and appends it. `place` returns its position for messages, and `other` is the
    /// reason for a text that is not of the type.
    fn push_cell(
        &mut self,
        text: &str,
        other: CellMismatch,
        place: impl Fn() -> String,
        limits: &mut Limits<'_>,
    ) -> Result<(), DataError> {
        let trimmed = text.trim();
        let class = self.element.class();
        let taken = limits.reserve(class.bytes() + u64::from(self.wanted.is_optional()));
        // A text is kept as it is; a number of any size takes less memory than its digits.
        let taken =
            taken.and_then(|()| if class == Class::Any { limits.reserve_text(text.len()) } else { Some(()) });
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
        match self.parse_cell(text, trimmed) {
            Some(value) => self.cells.push(value),
            None => {
                let wanted = self.wanted.inner().text();
                let empty = trimmed.is_empty();
                let why = if empty { CellMismatch::Empty } else { other };
                return Err(DataError::Cell { place: place(), text: trimmed.to_string(), wanted, why });
            }
        }
        Ok(())
    }

    /// Parses a cell; `None` if it is not of the type.
    fn parse_cell(&self, text: &str, trimmed: &str) -> Option<Value> {
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
                Cell::Day(_) => calendar::parse_day(trimmed).map(|_| Value::str(trimmed)),
                _ => Some(Value::str(text)),
            },
            Element::Scalar(Scalar::Char) => {
                let mut chars = text.chars();
                chars.next().filter(|_| chars.next().is_none()).map(Value::char)
            }
            Element::Scalar(Scalar::Real) => trimmed.parse().ok().map(Value::real),
            Element::Scalar(Scalar::Single) => trimmed.parse().ok().map(Value::single),
            Element::Scalar(Scalar::Bigint) => {
                strip_zero_fraction(trimmed).parse::<BigInt>().ok().map(Value::bigint)
            }
            Element::Scalar(Scalar::Int) => strip_zero_fraction(trimmed).parse().ok().map(Value::int),
            Element::Scalar(integer @ Scalar::Fixed(fixed)) => {
                let n: i128 = strip_zero_fraction(trimmed).parse().ok()?;
                let (low, high) = integer.bounds()?;
                let code = matches!(self.wanted.inner(), Cell::Code(_));
                let below = !code || BigUint::try_from(n).is_ok_and(|n| n < self.size);
                (low <= n && n <= high && below).then(|| Value::Word(fixed.encode(n)))
            }
            Element::Complex => None,
        }
    }

    /// Returns the column.
    fn into_column(self) -> Column {
        let missing = if self.missing.contains(&true) { self.missing } else { Vec::new() };
        Column { missing, ..Column::new(self.element, self.cells) }
    }
}

/// Removes `.0` from the end of a number: whole numbers are written so in a column with empty
/// cells.
fn strip_zero_fraction(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        _ => text,
    }
}

/// Returns columns with a line of their names, or a table without, as the bytes of a file.
pub fn write(data: &Data, separator: Separator, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let not_held = |why: &str| {
        let format = Format::Csv(separator);
        DataError::UnsupportedType { format, ty: data.type_text(), why: why.to_string() }
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
                writer.write_field(cell_text(column, i)).map_err(unwritable)?;
                if writer.get_ref().len() as u64 > limits.memory {
                    return Err(DataError::too_large_to_write());
                }
            }
        }
        writer.write_record(None::<&[u8]>).map_err(unwritable)?;
    }
    writer.into_inner().map_err(|error| DataError::Unwritable { why: error.error().to_string() })
}

/// Returns all cells as text, row by row, between blanks; `None` if it exceeds the memory bound.
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
            out.push_str(&cell_text(column, i));
        }
        if out.len() as u64 > limits.memory {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

/// Returns a cell as text that reads back.
fn cell_text(column: &Column, at: usize) -> String {
    if column.is_missing(at) {
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

    /// Returns the number of rows of a text, or the reason for an error.
    fn rows(text: &str, ty: Type, room: u64) -> Result<usize, String> {
        let row = Type::array(ty, Type::unit_sum(1u32));
        let wanted = FileType::of(&row).expect("a table");
        let limits = Limits { memory: room, interrupt: &AtomicBool::new(false) };
        match read(text.as_bytes(), &wanted, Separator::COMMA, &CsvRules::default(), &limits) {
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
