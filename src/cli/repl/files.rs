//! The session's commands about files (load, reload, edit, save), and completion of paths.
//!
//! A file that cannot be read or run leaves the session unchanged; a file is written completely or
//! not at all.

use super::super::answers::Flow;
use super::super::files::FileLoader;
use super::super::input::{self, SourceText};
use super::super::interrupt::Activity;
use super::super::{exit, exit_code, output, replace};
use super::Repl;
use super::commands::usage_error;
use felis::editor::{TokenClass, tokens};
use felis::session::{Mode, Session, Status};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use unicode_width::UnicodeWidthStr;

/// The maximum number of entries of a folder that are read for completion.
const MAX_DIRECTORY_ENTRIES: usize = 10_000;

/// Runs a program in the session.
pub fn load(repl: &mut Repl, argument: &str) -> Flow {
    let path = typed_path(argument);
    read_and_run(repl, &path, false)
}

/// Runs the present text of the program loaded last.
pub fn reload(repl: &mut Repl) -> Flow {
    match repl.loaded.clone() {
        Some(path) => read_and_run(repl, &path, true),
        None => usage_error("nothing has been loaded yet: write `:load FILE`"),
    }
}

/// Runs a program, in place of its earlier definitions if it was loaded before.
fn read_and_run(repl: &mut Repl, path: &Path, again: bool) -> Flow {
    // A pipe may never have a writer, and its read could not be interrupted.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return usage_error(&format!("`{}` is no file that could be loaded", output::display_path(path)));
    }
    let SourceText { name, text } = match input::read_file(path, &output::display_path(path)) {
        Ok(text) => text,
        Err(refusal) => return Flow::Continue(refusal.report(&repl.shell.output)),
    };
    // A program with errors will be corrected and loaded again.
    let again = again || repl.loaded.as_deref() == Some(path);
    repl.loaded = Some(path.to_path_buf());
    // A program imports from its own folder; typed inputs import from the working folder.
    repl.shell.session.set_loader(Box::new(FileLoader::relative_to(path)));
    let outcome = if again {
        repl.shell.run_with_output(|session, out| session.reload(&name, &text, out))
    } else {
        repl.shell.evaluate_with_output(&name, &text, Mode::Script)
    };
    repl.shell.session.set_loader(Box::new(FileLoader::relative_to_working_directory()));
    repl.shell.output.end_line();
    repl.record_error(&outcome.diagnostics);
    repl.shell.report_diagnostics(&outcome.diagnostics);
    match outcome.status {
        Status::Ok => {
            if !has_free_comments(&text) {
                repl.known_files.insert(canonical_path(path), text.clone());
            }
            let done = if again { "loaded again" } else { "loaded" };
            let names = name_list(&Session::names_defined_in(&text), repl.window.columns);
            repl.shell.output.write(&format!("{done} {}: {names}\n", output::display_path(path)));
        }
        Status::Interrupted => output::print_error("interrupted; nothing has changed"),
        Status::Exited(code) => return Flow::Exit(code),
        Status::Rejected | Status::Failed => {}
    }
    Flow::Continue(exit_code(outcome.status))
}

/// Returns true if a program contains text that a session does not keep: comments that do not
/// document a definition, or a `#!` line.
fn has_free_comments(text: &str) -> bool {
    let comment = |(range, class): (std::ops::Range<usize>, TokenClass)| {
        class == TokenClass::Comment && !text[range].starts_with("///")
    };
    text.starts_with("#!") || tokens(text).into_iter().any(comment)
}

/// Returns names that fit into a line, with the number of those omitted.
pub fn name_list(names: &[String], columns: usize) -> String {
    let mut out = String::new();
    for (at, name) in names.iter().enumerate() {
        if at > 0 && out.width() + name.width() > columns.saturating_sub(30) {
            return format!("{out} and {} more", names.len() - at);
        }
        out.push_str(if at > 0 { ", " } else { "" });
        out.push_str(name);
    }
    if names.is_empty() { "it defines nothing".to_string() } else { out }
}

/// Returns the absolute path of a file without links; the file need not exist.
fn canonical_path(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = || Some(folder.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(beside).unwrap_or_else(|| file.to_path_buf())
}

/// Returns the path of a file relative to a folder; both are given as paths without links.
fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

/// Opens an editor on a file, and loads it when the editor ends.
pub fn edit(repl: &mut Repl, argument: &str) -> Flow {
    let editor = ["VISUAL", "EDITOR"].iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let Some(editor) = editor else {
        return usage_error("no editor is known: set the variable EDITOR, as in `export EDITOR=nano`");
    };
    let file = match (argument, &repl.loaded) {
        ("", Some(loaded)) => loaded.clone(),
        ("", None) => match create_scratch_file(&repl.last_input) {
            Ok(file) => file,
            Err(error) => return usage_error(&format!("cannot write a file to edit: {error}")),
        },
        (argument, _) => typed_path(argument),
    };
    let editor = editor.to_string_lossy().into_owned();
    // The variable may hold a command with arguments, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let Some(program) = words.next() else { return usage_error("the variable EDITOR names no command") };
    let done = {
        let _editing = repl.shell.interrupts.while_doing(Activity::Editing);
        Command::new(program).args(words).arg(&file).status()
    };
    match done {
        Err(error) => usage_error(&format!("cannot start the editor `{program}`: {error}")),
        Ok(status) if !status.success() => {
            usage_error(&format!("the editor failed ({status}); nothing is loaded"))
        }
        Ok(_) if !file.exists() => {
            usage_error(&format!("`{}` has not been written; nothing is loaded", output::display_path(&file)))
        }
        Ok(_) => read_and_run(repl, &file, false),
    }
}

/// Makes a new file that holds the last input.
fn create_scratch_file(text: &str) -> std::io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix("felis-").suffix(".flx").tempfile()?;
    writeln!(file, "{}", text.trim_end())?;
    Ok(file.into_temp_path().keep()?)
}

