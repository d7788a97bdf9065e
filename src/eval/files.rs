//! Primitives that read and write files.
//!
//! Takes the type that a program states and the file system of the host; the formats are those of
//! [`crate::data`]. A reader gives its value with the sizes it has found, in the order of the variables that
//! its type binds. What is stated of shape and cells is checked here, once, before anything is made of it.

use super::code::PrimTypes;
use super::error::Failure;
use super::run::Host;
use super::select::{room, value};
use crate::core::Prim;
use crate::data::{
    self, Column, Content, Data, DataError, Element, Format, Limits, MORE_THAN_MAY_BE, Separator,
};
use crate::layout::{Form, Layout, Layouts};
use crate::picture::{self, Bounds, DrawError};
use crate::source::line;
use crate::types::encoding::Code;
use crate::types::stored::{Axis, Cell, CellKind, FileType, NotStorable, plain_name};
use crate::types::{Scalar, Type};
use crate::value::{Buffer, Case, Class, Packed, Value};
use bytes::Bytes;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// The value of a primitive of this kind.
pub(super) fn files(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    layouts: &Layouts,
    host: &mut Host<'_>,
) -> Result<Value, Failure> {
    let limits = &Limits { room: host.memory, stop: host.interrupt };
    let (memory, files) = (limits.room, host.files);
    match prim {
        Prim::Cells | Prim::Svg => return text(prim, types, &args[0], layouts, limits),
        Prim::Draw => return draw(args[0].as_str(), host),
        _ => {}
    }
    let path = args[0].as_str();
    let failed = |trouble| match trouble {
        DataError::Stopped => Failure::Interrupted,
        trouble => Failure::File { path: path.to_string(), trouble: Box::new(trouble) },
    };
    let Some(files) = files else { return Err(failed(DataError::NoFiles)) };
    let Some(format) = format(prim, path, args).map_err(failed)? else {
        return Err(Failure::Internal { what: "a primitive that has no file" });
    };
    // A host that was stopped says in words that it was.
    let said = |trouble| limits.poll(0).map_or_else(|stopped| stopped, |()| trouble);
    let unreadable = |why: String| failed(said(DataError::Unreadable { why }));
    let write = |bytes: Result<Vec<u8>, DataError>| {
        let done = bytes.and_then(|bytes| {
            let written = files.write(path, &bytes).map(|()| Value::UNIT);
            written.map_err(|why| said(DataError::Unwritable { why }))
        });
        done.map_err(failed)
    };
    match prim {
        Prim::ReadText => {
            let longest = memory.min(super::prim::LONGEST_STRING as u64);
            let bytes = files.read(path, longest).map_err(unreadable)?;
            let text = String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                let line = line(error.as_bytes(), at);
                failed(DataError::Malformed { format, why: format!("line {line} is not UTF-8") })
            })?;
            Ok(Value::str(text))
        }
        Prim::SavePicture => {
            let not_drawn = |undrawn| {
                failed(match undrawn {
                    DrawError::Stopped => DataError::Stopped,
                    DrawError::NoPicture => DataError::NotDrawn { why: NO_PICTURE.to_string() },
                    DrawError::TooLong => DataError::NotDrawn { why: MORE_THAN_MAY_BE.to_string() },
                    DrawError::Unfit(why) => DataError::NotDrawn { why },
                })
            };
            let longest = usize::try_from(memory).unwrap_or(usize::MAX);
            let bounds = Bounds { longest, stop: limits.stop };
            let picture = picture::read(args[1].as_str(), &bounds).map_err(not_drawn)?;
            write(Ok(picture::file(&picture, path, &bounds).map_err(not_drawn)?))
        }
        Prim::WriteText => write(Ok(args[1].as_str().as_bytes().to_vec())),
        _ => {
            let Some(ty) = types.args.first() else {
                return Err(Failure::Internal { what: "a primitive without types" });
            };
            if prim.is_reader() {
                let stored = stored(ty, format).map_err(failed)?;
                let bytes = match format.is_mapped() {
                    true => files.map(path, memory),
                    false => files.read(path, memory).map(Bytes::from),
                };
                let bytes = bytes.map_err(unreadable)?;
                let part = args.get(1).map(Value::as_str);
                let found = data::read(format, &bytes, part, &stored, limits).map_err(failed)?;
                drop(bytes);
                return Reading { ty, stored: &stored, layouts, limits, format }.value(found, &failed);
            }
            let write_data = |ty: &Type, value: &Value| to_data(ty, value, format, layouts, limits);
            if prim == Prim::WriteNpz {
                return write(archive(ty, &args[1], layouts, limits, write_data));
            }
            write(write_data(ty, &args[1]).and_then(|data| data::write(format, &data, limits)))
        }
    }
}

