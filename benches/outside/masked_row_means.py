import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (numbers(7919, 240000).reshape(20000, 12) - 0.5,)
def numba(x):
    out = np.empty(x.shape[0])
    for i in prange(x.shape[0]):
        s = 0.0; n = 0
        for k in range(x.shape[1]):
            if x[i, k] > 0.3:
                s += x[i, k]
                n += 1
        out[i] = s / n if n else -1.0
    return out
