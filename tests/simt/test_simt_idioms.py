"""Correct idioms give the right result and no hazard; for their racy copies a hazard is reported."""

import numpy as np
import pytest
from idioms import IDIOMS

from course_pkg import simt
from course_pkg.simt.run.kernel import Kernel

pytestmark = pytest.mark.slow(50)

CONFLICTS = ("race", "missing_syncwarp")
TWINS = [(idiom, *twin[:2], twin[2:] or CONFLICTS) for idiom in IDIOMS for twin in idiom.twins]


def hazards(idiom, source):
    arguments = idiom.arguments()
    kernel = Kernel.from_source(source, idiom.name, idiom.kernel.__globals__)
    return simt.profile(
        kernel[idiom.blocks, idiom.threads, 0, idiom.shared_bytes], *arguments.values()
    ).hazards, arguments


def test_there_are_twenty_idioms_and_most_have_a_twin():
    assert len(IDIOMS) >= 20
    assert all(idiom.twins for idiom in IDIOMS)


@pytest.mark.family
@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
def test_an_idiom_is_clean_and_right(idiom):
    found, arguments = hazards(idiom, idiom.source)
    assert found == [], [str(h) for h in found]
    for name, expected in idiom.expected(idiom.arguments()).items():
        np.testing.assert_array_equal(arguments[name], expected, err_msg=name)


@pytest.mark.family
@pytest.mark.parametrize(
    ("idiom", "old", "new", "kinds"),
    TWINS,
    ids=[f"{i.name}: {o.strip()[:40]} -> {n.strip()[:30]}" for i, o, n, _ in TWINS],
)
def test_a_racy_twin_is_found(idiom, old, new, kinds):
    found, _ = hazards(idiom, idiom.twin(old, new))
    assert set(kinds) & {h.kind for h in found}, [str(h) for h in found]
