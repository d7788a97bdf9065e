#!/usr/bin/env python3
"""Random kernels, each in Felis and plainly in Numba, measured in turns.

    FELIS=target/release/felis target/bench-python/bin/python benches/generator.py                 # 100, a new seed
    … benches/generator.py --seed=1234 --count=20 --rounds=5                                       # the same again

A kernel is one to four stages: a map with cyclic neighbours and gathers, an inner reduction over a window, a scan, a
recurrence, steps of a map in a loop, a triangular loop, a `while` per element, bins, rows, columns, a product of matrices;
at the end, perhaps, a reduction. Stages are written as comprehensions or as loops, by chance. The Numba form is the loop
that the stage says, parallel where its outermost loop is; no `fastmath`. Prints the seed, a table, the median, the 95th
percentile and the worst of the ratios Felis ÷ Numba, and the texts of the worst five.
"""

import json
import random
import statistics
import sys
import time
from pathlib import Path

import turns

FOLDER = Path(__file__).resolve().parent.parent / "target" / "bench-generator"

FELIS_HEAD = r"""
fun codes[I:COMPACTLINEAR](p:int):int ^ I => [ (i :>> int) * ((i :>> int) + p) % 10007 for i in ..[I] ];
fun weighed[I:COMPACTLINEAR](out:real ^ I):real => sum [ out.i * (((i :>> int) % 1009 + 1) :> real) for i in ..[I] ];
fun weighed[I:COMPACTLINEAR](out:f32 ^ I):real => weighed [ v :> real for v in out ];
fun weighed[I:COMPACTLINEAR](out:int ^ I):real => weighed [ v :> real for v in out ];
fun weighed(out:real):real => out;
fun weighed(out:f32):real => out :> real;
fun weighed(out:int):real => out :> real;
"""


