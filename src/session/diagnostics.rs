//! The diagnostics that the session itself reports, not a stage.

use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;

/// Returns the diagnostic for a check that was interrupted, which is that of an interrupted
/// program.
pub(super) fn interruption(span: Span) -> Diagnostic {
    Diagnostic::error("E0511", span, "interrupted", "stopped here")
}

/// Returns the diagnostic for a panic in a stage.
pub(super) fn internal_error(span: Span) -> Diagnostic {
    Diagnostic::error("E0999", span, "Felis itself has failed", "while it worked on this")
        .note("this is a mistake in Felis, not in your program; nothing has changed")
        .help("please report it together with the program")
}
