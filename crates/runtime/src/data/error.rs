//! Errors of files, `E10xx`.

use super::{Format, shape_text};
use crate::diagnostic::{Diagnostic, errors, escape_control};
use crate::source::Span;

errors! {
    /// The reason why a file is not read or written. The path is not part of it.
    #[derive(PartialEq)]
    pub enum DataError {
        /// The host has no file system.
        E1001 NoFileSystem,
        /// The file cannot be read; `why` follows "cannot be read: ".
        E1001 Unreadable {
            /// The reason, as text.
            why: String,
        },
        /// The file cannot be written; `why` follows "cannot be written: ".
        E1002 Unwritable {
            /// The reason, as text.
            why: String,
        },
        /// The bytes are not of the format.
        E1003 Malformed {
            /// The format of the file.
            format: Format,
            /// The reason, as text.
            why: String,
        },
        /// The shape is not that of the stated type; `fits` is the type of the file.
        E1004 Shape {
            /// The shape of the file.
            found: Vec<usize>,
            /// The stated type.
            ty: String,
            /// The reason, as text.
            why: String,
            /// The type that the file has.
            fits: String,
        },
        /// The cells are not of the stated type and cannot be converted to it.
        E1005 Element {
            /// The name of the column; empty if there is none.
            column: String,
            /// The type of the cells.
            found: String,
            /// The stated type of the cells.
            wanted: String,
            /// The type that the file has.
            fits: String,
        },
        /// One cell is not of the stated type.
        E1006 Cell {
            /// The position of the cell.
            place: String,
            /// The text of the cell.
            text: String,
            /// The stated type of the cells.
            wanted: String,
            /// The reason.
            why: CellMismatch,
        },
        /// The file has no column or array of this name; `similar` is a name that could be meant.
        E1007 MissingColumn {
            /// The kind of the missing part: a column or an array.
            what: &'static str,
            /// The name that was asked for.
            name: String,
            /// The names that the file has.
            there: Vec<String>,
            /// A name of the file that is similar.
            similar: Option<String>,
        },
        /// The user interrupted the work.
        E0511 Interrupted,
        /// The character cannot separate cells.
        E1010 InvalidSeparator {
            /// The character.
            found: char,
        },
        /// The picture cannot be saved in a file of this name.
        E1009 UnsupportedPicture {
            /// The reason, as text.
            why: String,
        },
        /// The type cannot be held by a file of this format.
        E1008 UnsupportedType {
            /// The format of the file.
            format: Format,
            /// The stated type.
            ty: String,
            /// The reason, as text.
            why: String,
        },
    }
}

/// The reason why a cell is not of the stated type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMismatch {
    /// The text is not of the type.
    Unparsable,
    /// The text is not of the type, and may be the name of a column.
    ColumnName,
    /// The cell is empty.
    Empty,
    /// An element of a list is empty.
    EmptyElement,
    /// The number is no code of the type.
    CodeOutOfRange,
    /// The element is missing: it is the value that stands for none.
    Missing,
    /// The index is below the first one, which `wanted` is.
    BelowStartIndex,
    /// The value that the caller gives for missing elements is not of the type.
    UnfitFill,
}

/// The reason for exceeding the memory bound.
pub const EXCEEDS_MEMORY_LIMIT: &str = "it takes more memory than may be used";

/// The number of column names that a message shows.
const MAX_SHOWN_NAMES: usize = 12;
/// The number of characters of a cell that a message shows.
const MAX_SHOWN_CHARS: usize = 40;

impl DataError {
    /// Returns the error of an empty cell.
    pub fn empty_cell(place: String, wanted: String) -> DataError {
        DataError::Cell { place, text: String::new(), wanted, why: CellMismatch::Empty }
    }

    /// Returns the error of an empty element of a list.
    pub fn empty_element(place: String, wanted: String) -> DataError {
        DataError::Cell { place, text: String::new(), wanted, why: CellMismatch::EmptyElement }
    }

    /// Returns the error of a file that exceeds the memory bound while it is written.
    pub fn too_large_to_write() -> DataError {
        DataError::Unwritable { why: EXCEEDS_MEMORY_LIMIT.to_string() }
    }

    /// Returns the error of a file whose cells exceed the memory bound.
    pub fn too_large(format: Format) -> DataError {
        DataError::Malformed { format, why: "it takes more memory than there is".to_string() }
    }

