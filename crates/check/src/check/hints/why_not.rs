//! The reasons for which candidates do not fit, for the message that none of several functions
//! fits.
//!
//! Each candidate is tried again, in the order of overload resolution: type arguments, argument,
//! constraints. The first failure is the reason.

use crate::check::context::Checker;
use crate::check::env::Scheme;
use crate::check::error;
use crate::check::resolve::candidates::{Candidate, LookupResult};
use crate::check::solve::infer;
use crate::types::number::widen_numbers;
use crate::types::{Kind, Nominal, Type, TypeKind};

/// The maximum number of candidates in a message.
const MAX_CANDIDATES: usize = 8;

impl Checker<'_> {
    /// Returns the candidates of a search as lines of a message.
    pub(in crate::check) fn describe(
        &mut self,
        name: &str,
        found: &LookupResult,
        candidates: &[Candidate],
    ) -> Vec<String> {
        let places = self.places(found, candidates);
        self.listed(name, candidates, |_, candidate, _| places.get(candidate).cloned())
    }

    /// Returns the candidates of a search, each with the reason why it does not take the argument.
    pub(in crate::check) fn refusals(
        &mut self,
        name: &str,
        found: &LookupResult,
        type_args: &[Type],
        argument: &Type,
    ) -> Vec<String> {
        let mut candidates: Vec<Candidate> = found.candidates().map(|(_, c)| c.clone()).collect();
        // Candidates about a declared type of the argument come first.
        let declared = declared_types(argument);
        if !declared.is_empty() {
            candidates.sort_by_cached_key(|candidate| {
                let domain = self.candidate_header(candidate).domain;
                !declared_types(&domain).iter().any(|known| declared.contains(known))
            });
        }
        if declared.is_empty() {
            // Functions for declared types are no help beside others.
            let mut related = candidates.clone();
            related.retain(|candidate| declared_types(&self.candidate_header(candidate).domain).is_empty());
            if !related.is_empty() {
                candidates = related;
            }
        }
        let places = self.places(found, &candidates);
        self.listed(name, &candidates, |this, at, scheme| {
            let refusal = this.refusal(scheme, type_args, argument);
            match (places.get(at), refusal) {
                (Some(place), Some(refusal)) => Some(format!("{place}, where {refusal}")),
                (Some(place), None) => Some(place.clone()),
                (None, refusal) => refusal,
            }
        })
    }

    /// Returns the scopes of candidates in words; an empty list if all are in one scope.
    fn places(&self, found: &LookupResult, candidates: &[Candidate]) -> Vec<String> {
        let place = |of: &Candidate| {
            let at = found.candidates().find(|(_, candidate)| candidate.is_same_function(of));
            at.map(|(place, _)| format!("in {}", place.words())).unwrap_or_default()
        };
        let places: Vec<String> = candidates.iter().map(place).collect();
        if places.windows(2).any(|two| two[0] != two[1]) { places } else { Vec::new() }
    }

    /// Returns the name and type of a candidate. A result type that is not inferred yet is omitted.
    pub(in crate::check) fn name_and_type(&mut self, name: &str, candidate: &Candidate) -> String {
        let scheme = self.candidate_header(candidate);
        if self.knows_result(candidate) {
            let scheme = self.candidate_header(candidate);
            return format!("`{name} : {}`", self.infer.display_type(&scheme.ty()));
        }
        format!("`{name} : {} -> …`", scheme.domain)
    }

    /// Lists candidates with their types and remarks, at most `MAX_CANDIDATES` of them.
    fn listed(
        &mut self,
        name: &str,
        candidates: &[Candidate],
        mut remark: impl FnMut(&mut Self, usize, &Scheme) -> Option<String>,
    ) -> Vec<String> {
        let mut out = Vec::new();
        for (at, candidate) in candidates.iter().take(MAX_CANDIDATES).enumerate() {
            let line = self.name_and_type(name, candidate);
            let scheme = self.candidate_header(candidate);
            let remark = remark(self, at, &scheme).map(|remark| format!(": {remark}"));
            out.push(format!("{line}{}", remark.unwrap_or_default()));
        }
        if candidates.len() > MAX_CANDIDATES {
            out.push(format!("and {} more", candidates.len() - MAX_CANDIDATES));
        }
        out
    }

    /// Returns the reason why a function does not take the argument; `None` if no reason is found.
    pub(in crate::check) fn refusal(
        &mut self,
        scheme: &Scheme,
        type_args: &[Type],
        argument: &Type,
    ) -> Option<String> {
        if type_args.len() > scheme.params.len() {
            return Some(format!("takes {}", error::count(scheme.params.len(), "type argument")));
        }
        for (param, given) in scheme.params.iter().zip(type_args) {
            if !infer::accepts(param.kind, given) {
                return Some(format!(
                    "`{given}` is no {} for `{}`",
                    self.env.kind_name(param.kind),
                    param.name
                ));
            }
        }
        let mark = self.infer.mark();
        let instance = scheme.instantiate(&mut self.infer, type_args);
        let argument = self.infer.zonk_with_defaults(argument);
        let argument = widen_numbers(&argument, &instance.domain);
        let reason = if self.infer.unify(&argument, &instance.domain).is_ok() {
            let missing = instance.constraints.iter().find(|c| self.entails(c).fails());
            missing.map(|c| {
                let missing = self.zonk_constraint(c);
                format!("there is no instance `{}`", self.env.text(&missing))
            })
        } else {
            // Unsolved parameters are shown by their names.
            for (param, arg) in scheme.params.iter().zip(&instance.args) {
                if let TypeKind::Meta(_) = self.infer.shallow(arg).kind() {
                    self.infer.try_unify(arg, &Type::var(param.clone()));
                }
            }
            let (found, wanted) = (self.infer.zonk(&argument), self.infer.zonk(&instance.domain));
            first_difference(&found, &wanted).map(|(found, wanted)| match wanted.kind() {
                TypeKind::Var(var) if var.kind != Kind::Type && scheme.params.contains(var) => {
                    format!("`{found}` is not {}", self.env.kind_name(var.kind))
                }
                // Of two sizes, the one that is also called `bool` is shown as a number.
                _ => match (found.as_unit_sum(), wanted.as_unit_sum()) {
                    (Some(found), Some(wanted)) => format!("`{found}` is not `{wanted}`"),
                    // If one of the two is a size, so is the other.
                    _ if wanted.is_compact() && found.is_compact() => {
                        format!("`{}` is not `{}`", found.size_text(), wanted.size_text())
                    }
                    _ => format!("`{found}` is not `{wanted}`"),
                },
            })
        };
        self.infer.undo(mark);
        reason
    }
}

