import numpy as np
from numba import njit, prange
from data import codes, numbers

def data():
    i = np.arange(256.0)
    return (np.exp(-0.01 * ((i[:, None] - 100) ** 2 + (i[None, :] - 120) ** 2)),)
def numba(start):
    n = start.shape[0]
    old, now, nxt = start.copy(), start.copy(), np.zeros_like(start)
    for _ in range(50):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                nxt[i, j] = 2 * now[i, j] - old[i, j] + 0.2 * (
                    now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4 * now[i, j])
        old, now, nxt = now, nxt, old
        nxt[0, :] = 0.0
        nxt[n - 1, :] = 0.0
        nxt[:, 0] = 0.0
        nxt[:, n - 1] = 0.0
    return now
def numpy(start):
    old, now = start.copy(), start.copy()
    for _ in range(50):
        nxt = np.zeros_like(now)
        nxt[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - old[1:-1, 1:-1] + 0.2 * (
            now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1])
        old, now = now, nxt
    return now
