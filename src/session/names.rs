//! Questions about names: those that are known, and what they stand for. None of them changes the
//! session.

use super::signature::{describe_callable, function_signature, type_parameter_list, type_parameters};
use super::{Session, detached_source, library};
use felis_base::hash::HashMap;
use felis_base::source::Span;
use felis_calculus::core::Prim;
use felis_calculus::types::{NominalBody, Scalar, Type, TypeKind};
use felis_check::check::env::{Callable, Definition as Known, TypeDefinition};
use felis_syntax::syntax;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// A definition of the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// Its declaration without a value: `var x : int`.
    pub declaration: String,
}

/// A function of a name.
#[derive(Clone, Debug)]
pub struct Overload {
    /// Its name and type.
    pub signature: String,
    /// Its doc comment.
    pub doc: Option<Arc<str>>,
    /// The span of its name, where it is a declared function.
    pub declared: Option<Span>,
    /// The ranges of the fields in the signature of the constructor of a struct; empty for any
    /// other function.
    pub fields: Vec<Range<usize>>,
}

/// The kind of thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A word of the language.
    Keyword,
    /// A variable.
    Variable,
    /// A function or procedure.
    Function,
    /// A constructor.
    Constructor,
    /// A type.
    Type,
    /// A class.
    Class,
    /// A module.
    Module,
}

/// A description of a name that is known.
#[derive(Clone, Debug)]
pub struct NameDescription {
    /// The kind of thing that it is.
    pub kind: NameKind,
    /// Its type, as far as the library has been read.
    pub detail: Option<String>,
    /// True if the user, or a module that the user imports, has defined it.
    pub is_user_defined: bool,
}

/// The first primitive of a name.
fn first_primitive(name: &str) -> Option<Prim> {
    static NAMED: LazyLock<HashMap<&str, Prim>> =
        LazyLock::new(|| Prim::ALL.iter().rev().map(|prim| (prim.name(), *prim)).collect());
    NAMED.get(name).copied()
}

/// Returns true for the name of a primitive.
pub fn is_primitive(name: &str) -> bool {
    first_primitive(name).is_some()
}

/// The primitive of a name: its signature and documentation.
pub fn primitive(name: &str) -> Option<Overload> {
    let prim = first_primitive(name)?;
    Some(Overload {
        signature: prim.declaration(),
        doc: Some(prim.doc().into()),
        declared: None,
        fields: Vec::new(),
    })
}

/// The words of the language that are not names.
pub const KEYWORDS: &[&str] = &[
    "and",
    "ainj",
    "aproj",
    "as",
    "break",
    "case",
    "class",
    "continue",
    "do",
    "done",
    "elif",
    "else",
    "endif",
    "endmatch",
    "enum",
    "export",
    "false",
    "for",
    "fun",
    "if",
    "import",
    "in",
    "instance",
    "kind",
    "law",
    "match",
    "newtype",
    "not",
    "of",
    "or",
    "perform",
    "proc",
    "proj",
    "require",
    "return",
    "struct",
    "then",
    "true",
    "type",
    "typedef",
    "typefun",
    "typematch",
    "val",
    "var",
    "variant",
    "when",
    "while",
    "with",
];

/// Words that begin a construct in one place, and are names elsewhere.
pub const CONTEXTUAL_WORDS: &[&str] = &["at", "joint", "party"];

/// Types known without a declaration that are no scalars, and kinds.
pub const BUILT_IN_TYPE_NAMES: &[&str] = &[
    "below",
    "bool",
    "lower",
    "unit",
    "void",
    "COMPACTLINEAR",
    "PLACE",
    "PLACES",
    "SPREAD",
    "TYPE",
    "UNITSUM",
];

impl Session {
    /// Returns the functions of a name; none if it is no function.
    pub fn overloads(&mut self, name: &str) -> Vec<Overload> {
        let source = detached_source(name);
        if self.load_mentioned(&source).is_err() {
            return Vec::new();
        }
        self.known_overloads(name.trim())
    }

    /// The functions of a name, as far as the library has been read.
    pub fn known_overloads(&self, name: &str) -> Vec<Overload> {
        let callables = self.env.callables(name).unwrap_or(&[]);
        callables.iter().map(|callable| describe_callable(&self.env, name, callable)).collect()
    }

