//! The classic formats of NetCDF: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data).
//!
//! Takes the bytes of a file; gives the variables of its header, and the cells of one of them. The
//! format: "NetCDF Classic Format Specification" of Unidata. Sizes and offsets of the header are
//! compared with the bytes that are there before anything is allocated.

use super::{Attribute, NcType, Variable, malformed};
use crate::data::{Column, Content, Data, DataError, Element, Limits};
use crate::types::Scalar;
use crate::value::{Buffer, Value};
use bytes::Bytes;

/// The tag of the list of dimensions.
pub(super) const DIMENSION_TAG: u32 = 0x0a;
/// The tag of the list of variables.
pub(super) const VARIABLE_TAG: u32 = 0x0b;
/// The tag of a list of attributes.
pub(super) const ATTRIBUTE_TAG: u32 = 0x0c;

/// The number of bytes that are decoded between two polls of the interrupt flag.
const CHUNK_BYTES: usize = 1 << 16;

/// A file whose header is parsed.
pub struct File {
    bytes: Bytes,
    dimensions: Vec<Dimension>,
    attributes: Vec<RawAttribute>,
    variables: Vec<RawVariable>,
    /// The number of records.
    records: usize,
    /// The size of a record in bytes.
    record_bytes: usize,
}

/// A dimension. The size of the record dimension is 0 in the header.
struct Dimension {
    name: String,
    size: usize,
}

/// An attribute whose values are not decoded.
struct RawAttribute {
    name: String,
    ty: NcType,
    /// The values, without padding.
    values: Bytes,
}

/// A variable, as the header describes it.
struct RawVariable {
    name: String,
    /// The places of the dimensions in their list.
    dimensions: Vec<usize>,
    attributes: Vec<RawAttribute>,
    ty: NcType,
    /// The offset of the first cell in bytes.
    begin: usize,
}

/// Returns true if a file begins as one of these formats.
pub fn is_classic(bytes: &[u8]) -> bool {
    matches!(bytes, [b'C', b'D', b'F', 1 | 2 | 5, ..])
}

/// A reader of a header.
struct HeaderReader<'b, 'l> {
    bytes: &'b Bytes,
    at: usize,
    /// True if counts and sizes have 64 bits.
    wide_counts: bool,
    /// True if offsets have 64 bits.
    wide_offsets: bool,
    limits: Limits<'l>,
}

