"""Bad input: one sentence says how to fix it, and no result is written in part."""

import re

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.report.profiling import profile
from course_pkg.simt.run.budget import limits
from course_pkg.simt.run.kernel import Kernel, jit

N = 8


def refused(launch, *arguments, error=SimtError):
    """Launch, expect a refusal, and return its sentence."""
    with pytest.raises(error) as raised:
        launch(*arguments)
    sentence = str(raised.value)
    assert sentence.endswith(".") and "\n" not in sentence, sentence
    return sentence


def ones():
    return np.ones(N)


def of(body, parameters="x", names=()):
    lines = "\n".join("    " + line for line in body.splitlines())
    return Kernel.from_source(
        f"def kernel({parameters}):\n{lines}\n", "kernel", {"cuda": cuda, "np": np, **dict(names)}
    )


@pytest.mark.parametrize("shape", ["n", "x.size", "-3", "2.5", "cuda.blockDim.x"])
def test_the_size_of_a_shared_array_must_be_known(shape):
    kernel = of(f"tile = cuda.shared.array({shape}, np.float64)\ntile[0] = 1", "x, n")
    assert "line 2" in refused(kernel[1, 1], ones(), 3)


def test_source_that_is_not_available():
    names = {"cuda": cuda}
    exec("def hidden(x):\n    x[0] = 1\n", names)
    sentence = refused(lambda x: jit(names["hidden"])[1, 1](x), ones())
    assert "hidden" in sentence and "source" in sentence.lower() and "from_source" in sentence


def test_a_lambda_and_a_builtin_are_no_kernels():
    refused(lambda x: jit(lambda x: x)[1, 1](x), ones())
    refused(lambda x: jit(len)[1, 1](x), ones())


