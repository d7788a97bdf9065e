//! NetCDF files: variables over named dimensions, with attributes.
//!
//! Takes the bytes of a file and the name of a variable, `temp`, or of an attribute, `temp:units`
//! or `:title`; gives its cells. Unpacks them by `scale_factor` and `add_offset` where floats are
//! wanted. Elements that equal `_FillValue` or `missing_value` are missing cells. A connectivity
//! of UGRID is counted from 0.

mod classic;
#[cfg(feature = "netcdf")]
mod hdf5;
#[cfg(not(feature = "netcdf"))]
mod without_hdf5;
mod write;
#[cfg(not(feature = "netcdf"))]
use without_hdf5 as hdf5;

pub use write::{NetcdfVariable, write_netcdf};

use super::error::CellMismatch;
use super::{Column, Content, Data, DataError, Element, Format, Limits, cell_position};
use crate::types::stored::{Cell, CellKind, FileType};
use crate::types::{Scalar, number::Fixed};
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;

/// The format, for messages.
const FORMAT: Format = Format::Netcdf;

/// The connectivities of a mesh topology, each with the dimension that is its slower axis.
const CONNECTIVITIES: [(&str, &str); 9] = [
    ("face_node_connectivity", "face_dimension"),
    ("face_edge_connectivity", "face_dimension"),
    ("face_face_connectivity", "face_dimension"),
    ("edge_node_connectivity", "edge_dimension"),
    ("edge_face_connectivity", "edge_dimension"),
    ("volume_node_connectivity", "volume_dimension"),
    ("volume_edge_connectivity", "volume_dimension"),
    ("volume_face_connectivity", "volume_dimension"),
    ("volume_volume_connectivity", "volume_dimension"),
];

/// Returns the error of a malformed file.
fn malformed(why: impl Into<String>) -> DataError {
    DataError::Malformed { format: FORMAT, why: why.into() }
}

/// The use of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NetcdfRole {
    /// The values of a variable or an attribute. `filled` is true if the caller has a value for
    /// missing ones.
    Values {
        /// True if missing elements are no error.
        filled: bool,
    },
    /// A connectivity of UGRID: indices from 0 on, and -1 for none.
    Connectivity,
}

/// The type of the values of a variable or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NcType {
    Byte,
    Char,
    Short,
    Int,
    Float,
    Double,
    UByte,
    UShort,
    UInt,
    Int64,
    UInt64,
    #[cfg_attr(not(feature = "netcdf"), expect(dead_code))] // classic files have no such type
    String,
}

impl NcType {
    /// All types that have a code in classic files, in the order of their codes, from 1 on.
    const CODED: [NcType; 11] = [
        NcType::Byte,
        NcType::Char,
        NcType::Short,
        NcType::Int,
        NcType::Float,
        NcType::Double,
        NcType::UByte,
        NcType::UShort,
        NcType::UInt,
        NcType::Int64,
        NcType::UInt64,
    ];

    /// Returns the type of a code.
    fn of_code(code: u32) -> Option<NcType> {
        NcType::CODED.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
    }

    /// Returns the code of the type in classic files.
    fn code(self) -> u32 {
        let at = NcType::CODED.iter().position(|ty| *ty == self);
        at.expect("texts are written as characters") as u32 + 1
    }

    /// Returns true if CDF-1 and CDF-2 have the type.
    fn is_of_version_3(self) -> bool {
        NcType::CODED[..6].contains(&self)
    }

    /// Returns the size of a value in bytes.
    fn bytes(self) -> usize {
        match self {
            NcType::Char => 1,
            ty => ty.element().class().bytes() as usize,
        }
    }

    /// Returns the type of a cell. Characters are bytes.
    fn element(self) -> Element {
        Element::Scalar(match self {
            NcType::Byte => Scalar::Fixed(Fixed::I8),
            NcType::Char | NcType::UByte => Scalar::Fixed(Fixed::U8),
            NcType::Short => Scalar::Fixed(Fixed::I16),
            NcType::Int => Scalar::Fixed(Fixed::I32),
            NcType::Float => Scalar::Single,
            NcType::Double => Scalar::Real,
            NcType::UShort => Scalar::Fixed(Fixed::U16),
            NcType::UInt => Scalar::Fixed(Fixed::U32),
            NcType::Int64 => Scalar::Int,
            NcType::UInt64 => Scalar::Fixed(Fixed::U64),
            NcType::String => Scalar::String,
        })
    }

