import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return codes(7919, 1500), codes(4799, 1500)
def numba(a, b):
    out = np.zeros(a.size + b.size, np.int64)
    for i in range(a.size):
        for j in range(b.size):
            out[i + j] += a[i] * b[j]
    return out
def numpy(a, b):
    return np.append(np.convolve(a, b), 0)