/// Writes the definitions of the session into a file, as a program. A file that another program has
/// made is replaced only with `over`.
pub fn save(repl: &mut Repl, argument: &str, over: bool) -> Flow {
    let file = typed_path(argument);
    if file.is_dir() {
        return usage_error(&format!(
            "`{}` is a directory: give the name of a file",
            output::display_path(&file)
        ));
    }
    let place = canonical_path(&file);
    if file.exists()
        && !over
        && let Some(why) = overwrite_refusal(repl, &file, &place)
    {
        return usage_error(&format!(
            "`{}` {why}: write `:save! {argument}` to replace it",
            output::display_path(&file)
        ));
    }
    let folder = place.parent().unwrap_or(Path::new("")).to_path_buf();
    let import = |id: &str| relative_path(&folder, Path::new(id)).to_str().map(str::to_string);
    let text = repl.shell.session.program_text(&import);
    if text.is_empty() {
        return usage_error("nothing has been defined yet, so there is nothing to save");
    }
    if let Err(error) = replace::replace(&file, text.as_bytes(), &|_| Ok(())) {
        return usage_error(&format!("cannot write `{}`: {error}", output::display_path(&file)));
    }
    repl.known_files.insert(place, text.clone());
    let names = name_list(&Session::names_defined_in(&text), repl.window.columns);
    repl.shell.output.write(&format!("saved to {}: {names}\n", output::display_path(&file)));
    // Some definitions may be valid only one after the other, as in the session, not all at once.
    let mut alone = Session::new();
    alone.set_loader(Box::new(FileLoader::relative_to(&file)));
    let outcome = alone.check(&output::display_path(&file), &text);
    if let Some(wrong) = outcome.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        output::print_error("by itself it is not right yet:");
        let (color, columns) = (repl.shell.output.color, output::stderr_columns());
        repl.shell.output.write_error_text(&alone.render_within(wrong, color, columns));
        return Flow::Continue(exit::REJECTED);
    }
    Flow::Continue(exit::OK)
}

/// Returns the reason not to overwrite a file without `!`: its content is unknown to this session.
fn overwrite_refusal(repl: &Repl, file: &Path, place: &Path) -> Option<&'static str> {
    let now = input::read_file(file, "").ok().map(|now| now.text);
    let loaded = || repl.loaded.as_deref().is_some_and(|loaded| canonical_path(loaded) == place);
    match repl.known_files.get(place) {
        Some(known) if now.as_ref() == Some(known) => None,
        Some(_) => Some("is not what it was when it was loaded or saved here"),
        None if loaded() && now.is_some_and(|now| has_free_comments(&now)) => {
            Some("has comments, which would be lost")
        }
        None => Some("is there already, and this session has neither loaded nor saved it"),
    }
}

/// Parses a typed path: `~/` is the home folder; quotes around the path are removed.
pub fn typed_path(typed: &str) -> PathBuf {
    let typed = typed.trim();
    let bare = typed.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(typed);
    match (bare.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(bare),
    }
}

/// Completes a path to folders and programs, in the typed form.
pub fn complete_path(typed: &str) -> Vec<String> {
    let (folder, prefix) = match typed.rfind('/') {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let looked = if folder.is_empty() { PathBuf::from(".") } else { typed_path(folder) };
    let Ok(entries) = std::fs::read_dir(looked) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.take(MAX_DIRECTORY_ENTRIES).flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if !name.starts_with(prefix) || name.starts_with('.') && !prefix.starts_with('.') {
            continue;
        }
        // A link counts as its target.
        if entry.path().is_dir() {
            found.push(format!("{folder}{name}/"));
        } else if name.ends_with(".flx") {
            found.push(format!("{folder}{name}"));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::{complete_path, name_list, relative_path, typed_path};
    use std::path::{Path, PathBuf};

    #[test]
    fn files_are_found_from_a_folder() {
        let seen = |folder: &str, file: &str| {
            relative_path(Path::new(folder), Path::new(file)).display().to_string()
        };
        assert_eq!(seen("/a/b", "/a/b/c.flx"), "c.flx");
        assert_eq!(seen("/a/b", "/a/d/c.flx"), "../d/c.flx");
        assert_eq!(seen("/a", "/a/d/c.flx"), "d/c.flx");
    }

    #[test]
    fn names_are_listed_as_far_as_there_is_room() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(name_list(&names(&[]), 80), "it defines nothing");
        assert_eq!(name_list(&names(&["f", "P"]), 80), "f, P");
        assert_eq!(name_list(&names(&["first", "second", "third"]), 44), "first, second and 1 more");
    }

    #[test]
    fn a_path_is_read_as_it_is_typed() {
        assert_eq!(typed_path(" a b.flx "), PathBuf::from("a b.flx"));
        assert_eq!(typed_path("\"a.flx\""), PathBuf::from("a.flx"));
        if let Some(home) = std::env::var_os("HOME") {
            assert_eq!(typed_path("~/a.flx"), PathBuf::from(home).join("a.flx"));
        }
    }

    #[test]
    fn names_go_on_from_what_is_typed() {
        assert_eq!(complete_path("examples/clo"), ["examples/clock.flx"]);
        assert_eq!(complete_path("examp"), ["examples/"]);
        assert!(complete_path("Cargo").is_empty());
        assert!(complete_path("no such folder/").is_empty());
    }
}
