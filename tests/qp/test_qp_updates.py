"""Updates against the oracle: every kernel and precision, on the CPU and in the interpreter; what they promise."""

import numpy as np
import pytest
from counted_cases import moved
from hypothesis import given, settings
from hypothesis import strategies as st

from course_pkg import cuda, simt
from course_pkg.core import CourseError, Library
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.qp import cost, cpu_numba, gpu_numba, reference
from course_pkg.qp.cases import cases, compacted, with_zeros
from course_pkg.qp.variants import VARIANTS

pytestmark = pytest.mark.slow(50)

UPDATES = VARIANTS.of("update", Library.NUMBA_CUDA)
DTYPES = ("float64", "float32")
PAD, GUARD = 5, -77.0


def drawn(n, dtype="float64", zeros=0.0, seed=0, problems=()):
    """Return Q with entries of both signs, h, a shift and x."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(-1, 1, (*problems, n, n))
    x = np.where(rng.random((*problems, n)) < zeros, 0, rng.uniform(0.5, 2, (*problems, n)))
    h, shift = rng.uniform(-1, 1, x.shape), rng.uniform(0.1, 1, x.shape)
    return tuple(a.astype(dtype) for a in (A + np.swapaxes(A, -1, -2), h, shift, x))


def right(update, arguments, *more):
    """Return what the oracle gives in double precision."""
    double = [a.astype(float) for a in arguments]
    results = np.empty_like(double[3]), np.empty_like(double[3])
    update(*double, *results, *more)
    return results


def assert_close(found, expected, arguments):
    """Compare with what rounding of sums of so many terms explains."""
    Q, h, shift, x = (np.abs(a.astype(float)) for a in arguments)
    sums = np.einsum("...ij,...j->...i", Q, x) + h + shift * x
    eps = np.finfo(arguments[0].dtype).eps * (x.shape[-1] + 20)
    out, parts = expected
    assert np.all(np.abs(found[1] - parts) <= eps * x * sums)
    ratio = np.divide(out, x, out=np.zeros_like(x), where=x > 0)
    below = np.einsum("...ij,...j->...i", np.maximum(arguments[0].astype(float), 0), x)
    below += np.maximum(arguments[1].astype(float), 0) + shift * x
    assert np.all(np.abs(found[0] - out) <= eps * x * (1 + ratio) * sums / np.where(below > 0, below, 1))


def on_device(function, arguments, *more, **options):
    """Run a launcher between guards, and check that nothing is written beside its results or to its inputs."""
    shape, dtype = arguments[3].shape, arguments[3].dtype
    size = int(np.prod(shape))
    buffers = []
    for _ in range(2):
        buffer = np.full(size + 2 * PAD, GUARD, dtype)
        buffer[PAD:-PAD] = np.nan
        buffers.append(cuda.to_device(buffer))
    inputs = [cuda.to_device(a) for a in arguments]
    results = [b[PAD:-PAD].reshape(shape) for b in buffers]
    function(*inputs, *results, *more, **options)
    for before, after in zip(arguments, inputs, strict=True):
        np.testing.assert_array_equal(after.copy_to_host(), before, err_msg="an input was changed")
    found = [b.copy_to_host() for b in buffers]
    for f in found:
        assert np.all(f[:PAD] == GUARD) and np.all(f[-PAD:] == GUARD), "written beside the result"
    return [f[PAD:-PAD].reshape(shape) for f in found]


@pytest.mark.family
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "zeros"), [(1, 0), (37, 0), (37, 0.6), (256, 0.9), (300, 0), (530, 0.5), (40, 1)]
)
@pytest.mark.parametrize("variant", UPDATES, ids=lambda v: v.name)
def test_a_kernel_gives_the_update(variant, n, zeros, dtype):
    arguments = drawn(n, dtype, zeros, seed=n)
    found = on_device(variant.function(Library.NUMBA_CUDA), arguments)
    assert_close(found, right(reference.update, arguments), arguments)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "unroll"), [(1, 1), (2, 4), (8, 1), (3, 3)])
def test_rows_takes_any_setting(rows, unroll, dtype):
    arguments = drawn(70, dtype)
    found = on_device(gpu_numba.update_rows, arguments, rows=rows, unroll=unroll)
    assert_close(found, right(reference.update, arguments), arguments)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 64, 301])
def test_the_cpu_gives_the_update(n, dtype):
    arguments = drawn(n, dtype, 0.2)
    found = np.full(n, np.nan, dtype), np.full(n, np.nan, dtype)
    cpu_numba.update(*arguments, *found)
    assert_close(found, right(reference.update, arguments), arguments)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("problems", "n"), [(3, 1), (2, 16), (2, 37), (3, 70), (2, 128)])
def test_batches(problems, n, dtype):
    """Three iterations; sums that no thread writes would show as NaN."""
    arguments = drawn(n, dtype, 0.1, problems=(problems,))
    expected = right(reference.update_batch, arguments, 3)
    on_cpu = np.full((problems, n), np.nan, dtype), np.full((problems, n), np.nan, dtype)
    cpu_numba.update_batch(*arguments, *on_cpu, 3)
    tolerance = 1e-10 if dtype == "float64" else 2e-3
    for found in (on_device(gpu_numba.update_batch, arguments, 3), on_cpu):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 37, 300])
def test_split_products(n, dtype):
    """The vector may have both signs: it is a direction."""
    Q, v = drawn(n, dtype)[:2]
    expected = np.empty((2, n))
    reference.split_product(Q.astype(float), v.astype(float), expected)
    bound = (n + 4) * np.finfo(dtype).eps * (np.abs(Q.astype(float)) @ np.abs(v.astype(float)))
    on_gpu, on_cpu = cuda.to_device(np.full((2, n), np.nan, dtype)), np.full((2, n), np.nan, dtype)
    gpu_numba.split_product(cuda.to_device(Q), cuda.to_device(v), on_gpu)
    cpu_numba.split_product(Q, v, on_cpu)
    for found in (on_gpu.copy_to_host(), on_cpu):
        assert np.all(np.abs(found - expected) <= bound)


@settings(max_examples=25)
@given(n=st.integers(1, 70), zeros=st.sampled_from([0.0, 0.5, 1.0]), seed=st.integers(0, 2**32 - 1))
def test_any_update(n, zeros, seed):
    arguments = drawn(n, "float64", zeros, seed)
    expected = right(reference.update, arguments)
    for variant in UPDATES:
        found = on_device(variant.function(Library.NUMBA_CUDA), arguments)
        assert_close(found, expected, arguments)


@pytest.mark.parametrize("variant", UPDATES, ids=lambda v: v.name)
def test_a_zero_stays_where_its_row_says_nothing(variant):
    """h⁺ + Q⁺x + r x is 0 there: 0/0 must not become NaN."""
    arguments = np.diag([1.0, 0.0]), np.array([-2.0, 0.0]), np.zeros(2), np.array([1.0, 0.0])
    out, parts = on_device(variant.function(Library.NUMBA_CUDA), arguments)
    assert list(out) == [2.0, 0.0] and list(parts) == [-1.5, 0.0]


def test_the_list_has_the_unknowns_that_are_not_zero_in_order():
    for n, share in ((1, 0), (1, 1), (1024, 0.5), (2500, 0.9), (70, 0)):
        x = np.where(np.random.default_rng(n).random(n) < share, 0, 1.0)
        active, count = gpu_numba.lists(n)
        gpu_numba.compact(cuda.to_device(x), active, count)
        m = int(count.copy_to_host()[0])
        np.testing.assert_array_equal(active.copy_to_host()[:m], np.flatnonzero(x))


def test_a_list_may_be_used_again():
    arguments = drawn(50, zeros=0.5)
    lists = gpu_numba.lists(50)
    first = on_device(gpu_numba.update_compacted, arguments, active=lists[0], count=lists[1])
    again = on_device(gpu_numba.update_compacted, arguments, active=lists[0], count=lists[1], listed=True)
    np.testing.assert_array_equal(first[0], again[0])


# ---- what moves


def profile(name, n, dtype):
    case = next(c for c in cases if c.name == f"qp_{name}_{n}_{dtype}")
    return simt.profile(case.configured, *case.args())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["update_columns", "update_staged", "update_rows", "split_product"])
def test_every_sector_of_q_is_read_once(name, dtype):
    sectors = profile(name, 512, dtype).by_array["Q"].global_load.sectors
    assert sectors * SECTOR_BYTES == 512 * 512 * np.dtype(dtype).itemsize


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", ["512", "odd"])
@pytest.mark.parametrize("name", ["naive", "columns", "staged", "rows"])
def test_counted_bytes_are_those_of_the_cost(name, size, dtype):
    n = 512 if size == "512" else 301
    its_cost = cost.update(n, dtype)
    assert moved(profile(f"update_{name}", size, dtype)) == (its_cost.bytes_read, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
def test_counted_bytes_with_zeros_are_those_of_the_cost(dtype):
    active = int(np.count_nonzero(with_zeros(512, dtype)[3]))
    skip, listed = cost.update_active(512, active, dtype), cost.update_compacted(512, active, dtype)
    assert moved(profile("update_skip", 512, dtype)) == (skip.bytes_read, skip.bytes_written)
    number = 4  # of bytes of the number of listed unknowns, which the cost leaves out
    assert moved(profile("update_compacted", 512, dtype)) == (
        listed.bytes_read + number,
        listed.bytes_written,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_counted_bytes_of_products_and_batches_are_those_of_the_cost(dtype):
    product, batch = cost.split_product(512, dtype), cost.update_batch(37, 3, 2, dtype)
    assert moved(profile("split_product", 512, dtype)) == (product.bytes_read, product.bytes_written)
    assert moved(profile("update_batch", 37, dtype)) == (batch.bytes_read, batch.bytes_written)


def test_a_thread_per_row_touches_a_sector_for_each_lane():
    naive = profile("update_naive", 512, "float64").by_array["Q"].global_load
    assert naive.sectors_per_request == 32
    assert naive.sectors == 4 * profile("update_columns", 512, "float64").by_array["Q"].global_load.sectors


def test_batches_read_q_once_for_all_iterations():
    sectors = profile("update_batch", 64, "float64").by_array["Q"].global_load.sectors
    assert (
        sectors * SECTOR_BYTES == 3 * 64 * 64 * 8 == cost.update_batch(64, 3, 2).bytes_read - 3 * 3 * 64 * 8
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_x_is_loaded_once_for_all_rows_of_a_block(dtype):
    found = profile("update_rows", 512, dtype).by_array
    assert found["Q"].global_load.requests == gpu_numba.ROWS * (512 // 32) * (512 // gpu_numba.ROWS)
    in_loop = found["Q"].global_load.requests / gpu_numba.ROWS
    assert found["x"].global_load.requests <= in_loop + 512 // gpu_numba.ROWS


def test_skipped_rows_and_columns_are_not_read():
    x = with_zeros(512, "float64")[3]
    active = int(np.count_nonzero(x))
    for name in ("update_skip", "update_compacted"):
        loads = profile(name, 512, "float64").by_array["Q"].global_load
        touched = np.unique(np.flatnonzero(x) // 4).size  # sectors of a row with an active column
        least = active * touched
        assert loads.sectors >= least
        assert loads.sectors <= (1.5 if name == "update_compacted" else 1.01) * least
        assert loads.sectors < 0.3 * 512 * 512 * 8 / SECTOR_BYTES


def test_a_list_gives_work_to_all_lanes():
    """Where 70 % of x are 0, most lanes of skip have nothing to load; those of compacted have."""
    active = int(compacted(512, "float64")[5][0])
    skip, listed = (
        profile(n, 512, "float64").by_array["Q"].global_load for n in ("update_skip", "update_compacted")
    )
    assert active * active / skip.requests < 12
    assert (
        listed.requests == active * gpu_numba.GATHERED * -(-active // 32) or listed.requests < skip.requests
    )


def test_the_cost_of_zeros():
    whole, few = cost.update_active(1000), cost.update_active(1000, 100)
    assert whole == cost.update(1000)
    assert (
        few.bytes_read == 8 * (100 * 100 + 2 * 100 + 1000) and few.flops == 4 * 100 * 100 + cost.FLOPS * 100
    )


# ---- wrong arguments


def test_wrong_arguments_are_named():
    Q, h, shift, x = drawn(6)
    out, parts = np.empty(6), np.empty(6)
    for wrong, message in (
        ((Q[:5], h, shift, x, out, parts), r"Q has shape \(5, 6\): it must be square"),
        ((Q, h[:5], shift, x, out, parts), "shift has shape"),
        ((Q[:4, :4].copy(), h, shift, x, out, parts), r"h has shape \(6,\) but Q has \(4, 4\)"),
        ((Q, h, shift, x, x, parts), "x and out share memory"),
        ((Q, h, shift, x, out, out), "share memory"),
        ((Q, h.astype("float32"), shift, x, out, parts), "h has dtype float32"),
        ((Q[:, ::-1], h, shift, x, out, parts), "Q is not C-contiguous"),
    ):
        for function in (reference.update, cpu_numba.update):
            with pytest.raises(CourseError, match=message):
                function(*wrong)
    with pytest.raises(CourseError, match="Q lives in host memory but this function runs on the GPU"):
        gpu_numba.update_rows(Q, h, shift, x, out, parts)
    big = [cuda.to_device(a) for a in drawn(129, problems=(1,))]
    results = cuda.device_array((1, 129)), cuda.device_array((1, 129))
    with pytest.raises(CourseError, match="a block keeps at most 128 in registers"):
        gpu_numba.update_batch(*big, *results)
    with pytest.raises(CourseError, match="iterations is 0"):
        small = [cuda.to_device(a) for a in drawn(4, problems=(1,))]
        gpu_numba.update_batch(*small, cuda.device_array((1, 4)), cuda.device_array((1, 4)), 0)


# ---- hazards


@pytest.mark.family
@pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert simt.profile(case.configured, *case.args()).hazards == []
