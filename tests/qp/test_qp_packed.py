"""A dense copy of the unknowns that are not 0, and products by a list: right values, and no byte in vain."""

import numpy as np
import pytest
from counted_cases import moved

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.qp import cost, gpu_numba, reference
from course_pkg.qp.gpu_numba import listed as listed_room
from course_pkg.qp.gpu_numba import solver as gpu_solver
from course_pkg.qp.problem import problem
from course_pkg.qp.tuning import LISTED_AT_MOST, LISTED_FROM, PACKED_MULTIPLE

DTYPES = ("float64", "float32")
N, ACTIVE = 512, 160  # a multiple of 8: nothing is added to the copy


def drawn(n, active, dtype="float64", seed=0):
    """Return Q, h, a shift, and an x of which ``active`` elements at random places are not 0."""
    rng = np.random.default_rng(seed)
    A, x = rng.uniform(-1, 1, (n, n)), np.zeros(n)
    x[rng.choice(n, active, replace=False)] = rng.uniform(0.5, 2, active)
    return tuple(a.astype(dtype) for a in (A + A.T, rng.uniform(-1, 1, n), rng.uniform(1, 2, n), x))


def made(arguments):
    """Return the arguments on the device, and the dense copy."""
    there = [cuda.to_device(a) for a in arguments]
    packed = gpu_numba.room_for(there[3])
    gpu_numba.pack(*there[:3], packed)
    return there, packed


def several(arguments, iterations):
    """Return what the oracle gives after several updates."""
    Q, h, shift, x = (a.astype(float) for a in arguments)
    out, parts = np.empty_like(x), np.empty_like(x)
    for _ in range(iterations):
        reference.update(Q, h, shift, x, out, parts)
        x = out.copy()
    return out, parts


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "active"), [(1, 1), (9, 0), (37, 5), (300, 300), (530, 64)])
def test_the_copy_holds_the_listed_rows_and_columns_and_zeros_beyond(n, active, dtype):
    arguments = drawn(n, active, dtype)
    _, packed = made(arguments)
    Q, h, shift = (packed[k].copy_to_host() for k in range(3))
    found = np.flatnonzero(arguments[3])
    assert (
        Q.shape == (h.size, h.size) and h.size % PACKED_MULTIPLE == 0 < h.size < active + PACKED_MULTIPLE + 1
    )
    np.testing.assert_array_equal(Q[:active, :active], arguments[0][np.ix_(found, found)])
    for short, whole in ((h, arguments[1]), (shift, arguments[2])):
        np.testing.assert_array_equal(short[:active], whole[found])
        assert not short[active:].any()
    assert not Q[active:].any() and not Q[:, active:].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize(("n", "active"), [(37, 11), (300, 30)])
def test_several_updates_on_one_copy(n, active, iterations, dtype):
    """Also of a later x, in which a listed unknown has become 0."""
    arguments = drawn(n, active, dtype)
    there, packed = made(arguments)
    later = arguments[3].copy()
    later[np.flatnonzero(later)[::3]] = 0
    for x in (arguments[3], later, arguments[3]):
        expected = several((*arguments[:3], x), iterations)
        out, parts = (cuda.to_device(np.full(n, np.nan, dtype)) for _ in range(2))
        given = cuda.to_device(x)
        gpu_numba.update_packed(*there[:3], given, out, parts, packed=packed, iterations=iterations)
        tolerance = 1e-11 if dtype == "float64" else 1e-3
        for found, right in zip((out, parts), expected, strict=True):
            np.testing.assert_allclose(
                found.copy_to_host(), right, rtol=tolerance, atol=tolerance * np.abs(right).max()
            )
        np.testing.assert_array_equal(out.copy_to_host()[x == 0], 0)
        np.testing.assert_array_equal(given.copy_to_host(), x)


