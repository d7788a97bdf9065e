//! Printing of types, laid out by the `pretty` crate (P. Wadler, *A prettier printer*, 2003; D.
//! Leijen).
//!
//! Gives text that reads back as the same type. `2` is printed as `bool` where it is a type of
//! values (alone, at an arrow, as an element or argument) and as `2` inside the algebra; likewise
//! `1` as `unit` and `0` as `void` when alone or at an arrow.

use super::{Kind, ProductForm, Type, TypeKind, TypeVar};
use num_traits::{One, Zero};
use pretty::{Arena, DocAllocator, DocBuilder};
use std::fmt;

/// Binding strength of the type operators, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// `->`
    Arrow,
    /// `@`
    Placed,
    /// `+`
    Sum,
    /// `\+`
    CompactSum,
    /// `*`, `*+`
    Product,
    /// `\*`
    CompactProduct,
    /// `^`, `\^`
    Power,
    /// A name, a number, or a type in parentheses.
    Atom,
}

/// Columns of a line that a type is laid out on, at most.
const MAX_LINE_WIDTH: usize = 96;

/// Nodes of a type that is printed in full, at most: types can grow without bound.
const MAX_PRINTED_NODES: u32 = 2_000;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes() > MAX_PRINTED_NODES {
            return write!(f, "a type of {} parts", self.nodes());
        }
        let arena = Arena::new();
        let doc = standing_alone(self, Level::Arrow, &arena);
        let width = f.width().unwrap_or(if f.alternate() { MAX_LINE_WIDTH } else { usize::MAX });
        write!(f, "{}", doc.pretty(width))
    }
}

impl Type {
    /// Returns the text of the type as a size: `2`, not `bool`.
    pub fn size_text(&self) -> String {
        self.as_unit_sum().map_or_else(|| self.to_string(), |n| n.to_string())
    }
}

/// A document of the pretty-printer.
type Doc<'a> = DocBuilder<'a, Arena<'a>>;

/// Prints a type in the position of a type of values.
fn standing_alone<'a>(ty: &'a Type, level: Level, arena: &'a Arena<'a>) -> Doc<'a> {
    match ty.kind() {
        TypeKind::UnitSum(n) if n.is_zero() => arena.text("void"),
        TypeKind::UnitSum(n) if n.is_one() => arena.text("unit"),
        _ => element(ty, level, arena),
    }
}

/// Prints a type in the position of an element, field or argument.
fn element<'a>(ty: &'a Type, level: Level, arena: &'a Arena<'a>) -> Doc<'a> {
    if ty.is_bool() { arena.text("bool") } else { doc(ty, level, arena) }
}

