# Life on a torus, in the terminal.
import numpy as np

glider = """
.#......
..#.....
###.....
........
........
........
"""
alive = np.array([[c == "#" for c in line] for line in glider.split()])


def step(x):
    n = x.astype(int)
    around = sum(np.roll(n, (d, r), (0, 1)) for d in (-1, 0, 1) for r in (-1, 0, 1)) - n
    return (around == 3) | (x & (around == 2))


for _ in range(12):
    alive = step(alive)
for row in alive:
    print("".join("#" if c else "." for c in row))
