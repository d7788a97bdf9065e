//! Primitives that read and write files, and those that draw pictures.
//!
//! Takes the type that a program states and the file system of the host; the formats are those of
//! [`crate::data`]. A reader returns its value with the sizes that it has found, in the order of
//! the variables that its type binds. The stated shape and cells are checked here once, before a
//! value is made.

use super::code::PrimTypes;
use super::error::Failure;
use super::existential_prims::{allocate_buffer, buffer_value, pack_with_sizes};
use super::file_records::{grid_to_vtk, record_to_archive, record_to_netcdf};
use super::machine::Host;
use crate::calendar;
use crate::core::Prim;
use crate::data::{
    self, CellMismatch, Column, Content, CsvRules, Data, DataError, EXCEEDS_MEMORY_LIMIT, Element, Format,
    Limits, NetcdfRole, Separator,
};
use crate::layout::{Form, Layout, Layouts};
use crate::picture::{self, Bounds, DrawError};
use crate::source::line_number;
use crate::types::encoding::Code;
use crate::types::stored::{Axis, Cell, CellKind, FileType, NotStorable};
use crate::types::{Scalar, Type, TypeKind};
use crate::value::{Buffer, Case, Class, Packed, Value};
use bytes::Bytes;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// Evaluates a primitive that reads or writes a file, or draws a picture.
pub(super) fn eval_file_primitive(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    layouts: &Layouts,
    host: &mut Host<'_>,
) -> Result<Value, Failure> {
    let limits = &Limits { memory: host.memory, interrupt: host.interrupt };
    let (memory, files) = (limits.memory, host.files);
    match prim {
        Prim::Cells | Prim::Svg => return picture_or_cells_text(prim, types, &args[0], layouts, limits),
        Prim::Draw => return draw_picture(args[0].as_str(), host),
        _ => {}
    }
    let path = args[0].as_str();
    let failed = |error| match error {
        DataError::Interrupted => Failure::Interrupted,
        error => Failure::File { path: path.to_string(), error: Box::new(error) },
    };
    let Some(files) = files else { return Err(failed(DataError::NoFileSystem)) };
    let Some(format) = file_format(prim, path, args).map_err(failed)? else {
        return Err(Failure::Internal { message: "a primitive that has no file" });
    };
    // A host that is interrupted reports that as an unreadable file.
    let said = |error| limits.poll(0).map_or_else(|stopped| stopped, |()| error);
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
            let longest = memory.min(super::prim::MAX_STRING_BYTES as u64);
            let bytes = files.read(path, longest).map_err(unreadable)?;
            let text = String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                let line = line_number(error.as_bytes(), at);
                failed(DataError::Malformed { format, why: format!("line {line} is not UTF-8") })
            })?;
            Ok(Value::str(text))
        }
        Prim::ReadPixels => {
            let bytes = files.read(path, memory).map_err(unreadable)?;
            let pixels = data::read_pixels(&bytes, limits).map_err(failed)?;
            let sizes = vec![Code::from(pixels.rows), Code::from(pixels.columns)];
            Ok(pack_with_sizes(sizes, buffer_value(Buffer::U8(pixels.bytes))))
        }
        Prim::SavePicture => {
            let not_drawn = |undrawn| {
                failed(match undrawn {
                    DrawError::Interrupted => DataError::Interrupted,
                    DrawError::InvalidDescription => {
                        DataError::UnsupportedPicture { why: INVALID_PICTURE.to_string() }
                    }
                    DrawError::TooLong => {
                        DataError::UnsupportedPicture { why: EXCEEDS_MEMORY_LIMIT.to_string() }
                    }
                    DrawError::Unsupported(why) => DataError::UnsupportedPicture { why },
                })
            };
            let longest = usize::try_from(memory).unwrap_or(usize::MAX);
            let bounds = Bounds { max_bytes: longest, interrupt: limits.interrupt };
            let picture = picture::parse(args[1].as_str(), &bounds).map_err(not_drawn)?;
            write(Ok(picture::encode_file(&picture, path, &bounds).map_err(not_drawn)?))
        }
        Prim::WriteText => write(Ok(args[1].as_str().as_bytes().to_vec())),
        _ => {
            let Some(ty) = types.args.first() else {
                return Err(Failure::Internal { message: "a primitive without types" });
            };
            if prim.is_reader() {
                let mut stored = file_type(ty, format).map_err(failed)?;
                if prim == Prim::Ugrid {
                    stored.contents = neighbors(stored.contents);
                }
                let bytes = match format.is_mapped() {
                    true => files.map(path, memory),
                    false => files.read(path, memory).map(Bytes::from),
                };
                let bytes = bytes.map_err(unreadable)?;
                // The second argument of other readers is no text.
                let part = (prim == Prim::Npz).then(|| args[1].as_str());
                let fill = (prim == Prim::NetcdfFilled).then(|| args[2].as_real());
                let netcdf = |role| data::read_netcdf(&bytes, args[1].as_str(), &stored, role, limits);
                let found = match prim {
                    Prim::Netcdf | Prim::NetcdfFilled => {
                        netcdf(NetcdfRole::Values { filled: fill.is_some() })
                    }
                    Prim::Ugrid => netcdf(NetcdfRole::Connectivity),
                    Prim::CsvAfter => {
                        let skipped = u64::try_from(args[2].as_int()).unwrap_or(0);
                        let missing = args[3].as_str().split_whitespace().collect();
                        data::read_csv(format, &bytes, CsvRules { skipped, missing }, &stored, limits)
                    }
                    _ => data::read(format, &bytes, part, &stored, limits),
                };
                let found = found.map_err(failed)?;
                drop(bytes);
                return TypedReader { ty, stored: &stored, layouts, limits, format, fill }
                    .read_value(found, &failed);
            }
            let write_data = |ty: &Type, value: &Value| value_to_data(ty, value, format, layouts, limits);
            match prim {
                Prim::WriteNpz => {
                    return write(record_to_archive(ty, &args[1], layouts, limits, write_data));
                }
                Prim::WriteNetcdf => {
                    return write(record_to_netcdf(ty, &args[1], layouts, limits, write_data));
                }
                Prim::WriteVtk => {
                    return write(grid_to_vtk(&types.args, &args[1..], layouts, limits, write_data));
                }
                _ => {}
            }
            write(write_data(ty, &args[1]).and_then(|data| data::write(format, &data, limits)))
        }
    }
}