    /// Names that begin with `prefix`, sorted: of values, functions, types, and words of the
    /// language.
    pub fn names_starting_with(&self, prefix: &str) -> Vec<String> {
        let qualified: Vec<String> = Session::qualified_names(&self.env).collect();
        let known = self.env.values.keys().chain(self.env.types.keys()).map(|name| &**name);
        let known = known.chain(qualified.iter().map(String::as_str));
        let scalars = Scalar::ALL.iter().map(|scalar| scalar.name());
        let words = KEYWORDS.iter().chain(CONTEXTUAL_WORDS).chain(BUILT_IN_TYPE_NAMES).copied();
        let all = known.chain(library::index().names()).chain(words).chain(scalars);
        let classes = self.env.class_names.keys().map(|name| &**name);
        // Names that begin with `_` are only given for a prefix that does.
        let fits = |name: &&str| {
            let hidden = name.starts_with('_') && !prefix.starts_with('_');
            name.starts_with(prefix)
                && !hidden
                && !name.contains(' ')
                && name.starts_with(|c: char| c == '_' || c.is_alphabetic())
        };
        let found: BTreeSet<&str> = all.chain(classes).filter(fits).collect();
        found.into_iter().map(str::to_string).collect()
    }

    /// The names that a text defines, each once, in its order.
    pub fn names_defined_in(text: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in syntax::chunks(&detached_source(text)).iter().flat_map(|chunk| &chunk.defines) {
            if !names.iter().any(|known| **known == **name) {
                names.push(name.to_string());
            }
        }
        names
    }

    /// The names of values and types that are known here, those of the library among them.
    pub fn known_names(&self) -> Vec<String> {
        let own = self.env.values.keys().chain(self.env.types.keys()).map(|name| &**name);
        let library = library::index();
        let known = own.chain(library.names()).chain(library.types());
        known.filter(|name| name.starts_with(char::is_alphabetic)).map(str::to_string).collect()
    }

    /// The names of what the user has defined, each once, sorted.
    pub fn user_names(&self) -> Vec<String> {
        let names: BTreeSet<String> =
            self.definitions().into_iter().map(|definition| definition.name).collect();
        names.into_iter().collect()
    }

    /// Returns the definitions of the user, sorted by name.
    pub fn definitions(&self) -> Vec<Definition> {
        let mut all = Vec::new();
        let mut add = |name: &str, declaration: String| {
            all.push(Definition { name: name.to_string(), declaration });
        };
        for (name, module) in &self.env.modules {
            add(name, format!("import {name} from {}", module.file));
        }
        // A test's name is no identifier.
        let own = |name: &str| !name.contains("::") && !name.contains(' ');
        for (name, known) in self.env.values.iter().filter(|(name, _)| own(name)) {
            match known {
                Known::Global { id, mutable, .. } => {
                    if self.results.contains(*id) {
                        continue;
                    }
                    let library = self.library.env.values.get(name);
                    if matches!(library, Some(Known::Global { id: other, .. }) if other == id) {
                        continue;
                    }
                    let word = if *mutable { "var" } else { "val" };
                    let ty = &self.program.globals[id.index()].ty;
                    add(name, format!("{word} {name} : {ty}"));
                }
                Known::Callables(callables) => {
                    for callable in callables.iter() {
                        let Callable::Function(id) = callable else { continue };
                        let Some(signature) = self.env.signatures.get(id) else { continue };
                        if !self.library.env.signatures.contains_key(id) {
                            let word = if signature.scheme.result.is_some() { "fun" } else { "proc" };
                            add(
                                name,
                                format!("{word} {}", function_signature(&self.env, name, &signature.scheme)),
                            );
                        }
                    }
                }
            }
        }
        for (name, kind) in self.env.kinds.iter().filter(|(name, _)| !name.contains("::")) {
            if !self.library.env.kinds.contains_key(name) {
                add(name, format!("kind {name} = {}", kind.members.join(" | ")));
            }
        }
        for (name, id) in self.env.class_names.iter().filter(|(name, _)| !name.contains("::")) {
            let Some(class) = self.env.classes.get(id).filter(|_| !self.library.env.classes.contains_key(id))
            else {
                continue;
            };
            add(
                name,
                format!("class {name}{}", type_parameter_list(&self.env, &class.params, &class.supers)),
            );
        }
        for (name, definition) in self.env.types.iter().filter(|(name, _)| !name.contains("::")) {
            // Members are listed with their kind.
            let member =
                |ty: &Type| matches!(ty.kind(), TypeKind::Member(member) if member.name() == &**name);
            if matches!(definition, TypeDefinition::Alias(_, ty) if member(ty)) {
                continue;
            }
            if self.library.env.types.contains_key(name) {
                continue;
            }
            match definition {
                TypeDefinition::Alias(params, ty) => {
                    add(name, format!("type {name}{} = {ty}", type_parameter_list(&self.env, params, &[])))
                }
                TypeDefinition::Size(size) => add(name, format!("size {name} = {size}")),
                TypeDefinition::Nominal(nominal) => {
                    add(name, format!("type {name}{}", type_parameter_list(&self.env, &nominal.params, &[])));
                }
                TypeDefinition::Function(fun) => {
                    let params = type_parameters(&self.env, &fun.params);
                    add(name, format!("typefun {name}({params})"));
                }
            }
        }
        all.sort();
        all
    }