    /// Returns the unsigned type of the same width.
    fn unsigned(self) -> NcType {
        match self {
            NcType::Byte => NcType::UByte,
            NcType::Short => NcType::UShort,
            NcType::Int => NcType::UInt,
            NcType::Int64 => NcType::UInt64,
            ty => ty,
        }
    }

    /// Returns the value of elements that were never written, where a variable has no `_FillValue`.
    /// Bytes have none: each of their values is common.
    fn default_fill(self) -> Option<Number> {
        Some(match self {
            NcType::Byte | NcType::Char | NcType::UByte | NcType::String => return None,
            NcType::Short => Number::Int(-32767),
            NcType::Int => Number::Int(-2_147_483_647),
            NcType::Float | NcType::Double => Number::Float(9.969_209_968_386_869e36),
            NcType::UShort => Number::Int(65535),
            NcType::UInt => Number::Int(4_294_967_295),
            NcType::Int64 => Number::Int(-9_223_372_036_854_775_806),
            NcType::UInt64 => Number::Int(18_446_744_073_709_551_614),
        })
    }
}

/// A variable of a file.
#[derive(Debug)]
struct Variable {
    name: String,
    /// The names and sizes of the dimensions, the slowest first.
    dimensions: Vec<(String, usize)>,
    ty: NcType,
    /// The place in the list of the file.
    at: usize,
}

/// The values of an attribute: one, or several along one axis.
type Attribute = Data;

/// A number of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// Returns a number of a file by its cell.
    fn of(element: Element, cell: &Value) -> Option<Number> {
        match element {
            Element::Scalar(Scalar::Int) => Some(Number::Int(cell.as_int().into())),
            Element::Scalar(Scalar::Fixed(fixed)) => Some(Number::Int(fixed.decode(cell.word()))),
            Element::Scalar(Scalar::Real) => Some(Number::Float(cell.as_real())),
            Element::Scalar(Scalar::Single) => Some(Number::Float(cell.as_single().into())),
            _ => None,
        }
    }

    /// Returns the nearest float.
    fn to_float(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }

    /// Returns the integer that the number is.
    fn to_int(self) -> Option<i128> {
        match self {
            Number::Int(n) => Some(n),
            Number::Float(x) => (x.fract() == 0.0 && x.abs() < 1e30).then_some(x as i128),
        }
    }

    /// Returns the word of a slot of this type; `None` if the number is none of the type.
    fn to_word(self, element: Element) -> Option<u64> {
        match element {
            Element::Scalar(Scalar::Real) => Some(self.to_float().to_bits()),
            Element::Scalar(Scalar::Single) => Some(u64::from((self.to_float() as f32).to_bits())),
            Element::Scalar(integer) => {
                let (low, high) = integer.bounds()?;
                let n = self.to_int().filter(|n| (low..=high).contains(n))?;
                Some(match integer {
                    Scalar::Fixed(fixed) => fixed.encode(n),
                    _ => n as u64,
                })
            }
            Element::Bool | Element::Complex => None,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(n) => n.fmt(f),
            Number::Float(x) if x.is_nan() => f.write_str("NaN"),
            Number::Float(x) => write!(f, "{x:?}"),
        }
    }
}

/// A file whose header is parsed.
enum File {
    Classic(classic::File),
    Hdf5(Box<hdf5::File>),
}

impl File {
    /// Parses the header of a file.
    fn open(bytes: &Bytes, limits: &Limits<'_>) -> Result<File, DataError> {
        if classic::is_classic(bytes) {
            return Ok(File::Classic(classic::File::open(bytes, limits)?));
        }
        if hdf5::is_hdf5(bytes) {
            return Ok(File::Hdf5(Box::new(hdf5::File::open(bytes, limits)?)));
        }
        Err(malformed("it begins neither as a classic file, with `CDF`, nor as one of HDF5"))
    }

    /// Returns the names of the variables.
    fn names(&self) -> Vec<String> {
        match self {
            File::Classic(file) => file.names(),
            File::Hdf5(file) => file.names(),
        }
    }

