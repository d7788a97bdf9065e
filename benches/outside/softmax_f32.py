import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return ((8.0 * numbers(7919, 2000, 128)).astype(np.float32),)
def numba(x):
    n, k = x.shape
    out = np.empty((n, k), np.float32)
    for i in prange(n):
        m = x[i, 0]
        for j in range(k):
            m = max(m, x[i, j])
        s = np.float32(0.0)
        for j in range(k):
            e = np.exp(x[i, j] - m)
            out[i, j] = e
            s += e
        for j in range(k):
            out[i, j] /= s
    return out
def numpy(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
