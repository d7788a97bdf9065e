//! Random tests of the laws of classes at values of their instances.
//!
//! Takes a session; gives for each law of each instance if it held at every choice of values, or a
//! counterexample. An instance with parameters is tried at up to two types that satisfy its
//! constraints. Values are drawn by the structure of a type, small and special ones more often (no
//! NaN: laws are about numbers); a type whose values obey an invariant has an instance of
//! `Arbitrary`, which draws them.
//!
//! The same seed draws the same values. Changes nothing in the session.

use super::Session;
use super::diagnostics::internal_error;
use fastrand::Rng;
use felis_base::diagnostic::Diagnostic;
use felis_base::hash::HashMap;
use felis_base::source::Span;
use felis_calculus::core::{Script, Term, TermKind};
use felis_calculus::types::number::Rounded;
use felis_calculus::types::{Kind, NominalBody, ProductForm, Scalar, Type, TypeKind, TypeVar};
use felis_check::check::{self, env};
use felis_runtime::eval::{self, Host};
use felis_runtime::value::Value;
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The outcome of one law of one instance.
#[derive(Clone, Debug)]
pub struct LawTrial {
    /// The instance at which it was tried: `Add[int ^ 3]`.
    pub instance: String,
    /// The law.
    pub law: String,
    /// The outcome.
    pub verdict: LawVerdict,
}

/// The outcome of a law.
#[derive(Clone, Debug)]
pub enum LawVerdict {
    /// The law held at this many choices of values.
    Held(u32),
    /// The law does not hold at these values, in the order of its variables.
    Broken(String),
    /// Evaluation failed at these values.
    Failed(String, Box<Diagnostic>),
    /// Values of this type cannot be drawn.
    NoValues(Type),
    /// The run was stopped.
    Interrupted,
}

/// Parts of a drawn value, at most.
const MAX_PARTS: usize = 64;
/// Declared types within one another, at most.
const MAX_NOMINAL_DEPTH: u32 = 6;

impl Session {
    /// Tries the laws of all instances that the user has declared, or of the library's with
    /// `library`, each at `cases` choices of values.
    pub fn check_laws(
        &mut self,
        cases: u32,
        seed: u64,
        library: bool,
    ) -> Result<Vec<LawTrial>, Vec<Diagnostic>> {
        if library {
            self.load_whole_library()?;
        }
        // Drawn values may come from here.
        self.load_and_adopt(&["Arbitrary"])?;
        let saved = self.snapshot();
        let done = catch_unwind(AssertUnwindSafe(|| self.try_laws(cases, seed, library)));
        self.restore(saved);
        done.map_err(|_| vec![internal_error(Span::default())])
    }

    /// Tries the laws of all instances.
    fn try_laws(&mut self, cases: u32, seed: u64, library: bool) -> Vec<LawTrial> {
        let mut classes: Vec<Arc<env::Class>> = self.env.classes.values().cloned().collect();
        classes.sort_by_key(|class| class.id);
        let mut trials = Vec::new();
        for class in classes {
            for membership in self.env.instances.get(&class.id).cloned().unwrap_or_default() {
                if self.env.of_library(membership.span) != library || membership.refusal.is_some() {
                    continue;
                }
                for bindings in self.sample_types(&membership) {
                    let args: Vec<Type> = membership.args.iter().map(|t| t.substitute(&bindings)).collect();
                    let constraint = env::Constraint { class: class.id, args: args.clone() };
                    let instance = self.env.text(&constraint);
                    for law in &class.laws {
                        let at = class.params.iter().map(|p| p.id).zip(args.iter().cloned()).collect();
                        let domain = law.domain.substitute(&at);
                        let mut rng = Rng::with_seed(seed ^ u64::from(law.function.0));
                        let verdict = self.try_law(law, &args, &domain, cases, &mut rng);
                        let stop = matches!(verdict, LawVerdict::Interrupted);
                        trials.push(LawTrial {
                            instance: instance.clone(),
                            law: law.name.to_string(),
                            verdict,
                        });
                        if stop {
                            return trials;
                        }
                    }
                }
            }
        }
        trials
    }

    /// Tries one law at random values of its domain.
    fn try_law(
        &mut self,
        law: &env::Law,
        type_args: &[Type],
        domain: &Type,
        cases: u32,
        rng: &mut Rng,
    ) -> LawVerdict {
        for _ in 0..cases {
            let Some(argument) = self.draw_value(domain, rng, 0) else {
                return LawVerdict::NoValues(domain.clone());
            };
            // Held, so that what broke the law can be shown.
            let given = match self.evaluate_term(argument.clone()) {
                Ok(value) => value,
                Err(verdict) => return verdict,
            };
            let function = TermKind::Closure {
                function: law.function,
                type_args: type_args.to_vec(),
                captures: Vec::new(),
            };
            let ty = Type::function(domain.clone(), Type::bool());
            let head = Term::new(function, ty, law.span);
            let args = match argument.kind {
                TermKind::Tuple(parts) if parts.len() > 1 => parts,
                _ => vec![argument],
            };
            let call = TermKind::Call(Box::new(head), args);
            match self.evaluate_term(Term::new(call, Type::bool(), law.span)) {
                Ok(value) if value.as_bool() => {}
                Ok(_) => return LawVerdict::Broken(eval::read_back(&given, domain)),
                Err(LawVerdict::Failed(_, diagnostic)) => {
                    return LawVerdict::Failed(eval::read_back(&given, domain), diagnostic);
                }
                Err(other) => return other,
            }
        }
        LawVerdict::Held(cases)
    }

