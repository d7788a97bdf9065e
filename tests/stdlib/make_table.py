"""Writes table.flx: random tables, and what pandas says of them.

    pip install pandas==2.2.3 numpy==2.1.3 && python make_table.py > table.flx && felis fmt table.flx

An argument is another seed, as live/live.py gives one.
"""

import sys

import numpy as np
import pandas as pd

rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
print(f"""// Tables against the answers of pandas {pd.__version__}: random ones, with keys that occur several times, without rows, with
// one group, with NaN and missing keys, with texts beyond ASCII. Made by make_table.py.

import table (*);

proc check(name:string)(holds:bool) {{ println$ name + " " + holds.str; }}

// The same numbers, but for rounding, with NaN in the same places.
fun close_to[I:COMPACTLINEAR, J:COMPACTLINEAR](x:real ^ I, y:real ^ J):bool {{
  require I == J;
  val z = x :>> real ^ J;
  return all [ z.i == y.i or is_nan z.i and is_nan y.i or abs (z.i - y.i) <= 1e-12 * (1.0 + abs y.i) for i in ..[J] ];
}}

// The same values in the same order.
fun same[T, I:COMPACTLINEAR, J:COMPACTLINEAR with Ord[T]](x:T ^ I, y:T ^ J):bool {{
  if #sizeof[I] != #sizeof[J] return false;
  require I == J;
  val z = x :>> T ^ J;
  return all [ not before (z.i, y.i) and not before (y.i, z.i) for i in ..[J] ];
}}

fun numbers[T, I:COMPACTLINEAR](x:T ^ I):int ^ I => #iota[I];

// The number of a row, or -1.
fun row[I:COMPACTLINEAR](o:option[I]):int => match o with | Some i => i :> int | None => -1 endmatch;

fun total(l:list[real]):real => sum (elements l);
""")


def real(x):
    return "nan" if np.isnan(x) else ("-inf" if x == -np.inf else "inf" if x == np.inf else repr(float(x)))


def text(s):
    return '"' + s + '"'


def missing(of):
    return lambda v: "None" if v is None or v != v else f"Some ({of(v)})"


def array(values, shown, empty):
    values = list(values)
    if not values:
        return f"(fill[0] ({empty}))"
    if len(values) == 1:
        return f"[{shown(values[0])}]"
    return "(" + ", ".join(shown(v) for v in values) + ")"


def optional(values, of, ty):
    """An array of options, the first of which may be None."""
    values = list(values)
    shown = [f"None[{ty}]" if v is None or v != v else f"Some ({of(v)})" for v in values]
    return array(shown, lambda s: s, f"None[{ty}]")


KINDS = {
    "ints": (lambda n: rng.integers(-3, 4, n), str, "0", lambda v, e: array(v, lambda n: str(int(n)), "0")),
    "wide": (lambda n: rng.choice(np.array([2**62, -(2**62), 10**15, 7, -1]), n), str, "0",
             lambda v, e: array(v, lambda n: str(int(n)), "0")),
    "one": (lambda n: np.full(n, 5), str, "0", lambda v, e: array(v, lambda n: str(int(n)), "0")),
    "texts": (lambda n: rng.choice(np.array(["pear", "fig", "", "Fig", "pearl"], dtype=object), n), text, '""',
              lambda v, e: array(v, text, '""')),
    "unicode": (lambda n: rng.choice(np.array(["ä", "a", "z", "é", "日本", "日", "😀", "e\u0301"], dtype=object), n), text,
                '""', lambda v, e: array(v, text, '""')),
    "reals": (lambda n: rng.choice(np.array([0.5, -0.0, 0.0, np.nan, np.inf, -np.inf, -2.5]), n), real, "0.0",
              lambda v, e: array(v, real, "0.0")),
    "missing": (lambda n: rng.choice(np.array(["b", "a", None, "ab"], dtype=object), n), text, "None[string]",
                lambda v, e: optional(v, text, "string")),
}


def indices(values):
    return array([int(v) for v in values], str, "0")


