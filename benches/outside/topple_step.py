import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (codes(7919, 1024 * 1024).reshape(1024, 1024) % 23,)
def numba(g):
    n = g.shape[0]
    h = np.empty_like(g)
    for i in prange(n):
        for j in range(n):
            s = g[i, j] % 4
            if i > 0: s += g[i-1, j] // 4
            if i + 1 < n: s += g[i+1, j] // 4
            if j > 0: s += g[i, j-1] // 4
            if j + 1 < n: s += g[i, j+1] // 4
            h[i, j] = s
    return h
