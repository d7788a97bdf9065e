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

use super::lexer::TokenKind;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub enum SyntaxError {
    /// A character that no token has.
    UnknownCharacter {
        /// The run of them.
        span: Span,
        /// The first.
        character: char,
    },
    /// A string that its line ends.
    UnterminatedString {
        /// From its quote to the end of the line.
        span: Span,
    },
    /// An unknown escape.
    BadEscape {
        /// The escape.
        span: Span,
        /// The kind of literal it occurs in.
        place: &'static str,
    },
    /// A name in quotes that is written in another way.
    QuotedName {
        /// With its quotes.
        span: Span,
        /// The name, if there is one.
        name: Option<String>,
    },
    /// `''`, `'ab'`: not one character between quotes.
    NotOneCharacter {
        /// With its quotes.
        span: Span,
        /// The text between them.
        text: String,
    },
    /// `'''`: the quote as a character.
    BareQuote {
        /// All three quotes.
        span: Span,
    },
    /// A character without its closing quote.
    UnterminatedCharacter {
        /// The quote and the character after it.
        span: Span,
        /// A character stands after the quote.
        filled: bool,
    },
    /// `5km`, `5u7`: letters after a number that are no suffix.
    UnknownSuffix {
        /// The number with its letters.
        span: Span,
        /// The letters.
        letters: Span,
        /// The letters as written.
        suffix: String,
        /// The digits as written.
        digits: String,
    },
    /// A suffix that does not fit the digits: `1.5u8`, `0b1f32`.
    WrongSuffix {
        /// The number.
        span: Span,
        /// The suffix.
        suffix: &'static str,
        /// The digits are those of a real.
        real: bool,
    },
    /// A malformed number.
    BadNumber {
        /// The number.
        span: Span,
        /// As written.
        text: String,
    },
    /// A number that begins or ends with its point.
    BarePoint {
        /// The number.
        span: Span,
        /// As written.
        text: String,
    },
    /// A number with too many digits.
    NumberTooLong {
        /// The number.
        span: Span,
    },
    /// A block comment without its `*/`.
    UnterminatedComment {
        /// The span of the `/*`.
        open: Span,
    },
    /// A line that is too long to be read.
    LineTooLong {
        /// The start of the line.
        span: Span,
    },
    /// Nesting beyond the limit.
    TooDeep {
        /// The bracket that goes too far.
        span: Span,
        /// The maximum nesting.
        limit: u32,
    },
    /// A chain of operators beyond the limit.
    ChainTooLong {
        /// The operator that goes too far.
        span: Span,
        /// The maximum length.
        limit: u32,
    },
    /// A bracket or block closed by the wrong thing.
    Mismatch {
        /// The opener.
        open: Span,
        /// The kind of its token.
        opener: TokenKind,
        /// The latest position where it should have been closed.
        close: Span,
        /// The token there.
        closer: TokenKind,
        /// The token that would close it.
        wanted: TokenKind,
        /// The closer is the other form of the wanted one, and can be replaced.
        replace: bool,
    },
    /// A bracket or block that the text never closes.
    Unclosed {
        /// The opener.
        open: Span,
        /// The kind of its token.
        opener: TokenKind,
        /// The token that would close it.
        wanted: TokenKind,
        /// The end of the text.
        end: Span,
    },
    /// Something closed that was not open.
    StrayCloser {
        /// The closer.
        span: Span,
        /// The kind of its token.
        closer: TokenKind,
    },
    /// One thing expected, another found.
    Unexpected {
        /// A description of the token found.
        found: String,
        /// The span.
        at: Span,
        /// A description of the token before, and its span.
        after: Option<(String, Span)>,
        /// Descriptions of the tokens that could occur there.
        expected: Vec<&'static str>,
        /// The suggestion.
        hint: Option<String>,
    },
    /// More of an operand after the type of `x :>> T`.
    AfterCast {
        /// The span of the token found.
        at: Span,
        /// A description of the token found.
        found: String,
        /// `x :>> T`.
        cast: Span,
    },
    /// A statement that is unreadable today and was readable in version 0.1.
    Regrouped {
        /// Today's error.
        error: Box<SyntaxError>,
        /// The part that was grouped differently, as it is written today.
        today: String,
        /// The parentheses that it needs.
        edits: Vec<(Span, String)>,
    },
    /// A statement without its `;`.
    MissingSemicolon {
        /// The end of the statement.
        end: Span,
        /// The span of the token that follows.
        next: Span,
        /// A description of the token found.
        found: String,
    },
    /// Comparisons that chain.
    ChainedComparison {
        /// The first comparison.
        first: Span,
        /// The second operator and its right side.
        second: Span,
        /// The operand between them, as written.
        middle: String,
    },
    /// `=` where `==` is meant.
    AssignForEqual {
        /// The `=`.
        span: Span,
    },
    /// An assignment to something that is not a variable.
    NotAVariable {
        /// The left side.
        place: Span,
        /// The `=`.
        assign: Span,
        /// The form of the left side.
        place_kind: PlaceKind,
    },
    /// `{ … }` where a value is wanted, and none at its end.
    BlockWithoutValue {
        /// The block.
        span: Span,
        /// The block contains no statements.
        alone: bool,
    },
    /// `"""` without another.
    UnterminatedText {
        /// The quotes.
        open: Span,
    },
    /// A brace of `f"…"` that holds no value.
    MalformedInterpolation {
        /// The brace.
        span: Span,
        /// True for an opening brace.
        text: bool,
    },
    /// `<-` inside an expression.
    StoreInExpression {
        /// The `<-`.
        span: Span,
    },
    /// A keyword used as a name.
    KeywordAsName {
        /// The keyword.
        span: Span,
        /// A description of the keyword.
        word: &'static str,
    },
    /// A statement that the text ends.
    UnfinishedStatement {
        /// The end of the text.
        end: Span,
        /// A description of the last token.
        after: String,
        /// Descriptions of the tokens that could occur there.
        expected: Vec<&'static str>,
    },
    /// A statement that cannot be read and begins with a word of another language.
    ForeignWord {
        /// The word.
        span: Span,
        /// As written.
        word: String,
        /// The suggestion.
        instead: &'static str,
    },
    /// `# a comment`, where the text makes no call.
    ForeignComment {
        /// `#` or `--`.
        sign: Span,
    },
    /// `if c { … }` and `if c then { …; }`.
    BranchInBraces {
        /// The `if`.
        word: Span,
        /// The `{`.
        brace: Span,
        /// The corrections, if the whole construct is present.
        edits: Vec<(Span, String)>,
    },
    /// `match e { … }`.
    ArmsInBraces {
        /// The `match`.
        word: Span,
        /// The `{`.
        brace: Span,
    },
    /// `if c do … else if d do … done`, and no other `done`.
    ElseIf {
        /// The words.
        word: Span,
        /// The first `if`.
        open: Span,
    },
    /// `if c s;`, `if c return e;`, `if c:`.
    MalformedIf {
        /// The `if`.
        word: Span,
        /// The `:` after the condition.
        colon: Option<Span>,
        /// The word that begins the statement after the condition.
        single: Option<Span>,
    },
    /// `if c then s;`, `(if c then a)`.
    ThenWithoutElse {
        /// The `if`.
        word: Span,
        /// The `then`.
        then: Span,
        /// After the `;` of a statement.
        end: Option<Span>,
    },
    /// `(x = 1, 2)`.
    PositionalAfterNamed {
        /// The `2`.
        value: Span,
    },
    /// `a if c else b`.
    ConditionBetween {
        /// The `if`.
        word: Span,
    },
    /// `option [int]`.
    DetachedTypeArguments {
        /// The `[`.
        bracket: Span,
        /// The blank before it.
        gap: Span,
    },
    /// `(int, int)` as a type.
    CommaInType {
        /// The comma.
        span: Span,
    },
    /// More errors than are shown.
    MoreErrors {
        /// The first that is not shown.
        span: Span,
        /// The number of errors not shown.
        more: usize,
    },
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

impl SyntaxError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            SyntaxError::UnknownCharacter { .. }
            | SyntaxError::UnterminatedString { .. }
            | SyntaxError::BadEscape { .. }
            | SyntaxError::QuotedName { .. }
            | SyntaxError::NotOneCharacter { .. }
            | SyntaxError::BareQuote { .. }
            | SyntaxError::UnterminatedCharacter { .. }
            | SyntaxError::UnknownSuffix { .. }
            | SyntaxError::WrongSuffix { .. }
            | SyntaxError::BadNumber { .. }
            | SyntaxError::BarePoint { .. }
            | SyntaxError::NumberTooLong { .. }
            | SyntaxError::UnterminatedComment { .. }
            | SyntaxError::LineTooLong { .. }
            | SyntaxError::UnterminatedText { .. }
            | SyntaxError::MalformedInterpolation { .. } => lexical::diagnostic(self),
            SyntaxError::TooDeep { .. }
            | SyntaxError::ChainTooLong { .. }
            | SyntaxError::Mismatch { .. }
            | SyntaxError::Unclosed { .. }
            | SyntaxError::StrayCloser { .. } => brackets::diagnostic(self),
            SyntaxError::ForeignWord { .. }
            | SyntaxError::ForeignComment { .. }
            | SyntaxError::BranchInBraces { .. }
            | SyntaxError::ArmsInBraces { .. }
            | SyntaxError::ElseIf { .. }
            | SyntaxError::MalformedIf { .. }
            | SyntaxError::ThenWithoutElse { .. }
            | SyntaxError::ConditionBetween { .. } => foreign::diagnostic(self),
            SyntaxError::Unexpected { .. }
            | SyntaxError::AfterCast { .. }
            | SyntaxError::Regrouped { .. }
            | SyntaxError::MissingSemicolon { .. }
            | SyntaxError::ChainedComparison { .. }
            | SyntaxError::AssignForEqual { .. }
            | SyntaxError::NotAVariable { .. }
            | SyntaxError::BlockWithoutValue { .. }
            | SyntaxError::StoreInExpression { .. }
            | SyntaxError::KeywordAsName { .. }
            | SyntaxError::UnfinishedStatement { .. }
            | SyntaxError::PositionalAfterNamed { .. }
            | SyntaxError::DetachedTypeArguments { .. }
            | SyntaxError::CommaInType { .. }
            | SyntaxError::MoreErrors { .. } => grammar::diagnostic(self),
        }
    }
}
