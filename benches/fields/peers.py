"""The kernels of benches/fields in NumPy, Numba or gt4py: one peer.

Takes the name of the peer. Says "ready VERSION", or "absent REASON" and ends. Then answers each line "KERNEL SECONDS"
with a line of JSON: the check of the result, the median and the fastest call in SECONDS, and the first call since the
data were made, compilation included; or {"error": REASON}. The checks are sums that weigh each element by its place.

Layouts are those of the Felis programs: the last axis is contiguous. Numba and gt4py write into memory that they keep;
NumPy makes new arrays, as its expressions do. Tables have 32-bit numbers.
"""

import gc
import json
import os
import subprocess
import sys
import time

# Threads that spin while they wait would take the processor from those whose turn it is.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")

# gt4py looks for cmake beside the interpreter.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")

import numpy as np

N, K, COLUMNS = 256, 64, 256 * 256
VERTICES, EDGES = 333333, 999999

MESH = """
val (points = p, ends = e, vertices = v, edges = s, cells = c) = icosahedral 6;
val beside : ?Cell ^ (?Edge \\* 2) = c;
val borders : Edge ^ (Cell \\* 3) = s;
println [ beside.i :>> int for i in ..[Edge \\* 2] ];
println [ borders.i :>> int for i in ..[Cell \\* 3] ];
"""


def numbers(p, *shape):
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((i * (i + p) % 10007) / 10007.0).reshape(shape)


