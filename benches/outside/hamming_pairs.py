import math
import numpy as np
from numba import njit
from data import codes, numbers

PARALLEL = False
@njit
def popcount(v):
    v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
    v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
    v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((v * np.uint64(0x0101010101010101)) >> np.uint64(56))
def data():
    with np.errstate(over="ignore"):
        c = codes(7919, 2000).astype(np.uint64) * np.uint64(6364136223846793005) + np.arange(2000).astype(np.uint64) * np.uint64(1442695040888963407)
    return (c,)
def numba(x):
    out = np.empty(x.size, np.int64)
    for i in range(x.size):
        best = 64
        for j in range(x.size):
            if i != j:
                best = min(best, popcount(x[i] ^ x[j]))
        out[i] = best
    return out
