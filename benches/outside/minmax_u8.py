import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return ((codes(7919, 4_000_000) % 251).astype(np.uint8),)
def numba(x):
    lo, hi, n, any_ = np.uint8(255), np.uint8(0), 0, 0
    for i in prange(x.size):
        lo = min(lo, x[i])
        hi = max(hi, x[i])
        n += x[i] == 7
        any_ += x[i] > 250
    return np.array([np.int64(lo), np.int64(hi), n, 1 if any_ > 0 else 0])
def numpy(x):
    return np.array([x.min(), x.max(), np.count_nonzero(x == 7), np.any(x > 250)])
