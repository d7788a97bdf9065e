import math
import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    return (numbers(7919, 4000), 400)
def numba(pool, k):
    s = 0.0
    for i in range(k):
        n = 20 + i % 37; m = 30 + i % 41
        t = 0.0
        r = 0.0
        mm = -1e300
        for p in range(n):
            rm = -1e300
            for q in range(m):
                v = pool[p] * pool[500 + q]
                t += v
                rm = max(rm, v)
            r += rm
            mm = max(mm, rm)
        s += t / n + r + mm
    return s
