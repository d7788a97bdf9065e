//! Random valid programs of the array IR with sizes and arguments, for tests.
//!
//! The generator works from types: [`Generator::value`] gives a value of a type, from the scope or
//! by new statements. What it makes is valid by construction; tests hold that the validator agrees.
//! The same seed gives the same program.

mod arguments;
mod kept;

use super::interpret::Datum;
use super::scalar;
use super::{
    Binary, Block, Cast, Combine, CombineAt, Compare, Digit, DigitExpr, Effect, Element, End, Function,
    FunctionId, Grouping, Io, Label, Op, Prim, Program, Range, ScalarFunction, Site, SiteId, SiteKind, Size,
    SizeAtom, SizeVar, Space, Stmt, Type, Unary, Value, validate,
};
use crate::source::{SourceId, Span};
pub use arguments::has_type;
use arguments::{datum, word};
use fastrand::Rng;
use std::sync::{Arc, OnceLock};

/// A program with what its last function is run with.
pub struct Case {
    /// The program.
    pub program: Program,
    /// Its last function.
    pub function: FunctionId,
    /// A number for each size parameter.
    pub sizes: Vec<u64>,
    /// A value for each parameter.
    pub arguments: Vec<Datum>,
}

/// Statements of a function, about.
const STATEMENTS: u32 = 40;

struct Generator {
    random: Rng,
    program: Program,
    next: u32,
    /// Statements that may still be made.
    fuel: u32,
    /// Values in scope.
    scope: Vec<(Value, Type)>,
    sizes: Vec<SizeVar>,
    /// Labels around, with whether they are loops, and the types of their values.
    around: Vec<(Label, bool, Type)>,
    stmts: Vec<Stmt>,
    /// Blocks around.
    depth: u32,
}

const BINARY: [Binary; 15] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Min,
    Binary::Max,
    Binary::MinUnsigned,
    Binary::MaxUnsigned,
    Binary::DivSigned,
    Binary::DivUnsigned,
    Binary::RemSigned,
    Binary::RemUnsigned,
    Binary::And,
    Binary::Or,
    Binary::Xor,
];

const COMPARE: [Compare; 6] =
    [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::LtUnsigned, Compare::LeUnsigned];

const CAST: [Cast; 8] = [
    Cast::SignExtend,
    Cast::ZeroExtend,
    Cast::Truncate,
    Cast::SignedToFloat,
    Cast::UnsignedToFloat,
    Cast::FloatToSigned,
    Cast::FloatToFloat,
    Cast::FloatToBits,
];

/// A primitive with the types of its operands.
type Applied = (Prim, Vec<Element>);

/// The primitives with a result of a type.
fn prims(result: Element) -> &'static [Applied] {
    static TABLE: OnceLock<Vec<Vec<Applied>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| Element::ALL.into_iter().map(applied).collect());
    &table[Element::ALL.iter().position(|ty| *ty == result).expect("all are in the list")]
}

fn applied(result: Element) -> Vec<Applied> {
    let mut found = Vec::new();
    let mut consider = |prim: Prim, operands: &[Element]| {
        if scalar::result(prim, operands) == Some(result) {
            found.push((prim, operands.to_vec()));
        }
    };
    for ty in Element::ALL {
        BINARY.iter().for_each(|op| consider(Prim::Binary(*op), &[ty, ty]));
        COMPARE.iter().for_each(|op| consider(Prim::Compare(*op), &[ty, ty]));
        CAST.iter().for_each(|cast| consider(Prim::Cast(*cast, result), &[ty]));
        [Unary::Neg, Unary::Not].iter().for_each(|op| consider(Prim::Unary(*op), &[ty]));
        for function in ScalarFunction::ALL {
            (1..=3).for_each(|count| consider(Prim::Function(*function), &vec![ty; count]));
        }
    }
    found
}

