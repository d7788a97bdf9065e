import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return (100.0,)
def numba(strike):
    n = 1500
    v = np.empty(n)
    for j in range(n):
        v[j] = max(strike - 100.0 * 1.01 ** (2.0 * j - 1499.0), 0.0)
    for s in range(1, n):
        for j in range(n - s):
            v[j] = 0.9999 * (0.52 * v[j + 1] + 0.48 * v[j])
    return v[0]
def numpy(strike):
    v = np.maximum(strike - 100 * 1.01 ** (2.0 * np.arange(1500) - 1499.0), 0.0)
    for s in range(1, 1500):
        v = 0.9999 * (0.52 * v[1:] + 0.48 * v[:-1])
    return v[0]
