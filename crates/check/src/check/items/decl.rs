//! Functions at the top level: the headers are read first, the bodies when needed or at the end.

use crate::check::context::{Checker, Frame, FrameKind, Pending};
use crate::check::elaborate::existential;
use crate::check::env::{Callable, Candidates, Definition, Env, Scheme, Scope, Signature, same_domain};
use crate::check::error::{CallError, PlaceError, TypeError};
use crate::check::terms;
use crate::core::{Function, FunctionId, Prim, Program, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Param, Stmt, StmtKind};
use crate::types::{Type, TypeKind};
use std::sync::Arc;

/// Makes a checker that checks bodies on demand by [`Checker::ensure_checked`].
pub(in crate::check) fn new_checker<'a>(env: &'a mut Env, program: &'a mut Program) -> Checker<'a> {
    Checker::new(env, program, |checker, id| checker.ensure_checked(id))
}

impl Checker<'_> {
    /// Declares the functions of an input by name.
    pub(in crate::check) fn collect_functions<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt>) {
        for stmt in stmts {
            if let StmtKind::Party { name, .. } = &stmt.kind
                && self.program.party.as_ref().is_some_and(|party| party.name == name.text)
            {
                self.declare_me(name.span);
            }
            let StmtKind::Function { name, function, doc } = &stmt.kind else { continue };
            let (pending, scheme, unknown_result) =
                self.with_separate_item(|this| this.declared(name, function));
            if !name.text.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                self.check_operator_reachable(&name.text, &scheme.domain, name.span);
            }
            if function.is_joint && function.params.len() != 1 {
                self.report(PlaceError::JointHere { span: function.header });
            }
            let id = self.new_function();
            let parameters = self.parameters_of(&function.params, &pending);
            let signature = Signature {
                joint: function.is_joint,
                procedure: function.is_valued_procedure(),
                name: name.text.clone(),
                scheme,
                unknown_result,
                parameters,
                span: name.span,
                doc: doc.clone(),
            };
            self.add_or_replace_function(&name.text, id, &signature, self.env.own_scope());
            self.env.signatures.insert(id, signature);
            self.pending_functions.insert(id, pending);
        }
    }

    /// Declares `me`, the party that runs the program: `#me : Party @ Party`.
    fn declare_me(&mut self, span: Span) {
        let Some(party) = self.program.party.clone() else { return };
        let all = Type::nominal(party, Vec::new());
        let result = Type::placed(all.clone(), all.clone());
        let body =
            Term::new(TermKind::Prim(Prim::Me, vec![all], vec![Term::unit(span)]), result.clone(), span);
        let name: Arc<str> = "me".into();
        let function = Function {
            name: name.clone(),
            type_params: Vec::new(),
            params: Vec::new(),
            captures: Vec::new(),
            this: None,
            locals: Vec::new(),
            domain: Type::unit(),
            given: Vec::new(),
            body,
            span,
        };
        let id = self.new_function();
        self.program.functions[id.index()] = Some(Arc::new(function));
        let signature = Signature {
            name: name.clone(),
            scheme: Scheme::new(Vec::new(), Type::unit(), Some(result)),
            unknown_result: false,
            joint: false,
            procedure: false,
            parameters: vec![Vec::new()],
            span,
            doc: Some("The party that runs this, at each party.".into()),
        };
        self.add_or_replace_function(&name, id, &signature, self.env.own_scope());
        self.env.signatures.insert(id, signature);
    }

    /// Adds a function to those of its name in a scope. A function of an earlier input with the
    /// same argument type is replaced; one of the same input is reported.
    pub(in crate::check) fn add_or_replace_function(
        &mut self,
        name: &Arc<str>,
        id: FunctionId,
        new: &Signature,
        scope: Scope,
    ) {
        let known = match self.env.values.get(name) {
            Some(Definition::Callables(known)) => known.clone(),
            _ => Candidates::default(),
        };
        let mut duplicate = None;
        // A constructor, method or primitive of the scope with the same argument type is replaced
        // too.
        let replaced: Vec<Callable> = known
            .with_scopes()
            .filter(|(callable, of)| *of == scope && same_domain(&self.header(callable), &new.scheme))
            .map(|(callable, _)| callable.clone())
            .collect();
        for callable in &replaced {
            if let Callable::Function(other) = callable
                && *other >= self.first_function
                && let Some(old) = self.env.signatures.get(other)
            {
                duplicate = Some(old.span);
            }
        }
        if let Some(previous) = duplicate {
            let error = CallError::DuplicateFunction { span: new.span, name: name.to_string(), previous };
            self.report(error);
        }
        if let Some(candidates) = self.env.candidates_in(name, scope) {
            candidates.retain(|callable, of| of != scope || !replaced.contains(callable));
            candidates.add(Callable::Function(id), scope);
        }
    }

    /// Reads the header of a function. Returns the work left for later, the type, and true if the
    /// result type remains to be inferred.
    fn declared(&mut self, name: &ast::Name, function: &ast::Function) -> (Pending, Scheme, bool) {
        let type_params = self.declare_params(&function.generics.params);
        let constraints = self.constraints(&function.generics.constraints);
        let in_doubt = constraints.len() < function.generics.constraints.len();
        let domains: Vec<Type> = function.params.iter().map(|group| self.group_domain(group)).collect();
        let declared = function.result.as_ref().map(|r| self.lower_result(r)).filter(|r| !r.has_meta());
        let unknown = declared.is_none() && !function.is_proc;
        let mut result = if function.is_proc && !function.is_valued_procedure() {
            None
        } else {
            Some(declared.unwrap_or_else(Type::error))
        };
        let mut domains = domains.into_iter().rev();
        let innermost = domains.next().unwrap_or_else(Type::unit);
        let mut scheme_domain = innermost;
        for outer in domains {
            let inner = match result {
                Some(result) => Type::function(scheme_domain, result),
                None => Type::procedure(scheme_domain),
            };
            result = Some(inner);
            scheme_domain = outer;
        }
        let scheme = Scheme {
            params: type_params.clone(),
            domain: scheme_domain,
            result,
            constraints: constraints.clone(),
        };
        let pending = Pending {
            name: name.text.clone(),
            function: Arc::new(function.clone()),
            type_params,
            sizes: self.session_sizes(),
            givens: constraints,
            expected: None,
            in_law: false,
            in_doubt,
        };
        (pending, scheme, unknown)
    }

    /// Returns the type of a group of parameters; reports those without a written type.
    pub(in crate::check) fn group_domain(&mut self, group: &[Param]) -> Type {
        let mut types = Vec::new();
        for param in group {
            let written = match (&param.ty, &param.pattern.kind) {
                (Some(written), _) | (None, ast::PatternKind::Typed(_, written)) => Some(written),
                _ => None,
            };
            types.push(match written {
                Some(written) => self.lower(written),
                None => Type::error(),
            });
            let hole = types.last().is_some_and(Type::has_meta);
            if written.is_none() || hole {
                let name = match &param.pattern.kind {
                    ast::PatternKind::Name(name) => name.text.to_string(),
                    _ => "_".to_string(),
                };
                self.report(CallError::UntypedParameter { span: param.pattern.span, name });
                types.pop();
                types.push(Type::error());
            }
        }
        let ty = Type::product(types);
        self.infer.zonk_with_defaults(&ty)
    }

    /// Checks the body of a function of this input, if it has not been checked.
    pub(in crate::check) fn ensure_checked(&mut self, id: FunctionId) {
        let Some(pending) = self.pending_functions.remove(&id) else { return };
        self.with_separate_item(|this| this.function(id, &pending));
    }

    /// Checks the body of a function and stores the function in the program.
    fn function(&mut self, id: FunctionId, pending: &Pending) {
        let ast = &*pending.function;
        self.item.type_params = pending.type_params.clone();
        self.item.givens = self.with_supers(pending.givens.clone());
        self.item.in_law = pending.in_law;
        self.item.in_doubt = pending.in_doubt;
        self.item.type_scope.extend(pending.sizes.iter().cloned());
        for var in &pending.type_params {
            self.item.type_scope.insert(var.name.clone(), Type::var(var.clone()));
        }
        // The frame is the outermost one: functions at the top level have no locals to capture.
        let kind = if ast.is_proc && ast.params.len() <= 1 { FrameKind::Proc } else { FrameKind::Fun };
        self.item.frames.push(Frame::new(kind, pending.name.clone(), ast.header));
        self.frame().joint = ast.is_joint;
        self.frame().valued = ast.is_valued_procedure() && pending.expected.is_none();
        let groups: Vec<&[Param]> = ast.params.iter().map(Vec::as_slice).collect();
        let wanted = pending.expected.as_ref();
        if wanted.is_some() {
            self.report_defaults(&ast.params);
        }
        let hint = wanted.map(|e| e.domain.clone());
        let (params, prefix, domain) = self.parameters(groups.first().copied().unwrap_or(&[]), hint);
        let (body, ty) = if groups.len() <= 1 {
            let result = wanted.and_then(|e| e.result.clone());
            self.function_body(ast, result, &domain, prefix, ast.header)
        } else {
            let kind = if ast.is_proc { FrameKind::Proc } else { FrameKind::Fun };
            let closure = self.group(&groups[1..], ast, kind, &pending.name, None, None, None, ast.header);
            let ty = Type::function(domain.clone(), closure.ty.clone());
            (terms::with_prefix(prefix, closure), ty)
        };
        self.choose_deferred(0);
        self.parameters_used(ast, pending);
        let Some(frame) = self.item.frames.pop() else { return };
        let mut function = Function {
            name: pending.name.clone(),
            type_params: pending.type_params.clone(),
            params,
            captures: Vec::new(),
            this: None,
            locals: frame.locals,
            domain,
            given: Vec::new(),
            body,
            span: ast.header,
        };
        if let Some(expected) = wanted {
            self.check_required_type(expected, &ty, ast.header);
        }
        self.finish_function(&mut function);
        let ty = self.infer.zonk_with_defaults(&ty);
        let more = self.finish_inner_functions(&[], &[&function.body]);
        existential::close_term(&mut function.body, &more);
        let again = self.repeat_requirements(ast.header);
        if !again.is_empty() {
            let unit = crate::core::Term::unit(ast.header);
            let body = std::mem::replace(&mut function.body, unit);
            function.body = terms::with_prefix(again, body);
        }
        self.define_function(id, function);
        if let (TypeKind::Function(_, result), Some(signature)) =
            (ty.kind(), self.env.signatures.get_mut(&id))
            && signature.unknown_result
        {
            signature.scheme.result = Some(result.clone());
        }
        if let Some(signature) = self.env.signatures.get_mut(&id) {
            signature.unknown_result = false;
        }
    }

    /// Warns about type parameters that nothing in a function mentions.
    fn parameters_used(&mut self, ast: &ast::Function, pending: &Pending) {
        // An error may be the reason why a parameter is not mentioned.
        if pending.expected.is_some() {
            return;
        }
        let in_doubt = self.reports.any_error();
        for (var, written) in pending.type_params.iter().zip(&ast.generics.params) {
            let asked = pending.givens.iter().any(|given| given.args.iter().any(|ty| ty.mentions(var)));
            if !asked && !self.item.mentioned.contains(&var.id) {
                let (span, name) = (written.name.span, var.name.to_string());
                let whose = format!("`{}`", pending.name);
                if in_doubt {
                    self.note_suppressed(span);
                    continue;
                }
                self.report(TypeError::UnusedTypeParameter { span, name, whose });
            }
        }
    }
}