impl Generator {
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())].clone()
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.u32(..one_in) == 0
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn element(&mut self) -> Element {
        self.pick(&Element::ALL)
    }

    fn size(&mut self) -> Size {
        let constant = Size::constant(self.random.u64(..4));
        if self.sizes.is_empty() {
            return constant;
        }
        let sizes = self.sizes.clone();
        let var = Size::var(self.pick(&sizes));
        match self.random.u8(..5) {
            0 => constant,
            1 => var.add(&constant).expect("small"),
            2 => var.mul(&Size::var(self.pick(&sizes))).expect("small"),
            _ => var,
        }
    }

    fn space(&mut self) -> Space {
        let digits = self.pick(&[0, 1, 1, 1, 2, 2]);
        let mut space = Space::default();
        for _ in 0..digits {
            let mut pieces = vec![self.size()];
            if self.chance(8) {
                pieces.push(self.size());
            }
            space.digits.push(Digit { pieces: pieces.into() });
        }
        space
    }

    fn ty(&mut self, depth: u32) -> Type {
        match self.random.u8(..if depth == 0 { 4 } else { 10 }) {
            0..=3 => Type::Element(self.element()),
            4 | 5 => {
                let space = self.space();
                // The indices of an array in some order.
                let element = if self.chance(8) { Type::Index(space.clone()) } else { self.ty(depth - 1) };
                Type::array(space, element)
            }
            6 => Type::Tuple((0..self.random.u8(..4)).map(|_| self.ty(depth - 1)).collect()),
            7 => Type::Sum((0..self.random.u8(1..4)).map(|_| self.ty(depth - 1)).collect()),
            8 => match self.indices() {
                found if found.is_empty() => Type::I64,
                found => Type::Index(self.pick(&found).1),
            },
            _ => Type::Element(self.element()),
        }
    }

    /// The indices in scope, with their spaces.
    fn indices(&self) -> Vec<(Value, Space)> {
        let index = |(value, ty): &(Value, Type)| match ty {
            Type::Index(space) => Some((*value, space.clone())),
            _ => None,
        };
        self.scope.iter().filter_map(index).collect()
    }

    fn arrays(&self) -> Vec<(Value, Space, Type)> {
        let array = |(value, ty): &(Value, Type)| match ty {
            Type::Array(space, element) => Some((*value, space.clone(), (**element).clone())),
            _ => None,
        };
        self.scope.iter().filter_map(array).collect()
    }

    fn define(&mut self, ty: Type, op: Op) -> Value {
        let value = Value(self.fresh());
        self.fuel = self.fuel.saturating_sub(1);
        self.stmts.push(Stmt { value, ty: ty.clone(), op });
        self.scope.push((value, ty));
        value
    }

    fn site(&mut self) -> SiteId {
        let kinds = [
            SiteKind::Assert,
            SiteKind::Division,
            SiteKind::Range,
            SiteKind::Convert,
            SiteKind::Power,
            SiteKind::Sizes,
        ];
        let kind = self.pick(&kinds);
        let span = |random: &mut Rng| {
            let start = random.u32(..100);
            Span { source: SourceId(random.u32(..3)), start, end: start + 5 }
        };
        let calls = (0..self.random.u8(..3)).map(|_| span(&mut self.random)).collect();
        let span = span(&mut self.random);
        self.program.sites.push(Site { kind, span, calls });
        SiteId(self.program.sites.len() as u32 - 1)
    }

    /// A block that gives a value of a type. It may leave loops around if it `leaves`.
    fn block(&mut self, params: Vec<Type>, ty: &Type, leaves: bool) -> Block {
        let params: Vec<(Value, Type)> = params.into_iter().map(|ty| (Value(self.fresh()), ty)).collect();
        let (scope, sizes) = (self.scope.len(), self.sizes.len());
        self.scope.extend(params.iter().cloned());
        let outer = std::mem::take(&mut self.stmts);
        let around = (!leaves).then(|| std::mem::take(&mut self.around));
        // The body of a function has more statements than other blocks.
        let count = if self.depth == 0 { 12 } else { self.random.u8(..3) };
        self.depth += 1;
        for _ in 0..count {
            self.statement();
        }
        let end = if !self.around.is_empty() && self.chance(4) {
            let around = self.around.clone();
            let (label, is_loop, ty) = self.pick(&around);
            let value = self.value(&ty);
            if is_loop && self.random.bool() { End::Next(label, value) } else { End::Exit(label, value) }
        } else {
            End::Yield(self.value(ty))
        };
        self.depth -= 1;
        if let Some(around) = around {
            self.around = around;
        }
        self.scope.truncate(scope);
        self.sizes.truncate(sizes);
        Block { params, stmts: std::mem::replace(&mut self.stmts, outer), end }
    }

    fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.value(ty)).collect()
    }

    /// A value of a type.
    fn value(&mut self, ty: &Type) -> Value {
        let fits: Vec<Value> = self.scope.iter().filter(|(_, known)| known == ty).map(|v| v.0).collect();
        if !fits.is_empty() && (self.fuel == 0 || !self.chance(4)) {
            return self.pick(&fits);
        }
        if self.fuel > 0 && self.chance(4) {
            return self.structured(ty);
        }
        match ty {
            Type::Element(element) => self.word(*element),
            Type::Index(space) => self.index(space),
            Type::Tuple(types) => {
                let values = self.values(types);
                self.define(ty.clone(), Op::Tuple(values))
            }
            Type::Array(space, element) => self.array(space, element),
            Type::Sum(types) => {
                let case = self.random.usize(..types.len());
                let piece = self.value(&types[case]);
                self.define(ty.clone(), Op::Case(ty.clone(), case as u32, piece))
            }
            Type::Exists(_, inner) => {
                let Type::Array(_, element) = &**inner else { unreachable!("only arrays have sizes here") };
                let size = self.size();
                let value = self.value(&Type::array(Space::new([size.clone()]), (**element).clone()));
                self.define(ty.clone(), Op::Pack(ty.clone(), vec![size], value))
            }
        }
    }

    /// A type that may hold arrays with their sizes, as states of loops do.
    fn state_type(&mut self) -> Type {
        let element = self.ty(0);
        let sized = Type::sized_array(element);
        match self.random.u8(..4) {
            0 => sized,
            1 => Type::Sum(vec![self.ty(1), sized]),
            2 => Type::Tuple(vec![sized, self.ty(1)]),
            _ => Type::Tuple(vec![sized.clone(), Type::I64, sized]),
        }
    }

    /// A value of a type, by an operation that is for all types.
    fn structured(&mut self, ty: &Type) -> Value {
        let op = match self.random.u8(..10) {
            0 => {
                let condition = self.value(&Type::B1);
                let (a, b) = (self.value(ty), self.value(ty));
                Op::Select(condition, a, b)
            }
            1 => {
                let condition = self.value(&Type::B1);
                Op::If(condition, self.block(Vec::new(), ty, true), self.block(Vec::new(), ty, true))
            }
            2 => {
                let lines = self.indices().into_iter().map(|(index, space)| (index, Type::Index(space)));
                let lines: Vec<_> =
                    lines.filter_map(|(index, ty)| ty.cases().map(|cases| (index, cases))).collect();
                let (value, cases) = if !lines.is_empty() && self.random.bool() {
                    self.pick(&lines)
                } else {
                    let cases: Vec<Type> = (0..self.random.u8(1..4)).map(|_| self.ty(1)).collect();
                    (self.value(&Type::Sum(cases.clone())), cases)
                };
                Op::Switch(value, cases.into_iter().map(|case| self.block(vec![case], ty, true)).collect())
            }
            3 => {
                let label = Label(self.fresh());
                self.around.push((label, false, ty.clone()));
                let body = self.block(Vec::new(), ty, true);
                self.around.pop();
                Op::Block(label, body)
            }
            4 => {
                let state = self.value(ty);
                let range = self.random.bool().then(|| {
                    let low = self.define(Type::I64, Op::Const(Element::I64, 0));
                    let high = self.random.u64(..4);
                    let high = self.define(Type::I64, Op::Const(Element::I64, high));
                    Range { low, high, inclusive: self.random.bool() }
                });
                let index = if range.is_some() { Type::I64 } else { Type::Index(self.space()) };
                let label = Label(self.fresh());
                self.around.push((label, true, ty.clone()));
                let body = self.block(vec![index, ty.clone()], ty, true);
                self.around.pop();
                Op::For { label, range, state, body }
            }
            5 => return self.counted_while(ty),
            6 => {
                match self.arrays().into_iter().filter(|(_, _, element)| element == ty).collect::<Vec<_>>() {
                    found if found.is_empty() => Op::Tuple(Vec::new()),
                    found => {
                        let (array, space, _) = self.pick(&found);
                        let at = self.index(&space);
                        Op::Index(array, at)
                    }
                }
            }
            7 => return self.call(ty),
            8 if !ty.has_sized_array() => self.element_of_choice(ty),
            _ => {
                // A part of a tuple that is made for it.
                let mut types = vec![self.ty(0), ty.clone()];
                self.random.shuffle(&mut types);
                let part = types.iter().position(|part| part == ty).expect("it is one of them");
                let tuple = self.value(&Type::Tuple(types));
                Op::Part(tuple, part as u32)
            }
        };
        match op {
            Op::Tuple(_) => self.value_without_structure(ty),
            op => self.define(ty.clone(), op),
        }
    }

    /// An element of one of two arrays, by a condition: nothing else reads what is chosen. An empty
    /// tuple if there is no index in scope.
    fn element_of_choice(&mut self, ty: &Type) -> Op {
        let indices = self.indices();
        if indices.is_empty() {
            return Op::Tuple(Vec::new());
        }
        let (at, space) = self.pick(&indices);
        let array = Type::array(space.clone(), ty.clone());
        let condition = self.value(&Type::B1);
        let fuel = std::mem::replace(&mut self.fuel, 0);
        let (first, second) = (self.array(&space, ty), self.array(&space, ty));
        self.fuel = fuel;
        let side = |value| Block { params: Vec::new(), stmts: Vec::new(), end: End::Yield(value) };
        let op = match self.random.bool() {
            true => Op::If(condition, side(first), side(second)),
            false => Op::Select(condition, first, second),
        };
        let chosen = self.define(array, op);
        self.scope.pop();
        Op::Index(chosen, at)
    }

    fn value_without_structure(&mut self, ty: &Type) -> Value {
        let fuel = std::mem::replace(&mut self.fuel, 0);
        let value = self.value(ty);
        self.fuel = fuel;
        value
    }

    /// A loop that counts up to a small number.
    fn counted_while(&mut self, ty: &Type) -> Value {
        let whole = Type::Tuple(vec![Type::I64, ty.clone()]);
        let zero = self.define(Type::I64, Op::Const(Element::I64, 0));
        let first = self.value(ty);
        let state = self.define(whole.clone(), Op::Tuple(vec![zero, first]));
        let outer = std::mem::take(&mut self.stmts);
        let (scope, sizes) = (self.scope.len(), self.sizes.len());
        let param = Value(self.fresh());
        let bound = self.random.u64(..4);
        let count = self.define(Type::I64, Op::Part(param, 0));
        let most = self.define(Type::I64, Op::Const(Element::I64, bound));
        let less = self.define(Type::B1, Op::Prim(Prim::Compare(Compare::Lt), vec![count, most]));
        let stmts = std::mem::take(&mut self.stmts);
        let condition = Block { params: vec![(param, whole.clone())], stmts, end: End::Yield(less) };
        self.scope.truncate(scope);
        let label = Label(self.fresh());
        let param = Value(self.fresh());
        self.scope.push((param, whole.clone()));
        let count = self.define(Type::I64, Op::Part(param, 0));
        let one = self.define(Type::I64, Op::Const(Element::I64, 1));
        let count = self.define(Type::I64, Op::Prim(Prim::Binary(Binary::Add), vec![count, one]));
        self.statement();
        let next = self.value(ty);
        let next = self.define(whole.clone(), Op::Tuple(vec![count, next]));
        let end = if self.chance(4) { End::Next(label, next) } else { End::Yield(next) };
        let stmts = std::mem::replace(&mut self.stmts, outer);
        let body = Block { params: vec![(param, whole.clone())], stmts, end };
        self.scope.truncate(scope);
        self.sizes.truncate(sizes);
        let last = self.define(whole, Op::While { label, state, condition, body });
        self.define(ty.clone(), Op::Part(last, 1))
    }

    /// A call of an earlier function whose result has the type at some sizes, or another value.
    fn call(&mut self, ty: &Type) -> Value {
        for id in self.program.function_ids() {
            let function = self.program.functions[id.index()].clone();
            let sizes: Vec<Size> = function.sizes.iter().map(|_| self.size()).collect();
            let at = |atom| match atom {
                SizeAtom::Var(var) => {
                    let position = function.sizes.iter().position(|(known, _)| *known == var);
                    position.map_or_else(|| Size::atom(atom), |position| sizes[position].clone())
                }
                SizeAtom::Bound(_) => Size::atom(atom),
            };
            let concrete = |ty: &Type| validate::substitute(ty, &at);
            let value = match &function.result {
                Type::Tuple(types) if function.changes > 0 => &types[0],
                result => result,
            };
            let Some(result) = concrete(&function.result).filter(|_| concrete(value).as_ref() == Some(ty))
            else {
                continue;
            };
            let params: Option<Vec<Type>> =
                function.body.params.iter().map(|(_, param)| concrete(param)).collect();
            if let Some(params) = params {
                let values = self.values(&params);
                let Function { effect, changes, .. } = function;
                let call = Op::Call { function: id, effect, changes, sizes, values };
                let called = self.define(result.clone(), call);
                let Type::Tuple(types) = result else { return called };
                if changes == 0 {
                    return called;
                }
                for (part, ty) in (1..).zip(&types[1..]) {
                    self.define(ty.clone(), Op::Part(called, part));
                }
                return self.define(ty.clone(), Op::Part(called, 0));
            }
        }
        self.value_without_structure(ty)
    }

    fn word(&mut self, element: Element) -> Value {
        let ty = Type::Element(element);
        if self.fuel > 0 && !self.chance(3) {
            match self.random.u8(..8) {
                0 if element == Element::I64 => {
                    let size = self.size();
                    return self.define(ty, Op::Size(size));
                }
                1 | 2 if element == Element::I64 => {
                    if let Some(digit) = self.digit() {
                        return self.define(ty, Op::Number(digit));
                    }
                }
                3 => return self.reduce(&ty),
                _ => {}
            }
            let (prim, operands) = self.pick(prims(element));
            let values = operands.into_iter().map(|ty| self.value(&Type::Element(ty))).collect();
            return self.define(ty, Op::Prim(prim, values));
        }
        let bits = word(&mut self.random, element);
        self.define(ty, Op::Const(element, bits))
    }

    fn reduce(&mut self, ty: &Type) -> Value {
        if *ty == Type::Element(Element::F64) && self.chance(3) {
            let (start, space) = (self.value(ty), self.space());
            let pair = Type::Tuple(vec![ty.clone(), ty.clone()]);
            let body = self.block(vec![Type::Index(space)], &pair, false);
            let (combine, grouping) = (Combine::Dot, Grouping::Fixed);
            return self.define(ty.clone(), Op::Reduce { combine, grouping, start, body });
        }
        let start = self.value(ty);
        let (combine, grouping) = self.combine(ty);
        let space = self.space();
        let body = self.block(vec![Type::Index(space)], ty, false);
        self.define(ty.clone(), Op::Reduce { combine, grouping, start, body })
    }

    fn combine(&mut self, ty: &Type) -> (Combine, Grouping) {
        let grouping = self.pick(&[Grouping::Fixed, Grouping::Left]);
        if let Some(element) = ty.element()
            && !self.chance(4)
        {
            let fits =
                |op: &&Binary| scalar::result(Prim::Binary(**op), &[element, element]) == Some(element);
            let ops: Vec<Binary> = BINARY.iter().filter(fits).copied().collect();
            let op = self.pick(&ops);
            let any = validate::is_reassociable(op, element) && self.random.bool();
            return (Combine::Prim(op), if any { Grouping::Any } else { grouping });
        }
        (Combine::Block(self.block(vec![ty.clone(), ty.clone()], ty, false)), grouping)
    }

    /// A digit of an index in scope.
    fn digit(&mut self) -> Option<DigitExpr> {
        let found: Vec<_> =
            self.indices().into_iter().filter(|(_, space)| !space.digits.is_empty()).collect();
        if found.is_empty() {
            return None;
        }
        let (value, space) = self.pick(&found);
        let at = self.random.usize(..space.digits.len());
        let size = space.digits[at].size().expect("small");
        let of = DigitExpr::Of(value, at as u32);
        let word = self.scope.iter().rev().find(|(_, ty)| *ty == Type::I64).map(|(value, _)| *value);
        Some(match (self.random.u8(..9), word) {
            (8, Some(word)) => DigitExpr::Remainder(word, self.random.u64(1..5)),
            (6, _) => DigitExpr::Sum(vec![of.clone(), DigitExpr::Constant(self.size()), of]),
            (7, _) => {
                let (plus, minus) = match self.random.u8(..3) {
                    0 => (vec![of.clone(), of.clone(), of], Vec::new()),
                    1 => (vec![of.clone()], vec![of.clone(), of]),
                    _ => (Vec::new(), vec![of]),
                };
                DigitExpr::Modular { size, plus, minus }
            }
            (0, _) => DigitExpr::Reverse { size, of: Box::new(of) },
            (1, _) => {
                DigitExpr::Affine { offset: self.size(), stride: self.random.u64(1..3), of: Box::new(of) }
            }
            (2, _) => {
                let first = (DigitExpr::Constant(Size::constant(1)), Size::constant(2));
                DigitExpr::Join(vec![first, (of, size)])
            }
            (3, _) => DigitExpr::Split {
                of: Box::new(of),
                sizes: vec![Size::constant(2), size],
                digit: self.random.u32(..2),
            },
            _ => of,
        })
    }

    /// An index of a space: from digits in scope where they fit, otherwise from numbers.
    fn index(&mut self, space: &Space) -> Value {
        let ty = Type::Index(space.clone());
        let fits: Vec<Value> = self.scope.iter().filter(|(_, known)| *known == ty).map(|v| v.0).collect();
        if !fits.is_empty() {
            return self.pick(&fits);
        }
        let mut digits = Vec::new();
        for digit in &space.digits {
            let size = digit.size().expect("small");
            let mut found = Vec::new();
            for (value, space) in self.indices() {
                for (at, digit) in space.digits.iter().enumerate() {
                    if digit.size().is_some_and(|other| other.is_at_most(&size)) {
                        found.push(DigitExpr::Of(value, at as u32));
                    }
                }
            }
            if Size::constant(1).is_at_most(&size) {
                found.push(DigitExpr::Constant(Size::constant(0)));
            }
            if !found.is_empty() {
                digits.push(self.pick(&found));
            }
        }
        if digits.len() == space.digits.len() && !self.chance(5) {
            return self.define(ty, Op::At(space.clone(), digits));
        }
        let values = space.digits.iter().map(|_| self.value_without_structure(&Type::I64)).collect();
        let site = self.site();
        self.define(ty, Op::Locate(space.clone(), values, site))
    }

    fn array(&mut self, space: &Space, element: &Type) -> Value {
        let ty = Type::array(space.clone(), element.clone());
        let count = match &space.digits[..] {
            [digit] if digit.pieces.len() == 1 => digit.pieces[0].to_constant(),
            _ => None,
        };
        if let Some(count) = count
            && self.random.bool()
        {
            let values = (0..count).map(|_| self.value(element)).collect();
            return self.define(ty, Op::Array(element.clone(), values));
        }
        if self.fuel > 0 {
            match self.random.u8(..8) {
                0 => {
                    let array = self.array(space, element);
                    // An element, or an element of an element.
                    let (mut levels, mut inside) = (space.clone(), element);
                    while let Type::Array(space, element) = inside
                        && !space.digits.is_empty()
                        && self.random.bool()
                    {
                        levels.digits.extend(space.digits.iter().cloned());
                        inside = element;
                    }
                    let at = self.index(&levels);
                    let value = self.value(inside);
                    return self.define(ty, Op::Update(array, at, value));
                }
                1 => {
                    let (combine, grouping) = self.combine(element);
                    let grouping = if grouping == Grouping::Any { Grouping::Fixed } else { grouping };
                    let body = self.block(vec![Type::Index(space.clone())], element, false);
                    return self.define(ty, Op::Scan { combine, grouping, body });
                }
                2 => {
                    let start = self.array(space, element);
                    let (combine, grouping) = match self.chance(3) {
                        true => (CombineAt::Last, Grouping::Left),
                        false => match self.combine(element) {
                            (combine, Grouping::Fixed) => (CombineAt::Combine(combine), Grouping::Left),
                            (combine, grouping) => (CombineAt::Combine(combine), grouping),
                        },
                    };
                    let item = Type::Tuple(vec![Type::Index(space.clone()), element.clone()]);
                    let over = self.space();
                    let body = self.block(vec![Type::Index(over)], &item, false);
                    return self.define(ty, Op::ReduceAt { combine, grouping, start, body });
                }
                3 => {
                    if let [digit, rest @ ..] = &space.digits[..]
                        && let [first, second] = &digit.pieces[..]
                    {
                        let mut half = |piece: &Size| {
                            let digits = [Digit::new(piece.clone())].into_iter().chain(rest.iter().cloned());
                            self.array(&Space { digits: digits.collect() }, element)
                        };
                        let (a, b) = (half(first), half(second));
                        return self.define(ty, Op::Concat(a, b));
                    }
                }
                4 | 5 => return self.view(space, element),
                7 if matches!(element, Type::Element(_) | Type::Index(_)) => {
                    let array = self.array(space, element);
                    return self.define(ty, Op::Sort(array));
                }
                6 if *element == Type::Index(space.clone()) => {
                    let key = match self.random.bool() {
                        true => Type::Element(self.element()),
                        false => Type::Tuple(vec![Type::Element(self.element()), Type::I64]),
                    };
                    let body = self.block(vec![Type::Index(space.clone())], &key, false);
                    return self.define(ty, Op::Order(body));
                }
                _ => {}
            }
        }
        let body = self.block(vec![Type::Index(space.clone())], element, false);
        self.define(ty, Op::Map(body))
    }

    /// An array over a space as a view of another.
    fn view(&mut self, space: &Space, element: &Type) -> Value {
        let sizes: Vec<Size> = space.digits.iter().map(|digit| digit.size().expect("small")).collect();
        let (mut source, mut exprs) = (Vec::new(), Vec::new());
        match self.random.u8(..3) {
            // All digits joined to one.
            0 => {
                let product = sizes.iter().try_fold(Size::constant(1), |product, size| product.mul(size));
                source.push(product.expect("small"));
                let digits = (0..).map(DigitExpr::Target).zip(sizes.iter().cloned()).collect();
                exprs.push(DigitExpr::Join(digits));
            }
            // The first digit split in two.
            1 if !sizes.is_empty() => {
                let parts = [Size::constant(2), sizes[0].clone()];
                for (at, size) in parts.iter().enumerate() {
                    source.push(size.clone());
                    let of = Box::new(DigitExpr::Target(0));
                    exprs.push(DigitExpr::Split { of, sizes: parts.to_vec(), digit: at as u32 });
                }
            }
            // Digits exchanged, reversed, cut out and left out.
            _ => {
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                self.random.shuffle(&mut order);
                for at in order {
                    let (size, of) = (sizes[at].clone(), DigitExpr::Target(at as u32));
                    match self.random.u8(..7) {
                        3 => {
                            source.push(size.clone());
                            let minus = if self.random.bool() { vec![of.clone()] } else { Vec::new() };
                            exprs.push(DigitExpr::Modular { size, plus: vec![of.clone(), of], minus });
                        }
                        0 => {
                            source.push(size.clone());
                            exprs.push(DigitExpr::Reverse { size, of: Box::new(of) });
                        }
                        1 => {
                            let (offset, stride) = (self.size(), self.random.u64(1..3));
                            let end = Size::constant(stride).mul(&size).and_then(|end| end.add(&offset));
                            source.push(end.expect("small"));
                            exprs.push(DigitExpr::Affine { offset, stride, of: Box::new(of) });
                        }
                        2 => {}
                        _ => {
                            source.push(size);
                            exprs.push(of);
                        }
                    }
                }
            }
        }
        let array = self.value(&Type::array(Space::new(source), element.clone()));
        self.define(Type::array(space.clone(), element.clone()), Op::View(space.clone(), array, exprs))
    }

    /// A statement of any kind.
    fn statement(&mut self) {
        if self.fuel == 0 {
            return;
        }
        match self.random.u8(..12) {
            0 => {
                let condition = match self.random.bool() {
                    // Mostly true.
                    true => {
                        let x = self.value(&Type::I64);
                        let bits = self.random.u64(4..9);
                        let bound = self.define(Type::I64, Op::Const(Element::I64, bits));
                        self.define(Type::B1, Op::Prim(Prim::Compare(Compare::Lt), vec![x, bound]))
                    }
                    false => self.value(&Type::B1),
                };
                let site = self.site();
                let shown: Vec<Value> = self.scope.iter().rev().take(2).map(|value| value.0).collect();
                self.define(Type::unit(), Op::Check(condition, site, shown));
            }
            1 => {
                let element = self.ty(0);
                let space = self.space();
                let item = Type::Tuple(vec![Type::B1, element.clone()]);
                let body = self.block(vec![Type::Index(space)], &item, false);
                let packed = self.define(Type::sized_array(element), Op::Filter(body));
                self.open(packed);
            }
            2 if self.chance(3) => {
                let count = self.random.u64(..5);
                let count = self.define(Type::I64, Op::Const(Element::I64, count));
                let packed = self.define(Type::sized_array(Type::I64), Op::Iota(count));
                self.open(packed);
            }
            2 => {
                let ty = Type::sized_array(self.ty(0));
                let packed = self.value(&ty);
                self.open(packed);
            }
            7 => {
                let ty = self.state_type();
                let state = if self.fuel > 0 { self.structured(&ty) } else { self.value(&ty) };
                let packed = match &ty {
                    Type::Tuple(types) => Some(self.define(types[0].clone(), Op::Part(state, 0))),
                    Type::Exists(..) => Some(state),
                    _ => None,
                };
                if let Some(packed) = packed.filter(|_| self.random.bool()) {
                    self.open(packed);
                }
            }
            3 => {
                let arrays: Vec<_> =
                    self.arrays().into_iter().filter(|(_, s, _)| !s.digits.is_empty()).collect();
                if let Some((array, mut space, element)) = arrays.last().cloned() {
                    for digit in &mut space.digits {
                        let mut pieces = digit.pieces.to_vec();
                        for piece in &mut pieces {
                            if self.chance(3) {
                                *piece = self.size();
                            }
                        }
                        digit.pieces = pieces.into();
                    }
                    let (ty, site) = (Type::array(space, element), self.site());
                    self.define(ty.clone(), Op::Require(ty, array, site));
                }
            }
            6 => {
                let value = self.value_without_structure(&Type::I64);
                let size = self.size();
                self.define(Type::Index(Space::optional(size.clone())), Op::TryLocate(size, value));
            }
            4 => {
                let mut sums = self.scope.iter().filter(|(_, ty)| matches!(ty, Type::Sum(_)));
                if let Some((value, _)) = sums.next_back().cloned() {
                    self.define(Type::I64, Op::Tag(value));
                }
            }
            5 if self.chance(6) => {
                let values: Vec<Value> = self.scope.iter().rev().take(1).map(|value| value.0).collect();
                self.define(Type::unit(), Op::Io(Io::Emit, values));
            }
            _ => {
                let ty = self.ty(2);
                self.value(&ty);
            }
        }
    }

    fn open(&mut self, packed: Value) {
        let Some((_, Type::Exists(1, inner))) =
            self.scope.iter().find(|(value, _)| *value == packed).cloned()
        else {
            unreachable!("it has its size")
        };
        let var = SizeVar(self.fresh());
        let ty = validate::substitute(&inner, &|atom| match atom {
            SizeAtom::Bound(_) => Size::var(var),
            atom => Size::atom(atom),
        });
        self.sizes.push(var);
        let ty = ty.expect("small");
        let array = self.define(ty.clone(), Op::Open(vec![var], packed));
        if let (Type::Array(space, element), true) = (&ty, self.random.bool()) {
            let Generator { random, next, .. } = self;
            for Stmt { value, ty, op } in (kept::Uses { random, next }).of(array, space, element) {
                self.scope.push((value, ty.clone()));
                self.stmts.push(Stmt { value, ty, op });
            }
        }
    }

    fn function(&mut self) {
        (self.fuel, self.next) = (STATEMENTS, 0);
        self.sizes = (0..self.random.u8(..3)).map(|_| SizeVar(self.fresh())).collect();
        let sizes = self.sizes.iter().map(|var| (*var, Arc::from(format!("N{}", var.0)))).collect();
        let params: Vec<Type> = (0..self.random.u8(..4)).map(|_| self.ty(2)).collect();
        let mut result = self.ty(2);
        let changes = if self.chance(2) { 0 } else { self.random.usize(..=params.len()) };
        if changes > 0 {
            result = Type::Tuple([result].into_iter().chain(params[..changes].iter().cloned()).collect());
        }
        self.scope.clear();
        let body = self.block(params, &result, false);
        self.sizes.clear();
        let id = self.program.functions.len();
        let name = Arc::from(format!("g{id}"));
        let effect = Effect::Ordered;
        self.program.functions.push(Function { name, sizes, result, effect, changes, body });
        // The least effect that the validator accepts.
        let least = Effect::ALL.into_iter().find(|effect| {
            self.program.functions[id].effect = *effect;
            !matches!(
                validate::validate(&self.program),
                Err(super::Invalid { violation: super::Violation::Effect { .. }, .. })
            )
        });
        self.program.functions[id].effect = least.unwrap_or(Effect::Ordered);
    }
}

