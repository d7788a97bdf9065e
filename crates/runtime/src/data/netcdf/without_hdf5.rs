//! NetCDF-4 without the feature `netcdf`: such files are refused with this reason.

use super::{Attribute, Variable, malformed};
use crate::data::{DataError, Limits};
use crate::value::Buffer;
use bytes::Bytes;

/// The bytes at the beginning of a file of HDF5.
const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A file. There is none.
pub enum File {}

/// Returns true if a file is one of HDF5.
pub fn is_hdf5(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl File {
    /// Refuses a file.
    pub fn open(_: &Bytes, _: &Limits<'_>) -> Result<File, DataError> {
        Err(malformed("it is of version 4, which is read with the feature `netcdf` of this program"))
    }

    /// Returns the paths of the variables.
    pub fn names(&self) -> Vec<String> {
        match *self {}
    }

    /// Returns the variable at a path.
    pub fn variable(&self, _: &str) -> Result<Option<Variable>, DataError> {
        match *self {}
    }

    /// Returns the names of the attributes of a variable, or of the file.
    pub fn attribute_names(&self, _: Option<&Variable>) -> Result<Vec<String>, DataError> {
        match *self {}
    }

    /// Returns an attribute of a variable, or of the file.
    pub fn attribute(&self, _: Option<&Variable>, _: &str) -> Result<Option<Attribute>, DataError> {
        match *self {}
    }

    /// Returns the cells of a variable.
    pub fn cells(&self, _: &Variable, _: &mut Limits<'_>) -> Result<Buffer, DataError> {
        match *self {}
    }
}
