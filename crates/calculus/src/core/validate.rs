//! The validator of core: the type of every term fits its parts.
//!
//! Takes a function or a script with its program; gives the contradictions found, in words. It
//! checks that nothing in core mentions a hole or an error, that locals and functions exist, that
//! captures match, and that a reshape is natural. Tests run it on the checker's output; an executor
//! relies on these properties without a check.

use super::term::{
    Function, FunctionId, LocalId, LocalInfo, Num, Op, Pat, PatKind, Root, Script, Step, StepKind, Stmt,
    StmtKind, Term, TermKind,
};
use super::{ClassId, Program};
use super::{ForRange, Prim};
use crate::hash::{HashMap, HashSet};
use crate::iso::{self, Verdict};
use crate::types::number::{Conversion, conversion};
use crate::types::{Kind, Scalar, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Checks one function.
pub fn validate(program: &Program, function: &Function) -> Result<(), Vec<String>> {
    let mut v = Validator::new(program, &function.locals, Some(&function.body.ty));
    v.place = format!("`{}`", function.name);
    v.given = function.given.clone();
    v.known.extend(function.type_params.iter().map(|var| var.id));
    v.ty(&function.domain, "the domain");
    let params: Vec<Type> = function.params.iter().filter_map(|p| v.local(*p)).collect();
    let domain = Type::product(params);
    v.require_same_type(&domain, &function.domain, "the parameters");
    for local in function.captures.iter().chain(&function.this) {
        v.local(*local);
    }
    v.term(&function.body);
    v.result()
}

/// Checks the statements of an input.
pub fn validate_script(program: &Program, script: &Script) -> Result<(), Vec<String>> {
    let mut v = Validator::new(program, &script.locals, None);
    v.place = "the script".into();
    v.stmts_here(&script.body);
    script.result.iter().for_each(|term| v.term(term));
    v.result()
}

/// Checks a script and all functions of its program.
pub fn validate_all(program: &Program, script: &Script) -> Result<(), Vec<String>> {
    let mut wrong = validate_script(program, script).err().unwrap_or_default();
    for (id, function) in program.functions.iter().enumerate() {
        match function {
            Some(function) => wrong.extend(validate(program, function).err().unwrap_or_default()),
            None => wrong.push(format!("function {id} has no body")),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// A validator of one body.
struct Validator<'a> {
    /// The program.
    program: &'a Program,
    /// The locals of the body.
    locals: &'a [LocalInfo],
    /// The type of the values of `return`.
    returns: Option<&'a Type>,
    /// The equations of sizes that hold here.
    given: Vec<(Type, Type)>,
    /// The type variables in scope: parameters and opened sizes.
    known: HashSet<u32>,
    /// The name of the body in messages.
    place: String,
    /// The places of the `at` around, if there is one.
    here: Option<Type>,
    /// The contradictions found.
    wrong: Vec<String>,
}

impl<'a> Validator<'a> {
    /// Makes a validator of a body with these locals.
    fn new(program: &'a Program, locals: &'a [LocalInfo], returns: Option<&'a Type>) -> Validator<'a> {
        let mut v = Validator {
            program,
            locals,
            returns,
            given: Vec::new(),
            known: program.sizes.iter().map(|var| var.id).collect(),
            place: String::new(),
            here: None,
            wrong: Vec::new(),
        };
        for local in locals {
            v.ty(&local.ty, &format!("local `{}`", local.name));
        }
        v
    }

    /// Returns the contradictions, if there are any.
    fn result(self) -> Result<(), Vec<String>> {
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong) }
    }

    /// Adds a contradiction.
    fn report(&mut self, what: String) {
        self.wrong.push(format!("in {}: {what}", self.place));
    }

    /// Adds a contradiction unless a condition holds.
    fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.report(what());
        }
    }

    /// Checks that two types are equal.
    fn require_same_type(&mut self, found: &Type, expected: &Type, what: &str) {
        self.require(found == expected, || format!("{what}: `{found}` where `{expected}` is needed"));
    }

    /// Reports a type with a hole or an error.
    fn ty(&mut self, ty: &Type, what: &str) {
        self.require(!ty.has_meta(), || format!("{what} has a hole: `{ty}`"));
        self.require(!mentions_error(ty), || format!("{what} mentions an error: `{ty}`"));
    }

    /// Returns the type of a local, which must exist.
    fn local(&mut self, local: LocalId) -> Option<Type> {
        let found = self.locals.get(local.index()).map(|l| l.ty.clone());
        self.require(found.is_some(), || format!("there is no local {local}"));
        found
    }

    /// Checks that a local has a type.
    fn require_local_type(&mut self, local: LocalId, ty: &Type, what: &str) {
        if let Some(found) = self.local(local) {
            self.require_same_type(&found, ty, what);
        }
    }

    /// Checks terms.
    fn terms(&mut self, terms: &[Term]) {
        terms.iter().for_each(|t| self.term(t));
    }

    /// Checks a term and its parts.
    fn term(&mut self, term: &Term) {
        let ty = &term.ty;
        self.ty(ty, "a term");
        let mut unknown = None;
        ty.for_each_var(&mut |var| {
            if !self.known.contains(&var.id) {
                unknown.get_or_insert_with(|| var.name.clone());
            }
        });
        self.require(unknown.is_none(), || format!("`{ty}` mentions a variable of elsewhere"));
        let unfolded = ty.unfold();
        match &term.kind {
            TermKind::Int(n) => {
                let fits = match ty.as_scalar() {
                    Some(scalar) if scalar.is_integer() => scalar.holds(n),
                    _ => false,
                };
                self.require(fits, || format!("the integer {n} at `{ty}`"));
            }
            TermKind::Real(x) => self.require(float(ty), || format!("the literal {} at `{ty}`", x.double)),
            TermKind::Char(_) => self.require_same_type(&Type::char(), ty, "a character literal"),
            TermKind::Str(_) => self.require_same_type(&Type::string(), ty, "a string literal"),
            TermKind::Code(n) => {
                let fits = ty.is_compact() && ty.size().map_or(true, |size| *n < size);
                self.require(fits, || format!("the code {n} at `{ty}`"));
            }
            TermKind::Local(local) => self.require_local_type(*local, ty, "a local"),
            TermKind::Global(global) => match self.program.globals.get(global.index()) {
                Some(found) => self.require_same_type(&found.ty, ty, "a variable of the session"),
                None => self.report(format!("there is no variable {global}")),
            },
            TermKind::Move(place) => {
                self.term(place);
                self.require_same_type(&place.ty, ty, "a moved value");
            }
            TermKind::Closure { function, type_args, captures } => {
                self.closure(*function, type_args, captures, ty);
            }
            TermKind::Method { class, method, type_args } => self.method(*class, *method, type_args, ty),
            TermKind::Call(head, args) => {
                self.term(head);
                self.terms(args);
                let given = Type::product(args.iter().map(|a| a.ty.clone()).collect());
                match head.ty.kind() {
                    TypeKind::Function(domain, result) => {
                        self.require_same_type(&given, domain, "an argument");
                        self.require_same_type(ty, result, "a call");
                    }
                    TypeKind::Procedure(domain) => {
                        self.require_same_type(&given, domain, "an argument");
                        self.require_same_type(ty, &Type::unit(), "a call of a procedure");
                    }
                    _ => self.report(format!("a call of `{}`", head.ty)),
                }
            }
            TermKind::Prim(prim, type_args, args) => self.prim(*prim, type_args, args, ty),
            TermKind::Op(op, args) => self.op(*op, args, ty),
            TermKind::Tuple(parts) => {
                self.terms(parts);
                let found: Vec<Type> = parts.iter().map(|p| p.ty.clone()).collect();
                let expected = unfolded.components(parts.len());
                self.require(expected.as_ref() == Some(&found), || format!("a tuple of {found:?} at `{ty}`"));
            }
            TermKind::Component(base, position) => {
                self.term(base);
                self.component(&base.ty, position, ty);
            }
            TermKind::Index(array, index) => {
                self.term(array);
                self.term(index);
                match array.ty.unfold().kind() {
                    TypeKind::Array(element, wanted) => {
                        self.require_same_type(&index.ty, wanted, "an index");
                        self.require_same_type(ty, element, "an element");
                    }
                    _ => self.report(format!("an index into `{}`", array.ty)),
                }
            }
            TermKind::Build(clauses, body) => {
                for (local, index) in clauses {
                    self.index_type(index);
                    self.require_local_type(*local, index, "a clause");
                }
                self.term(body);
                let index = Type::compact_product(clauses.iter().map(|(_, ty)| ty.clone()).collect());
                self.require_same_type(&Type::array(body.ty.clone(), index), ty, "an array built");
            }
            TermKind::Pack(parts) => {
                self.terms(parts);
                let found: Vec<Type> = parts.iter().map(|p| p.ty.clone()).collect();
                let expected = unfolded.compact_factors(parts.len());
                self.require(expected.as_ref() == Some(&found), || {
                    format!("a compact tuple of {found:?} at `{ty}`")
                });
            }
            TermKind::Factor(base, position) => {
                self.term(base);
                self.factor(&base.ty, position, ty);
            }
            TermKind::Digit(base, index) => {
                self.term(base);
                self.term(index);
                self.digit(&base.ty, &index.ty, ty);
            }
            TermKind::Inject(case, arg) => {
                self.term(arg);
                match case_type(&unfolded, case) {
                    Some(wanted) => self.require_same_type(&arg.ty, &wanted, "the argument of a case"),
                    None => self.report(format!("case {case} of `{ty}`")),
                }
            }
            TermKind::Reshape(inner) => {
                self.term(inner);
                self.reshape(&inner.ty, ty);
            }
            TermKind::ToCode(inner) => {
                self.term(inner);
                let fits = inner.ty.is_compact() && ty.as_scalar().is_some_and(Scalar::is_number);
                self.require(fits, || format!("the code of a `{}` as `{ty}`", inner.ty));
            }
            TermKind::FromCode(inner) => {
                self.term(inner);
                let fits = ty.is_compact() && integer(&inner.ty);
                self.require(fits, || format!("a `{ty}` from the code `{}`", inner.ty));
            }
            TermKind::Convert(inner) => {
                self.term(inner);
                // Between parameters, this is the conversion of any two numbers, which is selected
                // when types are concrete.
                let open = matches!((inner.ty.kind(), ty.kind()), (TypeKind::Var(_), TypeKind::Var(_)));
                let fits = open
                    || inner.ty.as_scalar().is_some()
                        && ty.as_scalar().is_some()
                        && !matches!(conversion(&inner.ty, ty), Conversion::None(_));
                self.require(fits, || format!("`{}` converted to `{ty}`", inner.ty));
            }
            TermKind::At(places, body) => {
                self.require(self.here.is_none(), || "`at` inside `at`".into());
                self.require(places.has_kind(Kind::Places), || format!("`at` the type `{places}`"));
                self.here = Some(places.clone());
                self.term(body);
                self.here = None;
                self.require_same_type(&Type::placed(body.ty.clone(), places.clone()), ty, "work at places");
            }
            TermKind::Here(inner) => {
                self.term(inner);
                let here = self.here.clone();
                match (inner.ty.as_placed(), here) {
                    (Some((value, places)), Some(here)) => {
                        self.require_same_type(value, ty, "the value at a place");
                        self.require(here.is_within_places(places), || {
                            format!("`{here}` has no part of `{}`", inner.ty)
                        });
                    }
                    _ => self.report(format!("`{}` has no value at this place", inner.ty)),
                }
            }
            TermKind::Restrict(inner) => {
                self.term(inner);
                let value = match (inner.ty.as_placed(), ty.as_placed()) {
                    (Some((value, outer)), Some((_, places))) => {
                        self.require(places.is_within_places(outer), || format!("`{outer}` as `{places}`"));
                        value.clone()
                    }
                    _ => inner.ty.clone(),
                };
                self.require(ty.as_placed().is_some_and(|(ty, _)| *ty == value), || {
                    format!("a `{}` restricted to `{ty}`", inner.ty)
                });
            }
            TermKind::If(condition, then, otherwise) => {
                self.condition(condition);
                self.term(then);
                self.term(otherwise);
                self.require_same_type(&then.ty, ty, "a branch");
                self.require_same_type(&otherwise.ty, ty, "a branch");
            }
            TermKind::Match(scrutinee, arms) => {
                self.term(scrutinee);
                for arm in arms {
                    self.pattern(&arm.pattern, &scrutinee.ty);
                    arm.guard.iter().for_each(|g| self.condition(g));
                    self.term(&arm.body);
                    self.require_same_type(&arm.body.ty, ty, "an arm");
                }
            }
            TermKind::PackSizes(sizes, inner) => {
                self.term(inner);
                sizes.iter().for_each(|size| self.index_type(size));
                self.require(sizes.len() == ty.bound_count(), || format!("{} sizes for `{ty}`", sizes.len()));
                self.require_same_type(&inner.ty, &ty.opened(sizes), "a value with sizes");
            }
            TermKind::Block(stmts, value) => {
                let given = self.given.len();
                self.stmts_here(stmts);
                if let Some(value) = value {
                    self.term(value);
                    self.require_same_type(&value.ty, ty, "the value of a block");
                }
                self.given.truncate(given);
            }
            TermKind::Error => self.report("a term that stands for an error".into()),
        }
    }

    /// Checks a term that must be a truth value.
    fn condition(&mut self, term: &Term) {
        self.term(term);
        self.require_same_type(&term.ty, &Type::bool(), "a condition");
    }

    /// Checks a type that must be compact linear.
    fn index_type(&mut self, ty: &Type) {
        self.ty(ty, "an index type");
        self.require(ty.is_compact(), || format!("`{ty}` is walked"));
    }

    /// Checks a method of a class at type arguments.
    fn method(&mut self, class: ClassId, method: usize, type_args: &[Type], ty: &Type) {
        let program = self.program;
        let Some(class) = program.classes.get(class.index()) else {
            return self.report(format!("there is no class {class}"));
        };
        let Some(found) = class.methods.get(method) else {
            return self.report(format!("`{}` has no method {method}", class.name));
        };
        type_args.iter().for_each(|t| self.ty(t, "a type argument"));
        let params: Vec<_> = class.params.iter().chain(&found.params).collect();
        if params.len() != type_args.len() {
            return self.report(format!("`{}` at {} type arguments", found.name, type_args.len()));
        }
        let bindings = params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
        self.require_same_type(&found.ty.substitute(&bindings), ty, "a method");
    }

    /// Checks a function value: its type arguments, its captures and its type.
    fn closure(&mut self, function: FunctionId, type_args: &[Type], captures: &[LocalId], ty: &Type) {
        type_args.iter().for_each(|arg| self.ty(arg, "a type argument"));
        let program = self.program;
        let Some(Some(callee)) = program.functions.get(function.index()) else {
            return self.report(format!("there is no function {function}"));
        };
        let fits = callee.type_params.len() == type_args.len()
            && callee.type_params.iter().zip(type_args).all(|(p, arg)| arg.has_kind(p.kind));
        self.require(fits, || format!("`{}` at the types {type_args:?}", callee.name));
        self.require(callee.captures.len() == captures.len(), || {
            format!("`{}` captures {}, not {}", callee.name, callee.captures.len(), captures.len())
        });
        let bindings: HashMap<u32, Type> =
            callee.type_params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
        for (outer, inner) in captures.iter().zip(&callee.captures) {
            let info = callee.locals.get(inner.index());
            let here = self.locals.get(outer.index());
            let (Some(inner), Some(outer)) = (info, here) else {
                self.report(format!("a capture of `{}` that does not exist", callee.name));
                continue;
            };
            self.require_same_type(&outer.ty, &inner.ty.substitute(&bindings), "a capture");
            self.require(outer.shared == inner.shared, || {
                format!("`{}` is shared on one side of `{}` only", outer.name, callee.name)
            });
        }
        let domain = callee.domain.substitute(&bindings);
        let made = match ty.kind() {
            TypeKind::Procedure(_) => Type::procedure(domain),
            _ => Type::function(domain, callee.body.ty.substitute(&bindings)),
        };
        self.require_same_type(&made, ty, &format!("the function `{}`", callee.name));
    }

    /// Checks the application of a primitive.
    fn prim(&mut self, prim: Prim, type_args: &[Type], args: &[Term], ty: &Type) {
        type_args.iter().for_each(|arg| self.ty(arg, "a type argument"));
        self.terms(args);
        let Some((wanted, result)) = prim.typed_signature().instantiate(type_args) else {
            return self.report(format!("`{}` at {} types", prim.name(), type_args.len()));
        };
        let found: Vec<Type> = args.iter().map(|a| a.ty.clone()).collect();
        self.require(found == wanted, || format!("`{}` of {found:?}, not {wanted:?}", prim.name()));
        self.require_same_type(ty, &result, &format!("the result of `{}`", prim.name()));
    }

    /// Checks the application of an operator.
    fn op(&mut self, op: Op, args: &[Term], ty: &Type) {
        self.terms(args);
        let Some(first) = args.first() else { return self.report(format!("{op:?} of nothing")) };
        let wanted = if matches!(op, Op::Not | Op::Neg(_)) { 1 } else { 2 };
        self.require(args.len() == wanted, || format!("{op:?} of {} operands", args.len()));
        for other in &args[1..] {
            self.require_same_type(&other.ty, &first.ty, &format!("an operand of {op:?}"));
        }
        let num = match op {
            Op::Not | Op::And | Op::Or => {
                let fits = first.ty.is_set() || op == Op::Not && first.ty.is_bool();
                self.require(fits, || format!("{op:?} on `{}`", first.ty));
                return self.require_same_type(ty, &first.ty, &format!("{op:?}"));
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                return self.require_same_type(ty, &Type::bool(), "a comparison");
            }
            Op::Neg(n) | Op::Add(n) | Op::Sub(n) | Op::Mul(n) | Op::Div(n) | Op::Rem(n) | Op::Pow(n) => n,
        };
        self.require_same_type(ty, &first.ty, &format!("{op:?}"));
        let fits = match num {
            Num::Int => first.ty == Type::int(),
            Num::Real => first.ty == Type::real(),
            Num::Single => first.ty == Type::scalar(Scalar::Single),
            Num::Fixed(fixed) => first.ty == Type::scalar(Scalar::Fixed(fixed)),
            Num::Bigint => first.ty == Type::bigint(),
            Num::String => first.ty == Type::string(),
            Num::Mod => first.ty.is_compact(),
        };
        self.require(fits, || format!("{op:?} on `{}`", first.ty));
    }

    /// Checks the type of a component.
    fn component(&mut self, base: &Type, position: &BigUint, ty: &Type) {
        let unfolded = base.unfold();
        let found = match unfolded.kind() {
            TypeKind::Array(element, index) => {
                index.size().map_or(true, |n| *position < n).then(|| element.clone())
            }
            _ => position.to_usize().and_then(|i| unfolded.components(0)?.get(i).cloned()),
        };
        match found {
            Some(found) => self.require_same_type(ty, &found, "a component"),
            None => self.report(format!("component {position} of `{base}`")),
        }
    }

    /// Checks the type of a factor of a compact product.
    fn factor(&mut self, base: &Type, position: &BigUint, ty: &Type) {
        let found = match base.unfold().kind() {
            TypeKind::CompactProduct(parts) => position.to_usize().and_then(|i| parts.get(i).cloned()),
            TypeKind::CompactPower(digit, count) => {
                count.as_unit_sum().is_some_and(|n| position < n).then(|| digit.clone())
            }
            TypeKind::Triangle(_, index) => (*position < 2u32.into()).then(|| index.clone()),
            _ => None,
        };
        match found {
            Some(found) => self.require_same_type(ty, &found, "a part"),
            None => self.report(format!("part {position} of `{base}`")),
        }
    }

    /// Checks the type of a digit of a compact exponential.
    fn digit(&mut self, base: &Type, index: &Type, ty: &Type) {
        match base.unfold().kind() {
            TypeKind::CompactPower(digit, position) => {
                self.require_same_type(index, position, "the position of a digit");
                self.require_same_type(ty, digit, "a digit");
            }
            _ => self.report(format!("a digit of `{base}`")),
        }
    }

    /// Checks a pattern for values of a type.
    fn pattern(&mut self, pat: &Pat, ty: &Type) {
        self.ty(&pat.ty, "a pattern");
        self.require_same_type(&pat.ty, ty, "a pattern");
        let unfolded = ty.unfold();
        match &pat.kind {
            PatKind::Wild => {}
            PatKind::Bind(local) => self.require_local_type(*local, ty, "a variable of a pattern"),
            PatKind::As(inner, local) => {
                self.require_local_type(*local, ty, "a variable of a pattern");
                self.pattern(inner, ty);
            }
            PatKind::Int(n) => self.require(integer(ty), || format!("the pattern {n} at `{ty}`")),
            PatKind::Real(_) => self.require(float(ty), || format!("a real pattern at `{ty}`")),
            PatKind::Char(_) | PatKind::Chars(..) => {
                self.require_same_type(ty, &Type::char(), "a character pattern")
            }
            PatKind::Ints(low, _) => self.require(integer(ty), || format!("integers from {low} at `{ty}`")),
            PatKind::Or(parts) => parts.iter().for_each(|part| self.pattern(part, ty)),
            PatKind::Str(_) => self.require_same_type(ty, &Type::string(), "a string pattern"),
            PatKind::Code(n) => {
                let fits = ty.is_compact() && ty.size().map_or(true, |size| *n < size);
                self.require(fits, || format!("the pattern of code {n} at `{ty}`"));
            }
            PatKind::Tuple(parts) | PatKind::Pack(parts) => {
                let types = match pat.kind {
                    PatKind::Pack(_) => unfolded.compact_parts(parts.len()),
                    _ => unfolded.components(parts.len()),
                };
                match types.filter(|t| t.len() == parts.len()) {
                    Some(types) => parts.iter().zip(&types).for_each(|(p, ty)| self.pattern(p, ty)),
                    None => self.report(format!("a pattern of {} parts at `{ty}`", parts.len())),
                }
            }
            PatKind::Reshape(inner) => {
                self.reshape(ty, &inner.ty);
                self.pattern(inner, &inner.ty);
            }
            PatKind::Coarray(index, argument) => match unfolded.kind() {
                TypeKind::Repeat(cases, case) => {
                    self.pattern(index, cases);
                    self.pattern(argument, case);
                }
                _ => self.report(format!("a pattern of a coarray at `{ty}`")),
            },
            PatKind::Case(case, inner) => match (case_type(&unfolded, case), inner) {
                (Some(ty), Some(inner)) => self.pattern(inner, &ty),
                (Some(ty), None) => self.require_same_type(&ty, &Type::unit(), "a case without argument"),
                (None, _) => self.report(format!("a pattern for case {case} of `{ty}`")),
            },
        }
    }

    /// Checks the statements of a block: the equations that they require hold to its end.
    fn stmts(&mut self, stmts: &[Stmt]) {
        let given = self.given.len();
        self.stmts_here(stmts);
        self.given.truncate(given);
    }

    /// Checks statements within the present block.
    fn stmts_here(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    /// Checks a statement and its parts.
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let(pat, term) => {
                self.term(term);
                self.pattern(pat, &term.ty);
            }
            StmtKind::SetLocal(local, term) => {
                self.term(term);
                self.require_local_type(*local, &term.ty, "an assignment");
            }
            StmtKind::SetGlobal(global, term) => {
                self.term(term);
                match self.program.globals.get(global.index()) {
                    Some(found) => self.require_same_type(&term.ty, &found.ty, "an assignment"),
                    None => self.report(format!("there is no variable {global}")),
                }
            }
            StmtKind::Store { root, root_ty, path, value } => self.store(*root, root_ty, path, value),
            StmtKind::Open { vars, local, value } => {
                self.term(value);
                // Of a placed value, the type that it has at each place is opened.
                let (packed, places) = match value.ty.as_placed() {
                    Some((packed, places)) => (packed, Some(places)),
                    None => (&value.ty, None),
                };
                self.require(vars.len() == packed.bound_count() && packed.is_exists(), || {
                    format!("`{}` opened with {} variables", value.ty, vars.len())
                });
                let sizes: Vec<Type> = vars.iter().cloned().map(Type::var).collect();
                let opened = packed.opened(&sizes);
                let opened = places.map_or(opened.clone(), |places| Type::placed(opened, places.clone()));
                self.require_local_type(*local, &opened, "an opened value");
                self.known.extend(vars.iter().map(|var| var.id));
            }
            StmtKind::Require { left, right, solve } => {
                self.index_type(left);
                self.index_type(right);
                if let Some(var) = solve {
                    self.known.insert(var.id);
                    self.require(right.mentions(var) && !left.mentions(var), || {
                        format!("`{}` sought in `{left} == {right}`", var.name)
                    });
                }
                self.given.push((left.clone(), right.clone()));
            }
            StmtKind::Drop(_) => {}
            StmtKind::Expr(term) => self.term(term),
            StmtKind::If(condition, then, otherwise) => {
                self.condition(condition);
                self.stmts(then);
                self.stmts(otherwise);
            }
            StmtKind::Match(scrutinee, arms) => {
                self.term(scrutinee);
                for (pat, guard, body) in arms {
                    self.pattern(pat, &scrutinee.ty);
                    guard.iter().for_each(|g| self.condition(g));
                    self.stmts(body);
                }
            }
            StmtKind::For(local, range, body) => {
                let walked = match range {
                    ForRange::All(ty) => {
                        self.index_type(ty);
                        ty.clone()
                    }
                    ForRange::Ints { low, high, .. } => {
                        for bound in [low, high] {
                            self.term(bound);
                            self.require_same_type(&bound.ty, &Type::int(), "a bound");
                        }
                        Type::int()
                    }
                    ForRange::Elements(array) => {
                        self.term(array);
                        match array.ty.unfold().kind() {
                            TypeKind::Array(element, _) => element.clone(),
                            _ => return self.report(format!("`{}` is walked", array.ty)),
                        }
                    }
                };
                self.require_local_type(*local, &walked, "a loop variable");
                self.stmts(body);
            }
            StmtKind::While(condition, body) => {
                self.condition(condition);
                self.stmts(body);
            }
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Return(term) => {
                self.term(term);
                match self.returns {
                    Some(ty) => self.require_same_type(&term.ty, ty, "a returned value"),
                    None => self.report("`return` outside a function".into()),
                }
            }
        }
    }

    /// Checks that a reshape is natural under the equations that hold.
    fn reshape(&mut self, from: &Type, to: &Type) {
        let natural = iso::verdict(from, to) <= Verdict::Natural
            || fields_of(to, from)
            || iso::equations::natural_under(&self.given, from, to);
        self.require(natural, || format!("`{from}` reshaped to `{to}`"));
    }

    /// Checks a store: its variable, its path and its value.
    fn store(&mut self, root: Root, root_ty: &Type, path: &[Step], value: &Term) {
        match root {
            Root::Local(local) => self.require_local_type(local, root_ty, "the root of a store"),
            Root::Global(global) => match self.program.globals.get(global.index()) {
                Some(found) => self.require_same_type(root_ty, &found.ty, "the root of a store"),
                None => self.report(format!("there is no variable {global}")),
            },
        }
        let mut at = root_ty.clone();
        let mut packed = false;
        for step in path {
            self.require_same_type(&step.from, &at, "a step of a store");
            self.ty(&step.to, "a step of a store");
            let compact = matches!(step.kind, StepKind::Factor(_) | StepKind::Digit(_));
            self.require(compact || !packed || matches!(step.kind, StepKind::Reshape), || {
                "a step out of a compact value".into()
            });
            packed |= compact;
            match &step.kind {
                StepKind::Reshape => self.reshape(&step.from, &step.to),
                StepKind::Component(i) => self.component(&step.from, i, &step.to),
                StepKind::Factor(i) => self.factor(&step.from, i, &step.to),
                StepKind::Digit(index) => {
                    self.term(index);
                    self.digit(&step.from, &index.ty, &step.to);
                }
                StepKind::Index(index) => {
                    self.term(index);
                    match step.from.unfold().kind() {
                        TypeKind::Array(element, wanted) => {
                            self.require_same_type(&index.ty, wanted, "an index");
                            self.require_same_type(&step.to, element, "an element");
                        }
                        _ => self.report(format!("an index into `{}`", step.from)),
                    }
                }
            }
            at = step.to.clone();
        }
        self.term(value);
        self.require_same_type(&value.ty, &at, "what is stored");
    }
}

