//! Lowering of written types to types, with a check of kinds.
//!
//! A name is looked up among type parameters, then declared types, then built-in ones. A type
//! declared later in the same input is declared when first needed.

use crate::check::context::Checker;
use crate::check::env::{Callable, Definition, TypeDefinition, bindings};
use crate::check::error::{AxisError, CheckError, KindError, PlaceError, SizeError, TypeError};
use crate::check::solve::infer;
use crate::check::types::kinds;
use crate::check::types::list_types::Part;
use crate::hash::HashSet;
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{IndexLabel, Name, Stmt, StmtKind, TypeExpr, TypeExprKind, TypeParam};
use crate::types::{
    Kind, MAX_TYPE_DEPTH, MAX_TYPE_NODES, Nominal, NominalBody, Origin, ProductForm, Scalar, Triangle, Type,
    TypeKind, TypeVar,
};
use num_bigint::BigInt;
use std::sync::Arc;

/// The newtype of the library that has modular arithmetic.
const CYCLIC: &str = "cyclic";

/// The names of built-in types, for suggestions.
const BUILT_IN: [&str; 13] = [
    "int", "real", "bool", "string", "char", "bigint", "unit", "void", "long", "double", "any", "below",
    "lower",
];

impl Checker<'_> {
    /// Lowers a written type whose values are used; reports a type without values.
    pub(in crate::check) fn lower(&mut self, written: &TypeExpr) -> Type {
        let ty = self.lower_argument(written);
        if ty.kind_of().is_finite() {
            let kind = self.env.kind_name(ty.kind_of());
            self.report(CheckError::Kind(KindError::NoValues { span: written.span, ty, kind }));
            return Type::error();
        }
        ty
    }

    /// Lowers a written type of any kind.
    pub(in crate::check) fn lower_argument(&mut self, written: &TypeExpr) -> Type {
        let ty = self.lower_any(written);
        self.note_expr(written.span, &ty);
        self.note_written(written.span);
        if ty.nodes() > MAX_TYPE_NODES || ty.depth() > MAX_TYPE_DEPTH {
            self.report_too_large(written.span);
            return Type::error();
        }
        self.check_reducible(ty, written.span)
    }

    /// Lowers type arguments. The caller checks their kinds against the parameters.
    pub(in crate::check) fn lower_arguments(&mut self, written: &[TypeExpr]) -> Vec<Type> {
        written.iter().map(|arg| self.lower_argument(arg)).collect()
    }

    /// Lowers a written type of any kind, without a check of its size or of its applications.
    fn lower_any(&mut self, written: &TypeExpr) -> Type {
        use TypeExprKind as T;
        match &written.kind {
            T::Number(n) => Type::unit_sum(n.clone()),
            T::Name(name, args) => self.lower_name(name, args, written.span),
            T::Call(name, args) => self.lower_call(name, args, written.span),
            T::Product(parts) => {
                let form = ProductForm::Tuple;
                self.lower_spread(form, false, parts, &mut |this, part| match part {
                    Part::Component(part) => Some(this.lower(part)),
                    Part::Rest(name) => this.lookup_list(name, Some(form)),
                })
            }
            T::Sum(parts) => {
                let cases = parts.iter().map(|part| (self.lower(part), part.span)).collect::<Vec<_>>();
                let role = "be the case of a sum";
                Type::sum(cases.into_iter().map(|(ty, span)| self.check_not_spread(ty, role, span)).collect())
            }
            T::CompactProduct(parts) => {
                // `n \* T` with a `T` that is not compact is the repeated sum.
                if let [times, case] = &parts[..]
                    && !parts.iter().any(|part| matches!(part.kind, T::Rest(_)))
                {
                    let (n, case_ty) = (self.lower(times), self.lower(case));
                    if n.is_compact() && !case_ty.is_compact() {
                        return Type::repeat(n, case_ty);
                    }
                    self.require_compact(&n, times, "stand beside `\\*`");
                    self.require_compact(&case_ty, case, "stand beside `\\*`");
                    return Type::compact_product(vec![n, case_ty]);
                }
                let form = ProductForm::Compact;
                self.lower_spread(form, true, parts, &mut |this, part| match part {
                    Part::Component(part) => Some(this.lower_index(part, "stand beside `\\*`")),
                    Part::Rest(name) => this.lookup_list(name, Some(form)),
                })
            }
            T::CompactSum(parts) => Type::compact_sum(self.lower_compact(parts, "stand beside `\\+`")),
            T::CompactPower(base, exponent) => {
                let base = self.lower_index(base, "stand beside `\\^`");
                let exponent = self.lower_index(exponent, "stand beside `\\^`");
                Type::compact_power(base, exponent)
            }
            T::Array(element, index) => {
                let (written, element) = (element.span, self.lower(element));
                let element = self.check_not_spread(element, "be the element of an array", written);
                let index = self.lower_index(index, "index an array");
                Type::array(element, index)
            }
            T::Repeat(times, case) => {
                let cases = self.lower_index(times, "count the cases of `*+`");
                Type::repeat(cases, self.lower(case))
            }
            T::Function(domain, codomain) => {
                let outer = std::mem::take(&mut self.opens);
                let domain = self.lower(domain);
                self.opens = outer;
                let codomain = self.lower_result(codomain);
                if codomain.is_void() { Type::procedure(domain) } else { Type::function(domain, codomain) }
            }
            T::Record(fields) | T::CompactRecord(fields) => {
                let mut seen = HashSet::default();
                for (name, _) in fields {
                    if !seen.insert(name.text.clone()) {
                        self.report(TypeError::Duplicate {
                            span: name.span,
                            what: "field",
                            name: name.text.to_string(),
                        });
                    }
                }
                if let T::CompactRecord(_) = &written.kind {
                    let role = "be part of a compact record";
                    let part =
                        |(name, ty): &(Name, TypeExpr)| (name.text.clone(), self.lower_index(ty, role));
                    return Type::compact_record(fields.iter().map(part).collect());
                }
                Type::record(fields.iter().map(|(name, ty)| (name.text.clone(), self.lower(ty))).collect())
            }
            T::Placed(ty, places) => self.lower_placed(ty, places),
            T::Places(names) => self.lower_places(names, written.span),
            T::Rest(name) => self.lower_rest(name),
            T::Labels(..) => unreachable!("labels are the body of a newtype"),
            T::Hole => self.infer.fresh(Kind::Type),
            T::Open(name) => self.lower_open(name, written.span),
            T::TypeMatch(subjects, arms) => self.lower_type_match(subjects, arms, written.span),
            T::Refusal(_) => {
                self.report(CheckError::Kind(KindError::RefusalHere { span: written.span }));
                Type::error()
            }
            T::Error => Type::error(),
        }
    }

    /// Lowers each of the types to a compact linear one; `role` describes their use in messages.
    fn lower_compact(&mut self, parts: &[TypeExpr], role: &'static str) -> Vec<Type> {
        parts.iter().map(|part| self.lower_index(part, role)).collect()
    }

    /// Lowers a written type that must be compact linear; `role` describes its use in messages.
    pub(in crate::check) fn lower_index(&mut self, written: &TypeExpr, role: &'static str) -> Type {
        let ty = self.lower(written);
        if self.require_compact(&ty, written, role) { ty } else { Type::error() }
    }

    /// Reports a type that is not compact linear, and returns false. A hole becomes compact linear.
    pub(in crate::check) fn require_compact(
        &mut self,
        ty: &Type,
        written: &TypeExpr,
        role: &'static str,
    ) -> bool {
        if ty.is_compact() || ty.is_error() {
            return true;
        }
        if let TypeKind::Meta(_) = ty.kind() {
            let compact = self.infer.fresh(Kind::Compact);
            return self.infer.try_unify(ty, &compact);
        }
        let shown = crate::syntax::unparse::print_type(written);
        self.report(not_compact_error(ty, shown, role, written.span));
        false
    }

    /// Lowers a name with its arguments.
    fn lower_name(&mut self, name: &Name, args: &[TypeExpr], span: Span) -> Type {
        let text = &*name.text;
        self.note_type_name(name);
        if let Some(ty) = self.item.type_scope.get(text) {
            let ty = ty.clone();
            if let TypeKind::Var(var) = ty.kind() {
                self.item.mentioned.insert(var.id);
            }
            // A list by itself denotes the product of the list.
            let ty = if ty.list_form().is_some() { Type::product_of(ty) } else { ty };
            return if args.is_empty() { ty } else { self.arity_error(name, 0, args.len()) };
        }
        self.ensure_type(&name.text, span);
        let definition = self.type_definition(text).cloned();
        let params = match &definition {
            Some(TypeDefinition::Alias(params, _)) => params.clone(),
            Some(TypeDefinition::Nominal(nominal)) => nominal.params.clone(),
            Some(TypeDefinition::Function(fun)) => fun.params.clone(),
            Some(TypeDefinition::Size(size)) if args.is_empty() => return size.clone(),
            Some(TypeDefinition::Size(_)) => return self.arity_error(name, 0, args.len()),
            None => return self.built_in(name, args),
        };
        if params.len() != args.len() {
            return self.arity_error(name, params.len(), args.len());
        }
        let mut types = Vec::with_capacity(args.len());
        for (param, arg) in params.iter().zip(args) {
            let ty = match &arg.kind {
                TypeExprKind::Hole => self.infer.fresh(param.kind),
                _ => self.lower_argument(arg),
            };
            types.push(if self.check_kind(&ty, param, arg.span) { ty } else { Type::error() });
        }
        if types.iter().any(Type::is_error) {
            return Type::error();
        }
        self.record_application(&params, &types, name);
        match definition {
            Some(TypeDefinition::Nominal(nominal)) => Type::nominal(nominal, types),
            Some(TypeDefinition::Function(fun)) => Type::apply(fun, types),
            Some(TypeDefinition::Alias(params, body)) => body.substitute(&bindings(&params, &types)),
            // Sizes were handled above.
            Some(TypeDefinition::Size(_)) | None => Type::error(),
        }
    }

    /// Returns true if a type can be the argument of a type parameter; reports one that cannot.
    pub(in crate::check) fn check_kind(&mut self, ty: &Type, param: &TypeVar, span: Span) -> bool {
        let fits = infer::accepts(param.kind, ty);
        if !fits && ty.is_spread() && param.kind == Kind::Type {
            let role = format!("be the type argument `{}`", param.name);
            self.report(PlaceError::Spread { span, ty: ty.clone(), role });
            return false;
        }
        if !fits {
            let (ty, name) = (ty.clone(), param.name.to_string());
            let expected = self.env.kind_name(param.kind);
            self.report(TypeError::WrongKind { span, ty, expected, name });
        }
        fits
    }

    /// Lowers `narrow(V, W)`, an application written with parentheses.
    fn lower_call(&mut self, name: &Name, args: &[TypeExpr], span: Span) -> Type {
        self.ensure_type(&name.text, span);
        let parameter = self.item.type_scope.contains_key(&name.text);
        match self.type_definition(&name.text) {
            Some(TypeDefinition::Function(_)) if !parameter => self.lower_name(name, args, span),
            None if !parameter && Scalar::from_name(&name.text).is_none() => {
                self.lower_name(name, args, span)
            }
            definition => {
                let takes = match definition {
                    Some(TypeDefinition::Nominal(nominal)) => nominal.params.len(),
                    Some(TypeDefinition::Alias(params, _)) => params.len(),
                    _ => 0,
                };
                let text = kinds::bracketed_arguments(name, args).filter(|_| takes == args.len());
                let error = KindError::NotATypeFunction { span, name: name.text.to_string(), instead: text };
                self.report(CheckError::Kind(error));
                Type::error()
            }
        }
    }

    /// Reports a wrong number of type arguments.
    pub(in crate::check) fn arity_error(&mut self, name: &Name, expected: usize, found: usize) -> Type {
        self.report(TypeError::TypeArity { span: name.span, name: name.text.to_string(), expected, found });
        Type::error()
    }

    /// Lowers the name of a built-in type; reports an unknown name.
    fn built_in(&mut self, name: &Name, args: &[TypeExpr]) -> Type {
        let text = &*name.text;
        let ty = match text {
            "bool" => Some(Type::bool()),
            "unit" => Some(Type::unit()),
            "void" => Some(Type::void()),
            _ => Scalar::from_name(text).map(Type::scalar),
        };
        if let Some(ty) = ty {
            return if args.is_empty() { ty } else { self.arity_error(name, 0, args.len()) };
        }
        if let Some(triangle) = Triangle::from_name(text) {
            let [index] = args else { return self.arity_error(name, 1, args.len()) };
            let index = self.lower_index(index, "be the index of pairs");
            return if index.is_error() { index } else { Type::triangle(triangle, index) };
        }
        if self.report_unknown_in_module(name) {
            return Type::error();
        }
        if self.implicit_vars && text.starts_with(char::is_uppercase) && args.is_empty() {
            let var = Type::var(self.env.fresh_var(&name.text, Kind::Compact));
            self.item.type_scope.insert(name.text.clone(), var.clone());
            return var;
        }
        let declared = self.env.types.keys().map(|k| &**k);
        let scope = self.item.type_scope.keys().map(|k| &**k);
        let similar = similar(text, BUILT_IN.into_iter().chain(declared).chain(scope));
        let similar = self.env.qualified_export(text).or(similar);
        let value = self.lookup_local(text).is_some() || self.env.values.contains_key(text);
        if let (true, Some(of)) = (args.is_empty() && !value, self.shows_size(text)) {
            self.report(SizeError::Unnamed { span: name.span, name: text.to_string(), value: of });
            self.item.type_scope.insert(name.text.clone(), Type::error());
            return Type::error();
        }
        self.report(TypeError::UnknownType { span: name.span, name: text.to_string(), similar, value });
        // An unknown name is reported once for each item.
        self.item.type_scope.insert(name.text.clone(), Type::error());
        Type::error()
    }

    /// Returns a variable whose type shows a size of this name, although the program does not name
    /// the size.
    fn shows_size(&mut self, name: &str) -> Option<String> {
        let mentions = |ty: &Type| {
            let mut found = false;
            ty.for_each_var(&mut |var| found |= var.kind == Kind::Compact && &*var.name == name);
            found
        };
        let frame = self.item.frames.last();
        let local = frame.and_then(|frame| {
            let named = frame.scopes.iter().flatten();
            let mut named: Vec<_> =
                named.filter(|(_, b)| mentions(&frame.locals[b.local.index()].ty)).map(|(n, _)| n).collect();
            named.sort_by_key(|name| (name.starts_with('_'), name.to_string()));
            named.first().map(|name| name.to_string())
        });
        local.or_else(|| {
            let globals = self.env.values.iter().filter_map(|(name, definition)| match definition {
                // Types are also read without a program.
                Definition::Global { id, .. } => Some((name, &self.program.globals.get(id.index())?.ty)),
                _ => None,
            });
            // Results also have names; these begin with `_`.
            let shown = globals.filter(|(_, ty)| mentions(ty)).map(|(name, _)| name);
            shown.min_by_key(|name| (name.starts_with('_'), *name)).map(|name| name.to_string())
        })
    }

    /// Makes rigid variables for written type parameters and brings them into scope.
    pub(in crate::check) fn declare_params(&mut self, params: &[TypeParam]) -> Vec<TypeVar> {
        let mut vars: Vec<TypeVar> = Vec::new();
        for param in params {
            let mut kind = self.lower_kind(param.kind.as_ref());
            if param.rest {
                kind = self.list_kind(&param.name, kind);
            }
            if vars.iter().any(|v| v.name == param.name.text) {
                self.report(TypeError::Duplicate {
                    span: param.name.span,
                    what: "type parameter",
                    name: param.name.text.to_string(),
                });
            }
            let var = self.env.fresh_var(&param.name.text, kind);
            self.note_parameter(&param.name, &Type::var(var.clone()));
            self.item.type_scope.insert(param.name.text.clone(), Type::var(var.clone()));
            vars.push(var);
        }
        vars
    }

    /// Declares the kinds and types of an input: first all names, then the definitions.
    pub(in crate::check) fn collect_types(&mut self, stmts: &[&Stmt]) {
        let mut members = Vec::new();
        for stmt in stmts {
            if let StmtKind::Kind { name, members: own, .. } = &stmt.kind {
                self.declare_kind(name, own, &mut members);
            }
            if let StmtKind::Party { name, places, .. } = &stmt.kind {
                self.declare_party(name, places);
            }
        }
        let mut names = Vec::new();
        for stmt in stmts {
            let Some(name) = declared_type(stmt) else { continue };
            let member = members.iter().any(|(member, _)| member.text == name.text);
            if self.pending_types.insert(name.text.clone(), (*stmt).clone()).is_some() || member {
                self.report(TypeError::Duplicate {
                    span: name.span,
                    what: "type",
                    name: name.text.to_string(),
                });
            }
            self.env.types.remove(&name.text);
            names.push((name.text.clone(), name.span));
        }
        for (name, span) in &names {
            self.ensure_type(name, *span);
        }
        let mut infinite = HashSet::default();
        for (name, span) in names {
            if let Some(TypeDefinition::Nominal(nominal)) = self.env.types.get(&name)
                && contains_itself(nominal, &infinite)
            {
                infinite.insert(nominal.id);
                self.report(TypeError::InfiniteStruct { span, name: name.to_string() });
            }
        }
        stmts.iter().for_each(|stmt| self.check_closed(stmt));
    }

    /// Declares a type of this input, if it is not declared yet.
    pub(in crate::check) fn ensure_type(&mut self, name: &Arc<str>, span: Span) {
        if self.types_in_progress.contains(name) && self.type_definition(name).is_none() {
            self.report(TypeError::RecursiveType { span, name: name.to_string() });
            self.env.types.insert(name.clone(), TypeDefinition::Alias(Vec::new(), Type::error()));
            return;
        }
        let Some(stmt) = self.pending_types.remove(name) else { return };
        self.types_in_progress.push(name.clone());
        // A block sees the names around it, those of sizes included.
        let outer = match self.item.hidden.is_empty() {
            true => std::mem::take(&mut self.item.type_scope),
            false => self.item.type_scope.clone(),
        };
        let opens = std::mem::take(&mut self.opens);
        self.record_declaration(|this| this.declare_type(&stmt));
        if let Some(name) = declared_type(&stmt) {
            self.note_type_declared(name);
        }
        self.opens = opens;
        self.item.type_scope = outer;
        self.types_in_progress.pop();
    }

    /// Declares the type of a statement.
    fn declare_type(&mut self, stmt: &Stmt) {
        let (StmtKind::Typedef(declaration, _)
        | StmtKind::Newtype(declaration, _)
        | StmtKind::Struct(declaration, _)
        | StmtKind::Variant(declaration, _)) = &stmt.kind
        else {
            match &stmt.kind {
                StmtKind::Typefun { name, params, kind, body } => {
                    self.declare_typefun(name, params, kind.as_ref(), body);
                }
                StmtKind::Abstract { decl, layout, representation } => {
                    self.declare_abstract(decl, layout, representation.as_ref());
                }
                _ => {}
            }
            return;
        };
        let name = declaration.name.text.clone();
        let params = self.declare_params(&declaration.generics.params);
        self.declare_constraints(&params, &declaration.generics);
        match &stmt.kind {
            StmtKind::Typedef(_, body) => {
                let body = self.lower_argument(body);
                for (param, written) in params.iter().zip(&declaration.generics.params) {
                    if !body.mentions(param) && !body.has_error() {
                        let (span, param) = (written.name.span, param.name.to_string());
                        let whose = format!("`{name}`");
                        self.report(TypeError::UnusedTypeParameter { span, name: param, whose });
                    }
                }
                self.env.types.insert(name, TypeDefinition::Alias(params, body));
            }
            StmtKind::Newtype(_, body) => {
                let (body, origin) = match &body.kind {
                    TypeExprKind::Labels(first, last) => self.lower_labels(first, last, body.span),
                    _ => {
                        let ty = self.lower(body);
                        (self.check_not_spread(ty, "be the definition of a newtype", body.span), None)
                    }
                };
                let kind = match body.kind_of() {
                    // A newtype has a name, not a number: its kind is at least `COMPACTLINEAR`.
                    Kind::UnitSum => Kind::Compact,
                    kind => kind,
                };
                let foreign = foreign_variables(&body, &params);
                if !foreign.is_empty() {
                    let ty = self.newtype_inside(name.clone(), &params, &foreign, (kind, &body, origin));
                    self.env.types.insert(name, TypeDefinition::Alias(params, ty));
                    return;
                }
                let id = self.env.fresh_id();
                let nominal = match self.env.is_library() && &*name == CYCLIC {
                    true => Nominal::declare_cyclic(id, name.clone(), params),
                    false => Nominal::declare_newtype(id, name.clone(), params, 0, kind, origin),
                };
                nominal.define(NominalBody::Newtype(body));
                self.env.types.insert(name, TypeDefinition::Nominal(nominal));
            }
            StmtKind::Struct(_, fields) => {
                let nominal = Nominal::declare(self.env.fresh_id(), name.clone(), params, Kind::Type);
                self.env.types.insert(name.clone(), TypeDefinition::Nominal(nominal.clone()));
                let fields = self.named_parts("field", fields.iter().map(|(n, t)| (n, Some(t))));
                nominal.define(NominalBody::Struct(fields));
                let scope = self.env.own_scope();
                self.hide(&name, scope);
                self.env.add_callable(&name, Callable::Struct(nominal), scope);
            }
            StmtKind::Variant(_, cases) => {
                // The cases of an enumeration are codes in the order of their declaration.
                let enumeration = params.is_empty() && cases.iter().all(|(_, argument)| argument.is_none());
                let kind = if enumeration { Kind::Compact } else { Kind::Type };
                let nominal = Nominal::declare(self.env.fresh_id(), name.clone(), params, kind);
                self.env.types.insert(name, TypeDefinition::Nominal(nominal.clone()));
                let cases = self.named_parts("case", cases.iter().map(|(n, t)| (n, t.as_ref())));
                for (i, (case, _)) in cases.iter().enumerate() {
                    let scope = self.env.own_scope();
                    self.hide(case, scope);
                    self.env.add_callable(case, Callable::Case(nominal.clone(), i), scope);
                }
                nominal.define(NominalBody::Variant(cases));
            }
            _ => {}
        }
    }

    /// Declares a newtype whose definition mentions sizes that arrived, or type parameters of a
    /// surrounding function. They become further parameters, which the program does not write:
    /// returns the type applied to them. So the type is another one for each opening of a size.
    fn newtype_inside(
        &mut self,
        name: Arc<str>,
        params: &[TypeVar],
        foreign: &[TypeVar],
        (kind, body, origin): (Kind, &Type, Option<Origin>),
    ) -> Type {
        let own: Vec<TypeVar> = foreign.iter().map(|var| self.env.fresh_var(&var.name, var.kind)).collect();
        let renamed = foreign.iter().zip(&own).map(|(var, own)| (var.id, Type::var(own.clone()))).collect();
        let origin = origin.map(|origin| match origin {
            Origin::MinusSize(size) => Origin::MinusSize(size.substitute(&renamed)),
            Origin::Number(number) => Origin::Number(number),
        });
        let all = [params, &own].concat();
        let nominal = Nominal::declare_newtype(self.env.fresh_id(), name, all, own.len(), kind, origin);
        nominal.define(NominalBody::Newtype(body.substitute(&renamed)));
        Type::nominal(nominal, variables(&[params, foreign].concat()))
    }

    /// Lowers the labels of an index type, `-1..4` or `-A..B`: returns its definition, and its
    /// first label.
    fn lower_labels(&mut self, first: &IndexLabel, last: &IndexLabel, span: Span) -> (Type, Option<Origin>) {
        let role = "bound the labels of an index type";
        let (a, b) = (self.lower_index(&first.size, role), self.lower_index(&last.size, role));
        if a.is_error() || b.is_error() {
            return (Type::error(), None);
        }
        let number = |label: &IndexLabel, size: &Type| {
            let size = BigInt::from(size.as_unit_sum()?.clone());
            Some(if label.negative { -size } else { size })
        };
        if let (Some(low), Some(high)) = (number(first, &a), number(last, &b)) {
            let Some(count) = (&high - &low + 1i32).to_biguint() else {
                self.report(AxisError::LabelOrder { span, low, high });
                return (Type::error(), None);
            };
            return (Type::unit_sum(count), Some(Origin::Number(low)));
        }
        match (first.negative, last.negative) {
            (true, false) => {
                (Type::compact_sum(vec![a.clone(), Type::unit(), b]), Some(Origin::MinusSize(a)))
            }
            _ => {
                self.report(AxisError::LabelForm { span });
                (Type::error(), None)
            }
        }
    }

    /// Lowers the fields of a struct or the cases of a variant; reports names that occur twice.
    fn named_parts<'t>(
        &mut self,
        what: &'static str,
        parts: impl Iterator<Item = (&'t Name, Option<&'t TypeExpr>)>,
    ) -> Vec<(Arc<str>, Type)> {
        let mut out: Vec<(Arc<str>, Type)> = Vec::new();
        for (name, ty) in parts {
            if out.iter().any(|(known, _)| *known == name.text) {
                self.report(TypeError::Duplicate { span: name.span, what, name: name.text.to_string() });
            }
            // `?K` in the type is a size that each value stores.
            let ty = ty.map_or_else(Type::unit, |written| {
                let ty = self.lower_result(written);
                self.check_not_spread(
                    ty,
                    if what == "case" { "be the argument of a case" } else { "be a field" },
                    written.span,
                )
            });
            out.push((name.text.clone(), ty));
        }
        out
    }
}

