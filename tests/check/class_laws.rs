//! Laws of classes: they hold in every instance of the library, and a violated law is found.

use felis::session::{LawVerdict, Mode, Session, Status, on_large_stack};

#[test]
fn the_laws_of_the_library_hold() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    on_large_stack(|| {
        let trials = Session::new()
            .check_laws(200, seed, true)
            .unwrap_or_else(|_| panic!("the library is well typed"));
        for trial in &trials {
            let held = matches!(trial.verdict, LawVerdict::Held(200));
            assert!(held, "{} {}: {:?} (seed {seed})", trial.instance, trial.law, trial.verdict);
        }
        assert!(trials.len() > 250, "only {} laws were tried", trials.len());
    });
}

/// Returns the verdicts on the laws of the instances in a program.
fn verdicts(program: &str) -> Vec<(String, String)> {
    let mut session = Session::new();
    let outcome = session.evaluate("program", program, Mode::Script, &mut |_| {});
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
    let trials = session.check_laws(3_000, 7, false).unwrap_or_else(|_| panic!("the library is well typed"));
    let word = |verdict| match verdict {
        LawVerdict::Held(_) => "held".to_string(),
        LawVerdict::Broken(_) => "broken".to_string(),
        LawVerdict::Failed(..) => "failed".to_string(),
        LawVerdict::NoValues(ty) => format!("no values of {ty}"),
        LawVerdict::Interrupted => "interrupted".to_string(),
    };
    trials.into_iter().map(|t| (format!("{} {}", t.instance, t.law), word(t.verdict))).collect()
}

#[test]
fn a_broken_law_is_found() {
    on_large_stack(|| {
        let found = verdicts(
            "struct V { x:int; }
             instance Add[V] { fun + (a, b) => V (a.x + b.x + 1); fun zero() => V 0; }
             instance Mul[V] { fun * (a, b) => V (a.x * b.x); fun one() => V 1; }",
        );
        let of = |name: &str| found.iter().find(|(law, _)| law == name).map(|(_, v)| v.as_str());
        assert_eq!(of("Add[V] zero_left"), Some("broken"), "{found:?}");
        assert_eq!(of("Mul[V] one_left"), Some("held"), "{found:?}");
    });
}

#[test]
fn values_are_drawn_as_the_type_says() {
    on_large_stack(|| {
        // By structure, a denominator may be 0; then `==` is not transitive.
        let ratio = "struct Ratio { num:int; den:int; }
             instance Eq[Ratio] { fun == (a, b) => a.num * b.den == b.num * a.den; }";
        let of = |found: &[(String, String)]| {
            found.iter().find(|(law, _)| law == "Eq[Ratio] transitive").map(|(_, v)| v.clone())
        };
        assert_eq!(of(&verdicts(ratio)).as_deref(), Some("broken"));
        let drawn = "instance Arbitrary[Ratio] { fun arbitrary(n) => Ratio (n % 9, 1 + (n % 7) * (n % 7)); }";
        assert_eq!(of(&verdicts(&format!("{ratio}\n{drawn}"))).as_deref(), Some("held"));
    });
}

#[test]
fn functions_cannot_be_drawn_and_that_is_said() {
    on_large_stack(|| {
        let found = verdicts(
            "struct F { apply:int -> int; }
             class Twice[T] { fun twice : T -> T; law fine(x:T) => true; }
             instance Twice[F] { fun twice(f) => f; }",
        );
        assert_eq!(found, [("Twice[F] fine".to_string(), "no values of F".to_string())]);
    });
}

#[test]
fn values_are_drawn_of_trees_without_bare_leaves() {
    on_large_stack(|| {
        let found = verdicts(
            "variant E = Num of int | Plus of E * E | Neg of E;
             class Size[T] { fun size : T -> int; law positive(a:T) => size a > 0; }
             fun nodes(e:E):int =>
               match e with | Num _ => 1 | Plus (a, b) => nodes a + nodes b | Neg a => nodes a endmatch;
             instance Size[E] { fun size(e) => nodes e; }
             instance Size[int + 0 + real] { fun size(_) => 1; }
             instance Size[int -> int] { fun size(_) => 1; }",
        );
        let of = |name: &str| found.iter().find(|(law, _)| law == name).map(|(_, v)| v.as_str());
        assert_eq!(of("Size[E] positive"), Some("held"), "{found:?}");
        assert_eq!(of("Size[int + 0 + real] positive"), Some("held"), "{found:?}");
        assert_eq!(of("Size[int -> int] positive"), Some("no values of int -> int"), "{found:?}");
    });
}

#[test]
fn a_law_that_fails_is_shown_where_it_is_written() {
    on_large_stack(|| {
        let program = "class C[T] { fun c : T -> int; law whole(a:T) => 1 / c a == 1; }
             instance C[int] { fun c(_) => 0; }";
        let mut session = Session::new();
        session.evaluate("program", program, Mode::Script, &mut |_| {});
        let trials = session.check_laws(1, 7, false).unwrap_or_else(|_| panic!("the library is well typed"));
        let [trial] = &trials[..] else { panic!("{trials:?}") };
        let LawVerdict::Failed(_, diagnostic) = &trial.verdict else { panic!("{trial:?}") };
        assert!(diagnostic.labels.iter().all(|label| label.span.source == diagnostic.primary.span.source));
    });
}