    /// Evaluates a term without output or files.
    fn evaluate_term(&mut self, term: Term) -> Result<Value, LawVerdict> {
        let script = Script { locals: Vec::new(), body: Vec::new(), result: Some(term) };
        let mut host = Host {
            out: &mut |_| (),
            out_here: None,
            interrupt: &self.interrupt,
            memory: self.memory,
            files: None,
            system: None,
            screen: super::Screen::default(),
        };
        match self.machine.run(&self.program, &script, &mut host) {
            Ok(value) => Ok(value.expect("a script with a result has a value")),
            Err(error) if error.is_interruption() => Err(LawVerdict::Interrupted),
            Err(error) => Err(LawVerdict::Failed(String::new(), Box::new(error.to_diagnostic()))),
        }
    }

    /// Types for the parameters of an instance at which what it requires holds: at most two
    /// choices.
    fn sample_types(&mut self, membership: &env::Membership) -> Vec<HashMap<u32, Type>> {
        let six = Type::compact_product(vec![Type::unit_sum(3u32), Type::unit_sum(2u32)]);
        let choices = |param: &TypeVar| match param.kind {
            Kind::UnitSum => vec![Type::unit_sum(5u32), Type::unit_sum(2u32)],
            Kind::Compact => vec![Type::unit_sum(3u32), six.clone()],
            // A rest of one component, and of two.
            Kind::List(form @ ProductForm::Tuple) => [vec![Type::int()], vec![Type::string(), Type::int()]]
                .map(|parts| Type::list(form, parts, None))
                .to_vec(),
            Kind::List(form @ ProductForm::Compact) => [vec![], vec![Type::unit_sum(3u32), six.clone()]]
                .map(|parts| Type::list(form, parts, None))
                .to_vec(),
            _ => vec![Type::int(), Type::string(), Type::bigint(), Type::real(), Type::unit_sum(7u32)],
        };
        let mut found: Vec<HashMap<u32, Type>> = Vec::new();
        // Rotated against one another, so that two parameters are not always the same.
        for turn in 0..10 {
            let bindings: HashMap<u32, Type> = membership
                .params
                .iter()
                .enumerate()
                .map(|(i, param)| {
                    let all = choices(param);
                    (param.id, all[(turn + i * (turn / 5)) % all.len()].clone())
                })
                .collect();
            let holds = membership.requires.iter().all(|c| self.holds(&c.substitute(&bindings)));
            if holds && !found.contains(&bindings) {
                found.push(bindings);
            }
            if found.len() == 2 || membership.params.is_empty() {
                break;
            }
        }
        found
    }

    /// Returns true if a constraint holds.
    fn holds(&mut self, constraint: &env::Constraint) -> bool {
        check::holds(&mut self.env, &mut self.program, constraint)
    }

