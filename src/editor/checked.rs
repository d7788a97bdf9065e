//! A checked text that is checked again after an edit: statements whose text and dependencies are
//! unchanged keep their results.
//!
//! Takes a text and what is known of the text before; gives a [`CheckedText`] whose index equals
//! that of a check of the whole text. Where the parts of a text cannot be told apart, the whole
//! text is checked.

use super::dependencies::{Plan, Statement, Symbol, Symbols, plan, symbols_at};
use super::index::{Index, Target, Use};
use crate::session::outline::{Declaration, DeclarationKind};
use crate::session::{Analysis, Annotations, Draft, SelectedStatements, Session, TextPart};
use felis_base::diagnostic::Diagnostic;
use felis_base::hash::{HashMap, HashSet};
use felis_base::source::{Source, SourceId, Span};
use felis_syntax::syntax::StatementTexts;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A text with its index, and what the next check needs of it.
#[derive(Clone, Debug)]
pub struct CheckedText {
    /// The index.
    pub index: Rc<Index>,
    /// The statements; `None` if the next check concerns the whole text.
    statements: Option<Vec<Statement>>,
    symbols: Symbols,
    /// The functions whose bodies other statements depend on.
    transparent: HashSet<Symbol>,
    /// The text that was evaluated before it.
    before: Option<String>,
    /// True if only a part of the statements was checked.
    is_part: bool,
}

/// A text to be checked, and an earlier version of it that has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'t> {
    /// The text.
    pub draft: Draft<'t>,
    /// The earlier version.
    pub base: Option<&'t CheckedText>,
}

impl<'t> Edited<'t> {
    /// Returns the same with another text.
    pub(super) fn with_text<'s>(&self, text: &'s str) -> Edited<'s>
    where
        't: 's,
    {
        Edited { draft: Draft { text, ..self.draft }, base: self.base }
    }
}

/// Checks a text after an edit.
pub fn check_edited(session: &mut Session, edited: Edited<'_>) -> CheckedText {
    if let Some(base) = edited.base.filter(|base| base.before.as_deref() == edited.draft.before)
        && let Some(statements) = &base.statements
    {
        let mut symbols = base.symbols.clone();
        let mut planned = None;
        let draft = edited.draft;
        let select = |source: &Source| {
            let texts = StatementTexts::new(source);
            planned = plan(statements, &texts, draft.text, &mut symbols, &base.transparent, None);
            match &planned {
                Some(plan) => selected(&texts, plan),
                None => SelectedStatements::all(source),
            }
        };
        let (analysis, _) = session.analyze(draft, None, select, |_, _| ());
        match planned {
            None => return whole(session, draft, analysis),
            Some(plan) => {
                if let Some(checked) = updated(session, base, draft, analysis, plan, symbols) {
                    return checked;
                }
            }
        }
    }
    let (analysis, _) = session.analyze(edited.draft, None, SelectedStatements::all, |_, _| ());
    whole(session, edited.draft, analysis)
}

/// A declaration in a statement that is neither checked again nor needed for what is.
pub(super) struct Unchanged {
    /// Its name.
    pub name: String,
    /// The kind of what it declares.
    pub kind: DeclarationKind,
    /// Its type, as far as it has one that is known.
    pub ty: Option<String>,
}

