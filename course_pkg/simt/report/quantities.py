"""The numbers of a profile: accesses by memory, flops by precision and kind. Names follow Nsight Compute."""

import dataclasses
from dataclasses import dataclass, field

from course_pkg.simt.memory.hazard import Hazard

SPACES = (
    "global_load", "global_store", "global_atomics", "shared_load", "shared_store", "shared_atomics",
    "local_load", "local_store", "constant_load",
)  # fmt: skip
KINDS = ("add", "mul", "fma", "div", "sqrt", "special")


@dataclass
class AccessCounts:
    """Accesses to one memory.

    For atomics on shared memory, wavefronts and bank conflicts are not counted and stay 0: the rule is not documented.

    Attributes
    ----------
    thread_accesses : int
        Number of elements accessed: one for each thread that takes part.
    requests : int
        Instructions of whole warps. Global loads: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum``; stores
        ``…_op_st.sum``; local ``…_mem_local_op_ld.sum``; shared ``smsp__sass_inst_executed_op_shared_ld.sum``.
    sectors : int
        Pieces of 32 bytes that the requests move: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` and similar; 0
        for shared memory.
    bytes_requested : int
        Bytes of all accessed elements.
    unique_bytes : int
        The same, but each element counts once per launch: the traffic with a perfect cache.
    block_unique_bytes : int
        The same, but each element counts once per block: the traffic with a perfect L1 and no other cache.
    wavefronts : int
        Number of passes in which the 32 banks serve the requests:
        ``smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` and similar.
    bank_conflicts : int
        Wavefronts in addition to those that the same lanes would need without any conflict:
        ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`` and similar.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import triad_kernel
    >>> found = simt.profile(triad_kernel[2, 32], np.ones(64), np.ones(64), 3.0, np.empty(64))
    >>> found.global_load.requests, found.global_load.sectors, found.global_load.sectors_per_request
    (4, 32, 8.0)
    """

    thread_accesses: int = 0
    requests: int = 0
    sectors: int = 0
    bytes_requested: int = 0
    unique_bytes: int = 0
    block_unique_bytes: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Mean number of sectors per request; 0.0 without requests."""
        return self.sectors / self.requests if self.requests else 0.0

    def __bool__(self):
        return self.thread_accesses > 0

    def __add__(self, other: "AccessCounts") -> "AccessCounts":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return AccessCounts(*(one + another for one, another in pairs))


@dataclass
class FlopCounts:
    """Floating-point operations of one precision, summed over all threads.

    Attributes
    ----------
    add, mul : int
        Additions (and subtractions) and multiplications that are not part of an fma:
        ``smsp__sass_thread_inst_executed_op_dadd_pred_on.sum``, ``…_dmul_…``; ``fadd``, ``fmul`` in single precision.
    fma : int
        Fused multiply-adds, a multiplication and an addition in one instruction: ``…_dfma_…``, ``…_ffma_…``.
    div, sqrt, special : int
        Divisions, square roots and transcendental functions in the source; each takes several instructions on a GPU.
    reciprocal : int
        Number of divisions, among ``div``, whose numerator is 1: a GPU needs fewer instructions for them.
    known : int
        Number of functions, among ``special``, whose instructions are included in ``inside_add`` and so on.
    inside_add, inside_mul, inside_fma : int
        Instructions inside of transcendental functions. :attr:`total` counts each function as one flop instead.

    Examples
    --------
    >>> FlopCounts(add=10, fma=5).total  # an fma is two flops
    20
    """

    add: int = 0
    mul: int = 0
    fma: int = 0
    div: int = 0
    sqrt: int = 0
    special: int = 0
    reciprocal: int = field(default=0, repr=False)
    known: int = field(default=0, repr=False)
    inside_add: int = field(default=0, repr=False)
    inside_mul: int = field(default=0, repr=False)
    inside_fma: int = field(default=0, repr=False)

    @property
    def total(self) -> int:
        """Flops: 2 for an fma, 1 for anything else."""
        return self.add + self.mul + 2 * self.fma + self.div + self.sqrt + self.special


EXPANDED = {
    ("float64", "div"): {("float64", "mul"): 1, ("float64", "fma"): 7, ("float32", "fma"): 1},
    ("float32", "div"): {("float32", "fma"): 5},
    ("float64", "reciprocal"): {("float64", "fma"): 5},
    ("float32", "reciprocal"): {("float32", "add"): 1, ("float32", "fma"): 2},
    ("float64", "sqrt"): {("float64", "mul"): 3, ("float64", "fma"): 5},
    ("float32", "sqrt"): {("float32", "mul"): 2, ("float32", "fma"): 2},
}  # instructions on compute capability 9.0 for ordinary operands, in addition to one in the SFU (special functions)


@dataclass
class Flops:
    """Floating-point operations by precision, such as ``by_precision["float64"]``.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import triad_kernel
    >>> found = simt.profile(triad_kernel[2, 32], np.ones(64), np.ones(64), 3.0, np.empty(64))
    >>> found.flops["float64"].fma, found.flops.total
    (64, 128)
    """

    by_precision: dict[str, FlopCounts] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Flops of all precisions."""
        return sum(counts.total for counts in self.by_precision.values())

    def instructions(self, precision: str, kind: str) -> int:
        """Return how many additions, multiplications or multiply-adds a GPU executes.

        This includes the instructions that compute divisions, square roots, exp, log, sin and cos.

        Parameters
        ----------
        precision : str
            ``"float64"`` or ``"float32"``.
        kind : str
            ``"add"``, ``"mul"`` or ``"fma"``.
        """
        total = getattr(self[precision], kind) + getattr(self[precision], f"inside_{kind}")
        for (source, operation), made in EXPANDED.items():
            times = getattr(self[source], operation) - (self[source].reciprocal if operation == "div" else 0)
            total += times * made.get((precision, kind), 0)
        return total

    def __getitem__(self, precision: str) -> FlopCounts:
        return self.by_precision.get(precision, FlopCounts())


