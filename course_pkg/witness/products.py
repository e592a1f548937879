"""What is recorded of sparse products on one device: times by matrix, variant and setting, and in several orders."""

from functools import cached_property

from course_pkg.bench import Measurement, Recorded, recorded
from course_pkg.core import Library, Variant
from course_pkg.permutation.variants import VARIANTS as PERMUTATIONS
from course_pkg.spmv.suite_products import PRODUCT
from course_pkg.spmv.variants import VARIANTS
from course_pkg.witness.clocks import READ, Clocks
from course_pkg.witness.on_device import OnDevice

PLAIN = {"dtype": "float64", "values": None}  # double precision, of vectors and of values


class Products(OnDevice):
    """What is recorded of the topic ``spmv`` on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of that topic.
    """

    def clocks(self, kernel: str) -> Clocks:
        """Return bytes, time and clocks of a kernel, such as ``sell``, on Poisson's matrix of 160³ rows, as counted."""
        return super().clocks(f"spmv_{kernel}_160")

    def one(self, variant: Variant, matrix: str, order: str | None = None, **settings) -> Measurement:
        """Return the measurement of one of our kernels with a matrix, in double precision unless told otherwise."""
        wanted = {"matrix": matrix, "order": order, **PLAIN, **settings}
        return self.found.one(variant.by(Library.NUMBA_CUDA), **wanted)

    def library(self, matrix: str, order: str | None = None, **settings) -> Measurement:
        """Return the measurement of cuSPARSE's product by CuPy."""
        return self.found.one(
            PRODUCT.by(Library.CUPY), **{"matrix": matrix, "order": order, **PLAIN, **settings}
        )

    def ours(self, matrix: str) -> list[Measurement]:
        """Return the measurements of all our kernels with a matrix, in double precision."""
        variants = VARIANTS.of("spmv", Library.NUMBA_CUDA)
        return [
            m
            for m in self.found.measurements
            if any(m.what == v.by(Library.NUMBA_CUDA) for v in variants)
            and m.parameters.get("matrix") == matrix
            and all(m.parameters.get(k) == v for k, v in {"order": None, **PLAIN}.items())
        ]

    def best(self, matrix: str) -> Measurement:
        """Return the measurement of our fastest kernel with a matrix."""
        return min(self.ours(matrix), key=lambda m: m.median_s)

    def over_bound(self, m: Measurement) -> float:
        """Return the time of a product, divided by the time that a long copy takes for the bytes of the CSR product."""
        return m.over_bound(self.copy, self.library(m.parameters["matrix"]).cost.bytes)

    def jacobi(self, form: str, matrix: str, order: str | None = None) -> Measurement:
        """Return the measurement of a step of Jacobi's method by our kernel, with rows in an order."""
        return self._cuda(f"jacobi_{form}", matrix=matrix, order=order)

    def swap(self, way: str, matrix: str) -> Measurement:
        """Return the measurement of an iteration ``y = A x``, x := y, in one of the four ways to swap."""
        return self._cuda(f"swap_{way}", matrix=matrix)

    def splitting(self, way: str | None, matrix: str, n: int) -> Measurement:
        """Return the measurement of a product in two precisions; if ``way`` is None, of the same product in float64."""
        return self._cuda(f"splitting_{way}" if way else "spmv_csr_vector", matrix=f"{matrix}_scaled", n=n)

    def _cuda(self, function: str, **parameters) -> Measurement:
        return self.found.one(VARIANTS[function].by(Library.NUMBA_CUDA), **parameters)

    @cached_property
    def permuted(self) -> Recorded:
        """The device's measurements of the topic ``permutation``."""
        return recorded("permutation", self.found.device.slug)

    def gathered(self, operation: str, order: str) -> Measurement:
        """Return the measurement of a gather or scatter by our kernel in an order, of the longest vectors."""
        what = PERMUTATIONS[operation].by(Library.NUMBA_CUDA)
        return max(self.permuted.all(what, order=order), key=lambda m: m.parameters["n"])

    @cached_property
    def copied(self) -> Measurement:
        """The measurement of the fastest copy of vectors as long as those of :meth:`gathered`."""
        copies = [m for m in self.permuted.measurements if m.operation == "copy"]
        return max(copies, key=lambda m: (m.parameters["n"], m.t_eff_gb_s))

    def strided_bytes(self) -> dict[int, float]:
        """Return, for each stride, the counted bytes that memory sent for 2²⁴ doubles with this stride."""
        counted = self.traffic.counters
        return {k: counted[f"vector_copy_strided_{k}_large"][READ] for k in (1, 2, 4, 8, 16, 32, 64)}
