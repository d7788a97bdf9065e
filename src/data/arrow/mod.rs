//! Arrow's files of columns: the file format (`.arrow`, `.feather` of version 2), and the same messages one after
//! the other, the stream format (`.arrows`).
//!
//! Reads the columns that the stated type names: truth values, integers, floats of 16 to 64 bits, texts in their
//! three layouts, dictionaries and lists of these, packed with LZ4 or Zstandard or not; other columns are passed over,
//! and refused where they are asked for. Columns of one batch without empty cells are not copied. Writes the file format
//! with one batch. The format: <https://arrow.apache.org/docs/format/Columnar.html>.
//!
//! Believes nothing that a file says of itself: each length is compared with the bytes that are there.

mod batch;
mod schema;
mod write;

pub use write::write;

use super::{Column, Content, Data, DataError, Format, Limits};
use crate::types::stored::{CellKind, FileType};
use crate::value::{Buffer, Value};
use batch::Batches;
use bytes::Bytes;
use polars_arrow_format::ipc::planus::{self, ReadAsRoot};
use polars_arrow_format::ipc::{
    BlockRef, Endianness, FooterRef, MessageHeaderRef, MessageRef, MetadataVersion, SchemaRef,
};
use schema::Schema;
use std::sync::Arc;

/// What a file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What a file of the first Feather begins with.
const FIRST_FEATHER: &[u8] = b"FEA1";
/// What the length of a message follows; before version 0.15 nothing did.
const CONTINUES: [u8; 4] = [0xff; 4];

fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: Format::Arrow, why: why.into() }
}

/// A row that has no list where each has one.
fn no_list(name: &str, row: usize) -> DataError {
    malformed(crate::data::no_list(name, row))
}

fn not_held(ty: String, why: &str) -> DataError {
    DataError::NotHeld { format: Format::Arrow, ty, why: why.to_string() }
}

fn damaged(error: planus::Error) -> DataError {
    malformed(format!("its description is damaged: {error}"))
}

