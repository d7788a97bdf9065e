# An epidemic: susceptible, infected and recovered, by the classical method of Runge and Kutta.
import numpy as np


def rates(y):
    infections = 0.5 * y[0] * y[1]
    recoveries = 0.1 * y[1]
    return np.array([-infections, infections - recoveries, recoveries])


def step(y):
    h = 0.25
    a = rates(y)
    b = rates(y + h / 2 * a)
    c = rates(y + h / 2 * b)
    d = rates(y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


y = np.array([0.999, 0.001, 0.0])
for day in range(100):
    if day % 20 == 0:
        print(f"day {day:2}: {y[0]:6.4f} {y[1]:6.4f} {y[2]:6.4f}")
    for _ in range(4):
        y = step(y)
