"""What lecture 7 measures on the learner's GPU: whole solves by several methods."""

import pytest

from course_pkg.bench import gpu
from course_pkg.core import CourseError, Library
from course_pkg.sstep.here import on_this_gpu, solved
from course_pkg.sstep.variants import VARIANTS

ASKED = (VARIANTS["pcg"], {}), (VARIANTS["pcg_sstep"], {"s": 2})


@pytest.mark.parametrize(("variant", "options"), ASKED)
def test_a_solve_is_measured_and_checked(variant, options):
    m = solved(4, variant, options, samples=1)
    assert m.what == variant.by(Library.NUMBA_CUDA)
    assert m.parameters["shape"] == [4, 4, 4] and m.observed["iterations"] == 4


def test_without_a_method_or_a_gpu_a_sentence_says_so():
    with pytest.raises(CourseError, match="at least one method"):
        on_this_gpu()
    if gpu().kind == "gpu":
        assert len(on_this_gpu(*ASKED, edge=8, samples=1)) == len(ASKED)
    else:
        with pytest.raises(CourseError, match="GPU"):
            on_this_gpu(*ASKED)
