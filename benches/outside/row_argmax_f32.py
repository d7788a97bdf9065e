import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 20000, 50).astype(np.float32),)
def numba(x):
    out = np.empty(x.shape[0], np.int64)
    for i in prange(x.shape[0]):
        b, at = x[i, 0], 0
        for j in range(1, x.shape[1]):
            if x[i, j] > b:
                b, at = x[i, j], j
        out[i] = at
    return out
def numpy(x):
    return x.argmax(1)
