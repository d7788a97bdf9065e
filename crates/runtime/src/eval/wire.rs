//! The wire form of values: what a move sends, and a receiver takes apart.
//!
//! Takes a type without variables and a value of it; gives bytes. Takes bytes and the type; gives
//! the value, or nothing where they are not the wire form of one: every code is compared with its
//! size, every character and text is checked, so that what another process has sent is as good as
//! what was computed here.
//!
//! - A slot of a number or code is its bytes, little-endian, of the storage class of the whole
//!   value if all of its slots are such: an array of numbers is copied.
//! - Other values are written part by part: texts and large integers as a length and bytes, sums as
//!   the number of the case and its argument, existential values as sizes and the value, keys and
//!   ciphertexts as `eval/ciphers.rs` writes them.

use super::ciphers::{self, KeyTable, Purpose};
use super::code::SumRepresentation;
use super::error::Failure;
use super::existential_prims::{allocate_buffer, buffer_value};
use super::matching::split_case;
use crate::layout::{Form, Layout, Layouts, TOO_MANY_SLOTS};
use crate::network::{Data, SharedData};
use crate::types::encoding::Code;
use crate::types::number::Fixed;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::{Buffer, Class, Packed, Seq, Value};
use num_bigint::{BigInt, BigUint, Sign};
use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// The bytes are not the wire form of a value of the type, or the value needs too much memory.
#[derive(Debug)]
pub(super) struct Malformed;

/// The coder of values.
pub(super) struct WireCodec<'a> {
    /// Layouts of types.
    pub(super) layouts: &'a Layouts,
    /// The largest value, in bytes.
    pub(super) memory: u64,
    /// The public keys of the present message.
    keys: RefCell<KeyTable>,
    /// The reason why a part of the present message has no bytes.
    failure: RefCell<Option<Failure>>,
}

/// Returns true for a class whose slots are numbers of a fixed width.
fn is_flat(class: Class) -> bool {
    !matches!(class, Class::Any)
}

