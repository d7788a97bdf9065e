//! Batches of an Arrow file as columns: buffers are decompressed, bits and offsets become cells.

use super::schema::{CellLayout, ListLayout, Schema};
use super::{concatenate, empty_text, invalid_flatbuffer, malformed, missing_list};
use crate::data::{Column, Content, Data, DataError, Element, Format, Limits, npy, raw};
use crate::hash::HashMap;
use crate::types::Scalar;
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;
use polars_arrow_format::ipc::{CompressionType, DictionaryBatchRef, FieldNodeRef, RecordBatchRef};

/// The selected columns, as far as batches have been read.
pub struct BatchReader<'l> {
    schema: Schema,
    /// The positions of the selected columns.
    chosen: Vec<usize>,
    /// The pieces of each selected column.
    pieces: Vec<Vec<Column>>,
    dictionaries: HashMap<i64, Column>,
    rows: usize,
    /// The limits; the memory is what columns may still take.
    limits: Limits<'l>,
}

/// One batch; its buffers are decompressed on demand.
struct Batch<'b> {
    batch: RecordBatchRef<'b>,
    body: &'b Bytes,
    packed: Option<CompressionType>,
}

/// The schema refuses to select other columns.
const READ: &str = "a selected column can be read";

/// The positions of the parts of a column in a batch.
#[derive(Clone, Copy)]
struct ColumnBuffers {
    node: usize,
    buffer: usize,
    /// The number of buffers of its texts, if its cells are views.
    texts: usize,
}

