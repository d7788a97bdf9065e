//! The search for derivations.
//!
//! Takes two types already decided to be natural or isomorphic; gives a derivation of one from the
//! other, or none when it does not find one. Shared structure is kept: children that correspond are
//! connected one by one. Only where that fails are both sides rewritten to a normal form, and the
//! two rewritings joined in the middle.
//!
//! **The natural normal form.** Indices are linearized; declared types unfolded; products and sums
//! are flat words of powers. In a word, neighbors of one base join; a power whose base is itself a
//! word (a *block*) splits off its constant copies, `w^(E+c) = w^E·w…w`, takes the root of its
//! base, `(v·v)^E = v^(2E)`, and moves left as far as it can, `x·(u·x)^E = (x·u)^E·x`, matching
//! runs by monomial-wise subtraction of exponents. Blocks of constant exponent are unrolled while
//! they are short and absorb following copies where they are not. Sums are treated alike: a sum is
//! a word over cases, compact cases being powers of the unit case. **The isomorphic normal form**
//! is a sorted sum of products, each a compact coefficient times sorted powers.
//!
//! Never decides: the verdict is [`super::fingerprint`]'s and [`super::exact`]'s, and a derivation
//! is used only after [`mod@super::verify`]. Work is bounded by [`MAX_STEPS`].

use super::Verdict;
use super::fingerprint::{same_count, same_slots};
use super::laws::{Connective, Law, Witness};
use super::natural_steps;
use super::permuting_steps;
use crate::cancellation;
use crate::hash::HashMap;
use crate::types::size::Size;
use crate::types::{Type, TypeKind};
use std::sync::Arc;

/// Steps of one search, at most.
pub const MAX_STEPS: usize = 4_000;

/// Nodes of a type that a derivation is searched for, at most.
const MAX_TYPE_NODES: u32 = 4_000;

/// Nesting of a type, declarations included, at most.
const MAX_DEPTH: u32 = 120;

/// Nodes compared by fingerprints to find the children that correspond, at most.
const MAX_COMPARED_NODES: u32 = 60_000;

/// Returns a derivation from `a` to `b`, known to be natural or isomorphic; `None` if none is
/// found.
pub fn search(a: &Type, b: &Type, verdict: Verdict) -> Option<Witness> {
    if a.nodes() > MAX_TYPE_NODES || b.nodes() > MAX_TYPE_NODES {
        return None;
    }
    let mut search = Search { natural: verdict <= Verdict::Natural, ..Search::default() };
    search.connect(a, b, 0)
}

/// Returns the natural normal form of a type, for display.
pub fn normal_form(ty: &Type) -> Option<Type> {
    if ty.nodes() > MAX_TYPE_NODES {
        return None;
    }
    let mut search = Search { natural: true, ..Search::default() };
    search.normalize(ty).map(|witness| witness.to.clone())
}

/// The normal forms found so far, and the work done.
#[derive(Default)]
pub(super) struct Search {
    /// True if only steps that keep storage are allowed.
    pub(super) natural: bool,
    /// The derivations of normal forms, by `natural` and type.
    normalized: HashMap<(bool, Type), Arc<Witness>>,
    /// The number of steps so far.
    steps: usize,
    /// The nesting of the type being normalized.
    depth: u32,
    /// The number of nodes compared by fingerprints so far.
    compared: u32,
}

impl Search {
    /// Counts a step; `None` beyond [`MAX_STEPS`].
    pub(super) fn count_step(&mut self) -> Option<()> {
        cancellation::poll();
        self.steps += 1;
        (self.steps <= MAX_STEPS).then_some(())
    }

    /// Returns true if two types agree by fingerprints, within the bound.
    fn related(&mut self, a: &Type, b: &Type, natural: bool) -> bool {
        if a == b {
            return true;
        }
        self.compared = self.compared.saturating_add(a.nodes()).saturating_add(b.nodes());
        self.compared < MAX_COMPARED_NODES && if natural { same_slots(a, b) } else { same_count(a, b) }
    }

    /// Returns a derivation from `a` to `b`.
    fn connect(&mut self, a: &Type, b: &Type, depth: u32) -> Option<Witness> {
        self.count_step()?;
        let mut witness = Witness::identity(a);
        if a == b {
            return Some(witness);
        }
        if a.is_compact() && b.is_compact() {
            witness.apply_law(Law::Linearize, b.clone());
            return Some(witness);
        }
        if depth < MAX_DEPTH {
            if !self.natural && self.related(a, b, true) {
                // These two are naturally isomorphic: storage moves elsewhere.
                let mut inner =
                    Search { natural: true, steps: self.steps, compared: self.compared, ..Search::default() };
                if let Some(found) = inner.connect(a, b, depth + 1) {
                    return Some(found);
                }
            }
            if let Some(found) = self.connect_children(a, b, depth) {
                return Some(found);
            }
        }
        self.depth = 0;
        let left = self.normalize(a)?;
        let right = self.normalize(b)?;
        witness.append(left.as_ref().clone());
        witness.append(align(&left.to, &right.to)?);
        witness.append(right.reversed());
        Some(witness)
    }

