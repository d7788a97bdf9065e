//! A small parser of types for the tests of `iso`, independent of the syntax of the language.
//!
//! Takes text such as `(int * real) ^ (N \* 3)`; gives the canonical type. Upper-case names are
//! variables: sizes, except `T` and `U`, which are any types. Panics on invalid text.

#![allow(dead_code)] // a benchmark uses a part

pub mod naive;
pub mod random;

use felis_calculus::types::opaque::Abstract;
use felis_calculus::types::{Kind, Nominal, NominalBody, Triangle, Type, TypeVar};
use num_bigint::BigUint;

/// Returns the type written in `text`.
pub fn ty(text: &str) -> Type {
    let mut reader = Reader { tokens: tokens(text), at: 0 };
    let ty = reader.arrow();
    assert_eq!(reader.at, reader.tokens.len(), "rest of {text}");
    ty
}

/// Returns a variable by its letter.
pub fn variable(name: &str) -> Type {
    let kind = if matches!(name, "T" | "U") { Kind::Type } else { Kind::Compact };
    let id = name.bytes().fold(7u32, |id, byte| id * 31 + u32::from(byte));
    Type::var(TypeVar { id, name: name.into(), kind })
}

/// Returns `F[T, I, J]`, an abstract type that is functorial in `T` and the index `I`, not in `J`.
pub fn abstract_type(t: Type, i: Type, j: Type) -> Type {
    let param = |id, name: &str, kind| TypeVar { id, name: name.into(), kind };
    let params = vec![param(1, "T", Kind::Type), param(2, "I", Kind::Compact), param(3, "J", Kind::Compact)];
    let nominal = Nominal::declare(4, "F".into(), params, Kind::Type);
    nominal.define(NominalBody::Abstract(Abstract { layout: vec![true, true, false], representation: None }));
    Type::nominal(nominal, vec![t, i, j])
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        let rest: String = chars[i..].iter().take(2).collect();
        let length = if chars[i].is_whitespace() {
            i += 1;
            continue;
        } else if ["\\*", "\\+", "\\^", "*+", "->"].contains(&rest.as_str()) {
            2
        } else if chars[i].is_alphanumeric() {
            chars[i..].iter().take_while(|c| c.is_alphanumeric()).count()
        } else {
            1
        };
        tokens.push(chars[i..i + length].iter().collect());
        i += length;
    }
    tokens
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

impl Reader {
    fn eat(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t == token);
        self.at += usize::from(found);
        found
    }

    fn arrow(&mut self) -> Type {
        let domain = self.sum();
        if self.eat("->") { Type::function(domain, self.arrow()) } else { domain }
    }

    fn chain(&mut self, op: &str, below: fn(&mut Reader) -> Type, make: fn(Vec<Type>) -> Type) -> Type {
        let mut parts = vec![below(self)];
        while self.eat(op) {
            parts.push(below(self));
        }
        if parts.len() == 1 { parts.remove(0) } else { make(parts) }
    }

    fn sum(&mut self) -> Type {
        self.chain("+", Reader::compact_sum, Type::sum)
    }

    fn compact_sum(&mut self) -> Type {
        self.chain("\\+", Reader::product, Type::compact_sum)
    }

    fn product(&mut self) -> Type {
        let start = self.at;
        if let Some(n) = self.tokens.get(start).and_then(|t| t.parse::<BigUint>().ok()) {
            self.at += 1;
            if self.eat("*+") {
                let case = self.product();
                return Type::repeat(Type::unit_sum(n), case);
            }
            self.at = start;
        }
        self.chain("*", Reader::compact_product, Type::product)
    }

    fn compact_product(&mut self) -> Type {
        self.chain("\\*", Reader::power, Type::compact_product)
    }

    fn power(&mut self) -> Type {
        let mut base = self.atom();
        loop {
            if self.eat("^") {
                base = Type::array(base, self.atom());
            } else if self.eat("\\^") {
                base = Type::compact_power(base, self.atom());
            } else {
                return base;
            }
        }
    }

    fn atom(&mut self) -> Type {
        if self.eat("(") {
            let inner = self.arrow();
            assert!(self.eat(")"), "`)` in {:?}", self.tokens);
            return inner;
        }
        let token = self.tokens[self.at].clone();
        self.at += 1;
        match token.as_str() {
            "int" => Type::int(),
            "real" => Type::real(),
            "string" => Type::string(),
            "bigint" => Type::bigint(),
            "void" => Type::void(),
            "unit" => Type::unit(),
            "bool" => Type::bool(),
            "below" | "lower" => {
                assert!(self.eat("["), "`[` in {:?}", self.tokens);
                let index = self.compact_sum();
                assert!(self.eat("]"), "`]` in {:?}", self.tokens);
                Type::triangle(Triangle::from_name(&token).expect("a triangle"), index)
            }
            name => match name.parse::<BigUint>() {
                Ok(n) => Type::unit_sum(n),
                Err(_) => variable(name),
            },
        }
    }
}
