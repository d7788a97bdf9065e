//! Questions to a session: types, kinds, sizes, isomorphism, names. None of them changes it.

use super::{Session, Status, library};
use crate::cancellation;
use crate::check::env::{Callable, Constraint, Definition as Known, Scheme, TypeDefinition};
use crate::check::{self, Env};
use crate::core::StmtKind;
use crate::diagnostic::Diagnostic;
use crate::iso::{self, Verdict};
use crate::source::Span;
use crate::syntax::{self, Parsed, ast};
use crate::types::number::{Conversion, conversion};
use crate::types::size::Size;
use crate::types::{Kind, NoSize, Nominal, NominalBody, Scalar, Type, TypeKind, TypeVar};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How two written types are related.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// In a word.
    pub verdict: Verdict,
    /// Why, if that was asked for.
    pub reasons: Option<Reasons>,
}

/// The reasons of a verdict.
#[derive(Clone, Debug)]
pub struct Reasons {
    /// A sentence.
    pub message: String,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// The laws used, step by step, where a derivation was found.
    pub derivation: Option<String>,
}

/// What a user has defined under a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// In the words of a declaration: `var x : int`.
    pub declaration: String,
}

/// One of the functions of a name.
#[derive(Clone, Debug)]
pub struct Overload {
    /// Its name and type.
    pub signature: String,
    /// What it does.
    pub doc: Option<Arc<str>>,
}

