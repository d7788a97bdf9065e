//! NetCDF-4: variables in files of HDF5, read by the crate `netcdf-reader`.
//!
//! Takes the bytes of a file; gives the variables of its groups, each by its path, and the cells of
//! one of them. Cells are read in slabs, so that reading can be interrupted.

use super::{Attribute, NcType, Variable, malformed};
use crate::data::{Column, Content, Data, DataError, Element, Limits};
use crate::types::Scalar;
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;
use netcdf_reader::{
    NcAttrValue, NcAttribute, NcFile, NcGroup, NcOpenOptions, NcReadable, NcSliceInfo, NcSliceInfoElem,
    NcVariable,
};
use std::fmt::Display;

/// The bytes at the beginning of a file of HDF5.
const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The offset at which a file of HDF5 may begin after other content; so may each double of it.
const FIRST_OFFSET: usize = 512;

/// The size in bytes of the part of a variable that is read at once. The largest row of a variable
/// is at least as much.
const SLAB_BYTES: usize = 16 << 20;

/// The size in bytes of a chunk of a variable, at most.
const MAX_CHUNK_BYTES: u64 = 256 << 20;

/// The size in bytes of the description of a variable, at most.
const MAX_OBJECT_HEADER_BYTES: u64 = 64 << 20;

/// The size of a reference to a text in bytes: its length and its place.
const TEXT_REFERENCE_BYTES: usize = 16;

/// A file whose groups are known.
pub struct File {
    file: NcFile,
}

/// Returns true if a file is one of HDF5.
pub fn is_hdf5(bytes: &[u8]) -> bool {
    let doubles = std::iter::successors(Some(FIRST_OFFSET), |offset| offset.checked_mul(2));
    let mut offsets = std::iter::once(0).chain(doubles.take_while(|offset| *offset < bytes.len()));
    offsets.any(|offset| bytes[offset..].starts_with(MAGIC))
}

/// Returns the error of a file that the crate refuses.
fn refused(error: impl Display) -> DataError {
    malformed(error.to_string())
}

impl File {
    /// Reads the groups of a file.
    pub fn open(bytes: &Bytes, limits: &Limits<'_>) -> Result<File, DataError> {
        limits.poll(0)?;
        let within = |most: u64| usize::try_from(limits.memory.min(most)).unwrap_or(usize::MAX);
        let options = NcOpenOptions {
            max_read_bytes: within(u64::MAX),
            max_chunk_bytes: within(MAX_CHUNK_BYTES),
            max_object_header_bytes: within(MAX_OBJECT_HEADER_BYTES),
            ..NcOpenOptions::default()
        };
        let file = NcFile::from_owner(bytes.clone(), options).map_err(refused)?;
        file.root_group().map_err(refused)?;
        Ok(File { file })
    }

    /// Returns the outermost group.
    fn root(&self) -> &NcGroup {
        self.file.root_group().expect("the groups were read when the file was opened")
    }

