import numpy as np
from numba import prange

from data import codes


def data():
    return (codes(7919, 2048, 2048) % 3 == 0,)


def numba(w):
    n, m = w.shape
    out = np.empty_like(w)
    for i in prange(n):
        up, down = (i - 1 if i > 0 else n - 1), (i + 1 if i < n - 1 else 0)
        for j in range(m):
            left, right = (j - 1 if j > 0 else m - 1), (j + 1 if j < m - 1 else 0)
            total = (w[up, left] + w[up, j] + w[up, right] + w[i, left] + w[i, j] + w[i, right]
                     + w[down, left] + w[down, j] + w[down, right])
            out[i, j] = total == 3 or (total == 4 and w[i, j])
    return out


def numpy(w):
    u = w.astype(np.uint8)
    u = np.roll(u, 1, 0) + u + np.roll(u, -1, 0)
    u = np.roll(u, 1, 1) + u + np.roll(u, -1, 1)
    return (u == 3) | ((u == 4) & w)
