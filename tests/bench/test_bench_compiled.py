"""The compiler's report on a kernel, for the precision that was launched."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from course_pkg import cuda
from course_pkg.bench import compiled
from course_pkg.core import CourseError


@dataclass(frozen=True)
class Array:
    dtype: str


DOUBLE, SINGLE = (Array("float64"), "uint32"), (Array("float32"), "uint32")


def kernel(*signatures):
    return SimpleNamespace(
        get_regs_per_thread=lambda: {s: 20 + i for i, s in enumerate(signatures)},
        get_shared_mem_per_block=lambda: {s: 1024 * i for i, s in enumerate(signatures)},
        get_local_mem_per_thread=lambda: {s: 8 * i for i, s in enumerate(signatures)},
    )


def test_each_precision_has_figures_of_its_own():
    both = kernel(DOUBLE, SINGLE)
    assert compiled(both, "float64") == {"registers": 20, "shared_bytes": 0, "local_bytes": 0}
    assert compiled(both, "float32") == {"registers": 21, "shared_bytes": 1024, "local_bytes": 8}
    assert compiled(both) == compiled(both, "float32"), "the last one"


@pytest.mark.parametrize("found", [kernel(), kernel(SINGLE)], ids=["never launched", "another precision"])
def test_what_was_not_compiled_has_no_figures(found):
    with pytest.raises(CourseError, match="has not been compiled for float64: launch it"):
        compiled(found, "float64")


def test_the_interpreter_compiles_nothing():
    if getattr(cuda, "BACKEND", "") != "simt":
        pytest.skip("there is a GPU here")

    @cuda.jit
    def empty(a):
        pass

    assert compiled(empty) == {}