impl HeaderReader<'_, '_> {
    /// Returns the next bytes.
    fn take(&mut self, count: usize) -> Result<Bytes, DataError> {
        self.limits.poll(0)?;
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            let (at, all) = (self.at, self.bytes.len());
            return Err(malformed(format!(
                "its header wants {count} bytes at byte {at}, and it has {all} bytes"
            )));
        };
        let taken = self.bytes.slice(self.at..end);
        self.at = end;
        Ok(taken)
    }

    /// Returns the next bytes, and skips their padding to a multiple of four.
    fn take_padded(&mut self, count: usize) -> Result<Bytes, DataError> {
        let taken = self.take(count)?;
        self.take(count.next_multiple_of(4) - count)?;
        Ok(taken)
    }

    /// Returns the next 32-bit integer.
    fn word(&mut self) -> Result<u32, DataError> {
        let taken = self.take(4)?;
        Ok(u32::from_be_bytes([taken[0], taken[1], taken[2], taken[3]]))
    }

    /// Returns the next integer, of 64 bits if `wide`.
    fn integer(&mut self, wide: bool) -> Result<u64, DataError> {
        let high = if wide { self.word()? } else { 0 };
        Ok(u64::from(high) << 32 | u64::from(self.word()?))
    }

    /// Returns the next count or size.
    fn count(&mut self) -> Result<usize, DataError> {
        let at = self.at;
        let count = self.integer(self.wide_counts)?;
        let most = if self.wide_counts { i64::MAX as u64 } else { i32::MAX as u64 };
        usize::try_from(count)
            .ok()
            .filter(|_| count <= most)
            .ok_or_else(|| malformed(format!("its header has the count {count} at byte {at}")))
    }

    /// Returns the next name.
    fn name(&mut self) -> Result<String, DataError> {
        let at = self.at;
        let count = self.count()?;
        let name = self.take_padded(count)?;
        self.reserve(name.len() + size_of::<String>())?;
        let name = std::str::from_utf8(&name);
        name.map(str::to_string)
            .map_err(|_| malformed(format!("its header has a name at byte {at} that is not UTF-8")))
    }

    /// Reserves memory for what is kept of the header.
    fn reserve(&mut self, bytes: usize) -> Result<(), DataError> {
        self.limits.reserve(bytes as u64).ok_or_else(|| DataError::too_large(super::FORMAT))
    }

    /// Returns the number of entries of a list, after its tag. An absent list has none.
    fn list(&mut self, tag: u32, what: &str) -> Result<usize, DataError> {
        let at = self.at;
        let found = self.word()?;
        let count = self.count()?;
        match found {
            0 if count == 0 => Ok(0),
            found if found == tag => Ok(count),
            found => Err(malformed(format!(
                "its list of {what} at byte {at} has the tag {found}, and {tag} is that of such lists"
            ))),
        }
    }

    /// Returns the next type.
    fn nc_type(&mut self) -> Result<NcType, DataError> {
        let at = self.at;
        let code = self.word()?;
        let known = NcType::of_code(code).filter(|ty| self.wide_counts || ty.is_of_version_3());
        known.ok_or_else(|| malformed(format!("its header has the type {code} at byte {at}")))
    }

    /// Returns the next list of attributes.
    fn attributes(&mut self) -> Result<Vec<RawAttribute>, DataError> {
        let count = self.list(ATTRIBUTE_TAG, "attributes")?;
        let mut attributes = Vec::new();
        for _ in 0..count {
            self.reserve(size_of::<RawAttribute>())?;
            let name = self.name()?;
            let ty = self.nc_type()?;
            let count = self.count()?;
            let at = self.at;
            let bytes = count.checked_mul(ty.bytes()).ok_or_else(|| {
                malformed(format!("its attribute `{name}` at byte {at} has {count} values"))
            })?;
            let values = self.take_padded(bytes)?;
            attributes.push(RawAttribute { name, ty, values });
        }
        Ok(attributes)
    }

    /// Returns the next list of dimensions.
    fn dimensions(&mut self) -> Result<Vec<Dimension>, DataError> {
        let count = self.list(DIMENSION_TAG, "dimensions")?;
        let mut dimensions = Vec::new();
        for _ in 0..count {
            self.reserve(size_of::<Dimension>())?;
            let (name, at, size) = (self.name()?, self.at, self.count()?);
            if size == 0 && dimensions.iter().any(|other: &Dimension| other.size == 0) {
                return Err(malformed(format!(
                    "its dimension `{name}` at byte {at} is a second one without a size"
                )));
            }
            dimensions.push(Dimension { name, size });
        }
        Ok(dimensions)
    }

    /// Returns the next list of variables.
    fn variables(&mut self, dimensions: &[Dimension]) -> Result<Vec<RawVariable>, DataError> {
        let count = self.list(VARIABLE_TAG, "variables")?;
        let mut variables = Vec::new();
        for _ in 0..count {
            self.reserve(size_of::<RawVariable>())?;
            let name = self.name()?;
            let rank = self.count()?;
            let mut ids = Vec::new();
            for axis in 0..rank {
                let at = self.at;
                let id = self.count()?;
                let known = dimensions.get(id).filter(|dimension| axis == 0 || dimension.size > 0);
                if known.is_none() {
                    return Err(malformed(format!(
                        "its variable `{name}` has the dimension {id} at byte {at}, which cannot stand there"
                    )));
                }
                self.reserve(size_of::<usize>())?;
                ids.push(id);
            }
            let attributes = self.attributes()?;
            let ty = self.nc_type()?;
            // The size of a variable follows from its shape. That in the header is not used: it is
            // cut where it does not fit.
            self.integer(self.wide_counts)?;
            let at = self.at;
            let begin = self.integer(self.wide_offsets)?;
            let begin = usize::try_from(begin).map_err(|_| {
                malformed(format!("its variable `{name}` begins at byte {begin}, says byte {at}"))
            })?;
            variables.push(RawVariable { name, dimensions: ids, attributes, ty, begin });
        }
        Ok(variables)
    }
}

