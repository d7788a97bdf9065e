//! `E08xx`: sizes known only at run time.

use crate::diagnostic::{Diagnostic, HelpRequest, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// The errors about sizes known only at run time.
    pub enum SizeError {
        /// The type of a value mentions a size beyond the scope of the size.
        E0801 Escapes { span: Span, name: String, ty: Type, opened: Span, inside: Inside },
        /// `?N` at a place where no size is opened.
        E0802 NotOpened { span: Span, name: String },
        /// A size that nothing determines.
        E0803 Unknown { span: Span, name: String },
        /// Two types that differ in sizes known only at run time.
        E0804 NotKnownEqual {
            span: Span,
            from: Type,
            to: Type,
            left: Type,
            right: Type,
            /// The statement before which the sizes can be required equal.
            before: Option<Span>,
            /// A size without a name that can be written.
            unnamed: Option<String>,
        },
        /// Required sizes that are never equal. `because` is true if earlier equations contribute.
        E0805 NeverEqual { span: Span, left: Type, right: Type, because: bool },
        /// An equation with more than one unknown size.
        E0806 TwoUnknown { span: Span },
        /// An unknown size that occurs twice in its equation, or in a power.
        E0807 NotLinear { span: Span, name: String },
        /// A read of a file without a stated type of its content.
        E0808 NothingStated { span: Span, name: String, stated: Option<Type> },
        /// A read or write of a file at a type that the file cannot hold; `part` is the part that
        /// it cannot hold.
        E0809 NotStored { span: Span, ty: Type, part: Type },
        /// An unknown size in the type of a file that is not an axis of its own.
        E0810 NotAnAxis { span: Span, ty: Type },
        /// A field of a record in a file with an unknown size, which would be the same for all
        /// rows. `columns` are the fields of a struct with a size for each row.
        E0813 SharedSize { span: Span, ty: Type, field: String, columns: String },
        /// A field with a size of its own, where the file format has no lists.
        E0814 NoLists { span: Span, prim: &'static str, reads: bool, field: String, list: String },
        /// A store through a field with a size of its own.
        E0812 StoredThrough { span: Span, name: String, field: String },
        /// A size that is shown in the type of a value and has no name in the program.
        E0811 Unnamed { span: Span, name: String, value: String },
        /// Required sizes that are always equal.
        W0004 AlwaysEqual { span: Span, left: Type, right: Type },
        /// A required equation that is checked and never used.
        N0002 NotUsed { span: Span, left: Type, right: Type },
    }
}

/// The scope in which a size is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A branch of `if` or `match`.
    Branch,
    /// A block `{ …; e }`.
    Block,
    /// The body of a comprehension.
    Element,
    /// The array that a clause of a comprehension iterates over.
    Clause,
    /// The body of a function whose result type is known outside.
    Body,
}

