# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Registers
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Registers
#
# What one thread can keep for itself, how many bytes must be in flight, and what the compiler says about it.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 6, latency and bytes in flight 9, queue and pairs 10, registers and occupancy
# > 8, sums 4, sizes and what memory reads 5, limit and summary 3. The scans and the other libraries are in the notebook only.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **shorten** the arithmetic that finds an address,
# - **compute** how many bytes must be in flight,
# - **hold** a queue of planes in registers,
# - **read** what the compiler reports, and turn it into occupancy,
# - **add up** numbers at the speed of memory.
#
# It builds on lecture 2 (T_eff, the bound) and lecture 3 (the flat kernel, tiles, the clocks of a kernel).

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
import math

import numpy as np
from IPython.display import Markdown
from numba import float64

from course_pkg import bench, cuda, practice, simt, viz
from course_pkg.core import Library, machine, occupancy
from course_pkg.device.launch import blocks_for
from course_pkg.paths import figure
from course_pkg.stencil import gpu_numba as gpu
from course_pkg.stencil.tuning import planes_for
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector import gpu_numba as vector_gpu
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness import clocks, limits
from course_pkg.witness.ladder import Ladder, profile
from course_pkg.witness.longest import clocks_in_turn, longest_clock
from course_pkg.witness.marches import march_of

# %% slideshow={"slide_type": "skip"}
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
h200 = machine("h200")
gpus, vectors = bench.records("stencil"), bench.records("vector")  # recorded on an H100 and on an H200
h100_rungs, rungs = map(Ladder, gpus)
laplacian = {v.name: v for v in VARIANTS.of("laplacian")}
centre = {v.name: v for v in VARIANTS.of("centre")}  # out = 6 u
naive, flat, marching, vectorised = (
    rungs.measured(laplacian[v]) for v in ("naive", "flat", "marching", "vectorised")
)
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


# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## The same address, twice
#
# Two kernels for the 7-point Laplacian: 64-bit indices into three dimensions, or one 32-bit offset (casts left out).

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
guess_index = viz.Estimate(
    "04-index",
    "Same bytes, same sectors, same flops. On an H200, beside the naive kernel, the flat one is …",
    0.5,
    8,
    "times as fast",
)
guess_index

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Naive and flat, timed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ladder(naive=laplacian["naive"], flat=laplacian["flat"])

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
seen = {v: rungs.seen(laplacian[v]) for v in ("naive", "flat")}
per_warp = {v: counted["instructions"] * 32 / 64**3 for v, counted in seen.items()}
assert all(
    seen["naive"][what] == seen["flat"][what]
    for what in ("global load sectors", "float64 add", "float64 mul")
)
assert per_warp["naive"] > 2 * per_warp["flat"] and naive.median_s > 1.7 * flat.median_s
guess_index.reveal(
    naive.median_s / flat.median_s,
    note=f"{per_warp['naive']:.0f} instructions per warp became {per_warp['flat']:.0f}",
)

