//! Explanations: the text of a comparison of two types.
//!
//! Takes two types, their verdict and the derivation found; gives the expression that moves the
//! storage, the first difference of different types, and the parts of a diagnostic. Writes
//! sentences, decides nothing.

use super::exact::STEP_BUDGET;
use super::expression::{Expression, expression};
use super::labels::LabelLoss;
use super::laws::{Connective, Law, Reason, Witness};
use super::search::normal_form;
use super::size_form::{MAX_BASES, MAX_BITS, MAX_TERMS};
use super::{Verdict, verdict};
use crate::types::size::Size;
use crate::types::{Type, TypeKind};

/// Two types compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The types.
    pub types: (Type, Type),
    /// Their relation.
    pub verdict: Verdict,
    /// A verified derivation of the second from the first. Absent for different types, and where
    /// none was found.
    pub witness: Option<Witness>,
    /// For isomorphic types, the kinds of movement, in the order of the derivation.
    pub moves: Vec<Move>,
    /// For naturally isomorphic types, the labels that a reshape discards.
    pub label_loss: Option<LabelLoss>,
    /// An expression that makes a value of the second type, if storage moves or a reshape would
    /// discard labels. Its functions are the library's: a caller in whose scope these names are
    /// shadowed must not show it.
    pub expression: Option<Expression>,
    /// True if an array keeps its storage, but its axes come in another order.
    pub permutes_axes: bool,
    /// For different types, the first difference.
    pub difference: Option<Difference>,
}

/// A kind of storage movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `A * B` to `B * A`.
    Swap,
    /// `A + B` to `B + A`.
    SwapCases,
    /// `A * (B + C)` to `A * B + A * C`.
    Distribute,
    /// `A * B + A * C` to `A * (B + C)`.
    Factor,
    /// `(A * B)^N` to `A^N * B^N`.
    Unzip,
    /// `A^N * B^N` to `(A * B)^N`.
    Zip,
    /// `A * B` to `A \* B`.
    Pack,
    /// `A \* B` to `A * B`.
    Unpack,
}

impl Move {
    /// Returns a description, as a clause.
    pub fn description(self) -> &'static str {
        match self {
            Move::Swap => "components change places",
            Move::SwapCases => "cases change places, or are collected",
            Move::Distribute => "what stands beside a sum goes into each of its cases",
            Move::Factor => "what all cases of a sum have in common goes beside it",
            Move::Unzip => "an array of tuples becomes a tuple of arrays",
            Move::Zip => "a tuple of arrays becomes an array of tuples",
            Move::Pack => "addressable values become one packed value",
            Move::Unpack => "a packed value becomes addressable values",
        }
    }
}

/// The first place where two types differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path, from the inside out: "component 2", "the element" …
    pub place: Vec<String>,
    /// The description of the first type there.
    pub left: String,
    /// The description of the second type there.
    pub right: String,
}

impl Comparison {
    /// Returns the comparison with the movements, the expression or the first difference.
    pub(super) fn new(a: &Type, b: &Type, verdict: Verdict, witness: Option<Witness>) -> Comparison {
        let mut moves = Vec::new();
        if let Some(witness) = &witness {
            witness.for_each_law(&mut |law, from, to| {
                if let Some(found) = move_of_law(law, from, to)
                    && !moves.contains(&found)
                {
                    moves.push(found);
                }
            });
        }
        let natural = &mut |a: &Type, b: &Type| super::verdict(a, b) <= Verdict::Natural;
        let label_loss = if verdict == Verdict::Natural { super::label_loss(a, b, natural) } else { None };
        let moved = verdict == Verdict::Isomorphic || label_loss.is_some();
        let expression = if moved { expression(a, b, natural) } else { None };
        Comparison {
            types: (a.clone(), b.clone()),
            verdict,
            witness,
            moves,
            label_loss,
            expression,
            permutes_axes: verdict == Verdict::Natural && permutes_axes(a, b),
            difference: (verdict == Verdict::Different).then(|| {
                let normal = |ty: &Type| normal_form(ty).unwrap_or_else(|| ty.clone());
                first_difference(&normal(a), &normal(b), 0)
            }),
        }
    }