impl SizeError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use SizeError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::Escapes { span, name, ty, opened, inside } => {
                let (place, why, help) = match inside {
                    Inside::Branch => (
                        "this branch",
                        "the other branches need not have it",
                        "a function with a result such as `int ^ ?K` may choose the size by branches",
                    ),
                    Inside::Block => (
                        "this block",
                        "it has no name outside",
                        "let the statement that asks for it stand before the expression",
                    ),
                    Inside::Element => (
                        "one element of this comprehension",
                        "each element would have a size of its own, and the elements of an array have one type",
                        "take each element to one type, by a sum or a text for instance",
                    ),
                    Inside::Clause => (
                        "one round of the clauses before",
                        "each round would walk another shape, and a comprehension has one",
                        "walk all in a loop, or make the array before the comprehension",
                    ),
                    Inside::Body => (
                        "this function",
                        "each call would give a size of its own, and here all results have one type",
                        "take the result to one type inside the function",
                    ),
                };
                let d = error(
                    span,
                    format!("the size `{name}` is known only inside {place}"),
                    format!("this is of type `{ty}`"),
                );
                let d =
                    if opened == span { d } else { d.label(*opened, format!("`{name}` comes from here")) };
                d.note(why).help(help)
            }
            E::NotOpened { span, name } => error(
                span,
                format!("no size arrives here for `?{name}` to name"),
                "not a place for `?`".into(),
            )
            .note("`?` names a size in the type of a variable, and one that a function chooses in its result")
            .help(format!(
                "what is there for every size has it as a type parameter: `[{name}:COMPACTLINEAR]`"
            )),
            E::Unknown { span, name } => error(
                span,
                format!("nothing tells what size `{name}` is"),
                "the value has no type of its own here".into(),
            )
            .help("write the size"),
            E::NotKnownEqual { span, from, to, left, right, before, unnamed } => {
                let (left, right) = (left.size_text(), right.size_text());
                let d = error(
                    span,
                    format!("sizes `{left}` and `{right}` are not known to be equal"),
                    format!("from `{from}` to `{to}`"),
                );
                let equation = format!("require {left} == {right};");
                match (unnamed, before) {
                    (Some(name), _) => d.help(format!(
                        "give `{name}` a name, as in `val x : int ^ ?{name} = …`, and then `{equation}` checks it when it runs"
                    )),
                    (None, Some(before)) => d.fix(
                        format!("`{equation}` checks it when it runs"),
                        Span { end: before.start, ..*before },
                        format!("{equation} "),
                    ),
                    (None, None) => d.help(format!("`{equation}` checks it when it runs")),
                }
            }
            E::NeverEqual { span, left, right, because } => {
                let (left, right) = (left.size_text(), right.size_text());
                let d = error(
                    span,
                    format!("`{left} == {right}` never holds"),
                    "the program could only stop here".into(),
                );
                if *because { d.note("what has been required before is taken as true") } else { d }
            }
            E::TwoUnknown { span } => {
                error(span, "one equation finds one size".into(), "a second size to be found".into())
                    .help("name the other size where it arrives, or require one after the other")
            }
            E::NotLinear { span, name } => error(
                span,
                format!("`?{name}` is found only where it stands once, outside of powers"),
                "this one has several places, or is part of a power".into(),
            )
            .help("let the size arrive with a value, and require the equation of it"),
            E::NothingStated { span, name, stated } => {
                let message = format!("nothing says what type `{name}` is to read");
                let example = match name.as_str() {
                    "csv" | "arrow" | "parquet" => "val x : (name:string, age:int) ^ ?N",
                    "ugrid" => r"val x : int ^ (?N \* ?M)",
                    _ => r"val x : real ^ (?N \* ?M)",
                };
                let d = match stated {
                    Some(ty) => error(span, message, format!("`{ty}` leaves the elements open")),
                    None => error(span, message, "of any type so far".into()),
                };
                d.help(format!("state it where the result gets its name: `{example} = {name} …;`"))
                    .request_help(HelpRequest::FileType)
            }
            E::NotStored { span, ty, part } => {
                let what = match part == ty {
                    true => "of this type".to_string(),
                    false => format!("it holds `{part}`"),
                };
                let d = error(span, format!("no file holds `{ty}`"), what);
                match part.is_exists() {
                    true => d.note("a list in a file holds numbers, texts or truth values, along one axis"),
                    false => d.note("files hold numbers, complex ones too, texts, truth values, compact values, variants without arguments, and options, records and arrays of these"),
                }
            }
            E::NotAnAxis { span, ty } => {
                error(span, format!("`{ty}` has a size to be found that is no axis"), "read here".into())
                    .help(r"let `?N` stand alone, or beside others as in `?N \* 3`")
            }
            E::SharedSize { span, ty, field, columns } => error(
                span,
                format!("`{ty}` has one size for `{field}` of all rows, and a file has one in each"),
                "read here".into(),
            )
            .help(format!("a struct brings a size along in each row: `struct row {{{columns} }}` is read as `row ^ ?N`")),
            E::NoLists { span, prim, reads, field, list } => {
                let does = if *reads { "reads" } else { "writes" };
                let d = error(
                    span,
                    format!("`{prim}` {does} no lists, and `{field}` is one, of type `{list}`"),
                    format!("{does} no column of lists"),
                );
                let (arrow, parquet) =
                    if *reads { ("arrow", "parquet") } else { ("write_arrow", "write_parquet") };
                d.help(match (prim.contains("csv"), reads) {
                    (true, true) => format!(
                        "read `{field}` as `string`, and `numbers` makes an array of each; `{arrow}` and `{parquet}` read lists"
                    ),
                    (true, false) => format!(
                        "write `{field}` as a text, `map str x |> join \" \"`; `{arrow}` and `{parquet}` write lists"
                    ),
                    (false, _) => format!("`{arrow}` and `{parquet}` do"),
                })
            }
            E::StoredThrough { span, name, field } => error(
                span,
                "no store goes through a field that brings its size along".into(),
                format!("`{field}` may have another size each time it is stored"),
            )
            .help(format!("`{name} = {name} with ({field} = …);` stores the field as a whole; nothing is copied that is not read again")),
            E::Unnamed { span, name, value } => {
                error(span, format!("the size `{name}` of `{value}` has no name here"), "not a type".into())
                    .note("a size that arrives gets its name where a value of it is bound")
                    .help(format!(
                        "bind the value again and name its size: `val a : int ^ ?{name} = {value};`"
                    ))
            }
            E::AlwaysEqual { span, left, right } => Diagnostic::warning(
                code,
                *span,
                format!("`{} == {}` always holds", left.size_text(), right.size_text()),
                "nothing is required",
            ),
            E::NotUsed { span, left, right } => Diagnostic::note_at(
                code,
                *span,
                format!(
                    "`{} == {}` is checked here, and nothing is concluded from it",
                    left.size_text(),
                    right.size_text()
                ),
                "an equation of this form",
            )
            .note("used are equations that give a variable, products and sums of different variables"),
        }
    }
}
