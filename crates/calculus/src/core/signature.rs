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

#[cfg(test)]
mod tests {
    use super::Signature;
    use crate::core::Prim;
    use crate::types::{Kind, Type, TypeKind};

    /// Returns a type as the table writes it.
    fn text(ty: &Type) -> String {
        match ty.kind() {
            TypeKind::Function(domain, result) => format!("({} -> {})", list(domain, 2), text(result)),
            TypeKind::Sum(cases) => cases.iter().map(case).collect::<Vec<_>>().join(" + "),
            // The table writes two equal cases out.
            TypeKind::Repeat(cases, of) if cases.is_bool() => format!("{0} + {0}", case(of)),
            _ => ty.to_string(),
        }
    }

    /// Returns a case of a sum as the table writes it: a product stands in parentheses.
    fn case(ty: &Type) -> String {
        match ty.kind() {
            TypeKind::UnitSum(n) => n.to_string(),
            TypeKind::Product(_) => format!("({ty})"),
            _ => text(ty),
        }
    }

    /// Returns the components of a product, so many at most, as the table writes them.
    fn list(ty: &Type, limit: usize) -> String {
        let parts = ty.components(limit).filter(|parts| parts.len() > 1);
        parts.unwrap_or_else(|| vec![ty.clone()]).iter().map(text).collect::<Vec<_>>().join(" * ")
    }

    /// Returns a signature as the table writes it.
    fn signature(signature: &Signature, is_procedure: bool) -> String {
        let params = signature.params.iter().map(|param| match param.kind {
            Kind::Type => param.name.to_string(),
            kind => format!("{}:{kind}", param.name),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let params = if params.is_empty() { params } else { format!("[{params}] ") };
        let args: Vec<String> = signature.args.iter().map(text).collect();
        let result = match signature.result.kind() {
            _ if is_procedure => "void".to_string(),
            // A function that gives a function.
            TypeKind::Function(domain, result) => format!("{} -> {}", text(domain), text(result)),
            _ => text(&signature.result),
        };
        format!("{params}{} -> {result}", args.join(" * "))
    }

    /// Parentheses that the table writes for readers alone are left out; `1` is `unit`, and `2` is
    /// `bool`.
    #[test]
    fn each_signature_of_the_table_prints_and_reads_back() {
        let plain = |text: &str| text.replace(['(', ')'], "").replace("unit", "1").replace("bool", "2");
        for prim in Prim::ALL {
            let read = prim.typed_signature();
            let printed = signature(read, prim.is_procedure());
            assert_eq!(plain(&printed), plain(prim.signature()), "{prim:?}");
            let again = Signature::read(&printed);
            assert_eq!((&again.args, &again.result), (&read.args, &read.result), "{prim:?}");
        }
    }

    /// `?K` twice is one size, which the result binds.
    #[test]
    fn a_size_that_is_opened_twice_is_one_size() {
        let read = Signature::read("[T] T -> T ^ ?G * ?G ^ 3 * int ^ ?H");
        assert_eq!(read.result.bound_count(), 2);
        let sizes = [Type::unit_sum(5u32), Type::unit_sum(7u32)];
        let array = |ty: &Type, size: u32| Type::array(ty.clone(), Type::unit_sum(size));
        let expected = vec![
            array(&Type::var(read.params[0].clone()), 5),
            array(&Type::unit_sum(5u32), 3),
            array(&Type::int(), 7),
        ];
        assert_eq!(read.result.opened(&sizes), Type::product(expected));
    }

    #[test]
    fn an_instance_has_a_type_for_each_parameter() {
        let read = Signature::read("[T, I:COMPACTLINEAR] T ^ I * I -> T");
        let types = [Type::real(), Type::unit_sum(3u32)];
        let array = Type::array(Type::real(), Type::unit_sum(3u32));
        assert_eq!(read.instantiate(&types), Some((vec![array, Type::unit_sum(3u32)], Type::real())));
        assert_eq!(read.instantiate(&types[..1]), None);
    }

    #[test]
    fn forms_bind_as_they_do_in_the_language() {
        let result = |text: &str| Signature::read(&format!("int -> {text}")).result;
        let three = Type::unit_sum(3u32);
        let maybe = Type::sum(vec![Type::unit(), Type::array(Type::int(), three.clone())]);
        assert_eq!(result("1 + int ^ 3"), maybe);
        assert_eq!(result("real * 1 + int ^ 3"), Type::product(vec![Type::real(), maybe]));
        assert_eq!(result("3 *+ int"), Type::repeat(three.clone(), Type::int()));
        let pair = Type::compact_product(vec![three.clone(), Type::bool()]);
        assert_eq!(result("int ^ (3 \\* bool)"), Type::array(Type::int(), pair));
        assert_eq!(result("int ^ 3 ^ 2"), Type::array(Type::array(Type::int(), three), Type::bool()));
    }

    #[test]
    #[should_panic(expected = "the table names types that are built in")]
    fn a_name_that_is_no_type_is_a_mistake_of_the_table() {
        Signature::read("[T] T -> U");
    }
}
