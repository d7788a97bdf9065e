//! Types of data in files: axes, and the contents of one place.
//!
//! Takes the type of an array, whose index type may mention sizes that a reader determines (those
//! that an existential type binds); gives its axes from the outermost on, and the contents of a
//! place: one cell, a complex number, or a record of cells and of lists. Independent of the file
//! format.

use super::variable_numbers::FILE_SIZES;
use super::{Kind, Nominal, NominalBody, Scalar, Type, TypeKind, TypeVar};
use crate::quote;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// An array type, or the type of one place.
#[derive(Clone, Debug)]
pub struct FileType {
    /// The axes, the slowest first.
    pub axes: Vec<Axis>,
    /// The type of a place.
    pub element: Type,
    /// The contents of a place.
    pub contents: CellKind,
    /// The number of sizes that the reader determines.
    pub unknown: usize,
}

/// The size of one axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// The size of an index type.
    Known(Type),
    /// A size that the reader determines, by its number.
    Unknown(usize),
}

/// The contents of one place of an array.
#[derive(Clone, Debug)]
pub enum CellKind {
    /// One cell.
    Cell(Cell),
    /// A complex number: two reals.
    Complex,
    /// Named cells and lists, which are fields of existential type.
    Record(Vec<(Arc<str>, Cell)>),
}

/// The contents of one cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A number, a text or a character.
    Scalar(super::Scalar),
    /// A compact value, by its code.
    Code(Type),
    /// A case of a variant whose cases have no arguments, by its name.
    Case(Vec<Arc<str>>, Type),
    /// A day, an abstract type `date` that is represented by the number of days since 1970-01-01,
    /// by its text: `2024-02-29`.
    Day(Type),
    /// A value or none, `1 + T`; with the whole type.
    Sum(Box<Cell>, Type),
    /// A value or none, a variant of the cases `None` and `Some of T`, as `option[T]` is.
    Variant(Box<Cell>, Type),
    /// An array with a size of its own, `T ^ ?K`, of cells that are numbers, texts or truth values;
    /// with the whole type. Only as a field of a record.
    List(Box<Cell>, Type),
}

/// The reason why no file can hold a type.
#[derive(Clone, Debug)]
pub enum NotStorable {
    /// A part is not a number, text, compact value or record of these.
    Part(Type),
    /// An index type with an unknown size in it is not an axis.
    Axis(Type),
    /// A field of a record has an unknown size shared by all rows; a struct with a size of its own
    /// in each row is needed.
    Shared {
        /// The field.
        field: Arc<str>,
        /// The columns of that struct, as a declaration has them.
        columns: String,
    },
}

/// Axes that a power is split into, at most; a larger exponent is the size of one axis.
const MAX_AXES: u32 = 32;

/// The cases of a variant for optional values.
const OPTION: [&str; 2] = ["None", "Some"];

/// The fields of the struct for complex numbers.
const COMPLEX: [&str; 2] = ["re", "im"];

impl FileType {
    /// Returns the first field that is a list.
    pub fn list(&self) -> Option<(&Arc<str>, &Cell)> {
        let CellKind::Record(fields) = &self.contents else { return None };
        fields.iter().find(|(_, cell)| matches!(cell, Cell::List(..))).map(|(name, cell)| (name, cell))
    }

    /// Returns a type in the form of files.
    ///
    /// # Errors
    ///
    /// Returns the reason why no file can hold the type.
    pub fn of(ty: &Type) -> Result<FileType, NotStorable> {
        let unknown = ty.bound_count();
        let found = |i: usize| TypeVar { id: FILE_SIZES.nth(i), name: "?".into(), kind: Kind::Compact };
        let sizes: Vec<Type> = (0..unknown).map(|i| Type::var(found(i))).collect();
        let mut rest = ty.opened(&sizes);
        let mut axes = Vec::new();
        while let TypeKind::Array(element, index) = rest.unfold().kind() {
            axes_of(index, &mut axes).map_err(|()| NotStorable::Axis(ty.clone()))?;
            rest = element.clone();
        }
        if mentions_unknown_size(&rest) {
            return Err(shared_size_error(&rest).unwrap_or_else(|| NotStorable::Axis(ty.clone())));
        }
        Ok(FileType { axes, contents: cell_kind(&rest)?, element: rest, unknown })
    }
}