    /// Returns the paths of the variables.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut waiting = vec![(String::new(), self.root())];
        while let Some((path, group)) = waiting.pop() {
            names.extend(group.variables.iter().map(|variable| format!("{path}{}", variable.name())));
            waiting.extend(group.groups.iter().rev().map(|inner| (format!("{path}{}/", inner.name), inner)));
        }
        names
    }

    /// Returns the variable at a path, as the file describes it.
    fn described(&self, path: &str) -> Option<&NcVariable> {
        self.root().variable(path.trim_start_matches('/'))
    }

    /// Returns the variable at a path.
    pub fn variable(&self, path: &str) -> Result<Option<Variable>, DataError> {
        let Some(variable) = self.described(path) else { return Ok(None) };
        let Some(ty) = nc_type(variable.dtype()) else {
            return Err(malformed(format!(
                "its variable `{path}` is of a type that is declared in it; numbers, texts and characters are read"
            )));
        };
        let mut dimensions = Vec::new();
        for dimension in variable.dimensions() {
            let size = usize::try_from(dimension.size).map_err(refused)?;
            dimensions.push((dimension.name.clone(), size));
        }
        let name = path.trim_start_matches('/').to_string();
        Ok(Some(Variable { name, dimensions, ty, at: 0 }))
    }

    /// Returns the attributes of a variable, or of the file.
    fn attributes(&self, variable: Option<&Variable>) -> &[NcAttribute] {
        match variable {
            None => &self.root().attributes,
            Some(variable) => {
                self.described(&variable.name).expect("the variable was found before").attributes()
            }
        }
    }

    /// Returns the names of the attributes of a variable, or of the file.
    pub fn attribute_names(&self, variable: Option<&Variable>) -> Vec<String> {
        self.attributes(variable).iter().map(|attribute| attribute.name.clone()).collect()
    }

    /// Returns an attribute of a variable, or of the file.
    pub fn attribute(&self, variable: Option<&Variable>, name: &str) -> Result<Option<Attribute>, DataError> {
        let found = self.attributes(variable).iter().find(|attribute| attribute.name == name);
        let Some(found) = found else { return Ok(None) };
        macro_rules! numbers {
            ($values:expr, $ty:ident, $slots:ident) => {
                (NcType::$ty.element(), Buffer::$slots($values.iter().map(|n| n.cast_unsigned()).collect()))
            };
        }
        let texts = |texts: &[String]| {
            let texts = texts.iter().map(|text| Value::str(text.trim_end_matches('\0'))).collect();
            (Element::Scalar(Scalar::String), Buffer::Any(texts))
        };
        let (element, cells) = match &found.value {
            NcAttrValue::Chars(text) => texts(std::slice::from_ref(text)),
            NcAttrValue::Strings(several) => texts(several),
            NcAttrValue::Bytes(n) => numbers!(n, Byte, U8),
            NcAttrValue::Shorts(n) => numbers!(n, Short, U16),
            NcAttrValue::Ints(n) => numbers!(n, Int, U32),
            NcAttrValue::Int64s(n) => numbers!(n, Int64, Word),
            NcAttrValue::UBytes(n) => (NcType::UByte.element(), Buffer::U8(n.clone())),
            NcAttrValue::UShorts(n) => (NcType::UShort.element(), Buffer::U16(n.clone())),
            NcAttrValue::UInts(n) => (NcType::UInt.element(), Buffer::U32(n.clone())),
            NcAttrValue::UInt64s(n) => (NcType::UInt64.element(), Buffer::Word(n.clone())),
            NcAttrValue::Floats(x) => {
                (NcType::Float.element(), Buffer::U32(x.iter().map(|x| x.to_bits()).collect()))
            }
            NcAttrValue::Doubles(x) => {
                (NcType::Double.element(), Buffer::Word(x.iter().map(|x| x.to_bits()).collect()))
            }
            NcAttrValue::UserDefined { .. } => {
                return Err(malformed(format!(
                    "its attribute `{name}` is of a type that is declared in it; numbers and texts are read"
                )));
            }
        };
        let shape = if cells.len() == 1 { Vec::new() } else { vec![cells.len()] };
        Ok(Some(Data { shape, content: Content::Plain(Column::new(element, cells)) }))
    }

    /// Returns the cells of a variable, as they are stored.
    pub fn cells(&self, variable: &Variable, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        let counted = variable.dimensions.iter().try_fold(1usize, |all, (_, size)| all.checked_mul(*size));
        let count = counted.ok_or_else(|| DataError::too_large(super::FORMAT))?;
        if variable.ty == NcType::String {
            return self.texts(variable, count, limits);
        }
        let mut cells = limits.allocate_cells(count, variable.ty.element().class(), super::FORMAT)?;
        if count == 0 {
            return Ok(cells);
        }
        macro_rules! read {
            ($ty:ty, $slots:ident, $word:expr) => {{
                let Buffer::$slots(words) = &mut cells else {
                    unreachable!("slots of the class of the type")
                };
                self.each_slab::<$ty>(variable, limits, |slab| words.extend(slab.iter().map($word)))?
            }};
        }
        match variable.ty {
            NcType::Byte => read!(i8, U8, |n| n.cast_unsigned()),
            NcType::Short => read!(i16, U16, |n| n.cast_unsigned()),
            NcType::Int => read!(i32, U32, |n| n.cast_unsigned()),
            NcType::Int64 => read!(i64, Word, |n| n.cast_unsigned()),
            NcType::UByte => read!(u8, U8, |n| *n),
            NcType::UShort => read!(u16, U16, |n| *n),
            NcType::UInt => read!(u32, U32, |n| *n),
            NcType::UInt64 => read!(u64, Word, |n| *n),
            NcType::Float => read!(f32, U32, |x| x.to_bits()),
            NcType::Double => read!(f64, Word, |x| x.to_bits()),
            NcType::Char => {
                let Buffer::U8(bytes) = &mut cells else { unreachable!("characters are bytes") };
                *bytes = self.file.read_variable_raw_bytes(&variable.name).map_err(refused)?;
            }
            NcType::String => unreachable!("texts were read above"),
        }
        match cells.len() == count {
            true => Ok(cells),
            false => {
                let (name, found) = (&variable.name, cells.len());
                Err(malformed(format!(
                    "its variable `{name}` has {found} elements, and {count} by its shape"
                )))
            }
        }
    }

    /// Reads a variable in slabs, in the order of its elements.
    fn each_slab<T: NcReadable>(
        &self,
        variable: &Variable,
        limits: &Limits<'_>,
        mut take: impl FnMut(&[T]),
    ) -> Result<(), DataError> {
        let sizes: Vec<u64> = variable.dimensions.iter().map(|(_, size)| *size as u64).collect();
        // A slab is a range along one axis, at one place along those before it.
        let most = (SLAB_BYTES / size_of::<T>()) as u64;
        let inner = |axis: usize| sizes[axis..].iter().product::<u64>();
        let axis = (0..sizes.len()).find(|axis| inner(axis + 1) <= most).unwrap_or(0);
        let outer: u64 = sizes[..axis].iter().product();
        let (along, step) = match sizes.get(axis) {
            Some(along) => (*along, (most / inner(axis + 1)).max(1)),
            None => (1, 1),
        };
        for place in 0..outer {
            let mut rest = place;
            let mut before: Vec<NcSliceInfoElem> = Vec::new();
            for size in sizes[..axis].iter().rev() {
                before.push(NcSliceInfoElem::Index(rest % size));
                rest /= size;
            }
            before.reverse();
            let mut start = 0;
            while start < along {
                limits.poll(0)?;
                let end = (start + step).min(along);
                let mut selections = before.clone();
                if axis < sizes.len() {
                    selections.push(NcSliceInfoElem::Slice { start, end, step: 1 });
                    let whole = |size: &u64| NcSliceInfoElem::Slice { start: 0, end: *size, step: 1 };
                    selections.extend(sizes[axis + 1..].iter().map(whole));
                }
                let slab = match selections.is_empty() {
                    true => self.file.read_variable::<T>(&variable.name),
                    false => self.file.read_variable_slice::<T>(&variable.name, &NcSliceInfo { selections }),
                };
                let slab = slab.map_err(refused)?;
                match slab.as_slice() {
                    Some(cells) => take(cells),
                    None => slab.iter().for_each(|cell| take(std::slice::from_ref(cell))),
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Returns the texts of a variable. They may be larger than the file, if several elements share
    /// one text; their lengths are added up first.
    fn texts(&self, variable: &Variable, count: usize, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        limits.poll(0)?;
        let too_large = || DataError::too_large(super::FORMAT);
        let mut texts = limits.allocate_cells(count, Class::Any, super::FORMAT)?;
        let references = self.file.read_variable_raw_bytes(&variable.name).map_err(refused)?;
        limits.reserve(references.len() as u64).ok_or_else(too_large)?;
        if count > 0 && references.len() == count * TEXT_REFERENCE_BYTES {
            for reference in references.as_chunks::<TEXT_REFERENCE_BYTES>().0 {
                let length = u32::from_le_bytes([reference[0], reference[1], reference[2], reference[3]]);
                limits.reserve_text(length as usize).ok_or_else(too_large)?;
            }
        }
        drop(references);
        limits.poll(0)?;
        let read = self.file.read_variable_as_strings(&variable.name).map_err(refused)?;
        if read.len() != count {
            let (name, found) = (&variable.name, read.len());
            return Err(malformed(format!(
                "its variable `{name}` has {found} texts, and {count} by its shape"
            )));
        }
        for text in read {
            texts.push(Value::str(text));
        }
        Ok(texts)
    }
}

/// Returns the type of values; `None` if the file declares it.
fn nc_type(ty: &netcdf_reader::NcType) -> Option<NcType> {
    Some(match ty {
        netcdf_reader::NcType::Byte => NcType::Byte,
        netcdf_reader::NcType::Char => NcType::Char,
        netcdf_reader::NcType::Short => NcType::Short,
        netcdf_reader::NcType::Int => NcType::Int,
        netcdf_reader::NcType::Float => NcType::Float,
        netcdf_reader::NcType::Double => NcType::Double,
        netcdf_reader::NcType::UByte => NcType::UByte,
        netcdf_reader::NcType::UShort => NcType::UShort,
        netcdf_reader::NcType::UInt => NcType::UInt,
        netcdf_reader::NcType::Int64 => NcType::Int64,
        netcdf_reader::NcType::UInt64 => NcType::UInt64,
        netcdf_reader::NcType::String => NcType::String,
        _ => return None,
    })
}
