//! Classes and instances at the top level.
//!
//! A class has parameters, superclasses, types of methods, and laws. An instance has a head (types,
//! with parameters of its own) and one function for each method, its own or the default of the
//! class. The order: classes by name; their superclasses and members; the heads of instances; and
//! at the end, with all functions, the bodies. The body of a method may use the constraints of the
//! instance; the body of a default or a law may use the class itself.
//!
//! **Coherence.** Two heads of one class must not have a type in common. This module decides it by
//! unification, whatever the instances require. A tuple of equal types is an array, but `A * B` and
//! `T ^ N` count as disjoint: a tuple of equal types takes the array's instance, or the product's
//! if there is none. In a session an instance replaces one of the user's with the same head, as
//! functions do.

use crate::check::annotations::Referent;
use crate::check::context::{Checker, Pending};
use crate::check::env::{Callable, Class, Constraint, Definition, Law, Membership, Method, Scheme, bindings};
use crate::check::error::{ClassError, PlaceError, TypeError};
use crate::check::solve::constraint;
use crate::check::solve::constraint::{Answer, RefusedInstance};
use crate::check::state::RequiredSignature;
use crate::core::program::KnownClasses;
use crate::core::{self, ClassId, FunctionId, Implementation, LocalId, Term, TermKind};
use crate::hash::HashMap;
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Body, ClassMember, Name, Stmt, StmtKind, TypeDecl};
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::sync::Arc;

