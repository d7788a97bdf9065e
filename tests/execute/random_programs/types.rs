//! Types of random programs, as text and with their sizes.

use super::Generator;

/// A compact linear type.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    Unit(u64),
    Product(Vec<Index>),
    Sum(Vec<Index>),
    Power(Box<Index>, Box<Index>),
    /// `below` or `lower`.
    Pairs(&'static str, Box<Index>),
    Named(String, Box<Index>),
    /// A size that is a parameter.
    Var(String),
}

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub enum Ty {
    Number(&'static str),
    Code(Index),
    Tuple(Vec<Ty>),
    Record(Vec<(String, Ty)>),
    Struct(String, Vec<(String, Ty)>),
    /// `1 + T`.
    Maybe(Box<Ty>),
    Array(Box<Ty>, Index),
    Statement,
}

/// The maximum size of a generated index type.
const MAX_INDEX_SIZE: u64 = 40;

impl Index {
    /// Returns the number of values; for a parameter, some number.
    pub fn size(&self) -> u64 {
        match self {
            Index::Unit(n) => *n,
            Index::Product(parts) => parts.iter().map(Index::size).product(),
            Index::Sum(parts) => parts.iter().map(Index::size).sum(),
            Index::Power(base, places) => base.size().saturating_pow(places.size() as u32),
            Index::Pairs("below", of) => of.size() * of.size().saturating_sub(1) / 2,
            Index::Pairs(_, of) => of.size() * (of.size() + 1) / 2,
            Index::Named(_, of) => of.size(),
            Index::Var(_) => 6,
        }
    }

    /// Returns true if a parameter is mentioned.
    pub fn open(&self) -> bool {
        match self {
            Index::Unit(_) => false,
            Index::Product(parts) | Index::Sum(parts) => parts.iter().any(Index::open),
            Index::Power(base, places) => base.open() || places.open(),
            Index::Pairs(_, of) | Index::Named(_, of) => of.open(),
            Index::Var(_) => true,
        }
    }

    /// Returns text that may occur anywhere in a type.
    pub fn text(&self) -> String {
        let joined = |parts: &[Index], sign: &str| {
            let parts: Vec<String> = parts.iter().map(Index::text).collect();
            format!("({})", parts.join(sign))
        };
        match self {
            Index::Unit(n) => n.to_string(),
            Index::Product(parts) => joined(parts, " \\* "),
            Index::Sum(parts) => joined(parts, " \\+ "),
            Index::Power(base, places) => format!("({} \\^ {})", base.text(), places.text()),
            Index::Pairs(word, of) => format!("{word}[{}]", of.text()),
            Index::Named(name, _) | Index::Var(name) => name.clone(),
        }
    }

    /// Returns the index type with sizes for parameters.
    pub fn at(&self, sizes: &[(String, Index)]) -> Index {
        let each = |parts: &[Index]| parts.iter().map(|p| p.at(sizes)).collect();
        match self {
            Index::Unit(_) | Index::Named(..) => self.clone(),
            Index::Product(parts) => Index::Product(each(parts)),
            Index::Sum(parts) => Index::Sum(each(parts)),
            Index::Power(base, places) => Index::Power(Box::new(base.at(sizes)), Box::new(places.at(sizes))),
            Index::Pairs(word, of) => Index::Pairs(word, Box::new(of.at(sizes))),
            Index::Var(name) => {
                sizes.iter().find(|(n, _)| n == name).map_or(self.clone(), |(_, i)| i.clone())
            }
        }
    }

    /// Returns true if another index type is this one at some sizes, which are recorded.
    pub fn fits(&self, other: &Index, sizes: &mut Vec<(String, Index)>) -> bool {
        match (self, other) {
            (Index::Var(name), _) => match sizes.iter().find(|(n, _)| n == name) {
                Some((_, known)) => known == other,
                None => {
                    sizes.push((name.clone(), other.clone()));
                    true
                }
            },
            (Index::Product(a), Index::Product(b)) | (Index::Sum(a), Index::Sum(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.fits(b, sizes))
            }
            _ => self == other,
        }
    }
}

impl Ty {
    /// Returns text that may occur anywhere in a type.
    pub fn text(&self) -> String {
        match self {
            Ty::Number(name) => name.to_string(),
            Ty::Code(Index::Unit(2)) => "bool".to_string(),
            Ty::Code(index) => index.text(),
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Ty::text).collect();
                format!("({})", parts.join(" * "))
            }
            Ty::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(f, t)| format!("{f}:{}", t.text())).collect();
                format!("({})", fields.join(", "))
            }
            Ty::Struct(name, _) => name.clone(),
            Ty::Maybe(of) => format!("(1 + {})", of.text()),
            Ty::Array(of, index) => format!("({} ^ {})", of.text(), index.text()),
            Ty::Statement => String::new(),
        }
    }

    pub fn bool() -> Ty {
        Ty::Code(Index::Unit(2))
    }

    pub fn int() -> Ty {
        Ty::Number("int")
    }

    pub fn real() -> Ty {
        Ty::Number("real")
    }

    pub fn array(of: &Ty, index: &Index) -> Ty {
        Ty::Array(Box::new(of.clone()), index.clone())
    }

    /// Returns the number of scalars in a value.
    pub fn slots(&self) -> u64 {
        match self {
            Ty::Tuple(parts) => parts.iter().map(Ty::slots).sum(),
            Ty::Record(fields) | Ty::Struct(_, fields) => fields.iter().map(|(_, t)| t.slots()).sum(),
            Ty::Array(of, index) => of.slots() * index.size(),
            _ => 1,
        }
    }

    /// Returns true if the type has no value.
    pub fn empty(&self) -> bool {
        match self {
            Ty::Number(_) | Ty::Maybe(_) | Ty::Statement => false,
            Ty::Code(index) => index.size() == 0,
            Ty::Tuple(parts) => parts.iter().any(Ty::empty),
            Ty::Record(fields) | Ty::Struct(_, fields) => fields.iter().any(|(_, t)| t.empty()),
            Ty::Array(of, index) => index.size() > 0 && of.empty(),
        }
    }

    /// Returns true if its values have an order.
    pub fn ordered(&self) -> bool {
        matches!(self, Ty::Number(_) | Ty::Code(Index::Unit(_) | Index::Product(_)))
    }

    /// Returns true if a parameter is mentioned.
    pub fn open(&self) -> bool {
        match self {
            Ty::Number(_) | Ty::Statement => false,
            Ty::Code(index) => index.open(),
            Ty::Tuple(parts) => parts.iter().any(Ty::open),
            Ty::Record(fields) | Ty::Struct(_, fields) => fields.iter().any(|(_, t)| t.open()),
            Ty::Maybe(of) => of.open(),
            Ty::Array(of, index) => of.open() || index.open(),
        }
    }

    /// Returns the type with sizes for parameters.
    pub fn at(&self, sizes: &[(String, Index)]) -> Ty {
        match self {
            Ty::Code(index) => Ty::Code(index.at(sizes)),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|p| p.at(sizes)).collect()),
            Ty::Record(fields) => Ty::Record(fields.iter().map(|(f, t)| (f.clone(), t.at(sizes))).collect()),
            Ty::Maybe(of) => Ty::Maybe(Box::new(of.at(sizes))),
            Ty::Array(of, index) => Ty::Array(Box::new(of.at(sizes)), index.at(sizes)),
            Ty::Number(_) | Ty::Struct(..) | Ty::Statement => self.clone(),
        }
    }

    /// Returns true if another type is this one at some sizes, which are recorded.
    pub fn fits(&self, other: &Ty, sizes: &mut Vec<(String, Index)>) -> bool {
        match (self, other) {
            (Ty::Code(a), Ty::Code(b)) => a.fits(b, sizes),
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.fits(b, sizes))
            }
            (Ty::Array(a, i), Ty::Array(b, j)) => a.fits(b, sizes) && i.fits(j, sizes),
            (Ty::Maybe(a), Ty::Maybe(b)) => a.fits(b, sizes),
            _ => self == other,
        }
    }

    /// Returns the plainest value, as text.
    pub fn plain(&self) -> Option<String> {
        Some(match self {
            Ty::Number("int") => "1".to_string(),
            Ty::Number("real") => "1.0".to_string(),
            Ty::Number("f32") => "1.0f32".to_string(),
            Ty::Number(name) => format!("1{name}"),
            Ty::Code(Index::Unit(2)) => "true".to_string(),
            Ty::Code(Index::Unit(n)) if *n > 0 => format!("`0:{n}"),
            Ty::Code(Index::Unit(_)) => return None,
            Ty::Code(index) if !index.open() && index.size() > 0 => format!("(0 :>> {})", index.text()),
            Ty::Code(_) | Ty::Statement => return None,
            Ty::Tuple(parts) => {
                let parts: Option<Vec<String>> = parts.iter().map(Ty::plain).collect();
                format!("({})", parts?.join(", "))
            }
            Ty::Record(fields) => {
                let fields: Option<Vec<String>> =
                    fields.iter().map(|(f, t)| Some(format!("{f} = {}", t.plain()?))).collect();
                format!("({})", fields?.join(", "))
            }
            Ty::Struct(name, fields) => {
                let fields: Option<Vec<String>> = fields.iter().map(|(_, t)| t.plain()).collect();
                format!("({name} ({}))", fields?.join(", "))
            }
            Ty::Maybe(of) => format!("(case 0 of (1 + {}))", of.text()),
            Ty::Array(of, index) => format!("(fill[{}] {})", index.text(), of.plain()?),
        })
    }
}