def test_wrong_copies_are_named():
    there, packed = made(drawn(20, 4))
    other, _ = made(drawn(21, 4))
    out, parts = (cuda.device_array(21) for _ in range(2))
    with pytest.raises(
        CourseError, match="packed was made for 20 unknowns in float64, but Q has 21 in float64"
    ):
        gpu_numba.update_packed(*other, out, parts, packed=packed)
    single, _ = made(drawn(20, 4, "float32"))
    with pytest.raises(
        CourseError, match="packed was made for 20 unknowns in float64, but Q has 20 in float32"
    ):
        gpu_numba.pack(*single[:3], packed)
    with pytest.raises(CourseError, match="iterations is 0"):
        gpu_numba.update_packed(*there, *(cuda.device_array(20) for _ in range(2)), iterations=0)
    with pytest.raises(CourseError, match="h has shape"):
        gpu_numba.pack(other[0], there[1], there[2], packed)


# ---- what moves


@pytest.fixture
def launched(monkeypatch):
    """Profile every launch of a call instead of only running it, and keep the profiles by the kernel's name."""
    kept = []
    run = simt.run.kernel.Launch.__call__

    def watch(launch, *arguments):
        monkeypatch.setattr(simt.run.kernel.Launch, "__call__", run)
        try:
            kept.append((launch.kernel.py_func.__name__, simt.profile(launch, *arguments)))
        finally:
            monkeypatch.setattr(simt.run.kernel.Launch, "__call__", watch)

    monkeypatch.setattr(simt.run.kernel.Launch, "__call__", watch)
    return kept


