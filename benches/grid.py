#!/usr/bin/env python3
"""The grid: classes of kernels by element types, by sizes, in two spellings, beside NumPy, Numba, JAX and Rust in turns.

    FELIS=target/release/felis target/bench-python/bin/python benches/grid.py            # all, beside NumPy and Numba
    … benches/grid.py window scan_f64 --rounds=5 --sizes=1000,100003                      # some
    … benches/grid.py --peers=numpy,numba,jax,rust                                        # beside these

Writes pairs of programs into target/bench-grid/ (see `turns.py`, which measures them) and prints tables in Markdown: the
cells, one row for each kernel, and a summary by class. `--write=1` writes them only. The forms in Rust are one crate,
target/bench-grid/rust/, which is built once for all cells and sizes.

In the texts below `$T` is the element type, `$N` the size, `$A` and `$B` the sides of a matrix of about $N elements; in those
of Python and Rust the element type is `T`. Blocks: `comprehension` and `loop` are two spellings, `opened` is the first of
them on an array whose size arrives at run time, and `checked` has a check for each element that never fails.
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import turns

BENCHES = Path(__file__).resolve().parent
FOLDER = BENCHES.parent / "target" / "bench-grid"

HEAD = r"""
typedef N = $N;
typedef A = $A;
typedef B = $B;
fun codes[I:COMPACTLINEAR](p:int):int ^ I => [ (i :>> int) * ((i :>> int) + p) % 10007 for i in ..[I] ];
fun weighed[I:COMPACTLINEAR](out:real ^ I):real => sum [ out.i * (((i :>> int) % 1009 + 1) :> real) for i in ..[I] ];
fun weighed[I:COMPACTLINEAR](out:f32 ^ I):real => weighed [ v :> real for v in out ];
fun weighed[I:COMPACTLINEAR](out:int ^ I):real => weighed [ v :> real for v in out ];
fun weighed[I:COMPACTLINEAR](out:u8 ^ I):real => weighed [ v :> real for v in out ];
fun weighed[I:COMPACTLINEAR](out:bool ^ I):real => weighed [ (if v then 1.0 else 0.0 endif) for v in out ];
fun weighed(out:real):real => out;
fun weighed(out:f32):real => out :> real;
fun weighed(out:int):real => out :> real;
fun weighed(out:u8):real => out :> real;
"""

PYTHON_HEAD = """import numpy as np
from numba import njit, prange
from data import codes

N, A, B = $N, $A, $B
T = np.$D
"""

# Element types: in Felis, in NumPy, in Rust, and how an element is made of a code c in each.
TYPES = {
    "f64": ("real", "float64", "f64", "(c :> real) / 10007.0", "c / 10007.0", "c as f64 / 10007.0"),
    "f32": ("f32", "float32", "f32", "((c :> real) / 10007.0) :> f32", "(c / 10007.0).astype(T)", "(c as f64 / 10007.0) as f32"),
    "int": ("int", "int64", "i64", "c", "c", "c"),
    "u8": ("u8", "uint8", "u8", "(c % 256) :> u8", "(c % 256).astype(T)", "(c % 256) as u8"),
    "bool": ("bool", "bool_", "bool", "c % 3 == 0", "c % 3 == 0", "c % 3 == 0"),
}
# Shapes of data: their sizes in Felis, and their sides in Python.
SHAPES = {"N": ("N", "N"), "AB": (r"A \* B", "A, B"), "AA": (r"A \* A", "A, A"), "+8": (r"N \+ 8", "N + 8")}
# The data of a cell differ by these numbers.
SEEDS = (7919, 4799, 6007, 3571)

LINE = (1000, 100003, 10_000_000)
SQUARE = (1023, 99856, 9_998_244)
FEW = (1000, 100003, 1_000_000)

CELLS = []


def cell(group, name, types, felis, python, rust, sizes=LINE, data="x y", shape="N", arguments=None, returned=None,
         made="", **blocks):
    """A kernel: `felis` defines f and g, two spellings; `python` numba, numpy and jax; `rust` a function of that name.

    `data` are the arrays that are made, of a `shape`; `arguments` what the forms take, if not these: `returned` makes them
    in Python, as an expression, and `made` in Rust, as statements. The form in Rust takes matrices as slices, and the number
    of columns after them. Other blocks are calls, or None to leave one out.
    """
    for kind in types.split():
        CELLS.append(dict(group=group, name=f"{name}_{kind}", kind=kind, felis=felis, python=python, rust=rust, sizes=sizes,
                          data=data.split(), shape=shape, arguments=arguments, returned=returned, made=made, blocks=blocks))


def texts(cell, size):
    """The two programs of a cell at a size."""
    word, numpy, _, made, python_made, _ = TYPES[cell["kind"]]
    a = math.isqrt(size)
    a, b = a, size // a
    felis, python, data = [HEAD], [PYTHON_HEAD], []
    shape, sides = SHAPES[cell["shape"]]
    for name, p in zip(cell["data"], SEEDS):
        felis.append(f"val {name} : $T ^ ({shape}) = [ {made} for c in codes[{shape}] {p} ];")
        data.append(f"    c = codes({p}, {sides})\n    {name} = {python_made}")
    names = cell["arguments"] or ", ".join(cell["data"])
    felis.append(cell["felis"].strip())
    blocks = {"comprehension": f"f ({names})", "loop": f"g ({names})", **cell["blocks"]}
    for block, call in blocks.items():
        if not call:
            continue
        if block == "opened":
            felis += [f"val {n}_ : $T ^ ?K{n} = of_any_size {n};" for n in cell["data"]]
            if len(cell["data"]) == 2:
                felis[-1:] = [f"val y_ : $T ^ Kx = [ y.((i :>> int) :>> {shape}) for i in ..[Kx] ];"]
        calls = max(1, 20_000 // size)
        felis += [f"var {block} = {call};", f'println ("{block}", weighed {block});']
        if calls > 1:
            felis.append(f'bench "{block} {calls}" {{ for _ in 0..<{calls} perform {block} = {call}; }}')
        else:
            felis.append(f'bench "{block}" {{ {block} = {call}; }}')
    python += ["def data():", *data, f"    return {cell['returned'] or names},", with_jax(cell["python"].strip())]

    def filled(lines):
        text = "\n".join(lines).strip() + "\n"
        for key, value in {"$N": size, "$A": a, "$B": b, "$T": word, "$D": numpy}.items():
            text = text.replace(key, str(value))
        return text

    return filled(felis), filled(python)


def with_jax(text):
    """The forms in Python; where none is `jax`, it is the one of NumPy, by JAX's functions of the same names."""
    if "def jax" not in text:
        text += "\ndef jax" + re.sub(r"\bnp\.", "jnp.", text.partition("def numpy")[2])
    # Within the function, so that a program without JAX runs the others.
    return re.sub(r"(def jax\(.*\):\n)", r"\1    from jax import lax, numpy as jnp, scipy, vmap\n", text)


# Maps.

MAP = r"""
fun f[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):$T ^ I => [ EACH for i in ..[I] ];
fun g[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):$T ^ I {
  var out = x;
  for i in ..[I] perform &out.i <- EACH;
  return out;
}
"""
MAP_PYTHON = """
def numba(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = EACH
    return out
def numpy(x, y):
    return WHOLE
"""
MAP_RUST = """
fn rust(x: &[T], y: &[T]) -> Vec<T> {
    x.par_iter().zip(y).map(|(&x, &y)| EACH).collect()
}
"""


