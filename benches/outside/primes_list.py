import numpy as np


def data():
    return (20000,)


def numba(n):
    found = [2]
    found.pop()
    for k in range(2, n + 1):
        is_prime = True
        i = 0
        while is_prime and i < len(found):
            p = found[i]
            if p * p > k:
                break
            if k % p == 0:
                is_prime = False
            i += 1
        if is_prime:
            found.append(k)
    return np.array(found)
