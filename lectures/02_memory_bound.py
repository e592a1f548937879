# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Memory-bound
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Memory-bound
#
# Why numerical solvers run at the speed of memory, how fast that is, and how to tell what is left to gain.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. The laboratory's cells are in the notebook only. Timing: surprise 5,
# > memory wall and balance 10, measuring the peak 10, the paradox and T_eff 12, roofline and what is left 8.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **compute** the balance of a machine from its datasheet,
# - **measure** the bandwidth it really has, and defend the number,
# - **count** the bytes that an algorithm must move,
# - **judge** a program by its effective memory throughput, T_eff,
# - **say** how much faster it could still become.
#
# It builds on Python, NumPy and lecture 0.

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
from datetime import date

import numpy as np
from IPython.display import Markdown, display

from course_pkg import bench, cuda, simt, viz
from course_pkg.core import Library, catalogue, machine
from course_pkg.paths import figure
from course_pkg.stencil import cost as stencil_cost
from course_pkg.stencil import cpu_numba as stencil_cpu
from course_pkg.stencil import reference as stencil_reference
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS as STENCILS
from course_pkg.vector import cost, cpu_numba, peak, reference
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.variants import VARIANTS

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY

h200 = bench.recorded("vector", "nvidia-h200")
h200_stencil = bench.recorded("stencil", "nvidia-h200")
this_machine = f"Live, on this CPU: {bench.cpu().name}, {bench.cpu().units} cores, {date.today()}."

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Sixteen times the arithmetic
#
# Each number of a long vector is read, worked on, and written. The work is a polynomial by Horner's rule:
#
# ```python
# for i in prange(a.size):        # all cores
#     y = 1
#     for _ in range(degree):     # 2 flops each
#         y = 1 + a[i] * y
#     out[i] = y
# ```
#
# Degree 1 does 2 flops an element, degree 16 does 32, degree 128 does 256. All read 8 bytes and write 8.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_flops = viz.Prediction(
    "01-flops",
    "On an H200: up to which degree does it take at most a tenth longer than degree 1?",
    ["degree 2", "degree 32", "degree 128"],
)
guess_flops

