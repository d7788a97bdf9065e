//! Labels: information in types that a reshape discards although the storage is equal.
//!
//! Takes two naturally isomorphic types; decides whether reading a value of the one as the other
//! keeps the names and structure that the types state. `:>>` accepts every natural isomorphism,
//! because the author may want the representation. A message that suggests `:>>` must not discard
//! what the author declared, so every suggestion of a reshape consults this module first.
//!
//! ```text
//! nominal types   newtypes, structs, variants, abstract types, each with its arguments
//! fields          the names of the fields of a record or compact record, in their order
//! axes            how the positions of arrays and tuples are grouped
//! ```
//!
//! **Nominal types and fields** are decided by parametricity (J. Reynolds 1983). Each nominal type
//! with its arguments is replaced by a rigid variable of its kind, the same for equal types only,
//! and each field of a record gets a component in front of it, a rigid variable that stands for its
//! name. Types that are still naturally isomorphic are so for all definitions of the nominal types,
//! so no definition is used.
//!
//! **Axes** may be joined or split (`T ^ (2 \* 3)` and `T ^ 6`, `T ^ A * T ^ B` and `T ^ (A \+ B)`)
//! but not exchanged for others (`T ^ (2 \* 3)` and `T ^ (3 \* 2)`). One list of parts refines
//! another if each boundary between parts of the coarser one is a boundary of the finer one.
//!
//! Decides nothing about storage: the caller supplies the relation "naturally isomorphic", since
//! equations of sizes may hold. In doubt, or beyond its bounds, the axes count as different: then
//! nothing is suggested.

use super::{Verdict, verdict};
use crate::types::variable_numbers::LABELS;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use num_traits::ToPrimitive;

/// The information that reading one type as another discards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelLoss {
    /// The nominal types differ: the first that differ, of the first type and of the second.
    Nominal(Option<Type>, Option<Type>),
    /// The fields of records have other names, or another order.
    Fields,
    /// The parts of an index, a tuple or a sum are grouped differently.
    Axes,
}

/// The relation "naturally isomorphic", supplied by the caller.
pub type Natural<'n> = dyn FnMut(&Type, &Type) -> bool + 'n;

/// Parts of one product, sum or index type, at most; beyond, the axes count as different.
const MAX_PARTS: usize = 64;

/// Nodes of the two types together, at most; beyond, the axes count as different.
const MAX_TYPE_NODES: u32 = 4_000;

/// Returns the label loss of reading a value of `a` as `b`, which is naturally isomorphic to it by
/// `natural`; `None` if nothing is lost.
pub fn label_loss(a: &Type, b: &Type, natural: &mut Natural<'_>) -> Option<LabelLoss> {
    if a == b {
        return None;
    }
    if a.nodes().saturating_add(b.nodes()) > MAX_TYPE_NODES {
        return Some(LabelLoss::Axes);
    }
    let mut atoms = Atoms::default();
    let closed = (atoms.abstract_nominals(a), atoms.abstract_nominals(b));
    if closed.0 != closed.1 && !natural(&closed.0, &closed.1) {
        return Some(first_nominal_difference(a, b));
    }
    let named = (atoms.mark_names(&closed.0), atoms.mark_names(&closed.1));
    if named.0 != named.1 && !natural(&named.0, &named.1) {
        return Some(LabelLoss::Fields);
    }
    (!same_grouping(&closed.0, &closed.1, natural)).then_some(LabelLoss::Axes)
}

/// Returns the first nominal types in which two types differ, whatever their storage; `None` where
/// both have the same nominal types in the same order.
pub fn nominal_difference(a: &Type, b: &Type) -> Option<LabelLoss> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    collect_nominals(a, &mut left);
    collect_nominals(b, &mut right);
    (left != right).then(|| first_nominal_difference(a, b))
}

/// Returns the text of a type after `:>>` or `:>`, in parentheses where the grammar needs them.
pub fn text_after_cast(ty: &Type) -> String {
    match ty.kind() {
        TypeKind::Product(_)
        | TypeKind::Sum(_)
        | TypeKind::Repeat(..)
        | TypeKind::Function(..)
        | TypeKind::Procedure(_)
        | TypeKind::Exists(..) => format!("({ty})"),
        _ => ty.to_string(),
    }
}