    /// Returns the variable of this name.
    fn variable(&self, name: &str) -> Result<Option<Variable>, DataError> {
        match self {
            File::Classic(file) => Ok(file.variable(name)),
            File::Hdf5(file) => file.variable(name),
        }
    }

    /// Returns an attribute of a variable, or of the file.
    fn attribute(&self, variable: Option<&Variable>, name: &str) -> Result<Option<Attribute>, DataError> {
        match self {
            File::Classic(file) => file.attribute(variable, name),
            File::Hdf5(file) => file.attribute(variable, name),
        }
    }

    /// Returns the names of the attributes of a variable, or of the file.
    fn attribute_names(&self, variable: Option<&Variable>) -> Result<Vec<String>, DataError> {
        match self {
            File::Classic(file) => Ok(file.attribute_names(variable)),
            File::Hdf5(file) => file.attribute_names(variable),
        }
    }

    /// Returns the cells of a variable, as they are stored.
    fn cells(&self, variable: &Variable, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        match self {
            File::Classic(file) => file.cells(variable, limits),
            File::Hdf5(file) => file.cells(variable, limits),
        }
    }

    /// Returns the numbers of an attribute; none if there is no such attribute.
    fn numbers(&self, variable: &Variable, name: &str) -> Result<Vec<Number>, DataError> {
        let Some(attribute) = self.attribute(Some(variable), name)? else { return Ok(Vec::new()) };
        let numbers = match &attribute.content {
            Content::Plain(column) => {
                let cells = (0..column.cells.len()).map(|i| column.cells.get(i));
                cells.map(|cell| Number::of(column.element, &cell)).collect()
            }
            Content::Records(_) => None,
        };
        numbers.ok_or_else(|| malformed(format!("`{}:{name}` in it is no number", variable.name)))
    }

    /// Returns the number that an attribute is, if it is there.
    fn number(&self, variable: &Variable, name: &str) -> Result<Option<Number>, DataError> {
        match self.numbers(variable, name)?[..] {
            [] => Ok(None),
            [number] => Ok(Some(number)),
            ref several => Err(malformed(format!(
                "`{}:{name}` in it has {} values, and one is wanted",
                variable.name,
                several.len()
            ))),
        }
    }

    /// Returns the text of an attribute; `None` if there is no such attribute, or if it is none.
    fn text(&self, variable: &Variable, name: &str) -> Result<Option<String>, DataError> {
        let Some(attribute) = self.attribute(Some(variable), name)? else { return Ok(None) };
        Ok(match &attribute.content {
            Content::Plain(column) if column.element == Element::Scalar(Scalar::String) => {
                (!column.cells.is_empty()).then(|| column.cells.get(0).as_str().to_string())
            }
            Content::Plain(_) | Content::Records(_) => None,
        })
    }

    /// Returns the type of the cells of a variable. `_Unsigned` marks unsigned ones in formats
    /// without such types.
    fn cell_type(&self, variable: &Variable) -> Result<NcType, DataError> {
        Ok(match self.text(variable, "_Unsigned")? {
            Some(text) if text.eq_ignore_ascii_case("true") => variable.ty.unsigned(),
            _ => variable.ty,
        })
    }

    /// Returns `scale_factor` and `add_offset` of a variable, if it has one of them.
    fn packing(&self, variable: &Variable) -> Result<Option<Packing>, DataError> {
        if matches!(variable.ty, NcType::Char | NcType::String) {
            return Ok(None);
        }
        let (scale, offset) = (self.number(variable, "scale_factor")?, self.number(variable, "add_offset")?);
        let (scale, offset) = match (scale, offset) {
            (None, None) => return Ok(None),
            (scale, offset) => (scale.map_or(1.0, Number::to_float), offset.map_or(0.0, Number::to_float)),
        };
        Ok(Some(Packing { scale, offset }))
    }

