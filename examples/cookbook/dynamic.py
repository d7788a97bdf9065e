# Dynamic programming: the knapsack, and the longest common subsequence of two texts.
import numpy as np


def knapsack(weights, values, room):
    best = np.zeros(1001, int)
    for weight, value in zip(weights, values):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best[room]


def common(a, b):
    row = [""] * (len(b) + 1)
    for c in a:
        following = row[:]
        for j, d in enumerate(b):
            if c == d:
                following[j + 1] = row[j] + c
            elif len(following[j]) > len(row[j + 1]):
                following[j + 1] = following[j]
            else:
                following[j + 1] = row[j + 1]
        row = following
    return row[len(b)]


print(knapsack((12, 7, 11, 8, 9), (24, 13, 23, 15, 16), 26))
print(common("nematode knowledge", "empty bottle"))