impl LabelLoss {
    /// Returns the reason against a reshape from `a` to `b`, and the alternative.
    pub fn advice(&self, a: &Type, b: &Type) -> String {
        let how = "write a function that converts";
        match self {
            LabelLoss::Nominal(Some(left), Some(right)) => {
                let alike = match verdict(&left.unfold(), &right.unfold()) <= Verdict::Natural {
                    true => ", though stored alike",
                    false => "",
                };
                format!("`{left}` and `{right}` are different types{alike}: {how}")
            }
            LabelLoss::Nominal(Some(own), None) | LabelLoss::Nominal(None, Some(own)) => {
                format!("`{own}` is a type of its own, not only its storage: {how} `{a}` to `{b}`")
            }
            LabelLoss::Nominal(None, None) => format!("these are different types: {how} `{a}` to `{b}`"),
            LabelLoss::Fields => {
                format!("the fields are not the same ones in the same order: {how} `{a}` to `{b}`")
            }
            LabelLoss::Axes => {
                "the storage is the same, but its parts are grouped in another way: write a function that \
                 says which element goes where"
                    .to_string()
            }
        }
    }
}

/// Returns the first place where the nominal types of two types differ.
fn first_nominal_difference(a: &Type, b: &Type) -> LabelLoss {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    collect_nominals(a, &mut left);
    collect_nominals(b, &mut right);
    let at = left.iter().zip(&right).take_while(|(x, y)| x == y).count();
    LabelLoss::Nominal(left.get(at).cloned(), right.get(at).cloned())
}

/// Collects the nominal types in a type from left to right, without those inside others.
fn collect_nominals(ty: &Type, into: &mut Vec<Type>) {
    match ty.kind() {
        // `cyclic[N]` adds arithmetic to `N` and no meaning of its own.
        TypeKind::Nominal(nominal, args) if nominal.cyclic => {
            args.iter().for_each(|arg| collect_nominals(arg, into));
        }
        // The parts of a compact record have names, and it has no other meaning.
        TypeKind::Nominal(nominal, args) if nominal.is_compact_record() => {
            args.iter().for_each(|arg| collect_nominals(arg, into));
        }
        TypeKind::Nominal(..) => into.push(ty.clone()),
        kind => kind.for_each_child(&mut |child| collect_nominals(child, into)),
    }
}

/// Rigid variables that stand for nominal types and for names of fields.
#[derive(Default)]
struct Atoms {
    /// The nominal types, by the positions of their variables.
    types: Vec<Type>,
    /// The names of fields, by the positions of their variables.
    fields: Vec<std::sync::Arc<str>>,
}

impl Atoms {
    /// Returns the type with a variable in place of each nominal type.
    fn abstract_nominals(&mut self, ty: &Type) -> Type {
        match ty.kind() {
            TypeKind::Nominal(nominal, args) if nominal.cyclic && !args.is_empty() => {
                self.abstract_nominals(&args[0])
            }
            TypeKind::Nominal(nominal, _) if nominal.is_compact_record() => {
                ty.map_children(&mut |child| self.abstract_nominals(child))
            }
            TypeKind::Nominal(nominal, _) => {
                let at = self.types.iter().position(|known| known == ty).unwrap_or_else(|| {
                    self.types.push(ty.clone());
                    self.types.len() - 1
                });
                let id = LABELS.nth(2 * at);
                Type::var(TypeVar { id, name: nominal.name.clone(), kind: nominal.kind })
            }
            // A function is naturally isomorphic to itself only.
            TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Exists(..) => ty.clone(),
            _ => ty.map_children(&mut |child| self.abstract_nominals(child)),
        }
    }

    /// Returns the type with a component in front of each field for its name.
    fn mark_names(&mut self, ty: &Type) -> Type {
        if let Some(fields) = ty.compact_fields() {
            return Type::compact_product(self.mark_fields(&fields, Kind::Compact));
        }
        match ty.kind() {
            TypeKind::Record(fields) => Type::product(self.mark_fields(fields, Kind::Type)),
            TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Exists(..) => ty.clone(),
            _ => ty.map_children(&mut |child| self.mark_names(child)),
        }
    }
}

