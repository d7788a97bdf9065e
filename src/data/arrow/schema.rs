//! What the columns of an Arrow file are, and where each has its parts in a batch.

use super::{damaged, malformed};
use crate::data::{DataError, Element, similar};
use crate::types::{Scalar, number::Fixed};
use polars_arrow_format::ipc::{FieldRef, IntRef, MetadataVersion, Precision, SchemaRef, TypeRef, UnionMode};
use std::sync::Arc;

/// The most fields, those within others counted, too.
const MOST_FIELDS: usize = 1 << 16;
/// The deepest field.
const MAX_DEPTH: usize = 64;

/// How the cells of a column lie, or the values of its dictionary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Bits.
    Bool,
    /// Numbers as they are here.
    Plain(Scalar),
    /// Floats of 16 bits.
    Half,
    /// Texts by where each begins, in 32 or 64 bits.
    Text { large: bool },
    /// Texts by length and place, short ones where the place would be.
    View,
}

impl Kind {
    /// What a cell is.
    pub fn element(self) -> Element {
        match self {
            Kind::Bool => Element::Bool,
            Kind::Plain(scalar) => Element::Scalar(scalar),
            Kind::Half => Element::Scalar(Scalar::Single),
            Kind::Text { .. } | Kind::View => Element::Scalar(Scalar::String),
        }
    }
}

/// How the lists of a column lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lists {
    /// By where each begins, in 32 or 64 bits.
    Offsets { large: bool },
    /// Each has that many elements.
    Equal(usize),
}

/// One column.
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// How its cells lie, or the elements of its lists; `None` if they are not read.
    pub kind: Option<Kind>,
    /// How its lists lie, if it is a column of lists.
    pub lists: Option<Lists>,
    /// What it holds if it is not read, in words.
    pub holds: &'static str,
    /// Of a column of numbers of a dictionary: which, and how the numbers lie.
    pub dictionary: Option<(i64, Kind)>,
    /// The number of its node in a batch.
    pub node: usize,
    /// Buffers that it has in a batch, without those of views.
    pub buffers: usize,
    /// How many views are within it, each with buffers of its own that the batch counts.
    pub views: usize,
}

/// All columns.
pub struct Schema {
    /// In the order of the file.
    pub fields: Vec<Field>,
}

/// Parts of a batch that a field takes.
#[derive(Default)]
struct Parts {
    nodes: usize,
    buffers: usize,
    views: usize,
    fields: usize,
    old: bool,
}

