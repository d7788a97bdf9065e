//! Core → code: types made concrete, slots and sizes computed.
//!
//! Takes a function and its type arguments; gives an [`Instance`]. Types of core may mention
//! variables; here each is replaced by its argument, so that the run computes no type.

use super::code::{
    Arm, Callee, Cases, CodeType, Instance, Kind, Node, PartStep, Pattern, PrimTypes, Statement,
    StatementKind, Store, StoreRoot, StoreStep,
};
use super::overrides::Overrides;
use super::tier_up::{Core, Place, Plain, TierUpSite, Whole};
use crate::core::last_use::copies_no_arrays;
use crate::core::prim::PrimClass;
use crate::core::{
    ClassId, ForRange, Function, FunctionId, LocalInfo, Num, Op, Pat, PatKind, Prim, Program, Root, Step,
    StepKind, Stmt, StmtKind, Term, TermKind,
};
use crate::hash::HashMap;
use crate::layout::{Layout, Layouts};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind, TypeVar};
use crate::value::{Class, Value};
use num_traits::ToPrimitive;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

/// Slots that take longer to copy than the evaluator takes for a short function.
pub(crate) const MUCH_TO_COPY: usize = 1 << 12;

/// What is needed while one body is specialized.
pub struct Specializer<'a> {
    /// Where methods are found.
    pub program: &'a Program,
    /// Layouts made so far.
    pub layouts: &'a Layouts,
    /// Types for the variables of the body.
    pub bindings: Arc<Bindings>,
    /// Sizes of the session, as they are now.
    pub session: Arc<Bindings>,
    /// The locals of the body.
    pub locals: &'a [LocalInfo],
    /// The same, once something has to keep them.
    pub kept: OnceLock<Arc<[LocalInfo]>>,
    /// Whether parts are marked that a faster executor may take over.
    pub sites: bool,
    /// What is specialized: parts that may be taken over are found in it.
    pub whole: Arc<Whole>,
    /// Terms specialized so far.
    pub terms: Cell<u32>,
    /// A variable that has no type yet: a size of the session before it is opened.
    pub unset: RefCell<Option<TypeVar>>,
}

/// Types for variables: those of a function for its parameters, and of each opening since then.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// The innermost.
    pub own: HashMap<u32, Type>,
    /// The others.
    pub outer: Option<Arc<Bindings>>,
}

impl Bindings {
    /// A type with its variables replaced, where they are bound.
    pub fn concrete(&self, ty: &Type) -> Type {
        if !ty.has_var() {
            return ty.clone();
        }
        let mut found = HashMap::default();
        ty.for_each_var(&mut |var| {
            if let Some(known) = self.get(var.id) {
                found.insert(var.id, known.clone());
            }
        });
        ty.substitute(&found)
    }

    fn get(&self, var: u32) -> Option<&Type> {
        let mut at = Some(self);
        while let Some(bindings) = at {
            if let Some(found) = bindings.own.get(&var) {
                return Some(found);
            }
            at = bindings.outer.as_deref();
        }
        None
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        // A block may open thousands of sizes, one inside the other: no recursion here.
        let mut next = self.outer.take();
        while let Some(mut bindings) = next.and_then(Arc::into_inner) {
            next = bindings.outer.take();
        }
    }
}

/// The instance of a function at these type arguments, where sizes of the session are bound as said.
/// Gives a size that it needs and that is not there, too.
pub fn instance(
    program: &Program,
    layouts: &Layouts,
    sizes: &Arc<Bindings>,
    id: FunctionId,
    function: &Arc<Function>,
    type_args: &[Type],
    sites: bool,
) -> (Instance, Option<TypeVar>) {
    let whole = Whole::new(Core::Function(function.clone()));
    let own = function.type_params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
    let bindings = Arc::new(Bindings { own, outer: None });
    let this =
        Specializer { bindings, ..Specializer::new(program, layouts, sizes, &function.locals, sites, whole) };
    let instance = Instance {
        name: function.name.clone(),
        function: id,
        type_args: type_args.to_vec(),
        locals: function.locals.len(),
        params: function.params.clone(),
        captures: function.captures.clone(),
        this: function.this,
        domain: this.layout(&function.domain),
        body: this.node(&function.body),
    };
    (instance, this.unset.take())
}

