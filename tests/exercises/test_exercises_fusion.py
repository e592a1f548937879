"""Exercise 5 states counts and searches plans in one order only; the model confirms both for every order."""

from itertools import combinations, permutations

import pytest

from course_pkg.cg import cost
from course_pkg.cg.fusion import plan
from course_pkg.grading import release

SHAPE, GPUS = (4, 5, 6), 4
PLANS = {
    "cr_stored": "RESIDUALS",
    "cr_recomputed": "RESIDUALS",
    "jacobi_plan": "JACOBI",
    "power_plan": "POWER",
}


@pytest.fixture(scope="module")
def names():
    """The names of the exercise's programs and of the solution's answers that are no kernels."""
    source = next(path for path in release.sources() if path.stem == "05_fusion")
    found = {}
    for cell in release.read_solution(source).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in ("setup", "count", "programs", "plans"):
            exec(cell.source, found)
    return found


def test_the_counts_are_those_of_the_model(names):
    statements = [[container.name] for container in names["JACOBI"].containers]
    counted = cost.count(plan(names["JACOBI"], statements), SHAPE)
    for what in ("reads", "reads_reused", "writes", "multiplications"):
        assert names[what](SHAPE) == getattr(counted, what), what
    assert [names["halo"](SHAPE, GPUS, gpu) for gpu in range(GPUS)] == cost.halo(SHAPE, GPUS)
    assert names["halo"](SHAPE, GPUS, 1) == counted.halo
    assert [names["halo"](SHAPE, 1, 0)] == cost.halo(SHAPE, 1)


def subsets(things):
    return [some for count in range(len(things) + 1) for some in combinations(things, count)]


def least_bytes(program, fields):
    """Return the bytes per point of the best legal plan: any order, any cuts, any of these fields not stored."""
    containers = [container.name for container in program.containers]
    found = set()
    for order in permutations(containers):
        for starts in subsets(range(1, len(order))):
            ends = (*starts, len(order))
            groups = [order[start:end] for start, end in zip((0, *starts), ends, strict=True)]
            for recompute in subsets(fields):
                chosen = plan(program, groups, recompute=recompute)
                if chosen.legal:
                    found.add(8 * sum(chosen.passes))
    return min(found)


@pytest.mark.parametrize(
    ("what", "fields"),
    [("cr_stored", ()), ("cr_recomputed", ("q",)), ("jacobi_plan", ("t", "z")), ("power_plan", ("w",))],
)
def test_no_other_plan_moves_less(names, what, fields):
    answer, program = names[what], names[PLANS[what]]
    chosen = plan(program, answer["groups"], recompute=answer["recompute"])
    assert chosen.legal
    assert 8 * sum(chosen.passes) == least_bytes(program, fields)