/// Bytes that a list takes beside its elements: its size and what holds both.
const LIST_BYTES: u64 = 256;

/// What is said of a description that is none: its layers were changed by hand.
const NO_PICTURE: &str = "the layers of this picture describe none";

/// The bounds of a picture as text.
fn bounds<'a>(limits: &Limits<'a>) -> Bounds<'a> {
    let longest = limits.room.min(super::prim::LONGEST_STRING as u64);
    Bounds { longest: longest as usize, stop: limits.stop }
}

/// Why there is no picture as text.
fn undrawn(undrawn: DrawError, bounds: &Bounds<'_>) -> Failure {
    match undrawn {
        DrawError::Stopped => Failure::Interrupted,
        DrawError::TooLong => super::arith::too_much(bounds.longest, 2, bounds.longest as u64),
        DrawError::NoPicture => Failure::Failed { message: NO_PICTURE.to_string() },
        DrawError::Unfit(message) => Failure::Failed { message },
    }
}

/// Prints a picture.
fn draw(description: &str, host: &mut Host<'_>) -> Result<Value, Failure> {
    let bounds = bounds(&Limits { room: host.memory, stop: host.interrupt });
    let drawn = picture::read(description, &bounds);
    let drawn = drawn.and_then(|picture| picture::text(&picture, host.screen, &bounds));
    (host.out)(&drawn.map_err(|why| undrawn(why, &bounds))?);
    Ok(Value::UNIT)
}