UNSUPPORTED = {
    "list comprehension": "x[0] = 7\ny = [k for k in range(3)]",
    "list": "x[0] = 7\ny = [1, 2, 3]",
    "generator": "x[0] = 7\ny = sum(k for k in range(3))",
    "dict": "x[0] = 7\ny = {1: 2}",
    "set": "x[0] = 7\ny = {1, 2}",
    "str": "x[0] = 7\ny = 'text'",
    "f-string": "x[0] = 7\ny = f'{x[0]}'",
    "try": "x[0] = 7\ntry:\n    x[0] = 1\nexcept Exception:\n    pass",
    "with": "x[0] = 7\nwith x:\n    pass",
    "yield": "x[0] = 7\nyield 1",
    "class": "x[0] = 7\nclass A:\n    pass",
    "import": "x[0] = 7\nimport math",
    "del": "x[0] = 7\ndel x",
    "starred": "x[0] = 7\na, *b = 1, 2, 3",
    "walrus": "x[0] = 7\ny = (z := 3)",
    "match": "x[0] = 7\nmatch (3, 0):\n    case (3, 0):\n        pass",
    "matrix product": "x[0] = 7\ny = 3 @ 4",
    "unknown attribute": "x[0] = 7\ny = x.flags",
    "unknown function of NumPy": "x[0] = 7\ny = np.linspace(0, 1, 3)",
    "method": "x[0] = 7\nx.sort()",
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_constructs_name_line_and_way_out(name):
    sentence = refused(of(UNSUPPORTED[name])[1, 1], ones(), error=Unsupported)
    assert "line 3" in sentence
    assert re.search(
        r" is (nothing that Numba compiles for a GPU|outside what the interpreter runs): \w", sentence
    )


NO_NUMBER = {
    "x[0] = 7\ny = x + x": "x is a whole array, and one number is needed: choose an element of it",
    "x[0] = 7\ny = x.shape < 3": "x.shape is a tuple that holds one number: take it out by x.shape[0]",
    "x[0] = 7\ny = 1 < 2 < cuda.grid(2)": "cuda.grid(2) is 2 numbers, and one is needed: choose one of them",
    "x[0] = 7\ny = 2 * cuda.blockDim": "cuda.blockDim has a part for each direction: write cuda.blockDim.x",
    "x[0] = 7\nt = cuda.threadIdx; y = t + 1": "t is cuda.threadIdx, which has a part for each direction: write",
    "x[0] = 7\nx[cuda.grid] = 1": "cuda.grid is a function and no number: call it, as in cuda.grid(1)",
    "x[0] = 7\nx[0] += cuda.gridsize": "cuda.gridsize is a function and no number: call it",
    "x[0] = 7\ny = range(cuda.gridsize)": "cuda.gridsize is a function and no number: call it",
}


@pytest.mark.parametrize("body", NO_NUMBER)
def test_what_stands_where_one_number_is_needed_is_told_with_what_to_write(body):
    sentence = refused(of(body)[1, 1], ones(), error=Unsupported)
    assert sentence.startswith(f"kernel, line 3: {NO_NUMBER[body]}")


HALF_WAY = {
    **UNSUPPORTED,
    "whole-array arithmetic": "x[0] = 7\ny = x + x",
    "too much shared memory": "x[0] = 7\ntile = cuda.shared.array(6145, np.float64)",
    "a name that is not defined": "x[0] = 7\nx[1] = nowhere",
    "an index that is no index": "x[0] = 7\nx[0.5] = 1",
    "an index too many": "x[0] = 7\nx[0, 0] = 1",
    "an array copied into a slice": "x[0] = 7\nx[1:3] = x[3:5]",
    "a value returned": "x[0] = 7\nreturn 3",
    "a function of the host": "x[0] = 7\nx[1] = print(x[0], sep='')",
}


@pytest.mark.parametrize("name", HALF_WAY)
def test_nothing_is_written_by_a_kernel_that_is_refused(name):
    x = ones()
    with pytest.raises(SimtError):
        of(HALF_WAY[name])[1, 1](x)
    np.testing.assert_array_equal(x, ones())


def test_an_unsupported_construct_that_no_thread_reaches_is_refused_as_well():
    body = "x[0] = 7\nif x.size > 100:\n    y = [1, 2]"
    assert "line 4" in refused(of(body)[1, 1], ones(), error=Unsupported)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("raise NotImplementedError()", "raises NotImplementedError: the kernel is not written yet."),
        ("raise NotImplementedError", "raises NotImplementedError: the kernel is not written yet."),
        ("raise ValueError('no heat.')", "raises ValueError: no heat."),
        ("raise ValueError", "raises ValueError."),
        ("raise", "raises an exception."),
    ],
)
def test_raise_stops_the_launch_where_a_thread_comes_to_it(statement, said):
    kernel = of(f"i = cuda.grid(1)\nif i == 2:\n    {statement}\nx[i] = 7")
    for launch in (kernel[1, N], lambda x: profile(kernel[1, N], x)):
        assert refused(launch, ones()) == f"kernel, line 4: {said}"
    x = ones()
    kernel[1, 2](x)
    np.testing.assert_array_equal(x, [7, 7, 1, 1, 1, 1, 1, 1])


def test_a_branch_that_raises_leaves_no_types_behind():
    kernel = of("i = cuda.grid(1)\nif i < 99:\n    y = 3\nelse:\n    raise ValueError\nx[i] = y")
    x = ones()
    kernel[1, N](x)
    np.testing.assert_array_equal(x, 3)


def test_a_device_function_that_is_not_written_yet_says_so():
    inner = Kernel.from_source("def inner(v):\n    raise NotImplementedError()\n", "inner", {}, device=True)
    said = refused(of("x[0] = inner(3)", names={"inner": inner})[1, 1], ones())
    assert said == "inner, line 2: raises NotImplementedError: the kernel is not written yet."


def test_a_loop_without_end_is_stopped_by_the_budget():
    endless = of("while x[0] > 0:\n    x[0] = 2")
    with limits(steps=500):
        for launch in (endless[1, 1], lambda x: profile(endless[1, 1], x)):
            assert "runs on and on" in refused(launch, ones())
        of("for k in range(100):\n    x[0] += 1")[1, 1](ones())
    with limits(steps=50), limits(steps=None):
        of("for k in range(100):\n    x[0] += 1")[1, 1](ones())


def test_a_function_of_the_host_is_refused():
    def helper(v):
        return v

    sentence = refused(of("x[0] = 7\nx[1] = helper(3)", names={"helper": helper})[1, 1], ones())
    assert "helper" in sentence and "line 3" in sentence and "device=True" in sentence


