//! `felis new`: a folder with a first program and a first plot.

use super::exit;
use super::output::{Output, display_path, print_error};
use std::path::Path;

/// The template: a function with an example, a test of it, and a `main`.
const MAIN_TEMPLATE: &str = r#"#!/usr/bin/env felis
// A first program. `felis run main.flx 3 world` runs it, `felis test main.flx` tests it.

/// A row of stars.
///
/// > stars 3
/// ***
fun stars(n:int):string => repeat ("*", n);

test "a row is as long as it should be" {
  for n in 0..10 perform assert (strlen (stars n) == n);
}

/// Greets between two rows of stars.
proc main(width:int, name:string) {
  println$ stars width + " hello, " + name + " " + stars width;
}
"#;

/// The second template: numbers that are drawn, in the terminal and as a file.
const PLOT_TEMPLATE: &str = r#"#!/usr/bin/env felis
// A first plot. `felis run plot.flx` draws it in the terminal and saves it as `plot.svg`.

/// The height of a swing after so many seconds.
///
/// > height 0.0
/// 1.0
fun height(seconds:real):real => exp (-seconds / 4.0) * cos (2.0 * seconds);

val time = [ (i :> real) / 10.0 for i in ..[120] ];
val swing = plot (time, map height time) |> titled "A swing comes to rest" |> with_axes ("seconds", "height");
draw swing;
save ("plot.svg", swing);
"#;

/// Makes the folder, unless it exists and is not empty. Returns the exit code.
pub fn create_program(output: &mut Output, folder: &Path) -> u8 {
    let name = display_path(folder);
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let refused = |why: &str| {
        print_error(&format!("felis: cannot begin a program in `{name}`: {why}"));
        exit::USAGE
    };
    if taken {
        return refused("it is not empty");
    }
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        for (name, text) in [("main.flx", MAIN_TEMPLATE), ("plot.flx", PLOT_TEMPLATE)] {
            let file = folder.join(name);
            std::fs::write(&file, text)?;
            make_executable(&file)?;
        }
        Ok(())
    });
    if let Err(error) = written {
        return refused(&error.to_string());
    }
    let word = |name: &str| shell_word(&folder.join(name).to_string_lossy());
    output.write(&format!(
        "made `{}` and `{}`\n\n  felis run {main} 3 world\n  felis test {main}\n  felis run {plot}\n",
        display_path(&folder.join("main.flx")),
        display_path(&folder.join("plot.flx")),
        main = word("main.flx"),
        plot = word("plot.flx"),
    ));
    exit::OK
}

/// Returns a text as one word of a shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | ':');
    match text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Makes a file executable.
#[cfg(unix)]
fn make_executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = std::fs::metadata(file)?.permissions();
    permissions.set_mode(permissions.mode() | 0o111);
    std::fs::set_permissions(file, permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_path_is_one_word() {
        for (path, word) in [
            ("a/main.flx", "a/main.flx"),
            ("größe/main.flx", "größe/main.flx"),
            ("my dir/main.flx", "'my dir/main.flx'"),
            ("it's/main.flx", r"'it'\''s/main.flx'"),
            ("$HOME", "'$HOME'"),
            ("~/a", "'~/a'"),
        ] {
            assert_eq!(shell_word(path), word);
        }
    }
}
