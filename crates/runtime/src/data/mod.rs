//! Data in files: bytes of a known format to typed columns, and back.
//!
//! Takes the bytes of a file; gives [`Data`]: a shape and one column, or several with names, whose
//! cells are stored in a [`Buffer`] as values are. Writes data to bytes as well. [`convert_cells`]
//! converts columns to the type that a program states, where nothing can be lost.
//!
//! Independent of programs; opens no file: that is done by the [`FileSystem`] of a frontend.
//! Allocates in proportion to the bytes that are there, never to a size that a file claims. Cells
//! that lie in a file as they do in memory are not copied.

mod arrow;
mod conversion;
mod csv;
mod describe;
mod error;
mod image;
mod json;
mod limits;
mod netcdf;
mod npy;
mod npz;
mod parquet;
mod python_literal;
mod raw;
mod vtk;

pub use self::csv::{CsvRules, cells_text};
pub use conversion::{class_of_codes, convert_cells, similar_name};
pub use describe::{Described, describe, describe_connectivity};
pub use error::{CellMismatch, DataError, EXCEEDS_MEMORY_LIMIT};
pub use image::{Pixels, read_pixels};
pub use json::{Json, JsonError, JsonKind, MAX_JSON_DEPTH, parse_json, write_json_text};
pub use limits::Limits;
pub use netcdf::{NetcdfRole, NetcdfVariable, write_netcdf};
pub use vtk::{VtkField, write_vtk};

use crate::types::{Scalar, number::Fixed};
use crate::value::{Buffer, Class};
use bytes::Bytes;
use std::sync::Arc;

/// A file system, given by a frontend.
pub trait FileSystem: Send + Sync {
    /// Returns the bytes of a file of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// The reason, in the words that follow "cannot be read: ".
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String>;
    /// Returns the bytes of a mapped file, which may be more than `most`, or of a file that is read
    /// as a whole.
    ///
    /// # Errors
    ///
    /// The reason, as for [`FileSystem::read`].
    fn map(&self, path: &str, most: u64) -> Result<Bytes, String> {
        self.read(path, most).map(Bytes::from)
    }
    /// Writes a file atomically: a reader sees the old bytes or the new ones.
    ///
    /// # Errors
    ///
    /// The reason, in the words that follow "cannot be written: ".
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String>;
}

/// The content of a file.
#[derive(Clone, Debug)]
pub struct Data {
    /// The number of places along each axis, the slowest axis first.
    pub shape: Vec<usize>,
    /// The cells.
    pub content: Content,
}

/// The cells of all places, the last axis fastest.
#[derive(Clone, Debug)]
pub enum Content {
    /// One cell at each place.
    Plain(Column),
    /// Several named cells at each place.
    Records(Vec<(Arc<str>, Column)>),
}

/// A column: cells of one type.
#[derive(Clone)]
pub struct Column {
    /// The type of the cells.
    pub element: Element,
    /// The storage of the cells. A complex number takes two slots; the slot of a missing cell has
    /// an arbitrary value.
    pub cells: Buffer,
    /// A flag for each cell that is true if the cell is missing; empty if none is.
    pub missing: Vec<bool>,
    /// For a column of lists, the index in `cells` at which each list begins, and the end of the
    /// last one. The first index is 0, and the last is the number of cells.
    pub lists: Option<Vec<usize>>,
}

/// The type of a cell of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A truth value.
    Bool,
    /// A number, a character or a text.
    Scalar(Scalar),
    /// A complex number, two reals.
    Complex,
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy's `.npy`.
    Npy,
    /// NumPy's `.npz`: several `.npy` in one archive.
    Npz,
    /// Values between separators, one line for each row.
    Csv(Separator),
    /// Arrow's columns with names.
    Arrow,
    /// Parquet: columns with names.
    Parquet,
    /// NetCDF: arrays over named dimensions, with attributes.
    Netcdf,
    /// Text, as it is.
    Text,
    /// A grid of points and cells in the legacy format of VTK.
    Vtk,
    /// Pixels in PNG or JPEG.
    Image,
    /// The cells without a header, little-endian.
    Raw,
}

