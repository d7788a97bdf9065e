# The price of a call option: by the formula of Black and Scholes, and by a binomial tree.
from math import erfc, exp, log, sqrt

import numpy as np


def normal_cdf(x):
    return 0.5 * erfc(-x / sqrt(2.0))


def black_scholes(s, k, r, v, t):
    d = (log(s / k) + (r + v * v / 2.0) * t) / (v * sqrt(t))
    return s * normal_cdf(d) - k * exp(-r * t) * normal_cdf(d - v * sqrt(t))


def binomial(s, k, r, v, t, steps):
    dt = t / steps
    up = exp(v * sqrt(dt))
    p = (exp(r * dt) - 1.0 / up) / (up - 1.0 / up)
    value = np.maximum(s * up ** (2.0 * np.arange(steps + 1) - steps) - k, 0.0)
    for _ in range(steps):
        value = exp(-r * dt) * (p * value[1:] + (1.0 - p) * value[:-1])
    return value[0]


print(f"{black_scholes(100.0, 105.0, 0.03, 0.2, 1.0):8.4f}")
print(f"{binomial(100.0, 105.0, 0.03, 0.2, 1.0, 500):8.4f}")
