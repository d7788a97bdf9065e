//! Type functions: types computed from types.
//!
//! `typefun narrow(V:VIS, W:VIS):VIS => typematch (V, W) with … endmatch` makes `narrow(A, B)` a
//! type that reduces as soon as its arguments determine an arm. [`Type::apply`] is the only
//! constructor of an application, and substitution goes through it, so that a type never holds an
//! application that could be reduced; one that cannot (yet) is *stuck* and stays, as
//! [`TypeKind::Apply`].
//!
//! **Rule.** The arms are tried in order. Each pattern matches the argument, is *apart* from it, or
//! neither. The first arm that is not apart decides: if it matches, the application is its result,
//! otherwise it is stuck. "Apart" means that no instance of the argument (its variables and holes
//! replaced in any way) matches. These are the closed type families of R. Eisenberg, D. Vytiniotis,
//! S. Peyton Jones and S. Weirich (*Closed type families with overlapping equations*, POPL 2014).
//! So a reduction that happens now would have happened after any substitution, with the same result
//! up to it: reduction commutes with substitution. Patterns match modulo the definitional
//! equalities: `A * B` matches `int ^ 2`, which is `int * int`.
//!
//! **Bounds.** Type functions may call themselves. Every outermost reduction has fuel: for the
//! nodes it builds, and for the nesting of its calls, which the stack has to hold. Without fuel,
//! the application stays as it was written, and [`TypeFun::reduce`] returns
//! [`Reduction::OutOfFuel`].

use super::table::{self, Application};
use super::{FiniteKind, Kind, MAX_TYPE_NODES, ProductForm, Type, TypeKind, TypeVar};
use crate::hash::HashMap;
use num_bigint::BigUint;
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A declared type function. Identity is the number.
#[derive(Clone)]
pub struct TypeFun(Arc<TypeFunDef>);

/// The declaration of a type function.
pub struct TypeFunDef {
    /// Unique in a session.
    pub id: u32,
    /// The name as declared.
    pub name: Arc<str>,
    /// Parameters with their kinds.
    pub params: Vec<TypeVar>,
    /// The kind of its results.
    pub kind: Kind,
    /// The declared kinds among those of the parameters and the result.
    pub kinds: Vec<FiniteKind>,
    /// The meaning, set once: a type function may mention itself.
    meaning: OnceLock<Meaning>,
}

/// The meaning of an application, in terms of the parameters.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// This type.
    Type(Type),
    /// The first arm that fits the subjects.
    Match(Vec<Type>, Vec<TypeArm>),
}

/// One arm of a `typematch`.
#[derive(Clone, Debug)]
pub struct TypeArm {
    /// The patterns, one for each subject: types in which `binds` are pattern variables.
    pub patterns: Vec<Type>,
    /// The variables of the patterns, those of `_` too.
    pub binds: Vec<TypeVar>,
    /// The result; the error type if the arm is a refusal.
    pub result: Type,
    /// `error "…"` in place of a result.
    pub refusal: Option<Refusal>,
}

/// The author's message for refused arguments: text with types in it, over variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The parts in order: a text, or a type.
    pub pieces: Vec<Result<Arc<str>, Type>>,
}

