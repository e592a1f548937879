# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Shared memory
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Shared memory
#
# What the threads of a block can keep on the chip, what it costs, and when it pays.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 5, memories and clocks 5, the shape of a block 5, the tile
# > taken apart 12, races and banks 7, transposes 6, limit and summary 5.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **stage** a tile with its halo in shared memory, and find a missing barrier,
# - **choose** the shape of a block,
# - **take** a kernel **apart** until you see what each of its parts costs,
# - **see** a bank conflict, and remove it,
# - **tell** where shared memory pays, and where it does not.
#
# It builds on lecture 1 (blocks, coalescing, barrier) and lecture 2 (T_eff, sectors, the bound).

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only: the parts of the package that this lecture uses.
import textwrap

import numpy as np
from IPython.display import Markdown

from course_pkg import bench, cuda, practice, simt, viz
from course_pkg.core import Library, find_machine, machine, occupancy
from course_pkg.device.launch import blocks_for
from course_pkg.paths import figure
from course_pkg.stencil import cost, cpu_numba, reference, suite_tiles
from course_pkg.stencil import gpu_numba as gpu
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams
from course_pkg.vector import gpu_numba as vector_gpu
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness import clocks
from course_pkg.witness.compare import by_name
from course_pkg.witness.every import every_clock
from course_pkg.witness.ladder import Ladder, profile
from course_pkg.witness.longest import longest_clock

# %% slideshow={"slide_type": "skip"}
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
h200 = machine("h200")
gpus = bench.records("stencil")  # recorded on an H100 and on an H200
h100_rungs, rungs = map(Ladder, gpus)
laplacian = {v.name: v for v in VARIANTS.of("laplacian")}
centre = {v.name: v for v in VARIANTS.of("centre")}  # out = 6 u
flat, tiled = (rungs.measured(laplacian[v]) for v in ("flat", "tiled"))
assert "H200" in rungs.found.device.name and "H100" in h100_rungs.found.device.name


# %% slideshow={"slide_type": "skip"}
def ladder(**variants):
    """Draw the times of variants on each GPU, each under its name, and their clocks."""
    names = {name.replace("_", " "): variant for name, variant in variants.items()}
    return viz.on_each(lambda found: Ladder(found).draw(names), gpus)


def climb(**variants):
    """Draw the share of the copy that each variant reaches on each GPU, rung by rung."""
    names = {name.replace("_", " "): variant for name, variant in variants.items()}
    return viz.on_each(lambda found: Ladder(found).climb(names), gpus)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fewer loads