@dataclass
class LineCounts:
    """The counters of one source line or one array.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import triad_kernel
    >>> found = simt.profile(triad_kernel[2, 32], np.ones(64), np.ones(64), 3.0, np.empty(64))
    >>> found.by_array["out"].global_store.bytes_requested
    512
    """

    global_load: AccessCounts = field(default_factory=AccessCounts)
    global_store: AccessCounts = field(default_factory=AccessCounts)
    global_atomics: AccessCounts = field(default_factory=AccessCounts)
    shared_load: AccessCounts = field(default_factory=AccessCounts)
    shared_store: AccessCounts = field(default_factory=AccessCounts)
    shared_atomics: AccessCounts = field(default_factory=AccessCounts)
    local_load: AccessCounts = field(default_factory=AccessCounts)
    local_store: AccessCounts = field(default_factory=AccessCounts)
    constant_load: AccessCounts = field(default_factory=AccessCounts)
    flops: Flops = field(default_factory=Flops)
    hazards: list[Hazard] = field(default_factory=list)

    @property
    def atomics(self) -> AccessCounts:
        """Atomic operations on global and on shared memory together."""
        return self.global_atomics + self.shared_atomics

    def traffic(self) -> dict[str, AccessCounts]:
        """Return the counts by memory and direction; each access of a thread is counted in exactly one of them."""
        return {name: getattr(self, name) for name in SPACES}

    def to_dict(self) -> dict:
        """Return the counters that are not empty, ready for JSON."""
        found = {name: dataclasses.asdict(getattr(self, name)) for name in SPACES if getattr(self, name)}
        for name in found:
            found[name]["sectors_per_request"] = getattr(self, name).sectors_per_request
        found["flops"] = {p: dataclasses.asdict(c) for p, c in self.flops.by_precision.items()}
        found["hazards"] = [h.message for h in self.hazards]
        return found
