//! Nested tokens: brackets, blocks and statements, as far as layout needs them.
//!
//! Takes the tokens of a text that was parsed without an error, with the roles that its tree gives
//! them; gives statements as sequences of [`Node`]s. Knows the opening and closing words only;
//! [`super::document`] distinguishes the operators.

use super::super::lexer::{Token, TokenKind};
use super::structure::Structure;

/// A part of a statement. Numbers are those of tokens.
#[derive(Debug)]
pub(super) enum Node {
    /// One token.
    Token(usize),
    /// `( … )` or `[ … ]`.
    Bracket { open: usize, inner: Vec<Node>, close: usize },
    /// The opener of a block, and its statements; the closer is the next node.
    Body { open: usize, stmts: Vec<Vec<Node>>, close: usize },
    /// `perform` and its statement.
    Perform { word: usize, stmt: Vec<Node> },
    /// `if … then … else … endif`: each word with what follows it, and the last word.
    Choice { parts: Vec<(usize, Vec<Node>)>, close: usize },
    /// `match … with | p => e … endmatch`, `typematch` too.
    Match { head: Vec<Node>, arms: Vec<Arm<Vec<Node>>>, close: usize },
    /// `| p => …` of `match … do`, up to `done`.
    Arms(Vec<Arm<Vec<Vec<Node>>>>),
    /// `fun (x:T) => e`: the head and the body.
    Lambda { head: Vec<Node>, body: Vec<Node> },
}

/// One arm of a match.
#[derive(Debug)]
pub(super) struct Arm<B> {
    /// `|`, which the first may lack.
    pub bar: Option<usize>,
    /// The pattern with its condition.
    pub head: Vec<Node>,
    /// `=>`.
    pub arrow: usize,
    /// The body.
    pub body: B,
}

impl Node {
    /// Returns the first token.
    pub fn first(&self) -> usize {
        match self {
            Node::Token(at) | Node::Bracket { open: at, .. } | Node::Body { open: at, .. } => *at,
            Node::Perform { word, .. } => *word,
            Node::Choice { parts, close } => parts.first().map_or(*close, |(word, _)| *word),
            Node::Match { head, close, .. } => head.first().map_or(*close, Node::first),
            Node::Arms(arms) => arms.first().map_or(0, Arm::first),
            Node::Lambda { head, .. } => head[0].first(),
        }
    }

    /// Returns the last token; of a body, the one before its closer.
    pub fn last(&self) -> usize {
        match self {
            Node::Token(at) => *at,
            Node::Bracket { close, .. } | Node::Choice { close, .. } | Node::Match { close, .. } => *close,
            Node::Body { close, .. } => close.saturating_sub(1),
            Node::Perform { word, stmt } => stmt.last().map_or(*word, Node::last),
            Node::Arms(arms) => arms
                .last()
                .map_or(0, |arm| arm.body.last().and_then(|stmt| stmt.last()).map_or(arm.arrow, Node::last)),
            Node::Lambda { head, body } => body.last().unwrap_or(&head[head.len() - 1]).last(),
        }
    }
}

impl<B> Arm<B> {
    /// Returns the first token.
    pub fn first(&self) -> usize {
        self.bar.unwrap_or_else(|| self.head.first().map_or(self.arrow, Node::first))
    }
}

/// Returns the statements of these tokens, whose roles are known.
pub(super) fn statements(tokens: &[Token], structure: &Structure) -> Vec<Vec<Node>> {
    let mut reader = Reader { tokens, structure, at: 0, end: tokens.len() };
    let mut out = Vec::new();
    while reader.at < tokens.len() {
        out.extend(reader.stmts(&[]));
        // A closer that nothing has opened: the parser has refused such a text.
        if reader.at < tokens.len() {
            out.push(vec![reader.take()]);
        }
    }
    out
}

/// A cursor over the tokens.
struct Reader<'t> {
    tokens: &'t [Token],
    structure: &'t Structure,
    at: usize,
    /// The token that ends what is read, as the last one does a text.
    end: usize,
}

