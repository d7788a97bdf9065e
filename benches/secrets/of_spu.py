"""Times operations of SPU (pip install spu==0.9.5), all parties in this process, as `of_felis.py` times those of Felis.

An operation is repeated on operands that differ, and the results are added: the time is that of the repetitions after the
first, so that sharing, revealing and compiling do not count. The bytes are those that SPU's own log counts, where it does.
"""

import functools
import resource
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import spu
import spu.utils.simulation as simulation

REPEATED = 4
rng = np.random.default_rng(1)


def seconds():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([time.time(), use.ru_utime + use.ru_stime])


def rows():
    n, m = 10**6, 10**5
    a, b = rng.integers(-1000, 1000, n), rng.integers(-1000, 1000, n)
    x, y = rng.uniform(-7, 7, n), rng.uniform(-7, 7, n)
    p, q = rng.integers(-1000, 1000, (256, 256)), rng.integers(-1000, 1000, (256, 256))
    yield "int mul 1e6", lambda k, s, t: (s + k) * t, (a, b), lambda k, s, t: (s + k) * t
    yield "fixed mul 1e6", lambda k, s, t: (s + k * 0.25) * t, (x, y), lambda k, s, t: (s + k * 0.25) * t
    yield "int less 1e5", lambda k, s, t: (s + k < t).astype(int), (a[:m], b[:m]), lambda k, s, t: s + k < t
    yield "fixed less 1e5", lambda k, s, t: (s + k < t).astype(int), (x[:m], y[:m]), lambda k, s, t: s + k < t
    yield "matmul 256", lambda k, s, t: jnp.matmul(s + k, t), (p, q), lambda k, s, t: (s + k) @ t
    yield "sigmoid 1e5", lambda k, s: jax.nn.sigmoid(s + k * 0.25), (x[:m],), lambda k, s: 1 / (1 + np.exp(-s - k * 0.25))
    yield "fixed sort 1000", lambda k, s: jnp.sort(s + k), (x[:1000],), lambda k, s: np.sort(s + k)
    yield "int sort 1000", lambda k, s: jnp.sort(s + k), (a[:1000],), lambda k, s: np.sort(s + k)


def main():
    wanted = sys.argv[1:]
    for name, operation, data, plain in rows():
        if wanted and not any(word in name for word in wanted):
            continue
        for protocol, parties in ((spu.ProtocolKind.SEMI2K, 2), (spu.ProtocolKind.ABY3, 3)):
            config = spu.RuntimeConfig(protocol=protocol, field=spu.FieldType.FM64, fxp_fraction_bits=18)
            simulator = simulation.Simulator(parties, config)

            def repeated(count, *operands):
                return functools.reduce(lambda s, t: s + t, [operation(k, *operands) for k in range(count)])

            def run(count):
                return simulation.sim_jax(simulator, functools.partial(repeated, count))

            found, (once, many) = [], (run(1), run(REPEATED))
            for _ in range(3):
                begun = seconds()
                result = once(*data)
                between = seconds()
                many(*data)
                found.append(((seconds() - between) - (between - begun)) / (REPEATED - 1))
            wall, processor = np.median(np.array(found), axis=0) * 1e3
            error = np.abs(np.asarray(result, dtype=float) - plain(0, *data)).max()
            label = "SEMI2K" if parties == 2 else "ABY3"
            print(f"{name:16} {label:7} wall {wall:8.1f} ms  cpu {processor:8.1f} ms  error {error:.2g}", flush=True)


main()
