"""What ``course bench spmv`` measures beside products: Jacobi's method, swaps, and matrices in two precisions.

Everything also runs in the interpreter, so that tests need no GPU. CuPy's steps are measured if CuPy is installed.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.sparse import csr_array, diags_array

from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.permutation.reference import random_permutation, reverse_cuthill_mckee
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.jacobi import plain_system, row_permuted_system, symmetric_system
from course_pkg.spmv.jacobi_cost import scattered_sectors
from course_pkg.spmv.splitting import SPLITS
from course_pkg.spmv.swap import stepping_matrix, vectors_for
from course_pkg.spmv.tuning import lanes_for
from course_pkg.spmv.variants import VARIANTS

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
MATRICES = {  # by device: names and sizes
    "cpu": (("poisson_3d", 100), ("tetrahedral", 100)),
    "gpu": (("poisson_3d", 128), ("tetrahedral", 128)),  # permuting larger ones would take minutes
}
# from matrices that are read faster than a launch starts, to matrices that fit in no cache
SPLIT = (("poisson_3d", 16), ("poisson_3d", 32), ("poisson_3d", 64), *MATRICES["gpu"])
QUICK = (("poisson_3d", 6), ("tetrahedral", 5))
ORDERS = {"random": lambda A: random_permutation(A.shape[0]), "rcm": reverse_cuthill_mckee}
TOLERANCE = 2.0**-26  # of a row's largest value: with it, six of Poisson's seven entries in a row are float32
ROUNDED = 1e-12  # of the largest result: another order of summation changes less than this


def run(device: str, *, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements on ``"cpu"`` or ``"gpu"``; with ``quick``, of small matrices."""
    options = {"samples": 3 if quick else 20}
    matrices, split = (QUICK, QUICK) if quick else (MATRICES[device], SPLIT)
    if device == "cpu":
        with progress(len(matrices)) as step:
            for name, size in matrices:
                step(f"Jacobi, {name}")
                yield from jacobi_steps(name, problem(name, size).matrix, (CPU,), options)
        return
    options["hold"] = gpu().kind == "gpu"
    with progress(len(matrices) + len(split)) as step:
        for name, size in matrices:
            step(f"Jacobi and swaps, {name}")
            A = problem(name, size).matrix
            yield from jacobi_steps(name, A, (CUDA, CUPY) if _has_cupy() else (CUDA,), options)
            yield from swaps(name, A, options)
        for name, size in split:
            step(f"two precisions, {name} {size}")
            yield from splittings(f"{name}_scaled", scaled(problem(name, size).matrix), options)


def jacobi_steps(name: str, A, libraries, options) -> Iterator[Measurement]:
    """Yield a step of each form; the permuted forms with a random order and with that of Cuthill and McKee."""
    b, x = np.random.default_rng(0).uniform(-1, 1, (2, A.shape[0]))
    plain = plain_system(A, b)
    expected = (b - (A @ x - plain.d * x)) / plain.d
    for system, parameters in _systems(plain, A):
        variant = VARIANTS[f"jacobi_{system.form}"]
        for library in libraries:
            yield _jacobi(variant, library, system, x, expected, {"matrix": name, **parameters}, options)


def _systems(plain, A):
    yield plain, {}
    for order, permutation in ORDERS.items():
        perm = permutation(A)  # once for all libraries: this and permuting A take seconds
        yield row_permuted_system(plain, perm), {"order": order}
        yield symmetric_system(plain, perm), {"order": order}


def _jacobi(variant, library, system, x, expected, parameters, options) -> Measurement:
    put, get, there = _memory(library, system)
    start, out = put(system.taken(x)), put(np.full_like(x, np.nan))

    def check():
        _require_close(system.given(get(out)), expected, f"{variant.function_name} of {parameters}")

    def observe():
        return {} if system.rows is None else {"scattered_sectors": scattered_sectors(system.rows, lanes=1)}

    its_cost = variant.cost_by(library)(system.n, system.E.nonzeros)
    return measure(
        variant.function(library),
        there,
        start,
        out,
        cost=its_cost,
        check=check,
        name=variant.by(library),
        parameters={**parameters, "n": system.n, "nonzeros": system.E.nonzeros, "dtype": "float64"},
        footprint=its_cost.bytes,
        observe=observe,
        **options,
    )


