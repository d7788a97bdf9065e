"""Times operations on secrets of Felis, all parties in one process, as `of_spu.py` times those of SPU.

    python3 benches/secrets/of_felis.py target/release/felis

An operation is repeated, each result in place of the one before, and the time is that of the repetitions after the first, so that
starting, hiding and compiling do not count: wall and processor time of all three parties together, bytes that a party sends, rounds.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time

REPEATED = 9
INTEGERS = """\
val x = hide[Party] [ (i :>> int) % 2001 - 1000 for i in ..[{n}] ];
val y = hide[Party] [ (i :>> int) * 7 % 2001 - 1000 for i in ..[{n}] ];
"""
RANGED = """\
val x = hide[Party, 0, 11] [ ((i :>> int) % 2001 - 1000) :> real for i in ..[{n}] ];
val y = hide[Party, 0, 11] [ ((i :>> int) * 7 % 2001 - 1000) :> real for i in ..[{n}] ];
"""
FIXED = """\
val x = hide[Party, 18, 4] [ (((i :>> int) * 7919 % 2001) :> real) / 130.0 - 7.0 for i in ..[{n}] ];
val y = hide[Party, 18, 4] [ (((i :>> int) * 7 % 2001) :> real) / 130.0 - 7.0 for i in ..[{n}] ];
"""
MATRICES = """\
val x = hide[Party] ([ (i :>> int) % 2001 - 1000 for i in ..[65536] ] :>> int ^ (256 \\* 256));
val y = hide[Party] ([ (i :>> int) * 7 % 2001 - 1000 for i in ..[65536] ] :>> int ^ (256 \\* 256));
"""
ROWS = [
    ("int mul 1e6", INTEGERS, 10**6, "x * y"),
    ("fixed mul 1e6", FIXED, 10**6, "x * y"),
    ("int less 1e5", INTEGERS, 10**5, "x < y"),
    ("ranged less 1e5", RANGED, 10**5, "x < y"),
    ("fixed less 1e5", FIXED, 10**5, "x < y"),
    ("matmul 256", MATRICES, 0, "matmul (x, y)"),
    ("sigmoid 1e5", FIXED, 10**5, "sigmoid x"),
    ("fixed sort 1000", FIXED, 1000, "sort x"),
    ("int sort 1000", INTEGERS, 1000, "sort x"),
]
UNITS = {"byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def run(felis, text):
    with tempfile.NamedTemporaryFile("w", suffix=".flx") as file:
        file.write(text)
        file.flush()
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        done = subprocess.run([felis, "run", "--stats", file.name], capture_output=True, text=True, check=True)
        wall, after = time.time() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sent = re.findall(r"sent ([\d.]+) (\w+) in .*?; (\d+) rounds?", done.stdout + done.stderr)
    return [
        wall * 1e3,
        processor * 1e3,
        max((float(number) * UNITS[unit] for number, unit, _ in sent), default=0),
        max((int(rounds) for *_, rounds in sent), default=0),
    ]


def main():
    felis, wanted = sys.argv[1], sys.argv[2:]
    for name, inputs, n, operation in ROWS:
        if wanted and not any(word in name for word in wanted):
            continue
        head = "party Party = alice | bob | carol;\n" + (inputs.format(n=n) if n else inputs)
        begin = head + f"var r = {operation};\n"
        texts = [begin, begin + f"for _ in 1..<{REPEATED} do r = {operation}; done\n"]
        found = []
        for _ in range(3):
            once, many = (run(felis, text) for text in texts)
            found.append([(b - a) / (REPEATED - 1) for a, b in zip(once, many)])
        wall, processor, sent, rounds = (sorted(column)[1] for column in zip(*found))
        print(f"{name:16} wall {wall:8.1f} ms  cpu {processor:8.1f} ms  sent {sent:11.0f} B  rounds {rounds:5.0f}", flush=True)


if __name__ == "__main__":
    main()
