import numpy as np
from numba import prange

from data import numbers


def data():
    return (numbers(7919, 10_000_000),)


def numba(x):
    best, total = -1.0, 0.0
    for i in prange(x.size):
        if x[i] < 0.75:
            best = max(best, x[i])
            total += x[i] * x[i]
    return np.array((best, total))


def numpy(x):
    kept = x[x < 0.75]
    return np.array((kept.max(), np.dot(kept, kept)))
