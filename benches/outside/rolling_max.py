import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 500_015),)
def numba(x):
    n = x.size - 15
    out = np.empty(n)
    for i in prange(n):
        m = x[i]
        for k in range(1, 16):
            m = max(m, x[i + k])
        out[i] = m
    return out
def numpy(x):
    return np.lib.stride_tricks.sliding_window_view(x, 16).max(axis=1)
