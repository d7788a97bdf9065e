import numpy as np
from numba import prange

from data import numbers


def data():
    return (numbers(7919, 512, 512) + 512.0 * np.eye(512),)


def numba(a):
    m = a.copy()
    n = m.shape[0]
    for k in range(n):
        for i in prange(k + 1, n):
            factor = m[i, k] / m[k, k]
            m[i, k] = factor
            for j in range(k + 1, n):
                m[i, j] -= factor * m[k, j]
    return m


def numpy(a):
    m = a.copy()
    for k in range(m.shape[0] - 1):
        m[k + 1:, k] /= m[k, k]
        m[k + 1:, k + 1:] -= m[k + 1:, k, None] * m[k, k + 1:]
    return m
