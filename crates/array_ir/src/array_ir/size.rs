//! Sizes of the array IR: polynomials with natural coefficients over size variables.
//!
//! They are the polynomials among [`crate::types::size`], which gives them their normal form: two
//! sizes are equal if and only if they have the same value at all values of the variables. So the
//! comparison of types is exact. A size that is a power with a variable exponent, or a number of
//! pairs, is no [`Size`].

use super::id::SizeVar;
use crate::types::size::Size as Exact;
use crate::types::variable_numbers::{ARRAY_BOUND_SIZES, ARRAY_SIZES};
use crate::types::{Kind, TypeVar};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The number of size variables that one existential type may bind.
pub const MAX_BOUND: u32 = ARRAY_BOUND_SIZES.count();

/// Size variables of a function have numbers below.
pub const MAX_SIZE_VARIABLES: u32 = ARRAY_SIZES.count();

/// A variable of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeAtom {
    /// A size variable of the function.
    Var(SizeVar),
    /// A variable that an existential type around binds, by its position.
    Bound(u32),
}

impl SizeAtom {
    fn to_type_var(self) -> TypeVar {
        let (id, name) = match self {
            SizeAtom::Var(var) => (var.0, format!("{var}")),
            SizeAtom::Bound(position) => {
                (ARRAY_BOUND_SIZES.nth_from_last(position as usize), format!("?{position}"))
            }
        };
        TypeVar { id, name: name.into(), kind: Kind::Compact }
    }

    fn of_type_var(var: &TypeVar) -> SizeAtom {
        match ARRAY_BOUND_SIZES.position(var.id) {
            Some(at) => SizeAtom::Bound(MAX_BOUND - 1 - at as u32),
            None => SizeAtom::Var(SizeVar(var.id)),
        }
    }
}

impl fmt::Display for SizeAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeAtom::Var(var) => write!(f, "{var}"),
            SizeAtom::Bound(position) => write!(f, "?{position}"),
        }
    }
}

/// A polynomial over size variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size(Form);

/// The form of a size: a number below 2^64 is always [`Form::Number`], so that equal sizes have one
/// form, and arithmetic on numbers makes no polynomial.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Number(u64),
    /// Shared, since types are copied often.
    Polynomial(Arc<Polynomial>),
}

/// Variables with their exponents.
type Powers = Vec<(SizeAtom, u32)>;

/// A polynomial with variables, or a number from 2^64 on.
#[derive(Debug)]
struct Polynomial {
    exact: Exact,
    /// Its terms: coefficients, and variables with their exponents.
    terms: Vec<(BigUint, Powers)>,
}

impl PartialEq for Polynomial {
    fn eq(&self, other: &Polynomial) -> bool {
        self.terms == other.terms
    }
}

impl Eq for Polynomial {}

impl Hash for Size {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Form::Number(number) => number.hash(state),
            Form::Polynomial(polynomial) => polynomial.terms.hash(state),
        }
    }
}

impl Size {
    /// The size, if it is a polynomial.
    pub fn new(exact: Exact) -> Option<Size> {
        if let Some(number) = exact.to_constant().and_then(|number| number.to_u64()) {
            return Some(Size::constant(number));
        }
        let terms = exact.monomials()?.into_iter().map(|(coefficient, powers)| {
            let powers = powers.into_iter().map(|(var, power)| (SizeAtom::of_type_var(&var), power));
            (coefficient, powers.collect())
        });
        let terms = terms.collect();
        Some(Size(Form::Polynomial(Arc::new(Polynomial { exact, terms }))))
    }

    fn of_polynomial(exact: Exact) -> Size {
        Size::new(exact).expect("a size of the array IR is a polynomial")
    }

    /// A number.
    pub fn constant(number: u64) -> Size {
        Size(Form::Number(number))
    }

    /// A size variable of the function.
    pub fn var(var: SizeVar) -> Size {
        Size::atom(SizeAtom::Var(var))
    }

    /// A variable that an existential type binds, by its position.
    pub fn bound(position: u32) -> Size {
        Size::atom(SizeAtom::Bound(position))
    }

    /// A variable.
    pub fn atom(atom: SizeAtom) -> Size {
        Size::of_polynomial(Exact::variable(atom.to_type_var()))
    }

