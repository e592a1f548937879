"""The rules that kernels on a GPU must obey, and a sentence for each way in which a plan can break one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why a plan cannot run: the rule, the number of the kernel that breaks it, and a sentence.

    The rule is ``"order"``, ``"barrier"``, ``"race"``, ``"wider halo"``, ``"stored"``, ``"changed"`` or ``"idle"``.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> refusal = plan(CG, cut(CG, ["matVec"])).refusals[0]  # alpha is needed too soon
    >>> refusal.rule, refusal.kernel
    ('barrier', 2)
    """

    rule: str
    kernel: int
    why: str


def out_of_order(program, groups) -> list[Refusal]:
    """Refuse each container that runs before a container of the same iteration on which it depends.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> groups = (("matVec", "updateP", "dot pAp"), ("updateXandR", "dot rr"))
    >>> out_of_order(CG, groups)[0].why
    'matVec needs p, which updateP makes: updateP has to run first.'
    """
    order = [name for group in groups for name in group]
    says = {"flow": ("needs", "makes"), "anti": ("overwrites", "needs"), "output": ("overwrites", "makes")}
    return [
        Refusal(
            "order",
            _kernel_of(e.target, groups),
            f"{e.target} {says[e.kind][0]} {e.name}, which {e.source} {says[e.kind][1]}: {e.source} has to run first.",
        )
        for e in program.edges
        if not e.carried and order.index(e.source) > order.index(e.target)
    ]


def barriers(kernel, containers) -> list[Refusal]:
    """Refuse a kernel that needs the result of its own reduction, which is complete only when all blocks have ended.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> barriers(2, [CG["dot pAp"], CG["updateXandR"]])[0].why
    'updateXandR needs pAp for alpha, but pAp is complete only when every block ...'
    """
    return [
        Refusal(
            "barrier",
            kernel,
            f"{later.name} needs {scalar}{f' for {later.coefficient}' if later.coefficient else ''}, but {scalar} is "
            f"complete only when every block of the grid has finished {c.name}. Between the two "
            "there must be a barrier across the grid, and in an ordinary launch only the end of a kernel is one: let "
            f"{later.name} begin a new kernel.",
        )
        for i, c in enumerate(containers)
        for scalar in c.makes
        for later in containers[i + 1 :]
        if scalar in later.needs
    ]


def too_wide(kernel, reader, field, stencil, points) -> Refusal:
    """Refuse a kernel in which a stencil would also have to be evaluated at the neighbouring points.

    Examples
    --------
    >>> too_wide(1, "matVec", "s", "matVec (2)", 7).rule
    'wider halo'
    """
    return Refusal(
        "wider halo",
        kernel,
        f"{reader} needs {field} also at neighbouring points, but {field} is the result of {stencil}, a stencil in the "
        f"same kernel. Each thread would have to compute {stencil} {points} times, which needs the "
        f"neighbours' neighbours and a halo of width two. Store {field}, and let {reader} begin a new kernel.",
    )


def race(kernel, containers, field) -> Refusal:
    """Refuse a kernel that overwrites the only copy of a field that it also reads at neighbouring points.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> race(1, [CG["updateP"], CG["matVec"]], "p").why
    'updateP overwrites p in place, while threads of neighbouring points still read its old value: a race. ...'
    """
    writer = next(c.name for c in containers if field in c.writes)
    return Refusal(
        "race",
        kernel,
        f"{writer} overwrites {field} in place, while threads of neighbouring points still read its old value: a race. "
        f"Keep two fields, read {field}1, write {field}2, and swap them.",
    )


def recomputed_in_vain(program, groups, recompute) -> list[Refusal]:
    """Refuse to recompute a field that has to be stored, or whose recomputation would be useless or wrong.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> recomputed_in_vain(CG, cut(CG, []), ["x"])[0].why
    'x has to be stored, because the next iteration reads it: recompute only fields of one iteration.'
    """
    found = []
    for field in recompute:
        producer = next(c for c in program.containers if field in c.writes)
        if field in program.carried or field in program.results:
            whose = "the next iteration" if field in program.carried else "the caller of the program"
            why = (
                f"{field} has to be stored, because {whose} reads it: recompute only fields of one iteration."
            )
            found.append(Refusal("stored", _kernel_of(producer.name, groups), why))
            continue
        readers = [c.name for c in program.containers if field in c.uses(scalar=False) and c is not producer]
        found += _idle(producer, field, readers, groups, recompute)
        found += _changed(program, producer, field, readers, groups)
    return found


def _idle(producer, field, readers, groups, recompute):
    """Refuse a container whose result is not stored, and not read in its own kernel."""
    home = _kernel_of(producer.name, groups)
    if set(producer.writes) <= set(recompute) and not any(_kernel_of(r, groups) == home for r in readers):
        why = f"{field} is not stored, and no container in the kernel of {producer.name} reads it: useless work. Put "
        return [
            Refusal(
                "idle",
                home,
                f"{why}{producer.name} into one kernel with the next container that reads {field}.",
            )
        ]
    return []


def _changed(program, producer, field, readers, groups):
    """Refuse to recompute a field from another field that has been overwritten in the meantime."""
    order = [name for group in groups for name in group]
    takes = (*producer.uses(scalar=False), *producer.needs)
    return [
        Refusal(
            "changed",
            _kernel_of(reader, groups),
            f"{reader} would compute {field} again from {name}, but {between} has changed {name} since {producer.name} "
            f"ran, so {field} would be wrong. Store {field}.",
        )
        for reader in readers
        if _kernel_of(reader, groups) != _kernel_of(producer.name, groups)
        for between in order[order.index(producer.name) : order.index(reader)]
        for name in (*program[between].writes, *program[between].makes)
        if name in takes
    ]


def _kernel_of(name, groups):
    """Return the number of a container's kernel; the first is 1."""
    return next(i for i, group in enumerate(groups, 1) if name in group)
