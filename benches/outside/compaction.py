import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return (numbers(7919, 1000000),)
def numba(x):
    y = np.empty(x.size)
    at = np.empty(x.size, np.int64)
    k = m = 0
    for i in range(x.size):
        if x[i] > 0.7:
            y[k] = 2 * x[i]
            k += 1
        if x[i] > 0.9:
            at[m] = i
            m += 1
    s = 0.0
    for i in range(x.size):
        if x[i] < 0.3:
            s += x[i]
    return np.array([y[:k].sum(), float(at[:m].sum()), s])
def numpy(x):
    return np.array([(2 * x[x > 0.7]).sum(), float(np.nonzero(x > 0.9)[0].sum()), x[x < 0.3].cumsum().max()])