impl<'a> Specializer<'a> {
    /// For a body with these locals that has no variables of its own.
    pub fn new(
        program: &'a Program,
        layouts: &'a Layouts,
        session: &Arc<Bindings>,
        locals: &'a [LocalInfo],
        sites: bool,
        whole: Arc<Whole>,
    ) -> Specializer<'a> {
        Specializer {
            program,
            layouts,
            bindings: Arc::default(),
            session: session.clone(),
            locals,
            kept: OnceLock::new(),
            sites,
            whole,
            terms: Cell::new(0),
            unset: RefCell::default(),
        }
    }
}

impl Specializer<'_> {
    fn ty(&self, ty: &Type) -> Type {
        let ty = self.session.concrete(&self.bindings.concrete(ty));
        if ty.has_var() {
            ty.for_each_var(&mut |var| {
                self.unset.borrow_mut().get_or_insert_with(|| var.clone());
            });
        }
        ty
    }

    fn layout(&self, ty: &Type) -> Arc<Layout> {
        self.layouts.of(&self.ty(ty))
    }

    fn nodes(&self, terms: &[Term]) -> Vec<Node> {
        terms.iter().map(|t| self.node(t)).collect()
    }

    fn boxed(&self, term: &Term) -> Box<Node> {
        Box::new(self.node(term))
    }

    /// Whether a function reaches itself through the value that is called.
    fn knows_itself(&self, function: u32) -> bool {
        let function = self.program.functions.get(function as usize).and_then(Option::as_ref);
        function.is_some_and(|function| function.this.is_some())
    }

    fn shared(&self, local: u32) -> bool {
        self.locals[local as usize].shared
    }

    /// The code of a term.
    pub fn node(&self, term: &Term) -> Node {
        let first = self.terms.get();
        self.terms.set(first.saturating_add(1));
        let node = Node { kind: self.kind(term), span: term.span };
        let worth = self.sites
            && !self.only_moves(term, &node)
            && match &node.kind {
                Kind::Build(..) => true,
                Kind::Prim(prim, ..) if prim.class() == PrimClass::Fold => true,
                // What gives a function is taken over where that function is called.
                Kind::CallKnown(..) | Kind::Call(..) => {
                    !term.ty.is_unit() && !matches!(term.ty.kind(), TypeKind::Function(..))
                }
                _ => false,
            };
        if !worth {
            return node;
        }
        let weight = self.weight(term, &mut 200);
        let site = self.site(Place::of_term(term), first, Plain::Node(Box::new(node)), weight);
        Node { kind: Kind::Site(Box::new(site)), span: term.span }
    }

    /// Whether a call takes a large array and changes it: another executor would copy it. Its loops are
    /// parts of their own.
    fn only_moves(&self, term: &Term, node: &Node) -> bool {
        let Kind::CallKnown(callee, args) = &node.kind else { return false };
        let TermKind::Call(_, terms) = &term.kind else { return false };
        let large = |(node, term): (&Node, &Term)| {
            matches!(
                node.kind,
                Kind::Move(_) | Kind::MoveSlots(..) | Kind::MoveShared(_) | Kind::MoveGlobal(_)
            ) && self.layout(&term.ty).slots >= MUCH_TO_COPY
        };
        args.iter().zip(terms).any(large) && copies_no_arrays(self.program, callee.function)
    }

    /// A part that may be taken over, whose terms begin at one of those so far.
    fn site(&self, place: Place, first: u32, plain: Plain, weight: u64) -> TierUpSite {
        let locals = self.kept.get_or_init(|| Arc::from(self.locals)).clone();
        let (whole, bindings) = (self.whole.clone(), self.bindings.clone());
        TierUpSite::new(whole, place, first..self.terms.get(), plain, locals, bindings, weight)
    }

    /// Elements of the largest array that a term mentions, those of arrays in arrays counted; `left` bounds the search.
    fn weight(&self, term: &Term, left: &mut u32) -> u64 {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return 0;
        }
        let count = |ty: &Type| {
            let ty = self.session.concrete(&self.bindings.concrete(ty));
            if ty.has_var() { 0 } else { self.size(&ty).to_u64().unwrap_or(u64::MAX) }
        };
        let elements = |ty: &Type| {
            let (mut ty, mut all) = (ty.unfold(), 1u64);
            while let TypeKind::Array(element, index) = ty.kind() {
                all = all.saturating_mul(count(index));
                ty = element.unfold();
            }
            all
        };
        let mut weight = match (&term.kind, term.ty.kind()) {
            (TermKind::Build(clauses, body), _) => {
                clauses.iter().fold(elements(&body.ty), |n, (_, ty)| n.saturating_mul(count(ty)))
            }
            (_, TypeKind::Array(..)) => elements(&term.ty),
            _ => 0,
        };
        term.for_each_child(&mut |child| weight = weight.max(self.weight(child, left)));
        weight
    }

    fn kind(&self, term: &Term) -> Kind {
        match &term.kind {
            TermKind::Int(n) => Kind::Constant(match term.ty.as_scalar() {
                Some(Scalar::Int) => Value::int(n.to_i64().unwrap_or(0)),
                Some(Scalar::Fixed(fixed)) => Value::Word(fixed.encode(n.to_i128().unwrap_or(0))),
                _ => Value::bigint(n.clone()),
            }),
            TermKind::Real(x) if term.ty.as_scalar() == Some(Scalar::Single) => {
                Kind::Constant(Value::single(x.single))
            }
            TermKind::Real(x) => Kind::Constant(Value::real(x.double)),
            TermKind::Char(c) => Kind::Constant(Value::char(*c)),
            TermKind::Str(text) => Kind::Constant(Value::Str(text.clone())),
            TermKind::Code(n) => Kind::Constant(Value::code(Code::from(n))),
            TermKind::Local(local) if self.shared(*local) => Kind::Shared(*local),
            TermKind::Local(local) => Kind::Local(*local),
            TermKind::Global(global) => Kind::Global(*global),
            TermKind::Move(place) => self.moved(place),
            TermKind::Closure { function, type_args, captures } => {
                Kind::Closure(self.callee(*function, type_args), captures.clone())
            }
            TermKind::Method { class, method, type_args } => match self.method(*class, *method, type_args) {
                Some(callee) => Kind::Closure(callee, Vec::new()),
                None => Kind::NoInstance,
            },
            TermKind::Call(head, args) => match &head.kind {
                TermKind::Method { class, method, type_args } => {
                    let Some(callee) = self.method(*class, *method, type_args) else {
                        return Kind::NoInstance;
                    };
                    match self.plain_operator(&callee, args) {
                        Some(op) => self.operator(op, args),
                        None => Kind::CallKnown(callee, self.nodes(args)),
                    }
                }
                TermKind::Closure { function, type_args, captures }
                    if captures.is_empty() && !self.knows_itself(*function) =>
                {
                    Kind::CallKnown(self.callee(*function, type_args), self.nodes(args))
                }
                _ => Kind::Call(self.boxed(head), self.nodes(args)),
            },
            TermKind::Prim(prim, type_args, args) => {
                let types: Vec<Type> = type_args.iter().map(|t| self.ty(t)).collect();
                if let Some(answer) = self.program.type_query_answer(*prim, &types) {
                    return Kind::Constant(Value::bool(answer));
                }
                if let (Prim::TypeText, [ty]) = (prim, &types[..]) {
                    return Kind::Constant(Value::str(ty.to_string()));
                }
                let layout = types.first().map(|t| self.layouts.of(t));
                let own = match (prim, types.first()) {
                    (Prim::Print | Prim::Println | Prim::Str, Some(ty)) => {
                        Overrides::of(self.program, self.program.known.show, "show", ty)
                    }
                    _ => Overrides::default(),
                };
                let types = PrimTypes { args: types, layout, result: self.layout(&term.ty), own };
                Kind::Prim(*prim, Arc::new(types), self.nodes(args))
            }
            TermKind::Op(op, args) => self.operator(*op, args),
            TermKind::Tuple(parts) => {
                let parts = parts.iter().map(|p| (self.node(p), self.layout(&p.ty).slots)).collect();
                Kind::Tuple(parts, self.layout(&term.ty))
            }
            TermKind::Component(base, position) => {
                let whole = self.layout(&base.ty);
                let (start, part) = position
                    .to_usize()
                    .and_then(|i| whole.part(i))
                    .unwrap_or_else(|| (0, self.layout(&term.ty)));
                Kind::Slots(self.boxed(base), start, part.slots, whole.slots == part.slots)
            }
            TermKind::Index(array, index) => {
                let whole = self.layout(&array.ty);
                let element = self.layout(&term.ty).slots;
                Kind::Index(self.boxed(array), self.boxed(index), element, whole.slots == element)
            }
            TermKind::Build(clauses, body) => {
                let clauses = clauses.iter().map(|(local, ty)| (*local, self.size(ty))).collect();
                Kind::Build(clauses, self.boxed(body), self.layout(&body.ty), self.layout(&term.ty))
            }
            TermKind::Pack(parts) => Kind::Pack(self.layout(&term.ty), self.nodes(parts)),
            TermKind::Factor(base, i) => Kind::Factor(self.layout(&base.ty), self.boxed(base), Code::from(i)),
            TermKind::Digit(base, i) => Kind::Digit(self.layout(&base.ty), self.boxed(base), self.boxed(i)),
            TermKind::Inject(case, arg) => {
                Kind::Inject(self.cases(&term.ty), Code::from(case), self.boxed(arg))
            }
            TermKind::Reshape(inner) => self.reshape(inner, &term.ty),
            TermKind::ToCode(inner) => self.to_code(inner, &term.ty),
            TermKind::FromCode(inner) => {
                let ty = self.ty(&term.ty);
                let size = self.size(&ty).to_big();
                Kind::FromCode(scalar(&inner.ty), Arc::new(CodeType { ty, size }), self.boxed(inner))
            }
            TermKind::Convert(inner) => {
                let (from, to) = (scalar(&self.ty(&inner.ty)), scalar(&self.ty(&term.ty)));
                Kind::Convert(from, to, self.boxed(inner))
            }
            TermKind::If(c, a, b) => Kind::If(self.boxed(c), self.boxed(a), self.boxed(b)),
            TermKind::Match(scrutinee, arms) => {
                let arms = arms
                    .iter()
                    .map(|arm| Arm {
                        pattern: self.pattern(&arm.pattern),
                        guard: arm.guard.as_ref().map(|g| self.node(g)),
                        body: self.node(&arm.body),
                    })
                    .collect();
                Kind::Match(self.boxed(scrutinee), arms)
            }
            TermKind::Block(stmts, value) => match self.opening_block(stmts, value.as_deref()) {
                Some((stmts, value)) => Kind::Block(stmts, value.map(Box::new)),
                None => Kind::Block(self.plain(stmts), value.as_ref().map(|v| self.boxed(v))),
            },
            TermKind::PackSizes(sizes, inner) => {
                let sizes = sizes.iter().map(|size| (brought(&self.ty(size)), self.size(size))).collect();
                Kind::PackSizes(sizes, self.boxed(inner))
            }
            TermKind::Error => Kind::Block(Vec::new(), None),
        }
    }

    /// The last read of a place.
    fn moved(&self, place: &Term) -> Kind {
        match self.kind(place) {
            Kind::Local(local) => Kind::Move(local),
            Kind::Shared(local) => Kind::MoveShared(local),
            Kind::Global(global) => Kind::MoveGlobal(global),
            Kind::Slots(base, start, len, whole) => match base.kind {
                Kind::Local(local) => Kind::MoveSlots(local, start, len, whole),
                _ => Kind::Slots(base, start, len, whole),
            },
            other => other,
        }
    }

    /// The same storage at another type. Whatever was decided about the types while they had variables, it has to
    /// be true now: this is where a wrong verdict ends.
    fn reshape(&self, inner: &Term, to: &Type) -> Kind {
        let (from, to) = (self.ty(&inner.ty), self.ty(to));
        if self.layouts.of(&from).stored_like(&self.layouts.of(&to)) {
            return self.node(inner).kind;
        }
        Kind::Unlike(self.boxed(inner), Arc::new((from, to)))
    }

    /// The code of a value, which every value of its type has to have in the number type.
    fn to_code(&self, inner: &Term, to: &Type) -> Kind {
        let number = scalar(to);
        let ty = self.ty(&inner.ty);
        let size = self.size(&ty).to_big();
        if !number.holds_codes(&size) {
            let ty = CodeType { ty, size };
            return Kind::Uncoded(number, Arc::new(ty), self.boxed(inner));
        }
        Kind::ToCode(number, self.boxed(inner))
    }

    pub(super) fn size(&self, ty: &Type) -> Code {
        let layout = self.layout(ty);
        layout.compact().map_or(Code::ZERO, |c| c.size.clone())
    }

    fn callee(&self, function: u32, type_args: &[Type]) -> Arc<Callee> {
        let type_args = type_args.iter().map(|t| self.ty(t)).collect();
        Arc::new(Callee { function, type_args, instance: OnceLock::new() })
    }

    /// The function that a method is here.
    fn method(&self, class: ClassId, method: usize, type_args: &[Type]) -> Option<Arc<Callee>> {
        let types: Vec<Type> = type_args.iter().map(|t| self.ty(t)).collect();
        let (function, type_args) = self.program.implementation(class, method, &types)?;
        Some(Arc::new(Callee { function, type_args, instance: OnceLock::new() }))
    }

    /// The operator that a function is, if it does nothing but apply it to its parameters: `+` of
    /// `Add[int]` should cost what `+` costs.
    fn plain_operator(&self, callee: &Callee, args: &[Term]) -> Option<Op> {
        let function = self.program.functions.get(callee.function as usize)?.as_ref()?;
        let TermKind::Op(op, operands) = &function.body.kind else { return None };
        let plain = function.params.len() == args.len()
            && operands.len() == args.len()
            && operands
                .iter()
                .zip(&function.params)
                .all(|(o, p)| matches!(o.kind, TermKind::Local(local) if local == *p));
        plain.then_some(*op)
    }

    fn operator(&self, op: Op, args: &[Term]) -> Kind {
        let operand = args.first().map_or_else(Type::unit, |a| self.ty(&a.ty));
        match op {
            Op::Not if operand.is_bool() => Kind::Not(self.boxed(&args[0])),
            Op::Not | Op::And | Op::Or => {
                let size = self.size(&operand);
                let last = if size.is_zero() { size } else { size.sub(&Code::Small(1)) };
                Kind::Bits(op, last, self.nodes(args))
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let own = match op {
                    Op::Eq | Op::Ne => Overrides::of(self.program, self.program.known.eq, "==", &operand),
                    _ => Overrides::default(),
                };
                if !own.is_empty() {
                    let (a, b) = (self.boxed(&args[0]), self.boxed(&args[1]));
                    return Kind::OwnCompare(op, operand, Arc::new(own), a, b);
                }
                let layout = self.layouts.of(&operand);
                Kind::Compare(op, operand, layout, self.boxed(&args[0]), self.boxed(&args[1]))
            }
            Op::Neg(num)
            | Op::Add(num)
            | Op::Sub(num)
            | Op::Mul(num)
            | Op::Div(num)
            | Op::Rem(num)
            | Op::Pow(num) => {
                let modulus = if num == Num::Mod { Some(self.size(&operand)) } else { None };
                Kind::Arithmetic(op, num, modulus, self.nodes(args))
            }
        }
    }

    fn cases(&self, ty: &Type) -> Cases {
        Cases::of(self.layouts, &self.ty(ty))
    }

    fn pattern(&self, pat: &Pat) -> Pattern {
        let bind = |local: u32| {
            if self.shared(local) { Pattern::BindShared(local) } else { Pattern::Bind(local) }
        };
        match &pat.kind {
            PatKind::Wild => Pattern::Any,
            PatKind::Bind(local) => bind(*local),
            PatKind::As(inner, local) => Pattern::As(Box::new(self.pattern(inner)), Box::new(bind(*local))),
            PatKind::Int(n) => match pat.ty.as_scalar() {
                Some(Scalar::Int) => Pattern::Int(n.to_i64().unwrap_or(0)),
                Some(Scalar::Fixed(fixed)) => Pattern::Int(fixed.encode(n.to_i128().unwrap_or(0)) as i64),
                _ => Pattern::Bigint(n.clone()),
            },
            PatKind::Real(x) if pat.ty.as_scalar() == Some(Scalar::Single) => Pattern::Single(x.single),
            PatKind::Real(x) => Pattern::Real(x.double),
            PatKind::Char(c) => Pattern::Code(Code::from(u64::from(u32::from(*c)))),
            PatKind::Ints(low, high) => {
                let fixed = match pat.ty.as_scalar() {
                    Some(Scalar::Int) => None,
                    Some(Scalar::Fixed(fixed)) => Some(fixed),
                    _ => return Pattern::Bigints(low.clone(), high.clone()),
                };
                Pattern::Ints(fixed, low.to_i128().unwrap_or(0), high.to_i128().unwrap_or(0))
            }
            PatKind::Chars(low, high) => {
                let code = |c: char| Code::from(u64::from(u32::from(c)));
                Pattern::Chars(code(*low), code(*high))
            }
            PatKind::Or(parts) => Pattern::Or(parts.iter().map(|part| self.pattern(part)).collect()),
            PatKind::Str(text) => Pattern::Str(text.clone()),
            PatKind::Code(n) => Pattern::Code(Code::from(n)),
            PatKind::Tuple(parts) => {
                let whole = self.layout(&pat.ty);
                let parts = parts
                    .iter()
                    .enumerate()
                    .map(|(i, p)| {
                        let (start, layout) = whole.part(i).unwrap_or_else(|| (0, whole.clone()));
                        (start, layout.slots, self.pattern(p))
                    })
                    .collect();
                Pattern::Tuple(parts, whole.slots)
            }
            PatKind::Pack(parts) => {
                Pattern::Pack(self.layout(&pat.ty), parts.iter().map(|p| self.pattern(p)).collect())
            }
            // The slots are the same ones.
            PatKind::Reshape(inner) => self.pattern(inner),
            PatKind::Coarray(index, argument) => Pattern::Coarray(
                self.cases(&pat.ty),
                Box::new(self.pattern(index)),
                Box::new(self.pattern(argument)),
            ),
            PatKind::Case(case, inner) => Pattern::Case(
                self.cases(&pat.ty),
                Code::from(case),
                inner.as_ref().map(|p| Box::new(self.pattern(p))),
            ),
        }
    }

    /// The code of statements.
    pub fn statements(&self, stmts: &[Stmt]) -> Vec<Statement> {
        match self.opening_block(stmts, None) {
            Some((code, _)) => code,
            None => self.plain(stmts),
        }
    }

    /// The code of statements none of which opens sizes.
    pub(super) fn plain(&self, stmts: &[Stmt]) -> Vec<Statement> {
        stmts.iter().map(|s| self.one(s)).collect()
    }

    fn one(&self, stmt: &Stmt) -> Statement {
        let first = self.terms.get();
        let plain = Statement { kind: self.statement(stmt), span: stmt.span };
        let weight = match &plain.kind {
            StatementKind::ForAll(_, size, _) => size.to_u64().unwrap_or(u64::MAX),
            StatementKind::ForElements(_, _, _, count, _) => *count as u64,
            StatementKind::ForInts(..) | StatementKind::While(..) => 0,
            _ => return plain,
        };
        if !self.sites {
            return plain;
        }
        let plain = Plain::Statement(Box::new(plain));
        let site = self.site(Place::of_loop(stmt), first, plain, weight);
        Statement { kind: StatementKind::Site(Box::new(site)), span: stmt.span }
    }

    fn statement(&self, stmt: &Stmt) -> StatementKind {
        use StatementKind as S;
        match &stmt.kind {
            StmtKind::Let(pat, term) => S::Let(self.pattern(pat), self.node(term)),
            StmtKind::SetLocal(local, term) if self.shared(*local) => S::SetShared(*local, self.node(term)),
            StmtKind::SetLocal(local, term) => S::SetLocal(*local, self.node(term)),
            StmtKind::SetGlobal(global, term) => S::SetGlobal(*global, self.node(term)),
            StmtKind::Store { root, root_ty, path, value } => {
                S::Store(Box::new(self.store(*root, root_ty, path, value)))
            }
            StmtKind::Drop(locals) => S::Drop(locals.iter().copied().collect()),
            StmtKind::Expr(term) => S::Expr(self.node(term)),
            StmtKind::If(c, then, otherwise) => {
                S::If(self.node(c), self.statements(then), self.statements(otherwise))
            }
            StmtKind::Match(scrutinee, arms) => {
                let arms = arms
                    .iter()
                    .map(|(pat, guard, body)| {
                        (self.pattern(pat), guard.as_ref().map(|g| self.node(g)), self.statements(body))
                    })
                    .collect();
                S::Match(self.node(scrutinee), arms)
            }
            StmtKind::For(local, range, body) => {
                let body = self.statements(body);
                match range {
                    ForRange::All(ty) => S::ForAll(*local, self.size(ty), body),
                    ForRange::Ints { low, high, inclusive } => {
                        S::ForInts(*local, self.node(low), self.node(high), *inclusive, body)
                    }
                    ForRange::Elements(array) => {
                        // By the type as it is written: an array of one array is that array.
                        let ty = array.ty.unfold();
                        let TypeKind::Array(element, index) = ty.kind() else {
                            return S::Expr(self.node(array));
                        };
                        let count = self.size(index).to_usize().unwrap_or(usize::MAX);
                        S::ForElements(*local, self.node(array), self.layout(element).slots, count, body)
                    }
                }
            }
            StmtKind::While(c, body) => S::While(self.node(c), self.statements(body)),
            StmtKind::Break => S::Break,
            StmtKind::Continue => S::Continue,
            StmtKind::Return(term) => S::Return(self.node(term)),
            // Those that open sizes take the rest of their block along, and never come here.
            StmtKind::Open { value, .. } => S::Expr(self.node(value)),
            StmtKind::Require { left, right, .. } => {
                S::Require(self.size(left), self.size(right), super::error::equation(left, right))
            }
        }
    }

    fn store(&self, root: Root, root_ty: &Type, path: &[Step], value: &Term) -> Store {
        let whole = self.layout(root_ty);
        let mut steps = Vec::new();
        let mut parts = Vec::new();
        let mut place = whole.clone();
        for step in path {
            let from = self.layout(&step.from);
            let to = self.layout(&step.to);
            match &step.kind {
                StepKind::Component(i) => {
                    let start = i.to_usize().and_then(|i| from.part(i)).map_or(0, |(start, _)| start);
                    steps.push(StoreStep::Offset(start));
                    place = to;
                }
                StepKind::Index(index) => {
                    steps.push(StoreStep::Index(self.node(index), to.slots));
                    place = to;
                }
                // Nothing moves; inside a compact value, codes stay what they are.
                StepKind::Reshape if parts.is_empty() => place = to,
                StepKind::Reshape => {}
                // Inside a compact value the place stays the slot that holds it.
                StepKind::Factor(i) => parts.push((from, PartStep::Factor(Code::from(i)))),
                StepKind::Digit(index) => parts.push((from, PartStep::Digit(self.node(index)))),
            }
        }
        let root = match root {
            Root::Local(local) if self.shared(local) => StoreRoot::Shared(local),
            Root::Local(local) => StoreRoot::Local(local),
            Root::Global(global) => StoreRoot::Global(global),
        };
        let class = if place.slots == 0 { Class::U8 } else { place.class };
        Store { root, steps, parts, root_slots: whole.slots, place, class, value: self.node(value) }
    }
}

/// A size as a value brings it along: axes that are numbers are kept, everything else is one number, so that sizes
/// made of sizes do not grow.
fn brought(size: &Type) -> Type {
    const MOST_AXES: usize = 32;
    let axes = size.compact_factors(MOST_AXES);
    if axes.is_some_and(|axes| axes.iter().all(|axis| axis.as_unit_sum().is_some())) {
        return size.clone();
    }
    size.size().map_or_else(|_| size.clone(), Type::unit_sum)
}

fn scalar(ty: &Type) -> Scalar {
    ty.as_scalar().unwrap_or(Scalar::Int)
}