/// Builds an index of the statement at a byte, of those that have changed since the earlier
/// version, and of what they depend on; answers a question about the names known in it. The other
/// names of the text that begin with a prefix are added to `others`. Without an earlier version,
/// all statements are checked.
pub(super) fn index_and_ask_edited<T>(
    session: &mut Session,
    edited: Edited<'_>,
    at: usize,
    others: Option<(&str, &mut Vec<Unchanged>)>,
    ask: impl FnOnce(&Session, &Annotations) -> T,
) -> (Index, Option<T>) {
    let draft = edited.draft;
    let base = edited.base.filter(|base| base.before.as_deref() == draft.before);
    // Where the statements begin, in the earlier version, that are left out.
    let mut left_out: HashSet<u32> = HashSet::default();
    let select = |source: &Source| {
        let known = base.and_then(|base| Some((base, base.statements.as_ref()?)));
        let Some((base, statements)) = known else { return SelectedStatements::all(source) };
        let texts = StatementTexts::new(source);
        let mut symbols = base.symbols.clone();
        match plan(statements, &texts, draft.text, &mut symbols, &base.transparent, Some(at)) {
            Some(plan) => {
                let kept = statements.iter().zip(&plan.now);
                let kept = kept.filter(|(_, now)| now.is_some_and(|now| !plan.included[now]));
                left_out.extend(kept.map(|(statement, _)| statement.span.start));
                selected(&texts, &plan)
            }
            None => SelectedStatements::all(source),
        }
    };
    let (analysis, answer) = session.analyze(draft, Some(at), select, ask);
    if let (Some((prefix, others)), Some(base)) = (others, base) {
        let declarations = base.index.declarations().iter();
        for declaration in declarations.filter(|one| left_out.contains(&one.span.start)) {
            declaration.for_each(&mut |inner| {
                if inner.name.starts_with(prefix) {
                    let ty = base.index.type_of_declaration(inner);
                    others.push(Unchanged { name: inner.name.clone(), kind: inner.kind, ty });
                }
            });
        }
    }
    (Index::new(session, analysis), answer)
}

/// Parses the statements of a plan.
fn selected(texts: &StatementTexts<'_>, plan: &Plan) -> SelectedStatements {
    let included = || (0..texts.len()).filter(|at| plan.included[*at]);
    // The type of a function without a written result is known when its body has been checked.
    let needs_body = |at: usize| plan.wanted[at] || plan.statements[at].infers_type();
    let bodies = included().filter(|at| needs_body(*at)).map(|at| texts.span(at));
    let mut names: Vec<String> =
        included().flat_map(|at| texts.names_before(at, u32::MAX)).map(str::to_string).collect();
    names.sort_unstable();
    names.dedup();
    let mut parsed = texts.parse(|at| plan.included[at]);
    // Version 0.1 grouped others differently, too, without a message: that stays so.
    let wanted: Vec<bool> = included().map(|at| plan.wanted[at]).collect();
    parsed.regrouped.retain(|regrouping| wanted[regrouping.at]);
    SelectedStatements {
        parsed,
        chunks: included().map(|at| texts.chunk(at)).collect(),
        part: Some(TextPart { names, bodies: bodies.map(|span| span.start..span.end).collect() }),
    }
}

/// Returns a text of which all statements have been checked.
fn whole(session: &Session, draft: Draft<'_>, analysis: Analysis) -> CheckedText {
    let mut symbols = Symbols::default();
    let source = analysis.sources.get(analysis.root).cloned();
    let statements = source.filter(|_| !analysis.annotations.has_places).and_then(|source| {
        let texts = StatementTexts::new(&source);
        let all = (0..texts.len()).zip(&analysis.stmts);
        let mut all: Vec<Statement> =
            all.map(|(at, stmt)| Statement::new(&texts, at, stmt, draft.text, &mut symbols)).collect();
        mark_messages(&mut all, &analysis);
        for statement in &mut all {
            statement.is_general |= opens_sizes(&analysis, statement.span);
        }
        (all.len() == texts.len()).then_some(all)
    });
    let unfolded = &analysis.annotations.unfolded;
    let transparent = symbols_at(unfolded, analysis.root, draft.text, &mut symbols);
    let before = draft.before.map(str::to_string);
    let index = Rc::new(Index::new(session, analysis));
    CheckedText { index, statements, symbols, transparent, before, is_part: false }
}

/// Returns true if a statement opens sizes at the top level.
fn opens_sizes(analysis: &Analysis, statement: Span) -> bool {
    let mut opened = analysis.annotations.opened.iter();
    opened.any(|at| at.source == analysis.root && statement.range().contains(&(at.start as usize)))
}

