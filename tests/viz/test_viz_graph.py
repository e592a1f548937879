"""The graph picture: shapes, edges through memory and registers, frames, and what cannot be drawn."""

import re
from types import SimpleNamespace

import pytest
from access_cases import corners, count, marks, width

from course_pkg.core import CourseError
from course_pkg.viz import graph_picture
from course_pkg.viz.graph import Graph
from course_pkg.viz.nodes import COLOURS


def node(name, kind="map", formula="u ← v"):
    return SimpleNamespace(name=name, kind=kind, formula=formula)


def edge(source, target, name="u", *, kind="flow", carried=False, scalar=False, neighbours=False):
    return SimpleNamespace(
        source=source, target=target, name=name, kind=kind, carried=carried, scalar=scalar, neighbours=neighbours
    )  # fmt: skip


NODES = [node("scale"), node("apply", "stencil"), node("norm", "reduction"), node("shift")]
EDGES = [
    edge("scale", "apply", neighbours=True),
    edge("scale", "shift"),
    edge("apply", "norm", "v"),
    edge("norm", "shift", "d", scalar=True),
    edge("shift", "scale", "w", carried=True),
    edge("shift", "shift", "w", carried=True),
    edge("norm", "apply", "v", kind="anti", carried=True),
]
GROUPS = [("scale", "apply"), ("norm",), ("shift",)]


def stroke(group):
    """Return the colour and the width of a line."""
    style = next(group.iter("{http://www.w3.org/2000/svg}path")).get("style")
    return re.search(r"stroke: (#\w+)", style)[1], float(re.search(r"stroke-width: ([\d.]+)", style)[1])


def test_nodes_differ_in_shape_and_in_colour():
    _, groups = marks(graph_picture(NODES, EDGES))
    drawn = [groups[f"node-{name}"] for name in ("scale", "apply", "norm")]
    assert len({stroke(g)[0] for g in drawn}) == 3
    assert len({len(corners(g)) for g in drawn[1:]} | {len(corners(drawn[0]))}) >= 2
    hexagon, funnel = (sorted({round(y) for _, y in corners(g)}) for g in drawn[1:])
    assert len(hexagon) == len(funnel) == 3
    narrow = [max(x) - min(x) for x in ([x for x, y in corners(drawn[2]) if round(y) == at] for at in funnel)]
    assert narrow[0] > narrow[2], "a funnel is narrow at its bottom"
    assert len(set(COLOURS.values())) == 3


def test_each_flow_edge_is_drawn_and_only_these():
    ids, _ = marks(graph_picture(NODES, EDGES))
    found = {i for i in ids if i.startswith("edge-") and "fan" not in i}
    assert found == {"edge-u-0-1", "edge-u-0-3", "edge-v-1-2", "edge-d-2-3", "edge-w-3-0"}
    assert count(ids, r"edge-u-0-1-fan-?\d+") == 2, "what is read at the neighbours has a fan"
    assert count(ids, r"edge-.*fan.*") == 2


def test_what_stays_in_a_kernel_has_a_thin_line():
    _, groups = marks(graph_picture(NODES, EDGES, groups=GROUPS))
    inside, outside = stroke(groups["edge-u-0-1"]), stroke(groups["edge-u-0-3"])
    assert inside[1] < outside[1]
    assert inside[0] != outside[0]
    assert stroke(groups["edge-w-3-0"]) == outside, "into the next iteration everything goes through memory"
    _, alone = marks(graph_picture(NODES, EDGES))
    assert stroke(alone["edge-u-0-1"]) == outside


def test_scalars_and_what_is_carried_run_below():
    _, groups = marks(graph_picture(NODES, EDGES))
    low, high = (f([y for _, y in corners(groups["node-scale"])]) for f in (max, min))  # y grows downwards
    for name in ("edge-d-2-3", "edge-w-3-0"):
        assert max(y for _, y in corners(groups[name])) > low
    for name in ("edge-u-0-1", "edge-v-1-2"):
        assert min(y for _, y in corners(groups[name])) < high


