//! Declared kinds and type functions: `kind`, `typefun`, `typematch`.
//!
//! A `typematch` is lowered to a type function of the variables that it mentions, applied to them,
//! so that it can stand wherever a type can. As the whole body of a `typefun` it is the body of
//! that function.
//!
//! **Patterns.** A name in a pattern is a member of the matched kind; otherwise a declared or
//! built-in type; otherwise a variable. A variable hides a type parameter of the same name, as in
//! any match. It may occur twice, for the same type.
//!
//! **Coverage.** If all subjects are of declared kinds, the cases are finitely many: each case must
//! have an arm, and each arm a case. Otherwise an arm is reported if an earlier arm matches all its
//! types, and a missing arm is reported at the use.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::env;
use crate::check::env::TypeDefinition;
use crate::check::error::{CheckError, KindError, PatternError, TypeError};
use crate::check::report::Report;
use crate::check::report::mentions_error;
use crate::check::types::list_types::Part;
use crate::hash::HashSet;
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Name, TypeExpr, TypeExprKind, TypeParam};
use crate::types::apply::{Fit, Meaning, Reduction, Refusal, TypeArm};
use crate::types::{FiniteKind, Kind, Member, ProductForm, Scalar, Type, TypeFun, TypeKind, TypeVar};
use std::sync::Arc;

/// The maximum number of combinations of members for which coverage is checked.
const MAX_CASES: usize = 4_096;

