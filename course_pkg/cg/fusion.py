"""Which containers of a program may share a kernel, and what each kernel then reads, writes and exchanges.

A kernel reads a field once, however many of its containers read it. A value that it computes and needs again at the
same point stays in a register. A field that no later kernel reads is not stored, unless it is a result of the program.
A stencil cannot take its neighbours' values from the registers of other threads. So if they are not in memory, a thread
computes them again at each point of its stencil.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from course_pkg.cg import dataflow, legality
from course_pkg.cg.dependences import Edge, dependences
from course_pkg.cg.legality import Refusal
from course_pkg.cg.program import CG, Container, Program, deferred_x
from course_pkg.core import CourseError


@dataclass(frozen=True)
class Kernel:
    """One kernel of a plan.

    Attributes
    ----------
    containers : tuple of Container
        In order. A container that computes a field for the second time is called ``"matVec (2)"``, and so on.
    again : tuple of str
        Names of the containers that compute a field again.
    spread : tuple of str
        Containers that each thread evaluates at all points of the stencil.
    reads : dict of str to bool
        Fields read from memory; the value says whether they are read at all points of the stencil.
    writes : tuple of str
        Fields stored to memory.
    swapped : tuple of str
        Fields that exist twice: the kernel reads one copy and writes the other.
    halo : tuple of str
        Fields whose faces it needs from the neighbouring GPUs, because they changed since they were last sent.
    points : int
        Points of the stencil.

    Examples
    --------
    >>> first = TWO_KERNEL.kernels[0]
    >>> first.reads, first.writes, first.swapped
    ({'r': True, 'p': True}, ('p',), ('p',))
    """

    containers: tuple[Container, ...]
    again: tuple[str, ...]
    spread: tuple[str, ...]
    reads: dict[str, bool]
    writes: tuple[str, ...]
    swapped: tuple[str, ...]
    halo: tuple[str, ...]
    points: int


@dataclass(frozen=True)
class Plan:
    """A program cut into kernels, and the reasons, if any, why it cannot run. :func:`plan` makes it.

    Examples
    --------
    >>> TWO_KERNEL.legal, TWO_KERNEL.passes, TWO_KERNEL.fields
    (True, (5, 3), ('r', 'p1', 'p2', 'x'))
    """

    program: Program
    kernels: tuple[Kernel, ...]
    refusals: tuple[Refusal, ...]

    @property
    def legal(self) -> bool:
        """True if the plan can run."""
        return not self.refusals

    @property
    def why(self) -> str:
        """Why it cannot run, each sentence once; empty for a legal plan."""
        return " ".join(dict.fromkeys(r.why for r in self.refusals))

    @property
    def passes(self) -> tuple[float, float]:
        """Number of fields read, and of fields written, in an iteration, if neighbours come from a cache.

        If one trip through the program's loop does several iterations, these are means over them.
        """
        reads, writes = sum(len(k.reads) for k in self.kernels), sum(len(k.writes) for k in self.kernels)
        turns = self.program.iterations
        return (reads, writes) if turns == 1 else (reads / turns, writes / turns)

    def moved(self, itemsize: int) -> tuple[float, float]:
        """Return the bytes read and written per point in an iteration: ``passes``, times the width of each field."""

        def width(fields):
            return sum(self.program.widths.get(f, itemsize) for k in self.kernels for f in fields(k))

        turns, moved = self.program.iterations, (width(lambda k: k.reads), width(lambda k: k.writes))
        return moved if turns == 1 else (moved[0] / turns, moved[1] / turns)

    def stored(self, itemsize: int) -> int:
        """Return the bytes per point of all fields in memory."""
        return sum(len(copies) * self.program.widths.get(f, itemsize) for f, copies in self._copies.items())

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields in memory; a field with two copies appears as ``p1`` and ``p2``."""
        return tuple(copy for copies in self._copies.values() for copy in copies)

    @property
    def _copies(self) -> dict[str, tuple[str, ...]]:
        swapped = {f for k in self.kernels for f in k.swapped}
        names = dict.fromkeys(f for k in self.kernels for f in (*k.reads, *k.writes))
        return {f: (f"{f}1", f"{f}2") if f in swapped else (f,) for f in names}

    def alone(self, kernel: int) -> "Plan":
        """Return a plan with one of the kernels only; its cost is that of the kernel."""
        return replace(self, kernels=(self.kernels[kernel],))

    # ---- for pictures of the plan

    @property
    def containers(self) -> tuple[Container, ...]:
        """All containers in the order in which they run, including those that run again."""
        return tuple(c for k in self.kernels for c in k.containers)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Dependences between the containers."""
        return dependences(self.containers)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the containers of each kernel."""
        return tuple(tuple(c.name for c in k.containers) for k in self.kernels)

    @property
    def again(self) -> tuple[str, ...]:
        """Names of the containers that run again."""
        return tuple(name for k in self.kernels for name in k.again)

    @property
    def badges(self) -> dict[str, str]:
        """Containers that each thread evaluates at several points, with the number of points."""
        return {name: f"{k.points}×" for k in self.kernels for name in k.spread}

    def require_legal(self) -> None:
        """Raise :class:`CourseError` with the reasons if the plan cannot run."""
        if not self.legal:
            raise CourseError(f"This plan has no cost, because it cannot run. {self.why}")