/// The separator between the cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(u8);

impl Separator {
    /// A comma.
    pub const COMMA: Separator = Separator(b',');

    /// Returns the separator by the name of a file: a tab for `.tsv` and `.tab`, otherwise a comma.
    pub fn of_path(path: &str) -> Separator {
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("tsv" | "tab") => Separator(b'\t'),
            _ => Separator::COMMA,
        }
    }

    /// Returns the separator that a character is: any ASCII character that is no part of a number,
    /// a text or a line end.
    pub fn of_char(c: char) -> Option<Separator> {
        let part = |c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '"' | '.' | '+' | '-' | '_' | '\n' | '\r' | '\0')
        };
        (c.is_ascii() && !part(c)).then_some(Separator(c as u8))
    }

    /// Returns the byte.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl Format {
    /// Returns true if cells may be empty.
    pub fn has_empty_cells(self) -> bool {
        matches!(self, Format::Csv(_) | Format::Parquet | Format::Arrow | Format::Netcdf | Format::Vtk)
    }

    /// Returns true if the format has columns of lists.
    pub fn has_lists(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }

    /// Returns true if parts of a file can be used without reading the others.
    pub fn is_mapped(self) -> bool {
        matches!(self, Format::Npy | Format::Raw | Format::Arrow | Format::Parquet | Format::Netcdf)
    }

    /// Returns the name of the format in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "an .npy file",
            Format::Npz => "an .npz file",
            Format::Csv(_) => "a CSV file",
            Format::Arrow => "an Arrow file",
            Format::Raw => "a raw file",
            Format::Text => "a text",
            Format::Parquet => "a Parquet file",
            Format::Netcdf => "a NetCDF file",
            Format::Vtk => "a VTK file",
            Format::Image => "an image",
        }
    }
}

impl Column {
    /// Returns true if the cell at a place is missing. No flags say that none is.
    pub fn is_missing(&self, at: usize) -> bool {
        self.missing.get(at) == Some(&true)
    }

    /// Creates a column without missing cells.
    pub fn new(element: Element, cells: Buffer) -> Column {
        Column { element, cells, missing: Vec::new(), lists: None }
    }

    /// Returns the type of a cell as a program writes it.
    pub fn type_text(&self) -> String {
        let name = self.element.name();
        match self.lists {
            Some(_) => format!("{name} ^ ?K"),
            None if self.missing.is_empty() => name.to_string(),
            None => format!("option[{name}]"),
        }
    }
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} × {} ", self.element, self.cells.len())?;
        f.debug_list().entries((0..self.cells.len()).map(|i| self.cells.get(i))).finish()
    }
}

impl Element {
    /// Returns the name of the type in the language.
    pub fn name(self) -> &'static str {
        match self {
            Element::Bool => "bool",
            Element::Scalar(scalar) => scalar.name(),
            Element::Complex => "complex",
        }
    }

    /// Returns the storage class of the slots.
    pub fn class(self) -> Class {
        match self {
            Element::Bool => Class::U8,
            Element::Scalar(scalar) => Class::of_scalar(scalar),
            Element::Complex => Class::Word,
        }
    }
}