/// A picture as SVG, and numbers as the text that describes them.
fn text(
    prim: Prim,
    types: &PrimTypes,
    value: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Value, Failure> {
    let bounds = bounds(limits);
    let too_long = || undrawn(DrawError::TooLong, &bounds);
    if prim == Prim::Svg {
        let drawn =
            picture::read(value.as_str(), &bounds).and_then(|picture| picture::svg(&picture, &bounds));
        return drawn.map(Value::str).map_err(|why| undrawn(why, &bounds));
    }
    let Some(ty) = types.args.first() else {
        return Err(Failure::Internal { what: "numbers without a type" });
    };
    let numbers = to_data(ty, value, Format::Csv(Separator::COMMA), layouts, limits);
    let text = numbers
        .and_then(|numbers| data::cells_text(&numbers, &Limits { room: bounds.longest as u64, ..*limits }));
    match text {
        Ok(Some(text)) => Ok(Value::str(text)),
        Ok(None) => Err(too_long()),
        Err(DataError::Stopped) => Err(Failure::Interrupted),
        Err(DataError::Unwritable { .. }) => Err(too_long()),
        Err(_) => Err(Failure::Internal { what: "numbers that are none" }),
    }
}

/// The format of a primitive, if it has one.
fn format(prim: Prim, path: &str, args: &[Value]) -> Result<Option<Format>, DataError> {
    let separator = |given: Option<&Value>| {
        let found = given.map_or(',', Value::as_char);
        Separator::of_char(found).ok_or(DataError::NoSeparator { found })
    };
    Ok(Some(match prim {
        Prim::Npy | Prim::WriteNpy => Format::Npy,
        Prim::Npz | Prim::WriteNpz => Format::Npz,
        Prim::Csv | Prim::WriteCsv => Format::Csv(Separator::of_path(path)),
        Prim::CsvBy => Format::Csv(separator(args.get(1))?),
        Prim::WriteCsvBy => Format::Csv(separator(args.get(2))?),
        Prim::Arrow | Prim::WriteArrow => Format::Arrow,
        Prim::Parquet | Prim::WriteParquet => Format::Parquet,
        Prim::Raw | Prim::WriteRaw => Format::Raw,
        Prim::ReadText | Prim::WriteText | Prim::SavePicture => Format::Text,
        _ => return Ok(None),
    }))
}

/// A type as files hold it; the checker could not look into type parameters.
fn stored(ty: &Type, format: Format) -> Result<FileType, DataError> {
    let stored = FileType::of(ty).map_err(|why| match why {
        NotStorable::Part(part) if part == *ty => {
            DataError::NotHeld { format, ty: ty.to_string(), why: "no file holds it".to_string() }
        }
        NotStorable::Part(part) => {
            DataError::NotHeld { format, ty: ty.to_string(), why: format!("it holds `{part}`") }
        }
        NotStorable::Axis(ty) => {
            let why = "a size to be found in it is no axis".to_string();
            DataError::NotHeld { format, ty: ty.to_string(), why }
        }
        NotStorable::Shared { field, .. } => {
            let why = format!("the size of `{field}` would be one for all rows");
            DataError::NotHeld { format, ty: ty.to_string(), why }
        }
    })?;
    match stored.list().filter(|_| !format.has_lists()) {
        Some((field, list)) => {
            let why = format!("its rows have no lists, and `{field}` is of type `{}`", list.text());
            Err(DataError::NotHeld { format, ty: ty.to_string(), why })
        }
        None => Ok(stored),
    }
}

/// What a stated type makes of data.
struct Reading<'r> {
    ty: &'r Type,
    stored: &'r FileType,
    layouts: &'r Layouts,
    limits: &'r Limits<'r>,
    format: Format,
}