    /// Names of types that begin with `prefix`, sorted.
    pub fn type_names_starting_with(&self, prefix: &str) -> Vec<String> {
        let known = self.env.types.keys().map(|name| &**name).filter(|name| !name.contains("::"));
        let scalars = Scalar::ALL.iter().map(|scalar| scalar.name());
        let types =
            known.chain(library::index().types()).chain(scalars).chain(BUILT_IN_TYPE_NAMES.iter().copied());
        let fitting: BTreeSet<&str> = types.filter(|name| name.starts_with(prefix)).collect();
        fitting.into_iter().map(str::to_string).collect()
    }

    /// Names of classes that begin with `prefix`, sorted.
    pub fn class_names_starting_with(&self, prefix: &str) -> Vec<String> {
        let known = self.env.class_names.keys().map(|name| &**name);
        let fitting: BTreeSet<&str> =
            known.chain(library::index().classes()).filter(|name| name.starts_with(prefix)).collect();
        fitting.into_iter().map(str::to_string).collect()
    }

    /// The names of the parameters of a function and of the fields of a struct, each once, with
    /// their types as far as they are known.
    pub fn parameters_of(&self, function: &str) -> Vec<(String, Option<Type>)> {
        let Some(Known::Callables(callables)) = self.env.values.get(function) else { return Vec::new() };
        let mut found: Vec<(String, Option<Type>)> = Vec::new();
        for callable in callables.iter() {
            let (names, types): (Vec<Option<Arc<str>>>, Option<Vec<Type>>) = match callable {
                Callable::Function(id) => {
                    let Some(signature) = self.env.signatures.get(id) else { continue };
                    let (mut names, mut types) = (Vec::new(), Some(Vec::new()));
                    let mut domain = Some(signature.scheme.domain.clone());
                    let mut result = signature.scheme.result.clone();
                    for group in &signature.parameters {
                        names.extend(group.iter().map(|known| known.name.clone()));
                        let of_group = domain.and_then(|domain| match group.len() {
                            1 => Some(vec![domain]),
                            count => domain.components(count),
                        });
                        types = types.zip(of_group).map(|(types, more)| [types, more].concat());
                        (domain, result) = match result.as_ref().map(Type::kind) {
                            Some(TypeKind::Function(domain, result)) => {
                                (Some(domain.clone()), Some(result.clone()))
                            }
                            Some(TypeKind::Procedure(domain)) => (Some(domain.clone()), None),
                            _ => (None, None),
                        };
                    }
                    (names, types)
                }
                Callable::Struct(nominal) => match nominal.body() {
                    Some(NominalBody::Struct(fields)) => (
                        fields.iter().map(|(name, _)| Some(name.clone())).collect(),
                        Some(fields.iter().map(|(_, ty)| ty.clone()).collect()),
                    ),
                    _ => continue,
                },
                _ => continue,
            };
            for (at, name) in names.into_iter().enumerate() {
                let Some(name) = name else { continue };
                if !found.iter().any(|(known, _)| **known == *name) {
                    let ty = types.as_ref().and_then(|types| types.get(at)).cloned();
                    found.push((name.to_string(), ty));
                }
            }
        }
        found
    }

