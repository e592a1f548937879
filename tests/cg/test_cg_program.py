"""Programs as graphs: which containers are allowed, and which dependences follow from their reads and writes."""

import pytest

from course_pkg.cg.dependences import Edge, dependences
from course_pkg.cg.program import CG, Container, Program, conjugate_gradient
from course_pkg.core import CourseError


def edges(program, kind, *, carried, scalar=False):
    return {
        (e.source, e.target, e.name)
        for e in program.edges
        if (e.kind, e.carried, e.scalar) == (kind, carried, scalar)
    }


def test_conjugate_gradients_flow_is_the_documents():
    assert edges(CG, "flow", carried=False) == {
        ("updateP", "matVec", "p"),
        ("updateP", "dot pAp", "p"),
        ("updateP", "updateXandR", "p"),
        ("matVec", "dot pAp", "s"),
        ("matVec", "updateXandR", "s"),
        ("updateXandR", "dot rr", "r"),
    }
    assert edges(CG, "flow", carried=False, scalar=True) == {("dot pAp", "updateXandR", "pAp")}


def test_what_the_next_iteration_reads_is_carried():
    assert edges(CG, "flow", carried=True) == {
        ("updateP", "updateP", "p"),
        ("updateXandR", "updateP", "r"),
        ("updateXandR", "updateXandR", "r"),
        ("updateXandR", "updateXandR", "x"),
    }
    assert edges(CG, "flow", carried=True, scalar=True) == {
        ("dot rr", "updateP", "delta"),
        ("dot rr", "updateXandR", "delta"),
    }
    assert CG.carried == ("r", "p", "x", "delta")


def test_what_is_read_before_it_is_overwritten_is_an_anti_dependence():
    assert edges(CG, "anti", carried=False) == {("updateP", "updateXandR", "r")}
    assert edges(CG, "anti", carried=True) == {
        ("dot rr", "updateXandR", "r"),
        ("matVec", "updateP", "p"),
        ("dot pAp", "updateP", "p"),
        ("updateXandR", "updateP", "p"),
        ("dot pAp", "matVec", "s"),
        ("updateXandR", "matVec", "s"),
    }
    assert edges(CG, "anti", carried=False, scalar=True) == {
        ("updateP", "dot rr", "delta"),
        ("updateXandR", "dot rr", "delta"),
    }


def test_edges_at_the_neighbours_are_those_of_the_stencil():
    around = {(e.source, e.target, e.kind) for e in CG.edges if e.neighbours}
    assert around == {("updateP", "matVec", "flow"), ("matVec", "updateP", "anti")}


def test_a_field_that_is_written_twice_is_an_output_dependence():
    a = Container("a", "map", writes=("u",))
    b = Container("b", "map", reads=("u",), writes=("v",))
    c = Container("c", "map", writes=("u",))
    found = dependences((a, b, c))
    assert Edge("a", "c", "u", "output") in found
    assert Edge("c", "a", "u", "output", carried=True) in found
    assert Edge("b", "c", "u", "anti") in found
    assert Edge("a", "b", "u", "flow") in found
    assert not [e for e in found if e.kind == "flow" and e.carried]


def test_a_field_that_nobody_writes_makes_no_edge():
    program = Program("scale", (Container("scale", "map", reads=("b",), writes=("u",)),), results=("u",))
    assert [e for e in program.edges if e.name == "b"] == []
    assert program.carried == ()


def test_containers_are_found_by_name():
    assert CG["matVec"].kind == "stencil"
    with pytest.raises(CourseError, match="has no container 'matvec'; it has updateP, matVec, dot pAp"):
        CG["matvec"]


def test_the_stencil_may_have_other_points():
    assert CG.points == 7
    assert conjugate_gradient(27).points == 27
    with pytest.raises(CourseError, match="at least one point"):
        conjugate_gradient(0)
    with pytest.raises(CourseError, match=r"points is 7\.5"):
        conjugate_gradient(7.5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "scan"}, "c is a 'scan': a container is one of map, stencil, reduction"),
        ({"kind": "map", "reads": "uv", "writes": ("w",)}, "reads of c is 'uv': give a tuple of names"),
        ({"kind": "map"}, "c is a map, which writes a field and makes no scalar"),
        ({"kind": "map", "writes": ("u",), "makes": ("d",)}, "writes a field and makes no scalar"),
        ({"kind": "map", "writes": ("u",), "neighbours": ("v",)}, "reads at the point: use reads, or a stencil"),
        ({"kind": "stencil", "reads": ("u",), "writes": ("v",)}, "c is a stencil, which needs fields in neighbours"),
        ({"kind": "stencil", "neighbours": ("u",), "writes": ("u",)}, "c overwrites u while its neighbours still"),
        ({"kind": "reduction", "reads": ("u",)}, "c is a reduction, which makes a scalar and writes no field"),
        ({"kind": "reduction", "writes": ("u",), "makes": ("d",)}, "makes a scalar and writes no field"),
        ({"kind": "map", "writes": ("u",), "flops": -1}, "flops is -1"),
    ],
)  # fmt: skip
def test_what_a_container_cannot_be_is_named(arguments, said):
    with pytest.raises(CourseError, match=said):
        Container("c", **arguments)


def test_what_a_program_cannot_be_is_named():
    a = Container("a", "map", writes=("u",))
    with pytest.raises(CourseError, match="has no containers"):
        Program("nothing", ())
    with pytest.raises(CourseError, match="Two containers are called a"):
        Program("twice", (a, a))
    with pytest.raises(CourseError, match=r"No container writes v: choose the results from \['u'\]"):
        Program("wrong", (a,), results=("v",))