impl Generator {
    /// Returns a number type.
    pub(super) fn number(&mut self) -> Ty {
        let names = [
            "int", "int", "int", "int", "real", "real", "real", "f32", "i8", "i16", "i32", "u8", "u16",
            "u32", "u64",
        ];
        Ty::Number(names[self.rng.usize(0..names.len())])
    }

    /// Returns an index type of at most a few dozen values.
    pub(super) fn index(&mut self, depth: u32) -> Index {
        for _ in 0..8 {
            let index = self.any_index(depth);
            if index.size() <= MAX_INDEX_SIZE {
                return index;
            }
        }
        Index::Unit(3)
    }

    fn any_index(&mut self, depth: u32) -> Index {
        match if depth == 0 { 0 } else { self.rng.u32(0..10) } {
            0..=3 => Index::Unit(match self.rng.u32(0..20) {
                0 => 0,
                1 | 2 => 1,
                3 => self.rng.u64(17..40),
                _ => self.rng.u64(2..8),
            }),
            4 | 5 => {
                let parts = self.rng.usize(2..4);
                Index::Product((0..parts).map(|_| self.any_index(depth - 1)).collect())
            }
            6 | 7 => Index::Sum(vec![self.any_index(depth - 1), Index::Unit(self.rng.u64(2..5))]),
            8 if self.rng.bool() => Index::Pairs(
                if self.rng.bool() { "below" } else { "lower" },
                Box::new(Index::Unit(self.rng.u64(2..6))),
            ),
            8 => Index::Power(
                Box::new(Index::Unit(self.rng.u64(2..4))),
                Box::new(Index::Unit(self.rng.u64(2..4))),
            ),
            _ => match self.newtypes.first() {
                Some((name, index)) => Index::Named(name.clone(), Box::new(index.clone())),
                None => Index::Unit(self.rng.u64(1..6)),
            },
        }
    }