/// The words of the language that are not names.
pub(super) const KEYWORDS: &[&str] = &[
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

/// Types known without a declaration that are no scalars, and kinds.
pub(super) const TYPE_WORDS: &[&str] =
    &["below", "bool", "lower", "unit", "void", "COMPACTLINEAR", "TYPE", "UNITSUM"];

impl Session {
    /// The type of an expression, which `import`s may precede. A procedure's call is of type `void`.
    pub fn type_of(&mut self, text: &str) -> Result<Type, Vec<Diagnostic>> {
        let source = self.sources.add("expression", text);
        let span = Span::new(source.id, 0, source.text.len());
        let parsed = syntax::parse(&source);
        let import = |stmt: &ast::Stmt| matches!(stmt.kind, ast::StmtKind::Import(_));
        let stmts = match &parsed.stmts[..] {
            [imports @ .., last]
                if parsed.errors.is_empty()
                    && imports.iter().all(import)
                    && matches!(last.kind, ast::StmtKind::Expr(_)) =>
            {
                parsed.stmts
            }
            _ => {
                let (expr, errors) = syntax::parse_expr(&source);
                let Some(expr) = expr else { return Err(errors) };
                vec![ast::Stmt { kind: ast::StmtKind::Expr(expr), span }]
            }
        };
        self.listen();
        let mut said = Vec::new();
        let reading = self.read(&stmts, &mut said);
        self.load_library(&source)?;
        self.load_for(&reading)?;
        let script = self.undone(span, |session| {
            session.know_shown_sizes(&source);
            session.enter(reading, &source, &mut said);
            if said.iter().any(Diagnostic::is_error) {
                return Err(said);
            }
            let mut diagnostics = Vec::new();
            session.script(&Parsed::of(stmts), &mut diagnostics).map_err(|_: Status| diagnostics)
        })?;
        Ok(match (script.result, script.body.last().map(|stmt| &stmt.kind)) {
            (Some(term), _) => term.ty,
            (None, Some(StmtKind::Expr(_))) => Type::void(),
            _ => Type::unit(),
        })
    }

    /// A written type, and the name of its kind. Unknown upper-case names are index types.
    pub fn kind_of(&mut self, text: &str) -> Result<(Type, String), Vec<Diagnostic>> {
        let (types, _) = self.read_types(&[("type", text)])?;
        let ty = types.into_iter().next().unwrap_or_else(Type::error);
        let kind = self.env.kind_name(ty.kind_of());
        Ok((ty, kind))
    }

    /// The members of a declared kind, if that is what a name stands for.
    pub fn members(&self, kind: &str) -> Option<Vec<String>> {
        let kind = self.env.kinds.get(kind.trim())?;
        Some(kind.members.iter().map(|member| member.to_string()).collect())
    }

    /// How values of one written type become values of another.
    pub fn conversion(&mut self, from: &str, to: &str) -> Result<Conversion, Vec<Diagnostic>> {
        let (types, _) = self.read_types(&[("from", from), ("to", to)])?;
        let [a, b] = &types[..] else { return Err(Vec::new()) };
        let verdict = conversion(a, b);
        if !matches!(verdict, Conversion::None(_)) {
            return Ok(verdict);
        }
        // What the language does not convert, instances may.
        Ok(if self.can(":", &[from, to]).is_ok() {
            Conversion::Implicit
        } else if self.can(":>", &[from, to]).is_ok() {
            Conversion::Explicit
        } else {
            verdict
        })
    }

    /// The number of values of a written type, as text; it may have variables.
    pub fn size_of(&mut self, text: &str) -> Result<String, Vec<Diagnostic>> {
        let (types, spans) = self.read_types(&[("type", text)])?;
        let (Some(ty), Some(&span)) = (types.first(), spans.first()) else { return Err(Vec::new()) };
        match ty.size() {
            Ok(size) => return Ok(size.to_string()),
            Err(NoSize::NotCompact) => {
                let message = format!("`{ty}` has no size");
                let label = "not a compact linear type";
                let note =
                    "only compact linear types have one: `0`, `1`, `2` … and their `\\*`, `\\+`, `\\^`";
                return Err(vec![Diagnostic::error("E0214", span, message, label).note(note)]);
            }
            Err(NoSize::Variable(_) | NoSize::TooLarge) => {}
        }
        Size::of(ty).map(|size| size.to_string()).ok_or_else(|| {
            let message = format!("the size of `{ty}` is too large to be written down");
            vec![Diagnostic::error("E0215", span, message, "this type")]
        })
    }

    /// How two written types are related; with reasons if `explain`. Unknown upper-case names are
    /// index types, the same in both.
    pub fn iso(&mut self, left: &str, right: &str, explain: bool) -> Result<Comparison, Vec<Diagnostic>> {
        let (types, _) = self.read_types(&[("left", left), ("right", right)])?;
        let [a, b] = &types[..] else { return Err(Vec::new()) };
        self.listen();
        let stopped = |_| vec![super::interrupted(Span::default())];
        if !explain {
            let verdict =
                cancellation::with_cancellation(&self.interrupt, || iso::verdict(a, b)).map_err(stopped)?;
            return Ok(Comparison { verdict, reasons: None });
        }
        let mut found =
            cancellation::with_cancellation(&self.interrupt, || iso::compare(a, b)).map_err(stopped)?;
        if let Some(expression) = &found.expression
            && !self.quietly(|session| session.makes(&expression.text, a, b))
        {
            found.expression = None;
        }
        let (message, notes, help) = found.explanation();
        let derivation = found.witness.as_ref().filter(|witness| !witness.steps.is_empty()).map(iso::explain);
        let reasons = Reasons { message, notes, help, derivation };
        Ok(Comparison { verdict: found.verdict, reasons: Some(reasons) })
    }

    /// Whether an expression makes a value of the one type from `v`, a value of the other: a function of the user's
    /// may have the name of one of the library's.
    fn makes(&mut self, expression: &str, from: &Type, to: &Type) -> bool {
        let mut params: Vec<String> = Vec::new();
        for ty in [from, to] {
            ty.for_each_var(&mut |var| {
                let param = format!("{}:{}", var.name, self.env.kind_name(var.kind.declared()));
                if !params.contains(&param) {
                    params.push(param);
                }
            });
        }
        let params = if params.is_empty() { String::new() } else { format!("[{}]", params.join(", ")) };
        let text = format!("fun made{params}(v:{from}):{to} => {expression};");
        !self.check("expression", &text).diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The names in written types that nobody has declared and that look as if somebody had: they have small letters. As
    /// all unknown upper-case names they stand for index types.
    pub fn implicit_names(&mut self, texts: &[&str]) -> Vec<String> {
        let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("type", *text)).collect();
        let types = self.quietly(|session| session.read_types(&texts)).map_or(Vec::new(), |(types, _)| types);
        let mut names = BTreeSet::new();
        for ty in types {
            ty.for_each_var(&mut |var| {
                if var.name.contains(char::is_lowercase) {
                    names.insert(var.name.to_string());
                }
            });
        }
        names.into_iter().collect()
    }

    /// The functions of a name, if that is what it stands for.
    pub fn overloads(&mut self, name: &str) -> Vec<Overload> {
        let source = super::detached(name);
        if self.load_library(&source).is_err() {
            return Vec::new();
        }
        self.known_overloads(name.trim())
    }

    /// The functions of a name that is no value by itself, a line for each, since only what it is used on says which
    /// one is meant, or at which types. Of any other text there are none.
    pub fn forms_of(&mut self, text: &str) -> Option<String> {
        let name = text.trim().trim_end_matches(';').trim_end();
        if !syntax::is_name(name.rsplit("::").next().unwrap_or(name)) {
            return None;
        }
        let forms = self.overloads(name);
        if forms.is_empty() || self.quietly(|session| session.type_of(name).is_ok()) {
            return None;
        }
        Some(forms.iter().map(|form| format!("{}\n", form.signature)).collect())
    }

    /// The functions of a name, as far as the library has been read.
    pub(super) fn known_overloads(&self, name: &str) -> Vec<Overload> {
        let callables = self.env.callables(name).unwrap_or(&[]);
        callables.iter().map(|callable| overload(&self.env, name, callable)).collect()
    }

    /// Names that begin with `prefix`, sorted: of values, functions, types, and words of the language.
    pub fn complete(&self, prefix: &str) -> Vec<String> {
        let qualified: Vec<String> = Session::qualified_names(&self.env).collect();
        let known = self.env.values.keys().chain(self.env.types.keys()).map(|name| &**name);
        let known = known.chain(qualified.iter().map(String::as_str));
        let scalars = Scalar::ALL.iter().map(|scalar| scalar.name());
        let words = KEYWORDS.iter().chain(TYPE_WORDS).copied();
        let all = known.chain(library::index().names()).chain(words).chain(scalars);
        let classes = self.env.class_names.keys().map(|name| &**name);
        // Names that begin with `_` are for those who ask for them.
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
        for name in syntax::chunks(&super::detached(text)).iter().flat_map(|chunk| &chunk.defines) {
            if !names.iter().any(|known| **known == **name) {
                names.push(name.to_string());
            }
        }
        names
    }

    /// The names of values and types that are known here, those of the library among them.
    pub fn known_names(&self) -> Vec<String> {
        let own = self.env.values.keys().chain(self.env.types.keys()).map(|name| &**name);
        let library = super::library::index();
        let known = own.chain(library.names()).chain(library.types());
        known.filter(|name| name.starts_with(char::is_alphabetic)).map(str::to_string).collect()
    }

    /// The names of what the user has defined, each once, sorted.
    pub fn own_names(&self) -> Vec<String> {
        let names: BTreeSet<String> =
            self.definitions().into_iter().map(|definition| definition.name).collect();
        names.into_iter().collect()
    }

    /// What the user has defined, sorted by name.
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
                    if let Some(global) = self.program.globals.get(*id as usize) {
                        add(name, format!("{word} {name} : {}", global.ty));
                    }
                }
                Known::Callables(callables) => {
                    for callable in callables.iter() {
                        let Callable::Function(id) = callable else { continue };
                        let Some(signature) = self.env.signatures.get(id) else { continue };
                        if !self.library.env.signatures.contains_key(id) {
                            let word = if signature.scheme.result.is_some() { "fun" } else { "proc" };
                            add(name, format!("{word} {}", headed(&self.env, name, &signature.scheme)));
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
            add(name, format!("class {name}{}", list(&self.env, &class.params, &class.supers)));
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
                    add(name, format!("type {name}{} = {ty}", list(&self.env, params, &[])))
                }
                TypeDefinition::Size(size) => add(name, format!("size {name} = {size}")),
                TypeDefinition::Nominal(nominal) => {
                    add(name, format!("type {name}{}", list(&self.env, &nominal.params, &[])));
                }
                TypeDefinition::Function(fun) => {
                    let params = list(&self.env, &fun.params, &[]).replace(['[', ']'], "");
                    add(name, format!("typefun {name}({params})"));
                }
            }
        }
        all.sort();
        all
    }

    /// Several written types in one scope, and where they stand.
    pub(super) fn read_types(
        &mut self,
        texts: &[(&str, &str)],
    ) -> Result<(Vec<Type>, Vec<Span>), Vec<Diagnostic>> {
        let (mut written, mut spans, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        for (name, text) in texts {
            let source = self.sources.add(*name, *text);
            let (ty, errors) = syntax::parse_type(&source);
            diagnostics.extend(errors);
            if let Some(ty) = ty {
                spans.push(ty.span);
                written.push(ty);
            }
            self.load_library(&source)?;
        }
        if written.len() < texts.len() {
            return Err(diagnostics);
        }
        let whole = spans.first().copied().unwrap_or_default();
        let written: Vec<&ast::TypeExpr> = written.iter().collect();
        let (types, found) =
            self.undone(whole, |session| Ok(check::lower_types(&mut session.env, &written, true)))?;
        diagnostics.extend(found);
        if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok((types, spans)) }
    }
}

