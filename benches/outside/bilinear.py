import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 512, 512),)
def numba(x):
    out = np.empty((700, 700))
    for i in prange(700):
        y0 = i * 511.0 / 699.0
        p = int(np.floor(y0))
        fy = y0 - p
        p2 = min(p + 1, 511)
        for j in range(700):
            x0 = j * 511.0 / 699.0
            q = int(np.floor(x0))
            fx = x0 - q
            q2 = min(q + 1, 511)
            out[i, j] = (1 - fy) * ((1 - fx) * x[p, q] + fx * x[p, q2]) + fy * ((1 - fx) * x[p2, q] + fx * x[p2, q2])
    return out
def numpy(x):
    t = np.arange(700) * 511.0 / 699.0
    p = np.floor(t).astype(np.int64)
    f = t - p
    p2 = np.minimum(p + 1, 511)
    top = (1 - f) * x[:, p] + f * x[:, p2]
    return (1 - f)[:, None] * top[p] + f[:, None] * top[p2]
