//! Data files, read at the stated type and written: files made by NumPy and pandas
//! (`tests/files/`), round trips of random data, and the command on a real folder.

use crate::in_memory::{InMemoryFileSystem, fixtures, output};
use felis::session::{FileSystem, Mode, Session, Status};
use felis_calculus::types::number::Fixed;
use felis_calculus::types::stored::FileType;
use felis_calculus::types::{Scalar, Type};
use felis_runtime::data::{self, Column, Content, Data, DataError, Element, Format, Limits, Separator};
use felis_runtime::value::{Buffer, Value};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const CSV: Format = Format::Csv(Separator::COMMA);
/// A flag that is never set.
static STOP: AtomicBool = AtomicBool::new(false);

fn read(
    format: Format,
    bytes: &[u8],
    part: Option<&str>,
    wanted: &FileType,
    room: u64,
) -> Result<Data, DataError> {
    data::read(format, &bytes.to_vec().into(), part, wanted, &Limits { memory: room, interrupt: &STOP })
}

fn write(format: Format, data: &Data) -> Result<Vec<u8>, DataError> {
    data::write(format, data, &Limits { memory: 1 << 30, interrupt: &STOP })
}

/// Types, expressions that read them, and the values read, as `_strr` returns them.
const READ: &[(&str, &str, &str)] = &[
    (r"real ^ (?N \* ?M)", r#"npy "matrix.npy""#, "(0.0,0.5,1.0,1.5,2.0,2.5,3.0,3.5,4.0,4.5,5.0,5.5)"),
    (r"real ^ (?N \* ?M)", r#"npy "matrix_f.npy""#, "(0.0,0.5,1.0,1.5,2.0,2.5,3.0,3.5,4.0,4.5,5.0,5.5)"),
    (r"(real ^ ?M) ^ 3", r#"npy "matrix.npy""#, "((0.0,0.5,1.0,1.5),(2.0,2.5,3.0,3.5),(4.0,4.5,5.0,5.5))"),
    (
        r"int ^ (2 \* ?N \* 4)",
        r#"npy "cube_f.npy""#,
        "(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)",
    ),
    // One size for all axes: the elements in storage order.
    ("int ^ ?I", r#"npy "cube_f.npy""#, "(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)"),
    ("real ^ ?I", r#"npy "scalar.npy""#, "[2.5]"),
    ("i32 ^ ?N", r#"npy "big_endian.npy""#, "(1,-2,300)"),
    ("bigint ^ ?N", r#"npy "big_endian.npy""#, "(1,-2,300)"),
    ("real ^ 3", r#"npy "big_endian.npy""#, "(1.0,-2.0,300.0)"),
    ("real ^ ?N", r#"npy "halves.npy""#, "(1.0,-0.5,65504.0,(1.0/0.0),(0.0/0.0),5.960464477539063e-8)"),
    ("f32 ^ ?N", r#"npy "singles.npy""#, "(1.5,-2.25)"),
    ("bool ^ ?N", r#"npy "bools.npy""#, "(true,false,true)"),
    ("u8 ^ ?N", r#"npy "bytes.npy""#, "(0,1,2,2,1)"),
    ("3 ^ ?N", r#"npy "bytes.npy""#, "(case 0 of 3,case 1 of 3,case 2 of 3,case 2 of 3,case 1 of 3)"),
    ("u64 ^ ?N", r#"npy "uint64.npy""#, "[18446744073709551615]"),
    ("string ^ ?N", r#"npy "texts.npy""#, r#"("a","größer","")"#),
    ("string ^ ?N", r#"npy "ascii.npy""#, r#"("ab","c")"#),
    ("real", r#"npy "scalar.npy""#, "2.5"),
    (r"real ^ (?N \* 3)", r#"npy "empty.npy""#, "[]"),
    ("int ^ ?N", r#"npy "version3.npy""#, "(7,8)"),
    (
        "(height:real, name:string) ^ ?N",
        r#"npy "records.npy""#,
        r#"((height=1.65,name="Ada"),(height=1.78,name="Alan"))"#,
    ),
    (r"real ^ (?N \* ?M)", r#"npz ("arrays.npz", "weights")"#, "(0.0,1.0,2.0,3.0,4.0,5.0)"),
    ("string ^ ?N", r#"npz ("packed.npz", "text.npy")"#, r#"("x","yz")"#),
    (r"real ^ (?N \* ?M)", r#"csv "table.csv""#, "(0.0,1.0,2.0,3.0,4.0,5.0)"),
    (
        "(member:bool, age:option[int]) ^ ?N",
        r#"csv "people.csv""#,
        "((member=true,age=Some (36)),(member=false,age=Some (41)),(member=true,age=None),(member=true,age=Some (71)))",
    ),
    (
        "(name:string, height:1 + f32) ^ 4",
        r#"csv "people.csv""#,
        r#"((name="Ada",height=case 1 (1.65)),(name="Alan, M.",height=case 1 (1.78)),(name="Kurt \"G\"",height=case 1 (1.7)),(name="line\nbreak",height=case 0 ()))"#,
    ),
    (
        "(name:string, age:option[int]) ^ ?N",
        r#"csv ("missing_word.csv", ',', 0, "- NA")"#,
        r#"((name="Ada",age=Some (36)),(name="Bob",age=None))"#,
    ),
    ("option[real] ^ ?N", r#"csv ("missing_word.csv", ';', 3, "")"#, "[]"),
    ("real ^ (?N \\* ?M)", r#"csv ("table.csv", ',', 1, "")"#, "(3.0,4.0,5.0)"),
    (r"f32 ^ (?N \* 2)", r#"raw "singles.bin""#, "(0.0,1.0,2.0,3.0,4.0,5.0)"),
    (r"u8 ^ 24", r#"raw "singles.bin""#, "(0,0,0,0,0,0,128,63,0,0,0,64,0,0,64,64,0,0,128,64,0,0,160,64)"),
    ("string", r#"read_text "ragged.csv""#, r#""a,b\n1,2\n3\n""#),
];

#[test]
fn files_of_others() {
    for (ty, reader, expected) in READ {
        let shown = output(&format!("val x : {ty} = {reader};\nprint x._strr;"));
        assert_eq!(&shown, expected, "{reader} : {ty}");
        // The same inside a procedure, where sizes are opened at each call.
        let inside = output(&format!("proc p() {{ val x : {ty} = {reader}; print x._strr; }}\np (); p ();"));
        assert_eq!(inside, expected.repeat(2), "{reader} : {ty}");
    }
}

#[test]
fn complex_numbers() {
    let text = "val z : complex ^ ?N = npy \"complex.npy\";\nwrite_npy (\"z.npy\", z * z);\nval w : complex ^ N = npy \"z.npy\";\nprint w;";
    assert_eq!(output(text), "(-3.0+4.0i, -12.25+0.0i)");
}

/// Types, values of them, and the writers that support them.
const WRITTEN: &[(&str, &str, &str)] = &[
    ("int ^ 3", "(1, -2, 3)", "npy raw csv"),
    (r"i16 ^ (2 \* 2)", "[ i16_of (i, j) for i in ..[2], j in ..[2] ]", "npy raw csv"),
    ("real ^ 4", "(0.1, -0.0, 1e300, 1.0 / 0.0)", "npy raw csv"),
    ("f32 ^ 2", "(0.1f32, 3.5f32)", "npy raw csv"),
    ("bool ^ 3", "(true, false, true)", "npy csv"),
    ("5 ^ 2", "(`4:5, `0:5)", "npy raw csv"),
    (r"(3 \* 100) ^ 2", r"((`2:3 \, `99:100), (`0:3 \, `1:100))", "npy raw csv"),
    ("string ^ 3", r#"("a,\"b\"", "ä\nö", "")"#, "npy"),
    ("string ^ 3", r#"("a,\"b\"", "ä\nö", "c")"#, "npy csv"),
    ("char ^ 2", "('ä', ',')", "csv"),
    ("bigint ^ 2", "(123456789012345678901234567890n, -1n)", "csv"),
    ("int ^ 1", "[7]", "npy raw csv"),
    ("real", "2.5", "npy raw"),
    ("(a:int, b:real, c:string) ^ 2", r#"[ (a=1, b=2.5, c="x"), (a=-1, b=0.0, c="yz") ]"#, "npy csv"),
    ("(a:3, b:bool, c:1) ^ 2", "[ (a=`2:3, b=true, c=()), (a=`0:3, b=false, c=()) ]", "npy csv"),
    (
        "(a:option[int], b:1 + string) ^ 2",
        r#"[ (a=Some 1, b=case 0 of 1 + string), (a=None[int], b=(case 1 of 1 + string) "x") ]"#,
        "csv",
    ),
    ("(a:int) ^ 3", "[ (a=1), (a=2), (a=3) ]", "npy csv"),
    ("(x':real, x:int) ^ 2", "[ (x'=1.5, x=1), (x'=-0.5, x=2) ]", "npy csv arrow parquet"),
    ("(x':string) ^ 2", r#"[ (x'="a'b"), (x'="\"") ]"#, "npy csv arrow parquet"),
    (
        r#"(n"first name":string, n"type":int, n"a\"b\\":real) ^ 2"#,
        r#"[ (n"first name"="Ada", n"type"=1, n"a\"b\\"=0.5), (n"first name"="", n"type"=2, n"a\"b\\"=1.5) ]"#,
        "npy csv arrow parquet",
    ),
    (
        "(mood:mood, x:int) ^ 3",
        "[ (mood=Glad, x=1), (mood=So_so, x=2), (mood=Glad, x=3) ]",
        "npy csv arrow parquet",
    ),
    ("mood ^ 2", "(Sad, Glad)", "npy csv"),
    ("mood", "Sad", "npy"),
    (
        "(mood:option[mood]) ^ 3",
        "[ (mood=Some Sad), (mood=None[mood]), (mood=Some Glad) ]",
        "csv arrow parquet",
    ),
    ("(n\"in\":town) ^ 2", "[ (n\"in\"=n\"New York\"), (n\"in\"=Rome) ]", "csv arrow"),
];

#[test]
fn what_is_written_reads_back() {
    let own = "fun i16_of(i:2, j:2) : i16 => (2 * (i :>> int) + (j :>> int) - 1).wrap[i16];\n\
               variant mood = Glad | So_so | Sad;\nvariant town = Rome | n\"New York\";\n";
    for (ty, value, formats) in WRITTEN {
        for format in formats.split(' ') {
            let text = format!(
                "{own}val x : {ty} = {value};\nwrite_{format} (\"f\", x);\nval y : {ty} = {format} \"f\";\n\
                 print (x._strr == y._strr);"
            );
            assert_eq!(output(&text), "true", "{text}");
        }
        if formats.contains("npy") {
            let text = format!(
                "{own}val x : {ty} = {value};\nwrite_npz (\"f\", (one = x, two = 1));\n\
                 val y : {ty} = npz (\"f\", \"one\");\nprint (x._strr == y._strr);"
            );
            assert_eq!(output(&text), "true", "{text}");
        }
    }
}

/// Days are cells by their texts, also where they may be missing.
#[test]
fn days_are_cells() {
    let text = "import date (date, new_date, days_between);
        val x = [ (n=1, day=new_date (2024, 2, 29)), (n=2, day=new_date (-44, 3, 15)) ];
        write_csv (\"f\", x);
        print (read_text \"f\");
        val y : (n:int, day:date) ^ ?N = csv \"f\";
        println y;
        println [ days_between (new_date (2024, 3, 1), v.day) for v in y ];
        write_text (\"g\", \"day,rain\\n 2024-03-01 ,0.5\\n,1.5\\nNA,2.5\\n\");
        val z : (day:option[date], rain:real) ^ ?N = csv (\"g\", ',', 0, \"NA\");
        println z;
        write_csv (\"g\", z);
        print (read_text \"g\");
        write_arrow (\"h\", x);
        val w : (day:date) ^ ?N = arrow \"h\";
        println w;";
    let expected = "n,day\n1,2024-02-29\n2,-0044-03-15\n\
        ((n=1, day=2024-02-29), (n=2, day=-0044-03-15))\n(-1, -755308)\n\
        ((day=Some (2024-03-01), rain=0.5), (day=None, rain=1.5), (day=None, rain=2.5))\n\
        day,rain\n2024-03-01,0.5\n,1.5\n,2.5\n\
        ((day=2024-02-29), (day=-0044-03-15))\n";
    assert_eq!(output(text), expected);
}

/// Fields with quoted names, and cases.
#[test]
fn names_are_written_as_they_are() {
    let text = "variant mood = Glad | So_so;
        val x = [ (n\"first name\"=\"Ada\", n\"a\\\"b\"=Glad), (n\"first name\"=\"Alan\", n\"a\\\"b\"=So_so) ];
        write_csv (\"f\", x);
        print (read_text \"f\");
        write_npz (\"g\", (n\"my table\"=x));
        val y : (n\"first name\":string) ^ ?N = npz (\"g\", \"my table\");
        println y;";
    let expected =
        "first name,\"a\"\"b\"\nAda,Glad\nAlan,So_so\n((n\"first name\"=Ada), (n\"first name\"=Alan))\n";
    assert_eq!(output(text), expected);
}

/// Checks that variants other than `option` and those of constants are not cells, and that a text
/// that is not a name is not a case.
#[test]
fn cases_that_are_none() {
    let declared = "variant mood = Glad | Sad;\nvariant shape = Point | Circle of real;\n";
    for (text, code, said) in [
        ("write_csv (\"f\", [ (s=Point), (s=Circle 1.0) ]);", "E0809", "no file holds `(s:shape) ^ 2`"),
        (
            "write_text (\"f\", \"mood\\nSad\\nMad\\n\");\nval x : (mood:mood) ^ ?N = csv \"f\";",
            "E1006",
            "line 3, column `mood` of `f` is `Mad`, which is no `mood`",
        ),
        (
            "write_arrow (\"f\", [ (mood=\"Mad\") ]);\nval x : (mood:mood) ^ ?N = arrow \"f\";",
            "E1006",
            "column `mood`, element 0 of `f` is `Mad`, which is no `mood`",
        ),
        (
            "import date (date);\nwrite_text (\"f\", \"day\\n2024-02-30\\n\");\nval x : (day:date) ^ ?N = csv \"f\";",
            "E1006",
            "line 2, column `day` of `f` is `2024-02-30`, which is no `date`",
        ),
        (
            "val x : (age:mood) ^ ?N = parquet \"gzip.parquet\";",
            "E1005",
            "column `age` of `gzip.parquet` holds `i32`, and `mood` is wanted",
        ),
    ] {
        let mut session = Session::new();
        session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
        let done = session.evaluate("test.flx", &format!("{declared}{text}"), Mode::Script, &mut |_| ());
        let found: Vec<(&str, &str)> =
            done.diagnostics.iter().map(|d| (d.code.as_str(), d.message.as_str())).collect();
        assert_eq!(found, [(code, said)], "{text}");
    }
}

#[test]
fn each_round_of_a_loop_opens_its_own() {
    let text = "for path in [\"matrix.npy\", \"empty.npy\"] do\n\
                val x : real ^ (?N \\* ?M) = npy path;\n\
                println (#sizeof[N], #sizeof[M], sum x);\ndone\n\
                println [ sum (npy[real ^ (3 \\* 4)] path) for path in [\"matrix.npy\", \"matrix_f.npy\"] ];";
    assert_eq!(output(text), "(3, 4, 33.0)\n(0, 3, 0.0)\n(33.0, 33.0)\n");
}

#[test]
fn a_host_without_files_has_none() {
    for text in ["val x : int ^ ?N = npy \"a.npy\";", "write_text (\"a\", \"b\");"] {
        let mut session = Session::new();
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
        assert_eq!(done.status, Status::Failed);
        let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, ["E1001"]);
        assert!(done.diagnostics[0].message.contains("there are no files here"));
    }
}

#[test]
fn a_reading_that_fails_leaves_the_session_as_it_was() {
    let mut session = Session::new();
    session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
    let mut eval = |text: &str| {
        let mut output = String::new();
        let done = session.evaluate("<input>", text, Mode::Line, &mut |text| output.push_str(text));
        (done.status, output, done.value.map(|value| value.text))
    };
    assert_eq!(eval("val x : real ^ (?N \\* ?M) = npy \"scalar.npy\";").0, Status::Failed);
    assert_eq!(eval("x").0, Status::Rejected);
    assert_eq!(eval("val x : real ^ ?N = npy \"halves.npy\";").0, Status::Ok);
    assert_eq!(eval("#sizeof[N]").2.as_deref(), Some("6"));
}

#[test]
fn the_offered_type_is_that_of_the_file() {
    for (reader, expected) in [
        (r#"npy "matrix.npy""#, r"real ^ (?N \* ?M)"),
        (r#"npy "records.npy""#, "(name:string, age:i32, height:real) ^ ?N"),
        (r#"npz ("packed.npz", "zeros")"#, "real ^ ?N"),
        (r#"csv "table.csv""#, r"real ^ (?N \* ?M)"),
        (r#"csv "people.csv""#, "(name:string, age:option[real], height:option[real], member:bool) ^ ?N"),
        (r#"parquet "zstd_pages.parquet""#, "(n:int, text:option[string], x:option[real]) ^ ?N"),
    ] {
        let mut session = Session::new();
        session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
        let text = format!("val x = {reader};");
        let refused = session.check("test.flx", &text);
        let edits = refused.diagnostics[0].help.clone().map(|help| help.edits).unwrap_or_default();
        let (span, inserted) = edits[0].clone();
        assert_eq!(inserted, format!(" : {expected}"));
        let mut fixed = text.clone();
        fixed.replace_range(span.range(), &inserted);
        let done = session.evaluate("test.flx", &fixed, Mode::Script, &mut |_| ());
        assert_eq!(done.status, Status::Ok, "{fixed}");
    }
}

/// Checks that the offered columns have names that a type can mention, in quotes if necessary.
#[test]
fn what_has_no_name_is_not_offered() {
    let offered = |path: &str, reader: &str, bytes: &[u8]| {
        let file_system = InMemoryFileSystem::default();
        file_system.write(path, bytes).expect("room");
        let mut session = Session::new();
        session.set_files(Arc::new(file_system));
        let refused = session.check("test.flx", &format!("val x = {reader} \"{path}\";"));
        let edits = refused.diagnostics[0].help.clone().map(|help| help.edits).unwrap_or_default();
        edits.first().map(|(_, inserted)| inserted.clone())
    };
    let names = ["größe", "if", "a b", "1st", "", "twice", "twice", "x::y", "name", "x'", "_"];
    let line = names.join(",") + "\n" + &vec!["1"; names.len()].join(",") + "\n";
    let expected = " : (n\"größe\":int, n\"if\":int, n\"a b\":int, n\"1st\":int, n\"x::y\":int, name:int, x':int, n\"_\":int) ^ ?N";
    assert_eq!(offered("a.csv", "csv", line.as_bytes()).as_deref(), Some(expected));
    assert_eq!(offered("a.csv", "csv", b"a,a,\n1,2,3\n"), None);
    let column = || Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1]));
    let columns = names.into_iter().filter(|name| !name.is_empty()).map(|name| (name.into(), column()));
    let data = Data { shape: vec![1], content: Content::Records(columns.collect()) };
    for (path, reader, format) in [
        ("a.npy", "npy", Format::Npy),
        ("a.arrow", "arrow", Format::Arrow),
        ("a.parquet", "parquet", Format::Parquet),
    ] {
        let bytes = write(format, &data).expect("a file");
        assert_eq!(offered(path, reader, &bytes).as_deref(), Some(expected), "{path}");
    }
}

/// Generates columns of `count` cells, of each type that files support.
fn column(count: usize) -> impl Strategy<Value = Column> {
    let words = move |element: Element| {
        prop::collection::vec(any::<u64>(), count).prop_map(move |words| {
            let mut cells = Buffer::with_capacity(element.class(), count).expect("room");
            for word in words {
                let word = if element == Element::Bool { word & 1 } else { word };
                cells.push(Value::Word(word));
            }
            Column::new(element, cells)
        })
    };
    let numbers = [Scalar::Int, Scalar::Real, Scalar::Single]
        .into_iter()
        .chain(Fixed::ALL.into_iter().map(Scalar::Fixed))
        .map(Element::Scalar)
        .chain([Element::Bool]);
    let numbers = prop::sample::select(numbers.collect::<Vec<_>>()).prop_flat_map(words);
    let texts = prop::collection::vec("[a-zä\"', \n]{0,6}x", count).prop_map(|texts| {
        let texts = texts.into_iter().map(Value::str).collect();
        Column::new(Element::Scalar(Scalar::String), Buffer::Any(texts))
    });
    prop_oneof![4 => numbers, 1 => texts]
}

fn data() -> impl Strategy<Value = Data> {
    let plain = prop::collection::vec(0usize..4, 0..4).prop_flat_map(|shape| {
        let count = shape.iter().product();
        (Just(shape), column(count))
            .prop_map(|(shape, column)| Data { shape, content: Content::Plain(column) })
    });
    let records = (0usize..5).prop_flat_map(|count| {
        prop::collection::vec(column(count), 1..4).prop_map(move |columns| {
            let names = ["a", "b", "c", "d"].map(Arc::from);
            let columns = names.into_iter().zip(columns).collect();
            Data { shape: vec![count], content: Content::Records(columns) }
        })
    });
    prop_oneof![plain, records]
}

/// Returns a type that describes this data as records or an array, for readers that need a stated
/// type.
fn stated(data: &Data) -> FileType {
    let cell = |column: &Column| match column.element {
        Element::Bool => Type::bool(),
        Element::Scalar(scalar) => Type::scalar(scalar),
        Element::Complex => Type::unit(),
    };
    let element = match &data.content {
        Content::Plain(column) => cell(column),
        Content::Records(columns) => {
            Type::record(columns.iter().map(|(name, column)| (name.clone(), cell(column))).collect())
        }
    };
    let sizes: Vec<Type> = data.shape.iter().map(|n| Type::unit_sum(*n)).collect();
    let ty = match sizes.len() {
        0 => element,
        _ => Type::array(element, Type::compact_product(sizes)),
    };
    FileType::of(&ty).expect("a type that files hold")
}

/// Compares cells by their bits; all NaN values are equal.
fn same(a: &Data, b: &Data, text: bool) -> bool {
    let columns = |data: &Data| match &data.content {
        Content::Plain(column) => vec![(Arc::from(""), column.clone())],
        Content::Records(columns) => columns.clone(),
    };
    let (xs, ys) = (columns(a), columns(b));
    a.shape == b.shape
        && xs.len() == ys.len()
        && xs.iter().zip(&ys).all(|((n, x), (m, y))| {
            n == m
                && x.element == y.element
                && x.cells.len() == y.cells.len()
                && x.missing == y.missing
                && (0..x.cells.len()).all(|i| {
                    let (v, w) = (x.cells.get(i), y.cells.get(i));
                    let nan = text
                        && match x.element {
                            Element::Scalar(Scalar::Real) => v.as_real().is_nan() && w.as_real().is_nan(),
                            Element::Scalar(Scalar::Single) => {
                                v.as_single().is_nan() && w.as_single().is_nan()
                            }
                            _ => false,
                        };
                    nan || format!("{v:?}") == format!("{w:?}")
                })
        })
}

proptest! {
    #[test]
    fn npy_and_npz_read_back(written in data()) {
        for format in [Format::Npy, Format::Npz] {
            let bytes = write(format, &written).expect("a file");
            let read = read(format, &bytes, Some("arr_0"), &stated(&written), 1 << 30).expect("the same");
            prop_assert!(same(&written, &read, false), "{written:?}\n{read:?}");
        }
    }

    #[test]
    fn csv_reads_back(written in data()) {
        let rows = !matches!(written.content, Content::Plain(_)) || (1..=2).contains(&written.shape.len());
        prop_assume!(rows && !written.shape.contains(&0));
        let bytes = write(CSV, &written).expect("a file");
        let read = read(CSV, &bytes, None, &stated(&written), 1 << 30).expect("the same");
        prop_assert!(same(&written, &read, true), "{written:?}\n{read:?}");
    }

    #[test]
    fn raw_reads_back(written in data()) {
        if let Ok(bytes) = write(Format::Raw, &written) {
            prop_assume!(!matches!(&written.content, Content::Plain(column) if column.element == Element::Bool));
            let read = read(Format::Raw, &bytes, None, &stated(&written), 1 << 30).expect("the same");
            prop_assert!(same(&written, &read, false), "{written:?}\n{read:?}");
        }
    }

    /// Checks that damaged files are refused or read, without any other effect.
    #[test]
    fn damage_is_no_disaster(
        (format, file) in prop::sample::select(FILES),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in prop::option::weighted(0.5, any::<prop::sample::Index>()),
    ) {
        let mut bytes = fs::read(fixtures().join(file)).expect("a file");
        let whole = read(format, &bytes, Some("zeros"), &people(), 1 << 20);
        prop_assert!(whole.is_ok(), "{file}: {whole:?}");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()) + 1);
        }
        let read = read(format, &bytes, Some("zeros"), &people(), 1 << 20);
        prop_assert!(is_whole(&read), "{file}: {read:?}");
        let limits = Limits { memory: 1 << 20, interrupt: &STOP };
        let _ = data::describe(format, &bytes.into(), Some("zeros"), &|name| Some(name.to_string()), &limits);
    }
}

/// The files that [`people`] can be read from.
const FILES: &[(Format, &str)] = &[
    (Format::Npy, "matrix.npy"),
    (Format::Npy, "matrix_f.npy"),
    (Format::Npy, "records.npy"),
    (Format::Npy, "texts.npy"),
    (Format::Npz, "packed.npz"),
    (CSV, "people.csv"),
    (Format::Arrow, "people.arrow"),
    (Format::Arrow, "people_zstd.arrow"),
    (Format::Arrow, "people.arrows"),
    (Format::Parquet, "people.parquet"),
];

fn people() -> FileType {
    let fields = vec![("name".into(), Type::string()), ("member".into(), Type::bool())];
    FileType::of(&Type::array(Type::record(fields), Type::unit_sum(4u32))).expect("a table")
}

/// Returns true if all cells of the shape are present, or an error explains their absence.
fn is_whole(read: &Result<Data, DataError>) -> bool {
    let data = match read {
        Ok(data) => data,
        Err(trouble) => {
            return !matches!(trouble, DataError::Interrupted | DataError::UnsupportedType { .. });
        }
    };
    let whole = |column: &Column| {
        let slots = if column.element == Element::Complex { 2 } else { 1 };
        column.cells.len() == data.count() * slots
            && (column.missing.is_empty() || column.missing.len() == data.count())
    };
    match &data.content {
        Content::Plain(column) => whole(column),
        Content::Records(columns) => columns.iter().all(|(_, column)| whole(column)),
    }
}

mod parquet;

#[test]
fn an_archive_that_unpacks_to_more_than_memory_is_refused() {
    let bytes = fs::read(fixtures().join("packed.npz")).expect("a file");
    let any = FileType::of(&Type::array(Type::real(), Type::unit_sum(1000u32))).expect("an array");
    let refused = read(Format::Npz, &bytes, Some("zeros"), &any, 4_000);
    assert!(matches!(refused, Err(DataError::Malformed { .. })), "{refused:?}");
}

#[test]
fn what_grows_beyond_the_memory_is_refused_before() {
    let file_system = InMemoryFileSystem::over_fixtures();
    file_system.write("bytes.bin", &[7; 1000]).expect("room");
    file_system.write("large.bin", &[7; 8000]).expect("room");
    let mut session = Session::new();
    session.set_files(Arc::new(file_system));
    session.set_max_value_bytes(4_000);
    let mut codes = |text: &str| {
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
        done.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>()
    };
    assert!(codes("val a : u8 ^ ?N = raw \"bytes.bin\";\nwrite_npy (\"a.npy\", a);").is_empty());
    assert!(codes("val b : u8 ^ ?N = npy \"a.npy\";").is_empty());
    assert_eq!(codes("val c : real ^ ?N = npy \"a.npy\";"), ["E0509"]);
    // Data in a file take no memory until they are copied.
    let large = "val d : int ^ ?N = raw \"large.bin\";\n";
    assert!(codes(&format!("{large}println (sum d);")).is_empty());
    assert_eq!(codes(&format!("{large}write_npy (\"c.npy\", d);")), ["E1002"]);
    assert_eq!(codes(&format!("{large}write_arrow (\"c.arrow\", [ (a=x) for x in d ]);")), ["E0509"]);
    assert_eq!(codes(&format!("{large}var e = d;\n&e.(0.mod[N]) <- 1;")), ["E0509"]);
    assert_eq!(codes(&format!("{large}var e = d;\nfor i in ..[N] do &e.i <- 1; done")), ["E0509"]);
}

#[test]
fn what_is_written_is_within_the_memory() {
    let mut session = Session::new();
    session.set_files(Arc::new(InMemoryFileSystem::default()));
    session.set_max_value_bytes(100_000);
    let mut said = |text: &str| {
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
        done.diagnostics.iter().map(|d| (d.code.as_str(), d.message.clone())).collect::<Vec<_>>()
    };
    let texts = "val texts = [ repeat (\"a\", 10 * (i :>> int) + 1) for i in ..[100] ];\n";
    let why = "each of its texts takes as much as the longest, and all more memory than may be used";
    let refused = vec![("E1002", format!("`a.npy` cannot be written: {why}"))];
    assert_eq!(said(&format!("{texts}write_npy (\"a.npy\", texts);")), refused);
    let refused = vec![("E1002", format!("`a.npz` cannot be written: {why}"))];
    assert_eq!(said(&format!("{texts}write_npz (\"a.npz\", (a = texts));")), refused);
    assert_eq!(said(&format!("{texts}write_csv (\"a.csv\", texts);")), []);
    // As text, a number may take more space than its slot.
    let numbers = "val numbers = [ -1.0e-300 / 3.0 for i in ..[10000] ];\n";
    let why = "it takes more memory than may be used";
    let refused = vec![("E1002", format!("`b.csv` cannot be written: {why}"))];
    assert_eq!(said(&format!("{numbers}write_csv (\"b.csv\", numbers);")), refused);
    assert_eq!(said(&format!("{numbers}write_raw (\"b.bin\", numbers);")), []);
}

#[test]
fn numbers_become_text_until_somebody_stops() {
    let column = Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1, 2, 3]));
    let data = Data { shape: vec![3], content: Content::Plain(column) };
    let text =
        |room, stop| data::cells_text(&data, &Limits { memory: room, interrupt: &AtomicBool::new(stop) });
    assert_eq!(text(5, false), Ok(Some("1 2 3".to_string())));
    assert_eq!(text(4, false), Ok(None));
    assert_eq!(text(5, true), Err(DataError::Interrupted));
}

/// A host that is interrupted while it reads or writes.
struct Stopped(InMemoryFileSystem, Arc<AtomicBool>);

impl FileSystem for Stopped {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        self.1.store(true, Ordering::SeqCst);
        self.0.read(path, most)
    }

    fn write(&self, _: &str, _: &[u8]) -> Result<(), String> {
        self.1.store(true, Ordering::SeqCst);
        Err("it was interrupted".to_string())
    }
}

#[test]
fn an_interruption_ends_reading_and_writing() {
    let mut session = Session::new();
    session.set_files(Arc::new(Stopped(InMemoryFileSystem::over_fixtures(), session.interrupt_flag())));
    let mut eval = |text: &str| {
        let done = session.evaluate("<input>", text, Mode::Line, &mut |_| ());
        (done.status, done.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>())
    };
    for text in [
        "val x : (height:1 + f32) ^ ?N = csv \"people.csv\";",
        "val x : (height:option[real]) ^ ?N = arrow \"people.arrow\";",
        "val x : string ^ ?N = npy \"texts.npy\";",
        "val x : string ^ ?N = npz (\"packed.npz\", \"text\");",
        "write_csv (\"a.csv\", (1, 2));",
        "write_text (\"a.txt\", \"x\");",
    ] {
        assert_eq!(eval(text), (Status::Interrupted, vec!["E0511"]), "{text}");
    }
    assert_eq!(eval("x").0, Status::Rejected);
    assert_eq!(eval("println 1;").0, Status::Ok);
}

/// Checks uses of an array in the memory of a file, in each executor.
#[test]
fn what_lies_in_a_file_is_an_array_like_others() {
    let text = r#"write_raw ("a.bin", #iota[4 \* 6]);
        var a : (int ^ 6) ^ ?N = raw "a.bin";
        val b : (int ^ 6) ^ 4 = raw "a.bin";
        val c = b;
        println (a._strr == b._strr, sum (map sum b), sum (b.(`3:4)));
        println [ b.i.j * 2 for j in ..[6], i in ..[4] ];
        println (sum (b :>> int ^ 24));
        var d = b;
        &d.(`1:4).(`2:6) <- 100;
        for i in ..[4] do &d.i.(`0:6) <- d.i.(`5:6) - 1; done
        println d;
        var e = b.(`2:4);
        &e.(`0:6) <- -1;
        println (e, b.(`2:4), (e, b.(`0:4)));
        for k in ..[6] do &e.k <- e.k + b.(`3:4).k; done
        println e;
        write_raw ("a.bin", d);
        val f : int ^ 24 = raw "a.bin";
        println (sum (map sum b), sum (map sum c), sum (map sum a), sum f);
        println (sort f);
        val t : f32 ^ ?K = raw "singles.bin";
        println (t, sum [ x for x in t ]);"#;
    let expected = [
        "(true, 276, 123)",
        "(0, 12, 24, 36, 2, 14, 26, 38, 4, 16, 28, 40, 6, 18, 30, 42, 8, 20, 32, 44, 10, 22, 34, 46)",
        "276",
        "((4, 1, 2, 3, 4, 5), (10, 7, 100, 9, 10, 11), (16, 13, 14, 15, 16, 17), (22, 19, 20, 21, 22, 23))",
        "((-1, 13, 14, 15, 16, 17), (12, 13, 14, 15, 16, 17), ((-1, 13, 14, 15, 16, 17), (0, 1, 2, 3, 4, 5)))",
        "(17, 32, 34, 36, 38, 40)",
        "(276, 276, 276, 384)",
        "(1, 2, 3, 4, 4, 5, 7, 9, 10, 10, 11, 13, 14, 15, 16, 16, 17, 19, 20, 21, 22, 22, 23, 100)",
        "((0.0, 1.0, 2.0, 3.0, 4.0, 5.0), 15.0)",
    ];
    assert_eq!(output(text).lines().collect::<Vec<_>>(), expected);
}

/// Returns an empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Runs the command on a program in a folder; returns exit code, output and messages.
fn felis(folder: &Path, text: &str) -> (Option<i32>, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_felis"))
        .args(["-e", text])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("felis runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn the_command_reads_and_writes_where_it_runs() {
    let folder = folder("command");
    let text =
        "write_npy (\"a.npy\", (1, 2, 3)); val x : int ^ ?N = npy \"a.npy\"; write_csv (\"b.csv\", x);";
    assert_eq!(felis(&folder, text), (Some(0), String::new(), String::new()));
    assert_eq!(names(&folder), ["a.npy", "b.csv"]);
    assert_eq!(fs::read_to_string(folder.join("b.csv")).expect("a file"), "1\n2\n3\n");
}

/// A rank known at run time: functions that do not mention it work on all axes at once, and the
/// axes are kept in the written file.
#[test]
fn the_axes_of_a_file_are_kept() {
    let folder = folder("rank");
    fs::copy("tests/files/cube_f.npy", folder.join("cube.npy")).expect("a copy");
    let text = r#"
        fun twice[I : COMPACTLINEAR] (x : real ^ I) : real ^ I => x + x;
        struct held { data : real ^ ?K; }
        fun kept (x : held) : real ^ ?K => x.data;
        val x : real ^ ?I = npy "cube.npy";
        println (sum x, len x, #sizeof[I]);
        write_npy ("twice.npy", map (fun (v : real) => v / 2.0) (twice x) + x);
        val h = held x;
        write_npy ("held.npy", kept h);
        val y : real ^ (2 \* 3 \* ?C) = npy "twice.npy";
        val z : real ^ (?A \* 3 \* 4) = npy "held.npy";
        println (y.(1 :>> 2 \, 2 :>> 3 \, 3 :>> C), sum z);
        val one : real ^ ?L = npy "twice.npy";
        require L == I;
        println (sum (x + (one :>> real ^ I)));
    "#;
    let (code, out, err) = felis(&folder, text);
    assert_eq!((code, &out[..], &err[..]), (Some(0), "(276.0, 24, 24)\n(46.0, 276.0)\n828.0\n", ""));
}

#[test]
fn what_is_no_file_is_not_touched() {
    let folder = folder("places");
    fs::create_dir(folder.join("inner")).expect("a folder");
    for (text, said) in [
        ("write_text (\"inner\", \"x\");", "it is a folder"),
        ("write_text (\"no/x\", \"x\");", "its folder is not there"),
        ("write_text (\"\", \"x\");", "cannot be written"),
        ("println (read_text \"inner\");", "it is a folder"),
        ("println (read_text \"/dev/zero\");", "it is no file"),
        ("println (read_text \"a\\0b\");", "cannot be read"),
    ] {
        let (code, output, messages) = felis(&folder, text);
        assert_eq!((code, output.as_str()), (Some(1), ""), "{text}\n{messages}");
        assert!(messages.contains(said), "{text}\n{messages}");
        assert_eq!(names(&folder), ["inner"], "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_is_replaced_as_a_whole_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("atomic");
    let file = folder.join("x.txt");
    fs::write(&file, "old").expect("writable");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink("x.txt", folder.join("link")).expect("a link");
    // A process that has opened the old file keeps it.
    let mut open = fs::File::open(&file).expect("a file");
    assert_eq!(felis(&folder, "write_text (\"link\", \"new\");").0, Some(0));
    // A read-only file is not replaced either.
    let guarded = folder.join("guarded.txt");
    fs::write(&guarded, "old").expect("writable");
    fs::set_permissions(&guarded, fs::Permissions::from_mode(0o444)).expect("permissions");
    let (code, _, messages) = felis(&folder, "write_text (\"guarded.txt\", \"new\");");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("there is no permission to write it"), "{messages}");
    assert_eq!(fs::read_to_string(&guarded).expect("a file"), "old");
    fs::remove_file(&guarded).expect("removed");
    let mut old = String::new();
    std::io::Read::read_to_string(&mut open, &mut old).expect("text");
    assert_eq!((old.as_str(), fs::read_to_string(&file).expect("a file").as_str()), ("old", "new"));
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&folder), ["link", "x.txt"]);
    assert!(fs::symlink_metadata(folder.join("link")).expect("a link").is_symlink());
}

/// A file larger than the memory of any test machine, but sparse on the disk.
#[cfg(unix)]
#[test]
fn a_file_that_is_larger_than_memory_is_used_in_parts() {
    use std::os::unix::fs::FileExt;
    let folder = folder("mapped");
    let rows = 1u64 << 20;
    let file = fs::File::create(folder.join("huge.bin")).expect("a file");
    let row = 8 * 8192;
    // 64 GiB, if the file system supports sparse files.
    if file.set_len(rows * row).is_err() {
        return;
    }
    file.write_all_at(&42i64.to_le_bytes(), rows * row - 8).expect("written");
    file.write_all_at(&7i64.to_le_bytes(), (rows - 1) * row).expect("written");
    let read = "val all : (int ^ 8192) ^ ?N = raw \"huge.bin\"; val last = all.((-1).mod[N]);";
    let (code, output, messages) = felis(&folder, &format!("{read} println (sum last, last.(`0:8192));"));
    assert_eq!((code, output.as_str()), (Some(0), "(49, 7)\n"), "{messages}");
    // A copy of all of it is refused, and nothing is lost.
    let store = "var all : (int ^ 8192) ^ ?N = raw \"huge.bin\"; &all.(0.mod[N]).(`0:8192) <- 1;";
    let (code, output, messages) = felis(&folder, store);
    assert_eq!((code, output.as_str()), (Some(1), ""), "{messages}");
    assert!(messages.contains("E0509"), "{messages}");
    fs::remove_file(folder.join("huge.bin")).expect("removed");
}

/// Cells that must be copied are counted before memory is allocated.
#[cfg(unix)]
#[test]
fn a_file_that_promises_more_than_memory_is_refused() {
    use std::os::unix::fs::FileExt;
    let folder = folder("promises");
    let cells = 1u64 << 40;
    let header = format!("{{'descr': '|b1', 'fortran_order': False, 'shape': ({cells},), }}");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let file = fs::File::create(folder.join("huge.npy")).expect("a file");
    // 1 TiB, if the file system supports sparse files.
    if file.set_len(bytes.len() as u64 + cells).is_err() {
        return;
    }
    file.write_all_at(&bytes, 0).expect("written");
    let (code, output, messages) = felis(&folder, "val x : bool ^ ?N = npy \"huge.npy\";");
    assert_eq!((code, output.as_str()), (Some(1), ""), "{messages}");
    assert!(messages.contains("it takes more memory than there is"), "{messages}");
    // The head of the file is enough to reject its type.
    let (code, output, messages) = felis(&folder, "val x = npy \"huge.npy\";");
    assert_eq!((code, output.as_str()), (Some(3), ""), "{messages}");
    assert!(messages.contains("`huge.npy` is `bool ^ ?N`"), "{messages}");
    fs::remove_file(folder.join("huge.npy")).expect("removed");
}

/// Checks the message when the system ends a process that reads beyond the end of a truncated file.
#[cfg(target_os = "linux")]
#[test]
fn a_large_file_that_is_cut_ends_the_run_with_a_message() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let folder = folder("cut");
    let path = folder.join("large.bin");
    let file = fs::File::create(&path).expect("a file");
    if file.set_len(1 << 28).is_err() {
        return;
    }
    let mut felis = Command::new(env!("CARGO_BIN_EXE_felis"))
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("felis runs");
    let mut lines = felis.stdin.take().expect("a pipe");
    lines.write_all(b"val all : int ^ ?N = raw \"large.bin\"\nprintln \"ready\"\n").expect("written");
    let mut said = String::new();
    BufReader::new(felis.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
    assert_eq!(said, "ready\n");
    file.set_len(4096).expect("cut");
    lines.write_all(b"println (sum all)\n").expect("written");
    drop(lines);
    let done = felis.wait_with_output().expect("it ends");
    let messages = String::from_utf8(done.stderr).expect("text");
    assert_eq!(done.status.code(), Some(1), "{messages}");
    assert_eq!(messages, "felis: another program has shortened a file that is in use\n");
    fs::remove_file(&path).expect("removed");
}
