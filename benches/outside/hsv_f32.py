import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
def data():
    return (numbers(7919, 500000, 3).astype(np.float32),)
def numba(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        r, g, b = x[i, 0], x[i, 1], x[i, 2]
        top = max(max(r, g), b)
        d = top - min(min(r, g), b)
        h = np.float32(0)
        if d > 0:
            if top == r:
                h = (g - b) / d
            elif top == g:
                h = np.float32(2) + (b - r) / d
            else:
                h = np.float32(4) + (r - g) / d
            h = h / np.float32(6)
            if h < 0:
                h += np.float32(1)
        out[i, 0] = h
        out[i, 1] = d / top if top > 0 else np.float32(0)
        out[i, 2] = top
    return out