impl<'l> BatchReader<'l> {
    /// Creates a reader before the first batch.
    pub fn new(schema: Schema, chosen: Vec<usize>, limits: Limits<'l>) -> BatchReader<'l> {
        let pieces = chosen.iter().map(|_| Vec::new()).collect();
        BatchReader { schema, chosen, pieces, dictionaries: HashMap::default(), rows: 0, limits }
    }

    /// Adds the rows of a batch.
    pub fn add_batch(&mut self, batch: RecordBatchRef<'_>, body: &Bytes) -> Result<(), DataError> {
        let batch = Batch::new(batch, body)?;
        let length = batch.length()?;
        let mut places = Vec::new();
        let (mut buffer, mut view) = (0usize, 0usize);
        for field in &self.schema.fields {
            let texts = batch.text_buffer_count(view, field.views)?;
            places.push(ColumnBuffers { node: field.node, buffer, texts });
            buffer = buffer.saturating_add(field.buffers).saturating_add(texts);
            view += field.views;
        }
        for (at, chosen) in self.chosen.clone().into_iter().enumerate() {
            self.limits.poll(0)?;
            let field = &self.schema.fields[chosen];
            let (kind, place) = (field.kind.expect(READ), places[chosen]);
            let (name, lists) = (field.name.clone(), field.lists);
            let column = match (field.dictionary, lists) {
                (_, Some(lists)) => self.read_lists(&batch, (kind, lists), place, length, &name)?,
                (Some((id, numbers)), _) => {
                    let numbers = self.read_column(&batch, numbers, place, length)?;
                    self.reserve((length as u64).saturating_mul(kind.element().class().bytes()))?;
                    let empty = Column::new(kind.element(), Buffer::Any(Vec::new()));
                    decode_dictionary(&numbers, self.dictionaries.get(&id).unwrap_or(&empty), &self.limits)?
                }
                (None, _) => self.read_column(&batch, kind, place, length)?,
            };
            self.pieces[at].push(column);
        }
        self.rows =
            self.rows.checked_add(length).ok_or_else(|| malformed("it has more rows than are counted"))?;
        Ok(())
    }

    /// Adds a dictionary, or more values of one.
    pub fn add_dictionary(&mut self, batch: DictionaryBatchRef<'_>, body: &Bytes) -> Result<(), DataError> {
        let id = batch.id().map_err(invalid_flatbuffer)?;
        let of = |at: &&usize| self.schema.fields[**at].dictionary.is_some_and(|(other, _)| other == id);
        let Some(kind) = self.chosen.iter().find(of).and_then(|at| self.schema.fields[*at].kind) else {
            return Ok(());
        };
        let more = batch.is_delta().map_err(invalid_flatbuffer)?;
        let Some(data) = batch.data().map_err(invalid_flatbuffer)? else {
            return Err(malformed("one of its dictionaries has no content"));
        };
        let batch = Batch::new(data, body)?;
        let texts = batch.text_buffer_count(0, usize::from(kind == CellLayout::View))?;
        let column =
            self.read_column(&batch, kind, ColumnBuffers { node: 0, buffer: 0, texts }, batch.length()?)?;
        let column = match self.dictionaries.remove(&id).filter(|_| more) {
            Some(before) => {
                let empty = Column::new(kind.element(), Buffer::Any(Vec::new()));
                concatenate(vec![before, column], empty).ok_or_else(exceeds_memory)?
            }
            None => column,
        };
        self.dictionaries.insert(id, column);
        Ok(())
    }

    /// Returns all rows.
    pub fn finish(mut self) -> Result<Data, DataError> {
        let mut columns = Vec::new();
        for (at, pieces) in std::mem::take(&mut self.chosen).into_iter().zip(std::mem::take(&mut self.pieces))
        {
            self.limits.poll(0)?;
            let kind = self.schema.fields[at].kind.expect(READ);
            if pieces.len() > 1 {
                // Several batches may refer to one place, which is copied for each.
                let cells =
                    pieces.iter().fold(0u64, |all, piece| all.saturating_add(piece.cells.len() as u64));
                self.reserve(cells.saturating_mul(kind.element().class().bytes()))?;
            }
            let cells = Buffer::empty(kind.element().class());
            let lists = self.schema.fields[at].lists.map(|_| vec![0]);
            let empty = Column { lists, ..Column::new(kind.element(), cells) };
            let column = concatenate(pieces, empty).ok_or_else(exceeds_memory)?;
            columns.push((self.schema.fields[at].name.clone(), column));
        }
        Ok(Data { shape: vec![self.rows], content: Content::Records(columns) })
    }

    /// Reserves memory of a column.
    fn reserve(&mut self, bytes: u64) -> Result<(), DataError> {
        self.limits.reserve(bytes).ok_or_else(exceeds_memory)
    }

    /// Reads a column of cells.
    fn read_column(
        &mut self,
        batch: &Batch<'_>,
        kind: CellLayout,
        at: ColumnBuffers,
        length: usize,
    ) -> Result<Column, DataError> {
        let missing = batch.read_missing(at, length, self)?;
        let gone = |i: usize| missing.get(i).copied().unwrap_or(false);
        let cells = match kind {
            CellLayout::Scalar(scalar) => {
                let class = Class::of_scalar(scalar);
                let bytes = batch.read_buffer(at.buffer + 1, self)?;
                // Cells used in place take no memory.
                raw::little_endian_cells(
                    leading_cells(&bytes, length, class.bytes() as usize)?,
                    class,
                    Format::Arrow,
                    &mut self.limits,
                )?
            }
            CellLayout::Half => {
                let bytes = leading_cells(&batch.read_buffer(at.buffer + 1, self)?, length, 2)?;
                self.reserve((length as u64).saturating_mul(4))?;
                let single = |half: &[u8; 2]| npy::half_to_single(u16::from_le_bytes(*half)).to_bits();
                Buffer::U32(bytes.as_chunks().0.iter().map(single).collect())
            }
            CellLayout::Bool => {
                let bits = batch.read_buffer(at.buffer + 1, self)?;
                require_bytes(&bits, length.div_ceil(8))?;
                self.reserve(length as u64)?;
                Buffer::U8((0..length).map(|i| bits[i / 8] >> (i % 8) & 1).collect())
            }
            CellLayout::Text { .. } | CellLayout::View => {
                self.reserve((length as u64).saturating_mul(Class::Any.bytes()))?;
                let texts: Box<dyn Fn(usize) -> Result<Bytes, DataError>> = match kind {
                    CellLayout::Text { large } => texts_by_offset(batch, at, length, large, self)?,
                    _ => texts_by_view(batch, at, length, self)?,
                };
                let mut cells = Vec::new();
                for i in 0..length {
                    self.limits.poll(i)?;
                    if gone(i) {
                        cells.push(empty_text());
                        continue;
                    }
                    let text = texts(i)?;
                    self.limits.reserve_text(text.len()).ok_or_else(exceeds_memory)?;
                    // A copy is checked: the file may be changed concurrently.
                    let text = String::from_utf8(text.to_vec());
                    cells.push(Value::str(text.map_err(|_| malformed("one of its texts is not UTF-8"))?));
                }
                Buffer::Any(cells)
            }
        };
        Ok(Column { missing, ..Column::new(kind.element(), cells) })
    }

    /// Reads a column of lists: the offsets, and a column of the elements of all lists.
    fn read_lists(
        &mut self,
        batch: &Batch<'_>,
        (kind, lists): (CellLayout, ListLayout),
        at: ColumnBuffers,
        length: usize,
        name: &str,
    ) -> Result<Column, DataError> {
        if let Some(row) = batch.read_missing(at, length, self)?.iter().position(|missing| *missing) {
            return Err(missing_list(name, self.rows.saturating_add(row)));
        }
        let buffers = if matches!(lists, ListLayout::FixedSize(_)) { 1 } else { 2 };
        let elements = ColumnBuffers { node: at.node + 1, buffer: at.buffer + buffers, texts: at.texts };
        let count = batch.node(elements.node)?.length();
        let count =
            usize::try_from(count).map_err(|_| malformed("it has a number of elements that is none"))?;
        let column = self.read_column(batch, kind, elements, count)?;
        self.reserve((length as u64).saturating_add(1).saturating_mul(8))?;
        let offset: Box<dyn Fn(usize) -> Option<usize>> = match lists {
            ListLayout::FixedSize(size) => Box::new(move |i| i.checked_mul(size)),
            ListLayout::Offsets { large } => {
                let bytes = batch.read_buffer(at.buffer + 1, self)?;
                // Without rows the offsets may be absent.
                match length {
                    0 => Box::new(|_| Some(0)),
                    _ => {
                        require_bytes(&bytes, (length + 1).saturating_mul(if large { 8 } else { 4 }))?;
                        Box::new(move |i| read_offset(&bytes, i, large))
                    }
                }
            }
        };
        let mut starts = Vec::new();
        for i in 0..=length {
            self.limits.poll(i)?;
            let start = offset(i).filter(|at| *at <= count && starts.last().is_none_or(|last| last <= at));
            starts.push(start.ok_or_else(|| {
                malformed(format!("the lists of its column `{name}` do not lie one behind the other in it"))
            })?);
        }
        self.trim_elements(column, starts)
    }

    /// Drops the elements before the first list and after the last one, which a slice of a larger
    /// table has.
    fn trim_elements(&mut self, column: Column, mut starts: Vec<usize>) -> Result<Column, DataError> {
        let (first, last) = (starts[0], starts[starts.len() - 1]);
        if (first, last) == (0, column.cells.len()) {
            return Ok(Column { lists: Some(starts), ..column });
        }
        let class = column.element.class();
        self.reserve(((last - first) as u64).saturating_mul(class.bytes()))?;
        let mut cells = Buffer::with_capacity(class, last - first).ok_or_else(exceeds_memory)?;
        cells.extend(&column.cells, first, last - first);
        // There are no marks where no element is missing.
        let missing =
            if column.missing.is_empty() { Vec::new() } else { column.missing[first..last].to_vec() };
        starts.iter_mut().for_each(|start| *start -= first);
        Ok(Column { missing, lists: Some(starts), ..Column::new(column.element, cells) })
    }
}

/// Reads offset `i` of 32 or 64 bits. The bytes have been checked to contain it.
fn read_offset(bytes: &[u8], i: usize, large: bool) -> Option<usize> {
    match large {
        true => usize::try_from(i64::from_le_bytes(read_bytes(bytes, 8 * i))).ok(),
        false => usize::try_from(i32::from_le_bytes(read_bytes(bytes, 4 * i))).ok(),
    }
}

/// A function that returns the bytes of text `i`.
type TextAccessor = Box<dyn Fn(usize) -> Result<Bytes, DataError>>;

/// Returns access to texts by their offsets.
fn texts_by_offset(
    batch: &Batch<'_>,
    at: ColumnBuffers,
    length: usize,
    large: bool,
    batches: &mut BatchReader<'_>,
) -> Result<TextAccessor, DataError> {
    let width = if large { 8 } else { 4 };
    let bytes = batch.read_buffer(at.buffer + 1, batches)?;
    let text = batch.read_buffer(at.buffer + 2, batches)?;
    // Without rows the offsets may be absent.
    if length > 0 {
        require_bytes(&bytes, (length + 1).saturating_mul(width))?;
    }
    let offset = move |i: usize| read_offset(&bytes, i, large);
    Ok(Box::new(move |i| {
        let range = offset(i).zip(offset(i + 1)).filter(|(start, end)| start <= end && *end <= text.len());
        let (start, end) = range.ok_or_else(|| malformed("a text of it lies beyond the texts"))?;
        Ok(text.slice(start..end))
    }))
}

/// Returns access to texts by their views.
fn texts_by_view(
    batch: &Batch<'_>,
    at: ColumnBuffers,
    length: usize,
    batches: &mut BatchReader<'_>,
) -> Result<TextAccessor, DataError> {
    let views = batch.read_buffer(at.buffer + 1, batches)?;
    require_bytes(&views, length.saturating_mul(16))?;
    let mut texts = Vec::new();
    for i in 0..at.texts {
        texts.push(batch.read_buffer(at.buffer + 2 + i, batches)?);
    }
    Ok(Box::new(move |i| {
        let number = |at: usize| usize::try_from(i32::from_le_bytes(read_bytes(&views, 16 * i + at))).ok();
        let found = match number(0) {
            Some(length) if length <= 12 => Some(views.slice(16 * i + 4..16 * i + 4 + length)),
            Some(length) => number(8).zip(number(12)).and_then(|(buffer, start)| {
                let text = texts.get(buffer)?;
                let end = start.checked_add(length).filter(|end| *end <= text.len())?;
                Some(text.slice(start..end))
            }),
            None => None,
        };
        found.ok_or_else(|| malformed("a text of it lies beyond the texts"))
    }))
}

/// Reads `N` bytes. They have been checked to exist.
fn read_bytes<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut word = [0; N];
    word.copy_from_slice(&bytes[at..at + N]);
    word
}

