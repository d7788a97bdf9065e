//! Parquet files: columns with names, each of one type, some with empty cells.
//!
//! Reads the columns that the stated type names, compressed with Snappy, gzip, LZ4 or Zstandard
//! ([`pages`]), and lists of cells ([`lists`]). Columns of records and times are skipped, and
//! refused if they are named. Writes one row group, with Snappy.

mod lists;
mod pages;

use crate::data::{Column, Content, Data, DataError, Element, Format, Limits};
use crate::types::stored::{CellKind, FileType};
use crate::types::{Scalar, number::Fixed};
use crate::value::{Buffer, Value};
use ::parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::record::Field;
use ::parquet::schema::types::Type as Schema;
use bytes::Bytes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Parquet, why: why.into() }
}

/// Returns the error of a type that no Parquet file holds.
fn unsupported_type(ty: String, why: &str) -> DataError {
    DataError::UnsupportedType { format: Format::Parquet, ty, why: why.to_string() }
}

/// Reads the columns of a file that the stated type names.
pub fn read(bytes: &Bytes, wanted: &FileType, limits: &Limits<'_>) -> Result<Data, DataError> {
    let CellKind::Record(fields) = &wanted.contents else {
        return Err(unsupported_type(
            wanted.element.to_string(),
            "its rows are records: `(name:string, …) ^ ?N`",
        ));
    };
    let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
    // The crate panics on some damaged files.
    let read = catch_unwind(AssertUnwindSafe(|| read_columns(bytes, &names, limits)));
    read.unwrap_or_else(|_| Err(malformed("it is damaged")))
}

/// Returns the types of all columns that can be read, from the metadata at the end of the file.
pub fn describe(bytes: &Bytes) -> Option<Data> {
    catch_unwind(AssertUnwindSafe(|| describe_columns(bytes))).ok()?.ok()
}

/// Returns the types of all columns that can be read.
fn describe_columns(bytes: &Bytes) -> Result<Data, ParquetError> {
    let reader = SerializedFileReader::new(bytes.clone())?;
    let metadata = reader.metadata();
    let mut columns = Vec::new();
    for field in metadata.file_metadata().schema().get_fields() {
        if let Some(element) = lists::list_element(field) {
            let lists = Some(vec![0]);
            columns.push((
                field.name().into(),
                Column { lists, ..Column::new(element, Buffer::Any(Vec::new())) },
            ));
            continue;
        }
        let Some(element) = column_element(field) else { continue };
        // The statistics of a column may say that no cell is empty; without statistics cells may be
        // empty.
        let full = |group: &RowGroupMetaData| {
            let mut chunks = group.columns().iter();
            let chunk =
                chunks.find(|chunk| matches!(chunk.column_path().parts(), [name] if name == field.name()));
            let empty = chunk.and_then(|chunk| chunk.statistics()).and_then(|known| known.null_count_opt());
            empty == Some(0)
        };
        let optional = field.is_optional() && !metadata.row_groups().iter().all(full);
        let mut column = Column::new(element, Buffer::Any(Vec::new()));
        if optional {
            column.missing.push(true);
        }
        columns.push((field.name().into(), column));
    }
    Ok(Data { shape: vec![0], content: Content::Records(columns) })
}