def mapped(name, types, each, python, whole, rust, checked=None, **more):
    text, blocks = MAP.replace("EACH", each), dict(opened="f (x_, y_)")
    if checked:
        text += f"fun h[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):$T ^ I => [ {checked} for i in ..[I] ];\n"
        blocks["checked"] = "h (x, y)"
    cell("map", name, types, text, MAP_PYTHON.replace("EACH", python).replace("WHOLE", whole), MAP_RUST.replace("EACH", rust),
         **blocks, **more)


mapped("map", "f64 f32", "x.i * y.i + 0.5 * x.i", "x[i] * y[i] + T(0.5) * x[i]", "x * y + T(0.5) * x", "x * y + 0.5 * x",
       'if y.i < 0.0 then fail "below 0" else x.i * y.i + 0.5 * x.i endif')
mapped("map", "int", "if x.i < y.i then 3 * x.i else y.i + 7 endif", "3 * x[i] if x[i] < y[i] else y[i] + 7",
       "np.where(x < y, 3 * x, y + 7)", "if x < y { 3 * x } else { y + 7 }",
       'if y.i < 0 then fail "below 0" elif x.i < y.i then 3 * x.i else y.i + 7 endif')
mapped("map", "u8", "if x.i > y.i then x.i - y.i else y.i - x.i endif",
       "x[i] - y[i] if x[i] > y[i] else y[i] - x[i]", "np.where(x > y, x - y, y - x)",
       "x.abs_diff(y)")
mapped("map", "bool", "x.i and not y.i", "x[i] and not y[i]", "x & ~y", "x && !y")
mapped("map_exp", "f64 f32", "exp (-x.i * x.i) + y.i", "np.exp(-x[i] * x[i]) + y[i]", "np.exp(-x * x) + y",
       "(-x * x).exp() + y")

# Reductions.

REDUCTION = r"""
fun f[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):OUT => WHOLE;
fun g[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):OUT {
  var total : OUT = START;
  for i in ..[I] perform STEP;
  return total;
}
"""
REDUCTION_PYTHON = """
def numba(x, y):
    total = START
    for i in prange(x.size):
        STEP
    return total
def numpy(x, y):
    return WHOLE
"""
REDUCTION_RUST = """
fn rust(x: &[T], y: &[T]) -> OUT {
    WHOLE
}
"""


def reduced(name, types, felis, python, rust, out="$T", rust_out="T", opened="f (x_, y_)"):
    def filled(text, words):
        for key, value in zip(("START", "STEP", "WHOLE", "OUT"), (*words, out)):
            text = text.replace(key, value)
        return text

    cell("reduction", name, types, filled(REDUCTION, felis), filled(REDUCTION_PYTHON, python),
         REDUCTION_RUST.replace("WHOLE", rust).replace("OUT", rust_out), opened=opened)


reduced("sum", "f64 f32", ("0.0", "total += (x.i - y.i) * (x.i - y.i)", "sum [ (x.i - y.i) * (x.i - y.i) for i in ..[I] ]"),
        ("T(0)", "total += (x[i] - y[i]) * (x[i] - y[i])", "np.dot(x - y, x - y)"),
        "x.par_iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()")
reduced("sum", "int", ("0", "total += x.i * y.i", "sum (x * y)"), ("0", "total += x[i] * y[i]", "np.sum(x * y)"),
        "x.par_iter().zip(y).map(|(x, y)| x * y).sum()")
reduced("max", "f64", ("0.0", "if x.i > total do total = x.i; done", "max x"),
        ("0.0", "total = max(total, x[i])", "x.max()"), "x.par_iter().copied().reduce(|| 0.0, T::max)")
reduced("max", "u8", ("0", "if x.i > total do total = x.i; done", "max x"),
        ("np.uint8(0)", "total = max(total, x[i])", "x.max()"), "x.par_iter().copied().reduce(|| 0, T::max)")
reduced("min_pair", "int", ("10007", "if x.i + y.i < total do total = x.i + y.i; done", "min [ x.i + y.i for i in ..[I] ]"),
        ("10007", "total = min(total, x[i] + y[i])", "(x + y).min()"),
        "x.par_iter().zip(y).map(|(x, y)| x + y).reduce(|| T::MAX, T::min)")
reduced("count", "bool", ("0", "if x.i and y.i do total += 1; done", "count [ x.i and y.i for i in ..[I] ]"),
        ("0", "total += x[i] and y[i]", "np.count_nonzero(x & y)"),
        "x.par_iter().zip(y).filter(|(x, y)| **x && **y).count()", out="int", rust_out="usize")
reduced("count", "int", ("0", "if x.i * 7 % 11 < 4 do total += 1; done", "count [ v * 7 % 11 < 4 for v in x ]"),
        ("0", "total += 1 if x[i] * 7 % 11 < 4 else 0", "np.count_nonzero(x * 7 % 11 < 4)"),
        "x.par_iter().filter(|&x| x * 7 % 11 < 4).count()", out="int", rust_out="usize")
cell("reduction", "argmax", "f64", r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):int => (argmax x) :>> int;
fun g[I:COMPACTLINEAR](x:$T ^ I):int {
  var best = 0 :>> I;
  for i in ..[I] perform if x.i > x.best perform best = i;
  return best :>> int;
}
""", """
PARALLEL = False
def numba(x):
    best = 0
    for i in range(x.size):
        if x[i] > x[best]:
            best = i
    return best
def numpy(x):
    return int(x.argmax())
def jax(x):
    return x.argmax()
""", """
fn rust(x: &[T]) -> usize {
    let best = x.par_iter().enumerate().reduce(|| (0, &x[0]), |best, one| if one.1 > best.1 { one } else { best });
    best.0
}
""", data="x", opened="f x_")

# Window sums.

cell("window", "window9", "f64 f32 int", r"""
fun f[I:COMPACTLINEAR](x:$T ^ (I \+ 8)):$T ^ I => map sum (windows[8] x);
fun g[I:COMPACTLINEAR](x:$T ^ (I \+ 8)):$T ^ I {
  var out = fill[I] x.(0 :>> I \+ 8);
  for i in ..[I] do
    var total : $T = 0;
    for w in 0..<9 perform total += x.(((i :>> int) + w) :>> I \+ 8);
    &out.i <- total;
  done
  return out;
}
""", """
def numba(x):
    out = np.empty_like(x[8:])
    for i in prange(out.size):
        total = T(0)
        for w in range(9):
            total += x[i + w]
        out[i] = total
    return out
def numpy(x):
    return np.lib.stride_tricks.sliding_window_view(x, 9).sum(axis=1, dtype=T)
def jax(x):
    return sum(x[w:x.size - 8 + w] for w in range(9))
