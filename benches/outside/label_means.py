import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (numbers(7919, 100000), codes(31, 100000) % 50)
def numba(x, labels):
    sums = np.zeros(50); counts = np.zeros(50)
    for i in range(x.size):
        sums[labels[i]] += x[i]
        counts[labels[i]] += 1
    return sums / counts