    /// Returns message, notes and help for a diagnostic about a conversion of the first type to the
    /// second.
    pub fn explanation(&self) -> (String, Vec<String>, Option<String>) {
        let (a, b) = &self.types;
        match self.verdict {
            Verdict::Equal => (format!("`{a}` and `{b}` are the same type"), Vec::new(), None),
            Verdict::Natural => {
                let mut notes = Vec::new();
                if self.permutes_axes {
                    notes.push(
                        "this relabels the axes: the storage stays as it is, so it is not a transpose".into(),
                    );
                }
                let help = match (&self.label_loss, &self.expression) {
                    (Some(_), Some(expression)) => Some(expression.help()),
                    (None | Some(LabelLoss::Axes), None) | (None, _) => None,
                    (Some(loss), None) => Some(loss.advice(a, b)),
                };
                (format!("`{a}` and `{b}` are naturally isomorphic"), notes, help)
            }
            Verdict::Isomorphic => self.explain_isomorphic(),
            Verdict::Different => self.explain_different(),
            Verdict::Unknown => (
                format!("it is not known how `{a}` and `{b}` are related"),
                vec![
                    "comparing their sizes exactly takes more than the bounds allow".to_string(),
                    format!(
                        "the bounds are {MAX_TERMS} monomials, {MAX_BITS} bits, {MAX_BASES} bases, {STEP_BUDGET} steps"
                    ),
                ],
                None,
            ),
        }
    }

    /// Returns message, notes and help for types whose storage must move.
    fn explain_isomorphic(&self) -> (String, Vec<String>, Option<String>) {
        let (a, b) = &self.types;
        let mut notes = vec![
            format!("`{a}` has as many values as `{b}`, but not in the same storage"),
            "`:>>` never moves storage".to_string(),
        ];
        let help = match &self.expression {
            Some(expression) => expression.help(),
            None => {
                let words: Vec<&str> = self.moves.iter().map(|m| m.description()).collect();
                if !words.is_empty() {
                    notes.push(format!("what moves: {}", words.join("; ")));
                }
                format!("write a function that makes `{b}` from `{a}`")
            }
        };
        ("isomorphic, but its storage must move".to_string(), notes, Some(help))
    }

    /// Returns message, notes and help for types that are not isomorphic.
    fn explain_different(&self) -> (String, Vec<String>, Option<String>) {
        let (a, b) = &self.types;
        let mut notes = Vec::new();
        if let (Some(left), Some(right)) = (Size::of(a), Size::of(b)) {
            notes.push(format!("`{a}` has size {left}"));
            notes.push(format!("`{b}` has size {right}"));
            return ("not isomorphic: the sizes differ".into(), notes, None);
        }
        for ty in [a, b] {
            let normal = normal_form(ty).filter(|normal| normal != ty).map(|normal| normal.to_string());
            // Numbers with very many digits are not helpful.
            if let Some(normal) = normal.filter(|text| text.len() < MAX_NORMAL_BYTES) {
                notes.push(format!("`{ty}` is naturally `{normal}`"));
            }
        }
        if let Some(difference) = &self.difference {
            let place = match difference.place.as_slice() {
                [] => ":".to_string(),
                place => format!(" at {}:", place.join(" of ")),
            };
            notes.push(format!("they part{place} {} against {}", difference.left, difference.right));
        }
        if let (TypeKind::Nominal(nominal, _), Some((at, false))) = (a.kind(), different_argument(a, b)) {
            let param = &nominal.params[at].name;
            notes.push(format!("how `{}` is stored may depend on all of `{param}`", nominal.name));
        }
        (format!("`{a}` and `{b}` are not isomorphic"), notes, None)
    }
}

