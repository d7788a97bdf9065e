import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return numbers(7919, 8, 16, 1024), 0.5 + numbers(4799, 16), numbers(6007, 16)
def numba(x, gain, bias):
    nb, nc, np_ = x.shape
    out = np.empty_like(x)
    for c in prange(nc):
        s = 0.0
        for b in range(nb):
            for p in range(np_):
                s += x[b, c, p]
        m = s / (nb * np_)
        q = 0.0
        for b in range(nb):
            for p in range(np_):
                d = x[b, c, p] - m
                q += d * d
        h = math.sqrt(q / (nb * np_) + 1e-5)
        for b in range(nb):
            for p in range(np_):
                out[b, c, p] = gain[c] * (x[b, c, p] - m) / h + bias[c]
    return out
def numpy(x, gain, bias):
    m, v = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    return gain[:, None] * (x - m) / np.sqrt(v + 1e-5) + bias[:, None]