impl Atoms {
    /// Returns named parts, each preceded by a variable of this kind that stands for its name.
    fn mark_fields(&mut self, fields: &[(std::sync::Arc<str>, Type)], kind: Kind) -> Vec<Type> {
        let mut parts = Vec::new();
        for (name, part) in fields {
            let at = self.fields.iter().position(|known| known == name).unwrap_or_else(|| {
                self.fields.push(name.clone());
                self.fields.len() - 1
            });
            let id = LABELS.nth(2 * at + 1);
            parts.push(Type::var(TypeVar { id, name: name.clone(), kind }));
            parts.push(self.mark_names(part));
        }
        parts
    }
}

/// Returns true if two naturally isomorphic types group their parts alike, up to joining and
/// splitting.
fn same_grouping(a: &Type, b: &Type, natural: &mut Natural<'_>) -> bool {
    if a == b {
        return true;
    }
    if a.is_compact() && b.is_compact() {
        return same_axes(&factors(a), &factors(b), natural);
    }
    let (left, right) = (components(a), components(b));
    let (Some(left), Some(right)) = (left, right) else { return false };
    match (&left[..], &right[..]) {
        ([x], [y]) if x.axes.is_empty() && y.axes.is_empty() => {
            let (Some(xs), Some(ys)) = (cases(&x.element), cases(&y.element)) else { return false };
            match (&xs[..], &ys[..]) {
                // A slot that is not a sum, or a sum with very many cases.
                ([x], [y]) if x == a && y == b => match (x.kind(), y.kind()) {
                    (TypeKind::Repeat(n, x), TypeKind::Repeat(m, y)) => {
                        same_grouping(n, m, natural) && same_grouping(x, y, natural)
                    }
                    _ => true,
                },
                ([x], [y]) => same_grouping(x, y, natural),
                _ if xs.len() == ys.len() => {
                    xs.iter().zip(&ys).all(|(x, y)| natural(x, y) && same_grouping(x, y, natural))
                }
                _ => one_refines_other(&xs, &ys, |parts| Type::sum(parts.to_vec()), natural),
            }
        }
        _ if left.len() == right.len() => left.iter().zip(&right).all(|(x, y)| {
            natural(&x.whole(), &y.whole())
                && same_axes(&x.axes, &y.axes, natural)
                && same_grouping(&x.element, &y.element, natural)
        }),
        _ => {
            let flat = |parts: &[Component]| parts.iter().all(|part| part.axes.len() <= 1);
            let whole = |parts: &[Component]| parts.iter().map(Component::whole).collect::<Vec<_>>();
            flat(&left)
                && flat(&right)
                && one_refines_other(
                    &whole(&left),
                    &whole(&right),
                    |parts| Type::product(parts.to_vec()),
                    natural,
                )
        }
    }
}

/// A component of a product: an element that is not an array, and the axes above it.
struct Component {
    /// The element.
    element: Type,
    /// The axes, from the outermost.
    axes: Vec<Type>,
}

impl Component {
    /// Returns the type of the component.
    fn whole(&self) -> Type {
        if self.axes.is_empty() {
            return self.element.clone();
        }
        Type::array(self.element.clone(), Type::compact_product(self.axes.clone()))
    }
}

/// Returns the components of nested products, without units; an array indexed by a sum is one
/// component per case. `None` beyond the bound.
fn components(ty: &Type) -> Option<Vec<Component>> {
    fn walk(ty: &Type, into: &mut Vec<Component>) -> Option<()> {
        match ty.kind() {
            TypeKind::Product(parts) => parts.iter().try_for_each(|part| walk(part, into))?,
            TypeKind::Record(fields) => fields.iter().try_for_each(|(_, part)| walk(part, into))?,
            TypeKind::Array(_, index) if index.is_void() => {}
            TypeKind::Array(base, index) if index.is_unit() => walk(base, into)?,
            TypeKind::Array(base, index) => match index.kind() {
                TypeKind::CompactSum(cases) => {
                    cases.iter().try_for_each(|case| walk(&Type::array(base.clone(), case.clone()), into))?;
                }
                _ => {
                    let (mut element, mut axes) = (base.clone(), factors(index));
                    while let TypeKind::Array(inner, index) = element.kind() {
                        axes.extend(factors(index));
                        element = inner.clone();
                    }
                    into.push(Component { element, axes });
                }
            },
            _ if ty.is_unit() => {}
            _ => into.push(Component { element: ty.clone(), axes: Vec::new() }),
        }
        (into.len() <= MAX_PARTS).then_some(())
    }
    let mut all = Vec::new();
    walk(ty, &mut all)?;
    Some(all)
}

