//! Arrow files, read at the stated type: files made by pyarrow (`tests/files/*.arrow`), valid and
//! damaged ones, and files that Felis writes itself.

use crate::columns::cells;
use crate::in_memory::{InMemoryFileSystem, fixtures, output};
use bytes::Bytes;
use felis::session::{Mode, Session};
use felis_calculus::types::stored::FileType;
use felis_calculus::types::{Scalar, Type};
use felis_runtime::data::{self, Column, Content, Data, DataError, Element, Format, Limits};
use felis_runtime::value::Value;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is never set.
static STOP: AtomicBool = AtomicBool::new(false);
const LIMITS: Limits = Limits { memory: 1 << 26, interrupt: &STOP };

/// Returns the code of the only message of a program, and the message.
fn refused(text: &str) -> (&'static str, String) {
    let mut session = Session::new();
    session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
    let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
    assert_eq!(done.diagnostics.len(), 1, "{text}");
    (done.diagnostics[0].code.as_str(), session.render(&done.diagnostics[0], false))
}

#[test]
fn numbers_of_every_width() {
    for (ty, expected) in [
        ("a:i8, e:u8", "((a=-128,e=0),(a=1,e=1),(a=127,e=255))"),
        ("b:i16, f:u16", "((b=-32768,f=0),(b=1,f=1),(b=32767,f=65535))"),
        ("c:i32, g:u32", "((c=-2147483648,g=0),(c=1,g=1),(c=2147483647,g=4294967295))"),
        (
            "d:int, h:u64",
            "((d=-9223372036854775808,h=0),(d=1,h=1),(d=9223372036854775807,h=18446744073709551615))",
        ),
        (
            "half:f32, x:f32, y:real",
            "((half=1.5,x=1.5,y=0.1),(half=-0.25,x=-0.25,y=-2.5),(half=65504.0,x=3.0,y=1e300))",
        ),
        ("yes:bool, a:real", "((yes=true,a=-128.0),(yes=false,a=1.0),(yes=true,a=127.0))"),
        ("yes:option[bool]", "((yes=Some (true)),(yes=Some (false)),(yes=Some (true)))"),
    ] {
        let shown = output(&format!("val x : ({ty}) ^ ?N = arrow \"numbers.arrow\";\nprint x._strr;"));
        assert_eq!(shown, expected, "{ty}");
    }
    // A column of numbers becomes an array in the memory of the file.
    let text = "val x : (y:real) ^ 3 = arrow \"numbers.arrow\";\nvar y = x :>> real ^ 3;\n&y.(`0:3) <- 7.0;\nprintln (x, y);";
    assert_eq!(output(text), "(((y=0.1), (y=-2.5), (y=1e300)), (7.0, -2.5, 1e300))\n");
}

#[test]
fn texts_empty_cells_and_dictionaries() {
    for file in ["people.arrow", "people_lz4.arrow", "people_zstd.arrow", "people.arrows"] {
        for (ty, expected) in [
            (
                "height:real, age:option[int]",
                "((height=1.65,age=Some (36)),(height=1.78,age=None),(height=1.7,age=Some (70)),(height=2.0,age=Some (1)),(height=2.5,age=Some (2)))",
            ),
            (
                "name:option[string], long:1 + string",
                r#"((name=Some ("Ada"),long=case 1 ("Ada")),(name=Some ("Alan, M."),long=case 1 ("Alan, M.")),(name=Some ("größer"),long=case 1 ("größer")),(name=Some ("x"),long=case 1 ("x")),(name=None,long=case 0 ()))"#,
            ),
            (
                "view:option[string]",
                r#"((view=Some ("Ada")),(view=Some ("Alan, M. of the long name")),(view=Some ("größer")),(view=Some ("x")),(view=None))"#,
            ),
            (
                "city:option[string], member:option[bool]",
                r#"((city=Some ("Ulm"),member=Some (true)),(city=Some ("Bonn"),member=None),(city=Some ("Ulm"),member=Some (false)),(city=None,member=Some (false)),(city=Some ("Kiel"),member=Some (true)))"#,
            ),
        ] {
            let shown = output(&format!("val x : ({ty}) ^ ?N = arrow \"{file}\";\nprint x._strr;"));
            assert_eq!(shown, expected, "{file} {ty}");
        }
    }
}