/// A random program, with sizes and arguments for its last function.
pub fn case(seed: u64) -> Case {
    let mut generator = Generator {
        random: Rng::with_seed(seed),
        program: Program::default(),
        next: 0,
        fuel: 0,
        scope: Vec::new(),
        sizes: Vec::new(),
        around: Vec::new(),
        stmts: Vec::new(),
        depth: 0,
    };
    for _ in 0..generator.random.u8(1..3) {
        generator.function();
    }
    let Generator { mut random, program, .. } = generator;
    let function = FunctionId(program.functions.len() as u32 - 1);
    let last = &program.functions[function.index()];
    loop {
        let sizes: Vec<u64> = last.sizes.iter().map(|_| random.u64(..4)).collect();
        let value = |size: &Size| {
            let of = |atom| match atom {
                SizeAtom::Var(var) => {
                    last.sizes.iter().position(|(known, _)| *known == var).map(|at| sizes[at])
                }
                SizeAtom::Bound(_) => None,
            };
            size.evaluate(&of).expect("small sizes of parameters")
        };
        let params = last.body.params.iter().map(|(_, ty)| datum(&mut random, ty, &value));
        if let Some(arguments) = params.collect::<Option<Vec<_>>>() {
            return Case { function, sizes, arguments, program };
        }
    }
}
