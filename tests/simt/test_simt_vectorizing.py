"""``vectorize``, ``guvectorize`` and ``reduce`` for a GPU give what NumPy gives."""

import math

import numba
import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt.errors import SimtError


@numba.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def length(a, b):
    return math.sqrt(a * a + b * b)


@cuda.vectorize(["boolean(float64)"])
def is_large(x):
    return x > 2


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target="cuda")
def inner(a, b, out):
    out[0] = 0
    for i in range(a.shape[0]):
        out[0] += a[i] * b[i]


@cuda.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(b.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@cuda.guvectorize(["void(float64[:], float64, float64[:], float64[:])"], "(n),()->(n),()")
def scaled(x, factor, out, largest):
    largest[0] = -math.inf
    for i, v in enumerate(x):
        out[i] = v * factor
        largest[0] = max(largest[0], out[i])


@cuda.reduce
def total(a, b):
    return a + b


X, Y = np.arange(12.0).reshape(3, 4), np.arange(4.0)


def test_a_function_of_numbers_becomes_one_of_arrays():
    np.testing.assert_array_equal(length(X, Y), np.sqrt(X * X + Y * Y))
    np.testing.assert_array_equal(is_large(X), X > 2)
    assert length(3.0, 4.0) == 5.0
    single = length(X.astype(np.float32), np.float32(1))
    assert single.dtype == np.float32 and single.shape == (3, 4)


def test_results_are_where_the_arguments_are():
    found = length(cuda.to_device(X), cuda.to_device(Y))
    np.testing.assert_array_equal(found.copy_to_host(), np.sqrt(X * X + Y * Y))
    out = cuda.device_array_like(X)
    assert length(X, Y, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), found.copy_to_host())


def test_a_function_of_parts_is_called_for_each_of_them():
    np.testing.assert_array_equal(inner(X, Y), X @ Y)
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    np.testing.assert_array_equal(product(a, b), a @ b)
    out, largest = scaled(X, 2.0)
    np.testing.assert_array_equal(out, 2 * X)
    np.testing.assert_array_equal(largest, 2 * X.max(axis=1))


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 1000])
def test_reduce_joins_all_elements(n):
    x = np.arange(n) % 7
    assert total(x) == x.sum()
    assert total(x, init=3) == x.sum() + 3
    assert total(x.astype(float), size=n // 2) == x[: n // 2].sum()


def test_reduce_takes_a_lambda():
    assert cuda.reduce(lambda a, b: max(a, b))(np.arange(9.0)) == 8


def test_reduce_writes_to_an_array_on_demand():
    res = cuda.to_device(np.zeros(1))
    assert total(Y, res=res) is None
    assert res.copy_to_host()[0] == Y.sum()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: length(np.arange(3), 1), r"no version for \(int64, int64\).* \.astype"),
        (lambda: length(X), r"takes 2 argument\(s\) and gets 1"),
        (lambda: length(X, Y, out=np.zeros(3)), "out has the shape"),
        (lambda: inner(X, np.zeros(3)), "n is 4 and 3"),
        (lambda: product(Y, X), "1 dimension"),
        (lambda: cuda.vectorize([])(math.sqrt), "needs signatures"),
        (lambda: cuda.guvectorize(["void(float64[:])"], "(n)->(n)")(math.sqrt), "for 1 inputs and 1 outputs"),
        (lambda: cuda.guvectorize(["void(float64[:])"], "n->n")(math.sqrt), "cannot read 'n->n'"),
        (lambda: total(X), "cuda.reduce takes a vector"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, said):
    with pytest.raises(SimtError, match=said):
        call()
