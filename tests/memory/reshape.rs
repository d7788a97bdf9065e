//! Reshapes by `:>>`: no element is moved, and nothing is allocated for one.

use crate::alone;
use felis_base::source::SourceMap;
use felis_calculus::core::{GlobalId, Program};
use felis_check::check::{self, Env};
use felis_runtime::eval::{Host, Machine};
use felis_runtime::value::Value;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// An allocator that counts the requested bytes.
struct Counting;

static ASKED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.fetch_add(size, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct World {
    map: SourceMap,
    env: Env,
    program: Program,
    machine: Machine,
}

impl World {
    fn run(&mut self, text: &str) {
        let source = self.map.add("test", text);
        let parsed = felis_syntax::syntax::parse(&source);
        assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
        let (script, diagnostics) = check::check(&mut self.env, &mut self.program, &parsed.stmts);
        let script = script.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let interrupt = AtomicBool::new(false);
        let mut out = |_: &str| {};
        let mut host = Host {
            out: &mut out,
            out_here: None,
            interrupt: &interrupt,
            memory: 1 << 32,
            files: None,
            system: None,
            screen: felis_runtime::eval::Screen::default(),
        };
        let done = self.machine.run(&self.program, &script, &mut host);
        assert!(done.is_ok(), "{done:?}");
    }

    fn global(&self, name: &str) -> Value {
        let id = self.program.globals.iter().rposition(|g| &*g.name == name).expect("declared");
        self.machine.global(GlobalId::new(id)).expect("set")
    }

    fn address(&self, name: &str) -> (usize, usize) {
        match self.global(name) {
            Value::Seq(seq) => seq.storage_address(),
            other => panic!("{name} is {other:?}"),
        }
    }
}

#[test]
fn reshaping_ten_million_elements_moves_none() {
    let _alone = alone();
    let mut world = World {
        map: SourceMap::new(),
        env: Env::new(),
        program: Program::default(),
        machine: Machine::new(),
    };
    // The values are irrelevant; the array has ten million slots.
    world.run("val x = [ 1.5 for i in ..[10000000] ];");
    world.run("val pair = ((1, 2, 3), [ 7 for i in ..[1000] ]);");
    let before = ASKED.load(Ordering::Relaxed);
    world.run(
        "val matrix = x :>> real ^ (2000 \\* 5000);\n         val rows = matrix :>> real ^ 5000 ^ 2000;\n         val split = rows :>> ((real ^ 4000000) * (real ^ 6000000));\n         val joined = split :>> real ^ (4000000 \\+ 6000000);\n         val same = pair :>> int ^ (3 \\+ 1000);",
    );
    let asked = ASKED.load(Ordering::Relaxed) - before;
    assert!(asked < 4_000_000, "reshaping asked for {asked} bytes");
    let home = world.address("x");
    for name in ["matrix", "rows", "split", "joined"] {
        assert_eq!(world.address(name), home, "{name} lies elsewhere");
    }
    assert_eq!(world.address("pair"), world.address("same"));
    // The views of the library, which are functions, cost nothing either.
    let texts = [
        include_str!("../../stdlib/class.flx"),
        include_str!("../../stdlib/fold.flx"),
        include_str!("../../stdlib/cyclic.flx"),
        include_str!("../../stdlib/array.flx"),
        include_str!("../../stdlib/shape.flx"),
        include_str!("../../stdlib/views.flx"),
    ];
    world.run(&texts.concat());
    world.run("val framed_x = x :>> real ^ (1 \\+ 9999998 \\+ 1);");
    let before = ASKED.load(Ordering::Relaxed);
    world.run(
        "val s = shifts framed_x;
         val (early, late, inner) = s.before, s.after, interior framed_x;
         val first_half = left (x :>> real ^ (5000000 \\+ 5000000));
         val parts = blocks[1000] (x :>> real ^ (1000 \\* 10000));
         val rest = tail (x :>> real ^ (1 \\+ 9999999));",
    );
    let asked = ASKED.load(Ordering::Relaxed) - before;
    assert!(asked < 4_000_000, "views asked for {asked} bytes");
    let at = |n: usize| (home.0, home.1 + n);
    for (name, start) in
        [("early", 0), ("inner", 1), ("late", 2), ("first_half", 0), ("parts", 0), ("rest", 1)]
    {
        assert_eq!(world.address(name), at(start), "{name} lies elsewhere");
    }
}
