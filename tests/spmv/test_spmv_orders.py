"""One matrix in several orders: the nonzeros stay, what the kernels ask of x does not, and no demand mixes orders."""

import numpy as np
import pytest

from course_pkg.bench import measure
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import suite
from course_pkg.spmv.suite_orders import KERNELS, ORDERS, counted, ordered


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_keeps_the_nonzeros_and_the_symmetry(order):
    A = problem("tetrahedral", size=5).matrix
    B = ordered(A, order)
    np.testing.assert_array_equal(np.sort(B.data), np.sort(A.data))
    np.testing.assert_array_equal(np.sort(np.diff(B.indptr)), np.sort(np.diff(A.indptr)))
    assert abs(B - B.T).max() == 0


@pytest.mark.parametrize(("function", "made", "called"), KERNELS)
def test_a_kernel_asks_for_more_sectors_in_a_random_order(function, made, called):
    A = problem("tetrahedral", size=12).matrix
    found = [counted(function, ordered(A, order), made, called) for order in ("natural", "random")]
    assert found[1]["sectors"] > 1.1 * found[0]["sectors"]


def test_demands_do_not_compare_products_in_another_order():
    def timed(library, **more):
        parameters = {"matrix": "tetrahedral", "n": suite.LARGE, "dtype": "float64", **more}
        return measure(sum, (1,), name=suite.PRODUCT.by(library), parameters=parameters, samples=2)

    own = [timed(Library.NUMBA_CPU), timed(Library.SCIPY)]
    assert len(suite.demands(own)) == 1
    shuffled = [timed(Library.NUMBA_CPU, order="random"), timed(Library.SCIPY, order="random")]
    assert suite.demands(shuffled) == []
    assert suite.demands(own + shuffled) == suite.demands(own)
