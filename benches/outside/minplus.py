import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return codes(7919, 256, 256) % 1000, codes(4799, 256, 256) % 1000
def numba(a, b):
    n = a.shape[0]
    out = np.full((n, n), 1000000)
    for i in prange(n):
        for k in range(n):
            for j in range(n):
                out[i, j] = min(out[i, j], a[i, k] + b[k, j])
    return out
def numpy(a, b):
    return np.stack([(a[i][:, None] + b).min(axis=0) for i in range(a.shape[0])])
