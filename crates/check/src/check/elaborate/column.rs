//! Columns: `x.f` where `x` is an array of records and `f` one of their fields.
//!
//! Takes the type of an array, `R ^ I`, and a name; returns the types of the records and of the
//! indices if the name is that of a field of `R`. As on one record, the field wins over functions
//! of that name. A variable of type `I` wins over the field, because `x.i` is an element where `i`
//! is an index.

use crate::check::context::Checker;
use crate::check::resolve::candidates::Variable;
use crate::syntax::ast::Name;
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Returns the type of the records whose column `name` selects from a value of type `ty`, and
    /// their index type; `None` if `name` is no column.
    pub(in crate::check) fn column_of(&mut self, ty: &Type, name: &Name) -> Option<(Type, Type)> {
        let ty = self.infer.zonk(ty).unfold();
        let TypeKind::Array(element, index) = ty.kind() else { return None };
        let fields = self.env.visible_parts(element, name.span)?;
        if !fields.iter().any(|(field, _)| *field == name.text) || self.is_index_variable(name, index) {
            return None;
        }
        Some((element.clone(), index.clone()))
    }

    /// Returns true if a name is that of a variable of this index type.
    fn is_index_variable(&mut self, name: &Name, index: &Type) -> bool {
        let found = match self.find(&name.text).variable {
            Some(Variable::Local(depth, binding)) => {
                self.item.frames[depth].locals[binding.local.index()].ty.clone()
            }
            Some(Variable::Global(id)) => self.program.globals[id.index()].ty.clone(),
            None => return false,
        };
        let mark = self.infer.mark();
        let fits = self.infer.unify(&found, index).is_ok();
        self.infer.undo(mark);
        fits
    }
}
