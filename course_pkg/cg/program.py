"""A program as a graph: containers in order, and the dependences that follow from what each one reads and writes.

A *container* is one operation on every point of the grid: a map, a stencil or a reduction. A *program* is a list of
containers that is repeated in every iteration. Its dependences are not listed: if a container reads a field, it
depends on the container that wrote the field last. In conjugate gradient, the containers are steps 9, 2, 3, 5 with 6,
and 8 of ``cg/reference.py``.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

from course_pkg.cg.dependences import Edge, dependences
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count

KINDS = ("map", "stencil", "reduction")
POINTS = 7  # of the stencil
TUPLES = ("reads", "neighbours", "writes", "needs", "makes")


@dataclass(frozen=True)
class Container:
    """One operation on every point of the grid.

    Attributes
    ----------
    name : str
    kind : str
        ``"map"``, ``"stencil"`` or ``"reduction"``.
    formula : str
        What it computes, for people to read.
    reads : tuple of str
        Fields read at the point.
    neighbours : tuple of str
        Fields read at all points of the stencil, the centre included.
    writes : tuple of str
        Fields written at the point.
    needs, makes : tuple of str
        Scalars that it reads and computes; only a reduction makes one.
    coefficient : str
        The scalar that each thread computes itself from the scalars that the container needs.
    multiplications, flops : int
        Per point of the grid; for a stencil, per point of the stencil.

    Examples
    --------
    >>> Container("scale", "map", "u ← 2 u", reads=("u",), writes=("u",), flops=1).uses(scalar=False)
    ('u',)
    >>> Container("shift", "stencil", neighbours=("u",), writes=("u",))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: shift overwrites u while its neighbours still read it: ...
    """

    name: str
    kind: str
    formula: str = ""
    reads: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    coefficient: str = ""
    multiplications: int = 0
    flops: int = 0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise CourseError(f"{self.name} is a {self.kind!r}: a container is one of {', '.join(KINDS)}.")
        for what in TUPLES:
            if not isinstance(getattr(self, what), tuple):
                raise CourseError(f"{what} of {self.name} is {getattr(self, what)!r}: give a tuple of names.")
        require_count(multiplications=self.multiplications, flops=self.flops)
        stencil, reduction = self.kind == "stencil", self.kind == "reduction"
        if stencil != bool(self.neighbours):
            wanted = (
                "needs fields in neighbours" if stencil else "reads at the point: use reads, or a stencil"
            )
            raise CourseError(f"{self.name} is a {self.kind}, which {wanted}.")
        if reduction != bool(self.makes) or reduction == bool(self.writes):
            wanted = (
                "makes a scalar and writes no field" if reduction else "writes a field and makes no scalar"
            )
            raise CourseError(
                f"{self.name} is a {self.kind}, which {wanted}: change its kind, or its reads and writes."
            )
        if clash := set(self.neighbours) & set(self.writes):
            raise CourseError(
                f"{self.name} overwrites {', '.join(sorted(clash))} while its neighbours still read it: "
                "let it write another field."
            )

    def uses(self, *, scalar: bool) -> tuple[str, ...]:
        """Return the scalars that the container reads if ``scalar`` is true, otherwise the fields."""
        return self.needs if scalar else tuple(dict.fromkeys(self.reads + self.neighbours))

    def leaves(self, *, scalar: bool) -> tuple[str, ...]:
        """Return the scalars that the container writes if ``scalar`` is true, otherwise the fields."""
        return self.makes if scalar else self.writes


@dataclass(frozen=True)
class Program:
    """Containers that are repeated in their order, iteration by iteration.

    Attributes
    ----------
    name : str
    containers : tuple of Container
    results : tuple of str
        Fields that are needed after the last iteration.
    points : int
        Points of the stencil, the centre included.
    iterations : int
        Number of iterations of the method in one trip through the loop.
    widths : dict of str to int
        Bytes of one element of a field; a field without a width has the dtype that the caller asks for.
    family : dict of str to str
        For fields that several iterations use in turn, the field that they stand for: p for p1 and for p2.

    Examples
    --------
    >>> CG["matVec"].formula
    's ← A p'
    >>> CG.carried
    ('r', 'p', 'x', 'delta')
    """

    name: str
    containers: tuple[Container, ...]
    results: tuple[str, ...] = ()
    points: int = POINTS
    iterations: int = 1
    widths: dict[str, int] = field(default_factory=dict, hash=False)
    family: dict[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self):
        require_count(points=self.points, iterations=self.iterations, **self.widths)
        if self.iterations < 1:
            raise CourseError("iterations must be at least 1: pass iterations=1.")
        if self.points < 1:
            raise CourseError(
                "A stencil has at least one point: pass points=7 for the Laplacian in three dimensions."
            )
        if not self.containers:
            raise CourseError(f"The program {self.name} has no containers: give it at least one.")
        names = [c.name for c in self.containers]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise CourseError(f"Two containers are called {', '.join(twice)}: give each a name of its own.")
        written = {f for c in self.containers for f in c.writes}
        if unknown := [f for f in self.results if f not in written]:
            raise CourseError(
                f"No container writes {', '.join(unknown)}: choose the results from {sorted(written)}."
            )
        used = {f for c in self.containers for f in c.uses(scalar=False)} | written
        if unused := sorted(set(self.widths) - used):
            raise CourseError(f"No container uses {', '.join(unused)}: give widths of {sorted(used)} only.")

    def __getitem__(self, name: str) -> Container:
        for container in self.containers:
            if container.name == name:
                return container
        known = ", ".join(c.name for c in self.containers)
        raise CourseError(f"{self.name} has no container {name!r}; it has {known}.")

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The dependences, within an iteration and from one to the next."""
        return dependences(self.containers)

    @property
    def carried(self) -> tuple[str, ...]:
        """Fields and scalars that one iteration writes and the next one reads."""
        return tuple(dict.fromkeys(e.name for e in self.edges if e.kind == "flow" and e.carried))


