import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return (codes(7919, 200000),)
def numba(shapes):
    total = 0.0
    for i in range(shapes.size):
        c = shapes[i]
        if c % 3 == 1:
            total += 3.0 * c * c
        elif c % 3 == 2:
            total += 2.0 * c
    return total
