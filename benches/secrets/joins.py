"""Times joins of two tables, all parties in one process, as `of_felis.py` times operations on secrets.

    cargo build --release --features ciphers
    python3 benches/secrets/joins.py target/release/felis [ROWS] [NAME …]

Each of two parties has a table of that many rows, half of which are common. A join is repeated, and a figure is that of the
repetitions after the first: wall and processor time of all parties together, bytes of the one that sends most, rounds.
"""

import sys

from of_felis import run

REPEATED = 3
TABLES = """\
party Party = alice | bob | carol;
val x = at alice {{ [ (i :>> int) * 2 for i in ..[{n}] ] }};
val y = at bob {{ [ (i :>> int) * 4 for i in ..[{n}] ] }};
val v = at bob {{ [ (i :>> int) % 100 for i in ..[{n}] ] }};
val key = #common_tag_key[{{alice, bob}}];
val (secret, public) = #keygen[bob, paillier[2048]];
val (a, b) = (hide[Party] x, hide[Party] v);
"""
JOINS = [
    ("common_rows", "common_rows (x, y)"),
    ("common_rows_by", "common_rows_by[carol] (at alice {{ tags (key, x) }}, at bob {{ tags (key, y) }})"),
    (
        "common_rows_hidden",
        "common_rows_hidden[carol] (at alice {{ tags (key, x) }}, at bob {{ tags (key, y) }}, "
        "a :>> secret[Party, int, 1 \\* {n}], b :>> secret[Party, int, 1 \\* {n}])",
    ),
    ("common_sum", "common_sum (secret, public, x, y, v)"),
]


def main():
    felis, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    for name, join in JOINS:
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        head = TABLES.format(n=rows)
        texts = [
            head + "".join(f"val r{k} = {join.format(n=rows)};\n" for k in range(count)) for count in (1, REPEATED)
        ]
        found = []
        for _ in range(3):
            once, many = (run(felis, text) for text in texts)
            found.append([(b - a) / (REPEATED - 1) for a, b in zip(once, many)])
        wall, processor, sent, rounds = (sorted(column)[1] for column in zip(*found))
        print(f"{name:20} wall {wall:9.1f} ms  cpu {processor:9.1f} ms  sent {sent:9.0f} B  rounds {rounds:4.0f}", flush=True)


main()
