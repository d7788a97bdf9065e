//! Random columns of each type that files of columns hold.

use felis_calculus::types::Scalar;
use felis_calculus::types::number::Fixed;
use felis_runtime::data::{Column, Element};
use felis_runtime::value::{Buffer, Value};
use proptest::prelude::*;

/// Generates a column of `count` cells of one type, none missing.
pub fn cells(count: usize) -> impl Strategy<Value = Column> {
    let numbers = [Scalar::Int, Scalar::Real, Scalar::Single]
        .into_iter()
        .chain(Fixed::ALL.into_iter().map(Scalar::Fixed))
        .map(Element::Scalar)
        .chain([Element::Bool]);
    let numbers = prop::sample::select(numbers.collect::<Vec<_>>()).prop_flat_map(move |element| {
        prop::collection::vec(any::<u64>(), count).prop_map(move |words| {
            let mut cells = Buffer::with_capacity(element.class(), count).expect("room");
            words.into_iter().for_each(|word| {
                cells.push(Value::Word(if element == Element::Bool { word & 1 } else { word }));
            });
            Column::new(element, cells)
        })
    });
    let texts = prop::collection::vec("[a-zä\"', \n]{0,20}", count).prop_map(|texts| {
        let texts = texts.into_iter().map(Value::str).collect();
        Column::new(Element::Scalar(Scalar::String), Buffer::Any(texts))
    });
    prop_oneof![3 => numbers, 1 => texts]
}
