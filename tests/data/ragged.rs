//! Columns of lists of different lengths, in Arrow and Parquet files: files made by pyarrow
//! (`tests/files/lists*`), valid and damaged ones, and files that Felis writes itself.

use crate::columns::cells;
use crate::in_memory::{InMemoryFileSystem, fixtures, output};
use bytes::Bytes;
use felis::session::{Mode, Session};
use felis_calculus::types::stored::{Axis, Cell, CellKind, FileType};
use felis_calculus::types::{Scalar, Type};
use felis_runtime::data::{self, Column, Content, Data, DataError, Element, Format, Limits};
use felis_runtime::value::Buffer;
use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is never set.
static STOP: AtomicBool = AtomicBool::new(false);
const LIMITS: Limits = Limits { memory: 1 << 26, interrupt: &STOP };
const FORMATS: [Format; 2] = [Format::Arrow, Format::Parquet];

/// Returns the code of the only message of a program, and the message.
fn refused(text: &str) -> (&'static str, String) {
    let mut session = Session::new();
    session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
    let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
    assert_eq!(done.diagnostics.len(), 1, "{text}");
    (done.diagnostics[0].code.as_str(), session.render(&done.diagnostics[0], false))
}

const FILES: [&str; 4] = [
    "arrow \"lists.arrow\"",
    "arrow \"lists_zstd.arrow\"",
    "parquet \"lists.parquet\"",
    "parquet \"lists_zstd.parquet\"",
];

#[test]
fn lists_of_others() {
    for (fields, expected) in [
        (
            "name : string; values : real ^ ?K;",
            "((a, (1.5, 2.5, 4.0)), (b, []), (c, [7.0]), (d, (-1.0, 0.25)))",
        ),
        ("counts : i16 ^ ?K; n : int;", "(((1, 2, 3), 1), ([], 2), ([7], 3), ((-1, 2), 4))"),
        ("counts : int ^ ?K;", "(((1, 2, 3)), ([]), ([7]), ((-1, 2)))"),
        (
            "words : string ^ ?K; name : string;",
            "(((x, größer, lang und länger), a), ([], b), ([], c), ([y], d))",
        ),
        ("flags : bool ^ ?K;", "(((true, false)), ([]), ([true]), ((false, false, true)))"),
        ("pair : real ^ ?K;", "(((1.0, 2.0)), ((3.0, 4.0)), ((5.0, 6.0)), ((7.0, 8.0)))"),
        (
            "counts : real ^ ?A; n : int; values : real ^ ?B;",
            "(((1.0, 2.0, 3.0), 1, (1.5, 2.5, 4.0)), ([], 2, []), ([7.0], 3, [7.0]), ((-1.0, 2.0), 4, (-1.0, 0.25)))",
        ),
    ] {
        for file in FILES {
            let program = format!("struct row {{ {fields} }}\nval x : row ^ ?N = {file};\nprint x;");
            let shown = output(&program).replace("row(", "(");
            assert_eq!(shown, expected, "{file} {fields}");
        }
    }
    let views = "struct row { views : string ^ ?K; }\nval x : row ^ 4 = arrow \"lists.arrow\";\n\
                 fun one(r:row):string { val v : string ^ ?K = r.views; return join \"+\" v; }\nprint (map one x);";
    assert_eq!(output(views), "(x+größer, lang und länger, , , y)");
}

