//! Writer of Arrow files: schema, one uncompressed batch, and the footer with their positions.

use super::{CONTINUATION_MARKER, MAGIC, unsupported_type};
use crate::data::{Column, Content, Data, DataError, Element, Limits, npy};
use crate::types::Scalar;
use polars_arrow_format::ipc::{
    Block, Bool, Buffer, Endianness, Field, FieldNode, FloatingPoint, Footer, Int, LargeList, LargeUtf8,
    List, Message, MessageHeader, MetadataVersion, Precision, RecordBatch, Schema, Type, Utf8, planus,
};

/// The alignment of the parts of a file, in bytes.
const ALIGNMENT: usize = 64;

/// Returns a table as the bytes of a file.
pub fn write(data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    let Content::Records(columns) = &data.content else {
        return Err(unsupported_type(data.type_text(), "its rows are records: `[ (name=…, …) … ]`"));
    };
    let [rows] = data.shape[..] else {
        return Err(unsupported_type(data.type_text(), "its rows are one axis: `(…) ^ N`"));
    };
    let mut fields = Vec::new();
    let mut body = Body::default();
    for (name, column) in columns {
        limits.poll(0)?;
        let ty = arrow_type(column).ok_or_else(|| {
            unsupported_type(column.element.name().to_string(), "it has no cells of this type")
        })?;
        let field = |name: &str, nullable: bool, ty: Type, children: Vec<Field>| Field {
            name: Some(name.to_string()),
            nullable,
            type_: Some(ty),
            dictionary: None,
            children: Some(children),
            custom_metadata: None,
        };
        let nullable = !column.missing.is_empty();
        fields.push(match &column.lists {
            Some(starts) => {
                let lists = body.append_lists(starts, rows)?;
                body.append_column(column, &ty, column.cells.len(), limits)?;
                field(name, false, lists, vec![field("item", nullable, ty, Vec::new())])
            }
            None => {
                body.append_column(column, &ty, rows, limits)?;
                field(name, nullable, ty, Vec::new())
            }
        });
    }
    let schema = Schema {
        endianness: Endianness::Little,
        fields: Some(fields),
        custom_metadata: None,
        features: None,
    };
    let mut out = MAGIC.to_vec();
    pad(&mut out, 8);
    append_message(&mut out, MessageHeader::Schema(Box::new(schema.clone())), 0);
    let offset = out.len();
    let batch = RecordBatch {
        length: rows as i64,
        nodes: Some(body.nodes),
        buffers: Some(body.buffers),
        compression: None,
        variadic_buffer_counts: None,
    };
    append_message(&mut out, MessageHeader::RecordBatch(Box::new(batch)), body.bytes.len());
    let block = Block {
        offset: offset as i64,
        meta_data_length: (out.len() - offset) as i32,
        body_length: body.bytes.len() as i64,
    };
    out.try_reserve(body.bytes.len() + (1 << 16)).map_err(|_| out_of_memory())?;
    out.append(&mut body.bytes);
    out.extend(CONTINUATION_MARKER);
    out.extend([0; 4]);
    let footer = Footer {
        version: MetadataVersion::V5,
        schema: Some(Box::new(schema)),
        dictionaries: Some(Vec::new()),
        record_batches: Some(vec![block]),
        custom_metadata: None,
    };
    let mut builder = planus::Builder::new();
    let footer = builder.finish(&footer, None);
    out.extend(footer);
    out.extend((footer.len() as i32).to_le_bytes());
    out.extend(MAGIC);
    Ok(out)
}

/// Returns the error of a failed allocation.
fn out_of_memory() -> DataError {
    DataError::Unwritable { why: "there is not enough memory".to_string() }
}

/// Appends a message. Its body of `body` bytes follows.
fn append_message(out: &mut Vec<u8>, header: MessageHeader, body: usize) {
    let message = Message {
        version: MetadataVersion::V5,
        header: Some(header),
        body_length: body as i64,
        custom_metadata: None,
    };
    let mut builder = planus::Builder::new();
    let message = builder.finish(&message, None);
    let end = (out.len() + 8 + message.len()).next_multiple_of(ALIGNMENT);
    let length = end - out.len() - 8;
    out.extend(CONTINUATION_MARKER);
    out.extend((length as i32).to_le_bytes());
    out.extend(message);
    out.resize(end, 0);
}

/// Pads bytes with zeros to an alignment.
fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