def test_buses_of_one_level_do_not_meet():
    graph = Graph(NODES, EDGES, (), (), {})
    for a in graph.buses:
        for b in graph.buses:
            if a is not b and a.below == b.below and graph.levels[a] == graph.levels[b]:
                assert a.span[1] < b.span[0] or b.span[1] < a.span[0]


def test_a_frame_surrounds_the_containers_of_a_kernel():
    ids, groups = marks(graph_picture(NODES, EDGES, groups=GROUPS))
    assert count(ids, r"kernel-\d") == 3
    assert count(marks(graph_picture(NODES, EDGES))[0], r"kernel-\d") == 0
    frame = [x for x, _ in corners(groups["kernel-1"])]
    inner = [x for name in ("scale", "apply") for x, _ in corners(groups[f"node-{name}"])]
    assert min(frame) < min(inner)
    assert max(frame) > max(inner)
    assert width(groups["kernel-1"]) > 1.9 * width(groups["kernel-2"])


def test_what_is_computed_again_is_hatched_and_a_badge_is_shown():
    picture = graph_picture(NODES, EDGES, groups=GROUPS, again=["apply"], badges={"scale": "7×"})
    ids, _ = marks(picture)
    assert "pattern" in picture.svg
    assert "pattern" not in graph_picture(NODES, EDGES, groups=GROUPS).svg
    assert "badge-7×" in ids
    assert "legend-again" in ids
    assert "scale is evaluated 7×. apply computes once more what is not stored." in picture.alt


def test_the_alternative_text_tells_the_graph():
    alt = graph_picture(NODES, EDGES, groups=GROUPS, title="A loop").alt
    assert alt.startswith("A loop. scale, a map: u ← v; apply, a stencil: u ← v; norm, a reduction")
    assert "Kernel 1: scale, apply. Kernel 2: norm. Kernel 3: shift." in alt
    assert "u from scale to apply, shift; v from apply to norm;" in alt
    assert "w from shift to scale (next iteration)" in alt
    assert graph_picture([node("alone")], []).alt == "alone, a map: u ← v."


def test_the_same_graph_gives_the_same_bytes():
    one, two = (graph_picture(NODES, EDGES, groups=GROUPS).svg for _ in range(2))
    assert one == two
    assert (
        one
        != graph_picture(NODES, EDGES, groups=[("scale",), *[(n,) for n in ("apply", "norm", "shift")]]).svg
    )


@pytest.mark.parametrize("n", [1, 5, 8])
def test_all_of_it_lies_in_the_picture(n):
    nodes = [node(f"container{i}") for i in range(n)]
    chain = [edge(f"container{i}", f"container{i + 1}") for i in range(n - 1)]
    picture = graph_picture(nodes, chain, groups=[(c.name,) for c in nodes])
    _, groups = marks(picture)
    box = list(map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture.svg).groups()))
    for name, group in groups.items():
        if re.match(r"node|edge|kernel", name):
            for x, y in corners(group):
                assert -0.5 <= x <= box[0] + 0.5
                assert -0.5 <= y <= box[1] + 0.5


@pytest.mark.parametrize(
    ("nodes", "groups", "said"),
    [
        ([], (), "room for 1 to 8 containers, not for 0"),
        ([node(str(i)) for i in range(9)], (), "not for 9"),
        ([node("a", "scan")], (), "one of map, stencil, reduction, not a scan"),
        (NODES, [("scale", "apply"), ("norm",)], "groups must name scale, apply, norm, shift once each"),
        (NODES, [("apply", "scale"), ("norm", "shift")], "in this order"),
    ],
)
def test_mistakes_are_named(nodes, groups, said):
    with pytest.raises(CourseError, match=said):
        graph_picture(nodes, [], groups=groups)
