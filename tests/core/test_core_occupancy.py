"""Occupancy, compared with results computed by hand from NVIDIA's rules, for each limit and each GPU generation."""

import dataclasses

import numpy as np
import pytest

from course_pkg.core import CourseError, catalogue, machine, occupancy

KIB = 1024

# machine, threads, registers, shared bytes: blocks, warps, share, limited by
WORKED = {
    # registers: 256 a warp and 8 regs a lane; 65,536 hold 64 warps of 32 registers
    "full": ("h200", 256, 32, 0, 8, 64, 1.0, "threads"),
    # 40 x 32 = 1,280 registers a warp: 12 in a quarter of 16,384, 48 warps in all
    "registers": ("h200", 256, 40, 0, 6, 48, 0.75, "registers"),
    # 33 registers are allotted as 40: 48 warps, of which a block needs 32
    "one register too many": ("h200", 1024, 33, 0, 1, 32, 0.5, "registers"),
    "the block fits twice": ("h200", 1024, 32, 0, 2, 64, 1.0, "threads"),
    # 255 x 32 = 8,160, allotted as 8,192: 2 warps a quarter
    "all registers of a thread": ("h200", 256, 255, 0, 1, 8, 0.125, "registers"),
    # 49 KiB with the driver's: 228 / 49 = 4.65
    "shared memory": ("h200", 256, 32, 48 * KIB, 4, 32, 0.5, "shared memory"),
    "all shared memory of a block": ("h200", 256, 32, 227 * KIB, 1, 8, 0.125, "shared memory"),
    # 1 KiB of the driver's alone: 228 blocks would fit, the multiprocessor has 32
    "small blocks": ("h200", 32, 32, 0, 32, 32, 0.5, "blocks"),
    # three warps a block: 64 / 3 = 21.3
    "odd warps": ("h200", 96, 32, 0, 21, 63, 63 / 64, "threads"),
    # 72 x 32 = 2,304 registers a warp: 7 in a quarter, 28 warps; three-warp blocks: 9
    "odd warps, registers": ("h200", 96, 72, 0, 9, 27, 27 / 64, "registers"),
    "a thread": ("h200", 1, 16, 0, 32, 32, 0.5, "blocks"),
    "33 threads are two warps": ("h200", 33, 32, 0, 32, 64, 1.0, "threads"),
    # 24,876 + 1,024 = 25,900 B would fit nine times; allotted as 25,984 they do not
    "lots of 128 bytes": ("h100-sxm", 128, 32, 24876, 8, 32, 0.5, "shared memory"),
    # 8 x 28.5 KiB = 228 KiB, the driver's included; one byte more and there is room for 7
    "eight just fit": ("h100-sxm", 256, 32, 28160, 8, 64, 1.0, "threads"),
    "eight do not fit": ("h100-sxm", 256, 32, 28161, 7, 56, 0.875, "shared memory"),
    # 164 / 49 = 3.3
    "A100": ("a100-40", 256, 32, 48 * KIB, 3, 24, 0.375, "shared memory"),
    "all shared memory of a block, A100": ("a100-80", 128, 32, 163 * KIB, 1, 4, 1 / 16, "shared memory"),
    # no reserve before 8.0: 96 / 48 = 2 and 64 / 16 = 4
    "V100": ("v100", 256, 32, 48 * KIB, 2, 16, 0.25, "shared memory"),
    # 10,800 B, or 10,880 in lots of 128, would fit nine times; allotted as 11,008 they do not
    "V100, lots of 256 bytes": ("v100", 128, 32, 10800, 8, 32, 0.5, "shared memory"),
    # Turing has half the warps, 32, and 16 blocks
    "T4": ("t4", 256, 32, 0, 4, 32, 1.0, "threads"),
    "T4, 64 registers are enough": ("t4", 256, 64, 0, 4, 32, 1.0, "threads"),
    "T4, shared memory": ("t4", 256, 32, 32 * KIB, 2, 16, 0.5, "shared memory"),
    "T4, small blocks": ("t4", 32, 32, 0, 16, 16, 0.5, "blocks"),
    # Ada holds 48 warps and 24 blocks
    "Ada": ("rtx4090", 256, 32, 0, 6, 48, 1.0, "threads"),
    "Ada, 1024 threads": ("rtx4090", 1024, 32, 0, 1, 32, 2 / 3, "threads"),
}


@pytest.mark.parametrize(
    ("key", "threads", "registers", "shared", "blocks", "warps", "share", "limited_by"),
    WORKED.values(),
    ids=WORKED,
)
def test_worked_by_hand(key, threads, registers, shared, blocks, warps, share, limited_by):
    found = occupancy(machine(key), threads, registers_per_thread=registers, shared_bytes=shared)
    assert (found.blocks_per_sm, found.warps_per_sm, found.limited_by) == (blocks, warps, limited_by)
    assert found.share == pytest.approx(share)
    assert found.limits[limited_by] == blocks == min(found.limits.values())


def test_every_limit_is_told():
    found = occupancy(machine("h200"), 256, registers_per_thread=40, shared_bytes=48 * KIB)
    assert found.limits == {"threads": 8, "blocks": 32, "registers": 6, "shared memory": 4}
    bare = occupancy(machine("v100"), 256, registers_per_thread=40)
    assert bare.limits == {"threads": 8, "blocks": 32, "registers": 6}, "no shared memory, no limit by it"


