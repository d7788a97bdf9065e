import numpy as np
from numba import prange

from data import numbers


def data():
    return numbers(7919, 100000, 8), numbers(4799, 16, 8)


def numba(points, centers):
    n, d = points.shape
    k = centers.shape[0]
    nearest = np.empty(n, np.int64)
    for i in prange(n):
        best, at = np.inf, 0
        for c in range(k):
            far = 0.0
            for j in range(d):
                far += (points[i, j] - centers[c, j]) * (points[i, j] - centers[c, j])
            if far < best:
                best, at = far, c
        nearest[i] = at
    total, many = np.zeros((k, d)), np.zeros(k)
    for i in range(n):
        for j in range(d):
            total[nearest[i], j] += points[i, j]
        many[nearest[i]] += 1.0
    for c in range(k):
        for j in range(d):
            total[c, j] = total[c, j] / many[c] if many[c] > 0.0 else centers[c, j]
    return total


def numpy(points, centers):
    nearest = ((points[:, None, :] - centers) ** 2).sum(2).argmin(1)
    many = np.bincount(nearest, minlength=16)[:, None]
    total = np.stack([np.bincount(nearest, points[:, j], 16) for j in range(8)], 1)
    return np.where(many > 0, total / np.maximum(many, 1), centers)