/// Decodes cells by their indices in a dictionary.
fn decode_dictionary(
    numbers: &Column,
    dictionary: &Column,
    limits: &Limits<'_>,
) -> Result<Column, DataError> {
    let count = numbers.cells.len();
    let class = dictionary.element.class();
    let mut cells = Buffer::with_capacity(class, count).ok_or_else(exceeds_memory)?;
    let mut missing = vec![false; count];
    for (i, missing) in missing.iter_mut().enumerate() {
        limits.poll(i)?;
        let gone = |column: &Column, i: usize| column.is_missing(i);
        if gone(numbers, i) {
            *missing = true;
            cells.push(if class == Class::Any { empty_text() } else { Value::UNIT });
            continue;
        }
        let word = numbers.cells.get(i).word();
        let number = match numbers.element {
            Element::Scalar(Scalar::Fixed(fixed)) => fixed.decode(word),
            _ => i128::from(word as i64),
        };
        let at = usize::try_from(number).ok().filter(|at| *at < dictionary.cells.len());
        let at = at.ok_or_else(|| malformed("a cell of it is in no dictionary"))?;
        *missing = gone(dictionary, at);
        cells.push(dictionary.cells.get(at));
    }
    if !missing.contains(&true) {
        missing.clear();
    }
    Ok(Column { missing, ..Column::new(dictionary.element, cells) })
}

