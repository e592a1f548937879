"""Launches that are counted are those that are timed: same kernel, grid, block and arguments as the launchers' own.

Launchers are called with arrays of full size, of which nothing is touched; their first launch is caught.
"""

from functools import partial

import numpy as np
import pytest

from course_pkg.core import Library
from course_pkg.device.case import Sliced, Unwritten
from course_pkg.permutation import gpu_numba as permutation
from course_pkg.permutation import traffic as permutation_traffic
from course_pkg.qp import gpu_numba as qp
from course_pkg.qp import suite as qp_suite
from course_pkg.qp import suite_solves as qp_solves
from course_pkg.qp import traffic as qp_traffic
from course_pkg.simt.memory.device_array import DeviceArray
from course_pkg.simt.run.kernel import Launch
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.suite_settings import BLOCKS, BLOCKS_PER_SM, REGISTERS
from course_pkg.stencil.suite_tiles import TILES_2D, TILES_3D
from course_pkg.stencil.variants import VARIANTS as STENCILS
from course_pkg.vector import gpu_numba as vector
from course_pkg.vector import suite as vector_suite
from course_pkg.witness.cases import large_cases

N, SIDE, EDGE, PLATE = 1 << 27, 16384, 512, 16384


def array(*shape, dtype="float64"):
    """Return an array on the device that takes no memory until it is touched."""
    return DeviceArray(np.empty(shape, dtype))


def of_vectors():
    """Yield the name of each case of vectors, and the call that is timed."""
    for name, inputs in (("copy", 1), ("copy_two", 1), ("scale", 1), ("add", 2), ("triad", 2), ("dot", 2)):
        scalar = (3.0,) if name in ("scale", "triad") else ()
        out = (array(1), array(1024)) if name == "dot" else (array(N),)
        yield (
            f"vector_{name}_large",
            getattr(vector, name),
            (*[array(SIDE**2 if name == "dot" else N)] * inputs, *scalar, *out),
        )
    for degree in vector_suite.DEGREES_GPU:
        yield f"vector_horner_{degree}_large", vector.horner, (array(N), degree, array(N))
    for stride in vector_suite.STRIDES:
        n = 1 << 24
        yield (
            f"vector_copy_strided_{stride}_large",
            vector.copy_strided,
            (array(n * stride), stride, array(n)),
        )
    for how in ("tree", "shuffle", "grid_stride"):
        args = array(SIDE**2), array(1), vector.partial_sums(SIDE**2)
        yield f"vector_reduce_sum_{how}_large", getattr(vector, f"reduce_sum_{how}"), args
    for name in ("cumsum_columns", "cumsum_rows_serial", "cumsum_rows_chunked", "transpose_naive"):
        yield f"vector_{name}_large", getattr(vector, name), (array(SIDE, SIDE), array(SIDE, SIDE))
    for padding in (0, 1):
        args = array(SIDE, SIDE), array(SIDE, SIDE), padding
        yield f"vector_transpose_tiled_{padding}_large", vector.transpose_tiled, args


def of_stencils():
    """Yield the name of each case of a Laplacian, and the call that is timed."""
    grids = array(*[EDGE] * 3), array(*[EDGE] * 3)
    names = [v.function_name for op in ("laplacian", "centre") for v in STENCILS.of(op, Library.NUMBA_CUDA)]
    for name in names:
        if "strided" not in name:
            yield f"{name}_{EDGE}", getattr(stencil, name), grids
    for name in ("flat", "tiled", "marching", "vectorised"):
        large = array(*[1024] * 3), array(*[1024] * 3)
        yield f"laplacian_{name}_1024", getattr(stencil, f"laplacian_{name}"), large
    for name, blocks in (("flat", {*BLOCKS, *TILES_3D}), ("tiled", TILES_3D)):
        for block in blocks:
            if block != (32, 4, 2):
                case = f"laplacian_{name}_{EDGE}_{'x'.join(map(str, block))}"
                yield case, partial(getattr(stencil, f"laplacian_{name}"), threads_per_block=block), grids
    for name, usual in (("marching", "free"), ("vectorised", 32)):
        launch = getattr(stencil, f"launch_{name}")
        for most in REGISTERS:
            if most != usual:
                case = f"laplacian_{name}_{EDGE}_registers_{most}"
                yield case, partial(launch, large_cases()[case].kernel), grids
        single = array(*[EDGE] * 3, dtype="float32"), array(*[EDGE] * 3, dtype="float32")
        yield f"laplacian_{name}_{EDGE}_float32", getattr(stencil, f"laplacian_{name}"), single
    for name in ("centre_strided", "centre_strided_pairs"):
        for blocks in (1, 8, 32):
            assert blocks in BLOCKS_PER_SM
            yield f"{name}_{EDGE}_{blocks}", partial(getattr(stencil, name), blocks=132 * blocks), grids


