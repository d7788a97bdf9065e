//! Classic files of NetCDF: CDF-2, and CDF-5 where a type or a size needs it.
//!
//! Takes variables with the names of their dimensions, and attributes; gives the bytes of a file.
//! Integers of 64 bits are written as those of 32 bits if all of them fit.

use super::FORMAT;
use super::classic::{ATTRIBUTE_TAG, DIMENSION_TAG, VARIABLE_TAG};
use super::{NcType, Number};
use crate::data::{Column, Content, Data, DataError, Element, Limits, cell_position, counted};
use crate::types::Scalar;
use std::sync::Arc;

/// The attribute with the value of missing elements.
const FILL_VALUE: &str = "_FillValue";

/// The attributes whose values have the type of their variable.
const TYPED_ATTRIBUTES: [&str; 5] = [FILL_VALUE, "missing_value", "valid_min", "valid_max", "valid_range"];

/// The largest size of a variable in CDF-2, in bytes.
const MAX_BYTES_OF_VERSION_2: u64 = (1 << 32) - 4;

/// A variable to be written.
pub struct NetcdfVariable {
    /// The name.
    pub name: Arc<str>,
    /// The names of the dimensions, the slowest first.
    pub dimensions: Vec<Arc<str>>,
    /// The values.
    pub data: Data,
    /// The attributes: texts, numbers, or several numbers along one axis.
    pub attributes: Vec<(Arc<str>, Data)>,
}

/// Returns the error for a part that no file holds.
fn not_held(ty: String, why: impl Into<String>) -> DataError {
    DataError::UnsupportedType { format: FORMAT, ty, why: why.into() }
}

/// The reason for refusing values that are no numbers.
const NUMBERS: &str = "its variables hold numbers of up to 64 bits, truth values and texts";

/// Values as they are written.
struct Values<'d> {
    ty: NcType,
    content: Encoded<'d>,
}

/// The cells of values.
enum Encoded<'d> {
    /// Bytes of texts, each of one width.
    Text(Vec<u8>),
    /// The numbers of an attribute, as words of slots.
    Words(Vec<u64>),
    /// The numbers of a variable; the missing ones are this word.
    Numbers(&'d Column, u64),
}

impl Values<'_> {
    /// Returns the number of values.
    fn count(&self) -> usize {
        match &self.content {
            Encoded::Text(bytes) => bytes.len(),
            Encoded::Words(words) => words.len(),
            Encoded::Numbers(column, _) => column.cells.len(),
        }
    }

    /// Returns the size in bytes, without padding.
    fn bytes(&self) -> u64 {
        (self.count() as u64).saturating_mul(self.ty.bytes() as u64)
    }

    /// Appends the values and their padding.
    fn append(&self, out: &mut Vec<u8>, limits: &Limits<'_>) -> Result<(), DataError> {
        let skipped = size_of::<u64>() - self.ty.bytes();
        match &self.content {
            Encoded::Text(bytes) => out.extend(bytes),
            Encoded::Words(words) => words.iter().for_each(|word| out.extend(&word.to_be_bytes()[skipped..])),
            Encoded::Numbers(column, fill) => {
                for i in 0..column.cells.len() {
                    limits.poll(i)?;
                    let missing = column.is_missing(i);
                    let word = if missing { *fill } else { column.cells.get(i).word() };
                    out.extend(&word.to_be_bytes()[skipped..]);
                }
            }
        }
        out.resize(out.len().next_multiple_of(4), 0);
        Ok(())
    }
}

/// A variable whose values are encoded.
struct Prepared<'d> {
    name: &'d str,
    /// The places of the dimensions in their list.
    dimensions: Vec<usize>,
    attributes: Vec<(&'d str, Values<'d>)>,
    values: Values<'d>,
}

/// A file to be written.
#[derive(Default)]
struct Draft<'d> {
    dimensions: Vec<(String, usize)>,
    variables: Vec<Prepared<'d>>,
    attributes: Vec<(&'d str, Values<'d>)>,
}

/// Returns variables and the attributes of a file as its bytes.
pub fn write_netcdf(
    variables: &[NetcdfVariable],
    attributes: &[(Arc<str>, Data)],
    limits: &Limits<'_>,
) -> Result<Vec<u8>, DataError> {
    let mut limits = *limits;
    let mut draft = Draft::default();
    for (name, data) in attributes {
        check_name(name)?;
        draft.attributes.push((name, attribute_values(name, data, None)?));
    }
    for variable in variables {
        draft.add(variable, &mut limits)?;
    }
    draft.write(&mut limits)
}

