//! Validator of the loop form: registers are set once and before they are read, types fit, arrays
//! on the stack that are read are written, parallel statements stand in what runs in order.

use super::{
    Array, Binary, Cast, FunctionCall, Gemm, Kernel, Label, Op, Origin, Part, Reg, ScalarType, Sort, Stmt,
    Summand, Unary, for_each_stmt, has_parallel_loop,
};
use crate::hash::HashSet;

/// Checks a kernel.
///
/// # Errors
/// A sentence on the first violation.
pub fn validate(kernel: &Kernel) -> Result<(), String> {
    validate_body(kernel, &kernel.functions)?;
    kernel.functions.iter().enumerate().try_for_each(|(number, function)| {
        let check = check_function(function).and_then(|()| validate_body(function, &kernel.functions));
        check.map_err(|why| format!("function f{number}: {why}"))
    })
}

/// A function has its own arrays on the stack, and nothing runs in parallel in it.
fn check_function(function: &Kernel) -> Result<(), String> {
    for (array, info) in function.arrays.ids().zip(function.arrays.iter()) {
        if let Origin::Scratch | Origin::ThreadLocal = info.origin {
            return Err(format!("{array} is no array of a function"));
        }
    }
    if has_parallel_loop(&function.body) || !function.functions.is_empty() {
        return Err("a parallel statement or a function stands in a function".into());
    }
    Ok(())
}

/// The use that a function makes of an array that it is handed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Change,
    Write,
}

impl Access {
    /// In the order in which the arrays are handed over.
    pub(crate) const ALL: [Access; 3] = [Access::Read, Access::Change, Access::Write];
}

/// The arrays of a function that a call hands over for such a use, in order.
pub(crate) fn handed_arrays(function: &Kernel, access: Access) -> Vec<Array> {
    let mut found: Vec<(u32, Array)> = Vec::new();
    for (array, info) in function.arrays.ids().zip(function.arrays.iter()) {
        match info.origin {
            Origin::Input(number) if access == Access::Read => found.push((number, array)),
            Origin::InOut(number) if access == Access::Change => found.push((number, array)),
            Origin::Result(number) if access == Access::Write => found.push((number, array)),
            _ => {}
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, array)| array).collect()
}

fn validate_body(kernel: &Kernel, functions: &[Kernel]) -> Result<(), String> {
    let (set, scope, labels) = (HashSet::default(), Scope::default(), Vec::new());
    let mut check = Validator { kernel, functions, set, scope, labels };
    check.check_stmts(&kernel.body, true)?;
    check_shared_panels(&kernel.body)?;
    check_stack_arrays(kernel)?;
    for (array, info) in kernel.arrays.ids().zip(kernel.arrays.iter()) {
        let Origin::Alias(of) = info.origin else { continue };
        let same = kernel.arrays.get(of).is_some_and(|known| {
            known.width == info.width && !matches!(known.origin, Origin::Alias(_) | Origin::Stack(_))
        });
        if !same {
            return Err(format!("{array} is not the memory of {of}"));
        }
    }
    let mut known: HashSet<Reg> = HashSet::default();
    for stmt in &kernel.body {
        known.extend(stmt.results());
    }
    match kernel.scalar_results.iter().find(|reg| !known.contains(reg)) {
        Some(reg) => Err(format!("the result {reg} is not set at the top")),
        None => Ok(()),
    }
}

/// Arrays on the stack that are read are written somewhere.
fn check_stack_arrays(kernel: &Kernel) -> Result<(), String> {
    match unwritten_stack_arrays(kernel).first() {
        Some(array) => Err(format!("{array} is read and never written")),
        None => Ok(()),
    }
}

