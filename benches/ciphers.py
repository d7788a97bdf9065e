"""Measures phe and TenSEAL for `cipher_figures`: reads names of rows, answers with milliseconds.

Each answer is the time of one call, or of a hundred where the name says so; `-` if the library is
absent.
"""

import sys
import time

FACTOR = 123456789123456789


def paillier(bits):
    import phe

    public, secret = phe.generate_paillier_keypair(n_length=bits)
    a, b = public.encrypt(123456789), public.encrypt(-5)
    numbers = [public.encrypt(i) for i in range(100)]
    return {
        f"paillier {bits} dot product of 100": lambda: sum(
            x * (FACTOR if i % 2 == 0 else -FACTOR) for i, x in enumerate(numbers)
        ),
        f"paillier {bits} encrypt": lambda: public.encrypt(5),
        f"paillier {bits} add, 100 times": lambda: [a + b for _ in range(100)],
        f"paillier {bits} scale": lambda: a * FACTOR,
        f"paillier {bits} scale, negative": lambda: a * -FACTOR,
        f"paillier {bits} decrypt": lambda: secret.decrypt(a),
    }


def seal(degree):
    import tenseal

    # The default moduli of SEAL for this degree: as many bits as those of `fhe`.
    context = tenseal.context(
        tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=degree, plain_modulus=65537, n_threads=1
    )
    values = [(7 * i) % 100 - 50 for i in range(degree)]
    a, b = tenseal.bfv_vector(context, values), tenseal.bfv_vector(context, values)
    return {
        f"bfv {degree} encode and encrypt": lambda: tenseal.bfv_vector(context, values),
        f"bfv {degree} add": lambda: a + b,
        f"bfv {degree} times plain": lambda: a * values,
        f"bfv {degree} multiply": lambda: a * b,
        f"bfv {degree} decrypt": lambda: a.decrypt(),
    }


def rows():
    found = {}
    for make, sizes in ((paillier, (2048, 3072)), (seal, (4096, 8192))):
        try:
            for size in sizes:
                found.update(make(size))
        except ImportError:
            pass
    return found


def main():
    known = rows()
    for line in sys.stdin:
        call = known.get(line.strip())
        if call is None:
            print("-", flush=True)
            continue
        begun = time.perf_counter()
        call()
        print((time.perf_counter() - begun) * 1e3, flush=True)


main()
