import numpy as np
from numba import njit

from data import codes

PARALLEL = False


def data():
    return (codes(7919, 1000) % 4,)


@njit
def distance(a, b):
    row = np.arange(1, b.size + 1)
    left = a.size
    for i in range(a.size):
        corner, left = i, i + 1
        for j in range(b.size):
            here = min(min(left, row[j]) + 1, corner + (0 if a[i] == b[j] else 1))
            corner = row[j]
            left = here
            row[j] = here
    return left


def numba(letters):
    total = 0
    for k in range(300):
        total += distance(letters[:50 + k % 37], letters[100:140 + k % 53]) * (k % 7 + 1)
    return total