# %% slideshow={"slide_type": "skip"}
slow, quick = (rungs.clocks(laplacian[v]) for v in ("naive", "flat"))
assert slow.binds == quick.binds == clocks.WAITING
assert [max(c.shares, key=c.shares.get) for c in (slow, quick)] == [clocks.ISSUE, clocks.MEMORY]
assert h100_rungs.clocks(laplacian["flat"]).binds == clocks.MEMORY
Markdown(
    "On the H200, issue comes nearest to the time of *naive*, and memory to that of *flat*. Neither clock fills its time: the warps also **wait**. "
    "On the H100, memory binds *flat*."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Where do the instructions go?** `cuda.grid` gives 64-bit integers, and a GPU multiplies and adds 32 bits at a time, so one index
# operation becomes several instructions. An array of three dimensions takes 64-bit products and sums for its offsets. And a signed index
# may be negative: where the compiler does not rule it out, Numba adds the extent, as Python does. Unsigned offsets need none of it.
# We have not counted how many instructions each of the three costs.
#
# The clocks do not say **what holds *flat* back** on an H200. The link between the two halves of its L2, through which the far half answers, is active
# nearly all the time. But this counter is not a rate: it counts the cycles in which something is under way, and in a copy these are many, too.
# On an H100 it is much the same, and there memory binds *flat*:

# %% slideshow={"slide_type": "skip"}
for name in ("vector_copy_two_large", "laplacian_flat_512"):
    there, on_h100 = (on.traffic.counters[name][clocks.LINK] for on in (rungs, h100_rungs))
    print(f"{name}: the link is active in {there:.0f}% of the cycles of an H200, {on_h100:.0f}% of those of an H100")
    assert there > 90 and on_h100 > 80

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes with the question. Most say "as fast": the bytes are the same. On the H100 *naive* takes as long, because it has as many
# > instructions; *flat* takes longer, because memory is slower. So the gain is smaller. Then, on the H200, ask: no bar fills the grey one, so what does *flat* wait for?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How long a load takes
#
# One thread follows a ring of links: each load says where the next one reads.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(lambda found: Ladder(found).answers(), gpus)


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** One minute. Ask what the steps are before you name them: the ring has outgrown a cache.

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read the picture.** The links lie in random order, one in each 128 bytes, so that no address can be predicted. Each plateau is a memory; where the ring
# outgrows it, the next one answers some of the loads. On the H200 this begins at 32 MiB, although its L2 has 60. From 64 MiB to 1 GiB the time stays the same
# within a tenth, although ever more addresses have to be translated. A step is a load and the arithmetic that makes its address.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Waiting for memory
#
# A load comes back after its [latency](glossary.md#latency): hundreds of nanoseconds. How many [bytes in flight](glossary.md#bytes-in-flight) keep
# memory busy meanwhile? Little's law (1961):
#
# $$ \text{bytes in flight} = \text{bandwidth} \times \text{latency} $$

# %% slideshow={"slide_type": "skip"}
def on_their_way(found):
    """Return for each kind of access the bytes that have been asked for, beside what was measured."""
    series = {}
    for dtype, size in (("float32", 4), ("float64", 8)):
        for variant, width in (("strided", 1), ("strided_pairs", 2)):
            ms = found.all(centre[variant].by(CUDA), shape=[512, 512, 512], dtype=dtype)
            series[f"{size * width} B: {dtype}{' pairs' if width == 2 else ''}"] = [
                (m.parameters["blocks_per_sm"] * m.parameters["threads_per_block"] * size * width, m)
                for m in ms
            ]
    return series


in_flight = on_their_way(rungs.found)
waiting, asked = in_flight["8 B: float64"], 4096
few = dict(waiting)[512]

# %% slideshow={"slide_type": "-"}
read_gb_s = few.t_eff_gb_s / 2  # half of T_eff is read
latency_ns = h200.sms * 512 / read_gb_s  # 512 bytes in each SM
enough = rungs.copy().t_eff_gb_s / 2 * latency_ns / h200.sms
print(f"few threads: {latency_ns:.0f} ns per load")
print(f"as fast as the copy: at least {enough:,.0f} bytes in each")

# %% slideshow={"slide_type": "skip"}
assert 200 < latency_ns < 1000

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_flight = viz.Prediction(
    "04-flight",
    "A kernel has 8 blocks of 64 threads on each multiprocessor, and each thread waits for 8 bytes: 4 KiB in all. "
    "Another one has half as many threads, and each waits for 16 bytes. Its bandwidth is …",
    ["about half", "about the same", "nearly twice that of the first"],
)
guess_flight

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Bytes in flight

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(
    lambda found: viz.t_eff_against(
        on_their_way(found),
        xlabel="bytes in flight in each multiprocessor",
        ticks=[256, 1024, 4096, 16384],
        t_peak_gb_s=Ladder(found).copy().t_eff_gb_s,
        note=viz.Note("out = 6 u by few threads that stride through the grid; bytes per load and thread.", found.origin),
    ),
    gpus,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
many, half = dict(waiting)[asked], dict(in_flight["16 B: float64 pairs"])[asked]
assert many.parameters["blocks_per_sm"] == 2 * half.parameters["blocks_per_sm"] == 8
assert 0.89 < half.t_eff_gb_s / many.t_eff_gb_s < 1
guess_flight.reveal(
    f"{half.t_eff_gb_s:,.0f} GB/s with half the threads, {many.t_eff_gb_s:,.0f} with all of them",
    right="about the same",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes with the law and the question: the slides that explain why a copy needs many threads, or few with much each. Between two
# > loads of a thread stands a store, and the compiler cannot know that it does not change what the next load reads. A thread's instructions start in order, and the
# > store needs the load before it: so a thread waits for one load at a time. Two kernels in two precisions lie on about one curve: what counts is not the number of threads but the bytes in flight.

# %% slideshow={"slide_type": "skip"}
by_law = 6144  # bytes in flight in each multiprocessor: nearly what the law asks for
at_work = dict(waiting)[by_law]
loaded_ns = h200.sms * by_law / (at_work.t_eff_gb_s / 2)
assert abs(by_law / enough - 1) < 0.05 and loaded_ns > 1.3 * latency_ns and rungs.of_copy(at_work) < 0.75
Markdown(
    f"**Why is the law's number not enough?** With {by_law:,} bytes in each multiprocessor of the H200, the kernel reaches {rungs.of_copy(at_work):.0%} of the copy. "
    f"The law holds, but its latency is not a constant: with few threads a load took {latency_ns:.0f} ns, and with these it takes {loaded_ns:.0f} ns. "
    "A memory at work answers later, so that the last part of the bandwidth takes far more bytes in flight."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Let threads march
#
# Each thread walks along z, from [plane](glossary.md#plane) to plane, and keeps what it needs again: [marching](glossary.md#marching).

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("register_queue.svg"),
    "Left, a thread's column at step k: its points in planes k − 1, k and k + 1, and hollow that in k + 2, which is on its way; four "
    "neighbours in plane k come from the cache. Right, its registers in three steps: ahead becomes above, above centre, centre below.",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A queue in registers

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "registers")

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

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A thread's march, in time

# %% slideshow={"slide_type": "skip"}
column, into = np.ones(32 * 4 * 6), np.empty(32 * 4 * 6)
sizes = map(np.uint32, (32, 4, 6, 4))  # nx, ny, nz, and the planes that a block marches through
marched = simt.profile(gpu.laplacian_marching_kernel[(1, 1, 2), (32, 4)], column, *sizes, into)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.march_picture(*march_of(marched, "u", "out", 32 * 4 * 8))

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
counted = {v: profile(laplacian[v]) for v in ("marching_tiled", "vectorised")}
loads = {
    v: rungs.seen(laplacian[v])["global load requests"] * 32 / 64**3
    for v in ("flat", "marching", "marching_tiled")
}
assert counted["marching_tiled"].global_load.requests * 32 / 64**3 == loads["marching_tiled"]
assert round(loads["flat"]) == 7 and round(loads["marching"]) == 5 and 1 < loads["marching_tiled"] < 2
guess_march = viz.Prediction(
    "04-march",
    "Loads per point: flat 7, queue 5, queue and tile less than 2. Which is fastest on an H200?",
    ["flat", "queue", "queue and tile", "both queues, alike"],
)
guess_march

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Registers and shared memory

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
climb(
    naive=laplacian["naive"],
    flat=laplacian["flat"],
    tile=laplacian["tiled"],
    queue_and_tile=laplacian["marching_tiled"],
    queue=laplacian["marching"],
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
both = rungs.measured(laplacian["marching_tiled"])
assert marching.median_s < flat.median_s < both.median_s
guess_march.reveal(
    f"the queue alone, {rungs.of_copy(marching):.0%} of the copy; with a tile as well {rungs.of_copy(both):.0%}",
    right="queue",
)

# %% slideshow={"slide_type": "skip"}
blocks = np.prod(blocks_for((64, 64, 64), gpu.BLOCK_MARCHING, planes=gpu.PLANES_MARCHING))
assert counted["marching_tiled"].barriers == 2 * gpu.PLANES_MARCHING * blocks  # two per plane

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with picture and code. The queue reads less from L2 and has fewer instructions than *flat*; and it asks for the next plane
# > while it computes this one. We have not measured what each of them is worth by itself. With the tile there are more instructions again, and every warp
# > stops at two barriers per plane.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two points per thread, one access
#
# `load_pair(u, c)` loads two numbers at once: of doubles, 128 bits, the most that one access of a thread takes on these GPUs. CUDA C++ writes `double2`.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
pairs = counted["vectorised"]
viz.access_strip(next(a for where in pairs.by_line for a in pairs.accesses(where) if a.itemsize == 16))

# %% [markdown] slideshow={"slide_type": "skip"}
# The *vectorised* kernel is not *marching* with pairs and nothing else. It marches 4 planes in place of 16, in blocks twice as large, with at most 32
# registers, and it loads nothing ahead. (128 bits also hold four floats; our pairs of floats take 64.)

# %% slideshow={"slide_type": "skip"}
at_512 = np.broadcast_to(np.float64(0), (512, 512, 512))
assert (planes_for(at_512), gpu.PLANES_MARCHING) == (4, 16) and vectorised.observed["registers"] == 32
assert np.prod(gpu.BLOCK_VECTORISED) == 2 * np.prod(gpu.BLOCK_MARCHING)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_pairs = viz.Estimate(
    "04-pairs",
    "Two numbers per thread and access, the same bytes. In single precision, where a thread's load is of 4 bytes, the kernel with pairs is on an H200, beside "
    "the queue alone, …",
    0.5,
    200,
    "% faster",
)
guess_pairs

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The top of the ladder

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
climb(
    naive=laplacian["naive"],
    flat=laplacian["flat"],
    queue=laplacian["marching"],
    pairs=laplacian["vectorised"],
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
single = {v: rungs.measured(laplacian[v], dtype="float32") for v in ("naive", "marching", "vectorised")}
gain_64, gain_32 = (
    marching.median_s / vectorised.median_s,
    single["marching"].median_s / single["vectorised"].median_s,
)
assert 1.02 < gain_64 < 1.08 < gain_32 and rungs.clocks(laplacian["vectorised"]).binds == clocks.MEMORY
guess_pairs.reveal(
    100 * (gain_32 - 1),
    note=f"in double precision, which the picture shows, {gain_64 - 1:.0%}: now memory binds",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What the compiler reports
#
# When a kernel is compiled, its compiler says three things (Numba: `kernel.get_regs_per_thread()` and similar methods):
#
# - **registers** per thread, 32 bits each: a multiprocessor has 65,536 for all its threads;
# - **shared memory** per block, in bytes;
# - [**local memory**](glossary.md#local-memory) per thread: what found no register. It lies in global memory, behind the caches.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## From registers to occupancy
#
# A warp is *resident* from the start of its block to its end; it holds its registers all the time.
#
# [**Occupancy**](glossary.md#occupancy) = resident warps / 64, the most that a multiprocessor holds. Blocks of 256 threads, 40 registers each:

# %% slideshow={"slide_type": "-"}
registers_per_block = 256 * 40
blocks = 65_536 // registers_per_block
warps = blocks * 256 // 32
print(f"{blocks} blocks, {warps} warps: {warps / 64:.0%}")
assert warps == occupancy(h200, 256, registers_per_thread=40).warps_per_sm

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Occupancy is not speed

# %% slideshow={"slide_type": "skip"}
launched = {
    "marching": gpu.BLOCK_MARCHING,
    "marching_tiled": gpu.BLOCK_MARCHING,
    "vectorised": gpu.BLOCK_VECTORISED,
}


def fitting(variant, m):
    """Return how many warps of a measured variant fit on a multiprocessor of an H200."""
    threads = int(np.prod(launched.get(variant.name, gpu.BLOCK_3D)))
    return occupancy(
        h200, threads, registers_per_thread=m.observed["registers"], shared_bytes=m.observed["shared_bytes"]
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
reported = {
    v: rungs.measured(laplacian[v])
    for v in ("naive", "flat", "tiled", "marching", "marching_tiled", "vectorised")
}
fits = {v: fitting(laplacian[v], m) for v, m in reported.items()}


def resident(on):
    """Draw the share of the copy that each kernel reaches, beside what its compiler reports and what then fits."""
    rungs = []
    for v in reported:
        m = on.measured(laplacian[v])
        found = m.observed["registers"], f"{m.observed['shared_bytes']:,} B", f"{fitting(laplacian[v], m).share:.0%}"
        counters = dict(zip(("registers per thread", "shared memory", "warps that fit"), map(str, found), strict=True))
        rungs.append(viz.Rung(v.replace("_", " "), on.of_copy(m), counters, on.longest_clock(laplacian[v])))
    return viz.ladder_picture(rungs, bound_gb_s=on.copy().t_eff_gb_s, note=on.origin)


viz.on_each(lambda found: resident(Ladder(found)), gpus)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert all(fit.share == 1 for fit in fits.values()) and naive.median_s > 2 * vectorised.median_s
Markdown(
    f"In all of these, 64 warps *fit*, and on the H200 their times differ by a factor of {naive.median_s / vectorised.median_s:.1f}."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_spill = viz.Estimate(
    "04-spill",
    "The vectorised kernel uses 32 registers per thread. We tell the compiler to get by with 24. On an H200 it then takes …",
    0.25,
    16,
    "times as long",
)
guess_spill

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Registers held back

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
limited = [
    (v, rungs.measured(laplacian[v], max_registers=most))
    for v in ("vectorised", "marching")
    for most in ("free", 32, 24)
]


def squeezed(on):
    """Draw the share of the copy that two kernels reach with fewer and fewer registers."""
    rungs = []
    for v, limit in ((v, limit) for v in ("vectorised", "marching") for limit in ("free", 32, 24)):
        m = on.measured(laplacian[v], max_registers=limit)
        found = m.observed["registers"], f"{m.observed['local_bytes']} B", f"{fitting(laplacian[v], m).share:.0%}"
        counters = dict(zip(("registers per thread", "local memory", "warps that fit"), map(str, found), strict=True))
        usual = limit == {"vectorised": 32, "marching": "free"}[v]
        clock = on.longest_clock(laplacian[v], "" if usual else f"registers_{limit}")
        name = f"{v}, {'no limit' if limit == 'free' else f'at most {limit}'}"
        rungs.append(viz.Rung(name, on.of_copy(m), counters, clock))
    return viz.ladder_picture(rungs, bound_gb_s=on.copy().t_eff_gb_s, note=viz.Note("512³ doubles.", on.found.origin))


viz.on_each(lambda found: squeezed(Ladder(found)), gpus)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
(_, kept), (_, spilt) = limited[1:3]
assert (
    kept.observed["local_bytes"] == 0 < spilt.observed["local_bytes"] and spilt.median_s > 2 * kept.median_s
)
guess_spill.reveal(
    spilt.median_s / kept.median_s,
    note=f"{spilt.observed['local_bytes']} bytes per thread spilled to local memory",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Between the two.** Left to itself the compiler takes more registers than 32 for *vectorised*, and fewer warps fit. Asked for 32, it finds
# them, and all 64 warps live: `@cuda.jit(max_registers=32)`. On the H200 that is a little faster, on an H100 a little slower: occupancy is not
# the aim. Asked for 24, it puts values aside in local memory and fetches them back.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Threads that talk
#
# A sum needs one number from many threads: a tree in shared memory, with a barrier for each level.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.source(vector_gpu.block_sum)

# %% slideshow={"slide_type": "skip"}
numbers = np.random.default_rng(0).random(2**16)
sums = {}
for variant in (*STREAMS.of("reduce_sum", CUDA), STREAMS["dot"]):
    kernel, blocks = variant.kernel_objects()[0], 256 if variant.name in ("tree", "shuffle") else 32
    partial, terms = (
        np.zeros(blocks),
        (numbers, np.ones_like(numbers)) if variant.operation == "dot" else (numbers,),
    )
    sums[variant] = simt.profile(kernel[blocks, 256], *terms, partial)
    np.testing.assert_allclose(partial.sum(), numbers.sum())

# %% [markdown] slideshow={"slide_type": "slide"}
# ## First a share for each thread
#
# *Shuffle*: values move from register to register, within a warp. *Grid stride* and *dot*: each thread first adds up its share, in a register.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rates = {v: [found.one(v.by(CUDA), n=2**28).throughput_gb_s for found in reversed(vectors)] for v in sums}


def summed(found):
    """Draw the rate of each sum as a share of the fastest one that only reads, beside what it asks of a block."""
    rungs, reads = [], max(m.throughput_gb_s for m in found.all(STREAMS["dot"].by(CUDA)))
    for v, p in sums.items():
        requests = p.shared_load.requests + p.shared_store.requests
        counters = {"barriers": f"{p.barriers:,}", "shared requests": f"{requests:,}"}
        gb_s = found.one(v.by(CUDA), n=2**28).throughput_gb_s
        clock = longest_clock(found, f"vector_{v.function_name}_large", limits.recorded("vector", found.device.slug).stream)
        rungs.append(viz.Rung(v.title if v.name else "dot: a share, then the tree", gb_s / reads, counters, clock))
    note = viz.Note("Read only: the fastest dot of any length. Counted on 2¹⁶ numbers (dot: two vectors), timed on 2²⁸.", found.origin)
    return viz.ladder_picture(rungs, bound="read only", bound_gb_s=reads, note=note)


viz.on_each(summed, vectors)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
by_name = {v.name or v.operation: rate for v, (rate, _) in rates.items()}
assert (
    by_name["dot"] > by_name["grid_stride"] > 2 * by_name["shuffle"]
    and by_name["shuffle"] < 1.25 * by_name["tree"]
)
Markdown(
    f"On the H200, the **stride** reads {by_name['grid_stride'] / by_name['shuffle']:.1f} times as fast as shuffles alone."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why is the tree alone so slow?** It is launched with a thread for each number, so that a block of 256 threads and all its barriers serve
# 2 KiB. The grid stride has few blocks that live long, and each thread adds up its share in a register first.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## From 32³ to 1024³

# %% slideshow={"slide_type": "skip"}
SWEPT = {
    "copy": STREAMS["copy"].by(CUPY),
    **{name: laplacian[name].by(CUDA) for name in ("naive", "flat", "marching", "vectorised")},
}


def over_sizes(found):
    """Return the points of each curve."""
    fixed = {"dtype": "float64", "threads_per_block": None, "max_registers": None}
    return {
        label: sorted(
            ((m.parameters["shape"][0], m) for m in found.all(what, **fixed)), key=lambda point: point[0]
        )
        for label, what in SWEPT.items()
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(
    lambda found: viz.t_eff_against(
        over_sizes(found),
        xlabel="n, points along an edge",
        ticks=[32, 64, 128, 256, 512, 1024],
        t_peak_gb_s=Ladder(found).copy().t_eff_gb_s,
        bound="copy of 512³",
        region=("both grids in L2", 30, (found.device.llc_bytes / 16) ** (1 / 3)),
        note=found.origin,
    ),
    gpus,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
share = {v: rungs.of_copy(rungs.measured(laplacian[v], edge=1024)) for v in ("flat", "vectorised")}
assert (
    rungs.copy(128).t_eff_gb_s > 1.1 * rungs.copy().t_eff_gb_s
    and rungs.copy(1024).t_eff_gb_s > rungs.copy().t_eff_gb_s
)
Markdown(
    f"On the H200, *flat* at 1024³ falls to {share['flat']:.0%} of the copy, *vectorised* to {share['vectorised']:.0%}. What happened?"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. On the left there is too little work to fill the GPU; at 128³ both grids fit in L2, and the copy outruns memory. At 1024³ the
# > copy is as fast as at 512³: the kernels are not.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_memory = viz.Estimate(
    "04-memory",
    "On 512³ points memory reads each number once. On 1024³ points, the flat kernel reads each number from memory …",
    1,
    16,
    "times",
)
guess_memory

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What memory reads

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "L2")

# %% slideshow={"slide_type": "skip"}
large = np.broadcast_to(np.float64(0), (1024, 1024, 1024))
depth = {
    "flat": gpu.BLOCK_3D[2],
    "tiled": gpu.BLOCK_TILED[2],
    "marching": gpu.PLANES_MARCHING,
    "vectorised": planes_for(large),
}


def from_memory(on):
    """Return a column for each size: how often memory sends a number; and memory's speed at 1024³, as a share of the copy's."""
    moved = {(v, edge): on.moved(laplacian[v], edge) for v in depth for edge in (512, 1024)}
    times = {(v, edge): bytes_read / (8 * edge**3) for (v, edge), (bytes_read, *_) in moved.items()}
    return times, {v: sum(moved[v, 1024][:2]) / moved[v, 1024][2] / 1e9 / on.copy(1024).t_eff_gb_s for v in depth}


seen_on = {on: from_memory(on) for on in (h100_rungs, rungs)}
read, busy = seen_on[rungs]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def what_memory_reads(on):
    """Draw memory's speed at 1024³ for each kernel; beside it, what a block reads, and how often memory sends a number."""
    times, speed = seen_on[on]
    found = [
        viz.Rung(v, speed[v], {
            "planes read": f"{planes + 2} for {planes}",
            "sent at 512³": f"{times[v, 512]:.2f}×", "sent at 1024³": f"{times[v, 1024]:.2f}×",
        }, longest_clock(on.found, f"{laplacian[v].function_name}_1024", on.copy(1024)))
        for v, planes in depth.items()
    ]  # fmt: skip
    return viz.ladder_picture(found, steps=False, ceiling=True, note=viz.Note("Memory's speed at 1024³, and its bytes over the grid's.", on.traffic.origin))


viz.on_each(what_memory_reads, list(seen_on))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert 1.9 < read["flat", 1024] < 2 and busy["flat"] > 0.9 and max(read[v, 512] for v in depth) < 1.01
guess_memory.reveal(
    read["flat", 1024],
    note=f"at {busy['flat']:.0%} of the copy's speed; with a tile {read['tiled', 1024]:.2f} times",
    how="Counted",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
between = 2 * depth["flat"] + 2
Markdown(
    f"Between two uses of a plane, {between} planes pass through the {h200.l2_kib >> 10} MiB of L2: {between * 512**2 * 8 >> 20} MiB at 512³, "
    f"{between * 1024**2 * 8 >> 20} at 1024³. A **march** still has the plane in registers."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Not all of L2.** The planes that pass would fit into all of it. But a cache does not know which of its lines will be wanted; and NVIDIA's
# white paper on the A100 (2020, section "A100 L2 cache") describes the L2 of that GPU as two parts, each of which caches for the multiprocessors
# next to it. The times fit such a half. At 768³, 27 MiB pass: they fit into half of an H200's 60 MiB, and *flat* has not fallen yet; they do not fit
# into half of an H100's 50 MiB, and there it has. We have not measured whether the halves hold the same lines twice. (At 512³ *vectorised* marches
# 4 planes at a time and *marching* 16: on the H200 both read each number once.)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. *flat* looks slow, and memory is nearly as busy as in the copy: it moves what need not move. That is what
# > T_eff is for. A kernel that keeps memory as busy as the copy does could still gain by moving fewer bytes; on the H200, the tile also has another bound. A tile does not help:
# > shared memory vanishes when its block ends.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"At 512³ the best kernel takes, on the H200, {vectorised.median_s / rungs.copy().median_s:.2f} times the copy. What would it take to get closer?\n\n"
    "- **Fewer passes**: fuse this stencil with what comes before and after it (lecture 5).\n"
    "- **Several steps in one sweep**: time blocking, where an algorithm allows it.\n"
    f"- **Fewer bytes per number**: in single precision this kernel takes {single['vectorised'].median_s / vectorised.median_s:.0%} "
    f"of the time (the naive one {single['naive'].median_s / naive.median_s:.0%})."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
climb(
    **{
        "naive": laplacian["naive"],
        "flat: 32-bit offsets": laplacian["flat"],
        "marching: a queue": laplacian["marching"],
        "vectorised: pairs": laplacian["vectorised"],
    }
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Ask for less, and for more at a time.**

# %% [markdown] slideshow={"slide_type": "skip"}
# **What was left to gain**, lecture 2 asked of four programs, and named no clock: that would have told what you found in this lecture. Here is the longest clock
# of each. The four kernels of the heat step are taken together: all their work, beside the sum of their times. Memory is the longest clock of the heat
# steps that were counted; that of the naive Laplacian is the instructions.

# %% slideshow={"slide_type": "skip"}
ASKED = {
    "heat step, array statements": (),  # by CuPy, whose launches were not counted
    "heat step, four kernels": ("flux_x_16384", "flux_y_16384", "divergence_16384", "update_16384"),
    "heat step, fused": ("diffusion_step_2d_16384",),
    "Laplacian, naive": ("laplacian_naive_512",),
}
left = {name: [clocks_in_turn(on.found, cases, on.copy()) for on in (h100_rungs, rungs)] for name, cases in ASKED.items()}
units = [{its and its.longest_unit for its in found} for found in left.values()]
assert units == [{None}, {clocks.MEMORY}, {clocks.MEMORY}, {clocks.ISSUE}]
told = {name: [its.longest if its else clocks.NOT_COUNTED for its in found] for name, found in left.items()}
bench.Table(
    [{"program": name, **dict(zip(("H100: longest clock", "H200: longest clock"), found, strict=True))} for name, found in told.items()],
    bench.origins(on.traffic.origin for on in (h100_rungs, rungs)),
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 4**, `exercises/04_registers`: a step in place, numbers in pairs, a wasteful sum, two sums in one, and how many registers a thread may take.
# - **Next**: lecture 5 takes a whole solver, conjugate gradient, and counts what fusing its parts really saves.
# - V. Volkov, *Understanding latency hiding on GPUs*, PhD thesis, University of California, Berkeley, 2016: bytes in flight.
# - P. Micikevicius, *3D finite difference computation on GPUs using CUDA*, GPGPU-2, 2009: the march along z.
# - J. D. C. Little, *A proof for the queuing formula L = λW*, Operations Research 9(3), 1961.
# - NVIDIA, *CUDA C++ Programming Guide*: occupancy, local memory.

# %% slideshow={"slide_type": "skip"}
viz.intuition("04")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Further: a loop that depends on itself

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
square = np.random.default_rng(0).random((256, 256))
scans = {
    name: simt.profile(kernel[launch], square, np.empty_like(square))
    for name, kernel, launch in (
        ("down columns, a thread each", vector_gpu.cumsum_columns_kernel, (1, 256)),
        ("along rows, a thread each", vector_gpu.cumsum_rows_serial_kernel, (1, 256)),
        ("along rows, a warp each", vector_gpu.cumsum_rows_chunked_kernel, (32, 256)),
    )
}
measured = ("cumsum_columns", "cumsum_rows_serial", "cumsum_rows_chunked")
scan_times = {
    name: [found.one(STREAMS[v].by(CUDA)).median_s for found in reversed(vectors)] for name, v in zip(scans, measured, strict=True)
}

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
bench.Table(
    [
        {
            "cumulative sum": name,
            "sectors per request": f"{p.global_load.sectors_per_request:.0f}",
            "threads": f"{16384 * (32 if 'warp' in name else 1):,}",
            "H100: time": bench.format_time(scan_times[name][1]),
            "H200: time": bench.format_time(scan_times[name][0]),
        }
        for name, p in scans.items()
    ],
    "16384² doubles. " + bench.origins(found.origin for found in vectors),
)

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
assert [round(p.global_load.sectors_per_request) for p in scans.values()] == [8, 32, 8]
assert all(columns > rows > 3 * chunks for columns, rows, chunks in zip(*scan_times.values(), strict=True))
columns, rows, chunks = (times[0] for times in scan_times.values())
Markdown(
    f"On the H200, columns take {columns / rows:.1f} times as long as rows, which have four times the sectors per request; and rows take {rows / chunks:.1f} times as long as "
    "32 numbers at a time, by shuffles."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# Few threads, each with one load on its way: they wait for an answer, not for bandwidth. Along a row, three numbers of four come
# with a sector that was fetched before.
#
# **The strided disaster, averted.** Along the rows, a thread uses 8 of the 32 bytes that it fetches, as in lecture 2; but it comes back for
# the next 8 at once. If the sector still lies in the L1 cache then, the rows wait for L2 or memory once in four steps. This would explain why the rows win;
# we have not counted the hits in L1. The chunked kernel gives each row a warp: its requests are perfect, and shuffles add up 32 numbers at a time.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Further: what others make of it

# %% slideshow={"slide_type": "skip"}
OTHERS = {
    "": CUPY, "naive": CUDA, "slices": Library.JAX, "elementwise": CUPY, "flat": CUDA, "vectorised": CUDA,
}  # fmt: skip
others = [laplacian[name].by(library) for name, library in OTHERS.items()]
others += [laplacian["slices"].by(Library.PYTORCH), laplacian["vectorised"].by(CUPY)]
fixed = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None, "max_registers": None}
viz.on_each(
    lambda found: viz.bars(
        found.compare(*others, t_peak_gb_s=Ladder(found).copy().t_eff_gb_s, **fixed),
        bound="copy",
        note=viz.Note("512³ points, fp64, one run.", found.origin),
    ),
    gpus,
)


# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of these kernels** stand in two tables: stencils before lecture 3's laboratory, sums before the roofline of lecture 2. `course verify traffic` prints both.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# Eight steps, each a kernel or a function with its decisive lines missing. Replace the `...` and run the cell. You see at once whether it is right, what your
# threads read and wrote, and hints if you want them. Accesses are counted, too. The
# kernels run in the interpreter, with or without a GPU, and what you solve is remembered.
#
# **Step 1. One offset.** The vector `u` holds a grid of nz × ny × nx numbers, row by row and plane by plane. Subtract from each number its northern neighbour, the one
# at j − 1; where there is none, subtract 0. The offset stays in 32 bits.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def north_difference(u, nx, ny, nz, out):
    i, j, k = cuda.grid(3)
    if i < nx and j < ny and k < nz:
        c = np.uint32(...)
        north = 0.0
        if j > 0:
            north = u[np.uint32(...)]
        out[c] = u[c] - north


practice.check("one_offset", north_difference)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. A queue.** `u[k, i]` is point i of [plane](glossary.md#plane) k. Each thread walks along k through one column, and each result needs five planes.
# Load each number once: keep four of them in registers.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def fourth_difference(u, out):
    i = cuda.grid(1)
    if i < u.shape[1]:
        a, b, c, d = u[0, i], u[1, i], u[2, i], u[3, i]
        for k in range(out.shape[0]):
            ...


practice.check("plane_queue", fourth_difference)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. Chunks.** One thread per column is few threads. Let the block with number `cuda.blockIdx.y` march through `planes` planes of `out` only. How
# many planes of `u` does a [chunk](glossary.md#chunk) load?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def fourth_difference_in_chunks(u, planes, out):
    i = cuda.grid(2)[0]
    first = ...
    last = ...
    if i < u.shape[1]:
        a, b, c, d = ...
        for k in range(first, last):
            ...


practice.check("march_in_chunks", fourth_difference_in_chunks)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Pairs.** y becomes a x + y, with two neighbours per thread and one access for both. Where the size is odd, the last number has no partner: that
# case is written already.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.pairs import load_pair, store_pair


@cuda.jit
def axpy_by_pairs(a, x, y):
    i = ...
    if i + 1 < x.size:
        x0, x1 = load_pair(...)
        ...
        store_pair(...)
    elif i < x.size:
        y[i] = a * x[i] + y[i]


practice.check("paired_axpy", axpy_by_pairs)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. Little's law, backwards.** How many threads must wait on each multiprocessor, at the least, so that a copy reaches `t_eff_gb_s`? Each thread waits for
# `bytes_per_thread` bytes at a time. Threads come in warps of 32.

# %% slideshow={"slide_type": "skip"}
def threads_needed(t_eff_gb_s, latency_ns, multiprocessors, bytes_per_thread):
    bytes_in_flight = ...
    threads = ...
    return ...


practice.check("threads_in_flight", threads_needed)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. From registers to warps.** A multiprocessor of an H200 has four quarters with 16,384 registers each. A warp lives in one of them, and gets its
# registers in multiples of 256. How many warps are resident, if blocks come whole? (At most 64 warps and 32 blocks.)

# %% slideshow={"slide_type": "skip"}
def resident_warps(threads, registers):
    warps = math.ceil(threads / 32)
    per_warp = ...
    fed = ...
    blocks = min(...)
    return blocks * warps


practice.check("warps_that_fit", resident_warps)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. A sum.** Two blocks of 64 threads add up a vector of any length. First each thread adds up its share, then each warp its 32 threads, then one
# thread the two warps. Shared memory is asked once per warp.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def sum_by_shuffles(a, out):
    per_warp = cuda.shared.array(2, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(...):
        total += a[i]
    for distance in (16, 8, 4, 2, 1):
        ...
    if t % 32 == 0:
        per_warp[t // 32] = ...
    ...
    if t == 0:
        out[cuda.blockIdx.x] = per_warp[0] + per_warp[1]


practice.check("strided_sum", sum_by_shuffles)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. Where is the largest?** One warp per row of 32 numbers. Find the index of the largest number without shared memory. If it stands there twice, its
# lower index is asked for, as in NumPy.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def argmax_of_rows(a, out):
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, where = a[r, t], t
    for distance in (16, 8, 4, 2, 1):
        ...
    if t == 0:
        out[r] = where


practice.check("warp_argmax", argmax_of_rows)

# %% [markdown] slideshow={"slide_type": "skip"}
# **What you have solved**, on this computer, today and before:

# %% slideshow={"slide_type": "skip"}
practice.progress("04_registers")

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures three rungs of the ladder on it, in a few seconds, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.stencil import here

three = [laplacian[name] for name in ("naive", "flat", "vectorised")]
bench.live(
    lambda: here.on_this_gpu(*three),
    [Ladder(found).measured(v) for found in gpus for v in three],
    {v: v.title for v in three},
)