""", """
fn rust(x: &[T]) -> Vec<T> {
    x.par_windows(9).map(|window| window.iter().sum()).collect()
}
""", data="x", shape="+8")

TORUS = r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):OUT ^ (I \* J) =>
  [ sum [ EACH for a in (-1, 0, 1), b in (-1, 0, 1) ] for i in ..[I], j in ..[J] ];
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):OUT ^ (I \* J) {
  var out : OUT ^ (I \* J) = fill 0;
  for i in ..[I], j in ..[J] do
    var total : OUT = 0;
    for a in (-1, 0, 1), b in (-1, 0, 1) perform total += EACH;
    &out.(i \, j) <- total;
  done
  return out;
}
"""
TORUS_PYTHON = """
def numba(x):
    n, m = x.shape
    out = np.empty(x.shape, dtype=OUT)
    for i in prange(n):
        for j in range(m):
            total = OUT(0)
            for a in range(-1, 2):
                for b in range(-1, 2):
                    total += x[(i + a + n) % n, (j + b + m) % m]
            out[i, j] = total
    return out
def numpy(x):
    x = x.astype(OUT)
    rows = np.roll(x, 1, 0) + x + np.roll(x, -1, 0)
    return np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1)
"""
TORUS_RUST = """
fn rust(x: &[T], m: usize) -> Vec<OUT> {
    let rows: Vec<&[T]> = x.chunks_exact(m).collect();
    let n = rows.len();
    let mut out = vec![OUT::default(); x.len()];
    out.par_chunks_exact_mut(m).enumerate().for_each(|(i, out)| {
        let near = [rows[(i + n - 1) % n], rows[i], rows[(i + 1) % n]];
        for (j, out) in out.iter_mut().enumerate() {
            let columns = [if j > 0 { j - 1 } else { m - 1 }, j, if j < m - 1 { j + 1 } else { 0 }];
            for row in near {
                for column in columns {
                    *out += row[column] as OUT;
                }
            }
        }
    });
    out
}
"""
for kind, out, numpy, rust, each in (
    ("f64", "real", "np.float64", "f64", r"x.(i.around a \, j.around b)"),
    ("u8", "u8", "np.uint8", "u8", r"x.(i.around a \, j.around b)"),
    ("bool", "int", "np.int64", "i64", r"if x.(i.around a \, j.around b) then 1 else 0 endif"),
):
    cell("window", "torus3x3", kind, TORUS.replace("EACH", each).replace("OUT", out), TORUS_PYTHON.replace("OUT", numpy),
         TORUS_RUST.replace("OUT", rust), sizes=SQUARE, data="x", shape="AB")

# Scans.

SCAN = r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):$T ^ I => WHOLE;
fun g[I:COMPACTLINEAR](x:$T ^ I):$T ^ I {
  var out = x;
  var total : $T = START;
  for i in ..[I] do
    total = STEP;
    &out.i <- total;
  done
  return out;
}
"""
SCAN_PYTHON = """
PARALLEL = False
def numba(x):
    out = np.empty_like(x)
    total = START
    for i in range(x.size):
        total = STEP
        out[i] = total
    return out
def numpy(x):
    return WHOLE
"""


SCAN_RUST = """
fn rust(x: &[T]) -> Vec<T> {
    let mut total: T = START;
    x.iter().map(|&v| { total = STEP; total }).collect()
}
"""


def scanned(name, types, felis, python, rust, jax="", group="scan", **more):
    def filled(text, words):
        for key, value in zip(("START", "STEP", "WHOLE"), words):
            text = text.replace(key, value)
        return text

    python_text = filled(SCAN_PYTHON, python)
    if group == "recurrence":
        python_text = python_text.partition("def numpy")[0]
    cell(group, name, types, filled(SCAN, felis), python_text + jax, filled(SCAN_RUST, rust), data="x", **more)


scanned("cumsum", "f64 f32 int", ("0", "total + x.i", "cumsum x"), ("T(0)", "total + x[i]", "np.cumsum(x)"),
        ("T::default()", "total + v"), opened="f x_")
scanned("running_max", "f64", ("0.0", "if total < x.i then x.i else total endif", "scan (fun (a:real, b:real) => max (a, b)) x"),
        ("0.0", "max(total, x[i])", "np.maximum.accumulate(x)"), ("0.0", "total.max(v)"),
        "def jax(x):\n    return lax.cummax(x)\n")
scanned("parity", "bool", ("false", "total != x.i", "scan (fun (a:bool, b:bool) => a != b) x"),
        ("False", "total != x[i]", "np.logical_xor.accumulate(x)"), ("false", "total != v"),
        "def jax(x):\n    return lax.associative_scan(jnp.logical_xor, x)\n")
scanned("wrapping", "u8", ("0", "total + x.i", "cumsum x"), ("0", "(total + x[i]) & 255", "np.cumsum(x, dtype=T)"),
        ("0", "total + v"))

# Recurrences, which no scan can do.

RECURRENCE_JAX = """
def jax(x):
    def step(total, v):
        total = STEP
        return total, total
    return lax.scan(step, T(START), x)[1]
"""


def recurrence(name, types, start, step, python_start, python, rust, jax=None):
    """`step` gives the next value of s from s and v; `jax` that in JAX, if it is not the one in Python."""
    whole = (f"{{ var s : $T = {start}; var out = x; for (i, v) in enumerate x do s = {step}; &out.i <- s; done out }}")
    jax = RECURRENCE_JAX.replace("STEP", jax or python.replace("x[i]", "v")).replace("START", python_start)
    scanned(name, types, (start, step.replace("v", "x.i").replace("s", "total"), whole),
            (python_start, python, ""), (start, rust), jax, group="recurrence")


recurrence("filter", "f64 f32", "0.0", "0.9 * s + v", "T(0)", "T(0.9) * total + x[i]", "0.9 * total + v")
recurrence("congruential", "int", "1", "(s * 1103515245 + v) % 2147483648", "1", "(total * 1103515245 + x[i]) % 2147483648",
           "(total * 1103515245 + v) % 2147483648")
recurrence("rolling", "u8", "1", "s * 31 + v", "1", "(total * 31 + x[i]) & 255", "total * 31 + v")
recurrence("toggle", "bool", "false", "s != (v and not s)", "False", "total != (x[i] and not total)", "total != (v && !total)",
           "total != (v & ~total)")

# Loops around maps.

AROUND = r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):$T ^ I {
  var u = x;
  for _ in 0..<20 perform u = [ EACH for i in ..[I] ];
  return u;
}
fun g[I:COMPACTLINEAR](x:$T ^ I):$T ^ I {
  var u = x;
  for _ in 0..<20 do
    var next = u;
    for i in ..[I] perform &next.i <- EACH;
    u = next;
  done
  return u;
}
"""
AROUND_PYTHON = """
def numba(x):
    u = x.copy()
    v = np.empty_like(x)
    n = x.size
    for _ in range(20):
        for i in prange(n):
            l, c, r = u[i - 1 if i > 0 else n - 1], u[i], u[i + 1 if i < n - 1 else 0]
            v[i] = EACH
        u, v = v, u
    return u
def numpy(x):
    u = x
    for _ in range(20):
        l, c, r = np.roll(u, 1), u, np.roll(u, -1)
        u = WHOLE
    return u
def jax(x):
    def step(_, c):
        l, r = jnp.roll(c, 1), jnp.roll(c, -1)
        return WHOLE
    return lax.fori_loop(0, 20, step, x)
"""
AROUND_RUST = """
fn step(l: T, c: T, r: T) -> T {
    EACH
}
fn rust(x: &[T]) -> Vec<T> {
    let n = x.len();
    let (mut u, mut v) = (x.to_vec(), x.to_vec());
    for _ in 0..20 {
        v[0] = step(u[n - 1], u[0], u[1]);
        v[1..n - 1].par_iter_mut().zip(u.par_windows(3)).for_each(|(v, u)| *v = step(u[0], u[1], u[2]));
        v[n - 1] = step(u[n - 2], u[n - 1], u[0]);
        std::mem::swap(&mut u, &mut v);
    }
    u
}
"""
for kinds, each, python, whole, rust in (
    ("f64 f32", "c + 0.2 * (l - 2.0 * c + r)", "c + T(0.2) * (l - T(2) * c + r)", "c + T(0.2) * (l - T(2) * c + r)",
     "c + 0.2 * (l - 2.0 * c + r)"),
    ("int", "(l + 3 * c + r) % 1009", "(l + 3 * c + r) % 1009", "(l + 3 * c + r) % 1009", "(l + 3 * c + r) % 1009"),
    ("u8", "l + c + r", "l + c + r", "l + c + r", "l + c + r"),
    ("bool", "l != (c or r)", "l != (c or r)", "l != (c | r)", "l != (c || r)"),
):
    neighbours = {"l": "u.(i.around (-1))", "c": "u.i", "r": "u.(i.around 1)"}
    each = re.sub(r"\b[lcr]\b", lambda name: neighbours[name[0]], each)
    cell("loop around maps", "steps20", kinds, AROUND.replace("EACH", each),
         AROUND_PYTHON.replace("EACH", python).replace("WHOLE", whole), AROUND_RUST.replace("EACH", rust), sizes=FEW,
         data="x")

