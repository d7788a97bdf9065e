//! The library as an embedder uses it.

use super::{Array, Error, ErrorKind, FileSystem, Session, Severity, Value};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

fn value(text: &str) -> Value {
    Session::new().evaluate(text).expect(text).value().expect(text)
}

#[test]
fn numbers_convert_where_they_fit() {
    assert_eq!(i64::try_from(value("-3")), Ok(-3));
    assert_eq!(u8::try_from(value("255")), Ok(255));
    assert_eq!(
        u8::try_from(value("256")).map_err(|e| e.to_string()),
        Err("256 of type `int` is no `u8`".into())
    );
    assert_eq!(i16::try_from(value("200 :> u8")), Ok(200));
    assert_eq!(
        i128::try_from(value("(9223372036854775807 :> bigint) * (2 :> bigint)")),
        Ok(2 * i128::from(i64::MAX))
    );
    assert_eq!(usize::try_from(value("case 2 of 5")), Ok(2));
    assert_eq!(f64::try_from(value("1.5")), Ok(1.5));
    assert_eq!(f64::try_from(value("1.5 :> f32")), Ok(1.5));
    assert_eq!(f32::try_from(value("1.5 :> f32")), Ok(1.5));
    assert!(f32::try_from(value("1.5")).is_err());
    assert!(f64::try_from(value("1")).is_err());
    assert!(i64::try_from(value("1.0")).is_err());
    assert_eq!(bool::try_from(value("1 < 2")), Ok(true));
    assert_eq!(String::try_from(value("\"a\" + \"b\"")), Ok("ab".to_string()));
    assert_eq!(<()>::try_from(value("()")), Ok(()));
}

#[test]
fn wholes_convert_part_by_part() {
    assert_eq!(Vec::<i64>::try_from(value("(1, 2, 3)")), Ok(vec![1, 2, 3]));
    assert_eq!(<[i64; 3]>::try_from(value("(1, 2, 3)")), Ok([1, 2, 3]));
    assert!(<[i64; 2]>::try_from(value("(1, 2, 3)")).is_err());
    assert_eq!(<(i64, i64)>::try_from(value("(1, 2)")), Ok((1, 2)));
    assert_eq!(<(i64, String)>::try_from(value("(1, \"x\")")), Ok((1, "x".to_string())));
    assert_eq!(Vec::<Vec<i64>>::try_from(value("((1, 2), (3, 4))")), Ok(vec![vec![1, 2], vec![3, 4]]));
    assert_eq!(<(bool, bool)>::try_from(value("(true, false)")), Ok((true, false)));
    assert!(Vec::<i64>::try_from(value("7")).is_err());
    assert_eq!(<(i64, (f64, f64))>::try_from(value("(1, (2.0, 3.0))")), Ok((1, (2.0, 3.0))));
}

#[test]
fn arrays_have_all_axes() {
    let matrix = Array::<i64>::try_from(value("((1, 2, 3), (4, 5, 6))")).expect("an array");
    assert_eq!((matrix.shape(), matrix.as_slice()), (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..]));
    let flags = Array::<bool>::try_from(value("(true, false, true)")).expect("an array");
    assert_eq!(flags.into_vec(), [true, false, true]);
    let one = Array::<f64>::try_from(value("2.5")).expect("an array");
    assert_eq!((one.shape(), one.as_slice()), (&[][..], &[2.5][..]));
    assert!(Array::<f64>::try_from(value("(1, 2)")).is_err());
    assert!(Array::<i8>::try_from(value("(1, 200)")).is_err());
    assert!(Array::<i64>::try_from(value("(\"a\", \"b\")")).is_err());
    assert!(Array::new(vec![2, 2], vec![1]).is_none());
    assert!(Array::new(vec![usize::MAX, 2], vec![1]).is_none());
}

