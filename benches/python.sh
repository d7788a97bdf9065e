#!/usr/bin/env bash
# Makes the Python environment of the benchmarks under target/ (NumPy, Numba, JAX from the registry), and
# prints the path of its interpreter: FELIS_BENCH_PYTHON="$(benches/python.sh)" cargo bench --bench kernels
#
# A package that cannot be had is left out, and shown as absent in the table.
set -euo pipefail
cd "$(dirname "$0")/.."

place=target/bench-python
[ -x "$place/bin/python" ] || "${PYTHON:-python3}" -m venv "$place" >&2
for package in numpy numba "jax[cpu]"; do
    "$place/bin/pip" install --quiet --disable-pip-version-check "$package" >&2 ||
        echo "no $package" >&2
done
echo "$PWD/$place/bin/python"
