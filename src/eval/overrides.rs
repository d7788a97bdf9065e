//! Declared types with a text or an equality of their own.
//!
//! Values are shown and compared by structure; an instance of `Show` or `Eq` says otherwise for a
//! declared type, wherever in a value it occurs. Showing and comparing stay walks without calls:
//! the walk first gathers the parts that have a function of their own, the functions are called,
//! and then their results are put in place ([`super::show`]) or must all be true.
//!
//! Inside a compact value only codes exist: no instance is asked there.

use super::code::Callee;
use super::error::{Failure, RuntimeError};
use super::run::{Host, Machine, Result, Run, Stop};
use super::show::{Brief, Parts, Show};
use super::stack_guard;
use crate::core::{ClassId, Program};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use crate::value::Value;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Stack that showing a value of usual depth takes.
const SHOWING: usize = 64 << 10;

/// The declared types in a type that have a function of their own for something.
#[derive(Clone, Default)]
pub struct Overrides {
    types: Vec<(Type, Arc<Callee>)>,
}

impl Overrides {
    /// Those in `ty`, concrete, for a method of a class.
    pub fn of(program: &Program, class: Option<ClassId>, method: &str, ty: &Type) -> Overrides {
        let callee = |(ty, function, type_args)| {
            (ty, Arc::new(Callee { function, type_args, instance: OnceLock::new() }))
        };
        Overrides { types: program.overriding_methods(class, method, ty).into_iter().map(callee).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The number of a type's function, or the type without the newtypes around it, which have none.
    pub fn at(&self, ty: &Type) -> std::result::Result<usize, Type> {
        let mut ty = ty.clone();
        loop {
            if let Some(at) = self.types.iter().position(|(own, _)| *own == ty) {
                return Ok(at);
            }
            match ty.kind() {
                TypeKind::Nominal(nominal, _) if nominal.cyclic || ty.compact_fields().is_some() => {
                    return Err(ty);
                }
                TypeKind::Nominal(nominal, args) => match nominal.newtype_definition(args) {
                    Some(definition) => ty = definition,
                    None => return Err(ty),
                },
                _ => return Err(ty),
            }
        }
    }

    /// A function by its number.
    pub fn callee(&self, at: usize) -> Arc<Callee> {
        self.types[at].1.clone()
    }
}

impl Machine {
    /// The text for people of a value that a run has given.
    pub fn text(
        &mut self,
        program: &Program,
        value: &Value,
        ty: &Type,
        host: &mut Host<'_>,
    ) -> std::result::Result<String, Box<RuntimeError>> {
        let mut run = Run { machine: self, program, host, ticks: 0 };
        let own = Overrides::of(program, program.known.show, "show", ty);
        run.own_text(value, ty, &own, Span::default()).map_err(Stop::into_error)
    }
}

impl Run<'_, '_> {
    /// Calls the function that a part of a value has of its own.
    pub(super) fn call_own(
        &mut self,
        own: &Overrides,
        at: usize,
        args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        let instance = self.instance(&own.callee(at), span)?;
        self.tick(span)?;
        self.call(&instance, None, args, span)
    }

    /// The text for people of a value, parts of which have a text of their own.
    pub(super) fn own_text(
        &mut self,
        value: &Value,
        ty: &Type,
        own: &Overrides,
        span: Span,
    ) -> Result<String> {
        self.own_glance(value, ty, own, None, span)
    }

    /// The same of a part of the value, if a glance is enough.
    pub(super) fn own_glance(
        &mut self,
        value: &Value,
        ty: &Type,
        own: &Overrides,
        brief: Option<Brief>,
        span: Span,
    ) -> Result<String> {
        // Showing ends with `…` where there is no room left: a text of its own that asks for itself must
        // not end so, but as any recursion does.
        if !stack_guard::has_room_for(SHOWING) {
            return Err(self.fail(Failure::TooDeep { depth: self.machine.calls.len() }, span));
        }
        let parts = RefCell::new(Parts::Met(Vec::new()));
        let (layouts, stop) = (&self.machine.layouts, Some(self.host.interrupt));
        Show { layouts, read_back: false, own, parts: &parts, brief, stop }.text(value, ty);
        self.go_on(span)?;
        let mut texts = VecDeque::new();
        if let Parts::Met(met) = parts.into_inner() {
            for (at, value) in met {
                let text = self.call_own(own, at, vec![value], span)?;
                texts.push_back(text.as_str().to_string());
            }
        }
        let parts = RefCell::new(Parts::Texts(texts));
        let (layouts, stop) = (&self.machine.layouts, Some(self.host.interrupt));
        let text = Show { layouts, read_back: false, own, parts: &parts, brief, stop }.text(value, ty);
        self.go_on(span)?;
        Ok(text)
    }
}
