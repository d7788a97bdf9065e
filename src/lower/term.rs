//! Terms, run with registers.

use super::{A, Bind, Frame, Fun, Lower, No, Place, Result, V, bare, word};
use crate::core::{Num, Op as CoreOp, Root, Term, TermKind};
use crate::kernel::Input;
use crate::layout::{Form, Layout, Leaf};
use crate::loops::{Binary, Cast, Compare, Math, Op, Reg, Stmt, Ty, Unary};
use crate::types::encoding::{Code, Encoding};
use crate::types::number::Fixed;
use crate::types::{Scalar, Type};
use num_traits::ToPrimitive;
use std::rc::Rc;

/// Statements that are done whether needed or not rather than branched around.
const SHORT: usize = 12;

impl<'a> Lower<'a> {
    /// The value of a term.
    pub(crate) fn term(&mut self, term: &'a Term, frame: &mut Frame<'a>) -> Result<V<'a>> {
        match &term.kind {
            TermKind::Int(n) => {
                let ty = self.ty(frame, &term.ty);
                let bits = match ty.as_scalar() {
                    Some(Scalar::Int) => n.to_i64().unwrap_or(0) as u64,
                    Some(Scalar::Fixed(fixed)) => fixed.encode(n.to_i128().unwrap_or(0)),
                    _ => return Err(No("big integers")),
                };
                let ty = self.word_type(&ty)?;
                Ok(V::Word(self.constant(ty, bits)?))
            }
            TermKind::Real(x) => {
                let ty = self.ty(frame, &term.ty);
                let word = self.word_type(&ty)?;
                let bits = if word == Ty::F32 { u64::from(x.single.to_bits()) } else { x.double.to_bits() };
                Ok(V::Word(self.constant(word, bits)?))
            }
            TermKind::Char(c) => Ok(V::Word(self.constant(Ty::I32, u64::from(u32::from(*c)))?)),
            TermKind::Str(_) => Err(No("strings")),
            TermKind::Code(n) => {
                let ty = self.ty(frame, &term.ty);
                match self.stored(&ty)?.slots {
                    0 => Ok(V::Unit),
                    _ => Ok(V::Word(self.int(n.to_u64().ok_or(No("codes of more than 64 bits"))?)?)),
                }
            }
            TermKind::Local(local) => self.local(*local, frame),
            TermKind::Global(global) => {
                if let Some(place) = self.globals.get(global).cloned() {
                    return self.read(&place);
                }
                let ty = self.ty(frame, &term.ty);
                let root = Root::Global(*global);
                let shape = self.shape(root);
                self.input(Input { root, path: Vec::new() }, &ty, &shape)
            }
            TermKind::Closure { function, type_args, captures } => {
                let captured = captures.iter().map(|local| self.local(*local, frame));
                let captures = captured.collect::<Result<Vec<_>>>()?;
                let type_args = self.types(frame, type_args);
                Ok(V::Fun(Rc::new(Fun { function: *function, type_args, captures })))
            }
            TermKind::Method { class, method, type_args } => {
                let types = self.types(frame, type_args);
                let found = self.program.implementation(*class, *method, &types);
                let (function, type_args) = found.ok_or(No("a method without instance"))?;
                Ok(V::Fun(Rc::new(Fun { function, type_args, captures: Vec::new() })))
            }
            TermKind::Call(head, args) => {
                let V::Fun(function) = self.term(head, frame)? else {
                    return Err(No("a function that is not known"));
                };
                let mut values = Vec::new();
                for arg in args {
                    values.push((self.term(arg, frame)?, self.ty(frame, &arg.ty)));
                }
                let ty = self.ty(frame, &term.ty);
                self.call(&function, values, &ty)
            }
            TermKind::Prim(prim, type_args, args) => self.primitive(*prim, type_args, args, term, frame),
            TermKind::Op(op, args) => self.operator(*op, args, frame),
            TermKind::Tuple(parts) => {
                let ty = self.ty(frame, &term.ty);
                let mut values = Vec::new();
                for part in parts {
                    values.push((self.term(part, frame)?, self.ty(frame, &part.ty)));
                }
                self.tuple(values, &ty)
            }
            TermKind::Component(base, i) => {
                let value = self.term(base, frame)?;
                let (from, to) = (self.ty(frame, &base.ty), self.ty(frame, &term.ty));
                let i = i.to_u64().ok_or(No("a position beyond memory"))?;
                self.component(&value, &from, i, &to)
            }
            TermKind::Index(array, index) => {
                let value = self.term(array, frame)?;
                let index = self.term(index, frame)?;
                let (from, to) = (self.ty(frame, &array.ty), self.ty(frame, &term.ty));
                self.index(&value, &from, &index, &to)
            }
            TermKind::Build(clauses, body) => {
                let ty = self.ty(frame, &term.ty);
                let layout = self.layout(&ty);
                let clauses: Vec<(u32, Type)> =
                    clauses.iter().map(|(local, ty)| (*local, self.ty(frame, ty))).collect();
                if layout.slots <= 1 {
                    // One element or none: as many slots as an element with slots has.
                    let mut inner = frame.clone();
                    for (local, ty) in &clauses {
                        match self.count(ty)? {
                            0 => return Ok(V::Unit),
                            1 => {}
                            // Units that may fail, many times.
                            _ => return Err(No("an array without slots")),
                        }
                        inner.locals[*local as usize] = Some(Bind::Value(V::Unit));
                    }
                    return self.term(body, &mut inner);
                }
                let mut one = true;
                for (_, ty) in &clauses {
                    one = one && self.count(ty)? == 1;
                }
                if one {
                    // An array of one element is that element.
                    let mut inner = frame.clone();
                    for (local, _) in &clauses {
                        inner.locals[*local as usize] = Some(Bind::Value(V::Unit));
                    }
                    return self.term(body, &mut inner);
                }
                let frame = self.captured(frame, body)?;
                self.build(clauses, body, frame, &ty)
            }
            TermKind::Pack(parts) => {
                let ty = self.ty(frame, &term.ty);
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.term(part, frame)?);
                }
                self.pack(values, &ty)
            }
            TermKind::Factor(base, i) => {
                let value = self.term(base, frame)?;
                let ty = self.ty(frame, &base.ty);
                self.factor(&value, &ty, &Code::from(i))
            }
            TermKind::Digit(base, i) => {
                let value = self.term(base, frame)?;
                let position = self.term(i, frame)?;
                let ty = self.ty(frame, &base.ty);
                match &position {
                    V::Unit => self.factor(&value, &ty, &Code::ZERO),
                    V::Word(reg) if self.known(*reg).is_some() => {
                        let i = Code::from(self.known(*reg).unwrap_or(0));
                        self.factor(&value, &ty, &i)
                    }
                    _ => self.digit(&value, &position, &ty),
                }
            }
            TermKind::Inject(case, argument) => {
                let argument = self.term(argument, frame)?;
                let ty = self.ty(frame, &term.ty);
                self.inject(&ty, &Code::from(case), &argument)
            }
            TermKind::Reshape(inner) => {
                let value = self.term(inner, frame)?;
                let (from, to) = (self.ty(frame, &inner.ty), self.ty(frame, &term.ty));
                self.reshape(value, &from, &to)
            }
            TermKind::ToCode(inner) => {
                if self.ty(frame, &term.ty).as_scalar() != Some(Scalar::Int) {
                    return Err(No("big integers"));
                }
                match self.term(inner, frame)? {
                    V::Unit => Ok(V::Word(self.int(0)?)),
                    word => Ok(word),
                }
            }
            TermKind::FromCode(inner) => {
                // A literal is a number of any length.
                if let TermKind::Int(n) = &inner.kind {
                    let ty = self.ty(frame, &term.ty);
                    let count = self.count(&ty)?;
                    return match n.to_u64().filter(|n| *n < count) {
                        Some(_) if count == 1 => Ok(V::Unit),
                        Some(n) => Ok(V::Word(self.int(n)?)),
                        None => {
                            self.emit(Stmt::Fail)?;
                            self.zero(&ty)
                        }
                    };
                }
                if self.ty(frame, &inner.ty).as_scalar() != Some(Scalar::Int) {
                    return Err(No("big integers"));
                }
                let ty = self.ty(frame, &term.ty);
                let value = self.term(inner, frame)?;
                let n = self.as_word(&value, &Type::int())?;
                let size = match self.layout(&ty).compact().map(|c| c.size.clone()) {
                    Some(Code::Small(size)) => size,
                    _ => return Err(No("codes of more than 64 bits")),
                };
                let bound = self.size(size)?;
                let fits = self.set(Ty::I64, Op::Compare(Compare::LtUnsigned, n, bound))?;
                self.check(fits)?;
                Ok(if size == 1 { V::Unit } else { V::Word(n) })
            }
            TermKind::Convert(inner) => {
                let (from, to) = (self.ty(frame, &inner.ty), self.ty(frame, &term.ty));
                let value = self.term(inner, frame)?;
                self.convert(&value, &from, &to)
            }
            TermKind::If(condition, then, otherwise) => {
                let ty = self.ty(frame, &term.ty);
                let value = self.term(condition, frame)?;
                let condition = self.as_word(&value, &Type::bool())?;
                self.either(condition, &ty, frame, &mut |this, frame, first| {
                    this.term(if first { then } else { otherwise }, frame)
                })
            }
            TermKind::Match(scrutinee, arms) => {
                let value = self.term(scrutinee, frame)?;
                let ty = self.ty(frame, &term.ty);
                self.arms(&value, arms, &ty, frame)
            }
            TermKind::Block(stmts, value) => self.block_term(stmts, value.as_deref(), term, frame),
            TermKind::PackSizes(..) => Err(No("sizes that arrive while it runs")),
            TermKind::Error => Err(No("an error")),
        }
    }

    pub(crate) fn types(&self, frame: &Frame<'a>, types: &[Type]) -> Vec<Type> {
        // A type argument stays as it is written: functions are found by it.
        types
            .iter()
            .map(|ty| {
                let ty = if ty.has_var() { ty.substitute(&frame.infos.types) } else { ty.clone() };
                (self.part.concrete)(&ty)
            })
            .collect()
    }

    /// A local variable of a body.
    pub(crate) fn local(&mut self, local: u32, frame: &mut Frame<'a>) -> Result<V<'a>> {
        let (shared, ty) = frame.infos.locals.get(local as usize).cloned().ok_or(No("an unknown local"))?;
        if shared {
            return Err(No("a variable shared with a function"));
        }
        match &frame.locals[local as usize] {
            Some(Bind::Value(value)) => Ok(value.clone()),
            Some(Bind::Place(place)) => {
                let place = place.clone();
                self.read(&place)
            }
            None if frame.outermost => {
                let ty = self.ty(frame, &ty);
                let root = Root::Local(local);
                let shape = self.shape(root);
                let value = self.input(Input { root, path: Vec::new() }, &ty, &shape)?;
                frame.locals[local as usize] = Some(Bind::Value(value.clone()));
                Ok(value)
            }
            None => Err(No("a local without value")),
        }
    }

    /// What a place holds now.
    pub(crate) fn read(&mut self, place: &Place) -> Result<V<'a>> {
        Ok(match place {
            Place::Unit => V::Unit,
            Place::Var(var) => {
                let ty = self.nest.vars[*var as usize];
                V::Word(self.set(ty, Op::Get(*var))?)
            }
            Place::Parts(parts) => {
                let parts = parts.iter().map(|p| self.read(p)).collect::<Result<Vec<_>>>()?;
                V::Parts(Rc::new(parts))
            }
            Place::Sum(case, places) => {
                let arguments = places.iter().map(|p| self.read(p)).collect::<Result<Vec<_>>>()?;
                V::Sum(self.set(Ty::I64, Op::Get(*case))?, Rc::new(arguments))
            }
            Place::Memory(array, base) => {
                V::Array(Rc::new(A::Stored { array: *array, base: *base, changing: true }))
            }
        })
    }

    // ---- words ----------------------------------------------------------------------------

    pub(crate) fn word_type(&self, ty: &Type) -> Result<Ty> {
        word(&self.layout(ty).leaf().ok_or(No("a value of no or several slots"))?)
    }

    /// The register of a value of one slot; of none, 0.
    pub(crate) fn as_word(&mut self, value: &V<'a>, ty: &Type) -> Result<Reg> {
        match value {
            V::Word(reg) => Ok(*reg),
            V::Unit => self.int(0),
            V::Parts(parts) => {
                let one = parts.iter().find(|p| !matches!(p, V::Unit)).cloned();
                match one {
                    Some(one) => self.as_word(&one, ty),
                    None => self.int(0),
                }
            }
            V::Array(a) if matches!(**a, A::Zero) => {
                let ty = self.word_type(ty)?;
                self.constant(ty, 0)
            }
            _ => Err(No("a value of several slots as one")),
        }
    }

    /// Fails unless a condition holds.
    pub(crate) fn check(&mut self, condition: Reg) -> Result<()> {
        match self.known(condition) {
            Some(0) | None => self.emit(Stmt::If(condition, Vec::new(), vec![Stmt::Fail])),
            Some(_) => Ok(()),
        }
    }

    /// A tuple of parts at their types.
    pub(crate) fn tuple(&mut self, parts: Vec<(V<'a>, Type)>, ty: &Type) -> Result<V<'a>> {
        match self.layout(ty).slots {
            0 => Ok(V::Unit),
            1 => {
                for (value, ty) in parts {
                    if self.layout(&ty).slots == 1 {
                        return Ok(value);
                    }
                }
                Ok(V::Unit)
            }
            _ => Ok(V::Parts(Rc::new(parts.into_iter().map(|(v, _)| v).collect()))),
        }
    }

    // ---- codes ----------------------------------------------------------------------------

    fn encoding(&self, ty: &Type) -> Result<(std::sync::Arc<Layout>, u64)> {
        let layout = self.stored(ty)?;
        let size = layout.compact().and_then(|c| c.size.to_u64()).ok_or(No("codes of more than 64 bits"))?;
        Ok((layout, size))
    }

    /// A compact product from its parts.
    pub(crate) fn pack(&mut self, parts: Vec<V<'a>>, ty: &Type) -> Result<V<'a>> {
        let (layout, _) = self.encoding(ty)?;
        if layout.slots == 0 {
            return Ok(V::Unit);
        }
        let Some(compact) = layout.compact() else { return Err(No("a pair that is not compact")) };
        if matches!(compact.encoding, Encoding::Triangle(_)) {
            return Err(No("pairs without order"));
        }
        // All parts of one code, in order, are that code.
        let origins: Option<Vec<(Reg, usize, usize)>> = parts
            .iter()
            .map(|p| match p {
                V::Word(reg) => self.parts.get(reg).copied(),
                _ => None,
            })
            .collect();
        if let Some(origins) = origins
            && let Some((whole, _, count)) = origins.first()
            && *count == parts.len()
            && origins.iter().enumerate().all(|(i, (reg, at, _))| reg == whole && *at == i)
        {
            return Ok(V::Word(*whole));
        }
        let mut code: Option<Reg> = None;
        let mut sizes = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let (size, _) = compact.encoding.place(&Code::from(i));
            let size = size.to_u64().ok_or(No("codes of more than 64 bits"))?;
            sizes.push(size);
            let part = match part {
                V::Unit => None,
                V::Word(reg) => Some(*reg),
                _ => return Err(No("a part of several slots")),
            };
            code = match (code, part) {
                (None, part) => part,
                (Some(code), part) => {
                    let size = self.size(size)?;
                    let scaled = self.binary(Binary::Mul, code, size)?;
                    Some(match part {
                        Some(part) => self.binary(Binary::Add, scaled, part)?,
                        None => scaled,
                    })
                }
            };
        }
        let code = match code {
            Some(code) => code,
            None => self.int(0)?,
        };
        self.packed.insert(code, (parts, sizes));
        Ok(V::Word(code))
    }

    /// Part `i` of a compact product or exponential.
    pub(crate) fn factor(&mut self, value: &V<'a>, ty: &Type, i: &Code) -> Result<V<'a>> {
        let at = i.to_usize().ok_or(No("a position beyond memory"))?;
        let (layout, whole) = self.encoding(ty)?;
        let Some(compact) = layout.compact() else { return Err(No("a part of no compact value")) };
        if matches!(compact.encoding, Encoding::Triangle(_)) {
            // The only pair below 2 is (1\, 0): no slot, and yet not zeros.
            return Err(No("pairs without order"));
        }
        let V::Word(code) = value else { return Ok(V::Unit) };
        if let Some((parts, sizes)) = self.packed.get(code)
            && let Some(part) = parts.get(at)
            && cut_so(&compact.encoding, sizes)
        {
            return Ok(part.clone());
        }
        self.divided.insert(*code);
        let count = match &compact.encoding {
            Encoding::Product { sizes, .. } => sizes.len(),
            Encoding::Power { count, .. } => count.to_usize().unwrap_or(usize::MAX),
            _ => 1,
        };
        let (size, weight) = compact.encoding.place(i);
        let (Some(size), Some(weight)) = (size.to_u64(), weight.to_u64()) else {
            return Err(No("codes of more than 64 bits"));
        };
        if size == 1 {
            return Ok(V::Unit);
        }
        let by = self.size(weight)?;
        let mut part = self.binary(Binary::DivUnsigned, *code, by)?;
        if weight.checked_mul(size) != Some(whole) {
            let by = self.size(size)?;
            part = self.binary(Binary::RemUnsigned, part, by)?;
        }
        if part != *code {
            self.parts.insert(part, (*code, at, count));
        }
        Ok(V::Word(part))
    }

    /// A digit of a compact exponential at a position that is not known.
    fn digit(&mut self, value: &V<'a>, position: &V<'a>, ty: &Type) -> Result<V<'a>> {
        let V::Word(code) = value else { return Ok(V::Unit) };
        let V::Word(position) = position else { return Err(No("a position of several slots")) };
        let (layout, _) = self.encoding(ty)?;
        let Some(compact) = layout.compact() else { return Err(No("a digit of no compact value")) };
        let Encoding::Power { base, count } = &compact.encoding else {
            return Err(No("digits of a product"));
        };
        let (Some(base), Some(count)) = (base.to_u64(), count.to_u64()) else {
            return Err(No("codes of more than 64 bits"));
        };
        if base == 1 {
            return Ok(V::Unit);
        }
        // Position 0 is the most significant digit.
        let last = self.size(count - 1)?;
        let places = self.binary(Binary::Sub, last, *position)?;
        let part = if base == 2 {
            self.binary(Binary::Shr, *code, places)?
        } else {
            let base = self.size(base)?;
            let weight = self.set(Ty::I64, Op::Call(Math::PowInt, vec![base, places]))?;
            self.binary(Binary::DivUnsigned, *code, weight)?
        };
        let base = self.size(base)?;
        Ok(V::Word(self.binary(Binary::RemUnsigned, part, base)?))
    }

    /// Case `i` of a sum all of whose cases are units, or of a unit sum.
    pub(crate) fn inject(&mut self, ty: &Type, case: &Code, argument: &V<'a>) -> Result<V<'a>> {
        if let Some(types) = self.cases(ty)? {
            return self.case_of(&types, case, argument);
        }
        let layout = self.stored(ty)?;
        if layout.slots == 0 {
            return Ok(V::Unit);
        }
        let offset = match &layout.form {
            Form::Compact(compact) => compact.encoding.inject(case, &Code::ZERO),
            Form::Sum(sum) => match layout.leaf() {
                Some(Leaf::Code(_)) => sum.offset(case),
                _ => return Err(No("sums with arguments")),
            },
            _ => return Err(No("variants")),
        };
        let offset = self.size(offset.to_u64().ok_or(No("codes of more than 64 bits"))?)?;
        Ok(V::Word(match argument {
            V::Unit => offset,
            V::Word(reg) if self.type_of(*reg) == Ty::I64 => self.binary(Binary::Add, offset, *reg)?,
            _ => return Err(No("sums with arguments")),
        }))
    }

    // ---- operators --------------------------------------------------------------------------

    fn operator(&mut self, op: CoreOp, args: &'a [Term], frame: &mut Frame<'a>) -> Result<V<'a>> {
        let ty = self.ty(frame, &args[0].ty);
        let mut values = Vec::new();
        for arg in args {
            values.push(self.term(arg, frame)?);
        }
        match op {
            CoreOp::Eq | CoreOp::Ne => {
                if self.equality_of_its_own(&args[0].ty, frame) {
                    return Err(No("an equality of its own"));
                }
                let same = self.same(&values[0], &values[1], &ty)?;
                if op == CoreOp::Eq {
                    return Ok(V::Word(same));
                }
                let zero = self.int(0)?;
                return Ok(V::Word(self.set(Ty::I64, Op::Compare(Compare::Eq, same, zero))?));
            }
            _ => {}
        }
        let a = self.as_word(&values[0], &ty)?;
        let b = match values.get(1) {
            Some(b) => self.as_word(b, &ty)?,
            None => a,
        };
        if self.type_of(a) == Ty::I64 {
            self.repeat.integers(match op {
                CoreOp::Div(_) | CoreOp::Rem(_) => Binary::DivSigned,
                _ => Binary::Add,
            });
        }
        let unsigned = matches!(self.layout(&ty).leaf(), Some(leaf) if unsigned(&leaf));
        let compare = |this: &mut Self, less: bool, a: Reg, b: Reg| {
            let kind = match (less, unsigned) {
                (true, true) => Compare::LtUnsigned,
                (true, false) => Compare::Lt,
                (false, true) => Compare::LeUnsigned,
                (false, false) => Compare::Le,
            };
            this.set(Ty::I64, Op::Compare(kind, a, b)).map(V::Word)
        };
        match op {
            CoreOp::Not => {
                let zero = self.int(0)?;
                Ok(V::Word(self.set(Ty::I64, Op::Compare(Compare::Eq, a, zero))?))
            }
            CoreOp::Lt => compare(self, true, a, b),
            CoreOp::Le => compare(self, false, a, b),
            CoreOp::Gt => compare(self, true, b, a),
            CoreOp::Ge => compare(self, false, b, a),
            CoreOp::Neg(Num::Mod) | CoreOp::Add(Num::Mod) | CoreOp::Sub(Num::Mod) | CoreOp::Mul(Num::Mod) => {
                match self.stored(&ty)?.slots {
                    0 => Ok(V::Unit),
                    _ => self.modular(op, &ty, a, b),
                }
            }
            CoreOp::Neg(_) => {
                let word = self.type_of(a);
                Ok(V::Word(self.set(word, Op::Unary(Unary::Neg, a))?))
            }
            CoreOp::Add(_) => self.binary(Binary::Add, a, b).map(V::Word),
            CoreOp::Sub(_) => self.binary(Binary::Sub, a, b).map(V::Word),
            CoreOp::Mul(_) => self.binary(Binary::Mul, a, b).map(V::Word),
            CoreOp::Div(_) | CoreOp::Rem(_) => {
                let word = self.type_of(a);
                let div = matches!(op, CoreOp::Div(_));
                if word.is_float() {
                    if let Some(factor) = self.known(b).filter(|_| div).and_then(|b| reciprocal(word, b)) {
                        let factor = self.constant(word, factor)?;
                        return self.binary(Binary::Mul, a, factor).map(V::Word);
                    }
                    let op = match (div, word) {
                        (true, _) => Op::Binary(Binary::Quotient, a, b),
                        (false, Ty::F32) => Op::Call(Math::RemSingle, vec![a, b]),
                        (false, _) => Op::Call(Math::Rem, vec![a, b]),
                    };
                    return self.set(word, op).map(V::Word);
                }
                if self.known(b).is_none_or(|n| n == 0) {
                    let zero = self.constant(word, 0)?;
                    let nonzero = self.set(Ty::I64, Op::Compare(Compare::Ne, b, zero))?;
                    self.check(nonzero)?;
                }
                let kind = match (div, unsigned) {
                    (true, true) => Binary::DivUnsigned,
                    (true, false) => Binary::DivSigned,
                    (false, true) => Binary::RemUnsigned,
                    (false, false) => Binary::RemSigned,
                };
                self.set(word, Op::Binary(kind, a, b)).map(V::Word)
            }
            CoreOp::Pow(_) => self.power(a, b, unsigned),
            CoreOp::Eq | CoreOp::Ne => Err(No("a comparison")),
        }
    }

    fn power(&mut self, a: Reg, b: Reg, unsigned: bool) -> Result<V<'a>> {
        let word = self.type_of(a);
        let f = match word {
            Ty::F64 => Math::Pow,
            Ty::F32 => Math::PowSingle,
            _ => {
                let (a, b) = (self.widened(a, unsigned)?, self.widened(b, unsigned)?);
                if !unsigned {
                    let zero = self.int(0)?;
                    let natural = self.set(Ty::I64, Op::Compare(Compare::Le, zero, b))?;
                    self.check(natural)?;
                }
                let power = self.set(Ty::I64, Op::Call(Math::PowInt, vec![a, b]))?;
                return self.narrowed(power, word).map(V::Word);
            }
        };
        self.set(word, Op::Call(f, vec![a, b])).map(V::Word)
    }

    /// An integer as one of 64 bits.
    pub(crate) fn widened(&mut self, reg: Reg, unsigned: bool) -> Result<Reg> {
        match self.type_of(reg) {
            Ty::I64 => Ok(reg),
            _ => {
                let cast = if unsigned { Cast::Unsigned } else { Cast::Signed };
                self.set(Ty::I64, Op::Cast(cast, Ty::I64, reg))
            }
        }
    }

    /// The lower bits of an integer of 64.
    pub(crate) fn narrowed(&mut self, reg: Reg, ty: Ty) -> Result<Reg> {
        if ty == Ty::I64 { Ok(reg) } else { self.set(ty, Op::Cast(Cast::Narrow, ty, reg)) }
    }

    /// Arithmetic modulo the size of a unit sum.
    fn modular(&mut self, op: CoreOp, ty: &Type, a: Reg, b: Reg) -> Result<V<'a>> {
        let n = self.count(ty)?;
        let size = self.size(n)?;
        let zero = self.int(0)?;
        match op {
            CoreOp::Add(_) => {
                let sum = self.binary(Binary::Add, a, b)?;
                let less = self.binary(Binary::Sub, sum, size)?;
                let over = self.set(Ty::I64, Op::Compare(Compare::LeUnsigned, size, sum))?;
                Ok(V::Word(self.set(Ty::I64, Op::Select(over, less, sum))?))
            }
            CoreOp::Sub(_) => {
                let difference = self.binary(Binary::Sub, a, b)?;
                let more = self.binary(Binary::Add, difference, size)?;
                let under = self.set(Ty::I64, Op::Compare(Compare::LtUnsigned, a, b))?;
                Ok(V::Word(self.set(Ty::I64, Op::Select(under, more, difference))?))
            }
            CoreOp::Neg(_) => {
                let rest = self.binary(Binary::Sub, size, a)?;
                let none = self.set(Ty::I64, Op::Compare(Compare::Eq, a, zero))?;
                Ok(V::Word(self.set(Ty::I64, Op::Select(none, zero, rest))?))
            }
            _ if n <= 1 << 32 => {
                let product = self.binary(Binary::Mul, a, b)?;
                Ok(V::Word(self.binary(Binary::RemUnsigned, product, size)?))
            }
            _ => Err(No("products of more than 64 bits")),
        }
    }

    /// Whether two values of a type are the same, as a truth value.
    pub(crate) fn same(&mut self, a: &V<'a>, b: &V<'a>, ty: &Type) -> Result<Reg> {
        if let (V::Sum(m, x), V::Sum(n, y), Some(types)) = (a, b, self.cases(ty)?) {
            return self.same_case((*m, x), (*n, y), &types);
        }
        let layout = self.stored(ty)?;
        match layout.slots {
            0 => self.int(1),
            1 => {
                let (a, b) = (self.as_word(a, ty)?, self.as_word(b, ty)?);
                self.set(Ty::I64, Op::Compare(Compare::Eq, a, b))
            }
            _ => match &layout.form {
                Form::Parts(parts) => {
                    let types = ty.components(parts.len()).ok_or(No("parts without types"))?;
                    let mut all = None;
                    for (i, part) in types.iter().enumerate() {
                        let part = bare(part);
                        let x = self.component(a, ty, i as u64, &part)?;
                        let y = self.component(b, ty, i as u64, &part)?;
                        let same = self.same(&x, &y, &part)?;
                        all = Some(match all {
                            None => same,
                            Some(all) => self.binary(Binary::And, all, same)?,
                        });
                    }
                    all.map_or_else(|| self.int(1), Ok)
                }
                Form::Array { .. } => self.same_arrays(a, b, ty),
                _ => Err(No("sums with arguments")),
            },
        }
    }

    /// Whether a declared type in a type has an equality of its own.
    fn equality_of_its_own(&self, ty: &Type, frame: &Frame<'a>) -> bool {
        // Names are gone from an unfolded type: look at the type as it is written.
        let ty = if ty.has_var() { ty.substitute(&frame.infos.types) } else { ty.clone() };
        let ty = (self.part.concrete)(&ty);
        !self.program.own_methods(self.program.known.eq, "==", &ty).is_empty()
    }

    // ---- conversions ------------------------------------------------------------------------

    fn convert(&mut self, value: &V<'a>, from: &Type, to: &Type) -> Result<V<'a>> {
        let (Some(f), Some(t)) = (from.as_scalar(), to.as_scalar()) else {
            return Err(No("a conversion of no scalar"));
        };
        let a = self.as_word(value, from)?;
        let (x, y) = (self.word_type(from)?, self.word_type(to)?);
        if f == t {
            return Ok(V::Word(a));
        }
        let from_unsigned = unsigned(&Leaf::Scalar(f));
        if x.is_float() && y.is_float() {
            let cast = self.set(y, Op::Cast(Cast::Float, y, a))?;
            if y == Ty::F32 {
                // A finite number does not become infinite.
                let (zero, inf) = (self.set(x, Op::Binary(Binary::Sub, a, a))?, cast);
                let finite = self.set(Ty::I64, Op::Compare(Compare::Eq, zero, zero))?;
                let rest = self.set(y, Op::Binary(Binary::Sub, inf, inf))?;
                let stays = self.set(Ty::I64, Op::Compare(Compare::Eq, rest, rest))?;
                let fits = self.set(Ty::I64, Op::Compare(Compare::LeUnsigned, finite, stays))?;
                self.check(fits)?;
            }
            return Ok(V::Word(cast));
        }
        if y.is_float() {
            let wide = self.widened(a, from_unsigned)?;
            let cast = if from_unsigned { Cast::FloatUnsigned } else { Cast::FloatSigned };
            return Ok(V::Word(self.set(y, Op::Cast(cast, y, wide))?));
        }
        if t == Scalar::Char {
            return Err(No("characters from numbers"));
        }
        let bounds = t.bounds().ok_or(No("big integers"))?;
        if x.is_float() {
            let a = if x == Ty::F32 { self.set(Ty::F64, Op::Cast(Cast::Float, Ty::F64, a))? } else { a };
            if bounds.1 > i128::from(i64::MAX) {
                return Err(No("reals as unsigned integers of 64 bits"));
            }
            let whole = self.set(Ty::F64, Op::Unary(Unary::Trunc, a))?;
            // Both ends are powers of two, or near zero: exact as reals.
            let low = self.constant(Ty::F64, (bounds.0 as f64).to_bits())?;
            let high = self.constant(Ty::F64, ((bounds.1 + 1) as f64).to_bits())?;
            let above = self.set(Ty::I64, Op::Compare(Compare::Le, low, whole))?;
            let below = self.set(Ty::I64, Op::Compare(Compare::Lt, whole, high))?;
            let fits = self.binary(Binary::And, above, below)?;
            self.check(fits)?;
            let whole = self.set(Ty::I64, Op::Cast(Cast::Whole, Ty::I64, whole))?;
            return self.narrowed(whole, y).map(V::Word);
        }
        // Between integers: within both the signed 64 bits, or unsigned 64 with a check of the sign.
        let wide = self.widened(a, from_unsigned)?;
        let (low, high) = f.bounds().unwrap_or((0, 0x10_FFFF));
        if low < bounds.0 {
            let least = self.int(bounds.0 as i64 as u64)?;
            let fits = self.set(Ty::I64, Op::Compare(Compare::Le, least, wide))?;
            self.check(fits)?;
        }
        if high > bounds.1 {
            let most = self.int(bounds.1 as u64)?;
            let kind = if low < 0 { Compare::Le } else { Compare::LeUnsigned };
            let fits = self.set(Ty::I64, Op::Compare(kind, wide, most))?;
            self.check(fits)?;
        }
        self.narrowed(wide, y).map(V::Word)
    }

    // ---- choices ----------------------------------------------------------------------------

    /// The value of one of two branches.
    pub(crate) fn either(
        &mut self,
        condition: Reg,
        ty: &Type,
        frame: &mut Frame<'a>,
        branch: &mut dyn FnMut(&mut Self, &mut Frame<'a>, bool) -> Result<V<'a>>,
    ) -> Result<V<'a>> {
        if let Some(known) = self.known(condition) {
            return branch(self, frame, known != 0);
        }
        let (mut first, a) = self.perhaps(|this| branch(this, frame, true))?;
        let (mut second, b) = self.perhaps(|this| branch(this, frame, false))?;
        let short = |stmts: &[Stmt]| {
            let mut loads = 0;
            stmts.len() <= SHORT
                && stmts.iter().all(|s| match s {
                    Stmt::Let(_, Op::Load(..)) => {
                        loads += 1;
                        loads <= 2
                    }
                    Stmt::Let(_, Op::Call(..)) => false,
                    Stmt::Let(_, Op::Binary(op, ..)) => !matches!(
                        op,
                        Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned
                    ),
                    Stmt::Let(..) => true,
                    _ => false,
                })
        };
        let functions = |v: &V<'a>| matches!(v, V::Fun(_));
        if functions(&a) || functions(&b) {
            return Err(No("a function that depends on a condition"));
        }
        if short(&first) && short(&second) {
            for stmt in first.into_iter().chain(second) {
                self.emit(stmt)?;
            }
            return self.choose(condition, &a, &b, ty);
        }
        // Arrays that are only remembered were made of registers of one branch.
        let place = self.place_for(ty)?;
        let (more, ()) = self.perhaps(|this| this.assign(&place, &a, ty))?;
        first.extend(more);
        let (more, ()) = self.perhaps(|this| this.assign(&place, &b, ty))?;
        second.extend(more);
        self.emit(Stmt::If(condition, first, second))?;
        self.frozen(&place)
    }

    /// One of two values, both of which are known.
    pub(crate) fn choose(&mut self, condition: Reg, a: &V<'a>, b: &V<'a>, ty: &Type) -> Result<V<'a>> {
        if let (V::Sum(m, x), V::Sum(n, y), Some(types)) = (a, b, self.cases(ty)?) {
            return self.choose_case(condition, (*m, x), (*n, y), &types);
        }
        match self.layout(ty).slots {
            0 => Ok(V::Unit),
            1 => {
                let (a, b) = (self.as_word(a, ty)?, self.as_word(b, ty)?);
                let word = self.type_of(a);
                Ok(V::Word(self.set(word, Op::Select(condition, a, b))?))
            }
            _ => match (a, b) {
                (V::Parts(x), V::Parts(y)) if x.len() == y.len() => {
                    let types = ty.components(x.len()).ok_or(No("parts without types"))?;
                    let mut parts = Vec::new();
                    for ((x, y), ty) in x.iter().zip(y.iter()).zip(types) {
                        parts.push(self.choose(condition, x, y, &bare(&ty))?);
                    }
                    Ok(V::Parts(Rc::new(parts)))
                }
                _ => Ok(V::Array(Rc::new(A::Choice(condition, a.clone(), b.clone())))),
            },
        }
    }
}

