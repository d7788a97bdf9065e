//! Equations of index types with several lists: `..L \* K \* ..R` and an index type that is known.
//!
//! **Problem.** A pattern is a sequence of axes and lists; a list that is a hole stands for any
//! number of axes, none too. The subject is a sequence of axes without such holes; a list that is
//! a rigid variable is one element of it, equal only to itself. Unification of sequences with
//! several list holes can have several solutions (T. Kutsia, *Solving equations with sequence
//! variables*, 2007). A program must have one.
//!
//! **Method.** An axis of the pattern *fits* an axis of the subject by its name: the two are equal;
//! or both are the same declared type, the pattern with holes among the arguments (`halo[1, ?N]`),
//! and the other arguments are equal; or the pattern has a hole there. The positions are
//! determined if there is exactly one increasing assignment of the pattern's axes to positions of
//! the subject in which each fits, axes without a list between them are neighbors, and the first
//! and the last are at an end where no list is. Then the axes are equated and each list becomes
//! what lies between. Without an assignment the equation fails. With several it is postponed while
//! an axis of the pattern has holes, and fails otherwise: the subject has the axis twice.
//!
//! **Sound**: the solution makes the two sequences equal. **Complete**: all assignments are
//! counted, by dynamic programming, in O(axes of the pattern · axes of the subject) steps.

use crate::check::solve::infer::{Infer, UnifyError};
use crate::types::{Kind, ProductForm, Type, TypeKind};

/// The outcome of the search for positions.
enum Positions {
    /// Exactly one assignment: for each element of the pattern the number of elements of the
    /// subject that it takes.
    One(Vec<usize>),
    /// No assignment.
    Zero,
    /// Two assignments or more.
    Several,
}

impl Infer {
    /// Equates two index types, one of which has several lists.
    pub(super) fn equate_axes(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        let (a, b) = (self.zonk(a), self.zonk(b));
        if a == b {
            return Ok(());
        }
        let (Some(xs), Some(ys)) = (elements(&a), elements(&b)) else { return self.postpone(&a, &b) };
        let open = |all: &[Type]| all.iter().any(is_list_hole);
        match (open(&xs), open(&ys)) {
            (true, true) => self.postpone(&a, &b),
            (true, false) => self.solve_axes((&a, &xs), (&b, &ys)),
            (false, true) => self.solve_axes((&b, &ys), (&a, &xs)),
            (false, false) if xs.len() == ys.len() => {
                xs.iter().zip(&ys).try_for_each(|(x, y)| self.equate(x, y))
            }
            (false, false) => Err(UnifyError),
        }
    }

    /// Returns the type with its holes replaced, and its arrays over lists of axes that are all
    /// empty replaced by their elements: `T ^ (..L \* ..R)` is `T` where both are empty.
    pub fn without_empty_products(&self, ty: &Type) -> Type {
        match ty.kind() {
            TypeKind::Array(element, index)
                if let TypeKind::Rest(list) = index.kind()
                    && index.is_spliced() =>
            {
                let (element, list) = (self.without_empty_products(element), self.zonk(list));
                match list.kind() {
                    TypeKind::List(_, parts, None) if parts.is_empty() => element,
                    _ => Type::array(element, Type::product_of(list)),
                }
            }
            TypeKind::Array(..) | TypeKind::Product(_) | TypeKind::Record(_) => {
                ty.map_children(&mut |part| self.without_empty_products(part))
            }
            _ => self.zonk(ty),
        }
    }

    /// Solves the list holes of a pattern against a subject without list holes.
    fn solve_axes(
        &mut self,
        (pattern, items): (&Type, &[Type]),
        (subject, axes): (&Type, &[Type]),
    ) -> Result<(), UnifyError> {
        // An axis that is a hole may become any type.
        if axes.iter().any(|axis| matches!(axis.kind(), TypeKind::Meta(_))) {
            return self.postpone(pattern, subject);
        }
        let taken = match positions(items, axes) {
            Positions::One(taken) => taken,
            Positions::Several if items.iter().any(|item| !is_list_hole(item) && item.has_meta()) => {
                return self.postpone(pattern, subject);
            }
            Positions::Several | Positions::Zero => return Err(UnifyError),
        };
        let mut rest = axes;
        for (item, taken) in items.iter().zip(taken) {
            let (own, more) = rest.split_at(taken);
            rest = more;
            match (item.kind(), own) {
                (TypeKind::Meta(hole), _) if is_list_hole(item) => {
                    self.solve(*hole, &Type::list(ProductForm::Compact, own.to_vec(), None))?;
                }
                (_, [axis]) => self.equate(item, axis)?,
                _ => return Err(UnifyError),
            }
        }
        Ok(())
    }
}

