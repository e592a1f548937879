"""Every plot is a picture whose alternative text contains its numbers."""

import re
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from course_pkg import viz
from course_pkg.bench import Comparison, Device, Measurement
from course_pkg.core import Cost, Implementation, catalogue, machine
from course_pkg.vector.peak import horner_sweep
from course_pkg.viz import Picture, machines, measurements
from course_pkg.viz.axes import name_within
from course_pkg.viz.roofline_explorer import FLOPS_A_NUMBER, _explore

CPU = Device("cpu", "A CPU", 2, 0, 0)


def measurement(name, samples_s, cost, **parameters):
    return Measurement(name, tuple(samples_s), (1.0,), 1, "exceeds", cost, CPU, parameters, "2026-01-02")


def stream(n, time_s):
    return measurement("copy", [0.9 * time_s, time_s, 1.1 * time_s], Cost(8 * n, 8 * n), n=n)


def horner(degree, time_s):
    return measurement("horner", [time_s], Cost(8000, 8000, 2000 * degree), n=1000, degree=degree)


COMPARISON = Comparison(
    (
        measurement("four <statements>", [4e-3], Cost(7 * 10**6, 4 * 10**6, 0, 10**6, 10**6)),
        measurement("fused", [1e-3], Cost(2 * 10**6, 10**6, 0, 10**6, 10**6)),
    ),
    5.0,
)
SWEEP = {
    "copy": [stream(2**10, 1e-6), stream(2**20, 2e-3)],
    "a & b": [stream(2**10, 2e-6), stream(2**20, 4e-3)],
}
DEGREES = {
    "this machine": [horner(1, 1e-3), horner(16, 1.5e-3)],
    "another": [horner(1, 1e-3), horner(16, 4e-3)],
}

# plot: (a call that draws it, what its alternative text says)
PLOTS = {
    "roofline": (
        lambda: viz.roofline(machine("h200").measured(4305), [("triad", 1 / 12, 350.0), ("roof", 2.0, None)]),
        [
            "H200 SXM",
            "4,305 GB/s",
            "34,000 GFLOP/s",
            "7.9 flop per byte",
            "triad at 0.0833 flop/byte, 350 GFLOP/s",
            "roof at 2 flop/byte, 8,610 GFLOP/s",
        ],
    ),
    "roofline in single precision": (
        lambda: viz.roofline(machine("p100"), dtype="float32"),
        ["10,600 GFLOP/s", "732 GB/s", "14.5 flop per byte"],
    ),
    "rooflines": (
        lambda: viz.rooflines(
            [
                (machine("h100-sxm").measured(3000), [("triad", 1 / 12, 250.0)]),
                (machine("h200").measured(4305), []),
            ]
        ),
        [
            "H100 SXM5: a slope of 3,000 GB/s",
            "triad at 0.0833 flop/byte, 250 GFLOP/s",
            "H200 SXM: a slope of 4,305",
        ],
    ),
    "memory_wall": (
        lambda: viz.memory_wall(catalogue().values()),
        ["float64", "Tesla P100 SXM2 (2016) 58", "H100 PCIe (2022) 104", "EPYC 9654 (server CPU) (2022) 64"],
    ),
    "t_eff_sweep": (
        lambda: viz.t_eff_sweep(SWEEP, t_peak_gb_s=20.0, caches=[("L2", 2**20)], note="Recorded here."),
        ["copy: 16.4 GB/s at 16 KiB", "8.4 GB/s at 16 MiB", "a & b: 8.2 GB/s at 16 KiB", "Recorded here."],
    ),
    "t_eff_sweep without a bound": (lambda: viz.t_eff_sweep(SWEEP), ["copy: 16.4 GB/s"]),
    "bars": (
        lambda: viz.bars(COMPARISON, title="One step", note="Recorded here."),
        [
            "One step",
            "four <statements>: 4.00 ms, T_eff 1 of 3 GB/s moved",
            "fused: 1.00 ms, T_eff 3 of 3 GB/s",
            "Recorded here.",
        ],
    ),
    "bars without a bound": (lambda: viz.bars(Comparison(COMPARISON.measurements)), ["fused: 1.00 ms"]),
    "flops_sweep": (
        lambda: viz.flops_sweep(DEGREES, note="Recorded here."),
        [
            "this machine: 2 flops 1.00×, 32 flops 1.50×",
            "another: 2 flops 1.00×, 32 flops 4.00×",
            "Recorded here.",
        ],
    ),
    "samples": (
        lambda: viz.samples([measurement("fused", [1e-3, 2e-3, 6e-3], Cost(8))], note="Recorded here."),
        ["fused: minimum 1.00 ms, median 2.00 ms, mean 3.00 ms", "Recorded here."],
    ),
}