/// Cases of a variant are written out in its declaration.
const COUNTED: &str = "the cases of a variant are counted by a word";

/// The size in bytes of a list without its elements: its size, and the object that holds both.
const LIST_OVERHEAD_BYTES: u64 = 256;

/// The message for a text that describes no picture: its layers were changed by hand.
const INVALID_PICTURE: &str = "the layers of this picture describe none";

/// Returns the bounds of a picture as text.
fn text_bounds<'a>(limits: &Limits<'a>) -> Bounds<'a> {
    let longest = limits.memory.min(super::prim::MAX_STRING_BYTES as u64);
    Bounds { max_bytes: longest as usize, interrupt: limits.interrupt }
}

/// Returns the failure for a picture that could not be drawn as text.
fn draw_failure(undrawn: DrawError, bounds: &Bounds<'_>) -> Failure {
    match undrawn {
        DrawError::Interrupted => Failure::Interrupted,
        DrawError::TooLong => super::arithmetic::memory_failure(bounds.max_bytes, 2, bounds.max_bytes as u64),
        DrawError::InvalidDescription => Failure::Failed { message: INVALID_PICTURE.to_string() },
        DrawError::Unsupported(message) => Failure::Failed { message },
    }
}

/// The texts of a picture, which are the fields of the library's `picture`.
#[derive(Clone, Copy, Debug)]
pub struct PictureFields<'a> {
    /// The title.
    pub title: &'a str,
    /// The text beside the horizontal axis.
    pub across: &'a str,
    /// The text beside the vertical axis.
    pub upward: &'a str,
    /// The layers, as functions of the library write them.
    pub layers: &'a str,
}

/// Returns a picture as `draw` prints it, or `None` if its layers describe none, or if it cannot be
/// drawn on this screen.
///
/// # Errors
/// The host has interrupted it.
pub fn drawn_picture(fields: PictureFields<'_>, host: &Host<'_>) -> Result<Option<String>, Failure> {
    // These separate records and fields of a description.
    let label = |text: &str| text.replace(['\u{1e}', '\u{1f}'], " ");
    let [title, across, upward] = [fields.title, fields.across, fields.upward].map(label);
    let description = format!("{title}\u{1f}{across}\u{1f}{upward}\u{1e}{}", fields.layers);
    let bounds = text_bounds(&Limits { memory: host.memory, interrupt: host.interrupt });
    let drawn = picture::parse(&description, &bounds);
    match drawn.and_then(|picture| picture::text(&picture, host.screen, &bounds)) {
        Ok(text) => Ok(Some(text)),
        Err(DrawError::Interrupted) => Err(Failure::Interrupted),
        Err(_) => Ok(None),
    }
}