impl Refusal {
    /// Returns the text with types substituted for the variables.
    pub fn text(&self, bindings: &HashMap<u32, Type>) -> String {
        let piece = |piece: &Result<Arc<str>, Type>| match piece {
            Ok(text) => text.to_string(),
            Err(ty) => ty.substitute(bindings).to_string(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Returns the types in the text.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.pieces.iter().filter_map(|piece| piece.as_ref().err())
    }
}

/// The result of reducing an application.
#[derive(Clone, Debug, PartialEq)]
pub enum Reduction {
    /// The application equals this type.
    Reduced(Type),
    /// The arguments do not determine an arm yet.
    Stuck,
    /// No arm matches, whatever the variables in the arguments are.
    NoArm,
    /// The reduction exceeds its fuel and possibly diverges.
    OutOfFuel,
    /// The arm that matches refuses the arguments, with this message.
    Refused(String),
}

/// The relation of a pattern and a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// No instance of the type matches.
    Apart,
    /// Some instance may match.
    Undecided,
    /// The type matches.
    Matches,
}

/// Nodes that one outermost reduction may build, at most.
const NODE_FUEL: u32 = 30_000;

/// Nodes that the rows of one table may build, at most.
const TABLE_FUEL: u32 = 400_000;

/// Tables that one outermost reduction may build, at most.
const MAX_TABLES: u32 = 64;

/// The sum of the depths of results under construction at once, at most.
const MAX_CALL_DEPTH: u32 = 1_200;

thread_local! {
    /// The state of the outermost reduction in progress on this thread.
    static STATE: Cell<ReductionState> = const { Cell::new(ReductionState::START) };
}

/// Fuel used by a reduction.
#[derive(Clone, Copy)]
struct ReductionState {
    /// The sum of the depths of results under construction.
    depth: u32,
    /// The number of nodes built so far.
    used: u32,
    /// The number of nodes that may be built.
    fuel: u32,
    /// True if the fuel has run out.
    exhausted: bool,
    /// The number of tables built so far.
    tables: u32,
}

impl ReductionState {
    /// The state before a reduction.
    const START: ReductionState =
        ReductionState { depth: 0, used: 0, fuel: NODE_FUEL, exhausted: false, tables: 0 };
}

impl TypeFun {
    /// Declares a type function whose meaning is set later by [`TypeFun::define`].
    pub fn declare(
        id: u32,
        name: Arc<str>,
        params: Vec<TypeVar>,
        kind: Kind,
        kinds: Vec<FiniteKind>,
    ) -> TypeFun {
        TypeFun(Arc::new(TypeFunDef { id, name, params, kind, kinds, meaning: OnceLock::new() }))
    }

    /// Sets the meaning. Later calls have no effect.
    pub fn define(&self, meaning: Meaning) {
        let _ = self.0.meaning.set(meaning);
    }

    /// Returns the meaning; `None` while the declaration is being checked, or if that failed.
    pub fn meaning(&self) -> Option<&Meaning> {
        self.0.meaning.get()
    }

    /// Reduces the application to these arguments by one step, and its result where that is an
    /// application.
    pub fn reduce(&self, args: &[Type]) -> Reduction {
        let before = STATE.get();
        let outermost = before.depth == 0;
        if outermost {
            STATE.set(ReductionState {
                depth: 1,
                ..ReductionState { tables: before.tables, ..ReductionState::START }
            });
        }
        let reduction = self.step(args);
        let after = STATE.get();
        if outermost {
            STATE.set(ReductionState { tables: before.tables, ..ReductionState::START });
            if after.exhausted {
                return Reduction::OutOfFuel;
            }
        } else {
            STATE.set(ReductionState { depth: before.depth, ..after });
        }
        reduction
    }

    /// Performs one reduction step within the fuel.
    fn step(&self, args: &[Type]) -> Reduction {
        let state = STATE.get();
        let size = args.iter().fold(0u32, |sum, arg| sum.saturating_add(arg.nodes()));
        if state.exhausted || size > MAX_TYPE_NODES {
            return exhaust_fuel();
        }
        let Some(meaning) = self.meaning() else { return Reduction::Stuck };
        let mut bindings: HashMap<u32, Type> =
            self.params.iter().map(|p| p.id).zip(args.iter().cloned()).collect();
        let result = match meaning {
            Meaning::Type(ty) => ty,
            Meaning::Match(subjects, arms) => {
                let subjects: Vec<Type> = subjects.iter().map(|s| s.substitute(&bindings)).collect();
                match select_arm(arms, &subjects) {
                    Ok((arm, found)) => {
                        bindings.extend(found);
                        if let Some(refusal) = &arm.refusal {
                            return Reduction::Refused(refusal.text(&bindings));
                        }
                        &arm.result
                    }
                    Err(Reduction::Stuck) if !args.iter().any(|ty| ty.has_var() || ty.has_meta()) => {
                        // The arguments are ground, so what a subject lacks never becomes known.
                        return subjects.iter().find_map(failure).unwrap_or(Reduction::Stuck);
                    }
                    Err(reduction) => return reduction,
                }
            }
        };
        let state = STATE.get();
        let used = state.used.saturating_add(1).saturating_add(result.nodes());
        let depth = state.depth.saturating_add(1).saturating_add(result.depth());
        if used > state.fuel || depth > MAX_CALL_DEPTH {
            return exhaust_fuel();
        }
        STATE.set(ReductionState { depth, used, ..state });
        Reduction::Reduced(result.substitute(&bindings))
    }
}

/// Returns the reason why an application in a type has no result.
pub(super) fn failure(ty: &Type) -> Option<Reduction> {
    if !ty.has_apply() {
        return None;
    }
    if let TypeKind::Apply(application) = ty.kind()
        && let Some(why) = application.failure()
    {
        return Some(why.clone());
    }
    let mut found = None;
    ty.kind().for_each_child(&mut |child| {
        if found.is_none() {
            found = failure(child);
        }
    });
    found
}

/// Runs `work` with the fuel of a table; the depth of calls is still that of the stack. `None` if
/// the fuel runs out, or beyond [`MAX_TABLES`] tables within one outermost reduction.
pub(super) fn with_table_fuel<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    let before = STATE.get();
    if before.tables >= MAX_TABLES {
        return None;
    }
    STATE.set(ReductionState {
        depth: before.depth.max(1),
        used: 0,
        fuel: TABLE_FUEL,
        tables: MAX_TABLES,
        ..before
    });
    let done = work();
    let spent = STATE.get().exhausted;
    let tables = if before.depth == 0 { 0 } else { before.tables + 1 };
    STATE.set(ReductionState { tables, ..before });
    done.filter(|_| !spent)
}