impl Checker<'_> {
    /// Declares `kind VIS = public | private | secret;`. Kinds are declared before types, which may
    /// mention them.
    pub(in crate::check) fn declare_kind(
        &mut self,
        name: &Name,
        members: &[Name],
        of_this_input: &mut Vec<(Name, Arc<str>)>,
    ) {
        if Kind::from_name(&name.text).is_some() {
            let error = TypeError::Duplicate { span: name.span, what: "kind", name: name.text.to_string() };
            self.report(error);
            return;
        }
        let mut seen: HashSet<&str> = HashSet::default();
        for member in members {
            if !seen.insert(&member.text) {
                self.report(TypeError::Duplicate {
                    span: member.span,
                    what: "member",
                    name: member.text.to_string(),
                });
            } else if let Some((previous, other)) = of_this_input.iter().find(|(m, _)| m.text == member.text)
            {
                let error = KindError::SharedMember {
                    span: member.span,
                    name: member.text.to_string(),
                    kind: name.text.to_string(),
                    other: other.to_string(),
                    previous: previous.span,
                };
                self.report(CheckError::Kind(error));
            }
            of_this_input.push((member.clone(), name.text.clone()));
        }
        let names = members.iter().map(|m| m.text.clone()).collect();
        let kind = FiniteKind::new(self.env.fresh_id(), name.text.clone(), names);
        // Existing types keep the kind of their declaration, and the kind keeps its name.
        let before = self.env.kinds.insert(name.text.clone(), kind.clone());
        self.env.foreign_kinds.extend(before);
        for (index, member) in members.iter().enumerate() {
            let ty = Member { kind: kind.clone(), index }.into_type();
            self.env.types.insert(member.text.clone(), TypeDefinition::Alias(Vec::new(), ty));
        }
    }

    /// Reads a written kind; an omitted kind is `TYPE`.
    pub(in crate::check) fn lower_kind(&mut self, written: Option<&Name>) -> Kind {
        let Some(name) = written else { return Kind::Type };
        self.note(name.span, |_| Some(Referent::Named));
        self.env.lookup_kind(&name.text).unwrap_or_else(|| {
            if self.report_unknown_in_module(name) {
                return Kind::UnitSum;
            }
            let mut declared: Vec<String> = self.env.kinds.keys().map(|k| k.to_string()).collect();
            declared.sort();
            self.report(TypeError::UnknownKind { span: name.span, name: name.text.to_string(), declared });
            // This kind fits wherever it is used, which avoids further messages.
            Kind::UnitSum
        })
    }

    /// Declares a type function: `typefun narrow(V:VIS, W:VIS):VIS => …;`.
    pub(in crate::check) fn declare_typefun(
        &mut self,
        name: &Name,
        written: &[TypeParam],
        kind: Option<&Name>,
        body: &TypeExpr,
    ) {
        let params = self.declare_params(written);
        let kind = self.lower_kind(kind);
        let kinds = self.declared_kinds(&params, kind);
        let fun = TypeFun::declare(self.env.fresh_id(), name.text.clone(), params, kind, kinds);
        self.env.types.insert(name.text.clone(), TypeDefinition::Function(fun.clone()));
        let before = self.errors();
        let meaning = match &body.kind {
            TypeExprKind::TypeMatch(subjects, arms) => {
                self.type_match(subjects, arms, Some((kind, &name.text)), body.span)
            }
            TypeExprKind::Refusal(text) => {
                let refusal = Some(self.parse_refusal(text, body.span));
                let (patterns, binds, result) = (Vec::new(), Vec::new(), Type::error());
                Meaning::Match(Vec::new(), vec![TypeArm { patterns, binds, result, refusal }])
            }
            _ => {
                let ty = self.lower_argument(body);
                self.result_kind(&ty, kind, &name.text, body.span);
                self.no_hole(&ty, body.span);
                Meaning::Type(ty)
            }
        };
        if self.errors() > before {
            // The errors have been reported.
            fun.define(Meaning::Type(Type::error()));
            return;
        }
        // The subjects decide which arm is taken: a parameter must occur in them, or in what an arm
        // gives.
        let subjects: Vec<Type> = match &body.kind {
            TypeExprKind::TypeMatch(subjects, _) => subjects.iter().map(|s| self.lower_argument(s)).collect(),
            _ => Vec::new(),
        };
        let is = match &meaning {
            Meaning::Type(ty) => vec![ty],
            Meaning::Match(_, arms) => {
                let words = arms.iter().flat_map(|arm| &arm.refusal).flat_map(Refusal::types);
                let results = arms.iter().map(|arm| &arm.result);
                subjects.iter().chain(words).chain(results).collect()
            }
        };
        for (param, written) in fun.params.iter().zip(written) {
            let refused = matches!(&body.kind, TypeExprKind::Refusal(_));
            if !refused && !is.iter().any(|ty| ty.mentions(param)) {
                let (span, param, function) =
                    (written.name.span, param.name.to_string(), name.text.to_string());
                self.report(TypeError::UnusedInTypeFun { span, name: param, function });
            }
        }
        fun.define(meaning);
        let own: Vec<Type> = fun.params.iter().cloned().map(Type::var).collect();
        if fun.reduce(&own) == Reduction::OutOfFuel {
            let application = Type::apply(fun.clone(), own);
            self.report(CheckError::Kind(KindError::Endless { span: name.span, application }));
        }
    }

    /// Returns the number of errors reported so far.
    pub(in crate::check) fn errors(&self) -> usize {
        self.reports.errors()
    }

    /// Reports a result of a type function that is not of its kind.
    fn result_kind(&mut self, ty: &Type, kind: Kind, function: &str, span: Span) {
        if !ty.has_kind(kind) {
            let error = KindError::ResultKind {
                span,
                ty: ty.clone(),
                found: self.env.kind_name(ty.kind_of()),
                wanted: self.env.kind_name(kind),
                function: function.to_string(),
            };
            self.report(CheckError::Kind(error));
        }
    }

    /// Reports a hole in a type.
    fn no_hole(&mut self, ty: &Type, span: Span) {
        if ty.has_meta() {
            self.report(CheckError::Kind(KindError::HoleInResult { span }));
        }
    }

    /// Lowers a `typematch` within a type to an anonymous type function of the variables that it
    /// mentions.
    pub(in crate::check) fn lower_type_match(
        &mut self,
        subjects: &[TypeExpr],
        arms: &[ast::TypeArm],
        span: Span,
    ) -> Type {
        let before = self.errors();
        let meaning = self.type_match(subjects, arms, None, span);
        let Meaning::Match(subjects, arms) = &meaning else { return Type::error() };
        if self.errors() > before {
            return Type::error();
        }
        let mut params: Vec<TypeVar> = Vec::new();
        subjects.iter().for_each(|ty| variables(ty, &[], &mut params));
        for arm in arms {
            variables(&arm.result, &arm.binds, &mut params);
            let named = arm.refusal.iter().flat_map(Refusal::types);
            named.for_each(|ty| variables(ty, &arm.binds, &mut params));
        }
        let results = || arms.iter().filter(|arm| arm.refusal.is_none()).map(|arm| arm.result.kind_of());
        let kind = if results().next().is_none() { Some(Kind::Type) } else { common_kind(results()) };
        let Some(kind) = kind else {
            let (first, other) = (&arms[0].result, arms.iter().map(|a| &a.result));
            if let Some(other) = other.into_iter().find(|r| r.kind_of().meet(first.kind_of()).is_none()) {
                self.result_kind(&other.clone(), first.kind_of(), "typematch", span);
            }
            return Type::error();
        };
        let args = params.iter().cloned().map(Type::var).collect();
        let kinds = self.declared_kinds(&params, kind);
        let fun = TypeFun::declare(self.env.fresh_id(), "typematch".into(), params, kind, kinds);
        fun.define(meaning);
        Type::apply(fun, args)
    }

    /// Lowers a `typematch` to its subjects and arms. `result` is the kind of the results and the
    /// name of the function, if these are declared.
    fn type_match(
        &mut self,
        subjects: &[TypeExpr],
        arms: &[ast::TypeArm],
        result: Option<(Kind, &str)>,
        span: Span,
    ) -> Meaning {
        let span = match subjects {
            [first, .., last] => first.span.to(last.span),
            [one] => one.span,
            [] => span,
        };
        let subjects: Vec<Type> = subjects.iter().map(|s| self.lower_argument(s)).collect();
        let kinds: Vec<Kind> = subjects.iter().map(Type::kind_of).collect();
        subjects.iter().for_each(|s| self.no_hole(s, span));
        let mut done: Vec<(TypeArm, Span)> = Vec::new();
        for arm in arms {
            if arm.patterns.len() != kinds.len()
                && !matches!(arm.patterns[..], [TypeExpr { kind: TypeExprKind::Hole, .. }])
            {
                self.report(CheckError::Kind(KindError::PatternCount {
                    span: arm.span,
                    wanted: kinds.len(),
                    found: arm.patterns.len(),
                }));
                continue;
            }
            let mut scope = PatternScope::default();
            let before = self.errors();
            let patterns = if arm.patterns.len() == kinds.len() {
                let pairs = arm.patterns.iter().zip(&kinds);
                pairs.map(|(p, &kind)| self.type_pattern(p, kind, &mut scope)).collect()
            } else {
                // `_` alone matches all subjects.
                kinds.iter().map(|&kind| self.wildcard(kind, &mut scope)).collect()
            };
            if self.errors() > before {
                // The names of the pattern are unknown, so the result is not checked.
                continue;
            }
            let outer = self.item.type_scope.clone();
            for (name, var) in &scope.names {
                self.item.type_scope.insert(name.clone(), Type::var(var.clone()));
            }
            let refusal = match &arm.result.kind {
                TypeExprKind::Refusal(text) => Some(self.parse_refusal(text, arm.result.span)),
                _ => None,
            };
            let ty = match refusal {
                Some(_) => Type::error(),
                None => self.lower_argument(&arm.result),
            };
            self.item.type_scope = outer;
            self.no_hole(&ty, arm.result.span);
            if let Some((kind, function)) = result {
                self.result_kind(&ty, kind, function, arm.result.span);
            }
            done.push((TypeArm { patterns, binds: scope.binds, result: ty, refusal }, arm.span));
        }
        if subjects.iter().all(|s| !s.is_error()) && done.len() == arms.len() {
            self.coverage(&kinds, &done, span);
        }
        Meaning::Match(subjects, done.into_iter().map(|(arm, _)| arm).collect())
    }

    /// Returns the declared kinds among the kinds of a type function.
    fn declared_kinds(&self, params: &[TypeVar], kind: Kind) -> Vec<FiniteKind> {
        let mut kinds: Vec<FiniteKind> = Vec::new();
        for kind in params.iter().map(|param| param.kind).chain([kind]) {
            if let Some(declared) = self.env.finite_kind(kind)
                && kinds.iter().all(|known| known.id != declared.id)
            {
                kinds.push(declared.clone());
            }
        }
        kinds
    }

    /// Parses the words of a refusal: `{T}` is replaced by the type `T`, and `{{` is a brace.
    pub(in crate::check) fn parse_refusal(&mut self, text: &str, span: Span) -> Refusal {
        let mut pieces: Vec<Result<Arc<str>, Type>> = Vec::new();
        let (mut plain, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            let doubled = ["{{", "}}"].into_iter().find(|braces| from.starts_with(braces));
            let named = from.strip_prefix('{').and_then(|after| after.split_once('}'));
            match (doubled, named) {
                (None, Some((name, after))) if crate::syntax::is_name(name) => {
                    let known = self.item.type_scope.get(name).cloned();
                    if known.is_none() {
                        let mut known: Vec<String> =
                            self.item.type_scope.keys().map(|name| name.to_string()).collect();
                        known.sort();
                        let name = name.to_string();
                        self.report(CheckError::Kind(KindError::RefusalNames { span, name, known }));
                    }
                    pieces.push(Ok(std::mem::take(&mut plain).into()));
                    pieces.push(Err(known.unwrap_or_else(Type::error)));
                    rest = after;
                }
                _ => {
                    plain.push_str(&from[..1]);
                    rest = &from[doubled.map_or(1, str::len)..];
                }
            }
        }
        plain.push_str(rest);
        if text.trim().is_empty() {
            self.report(CheckError::Kind(KindError::RefusalEmpty { span }));
        }
        pieces.push(Ok(plain.into()));
        Refusal { pieces }
    }

    /// Makes a variable without a name, which matches every type of the kind.
    fn wildcard(&mut self, kind: Kind, scope: &mut PatternScope) -> Type {
        let var = self.env.fresh_var(&Arc::from("_"), kind);
        scope.binds.push(var.clone());
        Type::var(var)
    }

    /// Lowers a pattern to a type whose variables are added to `scope`; reports a pattern of
    /// another kind.
    fn type_pattern(&mut self, written: &TypeExpr, kind: Kind, scope: &mut PatternScope) -> Type {
        let ty = self.pattern_of(written, kind, scope);
        if !ty.has_kind(kind) {
            let error = KindError::PatternKind { span: written.span, ty, kind: self.env.kind_name(kind) };
            self.report(CheckError::Kind(error));
            return Type::error();
        }
        ty
    }

    /// Lowers a pattern to a type of any kind.
    fn pattern_of(&mut self, written: &TypeExpr, kind: Kind, scope: &mut PatternScope) -> Type {
        use TypeExprKind as T;
        let span = written.span;
        let mut all = |this: &mut Self, parts: &[TypeExpr], kind: Kind| -> Vec<Type> {
            parts.iter().map(|part| this.type_pattern(part, kind, scope)).collect()
        };
        match &written.kind {
            T::Hole => self.wildcard(kind, scope),
            T::Number(n) => Type::unit_sum(n.clone()),
            T::Name(name, args) => self.pattern_name(name, args, kind, scope, span),
            T::Product(parts) => self.product_pattern(ProductForm::Tuple, parts, scope),
            T::Sum(parts) => Type::sum(all(self, parts, Kind::Type)),
            T::CompactProduct(parts) => self.product_pattern(ProductForm::Compact, parts, scope),
            T::CompactSum(parts) => Type::compact_sum(all(self, parts, Kind::Compact)),
            T::CompactPower(base, exponent) => {
                let base = self.type_pattern(base, Kind::Compact, scope);
                Type::compact_power(base, self.type_pattern(exponent, Kind::Compact, scope))
            }
            T::Array(element, index) => {
                let element = self.type_pattern(element, Kind::Type, scope);
                Type::array(element, self.type_pattern(index, Kind::Compact, scope))
            }
            T::Repeat(times, case) => {
                let case = self.type_pattern(case, Kind::Type, scope);
                Type::repeat(self.type_pattern(times, Kind::Compact, scope), case)
            }
            T::Function(domain, codomain) => {
                let domain = self.type_pattern(domain, Kind::Type, scope);
                let codomain = self.type_pattern(codomain, Kind::Type, scope);
                if codomain.is_void() { Type::procedure(domain) } else { Type::function(domain, codomain) }
            }
            T::Record(fields) => Type::record(
                fields
                    .iter()
                    .map(|(name, ty)| (name.text.clone(), self.type_pattern(ty, Kind::Type, scope)))
                    .collect(),
            ),
            T::CompactRecord(fields) => Type::compact_record(
                fields
                    .iter()
                    .map(|(name, ty)| (name.text.clone(), self.type_pattern(ty, Kind::Compact, scope)))
                    .collect(),
            ),
            T::Placed(ty, places) => {
                let ty = self.type_pattern(ty, Kind::Type, scope);
                Type::placed(ty, self.type_pattern(places, Kind::Places, scope))
            }
            T::Places(names) => self.lower_places(names, span),
            T::Call(..) | T::TypeMatch(..) => {
                self.no_pattern(span, "a type that is computed", "match its arguments instead")
            }
            T::Labels(..) => self.no_pattern(span, "a range of labels", "a `newtype` gives it a name"),
            T::Rest(_) => {
                self.no_pattern(span, "`..` by itself", "write the first component before it: `A * ..R`")
            }
            T::Open(_) => self.no_pattern(span, "`?`", "a name without `?` is a variable of the pattern"),
            T::Refusal(_) => self.no_pattern(span, "`error`", "it stands after `=>`, in place of the result"),
            T::Error => Type::error(),
        }
    }

    /// Lowers a pattern `A * B` or `A * ..R`.
    fn product_pattern(&mut self, form: ProductForm, parts: &[TypeExpr], scope: &mut PatternScope) -> Type {
        self.lower_spread(form, false, parts, &mut |this, part| {
            let name = match part {
                Part::Component(part) => return Some(this.type_pattern(part, form.kind(), scope)),
                Part::Rest(name) => name,
            };
            if scope.names.iter().any(|(known, _)| *known == name.text) {
                let (span, what, name) = (name.span, "variable", name.text.to_string());
                this.report(TypeError::Duplicate { span, what, name });
                return None;
            }
            let var = this.env.fresh_var(&name.text, Kind::List(form));
            scope.binds.push(var.clone());
            scope.names.push((name.text.clone(), var.clone()));
            this.note_parameter(name, &Type::var(var.clone()));
            Some(Type::var(var))
        })
    }

    /// Reports a type that cannot be a pattern.
    fn no_pattern(&mut self, span: Span, what: &'static str, help: &'static str) -> Type {
        self.report(CheckError::Kind(KindError::NotAPattern { span, what, help }));
        Type::error()
    }

    /// Lowers a name in a pattern: a variable, a member, or a declared type with its arguments.
    fn pattern_name(
        &mut self,
        name: &Name,
        args: &[TypeExpr],
        kind: Kind,
        scope: &mut PatternScope,
        span: Span,
    ) -> Type {
        if args.is_empty() {
            if let Some((_, var)) = scope.names.iter().find(|(known, _)| *known == name.text) {
                self.note(name.span, |_| Some(Referent::Parameter(var.id)));
                return Type::var(var.clone());
            }
            let declared = self.env.finite_kind(kind).cloned();
            if let Some(declared) = declared {
                let members = declared.members.iter();
                if let Some(index) = members.clone().position(|m| *m == name.text) {
                    self.note(name.span, |_| Some(Referent::Named));
                    return Member { kind: declared, index }.into_type();
                }
                if let Some(similar) = similar(&name.text, members.map(|m| &**m)) {
                    self.report(CheckError::Kind(KindError::NoMember {
                        span,
                        name: name.text.to_string(),
                        kind: declared.name.to_string(),
                        similar,
                    }));
                    return Type::error();
                }
            }
        }
        self.ensure_type(&name.text, span);
        if self.type_definition(&name.text).is_some() {
            self.note(name.span, |_| Some(Referent::Named));
        }
        let built_in =
            Scalar::from_name(&name.text).is_some() || matches!(&*name.text, "bool" | "unit" | "void");
        let (params, nominal, body) = match self.type_definition(&name.text).cloned() {
            Some(TypeDefinition::Alias(params, body)) => (params, None, body),
            Some(TypeDefinition::Nominal(nominal)) => (nominal.params.clone(), Some(nominal), Type::error()),
            Some(TypeDefinition::Size(size)) => (Vec::new(), None, size),
            Some(TypeDefinition::Function(_)) => {
                return self.no_pattern(span, "a type function", "match its arguments instead");
            }
            None if built_in || !args.is_empty() => {
                let outer = std::mem::take(&mut self.item.type_scope);
                let ty = self.lower_argument(&TypeExpr {
                    kind: TypeExprKind::Name(name.clone(), args.to_vec()),
                    span,
                });
                self.item.type_scope = outer;
                return ty;
            }
            None => {
                let var = self.env.fresh_var(&name.text, kind);
                scope.binds.push(var.clone());
                scope.names.push((name.text.clone(), var.clone()));
                self.note_parameter(name, &Type::var(var.clone()));
                return Type::var(var);
            }
        };
        if params.len() != args.len() {
            return self.arity_error(name, params.len(), args.len());
        }
        let types: Vec<Type> =
            params.iter().zip(args).map(|(param, arg)| self.type_pattern(arg, param.kind, scope)).collect();
        match nominal {
            Some(nominal) => Type::nominal(nominal, types),
            None => body.substitute(&env::bindings(&params, &types)),
        }
    }

    /// Reports cases without an arm, and arms without a case.
    fn coverage(&mut self, kinds: &[Kind], arms: &[(TypeArm, Span)], span: Span) {
        if arms.iter().any(|(arm, _)| arm.patterns.iter().any(mentions_error)) {
            return;
        }
        let Some(cases) = self.cases(kinds) else {
            for (i, (arm, span)) in arms.iter().enumerate() {
                let taken = arms[..i].iter().any(|(earlier, _)| earlier.fit(&arm.patterns).0 == Fit::Matches);
                if taken {
                    self.report(PatternError::Unreachable { span: *span });
                }
            }
            return;
        };
        let mut reached = vec![false; arms.len()];
        let mut missing = Vec::new();
        for case in cases {
            match arms.iter().position(|(arm, _)| arm.fit(&case).0 == Fit::Matches) {
                Some(arm) => reached[arm] = true,
                None => {
                    let names: Vec<String> = case.iter().map(Type::to_string).collect();
                    missing.push(if case.len() == 1 {
                        names.concat()
                    } else {
                        format!("({})", names.join(", "))
                    });
                }
            }
        }
        for ((_, span), reached) in arms.iter().zip(reached) {
            if !reached {
                self.report(PatternError::Unreachable { span: *span });
            }
        }
        if !missing.is_empty() {
            self.report(CheckError::Kind(KindError::NotCovered { span, missing }));
        }
    }

    /// Returns all combinations of members, if all kinds are declared and there are at most
    /// `MAX_CASES` combinations.
    fn cases(&self, kinds: &[Kind]) -> Option<Vec<Vec<Type>>> {
        let mut cases: Vec<Vec<Type>> = vec![Vec::new()];
        for &kind in kinds {
            let declared = self.env.finite_kind(kind)?;
            if cases.len() * declared.members.len() > MAX_CASES {
                return None;
            }
            let extend = |case: &Vec<Type>| {
                let case = case.clone();
                (0..declared.members.len()).map(move |index| {
                    let member = Member { kind: declared.clone(), index }.into_type();
                    [&case[..], &[member]].concat()
                })
            };
            cases = cases.iter().flat_map(extend).collect();
        }
        Some(cases)
    }

    /// Returns a written type, or reports an application in it that can never reduce.
    pub(in crate::check) fn check_reducible(&mut self, ty: Type, span: Span) -> Type {
        match irreducible(&ty, span) {
            Some(error) => {
                self.report(CheckError::Kind(error));
                Type::error()
            }
            None => ty,
        }
    }

    /// Returns an inferred type, or reports an application in it that can never reduce. For
    /// `origin` see [`Checker::finish_type_of`].
    pub(in crate::check) fn finish_applications(&mut self, ty: Type, span: Span, origin: bool) -> Type {
        match irreducible(&ty, span) {
            Some(error) => {
                self.report_application(error, origin);
                Type::error()
            }
            None => ty,
        }
    }

    /// Reports an application in an inferred type, unless the same cause has been reported: a call,
    /// its function and its arguments may all have the type.
    pub(in crate::check) fn report_application(&mut self, error: KindError, origin: bool) {
        // One refusal may apply at several places.
        let refused = origin && matches!(error, KindError::Refused { .. });
        let at = error.span();
        let apart =
            |one: Span| refused && (one.source != at.source || one.end <= at.start || at.end <= one.start);
        let reported = |report: &Report| {
            matches!(&report.error, CheckError::Kind(known) if known.same_cause(&error))
                && !apart(report.span())
        };
        if self.reports.iter().any(reported) {
            self.note_suppressed(at);
        } else {
            self.report(CheckError::Kind(error));
        }
    }
}