impl Data {
    /// Returns the number of places; 0 if an axis has none, however long the others are.
    pub fn count(&self) -> usize {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// Returns the type of a place as a program writes it.
    pub fn element_text(&self) -> String {
        self.element_text_by(&column_name)
    }

    /// Returns the type of a place, with the names of columns as `name_of` writes them.
    fn element_text_by(&self, name_of: &dyn Fn(&str) -> String) -> String {
        match &self.content {
            Content::Plain(column) => column.type_text(),
            Content::Records(columns) => {
                let field =
                    |(name, column): &(Arc<str>, Column)| format!("{}:{}", name_of(name), column.type_text());
                let fields: Vec<String> = columns.iter().map(field).collect();
                format!("({})", fields.join(", "))
            }
        }
    }

    /// Returns the type of this data as a program writes it, such as `real ^ (?N \* ?M)`, with the
    /// struct that it needs. The text is placed between backticks.
    pub fn type_text(&self) -> String {
        let Described { ty, declaration: declared } = self.description(&column_name);
        declared.map_or_else(|| ty.clone(), |declared| format!("{ty}` with `{declared}"))
    }

    /// Returns the type of this data, with the names of columns as `name_of` writes them.
    pub fn description(&self, name_of: &dyn Fn(&str) -> String) -> Described {
        let (element, declared) = match &self.content {
            Content::Records(columns) if columns.iter().any(|(_, column)| column.lists.is_some()) => {
                // A record has one size for all rows.
                let field = |(name, column): &(Arc<str>, Column)| {
                    format!("{} : {};", name_of(name), column.type_text())
                };
                let fields: Vec<String> = columns.iter().map(field).collect();
                ("row".to_string(), Some(format!("struct row {{ {} }}", fields.join(" "))))
            }
            _ => (self.element_text_by(name_of), None),
        };
        const NAMES: [&str; 6] = ["?N", "?M", "?K", "?L", "?P", "?Q"];
        let names: Vec<String> = (0..self.shape.len())
            .map(|i| NAMES.get(i).map_or_else(|| format!("?A{i}"), |name| name.to_string()))
            .collect();
        let ty = match &names[..] {
            [] => element,
            [one] => format!("{element} ^ {one}"),
            several => format!("{element} ^ ({})", several.join(" \\* ")),
        };
        Described { ty, declaration: declared }
    }
}

/// Returns the name of a column as a type writes it. Keywords of the language are not known here.
fn column_name(name: &str) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '\'');
    match name.chars().all(letter) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '\'') {
        true => name.to_string(),
        false => crate::quote::quote(name),
    }
}

/// Returns the message for a row without a list in a column of lists.
fn missing_list_text(name: &str, row: usize) -> String {
    format!(
        "element {row} of its column `{name}` has no list; let it have an empty one where the file is made"
    )
}

/// Returns the position of a cell as text for a message. `name` is that of its column, or empty.
pub fn cell_position(name: &str, shape: &[usize], mut at: usize) -> String {
    let mut index = Vec::new();
    for n in shape.iter().rev() {
        index.push((at % n.max(&1)).to_string());
        at /= n.max(&1);
    }
    index.reverse();
    // The columns of a table have positions of their own.
    match (name, &index[..]) {
        ("", []) => "the value".to_string(),
        ("", [one]) => format!("element {one}"),
        ("", several) => format!("element ({})", several.join(", ")),
        (name, []) => format!("`{name}`"),
        (name, [one]) => format!("element {one} of `{name}`"),
        (name, several) => format!("element ({}) of `{name}`", several.join(", ")),
    }
}

/// Returns a number of things as text, such as `2 axes`.
fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// Returns a shape as text, such as `4 x 5`.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [] => "one value".to_string(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
    }
}

/// Reads a file. `part` is the name of an array of an archive.
pub fn read(
    format: Format,
    bytes: &Bytes,
    part: Option<&str>,
    wanted: &crate::types::stored::FileType,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let read = match format {
        Format::Npy => npy::read(bytes, limits),
        Format::Npz => npz::read(bytes, part.unwrap_or_default(), limits),
        Format::Csv(separator) => csv::read(bytes, wanted, separator, &CsvRules::default(), limits),
        Format::Arrow => arrow::read(bytes, wanted, limits),
        Format::Parquet => parquet::read(bytes, wanted, limits),
        Format::Netcdf => {
            let role = NetcdfRole::Values { filled: false };
            return read_netcdf(bytes, part.unwrap_or_default(), wanted, role, limits);
        }
        Format::Vtk | Format::Image => unreachable!("no reader of tables reads such a file"),
        Format::Raw | Format::Text => return raw::read(bytes, wanted, limits),
    };
    read.map_err(|error| with_other_format(error, format, bytes))
}

