import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (30000,)
def numba(n):
    out = np.empty(n, np.int64)
    for i in prange(n):
        v = i + 1
        k = 0
        while v > 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            k += 1
        out[i] = k
    return out
