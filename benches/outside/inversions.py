import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (codes(7919, 3000),)
def numba(x):
    n = 0
    for i in prange(x.size):
        for j in range(i):
            n += x[i] < x[j]
    return n
def numpy(x):
    return np.count_nonzero(np.tril(x[:, None] < x, -1))