#[test]
fn packed_columns_of_several_batches() {
    for file in ["packed_lz4.arrow", "packed_zstd.arrow"] {
        let text = format!(
            "val x : (s:option[string], n:int, d:string) ^ ?N = arrow \"{file}\";\n\
             println (#sizeof[N], sum [ p.n for p in x ], x.(`2999:3000), x.(`994:3000));"
        );
        let text = text.replace("^ ?N", "^ 3000").replace("#sizeof[N]", "3000");
        assert_eq!(
            output(&text),
            "(3000, 43500, (s=Some (row 29), n=29, d=odd), (s=None, n=9, d=even))\n",
            "{file}"
        );
    }
}

#[test]
fn dictionaries_that_grow_and_change() {
    let read = |file: &str| {
        output(&format!("val x : (d:option[string]) ^ ?N = arrow \"{file}\";\nprint [ p.d for p in x ];"))
    };
    assert_eq!(read("delta.arrows"), "(Some (a), Some (b), None, Some (c), Some (a))");
    assert_eq!(read("replaced.arrows"), "(Some (a), Some (b), None, Some (z))");
}

#[test]
fn streams_of_before_version_1() {
    let text = "val x : (n:int, s:option[string]) ^ ?N = arrow \"legacy.arrows\";\nprint x._strr;";
    assert_eq!(output(text), r#"((n=1,s=Some ("a")),(n=2,s=None),(n=3,s=Some ("c")))"#);
}

#[test]
fn a_table_without_rows() {
    let text = "val x : (n:int, s:string, d:string) ^ ?N = arrow \"empty.arrow\";\nprintln #sizeof[N];";
    assert_eq!(output(text), "0\n");
}

#[test]
fn what_is_refused_says_why() {
    for (text, code, said) in [
        (
            "val p : (tags:string) ^ ?N = arrow \"people.arrow\";",
            "E1005",
            "column `tags` of `people.arrow` holds `string ^ ?K`, and `string` is wanted",
        ),
        (
            "val p : (where:string) ^ ?N = arrow \"people.arrow\";",
            "E1003",
            "its column `where` holds records",
        ),
        ("val p : (seen:int) ^ ?N = arrow \"people.arrow\";", "E1003", "holds times; cast it to int64"),
        (
            "val p : (price:real) ^ ?N = arrow \"people.arrow\";",
            "E1003",
            "holds decimals; cast it to float64",
        ),
        ("val p : (gone:real) ^ ?N = arrow \"people.arrow\";", "E1003", "holds no value at all"),
        ("val p : (nam:string) ^ ?N = arrow \"people.arrow\";", "E1007", "did you mean `name`?"),
        (
            "val p : (age:int) ^ ?N = arrow \"people.arrow\";",
            "E1006",
            "column `age`, element 1 of `people.arrow` is empty",
        ),
        ("val p : (name:int) ^ ?N = arrow \"people.arrow\";", "E1005", "holds `string`, and `int` is wanted"),
        ("val p : (heigth:real) ^ ?N = arrow \"people.arrow\";", "E1007", "did you mean `height`?"),
        ("val p : (height:int) ^ ?N = arrow \"people.arrow\";", "E1005", "holds `real`, and `int` is wanted"),
        ("val p : (height:real) ^ 4 = arrow \"people.arrow\";", "E1004", "4 is wanted, and 5 there"),
        ("val p : (height:real) ^ ?N = arrow \"people.csv\";", "E1003", "neither as a file nor as a stream"),
        (
            "val p : (height:real) ^ ?N = arrow \"people.parquet\";",
            "E1003",
            "a Parquet file: read it by `parquet`",
        ),
        (
            "val p : (height:real) ^ ?N = parquet \"people.arrow\";",
            "E1003",
            "an Arrow file: read it by `arrow`",
        ),
        ("val p : (height:real) ^ ?N = csv \"matrix.npy\";", "E1003", "an .npy file: read it by `npy`"),
        ("val p : real ^ ?N = npy \"arrays.npz\";", "E1003", "read an .npz file by `npz`"),
        ("val p : (height:real) ^ ?N = arrow \"no.arrow\";", "E1001", "cannot be read"),
        ("val p : real ^ ?N = arrow \"people.arrow\";", "E1008", "its rows are records"),
        ("write_arrow (\"x\", (1.0, 2.0));", "E1008", "its rows are records"),
        ("write_arrow (\"x\", [ (a=1n) ]);", "E1008", "it has no cells of this type"),
    ] {
        let (found, message) = refused(text);
        assert_eq!(found, code, "{text}\n{message}");
        assert!(message.contains(said), "{text}\n{message}");
    }
}

#[test]
fn the_offered_type_is_that_of_the_file() {
    for (file, ty) in [
        (
            "numbers.arrow",
            "(a:i8, b:i16, c:i32, d:int, e:u8, f:u16, g:u32, h:u64, half:f32, x:f32, y:real, yes:bool) ^ ?N",
        ),
        (
            "people_zstd.arrow",
            "row ^ ?N` with `struct row { name : option[string]; tags : string ^ ?K; age : option[i32]; long : option[string]; view : option[string]; height : real; member : option[bool]; city : option[string]; }",
        ),
        ("delta.arrows", "(d:option[string]) ^ ?N"),
    ] {
        let (code, message) = refused(&format!("val x = arrow \"{file}\";"));
        assert_eq!(code, "E0808");
        assert!(message.contains(&format!("`{file}` is `{ty}`")), "{message}");
        let (ty, declared) = ty.split_once("` with `").unwrap_or((ty, ""));
        output(&format!("{declared}\nval x : {ty} = arrow \"{file}\";"));
    }
}

fn stated(columns: &[(&str, Type)], rows: usize) -> FileType {
    let record = Type::record(columns.iter().map(|(name, ty)| ((*name).into(), ty.clone())).collect());
    FileType::of(&Type::array(record, Type::unit_sum(rows))).expect("a table")
}

fn malformed(bytes: &[u8]) -> String {
    let wanted = stated(&[("n", Type::int())], 4);
    match data::read(Format::Arrow, &Bytes::copy_from_slice(bytes), None, &wanted, &LIMITS) {
        Err(DataError::Malformed { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_file_of_arrow() {
    assert_eq!(malformed(b""), "it is empty");
    assert_eq!(malformed(b"hello, world"), "it begins neither as a file nor as a stream of Arrow");
    assert_eq!(malformed(b"FEA1\0\0\0\0"), "it is Feather of version 1; version 2 is Arrow's format");
    assert_eq!(malformed(b"ARROW1"), "it ends too early: what tells its parts stands at its end");
    let whole = fs::read(fixtures().join("numbers.arrow")).expect("a file");
    for end in 8..whole.len() {
        assert_eq!(malformed(&whole[..end]), "it ends too early: what tells its parts stands at its end");
    }
    // A footer that claims to be longer than the file.
    let mut long = whole.clone();
    let at = long.len() - 10;
    long[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    assert_eq!(malformed(&long), "it ends too early: what tells its parts stands at its end");
}

#[test]
fn a_stream_that_ends_early_is_refused() {
    let whole = fs::read(fixtures().join("people.arrows")).expect("a file");
    let wanted = stated(&[("height", Type::real())], 5);
    let mut fewer = 0;
    for end in 0..whole.len() {
        // A stream may end between two messages: then it has fewer cells.
        match data::read(Format::Arrow, &Bytes::copy_from_slice(&whole[..end]), None, &wanted, &LIMITS) {
            Ok(read) => fewer += usize::from(read.shape[0] < 5),
            Err(trouble) => assert!(matches!(trouble, DataError::Malformed { .. }), "{trouble:?}"),
        }
    }
    assert!(fewer > 0 && fewer < 10, "{fewer}");
}

#[test]
fn columns_that_take_too_much_are_refused() {
    let bytes: Bytes = fs::read(fixtures().join("packed_lz4.arrow")).expect("a file").into();
    let wanted = stated(&[("s", Type::string())], 3000);
    let limits = Limits { memory: 20_000, interrupt: &STOP };
    let refused = data::read(Format::Arrow, &bytes, None, &wanted, &limits);
    let Err(DataError::Malformed { why, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(why, "its columns take more memory than there is");
}

#[test]
fn a_reading_that_is_stopped_ends() {
    let stop = AtomicBool::new(true);
    let limits = Limits { memory: 1 << 26, interrupt: &stop };
    for (format, file, name) in [
        (Format::Arrow, "packed_zstd.arrow", "n"),
        (Format::Arrow, "people.arrows", "height"),
        (Format::Csv(data::Separator::COMMA), "people.csv", "height"),
    ] {
        let bytes: Bytes = fs::read(fixtures().join(file)).expect("a file").into();
        let read = data::read(format, &bytes, None, &stated(&[(name, Type::real())], 5), &limits);
        assert!(matches!(read, Err(DataError::Interrupted)), "{file}: {read:?}");
    }
}

/// Generates columns of each type that Arrow supports, with some cells missing.
fn column(rows: usize) -> impl Strategy<Value = Column> {
    (cells(rows), prop::collection::vec(prop::bool::weighted(0.2), rows)).prop_map(|(mut column, missing)| {
        for i in (0..missing.len()).filter(|i| missing[*i]) {
            let text = column.element == Element::Scalar(Scalar::String);
            column.cells.set(i, if text { Value::str("") } else { Value::UNIT });
        }
        column.missing = if missing.contains(&true) { missing } else { Vec::new() };
        column
    })
}

fn table() -> impl Strategy<Value = Data> {
    (0usize..40).prop_flat_map(|rows| {
        prop::collection::vec(column(rows), 1..4).prop_map(move |columns| {
            let columns = ["a", "b", "c"].into_iter().map(Arc::from).zip(columns).collect();
            Data { shape: vec![rows], content: Content::Records(columns) }
        })
    })
}

proptest! {
    #[test]
    fn tables_read_back(written in table()) {
        let bytes: Bytes = data::write(Format::Arrow, &written, &LIMITS).expect("a file").into();
        let Content::Records(columns) = &written.content else { unreachable!() };
        let types: Vec<(&str, Type)> = columns.iter().map(|(name, column)| (&**name, match column.element {
            Element::Scalar(scalar) => Type::scalar(scalar),
            _ => Type::bool(),
        })).collect();
        let read = data::read(Format::Arrow, &bytes, None, &stated(&types, written.shape[0]), &LIMITS).expect("the same");
        let Content::Records(found) = &read.content else { panic!("records") };
        prop_assert_eq!(&read.shape, &written.shape);
        for ((name, column), (other, again)) in columns.iter().zip(found) {
            prop_assert_eq!(name, other);
            prop_assert_eq!(column.element, again.element);
            prop_assert_eq!(&column.missing, &again.missing);
            for i in (0..written.shape[0]).filter(|i| !column.missing.get(*i).copied().unwrap_or(false)) {
                let (x, y) = (column.cells.get(i), again.cells.get(i));
                prop_assert_eq!(format!("{x:?}"), format!("{y:?}"));
            }
        }
        prop_assert_eq!(data::describe(Format::Arrow, &bytes, None, &|name| Some(name.to_string()), &LIMITS).map(|found| found.ty), Some(written.type_text()));
    }

    /// Checks that damaged files are refused or read, without any other effect.
    #[test]
    fn damage_is_no_disaster(
        file in prop::sample::select(vec!["people.arrow", "people_lz4.arrow", "people_zstd.arrow", "people.arrows", "numbers.arrow"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = fs::read(fixtures().join(file)).expect("a file");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let bytes = Bytes::from(bytes);
        for (name, ty) in [("height", Type::real()), ("view", Type::string()), ("city", Type::string()), ("long", Type::string()), ("yes", Type::bool())] {
            let _ = data::read(Format::Arrow, &bytes, None, &stated(&[(name, ty)], 5), &LIMITS);
        }
        let _ = data::describe(Format::Arrow, &bytes, None, &|name| Some(name.to_string()), &LIMITS);
    }
}
