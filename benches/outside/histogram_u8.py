import numpy as np
from numba import prange

from data import codes


def data():
    return ((codes(7919, 16777216) % 256).astype(np.uint8),)


def numba(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = 255 if x[i] > 127 else 0
    parts = np.zeros((8, 256), np.int64)
    for p in prange(8):
        for i in range(p * x.size // 8, (p + 1) * x.size // 8):
            parts[p, x[i]] += 1
    return out, parts.sum(axis=0)


def numpy(x):
    return np.where(x > 127, np.uint8(255), np.uint8(0)), np.bincount(x, minlength=256)
