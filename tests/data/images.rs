//! Images: files of Pillow, every kind of PNG that Felis reads, damaged files.

use crate::in_memory::{InMemoryFileSystem, fixtures, output};
use felis::session::{Mode, Session, Status};
use felis_runtime::data::{DataError, Limits, read_pixels};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[test]
fn jpegs_have_the_pixels_of_another_decoder() {
    // The largest and the mean difference of a level: what is between full and half resolution of
    // colors is interpolated otherwise.
    for (name, largest, mean) in [
        ("photo_444", 3, 1.0),
        ("photo_gray", 2, 0.5),
        ("photo_restart", 40, 3.0),
        ("photo_420_progressive", 60, 6.0),
    ] {
        let text = format!(
            "import image (*);\n\
             proc found() {{\n\
             val a : color ^ (?H \\* ?W) = read_image \"{name}.jpg\";\n\
             val b : color ^ (?G \\* ?V) = read_image \"{name}_decoded.png\";\n\
             require H == G; require W == V;\n\
             val c = b :>> color ^ (H \\* W);\n\
             fun off(p:color, q:color):int => max (abs ((p.red :> int) - (q.red :> int)), \
             max (abs ((p.green :> int) - (q.green :> int)), abs ((p.blue :> int) - (q.blue :> int))));\n\
             val d = [ off (a.i, c.i) for i in ..[H \\* W] ];\n\
             println (#sizeof[H], #sizeof[W], max d <= {largest}, mean (map to_real d) <= {mean});\n}}\nfound();"
        );
        assert_eq!(output(&text), "(26, 37, true, true)\n", "{name}");
    }
}

#[test]
fn pngs_of_each_kind_become_colors() {
    let shown = |name: &str| {
        output(&format!(
            "import image (*); val x : color ^ (?H \\* ?W) = read_image \"{name}.png\"; \
             val o : u8 ^ (?I \\* ?J) = read_opacity \"{name}.png\";\n\
             println (#sizeof[H], #sizeof[W]); for c in x do println c.str; done println (min o, max o);"
        ))
    };
    assert!(shown("kinds_gray").starts_with("(4, 5)\ncolor(187, 187, 187)\ncolor(193, 193, 193)\n"));
    assert!(shown("kinds_bits").contains("color(255, 255, 255)\ncolor(0, 0, 0)\n"));
    // 16 bits become 8: the upper ones.
    assert!(
        shown("kinds_gray16")
            .starts_with("(2, 3)\ncolor(0, 0, 0)\ncolor(78, 78, 78)\ncolor(156, 156, 156)\n")
    );
    let alpha = shown("kinds_alpha");
    assert!(alpha.starts_with("(4, 5)\ncolor(127, 254, 0)\ncolor(148, 254, 0)\n"), "{alpha}");
    assert!(alpha.ends_with("(33, 222)\n"), "{alpha}");
    assert_eq!(shown("kinds_palette"), shown("kinds_palette_decoded"));
}

#[test]
fn what_is_saved_is_read_again() {
    let file_system = InMemoryFileSystem::default();
    let mut session = Session::new();
    session.set_files(Arc::new(file_system));
    let text = "import image (*);\n\
                val x : color ^ (3 \\* 2) = [ color_of ((i :> real) / 2.0, (j :> real), 0.25) for i in ..[3], j in ..[2] ];\n\
                save (\"a.png\", image x);\n\
                val y : color ^ (3 \\* 2) = [ p for p in x ];\n\
                val z : color ^ (?H \\* ?W) = read_image \"a.png\";\n\
                require H == 3; require W == 2;\n\
                println ((z :>> color ^ (3 \\* 2)) == x, map luma ((z :>> color ^ 6)));";
    let mut output = String::new();
    let done = session.evaluate("test.flx", text, Mode::Script, &mut |text| output.push_str(text));
    let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(done.status, Status::Ok, "{said}");
    assert!(output.starts_with("(true, "), "{output}");
}

/// Returns the reason why a file of these bytes is not read with so much memory.
fn refusal(bytes: &[u8], memory: u64) -> Option<DataError> {
    let interrupt = AtomicBool::new(false);
    read_pixels(bytes, &Limits { memory, interrupt: &interrupt }).err()
}

/// Returns the description of a file that is no image.
#[track_caller]
fn damage(bytes: &[u8], memory: u64) -> String {
    match refusal(bytes, memory) {
        Some(DataError::Malformed { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn damaged_files_are_errors() {
    let read = |name: &str| fs::read(fixtures().join(name)).expect("a file");
    let memory = 64 << 20;
    assert_eq!(damage(b"GIF89a", memory), "it is neither PNG nor JPEG");
    for name in ["photo_444.jpg", "photo_420_progressive.jpg", "kinds_alpha.png", "photo_gray_decoded.png"] {
        let bytes = read(name);
        assert_eq!(refusal(&bytes, memory), None, "{name}");
        // A file that ends in its first half has no picture.
        for length in 2..bytes.len() / 2 {
            assert!(!damage(&bytes[..length], memory).is_empty());
        }
    }
    let seed = std::env::var("FELIS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("FELIS_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for name in ["photo_444.jpg", "photo_420_progressive.jpg", "photo_restart.jpg", "kinds_palette.png"] {
        let bytes = read(name);
        for _ in 0..1_000 {
            let mut damaged = bytes.clone();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(2..damaged.len());
                damaged[at] = random.u8(..);
            }
            // It may still be an image, but of no more pixels than there is memory for.
            let refused = refusal(&damaged, memory);
            assert!(matches!(refused, None | Some(DataError::Malformed { .. })), "{name}: {refused:?}");
        }
    }
}

#[test]
fn a_size_that_is_a_lie_takes_no_memory() {
    let mut bytes = fs::read(fixtures().join("photo_444.jpg")).expect("a file");
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("the head of the frame");
    bytes[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    assert_eq!(
        damage(&bytes, u64::MAX),
        "it says that it has 65535 x 65535 pixels, and is too short for them"
    );
    // A true size that is too large for the memory.
    let bytes = fs::read(fixtures().join("photo_444.jpg")).expect("a file");
    assert_eq!(damage(&bytes, 2000), "it takes more memory than there is");
    // A PNG whose head lies: its checksum is right.
    let mut bytes = fs::read(fixtures().join("kinds_gray.png")).expect("a file");
    bytes[16..24].copy_from_slice(&[0x3f, 0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0xff]);
    let checksum = crc32(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&checksum);
    assert_eq!(
        damage(&bytes, u64::MAX),
        "it says that it has 1073741823 x 1073741823 pixels, and is too short for them"
    );
}

/// Returns the checksum of a part of a PNG.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |mut sum, byte| {
        sum ^= u32::from(*byte);
        (0..8).for_each(|_| sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 });
        sum
    })
}
