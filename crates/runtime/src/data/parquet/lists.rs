//! Columns of lists in a Parquet file.
//!
//! A file has two levels for each element: the repetition level is 0 where a list begins, and the
//! definition level is the depth to which the element exists (Dremel, Melnik et al. 2010).
//! Recognizes the three forms in which lists are declared; gives the elements of all lists, and the
//! start of each list.

use super::{malformed, primitive_element};
use crate::data::{Column, DataError, Element, Limits, missing_list_text};
use crate::types::Scalar;
use crate::value::{Buffer, Value};
use ::parquet::basic::{ConvertedType, LogicalType, Repetition};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::{ParquetError, Result as Read};
use ::parquet::file::reader::FileReader;
use ::parquet::schema::types::Type as Schema;

/// The number of rows that are read at once.
const ROWS_PER_READ: usize = 1 << 10;

/// Returns the type of the elements of a column of lists; `None` if it is no column of lists of
/// cells.
pub fn list_element(field: &Schema) -> Option<Element> {
    let repeated = |field: &Schema| field.get_basic_info().repetition() == Repetition::REPEATED;
    if field.is_primitive() {
        return repeated(field).then(|| primitive_element(field)).flatten();
    }
    let info = field.get_basic_info();
    let list = info.converted_type() == ConvertedType::LIST
        || matches!(info.logical_type_ref(), Some(LogicalType::List));
    let [middle] = field.get_fields() else { return None };
    if !list || repeated(field) || !repeated(middle) {
        return None;
    }
    if middle.is_primitive() {
        return primitive_element(middle);
    }
    // A group of such a name is itself an element: a record.
    let record = middle.name() == "array" || middle.name() == format!("{}_tuple", field.name());
    match middle.get_fields() {
        [element] if !record && element.is_primitive() && !repeated(element) => primitive_element(element),
        _ => None,
    }
}

/// Reads a column of lists, in the order of the file.
pub fn read_list_column(
    file: &impl FileReader,
    field: &Schema,
    element: Element,
    limits: &mut Limits<'_>,
    failed: &dyn Fn(ParquetError) -> DataError,
) -> Result<Column, DataError> {
    let schema = file.metadata().file_metadata().schema_descr();
    let own = |at: &usize| schema.column(*at).path().parts().first().is_some_and(|name| name == field.name());
    let Some(at) = (0..schema.num_columns()).find(own) else { return Err(malformed("it is damaged")) };
    let present = 1 + i16::from(!field.is_primitive() && field.is_optional());
    let full = schema.column(at).max_def_level();
    let cells = Buffer::empty(element.class());
    let column = Column::new(element, cells);
    let mut lists =
        ListReader { column, starts: Vec::new(), name: field.name(), present, full, limits, failed };
    for group in 0..file.num_row_groups() {
        let rows = file.get_row_group(group).map_err(failed)?;
        let pages = rows.get_column_page_reader(at).map_err(failed)?;
        // The crate holds two levels and a value of each element.
        let room = lists.limits.memory / (element.class().bytes() + 8);
        let pages = Box::new(LimitedPages { pages, room });
        let before = lists.starts.len();
        match (get_column_reader(schema.column(at), pages), element) {
            (ColumnReader::BoolColumnReader(from), Element::Bool) => {
                lists.read_row_group(from, |b| Some(Value::bool(*b)))
            }
            (ColumnReader::Int32ColumnReader(from), Element::Scalar(Scalar::Fixed(fixed))) => {
                lists.read_row_group(from, |n| Some(Value::Word(fixed.encode(i128::from(*n)))))
            }
            (ColumnReader::Int64ColumnReader(from), Element::Scalar(Scalar::Fixed(fixed))) => {
                lists.read_row_group(from, |n| Some(Value::Word(fixed.encode(i128::from(*n)))))
            }
            (ColumnReader::Int64ColumnReader(from), _) => {
                lists.read_row_group(from, |n| Some(Value::int(*n)))
            }
            (ColumnReader::FloatColumnReader(from), _) => {
                lists.read_row_group(from, |x| Some(Value::single(*x)))
            }
            (ColumnReader::DoubleColumnReader(from), _) => {
                lists.read_row_group(from, |x| Some(Value::real(*x)))
            }
            (ColumnReader::ByteArrayColumnReader(from), _) => {
                // What is checked is a copy: the file may be changed by others.
                lists.read_row_group(from, |text: &ByteArray| {
                    String::from_utf8(text.data().to_vec()).ok().map(Value::str)
                })
            }
            _ => Err(malformed(format!("its column `{}` is not of its type", field.name()))),
        }?;
        if usize::try_from(rows.metadata().num_rows()) != Ok(lists.starts.len() - before) {
            return Err(malformed("its columns are not as long as it says"));
        }
    }
    Ok(lists.finish())
}

