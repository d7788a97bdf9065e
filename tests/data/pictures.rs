//! Pictures: programs of `tests/pictures/` with the SVG that they save and the text that they draw.
//!
//! `BLESS=1 cargo test --test data pictures` rewrites the `.svg` and `.txt` files; inspect them
//! afterward.

use crate::in_memory::InMemoryFileSystem;
use felis::session::{Executor, FileSystem, Mode, Session, Status, on_large_stack};
use felis_runtime::picture;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures")
}

/// Returns the output of a program, and the files it has written.
fn run(text: &str, executor: Executor) -> (String, InMemoryFileSystem) {
    let file_system = InMemoryFileSystem::default();
    let output = on_large_stack(|| {
        let mut session = Session::new().with_executor(executor, 0);
        session.set_files(Arc::new(file_system.clone()));
        let mut output = String::new();
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |text| output.push_str(text));
        let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert_eq!(done.status, Status::Ok, "{text}\n{said}");
        output
    });
    (output, file_system)
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
        let (output, file_system) = run(&text, Executor::Reference);
        let (eager, _) = run(&text, Executor::Eager);
        assert_eq!(output, eager, "{}", path.display());
        let svg = file_system.read("picture.svg", u64::MAX).expect("a picture");
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

/// Checks that every element is closed and that the text is valid markup.
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
fn what_is_no_grid_is_refused() {
    for (picture, why) in [
        (
            "together (picture_grid (plot (1, 2), plot (2, 1)), plot (1, 2))",
            "a grid of pictures has no axes of its own: `together` comes before `picture_grid`",
        ),
        (
            "picture_grid (picture_grid (plot (1, 2), plot (2, 1)), plot (1, 2))",
            "a picture within a grid is no grid itself",
        ),
        ("picture_grid [ plot (1, 2) for i in ..[37] ]", "a grid holds 1 to 36 pictures"),
        ("picture_grid [ plot (1, 2) for i in ..[0] ]", "a grid holds 1 to 36 pictures"),
    ] {
        for program in [format!("draw ({picture});"), format!("save (\"a.png\", {picture});")] {
            on_large_stack(|| {
                let mut session = Session::new();
                session.set_files(Arc::new(InMemoryFileSystem::default()));
                let done = session.evaluate("test.flx", &program, Mode::Script, &mut |_| ());
                assert_eq!(done.status, Status::Failed, "{program}");
                let said = session.render(&done.diagnostics[0], false);
                assert!(said.contains(why), "{program}: {said}");
            });
        }
    }
}

