# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Shared memory and registers
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Shared memory and registers
#
# What a kernel can keep on the chip, when that pays, and when the cache has done the work already.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, memories 3, the ladder's first rungs (indices, blocks)
# > 8, shared memory and its price 7, races and banks 4, transposes 3, registers and pairs 6, occupancy 3, sizes and what memory reads 4, sums, limit
# > and summary 3; the explorer, the scans and the other libraries if time is left.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **stage** a tile with its halo in shared memory, and find a missing barrier,
# - **see** a bank conflict, and remove it,
# - **hold** a queue of planes in registers,
# - **read** what the compiler reports, and turn it into occupancy,
# - **tell** where shared memory pays, and where it does not.
#
# It builds on lecture 2: T_eff, sectors, the bound.

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only: the package's rooms that this lecture uses.
import textwrap

import numpy as np
from IPython.display import Markdown

from course_pkg import bench, cuda, simt, viz
from course_pkg.core import Library, machine, occupancy
from course_pkg.device.launch import blocks_for
from course_pkg.paths import figure
from course_pkg.stencil import cost, cpu_numba, reference
from course_pkg.stencil import gpu_numba as gpu
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.tuning import planes_for
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams
from course_pkg.vector import gpu_numba as vector_gpu
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness import clocks, record

# %% slideshow={"slide_type": "skip"}
h200 = machine("h200")
recorded, recorded_vector = bench.recorded("stencil"), bench.recorded("vector")
counters, traffic = record.recorded(), record.recorded(record.TRAFFIC)

# %% slideshow={"slide_type": "skip"}
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
laplacian = {v.name: v for v in VARIANTS.of("laplacian")}
centre = {v.name: v for v in VARIANTS.of("centre")}  # out = 6 u: the rungs between them
DEFAULT = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None, "max_registers": None}


def on_h200(variant, library=CUDA, **parameters):
    """Return the recorded measurement of a variant, on 512³ points and in double precision unless said otherwise."""
    return recorded.one(variant.by(library), **{**DEFAULT, **parameters})


def seen(case, metric):
    """Return what Nsight Compute counted on the H200 in a case of 64³ points."""
    return counters.counters[f"{case}_64"][metric]


# %% slideshow={"slide_type": "skip"}
def from_memory(case, what="read"):
    """Return the bytes that Nsight Compute saw between the H200 and its memory, ``read`` or ``write``."""
    return traffic.counters[f"laplacian_{case}"][f"dram__bytes_{what}.sum"]


def copy_of(found):
    """Return the bandwidth of the copy of 512³ numbers, in GB/s, of a device's record."""
    return found.one(STREAMS["copy"].by(CUPY), **DEFAULT).t_eff_gb_s


copy_gb_s = copy_of(recorded)
INSTRUCTIONS, SECTORS = "smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

# %% slideshow={"slide_type": "skip"}
# The interpreter runs each kernel for all threads of a grid of 64³ points and counts what the hardware would count.
N = 64
u = HeatProblem.random((N, N, N)).T
n = np.uint32(N)
compulsory = u.nbytes // 32  # sectors


def count(kernel, block, *more, width=1, planes=None):
    """Profile a kernel on the flat grid; see that it wrote every point."""
    out = np.full(u.size, np.nan)
    grid = blocks_for(u.shape, block, planes=planes, width=width)
    profile = simt.profile(kernel[grid, block], u.reshape(-1), n, n, n, *more, out)
    assert not np.isnan(out).any()
    return profile


# %% slideshow={"slide_type": "skip"}
block, queue = gpu.BLOCK_TILED, gpu.BLOCK_MARCHING
some, few = np.uint32(gpu.PLANES_MARCHING), np.uint32(4)
counted = {
    laplacian["flat"]: count(gpu.laplacian_flat_kernel, block),
    centre["flat"]: count(gpu.centre_flat_kernel, block),
    centre["tiled"]: count(gpu.centre_tiled_kernel(block), block),
    centre["tiled_halo"]: count(gpu.centre_tiled_halo_kernel(block), block),
    laplacian["tiled"]: count(gpu.laplacian_tiled_kernel(block), block),
    laplacian["marching"]: count(gpu.laplacian_marching_kernel, queue, some, planes=some),
    laplacian["marching_tiled"]: count(gpu.laplacian_marching_tiled_kernel(queue), queue, some, planes=some),
    laplacian["vectorised"]: count(gpu.laplacian_vectorised_kernel, gpu.BLOCK_VECTORISED, few, planes=few, width=2),
    centre["pairs"]: count(gpu.centre_pairs_kernel, block, width=2),
}
counted[laplacian["naive"]] = simt.profile(
    gpu.laplacian_naive_kernel[blocks_for(u.shape, block), block], u, np.empty_like(u)
)


# %% slideshow={"slide_type": "skip"}
def kernel_name(variant):
    return variant.title if variant.operation == "laplacian" else f"{variant.operation} {variant.title}"


def clock_of(variant):
    """Return the clocks of a variant on 512³ points, or of a recorded case, on the H200."""
    case = variant if isinstance(variant, str) else f"{variant.function_name}_512"
    return clocks.clocks(traffic.counters[case], copy_gb_s)


def three_clocks(*variants):
    """Return a table: which share of its time a kernel's traffic and instructions take, each alone."""
    rows = [
        {"kernel": kernel_name(v), "time": bench.format_time(clock_of(v).time_s), **clock_of(v).row()} for v in variants
    ]
    return bench.Table(rows, f"Shares of the kernel's time, 512³. {traffic.origin}")


# %% slideshow={"slide_type": "skip"}
def rung(variant):
    """Return a row: counted on 64³ points, measured on an H200 on 512³."""
    m, p = on_h200(variant), counted[variant]
    return {
        "kernel": kernel_name(variant),
        "sectors": f"{p.global_load.sectors / compulsory:.2f}×",
        "wavefronts": f"{p.shared_load.wavefronts + p.shared_store.wavefronts:,}",
        "instructions": f"{seen(variant.function_name, INSTRUCTIONS) * 32 / N**3:.0f}",
        "time": bench.format_time(m.median_s),
        **clock_of(variant).row(),
    }