    /// Returns the message about the file at `path`.
    pub fn to_diagnostic(&self, path: &str, span: Span) -> Diagnostic {
        let path = escape_control(path);
        let error = |message: String, label: &str| Diagnostic::error(self.code(), span, message, label);
        match self {
            DataError::NoFileSystem => {
                error(format!("`{path}` is out of reach: there are no files here"), "asked for here")
                    .note("this program runs where it was given no files")
            }
            DataError::Unreadable { why } => error(format!("`{path}` cannot be read: {why}"), "read here"),
            DataError::Unwritable { why } => {
                error(format!("`{path}` cannot be written: {why}"), "written here")
                    .note("nothing there has changed")
            }
            DataError::Malformed { format, why } => {
                error(format!("`{path}` is not {} that can be read", format.name()), why)
            }
            DataError::Shape { found, ty, why, fits } => {
                error(format!("`{path}` holds {}, and `{ty}` is wanted", shape_held(found)), why)
                    .help(format!("its type is `{fits}`"))
            }
            DataError::Element { column, found, wanted, fits } => {
                let what = match column.as_str() {
                    "" => format!("`{path}` holds `{found}`"),
                    column => format!("column `{column}` of `{path}` holds `{found}`"),
                };
                let list = |ty: &str| ty.contains(" ^ ?");
                let how = match (found.as_str(), wanted.as_str()) {
                    (found, wanted) if list(found) && !list(wanted) => {
                        "a field of a struct, such as `values : real ^ ?K;`, reads lists"
                    }
                    (found, wanted) if list(wanted) && !list(found) => {
                        "each row has one value there, no list"
                    }
                    (found, _) if found.starts_with("string") => {
                        "`parse_int` and `parse_real` read numbers in texts"
                    }
                    (_, wanted) if wanted.starts_with("string") => "`.str` makes texts of what was read",
                    _ => "`:>` converts what was read",
                };
                error(format!("{what}, and `{wanted}` is wanted"), "read here")
                    .note("what is read is converted only where nothing can be lost")
                    .help(format!("its type is `{fits}`; {how}"))
            }
            DataError::Cell { place, text, wanted, why } => {
                let text: String = text.chars().take(MAX_SHOWN_CHARS).collect();
                let text = escape_control(&text);
                match why {
                    CellMismatch::Empty => {
                        error(format!("{place} of `{path}` is empty, and `{wanted}` is wanted"), "read here")
                            .help(format!("`option[{wanted}]` lets cells be empty"))
                    }
                    CellMismatch::EmptyElement => {
                        error(format!("{place} of `{path}` is empty, and `{wanted}` is wanted"), "read here")
                            .help("no element of a list may be empty: fill or drop such elements where the file is made")
                    }
                    CellMismatch::ColumnName => error(
                        format!("{place} of `{path}` is `{text}`, which is no `{wanted}`"),
                        "read here",
                    )
                    .help("names of columns are read by a record: `val x : (name:string, age:int) ^ ?N = csv …;`"),
                    CellMismatch::Unparsable => {
                        let d = error(
                            format!("{place} of `{path}` is `{text}`, which is no `{wanted}`"),
                            "read here",
                        );
                        let comma = text.parse::<f64>().is_err() && text.replacen(',', ".", 1).parse::<f64>().is_ok();
                        match comma {
                            true => d.help("no comma is part of a number: decimals stand behind a point"),
                            false if is_missing_value_word(&text) => d
                                .note("what is missing is an empty cell, and no word stands for it unasked")
                                .help(format!(
                                    "`csv ({path:?}, ',', 0, {text:?})` at `option[{wanted}]` reads such cells as `None`; or read the column as `string` and its numbers by `{}`",
                                    parser_name(wanted)
                                )),
                            false => d,
                        }
                    }
                    CellMismatch::Missing => error(
                        format!("{place} of `{path}` is missing, and `{wanted}` is wanted"),
                        "read here",
                    )
                    .note(format!("the file has {text} there, which stands for no value"))
                    .help(format!("`option[{wanted}]` reads it as `None`, and `netcdf (path, name, x)` as `x`")),
                    CellMismatch::BelowStartIndex => error(
                        format!("{place} of `{path}` is {text}, which is no index: they begin at {wanted}"),
                        "read here",
                    ),
                    CellMismatch::UnfitFill => error(
                        format!("{place} of `{path}` is missing, and {text} for it is no `{wanted}`"),
                        "read here",
                    ),
                    CellMismatch::CodeOutOfRange => error(
                        format!("{place} of `{path}` is {text}, which is no code of `{wanted}`"),
                        "read here",
                    ),
                }
            }
            DataError::MissingColumn { what, name, there, similar } => {
                let d = error(format!("`{path}` has no {what} `{name}`"), "read here");
                let mut shown: Vec<String> =
                    there.iter().take(MAX_SHOWN_NAMES).map(|name| format!("`{name}`")).collect();
                if there.len() > MAX_SHOWN_NAMES {
                    shown.push(format!("{} more", there.len() - MAX_SHOWN_NAMES));
                }
                let d = match shown.is_empty() {
                    true => d.note(format!("it has no {what} with a name")),
                    false => d.note(format!("it has {}", shown.join(", "))),
                };
                match similar {
                    Some(similar) => d.help(format!("did you mean `{similar}`?")),
                    None => d,
                }
            }
            DataError::Interrupted => error("interrupted".to_string(), "stopped here"),
            DataError::InvalidSeparator { found } => {
                error(format!("`{found:?}` cannot stand between the cells of a line"), "asked for here")
                    .help("take one of `','`, `';'`, `'\\t'`, `'|'`, `' '`")
            }
            DataError::UnsupportedPicture { why } => {
                error(format!("this picture cannot be saved as `{path}`"), "saved here").note(why.clone())
            }
            DataError::UnsupportedType { format, ty, why } => {
                error(format!("`{ty}` is no type of {}", format.name()), why)
            }
        }
    }
}

/// Returns the description of a shape.
fn shape_held(shape: &[usize]) -> String {
    match shape {
        [] => "one value".to_string(),
        [1] => "1 element".to_string(),
        [n] => format!("{n} elements"),
        _ => format!("an array of {}", shape_text(shape)),
    }
}

/// Returns true if a text is a word by which other programs mark a missing value.
fn is_missing_value_word(text: &str) -> bool {
    let words =
        ["na", "n/a", "#n/a", "nan", "null", "nil", "none", "nothing", "missing", "-", "--", "?", "."];
    words.contains(&text.to_ascii_lowercase().as_str())
}

/// Returns the name of the function that parses a number of this type.
fn parser_name(wanted: &str) -> &'static str {
    if matches!(wanted, "real" | "f64" | "f32") { "parse_real" } else { "parse_int" }
}
