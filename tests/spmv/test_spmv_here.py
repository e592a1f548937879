"""What a lecture measures on the learner's GPU: the same product in several orders."""

import pytest

from course_pkg.bench import gpu
from course_pkg.core import CourseError
from course_pkg.permutation.problem import problem
from course_pkg.spmv.here import on_this_gpu, product_in
from course_pkg.spmv.suite_orders import ORDERS


@pytest.mark.parametrize("order", ORDERS)
def test_a_product_is_measured_and_checked_in_each_order(order):
    A = problem("tetrahedral", size=4).matrix
    m = product_in(order, A, samples=2)
    assert (m.parameters["order"], m.parameters["nonzeros"]) == (order, A.nnz)
    assert m.operation == "spmv" and len(m.samples_s) == 2


def test_without_a_gpu_a_sentence_says_so():
    if gpu().kind == "gpu":
        assert len(on_this_gpu(edge=8, samples=2)) == len(ORDERS)
    else:
        with pytest.raises(CourseError, match="GPU"):
            on_this_gpu()