/// Whether the order of a slot's values is that of unsigned numbers.
pub(crate) fn unsigned(leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Code(_) | Leaf::Scalar(Scalar::Char) => true,
        Leaf::Scalar(Scalar::Fixed(fixed)) => {
            matches!(fixed, Fixed::U8 | Fixed::U16 | Fixed::U32 | Fixed::U64)
        }
        _ => false,
    }
}

/// Whether the parts of an encoding have these sizes.
fn cut_so(encoding: &Encoding, sizes: &[u64]) -> bool {
    match encoding {
        Encoding::Product { sizes: own, .. } => {
            own.len() == sizes.len() && own.iter().zip(sizes).all(|(a, b)| a.to_u64() == Some(*b))
        }
        Encoding::Power { base, count } => {
            count.to_usize() == Some(sizes.len()) && sizes.iter().all(|s| base.to_u64() == Some(*s))
        }
        _ => false,
    }
}

/// The bits of a float by which to multiply is to divide, to the last bit: that of a power of two.
fn reciprocal(ty: Ty, bits: u64) -> Option<u64> {
    match ty {
        Ty::F32 => {
            let (number, one) = (f32::from_bits(bits as u32), 1.0f32);
            let (power, factor) =
                (number.to_bits().trailing_zeros() >= f32::MANTISSA_DIGITS - 1, one / number);
            (power && number.is_normal() && factor.is_normal()).then_some(u64::from(factor.to_bits()))
        }
        _ => {
            let (number, one) = (f64::from_bits(bits), 1.0f64);
            let (power, factor) =
                (number.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1, one / number);
            (power && number.is_normal() && factor.is_normal()).then_some(factor.to_bits())
        }
    }
}
