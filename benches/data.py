"""The data of the programs in `outside/`, `grid.py` and `generator.py`: the same numbers as their Felis forms make."""

import numpy as np


def codes(p, *shape):
    """Integers below 10007."""
    i = np.arange(np.prod(shape), dtype=np.int64)
    return (i * (i + p) % 10007).reshape(shape)


def numbers(p, *shape):
    """Reals in [0, 1)."""
    return codes(p, *shape) / 10007.0
