"""The kernels in gt4py: grids in `gt4py.cartesian`, meshes in `gt4py.next`.

`BACKENDS` names the backends for each layout; a kernel is placed in each of them and the fastest one is measured.
"""

import os
import time

os.environ.setdefault("GT_CACHE_ROOT", os.path.abspath("target/gt4py"))
os.environ.setdefault("GT4PY_BUILD_CACHE_DIR", os.path.abspath("target/gt4py"))
os.environ.setdefault("GT4PY_BUILD_CACHE_LIFETIME", "persistent")
os.environ.setdefault("GT4PY_EXTRA_COMPILE_ARGS", "-std=c++20 -march=native")
os.environ.setdefault("CXXFLAGS", "-O3 -march=native")

import numpy as np
import gt4py.storage as storage
from gt4py.cartesian import gtscript
from gt4py.cartesian.gtscript import BACKWARD, FORWARD, PARALLEL, Field, computation, interval

# Where the levels are the first axis, the last one is the axis I; where they are the last, it is K.
BACKENDS = {"first": ["gt:cpu_ifirst", "dace:cpu"], "last": ["gt:cpu_kfirst"]}

F = Field[np.float64]


def laplacian(u: F, out: F):
    with computation(PARALLEL), interval(...):
        out = u[1, 0, 0] + u[-1, 0, 0] + u[0, 1, 0] + u[0, -1, 0] - 4.0 * u


def diffusion(u: F, out: F):
    with computation(PARALLEL), interval(...):
        lap = u[1, 0, 0] + u[-1, 0, 0] + u[0, 1, 0] + u[0, -1, 0] - 4.0 * u
        flux_i = lap[1, 0, 0] - lap
        flux_i = 0.0 if flux_i * (u[1, 0, 0] - u) > 0.0 else flux_i
        flux_j = lap[0, 1, 0] - lap
        flux_j = 0.0 if flux_j * (u[0, 1, 0] - u) > 0.0 else flux_j
        out = u - 0.025 * ((flux_i - flux_i[-1, 0, 0]) + (flux_j - flux_j[0, -1, 0]))


def point3_i(u: F, out: F):
    with computation(PARALLEL), interval(...):
        out = u[-1, 0, 0] - 2.0 * u + u[1, 0, 0]


def point3_j(u: F, out: F):
    with computation(PARALLEL), interval(...):
        out = u[0, -1, 0] - 2.0 * u + u[0, 1, 0]


def point3_k(u: F, out: F):
    with computation(PARALLEL), interval(...):
        out = u[0, 0, -1] - 2.0 * u + u[0, 0, 1]


def tridiagonal(a: F, b: F, e: F, f: F, out: F):
    with computation(FORWARD):
        with interval(0, 1):
            m = 1.0 / b
            c = e * m
            d = f * m
        with interval(1, None):
            m = 1.0 / (b - a * c[0, 0, -1])
            c = e * m
            d = (f - a * d[0, 0, -1]) * m
    with computation(BACKWARD):
        with interval(-1, None):
            out = d
        with interval(0, -1):
            out = d - c * out[0, 0, 1]


class Cartesian:
    """A stencil; `axes` are the axes of the arrays, outermost first, and `halo` the sizes of the halo along I, J, K."""

    def __init__(self, function, axes, halo, shape, last=False):
        self.function, self.axes, self.halo, self.shape = function, axes, halo, shape
        self.backends = BACKENDS["last" if last else "first"]

    def order(self, array):
        """An array with the axes I, J, K."""
        if array.ndim == 2:
            array = array[None]
        return np.moveaxis(array, [self.axes.index(axis) for axis in "IJK"], [0, 1, 2])

    def place(self, data):
        shape = self.shape
        if self.function is tridiagonal:
            # The columns are a plane of 256 by 256.
            shape = (64, 256, 256) if self.axes == "KJI" else (256, 256, 64)
            data = [v.reshape(shape) for v in data]
        domain = self.order(np.empty(shape)).shape
        best = None
        errors = []
        for backend in self.backends:
            try:
                options = dict(backend=backend, dtype=np.float64, aligned_index=self.halo)
                fields = [storage.from_array(np.ascontiguousarray(self.order(v)), **options) for v in data]
                fields.append(storage.zeros(domain, backend=backend, dtype=np.float64, aligned_index=(0, 0, 0)))
                names = self.function.__code__.co_varnames[: len(fields)]
                origin = {name: self.halo for name in names}
                origin["out"] = (0, 0, 0)
                stencil = gtscript.stencil(backend=backend, definition=self.function)

                def work(stencil=stencil, fields=fields, origin=origin):
                    stencil(*fields, origin=origin, domain=domain, validate_args=False)
                    return fields[-1]

                work()
                times = []
                for _ in range(3):
                    begun = time.perf_counter()
                    work()
                    times.append(time.perf_counter() - begun)
                if best is None or min(times) < best[0]:
                    best = min(times), work
            except Exception as error:
                errors.append(f"{backend}: {error}")
        if best is None:
            raise RuntimeError("; ".join(errors))

        def finish(out):
            return np.ascontiguousarray(np.asarray(out).transpose(["IJK".index(axis) for axis in self.axes]))

        return best[1], finish


