//! Spacing: the blanks between tokens of a line, and the positions where a line may be broken.

use super::super::lexer::TokenKind;
use super::document::DocumentBuilder;

/// Returns the kind of a token.
fn kind(text: &DocumentBuilder<'_>, at: usize) -> Option<TokenKind> {
    text.tokens.get(at).map(|token| token.kind)
}

/// Returns the kind of the token before.
fn before(text: &DocumentBuilder<'_>, at: usize) -> Option<TokenKind> {
    at.checked_sub(1).and_then(|at| kind(text, at))
}

/// Returns true for an operator between two operands, rather than before one or as a name.
pub(super) fn is_infix_operator(text: &DocumentBuilder<'_>, at: usize) -> bool {
    use TokenKind::*;
    match kind(text, at) {
        Some(
            Plus | Minus | Star | Slash | Percent | Pow | EqEq | NotEq | Less | LessEq | Greater | GreaterEq
            | Bang,
        ) => before(text, at).is_some_and(TokenKind::ends_operand),
        _ => true,
    }
}

/// Returns true for an operator that is the name of a function being defined.
fn defined(text: &DocumentBuilder<'_>, at: usize) -> bool {
    !is_infix_operator(text, at) && matches!(before(text, at), Some(TokenKind::Fun | TokenKind::Proc))
}

/// Returns true if a blank separates a token from the next.
pub(super) fn has_blank_between(text: &DocumentBuilder<'_>, left: usize, right: usize) -> bool {
    use TokenKind::*;
    let (Some(l), Some(r)) = (kind(text, left), kind(text, right)) else { return false };
    let glued = text.tokens[right].glued;
    match (l, r) {
        (FatArrow, Semi) => true,
        (_, Comma | Semi | RParen | RBracket) | (LParen | LBracket, _) => false,
        (Dot | Hash | Amp | Tick | Question, _) | (_, Dot | Dollar) => false,
        (DotDot | DotDotLess, _) => false,
        (_, DotDot) if kind(text, right + 1) == Some(LBracket) => !(l.ends_operand() && glued),
        (_, DotDot | DotDotLess) => !l.ends_operand(),
        (Instance, LBracket) => false,
        (_, Colon) => text.structure.colons.contains(&right),
        (Colon, _) => text.structure.colons.contains(&left),
        (_, LParen | LBracket) if defined(text, left) => !glued,
        (Minus | Bang, _) if !is_infix_operator(text, left) && !defined(text, left) => false,
        (_, LParen | LBracket) if l.ends_operand() => !glued,
        _ => true,
    }
}

/// Returns true if a line break written between two tokens is kept.
pub(super) fn may_break(text: &DocumentBuilder<'_>, left: usize, right: usize) -> bool {
    use TokenKind::*;
    let (Some(l), Some(r)) = (kind(text, left), kind(text, right)) else { return false };
    let unary = matches!(l, Minus | Bang) && !is_infix_operator(text, left);
    let bound = matches!(
        l,
        Dot | Hash
            | Amp
            | Tick
            | Question
            | Colon
            | DotDot
            | DotDotLess
            | Export
            | Import
            | Fun
            | Proc
            | Val
            | Var
            | Typedef
            | Typefun
            | Struct
            | Variant
            | Enum
            | Party
            | Joint
            | At
            | Newtype
            | Class
            | Instance
            | Law
            | Case
            | Proj
            | For
            | While
            | If
            | IfDo
            | Match
            | MatchDo
            | Return
    );
    let binds = matches!(r, Comma | Semi | Colon | Dollar | CComma | DotDot | DotDotLess | With | Do | Then);
    // `f` and `[T]` must touch.
    let brackets = matches!(r, LParen | LBracket) && text.tokens[right].glued;
    !(unary || bound || binds || brackets)
}
