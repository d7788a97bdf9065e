import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return (numbers(7919, 300, 300),)
def numba(f):
    u = f.copy()
    for _ in range(10):
        for i in range(1, 299):
            for j in range(1, 299):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u
