import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
def data():
    return 97 + codes(7919, 1000) % 4, 97 + codes(4799, 1000) % 4
def numba(a, b):
    row = np.arange(b.size + 1)
    for i in range(a.size):
        corner = row[0]
        row[0] = i + 1
        for j in range(b.size):
            here = min(min(row[j], row[j + 1]) + 1, corner + (0 if a[i] == b[j] else 1))
            corner = row[j + 1]
            row[j + 1] = here
    return row[b.size]