impl File {
    /// Parses the header of a file that [`is_classic`].
    pub fn open(bytes: &Bytes, limits: &Limits<'_>) -> Result<File, DataError> {
        let version = bytes[3];
        let mut header = HeaderReader {
            bytes,
            at: 4,
            wide_counts: version == 5,
            wide_offsets: version != 1,
            limits: *limits,
        };
        let wide = header.wide_counts;
        let records = header.integer(wide)?;
        // All bits are set while a program is still writing records.
        let streaming = records == if wide { u64::MAX } else { u64::from(u32::MAX) };
        let dimensions = header.dimensions()?;
        let attributes = header.attributes()?;
        let variables = header.variables(&dimensions)?;
        let mut file =
            File { bytes: bytes.clone(), dimensions, attributes, variables, records: 0, record_bytes: 0 };
        file.record_bytes = file.record_size()?;
        file.records = match streaming {
            true => {
                let begin = file.variables.iter().filter(|v| file.is_record(v)).map(|v| v.begin).min();
                let there = bytes.len().saturating_sub(begin.unwrap_or(bytes.len()));
                there.checked_div(file.record_bytes).unwrap_or(0)
            }
            false => usize::try_from(records)
                .map_err(|_| malformed(format!("its header has {records} records at byte 4")))?,
        };
        Ok(file)
    }

    /// Returns true if a variable has a value, or an array, in each record.
    fn is_record(&self, variable: &RawVariable) -> bool {
        variable.dimensions.first().is_some_and(|id| self.dimensions[*id].size == 0)
    }

    /// Returns the size in bytes of a variable, or of its part in one record.
    fn slab_bytes(&self, variable: &RawVariable) -> Result<usize, DataError> {
        let skipped = usize::from(self.is_record(variable));
        let sizes = variable.dimensions[skipped..].iter().map(|id| self.dimensions[*id].size);
        let bytes = sizes.clone().try_fold(variable.ty.bytes(), usize::checked_mul);
        bytes.filter(|bytes| *bytes <= isize::MAX as usize).ok_or_else(|| {
            let shape: Vec<usize> = sizes.collect();
            let (name, shape) = (&variable.name, crate::data::shape_text(&shape));
            malformed(format!("its variable `{name}` is promised to have {shape} elements"))
        })
    }

    /// Returns the size of a record in bytes. The parts of a record are padded to multiples of
    /// four, unless there is one part only.
    fn record_size(&self) -> Result<usize, DataError> {
        let mut parts = Vec::new();
        for variable in self.variables.iter().filter(|variable| self.is_record(variable)) {
            parts.push(self.slab_bytes(variable)?);
        }
        if let [only] = parts[..] {
            return Ok(only);
        }
        let all =
            parts.iter().try_fold(0usize, |all, part| all.checked_add(part.checked_next_multiple_of(4)?));
        all.ok_or_else(|| malformed("its records are promised to have more bytes than are counted"))
    }

    /// Returns the names of the variables.
    pub fn names(&self) -> Vec<String> {
        self.variables.iter().map(|variable| variable.name.clone()).collect()
    }

