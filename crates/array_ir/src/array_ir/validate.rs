//! Validator of the array IR: recomputes scopes, types, ranges of indices and effects.
//!
//! One walk over each function. The rules are those at the head of [`super`]; each check here is
//! local to a statement, given the types of the values in scope. The head says why a program that
//! passes gives a value of its type, fails at a site or does not end.
//!
//! **Ranges.** [`super::digit::bound`] gives for each [`DigitExpr`] a size that the digit is always
//! below. It may assume that there is an index at all: an expression is evaluated for a digit of an
//! index that exists, so sizes of its digits are not 0. `a` is at most `b` if `b - a` has natural
//! coefficients ([`Size::is_at_most`]). That is sufficient, not necessary: `n` is not known to be
//! at most `n*n`.

use super::digit::{bound, expect_at_most, try_each_word};
use super::error::{Form, Invalid, Violation};
use super::print::prim as prim_name;
use super::visit::Part;
use super::{
    Binary, Block, Combine, CombineAt, DigitExpr, Effect, Element, End, Function, FunctionId, Grouping,
    Label, MAX_BOUND, Mnemonic, Op, Prim, Program, Range, Size, SizeAtom, SizeVar, Space, Stmt, Type, Value,
    scalar,
};
use crate::hash::{HashMap, HashSet};
use std::sync::Arc;

type Result<T> = std::result::Result<T, Violation>;

/// Checks a program.
///
/// # Errors
/// The first violation.
pub fn validate(program: &Program) -> std::result::Result<(), Invalid> {
    for (id, function) in program.function_ids().zip(&program.functions) {
        let mut check = Validator {
            program,
            id,
            values: HashMap::default(),
            defined: HashSet::default(),
            sizes: HashSet::default(),
            sizes_defined: HashSet::default(),
            around: Vec::new(),
            at: None,
        };
        if let Err(violation) = check.check_function(function) {
            return Err(Invalid { function: id, value: check.at, violation });
        }
    }
    Ok(())
}

/// A loop or block around.
struct Around {
    label: Label,
    is_loop: bool,
    ty: Type,
}

struct Validator<'a> {
    program: &'a Program,
    id: FunctionId,
    /// Types of the values in scope.
    values: HashMap<Value, Type>,
    /// Values defined anywhere so far.
    defined: HashSet<Value>,
    /// Size variables in scope.
    sizes: HashSet<SizeVar>,
    /// Size variables defined anywhere so far.
    sizes_defined: HashSet<SizeVar>,
    around: Vec<Around>,
    /// The value of the statement that is checked.
    at: Option<Value>,
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns true if an operation of a reduction gives the same bits in any order.
pub fn is_reassociable(op: Binary, ty: Element) -> bool {
    match op {
        Binary::Add | Binary::Mul => ty.is_integer(),
        Binary::Min | Binary::Max => ty != Element::B1,
        Binary::MinUnsigned | Binary::MaxUnsigned => ty.is_integer(),
        Binary::And | Binary::Or | Binary::Xor => !ty.is_float(),
        _ => false,
    }
}

