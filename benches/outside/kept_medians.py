import numpy as np
from numba import prange

from data import numbers

PARALLEL = True


def data():
    return (numbers(7919, 200000).reshape(2000, 100),)


def numba(x):
    medians = np.zeros(x.shape[0])
    for i in prange(x.shape[0]):
        medians[i] = np.median(x[i][x[i] > 0.25])
    return medians
