import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return numbers(7919, 1000000), codes(4799, 1000000) % 37 == 0
def numba(x, flag):
    out = np.empty(x.size)
    s = 0.0
    for i in range(x.size):
        s = x[i] if flag[i] else s + x[i]
        out[i] = s
    return out
