import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
def data():
    a = np.zeros((5, 7))
    for b in range(5):
        for k in range(3):
            a[b, k] = 3.0 * b + 0.7 * k
            a[b, 3 + k] = 0.1 * k - 0.05 * b
        a[b, 6] = 1.0 / (1.0 + b)
    return (a,)
def numba(start):
    r = start.copy()
    dt = 0.001
    for step in range(20000):
        for i in range(5):
            for j in range(i):
                dx = r[i, 0] - r[j, 0]
                dy = r[i, 1] - r[j, 1]
                dz = r[i, 2] - r[j, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.01
                mag = dt / (r2 * math.sqrt(r2))
                a, b = r[j, 6] * mag, r[i, 6] * mag
                r[i, 3] -= dx * a
                r[i, 4] -= dy * a
                r[i, 5] -= dz * a
                r[j, 3] += dx * b
                r[j, 4] += dy * b
                r[j, 5] += dz * b
        for i in range(5):
            for k in range(3):
                r[i, k] += dt * r[i, 3 + k]
    return r
