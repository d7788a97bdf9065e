//! What could be written at a place of a text, and what the function takes whose argument is written there.
//!
//! Takes a text that is being written, so most often a broken one, and a place in it; gives candidates and
//! invocations. The text is checked with a word at the place, and if that cannot be read, with what would
//! close the statement: the checker itself tells what is in scope and what stands before a dot.

use super::{Draft, Hover, Index};
use crate::check::annotations::Annotations;
use crate::check::env::{Callable, Definition};
use crate::core::Prim;
use crate::diagnostic::Diagnostic;
use crate::session::complete::{components_of, enclosing_call, word_start};
use crate::session::query::{BUILT_IN_TYPE_NAMES, KEYWORDS};
use crate::session::tokens::{TokenClass, blocks, tokens};
use crate::session::{Session, library};
use crate::types::{NominalBody, Scalar, Type, TypeKind};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A name that could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: CandidateKind,
    /// Its type or declaration, as far as that is known without asking.
    pub detail: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a name comes from; what is nearest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// What stands before the dot.
    Part,
    /// The function or block in which it is written.
    Local,
    /// What the text, those before it and those it imports define.
    Own,
    /// The library.
    Library,
    /// The language: its words.
    Language,
}

/// What a candidate names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
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
    /// A field or component.
    Field,
    /// A module.
    Module,
}

impl CandidateKind {
    /// Its place in a list of all kinds.
    fn rank(self) -> u8 {
        match self {
            CandidateKind::Field => 0,
            CandidateKind::Variable => 1,
            CandidateKind::Constructor => 2,
            CandidateKind::Function => 3,
            CandidateKind::Module => 4,
            CandidateKind::Type => 5,
            CandidateKind::Class => 6,
            CandidateKind::Keyword => 7,
        }
    }
}

/// A function whose argument is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its forms.
    pub forms: Vec<Form>,
    /// The parameter that is being written, counted over all groups.
    pub parameter: usize,
}

/// One form of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its declaration, or name and type.
    pub text: String,
    /// Where its parameters stand in that, group after group.
    pub params: Vec<Vec<Range<usize>>>,
    /// What its doc comment says.
    pub doc: Option<Arc<str>>,
}

/// The word that stands where nothing has been written yet: no program has it.
const PLACEHOLDER: &str = "nothing_written_yet";

/// What a place asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CompletionContext {
    Part,
    Type,
    /// A part of the library, to import it.
    Library,
    /// A name of a part of the library, to import that.
    NameOf(&'static str),
    Any,
}