    /// Returns the values of a variable that mark missing elements. `NC_FILL_…` does so where the
    /// variable has no `_FillValue`.
    fn fills(&self, variable: &Variable) -> Result<Fills, DataError> {
        let ty = self.cell_type(variable)?;
        if matches!(ty, NcType::Char | NcType::String) {
            return Ok(Fills::default());
        }
        let mut numbers = self.numbers(variable, "_FillValue")?;
        let declared = !numbers.is_empty();
        if !declared {
            numbers.extend(ty.default_fill());
        }
        let missing = self.numbers(variable, "missing_value")?;
        let declared = declared || !missing.is_empty();
        numbers.extend(missing);
        let mut fills = Fills { declared, ..Fills::default() };
        let (element, stored) = (ty.element(), variable.ty.element());
        for number in numbers {
            // An attribute of an unsigned variable may have the signed type that is stored.
            let signed = number.to_word(stored).filter(|_| ty != variable.ty);
            match number {
                Number::Float(x) if x.is_nan() => fills.nan = true,
                number => fills.words.extend(number.to_word(element).into_iter().chain(signed)),
            }
        }
        Ok(fills)
    }
}

/// The packing of a variable: its values are `scale * cell + offset`.
#[derive(Clone, Copy)]
struct Packing {
    scale: f64,
    offset: f64,
}

/// The cells that mark missing elements, as words of slots.
#[derive(Default)]
struct Fills {
    words: Vec<u64>,
    /// True if NaN marks them.
    nan: bool,
    /// True if an attribute says so.
    declared: bool,
}

impl Fills {
    /// Returns true if a cell marks a missing element.
    fn contain(&self, element: Element, word: u64) -> bool {
        let nan = || match element {
            Element::Scalar(Scalar::Real) => f64::from_bits(word).is_nan(),
            Element::Scalar(Scalar::Single) => f32::from_bits(word as u32).is_nan(),
            _ => false,
        };
        self.words.contains(&word) || self.nan && nan()
    }
}

/// Reads a variable or an attribute.
pub fn read(
    bytes: &Bytes,
    name: &str,
    wanted: &FileType,
    role: NetcdfRole,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let file = File::open(bytes, limits)?;
    let mut limits = *limits;
    if let Some(variable) = file.variable(name)? {
        return match role {
            NetcdfRole::Values { filled } => read_values(&file, &variable, wanted, filled, &mut limits),
            NetcdfRole::Connectivity => read_connectivity(&file, &variable, wanted, &mut limits),
        };
    }
    let missing = |what, name: &str, there: Vec<String>| {
        let similar = super::conversion::similar_name(name, &there);
        DataError::MissingColumn { what, name: name.to_string(), there, similar }
    };
    let (owner, attribute) = match name.split_once(':') {
        Some(parts) if role != NetcdfRole::Connectivity => parts,
        _ => return Err(missing("variable", name, file.names())),
    };
    let variable = match owner {
        "" => None,
        owner => Some(file.variable(owner)?.ok_or_else(|| missing("variable", owner, file.names()))?),
    };
    let Some(mut found) = file.attribute(variable.as_ref(), attribute)? else {
        return Err(missing("attribute", attribute, file.attribute_names(variable.as_ref())?));
    };
    if found.shape.is_empty() && wanted.axes.len() == 1 {
        found.shape.push(1);
    }
    Ok(found)
}

/// Returns the type of a variable or an attribute: its columns have no cells.
pub fn describe(bytes: &Bytes, name: &str, connectivity: bool, limits: &Limits<'_>) -> Option<Data> {
    let file = File::open(bytes, limits).ok()?;
    let Some(variable) = file.variable(name).ok()? else {
        let (owner, attribute) = name.split_once(':')?;
        let variable = if owner.is_empty() { None } else { Some(file.variable(owner).ok()??) };
        return file.attribute(variable.as_ref(), attribute).ok()?;
    };
    let mut shape: Vec<usize> = variable.dimensions.iter().map(|(_, size)| *size).collect();
    let element = match file.cell_type(&variable).ok()? {
        _ if connectivity => Element::Scalar(Scalar::Int),
        NcType::Char => {
            shape.pop();
            Element::Scalar(Scalar::String)
        }
        _ if file.packing(&variable).ok()?.is_some() => Element::Scalar(Scalar::Real),
        ty => ty.element(),
    };
    let mut column = Column::new(element, Buffer::Any(Vec::new()));
    if !connectivity && file.fills(&variable).ok()?.declared {
        column.missing.push(true);
    }
    Some(Data { shape, content: Content::Plain(column) })
}