/// Returns the variables of a type other than `params`: sizes that arrived, and type parameters of
/// a surrounding function.
fn foreign_variables(ty: &Type, params: &[TypeVar]) -> Vec<TypeVar> {
    let mut foreign: Vec<TypeVar> = Vec::new();
    ty.for_each_var(&mut |var| {
        if !params.contains(var) && !foreign.contains(var) {
            foreign.push(var.clone());
        }
    });
    foreign
}

/// Returns the name of the type that a statement declares.
fn declared_type(stmt: &Stmt) -> Option<&Name> {
    match &stmt.kind {
        StmtKind::Typedef(d, _)
        | StmtKind::Newtype(d, _)
        | StmtKind::Struct(d, _)
        | StmtKind::Variant(d, _)
        | StmtKind::Abstract { decl: d, .. } => Some(&d.name),
        StmtKind::Typefun { name, .. } => Some(name),
        _ => None,
    }
}

/// Makes the error that a type is no index type, with the reason or the type that may be meant.
pub(in crate::check) fn not_compact_error(
    ty: &Type,
    shown: String,
    role: &'static str,
    span: Span,
) -> TypeError {
    let instead = compact_counterpart(ty).map(|t| t.to_string());
    let why = match ty.kind() {
        TypeKind::Nominal(nominal, _) => no_enumeration(nominal),
        TypeKind::Var(var) => Some(format!(
            "a type parameter that stands for sizes says so, as in `fun f[{}:COMPACTLINEAR](…)`",
            var.name
        )),
        _ => None,
    };
    TypeError::NotCompact { span, shown, role, instead, why }
}

