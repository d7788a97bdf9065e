//! Layout: nested tokens → a document for the `pretty` crate, which chooses the line breaks (P.
//! Wadler, *A prettier printer*, 2003; D. Leijen's `group`, `nest` and `align`).
//!
//! Takes [`Node`]s with the [`Trivia`] between tokens; gives one document. A written line break is
//! kept where one is allowed; a new one is made only where a line would be too long, outermost
//! first. A comment is written as a mark with its number, so that its length does not matter.

use super::super::lexer::{Token, TokenKind};
use super::nodes::{Arm, Node};
use super::spacing;
use super::structure::Structure;
use super::trivia::Trivia;
use pretty::{Arena, DocAllocator, DocBuilder};

type Doc<'a> = DocBuilder<'a, Arena<'a>>;

/// One level of indentation.
const INDENT: isize = 2;

/// The separation of two tokens without a comment between them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Nothing,
    Blank,
    /// A blank, or a line break where the line would be too long.
    Soft,
    /// A blank, or a line break together with the others of its group.
    Line,
    /// Like `Line`, with nothing instead of a blank.
    Line0,
    Hard,
}

/// The layout of one text.
pub(super) struct DocumentBuilder<'a> {
    pub arena: &'a Arena<'a>,
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub gaps: &'a [Trivia<'a>],
    /// The roles of the tokens. No line is broken before those of a short result type: the
    /// parameters are broken instead.
    pub structure: &'a Structure,
    /// For each token, the number of line breaks before it.
    pub breaks: Vec<usize>,
    /// The character around the number of a comment.
    pub mark: char,
}

/// Operators from loose to tight, at which lines may be broken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    For,
    Comma,
    FatArrow,
    Assign,
    Bar,
    Reshape,
    Pipe,
    Dollar,
    CompactComma,
    Or,
    And,
    Compare,
    Arrow,
    Add,
    Multiply,
}

impl Level {
    /// The order in a statement.
    const OUTSIDE: &[Level] = {
        use Level::*;
        &[
            FatArrow,
            Assign,
            Bar,
            Dollar,
            Comma,
            CompactComma,
            Pipe,
            Or,
            And,
            Compare,
            Arrow,
            Add,
            Multiply,
            Reshape,
        ]
    };
    /// The order between brackets.
    const INSIDE: &[Level] = {
        use Level::*;
        &[
            For,
            Comma,
            FatArrow,
            Assign,
            Bar,
            Dollar,
            CompactComma,
            Pipe,
            Or,
            And,
            Compare,
            Arrow,
            Add,
            Multiply,
            Reshape,
        ]
    };

    /// Returns true for an operator of the level.
    fn contains(self, kind: TokenKind) -> bool {
        use TokenKind::*;
        match self {
            Level::For => kind == For,
            Level::Comma => kind == Comma,
            Level::FatArrow => kind == FatArrow,
            Level::Assign => matches!(
                kind,
                Assign
                    | LArrow
                    | PlusAssign
                    | MinusAssign
                    | StarAssign
                    | SlashAssign
                    | PercentAssign
                    | PowAssign
            ),
            Level::Bar => kind == Bar,
            Level::Reshape => matches!(kind, Reshape | Convert),
            Level::Pipe => kind == Pipe,
            Level::Dollar => kind == Dollar,
            Level::CompactComma => kind == CComma,
            Level::Or => kind == Or,
            Level::And => kind == And,
            Level::Compare => matches!(kind, EqEq | NotEq | Less | LessEq | Greater | GreaterEq),
            Level::Arrow => kind == Arrow,
            Level::Add => matches!(kind, Plus | Minus | CPlus),
            Level::Multiply => matches!(kind, Star | Slash | Percent | CStar | StarPlus),
        }
    }

    /// Returns true if only the first operator splits the row.
    fn splits_once(self) -> bool {
        matches!(self, Level::FatArrow | Level::Assign | Level::For)
    }