impl WireCodec<'_> {
    /// Returns the coder of values of at most so many bytes.
    pub(super) fn new(layouts: &Layouts, memory: u64) -> WireCodec<'_> {
        WireCodec { layouts, memory, keys: RefCell::default(), failure: RefCell::default() }
    }

    /// Returns the number of bytes of every value of a type; `None` if it depends on the value.
    pub(super) fn fixed_length(&self, ty: &Type) -> Option<u64> {
        let layout = self.layouts.of(ty);
        match layout.slots {
            0 => Some(0),
            TOO_MANY_SLOTS => None,
            slots if is_flat(layout.class) => (slots as u64).checked_mul(layout.class.bytes()),
            _ => None,
        }
    }

    /// Returns the wire form of a value that leaves the place, or that is compared with what all
    /// know.
    ///
    /// # Errors
    /// A ciphertext that leaves the place and cannot hide how it was computed.
    pub(super) fn encode(&self, ty: &Type, value: &Value, purpose: Purpose) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        self.keys.take();
        self.put(ty, value, purpose, &mut out);
        self.failure.take().map_or(Ok(out), Err)
    }

    /// Returns the slots of a value, to be shared, if its wire form is all of them and they are
    /// several; `None` otherwise.
    pub(super) fn shared_slots(&self, ty: &Type, value: &Value) -> Option<Arc<dyn SharedData>> {
        let layout = self.layouts.of(ty);
        match value {
            Value::Seq(seq) if is_flat(layout.class) && seq.len() == layout.slots => {
                let (buffer, start) = seq.to_flat(layout.class)?;
                Some(Arc::new(SharedSlots { buffer, start, slots: layout.slots }))
            }
            _ => None,
        }
    }

    /// Returns the value that a message holds.
    ///
    /// # Errors
    /// The bytes are not the form of one value, or it needs too much memory.
    pub(super) fn decode_message(&self, ty: &Type, data: Data) -> Result<Value, Malformed> {
        match data {
            Data::Bytes(bytes) => self.decode(ty, &bytes),
            Data::Shared(shared) => {
                let any: &dyn Any = &*shared;
                match any.downcast_ref::<SharedSlots>().and_then(|slots| slots.value(&self.layouts.of(ty))) {
                    Some(value) => Ok(value),
                    None => self.decode(ty, &shared.to_bytes()),
                }
            }
        }
    }

    /// Appends the wire form of a value.
    fn put(&self, ty: &Type, value: &Value, purpose: Purpose, out: &mut Vec<u8>) {
        let layout = self.layouts.of(ty);
        if layout.slots == 0 {
            return;
        }
        if is_flat(layout.class) {
            return put_flat(&layout, value, out);
        }
        let ty = &ty.unfold();
        if ty.is_compact() {
            return put_bytes(&value.to_code().to_big().to_bytes_le(), out);
        }
        match (ty.kind(), &layout.form) {
            _ if ty.is_native() => {
                let put = ciphers::put_native(value, purpose, &mut self.keys.borrow_mut(), out);
                put.unwrap_or_else(|failure| *self.failure.borrow_mut() = Some(failure));
            }
            (TypeKind::Scalar(Scalar::String), _) => put_bytes(value.as_str().as_bytes(), out),
            (TypeKind::Scalar(_), _) => {
                let (sign, bytes) = value.as_bigint().to_bytes_le();
                out.push(u8::from(sign == Sign::Minus));
                put_bytes(&bytes, out);
            }
            (TypeKind::Array(element, _), Form::Array { element: each, count }) => {
                for i in 0..*count {
                    self.put(element, &value.slots(i * each.slots, each.slots), purpose, out);
                }
            }
            (TypeKind::Exists(..), _) => {
                let Value::Packed(packed) = value else { unreachable!("an existential value has its sizes") };
                for size in &packed.sizes {
                    let size = size.size().expect("the sizes of a value are numbers");
                    put_bytes(&size.to_bytes_le(), out);
                }
                self.put(&packed.value_type(ty), &packed.value, purpose, out);
            }
            _ => match parts_of(ty) {
                Some(parts) => {
                    for (i, part) in parts.iter().enumerate() {
                        let (start, own) = layout.part(i).expect("a product has its parts");
                        self.put(part, &value.slots(start, own.slots), purpose, out);
                    }
                }
                None => {
                    let representation = SumRepresentation::of(self.layouts, ty);
                    let (case, argument) = split_case(&representation, value);
                    put_bytes(&case.to_big().to_bytes_le(), out);
                    let argument_type = case_type(ty, &case).expect("a value is of a case of its type");
                    self.put(&argument_type, &argument, purpose, out);
                }
            },
        }
    }

    /// Returns the value whose wire form the bytes are.
    ///
    /// # Errors
    /// They are not the form of one value, or it needs too much memory.
    pub(super) fn decode(&self, ty: &Type, bytes: &[u8]) -> Result<Value, Malformed> {
        let mut rest = bytes;
        self.keys.take();
        let value = self.take(ty, &mut rest)?;
        if rest.is_empty() { Ok(value) } else { Err(Malformed) }
    }

    /// Takes a value from the front of the bytes.
    fn take(&self, ty: &Type, rest: &mut &[u8]) -> Result<Value, Malformed> {
        let layout = self.layouts.of(ty);
        if layout.slots == 0 {
            return Ok(Value::UNIT);
        }
        if layout.slots == TOO_MANY_SLOTS {
            return Err(Malformed);
        }
        if is_flat(layout.class) {
            return self.take_flat(&layout, rest);
        }
        let ty = &ty.unfold();
        if ty.is_compact() {
            let code = BigUint::from_bytes_le(take_bytes(rest)?);
            let size = ty.size().map_err(|_| Malformed)?;
            return if code < size { Ok(Value::code(Code::from(code))) } else { Err(Malformed) };
        }
        match (ty.kind(), &layout.form) {
            _ if ty.is_native() => {
                ciphers::take_native(ty, &mut self.keys.borrow_mut(), rest).ok_or(Malformed)
            }
            (TypeKind::Scalar(Scalar::String), _) => {
                let text = std::str::from_utf8(take_bytes(rest)?).map_err(|_| Malformed)?;
                Ok(Value::str(text))
            }
            (TypeKind::Scalar(_), _) => {
                let sign = match take_exactly(rest, 1)? {
                    [0] => Sign::Plus,
                    [1] => Sign::Minus,
                    _ => return Err(Malformed),
                };
                Ok(Value::bigint(BigInt::from_bytes_le(sign, take_bytes(rest)?)))
            }
            (TypeKind::Array(element, _), Form::Array { element: each, count }) => {
                // An element takes a byte at least, so no memory is taken by a lie about a length.
                if *count > rest.len() && each.slots > 0 {
                    return Err(Malformed);
                }
                let mut buffer = self.buffer(layout.class, layout.slots)?;
                for _ in 0..*count {
                    buffer.append(&self.take(element, rest)?, each.slots);
                }
                Ok(buffer_value(buffer))
            }
            (TypeKind::Exists(..), _) => {
                let mut sizes = Vec::new();
                for _ in 0..ty.bound_count() {
                    sizes.push(Type::unit_sum(BigUint::from_bytes_le(take_bytes(rest)?)));
                }
                let value = self.take(&ty.opened(&sizes), rest)?;
                Ok(Value::Packed(Arc::new(Packed { sizes, value })))
            }
            _ => match parts_of(ty) {
                Some(parts) => {
                    let mut buffer = self.buffer(layout.class, layout.slots)?;
                    for (i, part) in parts.iter().enumerate() {
                        let (_, own) = layout.part(i).ok_or(Malformed)?;
                        buffer.append(&self.take(part, rest)?, own.slots);
                    }
                    Ok(buffer_value(buffer))
                }
                None => {
                    let case = Code::from(BigUint::from_bytes_le(take_bytes(rest)?));
                    let argument_type = case_type(ty, &case).ok_or(Malformed)?;
                    let argument = self.take(&argument_type, rest)?;
                    Ok(match &layout.form {
                        Form::Sum(sum) => sum.inject(&case, argument),
                        _ => Value::Sum(Arc::new(crate::value::Case(case, argument))),
                    })
                }
            },
        }
    }

    /// Returns an empty buffer for so many slots, within the memory bound.
    fn buffer(&self, class: Class, slots: usize) -> Result<Buffer, Malformed> {
        allocate_buffer(class, slots, self.memory).map_err(|_| Malformed)
    }

    /// Takes a value all of whose slots are numbers and codes.
    fn take_flat(&self, layout: &Layout, rest: &mut &[u8]) -> Result<Value, Malformed> {
        let width = layout.class.bytes() as usize;
        let bytes = take_exactly(rest, layout.slots.checked_mul(width).ok_or(Malformed)?)?;
        let mut buffer = self.buffer(layout.class, layout.slots)?;
        macro_rules! read {
            ($slots:expr, $number:ty) => {
                $slots.extend(bytes.chunks_exact(size_of::<$number>()).map(|chunk| {
                    <$number>::from_le_bytes(chunk.try_into().expect("chunks have the width of a number"))
                }))
            };
        }
        match &mut buffer {
            Buffer::U8(slots) => slots.extend_from_slice(bytes),
            Buffer::U16(slots) => read!(slots, u16),
            Buffer::U32(slots) => read!(slots, u32),
            Buffer::Word(slots) => {
                slots.extend(bytes.as_chunks().0.iter().map(|slot| u64::from_le_bytes(*slot)))
            }
            Buffer::Wide(slots) => read!(slots, u128),
            Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => {
                unreachable!("a flat class has a flat buffer")
            }
        }
        if holds_every_value(layout) || valid_slots(layout, 0, &buffer) {
            Ok(buffer_value(buffer))
        } else {
            Err(Malformed)
        }
    }
}