/// Returns the Arrow type of a column; `None` if there is none.
fn arrow_type(column: &Column) -> Option<Type> {
    let int = |bit_width: i32, is_signed: bool| Type::Int(Box::new(Int { bit_width, is_signed }));
    let float = |precision: Precision| Type::FloatingPoint(Box::new(FloatingPoint { precision }));
    Some(match column.element {
        Element::Bool => Type::Bool(Box::new(Bool {})),
        Element::Scalar(Scalar::Int) => int(64, true),
        Element::Scalar(Scalar::Fixed(fixed)) => int(fixed.shape().0 as i32, fixed.shape().1),
        Element::Scalar(Scalar::Real) => float(Precision::Double),
        Element::Scalar(Scalar::Single) => float(Precision::Single),
        Element::Scalar(Scalar::String) => {
            let all: usize = (0..column.cells.len()).map(|i| column.cells.get(i).as_str().len()).sum();
            match i32::try_from(all) {
                Ok(_) => Type::Utf8(Box::new(Utf8 {})),
                Err(_) => Type::LargeUtf8(Box::new(LargeUtf8 {})),
            }
        }
        Element::Complex | Element::Scalar(Scalar::Bigint | Scalar::Char) => return None,
    })
}

/// The body of a batch, as far as it is written.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    nodes: Vec<FieldNode>,
    buffers: Vec<Buffer>,
}

impl Body {
    /// Appends the offsets of a column of lists, and returns the type of the column.
    fn append_lists(&mut self, starts: &[usize], rows: usize) -> Result<Type, DataError> {
        self.nodes.push(FieldNode { length: rows as i64, null_count: 0 });
        self.bytes.try_reserve(starts.len().saturating_mul(8)).map_err(|_| out_of_memory())?;
        self.append_buffer(|_| ());
        let large = starts.last().is_some_and(|end| i32::try_from(*end).is_err());
        self.append_buffer(|out| append_offsets(out, starts.iter().copied(), large));
        Ok(match large {
            true => Type::LargeList(Box::new(LargeList {})),
            false => Type::List(Box::new(List {})),
        })
    }

    /// Appends the buffers of a column of cells.
    fn append_column(
        &mut self,
        column: &Column,
        ty: &Type,
        rows: usize,
        limits: &Limits<'_>,
    ) -> Result<(), DataError> {
        let gone = column.missing.iter().filter(|missing| **missing).count();
        self.nodes.push(FieldNode { length: rows as i64, null_count: gone as i64 });
        let room = rows.saturating_mul(column.element.class().bytes() as usize);
        self.bytes.try_reserve(room.saturating_add(rows / 8)).map_err(|_| out_of_memory())?;
        match gone {
            0 => self.append_buffer(|_| ()),
            _ => self.append_buffer(|out| append_bits(out, column.missing.iter().map(|missing| !missing))),
        }
        match ty {
            Type::Bool(_) => {
                self.append_buffer(|out| append_bits(out, (0..rows).map(|i| column.cells.get(i).as_bool())));
            }
            Type::Utf8(_) | Type::LargeUtf8(_) => {
                let large = matches!(ty, Type::LargeUtf8(_));
                let mut end = 0;
                let ends = (0..rows).map(|i| {
                    end += column.cells.get(i).as_str().len();
                    end
                });
                self.append_buffer(|out| append_offsets(out, std::iter::once(0).chain(ends), large));
                let start = self.bytes.len();
                for i in 0..rows {
                    limits.poll(i)?;
                    self.bytes.extend(column.cells.get(i).as_str().as_bytes());
                }
                self.finish_buffer(start);
            }
            _ => self.append_buffer(|out| npy::append_cells(out, column, 0..rows, 0)),
        }
        Ok(())
    }

    /// Appends the buffer that `fill` writes.
    fn append_buffer(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        fill(&mut self.bytes);
        self.finish_buffer(start);
    }

    /// Records a buffer from `start` on.
    fn finish_buffer(&mut self, start: usize) {
        self.buffers.push(Buffer { offset: start as i64, length: (self.bytes.len() - start) as i64 });
        pad(&mut self.bytes, ALIGNMENT);
    }
}

/// Appends the offsets of texts or lists.
fn append_offsets(out: &mut Vec<u8>, places: impl Iterator<Item = usize>, large: bool) {
    for place in places {
        match large {
            true => out.extend((place as i64).to_le_bytes()),
            false => out.extend((place as i32).to_le_bytes()),
        }
    }
}

/// Appends truth values, eight in a byte, the first one lowest.
fn append_bits(out: &mut Vec<u8>, bits: impl Iterator<Item = bool>) {
    let mut bits = bits.peekable();
    while bits.peek().is_some() {
        out.push(bits.by_ref().take(8).enumerate().fold(0, |byte, (at, bit)| byte | u8::from(bit) << at));
    }
}
