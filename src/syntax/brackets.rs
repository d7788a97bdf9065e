//! The bracket pass: tokens → top-level statements, with brackets and block words checked.
//!
//! It runs before the grammar because a parser that recovers from unclosed brackets takes
//! exponential time, and because an error in one statement must not lose the others. It tells
//! `if … then` from `if … do`, and `match … with` from `match … do`, so that the grammar never has
//! to look ahead; it bounds nesting and chains, so that every later walk over a tree may recurse;
//! and it knows when a text merely stops too early. Linear in the number of tokens.

use super::error::SyntaxError;
use super::lexer::{self, Kind, Token};
use crate::source::{Source, Span};
use std::borrow::Cow;
use std::ops::Range;

/// How deep brackets, blocks and prefixes may nest, together.
pub const DEEPEST: u32 = 256;
/// How many operands one path through a tree may pass: chains like `1+1+…` lean to one side.
pub const LONGEST_CHAIN: u32 = 10_000;
/// How many errors this pass reports.
const MOST_ERRORS: usize = 20;

/// A text cut into statements.
#[derive(Debug, Default)]
pub struct Cut {
    /// The tokens; every statement that needs a `;` has one, perhaps a synthetic one.
    pub tokens: Vec<Token>,
    /// The top-level statements.
    pub statements: Vec<Statement>,
    /// What was wrong with the brackets.
    pub errors: Vec<SyntaxError>,
    /// The text ends inside something that is open.
    pub incomplete: bool,
    /// The deepest nesting of brackets, blocks and prefixes.
    pub deepest: u32,
}

/// One top-level statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its brackets are wrong; an error has been reported and it is not worth parsing.
    pub bad: bool,
    /// It has no `;` where it needs one, though something follows.
    pub semicolon_missing: bool,
}

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Paren,
    Bracket,
    Brace,
    /// `if` before `do`, or up to `endif`.
    If,
    /// `match` or `typematch` before `do`, or up to `endmatch`.
    Match,
    /// `do`, up to `done`.
    Do,
}

impl Open {
    fn closer(self) -> Kind {
        match self {
            Open::Paren => Kind::RParen,
            Open::Bracket => Kind::RBracket,
            Open::Brace => Kind::RBrace,
            Open::If => Kind::Endif,
            Open::Match => Kind::Endmatch,
            Open::Do => Kind::Done,
        }
    }

    /// A `;` may stand directly inside.
    fn holds_statements(self) -> bool {
        matches!(self, Open::Brace | Open::Do)
    }
}

/// One thing that is open, with what is known of the tree inside it.
struct Frame {
    open: Open,
    /// The token that opened it, in the output.
    at: usize,
    height: Height,
}

/// A bound on the height of the tree that the tokens since the last separator make.
#[derive(Clone, Copy, Default)]
struct Height {
    /// Nesting at the start of the frame, counted from the top.
    base: u32,
    /// Prefixes and right-leaning operators since the last separator.
    deep: u32,
    /// `$` since the last `;`: `,` binds tighter and does not end them.
    dollars: u32,
    /// Left-leaning operators and arguments since the last separator.
    chain: u32,
    /// The tallest bracket group since the last separator.
    tallest: u32,
    /// The tallest of all that came before the last separator.
    finished: u32,
    /// Where the statement being read begins, in a frame that holds statements.
    begin: Option<u32>,
}

/// After this word a name is declared.
fn names_something(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        Fun | Proc | Var | Val | Typedef | Typefun | KindWord | Type | Struct | Variant | Newtype | Class
    )
}

impl Height {
    fn here(&self) -> u32 {
        self.chain + self.deep + self.dollars + self.tallest
    }

    /// A separator: what stood before it is done.
    fn separate(&mut self, statement: bool) {
        self.finished = self.finished.max(self.here());
        self.deep = 0;
        self.chain = 0;
        self.tallest = 0;
        if statement {
            self.dollars = 0;
            self.begin = None;
        }
    }
}

/// The pass itself.
struct Pass<'s> {
    source: Cow<'s, Source>,
    out: Cut,
    stack: Vec<Frame>,
    /// How many of each are open: finding a partner must not search the whole stack.
    counts: [u32; 6],
    /// How many of each an error has closed: their closers, coming late, are consequences.
    forgiven: [u32; 6],
    ground: Height,
    /// First token of the statement being read.
    start: usize,
    bad: bool,
    /// The statement is a declaration with a block, so far: its `}` will end it.
    block_declaration: bool,
    too_deep: bool,
    too_long: bool,
}