impl Reader<'_> {
    /// Returns the kind of the current token.
    fn kind(&self) -> Option<TokenKind> {
        self.tokens[..self.end].get(self.at).map(|token| token.kind)
    }

    /// Returns the kind of the next token.
    fn kind_after(&self) -> Option<TokenKind> {
        self.tokens.get(self.at + 1).map(|token| token.kind)
    }

    /// Returns true if a block opens `tokens` tokens ahead.
    fn opens_block_after(&self, tokens: usize) -> bool {
        self.tokens.get(self.at + tokens).is_some_and(|token| token.kind == TokenKind::LBrace)
    }

    /// Returns true if a set of places `{alice, bob}` begins here.
    fn is_set(&self) -> bool {
        self.at < self.end && self.structure.sets.contains(&self.at)
    }

    /// Returns true if the current token is one of these, or the text has ended.
    fn is_at(&self, kinds: &[TokenKind]) -> bool {
        self.kind().is_none_or(|kind| kinds.contains(&kind))
    }

    /// Reads one token.
    fn take(&mut self) -> Node {
        self.at += 1;
        Node::Token(self.at - 1)
    }

    /// Reads statements up to a closer.
    fn stmts(&mut self, closers: &[TokenKind]) -> Vec<Vec<Node>> {
        use TokenKind::*;
        let mut out = Vec::new();
        while !self.is_at(closers) && !self.is_at(&[RBrace, Done, RParen, RBracket, Endif, Endmatch]) {
            out.push(self.stmt());
        }
        out
    }

    /// Reads a block.
    fn body(&mut self, closers: &[TokenKind]) -> Node {
        let open = self.at;
        self.at += 1;
        let stmts = self.stmts(closers);
        Node::Body { open, stmts, close: self.at }
    }

    /// Reads one statement with its `;`, which some forms lack.
    fn stmt(&mut self) -> Vec<Node> {
        use TokenKind::*;
        let mut out = Vec::new();
        while let Some(Export | Joint) = self.kind() {
            out.push(self.take());
        }
        match self.kind() {
            Some(TokenKind::At) => {
                out.push(self.take());
                self.sequence(&[Semi, LBrace], &mut out);
                if self.kind() == Some(LBrace) {
                    out.push(self.body(&[]));
                    self.end(RBrace, &mut out);
                }
            }
            Some(IfDo) => {
                out.push(self.take());
                self.sequence(&[Do, Perform, Semi, Return, Break, Continue], &mut out);
                if self.is_at(&[Return, Break, Continue]) && self.kind().is_some() {
                    out.extend(self.stmt());
                } else if self.kind() == Some(Do) {
                    out.push(self.body(&[Elif, Else]));
                    while self.kind() == Some(Elif) {
                        out.push(self.take());
                        self.sequence(&[Do, Semi], &mut out);
                        if self.kind() == Some(Do) {
                            out.push(self.body(&[Elif, Else]));
                        }
                    }
                    if self.kind() == Some(Else) {
                        out.push(self.body(&[]));
                    }
                    self.end(Done, &mut out);
                } else {
                    self.performed(&mut out);
                }
            }
            Some(MatchDo) => {
                out.push(self.take());
                self.sequence(&[Do, Semi], &mut out);
                out.push(self.take());
                let arms = self.arms(|reader| reader.stmts(&[Bar]));
                out.push(Node::Arms(arms));
                self.end(Done, &mut out);
            }
            Some(For | While | Do) => {
                self.sequence(&[Do, Perform, Semi], &mut out);
                if self.kind() == Some(Do) {
                    out.push(self.body(&[]));
                    self.end(Done, &mut out);
                } else {
                    self.performed(&mut out);
                }
            }
            first => {
                let function = matches!(first, Some(Fun | Proc)) && self.kind_after() != Some(LParen);
                let test = first == Some(Name) && self.kind_after() == Some(Str) && self.opens_block_after(2);
                let block = function || test || matches!(first, Some(Struct | Class | Instance));
                if block {
                    out.push(self.take());
                    self.sequence(&[Semi, LBrace, FatArrow], &mut out);
                    if self.kind() == Some(LBrace) {
                        out.push(self.body(&[]));
                        self.end(RBrace, &mut out);
                        return out;
                    }
                }
                self.sequence(&[Semi], &mut out);
                if self.kind() == Some(Semi) {
                    out.push(self.take());
                }
            }
        }
        if out.is_empty() {
            out.push(self.take());
        }
        out
    }

    /// Reads `perform` and its statement.
    fn performed(&mut self, out: &mut Vec<Node>) {
        if self.kind() == Some(TokenKind::Perform) {
            let word = self.at;
            self.at += 1;
            let stmt = self.stmt();
            out.push(Node::Perform { word, stmt });
        }
    }

    /// Reads the closer of a block, and a `;` after it.
    fn end(&mut self, closer: TokenKind, out: &mut Vec<Node>) {
        if self.kind() == Some(closer) {
            out.push(self.take());
        }
        if self.kind() == Some(TokenKind::Semi) {
            out.push(self.take());
        }
    }

    /// Reads arms; `body` reads the body of one.
    fn arms<B>(&mut self, body: impl Fn(&mut Self) -> B) -> Vec<Arm<B>> {
        use TokenKind::*;
        let mut arms = Vec::new();
        while !self.is_at(&[Done, Endmatch, Semi, RBrace, RParen, RBracket]) {
            let bar = (self.kind() == Some(Bar)).then_some(self.at);
            self.at += usize::from(bar.is_some());
            let mut head = Vec::new();
            self.sequence(&[FatArrow, Done, Endmatch, Semi], &mut head);
            let arrow = self.at;
            if self.kind() != Some(FatArrow) {
                break;
            }
            self.at += 1;
            let body = body(self);
            arms.push(Arm { bar, head, arrow, body });
        }
        arms
    }

    /// Reads nodes up to one of `stops`.
    fn nodes(&mut self, stops: &[TokenKind]) -> Vec<Node> {
        let mut out = Vec::new();
        self.sequence(stops, &mut out);
        out
    }

    /// Reads nodes up to one of `stops`, or the closer of an enclosing bracket.
    fn sequence(&mut self, stops: &[TokenKind], out: &mut Vec<Node>) {
        use TokenKind::*;
        const CLOSERS: &[TokenKind] = &[RParen, RBracket, RBrace, Done, Endif, Endmatch];
        while self.is_set() || !self.is_at(stops) && !self.is_at(CLOSERS) {
            let at = self.at;
            match self.tokens[at].kind {
                LBrace if self.is_set() => {
                    self.at += 1;
                    let inner = self.nodes(&[RBrace]);
                    self.at += 1;
                    out.push(Node::Bracket { open: at, inner, close: self.at - 1 });
                }
                open @ (LParen | LBracket) => {
                    self.at += 1;
                    let close = if open == LParen { RParen } else { RBracket };
                    let inner = self.nodes(&[close]);
                    if self.kind() == Some(close) {
                        self.at += 1;
                        out.push(Node::Bracket { open: at, inner, close: self.at - 1 });
                    } else {
                        out.push(Node::Token(at));
                        out.extend(inner);
                    }
                }
                LBrace => {
                    out.push(self.body(&[]));
                    if self.kind() == Some(RBrace) {
                        out.push(self.take());
                    }
                }
                If => {
                    let mut parts = Vec::new();
                    while self.is_at(&[If, Then, Elif, Else]) && self.kind().is_some() {
                        let word = self.at;
                        if !parts.is_empty() && self.kind() == Some(If) {
                            break;
                        }
                        self.at += 1;
                        parts.push((word, self.nodes(&[Then, Elif, Else, Endif])));
                    }
                    let close = self.at;
                    if self.kind() == Some(Endif) {
                        self.at += 1;
                        out.push(Node::Choice { parts, close });
                    } else {
                        for (word, nodes) in parts {
                            out.push(Node::Token(word));
                            out.extend(nodes);
                        }
                    }
                }
                Match | Typematch => {
                    self.at += 1;
                    let mut head = vec![Node::Token(at)];
                    self.sequence(&[With, Semi], &mut head);
                    while self.structure.updates.contains(&self.at) {
                        head.push(self.take());
                        self.sequence(&[With, Semi], &mut head);
                    }
                    if self.kind() == Some(With) {
                        head.push(self.take());
                    }
                    let arms = self.arms(|reader| reader.nodes(&[Bar, Semi]));
                    let close = self.at;
                    if self.kind() == Some(Endmatch) {
                        self.at += 1;
                    }
                    out.push(Node::Match { head, arms, close });
                }
                Fun | Proc if let Some(&end) = self.structure.lambda_ends.get(&at) => {
                    let mut head = vec![self.take()];
                    self.sequence(&[FatArrow, LBrace], &mut head);
                    if self.kind() == Some(FatArrow) {
                        head.push(self.take());
                        let outer = std::mem::replace(&mut self.end, end);
                        let body = self.nodes(&[]);
                        self.end = outer;
                        out.push(Node::Lambda { head, body });
                    } else {
                        // Its block, if there is one, is the next node.
                        out.extend(head);
                    }
                }
                _ => out.push(self.take()),
            }
        }
    }
}
