//! The names of operations in the text of the loop form, for the printer and the parser.

use super::{Binary, Cast, Compare, ReductionOp, ScalarType, Unary};

crate::mnemonic::mnemonics! {
    ScalarType {
        I8 "i8" I16 "i16" I32 "i32" I64 "i64" F32 "f32" F64 "f64"
    }
    Binary {
        Add "add" Sub "sub" Mul "mul" DivFloat "div_float" Min "min" Max "max"
        DivSigned "div_signed" DivUnsigned "div_unsigned" RemSigned "rem_signed" RemUnsigned "rem_unsigned"
        And "and" Or "or" Xor "xor" Shl "shl" Shr "shr"
    }
    Unary {
        Neg "neg" Not "not" Sqrt "sqrt" Floor "floor" Ceil "ceil" Trunc "trunc"
        PopCount "popcount" TrailingZeros "trailing_zeros"
    }
    Compare {
        Eq "==" Ne "!=" Lt "<" Le "<=" LtUnsigned "<u" LeUnsigned "<=u"
    }
    Cast {
        SignExtend "sign_extend" ZeroExtend "zero_extend" Truncate "truncate"
        SignedToFloat "signed_to_float" UnsignedToFloat "unsigned_to_float"
        FloatToSigned "float_to_signed" FloatToFloat "float_to_float" FloatToBits "float_to_bits"
    }
    ReductionOp {
        Add "add" Mul "mul" Min "min" Max "max"
    }
}