/// Returns the reason why a variant is no index type.
fn no_enumeration(nominal: &Nominal) -> Option<String> {
    let Some(NominalBody::Variant(cases)) = nominal.body() else { return None };
    let rule = "a variant is an index type if it has no type parameter and all of its cases are constants";
    let (name, taking) = (&nominal.name, (0..cases.len()).find(|&case| nominal.case_has_argument(case)));
    match taking {
        Some(case) => Some(format!("{rule}; `{}` of `{name}` takes an argument", cases[case].0)),
        None if !nominal.params.is_empty() => Some(format!("{rule}; `{name}` has a type parameter")),
        None => Some(rule.to_string()),
    }
}

/// Returns the compact type with the same structure as an addressable type.
pub(in crate::check) fn compact_counterpart(ty: &Type) -> Option<Type> {
    let compact = |t: &Type| if t.is_compact() { Some(t.clone()) } else { compact_counterpart(t) };
    match ty.kind() {
        TypeKind::Product(parts) => {
            Some(Type::compact_product(parts.iter().map(compact).collect::<Option<_>>()?))
        }
        TypeKind::Sum(parts) => Some(Type::compact_sum(parts.iter().map(compact).collect::<Option<_>>()?)),
        TypeKind::Repeat(n, case) => Some(Type::compact_product(vec![n.clone(), compact(case)?])),
        TypeKind::Array(base, index) => Some(Type::compact_power(compact(base)?, index.clone())),
        _ => None,
    }
}

