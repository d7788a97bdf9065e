//! Types of files, for the message where a program states none.
//!
//! Takes the bytes of a file; gives the type as a program writes it, such as `real ^ (?N \* ?M)`,
//! or nothing where bytes do not determine it (a raw file). Types of CSV columns are the narrowest
//! of `bool`, `int`, `real` and `string` that hold all cells. Columns that a type cannot name are
//! omitted: a reader skips them.

use super::{Column, Content, Data, Element, Format, Limits, Separator, arrow, netcdf, npy, npz, parquet};
use crate::hash::HashMap;
use crate::types::Scalar;
use crate::value::Buffer;
use ::csv::ReaderBuilder;
use bytes::Bytes;

/// Returns the type of a connectivity in a NetCDF file.
pub fn describe_connectivity(bytes: &Bytes, name: &str, limits: &Limits<'_>) -> Option<Described> {
    let data = netcdf::describe(bytes, name, true, limits)?;
    Some(data.description(&|name| name.to_string()))
}

/// A type as a program writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The type.
    pub ty: String,
    /// The declaration of the struct that the type needs.
    pub declaration: Option<String>,
}

/// Returns the type of a file. `part` names an array of an archive, and `name_of` returns the name
/// of a column as a type writes it, if it can.
pub fn describe(
    format: Format,
    bytes: &Bytes,
    part: Option<&str>,
    name_of: &dyn Fn(&str) -> Option<String>,
    limits: &Limits<'_>,
) -> Option<Described> {
    let mut data = match format {
        Format::Npy => npy::describe(bytes),
        Format::Npz => npz::describe(bytes, part?),
        Format::Arrow => arrow::describe(bytes, limits),
        Format::Csv(separator) => describe_csv(bytes, separator, limits),
        Format::Parquet => parquet::describe(bytes),
        Format::Netcdf => netcdf::describe(bytes, part?, false, limits),
        Format::Raw | Format::Text | Format::Vtk | Format::Image => None,
    }?;
    if let Content::Records(columns) = &mut data.content {
        let mut seen = HashMap::default();
        columns.iter().for_each(|(name, _)| *seen.entry(name.clone()).or_insert(0) += 1);
        // Columns with equal names cannot be selected.
        columns.retain(|(name, _)| seen[name] == 1 && name_of(name).is_some());
        if columns.is_empty() {
            return None;
        }
    }
    Some(data.description(&|name| name_of(name).unwrap_or_default()))
}

/// Counts of the cells of a column by their form.
#[derive(Clone, Copy, Default)]
struct CellCounts {
    cells: usize,
    empty: usize,
    bools: usize,
    ints: usize,
    reals: usize,
}

impl CellCounts {
    /// Counts a cell.
    fn add(&mut self, text: &str) {
        let text = text.trim();
        self.cells += 1;
        self.empty += usize::from(text.is_empty());
        self.bools += usize::from(matches!(text, "true" | "false" | "True" | "False" | "TRUE" | "FALSE"));
        self.ints += usize::from(text.parse::<i64>().is_ok());
        self.reals += usize::from(text.parse::<f64>().is_ok());
    }

    /// Returns a column of the narrowest type of these cells, without cells.
    fn column(self) -> Column {
        let full = self.cells - self.empty;
        let element = match full {
            0 => Element::Scalar(Scalar::String),
            n if n == self.bools => Element::Bool,
            n if n == self.ints => Element::Scalar(Scalar::Int),
            n if n == self.reals => Element::Scalar(Scalar::Real),
            _ => Element::Scalar(Scalar::String),
        };
        let mut column = Column::new(element, Buffer::Any(Vec::new()));
        if self.empty > 0 && element != Element::Scalar(Scalar::String) {
            column.missing.push(true);
        }
        column
    }
}

/// Returns the shape and the columns of a table, without its cells.
fn describe_csv(bytes: &[u8], separator: Separator, limits: &Limits<'_>) -> Option<Data> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        ReaderBuilder::new().delimiter(separator.byte()).has_headers(false).from_reader(text.as_bytes());
    let mut rows = reader.records();
    let first = rows.next()?.ok()?;
    let numbers = first.iter().all(|cell| cell.trim().parse::<f64>().is_ok());
    let mut seen = vec![CellCounts::default(); first.len()];
    if numbers {
        seen.iter_mut().zip(&first).for_each(|(seen, cell)| seen.add(cell));
    }
    for (i, row) in rows.enumerate() {
        limits.poll(i).ok()?;
        seen.iter_mut().zip(&row.ok()?).for_each(|(seen, cell)| seen.add(cell));
    }
    if numbers {
        let all = seen.iter().fold(CellCounts::default(), |all, one| CellCounts {
            cells: all.cells + one.cells,
            empty: all.empty + one.empty,
            bools: all.bools + one.bools,
            ints: all.ints + one.ints,
            reals: all.reals + one.reals,
        });
        let shape = if first.len() == 1 { vec![0] } else { vec![0, 0] };
        return Some(Data { shape, content: Content::Plain(all.column()) });
    }
    let columns = first.iter().map(|name| name.trim().into()).zip(seen.into_iter().map(CellCounts::column));
    Some(Data { shape: vec![0], content: Content::Records(columns.collect()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn tables() {
        let stop = AtomicBool::new(false);
        let limits = Limits { memory: 0, interrupt: &stop };
        let ty = |text: &str| {
            let bytes = Bytes::copy_from_slice(text.as_bytes());
            let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphabetic());
            let name_of = |name: &str| plain(name).then(|| name.to_string());
            let found = describe(Format::Csv(Separator::COMMA), &bytes, None, &name_of, &limits);
            found.map(|found| found.ty)
        };
        assert_eq!(ty("1,2\n3,4.5\n").as_deref(), Some("real ^ (?N \\* ?M)"));
        assert_eq!(ty("1\n2\n").as_deref(), Some("int ^ ?N"));
        assert_eq!(
            ty("name,age,ok,a b,x\nAda,1,true,1,\nB,2,false,2,1.5\n").as_deref(),
            Some("(name:string, age:int, ok:bool, x:option[real]) ^ ?N")
        );
        assert_eq!(ty("a,a b,c,c\n1,2,3,4\n").as_deref(), Some("(a:int) ^ ?N"));
        assert_eq!(ty("a b,c,c\n1,2,3\n"), None);
        assert_eq!(ty(""), None);
        assert_eq!(ty("a,b\n1\n"), None);
    }
}
