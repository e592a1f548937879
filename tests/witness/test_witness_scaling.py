"""What a lecture asks of a record of several ranks; the measurements here are made up."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from course_pkg.core import Implementation
from course_pkg.distributed import suite
from course_pkg.distributed.phases import NAMES
from course_pkg.witness.scaling import Scaling, iteration_s, shares

TOOK = {1: 8e-3, 2: 5e-3}  # seconds of an iteration, strong scaling
WEAK_S = 10e-3


def solved(ranks, took, shape, scaling, method="pcg", **options):
    task = {"task": "solve", "grid": shape, "method": method, "options": options}
    parameters = {
        "shape": list(shape),
        "dtype": "float64",
        "rtol": 1e-6,
        **options,
        "ranks": ranks,
        "scaling": scaling,
    }
    phases = dict.fromkeys(NAMES, took / len(NAMES))
    result = {"samples_s": [9 * took] * 3, "warmup_s": [1.0], "iterations": 9, "phases": phases}
    return suite.measurement(task, parameters, result, threads=1)


def message(task, seconds, n, **also):
    result = {"samples_s": [seconds] * 3, "warmup_s": [1.0], **also}
    return suite.measurement({"task": task, "calls": 10}, {"ranks": 2, "n": n}, result, threads=1)


@pytest.fixture
def on():
    cube, both = (8, 8, 8), (16, 8, 8)
    found = [
        solved(1, TOOK[1], cube, "strong"),
        solved(2, TOOK[2], cube, "strong"),
        solved(2, WEAK_S, both, "weak"),
        solved(1, 1e-3, cube, "strong", "pcg_sstep", s=4),
        message("halo", 3e-5, 64, bytes=512),
        message("halo", 1e-5, 9, bytes=72),
        message("allreduce", 4e-6, 1),
    ]
    device = SimpleNamespace(name="NVIDIA H200")
    return Scaling(SimpleNamespace(measurements=found, device=device, origin="Made up."))


def test_solves_and_messages_are_found(on):
    assert (on.ranks, on.edges, on.name) == ([1, 2], [8], "H200")
    assert iteration_s(on.solve("pcg", 8, 2)) == pytest.approx(TOOK[2])
    assert on.solve("pcg", 8, 2, scaling="weak").parameters["shape"] == [16, 8, 8]
    assert (
        on.solve("pcg_sstep", 8, 1, s=4)
        and on.solve("pcg_sstep", 8, 1) is None
        and on.solve("pcg", 9, 1) is None
    )
    assert on.methods(8, 2) == [("pcg", None)], "s-step was not solved on 2 ranks"
    assert (
        on.messages(2) == [(72.0, 1e-5), (512.0, 3e-5)] and on.sums(2) == [(1, 4e-6)] and on.messages(4) == []
    )


def test_a_stored_matrix_is_not_taken_for_the_stencil(on):
    stored = solved(1, 1.0, (9, 9, 9), "strong")
    stored = replace(stored, parameters={**stored.parameters, "matrix": "poisson_3d"})
    on.found.measurements.append(stored)
    assert Scaling(on.found).edges == [8] and Scaling(on.found).solve("pcg", 9, 1) is None


def test_efficiencies_compare_points_per_second_and_rank(on):
    assert on.efficiency("pcg", 8, 2) == pytest.approx(TOOK[1] / (2 * TOOK[2]))
    assert on.efficiency("pcg", 8, 2, scaling="weak") == pytest.approx(TOOK[1] / WEAK_S)
    assert on.efficiency("pcg_sstep", 8, 2, s=4) is None


def test_shares_of_phases_add_up(on):
    assert sum(shares(on.solve("pcg", 8, 1)).values()) == pytest.approx(1.0)


def test_a_record_that_does_not_determine_the_model_has_no_fit(on):
    assert on.fit is None


def test_a_graph_of_iterations_is_preferred_and_what_the_model_does_not_know_is_left_out(on):
    whole, graph, late, rival = (
        replace(
            on.solve("pcg", 8, 2),
            what=Implementation("cg", variant, "Numba CUDA"),
            parameters={"shape": [8, 8, 8], "dtype": "float64", "ranks": 2, "scaling": "strong", **also},
            observed={} if "iterations" in also else {"iterations": 9},
        )
        for variant, also in (
            ("two_kernel", {}),
            ("two_kernel", {"iterations": 2, "overlap": True}),
            ("two_kernel", {"iterations": 2, "overlap": False}),
            ("slices", {"iterations": 100}),
        )
    )
    more = Scaling(SimpleNamespace(measurements=[late, whole, graph, rival], device=None, origin=""))
    assert more.solve("cg_two_kernel", 8, 2) is graph
    assert more.solve("cg_two_kernel", 8, 2, whole=True) is whole
    assert more.solves == [whole, graph], "not the rival, nor what was measured without overlap"