#[test]
fn what_is_written_reads_back() {
    for (ty, values) in [
        ("int", ["[]", "[1]", "(1, -2, 3)"]),
        ("real", ["(0.5, -0.0)", "[]", "[1e300]"]),
        ("f32", ["[]", "[]", "(1.5f32, 2.5f32)"]),
        ("u8", ["(0u8, 255u8)", "[7u8]", "[]"]),
        ("i16", ["(-32768i16, 32767i16)", "[]", "[0i16]"]),
        ("u64", ["[18446744073709551615u64]", "[]", "[1u64]"]),
        ("string", ["(\"\", \"größer\")", "[\"a,b\"]", "[]"]),
        ("bool", ["(true, false, true)", "[]", "[false]"]),
    ] {
        for format in ["arrow", "parquet"] {
            let [a, b, c] = values;
            let text = format!(
                "struct row {{ n : int; values : {ty} ^ ?K; s : string; }}\n\
                 fun made[I:COMPACTLINEAR](n:int, v:{ty} ^ I, s:string):row => row (n, v, s);\n\
                 val x = [ made (1, {a}, \"a\"), made (2, {b}, \"\"), made (3, {c}, \"ä\") ];\n\
                 write_{format} (\"f\", x);\nval y : row ^ ?N = {format} \"f\";\n\
                 print (#sizeof[N] == 3 and x._strr == y._strr);"
            );
            assert_eq!(output(&text), "true", "{text}");
        }
    }
}

/// Tables without rows, and with a single row.
#[test]
fn tables_without_rows_and_of_one() {
    for format in ["arrow", "parquet"] {
        let text = format!(
            "struct row {{ values : real ^ ?K; }}\nval x = [ row (1.5, 2.5) ];\nwrite_{format} (\"f\", x);\n\
             val y : row ^ ?N = {format} \"f\";\nprintln y;\n\
             write_{format} (\"g\", filter (fun (r:row) => false) y);\nval z : row ^ ?M = {format} \"g\";\n\
             println (#sizeof[M]);\nwrite_{format} (\"h\", z);\nval again : row ^ 0 = {format} \"h\";\n\
             write_{format} (\"f\", y);\nval same : row ^ 1 = {format} \"f\";\nprintln same;"
        );
        assert_eq!(output(&text), "[row((1.5, 2.5))]\n0\n[row((1.5, 2.5))]\n");
    }
}

/// Values that were read behave like others: their lists are opened, changed and written.
#[test]
fn lists_that_were_read_are_opened() {
    for file in FILES {
        let text = format!(
            "struct row {{ name : string; values : real ^ ?K; }}\nval rows : row ^ ?N = {file};\n\
             fun total(r:row):real {{ val v : real ^ ?K = r.values; return sum v; }}\n\
             fun first(r:row):row {{\n  val v : real ^ ?K = r.values;\n  var w = v;\n\
             for i in ..[K] perform &w.i <- w.i + 1.0;\n  return r with (values = w);\n}}\n\
             println (map total rows);\nval more = map first rows;\nprintln (map total more);\n\
             println (map total rows);\nwrite_arrow (\"f\", more);\nval again : row ^ N = arrow \"f\";\n\
             println (more._strr == again._strr);"
        );
        let expected = "(8.0, 0.0, 7.0, -0.75)\n(11.0, 0.0, 8.0, 1.25)\n(8.0, 0.0, 7.0, -0.75)\ntrue\n";
        assert_eq!(output(&text), expected, "{file}");
    }
}

#[test]
fn what_is_refused_says_why() {
    let read =
        |field: &str, file: &str| refused(&format!("struct row {{ {field}; }}\nval x : row ^ ?N = {file};"));
    for file in FILES {
        for (field, code, said) in [
            (
                "holes : int ^ ?K",
                "E1003",
                "element 1 of its column `holes` has no list; let it have an empty one",
            ),
            ("gaps : int ^ ?K", "E1006", "column `gaps`, element 1 of list 0 of `lists"),
            ("deep : int ^ ?K", "E1003", "its column `deep` holds lists of what is no number"),
            ("times : int ^ ?K", "E1003", "its column `times` holds lists of what is no number"),
            ("values : int ^ ?K", "E1005", "holds `real ^ ?K`, and `int ^ ?K` is wanted"),
            ("values : real", "E1005", "holds `real ^ ?K`, and `real` is wanted"),
            ("n : int ^ ?K", "E1005", "holds `int`, and `int ^ ?K` is wanted"),
            ("value : real ^ ?K", "E1007", "did you mean `values`?"),
        ] {
            let (found, message) = read(field, file);
            assert_eq!(found, code, "{field}\n{message}");
            assert!(message.contains(said), "{field}\n{message}");
        }
    }
    let (_, message) = read("values : real", FILES[2]);
    let said =
        "its type is `row ^ ?N` with `struct row { values : real ^ ?K; }`; a field of a struct, such as";
    assert!(message.contains(said), "{message}");
    // Type parameters are checked when they are known.
    let generic = "struct row { n : int; values : int ^ ?K; }\n\
                   proc put[T](path:string, x:T) { write_csv (path, x); }\nput (\"f\", [ row (1, [2]) ]);";
    let (code, message) = refused(generic);
    assert_eq!(code, "E1008");
    assert!(message.contains("its rows have no lists, and `values` is of type `int ^ ?K`"), "{message}");
}