/// Returns the innermost first parts at which two types differ.
pub(in crate::check) fn first_difference(found: &Type, wanted: &Type) -> Option<(Type, Type)> {
    use TypeKind as K;
    if found == wanted || matches!(found.kind(), K::Meta(_)) || matches!(wanted.kind(), K::Meta(_)) {
        return None;
    }
    let parts: Vec<(Type, Type)> = match (found.kind(), wanted.kind()) {
        (K::Array(t, i), K::Array(u, j)) => vec![(t.clone(), u.clone()), (i.clone(), j.clone())],
        (K::Product(parts), K::Array(u, _)) => parts.iter().map(|part| (part.clone(), u.clone())).collect(),
        (K::Function(d, c), K::Function(e, f)) => vec![(d.clone(), e.clone()), (c.clone(), f.clone())],
        (K::Product(_) | K::Array(..), K::Product(wanted)) => match found.components(wanted.len()) {
            Some(found) if found.len() == wanted.len() => found.into_iter().zip(wanted.clone()).collect(),
            _ => Vec::new(),
        },
        (K::Nominal(n, xs), K::Nominal(m, ys)) if n == m => xs.iter().cloned().zip(ys.clone()).collect(),
        _ => Vec::new(),
    };
    let inner = parts.iter().find_map(|(found, wanted)| first_difference(found, wanted));
    Some(inner.unwrap_or_else(|| (found.clone(), wanted.clone())))
}

/// Returns the declared types of the parts of an argument.
fn declared_types(argument: &Type) -> Vec<Nominal> {
    let declared_itself = matches!(argument.kind(), TypeKind::Nominal(..));
    let parts = argument.components(MAX_CANDIDATES).filter(|_| !declared_itself);
    let parts = parts.unwrap_or_else(|| vec![argument.clone()]);
    let declared = parts.iter().filter_map(|part| match part.kind() {
        TypeKind::Nominal(nominal, _) => Some(nominal.clone()),
        _ => None,
    });
    declared.collect()
}
