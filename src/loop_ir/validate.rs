//! A second look at the loop form: registers set once and before they are read, types that fit,
//! parallel statements where they may stand.

use super::{Binary, Cast, Gemm, Kernel, Label, Op, Origin, ScalarType, Stmt, Summand, Unary, for_each_stmt};
use crate::hash::HashSet;

/// What is wrong with a nest, if anything.
pub fn validate(nest: &Kernel) -> Result<(), String> {
    let mut check = Validator { nest, set: HashSet::default(), labels: Vec::new() };
    check.stmts(&nest.body, &mut HashSet::default(), true)?;
    nest.body.iter().try_for_each(shared)?;
    let mut known = HashSet::default();
    for stmt in &nest.body {
        match stmt {
            Stmt::Let(reg, _) | Stmt::Reduce { result: reg, .. } => {
                known.insert(*reg);
            }
            _ => {}
        }
    }
    match nest.words.iter().find(|reg| !known.contains(reg)) {
        Some(reg) => Err(format!("the result r{reg} is not set at the top")),
        None => Ok(()),
    }
}

/// Rounds of a parallel statement that have packed panels in common have one contraction, whose right factors are the
/// same in all.
fn shared(stmt: &Stmt) -> Result<(), String> {
    let (mut found, mut written, mut set) = (Vec::new(), HashSet::default(), HashSet::default());
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| match inner {
        Stmt::Gemm(contraction) => {
            written.insert(contraction.into);
            found.extend(contraction.shared.then(|| contraction.clone()));
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
        [one] if matches!(stmt, Stmt::ParallelFor { .. }) && same(one) => Ok(()),
        _ => Err("a contraction has nothing in common with other rounds".into()),
    }
}

struct Validator<'a> {
    nest: &'a Kernel,
    /// Registers set anywhere so far.
    set: HashSet<u32>,
    /// Loops and blocks around, and whether `Continue` may name them.
    labels: Vec<(Label, bool)>,
}

