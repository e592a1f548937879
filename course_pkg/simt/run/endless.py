"""Endless loops: stop a ``while`` as soon as it is certain, or almost certain, that it never ends.

Some values decide whether a loop goes on: the values that its condition reads, the values that lead to a ``break`` or a
``return``, and the values from which these are computed. If a trip changes none of them, and no lane leaves, then every
further trip is the same, and the loop never ends. If a trip changes them, the loop may still end. It then gets a budget
of statements. The budget is renewed whenever a deciding comparison comes closer to its turning point. An example is
``i < n`` in a loop that increases ``i``.
"""

import ast
from functools import cached_property

from course_pkg.simt.errors import Endless
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import regions_of
from course_pkg.simt.run.budget import endless
from course_pkg.simt.run.deadlock import for_ever, line_of
from course_pkg.simt.run.deciding import all_known, closer, deciding, distance_of, leaves, same, tests
from course_pkg.simt.run.roles import Role, others_first
from course_pkg.simt.run.sequences import Iterator
from course_pkg.simt.run.spinning import atomics
from course_pkg.simt.run.turns import may_wait_here
from course_pkg.simt.run.waits import Waits

FEW = 4  # as WATCHED, for a loop that may wait for other threads
WATCHED = 64  # at least one trip in this many is watched
UNWATCHED = 2_000  # maximum work between two watched trips, in statements of a small launch
TOLERATED = 100_000  # maximum work without progress, in statements: a few seconds
FEWEST = 256  # minimum number of trips without progress before a loop is stopped
CHECKED = 6  # looking for races makes a statement this many times slower
THREADS = 1 << 12  # a statement takes about twice as long for this many threads as for a few


class Watch:
    """Watches one ``while`` loop while it runs.

    Parameters
    ----------
    run : Run
    frame : Frame
    node : ast.While
    """

    def __init__(self, run, frame, node: ast.While):
        self._run, self._frame, self._node = run, frame, node
        self._before: dict | None = None
        self._changed: set = set()
        self._lets_on = False
        self._restart(None)
        if isinstance(node.test, ast.Constant) and node.test.value and not leaves(node):
            raise self._stopped("nothing in it leaves it")

    def _restart(self, lanes) -> None:
        self._lanes, self._trips, self._distances = lanes, 0, None
        self._since = self._looked = self._run.patience

    def begin(self, lanes) -> None:
        """Note that lanes begin a trip of the loop.

        Raises
        ------
        Endless
            If the loop never ends.
        """
        waited = False
        if self._lanes is None or lanes.threads != self._lanes.threads:
            self._restart(lanes)
            if self._run.half is not None:
                self._run.half.leaves(self)
        elif self._before is not None and self._unchanged():
            waited = self._waits("a trip changes nothing that decides about the next one", True)
        self.end()
        self._trips += 1
        often = 1 if self._lets_on else FEW if self._may_wait else WATCHED
        if waited or self._trips % often == 0 or self._work(self._looked) > UNWATCHED:
            self._look()

    def _work(self, since: int) -> float:
        times = CHECKED if self._run.races is not None else 1
        return times * (since - self._run.patience) * (1 + self._run.wave.threads / THREADS)

    def _look(self) -> None:
        """Record the deciding values, to compare them after this trip; stop a loop that comes no closer to its end."""
        self._looked = self._run.patience
        self._before, self._changed = self._values(), set()
        self._run.watching.append(self._changed)
        now = [distance_of(self._run, self._frame, test, self._lanes) for test in tests(self._node)]
        if self._distances is None or any(map(closer, self._distances, now)):
            self._since, self._trips = self._looked, 0
        elif self._work(self._since) > self._tolerated and self._trips > FEWEST:
            self._waits("its trips bring it no closer to its end", False)
        elif self._may_wait and isinstance(self._run.half, Role):
            self._lets_on = self._run.half.lets_others_on(self)
        self._distances = now

    @cached_property
    def _tolerated(self) -> float:
        return TOLERATED / 4 if self._may_wait else TOLERATED

    @cached_property
    def _may_wait(self) -> bool:
        """Whether the loop may wait for what threads do that have not come to it."""
        return may_wait_here(self._run, self._frame, self._node)

    def _waits(self, why: str, unchanged: bool) -> bool:
        """Let threads outside the loop go on; return true if some have.

        Raises
        ------
        Apart, Endless
            If no other part of the wave can go on: then the launch begins again in more parts, or is stopped.
        """
        run, half = self._run, self._run.half
        where = Waits(self._place, self._lanes, atomics(self._node))
        if half is not None and (unchanged or isinstance(half, Role)) and half.waits(self, where):
            return True
        if self._may_wait and run.launch.may_begin_again:
            others_first(run, where)
        if not unchanged and self._work(self._since) < TOLERATED:
            return False
        if unchanged and self._may_wait and isinstance(half, Role | None):
            raise for_ever(run, half.crew.stuck() if half else [where])
        raise self._stopped(why)

    @property
    def _place(self) -> SourceLine:
        return SourceLine(self._frame.program.name, self._node.lineno)

    def leave(self) -> None:
        """Note that all lanes have left the loop."""
        self.end()
        if self._run.half is not None:
            self._run.half.leaves(self)

    def end(self) -> None:
        """Note that the watched trip has ended."""
        self._run.watching = [changed for changed in self._run.watching if changed is not self._changed]
        self._before = None

    def _values(self) -> dict:
        variables = self._frame.variables
        held = {n: variables[n].value for n in deciding(self._node) if n in variables}
        return {n: value.at if isinstance(value, Iterator) else value for n, value in held.items()}

    @cached_property
    def _known(self) -> bool:
        """Whether a trip can change nothing but variables and memory, so that an unchanged one repeats itself."""
        plain = not any(isinstance(part, ast.NamedExpr) for part in walk(self._node))
        return plain and all_known(self._run, self._frame, self._node, set())

    def _unchanged(self) -> bool:
        now = self._values()
        if not self._known or now.keys() != self._before.keys():
            return False
        if self._changed & {region for value in now.values() for region in regions_of(value)}:
            return False
        return all(same(self._before[name], value) for name, value in now.items())

    def _stopped(self, why: str) -> Endless:
        return endless(self._run, f", as that of the `while` in {line_of(self._run, self._place)}: {why}")