/// Prints a type at a level, in parentheses where it binds more loosely.
fn doc<'a>(ty: &'a Type, level: Level, arena: &'a Arena<'a>) -> Doc<'a> {
    let (own, body) = match ty.kind() {
        TypeKind::UnitSum(n) => (Level::Atom, arena.text(n.to_string())),
        TypeKind::Scalar(scalar) => (Level::Atom, arena.text(scalar.name())),
        TypeKind::Var(var) if var.is_bound() => (Level::Atom, arena.text(format!("?{}", var.name))),
        TypeKind::Var(var) => (Level::Atom, arena.text(&*var.name)),
        TypeKind::Exists(_, body) => return doc(body, level, arena),
        TypeKind::Meta(_) => (Level::Atom, arena.text("_")),
        TypeKind::Error => (Level::Atom, arena.text("_")),
        TypeKind::Product(parts) => (Level::Product, operands(parts, "* ", Level::CompactProduct, arena)),
        TypeKind::Sum(parts) => (Level::Sum, operands(parts, "+ ", Level::CompactSum, arena)),
        TypeKind::CompactProduct(parts) => {
            (Level::CompactProduct, operands(parts, "\\* ", Level::Power, arena))
        }
        TypeKind::CompactSum(parts) => (Level::CompactSum, operands(parts, "\\+ ", Level::Product, arena)),
        TypeKind::Repeat(n, case) => {
            let cases = doc(n, Level::CompactProduct, arena);
            (Level::Product, cases.append(" *+ ").append(doc(case, Level::CompactProduct, arena)))
        }
        TypeKind::Array(base, index) => (
            Level::Power,
            element(base, Level::Power, arena).append(" ^ ").append(doc(index, Level::Atom, arena)),
        ),
        TypeKind::CompactPower(base, exponent) => (
            Level::Power,
            doc(base, Level::Power, arena).append(" \\^ ").append(doc(exponent, Level::Atom, arena)),
        ),
        TypeKind::Triangle(triangle, index) => {
            let index = doc(index, Level::Arrow, arena);
            (Level::Atom, arena.text(triangle.name()).append(index.brackets()))
        }
        TypeKind::Function(domain, codomain) => (
            Level::Arrow,
            standing_alone(domain, Level::Placed, arena)
                .append(arena.line())
                .append("-> ")
                .append(standing_alone(codomain, Level::Arrow, arena)),
        ),
        TypeKind::Procedure(domain) => (
            Level::Arrow,
            standing_alone(domain, Level::Placed, arena).append(arena.line()).append("-> void"),
        ),
        TypeKind::Record(fields) => (
            Level::Atom,
            arena
                .intersperse(
                    fields.iter().map(|(name, ty)| {
                        arena.text(format!("{name}:")).append(standing_alone(ty, Level::Arrow, arena))
                    }),
                    arena.text(",").append(arena.line()),
                )
                .parens(),
        ),
        TypeKind::Places(set) => {
            let names = set.names();
            let text =
                if names.len() == 1 { names[0].to_string() } else { format!("{{{}}}", names.join(", ")) };
            (Level::Atom, arena.text(text))
        }
        TypeKind::Placed(ty, places) => (
            Level::Placed,
            standing_alone(ty, Level::Sum, arena).append(" @ ").append(doc(places, Level::Atom, arena)),
        ),
        TypeKind::Member(member) => (Level::Atom, arena.text(member.name())),
        TypeKind::List(form, parts, end) => {
            let (own, operator, level) = match form {
                ProductForm::Tuple => (Level::Product, "* ", Level::CompactProduct),
                ProductForm::Compact => (Level::CompactProduct, "\\* ", Level::Power),
            };
            let end = end.iter().map(|end| arena.text("..").append(doc(end, Level::Atom, arena)));
            let parts = parts.iter().map(|part| match part.list_form() {
                Some(_) => arena.text("..").append(doc(part, Level::Atom, arena)),
                None => doc(part, level, arena),
            });
            let all: Vec<Doc<'a>> = parts.chain(end).collect();
            match all.len() {
                0 => (Level::Atom, arena.text("unit")),
                1 => (Level::Power, arena.concat(all)),
                _ => (own, arena.intersperse(all, arena.line().append(arena.text(operator)))),
            }
        }
        // Alone it is printed as the list: `A * R` is a pair, `A * ..R` one tuple.
        TypeKind::Rest(list) => return doc(list, level, arena),
        TypeKind::Apply(application) => {
            let (fun, args) = (&application.fun, &application.args);
            (Level::Atom, arena.text(&*fun.name).append(argument_list(args, &fun.params, arena).parens()))
        }
        TypeKind::Nominal(nominal, args) if nominal.is_compact_record() => (
            Level::Atom,
            arena
                .intersperse(
                    nominal.params.iter().zip(args).map(|(param, part)| {
                        arena.text(format!("{}:", param.name)).append(doc(part, Level::Arrow, arena))
                    }),
                    arena.text(" \\,").append(arena.line()),
                )
                .parens(),
        ),
        TypeKind::Nominal(nominal, args) => {
            let name = arena.text(&*nominal.name);
            let written = &args[..args.len() - nominal.implicit];
            let listed = || argument_list(written, &nominal.params, arena);
            let body = if written.is_empty() { name } else { name.append(listed().brackets()) };
            (Level::Atom, body)
        }
    };
    let body = body.nest(2).group();
    if own < level { body.parens() } else { body }
}

/// Prints arguments separated by commas; sizes as numbers.
fn argument_list<'a>(args: &'a [Type], params: &'a [TypeVar], arena: &'a Arena<'a>) -> Doc<'a> {
    let size = |at: usize| {
        params.get(at).is_some_and(|param: &TypeVar| matches!(param.kind, Kind::UnitSum | Kind::Compact))
    };
    arena.intersperse(
        args.iter().enumerate().map(move |(at, arg)| {
            if size(at) { doc(arg, Level::Arrow, arena) } else { standing_alone(arg, Level::Arrow, arena) }
        }),
        arena.text(",").append(arena.line()),
    )
}

/// Prints operands separated by an operator.
fn operands<'a>(parts: &'a [Type], operator: &'static str, level: Level, arena: &'a Arena<'a>) -> Doc<'a> {
    arena.intersperse(
        parts.iter().map(|part| doc(part, level, arena)),
        arena.line().append(arena.text(operator)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Triangle;
    use super::*;

    #[test]
    fn precedence_decides_parentheses() {
        let n = |k: u32| Type::unit_sum(k);
        let show = |ty: Type| ty.to_string();
        assert_eq!(show(Type::array(Type::array(Type::int(), n(2)), n(3))), "int ^ 2 ^ 3");
        assert_eq!(
            show(Type::array(Type::int(), Type::compact_product(vec![n(3), n(2)]))),
            "int ^ (3 \\* 2)"
        );
        assert_eq!(
            show(Type::compact_sum(vec![Type::compact_product(vec![n(3), n(2)]), n(1)])),
            "3 \\* 2 \\+ 1"
        );
        assert_eq!(
            show(Type::product(vec![Type::sum(vec![Type::int(), Type::real()]), n(2)])),
            "(int + real) * 2"
        );
        assert_eq!(
            show(Type::function(Type::bool(), Type::function(Type::unit(), Type::int()))),
            "bool -> unit -> int"
        );
        assert_eq!(
            show(Type::function(Type::function(Type::int(), Type::int()), Type::array(Type::bool(), n(2)))),
            "(int -> int) -> bool ^ 2"
        );
        let pairs = Type::triangle(Triangle::Below, Type::compact_sum(vec![n(2), n(3)]));
        assert_eq!(show(Type::array(Type::bool(), pairs)), "bool ^ below[2 \\+ 3]");
        assert_eq!(
            show(Type::repeat(Type::unit_sum(4u32), Type::product(vec![Type::int(), Type::real()]))),
            "4 *+ (int * real)"
        );
    }
}