def test_an_occupancy_is_a_value():
    one, two = (occupancy(machine("h200"), 256, registers_per_thread=32) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.share = 1


def test_numpys_integers_will_do():
    found = occupancy(
        machine("h200"), np.int64(256), registers_per_thread=np.int32(40), shared_bytes=np.uint16(0)
    )
    assert found == occupancy(machine("h200"), 256, registers_per_thread=40)


@pytest.mark.parametrize("key", ["v100", "t4", "a100-40", "h200", "rtx4090"])
def test_more_of_anything_never_gives_more_blocks(key):
    m = machine(key)
    for threads in (32, 96, 256):
        blocks = [
            occupancy(m, threads, registers_per_thread=r).blocks_per_sm
            for r in range(1, 256)
            if r * threads < 60_000
        ]
        assert blocks == sorted(blocks, reverse=True)
        most = m.shared_kib_per_block_max * KIB
        blocks = [
            occupancy(m, threads, registers_per_thread=32, shared_bytes=s).blocks_per_sm
            for s in range(0, most + 1, 1024)
        ]
        assert blocks == sorted(blocks, reverse=True)
        assert blocks[-1] == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"threads_per_block": 2000},
            r"1 to 1,024 threads on the H200 SXM, not 2,000: make the block smaller",
        ),
        ({"threads_per_block": 0}, "1 to 1,024 threads on the H200 SXM, not 0"),
        ({"threads_per_block": 32.0}, "threads_per_block is 32.0: it must be an integer"),
        ({"threads_per_block": -1}, "threads_per_block is -1: it must be an integer of at least 0"),
        ({"registers_per_thread": 0}, "1 to 255 registers, not 0: take the compiler's figure"),
        ({"registers_per_thread": 256}, "1 to 255 registers, not 256"),
        ({"registers_per_thread": 300}, "1 to 255 registers, not 300"),
        ({"shared_bytes": -8}, "shared_bytes is -8"),
        (
            {"shared_bytes": 227 * KIB + 1},
            "at most 227 KiB of shared memory on the H200 SXM, 232,448 B, not 232,449 B",
        ),
        ({"shared_bytes": 256 * KIB}, "at most 227 KiB .* not 262,144 B: make its tile smaller"),
    ],
)
def test_mistakes_are_named(changed, said):
    launch = {"threads_per_block": 256, "registers_per_thread": 32} | changed
    with pytest.raises(CourseError, match=said):
        occupancy(machine("h200"), **launch)


@pytest.mark.parametrize(("key", "most"), [("a100-40", 163), ("a100-80", 163), ("v100", 96), ("t4", 64)])
def test_a_block_has_its_share_of_the_shared_memory(key, most):
    fits = occupancy(machine(key), 32, registers_per_thread=32, shared_bytes=most * KIB)
    assert fits.blocks_per_sm == 1
    with pytest.raises(CourseError, match=f"at most {most} KiB of shared memory"):
        occupancy(machine(key), 32, registers_per_thread=32, shared_bytes=most * KIB + 1)


def test_a_block_that_finds_too_few_registers_says_what_would_do():
    with pytest.raises(
        CourseError,
        match=r"1,024 threads with 65 registers each takes 73,728 registers and the H200 SXM has 65,536"
        r".*max_registers=64",
    ):
        occupancy(machine("h200"), 1024, registers_per_thread=65)
    assert occupancy(machine("h200"), 1024, registers_per_thread=64).blocks_per_sm == 1
    # five warps are taken for eight: 8 x 8,192 = 65,536 is just enough, nine for twelve is not
    assert occupancy(machine("h200"), 160, registers_per_thread=255).blocks_per_sm == 1
    with pytest.raises(CourseError, match=r"takes 98,304 registers.*max_registers=168"):
        occupancy(machine("h200"), 288, registers_per_thread=255)
    assert occupancy(machine("h200"), 288, registers_per_thread=168).blocks_per_sm == 1


def test_a_cpu_has_none():
    with pytest.raises(CourseError, match=r"EPYC 9654 .* is not a GPU and has no occupancy: choose"):
        occupancy(machine("epyc9654"), 256, registers_per_thread=32)


@pytest.mark.parametrize(("key", "capability"), [("c1060", "1.3"), ("k40", "3.5"), ("p100", "6.0")])
def test_older_gpus_have_other_rules(key, capability):
    with pytest.raises(
        CourseError, match=f"compute capability {capability}, and the rules here .* 7.0 to 9.0"
    ):
        occupancy(machine(key), 256, registers_per_thread=32)


# compute capability: warps, blocks, registers of a multiprocessor; shared KiB of it and of a block; threads of a block
SPECIFICATIONS = {
    "1.3": (32, 8, 16384, 16, 16, 512),
    "2.0": (48, 8, 32768, 48, 48, 1024),
    "3.5": (64, 16, 65536, 48, 48, 1024),
    "6.0": (64, 32, 65536, 64, 48, 1024),
    "7.0": (64, 32, 65536, 96, 96, 1024),
    "7.5": (32, 16, 65536, 64, 64, 1024),
    "8.0": (64, 32, 65536, 164, 163, 1024),
    "8.9": (48, 24, 65536, 100, 99, 1024),
    "9.0": (64, 32, 65536, 228, 227, 1024),
}


@pytest.mark.parametrize("key", [key for key, m in catalogue().items() if m.kind == "gpu"])
def test_the_catalogue_has_the_limits_of_each_compute_capability(key):
    m = machine(key)
    assert m.warp_size == 32
    found = (m.max_warps_per_sm, m.max_blocks_per_sm, m.registers_per_sm)
    found += (m.shared_kib_per_sm, m.shared_kib_per_block_max, m.max_threads_per_block)
    assert found == SPECIFICATIONS[m.compute_capability]


@pytest.mark.parametrize("key", [key for key, m in catalogue().items() if m.kind == "cpu"])
def test_cpus_have_no_such_figures(key):
    m = machine(key)
    assert {m.registers_per_sm, m.shared_kib_per_block_max, m.compute_capability} == {None}
