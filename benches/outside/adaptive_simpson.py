import math

from numba import njit


@njit
def wave(x):
    return math.sin(10.0 * x) * math.exp(-x)


@njit
def simpson(a, b):
    return (b - a) / 6.0 * (wave(a) + 4.0 * wave((a + b) / 2.0) + wave(b))


@njit
def adapt(a, b, whole, tolerance):
    m = (a + b) / 2.0
    l, r = simpson(a, m), simpson(m, b)
    if abs(l + r - whole) < 15.0 * tolerance:
        return l + r + (l + r - whole) / 15.0
    return adapt(a, m, l, tolerance / 2.0) + adapt(m, b, r, tolerance / 2.0)


def data():
    return (0.0, 3.0, 1.0, 1e-10)


numba = adapt
