//! What the checker says: one enum, one way to become a diagnostic.
//!
//! `E02xx` types, kinds and inference · `E03xx` isomorphism and conversion · `E04xx` names,
//! functions, operators, patterns, statements · `W0xxx` warnings · `N0xxx` notes. What is larger has
//! an enum of its own: `E06xx` classes · `E07xx` kinds and type functions · `E08xx` run-time sizes ·
//! `E09xx` modules.

pub(super) mod class;
mod kind;
pub mod module;
mod moves;
mod rest;
mod size;

pub use class::ClassError;
pub use kind::KindError;
pub use module::ModuleError;
pub use moves::MoveError;
pub use rest::RestError;
pub use size::{Inside, SizeError};

use crate::diagnostic::{Diagnostic, Help};
use crate::source::Span;
use crate::types::{Triangle, Type, TypeKind};
use num_bigint::{BigInt, BigUint};

/// One error, warning or note of the checker.
#[derive(Clone, Debug)]
pub enum CheckError {
    Class(ClassError),
    Kind(KindError),
    Module(ModuleError),
    Move(MoveError),
    /// What concerns the first components and the rest.
    Rest(RestError),
    Size(SizeError),
    UnknownType {
        span: Span,
        name: String,
        similar: Option<String>,
        /// A variable or function has this name.
        value: bool,
    },
    NotCompact {
        span: Span,
        /// The type as it is written.
        shown: String,
        role: &'static str,
        /// The compact type of that shape.
        instead: Option<String>,
        /// What keeps a declared type from being one.
        why: Option<String>,
    },
    TypeArity {
        span: Span,
        name: String,
        expected: usize,
        found: usize,
    },
    WrongKind {
        span: Span,
        ty: Type,
        expected: String,
        name: String,
    },
    RecursiveType {
        span: Span,
        name: String,
    },
    InfiniteStruct {
        span: Span,
        name: String,
    },
    Duplicate {
        span: Span,
        what: &'static str,
        name: String,
    },
    UnknownKind {
        span: Span,
        name: String,
        declared: Vec<String>,
    },
    TypeTooLarge {
        span: Span,
    },
    CannotInfer {
        span: Span,
        what: String,
        instead: String,
    },
    ArrayTooLarge {
        span: Span,
        ty: Type,
    },
    Mismatch {
        span: Span,
        expected: Type,
        found: Type,
        because: Option<(Span, String)>,
        hint: Option<Help>,
    },
    NotNatural {
        span: Span,
        from: Type,
        to: Type,
        message: String,
        notes: Vec<String>,
        help: Option<String>,
    },
    /// Types whose storage could not be compared within the bounds of the decider.
    Undecided {
        span: Span,
        from: Type,
        to: Type,
        notes: Vec<String>,
    },
    NoConversion {
        span: Span,
        from: Type,
        to: Type,
        why: String,
        help: Option<String>,
    },
    CodeRange {
        span: Span,
        value: BigInt,
        ty: Type,
        size: String,
    },
    LiteralRange {
        span: Span,
        value: BigInt,
        ty: Type,
    },
    RealLiteralRange {
        span: Span,
        value: f64,
        ty: Type,
    },
    UnknownName {
        span: Span,
        name: String,
        similar: Option<String>,
    },
    /// `real (n)`.
    TypeApplied {
        span: Span,
        name: String,
        /// The type that is meant.
        ty: &'static str,
        argument: Span,
        /// The argument is a text.
        text: bool,
    },
    /// `x.real`.
    TypeAfterDot {
        span: Span,
        name: String,
        /// What stands before the dot is a text.
        text: bool,
    },
    /// `m.(0 \, 1)` where an index has not two parts.
    IndexParts {
        span: Span,
        found: usize,
        axes: usize,
        index: Type,
        array: Type,
    },
    /// `m.(0 \, 7)` where an axis is shorter.
    AxisRange {
        span: Span,
        code: BigUint,
        axis: Type,
        array: Type,
    },
    /// `x = 5;` where no `x` is declared.
    AssignedUnknown {
        span: Span,
        name: String,
        similar: Option<String>,
        /// It gets a value from what it has.
        compound: bool,
    },
    NotAFunction {
        span: Span,
        ty: Type,
        argument: Span,
        /// What to write instead.
        help: Option<Help>,
    },
    /// What is piped into is a tuple as it is written.
    TupleApplied {
        span: Span,
        argument: Span,
    },
    NoOverload {
        span: Span,
        name: String,
        argument: Type,
        candidates: Vec<String>,
        help: Option<Help>,
    },
    Ambiguous {
        span: Span,
        name: String,
        candidates: Vec<String>,
    },
    NearByConversion {
        span: Span,
        name: String,
        argument: Type,
        near: Type,
        far: Type,
        place: &'static str,
    },
    RecursiveUntyped {
        span: Span,
        name: String,
        declared: Span,
    },
    ProcedureInFun {
        span: Span,
        name: String,
        header: Span,
    },
    ReaderInFun {
        span: Span,
        name: String,
        header: Option<Span>,
    },
    StoreOutside {
        span: Span,
        name: String,
        header: Span,
    },
    NotAVar {
        span: Span,
        name: String,
        declared: Option<Span>,
        /// The word `val` of its declaration.
        word: Option<Span>,
    },
    ValueWithTypeArguments {
        span: Span,
        name: String,
    },
    ProcedureAsValue {
        span: Span,
    },
    MissingReturn {
        span: Span,
        name: String,
    },
    OutsideFunction {
        span: Span,
        what: &'static str,
        needs: &'static str,
    },
    NotExhaustive {
        span: Span,
        missing: String,
        /// Whether an arm has a condition: such arms cover nothing for sure.
        guarded: bool,
        /// The arms that it lacks, and where they would stand.
        edit: (Span, String),
    },
    Refutable {
        span: Span,
        missing: String,
    },
    PatternMismatch {
        span: Span,
        what: String,
        ty: Type,
        help: Option<String>,
    },
    NoOperator {
        span: Span,
        op: &'static str,
        left: Type,
        right: Option<Type>,
        help: Option<Help>,
    },
    IndexTypesDiffer {
        span: Span,
        op: &'static str,
        left: Type,
        right: Type,
        /// What to write instead.
        help: Option<String>,
    },
    NoField {
        span: Span,
        name: String,
        ty: Type,
        fields: Vec<String>,
    },
    NoComponent {
        span: Span,
        index: BigUint,
        ty: Type,
        count: String,
    },
    WrongIndex {
        span: Span,
        found: Type,
        index: Type,
        array: Type,
        help: Option<Help>,
    },
    NotIndexable {
        span: Span,
        ty: Type,
    },
    DynamicComponent {
        span: Span,
        ty: Type,
    },
    UntypedParameter {
        span: Span,
        name: String,
    },
    ResultNeeded {
        span: Span,
        name: String,
        declared: Span,
    },
    DuplicateFunction {
        span: Span,
        name: String,
        previous: Span,
    },
    CaseRange {
        span: Span,
        index: BigUint,
        ty: Type,
        count: String,
    },
    NotASum {
        span: Span,
        ty: Type,
    },
    /// `i in s` where `s` is no set.
    NotASet {
        span: Span,
        ty: Type,
    },
    CaseNeedsType {
        span: Span,
    },
    NotAPlace {
        span: Span,
        /// A function in it that computes something new.
        function: Option<String>,
    },
    /// Arguments with names that no function takes.
    WrongNamed {
        span: Span,
        words: String,
        help: String,
    },
    /// Names of parameters where no function is known by name.
    NamedHere {
        span: Span,
        /// To a method of a class.
        method: bool,
    },
    /// A default that no call can use.
    DefaultHere {
        span: Span,
    },
    /// `x with (…)`, `(...x)` of a value without fields.
    NotARecord {
        span: Span,
        ty: Type,
    },
    /// `r with (x = 3)` where `r` has no `x`.
    UpdatedField {
        span: Span,
        name: String,
        ty: Type,
        known: Vec<String>,
        similar: Option<String>,
    },
    /// A type declared in a block mentions a variable of the types around it.
    LocalTypeMentions {
        span: Span,
        name: String,
        variable: String,
        /// It is a type function.
        function: bool,
    },
    GenericLocal {
        span: Span,
        name: String,
    },
    ConstructorArgument {
        span: Span,
        name: String,
        takes: bool,
        ty: Option<Type>,
    },
    NotIterable {
        span: Span,
        ty: Type,
        list: bool,
    },
    IntRangeSize {
        span: Span,
    },
    IntRangeValue {
        span: Span,
    },
    /// `..<n` of a loop, where `n` is no index.
    UpToNoIndex {
        span: Span,
        ty: Type,
        inclusive: bool,
    },
    /// A statement with an effect in `{ …; e }`.
    BlockEffect {
        span: Span,
        what: String,
    },
    /// `5..1` in a pattern.
    EmptyRange {
        span: Span,
    },
    /// A variable in `p | q`.
    /// A name that another alternative of a pattern binds, and this does not.
    BindsInAlternative {
        span: Span,
        name: String,
        bound: Span,
    },
    AlternativeTypes {
        span: Span,
        name: String,
        ty: Type,
        first: Span,
        was: Type,
    },
    OpaqueCompare {
        span: Span,
        ty: Type,
        part: Type,
    },
    PairPart {
        span: Span,
        ty: Type,
    },
    IndexLiteral {
        span: Span,
        found: Type,
        index: Type,
        code: BigUint,
    },
    Unreachable {
        span: Span,
    },
    Unused {
        span: Span,
        ty: Type,
    },
    /// A variable of an arm that has the name of a case of the library.
    CaseAsVariable {
        span: Span,
        name: String,
        /// Of the values that are matched.
        ty: Type,
        /// The type that has the case.
        variant: String,
    },
    /// A parameter of a type function that its meaning does not mention.
    UnusedInTypeFun {
        span: Span,
        name: String,
        function: String,
    },
    /// A parameter of a type that its definition does not mention.
    UnusedTypeParameter {
        span: Span,
        name: String,
        /// What has it, in words.
        whose: String,
    },
    /// A procedure that stands as a statement without an argument.
    NotCalled {
        span: Span,
        /// Its name, where it is called by one.
        name: Option<String>,
        domain: Type,
    },
    Relabels {
        span: Span,
        from: Type,
        to: Type,
        help: Option<String>,
    },
}

