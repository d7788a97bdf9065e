import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return numbers(7919, 1200), numbers(4799, 1200)
def numba(a, b):
    n, m = a.size, b.size
    old = np.full(m + 1, 1e300)
    old[0] = 0.0
    row = np.empty_like(old)
    for i in range(n):
        row[0] = 1e300
        for j in range(m):
            row[j + 1] = abs(a[i] - b[j]) + min(min(old[j + 1], row[j]), old[j])
        old, row = row, old
    return old[m]