/// Marks the fuel as exhausted.
fn exhaust_fuel() -> Reduction {
    STATE.set(ReductionState { exhausted: true, ..STATE.get() });
    Reduction::OutOfFuel
}

/// Returns the arm that decides, with the bindings of its variables.
fn select_arm<'a>(
    arms: &'a [TypeArm],
    subjects: &[Type],
) -> Result<(&'a TypeArm, HashMap<u32, Type>), Reduction> {
    for arm in arms {
        match arm.fit(subjects) {
            (Fit::Matches, found) => return Ok((arm, found)),
            (Fit::Undecided, _) => return Err(Reduction::Stuck),
            (Fit::Apart, _) => {}
        }
    }
    Err(Reduction::NoArm)
}

impl TypeArm {
    /// Returns the relation of the patterns to the subjects, and the bindings of their variables.
    pub fn fit(&self, subjects: &[Type]) -> (Fit, HashMap<u32, Type>) {
        let mut matcher = Matcher { binds: &self.binds, found: HashMap::default() };
        let pairs = self.patterns.iter().zip(subjects);
        let fit = least_fit(pairs.map(|(pattern, subject)| matcher.fit(pattern, subject)));
        (fit, matcher.found)
    }
}

/// Returns the least of several relations: a type that is apart in one part is apart.
fn least_fit(fits: impl Iterator<Item = Fit>) -> Fit {
    let mut least = Fit::Matches;
    for fit in fits {
        least = least.min(fit);
        if least == Fit::Apart {
            break;
        }
    }
    least
}

/// The state of matching the patterns of one arm.
struct Matcher<'a> {
    /// The pattern variables.
    binds: &'a [TypeVar],
    /// The types bound to them so far.
    found: HashMap<u32, Type>,
}