/// The lists of a column, as far as they are read.
struct ListReader<'l, 'm> {
    column: Column,
    starts: Vec<usize>,
    name: &'l str,
    /// The definition level of an element that exists or is missing; one less is that of a list
    /// without elements.
    present: i16,
    /// The definition level of an element that exists.
    full: i16,
    limits: &'l mut Limits<'m>,
    failed: &'l dyn Fn(ParquetError) -> DataError,
}

impl ListReader<'_, '_> {
    /// Adds the lists of a row group.
    fn read_row_group<T: DataType>(
        &mut self,
        mut from: ColumnReaderImpl<T>,
        cell: impl Fn(&T::T) -> Option<Value>,
    ) -> Result<(), DataError> {
        let too_much = || malformed("its columns take more memory than there is");
        let damaged = || malformed(format!("the lists of its column `{}` are damaged", self.name));
        let text = self.column.element == Element::Scalar(Scalar::String);
        let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = true;
        loop {
            self.limits.poll(0)?;
            defined.clear();
            repeated.clear();
            values.clear();
            let read = from.read_records(ROWS_PER_READ, Some(&mut defined), Some(&mut repeated), &mut values);
            let (records, _, levels) = read.map_err(self.failed)?;
            if (records, levels) == (0, 0) {
                return Ok(());
            }
            let mut values = values.iter();
            for (i, (defined, repeated)) in defined.iter().zip(&repeated).enumerate() {
                self.limits.poll(i)?;
                if *repeated == 0 {
                    self.limits.reserve(8).ok_or_else(too_much)?;
                    self.starts.push(self.column.cells.len());
                    if *defined < self.present - 1 {
                        return Err(malformed(missing_list_text(self.name, self.starts.len() - 1)));
                    }
                } else if first || *defined < self.present {
                    return Err(damaged());
                }
                first = false;
                if *defined < self.present {
                    continue;
                }
                let missing = *defined < self.full;
                let value = match missing {
                    true if text => Value::str(""),
                    true => Value::UNIT,
                    false => values.next().and_then(&cell).ok_or_else(damaged)?,
                };
                self.limits.reserve(self.column.element.class().bytes() + 1).ok_or_else(too_much)?;
                if text {
                    self.limits.reserve_text(value.as_str().len()).ok_or_else(too_much)?;
                }
                self.column.cells.push(value);
                self.column.missing.push(missing);
            }
        }
    }

    /// Returns the column.
    fn finish(mut self) -> Column {
        self.starts.push(self.column.cells.len());
        if !self.column.missing.contains(&true) {
            self.column.missing = Vec::new();
        }
        Column { lists: Some(self.starts), ..self.column }
    }
}

/// Pages that together claim no more elements than memory holds: a short page may claim very many,
/// which are all equal, and they may be one list.
struct LimitedPages {
    pages: Box<dyn PageReader>,
    room: u64,
}

impl Iterator for LimitedPages {
    type Item = Read<Page>;

    fn next(&mut self) -> Option<Read<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for LimitedPages {
    fn get_next_page(&mut self) -> Read<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        let room = self.room.checked_sub(u64::from(page.num_values()));
        let too_much = || ParquetError::General("its columns take more memory than there is".to_string());
        self.room = room.ok_or_else(too_much)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Read<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Read<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Read<bool> {
        // Levels determine the ends of lists. The crate would otherwise trust the header of the
        // next page.
        Ok(false)
    }
}