impl Validator<'_> {
    fn check_function(&mut self, function: &Function) -> Result<()> {
        let names = [&function.name].into_iter().chain(function.sizes.iter().map(|(_, name)| name));
        if let Some(name) = names.into_iter().find(|name| !is_name(name)) {
            return Err(Violation::Name { name: name.to_string() });
        }
        for (var, _) in &function.sizes {
            self.define_size(*var)?;
        }
        self.well_formed(&function.result)?;
        self.check_changes(function)?;
        let expected = function.result.clone();
        let effect = self.check_block(&function.body, &expected, true)?;
        self.at = None;
        if effect > function.effect {
            return Err(Violation::Effect { found: effect, stated: function.effect });
        }
        Ok(())
    }

    fn ty(&self, value: Value) -> Result<&Type> {
        self.values.get(&value).ok_or(Violation::NotDefined { value })
    }

    fn expect(&self, value: Value, expected: &Type) -> Result<()> {
        let found = self.ty(value)?;
        if found == expected {
            return Ok(());
        }
        Err(Violation::OtherType { value, found: found.clone(), expected: expected.clone() })
    }

    fn other_form<T>(&self, value: Value, form: Form) -> Result<T> {
        Err(Violation::OtherForm { value, found: self.ty(value)?.clone(), form })
    }

    fn array(&self, value: Value) -> Result<(&Space, &Type)> {
        match self.ty(value)? {
            Type::Array(space, element) => Ok((space, element)),
            _ => self.other_form(value, Form::Array),
        }
    }

    fn index(&self, value: Value) -> Result<&Space> {
        match self.ty(value)? {
            Type::Index(space) => Ok(space),
            _ => self.other_form(value, Form::Index),
        }
    }

    fn define(&mut self, value: Value, ty: Type) -> Result<()> {
        if !self.defined.insert(value) {
            return Err(Violation::DefinedTwice { value });
        }
        self.values.insert(value, ty);
        Ok(())
    }

    fn define_size(&mut self, size: SizeVar) -> Result<()> {
        if !self.sizes_defined.insert(size) {
            return Err(Violation::SizeDefinedTwice { size });
        }
        self.sizes.insert(size);
        Ok(())
    }

    /// Checks that a size mentions variables in scope, and at most `bound` bound ones.
    fn check_size(&self, size: &Size, bound: u32) -> Result<()> {
        for atom in size.atoms() {
            match atom {
                SizeAtom::Var(size) if !self.sizes.contains(&size) => {
                    return Err(Violation::SizeNotDefined { size });
                }
                SizeAtom::Bound(position) if position >= bound => {
                    return Err(Violation::NotBound { bound: atom });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_space(&self, space: &Space, bound: u32) -> Result<()> {
        for digit in &space.digits {
            if digit.pieces.is_empty() {
                return Err(Violation::EmptyType { ty: space.to_string() });
            }
            digit.pieces.iter().try_for_each(|piece| self.check_size(piece, bound))?;
        }
        space.size().map(|_| ()).ok_or(Violation::LargeSize)
    }

    /// Checks that a type is one.
    fn well_formed(&self, ty: &Type) -> Result<()> {
        match ty {
            Type::Exists(count, inner) if (1..=MAX_BOUND).contains(count) => self.check_type(inner, *count),
            Type::Exists(..) => Err(Violation::EmptyType { ty: ty.to_string() }),
            Type::Tuple(types) | Type::Sum(types) if !types.is_empty() => {
                types.iter().try_for_each(|ty| self.well_formed(ty))
            }
            ty => self.check_type(ty, 0),
        }
    }

    fn check_type(&self, ty: &Type, bound: u32) -> Result<()> {
        match ty {
            Type::Element(_) => Ok(()),
            Type::Index(space) => self.check_space(space, bound),
            Type::Sum(types) if types.is_empty() => Err(Violation::EmptyType { ty: ty.to_string() }),
            Type::Tuple(types) | Type::Sum(types) => {
                types.iter().try_for_each(|ty| self.check_type(ty, bound))
            }
            Type::Array(space, element) => {
                self.check_space(space, bound)?;
                self.check_type(element, bound)
            }
            Type::Exists(..) => Err(Violation::PartOfType { ty: ty.clone() }),
        }
    }

    /// Checks a block whose value has a type. It may name the labels around it if it `leaves`.
    fn check_block(&mut self, block: &Block, expected: &Type, leaves: bool) -> Result<Effect> {
        let around = (!leaves).then(|| std::mem::take(&mut self.around));
        let (at, mut effect) = (self.at, Effect::Total);
        let mut own_sizes = Vec::new();
        for (value, ty) in &block.params {
            self.well_formed(ty)?;
            self.define(*value, ty.clone())?;
        }
        for stmt in &block.stmts {
            self.at = Some(stmt.value);
            if let Op::Open(vars, _) = &stmt.op {
                own_sizes.extend(vars);
            }
            effect = effect.max(self.check_stmt(stmt)?);
        }
        self.at = at;
        self.check_end(block.end, expected)?;
        for value in block.params.iter().map(|param| &param.0).chain(block.stmts.iter().map(|s| &s.value)) {
            self.values.remove(value);
        }
        for size in own_sizes {
            self.sizes.remove(size);
        }
        if let Some(around) = around {
            self.around = around;
        }
        Ok(effect)
    }

    fn check_end(&self, end: End, expected: &Type) -> Result<()> {
        match end {
            End::Yield(value) => self.expect(value, expected),
            End::Next(label, value) | End::Exit(label, value) => {
                let found = self.around.iter().rev().find(|around| around.label == label);
                let around = found.ok_or(Violation::NoLabel { label })?;
                if matches!(end, End::Next(..)) && !around.is_loop {
                    return Err(Violation::NextOfBlock { label });
                }
                self.expect(value, &around.ty)
            }
        }
    }

    fn check_stmt(&mut self, stmt: &Stmt) -> Result<Effect> {
        if let Op::Open(vars, value) = &stmt.op {
            // Its sizes are in the type that it states.
            let opened = self.open(vars, *value)?;
            vars.iter().try_for_each(|var| self.define_size(*var))?;
            self.well_formed(&stmt.ty)?;
            self.state(&stmt.ty, &opened)?;
            self.define(stmt.value, stmt.ty.clone())?;
            return Ok(Effect::Total);
        }
        self.well_formed(&stmt.ty)?;
        let mut wrong = None;
        stmt.op.for_each_part(&mut |part| {
            let result = match part {
                Part::Use(value) => self.ty(*value).map(|_| ()),
                Part::Size(size) => self.check_size(size, 0),
                Part::Space(space) => self.check_space(space, 0),
                Part::Type(ty) => self.well_formed(ty),
                Part::Site(site) if site.index() >= self.program.sites.len() => {
                    Err(Violation::NoSite { site: *site })
                }
                Part::Function(function) if function.index() >= self.program.functions.len() => {
                    Err(Violation::NoFunction { function: *function })
                }
                Part::Label(label) if self.around.iter().any(|around| around.label == *label) => {
                    Err(Violation::LabelAround { label: *label })
                }
                _ => Ok(()),
            };
            if let (Err(violation), None) = (result, &wrong) {
                wrong = Some(violation);
            }
        });
        if let Some(violation) = wrong {
            return Err(violation);
        }
        let effect = self.check_op(&stmt.op, &stmt.ty)?;
        self.define(stmt.value, stmt.ty.clone())?;
        Ok(effect)
    }

    /// Compares the type that a statement states with the one that follows.
    fn state(&self, stated: &Type, found: &Type) -> Result<()> {
        if stated == found {
            return Ok(());
        }
        Err(Violation::Stated { stated: stated.clone(), found: found.clone() })
    }

    /// Checks an operation whose value is stated to have a type.
    fn check_op(&mut self, op: &Op, stated: &Type) -> Result<Effect> {
        let found = match op {
            Op::Const(element, bits) => {
                if element.truncate(*bits) != *bits {
                    return Err(Violation::Bits { ty: Type::Element(*element) });
                }
                Type::Element(*element)
            }
            Op::Size(_) => Type::I64,
            Op::Prim(prim, values) => self.prim(*prim, values)?,
            Op::Select(condition, a, b) => {
                self.expect(*condition, &Type::B1)?;
                let ty = self.ty(*a)?.clone();
                self.expect(*b, &ty)?;
                ty
            }
            Op::Tuple(values) => {
                let types = values.iter().map(|value| self.ty(*value).cloned());
                let ty = Type::Tuple(types.collect::<Result<_>>()?);
                self.well_formed(&ty)?;
                ty
            }
            Op::Part(value, part) => match self.ty(*value)? {
                Type::Tuple(types) => {
                    let ty = types.get(*part as usize);
                    ty.cloned().ok_or(Violation::NoPart { value: *value, part: *part })?
                }
                _ => return self.other_form(*value, Form::Tuple),
            },
            Op::Array(element, values) => {
                values.iter().try_for_each(|value| self.expect(*value, element))?;
                Type::array(Space::new([Size::constant(values.len() as u64)]), element.clone())
            }
            Op::Index(array, at) => {
                let (space, element) = self.array(*array)?;
                self.expect(*at, &Type::Index(space.clone()))?;
                element.clone()
            }
            Op::At(space, digits) => {
                self.check_digits(space, digits, None)?;
                Type::Index(space.clone())
            }
            Op::Locate(space, values, _) => {
                if values.len() != space.digits.len() {
                    return Err(Violation::Digits { space: space.clone(), found: values.len() });
                }
                values.iter().try_for_each(|value| self.expect(*value, &Type::I64))?;
                self.state(stated, &Type::Index(space.clone()))?;
                return Ok(Effect::MayFail);
            }
            Op::TryLocate(size, value) => {
                self.expect(*value, &Type::I64)?;
                Type::Index(Space::optional(size.clone()))
            }
            Op::Number(digit) => {
                self.bound(digit, None)?;
                Type::I64
            }
            Op::Check(condition, ..) => {
                self.expect(*condition, &Type::B1)?;
                self.state(stated, &Type::unit())?;
                return Ok(Effect::MayFail);
            }
            Op::View(target, array, digits) => {
                let (space, element) = self.array(*array)?;
                let (space, element) = (space.clone(), element.clone());
                self.check_digits(&space, digits, Some(target))?;
                Type::array(target.clone(), element)
            }
            Op::Concat(a, b) => self.concat(*a, *b)?,
            Op::Sort(array) => {
                let (_, element) = self.array(*array)?;
                if !matches!(element, Type::Element(_) | Type::Index(_)) {
                    return self.other_form(*array, Form::Sortable);
                }
                self.ty(*array)?.clone()
            }
            Op::Update(array, at, value) => {
                let (space, _) = self.array(*array)?;
                let ty = self.ty(*array)?;
                let levels = match self.ty(*at)? {
                    Type::Index(at) => ty.levels_at(at),
                    _ => None,
                };
                match levels.as_deref() {
                    Some([.., (_, element)]) => self.expect(*value, element)?,
                    _ => self.expect(*at, &Type::Index(space.clone()))?,
                }
                ty.clone()
            }
            Op::Case(ty, case, value) => {
                let Type::Sum(cases) = ty else {
                    return Err(Violation::StatedForm { stated: ty.clone(), form: Form::Sum });
                };
                let piece = cases.get(*case as usize);
                self.expect(*value, piece.ok_or(Violation::NoCase { ty: ty.clone(), case: *case })?)?;
                ty.clone()
            }
            Op::Iota(count) => {
                self.expect(*count, &Type::I64)?;
                Type::sized_array(Type::I64)
            }
            Op::Tag(value) => match self.ty(*value)? {
                Type::Sum(_) => Type::I64,
                _ => return self.other_form(*value, Form::Sum),
            },
            Op::Pack(ty, sizes, value) => {
                let Type::Exists(count, inner) = ty else {
                    return Err(Violation::StatedForm { stated: ty.clone(), form: Form::Exists });
                };
                self.expect(*value, &instantiate(inner, *count, sizes)?)?;
                ty.clone()
            }
            Op::Require(ty, value, _) => {
                let found = self.ty(*value)?;
                if !same_structure(found, ty) {
                    return Err(Violation::OtherStructure { found: found.clone(), expected: ty.clone() });
                }
                self.state(stated, ty)?;
                return Ok(Effect::MayFail);
            }
            Op::Call { function, effect, changes, sizes, values } => {
                return self.call(*function, (*effect, *changes), sizes, values, stated);
            }
            Op::Io(..) => {
                self.state(stated, &Type::unit())?;
                return Ok(Effect::Ordered);
            }
            Op::Open(..) => unreachable!("`check_stmt` checks what opens a type"),
            op => return self.check_blocks(op, stated),
        };
        self.state(stated, &found)?;
        Ok(Effect::Total)
    }

    fn prim(&self, prim: Prim, values: &[Value]) -> Result<Type> {
        let types: Vec<Type> = values.iter().map(|value| self.ty(*value).cloned()).collect::<Result<_>>()?;
        let elements: Option<Vec<Element>> = types.iter().map(Type::element).collect();
        let result = elements.and_then(|elements| scalar::result(prim, &elements));
        let no = || Violation::NoOperands { prim: prim_name(prim), operands: types.clone() };
        result.map(Type::Element).ok_or_else(no)
    }

    fn concat(&self, a: Value, b: Value) -> Result<Type> {
        let (first, element) = self.array(a)?;
        let (second, other) = self.array(b)?;
        if element != other {
            let expected = Type::array(second.clone(), element.clone());
            return Err(Violation::OtherType { value: b, found: self.ty(b)?.clone(), expected });
        }
        let ([x, rest @ ..], [y, others @ ..]) = (&first.digits[..], &second.digits[..]) else {
            return self.other_form(if first.digits.is_empty() { a } else { b }, Form::Line);
        };
        if rest != others {
            return Err(Violation::Pieces { first: first.clone(), second: second.clone() });
        }
        let pieces = x.pieces.iter().chain(y.pieces.iter()).cloned().collect();
        let digits = [super::Digit { pieces }].into_iter().chain(rest.iter().cloned()).collect();
        Ok(Type::array(Space { digits }, element.clone()))
    }

    /// The type of an existential value at size variables.
    fn open(&self, vars: &[SizeVar], value: Value) -> Result<Type> {
        match self.ty(value)? {
            Type::Exists(count, inner) => {
                instantiate(inner, *count, &vars.iter().map(|var| Size::var(*var)).collect::<Vec<_>>())
            }
            _ => self.other_form(value, Form::Exists),
        }
    }

    /// Checks that the types of the variables that a function changes are the last of its result.
    fn check_changes(&self, function: &Function) -> Result<()> {
        let Function { changes, body, result, .. } = function;
        let changed = body.params.iter().take(*changes).map(|(_, ty)| ty);
        let is_valid = match result {
            _ if *changes == 0 => true,
            Type::Tuple(types) => types.len() == changes + 1 && types[1..].iter().eq(changed),
            _ => false,
        };
        if is_valid { Ok(()) } else { Err(Violation::Changes { changes: *changes }) }
    }

    fn call(
        &self,
        id: FunctionId,
        (effect, changes): (Effect, usize),
        sizes: &[Size],
        values: &[Value],
        stated: &Type,
    ) -> Result<Effect> {
        let function = &self.program.functions[id.index()];
        if sizes.len() != function.sizes.len() {
            return Err(Violation::Sizes { found: sizes.len(), expected: function.sizes.len() });
        }
        if values.len() != function.body.params.len() {
            return Err(Violation::Arguments { found: values.len(), expected: function.body.params.len() });
        }
        let at: HashMap<SizeVar, Size> =
            function.sizes.iter().map(|(var, _)| *var).zip(sizes.iter().cloned()).collect();
        let concrete = |ty: &Type| {
            substitute(ty, &|atom| match atom {
                SizeAtom::Var(var) => at.get(&var).cloned().unwrap_or_else(|| Size::atom(atom)),
                SizeAtom::Bound(_) => Size::atom(atom),
            })
        };
        for (value, (_, param)) in values.iter().zip(&function.body.params) {
            self.expect(*value, &concrete(param).ok_or(Violation::LargeSize)?)?;
        }
        self.state(stated, &concrete(&function.result).ok_or(Violation::LargeSize)?)?;
        if effect != function.effect {
            return Err(Violation::CalledEffect { function: id, stated: effect });
        }
        if changes != function.changes {
            return Err(Violation::CalledChanges { function: id, stated: changes });
        }
        if id >= self.id && effect < Effect::MayNotEnd {
            return Err(Violation::MayNotEnd { function: id });
        }
        Ok(effect)
    }

    /// Checks digits for each digit of a space.
    fn check_digits(&self, space: &Space, digits: &[DigitExpr], target: Option<&Space>) -> Result<()> {
        if digits.len() != space.digits.len() {
            return Err(Violation::Digits { space: space.clone(), found: digits.len() });
        }
        for (digit, of) in digits.iter().zip(&space.digits) {
            let size = of.size().ok_or(Violation::LargeSize)?;
            expect_at_most(digit, &self.bound(digit, target)?, &size)?;
        }
        Ok(())
    }

    fn bound(&self, digit: &DigitExpr, target: Option<&Space>) -> Result<Size> {
        try_each_word(digit, &mut |value| self.expect(value, &Type::I64))?;
        bound(digit, target, &|value| self.index(value))
    }

    fn params(&self, block: &Block, expected: usize) -> Result<()> {
        match block.params.len() {
            found if found == expected => Ok(()),
            found => Err(Violation::Params { found, expected }),
        }
    }

    fn param(&self, block: &Block, at: usize, expected: &Type) -> Result<()> {
        match &block.params[at].1 {
            found if found == expected => Ok(()),
            found => Err(Violation::ParamType { found: found.clone(), expected: expected.clone() }),
        }
    }

    /// The space of a block's first parameter.
    fn param_space<'b>(&self, block: &'b Block, params: usize) -> Result<&'b Space> {
        self.params(block, params)?;
        match &block.params[0].1 {
            Type::Index(space) => Ok(space),
            found => Err(Violation::ParamForm { found: found.clone(), form: Form::Index }),
        }
    }

    /// The type of the value that a block yields, for one without a type of its own.
    fn yielded(&mut self, block: &Block, form: Form, fits: fn(&Type) -> bool) -> Result<(Type, Effect)> {
        let End::Yield(value) = block.end else {
            // Without a label around nothing else is an end.
            let effect = self.check_block(block, &Type::unit(), false)?;
            return Ok((Type::unit(), effect));
        };
        let stated = block.stmts.iter().find(|stmt| stmt.value == value).map(|stmt| &stmt.ty);
        let param = block.params.iter().find(|param| param.0 == value).map(|param| &param.1);
        let ty = stated.or(param).map_or_else(|| self.ty(value).cloned(), |ty| Ok(ty.clone()))?;
        if !fits(&ty) {
            return Err(Violation::OtherForm { value, found: ty, form });
        }
        let effect = self.check_block(block, &ty, false)?;
        // The type is one outside of the block.
        self.well_formed(&ty)?;
        Ok((ty, effect))
    }

    fn combine(&mut self, combine: &Combine, grouping: Grouping, ty: &Type) -> Result<Effect> {
        match combine {
            Combine::Prim(op) => {
                let result = ty.element().and_then(|e| scalar::result(Prim::Binary(*op), &[e, e]).map(|_| e));
                let operands = vec![ty.clone(), ty.clone()];
                let element = result.ok_or(Violation::NoOperands { prim: op.mnemonic(), operands })?;
                if grouping == Grouping::Any && !is_reassociable(*op, element) {
                    return Err(Violation::NotAny { op: op.mnemonic(), ty: ty.clone() });
                }
                Ok(Effect::Total)
            }
            Combine::Dot => Err(Violation::NoOperands { prim: "dot", operands: vec![ty.clone()] }),
            Combine::Block(_) if grouping == Grouping::Any => {
                Err(Violation::Grouping { op: "(…)", grouping: grouping.mnemonic() })
            }
            Combine::Block(block) => {
                self.params(block, 2)?;
                self.param(block, 0, ty)?;
                self.param(block, 1, ty)?;
                self.check_block(block, ty, false)
            }
        }
    }

    fn check_loop(&mut self, label: Label, is_loop: bool, body: &Block, ty: &Type) -> Result<Effect> {
        self.around.push(Around { label, is_loop, ty: ty.clone() });
        let effect = self.check_block(body, ty, true)?;
        self.around.pop();
        Ok(effect)
    }

    /// Checks an operation that holds blocks.
    fn check_blocks(&mut self, op: &Op, stated: &Type) -> Result<Effect> {
        match op {
            Op::Map(body) => {
                let space = self.param_space(body, 1)?;
                let Type::Array(_, element) = stated else {
                    return Err(Violation::StatedForm { stated: stated.clone(), form: Form::Array });
                };
                self.state(stated, &Type::Array(space.clone(), element.clone()))?;
                self.check_block(body, element, false)
            }
            Op::Reduce { combine: Combine::Dot, grouping, start, body } => {
                self.param_space(body, 1)?;
                let ty = Type::Element(Element::F64);
                self.expect(*start, &ty)?;
                self.state(stated, &ty)?;
                if *grouping != Grouping::Fixed {
                    return Err(Violation::Grouping { op: "dot", grouping: grouping.mnemonic() });
                }
                self.check_block(body, &Type::Tuple(vec![ty.clone(), ty]), false)
            }
            Op::Reduce { combine, grouping, start, body } => {
                self.param_space(body, 1)?;
                let ty = self.ty(*start)?.clone();
                self.state(stated, &ty)?;
                let effect = self.combine(combine, *grouping, &ty)?;
                Ok(effect.max(self.check_block(body, &ty, false)?))
            }
            Op::Scan { combine, grouping, body } => {
                let space = self.param_space(body, 1)?;
                let Type::Array(_, element) = stated else {
                    return Err(Violation::StatedForm { stated: stated.clone(), form: Form::Array });
                };
                self.state(stated, &Type::Array(space.clone(), element.clone()))?;
                if *grouping == Grouping::Any {
                    return Err(Violation::Grouping { op: "scan", grouping: grouping.mnemonic() });
                }
                let effect = self.combine(combine, *grouping, element)?;
                Ok(effect.max(self.check_block(body, element, false)?))
            }
            Op::ReduceAt { combine, grouping, start, body } => {
                self.param_space(body, 1)?;
                let (space, element) = self.array(*start)?;
                let item = Type::Tuple(vec![Type::Index(space.clone()), element.clone()]);
                let (ty, element) = (self.ty(*start)?.clone(), element.clone());
                self.state(stated, &ty)?;
                let effect = match combine {
                    _ if *grouping == Grouping::Fixed => {
                        return Err(Violation::Grouping { op: "reduce_at", grouping: grouping.mnemonic() });
                    }
                    CombineAt::Last if *grouping == Grouping::Any => {
                        return Err(Violation::Grouping { op: "last", grouping: grouping.mnemonic() });
                    }
                    CombineAt::Last => Effect::Total,
                    CombineAt::Combine(combine) => self.combine(combine, *grouping, &element)?,
                };
                Ok(effect.max(self.check_block(body, &item, false)?))
            }
            Op::Filter(body) => {
                self.param_space(body, 1)?;
                let is_kept =
                    |ty: &Type| matches!(ty, Type::Tuple(parts) if parts.len() == 2 && parts[0] == Type::B1);
                let (ty, effect) = self.yielded(body, Form::Kept, is_kept)?;
                let Type::Tuple(mut parts) = ty else {
                    return Err(Violation::StatedForm { stated: stated.clone(), form: Form::Kept });
                };
                let element = parts.pop().expect("a tuple of two parts");
                self.state(stated, &Type::sized_array(element))?;
                Ok(effect)
            }
            Op::Order(body) => {
                let space = self.param_space(body, 1)?.clone();
                let (_, effect) = self.yielded(body, Form::Key, is_key)?;
                self.state(stated, &Type::array(space.clone(), Type::Index(space)))?;
                Ok(effect)
            }
            Op::For { label, range, state, body } => {
                self.params(body, 2)?;
                match range {
                    None => drop(self.param_space(body, 2)?),
                    Some(Range { low, high, .. }) => {
                        self.param(body, 0, &Type::I64)?;
                        self.expect(*low, &Type::I64)?;
                        self.expect(*high, &Type::I64)?;
                    }
                }
                let ty = self.ty(*state)?.clone();
                self.param(body, 1, &ty)?;
                self.state(stated, &ty)?;
                self.check_loop(*label, true, body, &ty)
            }
            Op::While { label, state, condition, body } => {
                let ty = self.ty(*state)?.clone();
                for block in [condition, body] {
                    self.params(block, 1)?;
                    self.param(block, 0, &ty)?;
                }
                self.state(stated, &ty)?;
                let effect = self.check_block(condition, &Type::B1, false)?;
                Ok(effect.max(Effect::MayNotEnd).max(self.check_loop(*label, true, body, &ty)?))
            }
            Op::Block(label, body) => {
                self.params(body, 0)?;
                self.check_loop(*label, false, body, stated)
            }
            Op::If(condition, then, otherwise) => {
                self.expect(*condition, &Type::B1)?;
                let mut effect = Effect::Total;
                for block in [then, otherwise] {
                    self.params(block, 0)?;
                    effect = effect.max(self.check_block(block, stated, true)?);
                }
                Ok(effect)
            }
            Op::Switch(value, blocks) => {
                let Some(cases) = self.ty(*value)?.cases() else {
                    return self.other_form(*value, Form::Sum);
                };
                if cases.len() != blocks.len() {
                    return Err(Violation::Cases { found: blocks.len(), expected: cases.len() });
                }
                let mut effect = Effect::Total;
                for (piece, block) in cases.iter().zip(blocks) {
                    self.params(block, 1)?;
                    self.param(block, 0, piece)?;
                    effect = effect.max(self.check_block(block, stated, true)?);
                }
                Ok(effect)
            }
            op => unreachable!("{op:?} holds no blocks"),
        }
    }
}

/// Returns true for types of keys.
fn is_key(ty: &Type) -> bool {
    match ty {
        Type::Element(_) => true,
        Type::Tuple(types) => types.iter().all(is_key),
        _ => false,
    }
}

/// The space with sizes in place of variables; `None` beyond the bounds of sizes.
pub fn substitute_in_space(space: &Space, size: &dyn Fn(SizeAtom) -> Size) -> Option<Space> {
    let mut digits = Vec::with_capacity(space.digits.len());
    for digit in &space.digits {
        let pieces = digit.pieces.iter().map(|piece| piece.substitute(size));
        digits.push(super::Digit { pieces: pieces.collect::<Option<_>>()? });
    }
    Some(Space { digits })
}

/// The type with sizes in place of variables; `None` beyond the bounds of sizes.
pub fn substitute(ty: &Type, size: &dyn Fn(SizeAtom) -> Size) -> Option<Type> {
    let space = |space: &Space| substitute_in_space(space, size);
    let list = |types: &[Type]| types.iter().map(|ty| substitute(ty, size)).collect::<Option<Vec<_>>>();
    Some(match ty {
        Type::Element(_) => ty.clone(),
        Type::Index(of) => Type::Index(space(of)?),
        Type::Tuple(types) => Type::Tuple(list(types)?),
        Type::Array(of, element) => Type::Array(space(of)?, Arc::new(substitute(element, size)?)),
        Type::Sum(types) => Type::Sum(list(types)?),
        Type::Exists(count, inner) => Type::Exists(*count, Arc::new(substitute(inner, size)?)),
    })
}

/// The type that is bound by an existential type, at sizes.
///
/// # Errors
/// Another number of sizes than the type binds, or sizes beyond the bounds.
pub fn instantiate(inner: &Type, count: u32, sizes: &[Size]) -> Result<Type> {
    if sizes.len() != count as usize {
        return Err(Violation::Sizes { found: sizes.len(), expected: count as usize });
    }
    let at = |atom| match atom {
        SizeAtom::Bound(position) => sizes[position as usize].clone(),
        SizeAtom::Var(_) => Size::atom(atom),
    };
    substitute(inner, &at).ok_or(Violation::LargeSize)
}

/// Returns true if types differ in sizes at most.
fn same_structure(a: &Type, b: &Type) -> bool {
    let spaces = |x: &Space, y: &Space| {
        x.digits.len() == y.digits.len()
            && x.digits.iter().zip(&y.digits).all(|(x, y)| x.pieces.len() == y.pieces.len())
    };
    let lists =
        |x: &[Type], y: &[Type]| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_structure(x, y));
    match (a, b) {
        (Type::Element(x), Type::Element(y)) => x == y,
        (Type::Index(x), Type::Index(y)) => spaces(x, y),
        (Type::Tuple(x), Type::Tuple(y)) | (Type::Sum(x), Type::Sum(y)) => lists(x, y),
        (Type::Array(x, s), Type::Array(y, t)) => spaces(x, y) && same_structure(s, t),
        _ => false,
    }
}
