from numba import njit


@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def data():
    return (27,)


numba = fib
