#!/usr/bin/env python3
"""Compares the library with SciPy, NumPy, pandas and mpmath on data of a fresh seed.

    python live.py FELIS [--seed=N] [--points=2000] [--only=special,fourier,linear,statistics,tables]

Each part draws data, runs a program beside this file on them, and compares what it writes. Prints the seed and a line for
each comparison, what is wrong behind `WRONG`; ends with exit code 1 if something is.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import mpmath
import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats

HERE = pathlib.Path(__file__).parent
EPS = 2.0**-52
failed = 0


def say(name, size, bound):
    """Prints a comparison: the largest difference in units of the bound."""
    global failed
    holds = size <= bound
    failed += not holds
    print(f"{name}: {size:.3g} of {bound:.3g}{'' if holds else ' WRONG'}")


def felis(program, folder):
    """Runs a program in a folder."""
    run = subprocess.run([FELIS, str(program)], cwd=folder, capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit(f"{program}:\n{run.stdout[-2000:]}{run.stderr[-4000:]}")
    return run.stdout


def computed(program, **data):
    """What a program writes to `out.npz` for the arrays of `in.npz`."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/in.npz", **data)
        felis(HERE / program, folder)
        return dict(np.load(f"{folder}/out.npz"))


# Special functions -------------------------------------------------------------------------------------------------

def spread(n, low, high):
    """Numbers whose logarithms are spread evenly, of both signs."""
    size = 10.0 ** rng.uniform(low, high, n)
    return np.where(rng.random(n) < 0.5, -size, size)


