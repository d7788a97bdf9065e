"""The kernels in NumPy, Numba or JAX: one peer of the benchmark.

Takes the name of the peer as its argument. Says "ready VERSION", or "absent REASON" and ends. Then answers each line
"KERNEL SIZE ROUNDS" with "CHECK SECONDS", the seconds of one round, or with "none REASON". Data are made when kernel
or size change, and the first answer follows a round that nobody times, so what a compiler does is not in it.

Never measures on its own account: who asks decides when, so that peers take turns.
"""

import gc
import importlib
import os
import sys
import time

# Threads that spin while they wait would take the processor from those whose turn it is.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

LEVELS = 64


def inputs(np, kernel, n):
    """The data of the programs in benches/kernels, in the layout that suits arrays in Python."""

    def numbers(count, p):
        i = np.arange(count, dtype=np.int64)
        return (i * (i + p) % 10007) / 10007.0

    def scattered(count):
        return np.arange(count, dtype=np.int64) * 2654435761 % 4294967296

    if kernel in ("axpy", "half_norm", "distance"):
        return numbers(n, 7919), numbers(n, 4799)
    if kernel in ("softplus", "prefix_sums"):
        return (numbers(n, 7919),)
    if kernel in ("stencil", "row_sums", "column_sums"):
        return (numbers(n * n, 7919).reshape(n, n),)
    if kernel == "gather":
        return numbers(n, 7919), scattered(n) % n
    if kernel == "histogram":
        return (scattered(n) // 64 % 1024,)
    if kernel == "matmul":
        return numbers(n * n, 7919).reshape(n, n), numbers(n * n, 4799).reshape(n, n)
    if kernel == "mandelbrot":
        step = 1.0 / n
        return 3.0 * step * np.arange(n) - 2.2, 3.0 * step * np.arange(n) - 1.5
    if kernel == "bodies":
        return numbers(n, 7919), numbers(n, 4799), numbers(n, 6007), numbers(n, 3571)
    if kernel == "laplacian":
        return (numbers((n + 2) ** 2, 7919).reshape(n + 2, n + 2),)
    if kernel == "diffusion":
        return (numbers(LEVELS * (n + 4) ** 2, 7919).reshape(LEVELS, n + 4, n + 4),)
    if kernel == "vertex_sum":
        v, k = np.arange(n)[:, None], np.arange(6)[None, :]
        around = ((v + k // 3 * (997 * (k - 2))) * 3 + k % 3) % (3 * n)
        return numbers(3 * n, 7919), around
    if kernel == "tridiagonal":
        # Levels first: what array code wants. Numba has a system in a row, as the others.
        return tuple(numbers(n * n * LEVELS, p).reshape(n * n, LEVELS) for p in (7919, 4799, 6007))
    raise KeyError(kernel)


def array_kernels(np, jax=None):
    """Whole-array programs, for NumPy and for JAX."""

    def softplus(x):
        return np.log(1.0 + np.exp(x))

    def stencil(u):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        return u + 0.2 * (around - 4.0 * u)

    def laplacian(u):
        return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]

    def limited(flux, gradient):
        return np.where(flux * gradient > 0.0, 0.0, flux)

    def diffusion(u):
        lap = 4.0 * u[:, 1:-1, 1:-1] - (u[:, :-2, 1:-1] + u[:, 2:, 1:-1] + u[:, 1:-1, :-2] + u[:, 1:-1, 2:])
        v = u[:, 1:-1, 1:-1]
        across = limited(lap[:, 1:-1, 1:] - lap[:, 1:-1, :-1], v[:, 1:-1, 1:] - v[:, 1:-1, :-1])
        down = limited(lap[:, 1:, 1:-1] - lap[:, :-1, 1:-1], v[:, 1:, 1:-1] - v[:, :-1, 1:-1])
        return v[:, 1:-1, 1:-1] - 0.025 * (across[:, :, 1:] - across[:, :, :-1] + down[:, 1:] - down[:, :-1])

    def bodies(x, y, z, mass):
        dx, dy, dz = x - x[:, None], y - y[:, None], z - z[:, None]
        r2 = dx * dx + dy * dy + dz * dz + 0.01
        force = mass / (r2 * np.sqrt(r2))
        return np.stack([(force * d).sum(1) for d in (dx, dy, dz)], 1)

    def mandelbrot(a, b):
        a, b = a[None, :] + 0.0 * b[:, None], b[:, None] + 0.0 * a[None, :]
        if jax is None:
            out = np.full(a.shape, 200)
            at, a, b = np.arange(a.size), a.ravel(), b.ravel()
            x, y = np.zeros_like(a), np.zeros_like(a)
            for k in range(200):
                x2, y2 = x * x, y * y
                gone = x2 + y2 > 4.0
                out.ravel()[at[gone]] = k
                stay = ~gone
                at, a, b, x, y, x2, y2 = (v[stay] for v in (at, a, b, x, y, x2, y2))
                x, y = x2 - y2 + a, 2.0 * x * y + b
            return out

        def step(k, state):
            x, y, out = state
            x2, y2 = x * x, y * y
            out = np.where((x2 + y2 > 4.0) & (out == 200), k, out)
            return x2 - y2 + a, 2.0 * x * y + b, out

        start = np.zeros_like(a), np.zeros_like(a), np.full(a.shape, 200)
        return jax.lax.fori_loop(0, 200, step, start)[2]

    def tridiagonal(a, c, d):
        if jax is None:
            factor, x = np.empty_like(c), np.empty_like(d)
            factor[0], x[0] = c[0] / 3.0, d[0] / 3.0
            for k in range(1, LEVELS):
                pivot = 3.0 - a[k] * factor[k - 1]
                factor[k] = c[k] / pivot
                x[k] = (d[k] - a[k] * x[k - 1]) / pivot
            for k in range(LEVELS - 2, -1, -1):
                x[k] -= factor[k] * x[k + 1]
            return x

        def forward(before, row):
            factor, x = before
            a, c, d = row
            pivot = 3.0 - a * factor
            new = c / pivot, (d - a * x) / pivot
            return new, new

        def back(after, row):
            factor, x = row
            new = x - factor * after
            return new, new

        zero = np.zeros_like(c[0])
        _, rows = jax.lax.scan(forward, (zero, zero), (a, c, d))
        return jax.lax.scan(back, zero, rows, reverse=True)[1]

    return {
        "axpy": lambda x, y: 2.5 * x + y,
        "half_norm": lambda x, y: np.sqrt(x * x + y * y) / 2.0 + 1.0,
        "distance": lambda x, y: ((x - y) ** 2).sum(),
        "softplus": softplus,
        "stencil": stencil,
        "row_sums": lambda x: x.sum(1),
        "column_sums": lambda x: x.sum(0),
        "prefix_sums": lambda x: np.cumsum(x),
        "gather": lambda x, at: x[at],
        "histogram": lambda x: np.bincount(x, minlength=1024) if jax is None else np.bincount(x, length=1024),
        "matmul": lambda a, b: a @ b,
        "mandelbrot": mandelbrot,
        "bodies": bodies,
        "laplacian": laplacian,
        "diffusion": diffusion,
        "vertex_sum": lambda flow, around: flow[around].sum(1),
        "tridiagonal": tridiagonal,
    }


class Peer:
    """A library, its kernels, and the data of the kernel that was last asked for."""

    def __init__(self, name):
        self.np = importlib.import_module("numpy")
        self.finish = lambda out: out
        self.name = name
        if name == "numpy":
            self.version, self.kernels = self.np.__version__, array_kernels(self.np)
        elif name == "numba":
            self.version = importlib.import_module("numba").__version__
            self.kernels = importlib.import_module("numba_loops").KERNELS
        else:
            jax = importlib.import_module("jax")
            jax.config.update("jax_enable_x64", True)
            kernels = array_kernels(importlib.import_module("jax.numpy"), jax)
            self.version, self.kernels = jax.__version__, {k: jax.jit(f) for k, f in kernels.items()}
            self.finish = lambda out: out.block_until_ready()
        self.known, self.data, self.checked = None, None, None

    def prepare(self, kernel, n):
        self.data = None
        gc.collect()
        data = inputs(self.np, kernel, n)
        if kernel == "tridiagonal" and self.name != "numba":
            data = tuple(self.np.ascontiguousarray(v.T) for v in data)
        if self.name == "jax":
            data = tuple(importlib.import_module("jax.numpy").asarray(v) for v in data)
        self.data = data
        out = self.np.asarray(self.finish(self.kernels[kernel](*data)))
        if kernel == "tridiagonal" and self.name != "numba":
            out = out.T
        out = out.ravel()
        weights = self.np.arange(out.size) % 7 + 1 if out.size > 1 else 1
        self.checked = float((out * weights).sum())
        self.known = kernel, n

    def answer(self, kernel, n, rounds):
        if kernel not in self.kernels:
            return "none not written"
        if self.known != (kernel, n):
            self.prepare(kernel, n)
        work, data, finish = self.kernels[kernel], self.data, self.finish
        begun = time.perf_counter()
        for _ in range(rounds):
            out = finish(work(*data))
        seconds = (time.perf_counter() - begun) / rounds
        del out
        return f"{self.checked!r} {seconds!r}"


def main():
    try:
        peer = Peer(sys.argv[1])
    except ImportError as error:
        print("absent", str(error).splitlines()[0], flush=True)
        return
    print("ready", peer.version, flush=True)
    for line in sys.stdin:
        kernel, n, rounds = line.split()
        try:
            print(peer.answer(kernel, int(n), int(rounds)), flush=True)
        except Exception as error:  # A kernel that a peer cannot do is shown as such; the others go on.
            print("none", f"{type(error).__name__}: {error}".splitlines()[0], flush=True)


main()
