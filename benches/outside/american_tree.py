import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return 100.0, 100.0 * 1.01 ** (np.arange(2001) - 1000.0)
def numba(strike, spot):
    n = 1000
    v = np.empty(n)
    w = np.empty(n)
    for j in range(n):
        v[j] = max(strike - spot[2 * j + 1], 0.0)
    for s in range(1, n):
        for j in range(n):
            k = j + 1 if j < n - 1 else 0
            w[j] = max(0.9999 * (0.52 * v[k] + 0.48 * v[j]), strike - spot[min(2 * j + 1 + s, 2000)])
        v, w = w, v
    return v[0]
def numpy(strike, spot):
    j = 2 * np.arange(1000) + 1
    v = np.maximum(strike - spot[j], 0.0)
    for s in range(1, 1000):
        v = np.maximum(0.9999 * (0.52 * np.roll(v, -1) + 0.48 * v), strike - spot[np.minimum(j + s, 2000)])
    return v[0]
