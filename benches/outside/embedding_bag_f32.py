import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
def data():
    return numbers(7919, 10000, 64).astype(np.float32), codes(4799, 5000, 20) % 10000
def numba(t, bags):
    out = np.zeros((bags.shape[0], t.shape[1]), np.float32)
    for b in range(bags.shape[0]):
        for k in range(bags.shape[1]):
            w = bags[b, k]
            for d in range(t.shape[1]):
                out[b, d] += t[w, d]
    return out
