//! `E1101` to `E1118`: places, and what several parties may do.

use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// The errors about places.
    pub enum PlaceError {
        /// Places where no party is declared.
        E1101 NoParty { span: Span },
        /// A second declaration of parties.
        E1102 SecondParty { span: Span, previous: String },
        /// A declaration of parties in a block or in an imported module.
        E1102 PartyHere { span: Span },
        /// More parties than a set of places can have.
        E1102 TooManyParties { span: Span, found: usize, limit: usize },
        /// A type after `@`, or after `at`, that is no set of places.
        E1103 NotPlaces { span: Span, ty: Type },
        /// A name in a set of places that is no place.
        E1103 NotAPlace { span: Span, name: String, places: Vec<String> },
        /// `at` inside `at`, or a value at places inside a value at places.
        E1104 Nested { span: Span, outer: Option<Span> },
        /// A call, inside `at`, of a function that has work at places of its own.
        E1104 WorkInside { span: Span, name: String, at: Span },
        /// A value at places where each value has to be the same for all: an element, a case, a
        /// field, a type argument.
        E1105 Spread { span: Span, ty: Type, role: String },
        /// A comparison of values at places.
        E1105 SpreadCompared { span: Span, ty: Type },
        /// A value at places that the work at hand is not at.
        E1106 NotHere { span: Span, ty: Type, here: Type, at: Span },
        /// Operands without a common place.
        E1107 Disjoint { span: Span, first: Type, second: Type },
        /// A value at other places than are wanted.
        E1107 OtherPlaces { span: Span, found: Type, expected: Type },
        /// A value at places where a public one is needed.
        E1108 NotPublic { span: Span, ty: Type, what: String },
        /// An effect outside of `at` that the parties may not have in common.
        E1109 Effect { span: Span, name: String, party: String },
        /// An effect of the statements of a module.
        E1109 EffectOfModule { span: Span, name: String },
        /// A move inside `at`.
        E1110 MoveInside { span: Span, name: String, at: Span },
        /// A move in an expression that is work at places because of a value at places in it.
        E1110 MoveInLifted { span: Span, name: String, places: Type },
        /// A move in a pure function, or in an expression whose parts have no order.
        E1111 MoveInPure { span: Span, name: String, header: Option<Span> },
        /// A function that moves data, used as a value.
        E1112 JointValue { span: Span, name: String },
        /// `joint` before something that is no `fun` of the top level.
        E1112 JointHere { span: Span },
        /// `joint` in an instance, before a method that moves no data.
        E1112 JointMethod { span: Span, name: String },
        /// A store inside `at` into a variable that is not at these places.
        E1113 StoreElsewhere { span: Span, name: String, ty: Type, here: Type },
        /// A store outside `at` into a part of a variable that is at places.
        E1113 PartStored { span: Span, name: String, places: Type },
        /// A call inside `at` of a procedure that changes variables of all parties, or may.
        E1113 ProcedureInside { span: Span, name: String, here: Type, variable: Option<String> },
        /// A statement that leaves the work at a place: `return`, `break` or `continue` of a loop
        /// around.
        E1114 LeavesAt { span: Span, word: &'static str },
        /// A procedure applied to a value at places, outside of `at`.
        E1115 ProcedureOfPlaced { span: Span, name: String, places: Type },
        /// Data that cannot be moved.
        E1116 NotWire { span: Span, ty: Type, part: Type, by: Option<String> },
        /// A size that is known at some places only, mentioned elsewhere.
        E1117 SizeElsewhere { span: Span, name: String, places: Type },
        /// A move that does not carry sizes, of an array whose size is known at some places only.
        E1117 SizeMoved { span: Span, name: String, size: String, places: Type },
        /// A size to be told that all parties know.
        E1117 SizePublic { span: Span, name: String },
        /// Joined values that have a place in common, or places that are not known.
        E1118 Overlap { span: Span, first: Type, second: Type },
    }
}

