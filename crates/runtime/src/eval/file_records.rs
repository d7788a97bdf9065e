//! Records that are written as files of several arrays: the parts of an archive, of a NetCDF file
//! and of a grid in the format of VTK.
//!
//! Takes the type and the value of a record; gives its fields as data, by a function that converts
//! a value of a type to data.

use crate::data::{self, Content, Data, DataError, Element, Format, Limits, NetcdfVariable, VtkField};
use crate::layout::Layouts;
use crate::types::stored::{Cell, CellKind, FileType, plain_name};
use crate::types::{Scalar, Type};
use crate::value::{Buffer, Class, Value};
use std::sync::Arc;

/// The field of a record that holds the values of a variable.
const DATA: &str = "data";

/// The field of a record that names the dimensions of a variable.
const DIMENSIONS: &str = "dimensions";

/// The fields of a record that hold the fields of a grid.
const POINT_DATA: &str = "point_data";
/// See [`POINT_DATA`].
const CELL_DATA: &str = "cell_data";

/// The parts of a record: the name, the type and the value of each field.
type Fields = Vec<(Arc<str>, Type, Value)>;

/// Returns the fields of a record; `None` for another type.
fn record_fields(ty: &Type, value: &Value, layouts: &Layouts) -> Option<Fields> {
    let fields = ty.unfold().fields()?;
    let layout = layouts.of(ty);
    let mut parts = Vec::new();
    for (at, (name, ty)) in fields.into_iter().enumerate() {
        let (start, part) = layout.part(at).expect("a record has this field");
        let own = if part.slots == layout.slots { value.clone() } else { value.slots(start, part.slots) };
        parts.push((plain_name(&name), ty, own));
    }
    Some(parts)
}

/// Returns true if a field is a text.
fn is_text(data: &Data) -> bool {
    matches!(&data.content, Content::Plain(column) if column.element == Element::Scalar(Scalar::String))
        && data.shape.is_empty()
}

/// Returns data whose codes of compact types are numbers like others.
fn with_codes_as_ints(ty: &Type, mut data: Data, limits: &Limits<'_>) -> Result<Data, DataError> {
    let codes = FileType::of(ty).is_ok_and(|stored| match &stored.contents {
        CellKind::Cell(cell) => {
            matches!(cell.inner(), Cell::Code(ty) if !ty.is_bool())
        }
        CellKind::Complex | CellKind::Record(_) => false,
    });
    if let Content::Plain(column) = &mut data.content
        && codes
        && column.element != Element::Scalar(Scalar::Int)
        && column.cells.class().bytes() < 8
    {
        let count = column.cells.len();
        if (count as u64).saturating_mul(Class::Word.bytes()) > limits.memory {
            return Err(DataError::too_large_to_write());
        }
        column.cells = Buffer::Word((0..count).map(|i| column.cells.get(i).word()).collect());
        column.element = Element::Scalar(Scalar::Int);
    }
    Ok(data)
}

/// Converts a record of arrays to an archive.
pub(super) fn record_to_archive(
    ty: &Type,
    value: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
    data: impl Fn(&Type, &Value) -> Result<Data, DataError>,
) -> Result<Vec<u8>, DataError> {
    let Some(fields) = record_fields(ty, value, layouts) else {
        let why = "a record has an array in each field: `(weights = x, bias = y)`".to_string();
        return Err(DataError::UnsupportedType { format: Format::Npz, ty: ty.to_string(), why });
    };
    let arrays = fields.into_iter().map(|(name, ty, value)| Ok((name, data(&ty, &value)?)));
    data::write_archive(&arrays.collect::<Result<Vec<_>, _>>()?, limits)
}