/// Reads a CSV file by rules of its own.
pub fn read_csv(
    format: Format,
    bytes: &Bytes,
    rules: CsvRules<'_>,
    wanted: &crate::types::stored::FileType,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let Format::Csv(separator) = format else { unreachable!("the format is CSV") };
    csv::read(bytes, wanted, separator, &rules, limits)
        .map_err(|error| with_other_format(error, format, bytes))
}

/// Reads a variable or an attribute of a NetCDF file.
pub fn read_netcdf(
    bytes: &Bytes,
    name: &str,
    wanted: &crate::types::stored::FileType,
    role: NetcdfRole,
    limits: &Limits<'_>,
) -> Result<Data, DataError> {
    let read = netcdf::read(bytes, name, wanted, role, limits);
    read.map_err(|error| with_other_format(error, Format::Netcdf, bytes))
}

/// Returns the error of a malformed file with advice if it is of another format.
fn with_other_format(error: DataError, format: Format, bytes: &[u8]) -> DataError {
    match (error, other_format(format, bytes)) {
        (DataError::Malformed { format, .. }, Some(why)) => {
            DataError::Malformed { format, why: why.to_string() }
        }
        (error, _) => error,
    }
}

/// Returns advice if the first bytes of a file are those of another format.
fn other_format(format: Format, bytes: &[u8]) -> Option<&'static str> {
    const KINDS: [(Format, &[u8], &str); 8] = [
        (Format::Npy, b"\x93NUMPY", "it is an .npy file: read it by `npy`"),
        (Format::Npz, b"PK\x03\x04", "it is an archive: read an .npz file by `npz`"),
        (Format::Arrow, b"ARROW1", "it is an Arrow file: read it by `arrow`"),
        (Format::Parquet, b"PAR1", "it is a Parquet file: read it by `parquet`"),
        (Format::Netcdf, b"CDF\x01", "it is a NetCDF file: read it by `netcdf`"),
        (Format::Netcdf, b"CDF\x02", "it is a NetCDF file: read it by `netcdf`"),
        (Format::Netcdf, b"CDF\x05", "it is a NetCDF file: read it by `netcdf`"),
        (Format::Netcdf, b"\x89HDF\r\n\x1a\n", "it is a file of HDF5: `netcdf` reads one"),
    ];
    let found = KINDS.iter().find(|(_, magic, _)| bytes.starts_with(magic));
    found.filter(|(other, ..)| *other != format).map(|(.., why)| *why)
}

/// Returns data as the bytes of a file.
pub fn write(format: Format, data: &Data, limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    match format {
        Format::Npy => npy::write(data, limits),
        Format::Npz => npz::write(&[("arr_0".into(), data.clone())], limits),
        Format::Csv(separator) => csv::write(data, separator, limits),
        Format::Arrow => arrow::write(data, limits),
        Format::Parquet => parquet::write(data, limits),
        Format::Netcdf | Format::Vtk | Format::Image => {
            unreachable!("such a file is written by the parts of a record, or by a picture")
        }
        Format::Raw | Format::Text => raw::write(data, limits),
    }
}

/// Returns named arrays as the bytes of an archive.
pub fn write_archive(arrays: &[(Arc<str>, Data)], limits: &Limits<'_>) -> Result<Vec<u8>, DataError> {
    npz::write(arrays, limits)
}

/// Returns the unsigned integer type whose slots have this class; `None` if there is none.
pub fn unsigned_scalar(class: Class) -> Option<Scalar> {
    Some(Scalar::Fixed(match class {
        Class::U8 => Fixed::U8,
        Class::U16 => Fixed::U16,
        Class::U32 => Fixed::U32,
        Class::Word => Fixed::U64,
        Class::Wide | Class::Any => return None,
    }))
}