/// Reads the columns with these names.
fn read_columns(bytes: &Bytes, names: &[&str], limits: &Limits<'_>) -> Result<Data, DataError> {
    let failed = |error: ParquetError| match error.to_string() {
        text if text.contains("Disabled feature") => malformed(
            "its columns are packed with Brotli or LZO; write them with Snappy, gzip, LZ4 or Zstandard",
        ),
        text => malformed(text),
    };
    let reader = pages::File::new(bytes, limits).map_err(failed)?;
    let schema = reader.metadata().file_metadata().schema();
    let there: Vec<String> = schema.get_fields().iter().map(|field| field.name().to_string()).collect();
    let mut chosen: Vec<(Arc<str>, Arc<Schema>, Element)> = Vec::new();
    for name in names {
        let mut found = schema.get_fields().iter().filter(|field| field.name() == *name);
        let Some(field) = found.next() else {
            let (name, similar) = (name.to_string(), crate::data::similar_name(name, &there));
            return Err(DataError::MissingColumn { what: "column", name, there, similar });
        };
        if found.next().is_some() {
            return Err(malformed(format!("two of its columns are named `{name}`")));
        }
        let element = column_element(field).or_else(|| lists::list_element(field)).ok_or_else(|| {
            malformed(format!(
                "its column `{name}` holds {}, which no cell is",
                unsupported_description(field)
            ))
        })?;
        chosen.push(((*name).into(), field.clone(), element));
    }
    // The crate returns columns in the order of the file, which may differ from that of `names`.
    let position = |field: &Arc<Schema>| there.iter().position(|name| name == field.name());
    let listed = |at: &usize| column_element(&chosen[*at].1).is_none();
    let mut in_file: Vec<usize> = (0..chosen.len()).filter(|at| !listed(at)).collect();
    in_file.sort_by_key(|at| position(&chosen[*at].1));
    let fields = in_file.iter().map(|at| chosen[*at].1.clone()).collect();
    let projection = Schema::group_type_builder(schema.name()).with_fields(fields).build().map_err(failed)?;
    // Lists alone say how many rows there are.
    let rows = match in_file.is_empty() && !chosen.is_empty() {
        true => None,
        false => Some(reader.get_row_iter(Some(projection)).map_err(failed)?),
    };
    let mut columns: Vec<Column> = chosen
        .iter()
        .map(|(_, _, element)| {
            let cells = Buffer::empty(element.class());
            Column::new(*element, cells)
        })
        .collect();
    let optional = |at: usize| chosen[at].1.is_optional();
    let (mut count, mut limits) = (0, *limits);
    let too_much = || malformed("its columns take more memory than there is");
    for row in rows.into_iter().flatten() {
        let row = row.map_err(failed)?;
        limits.poll(count)?;
        for (at, (_, field)) in in_file.iter().zip(row.get_column_iter()) {
            let column = &mut columns[*at];
            let missing = matches!(field, Field::Null);
            let Some(value) = field_value(field, column.element) else {
                return Err(malformed(format!("its column `{}` is not of its type", chosen[*at].0)));
            };
            limits.reserve(column.element.class().bytes()).ok_or_else(too_much)?;
            if column.element == Element::Scalar(Scalar::String) {
                limits.reserve_text(value.as_str().len()).ok_or_else(too_much)?;
            }
            column.cells.push(value);
            if optional(*at) {
                column.missing.push(missing);
            }
        }
        count += 1;
    }
    for at in (0..chosen.len()).filter(listed) {
        let (_, field, element) = &chosen[at];
        columns[at] = lists::read_list_column(&reader, field, *element, &mut limits, &failed)?;
        let lists = columns[at].lists.as_ref().map_or(0, |starts| starts.len() - 1);
        if in_file.is_empty() && at == 0 {
            count = lists;
        }
        if lists != count {
            return Err(malformed("its columns are not equally long"));
        }
    }
    for column in &mut columns {
        if !column.missing.contains(&true) {
            column.missing.clear();
        }
    }
    let columns = chosen.into_iter().map(|(name, _, _)| name).zip(columns).collect();
    Ok(Data { shape: vec![count], content: Content::Records(columns) })
}

/// Returns the type of the cells of a column; `None` if it holds no cells.
fn column_element(field: &Schema) -> Option<Element> {
    let one = field.is_primitive() && field.get_basic_info().repetition() != Repetition::REPEATED;
    one.then(|| primitive_element(field)).flatten()
}

