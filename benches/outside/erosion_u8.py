import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return ((codes(7919, 1024, 1024) % 256).astype(np.uint8),)
def numba(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        up, down = (i - 1) % n, (i + 1) % n
        for j in range(m):
            l = j - 1 if j > 0 else m - 1
            r = j + 1 if j < m - 1 else 0
            v = min(x[up, l], x[up, j], x[up, r])
            v = min(v, x[i, l], x[i, j], x[i, r])
            out[i, j] = min(v, x[down, l], x[down, j], x[down, r])
    return out
def numpy(x):
    v = np.minimum(np.minimum(np.roll(x, 1, 0), x), np.roll(x, -1, 0))
    return np.minimum(np.minimum(np.roll(v, 1, 1), v), np.roll(v, -1, 1))
