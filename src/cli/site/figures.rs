//! Figures of the site: the pictures that programs of the book draw or save.
//!
//! Takes a program; runs it with files in memory; gives the files of its pictures. A picture that
//! the program draws in the terminal is saved, too. A program that fails has none.

use felis::editor::{TokenClass, tokens};
use felis::session::{FileSystem, Mode, Session, Status};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A picture.
pub struct Figure {
    /// The name of its file.
    pub file: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// The files of a program, in memory.
#[derive(Default)]
struct Written(Mutex<BTreeMap<String, Vec<u8>>>);

impl FileSystem for Written {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let files = self.0.lock().map_err(|_| "it is being written".to_string())?;
        let found = files.get(path).filter(|bytes| bytes.len() as u64 <= most);
        found.cloned().ok_or_else(|| "there is no such file".to_string())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let mut files = self.0.lock().map_err(|_| "it is being read".to_string())?;
        files.insert(path.to_string(), bytes.to_vec());
        Ok(())
    }
}

/// Returns the pictures of a program, in the order in which it draws or saves them: those of files
/// that it saves under the same picture as it draws are shown once.
pub fn figures(program: &str) -> Vec<Figure> {
    let names = |wanted: &str| {
        let found = tokens(program).into_iter();
        found.filter(|(range, class)| *class == TokenClass::Name && &program[range.clone()] == wanted).count()
    };
    if names("draw") + names("save") == 0 {
        return Vec::new();
    }
    let files = Arc::new(Written::default());
    let mut session = Session::new();
    session.set_files(files.clone());
    let outcome = session.evaluate("program", &with_drawings_saved(program), Mode::Script, &mut |_| ());
    if outcome.status != Status::Ok {
        return Vec::new();
    }
    let Ok(mut written) = files.0.lock() else { return Vec::new() };
    let is_picture = |name: &String| name.ends_with(".svg") || name.ends_with(".png");
    let mut found: Vec<Figure> = Vec::new();
    // What is drawn sorts before what is saved.
    for (file, bytes) in std::mem::take(&mut *written).into_iter().filter(|(name, _)| is_picture(name)) {
        found.retain(|known| known.bytes != bytes);
        found.push(Figure { file, bytes });
    }
    found
}

/// Returns a program that saves each picture where the given one draws it. Places in its text stay
/// in their lines.
fn with_drawings_saved(program: &str) -> String {
    let (mut head, mut body, mut end) = (String::new(), String::new(), 0);
    let drawn = tokens(program)
        .into_iter()
        .filter(|(range, class)| *class == TokenClass::Name && &program[range.clone()] == "draw");
    for (number, (range, _)) in drawn.enumerate() {
        let name = format!("saved_drawing_{number}");
        head.push_str(&format!("proc {name}(p:picture) {{ save (\"!drawn_{number:03}.svg\", p); }} "));
        body.push_str(&program[end..range.start]);
        body.push_str(&name);
        end = range.end;
    }
    head + &body + &program[end..]
}

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn pictures_that_are_drawn_or_saved_are_figures() {
        let names = |program: &str| -> Vec<String> {
            figures(program).into_iter().map(|figure| figure.file).collect()
        };
        assert_eq!(names("draw (plot (1.0, 2.0));"), ["!drawn_000.svg"]);
        // The same picture is shown once, under the name that the program gives it.
        assert_eq!(names("val p = plot (1.0, 2.0); draw p; save (\"p.svg\", p);"), ["p.svg"]);
        assert_eq!(
            names("save (\"a.svg\", plot (1.0, 2.0)); draw (plot (2.0, 1.0));"),
            ["!drawn_000.svg", "a.svg"]
        );
        assert!(names("println 1;").is_empty());
        assert!(names("draw nothing_known;").is_empty());
    }
}
