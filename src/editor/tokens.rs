//! Classes of tokens, by lexing alone: for colors in an editor or at a prompt.
//!
//! Takes any text, also a broken one; gives its words, literals, comments and brackets with their
//! ranges, in order. Resolves no names.

use crate::session::BUILT_IN_TYPE_NAMES;
use felis_base::source::SourceMap;
use felis_calculus::types::Scalar;
use felis_syntax::syntax::lexer::{self, Token, TokenKind, comment_length};
use std::ops::Range;

/// The class of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    /// A word of the language.
    Keyword,
    /// A number, `true` or `false`.
    Number,
    /// A string or a character.
    Text,
    /// A comment.
    Comment,
    /// A name that begins with an upper-case letter, or the name of a built-in type.
    TypeName,
    /// Any other name.
    Name,
    /// `(`, `[`, `{`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// An operator, a comma, a semicolon.
    Operator,
    /// A character that begins no token.
    Unreadable,
}

/// Returns the tokens of a text, in order, without overlap and without blanks.
pub fn tokens(text: &str) -> Vec<(Range<usize>, TokenClass)> {
    let lexed = lexer::lex(&SourceMap::new().add("", text));
    let mut out = Vec::with_capacity(lexed.tokens.len());
    let mut end = 0;
    for token in &lexed.tokens {
        let range = token.start as usize..token.end as usize;
        push_gap(text, end..range.start, &mut out);
        end = range.end;
        let class = token_class(token, &text[range.clone()]);
        out.push((range, class));
    }
    push_gap(text, end..text.len(), &mut out);
    out
}

/// The rest of `if` without a value, and of `then` without the other one; `_` stands for a value.
const AFTER_IF: &str = "then _ else _ endif";
const AFTER_THEN: &str = "else _ endif";

/// The brackets and blocks of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// The ranges of closed blocks, in the order in which they are closed.
    pub closed: Vec<Range<usize>>,
    /// The texts that would close the open blocks, the innermost last.
    pub open: Vec<&'static str>,
}

/// Returns the brackets and blocks of a text, which may be incomplete, as far as lexing finds them.
pub fn blocks(text: &str) -> Blocks {
    /// An open block: the byte at which it begins, its word, and the token that closes it.
    type Open<'t> = (usize, &'t str, &'static str);
    let mut closed = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    for (range, class) in tokens(text) {
        let word = &text[range.clone()];
        let closer = match (class, word) {
            (TokenClass::Open, "(") => ")",
            (TokenClass::Open, "[") => "]",
            (TokenClass::Open, _) => "}",
            (TokenClass::Keyword, "if") => AFTER_IF,
            (TokenClass::Keyword, "match" | "typematch") => "endmatch",
            (TokenClass::Keyword, "do") => match open.last_mut() {
                // `if c do … done` and `match e do … done` also end with `done`.
                Some((_, "if" | "match", closer)) if *closer != "done" => {
                    *closer = "done";
                    continue;
                }
                _ => "done",
            },
            (TokenClass::Keyword, "elif" | "then" | "else") => {
                if let Some((_, "if", closer)) = open.last_mut() {
                    *closer = match word {
                        "elif" if *closer == "done" => "do done",
                        "elif" => AFTER_IF,
                        "then" => AFTER_THEN,
                        _ if *closer == "done" => continue,
                        _ => "endif",
                    };
                }
                continue;
            }
            (TokenClass::Keyword, "perform") => {
                open.pop_if(|(_, word, closer)| *word == "if" && *closer != "done");
                continue;
            }
            (TokenClass::Close, _) | (TokenClass::Keyword, "endif" | "endmatch" | "done") => {
                closed.extend(open.pop().map(|(start, ..)| start..range.end));
                continue;
            }
            // The word begins a definition and cannot stand in an expression: brackets open before
            // it were not closed.
            (TokenClass::Keyword, "val" | "var" | "struct" | "variant" | "enum" | "class" | "instance") => {
                while open.pop_if(|(_, _, closer)| matches!(*closer, ")" | "]")).is_some() {}
                continue;
            }
            _ => continue,
        };
        open.push((range.start, word, closer));
    }
    Blocks { closed, open: open.into_iter().map(|(_, _, closer)| closer).collect() }
}

/// Returns the partner of the bracket at a byte of the text, if both exist.
pub fn matching_bracket(text: &str, at: usize) -> Option<usize> {
    let brackets = tokens(text).into_iter().filter_map(|(range, class)| match class {
        TokenClass::Open | TokenClass::Close => Some((range.start, class)),
        _ => None,
    });
    let mut open = Vec::new();
    for (place, class) in brackets {
        if class == TokenClass::Open {
            open.push(place);
            continue;
        }
        let first = open.pop()?;
        let fits = matches!(
            (text.as_bytes()[first], text.as_bytes()[place]),
            (b'(', b')') | (b'[', b']') | (b'{', b'}')
        );
        if first == at || place == at {
            return fits.then_some(if first == at { place } else { first });
        }
        if !fits {
            return None;
        }
    }
    None
}