# Contractions.

MATMUL = r"""
fun f[I:COMPACTLINEAR, K:COMPACTLINEAR, J:COMPACTLINEAR](a:$T ^ (I \* K), b:$T ^ (K \* J)):OUT ^ (I \* J) =>
  [ sum [ EACH for k in ..[K] ] for i in ..[I], j in ..[J] ];
fun g[I:COMPACTLINEAR, K:COMPACTLINEAR, J:COMPACTLINEAR](a:$T ^ (I \* K), b:$T ^ (K \* J)):OUT ^ (I \* J) {
  var out : OUT ^ (I \* J) = fill 0;
  for i in ..[I], j in ..[J] do
    var total : OUT = 0;
    for k in ..[K] perform total += EACH;
    &out.(i \, j) <- total;
  done
  return out;
}
"""
MATMUL_PYTHON = """
def numba(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), dtype=OUT)
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += EACH
    return out
def numpy(a, b):
    return WHOLE
"""
MATMUL_RUST = """
fn rust(a: &[T], b: &[T], n: usize) -> Vec<OUT> {
    let mut out = vec![OUT::default(); n * n];
    out.par_chunks_exact_mut(n).zip(a.par_chunks_exact(n)).for_each(|(out, a)| {
        for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (out, &b) in out.iter_mut().zip(b) {
                *out += EACH;
            }
        }
    });
    out
}
"""
for kinds, out, dtype, rust_out, each, python, whole, rust in (
    ("f64 f32 int", "$T", "T", "T", r"a.(i \, k) * b.(k \, j)", "a[i, k] * b[k, j]", "a @ b", "a * b"),
    ("u8", "int", "np.int64", "i64", r"(a.(i \, k) :> int) * (b.(k \, j) :> int)", "np.int64(a[i, k]) * np.int64(b[k, j])",
     "a.astype(np.int64) @ b.astype(np.int64)", "i64::from(a) * i64::from(b)"),
    ("bool", "int", "np.int64", "i64", r"if a.(i \, k) and b.(k \, j) then 1 else 0 endif", "a[i, k] and b[k, j]",
     "a.astype(np.int64) @ b.astype(np.int64)", "i64::from(a && b)"),
):
    cell("contraction", "product", kinds, MATMUL.replace("EACH", each).replace("OUT", out),
         MATMUL_PYTHON.replace("EACH", python).replace("OUT", dtype).replace("WHOLE", whole),
         MATMUL_RUST.replace("EACH", rust).replace("OUT", rust_out), sizes=(1024, 99856), data="a b", shape="AA")
