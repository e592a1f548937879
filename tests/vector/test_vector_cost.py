"""Costs of the streaming operations, compared with counts of loops while they run."""

import numpy as np
import pytest

from course_pkg.core import Cost
from course_pkg.vector import cost, cpu_numba


class Number:
    """A number that counts the arithmetic done with it."""

    __array_ufunc__ = None  # NumPy's numbers leave the arithmetic to this class

    def __init__(self, tally):
        self.tally = tally

    def _flop(self, other):
        self.tally["flops"] += 1
        return self

    def __float__(self):  # kept in an array of NumPy's
        return 0.0

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _flop


class Vector:
    """A vector that counts which of its elements are read and written."""

    dtype = np.dtype("float64")

    def __init__(self, n, tally):
        self.size, self.tally, self.touched = n, tally, set()

    def __getitem__(self, i):
        assert 0 <= i < self.size
        if i not in self.touched:  # an element that was read stays in a cache
            self.touched.add(i)
            self.tally["read"] += 1
        return Number(self.tally)

    def __setitem__(self, i, value):
        assert 0 <= i < self.size
        self.touched.add(i)
        self.tally["written"] += 1


class Grid:
    """A two-dimensional array that counts which of its elements are read and written."""

    def __init__(self, shape, tally):
        self.shape, self.tally = shape, tally

    def __getitem__(self, where):
        _, x = where
        row = Vector(self.shape[1], self.tally)
        return row[x] if isinstance(x, int) else Vector(len(range(*x.indices(row.size))), self.tally)

    def __setitem__(self, where, value):
        assert 0 <= where[0] < self.shape[0]
        Vector(self.shape[1], self.tally)[where[1]] = value


LOOPS = {
    "copy": lambda a, b, out: cpu_numba._copy.py_func(a, out),
    "scale": lambda a, b, out: cpu_numba._scale.py_func(a, 3.0, out),
    "add": lambda a, b, out: cpu_numba._add.py_func(a, b, out),
    "triad": lambda a, b, out: cpu_numba._triad.py_func(a, b, 3.0, out),
    "dot": lambda a, b, out: cpu_numba._dot.py_func(a, b),
    "horner": lambda a, b, out: cpu_numba._compiled_horner(5).py_func(a, 1.0, out),
    "reduce_sum": lambda a, b, out: cpu_numba._reduce_sum.py_func(a),
}
SCANS = {
    "cumsum_columns": cpu_numba._cumsum_columns.py_func,
    "cumsum_rows": cpu_numba._cumsum_rows.py_func,
}


@pytest.mark.parametrize("operation", LOOPS)
@pytest.mark.parametrize("n", [1, 10])
def test_the_cost_is_what_the_loop_does(operation, n):
    tally = {"read": 0, "written": 0, "flops": 0}
    LOOPS[operation](*(Vector(n, tally) for _ in range(3)))
    parameters = (n, 5) if operation == "horner" else (n,)
    assert getattr(cost, operation)(*parameters) == Cost(
        8 * tally["read"], 8 * tally["written"], tally["flops"]
    )


@pytest.mark.parametrize("operation", SCANS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 70)])
def test_the_cost_of_a_cumulative_sum_is_what_the_loop_does(operation, shape):
    tally = {"read": 0, "written": 0, "flops": 0}
    SCANS[operation](*(Grid(shape, tally) for _ in range(2)))
    assert getattr(cost, operation)(shape) == Cost(8 * tally["read"], 8 * tally["written"], tally["flops"])


# elements read, elements written, flops; of 10 elements
BY_HAND = {
    "copy": (10, 10, 0),
    "scale": (10, 10, 10),
    "add": (20, 10, 10),
    "triad": (20, 10, 20),
    "dot": (20, 0, 20),
    "reduce_sum": (10, 0, 10),
}


@pytest.mark.parametrize(("dtype", "size"), [("float64", 8), ("float32", 4), (np.float32, 4)])
@pytest.mark.parametrize("operation", BY_HAND)
def test_the_cost_by_hand(operation, dtype, size):
    reads, writes, flops = BY_HAND[operation]
    assert getattr(cost, operation)(10, dtype) == Cost(size * reads, size * writes, flops)


def test_horner_by_hand():
    assert cost.horner(10, 7) == Cost(80, 80, 140)
    assert cost.horner(10, 7, "float32") == Cost(40, 40, 140)


def test_numpys_triad_moves_five_vectors_where_three_must_move():
    found = cost.triad_two_passes(10)
    assert (found.bytes_read, found.bytes_written, found.flops) == (8 * 30, 8 * 20, 20)
    assert found.a_eff_bytes == cost.triad(10).bytes == 240
    assert found.redundancy == pytest.approx(5 / 3)
    assert cost.triad_two_passes(10, "float32").a_eff_bytes == 120


@pytest.mark.parametrize("operation", SCANS)
def test_cumulative_sums_by_hand(operation):
    assert getattr(cost, operation)((4, 5)) == Cost(160, 160, 20)
    assert getattr(cost, operation)([4, 5], "float32") == Cost(80, 80, 20)


def test_a_transpose_by_hand():
    assert cost.transpose((4, 5)) == Cost(160, 160, 0)
    assert cost.transpose([4, 5], "float32") == Cost(80, 80, 0)


@pytest.mark.parametrize(
    ("n", "kept"), [(1, 0), (256, 0), (257, 2), (2**16, 256), (2**16 + 1, 259), (2**28, 1052688)]
)
def test_a_sum_by_blocks_keeps_one_sum_a_block_and_launch(n, kept):
    """2^28 elements: 2^20 blocks, then 2^12, then 2^4, then the last one."""
    assert cost.sums_kept(n, 256) == kept
    found = cost.reduce_sum_tree(n, 256)
    assert (found.bytes_read, found.bytes_written) == (8 * (n + kept), 8 * kept)
    assert found.a_eff_bytes == cost.reduce_sum(n).bytes == 8 * n
    assert cost.reduce_sum_tree(n, 256, "float32").bytes_read == 4 * n + 8 * kept


def test_the_sums_of_the_blocks_cost_about_one_percent():
    assert cost.reduce_sum_tree(2**28, 256).redundancy == pytest.approx(1.0078, abs=1e-4)
    assert cost.reduce_sum_tree(2**28, 256, "float32").redundancy == pytest.approx(1.0157, abs=1e-4)


@pytest.mark.parametrize("operation", BY_HAND)
def test_a_plain_stream_moves_only_what_it_must(operation):
    assert getattr(cost, operation)(10).redundancy == 1