    /// Returns a derivation between types of one constructor whose children correspond, possibly in
    /// another order.
    fn connect_children(&mut self, a: &Type, b: &Type, depth: u32) -> Option<Witness> {
        if std::mem::discriminant(a.kind()) != std::mem::discriminant(b.kind()) || !has_rewritable_children(a)
        {
            return None;
        }
        let (left, right) = (children(a), children(b));
        if left.len() != right.len() || !same_constructor(a, b) {
            return None;
        }
        let mut witness = Witness::identity(a);
        let mut order: Vec<usize> = (0..left.len()).collect();
        let side = match a.kind() {
            TypeKind::Product(_) => Some(Connective::Product),
            TypeKind::Sum(_) => Some(Connective::Sum),
            _ => None,
        };
        if !left.iter().zip(&right).all(|(x, y)| self.related(x, y, self.natural)) {
            let side = side.filter(|_| !self.natural)?;
            // Equal ones first, then ones of the same storage, then any.
            let mut free: Vec<usize> = order.clone();
            let mut found: Vec<Option<usize>> = vec![None; right.len()];
            for closeness in 0..3 {
                for (j, y) in right.iter().enumerate() {
                    if found[j].is_some() {
                        continue;
                    }
                    let at = free.iter().position(|&i| match closeness {
                        0 => left[i] == *y,
                        1 => self.related(&left[i], y, true),
                        _ => self.related(&left[i], y, false),
                    });
                    if let Some(at) = at {
                        found[j] = Some(free.remove(at));
                    }
                }
            }
            order = found.into_iter().collect::<Option<Vec<usize>>>()?;
            witness.apply_law(
                Law::Commute(side),
                side.combine(order.iter().map(|&i| left[i].clone()).collect()),
            );
        }
        let mut inner = Vec::new();
        for (j, y) in right.iter().enumerate() {
            inner.push((j, Arc::new(self.connect(&left[order[j]], y, depth + 1)?)));
        }
        witness.apply_inside(inner);
        (witness.to == *b).then_some(witness)
    }

    /// Returns the derivation from a type to its normal form; memoized.
    pub(super) fn normalize(&mut self, ty: &Type) -> Option<Arc<Witness>> {
        if let Some(known) = self.normalized.get(&(self.natural, ty.clone())) {
            return Some(known.clone());
        }
        self.count_step()?;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut witness = Witness::identity(ty);
        self.depth += 1;
        loop {
            let before = witness.to.clone();
            self.normalize_step(&mut witness)?;
            if witness.to.nodes() > 4 * MAX_TYPE_NODES || witness.weight > MAX_STEPS {
                return None;
            }
            if witness.to == before {
                break;
            }
        }
        self.depth -= 1;
        let normal = witness.to.clone();
        let witness = Arc::new(witness);
        self.normalized.insert((self.natural, ty.clone()), witness.clone());
        self.normalized.insert((self.natural, normal.clone()), Arc::new(Witness::identity(&normal)));
        Some(witness)
    }

    /// Normalizes the children, then applies one step at the root; nothing when the type is normal.
    fn normalize_step(&mut self, witness: &mut Witness) -> Option<()> {
        self.count_step()?;
        let ty = witness.to.clone();
        if ty.is_compact() {
            if let Some(linear) = Size::of(&ty).map(|size| size.to_type()) {
                witness.apply_law(Law::Linearize, linear);
            }
            return Some(());
        }
        if let TypeKind::Nominal(nominal, args) = ty.kind()
            && nominal.as_abstract().is_some()
            && let Some(stored) = nominal.stored_as(args)
        {
            witness.apply_law(Law::Represent, stored);
            return Some(());
        }
        if let Some(meaning) = unfolded(&ty) {
            witness.apply_law(Law::Unfold, meaning);
            return Some(());
        }
        if !has_rewritable_children(&ty) {
            return Some(());
        }
        let mut inner = Vec::new();
        for (i, child) in children(&ty).iter().enumerate().filter(|(i, _)| may_rewrite_child(&ty, *i)) {
            inner.push((i, self.normalize(child)?));
        }
        witness.apply_inside(inner);
        if witness.to != ty {
            return Some(());
        }
        if let Some((law, to)) = power_step(&ty) {
            witness.apply_law(law, to);
            return Some(());
        }
        let side = match ty.kind() {
            TypeKind::Sum(_) | TypeKind::Repeat(..) => Connective::Sum,
            _ => Connective::Product,
        };
        let flat = side.combine(side.flatten(&ty));
        if flat != ty {
            witness.apply_law(Law::Flatten(side), flat);
            return Some(());
        }
        if self.natural {
            natural_steps::step(self, side, witness)
        } else {
            permuting_steps::step(side, witness)
        }
    }
}