/// Returns the axes and lists of an index type; `None` if their number is not known yet. Products
/// among the factors are one element each.
fn elements(ty: &Type) -> Option<Vec<Type>> {
    match ty.kind() {
        TypeKind::Meta(_) => None,
        TypeKind::CompactPower(_, count) if count.has_meta() => None,
        TypeKind::Apply(..) if ty.has_meta() => None,
        TypeKind::Rest(list) => Some(match list.kind() {
            TypeKind::List(_, parts, end) => parts.iter().chain(end).cloned().collect(),
            _ => vec![list.clone()],
        }),
        _ => match ty.as_list(ProductForm::Compact).as_ref().map(Type::kind) {
            Some(TypeKind::List(_, parts, _)) => Some(parts.clone()),
            _ => Some(vec![ty.clone()]),
        },
    }
}

/// Returns true if a type has lists of axes that are still holes.
pub fn is_undetermined(ty: &Type) -> bool {
    let mut found = ty.is_spliced() && elements(ty).is_some_and(|items| items.iter().any(is_list_hole));
    if ty.has_rest() {
        ty.kind().for_each_child(&mut |child| found = found || is_undetermined(child));
    }
    found
}

/// Returns true for a list that is a hole.
fn is_list_hole(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Meta(meta) if matches!(meta.kind, Kind::List(_)))
}

/// The reason why the axes of a pattern are not found in a type.
pub enum AxisMismatch {
    /// The type does not have this axis.
    Missing(Type),
    /// The type has axes of this form, and a pattern before has taken the last of them.
    TooFew(Type),
    /// The type has this axis more than once.
    Repeated(Type),
    /// The type has the second of two axes before the first.
    Order(Type, Type),
}

/// Returns the array of a type in which the axes of the expected type are not found, and the
/// reason; `None` if another part of the types differs.
pub fn axis_mismatch(found: &Type, expected: &Type) -> Option<(Type, AxisMismatch)> {
    let all = |found: &[Type], expected: &[Type]| {
        found.iter().zip(expected).find_map(|(found, expected)| axis_mismatch(found, expected))
    };
    match (expected.kind(), found.kind()) {
        (TypeKind::Array(_, pattern), kind) if pattern.is_spliced() => {
            let axes = match kind {
                TypeKind::Array(_, index) => elements(index).map(|_| index.axes())?,
                TypeKind::Meta(_) => return None,
                _ => Vec::new(),
            };
            let named = elements(pattern)?.into_iter().filter(|item| item.list_form().is_none());
            let mut last: Option<(usize, Type)> = None;
            for item in named.filter(|item| !matches!(item.kind(), TypeKind::Meta(_))) {
                let fitting = axes.iter().enumerate().filter(|(_, axis)| fits(&item, axis));
                let places: Vec<usize> = fitting.map(|(at, _)| at).collect();
                let free = places.iter().find(|at| last.as_ref().is_none_or(|(before, _)| *at > before));
                let mismatch = match (&places[..], free, last) {
                    ([], ..) => AxisMismatch::Missing(item),
                    ([_, _, ..], ..) if !item.has_meta() => AxisMismatch::Repeated(item),
                    (_, Some(at), _) => {
                        last = Some((*at, item));
                        continue;
                    }
                    (all, None, Some((before, _))) if all.contains(&before) => AxisMismatch::TooFew(item),
                    (_, None, Some((_, first))) => AxisMismatch::Order(first, item),
                    (_, None, None) => unreachable!("the first axis that fits is free"),
                };
                return Some((found.clone(), mismatch));
            }
            None
        }
        (TypeKind::Product(expected), TypeKind::Product(found)) if expected.len() == found.len() => {
            all(found, expected)
        }
        (TypeKind::Array(expected, _), TypeKind::Array(found, _)) => axis_mismatch(found, expected),
        _ => None,
    }
}