impl Matcher<'_> {
    /// Matches one pattern against one type.
    fn fit(&mut self, pattern: &Type, subject: &Type) -> Fit {
        use TypeKind as K;
        if let K::Var(var) = pattern.kind()
            && self.binds.contains(var)
        {
            return self.bind(var, subject);
        }
        match (pattern.kind(), subject.kind()) {
            (_, K::Error) => Fit::Undecided,
            (K::Rest(list), _) if pattern != subject => self.fit_product(list, subject),
            (K::List(_, ps, Some(end)), K::List(form, ..)) => {
                let Some((ss, rest)) = subject.list_prefix() else { return Fit::Undecided };
                let (first, more) = ss.split_at(ps.len().min(ss.len()));
                let firsts = least_fit(ps.iter().zip(first).map(|(p, s)| self.fit(p, s)));
                if first.len() < ps.len() {
                    // The remaining components may become known later.
                    return if rest.is_some() { firsts.min(Fit::Undecided) } else { Fit::Apart };
                }
                if more.is_empty() && rest.is_none() && *form == ProductForm::Tuple {
                    return Fit::Apart;
                }
                firsts.min(self.fit(end, &Type::list(*form, more.to_vec(), rest)))
            }
            (form, K::Var(_) | K::Meta(_) | K::Apply(..) | K::Rest(_)) => {
                if pattern == subject {
                    Fit::Matches
                } else if kind_admits_form(form, subject.kind_of()) {
                    Fit::Undecided
                } else {
                    Fit::Apart
                }
            }
            (K::Product(ps), K::Product(ss))
            | (K::Sum(ps), K::Sum(ss))
            | (K::CompactProduct(ps), K::CompactProduct(ss))
            | (K::CompactSum(ps), K::CompactSum(ss))
                if ps.len() == ss.len() =>
            {
                self.pairs(ps, ss)
            }
            (K::Array(p, i), K::Array(t, j)) | (K::CompactPower(p, i), K::CompactPower(t, j)) => {
                self.fit(p, t).min(self.fit(i, j))
            }
            (K::Function(p, q), K::Function(t, u)) => self.fit(p, t).min(self.fit(q, u)),
            (K::Procedure(p), K::Procedure(t)) => self.fit(p, t),
            (K::Repeat(n, p), K::Repeat(m, t)) => self.fit(n, m).min(self.fit(p, t)),
            (K::Record(ps), K::Record(ss)) if ps.len() == ss.len() => {
                if ps.iter().zip(ss).any(|((n, _), (m, _))| n != m) {
                    return Fit::Apart;
                }
                least_fit(ps.iter().zip(ss).map(|((_, p), (_, s))| self.fit(p, s)))
            }
            (K::Nominal(n, ps), K::Nominal(m, ss)) if n == m => self.pairs(ps, ss),
            (K::Triangle(a, p), K::Triangle(b, s)) if a == b => self.fit(p, s),
            (K::Placed(p, r), K::Placed(t, s)) => self.fit(p, t).min(self.fit(r, s)),
            // A product in the pattern is a power in the subject.
            (K::Product(ps), K::Array(t, i)) | (K::CompactProduct(ps), K::CompactPower(t, i)) => {
                let count = count_fits(ps.len(), i);
                count.min(least_fit(ps.iter().map(|p| self.fit(p, t))))
            }
            (K::Sum(ps), K::Repeat(n, t)) => {
                let count = count_fits(ps.len(), n);
                count.min(least_fit(ps.iter().map(|p| self.fit(p, t))))
            }
            (K::Sum(ps), K::UnitSum(n)) if *n == BigUint::from(ps.len()) => {
                least_fit(ps.iter().map(|p| self.fit(p, &Type::unit())))
            }
            (K::Repeat(n, p), K::UnitSum(_)) if subject.is_at_least_two() => {
                self.fit(n, subject).min(self.fit(p, &Type::unit()))
            }
            // A power in the pattern: the parts of the subject may become equal.
            (K::Array(p, i), K::Product(ss)) | (K::CompactPower(p, i), K::CompactProduct(ss)) => {
                let count = self.fit(i, &Type::unit_sum(ss.len()));
                self.fit_equal_parts(subject, count, p, ss)
            }
            (K::Repeat(n, p), K::Sum(ss)) => {
                let count = self.fit(n, &Type::unit_sum(ss.len()));
                self.fit_equal_parts(subject, count, p, ss)
            }
            (K::UnitSum(n), K::Sum(ss)) if *n == BigUint::from(ss.len()) => {
                self.fit_equal_parts(subject, Fit::Matches, &Type::unit(), ss)
            }
            (K::UnitSum(_), K::Repeat(m, t)) => {
                let count = self.fit(pattern, m);
                self.fit_equal_parts(subject, count, &Type::unit(), std::slice::from_ref(t))
            }
            _ if pattern == subject => Fit::Matches,
            _ => Fit::Apart,
        }
    }

    /// Matches the product of a list against a type.
    fn fit_product(&mut self, list: &Type, subject: &Type) -> Fit {
        use TypeKind as K;
        let Some(form) = list.list_form() else { return Fit::Undecided };
        if let Some(found) = subject.as_list(form) {
            return self.fit(list, &found);
        }
        match (form, subject.kind()) {
            (_, K::Var(_) | K::Meta(_) | K::Apply(..) | K::Rest(_))
                if subject.kind_of().meet(form.kind()).is_some() =>
            {
                Fit::Undecided
            }
            // A number of components that is not known.
            (ProductForm::Tuple, K::Array(_, count)) | (ProductForm::Compact, K::CompactPower(_, count))
                if matches!(count.kind(), K::Var(_) | K::Meta(_) | K::Apply(..) | K::Rest(_)) =>
            {
                Fit::Undecided
            }
            _ => Fit::Apart,
        }
    }

    /// Matches patterns against types, pair by pair.
    fn pairs(&mut self, patterns: &[Type], subjects: &[Type]) -> Fit {
        least_fit(patterns.iter().zip(subjects).map(|(p, s)| self.fit(p, s)))
    }

    /// Binds a pattern variable; nonlinear patterns compare with the earlier binding.
    fn bind(&mut self, var: &TypeVar, subject: &Type) -> Fit {
        if !subject.has_kind(var.kind) {
            let possible = may_change(subject) && subject.kind_of().meet(var.kind).is_some();
            return if possible { Fit::Undecided } else { Fit::Apart };
        }
        match self.found.get(&var.id) {
            None => {
                self.found.insert(var.id, subject.clone());
                Fit::Matches
            }
            Some(known) if known == subject => Fit::Matches,
            Some(known) if may_change(known) || may_change(subject) => Fit::Undecided,
            Some(_) => Fit::Apart,
        }
    }

    /// Matches parts of a subject that are not all equal now against one pattern for each of them.
    fn fit_equal_parts(&mut self, subject: &Type, count: Fit, pattern: &Type, parts: &[Type]) -> Fit {
        if !may_change(subject) {
            return Fit::Apart;
        }
        count.min(least_fit(parts.iter().map(|part| self.fit(pattern, part)))).min(Fit::Undecided)
    }
}

