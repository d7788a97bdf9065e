import numpy as np
from numba import njit, prange
from data import codes, numbers

PARALLEL = False
def data():
    return np.log(0.01 + numbers(7919, 32, 32)), np.log(0.01 + numbers(4799, 32, 500)), codes(6007, 1000) % 500
def numba(trans, emit, obs):
    n, m = trans.shape[0], obs.size
    score = emit[:, obs[0]].copy()
    new = np.empty_like(score)
    back = np.zeros((m, n), np.uint8)
    for t in range(1, m):
        for s in range(n):
            best, at = -np.inf, 0
            for p in range(n):
                v = score[p] + trans[p, s]
                if v > best:
                    best, at = v, p
            back[t, s] = at
            new[s] = best + emit[s, obs[t]]
        score[:] = new
    path = np.zeros(m, np.int64)
    s = np.argmax(score)
    for t in range(m - 1, -1, -1):
        path[t] = s
        s = back[t, s]
    return path
def numpy(trans, emit, obs):
    n, m = trans.shape[0], obs.size
    score = emit[:, obs[0]]
    back = np.zeros((m, n), np.int64)
    for t in range(1, m):
        v = score[:, None] + trans
        back[t] = v.argmax(axis=0)
        score = v.max(axis=0) + emit[:, obs[t]]
    path = np.zeros(m, np.int64)
    s = score.argmax()
    for t in range(m - 1, -1, -1):
        path[t] = s
        s = back[t, s]
    return path
