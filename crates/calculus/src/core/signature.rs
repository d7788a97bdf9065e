//! The types of primitives.
//!
//! Takes the text of a signature from the table; gives the types of the arguments and of the result
//! over the parameters of the signature, once for each primitive, and instances of them at type
//! arguments. Reads the few forms that occur there: names, numbers, `A * B`, `A + B`, `N *+ T`,
//! `T ^ I`, `A \* B`, `T @ S`, parentheses, and `?K` in a result. The validator and the checker
//! use it.

use crate::hash::HashMap;
use crate::types::variable_numbers::SIGNATURE_PARAMETERS;
use crate::types::{Kind, Scalar, Type, TypeVar};

/// The type of a primitive.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The type parameters.
    pub params: Vec<TypeVar>,
    /// The type of each argument.
    pub args: Vec<Type>,
    /// The type of the result; `1` for `-> void`.
    pub result: Type,
}

impl Signature {
    /// Parses a text of the table.
    ///
    /// # Panics
    /// If the text is no type of the forms above, or has a kind or type that is not built in: the
    /// table is wrong.
    pub fn read(text: &str) -> Signature {
        let (list, ty) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((list, ty)) => (list.split(',').collect(), ty),
            None => (Vec::new(), text),
        };
        let param = |(number, param): (usize, &&str)| {
            let (name, kind) = param.split_once(':').unwrap_or((param, "TYPE"));
            let kind = Kind::from_name(kind.trim()).expect("kinds of the table are built in");
            TypeVar { id: SIGNATURE_PARAMETERS.nth(number), name: name.trim().into(), kind }
        };
        let params: Vec<TypeVar> = list.iter().enumerate().map(param).collect();
        let mut reader = Reader { params: &params, rest: ty, opened: Vec::new() };
        let args = reader.components();
        assert!(reader.take(" -> "), "types of the table have an arrow");
        let result = if reader.take("void") { Type::unit() } else { reader.result() };
        assert!(reader.rest.is_empty(), "`{text}` is a type of the table");
        Signature { args, result: Type::exists(&reader.opened, &result), params }
    }

    /// Returns the argument types and the result at these type arguments; `None` if their number
    /// differs from that of the parameters.
    pub fn instantiate(&self, type_args: &[Type]) -> Option<(Vec<Type>, Type)> {
        if self.params.len() != type_args.len() {
            return None;
        }
        let bindings: HashMap<u32, Type> =
            self.params.iter().map(|param| param.id).zip(type_args.iter().cloned()).collect();
        let args = self.args.iter().map(|ty| ty.substitute(&bindings)).collect();
        Some((args, self.result.substitute(&bindings)))
    }
}

/// A parser of a signature.
struct Reader<'a> {
    /// The type parameters.
    params: &'a [TypeVar],
    /// The text that is not parsed yet.
    rest: &'a str,
    /// The sizes opened so far.
    opened: Vec<TypeVar>,
}

impl Reader<'_> {
    /// Skips a text, and returns true, if the rest begins with it.
    fn take(&mut self, what: &str) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Parses a result, which may be a function.
    fn result(&mut self) -> Type {
        let ty = Type::product(self.components());
        if self.take(" -> ") { Type::function(ty, self.result()) } else { ty }
    }

    /// Parses the components of a product: the arguments, or the result.
    fn components(&mut self) -> Vec<Type> {
        let mut parts = vec![self.sum()];
        while self.take(" * ") {
            parts.push(self.sum());
        }
        parts
    }

    /// Parses a sum of powers.
    fn sum(&mut self) -> Type {
        let mut cases = vec![self.power()];
        while self.take(" + ") {
            cases.push(self.power());
        }
        Type::sum(cases)
    }

    /// Parses a power, an array or a coarray.
    fn power(&mut self) -> Type {
        let mut ty = self.atom();
        while self.take(" ^ ") {
            let index = self.atom();
            ty = Type::array(ty, index);
        }
        if self.take(" *+ ") {
            ty = Type::repeat(ty, self.power());
        }
        if self.take(" @ ") {
            ty = Type::placed(ty, self.atom());
        }
        ty
    }

    /// Parses a name, a number, or a type in parentheses.
    fn atom(&mut self) -> Type {
        self.rest = self.rest.trim_start();
        if self.take("(") {
            let mut factors = vec![self.power()];
            if self.take(" * ") {
                factors.push(self.power());
                let result = self.take(" -> ").then(|| self.power());
                self.take(")");
                let product = Type::product(factors);
                return result.map_or(product.clone(), |result| Type::function(product, result));
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
            // A name that stands twice is one size.
            if let Some(known) = self.opened.iter().find(|var| *var.name == *name) {
                return Type::var(known.clone());
            }
            let var = TypeVar {
                id: SIGNATURE_PARAMETERS.nth(self.params.len() + self.opened.len()),
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
            _ => match self.params.iter().find(|param| *param.name == *name) {
                Some(param) => Type::var(param.clone()),
                None => {
                    Type::scalar(Scalar::from_name(name).expect("the table names types that are built in"))
                }
            },
        }
    }
}