/// Returns true if a type may change when variables become known.
fn may_change(ty: &Type) -> bool {
    ty.has_var() || ty.has_meta() || ty.has_apply()
}

/// Matches a number of components against an index type.
fn count_fits(count: usize, index: &Type) -> Fit {
    match index.kind() {
        TypeKind::UnitSum(n) if *n == BigUint::from(count) => Fit::Matches,
        TypeKind::Var(_) | TypeKind::Meta(_) | TypeKind::Apply(..) | TypeKind::Rest(_) | TypeKind::Error => {
            Fit::Undecided
        }
        _ => Fit::Apart,
    }
}

/// Returns true if a type of this kind can have this form.
fn kind_admits_form(form: &TypeKind, kind: Kind) -> bool {
    use TypeKind as K;
    match form {
        K::Scalar(_)
        | K::Product(_)
        | K::Array(..)
        | K::Function(..)
        | K::Procedure(_)
        | K::Record(_)
        | K::Exists(..) => matches!(kind, Kind::Type | Kind::Spread),
        K::Placed(..) => kind == Kind::Spread,
        K::Places(set) if set.count() == 1 => !kind.is_finite() && kind != Kind::UnitSum,
        K::Places(_) => matches!(kind, Kind::Places | Kind::Compact | Kind::Type | Kind::Spread),
        K::CompactProduct(_) | K::CompactSum(_) | K::CompactPower(..) | K::Triangle(..) => {
            matches!(kind, Kind::Compact | Kind::Type | Kind::Spread)
        }
        K::Nominal(nominal, _) => nominal.kind.is_subkind_of(kind),
        K::Member(member) => member.kind.kind() == kind,
        K::List(form, ..) => kind == Kind::List(*form),
        K::Rest(list) => list.list_form().is_some_and(|form| form.kind().is_subkind_of(kind)),
        // `A + B` is `2` where both are `1`.
        K::UnitSum(_) | K::Sum(_) | K::Repeat(..) => !kind.is_finite(),
        K::Var(_) | K::Meta(_) | K::Apply(..) | K::Error => true,
    }
}

impl Type {
    /// Applies a type function: returns the reduct, or the stuck application.
    pub fn apply(fun: TypeFun, args: Vec<Type>) -> Type {
        if args.iter().any(Type::is_error) {
            return Type::error();
        }
        match fun.reduce(&args) {
            Reduction::Reduced(ty) => ty,
            Reduction::Stuck => table::reduce_by_table(fun, args),
            why => Type::new(TypeKind::Apply(Application::with_failure(fun, args, why))),
        }
    }

    /// Returns the first stuck application in the type for which `which` holds, outermost first.
    pub fn find_application(&self, which: &mut dyn FnMut(&TypeFun, &[Type]) -> bool) -> Option<Type> {
        if !self.has_apply() {
            return None;
        }
        if let TypeKind::Apply(application) = self.kind()
            && which(&application.fun, &application.args)
        {
            return Some(self.clone());
        }
        let mut found = None;
        self.kind().for_each_child(&mut |child| {
            if found.is_none() {
                found = child.find_application(which);
            }
        });
        found
    }
}

impl std::ops::Deref for TypeFun {
    type Target = TypeFunDef;
    fn deref(&self) -> &TypeFunDef {
        &self.0
    }
}
impl PartialEq for TypeFun {
    fn eq(&self, other: &TypeFun) -> bool {
        self.id == other.id
    }
}
impl Eq for TypeFun {}
impl Hash for TypeFun {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
impl fmt::Debug for TypeFun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.id)
    }
}