    /// Returns true if the operator ends a line rather than beginning the next.
    fn ends_line(self) -> bool {
        use Level::*;
        matches!(self, Comma | CompactComma | FatArrow | Assign | Dollar)
    }

    /// Returns true if either all lines are broken at the operators, or none.
    fn breaks_together(self) -> bool {
        matches!(self, Level::Pipe | Level::Bar)
    }
}

impl<'a> DocumentBuilder<'a> {
    /// Returns the document of a whole program.
    pub fn program(&self, stmts: &[Vec<Node>]) -> Doc<'a> {
        let doc = self.stmts(stmts, self.tokens.len(), Separator::Hard);
        if self.tokens.is_empty() && self.gaps[0].comments.is_empty() {
            doc
        } else {
            doc.append(self.arena.hardline())
        }
    }

    /// Returns statements with the trivia before each, and the comments before the token after
    /// them.
    fn stmts(&self, stmts: &[Vec<Node>], end: usize, sep: Separator) -> Doc<'a> {
        let mut doc = self.arena.nil();
        for (at, stmt) in stmts.iter().enumerate() {
            let Some(first) = stmt.first() else { continue };
            doc = doc.append(self.before_statement(first.first(), at == 0, sep)).append(self.stmt(stmt));
        }
        doc.append(self.comments(end, stmts.is_empty()).0)
    }

    /// Returns the comments before a token, where a statement may begin; whether there are any, and
    /// whether the last leaves its line open.
    fn comments(&self, at: usize, mut first: bool) -> (Doc<'a>, bool, bool) {
        let (mut doc, mut open) = (self.arena.nil(), false);
        let gap = &self.gaps[at];
        for comment in &gap.comments {
            // The beginning of the text.
            let begin = comment.number == 0 && at == 0;
            if begin {
            } else if comment.newlines == 0 {
                doc = doc.append(self.beside_code(comment.line));
            } else {
                if comment.newlines > 1 && !first {
                    doc = doc.append(self.arena.hardline());
                }
                doc = doc.append(self.arena.hardline());
            }
            doc = doc.append(self.comment(comment.number));
            first = false;
            open = !comment.line;
        }
        (doc, !gap.comments.is_empty(), open && gap.newlines == 0)
    }

    /// Returns the separation between code and a comment in its line.
    fn beside_code(&self, line: bool) -> Doc<'a> {
        self.arena.text(if line { "  " } else { " " })
    }

    /// Returns the mark of a comment.
    fn comment(&self, number: usize) -> Doc<'a> {
        self.arena.text(format!("{}{number}{}", self.mark, self.mark))
    }

    /// Returns the separation before a statement.
    fn before_statement(&self, at: usize, first: bool, sep: Separator) -> Doc<'a> {
        let (doc, any, open) = self.comments(at, first);
        if open {
            return doc.append(self.arena.space());
        }
        if at == 0 && !any {
            return doc;
        }
        if !any && !self.gaps[at].has_line_break() && sep != Separator::Hard {
            return self.separator_doc(sep);
        }
        if self.gaps[at].newlines > 1 && (any || !first) {
            return doc.append(self.arena.hardline()).append(self.arena.hardline());
        }
        doc.append(self.arena.hardline())
    }

    /// Returns a statement, without the trivia before it.
    fn stmt(&self, nodes: &[Node]) -> Doc<'a> {
        let (nodes, semi) = match nodes {
            [nodes @ .., Node::Token(semi)] if self.kind(*semi) == TokenKind::Semi => (nodes, Some(*semi)),
            nodes => (nodes, None),
        };
        let doc = self.row(nodes, Level::OUTSIDE);
        match semi {
            Some(semi) => {
                let sep = match nodes.is_empty()
                    || !spacing::has_blank_between(self, nodes[nodes.len() - 1].last(), semi)
                {
                    true => Separator::Nothing,
                    false => Separator::Blank,
                };
                let sep = if nodes.is_empty() { self.arena.nil() } else { self.separator(semi, sep) };
                doc.append(sep).append(self.token(semi))
            }
            None => doc,
        }
    }

    /// Returns the kind of a token; `;` after the last.
    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::Semi, |token| token.kind)
    }

    /// Returns a token; a mark for one over several lines.
    fn token(&self, at: usize) -> Doc<'a> {
        let token = &self.tokens[at];
        let written = &self.text[token.start as usize..token.end as usize];
        if written.contains('\n') {
            let over_lines =
                |token: &&Token| self.text[token.start as usize..token.end as usize].contains('\n');
            let before = self.tokens[..at].iter().filter(over_lines).count();
            let comments: usize = self.gaps.iter().map(|gap| gap.comments.len()).sum();
            return self.comment(comments + before);
        }
        self.arena.text(&self.text[token.start as usize..token.end as usize])
    }

    /// Returns true if a line is broken before one of the tokens after `first`, up to `last`.
    fn broken(&self, first: usize, last: usize) -> bool {
        last > first && self.breaks[last + 1] > self.breaks[first + 1]
    }

    /// Returns true if a line is broken before a token.
    fn breaks_before(&self, at: usize) -> bool {
        self.gaps[at].has_line_break()
    }

    /// Returns true if a line is broken within nodes.
    fn broken_within(&self, nodes: &[Node]) -> bool {
        match nodes {
            [] => false,
            [first, .., last] => self.broken(first.first(), last.last()),
            [only] => self.broken(only.first(), only.last()),
        }
    }

    /// Returns a separator as a document.
    fn separator_doc(&self, sep: Separator) -> Doc<'a> {
        match sep {
            Separator::Nothing => self.arena.nil(),
            Separator::Blank => self.arena.space(),
            Separator::Soft => self.arena.line().group(),
            Separator::Line => self.arena.line(),
            Separator::Line0 => self.arena.line_(),
            Separator::Hard => self.arena.hardline(),
        }
    }

    /// Returns the separation before a token inside a statement.
    fn separator(&self, at: usize, sep: Separator) -> Doc<'a> {
        let gap = &self.gaps[at];
        let sep = match sep {
            Separator::Soft | Separator::Line if self.structure.result_types.contains(&at) => {
                Separator::Blank
            }
            Separator::Line0 if self.structure.result_types.contains(&at) => Separator::Nothing,
            sep => sep,
        };
        let Some(last) = gap.comments.last() else { return self.separator_doc(sep) };
        let mut doc = self.arena.nil();
        for comment in &gap.comments {
            let before = match comment.newlines {
                0 => self.beside_code(comment.line),
                _ => self.arena.hardline(),
            };
            doc = doc.append(before).append(self.comment(comment.number));
        }
        let after = if last.line || gap.newlines > 0 { Separator::Hard } else { Separator::Blank };
        doc.append(self.separator_doc(after))
    }

    /// Indents a document that a comment forces onto a line of its own: it would begin a statement
    /// there.
    fn indent_after_comment(&self, at: usize, doc: Doc<'a>) -> Doc<'a> {
        let gap = &self.gaps[at];
        if gap.comments.is_empty() || !gap.has_line_break() { doc } else { doc.nest(INDENT) }
    }

    /// Returns a row of nodes, broken at the loosest of some operators.
    fn row(&self, nodes: &[Node], levels: &[Level]) -> Doc<'a> {
        if nodes.iter().any(|node| matches!(node, Node::Body { .. } | Node::Arms(_) | Node::Perform { .. })) {
            return self.blocks(nodes, levels);
        }
        for (at, level) in levels.iter().enumerate() {
            let mut found: Vec<usize> = (0..nodes.len())
                .filter(|&i| match &nodes[i] {
                    Node::Token(token) => {
                        level.contains(self.kind(*token)) && spacing::is_infix_operator(self, *token)
                    }
                    _ => false,
                })
                .filter(|&i| i > 0)
                .collect();
            if level.splits_once() {
                found.truncate(1);
            }
            if !found.is_empty() {
                return self.chain(nodes, *level, &found, &levels[at + 1..], levels == Level::INSIDE);
            }
        }
        self.juxtaposed(nodes)
    }

    /// Returns operands with operators of one level between them.
    fn chain(&self, nodes: &[Node], level: Level, ops: &[usize], tighter: &[Level], inside: bool) -> Doc<'a> {
        // Of `a = b, c` the right side is a tuple again.
        let right = match level {
            Level::FatArrow | Level::Assign if !inside => Level::OUTSIDE,
            Level::For => Level::INSIDE,
            _ => tighter,
        };
        let free = !ops.iter().any(|&op| {
            let next = nodes.get(op + 1).is_some_and(|node| self.breaks_before(node.first()));
            next || self.breaks_before(nodes[op].first())
        });
        let together = level.breaks_together() && free && !self.broken_within(nodes);
        // Operands of which the first begins a line, below what they belong to, stand below each
        // other.
        let first = nodes[0].first();
        let opens = |kind| {
            matches!(kind, TokenKind::Assign | TokenKind::FatArrow | TokenKind::LParen | TokenKind::LBracket)
        };
        let started = first > 0 && self.breaks_before(first) && opens(self.kind(first - 1));
        let mut doc = self.row(&nodes[..ops[0]], tighter);
        for (at, &op) in ops.iter().enumerate() {
            let end = ops.get(at + 1).copied().unwrap_or(nodes.len());
            let (operator, operand) = (nodes[op].first(), &nodes[op + 1..end]);
            let before = nodes[op - 1].last();
            let hard = self.broken_within(operand);
            let soft = match (hard, together) {
                (true, _) => Separator::Blank,
                (false, true) => Separator::Line,
                (false, false) => Separator::Soft,
            };
            let glue = |sep| {
                if spacing::has_blank_between(self, before, operator) { sep } else { Separator::Nothing }
            };
            let broken_before = self.breaks_before(operator);
            let broken_after = operand.first().is_some_and(|node| self.breaks_before(node.first()));
            // An operand that does not fit as a whole goes below; what is bound goes below only if
            // not even its beginning fits.
            let soft = if soft == Separator::Soft && level != Level::Assign { Separator::Line } else { soft };
            let grouped = soft == Separator::Line && !together;
            let (sep_before, sep_after) = if level.ends_line() {
                let commented = !self.gaps[operator].comments.is_empty();
                let soft = if level == Level::Dollar { Separator::Blank } else { soft };
                let broken = broken_after || broken_before && !commented && level != Level::Comma;
                (glue(Separator::Blank), if broken { Separator::Hard } else { soft })
            } else {
                let before = if broken_before {
                    Separator::Hard
                } else if broken_after {
                    Separator::Blank
                } else {
                    soft
                };
                (glue(before), if broken_after { Separator::Hard } else { Separator::Blank })
            };
            let mut part = self.separator(operator, sep_before).append(self.token(operator));
            if let Some(first) = operand.first() {
                let body = self.separator(first.first(), sep_after).append(self.row(operand, right));
                // What ends a line stays there.
                part = part.append(if level.ends_line() && grouped { body.group() } else { body });
            }
            if grouped && !level.ends_line() {
                part = part.group();
            }
            let below = broken_before || broken_after || !hard;
            let listed =
                level == Level::Bar && matches!(nodes[0], Node::Token(at) if self.kind(at) == TokenKind::Bar);
            let nested =
                below && !(inside && matches!(level, Level::Comma | Level::For) || listed || started);
            doc = doc.append(if nested { part.nest(INDENT) } else { part });
        }
        if together { doc.group() } else { doc }
    }

    /// Returns nodes that no operator separates, or only tight ones.
    fn juxtaposed(&self, nodes: &[Node]) -> Doc<'a> {
        let mut doc = self.arena.nil();
        let mut before: Option<usize> = None;
        for node in nodes {
            let first = node.first();
            let inner = self.node(node);
            doc = match before {
                None => doc.append(inner),
                Some(last) if self.breaks_before(first) && spacing::may_break(self, last, first) => {
                    doc.append(self.separator(first, Separator::Hard).append(inner).nest(INDENT))
                }
                Some(last) => {
                    let blank = if spacing::has_blank_between(self, last, first) {
                        Separator::Blank
                    } else {
                        Separator::Nothing
                    };
                    doc.append(self.indent_after_comment(first, self.separator(first, blank).append(inner)))
                }
            };
            before = Some(node.last());
        }
        doc
    }

    /// Returns a statement with blocks: the blocks, and the rows before and between them.
    fn blocks(&self, nodes: &[Node], levels: &[Level]) -> Doc<'a> {
        use Node::*;
        let flat = nodes.iter().all(|node| match node {
            Body { open, close, .. } => !self.broken(*open, *close),
            Arms(arms) => {
                let first = arms.first().map_or(0, Arm::first);
                let last = node.last();
                !self.breaks_before(first) && !self.broken(first, (last + 1).min(self.tokens.len() - 1))
            }
            _ => true,
        });
        let sep = if flat { Separator::Line } else { Separator::Hard };
        let mut doc = self.arena.nil();
        let mut run = 0;
        let mut before: Option<&Node> = None;
        let special = |node: &Node| matches!(node, Body { .. } | Arms(_) | Perform { .. });
        while run < nodes.len() {
            let end = if special(&nodes[run]) {
                run + 1
            } else {
                nodes[run..].iter().position(special).map_or(nodes.len(), |n| run + n)
            };
            let (first, part) = (nodes[run].first(), &nodes[run..end]);
            let after_body = matches!(before, Some(Body { .. } | Arms(_)));
            // An empty block is `{}`; `do done` has a blank.
            let empty = match before {
                Some(Body { open, stmts, close }) if stmts.is_empty() => {
                    self.gaps[*close].comments.is_empty().then_some(self.kind(*open) != TokenKind::LBrace)
                }
                _ => None,
            };
            let gap = match (before, empty) {
                (None, _) | (_, Some(false)) => self.arena.nil(),
                (_, Some(true)) => self.separator_doc(Separator::Blank),
                // Its comments stand at the end of the block.
                _ if after_body => self.separator_doc(sep),
                _ if matches!(part[0], Perform { .. } | Arms(_)) => self.arena.nil(),
                _ => self.separator(first, Separator::Blank),
            };
            doc = doc.append(match &part[0] {
                Body { open, stmts, close } => {
                    let inner = self.stmts(stmts, *close, sep);
                    let open = gap.append(self.token(*open));
                    let open = if after_body { open } else { self.indent_after_comment(first, open) };
                    open.append(inner.nest(INDENT))
                }
                Arms(arms) => self.arms(arms, node_end(&part[0]), sep),
                Perform { word, stmt } => self.perform(*word, stmt, before.is_some()),
                // The comments before a statement are no part of it.
                _ if after_body || before.is_none() => gap.append(self.row(part, levels)),
                _ => self.indent_after_comment(first, gap.append(self.row(part, levels))),
            });
            before = part.last();
            run = end;
        }
        if flat { doc.group() } else { doc }
    }

    /// Returns `perform` and its statement, with the separation before.
    fn perform(&self, word: usize, stmt: &[Node], after: bool) -> Doc<'a> {
        let Some(first) = stmt.first().map(Node::first) else { return self.token(word) };
        let hard = self.broken_within(stmt);
        let soft = if hard { Separator::Blank } else { Separator::Soft };
        let broken_after = self.breaks_before(first);
        let inner =
            self.separator(first, if broken_after { Separator::Hard } else { soft }).append(self.stmt(stmt));
        let below = broken_after || !hard;
        let inner = if below { inner.nest(INDENT) } else { inner };
        let broken = self.breaks_before(word);
        let before = match broken {
            _ if !after => Separator::Nothing,
            true => Separator::Hard,
            false => Separator::Blank,
        };
        let doc = self.separator(word, before).append(self.token(word));
        if broken { doc.append(inner).nest(INDENT) } else { doc.append(inner) }
    }

    /// Returns arms `| p => …`, each on a line of its own.
    fn arms(&self, arms: &[Arm<Vec<Vec<Node>>>], end: usize, sep: Separator) -> Doc<'a> {
        let mut doc = self.arena.nil();
        for (at, arm) in arms.iter().enumerate() {
            let mut line = self.before_statement(arm.first(), at == 0, sep).append(self.arm_head(arm));
            let first = arm.body.first().and_then(|stmt| stmt.first()).map(Node::first);
            let mut inner = self.arena.nil();
            for (at, stmt) in arm.body.iter().enumerate() {
                let Some(first) = stmt.first().map(Node::first) else { continue };
                let beside = at == 0 && !self.breaks_before(first);
                inner = inner.append(if beside {
                    self.separator(first, Separator::Blank)
                } else {
                    self.before_statement(first, at == 0, sep)
                });
                inner = inner.append(self.stmt(stmt));
            }
            let single = arm.body.len() == 1 && first.is_some_and(|first| !self.breaks_before(first));
            line = line.append(if single { inner } else { inner.nest(INDENT) });
            doc = doc.append(line);
        }
        // Before `done`.
        doc.append(self.comments(end, false).0)
    }

    /// Returns `| p when c =>`.
    fn arm_head<B>(&self, arm: &Arm<B>) -> Doc<'a> {
        let mut doc = self.arena.nil();
        let head = self.row(&arm.head, Level::OUTSIDE);
        if let Some(bar) = arm.bar {
            doc = doc.append(self.token(bar));
            if let Some(first) = arm.head.first() {
                doc = doc.append(self.separator(first.first(), Separator::Blank));
            }
        }
        doc = doc.append(head);
        doc.append(self.separator(arm.arrow, Separator::Blank)).append(self.token(arm.arrow))
    }

    /// Returns one node.
    fn node(&self, node: &Node) -> Doc<'a> {
        match node {
            Node::Token(at) => self.token(*at),
            Node::Bracket { open, inner, close } => self.bracket(*open, inner, *close),
            Node::Choice { parts, close } => self.choice(parts, *close),
            Node::Match { head, arms, close } => self.matching(head, arms, *close),
            Node::Lambda { head, body } => {
                let doc = self.row(head, Level::INSIDE);
                let Some(first) = body.first().map(Node::first) else { return doc };
                let inner = self.row(body, Level::INSIDE);
                if self.breaks_before(first) {
                    doc.append(self.separator(first, Separator::Hard).append(inner).nest(INDENT))
                } else if self.broken_within(body) {
                    doc.append(self.separator(first, Separator::Blank)).append(inner)
                } else {
                    doc.append(self.separator(first, Separator::Line).append(inner).nest(INDENT).group())
                }
            }
            // These occur in statements only.
            Node::Body { .. } | Node::Arms(_) | Node::Perform { .. } => {
                self.blocks(std::slice::from_ref(node), Level::OUTSIDE)
            }
        }
    }

    /// Returns a bracketed node.
    fn bracket(&self, open: usize, inner: &[Node], close: usize) -> Doc<'a> {
        let (opening, closing) = (self.token(open), self.token(close));
        let Some(first) = inner.first().map(Node::first) else {
            return opening.append(self.separator(close, Separator::Nothing)).append(closing);
        };
        let row = self.row(inner, Level::INSIDE);
        // `[ e for i in x ]` has blanks inside.
        let clauses = |node: &Node| matches!(node, Node::Token(at) if self.kind(*at) == TokenKind::For);
        let (tight, edge) = match inner.iter().any(clauses) {
            true => (Separator::Blank, Separator::Line),
            false => (Separator::Nothing, Separator::Line0),
        };
        if self.breaks_before(first) {
            let inside = self.separator(first, Separator::Hard).append(row).nest(INDENT);
            let end = match self.gaps[close].comments.is_empty() {
                true => self.separator_doc(Separator::Hard),
                // Comments before the end stand with the elements.
                false => {
                    self.comments(close, false).0.nest(INDENT).append(self.separator_doc(Separator::Hard))
                }
            };
            return opening.append(inside).append(end).append(closing);
        }
        if self.broken(open, close) {
            let direct = inner.iter().skip(1).any(|node| self.breaks_before(node.first()));
            let end = self.separator(close, tight);
            let opening = opening.append(self.separator(first, tight));
            let inside = row.append(end);
            return opening.append(if direct { inside.align() } else { inside }).append(closing);
        }
        // A node with break points of its own needs none around it.
        if matches!(inner, [Node::Bracket { .. } | Node::Lambda { .. }]) {
            let end = self.separator(close, Separator::Nothing);
            return opening
                .append(self.separator(first, Separator::Nothing))
                .append(row)
                .append(end)
                .append(closing);
        }
        let inside = self.separator(first, edge).append(row).nest(INDENT);
        opening.append(inside).append(self.separator(close, edge)).append(closing).group()
    }

    /// Returns `if … then … else … endif`.
    fn choice(&self, parts: &[(usize, Vec<Node>)], close: usize) -> Doc<'a> {
        let words = parts.iter().skip(1).map(|(word, _)| *word).chain([close]);
        let free = !words.into_iter().any(|word| self.breaks_before(word));
        let is_below = |nodes: &[Node]| nodes.first().is_some_and(|node| self.breaks_before(node.first()));
        // Where a value stands below its `then`, the words are as deep as the line of the first one.
        let has_blocks =
            parts.iter().any(|(word, nodes)| self.kind(*word) == TokenKind::Then && is_below(nodes));
        let mut doc = self.arena.nil();
        for (at, (word, nodes)) in parts.iter().enumerate() {
            let first = nodes.first().map(Node::first);
            let broken = self.breaks_before(*word);
            let below = first.is_some_and(|first| self.breaks_before(first));
            let begins = matches!(self.kind(*word), TokenKind::Elif | TokenKind::Else);
            let sep = match at {
                0 => Separator::Nothing,
                _ if broken => Separator::Hard,
                _ if begins && free && !self.broken_within(nodes) => Separator::Line,
                _ => Separator::Blank,
            };
            let mut part = if at == 0 { self.arena.nil() } else { self.separator(*word, sep) };
            part = part.append(self.token(*word));
            if let Some(first) = first {
                let inner = self.separator(first, if below { Separator::Hard } else { Separator::Blank });
                let inner = inner.append(self.row(nodes, Level::OUTSIDE));
                part = part.append(if below { inner.nest(INDENT) } else { inner });
            }
            let nested = at > 0 && (broken || sep == Separator::Line) && !has_blocks;
            doc = doc.append(if nested { part.nest(INDENT) } else { part });
        }
        let end = if self.breaks_before(close) { Separator::Hard } else { Separator::Blank };
        let end = self.separator(close, end).append(self.token(close));
        doc.append(if self.breaks_before(close) && !has_blocks { end.nest(INDENT) } else { end }).group()
    }

    /// Returns `match … with | p => e … endmatch`.
    fn matching(&self, head: &[Node], arms: &[Arm<Vec<Node>>], close: usize) -> Doc<'a> {
        let firsts = arms.iter().map(Arm::first).chain([close]);
        let broken = firsts.into_iter().any(|first| self.breaks_before(first));
        let sep = if broken { Separator::Hard } else { Separator::Line };
        let mut doc = self.row(head, Level::OUTSIDE);
        for arm in arms {
            let mut line = self.separator(arm.first(), sep).append(self.arm_head(arm));
            if let Some(first) = arm.body.first().map(Node::first) {
                let below = self.breaks_before(first);
                let inner = self.separator(first, if below { Separator::Hard } else { Separator::Blank });
                let inner = inner.append(self.row(&arm.body, Level::OUTSIDE));
                line = line.append(if below { inner.nest(INDENT) } else { inner });
            }
            doc = doc.append(line.nest(INDENT));
        }
        let end = self.separator(close, sep).append(self.token(close)).nest(INDENT);
        doc.append(end).group()
    }
}

/// Returns the token after the last arm.
fn node_end(node: &Node) -> usize {
    node.last() + 1
}
