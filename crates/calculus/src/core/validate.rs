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
