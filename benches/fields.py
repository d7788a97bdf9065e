#!/usr/bin/env python3
"""Fields and meshes: Felis beside NumPy, Numba and gt4py, in turns.

    python3 -m venv target/fields-python
    target/fields-python/bin/pip install numpy numba gt4py==1.1.12 cmake ninja
    FELIS=target/release/felis python3 benches/fields.py            # all
    python3 benches/fields.py laplacian point3 --rounds=9           # some

`--seconds=S` is the time of one turn (0.4), `--peers=numba,gt4py` chooses peers, `--python=PATH` is the interpreter that
has them. Prints a table in Markdown.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "fields"
KERNELS = [
    "laplacian", "diffusion_k_first", "diffusion_k_last", "point3_first", "point3_middle", "point3_last",
    "vertex_sum_ordered", "vertex_sum_shuffled", "vertex_sum_skips", "tridiagonal_k_first", "tridiagonal_k_last",
    "shallow_water", "check_full", "check_skips",
]
FELIS = os.environ.setdefault("FELIS", "target/release/felis")
THREADS = "2"
ENVIRONMENT = {
    **os.environ, "FELIS_THREADS": THREADS, "NUMBA_NUM_THREADS": THREADS, "OMP_NUM_THREADS": THREADS,
    "OMP_WAIT_POLICY": "passive",
}
# A library may fuse a multiplication and an addition, which changes the last digits.
TOLERANCE = 1e-9


class Felis:
    """The forms of a kernel in Felis: each turn is a run of `felis bench`, which has no state but its program."""

    def __init__(self, kernel):
        self.program = str(HERE / f"{kernel}.flx")
        run = subprocess.run([FELIS, self.program], capture_output=True, text=True, env=ENVIRONMENT)
        if run.returncode:
            raise RuntimeError(run.stdout + run.stderr)
        self.checks = {name: float(value) for name, value in re.findall(r"\((\w+), (\S+)\)", run.stdout)}

    def turn(self, seconds):
        command = [FELIS, "bench", "--json", "--seconds", str(seconds), self.program]
        run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        return {
            line["bench"]: {key: line[f"{key}_ns"] * 1e-9 for key in ("median", "fastest", "first")} for line in lines
        }


class Peer:
    """A process that has a library and its kernels."""

    def __init__(self, name, python):
        command = [python, str(HERE / "peers.py"), name]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT
        )
        self.ready = self.process.stdout.readline().strip()

    def turn(self, kernel, seconds):
        self.process.stdin.write(f"{kernel} {seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}


def duration(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.01 else f"{seconds * 1e3:.1f} ms"


def measured(kernel, peers, rounds, seconds, notes):
    """All turns of a kernel; for each contender its fastest call and the median of the medians of its turns."""
    felis = Felis(kernel)
    expected = felis.checks["library"]
    turns, firsts = {}, {}

    def keep(name, turn):
        turns.setdefault(name, []).append((turn["fastest"], turn["median"]))
        firsts.setdefault(name, []).append(turn["first"])

    def compare(name, check):
        if abs(check - expected) > TOLERANCE * max(1.0, abs(expected)):
            notes.append(f"{kernel}: {name}: another result: {check}, not {expected}")

    for name, check in felis.checks.items():
        compare(name, check)
    contenders = {"Felis": None}
    for name, peer in peers.items():
        answer = peer.turn(kernel, 0.05)
        if "error" in answer:
            notes.append(f"{kernel}: {name}: {answer['error']}")
        else:
            compare(name, answer["check"])
            contenders[name] = peer
    for round in range(rounds):
        # Another contender begins each round.
        names = list(contenders)
        for name in names[round % len(names) :] + names[: round % len(names)]:
            if name == "Felis":
                for form, turn in felis.turn(seconds).items():
                    keep(form, turn)
            else:
                keep(name, contenders[name].turn(kernel, seconds))
    return {
        name: (min(t[0] for t in times), statistics.median(t[1] for t in times), min(firsts[name]),
               statistics.median(firsts[name]))
        for name, times in turns.items()
    }


def row(kernel, results, peers):
    best = min((results[name][0] for name in peers if name in results), default=None)
    middle = min((results[name][1] for name in peers if name in results), default=None)
    library, hand = results["library"], results.get("hand")

    def cell(name):
        return f"{duration(results[name][0])} ({duration(results[name][1])})" if name in results else "–"

    def ratio(other, median):
        return f"{library[0] / other:.2f} ({library[1] / median:.2f})" if other else "–"

    first = f"{duration(library[2])} ({duration(library[3])})"
    cells = [kernel, cell("library"), cell("hand"), *(cell(name) for name in ("NumPy", "Numba", "gt4py")),
             ratio(best, middle), ratio(*hand[:2]) if hand else "–", first]
    return "| " + " | ".join(cells) + " |"


def main():
    options = dict(rounds="5", seconds="0.4", peers="numpy,numba,gt4py", python="target/fields-python/bin/python")
    names = []
    for argument in sys.argv[1:]:
        if argument.startswith("--") and "=" in argument:
            key, value = argument[2:].split("=", 1)
            options[key] = value
        else:
            names.append(argument)
    shown = {"numpy": "NumPy", "numba": "Numba", "gt4py": "gt4py"}
    peers = {shown[name]: Peer(name, options["python"]) for name in options["peers"].split(",") if name}
    print("; ".join(f"{name}: {peer.ready}" for name, peer in peers.items()), flush=True)
    peers = {name: peer for name, peer in peers.items() if peer.ready.startswith("ready")}
    print("\n| kernel | Felis library | Felis by hand | NumPy | Numba | gt4py | Felis ÷ best peer | library ÷ hand | "
          "first call |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    notes = []
    for kernel in KERNELS:
        if not names or any(name in kernel for name in names):
            results = measured(kernel, peers, int(options["rounds"]), float(options["seconds"]), notes)
            print(row(kernel, results, peers), flush=True)
    print("\nTimes are the fastest call, and in parentheses the median over rounds of the median of a turn.")
    for note in notes:
        print(f"- {note}")


main()
