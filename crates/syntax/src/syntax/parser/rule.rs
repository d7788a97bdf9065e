//! Parser combinators over tokens: the input, the error of a failed rule, and single-token rules.
//!
//! A rule takes tokens and gives a part of the tree, by the combinators of the `chumsky` crate
//! (recursive descent with ordered choice and backtracking: parsing expression grammars, B. Ford,
//! POPL 2004). The error of a failed rule is two machine words of bits, so that trying alternatives
//! allocates nothing; its message is computed later.

use super::super::ast::{Expr, ExprKind, Name, Pattern, PatternKind, TypeExpr, TypeExprKind};
use super::super::error::SyntaxError;
use super::super::lexer::{Token, TokenKind};
pub(crate) use super::super::text::Text;
use crate::source::Span;
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::prelude::*;
use chumsky::util::MaybeRef;

/// The input of rules.
pub(crate) type Input<'t> = &'t [Token];
/// The error type of rules.
pub(crate) type Extra = extra::Err<ParseFailure>;

/// A parser over tokens that can be cloned.
pub(crate) trait Rule<'t, O>: Parser<'t, Input<'t>, O, Extra> + Clone + 't {}
impl<'t, O, P: Parser<'t, Input<'t>, O, Extra> + Clone + 't> Rule<'t, O> for P {}

impl Text<'_> {
    /// Returns a token as a name.
    pub fn name(self, token: &Token) -> Name {
        Name { text: self.of(token).into(), span: self.at(token) }
    }
}

/// The name of a rule in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Label {
    Expression,
    Type,
    Pattern,
    Statement,
}

impl Label {
    /// Returns the description in messages.
    pub fn description(self) -> &'static str {
        match self {
            Label::Expression => "an expression",
            Label::Type => "a type",
            Label::Pattern => "a pattern",
            Label::Statement => "a statement",
        }
    }

    /// Returns the bit of the label.
    pub fn bit(self) -> u128 {
        1 << (124 + self as u32)
    }
}

// Token bits must stay below label bits.
const _: () = assert!((TokenKind::BlockComment as u32) < 124);

/// Returns the bit of a token.
pub(crate) fn bit(kind: TokenKind) -> u128 {
    1 << kind as u32
}

/// The failure of a rule.
#[derive(Clone, Debug)]
pub(crate) struct ParseFailure {
    /// The position of the token where it failed; the number of tokens at the end.
    pub at: usize,
    /// The expected tokens and rules, as bits.
    pub expected: u128,
    /// A specific error.
    pub specific: Option<Box<SyntaxError>>,
}

impl ParseFailure {
    /// Returns a failure with a specific error.
    pub fn specific(error: impl Into<SyntaxError>) -> ParseFailure {
        ParseFailure { at: 0, expected: 0, specific: Some(Box::new(error.into())) }
    }
}

impl<'t> Error<'t, Input<'t>> for ParseFailure {
    fn merge(mut self, other: ParseFailure) -> ParseFailure {
        self.expected |= other.expected;
        self.specific = self.specific.or(other.specific);
        self
    }
}

impl<'t> LabelError<'t, Input<'t>, DefaultExpected<'t, Token>> for ParseFailure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token>>>(
        _: E,
        _: Option<MaybeRef<'t, Token>>,
        span: SimpleSpan,
    ) -> ParseFailure {
        ParseFailure { at: span.start, expected: 0, specific: None }
    }
}

impl<'t> LabelError<'t, Input<'t>, Label> for ParseFailure {
    fn expected_found<E: IntoIterator<Item = Label>>(
        expected: E,
        _: Option<MaybeRef<'t, Token>>,
        span: SimpleSpan,
    ) -> ParseFailure {
        let expected = expected.into_iter().fold(0, |bits, label| bits | label.bit());
        ParseFailure { at: span.start, expected, specific: None }
    }

    fn label_with(&mut self, label: Label) {
        self.expected = label.bit();
    }
}

/// Returns the rule of any token among `kinds`; a failure lists the kinds in `say` as expected.
fn one_among<'t>(kinds: u128, say: u128) -> impl Rule<'t, &'t Token> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.peek_ref() {
            Some(token) if kinds & bit(token.kind) != 0 => {
                input.skip();
                Ok(token)
            }
            _ => Err(ParseFailure { at, expected: say, specific: None }),
        }
    })
}

/// Returns the rule of a token.
pub(crate) fn token<'t>(kind: TokenKind) -> impl Rule<'t, &'t Token> + Copy {
    one_among(bit(kind), bit(kind))
}

