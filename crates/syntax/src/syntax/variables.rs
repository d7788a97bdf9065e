//! Names that only stand for variables of a text, found by lexing alone.
//!
//! A name is *bound* if each of its occurrences is the name in a declaration by `var` or `val`, or
//! lies in the scope of one: behind the end of the statement, and before the end of the innermost
//! brackets or block around it. Anything else is taken for a mention of something else: a name
//! behind a `.`, one in its own initial value, a parameter, a part of a pattern. So a name that is
//! bound has no meaning from outside the text; one that is not may have one.

use super::token::TokenKind;
use crate::hash::HashMap;
use crate::source::Source;
use std::collections::BTreeSet;

/// Returns the bound names of a text with these tokens.
pub(super) fn bound_names<'s>(source: &'s Source, tokens: &[super::lexer::Token]) -> BTreeSet<&'s str> {
    use TokenKind as T;
    let (mut declared, mut free): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    // Declarations in scope with their depths, which do not fall, and those whose statements have
    // not ended; how many of a name are in scope.
    let mut in_scope: Vec<(&str, u32)> = Vec::new();
    let mut begun: Vec<(&str, u32)> = Vec::new();
    let mut counts: HashMap<&str, u32> = HashMap::default();
    let (mut depth, mut before) = (0u32, None);
    for token in tokens {
        // Declarations from this depth on end here.
        let mut ended = None;
        match token.kind {
            T::LParen | T::LBracket | T::LBrace | T::Do => depth += 1,
            T::RParen | T::RBracket | T::RBrace | T::Done => {
                depth = depth.saturating_sub(1);
                ended = Some(depth + 1);
            }
            // Another branch or arm; at the top, another case of a variant.
            T::Else | T::Elif | T::Bar if depth > 0 => ended = Some(depth),
            T::Semi => {
                while let Some((name, at)) = begun.pop_if(|(_, at)| *at == depth) {
                    in_scope.push((name, at));
                    *counts.entry(name).or_default() += 1;
                }
            }
            T::Name | T::Qualified => {
                let text = &source.text[token.start as usize..token.end as usize];
                let is_declared = token.kind == T::Name && matches!(before, Some(T::Var | T::Val));
                if is_declared {
                    declared.insert(text);
                    begun.push((text, depth));
                } else if before == Some(T::Dot) || counts.get(text).is_none_or(|count| *count == 0) {
                    free.extend(text.split("::"));
                }
            }
            _ => {}
        }
        if let Some(ended) = ended {
            while begun.pop_if(|(_, at)| *at >= ended).is_some() {}
            while let Some((name, _)) = in_scope.pop_if(|(_, at)| *at >= ended) {
                counts.entry(name).and_modify(|count| *count -= 1);
            }
        }
        before = Some(token.kind);
    }
    declared.retain(|name| !free.contains(name));
    declared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    fn bound(text: &str) -> Vec<String> {
        let source = SourceMap::new().add("", text);
        let lexed = super::super::lexer::lex(&source);
        bound_names(&source, &lexed.tokens).into_iter().map(str::to_string).collect()
    }

    #[test]
    fn variables_whose_uses_are_in_their_scope_are_bound() {
        for text in [
            "var a = 0; a += 1; println a;",
            "fun f(n:int):int { val a = n; if n > 0 do return a + 1; done return a; } println (f 1);",
            "for i in 0..<3 do var a : int = i; println a; done",
            "fun f(n:int):int { var a = n; return a; } fun g(n:int):int { var a = n; return a; }",
        ] {
            assert_eq!(bound(text), ["a"], "{text}");
        }
    }

    #[test]
    fn names_with_another_use_are_not_bound() {
        for text in [
            "println (a 1); var a = 0;",
            "val a = a (1, 2);",
            "val a = fun (x:int) => a x;",
            "fun f(n:int):int { val a = n; return a; } println (a 1);",
            "if c do var a = 1; else println (a 1); done",
            "match c do | 0 => var a = 1; | _ => println (a 1); done",
            "val a = 1; println (3.a);",
            "val a = 1; println (m::a 1);",
            "fun f(a:int):int => a;",
            "val (a, b) = (1, 2);",
        ] {
            assert_eq!(bound(text), Vec::<String>::new(), "{text}");
        }
    }
}
