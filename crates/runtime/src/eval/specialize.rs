//! Specialization: core to code at concrete types, with slots and sizes computed.
//!
//! Takes a function and its type arguments; gives an [`Instance`]. Type variables in core are
//! replaced by their arguments here, so that no type is computed while code runs.

use super::bindings::Bindings;
use super::code::{
    Arm, Callee, CodeType, Instance, Node, NodeKind, PartStep, Pattern, PrimTypes, Statement, StatementKind,
    Store, StoreRoot, StoreStep, SumRepresentation,
};
use super::error::format_equation;
use super::existential::{Continuation, ContinuationCode, OpenCode, SizeSource};
use super::overrides::Overrides;
use super::tier_up::{
    CoreAddress, CoreFragment, CoreRoot, EAGER_ELEMENTS, Interpreted, TierUpSite, loop_rounds,
};
use crate::core::free_variables::{may_have_effects, may_recur_with_effects};
use crate::core::last_use::copies_no_arrays;
use crate::core::prim::{PrimClass, type_answer};
use crate::core::{
    ClassId, ForRange, Function, FunctionId, LocalId, LocalInfo, Num, Op, Pat, PatKind, Prim, Program, Root,
    Step, StepKind, Stmt, StmtKind, Term, TermKind,
};
use crate::layout::{Layout, Layouts};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind, TypeVar};
use crate::value::{Class, Value};
use num_traits::ToPrimitive;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, OnceLock};

/// The number of slots whose copy takes longer than the evaluation of a short function.
pub(crate) const LARGE_COPY_SLOTS: usize = 1 << 12;

/// The number of elements of an array from which a term is compiled for sizes that change all the
/// time: to interpret them once takes as long as to compile it.
const ELEMENTS_PER_CHANGING_SIZE: u64 = 16_000;

/// The number of terms in which the largest array that a region mentions is looked for.
const MAX_WEIGHED_TERMS: u32 = 200;

/// The context of the specialization of one body.
pub struct Specializer<'a> {
    /// The program, for methods and functions.
    pub program: &'a Program,
    /// The cache of layouts.
    pub layouts: &'a Layouts,
    /// The types of the type variables of the body.
    pub bindings: Arc<Bindings>,
    /// The sizes that the session has opened.
    pub session: Arc<Bindings>,
    /// The locals of the body.
    pub locals: &'a [LocalInfo],
    /// A shared copy of the locals, made when a site or an opening needs one.
    pub shared_locals: OnceLock<Arc<[LocalInfo]>>,
    /// True if sites are made for terms and loops that may be compiled.
    pub mark_sites: bool,
    /// The sizes of an opening that change all the time, if there are some.
    pub changing_sizes: Vec<TypeVar>,
    /// The core that is specialized. Sites refer to parts of it.
    pub fragment: Arc<CoreFragment>,
    /// The number of terms specialized so far.
    pub term_count: Cell<u32>,
    /// A type variable without a type: a size of the session before it is opened.
    pub unbound: RefCell<Option<TypeVar>>,
}

/// Specializes a function at type arguments. Also returns an unbound size of the session that the
/// function needs, if there is one.
pub fn specialize_function(
    program: &Program,
    layouts: &Layouts,
    sizes: &Arc<Bindings>,
    id: FunctionId,
    function: &Arc<Function>,
    type_args: &[Type],
    sites: bool,
) -> (Instance, Option<TypeVar>) {
    let whole = CoreFragment::new(CoreRoot::Function(function.clone()));
    let own = function.type_params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
    let bindings = Arc::new(Bindings { types: own, outer: None });
    let this =
        Specializer { bindings, ..Specializer::new(program, layouts, sizes, &function.locals, sites, whole) };
    let mut body = this.node(&function.body);
    if sites && may_recur_with_effects(program, id, function) {
        let weight = this.largest_array_elements(&function.body, &mut MAX_WEIGHED_TERMS.clone());
        let span = body.span;
        let site = this.site(CoreAddress::Call(id), 0, Interpreted::Node(Box::new(body)), weight);
        body = Node { kind: NodeKind::TierUp(Box::new(site)), span };
    }
    let plain = function.captures.is_empty() && function.this.is_none();
    let instance = Instance {
        function: id,
        type_args: type_args.to_vec(),
        locals: function.locals.len(),
        params: function.params.clone(),
        captures: function.captures.clone(),
        this: function.this,
        domain: this.layout(&function.domain),
        forwards: plain && Instance::is_forwarding(&body, &function.params),
        body,
    };
    (instance, this.unbound.take())
}