# %% slideshow={"slide_type": "skip"}
live_flops = peak.horner_sweep((1, 2, 4, 8, 16, 32, 64), samples=7)  # each checked against NumPy before it is timed

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Arithmetic is nearly free, up to a point

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.flops_sweep(
    {
        "live": live_flops,
        **{
            f"{found.device.name.removeprefix('NVIDIA ').split()[0]}, recorded": found.all(VARIANTS["horner"].by(CUDA))
            for found in bench.records("vector")
        },
    },
    note=f"{this_machine}\n" + "\n".join(found.origin for found in bench.records("vector")),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ratio = live_flops[4].median_s / live_flops[0].median_s
gpu_horner = h200.all(VARIANTS["horner"].by(CUDA))
flat_to = max(m.parameters["degree"] for m in gpu_horner if m.median_s < 1.1 * gpu_horner[0].median_s)
guess_flops.reveal(
    f"degree {flat_to}. Degree 16, with 16 times the flops of degree 1, took {ratio:.2f} times as long here, "
    f"and {gpu_horner[4].median_s / gpu_horner[0].median_s:.2f} times on the H200"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the question before. Lecture 0 has shown that some arithmetic costs nothing; how much is the question
# > of this lecture. Take votes before the run, and let those who chose the ends say why.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two clocks, the slower one counts
#
# A program moves $B$ bytes and does $F$ flops. Both go on at the same time:
#
# $$ t \;\ge\; \max\left( \frac{B}{\text{bandwidth}},\; \frac{F}{\text{peak flop rate}} \right) $$
#
# - **Memory-bound**: the first term is larger; arithmetic hides behind traffic.
# - **Compute-bound**: the second is larger; traffic hides behind arithmetic.
#
# The solvers of this course are memory-bound. (A third clock, the *instructions* that are issued, comes in lecture 3.)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. A common wrong idea: "both matter, so time is the sum". It is the sum only where nothing overlaps; with
# > enough threads in flight the processor overlaps them. The knee of the last figure is where the two terms are equal.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The memory wall

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.memory_wall(catalogue().values())

# %% [markdown] slideshow={"slide_type": "-"}
# Wulf and McKee named the *memory wall* in 1995. They meant the **time of an access**; this course means **bytes a second**.

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read the figure.** The dashed line is one flop for each number moved. The figure starts in 2008, with a GPU that
# had units for double precision. Peaks of CPUs are at base clock, those of GPUs at boost clock, as their vendors state them.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Drawn from the catalogue in `course_pkg/core/machines.toml`, where each figure names its source. Two
# > things to point at: from the C1060 of 2008 to the P100 of 2016 the balance rose more than ninefold; and the H200 has the
# > arithmetic of the H100 SXM with 1.4 times its bandwidth. T4 and RTX 4090 lie low because they have few fp64 units: for
# > float32 they would be at 101 and 328.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Balance: flops for each number moved
#
# $$ \text{balance} = \frac{\text{peak flop rate}}{\text{bandwidth}} \times \text{bytes of a number} $$
#
# A Tesla P100 in double precision: 5,300 GFLOP/s, 732 GB/s, 8 bytes a number.

# %% slideshow={"slide_type": "fragment"}
print(f"by hand   {5300 / 732 * 8:.1f}")
print(f"catalogue {machine('p100').balance('float64'):.1f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# While a P100 moves one double, it could do **58 flops**. A program that does fewer leaves its arithmetic units idle for part of the time.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which P100?** 5,300 GFLOP/s is the figure of the SXM2 module. The PCIe card, with the same 732 GB/s, is rated at
# 4,700 GFLOP/s, which gives a balance of 51. When you quote a balance, quote the exact part.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The balance of today's machines

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "machine": m.name,
            "year": m.year,
            "GB/s": f"{m.bandwidth_gb_s:,.0f}",
            "fp64 TFLOP/s": f"{m.fp64_gflop_s / 1000:.2f}",
            "balance fp64": f"{m.balance('float64'):.0f}",
            "balance fp32": f"{m.balance('float32'):.0f}",
        }
        for m in catalogue().values()
        if m.year >= 2016
    ]
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## "Flops are free", and where that ends
#
# Far below the balance, arithmetic costs next to no time. Four limits:
#
# 1. **Near the balance and above it** it costs again: the knee that you have just measured.
# 2. **Not every flop costs the same.** A division, a root or an exponential costs as much as many additions.
# 3. **Not every machine has many fp64 units.** By their datasheets, a T4 has time for 6 flops a double, an H100 PCIe for 104.
# 4. **In cache** the traffic is cheap, so arithmetic should show sooner.
#
# So: recomputing a value can be cheaper than storing and reading it. Count first.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Where does the knee lie?** The polynomial moves two doubles an element, one in and one out. By its datasheet, with a balance
# of 57, an H200 would bend at 2 × 57 = 114 flops an element. The record knows better:

# %% slideshow={"slide_type": "skip"}
by_flops = {m.cost.flops // (m.cost.bytes // 16): m.median_s / gpu_horner[0].median_s for m in gpu_horner}
most = max(by_flops)
assert by_flops[128] > 1.5 and most / by_flops[most] < 100
Markdown(
    f"At 128 flops an element it takes {by_flops[128]:.2f} times as long as at 2. A line from the origin through the last point, "
    f"{most} flops and {by_flops[most]:.2f} times, meets 1 at **{most / by_flops[most]:.0f} flops**: this loop reaches "
    f"{gpu_horner[-1].gflop_s / machine('h200').fp64_gflop_s:.0%} of the datasheet's flops, and {gpu_horner[0].t_eff_gb_s / machine('h200').bandwidth_gb_s:.0%} "
    "of its bandwidth."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How fast is memory, really?
#
# A datasheet promises; a measurement shows. McCalpin's STREAM times four loops on long vectors:
#
# | name | loop | bytes an element (fp64) | flops |
# |---|---|---|---|
# | copy | `out = a` | 8 read + 8 written = 16 | 0 |
# | scale | `out = s * a` | 16 | 1 |
# | add | `out = a + b` | 24 | 1 |
# | triad | `out = a + s * b` | 24 | 2 |
#
# The best copy or triad is our **T_peak**: the ceiling of loops that read *and* write.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## T_peak of this CPU

# %% slideshow={"slide_type": "-"}
stream = peak.stream(samples=12)
t_peak = stream.t_peak_gb_s

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {"loop": m.label, "time": bench.format_time(m.median_s), "GB/s": f"{m.t_eff_gb_s:.1f}"}
        for m in stream.measurements
    ],
    stream.caption(),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Live* numbers, as all of "this CPU". Where a line says C: compiled Python and compiled C wait for the same memory.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why can a copy beat a triad on a CPU?** Before many a CPU overwrites part of a cache line, it reads the line
# (*write-allocate*): a triad then moves 32 bytes for the 24 that we count, and stops at 24 / 32 = 75 % of what memory does. Some recent ones avoid it. A
# copy may be compiled to `memcpy`, which for long vectors can write past the cache and skip that read. STREAM does not count
# the hidden read, and neither do we.
#
# **The line in C** is there, where `gcc` with OpenMP is, so that nobody has to believe that Python is not the bottleneck. It
# is compiled with `-O3 -march=native -fopenmp` and takes turns with Numba's loops, sample by sample.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How a GPU is asked
#
# - A GPU runs a **kernel**, one function, in many **threads**.
# - Threads come in **blocks**.
# - All blocks of a **launch**, the call that starts them, are its **grid**.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## T_peak of an H200

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
copies = VARIANTS["copy"].by(CUPY), VARIANTS["copy"].by(CUDA), VARIANTS["copy_two"].by(CUDA)
triad = VARIANTS["triad"].by(CUDA)
dot = VARIANTS["dot"].by(CUDA)
h200_stream = h200.compare(*copies, triad, dot, n=2**30)
h200_peak = peak.recorded_t_peak(h200)  # the best copy or triad
bench.Table(
    [{k.replace("T_eff ", ""): row[k] for k in ("variant", "time", "spread", "T_eff GB/s")} for row in h200_stream.rows()],
    f"2^30 doubles. {h200.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
one, two = (h200_stream[k].t_eff_gb_s for k in copies[1:])
read_gb_s, promised = h200_stream[dot].t_eff_gb_s, machine("h200").bandwidth_gb_s
assert one < two < h200_peak < read_gb_s < promised
Markdown(
    f"Datasheet: {promised:,.0f} GB/s. Best copy or triad: **T_peak = {h200_peak:,.0f} GB/s**. The dot only reads, and exceeds it: "
    f"**read-only bandwidth**, {read_gb_s:,.0f}."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes for the two tables. Expected question: why not the datasheet's figure as the bound? Because none of our
# > loops reaches it, not even one that only reads. A bound that can be reached is a fairer judge. It is fair to loops of its kind only: time a
# > dot or a sum against the read-only bandwidth. Why a dot is faster than a triad on the H200, and not on an H100, our counters
# > do not say. Two doubles a thread copy faster
# > than one: lecture 3 asks why.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_cache = viz.Prediction(
    "01-caches",
    "One core copies 256 KiB with NumPy, instead of many MiB: its bandwidth will be …",
    ["the same", "several times higher", "several times lower"],
)
guess_cache

# %% slideshow={"slide_type": "skip"}
big = VectorProblem.random(peak.stream_size(bench.cpu().llc_bytes))
sweep_n = [2**e for e in range(10, big.a.size.bit_length())]
sweep = {
    name: [
        bench.measure(fn, big.a[:m], big.out[:m], cost=cost.copy(m), samples=7)
        for m in sweep_n
    ]
    for name, fn in {"NumPy, one core": reference.copy, "Numba, all cores": cpu_numba.copy}.items()
}

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Size decides what you measure

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.t_eff_sweep(
    sweep,
    t_peak_gb_s=t_peak,
    caches=[("last-level cache", bench.cpu().llc_bytes)],
    note=this_machine,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
cached, last = sweep["NumPy, one core"][sweep_n.index(2**15)], sweep["NumPy, one core"][-1]
assert cached.cost.bytes_read == 256 * 1024
guess_cache.reveal(
    f"one core copies 256 KiB at {cached.t_eff_gb_s:.0f} GB/s and {last.cost.bytes_read >> 20} MiB at {last.t_eff_gb_s:.0f} GB/s"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Read the figure from right to left.** At the right, arrays are longest: where they exceed the last-level cache (the dotted
# line), this is memory. Moving left, they fit in the last-level cache, then in L2, then in L1. At the far left bandwidth
# falls: a call takes a fixed time, and little work does not hide it. The parallel loop also wakes threads, which takes time.
#
# The rule for every measurement in this course: *choose arrays much larger than the last-level cache, or say that you
# did not.* Each `Measurement` says which.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The same sweep on two GPUs

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(
    lambda found: viz.t_eff_sweep(
        found.select(copies[0], copies[2], triad, shape=None),
        t_peak_gb_s=peak.recorded_t_peak(found),
        caches=[(f"L2, {found.device.llc_bytes >> 20} MiB", found.device.llc_bytes)],
        note=found.origin,
    ),
    bench.records("vector"),
)


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def start_and_hidden(what):
    """Return the shortest time of all sizes, and the most bytes that were moved in about that time."""
    ms = [m for m in h200.all(what) if "n" in m.parameters]
    start = min(m.median_s for m in ms)
    return start, max(m.cost.bytes for m in ms if m.median_s < 1.1 * start)


(cupy_s, _), (numba_s, hidden) = start_and_hidden(copies[0]), start_and_hidden(copies[1])
in_l2 = [m for m in h200.all(copies[1]) if "n" in m.parameters and m.cost.bytes < h200.device.llc_bytes]
assert max(m.t_eff_gb_s for m in in_l2) < h200_peak  # no peak at the edge of L2
Markdown(
    f"On the H200, a call by CuPy takes at least {cupy_s * 1e6:.0f} µs, a launch from Numba {numba_s * 1e6:.0f} µs: up to {hidden / 1e6:.0f} MB you time "
    "Numba's launch, not the memory. So the line has no peak where the arrays fit in L2."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which number do we report?
#
# Times scatter: what disturbs a run makes it slower.
#
# - The **mean** follows every outlier.
# - The **median** is what you typically get: half of the runs are faster.
# - The **minimum** is the run that was disturbed least.
#
# We report the median with its spread, for T_peak and T_eff alike, and keep every sample.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Every sample, in order

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
p = big
noisy = bench.measure(
    cpu_numba.triad, p.a, p.b, p.s, p.out, cost=cost.triad(p.a.size), samples=40, name="40 triads, this CPU"
)
quiet = h200.one(triad, n=2**30)
viz.samples([noisy, quiet], title="", note=f"Left: {this_machine}\nRight: {h200.origin}")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Ask: which of the three lines would you put in a paper, and which one would your competitor put there?

# %% slideshow={"slide_type": "skip"}
# Wrong ways to time, recorded beside the right ones: on GPUs, by `course bench honest --record`.
from course_pkg.bench import pitfalls
from course_pkg.core import find_machine
from course_pkg.vector import here, suite_honest

honest = bench.records("honest")
wrong_right = {found.device.name: pitfalls.pairs(found.measurements) for found in honest}
of_h200 = {pair.pitfall.name: pair for pair in wrong_right["NVIDIA H200"]}
no_wait = of_h200["no_wait"]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Time it honestly
#
# The usual way to time a function in Python. Here, `copy` runs on an H200: it reads 1 GiB and writes 1 GiB. It has been called before.
#
# ```python
# start = time.perf_counter()
# copy(a, out)
# seconds = time.perf_counter() - start
# print(f"{(a.nbytes + out.nbytes) / seconds / 1e9:,.0f} GB/s")
# ```

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_clock = viz.Prediction(
    "01-clock",
    f"The datasheet promises {promised:,.0f} GB/s. A copy on an H200, timed like this, prints …",
    ["clearly less than T_peak", "about T_peak", "more than the datasheet promises"],
)
guess_clock

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Wrong clocks, right clocks

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.wrong_right(
    wrong_right,
    bounds={name: m.bandwidth_gb_s for name in wrong_right if (m := find_machine(name))},
    note="\n".join(found.origin for found in honest),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_clock.reveal(
    f"{no_wait.wrong.t_eff_gb_s:,.0f} GB/s in {bench.format_time(no_wait.wrong.median_s)}: the call returned before the "
    f"GPU was done; events say {bench.format_time(no_wait.right.median_s)}"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the question. Most say "less". A launch is *asynchronous*: the call puts the kernel in a queue and
# > returns, so the clock has timed Python. Then go down the figure. Right of the dashed line no number can be that of the memory. Left of it a wrong number
# > looks like a bad kernel, and is believed. The copies' row is of the link between host and GPU, not of the GPU's memory.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The same, as a table.** Without a wait a program looks too good, and so it does in a cache. Most other pitfalls add what is not the
# kernel, so that it looks too slow.

# %% slideshow={"slide_type": "skip"}
for found in honest:
    display(bench.Table([pair.row() for pair in pitfalls.pairs(found.measurements)], found.origin))


# %% [markdown] slideshow={"slide_type": "skip"}
# **What to do about each.**
#
# - *Without a wait.* A launch is **asynchronous**: Python puts the kernel in the GPU's queue and goes on. Call `cuda.synchronize()` before you
#   read the host's clock, or let the GPU stamp **events**, which stand in the queue before and behind the kernel.
# - *The first call* compiles. Call once, check the result, and time the calls after it.
# - *The host's clock* and *events around one launch* both time Python when a launch takes longer than its kernel. Give the GPU
#   other work first, queue all calls behind it, and put the events around them: `bench.measure(…, hold=True)` does so.
# - *Arrays in a cache* show the cache. Take arrays that exceed it, or say that you did not.
# - *With its copies* a kernel is as slow as the link to the GPU. Copy once, compute often, and report both.
# - *Copies to a GPU* go through a buffer of the driver when the system may move the host's memory elsewhere. **Pinned** memory stays where it
#   is, and the GPU reads it by itself (`cuda.pinned_array`).
# - *An idle GPU* may drop its clocks. The recorded ones kept theirs through a rest of two seconds, and were as fast after it as at work: here,
#   this pitfall did no harm. Let a GPU that you do not know work first. `nvidia-smi` tells the clocks:

# %% slideshow={"slide_type": "skip"}
def clock(m, which):
    """Return a clock that a measurement kept, or that nobody told it."""
    return f"{m.observed[which]:,} MHz" if which in m.observed else "unknown"


idle = {name: next(pair for pair in found if pair.pitfall.name == "idle_clock") for name, found in wrong_right.items()}
bench.Table(
    [
        {"device": name, "GPU": when, "multiprocessors": clock(m, "sm_mhz"), "memory": clock(m, "memory_mhz")}
        for name, pair in idle.items()
        for when, m in (("after a rest", pair.wrong), ("at work", pair.right))
    ]
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The same on your CPU.** Some pitfalls need no GPU. The last one is new: the result of `a + s * b` is a new array, and the system must find
# memory for it at each call. This runs on your machine, now:

# %% slideshow={"slide_type": "skip"}
bench.Table([measure().row() for measure in suite_honest.on_cpu(big.a.size).values()], this_machine)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Defend a T_peak: the H200's

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
streams_of_h200 = [m for m in h200.measurements if m.operation in ("copy", "triad") and "n" in m.parameters]
bench.defend(h200_peak, streams_of_h200)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. A T_peak is a claim by which everything else is judged, so it must stand a sceptic's questions. Ask
# > which of them the room would have forgotten. In the laboratory each learner defends a T_peak of their own.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One heat step, four statements
#
# Heat in a plate, with a heat capacity `Cp` that varies from point to point, as physics writes it:
#
# ```python
# qx   = -lam * diff(T, axis=x) / h           # flux
# qy   = -lam * diff(T, axis=y) / h
# dTdt = -(diff(qx, x) + diff(qy, y)) / h / Cp   # what flows in, heats
# out  = T + dt * dTdt                        # one step in time
# ```
#
# Each line is one loop over the whole plate. How many *passes* over memory, arrays read or written, is that?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Eleven passes where three suffice

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("heat_passes.svg"),
    "Grid of four statements against six arrays with a mark for each read and write: 11 passes. "
    "Below it the fused step: reads T and Cp, writes out: 3 passes.",
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_paradox = viz.Prediction(
    "01-paradox",
    "Fused into one loop, the step moves 3 passes instead of 11. Its memory throughput, in GB/s, will be …",
    ["about 3.7 times higher", "hardly different", "about 3.7 times lower"],
)
guess_paradox

# %% slideshow={"slide_type": "skip"}
side = 2 ** (peak.stream_size(bench.cpu().llc_bytes).bit_length() // 2)  # fields that exceed the caches
heat = HeatProblem.random((side, side))
out, work = np.empty_like(heat.T), stencil_reference.work_arrays_2d(heat.T)


def four_statements(*args):
    stencil_cpu.diffusion_step_2d_four_statements(*args, work)


oracle = np.empty_like(heat.T[:65])  # of the first rows: NumPy takes its time
stencil_reference.diffusion_step_2d(heat.T[:65], heat.Cp[:65], heat.lam, heat.dt, heat.h, oracle)

# %% slideshow={"slide_type": "skip"}
T_flat, out_flat = heat.T.reshape(-1), out.reshape(-1)
steps = bench.compare(
    {"a copy": cpu_numba.copy, "four statements": four_statements, "fused": stencil_cpu.diffusion_step_2d},
    *heat.arguments(),
    out,
    arguments={"a copy": (T_flat, out_flat)},  # taking turns with the steps, it bounds them under the same conditions
    check=dict.fromkeys(
        ("four statements", "fused"), lambda: np.testing.assert_allclose(out[:64], oracle[:64], rtol=1e-12)
    ),
    cost={
        "a copy": cost.copy(T_flat.size),
        "four statements": stencil_cost.diffusion_step_2d_four_statements(heat.T.shape),
        "fused": stencil_cost.diffusion_step(heat.T.shape),
    },
    samples=8,
)
steps = bench.Comparison(steps.measurements, steps["a copy"].t_eff_gb_s)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One heat step on this CPU

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.bars(steps, note=f"{side} × {side}. {this_machine}")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
speed_up = steps["four statements"].median_s / steps["fused"].median_s
guess_paradox.reveal(
    f"{steps['four statements'].throughput_gb_s:.0f} GB/s before, {steps['fused'].throughput_gb_s:.0f} GB/s after, "
    f"and {speed_up:.1f} times faster; 11 / 3 = {11 / 3:.1f}"
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The paradox: fewer bytes, no more throughput, faster

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
four_steps = STENCILS["diffusion_step_2d_four_statements"]
heat_steps = four_steps.by(CUPY), four_steps.by(CUDA), STENCILS["diffusion_step_2d"].by(CUDA)
h200_steps = h200_stencil.compare(*heat_steps, t_peak_gb_s=h200_peak, threads_per_block=None)
viz.on_each(
    lambda found: viz.bars(
        found.compare(
            *heat_steps,
            t_peak_gb_s=peak.recorded_t_peak(bench.recorded("vector", found.device.slug)),
            threads_per_block=None,
        ),
        note=f"16384 × 16384.\n{found.origin}",
    ),
    bench.records("stencil"),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
arrays, four, fused = h200_steps.measurements
Markdown(
    f"On the H200, from four kernels to one, throughput even falls ({four.throughput_gb_s:,.0f} to "
    f"{fused.throughput_gb_s:,.0f} GB/s), and the step is **{four.median_s / fused.median_s:.1f} times faster**."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes with the three slides before. The wrong prediction is "much higher: it is optimised, so it must use the
# > memory better". Total throughput says how busy the memory is, not how useful. A program that moves everything twice has
# > a splendid throughput. CuPy's array statements move 42 passes, 14 times what is needed, at more than four fifths of T_peak.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Count what *must* move
#
# - $D_u$, footprint of the **unknown fields**, in bytes: they depend on their own history; a step reads the old and
#   writes the new.
# - $D_k$, footprint of the **known fields**: they do not change; a step reads them.
#
# $$ A_\text{eff} = 2\,D_u + D_k \qquad\qquad T_\text{eff} = \frac{A_\text{eff}}{t_\text{it}} $$
#
# The heat step: $D_u$ is `T`, $D_k$ is `Cp`. Three passes, whatever the program does.
#
# The problem fixes $A_\text{eff}$: $T_\text{eff}$ rises only when time falls. T_peak is its ceiling where a step reads and writes.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## T_eff of the fused step

# %% slideshow={"slide_type": "-"}
step = stencil_cost.diffusion_step((16384, 16384))
print(f"D_u    = {step.unknown_bytes / 1e9:6.2f} GB")
print(f"D_k    = {step.known_bytes / 1e9:6.2f} GB")
print(f"A_eff  = {step.a_eff_bytes / 1e9:6.2f} GB")
print(f"t_it   = {fused.median_s * 1e3:6.2f} ms, recorded on the H200")
print(f"T_eff  = {step.t_eff_gb_s(fused.median_s):6,.0f} GB/s")
print(f"T_peak = {h200_peak:6,.0f} GB/s")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## What T_eff assumes
#
# 1. the solver is **iterative and stencil-based**: each step visits all points;
# 2. the problem is **much larger than the caches**: each step starts from memory;
# 3. there is no **time blocking**, several steps in one pass.
#
# It does *not* assume that every fetched byte is used: who wastes bytes takes longer, and T_eff falls.
#
# Fluxes follow from T: a perfect program never stores them, so **do not count them**. The same holds for residuals, and for
# coefficients that follow from other fields.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. The definition is Räss, Utkin, Duretz, Omlin and Podladchikov's. Ask what happens to T_eff when the grid
# > fits in cache (assumption 2): it may exceed T_peak, and then it does not judge memory.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Bytes that are fetched and not used
#
# Threads run in groups of 32 *lanes*, **warps**. What a warp asks for at once, a *request*, comes from the caches in 32-byte
# pieces, **sectors**: four doubles. What does this kernel ask for?

# %% slideshow={"slide_type": "-"}
@cuda.jit
def take(a, stride, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[stride * i]


# %% slideshow={"slide_type": "skip"}
from course_pkg.witness import record

traffic = record.recorded(record.TRAFFIC)
# The course's SIMT interpreter runs the kernel for all threads at once and counts what the hardware would count.
numbers, taken = np.arange(32 * 1024, dtype=np.float64), np.empty(1024)
strides = {stride: simt.profile(take[8, 128], numbers, stride, taken) for stride in (1, 2, 4, 8, 32)}

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_stride = viz.Prediction(
    "01-stride",
    "As many doubles, but every 32nd instead of every one: how many times the bytes does memory send?",
    ["4 times", "8 times", "32 times"],
)
guess_stride

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Sectors: what a warp asks for, and what it gets

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
line = next(where for where, counts in strides[1].by_line.items() if counts.global_load)
viz.slider(
    lambda stride: viz.access_strip(strides[stride].accesses(line)[1]),
    strides,
    label="stride, in doubles",
    start=2,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
per_request = {stride: p.global_load.sectors_per_request for stride, p in strides.items()}
assert per_request[1] == 8 and per_request[4] == per_request[8] == per_request[32] == 32
Markdown(f"{per_request[1]:.0f} sectors a request at stride 1; from stride 4 on, each lane has a sector of its own: **{per_request[32]:.0f}**.")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What memory sends

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
far = {k: traffic.counters[f"vector_copy_strided_{k}_large"] for k in (1, 2, 4, 8, 16, 32, 64)}
sent = {k: counted["dram__bytes_read.sum"] for k, counted in far.items()}
useful = {k: 2**24 * 16 / counted["gpu__time_duration.sum"] for k, counted in far.items()}  # bytes a nanosecond: GB/s
bench.Table(
    [
        {"stride": k, "from memory": f"{sent[k] / 1e6:,.0f} MB", "times the least": f"{sent[k] / sent[1]:.1f}", "useful GB/s": f"{useful[k]:,.0f}"}
        for k in (1, 4, 8, 32, 64)
    ],
    f"2²⁴ doubles that lie a stride apart, copied. Useful: 8 bytes read and 8 written. {traffic.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert 7.8 < sent[8] / sent[1] < 8.2 and sent[64] < 1.05 * sent[8] and useful[8] > useful[16] > useful[32] > useful[64]
guess_stride.reveal(f"{sent[32] / sent[1]:.0f} times: this memory is fetched by 64 bytes, of which 8 are used", how="Counted")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Most say 32 times; who counts sectors says 4. L1 asks L2 for sectors of 32 bytes, but an H200's memory is read
# > by 64: so bytes grow until stride 8. From 8 to 64 they stay, and the useful bandwidth still falls. Why, these counters do not say: we do not
# > know. For this kernel, and for nearly all that are recorded, the interpreter's counts of sectors
# > equal the H200's counters (`course verify counters`).

# %% [markdown] slideshow={"slide_type": "skip"}
# The profile counts requests and sectors, the flops and the lanes at work, and shows them beside the source:

# %% slideshow={"slide_type": "skip"}
strides[2]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The roofline of an H200
#
# Intensity = flops / bytes moved. Attainable rate = min(peak, intensity × T_peak).

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
roof = machine("h200").measured(h200_peak)
viz.roofline_explorer(roof)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Williams, Waterman and Patterson, 2009. Move the slider from a
# > copy to a matrix product. The knee is the balance over the bytes of a number, computed with the measured T_peak.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Measured kernels under the roof

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
grid = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None}
laplacians = h200_stencil.compare(
    STENCILS["laplacian_naive"].by(CUDA), STENCILS["laplacian_flat"].by(CUDA), t_peak_gb_s=h200_peak, **grid
)
naive, flat = laplacians.measurements
kernels = [
    ("triad", h200_stream[triad]),
    ("7-point Laplacian, naive", naive),
    ("Horner, degree 32", gpu_horner[5]),
    ("Horner, degree 128", gpu_horner[-1]),
]
viz.roofline(roof, [(k, m.cost.intensity, m.gflop_s) for k, m in kernels])

# %% [markdown] slideshow={"slide_type": "-"}
# The *naive* Laplacian (512³) computes addresses with 64-bit integers, the *flat* one with 32-bit integers.

# %% [markdown] slideshow={"slide_type": "skip"}
# Degree 128 stays below the flat roof. Its multiply-adds form one chain an element, in which each waits for the one before; whether that
# is the reason, we have not measured. The roofline is a bound, not a promise.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What is left to gain?
#
# A memory-bound step takes at least $A_\text{eff} / T_\text{peak}$. The remaining gain is at most
# $\;t_\text{it} \,/\, (A_\text{eff} / T_\text{peak}) \;=\; T_\text{peak} / T_\text{eff}$.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
gain_rows = [
    {
        "on the H200": m.label,
        "time": bench.format_time(m.median_s),
        "T_eff GB/s": f"{m.t_eff_gb_s:,.0f}",
        "remaining gain": f"{h200_peak / m.t_eff_gb_s:.2f}×",
    }
    for m in (arrays, four, fused, naive, flat)
]
bench.Table(gain_rows, f"T_peak {h200_peak:,.0f} GB/s. {h200_stencil.origin}")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. On the H200 the naive 7-point stencil could still become more than twice as fast, though its algorithm moves no byte
# > too many. Lecture 3 finds a third clock that is longer than memory's, and takes the stencil near the bound.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# The figures above that say *live* come from your machine. Now change their cells; one thing at a time, and predict first.
#
# **Step 1. Find the knee of your machine.** From which degree on does the line leave 1? Compare it with the place where the
# two clocks agree. (The time has doubled at twice that place.)

# %% slideshow={"slide_type": "skip"}
rate = max(m.gflop_s for m in live_flops)
knee = rate / live_flops[0].t_eff_gb_s * 16  # bytes an element: one read, one write
Markdown(
    f"The most that this loop computes here is {rate:.0f} GFLOP/s, the most that it moves {live_flops[0].t_eff_gb_s:.0f} "
    f"GB/s. The two clocks agree at **{knee:.0f} flops an element**, degree {knee / 2:.0f}."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. Halve the bytes.** Predict the time of a triad in `float32` against `float64`, then run.

# %% slideshow={"slide_type": "skip"}
n = p.a.size
single = VectorProblem.random(n, dtype="float32")
precision = bench.compare(
    {"float64": cpu_numba.triad, "float32": cpu_numba.triad},
    arguments={"float64": (p.a, p.b, p.s, p.out), "float32": (single.a, single.b, single.s, single.out)},
    cost={"float64": cost.triad(n), "float32": cost.triad(n, "float32")},
    t_peak_gb_s=t_peak,
    samples=8,
)
precision

# %% [markdown] slideshow={"slide_type": "skip"}
# Half the bytes: did the time halve, too? Then the throughput stayed, and cannot tell you that you improved.
#
# **Step 3. Write statements, count passes.** NumPy's own triad takes two statements, `out = s * b` and `out += a`.
# Count its passes, predict how much slower it is than the fused loop, then run.

# %% slideshow={"slide_type": "skip"}
bench.compare(
    {"NumPy, two statements": reference.triad, "Numba, one loop": cpu_numba.triad},
    p.a,
    p.b,
    p.s,
    p.out,
    cost={"NumPy, two statements": cost.triad_two_passes(n), "Numba, one loop": cost.triad(n)},
    t_peak_gb_s=t_peak,
    samples=8,
)

# %% [markdown] slideshow={"slide_type": "skip"}
# NumPy's statements also run on one core. Which part of the difference is passes, which part is cores? Set the environment
# variable `NUMBA_NUM_THREADS=1` before you start JupyterLab, and see.
#
# **Step 4. Break an assumption.** Run the same compiled heat step on a grid that fits in a cache. T_eff may exceed T_peak
# although the program is the same: assumption 2 is broken, and the number no longer judges memory.

# %% slideshow={"slide_type": "skip"}
small = HeatProblem.random((512, 512))
small_out = np.empty_like(small.T)
in_cache = bench.measure(
    stencil_cpu.diffusion_step_2d, *small.arguments(), small_out, cost=stencil_cost.diffusion_step(small.T.shape)
)
print(f"512 × 512: T_eff {in_cache.t_eff_gb_s:.1f} GB/s; {side} × {side}: {steps['fused'].t_eff_gb_s:.1f} GB/s")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. If you have an NVIDIA GPU**, this cell measures yours beside the recorded one; without one, it says so.

# %% slideshow={"slide_type": "skip"} tags=["live"]
bench.live(
    here.on_this_gpu,
    [found.one(what, n=2**26) for found in bench.records("vector") for what in (copies[2], triad)],
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Defend your T_peak.** This measures copy and triad over sizes, on your GPU if you have one, else on your CPU.

# %% slideshow={"slide_type": "skip"}
mine = list(here.sweep())
viz.t_eff_sweep(
    {operation: [m for m in mine if m.operation == operation] for operation in ("copy", "triad")},
    caches=[("last-level cache", mine[0].device.llc_bytes)],
    note=f"Measured on this machine's {mine[0].device.name}, {date.today()}.",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# State a number. The line below takes the peak of the figure. Predict which questions it fails, and run it. Then change the line until the
# verdict is that it is defended. (Hint: `mine[-2]` and `mine[-1]` are a copy and a triad on vectors that exceed the caches.)

# %% slideshow={"slide_type": "skip"}
my_t_peak = max(m.t_eff_gb_s for m in mine)
bench.defend(my_t_peak, mine)

# %% [markdown] slideshow={"slide_type": "skip"}
# If a question stays unknown, answer it yourself: look up the bandwidth of your memory, and pass `datasheet_gb_s=`. What would you say to somebody
# who measured twice your number on the same machine?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit
#
# When T_eff is close to T_peak, a better *program* of the same bytes gains little on this machine. What would it take?
#
# - **Fewer passes an iteration**: fuse more, keep results on the chip (lectures 3 and 5).
# - **Better order of the data**, so that no fetched byte is wasted (lecture 4).
# - **Fewer iterations, or several in one pass**: other algorithms (lectures 5 and 6).
# - **More memories**: several GPUs (lecture 7).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
summary = [
    ("this CPU", steps.t_peak_gb_s, steps["four statements"]),
    ("this CPU", steps.t_peak_gb_s, steps["fused"]),
    ("H200, recorded", h200_peak, four),
    ("H200, recorded", h200_peak, fused),
]
bench.Table(
    [
        {
            "heat step": "fused" if m.cost.redundancy == 1 else "four loops",
            "where": where,
            "arrays read or written": f"{3 * m.cost.redundancy:.0f}",
            "throughput GB/s": f"{m.throughput_gb_s:,.0f}",
            "T_eff GB/s": f"{m.t_eff_gb_s:,.0f}",
            "of T_peak": f"{m.t_eff_gb_s / t:.0%}",
        }
        for where, t, m in summary
    ],
    f"Live: {bench.cpu().name}, {date.today()}. Recorded: {h200_stencil.device.name}, by `course bench stencil`.",
)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# Memory-bound: the bytes that move set the time, and not the flops. Count what must move.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 2**, `exercises/02_memory_bound`, 20 points: the balance of a datasheet, a triad kernel, A_eff of a heat step
#   and its fusion, T_eff from a timing, what is left to gain.
# - **Next**: lecture 3 takes the naive Laplacian from less than half of an H200's T_peak towards the bound, with short offsets, registers and pairs.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Read
#
# - J. D. McCalpin, *Memory bandwidth and machine balance in current high performance computers*, IEEE TCCA Newsletter, 1995: STREAM.
# - W. A. Wulf, S. A. McKee, *Hitting the memory wall*, ACM SIGARCH Computer Architecture News 23(1), 1995.
# - S. Williams, A. Waterman, D. Patterson, *Roofline: an insightful visual performance model for multicore architectures*,
#   Communications of the ACM 52(4), 2009.
# - L. Räss, I. Utkin, T. Duretz, S. Omlin, Y. Podladchikov, *Assessing the robustness and scalability of the accelerated
#   pseudo-transient method*, Geoscientific Model Development 15, 2022. It defines T_eff.
