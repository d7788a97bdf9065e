//! The names of the last results of a session: `it` and `_1` are the last one, `_2` the one before,
//! ….
//!
//! Takes each value that a session shows; gives it a name that later inputs use as any other. A
//! name that the user has defined stays the user's.

use super::Session;
use crate::check::annotations::{Annotations, Referent};
use crate::check::env::{Definition, Scope};
use crate::core::{Global, GlobalId};
use crate::source::{SourceId, Span};
use crate::types::{Type, TypeKind};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// The number of results that have a name.
const MAX_NAMED_RESULTS: usize = 9;
/// The other name of the last one.
const LAST_RESULT_NAME: &str = "it";

/// The results that have names.
#[derive(Default)]
pub(super) struct Results {
    /// The last one first.
    recent: VecDeque<GlobalId>,
    /// The results that later definitions use, which are never released.
    pinned: BTreeSet<GlobalId>,
}

impl Results {
    /// Returns true if a variable is a result with a name.
    pub fn contains(&self, id: GlobalId) -> bool {
        self.recent.contains(&id)
    }

    /// The results that are named among these identifiers.
    pub fn mentioned_in(&self, idents: &[&str]) -> Vec<(String, GlobalId)> {
        self.names().filter(|(name, _)| idents.contains(&&**name)).collect()
    }

    /// The last one.
    pub fn latest(&self) -> Option<GlobalId> {
        self.recent.front().copied()
    }

    /// Returns the names of results: `_1`, `_2`, …, and `it`.
    fn names(&self) -> impl Iterator<Item = (String, GlobalId)> {
        let numbered = self.recent.iter().enumerate().map(|(i, id)| (format!("_{}", i + 1), *id));
        numbered.chain(self.recent.front().map(|id| (LAST_RESULT_NAME.to_string(), *id)))
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
        let id = self.program.globals.len() as GlobalId;
        self.program.globals.push(Global { name: LAST_RESULT_NAME.into(), ty: ty.clone() });
        self.set_global(id, value, others);
        self.results.recent.push_front(id);
        if self.results.recent.len() > MAX_NAMED_RESULTS
            && let Some(old) = self.results.recent.pop_back()
            && !self.results.pinned.contains(&old)
        {
            self.clear_global(old);
        }
        for (name, id) in self.results.names().collect::<Vec<_>>() {
            let name: Arc<str> = name.into();
            let own = match self.env.values.get(&name) {
                Some(Definition::Global { span, .. }) => *span != Span::default(),
                // A result hides a function of the library.
                Some(Definition::Callables(known)) => known.nearest() < Some(Scope::Library),
                None => false,
            };
            if !own {
                let definition = Definition::of_session(id);
                self.env.values.insert(name, definition);
            }
        }
    }
}