/// Finds the assignment of a pattern's elements to a subject's.
fn positions(items: &[Type], axes: &[Type]) -> Positions {
    // ways[i][j]: the number of assignments of `items[i..]` to all of `axes[j..]`, 2 for more.
    let mut ways = vec![vec![0u8; axes.len() + 1]; items.len() + 1];
    ways[items.len()][axes.len()] = 1;
    for (i, item) in items.iter().enumerate().rev() {
        for j in (0..=axes.len()).rev() {
            ways[i][j] = match is_list_hole(item) {
                // Takes nothing, or `axes[j]` and perhaps more.
                true => (ways[i + 1][j] + ways[i].get(j + 1).copied().unwrap_or(0)).min(2),
                false if j < axes.len() && fits(item, &axes[j]) => ways[i + 1][j + 1],
                false => 0,
            };
        }
    }
    match ways[0][0] {
        0 => return Positions::Zero,
        1 => {}
        _ => return Positions::Several,
    }
    let (mut taken, mut j) = (Vec::with_capacity(items.len()), 0);
    for (i, item) in items.iter().enumerate() {
        let mut own = usize::from(!is_list_hole(item));
        if own == 0 {
            while ways[i + 1][j + own] == 0 {
                own += 1;
            }
        }
        taken.push(own);
        j += own;
    }
    Positions::One(taken)
}

/// Returns true if an axis of a pattern has the name of an axis of the subject.
fn fits(item: &Type, axis: &Type) -> bool {
    if item == axis {
        return true;
    }
    match (item.kind(), axis.kind()) {
        (TypeKind::Meta(meta), _) => axis.has_kind(meta.kind),
        (_, TypeKind::Meta(_)) => true,
        (TypeKind::Nominal(a, args), TypeKind::Nominal(b, given)) => {
            a == b && args.iter().zip(given).all(|(arg, given)| fits(arg, given))
        }
        _ => {
            (item.has_meta() || axis.has_meta())
                && std::mem::discriminant(item.kind()) == std::mem::discriminant(axis.kind())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Positions, positions};
    use crate::types::{Kind, ProductForm, Type};

    fn hole(id: u32) -> Type {
        Type::meta(id, Kind::List(ProductForm::Compact))
    }

    fn axis(n: u32) -> Type {
        Type::unit_sum(n)
    }

    /// All assignments, by trying every number of axes for every list.
    fn all(items: &[Type], axes: &[Type]) -> Vec<Vec<usize>> {
        let Some((first, rest)) = items.split_first() else {
            return if axes.is_empty() { vec![Vec::new()] } else { Vec::new() };
        };
        let sizes = if super::is_list_hole(first) { 0..=axes.len() } else { 1..=1 };
        let mut found = Vec::new();
        for taken in sizes {
            if taken > axes.len() || !super::is_list_hole(first) && *first != axes[0] {
                continue;
            }
            for mut more in all(rest, &axes[taken..]) {
                more.insert(0, taken);
                found.push(more);
            }
        }
        found
    }

    #[test]
    fn positions_are_those_of_all_assignments() {
        let seed = 20u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..20_000 {
            let axes: Vec<Type> = (0..random.u32(0..6)).map(|_| axis(random.u32(1..5))).collect();
            let items: Vec<Type> = (0..random.u32(0..6))
                .map(|at| if random.bool() { hole(at) } else { axis(random.u32(1..5)) })
                .collect();
            let expected = all(&items, &axes);
            let context = format!("seed {seed}, round {round}: {items:?} and {axes:?}");
            match positions(&items, &axes) {
                Positions::Zero => assert!(expected.is_empty(), "{context}"),
                Positions::One(taken) => assert_eq!(expected, [taken], "{context}"),
                Positions::Several => assert!(expected.len() > 1, "{context}"),
            }
        }
    }
}