def plan(program: Program, groups, *, recompute=(), in_place: bool = False) -> Plan:
    """Cut a program into kernels, and find out whether it can run like this.

    Parameters
    ----------
    program : Program
    groups : sequence of sequences of str
        Names of the containers of each kernel, in the order in which they run.
    recompute : sequence of str
        Fields that are never stored: each kernel that reads one computes it again.
    in_place : bool
        Keep one copy of every field. Otherwise a field that a kernel both reads at the neighbours and writes is kept
        twice.

    Raises
    ------
    CourseError
        If a container is missing, unknown or named twice, or no container writes a field of ``recompute``. A plan that
        cannot run raises no error; its ``refusals`` say why it cannot.

    Examples
    --------
    >>> plan(CG, MAP_AND_STENCIL).passes
    (9, 4)
    >>> plan(CG, MAP_AND_STENCIL, in_place=True).refusals[0].rule
    'race'
    """
    groups, recompute = _checked(program, groups, recompute)
    refusals = legality.out_of_order(program, groups)
    refusals += legality.recomputed_in_vain(program, groups, recompute)
    # a carried field depends on itself: computing it again would never end; such fields are refused above
    recompute = [f for f in recompute if f not in program.carried + program.results]
    times = {}  # how often each field has been computed so far
    bodies = [dataflow.with_recomputed(program, group, recompute, times) for group in groups]
    own = {c.name for c in program.containers}
    inputs = [dataflow.inputs(body) for body in bodies]
    kernels = []
    for i, (body, (spread, reads, wide)) in enumerate(zip(bodies, inputs, strict=True)):
        again = tuple(c.name for c in body if c.name not in own)
        written = [f for c in body if c.name in own for f in c.writes if f not in recompute]
        later = inputs[i + 1 :] + inputs[: i + 1], bodies[i + 1 :] + bodies[: i + 1]
        writes = tuple(
            f for f in dict.fromkeys(written) if f in program.results or dataflow.read_again(f, *later)
        )
        raced = tuple(f for f in writes if reads.get(f))
        halo = tuple(f for f, around in reads.items() if around and dataflow.stale(f, i, inputs, bodies))
        swapped = () if in_place else raced
        kernels.append(Kernel(tuple(body), again, spread, reads, writes, swapped, halo, program.points))
        refusals += legality.barriers(i + 1, body)
        refusals += [legality.too_wide(i + 1, *found, program.points) for found in wide]
        refusals += [legality.race(i + 1, body, field) for field in raced if in_place]
    return Plan(program, tuple(kernels), tuple(refusals))


def cut(program: Program, starts) -> tuple[tuple[str, ...], ...]:
    """Return the groups of a program, cut so that each container in ``starts`` begins a new kernel.

    The first container always begins a kernel.

    Examples
    --------
    >>> cut(CG, ["updateXandR"])
    (('updateP', 'matVec', 'dot pAp'), ('updateXandR', 'dot rr'))
    """
    starts = {program[name].name for name in starts}
    groups = []
    for container in program.containers:
        if not groups or container.name in starts:
            groups.append([])
        groups[-1].append(container.name)
    return tuple(map(tuple, groups))


def _checked(program, groups, recompute):
    if isinstance(groups, str) or any(isinstance(group, str) for group in groups):
        raise CourseError("groups is a sequence of sequences of names, such as [['updateP', 'matVec'], …].")
    groups = tuple(tuple(program[name].name for name in group) for group in groups if len(group))
    named = [name for group in groups for name in group]
    for container in program.containers:
        if named.count(container.name) != 1:
            raise CourseError(
                f"{container.name} is named {named.count(container.name)} times: name each container once. "
                "To compute a field again, list it in recompute."
            )
    if isinstance(recompute, str):
        raise CourseError(f"recompute is {recompute!r}: give a sequence of fields, such as ['{recompute}'].")
    written = [f for c in program.containers for f in c.writes]
    once = sorted(f for f in written if written.count(f) == 1)
    if unknown := [f for f in recompute if f not in once]:
        raise CourseError(
            f"No container, or more than one, writes {', '.join(unknown)}: choose recompute from {', '.join(once)}."
        )
    return groups, tuple(recompute)


# groups of conjugate gradient
EACH = cut(CG, [c.name for c in CG.containers])
MAP_AND_STENCIL = cut(CG, ["dot pAp", "updateXandR", "dot rr"])
DOTS = cut(CG, ["matVec", "updateXandR"])
ALL_BUT_ALPHA = cut(CG, ["updateXandR"])

# plans of the variants
BASELINE = plan(CG, EACH)
MAP_STENCIL_FUSED = plan(CG, MAP_AND_STENCIL)
FUSED_DOTS = plan(CG, DOTS)
TWO_KERNEL = plan(CG, ALL_BUT_ALPHA, recompute=["s"])
_TWO_TURNS = deferred_x()
DEFERRED_X = plan(
    _TWO_TURNS, cut(_TWO_TURNS, ["updateR 1", "updateP 2", "updateXandR 2"]), recompute=["s1", "s2"]
)
# plans that a planner offers: the variants, a step between two of them, and plans that cannot run, to show why
CHOICES = {
    "baseline": BASELINE,
    "map in stencil": MAP_STENCIL_FUSED,
    "p in place": plan(CG, MAP_AND_STENCIL, in_place=True),
    "dots fused": FUSED_DOTS,
    "map, stencil, dots": plan(CG, ALL_BUT_ALPHA),
    "A p twice": TWO_KERNEL,
    "alpha too soon": plan(CG, cut(CG, ["matVec"])),
    "one kernel": plan(CG, cut(CG, [])),
}