/// Returns the error for an application in a type that can never reduce.
fn irreducible(ty: &Type, span: Span) -> Option<KindError> {
    let mut why = Reduction::NoArm;
    let application = ty.find_application(&mut |fun, args| {
        why = fun.reduce(args);
        !matches!(why, Reduction::Reduced(_) | Reduction::Stuck)
    })?;
    Some(match why {
        Reduction::Refused(text) => KindError::Refused { span, application, text },
        Reduction::OutOfFuel => KindError::Endless { span, application },
        _ => KindError::NoArm { span, application },
    })
}

/// Returns the text of the type with its arguments in brackets, if they are names and numbers.
pub(in crate::check) fn bracketed_arguments(name: &Name, args: &[TypeExpr]) -> Option<String> {
    let text = |arg: &TypeExpr| match &arg.kind {
        TypeExprKind::Name(name, args) if args.is_empty() => Some(name.text.to_string()),
        TypeExprKind::Number(n) => Some(n.to_string()),
        TypeExprKind::Hole => Some("_".to_string()),
        _ => None,
    };
    let args: Vec<String> = args.iter().map(text).collect::<Option<_>>()?;
    (!args.is_empty()).then(|| format!("{}[{}]", name.text, args.join(", ")))
}

/// The variables of a pattern.
#[derive(Default)]
struct PatternScope {
    /// All variables.
    binds: Vec<TypeVar>,
    /// The variables with names.
    names: Vec<(Arc<str>, TypeVar)>,
}

