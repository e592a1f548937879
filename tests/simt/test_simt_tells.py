"""A kernel cannot tell the interpreter from a GPU; on the host, only the differences of one list can."""

import numba.cuda
import numpy as np
import pytest

from course_pkg import simt
from course_pkg.simt import api, tells
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run import hints

HOST = sorted(set(dir(api)) - set(api._NAMES) - {"__builtins__", "random"})


def launch(text, **names):
    source = f"def kernel(out):\n    i = cuda.grid(1)\n    out[i] = 1.0 if {text} else 2.0\n"
    kernel = simt.Kernel.from_source(source, "kernel", {"cuda": api, **names})
    kernel[1, 32](np.zeros(32))


@pytest.mark.parametrize("name", [*HOST, "__class__"])
def test_a_kernel_cannot_name_what_is_for_the_host(name):
    with pytest.raises(SimtError, match=f"cuda.{name} is for host code: .* cannot find out where it runs"):
        launch(f"cuda.{name} == 'simt'")


@pytest.mark.parametrize(
    "text",
    [
        *("BACKEND == 'simt'", "BACKEND", "simt.profile", "tells.NAMES", "device.name", "context.device"),
        *("cuda.grid.simt_name", "cuda.threadIdx.__class__", "cuda.jit.__name__", "cuda.shared.simt_name"),
        *(
            "type(i)",
            "hasattr(cuda, 'gpus')",
            "getattr(cuda, 'gpus')",
            "id(i)",
            "dir()",
        ),
        *("i.data", "i.__class__", "out.host", "out.region", "out.base_array", "out.flat", "out.space"),
        *("np.__name__", "np.random", "globals()", "locals()", "open('x')", "__import__('os')", "time()"),
    ],
)
def test_no_expression_in_a_kernel_tells_where_it_runs(text):
    from time import time

    names = {"BACKEND": api.BACKEND, "simt": simt, "tells": tells, "np": np, "time": time}
    names |= {"device": api.get_current_device(), "context": api.current_context()}
    with pytest.raises(SimtError):
        launch(text, **names)


# The target that Numba itself still brings is older than the package numba-cuda, which has cache hints. Its module
# of random numbers becomes a name of numba.cuda when it is imported.
NUMBAS = {*dir(numba.cuda), *hints.LOADS, *hints.STORES, "random"}


def test_every_name_that_numba_lacks_is_on_the_list():
    ours = {name for name in dir(api) if not name.startswith("_")}
    assert ours - NUMBAS == tells.NAMES


def test_the_list_of_answers_names_what_both_have():
    assert set(tells.ANSWERS) <= set(dir(api)) & NUMBAS


def test_public_names_of_the_door_are_documented_as_such_or_on_the_list():
    assert set(api.__all__) - NUMBAS <= tells.NAMES