/// Marks the statements that messages concern.
fn mark_messages(statements: &mut [Statement], analysis: &Analysis) {
    let said = analysis.diagnostics.iter().chain(&analysis.unsaid);
    let mut spans: Vec<Span> = said.flat_map(diagnostic_spans).collect();
    spans.extend(&analysis.annotations.suppressed);
    for span in spans.into_iter().filter(|span| span.source == analysis.root) {
        // A span between two statements concerns both; a message about the end of a statement may
        // stand at the next one.
        let from = statements.partition_point(|statement| statement.span.end < span.start);
        let from = from.saturating_sub(1);
        for statement in &mut statements[from..] {
            if statement.span.start > span.end {
                break;
            }
            statement.has_messages = true;
        }
    }
}

/// Returns all places of a message.
fn diagnostic_spans(said: &Diagnostic) -> Vec<Span> {
    let labels = said.labels.iter().map(|label| label.span);
    let edits = said.helps().flat_map(|help| help.edits.iter().map(|(span, _)| *span));
    std::iter::once(said.primary.span).chain(labels).chain(edits).collect()
}

/// Returns the text after an edit, of which a part has been checked; `None` if the rest depends on
/// that in a way that the plan did not know.
fn updated(
    session: &Session,
    base: &CheckedText,
    draft: Draft<'_>,
    analysis: Analysis,
    mut plan: Plan,
    mut symbols: Symbols,
) -> Option<CheckedText> {
    let root = analysis.root;
    let unfolded = symbols_at(&analysis.annotations.unfolded, root, draft.text, &mut symbols);
    let known = unfolded.iter().all(|name| base.transparent.contains(name));
    let old = &*base.index;
    if !known
        || analysis.annotations.has_places
        || root != old.root
        || analysis.has_unresolved_imports != old.has_unresolved_imports
        || analysis.modules != old.modules
    {
        return None;
    }
    for (at, statement) in plan.statements.iter_mut().enumerate() {
        statement.has_messages &= !plan.wanted[at];
    }
    mark_messages(&mut plan.statements, &analysis);
    if plan.statements.iter().any(|one| !one.is_general && opens_sizes(&analysis, one.span)) {
        return None;
    }
    let places = Places { root, old: base.statements.as_ref()?, plan: &plan };
    let index = places.merged(old, Index::new(session, analysis))?;
    Some(CheckedText {
        index: Rc::new(index),
        statements: Some(plan.statements),
        symbols,
        transparent: base.transparent.clone(),
        before: base.before.clone(),
        is_part: true,
    })
}

/// The places of an earlier version of a text in the text after an edit.
struct Places<'p> {
    root: SourceId,
    old: &'p [Statement],
    plan: &'p Plan,
}