impl Session {
    /// What could be written at a byte of a text, and where the word begins that it would replace.
    pub fn candidates(&mut self, draft: Draft<'_>, at: usize) -> (usize, Vec<Candidate>) {
        let Some(before) = draft.text.get(..at) else { return (at, Vec::new()) };
        let mut parts = tokens(before);
        let start = word_start(before);
        if let Some((range, class)) = parts.last() {
            let open_comment = *class == TokenClass::Comment && !before[range.clone()].ends_with("*/");
            let literal = matches!(class, TokenClass::Text | TokenClass::Number);
            let after_dot = parts.len() >= 2 && before[parts[parts.len() - 2].0.clone()] == *".";
            if range.end == at && (open_comment || literal && !after_dot) {
                return (at, Vec::new());
            }
        }
        let prefix = &before[start..];
        parts.retain(|(range, _)| range.end <= start);
        let last = parts.last().map(|(range, _)| (range.start, &before[range.clone()]));
        let wants = match last {
            Some((_, ".")) => CompletionContext::Part,
            Some((_, ":" | ":>" | ":>>")) => CompletionContext::Type,
            Some((_, "import")) => CompletionContext::Library,
            _ => match imported_part(before, &parts) {
                Some(part) => CompletionContext::NameOf(part),
                None => CompletionContext::Any,
            },
        };
        let names: Option<Vec<String>> = match wants {
            CompletionContext::Library => Some(library::parts().map(str::to_string).collect()),
            CompletionContext::NameOf(part) => {
                library::part(part).map(|module| module.names().map(str::to_string).collect())
            }
            _ => None,
        };
        if let Some(mut names) = names {
            names.retain(|name| {
                name.starts_with(prefix) && (!name.starts_with('_') || prefix.starts_with('_'))
            });
            names.sort();
            let candidate = |name: String| match wants {
                CompletionContext::Library => {
                    Candidate { name, kind: CandidateKind::Module, detail: None, origin: Origin::Library }
                }
                _ => self.candidate(name),
            };
            return (start, names.into_iter().map(candidate).collect());
        }
        // Where an argument begins, it may be named.
        let function = last
            .filter(|(_, sign)| matches!(*sign, "(" | ","))
            .and_then(|_| enclosing_call(&before[..start]));
        let dot = last.map_or(0, |(at, _)| at);
        let word = if prefix.is_empty() { PLACEHOLDER } else { "" };
        let cursor = at + word.len();
        let (mut best, mut read) = (Vec::new(), false);
        for text in repair_attempts(draft.text, at, word) {
            let attempt = Draft { text: &text, ..draft };
            let (index, found) = self.check_draft(attempt, Some(cursor), |session, notes| match wants {
                CompletionContext::Part | CompletionContext::Library | CompletionContext::NameOf(_) => {
                    Vec::new()
                }
                CompletionContext::Type => session.type_candidates(prefix, notes),
                CompletionContext::Any => {
                    let mut found = function.map_or(Vec::new(), |name| session.parameter_candidates(name));
                    found.extend(session.name_candidates(prefix, notes));
                    found
                }
            });
            let mut found = found.unwrap_or_default();
            let known = match wants {
                CompletionContext::Part => {
                    let ty = index.type_before(dot);
                    found.extend(ty.into_iter().flat_map(components_of).map(|(name, ty)| Candidate {
                        name,
                        kind: CandidateKind::Field,
                        detail: Some(ty.to_string()),
                        origin: Origin::Part,
                    }));
                    ty.is_some()
                }
                // Names at the top level are known in any case; those in scope only if it could be read.
                _ => index.has_expression_at(cursor),
            };
            found.retain(|candidate| candidate.name.starts_with(prefix) && candidate.name != PLACEHOLDER);
            if known || best.is_empty() {
                best = found;
            }
            if known {
                read = true;
                break;
            }
        }
        if wants == CompletionContext::Any && !read {
            // What cannot be read has no scope, but its words may be meant.
            let words = matching_words(draft.text, start, prefix);
            let new = words.filter(|word| !best.iter().any(|known| known.name == *word));
            let new: BTreeSet<&str> = new.collect();
            let local = |name: &str| Candidate {
                name: name.to_string(),
                kind: CandidateKind::Variable,
                detail: None,
                origin: Origin::Local,
            };
            best.splice(0..0, new.into_iter().map(local));
        }
        if wants == CompletionContext::Part && !prefix.is_empty() {
            let (_, more) =
                self.check_draft(draft, None, |session, notes| session.name_candidates(prefix, notes));
            let functions = more.unwrap_or_default();
            best.extend(functions.into_iter().filter(|c| c.kind == CandidateKind::Function));
        }
        (start, best)
    }