/// Collects the rigid variables of a type other than `bound`, each once.
fn variables(ty: &Type, bound: &[TypeVar], out: &mut Vec<TypeVar>) {
    if !ty.has_var() {
        return;
    }
    match ty.kind() {
        TypeKind::Var(var) if bound.contains(var) || out.contains(var) => {}
        TypeKind::Var(var) => out.push(var.clone()),
        kind => kind.for_each_child(&mut |child| variables(child, bound, out)),
    }
}

/// Returns the smallest kind that includes all of these kinds.
fn common_kind(mut kinds: impl Iterator<Item = Kind>) -> Option<Kind> {
    let first = kinds.next()?;
    kinds.try_fold(first, Kind::join)
}

#[cfg(test)]
mod tests {
    use super::{Checker, MAX_CASES, bracketed_arguments, common_kind, variables};
    use crate::check::env::Env;
    use crate::check::error::{CheckError, KindError};
    use crate::core::Program;
    use crate::hash::{HashMap, HashSet};
    use crate::source::{Source, Span};
    use crate::syntax::ast::TypeExprKind;
    use crate::syntax::parse_type;
    use crate::types::{FiniteKind, Kind, ProductForm, Type, TypeVar};

    fn var(id: u32) -> TypeVar {
        TypeVar { id, name: format!("T{id}").into(), kind: Kind::Type }
    }

