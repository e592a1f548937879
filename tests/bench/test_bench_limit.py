"""How far a measurement is from the limit: its time over the bound, and T_peak over its T_eff."""

from dataclasses import replace

import pytest

from course_pkg.bench import Device, Limits, Measurement
from course_pkg.bench.limit import WIDTHS, lines
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.vector.peak import limits_of

GPU = Device("gpu", "A GPU", 132, 10**11, 6 * 10**7)
GB = 10**9


def measured(operation, gb, time_s, fields=0, state="exceeds", **parameters):
    """A measurement that moves so many GB; its fields are read and written once."""
    cost = Cost(gb * GB // 2, gb * GB // 2, 10 * GB, known_bytes=fields * GB)
    what = Implementation(operation, "", "Numba CUDA")
    return Measurement(what, (time_s,), (1.0,), 1, state, cost, GPU, parameters, "2026-01-02")


COPY, TRIAD = measured("copy", 20, 2.0, n=2**30), measured("triad", 30, 2.5, n=2**30)
SHORT = measured("copy", 20, 1.0, n=2**10)


def test_bound_and_gain_have_a_yardstick_each():
    """42 GB at the 10 GB/s of the copy take 4.2 s; 3 GB that must move, in 5 s, are 0.6 GB/s of the triad's 12.

    The 42 GB that do move, in 5 s, are 8.4 GB/s of these 12.
    """
    row = Limits(TRIAD, COPY).row(measured("step", 42, 5.0, fields=3))
    assert row["time / bound"] == "1.19×"
    assert row["left to gain"] == "20.00×"
    assert row["of T_peak"] == "70%"
    assert (row["time"], row["T_eff GB/s"], row["GFLOP/s"]) == ("5.00 s", "0.6", "2.0")


def test_an_unknown_cost_has_no_bound():
    row = Limits(TRIAD, COPY).row(replace(TRIAD, cost=None))
    assert {row[name] for name in ("time / bound", "left to gain", "of T_peak", "T_eff GB/s")} == {"unknown"}


def test_the_lines_name_both_yardsticks_and_mark_what_may_lie_in_a_cache():
    cached = measured("copy", 20, 1.0, state="warm", shape=[64] * 3, dtype="float32")
    printed = [line for line, _ in lines([TRIAD, cached], Limits(TRIAD, COPY))]
    assert "T_peak on A GPU: 12.0 GB/s, triad, Numba CUDA (2^30), 2026-01-02." in printed[0]
    assert "its bytes over 10.0 GB/s, copy, Numba CUDA (2^30), 2026-01-02" in printed[0]
    assert printed[1].split() == [word for name in (*WIDTHS, "variant") for word in name.split()]
    assert printed[2].endswith("triad, Numba CUDA (2^30)") and "*" not in printed[2]
    assert "0.50×*" in printed[3] and printed[3].endswith("copy, Numba CUDA (64³, float32)")
    assert printed[4].startswith("* The arrays may lie in the last-level cache")
    assert [m for _, m in lines([TRIAD], Limits(TRIAD, COPY))][2] is TRIAD


def test_without_limits_there_are_no_columns_for_them():
    printed = [line for line, _ in lines([TRIAD], None)]
    assert len(printed) == 2
    assert "bound" not in printed[0] and "12.0" in printed[1]


def test_a_note_tells_where_another_variant_needs_fewer_bytes():
    """Steps with fields have one A_eff; methods without fields need what each moves, on the same grid."""
    steps = [measured("step", gb, 5.0, fields=3) for gb in (42, 9)]
    methods = [measured("cg", gb, 5.0, shape=[250] * 3) for gb in (112, 64)]
    other_grid = [measured("sum", gb, 5.0, n=gb) for gb in (112, 64)]
    for rows in (steps, other_grid, methods[:1]):
        assert len(list(lines(rows, Limits(TRIAD, COPY)))) == 2 + len(rows)
    for rows, among in ((methods, ()), (methods[:1], methods)):
        said = list(lines(rows, Limits(TRIAD, COPY), among))[-1][0]
        assert said.startswith("Variants of cg need different bytes")


def test_limits_are_the_best_streams_of_the_longest_vectors():
    found = limits_of([SHORT, COPY, TRIAD])
    assert (found.peak, found.stream) == (TRIAD, COPY)
    own = measured("copy", 20, 1.9, shape=[512] * 3)
    assert limits_of([COPY, TRIAD], own) == Limits(TRIAD, own), "what was measured together gives the bound"
    fast = measured("triad", 20, 1.0, shape=[512] * 3)
    assert limits_of([COPY, TRIAD], fast) == Limits(fast, fast), "and T_peak too if it is the fastest"
    with pytest.raises(
        CourseError, match="There is no measurement of copy or triad: run `course bench vector`"
    ):
        limits_of([own])