/// The arrays on the stack that are read and never written.
pub(super) fn unwritten_stack_arrays(kernel: &Kernel) -> Vec<Array> {
    let on_stack = |array: &Array| matches!(kernel.arrays[*array].origin, Origin::Stack(_));
    let mut found: Vec<Array> = kernel.arrays.ids().filter(on_stack).collect();
    if found.is_empty() {
        return found;
    }
    let (mut read, mut written) = (HashSet::default(), HashSet::default());
    for_each_stmt(&kernel.body, &mut |stmt| {
        stmt.for_each_part(&mut |part| match part {
            Part::ArrayRead(array) => drop(read.insert(*array)),
            Part::ArrayWrite(array) => drop(written.insert(*array)),
            Part::ArrayChange(array) => {
                read.insert(*array);
                written.insert(*array);
            }
            _ => {}
        });
    });
    found.retain(|array| read.contains(array) && !written.contains(array));
    found
}

/// Rounds of a parallel statement that have packed panels in common have one gemm, whose right
/// factors are the same in all.
fn check_shared_panels(stmts: &[Stmt]) -> Result<(), String> {
    stmts.iter().try_for_each(|stmt| match stmt {
        Stmt::ParallelFor { .. } => check_panels_of_rounds(stmt),
        Stmt::Gemm(Gemm { shared: true, .. }) => Err("a gemm has nothing in common with other rounds".into()),
        _ => stmt.bodies().into_iter().try_for_each(check_shared_panels),
    })
}

/// Checks one parallel statement.
fn check_panels_of_rounds(stmt: &Stmt) -> Result<(), String> {
    let (mut found, mut written, mut set) = (Vec::new(), HashSet::default(), HashSet::default());
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| match inner {
        Stmt::Gemm(gemm) => {
            written.insert(gemm.into);
            found.extend(gemm.shared.then(|| gemm.clone()));
        }
        Stmt::Store(array, ..) => drop(written.insert(*array)),
        Stmt::Let(reg, _) => drop(set.insert(*reg)),
        _ => {}
    });
    let same = |c: &Gemm| {
        let regs = [c.columns, c.depth, c.right_at, c.right_step, c.right_column];
        !written.contains(&c.right) && regs.iter().all(|reg| !set.contains(reg))
    };
    match &found[..] {
        [] => Ok(()),
        [one] if same(one) => Ok(()),
        _ => Err("a gemm has nothing in common with other rounds".into()),
    }
}

/// The registers that may be read at a place. Every body is entered and left once for each pass, so
/// entering one copies nothing.
#[derive(Default)]
struct Scope {
    /// Flags by the number of the register.
    known: Vec<bool>,
    /// The registers that are known, in the order of their definitions.
    order: Vec<Reg>,
}

impl Scope {
    fn contains(&self, reg: Reg) -> bool {
        self.known.get(reg.index()).is_some_and(|known| *known)
    }

    fn insert(&mut self, reg: Reg) {
        if self.known.len() <= reg.index() {
            self.known.resize(reg.index() + 1, false);
        }
        if !std::mem::replace(&mut self.known[reg.index()], true) {
            self.order.push(reg);
        }
    }

    /// Forgets all but the first `count`.
    fn truncate(&mut self, count: usize) {
        for reg in self.order.drain(count..) {
            self.known[reg.index()] = false;
        }
    }
}

struct Validator<'a> {
    kernel: &'a Kernel,
    functions: &'a [Kernel],
    /// Registers set anywhere so far.
    set: HashSet<Reg>,
    scope: Scope,
    /// Loops and blocks around, and whether `Continue` may name them.
    labels: Vec<(Label, bool)>,
}

