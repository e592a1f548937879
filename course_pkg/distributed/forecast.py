"""Forecasts of times on several ranks, from what one rank takes alone and from messages; no other time enters."""

from course_pkg.bench import Measurement
from course_pkg.bench.lookup import function_name
from course_pkg.core import CourseError
from course_pkg.distributed import model
from course_pkg.distributed.recorded import ALLREDUCE, HALO_EXCHANGE, iteration_s
from course_pkg.distributed.work import KNOWN, ON_GPUS, Work

MESSAGES = (HALO_EXCHANGE.operation, ALLREDUCE.operation)
UNIFORM = 12**-0.5  # standard deviation of what lies anywhere between 0 and 1


def observations(measurements) -> list[tuple[Work, float]]:
    """Return the observations for ``model.fit``: pairs of work and seconds, for iterations and for messages.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> sums = Recorded(operation="allreduce", parameters={"n": 1, "ranks": 8}, median_s=3e-5)
    >>> ((work, seconds),) = observations([sums])
    >>> work.rounds, seconds
    (3, 3e-05)
    """
    found = []
    for m in measurements:
        p = m.parameters
        if m.operation == HALO_EXCHANGE.operation:
            found.append((Work.halo(m.observed["bytes"]), m.median_s))
        elif m.operation == ALLREDUCE.operation:
            found.append((Work.allreduce(p["n"], p["ranks"]), m.median_s))
        else:
            overlap = p.get("overlap", True)
            work = Work.of(function_name(m), p["shape"], p["ranks"], p.get("s"), p["dtype"], overlap)
            found.append((work, iteration_s(m)))
    return found


def by_link(measurements, link: str | None) -> list[Measurement]:
    """Return the measurements of one rank, and those of several that this link connects; None stands for NCCL or MPI.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> found = [Recorded(parameters={"ranks": 1}), Recorded(parameters={"ranks": 2, "link": "direct"})]
    >>> len(by_link(found, "direct")), len(by_link(found, None))
    (2, 1)
    """
    return [m for m in measurements if m.parameters["ranks"] == 1 or m.parameters.get("link") == link]


def evidence(measurements) -> list[Measurement]:
    """Return the measurements that forecasts use: iterations on one rank, and messages and sums by themselves.

    If methods of ``cg`` ran as CUDA graphs, only their iterations are used. Iterations of ``sstep`` would also contain
    the host's time for launches and for the scalar work of longer passes, which the model does not know.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> one, two = (Recorded(operation="pcg", variant="", parameters={"ranks": ranks}) for ranks in (1, 2))
    >>> evidence([one, two]) == [one]
    True
    """
    alone = [m for m in measurements if m.parameters["ranks"] == 1 and m.operation not in MESSAGES]
    graphs = [m for m in alone if "overlap" in m.parameters and function_name(m) in ON_GPUS]
    solves = graphs or [m for m in alone if function_name(m) in KNOWN and "matrix" not in m.parameters]
    return solves + [m for m in measurements if m.operation in MESSAGES]


def fitted(measurements) -> model.Fit | None:
    """Return the model, fitted to :func:`evidence`; None if that does not determine it.

    If every iteration has as many sums as sweeps, only what a sweep and a sum take together is determined. Both take
    some time, so a sweep takes something between nothing and the whole: half of it is assumed, with the standard error
    of a number that is anywhere in between.

    Parameters
    ----------
    measurements : list of Measurement
        By one link: see :func:`by_link`.

    Examples
    --------
    >>> fitted([]) is None
    True
    """
    pairs = observations(evidence(measurements))
    try:
        if any(work.sweeps != work.reductions for work, _ in pairs):
            return model.fit(pairs)
        both = model.fit(pairs, held={"sweep_s": 0.0}).coefficients["reduction_s"]
        return model.fit(pairs, held={"sweep_s": (both / 2, both * UNIFORM)})
    except CourseError:
        return None


def of_parts(measurements, variant: str, shape, ranks: int) -> float | None:
    """Return the forecast seconds of an iteration of ``cg`` on several ranks: one rank's part alone, and two sums.

    The part is the largest: ⌈planes / ranks⌉ planes. The halo exchange is assumed to be hidden by computation. None if
    the part or the sum of one number is not among ``measurements``, which are by one link.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> part = {"ranks": 1, "overlap": True, "shape": [3, 8, 8], "iterations": 2}
    >>> found = [Recorded(operation="cg", variant="two_kernel", parameters=part, median_s=0.5)]
    >>> found += [Recorded(operation="allreduce", variant="", parameters={"ranks": 3, "n": 1}, median_s=0.125)]
    >>> of_parts(found, "two_kernel", (8, 8, 8), 3)  # of 8 planes, one rank has 3
    0.5
    """
    part = [-(-shape[0] // ranks), *shape[1:]]
    alone = [
        m
        for m in evidence(measurements)
        if m.variant == variant and "overlap" in m.parameters and m.parameters["shape"] == part
    ]
    sums = [
        m
        for m in measurements
        if m.operation == ALLREDUCE.operation and (m.parameters["ranks"], m.parameters["n"]) == (ranks, 1)
    ]
    return iteration_s(alone[0]) + 2 * sums[0].median_s if alone and sums else None
