//! Nested tokens: brackets, blocks and statements, as far as layout needs them.
//!
//! Takes the tokens of a text that was parsed without an error; gives statements as sequences of
//! [`Node`]s. Knows the opening and closing words only; [`super::document`] distinguishes the
//! operators.

use super::super::lexer::{Token, TokenKind};
use crate::hash::HashSet;

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

/// The nested tokens of a text.
pub(super) struct Statements {
    /// The statements.
    pub stmts: Vec<Vec<Node>>,
    /// The `:` before the type of a variable, a field or a method, with blanks around it.
    pub colons: HashSet<usize>,
    /// The tokens of result types that fit on one line.
    pub result_types: HashSet<usize>,
}

/// Returns the statements of these tokens.
pub(super) fn statements(tokens: &[Token]) -> Statements {
    let mut reader = Reader { tokens, at: 0, colons: HashSet::default(), result_types: HashSet::default() };
    let mut out = Vec::new();
    while reader.at < tokens.len() {
        out.extend(reader.stmts(&[]));
        // A closer that nothing has opened: the parser has refused such a text.
        if reader.at < tokens.len() {
            out.push(vec![reader.take()]);
        }
    }
    Statements { stmts: out, colons: reader.colons, result_types: reader.result_types }
}

/// A cursor over the tokens.
struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    colons: HashSet<usize>,
    result_types: HashSet<usize>,
}

/// Bytes of a result type that is kept on one line, at most.
const MAX_RESULT_TYPE_BYTES: u32 = 70;

/// The tokens that end the body of a lambda that is an expression.
const AFTER_LAMBDA: &[TokenKind] = {
    use TokenKind::*;
    &[
        Comma, Semi, FatArrow, For, Do, Perform, Then, Elif, Else, Endif, With, Bar, Endmatch, When, RParen,
        RBracket, RBrace, Done,
    ]
};

impl Reader<'_> {
    /// Returns the kind of the current token.
    fn kind(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Returns the kind of the next token.
    fn kind_after(&self) -> Option<TokenKind> {
        self.tokens.get(self.at + 1).map(|token| token.kind)
    }

    /// Returns true if an update `with (a = e)` follows, as opposed to the first arm of a `match`.
    fn is_update_ahead(&self) -> bool {
        use TokenKind::*;
        let mut kinds = self.tokens.iter().skip(self.at).map(|token| token.kind);
        if ![With, LParen, Name, Assign].into_iter().all(|kind| kinds.next() == Some(kind)) {
            return false;
        }
        let mut depth = 1u32;
        for kind in kinds.by_ref() {
            match kind {
                LParen | LBracket | LBrace => depth += 1,
                RParen | RBracket | RBrace => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        !matches!(kinds.next(), Some(FatArrow | When | As))
    }

    /// Returns true if a block opens `tokens` tokens ahead.
    fn opens_block_after(&self, tokens: usize) -> bool {
        self.tokens.get(self.at + tokens).is_some_and(|token| token.kind == TokenKind::LBrace)
    }

    /// Returns true if a set of places `{alice, bob}` begins here. No block follows these tokens
    /// and holds nothing but names.
    fn is_set(&self) -> bool {
        use TokenKind::*;
        let kind = |at: usize| self.tokens.get(at).map(|token| token.kind);
        let before = self.at.checked_sub(1).and_then(kind);
        if self.kind() != Some(LBrace)
            || !matches!(before, Some(TokenKind::At | AtSign | LBracket | Comma | Assign))
        {
            return false;
        }
        let mut at = self.at + 1;
        while kind(at) == Some(Name) && kind(at + 1) == Some(Comma) {
            at += 2;
        }
        kind(at) == Some(Name) && kind(at + 1) == Some(RBrace)
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
                    if function {
                        self.find_result(&out);
                    }
                    if self.kind() == Some(LBrace) {
                        let body = self.body(&[]);
                        if first == Some(Struct) {
                            self.find_fields(&body);
                        }
                        out.push(body);
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
        self.find_colon(&out);
        out
    }

    /// Records the `:` of `val x : T = e;` and of `fun zero : unit -> T;`.
    fn find_colon(&mut self, stmt: &[Node]) {
        use TokenKind::*;
        let kind = |node: &Node| match node {
            Node::Token(at) => Some(self.tokens[*at].kind),
            _ => None,
        };
        let first = stmt.iter().find_map(|node| kind(node).filter(|kind| !matches!(kind, Export | Joint)));
        let ends = |node: &Node| match first {
            Some(Val | Var) => kind(node) == Some(Assign),
            Some(Fun | Proc) => {
                matches!(node, Node::Bracket { open, .. } if self.tokens[*open].kind == LParen)
            }
            _ => true,
        };
        let colon = stmt.iter().take_while(|node| !ends(node)).find(|node| kind(node) == Some(Colon));
        self.colons.extend(colon.map(Node::first));
    }

    /// Records the `:` of `struct point { x : int; }`.
    fn find_fields(&mut self, body: &Node) {
        let Node::Body { stmts, .. } = body else { return };
        for stmt in stmts {
            if let [Node::Token(_), Node::Token(colon), ..] = stmt[..]
                && self.tokens[colon].kind == TokenKind::Colon
            {
                self.colons.insert(colon);
            }
        }
    }

    /// Records the tokens after the `:` of `fun f(x:A):B`, if they fit on one line.
    fn find_result(&mut self, head: &[Node]) {
        let colon =
            |node: &Node| matches!(node, Node::Token(at) if self.tokens[*at].kind == TokenKind::Colon);
        let Some(at) = head.iter().rposition(colon) else { return };
        // The method of a class has a type and no parameters.
        let taken = |node: &Node| matches!(node, Node::Bracket { open, .. } if self.tokens[*open].kind == TokenKind::LParen);
        if !head[..at].iter().any(taken) {
            return;
        }
        let (Some(first), Some(last)) = (head.get(at + 1), head.last()) else { return };
        if self.tokens[last.last()].end - self.tokens[first.first()].start > MAX_RESULT_TYPE_BYTES {
            return;
        }
        self.result_types.extend(first.first()..=last.last());
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
                    while self.is_update_ahead() {
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
                Fun | Proc if self.kind_after() == Some(LParen) => {
                    let mut head = vec![self.take()];
                    self.sequence(&[FatArrow, LBrace, Semi, Comma], &mut head);
                    if self.kind() == Some(FatArrow) {
                        head.push(self.take());
                        let body = self.nodes(AFTER_LAMBDA);
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
