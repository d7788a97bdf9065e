import numpy as np

from data import numbers

PARALLEL = False


def data():
    x = numbers(7919, 512, 512)
    return (x + x.T + 1024.0 * np.eye(512),)


def numba(a):
    n = a.shape[0]
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = s / l[j, j]
        d = a[i, i]
        for k in range(i):
            d -= l[i, k] * l[i, k]
        l[i, i] = np.sqrt(d)
    return l


def numpy(a):
    return np.linalg.cholesky(a)