/// Returns the type of the cells of a primitive column.
fn primitive_element(field: &Schema) -> Option<Element> {
    let fixed = |fixed| Some(Element::Scalar(Scalar::Fixed(fixed)));
    match (field.get_physical_type(), field.get_basic_info().converted_type()) {
        (Physical::BOOLEAN, _) => Some(Element::Bool),
        (Physical::INT32, ConvertedType::INT_8) => fixed(Fixed::I8),
        (Physical::INT32, ConvertedType::INT_16) => fixed(Fixed::I16),
        (Physical::INT32, ConvertedType::NONE | ConvertedType::INT_32) => fixed(Fixed::I32),
        (Physical::INT32, ConvertedType::UINT_8) => fixed(Fixed::U8),
        (Physical::INT32, ConvertedType::UINT_16) => fixed(Fixed::U16),
        (Physical::INT32, ConvertedType::UINT_32) => fixed(Fixed::U32),
        // Times have a logical type, and no converted type where that cannot express them.
        (Physical::INT64, ConvertedType::NONE)
            if field
                .get_basic_info()
                .logical_type_ref()
                .is_some_and(|ty| format!("{ty:?}").starts_with("Time")) =>
        {
            None
        }
        (Physical::INT64, ConvertedType::NONE | ConvertedType::INT_64) => Some(Element::Scalar(Scalar::Int)),
        (Physical::INT64, ConvertedType::UINT_64) => fixed(Fixed::U64),
        (Physical::FLOAT, _) => Some(Element::Scalar(Scalar::Single)),
        (Physical::DOUBLE, _) => Some(Element::Scalar(Scalar::Real)),
        (Physical::BYTE_ARRAY, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => {
            Some(Element::Scalar(Scalar::String))
        }
        _ => None,
    }
}

/// Returns a description of a column that cannot be read, for messages.
fn unsupported_description(field: &Schema) -> &'static str {
    let info = field.get_basic_info();
    let logical = info.logical_type_ref().map(|ty| format!("{ty:?}")).unwrap_or_default();
    let is = |names: &[&str]| names.iter().any(|name| logical.starts_with(name));
    let list = info.repetition() == Repetition::REPEATED || info.converted_type() == ConvertedType::LIST;
    if list || is(&["List"]) {
        "lists of what is no number, text or truth value"
    } else if matches!(info.converted_type(), ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
        || is(&["Map"])
    {
        "maps"
    } else if !field.is_primitive() {
        "records"
    } else if is(&["Time", "Date"]) || field.get_physical_type() == Physical::INT96 {
        "times"
    } else if is(&["Decimal"]) || info.converted_type() == ConvertedType::DECIMAL {
        "decimals"
    } else {
        match info.converted_type() {
            ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::INTERVAL => "times",
            _ => "bytes",
        }
    }
}

/// Returns the value of a cell; `None` if it is not of the type.
fn field_value(field: &Field, element: Element) -> Option<Value> {
    let word = |n: i128| match element {
        Element::Scalar(Scalar::Fixed(fixed)) => Some(Value::Word(fixed.encode(n))),
        Element::Scalar(Scalar::Int) => Some(Value::int(n as i64)),
        _ => None,
    };
    match (field, element) {
        (Field::Null, Element::Scalar(Scalar::String)) => Some(Value::str("")),
        (Field::Null, _) => Some(Value::UNIT),
        (Field::Bool(b), Element::Bool) => Some(Value::bool(*b)),
        (Field::Float(x), Element::Scalar(Scalar::Single)) => Some(Value::single(*x)),
        (Field::Double(x), Element::Scalar(Scalar::Real)) => Some(Value::real(*x)),
        (Field::Str(text), Element::Scalar(Scalar::String)) => Some(Value::str(text.as_str())),
        (Field::Byte(n), _) => word(i128::from(*n)),
        (Field::Short(n), _) => word(i128::from(*n)),
        (Field::Int(n), _) => word(i128::from(*n)),
        (Field::Long(n), _) => word(i128::from(*n)),
        (Field::UByte(n), _) => word(i128::from(*n)),
        (Field::UShort(n), _) => word(i128::from(*n)),
        (Field::UInt(n), _) => word(i128::from(*n)),
        (Field::ULong(n), _) => word(i128::from(*n)),
        _ => None,
    }
}

/// Returns a table as the bytes of a file.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let Content::Records(columns) = &data.content else {
        return Err(unsupported_type(data.type_text(), "its rows are records: `(name=…, …)`"));
    };
    if data.shape.len() != 1 {
        return Err(unsupported_type(data.type_text(), "its rows are one axis: `(…) ^ N`"));
    }
    let failed = |error: ParquetError| DataError::Unwritable { why: error.to_string() };
    let mut fields = Vec::new();
    for (name, column) in columns {
        let (physical, converted) = parquet_type(column.element).ok_or_else(|| {
            unsupported_type(column.element.name().to_string(), "it has no cells of this type")
        })?;
        let repetition = if column.missing.is_empty() { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let cells = |name: &str| {
            let field = Schema::primitive_type_builder(name, physical);
            field.with_repetition(repetition).with_converted_type(converted).build().map(Arc::new)
        };
        let group = |name: &str, within: Arc<Schema>, repetition: Repetition, converted: ConvertedType| {
            let field = Schema::group_type_builder(name).with_fields(vec![within]);
            field.with_repetition(repetition).with_converted_type(converted).build().map(Arc::new)
        };
        let field = match column.lists {
            None => cells(name),
            Some(_) => cells("element")
                .and_then(|cells| group("list", cells, Repetition::REPEATED, ConvertedType::NONE))
                .and_then(|list| group(name, list, Repetition::REQUIRED, ConvertedType::LIST)),
        };
        fields.push(field.map_err(failed)?);
    }
    let schema = Schema::group_type_builder("table").with_fields(fields).build().map_err(failed)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut out = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
    let mut group = writer.next_row_group().map_err(failed)?;
    for (_, column) in columns {
        limits.poll(0)?;
        if let Some(to) = group.next_column().map_err(failed)? {
            write_column(to, column).map_err(failed)?;
        }
    }
    group.close().map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(out)
}