    /// Returns true if a type is the library's declared type of this name, whatever the user calls
    /// so.
    pub fn is_library_type(&self, ty: &Type, name: &str) -> bool {
        let declared = match self.library.env.types.get(name) {
            Some(TypeDefinition::Nominal(declared)) => declared,
            _ => return false,
        };
        matches!(ty.kind(), TypeKind::Nominal(nominal, _) if nominal.id == declared.id)
    }

    /// The names of the modules that are imported.
    pub fn module_names(&self) -> impl Iterator<Item = &str> {
        self.env.modules.keys().map(|name| &**name)
    }

    /// Returns true if a name is defined by the user or by a module, not by the library.
    fn is_user_defined(&self, name: &str) -> bool {
        let (env, texts) = (&self.env, library::sources().len() as u32);
        let own = |span: &Span| span.source.0 >= texts;
        let value = env.values.get(name).is_some_and(|definition| match definition {
            // A result is declared nowhere.
            Known::Global { span, .. } => own(span) || *span == Span::default(),
            Known::Callables(callables) => callables.iter().any(|callable| match callable {
                Callable::Function(id) => {
                    env.signatures.get(id).is_some_and(|signature| own(&signature.span))
                }
                Callable::Method(class, _) => env.classes.get(class).is_some_and(|class| own(&class.span)),
                Callable::Case(nominal, _) | Callable::Struct(nominal) => {
                    !self.library.env.types.contains_key(&nominal.name)
                }
                Callable::Prim(_) => false,
            }),
        });
        value
            || env.modules.contains_key(name)
            || env.types.contains_key(name) && !self.library.env.types.contains_key(name)
            || env.kinds.contains_key(name) && !self.library.env.kinds.contains_key(name)
            || env.class_names.get(name).is_some_and(|id| !self.library.env.classes.contains_key(id))
            || name.contains("::")
    }

    /// A description of a name, from what has been read of the library and from the index of all of
    /// it.
    pub fn describe_name(&self, name: &str) -> NameDescription {
        use NameKind as K;
        let env = &self.env;
        let (kind, detail) = match env.values.get(name) {
            Some(Known::Global { id, .. }) => {
                (K::Variable, Some(self.program.globals[id.index()].ty.to_string()))
            }
            Some(Known::Callables(callables)) if !callables.is_empty() => {
                let constructs = |c: &Callable| matches!(c, Callable::Case(..) | Callable::Struct(_));
                let kind = if callables.iter().any(constructs) { K::Constructor } else { K::Function };
                let detail = callables.iter().find_map(|callable| match callable {
                    Callable::Function(id) => env.signatures.get(id).map(|s| s.scheme.ty().to_string()),
                    Callable::Method(class, at) => {
                        Some(env.classes.get(class)?.methods.get(*at)?.scheme.ty().to_string())
                    }
                    _ => None,
                });
                (kind, detail)
            }
            _ if KEYWORDS.contains(&name) => (K::Keyword, None),
            _ if env.modules.contains_key(name) => (K::Module, None),
            _ if env.class_names.contains_key(name)
                || library::index().classes().any(|class| class == name) =>
            {
                (K::Class, None)
            }
            _ if env.types.contains_key(name)
                || BUILT_IN_TYPE_NAMES.contains(&name)
                || Scalar::from_name(name).is_some()
                || library::index().types().any(|ty| ty == name) =>
            {
                (K::Type, None)
            }
            _ if library::index().defines_function(name) => (K::Function, None),
            _ if Prim::ALL.iter().any(|prim| prim.name() == name) => (K::Function, None),
            _ if CONTEXTUAL_WORDS.contains(&name) => (K::Keyword, None),
            _ => (K::Variable, None),
        };
        NameDescription { kind, detail, is_user_defined: self.is_user_defined(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYWORDS, detached_source};
    use felis_syntax::syntax;

    #[test]
    fn keywords_are_not_names() {
        for word in KEYWORDS {
            assert_eq!(syntax::mentioned_names(&detached_source(word)), Vec::<&str>::new(), "{word}");
        }
    }
}