/// Returns the rule of one of several tokens.
pub(crate) fn any_of<'t>(kinds: &[TokenKind]) -> impl Rule<'t, &'t Token> + Copy + use<'t> {
    let bits = kinds.iter().fold(0, |bits, &kind| bits | bit(kind));
    one_among(bits, bits)
}

/// Returns the rule of one of several tokens, which messages do not list as expected.
pub(crate) fn unreported<'t>(kinds: &[TokenKind]) -> impl Rule<'t, &'t Token> + Copy + use<'t> {
    one_among(kinds.iter().fold(0, |bits, &kind| bits | bit(kind)), 0)
}

/// Returns the rule of a bracket that touches the token before it.
pub(crate) fn adjacent_bracket<'t>(bracket: TokenKind) -> impl Rule<'t, &'t Token> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.peek_ref() {
            Some(token) if token.kind == bracket && token.glued => {
                input.skip();
                Ok(token)
            }
            _ => Err(ParseFailure { at, expected: 0, specific: None }),
        }
    })
}

/// Returns the rule of a place where an expression that is a statement by itself ends: nothing
/// after it continues the expression, nor ends the block whose value it is.
pub(crate) fn statement_ends<'t>() -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.peek_ref() {
            Some(next) if next.kind == TokenKind::RBrace || next.kind.continues_operand() => {
                Err(ParseFailure { at, expected: 0, specific: None })
            }
            _ => Ok(()),
        }
    })
}

/// Returns the rule of `{` before a list of names; `{x:int}` is the record of another language.
pub(crate) fn places_opening<'t>() -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let before = input.save();
        let at = *input.cursor().inner();
        let kinds = [(); 3].map(|()| input.next_ref().map(|token| token.kind));
        input.rewind(before);
        match kinds {
            [Some(TokenKind::LBrace), Some(TokenKind::Name), Some(TokenKind::Comma | TokenKind::RBrace)] => {
                input.skip();
                Ok(())
            }
            _ => Err(ParseFailure { at, expected: 0, specific: None }),
        }
    })
}

/// Returns the rule of the `(` of a list with a comma between its parts, by lookahead to the `)`.
pub(crate) fn list_opening<'t>() -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        use TokenKind::*;
        let before = input.save();
        let at = *input.cursor().inner();
        let mut kinds: Vec<TokenKind> = Vec::new();
        let mut depth = 0u32;
        let mut list = false;
        while let Some(token) = input.next_ref() {
            match token.kind {
                LParen | LBracket | LBrace | Typematch => depth += 1,
                RParen | RBracket | RBrace | Endmatch => depth = depth.saturating_sub(1),
                Comma if depth == 1 => list = true,
                _ => {}
            }
            if kinds.len() < 3 {
                kinds.push(token.kind);
            }
            if depth == 0 || list {
                break;
            }
        }
        input.rewind(before);
        // `(a:A, b:B)` is a record.
        if list && kinds.first() == Some(&LParen) && kinds[1..] != [Name, Colon] {
            input.skip();
            return Ok(());
        }
        Err(ParseFailure { at, expected: 0, specific: None })
    })
}

/// Returns the rule of `assert` before a condition, which extends to the end of the statement.
pub(crate) fn assert_word<'t>(cx: Text<'t>) -> impl Rule<'t, &'t Token> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        let before = input.save();
        if let Some(word) = input.next_ref()
            && word.kind == TokenKind::Name
            && cx.of(word) == "assert"
            && input.peek_ref().is_some_and(|next| {
                !next.offside
                    && (next.kind.begins_operand() || matches!(next.kind, TokenKind::Not | TokenKind::Bang))
            })
        {
            return Ok(word);
        }
        input.rewind(before);
        Err(ParseFailure { at, expected: 0, specific: None })
    })
}

/// Returns the rule of `let` before a pattern and its `=`; any other `let` is a name.
pub(crate) fn let_word<'t>(cx: Text<'t>) -> impl Rule<'t, &'t Token> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        use TokenKind::*;
        let at = *input.cursor().inner();
        let before = input.save();
        if let Some(word) = input.next_ref()
            && word.kind == Name
            && cx.of(word) == "let"
            && input.peek_ref().is_some_and(|next| matches!(next.kind, Name | LParen | Underscore))
        {
            let after = input.save();
            let mut depth = 0u32;
            while let Some(token) = input.next_ref() {
                match token.kind {
                    LParen | LBracket => depth += 1,
                    RParen | RBracket if depth > 0 => depth -= 1,
                    Assign if depth == 0 => {
                        input.rewind(after);
                        return Ok(word);
                    }
                    Name | Qualified | Underscore | Colon | CComma | As | Int | Caret | CStar | Star
                    | Plus => {}
                    _ if depth == 0 => break,
                    Semi | LBrace | RBrace => break,
                    _ => {}
                }
            }
        }
        input.rewind(before);
        Err(ParseFailure { at, expected: 0, specific: None })
    })
}

