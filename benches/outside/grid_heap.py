import heapq

import numpy as np

from data import codes


def data():
    return ((codes(7919, 200, 200) % 9 + 1),)


def numba(cost):
    n = cost.shape[0]
    distance = np.full(n * n, 1000000000)
    waiting = [(0, 0)]
    distance[0] = 0
    while len(waiting) > 0:
        d, at = heapq.heappop(waiting)
        if d > distance[at]:
            continue
        i, j = at // n, at % n
        for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            y, x = i + a, j + b
            if 0 <= y < n and 0 <= x < n:
                way = d + cost[y, x]
                if way < distance[y * n + x]:
                    distance[y * n + x] = way
                    heapq.heappush(waiting, (way, y * n + x))
    return distance
