import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return numbers(7919, 1000000), numbers(4799, 1000000)
def numba(x, y):
    out = np.zeros((64, 64), np.int64)
    for i in range(x.size):
        out[int(x[i] * 64), int(y[i] * 64)] += 1
    return out
def numpy(x, y):
    return np.bincount((x * 64).astype(np.int64) * 64 + (y * 64).astype(np.int64), minlength=4096)
