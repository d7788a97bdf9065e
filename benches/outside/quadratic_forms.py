import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return numbers(7919, 24, 24), numbers(4799, 5000, 24)
def numba(a, x):
    out = np.empty(x.shape[0])
    for n in prange(x.shape[0]):
        s = 0.0
        for i in range(24):
            t = 0.0
            for j in range(24):
                t += a[i, j] * x[n, j]
            s += x[n, i] * t
        out[n] = s
    return out
def numpy(a, x):
    return ((x @ a.T) * x).sum(1)
