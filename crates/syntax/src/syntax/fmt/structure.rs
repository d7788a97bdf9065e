//! Structure: what the syntax tree says of tokens.
//!
//! Takes the tree of a text with its tokens; gives the numbers of those tokens whose role the
//! tokens around them do not tell. One walk over the tree. Rounds of layout keep every token, so
//! the numbers of the first round hold in all.

use super::super::ast::{ClassMember, Expr, ExprKind, Stmt, StmtKind, TypeExpr, TypeExprKind};
use super::super::lexer::{Token, TokenKind};
use super::super::visit::Node;
use crate::hash::{HashMap, HashSet};

/// Bytes of a result type that is kept on one line, at most.
const MAX_RESULT_TYPE_BYTES: u32 = 70;

/// The roles of tokens. Numbers are those of tokens.
#[derive(Debug, Default)]
pub(super) struct Structure {
    /// For the `fun` or `proc` of a lambda, the token after its body.
    pub lambda_ends: HashMap<usize, usize>,
    /// The `{` of sets of places.
    pub sets: HashSet<usize>,
    /// The `with` of updates.
    pub updates: HashSet<usize>,
    /// The `:` before the type of a variable, a field or a method, with blanks around it.
    pub colons: HashSet<usize>,
    /// The tokens of result types that fit on one line.
    pub result_types: HashSet<usize>,
}

impl Structure {
    /// Returns the roles of the tokens of a text that was parsed without an error.
    pub fn of(stmts: &[Stmt], tokens: &[Token]) -> Structure {
        let mut walk = Walk { tokens, found: Structure::default() };
        stmts.iter().for_each(|stmt| walk.node(Node::Stmt(stmt)));
        walk.found
    }
}

/// A walk over a tree.
struct Walk<'t> {
    tokens: &'t [Token],
    found: Structure,
}

impl Walk<'_> {
    /// Returns the number of the token that begins at a byte; `None` inside an interpolated string,
    /// which is one token.
    fn beginning_at(&self, byte: u32) -> Option<usize> {
        self.tokens.binary_search_by_key(&byte, |token| token.start).ok()
    }

    /// Returns the number of the token after the one that ends at a byte.
    fn after(&self, byte: u32) -> Option<usize> {
        self.tokens.binary_search_by_key(&byte, |token| token.end).ok().map(|at| at + 1)
    }

    /// Returns the kind of a token.
    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// Returns the `:` before a type, and the token after the type: parentheses around it belong to
    /// it.
    fn colon(&self, ty: &TypeExpr) -> Option<(usize, usize)> {
        let (mut first, mut end) = (self.beginning_at(ty.span.start)?, self.after(ty.span.end)?);
        while self.kind(first.checked_sub(1)?) == Some(TokenKind::LParen) {
            (first, end) = (first - 1, end + 1);
        }
        let colon = first - 1;
        (self.kind(colon) == Some(TokenKind::Colon)).then_some((colon, end))
    }

    /// Records the `:` before a type.
    fn note_colon(&mut self, ty: &TypeExpr) {
        let colon = self.colon(ty);
        self.found.colons.extend(colon.map(|(colon, _)| colon));
    }

    /// Records the tokens of a result type, if they fit on one line.
    fn note_result_type(&mut self, ty: &TypeExpr) {
        let Some((colon, end)) = self.colon(ty) else { return };
        if self.tokens[end - 1].end - self.tokens[colon + 1].start <= MAX_RESULT_TYPE_BYTES {
            self.found.result_types.extend(colon + 1..end);
        }
    }

    /// Records what a statement says of its own tokens.
    fn note_statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { ty: Some(ty), .. } => {
                // `let p : T = e in e` holds such a statement, too.
                let word = self.beginning_at(stmt.span.start).and_then(|at| self.kind(at));
                if matches!(word, Some(TokenKind::Val | TokenKind::Var | TokenKind::Export)) {
                    self.note_colon(ty);
                }
            }
            // Fields in parentheses, `struct point(x:int, y:int);`, are written like parameters.
            StmtKind::Struct(_, fields) => {
                for (name, ty) in fields {
                    let before = self.beginning_at(name.span.start).and_then(|at| self.kind(at - 1));
                    if matches!(before, Some(TokenKind::LBrace | TokenKind::Semi)) {
                        self.note_colon(ty);
                    }
                }
            }
            StmtKind::Class(_, members) => {
                for member in members {
                    if let ClassMember::Signature { ty, .. } = member {
                        self.note_colon(ty);
                    }
                }
            }
            StmtKind::Function { function, .. } if !function.params.is_empty() => {
                function.result.iter().for_each(|ty| self.note_result_type(ty));
            }
            _ => {}
        }
    }

    /// Records what an expression says of its own tokens.
    fn note_expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lambda(_) => {
                let (first, end) = (self.beginning_at(expr.span.start), self.after(expr.span.end));
                if let (Some(first), Some(end)) = (first, end) {
                    // Parentheses around an expression belong to it.
                    let is_opening = |token: &&Token| token.kind == TokenKind::LParen;
                    let depth = self.tokens[first..end].iter().take_while(is_opening).count();
                    self.found.lambda_ends.insert(first + depth, end - depth);
                }
            }
            // `with ( name = …`.
            ExprKind::Update(_, fields) => {
                let name = fields.first().and_then(|(name, _)| self.beginning_at(name.span.start));
                self.found.updates.extend(name.and_then(|at| at.checked_sub(2)));
            }
            _ => {}
        }
    }

    /// Records what a node and all below it say.
    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Stmt(stmt) => self.note_statement(stmt),
            Node::Expr(expr) => self.note_expression(expr),
            Node::Type(TypeExpr { kind: TypeExprKind::Places(_), span }) => {
                let opening = self.beginning_at(span.start);
                self.found.sets.extend(opening);
            }
            Node::Type(_) | Node::Pattern(_) => {}
        }
        node.for_each_child(&mut |child| self.node(child));
    }
}