class Mesh:
    """A kernel over the tables of a mesh."""

    def __init__(self, make):
        self.make = make

    def place(self, data):
        return self.make(*data)


def mesh_kernels():
    import gt4py.next as gtx
    from gt4py.next import neighbor_sum, where

    Vertex, Edge, Cell = gtx.Dimension("Vertex"), gtx.Dimension("Edge"), gtx.Dimension("Cell")
    V2EDim, E2CDim, C2EDim = (gtx.Dimension(n, kind=gtx.DimensionKind.LOCAL) for n in ("V2E", "E2C", "C2E"))
    V2E = gtx.FieldOffset("V2E", source=Edge, target=(Vertex, V2EDim))
    E2C = gtx.FieldOffset("E2C", source=Cell, target=(Edge, E2CDim))
    C2E = gtx.FieldOffset("C2E", source=Edge, target=(Cell, C2EDim))
    backend = gtx.gtfn_cpu
    EdgeField, VertexField = gtx.Field[[Edge], gtx.float64], gtx.Field[[Vertex], gtx.float64]
    CellField, CellSides = gtx.Field[[Cell], gtx.float64], gtx.Field[[Cell, C2EDim], gtx.float64]

    @gtx.field_operator
    def summed(flow: EdgeField) -> VertexField:
        return neighbor_sum(flow(V2E), axis=V2EDim)

    @gtx.program(backend=backend)
    def vertex_sum(flow: EdgeField, out: VertexField):
        summed(flow, out=out)

    @gtx.field_operator
    def flux_of(height: CellField, speed: EdgeField) -> EdgeField:
        return 0.5 * speed * neighbor_sum(height(E2C), axis=E2CDim)

    @gtx.field_operator
    def divergence(height: CellField, flux: EdgeField, weight: CellSides) -> CellField:
        return height - neighbor_sum(weight * flux(C2E), axis=C2EDim)

    @gtx.program(backend=backend)
    def stepped(height: CellField, speed: EdgeField, weight: CellSides, flux: EdgeField, out: CellField):
        flux_of(height, speed, out=flux)
        divergence(height, flux, weight, out=out)

    def field(dims, array):
        return gtx.as_field(dims, array, allocator=backend)

    def connectivity(domain, codomain, table, skip=None):
        return gtx.as_connectivity(domain, codomain, np.ascontiguousarray(table), skip_value=skip, allocator=backend)

    def sums(flow, around):
        skip = -1 if (around < 0).any() else None
        flow_field = field([Edge], flow)
        out = field([Vertex], np.zeros(len(around)))
        offsets = {"V2E": connectivity([Vertex, V2EDim], Edge, around, skip)}

        def work():
            vertex_sum(flow_field, out, offset_provider=offsets)
            return out

        work()
        return work, lambda out: out.asnumpy()

    def water(height, speed, beside, borders, weight):
        h, u = field([Cell], height), field([Edge], speed)
        w = field([Cell, C2EDim], weight)
        flux, out = field([Edge], np.zeros(len(beside))), field([Cell], np.zeros(len(borders)))
        offsets = {"E2C": connectivity([Edge, E2CDim], Cell, beside), "C2E": connectivity([Cell, C2EDim], Edge, borders)}

        def work():
            stepped(h, u, w, flux, out, offset_provider=offsets)
            return out

        work()
        return work, lambda out: out.asnumpy()

    return {
        "vertex_sum_ordered": Mesh(sums), "vertex_sum_shuffled": Mesh(sums), "vertex_sum_skips": Mesh(sums),
        "shallow_water": Mesh(water),
    }


def kernels():
    cube = (256, 256, 256)
    made = {
        "laplacian": Cartesian(laplacian, "KJI", (1, 1, 0), (1, 1024, 1024)),
        "diffusion_k_first": Cartesian(diffusion, "KJI", (2, 2, 0), (64, 256, 256)),
        "diffusion_k_last": Cartesian(diffusion, "IJK", (2, 2, 0), (256, 256, 64), last=True),
        "point3_first": Cartesian(point3_k, "KJI", (0, 0, 1), cube),
        "point3_middle": Cartesian(point3_j, "KJI", (0, 1, 0), cube),
        "point3_last": Cartesian(point3_i, "KJI", (1, 0, 0), cube),
        "tridiagonal_k_first": Cartesian(tridiagonal, "KJI", (0, 0, 0), (64, 256, 256)),
        "tridiagonal_k_last": Cartesian(tridiagonal, "IJK", (0, 0, 0), (256, 256, 64), last=True),
    }
    try:
        made.update(mesh_kernels())
    except Exception as error:
        print(f"gt4py.next: {error}", file=__import__("sys").stderr)
    return made
