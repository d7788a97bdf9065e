import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    x = 0.5 * numbers(7919, 2000000)
    x[1900001:] = 1.0
    return (x,)
def numba(x):
    for i in range(x.size):
        if x[i] > 0.7:
            return i
    return -1
def numpy(x):
    return np.argmax(x > 0.7)
