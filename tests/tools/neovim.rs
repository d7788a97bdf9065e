//! A real editor beside the language server: a transcript of Neovim with a program, through the
//! client of the protocol that Neovim has and with the setup that the book gives.
//!
//! Neovim 0.11 or later is `nvim`, or the command that `FELIS_NEOVIM` names. Without it the test
//! prints a line and passes; with `FELIS_NEOVIM` it must be there.

use crate::{empty_folder, say_skipped};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The first version whose setup the book gives.
const FIRST_VERSION: [u32; 2] = [0, 11];

/// The time that an editor has for all of the transcript, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Returns the version of a Neovim, if it runs.
fn version(editor: &str) -> Option<[u32; 2]> {
    let said = Command::new(editor).arg("--version").stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let mut numbers = said.lines().next()?.strip_prefix("NVIM v")?.split('.').map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

/// Returns the editor, or none with a printed line.
fn editor() -> Option<String> {
    let named = std::env::var("FELIS_NEOVIM").ok();
    let editor = named.clone().unwrap_or_else(|| "nvim".to_string());
    let reason = match version(&editor) {
        Some(version) if version >= FIRST_VERSION => return Some(editor),
        Some([major, minor]) => format!("`{editor}` is version {major}.{minor}"),
        None => format!("`{editor}` does not run"),
    };
    let [major, minor] = FIRST_VERSION;
    assert!(named.is_none(), "FELIS_NEOVIM: {reason}; Neovim {major}.{minor} or later is needed");
    say_skipped(&format!("the test in a real editor needs Neovim {major}.{minor} or later, and {reason}"));
    None
}

/// Returns the setup for Neovim in the book.
fn setup() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/editors.md");
    let page = std::fs::read_to_string(page).expect("the page about editors");
    let (_, rest) = page.split_once("```lua\n").expect("the setup of Neovim");
    rest.split_once("```").expect("the end of the block").0.to_string()
}

/// Runs Neovim over a script; ends it if it takes too long.
fn run(editor: &str, folder: &Path, program: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/neovim/session.lua");
    let command = Path::new(env!("CARGO_BIN_EXE_felis")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(command.to_path_buf()).chain(std::env::split_paths(&path));
    let mut child = Command::new(editor)
        .args(["--headless", "--clean", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("PATH", std::env::join_paths(folders).expect("folders"))
        .env("FELIS_SETUP", folder.join("setup.lua"))
        .env("FELIS_PROGRAM", program)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the editor starts");
    let begun = Instant::now();
    while child.try_wait().expect("the state of the editor").is_none() {
        if begun.elapsed() > TIMEOUT {
            let _ = child.kill();
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("what the editor has written")
}

#[test]
fn neovim_talks_to_the_server() {
    let Some(editor) = editor() else { return };
    let folder = empty_folder("neovim");
    let program: PathBuf = folder.join("sums.flx");
    let text = "fun total(x:int ^ 3):int => sum x;\nval x = total ([1, 2, 3]);\n\
                println (totl ([4, 5, 6]) + x);\n";
    std::fs::write(&program, text).expect("a program");
    std::fs::write(folder.join("setup.lua"), setup()).expect("a setup");
    let output = run(&editor, &folder, &program);
    let said = String::from_utf8_lossy(&output.stdout);
    let written = std::fs::read_to_string(&program).expect("the program");
    let _ = std::fs::remove_dir_all(&folder);
    let expected = "\
filetype: felis
server: felis
diagnostics: 3:10 there is no `totl` here
  not defined
  Help: did you mean `total`?
after the quick fix: fun total(x:int ^ 3):int => sum x;
  val x = total ([1, 2, 3]);
  println (total ([4, 5, 6]) + x);
diagnostics then: 
hover: ```felis
  fun total(x:int ^ 3):int
  ```
definition: 1, 4
renamed: fun whole(x:int ^ 3):int => sum x;
  val x = whole ([1, 2, 3]);
  println (whole ([4, 5, 6]) + x);
signature: ```felis
  fun whole(x:int ^ 3):int
  ```
completion: whole whole_and_rest when while
formatted: fun whole(x:int ^ 3):int => sum x;
  val x = whole ([1, 2, 3]);
  println (whole ([4, 5, 6]) + x);
server stopped: true
";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
    let end = "fun whole(x:int ^ 3):int => sum x;\nval x = whole ([1, 2, 3]);\n\
               println (whole ([4, 5, 6]) + x);\n";
    assert_eq!(written, end);
}