/// The columns of a file that are wanted.
pub fn read(bytes: &Bytes, wanted: &FileType, limits: &Limits<'_>) -> Result<Data, DataError> {
    let CellKind::Record(fields) = &wanted.contents else {
        return Err(not_held(wanted.element.to_string(), "its rows are records: `(name:string, …) ^ ?N`"));
    };
    let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
    let mut batches = None;
    walk(bytes, limits, &mut |part| {
        match part {
            Part::Schema(schema, version) => {
                let schema = Schema::of(schema, version)?;
                let chosen = schema.choose(&names)?;
                batches = Some(Batches::new(schema, chosen, *limits));
            }
            Part::Message(message, body) => {
                let Some(batches) = &mut batches else {
                    return Err(malformed("its columns come before their description"));
                };
                match message {
                    MessageHeaderRef::RecordBatch(batch) => batches.rows(batch, &body)?,
                    MessageHeaderRef::DictionaryBatch(batch) => batches.dictionary(batch, &body)?,
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

/// The types of all columns that can be read. Looks at no cell.
pub fn describe(bytes: &Bytes, limits: &Limits<'_>) -> Option<Data> {
    let mut found: Option<(Schema, Vec<bool>)> = None;
    let mut rows = 0usize;
    let walked = walk(bytes, limits, &mut |part| {
        match (part, &mut found) {
            (Part::Schema(schema, version), found) => {
                let schema = Schema::of(schema, version)?;
                let empty = vec![false; schema.fields.len()];
                *found = Some((schema, empty));
            }
            (Part::Message(MessageHeaderRef::RecordBatch(batch), _), Some((schema, empty))) => {
                rows = rows.saturating_add(usize::try_from(batch.length().map_err(damaged)?).unwrap_or(0));
                let nodes = batch.nodes().map_err(damaged)?;
                for (field, empty) in schema.fields.iter().zip(empty) {
                    // Of lists their elements are a column, too.
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
        // Lists that are not there, or not wholly, are of no type.
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

/// What a file is made of.
enum Part<'a> {
    Schema(SchemaRef<'a>, MetadataVersion),
    /// A message with its body.
    Message(MessageHeaderRef<'a>, Bytes),
}

/// Hands out the schema and then, in an order in which they can be read, dictionaries and batches.
fn walk(
    bytes: &Bytes,
    limits: &Limits<'_>,
    each: &mut dyn FnMut(Part<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if bytes.starts_with(FIRST_FEATHER) {
        return Err(malformed("it is Feather of version 1; version 2 is Arrow's format"));
    }
    if !bytes.starts_with(MAGIC) {
        return stream(bytes, limits, each);
    }
    let short = || malformed("it ends too early: what tells its parts stands at its end");
    let (rest, magic) = bytes.split_at_checked(bytes.len() - MAGIC.len()).ok_or_else(short)?;
    let (rest, length) = rest.split_last_chunk::<4>().filter(|_| magic == MAGIC).ok_or_else(short)?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok().filter(|n| *n <= rest.len());
    let footer = length.map(|n| &rest[rest.len() - n..]).ok_or_else(short)?;
    let footer = FooterRef::read_as_root(footer).map_err(damaged)?;
    let schema = footer.schema().map_err(damaged)?;
    each(checked(footer.version().map_err(damaged)?, schema)?)?;
    let dictionaries = footer.dictionaries().map_err(damaged)?.into_iter().flatten();
    let batches = footer.record_batches().map_err(damaged)?.into_iter().flatten();
    for block in dictionaries.chain(batches) {
        limits.poll(0)?;
        let (message, body) = placed(bytes, block)?;
        if let Some(header) = message.header().map_err(damaged)? {
            each(Part::Message(header, body))?;
        }
    }
    Ok(())
}

/// A message of a file, with its body.
fn placed<'a>(bytes: &'a Bytes, block: BlockRef<'_>) -> Result<(MessageRef<'a>, Bytes), DataError> {
    let outside = || malformed("a part of it lies beyond its end");
    let whole = |n: i64| usize::try_from(n).map_err(|_| outside());
    let start = whole(block.offset())?;
    let head = whole(i64::from(block.meta_data_length()))?;
    let at = start.checked_add(head).filter(|at| *at <= bytes.len()).ok_or_else(outside)?;
    let end = at.checked_add(whole(block.body_length())?).filter(|end| *end <= bytes.len());
    let end = end.ok_or_else(outside)?;
    let (_, message) = unframed(&bytes[start..at]).ok_or_else(outside)?;
    Ok((MessageRef::read_as_root(message).map_err(damaged)?, bytes.slice(at..end)))
}

/// The bytes of a message behind its length, and where it ends.
fn unframed(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (lead, rest) = match bytes.strip_prefix(&CONTINUES) {
        Some(rest) => (8, rest),
        None => (4, bytes),
    };
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
    Some((lead + length, rest.get(..length)?))
}

/// Messages one after the other.
fn stream(
    bytes: &Bytes,
    limits: &Limits<'_>,
    each: &mut dyn FnMut(Part<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (mut at, mut described) = (0, false);
    while at < bytes.len() {
        limits.poll(0)?;
        let other = || malformed("it begins neither as a file nor as a stream of Arrow");
        let short = || if described { malformed("it ends within a message") } else { other() };
        let (end, message) = unframed(&bytes[at..]).ok_or_else(short)?;
        // A message without bytes is the last.
        if message.is_empty() {
            break;
        }
        let message = MessageRef::read_as_root(message);
        let message = message.map_err(|error| if described { damaged(error) } else { other() })?;
        let length = usize::try_from(message.body_length().map_err(damaged)?).map_err(|_| short())?;
        let body = at + end;
        at = body.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(short)?;
        match message.header().map_err(damaged)? {
            Some(MessageHeaderRef::Schema(schema)) if !described => {
                described = true;
                each(checked(message.version().map_err(damaged)?, Some(schema))?)?;
            }
            Some(header) if described => each(Part::Message(header, bytes.slice(body..at)))?,
            _ => return Err(other()),
        }
    }
    match described {
        true => Ok(()),
        false => Err(malformed("it is empty")),
    }
}

/// A schema of a version and a byte order that are read.
fn checked(version: MetadataVersion, schema: Option<SchemaRef<'_>>) -> Result<Part<'_>, DataError> {
    let schema = schema.ok_or_else(|| malformed("it has no description of its columns"))?;
    if version < MetadataVersion::V4 {
        return Err(malformed("it was written before version 0.8 of Arrow"));
    }
    if schema.endianness().map_err(damaged)? != Endianness::Little {
        return Err(malformed("its numbers are big-endian"));
    }
    Ok(Part::Schema(schema, version))
}

/// Pieces of a column as one.
fn joined(mut pieces: Vec<Column>, empty: Column) -> Option<Column> {
    if pieces.len() <= 1 {
        return Some(pieces.pop().unwrap_or(empty));
    }
    let count = pieces.iter().map(|piece| piece.cells.len()).sum();
    let mut cells = Buffer::with_room(empty.element.class(), count)?;
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

/// A text that stands where a cell is missing.
fn nothing() -> Value {
    Value::str("")
}
