"""The history of a solve: states of the unknowns, zeros that are found, and the bytes of Q."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.qp import history as h
from course_pkg.qp.problem import QuadraticProblem, problem


def test_zeros_that_are_kept_are_told_from_those_of_the_solution():
    kept, grown = (h.history(problem("obstacle_1d", 64), 300, readmit=readmit) for readmit in (False, True))
    assert (kept.states[0] == h.FREE).all()
    at_end = [int((kept.states[-1] == state).sum()) for state in (h.ZERO, h.FREE, h.ABSORBED)]
    assert at_end == [2, 32, 30]
    assert (grown.states[-1] == h.ABSORBED).sum() < 30
    assert kept.kkt[-1] > 10 * grown.kkt[-1]
    assert ((kept.x > 0) == (kept.states == h.FREE)).all()


def test_of_the_zeros_a_check_of_the_gradient_sees_those_beside_a_free_unknown():
    kept = h.history(problem("obstacle_1d", 64), 300)
    assert kept.growing[-1] == 2
    gradient = problem("obstacle_1d", 64).Q @ kept.x[-1] + problem("obstacle_1d", 64).h
    assert ((kept.x[-1] == 0) & (gradient < -1)).sum() == 2


def test_rows_of_a_history_are_its_iterations_and_the_first_is_the_start():
    p = QuadraticProblem(np.eye(2), np.array([-1.0, 2.0]), "small", "")
    seen = h.history(p, 5, x0=np.array([3.0, 1.0]), shape=(1, 2))
    assert seen.x[0].tolist() == [3.0, 1.0]
    assert seen.x[1].tolist() == [1.0, 0.0]
    assert seen.objective.tolist() == pytest.approx([0.5 * 10 - 3 + 2, -0.5])
    assert seen.kkt.tolist() == [2.0, 0.0], "it ends with the solution"
    assert seen.states.tolist() == [[1, 1], [1, 0]]
    assert seen.shape == (1, 2)


def test_bytes_of_q_are_whole_sectors_with_a_list_and_single_entries_in_a_copy():
    active = np.zeros((2, 10), bool)
    active[0, [0, 3, 4, 9]] = True  # three sectors of four doubles; the last one is short
    assert {name: of[0] for name, of in h.bytes_of_q(active).items()} == {
        "all of Q": 800,
        "by a list": 4 * 3 * 32,
        "in a dense copy": 16 * 8,
    }
    assert [of[1] for of in h.bytes_of_q(active).values()] == [800, 0, 0]
    assert h.bytes_of_q(active, 4)["by a list"][0] == 4 * 2 * 32


def test_iterations_are_a_count():
    with pytest.raises(CourseError, match="iterations"):
        h.history(problem("obstacle_1d", 9), -1)