cell("contraction", "distances", "f64", r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (I \* I) =>
  [ sum [ (x.(i \, k) - x.(j \, k)) * (x.(i \, k) - x.(j \, k)) for k in ..[J] ] for i in ..[I], j in ..[I] ];
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (I \* I) {
  var out : $T ^ (I \* I) = fill 0.0;
  for i in ..[I], j in ..[I] do
    var total = 0.0;
    for k in ..[J] do
      val d = x.(i \, k) - x.(j \, k);
      total += d * d;
    done
    &out.(i \, j) <- total;
  done
  return out;
}
""", """
def numba(x):
    n, m = x.shape
    out = np.empty((n, n))
    for i in prange(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                d = x[i, k] - x[j, k]
                total += d * d
            out[i, j] = total
    return out
def jax(x):
    d = x[:, None] - x
    return (d * d).sum(axis=2)
""", """
fn rust(x: &[T], m: usize) -> Vec<T> {
    let n = x.len() / m;
    let mut out = vec![0.0; n * n];
    out.par_chunks_exact_mut(n).zip(x.par_chunks_exact(m)).for_each(|(out, a)| {
        for (out, b) in out.iter_mut().zip(x.chunks_exact(m)) {
            *out = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        }
    });
    out
}
""", sizes=(1024, 99856), data="x", shape="AA")

# Triangular loops.

PAIRS = r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):$T => sum [ EACH for (i \, j) in ..[below[I]] ];
fun g[I:COMPACTLINEAR](x:$T ^ I):$T {
  var total : $T = 0;
  for i in ..[I], j in ..<i perform total += EACH;
  return total;
}
"""
PAIRS_PYTHON = """
def numba(x):
    total = T(0)
    for i in prange(x.size):
        for j in range(i):
            total += EACH
    return total
def jax(x):
    return jnp.tril(ALL, -1).sum()
"""
PAIRS_RUST = """
fn rust(x: &[T]) -> T {
    (0..x.len()).into_par_iter().map(|i| x[..i].iter().map(|x_j| EACH).sum::<T>()).sum()
}
"""
for kinds, each, python, jax, rust in (
    ("f64 f32", "(x.i - x.j) * (x.i - x.j)", "(x[i] - x[j]) * (x[i] - x[j])", "(x[:, None] - x) * (x[:, None] - x)",
     "(x[i] - x_j) * (x[i] - x_j)"),
    ("int", "if x.j > x.i then 1 else 0 endif", "1 if x[j] > x[i] else 0", "x > x[:, None]", "T::from(*x_j > x[i])"),
):
    cell("triangular", "pairs", kinds, PAIRS.replace("EACH", each), PAIRS_PYTHON.replace("EACH", python).replace("ALL", jax),
         PAIRS_RUST.replace("EACH", rust), sizes=(100, 1009, 3001), data="x")
cell("triangular", "cholesky", "f64", r"""
fun g[I:COMPACTLINEAR](x:$T ^ (I \* I)):$T ^ (I \* I) {
  var l : $T ^ (I \* I) = fill 0.0;
  for i in ..[I] do
    for j in ..<i do
      var s = x.(i \, j) + x.(j \, i);
      for k in ..<j perform s -= l.(i \, k) * l.(j \, k);
      &l.(i \, j) <- s / l.(j \, j);
    done
    var d = 2.0 * (#sizeof[I] :> real);
    for k in ..<i perform d -= l.(i \, k) * l.(i \, k);
    &l.(i \, i) <- sqrt d;
  done
  return l;
}
""", """
PARALLEL = False
def numba(x):
    n = x.shape[0]
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            s = x[i, j] + x[j, i]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = s / l[j, j]
        d = 2.0 * n
        for k in range(i):
            d -= l[i, k] * l[i, k]
        l[i, i] = np.sqrt(d)
    return l
def numpy(x):
    a = x + x.T
    np.fill_diagonal(a, 2.0 * x.shape[0])
    return np.linalg.cholesky(a)
def jax(x):
    return jnp.linalg.cholesky(jnp.fill_diagonal(x + x.T, 2.0 * x.shape[0], inplace=False))
""", """
fn rust(x: &[T], n: usize) -> Vec<T> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        let (above, row) = l.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..][..=j];
            let mut s = x[i * n + j] + x[j * n + i];
            for (a, b) in row[..j].iter().zip(other) {
                s -= a * b;
            }
            row[j] = s / other[j];
        }
        let mut d = 2.0 * n as T;
        for v in &row[..i] {
            d -= v * v;
        }
        row[i] = d.sqrt();
    }
    l
}
""", sizes=(1024, 99856), data="x", shape="AA", comprehension=None)
cell("triangular", "substitution", "f64 f32", r"""
fun g[I:COMPACTLINEAR](x:$T ^ (I \* I)):$T ^ I {
  var y : $T ^ I = fill 0.0;
  for i in ..[I] do
    var s : $T = 1.0;
    for j in ..<i perform s -= x.(i \, j) * y.j;
    &y.i <- s / (x.(i \, i) + (#sizeof[I] :> $T));
  done
  return y;
}
""", """
PARALLEL = False
def numba(x):
    n = x.shape[0]
    y = np.zeros(n, dtype=T)
    for i in range(n):
        s = T(1)
        for j in range(i):
            s -= x[i, j] * y[j]
        y[i] = s / (x[i, i] + T(n))
    return y
def jax(x):
    n = x.shape[0]
    return scipy.linalg.solve_triangular(x + n * jnp.eye(n, dtype=T), jnp.ones(n, T), lower=True)
""", """
fn rust(x: &[T], n: usize) -> Vec<T> {
    let mut y: Vec<T> = Vec::with_capacity(n);
    for (i, row) in x.chunks_exact(n).enumerate() {
        let mut s = 1.0;
        for (x, y) in row.iter().zip(&y) {
            s -= x * y;
        }
        y.push(s / (row[i] + n as T));
    }
    y
}
""", sizes=SQUARE, data="x", shape="AA", comprehension=None)

# Gather and scatter.

AT = r"val at = [ ((i :>> int) * 2654435761 % 4294967296).mod[N] for i in ..[N] ];" + "\n"
AT_PYTHON = "x, np.arange(N) * 2654435761 % 4294967296 % N"
AT_RUST = "let at = places(N);"
cell("gather", "gather", "f64 f32 u8", AT + r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ I, at:I ^ J):$T ^ J => [ x.k for k in at ];
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ I, at:I ^ J):$T ^ J {
  var out = fill[J] x.(0 :>> I);
  for j in ..[J] perform &out.j <- x.(at.j);
  return out;
}
""", """
def numba(x, at):
    out = np.empty_like(x)
    for i in prange(at.size):
        out[i] = x[at[i]]
    return out
def numpy(x, at):
    return x[at]
""", """
fn rust(x: &[T], at: &[usize]) -> Vec<T> {
    at.par_iter().map(|&place| x[place]).collect()
}
""", data="x", arguments="x, at", returned=AT_PYTHON, made=AT_RUST)
cell("scatter", "scatter_add", "f64 int", AT + r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ J, at:I ^ J):$T ^ I => scatter_add (at, x);
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ J, at:I ^ J):$T ^ I {
  var out : $T ^ I = fill 0;
  for j in ..[J] perform &out.(at.j) += x.j;
  return out;
}
""", """
PARALLEL = False
def numba(x, at):
    out = np.zeros_like(x)
    for i in range(at.size):
        out[at[i]] += x[i]
    return out
def numpy(x, at):
    return np.bincount(at, x, x.size).astype(T)
def jax(x, at):
    return jnp.zeros_like(x).at[at].add(x)
""", """
fn rust(x: &[T], at: &[usize]) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    for (&place, &v) in at.iter().zip(x) {
        out[place] += v;
    }
    out
}
""", data="x", arguments="x, at", returned=AT_PYTHON, made=AT_RUST)
cell("scatter", "histogram", "u8", r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):int ^ 256 => histogram [ v.mod[256] for v in x ];
fun g[I:COMPACTLINEAR](x:$T ^ I):int ^ 256 {
  var out : int ^ 256 = fill 0;
  for v in x perform &out.(v.mod[256]) += 1;
  return out;
}
""", """
PARALLEL = False
def numba(x):
    out = np.zeros(256, np.int64)
    for v in x:
        out[v] += 1
    return out
def numpy(x):
    return np.bincount(x, minlength=256)
def jax(x):
    return jnp.bincount(x, length=256)
""", """
fn rust(x: &[T]) -> [i64; 256] {
    let mut out = [0; 256];
    for &v in x {
        out[usize::from(v)] += 1;
    }
    out
}
""", data="x")
cell("scatter", "permute", "u8 bool", AT + r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ J, at:I ^ J):$T ^ I => fill[I] x.(0 :>> J) |> scatter (at, x);
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ J, at:I ^ J):$T ^ I {
  var out = fill[I] x.(0 :>> J);
  for j in ..[J] perform &out.(at.j) <- x.j;
  return out;
}
""", """
PARALLEL = False
def numba(x, at):
    out = np.full_like(x, x[0])
    for i in range(at.size):
        out[at[i]] = x[i]
    return out
def numpy(x, at):
    out = np.full_like(x, x[0])
    out[at] = x
    return out
def jax(x, at):
    return jnp.full_like(x, x[0]).at[at].set(x)
""", """
fn rust(x: &[T], at: &[usize]) -> Vec<T> {
    let mut out = vec![x[0]; x.len()];
    for (&place, &v) in at.iter().zip(x) {
        out[place] = v;
    }
    out
}
""", data="x", arguments="x, at", returned=AT_PYTHON, made=AT_RUST)

# Index shuffles.

