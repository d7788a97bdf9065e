import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (200000,)
def numba(n):
    phi = np.arange(n)
    for p in range(2, n):
        if phi[p] == p:
            for k in range(p, n, p):
                phi[k] -= phi[k] // p
    return phi