def special(points):
    """Errors in units of the last place, at random points and at the edges."""
    mpmath.mp.prec = 160
    third = points // 3
    edges = np.array([0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.0, -1.0, np.nextafter(1, 0), np.nextafter(1, 2),
                      0.5, -0.5, 2.0, 1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf, np.nan])

    def near(x, width):
        return x + spread(third, -14, np.log10(width))

    draws = {
        "erf": [rng.uniform(-6, 6, third), spread(third, -300, 1), near(0.0, 1.0)],
        "erfc": [rng.uniform(-6, 27, third), spread(third, -300, 1), near(0.5, 1.0)],
        "gamma": [rng.uniform(-20, 171, third), spread(third, -300, 2.2), near(-rng.integers(0, 20, third), 0.3)],
        "lgamma": [rng.uniform(-20, 171, third), spread(third, -300, 300), near(rng.integers(-15, 4, third), 0.3)],
        "log10": [abs(spread(third, -307, 308)), abs(near(1.0, 0.3)), 10.0 ** rng.integers(-300, 300, third)],
        "log2": [abs(spread(third, -307, 308)), abs(near(1.0, 0.3)), 2.0 ** rng.integers(-1000, 1000, third)],
        "log1p": [abs(spread(third, -307, 308)), spread(third, -20, -0.01), near(-1.0, 0.3)],
        "expm1": [rng.uniform(-50, 709, third), spread(third, -300, 1), near(0.0, 1.0)],
        "sinh": [rng.uniform(-710, 710, third), spread(third, -300, 1), near(0.0, 1.0)],
        "cosh": [rng.uniform(-710, 710, third), spread(third, -300, 1), near(0.0, 1.0)],
        "cbrt": [spread(third, -323, 308), spread(third, -5, 5), rng.integers(-10**6, 10**6, third) ** 3.0],
        "hypot": [spread(third, -320, 307), spread(third, -2, 2), rng.integers(-10**6, 10**6, third) * 1.0],
    }
    args = {name: np.concatenate([*(np.asarray(d, float) for d in drawn), edges]) for name, drawn in draws.items()}
    n = len(args["hypot"])
    # Of the second number: as large, much smaller, or an edge.
    beside = args["hypot"] * (rng.uniform(-1, 1, n) * 10.0 ** rng.choice([0, 0, -5, -9], n))
    beside[-len(edges):] = rng.permutation(edges)
    with np.errstate(all="ignore"):
        values = computed("special.flx", **args, hypot_y=beside)
    bounds = {"erf": 1, "erfc": 2.5, "gamma": 4, "lgamma": 4, "log10": 1, "log2": 1, "log1p": 1, "expm1": 1, "sinh": 2,
              "cosh": 2, "cbrt": 0.5001, "hypot": 1}
    # Where a value is far beyond or below all numbers, mpmath would take long.
    huge, tiny = mpmath.mpf(2) ** 5000, mpmath.mpf(2) ** -5000
    exact = {
        "erf": mpmath.erf,
        "erfc": lambda x: 1 - mpmath.erf(x) if abs(x) < 0.5 else mpmath.erfc(x) if -30 < x < 60 else 2 - tiny if x < 0 else tiny,
        "gamma": lambda x: huge if x > 200 else tiny if x < -200 else mpmath.gamma(x),
        "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 300 else mpmath.loggamma(x).real,
        "log10": lambda x: mpmath.log(x) / mpmath.log(10), "log2": lambda x: mpmath.log(x) / mpmath.log(2),
        "log1p": mpmath.log1p, "expm1": lambda x: huge if x > 2000 else mpmath.expm1(max(x, -2000)),
        "sinh": lambda x: mpmath.sinh(min(max(x, -2000), 2000)), "cosh": lambda x: mpmath.cosh(min(abs(x), 2000)),
        "cbrt": lambda x: mpmath.cbrt(x) if x >= 0 else -mpmath.cbrt(-x),
    }
    # At what is not finite, and beyond: the rules of C.
    of_c = {"erf": scipy.special.erf, "erfc": scipy.special.erfc, "log10": np.log10, "log2": np.log2, "log1p": np.log1p,
            "expm1": np.expm1, "sinh": np.sinh, "cosh": np.cosh, "cbrt": np.cbrt, "hypot": np.hypot}
    for name, bound in bounds.items():
        worst, at = 0.0, None
        for k, (x, got) in enumerate(zip(args[name], values[name])):
            x, got = float(x), float(got)
            y = float(beside[k])
            if name in ("gamma", "lgamma") and (not np.isfinite(x) or x <= 0 and x == np.floor(x)):
                # Poles: infinity, or NaN where the sides differ in sign.
                wrong = np.isfinite(got) if not (name == "gamma" and x == -np.inf) else not np.isnan(got)
                off = np.inf if wrong else 0.0
            elif name == "hypot" and not (np.isfinite(x) and np.isfinite(y)) or not np.isfinite(x):
                with np.errstate(all="ignore"):
                    wanted = of_c[name](x, y) if name == "hypot" else of_c[name](x)
                off = 0.0 if got == wanted or np.isnan(got) and np.isnan(wanted) else np.inf
            elif name in ("log10", "log2") and x <= 0 or name == "log1p" and x <= -1:
                zero = x == (-1 if name == "log1p" else 0)
                off = 0.0 if got == -np.inf and zero or np.isnan(got) and not zero else np.inf
            else:
                wanted = (mpmath.sqrt(mpmath.mpf(x) ** 2 + mpmath.mpf(y) ** 2) if name == "hypot"
                          else exact[name](mpmath.mpf(x)))
                rounded = float(wanted)
                if np.isinf(rounded) or np.isinf(got):
                    # Over the largest number by less than the bound may be either.
                    off = 0.0 if rounded == got or abs(wanted) < 1.7976931348623157e308 * (1 + 4 * EPS) > abs(wanted) else np.inf
                else:
                    ulp = float(np.spacing(abs(rounded)))
                    error = abs(float(mpmath.mpf(got) - wanted))
                    off = error / ulp
                    # Near its zeros, lgamma has an absolute bound.
                    if name == "lgamma" and error <= 4 * EPS:
                        off = 0.0
                    if rounded == 0 and x == 0 and np.signbit(rounded) != np.signbit(got) and np.signbit(x) != np.signbit(got):
                        off = np.inf
            if off > worst:
                worst, at = off, x
        say(f"{name} at {len(args[name])} points, ulp, worst at {at!r}", worst, bound)


