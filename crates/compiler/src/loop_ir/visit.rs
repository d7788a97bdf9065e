//! The parts of statements and operations, listed once.
//!
//! [`Stmt::for_each_part`] and [`Op::for_each_part`] call a function on each register, variable,
//! array, label and list of statements that a construct itself holds, in the order of evaluation;
//! the forms that end in `_mut` pass them to be replaced. All other walks are made of these, so a
//! new construct lists its parts in this file and nowhere else.

use super::{Array, FunctionCall, Gemm, Label, Op, Reg, Sort, Stmt, Summand, Var};
use crate::hash::HashSet;

macro_rules! parts {
    ($(#[$doc:meta])* $Part:ident $each:ident $($mutable:ident)?) => {
        $(#[$doc])*
        pub enum $Part<'a> {
            /// A register that is read where the construct stands.
            Use(&'a $($mutable)? Reg),
            /// A register of a summand: read in each round, and set by the body or before it.
            Item(&'a $($mutable)? Reg),
            /// A register that is set.
            Def(&'a $($mutable)? Reg),
            /// A variable that is read.
            VarRead(&'a $($mutable)? Var),
            /// A variable that is set.
            VarWrite(&'a $($mutable)? Var),
            /// An array of which slots are read.
            ArrayRead(&'a $($mutable)? Array),
            /// An array of which slots are set, or whose memory is exchanged.
            ArrayWrite(&'a $($mutable)? Array),
            /// An array of which slots are read and set.
            ArrayChange(&'a $($mutable)? Array),
            /// The label that a loop or a block declares.
            Label(&'a $($mutable)? Label),
            /// The label of a loop or block that is left or continued.
            Target(&'a $($mutable)? Label),
            /// Statements inside.
            Body(&'a $($mutable)? Vec<Stmt>),
        }

        impl Op {
            /// Calls `f` on each part of the operation.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                match self {
                    Op::Const(..) | Op::Size(_) | Op::Scalar(_) => {}
                    Op::Binary(_, a, b) | Op::Compare(_, a, b) => {
                        f($Part::Use(a));
                        f($Part::Use(b));
                    }
                    Op::Unary(_, a) | Op::Cast(_, _, a) => f($Part::Use(a)),
                    Op::Select(a, b, c) => {
                        f($Part::Use(a));
                        f($Part::Use(b));
                        f($Part::Use(c));
                    }
                    Op::Load(array, at, _) => {
                        f($Part::ArrayRead(array));
                        f($Part::Use(at));
                    }
                    Op::Get(var) => f($Part::VarRead(var)),
                    Op::Call(_, args) => {
                        for arg in args {
                            f($Part::Use(arg));
                        }
                    }
                }
            }
        }

        impl Stmt {
            /// Calls `f` on each part of the statement, not on those of statements inside.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                match self {
                    Stmt::Let(reg, op) => {
                        op.$each(f);
                        f($Part::Def(reg));
                    }
                    Stmt::Set(var, reg) => {
                        f($Part::Use(reg));
                        f($Part::VarWrite(var));
                    }
                    Stmt::Store(array, at, value) => {
                        f($Part::ArrayWrite(array));
                        f($Part::Use(at));
                        f($Part::Use(value));
                    }
                    Stmt::Swap(a, b) => {
                        f($Part::ArrayWrite(a));
                        f($Part::ArrayWrite(b));
                    }
                    Stmt::Grow(array, slots) => {
                        f($Part::ArrayWrite(array));
                        f($Part::Use(slots));
                    }
                    Stmt::If(condition, then, otherwise) => {
                        f($Part::Use(condition));
                        f($Part::Body(then));
                        f($Part::Body(otherwise));
                    }
                    Stmt::For { label, index, low, high, body } => {
                        f($Part::Use(low));
                        f($Part::Use(high));
                        f($Part::Label(label));
                        f($Part::Def(index));
                        f($Part::Body(body));
                    }
                    Stmt::Loop(label, body) | Stmt::Block(label, body) => {
                        f($Part::Label(label));
                        f($Part::Body(body));
                    }
                    Stmt::Break(label) | Stmt::Continue(label) => f($Part::Target(label)),
                    Stmt::Fail => {}
                    Stmt::ParallelFor { index, count, body } => {
                        f($Part::Use(count));
                        f($Part::Def(index));
                        f($Part::Body(body));
                    }
                    Stmt::Reduce { index, low, high, body, item, result } => {
                        f($Part::Use(low));
                        f($Part::Use(high));
                        f($Part::Def(index));
                        f($Part::Body(body));
                        match item {
                            Summand::Value(_, reg) => f($Part::Item(reg)),
                            Summand::Product(a, b) => {
                                f($Part::Item(a));
                                f($Part::Item(b));
                            }
                        }
                        f($Part::Def(result));
                    }
                    Stmt::Sort(Sort { ty: _, indices: _, count, into, first, keys, at }) => {
                        f($Part::ArrayRead(keys));
                        f($Part::ArrayWrite(into));
                        for reg in [count, first, at] {
                            f($Part::Use(reg));
                        }
                    }
                    Stmt::Call(FunctionCall { function: _, args, read, changed, written, results }) => {
                        for reg in args {
                            f($Part::Use(reg));
                        }
                        for (array, at) in read {
                            f($Part::ArrayRead(array));
                            f($Part::Use(at));
                        }
                        for (array, at) in changed {
                            f($Part::ArrayChange(array));
                            f($Part::Use(at));
                        }
                        for (array, at) in written {
                            f($Part::ArrayWrite(array));
                            f($Part::Use(at));
                        }
                        for reg in results {
                            f($Part::Def(reg));
                        }
                    }
                    Stmt::Gemm(gemm) => {
                        let Gemm {
                            fused: _,
                            shared: _,
                            into,
                            at,
                            rows,
                            columns,
                            depth,
                            left,
                            left_at,
                            left_row,
                            left_step,
                            right,
                            right_at,
                            right_step,
                            right_column,
                            start,
                        } = gemm;
                        f($Part::ArrayWrite(into));
                        f($Part::ArrayRead(left));
                        f($Part::ArrayRead(right));
                        for reg in [
                            at,
                            rows,
                            columns,
                            depth,
                            left_at,
                            left_row,
                            left_step,
                            right_at,
                            right_step,
                            right_column,
                            start,
                        ] {
                            f($Part::Use(reg));
                        }
                    }
                }
            }
        }
    };
}

parts! {
    /// A part of a statement or of an operation.
    Part for_each_part
}
parts! {
    /// A part of a statement or of an operation, to be replaced.
    PartMut for_each_part_mut mut
}

impl Op {
    /// Calls `f` on each register that it reads.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(Reg)) {
        self.for_each_part(&mut |part| {
            if let Part::Use(reg) = part {
                f(*reg);
            }
        });
    }

    /// Calls `f` on each register that it reads, to be replaced.
    pub fn for_each_reg_mut(&mut self, f: &mut dyn FnMut(&mut Reg)) {
        self.for_each_part_mut(&mut |part| {
            if let PartMut::Use(reg) = part {
                f(reg);
            }
        });
    }
}

impl Stmt {
    /// The lists of statements inside.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        let mut bodies: Vec<&[Stmt]> = Vec::new();
        self.for_each_part(&mut |part| {
            if let Part::Body(body) = part {
                bodies.push(body);
            }
        });
        bodies
    }

    /// The lists of statements inside, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        let mut bodies = Vec::new();
        self.for_each_part_mut(&mut |part| {
            if let PartMut::Body(body) = part {
                bodies.push(body);
            }
        });
        bodies
    }

    /// Returns true if it leaves or continues a loop or block around it.
    pub fn leaves(&self) -> bool {
        let (mut own, mut targets) = (HashSet::default(), HashSet::default());
        for_each_stmt(std::slice::from_ref(self), &mut |inner| {
            inner.for_each_part(&mut |part| match part {
                Part::Label(label) => drop(own.insert(*label)),
                Part::Target(label) => drop(targets.insert(*label)),
                _ => {}
            });
        });
        !targets.is_subset(&own)
    }

    /// The arrays that it reads or writes, without those of statements inside.
    pub fn arrays(&self) -> Vec<Array> {
        let mut arrays = Vec::new();
        self.for_each_part(&mut |part| {
            if let Part::ArrayRead(array) | Part::ArrayWrite(array) | Part::ArrayChange(array) = part {
                arrays.push(*array);
            }
        });
        arrays
    }

    /// The arrays whose slots it writes or whose memory it exchanges, without those of statements
    /// inside.
    pub fn written_arrays(&self) -> Vec<Array> {
        let mut arrays = Vec::new();
        self.for_each_part(&mut |part| {
            if let Part::ArrayWrite(array) | Part::ArrayChange(array) = part {
                arrays.push(*array);
            }
        });
        arrays
    }

    /// Calls `f` on each register that it reads where it stands: neither those of statements inside
    /// nor those of a summand.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(Reg)) {
        self.for_each_part(&mut |part| {
            if let Part::Use(reg) = part {
                f(*reg);
            }
        });
    }

    /// Calls `f` on each register that it reads, those of a summand included, not on those of
    /// statements inside.
    pub fn for_each_read(&self, f: &mut dyn FnMut(Reg)) {
        self.for_each_part(&mut |part| {
            if let Part::Use(reg) | Part::Item(reg) = part {
                f(*reg);
            }
        });
    }
}

impl Stmt {
    /// The register that it defines, and the operation.
    pub fn as_definition(&self) -> Option<(Reg, &Op)> {
        if let Stmt::Let(reg, op) = self { Some((*reg, op)) } else { None }
    }

    /// The registers that it sets for what follows it in its list.
    pub fn results(&self) -> &[Reg] {
        match self {
            Stmt::Let(reg, _) | Stmt::Reduce { result: reg, .. } => std::slice::from_ref(reg),
            Stmt::Call(call) => &call.results,
            _ => &[],
        }
    }
}

/// Calls `f` on each statement, those inside others included, outer ones first.
pub fn for_each_stmt<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.for_each_part(&mut |part| {
            if let Part::Body(body) = part {
                for_each_stmt(body, f);
            }
        });
    }
}

/// The registers that statements set, those inside others included.
pub fn defined_registers(stmts: &[Stmt]) -> HashSet<Reg> {
    let mut defined = HashSet::default();
    for_each_stmt(stmts, &mut |stmt| {
        stmt.for_each_part(&mut |part| {
            if let Part::Def(reg) = part {
                defined.insert(*reg);
            }
        });
    });
    defined
}
