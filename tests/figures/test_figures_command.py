"""`course figures`: figures and tables depend only on the scripts and the data, and a change of either is noticed."""

import argparse
import importlib
import runpy
import shutil
from functools import cache
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from course_pkg import bench
from course_pkg.commands import figures
from course_pkg.core import CourseError
from course_pkg.paths import repo_root
from course_pkg.vector.peak import recorded_t_peak
from course_pkg.viz import Picture

CHECK, WRITE = argparse.Namespace(check=True), argparse.Namespace(check=False)

SCRIPT = """
from course_pkg.viz import Picture

def pictures():
    return {"one": Picture("<svg>1</svg>", "One."), "two": Picture("<svg>2</svg>", "Two.")}
"""


@cache
def offered(script):
    """What a script of the course offers; it draws once for all tests of this file."""
    module = runpy.run_path(script)
    return module | {name: cache(module[name]) for name in ("pictures", "tables", "pages") if name in module}


def script_of(name):
    return str(repo_root() / "figures" / f"{name}.py")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one script that draws two figures."""
    monkeypatch.setattr(figures, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(figures, "figure", lambda name: tmp_path / "figures" / "output" / name)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "a_script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "README.md").write_text("# A course\n", encoding="utf-8")
    return tmp_path


def test_the_tracked_figures_are_up_to_date(monkeypatch):
    monkeypatch.setattr(figures, "runpy", SimpleNamespace(run_path=offered))
    assert figures.run(CHECK) == 0


def test_the_tracked_figures_are_svg_and_none_is_left_over():
    drawn = {}
    for script in sorted((repo_root() / "figures").glob("*.py")):
        pictures = offered(str(script))["pictures"]()
        assert not set(pictures) & set(drawn), "two scripts draw one figure"
        drawn.update(pictures)
    assert all(isinstance(picture, Picture) for picture in drawn.values())
    files = sorted((repo_root() / "figures" / "output").iterdir())
    assert [path.name for path in files] == sorted(f"{name}.svg" for name in drawn)
    for path in files:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_figures_are_written_and_then_up_to_date(course, capsys):
    assert figures.run(WRITE) == 0
    out = course / "figures" / "output"
    assert {p.name: p.read_text(encoding="utf-8") for p in out.iterdir()} == {
        "one.svg": "<svg>1</svg>",
        "two.svg": "<svg>2</svg>",
    }
    assert "one.svg" in capsys.readouterr().out
    assert figures.run(CHECK) == 0
    assert figures.run(WRITE) == 0
    assert "up to date" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["edited", "deleted"])
def test_a_changed_figure_makes_the_check_fail_and_is_left_alone(course, change):
    figures.run(WRITE)
    path = course / "figures" / "output" / "two.svg"
    path.write_text("<svg>other</svg>", encoding="utf-8") if change == "edited" else path.unlink()
    with pytest.raises(CourseError, match=r"Not up to date: .*two\.svg; run `course figures`") as error:
        figures.run(CHECK)
    assert "one.svg" not in str(error.value)
    assert not path.exists() or path.read_text(encoding="utf-8") == "<svg>other</svg>"
    figures.run(WRITE)
    assert path.read_text(encoding="utf-8") == "<svg>2</svg>"


def test_a_changed_script_makes_the_check_fail(course):
    figures.run(WRITE)
    script = course / "figures" / "a_script.py"
    script.write_text(SCRIPT.replace("<svg>1", "<svg>11"), encoding="utf-8")
    with pytest.raises(CourseError, match=r"one\.svg"):
        figures.run(CHECK)


def test_changed_data_make_the_check_fail(tmp_path, monkeypatch):
    """A real script on a copy of the real data, of which one sample is changed: its table shows this measurement."""
    root, folder = repo_root(), tmp_path / "figures"
    for name in ("data", "output"):
        shutil.copytree(root / "figures" / name, folder / name)
    shutil.copy(script_of("measured"), folder)
    shutil.copy(root / "README.md", tmp_path)
    monkeypatch.setattr(figures, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(figures, "figure", lambda name: tmp_path / "figures" / "output" / name)
    record = importlib.import_module("course_pkg.bench.record")  # the package's name `record` is the function
    monkeypatch.setattr(record, "recorded_dir", lambda: tmp_path / "figures" / "data")
    assert figures.run(CHECK) == 0
    path = tmp_path / "figures" / "data" / "nvidia-h200" / "stencil.json"
    lines = path.read_text(encoding="utf-8").splitlines()
    i = next(i for i, line in enumerate(lines) if '"diffusion_step_2d", "variant": "", ' in line)
    head, samples = lines[i].split('"samples_s": [')
    lines[i] = head + '"samples_s": [9, 9, 9' + samples[samples.index("]") :]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CourseError, match=r"README\.md"):
        figures.run(CHECK)


needs_tables = pytest.mark.skipif(not hasattr(figures, "put_table"), reason="this version writes no tables")


@needs_tables
def test_a_table_replaces_the_lines_between_its_marks():
    text = "before\n<!-- begin t -->\nold\nlines\n<!-- end t -->\nafter\n<!-- begin u -->\n<!-- end u -->\n"
    found = figures.put_table(text, "t", r"| new \1 |")
    assert found == text.replace("old\nlines", r"| new \1 |")
    assert figures.put_table(found, "t", r"| new \1 |") == found
    with pytest.raises(CourseError, match="no place for the table 'v': put <!-- begin v -->"):
        figures.put_table(text, "v", "x")


@needs_tables
def test_a_stale_table_makes_the_check_fail(course):
    readme = course / "README.md"
    readme.write_text("# A\n<!-- begin t -->\nold\n<!-- end t -->\n", encoding="utf-8")
    script = course / "figures" / "a_script.py"
    script.write_text(SCRIPT + '\ndef tables():\n    return {"t": "| 1 |"}\n', encoding="utf-8")
    with pytest.raises(CourseError, match=r"README\.md"):
        figures.run(CHECK)
    assert "old" in readme.read_text(encoding="utf-8")
    figures.run(WRITE)
    assert readme.read_text(encoding="utf-8") == "# A\n<!-- begin t -->\n| 1 |\n<!-- end t -->\n"
    assert figures.run(CHECK) == 0


@pytest.mark.parametrize("name", ["measured", "measured-cg"])
def test_a_table_has_columns_for_each_gpu_on_which_all_its_topics_are_recorded(name):
    module = offered(script_of("measured"))
    heading, _, first, *_ = module["tables"]()[name].splitlines()
    records = bench.records("cg")
    assert {one.device.slug for one in records} >= {"nvidia-h100-80gb-hbm3", "nvidia-h200"}
    for one in records:
        assert f"{one.device.name.split()[1]}" in heading
    assert first.count("|") == heading.count("|")


def test_the_rooflines_show_each_gpu_with_its_own_peak():
    module = offered(script_of("measured"))
    alt = module["pictures"]()["rooflines"].alt
    for one in bench.records("vector"):
        assert f"a slope of {recorded_t_peak(one):,.0f} GB/s" in alt


def test_the_frames_of_the_moving_strip_need_nothing_of_each_other():
    """What a hidden frame defines is hidden in the others, too."""
    module = offered(script_of("readme"))
    moving = module["strip"]()
    root = ElementTree.fromstring(moving.svg)
    style, *frames = list(root)
    assert "infinite" in style.text
    assert [frame[-1].text for frame in frames] == [f"stride {n}" for n in module["STRIDES"]]
    assert [frame.get("class") for frame in frames] == ["f first", "f", "f", "f"]
    assert not [
        name for one in root.iter() for name, value in one.items() if "url(" in value or name.endswith("href")
    ]
    assert "Stride 32: 32 lanes ask for 256 B: 32 sectors, 1,024 B moved, 25% used." in moving.alt


def test_a_dark_figure_has_its_hues():
    dark = offered(script_of("readme"))["dark"]
    assert dark('<svg width="1"><svg/></svg>') == (
        '<svg style="filter:invert(1) hue-rotate(180deg)" width="1"><svg/></svg>'
    )
    assert "#ffffff" not in dark('<svg><rect fill="#ffffff"/></svg>'), "turned, it is blacker than the page"