# Fourier transforms ------------------------------------------------------------------------------------------------

def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def fourier(points):
    """Lengths to 1024, all for 1e5 points, and primes to 1e5, against transforms of numbers of 64 bits of precision."""
    if np.finfo(np.longdouble).nmant < 63:
        print("Fourier transforms: skipped, there is no longer float")
        return
    primes = [p for p in rng.permutation(np.arange(1025, 100_000)) if is_prime(int(p))][: 4 + points // 4000] + [99991]
    more = list(rng.integers(1025, 100_000, 2 + points // 4000)) + [2**16, 2**17, 3**9, 5**6, 7**5, 31**3]
    short = range(1, 1025) if points >= 100_000 else sorted(rng.choice(np.arange(1, 1025), 30, replace=False))
    lengths = np.array([*short, *primes, *more])
    n = lengths.sum()
    signal = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    out = computed("fourier.flx", lengths=lengths, signal=signal)
    got = out["re"].astype(np.longdouble) + 1j * out["im"].astype(np.longdouble)
    worst = (0.0, 0)
    first = 0
    for length in lengths:
        part = slice(first, first + length)
        wanted = scipy.fft.fft(signal[part].astype(np.clongdouble))
        error = np.linalg.norm((got[part] - wanted).astype(complex)) / np.linalg.norm(wanted.astype(complex))
        worst = max(worst, (float(error) / (4 * EPS * np.log2(max(length, 2))), int(length)))
        first += length
    say(f"fft of {len(lengths)} lengths, relative error in units of 4 eps log2 n, worst at {worst[1]}", worst[0], 1)


# Linear algebra ----------------------------------------------------------------------------------------------------

def matrices():
    """Names, matrices and what is asked of them."""
    def normal(n, m):
        return rng.standard_normal((n, m))

    i, j = np.indices((12, 12))
    yield "hilbert regular definite", 1.0 / (i + j + 1.0)
    i, j = np.indices((10, 10))
    yield "vandermonde regular", (i + 1.0 + 0.1 * rng.random((10, 1))) ** j
    i, j = np.indices((11, 11))
    yield "graded_rows regular", 10.0 ** (i * 30.0 - 150.0) * normal(11, 11)
    yield "graded_columns regular", 10.0 ** (j * 30.0 - 150.0) * normal(11, 11)
    yield "graded_both regular", 10.0 ** ((i + j) * 15.0 - 150.0) * normal(11, 11)
    yield "low_rank", normal(15, 3) @ normal(3, 15)
    q = np.linalg.qr(normal(12, 12))[0]
    yield "repeated regular definite", q @ np.diag([3.0] * 6 + [1.0] * 5 + [2.0]) @ q.T
    yield "defective regular", np.linalg.solve(normal(8, 8), np.eye(8)) @ (2.0 * np.eye(8) + np.eye(8, k=1)) @ normal(8, 8)
    yield "jordan regular", 2.0 * np.eye(12) + np.eye(12, k=1)
    i, j = np.indices((20, 20))
    c = 0.43588989435406733 + 0.01 * rng.random()
    yield "kahan regular", (1 - c * c) ** (0.5 * i) * np.where(i == j, 1.0, np.where(i < j, -c, 0.0))
    yield "zero", np.zeros((6, 6))
    yield "one regular", normal(1, 1)
    yield "subnormal", normal(7, 7) * 1e-310
    yield "huge", normal(9, 9) * 1e300
    yield "orthogonal regular", np.linalg.qr(normal(24, 24))[0]
    for n in (2, 3, 17, 64, 65, 100, 150):
        yield f"random_{n} regular", normal(n, n)
    for n in (5, 70, 130):
        a = normal(n, n)
        yield f"positive_{n} regular definite", a @ a.T + np.eye(n)
    for n, m in ((1, 5), (5, 1), (30, 7), (7, 30), (140, 90), (90, 140), (200, 66)):
        yield f"shape_{n}_{m}", normal(n, m)


def norm(x):
    """The Euclidean norm of an array of a longer float."""
    most = np.max(np.abs(x), initial=0)
    return np.longdouble(0) if most == 0 else most * np.sqrt(np.sum(np.abs(x / most) ** 2))


class Worst:
    """The largest errors by name, in units of their bounds."""

    def __init__(self):
        self.found = {}

    def add(self, name, error, bound, where):
        # What is below the normal numbers has no relative precision.
        unit = float((error - 1e-318) / bound) if bound > 0 else (0.0 if error <= 1e-318 else np.inf)
        self.found[name] = max(self.found.get(name, (0.0, "")), (unit if unit == unit else np.inf, where))


def linear(_):
    """Residuals within 10 n eps, and LAPACK's values within as much, or by condition numbers."""
    worst = Worst()
    cases = list(matrices())
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for name, a in cases:
            np.save(f"{folder}/{name.split()[0]}.npy", np.ascontiguousarray(a))
            np.save(f"{folder}/{name.split()[0]}.b.npy", rng.standard_normal(len(a)))
        pathlib.Path(f"{folder}/names.txt").write_text("".join(name + "\n" for name, _ in cases))
        felis(HERE / "linear.flx", folder)
        for words, a in cases:
            compare_matrix(worst, words, a, folder)
    for name, (unit, where) in worst.found.items():
        say(f"linear algebra: {name}, worst of {where}", unit, 1)


def compare_matrix(worst, words, a, folder):
    """Compares all that has been computed of one matrix."""
    name = words.split()[0]
    long = a.astype(np.longdouble)
    n, m = a.shape
    unit = 10 * max(n, m) * EPS
    size = norm(long)
    b = np.load(f"{folder}/{name}.b.npy").astype(np.longdouble)

    def load(kind):
        return {key: x.astype(np.longdouble) for key, x in np.load(f"{folder}/{name}.{kind}.npz").items()}

    def small(of, error, bound):
        worst.add(of, error, bound, name)

    def orthonormal(of, q):
        small(of, norm(q.T @ q - np.eye(q.shape[1])), unit)

    # LAPACK does not scale what is near the ends of the exponents.
    scale = float(np.abs(a).max()) or 1.0
    scaled = a / scale
    s = load("svd")
    small("svd", norm(s["u"] * s["s"] @ s["vt"] - long), unit * size)
    orthonormal("svd, u", s["u"])
    orthonormal("svd, vt", s["vt"].T)
    small("singular values", np.max(np.abs(s["s"] / scale - scipy.linalg.svdvals(scaled))), unit * norm(scaled))
    values = s["s"]
    rank = int(s["rank"][0])
    small("rank", abs(rank - np.linalg.matrix_rank(scaled)), 0.5)
    if rank > 0 and scale > 1e-300:
        x = s["x"]
        r = long @ x - b
        small("lstsq, gradient", norm(long.T @ r), unit * size * (size * norm(x) + norm(b)))
        # The perturbation theory of least squares (P. Wedin, 1973).
        kappa = values[0] / values[rank - 1]
        wanted = scipy.linalg.lstsq(scaled, b.astype(float), lapack_driver="gelsd")[0] / scale
        bound = 2 * unit * kappa * (norm(x) + (kappa + 1) * norm(r) / values[0] + norm(b) / values[0])
        if kappa * unit < 1:
            small("lstsq", norm(x - wanted), bound)
        small("lstsq, residual", abs(norm(r) - s["residual"][0]), unit * (size * norm(x) + norm(b)))
        if kappa < 1e12:
            p = s["pinv"]
            small("pinv", norm(long @ p @ long - long), unit * kappa * size)
    if n >= m:
        f = load("qr")
        small("qr", norm(f["q"] @ f["r"] - long), unit * size)
        orthonormal("qr, q", f["q"])
        small("qr, below the diagonal", norm(np.tril(f["r"], -1)), 0)
    if n != m:
        return
    f = load("square")
    lower, upper = np.tril(f["factors"], -1) + np.eye(n), np.triu(f["factors"])
    order = f["order"].astype(int)
    # Elimination multiplies by at most a small power of n in practice.
    small("lu", norm(lower @ upper - long[order]), unit * max(size, norm(upper)))
    small("lu, factors", np.max(np.abs(lower)), 1)
    half = np.tril(long) + np.tril(long, -1).T
    half_size = norm(half)
    small("eigh", norm(half @ f["vectors"] - f["vectors"] * f["values"]), unit * half_size)
    orthonormal("eigh, vectors", f["vectors"])
    wanted = np.linalg.eigvalsh((half / scale).astype(float))
    small("eigenvalues of eigh", np.max(np.abs(f["values"] / scale - wanted)), unit * half_size / scale)
    w, v = f["re"] + 1j * f["im"], f["vectors_re"] + 1j * f["vectors_im"]
    small("eig", np.max([norm(long @ v[:, k] - w[k] * v[:, k]) for k in range(n)]), unit * size)
    small("eig, lengths", np.max([abs(norm(v[:, k]) - 1) for k in range(n)]), unit)
    small("eig, trace", abs(np.sum(w) - np.trace(long)), unit * size)
    # Each eigenvalue of LAPACK's by its condition number, where it has one that says something.
    theirs, left, right = scipy.linalg.eig(scaled, left=True)
    cond = 1 / np.maximum(np.abs(np.sum(left.conj() * right, axis=0)), 1e-300)
    for k in range(n):
        if cond[k] < 1e8:
            near = np.min(np.abs(w / scale - theirs[k]))
            small("eigenvalues by condition", near, 2 * unit * cond[k] * norm(scaled))
    if "regular" in words:
        g = load("regular")
        x = g["x"]
        small("solve", norm(long @ x - b), unit * (max(size, norm(upper)) * norm(x) + norm(b)))
        kappa = values[0] / values[-1] if values[-1] > 0 else np.inf
        if kappa < 1e12:
            small("inv", norm(long @ g["inverse"] - np.eye(n)), unit * kappa)
            sign, logarithm = np.linalg.slogdet(a)
            det = f["det"][0]
            small("det", abs(det / (sign * np.exp(np.longdouble(logarithm))) - 1), 2 * unit * kappa)
    if "definite" in words:
        g = load("definite")
        lower = np.tril(g["l"])
        small("cholesky", norm(lower @ lower.T - long), unit * size)
        small("cholesky_solve", norm(long @ g["x"] - b), unit * (size * norm(g["x"]) + norm(b)))


# Statistics and numerical methods -----------------------------------------------------------------------------------

def statistics(_):
    """Those of NumPy and SciPy."""
    n, others = int(rng.integers(3, 60)), int(rng.integers(3, 60))
    x, y, z, weights = rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal(others) * 2, rng.random(n)
    table = rng.standard_normal((int(rng.integers(3, 30)), int(rng.integers(1, 6))))
    at = np.cumsum(0.1 + rng.random(int(rng.integers(6, 30))))
    values = rng.standard_normal(len(at))
    places = rng.uniform(at[0] - 1, at[-1] + 1, 40)
    inside = np.clip(places, at[0], at[-1])
    q, edges = rng.random(9), np.sort(rng.standard_normal(7))
    coefficients = rng.standard_normal(8)
    square = rng.standard_normal((6, 6)) * 10.0 ** rng.uniform(-2, 1)
    got = computed("statistics.flx", x=x, y=y, z=z, weights=weights, q=q, table=table, edges=edges, at=at, values=values,
                   places=inside, coefficients=coefficients, square=square)
    s = scipy.stats
    close = {
        "quantile": np.quantile(x, q), "cov": np.cov(table, rowvar=False, ddof=0).reshape(table.shape[1], -1),
        "cov_1": np.cov(table, rowvar=False).reshape(table.shape[1], -1),
        "corr": np.corrcoef(table, rowvar=False).reshape(table.shape[1], -1), "pair": [np.corrcoef(x, y)[0, 1]],
        "mean": [x.mean(), x.var(), x.var(ddof=1), x.std(ddof=1), np.median(x)], "weighted": [np.average(x, weights=weights)],
        "zscore": s.zscore(x), "zscore_1": s.zscore(x, ddof=1), "softmax": scipy.special.softmax(x),
        "logsumexp": [scipy.special.logsumexp(x)], "interp": np.interp(inside, at, values),
        "spline": scipy.interpolate.CubicSpline(at, values, bc_type="natural")(inside), "trapz": [scipy.integrate.trapezoid(values, at)],
        "gradient": np.gradient(values, 0.25), "polyfit": np.polynomial.polynomial.polyfit(at, values, 3),
        "diff": np.diff(x), "cumprod": np.cumprod(y), "convolve": np.convolve(x, z), "correlate": np.correlate(z, values, "full"),
        "rfft": np.fft.rfft(x).imag, "again": x, "fftfreq": np.fft.fftfreq(9, 0.5), "rfftfreq": np.fft.rfftfreq(10, 0.5),
        "expm": scipy.linalg.expm(square), "ttest_1samp": list(s.ttest_1samp(x, 0.1)), "ttest_rel": list(s.ttest_rel(x, y)),
        "ttest_ind": [*s.ttest_ind(x, z), n + others - 2],
        "welch": [*s.ttest_ind(x, z, equal_var=False), s.ttest_ind(x, z, equal_var=False).df],
        "normal_cdf": s.norm.cdf(x), "t_cdf": s.t.cdf(x, 4.5), "chi2_cdf": s.chi2.cdf(abs(x) * 5, 3),
    }
    for name, wanted in close.items():
        wanted = np.asarray(wanted, float)
        if got[name].shape != wanted.shape:
            say(f"{name}: shape {got[name].shape} for {wanted.shape}", 1, 0)
            continue
        size = max(np.max(np.abs(wanted), initial=0), 1e-300)
        say(f"{name}", np.max(np.abs(got[name] - wanted), initial=0) / size, 1e-12)
    equal = {
        "rank": s.rankdata(x), "rounded": s.rankdata(np.sign(x) * np.floor(abs(x) + 0.5)),
        "histogram": np.histogram(x, 17, (-2, 2))[0], "digitize": np.digitize(x, edges), "cummax": np.maximum.accumulate(x),
    }
    for name, wanted in equal.items():
        say(f"{name}", float(not np.array_equal(got[name], wanted)), 0)
    ours = np.sort_complex(got["roots_re"] + 1j * got["roots_im"])
    residuals = np.abs(np.polynomial.polynomial.polyval(ours, coefficients))
    sizes = np.polynomial.polynomial.polyval(np.abs(ours), np.abs(coefficients))
    say("roots", np.max(residuals / sizes), 1e-13)
    say("roots, number", abs(len(ours) - len(coefficients) + 1), 0)


# Tables ------------------------------------------------------------------------------------------------------------

def tables(_):
    """The program that make_table.py writes for another seed."""
    made = subprocess.run([sys.executable, str(HERE.parent / "make_table.py"), str(seed)], capture_output=True, text=True)
    if made.returncode:
        sys.exit(made.stderr)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "table.flx"
        program.write_text(made.stdout)
        printed = felis(program, folder).splitlines()
    wrong = [line for line in printed if not line.endswith(" true")]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    say(f"tables, {len(printed)} comparisons", len(wrong), 0)


PARTS = {"special": special, "fourier": fourier, "linear": linear, "statistics": statistics, "tables": tables}


def main():
    """Runs the parts; returns the exit code."""
    global FELIS, rng, seed
    given = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--"))
    (path,) = (word for word in sys.argv[1:] if not word.startswith("--"))
    FELIS = str(pathlib.Path(path).resolve())
    seed = int(given.get("seed", time.time_ns() % 2**32))
    print(f"seed {seed}")
    for name in given.get("only", ",".join(PARTS)).split(","):
        rng = np.random.default_rng([seed, list(PARTS).index(name)])
        begun = time.perf_counter()
        PARTS[name](int(given.get("points", 2000)))
        print(f"{name} took {time.perf_counter() - begun:.1f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