fn float(ty: &Type) -> bool {
    ty.as_scalar().is_some_and(Scalar::is_float)
}

fn integer(ty: &Type) -> bool {
    ty.as_scalar().is_some_and(Scalar::is_integer)
}

/// Returns the argument type of a case of a sum or variant.
fn case_type(unfolded: &Type, case: &BigUint) -> Option<Type> {
    match unfolded.kind() {
        TypeKind::Nominal(nominal, args) => {
            nominal.variant_cases(args)?.get(case.to_usize()?).map(|(_, ty)| ty.clone())
        }
        _ => unfolded.case_type(case),
    }
}

/// Returns true if a struct is made from the tuple of its fields.
fn fields_of(ty: &Type, fields: &Type) -> bool {
    let TypeKind::Nominal(nominal, args) = ty.kind() else { return false };
    let found = nominal.struct_fields(args).map(|f| f.into_iter().map(|(_, ty)| ty).collect());
    found.is_some_and(|types| Type::product(types) == *fields)
}

fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}

#[cfg(test)]
mod tests {
    use super::{validate, validate_script};
    use crate::core::{
        Class, ClassId, ForRange, Function, FunctionId, Global, GlobalId, LocalId, LocalInfo, Method, Num,
        Op, Pat, PatKind, Prim, Program, Root, Script, Step, StepKind, Stmt, StmtKind, Term, TermKind,
    };
    use crate::source::Span;
    use crate::types::{Kind, Type, TypeVar};
    use num_bigint::BigUint;
    use std::sync::Arc;

