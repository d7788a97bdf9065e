import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    c = codes(7919, 1000000)
    return (np.where(c % 6 == 0, 32, 97 + c % 26).astype(np.uint8),)
def numba(t):
    n = 0
    for i in prange(t.size):
        here = t[i] == 32 or t[i] == 10 or t[i] == 9
        before = True
        if i > 0:
            before = t[i - 1] == 32 or t[i - 1] == 10 or t[i - 1] == 9
        n += not here and before
    return n
def numpy(t):
    b = (t == 32) | (t == 10) | (t == 9)
    return np.count_nonzero(~b[1:] & b[:-1]) + (not b[0])
