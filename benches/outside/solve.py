import numpy as np

from data import numbers

PARALLEL = False


def data():
    return numbers(7919, 512, 512) + 512.0 * np.eye(512), numbers(4799, 512)


def numba(a, b):
    m, y = a.copy(), b.copy()
    n = m.shape[0]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(m[i, k]) > abs(m[pivot, k]):
                pivot = i
        for j in range(n):
            m[k, j], m[pivot, j] = m[pivot, j], m[k, j]
        y[k], y[pivot] = y[pivot], y[k]
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k]
            for j in range(n):
                m[i, j] -= factor * m[k, j]
            y[i] -= factor * y[k]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            y[k] -= m[k, i] * y[i]
        y[k] /= m[k, k]
    return y


def numpy(a, b):
    return np.linalg.solve(a, b)