impl<'b> Batch<'b> {
    /// Wraps a batch.
    fn new(batch: RecordBatchRef<'b>, body: &'b Bytes) -> Result<Batch<'b>, DataError> {
        let packed = match batch.compression().map_err(invalid_flatbuffer)? {
            Some(how) => Some(how.codec().map_err(invalid_flatbuffer)?),
            None => None,
        };
        Ok(Batch { batch, body, packed })
    }

    /// Returns the number of rows.
    fn length(&self) -> Result<usize, DataError> {
        let length = self.batch.length().map_err(invalid_flatbuffer)?;
        usize::try_from(length).map_err(|_| malformed("it has a number of rows that is none"))
    }

    /// Returns the number of text buffers of `count` views from number `view` on.
    fn text_buffer_count(&self, view: usize, count: usize) -> Result<usize, DataError> {
        if count == 0 {
            return Ok(0);
        }
        let counts = self.batch.variadic_buffer_counts().map_err(invalid_flatbuffer)?;
        let one = |at: usize| counts.and_then(|counts| counts.get(at)).and_then(|n| usize::try_from(n).ok());
        let all = (view..view + count).try_fold(0usize, |all, at| all.checked_add(one(at)?));
        all.ok_or_else(|| malformed("it does not count the parts of its texts"))
    }

    /// Returns the node of a column, or of one within it.
    fn node(&self, at: usize) -> Result<FieldNodeRef<'b>, DataError> {
        let node = self.batch.nodes().map_err(invalid_flatbuffer)?.and_then(|nodes| nodes.get(at));
        node.ok_or_else(|| malformed("a batch of it has fewer columns than it says"))
    }

    /// Reads the flags of missing cells; empty if none is missing.
    fn read_missing(
        &self,
        at: ColumnBuffers,
        length: usize,
        batches: &mut BatchReader<'_>,
    ) -> Result<Vec<bool>, DataError> {
        let node = self.node(at.node)?;
        if usize::try_from(node.length()) != Ok(length) {
            return Err(malformed("the columns of a batch are not equally long"));
        }
        if node.null_count() == 0 {
            return Ok(Vec::new());
        }
        let bits = self.read_buffer(at.buffer, batches)?;
        require_bytes(&bits, length.div_ceil(8))?;
        batches.reserve(length as u64)?;
        let missing: Vec<bool> = (0..length).map(|i| bits[i / 8] >> (i % 8) & 1 == 0).collect();
        Ok(if missing.contains(&true) { missing } else { Vec::new() })
    }

    /// Returns the bytes of a buffer.
    fn read_buffer(&self, at: usize, batches: &mut BatchReader<'_>) -> Result<Bytes, DataError> {
        let outside = || malformed("a column of it lies beyond its end");
        let buffer = self.batch.buffers().map_err(invalid_flatbuffer)?.and_then(|buffers| buffers.get(at));
        let buffer = buffer.ok_or_else(|| malformed("a batch of it has fewer columns than it says"))?;
        let start = usize::try_from(buffer.offset()).map_err(|_| outside())?;
        let length = usize::try_from(buffer.length()).map_err(|_| outside())?;
        let end = start.checked_add(length).filter(|end| *end <= self.body.len()).ok_or_else(outside)?;
        let bytes = self.body.slice(start..end);
        let Some(packed) = self.packed.filter(|_| length > 0) else { return Ok(bytes) };
        let (size, content) = bytes.split_first_chunk::<8>().ok_or_else(outside)?;
        let size = match i64::from_le_bytes(*size) {
            // The buffer is not compressed after all.
            -1 => return Ok(bytes.slice(8..)),
            size => u64::try_from(size).map_err(|_| outside())?,
        };
        if size > batches.limits.memory {
            return Err(exceeds_memory());
        }
        let damaged = |why: String| malformed(format!("a column of it cannot be unpacked: {why}"));
        let unpacked = match packed {
            CompressionType::Lz4Frame => batches.limits.read_decompressed(
                lz4_flex::frame::FrameDecoder::new(content),
                size,
                damaged,
            )?,
            CompressionType::Zstd => {
                let frames = ruzstd::decoding::StreamingDecoder::new(content);
                batches.limits.read_decompressed(
                    frames.map_err(|error| damaged(error.to_string()))?,
                    size,
                    damaged,
                )?
            }
        };
        if unpacked.len() as u64 != size {
            return Err(malformed("a column of it is not as long as it says"));
        }
        batches.reserve(size)?;
        Ok(Bytes::from(unpacked))
    }
}