/// Converts a record of variables and attributes to a NetCDF file.
///
/// A text is an attribute of the file. A record with a field `data` is a variable, whose field
/// `dimensions` names its dimensions and whose other fields are its attributes. Other arrays of one
/// axis, and numbers, are variables without attributes. A variable of one axis has a dimension of
/// its own name, unless another is stated.
pub(super) fn record_to_netcdf(
    ty: &Type,
    value: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
    data: impl Fn(&Type, &Value) -> Result<Data, DataError>,
) -> Result<Vec<u8>, DataError> {
    let not_held = |ty: &Type, why: String| DataError::UnsupportedType {
        format: Format::Netcdf,
        ty: ty.to_string(),
        why,
    };
    let Some(fields) = record_fields(ty, value, layouts) else {
        let why = "a record has a variable in each field: `(x = x, t = (data = t, dimensions = \"y x\"))`";
        return Err(not_held(ty, why.to_string()));
    };
    let converted = |ty: &Type, value: &Value| with_codes_as_ints(ty, data(ty, value)?, limits);
    let (mut variables, mut attributes) = (Vec::new(), Vec::new());
    for (name, ty, value) in fields {
        let parts = record_fields(&ty, &value, layouts);
        let parts = parts.filter(|parts| parts.iter().any(|(name, ..)| **name == *DATA));
        let Some(parts) = parts else {
            let data = converted(&ty, &value)?;
            if is_text(&data) {
                attributes.push((name, data));
                continue;
            }
            let dimensions = own_dimensions(&name, &data, &ty)?;
            variables.push(NetcdfVariable { name, dimensions, data, attributes: Vec::new() });
            continue;
        };
        let (mut content, mut names, mut own) = (None, None, Vec::new());
        for (key, part, value) in parts {
            let data = converted(&part, &value)?;
            match &*key {
                DATA => content = Some((part, data)),
                DIMENSIONS => match &data.content {
                    Content::Plain(column) if is_text(&data) => {
                        let text = column.cells.get(0);
                        names = Some(text.as_str().split_whitespace().map(Arc::from).collect());
                    }
                    _ => {
                        let why = format!("`{DIMENSIONS}` of `{name}` is a text of names between blanks");
                        return Err(not_held(&part, why));
                    }
                },
                _ => own.push((key, data)),
            }
        }
        let (part, data) = content.expect("the record has a field of this name");
        let dimensions = match names {
            Some(names) => names,
            None => own_dimensions(&name, &data, &part)?,
        };
        variables.push(NetcdfVariable { name, dimensions, data, attributes: own });
    }
    data::write_netcdf(&variables, &attributes, limits)
}

/// Returns the dimensions of a variable that names none: its own name for one axis.
fn own_dimensions(name: &Arc<str>, data: &Data, ty: &Type) -> Result<Vec<Arc<str>>, DataError> {
    match data.shape.len() {
        0 => Ok(Vec::new()),
        1 => Ok(vec![name.clone()]),
        axes => {
            let why = format!(
                "`{name}` has {axes} axes without names: `{name} = (data = …, dimensions = \"y x\")` names them"
            );
            Err(DataError::UnsupportedType { format: Format::Netcdf, ty: ty.to_string(), why })
        }
    }
}

/// Converts points, the corners of cells, and fields to a grid in the legacy format of VTK.
pub(super) fn grid_to_vtk(
    types: &[Type],
    values: &[Value],
    layouts: &Layouts,
    limits: &Limits<'_>,
    data: impl Fn(&Type, &Value) -> Result<Data, DataError>,
) -> Result<Vec<u8>, DataError> {
    let ([points, cells, fields], [point_values, cell_values, field_values]) = (types, values) else {
        unreachable!("a grid has points, cells and fields");
    };
    let converted = |ty: &Type, value: &Value| with_codes_as_ints(ty, data(ty, value)?, limits);
    let (points, cells) = (converted(points, point_values)?, converted(cells, cell_values)?);
    let mut found = [Vec::new(), Vec::new()];
    let wrong = |why: String| DataError::UnsupportedType { format: Format::Vtk, ty: fields.to_string(), why };
    let record = match fields.is_unit() {
        true => Vec::new(),
        false => record_fields(fields, field_values, layouts)
            .ok_or_else(|| wrong(format!("fields stand in `({POINT_DATA}=(…), {CELL_DATA}=(…))`")))?,
    };
    for (name, ty, value) in record {
        let to = match &*name {
            POINT_DATA => &mut found[0],
            CELL_DATA => &mut found[1],
            _ => return Err(wrong(format!("`{name}` is neither `{POINT_DATA}` nor `{CELL_DATA}`"))),
        };
        let parts = record_fields(&ty, &value, layouts);
        let parts = parts.ok_or_else(|| wrong(format!("`{name}` is a record of arrays")))?;
        for (name, ty, value) in parts {
            to.push(VtkField { name, data: converted(&ty, &value)? });
        }
    }
    let [at_points, at_cells] = found;
    data::write_vtk(&points, &cells, &at_points, &at_cells, limits)
}
