"""Which container has to wait for which: dependences, from what each container reads and writes.

The containers are walked through twice, so that dependences of one iteration on the one before are found, too.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Edge:
    """A dependence: ``target`` has to wait for ``source``, because of the field or scalar ``name``.

    ``kind`` is ``"flow"`` (written, then read), ``"anti"`` (read, then overwritten) or ``"output"`` (written twice). If
    ``carried`` is true, the edge leads to the next iteration. ``neighbours`` is true if the container
    that reads the field reads it at all points of the stencil.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> edge = next(edge for edge in CG.edges if edge.target == "matVec")
    >>> edge.source, edge.name, edge.kind, edge.neighbours
    ('updateP', 'p', 'flow', True)
    """

    source: str
    target: str
    name: str
    kind: str
    carried: bool = False
    scalar: bool = False
    neighbours: bool = False


def dependences(containers) -> tuple[Edge, ...]:
    """Return the dependences between containers that run in this order, again and again. Fields come before scalars.

    Examples
    --------
    >>> from course_pkg.cg.program import Container
    >>> twice = Container("twice", "map", reads=("u",), writes=("v",))
    >>> copy = Container("copy", "map", reads=("v",), writes=("u",))
    >>> [(e.source, e.target, e.name, e.kind) for e in dependences([twice, copy]) if not e.carried]
    [('twice', 'copy', 'u', 'anti'), ('twice', 'copy', 'v', 'flow')]
    """
    found = []
    for scalar in (False, True):
        names = [name for c in containers for name in c.uses(scalar=scalar) + c.leaves(scalar=scalar)]
        for name in dict.fromkeys(names):
            found += _dependences_of(name, list(containers), scalar)
    return tuple(found)


def _dependences_of(name, containers, scalar):
    """Return the dependences because of one field or scalar, found by walking through two iterations."""
    n, found, writer, readers = len(containers), [], None, []

    def add(source, target, kind, reader=None):
        if target >= n:
            a, b = containers[source % n], containers[target % n]
            around = reader is not None and name in containers[reader % n].neighbours
            found.append(Edge(a.name, b.name, name, kind, source < n, scalar, around))

    for position, container in enumerate(containers * 2):
        if name in container.uses(scalar=scalar):
            if writer is not None:
                add(writer, position, "flow", position)
            readers.append(position)
        if name in container.leaves(scalar=scalar):
            for reader in readers:
                # a container that overwrites its input need not wait: each thread reads its point before it writes it
                if reader != position:
                    add(reader, position, "anti", reader)
            if writer is not None:
                add(writer, position, "output")
            writer, readers = position, []
    return found
