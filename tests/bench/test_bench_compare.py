"""Comparisons: the variants are measured in turn, and the table names the one that the others are compared with."""

import sys

import pytest
from shown_cases import Handle

from course_pkg.bench import Comparison, Device, Measurement, compare, progress
from course_pkg.bench import compare as compare_function
from course_pkg.core import Cost, CourseError, Implementation, machine

QUICK = {"samples": 3, "warmup": 1, "min_sample_s": 0}


def test_variants_take_turns_and_are_checked_before_any_sample():
    events = []
    found = compare(
        {"a": lambda x: events.append(("a", x)), "b": lambda x: events.append(("b", x))},
        7,
        cost=Cost(8),
        check=lambda: events.append("check"),
        **QUICK,
    )
    a, b = ("a", 7), ("b", 7)
    assert events == [a, "check", a, b, "check", b] + [a, b] * 3
    assert [m.label for m in found.measurements] == ["a", "b"]
    assert [len(m.samples_s) for m in found.measurements] == [3, 3]


def test_each_variant_can_have_its_own_arguments_cost_and_check():
    events = []
    found = compare(
        {"a": lambda *x: events.append(("a", x)), "b": lambda *x: events.append(("b", x))},
        1,
        2,
        arguments={"b": (3,)},
        cost={"a": Cost(8), "b": Cost(16)},
        check={"b": lambda: events.append("check b")},
        parameters={"n": 5},
        **QUICK,
    )
    assert events[:5] == [("a", (1, 2)), ("a", (1, 2)), ("b", (3,)), "check b", ("b", (3,))]
    assert [m.cost.bytes for m in found.measurements] == [8, 16]
    assert [m.parameters for m in found.measurements] == [{"n": 5}] * 2


def test_a_wrong_variant_stops_the_comparison_before_any_sample():
    calls = []

    def wrong():
        raise AssertionError("wrong result")

    with pytest.raises(AssertionError, match="wrong result"):
        compare(
            {"good": lambda: calls.append("good"), "bad": lambda: calls.append("bad")},
            cost=Cost(8),
            check={"bad": wrong},
            **QUICK,
        )
    assert calls == ["good", "good", "bad"]


def test_mistakes_are_named():
    with pytest.raises(CourseError, match="at least one variant"):
        compare({}, cost=Cost(8))
    with pytest.raises(CourseError, match="samples is 0: pass at least 1"):
        compare({"a": lambda: None}, cost=Cost(8), samples=0)
    for what in ("check", "arguments", "cost"):
        given = {"cost": {"a": Cost(8)}}
        given[what] = {**given.get(what, {}), "A": ()}
        with pytest.raises(CourseError, match=rf"^{what} has A, but no variant has this name"):
            compare({"a": lambda: None}, **given)
    with pytest.raises(CourseError, match="cost has no entry for b"):
        compare({"a": lambda: None, "b": lambda: None}, cost={"a": Cost(8)})


def measurement(name, samples_s, cost, device=None, cache_state="exceeds"):
    device = device or Device("cpu", "A CPU", 2, 0, 0)
    return Measurement(name, tuple(samples_s), (1.0,), 1, cache_state, cost, device, {}, "2026-01-02")


TWO = (
    measurement("slow", [2.0, 2.0, 2.0], Cost(8 * 10**9, 4 * 10**9, unknown_bytes=2 * 10**9)),
    measurement("fast", [0.4, 0.5, 0.6], Cost(2 * 10**9, 2 * 10**9, unknown_bytes=2 * 10**9)),
)


def test_rows_set_each_variant_against_the_first_and_the_bound():
    assert Comparison(TWO, 16.0).rows() == [
        {
            "variant": "slow",
            "time": "2.00 s",
            "spread": "0.0%",
            "bytes / A_eff": "3.00",
            "moved GB/s": "6.0",
            "T_eff GB/s": "2.0",
            "speed-up": "1.00×",
            "of T_peak": "12%",
        },
        {
            "variant": "fast",
            "time": "500 ms",
            "spread": "20.0%",
            "bytes / A_eff": "1.00",
            "moved GB/s": "8.0",
            "T_eff GB/s": "8.0",
            "speed-up": "4.00×",
            "of T_peak": "50%",
        },
    ]


