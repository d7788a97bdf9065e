//! Values that carry their sizes: filters, packed values, and statements that open them.
//!
//! The type variable of a statement that opens a value stands for another size in each call of its
//! function, so each inlined statement has type variables of its own ([`INLINED_SIZES`]).

use super::{Builder, Declined, Known, Result, Scope};
use crate::array_ir::validate::instantiate;
use crate::array_ir::{Op, Size, Space, Type, Value};
use crate::core::{LocalId, Term};
use crate::types::variable_numbers::INLINED_SIZES;
use crate::types::{Type as CoreType, TypeVar};

impl Builder<'_> {
    /// `compress (x, kept)`: the elements beside which a truth value is true.
    pub(super) fn compress(&mut self, scope: &mut Scope, args: &[Term]) -> Result<Value> {
        let [array, kept] = args else { return Err(Declined::Primitive.into()) };
        let (array, kept) = (self.value(scope, array)?, self.value(scope, kept)?);
        let Type::Array(space, element) = self.types[&array].clone() else {
            unreachable!("{array} is an array")
        };
        let body = self.block(vec![Type::Index(space)], |this, params| {
            let is_kept = this.element_at(kept, params[0])?;
            let value = this.element_at(array, params[0])?;
            let ty = Type::Tuple(vec![Type::B1, (*element).clone()]);
            this.define(ty, Op::Tuple(vec![is_kept, value]))
        })?;
        let kept = Type::array(Space::new([Size::bound(0)]), *element);
        self.define(Type::Exists(1, Box::new(kept)), Op::Filter(body))
    }

    /// A value together with its sizes.
    pub(super) fn pack_sizes(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        sizes: &[CoreType],
        inner: &Term,
    ) -> Result<Value> {
        let ty = self.ty(&scope.concrete(&term.ty))?;
        let sizes = sizes.iter().map(|size| self.size(&scope.concrete(size))).collect::<Result<Vec<_>>>()?;
        let value = self.value(scope, inner)?;
        let Type::Exists(count, packed) = &ty else {
            unreachable!("a packed value is of an existential type")
        };
        // An index type of several digits, or of none, has no form with one size.
        if instantiate(packed, *count, &sizes).as_ref() != Ok(&self.types[&value]) {
            return Err(Declined::Arrival.into());
        }
        self.define(ty.clone(), Op::Pack(ty, sizes, value))
    }

    /// A statement that opens a value: its sizes are those of type variables from here on.
    pub(super) fn open(
        &mut self,
        scope: &mut Scope,
        vars: &[TypeVar],
        local: LocalId,
        value: &Term,
    ) -> Result<()> {
        let value = self.value(scope, value)?;
        let Type::Exists(count, inner) = self.types[&value].clone() else {
            unreachable!("{value} carries its sizes")
        };
        let mut own = Vec::new();
        for var in vars {
            let id = INLINED_SIZES.nth(self.opened.len());
            let size = self.fresh_size();
            self.opened.push(size);
            own.push(size);
            scope.bindings.insert(var.id, CoreType::var(TypeVar { id, ..var.clone() }));
        }
        let sizes: Vec<Size> = own.iter().map(|var| Size::var(*var)).collect();
        let ty = instantiate(&inner, count, &sizes).map_err(|_| Declined::Size)?;
        let opened = self.define(ty, Op::Open(own, value))?;
        self.bind_local(scope, local, Known::Data(opened));
        Ok(())
    }
}
