//! Data: files of other programs and of Felis, valid and damaged; pictures.

mod arrow;
mod columns;
mod fields;
mod files;
mod images;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod json;
mod netcdf;
mod pictures;
mod ragged;