    /// The common kind of two kinds is their least upper bound.
    #[test]
    fn the_common_kind_includes_both_and_is_the_least() {
        for &one in &KINDS {
            for &other in &KINDS {
                let above = |kind: &Kind| one.is_subkind_of(*kind) && other.is_subkind_of(*kind);
                if let Some(found) = common_kind([one, other].into_iter()) {
                    assert!(above(&found), "{one} and {other}: {found}");
                    assert!(KINDS.iter().filter(|kind| above(kind)).all(|kind| found.is_subkind_of(*kind)));
                }
            }
        }
        assert_eq!(common_kind(std::iter::empty()), None);
    }

    const KINDS: [Kind; 10] = [
        Kind::UnitSum,
        Kind::Place,
        Kind::Places,
        Kind::Compact,
        Kind::Type,
        Kind::Spread,
        Kind::Finite(1),
        Kind::Finite(2),
        Kind::List(ProductForm::Tuple),
        Kind::List(ProductForm::Compact),
    ];

    /// The common kind does not depend on the order of the kinds, and exists if a kind includes
    /// all.
    #[test]
    fn there_is_a_common_kind_if_a_kind_includes_all() {
        for &one in &KINDS {
            for &other in &KINDS {
                let above = |kind: &Kind| one.is_subkind_of(*kind) && other.is_subkind_of(*kind);
                let found = common_kind([one, other].into_iter());
                assert_eq!(found.is_some(), KINDS.iter().any(above), "{one} and {other}");
            }
        }
    }