/// Everything that goes in comes out the same.
#[test]
fn values_go_in_and_come_out() {
    fn round<T>(given: T)
    where
        T: Into<Value> + TryFrom<Value, Error = super::ConversionError> + Clone + PartialEq + std::fmt::Debug,
    {
        let mut session = Session::new();
        session.set("x", given.clone()).expect("a name");
        let back = session.evaluate("x").expect("a text").value().expect("a value");
        assert_eq!(T::try_from(back), Ok(given));
    }
    round(true);
    round(-7i8);
    round(u64::MAX);
    round(i64::MIN);
    round(1.5f32);
    round(-0.5f64);
    round('ö');
    round("text".to_string());
    round(());
    round(Vec::<f64>::new());
    round(vec![1.0]);
    round(vec![1u8, 2, 255]);
    round(vec![true, false, true]);
    round(vec![i16::MIN, -1, i16::MAX]);
    round(vec!["a".to_string(), String::new()]);
    round(vec!["a".to_string()]);
    round([1i64, 2, 3]);
    round((1i64, 2i64));
    round((1i64, 2.0, "x".to_string()));
    round((true, (2.0, 'c'), vec![1u8, 2], ()));
    round(Array::new(vec![2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("an array"));
    round(Array::new(vec![2, 1, 2], vec![true, false, false, true]).expect("an array"));
}

#[test]
fn parts_have_names_and_cases() {
    let mut session = Session::new();
    session.evaluate("struct point { x:real; y:int; } variant tree = Leaf | Node of int;").expect("types");
    let point = session.evaluate("point (1.5, 2)").expect("a text").value().expect("a value");
    assert_eq!(i64::try_from(point.field("y").expect("a field")), Ok(2));
    assert!(point.field("z").is_none());
    let node = session.evaluate("Node 3").expect("a text").value().expect("a value");
    let (name, argument) = node.case().expect("a case");
    assert_eq!((name.as_str(), i64::try_from(argument)), ("Node", Ok(3)));
    let (name, argument) =
        session.evaluate("Leaf").expect("a text").value().expect("a value").case().expect("a case");
    assert_eq!((name.as_str(), <()>::try_from(argument)), ("Leaf", Ok(())));
    assert!(value("1").case().is_none());
    assert_eq!(value("case 2 of 5").case().expect("a case").0, "2");
}

#[test]
fn a_declared_type_is_known_in_its_session_only() {
    let mut one = Session::new();
    one.evaluate("struct point { x:real; y:int; }").expect("a type");
    let point = one.evaluate("point (1.5, 2)").expect("a text").value().expect("a value");
    one.set("p", point.clone()).expect("its own");
    assert_eq!(f64::try_from(one.evaluate("p.x").expect("a text").value().expect("a value")), Ok(1.5));
    let mut other = Session::new();
    let error = other.set("p", point.clone()).expect_err("of another session");
    assert_eq!(error.to_string(), "the type `point` of the value is declared by another session");
    assert!(other.text(&point).is_err());
    other.set("x", point.field("x").expect("a field")).expect("a number is known everywhere");
}

#[test]
fn an_error_leaves_the_session_as_it_was() {
    let mut session = Session::new();
    session.evaluate("var n = 1;").expect("a text");
    let error: Error = session.evaluate("n = 2; println (1 / 0)").expect_err("it fails");
    assert_eq!(*error.kind(), ErrorKind::Failed);
    assert!(error.diagnostics().iter().any(|d| d.severity() == Severity::Error));
    assert_eq!(i64::try_from(session.evaluate("n").expect("a text").value().expect("a value")), Ok(1));
    assert_eq!(*session.evaluate("fun f (x:int) =>").expect_err("more lines").kind(), ErrorKind::Incomplete);
    assert_eq!(*session.evaluate("1 + \"a\"").expect_err("types").kind(), ErrorKind::Rejected);
    assert_eq!(session.set("no name", 1i64).expect_err("a name").to_string(), "`no name` is no name");
    let none = session.evaluate("val k = 1;").expect("a text").value();
    assert!(none.expect_err("no value").to_string().contains("no value"));
    let boxed: Box<dyn std::error::Error> = Box::new(error);
    assert!(boxed.to_string().contains("1 / 0"), "{boxed}");
}

#[test]
fn a_session_moves_to_a_thread_with_a_small_stack() {
    let mut session = Session::new();
    session
        .evaluate("fun down (n:int):int => if n == 0 then 0 else 1 + down (n - 1) endif")
        .expect("a function");
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let outcome = session.evaluate("down 5000").expect("a text");
        i64::try_from(outcome.value().expect("a value"))
    });
    assert_eq!(thread.expect("a thread").join().expect("no panic"), Ok(5000));
}

/// Files in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl FileSystem for Memory {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.0.lock().expect("a lock").get(path).cloned();
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().expect("a lock").insert(path.to_string(), bytes.to_vec());
        Ok(())
    }
}

#[test]
fn files_are_modules_and_data() {
    let files = Memory::default();
    files
        .write("lib/unit.flx", b"import \"../base.flx\"; export val metre = base::cm * 100;")
        .expect("written");
    files.write("base.flx", b"export val cm = 1;").expect("written");
    let mut session = Session::new().with_files(files.clone());
    let metre = session.evaluate("import \"lib/unit.flx\"; unit::metre").expect("a module");
    assert_eq!(i64::try_from(metre.value().expect("a value")), Ok(100));
    let error = session.evaluate("import \"none.flx\";").expect_err("no such module");
    assert!(error.to_string().contains("none.flx"), "{error}");
}
