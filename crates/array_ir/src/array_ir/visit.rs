//! The parts of operations, listed once.
//!
//! [`Op::for_each_part`] calls a function on each value, label, size, type and block that an
//! operation itself holds, in the order of its text; [`Op::for_each_part_mut`] passes them to be
//! replaced. All other walks are made of these, so a new operation lists its parts in this file and
//! nowhere else.

use super::{
    Binary, Block, Combine, CombineAt, DigitExpr, Effect, End, FunctionId, Label, Op, Prim, SiteId, Size,
    SizeVar, Space, Stmt, Type, Value,
};

macro_rules! parts {
    ($(#[$doc:meta])* $Part:ident $each:ident $($mutable:ident)?) => {
        $(#[$doc])*
        pub enum $Part<'a> {
            /// A value that is read.
            Use(&'a $($mutable)? Value),
            /// The label that a loop or a block declares.
            Label(&'a $($mutable)? Label),
            /// A size that is mentioned, outside of types and spaces.
            Size(&'a $($mutable)? Size),
            /// A size variable that is defined.
            SizeDef(&'a $($mutable)? SizeVar),
            /// A space that is mentioned.
            Space(&'a $($mutable)? Space),
            /// A type that is mentioned.
            Type(&'a $($mutable)? Type),
            /// A site.
            Site(&'a $($mutable)? SiteId),
            /// A function that is called.
            Function(&'a $($mutable)? FunctionId),
            /// A block.
            Block(&'a $($mutable)? Block),
        }

        impl DigitExpr {
            /// Calls `f` on each value and size of the expression.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                match self {
                    DigitExpr::Target(_) => {}
                    DigitExpr::Of(value, _) | DigitExpr::Remainder(value, _) => f($Part::Use(value)),
                    DigitExpr::Constant(size) => f($Part::Size(size)),
                    DigitExpr::Affine { offset: size, of, .. } | DigitExpr::Reverse { size, of } => {
                        f($Part::Size(size));
                        of.$each(f);
                    }
                    DigitExpr::Sum(digits) => {
                        for digit in digits {
                            digit.$each(f);
                        }
                    }
                    DigitExpr::Modular { size, plus, minus } => {
                        f($Part::Size(size));
                        for digit in plus {
                            digit.$each(f);
                        }
                        for digit in minus {
                            digit.$each(f);
                        }
                    }
                    DigitExpr::Join(digits) => {
                        for (digit, size) in digits {
                            digit.$each(f);
                            f($Part::Size(size));
                        }
                    }
                    DigitExpr::Split { of, sizes, .. } => {
                        of.$each(f);
                        for size in sizes {
                            f($Part::Size(size));
                        }
                    }
                }
            }
        }

        impl Op {
            /// Calls `f` on each part of the operation, not on those of blocks inside.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                match self {
                    Op::Const(..) => {}
                    Op::Size(size) => f($Part::Size(size)),
                    Op::Prim(_, values) | Op::Tuple(values) | Op::Io(_, values) => {
                        for value in values {
                            f($Part::Use(value));
                        }
                    }
                    Op::Select(a, b, c) | Op::Update(a, b, c) => {
                        f($Part::Use(a));
                        f($Part::Use(b));
                        f($Part::Use(c));
                    }
                    Op::Part(value, _) | Op::Tag(value) | Op::Iota(value) | Op::Sort(value) => {
                        f($Part::Use(value));
                    }
                    Op::Array(ty, values) => {
                        f($Part::Type(ty));
                        for value in values {
                            f($Part::Use(value));
                        }
                    }
                    Op::Index(a, b) | Op::Concat(a, b) => {
                        f($Part::Use(a));
                        f($Part::Use(b));
                    }
                    Op::At(space, digits) => {
                        f($Part::Space(space));
                        for digit in digits {
                            digit.$each(f);
                        }
                    }
                    Op::TryLocate(size, value) => {
                        f($Part::Size(size));
                        f($Part::Use(value));
                    }
                    Op::Locate(space, values, site) => {
                        f($Part::Space(space));
                        for value in values {
                            f($Part::Use(value));
                        }
                        f($Part::Site(site));
                    }
                    Op::Number(digit) => digit.$each(f),
                    Op::Check(condition, site, shown) => {
                        f($Part::Use(condition));
                        f($Part::Site(site));
                        for value in shown {
                            f($Part::Use(value));
                        }
                    }
                    Op::Map(body) | Op::Filter(body) | Op::Order(body) => f($Part::Block(body)),
                    Op::Reduce { combine, start, body, .. } => {
                        if let Combine::Block(block) = combine {
                            f($Part::Block(block));
                        }
                        f($Part::Use(start));
                        f($Part::Block(body));
                    }
                    Op::Scan { combine, body, .. } => {
                        if let Combine::Block(block) = combine {
                            f($Part::Block(block));
                        }
                        f($Part::Block(body));
                    }
                    Op::ReduceAt { combine, start, body, .. } => {
                        if let CombineAt::Combine(Combine::Block(block)) = combine {
                            f($Part::Block(block));
                        }
                        f($Part::Use(start));
                        f($Part::Block(body));
                    }
                    Op::View(space, array, digits) => {
                        f($Part::Space(space));
                        f($Part::Use(array));
                        for digit in digits {
                            digit.$each(f);
                        }
                    }
                    Op::For { label, range, state, body } => {
                        f($Part::Label(label));
                        f($Part::Use(state));
                        if let Some(super::Range { low, high, .. }) = range {
                            f($Part::Use(low));
                            f($Part::Use(high));
                        }
                        f($Part::Block(body));
                    }
                    Op::While { label, state, condition, body } => {
                        f($Part::Label(label));
                        f($Part::Use(state));
                        f($Part::Block(condition));
                        f($Part::Block(body));
                    }
                    Op::Block(label, body) => {
                        f($Part::Label(label));
                        f($Part::Block(body));
                    }
                    Op::If(condition, then, otherwise) => {
                        f($Part::Use(condition));
                        f($Part::Block(then));
                        f($Part::Block(otherwise));
                    }
                    Op::Switch(value, cases) => {
                        f($Part::Use(value));
                        for case in cases {
                            f($Part::Block(case));
                        }
                    }
                    Op::Case(ty, _, value) => {
                        f($Part::Type(ty));
                        f($Part::Use(value));
                    }
                    Op::Pack(ty, sizes, value) => {
                        f($Part::Type(ty));
                        for size in sizes {
                            f($Part::Size(size));
                        }
                        f($Part::Use(value));
                    }
                    Op::Open(vars, value) => {
                        for var in vars {
                            f($Part::SizeDef(var));
                        }
                        f($Part::Use(value));
                    }
                    Op::Require(ty, value, site) => {
                        f($Part::Type(ty));
                        f($Part::Use(value));
                        f($Part::Site(site));
                    }
                    Op::Call { function, effect: _, changes: _, sizes, values } => {
                        f($Part::Function(function));
                        for size in sizes {
                            f($Part::Size(size));
                        }
                        for value in values {
                            f($Part::Use(value));
                        }
                    }
                }
            }
        }
    };
}

parts! {
    /// A part of an operation.
    Part for_each_part
}

parts! {
    /// A part of an operation, to be replaced.
    PartMut for_each_part_mut mut
}

impl Op {
    /// The blocks inside.
    pub fn blocks(&self) -> Vec<&Block> {
        let mut blocks = Vec::new();
        self.for_each_part(&mut |part| {
            if let Part::Block(block) = part {
                blocks.push(block);
            }
        });
        blocks
    }

    /// The effect without that of the blocks inside.
    pub fn own_effect(&self) -> Effect {
        match self {
            Op::Check(..) | Op::Locate(..) | Op::Require(..) => Effect::MayFail,
            Op::While { .. } => Effect::MayNotEnd,
            Op::Io(..) => Effect::Ordered,
            Op::Call { effect, .. } => *effect,
            _ => Effect::Total,
        }
    }

    /// The effect with that of the blocks inside.
    pub fn effect(&self) -> Effect {
        self.blocks().iter().fold(self.own_effect(), |all, block| all.max(block.effect()))
    }

    /// Calls `f` on each value that the operation itself reads.
    pub fn for_each_use(&self, f: &mut dyn FnMut(Value)) {
        self.for_each_part(&mut |part| {
            if let Part::Use(value) = part {
                f(*value);
            }
        });
    }
}

impl End {
    /// The value, to be replaced.
    pub fn value_mut(&mut self) -> &mut Value {
        match self {
            End::Yield(value) | End::Next(_, value) | End::Exit(_, value) => value,
        }
    }
}

impl Block {
    /// The primitive of the block's two parameters that it gives, if it does nothing else that
    /// counts. Blocks of inlined functions stand around it.
    pub fn only_operation(&self) -> Option<Binary> {
        let params: Vec<Value> = self.params.iter().map(|param| param.0).collect();
        let (mut inner, mut end) = (self, self.end);
        loop {
            let (End::Yield(value) | End::Exit(_, value)) = end else { return None };
            let at = inner.stmts.iter().position(|stmt| stmt.value == value)?;
            let is_dead = |stmt: &Stmt| stmt.op.blocks().is_empty() && stmt.op.own_effect() == Effect::Total;
            let mut others = inner.stmts.iter().enumerate().filter(|(other, _)| *other != at);
            if !others.all(|(_, stmt)| is_dead(stmt)) {
                return None;
            }
            match &inner.stmts[at].op {
                Op::Block(_, body) => (inner, end) = (body, body.end),
                Op::Prim(Prim::Binary(op), values) if *values == params => return Some(*op),
                _ => return None,
            }
        }
    }

    /// Calls `f` on each statement, those of blocks inside after the one that holds them.
    pub fn for_each_stmt<'a>(&'a self, f: &mut dyn FnMut(&'a Stmt)) {
        for stmt in &self.stmts {
            f(stmt);
            for block in stmt.op.blocks() {
                block.for_each_stmt(f);
            }
        }
    }

    /// Calls `f` on the block and each one inside.
    pub fn for_each_block<'a>(&'a self, f: &mut dyn FnMut(&'a Block)) {
        f(self);
        for stmt in &self.stmts {
            for block in stmt.op.blocks() {
                block.for_each_block(f);
            }
        }
    }

    /// The effect of the statements.
    pub fn effect(&self) -> Effect {
        self.stmts.iter().fold(Effect::Total, |all, stmt| all.max(stmt.op.effect()))
    }

    /// The number of statements, with those of blocks inside, and of blocks.
    pub fn len(&self) -> u64 {
        let mut count = 0;
        self.for_each_block(&mut |block| count += 1 + block.stmts.len() as u64);
        count
    }

    /// Returns true without statements.
    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty()
    }
}
