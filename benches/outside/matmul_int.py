import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return codes(7919, 256, 256), codes(4799, 256, 256)
def numba(a, b):
    n = a.shape[0]
    out = np.zeros((n, n), np.int64)
    for i in prange(n):
        for k in range(n):
            s = a[i, k]
            for j in range(n):
                out[i, j] += s * b[k, j]
    return out
def numpy(a, b):
    return a @ b