impl Validator<'_> {
    fn ty(&self, reg: Reg) -> Result<ScalarType, String> {
        self.kernel.regs.get(reg).copied().ok_or_else(|| format!("{reg} has no type"))
    }

    fn array(&self, array: Array) -> Result<Origin, String> {
        let info = self.kernel.arrays.get(array);
        info.map(|info| info.origin).ok_or_else(|| format!("there is no {array}"))
    }

    fn expect_type(&self, reg: Reg, ty: ScalarType) -> Result<(), String> {
        let found = self.ty(reg)?;
        if found == ty { Ok(()) } else { Err(format!("{reg} is {found:?}, not {ty:?}")) }
    }

    fn define(&mut self, reg: Reg) -> Result<(), String> {
        self.scope.insert(reg);
        if self.set.insert(reg) { Ok(()) } else { Err(format!("{reg} is set twice")) }
    }

    fn check_stmts(&mut self, list: &[Stmt], in_order: bool) -> Result<(), String> {
        for stmt in list {
            let mut unknown = None;
            stmt.for_each_reg(&mut |reg| {
                if !self.scope.contains(reg) {
                    unknown = Some(reg);
                }
            });
            if let Some(reg) = unknown {
                return Err(format!("{reg} is read before it is set, in {stmt:?}"));
            }
            self.check_stmt(stmt, in_order)?;
        }
        Ok(())
    }

    fn check_body(&mut self, list: &[Stmt], own: Option<Reg>, in_order: bool) -> Result<(), String> {
        let around = self.scope.order.len();
        if let Some(reg) = own {
            self.define(reg)?;
        }
        self.check_stmts(list, in_order)?;
        self.scope.truncate(around);
        Ok(())
    }

    fn check_stmt(&mut self, stmt: &Stmt, in_order: bool) -> Result<(), String> {
        match stmt {
            Stmt::Let(reg, op) => {
                let ty = self.op_type(op)?;
                self.expect_type(*reg, ty)?;
                self.define(*reg)
            }
            Stmt::Set(var, reg) => {
                let ty = self.kernel.vars.get(*var).copied();
                self.expect_type(*reg, ty.ok_or_else(|| format!("there is no {var}"))?)
            }
            Stmt::Store(array, at, value) => {
                if let Origin::Input(_) = self.array(*array)? {
                    return Err(format!("{array} is only to be read"));
                }
                self.ty(*value)?;
                self.expect_type(*at, ScalarType::I64)
            }
            Stmt::Swap(a, b) => {
                for array in [*a, *b] {
                    match self.array(array)? {
                        Origin::Scratch | Origin::Result(_) | Origin::InOut(_) | Origin::Growable => {}
                        _ => return Err(format!("the memory of {array} cannot be exchanged")),
                    }
                }
                let (one, other) = (&self.kernel.arrays[*a], &self.kernel.arrays[*b]);
                let alike = one.width == other.width
                    && self.kernel.slots[*a] == self.kernel.slots[*b]
                    && (one.origin == Origin::Growable) == (other.origin == Origin::Growable);
                if !alike || !(in_order || one.origin == Origin::Growable) {
                    return Err(format!("{a} and {b} are exchanged"));
                }
                Ok(())
            }
            Stmt::Grow(array, slots) => {
                if self.array(*array)? != Origin::Growable {
                    return Err(format!("{array} has the slots that it has"));
                }
                self.expect_type(*slots, ScalarType::I64)
            }
            Stmt::If(condition, then, otherwise) => {
                self.expect_type(*condition, ScalarType::I64)?;
                self.check_body(then, None, in_order)?;
                self.check_body(otherwise, None, in_order)
            }
            Stmt::For { label, index, low, high, body } => {
                self.expect_type(*low, ScalarType::I64)?;
                self.expect_type(*high, ScalarType::I64)?;
                self.labels.push((*label, true));
                self.check_body(body, Some(*index), in_order)?;
                self.labels.pop();
                Ok(())
            }
            Stmt::Loop(label, body) | Stmt::Block(label, body) => {
                self.labels.push((*label, matches!(stmt, Stmt::Loop(..))));
                self.check_body(body, None, in_order)?;
                self.labels.pop();
                Ok(())
            }
            Stmt::Break(label) | Stmt::Continue(label) => {
                let found = self.labels.iter().find(|(known, _)| known == label);
                match (stmt, found) {
                    (Stmt::Break(_), Some(_)) | (_, Some((_, true))) => Ok(()),
                    _ => Err(format!("{label} is not around")),
                }
            }
            Stmt::Fail => Ok(()),
            Stmt::ParallelFor { index, count, body } => {
                self.expect_type(*count, ScalarType::I64)?;
                if !in_order {
                    return Err("a parallel statement stands in another one or in a reduction".into());
                }
                self.check_body(body, Some(*index), false)
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                self.expect_type(*low, ScalarType::I64)?;
                self.expect_type(*high, ScalarType::I64)?;
                let wanted = match item {
                    Summand::Value(..) => self.ty(*result)?,
                    Summand::Product(..) => ScalarType::F64,
                };
                if !wanted.is_float() || self.ty(*result)? != wanted {
                    return Err(format!("{result} is no sum"));
                }
                item.regs().try_for_each(|reg| self.expect_type(reg, wanted))?;
                let around = self.scope.order.len();
                self.define(*index)?;
                self.check_stmts(body, false)?;
                if let Some(reg) = item.regs().find(|reg| !self.scope.contains(*reg)) {
                    return Err(format!("{reg} is not set by the body"));
                }
                self.scope.truncate(around);
                self.define(*result)
            }
            Stmt::Sort(Sort { ty, indices, count, into, first, keys, at }) => {
                if let Origin::Input(_) | Origin::Alias(_) = self.array(*into)? {
                    return Err(format!("{into} is only to be read"));
                }
                self.array(*keys)?;
                let width = |array: Array| usize::from(self.kernel.arrays[array].width);
                if width(*keys) > ty.bytes() || ty.is_float() && width(*keys) != ty.bytes() {
                    return Err(format!("{keys} has no slots of {} bytes", ty.bytes()));
                }
                if !indices && width(*keys) != width(*into) {
                    return Err(format!("the slots of {into} are not those of {keys}"));
                }
                if into == keys && (*indices || first != at) {
                    return Err(format!("{keys} is read and written"));
                }
                [*count, *first, *at].into_iter().try_for_each(|reg| self.expect_type(reg, ScalarType::I64))
            }
            Stmt::Call(call) => self.check_call(call),
            Stmt::Gemm(gemm) => {
                if let Origin::Input(_) | Origin::Alias(_) = self.array(gemm.into)? {
                    return Err(format!("{} is only to be read", gemm.into));
                }
                let ty = self.ty(gemm.start)?;
                if !ty.is_float() {
                    return Err(format!("{} is no float", gemm.start));
                }
                for array in [gemm.into, gemm.left, gemm.right] {
                    self.array(array)?;
                    if usize::from(self.kernel.arrays[array].width) != ty.bytes() {
                        return Err(format!("{array} has no slots of {} bytes", ty.bytes()));
                    }
                }
                if [gemm.left, gemm.right].contains(&gemm.into) {
                    return Err(format!("{} is read and written", gemm.into));
                }
                let mut counts = Vec::new();
                stmt.for_each_reg(&mut |reg| counts.push(reg));
                counts.retain(|reg| *reg != gemm.start);
                counts.into_iter().try_for_each(|reg| self.expect_type(reg, ScalarType::I64))
            }
        }
    }

    fn check_call(&mut self, call: &FunctionCall) -> Result<(), String> {
        let FunctionCall { function, args, read, changed, written, results } = call;
        let functions = self.functions;
        let called = functions.get(*function as usize).ok_or_else(|| format!("there is no f{function}"))?;
        if args.len() != called.scalars.len() || results.len() != called.scalar_results.len() {
            return Err(format!("f{function} has other parameters or results"));
        }
        args.iter().zip(&called.scalars).try_for_each(|(reg, ty)| self.expect_type(*reg, *ty))?;
        for (arrays, access) in [read, changed, written].into_iter().zip(Access::ALL) {
            let params = handed_arrays(called, access);
            if params.len() != arrays.len() {
                return Err(format!("f{function} has other arrays"));
            }
            for ((array, at), param) in arrays.iter().zip(params) {
                self.expect_type(*at, ScalarType::I64)?;
                let origin = self.array(*array)?;
                if access != Access::Read && matches!(origin, Origin::Input(_) | Origin::Alias(_)) {
                    return Err(format!("{array} is only to be read"));
                }
                if self.kernel.arrays[*array].width != called.arrays[param].width {
                    return Err(format!("the slots of {array} are not those of an array of f{function}"));
                }
            }
        }
        let stored: Vec<Array> = changed.iter().chain(written).map(|(array, _)| *array).collect();
        for (at, array) in stored.iter().enumerate() {
            let mut others = stored[..at].iter().chain(read.iter().map(|(array, _)| array));
            if others.any(|other| other == array) {
                return Err(format!("{array} is read and written"));
            }
        }
        for (reg, result) in results.iter().zip(&called.scalar_results) {
            self.expect_type(*reg, called.regs[*result])?;
            self.define(*reg)?;
        }
        Ok(())
    }

    fn op_type(&self, op: &Op) -> Result<ScalarType, String> {
        let wrong = || Err(format!("wrong types in {op:?}"));
        match op {
            Op::Const(ty, _) => Ok(*ty),
            Op::Size(n) if (*n as usize) < self.kernel.sizes.len() => Ok(ScalarType::I64),
            Op::Scalar(n) if (*n as usize) < self.kernel.scalars.len() => {
                Ok(self.kernel.scalars[*n as usize])
            }
            Op::Size(_) | Op::Scalar(_) => Err(format!("{op:?} is not given")),
            Op::Binary(kind, a, b) => {
                let ty = self.ty(*a)?;
                self.expect_type(*b, ty)?;
                match kind {
                    Binary::Add | Binary::Sub | Binary::Mul => Ok(ty),
                    Binary::DivFloat | Binary::Min | Binary::Max if ty.is_float() => Ok(ty),
                    Binary::DivFloat | Binary::Min | Binary::Max => wrong(),
                    _ if ty.is_float() => wrong(),
                    _ => Ok(ty),
                }
            }
            Op::Unary(kind, a) => {
                let ty = self.ty(*a)?;
                match kind {
                    Unary::Neg => Ok(ty),
                    Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc if ty.is_float() => Ok(ty),
                    Unary::Not | Unary::PopCount | Unary::TrailingZeros if !ty.is_float() => Ok(ty),
                    _ => wrong(),
                }
            }
            Op::Compare(_, a, b) => {
                self.expect_type(*b, self.ty(*a)?)?;
                Ok(ScalarType::I64)
            }
            Op::Select(c, a, b) => {
                self.expect_type(*c, ScalarType::I64)?;
                let ty = self.ty(*a)?;
                self.expect_type(*b, ty)?;
                Ok(ty)
            }
            Op::Cast(cast, to, a) => {
                let from = self.ty(*a)?;
                let fits = match cast {
                    Cast::SignExtend | Cast::ZeroExtend => {
                        !from.is_float() && !to.is_float() && from.bytes() < to.bytes()
                    }
                    Cast::Truncate => !from.is_float() && !to.is_float() && from.bytes() > to.bytes(),
                    Cast::SignedToFloat | Cast::UnsignedToFloat => !from.is_float() && to.is_float(),
                    Cast::FloatToSigned => from.is_float() && matches!(to, ScalarType::I32 | ScalarType::I64),
                    Cast::FloatToFloat => from.is_float() && to.is_float() && from != *to,
                    Cast::FloatToBits => (from, *to) == (ScalarType::F64, ScalarType::I64),
                };
                if fits { Ok(*to) } else { wrong() }
            }
            Op::Load(array, at, ty) => {
                self.array(*array)?;
                self.expect_type(*at, ScalarType::I64)?;
                Ok(*ty)
            }
            Op::Get(var) => self.kernel.vars.get(*var).copied().ok_or_else(|| format!("there is no {var}")),
            Op::Call(f, args) => {
                let (params, result) = f.signature();
                if params.len() != args.len() {
                    return wrong();
                }
                for (arg, ty) in args.iter().zip(params) {
                    self.expect_type(*arg, *ty)?;
                }
                Ok(result)
            }
        }
    }
}
