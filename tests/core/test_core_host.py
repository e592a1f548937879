"""How much memory this process may take: the machine's, its control groups' and the learner's limit."""

import pytest

from course_pkg.core import CourseError, host
from course_pkg.vector.peak import stream_size

GIB = 2**30


@pytest.fixture
def limited(monkeypatch):
    monkeypatch.setenv(host.MEMORY, "64")


def test_an_environment_variable_limits_what_measurements_take(limited):
    assert host.free_memory() == 64 * host.MIB
    assert stream_size(GIB) == 2**19  # three vectors in a quarter of 64 MiB


@pytest.mark.parametrize("text", ["0", "-4", "1.5", "2 GB"])
def test_a_limit_that_is_no_number_is_named(monkeypatch, text):
    monkeypatch.setenv(host.MEMORY, text)
    with pytest.raises(CourseError, match=f"COURSE_MEMORY_MIB is '{text}': set it to how many MiB"):
        host.free_memory()


def group(folder, names, limit, used, cache):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, used, f"anon 1\n{names[2]} {cache}\n"), strict=True):
        (folder / (name if name != names[2] else "memory.stat")).write_text(str(text))


def left(root, path, names):
    return list(host._left_in(root, path, names))


@pytest.mark.parametrize("names", [host.VERSION_1, host.VERSION_2])
def test_a_control_group_leaves_its_limit_without_what_is_used_and_cannot_be_freed(tmp_path, names):
    group(tmp_path / "pods" / "one", names, 4 * GIB, 3 * GIB, GIB)
    group(tmp_path / "pods", names, 3 * GIB, 3 * GIB, 0)
    assert left(tmp_path, "/pods/one", names) == [2 * GIB, 0]
    # a container sees its own group as the root of all
    group(tmp_path, names, 5 * GIB, GIB, 0)
    assert left(tmp_path, "/not/seen/from/here", names) == [4 * GIB]


def test_a_group_without_a_limit_leaves_everything(tmp_path):
    group(tmp_path / "all", host.VERSION_2, "max", 3 * GIB, 0)
    assert left(tmp_path, "/all", host.VERSION_2) == []
