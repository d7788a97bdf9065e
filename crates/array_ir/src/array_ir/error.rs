//! The violations that the validator of the array IR finds.

use super::mnemonics::Mnemonic;
use super::{Effect, FunctionId, Label, SiteId, Size, SizeAtom, SizeVar, Space, Type, Value};
use std::fmt;

/// A program that is not valid: the first violation, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Invalid {
    /// The function.
    pub function: FunctionId,
    /// The value that the statement defines; `None` for the function itself.
    pub value: Option<Value>,
    /// The violation.
    pub violation: Violation,
}

/// The form that a type should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A word.
    Element,
    /// An index.
    Index,
    /// A tuple.
    Tuple,
    /// An array.
    Array,
    /// A sum.
    Sum,
    /// A value with its sizes.
    Exists,
    /// An array with at least one digit.
    Line,
    /// A tuple of a truth value and a value.
    Kept,
    /// A tuple of an index and a value.
    Placed,
    /// An element or a tuple of keys.
    Key,
    /// An array of elements or indices.
    Sortable,
}

impl Form {
    fn text(self) -> &'static str {
        match self {
            Form::Element => "an element",
            Form::Index => "an index",
            Form::Tuple => "a tuple",
            Form::Array => "an array",
            Form::Sum => "a sum",
            Form::Exists => "a value with its sizes",
            Form::Line => "an array with a digit",
            Form::Kept => "a truth value and a value",
            Form::Placed => "an index and a value",
            Form::Key => "an element or a tuple of keys",
            Form::Sortable => "an array of elements or indices",
        }
    }
}

