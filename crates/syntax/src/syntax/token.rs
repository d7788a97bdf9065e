//! Tokens: their kinds, positions and descriptions.
//!
//! The kinds carry the regular expressions that `logos` compiles to the automaton of
//! [`super::lexer`].

use logos::Logos;

/// The kind of a token. The text of names and literals is read back through the token's position.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{FEFF}]+")]
#[repr(u8)]
#[rustfmt::skip]
#[allow(missing_docs)] // each variant is the token written beside it
pub enum TokenKind {
    #[regex(r"[0-9][0-9_]*", priority = 10)]
    #[regex(r"0[xX][0-9a-fA-F_]+", priority = 10)]
    #[regex(r"0[bB][01_]+", priority = 11)]
    Int,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?", priority = 10)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*", priority = 10)]
    Real,
    /// A number with one of the suffixes of `literal::SUFFIXES`: distinguished from
    /// [`TokenKind::BadNumber`] by hand.
    Suffixed,
    /// Digits run into letters: `12abc`, `0xg`.
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z_'][A-Za-z0-9_']*", priority = 1)]
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[eE][+-]?[0-9][0-9_]*[A-Za-z_'][A-Za-z0-9_']*", priority = 3)]
    BadNumber,
    /// A character: its quote, from which the lexer reads on by hand.
    #[token("'")]
    Char,
    /// A text; from `"""` the lexer reads on by hand.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#, priority = 10)]
    #[token("\"\"\"", priority = 20)]
    Str,
    /// `f"…"` without values in it.
    #[regex(r#"f"([^"\\\n]|\\[^\n])*""#, priority = 12)]
    InterpolatedStr,
    /// `f"… {`: up to the first value.
    InterpolatedOpen,
    /// `:8.3} … {`: between two values, with the form of the first.
    InterpolatedMiddle,
    /// `:8.3} …"`: after the last value.
    InterpolatedClose,
    /// A string that its line ends.
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#, priority = 1)]
    BadStr,
    #[regex(r"[A-Za-z_][A-Za-z0-9_']*", priority = 2)]
    #[regex(r#"n"([^"\\\n]|\\[^\n])*""#, priority = 2)]
    Name,
    /// A name of a module, `geometry::area`: one token, for no blank stands in it.
    #[regex(r"[A-Za-z_][A-Za-z0-9_']*(::[A-Za-z_][A-Za-z0-9_']*)+", priority = 3)]
    Qualified,
    #[token("_", priority = 12)] Underscore,

    #[token("fun")] Fun,
    #[token("proc")] Proc,
    #[token("var")] Var,
    #[token("val")] Val,
    #[token("typedef")] Typedef,
    #[token("typefun")] Typefun,
    #[token("typematch")] Typematch,
    #[token("struct")] Struct,
    #[token("variant")] Variant,
    #[token("enum")] Enum,
    #[token("newtype")] Newtype,
    #[token("class")] Class,
    #[token("instance")] Instance,
    #[token("law")] Law,
    #[token("require")] Require,
    #[token("match")] Match,
    /// `match e do`, distinguished by the bracket pass.
    MatchDo,
    #[token("with")] With,
    #[token("endmatch")] Endmatch,
    #[token("if")] If,
    /// `if c do` and `if c perform`, distinguished by the bracket pass.
    IfDo,
    /// `in` between an index and a set, as the bracket pass tells it.
    InSet,
    #[token("then")] Then,
    #[token("elif")] Elif,
    #[token("else")] Else,
    #[token("endif")] Endif,
    #[token("for")] For,
    #[token("in")] In,
    #[token("do")] Do,
    #[token("done")] Done,
    #[token("perform")] Perform,
    #[token("while")] While,
    #[token("break")] Break,
    #[token("continue")] Continue,
    #[token("return")] Return,
    #[token("case")] Case,
    #[token("of")] Of,
    #[token("proj")] Proj,
    #[token("aproj")] Aproj,
    #[token("ainj")] Ainj,
    #[token("and")] And,
    #[token("or")] Or,
    #[token("not")] Not,
    #[token("as")] As,
    #[token("when")] When,
    #[token("true")] True,
    #[token("false")] False,
    #[token("type")] Type,
    #[token("kind")] KindWord,
    #[token("export")] Export,
    #[token("import")] Import,

    /// `at` before places and a `{`, distinguished by the bracket pass.
    At,
    /// `party` before a name and a `=`, distinguished by the bracket pass.
    Party,
    /// `joint` before `fun`, distinguished by the bracket pass.
    Joint,

    #[token("@")] AtSign,
    #[token("(")] LParen,
    #[token(")")] RParen,
    #[token("[")] LBracket,
    #[token("]")] RBracket,
    #[token("{")] LBrace,
    #[token("}")] RBrace,
    #[token(",")] Comma,
    #[token(";")] Semi,
    #[token(":")] Colon,
    #[token(":>")] Convert,
    #[token(":>>")] Reshape,
    #[token(".")] Dot,
    #[token("..")] DotDot,
    #[token("..<")] DotDotLess,
    /// `upto` in the head of a loop, distinguished by the bracket pass.
    Upto,
    #[token("|")] Bar,
    #[token("|>")] Pipe,
    #[token("$")] Dollar,
    #[token("#")] Hash,
    #[token("&")] Amp,
    #[token("`")] Tick,
    #[token("?")] Question,
    #[token("<-")] LArrow,
    #[token("->")] Arrow,
    #[token("=>")] FatArrow,
    #[token("=")] Assign,
    #[token("+=")] PlusAssign,
    #[token("-=")] MinusAssign,
    #[token("*=")] StarAssign,
    #[token("/=")] SlashAssign,
    #[token("%=")] PercentAssign,
    #[token("**=")] PowAssign,
    #[token("==")] EqEq,
    #[token("!=")] NotEq,
    #[token("<")] Less,
    #[token("<=")] LessEq,
    #[token(">")] Greater,
    #[token(">=")] GreaterEq,
    #[token("!")] Bang,
    #[token("+")] Plus,
    #[token("-")] Minus,
    #[token("*")] Star,
    #[token("/")] Slash,
    #[token("%")] Percent,
    #[token("**")] Pow,
    #[token("^")] Caret,
    #[token("*+")] StarPlus,
    #[token("\\*")] CStar,
    #[token("\\+")] CPlus,
    #[token("\\^")] CCaret,
    #[token("\\,")] CComma,

    // Never in a token list: the lexer reads on by hand from these.
    #[token("//")] LineComment,
    #[token("/*")] BlockComment,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// No blank and no comment separates it from the token before.
    pub glued: bool,
    /// True for the end of a statement that the bracket pass inserted: not in the text.
    pub synthetic: bool,
    /// True for a token that begins a line indented no deeper than the statement it would continue
    /// as an argument: determined by the bracket pass.
    pub offside: bool,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl TokenKind {
    /// Returns the description of the token in messages.
    pub fn description(self) -> &'static str {
        use TokenKind::*;
        match self {
            Int => "a number",
            Real => "a real number",
            Upto => "`upto`",
            InterpolatedStr | InterpolatedOpen => "a text with values",
            InterpolatedMiddle | InterpolatedClose => "the `}` of a value in a text",
            Suffixed => "a number with a suffix",
            BadNumber => "a malformed number",
            Char => "a character",
            Str => "a string",
            BadStr => "an unfinished string",
            Name => "a name",
            Qualified => "a qualified name",
            Underscore => "`_`",
            Fun => "`fun`",
            Proc => "`proc`",
            Var => "`var`",
            Val => "`val`",
            Typedef => "`typedef`",
            Typefun => "`typefun`",
            Typematch => "`typematch`",
            Struct => "`struct`",
            Variant => "`variant`",
            Enum => "`enum`",
            Newtype => "`newtype`",
            Class => "`class`",
            Instance => "`instance`",
            Law => "`law`",
            Require => "`require`",
            Match | MatchDo => "`match`",
            With => "`with`",
            Endmatch => "`endmatch`",
            If | IfDo => "`if`",
            Then => "`then`",
            Elif => "`elif`",
            Else => "`else`",
            Endif => "`endif`",
            For => "`for`",
            In | InSet => "`in`",
            Do => "`do`",
            Done => "`done`",
            Perform => "`perform`",
            While => "`while`",
            Break => "`break`",
            Continue => "`continue`",
            Return => "`return`",
            Case => "`case`",
            Of => "`of`",
            Proj => "`proj`",
            Aproj => "`aproj`",
            Ainj => "`ainj`",
            And => "`and`",
            Or => "`or`",
            Not => "`not`",
            As => "`as`",
            When => "`when`",
            True => "`true`",
            False => "`false`",
            Type => "`type`",
            KindWord => "`kind`",
            Export => "`export`",
            Import => "`import`",
            At => "`at`",
            Party => "`party`",
            Joint => "`joint`",
            AtSign => "`@`",
            LParen => "`(`",
            RParen => "`)`",
            LBracket => "`[`",
            RBracket => "`]`",
            LBrace => "`{`",
            RBrace => "`}`",
            Comma => "`,`",
            Semi => "`;`",
            Colon => "`:`",
            Convert => "`:>`",
            Reshape => "`:>>`",
            Dot => "`.`",
            DotDot => "`..`",
            DotDotLess => "`..<`",
            Bar => "`|`",
            Pipe => "`|>`",
            Dollar => "`$`",
            Hash => "`#`",
            Amp => "`&`",
            Tick => "a backtick",
            Question => "`?`",
            LArrow => "`<-`",
            Arrow => "`->`",
            FatArrow => "`=>`",
            Assign => "`=`",
            PlusAssign => "`+=`",
            MinusAssign => "`-=`",
            StarAssign => "`*=`",
            SlashAssign => "`/=`",
            PercentAssign => "`%=`",
            PowAssign => "`**=`",
            EqEq => "`==`",
            NotEq => "`!=`",
            Less => "`<`",
            LessEq => "`<=`",
            Greater => "`>`",
            GreaterEq => "`>=`",
            Bang => "`!`",
            Plus => "`+`",
            Minus => "`-`",
            Star => "`*`",
            Slash => "`/`",
            Percent => "`%`",
            Pow => "`**`",
            Caret => "`^`",
            StarPlus => "`*+`",
            CStar => "`\\*`",
            CPlus => "`\\+`",
            CCaret => "`\\^`",
            CComma => "`\\,`",
            LineComment | BlockComment => "a comment",
        }
    }

    /// Returns true for a keyword, which cannot be a name.
    pub fn is_keyword(self) -> bool {
        (TokenKind::Fun as u8..=TokenKind::Import as u8).contains(&(self as u8))
    }

    /// Returns true for a token that can only begin a statement.
    pub fn begins_statement(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Var | Val
                | Typedef
                | Typefun
                | KindWord
                | Type
                | Struct
                | Variant
                | Enum
                | Newtype
                | Class
                | Party
                | Joint
                | Instance
                | Require
                | Export
                | Import
                | For
                | While
                | Break
                | Continue
                | Return
        )
    }

    /// Returns true for a token that may end an operand.
    pub fn ends_operand(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Int | Real
                | Suffixed
                | Char
                | Str
                | InterpolatedStr
                | InterpolatedClose
                | Name
                | Qualified
                | Underscore
                | True
                | False
                | RParen
                | RBracket
                | RBrace
                | Endif
                | Endmatch
        )
    }

    /// Returns true for a token that continues an expression after an operand.
    pub fn continues_operand(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Dot | Pipe
                | Reshape
                | Convert
                | Plus
                | Minus
                | Star
                | Slash
                | Percent
                | Pow
                | EqEq
                | NotEq
                | Less
                | LessEq
                | Greater
                | GreaterEq
                | And
                | Or
                | Comma
                | CComma
        )
    }

    /// Returns true for a token that may begin an operand, which after another operand is an
    /// argument.
    pub fn begins_operand(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Int | Real
                | Suffixed
                | Char
                | Str
                | InterpolatedStr
                | InterpolatedOpen
                | Name
                | Qualified
                | Underscore
                | True
                | False
                | LParen
                | LBracket
                | Tick
                | Hash
                | If
                | Match
                | Question
                | At
        )
    }
}
