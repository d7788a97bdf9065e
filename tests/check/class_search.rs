//! Coherence and the search for instances, against brute force over small ground types.
//!
//! Heads are random texts. The types that they cover are enumerated by substituting ground types
//! for their parameters; the checker's decision about two heads, and the instance that a program
//! selects for a type, must agree with the enumeration.

use crate::checker::codes;
use felis_base::hash::HashMap;
use felis_base::source::SourceMap;
use felis_calculus::core::Program;
use felis_calculus::types::matching::matching;
use felis_calculus::types::{Kind, Type, TypeVar};
use felis_check::check::{self, Env};
use felis_syntax::syntax;
use std::cmp::Ordering;

/// A generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// The parameters of heads, with the ground types substituted for them.
const PARAMS: &[(&str, &str, Kind, &[&str])] = &[
    ("A", "", Kind::Type, TYPES),
    ("B", "", Kind::Type, TYPES),
    ("I", ":COMPACTLINEAR", Kind::Compact, &["1", "2", "3", "2 \\* 3", "2 \\* 2", "2 \\+ 3"]),
    ("N", ":UNITSUM", Kind::UnitSum, &["1", "2", "3"]),
];

const TYPES: &[&str] = &[
    "1",
    "2",
    "3",
    "int",
    "int * int",
    "int * string",
    "2 * int",
    "2 * 2",
    "int + int",
    "int + 2",
    "1 + int",
    "int ^ 3",
    "2 ^ 2",
    "int -> int",
    "Box[int]",
    "Box[2]",
    "2 \\* 3",
    "2 \\* 2",
    "2 \\+ 2",
    "(a:int)",
    "int ^ 2 * int",
    "int ^ (2 \\* 3)",
    "2 *+ int",
    "int * int * int",
];

fn head(random: &mut Random, depth: usize) -> String {
    let leaf = depth == 0 || random.below(4) == 0;
    if leaf {
        return random.one(&["A", "A", "B", "B", "I", "N", "int", "2", "3", "string"]).to_string();
    }
    let part = |random: &mut Random| format!("({})", head(random, depth - 1));
    let index =
        |random: &mut Random| random.one(&["2", "3", "I", "N", "(2 \\* N)", "(I \\* 3)", "(2 \\* I)"]);
    match random.below(12) {
        0..3 => format!("{} * {}", part(random), part(random)),
        3 => format!("{} * {} * {}", part(random), part(random), part(random)),
        4..6 => format!("{} + {}", part(random), part(random)),
        6..8 => format!("{} ^ {}", part(random), index(random)),
        8 => format!("Box[{}]", part(random)),
        9 => format!("{} -> {}", part(random), part(random)),
        10 => format!("{} \\* {}", index(random), index(random)),
        _ => format!("2 *+ {}", part(random)),
    }
}

/// Returns the parameters that a head mentions.
fn params(head: &str) -> Vec<usize> {
    let words: Vec<&str> = head.split(|c: char| !c.is_alphanumeric()).collect();
    (0..PARAMS.len()).filter(|&i| words.contains(&PARAMS[i].0)).collect()
}

fn declared(head: &str) -> String {
    let each: Vec<String> = params(head).iter().map(|&i| format!("{}{}", PARAMS[i].0, PARAMS[i].1)).collect();
    if each.is_empty() { String::new() } else { format!("[{}]", each.join(", ")) }
}

/// A reader of types in one scope, in which `Box` is declared.
struct Reader {
    env: Env,
    program: Program,
}

const BOX: &str = "struct Box[T] { content:T; }\nclass C[T] { fun c : T -> int; }\n";

impl Reader {
    fn of(program: &str) -> Reader {
        let (mut env, mut core) = (Env::new(), Program::default());
        let source = SourceMap::new().add("test", program);
        let parsed = syntax::parse(&source);
        let (script, said) = check::check(&mut env, &mut core, &parsed.stmts);
        assert!(parsed.errors.is_empty() && script.is_some(), "{program}\n{said:?}");
        Reader { env, program: core }
    }