impl From<RestError> for CheckError {
    fn from(error: RestError) -> CheckError {
        CheckError::Rest(error)
    }
}

impl From<MoveError> for CheckError {
    fn from(error: MoveError) -> CheckError {
        CheckError::Move(error)
    }
}

impl From<SizeError> for CheckError {
    fn from(error: SizeError) -> CheckError {
        CheckError::Size(error)
    }
}

impl From<ModuleError> for CheckError {
    fn from(error: ModuleError) -> CheckError {
        CheckError::Module(error)
    }
}

impl From<ClassError> for CheckError {
    fn from(error: ClassError) -> CheckError {
        CheckError::Class(error)
    }
}

impl CheckError {
    /// The code it is known by.
    pub fn code(&self) -> &'static str {
        use CheckError as E;
        match self {
            E::UnknownType { .. } => "E0201",
            E::NotCompact { .. } => "E0202",
            E::TypeArity { .. } | E::ValueWithTypeArguments { .. } => "E0204",
            E::WrongKind { .. } => "E0205",
            E::Class(e) => e.code(),
            E::Kind(e) => e.code(),
            E::Module(e) => e.code(),
            E::Move(e) => e.code(),
            E::Rest(e) => e.code(),
            E::Size(e) => e.code(),
            E::RecursiveType { .. } => "E0206",
            E::InfiniteStruct { .. } => "E0207",
            E::Duplicate { .. } => "E0208",
            E::UnknownKind { .. } => "E0209",
            E::TypeTooLarge { .. } => "E0210",
            E::CannotInfer { .. } => "E0212",
            E::ArrayTooLarge { .. } => "E0213",
            E::Mismatch { .. } => "E0301",
            E::NotNatural { .. } => "E0302",
            E::NoConversion { .. } => "E0303",
            E::CodeRange { .. } => "E0304",
            E::LiteralRange { .. } | E::RealLiteralRange { .. } => "E0305",
            E::Undecided { .. } => "E0306",
            E::UnknownName { .. } => "E0401",
            E::NotAFunction { .. } | E::TupleApplied { .. } => "E0402",
            E::NoOverload { .. } => "E0403",
            E::Ambiguous { .. } => "E0404",
            E::ProcedureInFun { .. } | E::ReaderInFun { .. } => "E0405",
            E::StoreOutside { .. } => "E0406",
            E::NotAVar { .. } => "E0407",
            E::ProcedureAsValue { .. } => "E0408",
            E::MissingReturn { .. } => "E0409",
            E::OutsideFunction { .. } => "E0410",
            E::NotExhaustive { .. } => "E0411",
            E::Refutable { .. } => "E0412",
            E::PatternMismatch { .. } => "E0413",
            E::NoOperator { .. } => "E0414",
            E::IndexTypesDiffer { .. } => "E0415",
            E::NoField { .. } => "E0416",
            E::NoComponent { .. } => "E0417",
            E::WrongIndex { .. } => "E0418",
            E::NotIndexable { .. } => "E0419",
            E::DynamicComponent { .. } => "E0420",
            E::UntypedParameter { .. } => "E0421",
            E::ResultNeeded { .. } => "E0422",
            E::DuplicateFunction { .. } => "E0423",
            E::CaseRange { .. } => "E0424",
            E::NotASum { .. } => "E0425",
            E::NotASet { .. } => "E0470",
            E::CaseNeedsType { .. } => "E0426",
            E::NotAPlace { .. } => "E0427",
            E::GenericLocal { .. } => "E0428",
            E::LocalTypeMentions { .. } => "E0454",
            E::WrongNamed { .. } => "E0455",
            E::NamedHere { .. } => "E0456",
            E::DefaultHere { .. } => "E0457",
            E::NotARecord { .. } => "E0458",
            E::UpdatedField { .. } => "E0459",
            E::ConstructorArgument { .. } => "E0429",
            E::NotIterable { .. } => "E0430",
            E::IntRangeSize { .. } | E::IntRangeValue { .. } => "E0431",
            E::UpToNoIndex { .. } => "E0444",
            E::BlockEffect { .. } => "E0447",
            E::EmptyRange { .. } => "E0445",
            E::BindsInAlternative { .. } => "E0446",
            E::AlternativeTypes { .. } => "E0460",
            E::OpaqueCompare { .. } => "E0432",
            E::PairPart { .. } => "E0433",
            E::RecursiveUntyped { .. } => "E0434",
            E::NearByConversion { .. } => "W0020",
            E::TypeApplied { .. } | E::TypeAfterDot { .. } => "E0450",
            E::AssignedUnknown { .. } => "E0451",
            E::IndexParts { .. } => "E0452",
            E::AxisRange { .. } => "E0453",
            E::NotCalled { .. } => "E0440",
            E::UnusedTypeParameter { .. } => "W0032",
            E::UnusedInTypeFun { .. } => "W0033",
            E::CaseAsVariable { .. } => "W0005",
            E::IndexLiteral { .. } => "W0001",
            E::Unreachable { .. } => "W0002",
            E::Unused { .. } => "W0003",
            E::Relabels { .. } => "N0001",
        }
    }

    /// The message for people.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use CheckError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::Class(e) => e.to_diagnostic(),
            E::Kind(e) => e.to_diagnostic(),
            E::Module(e) => e.to_diagnostic(),
            E::Move(e) => e.to_diagnostic(),
            E::Rest(e) => e.to_diagnostic(),
            E::Size(e) => e.to_diagnostic(),
            E::UnknownType { span, name, similar: _, value: true } => {
                let d = error(span, format!("there is no type `{name}`"), "a value, not a type".into());
                match foreign_type(name) {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None => d.help(format!("a size in a type is a type: `typedef N = 3;`, or `?N` for one that arrives when the program runs, as in `val a : int ^ ?N = iota {name};`")),
                }
            }
            E::UnknownType { span, name, similar, value: false } => {
                let d = error(span, format!("there is no type `{name}`"), "not a type".into());
                if let Some(help) = foreign_form(name) {
                    return d.help(help);
                }
                match foreign_type(name).or(similar.as_deref()) {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None if name.starts_with(char::is_uppercase) => {
                        d.help(format!("a type parameter is declared in brackets, as in `fun f[{name}](…)`"))
                    }
                    None => d,
                }
            }
            E::NotCompact { span, shown: ty, role, instead, why } => {
                let d = error(
                    span,
                    format!("`{ty}` cannot {role}: it is not compact linear"),
                    format!("`{ty}` has kind TYPE, COMPACTLINEAR is needed here"),
                );
                match (instead, why) {
                    (Some(compact), _) => d.fix(
                        format!("the compact type of that shape is `{compact}`"),
                        *span,
                        format!("({compact})"),
                    ),
                    (None, Some(why)) => d.note(why),
                    (None, None) => d.note("compact linear types are `0`, `1`, `2` …, what `\\*`, `\\+`, `\\^` make of them, newtypes of those, and enumerations"),
                }
            }
            E::TypeArity { span, name, expected, found } => {
                let instead = if *expected == 0 { String::new() } else { format!(", not {found}") };
                let d = error(
                    span,
                    format!("`{name}` takes {}{instead}", count(*expected, "type argument")),
                    format!("{} given", count(*found, "type argument")),
                );
                match crate::types::Scalar::named(name) {
                    Some(_) => d.help(format!("the type of an array is written `{name} ^ 3`")),
                    None => d,
                }
            }
            E::WrongKind { span, ty, expected, name } => error(
                span,
                format!("`{ty}` cannot be the type argument `{name}`, whose kind is {expected}"),
                format!("`{ty}` is not of kind {expected}"),
            ),
            E::RecursiveType { span, name } => error(
                span,
                format!("the definition of `{name}` needs `{name}` itself"),
                "defined by itself".into(),
            )
            .help("a `variant` can mention itself"),
            E::InfiniteStruct { span, name } => error(
                span,
                format!("a value of `{name}` would contain another `{name}`, and so on for ever"),
                "contains itself".into(),
            )
            .help("put the inner one into a case of a `variant`, such as `option`"),
            E::Duplicate { span, what, name } => {
                error(span, format!("the {what} `{name}` is there twice"), "the second one".into())
            }
            E::UnknownKind { span, name, declared } => {
                let mut kinds = vec!["UNITSUM", "COMPACTLINEAR"];
                kinds.extend(declared.iter().map(String::as_str));
                error(span, format!("there is no kind `{name}`"), "not a kind".into())
                    .note(format!("the kinds are {} and TYPE", kinds.join(", ")))
            }
            E::TypeTooLarge { span } => {
                error(span, "this type is too large".into(), "has thousands of parts".into())
            }
            E::CannotInfer { span, what, instead } => {
                error(span, format!("cannot tell {what}"), "nothing here says which".into())
                    .help(instead.clone())
            }
            E::ArrayTooLarge { span, ty } => error(
                span,
                format!("an array of type `{ty}` has more elements than any memory"),
                "cannot be built".into(),
            ),
            E::Mismatch { span, expected, found, because, hint } => {
                let mut d = error(
                    span,
                    format!("expected `{expected}`, found `{found}`"),
                    format!("this is `{found}`"),
                );
                if let Some((at, why)) = because {
                    d = d.label(*at, why.clone());
                }
                match hint {
                    Some(hint) => d.help(hint.clone()),
                    None => d,
                }
            }
            E::NotNatural { span, from, to, message, notes, help } => {
                let mut d = error(span, message.clone(), format!("from `{from}` to `{to}`"));
                for note in notes {
                    d = d.note(note.clone());
                }
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::Undecided { span, from, to, notes } => {
                let message = "it is not known whether the two have the same storage";
                let mut d = error(span, message.into(), format!("from `{from}` to `{to}`"));
                for note in notes {
                    d = d.note(note.clone());
                }
                d.help("write the types with sizes in a simpler form, or go through a type between the two")
            }
            E::NoConversion { span, from, to, why, help } => {
                let d = error(span, format!("there is no conversion from `{from}` to `{to}`"), why.clone());
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::CodeRange { span, value, ty, size } => {
                let ty = counted(ty);
                let message = format!("{value} is not the code of a value of `{ty}`");
                if size == "0" {
                    return error(span, message, format!("`{ty}` has no values"));
                }
                error(span, message, format!("`{ty}` has {size} values, with codes from 0"))
                    .help(format!("`.mod[{ty}]` wraps, `.index[{ty}]` gives an option"))
            }
            E::LiteralRange { span, value, ty } => {
                let d =
                    error(span, format!("{value} is not exactly a value of `{ty}`"), "does not fit".into());
                match ty.as_scalar() {
                    Some(crate::types::Scalar::Real) => {
                        d.help("write it with a point to take the nearest `real`")
                    }
                    Some(scalar) => match scalar.bounds() {
                        Some((low, high)) => d
                            .note(format!("`{ty}` holds {low} to {high}"))
                            .help("`bigint` holds every integer"),
                        None => d.help("`bigint` holds every integer"),
                    },
                    None => d,
                }
            }
            E::RealLiteralRange { span, value, ty } => {
                error(span, format!("{value:e} is larger than any `{ty}`"), "does not fit".into())
                    .help("`real` holds larger numbers")
            }
            E::UnknownName { span, name, similar } => {
                let d = error(span, format!("there is no `{name}` here"), "not defined".into());
                let known = super::foreign_names::known(name);
                match (similar, known.or_else(|| crate::syntax::foreign_keywords::advice(name))) {
                    (_, Some(instead)) => d.help(instead),
                    (Some(other), None) => d.fix(format!("did you mean `{other}`?"), *span, other.clone()),
                    (None, None) => d,
                }
            }
            E::TypeApplied { span, name, ty, argument, text } => {
                let d = error(span, format!("`{name}` is a type, not a function"), "applied here".into());
                if *ty == "string" {
                    let edits = vec![(*span, String::new()), (argument.after(), ".str".to_string())];
                    return d.help(Help { text: "`x.str` gives a value as text".into(), edits });
                }
                if *text {
                    let reader = if matches!(*ty, "real" | "f64" | "f32" | "double") { "parse_real" } else { "parse_int" };
                    let empty = if reader == "parse_real" { "0.0" } else { "0" };
                    return d.help(format!(
                        "`{reader} text |> otherwise {empty}` reads a number from a text"
                    ));
                }
                if *ty == "bool" {
                    return d.help("a truth value comes from a comparison, such as `x != 0`");
                }
                let edits = vec![(*span, "(".to_string()), (argument.after(), format!(" :> {ty})"))];
                d.help(Help { text: format!("a value is converted by `x :> {ty}`"), edits })
            }
            E::TypeAfterDot { span, name, text } => {
                let d = error(span, format!("`{name}` is a type, not a function"), "after a dot".into());
                match (name.as_str(), text) {
                    ("string", _) => d.fix("`x.str` gives a value as text", *span, "str"),
                    ("real" | "double" | "float", true) => {
                        d.help("`parse_real text |> otherwise 0.0` reads a number from a text")
                    }
                    (_, true) => d.help("`parse_int text |> otherwise 0` reads a number from a text"),
                    ("bool", _) => d.help("a truth value comes from a comparison, such as `x != 0`"),
                    _ => d.help(format!("a value is converted by `x :> {}`", foreign_type(name).unwrap_or(name))),
                }
            }
            E::IndexParts { span, found, axes, index, array } => {
                let d = error(
                    span,
                    format!("an index of `{array}` has {}, not {found}", count(*axes, "part")),
                    format!("{} here", count(*found, "part")),
                )
                .note(format!("the index type is `{}`", index.size_text()));
                match array.unfold().kind() {
                    TypeKind::Array(element, _)
                        if *axes == 1 && matches!(element.unfold().kind(), TypeKind::Array(..)) =>
                    {
                        d.help("this is an array of arrays: take one index after the other, as in `x.(0).(1)`")
                    }
                    _ => d.help("give one part for each axis, joined by `\\,`"),
                }
            }
            E::AxisRange { span, code, axis, array } => {
                let size = axis.size_text();
                let label = match axis.as_unit_sum() {
                    Some(n) if *n == BigUint::from(0u32) => "this axis has no positions".to_string(),
                    _ => format!("the positions of this axis are numbered from 0, and there are {size}"),
                };
                error(span, format!("an axis of `{array}` has no position {code}"), label)
            }
            E::AssignedUnknown { span, name, similar, compound } => {
                let d = error(span, format!("no variable is called `{name}` here"), "not declared".into());
                let d = match similar {
                    Some(other) => d.note(format!("there is `{other}`")),
                    None => d,
                };
                let before = Span { end: span.start, ..*span };
                match compound {
                    true => d.help(format!("declare it before: `var {name} = e;`")),
                    false => d.fix(
                        format!("declare it: `val {name} = e;`, or `var {name} = e;` if it changes later"),
                        before,
                        "var ",
                    ),
                }
            }
            E::ValueWithTypeArguments { span, name } => error(
                span,
                format!("`{name}` is a value and takes no type arguments"),
                "followed by `[`".into(),
            )
            .help(format!("brackets give type arguments; an element is written `{name}.(0)`, or `{name}.i` for an index `i`")),
            E::NotAFunction { span, ty, argument, help } => {
                let d = error(span, format!("`{ty}` is not a function"), format!("this is `{ty}`"))
                    .label(*argument, "applied to this");
                if let Some(help) = help {
                    d.help(help.clone())
                } else if matches!(ty.kind(), crate::types::TypeKind::Array(..) | crate::types::TypeKind::Product(_))
                {
                    d.help("an array takes its index after a dot: `x.i`")
                } else {
                    d
                }
            }
            E::TupleApplied { span, argument } => {
                error(span, "a tuple is not a function".into(), "this is a tuple".into())
                    .label(*argument, "applied to this")
            }
            E::NoOverload { span, name, argument, candidates, help } => {
                let mut d = error(
                    span,
                    format!("no `{name}` takes `{argument}`"),
                    format!("applied to `{argument}`"),
                );
                for candidate in candidates {
                    d = d.note(candidate.clone());
                }
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::Ambiguous { span, name, candidates } => {
                let mut d = error(span, format!("several `{name}` fit here"), "which one?".into());
                for candidate in candidates {
                    d = d.note(candidate.clone());
                }
                d.help("say which by giving the argument's type, as in `fun (x:int) => …`")
            }
            E::NearByConversion { span, name, argument, near, far, place } => Diagnostic::warning(
                self.code(),
                *span,
                format!("`{argument}` is converted to `{near}` for this `{name}`"),
                format!("the nearest `{name}` that fits"),
            )
            .note(format!("`{name}` in {place} takes `{far}` as it is, and is farther"))
            .help("write the conversion with `:>`, or give the nearer function a name of its own"),
            E::RecursiveUntyped { span, name, declared } => error(
                span,
                format!("`{name}` does not see itself: the types of its parameters are not written"),
                format!("not known inside `{name}`"),
            )
            .label(*declared, "this parameter has no type")
            .help(format!("write the type, as in `fun {name}(x:int):int => …`")),
            E::ProcedureInFun { span, name, header } => error(
                span,
                match name.as_str() {
                    "" => "a `fun` is pure: it cannot call a procedure".into(),
                    _ => format!("a `fun` is pure: it cannot call the procedure `{name}`"),
                },
                "has effects".into(),
            )
            .label(*header, "this function is pure")
            .help("make the function a `proc`, or move the call out of it"),
            E::ReaderInFun { span, name, header } => {
                let message = format!("a `fun` is pure: it cannot read a file with `{name}`");
                let d = error(span, message, "reads a file".into());
                match header {
                    Some(header) => d.label(*header, "this function is pure"),
                    None => d.note("as a value, it would be a pure function"),
                }
                .help("read the file in a `proc` or at the top level, and pass on what was read")
            }
            E::StoreOutside { span, name, header } => error(
                span,
                format!("a `fun` is pure: it cannot store into `{name}`, which is not its own"),
                "belongs to the outside".into(),
            )
            .label(*header, "this function is pure")
            .help("return the new value instead, or make the function a `proc`"),
            E::NotAVar { span, name, declared, word } => {
                let d = error(
                    span,
                    format!("`{name}` cannot change: it is not a `var`"),
                    "stored into here".into(),
                );
                match declared {
                    Some(at) if name.contains("::") => {
                        d.label(*at, "made here").help("copy it into a `var` of your own")
                    }
                    Some(at) => {
                        let words = format!("make it with `var {name} = …`, or copy it into a `var` first");
                        // What another text has made, it may rely on.
                        let here = word.filter(|word| word.source == span.source);
                        d.label(*at, "made here").help(match here {
                            Some(word) => Help::instead(words, word, "var"),
                            None => Help::new(words),
                        })
                    }
                    None => d.help("only a `var` can change: give it a name of its own"),
                }
            }
            E::ProcedureAsValue { span } => error(
                span,
                "a procedure gives no value".into(),
                "this call stands where a value is needed".into(),
            )
            .help("call it as a statement of its own"),
            E::MissingReturn { span, name } => error(
                span,
                format!("`{name}` can end without a `return`"),
                "not every way through it returns a value".into(),
            )
            .help("end it with `return e;`"),
            E::OutsideFunction { span, what, needs } => error(
                span,
                format!("`{what}` outside {needs}"),
                format!("there is no {} to leave", needs.trim_start_matches("a ")),
            ),
            E::NotExhaustive { span, missing, guarded, edit } => {
                let label = "not every value fits an arm".to_string();
                let help = |text: String| Help { text, edits: vec![edit.clone()] };
                let arms = edit.1.matches("| ").count();
                let d = if missing == "_" {
                    error(span, "this match does not cover every value".into(), label)
                        .help(help("add an arm `| _ => …` for all the rest".into()))
                } else {
                    let text = match arms {
                        0 | 1 => format!("add an arm `| {missing} => …`, or `| _ => …` for all the rest"),
                        n => format!("add the {n} arms that it lacks, or `| _ => …` for all the rest"),
                    };
                    error(span, format!("this match does not cover `{missing}`"), label).help(help(text))
                };
                if *guarded { d.note("an arm with `when` may refuse whatever fits its pattern") } else { d }
            }
            E::Refutable { span, missing } => {
                error(span, format!("this pattern does not fit `{missing}`"), "must fit every value".into())
                    .help("use `match` to tell the cases apart")
            }
            E::PatternMismatch { span, what, ty, help } => {
                let d = error(
                    span,
                    format!("{what} cannot fit a value of `{ty}`"),
                    format!("the value is `{ty}`"),
                );
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::NoOperator { span, op, left, right, help } => {
                let d = match right {
                    Some(right) => error(
                        span,
                        format!("`{op}` does not take `{left}` and `{right}`"),
                        format!("`{left}` {op} `{right}`"),
                    ),
                    None => error(span, format!("`{op}` does not take `{left}`"), format!("{op} `{left}`")),
                };
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::IndexTypesDiffer { span, op, left, right, help } => {
                let d = error(
                    span,
                    format!(
                        "`{op}` works element by element, but `{left}` and `{right}` have different index types"
                    ),
                    format!("`{left}` {op} `{right}`"),
                );
                let d = match (index_size(left), index_size(right)) {
                    (Some(n), Some(m)) if n != m => d.note(format!("one has {n} elements, the other {m}")),
                    _ => d,
                };
                match (framed(left, right), help) {
                    (Some(function), _) => d.help(format!("`{function}` takes the ends off the larger one")),
                    (None, Some(help)) => d.help(help.clone()),
                    (None, None) => d,
                }
            }
            E::NoField { span, name, ty, fields } => {
                let d = error(
                    span,
                    format!("`{ty}` has no field `{name}`, and no function `{name}` takes it"),
                    "not a field".into(),
                );
                if fields.is_empty() { d } else { d.note(format!("its fields are {}", quoted(fields))) }
            }
            E::NoComponent { span, index, ty, count } => {
                error(span, format!("`{ty}` has no component {index}"), numbered("component", count))
            }
            E::WrongIndex { span, found, index, array, help } => {
                // Where an index stands, `2` is a size and not the type of truth values.
                let found = found.size_text();
                let d = error(
                    span,
                    format!("an array indexed by `{}` takes no `{found}`", index.size_text()),
                    format!("this is `{found}`"),
                )
                .note(format!("the array is `{array}`"));
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::NotIndexable { span, ty } => {
                let d = error(span, format!("`{ty}` has no components"), format!("this is `{ty}`"));
                match ty.as_scalar() {
                    Some(crate::types::Scalar::String) => {
                        d.help("`char_at (s, 0)` takes a character from a text, `substring (s, from, to)` a part")
                    }
                    _ => d,
                }
            }
            E::DynamicComponent { span, ty } => error(
                span,
                format!("the components of `{ty}` have different types, so the position must be a constant"),
                "not a constant".into(),
            )
            .help("use `match`, or an array if all components have one type"),
            E::UntypedParameter { span, name } => error(
                span,
                format!("the type of the parameter `{name}` is not known here"),
                "needs a type".into(),
            )
            .help(format!("write its type, as in `({name}:int)`")),
            E::ResultNeeded { span, name, declared } => error(
                span,
                format!("`{name}` is recursive, so its result type must be written"),
                "used before its result type is known".into(),
            )
            .label(*declared, "declared here without a result type")
            .help(format!("write `fun {name}(…) : T => …`")),
            E::DuplicateFunction { span, name, previous } => error(
                span,
                format!("`{name}` is defined twice for the same argument type"),
                "the second one".into(),
            )
            .label(*previous, "the first one"),
            E::CaseRange { span, index, ty, count } => {
                let ty = counted(ty);
                error(span, format!("`{ty}` has no case {index}"), numbered("case", count))
            }
            E::NotASum { span, ty } if matches!(ty.kind(), TypeKind::Meta(_)) => {
                error(span, "cannot tell the type of what is matched here".into(), "a case of what?".into())
                    .help("write the type of the parameter, as in `fun (x:1 + int) => …`")
            }
            E::NotASum { span, ty } if matches!(ty.unfold().kind(), TypeKind::Repeat(..)) => error(
                span,
                format!("the cases of `{ty}` have no numbers here"),
                "how many there are is not known".into(),
            )
            .help("`case i v` fits every case and names its index"),
            E::NotASum { span, ty } => error(span, format!("`{ty}` is not a sum"), "has no cases".into()),
            E::NotASet { span, ty } => {
                let error = error(span, format!("`{ty}` is not a set"), "`in` asks for a member of this".into());
                match ty.unfold().kind() {
                    TypeKind::Array(..) => error.help(
                        "a set is a `2 \\^ I`, as `set_of` makes it of indices; `any [ v == x for v in xs ]` looks \
                         through an array",
                    ),
                    _ => error.help(
                        "a set of indices is a `2 \\^ I`; a `val` or `var` stays known to the end of its block: end \
                         its statement with `;`",
                    ),
                }
            }
            E::CaseNeedsType { span } => error(
                span,
                "cannot tell which sum this case belongs to".into(),
                "nothing here says the type".into(),
            )
            .help("write `case n of T` and apply it, or declare the type of the variable"),
            E::NotAPlace { span, function } => {
                let message = "this is not a place that can be stored into".into();
                match function {
                    Some(name) => error(span, message, format!("`{name}` computes a value of its own"))
                        .help("a function gives a place if its value is a part of its argument, as with `rows m` and `proj 1 of T`"),
                    None => error(span, message, "must be a variable followed by projections".into())
                        .help("write `&x.i <- v;` with `x` a `var`"),
                }
            }
            E::GenericLocal { span, name } => error(
                span,
                format!("the local function `{name}` has type parameters: its parameters need types"),
                "the type of this is not written".into(),
            )
            .help("write the types of all parameters, as in `fun f[T](x:T):T => e;`"),
            E::WrongNamed { span, words, help } => {
                error(span, words.clone(), "in this call".into()).help(help.clone())
            }
            E::NamedHere { span, method } => error(
                span,
                "names of parameters stand only in calls of a function that is known by its name".into(),
                match method {
                    true => "a method of a class has types and no names of parameters".into(),
                    false => "what this is given to has no names".into(),
                },
            )
            .help("give the values by place; a record has a name for each field, as in `(x = 1, y = 2)`"),
            E::DefaultHere { span } => error(
                span,
                "this parameter cannot have a default".into(),
                "no call could use it".into(),
            )
            .help("functions that are declared by a name have defaults, at the top level and in blocks"),
            E::NotARecord { span, ty } => {
                error(span, format!("`{ty}` has no fields"), "neither a record nor a struct".into())
            }
            E::UpdatedField { span, name, ty, known, similar } => {
                let d = error(span, format!("`{ty}` has no field `{name}`"), "not a field".into());
                match similar {
                    Some(similar) => d.fix(format!("did you mean `{similar}`?"), *span, similar.clone()),
                    None => d
                        .note(format!("its fields are {}", quoted(known)))
                        .help("`(...r, x = e)` makes a record with further fields"),
                }
            }
            E::LocalTypeMentions { span, name, variable, function } => error(
                span,
                format!("`{name}` mentions `{variable}`, which belongs to what is around its block"),
                "it has its own parameters only".into(),
            )
            .help(match function {
                true => format!("give it one more parameter, and apply it to `{variable}` where it is used"),
                false => format!("give it a parameter: `{name}[{variable}]`, applied where it is used"),
            }),
            E::ConstructorArgument { span, name, takes, ty } => match (takes, ty) {
                (true, Some(ty)) => error(
                    span,
                    format!("`{name}` takes an argument of type `{ty}`"),
                    "without its argument".into(),
                )
                .fix(
                    format!("write `{name} _`, or a name for the argument"),
                    span.after(),
                    " _",
                ),
                _ => error(span, format!("`{name}` takes no argument"), "given an argument".into()),
            },
            E::NotIterable { span, ty, list } => {
                let d = error(span, format!("a loop cannot walk `{ty}`"), format!("this is `{ty}`"));
                match list {
                    true => d.help(Help::around(super::expr::ELEMENTS, *span, "", ".elements")),
                    false => d.help("walk `..[I]` (all values of a type), `a..b` (integers), or an array"),
                }
            }
            E::IntRangeSize { span } => error(
                span,
                "the size of a comprehension must be a type, and the length of this range is not".into(),
                "its length is known only when it runs".into(),
            )
            .help("walk `..[n]` for a number `n`"),
            E::IntRangeValue { span } => error(
                span,
                "a range of integers is not a value".into(),
                "its length is known only when it runs".into(),
            )
            .help("walk it with `for`; an array of integers is `#iota[5]`, or `iota n` for a number `n`"),
            E::UpToNoIndex { span, ty, inclusive } => {
                let sign = if *inclusive { ".." } else { "..<" };
                let d = error(
                    span,
                    format!("`{sign}` without a beginning counts indices, and `{ty}` is no index type"),
                    format!("up to a value of `{ty}`"),
                );
                match ty.as_scalar().is_some_and(crate::types::Scalar::is_integer) {
                    true => d.fix(
                        format!("integers have a beginning: `0{sign}`"),
                        Span { end: span.start, ..*span },
                        "0",
                    ),
                    false => d.help("walk all values of an index type with `..[I]`, integers with `0..<n`"),
                }
            }
            E::BlockEffect { span, what } => error(
                span,
                format!("a block with a value does nothing but compute it: {what}"),
                "an effect inside of an expression".into(),
            )
            .help("let the statement stand before the expression, or write `do … done` for statements without a value"),
            E::EmptyRange { span } => error(
                span,
                "this range holds no value".into(),
                "its end comes before its beginning".into(),
            )
            .help("the smaller end comes first: `1..5`, or `1..<6`"),
            E::BindsInAlternative { span, name, bound } => error(
                span,
                format!("`{name}` is bound in one alternative of a pattern and not in another"),
                format!("this binds no `{name}`"),
            )
            .label(*bound, "bound here")
            .help(format!(
                "bind `{name}` in each alternative; or write `_` for what may be anything, or an arm for each pattern"
            )),
            E::AlternativeTypes { span, name, ty, first, was } => error(
                span,
                format!("`{name}` has another type in each alternative of a pattern"),
                format!("`{ty}`"),
            )
            .label(*first, format!("`{was}`"))
            .help("write an arm for each pattern"),
            E::OpaqueCompare { span, ty, part } => {
                use crate::types::TypeKind as K;
                let (label, help) = match part.kind() {
                    K::Var(_) | K::Apply(..) | K::Rest(_) => (
                        format!("nothing says that values of `{part}` can be compared"),
                        format!("ask for it in the header: `with Eq[{part}]`"),
                    ),
                    K::Nominal(nominal, _) if nominal.as_abstract().is_some() => (
                        format!("`{part}` is abstract: its values are not known"),
                        "its module may give it an instance of `Eq`".to_string(),
                    ),
                    K::Nominal(..) => (
                        format!("the instance of `Eq` for `{part}` does not hold here"),
                        format!("see what it requires of the arguments of `{part}`"),
                    ),
                    _ if part == ty => {
                        (format!("`{part}` is a function"), "compare what the functions give".to_string())
                    }
                    _ => (
                        format!("`{ty}` holds a function, `{part}`"),
                        "compare the parts that are data, or write an instance of `Eq` for a declared type"
                            .to_string(),
                    ),
                };
                error(span, format!("values of `{ty}` cannot be compared here"), label).help(help)
            }
            E::PairPart { span, ty } => error(
                span,
                format!("a part of `{ty}` cannot be stored into: its two parts depend on one another"),
                "part of a pair".into(),
            )
            .help(match ty.unfold().kind() {
                TypeKind::Triangle(Triangle::Below, _) => {
                    "store a whole pair: `below_pair (i, j)` makes one where the two differ"
                }
                _ => "store a whole pair: `lower_pair (i, j)` makes one of any two",
            }),
            E::IndexLiteral { span, found, index, code } => {
                // `2` is an index type here, not the type of truth values.
                let number = |ty: &Type| ty.as_unit_sum().map_or_else(|| ty.to_string(), BigUint::to_string);
                let (found, index) = (number(found), number(index));
                Diagnostic::warning(
                    self.code(),
                    *span,
                    format!("the index is a `{found}` where a `{index}` is needed"),
                    format!("taken as `` `{code}:{index} ``"),
                )
                .fix(
                    format!("write `` `{code}:{index} ``"),
                    *span,
                    format!("`{code}:{index}"),
                )
            }
            E::Unreachable { span } => Diagnostic::warning(
                code,
                *span,
                "this arm is never reached",
                "everything it fits is caught before",
            ),
            E::Unused { span, ty } => Diagnostic::warning(
                code,
                *span,
                "the value of this expression is not used",
                format!("its value, of type `{ty}`, is thrown away"),
            ),
            E::CaseAsVariable { span, name, ty, variant } => Diagnostic::warning(
                code,
                *span,
                format!("`{name}` is a variable here, which fits every value"),
                format!("`{ty}` has no case of this name"),
            )
            .note(format!("`{name}` is a case of `{variant}`")),
            E::UnusedInTypeFun { span, name, function } => Diagnostic::warning(
                code,
                *span,
                format!("the parameter `{name}` is not used"),
                format!("`{function}` gives the same whatever it is"),
            ),
            E::UnusedTypeParameter { span, name, whose } => Diagnostic::warning(
                code,
                *span,
                format!("the type parameter `{name}` is not used"),
                format!("{whose} does not mention it"),
            ),
            E::NotCalled { span, name, domain } => {
                let what = name.as_ref().map_or("this".to_string(), |name| format!("`{name}`"));
                let d =
                    error(span, format!("{what} is a procedure and is not called"), "does nothing".into());
                match (name, domain.is_unit()) {
                    (Some(name), true) => d.fix(format!("write `{name} ()` to call it"), span.after(), " ()"),
                    (Some(name), false) => {
                        d.help(format!("write `{name} x` to call it, with an `x` of type `{domain}`"))
                    }
                    (None, true) => d.help("write `()` after it to call it"),
                    (None, false) => d.help(format!("give it its argument, of type `{domain}`, to call it")),
                }
            }
            E::Relabels { span, from, to, help } => {
                let d = Diagnostic::note_at(
                    code,
                    *span,
                    "this relabels axes and is not a transpose",
                    format!("`{from}` read as `{to}` in the same storage order"),
                );
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
        }
    }
}

/// A type whose values are counted: `2`, not `bool`.
fn counted(ty: &Type) -> String {
    if *ty == Type::void() { ty.to_string() } else { ty.size_text() }
}

/// A number of things in words.
pub(super) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        n => format!("{n} {what}s"),
    }
}

fn numbered(what: &str, count: &str) -> String {
    match count {
        "0" => format!("it has no {what}s"),
        "1" => format!("its only {what} is number 0"),
        _ => format!("its {what}s are numbered from 0, and there are {count}"),
    }
}

/// The type of this language for a name that others use.
pub(super) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "integer" | "int64" | "isize" | "int64_t" | "ssize_t" => "int",
        "float" | "float64" | "number" | "flt" => "real",
        "float32" => "f32",
        "int8" | "int8_t" => "i8",
        "int16" | "int16_t" => "i16",
        "int32" | "int32_t" => "i32",
        "uint8" | "uint8_t" | "byte" => "u8",
        "uint16" | "uint16_t" => "u16",
        "uint32" | "uint32_t" => "u32",
        "uint64" | "uint64_t" | "usize" | "size_t" | "uint" => "u64",
        "boolean" | "logical" => "bool",
        "str" | "text" => "string",
        "character" | "rune" | "wchar" => "char",
        "bignum" | "biginteger" => "bigint",
        _ => return None,
    })
}