/// Returns a table type in which columns of these names are lists. The format does not consult the
/// element types.
fn wanted(columns: &[(Arc<str>, Column)]) -> FileType {
    let cell = Cell::List(Box::new(Cell::Scalar(Scalar::Int)), Type::int());
    let fields = columns.iter().map(|(name, _)| (name.clone(), cell.clone())).collect();
    FileType {
        axes: vec![Axis::Unknown(0)],
        element: Type::unit(),
        contents: CellKind::Record(fields),
        unknown: 1,
    }
}

fn read(
    format: Format,
    bytes: &[u8],
    columns: &[(Arc<str>, Column)],
    limits: &Limits,
) -> Result<Data, DataError> {
    data::read(format, &Bytes::copy_from_slice(bytes), None, &wanted(columns), limits)
}

fn columns(data: &Data) -> &[(Arc<str>, Column)] {
    let Content::Records(columns) = &data.content else { panic!("records") };
    columns
}

/// Returns true if all lists are within the cells, one after the other.
fn is_whole(data: &Data) -> bool {
    columns(data).iter().all(|(_, column)| match &column.lists {
        Some(starts) => {
            starts.len() == data.shape[0] + 1
                && starts[0] == 0
                && starts.is_sorted()
                && starts.last() == Some(&column.cells.len())
                && (column.missing.is_empty() || column.missing.len() == column.cells.len())
        }
        None => column.cells.len() == data.shape[0],
    })
}

/// Generates a column of lists with these sizes, or of cells.
fn column(sizes: Vec<usize>, lists: bool) -> impl Strategy<Value = Column> {
    let count = if lists { sizes.iter().sum() } else { sizes.len() };
    cells(count).prop_map(move |column| {
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Column { lists: lists.then_some(starts), ..column }
    })
}

fn table() -> impl Strategy<Value = Data> {
    let sizes = prop::collection::vec(prop_oneof![Just(0usize), 0usize..6, 0usize..70], 0..40);
    (sizes, prop::collection::vec(any::<bool>(), 1..4)).prop_flat_map(|(sizes, lists)| {
        let rows = sizes.len();
        let columns: Vec<_> = lists.into_iter().map(|lists| column(sizes.clone(), lists)).collect();
        columns.prop_map(move |columns| {
            let columns = ["a", "b", "c"].into_iter().map(Arc::from).zip(columns).collect();
            Data { shape: vec![rows], content: Content::Records(columns) }
        })
    })
}

