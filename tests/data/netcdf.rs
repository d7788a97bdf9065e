//! NetCDF files, read at the stated type: files made by netCDF4 and SciPy (`tests/files/*.nc`),
//! whole and damaged.

use crate::in_memory::{InMemoryFileSystem, fixtures, output};
use felis::session::{FileSystem, Mode, Session};
use felis_calculus::types::stored::FileType;
use felis_calculus::types::{Scalar, Type};
use felis_runtime::data::{self, DataError, Format, Limits, NetcdfRole};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Files with the same content, in several formats.
const GRIDS: [&str; 4] = ["grid_classic.nc", "grid_offset64.nc", "grid_data64.nc", "grid_netcdf4.nc"];

/// Files with the same mesh.
const MESHES: [&str; 2] = ["mesh_classic.nc", "mesh_netcdf4.nc"];

/// Names of parts of a grid, types, and the values read, as `_strr` returns them.
const GRID: &[(&str, &str, &str)] = &[
    ("\"lat\"", "real ^ ?N", "(-30.5,45.25)"),
    ("\"lat\"", "f32 ^ 2", "(-30.5,45.25)"),
    ("\"time\"", "real ^ ?N", "(0.25,1.25)"),
    // Packed, with a missing element.
    (
        "\"temp\"",
        r"option[real] ^ (?T \* 2 \* 3)",
        "(Some (250.0),Some (250.5),Some (251.0),Some (251.5),None,Some (252.5),Some (253.0),Some (253.5),Some (254.0),Some (254.5),Some (255.0),Some (244.5))",
    ),
    (
        "\"temp\", -1.0",
        r"real ^ (?T \* ?Y \* ?X)",
        "(250.0,250.5,251.0,251.5,-1.0,252.5,253.0,253.5,254.0,254.5,255.0,244.5)",
    ),
    (
        "\"temp\", 0.1",
        r"f32 ^ (?T \* ?Y \* ?X)",
        "(250.0,250.5,251.0,251.5,0.1,252.5,253.0,253.5,254.0,254.5,255.0,244.5)",
    ),
    // The packed integers themselves.
    ("\"temp\", -1", r"int ^ (?T \* ?Y \* ?X)", "(0,1,2,3,-1,5,6,7,8,9,10,-11)"),
    // `_FillValue` and `missing_value`.
    (
        "\"rain\", 0.0 / 0.0",
        r"real ^ (?T \* ?Y \* ?X)",
        "(0.5,1.0,1.5,2.0,2.5,(0.0/0.0),(0.0/0.0),3.5,4.0,4.5,5.0,5.5)",
    ),
    ("\"flag\"", r"int ^ (?T \* ?X)", "(1,2,3,-1,-2,-3)"),
    ("\"flag\"", r"i8 ^ (?T \* ?X)", "(1,2,3,-1,-2,-3)"),
    ("\"names\"", "string ^ ?N", "(\"Süd\",\"North\")"),
    ("\"count\"", "int", "42"),
    // Elements that were never written.
    ("\"part\"", "option[int] ^ ?N", "(Some (1),Some (2),None)"),
    ("\"part\", 0", "3 ^ ?N", "(case 1 of 3,case 2 of 3,case 0 of 3)"),
    ("\"temp:units\"", "string", "\"K\""),
    ("\"temp:valid_range\"", "int ^ ?N", "(-100,200)"),
    ("\"temp:scale_factor\"", "real", "0.5"),
    ("\"temp:scale_factor\"", "real ^ ?N", "[0.5]"),
    ("\":title\"", "string", "\"A grid of 2 by 3 places\""),
    ("\":version\"", "int", "7"),
];

