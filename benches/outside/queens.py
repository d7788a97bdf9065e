from numba import njit


@njit
def place(n, columns, left, right):
    full = (1 << n) - 1
    if columns == full:
        return 1
    free = full & ~(columns | left | right)
    count = 0
    while free != 0:
        bit = free & -free
        free -= bit
        count += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def data():
    return (9, 0, 0, 0)


numba = place
