//! Help for readers of files without a stated type: the type of the file.
//!
//! Takes the diagnostics of an input; where one requests the type of a file
//! ([`HelpRequest::FileType`]) and the file exists, its help becomes the type of that file, with
//! the edit that states it. Reads files only for an input that was rejected, never while a text is
//! being written.

use super::Session;
use bytes::Bytes;
use felis_base::diagnostic::{Diagnostic, Help, HelpRequest};
use felis_base::source::Span;
use felis_runtime::data::{self, Format, Limits, Separator};
use felis_syntax::syntax;

/// The largest file that is looked into, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

impl Session {
    /// Adds the type of the file to diagnostics that a reader's result type is missing.
    pub(super) fn suggest_file_types(&self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics.iter_mut().filter(|d| d.help_request == Some(HelpRequest::FileType)) {
            if let Some(help) = self.file_type_help(diagnostic.primary.span) {
                diagnostic.help = Some(help);
            }
        }
    }

    /// Returns the help for a call of a reader: the type of its file.
    fn file_type_help(&self, span: Span) -> Option<Help> {
        let source = self.sources.get(span.source)?;
        let reader = source.text.get(span.range())?;
        let format = match reader {
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "csv" => Format::Csv(Separator::COMMA),
            "arrow" => Format::Arrow,
            "parquet" => Format::Parquet,
            "netcdf" | "ugrid" => Format::Netcdf,
            _ => return None,
        };
        let after = source.text.get(span.end as usize..)?;
        let (path, rest) = leading_string(after.trim_start_matches([' ', '(', '$']))?;
        let part = rest.trim_start().strip_prefix(',').and_then(|rest| leading_string(rest.trim_start()));
        let format = match format {
            Format::Csv(_) => Format::Csv(csv_separator(path, rest)?),
            format => format,
        };
        let (files, most) = (self.files.as_ref()?, MAX_FILE_BYTES.min(self.memory));
        let bytes = match format {
            // The header or the footer of these holds their types.
            Format::Npy | Format::Arrow | Format::Parquet | Format::Netcdf => files.map(path, most).ok()?,
            _ => files.read(path, most).map(Bytes::from).ok()?,
        };
        let limits = Limits { memory: self.memory, interrupt: &self.interrupt };
        let part = part.map(|(part, _)| part);
        let found = match reader {
            "ugrid" => data::describe_connectivity(&bytes, part?, &limits)?,
            _ => data::describe(format, &bytes, part, &syntax::name_of, &limits)?,
        };
        let ty = match found.declaration {
            None => found.ty,
            Some(declared) => {
                let ty = found.ty;
                let text = format!(
                    "`{path}` is `{ty}` with `{declared}`: declare it, and state the type where the result gets its name"
                );
                return Some(Help { text, edits: Vec::new() });
            }
        };
        let before = source.text.get(..span.start as usize)?;
        let text = format!("`{path}` is `{ty}`: state it where the result gets its name");
        Some(Help {
            text,
            edits: annotation_place(before).map(|at| annotation_edit(span, at, &ty)).into_iter().collect(),
        })
    }
}

/// The text in quotes that a text begins with, and what follows.
fn leading_string(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = text.strip_prefix('"')?.split_once('"')?;
    (!inside.contains('\\')).then_some((inside, rest))
}

/// Returns the separator of cells: the character after the path in the call, or that of the path's
/// extension.
fn csv_separator(path: &str, rest: &str) -> Option<Separator> {
    let Some(given) =
        rest.trim_start().strip_prefix(',').and_then(|rest| rest.trim_start().strip_prefix('\''))
    else {
        return Some(Separator::of_path(path));
    };
    let (inside, _) = given.split_once('\'')?;
    Separator::of_char(match inside {
        "\\t" => '\t',
        inside => inside.parse().ok()?,
    })
}

/// Returns the byte at which a type can be inserted, if `before` ends in a definition without one:
/// `val x = `.
fn annotation_place(before: &str) -> Option<usize> {
    let name = before.trim_end().strip_suffix('=')?.trim_end();
    let start = name.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    let keyword = name[..start].trim_end();
    let defines = keyword.ends_with("val") || keyword.ends_with("var");
    (defines && start < name.len()).then_some(name.len())
}

/// Returns the edit that inserts a type.
fn annotation_edit(span: Span, at: usize, ty: &str) -> (Span, String) {
    (Span { start: at as u32, end: at as u32, ..span }, format!(" : {ty}"))
}
