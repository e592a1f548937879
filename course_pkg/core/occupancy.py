"""Occupancy: how many warps of a launch are on one multiprocessor at a time, and what limits their number."""

from dataclasses import dataclass, field

from course_pkg.core.checks import require_count
from course_pkg.core.errors import CourseError
from course_pkg.core.machine import Machine

CAPABILITIES = ("7.0", "9.0")  # first and last compute capability with these rules
MOST_REGISTERS = 255  # per thread
REGISTER_UNIT = 256  # a warp gets registers in multiples of this number
PARTITIONS = 4  # per multiprocessor: each has a quarter of the registers, and a warp runs on one partition
SHARED_UNIT, SHARED_UNIT_BEFORE_8 = 128, 256  # bytes
SHARED_RESERVED = 1024  # bytes that the driver keeps for each block, since compute capability 8.0


@dataclass(frozen=True)
class Occupancy:
    """How many blocks and warps of a launch fit on one multiprocessor at the same time.

    Attributes
    ----------
    blocks_per_sm, warps_per_sm : int
        Largest number of blocks and of warps that are resident at the same time.
    share : float
        Resident warps divided by the largest number that a multiprocessor can hold, from 0 to 1.
    limited_by : str
        ``"threads"``, ``"blocks"``, ``"registers"`` or ``"shared memory"``; if several limit equally, the first.
    limits : dict of str to int
        Blocks that each of these alone would allow. Shared memory is missing if a block takes none, which is
        possible before compute capability 8.0.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> found = occupancy(machine("h200"), 256, registers_per_thread=40)
    >>> found.warps_per_sm, found.share, found.limited_by
    (48, 0.75, 'registers')
    """

    blocks_per_sm: int
    warps_per_sm: int
    share: float
    limited_by: str
    limits: dict[str, int] = field(hash=False)


def occupancy(
    machine: Machine, threads_per_block: int, *, registers_per_thread: int, shared_bytes: int = 0
) -> Occupancy:
    """Return how many blocks and warps of a launch are resident on one multiprocessor.

    ``blocks = min(warps of an SM / warps of a block, blocks of an SM, warps that find registers / warps of a block,
    shared memory of an SM / shared memory of a block)``, each rounded down.

    A warp gets registers in units of 256, from its quarter of the multiprocessor. A block gets shared memory in units
    of 128 bytes (256 before compute capability 8.0); from 8.0 on, the driver takes 1 KiB more for each block. All of
    ``machine.shared_kib_per_sm`` is assumed to be shared memory, and none of it L1 cache.

    Source: NVIDIA, CUDA Toolkit, ``cuda_occupancy.h`` (``cudaOccMaxActiveBlocksPerMultiprocessor``).

    Parameters
    ----------
    machine : Machine
        A GPU of compute capability 7.0 to 9.0.
    threads_per_block : int
        Threads of a block, all directions together.
    registers_per_thread : int
        1 to 255, as the compiler reports it.
    shared_bytes : int
        Shared memory of a block in bytes, static and dynamic.

    Raises
    ------
    CourseError
        If the machine is not a GPU of these compute capabilities, or cannot run a single block.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> occupancy(machine("h200"), 256, registers_per_thread=32).share
    1.0
    """
    _check_machine(machine)
    require_count(
        threads_per_block=threads_per_block,
        registers_per_thread=registers_per_thread,
        shared_bytes=shared_bytes,
    )
    # NumPy's small integers would overflow below
    threads, registers, shared_bytes = int(threads_per_block), int(registers_per_thread), int(shared_bytes)
    _check_one_block(machine, threads, registers, shared_bytes)
    warps = _warps(machine, threads)
    per_warp = _round_up(registers * machine.warp_size, REGISTER_UNIT)
    # warps for which there are registers
    fed = machine.registers_per_sm // PARTITIONS // per_warp * PARTITIONS
    limits = {
        "threads": machine.max_warps_per_sm // warps,
        "blocks": machine.max_blocks_per_sm,
        "registers": fed // warps,
    }
    if allotted := _shared(machine, shared_bytes):
        limits["shared memory"] = machine.shared_kib_per_sm * 1024 // allotted
    limited_by = min(limits, key=limits.get)
    blocks = limits[limited_by]
    share = blocks * warps / machine.max_warps_per_sm
    return Occupancy(blocks, blocks * warps, share, limited_by, limits)


def _check_machine(machine):
    if machine.kind != "gpu":
        raise CourseError(
            f'The {machine.name} is not a GPU and has no occupancy: choose a GPU, such as machine("h200").'
        )
    first, last = CAPABILITIES
    if not _capability(first) <= _capability(machine.compute_capability) <= _capability(last):
        raise CourseError(
            f"The {machine.name} has compute capability {machine.compute_capability}, and the rules here are those of "
            f'{first} to {last}: ask for a newer GPU, such as machine("v100").'
        )


def _check_one_block(machine, threads, registers, shared_bytes):
    name = machine.name
    if not 1 <= threads <= machine.max_threads_per_block:
        raise CourseError(
            f"A block has 1 to {machine.max_threads_per_block:,} threads on the {name}, not {threads:,}: "
            "make the block smaller and the grid larger."
        )
    if not 1 <= registers <= MOST_REGISTERS:
        raise CourseError(
            f"A thread has 1 to {MOST_REGISTERS} registers, not {registers}: take the compiler's figure, "
            "kernel.get_regs_per_thread() of a compiled kernel."
        )
    if shared_bytes > (most := machine.shared_kib_per_block_max * 1024):
        raise CourseError(
            f"A block has at most {machine.shared_kib_per_block_max} KiB of shared memory on the {name}, {most:,} B, "
            f"not {shared_bytes:,} B: make its tile smaller."
        )
    # a launch is refused if its registers would not suffice with as many warps on every partition as on the fullest
    warps = _round_up(_warps(machine, threads), PARTITIONS)
    needed = warps * _round_up(registers * machine.warp_size, REGISTER_UNIT)
    if needed > machine.registers_per_sm:
        most = machine.registers_per_sm // warps // REGISTER_UNIT * REGISTER_UNIT // machine.warp_size
        raise CourseError(
            f"A block of {threads:,} threads with {registers} registers each takes {needed:,} registers and the {name} "
            f"has {machine.registers_per_sm:,}, so it cannot run: make the block smaller, or hold the compiler to "
            f"{most} registers with cuda.jit(max_registers={most})."
        )


def _shared(machine, shared_bytes):
    if _capability(machine.compute_capability) < _capability("8.0"):
        return _round_up(shared_bytes, SHARED_UNIT_BEFORE_8)
    return _round_up(shared_bytes + SHARED_RESERVED, SHARED_UNIT)


def _warps(machine, threads):
    return -(-threads // machine.warp_size)


def _round_up(n, unit):
    return -(-n // unit) * unit


def _capability(text):
    return tuple(map(int, text.split(".")))
