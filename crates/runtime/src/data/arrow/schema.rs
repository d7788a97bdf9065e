//! The columns of an Arrow file, and the positions of their parts in a batch.

use super::{invalid_flatbuffer, malformed};
use crate::data::{DataError, Element, similar_name};
use crate::types::{Scalar, number::Fixed};
use polars_arrow_format::ipc::{FieldRef, IntRef, MetadataVersion, Precision, SchemaRef, TypeRef, UnionMode};
use std::sync::Arc;

/// The largest number of fields, nested ones included.
const MAX_FIELDS: usize = 1 << 16;
/// The deepest nesting of fields.
const MAX_FIELD_DEPTH: usize = 64;

/// The layout of the cells of a column, or of the values of its dictionary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellLayout {
    /// Bits.
    Bool,
    /// Numbers in the representation of a buffer.
    Scalar(Scalar),
    /// Floats of 16 bits.
    Half,
    /// Texts by offsets of 32 or 64 bits.
    Text { large: bool },
    /// Texts by length and place; short texts are stored inline.
    View,
}

impl CellLayout {
    /// Returns the type of a cell.
    pub fn element(self) -> Element {
        match self {
            CellLayout::Bool => Element::Bool,
            CellLayout::Scalar(scalar) => Element::Scalar(scalar),
            CellLayout::Half => Element::Scalar(Scalar::Single),
            CellLayout::Text { .. } | CellLayout::View => Element::Scalar(Scalar::String),
        }
    }
}

/// The layout of the lists of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListLayout {
    /// Lists bounded by offsets of 32 or 64 bits.
    Offsets { large: bool },
    /// Lists of this many elements each.
    FixedSize(usize),
}

/// One column.
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// The layout of its cells, or of the elements of its lists; `None` if they cannot be read.
    pub kind: Option<CellLayout>,
    /// The layout of its lists, if it is a column of lists.
    pub lists: Option<ListLayout>,
    /// A description of the content for messages, if it cannot be read.
    pub description: &'static str,
    /// For a column of indices into a dictionary: the dictionary, and the layout of the indices.
    pub dictionary: Option<(i64, CellLayout)>,
    /// The number of its node in a batch.
    pub node: usize,
    /// The number of its buffers in a batch, without those of views.
    pub buffers: usize,
    /// The number of views within it, each with buffers of its own that the batch counts.
    pub views: usize,
}

/// All columns.
pub struct Schema {
    /// The columns, in the order of the file.
    pub fields: Vec<Field>,
}

/// Counts of the parts of a batch that a field takes.
#[derive(Default)]
struct BatchParts {
    nodes: usize,
    buffers: usize,
    views: usize,
    fields: usize,
    old: bool,
}

impl Schema {
    /// Reads the columns of a schema. Before metadata version 5 unions had one more buffer, which
    /// the schema does not tell.
    pub fn of(schema: SchemaRef<'_>, version: MetadataVersion) -> Result<Schema, DataError> {
        let mut fields = Vec::new();
        let mut all = BatchParts { old: version < MetadataVersion::V5, ..BatchParts::default() };
        for field in schema.fields().map_err(invalid_flatbuffer)?.into_iter().flatten() {
            let field = field.map_err(invalid_flatbuffer)?;
            let name = field.name().map_err(invalid_flatbuffer)?.unwrap_or_default();
            let (node, mut parts) =
                (all.nodes, BatchParts { fields: all.fields, old: all.old, ..BatchParts::default() });
            parts.add_field(&field, 0)?;
            let dictionary = match field.dictionary().map_err(invalid_flatbuffer)? {
                Some(dictionary) => {
                    let index = dictionary.index_type().map_err(invalid_flatbuffer)?;
                    let kind = index
                        .map_or(Ok(Some(CellLayout::Scalar(Scalar::Fixed(Fixed::I32)))), integer_layout)?;
                    let kind = kind.ok_or_else(|| malformed("the numbers of a dictionary are none"))?;
                    Some((dictionary.id().map_err(invalid_flatbuffer)?, kind))
                }
                None => None,
            };
            let lists = list_layout(&field)?;
            let (kind, holds) = match &lists {
                Some((_, element)) => {
                    (cell_layout(element)?.0, "lists of what is no number, text or truth value")
                }
                None => cell_layout(&field)?,
            };
            fields.push(Field {
                name: name.into(),
                kind,
                lists: lists.map(|(lists, _)| lists),
                description: holds,
                dictionary,
                node,
                buffers: parts.buffers,
                views: parts.views,
            });
            all.nodes += parts.nodes;
            all.fields = parts.fields;
        }
        Ok(Schema { fields })
    }

