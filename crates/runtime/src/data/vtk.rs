//! Unstructured grids in the legacy format of VTK, version 3.0, binary.
//!
//! Takes points, the corners of cells, and fields; gives the bytes of a file. A cell is a point, a
//! line, a triangle, a quadrilateral or a polygon by the number of its corners; -1 and a missing
//! number are no corners. The format: "VTK File Formats", section "Simple Legacy Formats".

use super::{Class, Column, Content, Data, DataError, Element, Format, Limits, cell_position};
use crate::types::{Scalar, number::Fixed};
use std::fmt::Write as _;
use std::sync::Arc;

/// The types of cells of zero to four corners.
const CELL_TYPES: [i32; 5] = [0, 1, 3, 5, 9];
/// The type of cells of more corners.
const POLYGON: i32 = 7;

/// A field of a grid.
pub struct VtkField {
    /// The name.
    pub name: Arc<str>,
    /// The values: one or several at each point or cell.
    pub data: Data,
}

/// Returns the error for a part that no grid holds.
fn not_held(data: &Data, why: impl Into<String>) -> DataError {
    DataError::UnsupportedType { format: Format::Vtk, ty: data.type_text(), why: why.into() }
}

/// Returns the only column of data.
fn plain_column<'d>(data: &'d Data, why: &str) -> Result<&'d Column, DataError> {
    match &data.content {
        Content::Plain(column) => Ok(column),
        Content::Records(_) => Err(not_held(data, why)),
    }
}

/// A file that is written.
struct Writer<'l> {
    out: Vec<u8>,
    limits: Limits<'l>,
}

impl Writer<'_> {
    /// Appends bytes, within the memory.
    fn append(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.limits.reserve(bytes.len() as u64).ok_or_else(DataError::too_large_to_write)?;
        self.out.extend(bytes);
        Ok(())
    }

    /// Appends a line.
    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), DataError> {
        let mut text = String::new();
        writeln!(text, "{line}").expect("a text can be written");
        self.append(text.as_bytes())
    }

    /// Appends 32-bit integers, and ends the line.
    fn integers(&mut self, integers: impl Iterator<Item = i32>) -> Result<(), DataError> {
        for (i, n) in integers.enumerate() {
            self.limits.poll(i)?;
            self.append(&n.to_be_bytes())?;
        }
        self.append(b"\n")
    }

    /// Appends the fields of all points or cells, of which there are `count`.
    fn fields(&mut self, what: &str, fields: &[VtkField], count: usize) -> Result<(), DataError> {
        if fields.is_empty() {
            return Ok(());
        }
        self.line(format_args!("{what} {count}"))?;
        for VtkField { name, data } in fields {
            let components = components(name, data, count)?;
            let column = plain_column(data, NUMBERS)?;
            let (ty, bytes) = number_type(column, &self.limits)?.ok_or_else(|| not_held(data, NUMBERS))?;
            let name = encoded_name(name);
            match components {
                1 => self.line(format_args!("SCALARS {name} {ty} 1\nLOOKUP_TABLE default"))?,
                3 => self.line(format_args!("VECTORS {name} {ty}"))?,
                n => self.line(format_args!("FIELD FieldData 1\n{name} {n} {count} {ty}"))?,
            }
            let nan = match column.element {
                Element::Scalar(Scalar::Single) => u64::from(f32::NAN.to_bits()),
                _ => f64::NAN.to_bits(),
            };
            for i in 0..column.cells.len() {
                self.limits.poll(i)?;
                let word = match column.missing.get(i) {
                    Some(true) if bytes >= 4 && is_float(column) => nan,
                    Some(true) => {
                        let place = cell_position(&name, &data.shape, i);
                        let why = format!("{place} is missing, and there are only missing floats, by NaN");
                        return Err(DataError::Unwritable { why });
                    }
                    _ => column.cells.get(i).word(),
                };
                self.append(&word.to_be_bytes()[8 - bytes..])?;
            }
            self.append(b"\n")?;
        }
        Ok(())
    }
}

/// The reason for refusing fields that are no numbers.
const NUMBERS: &str = "fields hold numbers of up to 64 bits and truth values";

/// Returns true if a column has floats.
fn is_float(column: &Column) -> bool {
    matches!(column.element, Element::Scalar(scalar) if scalar.is_float())
}

/// Returns the name of a type in the file and its size in bytes; `None` for no number.
fn number_type(column: &Column, limits: &Limits<'_>) -> Result<Option<(&'static str, usize)>, DataError> {
    Ok(Some(match column.element {
        Element::Bool | Element::Scalar(Scalar::Fixed(Fixed::U8)) => ("unsigned_char", 1),
        Element::Scalar(Scalar::Fixed(Fixed::I8)) => ("char", 1),
        Element::Scalar(Scalar::Fixed(Fixed::I16)) => ("short", 2),
        Element::Scalar(Scalar::Fixed(Fixed::U16)) => ("unsigned_short", 2),
        Element::Scalar(Scalar::Fixed(Fixed::I32)) => ("int", 4),
        Element::Scalar(Scalar::Fixed(Fixed::U32)) => ("unsigned_int", 4),
        Element::Scalar(Scalar::Fixed(Fixed::U64)) => ("vtktypeuint64", 8),
        Element::Scalar(Scalar::Single) => ("float", 4),
        Element::Scalar(Scalar::Real) => ("double", 8),
        Element::Scalar(Scalar::Int) => {
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                if i32::try_from(column.cells.get(i).as_int()).is_err() {
                    return Ok(Some(("vtktypeint64", 8)));
                }
            }
            ("int", 4)
        }
        Element::Complex | Element::Scalar(Scalar::Bigint | Scalar::String | Scalar::Char) => {
            return Ok(None);
        }
    }))
}

