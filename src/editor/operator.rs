//! Hovers of operators: the types of the operands, and the declared function of the operator's
//! name.
//!
//! Takes a position in a text; finds the operator by lexing, and its operands among the expressions
//! with annotated types. Checks nothing.

use super::describe::{Hover, type_facts};
use super::index::Index;
use felis_base::source::Span;
use felis_calculus::types::{Type, TypeKind};
use felis_syntax::syntax::lexer::{TokenKind, lex};

impl Index {
    /// Returns the hover of the operator at a byte of the text.
    pub(super) fn operator_at(&self, at: usize) -> Option<Hover> {
        let source = self.sources.get(self.root)?;
        let tokens = lex(source).tokens;
        let token = tokens.iter().find(|token| {
            let (start, end) = (token.start as usize, token.end as usize);
            start <= at && at <= end && operator_doc(token.kind).is_some()
        })?;
        let text = &source.text;
        let span = Span::new(self.root, token.start as usize, token.end as usize);
        let prefix = self.smallest(|of| of.start == token.start && of.end > token.end);
        let infix = self.smallest(|of| of.start < token.start && of.end > token.end);
        let (whole, result, operands) = match (prefix, infix) {
            (Some((whole, result)), _) => (whole, result, vec![("a", self.right_of(text, span, whole)?)]),
            (None, Some((whole, result))) => {
                let operands = (self.left_of(text, span, whole)?, self.right_of(text, span, whole)?);
                (whole, result, vec![("a", operands.0), ("b", operands.1)])
            }
            (None, None) => return None,
        };
        if result.is_error() || operands.iter().any(|(_, ty)| ty.is_error()) {
            return None;
        }
        let symbol = text.get(span.range())?;
        let params: Vec<String> = operands.iter().map(|(name, ty)| format!("{name}:{ty}")).collect();
        let code = format!("fun {symbol} ({}):{result}", params.join(", "));
        let mut told = if result.is_bool() { Vec::new() } else { type_facts(result) };
        let array = |ty: &Type| matches!(ty.kind(), TypeKind::Array(..));
        if !result.is_bool() && operands.iter().any(|(_, ty)| array(ty)) {
            told.push("element by element".into());
        }
        let Some(declared) = self.operators.get(&whole).copied() else {
            return Some(Hover { span, code, facts: told, doc: operator_doc(token.kind).map(Into::into) });
        };
        let declaration = self.declaration(declared);
        let code = declaration
            .map_or(code.clone(), |declaration| format!("{code}\n{}", self.declaration_text(declaration)));
        told.extend(self.origin_fact(declared));
        Some(Hover {
            span,
            code,
            facts: told,
            doc: declaration.and_then(|declaration| declaration.doc.clone()),
        })
    }

    /// Returns the type of the operand that ends before an operator, in this expression.
    /// Parentheses may stand between.
    fn left_of(&self, text: &str, operator: Span, whole: Span) -> Option<&Type> {
        let mut before = text.get(..operator.start as usize)?.trim_end();
        loop {
            let end = before.len();
            let found = self.widest(|of| of.end as usize == end && of.start >= whole.start);
            if found.is_some() {
                return found;
            }
            before = before.strip_suffix(')')?.trim_end();
        }
    }

    /// Returns the type of the operand that begins after an operator, in this expression.
    /// Parentheses may stand between.
    fn right_of(&self, text: &str, operator: Span, whole: Span) -> Option<&Type> {
        let mut after = text.get(operator.end as usize..)?.trim_start();
        loop {
            let start = text.len() - after.len();
            let found = self.widest(|of| of.start as usize == start && of.end <= whole.end);
            if found.is_some() {
                return found;
            }
            after = after.strip_prefix('(')?.trim_start();
        }
    }

    /// Returns the expressions of the text, with their types.
    fn expressions(&self) -> impl Iterator<Item = &(Span, Type)> {
        self.types.iter().filter(|(span, _)| span.source == self.root && !self.written.contains(span))
    }

    /// Returns the shortest expression of the text that satisfies `fits`, with its type.
    fn smallest(&self, fits: impl Fn(&Span) -> bool) -> Option<(Span, &Type)> {
        let own = self.expressions().filter(|(span, _)| fits(span));
        own.min_by_key(|(span, _)| span.end - span.start).map(|(span, ty)| (*span, ty))
    }

    /// Returns the type of the longest expression of the text that satisfies `fits`.
    fn widest(&self, fits: impl Fn(&Span) -> bool) -> Option<&Type> {
        let own = self.expressions().filter(|(span, _)| fits(span));
        own.max_by_key(|(span, _)| span.end - span.start).map(|(_, ty)| ty)
    }
}

/// Returns the documentation of a built-in operator; `None` for any other token.
fn operator_doc(kind: TokenKind) -> Option<&'static str> {
    use TokenKind::*;
    Some(match kind {
        Plus => "Adds; of `cyclic[N]` modulo the size of N. Of two strings, one after the other.",
        Minus => "Subtracts, or negates; of `cyclic[N]` modulo the size of N.",
        Star => "Multiplies; of `cyclic[N]` modulo the size of N.",
        Slash => "Divides; of integers the quotient, rounded toward zero.",
        Percent => "What is left of a division, with the sign of the left operand.",
        Pow => "A power; of integers to an integer that is not negative.",
        EqEq => "Whether two values are equal, in all their parts.",
        NotEq => "Whether two values differ, in any of their parts.",
        Less | LessEq | Greater | GreaterEq => "Compares; of compact values the codes.",
        And => "Whether both hold. The second is looked at only if the first holds.",
        Or => "Whether one of them holds. The second is looked at only if the first does not hold.",
        Not | Bang => "Whether it does not hold.",
        _ => return None,
    })
}
