//! Which of several functions a name means: their types, and the choice among them.
//!
//! Those whose parameter type the argument fits remain, literals taking their default first; of
//! those the most specific is chosen, and if several are, the wanted result decides.

use super::Checker;
use super::apply::Arg;
use super::env::{Callable, Scheme};
use super::error::CheckError;
use super::infer::accepts;
use crate::core::Prim;
use crate::source::{SourceId, Span};
use crate::syntax::ast;
use crate::types::number::{distance, widened};
use crate::types::{Kind, NominalBody, Type, TypeKind};
use std::sync::Arc;

/// How an argument is tried on a parameter, in this order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Literals take their default.
    Default,
    /// Literals take what is wanted.
    Open,
    /// Numbers are converted, if nothing can be lost.
    Converted,
}

impl Checker<'_> {
    /// The type of something that can be called.
    pub(super) fn scheme(&mut self, callable: &Callable, span: Span) -> Scheme {
        match callable {
            Callable::Function(id) => {
                self.ensure_result(*id, span);
                match self.env.signatures.get(id) {
                    Some(signature) => signature.scheme.clone(),
                    None => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
                }
            }
            Callable::Prim(prim) => self.prim_scheme(*prim).0,
            Callable::Method(class, method) => match self.env.classes.get(class) {
                Some(class) => class.methods[*method].scheme.clone(),
                None => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
            },
            Callable::Case(nominal, case) => {
                let args: Vec<Type> = nominal.params.iter().cloned().map(Type::var).collect();
                let domain = match nominal.body() {
                    Some(NominalBody::Variant(cases)) => cases[*case].1.clone(),
                    _ => Type::error(),
                };
                let result = Some(Type::nominal(nominal.clone(), args));
                let constraints = self.constraints_of(&nominal.params);
                Scheme { params: nominal.params.clone(), domain, result, constraints }
            }
            Callable::Struct(nominal) => {
                let args: Vec<Type> = nominal.params.iter().cloned().map(Type::var).collect();
                let domain = match nominal.body() {
                    Some(NominalBody::Struct(fields)) => {
                        Type::product(fields.iter().map(|(_, ty)| ty.clone()).collect())
                    }
                    _ => Type::error(),
                };
                let result = Some(Type::nominal(nominal.clone(), args));
                let constraints = self.constraints_of(&nominal.params);
                Scheme { params: nominal.params.clone(), domain, result, constraints }
            }
        }
    }

    /// The type of a primitive and the number of its arguments, read when first used.
    pub(super) fn prim_scheme(&mut self, prim: Prim) -> (Scheme, usize) {
        if let Some(known) = self.env.prim_schemes.get(&prim) {
            return known.clone();
        }
        let (params, ty) = match prim.signature().strip_prefix('[').and_then(|s| s.split_once(']')) {
            Some((params, ty)) => (params, ty),
            None => ("", prim.signature()),
        };
        let read = self.aside(|this| {
            let mut vars = Vec::new();
            for param in params.split(',').filter(|p| !p.is_empty()) {
                let (name, kind) = param.split_once(':').unwrap_or((param, "TYPE"));
                let kind = Kind::named(kind.trim()).unwrap_or(Kind::Type);
                let var = this.env.fresh_var(&Arc::from(name.trim()), kind);
                this.item.type_scope.insert(var.name.clone(), Type::var(var.clone()));
                vars.push(var);
            }
            let source =
                crate::source::Source { id: SourceId::default(), name: String::new(), text: ty.to_string() };
            let (tree, _) = crate::syntax::parse_type(&source);
            let arity = match tree.as_ref().map(|t| &t.kind) {
                Some(ast::TypeExprKind::Function(domain, _)) => match &domain.kind {
                    ast::TypeExprKind::Product(parts) => parts.len(),
                    _ => 1,
                },
                _ => 1,
            };
            let ty = tree.map_or_else(Type::error, |t| this.lower(&t));
            let scheme = match ty.kind() {
                TypeKind::Function(domain, result) => Scheme::new(vars, domain.clone(), Some(result.clone())),
                TypeKind::Procedure(domain) => Scheme::new(vars, domain.clone(), None),
                _ => Scheme::new(vars, Type::error(), Some(Type::error())),
            };
            (scheme, arity)
        });
        self.env.prim_schemes.insert(prim, read.clone());
        read
    }

    /// The candidates that can have the wanted type.
    pub(super) fn fitting(
        &mut self,
        candidates: &[Callable],
        type_args: &[Type],
        wanted: Option<&Type>,
        span: Span,
    ) -> Vec<Callable> {
        let mut fitting: Vec<Callable> = Vec::new();
        for candidate in candidates {
            let scheme = self.scheme(candidate, span);
            let mark = self.infer.mark();
            let instance =
                scheme.instantiate(&mut self.infer, &type_args[..type_args.len().min(scheme.params.len())]);
            let ty = instance.ty();
            let constant = matches!(candidate, Callable::Case(..)) && scheme.domain.is_unit();
            let fits = match wanted {
                Some(wanted) if !constant && candidates.len() > 1 => {
                    self.infer.unify(&ty, wanted).is_ok()
                        && instance.constraints.iter().all(|c| !self.entails(c).fails())
                }
                _ => true,
            };
            self.infer.undo(mark);
            if fits {
                fitting.push(candidate.clone());
            }
        }
        fitting
    }

    /// The candidate an argument selects.
    pub(super) fn choose(
        &mut self,
        name: &ast::Name,
        candidates: &[Callable],
        type_args: &[Type],
        arg: &Arg,
        hint: Option<&Type>,
    ) -> Option<Callable> {
        if let [only] = candidates {
            return Some(only.clone());
        }
        let ty = self.infer.zonk(&arg.ty());
        if mentions_error(&ty) {
            return None;
        }
        let mut fitting = Vec::new();
        for fit in [Fit::Default, Fit::Open, Fit::Converted] {
            for candidate in candidates {
                let scheme = self.scheme(candidate, name.span);
                if type_args.len() > scheme.params.len()
                    || scheme.params.iter().zip(type_args).any(|(p, t)| !accepts(p.kind, t))
                {
                    continue;
                }
                let mark = self.infer.mark();
                let instance = scheme.instantiate(&mut self.infer, type_args);
                let ty = if fit == Fit::Open { ty.clone() } else { self.infer.settle(&ty) };
                let ty = if fit == Fit::Converted { widened(&ty, &instance.domain) } else { ty };
                let fits = self.infer.unify(&ty, &instance.domain).is_ok()
                    && instance.constraints.iter().all(|c| !self.entails(c).fails());
                self.infer.undo(mark);
                if fits {
                    fitting.push(candidate.clone());
                }
            }
            if !fitting.is_empty() {
                if fit == Fit::Converted {
                    let settled = self.infer.settle(&ty);
                    let far: Vec<(usize, u64)> = fitting
                        .iter()
                        .map(|c| distance(&settled, &self.scheme(c, name.span).domain))
                        .collect();
                    let least = far.iter().min().copied();
                    let mut far = far.into_iter();
                    fitting.retain(|_| far.next() == least);
                }
                break;
            }
        }
        if fitting.len() > 1
            && let Some(hint) =
                hint.map(|h| self.infer.zonk(h)).filter(|h| !matches!(h.kind(), TypeKind::Meta(_)))
        {
            let by_result: Vec<Callable> = fitting
                .iter()
                .filter(|c| {
                    let scheme = self.scheme(c, name.span);
                    let mark = self.infer.mark();
                    let instance = scheme.instantiate(&mut self.infer, type_args);
                    let ok = self.infer.unify(&ty, &instance.domain).is_ok()
                        && instance.result.as_ref().is_none_or(|r| self.infer.unify(r, &hint).is_ok());
                    self.infer.undo(mark);
                    ok
                })
                .cloned()
                .collect();
            if !by_result.is_empty() {
                fitting = by_result;
            }
        }
        let best = self.most_specific(&fitting, name.span);
        match (&best[..], fitting.is_empty()) {
            ([only], _) => Some(only.clone()),
            (_, true) => {
                let argument = self.infer.settle(&ty);
                let candidates = self.refusals(&name.text, candidates, type_args, &argument, name.span);
                self.report(CheckError::NoOverload {
                    span: name.span.to(arg.span()),
                    name: name.text.to_string(),
                    argument,
                    candidates,
                });
                None
            }
            _ => {
                let candidates = self.describe(&name.text, &best, name.span);
                self.report(CheckError::Ambiguous {
                    span: name.span,
                    name: name.text.to_string(),
                    candidates,
                });
                None
            }
        }
    }

    /// Those candidates to which no other is strictly more specific.
    pub(super) fn most_specific(&mut self, candidates: &[Callable], span: Span) -> Vec<Callable> {
        let domains: Vec<Scheme> = candidates.iter().map(|c| self.scheme(c, span)).collect();
        let mut at_least = |special: &Scheme, general: &Scheme| {
            let mark = self.infer.mark();
            let instance = general.instantiate(&mut self.infer, &[]);
            let ok = self.infer.unify(&instance.domain, &special.domain).is_ok();
            self.infer.undo(mark);
            ok
        };
        let mut best = Vec::new();
        for (i, candidate) in candidates.iter().enumerate() {
            let beaten = (0..candidates.len())
                .any(|j| j != i && at_least(&domains[j], &domains[i]) && !at_least(&domains[i], &domains[j]));
            if !beaten {
                best.push(candidate.clone());
            }
        }
        best
    }
}

/// Whether a part of a type is a mistake that has been reported.
pub(super) fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}
