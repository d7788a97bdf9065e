import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return numbers(7919, 1500, 2), 1 + numbers(4799, 1500)
def numba(p, rho):
    n = p.shape[0]
    out = np.empty((n, 2))
    for i in prange(n):
        fx = fy = 0.0
        for j in range(n):
            dx, dy = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1]
            r2 = dx * dx + dy * dy
            if r2 < 0.01 and r2 > 0:
                r = np.sqrt(r2)
                f = (rho[i] + rho[j]) * (0.1 - r) * (0.1 - r) / r
                fx += f * dx
                fy += f * dy
        out[i, 0], out[i, 1] = fx, fy
    return out