/// Prints a picture.
fn draw_picture(description: &str, host: &mut Host<'_>) -> Result<Value, Failure> {
    let bounds = text_bounds(&Limits { memory: host.memory, interrupt: host.interrupt });
    let drawn = picture::parse(description, &bounds);
    let drawn = drawn.and_then(|picture| picture::text(&picture, host.screen, &bounds));
    (host.out)(&drawn.map_err(|why| draw_failure(why, &bounds))?);
    Ok(Value::UNIT)
}

/// Returns a picture as SVG, or numbers as the text that describes them in a picture.
fn picture_or_cells_text(
    prim: Prim,
    types: &PrimTypes,
    value: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Value, Failure> {
    let bounds = text_bounds(limits);
    let too_long = || draw_failure(DrawError::TooLong, &bounds);
    if prim == Prim::Svg {
        let drawn =
            picture::parse(value.as_str(), &bounds).and_then(|picture| picture::svg(&picture, &bounds));
        return drawn.map(Value::str).map_err(|why| draw_failure(why, &bounds));
    }
    let Some(ty) = types.args.first() else {
        return Err(Failure::Internal { message: "numbers without a type" });
    };
    let numbers = value_to_data(ty, value, Format::Csv(Separator::COMMA), layouts, limits);
    let text = numbers.and_then(|numbers| {
        data::cells_text(&numbers, &Limits { memory: bounds.max_bytes as u64, ..*limits })
    });
    match text {
        Ok(Some(text)) => Ok(Value::str(text)),
        Ok(None) => Err(too_long()),
        Err(DataError::Interrupted) => Err(Failure::Interrupted),
        Err(DataError::Unwritable { .. }) => Err(too_long()),
        Err(_) => Err(Failure::Internal { message: "numbers that are none" }),
    }
}

/// Returns the file format of a primitive; `None` if it has none.
fn file_format(prim: Prim, path: &str, args: &[Value]) -> Result<Option<Format>, DataError> {
    let separator = |given: Option<&Value>| {
        let found = given.map_or(',', Value::as_char);
        Separator::of_char(found).ok_or(DataError::InvalidSeparator { found })
    };
    Ok(Some(match prim {
        Prim::Npy | Prim::WriteNpy => Format::Npy,
        Prim::Npz | Prim::WriteNpz => Format::Npz,
        Prim::Csv | Prim::WriteCsv => Format::Csv(Separator::of_path(path)),
        Prim::CsvBy | Prim::CsvAfter => Format::Csv(separator(args.get(1))?),
        Prim::WriteCsvBy => Format::Csv(separator(args.get(2))?),
        Prim::Arrow | Prim::WriteArrow => Format::Arrow,
        Prim::Parquet | Prim::WriteParquet => Format::Parquet,
        Prim::Netcdf | Prim::NetcdfFilled | Prim::Ugrid | Prim::WriteNetcdf => Format::Netcdf,
        Prim::WriteVtk => Format::Vtk,
        Prim::Raw | Prim::WriteRaw => Format::Raw,
        Prim::ReadText | Prim::WriteText | Prim::SavePicture => Format::Text,
        Prim::ReadPixels => Format::Image,
        _ => return Ok(None),
    }))
}

/// Returns a type as files hold it. The checker has not seen the arguments of type parameters, so
/// the type may be unfit.
fn file_type(ty: &Type, format: Format) -> Result<FileType, DataError> {
    let stored = FileType::of(ty).map_err(|why| match why {
        NotStorable::Part(part) if part == *ty => {
            DataError::UnsupportedType { format, ty: ty.to_string(), why: "no file holds it".to_string() }
        }
        NotStorable::Part(part) => {
            DataError::UnsupportedType { format, ty: ty.to_string(), why: format!("it holds `{part}`") }
        }
        NotStorable::Axis(ty) => {
            let why = "a size to be found in it is no axis".to_string();
            DataError::UnsupportedType { format, ty: ty.to_string(), why }
        }
        NotStorable::Shared { field, .. } => {
            let why = format!("the size of `{field}` would be one for all rows");
            DataError::UnsupportedType { format, ty: ty.to_string(), why }
        }
    })?;
    match stored.list().filter(|_| !format.has_lists()) {
        Some((field, list)) => {
            let why = format!("its rows have no lists, and `{field}` is of type `{}`", list.text());
            Err(DataError::UnsupportedType { format, ty: ty.to_string(), why })
        }
        None => Ok(stored),
    }
}

/// Returns the contents of a place of a connectivity. A table of neighbors has elements `1 \+ N`: a
/// row's fill value is case 0, index `k` is case 1. So they are a value or none, not the codes that
/// other files have for such a type.
fn neighbors(contents: CellKind) -> CellKind {
    match &contents {
        CellKind::Cell(Cell::Code(ty))
            if let TypeKind::CompactSum(cases) = ty.kind()
                && let [none, index] = &cases[..]
                && none.is_unit() =>
        {
            CellKind::Cell(Cell::Sum(Box::new(Cell::Code(index.clone())), ty.clone()))
        }
        _ => contents,
    }
}

/// A reader of the data of a file at the stated type.
struct TypedReader<'r> {
    ty: &'r Type,
    stored: &'r FileType,
    layouts: &'r Layouts,
    limits: &'r Limits<'r>,
    format: Format,
    /// The value in place of missing cells, where the caller gives one.
    fill: Option<f64>,
}