/// A violation of the rules at the head of [`super`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the text says it
pub enum Violation {
    Name { name: String },
    DefinedTwice { value: Value },
    SizeDefinedTwice { size: SizeVar },
    LabelAround { label: Label },
    NotDefined { value: Value },
    SizeNotDefined { size: SizeVar },
    NotBound { bound: SizeAtom },
    NoSite { site: SiteId },
    NoFunction { function: FunctionId },
    NoLabel { label: Label },
    NextOfBlock { label: Label },
    OtherType { value: Value, found: Type, expected: Type },
    OtherForm { value: Value, found: Type, form: Form },
    Stated { stated: Type, found: Type },
    StatedForm { stated: Type, form: Form },
    Params { found: usize, expected: usize },
    ParamType { found: Type, expected: Type },
    ParamForm { found: Type, form: Form },
    NoOperands { prim: &'static str, operands: Vec<Type> },
    NotAny { op: &'static str, ty: Type },
    Grouping { op: &'static str, grouping: &'static str },
    NoPart { value: Value, part: u32 },
    NoDigit { digit: String },
    Digits { space: Space, found: usize },
    DigitRange { digit: String, bound: Size, size: Size },
    Stride { digit: String },
    NoDigits { digit: String },
    Pieces { first: Space, second: Space },
    Cases { found: usize, expected: usize },
    NoCase { ty: Type, case: u32 },
    Sizes { found: usize, expected: usize },
    Arguments { found: usize, expected: usize },
    Effect { found: Effect, stated: Effect },
    CalledEffect { function: FunctionId, stated: Effect },
    MayNotEnd { function: FunctionId },
    Changes { changes: usize },
    CalledChanges { function: FunctionId, stated: usize },
    PartOfType { ty: Type },
    EmptyType { ty: String },
    Bits { ty: Type },
    LargeSize,
    OtherStructure { found: Type, expected: Type },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {}", self.function)?;
        if let Some(value) = self.value {
            write!(f, " at {value}")?;
        }
        write!(f, ": {}", self.violation)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Name { name } => write!(f, "`{name}` is no name"),
            Violation::DefinedTwice { value } => write!(f, "{value} is defined twice"),
            Violation::SizeDefinedTwice { size } => write!(f, "{size} is defined twice"),
            Violation::LabelAround { label } => write!(f, "{label} is the label of a loop or block around"),
            Violation::NotDefined { value } => write!(f, "{value} is not defined here"),
            Violation::SizeNotDefined { size } => write!(f, "{size} is not defined here"),
            Violation::NotBound { bound } => write!(f, "{bound} is bound by no type"),
            Violation::NoSite { site } => write!(f, "there is no site {site}"),
            Violation::NoFunction { function } => write!(f, "there is no function {function}"),
            Violation::NoLabel { label } => write!(f, "no loop or block {label} is around"),
            Violation::NextOfBlock { label } => write!(f, "`next` names {label}, which is no loop"),
            Violation::OtherType { value, found, expected } => {
                write!(f, "{value} is {found}, not {expected}")
            }
            Violation::OtherForm { value, found, form } => {
                write!(f, "{value} is {found}, not {}", form.text())
            }
            Violation::Stated { stated, found } => write!(f, "{stated} is stated of what is {found}"),
            Violation::StatedForm { stated, form } => {
                write!(f, "{stated} is stated of what is {}", form.text())
            }
            Violation::Params { found, expected } => {
                write!(f, "a block has {found} parameters, not {expected}")
            }
            Violation::ParamType { found, expected } => write!(f, "a parameter is {found}, not {expected}"),
            Violation::ParamForm { found, form } => write!(f, "a parameter is {found}, not {}", form.text()),
            Violation::NoOperands { prim, operands } => {
                let operands: Vec<String> = operands.iter().map(Type::to_string).collect();
                write!(f, "`{prim}` is not for ({})", operands.join(", "))
            }
            Violation::NotAny { op, ty } => write!(f, "`{op}` of {ty} depends on the grouping"),
            Violation::Grouping { op, grouping } => write!(f, "`{op}` is not grouped as `{grouping}`"),
            Violation::NoPart { value, part } => write!(f, "{value} has no part {part}"),
            Violation::NoDigit { digit } => write!(f, "there is no digit {digit}"),
            Violation::Digits { space, found } => {
                write!(f, "{found} digits are given for {space}")
            }
            Violation::DigitRange { digit, bound, size } => {
                write!(f, "{digit} is below {bound}, which is not known to be at most {size}")
            }
            Violation::Stride { digit } => write!(f, "{digit} has the stride 0"),
            Violation::NoDigits { digit } => write!(f, "{digit} is made of no digits"),
            Violation::Pieces { first, second } => {
                write!(f, "{first} and {second} differ beyond the first digit")
            }
            Violation::Cases { found, expected } => write!(f, "{found} blocks for {expected} cases"),
            Violation::NoCase { ty, case } => write!(f, "{ty} has no case {case}"),
            Violation::Sizes { found, expected } => write!(f, "{found} sizes are given, not {expected}"),
            Violation::Arguments { found, expected } => {
                write!(f, "{found} arguments are given, not {expected}")
            }
            Violation::Effect { found, stated } => {
                write!(f, "the effect is `{}`, and `{}` is stated", found.mnemonic(), stated.mnemonic())
            }
            Violation::CalledEffect { function, stated } => {
                write!(f, "the effect of {function} is not `{}`", stated.mnemonic())
            }
            Violation::MayNotEnd { function } => {
                write!(f, "a call of {function} may not end, and less is stated")
            }
            Violation::Changes { changes } => {
                write!(f, "the result does not end with the types of the first {changes} parameters")
            }
            Violation::CalledChanges { function, stated } => {
                write!(f, "{function} does not change {stated} variables, as a call of it states")
            }
            Violation::PartOfType { ty } => write!(f, "{ty} is a part of another type"),
            Violation::EmptyType { ty } => write!(f, "{ty} has no parts"),
            Violation::Bits { ty } => write!(f, "a constant has more bits than {ty}"),
            Violation::LargeSize => f.write_str("a size beyond the bounds of sizes"),
            Violation::OtherStructure { found, expected } => {
                write!(f, "{found} differs from {expected} in more than sizes")
            }
        }
    }
}
