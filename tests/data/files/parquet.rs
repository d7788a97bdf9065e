//! Parquet files of other programs, valid and damaged, and of Felis: a part of `files.rs`.

use super::*;

#[test]
fn columns_of_others() {
    for (ty, file, expected) in [
        (
            "(height:real, name:option[string], member:option[bool], small:int) ^ ?N",
            "people.parquet",
            r#"((height=1.65,name=Some ("Ada"),member=Some (true),small=1),(height=1.78,name=Some ("Alan, M."),member=Some (false),small=-2),(height=1.7,name=None,member=Some (true),small=3),(height=2.0,name=Some ("Kurt \"G\""),member=None,small=-4))"#,
        ),
        ("(large:u64) ^ 4", "people.parquet", "((large=18446744073709551615),(large=0),(large=1),(large=2))"),
        (
            "(age:option[int]) ^ ?N",
            "lz4.parquet",
            "((age=Some (36)),(age=Some (41)),(age=None),(age=Some (71)))",
        ),
        (
            "(name:option[string], age:option[int]) ^ ?N",
            "zstd.parquet",
            r#"((name=Some ("a"),age=Some (36)),(name=Some ("b"),age=Some (41)),(name=Some ("c"),age=None),(name=None,age=Some (71)))"#,
        ),
        (
            "(age:1 + int) ^ ?N",
            "gzip.parquet",
            "((age=case 1 (36)),(age=case 1 (41)),(age=case 0 ()),(age=case 1 (71)))",
        ),
    ] {
        let shown = output(&format!("val x : {ty} = parquet \"{file}\";\nprint x._strr;"));
        assert_eq!(shown, expected, "{ty}");
    }
}

/// Pages of version 2, several for each column, with levels that are not packed.
#[test]
fn pages_packed_with_zstandard() {
    let text = "val x : (n:int, text:option[string], x:option[real]) ^ ?N = parquet \"zstd_pages.parquet\";
        println (#sizeof[N], sum [ row.n for row in x ]);
        println ([ row.text for row in x ].(8.mod[N]), [ row.text for row in x ].(399.mod[N]));
        println (sum [ match row.text with | None => 1 | Some _ => 0 endmatch for row in x ]);
        println (sum [ match row.x with | None => 1 | Some _ => 0 endmatch for row in x ]);";
    assert_eq!(output(text), "(400, 79800)\n(Some (w3), None)\n58\n400\n");
}

#[test]
fn columns_that_no_cell_holds() {
    for (column, held) in [
        ("nested", "lists of what is no number, text or truth value"),
        ("who", "records"),
        ("map", "maps"),
        ("seen", "times"),
        ("day", "times"),
        ("price", "decimals"),
        ("bytes", "bytes"),
    ] {
        let mut session = Session::new();
        session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
        let text = format!("val x : ({column}:int) ^ ?N = parquet \"nested.parquet\";");
        let done = session.evaluate("test.flx", &text, Mode::Script, &mut |_| ());
        assert_eq!(done.diagnostics.len(), 1, "{column}");
        assert_eq!(done.diagnostics[0].code, "E1003");
        let label = format!("its column `{column}` holds {held}, which no cell is");
        assert_eq!(done.diagnostics[0].primary.text, label);
    }
    assert_eq!(output("val x : (n:int) ^ ?N = parquet \"nested.parquet\";\nprint x;"), "((n=1), (n=2))");
}

#[test]
fn what_is_refused() {
    for (text, code) in [
        ("val p : (nam:string) ^ ?N = parquet \"people.parquet\";", "E1007"),
        ("val p : (name:string) ^ ?N = parquet \"people.parquet\";", "E1006"),
        ("val p : (height:int) ^ ?N = parquet \"people.parquet\";", "E1005"),
        ("val p : (height:real) ^ 5 = parquet \"people.parquet\";", "E1004"),
        ("val p : (height:real) ^ ?N = parquet \"people.csv\";", "E1003"),
        ("val p : real ^ ?N = parquet \"people.parquet\";", "E1008"),
        ("val p = parquet \"people.parquet\";", "E0808"),
        ("write_parquet (\"x\", (1.0, 2.0));", "E1008"),
    ] {
        let mut session = Session::new();
        session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |_| ());
        let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

proptest! {
    #[test]
    fn tables_read_back(written in data(), empty in any::<u64>()) {
        prop_assume!(matches!(written.content, Content::Records(_)));
        let mut written = written;
        if let Content::Records(columns) = &mut written.content
            && let Some((_, column)) = columns.first_mut()
        {
            let missing: Vec<bool> = (0..column.cells.len()).map(|i| empty >> i & 1 == 1).collect();
            for i in (0..missing.len()).filter(|i| missing[*i]) {
                let none = matches!(column.cells, Buffer::Any(_));
                column.cells.set(i, if none { Value::str("") } else { Value::UNIT });
            }
            column.missing = if missing.contains(&true) { missing } else { Vec::new() };
        }
        let bytes = write(Format::Parquet, &written).expect("a file");
        let read = read(Format::Parquet, &bytes, None, &stated(&written), 1 << 30).expect("the same");
        prop_assert!(same(&written, &read, false), "{written:?}\n{read:?}");
    }

    /// Pages have no checksums that are verified, so some damage is read as other cells; their
    /// number stays the same.
    #[test]
    fn damage_is_refused_or_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = fs::read(fixtures().join("gzip.parquet")).expect("a file");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let read = read(Format::Parquet, &bytes, None, &ages(), 1 << 20);
        prop_assert!(is_whole(&read), "{read:?}");
    }
}

fn ages() -> FileType {
    let any = Type::array(Type::record(vec![("age".into(), Type::int())]), Type::unit_sum(4u32));
    FileType::of(&any).expect("a table")
}

#[test]
fn what_is_cut_is_refused() {
    let bytes = fs::read(fixtures().join("gzip.parquet")).expect("a file");
    assert!(read(Format::Parquet, &bytes, None, &ages(), 1 << 20).is_ok());
    for end in 0..bytes.len() {
        let read = read(Format::Parquet, &bytes[..end], None, &ages(), 1 << 20);
        assert!(matches!(read, Err(DataError::Malformed { .. })), "{end}: {read:?}");
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let column = || Column::new(Element::Scalar(Scalar::Int), Buffer::Word(vec![1]));
    let columns = ["age", "age", "x"].map(|name| (name.into(), column())).to_vec();
    let bytes = write(Format::Parquet, &Data { shape: vec![1], content: Content::Records(columns) });
    let bytes = bytes.expect("a file");
    let refused = read(Format::Parquet, &bytes, None, &ages(), 1 << 20);
    let Err(DataError::Malformed { why, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(why, "two of its columns are named `age`");
}
