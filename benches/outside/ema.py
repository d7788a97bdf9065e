import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 1000000),)
def numba(x):
    out = np.empty(x.size)
    e = x[0]
    for i in range(x.size):
        e = 0.1 * x[i] + 0.9 * e
        out[i] = e
    return out