/// Returns a derivation between two normal forms that differ at most in how compact types are
/// written.
fn align(a: &Type, b: &Type) -> Option<Witness> {
    let mut witness = Witness::identity(a);
    if a == b {
        return Some(witness);
    }
    if a.is_compact() && b.is_compact() {
        if !same_slots(a, b) {
            return None;
        }
        witness.apply_law(Law::Linearize, b.clone());
        return Some(witness);
    }
    let (left, right) = (children(a), children(b));
    if std::mem::discriminant(a.kind()) != std::mem::discriminant(b.kind())
        || !has_rewritable_children(a)
        || left.len() != right.len()
        || !same_constructor(a, b)
    {
        return None;
    }
    let mut inner = Vec::new();
    for (i, (x, y)) in left.iter().zip(&right).enumerate() {
        inner.push((i, Arc::new(align(x, y)?)));
    }
    witness.apply_inside(inner);
    (witness.to == *b).then_some(witness)
}

/// Returns true if derivations may rewrite children of a type.
fn has_rewritable_children(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Product(_) | TypeKind::Sum(_) | TypeKind::Repeat(..) | TypeKind::Array(..) => true,
        TypeKind::Nominal(nominal, _) => nominal.layout().is_some(),
        _ => false,
    }
}

/// Returns true if a derivation may rewrite child `i`: of a closed abstract type only the arguments
/// that it is functorial in.
fn may_rewrite_child(ty: &Type, i: usize) -> bool {
    match ty.kind() {
        TypeKind::Nominal(nominal, _) => nominal.layout().is_some_and(|layout| layout[i]),
        _ => true,
    }
}

/// Returns true if two types agree in what no derivation rewrites.
fn same_constructor(a: &Type, b: &Type) -> bool {
    match (a.kind(), b.kind()) {
        (TypeKind::Nominal(n, xs), TypeKind::Nominal(m, ys)) => {
            n == m && xs.iter().zip(ys).enumerate().all(|(i, (x, y))| x == y || may_rewrite_child(a, i))
        }
        _ => true,
    }
}

/// Returns the direct children of a type.
fn children(ty: &Type) -> Vec<Type> {
    let mut children = Vec::new();
    ty.kind().for_each_child(&mut |child| children.push(child.clone()));
    children
}

/// Returns the definition of a declared type, or a record as a product.
fn unfolded(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Nominal(nominal, _) if nominal.has_existential_field() => None,
        TypeKind::Nominal(nominal, args) => nominal
            .definition(args)
            .or_else(|| Some(Type::product(nominal.struct_fields(args)?.into_iter().map(|f| f.1).collect()))),
        TypeKind::Record(fields) => Some(Type::product(fields.iter().map(|f| f.1.clone()).collect())),
        _ => None,
    }
}

/// Returns a step on powers that both normal forms share.
fn power_step(ty: &Type) -> Option<(Law, Type)> {
    let linear = |parts: Vec<Type>| {
        let product = Type::compact_product(parts);
        Size::of(&product).map_or(product, |size| size.to_type())
    };
    match ty.kind() {
        TypeKind::Array(_, index) if index.is_void() => {
            Some((Law::PowerZero(Connective::Product), Type::unit()))
        }
        TypeKind::Array(base, index) if index.is_unit() => {
            Some((Law::PowerOne(Connective::Product), base.clone()))
        }
        TypeKind::Array(base, _) if base.is_unit() => {
            Some((Law::UnitPower(Connective::Product), Type::unit()))
        }
        TypeKind::Array(base, outer) => match base.kind() {
            TypeKind::Array(element, inner) => {
                let index = linear(vec![outer.clone(), inner.clone()]);
                Some((Law::Curry(Connective::Product), Type::array(element.clone(), index)))
            }
            _ => None,
        },
        TypeKind::Repeat(_, case) if case.is_void() => Some((Law::UnitPower(Connective::Sum), Type::void())),
        TypeKind::Repeat(n, _) if n.is_void() => Some((Law::PowerZero(Connective::Sum), Type::void())),
        TypeKind::Repeat(n, case) if n.is_unit() => Some((Law::PowerOne(Connective::Sum), case.clone())),
        TypeKind::Repeat(n, case) => match case.kind() {
            TypeKind::Repeat(m, case) => {
                let cases = linear(vec![n.clone(), m.clone()]);
                Some((Law::Curry(Connective::Sum), Type::repeat(cases, case.clone())))
            }
            _ if case.is_compact() => {
                Some((Law::Curry(Connective::Sum), linear(vec![n.clone(), case.clone()])))
            }
            _ => None,
        },
        _ => None,
    }
}
