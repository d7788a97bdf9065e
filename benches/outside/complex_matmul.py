import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
def data():
    p, q, r, s = (numbers(k, 160, 160) for k in (7919, 4799, 6007, 3001))
    return p + 1j * q, r + 1j * s
def numba(a, b):
    n = a.shape[0]
    c = np.zeros((n, n), np.complex128)
    for i in range(n):
        for k in range(n):
            for j in range(n):
                c[i, j] += a[i, k] * b[k, j]
    return c.view(np.float64)