def test_without_a_bound_there_is_no_share_of_it():
    assert all("of T_peak" not in row for row in Comparison(TWO).rows())


def test_the_bound_is_a_number_or_a_machine():
    found = [
        compare({"a": lambda: None}, cost=Cost(8), t_peak_gb_s=peak, **QUICK).t_peak_gb_s
        for peak in (None, 12.5, machine("h200"), machine("h200").measured(4305))
    ]
    assert found == [None, 12.5, 4800, 4305]


def test_a_variant_is_found_by_its_name():
    found = Comparison(TWO)
    assert found["fast"] is TWO[1]
    with pytest.raises(CourseError, match=r"No variant 'fats' was measured; there are slow, fast"):
        found["fats"]


def test_what_is_compared_may_be_an_implementation():
    flat, copy = Implementation("laplacian", "flat", "Numba CUDA"), Implementation("copy", "", "CuPy")
    found = compare(
        {flat: lambda: None, copy: lambda: None},
        cost={flat: Cost(8), copy: None},
        check={copy: lambda: None},
        **QUICK,
    )
    assert found[flat].what == flat
    assert [row["variant"] for row in found.rows()] == ["laplacian flat, Numba CUDA", "copy, CuPy"]
    with pytest.raises(CourseError, match="cost has no entry for copy, CuPy"):
        compare({flat: lambda: None, copy: lambda: None}, cost={flat: Cost(8)})


def test_what_nobody_has_counted_is_unknown_in_the_table():
    rows = Comparison((TWO[0], measurement("library", [1.0], None)), 16.0).rows()
    unknown = [k for k, v in rows[1].items() if v == "unknown"]
    assert unknown == ["bytes / A_eff", "moved GB/s", "T_eff GB/s", "of T_peak"]
    assert rows[1]["speed-up"] == "2.00×"
    assert "unknown" not in rows[0].values()


def test_the_caption_says_where_and_in_which_cache_state():
    assert (
        Comparison(TWO).caption() == "Median of 3 samples on A CPU; the arrays exceed the last-level cache."
    )
    warm = measurement("warm", [1.0], Cost(8), cache_state="warm")
    assert "may lie in the last-level cache" in Comparison((*TWO, warm)).caption()


def test_the_caption_names_every_device():
    gpu = measurement("gpu", [1.0], Cost(8), Device("gpu", "A GPU", 2, 0, 0))
    assert "on A CPU and A GPU;" in Comparison((*TWO, gpu)).caption()
    interpreted = measurement("interpreted", [1.0], Cost(8), Device("simt", "An interpreter", 0, 0, 0))
    assert "interpreter say nothing about a GPU" in Comparison((*TWO, interpreted)).caption()
    assert "say nothing about a GPU" not in Comparison((*TWO, gpu)).caption()


def test_a_comparison_shows_as_text_and_as_html():
    found = Comparison(TWO, 16.0)
    lines = str(found).splitlines()
    assert lines[0].split()[:2] == ["variant", "time"]
    assert len(lines) == 5
    assert lines[-1] == found.caption()
    assert "<caption>Median of 3 samples" in found._repr_html_()


def test_html_is_escaped():
    odd = measurement("<b>&", [1.0], Cost(8), Device("cpu", "<i>CPU</i>", 1, 0, 0))
    shown = Comparison((odd,))._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "&lt;i&gt;CPU" in shown
    assert "<b>" not in shown
    assert "<i>" not in shown


def test_progress_says_nothing_in_a_pipe(capsys):
    with progress(2) as step:
        step("one")
        step("two")
    assert capsys.readouterr() == ("", "")


def test_progress_is_a_bar_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress(2) as step:
        step("the first")
    assert "the first" in capsys.readouterr().err


def test_progress_in_a_notebook_vanishes_and_is_escaped(monkeypatch):
    pytest.importorskip("IPython", reason="no notebooks without IPython")
    shown = []

    module = sys.modules[compare_function.__module__]
    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda what, display_id: Handle(shown))
    with progress(2) as step:
        step("<x>")
        step("y")
    assert 'value="0" max="2"' in shown[0]
    assert "&lt;x&gt;" in shown[0]
    assert 'value="1" max="2"' in shown[1]
    assert shown[2] == ""