    /// Names of types.
    fn type_candidates(&self, prefix: &str, notes: &Annotations) -> Vec<Candidate> {
        let local = |name: &str| Candidate {
            name: name.into(),
            kind: CandidateKind::Type,
            detail: None,
            origin: Origin::Local,
        };
        let scope = notes.scope.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| local(name));
        let mut all: Vec<Candidate> = scope.collect();
        for name in self.type_names_starting_with(prefix) {
            if !all.iter().any(|known| known.name == name) {
                all.push(Candidate { kind: CandidateKind::Type, ..self.candidate(name) });
            }
        }
        all.sort_by_key(|candidate| candidate.origin);
        all
    }

    /// What an argument of a function may be named by, as it is written before its value.
    fn parameter_candidates(&self, function: &str) -> Vec<Candidate> {
        let Some(Definition::Callables(callables)) = self.env.values.get(function) else { return Vec::new() };
        let mut found: Vec<Candidate> = Vec::new();
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
                let Some(name) = name.map(|name| format!("{name} = ")) else { continue };
                if !found.iter().any(|known| known.name == name) {
                    let detail = types.as_ref().and_then(|types| types.get(at)).map(ToString::to_string);
                    found.push(Candidate { name, kind: CandidateKind::Field, detail, origin: Origin::Part });
                }
            }
        }
        found
    }

    /// Names of everything.
    fn name_candidates(&self, prefix: &str, notes: &Annotations) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        for (name, ty) in &notes.scope {
            let kind = match ty.as_ref().map(|ty| ty.kind()) {
                None => CandidateKind::Type,
                Some(TypeKind::Function(..) | TypeKind::Procedure(_)) => CandidateKind::Function,
                Some(_) => CandidateKind::Variable,
            };
            let detail = ty.as_ref().map(ToString::to_string);
            all.push(Candidate { name: name.to_string(), kind, detail, origin: Origin::Local });
        }
        let scoped: BTreeSet<String> = all.iter().map(|candidate| candidate.name.clone()).collect();
        let modules = self.env.modules.keys().filter(|name| name.starts_with(prefix));
        let mut names: BTreeSet<String> = self.names_starting_with(prefix).into_iter().collect();
        names.extend(modules.map(|name| name.to_string()));
        for name in names {
            if !scoped.contains(&name) {
                all.push(self.candidate(name));
            }
        }
        // What is nearest comes first, and of that what a program computes with.
        all.sort_by_key(|candidate| (candidate.origin, candidate.kind.rank()));
        all
    }

    /// Whether a name, as it is known now, is none of the library's.
    fn is_user_defined(&self, name: &str) -> bool {
        let (env, texts) = (&self.env, library::sources().len() as u32);
        let own = |span: &crate::source::Span| span.source.0 >= texts;
        let value = env.values.get(name).is_some_and(|definition| match definition {
            // A result is declared nowhere.
            Definition::Global { span, .. } => own(span) || *span == crate::source::Span::default(),
            Definition::Callables(callables) => callables.iter().any(|callable| match callable {
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

    fn candidate(&self, name: String) -> Candidate {
        use CandidateKind as K;
        let env = &self.env;
        let (kind, detail) = match env.values.get(name.as_str()) {
            Some(Definition::Global { id, .. }) => {
                (K::Variable, self.program.globals.get(*id as usize).map(|global| global.ty.to_string()))
            }
            Some(Definition::Callables(callables)) if !callables.is_empty() => {
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
            _ if KEYWORDS.contains(&name.as_str()) => (K::Keyword, None),
            _ if env.modules.contains_key(name.as_str()) => (K::Module, None),
            _ if env.class_names.contains_key(name.as_str())
                || library::index().classes().any(|class| class == name) =>
            {
                (K::Class, None)
            }
            _ if env.types.contains_key(name.as_str())
                || BUILT_IN_TYPE_NAMES.contains(&name.as_str())
                || Scalar::named(&name).is_some()
                || library::index().types().any(|ty| ty == name) =>
            {
                (K::Type, None)
            }
            _ if library::index().defines_function(&name) => (K::Function, None),
            _ if Prim::ALL.iter().any(|prim| prim.name() == name) => (K::Function, None),
            _ => (K::Variable, None),
        };
        let origin = match kind {
            K::Keyword => Origin::Language,
            _ if self.is_user_defined(&name) => Origin::Own,
            _ => Origin::Library,
        };
        Candidate { name, kind, detail, origin }
    }

    /// What can be told about a byte of a text, also where its statement is broken: then it is read as it could go
    /// on at the end of the line.
    pub fn hover(&mut self, draft: Draft<'_>, index: &Index, at: usize) -> Option<Hover> {
        if let Some(hover) = index.hover(at) {
            return Some(hover);
        }
        // Where nothing is broken there is nothing to tell.
        if !index.diagnostics.iter().any(Diagnostic::is_error) || !draft.text.is_char_boundary(at) {
            return None;
        }
        let end = at + draft.text[at..].find('\n').unwrap_or(draft.text.len() - at);
        for text in repair_attempts(draft.text, end, "").into_iter().chain(repair_attempts(
            draft.text,
            end,
            PLACEHOLDER,
        )) {
            let attempt = Draft { text: &text, ..draft };
            let found = self.check_draft(attempt, None, |_, _| ()).0.hover(at);
            if let Some(mut hover) = found.filter(|hover| hover.span.end as usize <= end) {
                hover.span = crate::source::Span { source: index.root, ..hover.span };
                return Some(hover);
            }
        }
        None
    }

    /// The function whose argument is being written at a byte of a text.
    pub fn invocation(&mut self, draft: Draft<'_>, at: usize) -> Option<Invocation> {
        let call = CallSite::ending(draft.text.get(..at)?)?;
        for text in repair_attempts(draft.text, at, "") {
            let attempt = Draft { text: &text, ..draft };
            let (index, forms) = self.check_draft(attempt, None, |session, _| session.call_forms(&call.name));
            let forms: Vec<Form> =
                forms.unwrap_or_default().into_iter().map(|form| form.resolve(&index)).collect();
            if !forms.is_empty() {
                let groups = forms[0].params.iter().take(call.group).map(Vec::len).sum::<usize>();
                return Some(Invocation { forms, parameter: groups + call.commas });
            }
        }
        None
    }

    /// What a name can be called as.
    fn call_forms(&self, name: &str) -> Vec<UnresolvedForm> {
        let overloads = self.known_overloads(name);
        let callables = self.env.callables(name).unwrap_or(&[]);
        let forms = callables.iter().zip(overloads).map(|(callable, overload)| {
            let declared = match callable {
                Callable::Function(id) => self.env.signatures.get(id).map(|signature| signature.span),
                _ => None,
            };
            let parts = match callable {
                Callable::Struct(_) => parts_in_parentheses(&overload.signature),
                _ => Vec::new(),
            };
            UnresolvedForm { declared, parts, text: overload.signature, doc: overload.doc }
        });
        forms.collect()
    }
}

/// A form whose declaration has not been looked up.
struct UnresolvedForm {
    declared: Option<crate::source::Span>,
    /// Where the parameters stand in its text, if they stand there.
    parts: Vec<Range<usize>>,
    text: String,
    doc: Option<Arc<str>>,
}

impl UnresolvedForm {
    fn resolve(self, index: &Index) -> Form {
        let declaration = self.declared.and_then(|span| index.declaration(span));
        let Some(declaration) = declaration.filter(|declaration| !declaration.params.is_empty()) else {
            let params = if self.parts.is_empty() { Vec::new() } else { vec![self.parts] };
            return Form { text: self.text, params, doc: self.doc };
        };
        let (text, start) = (index.declaration_text(declaration), declaration.head.start);
        let whole = text.len();
        let place = |span: &crate::source::Span| {
            let from = (span.start.saturating_sub(start) as usize).min(whole);
            from..((span.end.saturating_sub(start)) as usize).clamp(from, whole)
        };
        let params = declaration.params.iter().map(|group| group.iter().map(place).collect()).collect();
        Form { text, params, doc: self.doc }
    }
}

/// The parts between the first parentheses of a text.
fn parts_in_parentheses(text: &str) -> Vec<Range<usize>> {
    let Some(open) = text.find('(') else { return Vec::new() };
    let (mut depth, mut start, mut parts) = (0usize, open + 1, Vec::new());
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => {
                parts.push(start..at);
                start = at + 2;
            }
            _ => {}
        }
        if depth == 0 {
            parts.push(start..at);
            break;
        }
    }
    parts
}

/// The part of the library whose names stand where a text ends, in the parentheses of its import.
fn imported_part(text: &str, parts: &[(Range<usize>, TokenClass)]) -> Option<&'static str> {
    let open = parts.iter().rposition(|(range, _)| &text[range.clone()] == "(")?;
    let listed = parts[open + 1..].iter();
    let mut listed =
        listed.filter(|(range, class)| *class != TokenClass::Name && &text[range.clone()] != ",");
    let named = parts.get(open.checked_sub(2)?..open)?.iter().map(|(range, _)| &text[range.clone()]);
    match named.collect::<Vec<_>>()[..] {
        ["import", name] if listed.next().is_none() => library::parts().find(|part| *part == name),
        _ => None,
    }
}

/// The other names in a text that begin so.
fn matching_words<'t>(text: &'t str, start: usize, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    let names = tokens(text).into_iter().filter(move |(range, class)| {
        range.start != start && matches!(class, TokenClass::Name | TokenClass::TypeName)
    });
    names.map(|(range, _)| &text[range]).filter(move |name| name.starts_with(prefix) && *name != prefix)
}

/// The call that a text ends in.
struct CallSite {
    name: String,
    /// Groups of arguments before the one that is being written.
    group: usize,
    /// Commas before the place in its group.
    commas: usize,
}

impl CallSite {
    fn ending(text: &str) -> Option<CallSite> {
        let parts = tokens(text);
        if let Some((range, class)) = parts.last()
            && *class == TokenClass::Comment
            && range.end == text.len()
        {
            return None;
        }
        let (mut at, mut depth, mut commas) = (parts.len(), 0usize, 0);
        loop {
            at = at.checked_sub(1)?;
            let word = &text[parts[at].0.clone()];
            match parts[at].1 {
                TokenClass::Close => depth += 1,
                TokenClass::Open if depth > 0 => depth -= 1,
                TokenClass::Open if word == "(" => break,
                TokenClass::Open => commas = 0,
                TokenClass::Operator if depth == 0 && word == "," => commas += 1,
                TokenClass::Operator if depth == 0 && word == ";" => return None,
                _ => {}
            }
        }
        // Before the parenthesis: further groups and type arguments, and then the name.
        let mut group = 0;
        loop {
            at = at.checked_sub(1)?;
            match parts[at].1 {
                TokenClass::Name | TokenClass::TypeName => break,
                TokenClass::Close => {
                    let group_here = text[parts[at].0.clone()] == *")";
                    let mut depth = 1usize;
                    while depth > 0 {
                        at = at.checked_sub(1)?;
                        match parts[at].1 {
                            TokenClass::Close => depth += 1,
                            TokenClass::Open => depth -= 1,
                            _ => {}
                        }
                    }
                    group += usize::from(group_here);
                }
                TokenClass::Operator if text[parts[at].0.clone()] == *"$" => {}
                _ => return None,
            }
        }
        let name = text[parts[at].0.clone()].to_string();
        // `x.f (y)` is `f x y`.
        let dotted = at > 0 && text[parts[at - 1].0.clone()] == *".";
        // What is declared is not called.
        let declared = at > 0 && matches!(&text[parts[at - 1].0.clone()], "fun" | "proc" | "law");
        (!declared).then_some(CallSite { name, group: group + usize::from(dotted), commas })
    }
}

impl Index {
    /// Whether the statement that ends at a byte, or goes on there, could be read.
    fn has_expression_at(&self, at: usize) -> bool {
        self.types
            .iter()
            .any(|(span, _)| span.source == self.root && span.start as usize <= at && at <= span.end as usize)
    }
}

/// Texts in which what is being written at a place can perhaps be read: the text itself with a word there,
/// the same with the end of the statement, and with everything closed that is open in its statement and what
/// would complete it.
fn repair_attempts(text: &str, at: usize, word: &str) -> Vec<String> {
    let (before, after) = text.split_at(at);
    let line_end = after.find('\n').unwrap_or(after.len());
    let below = &after[line_end..];
    let closers = closing_tokens(before);
    let mut all = vec![format!("{before}{word}{after}")];
    // What ends a statement, a function without body, a variable without value.
    let ends = [";", &format!(" => {PLACEHOLDER};"), &format!(" = {PLACEHOLDER};")];
    all.push(format!("{before}{word};{after}"));
    all.extend(ends.map(|end| format!("{before}{word}{closers}{end}{below}")));
    all
}

/// What closes the brackets and blocks that are open at the end of a text, in the statement there.
fn closing_tokens(before: &str) -> String {
    let mut out = String::new();
    for closer in blocks(before).open.into_iter().rev() {
        match closer {
            "endif" | "endmatch" => out.push(' '),
            "done" => out.push_str("; "),
            "}" if !out.trim_end().ends_with([';', '}']) => out.push(';'),
            _ => {}
        }
        out.push_str(closer);
    }
    out
}