/// Returns true if a value of a declared type would contain another value of it without a variant,
/// whose arguments are stored apart, or a function between. Types in `known` are not searched.
fn contains_itself(whole: &Nominal, known: &HashSet<u32>) -> bool {
    /// The maximum number of types searched: polymorphic recursion makes new types without end.
    const MAX_TYPES: usize = 1_000;
    let mut seen: HashSet<Type> = HashSet::default();
    let mut waiting: Vec<Type> = stored(&Type::nominal(whole.clone(), variables(&whole.params)));
    while let Some(ty) = waiting.pop() {
        if let TypeKind::Nominal(nominal, _) = ty.kind() {
            if nominal == whole {
                return true;
            }
            if known.contains(&nominal.id) {
                continue;
            }
        }
        if seen.len() < MAX_TYPES && ty.nodes() <= MAX_TYPE_NODES && seen.insert(ty.clone()) {
            waiting.extend(stored(&ty));
        }
    }
    false
}

/// Returns the types whose values are stored inside a value of this type.
fn stored(ty: &Type) -> Vec<Type> {
    match ty.kind() {
        TypeKind::Product(parts) | TypeKind::Sum(parts) => parts.clone(),
        TypeKind::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
        TypeKind::Array(part, _) | TypeKind::Repeat(_, part) => vec![part.clone()],
        TypeKind::Nominal(nominal, args) => match nominal.struct_fields(args) {
            Some(fields) => fields.into_iter().map(|(_, ty)| ty).collect(),
            None => {
                let stored = nominal.newtype_definition(args).or_else(|| nominal.representation(args));
                stored.into_iter().collect()
            }
        },
        _ => Vec::new(),
    }
}

/// Returns the variables as types.
fn variables(params: &[TypeVar]) -> Vec<Type> {
    params.iter().cloned().map(Type::var).collect()
}