impl Validator<'_> {
    fn ty(&self, reg: u32) -> Result<ScalarType, String> {
        self.nest.regs.get(reg as usize).copied().ok_or_else(|| format!("r{reg} has no type"))
    }

    fn array(&self, array: u32) -> Result<Origin, String> {
        let info = self.nest.arrays.get(array as usize);
        info.map(|info| info.origin).ok_or_else(|| format!("there is no a{array}"))
    }

    fn want(&self, reg: u32, ty: ScalarType) -> Result<(), String> {
        let found = self.ty(reg)?;
        if found == ty { Ok(()) } else { Err(format!("r{reg} is {found:?}, not {ty:?}")) }
    }

    fn define(&mut self, reg: u32, scope: &mut HashSet<u32>) -> Result<(), String> {
        scope.insert(reg);
        if self.set.insert(reg) { Ok(()) } else { Err(format!("r{reg} is set twice")) }
    }

    fn stmts(&mut self, list: &[Stmt], scope: &mut HashSet<u32>, top: bool) -> Result<(), String> {
        for stmt in list {
            let mut unknown = None;
            stmt.for_each_reg(&mut |reg| {
                if !scope.contains(&reg) {
                    unknown = Some(reg);
                }
            });
            if let Some(reg) = unknown {
                return Err(format!("r{reg} is read before it is set, in {stmt:?}"));
            }
            self.stmt(stmt, scope, top)?;
        }
        Ok(())
    }

    fn inside(&mut self, list: &[Stmt], scope: &HashSet<u32>, own: Option<u32>) -> Result<(), String> {
        let mut scope = scope.clone();
        if let Some(reg) = own {
            self.define(reg, &mut scope)?;
        }
        self.stmts(list, &mut scope, false)
    }

    fn stmt(&mut self, stmt: &Stmt, scope: &mut HashSet<u32>, top: bool) -> Result<(), String> {
        match stmt {
            Stmt::Let(reg, op) => {
                let ty = self.op(op)?;
                self.want(*reg, ty)?;
                self.define(*reg, scope)
            }
            Stmt::Set(var, reg) => {
                let ty = self.nest.vars.get(*var as usize).copied();
                self.want(*reg, ty.ok_or_else(|| format!("there is no v{var}"))?)
            }
            Stmt::Store(array, at, value) => {
                if let Origin::Given(_) = self.array(*array)? {
                    return Err(format!("a{array} is only to be read"));
                }
                self.ty(*value)?;
                self.want(*at, ScalarType::I64)
            }
            Stmt::If(condition, then, otherwise) => {
                self.want(*condition, ScalarType::I64)?;
                self.inside(then, scope, None)?;
                self.inside(otherwise, scope, None)
            }
            Stmt::For { label, index, low, high, body } => {
                self.want(*low, ScalarType::I64)?;
                self.want(*high, ScalarType::I64)?;
                self.labels.push((*label, true));
                self.inside(body, scope, Some(*index))?;
                self.labels.pop();
                Ok(())
            }
            Stmt::Loop(label, body) | Stmt::Block(label, body) => {
                self.labels.push((*label, matches!(stmt, Stmt::Loop(..))));
                self.inside(body, scope, None)?;
                self.labels.pop();
                Ok(())
            }
            Stmt::Break(label) | Stmt::Continue(label) => {
                let found = self.labels.iter().find(|(known, _)| known == label);
                match (stmt, found) {
                    (Stmt::Break(_), Some(_)) | (_, Some((_, true))) => Ok(()),
                    _ => Err(format!("@{label} is not around")),
                }
            }
            Stmt::Fail => Ok(()),
            Stmt::ParallelFor { index, count, body } => {
                self.want(*count, ScalarType::I64)?;
                if !top {
                    return Err("`each` inside another statement".into());
                }
                self.inside(body, scope, Some(*index))
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                self.want(*low, ScalarType::I64)?;
                self.want(*high, ScalarType::I64)?;
                let wanted = match item {
                    Summand::One(..) => self.ty(*result)?,
                    Summand::Product(..) => ScalarType::F64,
                };
                if !wanted.is_float() || self.ty(*result)? != wanted {
                    return Err(format!("r{result} is no sum"));
                }
                item.regs().try_for_each(|reg| self.want(reg, wanted))?;
                let mut inner = scope.clone();
                self.define(*index, &mut inner)?;
                self.stmts(body, &mut inner, false)?;
                if let Some(reg) = item.regs().find(|reg| !inner.contains(reg)) {
                    return Err(format!("r{reg} is not set by the body"));
                }
                self.define(*result, scope)
            }
            Stmt::Gemm(contraction) => {
                if let Origin::Given(_) = self.array(contraction.into)? {
                    return Err(format!("a{} is only to be read", contraction.into));
                }
                for array in [contraction.into, contraction.left, contraction.right] {
                    self.array(array)?;
                    if self.nest.arrays[array as usize].width != 8 {
                        return Err(format!("a{array} has no slots of 8 bytes"));
                    }
                }
                if [contraction.left, contraction.right].contains(&contraction.into) {
                    return Err(format!("a{} is read and written", contraction.into));
                }
                contraction.regs().into_iter().try_for_each(|reg| match reg == contraction.start {
                    true => self.want(reg, ScalarType::F64),
                    false => self.want(reg, ScalarType::I64),
                })
            }
        }
    }

    fn op(&self, op: &Op) -> Result<ScalarType, String> {
        let wrong = || Err(format!("wrong types in {op:?}"));
        match op {
            Op::Const(ty, _) => Ok(*ty),
            Op::Size(n) if (*n as usize) < self.nest.sizes.len() => Ok(ScalarType::I64),
            Op::Scalar(n) if (*n as usize) < self.nest.scalars.len() => Ok(self.nest.scalars[*n as usize]),
            Op::Size(_) | Op::Scalar(_) => Err(format!("{op:?} is not given")),
            Op::Binary(kind, a, b) => {
                let ty = self.ty(*a)?;
                self.want(*b, ty)?;
                match kind {
                    Binary::Add | Binary::Sub | Binary::Mul => Ok(ty),
                    Binary::Quotient | Binary::Min | Binary::Max if ty.is_float() => Ok(ty),
                    Binary::Quotient | Binary::Min | Binary::Max => wrong(),
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
                self.want(*b, self.ty(*a)?)?;
                Ok(ScalarType::I64)
            }
            Op::Select(c, a, b) => {
                self.want(*c, ScalarType::I64)?;
                let ty = self.ty(*a)?;
                self.want(*b, ty)?;
                Ok(ty)
            }
            Op::Cast(cast, to, a) => {
                let from = self.ty(*a)?;
                let fits = match cast {
                    Cast::Signed | Cast::Unsigned => {
                        !from.is_float() && !to.is_float() && from.bytes() < to.bytes()
                    }
                    Cast::Narrow => !from.is_float() && !to.is_float() && from.bytes() > to.bytes(),
                    Cast::FloatSigned | Cast::FloatUnsigned => !from.is_float() && to.is_float(),
                    Cast::Whole => from.is_float() && *to == ScalarType::I64,
                    Cast::Float => from.is_float() && to.is_float() && from != *to,
                };
                if fits { Ok(*to) } else { wrong() }
            }
            Op::Load(array, at, ty) => {
                self.array(*array)?;
                self.want(*at, ScalarType::I64)?;
                Ok(*ty)
            }
            Op::Get(var) => {
                self.nest.vars.get(*var as usize).copied().ok_or_else(|| format!("there is no v{var}"))
            }
            Op::Call(f, args) => {
                let (params, result) = f.signature();
                if params.len() != args.len() {
                    return wrong();
                }
                for (arg, ty) in args.iter().zip(params) {
                    self.want(*arg, *ty)?;
                }
                Ok(result)
            }
        }
    }
}
