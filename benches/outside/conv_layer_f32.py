import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return numbers(7919, 8, 58, 58).astype(np.float32), numbers(4799, 16, 8, 3, 3).astype(np.float32)
def numba(x, w):
    out = np.zeros((16, 56, 56), np.float32)
    for k in prange(16):
        for c in range(8):
            for a in range(3):
                for b in range(3):
                    v = w[k, c, a, b]
                    for i in range(56):
                        for j in range(56):
                            out[k, i, j] += v * x[c, i + a, j + b]
        for i in range(56):
            for j in range(56):
                out[k, i, j] = max(np.float32(0), out[k, i, j])
    return out
def numpy(x, w):
    v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    return np.maximum(0, np.tensordot(w, v, ((1, 2, 3), (0, 3, 4))))