    /// Returns the type of a text, if it is one.
    fn ground(&mut self, text: &str) -> Option<Type> {
        let (tree, errors) = syntax::parse_type(&SourceMap::new().add("type", text));
        assert!(errors.is_empty(), "{text}");
        let (ty, said) = check::lower_type(&mut self.env, &tree?, false);
        said.is_empty().then_some(ty)
    }

    /// Returns a head as a pattern with variables.
    fn pattern(&mut self, head: &str) -> (Vec<TypeVar>, Type) {
        // The head is read as the argument type of a function.
        let text = format!("fun f{}(x:{head}) => 0;", declared(head));
        let source = SourceMap::new().add("head", &text);
        let parsed = syntax::parse(&source);
        let functions = self.program.functions.len();
        let (script, said) = check::check(&mut self.env, &mut self.program, &parsed.stmts);
        assert!(script.is_some(), "{text} {said:?}");
        let function = self.program.functions[functions].clone().expect("a function");
        (function.type_params.clone(), function.domain.clone())
    }

    /// Returns the ground types that a head covers, for the types substituted for its parameters.
    fn covered(&mut self, vars: &[TypeVar], pattern: &Type) -> Vec<Type> {
        let mut all = vec![HashMap::default()];
        for var in vars {
            let (.., texts) = PARAMS.iter().find(|(name, ..)| *name == &*var.name).expect("a parameter");
            let types: Vec<Type> = texts.iter().filter_map(|text| self.ground(text)).collect();
            all = all
                .into_iter()
                .flat_map(|known: HashMap<u32, Type>| {
                    types.iter().map(move |ty| {
                        let mut known = known.clone();
                        known.insert(var.id, ty.clone());
                        known
                    })
                })
                .collect();
        }
        all.iter().map(|known| pattern.substitute(known)).collect()
    }
}

/// Returns a head that is a type: `int * I` is one, `int ^ (I \* A)` is not.
fn sound_head(random: &mut Random, depth: usize) -> String {
    loop {
        let head = head(random, depth);
        if params(&head).len() <= 2
            && codes(&format!("{BOX}instance{} C[{head}] {{ fun c(x) => 0; }}", declared(&head))).is_empty()
        {
            return head;
        }
    }
}

#[test]
fn matching_finds_what_a_head_covers() {
    let mut random = Random(0x9e37_79b9);
    let mut reader = Reader::of(BOX);
    let mut found = 0;
    for _ in 0..60 {
        let head = sound_head(&mut random, 2);
        let (vars, pattern) = reader.pattern(&head);
        for ty in reader.covered(&vars, &pattern) {
            let known = matching(&vars, std::slice::from_ref(&pattern), std::slice::from_ref(&ty));
            let known = known.unwrap_or_else(|| panic!("{head} covers {ty}"));
            assert_eq!(pattern.substitute(&known.bindings), ty, "{head}");
            found += 1;
        }
        // Types found elsewhere are added only if they are covered.
        for other in TYPES {
            let ty = reader.ground(other).expect("a type");
            if let Some(known) = matching(&vars, std::slice::from_ref(&pattern), std::slice::from_ref(&ty)) {
                assert_eq!(pattern.substitute(&known.bindings), ty, "{head}");
            }
        }
    }
    assert!(found > 1_000, "only {found} types were covered");
}

