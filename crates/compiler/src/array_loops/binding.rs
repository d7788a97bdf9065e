//! The bindings of a kernel: where its inputs come from and its results go, and the types of its
//! slots.

use super::{Declined, Result};
use crate::kernel::Input;
use crate::layout::{Form, Layout, Leaf, Unboxed};
use crate::loop_ir::{Array, Kernel, ScalarType};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::Class;
use num_traits::One;
use std::sync::Arc;

/// Slots of the smallest tuple, record or struct whose components are inputs of their own.
const MIN_SEPARATED_SLOTS: usize = 64;

/// Components of the largest one.
const MAX_SEPARATED_PARTS: usize = 64;

/// Height of the tallest type whose components are inputs of their own. Taller ones are made by
/// polymorphic recursion, where each would be looked for among all of the others.
const MAX_SEPARATED_DEPTH: u32 = 64;

/// The source of a result among those of a kernel.
#[derive(Clone, Debug)]
pub enum ResultSource {
    /// No slot.
    Unit,
    /// One of [`Kernel::scalar_results`].
    Word(usize),
    /// A result array, by its number, with the class of its slots.
    Array(u32, Class),
    /// A variable that was changed in place, by its number.
    Changed(usize),
    /// A result array of words, by its number, with the form of the value in it.
    Unboxed(u32, Arc<Unboxed>),
    /// An array that grows, with its size: the array, one of [`Kernel::scalar_results`], and the
    /// slots of an element.
    Sized(Array, usize, u64),
    /// Parts of a tuple.
    Parts(Vec<ResultSource>, Class),
}

/// The loops of a unit, with the bindings of its inputs and results.
#[derive(Debug)]
pub struct Lowered {
    /// The loops.
    pub kernel: Kernel,
    /// Statements in them, about.
    pub statements: usize,
    /// The calls of the program from one call of a function of the kernel to the next, at most.
    pub longest_step: u32,
    /// The inputs; the first ones are the variables that change.
    pub inputs: Vec<Input>,
    /// The binding of each input.
    pub bindings: Vec<InputBinding>,
    /// The number of variables that change.
    pub changes: usize,
    /// The results: one for the value of a term or a call, and one for each variable that changes.
    pub results: Vec<ResultSource>,
    /// Class of each result array.
    pub classes: Vec<Class>,
}

/// The way in which an input reaches the kernel.
#[derive(Clone, Debug)]
pub enum InputBinding {
    /// An input that is not bound.
    Nothing,
    /// A scalar; a code is below this size.
    Scalar(u32, Option<u64>),
    /// An array of slots of this class, which is read.
    Read(Array, Class),
    /// An array of slots of this class, which is changed.
    Change(Array, Class),
    /// An array of the words of a value of this form.
    Unbox(Array, Arc<Unboxed>),
    /// The components of a tuple that holds arrays with their sizes, each with its slot.
    Fields(Vec<(usize, FieldBinding)>),
}

/// The way in which a component of a tuple reaches the kernel.
#[derive(Clone, Debug)]
pub enum FieldBinding {
    /// A scalar; a code is below this size.
    Scalar(u32, Option<u64>),
    /// An array of slots of this class with its size, a scalar; the number of slots of an element.
    Sized(Array, Class, u32, u64),
    /// The size of an array that is not read, a scalar.
    Size(u32),
}

/// The type of a register for one slot.
pub(super) fn word(leaf: &Leaf) -> Result<ScalarType> {
    Ok(match leaf {
        Leaf::Code(size) if *size <= Code::Wide(1 << 64) => ScalarType::I64,
        Leaf::Code(_) | Leaf::Scalar(Scalar::Bigint | Scalar::String) => return Err(Declined::Width),
        Leaf::Scalar(Scalar::Int) => ScalarType::I64,
        Leaf::Scalar(Scalar::Real) => ScalarType::F64,
        Leaf::Scalar(Scalar::Single) => ScalarType::F32,
        Leaf::Scalar(Scalar::Char) => ScalarType::I32,
        Leaf::Scalar(Scalar::Fixed(fixed)) => match fixed.shape().0 {
            8 => ScalarType::I8,
            16 => ScalarType::I16,
            32 => ScalarType::I32,
            _ => ScalarType::I64,
        },
    })
}

/// The types of the parts of a large tuple, record or struct; `None` for any other type, or one
/// with too many parts.
pub(super) fn separable_types(ty: &Type, layout: &Layout) -> Option<Vec<Type>> {
    let Form::Parts(parts) = &layout.form else { return None };
    let tall = ty.depth() > MAX_SEPARATED_DEPTH;
    if tall || layout.slots < MIN_SEPARATED_SLOTS || parts.len() > MAX_SEPARATED_PARTS {
        return None;
    }
    ty.unfold().components(MAX_SEPARATED_PARTS).filter(|types| types.len() == parts.len())
}

/// The exclusive upper bound of the codes in a slot; `None` if it holds no codes, or every word is
/// one.
pub(super) fn code_bound(leaf: &Leaf) -> Option<u64> {
    match leaf {
        Leaf::Code(size) => size.to_u64(),
        Leaf::Scalar(_) => None,
    }
}

/// A type as its values are stored: newtypes unfolded, arrays of one element that element.
pub(super) fn storage_type(ty: &Type) -> Type {
    let mut ty = ty.unfold();
    loop {
        let TypeKind::Array(element, index) = ty.kind() else { return ty };
        match index.size() {
            Ok(size) if size.is_one() => ty = element.unfold(),
            _ => return ty,
        }
    }
}