/// Returns the movement of storage that an instance of a law makes.
fn move_of_law(law: Law, from: &Type, to: &Type) -> Option<Move> {
    let compact_parts =
        |ty: &Type| Connective::Product.parts(ty).iter().filter(|part| part.is_compact()).count();
    Some(match law {
        Law::Commute(Connective::Product) => Move::Swap,
        Law::Commute(Connective::Sum) => Move::SwapCases,
        Law::Distribute | Law::Collect if is_sum(to) && !is_sum(from) => Move::Distribute,
        Law::Distribute => Move::Factor,
        Law::Collect if is_sum(from) && is_sum(to) => Move::SwapCases,
        Law::Collect => Move::Factor,
        Law::Unzip if matches!(from.kind(), TypeKind::Array(..)) => Move::Unzip,
        Law::Unzip => Move::Zip,
        Law::Pack if from.is_compact() => Move::Unpack,
        Law::Pack if to.is_compact() || compact_parts(from) > compact_parts(to) => Move::Pack,
        Law::Pack => Move::Unpack,
        _ => return None,
    })
}

/// Returns true if a type is a tagged sum or a coarray.
fn is_sum(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Sum(_) | TypeKind::Repeat(..))
}

/// Returns true if both types have, in the same place, arrays whose axes are equal up to their
/// order.
pub fn permutes_axes(a: &Type, b: &Type) -> bool {
    let (left, right) = (axes(a), axes(b));
    if left.len() > 1 && left != right {
        let sorted = |mut axes: Vec<String>| {
            axes.sort();
            axes
        };
        return sorted(left) == sorted(right);
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    a.kind().for_each_child(&mut |child| left.push(child.clone()));
    b.kind().for_each_child(&mut |child| right.push(child.clone()));
    left.len() == right.len() && left.iter().zip(&right).any(|(x, y)| !x.is_compact() && permutes_axes(x, y))
}

/// Returns the axes of an array of arrays as texts, outermost first.
fn axes(ty: &Type) -> Vec<String> {
    fn factors(index: &Type, into: &mut Vec<String>) {
        match index.compact_factors(16) {
            Some(parts) => parts.iter().for_each(|part| factors(part, into)),
            None if index.is_unit() => {}
            None => into.push(Size::of(index).map_or_else(|| index.to_string(), |size| size.to_string())),
        }
    }
    let mut all = Vec::new();
    let mut ty = ty.clone();
    while let TypeKind::Array(element, index) = ty.kind() {
        factors(index, &mut all);
        ty = element.clone();
    }
    all
}

/// Bytes of a normal form that is shown, at most.
const MAX_NORMAL_BYTES: usize = 300;

/// Depth at which a difference is searched for, at most.
const MAX_DEPTH: u32 = 24;
/// Nodes of the two types together in which a difference is searched for, at most.
const MAX_TYPE_NODES: u32 = 20_000;

/// Returns the first difference of two types, searched for inside the structure they share.
fn first_difference(a: &Type, b: &Type, depth: u32) -> Difference {
    let describe = |ty: &Type| match Size::of(ty) {
        Some(size) if ty.as_unit_sum().is_none() => format!("size {size}"),
        _ => format!("`{ty}`"),
    };
    if depth > MAX_DEPTH || a.nodes().saturating_add(b.nodes()) > MAX_TYPE_NODES {
        return Difference { place: Vec::new(), left: describe(a), right: describe(b) };
    }
    let unlike = |x: &Type, y: &Type| verdict(x, y) > Verdict::Natural;
    let inside = |place: String, x: &Type, y: &Type| {
        let mut found = first_difference(x, y, depth + 1);
        found.place.push(place);
        found
    };
    match (a.kind(), b.kind()) {
        (TypeKind::Array(x, i), TypeKind::Array(y, j)) if !unlike(i, j) => {
            return inside("the element".into(), x, y);
        }
        (TypeKind::Array(x, i), TypeKind::Array(y, j)) if !unlike(x, y) => {
            return inside("the index".into(), i, j);
        }
        (TypeKind::Repeat(n, x), TypeKind::Repeat(m, y)) if !unlike(n, m) => {
            return inside("each case".into(), x, y);
        }
        (TypeKind::Nominal(n, xs), TypeKind::Nominal(m, ys)) if n == m => {
            if let Some((at, free)) = different_argument(a, b) {
                let place = format!("argument `{}`", n.params[at].name);
                let (x, y) = (&xs[at], &ys[at]);
                if free {
                    return inside(place, x, y);
                }
                return Difference { place: vec![place], left: format!("`{x}`"), right: format!("`{y}`") };
            }
        }
        _ => {}
    }
    let side = match (a.kind(), b.kind()) {
        (TypeKind::Product(_), _) | (_, TypeKind::Product(_)) => Connective::Product,
        (TypeKind::Sum(_), _) | (_, TypeKind::Sum(_)) => Connective::Sum,
        _ => return Difference { place: Vec::new(), left: describe(a), right: describe(b) },
    };
    let number = |i: usize| match side {
        Connective::Sum => format!("case {i}"),
        Connective::Product => format!("component {i}"),
    };
    let (left, right) = (side.parts(a), side.parts(b));
    let shorter = left.len().min(right.len());
    let at = left.iter().zip(&right).position(|(x, y)| unlike(x, y)).unwrap_or(shorter);
    match (left.get(at), right.get(at)) {
        (Some(x), Some(y)) if left.len().max(right.len()) > 1 && (x != a || y != b) => {
            inside(number(at), x, y)
        }
        (x, y) => {
            let rest = |part: Option<&Type>| part.map_or("nothing more".into(), describe);
            Difference { place: vec![number(at)], left: rest(x), right: rest(y) }
        }
    }
}

/// Returns the position of the first argument in which two closed abstract types of one declaration
/// differ, and whether the type is functorial in it.
fn different_argument(a: &Type, b: &Type) -> Option<(usize, bool)> {
    let (TypeKind::Nominal(n, xs), TypeKind::Nominal(m, ys)) = (a.kind(), b.kind()) else { return None };
    let layout = n.layout().filter(|_| n == m)?;
    let pairs = xs.iter().zip(ys).zip(layout);
    let differ = |((x, y), free): ((&Type, &Type), &bool)| {
        if *free { verdict(x, y) > Verdict::Natural } else { x != y }
    };
    pairs.clone().position(differ).map(|at| (at, layout[at]))
}

/// Returns the derivation as numbered lines, each type with the law that gives it.
pub fn explain(witness: &Witness) -> String {
    let mut lines = vec![format!("     {}", witness.from)];
    let mut number = 0;
    write_steps(witness, &|ty| ty, &mut |ty, law| {
        number += 1;
        lines.push(format!("{number:>2} = {ty}   ({}: {})", law.name(), law.statement()));
    });
    lines.join("\n")
}

/// The consumer of lines: it receives a type, and the law that gives it.
type Line<'a> = dyn FnMut(Type, Law) + 'a;

/// Calls `line` with each intermediate type of the whole; `context` puts a part back in its place.
fn write_steps(witness: &Witness, context: &dyn Fn(Type) -> Type, line: &mut Line<'_>) {
    for step in &witness.steps {
        match &step.reason {
            Reason::Law(law) => line(context(step.to.clone()), *law),
            Reason::Congruence(children) => {
                // The children change one after the other. Where the type before shows fewer
                // children than change (its form hides them), they are set into the type after.
                let shown = contains_children(&step.from, children);
                let frame = if shown { &step.from } else { &step.to };
                for (k, (at, inner)) in children.iter().enumerate() {
                    let place = |part: Type| {
                        let mut i = 0;
                        context(frame.map_children(&mut |child| {
                            let here = i;
                            i += 1;
                            match children.iter().position(|(j, _)| *j == here) {
                                Some(_) if here == *at => part.clone(),
                                Some(j) if j < k => children[j].1.to.clone(),
                                Some(j) => children[j].1.from.clone(),
                                None => child.clone(),
                            }
                        }))
                    };
                    write_steps(inner, &place, line);
                }
            }
        }
    }
}

/// Returns true if a type shows the first type of each witness at its position.
fn contains_children(ty: &Type, children: &[(usize, std::sync::Arc<Witness>)]) -> bool {
    let mut i = 0;
    let mut matched = 0;
    ty.kind().for_each_child(&mut |child| {
        matched += usize::from(children.iter().any(|(at, w)| *at == i && w.from == *child));
        i += 1;
    });
    matched == children.len()
}