/// Returns the types of the parts of a product, record or struct.
fn parts_of(ty: &Type) -> Option<Vec<Type>> {
    match ty.kind() {
        TypeKind::Product(parts) => Some(parts.clone()),
        TypeKind::Record(fields) => Some(fields.iter().map(|(_, field)| field.clone()).collect()),
        TypeKind::Nominal(nominal, args) => {
            nominal.struct_fields(args).map(|fields| fields.into_iter().map(|(_, field)| field).collect())
        }
        _ => None,
    }
}

/// Returns the type of the argument of a case of a sum or variant.
fn case_type(ty: &Type, case: &Code) -> Option<Type> {
    match ty.kind() {
        TypeKind::Nominal(nominal, args) => {
            let cases = nominal.variant_cases(args)?;
            case.to_usize().and_then(|case| cases.get(case)).map(|(_, ty)| ty.clone())
        }
        _ => ty.case_type(&case.to_big()),
    }
}

/// Returns true if every content of the slots is a value.
fn holds_every_value(layout: &Layout) -> bool {
    match &layout.form {
        Form::Scalar(Scalar::Int | Scalar::Real) => true,
        Form::Scalar(Scalar::Fixed(fixed)) => u64::from(fixed.shape().0) == 8 * layout.class.bytes(),
        Form::Array { element, .. } => element.class == layout.class && holds_every_value(element),
        _ => false,
    }
}