impl Places<'_> {
    /// Returns the statement of the text after the edit that has this place, if its results are
    /// wanted.
    fn is_wanted(&self, span: Span) -> bool {
        let statements = &self.plan.statements;
        let after = statements.partition_point(|statement| statement.span.start <= span.start);
        after > 0 && span.start < statements[after - 1].span.end && self.plan.wanted[after - 1]
    }

    /// Returns the place of something that an unchanged statement holds; `None` if its statement is
    /// new or is checked again.
    fn kept(&self, span: Span) -> Option<Span> {
        if span.source != self.root {
            return Some(span);
        }
        let (was, now) = self.statement_at(span)?;
        (self.plan.before[now] == Some(was) && !self.plan.wanted[now]).then(|| self.moved(span, was, now))
    }

    /// Returns the place of something that an unchanged statement refers to.
    fn referred(&self, span: Span) -> Option<Span> {
        if span.source != self.root {
            return Some(span);
        }
        let (was, now) = self.statement_at(span)?;
        Some(self.moved(span, was, now))
    }

    /// Returns the statement before the edit that has this place, and the one that it is now.
    fn statement_at(&self, span: Span) -> Option<(usize, usize)> {
        let after = self.old.partition_point(|statement| statement.span.start <= span.start);
        let was = after.checked_sub(1)?;
        (span.start < self.old[was].span.end).then_some(())?;
        Some((was, self.plan.now[was]?))
    }

    fn moved(&self, span: Span, was: usize, now: usize) -> Span {
        let (from, to) = (self.old[was].span.start, self.plan.statements[now].span.start);
        let shift = |at: u32| at.wrapping_sub(from).wrapping_add(to);
        Span { source: span.source, start: shift(span.start), end: shift(span.end) }
    }

    /// Returns the entries of a table that belong to unchanged statements, with those of the
    /// others.
    fn entries<V: Clone>(&self, old: &HashMap<Span, V>, new: HashMap<Span, V>) -> HashMap<Span, V> {
        let kept = old.iter().filter_map(|(span, value)| Some((self.kept(*span)?, value.clone())));
        let mut all: HashMap<Span, V> = kept.collect();
        all.extend(new.into_iter().filter(|(span, _)| span.source != self.root || self.is_wanted(*span)));
        all
    }

    /// Returns the places in a set that belong to unchanged statements, with those of the others.
    fn set(&self, old: &HashSet<Span>, new: HashSet<Span>) -> HashSet<Span> {
        let mut all: HashSet<Span> = old.iter().filter_map(|span| self.kept(*span)).collect();
        all.extend(new.into_iter().filter(|span| span.source != self.root || self.is_wanted(*span)));
        all
    }

    /// Returns the index of the whole text, of the index before the edit and the one of the part
    /// that was checked; `None` if something that is kept refers to what is gone.
    fn merged(&self, old: &Index, new: Index) -> Option<Index> {
        let takes = |span: Span| span.source == self.root && self.is_wanted(span);
        let outline = self.outline(old, &new);
        let mut uses: Vec<Use> = Vec::with_capacity(old.uses.len() + new.uses.len());
        for found in &old.uses {
            let Some(span) = self.kept(found.span) else { continue };
            let target = match found.target {
                Target::Declared(declared) => Target::Declared(self.referred(declared)?),
                target => target,
            };
            uses.push(Use { span, target });
        }
        uses.extend(new.uses.iter().filter(|found| takes(found.span)));
        uses.sort_by_key(|found| found.span);
        let mut types: Vec<_> = Vec::with_capacity(old.types.len());
        types.extend(old.types.iter().filter_map(|(span, ty)| Some((self.kept(*span)?, ty.clone()))));
        types.extend(new.types.into_iter().filter(|(span, _)| takes(*span)));
        types.sort_by_key(|(span, _)| (span.source, span.start, std::cmp::Reverse(span.end)));
        let mut operators: HashMap<Span, Span> = HashMap::default();
        for (span, declared) in &old.operators {
            if let Some(span) = self.kept(*span) {
                operators.insert(span, self.referred(*declared)?);
            }
        }
        operators.extend(new.operators.iter().filter(|(span, _)| takes(**span)));
        let mut outlines = old.outlines.clone();
        outlines.insert(self.root, Arc::new(outline));
        Some(Index {
            diagnostics: new.diagnostics,
            root: self.root,
            has_unresolved_imports: new.has_unresolved_imports,
            sources: new.sources,
            modules: new.modules,
            uses,
            types,
            variables: self.entries(&old.variables, new.variables),
            signatures: self.entries(&old.signatures, new.signatures),
            kinds: self.entries(&old.kinds, new.kinds),
            operators,
            written: self.set(&old.written, new.written),
            record_fields: self.set(&old.record_fields, new.record_fields),
            outlines,
        })
    }

    /// Returns the declarations of the whole text.
    fn outline(&self, old: &Index, new: &Index) -> Vec<Declaration> {
        let kept = old.declarations().iter().filter_map(|declaration| {
            let (was, now) = self.statement_at(declaration.span)?;
            (self.plan.before[now] == Some(was) && !self.plan.wanted[now]).then(|| {
                let mut declaration = declaration.clone();
                declaration.move_spans(&|span| self.moved(span, was, now));
                declaration
            })
        });
        let mut all: Vec<Declaration> = kept.collect();
        all.extend(new.declarations().iter().filter(|one| self.is_wanted(one.span)).cloned());
        all.sort_by_key(|declaration| declaration.span.start);
        all
    }
}

/// The ranges of the statements of a checked text, and true for those that messages concern; for
/// tests.
impl CheckedText {
    /// Returns true if the last check was one of a part of the text.
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Returns the ranges of the statements, if the next check may be one of a part.
    pub fn statements(&self) -> Option<Vec<Range<usize>>> {
        Some(self.statements.as_ref()?.iter().map(|statement| statement.span.range()).collect())
    }
}
