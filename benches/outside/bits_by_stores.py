import numpy as np
from numba import njit, prange

from data import numbers


def data():
    return (numbers(7919, 65536),)


@njit
def reversed_bits(k):
    j = 0
    for _ in range(16):
        j = 2 * j + k % 2
        k //= 2
    return j


def numba(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = x[reversed_bits(np.int64(i))]
    return out


def numpy(x):
    i = np.arange(x.size)
    j = np.zeros_like(i)
    for _ in range(16):
        j = 2 * j + i % 2
        i //= 2
    return x[j]
