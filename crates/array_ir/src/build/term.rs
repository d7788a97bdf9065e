//! Terms, statements and patterns.

use super::pattern::Arms;
use super::types::structural_type;
use super::{AbruptCompletion, Builder, Closure, Declined, Known, Result, Scope};
use crate::array_ir::validate::instantiate;
use crate::array_ir::{
    Binary, Cast, Combine, Compare, DigitExpr, Element, End, Grouping, Op, Prim, SiteKind, Size, Space, Type,
    Unary, Value,
};
use crate::core::{self, LocalId, Pat, PatKind, Root, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::types::variable_numbers::INLINED_SIZES;
use crate::types::{Scalar, Type as CoreType, TypeKind, TypeVar};
use num_bigint::{BigInt, BigUint};
use num_traits::{ToPrimitive, Zero};
use std::sync::Arc;

impl Builder<'_> {
    /// The value of a term.
    pub(super) fn term(&mut self, scope: &mut Scope, term: &Term) -> Result<Known> {
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return Err(Declined::Length.into());
        }
        let known = self.term_inside(scope, term);
        self.depth -= 1;
        known
    }

    fn term_inside(&mut self, scope: &mut Scope, term: &Term) -> Result<Known> {
        Ok(Known::Data(match &term.kind {
            TermKind::Closure { function, type_args, captures } => {
                let types = type_args.iter().map(|ty| scope.concrete(ty)).collect();
                let captures = captures.iter().map(|local| match scope.locals.get(local) {
                    Some(shared @ Known::Shared(_)) => Ok(shared.clone()),
                    None if scope.is_shared(*local) => Err(Declined::Variable.into()),
                    _ => self.local(scope, *local),
                });
                let captures = captures.collect::<Result<_>>()?;
                return Ok(Known::Function(Arc::new(Closure::new(self.core, *function, types, captures))));
            }
            TermKind::Method { class, method, type_args } => {
                let types: Vec<CoreType> = type_args.iter().map(|ty| scope.concrete(ty)).collect();
                return self.method(*class, *method, &types);
            }
            TermKind::Local(local) => return self.local(scope, *local),
            TermKind::Move(inner) => return self.term(scope, inner),
            TermKind::Call(head, args) => return self.call(scope, term, head, args),
            TermKind::If(condition, then, otherwise) => {
                return self.if_term(scope, term, condition, then, otherwise);
            }
            TermKind::Block(stmts, value) => {
                for stmt in stmts {
                    self.stmt(scope, stmt)?;
                }
                return match value {
                    Some(value) => self.term(scope, value),
                    None => self.unit().map(Known::Data),
                };
            }
            TermKind::Int(n) => self.integer(scope, n, &term.ty)?,
            TermKind::Real(x) => match self.ty(&scope.concrete(&term.ty))? {
                Type::Element(Element::F64) => self.constant(Element::F64, x.double.to_bits())?,
                Type::Element(Element::F32) => self.constant(Element::F32, u64::from(x.single.to_bits()))?,
                _ => return Err(Declined::Abstract.into()),
            },
            TermKind::Char(c) => self.constant(Element::I32, u64::from(u32::from(*c)))?,
            TermKind::Str(_) => return Err(Declined::Text.into()),
            TermKind::Code(code) => self.code_literal(code, &scope.concrete(&term.ty))?,
            TermKind::Global(global) => return self.variable(scope, Root::Global(*global)),
            TermKind::Prim(prim, types, args) => {
                return self.prim(scope, term, *prim, types, args).map(Known::Data);
            }
            TermKind::Op(op, args) => self.operator(scope, term, *op, args)?,
            TermKind::Tuple(parts) => {
                let values = parts.iter().map(|part| self.value(scope, part)).collect::<Result<Vec<_>>>()?;
                self.product(&scope.concrete(&term.ty), values)?
            }
            TermKind::Component(base, at) => {
                let base = self.value(scope, base)?;
                self.component(base, at.to_u64().ok_or(Declined::Length)?)?
            }
            TermKind::Index(array, at) => {
                let (array, at) = (self.value(scope, array)?, self.value(scope, at)?);
                let at = self.array_index(array, at)?;
                self.element_at(array, at)?
            }
            TermKind::Build(clauses, body) => self.build_array(scope, term, clauses, body)?,
            TermKind::Pack(parts) => {
                let mut digits = Vec::new();
                for part in parts {
                    let part = self.value(scope, part)?;
                    digits.extend(self.digits(part)?);
                }
                self.compact_of_digits(&scope.concrete(&term.ty), &digits)?
            }
            TermKind::Factor(base, at) => {
                let at = at.to_usize().ok_or(Declined::Length)?;
                let base_type = structural_type(&scope.concrete(&base.ty));
                let base = self.value(scope, base)?;
                self.factor(base, &base_type, at, &scope.concrete(&term.ty))?
            }
            TermKind::Digit(base, at) => {
                let power = self.power(&scope.concrete(&base.ty))?;
                let (base, at) = (self.value(scope, base)?, self.value(scope, at)?);
                self.power_digit(base, &power, at)?
            }
            TermKind::Inject(case, arg) => {
                let to = scope.concrete(&term.ty);
                if let built @ Type::Sum(_) = self.ty(&to)? {
                    let case = case.to_u32().ok_or(Declined::Length)?;
                    let arg = self.value(scope, arg)?;
                    return self.define(built.clone(), Op::Case(built, case, arg)).map(Known::Data);
                }
                let ty = structural_type(&to);
                let cases = match ty.kind() {
                    TypeKind::CompactSum(cases) | TypeKind::Sum(cases) => cases.clone(),
                    TypeKind::UnitSum(_) => return self.code_literal(case, &to).map(Known::Data),
                    _ => return Err(Declined::Sum.into()),
                };
                let case = case.to_usize().ok_or(Declined::Length)?;
                let mut offset = Size::constant(0);
                for before in &cases[..case] {
                    offset = offset.add(&self.size(before)?).ok_or(Declined::Size)?;
                }
                let arg = self.value(scope, arg)?;
                let of = self.code_digit(arg)?;
                let digit = DigitExpr::Affine { offset, stride: 1, of: Box::new(of) };
                self.compact(&scope.concrete(&term.ty), vec![digit])?
            }
            TermKind::Reshape(inner) => {
                let to = scope.concrete(&term.ty);
                let known = self.term(scope, inner)?;
                if matches!(known, Known::Function(_)) {
                    return Ok(known);
                }
                let value = self.data(known)?;
                self.reshape(value, &to)?
            }
            TermKind::ToCode(inner) => {
                let (from, to) = (scope.concrete(&inner.ty), scope.concrete(&term.ty));
                let value = self.value(scope, inner)?;
                let code = self.code(value)?;
                if to.unfold().as_scalar() == Some(Scalar::Bigint) {
                    let size = self.size(&structural_type(&from))?.to_constant().ok_or(Declined::Bigint)?;
                    return self.with_range(code, (0, i128::from(size.max(1)) - 1)).map(Known::Data);
                }
                match self.ty(&to)? {
                    // A word holds every code.
                    Type::Element(Element::I64) => code,
                    Type::Element(element) => self.code_to_number(code, &from, (&to, element), term.span)?,
                    _ => return Err(Declined::Conversion.into()),
                }
            }
            TermKind::FromCode(inner) => self.number_to_compact(scope, term, inner)?,
            TermKind::Convert(inner) => {
                let (from, to) = (scope.concrete(&inner.ty), scope.concrete(&term.ty));
                let value = self.value(scope, inner)?;
                self.convert(value, &from, &to, term.span)?
            }
            TermKind::Match(matched, arms) => {
                let ty = self.ty(&scope.concrete(&term.ty))?;
                let bodies: Vec<&Term> = arms.iter().map(|arm| &arm.body).collect();
                let variables = self.variables_of_terms(scope, &bodies)?;
                let value = self.match_arms(scope, matched, Arms::Terms(arms), Some(ty), variables)?;
                value.expect("each arm has a value")
            }
            TermKind::At(..) | TermKind::Here(_) | TermKind::Restrict(_) => {
                return Err(Declined::Place.into());
            }
            TermKind::PackSizes(sizes, inner) => self.pack_sizes(scope, term, sizes, inner)?,
            TermKind::Error => unreachable!("a checked program has no error terms"),
        }))
    }

    pub(super) fn local(&mut self, scope: &Scope, local: core::LocalId) -> Result<Known> {
        self.variable(scope, Root::Local(local))
    }

    fn integer(&mut self, scope: &Scope, n: &BigInt, ty: &CoreType) -> Result<Value> {
        let ty = scope.concrete(ty);
        if ty.unfold().as_scalar() == Some(Scalar::Bigint) {
            return self.big_constant(n.to_i64());
        }
        match self.ty(&ty)? {
            Type::Element(Element::F64) => {
                let x = n.to_f64().ok_or(Declined::Conversion)?;
                self.constant(Element::F64, x.to_bits())
            }
            Type::Element(Element::F32) => {
                let x = n.to_f32().ok_or(Declined::Conversion)?;
                self.constant(Element::F32, u64::from(x.to_bits()))
            }
            Type::Element(element) if element.is_integer() => {
                self.constant(element, n.to_i128().ok_or(Declined::Bigint)? as u64)
            }
            _ => Err(Declined::Abstract.into()),
        }
    }

    /// A compact value by its code.
    fn code_literal(&mut self, code: &BigUint, ty: &CoreType) -> Result<Value> {
        match self.ty(ty)? {
            Type::Element(element) => self.constant(element, u64::from(!code.is_zero())),
            Type::Index(space) => self.index_at(&space, code.to_u64().ok_or(Declined::Size)?),
            _ => self.unit(),
        }
    }

    /// The array over the product of the clauses.
    fn build_array(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        clauses: &[(core::LocalId, CoreType)],
        body: &Term,
    ) -> Result<Value> {
        let types: Vec<CoreType> = clauses.iter().map(|(_, ty)| scope.concrete(ty)).collect();
        let mut space = Space::default();
        let mut counts = Vec::new();
        for ty in &types {
            let own = self.space(ty)?;
            counts.push(own.digits.len() as u32);
            space.digits.extend(own.digits);
        }
        space.size().ok_or(Declined::Size)?;
        if !self.variables_of_terms(scope, &[body])?.is_empty() {
            return Err(Declined::Variable.into());
        }
        let body = self.block(vec![Type::Index(space.clone())], |this, params| {
            let mut at = 0;
            for (((local, _), ty), count) in clauses.iter().zip(&types).zip(&counts) {
                let digits: Vec<DigitExpr> =
                    (at..at + count).map(|at| DigitExpr::Of(params[0], at)).collect();
                at += count;
                let value = match types.len() {
                    1 => this.whole_index(ty, params[0])?,
                    _ => this.compact(ty, digits)?,
                };
                this.bind_local(scope, *local, Known::Data(value));
            }
            this.value(scope, body)
        })?;
        // What always leaves yields nothing.
        let End::Yield(value) = body.end else { return Err(Declined::Loop.into()) };
        let element = self.types[&value].clone();
        let array = self.define(Type::array(space, element), Op::Map(body))?;
        self.reshape(array, &scope.concrete(&term.ty))
    }

    pub(super) fn factor(
        &mut self,
        base: Value,
        base_type: &CoreType,
        at: usize,
        ty: &CoreType,
    ) -> Result<Value> {
        let factors: Vec<CoreType> = match base_type.kind() {
            TypeKind::CompactProduct(factors) => factors.clone(),
            TypeKind::Triangle(triangle, side) => return self.triangle_factor(base, (*triangle, side), at),
            TypeKind::CompactPower(..) => {
                let power = self.power(base_type)?;
                return self.power_factor(base, &power, at as u64);
            }
            _ => return Err(Declined::Power.into()),
        };
        let (start, count) = self.factor_digits(&factors, at)?;
        let digits = self.digits(base)?.into_iter().skip(start).take(count).map(|(digit, _)| digit).collect();
        self.compact(ty, digits)
    }

    /// A compact product or exponential with another factor.
    pub(super) fn with_factor(
        &mut self,
        base: Value,
        base_type: &CoreType,
        at: usize,
        factor: Value,
    ) -> Result<Value> {
        let TypeKind::CompactProduct(factors) = structural_type(base_type).kind().clone() else {
            let power = self.power(base_type)?;
            let position = self.index_at(&Space::new([Size::constant(power.count())]), at as u64)?;
            return self.with_power_digit(base, (base_type, &power), position, factor);
        };
        let (start, count) = self.factor_digits(&factors, at)?;
        let (mut digits, new) = (self.digits(base)?, self.digits(factor)?);
        digits.splice(start..start + count, new);
        self.compact(base_type, digits.into_iter().map(|(digit, _)| digit).collect())
    }

    /// The position of the first digit of a factor among those of a compact product, and their
    /// number.
    fn factor_digits(&mut self, factors: &[CoreType], at: usize) -> Result<(usize, usize)> {
        let mut start = 0;
        for before in &factors[..at] {
            start += self.space(before)?.digits.len();
        }
        Ok((start, self.space(&factors[at])?.digits.len()))
    }

    /// The code of a value of a type as a number of another one, which has every code of that type.
    fn code_to_number(
        &mut self,
        code: Value,
        from: &CoreType,
        (to, element): (&CoreType, Element),
        span: Span,
    ) -> Result<Value> {
        let codes = to.unfold().as_scalar().and_then(|scalar| scalar.code_capacity());
        let size = self.size(&structural_type(from))?;
        let size = self.define(Type::I64, Op::Size(size))?;
        let most = codes.and_then(|most| u64::try_from(most).ok()).ok_or(Declined::Conversion)?;
        let most = self.constant(Element::I64, most)?;
        let fits = self.compare(Compare::Le, size, most)?;
        let site = self.site(SiteKind::Convert, span);
        self.define(Type::unit(), Op::Check(fits, site, Vec::new()))?;
        let cast = if element.is_float() { Cast::SignedToFloat } else { Cast::Truncate };
        self.cast(code, cast, element)
    }

    fn number_to_compact(&mut self, scope: &mut Scope, term: &Term, inner: &Term) -> Result<Value> {
        let literal = match &inner.kind {
            TermKind::Int(n) => n.to_i64(),
            _ => None,
        };
        if let Some(n) = literal {
            let code = self.constant(Element::I64, n as u64)?;
            return self.code_to_compact(scope, term, code);
        }
        let code = self.value(scope, inner)?;
        match scope.concrete(&inner.ty).unfold().as_scalar() {
            Some(Scalar::Int) => {}
            Some(Scalar::Bigint) => drop(self.range(code)?),
            // A `u64` beyond the integers is negative as a word, and a code of no value either.
            Some(scalar @ Scalar::Fixed(_)) => {
                let word = self.widened(code, scalar)?;
                return self.code_to_compact(scope, term, word);
            }
            _ => return Err(Declined::Conversion.into()),
        }
        self.code_to_compact(scope, term, code)
    }

    /// The compact value of a term's type whose code is an `i64`.
    pub(super) fn code_to_compact(&mut self, scope: &Scope, term: &Term, code: Value) -> Result<Value> {
        self.compact_at_code(&scope.concrete(&term.ty), code, term.span)
    }

    /// The compact value of a type whose code is an `i64`; fails at a place if there is none.
    pub(super) fn compact_at_code(&mut self, ty: &CoreType, code: Value, span: Span) -> Result<Value> {
        let size = self.size(&structural_type(ty))?;
        let line = Space::new([size.clone()]);
        let site = self.site(SiteKind::Range, span);
        let at = self.define(Type::Index(line.clone()), Op::Locate(line, vec![code], site))?;
        self.compact_of_code(ty, DigitExpr::Of(at, 0), size)
    }

    /// Returns the side of a condition that is known.
    pub(super) fn known_condition(&self, condition: Value) -> Option<bool> {
        self.constants.get(&condition).map(|bits| *bits == 1)
    }

    fn if_term(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        condition: &Term,
        then: &Term,
        otherwise: &Term,
    ) -> Result<Known> {
        let condition = self.value(scope, condition)?;
        if let Some(side) = self.known_condition(condition) {
            return self.term(scope, if side { then } else { otherwise });
        }
        let ty = self.ty(&scope.concrete(&term.ty))?;
        let variables = self.variables_of_terms(scope, &[then, otherwise])?;
        let value = self.branch(
            scope,
            condition,
            &variables,
            Some(ty),
            [&mut |this, scope| this.value(scope, then).map(Some), &mut |this, scope| {
                this.value(scope, otherwise).map(Some)
            }],
        )?;
        Ok(Known::Data(value.expect("both sides have a value")))
    }

    pub(super) fn stmts(&mut self, scope: &mut Scope, stmts: &[Stmt]) -> Result<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(scope, stmt))
    }

    pub(super) fn stmt(&mut self, scope: &mut Scope, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Let(pattern, term) => {
                let value = self.term(scope, term)?;
                self.bind(scope, pattern, value)
            }
            StmtKind::Expr(term) => self.term(scope, term).map(|_| ()),
            StmtKind::Drop(_) => Ok(()),
            StmtKind::Return(term) => {
                let label = scope.returns.ok_or(Declined::Function)?;
                let value = self.value(scope, term)?;
                let packed = self.pack(scope, Some(value), &scope.carried)?;
                self.settle_own(scope);
                Err(AbruptCompletion::Jump(End::Exit(label, packed)))
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(scope, condition)?;
                if let Some(side) = self.known_condition(condition) {
                    return self.stmts(scope, if side { then } else { otherwise });
                }
                let variables = self.variables_of_stmts(scope, std::slice::from_ref(stmt))?;
                self.branch(
                    scope,
                    condition,
                    &variables,
                    None,
                    [&mut |this, scope| this.stmts(scope, then).map(|()| None), &mut |this, scope| {
                        this.stmts(scope, otherwise).map(|()| None)
                    }],
                )
                .map(|_| ())
            }
            StmtKind::SetLocal(local, term) => self.set(scope, Root::Local(*local), term),
            StmtKind::SetGlobal(global, term) => self.set(scope, Root::Global(*global), term),
            StmtKind::Store { root, path, value, .. } => self.store(scope, *root, path, value),
            StmtKind::For(local, range, body) => self.for_loop(scope, *local, range, body),
            StmtKind::While(condition, body) => self.while_loop(scope, condition, body),
            StmtKind::Break => self.leave_round(scope, true),
            StmtKind::Continue => self.leave_round(scope, false),
            StmtKind::Open { vars, local, value } => self.open(scope, vars, *local, value),
            StmtKind::Require { .. } => Err(Declined::Arrival.into()),
            StmtKind::Match(matched, arms) => {
                let variables = self.variables_of_stmts(scope, std::slice::from_ref(stmt))?;
                self.match_arms(scope, matched, Arms::Stmts(arms), None, variables).map(|_| ())
            }
        }
    }

    /// A value together with its sizes.
    fn pack_sizes(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        sizes: &[CoreType],
        inner: &Term,
    ) -> Result<Value> {
        let ty = self.ty(&scope.concrete(&term.ty))?;
        let sizes = sizes.iter().map(|size| self.size(&scope.concrete(size))).collect::<Result<Vec<_>>>()?;
        let mut value = self.value(scope, inner)?;
        let Type::Exists(count, packed) = &ty else {
            unreachable!("a packed value is of an existential type")
        };
        let packed = instantiate(packed, *count, &sizes).map_err(|_| Declined::Size)?;
        // The pieces of a digit are one size, and an array of one element has one digit.
        if let Type::Array(space, _) = &self.types[&value]
            && packed != self.types[&value]
            && space.digits.len() <= 1
        {
            value = self.reshape_array(value, packed.clone())?;
        }
        // An index type of several digits has no form with one size.
        if packed != self.types[&value] {
            return Err(Declined::Arrival.into());
        }
        self.define(ty.clone(), Op::Pack(ty, sizes, value))
    }

    /// A statement that opens a value: its sizes are those of type variables from here on.
    fn open(&mut self, scope: &mut Scope, vars: &[TypeVar], local: LocalId, value: &Term) -> Result<()> {
        let value = self.value(scope, value)?;
        let first = self.opened.len();
        let (opened, _) = self.opened_value(value)?;
        for (number, var) in (first..).zip(vars) {
            let id = INLINED_SIZES.nth(number);
            scope.bindings.insert(var.id, CoreType::var(TypeVar { id, ..var.clone() }));
        }
        self.bind_local(scope, local, Known::Data(opened));
        Ok(())
    }

    /// Binds the variables of a pattern that always matches.
    fn bind(&mut self, scope: &mut Scope, pattern: &Pat, known: Known) -> Result<()> {
        match &pattern.kind {
            PatKind::Wild => Ok(()),
            PatKind::Bind(local) => {
                self.bind_local(scope, *local, known);
                Ok(())
            }
            PatKind::As(inner, local) => {
                self.bind_local(scope, *local, known.clone());
                self.bind(scope, inner, known)
            }
            PatKind::Tuple(parts) => {
                let value = self.data(known)?;
                for (at, part) in parts.iter().enumerate() {
                    let value = self.component(value, at as u64)?;
                    self.bind(scope, part, Known::Data(value))?;
                }
                Ok(())
            }
            PatKind::Pack(parts) => {
                let value = self.data(known)?;
                let base_type = structural_type(&scope.concrete(&pattern.ty));
                for (at, part) in parts.iter().enumerate() {
                    let ty = scope.concrete(&part.ty);
                    let value = self.factor(value, &base_type, at, &ty)?;
                    self.bind(scope, part, Known::Data(value))?;
                }
                Ok(())
            }
            PatKind::Reshape(inner) => {
                let value = self.data(known)?;
                let value = self.reshape(value, &scope.concrete(&inner.ty))?;
                self.bind(scope, inner, Known::Data(value))
            }
            _ => Err(Declined::Pattern.into()),
        }
    }

    /// An operator of scalars, or a comparison.
    fn operator(&mut self, scope: &mut Scope, term: &Term, op: core::Op, args: &[Term]) -> Result<Value> {
        let ty = scope.concrete(&args[0].ty);
        let values = args.iter().map(|arg| self.value(scope, arg)).collect::<Result<Vec<_>>>()?;
        match op {
            core::Op::Neg(core::Num::Mod) => self.modular(&ty, &[], &values),
            core::Op::Add(core::Num::Mod) => self.modular(&ty, &values, &[]),
            core::Op::Sub(core::Num::Mod) => self.modular(&ty, &values[..1], &values[1..]),
            core::Op::Mul(core::Num::Mod) => self.modular_product(&ty, values[0], values[1], term.span),
            core::Op::Not if self.types[&values[0]] == Type::B1 => {
                self.define(Type::B1, Op::Prim(Prim::Unary(Unary::Not), values))
            }
            core::Op::Not => self.set_operation(&ty, None, &values),
            core::Op::And => self.set_operation(&ty, Some(Binary::And), &values),
            core::Op::Or => self.set_operation(&ty, Some(Binary::Or), &values),
            core::Op::Eq => self.equal(&ty, values[0], values[1]),
            core::Op::Ne
                if self.types[&values[0]] == Type::B1 && !matches!(ty.kind(), TypeKind::Nominal(..)) =>
            {
                self.binary(Binary::Xor, values[0], values[1])
            }
            core::Op::Ne => {
                let equal = self.equal(&ty, values[0], values[1])?;
                self.define(Type::B1, Op::Prim(Prim::Unary(Unary::Not), vec![equal]))
            }
            core::Op::Lt => self.ordered(&ty, Compare::Lt, values[0], values[1]),
            core::Op::Le => self.ordered(&ty, Compare::Le, values[0], values[1]),
            core::Op::Gt => self.ordered(&ty, Compare::Lt, values[1], values[0]),
            core::Op::Ge => self.ordered(&ty, Compare::Le, values[1], values[0]),
            core::Op::Neg(num)
            | core::Op::Add(num)
            | core::Op::Sub(num)
            | core::Op::Mul(num)
            | core::Op::Div(num)
            | core::Op::Rem(num)
            | core::Op::Pow(num) => self.arithmetic(op, num, &values, term.span),
        }
    }

    /// Returns whether two values are equal. A type in which a declared type has an equality of its
    /// own is declined.
    fn equal(&mut self, ty: &CoreType, a: Value, b: Value) -> Result<Value> {
        if matches!(ty.kind(), TypeKind::Nominal(..))
            && (ty.has_var() || !self.core.overriding_methods(self.core.known.eq, "==", ty).is_empty())
        {
            return Err(Declined::Comparison.into());
        }
        match self.types[&a].clone() {
            Type::Element(_) => self.compare(Compare::Eq, a, b),
            Type::Index(_) => {
                let (a, b) = (self.code(a)?, self.code(b)?);
                self.compare(Compare::Eq, a, b)
            }
            _ => self.equal_parts(ty, a, b),
        }
    }

    /// Returns whether all parts of two tuples or arrays are equal.
    fn equal_parts(&mut self, ty: &CoreType, a: Value, b: Value) -> Result<Value> {
        let ty = structural_type(ty);
        let types = match ty.kind() {
            TypeKind::Array(element, index) => {
                let space = self.space(index)?;
                let body = self.block(vec![Type::Index(space)], |this, params| {
                    let (a, b) = (this.element_at(a, params[0])?, this.element_at(b, params[0])?);
                    this.equal(element, a, b)
                })?;
                let start = self.constant(Element::B1, 1)?;
                let combine = Combine::Prim(Binary::And);
                return self.define(Type::B1, Op::Reduce { combine, grouping: Grouping::Any, start, body });
            }
            TypeKind::Product(types) => types.clone(),
            TypeKind::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            TypeKind::UnitSum(_) => Vec::new(),
            TypeKind::Sum(cases) => return self.equal_cases(cases, a, b),
            TypeKind::Nominal(nominal, args) => match nominal.struct_fields(args) {
                Some(fields) => fields.into_iter().map(|(_, ty)| ty).collect(),
                None => {
                    let cases = nominal.variant_cases(args).ok_or(Declined::Abstract)?;
                    let cases: Vec<CoreType> = cases.into_iter().map(|(_, ty)| ty).collect();
                    return self.equal_cases(&cases, a, b);
                }
            },
            _ => return Err(Declined::Comparison.into()),
        };
        let mut all = self.constant(Element::B1, 1)?;
        for (at, ty) in (0..).zip(&types) {
            let (a, b) = (self.component(a, at)?, self.component(b, at)?);
            let same = self.equal(ty, a, b)?;
            all = self.binary(Binary::And, all, same)?;
        }
        Ok(all)
    }

    /// Returns whether two values of a sum are of one case with equal arguments.
    fn equal_cases(&mut self, cases: &[CoreType], a: Value, b: Value) -> Result<Value> {
        let pieces = self.types[&a].cases().expect("a sum has cases");
        let mut blocks = Vec::new();
        for (case, ty) in cases.iter().enumerate() {
            let block = self.block(vec![pieces[case].clone()], |this, outer| {
                let mut others = Vec::new();
                for (other, piece) in pieces.iter().enumerate() {
                    others.push(this.block(vec![piece.clone()], |this, inner| match other == case {
                        true => this.equal(ty, outer[0], inner[0]),
                        false => this.constant(Element::B1, 0),
                    })?);
                }
                this.define(Type::B1, Op::Switch(b, others))
            });
            blocks.push(block?);
        }
        self.define(Type::B1, Op::Switch(a, blocks))
    }

    /// The sum of some codes less that of others, modulo the size of their type.
    fn modular(&mut self, ty: &CoreType, plus: &[Value], minus: &[Value]) -> Result<Value> {
        let size = self.size(&structural_type(ty))?;
        let plus = plus.iter().map(|value| self.code_digit(*value)).collect::<Result<_>>()?;
        let minus = minus.iter().map(|value| self.code_digit(*value)).collect::<Result<_>>()?;
        let code = DigitExpr::Modular { size: size.clone(), plus, minus };
        self.compact_of_code(ty, code, size)
    }

    /// The product of two codes modulo the size of their type, whose square is below 2^64.
    fn modular_product(&mut self, ty: &CoreType, a: Value, b: Value, span: Span) -> Result<Value> {
        let size = self.size(&structural_type(ty))?;
        if !size.is_at_most(&Size::constant(1 << 32)) {
            return Err(Declined::Cyclic.into());
        }
        let (a, b) = (self.code(a)?, self.code(b)?);
        let product = self.binary(Binary::Mul, a, b)?;
        let modulus = self.define(Type::I64, Op::Size(size))?;
        let code = self.binary(Binary::RemUnsigned, product, modulus)?;
        self.compact_at_code(ty, code, span)
    }

    /// Returns whether one scalar or code is before another.
    fn ordered(&mut self, ty: &CoreType, op: Compare, a: Value, b: Value) -> Result<Value> {
        match (self.types[&a].clone(), ty.unfold().as_scalar()) {
            (Type::Element(_), Some(scalar)) => {
                let op = match op {
                    Compare::Lt if super::types::is_unsigned(scalar) => Compare::LtUnsigned,
                    Compare::Le if super::types::is_unsigned(scalar) => Compare::LeUnsigned,
                    op => op,
                };
                self.compare(op, a, b)
            }
            (Type::Index(_) | Type::Element(_) | Type::Tuple(_), None) if ty.is_compact() => {
                let (a, b) = (self.code(a)?, self.code(b)?);
                self.compare(op, a, b)
            }
            _ => Err(Declined::Comparison.into()),
        }
    }
}