    /// Returns the positions of the columns with these names.
    pub fn select_columns(&self, names: &[&str]) -> Result<Vec<usize>, DataError> {
        let mut chosen = Vec::new();
        for name in names {
            let mut found = self.fields.iter().enumerate().filter(|(_, field)| *field.name == **name);
            let Some((at, field)) = found.next() else {
                let there: Vec<String> = self.fields.iter().map(|field| field.name.to_string()).collect();
                let similar = similar_name(name, &there);
                return Err(DataError::MissingColumn {
                    what: "column",
                    name: name.to_string(),
                    there,
                    similar,
                });
            };
            if found.next().is_some() {
                return Err(malformed(format!("two of its columns are named `{name}`")));
            }
            if field.kind.is_none() {
                return Err(malformed(format!("its column `{name}` holds {}", field.description)));
            }
            chosen.push(at);
        }
        Ok(chosen)
    }
}

impl BatchParts {
    /// Adds the parts of a field and of those within it.
    fn add_field(&mut self, field: &FieldRef<'_>, depth: usize) -> Result<(), DataError> {
        self.fields += 1;
        if depth > MAX_FIELD_DEPTH || self.fields > MAX_FIELDS {
            return Err(malformed("it has too many columns within columns"));
        }
        self.nodes += 1;
        // A column with a dictionary holds indices, whatever the dictionary holds.
        if field.dictionary().map_err(invalid_flatbuffer)?.is_some() {
            self.buffers += 2;
            return Ok(());
        }
        let ty = field
            .type_()
            .map_err(invalid_flatbuffer)?
            .ok_or_else(|| malformed("one of its columns has no type"))?;
        self.buffers += match &ty {
            TypeRef::Null(_) | TypeRef::RunEndEncoded(_) => 0,
            TypeRef::Struct(_) | TypeRef::FixedSizeList(_) => 1,
            TypeRef::Utf8(_) | TypeRef::LargeUtf8(_) | TypeRef::Binary(_) | TypeRef::LargeBinary(_) => 3,
            TypeRef::ListView(_) | TypeRef::LargeListView(_) => 3,
            TypeRef::Union(_) if self.old => {
                return Err(malformed("it has unions of before version 1.0 of Arrow"));
            }
            TypeRef::Union(union) if union.mode().map_err(invalid_flatbuffer)? == UnionMode::Sparse => 1,
            _ => 2,
        };
        self.views += usize::from(matches!(ty, TypeRef::Utf8View(_) | TypeRef::BinaryView(_)));
        for child in field.children().map_err(invalid_flatbuffer)?.into_iter().flatten() {
            self.add_field(&child.map_err(invalid_flatbuffer)?, depth + 1)?;
        }
        Ok(())
    }
}