def of_steps():
    """Yield the name of each case of a diffusion step, and the call that is timed."""
    for ndim, edge in ((2, PLATE), (3, EDGE)):
        T, Cp, out = (array(*[edge] * ndim) for _ in range(3))
        args = T, Cp, 0.1, 1.0, 1.0, out
        for variant in STENCILS.of(f"diffusion_step_{ndim}d", Library.NUMBA_CUDA):
            if variant.name != "four_statements":
                yield f"{variant.function_name}_{edge}", getattr(stencil, variant.function_name), args
        for variant in ("diffusion_step_2d", "diffusion_step_2d_tiled") if ndim == 2 else ():
            for block in TILES_2D:
                if block != (32, 8):
                    launch = partial(getattr(stencil, variant), threads_per_block=block)
                    yield f"{variant}_{edge}_{'x'.join(map(str, block))}", launch, args
    work = array(PLATE, PLATE - 1), array(PLATE - 1, PLATE), array(PLATE, PLATE)
    T, Cp, out = (array(PLATE, PLATE) for _ in range(3))
    for place, name in enumerate(("flux_x", "flux_y", "divergence", "update")):
        args = T, Cp, 0.1, 1.0, 1.0, out, work
        yield f"{name}_{PLATE}", stencil.diffusion_step_2d_four_statements, args, place


def of_permutations():
    """Yield the name of each gather and scatter, and the call that is timed."""
    for order in permutation_traffic.ORDERS:
        for name in ("permute", "unpermute"):
            args = array(N, dtype="int32"), array(N), array(N)
            yield f"{name}_vector_{order}_large", getattr(permutation, f"{name}_vector"), args


def of_updates():
    """Yield the name of each update of a quadratic program, and the call that is timed."""
    n = qp_suite.SIZES["gpu"]
    args = array(n, n), *(array(n) for _ in range(5))
    for name in ("naive", "columns", "staged", "rows", "skip"):
        yield f"qp_update_{name}_{n}", getattr(qp, f"update_{name}"), args
    for rows, unroll in qp_solves.SETTINGS:
        if (rows, unroll) != (qp.ROWS, qp.UNROLL):
            yield (
                f"qp_update_rows_{rows}_{unroll}_{n}",
                partial(qp.update_rows, rows=rows, unroll=unroll),
                args,
            )
    lists = array(n, dtype="uint32"), array(1, dtype="uint32")
    yield f"qp_update_compacted_{n}", partial(qp.update_compacted, active=lists[0], count=lists[1]), args, 1
    product = args[0], args[3], array(2, n)
    yield f"qp_split_product_{n}", qp.split_product, product
    by_list = partial(qp.split_product_listed, active=lists[0], count=lists[1])
    yield f"qp_split_product_listed_{n}", by_list, product, 1
    size = qp_traffic.PACKED
    room = qp.Packed(array(size, size), *(array(size) for _ in range(5)), *lists)
    yield f"qp_pack_{n}", qp.pack, (*args[:3], room)
    yield f"qp_update_packed_{n}", partial(qp.update_packed, packed=room), args, 1


TIMED = {
    name: (call, args, *place)
    for name, call, args, *place in (
        *of_vectors(),
        *of_stencils(),
        *of_steps(),
        *of_permutations(),
        *of_updates(),
    )
}
# others are made of sizes that test_spmv_traffic.py compares with the record, or are parts of a solver's iteration
OTHERS = ("spmv_", "cg_", "sstep_", "qp_update_batch_", "qp_apg_batch_")


@pytest.fixture
def launches(monkeypatch):
    """The launches that are made, of which none runs."""
    caught = []
    monkeypatch.setattr(Launch, "__call__", lambda launch, *arguments: caught.append((launch, arguments)))
    monkeypatch.setattr(permutation_traffic, "_order", lambda order: Unwritten(N, "int32"))
    return caught


def told(argument):
    """Return what a launch depends on: an array's number of elements and dtype, or a number."""
    if isinstance(argument, Sliced):
        argument = argument.array
    if isinstance(argument, Unwritten):
        return int(np.prod(argument.n)), argument.dtype
    if getattr(argument, "ndim", 0):
        return argument.size, argument.dtype.name
    return float if isinstance(argument, float | np.floating) else argument


@pytest.mark.parametrize("name", TIMED)
def test_a_counted_launch_is_the_one_that_is_timed(name, launches):
    case, (call, args, *place) = large_cases()[name], TIMED[name]
    call(*args)
    launch, given = launches[place[0] if place else 0]
    assert launch.kernel is case.kernel
    assert (launch.grid, launch.block) == (case.grid, case.block)
    assert [told(argument) for argument in case.make_args()] == [told(argument) for argument in given]


def test_every_large_case_is_compared():
    assert {name for name in large_cases() if not name.startswith(OTHERS)} == set(TIMED)