class Kernel:
    """A random kernel: its two texts grow stage by stage."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.kind = pick(["real"] * 4 + ["f32", "int"])
        self.flat = self.random.random() < 0.6
        self.n = pick([10007, 100003, 300007, 1000003])
        self.a = pick([7, 64, 211, 317, 1009, 5003]) if not self.flat else 0
        self.b = max(3, self.n // self.a) if self.a else 0
        self.head, self.body, self.python, self.functions = [], [], [], []
        self.arrays, self.stages, self.count = ["x", "y"], [], 0
        self.simple = self.unread = False

    # Expressions: pairs of texts, in Felis and in Python.

    def constant(self):
        if self.kind == "int":
            k = self.random.randint(1, 9)
            return str(k), str(k)
        c = self.random.choice([0.1, 0.25, 0.3, 0.5, 0.75, 1.5, 2.0])
        return (f"{c}f32", f"np.float32({c})") if self.kind == "f32" else (str(c), str(c))

    def wrapped(self, index, step, size):
        """A cyclic neighbour of an index."""
        if step == 0:
            return index, index
        python = f"({index} + {step} if {index} + {step} < {size} else {index} + {step} - {size})" if step > 0 else \
            f"({index} - {-step} if {index} >= {-step} else {index} - {-step} + {size})"
        return f"{index}.around {step if step > 0 else f'({step})'}", python

    def element(self, index=("i", "j")):
        """An element near the place of a stage."""
        name = self.random.choice(self.arrays[-3:])
        if self.unread:
            # So that no stage is for nothing.
            name, self.unread = self.arrays[-1], False
        chance = self.random.random()
        if self.flat:
            i = index[0]
            if chance < 0.15 and not self.simple:
                return f"{name}.(at.{i})", f"{name}[at[{i}]]"
            felis, python = self.wrapped(i, 0 if chance < 0.6 else self.random.choice([-2, -1, 1, 2]), "n")
            return (f"{name}.{felis}" if felis == i else f"{name}.({felis})"), f"{name}[{python}]"
        steps = (0, 0) if chance < 0.5 else (self.random.choice([-1, 0, 1]), self.random.choice([-1, 0, 1]))
        (f, p), (g, q) = self.wrapped(index[0], steps[0], "n"), self.wrapped(index[1], steps[1], "m")
        return f"{name}.({f} \\, {g})", f"{name}[{p}, {q}]"

    def expression(self, depth, leaf):
        """A bounded expression over leaves."""
        if depth == 0 or self.random.random() < 0.1:
            return leaf() if self.random.random() < 0.8 else self.constant()
        a, b = self.expression(depth - 1, leaf), self.expression(depth - 1, leaf)
        forms = ["+", "-", "+", "-", "*", "*", "min", "max", "select"]
        if self.kind != "int":
            forms += ["root", "quotient"] + ([] if self.simple else ["exp", "sin", "log", "tanh"])
        form = self.random.choice(forms)
        one, one_python = self.one
        if form in "+-*":
            return f"({a[0]} {form} {b[0]})", f"({a[1]} {form} {b[1]})"
        if form in ("min", "max"):
            return f"{form} ({a[0]}, {b[0]})", f"{form}({a[1]}, {b[1]})"
        if form == "select":
            c, d = leaf(), self.constant()
            if self.random.random() < 0.5:
                d = leaf()
            return (f"(if {c[0]} < {d[0]} then {a[0]} else {b[0]} endif)", f"({a[1]} if {c[1]} < {d[1]} else {b[1]})")
        if form == "root":
            return f"sqrt (abs ({a[0]}))", f"np.sqrt(abs({a[1]}))"
        if form == "quotient":
            return f"({a[0]} / ({one} + {b[0]} * {b[0]}))", f"({a[1]} / ({one_python} + {b[1]} * {b[1]}))"
        if form == "exp":
            return f"exp (-(abs ({a[0]})))", f"np.exp(-abs({a[1]}))"
        if form == "log":
            return f"log ({one} + abs ({a[0]}))", f"np.log({one_python} + abs({a[1]}))"
        return f"{form} ({a[0]})", f"np.{form}({a[1]})"

    def bounded(self, pair):
        """Keeps integers small, since what they overflow to is not the point."""
        return (f"(abs ({pair[0]})) % 1009", f"abs({pair[1]}) % 1009") if self.kind == "int" else pair

    def value(self, depth=None):
        return self.bounded(self.expression(depth or self.random.randint(1, 4), self.element))

    # Stages.

    def new(self):
        self.count += 1
        return f"s{self.count}"

    @property
    def dtype(self):
        return {"real": "np.float64", "f32": "np.float32", "int": "np.int64"}[self.kind]

    @property
    def zero(self):
        return {"real": ("0.0", "0.0"), "f32": ("0.0f32", "np.float32(0.0)"), "int": ("0", "0")}[self.kind]

    @property
    def half(self):
        return ("0.5f32", "np.float32(0.5)") if self.kind == "f32" else ("0.5", "0.5")

    @property
    def one(self):
        return ("1.0f32", "np.float32(1.0)") if self.kind == "f32" else ("1.0", "1.0")

    def shape(self):
        return ("I", "n") if self.flat else (r"(I \* J)", "(n, m)")

    def whole(self, value, before=(), prepared=()):
        """A map over the index space: `before` are lines of Python before the store; `prepared` a value's own lines."""
        name = self.new()
        clauses, at, place = (("i in ..[I]", "i", "i") if self.flat else ("i in ..[I], j in ..[J]", r"(i \, j)", "i, j"))
        if self.random.random() < 0.6:
            self.body.append(f"  val {name} = [ {value[0]} for {clauses} ];")
        else:
            self.body += [f"  var {name} = x;", f"  for {clauses} perform &{name}.{at} <- {value[0]};"]
        pad = "        " if self.flat else "            "
        self.python += [f"    {name} = np.empty({self.shape()[1]}, dtype={self.dtype})", "    for i in prange(n):"]
        if not self.flat:
            self.python.append("        for j in range(m):")
        self.python += [pad + line for line in before] + [f"{pad}{name}[{place}] = {value[1]}"]
        self.arrays.append(name)

    def map(self):
        self.whole(self.value())
        return "map"

    def window(self):
        """An inner reduction over a small range, with weights."""
        k, op = self.random.randint(3, 12), self.random.choice(["sum", "sum", "sum", "max", "min"])
        name = self.random.choice(self.arrays[-2:])
        if self.kind == "int":
            self.head.append(f"val w{self.count} = [ k :>> int + 1 for k in ..[{k}] ];")
            self.functions.append(f"W{self.count} = np.arange({k}) + 1")
        else:
            self.head.append(f"val w{self.count} = [ ((k :> real) / 16.0) :> {self.kind} for k in ..[{k}] ];")
            self.functions.append(f"W{self.count} = (np.arange({k}) / 16.0).astype({self.dtype})")
        axis = self.random.choice("i" if self.flat else "ij")
        size = {"i": "n", "j": "m"}[axis]
        there = f"{axis}.around (k :>> int)"
        felis = f"{name}.({there})" if self.flat else f"{name}.({there if axis == 'i' else 'i'} \\, {there if axis == 'j' else 'j'})"
        python = f"{name}[at_k]" if self.flat else f"{name}[{'at_k' if axis == 'i' else 'i'}, {'at_k' if axis == 'j' else 'j'}]"
        extra = self.element()
        w = f"w{self.count}"
        term = f"{w}.k * {felis}", f"{w.upper()}[k] * {python}"
        if self.random.random() < 0.4:
            term = f"({term[0]} - {extra[0]}) * {felis}", f"({term[1]} - {extra[1]}) * {python}"
        first = {"sum": self.zero[1]}.get(op)
        before = [f"total = {first}" if first else "total = np.inf" if op == "min" else "total = -np.inf",
                  f"for k in range({k}):", f"    at_k = {axis} + k if {axis} + k < {size} else ({axis} + k) % {size}",
                  f"    term = {term[1]}", "    total = total + term" if op == "sum" else f"    total = {op}(total, term)"]
        if not first and self.kind != "real":
            before[0] = f"total = {'' if op == 'min' else '-'}{'np.float32(np.inf)' if self.kind == 'f32' else '(1 << 62)'}"
        self.whole(self.bounded((f"{op} [ {term[0]} for k in ..[{k}] ]", "total")), before)
        return "window"

    def scan(self):
        if not self.flat:
            return self.map()
        name, value, op = self.new(), self.value(2), self.random.choice(["+", "max", "min"])
        joined = "a + b" if op == "+" else f"{op} (a, b)"
        self.body.append(f"  val {name} = scan (fun (a:{self.kind}, b:{self.kind}) => {joined}) [ {value[0]} for i in ..[I] ];")
        step = f"total + {value[1]}" if op == "+" else f"{op}(total, {value[1]})"
        self.python += [f"    {name} = np.empty(n, dtype={self.dtype})", "    i = 0", f"    total = {value[1]}", f"    {name}[0] = total",
                        "    for i in range(1, n):", f"        total = {step}", f"        {name}[i] = total"]
        self.arrays.append(name)

    def recurrence(self):
        if not self.flat:
            return self.map()
        name, value = self.new(), self.value(2)
        t, half = f"t{self.count}", self.constant() if self.kind == "int" else self.half
        step = self.bounded((f"{half[0]} * {t} + {value[0]}", f"{half[1]} * {t} + {value[1]}"))
        self.body += [f"  var {name} = x;", f"  var {t} : {self.kind} = {self.zero[0]};",
                      "  for i in ..[I] do", f"    {t} = {step[0]};", f"    &{name}.i <- {t};", "  done"]
        self.python += [f"    {name} = np.empty(n, dtype={self.dtype})", f"    {t} = {self.zero[1]}", "    for i in range(n):",
                        f"        {t} = {step[1]}", f"        {name}[i] = {t}"]
        self.arrays.append(name)

    def steps(self):
        """A map again and again, in a loop; clamped, so that it stays bounded."""
        rounds, name = self.random.randint(5, 25), self.new()
        old, self.arrays, self.simple = self.arrays, self.arrays[-1:] + [f"u{self.count}", f"u{self.count}"], True
        start, value = self.random.choice(old), self.expression(self.random.randint(1, 3), self.element)
        self.arrays, self.simple = old, False
        if self.kind == "int":
            value = self.bounded(value)
        else:
            one = self.one
            value = f"max (-{one[0]}, min ({one[0]}, {value[0]}))", f"max(-{one[1]}, min({one[1]}, {value[1]}))"
        u = f"u{self.count}"
        clauses = "i in ..[I]" if self.flat else "i in ..[I], j in ..[J]"
        self.body += [f"  var {u} = {start};", f"  for _ in 0..<{rounds} perform {u} = [ {value[0]} for {clauses} ];", f"  val {name} = {u};"]
        place = "i" if self.flat else "i, j"
        self.python += [f"    {u} = {start}.copy()", f"    v{self.count} = np.empty_like({u})", f"    for _ in range({rounds}):",
                        "        for i in prange(n):", *([] if self.flat else ["            for j in range(m):"]),
                        f"            {'' if self.flat else '    '}v{self.count}[{place}] = {value[1]}",
                        f"        {u}, v{self.count} = v{self.count}, {u}", f"    {name} = {u}"]
        self.arrays.append(name)

    def triangle(self):
        """For each index, a reduction over those below it: for few elements only."""
        if not self.flat or self.n > 20000:
            return self.window()
        name = self.new()
        p, q = self.random.choice(self.arrays[-3:]), self.random.choice(self.arrays[-3:])
        pairs = iter([(f"{p}.i", f"{p}[i]"), (f"{q}.j", f"{q}[j]")] * 8)
        self.simple = True
        term = self.expression(self.random.randint(1, 2), lambda: next(pairs))
        self.simple = False
        self.body += [f"  var {name} = x;", "  for i in ..[I] do", f"    var total : {self.kind} = {self.zero[0]};",
                      f"    for j in ..<i perform total += {term[0]};", f"    &{name}.i <- {self.bounded(('total', ''))[0]};", "  done"]
        self.python += [f"    {name} = np.empty(n, dtype={self.dtype})", "    for i in prange(n):", f"        total = {self.zero[1]}",
                        "        for j in range(i):", f"            total += {term[1]}", f"        {name}[i] = {self.bounded(('', 'total'))[1]}"]
        self.arrays.append(name)

    def loops(self):
        """A `while` for each element, of at most so many rounds."""
        function, limit = f"one{self.count}", self.random.randint(5, 40)
        leaves = [("r", "r"), ("a", "a"), ("r", "r"), ("b", "b")]
        self.simple = True
        value = self.expression(2, lambda: self.random.choice(leaves))
        self.simple = False
        if self.kind == "int":
            start, rule = ("a + 1", "a + 1"), "r != 1"
            value = ("(if r % 2 == 0 then r / 2 else 3 * r + 1 endif)", "(r // 2 if r % 2 == 0 else 3 * r + 1)")
            result = ("steps", "steps")
        else:
            one = self.one
            start, result = ("a", "a"), ("r", "r")
            rule = f"abs (r - b) < {one[0]}", f"abs(r - b) < {one[1]}"
            value = f"{value[0]} + {one[0]} / ({one[0]} + r * r)", f"{value[1]} + {one[1]} / ({one[1]} + r * r)"
        rule = (rule, rule) if isinstance(rule, str) else rule
        self.head.append(f"""fun {function}(a:{self.kind}, b:{self.kind}):{self.kind} {{
  var r = {start[0]};
  var steps = 0;
  while steps < {limit} and {rule[0]} do
    r = {value[0]};
    steps += 1;
  done
  return {result[0]};
}}""")
        self.functions.append(f"""@njit
def {function}(a, b):
    r = {start[1]}
    steps = 0
    while steps < {limit} and {rule[1]}:
        r = {value[1]}
        steps += 1
    return {result[1]}
""")
        a, b = self.element(), self.element()
        if self.kind == "int":
            a = f"(abs ({a[0]})) % 1009", f"abs({a[1]}) % 1009"
        self.whole((f"{function} ({a[0]}, {b[0]})", f"{function}({a[1]}, {b[1]})"))

    def bins(self):
        """Sums into 64 bins, read by each element."""
        if not self.flat:
            return self.map()
        name, value = self.new(), self.value(1)
        self.body += [f"  var bins{self.count} : {self.kind} ^ 64 = fill {self.zero[0]};",
                      f"  for i in ..[I] perform &bins{self.count}.(kinds.i) += {value[0]};"]
        self.python += [f"    bins{self.count} = np.zeros(64, dtype={self.dtype})", "    for i in range(n):",
                        f"        bins{self.count}[kinds[i]] += {value[1]}"]
        self.count -= 1
        old = self.count + 1
        e = self.element()
        self.whole(self.bounded((f"{e[0]} + bins{old}.(kinds.i)", f"{e[1]} + bins{old}[kinds[i]]")))

    def lines(self):
        """Sums of rows or columns, which each element is compared with."""
        if self.flat:
            return self.map()
        self.count += 1
        k, axis = self.count, self.random.choice("ij")
        value = self.value(2)
        op = self.random.choice(["sum", "max"])
        inner, outer = ("j", "i") if axis == "i" else ("i", "j")
        types, sizes = {"i": "I", "j": "J"}, {"i": "n", "j": "m"}
        self.body.append(f"  val line{k} = [ {op} [ {value[0]} for {inner} in ..[{types[inner]}] ] for {outer} in ..[{types[outer]}] ];")
        self.python += [f"    line{k} = np.empty({sizes[outer]}, dtype={self.dtype})", f"    for {outer} in prange({sizes[outer]}):",
                        f"        {inner} = 0", f"        total = {value[1]}", f"        for {inner} in range(1, {sizes[inner]}):",
                        f"            total = " + (f"total + {value[1]}" if op == "sum" else f"max(total, {value[1]})"),
                        f"        line{k}[{outer}] = total"]
        e = self.element()
        self.whole(self.bounded((f"{e[0]} - line{k}.{outer}", f"{e[1]} - line{k}[{outer}]")))

    def product(self):
        """A product with the first 16 columns' worth of the matrix itself: a contraction over the second axis."""
        if self.flat or self.a > 400 or self.kind == "int":
            return self.map()
        name, p, q = self.new(), self.random.choice(self.arrays[-2:]), self.random.choice(self.arrays[-2:])
        self.body += [f"  val g{self.count} = [ sum [ {p}.(i \\, k) * {q}.(l \\, k) for k in ..[J] ] for i in ..[I], l in ..[I] ];"]
        self.python += [f"    g{self.count} = np.empty((n, n), dtype={self.dtype})", "    for i in prange(n):", "        for l in range(n):",
                        f"            total = {self.zero[1]}", "            for k in range(m):",
                        f"                total += {p}[i, k] * {q}[l, k]", f"            g{self.count}[i, l] = total"]
        old, e = self.count, self.element()
        self.whole((f"{e[0]} + g{old}.(i \\, i)", f"{e[1]} + g{old}[i, i]"))

    def reduction(self):
        """Ends the kernel with one value."""
        op = self.random.choice(["sum", "max", "min", "count"])
        value, limit = self.value(2), self.constant()
        clauses = "i in ..[I]" if self.flat else "i in ..[I], j in ..[J]"
        pad = "        " if self.flat else "            "
        head = ["    for i in prange(n):"] + ([] if self.flat else ["        for j in range(m):"])
        if op == "count":
            self.body.append(f"  return count [ {value[0]} < {limit[0]} for {clauses} ];")
            self.python += ["    total = 0", *head, f"{pad}total += 1 if {value[1]} < {limit[1]} else 0", "    return total"]
            return "int"
        start = {"sum": self.zero[1]}.get(op) or {"real": "np.inf", "f32": "np.float32(np.inf)", "int": "(1 << 62)"}[self.kind]
        start = "-" + start if op == "max" else start
        self.body.append(f"  return {op} [ {value[0]} for {clauses} ];")
        self.python += [f"    total = {start}", *head, pad + (f"total += {value[1]}" if op == "sum" else f"total = {op}(total, {value[1]})"),
                        "    return total"]
        return self.kind

    def build(self):
        """Makes the stages; returns the two programs."""
        choices = [self.map, self.map, self.window, self.window, self.scan, self.recurrence, self.steps, self.triangle, self.loops,
                   self.bins, self.lines, self.lines, self.product]
        for _ in range(self.random.randint(1, 3)):
            stage = self.random.choice(choices)
            self.stages.append(stage() or stage.__name__)
            self.unread = True
        result = f"{self.kind} ^ {self.shape()[0]}"
        if self.random.random() < 0.4:
            result = self.reduction()
            self.stages.append("reduction")
        else:
            self.body.append(f"  return {self.arrays[-1]};")
            self.python.append(f"    return {self.arrays[-1]}")
        return self.felis_text(result), self.python_text()

    def felis_text(self, result):
        made = {"real": "(c :> real) / 10007.0", "f32": "((c :> real) / 10007.0) :> f32", "int": "c % 1009"}[self.kind]
        index = "N" if self.flat else r"(A \* B)"
        sizes = f"typedef N = {self.n};" if self.flat else f"typedef A = {self.a};\ntypedef B = {self.b};"
        data = [f"val {name} : {self.kind} ^ {index} = [ {made} for c in codes[{index.strip('()')}] {p} ];" for name, p in (("x", 7919), ("y", 4799))]
        generic, extra, values = "I:COMPACTLINEAR, J:COMPACTLINEAR", "", "x, y"
        if self.flat:
            generic, extra, values = "I:COMPACTLINEAR", ", at:I ^ I, kinds:64 ^ I", "x, y, at, kinds"
            data += ["val at = [ ((i :>> int) * 2654435761 % 4294967296).mod[N] for i in ..[N] ];",
                     "val kinds = [ c.mod[64] for c in codes[N] 6007 ];"]
        of = f"{self.kind} ^ {self.shape()[0]}"
        lines = [sizes, FELIS_HEAD.strip(), *data, *self.head, f"fun kernel[{generic}](x:{of}, y:{of}{extra}):{result} {{", *self.body, "}",
                 f"var out = kernel ({values});", 'println ("felis", weighed out);', f'bench "felis" {{ out = kernel ({values}); }}']
        return "\n".join(lines) + "\n"

    def python_text(self):
        made = {"real": "c / 10007.0", "f32": "(c / 10007.0).astype(np.float32)", "int": "c % 1009"}[self.kind]
        sides = f"{self.n}" if self.flat else f"{self.a}, {self.b}"
        lines = ["import numpy as np", "from numba import njit, prange", "from data import codes", "", *self.functions,
                 "def data():", f"    c = codes(7919, {sides})", f"    x = {made}", f"    c = codes(4799, {sides})", f"    y = {made}"]
        if self.flat:
            lines += [f"    at = np.arange({self.n}) * 2654435761 % 4294967296 % {self.n}", f"    kinds = codes(6007, {self.n}) % 64",
                      "    return x, y, at, kinds", "def numba(x, y, at, kinds):", "    n = x.size"]
        else:
            lines += ["    return x, y", "def numba(x, y):", "    n, m = x.shape"]
        return "\n".join(lines + self.python) + "\n"


