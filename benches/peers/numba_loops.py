"""The kernels in Numba: explicit loops, parallel, each compiled when it is first called."""

import numpy as np
from numba import njit, prange

PARALLEL = 50_000
KERNELS = {}


def kernel(work):
    """Both forms of a kernel, chosen by the size of its first argument: small work stays on one thread."""
    shared, alone = njit(parallel=True)(work), njit(work)
    rounds = 2 if work.__name__ in ("mandelbrot", "bodies") else 1
    KERNELS[work.__name__] = lambda *data: (shared if data[0].size ** rounds >= PARALLEL else alone)(*data)
    return work


@kernel
def axpy(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = 2.5 * x[i] + y[i]
    return out


@kernel
def half_norm(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.sqrt(x[i] * x[i] + y[i] * y[i]) / 2.0 + 1.0
    return out


@kernel
def distance(x, y):
    total = 0.0
    for i in prange(x.size):
        total += (x[i] - y[i]) * (x[i] - y[i])
    return total


@kernel
def softplus(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.log(1.0 + np.exp(x[i]))
    return out


@kernel
def stencil(u):
    n, m = u.shape
    out = np.empty_like(u)
    for i in prange(n):
        up, down = (i - 1 if i > 0 else n - 1), (i + 1 if i < n - 1 else 0)
        out[i, 0] = u[i, 0] + 0.2 * (u[up, 0] + u[down, 0] + u[i, m - 1] + u[i, 1] - 4.0 * u[i, 0])
        for j in range(1, m - 1):
            out[i, j] = u[i, j] + 0.2 * (u[up, j] + u[down, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        k = m - 1
        out[i, k] = u[i, k] + 0.2 * (u[up, k] + u[down, k] + u[i, k - 1] + u[i, 0] - 4.0 * u[i, k])
    return out


@kernel
def row_sums(x):
    n, m = x.shape
    out = np.empty(n)
    for i in prange(n):
        total = 0.0
        for j in range(m):
            total += x[i, j]
        out[i] = total
    return out


@kernel
def column_sums(x):
    n, m = x.shape
    parts = np.zeros((8, m))
    for p in prange(8):
        for i in range(p * n // 8, (p + 1) * n // 8):
            for j in range(m):
                parts[p, j] += x[i, j]
    out = np.zeros(m)
    for p in range(8):
        for j in range(m):
            out[j] += parts[p, j]
    return out


@kernel
def prefix_sums(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(x.size):
        total += x[i]
        out[i] = total
    return out


@kernel
def gather(x, at):
    out = np.empty(at.size)
    for i in prange(at.size):
        out[i] = x[at[i]]
    return out


@kernel
def histogram(x):
    parts = np.zeros((8, 1024), np.int64)
    for p in prange(8):
        for i in range(p * x.size // 8, (p + 1) * x.size // 8):
            parts[p, x[i]] += 1
    out = np.zeros(1024, np.int64)
    for p in range(8):
        for k in range(1024):
            out[k] += parts[p, k]
    return out


@kernel
def matmul(a, b):
    return a @ b


@kernel
def mandelbrot(a, b):
    out = np.empty((b.size, a.size), np.int64)
    for j in prange(b.size):
        for i in range(a.size):
            x = y = 0.0
            steps = 200
            for k in range(200):
                x2, y2 = x * x, y * y
                if x2 + y2 > 4.0:
                    steps = k
                    break
                y = 2.0 * x * y + b[j]
                x = x2 - y2 + a[i]
            out[j, i] = steps
    return out


@kernel
def bodies(x, y, z, mass):
    n = x.size
    out = np.empty((n, 3))
    for i in prange(n):
        px = py = pz = 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            force = mass[j] / (r2 * np.sqrt(r2))
            px += force * dx
            py += force * dy
            pz += force * dz
        out[i, 0], out[i, 1], out[i, 2] = px, py, pz
    return out


@kernel
def laplacian(u):
    n, m = u.shape[0] - 2, u.shape[1] - 2
    out = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            out[i, j] = u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - 4.0 * u[i + 1, j + 1]
    return out


@njit(inline="always")
def limited(flux, gradient):
    return 0.0 if flux * gradient > 0.0 else flux


@kernel
def diffusion(u):
    levels, n, m = u.shape[0], u.shape[1] - 4, u.shape[2] - 4
    out = np.empty((levels, n, m))
    for k in prange(levels):
        lap = np.empty((n + 2, m + 2))
        across = np.empty((n + 2, m + 1))
        down = np.empty((n + 1, m + 2))
        v = u[k]
        for i in range(n + 2):
            for j in range(m + 2):
                lap[i, j] = 4.0 * v[i + 1, j + 1] - (v[i, j + 1] + v[i + 2, j + 1] + v[i + 1, j] + v[i + 1, j + 2])
        for i in range(n + 2):
            for j in range(m + 1):
                across[i, j] = limited(lap[i, j + 1] - lap[i, j], v[i + 1, j + 2] - v[i + 1, j + 1])
        for i in range(n + 1):
            for j in range(m + 2):
                down[i, j] = limited(lap[i + 1, j] - lap[i, j], v[i + 2, j + 1] - v[i + 1, j + 1])
        for i in range(n):
            for j in range(m):
                fluxes = across[i + 1, j + 1] - across[i + 1, j] + down[i + 1, j + 1] - down[i, j + 1]
                out[k, i, j] = v[i + 2, j + 2] - 0.025 * fluxes
    return out


@kernel
def vertex_sum(flow, around):
    out = np.empty(around.shape[0])
    for v in prange(around.shape[0]):
        total = 0.0
        for k in range(6):
            total += flow[around[v, k]]
        out[v] = total
    return out


@kernel
def tridiagonal(a, c, d):
    systems, levels = a.shape
    out = np.empty((systems, levels))
    for i in prange(systems):
        factor = np.empty(levels)
        x = out[i]
        factor[0] = c[i, 0] / 3.0
        x[0] = d[i, 0] / 3.0
        for k in range(1, levels):
            pivot = 3.0 - a[i, k] * factor[k - 1]
            factor[k] = c[i, k] / pivot
            x[k] = (d[i, k] - a[i, k] * x[k - 1]) / pivot
        for k in range(levels - 2, -1, -1):
            x[k] -= factor[k] * x[k + 1]
    return out
