#!/usr/bin/env python3
"""Pairs of programs, NAME.flx in Felis and NAME.py in Python, measured in turns.

    FELIS=target/release/felis target/bench-python/bin/python benches/turns.py benches/outside/*.flx

NAME.flx prints a line `("BLOCK", CHECK)` for each of its `bench` blocks; a block whose name ends in a number does that
many calls. NAME.py has `data()`, which makes the arguments, and the same work as `numba`, a plain function that is compiled
here (in parallel from 20 000 elements), as `numpy`, and as `jax`, which is compiled here, too (all optional). Checks are
sums that weigh each element by its place. Options: `--rounds=3`, `--seconds=0.2` (one turn), `--peers=numpy,numba` (of
numpy, numba, jax), `--json=FILE`.

Imported by `grid.py` and `generator.py`, which write such pairs.
"""

import importlib.util
import json
import os
import re
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

FELIS = os.environ.get("FELIS", "target/release/felis")
THREADS = os.environ.get("FELIS_THREADS", "2")
ENVIRONMENT = {
    **os.environ, "FELIS_THREADS": THREADS, "NUMBA_NUM_THREADS": THREADS, "OMP_NUM_THREADS": THREADS,
    "OPENBLAS_NUM_THREADS": THREADS, "OMP_WAIT_POLICY": "passive", "NUMBA_THREADING_LAYER": "omp",
    # NPROC is the number of threads of XLA, the compiler of JAX.
    "NPROC": THREADS, "JAX_PLATFORMS": "cpu", "RAYON_NUM_THREADS": THREADS,
}
# From so many elements on, the forms in Numba and Rust run in parallel: below, starting the threads costs more than the work.
PARALLEL = 20_000
# Seconds beyond which a process is ended, and those of a call beyond which it is measured in one turn only.
LIMIT, LONG = 90, 1.0


def run(arguments):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"longer than {LIMIT} s")


class Felis:
    """The blocks of a program: each turn is a run of `felis bench`."""

    def __init__(self, program):
        self.program = str(program)
        result = run([FELIS, self.program])
        if result.returncode:
            raise RuntimeError((result.stdout + result.stderr).strip() or f"ended with {result.returncode}")
        self.checks = {name: float(value) for name, value in re.findall(r'^\(([\w ]+), (\S+)\)', result.stdout, re.M)}

    def turn(self, seconds):
        result = run([FELIS, "bench", "--json", "--seconds", str(seconds), self.program])
        times = {}
        for line in map(json.loads, result.stdout.splitlines()):
            if line["fate"] != "passed":
                raise RuntimeError(json.dumps(line.get("messages")))
            name, _, calls = line["bench"].partition(" ")
            times[name] = {
                key: line[f"{key}_ns"] * 1e-9 / (int(calls or 1) if key != "first" else 1)
                for key in ("fastest", "median", "first")
            }
        if not times:
            raise RuntimeError((result.stdout + result.stderr).strip() or f"ended with {result.returncode}")
        return times


class Process:
    """A process that answers a line with a line of JSON; it is started again if it ends or takes too long."""

    def __init__(self, command):
        self.command, self.process = command, None

    def ask(self, question):
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            self.process = None
            return {"error": "no answer"}
        return json.loads(line)


class Peers:
    """The peers in Python: a process that has the libraries."""

    def __init__(self, names, python=sys.executable):
        self.names, self.python = names, Process([python, __file__, "--serve"])

    def load(self, path):
        return self.python.ask(json.dumps({"load": str(path), "peers": self.names}))

    def turn(self, name, seconds):
        return self.python.ask(json.dumps({"turn": name, "seconds": seconds}))


def measured(program, peers, rounds=3, seconds=0.2, tolerance=1e-9):
    """The turns of a pair: times by contender (blocks of Felis, then peers), and notes on what went wrong."""
    turns, firsts, notes = {}, {}, []
    loaded = peers.load(Path(program).with_suffix(".py"))
    contenders = []
    if "error" in loaded:
        notes.append(f"Python: {loaded['error']}")
    else:
        contenders = list(loaded["checks"])
        firsts.update(loaded["first"])
        notes += loaded["notes"]
    felis = None
    try:
        felis = Felis(program)
    except RuntimeError as error:
        notes.append(f"Felis: {error}")
    checks = {**loaded.get("checks", {}), **(felis.checks if felis else {})}
    expected = next(iter(checks.values()), 0.0)
    scale = loaded.get("scale", abs(expected))
    for name, check in checks.items():
        if not abs(check - expected) <= tolerance * max(scale, 1e-300):
            notes.append(f"WRONG {name}: {check!r}, not {expected!r} (scale {scale:.3g})")

    def turn(name):
        if name != "Felis":
            answer = peers.turn(name, seconds)
            if "error" in answer:
                raise RuntimeError(answer["error"])
            return {name: answer}
        return felis.turn(seconds)

    names = (["Felis"] if felis else []) + contenders
    for k in range(rounds):
        # Another contender begins each round.
        for name in names[k % len(names):] + names[:k % len(names)] if names else []:
            if turns.get(name) == "done":
                continue
            try:
                times = turn(name)
            except RuntimeError as error:
                notes.append(f"{name}: {error}")
                turns[name] = "done"
                continue
            for block, time_ in times.items():
                turns.setdefault(block, []).append((time_["fastest"], time_["median"]))
                firsts.setdefault(block, time_.get("first"))
            if sum(time_["median"] for time_ in times.values()) > LONG:
                turns[name if name == "Felis" else f"{name} done"] = "done"
    times = {
        name: dict(fastest=min(t[0] for t in taken), median=statistics.median(t[1] for t in taken),
                   first=firsts.get(name), spread=max(t[1] for t in taken) / min(t[1] for t in taken))
        for name, taken in turns.items() if taken != "done"
    }
    return times, [name for name in contenders if name in times], notes


