//! Dependencies between the statements of a text: which have to be checked again after an edit, and
//! with which others.
//!
//! Takes the statements of a text before and after an edit, as tokens; gives a [`Plan`]. A
//! statement depends on another if it mentions a name that the other defines; on the header of a
//! function alone, if the types there are complete. The order of declarations is that of the text.
//! An edit that concerns all statements has no plan.

use crate::session::similar;
use felis_base::hash::{HashMap, HashSet};
use felis_base::source::{SourceId, Span};

use felis_syntax::syntax::StatementTexts;
use felis_syntax::syntax::ast::{Stmt, StmtKind};
use std::ops::Range;
use std::sync::Arc;

/// The number of a name within one text and its earlier versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol(u32);

/// The names of a text, numbered.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    numbers: HashMap<Arc<str>, Symbol>,
    names: Vec<Arc<str>>,
}

impl Symbols {
    /// Returns the number of a name.
    fn number(&mut self, name: &str) -> Symbol {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let (name, number): (Arc<str>, _) = (name.into(), Symbol(self.names.len() as u32));
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// Returns the sorted numbers of names, each once.
    fn sorted<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Arc<[Symbol]> {
        let mut numbers: Vec<Symbol> = names.map(|name| self.number(name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into()
    }
}

/// The header of a function whose type is written.
#[derive(Clone, Debug)]
struct Header {
    /// Its text.
    text: Arc<str>,
    /// The names that it mentions.
    mentions: Arc<[Symbol]>,
}

/// A statement of a text.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Its place.
    pub span: Span,
    /// The digest of its tokens.
    digest: u64,
    /// The names that it defines.
    defines: Arc<[Symbol]>,
    /// The names that it mentions.
    mentions: Arc<[Symbol]>,
    /// Its header, for a function whose type is written: then other statements depend on the header
    /// alone.
    header: Option<Header>,
    /// True if all statements may depend on it although they do not mention it: instances, imports,
    /// equations of sizes.
    pub is_general: bool,
    /// True if what it defines may be types alone, whose names are unknown as names of values.
    may_be_type: bool,
    /// True if a message concerns it, or would without an earlier message.
    pub has_messages: bool,
}

impl Statement {
    /// Describes a statement, which has been parsed.
    pub fn new(
        texts: &StatementTexts<'_>,
        at: usize,
        stmt: &Stmt,
        text: &str,
        symbols: &mut Symbols,
    ) -> Statement {
        let (span, chunk) = (texts.span(at), texts.chunk(at));
        let sizes = texts.opened_sizes(at);
        let defines = symbols.sorted(chunk.defines.iter().map(|name| &**name).chain(sizes));
        let last = |name: &'_ str| name.rsplit("::").next().map_or(0, |own| name.len() - own.len());
        let written: Vec<&str> = texts.names_before(at, u32::MAX).collect();
        // Of `geometry::area`, both the name and the whole.
        let parts = written.iter().flat_map(|name| [*name, &name[last(name)..]]);
        let mentions = symbols.sorted(chunk.mentions.iter().map(|name| &**name).chain(parts));
        let first = text.get(chunk.word_at.range()).unwrap_or_default();
        let is_general = matches!(first, "class" | "instance" | "import" | "require" | "kind" | "typefun");
        Statement {
            span,
            digest: texts.digest(at),
            defines,
            mentions,
            header: header_of(texts, at, stmt, text, symbols),
            is_general,
            may_be_type: matches!(first, "export" | "newtype" | "type" | "typedef" | "variant"),
            has_messages: false,
        }
    }

    /// Returns true for a function whose type is not written, among others that hold no bodies.
    pub fn infers_type(&self) -> bool {
        self.header.is_none() && !self.is_general
    }

    /// Returns the names that other statements depend on through this one.
    fn visible_mentions(&self) -> &Arc<[Symbol]> {
        self.header.as_ref().map_or(&self.mentions, |header| &header.mentions)
    }

    /// Returns true if it mentions or defines a name.
    fn touches(&self, names: &HashSet<Symbol>) -> bool {
        self.mentions.iter().chain(self.defines.iter()).any(|name| names.contains(name))
    }
}

/// Returns the header of a function at the top level whose type is written.
fn header_of(
    texts: &StatementTexts<'_>,
    at: usize,
    stmt: &Stmt,
    text: &str,
    symbols: &mut Symbols,
) -> Option<Header> {
    let inner = match &stmt.kind {
        StmtKind::Export(inner) => inner,
        _ => stmt,
    };
    let StmtKind::Function { function, .. } = &inner.kind else { return None };
    let is_written = function.is_proc || function.result.is_some();
    // A size that the header opens, as in `int ^ ?K`, is determined by the body.
    let header = Span { start: stmt.span.start, ..function.header };
    let own = text.get(header.range())?;
    if !is_written || function.is_joint || own.contains('?') {
        return None;
    }
    let mentions: Vec<&str> = texts.names_before(at, header.end).collect();
    let parts = mentions.iter().flat_map(|name| [*name, name.rsplit("::").next().unwrap_or(name)]);
    Some(Header { text: own.into(), mentions: symbols.sorted(parts) })
}

/// The statements to be checked after an edit.
pub(super) struct Plan {
    /// The statements of the text after the edit.
    pub statements: Vec<Statement>,
    /// For each statement, the one of the text before that it was, unless it is new.
    pub before: Vec<Option<usize>>,
    /// The statements whose results are wanted.
    pub wanted: Vec<bool>,
    /// The statements that are checked: those, and those that they depend on.
    pub included: Vec<bool>,
    /// For each statement of the text before, the one whose places it has now; `None` if the
    /// statement is gone and nothing that is kept refers to it.
    pub now: Vec<Option<usize>>,
}

/// Statements of a text before an edit, and those that are there after it.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// Returns where two sequences of digests differ, in order. Between the changes they are alike.
fn changes(old: &[u64], new: &[u64]) -> Vec<Change> {
    // Digests that stand once on both sides, in the longest order that both have (the longest
    // increasing subsequence of their places), cut the rest into pieces.
    let (mut once, mut places) = (HashMap::default(), Vec::new());
    let whole = trimmed(old, new, Change { old: 0..old.len(), new: 0..new.len() });
    for (at, digest) in new.iter().enumerate().take(whole.new.end).skip(whole.new.start) {
        once.entry(*digest).and_modify(|place| *place = None).or_insert(Some(at));
    }
    let mut seen: HashMap<u64, usize> = HashMap::default();
    for digest in &old[whole.old.clone()] {
        *seen.entry(*digest).or_default() += 1;
    }
    for (at, digest) in old.iter().enumerate().take(whole.old.end).skip(whole.old.start) {
        if let (Some(Some(place)), Some(1)) = (once.get(digest), seen.get(digest)) {
            places.push((at, *place));
        }
    }
    let mut all = Vec::new();
    let (mut old_from, mut new_from) = (whole.old.start, whole.new.start);
    let ends = std::iter::once((whole.old.end, whole.new.end));
    for (old_to, new_to) in longest_increasing(&places).into_iter().chain(ends) {
        let change = trimmed(old, new, Change { old: old_from..old_to, new: new_from..new_to });
        if !change.old.is_empty() || !change.new.is_empty() {
            all.push(change);
        }
        (old_from, new_from) = (old_to + 1, new_to + 1);
    }
    all
}

/// Returns a change without what is alike at its beginning and at its end.
fn trimmed(old: &[u64], new: &[u64], Change { old: was, new: is }: Change) -> Change {
    let (own, other) = (&old[was.clone()], &new[is.clone()]);
    let first = own.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (own, other) = (&own[first..], &other[first..]);
    let last = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    Change { old: was.start + first..was.end - last, new: is.start + first..is.end - last }
}

/// Returns the longest part of pairs that increases in the second component, which the first one
/// does.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends such a part with the least second component.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut all: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).map(|at| pairs[at]).collect();
    all.reverse();
    all
}

/// The share of the statements above which a plan takes longer than to check all of them.
const MAX_SHARE: usize = 3;

/// Plans the check of a text after an edit, of which the statements before are known. `transparent`
/// are functions whose bodies others depend on; `asked` is a byte whose statement is wanted.
/// Returns `None` if all statements are to be checked.
pub(super) fn plan(
    old: &[Statement],
    texts: &StatementTexts<'_>,
    text: &str,
    symbols: &mut Symbols,
    transparent: &HashSet<Symbol>,
    asked: Option<usize>,
) -> Option<Plan> {
    if !texts.all_errors_known() || texts.is_empty() {
        return None;
    }
    let digests: Vec<u64> = (0..texts.len()).map(|at| texts.digest(at)).collect();
    let known: Vec<u64> = old.iter().map(|statement| statement.digest).collect();
    let changes = changes(&known, &digests);
    // The statements of the edits are described anew.
    let mut is_new = vec![false; digests.len()];
    changes.iter().for_each(|change| is_new[change.new.clone()].fill(true));
    let parsed = texts.parse(|at| is_new[at]);
    let new: Vec<usize> = (0..digests.len()).filter(|at| is_new[*at]).collect();
    if parsed.stmts.len() != new.len() {
        return None;
    }
    let mut edited: Vec<Option<Statement>> = vec![None; digests.len()];
    for (&at, stmt) in new.iter().zip(&parsed.stmts) {
        edited[at] = Some(Statement::new(texts, at, stmt, text, symbols));
    }
    let gone = changes.iter().flat_map(|change| &old[change.old.clone()]);
    if gone.chain(edited.iter().flatten()).any(|statement| statement.is_general) {
        return None;
    }
    // The names whose meaning may have changed.
    let mut changed: HashSet<Symbol> = HashSet::default();
    let mut now = vec![None; old.len()];
    for change in &changes {
        let edited = &edited[change.new.clone()];
        let alike = change.old.len() == edited.len();
        for (at, one) in old[change.old.clone()].iter().enumerate() {
            let other = edited.get(at).filter(|_| alike).and_then(Option::as_ref);
            match (other, &one.header, other.and_then(|other| other.header.as_ref())) {
                (Some(other), Some(header), Some(new))
                    if header.text == new.text
                        && !other.defines.iter().any(|name| transparent.contains(name)) =>
                {
                    now[change.old.start + at] = Some(change.new.start + at);
                }
                _ => {
                    changed.extend(one.defines.iter());
                    changed.extend(other.into_iter().flat_map(|other| other.defines.iter()));
                }
            }
        }
        if !alike {
            changed.extend(edited.iter().flatten().flat_map(|statement| statement.defines.iter()));
        }
    }
    // Between the edits the statements are those before, in their order.
    let gone: HashSet<usize> = changes.iter().flat_map(|change| change.old.clone()).collect();
    let mut kept = (0..old.len()).filter(|at| !gone.contains(at));
    let mut before = vec![None; digests.len()];
    let mut statements: Vec<Statement> = Vec::with_capacity(digests.len());
    for (at, edited) in edited.into_iter().enumerate() {
        if let Some(statement) = edited {
            statements.push(statement);
            continue;
        }
        let was = kept.next()?;
        (before[at], now[was]) = (Some(was), Some(at));
        statements.push(Statement { span: texts.span(at), ..old[was].clone() });
    }
    let mut wanted: Vec<bool> =
        (0..statements.len()).map(|at| before[at].is_none() || statements[at].has_messages).collect();
    // Messages about the end of a statement depend on the next one.
    for before in changes.iter().filter_map(|change| change.new.start.checked_sub(1)) {
        wanted[before] = true;
    }
    if let Some(at) = asked {
        // Between two statements, the one before.
        let after = statements.partition_point(|statement| statement.span.start as usize <= at);
        wanted[after.saturating_sub(1)] = true;
    }
    // The last statement alone may give the result of a program.
    let end = statements.len() - 1;
    if before[end] != old.len().checked_sub(1) {
        wanted[end] = true;
        if let Some(at) = old.len().checked_sub(1).and_then(|at| now[at]) {
            wanted[at] = true;
        }
    }
    // What a statement with an error leaves open, a later one that mentions its names may decide.
    for statement in statements.iter().filter(|one| one.has_messages && one.header.is_none()) {
        changed.extend(statement.defines.iter());
    }
    propagate(&statements, &mut changed, &mut wanted, transparent)?;
    if wanted.iter().filter(|wanted| **wanted).count() > statements.len() / MAX_SHARE + 8 {
        return None;
    }
    // An answer about names has no messages, which may name what is similar.
    let suggests = asked.is_none();
    let included = included(&statements, &wanted, symbols, transparent, suggests);
    Some(Plan { statements, before, wanted, included, now })
}

/// Marks the statements that depend on names whose meaning has changed. Returns `None` if that
/// concerns all statements.
fn propagate(
    statements: &[Statement],
    changed: &mut HashSet<Symbol>,
    wanted: &mut [bool],
    transparent: &HashSet<Symbol>,
) -> Option<()> {
    let mut passed = vec![false; statements.len()];
    let mut grows = !changed.is_empty();
    while grows {
        grows = false;
        for (at, statement) in statements.iter().enumerate() {
            if passed[at] || !statement.touches(changed) {
                continue;
            }
            wanted[at] = true;
            if statement.is_general {
                return None;
            }
            let open = statement.defines.iter().any(|name| transparent.contains(name));
            let header = statement.header.as_ref().filter(|_| !open);
            let passes = header.is_none_or(|header| {
                header.mentions.iter().chain(statement.defines.iter()).any(|name| changed.contains(name))
            });
            if passes {
                passed[at] = true;
                let known = changed.len();
                changed.extend(statement.defines.iter());
                grows |= changed.len() > known;
            }
        }
    }
    Some(())
}

/// Returns the statements that are checked: those that are wanted, the last one, those that concern
/// all, and what they depend on; with `suggests`, those that a message may suggest for a name that
/// is unknown.
fn included(
    statements: &[Statement],
    wanted: &[bool],
    symbols: &Symbols,
    transparent: &HashSet<Symbol>,
    suggests: bool,
) -> Vec<bool> {
    let mut defined: HashMap<Symbol, Vec<usize>> = HashMap::default();
    for (at, statement) in statements.iter().enumerate() {
        for name in statement.defines.iter() {
            defined.entry(*name).or_default().push(at);
        }
    }
    let mut included = vec![false; statements.len()];
    let mut waiting: Vec<usize> = (0..statements.len())
        .filter(|at| wanted[*at] || statements[*at].is_general || at + 1 == statements.len())
        .collect();
    let defining = |name: &Symbol| defined.get(name).map_or(&[][..], Vec::as_slice);
    // A name that nothing defines may be suggested a similar one.
    let mut unknown: HashSet<Symbol> = HashSet::default();
    for (own, statement) in statements.iter().enumerate().filter(|(own, _)| suggests && wanted[*own]) {
        // A variable is unknown before its statement, and in it.
        let is_unknown_there = |at: &usize| *at >= own || statements[*at].may_be_type;
        let may_be_unknown = |name: &&Symbol| defining(name).iter().all(is_unknown_there);
        unknown.extend(statement.mentions.iter().filter(may_be_unknown));
    }
    for name in unknown {
        let name = &*symbols.names[name.0 as usize];
        let near = defined
            .keys()
            .filter(|known| similar(name, std::iter::once(&*symbols.names[known.0 as usize])).is_some());
        waiting.extend(near.flat_map(defining));
    }
    while let Some(at) = waiting.pop() {
        if std::mem::replace(&mut included[at], true) {
            continue;
        }
        let statement = &statements[at];
        let open = statement.defines.iter().any(|name| transparent.contains(name));
        let names = match wanted[at] || open {
            true => &statement.mentions,
            false => statement.visible_mentions(),
        };
        waiting.extend(names.iter().chain(statement.defines.iter()).flat_map(defining));
    }
    included
}

/// Returns the numbers of the names that stand at places of a text.
pub(super) fn symbols_at(
    spans: &[Span],
    root: SourceId,
    text: &str,
    symbols: &mut Symbols,
) -> HashSet<Symbol> {
    let own = spans.iter().filter(|span| span.source == root);
    own.filter_map(|span| text.get(span.range())).map(|name| symbols.number(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the changes as texts, and checks that what is between them is alike.
    fn found(old: &str, new: &str) -> Vec<String> {
        let digests = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        let all = changes(&digests(old), &digests(new));
        let (mut at, mut to) = (0, 0);
        let mut told = Vec::new();
        for Change { old: was, new: is } in all {
            assert_eq!(old[at..was.start], new[to..is.start]);
            (at, to) = (was.end, is.end);
            told.push(format!("{}>{}", &old[was], &new[is]));
        }
        assert_eq!(old[at..], new[to..]);
        told
    }

    #[test]
    fn changes_are_told_apart() {
        assert_eq!(found("abcdef", "abcdef"), [""; 0]);
        assert_eq!(found("", "ab"), [">ab"]);
        assert_eq!(found("ab", ""), ["ab>"]);
        assert_eq!(found("abcdef", "abXdef"), ["c>X"]);
        assert_eq!(found("aXbcdef", "abcdefY"), ["X>", ">Y"]);
        assert_eq!(found("abcdef", "aXcdYf"), ["b>X", "e>Y"]);
        // A digest that stands more than once is matched at the ends of a piece.
        assert_eq!(found("xxaxx", "xaxxb"), ["x>", ">b"]);
        // A statement that moves is gone and new.
        assert_eq!(found("abcdef", "bcdeaf"), ["a>", ">a"]);
        assert_eq!(found("abab", "baba"), ["abab>baba"]);
    }

    #[test]
    fn random_changes_are_apart() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let text = |random: &mut fastrand::Rng| -> String {
                (0..random.usize(..12)).map(|_| char::from(random.u8(b'a'..b'm'))).collect()
            };
            let (old, new) = (text(&mut random), text(&mut random));
            found(&old, &new);
        }
    }
}