impl Checker<'_> {
    /// Declares the classes of an input: first all names, then superclasses and members.
    pub(in crate::check) fn collect_classes(&mut self, stmts: &[Stmt]) {
        let mut declared: Vec<(&TypeDecl, &[ClassMember], ClassId)> = Vec::new();
        for stmt in stmts {
            let StmtKind::Class(decl, members) = &stmt.kind else { continue };
            if let Some((_, _, first)) = declared.iter().find(|(d, ..)| d.name.text == decl.name.text) {
                let previous = self.env.classes.get(first).map_or(decl.name.span, |c| c.span);
                let name = decl.name.text.to_string();
                self.report(ClassError::DuplicateMember { span: decl.name.span, name, previous });
                continue;
            }
            let id = ClassId::new(self.program.classes.len());
            self.forget_class(&decl.name.text);
            let params = self.with_separate_item(|this| this.declare_params(&decl.generics.params));
            let class = Class {
                id,
                name: decl.name.text.clone(),
                params: params.clone(),
                supers: Vec::new(),
                methods: Vec::new(),
                laws: Vec::new(),
                span: decl.name.span,
                doc: decl.doc.clone(),
            };
            self.program.classes.push(core::Class { name: class.name.clone(), params, methods: Vec::new() });
            self.env.class_names.insert(class.name.clone(), id);
            self.env.classes.insert(id, Arc::new(class));
            declared.push((decl, members, id));
        }
        if self.env.is_library() {
            let names = &self.env.class_names;
            let conversion = self.program.known.conversion;
            self.program.known = KnownClasses::read(|name| names.get(name).copied());
            let known = self.program.known;
            self.program.known.conversion = match (conversion, known.literal.or(known.convert)) {
                (None, Some(_)) => Some(self.conversion()),
                (known, _) => known,
            };
        }
        for (decl, _, id) in &declared {
            let supers = self.with_separate_item(|this| {
                this.enter_class(*id);
                let supers = this.constraints(&decl.generics.constraints);
                this.defer_applications(supers.clone());
                supers
            });
            self.change_class(*id, |class| class.supers = supers);
        }
        for (decl, _, id) in &declared {
            if self.builds_on_itself(*id) {
                let class = decl.name.text.to_string();
                self.report(ClassError::Cyclic { span: decl.name.span, class });
                self.change_class(*id, |class| class.supers.clear());
            }
        }
        for (_, members, id) in declared {
            self.members(id, members);
        }
    }

    /// Changes a declared class.
    fn change_class(&mut self, id: ClassId, change: impl FnOnce(&mut Class)) {
        if let Some(class) = self.env.classes.get_mut(&id) {
            change(Arc::make_mut(class));
        }
    }

    /// Returns true if a class is its own superclass, directly or not.
    fn builds_on_itself(&self, id: ClassId) -> bool {
        let mut seen = Vec::new();
        let mut waiting = vec![id];
        while let Some(class) = waiting.pop() {
            for constraint in self.env.classes.get(&class).map_or(&[][..], |c| &c.supers) {
                if constraint.class == id {
                    return true;
                }
                if !seen.contains(&constraint.class) {
                    seen.push(constraint.class);
                    waiting.push(constraint.class);
                }
            }
        }
        false
    }

    /// Makes the function that converts any number type to any other, as `:>` does.
    fn conversion(&mut self) -> FunctionId {
        let id = self.new_function();
        let name: Arc<str> = "convert".into();
        let type_params = ["A", "B"].map(|name| self.env.fresh_var(&name.into(), Kind::Type)).to_vec();
        let (from, to) = (Type::var(type_params[0].clone()), Type::var(type_params[1].clone()));
        let span = Span::default();
        let x = Term::new(TermKind::Local(LocalId(0)), from.clone(), span);
        let function = core::Function {
            name: name.clone(),
            type_params,
            params: vec![LocalId(0)],
            captures: Vec::new(),
            this: None,
            locals: vec![core::LocalInfo { name: "x".into(), ty: from.clone(), shared: false }],
            domain: from,
            given: Vec::new(),
            body: Term::new(TermKind::Convert(Box::new(x)), to, span),
            span,
        };
        self.program.functions[id.index()] = Some(Arc::new(function));
        id
    }

    /// Makes the methods of an older class of this name unreachable by their plain names.
    pub(in crate::check) fn forget_class(&mut self, name: &Arc<str>) {
        let Some(old) = self.env.class_names.remove(name) else { return };
        for (name, definition) in &mut self.env.values {
            // A name qualified by its module remains.
            if let (Definition::Callables(callables), false) = (definition, name.contains("::")) {
                callables.retain(|c, _| !matches!(c, Callable::Method(class, _) if *class == old));
            }
        }
    }

    /// Brings the parameters of a class into the scope of types.
    fn enter_class(&mut self, id: ClassId) -> Vec<TypeVar> {
        let params = self.env.classes[&id].params.clone();
        for param in &params {
            self.item.type_scope.insert(param.name.clone(), Type::var(param.clone()));
        }
        params
    }

    /// Reads the signatures of the methods of a class, then its defaults and laws.
    fn members(&mut self, id: ClassId, members: &[ClassMember]) {
        let Some(class) = self.env.classes.get(&id).cloned() else { return };
        let own = Constraint { class: id, args: class.params.iter().cloned().map(Type::var).collect() };
        let mut methods: Vec<Method> = Vec::new();
        for member in members {
            let ClassMember::Signature { is_joint, name, generics, ty } = member else { continue };
            if let Some(first) = methods.iter().find(|m| m.name == name.text) {
                let (previous, name_text) = (first.span, name.text.to_string());
                self.report(ClassError::DuplicateMember { span: name.span, name: name_text, previous });
                continue;
            }
            let (method_params, constraints, ty) = self.with_separate_item(|this| {
                this.enter_class(id);
                for param in &generics.params {
                    if class.params.iter().any(|outer| outer.name == param.name.text) {
                        let (span, what) = (param.name.span, "type parameter");
                        this.report(TypeError::Duplicate { span, what, name: param.name.text.to_string() });
                    }
                }
                let params = this.declare_params(&generics.params);
                let constraints = this.constraints(&generics.constraints);
                let lowered = this.lower(ty);
                this.defer_applications([std::slice::from_ref(&own), &constraints[..]].concat());
                (params, constraints, this.infer.zonk_with_defaults(&lowered))
            });
            let (domain, result) = match ty.kind() {
                TypeKind::Function(domain, result) => (domain.clone(), Some(result.clone())),
                TypeKind::Procedure(domain) => (domain.clone(), None),
                TypeKind::Error => (Type::error(), Some(Type::error())),
                _ => {
                    let what = "a method that is no function";
                    let instead = "give it a function type, such as `unit -> T` for a constant";
                    self.report(ClassError::NotHere { span: name.span, what, instead });
                    (Type::error(), Some(Type::error()))
                }
            };
            if let Some(unused) = class.params.iter().find(|param| {
                let hidden = method_params.iter().any(|own| own.name == param.name);
                !ty.mentions(param) && !hidden && !ty.has_error()
            }) {
                let (class, parameter) = (class.name.to_string(), unused.name.to_string());
                let (span, method) = (name.span, name.text.to_string());
                self.report(ClassError::UnusedClassParameter { span, method, class, parameter });
            }
            let params: Vec<TypeVar> = class.params.iter().chain(&method_params).cloned().collect();
            let mut all = vec![own.clone()];
            all.extend(constraints);
            let scheme = Scheme { params, domain, result, constraints: all };
            self.program.classes[id.index()].methods.push(core::Method {
                name: name.text.clone(),
                params: method_params,
                ty: scheme.ty(),
                joint: *is_joint,
                default: None,
            });
            let scope = self.env.own_scope();
            self.env.add_callable(&name.text, Callable::Method(id, methods.len()), scope);
            let curried = matches!(scheme.result.as_ref().map(Type::kind), Some(TypeKind::Function(..)));
            if *is_joint && (scheme.result.is_none() || curried) {
                self.report(PlaceError::JointHere { span: name.span });
            }
            let (joint, span) = (*is_joint, name.span);
            methods.push(Method { name: name.text.clone(), scheme, joint, default: None, span });
        }
        self.change_class(id, |class| class.methods = methods);
        self.defaults_and_laws(id, own, members);
    }

    /// Registers the defaults and laws of a class; their bodies are checked later.
    fn defaults_and_laws(&mut self, id: ClassId, own: Constraint, members: &[ClassMember]) {
        for member in members {
            let Some(class) = self.env.classes.get(&id).cloned() else { return };
            match member {
                ClassMember::Signature { .. } => {}
                ClassMember::Default(stmt) => {
                    let StmtKind::Function { name, function, .. } = &stmt.kind else { continue };
                    let Some(at) = self.method_of(&class, name) else { continue };
                    self.may_be_joint(&class.methods[at], function);
                    let method = &class.methods[at];
                    if method.default.is_some() {
                        let (span, name) = (name.span, name.text.to_string());
                        let previous = method.span;
                        self.report(ClassError::DuplicateMember { span, name, previous });
                        continue;
                    }
                    let own = &method.scheme.params[class.params.len()..];
                    self.own_generics(name, &function.generics, own, "the default");
                    // The method's own parameters, with the names that the default gives them.
                    let mut params = method.scheme.params.clone();
                    let named = &function.generics.params;
                    for (var, param) in params[class.params.len()..].iter_mut().zip(named) {
                        var.name = param.name.text.clone();
                    }
                    let function = self.defer_body_check(
                        name,
                        function,
                        params,
                        method.scheme.constraints.clone(),
                        Some(expected(&class, method, &HashMap::default())),
                        false,
                    );
                    self.change_class(id, |class| class.methods[at].default = Some(function));
                    self.program.classes[id.index()].methods[at].default = Some(function);
                }
                ClassMember::Law(name, params, body) => {
                    if let Some(first) = class.laws.iter().find(|law| law.name == name.text) {
                        let (span, previous) = (name.span, first.span);
                        let name = name.text.to_string();
                        self.report(ClassError::DuplicateMember { span, name, previous });
                        continue;
                    }
                    let function = ast::Function {
                        is_joint: false,
                        is_proc: false,
                        generics: ast::Generics::default(),
                        params: vec![params.clone()],
                        result: None,
                        body: Body::Expr(Box::new(body.clone())),
                        header: name.span,
                    };
                    let domain = self.with_separate_item(|this| {
                        this.enter_class(id);
                        this.group_domain(params)
                    });
                    let law = RequiredSignature {
                        method: name.text.clone(),
                        class: class.name.clone(),
                        domain: domain.clone(),
                        result: Some(Type::bool()),
                    };
                    let params = class.params.clone();
                    let given = vec![own.clone()];
                    let function = self.defer_body_check(name, &function, params, given, Some(law), true);
                    let law = Law { name: name.text.clone(), function, domain, span: name.span };
                    self.change_class(id, |class| class.laws.push(law));
                }
            }
        }
    }

    /// Registers a function whose body is checked later, and returns its number.
    fn defer_body_check(
        &mut self,
        name: &Name,
        function: &ast::Function,
        type_params: Vec<TypeVar>,
        givens: Vec<Constraint>,
        expected: Option<RequiredSignature>,
        in_law: bool,
    ) -> FunctionId {
        let id = self.new_function();
        let pending = Pending {
            name: name.text.clone(),
            function: Arc::new(function.clone()),
            type_params,
            sizes: self.session_sizes(),
            givens,
            expected,
            in_law,
            in_doubt: false,
        };
        self.pending_functions.insert(id, pending);
        id
    }

    /// Reports a `joint fun` for a method that moves no data, or with several groups of parameters.
    fn may_be_joint(&mut self, method: &Method, function: &ast::Function) {
        let span = function.header;
        if function.is_joint && !method.joint {
            self.report(PlaceError::JointMethod { span, name: method.name.to_string() });
        } else if function.is_joint && function.params.len() != 1 {
            self.report(PlaceError::JointHere { span });
        }
    }

    /// Returns the position of the method that a member defines; reports an unknown method.
    fn method_of(&mut self, class: &Class, name: &Name) -> Option<usize> {
        let at = class.methods.iter().position(|m| m.name == name.text);
        if let Some(method) = at.and_then(|at| class.methods.get(at)) {
            self.note(name.span, |_| Some(Referent::At(method.span)));
        }
        if at.is_none() {
            let known: Vec<String> = class.methods.iter().map(|m| format!("`{}`", m.name)).collect();
            let similar = similar(&name.text, class.methods.iter().map(|m| &*m.name));
            self.report(ClassError::UnknownMethod {
                span: name.span,
                class: class.name.to_string(),
                name: name.text.to_string(),
                known,
                similar,
            });
        }
        at
    }

    /// Checks the generics written at a method in a default or an instance. Allowed are no
    /// constraints, and either no parameters or as many as the class gives the method, with the
    /// same kinds; `whose` names the definition in messages.
    fn own_generics(&mut self, name: &Name, generics: &ast::Generics, own: &[TypeVar], whose: &str) {
        if let Some((first, _)) = generics.constraints.first() {
            let instead = "what a method needs stands with its type in the class, what an instance needs \
                           stands with the instance's own parameters";
            let whose = format!("{whose} of `{}`", name.text);
            self.report(ClassError::ConstraintHere { span: first.span, whose, instead });
        }
        if generics.params.is_empty() {
            return;
        }
        let kinds: Vec<_> = generics.params.iter().map(|p| self.lower_kind(p.kind.as_ref())).collect();
        let fits = kinds.len() == own.len() && kinds.iter().zip(own).all(|(kind, var)| *kind == var.kind);
        if !fits {
            let (span, method) = (name.span, name.text.to_string());
            let (expected, found) = (own.len(), kinds.len());
            let kinds = expected == found;
            self.report(ClassError::MethodParameters { span, method, expected, found, kinds });
        }
    }

    /// Registers the instances of an input; their methods are checked with all functions.
    pub(in crate::check) fn collect_instances(&mut self, stmts: &[Stmt]) {
        let mut of_this_input: Vec<Span> = Vec::new();
        let mut made = Vec::new();
        for stmt in stmts {
            let StmtKind::Instance { generics, class, args, members, refusal } = &stmt.kind else { continue };
            let read = self.with_separate_item(|this| {
                let params = this.declare_params(&generics.params);
                let requires = this.constraints(&generics.constraints);
                let head = this.constraint(class, args, class.span)?;
                this.defer_applications(requires.clone());
                let refusal = refusal.as_ref().map(|words| this.parse_refusal(&words.text, words.span));
                Some((params, requires, head, refusal))
            });
            let Some((params, requires, head, refusal)) = read else { continue };
            // The result of a type function of a parameter matches nothing, or everything.
            if head.args.iter().any(Type::has_apply) {
                let what = "a type function of a parameter";
                let instead = "write an instance for each type that it gives";
                self.report(ClassError::NotHere { span: class.span, what, instead });
                continue;
            }
            if head.args.iter().any(Type::has_spliced) {
                let what = "a list before the end of a product";
                let instead = "write it for the first axis and the rest: `N \\* ..R`";
                self.report(ClassError::NotHere { span: class.span, what, instead });
                continue;
            }
            let membership =
                Arc::new(Membership { params, args: head.args.clone(), requires, refusal, span: class.span });
            if !self.own_structure(&head, class.span)
                || !self.check_instance_usable(&head, class.span)
                || !self.check_orphan_rule(&head, class.span)
                || !self.may_refuse(&head, &membership)
                || !self.coherent(&head, &membership, &mut of_this_input)
            {
                continue;
            }
            of_this_input.push(class.span);
            self.env.instances.entry(head.class).or_default().push(membership.clone());
            let refused = membership.refusal.is_some();
            let methods = match refused {
                true => Vec::new(),
                false => self.methods(&head, &membership, members, class.span),
            };
            let (params, args) = (membership.params.clone(), head.args.clone());
            let requires = membership.requires.iter().map(|c| (c.class, c.args.clone())).collect();
            let instance = core::Instance { class: head.class, params, args, requires, methods, refused };
            self.program.instances.push(instance);
            if !refused {
                made.push((head, membership, self.program.instances.len() - 1));
            }
        }
        for (head, membership, instance) in made {
            self.check_supers(&head, &membership);
            self.check_equality(&head, &membership, instance);
        }
    }

    /// Reports an instance of `Show` or `Eq` for a type that is not a declared type, and returns
    /// false. Values are shown and compared by structure down to declared types, so that such an
    /// instance would never be used.
    fn own_structure(&mut self, head: &Constraint, span: Span) -> bool {
        let known = &self.program.known;
        let structural = known.show == Some(head.class) || known.eq == Some(head.class);
        // The library's own class of this name may have any number of parameters.
        let [ty] = &head.args[..] else { return true };
        if !structural || ty.is_error() || matches!(ty.kind(), TypeKind::Nominal(..)) {
            return true;
        }
        let class = self.env.classes.get(&head.class).map_or_else(String::new, |c| c.name.to_string());
        self.report(ClassError::Structural { span, class, ty: ty.clone() });
        false
    }

    /// Returns the first abstract type in a type, the type itself included. `foreign` selects the
    /// abstract types of other modules; otherwise those of this module are searched.
    fn abstract_part(&self, ty: &Type, foreign: bool) -> Option<Type> {
        if let TypeKind::Nominal(nominal, _) = ty.kind() {
            let found = nominal.as_abstract().is_some() && self.is_foreign_abstract(ty) == foreign;
            return found.then(|| ty.clone());
        }
        let mut found = None;
        ty.kind().for_each_child(&mut |child| {
            if found.is_none() {
                found = self.abstract_part(child, foreign);
            }
        });
        found
    }

    /// Returns true if an instance stands in a permitted module: that of an abstract type in its
    /// head, or that of the class; otherwise reports an orphan. An instance of a third module would
    /// hold everywhere, and two modules might declare different ones.
    fn check_orphan_rule(&mut self, head: &Constraint, span: Span) -> bool {
        let Some(class) = self.env.classes.get(&head.class).cloned() else { return true };
        if self.env.replaceable(class.span) {
            return true;
        }
        if head.args.iter().any(|ty| self.abstract_part(ty, false).is_some()) {
            return true;
        }
        let Some(ty) = head.args.iter().find_map(|ty| self.abstract_part(ty, true)) else { return true };
        let TypeKind::Nominal(nominal, _) = ty.kind() else { return true };
        let home = self.env.modules.values().find(|module| module.declares(nominal));
        let home = home.map(|module| module.file.clone());
        let of_library = self.env.of_library(class.span);
        let mut modules = self.env.modules.values();
        let other = modules.find(|module| module.source == class.span.source && !of_library);
        let other = other.map(|module| module.file.clone());
        let (instance, class) = (self.env.text(head), class.name.to_string());
        let name = nominal.name.to_string();
        self.report(ClassError::Orphan { span, instance, ty, name, class, home, other });
        false
    }

    /// Reports a refusal of `Show` or `Eq`, and returns false. These are decided by structure: the
    /// refusal would not be consulted inside of other values.
    fn may_refuse(&mut self, head: &Constraint, membership: &Membership) -> bool {
        let known = &self.program.known;
        let structural = known.show == Some(head.class) || known.eq == Some(head.class);
        if membership.refusal.is_some() && structural {
            let what = "a refusal of `Show` or `Eq`";
            let instead = "values are shown and compared by structure; those of an abstract type are neither";
            self.report(ClassError::NotHere { span: membership.span, what, instead });
            return false;
        }
        true
    }

    /// Reports an instance of `Eq` that uses the default of `==` although the type has an opaque
    /// part: the default compares by structure, which requires data.
    fn check_equality(&mut self, head: &Constraint, membership: &Membership, instance: usize) {
        if self.program.known.eq != Some(head.class) {
            return;
        }
        let Some(class) = self.env.classes.get(&head.class).cloned() else { return };
        let methods = &self.program.instances[instance].methods;
        let by_default = class.methods.iter().zip(methods).find(|(m, i)| m.default == Some(i.function));
        let (Some((method, _)), Some(ty)) = (by_default, head.args.first()) else { return };
        let parts = core::program::component_types(ty);
        let opaque = self.with_separate_item(|this| {
            this.item.givens = this.with_supers(membership.requires.clone());
            parts.iter().find_map(|part| this.opaque_part(part))
        });
        if opaque.is_some() {
            let at_head = bindings(&class.params, &head.args);
            let ty = expected(&class, method, &at_head).ty();
            let (span, class, method) = (membership.span, class.name.to_string(), method.name.to_string());
            self.report(ClassError::MissingMethod { span, class, method, ty });
        }
    }

    /// Returns true if the head of an instance has no type in common with the head of another one;
    /// otherwise reports an overlap. An instance of an earlier input with the same head is removed.
    fn coherent(&mut self, head: &Constraint, new: &Arc<Membership>, of_this_input: &mut [Span]) -> bool {
        for param in &new.params {
            if !head.args.iter().any(|ty| ty.mentions(param)) {
                let (name, instance) = (param.name.to_string(), self.env.text(head));
                self.report(ClassError::FreeParameter { span: new.span, name, instance });
                return false;
            }
        }
        let known = self.env.instances.get(&head.class).cloned().unwrap_or_default();
        for other in known {
            let Some(both) = self.overlap(new, &other) else { continue };
            if narrows(new, &other) || narrows(&other, new) {
                continue;
            }
            let same =
                constraint::head_matches(new, &other.args) && constraint::head_matches(&other, &new.args);
            let earlier = !of_this_input.contains(&other.span);
            if same && earlier && self.env.replaceable(other.span) {
                if let Some(known) = self.env.instances.get_mut(&head.class) {
                    known.retain(|i| !Arc::ptr_eq(i, &other));
                }
                continue;
            }
            let instance = self.env.text(head);
            let other_text = self.env.text(&Constraint { class: head.class, args: other.args.clone() });
            let both = self.env.text(&Constraint { class: head.class, args: both });
            let previous = other.span;
            let error = ClassError::Overlap { span: new.span, instance, other: other_text, both, previous };
            self.report(error);
            return false;
        }
        true
    }

    /// Returns types that match the heads of both instances, if there are any.
    pub(in crate::check) fn overlap(&mut self, one: &Membership, other: &Membership) -> Option<Vec<Type>> {
        let mark = self.infer.mark();
        self.infer.tuples_apart = true;
        let (a, b) = (self.infer.instantiate(&one.params), self.infer.instantiate(&other.params));
        let mut pairs = one.args.iter().zip(&other.args);
        let meet = pairs.all(|(x, y)| self.infer.unify(&x.substitute(&a), &y.substitute(&b)).is_ok());
        self.infer.tuples_apart = false;
        let both = one.args.iter().map(|ty| self.infer.zonk(&ty.substitute(&a))).collect();
        self.infer.undo(mark);
        meet.then_some(both)
    }

    /// Makes one function for each method of an instance.
    fn methods(
        &mut self,
        head: &Constraint,
        membership: &Membership,
        members: &[Stmt],
        span: Span,
    ) -> Vec<Implementation> {
        let Some(class) = self.env.classes.get(&head.class).cloned() else { return Vec::new() };
        let at_head = bindings(&class.params, &head.args);
        let mut written: Vec<Option<(&Name, &ast::Function)>> = vec![None; class.methods.len()];
        for stmt in members {
            let StmtKind::Function { name, function, .. } = &stmt.kind else { continue };
            let Some(at) = self.method_of(&class, name) else { continue };
            self.may_be_joint(&class.methods[at], function);
            if let Some((first, _)) = written[at] {
                let (span, text, previous) = (name.span, name.text.to_string(), first.span);
                self.report(ClassError::DuplicateMember { span, name: text, previous });
            }
            written[at] = Some((name, function));
        }
        let variables = |params: &[TypeVar]| params.iter().cloned().map(Type::var).collect();
        let mut out = Vec::new();
        for (method, written) in class.methods.iter().zip(written) {
            let own = &method.scheme.params[class.params.len()..];
            let Some((name, function)) = written else {
                if let Some(default) = method.default {
                    out.push(Implementation { function: default, type_args: head.args.clone() });
                } else {
                    let (class, method) = (class.name.to_string(), expected(&class, method, &at_head));
                    let ty = method.ty();
                    let method = method.method.to_string();
                    self.report(ClassError::MissingMethod { span, class, method, ty });
                }
                continue;
            };
            self.own_generics(name, &function.generics, own, "an instance's definition");
            // The method's own parameters, with the names that the instance gives them.
            let named = self.with_separate_item(|this| this.declare_params(&function.generics.params));
            let own_here: Vec<TypeVar> = if named.len() == own.len() {
                named
            } else {
                own.iter().map(|var| self.env.fresh_var(&var.name, var.kind)).collect()
            };
            let mut at = at_head.clone();
            at.extend(own.iter().map(|v| v.id).zip(own_here.iter().cloned().map(Type::var)));
            let mut givens = membership.requires.clone();
            givens.extend(method.scheme.constraints.iter().map(|c| c.substitute(&at)));
            let params: Vec<TypeVar> = membership.params.iter().chain(&own_here).cloned().collect();
            let expected = expected(&class, method, &at);
            let function = self.defer_body_check(name, function, params, givens, Some(expected), false);
            out.push(Implementation { function, type_args: variables(&membership.params) });
        }
        out
    }

    /// Reports the superclasses of the class that do not hold at the types of an instance.
    fn check_supers(&mut self, head: &Constraint, membership: &Membership) {
        let Some(class) = self.env.classes.get(&head.class).cloned() else { return };
        let at_head = bindings(&class.params, &head.args);
        let missing = self.with_separate_item(|this| {
            this.item.givens = this.with_supers(membership.requires.clone());
            let supers = class.supers.iter().map(|c| c.substitute(&at_head));
            let supers = supers.map(|constraint| {
                let (answer, refused) = this.entailed_unless_refused(&constraint);
                (constraint, answer == Answer::Yes, refused)
            });
            supers.filter(|(_, holds, refused)| !holds || refused.is_some()).collect::<Vec<_>>()
        });
        for (constraint, _, refused) in missing {
            if let Some(RefusedInstance { asked, instance, words: text }) = refused {
                let (span, needed_by) = (membership.span, format!("`{}`", self.env.text(head)));
                let constraint = self.env.text(&asked);
                self.report(ClassError::Refused { span, constraint, needed_by, instance, text });
                continue;
            }
            let advice = self.advice(&constraint);
            let (instance, missing) = (self.env.text(head), self.env.text(&constraint));
            let (span, class) = (membership.span, class.name.to_string());
            self.report(ClassError::MissingSuper { span, instance, class, missing, advice });
        }
    }
}

