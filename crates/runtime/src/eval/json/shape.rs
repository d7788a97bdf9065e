//! The form that values of a type have in JSON.
//!
//! Takes a type without variables; gives a table of shapes, one for each type in it, so that a walk
//! over a value looks up no type.
//!
//! | type | JSON |
//! |---|---|
//! | integers, reals | a number |
//! | `string`, `char` | a text |
//! | `bool` | `true`, `false` |
//! | `unit` | `null` |
//! | records and structs | an object |
//! | tuples, arrays, lists of the library | a list; of several axes lists of lists |
//! | `option[T]`, `1 + T` | `null`, or as `T`; a member that is missing in an object is `null` |
//! | other variants | the name of a constant case as a text, else an object of one member |
//! | a variant with the cases of the library's `json` | any value |
//! | other index types | the code as a number |

use super::super::error::Failure;
use crate::hash::HashMap;
use crate::layout::{Form, Layout, Layouts, SumLayout};
use crate::types::stored::plain_name;
use crate::types::variable_numbers::JSON_SIZES;
use crate::types::{Kind, Nominal, NominalBody, Scalar, Type, TypeKind, TypeVar};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::sync::Arc;

crate::id::ids! {
    /// The number of a shape in its table.
    ShapeId "";
}

/// The form of a type in JSON.
pub(super) enum Shape {
    /// `null`
    Null,
    /// `true`, `false`
    Bool,
    /// A number, text or character.
    Scalar(Scalar),
    /// The name of a case, in the order of their codes.
    Names(Vec<Arc<str>>),
    /// A code below this size.
    Code(BigUint),
    /// A list with a value for each component: first slots and shapes.
    Tuple(Vec<(usize, ShapeId)>, Arc<Layout>),
    /// An object: names, first slots and shapes.
    Object(Vec<(Arc<str>, usize, ShapeId)>, Arc<Layout>),
    /// A list of a fixed length.
    Array(ShapeId, usize, Arc<Layout>),
    /// A list of any length.
    Growing(ShapeId),
    /// The library's list: the shape of its slots, and the layout of the struct.
    List(ShapeId, Arc<Layout>),
    /// `null` or a value: a variant.
    Option(ShapeId),
    /// `null` or a value: `1 + T`.
    Sum(ShapeId, Arc<SumLayout>),
    /// `null` or a code: a compact `1 + I`, whose code 0 is none.
    CodeOption(ShapeId),
    /// A name, or an object with one member: each case with its argument.
    Variant(Vec<(Arc<str>, Option<ShapeId>)>),
    /// Any value.
    Any,
}

/// The shapes of a type and of its parts.
pub(super) struct Shapes {
    shapes: Vec<(Shape, Arc<Layout>, Type)>,
}

/// The largest number of types in one another.
const MAX_SHAPES: usize = 2_000;

/// The cases of the variant that holds any value, with the number of the shape of their arguments.
const ANY: [&str; 6] = ["Null", "Bool", "Number", "Text", "List", "Object"];

impl Shapes {
    /// Returns the shapes of a type, and the number of its own.
    ///
    /// # Errors
    ///
    /// JSON has no form for a part of the type.
    pub fn of(ty: &Type, layouts: &Layouts) -> Result<(Shapes, ShapeId), Failure> {
        let mut maker = ShapeBuilder { layouts, root: ty, known: HashMap::default(), shapes: Vec::new() };
        let root = maker.shape(ty)?;
        let made = |(shape, layout, ty): (Option<Shape>, _, _)| {
            shape
                .map(|shape| (shape, layout, ty))
                .ok_or(Failure::Internal { message: "a shape that was not made" })
        };
        let shapes = maker.shapes.into_iter().map(made).collect::<Result<_, _>>()?;
        Ok((Shapes { shapes }, root))
    }

    /// Returns a shape.
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.index()].0
    }

    /// Returns the layout of the type of a shape.
    pub fn layout(&self, id: ShapeId) -> &Arc<Layout> {
        &self.shapes[id.index()].1
    }

    /// Returns the type of a shape.
    pub fn ty(&self, id: ShapeId) -> &Type {
        &self.shapes[id.index()].2
    }

    /// Returns true if `null` is a value of the shape.
    pub fn is_optional(&self, id: ShapeId) -> bool {
        matches!(self.shape(id), Shape::Option(_) | Shape::Sum(..) | Shape::CodeOption(_) | Shape::Any)
    }
}