@pytest.mark.parametrize(("plot", "said"), PLOTS.values(), ids=PLOTS)
def test_plot(plot, said):
    picture = plot()
    assert isinstance(picture, Picture)
    for text in said:
        assert text in picture.alt
    assert ElementTree.fromstring(picture.svg).tag.endswith("svg")
    assert plot().svg == picture.svg, "the same figure gives the same bytes"


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (Implementation("", "fused"), ["fused"]),
        (Implementation("diffusion_step_2d", "", "Numba CUDA"), ["diffusion step 2d,", "Numba CUDA"]),
        (
            Implementation("diffusion_step_2d", "four_statements", "Numba CUDA"),
            ["diffusion step 2d four", "statements,", "Numba CUDA"],
        ),
    ],
)
def test_a_long_label_of_a_bar_takes_lines_and_not_the_place_of_the_bars(what, lines):
    assert measurements._in_lines([what]) == [lines]
    both = measurements._in_lines([Implementation("copy", "", "CuPy"), what])
    assert both == [["copy,", "CuPy"] if len(lines) > 1 else ["copy, CuPy"], lines], "labels are broken alike"
    drawn = viz.bars(Comparison((measurement(what, [1e-3], Cost(8, 8)),), 5.0)).svg
    assert drawn.count(lines[0]) == 1 and (len(lines) == 1 or what.label not in drawn.partition("</desc>")[2])


def test_a_comma_in_a_name_begins_no_line():
    named = Implementation("", "my own kernel, the second try")
    assert measurements._in_lines([named]) == [["my own kernel, the second", "try"]]


def test_other_numbers_give_another_figure():
    slower = Comparison((COMPARISON.measurements[0],), 5.0)
    assert viz.bars(slower).svg != viz.bars(COMPARISON).svg


def test_a_legend_names_only_what_bars_show():
    exact = Comparison((measurement("copy", [1e-3], Cost(8, 8)),), 5.0)
    assert "all bytes moved" not in viz.bars(exact).svg
    assert "all bytes moved" in viz.bars(COMPARISON).svg
    assert viz.roofline(machine("p100")).svg != viz.roofline(machine("p100").measured(500)).svg


def test_the_legend_of_the_memory_wall_is_no_data(monkeypatch):
    """Its markers lie above the axes: inside, they look like machines."""
    figures = []
    monkeypatch.setattr(
        machines,
        "draw",
        lambda plot, alt, **_: figures.append(Figure(layout="constrained")) or plot(figures[0]),
    )
    viz.memory_wall(catalogue().values())
    FigureCanvasSVG(figures[0]).draw()
    [axes], [legend] = figures[0].axes, figures[0].legends
    assert axes.get_legend() is None
    assert legend.get_window_extent().y0 >= axes.get_window_extent().y1


def test_the_memory_wall_takes_any_iterable_and_precision():
    picture = viz.memory_wall(iter([machine("p100"), machine("h200")]), dtype="float32")
    assert "float32" in picture.alt
    assert "(2016) 58" in picture.alt  # half the bytes, twice the flops
    assert "(2024) 56" in picture.alt


def test_the_explorer_turns_from_memory_bound_to_compute_bound_at_the_ridge():
    h200 = machine("h200")
    assert "1,200 GFLOP/s at 0.25 flop/byte" in _explore(h200, 2).alt
    assert "34,000 GFLOP/s at 8 flop/byte" in _explore(h200, 64).alt
    assert FLOPS_A_NUMBER[0] < 8 * h200.ridge() < FLOPS_A_NUMBER[-1]


def test_the_explorer_is_a_slider_over_flops():
    control, frames = viz.roofline_explorer(machine("p100"), start=FLOPS_A_NUMBER[3]).children
    assert [label for label, _ in control.options] == [
        f"{flops:.3g}" if isinstance(flops, float) else str(flops) for flops in FLOPS_A_NUMBER
    ]
    assert control.index == frames.selected_index == 3
    assert len(frames.children) == len(FLOPS_A_NUMBER)


def test_a_line_that_ends_before_the_others_has_its_name_at_its_own_end():
    longer = [
        *DEGREES["another"],
        replace(DEGREES["another"][-1], cost=Cost(8, 8, 8 * DEGREES["another"][-1].cost.flops)),
    ]
    svg = viz.flops_sweep({"this machine": DEGREES["this machine"], "another": longer}).svg
    own, right = (
        float(re.search(rf' x="([\d.]+)"[^>]*>{name}<', svg)[1]) for name in ("this machine", "another")
    )
    assert own < right - 50


@pytest.mark.parametrize("rise", [1.0, 1.15, 1.5, 3.0])
def test_no_line_passes_through_the_name_of_one_that_ends_before_it(rise):
    """However the others go on from there: what is measured live may lie on a recorded line."""
    figure = Figure(figsize=(11, 3.6))
    ax = figure.subplots()
    ax.loglog([2, 4, 64], [1, 1, 1], "o-")
    ax.loglog([2, 64, 128, 256], [1, 1.05, rise, rise**2], "o-")
    ax.axhline(1)
    ax.set_ylim(0.5, 10)
    name_within(ax, 64, 1.0, "live", "green")
    (box,) = (text.get_window_extent() for text in ax.texts)
    for line in ax.lines:
        path = line.get_transform().transform_path(line.get_path())
        assert not path.intersects_bbox(box.shrunk(0.9, 0.6), filled=False)


def test_panels_of_one_label_are_named_by_their_devices():
    here = measurement("triad", [1e-3, 2e-3], Cost(8))
    there = replace(here, device=replace(CPU, name="NVIDIA H200"))
    svg = viz.samples([here, there]).svg
    assert all(f">{name}<" in svg for name in ("triad", "H200")) and "H200" not in viz.samples([here]).svg


def test_a_line_that_leaves_the_picture_has_its_name_at_the_edge():
    first, second = horner_sweep([1, 4], n=4096, samples=2)
    faster = replace(second, samples_s=(first.median_s / 1000,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "0.00×" in viz.flops_sweep({"this CPU": [first, faster]}).alt
