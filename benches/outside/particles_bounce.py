import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return numbers(7919, 200000, 2), numbers(4799, 200000, 2) - 0.5
def numba(a, b):
    n = a.shape[0]
    out = np.empty((n, 5))
    for i in prange(n):
        hits = 0
        for k in range(2):
            p, v = a[i, k], b[i, k]
            for _ in range(5):
                p += 0.4 * v
                if p < 0:
                    p, v = -p, -v
                    hits += 1
                elif p > 1:
                    p, v = 2 - p, -v
                    hits += 1
            out[i, k], out[i, 2 + k] = p, v
        out[i, 4] = hits
    return out
def numpy(a, b):
    p, v = a.copy(), b.copy()
    hits = np.zeros(p.shape, np.int64)
    for _ in range(5):
        p += 0.4 * v
        low, high = p < 0, p > 1
        p = np.where(low, -p, np.where(high, 2 - p, p))
        v = np.where(low | high, -v, v)
        hits += low | high
    return np.concatenate((p, v, hits.sum(1)[:, None]), 1)
