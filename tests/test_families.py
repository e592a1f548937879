"""A draw from large families of tests: what it leaves out, and that it can be drawn again."""

import subprocess
import sys
from types import SimpleNamespace

import families
import pytest

FAMILY = """
import pytest

@pytest.mark.family
@pytest.mark.parametrize("n", range(40))
def test_one_of_many(n):
    assert n >= 0

@pytest.mark.parametrize("n", range(7))
def test_each(n):
    assert n >= 0
"""
CONFTEST = """
import os
import families
from families import pytest_addoption
def pytest_configure(config):
    config.pluginmanager.register(families.Families(config, os.environ))
"""


def test_the_same_seed_draws_the_same_whatever_else_there_is():
    many = {"a": list(range(400)), "b": list(range(3))}
    one, other = families.draw(many, 7), families.draw({"a": many["a"]}, 7)
    assert one["a"] == other["a"] and len(set(one["a"])) == 50 and len(one["b"]) == families.LEAST
    assert set(families.draw(many, 8)["a"]) != set(one["a"])
    assert families.draw({"a": [1]}, 7) == {"a": [1]}


def test_in_time_all_are_drawn():
    many = {"a": list(range(40))}
    assert set().union(*(families.draw(many, seed)["a"] for seed in range(200))) == set(many["a"])


def asked(source=pytest.Config.ArgsSource.TESTPATHS, **options):
    """A configuration with these options."""
    return SimpleNamespace(args_source=source, getoption=options.get)


@pytest.mark.parametrize(
    ("config", "environ"),
    [
        (asked(), {"CI": "true"}),
        (asked(all=True), {}),
        (asked(source=pytest.Config.ArgsSource.ARGS), {}),
        (asked(keyword="one"), {}),
        (asked(markexpr="bare or browser"), {}),
    ],
    ids=["on CI", "--all", "a file is named", "-k", "-m"],
)
def test_all_run(config, environ):
    assert families.seed_of(config, environ) is None


def test_otherwise_some_are_drawn_afresh_or_with_the_seed_that_was_given():
    assert families.seed_of(asked(), {}) != families.seed_of(asked(), {})
    assert families.seed_of(asked(draw=3), {"CI": "true"}) == 3


@pytest.fixture
def run(tmp_path):
    """A function that runs a family of forty in a folder of its own, with options; it returns what pytest says."""
    (tmp_path / "test_many.py").write_text(FAMILY)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .\nmarkers = family\n")

    def go(*options):
        path = f"import sys; sys.path.insert(0, {families.__file__.rpartition('/')[0]!r}); import pytest; "
        call = f"sys.exit(pytest.main({['-q', '-p', 'no:cacheprovider', *options]!r}))"
        environment = {"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", path + call], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return go


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_the_summary_says_what_was_left_and_how_to_run_it(run, workers):
    said = run("--draw", "5", *workers)
    assert "12 passed" in said
    assert "Of 40 tests of large families, 5 were drawn and run." in said
    assert 'make test ARGS="--draw 5"' in said and "make test ARGS=--all" in said


def test_with_all_of_them_the_summary_says_nothing(run):
    said = run("--all")
    assert "47 passed" in said and "families" not in said
