# A small neural network that learns the exclusive or: two layers, by gradient descent.
import numpy as np

x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
wanted = np.array([0.0, 1.0, 1.0, 0.0])


def sigmoid(v):
    return 1.0 / (1.0 + np.exp(-v))


random = np.random.default_rng(1)
w1 = random.standard_normal((2, 8))
b1 = np.zeros(8)
w2 = random.standard_normal(8)
b2 = 0.0
for _ in range(2000):
    hidden = np.tanh(x @ w1 + b1)
    out = sigmoid(hidden @ w2 + b2)
    error = out - wanted
    back = np.outer(error, w2) * (1.0 - hidden**2)
    w2 = w2 - 0.5 * hidden.T @ error
    b2 = b2 - 0.5 * error.sum()
    w1 = w1 - 0.5 * x.T @ back
    b1 = b1 - 0.5 * back.sum(axis=0)
hidden = np.tanh(x @ w1 + b1)
print("(" + ", ".join(str(v > 0.5).lower() for v in sigmoid(hidden @ w2 + b2)) + ")")