/// Returns the error for a record with a field whose unknown size is shared by all rows, with the
/// fields of a struct to use instead.
fn shared_size_error(record: &Type) -> Option<NotStorable> {
    let fields = record.unfold().fields()?;
    let mut found = None;
    let mut columns = String::new();
    for (name, ty) in fields {
        match ty.unfold().kind() {
            _ if !mentions_unknown_size(&ty) => columns.push_str(&format!(" {name} : {ty};")),
            TypeKind::Array(element, index)
                if !mentions_unknown_size(element) && matches!(index.kind(), TypeKind::Var(_)) =>
            {
                columns.push_str(&format!(" {name} : {element} ^ ?K;"));
                found = found.or(Some(name));
            }
            _ => return None,
        }
    }
    found.map(|field| NotStorable::Shared { field, columns })
}

/// Returns true if a type mentions an unknown size.
fn mentions_unknown_size(ty: &Type) -> bool {
    let mut found = false;
    ty.for_each_var(&mut |var| found |= unknown_size_index(var).is_some());
    found
}

/// Returns the number of the unknown size of a variable.
fn unknown_size_index(var: &TypeVar) -> Option<usize> {
    FILE_SIZES.position(var.id)
}

/// Appends the axes of an index type; fails where an unknown size is part of an axis.
fn axes_of(index: &Type, axes: &mut Vec<Axis>) -> Result<(), ()> {
    match index.kind() {
        TypeKind::CompactProduct(factors) => factors.iter().try_for_each(|factor| axes_of(factor, axes)),
        TypeKind::CompactPower(base, n) if n.as_unit_sum().is_some_and(|n| n <= &MAX_AXES.into()) => {
            let n = n.as_unit_sum().and_then(|n| n.to_u32()).expect("a number within the limit");
            (0..n).try_for_each(|_| axes_of(base, axes))
        }
        TypeKind::Nominal(..) if index.compact_fields().is_some() => axes_of(&index.unfold(), axes),
        TypeKind::Var(var) if unknown_size_index(var).is_some() => {
            axes.extend(unknown_size_index(var).map(Axis::Unknown));
            Ok(())
        }
        _ => {
            axes.push(Axis::Known(index.clone()));
            if mentions_unknown_size(index) { Err(()) } else { Ok(()) }
        }
    }
}

/// Returns the contents of a place of this type.
fn cell_kind(ty: &Type) -> Result<CellKind, NotStorable> {
    let ty = ty.unfold();
    let Some(fields) = ty.fields() else { return Ok(CellKind::Cell(cell(&ty)?)) };
    let real = Type::real();
    let complex = matches!(ty.kind(), TypeKind::Nominal(n, _) if &*n.name == "complex")
        && fields.iter().map(|(name, ty)| (&**name, ty)).eq(COMPLEX.map(|name| (name, &real)));
    if complex {
        return Ok(CellKind::Complex);
    }
    let cells = fields.into_iter().map(|(name, ty)| Ok((plain_name(&name), field(&ty)?)));
    Ok(CellKind::Record(cells.collect::<Result<_, _>>()?))
}

/// Returns the text denoted by a name, the name of a column or an array in a file: for `n"first
/// name"` the text between its quotes.
pub fn plain_name(name: &Arc<str>) -> Arc<str> {
    quote::strip_quotes(name).and_then(quote::unescape).map_or_else(|| name.clone(), Arc::from)
}

/// Returns a field of a record: a cell or a list.
fn field(ty: &Type) -> Result<Cell, NotStorable> {
    let ty = ty.unfold();
    if !ty.is_exists() {
        return cell(&ty);
    }
    match FileType::of(&ty)? {
        FileType { axes, contents: CellKind::Cell(element), .. }
            if axes == [Axis::Unknown(0)] && element.is_listed() =>
        {
            Ok(Cell::List(Box::new(element), ty))
        }
        _ => Err(NotStorable::Part(ty)),
    }
}

/// Returns a cell of this type.
fn cell(ty: &Type) -> Result<Cell, NotStorable> {
    let ty = ty.unfold();
    let no = || NotStorable::Part(ty.clone());
    match ty.kind() {
        TypeKind::Scalar(scalar) => Ok(Cell::Scalar(*scalar)),
        _ if ty.is_compact() && ty.as_enumeration().is_none() => Ok(Cell::Code(ty)),
        TypeKind::Sum(cases) if cases.len() == 2 && cases[0].is_unit() => {
            Ok(Cell::Sum(non_optional_cell(&cases[1])?, ty.clone()))
        }
        TypeKind::Nominal(nominal, _) if is_day(nominal) => Ok(Cell::Day(ty.clone())),
        TypeKind::Nominal(nominal, args) if matches!(nominal.body(), Some(NominalBody::Variant(_))) => {
            let cases = nominal.variant_cases(args).expect("a variant has cases");
            match &cases[..] {
                [(none, nothing), (some, something)] if [&**none, &**some] == OPTION && nothing.is_unit() => {
                    Ok(Cell::Variant(non_optional_cell(something)?, ty.clone()))
                }
                [_, ..] if cases.iter().all(|(_, argument)| argument.is_unit()) => {
                    Ok(Cell::Case(cases.iter().map(|(name, _)| plain_name(name)).collect(), ty.clone()))
                }
                _ => Err(no()),
            }
        }
        _ => Err(no()),
    }
}

