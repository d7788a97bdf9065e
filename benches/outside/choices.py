import numpy as np
from numba import prange

from data import codes


def data():
    return ((codes(7919, 1_000_000) % 4).astype(np.uint8),)


def numba(c):
    n = c.size
    out = np.empty_like(c)
    for i in prange(n):
        if c[i] == 0:
            out[i] = 0
        elif c[i] == 2:
            out[i] = 3
        elif c[i] == 3:
            out[i] = 1
        else:
            heads = (c[i - 1 if i > 0 else n - 1] == 2) + (c[i + 1 if i < n - 1 else 0] == 2)
            out[i] = 2 if heads == 1 else 1
    return out


def numpy(c):
    heads = (np.roll(c, 1) == 2).astype(np.uint8) + (np.roll(c, -1) == 2)
    return np.select([c == 0, c == 2, c == 3], [0, 3, 1], np.where(heads == 1, 2, 1)).astype(np.uint8)