/// Returns true if the slots of a value, which begins at `start`, hold what their types allow.
fn valid_slots(layout: &Layout, start: usize, buffer: &Buffer) -> bool {
    match &layout.form {
        Form::Parts(parts) => parts.iter().all(|(at, part)| valid_slots(part, start + at, buffer)),
        Form::Array { element, count } => {
            element.slots == 0 || (0..*count).all(|i| valid_slots(element, start + i * element.slots, buffer))
        }
        _ if layout.slots == 0 => true,
        Form::Scalar(scalar) => {
            let Code::Small(word) = buffer.get(start).to_code() else { return false };
            match scalar {
                Scalar::Char => u32::try_from(word).is_ok_and(|code| char::from_u32(code).is_some()),
                Scalar::Single => u32::try_from(word).is_ok(),
                Scalar::Fixed(fixed) => fits_width(*fixed, word),
                _ => true,
            }
        }
        Form::Compact(compact) => buffer.get(start).to_code() < compact.size,
        Form::Sum(sum) => buffer.get(start).to_code() < sum.case_count(),
        Form::Variant | Form::Function | Form::Packed => false,
    }
}

/// Returns true if no bit above the width of a number is set.
fn fits_width(fixed: Fixed, word: u64) -> bool {
    let width = fixed.shape().0;
    width >= u64::BITS || word >> width == 0
}

/// Slots of one class, which parties of one process share.
pub(super) struct SharedSlots {
    buffer: Arc<Buffer>,
    start: usize,
    slots: usize,
}

impl SharedSlots {
    /// Returns the value of a layout whose slots these are; `None` if they are those of another
    /// one.
    fn value(&self, layout: &Layout) -> Option<Value> {
        let alike = self.slots == layout.slots && self.buffer.class() == layout.class;
        alike.then(|| Value::Seq(Seq::shared(self.buffer.clone()).slice(self.start, self.slots)))
    }
}

impl SharedData for SharedSlots {
    fn length(&self) -> u64 {
        self.slots as u64 * self.buffer.class().bytes()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_slots(&self.buffer, self.start..self.start + self.slots, &mut out);
        out
    }
}

/// Appends the slots of a flat value.
fn put_flat(layout: &Layout, value: &Value, out: &mut Vec<u8>) {
    let width = layout.class.bytes() as usize;
    out.reserve(layout.slots * width);
    let Value::Seq(seq) = value else {
        let code = match value {
            Value::Wide(wide) => **wide,
            single => u128::from(single.word()),
        };
        return out.extend_from_slice(&code.to_le_bytes()[..width]);
    };
    match seq.to_flat(layout.class) {
        Some((buffer, start)) => put_slots(&buffer, start..start + layout.slots, out),
        None => (0..seq.len()).for_each(|i| put_slot(&seq.get(i), width, out)),
    }
}

/// Appends slots of a buffer of numbers and codes.
fn put_slots(buffer: &Buffer, range: Range<usize>, out: &mut Vec<u8>) {
    macro_rules! write {
        ($slots:expr) => {
            out.extend($slots.iter().flat_map(|slot| slot.to_le_bytes()))
        };
    }
    match buffer {
        Buffer::U8(slots) => out.extend_from_slice(&slots[range]),
        Buffer::U16(slots) => write!(slots[range]),
        Buffer::U32(slots) => write!(slots[range]),
        Buffer::Word(slots) => {
            // In blocks: as fast as a copy.
            let start = out.len();
            out.resize(start + 8 * range.len(), 0);
            for (bytes, slot) in out[start..].as_chunks_mut().0.iter_mut().zip(&slots[range]) {
                *bytes = slot.to_le_bytes();
            }
        }
        Buffer::Wide(slots) => write!(slots[range]),
        Buffer::Mapped(slots) => out.extend_from_slice(slots.bytes(range)),
        Buffer::Any(_) | Buffer::Unboxed(_) => {
            let width = buffer.class().bytes() as usize;
            range.for_each(|i| put_slot(&buffer.get(i), width, out));
        }
    }
}

/// Appends a slot.
fn put_slot(slot: &Value, width: usize, out: &mut Vec<u8>) {
    let code = match slot {
        Value::Wide(wide) => **wide,
        single => u128::from(single.word()),
    };
    out.extend_from_slice(&code.to_le_bytes()[..width]);
}

/// Appends a length and bytes.
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Takes bytes with their length from the front.
fn take_bytes<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], Malformed> {
    let length = take_exactly(rest, 8)?.try_into().expect("eight bytes were taken");
    take_exactly(rest, usize::try_from(u64::from_le_bytes(length)).map_err(|_| Malformed)?)
}

