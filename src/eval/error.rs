//! What can go wrong while a program runs.
//!
//! `E05xx`. Each error carries where it happened and the calls that led there.

use crate::data::DataError;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, Span};
use crate::types::Type;
use num_bigint::BigUint;
use std::sync::Arc;

/// Why a program stopped.
#[derive(Clone, Debug)]
pub enum Failure {
    /// `/` or `%` by zero.
    DivisionByZero,
    /// An integer that is no code of the type.
    CodeRange { value: String, ty: String, size: String },
    /// A compact type whose number of values has more digits than are computed.
    Uncountable,
    /// A number that its new type does not hold.
    ConversionRange { value: String, ty: String },
    /// An integer that is no Unicode code point.
    NoCharacter { code: String },
    /// An integer to a negative power.
    NegativePower,
    /// A number too large to compute.
    HugeNumber,
    /// `fail` was called.
    Failed { message: String },
    /// `assert` was not true.
    Assertion,
    /// Calls nested too deeply.
    TooDeep { depth: usize },
    /// A value too large for the memory.
    Memory { bytes: String, limit: u64 },
    /// Type arguments grew from call to call.
    TypeTooLarge,
    /// A session variable read before it was set.
    Unset { name: String },
    /// A required equation of sizes does not hold.
    SizesDiffer { equation: String, left: BigUint, right: BigUint },
    /// No size makes an equation hold: its right side is `none` at 0 and `one` at 1.
    NoSize { equation: String, left: BigUint, right_at_zero: BigUint, right_at_one: BigUint },
    /// An integer below 0 where a size is needed.
    NegativeSize { size: i64 },
    /// Lines of a table with different counts of numbers.
    Ragged { first: usize, columns: usize, line: usize, count: usize },
    /// A text that is no number.
    NotANumber { text: String },
    /// A file that is not read or written.
    File { path: String, error: Box<DataError> },
    /// Stopped from outside.
    Interrupted,
    /// No arm of a match fits: the bound of the coverage check was exceeded.
    NoMatch,
    /// The code of a type in a number type that does not hold all of its codes.
    CodesTooLarge { ty: String, size: String, number: &'static str },
    /// A value was to be read as a type that is stored otherwise: the checker was wrong.
    StoredOtherwise { from: Type, to: Type },
    /// A mistake of the implementation.
    Internal { message: &'static str },
}

/// A stopped program: why, where, and through which calls.
#[derive(Clone, Debug)]
pub struct RuntimeError {
    /// Why.
    pub failure: Failure,
    /// Where.
    pub span: Span,
    /// The calls that led there, innermost first: function and place of the call.
    pub calls: Vec<(String, Span)>,
}

/// Calls of a chain that a message shows at each end.
const SHOWN_CALLS_PER_END: usize = 4;

impl RuntimeError {
    /// Whether it was stopped from outside.
    pub fn is_interruption(&self) -> bool {
        matches!(self.failure, Failure::Interrupted)
    }

    /// The error as whoever called into texts that are not his own should see it: at the innermost
    /// call that stands in none of them.
    pub fn attributed_to_caller(mut self, foreign: impl Fn(SourceId) -> bool) -> RuntimeError {
        if foreign(self.span.source)
            && let Some(at) = self.calls.iter().position(|(_, span)| !foreign(span.source))
        {
            self.span = self.calls[at].1;
        }
        // A call that stands there is not shown either.
        if let Some((_, span)) = self.calls.first_mut().filter(|(_, span)| foreign(span.source)) {
            *span = self.span;
        }
        self
    }

    /// The message for people.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let error = |code, message: String, label: &str| Diagnostic::error(code, self.span, message, label);
        let mut d = match &self.failure {
            Failure::DivisionByZero => error("E0501", "division by zero".into(), "the divisor is 0 here"),
            Failure::CodeRange { value, ty, size } => {
                let d =
                    error("E0502", format!("{value} is not the code of a value of `{ty}`"), "out of range");
                if size == "0" {
                    d.note(format!("`{ty}` has no values"))
                } else {
                    d.note(format!("`{ty}` has {size} values, with codes from 0"))
                        .help(format!("`.mod[{ty}]` wraps, `.index[{ty}]` gives an option"))
                }
            }
            Failure::Uncountable => error(
                "E0514",
                "this type has more values than can be counted".into(),
                "no value of it can be made",
            ),
            Failure::ConversionRange { value, ty } => {
                error("E0503", format!("{value} does not fit `{ty}`"), "converted here")
            }
            Failure::NoCharacter { code } => {
                error("E0503", format!("{code} is not the code point of a character"), "converted here").note(
                    "code points go from 0 to 1114111 (0x10FFFF), without 55296 to 57343 (0xD800 to 0xDFFF)",
                )
            }
            Failure::NegativePower => {
                error("E0504", "an integer has no negative powers".into(), "the exponent is negative here")
                    .help("convert the base with `:> real`")
            }
            Failure::HugeNumber => error(
                "E0505",
                "this number is too large to compute".into(),
                "may have more than 631 305 digits",
            ),
            Failure::Failed { message } => error("E0506", message.clone(), "`fail` was called here"),
            Failure::Assertion => error("E0507", "an assertion does not hold".into(), "false here"),
            Failure::TooDeep { depth } => {
                error("E0508", format!("{depth} calls within one another are too many"), "the innermost call")
                    .help("use a loop, or make the recursion shallower")
            }
            Failure::Memory { bytes, limit } => error(
                "E0509",
                format!("this value needs {bytes}, and {} may be used", format_bytes(*limit)),
                "too large",
            ),
            Failure::Unset { name } => {
                error("E0510", format!("`{name}` is used before it is set"), "not set yet")
            }
            Failure::TypeTooLarge => {
                error("E0513", "the type arguments of this call are too large".into(), "called here")
                    .note("each call of a generic function within itself may make its types larger")
            }
            Failure::SizesDiffer { equation, left, right } => {
                error("E0515", format!("`{equation}` does not hold: {left} is not {right}"), "required here")
            }
            Failure::NoSize { equation, left, right_at_zero: none, right_at_one: one } => {
                let d = error("E0516", format!("no size makes `{equation}` hold"), "required here");
                let step = if one > none { one - none } else { BigUint::ZERO };
                match (none == &BigUint::ZERO, step == BigUint::ZERO) {
                    (true, false) => {
                        d.note(format!("the left side is {left}, and {step} does not divide it"))
                    }
                    (_, true) => d.note(format!("the left side is {left}, the right side always {none}")),
                    _ => d.note(format!(
                        "the left side is {left}, the right side {none} and then a multiple of {step}"
                    )),
                }
            }
            Failure::NegativeSize { size } => {
                error("E0517", format!("{size} is not a size"), "a size is 0 or more")
            }
            Failure::Ragged { first, columns, line, count } => error(
                "E0518",
                format!("line {line} has {}, line {first} has {columns}", number_count_text(*count)),
                "the rows of a table are equally long",
            ),
            Failure::NotANumber { text } => {
                error("E0519", format!("`{text}` is not a number"), "numbers are read here")
            }
            Failure::File { path, error: trouble } => trouble.to_diagnostic(path, self.span),
            Failure::Interrupted => error("E0511", "interrupted".into(), "stopped here"),
            Failure::NoMatch => error("E0512", "no arm of this match fits".into(), "matched here"),
            Failure::CodesTooLarge { ty, size, number } => {
                error("E0520", format!("the codes of `{ty}` do not fit `{number}`"), "converted here")
                    .note(format!("`{ty}` has {size} values"))
                    .help("`:>> bigint` gives the code of a value of any compact type")
            }
            Failure::StoredOtherwise { from, to } => error(
                "E0599",
                format!("a mistake inside Felis: `{from}` is not stored as `{to}` is"),
                "please report this program",
            ),
            Failure::Internal { message: what } => {
                error("E0599", format!("a mistake inside Felis: {what}"), "please report this program")
            }
        };
        let mut shown: Vec<String> = Vec::new();
        let same = |a: &(String, Span), b: &(String, Span)| a.0 == b.0;
        for run in self.calls.chunk_by(same) {
            shown.push(match run {
                [(name, _)] => format!("`{name}`"),
                [(name, _), ..] => format!("`{name}` ({} times)", run.len()),
                [] => continue,
            });
        }
        if let [_, ..] = &shown[..] {
            let chain = if shown.len() <= 2 * SHOWN_CALLS_PER_END {
                shown.join(" in ")
            } else {
                let (first, last) =
                    (&shown[..SHOWN_CALLS_PER_END], &shown[shown.len() - SHOWN_CALLS_PER_END..]);
                let between = shown.len() - 2 * SHOWN_CALLS_PER_END;
                format!("{} in {between} more in {}", first.join(" in "), last.join(" in "))
            };
            d = d.note(format!("in {chain}"));
            if let Some((name, span)) = self.calls.first()
                && *span != self.span
            {
                d = d.label(*span, format!("`{name}` was called here"));
            }
        }
        d
    }
}

fn number_count_text(count: usize) -> String {
    if count == 1 { "1 number".into() } else { format!("{count} numbers") }
}

/// An equation of sizes as people write it.
pub(super) fn format_equation(left: &Type, right: &Type) -> Arc<str> {
    Arc::from(format!("{} == {}", left.size_text(), right.size_text()))
}

/// A number of bytes as people write it.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{amount:.1} {}", UNITS[unit]) }
}