def swaps(name: str, A, options) -> Iterator[Measurement]:
    """Yield an iteration in each of the four ways, with the same matrix in float32."""
    M = stepping_matrix(A)
    x = np.random.default_rng(0).uniform(-1, 1, A.shape[0])
    double = csr_array((M.data.astype(np.float64), M.indices, M.indptr), shape=M.shape)
    expected, there = double @ x.astype(np.float32).astype(np.float64), M.to_device()
    for variant in VARIANTS.of("swap", CUDA):
        yield _swap(variant, name, M, there, x, expected, options)


def _swap(variant, name, M, there, x, expected, options) -> Measurement:
    held = {"vectors": vectors_for(variant.name, x).to_device()}
    iterate = variant.function(CUDA)

    def step(values):  # its argument is in GPU memory, so the timer knows where the work is done
        held["vectors"] = iterate(there, held["vectors"])

    its_cost = variant.cost(M.shape[0], M.nonzeros, dtype="float32")
    return measure(
        step,
        there.data,
        cost=its_cost,
        check=lambda: _require_close(held["vectors"].x64.copy_to_host(), expected, variant.function_name),
        name=variant.by(CUDA),
        parameters={"matrix": name, "n": M.shape[0], "nonzeros": M.nonzeros, "dtype": "float32"},
        footprint=its_cost.bytes,
        **options,
    )


def scaled(A, seed: int = 0) -> csr_array:
    """Return ``S A S`` with a diagonal S between 0.9 and 1.1: values that float32 does not hold exactly.

    Examples
    --------
    >>> found = scaled(csr_array(np.eye(2)))
    >>> bool((found.data != found.data.astype(np.float32)).all())
    True
    """
    S = diags_array(np.random.default_rng(seed).uniform(0.9, 1.1, A.shape[0]))
    found = csr_array(S @ A @ S)
    found.sort_indices()
    return found


def splittings(name: str, A, options) -> Iterator[Measurement]:
    """Yield the product with a matrix in float64, then with matrices in two precisions, all with equally many lanes."""
    from course_pkg import cuda

    x = np.random.default_rng(0).uniform(-1, 1, A.shape[1])
    there, expected = cuda.to_device(x), A @ x
    whole = Csr.from_scipy(A)
    parameters = {"matrix": name, "n": A.shape[0], "nonzeros": whole.nonzeros, "dtype": "float64"}
    lanes = lanes_for(whole)
    common = partial(_product, there, expected, {**parameters, "lanes": lanes}, options)
    double = VARIANTS["spmv_csr_vector"]
    yield common(double, whole, double.cost(**whole.sizes(), dtype="float64"), lanes, bound=0.0)
    variants = VARIANTS.of("splitting", CUDA)
    for split in dict.fromkeys(SPLITS[variant.name] for variant in variants):
        M = split(A, TOLERANCE)
        for variant in variants:
            if SPLITS[variant.name] is split:
                its_cost = variant.cost(*M.shape, M.nonzeros, low=M.low.nonzeros)
                seen = {"low_share": round(M.low_share, 4)}
                yield common(variant, M, its_cost, lanes, bound=M.error_bound(x), seen=seen, tol=TOLERANCE)


def _product(x, expected, parameters, options, variant, M, its_cost, lanes, *, bound, seen=None, **more):
    from course_pkg import cuda

    y, seen = cuda.to_device(np.full(M.shape[0], np.nan)), dict(seen or {})

    def check():
        error = np.abs(y.copy_to_host() - expected).max()
        seen["error"] = float(error)
        if not error <= bound + ROUNDED * np.abs(expected).max():
            raise AssertionError(
                f"{variant.function_name} is wrong by {error}, more than {bound} and rounding"
            )

    return measure(
        partial(variant.function(CUDA), lanes=lanes),
        M.to_device(),
        x,
        y,
        cost=its_cost,
        check=check,
        name=variant.by(CUDA),
        parameters={**parameters, **more},
        footprint=its_cost.bytes,
        observe=lambda: seen,
        **options,
    )


def _require_close(found, expected, what) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDED * np.abs(expected).max(), err_msg=what)


def _memory(library, system):
    """Return functions that copy a vector to a library's memory and back, and the system in that memory."""
    if library == CPU:
        return np.copy, np.copy, system
    if library == CUPY:
        from course_pkg.spmv.gpu_cupy import cp, jacobi_system

        return cp.asarray, cp.asnumpy, jacobi_system(system)
    from course_pkg import cuda

    return cuda.to_device, lambda array: array.copy_to_host(), system.to_device()


def _has_cupy() -> bool:
    if gpu().kind != "gpu":
        return False
    try:
        from course_pkg.spmv import gpu_cupy  # noqa: F401
    except ImportError as error:
        print(f"Not measured: steps by {CUPY} ({error}).")
        return False
    return True
