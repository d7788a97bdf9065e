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
#[path = "../common/shelf.rs"]
mod shelf;
mod site;
mod system;
#[cfg(unix)]
mod terminal;
mod textmate;

use sharded::in_four_parts;