impl<'d> Draft<'d> {
    /// Adds a variable.
    fn add(&mut self, variable: &'d NetcdfVariable, limits: &mut Limits<'_>) -> Result<(), DataError> {
        let NetcdfVariable { name, dimensions, data, attributes } = variable;
        check_name(name)?;
        let ty_text = || data.type_text();
        if dimensions.len() != data.shape.len() {
            let axes = counted(data.shape.len(), "axis", "axes");
            let names = counted(dimensions.len(), "name", "names");
            let why = format!("`{name}` has {axes}, and {names} of dimensions");
            return Err(not_held(ty_text(), why));
        }
        let mut ids = Vec::new();
        for (axis, (dimension, size)) in dimensions.iter().zip(&data.shape).enumerate() {
            check_name(dimension)?;
            ids.push(self.dimension(dimension, *size, name, &ty_text)?);
            if *size == 0 && axis > 0 {
                let why =
                    format!("`{dimension}` of `{name}` has no elements, which only a first axis may have");
                return Err(not_held(ty_text(), why));
            }
        }
        let Content::Plain(column) = &data.content else { return Err(not_held(ty_text(), NUMBERS)) };
        let mut prepared = Vec::new();
        let values = match column.element {
            Element::Scalar(Scalar::String) => {
                if column.missing.contains(&true) {
                    return Err(not_held(ty_text(), "a text in it is never missing"));
                }
                let (bytes, width) = text_bytes(column, limits)?;
                ids.push(self.dimension(&format!("string{width}"), width, name, &ty_text)?);
                Values { ty: NcType::Char, content: Encoded::Text(bytes) }
            }
            _ => {
                let ty = number_type(column, limits)?.ok_or_else(|| not_held(ty_text(), NUMBERS))?;
                let mut fill = 0;
                if !column.missing.is_empty() {
                    let stated = attributes.iter().find(|(key, _)| **key == *FILL_VALUE);
                    let words = match stated {
                        Some((key, data)) => attribute_words(key, data, Some(ty))?.1,
                        None => vec![default_fill(ty)],
                    };
                    fill = words[0];
                    check_present(variable, column, (ty, fill), limits)?;
                    if stated.is_none() {
                        prepared.push((FILL_VALUE, Values { ty, content: Encoded::Words(words) }));
                    }
                }
                Values { ty, content: Encoded::Numbers(column, fill) }
            }
        };
        for (key, data) in attributes {
            check_name(key)?;
            let typed = TYPED_ATTRIBUTES.contains(&&**key) && values.ty != NcType::Char;
            prepared.push((&**key, attribute_values(key, data, typed.then_some(values.ty))?));
        }
        self.variables.push(Prepared { name, dimensions: ids, attributes: prepared, values });
        Ok(())
    }

    /// Returns the place of a dimension in the list, and adds it if it is new.
    fn dimension(
        &mut self,
        dimension: &str,
        size: usize,
        variable: &str,
        ty_text: &dyn Fn() -> String,
    ) -> Result<usize, DataError> {
        if let Some(at) = self.dimensions.iter().position(|(other, _)| other == dimension) {
            let known = self.dimensions[at].1;
            if known != size {
                let why = format!("`{dimension}` is {size} in `{variable}`, and {known} before");
                return Err(not_held(ty_text(), why));
            }
            return Ok(at);
        }
        // The dimension without elements is that of the records, of which there are none.
        if size == 0
            && let Some((other, _)) = self.dimensions.iter().find(|(_, size)| *size == 0)
        {
            let why = format!("`{other}` and `{dimension}` have no elements, which one dimension may have");
            return Err(not_held(ty_text(), why));
        }
        self.dimensions.push((dimension.to_string(), size));
        Ok(self.dimensions.len() - 1)
    }

