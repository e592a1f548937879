"""Stencil kernels compared step by step: recorded times on one device, clocks, and the counts of both witnesses."""

from functools import cached_property

from course_pkg import simt, viz
from course_pkg.bench import Measurement, Recorded, records
from course_pkg.core import Library, Variant, find_machine
from course_pkg.vector import latency
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness.clocks import (
    INSTRUCTIONS,
    NOT_COUNTED,
    OF_PEAK,
    READ,
    TIME,
    WRITTEN,
    Clocks,
    clocks,
    is_timed,
)
from course_pkg.witness.compare import by_name
from course_pkg.witness.longest import longest_clock
from course_pkg.witness.on_device import Counted

L2_READS = "lts__t_sectors_op_read.sum"
CYCLES, WAVEFRONTS = "sm__cycles_elapsed.max", "l1tex__data_pipe_lsu_wavefronts"
EDGE, SMALL = 512, 64  # points along an edge of the cubes that are timed, and of those that are counted


class Ladder(Counted):
    """What is recorded of the stencil's kernels on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of the topic ``stencil``.

    Examples
    --------
    >>> from course_pkg import bench
    >>> from course_pkg.stencil.variants import VARIANTS
    >>> rungs = Ladder(bench.recorded("stencil"))
    >>> rungs.measured(VARIANTS["laplacian_flat"]).parameters["shape"]
    [512, 512, 512]
    """

    @property
    def origin(self) -> viz.Note:
        """One line for a caption: where times and shares come from."""
        return viz.Note(self.found.origin, "Shares of the time: Nsight Compute.")

    def measured(
        self, variant: Variant, library: Library = Library.NUMBA_CUDA, edge: int = EDGE, **parameters
    ) -> Measurement:
        """Return a measurement on edge³ points, by default in doubles and with the launcher's default blocks."""
        usual = {"dtype": "float64", "threads_per_block": None, "max_registers": None, "shape": [edge] * 3}
        return self.found.one(variant.by(library), **{**usual, **parameters})

    def copy(self, edge: int = EDGE) -> Measurement:
        """Return the measurement of a copy of the grid by the driver, which is the bound."""
        return self.measured(STREAMS["copy"], Library.CUPY, edge)

    def of_copy(self, m: Measurement) -> float:
        """Return a kernel's T_eff, divided by the T_eff of the copy of a grid of the same size."""
        return m.of_copy(self.copy(m.parameters["shape"][0]), m.cost.a_eff_bytes)

    def clocks(self, variant: Variant) -> Clocks:
        """Return the clocks of a variant on 512³ doubles."""
        counted = self.traffic.counters[f"{variant.function_name}_{EDGE}"]
        return clocks(counted, self.copy().t_eff_gb_s)

    def _shares(self, variant: Variant) -> dict[str, float]:
        """Return the shares of a variant's clocks; empty if the device has not counted the variant."""
        counted = self.traffic.counters.get(f"{variant.function_name}_{EDGE}")
        return self.clocks(variant).shares if is_timed(counted) else {}

    def longest_clock(self, variant: Variant, setting: str = "") -> str:
        """Return the name of the longest clock on 512³ doubles, and the share of the time that it fills.

        ``setting`` is the end of the case's name, such as ``32x8x1`` for blocks other than the default ones. The result
        is "not counted" if the device has not counted the case.

        Examples
        --------
        >>> from course_pkg import bench
        >>> from course_pkg.stencil.variants import VARIANTS
        >>> Ladder(bench.recorded("stencil")).longest_clock(VARIANTS["laplacian_tiled"])
        'issue 79%'
        """
        case = f"{variant.function_name}_{EDGE}" + (f"_{setting}" if setting else "")
        return longest_clock(self.found, case, self.copy())

    def moved(self, variant: Variant, edge: int = EDGE) -> tuple[int, int, float]:
        """Return the bytes read from memory, the bytes written to it, and the seconds of the kernel in the same run."""
        counted = self.traffic.counters[f"{variant.function_name}_{edge}"]
        return counted[READ], counted[WRITTEN], counted[TIME] / 1e9

    def l2_reads(self, variant: Variant, edge: int = EDGE) -> int:
        """Return how many sectors were read in L2.

        A copy counts 1.5 times its sectors, as if half of them were counted in both halves of L2: compare kernels by
        this count, and do not take it for bytes.
        """
        return self.traffic.counters[f"{variant.function_name}_{edge}"][L2_READS]

    def seen(self, variant: Variant) -> dict[str, float | None]:
        """Return what the hardware counted on 64³ points, by the profile's names, and instructions and bytes read."""
        counted = self.counters.counters[f"{variant.function_name}_{SMALL}"]
        return by_name(counted) | {"instructions": counted.get(INSTRUCTIONS), "bytes read": counted.get(READ)}

    def climb(self, variants: dict[str, Variant]) -> viz.Picture:
        """Draw a rung per variant: its share of the copy's bandwidth, its counters, and the longest clock."""
        rungs = []
        for name, v in variants.items():
            counted = f"{v.function_name}_{SMALL}" in self.counters.counters
            seen = self.seen(v) if counted else {}
            counters = {
                "instructions per warp": self._per_warp(seen.get("instructions"), ".0f"),
                "loads per point": self._per_warp(seen.get("global load requests"), ".1f"),
            }
            rungs.append(viz.Rung(name, self.of_copy(self.measured(v)), counters, self.longest_clock(v)))
        note = viz.Note(f"{EDGE}³ doubles; counters: {SMALL}³.", self.origin)
        return viz.ladder_picture(rungs, bound_gb_s=self.copy().t_eff_gb_s, note=note)

    @staticmethod
    def _per_warp(count: float | None, form: str) -> str:
        """Format a count of 64³ points as a count per 32 points; say so if it was not counted."""
        return NOT_COUNTED if count is None else format(32 * count / SMALL**3, form)

    def latency_ns(self, strided: Variant, sms: int) -> float:
        """Return the latency of a load from memory in nanoseconds, with 64 waiting threads on each multiprocessor."""
        m = self.measured(strided, threads_per_block=64, blocks_per_sm=1)
        return sms * 64 * 8 / (m.t_eff_gb_s / 2)  # half of T_eff is read

    def l1_gb_s(self, variant: Variant, sms: int) -> tuple[float, float]:
        """Return the peak GB/s of all L1 caches in a recorded launch, and the peak wavefronts per cycle of one L1.

        A wavefront is 128 bytes. At its peak, the L1 of a multiprocessor serves one wavefront per cycle.
        """
        counted = self.traffic.counters[f"{variant.function_name}_{EDGE}"]
        cycles, share = counted[CYCLES], counted[WAVEFRONTS + OF_PEAK] / 100
        return 128 * sms * cycles / counted[TIME], counted[WAVEFRONTS + ".sum"] / (share * cycles * sms)

    @cached_property
    def chains(self) -> Recorded | None:
        """The chains of loads that were recorded on this device; None if there are none."""
        return next(
            (found for found in records("latency") if found.device.slug == self.found.device.slug), None
        )

    @property
    def latencies(self) -> dict[str, latency.Latency]:
        """The latency of each memory for one thread, by the memory's name; empty if it was not recorded."""
        return latency.by_level(self.chains.measurements) if self.chains else {}

    def answers(self) -> viz.Picture:
        """Draw the latency of a load over the bytes of the ring that the loads walk through."""
        gpu = find_machine(self.found.device.name)
        known = {name: (one.in_ns, one.in_cycles) for name, one in self.latencies.items()}
        sizes = {latency.L1: gpu.shared_kib_per_sm * 2**10, latency.L2: gpu.l2_kib * 2**10}
        return viz.answers_picture(
            [(one.footprint_bytes, one.ns) for one in latency.latencies(self.chains.measurements)]
            if self.chains
            else [],
            [
                viz.Reach(name, sizes.get(name, float("inf")), *known.get(name, ()))
                for name in (*sizes, latency.MEMORY)
            ],
            beside={
                name: (one.footprint_bytes, one.ns)
                for name, one in self.latencies.items()
                if name == latency.SHARED
            },
            note=self.chains.origin
            if self.chains
            else f"{self.found.device.name}: `course bench latency --record`.",
        )

    def draw(self, variants: dict[str, Variant]) -> viz.Picture:
        """Draw the times of variants, each under its name, and their clocks beside the copy."""
        rows = {name: (self.measured(v).median_s, self._shares(v)) for name, v in variants.items()}
        return viz.clock_bars(
            rows, bound_s=self.copy().median_s, note=viz.Note(f"{EDGE}³ doubles.", self.origin)
        )


def profile(variant: Variant) -> simt.KernelProfile:
    """Return the interpreter's profile of the launch that the hardware's counters of 64³ points belong to."""
    from course_pkg.stencil.cases import cases  # kernels: only on request

    case = next(case for case in cases if case.name == f"{variant.function_name}_{SMALL}")
    return simt.profile(case.configured, *case.args())
