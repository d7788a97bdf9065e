import numpy as np

PARALLEL = False


def data():
    return (10_000_000,)


def numba(n):
    prime = np.ones(n, np.bool_)
    prime[0] = prime[1] = False
    p = 2
    while p * p < n:
        if prime[p]:
            k = p * p
            while k < n:
                prime[k] = False
                k += p
        p += 1
    return prime


def numpy(n):
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    for p in range(2, int(n**0.5) + 1):
        if prime[p]:
            prime[p * p::p] = False
    return prime