/// Returns the layout of cells, or a description of cells that cannot be read.
fn cell_layout(field: &FieldRef<'_>) -> Result<(Option<CellLayout>, &'static str), DataError> {
    let ty = field
        .type_()
        .map_err(invalid_flatbuffer)?
        .ok_or_else(|| malformed("one of its columns has no type"))?;
    Ok(match ty {
        TypeRef::Bool(_) => (Some(CellLayout::Bool), ""),
        TypeRef::Int(int) => (integer_layout(int)?, "integers of another width"),
        TypeRef::FloatingPoint(float) => match float.precision().map_err(invalid_flatbuffer)? {
            Precision::Half => (Some(CellLayout::Half), ""),
            Precision::Single => (Some(CellLayout::Scalar(Scalar::Single)), ""),
            Precision::Double => (Some(CellLayout::Scalar(Scalar::Real)), ""),
        },
        TypeRef::Utf8(_) => (Some(CellLayout::Text { large: false }), ""),
        TypeRef::LargeUtf8(_) => (Some(CellLayout::Text { large: true }), ""),
        TypeRef::Utf8View(_) => (Some(CellLayout::View), ""),
        TypeRef::Date(_)
        | TypeRef::Time(_)
        | TypeRef::Timestamp(_)
        | TypeRef::Duration(_)
        | TypeRef::Interval(_) => (None, "times; cast it to int64 where the file is made"),
        TypeRef::Decimal(_) => (None, "decimals; cast it to float64 where the file is made"),
        TypeRef::Null(_) => (None, "no value at all"),
        TypeRef::Struct(_) | TypeRef::Map(_) | TypeRef::Union(_) => (None, "records"),
        TypeRef::Binary(_)
        | TypeRef::LargeBinary(_)
        | TypeRef::BinaryView(_)
        | TypeRef::FixedSizeBinary(_) => (None, "bytes"),
        TypeRef::RunEndEncoded(_) => (None, "runs of equal cells"),
        TypeRef::List(_)
        | TypeRef::LargeList(_)
        | TypeRef::FixedSizeList(_)
        | TypeRef::ListView(_)
        | TypeRef::LargeListView(_) => (None, "lists"),
    })
}

/// Returns the layout of lists and the field of their elements, if the elements may be cells.
fn list_layout<'f>(field: &FieldRef<'f>) -> Result<Option<(ListLayout, FieldRef<'f>)>, DataError> {
    if field.dictionary().map_err(invalid_flatbuffer)?.is_some() {
        return Ok(None);
    }
    let lists = match field.type_().map_err(invalid_flatbuffer)? {
        Some(TypeRef::List(_)) => ListLayout::Offsets { large: false },
        Some(TypeRef::LargeList(_)) => ListLayout::Offsets { large: true },
        Some(TypeRef::FixedSizeList(list)) => {
            match usize::try_from(list.list_size().map_err(invalid_flatbuffer)?) {
                Ok(size) => ListLayout::FixedSize(size),
                Err(_) => return Err(malformed("a list of it has a size that is none")),
            }
        }
        _ => return Ok(None),
    };
    let mut children = field.children().map_err(invalid_flatbuffer)?.into_iter().flatten();
    let (Some(element), None) = (children.next(), children.next()) else {
        return Err(malformed("a column of lists in it does not say what they hold"));
    };
    let element = element.map_err(invalid_flatbuffer)?;
    // Dictionaries within lists are not supported.
    Ok(element.dictionary().map_err(invalid_flatbuffer)?.is_none().then_some((lists, element)))
}

/// Returns the layout of integers; `None` if they cannot be read.
fn integer_layout(int: IntRef<'_>) -> Result<Option<CellLayout>, DataError> {
    let fixed = |fixed: Fixed| Some(CellLayout::Scalar(Scalar::Fixed(fixed)));
    Ok(match (int.bit_width().map_err(invalid_flatbuffer)?, int.is_signed().map_err(invalid_flatbuffer)?) {
        (8, true) => fixed(Fixed::I8),
        (16, true) => fixed(Fixed::I16),
        (32, true) => fixed(Fixed::I32),
        (64, true) => Some(CellLayout::Scalar(Scalar::Int)),
        (8, false) => fixed(Fixed::U8),
        (16, false) => fixed(Fixed::U16),
        (32, false) => fixed(Fixed::U32),
        (64, false) => fixed(Fixed::U64),
        _ => None,
    })
}
