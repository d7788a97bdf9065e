import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return ((codes(7919, 1000000) * 400000 + 1).astype(np.uint32),)
def numba(x):
    out = np.empty(x.size, np.int64)
    for i in prange(x.size):
        h = np.uint32(np.uint32(x[i] ^ (x[i] >> np.uint32(16))) * np.uint32(2146121005))
        h = np.uint32(np.uint32(h ^ (h >> np.uint32(15))) * np.uint32(2221713035))
        out[i] = h ^ (h >> np.uint32(16))
    return out
def numpy(x):
    h = (x ^ (x >> np.uint32(16))) * np.uint32(2146121005)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(2221713035)
    return (h ^ (h >> np.uint32(16))).astype(np.int64)