def rungs(*variants):
    """Return the table of some rungs."""
    return bench.Table(
        [rung(variant) for variant in variants],
        "64³ points: sectors as multiples of the least, wavefronts of shared memory, instructions for 32 points. "
        f"512³: time, and the share of it that each clock fills. {recorded.origin}",
    )


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fewer loads
#
# The 7-point Laplacian reads each point inside the grid seven times: once for itself, six times as a neighbour.
#
# In the *tiled* kernel the threads of a block load each point of their tile, and of its halo, **once**, into memory that
# they share, and read their neighbours there.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
fewer = counted[laplacian["flat"]].global_load.sectors / counted[laplacian["tiled"]].global_load.sectors
assert fewer > 2
Markdown(
    f"Counted on 64³ points: **{counted[laplacian['flat']].global_load.sectors:,}** sectors without the tile, "
    f"**{counted[laplacian['tiled']].global_load.sectors:,}** with it: {fewer:.1f} times fewer."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_tile = viz.Prediction(
    "02-tile",
    f"The tiled kernel asks for {fewer:.1f} times fewer sectors. On an H200 it is …",
    ["about as many times faster", "a little faster", "slower"],
)
guess_tile

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fewer loads, and slower

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
flat, tiled = on_h200(laplacian["flat"]), on_h200(laplacian["tiled"])
viz.on_each(
    lambda found: viz.bars(
        found.compare(*(laplacian[v].by(CUDA) for v in ("flat", "tiled")), t_peak_gb_s=copy_of(found), **DEFAULT),
        note=f"512³ points, fp64. {found.origin}",
    ),
    bench.records("stencil"),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_tile.reveal(
    f"{bench.format_time(flat.median_s)} without the tile, {bench.format_time(tiled.median_s)} with it: "
    f"{tiled.median_s / flat.median_s:.1f} times slower"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the question. The expected wrong answer is "faster". Do not explain yet: the ladder that follows takes
# > the kernel apart until the answer is in plain sight. T_peak here is the driver's copy of the same grid, in the same run.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The memories of an H200

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {"memory": "registers", "seen by": "one thread", "size": f"{h200.registers_per_sm * 4 // 1024} KiB an SM", "who fills it": "the compiler"},
        {"memory": "shared memory", "seen by": "the threads of a block", "size": f"up to {h200.shared_kib_per_sm} KiB an SM", "who fills it": "you"},
        {"memory": "L1 cache", "seen by": "the blocks of an SM", "size": "what shared memory leaves", "who fills it": "the hardware"},
        {"memory": "L2 cache", "seen by": "all threads", "size": f"{h200.l2_kib // 1024} MiB", "who fills it": "the hardware"},
        {"memory": "global memory", "seen by": "all threads", "size": f"{h200.memory_gb:.0f} GB", "who fills it": "you"},
    ],
    f"{h200.sms} multiprocessors (SM). Shared memory and L1 are one piece of silicon, divided at each launch.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Shared memory** is for values that several threads need. **Registers** are for values that one thread needs again.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The yardstick
#
# $$ \text{out} = 6\,u - \text{(six neighbours)} $$
#
# One read and one write a point: $A_\text{eff}$ is 16 bytes a point in double precision.
#
# Tables will also count *wavefronts*: the turns that shared memory takes to serve the warps.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
floor = on_h200(STREAMS["copy"], CUPY)
recorded_here = [m for m in recorded.measurements if m.parameters["shape"] == DEFAULT["shape"] and m.parameters["dtype"] == "float64"]
assert floor.median_s == min(m.median_s for m in recorded_here)
Markdown(
    f"On 512³ points the driver's copy of the grid takes **{bench.format_time(floor.median_s)}**, {copy_gb_s:,.0f} GB/s. "
    "It is our bound: of the kernels recorded with it none is faster. We climb towards it, one idea at a time."
)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Rung 1: how a point is found
#
# The same address, computed with 64-bit integers, `u[k, j, i]`, or with 32-bit integers (casts left out).

# %% [markdown] slideshow={"slide_type": "-"}
# ```python
# # naive
# i, j, k = cuda.grid(3)      # int64
# total = 6 * u[k, j, i]
# if i > 0:
#     total -= u[k, j, i - 1]
# ```

# %% [markdown] slideshow={"slide_type": "-"}
# ```python
# # flat
# c = (k * ny + j) * nx + i   # uint32
# total = 6 * u[c]
# if i > 0:
#     total -= u[c - 1]
# ```

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_index = viz.Prediction(
    "02-index",
    "Same bytes, same sectors, same flops. On an H200 the flat kernel is …",
    ["as fast", "10 % faster", "nearly twice as fast"],
)
guess_index

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Instructions are not free

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
naive = on_h200(laplacian["naive"])
warps = N**3 / 32
instructions = {v: seen(f"laplacian_{v}", INSTRUCTIONS) / warps for v in ("naive", "flat")}
bench.Table(
    [
        {
            "kernel": v,
            "load sectors, counted": f"{counted[laplacian[v]].global_load.sectors:,}",
            "load sectors, ncu": f"{seen(f'laplacian_{v}', SECTORS):,}",
            "instructions a warp, ncu": f"{instructions[v]:.0f}",
            "registers": m.observed["registers"],
            "time, 512³": bench.format_time(m.median_s),
            "of copy": f"{m.t_eff_gb_s / copy_gb_s:.0%}",
        }
        for v, m in (("naive", naive), ("flat", flat))
    ],
    counters.origin,
)

# %% [markdown] slideshow={"slide_type": "-"}
# (*ncu* is Nsight Compute, NVIDIA's profiler: it reads the counters of the hardware.)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert counted[laplacian["naive"]].global_load.sectors == counted[laplacian["flat"]].global_load.sectors
assert instructions["naive"] > 2 * instructions["flat"] and naive.median_s > 1.7 * flat.median_s
guess_index.reveal(
    f"{naive.median_s / flat.median_s:.2f} times faster: {instructions['naive']:.0f} instructions a warp became "
    f"{instructions['flat']:.0f}"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Where do they go?** `cuda.grid` gives 64-bit integers, and a GPU multiplies and adds 32 bits at a time, so an index
# operation becomes several. An array of three dimensions takes 64-bit products and sums for its offsets. And a signed index
# may be negative: where the compiler does not rule it out, Numba adds the extent, as Python does. Unsigned offsets need none of it.
# How many instructions each of the three costs, we have not counted apart.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Three clocks
#
# No kernel is faster than its bytes from **memory**, its traffic through the **caches** L1 and L2, or the **issue** of its instructions:
# one a cycle and scheduler.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
three_clocks(laplacian["naive"], laplacian["flat"], laplacian["vectorised"])

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
slow, quick, best_of_all = (clock_of(laplacian[v]) for v in ("naive", "flat", "vectorised"))
assert slow.binds == quick.binds == clocks.WAITING and best_of_all.binds == clocks.MEMORY
assert [max(c.shares, key=c.shares.get) for c in (slow, quick)] == [clocks.ISSUE, clocks.MEMORY]
Markdown("*Naive*: no clock fills its time; issue comes nearest. *Flat*: memory does. *Vectorised*: **memory binds**.")

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read the shares.** *Memory* is the bytes that moved, over the bandwidth of the copy and the kernel's time. *L2* and *L1*
# are the share of its greatest rate that the busiest stage of the unit reached. *Issue* is the share of cycles in which a scheduler issues an
# instruction. A clock that fills 85 % or more of the time is said to bind.
#
# What holds *flat* back on an H200, the clocks do not say. The link between the two halves of its L2, through which the far half answers, is active
# nearly all the time. But this counter is no rate: it counts the cycles in which something is under way, and in a copy these are many, too:

# %% slideshow={"slide_type": "skip"}
for name in ("vector_copy_two_large", "laplacian_flat_512"):
    there = traffic.counters[name]
    print(f"{name}: the link is active in {there[clocks.LINK]:.0f} % of the cycles; memory {clock_of(name).shares[clocks.MEMORY]:.0%}")
    assert there[clocks.LINK] > 90

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_block = viz.Prediction(
    "02-block",
    "256 threads a block, as 32×4×2 or as 4×8×8: on an H200 the second takes …",
    ["as long", "about twice as long", "eight times as long"],
)
guess_block

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 2: the shape of a block

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
shapes = [(32, 4, 2), (64, 4, 1), (16, 4, 4), (8, 8, 4), (4, 8, 8), (1, 16, 16)]
profiles = {s: count(gpu.laplacian_flat_kernel, s) for s in shapes}
line = next(w for w, c in profiles[shapes[0]].by_line.items() if c.global_load)
viz.slider(
    lambda s: viz.access_strip(profiles[s].access(line, block=0, warp=0)),
    shapes,
    label="threads of a block along x, y, z",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What the shape costs

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
shown = ((32, 4, 2), (8, 8, 4), (4, 8, 8), (1, 16, 16), (32, 1, 1))


def shape_profile(s):
    return profiles[s] if s in profiles else profiles.setdefault(s, count(gpu.laplacian_flat_kernel, s))


swept = [(s, on_h200(laplacian["flat"], threads_per_block=list(s))) for s in shown]
bench.Table(
    [
        {
            "block": " × ".join(map(str, s)),
            "sectors a request": f"{shape_profile(s).global_load.sectors_per_request:.1f}",
            "lines of 128 B": len({byte // 128 for byte in shape_profile(s).access(line).offsets}),
            "blocks": f"{512**3 // np.prod(s):,}",
            "time, 512³": bench.format_time(m.median_s),
            "of copy": f"{m.t_eff_gb_s / copy_gb_s:.0%}",
        }
        for s, m in swept
    ],
    recorded.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
by_shape, touched = dict(swept), {s: len({b // 128 for b in shape_profile(s).access(line).offsets}) for s in shown[:4]}
assert sorted(touched, key=touched.get) == sorted(touched, key=lambda s: by_shape[s].median_s) and len(set(touched.values())) == 4
guess_block.reveal(f"{by_shape[4, 8, 8].median_s / by_shape[32, 4, 2].median_s:.1f} times as long: in the first four rows, the more lines a warp touches, the longer")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Neighbouring x makes *coalesced* accesses, of few lines. Ask for the worst shape first. 1 × 16 × 16 gives each lane a sector of its own, 8 of 32 bytes used: as
# > the stride in lecture 2. The last row has perfect requests and is slow. Three things speak against it: only half the warps fit (32 blocks a
# > multiprocessor), it starts eight times the blocks for the same work, and its threads share fewer neighbours. Which of them costs most, we have
# > not measured.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_strip = viz.Prediction(
    "02-strip",
    "We leave out all six neighbours and load only the point itself. On an H200 the time falls by …",
    ["six sevenths", "a half", "a tenth"],
)
guess_strip

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 3: take the neighbours away
#
# Same threads, same offsets, `out[c] = 6 * u[c]`: what do the neighbours cost?

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(laplacian["flat"], centre["flat"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bare = on_h200(centre["flat"])
assert round(counted[laplacian["flat"]].global_load.sectors / counted[centre["flat"]].global_load.sectors) == 7
guess_strip.reveal(f"{1 - bare.median_s / flat.median_s:.0%} less time, for a seventh of the sectors")

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
Markdown(
    f"One point a thread without neighbours: **{bare.t_eff_gb_s / copy_gb_s:.0%} of the copy**. A tile that made the neighbours "
    f"free would win {flat.median_s / bare.median_s - 1:.0%}."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** This is the habit to take home: strip the kernel until only its bound is left, then put things back one by one. The
# > surprise of the first slide is half explained: there was little to win.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Why do six more loads cost so little?

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
p = counted[laplacian["flat"]]
bench.Table(
    [
        {"on 64³ points": "asked for by the threads", "bytes": f"{p.global_load.bytes_requested:,}", "from": "the interpreter"},
        {"on 64³ points": "if each block had a perfect L1", "bytes": f"{p.global_load.block_unique_bytes:,}", "from": "the interpreter"},
        {"on 64³ points": "with a perfect cache", "bytes": f"{p.global_load.unique_bytes:,}", "from": "the interpreter"},
        {"on 64³ points": "read from memory", "bytes": f"{seen('laplacian_flat', 'dram__bytes_read.sum'):,}", "from": "ncu, H200"},
    ],
    counters.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
once = {v: from_memory(f"{v}_512") / (512**3 * 8) for v in ("flat", "tiled")}
assert all(1 <= times < 1.01 for times in once.values())
Markdown(
    "A neighbour's value is usually still in L1 or L2. **Memory reads each number once, with a tile or without**: on 512³ points "
    f"{once['tiled']:.3f} times with it, {once['flat']:.3f} without."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_stage = viz.Prediction(
    "02-stage",
    "The same stream, but each number goes through shared memory, with a barrier: all threads of a block wait for each other. That costs …",
    ["next to nothing", "about 5 %", "half the speed"],
)
guess_stage

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 4: by way of shared memory
#
# ```python
# tile = cuda.shared.array((2, 4, 32), u.dtype)      # one for each block
# tile[z, y, x] = u[c]
# cuda.syncthreads()                                 # until all have written
# out[c] = 6 * tile[z, y, x]
# ```

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(centre["flat"], centre["tiled"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
staged = on_h200(centre["tiled"])
guess_stage.reveal(f"{staged.median_s / bare.median_s - 1:.0%} more time, for a load and a store of shared memory and a barrier")

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_halo = viz.Prediction(
    "02-halo",
    "We also copy the points around the tile, its halo, but still compute 6u. On an H200 that costs …",
    ["next to nothing", "about 10 %", "about 40 %"],
)
guess_halo

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A tile needs its halo

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("tile_and_halo.svg"),
    "Left, a block's tile in a plane of the grid and the halo of one point around it; its corners, hatched, are read by nobody. "
    "Right, the tile in shared memory: threads of the first and last rows and columns also load the halo beside them.",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 5: load the halo, and do not use it yet

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(centre["tiled"], centre["tiled_halo"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
halo = on_h200(centre["tiled_halo"])
guess_halo.reveal(
    f"{halo.median_s / staged.median_s - 1:.0%} more time: this tile of 32 × 4 × 2 points has a halo of "
    f"{2 * (32 * 4 + 32 * 2 + 4 * 2)} for its {32 * 4 * 2}"
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The halo's worst requests

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
worst = min(
    (w for w, c in counted[laplacian["tiled"]].by_line.items() if c.global_load),
    key=lambda w: counted[laplacian["tiled"]].by_line[w].global_load.thread_accesses / counted[laplacian["tiled"]].by_line[w].global_load.requests,
)
worst_access = counted[laplacian["tiled"]].access(worst, block=9)
assert ((worst_access.offsets >= 0).sum(), worst_access.itemsize) == (1, 8)
viz.access_strip(worst_access)

# %% [markdown] slideshow={"slide_type": "-"}
# One lane of 32 at work, 8 of 32 bytes used; and an instruction for the whole warp.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 6: put the neighbours back

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(laplacian["flat"], centre["tiled_halo"], laplacian["tiled"])

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
least = {v: counted[laplacian[v]].global_load.block_unique_bytes / u.nbytes for v in ("flat", "tiled")}
work = {v: seen(f"laplacian_{v}", INSTRUCTIONS) for v in ("flat", "tiled")}
Markdown(
    f"With a perfect L1, a block would fetch **{least['flat']:.2f}** bytes per byte needed; with a tile it fetches **{least['tiled']:.2f}**. The tile "
    f"adds the halo and a barrier: **{work['tiled'] / work['flat']:.1f} times the instructions**. For this stencil, with this "
    "tile, on this GPU, shared memory does not help."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Be fair to shared memory: this is one tile, whose halo has more points than the tile, and larger tiles have less halo; on
# > the next slide they get their chance. Asynchronous copies, which we have not tried, may hide the detour. But all of it competes for what is
# > left above the flat kernel. First what can go wrong in a tile, then where one pays.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Tiles of other sizes
#
# A larger tile has less *halo* for each of its points. Beside the plain kernel *with the same block*:

# %% slideshow={"slide_type": "skip"}
from course_pkg.stencil import suite_tiles

swept_tiles = {
    what: [pair for pair in suite_tiles.of(recorded.measurements, pair) if "max_registers" not in pair[1].parameters]
    for what, pair in (("Laplacian, 512³", suite_tiles.BOX), ("heat step, 16384²", suite_tiles.PLATE))
}


def halo_share(tile):
    """Return the points of a tile's halo for each of its own."""
    return sum(2 * np.prod(tile) / edge for edge in tile) / np.prod(tile)


def tile_row(what, tile, plain, tiled):
    times = {"plain": bench.format_time(plain.median_s), "tiled": bench.format_time(tiled.median_s)}
    return {"grid": what, "tile": " × ".join(map(str, tile)), "halo": f"{halo_share(tile):.2f}", **times, "tiled / plain": f"{tiled.median_s / plain.median_s:.2f}"}


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
by_gain = {what: sorted(found, key=lambda three: three[2].median_s / three[1].median_s) for what, found in swept_tiles.items()}
bench.Table(
    [tile_row(what, *chosen) for what, found in by_gain.items() for chosen in (found[0], found[-1])],
    f"Of each grid, the tile that does best and the one that does worst. {recorded.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
tried, pays = (sum(map(f, swept_tiles.values())) for f in (len, lambda found: sum(tiled.median_s < plain.median_s for _, plain, tiled in found)))
assert pays == 0
Markdown(f"Of {tried} tiles, **none** beats the plain kernel with the same block.")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Forget one line
#
# It may give the right answer many times. The interpreter needs no luck:

# %% slideshow={"slide_type": "-"}
@cuda.jit
def forgetful(u, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = u[cuda.grid(1)]
    out[cuda.grid(1)] = tile[t] - tile[(t + 1) % 64]


racy = simt.profile(forgetful[4, 64], np.arange(256.0), np.empty(256))
print(textwrap.fill(racy.hazards[0].message, 84))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Thirty-two banks
#
# Shared memory has 32 banks, 4 bytes wide. In one turn, a *wavefront*, each bank serves one word. A 32 × 32 tile of doubles by columns:

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
square = np.arange(64.0 * 96).reshape(64, 96)
turned = {
    pad: simt.profile(vector_gpu.transpose_tiled_kernel(pad)[(3, 2), vector_gpu.BLOCK_TRANSPOSE], square, np.empty((96, 64)))
    for pad in (0, 1)
}
column_read = next(w for w, c in turned[0].by_line.items() if c.shared_load)
viz.slider(
    lambda pad: viz.access_strip(turned[pad].access(column_read)),
    (0, 1),
    label="columns of padding",
    start=0,
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_banks = viz.Prediction(
    "02-banks",
    "One unused column at the end of each row of the tile. The column read needs …",
    ["as many wavefronts", "half as many", "16 times fewer"],
)
guess_banks

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What one column is worth

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
passes = {pad: p.shared_load.wavefronts / p.shared_load.requests for pad, p in turned.items()}
assert (passes[0], passes[1]) == (32, 2)
witness = {pad: counters.counters[f"vector_transpose_{idea}_64_float64"] for pad, idea in enumerate(("tiled", "padded"))}
bench.Table(
    [
        {
            "tile": f"32 × {32 + pad} doubles",
            "requests": turned[pad].shared_load.requests,
            "wavefronts a request": f"{passes[pad]:.0f}",
            "wavefronts, ncu": f"{witness[pad]['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum']:,}",
            "counted": f"{turned[pad].shared_load.wavefronts:,}",
            "bytes a block": f"{32 * (32 + pad) * 8:,}",
        }
        for pad in (0, 1)
    ],
    counters.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_banks.reveal(
    f"{passes[0]:.0f} wavefronts a request became {passes[1]:.0f}: {passes[0] / passes[1]:.0f} times fewer", how="Counted"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why 32 and not 16?** A double lies in two banks, so a warp's 32 different doubles take two wavefronts at best: half a warp each. In
# the unpadded tile the 16 lanes of a half read elements 32 × 8 bytes apart: all on the same pair of banks, 16 wavefronts for each half.
# With one more column each row begins two banks further on.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rows in, columns out
#
# A transpose, an element a thread: `out[x, y] = a[y, x]`. A warp reads a row, and writes a column:

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
turned["naive"] = simt.profile(vector_gpu.transpose_naive_kernel[(3, 8), vector_gpu.BLOCK_TRANSPOSE], square, np.empty((96, 64)))
least_sectors = square.nbytes // 32
stores = {
    how: next(a for w in p.by_line for a in p.accesses(w) if (a.space, a.kind) == ("global", "store")) for how, p in turned.items()
}
viz.access_strip(stores["naive"])

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
all_sectors = {how: (p.global_load.sectors + p.global_store.sectors) / (2 * least_sectors) for how, p in turned.items()}
guess_transpose = viz.Prediction(
    "02-transpose",
    f"By way of a tile, a warp also writes a row. In all there are {all_sectors['naive'] / all_sectors[1]:.1f} times fewer sectors. It is …",
    ["slower, as the stencil was", "twice as fast", "more than four times as fast"],
)
guess_transpose

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A tile that pays

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def turned_on_h200(name, library=CUDA, **settings):
    return recorded_vector.one(STREAMS[name].by(library), shape=[16384, 16384], **settings)


turns = {"naive": turned_on_h200("transpose_naive")}
turns |= {padding: turned_on_h200("transpose_tiled", padding=padding) for padding in (0, 1)}
straight = turned_on_h200("copy", CUPY)
bench.Table(
    [
        {
            "transpose": {"naive": "naive", 0: "tile", 1: "tile, padded"}[how],
            "store sectors": f"{turned[how].global_store.sectors / least_sectors:.2f}×",
            "lines a store": len({byte // 128 for byte in stores[how].offsets}),
            "wavefronts a column": "" if how == "naive" else f"{passes[how]:.0f}",
            "time, 16384²": bench.format_time(m.median_s),
            "of copy": f"{m.t_eff_gb_s / straight.t_eff_gb_s:.0%}",
        }
        for how, m in turns.items()
    ],
    f"Counted on 64 × 96 doubles. The driver's copy takes {bench.format_time(straight.median_s)}. {recorded_vector.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert all_sectors["naive"] > 2 * all_sectors[1] and turns["naive"].median_s > 4 * turns[1].median_s
assert turns["naive"].median_s / turns[1].median_s > all_sectors["naive"] / all_sectors[1]
assert [len({byte // 128 for byte in stores[how].offsets}) for how in ("naive", 1)] == [32, 2]
guess_transpose.reveal(
    f"{turns['naive'].median_s / turns[1].median_s:.1f} times as fast; without the padding {turns['naive'].median_s / turns[0].median_s:.1f}"
)


# %% [markdown] slideshow={"slide_type": "-"}
# No number is read twice here: a tile saves no read. It changes the **order**: each store writes whole sectors, in two lines
# instead of 32. What is left depends on the banks.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why more than the sectors say?** A store of the naive kernel touches 32 lines of 128 bytes, as a load of the worst block in rung 2 does. In
# both, time grows by more than the sectors and by less than the lines. That the caches work on whole lines as well would explain it; we have not
# measured it apart.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## When does a tile pay?

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def change(before, after):
    return f"{before} → {after}".replace(" ", "\u00a0")


stencil_sectors = {v: (counted[laplacian[v]].global_load.sectors + counted[laplacian[v]].global_store.sectors) / (2 * compulsory) for v in ("flat", "tiled")}
bench.Table(
    [
        {
            "": name,
            "the tile changes": what,
            "sectors": change(f"{before:.2f}×", f"{after:.2f}×"),
            "time": change(bench.format_time(without.median_s), bench.format_time(m.median_s)),
            "speed": f"{without.median_s / m.median_s:.2f}×",
        }
        for name, what, before, after, without, m in (
            ("stencil", "who keeps neighbours", *stencil_sectors.values(), flat, tiled),
            ("transpose", "the order of stores", all_sectors["naive"], all_sectors[1], turns["naive"], turns[1]),
        )
    ],
    f"Sectors of loads and stores, as multiples of the least. Stencil on 512³ doubles: {recorded.origin} "
    f"Transpose of 16384²: {recorded_vector.origin}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Here a tile pays where it turns **scattered accesses into rows** (the transpose); it lets **threads exchange values** (the sums, below). It
# does not pay where a **cache already holds** the neighbours (the stencil).

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes for the transposes. Ask first what a cache could do for them: no number is read twice. A tile that is used
# > very often, as in products of matrices, is another matter; this lecture does not show it.

# %% slideshow={"slide_type": "skip"}
plane = HeatProblem.random((96, 96)).T
mean, registers = np.empty_like(plane), on_h200(laplacian["tiled"]).observed["registers"]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Explore a tile

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def tile(threads, halo, padding):
    kernel = gpu.cross_mean_tiled_kernel(threads, halo, padding)
    blocks = -(-96 // threads[0]), -(-96 // threads[1])
    p = simt.profile(kernel[blocks, threads], plane, mean)
    size = (threads[0] + 2 * halo + padding) * (threads[1] + 2 * halo) * 8
    fits = occupancy(h200, threads[0] * threads[1], registers_per_thread=registers, shared_bytes=size)
    return viz.tile_picture(
        threads,
        halo=halo,
        padding=padding,
        itemsize=8,
        facts=[
            ("sectors / needed", f"{p.global_load.sectors / (plane.nbytes / 32):.2f}"),
            ("bank conflicts", f"{p.shared_load.bank_conflicts + p.shared_store.bank_conflicts:,}"),
            ("shared memory", f"{size:,} B"),
            ("warps that fit, H200", f"{fits.share:.0%} ({fits.limited_by})"),
        ],
    )


viz.explorer(tile, threads=[(8, 32), (32, 1)], halo=[1, 2], padding=[0, 12, 14])

# %% [markdown] slideshow={"slide_type": "-"}
# With 8 threads along x, 16 lanes read two tile rows. For each halo, choose the padding that puts them in different banks. 32 × 1 has no
# conflict; what does it pay instead?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 7: let threads march

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("register_queue.svg"),
    "Left, a thread's column at step k: its points in planes k − 1, k and k + 1, and hollow that in k + 2, which is on its way; four "
    "neighbours in plane k come from the cache. Right, its registers in three steps: ahead becomes above, above centre, centre below.",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A queue in registers

# %% [markdown] slideshow={"slide_type": "-"}
# ```python
# below, centre, above = u[c - plane], u[c], u[c + plane]
# for k in range(first, last):
#     ahead = u[c + 2 * plane]            # on its way while we compute
#     west, east = u[c - 1], u[c + 1]     # their neighbours have just loaded them
#     north, south = u[c - nx], u[c + nx]
#     out[c] = 6 * centre - below - above - west - east - north - south
#     below, centre, above = centre, above, ahead
#     c += plane
# ```
#
# (Boundaries and casts left out: `course_pkg/stencil/gpu_numba/marching.py`.)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
loads_a_point = {v: counted[laplacian[v]].global_load.requests * 32 / N**3 for v in ("flat", "marching", "marching_tiled")}
assert round(loads_a_point["flat"]) == 7 and round(loads_a_point["marching"]) == 5 and 1 < loads_a_point["marching_tiled"] < 2
guess_march = viz.Prediction(
    "02-march",
    "Loads per point: flat 7, queue 5, queue and tile barely 2. Which is fastest?",
    ["flat", "queue", "queue and tile"],
)
guess_march

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Registers and shared memory

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(laplacian["flat"], laplacian["tiled"], laplacian["marching"], laplacian["marching_tiled"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
marched, both = on_h200(laplacian["marching"]), on_h200(laplacian["marching_tiled"])
guess_march.reveal(
    f"the queue alone, {marched.t_eff_gb_s / copy_gb_s:.0%} of the copy; with a tile as well {both.t_eff_gb_s / copy_gb_s:.0%}"
)


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. The queue changes three things at once: fewer reads of L2, fewer instructions, and the load of the next
# > plane under way while this one is computed. What each is worth, we have not measured apart. With the tile there are more instructions again
# > and two barriers a plane, and no plane is ahead.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Bytes on their way
#
# How busy memory is depends on how much has been asked for. Little's law: bytes on their way = bandwidth × latency.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def on_their_way(found):
    """Return for each kind of access the bytes that have been asked for, beside what was measured."""
    series = {}
    for dtype, size in (("float32", 4), ("float64", 8)):
        for variant, width in (("strided", 1), ("strided_pairs", 2)):
            ms = found.all(centre[variant].by(CUDA), shape=[512, 512, 512], dtype=dtype)
            series[f"{size * width} B a thread: {dtype}{' pairs' if width == 2 else ''}"] = [
                (m.parameters["blocks_per_sm"] * m.parameters["threads_per_block"] * size * width, m) for m in ms
            ]
    return series


in_flight = on_their_way(recorded)
viz.on_each(
    lambda found: viz.t_eff_against(
        on_their_way(found),
        xlabel="bytes on their way in each multiprocessor",
        ticks=[256, 1024, 4096, 16384],
        t_peak_gb_s=copy_of(found),
        note=f"out = 6 u by few threads that stride through the grid. {found.origin}",
    ),
    bench.records("stencil"),
)

# %% slideshow={"slide_type": "skip"}
flying, m = in_flight["8 B a thread: float64"][2]
Markdown(
    f"{flying:,} bytes in each of {h200.sms} multiprocessors, read at {m.t_eff_gb_s / 2:,.0f} GB/s: each waits "
    f"**{h200.sms * flying / (m.t_eff_gb_s / 2):,.0f} ns**."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes: the slide that explains why a copy needs many threads, or few with much each. A thread has one load on its way: the next may not overtake the store
# > between. Two kernels in two precisions lie on about one curve. What counts is not the number of threads but the bytes in flight: at 4 KiB a
# > multiprocessor, half the threads with twice the bytes each come within a tenth.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Rung 8: two points per thread, one access
#
# `load_pair(u, c)` loads two numbers at once: of doubles, 128 bits, the most that one access of a thread takes on an H200. CUDA C++ writes
# `double2`. (128 bits also hold four floats; our pairs of floats take 64. This kernel also marches 4 planes in place of 16, in blocks twice as
# large, with at most 32 registers, and loads nothing ahead.)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
pairs = counted[laplacian["vectorised"]]
viz.access_strip(next(a for where in pairs.by_line for a in pairs.accesses(where) if a.itemsize == 16))

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_pairs = viz.Prediction(
    "02-pairs",
    "Two doubles a thread, 128 bits an access, the same bytes. On an H200, over the queue alone, this gains …",
    ["nothing", "a few per cent", "a factor of two"],
)
guess_pairs

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The top of the ladder

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(laplacian["naive"], laplacian["flat"], laplacian["marching"], laplacian["vectorised"], centre["pairs"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
best = on_h200(laplacian["vectorised"])
single = {"dtype": "float32"}
gain_32 = on_h200(laplacian["marching"], **single).median_s / on_h200(laplacian["vectorised"], **single).median_s
guess_pairs.reveal(
    f"{marched.median_s / best.median_s - 1:.0%} in double precision; {gain_32 - 1:.0%} in single, where a thread's 4 bytes "
    "leave more room"
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What the compiler reports
#
# When a kernel is compiled, its compiler says three things (Numba: `kernel.get_regs_per_thread()` and its like):
#
# - **registers** of a thread, 32 bits each: a multiprocessor has 65,536 for all its threads;
# - **shared memory** of a block, in bytes;
# - **local memory** of a thread: what found no register. It lies in global memory, behind the caches.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## From registers to occupancy
#
# **Occupancy** = resident warps / 64, the most that a multiprocessor of an H200 holds. Blocks of 256 threads, 40 registers each:

# %% slideshow={"slide_type": "-"}
of_a_block = 256 * 40  # registers
blocks = 65_536 // of_a_block
warps = blocks * 256 // 32
print(f"{blocks} blocks, {warps} warps: {warps / 64:.0%}")
fits = occupancy(h200, 256, registers_per_thread=40)
assert warps == fits.warps_per_sm

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Registers are not free

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
variants = ("naive", "flat", "tiled", "marching", "marching_tiled", "vectorised")
launched = {"marching": gpu.BLOCK_MARCHING, "marching_tiled": gpu.BLOCK_MARCHING, "vectorised": gpu.BLOCK_VECTORISED}
table = []
for variant in variants:
    m = on_h200(laplacian[variant])
    threads = int(np.prod(launched.get(variant, gpu.BLOCK_3D)))
    fits = occupancy(h200, threads, registers_per_thread=m.observed["registers"], shared_bytes=m.observed["shared_bytes"])
    table.append(
        {
            "kernel": laplacian[variant].title,
            "registers": m.observed["registers"],
            "shared, B": f"{m.observed['shared_bytes']:,}",
            "threads a block": threads,
            "blocks an SM": fits.blocks_per_sm,
            "occupancy": f"{fits.share:.0%}",
            "limited by": fits.limited_by,
            "of copy": f"{m.t_eff_gb_s / copy_gb_s:.0%}",
        }
    )
bench.Table(table, f"Registers and shared memory as the compiler reports them. {recorded.origin}")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert all(row["occupancy"] == "100%" for row in table)
Markdown(
    "In all of these, 64 warps *fit*, and their times differ by a "
    f"factor of {naive.median_s / on_h200(laplacian['vectorised']).median_s:.1f}."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_spill = viz.Prediction(
    "02-spill",
    "The vectorised kernel is compiled for at most 24 registers a thread. It becomes …",
    ["faster: more threads fit", "hardly different", "more than twice as slow"],
)
guess_spill

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Too few registers spill

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
limited = [
    (variant, on_h200(laplacian[variant], max_registers=most))
    for variant in ("vectorised", "marching")
    for most in ("free", 32, 24)
]
bench.Table(
    [
        {
            "kernel": variant,
            "limit": m.parameters["max_registers"],
            "registers": m.observed["registers"],
            "local memory a thread": f"{m.observed['local_bytes']} B",
            "occupancy": f"{occupancy(h200, int(np.prod(launched[variant])), registers_per_thread=m.observed['registers']).share:.0%}",
            "time, 512³": bench.format_time(m.median_s),
            "of copy": f"{m.t_eff_gb_s / copy_gb_s:.0%}",
        }
        for variant, m in limited
    ],
    recorded.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
(_, fitting), (_, spilt) = limited[1:3]
guess_spill.reveal(
    f"{spilt.median_s / fitting.median_s:.1f} times slower: {spilt.observed['local_bytes']} bytes a thread spilled to "
    "local memory, which is global memory behind the caches"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Between the two.** Left to itself the compiler takes more registers than 32 for *vectorised*, and fewer warps fit. Asked for 32, it finds
# them, and all 64 warps live: `@cuda.jit(max_registers=32)`. On the H200 that is a little faster, on an H100 a little slower: occupancy is not
# the aim. Asked for 24, it puts values aside in local memory and fetches them back.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Threads that talk
#
# A sum needs one number from many threads: a tree in shared memory, a barrier for each level.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.source(vector_gpu.block_sum)

# %% slideshow={"slide_type": "skip"}
numbers = np.random.default_rng(0).random(2**16)
sums = {}
for variant in (*STREAMS.of("reduce_sum", CUDA), STREAMS["dot"]):
    kernel, blocks = variant.kernel_objects()[0], 256 if variant.name in ("tree", "shuffle") else 32
    partial, terms = np.zeros(blocks), (numbers, np.ones_like(numbers)) if variant.operation == "dot" else (numbers,)
    sums[variant] = simt.profile(kernel[blocks, 256], *terms, partial)
    np.testing.assert_allclose(partial.sum(), numbers.sum())

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The stride wins
#
# *Shuffle*: from register to register, in a warp. *Grid stride*: each thread first adds up a share. So does the *dot*.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "sum by": variant.title if variant.name else "dot: a share, then the tree",
            "sectors / needed": f"{p.global_load.sectors / (variant.cost(numbers.size).bytes_read / 32):.2f}",
            "barriers": f"{p.barriers:,}",
            "shared requests": f"{p.shared_load.requests + p.shared_store.requests:,}",
            "2^28, H200": bench.format_time(m.median_s),
            "GB/s": f"{m.throughput_gb_s:,.0f}",
        }
        for variant, p in sums.items()
        for m in [recorded_vector.one(variant.by(CUDA), n=2**28)]
    ],
    f"Counted on 2^16 numbers (dot: on two vectors of them). {recorded_vector.origin}",
)

# %% slideshow={"slide_type": "skip"}
rates = {v.name or v.operation: recorded_vector.one(v.by(CUDA), n=2**28).throughput_gb_s for v in sums}
assert rates["dot"] > rates["grid_stride"] > 2 * rates["shuffle"] and rates["shuffle"] < 1.25 * rates["tree"]
Markdown(
    f"The **stride** wins, {rates['grid_stride'] / rates['shuffle']:.1f} times the shuffles alone. The dot, with a tree after its stride, is no slower."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why is the tree alone so slow?** It is launched with a thread for each number, so that a block of 256 threads and all its barriers serve
# 2 KiB. The grid stride has few blocks that live long, and each thread adds up its share in a register first.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_scan = viz.Prediction(
    "02-scan",
    "Cumulative sums, a thread each: down the columns (8 sectors a request) or along the rows (32). Which is faster?",
    ["columns, four times", "about alike", "rows"],
)
guess_scan

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A loop that depends on itself

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
square = np.random.default_rng(0).random((256, 256))
scans, scan_times = {}, {}
for name, kernel, launch in (
    ("down columns, a thread each", vector_gpu.cumsum_columns_kernel, (1, 256)),
    ("along rows, a thread each", vector_gpu.cumsum_rows_serial_kernel, (1, 256)),
    ("along rows, a warp each", vector_gpu.cumsum_rows_chunked_kernel, (32, 256)),
):
    scans[name] = simt.profile(kernel[launch], square, np.empty_like(square))
for name, measured in zip(scans, ("cumsum_columns", "cumsum_rows_serial", "cumsum_rows_chunked"), strict=True):
    scan_times[name] = recorded_vector.one(STREAMS[measured].by(CUDA)).median_s
bench.Table(
    [
        {
            "cumulative sum": name,
            "sectors a request": f"{p.global_load.sectors_per_request:.0f}",
            "threads": f"{16384 * (32 if 'warp' in name else 1):,}",
            "time, 16384², H200": bench.format_time(scan_times[name]),
        }
        for name, p in scans.items()
    ],
    recorded_vector.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
columns, rows, chunks = scan_times.values()
assert [round(p.global_load.sectors_per_request) for p in scans.values()] == [8, 32, 8] and columns > rows > 3 * chunks
guess_scan.reveal(f"the rows, by {columns / rows - 1:.0%}; and 32 numbers at a time, by shuffles, {rows / chunks:.1f} times faster")

# %% [markdown] slideshow={"slide_type": "-"}
# Few threads, each with one load on its way: they wait for an answer, not for bandwidth. Along a row, three numbers of four come
# with a sector that was fetched before.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The strided disaster, averted.** Along the rows, a thread uses 8 of the 32 bytes that it fetches, as in lecture 2; but it comes back for
# the next 8 at once. If the sector still lies in the L1 cache then, the rows wait for L2 or memory once in four steps. That the rows win fits that;
# the hits of L1 we have not counted. The chunked kernel has 32 times the threads, perfect requests, and a chain of six shuffles and six additions in
# place of 32 additions.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## From 32³ to 1024³

# %% slideshow={"slide_type": "skip"}
SWEPT = {
    "copy": STREAMS["copy"].by(CUPY),
    **{name: laplacian[name].by(CUDA) for name in ("naive", "flat", "marching", "vectorised")},
    "vectorised, CUDA C++": laplacian["vectorised"].by(CUPY),
}


def over_sizes(found):
    """Return the points of each curve."""
    fixed = {"dtype": "float64", "threads_per_block": None, "max_registers": None}
    return {
        label: sorted(((m.parameters["shape"][0], m) for m in found.all(what, **fixed)), key=lambda point: point[0])
        for label, what in SWEPT.items()
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(
    lambda found: viz.t_eff_against(
        over_sizes(found),
        xlabel="n, points along an edge",
        ticks=[32, 64, 128, 256, 512, 1024],
        t_peak_gb_s=copy_of(found),
        bound="copy of 512³",
        region=("both grids in L2", 30, (found.device.llc_bytes / 16) ** (1 / 3)),
        note=found.origin,
    ),
    bench.records("stencil"),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
cube = {"shape": [1024, 1024, 1024]}
large_copy = on_h200(STREAMS["copy"], CUPY, **cube).t_eff_gb_s
share = {v: on_h200(laplacian[v], **cube).t_eff_gb_s / large_copy for v in ("flat", "vectorised")}
assert on_h200(STREAMS["copy"], CUPY, shape=[128] * 3).t_eff_gb_s > 1.1 * copy_gb_s and large_copy > copy_gb_s
Markdown(
    "Left: too little work to fill the GPU; at 128³ both grids fit in L2, and the copy outruns memory. Right: at 1024³ the copy is as "
    f"fast as at 512³, *flat* falls to {share['flat']:.0%} of it, *vectorised* to {share['vectorised']:.0%}. What happened?"
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_memory = viz.Prediction(
    "02-memory",
    "On 512³ points memory reads each number once, with a tile and without. On 1024³ the flat kernel reads each number …",
    ["once", "1.1 times: at the edges of blocks", "about twice"],
)
guess_memory

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What memory reads

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
large = np.broadcast_to(np.float64(0), (1024, 1024, 1024))
depth = {"flat": gpu.BLOCK_3D[2], "tiled": gpu.BLOCK_TILED[2], "marching": gpu.PLANES_MARCHING, "vectorised": planes_for(large)}
read = {(v, edge): from_memory(f"{v}_{edge}") / (edge**3 * 8) for v in depth for edge in (512, 1024)}
moved_gb_s = {
    v: (from_memory(f"{v}_1024") + from_memory(f"{v}_1024", "write")) / traffic.counters[f"laplacian_{v}_1024"]["gpu__time_duration.sum"]
    for v in depth
}
bench.Table(
    [
        {
            "kernel": v,
            "read, 512³": f"{read[v, 512]:.3f}×",
            "read, 1024³": f"{read[v, 1024]:.3f}×",
            "planes a block reads": f"{planes + 2} for {planes}",
            "by planes alone": f"{(planes + 2) / planes:.3f}×",
            "memory moves": f"{moved_gb_s[v]:,.0f} GB/s",
            "of copy": f"{moved_gb_s[v] / large_copy:.0%}",
        }
        for v, planes in depth.items()
    ],
    f"Reads as multiples of the grid; what memory moves, read and written, beside the copy of 1024³. {traffic.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_memory.reveal(
    f"{read['flat', 1024]:.2f} times, at {moved_gb_s['flat'] / large_copy:.0%} of the copy's speed; with a tile {read['tiled', 1024]:.2f}",
    how="Counted",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
planes_between = 2 * depth["flat"] + 2
Markdown(
    f"Between two uses of a plane, {planes_between} planes pass through L2: {planes_between * 512**2 * 8 >> 20} MiB at "
    f"512³, {planes_between * 1024**2 * 8 >> 20} at 1024³, and L2 has {h200.l2_kib >> 10} in all. Shared memory vanishes when its block **ends**; a **march** "
    "still has the plane in registers."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Not all of L2.** The planes that pass would just fit into all of it. But a cache does not know which of its lines will be wanted; and NVIDIA's
# white paper on the A100 (2020, section "A100 L2 cache") describes the L2 of that GPU as two parts, each of which caches for the multiprocessors
# next to it. Whether an H200's halves hold the same lines twice, we have not measured. The times put the edge between the planes of 768³,
# where *flat* has not fallen yet, and those of 1024³. (At 512³ *vectorised* marches 4 planes at a time and *marching* 16: both read each number
# once.)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. *flat* looks slow, and memory is nearly as busy as in the copy: it moves what need not move. That is what
# > T_eff is for. The last column says who could still gain by fewer bytes, and who, as the tile, has another bound besides.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What others make of it

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
others = [
    on_h200(laplacian[""], CUPY),
    on_h200(laplacian["naive"]),
    on_h200(laplacian["slices"], Library.JAX),
    on_h200(laplacian["elementwise"], CUPY),
    on_h200(laplacian["slices"], Library.PYTORCH),
    on_h200(laplacian["flat"]),
    on_h200(laplacian["vectorised"], CUPY),
    on_h200(laplacian["vectorised"]),
]
viz.on_each(
    lambda found: viz.bars(
        found.compare(*(m.what for m in others), t_peak_gb_s=copy_of(found), **DEFAULT),
        note=f"512³ points, fp64, one run. {found.origin}",
    ),
    bench.records("stencil"),
)

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# **Step 1. The same idea on this CPU.** A core has no shared memory to fill, but its cache can be used as one: the compiled kernel walks along z
# in strips of rows that fit in a core's cache. The bound takes turns with what it bounds.

# %% slideshow={"slide_type": "skip"}
cube = HeatProblem.random((256, 256, 256)).T
result, expected = np.full_like(cube, np.nan), np.empty_like(cube)
reference.laplacian(cube, expected)
room = np.empty(cube.size)
on_cpu = bench.compare(
    {"triad": streams.triad, "NumPy": reference.laplacian, "Numba, all cores": cpu_numba.laplacian},
    cube,
    result,
    arguments={"triad": (cube.reshape(-1), expected.reshape(-1), 3.0, room)},
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
on_cpu = bench.Comparison(on_cpu.measurements, on_cpu["triad"].t_eff_gb_s)
on_cpu


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. Break a tile.** Take the barrier out of the kernel below, or change a `+ 1` in its halo, and read what the profile says.
# Predict the line and the threads that it will name.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def mean_of_three(u, out):
    tile = cuda.shared.array(66, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x + 1
    tile[t] = u[i]
    if t == 1:
        tile[0] = u[i - 1] if i > 0 else 0.0
    if t == 64:
        tile[65] = u[i + 1] if i + 1 < u.size else 0.0
    cuda.syncthreads()
    out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3


simt.profile(mean_of_three[4, 64], np.arange(256.0), np.empty(256))

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. Choose planes.** A long march reads fewer planes twice; a short one has more threads. Count what the march costs in sectors:

# %% slideshow={"slide_type": "skip"}
for planes in (4, 8, 16, 64):
    p = count(gpu.laplacian_marching_kernel, queue, np.uint32(planes), planes=planes)
    print(f"{planes:3} planes a thread: {p.global_load.sectors / compulsory:.2f} × the sectors needed")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Occupancy by hand.** How many blocks of 256 threads with 40 registers live on a multiprocessor of an H200, and what limits them?
# Divide 65,536 registers first, then look.

# %% slideshow={"slide_type": "skip"}
occupancy(h200, 256, registers_per_thread=40)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures three rungs of the ladder on it, in a few seconds, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.stencil import here

ladder = [laplacian[name] for name in ("naive", "flat", "vectorised")]
bench.live(
    lambda: here.on_this_gpu(*ladder),
    [found.one(variant.by(CUDA), **DEFAULT) for found in bench.records("stencil") for variant in ladder],
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"At 512³ the best kernel takes {best.median_s / floor.median_s:.2f} times the copy. What would more take?\n\n"
    "- **Fewer passes**: fuse this stencil with what comes before and after it (lecture 5).\n"
    "- **Several steps in one pass**: time blocking, where an algorithm allows it.\n"
    f"- **Fewer bytes a number**: in single precision this kernel takes {on_h200(laplacian['vectorised'], **single).median_s / best.median_s:.0%} "
    f"of the time (the naive one {on_h200(laplacian['naive'], **single).median_s / naive.median_s:.0%})."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rungs(laplacian["naive"], laplacian["flat"], laplacian["tiled"], laplacian["marching_tiled"], laplacian["marching"], laplacian["vectorised"])

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# Ask what the cache has done already; then ask for less, and for more at a time.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 3**, `exercises/03_shared_memory`, 20 points: mend a tile, write a register queue, remove a bank conflict, bring
#   a sum to one pass.
# - **Next**: lecture 5 takes a whole solver, conjugate gradient, and counts what fusing its parts really saves.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Read
#
# - P. Micikevicius, *3D finite difference computation on GPUs using CUDA*, GPGPU-2, 2009: the march along z.
# - G. Ruetsch, P. Micikevicius, *Optimizing matrix transpose in CUDA*, NVIDIA, 2009: tiles, banks, padding.
# - V. Volkov, *Understanding latency hiding on GPUs*, PhD thesis, University of California, Berkeley, 2016: bytes in flight.
# - J. D. C. Little, *A proof for the queuing formula L = λW*, Operations Research 9(3), 1961.
# - NVIDIA, *CUDA C++ Programming Guide*: device memory accesses, shared memory, occupancy.