impl Checker<'_> {
    /// Reports a method whose type differs from the type that the class requires.
    pub(in crate::check) fn check_required_type(
        &mut self,
        expected: &RequiredSignature,
        found: &Type,
        span: Span,
    ) {
        let wanted = expected.ty();
        if !self.infer.try_unify(found, &wanted) {
            let found = self.infer.zonk_with_defaults(found);
            let (method, class) = (expected.method.to_string(), expected.class.to_string());
            let error = ClassError::MethodType { span, method, expected: wanted, found, class };
            self.report(error);
        }
    }
}

impl RequiredSignature {
    /// Returns the required type of the function.
    pub fn ty(&self) -> Type {
        Scheme::new(Vec::new(), self.domain.clone(), self.result.clone()).ty()
    }
}

/// Returns the required signature of a method where the class's parameters are these types.
fn expected(class: &Class, method: &Method, at: &HashMap<u32, Type>) -> RequiredSignature {
    RequiredSignature {
        method: method.name.clone(),
        class: class.name.clone(),
        domain: method.scheme.domain.substitute(at),
        result: method.scheme.result.as_ref().map(|r| r.substitute(at)),
    }
}

/// Returns true if the head of `one` is narrower than that of `other` on the types that both match,
/// and so preferred there ([`crate::types::matching`]): it names an enumeration where the other has
/// any index type, or writes out more components of a tuple.
fn narrows(one: &Membership, other: &Membership) -> bool {
    let at = |a: &Type, b: &Type| {
        let index = matches!(b.kind(), TypeKind::Var(var) if var.kind == Kind::Compact);
        index && a.as_enumeration().is_some() || a.written_components() > b.written_components()
    };
    let pairs = || one.args.iter().zip(&other.args);
    pairs().any(|(a, b)| at(a, b)) && !pairs().any(|(a, b)| at(b, a))
}
