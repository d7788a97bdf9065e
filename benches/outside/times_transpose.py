from numba import prange

from data import numbers


def data():
    return (numbers(7919, 4096, 4096),)


def numba(x):
    total = 0.0
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * x[j, i]
    return total


def numpy(x):
    return (x * x.T).sum()