/// Returns the rule of `..` or `..<` before an index, not before the type of `..[T]`.
pub(crate) fn up_to<'t>() -> impl Rule<'t, &'t Token> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        let before = input.save();
        let fail = Err(ParseFailure { at, expected: 0, specific: None });
        match (input.next_ref(), input.peek_ref()) {
            (Some(sign), _) if sign.kind == TokenKind::DotDotLess => Ok(sign),
            (Some(sign), Some(next))
                if sign.kind == TokenKind::DotDot && next.kind != TokenKind::LBracket =>
            {
                Ok(sign)
            }
            _ => {
                input.rewind(before);
                fail
            }
        }
    })
}

/// Returns a lookahead: succeeds if `, p in …` of a loop follows (`wanted`), or a part of a tuple.
pub(crate) fn another_clause<'t>(wanted: bool) -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        use TokenKind::*;
        let before = input.save();
        let at = *input.cursor().inner();
        let mut depth = 0u32;
        let mut clause = false;
        let comma = input.next_ref().is_some_and(|token| token.kind == Comma);
        while comma && let Some(token) = input.next_ref() {
            match token.kind {
                LParen | LBracket | LBrace => depth += 1,
                RParen | RBracket | RBrace if depth == 0 => break,
                RParen | RBracket | RBrace => depth -= 1,
                In if depth == 0 => {
                    clause = true;
                    break;
                }
                // No pattern goes on so.
                Comma | Do | Perform | Semi | If | Match | Fun | Proc if depth == 0 => break,
                _ => {}
            }
        }
        input.rewind(before);
        match comma && clause == wanted {
            true => Ok(()),
            false => Err(ParseFailure { at, expected: 0, specific: None }),
        }
    })
}

/// The contents of parentheses, determined by lookahead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParenthesesContent {
    /// `...r` among fields.
    Spread,
    /// Values, and then at least one with a name.
    Arguments,
    /// Names with values, between `\,`.
    CompactFields,
}

/// Returns a lookahead: succeeds where the enclosing parentheses have this content.
pub(crate) fn content_ahead<'t>(wanted: ParenthesesContent) -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        use TokenKind::*;
        let before = input.save();
        let at = *input.cursor().inner();
        // Statements stand in braces: what is open among them ends with the brace.
        let mut open: Vec<TokenKind> = Vec::new();
        let (mut spread, mut named, mut unnamed) = (false, false, false);
        // Whether the first two parts between `\,` are named.
        let (mut before_compact, mut compact): (Option<Vec<TokenKind>>, bool) = (None, false);
        // What the present part begins with.
        let mut head: Vec<TokenKind> = Vec::new();
        while let Some(token) = input.next_ref() {
            let opener = match token.kind {
                RParen => Some(LParen),
                RBracket => Some(LBracket),
                RBrace => Some(LBrace),
                _ => None,
            };
            match token.kind {
                RParen | RBracket | RBrace | Endif | Endmatch | Done | Semi if open.is_empty() => break,
                LParen | LBracket | LBrace | If | Match | Typematch => open.push(token.kind),
                RParen | RBracket | RBrace => while open.pop().is_some_and(|top| Some(top) != opener) {},
                Endif | Endmatch if matches!(open.last(), Some(If | Match | Typematch)) => {
                    open.pop();
                }
                Comma if open.is_empty() => {
                    unnamed |= head != [Name, Assign];
                    head.clear();
                    continue;
                }
                _ => {}
            }
            if token.kind == CComma && open.is_empty() && before_compact.is_none() && !unnamed {
                before_compact = Some(Vec::new());
                compact = head == [Name, Assign];
                continue;
            }
            if let Some(after) = before_compact.as_mut().filter(|after| after.len() < 2) {
                after.push(token.kind);
            }
            if head.len() < 2 {
                head.push(token.kind);
                spread |= head == [DotDot, Dot];
                named |= head == [Name, Assign];
            }
        }
        unnamed |= head != [Name, Assign];
        input.rewind(before);
        let found = match wanted {
            ParenthesesContent::Spread => spread,
            ParenthesesContent::CompactFields => {
                compact && before_compact.is_some_and(|after| after == [Name, Assign])
            }
            ParenthesesContent::Arguments => named && unnamed && !spread,
        };
        if found { Ok(()) } else { Err(ParseFailure { at, expected: 0, specific: None }) }
    })
}