/// Takes so many bytes from the front.
fn take_exactly<'b>(rest: &mut &'b [u8], count: usize) -> Result<&'b [u8], Malformed> {
    let (taken, more) = rest.split_at_checked(count).ok_or(Malformed)?;
    *rest = more;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, Nominal, NominalBody, TypeVar};

    const MEMORY: u64 = 1 << 20;

    /// Types of every form, without variables.
    fn types() -> Vec<Type> {
        let n = |k: u32| Type::unit_sum(k);
        let byte = Type::scalar(Scalar::from_name("u8").expect("a type"));
        let option: Nominal = Nominal::declare(
            1,
            "option".into(),
            vec![TypeVar { id: 9, name: "T".into(), kind: Kind::Type }],
            Kind::Type,
        );
        let t = Type::var(option.params[0].clone());
        option.define(NominalBody::Variant(vec![("None".into(), Type::unit()), ("Some".into(), t)]));
        let some = |ty: Type| Type::nominal(option.clone(), vec![ty]);
        let size = TypeVar { id: 10, name: "K".into(), kind: Kind::Compact };
        let sized = Type::array(Type::int(), Type::var(size.clone()));
        vec![
            Type::unit(),
            Type::bool(),
            Type::int(),
            Type::real(),
            Type::char(),
            Type::string(),
            Type::bigint(),
            byte.clone(),
            n(300),
            Type::compact_power(n(2), n(70)),
            Type::compact_power(n(2), n(200)),
            Type::array(n(5), n(7)),
            Type::array(Type::int(), n(0)),
            Type::array(Type::string(), n(3)),
            Type::product(vec![Type::int(), Type::char(), n(3), byte]),
            Type::product(vec![Type::compact_power(n(2), n(70)), Type::int(), Type::char()]),
            Type::sum(vec![Type::int(), Type::string(), n(4)]),
            Type::repeat(n(3), Type::real()),
            Type::array(some(Type::int()), n(4)),
            some(some(Type::string())),
            Type::exists(std::slice::from_ref(&size), &sized),
        ]
    }

    /// Whatever bytes arrive, there is a value whose wire form they are, or none; never a panic.
    #[test]
    fn any_bytes_are_a_value_or_refused() {
        let layouts = Layouts::default();
        let wire = WireCodec::new(&layouts, MEMORY);
        let mut rng = fastrand::Rng::with_seed(7);
        let mut taken = 0;
        for ty in types() {
            for round in 0..400 {
                let length = match wire.fixed_length(&ty) {
                    Some(bytes) if round % 4 > 0 => bytes as usize,
                    _ => rng.usize(..64),
                };
                // Small bytes make lengths and codes that may be right.
                let top = [1, 4, 255][round % 3];
                let bytes: Vec<u8> = (0..length).map(|_| rng.u8(0..=top)).collect();
                if let Ok(value) = wire.decode(&ty, &bytes) {
                    taken += 1;
                    // Leading zeros of numbers are not written again.
                    let written = |value| wire.encode(&ty, value, Purpose::Move).expect("no ciphertext");
                    let again = written(&value);
                    let same = wire.decode(&ty, &again).expect("what is written is read");
                    assert_eq!(written(&same), again, "{ty}");
                    if wire.fixed_length(&ty).is_some() {
                        assert_eq!(again, bytes, "{ty}");
                    }
                }
            }
        }
        assert!(taken > 1_000, "{taken}");
    }

    #[test]
    fn codes_characters_and_lengths_are_checked() {
        let layouts = Layouts::default();
        let wire = WireCodec::new(&layouts, MEMORY);
        let refused = |ty: &Type, bytes: &[u8]| assert!(wire.decode(ty, bytes).is_err(), "{ty} {bytes:?}");
        refused(&Type::unit_sum(5u32), &[5]);
        refused(&Type::array(Type::unit_sum(5u32), Type::unit_sum(2u32)), &[4, 7]);
        refused(&Type::char(), &0xd800u32.to_le_bytes());
        refused(&Type::int(), &[0; 7]);
        refused(&Type::int(), &[0; 9]);
        refused(&Type::string(), &[1, 0, 0, 0, 0, 0, 0, 0, 0xff]);
        refused(&Type::string(), &u64::MAX.to_le_bytes());
        // A lie about a length takes no memory.
        let huge = Type::array(Type::string(), Type::unit_sum(1u64 << 40));
        refused(&huge, &[0; 64]);
    }
}