    fn term(kind: TermKind, ty: Type) -> Term {
        Term::new(kind, ty, Span::default())
    }

    fn stmt(kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::default() }
    }

    fn int(n: i64) -> Term {
        term(TermKind::Int(n.into()), Type::int())
    }

    fn code(n: u32, ty: Type) -> Term {
        term(TermKind::Code(n.into()), ty)
    }

    fn truth() -> Term {
        code(1, Type::bool())
    }

    fn text() -> Term {
        term(TermKind::Str("".into()), Type::string())
    }

    fn size(n: u32) -> Type {
        Type::unit_sum(n)
    }

    fn ints(n: u32) -> Type {
        Type::array(Type::int(), size(n))
    }

    fn pair() -> Type {
        Type::product(vec![Type::int(), Type::string()])
    }

    /// A variable of each of these types: `int`, `int ^ 3`, `int * string`.
    fn local(id: usize) -> Term {
        let types = [Type::int(), ints(3), pair()];
        term(TermKind::Local(LocalId::new(id)), types[id].clone())
    }

    fn locals() -> Vec<LocalInfo> {
        (0..3)
            .map(|id| LocalInfo { name: format!("x{id}").into(), ty: local(id).ty, shared: false })
            .collect()
    }

    /// A program with a function of `T * int` that captures an `int`, a session variable and a
    /// class.
    fn program() -> Program {
        let var = TypeVar { id: 1_001, name: "T".into(), kind: Kind::Type };
        let info = |ty: Type| LocalInfo { name: "y".into(), ty, shared: false };
        let function = Function {
            name: "f".into(),
            type_params: vec![var.clone()],
            params: vec![LocalId::new(0), LocalId::new(1)],
            captures: vec![LocalId::new(2)],
            this: None,
            locals: vec![info(Type::var(var.clone())), info(Type::int()), info(Type::int())],
            domain: Type::product(vec![Type::var(var.clone()), Type::int()]),
            given: Vec::new(),
            body: term(TermKind::Local(LocalId::new(1)), Type::int()),
            span: Span::default(),
        };
        let method = Method {
            name: "m".into(),
            params: Vec::new(),
            ty: Type::function(Type::var(var.clone()), Type::int()),
            joint: false,
            default: None,
        };
        let class = Class { name: "C".into(), params: vec![var], methods: vec![method] };
        Program {
            functions: vec![Some(Arc::new(function))],
            globals: vec![Global { name: "g".into(), ty: Type::int() }],
            classes: vec![class],
            ..Program::default()
        }
    }

    /// Returns the contradictions in statements, without the name of the place.
    fn wrong(stmts: Vec<Stmt>) -> Vec<String> {
        let script = Script { locals: locals(), body: stmts, result: None };
        let wrong = validate_script(&program(), &script).err().unwrap_or_default();
        let what = |text: &String| text.strip_prefix("in the script: ").expect("a place").to_string();
        wrong.iter().map(what).collect()
    }

    /// Checks pairs of a right term and a wrong one that has this contradiction and no other.
    fn check_terms(cases: Vec<(Term, Term, &str)>) {
        let case = |term| vec![stmt(StmtKind::Expr(term))];
        check(cases.into_iter().map(|(right, other, what)| (case(right), case(other), what)).collect());
    }

    fn check(cases: Vec<(Vec<Stmt>, Vec<Stmt>, &str)>) {
        for (right, other, what) in cases {
            assert_eq!(wrong(right), [""; 0], "beside: {what}");
            assert_eq!(wrong(other), [what]);
        }
    }

    fn at(kind: TermKind, right: Type, other: Type, what: &str) -> (Term, Term, &str) {
        (term(kind.clone(), right), term(kind, other), what)
    }

    #[test]
    fn literals_and_codes_are_of_their_types() {
        let i8 = Type::scalar(crate::types::Scalar::from_name("i8").expect("a scalar"));
        let real = TermKind::Real(crate::types::number::Rounded::read("1.0"));
        check_terms(vec![
            at(TermKind::Int(128.into()), Type::int(), i8, "the integer 128 at `i8`"),
            at(TermKind::Int(1.into()), Type::bigint(), Type::real(), "the integer 1 at `real`"),
            at(real, Type::real(), Type::int(), "the literal 1 at `int`"),
            at(
                TermKind::Char('a'),
                Type::char(),
                Type::string(),
                "a character literal: `char` where `string` is needed",
            ),
            at(TermKind::Code(3u32.into()), size(4), size(3), "the code 3 at `3`"),
            at(TermKind::Code(0u32.into()), Type::unit(), Type::int(), "the code 0 at `int`"),
        ]);
    }

    #[test]
    fn variables_exist_and_have_their_types() {
        let local = |id| TermKind::Local(LocalId::new(id));
        let global = |id| TermKind::Global(GlobalId::new(id));
        check_terms(vec![
            at(local(0), Type::int(), Type::real(), "a local: `int` where `real` is needed"),
            (int(0), term(local(9), Type::int()), "there is no local 9"),
            at(
                global(0),
                Type::int(),
                Type::real(),
                "a variable of the session: `int` where `real` is needed",
            ),
            (int(0), term(global(9), Type::int()), "there is no variable 9"),
        ]);
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        let component = |at: u32| TermKind::Component(Box::new(local(2)), at.into());
        let index = |at: Term| TermKind::Index(Box::new(local(1)), Box::new(at));
        let compact = Type::compact_product(vec![size(3), size(4)]);
        let factor = |at: u32| TermKind::Factor(Box::new(code(5, compact.clone())), at.into());
        let power = Type::compact_power(size(3), size(4));
        let digit = |at: Term| TermKind::Digit(Box::new(code(5, power.clone())), Box::new(at));
        check_terms(vec![
            at(
                TermKind::Tuple(vec![int(1), text()]),
                pair(),
                ints(2),
                "a tuple of [int, string] at `int ^ 2`",
            ),
            at(component(0), Type::int(), Type::string(), "a component: `string` where `int` is needed"),
            (int(0), term(component(2), Type::int()), "component 2 of `int * string`"),
            (
                term(index(code(1, size(3))), Type::int()),
                term(index(code(1, size(4))), Type::int()),
                "an index: `4` where `3` is needed",
            ),
            at(
                TermKind::Pack(vec![code(1, size(3)), code(1, size(4))]),
                compact.clone(),
                Type::compact_product(vec![size(4), size(3)]),
                "a compact tuple of [3, 4] at `4 \\* 3`",
            ),
            at(factor(1), size(4), size(3), "a part: `3` where `4` is needed"),
            (int(0), term(factor(2), size(3)), "part 2 of `3 \\* 4`"),
            (
                term(digit(code(1, size(4))), size(3)),
                term(digit(code(1, size(3))), size(3)),
                "the position of a digit: `3` where `4` is needed",
            ),
        ]);
    }

    #[test]
    fn a_case_has_its_argument() {
        let sum = Type::sum(vec![Type::int(), Type::string()]);
        let inject = |case: u32, of| term(TermKind::Inject(case.into(), Box::new(of)), sum.clone());
        check_terms(vec![
            (inject(1, text()), inject(1, int(1)), "the argument of a case: `int` where `string` is needed"),
            (inject(0, int(1)), inject(2, int(1)), "case 2 of `int + string`"),
        ]);
    }

    #[test]
    fn conversions_are_of_types_that_convert() {
        let of = |kind: fn(Box<Term>) -> TermKind, inner: Term, ty| term(kind(Box::new(inner)), ty);
        let index = || code(1, size(3));
        check_terms(vec![
            (
                of(TermKind::ToCode, index(), Type::int()),
                of(TermKind::ToCode, index(), Type::string()),
                "the code of a `3` as `string`",
            ),
            (
                of(TermKind::FromCode, int(1), size(3)),
                of(TermKind::FromCode, text(), size(3)),
                "a `3` from the code `string`",
            ),
            (
                of(TermKind::Convert, int(1), Type::real()),
                of(TermKind::Convert, int(1), Type::string()),
                "`int` converted to `string`",
            ),
            (
                of(TermKind::Reshape, local(1), Type::product(vec![Type::int(), ints(2)])),
                of(TermKind::Reshape, local(1), ints(4)),
                "`int ^ 3` reshaped to `int ^ 4`",
            ),
        ]);
    }

    #[test]
    fn operators_have_operands_of_one_type() {
        let op = |op: Op, args: Vec<Term>, ty| term(TermKind::Op(op, args), ty);
        let sum = |args, ty| op(Op::Add(Num::Int), args, ty);
        check_terms(vec![
            (
                sum(vec![int(1), int(2)], Type::int()),
                sum(vec![int(1), text()], Type::int()),
                "an operand of Add(Int): `string` where `int` is needed",
            ),
            (int(0), sum(vec![int(1)], Type::int()), "Add(Int) of 1 operands"),
            (int(0), sum(vec![], Type::int()), "Add(Int) of nothing"),
            (
                op(Op::Add(Num::String), vec![text(), text()], Type::string()),
                op(Op::Add(Num::Real), vec![text(), text()], Type::string()),
                "Add(Real) on `string`",
            ),
            (
                op(Op::Not, vec![truth()], Type::bool()),
                op(Op::Not, vec![int(1)], Type::int()),
                "Not on `int`",
            ),
            (
                op(Op::Lt, vec![int(1), int(2)], Type::bool()),
                op(Op::Lt, vec![int(1), int(2)], Type::int()),
                "a comparison: `int` where `bool` is needed",
            ),
        ]);
    }

    #[test]
    fn calls_fit_the_functions() {
        let closure = |function: usize, types: &[Type], captures: &[usize], ty: Type| {
            let captures = captures.iter().copied().map(LocalId::new).collect();
            let function = FunctionId::new(function);
            term(TermKind::Closure { function, type_args: types.to_vec(), captures }, ty)
        };
        let (real, ty) = ([Type::real()], |first: Type| {
            Type::function(Type::product(vec![first, Type::int()]), Type::int())
        });
        let right = || closure(0, &real, &[0], ty(Type::real()));
        let call = |head: Term, args: Vec<Term>, ty| term(TermKind::Call(Box::new(head), args), ty);
        let one = || term(TermKind::Real(crate::types::number::Rounded::read("1.0")), Type::real());
        let method = |class: usize, method, types: &[Type]| {
            let kind = TermKind::Method { class: ClassId::new(class), method, type_args: types.to_vec() };
            term(kind, Type::function(Type::real(), Type::int()))
        };
        let print =
            |types: &[Type], args| term(TermKind::Prim(Prim::Print, types.to_vec(), args), Type::unit());
        check_terms(vec![
            (right(), closure(9, &real, &[0], ty(Type::real())), "there is no function 9"),
            (right(), closure(0, &real, &[], ty(Type::real())), "`f` captures 1, not 0"),
            (
                right(),
                closure(0, &real, &[1], ty(Type::real())),
                "a capture: `int ^ 3` where `int` is needed",
            ),
            (
                right(),
                closure(0, &real, &[0], ty(Type::string())),
                "the function `f`: `real * int -> int` where `string * int -> int` is needed",
            ),
            (
                call(right(), vec![one(), int(1)], Type::int()),
                call(right(), vec![text(), int(1)], Type::int()),
                "an argument: `string * int` where `real * int` is needed",
            ),
            (
                call(right(), vec![one(), int(1)], Type::int()),
                call(right(), vec![one(), int(1)], Type::real()),
                "a call: `real` where `int` is needed",
            ),
            (int(0), call(int(1), vec![int(1)], Type::int()), "a call of `int`"),
            (method(0, 0, &real), method(1, 0, &real), "there is no class 1"),
            (method(0, 0, &real), method(0, 1, &real), "`C` has no method 1"),
            (method(0, 0, &real), method(0, 0, &[]), "`m` at 0 type arguments"),
            (
                print(&[Type::int()], vec![int(1)]),
                print(&[Type::string()], vec![int(1)]),
                "`print` of [int], not [string]",
            ),
            (int(0), print(&[], vec![int(1)]), "`print` at 0 types"),
        ]);
    }

    #[test]
    fn branches_and_arms_are_of_the_type_of_the_whole() {
        let choice = |condition, then, otherwise| {
            let kind = TermKind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
            term(kind, Type::int())
        };
        let block = |value| term(TermKind::Block(Vec::new(), Some(Box::new(value))), Type::int());
        let build = |ty| {
            let clauses = vec![(LocalId::new(0), Type::int())];
            term(TermKind::Build(clauses, Box::new(int(1))), ty)
        };
        check_terms(vec![
            (
                choice(truth(), int(1), int(2)),
                choice(int(1), int(1), int(2)),
                "a condition: `int` where `bool` is needed",
            ),
            (
                choice(truth(), int(1), int(2)),
                choice(truth(), int(1), text()),
                "a branch: `string` where `int` is needed",
            ),
            (block(int(1)), block(text()), "the value of a block: `string` where `int` is needed"),
            (int(0), build(Type::array(Type::int(), Type::int())), "`int` is walked"),
        ]);
    }

    fn pattern(kind: PatKind, ty: Type) -> Pat {
        Pat { kind, ty, span: Span::default() }
    }

    #[test]
    fn patterns_fit_the_values() {
        let bind = |kind: PatKind, of: Term| vec![stmt(StmtKind::Let(pattern(kind, of.ty.clone()), of))];
        let wild = |ty| pattern(PatKind::Wild, ty);
        let sum = Type::sum(vec![Type::unit(), Type::string()]);
        let case = || term(TermKind::Inject(1u32.into(), Box::new(text())), sum.clone());
        let local = |id| PatKind::Bind(LocalId::new(id));
        check(vec![
            (
                bind(local(0), int(1)),
                bind(local(1), int(1)),
                "a variable of a pattern: `int ^ 3` where `int` is needed",
            ),
            (
                bind(PatKind::Wild, int(1)),
                vec![stmt(StmtKind::Let(wild(Type::real()), int(1)))],
                "a pattern: `real` where `int` is needed",
            ),
            (
                bind(PatKind::Tuple(vec![wild(Type::int()), wild(Type::string())]), self::local(2)),
                bind(PatKind::Tuple(vec![wild(Type::int())]), self::local(2)),
                "a pattern of 1 parts at `int * string`",
            ),
            (
                bind(PatKind::Case(BigUint::ZERO, None), case()),
                bind(PatKind::Case(1u32.into(), None), case()),
                "a case without argument: `string` where `unit` is needed",
            ),
            (
                bind(PatKind::Case(1u32.into(), Some(Box::new(wild(Type::string())))), case()),
                bind(PatKind::Case(2u32.into(), None), case()),
                "a pattern for case 2 of `1 + string`",
            ),
            (
                bind(PatKind::Code(2u32.into()), code(0, size(3))),
                bind(PatKind::Code(3u32.into()), code(0, size(3))),
                "the pattern of code 3 at `3`",
            ),
            (
                bind(PatKind::Int(1.into()), int(1)),
                bind(PatKind::Int(1.into()), text()),
                "the pattern 1 at `string`",
            ),
        ]);
    }

    #[test]
    fn statements_fit_their_variables() {
        let set = |id, value| vec![stmt(StmtKind::SetLocal(LocalId::new(id), value))];
        let walk = |id, range| vec![stmt(StmtKind::For(LocalId::new(id), range, Vec::new()))];
        let range = |low| ForRange::Ints { low, high: int(2), inclusive: true };
        let require = |left| vec![stmt(StmtKind::Require { left, right: size(3), solve: None })];
        check(vec![
            (set(0, int(1)), set(1, int(1)), "an assignment: `int ^ 3` where `int` is needed"),
            (
                vec![stmt(StmtKind::SetGlobal(GlobalId::new(0), int(1)))],
                vec![stmt(StmtKind::SetGlobal(GlobalId::new(1), int(1)))],
                "there is no variable 1",
            ),
            (walk(0, range(int(1))), walk(0, range(text())), "a bound: `string` where `int` is needed"),
            (
                walk(0, ForRange::Elements(local(1))),
                walk(1, ForRange::Elements(local(1))),
                "a loop variable: `int ^ 3` where `int` is needed",
            ),
            (require(size(3)), require(Type::int()), "`int` is walked"),
            (
                vec![stmt(StmtKind::While(truth(), Vec::new()))],
                vec![stmt(StmtKind::While(int(1), Vec::new()))],
                "a condition: `int` where `bool` is needed",
            ),
            (Vec::new(), vec![stmt(StmtKind::Return(int(1)))], "`return` outside a function"),
        ]);
    }

    #[test]
    fn the_path_of_a_store_leads_to_what_is_stored() {
        let step = |kind, from: Type, to: Type| Step { kind, from, to };
        let store = |root_ty: Type, path: Vec<Step>, value| {
            let root = Root::Local(LocalId::new(2));
            vec![stmt(StmtKind::Store { root, root_ty, path, value })]
        };
        let first = || step(StepKind::Component(BigUint::ZERO), pair(), Type::int());
        let third = step(StepKind::Component(2u32.into()), pair(), Type::int());
        let elsewhere = step(
            StepKind::Component(BigUint::ZERO),
            Type::product(vec![Type::int(), Type::real()]),
            Type::int(),
        );
        check(vec![
            (
                store(pair(), vec![first()], int(1)),
                store(pair(), vec![first()], text()),
                "what is stored: `string` where `int` is needed",
            ),
            (
                store(pair(), vec![first()], int(1)),
                store(pair(), vec![third], int(1)),
                "component 2 of `int * string`",
            ),
            (
                store(pair(), vec![first()], int(1)),
                store(pair(), vec![elsewhere], int(1)),
                "a step of a store: `int * real` where `int * string` is needed",
            ),
        ]);
    }

    #[test]
    fn sizes_that_are_opened_are_in_scope_afterward() {
        let var = |id| TypeVar { id, name: "K".into(), kind: Kind::Compact };
        let some = Type::exists(&[var(1_002)], &Type::array(Type::int(), Type::var(var(1_002))));
        let value = || term(TermKind::PackSizes(vec![size(3)], Box::new(local(1))), some.clone());
        let opened = Type::array(Type::int(), Type::var(var(1_003)));
        let script = |stmts: Vec<Stmt>| {
            let locals = vec![
                locals()[0].clone(),
                locals()[1].clone(),
                LocalInfo { name: "x2".into(), ty: opened.clone(), shared: false },
            ];
            validate_script(&program(), &Script { locals, body: stmts, result: None })
        };
        let open = |vars: Vec<TypeVar>| stmt(StmtKind::Open { vars, local: LocalId::new(2), value: value() });
        let read = || stmt(StmtKind::Expr(term(TermKind::Local(LocalId::new(2)), opened.clone())));
        assert_eq!(script(vec![open(vec![var(1_003)]), read()]), Ok(()));
        let before = script(vec![read(), open(vec![var(1_003)])]);
        assert_eq!(before, Err(vec!["in the script: `int ^ K` mentions a variable of elsewhere".into()]));
        assert!(script(vec![open(Vec::new())]).is_err());
    }

    /// Holes and errors are nowhere in core.
    #[test]
    fn nothing_has_a_hole_or_an_error() {
        let hole = Type::meta(0, Kind::Type);
        let found = wrong(vec![stmt(StmtKind::Expr(term(TermKind::Tuple(vec![]), hole.clone())))]);
        assert!(found.contains(&format!("a term has a hole: `{hole}`")), "{found:?}");
        let error = term(TermKind::Error, Type::int());
        assert_eq!(wrong(vec![stmt(StmtKind::Expr(error))]), ["a term that stands for an error"]);
    }

    #[test]
    fn the_parameters_of_a_function_are_its_domain() {
        let program = program();
        let function = program.functions[0].as_ref().expect("a function");
        assert_eq!(validate(&program, function), Ok(()));
        let other = Function { params: vec![LocalId::new(1)], ..(**function).clone() };
        assert_eq!(
            validate(&program, &other),
            Err(vec!["in `f`: the parameters: `int` where `T * int` is needed".into()])
        );
        // A returned value is of the type of the body.
        let body = |value| term(TermKind::Block(vec![stmt(StmtKind::Return(value))], None), Type::int());
        assert_eq!(validate(&program, &Function { body: body(int(1)), ..(**function).clone() }), Ok(()));
        assert_eq!(
            validate(&program, &Function { body: body(text()), ..(**function).clone() }),
            Err(vec!["in `f`: a returned value: `string` where `int` is needed".into()])
        );
    }
}
