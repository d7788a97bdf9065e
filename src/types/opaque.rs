//! Abstract types: a name, parameters, and how storage depends on them.
//!
//! `type Cipher[T, I:COMPACTLINEAR] layout I;` has no body. What may be known of its storage is
//! said by `layout`: it is *functorial* in `I`, that is, it depends on `I` only through what a
//! natural isomorphism keeps (the size of an index, the slots of a type). So `Cipher[T, 3 \* 2]`
//! and `Cipher[T, 6]` have the same storage, and of its other arguments nothing is known but that
//! equal ones give equal storage. With `= T ^ I` there is a representation, known to those that may
//! see it: the executors always, the checker unless it works inside [`with_hidden_representations`].

use super::{Nominal, NominalBody, Type};
use std::cell::RefCell;

/// What is known of an abstract type.
#[derive(Clone, Debug)]
pub struct Abstract {
    /// For each parameter, whether the type is functorial in it.
    pub layout: Vec<bool>,
    /// How its values are stored, in terms of the parameters.
    pub representation: Option<Type>,
}

thread_local! {
    /// Abstract types whose representation the work in progress does not know.
    static HIDDEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Does `work` without knowing the representation of the abstract types with these numbers.
pub fn with_hidden_representations<T>(ids: Vec<u32>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was hidden before, also when `work` panics.
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
    /// What is known of it, if it is an abstract type.
    pub fn as_abstract(&self) -> Option<&Abstract> {
        match self.body()? {
            NominalBody::Abstract(known) => Some(known),
            _ => None,
        }
    }

    /// The representation of an abstract type at these arguments, whoever asks.
    pub fn representation(&self, args: &[Type]) -> Option<Type> {
        let known = self.as_abstract()?;
        Some(known.representation.as_ref()?.substitute(&self.bindings(args)))
    }

    /// What its values are stored as, where that is known here: the definition of a newtype, the
    /// unit sum of an enumeration, the representation of an abstract type.
    pub fn stored_as(&self, args: &[Type]) -> Option<Type> {
        if HIDDEN.with_borrow(|hidden| hidden.contains(&self.id)) {
            return None;
        }
        self.definition(args).or_else(|| self.representation(args))
    }

    /// For each parameter of an abstract type that stays closed here, whether it is functorial in
    /// it.
    pub fn layout(&self) -> Option<&[bool]> {
        let known = self.as_abstract()?;
        let hidden = || HIDDEN.with_borrow(|hidden| hidden.contains(&self.id));
        (known.representation.is_none() || hidden()).then_some(&known.layout)
    }
}
