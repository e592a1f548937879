"""Large families of tests: `make test` draws some of each family, and CI runs all of them.

A family is a test function with many parameters, marked ``family``: one kernel after the other is written differently,
one wrong answer after the other is graded. A draw keeps `make test` short. It is a fresh one each time, so that in the
end everyone's runs together have seen all; the summary names its seed.
"""

import math
import random
import secrets
from collections import defaultdict

import pytest

SHARE = 1 / 8  # of each family
LEAST = 2


def pytest_addoption(parser):
    """Add options; ``make test ARGS=--all`` hands them over."""
    group = parser.getgroup("families", "large families of tests")
    group.addoption("--all", action="store_true", help="run all tests of large families, as CI does")
    group.addoption("--draw", type=int, metavar="SEED", help="draw the same tests of large families again")


def seed_of(config, environ) -> int | None:
    """Return the seed of the draw, or None if all tests run: on CI, with --all, or because the user chose tests."""
    if config.getoption("draw") is not None:
        return config.getoption("draw")
    chosen = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    if chosen or config.getoption("keyword") or config.getoption("markexpr"):
        return None
    return None if config.getoption("all") or environ.get("CI") else secrets.randbits(32)


def draw(families: dict, seed: int) -> dict:
    """Return which members of each family are drawn: an eighth of them, and at least two.

    Parameters
    ----------
    families : dict of str to list
        The members by the name of the family.
    seed : int
        The same seed draws the same members, whatever other families there are.
    """
    return {
        name: random.Random(f"{seed} {name}").sample(
            members, min(len(members), max(LEAST, math.ceil(SHARE * len(members))))
        )
        for name, members in families.items()
    }


class Families:
    """Leaves out what was not drawn, and says so at the end."""

    def __init__(self, config, environ):
        self.worker = getattr(config, "workerinput", None)
        self.seed = self.worker["draw"] if self.worker else seed_of(config, environ)
        self.drawn = self.all = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Give a worker the seed: all workers must draw the same tests."""
        node.workerinput["draw"] = self.seed

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        """Take out what was not drawn."""
        if self.seed is None:
            return
        families = defaultdict(list)
        for item in items:
            if item.get_closest_marker("family") and hasattr(item, "callspec"):
                families[item.nodeid.partition("[")[0]].append(item)
        kept = {item for members in draw(families, self.seed).values() for item in members}
        left = {item for members in families.values() for item in members} - kept
        self.drawn, self.all = len(kept), len(kept) + len(left)
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=list(left))

    def pytest_sessionfinish(self, session):
        """Tell the process that writes the summary."""
        if self.worker:
            session.config.workeroutput["families"] = self.drawn, self.all

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Hear it from a worker; all of them say the same."""
        self.drawn, self.all = getattr(node, "workeroutput", {}).get("families", (self.drawn, self.all))

    def pytest_terminal_summary(self, terminalreporter):
        """Say what was drawn, how to draw it again, and how to run all."""
        if self.all > self.drawn:
            terminalreporter.write_line(
                f"Of {self.all} tests of large families, {self.drawn} were drawn and run. "
                f'The same again: make test ARGS="--draw {self.seed}"; all of them, as on CI: make test ARGS=--all'
            )