/// Returns the cases of nested sums, without void ones; `None` beyond the bound.
fn cases(ty: &Type) -> Option<Vec<Type>> {
    fn walk(ty: &Type, into: &mut Vec<Type>) -> Option<()> {
        match ty.kind() {
            TypeKind::Sum(cases) => cases.iter().try_for_each(|case| walk(case, into))?,
            TypeKind::Repeat(n, case) => {
                match n.as_unit_sum().and_then(ToPrimitive::to_usize).filter(|n| *n <= MAX_PARTS) {
                    Some(n) => (0..n).try_for_each(|_| walk(case, into))?,
                    None => into.push(ty.clone()),
                }
            }
            _ if ty.is_void() => {}
            _ => into.push(ty.clone()),
        }
        (into.len() <= MAX_PARTS).then_some(())
    }
    let mut all = Vec::new();
    walk(ty, &mut all)?;
    Some(all)
}

/// Returns the factors of nested compact products, without units.
fn factors(index: &Type) -> Vec<Type> {
    fn walk(index: &Type, into: &mut Vec<Type>) {
        let named = index.compact_fields().map(|fields| fields.into_iter().map(|(_, part)| part).collect());
        match named.or_else(|| index.compact_factors(MAX_PARTS)) {
            Some(parts) => parts.iter().for_each(|part| walk(part, into)),
            None if index.is_unit() => {}
            None => into.push(index.clone()),
        }
    }
    let mut all = Vec::new();
    walk(index, &mut all);
    all
}

/// Returns true if two index types, given by their factors, have the same axes, or one joins those
/// of the other.
fn same_axes(a: &[Type], b: &[Type], natural: &mut Natural<'_>) -> bool {
    if a == b {
        return true;
    }
    let product = |parts: &[Type]| Type::compact_product(parts.to_vec());
    if !natural(&product(a), &product(b)) {
        return false;
    }
    if a.len() == b.len() {
        return a.iter().zip(b).all(|(x, y)| natural(x, y) && same_axis(x, y, natural));
    }
    let (fewer, more) = if a.len() < b.len() { (a, b) } else { (b, a) };
    fewer.iter().all(|axis| is_atomic_axis(axis) || more.contains(axis))
        && one_refines_other(fewer, more, product, natural)
}

/// Returns true if two axes of equal size give their positions the same structure.
fn same_axis(a: &Type, b: &Type, natural: &mut Natural<'_>) -> bool {
    match (a.kind(), b.kind()) {
        _ if a == b || is_atomic_axis(a) || is_atomic_axis(b) => true,
        (TypeKind::CompactSum(x), TypeKind::CompactSum(y)) if x.len() == y.len() => {
            x.iter().zip(y).all(|(x, y)| natural(x, y) && same_axes(&factors(x), &factors(y), natural))
        }
        (TypeKind::CompactSum(x), TypeKind::CompactSum(y)) => {
            one_refines_other(x, y, |parts| Type::compact_sum(parts.to_vec()), natural)
        }
        (TypeKind::Triangle(x, i), TypeKind::Triangle(y, j)) => {
            x == y && same_axes(&factors(i), &factors(j), natural)
        }
        (TypeKind::CompactPower(x, i), TypeKind::CompactPower(y, j)) => {
            same_axes(&factors(x), &factors(y), natural) && same_axes(&factors(i), &factors(j), natural)
        }
        _ => false,
    }
}

/// Returns true if an axis is a number or a variable: its positions have no structure.
fn is_atomic_axis(axis: &Type) -> bool {
    matches!(axis.kind(), TypeKind::UnitSum(_) | TypeKind::Var(_))
}

/// Returns true if one of two lists, naturally isomorphic as wholes, refines the other: each
/// boundary of the shorter is a boundary of the longer.
fn one_refines_other(
    a: &[Type],
    b: &[Type],
    join: impl Fn(&[Type]) -> Type,
    natural: &mut Natural<'_>,
) -> bool {
    let (fewer, more) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if more.len() > MAX_PARTS {
        return false;
    }
    let mut at = 1;
    for end in 1..fewer.len() {
        let start = join(&fewer[..end]);
        let Some(found) = (at..more.len()).find(|&n| natural(&start, &join(&more[..n]))) else {
            return false;
        };
        at = found + 1;
    }
    true
}