/// The making of a table of shapes.
struct ShapeBuilder<'a> {
    layouts: &'a Layouts,
    root: &'a Type,
    known: HashMap<Type, ShapeId>,
    /// `None` while the shape is made: a type may hold itself.
    shapes: Vec<(Option<Shape>, Arc<Layout>, Type)>,
}

type Result<T, E = Failure> = std::result::Result<T, E>;

impl ShapeBuilder<'_> {
    /// Returns the error of a part that JSON has no form for.
    fn unfit(&self, part: &Type) -> Failure {
        Failure::NotJson { ty: self.root.to_string(), part: part.to_string() }
    }

    /// Returns the number of the shape of a type.
    fn shape(&mut self, ty: &Type) -> Result<ShapeId> {
        if let Some(id) = self.known.get(ty) {
            return Ok(*id);
        }
        if self.shapes.len() >= MAX_SHAPES {
            return Err(Failure::TypeTooLarge);
        }
        let id = ShapeId::new(self.shapes.len());
        self.known.insert(ty.clone(), id);
        self.shapes.push((None, self.layouts.of(ty), ty.clone()));
        let shape = self.make(ty)?;
        self.shapes[id.index()].0 = Some(shape);
        Ok(id)
    }

    /// Makes the shape of a type.
    fn make(&mut self, ty: &Type) -> Result<Shape> {
        let own = ty.unfold();
        let layout = self.layouts.of(&own);
        if own.is_unit() {
            return Ok(Shape::Null);
        }
        if own.is_bool() {
            return Ok(Shape::Bool);
        }
        if let Some(nominal) = own.as_enumeration() {
            let TypeKind::Nominal(_, args) = own.kind() else { return Err(self.unfit(ty)) };
            let cases = nominal.variant_cases(args).ok_or_else(|| self.unfit(ty))?;
            return Ok(Shape::Names(cases.iter().map(|(name, _)| plain_name(name)).collect()));
        }
        match own.kind() {
            TypeKind::Scalar(scalar) => Ok(Shape::Scalar(*scalar)),
            TypeKind::Nominal(nominal, args) => self.nominal(&own, nominal, args),
            TypeKind::Record(fields) => {
                let fields = fields.clone();
                self.object(&fields, layout)
            }
            TypeKind::Product(parts) => {
                let parts = parts.clone();
                let mut shapes = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    let (start, _) = layout.part(at).ok_or_else(|| self.unfit(ty))?;
                    shapes.push((start, self.shape(part)?));
                }
                Ok(Shape::Tuple(shapes, layout))
            }
            TypeKind::Array(element, index) => self.array(ty, element, index),
            TypeKind::Exists(1, _) => self.growing(ty, &own),
            TypeKind::Sum(cases) if cases.len() == 2 && cases[0].is_unit() => {
                let argument = self.shape(&cases[1])?;
                match &layout.form {
                    Form::Sum(sum) => Ok(Shape::Sum(argument, sum.clone())),
                    _ => Ok(Shape::CodeOption(argument)),
                }
            }
            _ if own.is_compact() => match own.size() {
                Ok(size) => Ok(Shape::Code(size)),
                Err(_) => Err(self.unfit(ty)),
            },
            _ => Err(self.unfit(ty)),
        }
    }

    /// Makes the shape of a declared type.
    fn nominal(&mut self, ty: &Type, nominal: &Nominal, args: &[Type]) -> Result<Shape> {
        match nominal.body() {
            Some(NominalBody::Struct(_)) => {
                let fields = nominal.struct_fields(args).expect("a struct has fields");
                let layout = self.layouts.of(ty);
                if let [(count, number), (slots, elements)] = &fields[..]
                    && *nominal.name == *"list"
                    && (&**count, &**slots) == ("count", "slots")
                    && number.as_scalar() == Some(Scalar::Int)
                    && elements.is_exists()
                {
                    return Ok(Shape::List(self.shape(elements)?, layout));
                }
                self.object(&fields, layout)
            }
            Some(NominalBody::Variant(_)) => {
                let cases = nominal.variant_cases(args).expect("a variant has cases");
                if let [(none, nothing), (some, something)] = &cases[..]
                    && (&**none, &**some) == ("None", "Some")
                    && nothing.is_unit()
                {
                    return Ok(Shape::Option(self.shape(something)?));
                }
                if is_any(ty, &cases) {
                    return Ok(Shape::Any);
                }
                let mut shapes = Vec::new();
                for (at, (name, argument)) in cases.iter().enumerate() {
                    let argument = match nominal.case_has_argument(at) {
                        true => Some(self.shape(argument)?),
                        false => None,
                    };
                    shapes.push((plain_name(name), argument));
                }
                Ok(Shape::Variant(shapes))
            }
            _ if ty.is_compact() => match ty.size() {
                Ok(size) => Ok(Shape::Code(size)),
                Err(_) => Err(self.unfit(ty)),
            },
            _ => Err(self.unfit(ty)),
        }
    }

    /// Makes the shape of named fields.
    fn object(&mut self, fields: &[(Arc<str>, Type)], layout: Arc<Layout>) -> Result<Shape> {
        let mut shapes = Vec::new();
        for (at, (name, field)) in fields.iter().enumerate() {
            let (start, _) =
                layout.part(at).ok_or(Failure::Internal { message: "a record without a field" })?;
            shapes.push((plain_name(name), start, self.shape(field)?));
        }
        Ok(Shape::Object(shapes, layout))
    }

    /// Makes the shape of an array: of several axes, lists of lists.
    fn array(&mut self, ty: &Type, element: &Type, index: &Type) -> Result<Shape> {
        let count = |index: &Type| index.size().ok().and_then(|size| size.to_usize());
        let (inner, outer) = match index.unfold().kind() {
            TypeKind::CompactProduct(factors) if factors.len() > 1 => {
                let rest = Type::compact_product(factors[1..].to_vec());
                (Type::array(element.clone(), rest), count(&factors[0]))
            }
            TypeKind::CompactPower(base, exponent) => match exponent.size().ok().and_then(|n| n.to_u32()) {
                Some(axes @ 2..=16) => {
                    let rest = Type::compact_product(vec![base.clone(); axes as usize - 1]);
                    (Type::array(element.clone(), rest), count(base))
                }
                _ => (element.clone(), count(index)),
            },
            _ => (element.clone(), count(index)),
        };
        let count = outer.ok_or_else(|| self.unfit(ty))?;
        let layout = self.layouts.of(&inner);
        Ok(Shape::Array(self.shape(&inner)?, count, layout))
    }

    /// Makes the shape of `T ^ ?K`.
    fn growing(&mut self, ty: &Type, own: &Type) -> Result<Shape> {
        let var = TypeVar { id: JSON_SIZES.nth(0), name: "?".into(), kind: Kind::Compact };
        let opened = own.opened(&[Type::var(var.clone())]);
        match opened.kind() {
            TypeKind::Array(element, index)
                if *index == Type::var(var.clone()) && !element.mentions(&var) =>
            {
                Ok(Shape::Growing(self.shape(element)?))
            }
            _ => Err(self.unfit(ty)),
        }
    }
}

/// Returns true if the cases are those of the library's `json`: of a variant that holds any value.
fn is_any(ty: &Type, cases: &[(Arc<str>, Type)]) -> bool {
    let name = cases.iter().map(|(name, _)| &**name);
    let grows = |argument: &Type, element: &Type| {
        let one = argument.opened(&[Type::unit_sum(7u32)]);
        argument.bound_count() == 1
            && matches!(one.kind(), TypeKind::Array(found, index) if found == element && index.is_compact())
    };
    name.eq(ANY)
        && cases[1].1.is_bool()
        && cases[2].1.as_scalar() == Some(Scalar::Real)
        && cases[3].1.as_scalar() == Some(Scalar::String)
        && grows(&cases[4].1, ty)
        && grows(&cases[5].1, &Type::product(vec![Type::string(), ty.clone()]))
}
