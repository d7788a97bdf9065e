//! Data: files of other programs and of Felis, valid and damaged; pictures.

mod arrow;
mod columns;
mod files;
mod images;
mod json;
mod netcdf;
mod pictures;
mod ragged;
#[path = "../common/shelf.rs"]
mod shelf;
