//! Abstract types: a name, parameters, and the dependence of storage on them.
//!
//! `type Cipher[T, I:COMPACTLINEAR] layout I;` has no body. Its `layout` states a property of its
//! storage: the type is *functorial* in `I`, that is, it depends on `I` only up to natural
//! isomorphism (the size of an index, the slots of a type). So `Cipher[T, 3 \* 2]` and
//! `Cipher[T, 6]` have the same storage. For the other arguments, only equal ones are known to give
//! equal storage. With `= T ^ I` there is a representation: always visible to the executors, and to
//! the checker unless it works inside [`with_hidden_representations`].

use super::variable_numbers::STORAGE_OF_ABSTRACT_TYPES;
use super::{Kind, Nominal, NominalBody, Type, TypeVar};
use std::cell::RefCell;

/// The declaration of an abstract type.
#[derive(Clone, Debug)]
pub struct Abstract {
    /// For each parameter, true if the type is functorial in it.
    pub layout: Vec<bool>,
    /// The representation, in terms of the parameters.
    pub representation: Option<Type>,
}

thread_local! {
    /// Abstract types whose representation is hidden on this thread.
    static HIDDEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with the representations of the abstract types with these numbers hidden.
pub fn with_hidden_representations<T>(ids: Vec<u32>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous state, also when `work` panics.
    struct Before(Vec<u32>);
    impl Drop for Before {
        fn drop(&mut self) {
            HIDDEN.replace(std::mem::take(&mut self.0));
        }
    }
    let _before = Before(HIDDEN.replace(ids));
    work()
}

impl Nominal {
    /// Returns the declaration of an abstract type.
    pub fn as_abstract(&self) -> Option<&Abstract> {
        match self.body()? {
            NominalBody::Abstract(known) => Some(known),
            _ => None,
        }
    }

    /// Returns the representation of an abstract type at these arguments, hidden or not.
    pub fn representation(&self, args: &[Type]) -> Option<Type> {
        let known = self.as_abstract()?;
        Some(known.representation.as_ref()?.substitute(&self.bindings(args)))
    }

    /// Returns an abstract type of the same name with this storage. All that are made of one type
    /// are applications of one abstract type, whose parameter is the storage. Its number is
    /// one of [`STORAGE_OF_ABSTRACT_TYPES`].
    pub(super) fn stored_like(&self, storage: Type) -> Type {
        // A parameter is bound where it is substituted only, so any number does.
        let param = TypeVar { id: 0, name: "Storage".into(), kind: Kind::Type };
        let id = STORAGE_OF_ABSTRACT_TYPES.nth_from_last(self.id as usize);
        let nominal = Nominal::declare(id, self.name.clone(), vec![param.clone()], Kind::Type);
        nominal.define(NominalBody::Abstract(Abstract {
            layout: vec![false],
            representation: Some(Type::var(param)),
        }));
        Type::nominal(nominal, vec![storage])
    }

    /// Returns the type that values are stored as, where that is visible: the definition of a
    /// newtype, the unit sum of an enumeration, the representation of an abstract type.
    pub fn stored_as(&self, args: &[Type]) -> Option<Type> {
        if HIDDEN.with_borrow(|hidden| hidden.contains(&self.id)) {
            return None;
        }
        self.definition(args).or_else(|| self.representation(args))
    }

    /// Returns, for each parameter of an abstract type that is closed here, true if the type is
    /// functorial in it; `None` for other types.
    pub fn layout(&self) -> Option<&[bool]> {
        let known = self.as_abstract()?;
        let hidden = || HIDDEN.with_borrow(|hidden| hidden.contains(&self.id));
        (known.representation.is_none() || hidden()).then_some(&known.layout)
    }
}
