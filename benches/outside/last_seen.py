import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return (codes(31, 200000) % 1000,)
def numba(keys):
    seen = np.full(1000, -1)
    total = 0
    for i in range(keys.size):
        k = keys[i]
        if seen[k] >= 0:
            total += i - seen[k]
        seen[k] = i
    return total