/// Returns the rule of `with (` of an update, as opposed to the first arm of a `match`.
pub(crate) fn update_opening<'t>(cx: Text<'t>) -> impl Rule<'t, ()> {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        use TokenKind::*;
        let before = input.save();
        let at = *input.cursor().inner();
        let mut kinds: Vec<TokenKind> = Vec::new();
        let mut depth = 0u32;
        let mut after = None;
        while let Some(token) = input.next_ref() {
            if kinds.len() == 4 && depth == 0 {
                // The `if` of a comprehension is no `when`.
                after = Some(token.kind).filter(|kind| *kind != When || cx.of(token) == "when");
                break;
            }
            match token.kind {
                LParen | LBracket | LBrace => depth += 1,
                RParen | RBracket | RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            if kinds.len() < 4 {
                kinds.push(token.kind);
                let expected = [With, LParen, Name, Assign][kinds.len() - 1];
                if token.kind != expected {
                    break;
                }
            }
        }
        input.rewind(before);
        // `match r with (a = p) => …` has a pattern here.
        if kinds == [With, LParen, Name, Assign] && !matches!(after, Some(FatArrow | When | As)) {
            input.skip();
            input.skip();
            return Ok(());
        }
        Err(ParseFailure { at, expected: 0, specific: None })
    })
}

/// Returns a lookahead: fails before an offside token, see [`Token::offside`].
pub(crate) fn same_statement<'t>() -> impl Rule<'t, ()> + Copy {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.peek_ref() {
            Some(token) if token.offside => Err(ParseFailure { at, expected: 0, specific: None }),
            _ => Ok(()),
        }
    })
}

/// Returns the rule of a name followed by one of `kinds`, both consumed.
pub(crate) fn name_then<'t>(kinds: &[TokenKind]) -> impl Rule<'t, (&'t Token, &'t Token)> + Copy + use<'t> {
    let bits = kinds.iter().fold(0, |bits, &kind| bits | bit(kind));
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.next_ref() {
            Some(name) if name.kind == TokenKind::Name => match input.next_ref() {
                Some(second) if bits & bit(second.kind) != 0 => Ok((name, second)),
                _ => Err(ParseFailure { at, expected: 0, specific: None }),
            },
            _ => Err(ParseFailure { at, expected: 0, specific: None }),
        }
    })
}

/// Returns the rule of a name.
pub(crate) fn name<'t>(cx: Text<'t>) -> impl Rule<'t, Name> {
    token(TokenKind::Name).map(move |token| cx.name(token))
}

/// Returns the rule of a name, possibly qualified: `geometry::area`.
pub(crate) fn path<'t>(cx: Text<'t>) -> impl Rule<'t, Name> {
    one_among(bit(TokenKind::Name) | bit(TokenKind::Qualified), bit(TokenKind::Name))
        .map(move |token| cx.name(token))
}

/// Returns the rule of a contextual keyword.
pub(crate) fn word<'t>(cx: Text<'t>, word: &'static str) -> impl Rule<'t, &'t Token> {
    custom::<_, Input<'t>, _, Extra>(move |input| {
        let at = *input.cursor().inner();
        match input.peek_ref() {
            Some(token) if token.kind == TokenKind::Name && cx.of(token) == word => {
                input.skip();
                Ok(token)
            }
            _ => Err(ParseFailure { at, expected: 0, specific: None }),
        }
    })
}

/// A node of the tree: a form with its span.
pub(crate) trait Node: Clone {
    type Form;
    /// Returns a node of a form at a span.
    fn at(form: Self::Form, span: Span) -> Self;
    /// Returns the span.
    fn span(&self) -> Span;
}

macro_rules! node {
    ($node:ident, $form:ident) => {
        impl Node for $node {
            type Form = $form;
            fn at(kind: $form, span: Span) -> $node {
                $node { kind, span }
            }
            fn span(&self) -> Span {
                self.span
            }
        }
    };
}
node!(Expr, ExprKind);
node!(TypeExpr, TypeExprKind);
node!(Pattern, PatternKind);

/// Returns the rule `item op item op …`, one flat node.
pub(crate) fn separated_by<'t, N: Node + 't>(
    item: impl Rule<'t, N>,
    op: TokenKind,
    make: impl Fn(Vec<N>) -> N::Form + Clone + 't,
) -> impl Rule<'t, N> {
    item.clone().then(token(op).ignore_then(item).repeated().collect::<Vec<_>>()).map(
        move |(first, mut rest)| {
            let Some(last) = rest.last() else {
                return first;
            };
            let span = first.span().to(last.span());
            rest.insert(0, first);
            N::at(make(rest), span)
        },
    )
}

/// Returns an expression at a span.
pub(crate) fn expr_at(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}
