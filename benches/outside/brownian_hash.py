import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = True
def data():
    return (10000,)
def numba(n):
    out = np.empty(n)
    for i in prange(n):
        s = np.uint64(i + 1) * np.uint64(2654435761)
        p = 0.0
        for _ in range(200):
            s ^= s << np.uint64(13)
            s ^= s >> np.uint64(7)
            s ^= s << np.uint64(17)
            p += (s >> np.uint64(11)) / 9007199254740992.0 - 0.5
        out[i] = p
    return out
def numpy(n):
    s = np.arange(1, n + 1).astype(np.uint64) * np.uint64(2654435761)
    p = np.zeros(n)
    for _ in range(200):
        s ^= s << np.uint64(13)
        s ^= s >> np.uint64(7)
        s ^= s << np.uint64(17)
        p += (s >> np.uint64(11)) / 9007199254740992.0 - 0.5
    return p