def test_a_device_function_with_an_unsupported_construct_names_itself():
    inner = Kernel.from_source("def inner(v):\n    return [v]\n", "inner", {}, device=True)
    sentence = refused(
        of("x[0] = 7\nx[1] = inner(3)", names={"inner": inner})[1, 1], ones(), error=Unsupported
    )
    assert "inner" in sentence and "line 2" in sentence


def test_recursion_is_refused():
    names = {}
    names["again"] = Kernel.from_source(
        "def again(v):\n    return again(v - 1)\n", "again", names, device=True
    )
    assert "again" in refused(of("x[0] = 7\nx[1] = again(3)", names=names)[1, 1], ones())


def test_a_name_that_is_not_defined():
    sentence = refused(of("x[0] = 7\nx[1] = nowhere")[1, 1], ones())
    assert "nowhere" in sentence


def test_a_variable_that_no_thread_has_set():
    sentence = refused(of("x[0] = 7\nx[1] = y\ny = 3")[1, 1], ones())
    assert "y" in sentence and "line 3" in sentence


@pytest.mark.parametrize("index", ["0.5", "0, 0", "(0, 1, 2)", "x"])
def test_an_index_that_does_not_fit_the_array(index):
    assert "line 3" in refused(of(f"x[0] = 7\nx[{index}] = 1")[1, 1], ones())


def test_a_device_function_with_the_wrong_number_of_arguments():
    inner = Kernel.from_source("def inner(v):\n    return v\n", "inner", {}, device=True)
    assert "inner" in refused(of("x[0] = 7\nx[1] = inner(3, 4)", names={"inner": inner})[1, 1], ones())


def test_a_kernel_that_returns_a_value_is_refused():
    assert "line 3" in refused(of("x[0] = 7\nreturn 3")[1, 1], ones())


CELL = """
def go(k, x):
    k[1, 32](x)

go(kernel, x)
"""
OUTSIDE = "y = inner(x[0])\nif y > 0:\n    x[40] = 2"


def shown(kernel, x):
    """Return what a notebook shows when a cell launches a kernel."""
    try:
        exec(compile(CELL, "/tmp/ipykernel_7/123.py", "exec"), {"kernel": kernel, "x": x})
    except SimtError as error:
        _, *lines = error._render_traceback_()  # the first line is that of this test
        return lines


def test_a_notebook_shows_the_learners_lines_and_one_sentence():
    inner = Kernel.from_source("def inner(v):\n    return v\n", "inner", {}, device=True)
    lines = shown(of(OUTSIDE, names={"inner": inner}), ones())
    assert [line.partition(":")[0] for line in lines] == [
        "In the cell, line 5", "In the cell, line 3", "In kernel, line 4", "HazardError"
    ]  # fmt: skip
    assert lines[2].endswith(":  x[40] = 2")
    assert lines[3].startswith("HazardError: kernel, line 4: thread 0 of block 0 uses x[40], outside")


def test_a_notebook_shows_the_line_of_a_device_function_too():
    inner = Kernel.from_source("def inner(v):\n    return {}\n", "inner", {}, device=True)
    lines = shown(of(OUTSIDE, names={"inner": inner}), ones())
    assert lines[2:4] == ["In kernel, line 2:  y = inner(x[0])", "In inner, line 2:  return {}"]
    assert lines[4].startswith("Unsupported: inner, line 2: a dict is nothing that") and len(lines) == 5


def test_jupyter_asks_the_error_what_to_show(capsys):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns.update(kernel=of("x[40] = 2"), x=ones())
    shell.run_cell("kernel[1, 32](x)")
    told = capsys.readouterr().out
    assert "In kernel, line 2:  x[40] = 2\n" in told and "run_launch" not in told
    assert len(told.strip().splitlines()) == 3


def test_an_assertion_runs_what_it_calls_and_stops_the_launch_where_it_fails():
    """Numba compiles the call; a thread whose assertion fails would leave the kernel without a message."""

    @jit(device=True)
    def noted(x, i):
        x[i] += 1.0
        return x[i] < 9.0

    @jit
    def kernel(x):
        assert noted(x, cuda.grid(1)), "large"

    x = np.arange(4.0)
    kernel[1, 4](x)
    np.testing.assert_array_equal(x, np.arange(4.0) + 1)
    with pytest.raises(
        SimtError, match=r"^kernel, line \d+: the assertion noted\(x, cuda.grid\(1\)\) fails\.$"
    ):
        kernel[1, 4](x + 6)