/// How a form of type is written that others have a name for.
fn foreign_form(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "list" | "vec" | "vector" => {
            "the type of an array is written `T ^ n`, as in `int ^ 3`; `list[int]` is that of a list that grows"
        }
        "array" | "ndarray" | "seq" | "slice" => {
            "the type of an array is written `T ^ n`, as in `int ^ 3`; `val a : int ^ ?N = …` takes one of any length"
        }
        "matrix" | "mat" | "tensor" => {
            "the type of a matrix is written `real ^ (3 \\* 4)`; `val m : real ^ (?N \\* ?M) = …` takes one of any shape"
        }
        "tuple" | "pair" => "the type of a tuple is written `A * B`",
        "optional" | "maybe" | "nullable" => "a value that may be missing is of type `option[T]`, or `1 + T`",
        "either" | "result" => "one of two is written `A + B`",
        "any" | "object" | "auto" | "dynamic" | "var" => {
            "the type of a `val` may be left out; a function of any type has a type parameter, as in `fun f[T](x:T) => …`"
        }
        "nonetype" | "null" | "nil" => "the type of nothing but `()` is `unit`",
        "callable" | "func" | "function" | "fn" => "the type of a function is written `A -> B`",
        "dict" | "hashmap" | "map" | "record" => "the type of a record is written `(x:int, y:real)`",
        _ => return None,
    })
}

