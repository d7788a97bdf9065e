"""Makes `fields.npz`: fields, and what NumPy computes of them, by the operations of the library."""
import sys

import numpy as np

SIZES = {"I": 4, "J": 5, "K": 6}
dice = np.random.default_rng(7)
u = dice.standard_normal(tuple(SIZES.values()))
made = {"u": u}


def along(name, of):
    """What a function of a field and a number of its axis gives, for each axis, in both widths."""
    for axis, letter in enumerate(SIZES):
        made[f"{name}_{letter}"] = of(u, axis)
        made[f"{name}_{letter}_f32"] = of(u.astype(np.float32), axis)


def padded(mode, **more):
    """A boundary condition of two elements at each end."""
    return lambda x, axis: np.pad(x, [(2 * (a == axis),) * 2 for a in range(3)], mode, **more)


def part(x, axis, begin, end):
    """The indices of an axis from `begin` until `end`."""
    return np.take(x, range(begin, end), axis)


def laplacian(x, axis):
    """Three points, over a periodic axis."""
    x = padded("wrap")(x, axis)
    n = x.shape[axis]
    return part(x, axis, 1, n - 3) - 2 * part(x, axis, 2, n - 2) + part(x, axis, 3, n - 1)


def means(x, axis):
    """The means of neighbors."""
    n = x.shape[axis]
    return x.dtype.type(0.5) * (part(x, axis, 0, n - 1) + part(x, axis, 1, n))


def half(x, axis):
    """The boundaries between the indices of an axis, and its ends."""
    n = x.shape[axis]
    return np.concatenate([part(x, axis, 0, 1), means(x, axis), part(x, axis, n - 1, n)], axis)


def smoothed(x, axis):
    """A recurrence along the axis."""
    lines, state = np.moveaxis(np.empty_like(x), axis, 0), np.zeros_like(np.take(x, 0, axis))
    for k, line in enumerate(np.moveaxis(x, axis, 0)):
        state = x.dtype.type(0.75) * state + line
        lines[k] = state
    return np.moveaxis(lines, 0, axis)


def implicit(x, axis):
    """The solution of implicit diffusion along the axis, by dense equations."""
    n = x.shape[axis]
    matrix = 2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return np.moveaxis(np.tensordot(np.linalg.inv(matrix), x, (1, axis)), 0, axis)


along("sum", lambda x, axis: x.sum(axis))
along("max", lambda x, axis: x.max(axis))
along("min", lambda x, axis: x.min(axis))
along("scan", lambda x, axis: x.cumsum(axis))
along("scan_back", lambda x, axis: np.flip(np.flip(x, axis).cumsum(axis), axis))
along("flip", np.flip)
along("rotated", lambda x, axis: np.roll(x, -2, axis))
along("clamped", padded("edge"))
along("periodic", padded("wrap"))
along("mirrored", padded("symmetric"))
along("held", padded("constant", constant_values=0.5))
along("half", half)
along("delta", lambda x, axis: np.diff(half(x, axis), axis=axis))
along("mid", lambda x, axis: means(half(x, axis), axis))
along("laplacian", laplacian)
along("smoothed", smoothed)
along("implicit", implicit)
made["taken"] = np.take_along_axis(u, np.argsort(u, 1), 1)
made["turned"] = np.ascontiguousarray(u.transpose(2, 0, 1))
made["beside"] = u * u.sum((0, 2))[:, None]
made["chosen"] = np.where((u.sum((0, 2)) > 0)[:, None], u, -u)

# Horizontal diffusion with limited fluxes over the first two axes, which are periodic.
x = np.pad(u, ((2, 2), (2, 2), (0, 0)), "wrap")
lap = x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1] - 4.0 * x[1:-1, 1:-1]
flux_i = lap[1:, 1:-1] - lap[:-1, 1:-1]
flux_i = np.where(flux_i * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0.0, flux_i)
flux_j = lap[1:-1, 1:] - lap[1:-1, :-1]
flux_j = np.where(flux_j * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0.0, flux_j)
made["diffused"] = u - 0.1 * ((flux_i[1:] - flux_i[:-1]) + (flux_j[:, 1:] - flux_j[:, :-1]))

# A mesh: for each of 12 cells four of the 20 edges of a field, of which some are missing.
table = dice.integers(-1, 20, (12, 4))
edges, weight = dice.standard_normal((20, 3)), dice.standard_normal((12, 4))
near = edges[table]
there = (table >= 0)[:, :, None]
made |= {
    "table": table, "edges": edges, "weight": weight,
    "through": np.where(there[:, 0], near[:, 0], 0.25),
    "sum_through": np.where(there, near, 0.0).sum(1),
    "weighted_through": np.where(there, near * weight[:, :, None], 0.0).sum(1),
    "max_through": np.where(there, near, -np.inf).max(1),
    "min_through": np.where(there, near, np.inf).min(1),
}
np.savez_compressed(sys.argv[1], **made)