    /// Returns the bytes of the file.
    fn write(&self, limits: &mut Limits<'_>) -> Result<Vec<u8>, DataError> {
        let all = || {
            let variables = self.variables.iter();
            let inner =
                variables.flat_map(|v| v.attributes.iter().map(|(_, values)| values).chain([&v.values]));
            inner.chain(self.attributes.iter().map(|(_, values)| values))
        };
        let wide = all()
            .any(|values| !values.ty.is_of_version_3() || values.bytes() > MAX_BYTES_OF_VERSION_2)
            || self.dimensions.iter().any(|(_, size)| i32::try_from(*size).is_err());
        let mut header = Header { out: Vec::new(), wide };
        let offsets = vec![0; self.variables.len()];
        self.append_header(&mut header, &offsets, limits)?;
        let mut offsets = Vec::new();
        let mut end = header.out.len() as u64;
        for variable in &self.variables {
            offsets.push(end);
            end = end.saturating_add(variable.values.bytes().saturating_add(3) & !3);
        }
        header.out = limits.allocate_file(end)?;
        self.append_header(&mut header, &offsets, limits)?;
        let mut out = header.out;
        for variable in &self.variables {
            variable.values.append(&mut out, limits)?;
        }
        Ok(out)
    }

    /// Appends the header. The offsets are those of the variables.
    fn append_header(
        &self,
        header: &mut Header,
        offsets: &[u64],
        limits: &Limits<'_>,
    ) -> Result<(), DataError> {
        header.out.extend([b'C', b'D', b'F', if header.wide { 5 } else { 2 }]);
        // The number of records.
        header.count(0);
        header.list(DIMENSION_TAG, self.dimensions.len());
        for (name, size) in &self.dimensions {
            header.name(name);
            header.count(*size as u64);
        }
        header.attributes(&self.attributes, limits)?;
        header.list(VARIABLE_TAG, self.variables.len());
        for (variable, offset) in self.variables.iter().zip(offsets) {
            header.name(variable.name);
            header.count(variable.dimensions.len() as u64);
            variable.dimensions.iter().for_each(|id| header.count(*id as u64));
            header.attributes(&variable.attributes, limits)?;
            header.word(variable.values.ty.code());
            header.count(self.slab_bytes(variable));
            header.out.extend(offset.to_be_bytes());
        }
        Ok(())
    }

    /// Returns the padded size in bytes of a variable, or of its part in one record.
    fn slab_bytes(&self, variable: &Prepared<'_>) -> u64 {
        let sizes = variable.dimensions.iter().map(|id| self.dimensions[*id].1).filter(|size| *size > 0);
        let bytes =
            sizes.fold(variable.values.ty.bytes() as u64, |all, size| all.saturating_mul(size as u64));
        bytes.saturating_add(3) & !3
    }
}

/// A header that is written.
struct Header {
    out: Vec<u8>,
    /// True if counts and sizes have 64 bits.
    wide: bool,
}

impl Header {
    /// Appends a 32-bit integer.
    fn word(&mut self, word: u32) {
        self.out.extend(word.to_be_bytes());
    }

    /// Appends a count or a size.
    fn count(&mut self, count: u64) {
        match self.wide {
            true => self.out.extend(count.to_be_bytes()),
            false => self.word(u32::try_from(count).expect("larger sizes are written as CDF-5")),
        }
    }

    /// Appends the tag of a list and the number of its entries.
    fn list(&mut self, tag: u32, count: usize) {
        self.word(if count == 0 { 0 } else { tag });
        self.count(count as u64);
    }

    /// Appends a name.
    fn name(&mut self, name: &str) {
        self.count(name.len() as u64);
        self.out.extend(name.as_bytes());
        self.out.resize(self.out.len().next_multiple_of(4), 0);
    }