#[test]
fn grids() {
    for file in GRIDS {
        for (name, ty, expected) in GRID {
            let text = format!("val x : {ty} = netcdf (\"{file}\", {name});\nprint x._strr;");
            assert_eq!(&output(&text), expected, "{text}");
        }
    }
    for (ty, expected) in [
        ("u8", "(0,255,7)"),
        ("u16", "(0,65535,7)"),
        ("u32", "(0,4294967295,7)"),
        ("int", "(0,-9007199254740993,7)"),
        ("u64", "(0,18446744073709551615,7)"),
    ] {
        let name = ty.replace("int", "i64");
        let name = match &name[..1] {
            "i" => "of_i8".to_string(),
            _ => format!("of_u{}", name[1..].parse::<u32>().expect("a width") / 8),
        };
        let fill = match ty {
            "u16" => ", 65535",
            "u32" => ", 4294967295",
            _ => "",
        };
        for file in ["grid_data64.nc", "grid_netcdf4.nc"] {
            let text = format!("val x : {ty} ^ ?N = netcdf (\"{file}\", \"{name}\"{fill});\nprint x._strr;");
            assert_eq!(output(&text), expected, "{text}");
        }
    }
    let text = "val a : int ^ (?N \\* ?M) = netcdf (\"one_record_variable.nc\", \"a\");\nprint a._strr;";
    assert_eq!(output(text), "(0,1,2,3,4,5,6,7,8)");
}

/// A group that contains itself, twice, and links that lead nowhere or to other files.
#[test]
fn groups_in_circles() {
    for (name, expected) in
        [("y", "(0.0,1.0)"), ("g/x", "(0.0,1.0,2.0)"), ("g/self/root/g/x", "(0.0,1.0,2.0)")]
    {
        let text = format!("val x : real ^ ?N = netcdf (\"cycle.nc\", \"{name}\");\nprint x._strr;");
        assert_eq!(output(&text), expected, "{text}");
    }
    let text = r#"val x : real ^ ?N = netcdf ("cycle.nc", "z");"#;
    let message = "`cycle.nc` has no variable `z`: read here; it has `y`, `g/x`";
    assert_eq!(said(text), [("E1007".to_string(), message.to_string())]);
}

