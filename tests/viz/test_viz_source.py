"""The source of a function, as a lecture shows it."""

from functools import cache

import pytest

from course_pkg import cuda, viz
from course_pkg.core import CourseError


@cuda.jit
def plain(out):
    out[0] = 1  # why


@cache
def made(n):
    @cuda.jit
    def inner(out):
        """Say nothing."""
        out[0] = n

    return inner


def documented(x):
    """Return it.

    At length.
    """
    return x


def test_a_kernel_is_shown_with_its_decorator_and_comments():
    assert viz.source(plain).data == "```python\n@cuda.jit\ndef plain(out):\n    out[0] = 1  # why\n```"


def test_a_kernel_made_by_a_function_is_dedented_and_loses_its_docstring():
    assert viz.source(made(3)).data == "```python\n@cuda.jit\ndef inner(out):\n    out[0] = n\n```"


def test_a_long_docstring_is_left_out():
    assert viz.source(documented).data == "```python\ndef documented(x):\n    return x\n```"


def test_only_functions_have_a_source_to_show():
    square = lambda x: x * x  # noqa: E731
    with pytest.raises(CourseError, match="written with def"):
        viz.source(square)
