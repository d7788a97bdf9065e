//! Run-time errors.
//!
//! Codes `E05xx`. Each error carries its source position and the chain of calls.

use crate::data::DataError;
use crate::diagnostic::{Diagnostic, errors};
use crate::source::{SourceId, Span};
use crate::types::{Scalar, Type};
use num_bigint::BigUint;
use std::sync::Arc;

errors! {
    /// The reason why a program stopped.
    pub enum Failure {
        /// `/` or `%` by zero.
        E0501 DivisionByZero,
        /// An integer that is no code of the type.
        E0502 CodeRange {
            /// The integer.
            value: String,
            /// The compact type.
            ty: String,
            /// The number of its values.
            size: String,
        },
        /// A compact type whose number of values has more digits than are computed.
        E0514 Uncountable,
        /// A number that its new type does not hold.
        E0503 ConversionRange {
            /// The number.
            value: String,
            /// The new type.
            ty: String,
        },
        /// An integer that is no Unicode code point.
        E0503 NoCharacter {
            /// The integer.
            code: String,
        },
        /// An integer to a negative power.
        E0504 NegativePower,
        /// A number too large to compute.
        E0505 HugeNumber,
        /// A call of `fail`.
        E0506 Failed {
            /// The argument of `fail`.
            message: String,
        },
        /// An `assert` of a false condition.
        E0507 Assertion,
        /// Calls nested too deeply.
        E0508 TooDeep {
            /// The number of nested calls.
            depth: usize,
        },
        /// A value too large for the memory.
        E0509 Memory {
            /// The size of the value, as text.
            bytes: String,
            /// The memory bound in bytes.
            limit: u64,
        },
        /// Type arguments grew from call to call.
        E0513 TypeTooLarge,
        /// A session variable read before it was set.
        E0510 Unset {
            /// The name of the variable.
            name: String,
        },
        /// A required equation of sizes does not hold.
        E0515 SizesDiffer {
            /// The equation as written.
            equation: String,
            /// The left side.
            left: BigUint,
            /// The right side.
            right: BigUint,
        },
        /// An equation that no size solves. Its right side is `right_at_zero` at 0 and
        /// `right_at_one` at 1.
        E0516 NoSize {
            /// The equation as written.
            equation: String,
            /// The left side.
            left: BigUint,
            /// The right side where the size is 0.
            right_at_zero: BigUint,
            /// The right side where the size is 1.
            right_at_one: BigUint,
        },
        /// An integer below 0 where a size is needed.
        E0517 NegativeSize {
            /// The integer.
            size: i64,
        },
        /// Lines of a table with different counts of numbers.
        E0518 Ragged {
            /// The number of the first line.
            first: usize,
            /// The count of numbers in the first line.
            columns: usize,
            /// The number of the line that differs.
            line: usize,
            /// The count of numbers in that line.
            count: usize,
        },
        /// A text that is no number.
        E0519 NotANumber {
            /// The beginning of the text.
            text: String,
            /// The number of its line, from 1.
            line: usize,
            /// The number of its first character in the line, from 1.
            column: usize,
        },
        /// Interrupted by the user.
        E0511 Interrupted,
        /// A `match` without a fitting arm: the coverage check had exceeded its bound.
        E0512 NoMatch,
        /// The code of a type in a number type that does not hold all of its codes.
        E0520 CodesTooLarge {
            /// The compact type.
            ty: String,
            /// The number of its values.
            size: String,
            /// The number type.
            number: &'static str,
        },
        /// A type that JSON has no form for.
        E0524 NotJson {
            /// The type.
            ty: String,
            /// The part of it that has none.
            part: String,
        },
        /// The program has ended itself with an exit code. No mistake: a frontend ends with it.
        E0525 Exit {
            /// The exit code.
            status: u8,
        },
        /// The host gives programs no machine to ask.
        E0526 NoSystem,
        /// The machine gives no answer.
        E0526 SystemRefused {
            /// The refused answer, as the beginning of a sentence.
            what: String,
            /// The reason.
            why: String,
        },
        /// Another party has stopped.
        E0530 PartyStopped {
            /// Its name.
            party: String,
        },
        /// The connection with another party has ended.
        E0531 PartyLost {
            /// Its name.
            party: String,
        },
        /// Another party has been silent for too long.
        E0532 PartySilent {
            /// Its name.
            party: String,
        },
        /// A message of another party is not the expected one.
        E0533 MessageRefused {
            /// The name of the party.
            party: String,
        },
        /// The parties disagree on public values.
        E0534 PartiesDiverged {
            /// The name of the party that disagrees.
            party: String,
        },
        /// An operation on keys or ciphertexts in a build without the schemes.
        E0540 WithoutCiphers,
        /// An operation on keys or ciphertexts that is refused: another key, other parameters,
        /// damaged bytes.
        E0541 CipherRefused {
            /// The reason.
            message: String,
        },
        /// A ciphertext whose number could be too large for the scheme.
        E0542 CipherOverflow {
            /// The bounds, as a sentence.
            message: String,
        },
        /// A ciphertext that could decrypt wrongly.
        E0543 NoiseExhausted {
            /// The bounds, as a sentence.
            message: String,
        },
        /// A reshape between types that are stored differently: a bug of the checker.
        E0599 StoredOtherwise {
            /// The type of the value.
            from: Type,
            /// The type that it was to be read as.
            to: Type,
        },
        /// A bug of the implementation.
        E0599 Internal {
            /// A description of the impossible state.
            message: &'static str,
        };
        /// A file that could not be read or written.
        error => File {
            /// The path of the file.
            path: String,
            /// The reason.
            error: Box<DataError>,
        }
    }
}

