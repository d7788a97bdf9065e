//! Syntax errors: what was wrong with a text, each with one way to become a diagnostic.
//!
//! Codes are stable:
//!
//! | code | what |
//! |---|---|
//! | E0101 | a character that no token has |
//! | E0102 | a string that its line ends |
//! | E0103 | an unknown escape in a string |
//! | E0104 | a malformed number |
//! | E0105 | a comment without its end |
//! | E0106 | a line or a number that is too long |
//! | E0107 | brackets, blocks or prefixes nested too deeply |
//! | E0108 | an operator chain that is too long |
//! | E0110 | a bracket or block closed by the wrong thing |
//! | E0111 | a bracket or block that the text never closes |
//! | E0112 | something closed that was not open |
//! | E0120 | one thing expected, another found |
//! | E0121 | a statement without its `;` |
//! | E0122 | comparisons that chain |
//! | E0123 | `=` where a comparison `==` is meant |
//! | E0124 | an assignment to something that is not a variable |
//! | E0125 | `<-` inside an expression |
//! | E0126 | a keyword used as a name |
//! | E0127 | a statement that the text ends |
//! | E0128 | type arguments or types written where or how they cannot be |
//! | E0129 | further errors that are not shown |
//! | E0130 | a character literal with no or several characters |
//! | E0131 | a character literal without its closing quote |
//! | E0132 | a number with a suffix that does not belong there |
//! | E0134 | a name in quotes that is written in another way |
//! | E0135 | a statement that begins with a word of another language |
//! | E0136 | branches of an `if` in braces |
//! | E0137 | an `if` that has the form of neither a statement nor an expression |
//! | E0138 | a `match` with its arms in braces |
//! | E0139 | a condition in another place than this language has it |
//! | E0140 | a block in braces that has no value where one is wanted |
//! | E0141 | a text over several lines without an end |
//! | E0142 | a brace in a text with values that holds none |
//! | E0150 | an argument without a name after one with a name |
//!
//! Knows the lexer's words for tokens and nothing of the grammar.

mod brackets;
mod foreign;
mod grammar;
mod lexical;

pub use brackets::BracketError;
pub use foreign::ForeignError;
pub use grammar::GrammarError;
pub use lexical::{InterpolationFault, LexicalError};

use crate::diagnostic::errors;

errors! {
    /// A syntax error, by family.
    #[derive(PartialEq)]
    pub enum SyntaxError {
        families:
        Lexical(LexicalError),
        Bracket(BracketError),
        Foreign(ForeignError),
        Grammar(GrammarError),
    }
}

/// The form of the left side of an assignment that is not a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// `x.1`
    Component,
    /// `x.1`, of `x.1 += v`
    CompoundComponent,
    /// `x[1]`
    Bracketed,
    /// `a, b`
    Several,
    /// Anything else.
    Other,
}
