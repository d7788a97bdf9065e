//! Arrow's files of columns: the file format (`.arrow`, `.feather` of version 2), and the same
//! messages one after the other, the stream format (`.arrows`).
//!
//! Reads the columns that the stated type names: truth values, integers, floats of 16 to 64 bits,
//! texts in their three layouts, dictionaries and lists of these, compressed with LZ4 or Zstandard
//! or not. Other columns are skipped, and refused if they are named. Columns of one batch without
//! empty cells are not copied. Writes the file format with one batch. The format:
//! <https://arrow.apache.org/docs/format/Columnar.html>.
//!
//! Each length that a file states is compared with the bytes that are there.

mod batch;
mod schema;
mod write;

pub use write::write;

use super::{Column, Content, Data, DataError, Format, Limits};
use crate::types::stored::{CellKind, FileType};
use crate::value::{Buffer, Value};
use batch::BatchReader;
use bytes::Bytes;
use polars_arrow_format::ipc::planus::{self, ReadAsRoot};
use polars_arrow_format::ipc::{
    BlockRef, Endianness, FooterRef, MessageHeaderRef, MessageRef, MetadataVersion, SchemaRef,
};
use schema::Schema;
use std::sync::Arc;

/// The bytes at the beginning and at the end of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The bytes at the beginning of a file of Feather version 1.
const FEATHER_V1_MAGIC: &[u8] = b"FEA1";
/// The bytes before the length of a message, since version 0.15.
const CONTINUATION_MARKER: [u8; 4] = [0xff; 4];

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Arrow, why: why.into() }
}

/// Returns the error of a row without a list in a column of lists.
fn missing_list(name: &str, row: usize) -> DataError {
    malformed(crate::data::missing_list_text(name, row))
}

/// Returns the error of a type that no Arrow file holds.
fn unsupported_type(ty: String, why: &str) -> DataError {
    DataError::UnsupportedType { format: Format::Arrow, ty, why: why.to_string() }
}

/// Returns the error of an invalid FlatBuffers structure.
fn invalid_flatbuffer(error: planus::Error) -> DataError {
    malformed(format!("its description is damaged: {error}"))
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
    let mut batches = None;
    for_each_part(bytes, limits, &mut |part| {
        match part {
            FilePart::Schema(schema, version) => {
                let schema = Schema::of(schema, version)?;
                let chosen = schema.select_columns(&names)?;
                batches = Some(BatchReader::new(schema, chosen, *limits));
            }
            FilePart::Message(message, body) => {
                let Some(batches) = &mut batches else {
                    return Err(malformed("its columns come before their description"));
                };
                match message {
                    MessageHeaderRef::RecordBatch(batch) => batches.add_batch(batch, &body)?,
                    MessageHeaderRef::DictionaryBatch(batch) => batches.add_dictionary(batch, &body)?,
                    _ => return Err(malformed("it holds tensors, which are no columns")),
                }
            }
        }
        Ok(())
    })?;
    match batches {
        Some(batches) => batches.finish(),
        None => Err(malformed("it has no description of its columns")),
    }
}

/// Returns the types of all columns that can be read, without reading a cell.
pub fn describe(bytes: &Bytes, limits: &Limits<'_>) -> Option<Data> {
    let mut found: Option<(Schema, Vec<bool>)> = None;
    let mut rows = 0usize;
    let walked = for_each_part(bytes, limits, &mut |part| {
        match (part, &mut found) {
            (FilePart::Schema(schema, version), found) => {
                let schema = Schema::of(schema, version)?;
                let empty = vec![false; schema.fields.len()];
                *found = Some((schema, empty));
            }
            (FilePart::Message(MessageHeaderRef::RecordBatch(batch), _), Some((schema, empty))) => {
                rows = rows.saturating_add(
                    usize::try_from(batch.length().map_err(invalid_flatbuffer)?).unwrap_or(0),
                );
                let nodes = batch.nodes().map_err(invalid_flatbuffer)?;
                for (field, empty) in schema.fields.iter().zip(empty) {
                    // The elements of lists are a column of their own.
                    let own = field.node..=field.node + usize::from(field.lists.is_some());
                    let gone = |at: usize| nodes?.get(at).map(|node| node.null_count() != 0);
                    *empty |= own.filter_map(gone).any(|gone| gone);
                }
            }
            _ => {}
        }
        Ok(())
    });
    walked.ok()?;
    let (schema, empty) = found?;
    let columns = schema.fields.iter().zip(empty).filter_map(|(field, empty)| {
        // Columns with missing lists, or missing elements, have no type.
        if field.lists.is_some() && empty {
            return None;
        }
        let mut column = Column::new(field.kind.as_ref()?.element(), Buffer::Any(Vec::new()));
        column.missing.extend(empty.then_some(true));
        column.lists = field.lists.map(|_| vec![0]);
        Some((field.name.clone(), column))
    });
    let columns: Vec<(Arc<str>, Column)> = columns.collect();
    (!columns.is_empty()).then_some(Data { shape: vec![rows], content: Content::Records(columns) })
}