/// Returns the class of a token.
fn token_class(token: &Token, text: &str) -> TokenClass {
    match token.kind {
        TokenKind::True | TokenKind::False | TokenKind::Int | TokenKind::Real | TokenKind::Suffixed => {
            TokenClass::Number
        }
        TokenKind::Char
        | TokenKind::Str
        | TokenKind::BadStr
        | TokenKind::InterpolatedStr
        | TokenKind::InterpolatedOpen
        | TokenKind::InterpolatedMiddle
        | TokenKind::InterpolatedClose => TokenClass::Text,
        TokenKind::BadNumber => TokenClass::Unreadable,
        TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => TokenClass::Open,
        TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => TokenClass::Close,
        TokenKind::Name | TokenKind::Qualified => {
            let last = text.rsplit("::").next().unwrap_or(text);
            let built_in = || Scalar::from_name(last).is_some() || BUILT_IN_TYPE_NAMES.contains(&last);
            match last.starts_with(char::is_uppercase) || built_in() {
                true => TokenClass::TypeName,
                false => TokenClass::Name,
            }
        }
        kind if kind.is_keyword() => TokenClass::Keyword,
        _ => TokenClass::Operator,
    }
}

/// Adds comments and characters that the lexer has skipped.
fn push_gap(text: &str, range: Range<usize>, out: &mut Vec<(Range<usize>, TokenClass)>) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let (length, class) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), TokenClass::Comment)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            (comment_length(comment).map_or(rest.len(), |length| length + 2), TokenClass::Comment)
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            if c.is_whitespace() || c == '\u{FEFF}' {
                at += c.len_utf8();
                continue;
            }
            (c.len_utf8(), TokenClass::Unreadable)
        };
        out.push((at..at + length, class));
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTER_IF, AFTER_THEN, TokenClass, blocks, matching_bracket, tokens};

    fn classes(text: &str) -> Vec<(&str, TokenClass)> {
        tokens(text).into_iter().map(|(range, class)| (&text[range], class)).collect()
    }

    #[test]
    fn parts_are_told_apart() {
        use TokenClass::*;
        assert_eq!(
            classes("val N = f (\"a b\", 'c') + 0x1f // end"),
            [
                ("val", Keyword),
                ("N", TypeName),
                ("=", Operator),
                ("f", Name),
                ("(", Open),
                ("\"a b\"", Text),
                (",", Operator),
                ("'c'", Text),
                (")", Close),
                ("+", Operator),
                ("0x1f", Number),
                ("// end", Comment),
            ]
        );
        assert_eq!(classes("true : int"), [("true", Number), (":", Operator), ("int", TypeName)]);
        assert_eq!(classes("/* a /* b */ c */x"), [("/* a /* b */ c */", Comment), ("x", Name)]);
        assert_eq!(classes("/* open"), [("/* open", Comment)]);
        assert_eq!(classes("1 § 2"), [("1", Number), ("§", Unreadable), ("2", Number)]);
    }

    #[test]
    fn parts_cover_all_but_blanks_and_do_not_overlap() {
        for text in ["\"open", "'", "é\u{FEFF}(", "``1:2", "*/ x", "a::b::", "1.2.3", "/*/", "\\", "\\*\\"] {
            let mut end = 0;
            for (range, _) in tokens(text) {
                assert!(range.start >= end && range.end > range.start, "{text:?}");
                assert!(text[end..range.start].trim_matches('\u{FEFF}').trim().is_empty(), "{text:?}");
                end = range.end;
            }
            assert!(text[end..].trim().is_empty(), "{text:?}");
        }
    }

    #[test]
    fn blocks_are_told() {
        for (text, closed, open) in [
            ("f (a, [1", vec![], vec![")", "]"]),
            ("{ (1) ", vec!["(1)"], vec!["}"]),
            ("if a", vec![], vec![AFTER_IF]),
            ("if a then b", vec![], vec![AFTER_THEN]),
            ("if a then b elif c", vec![], vec![AFTER_IF]),
            ("if a then b else c", vec![], vec!["endif"]),
            ("if a then b endif", vec!["if a then b endif"], vec![]),
            ("if a do b; done", vec!["if a do b; done"], vec![]),
            ("if a do b; elif c do d; done e", vec!["if a do b; elif c do d; done"], vec![]),
            ("if a do b; elif c", vec![], vec!["do done"]),
            ("if a do b; elif c do", vec![], vec!["done"]),
            ("if a do b; else c", vec![], vec!["done"]),
            ("if a perform b; while c do", vec![], vec!["done"]),
            ("match a do match b with", vec![], vec!["done", "endmatch"]),
            ("val a = f (b; val c = [", vec![], vec!["]"]),
            (") done", vec![], vec![]),
        ] {
            let found = blocks(text);
            let words: Vec<&str> = found.closed.into_iter().map(|range| &text[range]).collect();
            assert_eq!((words, found.open), (closed, open), "{text}");
        }
    }

    #[test]
    fn brackets_find_each_other() {
        let text = "f (a, [1, \")\"])";
        assert_eq!(matching_bracket(text, 2), Some(text.len() - 1));
        assert_eq!(matching_bracket(text, text.len() - 1), Some(2));
        assert_eq!(matching_bracket(text, 6), Some(text.len() - 2));
        assert_eq!(matching_bracket("(]", 0), None);
        assert_eq!(matching_bracket("(", 0), None);
        assert_eq!(matching_bracket(")", 0), None);
    }
}
