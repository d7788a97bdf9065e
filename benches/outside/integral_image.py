import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return ((codes(7919, 1024, 1024) % 256).astype(np.uint8),)
def numba(x):
    out = np.empty(x.shape, np.int64)
    above = np.zeros(x.shape[1], np.int64)
    for i in range(x.shape[0]):
        s = 0
        for j in range(x.shape[1]):
            s += x[i, j]
            above[j] += s
            out[i, j] = above[j]
    return out
def numpy(x):
    return x.astype(np.int64).cumsum(axis=1).cumsum(axis=0)
