//! NetCDF-4: variables in files of HDF5, read by the crates `netcdf-reader` and `hdf5-reader`.
//!
//! Takes the bytes of a file; gives the variables of its groups, each by its path, and the cells of
//! one of them. Cells are read in slabs, so that reading can be interrupted. Groups are described
//! when they are asked for: a link may lead back to a group that contains it. No other file is
//! opened.

use super::{Attribute, NcType, Variable, malformed};
use crate::data::{Column, Content, Data, DataError, Element, Limits};
use crate::types::Scalar;
use crate::value::{Buffer, Class, Value};
use bytes::Bytes;
use hdf5_reader::{Dataset, Datatype, H5Type, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem, StringSize};
use netcdf_reader::nc4::groups::build_group_at_path;
use netcdf_reader::{NcAttrValue, NcAttribute, NcGroup, NcMetadataMode, NcVariable};
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::fmt::Display;
use std::sync::Arc;

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

/// The size of the length of a text in bytes, with which a reference to a text begins.
const LENGTH_BYTES: usize = 4;

/// The size in bytes of the number of a text in its heap, with which a reference to a text ends.
const INDEX_BYTES: usize = 4;

/// The number of groups whose variables are listed in a message, at most.
const MAX_LISTED_GROUPS: usize = 64;

/// A file.
pub struct File {
    hdf5: Hdf5File,
    mode: NcMetadataMode,
    /// The groups that were asked for, by their paths.
    groups: RefCell<Vec<(String, Arc<NcGroup>)>>,
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

/// Returns true if a file of HDF5 was written as one of NetCDF. The dimensions of others have no
/// names, and are told apart by their sizes.
fn has_marks_of_netcdf(hdf5: &Hdf5File) -> Result<bool, DataError> {
    let root = hdf5.root_group().map_err(refused)?;
    if root.attribute("_NCProperties").is_ok() {
        return Ok(true);
    }
    let scale = |dataset: &Dataset| {
        let class = dataset.attribute("CLASS").ok().and_then(|class| class.read_string().ok());
        class.is_some_and(|class| class == "DIMENSION_SCALE")
    };
    Ok(root.datasets().map_err(refused)?.iter().any(scale))
}

impl File {
    /// Opens a file.
    pub fn open(bytes: &Bytes, limits: &Limits<'_>) -> Result<File, DataError> {
        limits.poll(0)?;
        let within = |most: u64| usize::try_from(limits.memory.min(most)).unwrap_or(usize::MAX);
        let options = OpenOptions::default()
            .with_max_read_bytes(within(u64::MAX))
            .with_max_chunk_bytes(within(MAX_CHUNK_BYTES))
            .with_max_object_header_bytes(within(MAX_OBJECT_HEADER_BYTES));
        let hdf5 = Hdf5File::from_owner(bytes.clone(), options).map_err(refused)?;
        let mode = match has_marks_of_netcdf(&hdf5)? {
            true => NcMetadataMode::Strict,
            false => NcMetadataMode::Lossy,
        };
        Ok(File { hdf5, mode, groups: RefCell::default() })
    }

