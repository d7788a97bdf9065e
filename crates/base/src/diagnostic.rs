//! Diagnostics: the messages of all stages, and their rendering.
//!
//! Takes a code, a sentence, labeled spans, notes and helps from any stage; gives text through
//! `ariadne`. Independent of the stages.

mod code;
mod wrap;

pub use code::Code;
pub use code::errors;

pub use wrap::fill_paragraphs;

use crate::source::{self, SourceId, SourceMap, Span};
use ariadne::{CharSet, Color, Config, IndexType, Label as Mark, Report, ReportKind};
use std::borrow::Cow;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is refused, or stopped.
    Error,
    /// The program runs; something in it is doubtful.
    Warning,
    /// The program is accepted; the note is information.
    Note,
}

/// A text attached to a span.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// A description of the code at the span.
    pub text: String,
}

/// A suggestion, with the edits that apply it where there are any.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// A sentence for people.
    pub text: String,
    /// Replacements of spans by texts. All of them together apply the suggestion; they do not
    /// overlap.
    pub edits: Vec<(Span, String)>,
}

impl Help {
    /// Makes a suggestion without edits.
    pub fn new(text: impl Into<String>) -> Help {
        Help { text: text.into(), edits: Vec::new() }
    }

    /// Makes a suggestion to replace the text at `span`.
    pub fn instead(text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Help {
        Help { text: text.into(), edits: vec![(span, replacement.into())] }
    }

    /// Makes a suggestion to parenthesize the expression at `span`: `inside` goes before the
    /// closing parenthesis, `after` behind it.
    pub fn around(text: impl Into<String>, span: Span, inside: &str, after: &str) -> Help {
        Help::enclosing(text, span, "(".into(), format!("{inside}){after}"))
    }

    /// Makes a suggestion to write something before and after the expression at `span`.
    pub fn enclosing(text: impl Into<String>, span: Span, before: String, after: String) -> Help {
        let start = Span { end: span.start, ..span };
        Help { text: text.into(), edits: vec![(start, before), (span.after(), after)] }
    }
}

impl From<String> for Help {
    fn from(text: String) -> Help {
        Help::new(text)
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Help {
        Help::new(text)
    }
}

/// A diagnostic.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The stable code, such as `E0102`.
    pub code: Code,
    /// The message: one sentence without a period.
    pub message: String,
    /// The place of the problem.
    pub primary: Label,
    /// The other places that are involved.
    pub labels: Vec<Label>,
    /// Facts that explain the problem.
    pub notes: Vec<String>,
    /// The preferred suggestion.
    pub help: Option<Help>,
    /// Further suggestions, where the intention of the author is open.
    pub alternatives: Vec<Help>,
    /// A suggestion that a later stage, which knows more, can make.
    pub help_request: Option<HelpRequest>,
}

/// A suggestion that the stage which reports an error cannot make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpRequest {
    /// The import of the module of the library that exports the unknown name at the primary span;
    /// else, if there is no suggestion yet, a similar name of the library.
    LibraryName,
    /// The type of the file that the reader at the primary span reads.
    FileType,
}

impl Diagnostic {
    /// Makes an error at `span`; `label` describes the code there.
    pub fn error(
        code: impl Into<Code>,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: code.into(),
            message: message.into(),
            primary: Label { span, text: label.into() },
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            alternatives: Vec::new(),
            help_request: None,
        }
    }

    /// Makes a warning at `span`; `label` describes the code there.
    pub fn warning(
        code: impl Into<Code>,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message, label) }
    }

    /// Makes a note at `span`; `label` describes the code there.
    pub fn note_at(
        code: impl Into<Code>,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(code, span, message, label) }
    }

    /// Adds a secondary label.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Sets the preferred suggestion.
    pub fn help(mut self, help: impl Into<Help>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Sets the preferred suggestion, with one edit that applies it.
    pub fn fix(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Diagnostic {
        self.help = Some(Help::instead(text, span, replacement));
        self
    }

    /// Adds a further suggestion.
    pub fn alternative(mut self, help: Help) -> Diagnostic {
        self.alternatives.push(help);
        self
    }

    /// Requests a suggestion from a later stage.
    pub fn request_help(mut self, request: HelpRequest) -> Diagnostic {
        self.help_request = Some(request);
        self
    }

    /// Returns all suggestions, the preferred one first.
    pub fn helps(&self) -> impl Iterator<Item = &Help> {
        self.help.iter().chain(&self.alternatives)
    }

    /// Returns true if the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Applies those edits that belong to `source` to its text.
pub fn apply_edits(text: &str, source: SourceId, edits: &[(Span, String)]) -> String {
    let mut own: Vec<&(Span, String)> = edits.iter().filter(|(span, _)| span.source == source).collect();
    own.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = text.to_string();
    for (span, replacement) in own.into_iter().rev().filter(|(span, _)| text.get(span.range()).is_some()) {
        out.replace_range(span.range(), replacement);
    }
    out
}

/// A cache of source texts for `ariadne`, built for each report from the texts that it names.
struct ReportSources<'a> {
    map: &'a SourceMap,
    truncated: &'a wrap::TruncatedLines,
    built: Vec<(SourceId, ariadne::Source<String>)>,
}

impl ariadne::Cache<SourceId> for ReportSources<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &SourceId) -> Result<&ariadne::Source<String>, impl std::fmt::Debug> {
        let at = match self.built.iter().position(|(known, _)| known == id) {
            Some(at) => at,
            None => {
                let Some(source) = self.map.get(*id) else {
                    return Err("unknown source");
                };
                self.built.push((
                    *id,
                    ariadne::Source::from(self.truncated.text(*id, replace_control(&source.text))),
                ));
                self.built.len() - 1
            }
        };
        Ok(&self.built[at].1)
    }

    fn display<'a>(&self, id: &'a SourceId) -> Option<impl std::fmt::Display + 'a> {
        self.map.get(*id).map(|source| escape_control(&source.name).into_owned())
    }
}