    fn exact(&self) -> Cow<'_, Exact> {
        match &self.0 {
            Form::Number(number) => Cow::Owned(Exact::constant(*number)),
            Form::Polynomial(polynomial) => Cow::Borrowed(&polynomial.exact),
        }
    }

    /// The terms: coefficients, and variables with their exponents.
    pub fn terms(&self) -> Cow<'_, [(BigUint, Powers)]> {
        match &self.0 {
            Form::Number(0) => Cow::Owned(Vec::new()),
            Form::Number(number) => Cow::Owned(vec![(BigUint::from(*number), Vec::new())]),
            Form::Polynomial(polynomial) => Cow::Borrowed(&polynomial.terms),
        }
    }

    /// The variables, with repetitions.
    pub fn atoms(&self) -> impl Iterator<Item = SizeAtom> {
        let terms = match &self.0 {
            Form::Number(_) => &[][..],
            Form::Polynomial(polynomial) => &polynomial.terms[..],
        };
        terms.iter().flat_map(|(_, powers)| powers.iter().map(|(atom, _)| *atom))
    }

    /// The number, for a size without variables that is below 2^64.
    pub fn to_constant(&self) -> Option<u64> {
        match self.0 {
            Form::Number(number) => Some(number),
            Form::Polynomial(_) => None,
        }
    }

    /// The sum; `None` beyond the bounds of sizes.
    pub fn add(&self, other: &Size) -> Option<Size> {
        let numbers = self.to_constant().zip(other.to_constant());
        if let Some(sum) = numbers.and_then(|(a, b)| a.checked_add(b)) {
            return Some(Size::constant(sum));
        }
        self.exact().add(&other.exact()).and_then(Size::new)
    }

    /// The product; `None` beyond the bounds of sizes.
    pub fn mul(&self, other: &Size) -> Option<Size> {
        let numbers = self.to_constant().zip(other.to_constant());
        if let Some(product) = numbers.and_then(|(a, b)| a.checked_mul(b)) {
            return Some(Size::constant(product));
        }
        self.exact().mul(&other.exact()).and_then(Size::new)
    }

    /// The difference, if all its coefficients are natural: then it is natural at all values.
    pub fn checked_sub(&self, other: &Size) -> Option<Size> {
        match self.to_constant().zip(other.to_constant()) {
            Some((a, b)) => a.checked_sub(b).map(Size::constant),
            None => self.exact().checked_sub(&other.exact()).map(Size::of_polynomial),
        }
    }

    /// Returns true if the difference to `other` has natural coefficients: then the size is not
    /// larger at any values of the variables.
    pub fn is_at_most(&self, other: &Size) -> bool {
        other.checked_sub(self).is_some()
    }

    /// The value, if it is below 2^64.
    pub fn evaluate(&self, value: &dyn Fn(SizeAtom) -> Option<u64>) -> Option<u64> {
        self.exact().evaluate(&|var| value(SizeAtom::of_type_var(var)).map(BigUint::from))?.to_u64()
    }

    /// The size with sizes in place of variables; `None` beyond the bounds of sizes.
    pub fn substitute(&self, size: &dyn Fn(SizeAtom) -> Size) -> Option<Size> {
        if self.to_constant().is_some() {
            return Some(self.clone());
        }
        let mut sum = Exact::zero();
        for (coefficient, powers) in self.terms().iter() {
            let mut product = Exact::constant(coefficient.clone());
            for (atom, power) in powers {
                let base = size(*atom);
                for _ in 0..*power {
                    product = product.mul(&base.exact())?;
                }
            }
            sum = sum.add(&product)?;
        }
        Size::new(sum)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut empty = true;
        for (coefficient, powers) in self.terms().iter() {
            if !std::mem::replace(&mut empty, false) {
                f.write_str(" + ")?;
            }
            let mut factors = Vec::new();
            for (atom, power) in powers {
                factors.push(if *power == 1 { format!("{atom}") } else { format!("{atom}^{power}") });
            }
            if *coefficient != BigUint::from(1u8) || factors.is_empty() {
                factors.insert(0, coefficient.to_string());
            }
            f.write_str(&factors.join("*"))?;
        }
        if empty { f.write_str("0") } else { Ok(()) }
    }
}