pub(super) fn quoted(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Where one array has an element more at each end than the other, what takes them off.
fn framed(left: &Type, right: &Type) -> Option<&'static str> {
    let inner = |index: &Type| match index.kind() {
        TypeKind::CompactSum(parts) => match parts.as_slice() {
            [first, inner, last] if first.is_unit() && last.is_unit() => Some(inner.clone()),
            _ => None,
        },
        _ => None,
    };
    let same = |a: &Type, b: &Type| crate::iso::verdict(a, b) <= crate::iso::Verdict::Natural;
    let (TypeKind::Array(_, i), TypeKind::Array(_, j)) = (left.kind(), right.kind()) else { return None };
    [(i, j), (j, i)].into_iter().find_map(|(small, large)| {
        if inner(large).is_some_and(|inner| same(&inner, small)) {
            return Some("interior");
        }
        let factors = large.compact_factors(2).filter(|f| f.len() == 2)?;
        let inner = factors.iter().map(inner).collect::<Option<Vec<_>>>()?;
        same(&Type::compact_product(inner), small).then_some("interior2")
    })
}

/// The number of elements of an array type.
fn index_size(ty: &Type) -> Option<BigUint> {
    match ty.kind() {
        crate::types::TypeKind::Array(_, index) => index.size().ok(),
        _ => None,
    }
}
