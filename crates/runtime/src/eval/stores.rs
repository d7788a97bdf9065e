//! Stores into a part of a value.

use super::code::Store;
use crate::layout::Layout;
use crate::types::encoding::Code;
use crate::value::Value;

/// Writes a value into a part of `root`, from slot `start` on; `parts` leads into a compact value
/// there.
pub(super) fn write_place(
    root: &mut Value,
    start: usize,
    parts: &[(&Layout, Code)],
    value: Value,
    store: &Store,
) {
    let slots = store.place.slots;
    let value = if parts.is_empty() {
        value
    } else {
        let old = if store.root_slots == slots { root.clone() } else { root.slots(start, slots) };
        Value::code(replace_part(&old.to_code(), parts, &value.to_code()))
    };
    if slots == 0 {
        return;
    }
    if store.root_slots == slots {
        *root = value;
        return;
    }
    let Value::Seq(seq) = root else { unreachable!("a value of several slots is a sequence") };
    if seq.fill_gap(start, slots, &value) {
        return;
    }
    let (buffer, at) = seq.slots_mut(start, slots, store.class);
    match &value {
        Value::Seq(source) if slots > 1 => {
            for i in 0..slots {
                buffer.set(at + i, source.get(i));
            }
        }
        one => buffer.set(at, one.clone()),
    }
}

/// Returns a code with the part at the end of a path replaced.
fn replace_part(code: &Code, path: &[(&Layout, Code)], value: &Code) -> Code {
    let Some(((layout, i), rest)) = path.split_first() else { return value.clone() };
    let compact = layout.require_compact();
    let inner = replace_part(&compact.encoding.project(code, i), rest, value);
    compact.encoding.replace(code, i, &inner)
}
