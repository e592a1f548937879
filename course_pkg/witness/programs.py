"""What is recorded of quadratic programs on one device: updates and a copy, batches, and solves by many solvers."""

from course_pkg.bench import Measurement, matching
from course_pkg.core import Library, Variant
from course_pkg.qp.solver import READMIT_EVERY
from course_pkg.qp.suite import BATCHED, SIZES
from course_pkg.qp.suite_solves import CONTROL, INACTIVE
from course_pkg.qp.variants import VARIANTS
from course_pkg.witness.on_device import OnDevice

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
OWN_SETTING = {"rows": None, "unroll": None, "iterations": None}  # not one of those that the suite tries


class Programs(OnDevice):
    """What is recorded of the topic ``qp`` on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of that topic.

    Examples
    --------
    >>> from course_pkg import bench
    >>> on = Programs(bench.recorded("qp"))
    >>> on.name, on.clocks("qp_update_columns_16384").binds
    ('H200', 'none')
    """

    def update(
        self, name: str, library: Library = CUDA, *, zeros: bool = False, dtype="float64"
    ) -> Measurement:
        """Return the measurement of an update; with ``zeros``, for a vector x whose elements are mostly 0."""
        inactive = INACTIVE if zeros else None
        return self.found.one(VARIANTS[name].by(library), dtype=dtype, inactive=inactive, **OWN_SETTING)

    def of_copy(self, m: Measurement) -> float:
        """Return the speed of an update, counting each byte of the whole Q and of the vectors once, over the copy's."""
        whole = VARIANTS["update"].cost(m.parameters["n"], dtype=m.parameters["dtype"])
        return m.of_copy(self.copy, whole.bytes)

    def batch(self, library: Library = CUDA) -> Measurement:
        """Return the measurement of a batch of small problems; a GPU's has also observed the CPU's time."""
        problems, n, iterations = BATCHED
        what = VARIANTS["update_batch"].by(library)
        return self.found.one(what, problems=problems, n=n, iterations=iterations)

    def packed(self) -> tuple[Measurement, ...] | None:
        """Return making the dense copy, an update on it, and READMIT_EVERY of them; None if they are not recorded."""
        found, zeros = self.found.measurements, {"n": SIZES["gpu"], "dtype": "float64", "inactive": INACTIVE}
        on_copy = VARIANTS["update_packed"].by(CUDA)
        asked = [matching(found, VARIANTS["pack"].by(CUDA), **zeros)]
        asked += [matching(found, on_copy, **zeros, iterations=each) for each in (None, READMIT_EVERY)]
        return tuple(rows[0] for rows in asked) if all(asked) else None

    def control(self) -> list[Measurement]:
        """Return what is recorded of the batch that is solved to the tolerance, by each solver."""
        return [m for m in self.found.measurements if m.parameters.get("problem") == CONTROL]

    def solve(self, variant: Variant, library: Library, problem: str, accelerate=None) -> Measurement | None:
        """Return the measurement of a solve of a problem; None if this solver is not recorded on this device."""
        wanted = {"problem": problem, "accelerate": accelerate}
        return next(iter(matching(self.found.measurements, variant.by(library), **wanted)), None)