impl Reading<'_> {
    fn value(&self, data: Data, failed: &impl Fn(DataError) -> Failure) -> Result<Value, Failure> {
        let (fits, there) = (data.type_text(), data.element_text());
        let sizes = self.sizes(&data.shape, &fits).map_err(failed)?;
        let layout = self.layouts.of(&self.stored.element);
        let count = data.count();
        // What lies in the file as it does in memory takes none.
        let in_place = self.in_place(&data.content);
        // Numbers may become wider on the way: a byte of a file is eight of a `real`.
        let slots = count.saturating_mul(layout.slots);
        let memory = self.limits.room;
        let bytes = (slots as u64).saturating_mul(layout.class.bytes());
        let lists = (self.lists() as u64).saturating_mul(count as u64).saturating_mul(LIST_BYTES);
        if !in_place && bytes.saturating_add(lists) > memory {
            return Err(super::arith::too_much(slots, layout.class.bytes(), memory));
        }
        let buffer = match (data.content, &self.stored.contents) {
            (Content::Plain(column), CellKind::Complex) if column.element == Element::Complex => column.cells,
            (Content::Plain(column), CellKind::Cell(cell)) => {
                let plain = self.plain(&column, cell, layout.class);
                let column = fitted("", column, cell, &data.shape, &fits, self.limits).map_err(failed)?;
                match plain {
                    true if layout.slots == 0 => Buffer::U8(Vec::new()),
                    true => column.cells,
                    false => self.rows(&mut [(column, cell.clone())], &layout, count, failed)?,
                }
            }
            (Content::Records(columns), CellKind::Record(fields)) => {
                let there: Vec<String> = columns.iter().map(|(name, _)| name.to_string()).collect();
                let mut columns: Vec<_> = columns.into_iter().map(|(name, c)| (name, Some(c))).collect();
                let (mut chosen, mut plain) = (Vec::new(), false);
                for (name, cell) in fields {
                    let found = columns.iter_mut().find(|(other, _)| other == name);
                    let Some(column) = found.and_then(|(_, column)| column.take()) else {
                        let similar = data::similar(name, &there);
                        return Err(failed(DataError::NoColumn {
                            what: "column",
                            name: name.to_string(),
                            there,
                            similar,
                        }));
                    };
                    plain = self.plain(&column, cell, layout.class);
                    let column =
                        fitted(name, column, cell, &data.shape, &fits, self.limits).map_err(failed)?;
                    chosen.push((column, cell.clone()));
                }
                match &mut chosen[..] {
                    // Rows of one cell lie as the cells do.
                    [(column, _)] if plain && layout.slots == 1 => {
                        std::mem::replace(&mut column.cells, Buffer::U8(Vec::new()))
                    }
                    chosen => self.rows(chosen, &layout, count, failed)?,
                }
            }
            _ => {
                let found = there;
                let wanted = self.stored.element.to_string();
                return Err(failed(DataError::Element { column: String::new(), found, wanted, fits }));
            }
        };
        let value = value(buffer);
        Ok(if self.ty.is_exists() { Value::Packed(Arc::new(Packed { sizes, value })) } else { value })
    }

    /// How many columns of lists are read.
    fn lists(&self) -> usize {
        match &self.stored.contents {
            CellKind::Record(fields) => {
                fields.iter().filter(|(_, cell)| matches!(cell, Cell::List(..))).count()
            }
            CellKind::Cell(_) | CellKind::Complex => 0,
        }
    }

    /// Whether a value of the stated type is the cells of the file itself.
    fn in_place(&self, content: &Content) -> bool {
        let (column, cell) = match (content, &self.stored.contents) {
            (Content::Plain(column), CellKind::Complex) => {
                return column.cells.is_foreign() && column.element == Element::Complex;
            }
            (Content::Plain(column), CellKind::Cell(cell)) => (Some(column), cell),
            (Content::Records(columns), CellKind::Record(fields)) if fields.len() == 1 => {
                let column = columns.iter().find(|(name, _)| *name == fields[0].0);
                (column.map(|(_, column)| column), &fields[0].1)
            }
            _ => return false,
        };
        column.is_some_and(|column| {
            let same = matches!(cell, Cell::Scalar(scalar) if column.element == Element::Scalar(*scalar));
            same && column.cells.is_foreign()
        })
    }

    /// Whether the cells of a column become slots as they are.
    fn plain(&self, column: &Column, cell: &Cell, class: Class) -> bool {
        let own = match cell {
            Cell::Scalar(scalar) => Class::of_scalar(*scalar),
            Cell::Code(_) => class,
            Cell::Case(..) | Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => return false,
        };
        column.missing.is_empty() && own == class
    }

    /// The sizes that are found, if the shape is that of the type.
    fn sizes(&self, shape: &[usize], fits: &str) -> Result<Vec<Type>, DataError> {
        let wrong = |why: String| DataError::Shape {
            found: shape.to_vec(),
            ty: self.ty.to_string(),
            why,
            fits: fits.to_string(),
        };
        let axes = &self.stored.axes;
        // One size for all axes that there are: their product.
        if let ([Axis::Unknown(0)], true) =
            (&axes[..], shape.len() != 1 && matches!(self.format, Format::Npy | Format::Npz))
        {
            let axes = shape.iter().map(|n| Type::unit_sum(*n)).collect();
            return Ok(vec![Type::compact_product(axes)]);
        }
        if axes.len() != shape.len() {
            let count = |n: usize| match n {
                0 => "no axis".to_string(),
                1 => "1 axis".to_string(),
                n => format!("{n} axes"),
            };
            return Err(wrong(format!(
                "the type has {}, the file {}",
                count(axes.len()),
                count(shape.len())
            )));
        }
        let mut sizes: Vec<Option<usize>> = vec![None; self.stored.unknown];
        for (at, (axis, found)) in axes.iter().zip(shape).enumerate() {
            let along = |wanted: String| {
                let axis = if axes.len() == 1 { String::new() } else { format!(" along axis {}", at + 1) };
                wrong(format!("{wanted} wanted{axis}, and {found} there"))
            };
            match axis {
                Axis::Known(ty) if ty.size().ok().and_then(|n| n.to_usize()) == Some(*found) => {}
                Axis::Known(ty) => {
                    let size = ty.size().map_or_else(|_| ty.size_text(), |n| n.to_string());
                    return Err(along(format!("{size} is")));
                }
                Axis::Unknown(i) => match sizes[*i] {
                    Some(before) if before != *found => {
                        return Err(along(format!("{before}, as along an axis before, is")));
                    }
                    _ => sizes[*i] = Some(*found),
                },
            }
        }
        Ok(sizes.into_iter().map(|n| Type::unit_sum(n.unwrap_or(0))).collect())
    }

    /// Columns as rows.
    fn rows(
        &self,
        columns: &mut [(Column, Cell)],
        layout: &Layout,
        count: usize,
        failed: &impl Fn(DataError) -> Failure,
    ) -> Result<Buffer, Failure> {
        let places = |cell: &Cell| match cell {
            Cell::Scalar(_) | Cell::List(..) => Ok(None),
            Cell::Case(_, ty) | Cell::Code(ty) | Cell::Sum(_, ty) | Cell::Variant(_, ty) => {
                let layout = self.layouts.of(ty);
                // A case with an argument is one slot; what has none of its own takes no part.
                if layout.slots > 1 {
                    let why = "a cell that may be empty holds one value".to_string();
                    let (format, ty) = (self.format, ty.to_string());
                    return Err(failed(DataError::NotHeld { format, ty, why }));
                }
                Ok(Some(layout))
            }
        };
        let layouts: Vec<Option<Arc<Layout>>> =
            columns.iter().map(|(_, cell)| places(cell)).collect::<Result<_, _>>()?;
        let mut buffer = room(layout.class, count * layout.slots, self.limits.room)?;
        // The lists of a column are parts of one array.
        let elements: Vec<Value> = columns
            .iter_mut()
            .map(|(column, _)| match column.lists {
                Some(_) => value(std::mem::replace(&mut column.cells, Buffer::U8(Vec::new()))),
                None => Value::UNIT,
            })
            .collect();
        for i in 0..count {
            self.limits.poll(i).map_err(failed)?;
            for (((column, cell), layout), elements) in columns.iter().zip(&layouts).zip(&elements) {
                if let Some(starts) = &column.lists {
                    let (start, len) = (starts[i], starts[i + 1] - starts[i]);
                    let sizes = vec![Type::unit_sum(len)];
                    buffer.push(Value::Packed(Arc::new(Packed { sizes, value: elements.slots(start, len) })));
                    continue;
                }
                if layout.as_ref().is_some_and(|layout| layout.slots == 0) {
                    continue;
                }
                let missing = column.missing.get(i).copied().unwrap_or(false);
                let value = if missing { Value::UNIT } else { column.cells.get(i) };
                let case = if missing { Code::ZERO } else { Code::Small(1) };
                buffer.push(match (cell, layout) {
                    (Cell::Variant(..), _) => Value::Sum(Arc::new(Case(case, value))),
                    (Cell::Sum(..), Some(layout)) => match &layout.form {
                        Form::Sum(sum) => sum.inject(&case, value),
                        Form::Compact(compact) => {
                            Value::code(compact.encoding.inject(&case, &value.to_code()))
                        }
                        _ => value,
                    },
                    _ => value,
                });
            }
        }
        Ok(buffer)
    }
}

