//! The tree of `import`.

use super::Name;
use crate::source::Span;
use std::sync::Arc;

/// `import target as alias (names);`
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported module.
    pub target: ImportTarget,
    /// The name of the module here.
    pub alias: Option<Name>,
    /// The names accessible without the module's name.
    pub names: ImportNames,
}

impl Import {
    /// Returns the name of the module here: its alias, or the name of the file or library part. The
    /// name of a file may not be an identifier.
    pub fn module_name(&self) -> Name {
        match (&self.alias, &self.target) {
            (Some(alias), _) => alias.clone(),
            (None, ImportTarget::Library(name)) => name.clone(),
            (None, ImportTarget::File { path, span }) => Name { text: stem(path).into(), span: *span },
        }
    }
}

/// Returns the name of a file without folders and `.flx`.
pub fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".flx").unwrap_or(file)
}

/// The target of an `import`.
#[derive(Clone, Debug)]
pub enum ImportTarget {
    /// A file.
    File {
        /// The path, its escapes resolved.
        path: Arc<str>,
        /// The span of the string.
        span: Span,
    },
    /// A part of the standard library.
    Library(Name),
}

impl ImportTarget {
    /// Returns the span of the target.
    pub fn span(&self) -> Span {
        match self {
            ImportTarget::File { span, .. } => *span,
            ImportTarget::Library(name) => name.span,
        }
    }
}

/// The names of a module that an `import` makes accessible without the module's name.
#[derive(Clone, Debug)]
pub enum ImportNames {
    /// None.
    Qualified,
    /// `(area, Point)`.
    Listed(Vec<Name>),
    /// `(*)`.
    All {
        /// The span of the star.
        span: Span,
    },
}