def conjugate_gradient(points: int = POINTS) -> Program:
    """Return the fusion document's iteration of conjugate gradient, with a stencil of ``points`` points.

    ``delta`` is <r, r>. Beta also needs delta of the iteration before, which no container of this iteration computes.

    Examples
    --------
    >>> [container.name for container in conjugate_gradient(points=27).containers]
    ['updateP', 'matVec', 'dot pAp', 'updateXandR', 'dot rr']
    """
    return Program(
        "conjugate gradient",
        (
            Container(
                "updateP", "map", "p ← r + β p", reads=("r", "p"), writes=("p",), needs=("delta",),
                coefficient="beta", multiplications=1, flops=2,
            ),
            Container(
                "matVec", "stencil", "s ← A p", neighbours=("p",), writes=("s",), multiplications=1, flops=1,
            ),
            Container(
                "dot pAp", "reduction", "pAp ← ⟨p, s⟩", reads=("p", "s"), makes=("pAp",),
                multiplications=1, flops=2,
            ),
            Container(
                "updateXandR", "map", "x ← x + α p, r ← r − α s", reads=("x", "p", "r", "s"),
                writes=("x", "r"), needs=("delta", "pAp"), coefficient="alpha", multiplications=2, flops=4,
            ),
            Container(
                "dot rr", "reduction", "delta ← ⟨r, r⟩", reads=("r",), makes=("delta",),
                multiplications=1, flops=2,
            ),
        ),
        results=("x",),
        points=points,
    )  # fmt: skip


def deferred_x(points: int = POINTS) -> Program:
    """Return two iterations of conjugate gradient; only the second updates x, along both search directions.

    So there are two search directions, and two of each scalar; iterations use them in turn. There are also two fields
    s, because each is recomputed.

    Examples
    --------
    >>> program = deferred_x()
    >>> program.iterations, [c.name for c in program.containers if "x" in c.writes]
    (2, ['updateXandR 2'])
    """
    even, odd = (_one_iteration(here, before, points) for here, before in ((1, 2), (2, 1)))
    advance = Container(
        "updateXandR 2", "map", "x ← x + α₁ p₁ + α₂ p₂, r ← r − α₂ s₂", reads=("x", "p1", "p2", "r", "s2"),
        writes=("x", "r"), needs=("delta1", "delta2", "pAp1", "pAp2"), coefficient="alpha", multiplications=3, flops=6,
    )  # fmt: skip
    containers = (*even, *(advance if c.name == "updateR 2" else c for c in odd))
    family = {f"{name}{turn}": name for name in ("p", "s") for turn in (1, 2)}
    return Program("conjugate gradient, x deferred", containers, ("x",), points, iterations=2, family=family)


def _one_iteration(here: int, before: int, points: int) -> tuple[Container, ...]:
    """Return an iteration without x; it computes p, s and scalars numbered ``here`` from those numbered ``before``."""
    renamed = {"p": f"p{here}", "s": f"s{here}", "pAp": f"pAp{here}", "delta": f"delta{before}"}

    def rename(names):
        return tuple(renamed.get(name, name) for name in names)

    found = []
    for c in conjugate_gradient(points).containers:
        changed = {what: rename(getattr(c, what)) for what in TUPLES}
        if c.name == "updateP":
            changed["reads"] = ("r", f"p{before}")
        if c.name == "dot rr":
            changed["makes"] = (f"delta{here}",)
        if c.name == "updateXandR":
            changed |= {
                "name": "updateR", "formula": "r ← r − α s", "reads": ("r", f"s{here}"), "writes": ("r",),
                "multiplications": 1, "flops": 2,
            }  # fmt: skip
        changed["name"] = f"{changed.get('name', c.name)} {here}"
        found.append(replace(c, **changed))
    return tuple(found)


CG = conjugate_gradient()
