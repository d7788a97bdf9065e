//! Hints for sizes that are known only at run time and may be unequal.

use crate::check::context::Checker;
use crate::iso::equations;
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Returns the help for a type with a size that the wanted type cannot mention because the size
    /// was opened later.
    pub(in crate::check) fn late_size(&mut self, found: &Type, expected: &Type) -> Option<String> {
        if !self.only_sizes_differ(found, expected) {
            return None;
        }
        let mut late = None;
        found.for_each_var(&mut |var| {
            let opened = self.item.frames.iter().any(|frame| frame.opened.contains(var));
            if opened && !expected.mentions(var) {
                late.get_or_insert_with(|| (var.name.clone(), self.denotes(&var.name, var)));
            }
        });
        let (late, named) = late?;
        let reshaped = self.reshaped_if_equal(found, expected);
        let mut other = None;
        expected.for_each_var(&mut |var| {
            other.get_or_insert_with(|| (var.name.clone(), self.denotes(&var.name, var)));
        });
        match other {
            Some((other, _)) if found.key_number().is_some() => Some(two_keys(&late, &other)),
            Some((other, true)) if named && let Some((left, right)) = &reshaped => {
                let (left, right) = (left.size_text(), right.size_text());
                Some(format!(
                    "`{late}` and `{other}` arrive at run time and need not be equal: \
                     `require {right} == {left};` checks it, and `:>>` then reads the one as the other"
                ))
            }
            Some((other, _)) => Some(format!(
                "`{late}` and `{other}` arrive at run time and need not be equal: bind this value to a name of its own"
            )),
            None if expected.has_meta() => {
                Some(format!("`{late}` is known only after this place: bind the value where it is made"))
            }
            None => reshaped.filter(|_| named).map(|(left, right)| {
                let (left, right) = (left.size_text(), right.size_text());
                format!("`{late}` arrives at run time: `require {left} == {right};` checks it, and `:>>` then reads the one as the other")
            }),
        }
    }

    /// Returns true if two types differ in their sizes alone, so that equal sizes could make them
    /// equal.
    fn only_sizes_differ(&mut self, found: &Type, expected: &Type) -> bool {
        let mark = self.infer.mark();
        let alike = self.alike_but_sizes(found, expected);
        self.infer.undo(mark);
        alike
    }

    /// Compares two types except for their sizes; may solve holes.
    fn alike_but_sizes(&mut self, found: &Type, expected: &Type) -> bool {
        use TypeKind as K;
        let (found, expected) = (self.infer.shallow(found), self.infer.shallow(expected));
        if found.is_compact() && expected.is_compact() {
            return true;
        }
        match (found.kind(), expected.kind()) {
            (K::Array(t, _), K::Array(u, _)) => self.alike_but_sizes(t, u),
            (K::Function(d, c), K::Function(e, f)) => {
                self.alike_but_sizes(d, e) && self.alike_but_sizes(c, f)
            }
            (K::Product(a), K::Product(b)) | (K::Sum(a), K::Sum(b)) if a.len() == b.len() => {
                a.iter().zip(b).all(|(a, b)| self.alike_but_sizes(a, b))
            }
            (K::Record(a), K::Record(b)) if a.len() == b.len() => {
                a.iter().zip(b).all(|((f, a), (g, b))| f == g && self.alike_but_sizes(a, b))
            }
            (K::Nominal(a, xs), K::Nominal(b, ys)) if a == b => {
                xs.iter().zip(ys).all(|(x, y)| self.alike_but_sizes(x, y))
            }
            // An unconstrained hole takes any type with a size, except for the scope of the size.
            (_, K::Meta(_)) | (K::Meta(_), _) => {
                self.infer.literal_of(&expected).is_none() && self.infer.literal_of(&found).is_none()
                    || self.infer.unify(&found, &expected).is_ok()
            }
            _ => self.infer.unify(&found, &expected).is_ok(),
        }
    }

    /// Returns the two sizes whose equality lets `:>>` read the one type as the other without
    /// discarding a label.
    fn reshaped_if_equal(&self, found: &Type, expected: &Type) -> Option<(Type, Type)> {
        let sizes = equations::required_equation(found, expected)?;
        let mut equations = self.equations();
        equations.push(sizes.clone());
        let natural = equations::natural_under(&equations, found, expected);
        (natural && self.label_loss(found, expected, &equations).is_none()).then_some(sizes)
    }
}

/// Returns the help for parts of an argument that belong to two keys.
pub(in crate::check) fn different_keys(argument: &Type) -> Option<String> {
    let parts = argument.components(0)?;
    let mut numbers = parts.iter().filter_map(Type::key_number).filter_map(|number| match number.kind() {
        TypeKind::Var(var) => Some(var),
        _ => None,
    });
    let first = numbers.next()?;
    let other = numbers.find(|number| *number != first)?;
    Some(two_keys(&first.name, &other.name))
}

/// Returns the sentence about what belongs to two keys.
fn two_keys(one: &str, other: &str) -> String {
    format!(
        "`{one}` and `{other}` are the numbers of two keys: what belongs to the one is not used with the other"
    )
}