#
# The 7-point Laplacian is a [stencil](glossary.md#stencil): 6 times a point minus its six neighbours. It reads each inner point seven times:
# once for itself, six times as a neighbour.
#
# - In the **flat** kernel, each thread loads its seven numbers from [global memory](glossary.md#global-memory).
# - In the **tiled** kernel, the threads of a block load the points of their [tile](glossary.md#tile), and of the [halo](glossary.md#halo) around it,
#   **once** into [shared memory](glossary.md#shared-memory). There they read their neighbours.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
N = 64
counted = {name: profile(laplacian[name]) for name in ("flat", "tiled")}
loads = {name: p.global_load for name, p in counted.items()}
fewer = loads["flat"].sectors / loads["tiled"].sectors
assert loads["flat"].thread_accesses == 7 * N**3 - 6 * N**2 and fewer > 2
Markdown(
    f"Counted on 64³ points: **{loads['flat'].sectors:,}** sectors without the tile, "
    f"**{loads['tiled'].sectors:,}** with it: {fewer:.1f} times fewer."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_tile = viz.Prediction(
    "03-tile",
    f"The tiled kernel asks for {fewer:.1f} times fewer sectors. On an H200, beside the flat kernel, it is …",
    ["more than twice as fast", "a little faster", "hardly different", "slower"],
)
guess_tile

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Flat and tiled, timed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(
    lambda found: viz.bars(
        bench.Comparison(tuple(Ladder(found).measured(laplacian[v]) for v in ("flat", "tiled")), Ladder(found).copy().t_eff_gb_s),
        bound="copy",
        note=viz.Note("512³ points, fp64. Copy: the driver's, of the grid.", found.origin),
    ),
    gpus,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_tile.reveal(
    f"{bench.format_time(flat.median_s)} without the tile, {bench.format_time(tiled.median_s)} with it: "
    f"{tiled.median_s / flat.median_s:.1f} times as long",
    right="slower",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the question. The expected wrong answer is "faster". Do not explain yet: the lecture takes the kernel apart
# > until everybody sees the answer.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The memories of a GPU

# %% slideshow={"slide_type": "skip"}
h100 = machine("h100-sxm")
assert all(getattr(h100, what) == getattr(h200, what) for what in ("sms", "registers_per_sm", "shared_kib_per_sm"))
assert [round(on.l1_gb_s(laplacian["flat"], h200.sms)[1], 2) for on in (rungs, h100_rungs)] == [1, 1]


def memories(on):
    """Return the memories of a GPU, from its registers outwards."""
    gpu, known = find_machine(on.found.device.name), on.latencies
    answers = {name: f"answers in {known[name].ns:.0f} ns" if known else "latency not recorded" for name in ("L1", "L2", "memory")}
    l1_gb_s, in_l2, of_memory = on.l1_gb_s(laplacian["flat"], h200.sms)[0], on.copy(128).t_eff_gb_s, on.copy().t_eff_gb_s
    in_sm, said = f"≤ {gpu.shared_kib_per_sm} KiB per SM shared", "{:.1f} TB/s".format
    return [
        viz.Level("registers", (f"{gpu.registers_per_sm * 4 // 1024} KiB per SM", "of one thread", "the compiler", "fills them")),
        viz.Level("L1 and shared", (in_sm, "by a block; you fill it", answers["L1"]), l1_gb_s, f"{l1_gb_s / 1000:.0f} TB/s"),
        viz.Level("L2", (f"{gpu.l2_kib // 1024} MiB", "of all threads", answers["L2"]), in_l2, said(in_l2 / 1000)),
        viz.Level("memory", (f"{gpu.memory_gb:.0f} GB", "of all threads", answers["memory"]), of_memory, said(of_memory / 1000)),
    ]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
LEVELS = memories(rungs)
viz.on_each(
    lambda found: viz.memories_picture(
        memories(Ladder(found)),
        note=f"{h200.sms} multiprocessors (SM). Pipes: copies of 128³ and 512³ doubles; L1: 128 B per cycle and SM. "
        f"Answer: to one thread, by `course bench latency`. {found.origin}",
    ),
    gpus,
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Shared memory** and L1 are one piece of silicon, divided at each launch.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Three clocks
#
# A clock is the time that a kernel's bytes from **memory**, its traffic in the caches **L1** or **L2**, or the **issue** of its instructions would take alone.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ladder(flat=laplacian["flat"], tiled=laplacian["tiled"])

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
of_flat, of_tiled = rungs.clocks(laplacian["flat"]), rungs.clocks(laplacian["tiled"])
assert abs(of_flat.seconds("memory") / of_tiled.seconds("memory") - 1) < 0.05
issuing = [on.clocks(laplacian["tiled"]).seconds("issue") / on.clocks(laplacian["flat"]).seconds("issue") for on in (rungs, h100_rungs)]
assert all(2.4 < ratio < 2.6 for ratio in issuing) and of_tiled.seconds("L1") > 1.5 * of_flat.seconds("L1")
assert of_flat.binds == of_tiled.binds == clocks.WAITING and clocks.BINDS == 0.85
assert h100_rungs.clocks(laplacian["flat"]).binds == clocks.MEMORY
Markdown(f"On the H200, memory takes as long with the tile as without; to issue the instructions takes **{issuing[0]:.1f} times as long**.")

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read the picture.** The grey bar is the kernel's time. Each coloured bar is the time that one unit would need alone: *memory* for the bytes that
# moved, at the bandwidth of the copy; *L2* and *L1* for their traffic, at the greatest rate of their busiest stage; *issue* for the instructions, at
# one per cycle and [scheduler](glossary.md#scheduler). The flops of lecture 2 have no bar: at the datasheet's rate, those of these kernels would take less than a
# tenth of the time. A clock that fills 85% or more of the time is said to **bind**. Where none binds, we say that the warps **wait**; for
# what, these clocks do not tell. On the H200, neither of these two kernels is bound by one clock, and both are slower than the longest of theirs. On the H100,
# whose memory is slower, memory binds *flat*.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. 16 bytes per point have to move, one read and one write; the dashed line is the driver's copy of the grid.
# > Both blue bars end there. What differs is the rest.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_block = viz.Estimate(
    "03-block",
    "The flat kernel with 256 threads per block, as 32×4×2 or as 4×8×8. On an H200 the second takes …",
    0.5,
    16,
    "times as long",
)
guess_block

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The shape of a block

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
small = HeatProblem.random((32, 32, 32)).T
n = np.uint32(32)


def shaped(block):
    """Profile the flat kernel on 32³ points."""
    launch = gpu.laplacian_flat_kernel[blocks_for(small.shape, block), block]
    return simt.profile(launch, small.reshape(-1), n, n, n, np.empty(small.size))


shapes = [(32, 4, 2), (16, 4, 4), (8, 8, 4), (4, 8, 8), (1, 16, 16), (32, 1, 1)]
by_shape = {s: shaped(s) for s in shapes}
line = next(where for where, c in by_shape[shapes[0]].by_line.items() if c.global_load)
first = {s: by_shape[s].access(line, block=0, warp=0) for s in shapes}
viz.slider(lambda s: viz.access_strip(first[s]), shapes[:5], label="threads of a block along x, y, z", start=(4, 8, 8))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What the shape costs

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
lines = {s: len({byte // 128 for byte in first[s].offsets}) for s in shapes}
assert len({byte // 32 for byte in first[1, 16, 16].offsets}) == 32
assert by_shape[32, 1, 1].global_load.block_unique_bytes > by_shape[32, 4, 2].global_load.block_unique_bytes
taken = {s: [on.measured(laplacian["flat"], threads_per_block=list(s)) for on in (rungs, h100_rungs)] for s in shapes if s != (16, 4, 4)}


def shaped_ladder(on):
    """Draw the share of the copy that each shape of block reaches, beside what its warps touch."""
    rungs = []
    for s in taken:
        asked = {"sectors per request": f"{by_shape[s].global_load.sectors_per_request:.1f}", "lines of 128 B": str(lines[s])}
        share = on.of_copy(on.measured(laplacian["flat"], threads_per_block=list(s)))
        usual = s == gpu.BLOCK_3D
        clock = on.longest_clock(laplacian["flat"], "" if usual else "x".join(map(str, s)))
        rungs.append(viz.Rung(" × ".join(map(str, s)), share, asked, clock))
    note = viz.Note("Counted on 32³ points, timed on 512³.", on.found.origin)
    return viz.ladder_picture(rungs, bound_gb_s=on.copy().t_eff_gb_s, note=note)


viz.on_each(lambda found: shaped_ladder(Ladder(found)), gpus)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ordered = [s for s in taken if s != (32, 1, 1)]
assert all(lines[a] < lines[b] and m.median_s < k.median_s for a, b in zip(ordered, ordered[1:], strict=False) for m, k in zip(taken[a], taken[b], strict=True))
guess_block.reveal(
    taken[4, 8, 8][0].median_s / taken[32, 4, 2][0].median_s,
    note="in the first four rows, the more lines a warp touches, the longer",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the question. A row of threads that lies along x is *coalesced*: few lines, all their bytes used. Ask for the
# > worst shape first. 1 × 16 × 16 gives each lane a sector of its own, 8 of 32 bytes used, as a long stride in lecture 2. The last row has perfect
# > requests and is slow. Three things speak against it: only half the warps fit (32 blocks per multiprocessor), it starts eight times the blocks
# > for the same work, and its threads share fewer neighbours. Both GPUs start 1.66 of
# > these blocks per ns, though the H100's memory is slower: it is not memory that costs. We have not measured which of the three costs most.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Take the kernel apart
#
# What could a perfect tile win? Leave out all six neighbours: `out[c] = 6 * u[c]`.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ladder(flat=laplacian["flat"], no_neighbours=centre["flat"])

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
bare = rungs.measured(centre["flat"])
seventh = rungs.seen(laplacian["flat"])["global load sectors"] / rungs.seen(centre["flat"])["global load sectors"]
assert round(seventh) == 7 and bare.median_s < flat.median_s < 1.2 * bare.median_s
Markdown(
    f"A seventh of the sectors, and {1 - bare.median_s / flat.median_s:.0%} less time on the H200. A tile that made the neighbours **free** would be "
    f"only {flat.median_s / bare.median_s - 1:.0%} faster."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. This is the habit to take home: strip the kernel until its bound is left, then put things back one by one.
# > Half of the surprise is explained: there was little to win.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Why do six more loads cost so little?

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
asked, in_blocks, in_all = loads["flat"].bytes_requested, loads["flat"].block_unique_bytes, loads["flat"].unique_bytes
assert asked > 2 * in_blocks > 4 * in_all
from_memory, on_h100 = (on.seen(laplacian["flat"])["bytes read"] for on in (rungs, h100_rungs))
assert from_memory < 1.01 * in_all and abs(on_h100 / from_memory - 1) < 0.01
viz.memories_picture(
    [
        viz.Level("threads", ("seven loads", "per point")),
        viz.Level("L1", ("of each block", "gives what", "the threads ask for"), asked, f"{asked / 1e6:.1f} MB"),
        viz.Level("L2", ("gives each block", "its bytes once,", "if L1 is perfect"), in_blocks, f"{in_blocks / 1e6:.1f} MB"),
        viz.Level("memory", ("gives all of them", "once: counted by", "Nsight Compute"), from_memory, f"{from_memory / 1e6:.1f} MB"),
    ],
    note=f"Loads of 64³ points. Threads and blocks: counted by the interpreter. {rungs.counters.origin} An H100 reads as much, to a hundredth.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
once = {(gpu, name): on.moved(laplacian[name])[0] / (512**3 * 8) for gpu, on in (("H200", rungs), ("H100", h100_rungs)) for name in ("flat", "tiled")}
assert all(1 <= times < 1.01 for times in once.values())
Markdown("At 512³, too, **memory reads each number once, with a tile or without**: the caches still hold a neighbour's value when it is asked for.")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## By way of shared memory

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(LEVELS, "L1 and shared")

# %% [markdown] slideshow={"slide_type": "-"}
# Now put the tile's parts back, one by one. First the detour alone, still `6 u`:
#
# ```python
# tile = cuda.shared.array((2, 4, 32), u.dtype)   # one per block
# tile[z, y, x] = u[c]
# cuda.syncthreads()              # the barrier: all have written
# out[c] = 6 * tile[z, y, x]
# ```

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
staged = rungs.measured(centre["tiled"])
assert 1.04 < staged.median_s / bare.median_s < 1.07
Markdown(f"{staged.median_s / bare.median_s - 1:.0%} more time on an H200, for a store, a barrier and a load of shared memory.")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A tile needs its halo

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("tile_and_halo.svg"),
    "Left, a block's tile in a plane of the grid and the halo of one point around it; its corners, hatched, are read by nobody. "
    "Right, the tile in shared memory: threads of the first and last rows and columns also load the halo beside them.",
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_halo = viz.Estimate(
    "03-halo",
    "The threads now also copy the halo of their tile into shared memory, but still compute 6u. On an H200 that costs …",
    1,
    400,
    "% more time",
)
guess_halo

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where the tile's time goes

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
climb(
    no_neighbours=centre["flat"],
    through_a_tile=centre["tiled"],
    with_its_halo=centre["tiled_halo"],
    tiled=laplacian["tiled"],
    flat=laplacian["flat"],
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
halo = rungs.measured(centre["tiled_halo"])
assert gpu.BLOCK_TILED == (32, 4, 2)
taken_apart = [rungs.clocks(v) for v in (centre["flat"], centre["tiled"], centre["tiled_halo"], laplacian["tiled"])]
assert all(abs(c.seconds("memory") / rungs.copy().median_s - 1) < 0.05 for c in taken_apart)
assert all(sorted(c.seconds(k) for c in taken_apart) == [c.seconds(k) for c in taken_apart] for k in ("issue", "L1"))
assert halo.median_s - staged.median_s > (tiled.median_s - bare.median_s) / 2
guess_halo.reveal(
    100 * (halo.median_s / staged.median_s - 1),
    note=f"this tile of 32 × 4 × 2 points has a halo of {2 * (32 * 4 + 32 * 2 + 4 * 2)} for its {32 * 4 * 2}",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the question. Read the ladder from top to bottom: each part of the tile adds instructions, and the time that memory needs stays. The halo is more than
# > half of what the whole tile costs.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The halo's worst requests

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
per_request = {w: c.global_load.thread_accesses / c.global_load.requests for w, c in counted["tiled"].by_line.items() if c.global_load}
worst_access = counted["tiled"].access(min(per_request, key=per_request.get), block=9)
assert ((worst_access.offsets >= 0).sum(), worst_access.itemsize) == (1, 8)
viz.access_strip(worst_access)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
from_l2 = {on: on.l2_reads(laplacian["tiled"]) / on.l2_reads(laplacian["flat"]) for on in (rungs, h100_rungs)}
work = {v: rungs.seen(laplacian[v])["instructions"] for v in ("flat", "tiled")}
assert all(1 < ratio < 1.01 for ratio in from_l2.values()) and work["tiled"] > 2.5 * work["flat"]
Markdown(
    "One lane of 32 at work; and an instruction for the whole warp. Nsight Compute counts as many sectors read in L2 with the tile as without, to a hundredth: "
    f"the tile saves nothing that L1 does not save, and runs **{work['tiled'] / work['flat']:.1f} times the instructions**."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Be fair to shared memory: this is one tile, whose halo has more points than the tile. Larger tiles can have less halo: they get
# > their chance now. Asynchronous copies, which we have not tried, may hide the detour.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_sizes = viz.Prediction(
    "03-sizes",
    "Larger tiles can have less halo per point. We tried many sizes, in 3D and in 2D, each beside the plain kernel with the same block. "
    "Of the tiled kernels, faster on an H200 were …",
    ["none", "about a quarter", "about half", "most"],
)
guess_sizes


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Tiles of other sizes

# %% slideshow={"slide_type": "skip"}
def by_tile(on, pair):
    """Return the time with a tile over the time without, for each size of block."""
    found = suite_tiles.of(on.found.measurements, pair)
    return {tile: m.median_s / plain.median_s for tile, plain, m in found if "max_registers" not in m.parameters}


def halo_share(tile):
    """Return the points of a tile's halo for each of its own."""
    return sum(2 / edge for edge in tile)


swept = {
    what: [by_tile(on, pair) for on in (rungs, h100_rungs)]
    for what, pair in (("Laplacian, 512³", suite_tiles.BOX), ("heat step, 16384²", suite_tiles.PLATE))
}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def tried_tiles(found):
    """Draw the time with each tile over the time without, against the share of its halo, on one GPU."""
    which = [on.found for on in (rungs, h100_rungs)].index(found)
    dots = {what: [(halo_share(tile), ratio) for tile, ratio in both[which].items()] for what, both in swept.items()}
    axes = {"xlabel": "points of the halo for each of the tile's own", "ylabel": "time with the tile / without"}
    return viz.dots_picture(dots, **axes, line=1, named="as fast as without a tile", note=found.origin)


viz.on_each(tried_tiles, gpus)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
tried = [ratio for on_both in swept.values() for by in on_both for ratio in by.values()]
assert min(tried) > 1 and len(tried) == 2 * 23
assert min(map(halo_share, suite_tiles.TILES_3D)) < halo_share(gpu.BLOCK_TILED) / 2
guess_sizes.reveal(f"none of {len(tried) // 2}, and none on the H100", right="none")


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. This stencil uses each number seven times, close together in time, so a cache serves it. A tile that is used many
# > times more, as in products of matrices, is another matter: this lecture does not show it. First what can go wrong in a tile, then where one pays.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Forget one line
#
# Without its [barrier](glossary.md#barrier), this kernel may give the right answer many times. The interpreter needs no luck:
#
# ```python
# tile[t] = u[cuda.grid(1)]
# out[cuda.grid(1)] = tile[t] - tile[(t + 1) % 64]
# ```

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def forgetful(u, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = u[cuda.grid(1)]
    out[cuda.grid(1)] = tile[t] - tile[(t + 1) % 64]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
[missing] = simt.profile(forgetful[4, 64], np.arange(256.0), np.empty(256)).hazards
viz.race_picture(missing, barrier="syncthreads")

# %% slideshow={"slide_type": "skip"}
print(textwrap.fill(missing.message, 84))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Thirty-two banks
#
# Shared memory has 32 banks, 4 bytes wide. In one turn, a [wavefront](glossary.md#wavefront), each [bank](glossary.md#bank) serves one word. A warp writes a row of a 32 × 32 tile of doubles:

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
square = np.arange(64.0 * 96).reshape(64, 96)
turned = {
    pad: simt.profile(vector_gpu.transpose_tiled_kernel(pad)[(3, 2), vector_gpu.BLOCK_TRANSPOSE], square, np.empty((96, 64)))
    for pad in (0, 1)
}
row_write = next(w for w, c in turned[0].by_line.items() if c.shared_store)
column_read = next(w for w, c in turned[0].by_line.items() if c.shared_load)
shared = {pad: [a for a in c.accesses(column_read) if a.space == "shared"][0] for pad, c in turned.items()}
viz.access_strip(next(access for access in turned[0].accesses(row_write) if access.space == "shared"))

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_banks = viz.Prediction(
    "03-banks",
    "To write a row of the tile takes 2 wavefronts. Now the warp reads a column of it. That takes …",
    ["2 wavefronts", "8 wavefronts", "32 wavefronts", "64 wavefronts"],
)
guess_banks

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What one column of padding is worth

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.slider(lambda pad: viz.access_strip(shared[pad]), (0, 1), label="unused numbers at the end of each row", start=0)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
waves = {pad: p.shared_load.wavefronts / p.shared_load.requests for pad, p in turned.items()}
seen_waves = [by_name(rungs.counters.counters[f"vector_transpose_{idea}_64_float64"])["shared load wavefronts"] for idea in ("tiled", "padded")]
written, column = turned[0].shared_store, shared[0].offsets
assert len({byte % 128 for byte in column[:16]}) == len({byte % 128 for byte in column[16:]}) == 1
assert (written.wavefronts / written.requests, waves[0], waves[1]) == (2, 32, 2) and seen_waves[0] == 16 * seen_waves[1]
guess_banks.reveal(
    f"{waves[0]:.0f} wavefronts; and with one unused number in each row {waves[1]:.0f}. Nsight Compute agrees: 16 times fewer",
    right="32 wavefronts",
    how="Counted",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why 32 and not 16?** Where lanes of a warp need different words of one bank, they wait for each other: a [bank conflict](glossary.md#bank-conflict). A double lies in two banks, so a warp's 32 different doubles take two wavefronts at best: half a warp each. In
# the unpadded tile the 16 lanes of a half read elements 32 × 8 bytes apart: all on the same pair of banks, 16 wavefronts for each half.
# With one more column of [padding](glossary.md#padding) each row begins two banks further on.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rows in, columns out
#
# A transpose, one element per thread: `out[x, y] = a[y, x]`. A warp reads a row, and writes a column:

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
turned["naive"] = simt.profile(vector_gpu.transpose_naive_kernel[(3, 8), vector_gpu.BLOCK_TRANSPOSE], square, np.empty((96, 64)))
least_sectors = square.nbytes // 32
stores = {
    how: next(a for w in p.by_line for a in p.accesses(w) if (a.space, a.kind) == ("global", "store")) for how, p in turned.items()
}
viz.access_strip(stores["naive"])

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
all_sectors = {how: (p.global_load.sectors + p.global_store.sectors) / (2 * least_sectors) for how, p in turned.items()}
guess_transpose = viz.Estimate(
    "03-transpose",
    f"By way of a padded tile, a warp also writes a row: {all_sectors['naive'] / all_sectors[1]:.1f} times fewer sectors in all. On an H200 that is …",
    0.25,
    32,
    "times as fast",
)
guess_transpose


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Three transposes, timed

# %% slideshow={"slide_type": "skip"}
def turned_on(found, name, library=CUDA, **settings):
    """Return the recorded time of a transpose of 16384² doubles, or of their copy."""
    return found.one(STREAMS[name].by(library), shape=[16384, 16384], **settings)


def transposes(found):
    """Return the times of the three transposes on a device."""
    tiles = {padding: turned_on(found, "transpose_tiled", padding=padding) for padding in (0, 1)}
    return {"naive": turned_on(found, "transpose_naive")} | tiles


on_h100, on_h200 = map(transposes, bench.records("vector"))
straight = turned_on(bench.recorded("vector"), "copy", CUPY)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
NAMES = {"naive": "naive", 0: "by a tile", 1: "by a padded tile"}


def turned_ladder(found):
    """Draw the share of the copy that each transpose reaches, beside its stores and its bank conflicts."""
    copied, rungs = turned_on(found, "copy", CUPY), []
    for how, m in transposes(found).items():
        counters = {
            "store sectors": f"{turned[how].global_store.sectors / least_sectors:.2f}×",
            "lines per store": str(len({byte // 128 for byte in stores[how].offsets})),
            "wavefronts per column": "none" if how == "naive" else f"{waves[how]:.0f}",
        }
        case = f"vector_transpose_{'naive' if how == 'naive' else f'tiled_{how}'}_large"
        clock = longest_clock(found, case, copied)
        rungs.append(viz.Rung(NAMES[how], m.of_copy(copied), counters, clock))
    note = viz.Note("Counted on 64 × 96 doubles, timed on 16384².", found.origin)
    return viz.ladder_picture(rungs, bound_gb_s=copied.t_eff_gb_s, note=note)


viz.on_each(turned_ladder, bench.records("vector"))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
gain = {how: on_h200["naive"].median_s / on_h200[how].median_s for how in (0, 1)}
assert gain[1] > 4 and gain[1] > all_sectors["naive"] / all_sectors[1] > 2
assert [len({byte // 128 for byte in stores[how].offsets}) for how in ("naive", 1)] == [32, 2]
worst = [by[1, 16, 16].median_s / by[32, 4, 2].median_s for by in ({s: ms[k] for s, ms in taken.items()} for k in (0, 1))]
asked = {s: by_shape[s].global_load.sectors_per_request for s in shapes}
assert all(asked[1, 16, 16] / asked[32, 4, 2] < by < lines[1, 16, 16] / lines[32, 4, 2] for by in worst)
per_turn = [times["naive"].median_s / times[1].median_s for times in (on_h200, on_h100)]
assert all(all_sectors["naive"] / all_sectors[1] < by < (2 + 32) / (2 + 2) for by in per_turn)
guess_transpose.reveal(gain[1], note=f"without the padding {gain[0]:.1f} times")

# %% [markdown] slideshow={"slide_type": "-"}
# No number is read twice: this tile saves no read. It changes the **order**: each store writes whole sectors, in two lines instead of 32.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why more than the sectors say?** A store of the naive kernel touches 32 lines of 128 bytes, as a load of the worst block shape does. In
# both, time grows by more than the sectors and by less than the lines. That the caches work on whole lines as well would explain it; we have not
# measured it apart.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes for the transposes. Ask first what a cache could do for them: no number is read twice.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## When does a tile pay?
#
# A tile pays where it
#
# - turns **scattered accesses into rows**: the transpose,
# - lets **threads exchange values**, if each has work of its own before: the dot of lecture 4.
#
# It does not pay where a **cache already holds** what the threads share: the stencil.
#
# Ask what the cache has done already.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert rungs.of_copy(bare) < 0.95 and flat.median_s > 1.2 * rungs.copy().median_s
same_grid = [m for m in rungs.found.measurements if (m.parameters["shape"], m.parameters["dtype"]) == ([512] * 3, "float64")]
assert rungs.copy().median_s == min(m.median_s for m in same_grid)
assert flat.median_s < min(m.median_s for _, _, m in suite_tiles.of(rungs.found.measurements, suite_tiles.BOX))
Markdown(
    f"On the H200 the flat kernel takes {flat.median_s / rungs.copy().median_s:.2f} times the copy. No tile of ours comes nearer. What is left, and what would it take?\n\n"
    f"- Even without neighbours, a kernel with one point per thread reaches {rungs.of_copy(bare):.0%} of the copy: **more bytes in flight** (lecture 4).\n"
    "- Neighbours cost loads and instructions: **registers** keep values that *one* thread needs again (lecture 4).\n"
    "- Below the copy nothing goes, unless fewer bytes move: **fusion** (lecture 5)."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rows_of_summary = (
    ("Laplacian, 512³", "who keeps the neighbours", tiled.median_s / flat.median_s, swept["Laplacian, 512³"][1][32, 4, 2]),
    (f"heat step, best of {len(swept['heat step, 16384²'][0])} tiles", "who keeps the neighbours", *(min(by.values()) for by in swept["heat step, 16384²"])),
    ("transpose, 16384²", "the order of the stores", *(by[0].median_s / by["naive"].median_s for by in (on_h200, on_h100))),
    ("transpose, padded", "… and the banks", *(by[1].median_s / by["naive"].median_s for by in (on_h200, on_h100))),
)
bench.Table(
    [
        {"": what, "the tile changes": how, "speed, H100": f"{1 / h100_ratio:.2f}×", "speed, H200": f"{1 / h200_ratio:.2f}×"}
        for what, how, h200_ratio, h100_ratio in rows_of_summary
    ],
    "Speed with the tile over speed without. " + bench.origins(found.origin for found in (*gpus, *bench.records("vector"))),
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Ask what the cache has done already; a tile is for order and exchange.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 3**, `exercises/03_shared_memory`: a tile to repair, numbers to put in order, a slow kernel to find out about, and an open task.
# - **Next**: lecture 4 takes the flat kernel to the bound, with [registers](glossary.md#register).
# - G. Ruetsch, P. Micikevicius, *Optimizing matrix transpose in CUDA*, NVIDIA, 2009: tiles, banks, padding.
# - P. Micikevicius, *3D finite difference computation on GPUs using CUDA*, GPGPU-2, 2009: tiles for stencils.
# - NVIDIA, *CUDA C++ Programming Guide*: device memory accesses, shared memory.

# %% slideshow={"slide_type": "skip"}
viz.intuition("03")

# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of the stencils**, as Nsight Compute counted them, on both GPUs: of other blocks and tiles as well, and of lecture 4's kernels.

# %% slideshow={"slide_type": "skip"}
every_clock("stencil")


# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# Eight kernels, each with a few lines missing. Replace the `...` and run the cell. You see whether it is right, what it moved, and a picture of what **your**
# threads read and wrote, with hints if you want them. All of them run in the interpreter, with or without a GPU. What you solve is remembered.
#
# **Step 1. The shape of a block.** A block is a line of 64 threads here; you decide which thread takes which point. Each block doubles a piece of 8 rows and
# 8 columns. The numbers have 4 bytes.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def double_by_pieces(a, out):
    t = cuda.threadIdx.x
    dx = ...
    dy = ...
    x = 8 * cuda.blockIdx.x + dx
    y = 8 * cuda.blockIdx.y + dy
    if ...:
        out[y, x] = 2 * a[y, x]


practice.check("piece", double_by_pieces)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. A tile for the order.** `z` holds pairs of a real and an imaginary part, one after the other. They are wanted apart, in `re` and `im`. A block of 32
# threads takes 32 pairs, from `z[first]` on.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def take_apart(z, re, im):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    first = 64 * cuda.blockIdx.x
    for k in range(t, 64, 32):
        ...
    ...
    if i < re.size:
        re[i] = ...
        im[i] = ...


practice.check("parts", take_apart)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. A tile with its halo.** A block of 16 threads averages over three points, and needs 18. Beyond the ends of `a`, take 0. Which two threads load the
# halo, and what is still missing before the neighbours may be read?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def mean_of_three(a, out):
    tile = cuda.shared.array(18, np.float64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x + 1
    tile[t] = a[i] if i < a.size else 0.0
    ...
    if i < a.size:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3


practice.check("halo_line", mean_of_three)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Four edges.** The same for 8 × 8 points and their neighbours in four directions. One edge of the halo is there.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def mean_of_five(a, out):
    tile = cuda.shared.array((10, 10), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    i, j = cuda.grid(2)
    ny, nx = a.shape
    tile[y, x] = a[j, i] if i < nx and j < ny else 0.0
    if x == 1:
        tile[y, 0] = a[j, i - 1] if i > 0 and j < ny else 0.0
    ...
    cuda.syncthreads()
    if i < nx and j < ny:
        out[j, i] = (tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]) / 5


practice.check("halo_plane", mean_of_five)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. Again and again.** The 64 points of a block form a ring. In each round, every point becomes the mean of its two neighbours. The tile holds
# the points all the time.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def smooth_ring(a, times, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    for _ in range(times):
        ...
    out[cuda.grid(1)] = tile[t]


practice.check("rounds", smooth_ring)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Banks.** Blocks of 8 × 4 threads need a tile of 6 × 10 points. How long must a row of the tile be, so that no read has a bank conflict?
# Fill the tile in steps of the block, halo and all, and read your five points.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def mean_of_five_narrow(a, out):
    tile = cuda.shared.array((6, ...), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for r in range(y, 6, 4):
        for c in range(x, 10, 8):
            j = ...
            i = ...
            tile[r, c] = a[j, i] if 0 <= j < a.shape[0] and 0 <= i < a.shape[1] else 0.0
    cuda.syncthreads()
    s = ...
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        out[j, i] = s / 5


practice.check("narrow", mean_of_five_narrow)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. The transpose.** The tile is filled. Which row and column of `out` does each thread write, and which element of the tile belongs there?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((16, 17), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row = ...
    column = ...
    if ...:
        out[row, column] = ...


practice.check("turn", turn)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. Remove it.** This kernel has a tile with four edges and a barrier. Write it without them:
#
# ```python
# def difference_tiled(a, out):
#     tile = cuda.shared.array((10, 10), np.float64)
#     x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
#     i, j = cuda.grid(2)
#     ny, nx = a.shape
#     ...                          # fill the tile and its four edges, as in step 4
#     cuda.syncthreads()
#     if 0 < i < nx - 1 and 0 < j < ny - 1:
#         out[j, i] = tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x] - 4 * tile[y, x]
#     elif i < nx and j < ny:
#         out[j, i] = tile[y, x]   # the boundary stays as it is
# ```

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def difference(a, out):
    i, j = cuda.grid(2)
    ny, nx = a.shape
    ...


practice.check("no_tile", difference)

# %% [markdown] slideshow={"slide_type": "skip"}
# **What you have solved**, on this computer, today and before:

# %% slideshow={"slide_type": "skip"}
practice.progress("03_shared_memory")

# %% [markdown] slideshow={"slide_type": "skip"}
# **A halo of two points.** In step 6 it is one point wide. Let it be two: which padding is free of conflicts now, and how many bytes of shared memory does the
# tile take? A block of 32 × 1 needs no padding; what does it pay instead?

# %% slideshow={"slide_type": "skip"}
plane = HeatProblem.random((96, 96)).T
mean, registers = np.empty_like(plane), tiled.observed["registers"]


def tile(threads, halo, padding):
    kernel = gpu.cross_mean_tiled_kernel(threads, halo, padding)
    blocks = -(-96 // threads[0]), -(-96 // threads[1])
    p = simt.profile(kernel[blocks, threads], plane, mean)
    size = (threads[0] + 2 * halo + padding) * (threads[1] + 2 * halo) * 8
    fits = occupancy(h200, threads[0] * threads[1], registers_per_thread=registers, shared_bytes=size)
    facts = [
        ("sectors / needed", f"{p.global_load.sectors / (plane.nbytes / 32):.2f}"),
        ("bank conflicts", f"{p.shared_load.bank_conflicts + p.shared_store.bank_conflicts:,}"),
        ("shared memory", f"{size:,} B"),
        ("warps that fit, H200", f"{fits.share:.0%} ({fits.limited_by})"),
    ]
    return viz.tile_picture(threads, halo=halo, padding=padding, itemsize=8, facts=facts)


# %% slideshow={"slide_type": "skip"}
viz.explorer(tile, threads=[(8, 32), (32, 1)], halo=[1, 2], padding=[0, 12, 14])

# %% slideshow={"slide_type": "skip"}
narrow = simt.profile(gpu.cross_mean_tiled_kernel((8, 32), 1, 0)[(12, 3), (8, 32)], plane, mean)
of_tile = narrow.access(next(w for w, c in narrow.by_line.items() if c.shared_load))
assert len({byte // (10 * 8) for byte in of_tile.offsets[:16]}) == 2  # rows of 8 points and their halo

# %% [markdown] slideshow={"slide_type": "skip"}
# **The same idea on this CPU.** A core has no shared memory to fill, but its cache can be used as one: the compiled kernel walks along z
# in strips of rows that fit in a core's cache. The bound takes turns with what it bounds.

# %% slideshow={"slide_type": "skip"}
cube = HeatProblem.random((128, 128, 128)).T
result, expected = np.full_like(cube, np.nan), np.empty_like(cube)
reference.laplacian(cube, expected)
sums = np.empty(cube.size)
on_cpu = bench.compare(
    {"triad": streams.triad, "NumPy": reference.laplacian, "Numba, all cores": cpu_numba.laplacian},
    cube,
    result,
    arguments={"triad": (cube.reshape(-1), expected.reshape(-1), 3.0, sums)},
    cost={
        "triad": stream_cost.triad(cube.size),
        "NumPy": cost.laplacian_arrays(cube.shape),
        "Numba, all cores": cost.laplacian(cube.shape),
    },
    check=dict.fromkeys(
        ("NumPy", "Numba, all cores"), lambda: np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-11)
    ),
    samples=5,
)
bench.Comparison(on_cpu.measurements, on_cpu["triad"].t_eff_gb_s)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures two kernels on it, in a few seconds, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.stencil import here

two = [laplacian[name] for name in ("flat", "tiled")]
bench.live(
    lambda: here.on_this_gpu(*two), [Ladder(found).measured(v) for found in gpus for v in two], {v: v.title for v in two}
)