def main():
    words, chosen = turns.options(sys.argv[1:], seed=0, count=100, rounds=3, seconds=0.15, first=0, write=0, json="")
    seed = chosen["seed"] or int(time.time()) % 1_000_000_000
    print(f"Seed {seed}, {chosen['count']} kernels.\n", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    peers, found, notes = turns.Peers(["numba"]), [], []
    if not chosen["write"]:
        print("| kernel | stages | Felis | Numba | ratio | of medians |\n|---|---|---|---|---|---|", flush=True)
    for k in range(chosen["first"], chosen["count"]):
        kernel = Kernel(f"{seed} {k}")
        path = FOLDER / f"k{k}.flx"
        felis, python = kernel.build()
        path.write_text(felis)
        path.with_suffix(".py").write_text(python)
        if chosen["write"]:
            continue
        tolerance = 1e-2 if kernel.kind == "f32" else 1e-6
        times, names, said = turns.measured(path, peers, chosen["rounds"], chosen["seconds"], tolerance)
        notes += [f"kernel {k} ({', '.join(kernel.stages)}): {note}" for note in said]
        size = kernel.n if kernel.flat else f"{kernel.a}×{kernel.b}"
        title = f"{k} | {', '.join(kernel.stages)}; {kernel.kind}, {size}"
        if "felis" in times and "numba" in times and not any("WRONG" in note for note in said):
            ratio, middle = (turns.ratios(times, names, key)["felis"] for key in ("fastest", "median"))
            found.append((ratio, k, title, path))
            print(f"| {title} | {turns.duration(times['felis']['fastest'])} | {turns.duration(times['numba']['fastest'])} "
                  f"| {ratio:.2f} | {middle:.2f} |", flush=True)
            if chosen["json"]:
                with open(chosen["json"], "a") as file:
                    print(json.dumps(dict(seed=seed, kernel=k, stages=kernel.stages, kind=kernel.kind, ratio=ratio, middle=middle)), file=file)
    if not found:
        return
    found.sort()
    values = [f[0] for f in found]
    print(f"\n{len(found)} compared: median {statistics.median(values):.2f}, 95th percentile "
          f"{values[min(len(values) - 1, int(0.95 * len(values)))]:.2f}, worst {values[-1]:.2f}; "
          f"{sum(v <= 1.0 for v in values)} at or below 1.\n")
    for note in notes:
        print(f"- {note}")
    for ratio, k, title, path in reversed(found[-5:]):
        body = path.read_text().partition("fun kernel")
        print(f"\nKernel {title}, ratio {ratio:.2f}:\n\n```felis\n{body[1]}{body[2].partition('var out')[0].strip()}\n```")


if __name__ == "__main__":
    main()
