//! The core of the checker: valid in every program of this repository, and readable.

use crate::checker::{folder, programs, run};
use felis_base::source::{Source, SourceMap};
use felis_calculus::core::{FunctionId, Program, Region, validate};
use felis_check::check::module::{self, Module};
use felis_check::check::{self, Env};
use felis_runtime::eval::stack_guard;
use felis_syntax::syntax::ast::{ImportTarget, StmtKind};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the programs of those folders of this repository that exist.
fn all_programs() -> Vec<(String, String)> {
    let folders = [
        "tests/diagnostics",
        "tests/programs",
        "examples",
        "tests/syntax",
        "tests/adversarial",
        "conformance/seed",
    ];
    let mut found: Vec<(String, String)> = folders.iter().flat_map(|f| programs(f, &[""])).collect();
    // Shared seeds, if they exist.
    if folder("../shared/conformance").exists() {
        found.extend(programs("../shared/conformance/seed", &[""]));
    }
    found
}

#[test]
fn every_program_is_valid_core() {
    let mut tried = 0;
    let mut wrong = Vec::new();
    for (name, text) in all_programs() {
        let outcome = run(&name, &text, false);
        let Some((program, script)) = &outcome.checked else { continue };
        tried += 1;
        let found =
            stack_guard::with_stack(256 << 20, || validate::validate_all(program, script)).expect("a thread");
        for what in found.err().unwrap_or_default() {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(tried > 20, "only {tried} programs are without errors");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SAMPLE: &str = "\
fun scale[N:COMPACTLINEAR](x:real ^ N, k:real):real ^ N => x * k;
proc count(n:int) {
  var total = 0;
  proc add(i:int) { total = total + i; }
  for i in 0..<n do
    if i % 2 == 0 do add i; done
  done
  println total;
}
var t = (1, `1:3\\,`2:4);
&t.1.0 <- `2:3;
count 3;
match t.0 do
| 1 => println \"one\";
| n when n > 5 => println n;
| _ => println t;
done
scale ([1.0, 2.0], 3.0)
";

#[test]
fn core_is_readable() {
    let outcome = run("sample.flx", SAMPLE, false);
    let Some((program, script)) = &outcome.checked else { panic!("{}", outcome.shown) };
    let golden = folder("tests/types/core.txt");
    let text = felis_calculus::core::print::program(program, script);
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&golden, &text).expect("writable");
    }
    assert_eq!(text, std::fs::read_to_string(&golden).unwrap_or_default());
}

/// Checks that the validator reports every kind of term in the sample when its type is made wrong.
#[test]
fn wrong_core_is_refused() {
    use felis_calculus::core::{Stmt, Term};
    use felis_calculus::types::Type;
    let outcome = run("sample.flx", SAMPLE, false);
    let Some((program, script)) = &outcome.checked else { panic!("{}", outcome.shown) };
    fn visit(term: &mut Term, at: &mut usize, wanted: usize) {
        if *at == wanted {
            term.ty = Type::record(vec![("wrong".into(), Type::int())]);
        }
        *at += 1;
        term.for_each_child_mut(&mut |child| visit(child, at, wanted));
    }
    let mut tried = 0;
    loop {
        let (mut changed, mut at) = (script.clone(), 0);
        for stmt in &mut changed.body {
            Stmt::for_each_term_mut(stmt, &mut |term| visit(term, &mut at, tried));
        }
        if at <= tried {
            break;
        }
        assert!(validate::validate_script(program, &changed).is_err(), "term {tried} of the script");
        tried += 1;
    }
    for (id, function) in program.functions.iter().enumerate() {
        let Some(function) = function else { panic!("function {id} has no body") };
        for wanted in 0.. {
            let (mut changed, mut at) = ((**function).clone(), 0);
            visit(&mut changed.body, &mut at, wanted);
            if at <= wanted {
                break;
            }
            // The core of a procedure does not determine the type of its body.
            if wanted > 0 {
                assert!(
                    validate::validate(program, &changed).is_err(),
                    "term {wanted} of `{}`",
                    function.name
                );
            }
            tried += 1;
        }
    }
    assert!(tried > 30, "only {tried} terms");
}

/// Programs on top of the library, each checked as in a session and validated.
struct Look {
    map: SourceMap,
    /// The names of the library.
    library: Env,
    /// The imported modules, by file.
    modules: HashMap<PathBuf, Arc<Module>>,
    wrong: Vec<String>,
}

impl Look {
    /// Checks a text after its imports; returns its source and names.
    fn check(
        &mut self,
        folder: &Path,
        name: &str,
        text: &str,
        mut env: Env,
        program: &mut Program,
    ) -> (Arc<Source>, Env) {
        let source = self.map.add(name, text);
        let parsed = felis_syntax::syntax::parse(&source);
        let mut imports = Vec::new();
        for stmt in &parsed.stmts {
            let StmtKind::Import(import) = &stmt.kind else { continue };
            let module = match &import.target {
                ImportTarget::File { path, .. } => {
                    let file = folder.join(&**path).canonicalize().expect("a file");
                    if !self.modules.contains_key(&file) {
                        let text = fs::read_to_string(&file).expect("readable");
                        let mut inner = self.library.clone();
                        inner.number_after(&env);
                        let below = file.parent().expect("a folder");
                        let (source, inner) = self.check(below, path, &text, inner, program);
                        env.number_after(&inner);
                        self.modules.insert(file.clone(), Arc::new(Module::file(&source, inner)));
                    }
                    self.modules[&file].clone()
                }
                // Here the library is one text.
                ImportTarget::Library(_) => {
                    Arc::new(Module::part(self.map.iter().next().expect("the library")))
                }
            };
            imports.push((import.clone(), module));
        }
        let opened = module::add_imports(&mut env, program, &imports, &self.library);
        module::define_qualified_names(
            &mut env,
            &self.library,
            felis_syntax::syntax::mentioned_names(&source).into_iter(),
        );
        let (script, said) = check::check(&mut env, program, &parsed.stmts);
        match script.filter(|_| opened.is_empty()) {
            Some(script) => {
                let found = validate::validate_all(program, &script).err().unwrap_or_default();
                self.wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
            }
            None => self.wrong.push(format!("{name}: {opened:?} {said:?}")),
        }
        (source, env)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library, and every example on top of it, with its modules.
#[test]
fn the_library_and_the_examples_are_valid_core() {
    let mut library: String = programs("stdlib", &[""]).into_iter().map(|(_, text)| text + "\n").collect();
    // A session gives its arguments to every program.
    library += "val args = words \"\";\n";
    let examples = programs("examples", &[""]);
    let wrong = stack_guard::with_stack(256 << 20, || {
        let mut program = Program::default();
        let mut look =
            Look { map: SourceMap::new(), library: Env::new(), modules: HashMap::new(), wrong: Vec::new() };
        let (_, env) = look.check(root(), "library", &library, Env::new(), &mut program);
        look.library = env;
        for (name, text) in &examples {
            let env = look.library.clone();
            look.modules.clear();
            look.check(&root().join("examples"), name, text, env, &mut program.clone());
        }
        look.wrong
    })
    .expect("a thread");
    assert!(examples.len() > 10);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const MOVES: &str = "\
fun put[N:COMPACTLINEAR](x:int ^ N, i:N, v:int):int ^ N { var r = x; &r.(i) <- v; return r; }
fun choose(c:bool, x:int ^ 3, y:int ^ 3):int ^ 3 => if c then put (x, `1:3, 1) else y endif;
fun twice(x:int ^ 3):int ^ 6 => (x, put (x, `1:3, 1)) :>> int ^ 6;
fun part(s:int * (int ^ 3) * (real ^ 3)):int * (int ^ 3) * (real ^ 3) {
  val n = s.0;
  val new = put (s.1, `0:3, n);
  return (n + 1, new, s.2);
}
fun pick(x:int ^ 3 + int ^ 3, y:int ^ 3):int ^ 3 => match x with
  | case 0 a => put (a, `0:3, y.0)
  | case 1 b => b
  endmatch;
proc rounds(c:bool) {
  var x = (1, 2, 3);
  val y = x;
  while x.0 < 10 do
    if c do x = put (x, `0:3, 5); continue; done
    val z = put (x, `1:3, y.0);
    x = put (z, `2:3, 4);
    if z.0 > 3 do break; done
  done
  println y;
}
proc inner() {
  var x = (1, 2, 3);
  fun first():int => x.0;
  proc change(v:int) { x = put (x, `0:3, v); x = put (x, `1:3, #first); }
  change 1;
}
var g = (1, 2, 3);
fun sees():int => g.0;
g = put (g, `0:3, 1);
g = put (g, `0:3, #sees);
g = put (put (g, `0:3, #sees), `1:3, 2);
";

#[test]
fn last_uses_are_marked() {
    use felis_calculus::core::last_use::{self, ReachableGlobals};
    let outcome = run("moves.flx", MOVES, false);
    let Some((program, script)) = &outcome.checked else { panic!("{}", outcome.shown) };
    let (mut text, mut reach) = (String::new(), ReachableGlobals::default());
    let names = ["put", "choose", "twice", "part", "pick", "rounds", "inner", "first", "change"];
    for (id, function) in (0..).map(FunctionId).zip(&program.functions) {
        if let Some(function) = function
            && names.contains(&&*function.name)
        {
            let marked = last_use::mark_function(program, &mut reach, function);
            text.push_str(&felis_calculus::core::print::function(program, id, &marked));
            text.push('\n');
        }
    }
    let locals = last_use::ScriptLocals::of(script);
    for at in 0..script.body.len() {
        let (stmt, _) = last_use::mark_statement(program, &mut reach, (script, &locals), at);
        text.push_str(&felis_calculus::core::print::unit(program, &script.locals, Region::Loop(&stmt)));
    }
    let golden = folder("tests/types/moves.txt");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&golden, &text).expect("writable");
    }
    assert_eq!(text, std::fs::read_to_string(&golden).unwrap_or_default());
}

#[test]
fn marked_programs_are_valid_core() {
    use felis_calculus::core::last_use::{self, ReachableGlobals};
    let mut wrong = Vec::new();
    for (name, text) in all_programs() {
        let outcome = run(&name, &text, false);
        let Some((program, script)) = &outcome.checked else { continue };
        let found = stack_guard::with_stack(256 << 20, || {
            let (mut marked, mut reach) = (program.clone(), ReachableGlobals::default());
            for function in marked.functions.iter_mut().flatten() {
                *function = Arc::new(last_use::mark_function(program, &mut reach, function));
            }
            let mut body = script.clone();
            let locals = last_use::ScriptLocals::of(script);
            for at in 0..script.body.len() {
                body.body[at] = last_use::mark_statement(program, &mut reach, (script, &locals), at).0;
            }
            validate::validate_all(&marked, &body)
        });
        for what in found.expect("a thread").err().unwrap_or_default() {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