/// Returns true for the type of days of the library.
fn is_day(nominal: &Nominal) -> bool {
    let Some(NominalBody::Abstract(body)) = nominal.body() else { return false };
    &*nominal.name == "date" && body.representation.as_ref().and_then(Type::as_scalar) == Some(Scalar::Int)
}

/// Returns a cell that is not optional.
fn non_optional_cell(ty: &Type) -> Result<Box<Cell>, NotStorable> {
    match cell(ty)? {
        Cell::Sum(..) | Cell::Variant(..) => Err(NotStorable::Part(ty.clone())),
        cell => Ok(Box::new(cell)),
    }
}

impl Cell {
    /// Returns true if lists may hold such cells.
    fn is_listed(&self) -> bool {
        match self {
            Cell::Scalar(_) => true,
            Cell::Code(ty) => ty.is_bool(),
            Cell::Case(..) | Cell::Day(_) | Cell::Sum(..) | Cell::Variant(..) | Cell::List(..) => false,
        }
    }

    /// Returns the contents of a cell that is not empty.
    pub fn inner(&self) -> &Cell {
        match self {
            Cell::Sum(inner, _) | Cell::Variant(inner, _) => inner,
            cell => cell,
        }
    }

    /// Returns true if the cell may be empty.
    pub fn is_optional(&self) -> bool {
        matches!(self, Cell::Sum(..) | Cell::Variant(..))
    }

    /// Returns the text of the type for messages.
    pub fn text(&self) -> String {
        match self {
            Cell::Scalar(scalar) => scalar.name().to_string(),
            Cell::Code(ty)
            | Cell::Day(ty)
            | Cell::Case(_, ty)
            | Cell::Sum(_, ty)
            | Cell::Variant(_, ty)
            | Cell::List(_, ty) => ty.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn var(id: u32) -> TypeVar {
        TypeVar { id, name: "N".into(), kind: Kind::Compact }
    }

    #[test]
    fn axes_from_the_outermost() {
        let (n, m) = (Type::var(var(1)), Type::var(var(2)));
        let index = Type::compact_product(vec![n.clone(), Type::unit_sum(3u32), m.clone()]);
        let ty = Type::exists(&[var(1), var(2)], &Type::array(Type::real(), index));
        let stored = FileType::of(&ty).expect("an array");
        assert_eq!(stored.axes, [Axis::Unknown(0), Axis::Known(Type::unit_sum(3u32)), Axis::Unknown(1)]);
        let nested = Type::exists(&[var(1), var(2)], &Type::array(Type::array(Type::real(), m), n));
        let stored = FileType::of(&nested).expect("an array");
        assert_eq!(stored.axes.len(), 2);
        // `M` comes first in the type, and is the faster axis.
        assert_eq!(stored.axes, [Axis::Unknown(1), Axis::Unknown(0)]);
    }

    #[test]
    fn a_square_is_two_axes_of_one_size() {
        let n = Type::var(var(1));
        let square = Type::array(Type::int(), Type::compact_product(vec![n.clone(), n]));
        let stored = FileType::of(&Type::exists(&[var(1)], &square)).expect("an array");
        assert_eq!(stored.axes, [Axis::Unknown(0), Axis::Unknown(0)]);
    }

    #[test]
    fn names_of_columns() {
        for (name, column) in
            [("age", "age"), ("n\"first name\"", "first name"), (r#"n"a\"b\\""#, r#"a"b\"#), ("n", "n")]
        {
            assert_eq!(&*plain_name(&name.into()), column);
        }
    }

    #[test]
    fn what_no_file_holds() {
        assert!(matches!(FileType::of(&Type::function(Type::int(), Type::int())), Err(NotStorable::Part(_))));
        let n = Type::var(var(1));
        let one_more = Type::compact_sum(vec![n, Type::unit()]);
        let ty = Type::exists(&[var(1)], &Type::array(Type::int(), one_more));
        assert!(matches!(FileType::of(&ty), Err(NotStorable::Axis(_))));
    }
}
