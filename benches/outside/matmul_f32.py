import numpy as np

from data import numbers


def data():
    return tuple(numbers(p, 512, 512).astype(np.float32) for p in (7919, 4799))


def numba(a, b):
    return a @ b


def numpy(a, b):
    return a @ b