/// The error of a stopped program.
#[derive(Clone, Debug)]
pub struct RuntimeError {
    /// The reason.
    pub failure: Failure,
    /// The source position.
    pub span: Span,
    /// The calls that led there, innermost first: name of the function and position of the call.
    pub calls: Vec<(String, Span)>,
    /// The party that has stopped the others, if not all have failed.
    pub place: Option<Arc<str>>,
}

/// The number of calls that a message shows at each end of a long chain.
const SHOWN_CALLS_PER_END: usize = 4;

impl RuntimeError {
    /// Returns true if the program was interrupted.
    pub fn is_interruption(&self) -> bool {
        matches!(self.failure, Failure::Interrupted)
    }

    /// Returns the exit code with which the program has ended itself.
    pub fn exit_status(&self) -> Option<u8> {
        match self.failure {
            Failure::Exit { status } => Some(status),
            _ => None,
        }
    }

    /// Moves the position of the error to the innermost call outside foreign texts, such as the
    /// standard library.
    pub fn attributed_to_caller(mut self, foreign: impl Fn(SourceId) -> bool) -> RuntimeError {
        if foreign(self.span.source)
            && let Some(at) = self.calls.iter().position(|(_, span)| !foreign(span.source))
        {
            self.span = self.calls[at].1;
        }
        // The position of the innermost call is replaced as well if it lies in a foreign text.
        if let Some((_, span)) = self.calls.first_mut().filter(|(_, span)| foreign(span.source)) {
            *span = self.span;
        }
        self
    }

    /// Returns the message for people, with the calls that led to the error.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let d = self.failure.to_diagnostic(self.span);
        let d = match &self.place {
            Some(party) => d.note(format!("at `{party}`")),
            None => d,
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
        if shown.is_empty() {
            return d;
        }
        let chain = if shown.len() <= 2 * SHOWN_CALLS_PER_END {
            shown.join(" in ")
        } else {
            let (first, last) = (&shown[..SHOWN_CALLS_PER_END], &shown[shown.len() - SHOWN_CALLS_PER_END..]);
            let between = shown.len() - 2 * SHOWN_CALLS_PER_END;
            format!("{} in {between} more in {}", first.join(" in "), last.join(" in "))
        };
        let d = d.note(format!("in {chain}"));
        match self.calls.first() {
            Some((name, span)) if *span != self.span => d.label(*span, format!("`{name}` was called here")),
            _ => d,
        }
    }
}