    /// A random value of a type, as a term; `None` if there is none or it is not known how.
    fn draw_value(&mut self, ty: &Type, rng: &mut Rng, depth: u32) -> Option<Term> {
        let make = |kind| Some(Term::new(kind, ty.clone(), Span::default()));
        if let Some(class) = self.program.known.arbitrary
            && matches!(ty.kind(), TypeKind::Nominal(..))
            && self.holds(&env::Constraint { class, args: vec![ty.clone()] })
        {
            let method = TermKind::Method { class, method: 0, type_args: vec![ty.clone()] };
            let head = Term::new(method, Type::function(Type::int(), ty.clone()), Span::default());
            let seed = Term::new(TermKind::Int(BigInt::from(random_int(rng))), Type::int(), Span::default());
            return make(TermKind::Call(Box::new(head), vec![seed]));
        }
        if ty.is_compact() {
            let size = ty.size().ok()?;
            if size == BigUint::ZERO {
                return None;
            }
            return make(TermKind::Code(random_below(rng, &size)));
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => make(random_scalar(*scalar, rng)?),
            TypeKind::Nominal(nominal, args) => {
                if depth > MAX_NOMINAL_DEPTH {
                    return None;
                }
                match nominal.body()? {
                    NominalBody::Abstract(_) => {
                        let inner = self.draw_value(&nominal.representation(args)?, rng, depth + 1)?;
                        make(TermKind::Reshape(Box::new(inner)))
                    }
                    NominalBody::Newtype(_) => {
                        let inner = self.draw_value(&nominal.newtype_definition(args)?, rng, depth + 1)?;
                        make(TermKind::Reshape(Box::new(inner)))
                    }
                    NominalBody::Struct(_) => {
                        let fields = nominal.struct_fields(args)?;
                        let types: Vec<Type> = fields.into_iter().map(|(_, ty)| ty).collect();
                        make(TermKind::Tuple(self.draw_values(&types, rng, depth + 1)?))
                    }
                    NominalBody::Variant(_) => {
                        let cases = nominal.variant_cases(args)?;
                        // Deep inside, cases without declared types end a list or tree.
                        let flat: Vec<usize> =
                            (0..cases.len()).filter(|&i| has_no_nominal(&cases[i].1)).collect();
                        let case = if depth + 2 > MAX_NOMINAL_DEPTH && !flat.is_empty() {
                            flat[rng.usize(..flat.len())]
                        } else {
                            rng.usize(..cases.len().max(1))
                        };
                        let argument = self.draw_value(&cases.get(case)?.1, rng, depth + 1)?;
                        make(TermKind::Inject(BigUint::from(case), Box::new(argument)))
                    }
                }
            }
            TypeKind::Sum(_) | TypeKind::Repeat(..) => {
                let count = match ty.kind() {
                    TypeKind::Sum(cases) => cases.len(),
                    TypeKind::Repeat(n, _) => n.as_unit_sum()?.to_usize()?,
                    _ => 0,
                };
                let first = rng.usize(..count.max(1));
                let cases = (0..count).take(MAX_PARTS).map(|i| BigUint::from((first + i) % count));
                let mut cases = cases.filter_map(|case| Some((ty.case_type(&case)?, case)));
                let (inner, case) = cases.find(|(inner, _)| !inner.is_void())?;
                let argument = self.draw_value(&inner, rng, depth)?;
                make(TermKind::Inject(case, Box::new(argument)))
            }
            TypeKind::Array(element, index) => {
                let count = index.size().ok()?.to_usize().filter(|count| *count <= MAX_PARTS)?;
                make(TermKind::Tuple(self.draw_values(&vec![element.clone(); count], rng, depth)?))
            }
            _ => {
                let parts = ty.components(MAX_PARTS)?;
                make(TermKind::Tuple(self.draw_values(&parts, rng, depth)?))
            }
        }
    }

    /// Draws a value of each type.
    fn draw_values(&mut self, types: &[Type], rng: &mut Rng, depth: u32) -> Option<Vec<Term>> {
        types.iter().map(|ty| self.draw_value(ty, rng, depth)).collect()
    }
}

/// Returns true if a type contains no declared type.
fn has_no_nominal(ty: &Type) -> bool {
    let mut flat = !matches!(ty.kind(), TypeKind::Nominal(..));
    ty.kind().for_each_child(&mut |child| flat = flat && has_no_nominal(child));
    flat
}

/// An integer: small as a rule, now and then anything.
fn random_int(rng: &mut Rng) -> i64 {
    match rng.u32(..10) {
        0 => rng.i64(..),
        1 => *rng.choice(&[0, 1, -1, i64::MAX, i64::MIN]).expect("a choice of five"),
        _ => rng.i64(-20..=20),
    }
}

/// Returns a random number below `size`.
fn random_below(rng: &mut Rng, size: &BigUint) -> BigUint {
    let digits: Vec<u32> = (0..size.bits() / 32 + 2).map(|_| rng.u32(..)).collect();
    BigUint::new(digits) % size
}

/// Returns a random literal of a scalar type.
fn random_scalar(scalar: Scalar, rng: &mut Rng) -> Option<TermKind> {
    if scalar.is_integer() {
        let n = BigInt::from(random_int(rng));
        return Some(TermKind::Int(match scalar.bounds() {
            Some((low, high)) => n.clamp(BigInt::from(low), BigInt::from(high)),
            None => n * i64::from(rng.i32(1..=1_000)) * i64::from(rng.i32(1..=1_000_000)),
        }));
    }
    if scalar.is_float() {
        // Halves and quarters are exact in every float; zero of both signs among them.
        let x = match rng.u32(..8) {
            0 => 0.0,
            1 => -0.0,
            2 => rng.i32(-1_000_000..=1_000_000) as f32,
            _ => rng.i32(-80..=80) as f32 / 4.0,
        };
        return Some(TermKind::Real(Rounded { double: f64::from(x), single: x }));
    }
    let letter =
        |rng: &mut Rng| *rng.choice(&['a', 'b', 'Z', ' ', 'é', '√', '0']).expect("a choice of seven");
    match scalar {
        Scalar::Char => Some(TermKind::Char(letter(rng))),
        Scalar::String => {
            let text: String = (0..rng.usize(..5)).map(|_| letter(rng)).collect();
            Some(TermKind::Str(text.into()))
        }
        _ => None,
    }
}