def ratios(times, peers, key="fastest"):
    """The time of each block of Felis, divided by that of the fastest peer."""
    best = min((times[name][key] for name in peers), default=None)
    blocks = [name for name in times if name not in peers]
    return {name: times[name][key] / best for name in blocks} if best else {}


def duration(seconds):
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.2f} s"


TITLES = {"numpy": "NumPy", "numba": "Numba", "jax": "JAX", "rust": "Rust"}


def head(asked):
    """The head of a table in Markdown, which has a column for each peer that was asked."""
    columns = ["kernel", "block", "Felis", *(TITLES.get(name, name) for name in asked), "÷ best", "medians", "first call"]
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def rows(title, times, peers, asked):
    """Rows of a table in Markdown, one for each block; of the peers `asked`, `peers` are those that have times."""
    fastest, middle = ratios(times, peers), ratios(times, peers, "median")
    cells = [duration(times[name]["fastest"]) if name in times else "–" for name in asked]
    for block in (name for name in times if name not in peers):
        felis, first = times[block], times[block]["first"]
        ratio = [f"{r[block]:.2f}" if block in r else "–" for r in (fastest, middle)]
        if fastest.get(block, 0) > 1.5:
            ratio[0] = f"**{ratio[0]}**"
        yield "| " + " | ".join([title, block, duration(felis["fastest"]), *cells, *ratio, duration(first)]) + " |"


def options(arguments, **known):
    """Words and `--key=value` options, of the type of their defaults."""
    words = []
    for argument in arguments:
        key, equals, value = argument.removeprefix("--").replace("-", "_").partition("=")
        if argument.startswith("--") and equals and key in known:
            known[key] = type(known[key])(value)
        elif argument.startswith("--"):
            sys.exit(f"unknown option {argument}; there are {', '.join('--' + name for name in known)}")
        else:
            words.append(argument)
    return words, known


def serve():
    """Answers questions as `Peers` asks them, a line of JSON each."""
    import numpy as np

    def weighed(out):
        parts = [np.asarray(part).astype(np.float64).ravel() for part in (out if isinstance(out, tuple) else (out,))]
        flat = np.concatenate(parts)
        weight = np.arange(flat.size) % 1009 + 1.0
        return float(flat @ weight), float(np.abs(flat) @ weight)

    def timed(work, arguments):
        begun = time.perf_counter()
        out = work(*arguments)
        return out, time.perf_counter() - begun

    def load(question):
        spec = importlib.util.spec_from_file_location("kernel", question["load"])
        module = importlib.util.module_from_spec(spec)
        # Numba looks there for a function that calls itself.
        sys.modules["kernel"] = module
        spec.loader.exec_module(module)
        arguments = module.data()
        size = max((np.size(a) for a in arguments), default=0)
        answer = dict(checks={}, first={}, notes=[], scale=0.0)
        works.clear()
        for name in question["peers"]:
            work = getattr(module, name, None)
            if work is None:
                continue
            given = arguments
            try:
                if name == "numba":
                    from numba import njit
                    # A function that calls itself is compiled where it stands.
                    if not hasattr(work, "py_func"):
                        work = njit(work, parallel=getattr(module, "PARALLEL", size >= PARALLEL))
                if name == "jax":
                    import jax
                    jax.config.update("jax_enable_x64", True)
                    compiled, given = jax.jit(work), jax.device_put(arguments)
                    # Without the wait, a call returns before its result is computed.
                    work = lambda *data, compiled=compiled: jax.block_until_ready(compiled(*data))
                out, answer["first"][name] = timed(work, given)
                answer["checks"][name], scale = weighed(out)
                answer["scale"] = max(scale, answer["scale"])
                works[name] = lambda work=work, given=given: work(*given)
            except Exception as error:
                answer["notes"].append(f"{name}: {type(error).__name__}: {str(error)[:600]}")
        return answer

    def turn(question):
        work = works[question["turn"]]
        _, once = timed(work, ())
        calls = max(1, min(1000, int(50e-6 / max(once, 1e-9))))
        taken, until = [], time.perf_counter() + question["seconds"]
        while not taken or time.perf_counter() < until:
            begun = time.perf_counter()
            for _ in range(calls):
                work()
            taken.append((time.perf_counter() - begun) / calls)
        return dict(fastest=min(taken), median=statistics.median(taken))

    works = {}
    sys.path.insert(0, str(Path(__file__).parent))
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = load(question) if "load" in question else turn(question)
        except Exception as error:
            answer = dict(error=f"{type(error).__name__}: {str(error)[:600]}")
        print(json.dumps(answer), flush=True)


def main():
    programs, chosen = options(sys.argv[1:], rounds=3, seconds=0.2, peers="numpy,numba", json="", tolerance=1e-9)
    peers = Peers(chosen["peers"].split(","))
    print(head(peers.names), flush=True)
    notes = []
    for program in map(Path, programs):
        tolerance = 1e-3 if "f32" in program.stem else chosen["tolerance"]
        times, names, said = measured(program, peers, chosen["rounds"], chosen["seconds"], tolerance)
        notes += [f"{program.stem}: {note}" for note in said]
        for row in rows(program.stem, times, names, peers.names):
            print(row, flush=True)
        if chosen["json"]:
            with open(chosen["json"], "a") as file:
                print(json.dumps(dict(kernel=program.stem, times=times, peers=names, notes=said)), file=file)
    print()
    for note in notes:
        print(f"- {note}")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
