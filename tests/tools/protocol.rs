//! The language server beside the protocol's own kit: a client made of
//! `vscode-languageserver-protocol`, on which the client of the extension stands, reads every kind
//! of answer and looks at its form.
//!
//! `FELIS_PROTOCOL_KIT` is a folder in which `npm install vscode-languageserver-protocol` has been
//! run; without it the test prints a line and passes.

use crate::{empty_folder, say_skipped};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn answers_have_the_form_of_the_protocol() {
    let Some(kit) = std::env::var_os("FELIS_PROTOCOL_KIT") else {
        return say_skipped(
            "the test by the protocol's kit needs a folder with `vscode-languageserver-protocol` from npm, \
             named by FELIS_PROTOCOL_KIT",
        );
    };
    let folder = empty_folder("protocol");
    let program = folder.join("points.flx");
    let text = "/// Adds all.\nfun total(x:int ^ 3):int => sum x;\nstruct Point { across:real; upward:real; }\n\
                val x = total ([1,2, 3]);\nfun twice(y:int) {\n  val z = y * 2;\n  return z;\n}\n\
                println (totl ([4, 5, 6]) + x);\n";
    std::fs::write(&program, text).expect("a program");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/protocol/client.js");
    let output = Command::new("node")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_felis"))
        .arg(&program)
        .env("NODE_PATH", Path::new(&kit).join("node_modules"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .output()
        .expect("FELIS_PROTOCOL_KIT: `node` runs");
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout);
    let kinds = [
        "diagnostics",
        "hover",
        "definition",
        "references",
        "highlights",
        "symbols",
        "workspace symbols",
        "completion",
        "resolved completion",
        "signature help",
        "code actions",
        "formatting",
        "rename asked for",
        "rename",
        "folds",
        "hints",
        "tokens",
        "types of tokens",
    ];
    let expected: String = kinds.iter().map(|kind| format!("{kind}: well-formed\n")).collect();
    assert_eq!(said, expected + "exit code: 0\n", "{}", String::from_utf8_lossy(&output.stderr));
}