/// Returns the number of values at each of `count` points or cells.
fn components(name: &str, data: &Data, count: usize) -> Result<usize, DataError> {
    let mut places = 1usize;
    let mut axes = data.shape.iter();
    let mut found = (count == 1).then(|| axes.clone());
    while found.is_none() {
        let Some(size) = axes.next() else { break };
        places = places.saturating_mul(*size);
        found = (places == count).then(|| axes.clone());
    }
    let rest = found.map(|rest| rest.fold(1usize, |all, size| all.saturating_mul(*size)));
    rest.ok_or_else(|| {
        let shape = super::shape_text(&data.shape);
        let places = super::counted(count, "place", "places");
        not_held(data, format!("`{name}` is {shape}, and the grid has {places} for it"))
    })
}

/// Returns a name as the format writes it: without blanks.
fn encoded_name(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'%' | b'"') => encoded.push(char::from(byte)),
            _ => write!(encoded, "%{byte:02X}").expect("a text can be written"),
        }
    }
    encoded
}

/// Returns the corners of each cell, one after the other, and the number of those of each.
fn cell_corners(cells: &Data, points: usize, limits: &Limits<'_>) -> Result<(Vec<i32>, Vec<i32>), DataError> {
    const TABLE: &str = "cells are a table of the numbers of their corners, a row for each cell";
    let column = plain_column(cells, TABLE)?;
    let ([rows, width], Element::Scalar(integer)) = (&cells.shape[..], column.element) else {
        return Err(not_held(cells, TABLE));
    };
    if integer.bounds().is_none() {
        return Err(not_held(cells, TABLE));
    }
    let (mut corners, mut counts) = (Vec::new(), Vec::new());
    for row in 0..*rows {
        let mut count = 0;
        for at in row * width..(row + 1) * width {
            limits.poll(at)?;
            let cell = column.cells.get(at);
            let number = match integer {
                Scalar::Fixed(fixed) => fixed.decode(cell.word()),
                _ => i128::from(cell.as_int()),
            };
            if column.is_missing(at) || number == -1 {
                continue;
            }
            let corner = i32::try_from(number).ok().filter(|n| usize::try_from(*n).is_ok_and(|n| n < points));
            let Some(corner) = corner else {
                let place = cell_position("", &cells.shape, at);
                let why = format!("{place} of the cells is {number}, and there are {points} points");
                return Err(DataError::Unwritable { why });
            };
            corners.push(corner);
            count += 1;
        }
        counts.push(count);
    }
    Ok((corners, counts))
}

/// Returns a grid as the bytes of a file.
pub fn write_vtk(
    points: &Data,
    cells: &Data,
    at_points: &[VtkField],
    at_cells: &[VtkField],
    limits: &Limits<'_>,
) -> Result<Vec<u8>, DataError> {
    const POINTS: &str = "points are floats, two or three along the last axis";
    let column = plain_column(points, POINTS)?;
    let dimension = points.shape.last().copied().unwrap_or(0);
    if !(2..=3).contains(&dimension)
        || points.shape.len() < 2
        || !is_float(column)
        || column.missing.contains(&true)
    {
        return Err(not_held(points, POINTS));
    }
    let count = points.count() / dimension;
    let mut scratch = *limits;
    // The corners of all cells, of four bytes each, and their numbers.
    let corners = (cells.count() as u64).saturating_mul(2 * Class::U32.bytes());
    scratch.reserve(corners).ok_or_else(DataError::too_large_to_write)?;
    let (corners, counts) = cell_corners(cells, count, &scratch)?;
    let mut file = Writer { out: Vec::new(), limits: scratch };
    let (ty, bytes) = match column.element {
        Element::Scalar(Scalar::Single) => ("float", 4),
        _ => ("double", 8),
    };
    file.line(format_args!(
        "# vtk DataFile Version 3.0\nwritten by Felis\nBINARY\nDATASET UNSTRUCTURED_GRID"
    ))?;
    file.line(format_args!("POINTS {count} {ty}"))?;
    for place in 0..count {
        file.limits.poll(place)?;
        for axis in 0..3 {
            let word = if axis < dimension { column.cells.get(place * dimension + axis).word() } else { 0 };
            file.append(&word.to_be_bytes()[8 - bytes..])?;
        }
    }
    file.append(b"\n")?;
    file.line(format_args!("CELLS {} {}", counts.len(), counts.len() + corners.len()))?;
    let mut rest = corners.into_iter();
    let lists = counts.iter().flat_map(|count| {
        let corners: Vec<i32> = rest.by_ref().take(*count as usize).collect();
        std::iter::once(*count).chain(corners)
    });
    file.integers(lists)?;
    file.line(format_args!("CELL_TYPES {}", counts.len()))?;
    file.integers(counts.iter().map(|count| CELL_TYPES.get(*count as usize).copied().unwrap_or(POLYGON)))?;
    file.fields("POINT_DATA", at_points, count)?;
    file.fields("CELL_DATA", at_cells, counts.len())?;
    Ok(file.out)
}