impl TypedReader<'_> {
    /// Returns the value of the stated type that the data is, with the sizes that are found.
    fn read_value(&self, data: Data, failed: &impl Fn(DataError) -> Failure) -> Result<Value, Failure> {
        let (fits, there) = (data.type_text(), data.element_text());
        let sizes = self.found_sizes(&data.shape, &fits).map_err(failed)?;
        let layout = self.layouts.of(&self.stored.element);
        let count = data.count();
        // Cells that are used in place take no memory.
        let in_place = self.is_zero_copy(&data.content);
        // Numbers may become wider on the way: a byte of a file is eight of a `real`.
        let slots = count.saturating_mul(layout.slots);
        let memory = self.limits.memory;
        let bytes = (slots as u64).saturating_mul(layout.class.bytes());
        let lists = (self.list_column_count() as u64)
            .saturating_mul(count as u64)
            .saturating_mul(LIST_OVERHEAD_BYTES);
        if !in_place && bytes.saturating_add(lists) > memory {
            return Err(super::arithmetic::memory_failure(slots, layout.class.bytes(), memory));
        }
        let buffer = match (data.content, &self.stored.contents) {
            (Content::Plain(column), CellKind::Complex) if column.element == Element::Complex => column.cells,
            (Content::Plain(column), CellKind::Cell(cell)) => {
                let plain = self.cells_are_slots(&column, cell, layout.class);
                let column = self.convert_column("", column, cell, &data.shape, &fits).map_err(failed)?;
                match plain {
                    true if layout.slots == 0 => Buffer::U8(Vec::new()),
                    true => column.cells,
                    false => {
                        self.interleave_columns(&mut [(column, cell.clone())], &layout, count, failed)?
                    }
                }
            }
            (Content::Records(columns), CellKind::Record(fields)) => {
                let there: Vec<String> = columns.iter().map(|(name, _)| name.to_string()).collect();
                let mut columns: Vec<_> = columns.into_iter().map(|(name, c)| (name, Some(c))).collect();
                let (mut chosen, mut plain) = (Vec::new(), false);
                for (name, cell) in fields {
                    let found = columns.iter_mut().find(|(other, _)| other == name);
                    let Some(column) = found.and_then(|(_, column)| column.take()) else {
                        let similar = data::similar_name(name, &there);
                        return Err(failed(DataError::MissingColumn {
                            what: "column",
                            name: name.to_string(),
                            there,
                            similar,
                        }));
                    };
                    plain = self.cells_are_slots(&column, cell, layout.class);
                    let column =
                        self.convert_column(name, column, cell, &data.shape, &fits).map_err(failed)?;
                    chosen.push((column, cell.clone()));
                }
                match &mut chosen[..] {
                    // Rows of one cell are stored as the cells are.
                    [(column, _)] if plain && layout.slots == 1 => {
                        std::mem::replace(&mut column.cells, Buffer::U8(Vec::new()))
                    }
                    chosen => self.interleave_columns(chosen, &layout, count, failed)?,
                }
            }
            _ => {
                let found = there;
                let wanted = self.stored.element.to_string();
                return Err(failed(DataError::Element { column: String::new(), found, wanted, fits }));
            }
        };
        let value = buffer_value(buffer);
        Ok(if self.ty.is_exists() { Value::Packed(Arc::new(Packed { sizes, value })) } else { value })
    }

    /// Returns the number of columns of lists that are read.
    fn list_column_count(&self) -> usize {
        match &self.stored.contents {
            CellKind::Record(fields) => {
                fields.iter().filter(|(_, cell)| matches!(cell, Cell::List(..))).count()
            }
            CellKind::Cell(_) | CellKind::Complex => 0,
        }
    }

    /// Returns true if the cells of the file are the storage of the value.
    fn is_zero_copy(&self, content: &Content) -> bool {
        let (column, cell) = match (content, &self.stored.contents) {
            (Content::Plain(column), CellKind::Complex) => {
                return column.cells.is_mapped() && column.element == Element::Complex;
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
            same && column.cells.is_mapped()
        })
    }

    /// Returns true if the cells of a column become slots without a change.
    fn cells_are_slots(&self, column: &Column, cell: &Cell, class: Class) -> bool {
        let own = match cell {
            Cell::Scalar(scalar) => Class::of_scalar(*scalar),
            Cell::Code(_) => class,
            Cell::Day(_) => Class::Word,
            Cell::Case(..) | Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => return false,
        };
        (column.missing.is_empty() || self.fill.is_some()) && own == class
    }

    /// Returns the sizes that are found in the shape of a file.
    ///
    /// # Errors
    ///
    /// The shape is not that of the stated type.
    fn found_sizes(&self, shape: &[usize], fits: &str) -> Result<Vec<Type>, DataError> {
        let wrong = |why: String| DataError::Shape {
            found: shape.to_vec(),
            ty: self.ty.to_string(),
            why,
            fits: fits.to_string(),
        };
        let axes = &self.stored.axes;
        // One size to be found stands for all axes of the file: it is their product.
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
        let size =
            |n: Option<usize>| Type::unit_sum(n.expect("a size that is to be found is that of an axis"));
        Ok(sizes.into_iter().map(size).collect())
    }

    /// Converts a column to the stated type of its cells.
    fn convert_column(
        &self,
        name: &str,
        column: Column,
        cell: &Cell,
        shape: &[usize],
        fits: &str,
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
        let (mut missing, lists) = (column.missing.clone(), column.lists.clone());
        let place = |at: usize| match &lists {
            Some(starts) => {
                let list = starts.partition_point(|start| *start <= at).saturating_sub(1);
                format!("column `{name}`, element {} of list {list}", at - starts[list])
            }
            None if name.is_empty() => data::cell_position("", shape, at),
            None => format!("column `{name}`, {}", data::cell_position("", shape, at)),
        };
        let own = match (cell, &lists) {
            (Cell::List(element, _), Some(_)) => element,
            (Cell::List(..), None) | (_, Some(_)) => return Err(mismatch()),
            (cell, None) => cell,
        };
        let mut cells = data::convert_cells(column, own, place, mismatch, self.format, self.limits)?;
        if let Some(at) = missing.iter().position(|missing| *missing)
            && !own.is_optional()
        {
            let (place, wanted) = (place(at), own.text());
            let Some(fill) = self.fill else {
                return Err(match lists {
                    Some(_) => DataError::empty_element(place, wanted),
                    None => DataError::empty_cell(place, wanted),
                });
            };
            let Some(value) = number_cell(own, fill) else {
                let why = CellMismatch::UnfitFill;
                return Err(DataError::Cell { place, text: format!("{fill:?}"), wanted, why });
            };
            for (i, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
                cells.set(i, value.clone());
            }
            missing.clear();
        }
        Ok(Column { element, cells, missing, lists })
    }

    /// Interleaves columns to rows.
    fn interleave_columns(
        &self,
        columns: &mut [(Column, Cell)],
        layout: &Layout,
        count: usize,
        failed: &impl Fn(DataError) -> Failure,
    ) -> Result<Buffer, Failure> {
        let places = |cell: &Cell| match cell {
            Cell::Scalar(_) | Cell::Day(_) | Cell::List(..) => Ok(None),
            Cell::Case(_, ty) | Cell::Code(ty) | Cell::Sum(_, ty) | Cell::Variant(_, ty) => {
                let layout = self.layouts.of(ty);
                // A case with an argument is one slot; what has none of its own takes no part.
                if layout.slots > 1 {
                    let why = "a cell that may be empty holds one value".to_string();
                    let (format, ty) = (self.format, ty.to_string());
                    return Err(failed(DataError::UnsupportedType { format, ty, why }));
                }
                Ok(Some(layout))
            }
        };
        let layouts: Vec<Option<Arc<Layout>>> =
            columns.iter().map(|(_, cell)| places(cell)).collect::<Result<_, _>>()?;
        let mut buffer = allocate_buffer(layout.class, count * layout.slots, self.limits.memory)?;
        // The lists of a column are slices of one array.
        let elements: Vec<Value> = columns
            .iter_mut()
            .map(|(column, _)| match column.lists {
                Some(_) => buffer_value(std::mem::replace(&mut column.cells, Buffer::U8(Vec::new()))),
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
                let missing = column.is_missing(i);
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

/// Returns the value of a cell that a number is, if it is one.
fn number_cell(cell: &Cell, number: f64) -> Option<Value> {
    let integer = || number.to_i128().filter(|n| n.to_f64() == Some(number));
    match cell {
        Cell::Scalar(Scalar::Real) => Some(Value::real(number)),
        Cell::Scalar(Scalar::Single) => Some(Value::single(number as f32)),
        Cell::Scalar(Scalar::Bigint) => Some(Value::bigint(integer()?.into())),
        Cell::Scalar(scalar) => {
            let (low, high) = scalar.bounds()?;
            let n = integer().filter(|n| (low..=high).contains(n))?;
            Some(match scalar {
                Scalar::Fixed(fixed) => Value::Word(fixed.encode(n)),
                _ => Value::int(n as i64),
            })
        }
        Cell::Code(ty) => {
            let n = u64::try_from(integer()?).ok()?;
            let below = ty.size().map_or(true, |size| BigUint::from(n) < size);
            below.then(|| Value::code(Code::from(n)))
        }
        Cell::Case(..) | Cell::Day(_) | Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => None,
    }
}

/// Converts a value to the data of a file.
fn value_to_data(
    ty: &Type,
    value: &Value,
    format: Format,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let stored = file_type(ty, format)?;
    let not_held =
        |why: &str| DataError::UnsupportedType { format, ty: ty.to_string(), why: why.to_string() };
    let size = |axis: &Axis| match axis {
        Axis::Known(ty) => ty.size().ok().and_then(|n| n.to_usize()),
        Axis::Unknown(_) => None,
    };
    let shape: Option<Vec<usize>> = stored.axes.iter().map(size).collect();
    let shape = shape.ok_or_else(|| not_held("it has more elements than are counted"))?;
    let count: usize = if shape.contains(&0) { 0 } else { shape.iter().product() };
    let layout = layouts.of(&stored.element);
    // A mapped value may be larger than the memory bound; the data to be written is assembled in
    // memory.
    let own = |class: Class, slots: usize| {
        let fits = (slots as u64).saturating_mul(class.bytes()) <= limits.memory;
        let buffer = fits.then(|| Buffer::with_capacity(class, slots)).flatten();
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
            Cell::Code(ty) => data::unsigned_scalar(data::class_of_codes(ty))
                .map(Element::Scalar)
                .ok_or_else(|| not_held("codes of up to 64 bits are held"))?,
            Cell::Case(..) | Cell::Day(_) => Element::Scalar(Scalar::String),
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
        // The names of the cases, if the cells are case names.
        let names: Vec<Value> = match cell.inner() {
            Cell::Case(names, _) => names.iter().map(|name| Value::str(&**name)).collect(),
            _ => Vec::new(),
        };
        let is_day = matches!(cell.inner(), Cell::Day(_));
        if slots == 1 && layout.slots == 1 && !cell.is_optional() && names.is_empty() && !is_day {
            cells.append(value, count);
            return Ok(Column::new(element, cells));
        }
        for i in 0..count {
            limits.poll(i)?;
            // A value without slots has the code 0.
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
            if is_day && !empty {
                let text = calendar::day_text(found.as_int());
                let text = text.ok_or_else(|| not_held("its years are from -9999 to 9999"))?;
                cells.push(Value::str(text));
                continue;
            }
            let name = match &found {
                _ if empty || names.is_empty() => None,
                Value::Sum(case) => Some(&names[case.0.to_usize().expect(COUNTED)]),
                code => Some(&names[code.to_code().to_usize().expect(COUNTED)]),
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