/// Chunks that are packed, texts of any length, and groups.
#[test]
fn version_4() {
    for (text, expected) in [
        (
            r#"val z : real ^ (?Y \* ?X) = netcdf (FILE, "z");
               print (#sizeof[Y], #sizeof[X], z |> map_rows sum |> sum);"#,
            "(40, 30, 179850.0)",
        ),
        (r#"val b : int ^ ?X = netcdf (FILE, "big_endian"); print (b.((0).mod[X]), sum b);"#, "(-15, -15)"),
        (
            r#"val s : string ^ ?X = netcdf (FILE, "names");
               print (s.((3).mod[X]), s.((4).mod[X]), s.((0).mod[X]));"#,
            "(name 3, öö, )",
        ),
        (
            r#"val v : int ^ (3 \* ?Y) = netcdf (FILE, "inner/v"); print (v |> map_rows sum);"#,
            "(780, 2380, 3980)",
        ),
        (r#"val t : string = netcdf (FILE, "inner/v:note"); print t;"#, "in a group"),
        (r#"val t : string = netcdf (FILE, "/inner/v:note"); print t;"#, "in a group"),
    ] {
        let text = text.replace("FILE", "\"packed_netcdf4.nc\"");
        assert_eq!(output(&text), expected, "{text}");
    }
}

/// The corners of faces as optional indices.
const FACES: &str = "(Some (case 0 of 6),Some (case 1 of 6),Some (case 4 of 6),Some (case 3 of 6),\
                     Some (case 1 of 6),Some (case 2 of 6),Some (case 4 of 6),None,\
                     Some (case 2 of 6),Some (case 5 of 6),Some (case 4 of 6),None)";

/// The ends of edges as indices.
const EDGES: &str = "(case 0 of 6,case 1 of 6,case 1 of 6,case 2 of 6,case 2 of 6,case 5 of 6)";

/// The ends of edges as a table of neighbors: node k is case 1.
const NEIGHBORS: &str = "(case 1 (case 0 of 6),case 1 (case 1 of 6),case 1 (case 1 of 6),\
                         case 1 (case 2 of 6),case 1 (case 2 of 6),case 1 (case 5 of 6))";

/// The corners of faces as a table of neighbors with gaps.
const NEIGHBORS_WITH_GAPS: &str = "(case 1 (case 0 of 6),case 1 (case 1 of 6),case 1 (case 4 of 6),case 1 (case 3 of 6),\
     case 1 (case 1 of 6),case 1 (case 2 of 6),case 1 (case 4 of 6),case 0 (),\
     case 1 (case 2 of 6),case 1 (case 5 of 6),case 1 (case 4 of 6),case 0 ())";

#[test]
fn meshes() {
    for file in MESHES {
        for (name, ty, expected) in [
            ("face_nodes", r"int ^ (?F \* ?K)", "(0,1,4,3,1,2,4,-1,2,5,4,-1)"),
            ("face_nodes", r"option[6] ^ (3 \* 4)", FACES),
            ("edge_nodes", r"int ^ (?E \* 2)", "(0,1,1,2,2,5)"),
            ("edge_nodes", r"6 ^ (?E \* 2)", EDGES),
            // A table of neighbors: a fill value is case 0, node k is case 1.
            ("edge_nodes", r"(1 \+ 6) ^ (?E \* 2)", NEIGHBORS),
            ("face_nodes", r"(1 \+ 6) ^ (3 \* 4)", NEIGHBORS_WITH_GAPS),
            ("face_links", r"int ^ (3 \* 4)", "(1,-1,-1,-1,0,2,-1,-1,1,-1,-1,-1)"),
        ] {
            let text = format!("val x : {ty} = ugrid (\"{file}\", \"{name}\");\nprint x._strr;");
            assert_eq!(output(&text), expected, "{text}");
        }
    }
}

/// An arrived mesh, whose nodes are a type of the program, reduced through its tables.
#[test]
fn a_connectivity_is_a_table_of_neighbors() {
    for file in MESHES {
        let text = format!(
            "val x : real ^ ?Node = netcdf (\"{file}\", \"node_x\");
             newtype Vertex = Node;
             val edges : (1 \\+ Vertex) ^ (?Edge \\* 2) = ugrid (\"{file}\", \"edge_nodes\");
             val faces : (1 \\+ Node) ^ (?Face \\* ?Corner) = ugrid (\"{file}\", \"face_nodes\");
             print (sum_through edges [ v :>> int for v in ..[Vertex] ], \
                    sum_through faces [ n :>> int for n in ..[Node] ]);"
        );
        assert_eq!(output(&text), "((1, 3, 7), (8, 7, 11))", "{text}");
    }
}

/// Returns the code and the text of the messages of a program over the fixtures.
fn said(text: &str) -> Vec<(String, String)> {
    let mut session = Session::new();
    session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
    let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
    let message = |d: &felis_base::diagnostic::Diagnostic| {
        let mut text = format!("{}: {}", d.message, d.primary.text);
        d.notes.iter().for_each(|note| text.push_str(&format!("; {note}")));
        d.help.iter().for_each(|help| text.push_str(&format!("; help: {}", help.text)));
        (d.code.as_str().to_string(), text)
    };
    done.diagnostics.iter().map(message).collect()
}

#[test]
fn messages() {
    for (text, code, message) in [
        (
            r#"val x : real ^ (?T \* ?Y \* ?X) = netcdf ("grid_classic.nc", "temp");"#,
            "E1006",
            "element (0, 1, 1) of `temp` of `grid_classic.nc` is missing, and `real` is wanted: read here; \
             the file has -999 there, which stands for no value; help: `option[real]` reads it as `None`, \
             and `netcdf (path, name, x)` as `x`",
        ),
        (
            r#"val x : int ^ (?T \* ?Y \* ?X) = netcdf ("grid_classic.nc", "temp", 0.5);"#,
            "E1006",
            "element (0, 1, 1) of `grid_classic.nc` is missing, and 0.5 for it is no `int`: read here",
        ),
        (
            r#"val x : real ^ ?N = netcdf ("grid_classic.nc", "tmp");"#,
            "E1007",
            "`grid_classic.nc` has no variable `tmp`: read here; it has `time`, `lat`, `lon`, `temp`, `rain`, \
             `flag`, `names`, `count`, `part`; help: did you mean `temp`?",
        ),
        (
            r#"val x : string = netcdf ("grid_classic.nc", "temp:unit");"#,
            "E1007",
            "`grid_classic.nc` has no attribute `unit`: read here; it has `_FillValue`, `units`, `scale_factor`, \
             `add_offset`, `valid_range`; help: did you mean `units`?",
        ),
        (
            r#"val x : real ^ ?N = netcdf ("matrix.npy", "x");"#,
            "E1003",
            "`matrix.npy` is not a NetCDF file that can be read: it is an .npy file: read it by `npy`",
        ),
        (
            r#"val x : real ^ ?N = netcdf ("people.csv", "x");"#,
            "E1003",
            "`people.csv` is not a NetCDF file that can be read: it begins neither as a classic file, with `CDF`, \
             nor as one of HDF5",
        ),
        (
            r#"val x : real ^ ?N = npy "grid_classic.nc";"#,
            "E1003",
            "`grid_classic.nc` is not an .npy file that can be read: it is a NetCDF file: read it by `netcdf`",
        ),
        (
            r#"val x : int ^ (?E \* ?K) = ugrid ("mesh_classic.nc", "bad_nodes");"#,
            "E1006",
            "element (2, 0) of `bad_nodes` of `mesh_classic.nc` is 0, which is no index: they begin at 1: read here",
        ),
        (
            r#"val x : int ^ ?N = ugrid ("mesh_classic.nc", "node_x");"#,
            "E1003",
            "`mesh_classic.nc` is not a NetCDF file that can be read: its variable `node_x` has no indices but `real`",
        ),
        (
            r#"val x = ugrid ("mesh_netcdf4.nc", "face_nodes");"#,
            "E0808",
            "nothing says what type `ugrid` is to read: of any type so far; help: `mesh_netcdf4.nc` is \
             `int ^ (?N \\* ?M)`: state it where the result gets its name",
        ),
        (
            r#"val x = netcdf ("grid_classic.nc", "temp");"#,
            "E0808",
            "nothing says what type `netcdf` is to read: of any type so far; help: `grid_classic.nc` is \
             `option[real] ^ (?N \\* ?M \\* ?K)`: state it where the result gets its name",
        ),
    ] {
        assert_eq!(said(text), [(code.to_string(), message.to_string())], "{text}");
    }
}

/// Returns what reading a part of damaged bytes gives.
fn read_bytes(bytes: &[u8], name: &str, role: NetcdfRole, memory: u64) -> Result<data::Data, DataError> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let option = FileType::of(&Type::array(Type::real(), Type::unit_sum(3u32))).expect("an array");
    let limits = Limits { memory, interrupt: &STOP };
    data::read_netcdf(&bytes.to_vec().into(), name, &option, role, &limits)
}

/// Reads every part of the fixtures from damaged bytes.
fn read_all(bytes: &[u8]) {
    for name in ["time", "lat", "temp", "rain", "flag", "names", "count", "part", "temp:units", ":title", "a"]
    {
        for filled in [false, true] {
            let _ = read_bytes(bytes, name, NetcdfRole::Values { filled }, 1 << 20);
        }
    }
    for name in ["face_nodes", "face_links", "edge_nodes"] {
        let _ = read_bytes(bytes, name, NetcdfRole::Connectivity, 1 << 20);
    }
}

/// Every beginning of a classic file, and many of others, are read or refused.
#[test]
fn files_that_are_cut() {
    for file in GRIDS.iter().chain(&MESHES).chain(&["one_record_variable.nc"]) {
        let bytes = fs::read(fixtures().join(file)).expect("a file");
        let step = if file.contains("netcdf4") { 101 } else { 1 };
        for end in (0..bytes.len()).step_by(step) {
            read_all(&bytes[..end]);
        }
    }
    let bytes = fs::read(fixtures().join("grid_classic.nc")).expect("a file");
    let why = |bytes: &[u8], name: &str| match read_bytes(
        bytes,
        name,
        NetcdfRole::Values { filled: true },
        1 << 20,
    ) {
        Err(DataError::Malformed { format: Format::Netcdf, why }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&bytes[..100], "lat"), "its header wants 23 bytes at byte 96, and it has 100 bytes");
    assert_eq!(
        why(&bytes[..bytes.len() - 8], "rain"),
        "its variable `rain` is promised to have 2 x 2 x 3 elements from byte 868 on, and it has 936 bytes"
    );
}

/// Random changes of single bits and of whole words are read or refused, within the memory.
#[test]
fn files_that_are_damaged() {
    let rounds = std::env::var("FELIS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(2026);
    for file in GRIDS.iter().chain(&MESHES).chain(&["one_record_variable.nc"]) {
        let whole = fs::read(fixtures().join(file)).expect("a file");
        let each = if file.contains("netcdf4") { 300 } else { 1_000 };
        for _ in 0..each * rounds {
            let mut bytes = whole.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                match random.u8(..4) {
                    0 => bytes[at] ^= 1 << random.u8(..8),
                    1 => bytes[at] = random.u8(..),
                    2 => bytes[at..].iter_mut().take(4).for_each(|b| *b = 0xff),
                    _ => bytes.truncate(at),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            read_all(&bytes);
        }
    }
}

/// Sizes of the header are compared with the bytes that are there, and with the memory.
#[test]
fn headers_that_promise_too_much() {
    let file = |version: u8, records: u32, size: u32| {
        let mut bytes = vec![b'C', b'D', b'F', version];
        let mut word = |n: u32| bytes.extend(n.to_be_bytes());
        word(records);
        [0x0a, 2, 1, u32::from_be_bytes(*b"t\0\0\0"), 0, 1, u32::from_be_bytes(*b"n\0\0\0"), size]
            .into_iter()
            .for_each(&mut word);
        [0, 0, 0x0b, 1, 1, u32::from_be_bytes(*b"x\0\0\0"), 2, 0, 1, 0, 0, 6, 0, 96]
            .into_iter()
            .for_each(&mut word);
        bytes.resize(160, 0);
        bytes
    };
    let read = |bytes: &[u8], memory| read_bytes(bytes, "x", NetcdfRole::Values { filled: true }, memory);
    let count = |read: Result<data::Data, DataError>| read.map(|data| data.count());
    assert_eq!(count(read(&file(1, 2, 4), 1 << 20)), Ok(8));
    // Records that are still written are counted by the bytes that are there.
    assert_eq!(count(read(&file(1, u32::MAX, 2), 1 << 20)), Ok(8));
    assert_eq!(count(read(&file(1, 2, 4), 63)), Err(DataError::too_large(Format::Netcdf)));
    for (records, size) in
        [(3, 4), (2, 5), (u32::MAX - 1, 1), (1, i32::MAX as u32), (u32::MAX - 1, i32::MAX as u32)]
    {
        let refused = read(&file(1, records, size), 1 << 40);
        assert!(matches!(refused, Err(DataError::Malformed { .. })), "{records} {size}: {refused:?}");
    }
    let refused = read(&file(1, 1, u32::MAX), 1 << 40);
    let why = format!("its header has the count {} at byte 36", u32::MAX);
    assert_eq!(refused.map(|_| ()), Err(DataError::Malformed { format: Format::Netcdf, why }));
}

#[test]
fn reading_stops() {
    let bytes = fs::read(fixtures().join("grid_classic.nc")).expect("a file");
    let wanted =
        FileType::of(&Type::array(Type::scalar(Scalar::Real), Type::unit_sum(2u32))).expect("an array");
    let limits = Limits { memory: 1 << 20, interrupt: &AtomicBool::new(true) };
    let role = NetcdfRole::Values { filled: false };
    let read = data::read_netcdf(&bytes.into(), "lat", &wanted, role, &limits);
    assert_eq!(read.map(|_| ()), Err(DataError::Interrupted));
}

/// A program whose file is that which `make_netcdf.py` writes to `written_offset64.nc` by netCDF4,
/// bit for bit.
const WRITTEN: &str = r#"
val time = (0.25, 1.25);
val temp = ((250.0, 252.0, 254.0), (250.5, 252.5, 254.5));
val rain = (Some 0.0f32, None[f32], Some 2.0f32);
write_netcdf ("f.nc", (
  title = "What Felis writes",
  time = (data = time, units = "days since 2000-01-01"),
  temp = (data = temp, dimensions = "time lon", units = "K", valid_range = (100.0, 400.0), level = 3),
  rain = (data = rain, dimensions = "lon", _FillValue = -1.0),
  count = (data = 42, note = "a number"),
  part = (data = (1i8, 2i8, 3i8), dimensions = "lon"),
  small = (data = (1i16, -2i16, 3i16), dimensions = "lon"),
  names = (data = ("a", "größer", ""), dimensions = "lon")
));
"#;

#[test]
fn written_as_by_netcdf4() {
    let written = written(WRITTEN, "f.nc");
    let expected = fs::read(fixtures().join("written_offset64.nc")).expect("a file");
    assert_eq!(written, expected);
}

/// Types, values, and the type at which they are read: what is written reads back.
#[test]
fn what_is_written_reads_back() {
    for (ty, value, version) in [
        ("real ^ 3", "(0.1, -0.0, 1e300)", 2),
        ("real ^ ?N", "(0.0 / 0.0, 1.0 / 0.0)", 2),
        ("f32", "0.5f32", 2),
        ("int ^ ?N", "(1, -2147483648, 2147483646)", 2),
        ("int ^ ?N", "(1, 2147483648)", 5),
        ("i8 ^ 2", "(-128i8, 127i8)", 2),
        ("u8 ^ 2", "(0u8, 255u8)", 5),
        ("u16 ^ 1", "[ 7u16 ]", 5),
        ("u32 ^ 1", "[ 4000000000u32 ]", 5),
        ("u64 ^ 1", "[ 18446744073709551615u64 ]", 5),
        ("5 ^ 2", "(`4:5, `0:5)", 2),
        ("string ^ ?N", "(\"a\", \"größer\", \"\")", 2),
        ("option[real] ^ 2", "(None[real], Some 1.5)", 2),
        ("option[int] ^ 2", "(None[int], Some 5000000000)", 5),
        ("option[i8] ^ 2", "(None[i8], Some 5i8)", 2),
        ("(1 + u8) ^ 2", "(case 0 of 1 + u8, (case 1 of 1 + u8) 3u8)", 5),
        ("option[3] ^ 2", "(None[3], Some (`2:3))", 2),
    ] {
        let text = format!(
            "val x : {ty} = {value};\nwrite_netcdf (\"f.nc\", (x = x));\n\
             val y : {ty} = netcdf (\"f.nc\", \"x\");\nprint (x._strr == y._strr);"
        );
        assert_eq!(output(&text), "true", "{text}");
        let bytes = written(&text, "f.nc");
        assert_eq!(bytes[..4], [b'C', b'D', b'F', version], "{text}");
    }
    // The axes of nested arrays, none of which has elements; attributes.
    let text = r#"
        val none = [ (0.0, 0.0) for i in ..[0] ];
        write_netcdf ("f.nc", (x = (data = none, dimensions = "time y", units = "m", levels = (1, 2, 3))));
        val again : real ^ (?T \* ?Y) = netcdf ("f.nc", "x");
        val units : string = netcdf ("f.nc", "x:units");
        val levels : int ^ ?N = netcdf ("f.nc", "x:levels");
        print (#sizeof[T], #sizeof[Y], units, levels);"#;
    assert_eq!(output(text), "(0, 2, m, (1, 2, 3))");
    // Packed values are written as they are, and unpacked when they are read.
    let text = r#"
        val packed = (data = (0i16, 10i16), scale_factor = 0.5, add_offset = 1.0);
        write_netcdf ("f.nc", (x = packed));
        val x : real ^ 2 = netcdf ("f.nc", "x");
        val stored : i16 ^ 2 = netcdf ("f.nc", "x");
        print (x, stored);"#;
    assert_eq!(output(text), "((1.0, 6.0), (0, 10))");
}

/// Returns the bytes of a file that a program writes.
fn written(text: &str, path: &str) -> Vec<u8> {
    let file_system = InMemoryFileSystem::over_fixtures();
    let mut session = Session::new();
    session.set_files(Arc::new(file_system.clone()));
    let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
    let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert!(said.is_empty(), "{said}");
    file_system.read(path, 1 << 20).expect("a file")
}

#[test]
fn what_is_not_written() {
    for (text, code, message) in [
        (
            r#"write_netcdf ("f.nc", 3);"#,
            "E1008",
            "`int` is no type of a NetCDF file: a record has a variable in each field: \
             `(x = x, t = (data = t, dimensions = \"y x\"))`",
        ),
        (
            r#"write_netcdf ("f.nc", (t = ((1.0, 2.0), (3.0, 4.0))));"#,
            "E1008",
            "`real ^ 2 ^ 2` is no type of a NetCDF file: `t` has 2 axes without names: \
             `t = (data = …, dimensions = \"y x\")` names them",
        ),
        (
            r#"write_netcdf ("f.nc", (t = (data = (1.0, 2.0), dimensions = "y x")));"#,
            "E1008",
            "`real ^ ?N` is no type of a NetCDF file: `t` has 1 axis, and 2 names of dimensions",
        ),
        (
            r#"write_netcdf ("f.nc", (a = (data = (1.0, 2.0), dimensions = "x"), b = (data = (1, 2, 3), dimensions = "x")));"#,
            "E1008",
            "`int ^ ?N` is no type of a NetCDF file: `x` is 3 in `b`, and 2 before",
        ),
        (
            r#"write_netcdf ("f.nc", (a = (data = (Some 1.0, None[real]), _FillValue = 1.0)));"#,
            "E1002",
            "`f.nc` cannot be written: element 0 of `a` is 1.0, which stands for missing elements: written here; \
             nothing there has changed",
        ),
        (
            r#"write_netcdf ("f.nc", (a = (data = (1, 2), _FillValue = 0.5)));"#,
            "E1002",
            "`f.nc` cannot be written: `_FillValue` is 0.5, and its variable holds `i32`: written here; \
             nothing there has changed",
        ),
        (
            r#"write_netcdf ("f.nc", (a = (data = (1, 2), units = ("m", "s"))));"#,
            "E1008",
            "`string ^ ?N` is no type of a NetCDF file: the attribute `units` is a text, a number, or several \
             numbers along one axis",
        ),
        (
            r#"write_netcdf ("f.nc", (n"a/b" = (1, 2)));"#,
            "E1002",
            "`f.nc` cannot be written: n\"a/b\" is no name: names in it begin with a letter, a digit or `_`, and \
             have no `/`: written here; nothing there has changed",
        ),
        (
            r#"write_netcdf ("f.nc", (a = [ (x=1, y=2.0) ]));"#,
            "E1008",
            "`(x:int, y:real) ^ ?N` is no type of a NetCDF file: its variables hold numbers of up to 64 bits, \
             truth values and texts",
        ),
        (
            r#"write_vtk ("f.vtk", ((0.0, 0.0), (1.0, 0.0)), [ (0, 2) ], ());"#,
            "E1002",
            "`f.vtk` cannot be written: element (0, 1) of the cells is 2, and there are 2 points: written here; \
             nothing there has changed",
        ),
        (
            r#"write_vtk ("f.vtk", (0.0, 1.0), [ (0, 1) ], ());"#,
            "E1008",
            "`real ^ ?N` is no type of a VTK file: points are floats, two or three along the last axis",
        ),
        (
            r#"write_vtk ("f.vtk", ((0.0, 0.0), (1.0, 0.0)), ((0, 1), (1, 0)), (cell_data = (a = (1, 2, 3))));"#,
            "E1008",
            "`int ^ ?N` is no type of a VTK file: `a` is 3, and the grid has 2 places for it",
        ),
        (
            r#"write_vtk ("f.vtk", ((0.0, 0.0), (1.0, 0.0)), [ (0, 1) ], (at_cells = (a = (1, 2))));"#,
            "E1008",
            "`(at_cells:(a:int ^ 2))` is no type of a VTK file: `at_cells` is neither `point_data` nor `cell_data`",
        ),
        (
            r#"write_vtk ("f.vtk", ((0.0, 0.0), (1.0, 0.0)), [ (0, 1) ], (point_data = (a = (Some 1, None[int]))));"#,
            "E1002",
            "`f.vtk` cannot be written: element 1 of `a` is missing, and there are only missing floats, by NaN: \
             written here; nothing there has changed",
        ),
    ] {
        assert_eq!(said(text), [(code.to_string(), message.to_string())], "{text}");
    }
}

/// Every byte of a grid of a square, a triangle and a line.
#[test]
fn grids_of_vtk() {
    let text = r#"
        val points = ((0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 1.0), (1.0, 1.0));
        val cells = ((0, 1, 4, 3), (1, 2, 4, -1), (2, 4, -1, -1));
        write_vtk ("f.vtk", points, cells, (
          point_data = (n"wind speed" = [ (1.0f32, 2.0f32, 3.0f32) for i in ..[5] ]),
          cell_data = (id = (7, 8, 9), pair = ((1i8, 2i8), (3i8, 4i8), (5i8, 6i8)), gap = (Some 0.5, None[real], Some 1.5))
        ));"#;
    let mut expected: Vec<u8> = Vec::new();
    let mut line = |text: &str, numbers: &[u8]| {
        expected.extend(text.as_bytes());
        expected.extend(numbers);
    };
    let doubles = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let integers = |numbers: &[i32]| numbers.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    line("# vtk DataFile Version 3.0\nwritten by Felis\nBINARY\nDATASET UNSTRUCTURED_GRID\n", &[]);
    let points = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    line("POINTS 5 double\n", &doubles(&points));
    line("\nCELLS 3 12\n", &integers(&[4, 0, 1, 4, 3, 3, 1, 2, 4, 2, 2, 4]));
    line("\nCELL_TYPES 3\n", &integers(&[9, 5, 3]));
    let wind: Vec<u8> = [1f32, 2.0, 3.0].repeat(5).iter().flat_map(|x| x.to_be_bytes()).collect();
    line("\nPOINT_DATA 5\nVECTORS wind%20speed float\n", &wind);
    line("\nCELL_DATA 3\nSCALARS id int 1\nLOOKUP_TABLE default\n", &integers(&[7, 8, 9]));
    line("\nFIELD FieldData 1\npair 2 3 char\n", &[1, 2, 3, 4, 5, 6]);
    line("\nSCALARS gap double 1\nLOOKUP_TABLE default\n", &doubles(&[0.5, f64::NAN, 1.5]));
    line("\n", &[]);
    assert_eq!(written(text, "f.vtk"), expected);
}
