//! Questions about expressions and types: their types, kinds, sizes, conversions, isomorphism. None
//! of them changes the session.

use super::diagnostics::interruption;
use super::signature::function_signature;
use super::{Session, Status};
use felis_base::cancellation;
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_calculus::core::StmtKind;
use felis_calculus::iso::{self, Verdict};
use felis_calculus::types::number::{Conversion, conversion};
use felis_calculus::types::size::Size;
use felis_calculus::types::{NoSize, Type};
use felis_check::check::env::{Callable, Definition};
use felis_syntax::syntax::{self, Parsed, ast};
use std::collections::BTreeSet;

/// The relation of two written types.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons, if they were asked for.
    pub reasons: Option<Explanation>,
}

/// The reasons of a verdict.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// A sentence.
    pub message: String,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// An advice.
    pub help: Option<String>,
    /// The laws used, step by step, where a derivation was found.
    pub derivation: Option<String>,
}

impl Session {
    /// The type of an expression, which `import`s may precede. A procedure's call is of type
    /// `void`.
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
        self.clear_interrupt();
        let mut said = Vec::new();
        let reading = self.read_imports(&stmts, &syntax::mentioned_names(&source), &mut said);
        self.load_mentioned(&source)?;
        self.load_mentioned_by_modules(&reading)?;
        let script = self.with_rollback(span, |session| {
            session.bind_shown_sizes(&source);
            session.check_modules(reading, &syntax::mentioned_names(&source), &mut said);
            if said.iter().any(Diagnostic::is_error) {
                return Err(said);
            }
            let mut diagnostics = Vec::new();
            session.check_input(&Parsed::of(stmts), &mut diagnostics).map_err(|_: Status| diagnostics)
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
        let ty = types.into_iter().next().expect("a type for each text");
        let kind = self.env.kind_name(ty.kind_of());
        Ok((ty, kind))
    }

    /// Returns the members of a declared kind; `None` if the name is no kind.
    pub fn kind_members(&self, kind: &str) -> Option<Vec<String>> {
        let kind = self.env.kinds.get(kind.trim())?;
        Some(kind.members.iter().map(|member| member.to_string()).collect())
    }

    /// Returns the conversion of values of one written type to another.
    pub fn conversion(&mut self, from: &str, to: &str) -> Result<Conversion, Vec<Diagnostic>> {
        let (types, _) = self.read_types(&[("from", from), ("to", to)])?;
        let [a, b] = &types[..] else { unreachable!("a type for each text") };
        let verdict = conversion(a, b);
        if !matches!(verdict, Conversion::None(_)) {
            return Ok(verdict);
        }
        // What the language does not convert, instances may.
        Ok(if self.resolve_use(":", &[from, to]).is_ok() {
            Conversion::Implicit
        } else if self.resolve_use(":>", &[from, to]).is_ok() {
            Conversion::Explicit
        } else {
            verdict
        })
    }

    /// The number of values of a written type, as text; it may have variables.
    pub fn size_of(&mut self, text: &str) -> Result<String, Vec<Diagnostic>> {
        let (types, spans) = self.read_types(&[("type", text)])?;
        let (ty, span) = (&types[0], spans[0]);
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

    /// Compares two written types; with reasons if `explain`. Unknown upper-case names are
    /// index types, the same in both.
    pub fn iso(&mut self, left: &str, right: &str, explain: bool) -> Result<Comparison, Vec<Diagnostic>> {
        let (types, _) = self.read_types(&[("left", left), ("right", right)])?;
        let [a, b] = &types[..] else { unreachable!("a type for each text") };
        self.clear_interrupt();
        let stopped = |_| vec![interruption(Span::default())];
        if !explain {
            let verdict =
                cancellation::with_cancellation(&self.interrupt, || iso::verdict(a, b)).map_err(stopped)?;
            return Ok(Comparison { verdict, reasons: None });
        }
        let mut found =
            cancellation::with_cancellation(&self.interrupt, || iso::compare(a, b)).map_err(stopped)?;
        if let Some(expression) = &found.expression
            && !self.with_temporary_sources(|session| session.expression_converts(&expression.text, a, b))
        {
            found.expression = None;
        }
        let (message, notes, help) = found.explanation();
        let derivation = found.witness.as_ref().filter(|witness| !witness.steps.is_empty()).map(iso::explain);
        let reasons = Explanation { message, notes, help, derivation };
        Ok(Comparison { verdict: found.verdict, reasons: Some(reasons) })
    }

    /// Returns true if an expression makes a value of type `to` from `v`, a value of type `from`: a
    /// function of the user's may have the name of one of the library's.
    fn expression_converts(&mut self, expression: &str, from: &Type, to: &Type) -> bool {
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

    /// Returns the undeclared lower-case names in types; they become implicit index types, as
    /// unknown upper-case names do.
    pub fn implicit_names(&mut self, texts: &[&str]) -> Vec<String> {
        let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("type", *text)).collect();
        let types = self
            .with_temporary_sources(|session| session.read_types(&texts))
            .map_or(Vec::new(), |(types, _)| types);
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

    /// The functions of a name that is no value by itself, a line for each, since only what it is
    /// used on says which one is meant, or at which types. Of any other text there are none.
    pub fn overload_signatures(&mut self, text: &str) -> Option<String> {
        let name = text.trim().trim_end_matches(';').trim_end();
        if !syntax::is_name(name.rsplit("::").next().unwrap_or(name)) {
            return None;
        }
        let forms = self.overloads(name);
        if forms.is_empty() || self.with_temporary_sources(|session| session.type_of(name).is_ok()) {
            return None;
        }
        Some(forms.iter().map(|form| format!("{}\n", form.signature)).collect())
    }

    /// `: T` for an expression, `x : T` for a definition; nothing for what is wrong or incomplete.
    pub fn type_of_last_statement(&mut self, text: &str) -> Option<String> {
        let source = self.sources.add("hint", text);
        let parsed = syntax::parse(&source);
        if parsed.errors.iter().any(Diagnostic::is_error) {
            return None;
        }
        let last = parsed.stmts.last()?;
        let defined = match &last.kind {
            ast::StmtKind::Expr(_) => None,
            _ => Some(syntax::chunks(&source).last()?.defines.first()?.clone()),
        };
        self.load_mentioned(&source).ok()?;
        self.clear_interrupt();
        let span = Span::new(source.id, 0, source.text.len());
        let hint = self.with_rollback(span, |session| {
            session.bind_shown_sizes(&source);
            let script = session.check_input(&parsed, &mut Vec::new()).map_err(|_| Vec::new())?;
            let Some(name) = defined else {
                return Ok(script.result.map(|term| format!(": {}", term.ty)));
            };
            Ok(match session.env.values.get(&name) {
                Some(Definition::Global { id, .. }) => {
                    session.program.globals.get(id.index()).map(|global| format!("{name} : {}", global.ty))
                }
                Some(Definition::Callables(callables)) => callables.iter().find_map(|callable| {
                    let Callable::Function(id) = callable else { return None };
                    let signature = session.env.signatures.get(id)?;
                    let here = signature.span.source == source.id;
                    here.then(|| function_signature(&session.env, &name, &signature.scheme))
                }),
                None => None,
            })
        });
        hint.ok().flatten()
    }
}
