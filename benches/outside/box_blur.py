import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 512, 512),)
def numba(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        for j in range(m):
            s = 0.0
            for a in range(-2, 3):
                for b in range(-2, 3):
                    s += x[min(max(i + a, 0), n - 1), min(max(j + b, 0), m - 1)]
            out[i, j] = s / 25
    return out
def numpy(x):
    p = np.pad(x, 2, mode="edge")
    out = np.zeros_like(x)
    for a in range(5):
        for b in range(5):
            out += p[a:a + 512, b:b + 512]
    return out / 25
