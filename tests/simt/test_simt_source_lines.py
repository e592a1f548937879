"""The lines of a function are those that the standard library finds, but it is not asked where they are known."""

import inspect
import linecache

import pytest

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import source

FILE = "<cell 7>"
TEXT = """\
@named
@named
def kernel(
    a,
):
    '''Set the first element.

    It is one.
    '''
    a[0] = 1

last = lambda a: (
    a[0])
both = [lambda*a: 1, kernel]
"""


@pytest.fixture
def cell(monkeypatch):
    """What a cell of a notebook defines."""
    monkeypatch.setitem(linecache.cache, FILE, (len(TEXT), None, TEXT.splitlines(True), FILE))
    names = {"named": lambda function: function}
    exec(compile(TEXT, FILE, "exec"), names)
    return names


@pytest.mark.parametrize("name", ["kernel", "last"])
def test_the_lines_of_a_cell_are_found_without_a_search(cell, name, monkeypatch):
    code = cell[name].__code__
    expected = inspect.getsourcelines(code)
    monkeypatch.setattr(inspect, "getsourcelines", None)
    assert source._lines_of(code) == expected


def test_the_standard_library_is_asked_where_a_line_does_not_begin_a_function(cell):
    code = cell["both"][0].__code__
    assert source._lines_of(code) == inspect.getsourcelines(code)


def test_lines_that_nobody_knows_are_an_error_that_says_what_to_do(cell):
    del linecache.cache[FILE]
    with pytest.raises(SimtError, match="The source of 'kernel' is not available"):
        source.program_of(cell["kernel"])