#[test]
fn a_grid_has_the_pixels_of_its_pictures() {
    let (_, file_system) = run(
        "val p = image ([ color (255u8, 0u8, 0u8) ] :>> color ^ (1 \\* 1)) |> titled \"red\";
         save (\"one.png\", p);
         save (\"six.png\", picture_grid ([ p for i in ..[6] ] :>> picture ^ (2 \\* 3)));
         save (\"many.png\", picture_grid [ p for i in ..[4] ]);",
        Executor::Reference,
    );
    let size = |name: &str| {
        let file = file_system.read(name, u64::MAX).expect("a file");
        let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
        (reader.info().width, reader.info().height)
    };
    assert_eq!(size("one.png"), (1280, 840));
    assert_eq!(size("six.png"), (3 * 1280, 2 * 840));
    // Of more than three along a side, each has half as many.
    assert_eq!(size("many.png"), (4 * 640, 420));
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

/// The pixels of a chart saved as PNG.
struct Pixels {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

type Color = [u8; 3];
const WHITE: Color = [255; 3];

impl Pixels {
    fn of(file: Vec<u8>) -> Pixels {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a header");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut bytes).expect("pixels");
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Pixels { width: info.width as usize, height: info.height as usize, bytes }
    }

    /// Returns the pixel at a place of the page; a unit of the page is two pixels.
    fn at(&self, x: f64, y: f64) -> Color {
        let (x, y) = ((2.0 * x) as usize, (2.0 * y) as usize);
        let at = 3 * (y.min(self.height - 1) * self.width + x.min(self.width - 1));
        [0, 1, 2].map(|c| self.bytes[at + c])
    }

    /// Returns true if a pixel within `reach` of a place has about this color.
    fn near(&self, x: f64, y: f64, reach: f64, color: Color) -> bool {
        let steps = (4.0 * reach) as i32;
        let offsets = || (-steps..=steps).map(|i| f64::from(i) / 4.0);
        offsets().any(|dx| offsets().any(|dy| distance(self.at(x + dx, y + dy), color) < 40))
    }

    /// Returns the number of pixels in a part of the page that are not white.
    fn inked(&self, x: [f64; 2], y: [f64; 2]) -> usize {
        let steps = |[low, high]: [f64; 2]| {
            let count = ((high - low).max(0.0) * 2.0) as usize;
            (0..count).map(move |i| low + i as f64 / 2.0).collect::<Vec<f64>>()
        };
        let across = steps(x);
        steps(y).iter().flat_map(|y| across.iter().map(|x| self.at(*x, *y))).filter(|p| *p != WHITE).count()
    }
}

fn distance(one: Color, other: Color) -> i32 {
    (0..3).map(|c| (i32::from(one[c]) - i32::from(other[c])).abs()).sum()
}

/// Returns an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split_once('"').map(|(value, _)| value)
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name).unwrap_or_else(|| panic!("no {name}: {tag}")).parse().expect("a number")
}

fn color(tag: &str, name: &str) -> Color {
    let text = attribute(tag, name).expect("a colour").strip_prefix('#').expect("a colour");
    [0, 2, 4].map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a digit"))
}

/// Returns true if a color is another one drawn over some light background.
fn over_light(found: Color, color: Color) -> bool {
    distance(found, color) < 220 && found != WHITE && distance(found, color) < distance(found, WHITE)
}

/// Checks that the shapes in the SVG of a picture are at their places in the pixels of the same
/// picture.
#[test]
fn a_chart_has_the_pixels_of_its_shapes() {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for name in ["bars", "broken", "heat", "histogram", "legend", "lines", "many", "overlay"] {
        let text = fs::read_to_string(folder().join(name).with_extension("flx")).expect("a program");
        let file_system = run(&text, Executor::Reference).1;
        let file = file_system.read("picture.png", u64::MAX).expect("an image");
        assert_eq!(Some(&file), run(&text, Executor::Eager).1.read("picture.png", u64::MAX).ok().as_ref());
        let pixels = Pixels::of(file);
        assert_eq!((pixels.width, pixels.height), (1280, 840), "{name}");
        for (x, y) in [(0.0, 0.0), (639.5, 0.0), (0.0, 419.5), (639.5, 419.5)] {
            assert_eq!(pixels.at(x, y), WHITE, "{name}: a corner of the page");
        }
        let svg =
            String::from_utf8(file_system.read("picture.svg", u64::MAX).expect("a picture")).expect("text");
        let mut group = WHITE;
        for tag in svg.split('<').skip(2) {
            let kind = tag.split([' ', '>']).next().unwrap_or_default();
            match kind {
                "line" => {
                    let ends = [number(tag, "x1"), number(tag, "x2"), number(tag, "y1"), number(tag, "y2")];
                    // An axis is drawn over everything except marks; at its beginning there are
                    // none.
                    if color(tag, "stroke") == [0x22; 3] {
                        assert!(pixels.near(ends[0], ends[2], 0.5, [0x22; 3]), "{name}: {tag}");
                        assert!(pixels.near(ends[1], ends[3], 0.5, [0x22; 3]), "{name}: {tag}");
                    }
                }
                "g" => group = color(tag, "fill"),
                "circle" => {
                    let found = pixels.at(number(tag, "cx"), number(tag, "cy"));
                    assert!(over_light(found, group) || name == "overlay", "{name}: {tag}: {found:?}");
                }
                "polyline" => {
                    let points: Vec<[f64; 2]> = attribute(tag, "points")
                        .expect("points")
                        .split_ascii_whitespace()
                        .filter_map(|point| point.split_once(','))
                        .map(|(x, y)| [x, y].map(|v| v.parse().expect("a number")))
                        .collect();
                    for pair in points.windows(2) {
                        let [x, y] = [0, 1].map(|c| (pair[0][c] + pair[1][c]) / 2.0);
                        // A later line or point may cover it.
                        let free = name != "lines" && name != "legend";
                        let seen = pixels.near(x, y, 1.0, color(tag, "stroke"));
                        assert!(seen || !free, "{name}: ({x}, {y}) of {tag}");
                    }
                }
                "rect" if number(tag, "width") < 600.0 => {
                    let x = number(tag, "x") + number(tag, "width") / 2.0;
                    let (y, height) = (number(tag, "y"), number(tag, "height"));
                    if height < 1.0 {
                        continue;
                    }
                    let found = pixels.at(x, y + height / 2.0);
                    let drawn = color(tag, "fill");
                    // Bars are slightly transparent; blocks are not.
                    let well = match attribute(tag, "fill-opacity") {
                        Some(_) => over_light(found, drawn),
                        None => distance(found, drawn) <= 12,
                    };
                    assert!(well || name == "many" || name == "legend", "{name}: {tag}: {found:?}");
                }
                "text" if attribute(tag, "transform").is_none() => {
                    let content = tag.split_once('>').expect("a tag").1;
                    let (x, y, size) = (number(tag, "x"), number(tag, "y"), number(tag, "font-size"));
                    let wide = size * 0.4;
                    let x = match attribute(tag, "text-anchor") {
                        Some("start") => [x, x + wide],
                        Some("end") => [x - wide, x],
                        _ => [x - wide / 2.0, x + wide / 2.0],
                    };
                    let inked = pixels.inked(x, [y - 0.75 * size, y + 0.2 * size]);
                    assert!(inked >= 4 || content.contains(' '), "{name}: {tag}: {inked}");
                }
                "image" => {
                    // The first cell has the smallest value, the last the largest.
                    let end = |name: &str, size: &str| number(tag, name) + number(tag, size) - 3.0;
                    let first = pixels.at(number(tag, "x") + 3.0, number(tag, "y") + 3.0);
                    assert_eq!(first, [68, 1, 84], "{name}");
                    assert_eq!(pixels.at(end("x", "width"), end("y", "height")), [253, 231, 37], "{name}");
                }
                _ => continue,
            }
            *seen.entry(kind.to_string()).or_default() += 1;
        }
    }
    for (kind, least) in
        [("line", 60), ("polyline", 4), ("circle", 10), ("rect", 60), ("text", 80), ("image", 2)]
    {
        assert!(seen.get(kind).is_some_and(|n| *n >= least), "{kind}: {seen:?}");
    }
}

/// Labels beside a vertical axis run along it, and an empty chart says so.
#[test]
fn words_are_drawn() {
    let chart = |program: &str| {
        Pixels::of(run(program, Executor::Reference).1.read("a.png", u64::MAX).expect("an image"))
    };
    let named = chart("save (\"a.png\", plot (1, 2, 3) |> with_axes (\"\", \"upward\"));");
    let plain = chart("save (\"a.png\", plot (1, 2, 3));");
    assert_eq!(plain.inked([0.0, 20.0], [0.0, 420.0]), 0);
    // The label is longer than it is wide: some 45 by 12 units.
    assert!(named.inked([5.0, 22.0], [150.0, 240.0]) > 200);
    assert_eq!(named.inked([5.0, 22.0], [0.0, 140.0]), 0);
    let nothing = chart("val none : real ^ 0 = [];\nsave (\"a.png\", plot none);");
    assert!(nothing.inked([250.0, 420.0], [180.0, 215.0]) > 200);
}

/// A title turns an image into a chart.
#[test]
fn an_image_with_a_title() {
    let program = "val p = image ([ color (255u8, 0u8, 0u8) ] :>> color ^ (1 \\* 1));\n        save (\"a.png\", p); save (\"b.png\", p |> titled \"Red\");";
    let files = run(program, Executor::Reference).1;
    let [small, large] =
        ["a.png", "b.png"].map(|name| Pixels::of(files.read(name, u64::MAX).expect("an image")));
    assert_eq!((small.width, small.height, &small.bytes[..]), (1, 1, &[255, 0, 0][..]));
    assert_eq!((large.width, large.at(330.0, 200.0)), (1280, [255, 0, 0]));
}

/// More cells than pixels: each pixel is the mean of its cells.
#[test]
fn many_cells_are_averaged() {
    let program = "val board : color ^ (1 \\* 20000) = [ if (j :>> int) % 2 == 0 then color (255u8, 255u8, 255u8)\n        else color (0u8, 0u8, 0u8) endif for i in ..[1], j in ..[20000] ];\n        save (\"a.png\", image board |> titled \"grey\");";
    let pixels = Pixels::of(run(program, Executor::Reference).1.read("a.png", u64::MAX).expect("an image"));
    let found = pixels.at(300.3, 75.0);
    assert!((100..156).contains(&found[0]), "{found:?}");
}

/// A line with as many points as a long computation has is drawn quickly.
#[test]
fn a_long_line_is_drawn() {
    let program = "val x = [ sin (((i :>> int) :> real) / 3000.0) for i in ..[100000] ];
        save (\"a.png\", together (plot x, scatter_plot (x, x)));";
    let start = std::time::Instant::now();
    let pixels = Pixels::of(run(program, Executor::Eager).1.read("a.png", u64::MAX).expect("an image"));
    assert!(pixels.inked([80.0, 600.0], [30.0, 350.0]) > 1000);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// The separators of a description may occur in its words.
#[test]
fn words_may_hold_any_character() {
    let text =
        "val p = plot (1.0, 2.0) |> titled \"a\\u{1f}b\\u{1e}c\" |> with_axes (\"d\\u{1e}e\", \"f\\u{1f}g\")
          |> in_legend \"h\\u{1f}i\\u{1e}j\";
        println (svg p);
        println (svg (bar_chart ((\"k\\u{1f}l\", \"m\\u{1e}n\"), (1.0, 2.0))));
        println (p.title == \"a\\u{1f}b\\u{1e}c\");";
    let (output, _) = run(text, Executor::Reference);
    for words in ["a b c", "d e", "f g", "h i j", "k l", "m n"] {
        assert!(output.contains(&format!(">{words}<")), "{words}\n{output}");
    }
    assert!(output.ends_with("true\n"), "{output}");
}

#[test]
fn a_histogram_has_some_bins() {
    on_large_stack(|| {
        let mut session = Session::new();
        for bins in ["0 - 1", "1001"] {
            let text = format!("draw (histogram_bins ({bins}) (1.0, 2.0));");
            let done = session.evaluate("test.flx", &text, Mode::Script, &mut |_| ());
            let number = if bins == "1001" { bins } else { "-1" };
            assert_eq!(done.status, Status::Failed, "{bins}");
            let message = format!("a histogram has 1 to 1000 bins, or 0 for as many as suit, not {number}");
            assert_eq!(done.diagnostics[0].message, message);
        }
    });
    let (output, _) = run(
        "draw (histogram_bins 1000 (1.0, 2.0)); draw (histogram_bins 0 (1.0, 2.0));",
        Executor::Reference,
    );
    assert!(!output.contains("more"), "{output}");
}

/// A line between equal points is drawn as a point.
#[test]
fn equal_points_are_seen() {
    let (output, _) = run("println (svg (plot ((1.0, 1.0), (2.0, 2.0))));", Executor::Reference);
    assert!(output.contains("<circle") && !output.contains("<polyline"), "{output}");
}

/// Whatever the numbers are, something is drawn, of bounded length.
#[test]
fn hard_numbers_are_drawn() {
    let never = AtomicBool::new(false);
    let bounds = picture::Bounds { max_bytes: 1 << 20, interrupt: &never };
    let hard = [
        "",
        "NaN",
        "inf -inf",
        "1",
        "5 5 5",
        "1e308 -1e308",
        "5e-324 0",
        "1e-300 2e-300",
        "1e17 100000000000000010",
        "-0.0",
        "1e-320 1e300",
    ];
    for ys in hard {
        let n = ys.split_ascii_whitespace().count();
        let xs: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let xs = xs.join(" ");
        for layers in [
            format!("line|{xs}|{ys};"),
            format!("points|{ys}|{xs};"),
            format!("bars|{ys};"),
            format!("histogram|0|{ys};"),
            format!("heatmap|1|{n}|{ys};"),
            format!("heatmap|{n}|1|{ys};"),
            format!("errors|{xs}|{ys}|{ys};"),
            format!("log|across;log|upward;errors|{ys}|{xs}|{ys};"),
            format!("log|upward;line|{xs}|{ys};"),
            format!("log|across;log|upward;points|{ys}|{ys};"),
            format!("log|across;log|upward;bars|{ys};"),
            format!("log|across;log|upward;histogram|0|{ys};"),
        ] {
            let described = format!("t|x|y;{layers}").replace('|', "\u{1f}").replace(';', "\u{1e}");
            let picture = picture::parse(&described, &bounds).expect("a picture");
            let svg = picture::svg(&picture, &bounds).expect("a text");
            let text = picture::text(&picture, picture::Screen::default(), &bounds).expect("a text");
            let png = picture::encode_file(&picture, "a.png", &bounds).expect("pixels");
            assert!(png.starts_with(b"\x89PNG\r\n"), "{layers}");
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{layers}");
            for word in ["NaN", "inf"] {
                assert!(!svg.contains(word), "{layers}: {svg}");
            }
            assert!(text.lines().count() < 60, "{layers}: {text}");
            // Of values that are finite some may have no logarithm.
            let logarithms = layers.starts_with("log|");
            let empty = match logarithms {
                true => picture.layers.iter().all(|layer| layer.mark.is_empty()),
                false => !ys.contains(|c: char| c.is_ascii_digit()),
            };
            assert_eq!(text.contains("nothing to draw"), empty, "{layers}\n{text}");
            assert_eq!(svg.contains("nothing to draw"), empty, "{layers}\n{svg}");
        }
    }
}
