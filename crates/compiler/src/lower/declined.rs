//! The reasons for which a unit is left to the evaluator.

use std::fmt;

/// The reason for which there are no loops for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The unit would become too many statements, or takes too many steps to lower.
    TooLong,
    /// The work was stopped from outside.
    Stopped,
    /// A type is not supported.
    Type(UnsupportedType),
    /// A construct is not supported.
    Construct(UnsupportedConstruct),
    /// A value has a form that its type does not suggest.
    Form(UnexpectedForm),
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Declined::TooLong => "a part that would become too long",
            Declined::Stopped => "stopped from outside",
            Declined::Type(reason) => reason.text(),
            Declined::Construct(reason) => reason.text(),
            Declined::Form(reason) => reason.text(),
        })
    }
}

macro_rules! reasons {
    ($( $(#[$doc:meta])* $Reason:ident { $( $variant:ident $text:literal; )* } )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Reason {
            $( #[doc = $text] $variant, )*
        }

        impl $Reason {
            /// The declined construct, as `--show loops` and `--show core` report it.
            fn text(self) -> &'static str {
                match self { $( $Reason::$variant => $text, )* }
            }
        }
    )* };
}

reasons! {
    /// A type whose values the loop form does not represent, or an operation that it does not have
    /// at a type.
    UnsupportedType {
        BigInteger "big integers";
        String "strings";
        Variant "variants";
        RecursiveVariant "a variant that mentions itself";
        SumWithArguments "sums with arguments";
        ReshapedSum "a sum with arguments at another type";
        StoredSum "a sum that is stored";
        ManyCases "a sum of very many cases";
        FunctionInData "functions inside data";
        FunctionInArray "a function in an array";
        SizesInData "sizes inside data";
        WideCode "codes of more than 64 bits";
        WideSlot "slots of more than 64 bits";
        WideProduct "products of more than 64 bits";
        ProductOfNonReal "products of what is not real";
        WideIndex "an index type beyond a machine word";
        TooManySlots "more slots than memory";
        OverriddenEquality "an equality of its own";
        OtherStorage "a type that is stored otherwise";
        ReshapeOfOtherStorage "a reshape between types that are stored otherwise";
        RealToUnsignedWord "reals as unsigned integers of 64 bits";
        CodeBeyondNumber "codes beyond a number type";
        CodeBeyondInt "codes beyond `int`";
        CodeOfOtherNumber "codes of other numbers";
        CodeToNonNumber "a code as no number";
        UnorderedPair "pairs without order";
        NonCompactPair "a pair that is not compact";
        ConversionOfNonScalar "a conversion of no scalar";
        Conversion "a conversion that is not compiled";
        OrderOfUnits "the order of units";
        ScanOfUnits "a scan of units";
        ReductionOfUnits "a reduction of units";
        ArrayWithoutSlots "an array without slots";
    }
    /// A construct that is left to the evaluator.
    UnsupportedConstruct {
        SharedVariable "a variable shared with a function";
        SessionVariableStore "a store into a variable of the session";
        StoreIntoConstant "a store into what does not change";
        StoreIntoAliasedArray "a store into an array that is still looked at";
        ExitFromUnit "a way out of the part";
        Output "output";
        Files "files";
        Places "values at places";
        Recursion "recursion";
        RuntimeSizes "sizes that arrive while it runs";
        LibrarySort "sorting in the library";
        CharacterFromNumber "characters from numbers";
        Primitive "a primitive that is not compiled";
        AggregatePrimitive "a primitive of aggregates";
        ManyStrictArrays "many arrays whose elements may fail, and are not all read";
        ConditionalFunction "a function that depends on a condition";
        UnknownFunction "a function that is not known";
        UnknownMethod "a method without instance";
        ReshapeOfVariables "a reshape of a tuple in variables";
        OuterVariableInParts "a variable outside in parts";
        PositionBeyondMemory "a position beyond memory";
        UnknownSize "a size that is not there yet";
        NonBindingPattern "patterns that bind nothing";
        DigitsOfProduct "digits of a product";
        CaseIndex "the index of a case";
        Condition "a condition";
        Comparison "a comparison";
        ErrorTerm "an error";
    }
    /// A value or term of another form than its type has: stored where parts are expected, without
    /// an entry of a table.
    UnexpectedForm {
        PartsWithoutTypes "parts without types";
        ParametersWithoutTypes "parameters without types";
        ProductsWithoutTypes "products without types";
        ProductsWithoutParts "products without their parts";
        ReductionWithoutTypes "a reduction without types";
        ReductionWithoutParts "a reduction without its parts";
        ScanWithoutTypes "a scan without types";
        ScanWithoutParts "a scan without its parts";
        ExtremeWithoutTypes "a largest element without types";
        ExtremeWithoutParts "a largest element without its parts";
        ConversionWithoutTypes "a conversion without types";
        CaptureWithoutType "a capture without type";
        CallWithoutArgument "a call without argument";
        FunctionWithoutBody "a function without body";
        LocalWithoutValue "a local without value";
        SlotWithoutNumber "a slot without number";
        OptionWithoutCases "an option without cases";
        UnknownSlot "an unknown slot";
        UnknownVariable "an unknown variable";
        UnknownLocal "an unknown local";
        MissingComponent "a component that is not there";
        UnknownComponent "a component that is not known";
        ComponentOfWord "a component of a word";
        MissingElement "an element that is not there";
        ElementOfWord "an element of a word";
        MissingPart "a part that is not there";
        PartOfNonCompact "a part of no compact value";
        PartOfSeveralSlots "a part of several slots";
        MissingCase "a case that is not there";
        DigitOfNonCompact "a digit of no compact value";
        WordInParts "a word in parts";
        ValueOfSeveralSlots "a value of several slots as one";
        NotOneSlot "a value of no or several slots";
        SlotOfSeveral "a slot of several";
        SlotOfUnknownValue "a slot of an unknown value";
        SlotOfUnknownTuple "a slot of a tuple that is not known";
        PositionOfSeveralSlots "a position of several slots";
        NoArray "no array";
        NoStoredArray "no stored array";
        HandledPrimitive "a primitive that was handled before";
    }
}