/// Returns the wanted cell, if single cells are wanted.
fn wanted_cell(wanted: &FileType) -> Option<&Cell> {
    match &wanted.contents {
        CellKind::Cell(cell) => Some(cell),
        CellKind::Complex | CellKind::Record(_) => None,
    }
}

/// Reads the values of a variable.
fn read_values(
    file: &File,
    variable: &Variable,
    wanted: &FileType,
    filled: bool,
    limits: &mut Limits<'_>,
) -> Result<Data, DataError> {
    let shape: Vec<usize> = variable.dimensions.iter().map(|(_, size)| *size).collect();
    let cells = file.cells(variable, limits)?;
    if variable.ty == NcType::Char {
        return text_data(variable, shape, &cells, limits);
    }
    let element = file.cell_type(variable)?.element();
    let plain = |cells, element, missing| {
        let column = Column { missing, ..Column::new(element, cells) };
        Data { shape: shape.clone(), content: Content::Plain(column) }
    };
    let Some(cell) = wanted_cell(wanted) else { return Ok(plain(cells, element, Vec::new())) };
    let target = match cell.inner() {
        Cell::Scalar(float @ (Scalar::Real | Scalar::Single)) => Some(Element::Scalar(*float)),
        _ => None,
    };
    let missing = missing_cells(file, variable, (&cells, element), (cell, filled), &shape, limits)?;
    let packing = file.packing(variable)?;
    let (Some(target), Some(packing)) = (target, packing) else {
        return Ok(plain(cells, element, missing));
    };
    let mut unpacked = limits.allocate_cells(cells.len(), target.class(), FORMAT)?;
    for i in 0..cells.len() {
        limits.poll(i)?;
        let cell = Number::of(element, &cells.get(i)).expect("a variable with a packing has numbers");
        let value = cell.to_float() * packing.scale + packing.offset;
        unpacked.push(match target {
            Element::Scalar(Scalar::Single) => Value::single(value as f32),
            _ => Value::real(value),
        });
    }
    Ok(plain(unpacked, target, missing))
}

/// Returns a flag for each missing cell; none if no cell is missing. A missing element is an error
/// unless the wanted cell is optional or the caller has a value for it; a NaN is a float as well.
fn missing_cells(
    file: &File,
    variable: &Variable,
    (cells, element): (&Buffer, Element),
    (wanted, filled): (&Cell, bool),
    shape: &[usize],
    limits: &mut Limits<'_>,
) -> Result<Vec<bool>, DataError> {
    let fills = file.fills(variable)?;
    let found = |i: usize| fills.contain(element, cells.get(i).word());
    let mut first = None;
    if !fills.words.is_empty() || fills.nan {
        for i in 0..cells.len() {
            limits.poll(i)?;
            if found(i) {
                first = Some(i);
                break;
            }
        }
    }
    let Some(first) = first else { return Ok(Vec::new()) };
    if !wanted.is_optional() && !filled {
        for i in first..cells.len() {
            limits.poll(i)?;
            let number = found(i).then(|| Number::of(element, &cells.get(i))).flatten();
            match number {
                None => {}
                Some(Number::Float(x)) if x.is_nan() => {}
                Some(number) => {
                    return Err(DataError::Cell {
                        place: cell_position(&variable.name, shape, i),
                        text: number.to_string(),
                        wanted: wanted.text(),
                        why: CellMismatch::Missing,
                    });
                }
            }
        }
        return Ok(Vec::new());
    }
    limits.reserve(cells.len() as u64).ok_or_else(|| DataError::too_large(FORMAT))?;
    let mut missing = vec![false; cells.len()];
    for (i, flag) in missing.iter_mut().enumerate().skip(first) {
        limits.poll(i)?;
        *flag = found(i);
    }
    Ok(missing)
}

