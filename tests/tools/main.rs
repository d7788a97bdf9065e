//! The command as users and editors call it: its tools, the session, the language server, the book
//! and the architecture.

mod architecture;
mod book;
mod call_graph;
mod cli;
mod commands;
mod dispatch;
mod display;
mod editors;
mod edits;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod lsp;
mod lsp_client;
mod lsp_random;
mod lsp_session;
mod neovim;
mod parties;
mod protocol;
#[cfg(unix)]
mod repl;
#[cfg(unix)]
mod repl_commands;
#[cfg(unix)]
mod repl_editing;
#[cfg(unix)]
mod resources;
mod saved;
mod session;
#[path = "../common/sharded.rs"]
mod sharded;
mod site;
mod system;
#[cfg(unix)]
mod terminal;
mod textmate;

use sharded::in_four_parts;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Returns an empty folder for a test.
fn empty_folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("felis-tools-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Says that a test passes without its work, and why. Unlike the output of `println`, the line is
/// not captured.
fn say_skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}
