//! Pictures as they are: programs of `tests/pictures/` with the SVG they save and the text they draw.
//!
//! `BLESS=1 cargo test --test pictures` rewrites the `.svg` and `.txt` files; look at them.

mod shelf;

use felis::session::{Executor, FileSystem, Mode, Session, Status, on_large_stack};
use shelf::Drawer;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures")
}

/// What a program prints, and the files it has written.
fn run(text: &str, executor: Executor) -> (String, Drawer) {
    let drawer = Drawer::default();
    let output = on_large_stack(|| {
        let mut session = Session::new().with_executor(executor, 0);
        session.set_files(Arc::new(drawer.clone()));
        let mut output = String::new();
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |text| output.push_str(text));
        let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert_eq!(done.status, Status::Ok, "{text}\n{said}");
        output
    });
    (output, drawer)
}

#[test]
fn pictures_look_as_before() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in fs::read_dir(folder()).expect("a folder").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "flx") {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&path).expect("a program");
        let (output, drawer) = run(&text, Executor::Reference);
        let (eager, _) = run(&text, Executor::Eager);
        assert_eq!(output, eager, "{}", path.display());
        let svg = drawer.read("picture.svg", u64::MAX).expect("a picture");
        let svg = String::from_utf8(svg).expect("text");
        closed(&svg);
        for (ending, found) in [("svg", svg), ("txt", output)] {
            let golden = path.with_extension(ending);
            if bless {
                fs::write(&golden, &found).expect("writable");
            } else if fs::read_to_string(&golden).unwrap_or_default() != found {
                wrong.push(format!("{}:\n{found}", golden.display()));
            }
        }
    }
    assert!(count >= 6, "only {count} pictures");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every element of a text is closed, and nothing stands in it that is no markup.
fn closed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn an_image_keeps_its_pixels() {
    let text = fs::read_to_string(folder().join("image.flx")).expect("a program");
    let bytes = run(&text, Executor::Reference).1.read("picture.png", u64::MAX).expect("an image");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height), (2, 2));
    assert_eq!(pixels, [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]);
}

#[test]
fn a_heat_map_is_large_enough_to_be_seen() {
    let text = fs::read_to_string(folder().join("heat.flx")).expect("a program");
    let bytes = run(&text, Executor::Reference).1.read("picture.png", u64::MAX).expect("an image");
    let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
    assert_eq!((reader.info().width, reader.info().height), (344, 258));
}
