import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (numbers(104729, 1000),)
def numba(y):
    out = np.zeros(y.size)
    for i in prange(y.size):
        s = 0.0
        for k in range(y.size):
            if abs(y[k] - y[i]) < 0.1:
                s += y[k] - y[i]
        out[i] = s
    return out
