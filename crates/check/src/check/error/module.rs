//! `E09xx`: modules and imports.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;

errors! {
    /// The errors about modules and imports.
    pub enum ModuleError {
        /// An import of a file that does not exist.
        E0901 NoFile { span: Span, path: String, looked: String, similar: Option<String> },
        /// An import of a file that cannot be read.
        E0902 Unreadable { span: Span, path: String, why: String },
        /// A module that imports itself through others.
        E0903 Cycle { span: Span, chain: Vec<String> },
        /// A qualified name `m::x` without a module `m`.
        E0904 UnknownModule { span: Span, module: String, similar: Option<String>, part: bool },
        /// A module in place of a value: `m.x`.
        E0915 NoValue { span: Span, module: String, example: Option<String> },
        /// A qualified name `m::x` where `m` has no `x`.
        E0905 NotInModule { span: Span, module: String, name: String, file: String, similar: Option<Respelled> },
        /// A qualified name `m::x` where `m` does not export `x`.
        E0906 Private { span: Span, name: String, file: String, declared: Span },
        /// An import of a file whose file name is not a name.
        E0907 NoName { span: Span, path: String, alias: String },
        /// Two modules of the same name.
        E0908 ModuleTaken { span: Span, module: String, previous: Span },
        /// One name imported from two modules.
        E0909 NameTaken { span: Span, name: String, file: String, other: String, previous: Span },
        /// An `export` of a statement that cannot be exported.
        E0910 NotExportable { span: Span, gap: Span, what: NotExportable },
        /// An `import`, `export` or `test` inside a block.
        E0911 NotAtTop { span: Span, word: &'static str },
        /// A part of the library that does not exist.
        E0912 UnknownPart {
            span: Span,
            name: String,
            similar: Option<String>,
            modules: Vec<String>,
            parts: Vec<String>,
        },
        /// More modules, or more deeply nested imports, than the limit.
        E0913 TooMany { span: Span, limit: usize, deep: bool },
        /// Instances of two modules that match a common type.
        E0914 InstancesMeet { span: Span, instance: String, one: Span, other: Span },
    }
}

/// A replacement for a name in the text.
#[derive(Clone, Debug)]
pub struct Respelled {
    /// The place to replace.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// The statements that cannot be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExportable {
    /// A `var`.
    Var,
    /// An instance, which is always visible.
    Instance,
    /// A size equation.
    Require,
}

impl ModuleError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use ModuleError as E;
        let error =
            |span: &Span, message: String, label: &str| Diagnostic::error(self.code(), *span, message, label);
        match self {
            E::NoFile { span, path, looked, similar } => {
                let error = error(span, format!("there is no file `{looked}`"), "imported here");
                match similar {
                    Some(near) => {
                        error.fix(format!("did you mean `\"{near}\"`?"), *span, format!("\"{near}\""))
                    }
                    None if path.ends_with(".flx") => {
                        error.note("a path begins at the folder of the text that imports")
                    }
                    None => error
                        .note("a path begins at the folder of the text that imports")
                        .help("a path is written in full, with `.flx`"),
                }
            }
            E::Unreadable { span, path, why } => {
                error(span, format!("`{path}` cannot be imported: {why}"), "imported here")
            }
            E::Cycle { span, chain } => {
                let message = match &chain[..] {
                    [only] | [only, _] if chain.last() == Some(only) => format!("`{only}` imports itself"),
                    _ => "these modules import each other in a circle".to_string(),
                };
                error(span, message, "closes the circle")
                    .note(chain.join(" → "))
                    .help("move what both need into a module that both import")
            }
            E::UnknownModule { span, module, similar, part } => {
                let error = error(
                    span,
                    format!("no module is called `{module}` here"),
                    &format!("`{module}` has not been imported"),
                );
                let start = Span { end: 0, start: 0, ..*span };
                match similar {
                    _ if *part => error.fix(
                        format!("`{module}` is a part of the library: write `import {module};` first"),
                        start,
                        format!("import {module};\n"),
                    ),
                    Some(near) => {
                        let end = span.start + module.len() as u32;
                        error.fix(format!("did you mean `{near}`?"), Span { end, ..*span }, near.clone())
                    }
                    None => error.help(format!("write `import \"{module}.flx\";` first")),
                }
            }
            E::NoValue { span, module, example } => {
                let name = example.as_deref().unwrap_or("name");
                error(span, format!("`{module}` is a module, not a value"), "stands for a module")
                    .help(format!("its names are written with two colons: `{module}::{name}`"))
            }
            E::NotInModule { span, module, name, file, similar } => {
                let error = error(span, format!("`{file}` has no `{name}`"), &format!("not in `{module}`"));
                match similar {
                    Some(Respelled { span, text }) => {
                        error.fix(format!("did you mean `{text}`?"), *span, text.clone())
                    }
                    None => error,
                }
            }
            E::Private { span, name, file, declared } => {
                error(span, format!("`{name}` is not exported by `{file}`"), "cannot be seen from here")
                    .label(*declared, "defined here, for the module itself")
                    .fix(
                        format!("write `export` before its definition in `{file}`"),
                        Span { end: declared.start, ..*declared },
                        "export ",
                    )
            }
            E::NoName { span, path, alias } => error(
                span,
                format!("`{path}` does not tell what the module is called"),
                "the name of the file is no name of the language",
            )
            .fix(format!("write `as {alias}` after it"), span.after(), format!(" as {alias}")),
            E::ModuleTaken { span, module, previous } => {
                error(span, format!("two modules are called `{module}`"), "the second one")
                    .label(*previous, "the first one")
                    .help("give one of them another name: `import … as name;`")
            }
            E::NameTaken { span, name, file, other, previous } => error(
                span,
                format!("`{name}` would mean two things"),
                &format!("brings `{name}` from `{file}`"),
            )
            .label(*previous, format!("brings `{name}` from `{other}`"))
            .help("bring it from one of them only, and write the other with the name of its module"),
            E::NotExportable { span, what: NotExportable::Var, .. } => error(
                span,
                "a `var` cannot be exported".to_string(),
                "only its own module may change a variable",
            )
            .help("export a `val`, or a `proc` that changes it and a `proc` that shows it"),
            E::NotExportable { span, gap, what: NotExportable::Instance } => error(
                span,
                "an instance needs no `export`".to_string(),
                "every importer sees the instances of a module",
            )
            .fix("leave out `export`", *gap, ""),
            E::NotExportable { span, gap, what: NotExportable::Require } => {
                error(span, "a `require` cannot be exported".to_string(), "defines nothing")
                    .fix("leave out `export`", *gap, "")
            }
            E::NotAtTop { span, word } => error(
                span,
                format!("`{word}` stands at the top level only"),
                "inside a block or a function",
            )
            .help(match *word {
                "import" => "write it before the statements of the file",
                "test" => "move the test out of the block",
                _ => "move the definition out of the block",
            }),
            E::UnknownPart { span, name, similar, modules, parts } => {
                let error =
                    error(span, format!("the standard library has no module `{name}`"), "no such module")
                        .note(format!(
                            "its modules are {}; parts that need no import are {}",
                            modules.join(", "),
                            parts.join(", ")
                        ));
                if matches!(&**name, "math" | "cmath" | "numpy") {
                    return error.help("elementary functions need no import: write `sin 1.0`");
                }
                match similar {
                    Some(near) => error.fix(format!("did you mean `{near}`?"), *span, near.clone()),
                    None => error.help(format!("a file is written as a string: `import \"{name}.flx\";`")),
                }
            }
            E::TooMany { span, limit, deep: true } => error(
                span,
                format!("imports go deeper than {limit} modules"),
                "one too deep",
            ),
            E::TooMany { span, limit, deep: false } => {
                error(span, format!("a program has more than {limit} modules"), "one too many")
            }
            E::InstancesMeet { span, instance, one, other } => error(
                span,
                format!("two modules say differently what `{instance}` is"),
                "brings both together",
            )
            .label(*one, "one instance")
            .label(*other, "another")
            .help("a type belongs to a class in one way: keep one of the instances, in a module that both import"),
        }
    }
}