for kind, (draw, shown, empty, keys) in KINDS.items():
    for n in (0, 1, 9, 31):
        name = f"{kind}_{n}"
        key, x = draw(n), np.round(rng.normal(size=n) * 8, 3)
        frame = pd.DataFrame({"key": key, "x": x})
        print(f"\n// {kind}, {n} rows.")
        print(f"val {name} = {keys(key, empty)};")
        print(f"val {name}_x = {array(x, real, '0.0')};")
        grouped = frame.groupby("key", sort=True, dropna=False)
        found = grouped["x"].agg(["size", "sum", "mean", "max"])
        print(f"val {name}_g = group_by {name};")
        print(f'check "{name} keys" (same ({name}_g.keys, {keys(found.index, empty)}));')
        print(f'check "{name} counts" (same (histogram {name}_g.at, {indices(found["size"])}));')
        print(f'check "{name} sums" (close_to (scatter_add ({name}_g.at, {name}_x), {array(found["sum"], real, "0.0")}));')
        print(f'check "{name} largest" (close_to (({name}_g.at, {name}_x) |> by_group (fun (l:list[real]) => max (elements l)), '
              f'{array(found["max"], real, "0.0")}));')
        order = frame.assign(at=np.arange(n)).sort_values(["key", "x"], kind="stable", na_position="last")["at"]
        print(f'check "{name} order" (same ([ p.0 for p in (zip (numbers {name}_x, zip ({name}, {name}_x))) |> sort_on (fun (p) => p.1) ], '
              f"{indices(order)}));")
        other = draw(max(n - 2, 0))
        right = pd.DataFrame({"key": other, "j": np.arange(len(other))})
        left = pd.DataFrame({"key": key, "i": np.arange(n)})
        print(f"val {name}_y = {keys(other, empty)};")
        inner = left.merge(right, on="key", how="inner")
        print(f"val {name}_inner = inner_join ({name}, {name}_y);")
        print(f'check "{name} inner" (same ([ p.0 :> int for p in {name}_inner ], {indices(inner["i"])}) '
              f'and same ([ p.1 :> int for p in {name}_inner ], {indices(inner["j"])}));')
        outer = left.merge(right, on="key", how="left")
        print(f"val {name}_left = left_join ({name}, {name}_y);")
        print(f'check "{name} left" (same ([ p.0 :> int for p in {name}_left ], {indices(outer["i"])}) '
              f'and same ([ row p.1 for p in {name}_left ], {indices(outer["j"].fillna(-1))}));')
        both = left.merge(right, on="key", how="outer")
        print(f"val {name}_outer = outer_join ({name}, {name}_y);")
        print(f'check "{name} outer" (same ([ row p.0 for p in {name}_outer ], {indices(both["i"].fillna(-1))}) '
              f'and same ([ row p.1 for p in {name}_outer ], {indices(both["j"].fillna(-1))}));')
        counts = frame.groupby("key", sort=True, dropna=False).size().reset_index(name="n")
        counts = counts.sort_values("n", ascending=False, kind="stable")
        print(f"val {name}_counts = value_counts {name};")
        print(f'check "{name} value counts" (same ({name}_counts.count, {indices(counts["n"])}) '
              f"and same ({name}_counts.value, {keys(counts['key'], empty)}));")

print("\n// Windows, statistics, intervals.")
for n in (0, 1, 2, 12):
    x = np.round(rng.normal(size=n) * 8, 3)
    series = pd.Series(x, dtype=float)
    rolled = series.rolling(3).sum()
    print(f"val w{n} = {array(x, real, '0.0')};")
    print(f'check "rolling {n}" (close_to ([ o |> or_else nan for o in w{n} |> rolling (3, total) ], {array(rolled, real, "0.0")}));')
    if n > 0:
        d = series.describe()
        print(f"val d{n} = describe w{n};")
        print(f'check "describe {n}" (d{n}.count == {n} and close_to ((d{n}.mean, d{n}.deviation, d{n}.least, d{n}.lower, '
              f'd{n}.median, d{n}.upper, d{n}.most), {array(d.iloc[1:], real, "0.0")}));')
    edges = np.array([-10.0, -1.0, 0.0, 4.0, 11.0])
    codes = pd.cut(series, edges, labels=False)
    print(f'check "cut {n}" (same ([ row o for o in w{n} |> cut {array(edges, real, "0.0")} ], {indices(codes.fillna(-1))}));')

print("\n// Pivot tables.")
for n in (1, 20):
    frame = pd.DataFrame({"r": rng.choice(np.array(["b", "a", "c"], dtype=object), n), "c": rng.integers(0, 4, n),
                          "x": np.round(rng.normal(size=n) * 8, 3)})
    p = frame.pivot_table(index="r", columns="c", values="x", aggfunc="sum")
    print(f'val p{n} = pivot total ({array(frame["r"], text, "")}, {indices(frame["c"])}, {array(frame["x"], real, "0.0")});')
    print(f'check "pivot {n}" (same (p{n}.rows, {array(p.index, text, "")}) and same (p{n}.columns, {indices(p.columns)}) '
          f'and close_to ([ o |> or_else nan for o in p{n}.cells ], {array(p.to_numpy().ravel(), real, "0.0")}));')
