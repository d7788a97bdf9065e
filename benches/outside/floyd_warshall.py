import numpy as np
from numba import prange

from data import codes


def data():
    weights = codes(7919, 512, 512) + 1.0
    np.fill_diagonal(weights, 0.0)
    return (weights,)


def numba(weights):
    d = weights.copy()
    n = d.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def numpy(weights):
    d = weights.copy()
    for k in range(d.shape[0]):
        np.minimum(d, d[:, k, None] + d[k], out=d)
    return d