    #[test]
    fn variables_are_collected_once_in_order_without_those_of_the_pattern() {
        let ty = |id: u32| Type::var(var(id));
        let whole = Type::product(vec![ty(3), Type::array(ty(1), Type::bool()), ty(2), ty(3)]);
        let mut found = Vec::new();
        variables(&whole, &[var(2)], &mut found);
        variables(&ty(1), &[], &mut found);
        assert_eq!(found, [var(3), var(1)]);
    }

    #[test]
    fn arguments_that_are_names_and_numbers_have_a_text_in_brackets() {
        let bracketed = |text: &str| {
            let (ty, errors) = parse_type(&Source { text: text.to_string(), ..Source::default() });
            assert!(errors.is_empty(), "{errors:?}");
            match ty.expect("a type").kind {
                TypeExprKind::Call(name, args) => bracketed_arguments(&name, &args),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(bracketed("option(int, 3, _)"), Some("option[int, 3, _]".into()));
        assert_eq!(bracketed("option(int ^ 3)"), None);
    }

    /// Runs a check in a session with declared kinds of two and of three members.
    fn with_checker<R>(test: impl FnOnce(&mut Checker<'_>) -> R) -> R {
        let (mut env, mut program) = (Env::new(), Program::default());
        for (id, members) in [(1, &["a", "b"][..]), (2, &["c", "d", "e"])] {
            let members = members.iter().map(|member| (*member).into()).collect();
            env.kinds.insert(format!("K{id}").into(), FiniteKind::new(id, format!("K{id}").into(), members));
        }
        test(&mut Checker::new(&mut env, &mut program, |_, _| {}))
    }

    #[test]
    fn cases_are_all_combinations_of_members_up_to_the_bound() {
        with_checker(|checker| {
            let cases =
                checker.cases(&[Kind::Finite(1), Kind::Finite(2), Kind::Finite(1)]).expect("few cases");
            let distinct: HashSet<&Vec<Type>> = cases.iter().collect();
            assert_eq!((cases.len(), distinct.len()), (12, 12));
            assert!(cases.iter().all(|case| case.len() == 3));
            assert_eq!(checker.cases(&[]), Some(vec![Vec::new()]));
            assert_eq!(checker.cases(&[Kind::Finite(1), Kind::Type]), None);
            let many = [Kind::Finite(1); 12];
            assert_eq!(checker.cases(&many).map(|cases| cases.len()), Some(MAX_CASES));
            assert_eq!(checker.cases(&[many.as_slice(), &[Kind::Finite(1)]].concat()), None);
        });
    }

    /// Returns the text of a refusal at `int` for `T1`, and the names that are unknown in it.
    fn refused(text: &str) -> (String, Vec<String>, bool) {
        with_checker(|checker| {
            checker.item.type_scope.insert("T1".into(), Type::var(var(1)));
            let refusal = checker.parse_refusal(text, Span::default());
            let bindings: HashMap<u32, Type> = [(1, Type::int())].into_iter().collect();
            let mut unknown = Vec::new();
            let mut empty = false;
            for report in checker.reports.iter() {
                match &report.error {
                    CheckError::Kind(KindError::RefusalNames { name, .. }) => unknown.push(name.clone()),
                    CheckError::Kind(KindError::RefusalEmpty { .. }) => empty = true,
                    other => panic!("{other:?}"),
                }
            }
            (refusal.text(&bindings), unknown, empty)
        })
    }

    #[test]
    fn names_in_braces_are_types_and_doubled_braces_are_braces() {
        let known = |text: &str| {
            let (text, unknown, empty) = refused(text);
            assert!(unknown.is_empty() && !empty, "{unknown:?}");
            text
        };
        assert_eq!(known("no {T1} here, {T1}"), "no int here, int");
        assert_eq!(known("{{T1}} and }}{{"), "{T1} and }{");
        // Braces around anything but a name are text.
        assert_eq!(known("{ T1 } {1} { {T1"), "{ T1 } {1} { {T1");
        assert_eq!(known("ä{T1}ö"), "äintö");
        assert_eq!(refused("{T2}").1, ["T2"]);
        assert!(refused("  ").2);
    }
}