/// A column at the type that is stated.
fn fitted(
    name: &str,
    column: Column,
    cell: &Cell,
    shape: &[usize],
    fits: &str,
    limits: &Limits<'_>,
) -> Result<Column, DataError> {
    let element = column.element;
    let found = match column.lists {
        Some(_) => column.type_text(),
        None => element.name().to_string(),
    };
    let mismatch = || DataError::Element {
        column: name.to_string(),
        found: found.clone(),
        wanted: cell.text(),
        fits: fits.to_string(),
    };
    let (missing, lists) = (column.missing.clone(), column.lists.clone());
    let place = |at: usize| match &lists {
        Some(starts) => {
            let list = starts.partition_point(|start| *start <= at).saturating_sub(1);
            format!("column `{name}`, element {} of list {list}", at - starts[list])
        }
        None => place(name, shape, at),
    };
    let own = match (cell, &lists) {
        (Cell::List(element, _), Some(_)) => element,
        (Cell::List(..), None) | (_, Some(_)) => return Err(mismatch()),
        (cell, None) => cell,
    };
    let cells = data::fit(column, own, place, mismatch, limits)?;
    if let Some(at) = missing.iter().position(|missing| *missing)
        && !own.is_optional()
    {
        let (place, wanted) = (place(at), own.text());
        return Err(match lists {
            Some(_) => DataError::gap(place, wanted),
            None => DataError::empty(place, wanted),
        });
    }
    Ok(Column { element, cells, missing, lists })
}

