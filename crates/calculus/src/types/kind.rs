//! Kinds: the classification of types.
//!
//! `UNITSUM < COMPACTLINEAR < TYPE < SPREAD`, `PLACE < PLACES < COMPACTLINEAR`, and beside them the
//! kinds a program declares. A declared kind is finite: its types are its members, names that no
//! value has as its type. It is unrelated to every other kind, so kinds are only partially ordered:
//! [`Kind::is_subkind_of`].

use super::{ProductForm, TypeKind};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `0`, `1`, `2` …
    UnitSum,
    /// One party of a program.
    Place,
    /// Sets of the parties of a program; see [`super::places`].
    Places,
    /// Everything that can index an array.
    Compact,
    /// Every type that values have.
    Type,
    /// Every type, those of values spread over places included.
    Spread,
    /// A declared kind, by its number in the session.
    Finite(u32),
    /// Lists of components of a product, `..R`.
    List(ProductForm),
}

impl Kind {
    /// Returns the name of a built-in kind.
    pub fn built_in_name(self) -> Option<&'static str> {
        Some(match self {
            Kind::UnitSum => "UNITSUM",
            Kind::Compact => "COMPACTLINEAR",
            Kind::Type => "TYPE",
            Kind::Place => "PLACE",
            Kind::Places => "PLACES",
            Kind::Spread => "SPREAD",
            Kind::Finite(_) | Kind::List(_) => return None,
        })
    }

    /// Returns the built-in kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        [Kind::UnitSum, Kind::Place, Kind::Places, Kind::Compact, Kind::Type, Kind::Spread]
            .into_iter()
            .find(|k| k.built_in_name() == Some(name))
    }

    /// Returns true if every type of this kind is of the other kind.
    pub fn is_subkind_of(self, other: Kind) -> bool {
        match (self, other) {
            (a, b) if a.is_beside_the_chain() || b.is_beside_the_chain() => a == b,
            // Both are below COMPACTLINEAR, and neither contains the other.
            (Kind::Place | Kind::Places, Kind::UnitSum) | (Kind::UnitSum, Kind::Place | Kind::Places) => {
                false
            }
            (a, b) => a.rank() <= b.rank(),
        }
    }

    /// Returns the greatest common subkind, if there is one.
    pub fn meet(self, other: Kind) -> Option<Kind> {
        if self.is_subkind_of(other) {
            Some(self)
        } else if other.is_subkind_of(self) {
            Some(other)
        } else {
            None
        }
    }

    /// Returns the least common superkind, if there is one.
    pub fn join(self, other: Kind) -> Option<Kind> {
        let unrelated = self.is_beside_the_chain() || other.is_beside_the_chain();
        if self.is_subkind_of(other) {
            Some(other)
        } else if other.is_subkind_of(self) {
            Some(self)
        } else {
            // Built-in kinds neither of which includes the other are below COMPACTLINEAR.
            (!unrelated).then_some(Kind::Compact)
        }
    }

    /// Returns true for a kind that is unrelated to all others.
    fn is_beside_the_chain(self) -> bool {
        matches!(self, Kind::Finite(_) | Kind::List(_))
    }

    /// Returns the kind that a type parameter is declared with: that of the components, for a list
    /// of them.
    pub fn declared(self) -> Kind {
        match self {
            Kind::List(form) => form.kind(),
            kind => kind,
        }
    }

    /// Returns true for a declared kind, whose members are types of no value.
    pub fn is_finite(self) -> bool {
        matches!(self, Kind::Finite(_))
    }

    /// Returns the position in the chain of built-in kinds.
    fn rank(self) -> u8 {
        match self {
            Kind::UnitSum | Kind::Place => 0,
            Kind::Places => 1,
            Kind::Compact => 2,
            Kind::Type | Kind::Finite(_) | Kind::List(_) => 3,
            Kind::Spread => 4,
        }
    }
}

impl fmt::Display for Kind {
    /// Writes the name of a built-in kind, the number of a declared one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Finite(id) => write!(f, "kind#{id}"),
            Kind::List(_) => f.write_str("a list of components"),
            Kind::UnitSum | Kind::Place | Kind::Places | Kind::Compact | Kind::Type | Kind::Spread => {
                f.write_str(self.built_in_name().expect("a built-in kind has a name"))
            }
        }
    }
}

/// A kind that a program declares: `kind VIS = public | private | secret;`. Identity is the number.
#[derive(Clone)]
pub struct FiniteKind(Arc<FiniteKindDef>);

/// The declaration of a kind.
pub struct FiniteKindDef {
    /// Unique in a session.
    pub id: u32,
    /// The name as declared.
    pub name: Arc<str>,
    /// The members in order.
    pub members: Vec<Arc<str>>,
}

impl FiniteKind {
    /// Returns a new kind.
    pub fn new(id: u32, name: Arc<str>, members: Vec<Arc<str>>) -> FiniteKind {
        FiniteKind(Arc::new(FiniteKindDef { id, name, members }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        Kind::Finite(self.id)
    }
}

impl std::ops::Deref for FiniteKind {
    type Target = FiniteKindDef;
    fn deref(&self) -> &FiniteKindDef {
        &self.0
    }
}

impl fmt::Debug for FiniteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.id)
    }
}

/// One member of a declared kind.
#[derive(Clone, Debug)]
pub struct Member {
    /// The kind of the member.
    pub kind: FiniteKind,
    /// The position among the members.
    pub index: usize,
}

impl Member {
    /// Returns the name of the member.
    pub fn name(&self) -> &str {
        &self.kind.members[self.index]
    }

    /// Returns the member as a type.
    pub fn into_type(self) -> super::Type {
        super::Type::new(TypeKind::Member(self))
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        self.kind.id == other.kind.id && self.index == other.index
    }
}
impl Eq for Member {}
impl Hash for Member {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind.id, self.index).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `is_subkind_of` is a partial order, and `meet` its greatest lower bound where there is one.
    #[test]
    fn kinds_are_partly_ordered() {
        let lists = [Kind::List(ProductForm::Tuple), Kind::List(ProductForm::Compact)];
        let built_in = [Kind::UnitSum, Kind::Place, Kind::Places, Kind::Compact, Kind::Type, Kind::Spread];
        let all = built_in.into_iter().chain([Kind::Finite(1), Kind::Finite(2)]);
        let all: Vec<Kind> = all.chain(lists).collect();
        for &a in &all {
            assert!(a.is_subkind_of(a));
            for &b in &all {
                assert!(a == b || !(a.is_subkind_of(b) && b.is_subkind_of(a)));
                let below: Vec<Kind> =
                    all.iter().copied().filter(|c| c.is_subkind_of(a) && c.is_subkind_of(b)).collect();
                let meet = a.meet(b);
                assert_eq!(meet.is_none(), below.is_empty());
                assert!(below.into_iter().all(|c| meet.is_some_and(|m| c.is_subkind_of(m))));
            }
        }
    }
}