    /// Returns a type.
    pub(super) fn ty(&mut self, depth: u32) -> Ty {
        for _ in 0..8 {
            let ty = self.any_ty(depth);
            // An expression of a type without values fails, so that the rest of the program is not
            // tested.
            if ty.slots() <= 80 && (!ty.empty() || self.one_in(200)) {
                return ty;
            }
        }
        Ty::int()
    }

    fn any_ty(&mut self, depth: u32) -> Ty {
        match if depth == 0 { self.rng.u32(0..8) } else { self.rng.u32(0..20) } {
            0..=4 => self.number(),
            5 => Ty::bool(),
            6 | 7 => Ty::Code(self.index(2)),
            8 | 9 => {
                let parts = self.rng.usize(2..4);
                Ty::Tuple((0..parts).map(|_| self.any_ty(depth - 1)).collect())
            }
            10 => {
                Ty::Record(vec![("u".to_string(), self.any_ty(depth - 1)), ("v".to_string(), self.any_ty(0))])
            }
            11 => Ty::Maybe(Box::new(self.any_ty(0))),
            12 => match self.structs.first() {
                Some((name, fields)) => Ty::Struct(name.clone(), fields.clone()),
                None => self.number(),
            },
            _ => Ty::Array(Box::new(self.any_ty(depth - 1)), self.index(2)),
        }
    }
}
