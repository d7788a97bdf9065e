import numpy as np
from numba import prange

from data import numbers


def data():
    return numbers(7919, 1030, 1030), numbers(4799, 7, 7)


def numba(x, w):
    n, m = x.shape[0] - 6, x.shape[1] - 6
    out = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            total = 0.0
            for a in range(7):
                for b in range(7):
                    total += w[a, b] * x[i + a, j + b]
            out[i, j] = total
    return out


def numpy(x, w):
    n, m = x.shape[0] - 6, x.shape[1] - 6
    out = np.zeros((n, m))
    for a in range(7):
        for b in range(7):
            out += w[a, b] * x[a:a + n, b:b + m]
    return out