impl PlaceError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use PlaceError as E;
        let error = |span: &Span, message: String, label: String| {
            Diagnostic::error(self.code(), *span, message, label)
        };
        match self {
            E::NoParty { span } => {
                error(span, "the program declares no parties".into(), "there are no places".into())
                    .help("`party Party = alice | bob | carol;` declares them")
            }
            E::SecondParty { span, previous } => error(
                span,
                "a program declares its parties once".into(),
                format!("`{previous}` is declared already"),
            ),
            E::PartyHere { span } => error(
                span,
                "parties are declared at the top level of the main program".into(),
                "not here".into(),
            )
            .help(
                "a function for any places has a type parameter for them: `fun f[S:PLACES](x:int @ S) => …`",
            ),
            E::TooManyParties { span, found, limit } => {
                error(span, format!("a program has {limit} parties at most"), format!("these are {found}"))
            }
            E::NotPlaces { span, ty } => {
                error(span, format!("`{ty}` is no set of places"), "places are needed here".into()).help(
                    "a place, a set `{alice, bob}`, the type of all parties, or a parameter of kind PLACES",
                )
            }
            E::NotAPlace { span, name, places } => {
                let known: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
                error(span, format!("`{name}` is no place"), "not a party".into())
                    .help(format!("the places are {}", known.join(", ")))
            }
            E::Nested { span, outer } => {
                let label = "places inside places".to_string();
                match outer {
                    Some(outer) => error(span, "work at a place is not done at another place".into(), label)
                        .label(*outer, "inside this work"),
                    None => error(span, "a value at a place is not at another place as well".into(), label),
                }
            }
            E::WorkInside { span, name, at } => error(
                span,
                format!("`{name}` has work at places, which is not done at another place"),
                "places inside places".into(),
            )
            .label(*at, "inside this work")
            .help("call it outside of `at`"),
            E::Spread { span, ty, role } => {
                error(span, format!("`{ty}` cannot {role}"), "each place has a value of its own".into())
                    .help("`(T ^ I) @ S` is an array at S; `at S { … }` works on what is there")
            }
            E::SpreadCompared { span, ty } => {
                error(span, format!("`{ty}` cannot be compared"), "each place has a value of its own".into())
                    .help("`at S { … }` compares what is there; the result is at S as well")
            }
            E::NotHere { span, ty, here, at } => {
                let d = error(span, format!("`{here}` has no part of `{ty}`"), "this is elsewhere".into())
                    .label(*at, format!("this work is done at `{here}`"));
                match ty.as_placed() {
                    Some((_, places)) if places.has_kind(crate::types::Kind::Place) => {
                        d.help(format!("move it before: `x.send[{here}]`, or `x.reveal`, which tells all"))
                    }
                    _ => d.help("move it there before"),
                }
            }
            E::Disjoint { span, first, second } => error(
                span,
                "no place has both operands".into(),
                format!("one is at `{first}`, the other at `{second}`"),
            )
            .help("`send` moves one of them to the place of the other"),
            E::OtherPlaces { span, found, expected }
                if expected.as_placed().is_some_and(|(_, places)| places.has_meta()) =>
            {
                error(
                    span,
                    "a value of one place is needed, which gives its own".into(),
                    format!("this is `{found}`"),
                )
                .help("`val y : T @ alice = x;` keeps what one of the places has")
            }
            E::OtherPlaces { span, found, expected } => {
                let d = error(
                    span,
                    format!("`{found}` is not where `{expected}` is needed"),
                    format!("this is `{found}`"),
                );
                match (found.as_placed(), expected.as_placed()) {
                    (Some((_, from)), Some((_, to))) if to.is_within_places(from) => {
                        d.help(format!("`val y : T @ {to} = x;` keeps what is there"))
                    }
                    (Some((_, from)), Some((_, to)))
                        if from.has_kind(crate::types::Kind::Place)
                            && to.has_kind(crate::types::Kind::Place) =>
                    {
                        d.help(format!("`x.send[{to}]` moves a value of one place"))
                    }
                    _ => d,
                }
            }
            E::NotPublic { span, ty, what } => {
                let message = format!("{what} is needed here that is public, the same for all parties");
                let d = error(span, message, format!("this is `{ty}`"));
                match ty.as_placed() {
                    Some((_, places)) => d.help(format!(
                        "inside `at {places} {{ … }}` it may depend on values that are there; `reveal` tells all"
                    )),
                    None => d,
                }
            }
            E::Effect { span, name, party } => {
                error(span, format!("`{name}` may be different for each party"), "outside of `at`".into())
                    .help(format!("say who does it: `at {party} {{ … }}`"))
            }
            E::EffectOfModule { span, name } => error(
                span,
                format!("`{name}` may be different for each party, and all of them carry out this module"),
                "outside of `at`".into(),
            )
            .help("export a `proc` for it, and call that in `at`"),
            E::MoveInside { span, name, at } => error(
                span,
                format!("`{name}` moves data between places, and here only some of them work"),
                "a move".into(),
            )
            .label(*at, "inside this work")
            .help("move before or after `at`"),
            E::MoveInLifted { span, name, places } => error(
                span,
                format!("`{name}` moves data, and a value in this expression makes it work at `{places}`"),
                "a move".into(),
            )
            .help("move before, and give the result a name"),
            E::MoveInPure { span, name, header } => {
                let d = error(
                    span,
                    format!("`{name}` moves data, and here the order of evaluation is not fixed"),
                    "a move".into(),
                );
                match header {
                    Some(header) => d.label(*header, "this function is pure").help(
                        "a `joint fun` of the top level may move; elsewhere move before, and use the result",
                    ),
                    None => d.help("move the whole array at once, before or after"),
                }
            }
            E::JointValue { span, name } => error(
                span,
                format!("`{name}` moves data and is no value"),
                "neither an argument nor the value of a variable".into(),
            )
            .help("call it; for all elements of an array there is a call of the whole array"),
            E::JointHere { span } => error(
                span,
                "`joint` stands before a `fun` of the top level or a class with one group of parameters"
                    .into(),
                "not here".into(),
            ),
            E::JointMethod { span, name } => error(
                span,
                format!("the class has `{name}` as a method that moves no data"),
                "this one would".into(),
            )
            .help(format!("the class may declare it as `joint fun {name} : …;`")),
            E::StoreElsewhere { span, name, ty, here } => {
                error(span, format!("work at `{here}` cannot change `{name}`"), format!("this is `{ty}`"))
                    .help(format!("declare it at these places: `var {name} : … @ {here} = …`"))
            }
            E::PartStored { span, name, places } => error(
                span,
                format!("`{name}` is at `{places}`, and so is a part of it"),
                "stored into outside of work there".into(),
            )
            .help(format!("`at {places} {{ … }}` stores into it")),
            E::ProcedureInside { span, name, here, variable } => {
                let message = match variable {
                    Some(variable) => {
                        format!("work at `{here}` cannot call `{name}`, which changes `{variable}`")
                    }
                    None => format!("work at `{here}` calls no procedure that is not known here"),
                };
                error(span, message, "the other parties do not see it".into())
                    .help("a function that returns the new value can be called at a place")
            }
            E::LeavesAt { span, word } => error(
                span,
                format!("`{word}` cannot leave the work at a place"),
                "the other parties do not see it".into(),
            ),
            E::ProcedureOfPlaced { span, name, places } => error(
                span,
                format!("`{name}` is carried out by all parties, and this argument is at `{places}`"),
                "not public".into(),
            )
            .help(Help::from(format!("`at {places} {{ {name} …; }}` does it there"))),
            E::NotWire { span, ty, part, by } => {
                let reason = match ty == part {
                    true => "only numbers, codes, texts and what consists of them".into(),
                    false => format!("`{part}` is no data"),
                };
                let label = match by {
                    Some(by) => format!("`{by}` moves it; {reason}"),
                    None => reason,
                };
                error(span, format!("`{ty}` cannot be moved"), label)
            }
            E::SizeElsewhere { span, name, places } => error(
                span,
                format!("the size `{name}` is known at `{places}` only"),
                "mentioned elsewhere".into(),
            )
            .help(format!("`at {places} {{ … }}` may use it; `reveal {name};` before tells it to all")),
            E::SizeMoved { span, name, size, places } => error(
                span,
                format!("`{name}` moves arrays of public size, and `{size}` is known at `{places}` only"),
                "a size of the moved value".into(),
            )
            .help(format!(
                "`send`, `give` and `reveal` carry sizes along; `reveal {size};` before tells it to all"
            )),
            E::SizePublic { span, name } => error(
                span,
                format!("the size `{name}` is not known at one place only"),
                "`reveal` tells a size that has arrived at a place".into(),
            )
            .help(format!("all parties know it: leave out `reveal {name};`")),
            E::Overlap { span, first, second } => error(
                span,
                format!("`join` takes values of disjoint places, and these are at `{first}` and `{second}`"),
                match first.as_places().is_some() && second.as_places().is_some() {
                    true => "not disjoint".into(),
                    false => "not known to be disjoint".into(),
                },
            ),
        }
    }
}