#[test]
fn two_heads_overlap_if_some_type_belongs_to_both() {
    let mut random = Random(0x1234_5678_9abc);
    let (mut overlaps, mut apart, mut met) = (0, 0, 0);
    for _ in 0..250 {
        let heads = [sound_head(&mut random, 2), sound_head(&mut random, 2)];
        let instances: Vec<String> =
            heads.iter().map(|h| format!("instance{} C[{h}] {{ fun c(x) => 0; }}\n", declared(h))).collect();
        let both = codes(&format!("{BOX}{}", instances.concat()));
        assert!(both.is_empty() || both == ["E0605"], "{heads:?} {both:?}");
        let turned = codes(&format!("{BOX}{}{}", instances[1], instances[0]));
        assert_eq!(both, turned, "{heads:?} whichever comes first");
        let mut reader = Reader::of(BOX);
        let patterns = heads.each_ref().map(|head| reader.pattern(head));
        let mut witness = None;
        for (vars, pattern) in &patterns {
            for ty in reader.covered(vars, pattern) {
                let [a, b] = patterns.each_ref().map(|(vars, pattern)| {
                    matching(vars, std::slice::from_ref(pattern), std::slice::from_ref(&ty))
                });
                let (Some(a), Some(b)) = (a, b) else { continue };
                match a.preference(&b) {
                    Ordering::Equal => witness = Some(ty),
                    _ => met += 1,
                }
            }
        }
        match (&witness, both.is_empty()) {
            (Some(ty), true) => panic!("`{}` and `{}` both cover {ty}", heads[0], heads[1]),
            (None, false) => panic!("`{}` and `{}` have no type in common", heads[0], heads[1]),
            (Some(_), false) => overlaps += 1,
            (None, true) => apart += 1,
        }
    }
    assert!(overlaps > 20 && apart > 20 && met > 20, "{overlaps} overlap, {apart} are apart, {met} meet");
}

#[test]
fn a_program_finds_the_one_instance() {
    let mut random = Random(0xfeed_beef);
    let (mut found, mut several) = (0, 0);
    for _ in 0..60 {
        // Random heads are added unless they overlap.
        const PAIRS: &[[&str; 2]] =
            &[["A * B", "A ^ I"], ["(A * B) * N", "A ^ 2 * B"], ["A * B", "int ^ I"], ["N", "Box[A]"]];
        let mut heads: Vec<String> = PAIRS[random.below(PAIRS.len())].map(str::to_string).to_vec();
        let program = |heads: &[String]| {
            let each = heads.iter().map(|h| format!("instance{} C[{h}] {{ fun c(x) => 0; }}\n", declared(h)));
            format!("{BOX}{}", each.collect::<String>())
        };
        for _ in 0..8 {
            let head = sound_head(&mut random, 2);
            if head.len() == 1 || heads.contains(&head) {
                continue;
            }
            heads.push(head);
            if !codes(&program(&heads)).is_empty() {
                heads.pop();
            }
        }
        let turned: Vec<String> = heads.iter().rev().cloned().collect();
        let mut readers = [Reader::of(&program(&heads)), Reader::of(&program(&turned))];
        let class = readers[0].env.class("C").expect("the class").id;
        let mut types: Vec<String> = TYPES.iter().map(|ty| ty.to_string()).collect();
        for _ in 0..60 {
            types.push(format!("({}) * ({})", random.one(TYPES), random.one(TYPES)));
            types.push(format!("({}) ^ {}", random.one(TYPES), random.one(&["2", "3", "(2 \\* 3)"])));
            types.push(format!("({}) + ({})", random.one(TYPES), random.one(TYPES)));
        }
        for text in types {
            let chosen = readers.each_mut().map(|reader| {
                let ty = reader.ground(&text).expect("a type");
                let covers: Vec<Type> = {
                    let instances = &reader.program.instances;
                    let all = instances.iter().filter(|instance| {
                        matching(&instance.params, &instance.args, std::slice::from_ref(&ty)).is_some()
                    });
                    all.map(|instance| instance.args[0].clone()).collect()
                };
                let instance = reader.program.instance(class, std::slice::from_ref(&ty));
                let chosen = instance.map(|(instance, bindings)| {
                    assert_eq!(instance.args[0].substitute(&bindings), ty);
                    instance.args[0].to_string()
                });
                assert_eq!(chosen.is_some(), !covers.is_empty(), "{text} among {covers:?}");
                (chosen, covers.len())
            });
            assert_eq!(chosen[0], chosen[1], "{text}: the order of {heads:?} matters");
            found += usize::from(chosen[0].1 > 0);
            several += usize::from(chosen[0].1 > 1);
        }
    }
    assert!(found > 500 && several > 10, "{found} found, {several} of them among several");
}