    /// Appends a list of attributes.
    fn attributes(
        &mut self,
        attributes: &[(&str, Values<'_>)],
        limits: &Limits<'_>,
    ) -> Result<(), DataError> {
        self.list(ATTRIBUTE_TAG, attributes.len());
        for (name, values) in attributes {
            self.name(name);
            self.word(values.ty.code());
            self.count(values.count() as u64);
            values.append(&mut self.out, limits)?;
        }
        Ok(())
    }
}

/// Checks a name.
fn check_name(name: &str) -> Result<(), DataError> {
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if begins && !name.ends_with(' ') && !name.contains(|c: char| c == '/' || c.is_control()) {
        return Ok(());
    }
    let why = "names in it begin with a letter, a digit or `_`, and have no `/`";
    Err(DataError::Unwritable { why: format!("{} is no name: {why}", crate::quote::quote(name)) })
}

/// Returns the type in which numbers are written; `None` if they are none.
fn number_type(column: &Column, limits: &Limits<'_>) -> Result<Option<NcType>, DataError> {
    Ok(Some(match column.element {
        Element::Bool => NcType::Byte,
        Element::Scalar(Scalar::Int) => {
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                let missing = column.is_missing(i);
                if !missing && i32::try_from(column.cells.get(i).as_int()).is_err() {
                    return Ok(Some(NcType::Int64));
                }
            }
            NcType::Int
        }
        element => return Ok(coded_type(element)),
    }))
}

/// Returns the type of numbers as they are stored in a value.
fn coded_type(element: Element) -> Option<NcType> {
    NcType::CODED.into_iter().find(|ty| *ty != NcType::Char && ty.element() == element)
}

/// Returns the word of the value that stands for a missing element.
fn default_fill(ty: NcType) -> u64 {
    let fill = ty.default_fill().unwrap_or_else(|| match ty {
        NcType::Byte => Number::Int(-127),
        NcType::UByte => Number::Int(255),
        _ => unreachable!("cells that may be missing are numbers"),
    });
    fill.to_word(ty.element()).expect("the value is one of the type")
}

/// Checks that no element equals the value that stands for missing ones.
fn check_present(
    variable: &NetcdfVariable,
    column: &Column,
    (ty, fill): (NcType, u64),
    limits: &Limits<'_>,
) -> Result<(), DataError> {
    for i in 0..column.cells.len() {
        limits.poll(i)?;
        if column.is_missing(i) {
            continue;
        }
        let number = Number::of(column.element, &column.cells.get(i));
        if let Some(number) = number
            && number.to_word(ty.element()) == Some(fill)
        {
            let place = cell_position(&variable.name, &variable.data.shape, i);
            let why = format!("{place} is {number}, which stands for missing elements");
            return Err(DataError::Unwritable { why });
        }
    }
    Ok(())
}

/// Returns texts as bytes of one width, and the width.
fn text_bytes(column: &Column, limits: &mut Limits<'_>) -> Result<(Vec<u8>, usize), DataError> {
    let texts = || (0..column.cells.len()).map(|i| column.cells.get(i));
    let width = texts().map(|text| text.as_str().len()).max().unwrap_or(0).max(1);
    let mut bytes = limits.allocate_file((column.cells.len() as u64).saturating_mul(width as u64))?;
    for (i, text) in texts().enumerate() {
        limits.poll(i)?;
        bytes.extend(text.as_str().as_bytes());
        bytes.resize((i + 1) * width, 0);
    }
    Ok((bytes, width))
}

/// Returns the values of an attribute. `ty` is the type that they must have.
fn attribute_values(name: &str, data: &Data, ty: Option<NcType>) -> Result<Values<'static>, DataError> {
    if let (Content::Plain(column), []) = (&data.content, &data.shape[..])
        && column.element == Element::Scalar(Scalar::String)
        && column.missing.is_empty()
    {
        let text = column.cells.get(0).as_str().as_bytes().to_vec();
        return Ok(Values { ty: NcType::Char, content: Encoded::Text(text) });
    }
    let (ty, words) = attribute_words(name, data, ty)?;
    Ok(Values { ty, content: Encoded::Words(words) })
}

/// Returns the numbers of an attribute and their type. `ty` is the type that they must have.
fn attribute_words(name: &str, data: &Data, ty: Option<NcType>) -> Result<(NcType, Vec<u64>), DataError> {
    let wrong = || {
        let why = format!("the attribute `{name}` is a text, a number, or several numbers along one axis");
        not_held(data.type_text(), why)
    };
    let column = match &data.content {
        Content::Plain(column) if data.shape.len() <= 1 && column.missing.is_empty() => column,
        _ => return Err(wrong()),
    };
    let cells = (0..column.cells.len()).map(|i| match column.element {
        Element::Bool => Some(Number::Int(column.cells.get(i).word().into())),
        element => Number::of(element, &column.cells.get(i)),
    });
    let numbers: Vec<Number> = cells.collect::<Option<_>>().ok_or_else(wrong)?;
    let small = || numbers.iter().all(|n| n.to_int().is_some_and(|n| i32::try_from(n).is_ok()));
    let own = match column.element {
        Element::Bool => NcType::Byte,
        Element::Scalar(Scalar::Int) if small() => NcType::Int,
        element => coded_type(element).ok_or_else(wrong)?,
    };
    let ty = ty.unwrap_or(own);
    let mut words = Vec::new();
    for number in numbers {
        words.push(number.to_word(ty.element()).ok_or_else(|| {
            let why = format!("`{name}` is {number}, and its variable holds `{}`", ty.element().name());
            DataError::Unwritable { why }
        })?);
    }
    match words.is_empty() {
        true => Err(wrong()),
        false => Ok((ty, words)),
    }
}