def sectors(found):
    """Return the sectors of global memory that a launch loads and stores."""
    counts = found.by_array.values()
    return sum(c.global_load.sectors for c in counts), sum(c.global_store.sectors for c in counts)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_packed_update_reads_the_entries_of_active_unknowns_and_no_others(launched, dtype):
    there, packed = made(drawn(N, ACTIVE, dtype))
    launched.clear()
    gpu_numba.update_packed(*there, cuda.device_array(N, dtype), cuda.device_array(N, dtype), packed=packed)
    names, found = zip(*launched, strict=True)
    assert names == ("gather_kernel", "update_rows", "spread_kernel")
    size = np.dtype(dtype).itemsize
    entries = found[1].by_array["Q"].global_load
    assert entries.sectors * SECTOR_BYTES == ACTIVE * ACTIVE * size
    assert all("Q" not in each.by_array for each in (found[0], found[2]))
    its_cost = cost.update_packed(N, ACTIVE, dtype=dtype)
    counted = np.sum([moved(each) for each in found], axis=0)
    number = 4 * 2  # bytes of the number of listed unknowns, which two launches read
    assert tuple(counted) == (its_cost.bytes_read + number, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
def test_packing_reads_as_a_list_does_and_writes_whole_sectors(launched, dtype):
    arguments = drawn(N, ACTIVE, dtype)
    made(arguments)
    found = dict(launched)["pack"]
    its_cost = cost.pack(N, ACTIVE, dtype)
    assert moved(found) == (its_cost.bytes_read + 4, its_cost.bytes_written)
    size = np.dtype(dtype).itemsize
    written = found.by_array["packed_Q"].global_store
    assert written.sectors * SECTOR_BYTES == ACTIVE * ACTIVE * size
    loads = found.by_array["Q"].global_load
    # for columns beyond the list: the last one, which is there
    beyond = loads.requests - ACTIVE * ACTIVE // 32
    touched = np.unique(np.flatnonzero(arguments[3]) // (SECTOR_BYTES // size)).size  # sectors of a row
    between = ACTIVE // 32 - 1  # a sector may be shared by two warps
    assert ACTIVE * touched <= loads.sectors - beyond <= ACTIVE * (touched + between)
    assert touched * SECTOR_BYTES > 1.8 * ACTIVE * size


@pytest.mark.parametrize(("piece_bytes", "dtype"), [(32, "float64"), (64, "float64"), (64, "float32")])
@pytest.mark.parametrize("active", [50, 500])
def test_bytes_that_a_list_moves_are_the_mean_over_random_places(active, piece_bytes, dtype):
    rng, n, each = np.random.default_rng(4), 2048, piece_bytes // np.dtype(dtype).itemsize
    pieces = [np.unique(rng.choice(n, active, replace=False) // each).size for _ in range(200)]
    mean = active * np.mean(pieces) * piece_bytes
    assert cost.moved_by_a_list(n, active, dtype, piece_bytes) == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize("active", [100, 500, 900, 999])
def test_updates_pay_for_the_copy_from_a_number_on(active):
    pay = cost.updates_that_pay(1000, active)
    listed, copied = cost.moved_by_a_list(1000, active), 8 * active * active

    def with_copy(updates):
        return listed + copied + updates * copied

    assert with_copy(pay) <= pay * listed and with_copy(pay - 1) > (pay - 1) * listed
    assert cost.updates_that_pay(1000, 1000) == np.inf


# ---- products by a list


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "active"), [(1, 1), (9, 0), (37, 5), (300, 300), (530, 64), (64, 63)])
def test_products_by_a_list(n, active, dtype):
    """The vector may have both signs: it is a direction. The sums of zeros are right, too."""
    Q, h, _, x = drawn(n, active, dtype)
    v = x * np.sign(h)
    expected = np.empty((2, n))
    reference.split_product(Q.astype(float), v.astype(float), expected)
    bound = (n + 4) * np.finfo(dtype).eps * (np.abs(Q.astype(float)) @ np.abs(v.astype(float)))
    lists = gpu_numba.lists(n)
    for again in (False, True):
        out = cuda.to_device(np.full((2, n), np.nan, dtype))
        gpu_numba.split_product_listed(cuda.to_device(Q), cuda.to_device(v), out, *lists, listed=again)
        assert np.all(np.abs(out.copy_to_host() - expected) <= bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("active", "asked"), [(192, 192), (160, 192)])
def test_a_product_by_a_list_reads_whole_rows_and_no_others(launched, active, asked, dtype):
    """A block asks for rows by ROWS_AHEAD for each warp; those that the list lacks are its last one again."""
    assert asked % (gpu_numba.ROWS_AHEAD * listed_room.WARPS) == 0
    Q, _, _, x = drawn(N, active, dtype)
    gpu_numba.split_product_listed(*map(cuda.to_device, (Q, x)), cuda.device_array((2, N), dtype))
    found, size = dict(launched)["split_product_listed"], np.dtype(dtype).itemsize
    assert found.by_array["Q"].global_load.sectors * SECTOR_BYTES == asked * N * size
    its_cost = cost.split_product_listed(N, active, dtype)
    assert moved(found) == (its_cost.bytes_read + 4, its_cost.bytes_written)
    assert found.by_array["Q"].global_load.sectors_per_request == size


def test_a_small_matrix_is_read_whole(launched):
    p = problem("dense", 80)
    assert p.n < LISTED_FROM and gpu_numba.pqp(cuda.to_device(p.Q), cuda.to_device(p.h)).converged
    assert {which for which, each in launched if "Q" in each.by_array} == {"split_product"}


@pytest.mark.parametrize(("name", "n"), [("dense", 80), ("deblurring", 6)])
def test_the_solver_reads_only_rows_of_what_is_not_zero(launched, monkeypatch, name, n):
    """Its products count fewer bytes of Q than whole sweeps would; iterations and answer are the reference's."""
    monkeypatch.setattr(gpu_solver, "LISTED_FROM", n)
    p = problem(name, n)
    found = gpu_numba.pqp(cuda.to_device(p.Q), cuda.to_device(p.h), rtol=1e-8)
    right = reference.pqp(p.Q, p.h, rtol=1e-8)
    assert found.converged and found.iterations == right.iterations
    np.testing.assert_allclose(found.x.copy_to_host(), right.x, atol=1e-7)
    read = [
        (which, each.by_array["Q"].global_load.unique_bytes)
        for which, each in launched
        if which.startswith("split_product") and "Q" in each.by_array
    ]
    whole = [b for which, b in read if which == "split_product"]
    by_list = [b for which, b in read if which == "split_product_listed"]
    assert len(read) == found.extra["products"] and set(whole) == {p.Q.nbytes}
    assert max(by_list) <= LISTED_AT_MOST * p.Q.nbytes
    assert sum(b for _, b in read) < 0.9 * found.extra["products"] * p.Q.nbytes