/// Returns characters as texts along the last axis, without the zeros at their ends.
fn text_data(
    variable: &Variable,
    mut shape: Vec<usize>,
    characters: &Buffer,
    limits: &mut Limits<'_>,
) -> Result<Data, DataError> {
    let width = shape.pop().unwrap_or(1);
    let count: usize = if shape.contains(&0) { 0 } else { shape.iter().product() };
    let Buffer::U8(bytes) = characters else { unreachable!("characters are bytes") };
    let mut texts = limits.allocate_cells(count, Class::Any, FORMAT)?;
    for i in 0..count {
        limits.poll(i)?;
        let text = &bytes[i * width..(i + 1) * width];
        let end = text.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
        let text = std::str::from_utf8(&text[..end]).map_err(|_| {
            malformed(format!("{} of it is not UTF-8", cell_position(&variable.name, &shape, i)))
        })?;
        limits.reserve_text(text.len()).ok_or_else(|| DataError::too_large(FORMAT))?;
        texts.push(Value::str(text));
    }
    let column = Column::new(Element::Scalar(Scalar::String), texts);
    Ok(Data { shape, content: Content::Plain(column) })
}

/// Reads a connectivity of UGRID: the indices are counted from 0, and -1 stands for none.
fn read_connectivity(
    file: &File,
    variable: &Variable,
    wanted: &FileType,
    limits: &mut Limits<'_>,
) -> Result<Data, DataError> {
    let element = file.cell_type(variable)?.element();
    let integer = matches!(element, Element::Scalar(scalar) if scalar.is_integer());
    if !integer || variable.ty == NcType::Char {
        return Err(malformed(format!(
            "its variable `{}` has no indices but `{}`",
            variable.name,
            element.name()
        )));
    }
    let mut shape: Vec<usize> = variable.dimensions.iter().map(|(_, size)| *size).collect();
    let start = file.number(variable, "start_index")?;
    let start = start.map_or(Some(0), |start| i64::try_from(start.to_int()?).ok());
    let start =
        start.ok_or_else(|| malformed(format!("`{}:start_index` in it is no integer", variable.name)))?;
    let fills = file.fills(variable)?;
    let cells = file.cells(variable, limits)?;
    let optional = wanted_cell(wanted).is_some_and(Cell::is_optional);
    let mut missing = Vec::new();
    if optional {
        limits.reserve(cells.len() as u64).ok_or_else(|| DataError::too_large(FORMAT))?;
    }
    let mut indices = limits.allocate_cells(cells.len(), Class::Word, FORMAT)?;
    for i in 0..cells.len() {
        limits.poll(i)?;
        let cell = cells.get(i);
        let none = fills.contain(element, cell.word());
        if optional {
            missing.push(none);
        }
        let index = match Number::of(element, &cell) {
            _ if none => Some(-1),
            Some(Number::Int(n)) => i64::try_from(n - i128::from(start)).ok().filter(|n| *n >= 0),
            Some(Number::Float(_)) | None => None,
        };
        let Some(index) = index else {
            let number = Number::of(element, &cell).expect("indices are numbers");
            return Err(DataError::Cell {
                place: cell_position(&variable.name, &shape, i),
                text: number.to_string(),
                wanted: start.to_string(),
                why: CellMismatch::BelowStartIndex,
            });
        };
        indices.push(Value::int(index));
    }
    if let [rows, columns] = shape[..]
        && is_transposed(file, variable)?
    {
        let mut turned = limits.allocate_cells(indices.len(), Class::Word, FORMAT)?;
        let mut turned_missing = Vec::new();
        for i in 0..indices.len() {
            limits.poll(i)?;
            let from = i % rows * columns + i / rows;
            turned.push(indices.get(from));
            turned_missing.extend(missing.get(from));
        }
        (indices, missing) = (turned, turned_missing);
        shape.reverse();
    }
    let column = Column { missing, ..Column::new(Element::Scalar(Scalar::Int), indices) };
    Ok(Data { shape, content: Content::Plain(column) })
}

/// Returns true if the mesh topology that names a connectivity says that its last axis is the
/// slower one.
fn is_transposed(file: &File, variable: &Variable) -> Result<bool, DataError> {
    let [(first, _), (last, _)] = &variable.dimensions[..] else { return Ok(false) };
    for name in file.names() {
        let Some(topology) = file.variable(&name)? else { continue };
        if file.text(&topology, "cf_role")?.as_deref() != Some("mesh_topology") {
            continue;
        }
        for (role, dimension) in CONNECTIVITIES {
            if file.text(&topology, role)?.is_some_and(|name| name == variable.name) {
                let slower = file.text(&topology, dimension)?;
                return Ok(slower.is_some_and(|slower| slower == *last && slower != *first));
            }
        }
    }
    Ok(false)
}
