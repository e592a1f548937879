"""What a picture of threads shows of a launch: arrays, threads, and who touched what, also in words."""

from dataclasses import dataclass, field

from course_pkg.core.access import VERBS


@dataclass(frozen=True)
class Cells:
    """An array to draw.

    Attributes
    ----------
    name : str
    shape : tuple of int
        One or two dimensions; more are drawn as rows of the last one.
    texts, states : sequence of str
        For each element, in memory order, the text in its cell and its colour, a key of ``FILLS``.
    place : str
        ``"above"`` the threads, for what they read; ``"below"`` them, for what they write; ``"shared"`` between.
    title : str
        What is written over it.
    """

    name: str
    shape: tuple[int, ...]
    texts: tuple[str, ...]
    states: tuple[str, ...]
    place: str = "above"
    title: str = ""


@dataclass(frozen=True)
class Link:
    """A thread touched an element.

    Attributes
    ----------
    thread : int
        Number of the thread in the launch: the block's number times the block size, plus its number in the block.
    array : str
    element : int
    kind : str
        ``"load"``, ``"store"`` or ``"atomic"``.
    """

    thread: int
    array: str
    element: int
    kind: str


@dataclass(frozen=True)
class Scene:
    """A launch, ready to be drawn.

    Attributes
    ----------
    grid, block : tuple of int, (x, y, z)
    arrays : sequence of Cells
    links : sequence of Link
    shown : frozenset of int
        Threads whose links are visible before anybody points at something.
    astray : frozenset of int
        Threads that accessed an element outside an array.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[Cells, ...]
    links: tuple[Link, ...]
    shown: frozenset[int] = frozenset()
    astray: frozenset[int] = field(default_factory=frozenset)


def whose(grid, block, thread: int) -> str:
    """Return the name of a thread, given its number in the launch: ``"thread 3 of block (1, 0)"``."""
    number, own = divmod(thread, block[0] * block[1] * block[2])
    return f"thread {index_text(own, block)} of block {index_text(number, grid)}"


def index_text(number: int, extents) -> str:
    nx, ny, nz = extents
    if ny == nz == 1:
        return str(number)
    parts = [number % nx, number // nx % ny] + ([number // (nx * ny)] if nz > 1 else [])
    return f"({', '.join(map(str, parts))})"


def element_name(array: str, shape, element: int) -> str:
    """Return an element as a kernel writes it: ``"a[1, 2]"``."""
    index = []
    for extent in reversed(shape):
        index.append(element % extent)
        element //= extent
    return f"{array}[{', '.join(map(str, reversed(index)))}]"


def what(name: str, links, scene: Scene) -> str:
    """Say what a thread touches."""
    shapes = {array.name: array.shape for array in scene.arrays}
    said = []
    for kind, verb in VERBS.items():
        names = [
            element_name(k.array, shapes[k.array], k.element)
            for k in links
            if k.kind == kind and k.array in shapes
        ]
        if names:
            said.append(f"{verb} {_listed(names)}")
    return f"{name} {', and '.join(said)}" if said else f"{name} touches nothing"


def who(array: Cells, element: int, links, scene: Scene) -> str:
    """Say who touches an element."""
    said = []
    for kind, verb in (("load", "read"), ("store", "written"), ("atomic", "updated")):
        names = [whose(scene.grid, scene.block, link.thread) for link in links if link.kind == kind]
        if names:
            said.append(f"{verb} by {_listed(names)}")
    name = element_name(array.name, array.shape, element)
    state = f" ({array.states[element]})" if array.states[element] in ("right", "wrong") else ""
    return f"{name} = {array.texts[element]}{state}, {', '.join(said) or 'touched by nobody'}"


def _listed(names, most: int = 8) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