/// The length in bytes from which a source line is not quoted.
const MAX_QUOTED_LINE_BYTES: usize = 2_000;

/// Renders a diagnostic as text. Lines have no trailing blanks.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    render_within(diagnostic, sources, color, None)
}

/// Renders a diagnostic for a terminal. With a number of columns, prose is wrapped at words, and of
/// source lines that are too wide the part around the span is shown.
pub fn render_within(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    color: bool,
    columns: Option<usize>,
) -> String {
    let text = render_report(diagnostic, sources, color, columns);
    let Some(columns) = columns else {
        return text;
    };
    let labels = diagnostic.labels.iter().chain([&diagnostic.primary]).map(|label| &label.text);
    let prose = labels.chain(&diagnostic.notes).chain(diagnostic.helps().map(|help| &help.text));
    let prose: Vec<Cow<str>> =
        prose.chain([&diagnostic.message]).map(|text| escape_control_lines(text)).collect();
    let prose: Vec<&str> = prose.iter().flat_map(|text| text.lines()).map(str::trim_end).collect();
    wrap::wrap_message(&text, &prose, columns)
}

/// Renders a diagnostic without wrapping its prose.
fn render_report(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    color: bool,
    columns: Option<usize>,
) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
        Severity::Note => ReportKind::Advice,
    };
    if !is_quotable(diagnostic, sources, if columns.is_some() { usize::MAX } else { MAX_QUOTED_LINE_BYTES }) {
        return render_plain(diagnostic, sources);
    }
    let cuts = wrap::TruncatedLines::new(diagnostic, sources, columns);
    let place = |span: Span| (span.source, cuts.map_span(span));
    let config = Config::default()
        .with_color(color)
        .with_index_type(IndexType::Byte)
        .with_char_set(CharSet::Unicode)
        .with_compact(false);
    let mut report = Report::build(kind, place(diagnostic.primary.span))
        .with_config(config)
        .with_code(diagnostic.code.as_str())
        .with_message(escape_control_lines(&diagnostic.message).into_owned());
    let color_of_primary = match diagnostic.severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Note => Color::Blue,
    };
    // Labels of one text are ordered from top to bottom, or `ariadne` would quote the text in
    // pieces; labels of the primary text come first.
    let primary = (&diagnostic.primary, color_of_primary);
    let mut marks: Vec<(&Label, Color)> =
        std::iter::once(primary).chain(diagnostic.labels.iter().map(|l| (l, Color::Cyan))).collect();
    let line = |span: Span| {
        let text = sources.get(span.source).map_or("", |s| &s.text);
        source::line_number(text, (span.end as usize).saturating_sub(1))
    };
    marks.sort_by_key(|(label, _)| {
        let span = label.span;
        (span.source != diagnostic.primary.span.source, span.source, line(span))
    });
    for (order, (label, color)) in marks.into_iter().enumerate() {
        let mut mark = Mark::new(place(label.span)).with_color(color).with_order(order as i32);
        if !label.text.is_empty() {
            mark = mark.with_message(escape_control_lines(&label.text).into_owned());
        }
        report = report.with_label(mark);
    }
    for note in &diagnostic.notes {
        report = report.with_note(escape_control_lines(note).into_owned());
    }
    for help in diagnostic.helps() {
        report = report.with_help(escape_control_lines(&help.text).into_owned());
    }
    let mut bytes = Vec::new();
    let texts = ReportSources { map: sources, truncated: &cuts, built: Vec::new() };
    if report.finish().write(texts, &mut bytes).is_err() {
        return render_plain(diagnostic, sources);
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    for label in diagnostic.labels.iter().chain([&diagnostic.primary]) {
        if let (Some((shown, is)), Some(source)) =
            (cuts.line_and_column(label.span, sources), sources.get(label.span.source))
        {
            let name = escape_control(&source.name);
            text = text.replacen(&format!(" {name}:{shown} "), &format!(" {name}:{is} "), 1);
        }
    }
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns true if every line that a diagnostic points at exists and has less than `longest` bytes.
fn is_quotable(diagnostic: &Diagnostic, sources: &SourceMap, longest: usize) -> bool {
    let spans = diagnostic.labels.iter().map(|l| l.span).chain([diagnostic.primary.span]);
    spans.into_iter().all(|span| {
        let Some(source) = sources.get(span.source) else {
            return false;
        };
        let (start, end) = (span.start as usize, span.end as usize);
        if end > source.text.len() || start > end {
            return false;
        }
        let bytes = source.text.as_bytes();
        let before = bytes[..start].iter().rev().take_while(|&&b| b != b'\n').take(longest).count();
        let after = bytes[end..].iter().take_while(|&&b| b != b'\n').take(longest).count();
        let inside = source.text[start..end].lines().map(str::len).max().unwrap_or(0);
        before + after + inside < longest
    })
}

/// Escapes a foreign text, such as a file name, for one line of a message: control characters, and
/// characters that change the reading direction.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if obeyed(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Escapes each line of a message as [`escape_control`] does; tabs stay.
pub fn escape_control_lines(text: &str) -> Cow<'_, str> {
    if !text
        .contains(|c: char| c != '\n' && c != '\t' && escape_control(c.encode_utf8(&mut [0; 4])).len() > 4)
    {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t");
    Cow::Owned(text.split('\n').map(line).collect::<Vec<_>>().join("\n"))
}

/// Replaces control characters, and characters that change the reading direction, by others of as
/// many bytes.
fn replace_control(text: &str) -> String {
    let shown = |c: char| match c {
        // Line ends stay.
        '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' => c,
        '\u{80}'..'\u{a0}' => '¿',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => '?',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Renders a diagnostic without source lines, for places that cannot be quoted.
fn render_plain(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Note => "Advice",
    };
    let mut out = format!("[{}] {kind}: {}\n", diagnostic.code, escape_control_lines(&diagnostic.message));
    let span = diagnostic.primary.span;
    if let Some(source) = sources.get(span.source) {
        let upto = &source.text.as_bytes()[..(span.start as usize).min(source.text.len())];
        let line = source::line_number(upto, upto.len());
        let column = upto.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        out.push_str(&format!(
            "  at {}:{line}:{column}: {}\n",
            escape_control(&source.name),
            escape_control_lines(&diagnostic.primary.text)
        ));
    }
    for note in &diagnostic.notes {
        out.push_str(&format!("  Note: {}\n", escape_control_lines(note)));
    }
    for help in diagnostic.helps() {
        out.push_str(&format!("  Help: {}\n", escape_control_lines(&help.text)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_shown_on_one_line() {
        assert_eq!(escape_control("a \u{e9} b"), "a \u{e9} b");
        assert_eq!(
            escape_control("\u{1b}[31m\n\t\u{7f}\u{9b}\u{202e}"),
            r"\u{1b}[31m\n\t\u{7f}\u{9b}\u{202e}"
        );
        assert_eq!(escape_control_lines("a\n\u{7}b\tc\n"), "a\n\\u{7}b\tc\n");
    }

    /// Control characters and direction marks of a source are not passed to the terminal.
    #[test]
    fn what_is_quoted_commands_no_terminal() {
        let mut sources = SourceMap::default();
        let text = "val x = \u{1b}[2J\u{9b}\u{202e}y;\n".to_string();
        let id = sources.add("p.flx", text).id;
        let span = Span::new(id, 8, 12);
        let diagnostic = Diagnostic::error("E0101", span, "a \u{1b}[31m sign", "\u{7}here");
        let shown = render(&diagnostic, &sources, false);
        assert!(shown.contains("val x = ?[2J¿\u{fffd}y;") && shown.contains(r"a \u{1b}[31m sign"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{shown}");
        assert!(!render_plain(&diagnostic, &sources).contains('\u{1b}'));
    }
}
