import numpy as np
from numba import prange

PARALLEL = True


def data():
    return (10_000_000,)


def numba(n):
    total = 0
    for i in prange(n):
        if (i * 2654435761 + 12345) % 4294967296 // 7 % 1000 < 250:
            total += 1
    return total


def numpy(n):
    i = np.arange(n)
    return np.count_nonzero((i * 2654435761 + 12345) % 4294967296 // 7 % 1000 < 250)
