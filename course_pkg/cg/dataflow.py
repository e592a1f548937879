"""How data flow between the kernels of a plan: what a kernel reads from memory, and what it must store or receive."""

from dataclasses import replace


def with_recomputed(program, group, recompute, times):
    """Return the containers of a kernel; containers that recompute unstored fields come before those that read them.

    Parameters
    ----------
    program : Program
    group : sequence of str
        Names of the kernel's containers.
    recompute : sequence of str
        Fields that are never stored.
    times : dict of str to int
        How often each of these fields has been computed so far; this function adds to it.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> [container.name for container in with_recomputed(CG, ["updateXandR"], ["s"], {})]
    ['matVec (2)', 'updateXandR']
    """
    body = []

    def add(container):
        for field in container.uses(scalar=False):
            if field in recompute and not any(field in c.writes for c in body):
                producer = next(c for c in program.containers if field in c.writes)
                times[field] = times.get(field, 1) + 1
                add(replace(producer, name=f"{producer.name} ({times[field]})", writes=(field,)))
        body.append(container)

    for name in group:
        add(program[name])
    return body


def inputs(body):
    """Find, for a kernel, the points at which each container is evaluated and the fields that come from memory.

    Returns
    -------
    spread : tuple of str
        Containers that are evaluated at all points of the stencil.
    reads : dict of str to bool
        Fields read from memory; the value says whether they are read at all points of the stencil.
    wide : list of (str, str, str)
        One entry for each stencil that another stencil would need at all its points: reader, field, stencil.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> inputs([CG["updateP"], CG["matVec"]])  # a thread needs the new p at all points of its stencil
    (('updateP',), {'r': True, 'p': True}, [])
    """
    spread, reads, wide = [], {}, []
    for i, container in reversed(list(enumerate(body))):
        for field in container.uses(scalar=False):
            around = field in container.neighbours or container.name in spread
            producer = next((c for c in reversed(body[:i]) if field in c.writes), None)
            if producer is None:
                reads[field] = reads.get(field, False) or around
            elif around and producer.name not in spread:
                spread.append(producer.name)
                if producer.kind == "stencil":
                    wide.append((container.name, field, producer.name))
    order = [field for c in body for field in c.uses(scalar=False) if field in reads]
    return tuple(reversed(spread)), {field: reads[field] for field in order}, wide


def read_again(field, inputs, bodies):
    """Return whether a later kernel, of this iteration or the next, reads a field before it is overwritten.

    Parameters
    ----------
    field : str
    inputs, bodies : list
        What :func:`inputs` and :func:`with_recomputed` return for the kernels that run next, in order.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> later = [[CG["dot rr"]], [CG["updateP"]]]
    >>> [read_again(field, [inputs(body) for body in later], later) for field in ("r", "s")]
    [True, False]
    """
    for (_, reads, _), body in zip(inputs, bodies, strict=True):
        if field in reads:
            return True
        if any(field in c.writes for c in body):
            return False
    return False


def stale(field, i, inputs, bodies):
    """Return whether a field has changed since its faces were last sent. In a kernel, reads precede writes.

    Parameters
    ----------
    field : str
    i : int
        Number of the kernel that needs the faces.
    inputs, bodies : list
        What :func:`inputs` and :func:`with_recomputed` return for all kernels.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> bodies = [[CG["updateP"]], [CG["matVec"]]]
    >>> stale("p", 1, [inputs(body) for body in bodies], bodies)
    True
    """
    n = len(bodies)
    for back in range(1, n + 1):
        j = (i - back) % n
        if any(field in c.writes for c in bodies[j]):
            return True
        if inputs[j][1].get(field):
            return False
    return False
