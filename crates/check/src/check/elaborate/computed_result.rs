//! Primitives whose result type is computed from the type of their argument: `move`, `pack`,
//! `unpack`, `caseno`, `casearg`; and `type_text`, whose result value is.
//!
//! Takes a call of one of them with its argument elaborated; returns core in which the primitive is
//! replaced by its definition, as far as core has a form for it. `x.move[T]` becomes the value of
//! `T` whose leaves are read as the permutation of [`crate::iso::leaves`] says. The result is
//! nested array constructions, which the compiler turns into one gathering loop. An array or a leaf
//! that moves as a whole is a reshape, which costs nothing at run time.

use crate::check::context::Checker;
use crate::check::error::{AxisError, MoveError, PartError, TypeError};
use crate::check::terms::with_prefix;
use crate::core::{Arm, LocalId, Pat, PatKind, Prim, Term, TermKind};
use crate::iso::leaves::{self, Leaf, LeafPermutation, NoPermutation, Step};
use crate::iso::{self, Verdict};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::number::MAX_COMPONENTS;
use crate::types::{Kind, NominalBody, Type, TypeKind};
use num_bigint::BigUint;

/// Maximum number of elements of a constant-length array that is packed or unpacked part by part.
const MAX_PARTS: usize = 16;

impl Checker<'_> {
    /// Elaborates the call of a primitive whose result type is computed. `target` is the stated
    /// result type of `move`.
    pub(in crate::check) fn computed_call(
        &mut self,
        prim: Prim,
        name: &ast::Name,
        target: Option<Type>,
        arg: Term,
        span: Span,
    ) -> Term {
        self.resolve_deferred_call(&arg.ty);
        let ty = self.infer.zonk_with_defaults(&arg.ty);
        if let TypeKind::Meta(_) = ty.kind() {
            let (span, what) = (arg.span, format!("what `{}` is applied to", name.text));
            let instead = "write the type of the value".to_string();
            return self.error_term(TypeError::CannotInfer { span, what, instead }, span);
        }
        let arg = Term { ty: ty.clone(), ..arg };
        match (prim, target) {
            _ if ty.is_error() => arg,
            (Prim::TypeText, _) => self.type_text(arg, span),
            (Prim::CaseNo, _) => self.case_number(arg, span),
            (Prim::CaseArg, _) => self.case_argument(arg, span),
            (Prim::Pack, _) => self.pack_parts(arg, span),
            (Prim::Unpack, _) => self.unpack_parts(arg, span),
            (Prim::Over | Prim::TransposeTo, Some(target)) => self.permute_axes(prim, arg, target, span),
            (Prim::Over | Prim::TransposeTo, None) => self.report_missing_axes(&name.text, name.span),
            (Prim::Like, _) => self.error_term(AxisError::OneArgument { span: name.span }, span),
            (_, Some(target)) => self.move_leaves(arg, target, span),
            (_, None) => self.error_term(MoveError::NoTarget { span: name.span }, span),
        }
    }

    /// Elaborates such a primitive as a function value. The expected type or the type arguments
    /// determine its parameter type.
    pub(in crate::check) fn computed_function_value(
        &mut self,
        prim: Prim,
        name: &ast::Name,
        type_args: &[Type],
        wanted: Option<&Type>,
        span: Span,
    ) -> Term {
        let (domain, result) = match wanted.map(Type::kind) {
            Some(TypeKind::Function(domain, result)) => (domain.clone(), Some(result.clone())),
            _ => (self.infer.fresh(Kind::Type), None),
        };
        let domain = match (prim, type_args) {
            (prim, [_, domain]) if prim.has_stated_target() => domain.clone(),
            (prim, _) if prim.has_stated_target() => domain,
            (_, []) => domain,
            (_, [domain, ..]) => domain.clone(),
        };
        let result = result.filter(|ty| !ty.has_meta());
        let target = match prim {
            Prim::Move => type_args.first().cloned().or(result),
            _ => type_args.first().filter(|_| prim.has_stated_target()).cloned(),
        };
        self.synthesize(domain, span, |this, x| this.computed_call(prim, name, target, x, span))
    }

    /// Elaborates `x.type_text`: a constant, or, in a generic function, a primitive that depends on
    /// the type arguments.
    fn type_text(&mut self, arg: Term, span: Span) -> Term {
        if arg.ty.has_meta() {
            let what = format!("all of `{}`", self.infer.display_type(&arg.ty));
            let instead = "write the type of the value".to_string();
            return self.error_term(TypeError::CannotInfer { span: arg.span, what, instead }, span);
        }
        let generic = self.item.type_params.iter().any(|param| arg.ty.mentions(param));
        let kind = match generic {
            true => TermKind::Prim(Prim::TypeText, vec![arg.ty.clone()], vec![arg]),
            false => TermKind::Str(arg.ty.to_string().into()),
        };
        Term::new(kind, Type::string(), span)
    }

    /// Returns the index type of the case numbers of a sum; `None` for other types.
    fn case_numbers(&self, ty: &Type) -> Option<Type> {
        match ty.unfold().kind() {
            TypeKind::Repeat(cases, _) => Some(cases.clone()),
            TypeKind::Nominal(nominal, _) => match nominal.body()? {
                NominalBody::Variant(cases) => Some(Type::unit_sum(cases.len())),
                _ => None,
            },
            _ => ty.unfold().case_count().map(Type::unit_sum),
        }
    }

    /// Elaborates `x.caseno`: the case number of a sum value.
    fn case_number(&mut self, arg: Term, span: Span) -> Term {
        match self.case_numbers(&arg.ty) {
            Some(number) => {
                let types = vec![arg.ty.clone(), number.clone()];
                Term::new(TermKind::Prim(Prim::CaseNo, types, vec![arg]), number, span)
            }
            None => self.error_term(PartError::NotASum { span: arg.span, ty: arg.ty }, span),
        }
    }

    /// Elaborates `x.casearg`: the argument of a sum value whose cases all have one argument type.
    fn case_argument(&mut self, arg: Term, span: Span) -> Term {
        let case = match arg.ty.unfold().kind() {
            TypeKind::Repeat(_, case) => case.clone(),
            TypeKind::UnitSum(_) => Type::unit(),
            _ if self.case_numbers(&arg.ty).is_some() => {
                let error = MoveError::CasesDiffer { span: arg.span, ty: arg.ty };
                return self.error_term(error, span);
            }
            _ => return self.error_term(PartError::NotASum { span: arg.span, ty: arg.ty }, span),
        };
        let types = vec![arg.ty.clone(), case.clone()];
        Term::new(TermKind::Prim(Prim::CaseArg, types, vec![arg]), case, span)
    }

    /// Elaborates `x.pack`: the compact product or exponential with the components of a tuple or
    /// array.
    fn pack_parts(&mut self, arg: Term, span: Span) -> Term {
        let ty = arg.ty.unfold();
        let listed = match ty.kind() {
            TypeKind::Product(parts) => Some(parts.clone()),
            TypeKind::Array(..) => ty.components(MAX_PARTS).filter(|parts| parts.len() > 1),
            _ if ty.is_unit() => return arg,
            TypeKind::Nominal(..) | TypeKind::Record(_) => ty.components(MAX_COMPONENTS),
            _ => None,
        };
        match (listed, ty.kind()) {
            (Some(parts), _) => {
                if let Some(part) = parts.iter().find(|part| !part.is_compact()) {
                    let (span, part) = (arg.span, part.clone());
                    return self
                        .error_term(MoveError::NotPacked { span, ty: arg.ty, part: Some(part) }, span);
                }
                let whole = match ty.kind() {
                    TypeKind::Record(fields) if fields.len() > 1 => Type::compact_record(fields.clone()),
                    _ => Type::compact_product(parts.clone()),
                };
                let types = parts.into_iter().enumerate();
                let mut prefix = Vec::new();
                let x = self.bind_value(arg, &mut prefix);
                let part =
                    |(i, ty)| Term::new(TermKind::Component(x.clone().into(), BigUint::from(i)), ty, span);
                let parts: Vec<Term> = types.map(part).collect();
                with_prefix(prefix, Term::new(TermKind::Pack(parts), whole, span))
            }
            (None, TypeKind::Array(element, index)) if element.is_compact() => {
                let whole = Type::compact_power(element.clone(), index.clone());
                let types = vec![ty.clone(), whole.clone()];
                let arg = Term::new(TermKind::Reshape(Box::new(arg)), ty.clone(), span);
                Term::new(TermKind::Prim(Prim::Pack, types, vec![arg]), whole, span)
            }
            (_, kind) => {
                let part = match kind {
                    TypeKind::Array(element, _) => Some(element.clone()),
                    _ => None,
                };
                self.error_term(MoveError::NotPacked { span: arg.span, ty: arg.ty, part }, span)
            }
        }
    }

    /// Elaborates `x.unpack`: the tuple or array with the parts of a compact product or
    /// exponential.
    fn unpack_parts(&mut self, arg: Term, span: Span) -> Term {
        let ty = arg.ty.unfold();
        if let Some(fields) = arg.ty.compact_fields() {
            let parts = fields.iter().map(|(_, part)| part.clone()).collect();
            let mut prefix = Vec::new();
            let x = self.bind_value(arg, &mut prefix);
            let parts = self.factors(&x, parts);
            return with_prefix(prefix, Term::new(TermKind::Tuple(parts), Type::record(fields), span));
        }
        match ty.kind() {
            TypeKind::CompactProduct(parts) => {
                let whole = Type::product(parts.clone());
                let parts = parts.clone();
                let mut prefix = Vec::new();
                let x = self.bind_value(arg, &mut prefix);
                let parts = self.factors(&x, parts);
                with_prefix(prefix, Term::new(TermKind::Tuple(parts), whole, span))
            }
            TypeKind::CompactPower(digit, index) => {
                let whole = Type::array(digit.clone(), index.clone());
                if let Some(parts) = ty.compact_factors(MAX_PARTS) {
                    let mut prefix = Vec::new();
                    let x = self.bind_value(arg, &mut prefix);
                    let parts = self.factors(&x, parts);
                    return with_prefix(prefix, Term::new(TermKind::Tuple(parts), whole, span));
                }
                let types = vec![ty.clone(), whole.clone()];
                let arg = Term::new(TermKind::Reshape(Box::new(arg)), ty.clone(), span);
                Term::new(TermKind::Prim(Prim::Unpack, types, vec![arg]), whole, span)
            }
            _ if ty.is_unit() => arg,
            _ => self.error_term(MoveError::NotUnpacked { span: arg.span, ty: arg.ty }, span),
        }
    }

    /// Returns the parts of a compact value that is in a variable.
    fn factors(&self, x: &Term, types: Vec<Type>) -> Vec<Term> {
        let part = |(i, ty)| Term::new(TermKind::Factor(Box::new(x.clone()), BigUint::from(i)), ty, x.span);
        types.into_iter().enumerate().map(part).collect()
    }

    /// Returns true if two types are naturally isomorphic, possibly by size equations that hold
    /// here.
    fn same_storage(&mut self, a: &Type, b: &Type) -> bool {
        iso::verdict(a, b) <= Verdict::Natural || self.is_naturally_isomorphic(a, b)
    }

    /// Elaborates `x.move[T]`.
    fn move_leaves(&mut self, arg: Term, target: Type, span: Span) -> Term {
        let target = self.infer.zonk_with_defaults(&target);
        if target.is_error() {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Some(open) = [&arg.ty, &target].into_iter().find(|ty| ty.has_meta()) {
            let what = format!("the leaves of `{}`", self.infer.display_type(open));
            let instead = "write its type out".to_string();
            return self.error_term(TypeError::CannotInfer { span, what, instead }, span);
        }
        let mut prefix = Vec::new();
        let x = self.bind_value(arg, &mut prefix);
        match self.permute_leaves(&x, &target) {
            Ok(value) => with_prefix(prefix, Term { span, ..value }),
            Err((why, sum)) => {
                let (from, to) = (x.ty, target);
                let error = match why {
                    NoPermutation::Exchangeable { source, pairs, ty } => {
                        MoveError::Exchangeable { span, from, to, sum, source, pairs, ty }
                    }
                    NoPermutation::Missing { source, place, ty, axes } => {
                        MoveError::MissingLeaf { span, from, to, sum, source, place, ty, axes }
                    }
                    NoPermutation::TooMany => MoveError::TooManyLeaves { span, from, to, sum },
                };
                self.error_term(error, span)
            }
        }
    }

    /// Returns the value of the target type with the leaves of the value in the variable `x`. The
    /// error is the reason why there is no unique permutation, with a flag that is true if it
    /// concerns the cases of a sum.
    fn permute_leaves(&mut self, x: &Term, target: &Type) -> Result<Term, (leaves::NoPermutation, bool)> {
        if leaves::is_sum(&x.ty) && leaves::is_sum(target) {
            return self.permute_sum(x.clone(), target).map_err(|why| (why, true));
        }
        let plan =
            leaves::plan(&x.ty, target, &mut |a, b| self.same_storage(a, b)).map_err(|why| (why, false))?;
        let mut builder = MoveBuilder { plan: &plan, next: 0, axes: Vec::new() };
        self.build_value(x, target, &mut builder).map_err(|why| (why, false))
    }

    /// Returns a part of the result, made from the next leaves of the plan.
    fn build_value(
        &mut self,
        x: &Term,
        to: &Type,
        builder: &mut MoveBuilder<'_>,
    ) -> Result<Term, leaves::NoPermutation> {
        let span = x.span;
        let typed = |kind| Term::new(kind, to.clone(), span);
        let count = leaves::leaves(to)?.len();
        if count == 0 && to.is_compact() {
            return Ok(typed(TermKind::Code(BigUint::ZERO)));
        }
        // A leaf that moves with all of its axes is only reshaped.
        if let (1, [], Some(leaf)) = (count, &builder.axes[..], builder.source())
            && let Some(whole) = self.whole_leaf(x, leaf)
            && self.same_storage(&whole.ty, to)
        {
            builder.next += 1;
            return Ok(typed(TermKind::Reshape(Box::new(whole))));
        }
        if !to.is_compact() {
            match to.kind() {
                TypeKind::Product(_) | TypeKind::Record(_) => {
                    let parts = to.components(MAX_COMPONENTS).expect("a product has components");
                    return Ok(typed(self.build_parts(x, &parts, builder)?));
                }
                TypeKind::Array(element, index) => {
                    let local = self.new_local("i", index.clone());
                    builder.axes.push((local, index.clone()));
                    let body = self.build_value(x, element, builder);
                    builder.axes.pop();
                    return Ok(typed(TermKind::Build(vec![(local, index.clone())], Box::new(body?))));
                }
                TypeKind::Nominal(nominal, args) => {
                    if let Some(definition) = nominal.newtype_definition(args) {
                        let value = self.build_value(x, &definition, builder)?;
                        return Ok(typed(TermKind::Reshape(Box::new(value))));
                    }
                    if let Some(fields) =
                        nominal.struct_fields(args).filter(|_| !nominal.has_existential_field())
                    {
                        let parts: Vec<Type> = fields.into_iter().map(|(_, part)| part).collect();
                        return Ok(typed(self.build_parts(x, &parts, builder)?));
                    }
                }
                _ => {}
            }
        }
        let Some(leaf) = builder.source() else { return Err(leaves::NoPermutation::TooMany) };
        builder.next += 1;
        let indices = self.indices(&builder.axes, &leaf.axes(), span);
        let mut value = x.clone();
        let mut indices = indices.into_iter();
        for step in &leaf.path {
            let part = Box::new(value);
            let kind = match step {
                Step::Part(i, _) => TermKind::Component(part, BigUint::from(*i)),
                Step::Axis(..) => match indices.next() {
                    Some(index) => TermKind::Index(part, Box::new(index)),
                    None => return Err(leaves::NoPermutation::TooMany),
                },
                Step::Unfold(_) => TermKind::Reshape(part),
            };
            value = Term::new(kind, step.to().clone(), span);
        }
        if value.ty == *to {
            return Ok(value);
        }
        if leaves::is_sum(&value.ty) && leaves::is_sum(to) && !self.same_storage(&value.ty, to) {
            let mut prefix = Vec::new();
            let value = self.bind_value(value, &mut prefix);
            return Ok(with_prefix(prefix, self.permute_sum(value, to)?));
        }
        Ok(typed(TermKind::Reshape(Box::new(value))))
    }

    /// Returns the parts of a tuple, record or struct.
    fn build_parts(
        &mut self,
        x: &Term,
        parts: &[Type],
        builder: &mut MoveBuilder<'_>,
    ) -> Result<TermKind, leaves::NoPermutation> {
        let built =
            parts.iter().map(|part| self.build_value(x, part, builder)).collect::<Result<Vec<_>, _>>()?;
        Ok(match <[Term; 1]>::try_from(built) {
            Ok([only]) => TermKind::Reshape(Box::new(only)),
            Err(built) => TermKind::Tuple(built),
        })
    }

    /// Returns the array of all elements of a leaf, if no other leaf lies between them in storage.
    fn whole_leaf(&mut self, x: &Term, leaf: &Leaf) -> Option<Term> {
        let mut value = x.clone();
        for step in &leaf.path {
            let part = Box::new(value);
            let kind = match step {
                Step::Part(i, _) => TermKind::Component(part, BigUint::from(*i)),
                // Below an axis, only the leaf may follow.
                Step::Axis(..) => {
                    let alone = leaves::leaves(&part.ty).is_ok_and(|leaves| leaves.len() == 1);
                    return alone.then_some(*part);
                }
                Step::Unfold(_) => TermKind::Reshape(part),
            };
            value = Term::new(kind, step.to().clone(), x.span);
        }
        Some(value)
    }

    /// Returns indices of the types `wanted` at the same position, in storage order, as the index
    /// variables `own`. The products of both lists of types have the same size.
    fn indices(&mut self, own: &[(LocalId, Type)], wanted: &[Type], span: Span) -> Vec<Term> {
        let locals: Vec<Term> = own.iter().map(|(local, _)| self.local_term(*local, span)).collect();
        if own.iter().map(|(_, ty)| ty).eq(wanted) {
            return locals;
        }
        let parts = |terms: Vec<Term>, types: Vec<Type>| match <[Term; 1]>::try_from(terms) {
            Ok([only]) => only,
            Err(terms) if terms.is_empty() => Term::unit(span),
            Err(terms) => Term::new(TermKind::Pack(terms), Type::compact_product(types), span),
        };
        let place = parts(locals, own.iter().map(|(_, ty)| ty.clone()).collect());
        let whole = Type::compact_product(wanted.to_vec());
        let place = match place.ty == whole {
            true => place,
            false => Term::new(TermKind::Reshape(Box::new(place)), whole, span),
        };
        if let [_] = wanted {
            return vec![place];
        }
        let types = wanted.iter().enumerate();
        types
            .map(|(i, ty)| {
                Term::new(TermKind::Factor(Box::new(place.clone()), BigUint::from(i)), ty.clone(), span)
            })
            .collect()
    }

    /// Returns a tagged sum whose cases are those of another sum, whose value is in a variable.
    fn permute_sum(&mut self, x: Term, target: &Type) -> Result<Term, leaves::NoPermutation> {
        let plan = leaves::plan_cases(&x.ty, target, &mut |a, b| self.same_storage(a, b))?;
        let wanted = leaves::cases(target)?;
        let mut cases = Cases { plan: &plan, wanted, target, axes: Vec::new() };
        self.permute_cases(x, &mut cases, &mut Vec::new())
    }

    /// Returns the result for a value of a part of the source sum; `path` leads to that part.
    fn permute_cases(
        &mut self,
        x: Term,
        cases: &mut Cases<'_>,
        path: &mut Vec<Step>,
    ) -> Result<Term, leaves::NoPermutation> {
        let (span, ty) = (x.span, x.ty.clone());
        let typed = |kind| Term::new(kind, cases.target.clone(), span);
        match ty.kind() {
            TypeKind::Sum(parts) => {
                let mut arms = Vec::new();
                for (i, part) in parts.iter().enumerate() {
                    // An empty case has no value to match.
                    if part.is_void() {
                        continue;
                    }
                    let local = self.new_local("value", part.clone());
                    let bind = Pat { kind: PatKind::Bind(local), ty: part.clone(), span };
                    let kind = PatKind::Case(BigUint::from(i), Some(Box::new(bind)));
                    let pattern = Pat { kind, ty: ty.clone(), span };
                    let value = self.local_term(local, span);
                    path.push(Step::Part(i, part.clone()));
                    let body = self.permute_cases(value, cases, path);
                    path.pop();
                    arms.push(Arm { pattern, guard: None, body: body? });
                }
                Ok(Term::new(TermKind::Match(Box::new(x), arms), cases.target.clone(), span))
            }
            TypeKind::Repeat(index, case) => {
                let number = self.case_number(x.clone(), span);
                let mut prefix = Vec::new();
                let number = self.bind_value(number, &mut prefix);
                let argument = self.case_argument(x, span);
                let argument = self.bind_value(argument, &mut prefix);
                let TermKind::Local(local) = number.kind else { return Err(leaves::NoPermutation::TooMany) };
                cases.axes.push((local, index.clone()));
                path.push(Step::Axis(index.clone(), case.clone()));
                let value = self.permute_cases(argument, cases, path);
                path.pop();
                cases.axes.pop();
                Ok(with_prefix(prefix, value?))
            }
            TypeKind::Nominal(nominal, args) if leaves::is_sum(&ty) => {
                let definition = nominal.newtype_definition(args).ok_or(leaves::NoPermutation::TooMany)?;
                let kind = TermKind::Reshape(Box::new(x));
                let mut prefix = Vec::new();
                let value = self.bind_value(Term::new(kind, definition.clone(), span), &mut prefix);
                path.push(Step::Unfold(definition));
                let value = self.permute_cases(value, cases, path);
                path.pop();
                Ok(with_prefix(prefix, value?))
            }
            _ => {
                let found = cases.plan.leaves.iter().position(|leaf| leaf.path == *path);
                let at = found.and_then(|found| cases.plan.order.iter().position(|from| *from == found));
                let Some(wanted) = at.and_then(|at| cases.wanted.get(at).cloned()) else {
                    return Err(leaves::NoPermutation::TooMany);
                };
                let value = match ty == wanted.ty {
                    true => x,
                    false if self.same_storage(&ty, &wanted.ty) && ty.is_compact() => {
                        Term::new(TermKind::Reshape(Box::new(x)), wanted.ty.clone(), span)
                    }
                    false => self.permute_leaves(&x, &wanted.ty).map_err(|(why, _)| why)?,
                };
                let mut indices = self.indices(&cases.axes, &wanted.axes(), span);
                let mut value = value;
                // The injections are applied from the innermost sum outwards.
                for (at, step) in wanted.path.iter().enumerate().rev() {
                    let whole = at.checked_sub(1).map_or(cases.target, |at| wanted.path[at].to());
                    let kind = match step {
                        Step::Part(i, _) => TermKind::Inject(BigUint::from(*i), Box::new(value)),
                        Step::Axis(index, case) => {
                            let Some(number) = indices.pop() else {
                                return Err(leaves::NoPermutation::TooMany);
                            };
                            let types = vec![index.clone(), case.clone()];
                            TermKind::Prim(Prim::AInj, types, vec![number, value])
                        }
                        Step::Unfold(_) => TermKind::Reshape(Box::new(value)),
                    };
                    value = Term::new(kind, whole.clone(), span);
                }
                Ok(match wanted.path.is_empty() && value.ty != *cases.target {
                    true => typed(TermKind::Reshape(Box::new(value))),
                    false => value,
                })
            }
        }
    }
}

/// The state of the construction of the result of `move`.
struct MoveBuilder<'p> {
    /// The permutation of leaves.
    plan: &'p LeafPermutation,
    /// The position in the permutation of the next leaf of the result.
    next: usize,
    /// The index variables of the array constructions around the present part, outermost first.
    axes: Vec<(LocalId, Type)>,
}

impl<'p> MoveBuilder<'p> {
    /// Returns the leaf of the source from which the next leaf of the result is made.
    fn source(&self) -> Option<&'p Leaf> {
        self.plan.leaves.get(*self.plan.order.get(self.next)?)
    }
}

/// The state of the construction of a sum whose cases are those of another sum.
struct Cases<'p> {
    /// The permutation of cases.
    plan: &'p LeafPermutation,
    /// The cases of the target sum.
    wanted: Vec<Leaf>,
    /// The type of the target sum.
    target: &'p Type,
    /// The variables that hold the case numbers of the coarrays around the present part.
    axes: Vec<(LocalId, Type)>,
}
