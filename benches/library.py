#!/usr/bin/env python3
"""The standard library beside CPython, NumPy, SciPy and pandas, in turns on one thread.

    FELIS=target/release/felis python benches/library.py [--rounds=3] [--seconds=0.3] [--only=eigh,svd]

Reads the blocks of `benches/library/*.flx` and prints a table in Markdown: the fastest turn of each side, their ratio, and the
goal (a ratio, or milliseconds). A block that misses its goal is bold. Works whose peer is missing have a goal in time.
"""

import os
import sys
import time
from pathlib import Path

for name in ("FELIS_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd
import scipy.fft
import scipy.linalg

from turns import FELIS, options, run
import json

LINE = '{"id": 17, "name": "a name", "at": [1.5, 2.25, -3e2], "ok": true, "none": null}'


def pushed():
    values = []
    for k in range(1_000_000):
        values.append(k)


def keyed():
    pairs = {}
    for k in range(1_000_000):
        pairs[k * 7919 % 1000003] = k


def named(names):
    pairs = {}
    for k, name in enumerate(names):
        pairs[name] = k


def steps(text):
    total = 0
    for k in range(100_000):
        if text[k] == "a":
            total += 1


def appended():
    text = ""
    for _ in range(100_000):
        text += "ab"


def peers():
    """The work of each block, and its goal: `("ratio", r)` or `("ms", t)`."""
    random = np.random.default_rng(7)
    a, b = random.standard_normal((512, 512)), random.standard_normal(512)
    half = (a + a.T) / 2
    positive = half + 512 * np.eye(512)
    signal = random.standard_normal(65536) + 0j
    index = np.arange(1_000_000)
    key = (index * 7919 + index // 3) % 1000
    groups = pd.DataFrame({"key": key, "value": index % 1000 * 0.5})
    words = pd.DataFrame({"key": np.array([f"key{k}" for k in key], dtype=object), "value": groups.value})
    left = pd.DataFrame({"key": (index * 7919 + index // 3) % 100_000, "own": index})
    right = pd.DataFrame({"key": np.arange(100_000) * 7919 % 100_000, "other": np.arange(100_000)})
    text, document = "ab" * 100_000, "[" + ", ".join([LINE] * 12500) + "]"
    names = [f"key{k}" for k in range(1_000_000)]
    return {
        "push": (pushed, ("ms", 50)), "put_int": (keyed, ("ratio", 2)),
        "put_string": (lambda: named(names), ("ratio", 2)), "char_at": (lambda: steps(text), ("ms", 10)),
        "append": (appended, ("ms", 10)), "json": (lambda: json.loads(document), ("ms", 100)),
        "solve": (lambda: scipy.linalg.solve(a, b), ("ratio", 2)),
        "cholesky": (lambda: scipy.linalg.cholesky(positive, lower=True), ("ratio", 2)),
        "qr": (lambda: scipy.linalg.qr(a, mode="economic"), ("ratio", 2)),
        "eigh": (lambda: scipy.linalg.eigh(half), ("ratio", 4)),
        "svd": (lambda: scipy.linalg.svd(a, full_matrices=False), ("ratio", 6)),
        "eig": (lambda: scipy.linalg.eig(a), ("ratio", 6)),
        "fft": (lambda: scipy.fft.fft(signal), ("ratio", 3)),
        "normals": (lambda: random.standard_normal(10_000_000), ("ratio", 1.5)),
        "group_int": (lambda: groups.groupby("key").value.sum(), ("ratio", 2)),
        "group_string": (lambda: words.groupby("key").value.sum(), ("ratio", 3)),
        "join": (lambda: left.merge(right, on="key"), ("ratio", 3)),
    }


def peer_turn(work, seconds):
    taken, until = [], time.perf_counter() + seconds
    while not taken or time.perf_counter() < until:
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main():
    _, known = options(sys.argv[1:], rounds=3, seconds=0.3, only="")
    only = set(filter(None, known["only"].split(",")))
    works = {name: work for name, work in peers().items() if not only or name in only}
    own, other, notes = {}, {}, []
    for _ in range(known["rounds"]):
        for program in sorted((Path(__file__).parent / "library").glob("*.flx")):
            blocks = [name for name in works if f'bench "{name}"' in program.read_text()]
            if not blocks:
                continue
            result = run([FELIS, "bench", "--json", "--seconds", str(known["seconds"]), str(program)])
            for line in map(json.loads, result.stdout.splitlines()):
                if line["fate"] != "passed":
                    notes.append(f"{line['bench']}: {line.get('messages')}")
                elif line["bench"] in works:
                    own.setdefault(line["bench"], []).append(line["fastest_ns"] * 1e-6)
            for name in blocks:
                other.setdefault(name, []).append(peer_turn(works[name][0], known["seconds"]) * 1e3)
    print("| work | Felis, ms | peer, ms | ratio | goal |\n|---|---|---|---|---|")
    for name, (_, (kind, goal)) in works.items():
        if name not in own:
            notes.append(f"{name}: not measured")
            continue
        felis, peer = min(own[name]), min(other[name])
        missed = (felis / peer if kind == "ratio" else felis) > goal
        ratio = f"**{felis / peer:.2f}**" if missed else f"{felis / peer:.2f}"
        wanted = f"ratio {goal}" if kind == "ratio" else f"{goal} ms"
        print(f"| {name} | {felis:.3g} | {peer:.3g} | {ratio} | {wanted} |")
    for note in dict.fromkeys(notes):
        print(f"\n{note}")


if __name__ == "__main__":
    main()
