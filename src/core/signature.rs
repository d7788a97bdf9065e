//! The types that signatures of primitives stand for, read without the checker.
//!
//! Takes the text of a signature from the table and its type arguments; gives the types of the
//! arguments and of the result. Reads the few forms that occur there: names, numbers, `A * B`,
//! `A + B`, `N *+ T`, `T ^ I`, `A \* B`, parentheses, and `?K` in a result. For the validator, which is to agree
//! with the checker without asking it.

use crate::types::{Kind, Scalar, Type, TypeVar};

/// Argument types and result of a primitive's signature at these type arguments; `None` if there are
/// not as many as it has parameters. `-> void` gives `1`.
pub fn instantiate(signature: &str, type_args: &[Type]) -> Option<(Vec<Type>, Type)> {
    let (params, ty) = match signature.strip_prefix('[').and_then(|s| s.split_once(']')) {
        Some((params, ty)) => (params.split(',').collect(), ty),
        None => (Vec::new(), signature),
    };
    if params.len() != type_args.len() {
        return None;
    }
    let names = params.iter().map(|p| p.split(':').next().unwrap_or(p).trim()).collect();
    // The last arrow: an argument may be a function.
    let (domain, result) = ty.rsplit_once(" -> ")?;
    let mut reader = Reader { names, types: type_args, rest: domain, opened: Vec::new() };
    let mut domain = vec![reader.sum()];
    while reader.take(" * ") {
        domain.push(reader.sum());
    }
    reader.rest = result;
    let mut parts = vec![reader.sum()];
    while reader.take(" * ") {
        parts.push(reader.sum());
    }
    let ty = Type::exists(&reader.opened, &Type::product(parts));
    Some((domain, if result == "void" { Type::unit() } else { ty }))
}

struct Reader<'a> {
    names: Vec<&'a str>,
    types: &'a [Type],
    rest: &'a str,
    opened: Vec<TypeVar>,
}

impl Reader<'_> {
    fn take(&mut self, what: &str) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Type {
        let mut cases = vec![self.power()];
        while self.take(" + ") {
            cases.push(self.power());
        }
        Type::sum(cases)
    }

    fn power(&mut self) -> Type {
        let mut ty = self.atom();
        while self.take(" ^ ") {
            let index = self.atom();
            ty = Type::array(ty, index);
        }
        if self.take(" *+ ") {
            ty = Type::repeat(ty, self.power());
        }
        ty
    }

    fn atom(&mut self) -> Type {
        self.rest = self.rest.trim_start();
        if self.take("(") {
            let mut factors = vec![self.power()];
            if self.take(" * ") {
                factors.push(self.power());
                self.take(" -> ");
                let result = self.power();
                self.take(")");
                return Type::function(Type::product(factors), result);
            }
            while self.take(" \\* ") {
                factors.push(self.power());
            }
            self.take(")");
            return Type::compact_product(factors);
        }
        let open = self.take("?");
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if open {
            // Numbers of their own for as long as the signature is read.
            let var = TypeVar {
                id: u32::MAX / 2 + self.opened.len() as u32,
                name: name.into(),
                kind: Kind::Compact,
            };
            self.opened.push(var.clone());
            return Type::var(var);
        }
        match (name, name.parse::<u32>()) {
            (_, Ok(n)) => Type::unit_sum(n),
            ("bool", _) => Type::bool(),
            ("unit", _) => Type::unit(),
            ("void", _) => Type::void(),
            _ => match self.names.iter().position(|known| *known == name) {
                Some(at) => self.types[at].clone(),
                None => Scalar::named(name).map_or_else(Type::error, Type::scalar),
            },
        }
    }
}