impl Failure {
    /// Returns the message for a program that stopped at `span`, without its calls.
    fn to_diagnostic(&self, span: Span) -> Diagnostic {
        let error = |message: String, label: &str| Diagnostic::error(self.code(), span, message, label);
        match self {
            Failure::DivisionByZero => error("division by zero".into(), "the divisor is 0 here"),
            Failure::CodeRange { value, ty, size } => {
                let d = error(format!("{value} is not the code of a value of `{ty}`"), "out of range");
                if size == "0" {
                    d.note(format!("`{ty}` has no values"))
                } else {
                    d.note(format!("`{ty}` has {size} values, with codes from 0"))
                        .help(format!("`.mod[{ty}]` wraps, `.index[{ty}]` gives an option"))
                }
            }
            Failure::Uncountable => {
                error("this type has more values than can be counted".into(), "no value of it can be made")
            }
            Failure::ConversionRange { value, ty } => {
                let d = error(format!("{value} does not fit `{ty}`"), "converted here");
                match Scalar::from_name(ty).and_then(Scalar::bounds) {
                    Some(_) => d.help(format!(
                        "`.saturate[{ty}]` gives the nearest value that fits, `.wrap[{ty}]` wraps around"
                    )),
                    None => d,
                }
            }
            Failure::NoCharacter { code } => {
                error(format!("{code} is not the code point of a character"), "converted here").note(
                    "code points go from 0 to 1114111 (0x10FFFF), without 55296 to 57343 (0xD800 to 0xDFFF)",
                )
            }
            Failure::NegativePower => {
                error("an integer has no negative powers".into(), "the exponent is negative here")
                    .help("convert the base with `:> real`")
            }
            Failure::HugeNumber => {
                error("this number is too large to compute".into(), "may have more than 631 305 digits")
            }
            Failure::Failed { message } => error(message.clone(), "`fail` was called here"),
            Failure::Assertion => error("an assertion does not hold".into(), "false here"),
            Failure::TooDeep { depth } => {
                error(format!("{depth} calls within one another are too many"), "the innermost call")
                    .help("use a loop, or make the recursion shallower")
            }
            Failure::Memory { bytes, limit } => error(
                format!("this value needs {bytes}, and {} may be used", format_bytes(*limit)),
                "too large",
            ),
            Failure::Unset { name } => error(format!("`{name}` is used before it is set"), "not set yet"),
            Failure::TypeTooLarge => {
                error("the type arguments of this call are too large".into(), "called here")
                    .note("each call of a generic function within itself may make its types larger")
            }
            Failure::SizesDiffer { equation, left, right } => {
                error(format!("`{equation}` does not hold: {left} is not {right}"), "required here")
            }
            Failure::NoSize { equation, left, right_at_zero: none, right_at_one: one } => {
                let d = error(format!("no size makes `{equation}` hold"), "required here");
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
            Failure::NegativeSize { size } => error(format!("{size} is not a size"), "a size is 0 or more"),
            Failure::Ragged { first, columns, line, count } => error(
                format!("line {line} has {}, line {first} has {columns}", number_count_text(*count)),
                "the rows of a table are equally long",
            ),
            Failure::NotANumber { text, line, column } => {
                error(format!("`{text}` is not a number"), "numbers are read here")
                    .note(format!("it stands in line {line} of the text, at character {column}"))
            }
            Failure::File { path, error } => error.to_diagnostic(path, span),
            Failure::Interrupted => error("interrupted".into(), "stopped here"),
            Failure::NoMatch => error("no arm of this match fits".into(), "matched here"),
            Failure::CodesTooLarge { ty, size, number } => {
                error(format!("the codes of `{ty}` do not fit `{number}`"), "converted here")
                    .note(format!("`{ty}` has {size} values"))
                    .help("`:>> bigint` gives the code of a value of any compact type")
            }
            Failure::NotJson { ty, part } => {
                let d = error(format!("JSON has no form for `{part}`"), "read or written as JSON here");
                let d = if ty == part { d } else { d.note(format!("it is a part of `{ty}`")) };
                d.help("make a text, a number, a record, a list or a variant of it")
            }
            Failure::Exit { status } => {
                error(format!("the program has ended with exit code {status}"), "ended here")
            }
            Failure::NoSystem => {
                error("there is no machine to ask here".into(), "asks the machine that runs the program")
                    .note("the program that runs this gives neither standard input nor a clock")
            }
            Failure::SystemRefused { what, why } => error(format!("{what}: {why}"), "asked here"),
            Failure::PartyStopped { party } => {
                error(format!("{party} stopped"), "the program cannot go on without this party")
            }
            Failure::PartyLost { party } => {
                error(format!("the connection with {party} has ended"), "waiting for this party")
            }
            Failure::PartySilent { party } => {
                error(format!("{party} has been silent for too long"), "waiting for this party")
            }
            Failure::MessageRefused { party } => error(
                format!("a message of {party} is not the one that this program sends here"),
                "received here",
            ),
            Failure::PartiesDiverged { party } => {
                error(format!("{party} has other public values than this party"), "found out here")
                    .help("the program, its arguments and everything public are the same for all parties")
            }
            Failure::WithoutCiphers => {
                error("this felis was built without ciphers".into(), "a key or a ciphertext is needed here")
                    .help("build it with `--features ciphers`")
            }
            Failure::CipherRefused { message } => error(message.clone(), "refused here"),
            Failure::CipherOverflow { message } => error(message.clone(), "computed here")
                .help("narrower numbers, or more primes of `bfv`, leave room"),
            Failure::NoiseExhausted { message } => error(message.clone(), "computed here")
                .help("fewer products in a row, or a larger degree of `bfv`, leave room"),
            Failure::StoredOtherwise { from, to } => error(
                format!("a mistake inside Felis: `{from}` is not stored as `{to}` is"),
                "please report this program",
            ),
            Failure::Internal { message } => {
                error(format!("a mistake inside Felis: {message}"), "please report this program")
            }
        }
    }
}

/// Returns a count of numbers as text.
fn number_count_text(count: usize) -> String {
    if count == 1 { "1 number".into() } else { format!("{count} numbers") }
}

/// Returns the text of an equation of sizes.
pub(super) fn format_equation(left: &Type, right: &Type) -> Arc<str> {
    Arc::from(format!("{} == {}", left.size_text(), right.size_text()))
}

/// Returns a number of bytes as text with a unit.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{amount:.1} {}", UNITS[unit]) }
}