/// Where a cell is, for people.
fn place(name: &str, shape: &[usize], mut at: usize) -> String {
    let mut index = Vec::new();
    for n in shape.iter().rev() {
        index.push((at % n.max(&1)).to_string());
        at /= n.max(&1);
    }
    index.reverse();
    let index = match &index[..] {
        [] => "the value".to_string(),
        [one] => format!("element {one}"),
        several => format!("element ({})", several.join(", ")),
    };
    if name.is_empty() { index } else { format!("column `{name}`, {index}") }
}

/// A value as the data of a file.
fn to_data(
    ty: &Type,
    value: &Value,
    format: Format,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let stored = stored(ty, format)?;
    let not_held = |why: &str| DataError::NotHeld { format, ty: ty.to_string(), why: why.to_string() };
    let size = |axis: &Axis| match axis {
        Axis::Known(ty) => ty.size().ok().and_then(|n| n.to_usize()),
        Axis::Unknown(_) => None,
    };
    let shape: Option<Vec<usize>> = stored.axes.iter().map(size).collect();
    let shape = shape.ok_or_else(|| not_held("it has more elements than are counted"))?;
    let count: usize = if shape.contains(&0) { 0 } else { shape.iter().product() };
    let layout = layouts.of(&stored.element);
    // What lies in a file may be larger than the memory that may be used; what is to be written is put together there.
    let own = |class: Class, slots: usize| {
        let fits = (slots as u64).saturating_mul(class.bytes()) <= limits.room;
        let buffer = fits.then(|| Buffer::with_room(class, slots)).flatten();
        buffer.ok_or_else(DataError::too_large_to_write)
    };
    let column = |cell: &Cell, start: usize, slots: usize| {
        let held = match cell {
            Cell::List(element, _) => element,
            cell => cell.inner(),
        };
        let element = match held {
            Cell::Scalar(scalar) => Element::Scalar(*scalar),
            Cell::Code(ty) if ty.is_bool() => Element::Bool,
            Cell::Code(ty) => data::unsigned(data::class_of_codes(ty))
                .map(Element::Scalar)
                .ok_or_else(|| not_held("codes of up to 64 bits are held"))?,
            Cell::Case(..) => Element::Scalar(Scalar::String),
            Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => {
                return Err(not_held("a cell is empty or not"));
            }
        };
        if cell.is_optional() && !format.has_empty_cells() {
            return Err(not_held("its cells are never empty"));
        }
        if let Cell::List(..) = cell {
            let list = |i: usize| match value.slots(i * layout.slots + start, 1) {
                Value::Packed(list) => Ok(list),
                _ => Err(not_held("a list of it has no size")),
            };
            let mut starts = vec![0];
            let mut end = 0usize;
            for i in 0..count {
                limits.poll(i)?;
                let size = list(i)?.sizes.first().and_then(|size| size.size().ok()?.to_usize());
                end = size.and_then(|n| end.checked_add(n)).ok_or_else(DataError::too_large_to_write)?;
                starts.push(end);
            }
            let mut cells = own(element.class(), end)?;
            for (i, ends) in starts.windows(2).enumerate() {
                limits.poll(i)?;
                cells.append(&list(i)?.value, ends[1] - ends[0]);
            }
            return Ok(Column { lists: Some(starts), ..Column::new(element, cells) });
        }
        let mut cells = own(element.class(), count)?;
        let mut missing = Vec::new();
        // Of a variant that has names for its cases, those.
        let names: Vec<Value> = match cell.inner() {
            Cell::Case(names, _) => names.iter().map(|name| Value::str(&**name)).collect(),
            _ => Vec::new(),
        };
        if slots == 1 && layout.slots == 1 && !cell.is_optional() && names.is_empty() {
            cells.append(value, count);
            return Ok(Column::new(element, cells));
        }
        for i in 0..count {
            limits.poll(i)?;
            // What takes no slot is the code 0.
            let found = match slots {
                0 => Value::UNIT,
                _ => value.slots(i * layout.slots + start, slots),
            };
            let (empty, found) = match cell {
                Cell::Sum(_, ty) => match &layouts.of(ty).form {
                    Form::Sum(sum) => {
                        let (case, value) = sum.split(&found);
                        (case.is_zero(), value)
                    }
                    _ => (false, found),
                },
                Cell::Variant(..) => match &found {
                    Value::Sum(case) => (case.0.is_zero(), case.1.clone()),
                    _ => (false, found),
                },
                _ => (false, found),
            };
            if cell.is_optional() {
                missing.push(empty);
            }
            let text = matches!(cells, Buffer::Any(_)) && empty;
            let name = match &found {
                _ if empty || names.is_empty() => None,
                Value::Sum(case) => case.0.to_usize().and_then(|case| names.get(case)),
                code => code.to_code().to_usize().and_then(|case| names.get(case)),
            };
            cells.push(if text { Value::str("") } else { name.cloned().unwrap_or(found) });
        }
        Ok(Column { missing, ..Column::new(element, cells) })
    };
    let content = match &stored.contents {
        CellKind::Cell(cell) => Content::Plain(column(cell, 0, layout.slots)?),
        CellKind::Complex => {
            let mut cells = own(Class::Word, count.saturating_mul(2))?;
            cells.append(value, 2 * count);
            Content::Plain(Column::new(Element::Complex, cells))
        }
        CellKind::Record(fields) => {
            let mut columns = Vec::new();
            for (at, (name, cell)) in fields.iter().enumerate() {
                let (start, part) = layout.part(at).ok_or_else(|| not_held("a record without this field"))?;
                columns.push((name.clone(), column(cell, start, part.slots)?));
            }
            Content::Records(columns)
        }
    };
    Ok(Data { shape, content })
}

/// A record of arrays as an archive.
fn archive(
    ty: &Type,
    value: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
    data: impl Fn(&Type, &Value) -> Result<Data, DataError>,
) -> Result<Vec<u8>, DataError> {
    let Some(fields) = ty.unfold().fields() else {
        let why = "a record has an array in each field: `(weights = x, bias = y)`".to_string();
        return Err(DataError::NotHeld { format: Format::Npz, ty: ty.to_string(), why });
    };
    let layout = layouts.of(ty);
    let mut arrays = Vec::new();
    for (at, (name, ty)) in fields.iter().enumerate() {
        let (start, part) = layout.part(at).unwrap_or((0, layout.clone()));
        let own = if part.slots == layout.slots { value.clone() } else { value.slots(start, part.slots) };
        arrays.push((plain_name(name), data(ty, &own)?));
    }
    data::write_archive(&arrays, limits)
}