    /// Returns the group at a path; `None` if there is none.
    fn group(&self, path: &str) -> Result<Option<Arc<NcGroup>>, DataError> {
        if let Some((_, group)) = self.groups.borrow().iter().find(|(other, _)| other == path) {
            return Ok(Some(group.clone()));
        }
        match build_group_at_path(&self.hdf5, path, self.mode, false) {
            Ok(group) => {
                let group = Arc::new(group);
                self.groups.borrow_mut().push((path.to_string(), group.clone()));
                Ok(Some(group))
            }
            Err(netcdf_reader::Error::GroupNotFound(_)) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    /// Returns the paths of the variables.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut waiting: VecDeque<_> =
            self.hdf5.root_group().map(|root| (String::new(), root)).into_iter().collect();
        let mut seen = HashSet::new();
        while let Some((path, group)) = waiting.pop_front() {
            if !seen.insert(group.address()) || seen.len() > MAX_LISTED_GROUPS {
                continue;
            }
            let (Ok(Some(described)), Ok(inner)) = (self.group(path.trim_end_matches('/')), group.groups())
            else {
                continue;
            };
            names.extend(described.variables.iter().map(|variable| format!("{path}{}", variable.name())));
            let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
            waiting.extend(inner.into_iter().map(|inner| (format!("{path}{}/", name(inner.name())), inner)));
        }
        names
    }

    /// Returns the group of a path and the place of the variable in it.
    fn described(&self, path: &str) -> Result<Option<(Arc<NcGroup>, usize)>, DataError> {
        let (group, name) = path.trim_start_matches('/').rsplit_once('/').unwrap_or(("", path));
        let name = name.trim_start_matches('/');
        let Some(group) = self.group(group)? else { return Ok(None) };
        let at = group.variables.iter().position(|variable| variable.name() == name);
        Ok(at.map(|at| (group, at)))
    }

    /// Returns the variable at a path.
    pub fn variable(&self, path: &str) -> Result<Option<Variable>, DataError> {
        let Some((group, at)) = self.described(path)? else { return Ok(None) };
        let variable: &NcVariable = &group.variables[at];
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
    fn attributes(&self, variable: Option<&Variable>) -> Result<Vec<NcAttribute>, DataError> {
        let Some(variable) = variable else {
            return Ok(self.group("")?.map_or(Vec::new(), |root| root.attributes.clone()));
        };
        let (group, at) = self.described(&variable.name)?.expect("the variable was found before");
        Ok(group.variables[at].attributes().to_vec())
    }

    /// Returns the names of the attributes of a variable, or of the file.
    pub fn attribute_names(&self, variable: Option<&Variable>) -> Result<Vec<String>, DataError> {
        Ok(self.attributes(variable)?.into_iter().map(|attribute| attribute.name).collect())
    }

    /// Returns an attribute of a variable, or of the file.
    pub fn attribute(&self, variable: Option<&Variable>, name: &str) -> Result<Option<Attribute>, DataError> {
        let all = self.attributes(variable)?;
        let Some(found) = all.iter().find(|attribute| attribute.name == name) else { return Ok(None) };
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

    /// Returns the dataset of a variable. One that may grow is as large as its dimensions are.
    fn dataset(&self, variable: &Variable) -> Result<Dataset, DataError> {
        let dataset = self.hdf5.dataset(&variable.name).map_err(refused)?;
        let shape: Vec<u64> = variable.dimensions.iter().map(|(_, size)| *size as u64).collect();
        match dataset.max_dims().is_some_and(|sizes| sizes.contains(&u64::MAX)) {
            true => dataset.with_padded_shape(&shape).map_err(refused),
            false => Ok(dataset),
        }
    }

    /// Returns the cells of a variable, as they are stored.
    pub fn cells(&self, variable: &Variable, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        let counted = variable.dimensions.iter().try_fold(1usize, |all, (_, size)| all.checked_mul(*size));
        let count = counted.ok_or_else(|| DataError::too_large(super::FORMAT))?;
        if variable.ty == NcType::String {
            return self.texts(variable, count, limits);
        }
        let dataset = self.dataset(variable)?;
        let mut cells = limits.allocate_cells(count, variable.ty.element().class(), super::FORMAT)?;
        if count == 0 {
            return Ok(cells);
        }
        macro_rules! read {
            ($ty:ty, $slots:ident, $word:expr) => {{
                let Buffer::$slots(words) = &mut cells else {
                    unreachable!("slots of the class of the type")
                };
                each_slab::<$ty>(&dataset, variable, limits, |slab| words.extend(slab.iter().map($word)))?
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
                *bytes = dataset.read_raw_bytes().map_err(refused)?;
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

    /// Returns the texts of a variable. They may be larger than the file: several elements may
    /// refer to one text.
    fn texts(&self, variable: &Variable, count: usize, limits: &mut Limits<'_>) -> Result<Buffer, DataError> {
        limits.poll(0)?;
        let name = &variable.name;
        let too_large = || DataError::too_large(super::FORMAT);
        let mut texts = limits.allocate_cells(count, Class::Any, super::FORMAT)?;
        let dataset = self.dataset(variable)?;
        let stored = dataset.read_raw_bytes().map_err(refused)?;
        limits.reserve(stored.len() as u64).ok_or_else(too_large)?;
        if matches!(dataset.dtype(), Datatype::String { size: StringSize::Fixed(_), .. }) {
            // Texts of one width take as much as in the file.
            drop(stored);
            for (i, text) in dataset.read_strings().map_err(refused)?.into_iter().enumerate() {
                limits.poll(i)?;
                limits.reserve_text(text.len()).ok_or_else(too_large)?;
                texts.push(Value::str(text));
            }
        } else {
            let root = self.hdf5.root_group().map_err(refused)?;
            let width = LENGTH_BYTES + usize::from(root.offset_size()) + INDEX_BYTES;
            for (i, reference) in stored.chunks_exact(width).enumerate() {
                limits.poll(i)?;
                let text = root.resolve_vlen_reference_bytes(reference, 1).map_err(refused)?;
                let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
                let text = std::str::from_utf8(&text[..end]);
                let text =
                    text.map_err(|_| malformed(format!("element {i} of `{name}` in it is not UTF-8")))?;
                limits.reserve_text(text.len()).ok_or_else(too_large)?;
                texts.push(Value::str(text));
            }
        }
        match texts.len() == count {
            true => Ok(texts),
            false => {
                let found = texts.len();
                Err(malformed(format!("its variable `{name}` has {found} texts, and {count} by its shape")))
            }
        }
    }
}

/// Reads a variable in slabs, in the order of its elements.
fn each_slab<T: H5Type>(
    dataset: &Dataset,
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
        let mut before: Vec<SliceInfoElem> = Vec::new();
        for size in sizes[..axis].iter().rev() {
            before.push(SliceInfoElem::Index(rest % size));
            rest /= size;
        }
        before.reverse();
        let mut start = 0;
        while start < along {
            limits.poll(0)?;
            let end = (start + step).min(along);
            let mut selections = before.clone();
            if axis < sizes.len() {
                selections.push(SliceInfoElem::Slice { start, end, step: 1 });
                let whole = |size: &u64| SliceInfoElem::Slice { start: 0, end: *size, step: 1 };
                selections.extend(sizes[axis + 1..].iter().map(whole));
            }
            let slab = match selections.is_empty() {
                true => dataset.read_array::<T>(),
                false => dataset.read_slice::<T>(&SliceInfo { selections }),
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