/// A part of a file.
enum FilePart<'a> {
    /// The schema, with the version of the metadata.
    Schema(SchemaRef<'a>, MetadataVersion),
    /// A message, with its body.
    Message(MessageHeaderRef<'a>, Bytes),
}

/// Calls `each` with the schema, and then with dictionaries and batches in an order in which they
/// can be read.
fn for_each_part(
    bytes: &Bytes,
    limits: &Limits<'_>,
    each: &mut dyn FnMut(FilePart<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if bytes.starts_with(FEATHER_V1_MAGIC) {
        return Err(malformed("it is Feather of version 1; version 2 is Arrow's format"));
    }
    if !bytes.starts_with(MAGIC) {
        return for_each_stream_part(bytes, limits, each);
    }
    let short = || malformed("it ends too early: what tells its parts stands at its end");
    let (rest, magic) = bytes.split_at_checked(bytes.len() - MAGIC.len()).ok_or_else(short)?;
    let (rest, length) = rest.split_last_chunk::<4>().filter(|_| magic == MAGIC).ok_or_else(short)?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok().filter(|n| *n <= rest.len());
    let footer = length.map(|n| &rest[rest.len() - n..]).ok_or_else(short)?;
    let footer = FooterRef::read_as_root(footer).map_err(invalid_flatbuffer)?;
    let schema = footer.schema().map_err(invalid_flatbuffer)?;
    each(supported_schema(footer.version().map_err(invalid_flatbuffer)?, schema)?)?;
    let dictionaries = footer.dictionaries().map_err(invalid_flatbuffer)?.into_iter().flatten();
    let batches = footer.record_batches().map_err(invalid_flatbuffer)?.into_iter().flatten();
    for block in dictionaries.chain(batches) {
        limits.poll(0)?;
        let (message, body) = message_at(bytes, block)?;
        if let Some(header) = message.header().map_err(invalid_flatbuffer)? {
            each(FilePart::Message(header, body))?;
        }
    }
    Ok(())
}

/// Returns a message of a file, with its body.
fn message_at<'a>(bytes: &'a Bytes, block: BlockRef<'_>) -> Result<(MessageRef<'a>, Bytes), DataError> {
    let outside = || malformed("a part of it lies beyond its end");
    let whole = |n: i64| usize::try_from(n).map_err(|_| outside());
    let start = whole(block.offset())?;
    let head = whole(i64::from(block.meta_data_length()))?;
    let at = start.checked_add(head).filter(|at| *at <= bytes.len()).ok_or_else(outside)?;
    let end = at.checked_add(whole(block.body_length())?).filter(|end| *end <= bytes.len());
    let end = end.ok_or_else(outside)?;
    let (_, message) = strip_frame(&bytes[start..at]).ok_or_else(outside)?;
    Ok((MessageRef::read_as_root(message).map_err(invalid_flatbuffer)?, bytes.slice(at..end)))
}

/// Strips the length of a message, and returns its end and its bytes.
fn strip_frame(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (lead, rest) = match bytes.strip_prefix(&CONTINUATION_MARKER) {
        Some(rest) => (8, rest),
        None => (4, bytes),
    };
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
    Some((lead + length, rest.get(..length)?))
}

/// Calls `each` with the messages of a stream in sequence.
fn for_each_stream_part(
    bytes: &Bytes,
    limits: &Limits<'_>,
    each: &mut dyn FnMut(FilePart<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (mut at, mut described) = (0, false);
    while at < bytes.len() {
        limits.poll(0)?;
        let other = || malformed("it begins neither as a file nor as a stream of Arrow");
        let short = || if described { malformed("it ends within a message") } else { other() };
        let (end, message) = strip_frame(&bytes[at..]).ok_or_else(short)?;
        // An empty message is the last.
        if message.is_empty() {
            break;
        }
        let message = MessageRef::read_as_root(message);
        let message = message.map_err(|error| if described { invalid_flatbuffer(error) } else { other() })?;
        let length =
            usize::try_from(message.body_length().map_err(invalid_flatbuffer)?).map_err(|_| short())?;
        let body = at + end;
        at = body.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(short)?;
        match message.header().map_err(invalid_flatbuffer)? {
            Some(MessageHeaderRef::Schema(schema)) if !described => {
                described = true;
                each(supported_schema(message.version().map_err(invalid_flatbuffer)?, Some(schema))?)?;
            }
            Some(header) if described => each(FilePart::Message(header, bytes.slice(body..at)))?,
            _ => return Err(other()),
        }
    }
    match described {
        true => Ok(()),
        false => Err(malformed("it is empty")),
    }
}

/// Returns a schema if its version and byte order are supported.
fn supported_schema(
    version: MetadataVersion,
    schema: Option<SchemaRef<'_>>,
) -> Result<FilePart<'_>, DataError> {
    let schema = schema.ok_or_else(|| malformed("it has no description of its columns"))?;
    if version < MetadataVersion::V4 {
        return Err(malformed("it was written before version 0.8 of Arrow"));
    }
    if schema.endianness().map_err(invalid_flatbuffer)? != Endianness::Little {
        return Err(malformed("its numbers are big-endian"));
    }
    Ok(FilePart::Schema(schema, version))
}

/// Concatenates pieces of a column; `None` if there is no memory.
fn concatenate(mut pieces: Vec<Column>, empty: Column) -> Option<Column> {
    if pieces.len() <= 1 {
        return Some(pieces.pop().unwrap_or(empty));
    }
    let count = pieces.iter().map(|piece| piece.cells.len()).sum();
    let mut cells = Buffer::with_capacity(empty.element.class(), count)?;
    let any = pieces.iter().any(|piece| !piece.missing.is_empty());
    let mut missing = Vec::new();
    let mut lists = empty.lists;
    for piece in pieces {
        let own = piece.cells.len();
        if let (Some(starts), Some(more)) = (&mut lists, &piece.lists) {
            let before = cells.len();
            starts.extend(more.iter().skip(1).map(|start| before + start));
        }
        cells.append_all(&piece.cells);
        if any {
            missing.extend(piece.missing.iter().copied().chain(std::iter::repeat_n(false, own)).take(own));
        }
    }
    Some(Column { element: empty.element, cells, missing, lists })
}

/// Returns the text in place of a missing cell.
fn empty_text() -> Value {
    Value::str("")
}
