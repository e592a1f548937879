"""Kernels of published kinds run, are right, and have no hazard; a race in one of their views is found."""

import numpy as np
import published_calls
import published_numbers
import published_views
import pytest

from course_pkg import simt
from course_pkg.simt.run.kernel import Kernel

EXACT = [*published_views.PUBLISHED, *published_calls.PUBLISHED, *published_numbers.PUBLISHED]
PUBLISHED = [*EXACT, *published_numbers.NEARLY]
TWINS = [(idiom, *twin) for idiom in PUBLISHED for twin in idiom.twins]


def run(idiom, source):
    arguments = idiom.arguments()
    kernel = Kernel.from_source(source, idiom.name, idiom.kernel.__globals__)
    launch = kernel[idiom.blocks, idiom.threads, 0, idiom.shared_bytes]
    return simt.profile(launch, *arguments.values()).hazards, arguments


def test_there_are_sixty():
    assert len({idiom.name for idiom in PUBLISHED}) == len(PUBLISHED) >= 60


@pytest.mark.parametrize("idiom", PUBLISHED, ids=lambda idiom: idiom.name)
def test_a_kernel_of_a_published_kind_is_clean_and_right(idiom):
    found, arguments = run(idiom, idiom.source)
    assert found == [], [str(h) for h in found]
    for name, expected in idiom.expected(idiom.arguments()).items():
        if idiom in published_numbers.NEARLY:
            np.testing.assert_allclose(arguments[name], expected, rtol=1e-6, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(arguments[name], expected, err_msg=name)


@pytest.mark.parametrize(
    ("idiom", "old", "new"), TWINS, ids=[f"{i.name}: {n.strip()[:40]}" for i, _, n in TWINS]
)
def test_no_view_hides_a_race(idiom, old, new):
    found, _ = run(idiom, idiom.twin(old, new))
    assert {"race", "missing_syncwarp"} & {h.kind for h in found}, [str(h) for h in found]
