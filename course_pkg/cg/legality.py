"""Why a plan cannot run: the rules that kernels on a GPU obey, and a sentence for each way to break one."""

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
    """Refuse containers that run before what they depend on in the same iteration.

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
    """Refuse a kernel that needs the result of its own reduction: no thread knows it before all blocks have ended.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> barriers(2, [CG["dot pAp"], CG["updateXandR"]])[0].why
    'updateXandR needs pAp for alpha, and pAp is complete only when every block ...'
    """
    return [
        Refusal(
            "barrier",
            kernel,
            f"{later.name} needs {scalar}{f' for {later.coefficient}' if later.coefficient else ''}, and {scalar} is "
            f"complete only when every block of the grid has finished {c.name}: between them lies a barrier across the "
            f"grid, and that is the end of a kernel. Let {later.name} begin a new one.",
        )
        for i, c in enumerate(containers)
        for scalar in c.makes
        for later in containers[i + 1 :]
        if scalar in later.needs
    ]


def too_wide(kernel, reader, field, stencil, points) -> Refusal:
    """Refuse a kernel in which a stencil would have to be evaluated at the neighbours as well.

    Examples
    --------
    >>> too_wide(1, "matVec", "s", "matVec (2)", 7).rule
    'wider halo'
    """
    return Refusal(
        "wider halo",
        kernel,
        f"{reader} needs {field} at more points than its own, and {field} comes from {stencil}, a stencil of the same "
        f"kernel: each thread would compute {stencil} {points} times, from its neighbours' neighbours, with a halo two "
        f"cells wide. Store {field} and let {reader} begin a new kernel.",
    )


def race(kernel, containers, field) -> Refusal:
    """Refuse a kernel that overwrites the only copy of a field that it reads at the neighbours.

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
    """Refuse fields that are computed again instead of being stored, and cannot be.

    Examples
    --------
    >>> from course_pkg.cg.fusion import CG, cut, plan
    >>> recomputed_in_vain(CG, cut(CG, []), ["x"])[0].why
    'x has to be stored, for the next iteration reads it: compute again what is used up in the iteration.'
    """
    found = []
    for field in recompute:
        producer = next(c for c in program.containers if field in c.writes)
        if field in program.carried or field in program.results:
            whose = "the next iteration" if field in program.carried else "whoever called the program"
            why = f"{field} has to be stored, for {whose} reads it: compute again what is used up in the iteration."
            found.append(Refusal("stored", _kernel_of(producer.name, groups), why))
            continue
        readers = [c.name for c in program.containers if field in c.uses(scalar=False) and c is not producer]
        found += _idle(producer, field, readers, groups, recompute)
        found += _changed(program, producer, field, readers, groups)
    return found


def _idle(producer, field, readers, groups, recompute):
    """Refuse a container whose result nobody in its kernel reads and nobody stores."""
    home = _kernel_of(producer.name, groups)
    if set(producer.writes) <= set(recompute) and not any(_kernel_of(r, groups) == home for r in readers):
        why = f"{field} is not stored, and nobody in the kernel of {producer.name} reads it: its work is lost. Put "
        return [
            Refusal(
                "idle",
                home,
                f"{why}{producer.name} into one kernel with the next container that reads {field}.",
            )
        ]
    return []


def _changed(program, producer, field, readers, groups):
    """Refuse to compute a field again from what has been overwritten since."""
    order = [name for group in groups for name in group]
    takes = (*producer.uses(scalar=False), *producer.needs)
    return [
        Refusal(
            "changed",
            _kernel_of(reader, groups),
            f"{reader} would compute {field} anew from {name}, which {between} has changed since {producer.name} ran: "
            f"it would be another {field}. Store {field}.",
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