cell("index shuffle", "transpose", "f64 f32 u8", r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (J \* I) => [ x.(i \, j) for j in ..[J], i in ..[I] ];
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (J \* I) {
  var out = fill[J \* I] x.(0 :>> I \* J);
  for i in ..[I], j in ..[J] perform &out.(j \, i) <- x.(i \, j);
  return out;
}
""", """
def numba(x):
    out = np.empty((x.shape[1], x.shape[0]), dtype=T)
    for j in prange(x.shape[1]):
        for i in range(x.shape[0]):
            out[j, i] = x[i, j]
    return out
def numpy(x):
    return x.T.copy()
""", """
fn rust(x: &[T], m: usize) -> Vec<T> {
    let n = x.len() / m;
    let mut out = vec![T::default(); x.len()];
    out.par_chunks_exact_mut(n).enumerate().for_each(|(j, out)| {
        for (out, row) in out.iter_mut().zip(x.chunks_exact(m)) {
            *out = row[j];
        }
    });
    out
}
""", sizes=SQUARE, data="x", shape="AB")
cell("index shuffle", "reverse", "int", r"""
fun f[I:COMPACTLINEAR](x:$T ^ I):$T ^ I => rev x;
fun g[I:COMPACTLINEAR](x:$T ^ I):$T ^ I {
  var out = x;
  for i in ..[I] perform &out.i <- x.(flip i);
  return out;
}
""", """
def numba(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = x[x.size - 1 - i]
    return out
def numpy(x):
    return x[::-1].copy()
""", """
fn rust(x: &[T]) -> Vec<T> {
    x.par_iter().rev().copied().collect()
}
""", data="x")
cell("index shuffle", "roll2", "f64 bool", r"""
fun f[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (I \* J) => x |> rotate2 (3, 5);
fun g[I:COMPACTLINEAR, J:COMPACTLINEAR](x:$T ^ (I \* J)):$T ^ (I \* J) {
  var out = x;
  for i in ..[I], j in ..[J] perform &out.(i \, j) <- x.(i.around 3 \, j.around 5);
  return out;
}
""", """
def numba(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        for j in range(m):
            out[i, j] = x[(i + 3) % n, (j + 5) % m]
    return out
def numpy(x):
    return np.roll(x, (-3, -5), (0, 1))
""", """
fn rust(x: &[T], m: usize) -> Vec<T> {
    let n = x.len() / m;
    let mut out = vec![T::default(); x.len()];
    out.par_chunks_exact_mut(m).enumerate().for_each(|(i, out)| {
        let (begin, end) = x[(i + 3) % n * m..][..m].split_at(5);
        out[..m - 5].copy_from_slice(end);
        out[m - 5..].copy_from_slice(begin);
    });
    out
}
""", sizes=SQUARE, data="x", shape="AB")
cell("index shuffle", "interleave", "int", r"""
fun f[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):$T ^ (I \* 2) => interleaved (x, y);
fun g[I:COMPACTLINEAR](x:$T ^ I, y:$T ^ I):$T ^ (I \* 2) {
  var out : $T ^ (I \* 2) = fill 0;
  for i in ..[I] do
    &out.(i \, 0) <- x.i;
    &out.(i \, 1) <- y.i;
  done
  return out;
}
""", """
def numba(x, y):
    out = np.empty((x.size, 2), dtype=T)
    for i in prange(x.size):
        out[i, 0] = x[i]
        out[i, 1] = y[i]
    return out
def numpy(x, y):
    return np.stack((x, y), 1)
""", """
fn rust(x: &[T], y: &[T]) -> Vec<[T; 2]> {
    x.par_iter().zip(y).map(|(&x, &y)| [x, y]).collect()
}
""")

# A loop for each element.

WHILE = r"""
fun one(v:$T):$T {
  BODY
}
fun f[I:COMPACTLINEAR](x:$T ^ I):$T ^ I => map one x;
fun g[I:COMPACTLINEAR](x:$T ^ I):$T ^ I {
  var out = x;
  for i in ..[I] perform &out.i <- one x.i;
  return out;
}
"""
WHILE_PYTHON = """
@njit
def one(v):
    BODY
def numba(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = one(x[i])
    return out
def jax(x):
    def one(v):
        JAX
    return vmap(one)(x)
"""
WHILE_RUST = """
fn one(v: T) -> T {
    BODY
}
fn rust(x: &[T]) -> Vec<T> {
    x.par_iter().map(|&v| one(v)).collect()
}
"""
for name, kinds, body, python, jax, rust, sizes in (
    ("newton", "f64 f32", "var r : $T = v + 1.0;\n  while r * r - v > 0.001 * v + 0.001 perform r = 0.5 * (r + v / r);\n  return r;",
     "r = v + T(1)\n    while r * r - v > T(0.001) * v + T(0.001):\n        r = T(0.5) * (r + v / r)\n    return r",
     "return lax.while_loop(lambda r: r * r - v > T(0.001) * v + T(0.001), lambda r: T(0.5) * (r + v / r), v + T(1))",
     "let mut r = v + 1.0;\n    while r * r - v > 0.001 * v + 0.001 {\n        r = 0.5 * (r + v / r);\n    }\n    r", FEW),
    ("collatz", "int", "var n = v + 1;\n  var steps = 0;\n  while n != 1 do\n    n = if n % 2 == 0 then n / 2 else 3 * n + 1 endif;\n"
     "    steps += 1;\n  done\n  return steps;",
     "n, steps = v + 1, 0\n    while n != 1:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n        steps += 1\n    return steps",
     "def step(s):\n            n, steps = s\n            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1\n"
     "        return lax.while_loop(lambda s: s[0] != 1, step, (v + 1, 0))[1]",
     "let (mut n, mut steps) = (v + 1, 0);\n    while n != 1 {\n        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };\n"
     "        steps += 1;\n    }\n    steps", FEW),
    ("ones", "u8", "var n = v;\n  var total = 0u8;\n  while n != 0 do\n    total += n % 2;\n    n = n / 2;\n  done\n  return total;",
     "n, total = v, T(0)\n    while n != 0:\n        total += n & 1\n        n >>= 1\n    return total",
     "return lax.while_loop(lambda s: s[0] != 0, lambda s: (s[0] >> 1, s[1] + (s[0] & 1)), (v, T(0)))[1]",
     "let (mut n, mut total) = (v, 0);\n    while n != 0 {\n        total += n & 1;\n        n >>= 1;\n    }\n    total", FEW),
):
    cell("while per element", name, kinds, WHILE.replace("BODY", body),
         WHILE_PYTHON.replace("BODY", python).replace("JAX", jax), WHILE_RUST.replace("BODY", rust), sizes=sizes, data="x")

# Records.

cell("records", "particles", "f64 f32", r"""
struct P { x : $T; y : $T; vx : $T; vy : $T; }
val ps = [ P (x.i, y.i, 1.0 - x.i, x.i - y.i) for i in ..[N] ];
fun moved(p:P):P => p with (x = p.x + 0.1 * p.vx, y = p.y + 0.1 * p.vy, vx = 0.99 * p.vx, vy = 0.99 * p.vy - 0.01);
fun f[I:COMPACTLINEAR](ps:P ^ I):P ^ I => map moved ps;
fun g[I:COMPACTLINEAR](ps:P ^ I):P ^ I {
  var out = ps;
  for i in ..[I] do
    &out.i.x <- ps.i.x + 0.1 * ps.i.vx;
    &out.i.y <- ps.i.y + 0.1 * ps.i.vy;
    &out.i.vx <- 0.99 * ps.i.vx;
    &out.i.vy <- 0.99 * ps.i.vy - 0.01;
  done
  return out;
}
fun weighed[I:COMPACTLINEAR](ps:P ^ I):real => weighed (ps :>> $T ^ (I \* 4));
""", """
def numba(ps):
    out = np.empty_like(ps)
    for i in prange(ps.shape[0]):
        out[i, 0] = ps[i, 0] + T(0.1) * ps[i, 2]
        out[i, 1] = ps[i, 1] + T(0.1) * ps[i, 3]
        out[i, 2] = T(0.99) * ps[i, 2]
        out[i, 3] = T(0.99) * ps[i, 3] - T(0.01)
    return out
def jax(ps):
    x, y, vx, vy = ps.T
    return jnp.stack((x + T(0.1) * vx, y + T(0.1) * vy, T(0.99) * vx, T(0.99) * vy - T(0.01)), 1)
""", """
struct P { x: T, y: T, vx: T, vy: T }
fn rust(ps: &[P]) -> Vec<P> {
    let moved = |p: &P| P { x: p.x + 0.1 * p.vx, y: p.y + 0.1 * p.vy, vx: 0.99 * p.vx, vy: 0.99 * p.vy - 0.01 };
    ps.par_iter().map(moved).collect()
}
impl Elements for P {
    fn each(&self, visit: &mut impl FnMut(f64)) {
        [self.x, self.y, self.vx, self.vy].each(visit);
    }
}
""", arguments="ps", returned="np.ascontiguousarray(np.stack((x, y, T(1) - x, x - y), 1))",
     made="let ps: Vec<P> = x.iter().zip(&y).map(|(&x, &y)| P { x, y, vx: 1.0 - x, vy: x - y }).collect();")
cell("records", "gray", "u8", r"""
struct RGB { r : u8; g : u8; b : u8; }
val picture = [ RGB (x.i, y.i, z.i) for i in ..[N] ];
fun gray(p:RGB):u8 => (((p.r :> int) * 77 + (p.g :> int) * 150 + (p.b :> int) * 29) / 256) :> u8;
fun f[I:COMPACTLINEAR](p:RGB ^ I):u8 ^ I => map gray p;
fun g[I:COMPACTLINEAR](p:RGB ^ I):u8 ^ I {
  var out : u8 ^ I = fill 0;
  for i in ..[I] perform &out.i <- gray p.i;
  return out;
}
""", """
def numba(p):
    out = np.empty(p.shape[0], np.uint8)
    for i in prange(p.shape[0]):
        out[i] = (np.int64(p[i, 0]) * 77 + np.int64(p[i, 1]) * 150 + np.int64(p[i, 2]) * 29) // 256
    return out
def numpy(p):
    return (p @ np.array((77, 150, 29)) // 256).astype(np.uint8)
""", """
struct Rgb { r: u8, g: u8, b: u8 }
fn rust(picture: &[Rgb]) -> Vec<u8> {
    let gray = |p: &Rgb| ((i64::from(p.r) * 77 + i64::from(p.g) * 150 + i64::from(p.b) * 29) / 256) as u8;
    picture.par_iter().map(gray).collect()
}
""", data="x y z", arguments="picture", returned="np.stack((x, y, z), 1)",
     made="let picture: Vec<Rgb> = (0..N).map(|i| Rgb { r: x[i], g: y[i], b: z[i] }).collect();")
cell("records", "lightest", "int", r"""
struct Edge { from : int; to : int; weight : int; }
val edges = [ Edge (x.i, y.i, (x.i * 31 + y.i * 17) % 10007 + 1) for i in ..[N] ];
fun f[I:COMPACTLINEAR](e:Edge ^ I):int {
  val best = e |> reduce (fun (a:Edge, b:Edge) => if b.weight < a.weight then b else a endif) e.(0 :>> I);
  return best.from * 10007 + best.to;
}
fun g[I:COMPACTLINEAR](e:Edge ^ I):int {
  var best = e.(0 :>> I);
  for one in e perform if one.weight < best.weight perform best = one;
  return best.from * 10007 + best.to;
}
""", """
PARALLEL = False
def numba(e):
    best = 0
    for i in range(e.shape[0]):
        if e[i, 2] < e[best, 2]:
            best = i
    return e[best, 0] * 10007 + e[best, 1]
def numpy(e):
    best = e[e[:, 2].argmin()]
    return int(best[0] * 10007 + best[1])
def jax(e):
    best = e[e[:, 2].argmin()]
    return best[0] * 10007 + best[1]
""", """
#[derive(Clone, Copy)]
struct Edge { from: i64, to: i64, weight: i64 }
fn rust(e: &[Edge]) -> i64 {
    let best = e.par_iter().copied().reduce(|| e[0], |best, one| if one.weight < best.weight { one } else { best });
    best.from * 10007 + best.to
}
""", arguments="edges", returned="np.stack((x, y, (x * 31 + y * 17) % 10007 + 1), 1)",
     made="let edge = |(&from, &to): (&T, &T)| Edge { from, to, weight: (from * 31 + to * 17) % 10007 + 1 };\n"
          "let edges: Vec<Edge> = x.iter().zip(&y).map(edge).collect();")
cell("records", "complex", "f64", r"""
val z = [ complex (x.i, y.i) for i in ..[N] ];
fun f[I:COMPACTLINEAR](z:complex ^ I):real ^ I => [ abs2 (v * v + complex (0.25, -0.5)) for v in z ];
fun g[I:COMPACTLINEAR](z:complex ^ I):real ^ I {
  var out : real ^ I = fill 0.0;
  for i in ..[I] do
    val w = z.i * z.i + complex (0.25, -0.5);
    &out.i <- w.re * w.re + w.im * w.im;
  done
  return out;
}
""", """
def numba(z):
    out = np.empty(z.size)
    for i in prange(z.size):
        w = z[i] * z[i] + (0.25 - 0.5j)
        out[i] = w.real * w.real + w.imag * w.imag
    return out
def numpy(z):
    w = z * z + (0.25 - 0.5j)
    return w.real * w.real + w.imag * w.imag
""", """
struct Complex { re: f64, im: f64 }
fn rust(z: &[Complex]) -> Vec<f64> {
    let each = |z: &Complex| {
        let (re, im) = (z.re * z.re - z.im * z.im + 0.25, 2.0 * z.re * z.im - 0.5);
        re * re + im * im
    };
    z.par_iter().map(each).collect()
}
""", arguments="z", returned="x + 1j * y",
     made="let z: Vec<Complex> = x.iter().zip(&y).map(|(&re, &im)| Complex { re, im }).collect();")


def write(cell, size):
    felis, python = texts(cell, size)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{cell['name']}_{size}.flx"
    path.write_text(felis)
    path.with_suffix(".py").write_text(python)
    return path


CARGO = """# Of benches/grid.py.
[workspace]

[package]
name = "grid"
edition = "2024"

[[bin]]
name = "grid"
path = "main.rs"

[dependencies]
rayon = "1.12"

[profile.release]
# Integers wrap, as in the other languages.
overflow-checks = false
"""

RUST_HEAD = """//! The cells of benches/grid.py: a module for each, and one for its form in parallel, if it has one.
#![allow(unused, non_snake_case)]
use super::*;
use rayon::prelude::*;
"""


def rust_module(name, cell, text):
    """A module of the crate: a form, and `load`, which makes its data."""
    _, _, word, _, _, made = TYPES[cell["kind"]]
    _, sides = SHAPES[cell["shape"]]
    count, columns = sides.replace(", ", " * "), sides.partition(", ")[2]
    names = cell["arguments"].split(", ") if cell["arguments"] else cell["data"]
    given = [f"black_box(&{name})" for name in names] + [f"black_box({columns})"] * bool(columns)
    data = [f"let {name}: Vec<T> = codes({p}, {count}).map(|c| {made}).collect();" for name, p in zip(cell["data"], SEEDS)]
    return "\n".join([
        f"mod {name} {{", "use super::*;", f"type T = {word};", text.strip(),
        "pub fn load(N: usize) -> Box<dyn Kernel> {",
        "let (A, B) = (N.isqrt(), N / N.isqrt());", *data, cell["made"].strip(),
        f"Box::new(move || rust({', '.join(given)}))", "}", "}"])


def sequential(text):
    """A form in Rust without rayon: the iterators of the same names; reductions that begin with a value are folds."""
    return text.replace("par_", "").replace(".reduce(|| ", ".fold(")


def write_rust():
    """Writes the crate of the forms in Rust; returns its folder."""
    modules, cases = [RUST_HEAD], []
    for cell in CELLS:
        name, text = cell["name"], cell["rust"]
        modules.append(rust_module(name, cell, sequential(text)))
        if sequential(text) != text:
            modules.append(rust_module(f"{name}_parallel", cell, text))
            cases.append(f'"{name}" if n >= {turns.PARALLEL} => {name}_parallel::load(n),')
        cases.append(f'"{name}" => {name}::load(n),')
    modules.append("\n".join([
        "/// The form of a cell at a size, with its data.", "pub fn load(cell: &str, n: usize) -> Option<Box<dyn Kernel>> {",
        "Some(match cell {", *cases, "_ => return None,", "})", "}"]))
    folder = FOLDER / "rust"
    folder.mkdir(parents=True, exist_ok=True)
    files = {"Cargo.toml": CARGO, "main.rs": (BENCHES / "peers" / "grid.rs").read_text(), "cells.rs": "\n".join(modules) + "\n"}
    for name, text in files.items():
        # Cargo builds again what has been written again.
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
    return folder


class Peers(turns.Peers):
    """The peers in Python, and a process of the forms in Rust, if it is asked."""

    def __init__(self, names):
        super().__init__(names)
        self.rust = None
        if "rust" in names:
            folder = write_rust()
            flags = f"{os.environ.get('RUSTFLAGS', '')} -C target-cpu=native".strip()
            built = subprocess.run(["cargo", "build", "--quiet", "--release", "--target-dir", folder / "target"],
                                   cwd=folder, env={**os.environ, "RUSTFLAGS": flags})
            if built.returncode:
                sys.exit("the forms in Rust were not built")
            self.rust = turns.Process([folder / "target" / "release" / "grid"])

    def load(self, path):
        answer = super().load(path)
        if self.rust is None:
            return answer
        if "error" in answer:
            answer = dict(checks={}, first={}, notes=[f"Python: {answer['error']}"], scale=0.0)
        cell, _, size = Path(path).stem.rpartition("_")
        loaded = self.rust.ask(f"load {cell} {size}")
        if "error" in loaded:
            answer["notes"].append(f"rust: {loaded['error']}")
        else:
            answer["checks"]["rust"], answer["first"]["rust"] = loaded["check"], loaded["first"]
            answer["scale"] = max(answer["scale"], loaded["scale"])
        return answer

    def turn(self, name, seconds):
        return self.rust.ask(f"turn {seconds}") if name == "rust" else super().turn(name, seconds)


def main():
    words, chosen = turns.options(sys.argv[1:], rounds=3, seconds=0.15, peers="numpy,numba", sizes="", write=0, json="")
    cells = [c for c in CELLS if not words or any(w in f"{c['group']} {c['name']}" for w in words)]
    sizes = {int(s) for s in chosen["sizes"].split(",") if s}
    programs = [(c, n, write(c, n)) for c in cells for n in c["sizes"] if not sizes or n in sizes]
    asked = chosen["peers"].split(",")
    if chosen["write"]:
        if "rust" in asked:
            write_rust()
        return
    peers = Peers(asked)
    print(turns.head(asked), flush=True)
    notes, results = [], []
    for c, n, path in programs:
        tolerance = 2e-2 if c["kind"] == "f32" else 1e-9
        times, names, said = turns.measured(path, peers, chosen["rounds"], chosen["seconds"], tolerance)
        notes += [f"{path.stem}: {note}" for note in said]
        for row in turns.rows(f"{c['name']} {n}", times, names, asked):
            print(row, flush=True)
        results.append(dict(group=c["group"], kernel=c["name"], kind=c["kind"], size=n, times=times, peers=names, notes=said))
        if chosen["json"]:
            Path(chosen["json"]).write_text("\n".join(map(json.dumps, results)) + "\n")
    print("\n" + compact(results) + "\n\n" + summary(results) + "\n")
    print("\n".join(f"- {note}" for note in notes))


def compact(results):
    """A row for each cell: the ratios of its blocks to the best peer, at each size."""
    lines = ["| kernel | blocks | ratios by size | Felis, best peer at the largest |", "|---|---|---|---|"]
    for kernel in dict.fromkeys(x["kernel"] for x in results):
        chosen = [x for x in results if x["kernel"] == kernel and turns.ratios(x["times"], x["peers"])]
        if not chosen:
            continue
        found = {x["size"]: turns.ratios(x["times"], x["peers"]) for x in chosen}
        blocks = list(dict.fromkeys(name for one in found.values() for name in one))
        sizes = [f"{size}: " + ", ".join(f"{one[b]:.2f}" if b in one else "–" for b in blocks) for size, one in found.items()]
        times = chosen[-1]["times"]
        best = min(chosen[-1]["peers"], key=lambda name: times[name]["fastest"])
        ends = [f"{name if name == best else ''} {turns.duration(times[name]['fastest'])}".strip() for name in (blocks[0], best)]
        lines.append(f"| {kernel} | {', '.join(blocks)} | {'; '.join(sizes)} | {', '.join(ends)} |")
    return "\n".join(lines)


def summary(results):
    """By class: how many blocks, median, 95th percentile and worst of the ratios to the best peer."""
    lines = ["| class | blocks | median | 95th percentile | worst | medians of f64 f32 int u8 bool |", "|---|---|---|---|---|---|"]
    def of(chosen):
        return sorted((r, name) for x in chosen for name, r in turns.ratios(x["times"], x["peers"]).items())
    groups = list(dict.fromkeys(x["group"] for x in results))
    for group, chosen in [(g, [x for x in results if x["group"] == g]) for g in groups] + [("all", results)]:
        found = [r for r, _ in of(chosen)]
        if not found:
            continue
        kinds = []
        for kind in TYPES:
            one = [r for r, _ in of([x for x in chosen if x["kind"] == kind])]
            kinds.append(f"{statistics.median(one):.2f}" if one else "–")
        high = found[min(len(found) - 1, int(0.95 * len(found)))]
        lines.append(f"| {group} | {len(found)} | {statistics.median(found):.2f} | {high:.2f} | {found[-1]:.2f} | {' '.join(kinds)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
