import numpy as np
from numba import prange

from data import numbers


def data():
    return (numbers(7919, 512, 512),)


def numba(plate):
    u, v = plate.copy(), np.empty_like(plate)
    n, m = u.shape
    for _ in range(100):
        for i in prange(n):
            up, down = (i - 1 if i > 0 else n - 1), (i + 1 if i < n - 1 else 0)
            for j in range(m):
                left, right = (j - 1 if j > 0 else m - 1), (j + 1 if j < m - 1 else 0)
                v[i, j] = u[i, j] + 0.2 * (u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4.0 * u[i, j])
        u, v = v, u
    return u


def numpy(plate):
    u = plate
    for _ in range(100):
        u = u + 0.2 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u)
    return u
