import numpy as np

from data import numbers

PARALLEL = False


def data():
    n = 65536
    turns = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return numbers(7919, n) + 1j * numbers(4799, n), turns


def numba(x, turns):
    n = x.size
    z = np.empty_like(x)
    bits = 0
    while 1 << bits < n:
        bits += 1
    for i in range(n):
        k, out = i, 0
        for _ in range(bits):
            out = 2 * out + k % 2
            k //= 2
        z[i] = x[out]
    width = 1
    while width < n:
        for block in range(0, n, 2 * width):
            for k in range(width):
                u, v = z[block + k], z[block + k + width] * turns[k * (n // 2 // width)]
                z[block + k] = u + v
                z[block + k + width] = u - v
        width *= 2
    return z.view(np.float64)


def numpy(x, turns):
    return np.fft.fft(x).view(np.float64)