    /// Returns the variable of this name.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        let at = self.variables.iter().position(|variable| variable.name == name)?;
        let variable = &self.variables[at];
        let mut dimensions = Vec::new();
        for id in &variable.dimensions {
            let Dimension { name, size } = &self.dimensions[*id];
            dimensions.push((name.clone(), if *size == 0 { self.records } else { *size }));
        }
        Some(Variable { name: name.to_string(), dimensions, ty: variable.ty, at })
    }

    /// Returns the attribute of a variable, or of the file.
    pub fn attribute(&self, variable: Option<&Variable>, name: &str) -> Result<Option<Attribute>, DataError> {
        let all = variable.map_or(&self.attributes, |variable| &self.variables[variable.at].attributes);
        let Some(RawAttribute { ty, values, .. }) = all.iter().find(|attribute| attribute.name == name)
        else {
            return Ok(None);
        };
        if *ty == NcType::Char {
            let end = values.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
            let text = std::str::from_utf8(&values[..end]);
            let text = text.map_err(|_| malformed(format!("its attribute `{name}` is not UTF-8")))?;
            let cells = Buffer::Any(vec![Value::str(text)]);
            let column = Column::new(Element::Scalar(Scalar::String), cells);
            return Ok(Some(Data { shape: Vec::new(), content: Content::Plain(column) }));
        }
        let mut cells = Buffer::empty(ty.element().class());
        decode(&mut cells, values);
        let shape = if cells.len() == 1 { Vec::new() } else { vec![cells.len()] };
        Ok(Some(Data { shape, content: Content::Plain(Column::new(ty.element(), cells)) }))
    }

    /// Returns the names of the attributes of a variable, or of the file.
    pub fn attribute_names(&self, variable: Option<&Variable>) -> Vec<String> {
        let all = variable.map_or(&self.attributes, |variable| &self.variables[variable.at].attributes);
        all.iter().map(|attribute| attribute.name.clone()).collect()
    }

    /// Returns the cells of a variable, as they are stored.
    pub fn cells(&self, variable: &Variable, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        let raw = &self.variables[variable.at];
        let slab = self.slab_bytes(raw)?;
        let (slabs, stride) = if self.is_record(raw) { (self.records, self.record_bytes) } else { (1, slab) };
        let last = slabs.saturating_sub(1).checked_mul(stride).and_then(|bytes| bytes.checked_add(raw.begin));
        let end = last.and_then(|last| last.checked_add(slab)).filter(|end| *end <= self.bytes.len());
        if slab > 0 && slabs > 0 && end.is_none() {
            let (name, begin, all) = (&raw.name, raw.begin, self.bytes.len());
            let shape: Vec<usize> = variable.dimensions.iter().map(|(_, size)| *size).collect();
            return Err(malformed(format!(
                "its variable `{name}` is promised to have {} elements from byte {begin} on, and it has {all} bytes",
                crate::data::shape_text(&shape)
            )));
        }
        let count = slab / raw.ty.bytes() * slabs;
        let mut cells = limits.allocate_cells(count, raw.ty.element().class(), super::FORMAT)?;
        if slab == 0 {
            return Ok(cells);
        }
        for record in 0..slabs {
            limits.poll(record)?;
            let start = raw.begin + record * stride;
            for piece in self.bytes[start..start + slab].chunks(CHUNK_BYTES) {
                if slab > CHUNK_BYTES {
                    limits.poll(0)?;
                }
                decode(&mut cells, piece);
            }
        }
        Ok(cells)
    }
}

/// Appends big-endian cells of the width of the slots.
fn decode(cells: &mut Buffer, bytes: &[u8]) {
    macro_rules! append {
        ($cells:expr, $ty:ty) => {{
            let words = bytes.as_chunks::<{ size_of::<$ty>() }>().0;
            $cells.extend(words.iter().map(|word| <$ty>::from_be_bytes(*word)));
        }};
    }
    match cells {
        Buffer::U8(cells) => cells.extend(bytes),
        Buffer::U16(cells) => append!(cells, u16),
        Buffer::U32(cells) => append!(cells, u32),
        Buffer::Word(cells) => append!(cells, u64),
        Buffer::Wide(_) | Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => {
            unreachable!("numbers of up to 64 bits are decoded into a new buffer")
        }
    }
}
