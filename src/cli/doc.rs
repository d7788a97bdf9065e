//! `felis doc`: pages of documentation, written into a folder.

use super::files::FileLoader;
use super::input::{self, SourceText};
use super::output::{display_path, print_error};
use super::{Shell, exit, replace};
use felis::session::Status;
use felis::session::docs::{self, Page, html, markdown};
use std::path::Path;

impl Shell {
    /// Writes the page of a program, or those of the library, and an index. Returns the exit code.
    pub(super) fn document(&mut self, file: Option<&Path>, as_markdown: bool, folder: &Path) -> u8 {
        let (title, pages) = match file {
            None => ("The library of Felis".to_string(), docs::library()),
            Some(file) => {
                let SourceText { name, text } = match input::read(file) {
                    Ok(text) => text,
                    Err(refusal) => return self.report_input_error(&refusal),
                };
                // A program with errors is not documented; the check reports them.
                self.session.set_loader(Box::new(FileLoader::relative_to(file)));
                self.define_arguments(&text, &[]);
                let outcome = self.session.check(&name, &text);
                let page = match docs::page(&name, &text) {
                    Ok(page) if outcome.status == Status::Ok => page,
                    _ => {
                        self.report_diagnostics(&outcome.diagnostics);
                        return exit::REJECTED;
                    }
                };
                (page.name.clone(), vec![page])
            }
        };
        if pages.iter().all(|page| page.entries.is_empty()) {
            print_error("felis: nothing to write: no definition is exported or has a `///` comment");
            return exit::FAILED;
        }
        match write_pages(&title, &pages, as_markdown, folder) {
            Ok(count) => {
                self.output.write(&format!("{count} pages in {}\n", display_path(folder)));
                exit::OK
            }
            Err(error) => {
                print_error(&format!("felis: cannot write to `{}`: {error}", display_path(folder)));
                exit::USAGE
            }
        }
    }
}

/// Writes pages and their index into a folder; returns the number of files.
fn write_pages(title: &str, pages: &[Page], as_markdown: bool, folder: &Path) -> Result<usize, String> {
    if folder.is_file() {
        return Err("it is a file, not a folder".to_string());
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let write = |name: &str, text: String| {
        let written = replace::replace(&folder.join(name), text.as_bytes(), &|_| Ok(()));
        written.map_err(|why| format!("`{name}`: {why}"))
    };
    let ending = if as_markdown { "md" } else { "html" };
    for page in pages {
        let text = if as_markdown { markdown::page(page) } else { html::page(page) };
        write(&format!("{}.{ending}", page.file_stem()), text)?;
    }
    let index = if as_markdown { markdown::index(title, pages) } else { html::index(title, pages) };
    write(&format!("index.{ending}"), index)?;
    Ok(pages.len() + 1)
}
