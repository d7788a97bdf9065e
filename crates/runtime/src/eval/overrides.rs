//! Overridden printing and equality: declared types with an instance of `Show` or `Eq`.
//!
//! Values are shown and compared by structure, except for declared types with an instance of `Show`
//! or `Eq`, wherever they occur in a value. Structural printing and comparison call no functions: a
//! first walk collects the overridden parts, their functions are called, and a second walk inserts
//! the texts ([`super::show`]); of equalities, all must be true.
//!
//! Parts of a compact value are codes: no instance is consulted there.

use super::code::Callee;
use super::error::{Failure, RuntimeError};
use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::machine::{Host, Machine};
use super::show::{Abbreviation, OverriddenParts, ValueFormatter};
use super::stack_guard;
use crate::core::{ClassId, Program};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use crate::value::Value;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// The stack in bytes that printing a value of usual depth takes.
const SHOW_STACK_BYTES: usize = 64 << 10;

/// The declared types within a type that override a method, with their functions.
#[derive(Clone, Default)]
pub struct Overrides {
    types: Vec<(Type, Arc<Callee>)>,
}

impl Overrides {
    /// Collects the overrides of a method of a class within the concrete type `ty`.
    pub fn of(program: &Program, class: Option<ClassId>, method: &str, ty: &Type) -> Overrides {
        let callee = |(ty, function, type_args)| {
            (ty, Arc::new(Callee { function, type_args, instance: OnceLock::new() }))
        };
        Overrides { types: program.overriding_methods(class, method, ty).into_iter().map(callee).collect() }
    }

    /// Returns true if nothing is overridden.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the index of the function of a type, or else the type without the newtypes around
    /// it.
    pub fn index_of(&self, ty: &Type) -> std::result::Result<usize, Type> {
        let mut ty = ty.clone();
        loop {
            if let Some(at) = self.types.iter().position(|(overrides, _)| *overrides == ty) {
                return Ok(at);
            }
            match ty.kind() {
                TypeKind::Nominal(nominal, _)
                    if nominal.cyclic || nominal.origin.is_some() || ty.compact_fields().is_some() =>
                {
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

    /// Returns the function at an index.
    pub fn callee(&self, at: usize) -> Arc<Callee> {
        self.types[at].1.clone()
    }
}

impl Machine {
    /// Returns the text of a value that a run has returned.
    pub fn value_text(
        &mut self,
        program: &Program,
        value: &Value,
        ty: &Type,
        host: &mut Host<'_>,
    ) -> std::result::Result<String, Box<RuntimeError>> {
        let mut run = Evaluator { machine: self, program, host, ticks: 0 };
        let overrides = Overrides::of(program, program.known.show, "show", ty);
        run.overridden_text(value, ty, &overrides, Span::default()).map_err(AbruptCompletion::into_error)
    }
}

impl Evaluator<'_, '_> {
    /// Calls the function at an index on parts of a value.
    pub(super) fn call_override(
        &mut self,
        overrides: &Overrides,
        at: usize,
        args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        let callee = overrides.callee(at);
        let instance = self.callee_instance(&callee, span)?;
        self.tick(span)?;
        self.call(instance, None, args, span)
    }

    /// Returns the text of a value with overridden parts.
    pub(super) fn overridden_text(
        &mut self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        span: Span,
    ) -> Result<String> {
        self.overridden_text_within(value, ty, overrides, None, span)
    }

    /// Formats a value; its overridden parts are collected, or their texts put in place.
    fn walk_parts(
        &self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        parts: &RefCell<OverriddenParts>,
        abbreviation: Option<Abbreviation>,
    ) -> String {
        let (layouts, interrupt) = (&self.machine.layouts, Some(self.host.interrupt));
        ValueFormatter { layouts, read_back: false, overrides, parts, abbreviation, interrupt }
            .text(value, ty)
    }

    /// Returns the text of a value with overridden parts, abbreviated if asked for.
    pub(super) fn overridden_text_within(
        &mut self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        brief: Option<Abbreviation>,
        span: Span,
    ) -> Result<String> {
        // Structural printing ends with `…` where no stack is left. A `show` that calls itself must
        // fail instead, as any deep recursion does.
        if !stack_guard::has_room_for(SHOW_STACK_BYTES) {
            return Err(self.fail(Failure::TooDeep { depth: self.machine.calls.len() }, span));
        }
        // The first walk collects the parts, the second puts their texts in place.
        let parts = RefCell::new(OverriddenParts::Collected(Vec::new()));
        self.walk_parts(value, ty, overrides, &parts, brief);
        self.poll_interrupt(span)?;
        let mut texts = VecDeque::new();
        if let OverriddenParts::Collected(met) = parts.into_inner() {
            for (at, value) in met {
                let text = self.call_override(overrides, at, vec![value], span)?;
                texts.push_back(text.as_str().to_string());
            }
        }
        let parts = RefCell::new(OverriddenParts::Texts(texts));
        let text = self.walk_parts(value, ty, overrides, &parts, brief);
        self.poll_interrupt(span)?;
        Ok(text)
    }
}
