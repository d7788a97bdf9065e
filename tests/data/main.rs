//! Data: files of others and of our own, whole and damaged; pictures.

mod arrow;
mod columns;
mod files;
mod pictures;
mod ragged;
#[path = "../common/shelf.rs"]
mod shelf;
