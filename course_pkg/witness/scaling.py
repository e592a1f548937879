"""What is recorded of solves on several ranks of one device: times by phase, messages, and the model that fits them.

A record may hold only a part of what ``course bench scaling`` measures. Functions return None for a missing part.
"""

from functools import cached_property
from math import prod

from course_pkg.bench import Measurement
from course_pkg.bench.lookup import function_name
from course_pkg.distributed import forecast, model
from course_pkg.distributed.recorded import ALLREDUCE, HALO_EXCHANGE, iteration_s, phases_of
from course_pkg.distributed.suite_ranks import METHODS
from course_pkg.distributed.work import KNOWN, ON_GPUS
from course_pkg.witness.on_device import OnDevice

STRONG, WEAK = "strong", "weak"


class Scaling(OnDevice):
    """What is recorded of the topic ``scaling`` on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of that topic.
    link : str or None
        What connects GPUs: ``"direct"`` is their memory, None is NCCL; on a CPU, None is MPI.
    """

    def __init__(self, found, link: str | None = None):
        super().__init__(found)
        self.link = link

    @cached_property
    def rows(self) -> list[Measurement]:
        """The measurements by this link, and those of a single rank."""
        return forecast.by_link(self.found.measurements, self.link)

    @cached_property
    def solves(self) -> list[Measurement]:
        """All recorded solves and graphs of iterations without a stored matrix, by methods that the model knows."""
        return [
            m
            for m in self.rows
            if function_name(m) in KNOWN
            and "matrix" not in m.parameters
            and m.parameters.get("scaling") in (STRONG, WEAK)
            and m.parameters.get("overlap", True)
        ]

    @property
    def ranks(self) -> list[int]:
        """The numbers of ranks for which solves are recorded, in ascending order."""
        return sorted({m.parameters["ranks"] for m in self.solves})

    @property
    def edges(self) -> list[int]:
        """Points along an edge of the cubes for which solves are recorded, in ascending order."""
        shapes = [m.parameters["shape"] for m in self.solves]
        return sorted({shape[0] for shape in shapes if len(set(shape)) == 1})

    def solve(
        self, method: str, edge: int, ranks: int, *, s=None, scaling=STRONG, whole=False
    ) -> Measurement | None:
        """Return a recorded solve; ``edge`` is that of the whole cube or, in weak scaling, of the cube of each rank.

        A recorded graph of a few iterations is preferred to a whole solve, because its time is that of the iterations
        alone. With ``whole``, only whole solves are looked at.
        """
        shape = [edge * ranks, edge, edge] if scaling == WEAK and ranks > 1 else [edge] * 3
        wanted = {"shape": shape, "ranks": ranks, "s": s, "scaling": scaling if ranks > 1 else STRONG}
        found = [
            m
            for m in self.solves
            if function_name(m) == method and all(m.parameters.get(k) == v for k, v in wanted.items())
        ]
        return next(
            (m for m in found if ("iterations" in m.parameters) != whole),
            None if whole else next(iter(found), None),
        )

    def methods(self, edge: int, ranks: int) -> list[tuple[str, int | None]]:
        """Return the methods, each with its s, that are recorded for a cube on one rank and on this number of ranks."""
        chosen = [
            *((name, None) for name in ON_GPUS),
            *((name, options.get("s")) for name, options in METHODS),
        ]
        return [
            (name, s)
            for name, s in chosen
            if self.solve(name, edge, 1, s=s) and self.solve(name, edge, ranks, s=s)
        ]

    def efficiency(self, method: str, edge: int, ranks: int, *, s=None, scaling=STRONG) -> float | None:
        """Return the efficiency of an iteration: points per second and rank, divided by those of a single rank."""
        one = self.solve(method, edge, 1, s=s)
        many = self.solve(method, edge, ranks, s=s, scaling=scaling)
        if not one or not many:
            return None
        points = prod(many.parameters["shape"]) / prod(one.parameters["shape"])
        return points * iteration_s(one) / (ranks * iteration_s(many))

    def messages(self, ranks: int) -> list[tuple[float, float]]:
        """Return the bytes and seconds of each halo exchange between this number of ranks, the smallest first."""
        found = [
            m for m in self.rows if m.operation == HALO_EXCHANGE.operation and m.parameters["ranks"] == ranks
        ]
        return sorted((float(m.observed["bytes"]), m.median_s) for m in found)

    def sums(self, ranks: int) -> list[tuple[int, float]]:
        """Return for each sum over this number of ranks how many numbers it sums, and its seconds; fewest first."""
        found = [
            m for m in self.rows if m.operation == ALLREDUCE.operation and m.parameters["ranks"] == ranks
        ]
        return sorted((m.parameters["n"], m.median_s) for m in found)

    @cached_property
    def iterations(self) -> list[Measurement]:
        """Recorded iterations of the methods of ``cg`` on GPUs, in the middle of a solve."""
        return [m for m in self.rows if "overlap" in m.parameters]

    def iteration(self, variant: str, shape, ranks: int, overlap=True) -> Measurement | None:
        """Return recorded iterations of a method of ``cg``; on one rank, ``shape`` may also be a part of a grid."""
        wanted = {"shape": list(shape), "ranks": ranks, "overlap": overlap}
        for m in self.iterations:
            if m.variant == variant and all(m.parameters[k] == v for k, v in wanted.items()):
                return m
        return None

    def forecast(self, variant: str, shape, ranks: int) -> float | None:
        """Return the predicted seconds of an iteration: the largest part of a rank alone, plus two sums of one number.

        Return None if one of these is not recorded. The halo exchange is assumed to be hidden by computation.
        """
        return forecast.of_parts(self.rows, variant, shape, ranks)

    @cached_property
    def fit(self) -> model.Fit | None:
        """The model's coefficients, fitted to what one rank does alone and to messages.

        No solve on several ranks enters, so what the model says of them is a forecast. None if the records do not
        determine the coefficients.
        """
        return forecast.fitted(self.rows)


def shares(solved: Measurement) -> dict[str, float]:
    """Return the share of each phase in the time of a recorded solve."""
    phases = phases_of(solved)
    whole = sum(phases.values())
    return {name: took / whole for name, took in phases.items()}