/// Returns the bytes of the first `length` cells.
fn leading_cells(bytes: &Bytes, length: usize, width: usize) -> Result<Bytes, DataError> {
    let needed = length.saturating_mul(width);
    require_bytes(bytes, needed)?;
    Ok(bytes.slice(..needed))
}

/// Fails unless there are `needed` bytes.
fn require_bytes(bytes: &Bytes, needed: usize) -> Result<(), DataError> {
    match bytes.len() < needed {
        true => Err(malformed(format!("a column of it has {} bytes, and {needed} are needed", bytes.len()))),
        false => Ok(()),
    }
}

/// Returns the error of columns that exceed the memory bound.
fn exceeds_memory() -> DataError {
    malformed("its columns take more memory than there is")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::number::Fixed;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn numbers_below_0_are_in_no_dictionary() {
        let texts = (0..300).map(|i| Value::str(i.to_string())).collect();
        let dictionary = Column::new(Element::Scalar(Scalar::String), Buffer::Any(texts));
        let limits = Limits { memory: 1 << 20, interrupt: &AtomicBool::new(false) };
        let found = |scalar: Scalar, cells: Buffer| {
            let column =
                decode_dictionary(&Column::new(Element::Scalar(scalar), cells), &dictionary, &limits);
            column.map(|column| column.cells.get(0).as_str().to_string())
        };
        let outside = Err(malformed("a cell of it is in no dictionary"));
        assert_eq!(found(Scalar::Fixed(Fixed::U8), Buffer::U8(vec![255])), Ok("255".to_string()));
        assert_eq!(found(Scalar::Fixed(Fixed::I8), Buffer::U8(vec![127])), Ok("127".to_string()));
        assert_eq!(found(Scalar::Fixed(Fixed::I8), Buffer::U8(vec![255])), outside);
        assert_eq!(found(Scalar::Fixed(Fixed::I16), Buffer::U16(vec![u16::MAX])), outside);
        assert_eq!(found(Scalar::Fixed(Fixed::U16), Buffer::U16(vec![300])), outside);
        assert_eq!(found(Scalar::Int, Buffer::Word(vec![u64::MAX])), outside);
        assert_eq!(found(Scalar::Fixed(Fixed::U64), Buffer::Word(vec![u64::MAX])), outside);
        assert_eq!(found(Scalar::Int, Buffer::Word(vec![299])), Ok("299".to_string()));
    }
}
