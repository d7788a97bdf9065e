import numpy as np

from data import codes

PARALLEL = False


def data():
    return codes(7919, 4000) % 4, codes(4799, 4000) % 4


def numba(a, b):
    row = np.arange(1, b.size + 1)
    for i in range(a.size):
        corner, left = i, i + 1
        for j in range(b.size):
            here = min(min(left, row[j]) + 1, corner + (0 if a[i] == b[j] else 1))
            corner = row[j]
            left = here
            row[j] = here
    return row[-1]
