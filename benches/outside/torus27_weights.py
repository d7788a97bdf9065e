import numpy as np
from numba import prange

from data import numbers


def data():
    return numbers(7919, 128, 128, 128), numbers(4799, 3, 3, 3)


def numba(x, w):
    n = x.shape[0]
    out = np.empty_like(x)
    for i in prange(n):
        for j in range(n):
            for k in range(n):
                total = 0.0
                for a in range(3):
                    for b in range(3):
                        for c in range(3):
                            total += w[a, b, c] * x[(i + a - 1) % n, (j + b - 1) % n, (k + c - 1) % n]
                out[i, j, k] = total
    return out


def numpy(x, w):
    out = np.zeros_like(x)
    for a in range(3):
        for b in range(3):
            for c in range(3):
                out += w[a, b, c] * np.roll(x, (1 - a, 1 - b, 1 - c), (0, 1, 2))
    return out
