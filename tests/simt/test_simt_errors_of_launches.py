"""Launches that CUDA refuses: wrong arguments, grids, blocks and sizes of shared memory."""

import functools

import numpy as np
import pytest
from test_simt_errors import of, ones, refused

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.simt.run.kernel import jit


@jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = factor * x[i]


class Solver:
    gain = 2.0

    @jit
    def scaled(self, x):
        x[0] = self.gain

    @staticmethod
    @jit
    def doubled(x):
        x[0] *= 2.0

    def __call__(self, x):
        x[0] = 1.0


@pytest.mark.parametrize("arguments", [(ones(),), (Solver(), ones())])
def test_a_kernel_that_is_a_method(arguments):
    sentence = refused(Solver().scaled[1, 1], *arguments)
    assert (
        sentence.startswith("scaled is a method")
        and "write the kernel outside the class, without self" in sentence
    )
    x = np.ones(1)
    Solver().doubled[1, 1](x)
    assert x[0] == 2


@pytest.mark.parametrize("made", [functools.partial(len, []), Solver()])
def test_what_only_behaves_like_a_function_is_no_kernel(made):
    assert "only behaves like a function: write @cuda.jit above a def" in refused(jit, made)


@pytest.mark.parametrize("arguments", [(), (ones(),), (ones(), 2.0, 3.0)])
def test_the_wrong_number_of_arguments(arguments):
    sentence = refused(scale[1, 32], *arguments)
    assert "2 argument" in sentence and "x, factor" in sentence and str(len(arguments)) in sentence


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ([1.0, 2.0], "list"),
        ("text", "str"),
        (None, "NoneType"),
        ({}, "dict"),
        ({1, 2}, "set"),
        (object(), "object"),
    ],
)
def test_the_wrong_type_of_argument(wrong, name):
    sentence = refused(scale[1, 32], wrong, 2.0)
    assert sentence.startswith("x ") and name in sentence
    sentence = refused(scale[1, 32], ones(), wrong)
    assert sentence.startswith("factor ") and name in sentence


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([None]), np.array([1], "M8[s]"), np.ones(2, ">f8")]
)
def test_arrays_of_things_that_are_no_numbers(array):
    assert "x" in refused(scale[1, 32], array, 2.0)


def test_a_launch_takes_no_arguments_by_name():
    with pytest.raises(
        CourseError, match=r"A launch of scale gives arguments by their place, .*: leave out factor="
    ):
        scale[1, 32](ones(), factor=2.0)


def test_a_number_where_an_array_is_needed():
    refused(scale[1, 32], 3.0, 2.0)


@pytest.mark.parametrize(
    ("blocks", "threads", "said"),
    [
        (1, 1025, "1024"),
        (1, (32, 33), "1024"),
        (1, (1, 1, 65), "64"),
        (1, (1, 2000, 1), "1024"),
        ((1, 65536), 32, "65535"),
        ((1, 1, 65536), 32, "65535"),
        (2**31, 32, str(2**31 - 1)),
        (0, 32, "0"),
        ((4, 0), 32, "0"),
        (1, 0, "0"),
        (1, (8, 0, 2), "0"),
        (-1, 32, "-1"),
        (1, -32, "-32"),
    ],
)
def test_grids_and_blocks_that_cuda_refuses(blocks, threads, said):
    sentence = refused(lambda *a: scale[blocks, threads](*a), ones(), 2.0)
    assert said in sentence.replace(",", "").replace("\N{NARROW NO-BREAK SPACE}", "")


@pytest.mark.parametrize("blocks", [1.5, "1", None, (1, 2, 3, 4), (), [1.0]])
def test_sizes_that_are_no_sizes(blocks):
    refused(lambda *a: scale[blocks, 32](*a), ones(), 2.0)
    refused(lambda *a: scale[1, blocks](*a), ones(), 2.0)


def test_the_largest_launch_is_accepted():
    x = ones()
    scale[(1, 1), (16, 1, 64)](x, 1.0)
    scale[1, 1024](x, 2.0)
    np.testing.assert_array_equal(x, 2)


@pytest.mark.parametrize("configuration", [(1,), (1, 2, 3, 4, 5)])
def test_a_launch_needs_a_grid_and_a_block(configuration):
    refused(lambda *a: scale[configuration](*a), ones(), 2.0)


def test_a_kernel_is_not_called_without_a_grid():
    assert "scale[" in refused(scale, ones(), 2.0)


def test_too_much_static_shared_memory():
    kernel = of("x[0] = 5\ntile = cuda.shared.array(6145, np.float64)\ntile[0] = 1")
    sentence = refused(kernel[1, 32], ones())
    assert "line 3" in sentence and "49152" in sentence
    of("tile = cuda.shared.array(6144, np.float64)\ntile[0] = 1")[1, 1](ones())


def test_static_shared_memory_counts_all_arrays():
    two = (
        "a = cuda.shared.array(4000, np.float64)\nb = cuda.shared.array(4000, np.float64)\na[0] = 1\nb[0] = 1"
    )
    assert "49152" in refused(of(two)[1, 1], ones())