impl<'a> Specializer<'a> {
    /// Creates a specializer for a body with these locals and without type variables of its own.
    pub fn new(
        program: &'a Program,
        layouts: &'a Layouts,
        session: &Arc<Bindings>,
        locals: &'a [LocalInfo],
        sites: bool,
        whole: Arc<CoreFragment>,
    ) -> Specializer<'a> {
        Specializer {
            program,
            layouts,
            bindings: Arc::default(),
            session: session.clone(),
            locals,
            shared_locals: OnceLock::new(),
            mark_sites: sites,
            changing_sizes: Vec::new(),
            fragment: whole,
            term_count: Cell::new(0),
            unbound: RefCell::default(),
        }
    }
}

impl Specializer<'_> {
    /// Returns a type with its variables replaced, and records a variable that is unbound.
    fn concrete(&self, ty: &Type) -> Type {
        let ty = self.session.concrete(&self.bindings.concrete(ty));
        if ty.has_var() {
            ty.for_each_var(&mut |var| {
                self.unbound.borrow_mut().get_or_insert_with(|| var.clone());
            });
        }
        ty
    }

    /// Returns the layout of a type.
    fn layout(&self, ty: &Type) -> Arc<Layout> {
        self.layouts.of(&self.concrete(ty))
    }

    /// Returns the first slot and the layout of component `i` of a value with layout `whole`. A
    /// product of which one component is left is that component.
    fn component(&self, whole: &Arc<Layout>, i: Option<usize>, ty: &Type) -> (usize, Arc<Layout>) {
        match i.and_then(|i| whole.part(i)) {
            Some(part) => part,
            None if i == Some(0) && whole.stored_like(&self.layout(ty)) => (0, whole.clone()),
            None => self.placeholder((0, whole.clone()), "a product has this component"),
        }
    }

    /// Returns the number type that a type is.
    fn number_type(&self, ty: &Type) -> Scalar {
        match self.concrete(ty).as_scalar() {
            Some(scalar) => scalar,
            None => self.placeholder(Scalar::Int, "a conversion is between number types"),
        }
    }

    /// Returns a placeholder where a size has no value yet: the code is then refused before it
    /// runs. Any other cause is a bug.
    fn placeholder<T>(&self, value: T, expected: &str) -> T {
        assert!(self.unbound.borrow().is_some(), "{expected}");
        value
    }

    /// Specializes terms.
    fn nodes(&self, terms: &[Term]) -> Vec<Node> {
        terms.iter().map(|t| self.node(t)).collect()
    }

    /// Specializes a term into a box.
    fn boxed(&self, term: &Term) -> Box<Node> {
        Box::new(self.node(term))
    }

    /// Returns the answer of a query about concrete types; `None` for other primitives.
    fn type_answer(&self, prim: Prim, types: &[Type]) -> Option<bool> {
        self.program.type_query_answer(prim, types).or_else(|| type_answer(prim, types))
    }

    /// Returns true if a function refers to itself through the called value.
    fn is_self_referential(&self, function: FunctionId) -> bool {
        let function = self.program.functions.get(function.index()).and_then(Option::as_ref);
        function.is_some_and(|function| function.this.is_some())
    }

    /// Returns true if a local is stored in a cell.
    fn is_shared(&self, local: LocalId) -> bool {
        self.locals[local.index()].shared
    }

    /// Specializes a term.
    pub fn node(&self, term: &Term) -> Node {
        // Where a question about types is answered, the other branch is never run.
        if let TermKind::If(condition, then, otherwise) = &term.kind
            && let TermKind::Prim(prim, type_args, _) = &condition.kind
            && prim.class() == PrimClass::TypeQuery
            && let types = type_args.iter().map(|t| self.concrete(t)).collect::<Vec<Type>>()
            && let Some(answer) = self.type_answer(*prim, &types)
        {
            return self.node(if answer { then } else { otherwise });
        }
        let first = self.term_count.get();
        self.term_count.set(first.saturating_add(1));
        let node = Node { kind: self.node_kind(term), span: term.span };
        let worth = self.mark_sites
            && !self.is_in_place_update(term, &node)
            && match &node.kind {
                NodeKind::Build(..) => true,
                NodeKind::Prim(prim, ..) if prim.class() == PrimClass::Fold => true,
                // A call that returns a function is compiled where that function is called.
                NodeKind::CallKnown(..) | NodeKind::Call(..) => {
                    !term.ty.is_unit() && !matches!(term.ty.kind(), TypeKind::Function(..))
                }
                // Pointwise arithmetic binds its operands: what makes one is fused with it.
                NodeKind::Block(stmts, Some(value)) => is_fusible(stmts, value),
                _ => false,
            };
        if !worth {
            return node;
        }
        let mut weight = self.largest_array_elements(term, &mut MAX_WEIGHED_TERMS.clone());
        if !self.changing_sizes.is_empty() {
            weight /= ELEMENTS_PER_CHANGING_SIZE / EAGER_ELEMENTS;
        }
        let site = self.site(CoreAddress::of_term(term), first, Interpreted::Node(Box::new(node)), weight);
        Node { kind: NodeKind::TierUp(Box::new(site)), span: term.span }
    }

    /// Returns true if a call moves a large array into a function that only stores into it: a
    /// compiled call would copy the array. Loops inside the function are sites of their own.
    fn is_in_place_update(&self, term: &Term, node: &Node) -> bool {
        let NodeKind::CallKnown(callee, args) = &node.kind else { return false };
        let TermKind::Call(_, terms) = &term.kind else { return false };
        let large = |(node, term): (&Node, &Term)| {
            matches!(
                node.kind,
                NodeKind::Move(_)
                    | NodeKind::MoveSlots(..)
                    | NodeKind::MoveShared(_)
                    | NodeKind::MoveGlobal(_)
            ) && self.layout(&term.ty).slots >= LARGE_COPY_SLOTS
        };
        args.iter().zip(terms).any(large) && copies_no_arrays(self.program, callee.function)
    }

    /// Makes a site whose terms are those from number `first` on.
    fn site(&self, place: CoreAddress, first: u32, plain: Interpreted, weight: u64) -> TierUpSite {
        let locals = self.shared_locals.get_or_init(|| Arc::from(self.locals)).clone();
        let (whole, bindings) = (self.fragment.clone(), self.bindings.clone());
        TierUpSite::new(whole, place, first..self.term_count.get(), plain, locals, bindings, weight)
    }

    /// Returns the number of elements of the largest array that a term mentions, elements of nested
    /// arrays included; of sizes that change all the time, if there are some. `left` bounds the
    /// search.
    fn largest_array_elements(&self, term: &Term, left: &mut u32) -> u64 {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return 0;
        }
        let changes = |ty: &Type| self.changing_sizes.iter().any(|size| ty.mentions(size));
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
            _ if !self.changing_sizes.is_empty() && !changes(&term.ty) => 0,
            (TermKind::Build(clauses, body), _) => {
                clauses.iter().fold(elements(&body.ty), |n, (_, ty)| n.saturating_mul(count(ty)))
            }
            (_, TypeKind::Array(..)) => elements(&term.ty),
            _ => 0,
        };
        term.for_each_child(&mut |child| weight = weight.max(self.largest_array_elements(child, left)));
        weight
    }

    /// Specializes a term without making a site of it.
    fn node_kind(&self, term: &Term) -> NodeKind {
        match &term.kind {
            TermKind::Int(n) => NodeKind::Constant(match term.ty.as_scalar() {
                Some(Scalar::Int) => Value::int(n.to_i64().expect(LITERAL_FITS)),
                Some(Scalar::Fixed(fixed)) => Value::Word(fixed.encode(n.to_i128().expect(LITERAL_FITS))),
                _ => Value::bigint(n.clone()),
            }),
            TermKind::Real(x) if term.ty.as_scalar() == Some(Scalar::Single) => {
                NodeKind::Constant(Value::single(x.single))
            }
            TermKind::Real(x) => NodeKind::Constant(Value::real(x.double)),
            TermKind::Char(c) => NodeKind::Constant(Value::char(*c)),
            TermKind::Str(text) => NodeKind::Constant(Value::str(text.clone())),
            TermKind::Code(n) => NodeKind::Constant(Value::code(Code::from(n))),
            TermKind::Local(local) if self.is_shared(*local) => NodeKind::Shared(*local),
            TermKind::Local(local) => NodeKind::Local(*local),
            TermKind::Global(global) => NodeKind::Global(*global),
            TermKind::Move(place) => self.last_read(place),
            TermKind::Closure { function, type_args, captures } => {
                NodeKind::Closure(self.callee(*function, type_args), captures.clone())
            }
            TermKind::Method { class, method, type_args } => match self.method(*class, *method, type_args) {
                Some(callee) => NodeKind::Closure(callee, Vec::new()),
                None => NodeKind::MissingInstance,
            },
            TermKind::Call(head, args) => match &head.kind {
                TermKind::Method { class, method, type_args } => {
                    let Some(callee) = self.method(*class, *method, type_args) else {
                        return NodeKind::MissingInstance;
                    };
                    match self.inlined_operator(&callee, args) {
                        Some(op) => self.operator(op, args),
                        None => NodeKind::CallKnown(callee, self.nodes(args)),
                    }
                }
                TermKind::Closure { function, type_args, captures }
                    if captures.is_empty() && !self.is_self_referential(*function) =>
                {
                    let callee = self.callee(*function, type_args);
                    match self.inlined_container(&callee, args, &term.ty) {
                        Some(container) => container,
                        None => NodeKind::CallKnown(callee, self.nodes(args)),
                    }
                }
                _ => NodeKind::Call(self.boxed(head), self.nodes(args)),
            },
            TermKind::Prim(prim, type_args, args) => {
                let types: Vec<Type> = type_args.iter().map(|t| self.concrete(t)).collect();
                if let Some(answer) = self.type_answer(*prim, &types) {
                    return NodeKind::Constant(Value::bool(answer));
                }
                if let (Prim::TypeText, [ty]) = (prim, &types[..]) {
                    return NodeKind::Constant(Value::str(ty.to_string()));
                }
                let layout = types.first().map(|t| self.layouts.of(t));
                let own = match (prim, types.first()) {
                    (Prim::Print | Prim::Println | Prim::Str, Some(ty)) => {
                        Overrides::of(self.program, self.program.known.show, "show", ty)
                    }
                    _ => Overrides::default(),
                };
                let (result, entry) = (self.layout(&term.ty), OnceLock::new());
                let types = PrimTypes { args: types, layout, result, entry, overrides: own };
                let (types, args) = (Arc::new(types), self.nodes(args));
                match prim.names_places() {
                    true => NodeKind::Communicate(*prim, types, args),
                    false => NodeKind::Prim(*prim, types, args),
                }
            }
            TermKind::Op(op, args) => self.operator(*op, args),
            TermKind::Tuple(parts) => {
                let parts = parts.iter().map(|p| (self.node(p), self.layout(&p.ty).slots)).collect();
                NodeKind::Tuple(parts, self.layout(&term.ty))
            }
            TermKind::Component(base, position) => {
                let whole = self.layout(&base.ty);
                let (start, part) = self.component(&whole, position.to_usize(), &term.ty);
                NodeKind::Slots(self.boxed(base), start, part.slots, whole.slots == part.slots)
            }
            TermKind::Index(array, index) => {
                let whole = self.layout(&array.ty);
                let element = self.layout(&term.ty).slots;
                NodeKind::Index(self.boxed(array), self.boxed(index), element, whole.slots == element)
            }
            // Units take no storage and no time, however many there are: 2^128 mark the number of a
            // key.
            TermKind::Build(_, body) if matches!(body.kind, TermKind::Code(_)) && body.ty.is_unit() => {
                NodeKind::Constant(Value::UNIT)
            }
            TermKind::Build(clauses, body) => {
                let clauses = clauses.iter().map(|(local, ty)| (*local, self.size(ty))).collect();
                NodeKind::Build(clauses, self.boxed(body), self.layout(&body.ty), self.layout(&term.ty))
            }
            TermKind::Pack(parts) => NodeKind::Pack(self.layout(&term.ty), self.nodes(parts)),
            TermKind::Factor(base, i) => {
                NodeKind::Factor(self.layout(&base.ty), self.boxed(base), Code::from(i))
            }
            TermKind::Digit(base, i) => {
                NodeKind::Digit(self.layout(&base.ty), self.boxed(base), self.boxed(i))
            }
            TermKind::Inject(case, arg) => {
                NodeKind::Inject(self.sum_representation(&term.ty), Code::from(case), self.boxed(arg))
            }
            TermKind::Reshape(inner) => self.reshape(inner, &term.ty),
            TermKind::At(_, body) => NodeKind::AtPlace(self.boxed(body)),
            TermKind::Here(_) | TermKind::Restrict(_) => {
                unreachable!("a function is projected before it is specialized")
            }
            TermKind::ToCode(inner) => self.to_code(inner, &term.ty),
            TermKind::FromCode(inner) => {
                let ty = self.concrete(&term.ty);
                let size = self.size(&ty).to_big();
                NodeKind::FromCode(
                    self.number_type(&inner.ty),
                    Arc::new(CodeType { ty, size }),
                    self.boxed(inner),
                )
            }
            TermKind::Convert(inner) => {
                let (from, to) = (self.number_type(&inner.ty), self.number_type(&term.ty));
                NodeKind::Convert(from, to, self.boxed(inner))
            }
            TermKind::If(c, a, b) => NodeKind::If(self.boxed(c), self.boxed(a), self.boxed(b)),
            TermKind::Match(scrutinee, arms) => {
                let arms = arms
                    .iter()
                    .map(|arm| Arm {
                        pattern: self.pattern(&arm.pattern),
                        guard: arm.guard.as_ref().map(|g| self.node(g)),
                        body: self.node(&arm.body),
                    })
                    .collect();
                NodeKind::Match(self.boxed(scrutinee), arms)
            }
            TermKind::Block(stmts, value) => match self.specialize_opening_block(stmts, value.as_deref()) {
                Some((stmts, value)) => NodeKind::Block(stmts, value.map(Box::new)),
                None => NodeKind::Block(
                    self.statements_without_openings(stmts),
                    value.as_ref().map(|v| self.boxed(v)),
                ),
            },
            TermKind::PackSizes(sizes, inner) => {
                let sizes = sizes
                    .iter()
                    .map(|size| (normalized_size(&self.concrete(size)), self.size(size)))
                    .collect();
                NodeKind::PackSizes(sizes, self.boxed(inner))
            }
            TermKind::Error => unreachable!("core of a checked program has no error term"),
        }
    }

    /// Specializes the last read of a place.
    fn last_read(&self, place: &Term) -> NodeKind {
        match self.node_kind(place) {
            NodeKind::Local(local) => NodeKind::Move(local),
            NodeKind::Shared(local) => NodeKind::MoveShared(local),
            NodeKind::Global(global) => NodeKind::MoveGlobal(global),
            NodeKind::Slots(base, start, len, whole) => match base.kind {
                NodeKind::Local(local) => NodeKind::MoveSlots(local, start, len, whole),
                _ => NodeKind::Slots(base, start, len, whole),
            },
            other => other,
        }
    }

    /// Specializes a reshape. The layouts are compared here at concrete types, independently of the
    /// verdict of the checker: a wrong verdict ends here.
    fn reshape(&self, inner: &Term, to: &Type) -> NodeKind {
        let (from, to) = (self.concrete(&inner.ty), self.concrete(to));
        if self.layouts.of(&from).stored_like(&self.layouts.of(&to)) {
            return self.node(inner).kind;
        }
        NodeKind::StorageMismatch(self.boxed(inner), Arc::new((from, to)))
    }

    /// Specializes a conversion to the code of a value. The number type must hold every code of the
    /// type.
    fn to_code(&self, inner: &Term, to: &Type) -> NodeKind {
        let number = self.number_type(to);
        let ty = self.concrete(&inner.ty);
        let size = self.size(&ty).to_big();
        if !number.holds_codes(&size) {
            let ty = CodeType { ty, size };
            return NodeKind::CodesTooLarge(number, Arc::new(ty), self.boxed(inner));
        }
        NodeKind::ToCode(number, self.boxed(inner))
    }

    /// Returns the size of an index type.
    pub(super) fn size(&self, ty: &Type) -> Code {
        let layout = self.layout(ty);
        match layout.compact() {
            Some(compact) => compact.size.clone(),
            None => self.placeholder(Code::ZERO, "an index type is compact"),
        }
    }

    /// Returns a callee at type arguments.
    fn callee(&self, function: FunctionId, type_args: &[Type]) -> Arc<Callee> {
        let type_args = type_args.iter().map(|t| self.concrete(t)).collect();
        Arc::new(Callee { function, type_args, instance: OnceLock::new() })
    }

    /// Returns the function that implements a method at concrete types.
    fn method(&self, class: ClassId, method: usize, type_args: &[Type]) -> Option<Arc<Callee>> {
        let types: Vec<Type> = type_args.iter().map(|t| self.concrete(t)).collect();
        let (function, type_args) = self.program.implementation(class, method, &types)?;
        Some(Arc::new(Callee { function, type_args, instance: OnceLock::new() }))
    }

    /// Returns the operator that a function consists of, if it only applies it to its parameters:
    /// `+` of `Add[int]` then costs as much as the built-in operator.
    fn inlined_operator(&self, callee: &Callee, args: &[Term]) -> Option<Op> {
        let function = self.program.functions.get(callee.function.index())?.as_ref()?;
        let TermKind::Op(op, operands) = &function.body.kind else { return None };
        let plain = function.params.len() == args.len()
            && operands.len() == args.len()
            && operands
                .iter()
                .zip(&function.params)
                .all(|(o, p)| matches!(o.kind, TermKind::Local(local) if local == *p));
        plain.then_some(*op)
    }

    /// Returns the primitive on a container that a function consists of at these types, if it only
    /// applies it to its parameters: `push` of a list then costs no call.
    fn inlined_container(&self, callee: &Callee, args: &[Term], result: &Type) -> Option<NodeKind> {
        let function = self.program.functions.get(callee.function.index())?.as_ref()?;
        if function.params.len() != args.len() {
            return None;
        }
        let own = function.type_params.iter().map(|param| param.id).zip(callee.type_args.iter().cloned());
        let own = own.collect();
        let mut body = &function.body;
        loop {
            match &body.kind {
                TermKind::Block(stmts, Some(value)) if stmts.is_empty() => body = value,
                TermKind::If(condition, then, otherwise) => {
                    let TermKind::Prim(query, types, _) = &condition.kind else { return None };
                    let types: Vec<Type> = types.iter().map(|ty| ty.substitute(&own)).collect();
                    body = if self.type_answer(*query, &types)? { then } else { otherwise };
                }
                TermKind::Prim(prim, types, operands) if prim.class() == PrimClass::Container => {
                    let is_param = |(operand, param): (&Term, &LocalId)| match &operand.kind {
                        TermKind::Local(local) => local == param,
                        TermKind::Move(place) => {
                            matches!(place.kind, TermKind::Local(local) if local == *param)
                        }
                        _ => false,
                    };
                    let plain =
                        operands.len() == args.len() && operands.iter().zip(&function.params).all(is_param);
                    let types: Vec<Type> = types.iter().map(|ty| ty.substitute(&own)).collect();
                    let layout = types.first().map(|ty| self.layouts.of(ty));
                    let (result, entry, overrides) =
                        (self.layout(result), OnceLock::new(), Overrides::default());
                    let types = PrimTypes { args: types, layout, result, entry, overrides };
                    return plain.then(|| NodeKind::Prim(*prim, Arc::new(types), self.nodes(args)));
                }
                _ => return None,
            }
        }
    }

    /// Specializes an operator at the type of its first operand.
    fn operator(&self, op: Op, args: &[Term]) -> NodeKind {
        let operand = args.first().map_or_else(Type::unit, |a| self.concrete(&a.ty));
        match op {
            Op::Not if operand.is_bool() => NodeKind::Not(self.boxed(&args[0])),
            Op::Not | Op::And | Op::Or => {
                let size = self.size(&operand);
                let last = if size.is_zero() { size } else { size.sub(&Code::Small(1)) };
                NodeKind::Bits(op, last, self.nodes(args))
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let own = match op {
                    Op::Eq | Op::Ne => Overrides::of(self.program, self.program.known.eq, "==", &operand),
                    _ => Overrides::default(),
                };
                if !own.is_empty() {
                    let (a, b) = (self.boxed(&args[0]), self.boxed(&args[1]));
                    return NodeKind::CompareOverridden(op, operand, Arc::new(own), a, b);
                }
                let layout = self.layouts.of(&operand);
                NodeKind::Compare(op, operand, layout, self.boxed(&args[0]), self.boxed(&args[1]))
            }
            Op::Neg(num)
            | Op::Add(num)
            | Op::Sub(num)
            | Op::Mul(num)
            | Op::Div(num)
            | Op::Rem(num)
            | Op::Pow(num) => {
                let modulus = if num == Num::Mod { Some(self.size(&operand)) } else { None };
                NodeKind::Arithmetic(op, num, modulus, self.nodes(args))
            }
        }
    }

    /// Returns the representation of the cases of a sum type.
    fn sum_representation(&self, ty: &Type) -> SumRepresentation {
        SumRepresentation::of(self.layouts, &self.concrete(ty))
    }

    /// Specializes a pattern.
    fn pattern(&self, pat: &Pat) -> Pattern {
        let bind = |local: LocalId| {
            if self.is_shared(local) { Pattern::BindShared(local) } else { Pattern::Bind(local) }
        };
        match &pat.kind {
            PatKind::Wild => Pattern::Any,
            PatKind::Bind(local) => bind(*local),
            PatKind::As(inner, local) => Pattern::As(Box::new(self.pattern(inner)), Box::new(bind(*local))),
            PatKind::Int(n) => match pat.ty.as_scalar() {
                Some(Scalar::Int) => Pattern::Int(n.to_i64().expect(LITERAL_FITS)),
                Some(Scalar::Fixed(fixed)) => {
                    Pattern::Int(fixed.encode(n.to_i128().expect(LITERAL_FITS)) as i64)
                }
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
                Pattern::Ints(fixed, low.to_i128().expect(LITERAL_FITS), high.to_i128().expect(LITERAL_FITS))
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
                        let (start, layout) = self.component(&whole, Some(i), &p.ty);
                        (start, layout.slots, self.pattern(p))
                    })
                    .collect();
                Pattern::Tuple(parts, whole.slots)
            }
            PatKind::Pack(parts) => {
                Pattern::Pack(self.layout(&pat.ty), parts.iter().map(|p| self.pattern(p)).collect())
            }
            // A reshape keeps the slots.
            PatKind::Reshape(inner) => self.pattern(inner),
            PatKind::Coarray(index, argument) => Pattern::Coarray(
                self.sum_representation(&pat.ty),
                Box::new(self.pattern(index)),
                Box::new(self.pattern(argument)),
            ),
            PatKind::Case(case, inner) => Pattern::Case(
                self.sum_representation(&pat.ty),
                Code::from(case),
                inner.as_ref().map(|p| Box::new(self.pattern(p))),
            ),
        }
    }

    /// Specializes statements.
    pub fn statements(&self, stmts: &[Stmt]) -> Vec<Statement> {
        match self.specialize_opening_block(stmts, None) {
            Some((code, _)) => code,
            None => self.statements_without_openings(stmts),
        }
    }

    /// Specializes statements none of which opens sizes.
    pub(super) fn statements_without_openings(&self, stmts: &[Stmt]) -> Vec<Statement> {
        stmts.iter().map(|s| self.statement(s)).collect()
    }

    /// Specializes a statement; a loop may become a site.
    fn statement(&self, stmt: &Stmt) -> Statement {
        let first = self.term_count.get();
        let plain = Statement { kind: self.statement_kind(stmt), span: stmt.span };
        let (own_rounds, body) = match &plain.kind {
            StatementKind::ForAll(_, size, body) => (size.to_u64().unwrap_or(u64::MAX), body),
            StatementKind::ForElements(_, _, _, count, body) => (*count as u64, body),
            StatementKind::ForInts(.., body) | StatementKind::While(_, body) => (0, body),
            _ => return plain,
        };
        let inner_rounds = loop_rounds(body);
        let weight = own_rounds.saturating_mul(inner_rounds);
        if !self.mark_sites {
            return plain;
        }
        let plain = Interpreted::Statement(Box::new(plain));
        let mut site = self.site(CoreAddress::of_loop(stmt), first, plain, weight);
        site.inner_rounds = inner_rounds;
        site.bounds_decide = match &stmt.kind {
            StmtKind::For(_, ForRange::Ints { low, high, .. }, _) => {
                ![low, high].iter().any(|bound| may_have_effects(self.program, bound))
            }
            _ => false,
        };
        Statement { kind: StatementKind::TierUp(Box::new(site)), span: stmt.span }
    }

    /// Specializes a statement without making a site of it.
    fn statement_kind(&self, stmt: &Stmt) -> StatementKind {
        use StatementKind as S;
        match &stmt.kind {
            StmtKind::Let(pat, term) => S::Let(self.pattern(pat), self.node(term)),
            StmtKind::SetLocal(local, term) if self.is_shared(*local) => {
                S::SetShared(*local, self.node(term))
            }
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
                        // By the type as written: an array of one element is that element.
                        let ty = array.ty.unfold();
                        let TypeKind::Array(element, index) = ty.kind() else {
                            unreachable!("a loop over elements is given an array")
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
            StmtKind::Open { .. } => unreachable!("an opening is specialized with the rest of its block"),
            StmtKind::Require { left, right, .. } => {
                S::Require(self.size(left), self.size(right), format_equation(left, right))
            }
        }
    }

    /// Specializes a store: its path becomes slot offsets, strides and steps inside a compact
    /// value.
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
                    let (start, _) = self.component(&from, i.to_usize(), &step.to);
                    steps.push(StoreStep::Offset(start));
                    place = to;
                }
                StepKind::Index(index) => {
                    steps.push(StoreStep::Index(self.node(index), to.slots));
                    place = to;
                }
                // A reshape keeps slots, and codes inside a compact value.
                StepKind::Reshape if parts.is_empty() => place = to,
                StepKind::Reshape => {}
                // Inside a compact value the place is the slot that holds the value.
                StepKind::Factor(i) => parts.push((from, PartStep::Factor(Code::from(i)))),
                StepKind::Digit(index) => parts.push((from, PartStep::Digit(self.node(index)))),
            }
        }
        let root = match root {
            Root::Local(local) if self.is_shared(local) => StoreRoot::Shared(local),
            Root::Local(local) => StoreRoot::Local(local),
            Root::Global(global) => StoreRoot::Global(global),
        };
        let class = if place.slots == 0 { Class::U8 } else { place.class };
        Store { root, steps, parts, root_slots: whole.slots, place, class, value: self.node(value) }
    }

    /// Specializes the statement that opens sizes. The statements of `rest` from `from` on follow
    /// it.
    pub(super) fn specialize_opening(&self, stmt: &Stmt, rest: Arc<Continuation>, from: usize) -> OpenCode {
        let (source, vars) = match &stmt.kind {
            StmtKind::Open { vars, local, value } => {
                let shared = self.locals[local.index()].shared;
                (SizeSource::Value(self.node(value), *local, shared), vars.clone())
            }
            StmtKind::Require { left, right, solve: Some(var) } => {
                let at = |n: u32| {
                    let size = [(var.id, Type::unit_sum(n))].into_iter().collect();
                    self.size(&right.substitute(&size))
                };
                let text = format_equation(left, right);
                (SizeSource::Equation(self.size(left), at(0), at(1), text), vec![var.clone()])
            }
            _ => unreachable!("only `open` and `require` with a size to be found open sizes"),
        };
        let locals = self.shared_locals.get_or_init(|| Arc::from(self.locals)).clone();
        let bindings = self.bindings.clone();
        OpenCode { source, vars, continuation: rest, from, bindings, locals, cache: Mutex::default() }
    }

    /// Specializes the statements of `rest` from `from` on, where the sizes before them are bound.
    pub(super) fn specialize_continuation(&self, rest: &Arc<Continuation>, from: usize) -> ContinuationCode {
        let stmts = &rest.stmts[from..];
        if let Some(at) = first_opening(stmts) {
            let mut code = self.statements_without_openings(&stmts[..at]);
            let span = stmts[at].span;
            let opening = Box::new(self.specialize_opening(&stmts[at], rest.clone(), from + at + 1));
            if rest.value.is_some() {
                let kind = NodeKind::OpenSizes(opening);
                return ContinuationCode { stmts: code, value: Some(Node { kind, span }) };
            }
            code.push(Statement { kind: StatementKind::OpenSizes(opening), span });
            return ContinuationCode { stmts: code, value: None };
        }
        ContinuationCode {
            stmts: self.statements_without_openings(stmts),
            value: rest.value.as_ref().map(|v| self.node(v)),
        }
    }

    /// Specializes a block in which a statement opens sizes; `None` if none does.
    fn specialize_opening_block(
        &self,
        stmts: &[Stmt],
        value: Option<&Term>,
    ) -> Option<(Vec<Statement>, Option<Node>)> {
        let at = first_opening(stmts)?;
        // The continuation needs no statement before the first opening.
        let rest = Arc::new(Continuation { stmts: stmts[at + 1..].to_vec(), value: value.cloned() });
        let mut code = self.statements_without_openings(&stmts[..at]);
        let span = stmts[at].span;
        let opening = Box::new(self.specialize_opening(&stmts[at], rest, 0));
        if value.is_some() {
            return Some((code, Some(Node { kind: NodeKind::OpenSizes(opening), span })));
        }
        code.push(Statement { kind: StatementKind::OpenSizes(opening), span });
        Some((code, None))
    }
}

