//! The words of the text of the array IR, for the printer and the parser.

use super::{Binary, Cast, Compare, Effect, Element, Grouping, Io, SiteKind, Unary};

crate::mnemonic::mnemonics! {
    Element {
        B1 "b1" I8 "i8" I16 "i16" I32 "i32" I64 "i64" F32 "f32" F64 "f64"
    }
    Binary {
        Add "add" Sub "sub" Mul "mul" Div "div" Min "min" Max "max"
        MinUnsigned "min_unsigned" MaxUnsigned "max_unsigned"
        DivSigned "div_signed" DivUnsigned "div_unsigned" RemSigned "rem_signed" RemUnsigned "rem_unsigned"
        And "and" Or "or" Xor "xor"
    }
    Unary {
        Neg "neg" Not "not"
    }
    Compare {
        Eq "eq" Ne "ne" Lt "lt" Le "le" LtUnsigned "lt_unsigned" LeUnsigned "le_unsigned"
    }
    Cast {
        SignExtend "sign_extend" ZeroExtend "zero_extend" Truncate "truncate"
        SignedToFloat "signed_to_float" UnsignedToFloat "unsigned_to_float"
        FloatToSigned "float_to_signed" FloatToFloat "float_to_float" FloatToBits "float_to_bits"
    }
    Grouping {
        Any "any" Fixed "fixed" Left "left"
    }
    Effect {
        Total "total" MayFail "may_fail" MayNotEnd "may_not_end" Ordered "ordered"
    }
    SiteKind {
        Assert "assert" Division "division" Range "range" Convert "convert" Power "power" Sizes "sizes"
    }
    Io {
        Emit "emit"
    }
}