/// Returns the Parquet type of cells; `None` if there is none.
fn parquet_type(element: Element) -> Option<(Physical, ConvertedType)> {
    Some(match element {
        Element::Bool => (Physical::BOOLEAN, ConvertedType::NONE),
        Element::Scalar(Scalar::Int) => (Physical::INT64, ConvertedType::NONE),
        Element::Scalar(Scalar::Real) => (Physical::DOUBLE, ConvertedType::NONE),
        Element::Scalar(Scalar::Single) => (Physical::FLOAT, ConvertedType::NONE),
        Element::Scalar(Scalar::String) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Element::Scalar(Scalar::Fixed(fixed)) => match fixed {
            Fixed::I8 => (Physical::INT32, ConvertedType::INT_8),
            Fixed::I16 => (Physical::INT32, ConvertedType::INT_16),
            Fixed::I32 => (Physical::INT32, ConvertedType::INT_32),
            Fixed::U8 => (Physical::INT32, ConvertedType::UINT_8),
            Fixed::U16 => (Physical::INT32, ConvertedType::UINT_16),
            Fixed::U32 => (Physical::INT32, ConvertedType::UINT_32),
            Fixed::U64 => (Physical::INT64, ConvertedType::UINT_64),
        },
        Element::Complex | Element::Scalar(Scalar::Bigint | Scalar::Char) => return None,
    })
}

/// Writes a column.
fn write_column(to: SerializedColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    let integer = |value: Value| match column.element {
        Element::Scalar(Scalar::Fixed(fixed)) => fixed.decode(value.word()),
        _ => i128::from(value.as_int()),
    };
    match column.element {
        Element::Bool => write_cells::<BoolType>(to, column, |value| value.as_bool()),
        Element::Scalar(Scalar::Real) => write_cells::<DoubleType>(to, column, |value| value.as_real()),
        Element::Scalar(Scalar::Single) => write_cells::<FloatType>(to, column, |value| value.as_single()),
        Element::Scalar(Scalar::String) => {
            write_cells::<ByteArrayType>(to, column, |value| ByteArray::from(value.as_str()))
        }
        Element::Scalar(Scalar::Int | Scalar::Fixed(Fixed::U64)) => {
            write_cells::<Int64Type>(to, column, |value| integer(value) as i64)
        }
        _ => write_cells::<Int32Type>(to, column, |value| integer(value) as i32),
    }
}

/// Writes the cells of a column with their definition levels, and the repetition levels of lists.
fn write_cells<T: DataType>(
    mut to: SerializedColumnWriter<'_>,
    column: &Column,
    cell: impl Fn(Value) -> T::T,
) -> Result<(), ParquetError> {
    let there = |i: &usize| !column.is_missing(*i);
    let count = column.cells.len();
    let cells: Vec<T::T> = (0..count).filter(there).map(|i| cell(column.cells.get(i))).collect();
    let Some(starts) = &column.lists else {
        let levels: Vec<i16> = (0..count).map(|i| i16::from(there(&i))).collect();
        let levels = (!column.missing.is_empty()).then_some(&levels[..]);
        to.typed::<T>().write_batch(&cells, levels, None)?;
        return to.close();
    };
    // A list without elements is one level without a value.
    let (mut defined, mut repeated) = (Vec::new(), Vec::new());
    let present = i16::from(!column.missing.is_empty());
    for list in starts.windows(2) {
        if list[0] == list[1] {
            defined.push(0);
            repeated.push(0);
        }
        for i in list[0]..list[1] {
            defined.push(if there(&i) { 1 + present } else { 1 });
            repeated.push(i16::from(i > list[0]));
        }
    }
    to.typed::<T>().write_batch(&cells, Some(&defined), Some(&repeated))?;
    to.close()
}