/// Returns the position of the first statement that opens sizes.
pub(super) fn first_opening(stmts: &[Stmt]) -> Option<usize> {
    stmts
        .iter()
        .position(|s| matches!(s.kind, StmtKind::Open { .. } | StmtKind::Require { solve: Some(_), .. }))
}

/// Returns the form of a size that an existential value stores: numeric axes are kept, everything
/// else becomes one number, so that sizes computed from sizes do not grow.
fn normalized_size(size: &Type) -> Type {
    const MAX_AXES: usize = 32;
    let axes = size.compact_factors(MAX_AXES);
    if axes.is_some_and(|axes| axes.iter().all(|axis| axis.as_unit_sum().is_some())) {
        return size.clone();
    }
    size.size().map_or_else(|_| size.clone(), Type::unit_sum)
}

/// The checker refuses literals that their type does not hold.
const LITERAL_FITS: &str = "the type of a literal holds it";

/// Returns true if a block only binds values, gives what may be compiled, and binds something that
/// may be compiled: then all of it is compiled together.
fn is_fusible(stmts: &[Statement], value: &Node) -> bool {
    let is_site = |node: &Node| match &node.kind {
        NodeKind::TierUp(_) => true,
        NodeKind::Block(_, Some(value)) => matches!(value.kind, NodeKind::TierUp(_)),
        _ => false,
    };
    let binds = |stmt: &Statement| matches!(stmt.kind, StatementKind::Let(..) | StatementKind::Drop(_));
    let binds_site = |stmt: &Statement| matches!(&stmt.kind, StatementKind::Let(_, bound) if is_site(bound));
    is_site(value) && stmts.iter().all(binds) && stmts.iter().any(binds_site)
}
