import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return ((codes(7919, 1024, 1024) % 256).astype(np.uint8),)
def numba(x):
    n, m = x.shape[0] - 2, x.shape[1] - 2
    out = np.empty((n, m), np.uint8)
    for i in prange(n):
        for j in range(m):
            a, b, c = np.int32(x[i, j]), np.int32(x[i, j + 1]), np.int32(x[i, j + 2])
            d, f = np.int32(x[i + 1, j]), np.int32(x[i + 1, j + 2])
            g, h, k = np.int32(x[i + 2, j]), np.int32(x[i + 2, j + 1]), np.int32(x[i + 2, j + 2])
            gx = c + 2 * f + k - a - 2 * d - g
            gy = g + 2 * h + k - a - 2 * b - c
            out[i, j] = min(abs(gx) + abs(gy), 255)
    return out
def numpy(x):
    y = x.astype(np.int16)
    gx = y[:-2, 2:] + 2 * y[1:-1, 2:] + y[2:, 2:] - y[:-2, :-2] - 2 * y[1:-1, :-2] - y[2:, :-2]
    gy = y[2:, :-2] + 2 * y[2:, 1:-1] + y[2:, 2:] - y[:-2, :-2] - 2 * y[:-2, 1:-1] - y[:-2, 2:]
    return np.minimum(np.abs(gx) + np.abs(gy), 255).astype(np.uint8)