/// Cuts tokens into top-level statements.
pub fn cut(source: &Source, tokens: &[Token]) -> Cut {
    let mut pass = Pass::new(Cow::Borrowed(source));
    pass.out.tokens.reserve(tokens.len() + 8);
    let mut at = 0;
    while at < tokens.len() {
        let next = tokens.get(at + 1).map(|t| t.kind);
        let ended = pass.token(tokens[at], next);
        at += 1;
        if ended {
            // A block statement ends by its last word; a `;` after it is allowed.
            if let Some(semi) = tokens.get(at).filter(|t| t.kind == Kind::Semi) {
                pass.out.tokens.push(*semi);
                at += 1;
            }
            pass.end_statement(false);
        }
    }
    pass.finish()
}

/// A text that comes line by line. Tells, in time that depends on the new lines only, whether what has come
/// ends inside brackets or blocks; where it cannot tell, it has to be read.
pub struct Growing {
    pass: Pass<'static>,
    /// The last token: it is taken when the next one is known.
    held: Option<Token>,
    /// How much of the text has been cut into tokens.
    lexed: usize,
    /// What follows that ends inside a comment.
    in_comment: bool,
    /// Something is wrong in it.
    wrong: bool,
}

impl Default for Growing {
    fn default() -> Growing {
        let pass = Pass::new(Cow::Owned(Source::default()));
        Growing { pass, held: None, lexed: 0, in_comment: false, wrong: false }
    }
}

impl Growing {
    /// What has come so far.
    pub fn text(&self) -> &str {
        &self.pass.source.text
    }

    /// What has come.
    pub fn into_text(self) -> String {
        self.pass.source.into_owned().text
    }

    /// Adds whole lines; true if the text is incomplete without doubt.
    pub fn push(&mut self, lines: &str) -> bool {
        self.pass.source.to_mut().text.push_str(lines);
        if self.wrong {
            return false;
        }
        if self.in_comment && !lines.contains("*/") {
            return true;
        }
        let found = lexer::lex_range(&self.pass.source, self.lexed..self.text().len());
        self.in_comment = found.open_comment && found.errors.len() == 1;
        // What stands before the comment may be wrong.
        if self.in_comment {
            return false;
        }
        self.wrong = !found.errors.is_empty();
        self.lexed = self.text().len();
        for token in found.tokens {
            if let Some(held) = self.held.replace(token)
                && self.pass.token(held, Some(token.kind))
            {
                self.pass.end_statement(false);
            }
        }
        self.wrong |= !self.pass.out.errors.is_empty();
        !self.wrong && self.stays_open()
    }

    /// Whether something is open whatever the last token does.
    fn stays_open(&self) -> bool {
        let Some(held) = self.held else { return false };
        if matches!(held.kind, Kind::LParen | Kind::LBracket | Kind::LBrace) {
            return true;
        }
        let Some(top) = self.pass.stack.last() else { return false };
        match held.kind {
            Kind::RParen | Kind::RBracket | Kind::RBrace | Kind::Endif | Kind::Endmatch | Kind::Done => {
                self.pass.stack.len() > 1 && top.open.closer() == held.kind
            }
            Kind::Perform => self.pass.stack.len() > 1,
            Kind::Semi => top.open.holds_statements(),
            kind => !self.pass.begins_statement(kind, None),
        }
    }
}

