//! Compact records `(row:3 \, col:4)`: compact products whose parts have names.
//!
//! For each list of names there is one type with a parameter for each, a newtype of the compact
//! product of its parameters. So a compact record is naturally isomorphic to that product and equal
//! only to a compact record with the same names in the same order, and everything that holds of
//! newtypes holds of it. The types are created when first written, and are shared by all modules
//! and sessions.

use super::variable_numbers::COMPACT_RECORDS;
use super::{Kind, Nominal, NominalBody, NominalDef, Type, TypeKind, TypeVar};
use crate::hash::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The names of the parts, in order.
type Names = Arc<[Arc<str>]>;

/// The types created so far, by their names.
static KNOWN: LazyLock<Mutex<HashMap<Names, Nominal>>> = LazyLock::new(Mutex::default);

/// Returns the type of the compact records with these names.
fn with_names(names: Names) -> Nominal {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(nominal) = known.get(&names) {
        return nominal.clone();
    }
    let param = |(at, name): (usize, &Arc<str>)| TypeVar {
        id: COMPACT_RECORDS.nth(at),
        name: name.clone(),
        kind: Kind::Compact,
    };
    let params: Vec<TypeVar> = names.iter().enumerate().map(param).collect();
    let product = Type::compact_product(params.iter().cloned().map(Type::var).collect());
    let id = COMPACT_RECORDS.nth(known.len());
    let name = format!("({})", names.join(" \\, ")).into();
    let def = NominalDef::new(id, name, params, Kind::Compact);
    let nominal = Nominal::from(NominalDef { compact_record: true, ..def });
    nominal.define(NominalBody::Newtype(product));
    known.insert(names, nominal.clone());
    nominal
}

impl Nominal {
    /// Returns true for a type of compact records: its parameters are the types of their parts.
    pub fn is_compact_record(&self) -> bool {
        self.compact_record
    }
}

impl Type {
    /// Returns `(a:A \, b:B)`, of two parts or more.
    pub fn compact_record(fields: Vec<(Arc<str>, Type)>) -> Type {
        let (names, parts): (Vec<Arc<str>>, Vec<Type>) = fields.into_iter().unzip();
        Type::nominal(with_names(names.into()), parts)
    }

    /// Returns the names and types of the parts of a compact record.
    pub fn compact_fields(&self) -> Option<Vec<(Arc<str>, Type)>> {
        let TypeKind::Nominal(nominal, parts) = self.kind() else { return None };
        let names = nominal.params.iter().map(|param| param.name.clone());
        nominal.is_compact_record().then(|| names.zip(parts.iter().cloned()).collect())
    }

    /// Returns the named parts of a record, struct or compact record, or of a newtype of one.
    pub fn named_parts(&self) -> Option<Vec<(Arc<str>, Type)>> {
        let mut ty = self.clone();
        loop {
            if let Some(fields) = ty.compact_fields().or_else(|| ty.fields()) {
                return Some(fields);
            }
            let TypeKind::Nominal(nominal, args) = ty.kind() else { return None };
            ty = nominal.newtype_definition(args)?;
        }
    }
}
