//! Locals of a frame whose values have been moved out.

use crate::value::Value;
#[cfg(debug_assertions)]
use std::sync::LazyLock;

/// Moves a value out of a local.
pub(super) fn take_local(place: &mut Value) -> Value {
    debug_assert_present(place);
    std::mem::replace(place, moved_out())
}

/// Stores a word, which has nothing to drop where another word was.
#[inline(always)]
pub(super) fn set_word(place: &mut Value, word: u64) {
    match place {
        Value::Word(old) => *old = word,
        other => *other = Value::Word(word),
    }
}

/// Returns the content of a local whose value has been moved out: in debug builds a text that no
/// program has, so that a later read is found.
pub(super) fn moved_out() -> Value {
    #[cfg(debug_assertions)]
    return MOVED_OUT.clone();
    #[cfg(not(debug_assertions))]
    Value::UNIT
}

/// The content of moved locals in debug builds.
#[cfg(debug_assertions)]
static MOVED_OUT: LazyLock<Value> = LazyLock::new(|| Value::str("moved"));

/// Asserts in debug builds that a value has not been moved out.
pub(super) fn debug_assert_present(value: &Value) {
    #[cfg(debug_assertions)]
    assert!(
        !matches!((value, &*MOVED_OUT), (Value::Str(text), Value::Str(moved)) if text.is_same_object(moved)),
        "a local is read or moved after its last use"
    );
    #[cfg(not(debug_assertions))]
    let _ = value;
}