fn overload(env: &Env, name: &str, callable: &Callable) -> Overload {
    match callable {
        Callable::Function(id) => match env.signatures.get(id) {
            Some(signature) => {
                Overload { signature: headed(env, name, &signature.scheme), doc: signature.doc.clone() }
            }
            None => Overload { signature: name.to_string(), doc: None },
        },
        Callable::Prim(prim) => Overload { signature: prim.declaration(), doc: Some(prim.doc().into()) },
        Callable::Method(class, method) => match env.classes.get(class) {
            Some(class) => Overload {
                signature: headed(env, name, &class.methods[*method].scheme),
                doc: Some(format!("A method of `{}`.", class.name).into()),
            },
            None => Overload { signature: name.to_string(), doc: None },
        },
        Callable::Case(nominal, _) | Callable::Struct(nominal) => {
            Overload { signature: constructor(name, nominal, callable), doc: None }
        }
    }
}

/// A constructor with what it takes and gives: `Point(x:real, y:real) : Point`, `Circle : real -> Shape`.
fn constructor(name: &str, nominal: &Nominal, callable: &Callable) -> String {
    let params = nominal.params.iter().map(|param| param.name.to_string()).collect::<Vec<_>>().join(", ");
    let args = if params.is_empty() { String::new() } else { format!("[{params}]") };
    let whole = format!("{}{args}", nominal.name);
    match (nominal.body(), callable) {
        (Some(NominalBody::Struct(fields)), _) => {
            let fields = fields.iter().map(|(field, ty)| format!("{field}:{ty}")).collect::<Vec<_>>();
            format!("{name}{args}({}) : {whole}", fields.join(", "))
        }
        (Some(NominalBody::Variant(cases)), Callable::Case(_, at)) => match cases.get(*at) {
            Some((_, ty)) if !ty.is_unit() => format!("{name}{args} : {ty} -> {whole}"),
            _ => format!("{name} : {whole}"),
        },
        _ => format!("{name} : {whole}"),
    }
}

/// A name with the type of a function.
pub(super) fn headed(env: &Env, name: &str, scheme: &Scheme) -> String {
    format!("{name}{} : {}", list(env, &scheme.params, &scheme.constraints), scheme.ty())
}

/// Type parameters as they are declared.
pub(super) fn list(env: &Env, params: &[TypeVar], constraints: &[Constraint]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let each = params.iter().map(|param| match param.kind.declared() {
        Kind::Type => param.name.to_string(),
        kind => format!("{}:{}", param.name, env.kind_name(kind)),
    });
    let mut text = each.collect::<Vec<_>>().join(", ");
    if !constraints.is_empty() {
        text += " with ";
        text += &constraints.iter().map(|c| env.text(c)).collect::<Vec<_>>().join(", ");
    }
    format!("[{text}]")
}

#[cfg(test)]
mod tests {
    use super::KEYWORDS;
    use crate::syntax;

    #[test]
    fn keywords_are_not_names() {
        for word in KEYWORDS {
            assert_eq!(syntax::mentioned_names(&super::super::detached(word)), Vec::<&str>::new(), "{word}");
        }
    }
}