impl Schema {
    /// The columns of a description. Before version 5 of it unions had a buffer more, which is not told.
    pub fn of(schema: SchemaRef<'_>, version: MetadataVersion) -> Result<Schema, DataError> {
        let mut fields = Vec::new();
        let mut all = Parts { old: version < MetadataVersion::V5, ..Parts::default() };
        for field in schema.fields().map_err(damaged)?.into_iter().flatten() {
            let field = field.map_err(damaged)?;
            let name = field.name().map_err(damaged)?.unwrap_or_default();
            let (node, mut parts) =
                (all.nodes, Parts { fields: all.fields, old: all.old, ..Parts::default() });
            parts.take(&field, 0)?;
            let dictionary = match field.dictionary().map_err(damaged)? {
                Some(dictionary) => {
                    let index = dictionary.index_type().map_err(damaged)?;
                    let kind = index.map_or(Ok(Some(Kind::Plain(Scalar::Fixed(Fixed::I32)))), integers)?;
                    let kind = kind.ok_or_else(|| malformed("the numbers of a dictionary are none"))?;
                    Some((dictionary.id().map_err(damaged)?, kind))
                }
                None => None,
            };
            let lists = lists(&field)?;
            let (kind, holds) = match &lists {
                Some((_, element)) => (kind(element)?.0, "lists of what is no number, text or truth value"),
                None => kind(&field)?,
            };
            fields.push(Field {
                name: name.into(),
                kind,
                lists: lists.map(|(lists, _)| lists),
                holds,
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

    /// The positions of the columns of these names.
    pub fn choose(&self, names: &[&str]) -> Result<Vec<usize>, DataError> {
        let mut chosen = Vec::new();
        for name in names {
            let mut found = self.fields.iter().enumerate().filter(|(_, field)| *field.name == **name);
            let Some((at, field)) = found.next() else {
                let there: Vec<String> = self.fields.iter().map(|field| field.name.to_string()).collect();
                let similar = similar(name, &there);
                return Err(DataError::NoColumn { what: "column", name: name.to_string(), there, similar });
            };
            if found.next().is_some() {
                return Err(malformed(format!("two of its columns are named `{name}`")));
            }
            if field.kind.is_none() {
                return Err(malformed(format!("its column `{name}` holds {}", field.holds)));
            }
            chosen.push(at);
        }
        Ok(chosen)
    }
}

impl Parts {
    /// Adds the parts of a field and of those within it.
    fn take(&mut self, field: &FieldRef<'_>, depth: usize) -> Result<(), DataError> {
        self.fields += 1;
        if depth > MAX_DEPTH || self.fields > MOST_FIELDS {
            return Err(malformed("it has too many columns within columns"));
        }
        self.nodes += 1;
        // Columns of a dictionary hold numbers, whatever the dictionary holds.
        if field.dictionary().map_err(damaged)?.is_some() {
            self.buffers += 2;
            return Ok(());
        }
        let ty =
            field.type_().map_err(damaged)?.ok_or_else(|| malformed("one of its columns has no type"))?;
        self.buffers += match &ty {
            TypeRef::Null(_) | TypeRef::RunEndEncoded(_) => 0,
            TypeRef::Struct(_) | TypeRef::FixedSizeList(_) => 1,
            TypeRef::Utf8(_) | TypeRef::LargeUtf8(_) | TypeRef::Binary(_) | TypeRef::LargeBinary(_) => 3,
            TypeRef::ListView(_) | TypeRef::LargeListView(_) => 3,
            TypeRef::Union(_) if self.old => {
                return Err(malformed("it has unions of before version 1.0 of Arrow"));
            }
            TypeRef::Union(union) if union.mode().map_err(damaged)? == UnionMode::Sparse => 1,
            _ => 2,
        };
        self.views += usize::from(matches!(ty, TypeRef::Utf8View(_) | TypeRef::BinaryView(_)));
        for child in field.children().map_err(damaged)?.into_iter().flatten() {
            self.take(&child.map_err(damaged)?, depth + 1)?;
        }
        Ok(())
    }
}

/// How cells lie, or what they are if they are not read.
fn kind(field: &FieldRef<'_>) -> Result<(Option<Kind>, &'static str), DataError> {
    let ty = field.type_().map_err(damaged)?.ok_or_else(|| malformed("one of its columns has no type"))?;
    Ok(match ty {
        TypeRef::Bool(_) => (Some(Kind::Bool), ""),
        TypeRef::Int(int) => (integers(int)?, "integers of another width"),
        TypeRef::FloatingPoint(float) => match float.precision().map_err(damaged)? {
            Precision::Half => (Some(Kind::Half), ""),
            Precision::Single => (Some(Kind::Plain(Scalar::Single)), ""),
            Precision::Double => (Some(Kind::Plain(Scalar::Real)), ""),
        },
        TypeRef::Utf8(_) => (Some(Kind::Text { large: false }), ""),
        TypeRef::LargeUtf8(_) => (Some(Kind::Text { large: true }), ""),
        TypeRef::Utf8View(_) => (Some(Kind::View), ""),
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

/// How lists lie and what their elements are, if those may be cells.
fn lists<'f>(field: &FieldRef<'f>) -> Result<Option<(Lists, FieldRef<'f>)>, DataError> {
    if field.dictionary().map_err(damaged)?.is_some() {
        return Ok(None);
    }
    let lists = match field.type_().map_err(damaged)? {
        Some(TypeRef::List(_)) => Lists::Offsets { large: false },
        Some(TypeRef::LargeList(_)) => Lists::Offsets { large: true },
        Some(TypeRef::FixedSizeList(list)) => match usize::try_from(list.list_size().map_err(damaged)?) {
            Ok(size) => Lists::Equal(size),
            Err(_) => return Err(malformed("a list of it has a size that is none")),
        },
        _ => return Ok(None),
    };
    let mut children = field.children().map_err(damaged)?.into_iter().flatten();
    let (Some(element), None) = (children.next(), children.next()) else {
        return Err(malformed("a column of lists in it does not say what they hold"));
    };
    let element = element.map_err(damaged)?;
    // Numbers of a dictionary are not looked up in lists.
    Ok(element.dictionary().map_err(damaged)?.is_none().then_some((lists, element)))
}

fn integers(int: IntRef<'_>) -> Result<Option<Kind>, DataError> {
    let fixed = |fixed: Fixed| Some(Kind::Plain(Scalar::Fixed(fixed)));
    Ok(match (int.bit_width().map_err(damaged)?, int.is_signed().map_err(damaged)?) {
        (8, true) => fixed(Fixed::I8),
        (16, true) => fixed(Fixed::I16),
        (32, true) => fixed(Fixed::I32),
        (64, true) => Some(Kind::Plain(Scalar::Int)),
        (8, false) => fixed(Fixed::U8),
        (16, false) => fixed(Fixed::U16),
        (32, false) => fixed(Fixed::U32),
        (64, false) => fixed(Fixed::U64),
        _ => None,
    })
}