def table(kernel):
    v, k = np.arange(VERTICES)[:, None], np.arange(6)[None, :]
    around = ((v + k // 3 * (997 * (k - 2))) * 3 + k % 3) % EDGES
    if kernel == "vertex_sum_shuffled":
        e = np.arange(EDGES, dtype=np.int64)
        around = np.argsort(e * (e + 7919) % 1000003, kind="stable")[around]
    if kernel == "vertex_sum_skips":
        around = np.where((7 * v + k) % 12 == 0, -1, around)
    return np.ascontiguousarray(around.astype(np.int32))


def mesh():
    """The tables of the mesh, as Felis numbers it."""
    felis = os.environ.get("FELIS", "target/release/felis")
    text = subprocess.run([felis, "-"], input=MESH, capture_output=True, text=True, check=True).stdout
    beside, borders = (np.fromstring(line.strip("()"), sep=",", dtype=np.int32) for line in text.splitlines())
    return beside.reshape(-1, 2), borders.reshape(-1, 3)


def inputs(kernel):
    if kernel == "laplacian":
        return (numbers(7919, 1026, 1026),)
    if kernel == "diffusion_k_first":
        return (numbers(7919, K, N + 4, N + 4),)
    if kernel == "diffusion_k_last":
        return (numbers(7919, N + 4, N + 4, K),)
    if kernel.startswith("point3"):
        axis = ["first", "middle", "last"].index(kernel[7:])
        return (numbers(7919, *[N + 2 if a == axis else N for a in range(3)]),)
    if kernel.startswith("vertex_sum"):
        return numbers(7919, EDGES), table(kernel)
    if kernel.startswith("tridiagonal"):
        shape = (K, COLUMNS) if kernel.endswith("first") else (COLUMNS, K)
        return numbers(7919, *shape), 3.0 + numbers(3571, *shape), numbers(4799, *shape), numbers(6007, *shape)
    if kernel == "shallow_water":
        beside, borders = mesh()
        cells = np.arange(len(borders))[:, None]
        weight = np.where(beside[borders, 0] == cells, 0.01, -0.01)
        return 1.0 + numbers(7919, len(borders)), numbers(4799, len(beside)) - 0.5, beside, borders, weight
    if kernel.startswith("check"):
        return (table("vertex_sum_skips" if kernel == "check_skips" else "vertex_sum_ordered").astype(np.int64),)
    raise KeyError(kernel)


def shape_of(kernel):
    """The shape of the result."""
    return {
        "laplacian": (1024, 1024), "diffusion_k_first": (K, N, N), "diffusion_k_last": (N, N, K),
        "tridiagonal_k_first": (K, COLUMNS), "tridiagonal_k_last": (COLUMNS, K), "shallow_water": (20 * 4**6,),
    }.get(kernel, (N, N, N) if kernel.startswith("point3") else (VERTICES,))


def numpy_kernels():
    def laplacian(u):
        return u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4.0 * u[1:-1, 1:-1]

    def limited(flux, gradient):
        return np.where(flux * gradient > 0.0, 0.0, flux)

    def diffusion_k_first(u):
        lap = u[:, 1:-1, 2:] + u[:, 1:-1, :-2] + u[:, 2:, 1:-1] + u[:, :-2, 1:-1] - 4.0 * u[:, 1:-1, 1:-1]
        v = u[:, 1:-1, 1:-1]
        down = limited(lap[:, 1:, 1:-1] - lap[:, :-1, 1:-1], v[:, 1:, 1:-1] - v[:, :-1, 1:-1])
        across = limited(lap[:, 1:-1, 1:] - lap[:, 1:-1, :-1], v[:, 1:-1, 1:] - v[:, 1:-1, :-1])
        return v[:, 1:-1, 1:-1] - 0.025 * (down[:, 1:] - down[:, :-1] + (across[:, :, 1:] - across[:, :, :-1]))

    def diffusion_k_last(u):
        lap = u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4.0 * u[1:-1, 1:-1]
        v = u[1:-1, 1:-1]
        down = limited(lap[1:, 1:-1] - lap[:-1, 1:-1], v[1:, 1:-1] - v[:-1, 1:-1])
        across = limited(lap[1:-1, 1:] - lap[1:-1, :-1], v[1:-1, 1:] - v[1:-1, :-1])
        return v[1:-1, 1:-1] - 0.025 * (down[1:] - down[:-1] + (across[:, 1:] - across[:, :-1]))

    def tridiagonal_k_first(a, b, e, f):
        factor, x = np.empty_like(e), np.empty_like(f)
        c, d = 0.0, 0.0
        for k in range(K):
            m = 1.0 / (b[k] - a[k] * c)
            c = factor[k] = e[k] * m
            d = x[k] = (f[k] - a[k] * d) * m
        for k in range(K - 2, -1, -1):
            x[k] -= factor[k] * x[k + 1]
        return x

    def tridiagonal_k_last(a, b, e, f):
        factor, x = np.empty_like(e), np.empty_like(f)
        c, d = 0.0, 0.0
        for k in range(K):
            m = 1.0 / (b[:, k] - a[:, k] * c)
            c = factor[:, k] = e[:, k] * m
            d = x[:, k] = (f[:, k] - a[:, k] * d) * m
        for k in range(K - 2, -1, -1):
            x[:, k] -= factor[:, k] * x[:, k + 1]
        return x

    def shallow_water(height, speed, beside, borders, weight):
        flux = 0.5 * speed * (height[beside[:, 0]] + height[beside[:, 1]])
        return height - (weight * flux[borders]).sum(1)

    def check(raw):
        if ((raw < 0) | (raw >= EDGES)).any():
            raise ValueError("no index")
        return raw.astype(np.int32)

    def check_skips(raw):
        if ((raw < -1) | (raw >= EDGES)).any():
            raise ValueError("no index")
        return raw.astype(np.int32)

    return {
        "laplacian": laplacian,
        "diffusion_k_first": diffusion_k_first,
        "diffusion_k_last": diffusion_k_last,
        "point3_first": lambda u: u[:-2] - 2.0 * u[1:-1] + u[2:],
        "point3_middle": lambda u: u[:, :-2] - 2.0 * u[:, 1:-1] + u[:, 2:],
        "point3_last": lambda u: u[:, :, :-2] - 2.0 * u[:, :, 1:-1] + u[:, :, 2:],
        "vertex_sum_ordered": lambda flow, around: flow[around].sum(1),
        "vertex_sum_shuffled": lambda flow, around: flow[around].sum(1),
        "vertex_sum_skips": lambda flow, around: np.where(around >= 0, flow[around], 0.0).sum(1),
        "tridiagonal_k_first": tridiagonal_k_first,
        "tridiagonal_k_last": tridiagonal_k_last,
        "shallow_water": shallow_water,
        "check_full": check,
        "check_skips": check_skips,
    }


def numba_kernels():
    from numba import njit, prange

    compiled = {}

    def kernel(work):
        compiled[work.__name__] = njit(parallel=True)(work)
        return compiled[work.__name__]

    @njit(inline="always")
    def limited(flux, gradient):
        return 0.0 if flux * gradient > 0.0 else flux

    @kernel
    def laplacian(out, u):
        n, m = out.shape
        for i in prange(n):
            for j in range(m):
                out[i, j] = u[i + 1, j + 2] + u[i + 1, j] + u[i + 2, j + 1] + u[i, j + 1] - 4.0 * u[i + 1, j + 1]

    @kernel
    def diffusion_k_first(out, u):
        levels, n, m = out.shape
        for k in prange(levels):
            v, lap = u[k], np.empty((n + 2, m + 2))
            for i in range(n + 2):
                for j in range(m + 2):
                    lap[i, j] = (
                        v[i + 1, j + 2] + v[i + 1, j] + v[i + 2, j + 1] + v[i, j + 1] - 4.0 * v[i + 1, j + 1]
                    )
            for i in range(n):
                for j in range(m):
                    here, x = lap[i + 1, j + 1], v[i + 2, j + 2]
                    down = limited(lap[i + 2, j + 1] - here, v[i + 3, j + 2] - x)
                    up = limited(here - lap[i, j + 1], x - v[i + 1, j + 2])
                    east = limited(lap[i + 1, j + 2] - here, v[i + 2, j + 3] - x)
                    west = limited(here - lap[i + 1, j], x - v[i + 2, j + 1])
                    out[k, i, j] = x - 0.025 * ((down - up) + (east - west))

    @kernel
    def diffusion_k_last(out, u):
        n, m, levels = out.shape
        lap = np.empty((n + 2, m + 2, levels))
        for i in prange(n + 2):
            for j in range(m + 2):
                for k in range(levels):
                    lap[i, j, k] = (
                        u[i + 1, j + 2, k] + u[i + 1, j, k] + u[i + 2, j + 1, k] + u[i, j + 1, k]
                        - 4.0 * u[i + 1, j + 1, k]
                    )
        for i in prange(n):
            for j in range(m):
                for k in range(levels):
                    here, x = lap[i + 1, j + 1, k], u[i + 2, j + 2, k]
                    down = limited(lap[i + 2, j + 1, k] - here, u[i + 3, j + 2, k] - x)
                    up = limited(here - lap[i, j + 1, k], x - u[i + 1, j + 2, k])
                    east = limited(lap[i + 1, j + 2, k] - here, u[i + 2, j + 3, k] - x)
                    west = limited(here - lap[i + 1, j, k], x - u[i + 2, j + 1, k])
                    out[i, j, k] = x - 0.025 * ((down - up) + (east - west))

    @kernel
    def point3_first(out, u):
        a, b, c = out.shape
        for i in prange(a):
            for j in range(b):
                for k in range(c):
                    out[i, j, k] = u[i, j, k] - 2.0 * u[i + 1, j, k] + u[i + 2, j, k]

    @kernel
    def point3_middle(out, u):
        a, b, c = out.shape
        for i in prange(a):
            for j in range(b):
                for k in range(c):
                    out[i, j, k] = u[i, j, k] - 2.0 * u[i, j + 1, k] + u[i, j + 2, k]

    @kernel
    def point3_last(out, u):
        a, b, c = out.shape
        for i in prange(a):
            for j in range(b):
                for k in range(c):
                    out[i, j, k] = u[i, j, k] - 2.0 * u[i, j, k + 1] + u[i, j, k + 2]

    @kernel
    def vertex_sum(out, flow, around):
        for v in prange(out.size):
            total = 0.0
            for k in range(6):
                total += flow[around[v, k]]
            out[v] = total

    @kernel
    def vertex_sum_skips(out, flow, around):
        for v in prange(out.size):
            total = 0.0
            for k in range(6):
                e = around[v, k]
                if e >= 0:
                    total += flow[e]
            out[v] = total

    @kernel
    def tridiagonal_k_first(out, a, b, e, f):
        # A piece of 512 columns at a time stays in cache, and its innermost loop goes over columns.
        levels, columns = out.shape
        for piece in prange(columns // 512):
            factor, c, d = np.empty((levels, 512)), np.zeros(512), np.zeros(512)
            start = piece * 512
            for k in range(levels):
                for i in range(512):
                    m = 1.0 / (b[k, start + i] - a[k, start + i] * c[i])
                    c[i] = e[k, start + i] * m
                    d[i] = (f[k, start + i] - a[k, start + i] * d[i]) * m
                    factor[k, i] = c[i]
                    out[k, start + i] = d[i]
            for k in range(levels - 2, -1, -1):
                for i in range(512):
                    out[k, start + i] -= factor[k, i] * out[k + 1, start + i]

    @kernel
    def tridiagonal_k_last(out, a, b, e, f):
        columns, levels = out.shape
        for i in prange(columns):
            factor = np.empty(levels)
            c, d = 0.0, 0.0
            for k in range(levels):
                m = 1.0 / (b[i, k] - a[i, k] * c)
                c = e[i, k] * m
                d = (f[i, k] - a[i, k] * d) * m
                factor[k] = c
                out[i, k] = d
            for k in range(levels - 2, -1, -1):
                out[i, k] -= factor[k] * out[i, k + 1]

    @kernel
    def shallow_water(out, height, speed, beside, borders, weight):
        flux = np.empty(speed.size)
        for e in prange(speed.size):
            flux[e] = 0.5 * speed[e] * (height[beside[e, 0]] + height[beside[e, 1]])
        for c in prange(out.size):
            total = 0.0
            for j in range(3):
                total += weight[c, j] * flux[borders[c, j]]
            out[c] = height[c] - total

    @kernel
    def checked(out, raw, least):
        wrong = 0
        for v in prange(raw.shape[0]):
            for k in range(6):
                e = raw[v, k]
                wrong += e < least or e >= EDGES
                out[v, k] = e
        return wrong

    # What a user calls: memory that is kept, one for each kernel.
    kept = {}

    def writing(name, shape=None, dtype=np.float64, work=None, more=()):
        work = work or compiled[name]

        def call(*data):
            if name not in kept:
                kept.clear()
                kept[name] = np.empty(shape or shape_of(name), dtype)
            work(kept[name], *data, *more)
            return kept[name]

        return call

    kernels = {name: writing(name) for name in compiled if name not in ("vertex_sum", "checked")}
    for way in ("ordered", "shuffled"):
        kernels[f"vertex_sum_{way}"] = writing(f"vertex_sum_{way}", work=vertex_sum)
    for name, least in (("check_full", 0), ("check_skips", -1)):
        kernels[name] = writing(name, (VERTICES, 6), np.int32, checked, (least,))
    return kernels


def gt4py_kernels():
    from gt4py_kernels import kernels

    return kernels()


class Peer:
    def __init__(self, name):
        self.name = name
        self.kernels = {"numpy": numpy_kernels, "numba": numba_kernels, "gt4py": gt4py_kernels}[name]()
        self.version = __import__(name).__version__
        self.known = None

    def prepare(self, kernel):
        self.data = self.work = None
        gc.collect()
        data = inputs(kernel)
        make = self.kernels[kernel]
        # A kernel of gt4py lays its data out first, which is no part of the call.
        self.work, self.finish = make.place(data) if hasattr(make, "place") else (lambda: make(*data), lambda out: out)
        begun = time.perf_counter()
        out = self.work()
        self.first = time.perf_counter() - begun
        out = np.asarray(self.finish(out)).ravel()
        self.check = float((out * (np.arange(out.size) % 7 + 1)).sum())
        self.known = kernel

    def answer(self, kernel, seconds):
        if kernel not in self.kernels:
            return {"error": "not written"}
        if self.known != kernel:
            self.prepare(kernel)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 3 or time.perf_counter() < end:
            begun = time.perf_counter()
            out = self.work()
            times.append(time.perf_counter() - begun)
            del out
        times.sort()
        return {"check": self.check, "median": times[len(times) // 2], "fastest": times[0], "first": self.first,
                "calls": len(times)}


def main():
    try:
        peer = Peer(sys.argv[1])
    except ImportError as error:
        print("absent", str(error).splitlines()[0], flush=True)
        return
    print("ready", peer.version, flush=True)
    for line in sys.stdin:
        kernel, seconds = line.split()
        try:
            answer = peer.answer(kernel, float(seconds))
        except Exception as error:  # A kernel that a peer cannot do is shown as such; the others go on.
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