impl<'s> Pass<'s> {
    fn new(source: Cow<'s, Source>) -> Pass<'s> {
        Pass {
            source,
            out: Cut::default(),
            stack: Vec::new(),
            counts: [0; 6],
            forgiven: [0; 6],
            ground: Height::default(),
            start: 0,
            bad: false,
            block_declaration: false,
            too_deep: false,
            too_long: false,
        }
    }

    fn span(&self, token: Token) -> Span {
        Span { source: self.source.id, start: token.start, end: token.end }
    }

    fn text(&self, token: Token) -> &str {
        self.source.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    fn report(&mut self, error: SyntaxError) {
        self.bad = true;
        if self.out.errors.len() < MOST_ERRORS {
            self.out.errors.push(error);
        }
    }

    fn last_kind(&self) -> Option<Kind> {
        self.out.tokens[self.start..].last().map(|t| t.kind)
    }

    /// Takes one token; true if it ends a block statement at the top level.
    fn token(&mut self, mut token: Token, next: Option<Kind>) -> bool {
        let before = self.last_kind();
        if self.is_offside(token) {
            token.offside = true;
            if self.stack.is_empty() {
                self.synthetic_semicolon();
                self.end_statement(true);
            }
        }
        let before = before.filter(|_| self.last_kind().is_some());
        // `export` stands before a definition, not before another statement.
        let exported = before == Some(Kind::Export) && token.kind != Kind::Export;
        if self.begins_statement(token.kind, next) && !exported && before.is_some_and(|k| k != Kind::Perform)
        {
            // What is open and cannot hold a statement has been forgotten.
            if self.stack.last().is_some_and(|f| !f.open.holds_statements()) && !self.in_comprehension(token)
            {
                self.unwind_to_statement(token);
            }
            if self.stack.is_empty() && self.last_kind().is_some() {
                self.synthetic_semicolon();
                self.end_statement(true);
            }
        }
        if self.out.tokens[self.start..].iter().all(|t| t.kind == Kind::Export) {
            self.block_declaration = match token.kind {
                Kind::Struct | Kind::Class | Kind::Instance => true,
                Kind::Fun | Kind::Proc => next != Some(Kind::LParen),
                // `test "name" { … }`
                Kind::Name => next == Some(Kind::Str) && matches!(self.text(token), "test" | "bench"),
                _ => false,
            };
        }
        // `if c perform` closes the condition; what is performed nests in the statement around it.
        if token.kind == Kind::Perform
            && let Some(frame) = self.stack.last()
            && frame.open == Open::If
        {
            self.out.tokens[frame.at].kind = Kind::IfDo;
            self.pop();
        }
        self.measure(token, before);
        let height = self.height();
        if height.begin.is_none() && token.kind != Kind::Semi {
            height.begin = Some(token.start);
        }
        // `fun match(x)` is a keyword used as a name, not a `match`.
        let named = before.is_some_and(names_something) && token.kind.is_keyword();
        match token.kind {
            _ if named => {}
            Kind::LParen => self.open(Open::Paren, token),
            Kind::LBracket => self.open(Open::Bracket, token),
            Kind::LBrace => self.open(Open::Brace, token),
            Kind::If => self.open(Open::If, token),
            Kind::Match | Kind::Typematch => self.open(Open::Match, token),
            Kind::Do => self.do_word(token),
            Kind::Elif => {
                // After `if … do` the next condition is open again.
                if let Some(frame) = self.stack.last_mut()
                    && frame.open == Open::Do
                    && self.out.tokens[frame.at].kind == Kind::IfDo
                {
                    self.counts[Open::Do as usize] -= 1;
                    self.counts[Open::If as usize] += 1;
                    frame.open = Open::If;
                }
            }
            Kind::RParen => return self.close(Open::Paren, token),
            Kind::RBracket => return self.close(Open::Bracket, token),
            Kind::RBrace => return self.close(Open::Brace, token),
            Kind::Endif => return self.close(Open::If, token),
            Kind::Endmatch => return self.close(Open::Match, token),
            Kind::Done => return self.close(Open::Do, token),
            Kind::Semi => {
                if self.stack.last().is_some_and(|f| !f.open.holds_statements()) {
                    self.unwind_to_statement(token);
                }
                self.out.tokens.push(token);
                if self.stack.is_empty() {
                    self.end_statement(false);
                }
                return false;
            }
            Kind::BadStr => {
                // Its line may have held closers and the `;`: it ends the statement, without a word.
                while self.stack.last().is_some_and(|f| !f.open.holds_statements()) {
                    self.pop();
                }
                self.bad = true;
                self.out.tokens.push(token);
                if self.stack.is_empty() {
                    self.end_statement(false);
                }
                return false;
            }
            Kind::FatArrow | Kind::Assign if self.stack.is_empty() => self.block_declaration = false,
            _ => {}
        }
        self.out.tokens.push(token);
        false
    }

    /// Whether a token would be an argument of what the line before ends with, though its own line
    /// is indented no deeper than the statement: then a `;` is missing between them.
    fn is_offside(&self, token: Token) -> bool {
        let Some(last) = self.out.tokens[self.start..].last() else {
            return false;
        };
        let begins = token.kind.begins_operand() || matches!(token.kind, Kind::Amp | Kind::Do);
        if !(begins && last.kind.ends_operand()) {
            return false;
        }
        let text = self.source.text.as_str();
        let gap = text.get(last.end as usize..token.start as usize).unwrap_or("");
        if !gap.contains('\n') {
            return false;
        }
        let height = match self.stack.last() {
            Some(frame) if !frame.open.holds_statements() => return false,
            Some(frame) => &frame.height,
            None => &self.ground,
        };
        let indent = |at: u32| {
            let before = text.get(..at as usize).unwrap_or("");
            let line = before.rfind('\n').map_or(0, |newline| newline + 1);
            text[line..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
        };
        height.begin.is_some_and(|begin| indent(token.start) <= indent(begin))
    }

    /// The token can only stand at the beginning of a statement.
    fn begins_statement(&self, kind: Kind, next: Option<Kind>) -> bool {
        match kind {
            Kind::Fun | Kind::Proc => next == Some(Kind::Name),
            _ => kind.begins_statement(),
        }
    }

    /// `for` inside `[ ]` begins the clauses of a comprehension.
    fn in_comprehension(&self, token: Token) -> bool {
        token.kind == Kind::For
            && self.stack.last().is_some_and(|f| matches!(f.open, Open::Bracket | Open::Paren))
    }

    /// Closes, with one error, all that cannot hold the statement end or beginning at `token`.
    fn unwind_to_statement(&mut self, token: Token) {
        if let Some(frame) = self.stack.last() {
            let (open, at) = (frame.open, frame.at);
            let error = self.mismatch(open, at, token);
            self.report(error);
        }
        while let Some(frame) = self.stack.last()
            && !frame.open.holds_statements()
        {
            self.forgiven[frame.open as usize] += 1;
            self.pop();
        }
    }

    fn mismatch(&self, open: Open, at: usize, token: Token) -> SyntaxError {
        let opener = self.out.tokens[at];
        SyntaxError::Mismatch {
            open: self.span(opener),
            opener: opener.kind,
            close: self.span(token),
            closer: token.kind,
            wanted: open.closer(),
            replace: false,
        }
    }

    /// `do` after the condition of an `if` or the subject of a `match` belongs to it.
    fn do_word(&mut self, token: Token) {
        match self.stack.last_mut() {
            Some(frame) if frame.open == Open::If => {
                self.out.tokens[frame.at].kind = Kind::IfDo;
                self.counts[Open::If as usize] -= 1;
                self.counts[Open::Do as usize] += 1;
                frame.open = Open::Do;
            }
            Some(frame) if frame.open == Open::Match && self.out.tokens[frame.at].kind == Kind::Match => {
                self.out.tokens[frame.at].kind = Kind::MatchDo;
                self.counts[Open::Match as usize] -= 1;
                self.counts[Open::Do as usize] += 1;
                frame.open = Open::Do;
            }
            _ => self.open(Open::Do, token),
        }
    }

    fn open(&mut self, open: Open, token: Token) {
        let outer = self.height();
        let base = outer.base + outer.deep + outer.dollars + 1;
        self.out.deepest = self.out.deepest.max(base);
        if base > DEEPEST {
            self.deep_error(token);
        }
        self.counts[open as usize] += 1;
        let height = Height { base, ..Height::default() };
        self.stack.push(Frame { open, at: self.out.tokens.len(), height });
    }

    fn pop(&mut self) {
        if let Some(mut frame) = self.stack.pop() {
            self.counts[frame.open as usize] -= 1;
            frame.height.separate(true);
            let inner = frame.height.finished + 1;
            let outer = self.height();
            outer.tallest = outer.tallest.max(inner);
        }
    }

    fn height(&mut self) -> &mut Height {
        match self.stack.last_mut() {
            Some(frame) => &mut frame.height,
            None => &mut self.ground,
        }
    }

    fn deep_error(&mut self, token: Token) {
        self.bad = true;
        if !self.too_deep {
            self.too_deep = true;
            let span = self.span(token);
            self.report(SyntaxError::TooDeep { span, limit: DEEPEST });
        }
    }

    /// A closer; true if it ends a block statement at the top level.
    fn close(&mut self, open: Open, token: Token) -> bool {
        let Some(top) = self.stack.last() else {
            return self.not_open(open, token);
        };
        let (top_open, top_at) = (top.open, top.at);
        if top_open != open {
            let opener = self.out.tokens[top_at].kind;
            let other_form = match (top_open, open) {
                (Open::Do, Open::If) => opener == Kind::IfDo,
                (Open::Do, Open::Match) => opener == Kind::MatchDo,
                (Open::If, Open::Do) => self.counts[Open::Do as usize] == 0,
                (Open::Match, Open::Do) => self.counts[Open::Do as usize] == 0,
                _ => false,
            };
            if other_form {
                let error = match self.mismatch(top_open, top_at, token) {
                    SyntaxError::Mismatch { open, opener, close, closer, wanted, .. } => {
                        SyntaxError::Mismatch { open, opener, close, closer, wanted, replace: true }
                    }
                    other => other,
                };
                self.report(error);
            } else if self.counts[open as usize] > 0 {
                let error = self.mismatch(top_open, top_at, token);
                self.report(error);
                while self.stack.last().is_some_and(|f| f.open != open) {
                    self.pop();
                }
            } else {
                return self.not_open(open, token);
            }
        }
        self.pop();
        self.out.tokens.push(token);
        if !self.stack.is_empty() {
            return false;
        }
        match token.kind {
            Kind::Done => true,
            Kind::RBrace => self.block_declaration,
            _ => self.bad && matches!(token.kind, Kind::Endif | Kind::Endmatch) && top_open == Open::Do,
        }
    }

    /// A closer with nothing to close is left out.
    fn not_open(&mut self, open: Open, token: Token) -> bool {
        let alone = self.out.tokens.len() == self.start;
        let was_bad = self.bad;
        let span = self.span(token);
        let forgiven = &mut self.forgiven[open as usize];
        let late = *forgiven > 0;
        *forgiven = forgiven.saturating_sub(1);
        // After one error in a statement its stray closers are consequences.
        if !was_bad && !late {
            self.report(SyntaxError::NotOpen { span, closer: token.kind });
        }
        self.bad = was_bad || !alone;
        false
    }

    fn synthetic_semicolon(&mut self) {
        if let Some(last) = self.out.tokens.last().copied() {
            self.out.tokens.push(Token {
                kind: Kind::Semi,
                glued: true,
                synthetic: true,
                offside: false,
                start: last.end,
                end: last.end,
            });
        }
    }

    fn end_statement(&mut self, semicolon_missing: bool) {
        let tokens = self.start..self.out.tokens.len();
        self.start = tokens.end;
        self.ground = Height::default();
        let only_semicolons = self.out.tokens[tokens.clone()].iter().all(|t| t.kind == Kind::Semi);
        if !only_semicolons {
            self.out.statements.push(Statement { tokens, bad: self.bad, semicolon_missing });
        }
        self.bad = false;
    }

    fn finish(mut self) -> Cut {
        if let Some(frame) = self.stack.last() {
            self.out.incomplete = true;
            let opener = self.out.tokens[frame.at];
            let end = self.source.text.trim_end().len();
            let error = SyntaxError::Unclosed {
                open: self.span(opener),
                opener: opener.kind,
                wanted: frame.open.closer(),
                end: Span::new(self.source.id, end, end),
            };
            // A text that is too deep is refused for that, wherever it ends.
            if !self.too_deep {
                self.report(error);
            }
            self.bad = true;
        }
        if self.out.tokens.len() > self.start {
            self.synthetic_semicolon();
            self.end_statement(false);
        }
        self.out
    }

    /// Counts what makes trees deep; see [`Height`].
    fn measure(&mut self, token: Token, before: Option<Kind>) {
        use Kind::*;
        let after_operand = before.is_some_and(Kind::ends_operand);
        let height = self.height();
        match token.kind {
            Semi => height.separate(true),
            Comma | CComma => height.separate(false),
            Bar => height.separate(true),
            Dollar => height.dollars += 1,
            Arrow | FatArrow | Perform | Pow | Bang | Not | Hash | Case | Aproj => height.deep += 1,
            Minus if !after_operand => height.deep += 1,
            Plus | Minus | Star | Slash | Percent | StarPlus | CStar | CPlus | CCaret | Caret | Dot
            | Pipe | Convert | Reshape | And | Or | As | EqEq | NotEq | Less | LessEq | Greater
            | GreaterEq | DotDot | DotDotLess | Elif => height.chain += 1,
            kind if after_operand && kind.begins_operand() => height.chain += 1,
            _ => return,
        }
        let (here, nested) = (height.here(), height.base + height.deep + height.dollars);
        self.out.deepest = self.out.deepest.max(nested);
        if nested > DEEPEST {
            self.deep_error(token);
        } else if here > LONGEST_CHAIN {
            self.bad = true;
            if !self.too_long {
                self.too_long = true;
                let span = self.span(token);
                self.report(SyntaxError::ChainTooLong { span, limit: LONGEST_CHAIN });
            }
        }
    }
}
