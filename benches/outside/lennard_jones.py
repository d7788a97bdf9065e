import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (10 * numbers(7919, 1200, 3),)
def numba(p):
    e = 0.0
    for i in prange(p.shape[0]):
        part = 0.0
        for j in range(i):
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            dx -= 10 * np.rint(dx / 10)
            dy -= 10 * np.rint(dy / 10)
            dz -= 10 * np.rint(dz / 10)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < 6.25 and r2 > 0.25:
                s = 1 / (r2 * r2 * r2)
                part += 4 * s * (s - 1)
        e += part
    return e
def numpy(p):
    i, j = np.tril_indices(p.shape[0], -1)
    d = p[i] - p[j]
    d -= 10 * np.rint(d / 10)
    r2 = (d * d).sum(1)
    r2 = r2[(r2 < 6.25) & (r2 > 0.25)]
    s = 1 / r2 ** 3
    return np.sum(4 * s * (s - 1))
