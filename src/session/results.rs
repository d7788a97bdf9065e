//! The names of the last results of a session: `it` and `_1` are the last one, `_2` the one before,
//! ….
//!
//! Takes each value that a session shows; gives it a name that later inputs use as any other. A
//! name that the user has defined stays the user's.

use super::Session;
use felis_base::source::{SourceId, Span};
use felis_calculus::core::{Global, GlobalId};
use felis_calculus::types::{Type, TypeKind};
use felis_check::check::annotations::{Annotations, Referent};
use felis_check::check::env::{Definition, Scope};
use felis_runtime::value::{Value, footprint};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// The number of results that have a name.
const MAX_NAMED_RESULTS: usize = 9;
/// The memory that the results before the last one may take together, in bytes. The last one is
/// kept whatever it takes.
const MAX_EARLIER_RESULT_BYTES: u64 = 128 << 20;
/// The other name of the last one.
const LAST_RESULT_NAME: &str = "it";

/// The results that have names.
#[derive(Default)]
pub(super) struct Results {
    /// The last one first.
    recent: VecDeque<NamedResult>,
    /// The number of results that there have been.
    count: usize,
    /// The results that later definitions use, which are never released.
    pinned: BTreeSet<GlobalId>,
}

/// A result that has a name.
#[derive(Clone, Copy)]
struct NamedResult {
    id: GlobalId,
    /// The memory that it keeps, in bytes: exact up to [`MAX_EARLIER_RESULT_BYTES`].
    bytes: u64,
}

impl Results {
    /// Returns true if a variable is a result with a name.
    pub fn contains(&self, id: GlobalId) -> bool {
        self.recent.iter().any(|result| result.id == id)
    }

    /// The results that are named among these identifiers.
    pub fn mentioned_in(&self, idents: &[&str]) -> Vec<(String, GlobalId)> {
        self.names().filter(|(name, _)| idents.contains(&&**name)).collect()
    }

    /// The last one.
    pub fn latest(&self) -> Option<GlobalId> {
        self.recent.front().map(|result| result.id)
    }

    /// Returns the names of results: `_1`, `_2`, …, and `it`.
    fn names(&self) -> impl Iterator<Item = (String, GlobalId)> {
        let numbered = self.recent.iter().enumerate().map(|(i, result)| (numbered_name(i), result.id));
        numbered.chain(self.latest().map(|id| (LAST_RESULT_NAME.to_string(), id)))
    }

    /// Returns true if a result had this name until the memory of all results became too large.
    pub fn is_released(&self, name: &str) -> bool {
        (self.recent.len()..self.count.min(MAX_NAMED_RESULTS)).any(|i| numbered_name(i) == name)
    }

    /// Adds a result; returns those that have no name any longer.
    fn push(&mut self, result: NamedResult) -> Vec<GlobalId> {
        self.recent.push_front(result);
        self.count += 1;
        let mut earlier = 0;
        let fits = |(i, result): (usize, &NamedResult)| {
            earlier += if i == 0 { 0 } else { result.bytes };
            i < MAX_NAMED_RESULTS && earlier <= MAX_EARLIER_RESULT_BYTES
        };
        let kept = self.recent.iter().enumerate().map(fits).take_while(|fits| *fits).count();
        self.recent.drain(kept..).map(|result| result.id).collect()
    }

    /// Keeps these results from being released.
    pub fn pin(&mut self, ids: impl IntoIterator<Item = GlobalId>) {
        self.pinned.extend(ids);
    }
}

/// A result that a text uses, with the bytes where it is named.
pub(super) type ResultUse = (Range<usize>, GlobalId);

/// The places of a text that name results, which have these names there.
pub(super) fn result_uses(
    text: &str,
    source: SourceId,
    notes: &Annotations,
    named: &[(String, GlobalId)],
) -> Vec<ResultUse> {
    if named.is_empty() {
        return Vec::new();
    }
    let mut found = BTreeMap::new();
    for (span, referent) in &notes.uses {
        if span.source != source {
            continue;
        }
        // A result is declared nowhere. What is noted later of one place holds.
        if *referent == Referent::At(Span::default()) {
            found.insert((span.start, span.end), span.range());
        } else {
            found.remove(&(span.start, span.end));
        }
    }
    let id = |range: &Range<usize>| named.iter().find(|(name, _)| Some(&**name) == text.get(range.clone()));
    found.into_values().filter_map(|range| id(&range).map(|(_, id)| (range.clone(), *id))).collect()
}

impl Session {
    /// Makes a result known by its names.
    pub(super) fn bind_result(&mut self, value: Value, others: Vec<Value>, ty: &Type) {
        if ty.is_unit() || matches!(ty.kind(), TypeKind::Exists(..) | TypeKind::Procedure(_)) {
            return;
        }
        let id = GlobalId::new(self.program.globals.len());
        self.program.globals.push(Global { name: LAST_RESULT_NAME.into(), ty: ty.clone() });
        let bytes = footprint(others.iter().chain([&value]), MAX_EARLIER_RESULT_BYTES);
        self.set_global(id, value, others);
        let before = self.results.recent.len();
        for old in self.results.push(NamedResult { id, bytes }) {
            if !self.results.pinned.contains(&old) {
                self.clear_global(old);
            }
        }
        // A name of a result that has been released is unknown.
        for at in self.results.recent.len()..before {
            if !self.has_own_meaning(&numbered_name(at)) {
                self.env.values.remove(&*numbered_name(at));
            }
        }
        for (name, id) in self.results.names().collect::<Vec<_>>() {
            let name: Arc<str> = name.into();
            let own = self.has_own_meaning(&name);
            if !own {
                let definition = Definition::of_session(id);
                self.env.values.insert(name, definition);
            }
        }
    }

    /// Returns true if the user has given a name of results a meaning of its own.
    fn has_own_meaning(&self, name: &str) -> bool {
        match self.env.values.get(name) {
            Some(Definition::Global { span, .. }) => *span != Span::default(),
            // A result hides a function of the library.
            Some(Definition::Callables(known)) => known.nearest() < Some(Scope::Library),
            None => false,
        }
    }
}

/// Returns the name of a result by its position, from 0 for the last one: `_1`, `_2`, ….
fn numbered_name(at: usize) -> String {
    format!("_{}", at + 1)
}