proptest! {
    #[test]
    fn ragged_tables_read_back(written in table()) {
        for format in FORMATS {
            let bytes = data::write(format, &written, &LIMITS).expect("a file");
            let again = read(format, &bytes, columns(&written), &LIMITS).expect("the same");
            prop_assert!(is_whole(&again));
            prop_assert_eq!(&again.shape, &written.shape);
            for ((name, column), (other, again)) in columns(&written).iter().zip(columns(&again)) {
                prop_assert_eq!(name, other);
                prop_assert_eq!(column.element, again.element);
                prop_assert_eq!(&column.lists, &again.lists);
                prop_assert_eq!(column.cells.len(), again.cells.len());
                prop_assert!(again.missing.is_empty());
                for i in 0..column.cells.len() {
                    let (x, y) = (column.cells.get(i), again.cells.get(i));
                    prop_assert_eq!(format!("{x:?}"), format!("{y:?}"));
                }
            }
        }
    }

    /// Checks that damaged files are refused or read, without any other effect.
    #[test]
    fn damage_is_no_disaster(
        file in prop::sample::select(vec!["lists.arrow", "lists_zstd.arrow", "lists.parquet", "lists_zstd.parquet"]),
        name in prop::sample::select(vec!["values", "counts", "words", "flags", "pair", "gaps", "holes"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = fs::read(fixtures().join(file)).expect("a file");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let format = if file.ends_with("arrow") { Format::Arrow } else { Format::Parquet };
        let names = [(Arc::from(name), Column::new(Element::Bool, Buffer::U8(Vec::new())))];
        if let Ok(data) = read(format, &bytes, &names, &LIMITS) {
            prop_assert!(is_whole(&data), "{data:?}");
        }
    }
}

/// Returns three lists of numbers with their offsets, as a file stores them.
fn three() -> Data {
    let cells = Buffer::Word(vec![11, 12, 13, 14, 15]);
    let lists = Some(vec![0, 2, 2, 5]);
    let column = Column { lists, ..Column::new(Element::Scalar(Scalar::Int), cells) };
    Data { shape: vec![3], content: Content::Records(vec![("x".into(), column)]) }
}

#[test]
fn places_that_fall_or_lie_beyond() {
    let data = three();
    let whole = data::write(Format::Arrow, &data, &LIMITS).expect("a file");
    let bytes = |places: [i32; 4]| places.iter().flat_map(|place| place.to_le_bytes()).collect::<Vec<u8>>();
    let found = bytes([0, 2, 2, 5]);
    let at = whole.windows(found.len()).position(|part| part == found).expect("the places");
    let changed = |places: [i32; 4]| {
        let mut changed = whole.clone();
        changed[at..at + 16].copy_from_slice(&bytes(places));
        read(Format::Arrow, &changed, columns(&data), &LIMITS)
    };
    for places in
        [[0, 2, 1, 5], [0, 2, 2, 6], [-1, 2, 2, 5], [0, 2, i32::MAX, 5], [5, 4, 3, 2], [0, 0, 0, i32::MIN]]
    {
        let Err(DataError::Malformed { why, .. }) = changed(places) else { panic!("{places:?}") };
        assert_eq!(why, "the lists of its column `x` do not lie one behind the other in it", "{places:?}");
    }
    // Elements before the first list and after the last belong to no list.
    for (places, starts, first) in [
        ([1, 2, 2, 5], vec![0, 1, 1, 4], 12),
        ([1, 2, 3, 4], vec![0, 1, 2, 3], 12),
        ([5, 5, 5, 5], vec![0; 4], 0),
    ] {
        let read = changed(places).expect("lists");
        assert!(is_whole(&read));
        let column = &columns(&read)[0].1;
        assert_eq!(column.lists.as_ref(), Some(&starts));
        assert!(column.cells.is_empty() || column.cells.get(0).word() == first);
    }
}

/// A short file may claim to have very many elements.
#[test]
fn lists_that_take_too_much_are_refused() {
    let count = 1 << 21;
    let cells = Buffer::Word(vec![7; count]);
    for starts in [vec![0, count], (0..=count).collect(), vec![0; 1 << 20]] {
        let rows = starts.len() - 1;
        let cells = if starts[rows] == 0 { Buffer::Word(Vec::new()) } else { cells.clone() };
        let column = Column { lists: Some(starts), ..Column::new(Element::Scalar(Scalar::Int), cells) };
        let data = Data { shape: vec![rows], content: Content::Records(vec![("x".into(), column)]) };
        for format in FORMATS {
            let bytes = data::write(format, &data, &LIMITS).expect("a file");
            let limits = Limits { memory: 1 << 20, interrupt: &STOP };
            let refused = read(format, &bytes, columns(&data), &limits);
            let Err(DataError::Malformed { why, .. }) = refused else {
                // Data in the file take no memory.
                assert!(format == Format::Arrow && rows == 1, "{format:?} {rows}");
                continue;
            };
            assert!(why.ends_with("its columns take more memory than there is"), "{why}");
            assert!(format == Format::Arrow || bytes.len() < 1 << 16 || rows > 1, "{}", bytes.len());
        }
    }
}

#[test]
fn a_reading_that_is_stopped_ends() {
    let stop = AtomicBool::new(true);
    let limits = Limits { memory: 1 << 26, interrupt: &stop };
    for format in FORMATS {
        let bytes = data::write(format, &three(), &LIMITS).expect("a file");
        let read = read(format, &bytes, columns(&three()), &limits);
        assert!(matches!(read, Err(DataError::Interrupted)), "{read:?}");
    }
}

/// Returns a Parquet file with one column of integers, 1 to 3, at these levels.
fn declared(schema: &str, defined: &[i16], repeated: &[i16]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, Default::default()).expect("a file");
    let mut group = writer.next_row_group().expect("rows");
    let mut column = group.next_column().expect("a column").expect("a column");
    let cells = [1, 2, 3];
    column.typed::<Int64Type>().write_batch(&cells, Some(defined), Some(repeated)).expect("cells");
    column.close().expect("a column");
    group.close().expect("rows");
    writer.close().expect("a file");
    out
}

/// Lists are declared in three forms, and each part may be optional.
#[test]
fn lists_as_they_are_declared() {
    let names = [(Arc::from("x"), Column::new(Element::Bool, Buffer::U8(Vec::new())))];
    for (schema, full) in [
        ("repeated int64 x;", 1),
        ("required group x (LIST) { repeated int64 array; }", 1),
        ("optional group x (LIST) { repeated int64 element; }", 2),
        ("required group x (LIST) { repeated group bag { required int64 array_element; } }", 1),
        ("optional group x (LIST) { repeated group bag { optional int64 array_element; } }", 3),
    ] {
        let empty = if schema.starts_with("optional") { 1 } else { 0 };
        let schema = format!("message rows {{ {schema} }}");
        let bytes = declared(&schema, &[full, full, empty, full], &[0, 1, 0, 0]);
        let read = read(Format::Parquet, &bytes, &names, &LIMITS).expect("lists");
        assert!(is_whole(&read));
        let column = &columns(&read)[0].1;
        assert_eq!(column.lists.as_deref(), Some(&[0, 2, 2, 3][..]), "{schema}");
        let cells: Vec<u64> = (0..3).map(|i| column.cells.get(i).word()).collect();
        assert_eq!(cells, [1, 2, 3], "{schema}");
    }
    let lists = "lists of what is no number, text or truth value";
    for (schema, full, held) in [
        ("required group x (LIST) { repeated group array { required int64 a; } }", 1, lists),
        ("required group x (LIST) { repeated group x_tuple { required int64 a; } }", 1, lists),
        ("required group x (LIST) { repeated group list { repeated int64 element; } }", 2, lists),
        ("repeated group x { repeated int64 y; }", 2, lists),
        ("required group x { repeated int64 y; }", 1, "records"),
    ] {
        let bytes = declared(&format!("message rows {{ {schema} }}"), &[full; 3], &[0; 3]);
        let Err(DataError::Malformed { why, .. }) = read(Format::Parquet, &bytes, &names, &LIMITS) else {
            panic!("{schema}")
        };
        assert_eq!(why, format!("its column `x` holds {held}, which no cell is"), "{schema}");
    }
}
