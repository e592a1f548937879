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
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. What is in the notebook only is not part of the talk. Timing: surprise 5,
# > two clocks and balance 8, measuring the peak 6, honest clocks 6, the heat step and T_eff 10, unused bytes 5, what is left and summary 5.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **compute** the balance of a machine from its datasheet,
# - **measure** the bandwidth it really has, and defend the number,
# - **count** the bytes that an algorithm must move,
# - **judge** a program by its effective memory throughput, T_eff,
# - **say** how much faster it could still become.
#
# It builds on lecture 1: kernel, thread, warp, launch.

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only: what this lecture uses of the package.
from datetime import date

import numpy as np
from IPython.display import Markdown, display

from course_pkg import bench, cuda, simt, viz
from course_pkg.core import Library, catalogue, find_machine, machine, short_name
from course_pkg.paths import figure
from course_pkg.stencil import cost as stencil_cost
from course_pkg.stencil import cpu_numba as stencil_cpu
from course_pkg.stencil import reference as stencil_reference
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS as STENCILS
from course_pkg.vector import cost, cpu_numba, peak, reference
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.variants import VARIANTS

# %% slideshow={"slide_type": "skip"}
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
gpus = {short_name(found.device.name): found for found in bench.records("vector")}  # each GPU that was recorded
gpu_stencils = {short_name(found.device.name): found for found in bench.records("stencil")}
t_peaks = {gpu: peak.recorded_t_peak(found) for gpu, found in gpus.items()}
h200, h200_peak = gpus["H200"], t_peaks["H200"]
this_machine = f"Live, on this CPU: {bench.cpu().name}, {bench.cpu().units} cores, {date.today()}."
big = VectorProblem.random(peak.stream_size(bench.cpu().llc_bytes))  # vectors that exceed this CPU's caches

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How much arithmetic is too much?
#
# Each number of a long vector is read, worked on, and written: 8 bytes in, 8 bytes out. The work is a polynomial, by Horner's rule:
#
# ```python
# for i in prange(a.size):        # all cores
#     y = 1
#     for _ in range(degree):     # 2 flops each
#         y = 1 + a[i] * y
#     out[i] = y
# ```
#
# Degree 1 does 2 flops per element, degree 16 does 32, degree 128 does 256. The bytes stay the same.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_flops = viz.Estimate(
    "02-flops",
    "On an H200: up to how many flops per element does this loop take at most a tenth longer than with 2 flops?",
    2,
    2000,
    "flops",
)
guess_flops

# %% slideshow={"slide_type": "skip"}
# each is compared with NumPy's result before it is timed
live_flops = peak.horner_sweep((1, 8, 32), problem=big, samples=3)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Time against flops

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
horner = VARIANTS["horner"].by(CUDA)
viz.flops_sweep(
    {
        viz.OfDevice("live", viz.THIS_MACHINE): live_flops,
        **{viz.OfDevice(f"{gpu}, recorded", gpu): found.all(horner) for gpu, found in gpus.items()},
    },
    note=f"{this_machine}\n" + bench.origins(found.origin for found in gpus.values()),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
by_flops = {
    gpu: {
        2 * m.parameters["degree"]: m.median_s / found.one(horner, degree=1).median_s
        for m in found.all(horner)
    }
    for gpu, found in gpus.items()
}
flat_to = max(flops for flops, times in by_flops["H200"].items() if times < 1.1)
assert all(by_flops[gpu][flat_to] < 1.1 < by_flops[gpu][2 * flat_to] for gpu in gpus)
guess_flops.reveal(
    flat_to,
    note=f"{by_flops['H200'][flat_to]:.2f} times as long as 2 flops; {2 * flat_to} flops, {by_flops['H200'][2 * flat_to]:.2f} times. "
    f"On the H100, {by_flops['H100'][flat_to]:.2f} and {by_flops['H100'][2 * flat_to]:.2f} times",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the question before. Lecture 0 has shown that some arithmetic costs nothing; how much is the question
# > of this lecture. Take guesses before the run, and let those with the smallest and the largest say why. The *knee* is where the line begins to rise.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two clocks, the slower one counts
#
# A program moves $B$ bytes and does $F$ flops. Both go on at the same time:
#
# $$ t \;\ge\; \max\left( \frac{B}{\text{bandwidth}},\; \frac{F}{\text{peak flop rate}} \right) $$
#
# - **[Memory-bound](glossary.md#memory-bound)**: the first term is larger; arithmetic hides behind traffic.
# - **Compute-bound**: the second is larger; traffic hides behind arithmetic.

# %% slideshow={"slide_type": "skip"}
from course_pkg.cg.variants import VARIANTS as SOLVERS
from course_pkg.stencil.problem import LARGE_EDGE

TWO_KERNELS, iterations = SOLVERS["cg_two_kernel"].by(CUDA), 2
clocks_of_cg = {}  # seconds of one iteration: its bytes at T_peak, its flops at the datasheet's rate
for found in bench.records("cg"):
    moved = found.one(TWO_KERNELS, shape=[LARGE_EDGE] * 3, iterations=iterations).cost
    gpu, rate = short_name(found.device.name), find_machine(found.device.name).fp64_gflop_s
    clocks_of_cg[gpu] = moved.bytes / t_peaks[gpu] / 1e9 / iterations, moved.flops / rate / 1e9 / iterations
assert all(memory_s > 10 * flops_s for memory_s, flops_s in clocks_of_cg.values())

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "one iteration of lecture 5's solver, 1000³ points": f"on an {gpu}",
            "its bytes take": bench.format_time(memory_s),
            "its flops take": bench.format_time(flops_s),
            "so it is": "memory-bound",
        }
        for gpu, (memory_s, flops_s) in sorted(clocks_of_cg.items())
    ]
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. A common wrong idea: "both matter, so time is the sum". It is the sum only where nothing overlaps; the
# > maximum assumes that everything does. By this formula, the knee lies where the two terms are equal. Clocks of the caches and of
# > the *instructions* that are issued come in lecture 3.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Balance: flops for each number moved
#
# $$ \text{balance} = \frac{\text{peak flop rate}}{\text{bandwidth}} \times \text{bytes per number} $$
#
# The [balance](glossary.md#balance) of a Tesla P100 of 2016, in double precision, follows from 5,300 GFLOP/s, 732 GB/s and 8 bytes per number:

# %% slideshow={"slide_type": "fragment"}
print(f"by hand   {5300 / 732 * 8:.1f}")
print(f"catalogue {machine('p100').balance('float64'):.1f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# While a P100 moves one double, it could do **58 flops**. A program that does fewer leaves its arithmetic units idle for part of the time.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which P100?** 5,300 GFLOP/s is the figure of the SXM2 module. The PCIe card, with the same 732 GB/s, is rated at
# 4,700 GFLOP/s, which gives a balance of 51. When you quote a balance, quote the exact part.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_balance = viz.Prediction(
    "02-balance",
    "The P100 of 2016 has time for 58 flops per double moved. The H200 of 2024 has time for …",
    ["clearly fewer", "about as many", "about twice as many", "more than five times as many"],
)
guess_balance

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The memory wall

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.memory_wall(catalogue().values())

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
then, now = machine("p100"), machine("h200")
assert abs(now.balance("float64") / then.balance("float64") - 1) < 0.05
guess_balance.reveal(
    f"{now.balance('float64'):.0f} flops, with {now.fp64_gflop_s / then.fp64_gflop_s:.1f} times the flop rate and "
    f"{now.bandwidth_gb_s / then.bandwidth_gb_s:.1f} times the bandwidth",
    right="about as many",
    how="From the datasheets",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read the figure.** The dashed line is one flop for each number moved. The figure starts in 2008, with a GPU that
# had units for double precision. Peaks of CPUs are at base clock, those of GPUs at boost clock and without tensor cores, as their vendors state them.
#
# Wulf and McKee named the *memory wall* in 1995. They meant the **time of an access**; this course means **bytes per second**.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the question. Drawn from the catalogue in `course_pkg/core/machines.toml`, where each figure names its
# > source. From the C1060 of 2008 to the P100 of 2016 the balance rose more than ninefold. The
# > H200 has the arithmetic of the H100 SXM with 1.4 times its bandwidth. T4 and RTX 4090 lie low because they have few fp64 units: for
# > float32 they would be at 101 and 328.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The balance of today's machines**, from their datasheets:

# %% slideshow={"slide_type": "skip"}
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

# %% [markdown] slideshow={"slide_type": "skip"}
# **"Flops are free", and where that ends.** Far below the balance, arithmetic costs next to no time. Four limits:
#
# 1. **Near the balance and above it** it costs again: the knee.
# 2. **Not every flop costs the same.** A division, a root or an exponential costs as much as many additions.
# 3. **Not every machine has many fp64 units.** By their datasheets, a T4 has time for 6 flops per double, an H100 PCIe for 104.
# 4. **In cache** the traffic is cheap, so arithmetic should show sooner.
#
# So: recomputing a value can be cheaper than storing and reading it. Count first.
#
# **Where should the knee lie?** The polynomial moves two doubles per element, one in and one out. By its datasheet, with a balance
# of 57, an H200 would bend at 2 × 57 = 114 flops per element. The record says otherwise:

# %% slideshow={"slide_type": "skip"}
most = max(by_flops["H200"])
at_most = h200.one(horner, degree=most // 2)
assert by_flops["H200"][128] > 1.5 and most / by_flops["H200"][most] < 100
Markdown(
    f"At 128 flops per element it takes {by_flops['H200'][128]:.2f} times as long as at 2. A line from the origin through the last point, "
    f"{most} flops and {by_flops['H200'][most]:.2f} times, meets 1 at **{most / by_flops['H200'][most]:.0f} flops**: this loop reaches "
    f"{at_most.gflop_s / machine('h200').fp64_gflop_s:.0%} of the datasheet's flops, and "
    f"{h200.one(horner, degree=1).t_eff_gb_s / machine('h200').bandwidth_gb_s:.0%} of its bandwidth."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How fast is memory, really?
#
# A datasheet promises; a measurement shows. McCalpin's STREAM times simple loops on long vectors, and counts each byte that is read or written once.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture([viz.Level(name) for name in ("registers", "L1", "L2", "memory")], "memory")

# %% slideshow={"slide_type": "skip"}
stream = peak.stream(problem=big, samples=4)
t_peak = stream.t_peak_gb_s
LOOPS = {"copy": "out = a", "triad": "out = a + s * b"}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert (cost.copy(1).bytes, cost.triad(1).bytes) == (16, 24)
bench.Table(
    [
        {
            "loop": m.label,
            "does": LOOPS[m.operation],
            "bytes per element": m.cost.bytes // big.a.size,
            "time": bench.format_time(m.median_s),
            "GB/s": f"{m.t_eff_gb_s:.1f}",
        }
        for m in stream.measurements
    ],
    f"Live. {stream.caption()}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# The best copy or triad is our **[T_peak](glossary.md#T_peak)**: the ceiling of loops that read *and* write.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why can a copy beat a triad on a CPU?** Before many a CPU overwrites part of a [cache line](glossary.md#cache-line), it reads the line
# (*write-allocate*): a triad then moves 32 bytes for the 24 that we count, and stops at 24 / 32 = 75% of what memory does. A
# copy may be compiled to `memcpy`, which for long vectors can write past the cache and skip that read. STREAM does not count
# the hidden read, and neither do we.
#
# **The line in C** is there, where `gcc` with OpenMP is, so that nobody has to believe that Python is not the bottleneck. It
# is compiled with `-O3 -march=native -fopenmp` and takes turns with Numba's loops, sample by sample.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## T_peak of two GPUs

# %% slideshow={"slide_type": "skip"}
copies = VARIANTS["copy"].by(CUPY), VARIANTS["copy"].by(CUDA), VARIANTS["copy_two"].by(CUDA)
triad, fused_triad, dot = (
    VARIANTS["triad"].by(CUDA),
    VARIANTS["triad_fused"].by(CUPY),
    VARIANTS["dot"].by(CUDA),
)
streams = {gpu: found.compare(*copies, triad, fused_triad, dot, n=2**30) for gpu, found in gpus.items()}
promised = {gpu: find_machine(found.device.name).bandwidth_gb_s for gpu, found in gpus.items()}

# %% slideshow={"slide_type": "skip"}
from course_pkg.witness import limits
from course_pkg.witness.longest import longest_clock

SHOWN = {"copy": copies[1], "copy_two": copies[2], "triad": triad, "triad_fused": fused_triad, "dot": dot}
LARGE = "vector_{}_large"  # our launches of these loops that Nsight Compute has counted; none is CuPy's
longest = {
    gpu: {name: longest_clock(found, LARGE.format(name), limits.recorded("vector", found.device.slug).stream) for name in SHOWN}
    for gpu, found in gpus.items()
}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def of_the_datasheet(found):
    """Draw what each loop reaches of a GPU's promised bandwidth."""
    gpu = short_name(found.device.name)
    rungs = [
        viz.Rung(what.label, m.t_eff_gb_s / promised[gpu], {"GB/s": f"{m.t_eff_gb_s:,.0f}"}, longest[gpu][name])
        for name, what in SHOWN.items()
        for m in [streams[gpu][what]]
    ]
    note = viz.Note("2³⁰ doubles. Longest clock, on fewer: the bytes at the fastest copy's speed, over the time.", found.origin)
    return viz.ladder_picture(rungs, bound="datasheet", bound_gb_s=promised[gpu], note=note, steps=False, ceiling=True)


viz.on_each(of_the_datasheet, gpus.values())

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert all(
    found[what].t_eff_gb_s <= t_peaks[gpu] < promised[gpu]
    for gpu, found in streams.items()
    for what in (*copies, triad)
)
assert all(found[copies[1]].t_eff_gb_s < found[copies[2]].t_eff_gb_s for found in streams.values())
assert h200_peak < streams["H200"][dot].t_eff_gb_s < promised["H200"]
Markdown(
    f"**T_peak: {t_peaks['H100']:,.0f} GB/s on the H100, {h200_peak:,.0f} on the H200.** "
    "A dot only reads, and is faster still on the H200."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes for the two tables. Expected question: why not the datasheet's figure as the bound? Because none of our
# > loops reaches it, not even one that only reads. A bound that can be reached is a fairer judge. It is fair to loops of its kind only: time a
# > dot or a sum against the read-only bandwidth. A dot is faster than a triad on the H200, and just as fast on an H100: why, our counters
# > do not say. A copy of two doubles per thread is faster than a copy of one: lecture 4 asks why.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The longest clock** of each of our loops is memory's: the time in which the fastest copy would move the bytes, as a share of the time that the loop took.
# Lecture 3 adds the clocks of caches and instructions. On the H200 a copy of one double per thread leaves about a tenth of its time unexplained. Triad and
# dot come to more than 100%: they move bytes faster than a copy does. Nsight Compute counted on 2²⁷ doubles, for the dot on 2²⁸; CuPy's launches it did not count.

# %% slideshow={"slide_type": "skip"}
from course_pkg.witness.cases import large_cases
from course_pkg.witness.clocks import MEMORY
from course_pkg.witness.longest import clocks_in_turn

its_clocks = {
    gpu: {name: clocks_in_turn(found, [LARGE.format(name)], limits.recorded("vector", found.device.slug).stream) for name in SHOWN}
    for gpu, found in gpus.items()
}
its_clocks = {gpu: {name: its for name, its in found.items() if its is not None} for gpu, found in its_clocks.items()}
assert all(its.longest_unit == MEMORY for found in its_clocks.values() for its in found.values())
found_shares = {gpu: {name: round(100 * its.shares[MEMORY]) for name, its in found.items()} for gpu, found in its_clocks.items()}
assert all(set(SHOWN) - set(found) == {"triad_fused"} for found in found_shares.values())
assert all(found["triad"] > 100 < found["dot"] for found in found_shares.values())
assert 87 < found_shares["H200"]["copy"] <= 91 and found_shares["H200"]["copy_two"] > 95
counted_on = {name: large_cases()[LARGE.format(name)].cost.bytes // cost_of(1).bytes for name, cost_of in
              {"copy": cost.copy, "copy_two": cost.copy, "triad": cost.triad, "dot": cost.dot}.items()}
assert counted_on == {"copy": 2**27, "copy_two": 2**27, "triad": 2**27, "dot": 2**28}

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_cache = viz.Estimate(
    "02-caches",
    f"All cores of this CPU stream long vectors at {t_peak:.0f} GB/s. One core alone copies 256 KiB, again and again, with NumPy. How fast?",
    1,
    1000,
    "GB/s",
)
guess_cache

# %% slideshow={"slide_type": "skip"}
sweep_n = [*(2**e for e in range(9, big.a.size.bit_length() - 1, 2)), big.a.size]
sweep = {
    name: [bench.measure(fn, big.a[:m], big.out[:m], cost=cost.copy(m), samples=3) for m in sweep_n]
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
    cached.t_eff_gb_s,
    note=f"the same core copies {last.cost.bytes_read >> 20} MiB at {last.t_eff_gb_s:.0f} GB/s",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes with the question. The rule for every measurement in this course: choose arrays much larger than the last-level
# > cache, or say that you did not. The parallel loop also wakes threads, which takes time: so it is slow on short vectors.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Read the figure from right to left.** At the right, arrays are longest: where they exceed the last-level cache (the dotted
# line), this is memory. Moving left, they fit in the last-level cache, then in [L2](glossary.md#L2), then in [L1](glossary.md#L1). At the far left [bandwidth](glossary.md#bandwidth)
# falls: a call takes a fixed time, and little work does not hide it. Each `Measurement` says whether its arrays exceed the caches.
#
# **The same on two GPUs:**

# %% slideshow={"slide_type": "skip"}
viz.on_each(
    lambda found: viz.t_eff_sweep(
        dict(zip(("copy, CuPy", "copy two", "triad"), found.select(copies[0], copies[2], triad, shape=None).values(), strict=True)),
        t_peak_gb_s=peak.recorded_t_peak(found),
        caches=[(f"L2, {found.device.llc_bytes >> 20} MiB", found.device.llc_bytes)],
        note=found.origin,
    ),
    bench.records("vector"),
)


# %% slideshow={"slide_type": "skip"}
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

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which number do we report?** Times scatter, and three numbers may stand for them.
#
# - The **mean** follows every outlier.
# - The **median** is what you typically get: half of the runs are faster.
# - The **minimum** is the fastest run, which you may never get again.
#
# We report the median with its spread, and keep every sample. Which of the three would you put in a paper, and which one
# would your competitor put there?

# %% slideshow={"slide_type": "skip"}
viz.samples(
    [stream.measurements[1], *(gpus[gpu].one(triad, n=2**30) for gpu in ("H100", "H200"))],
    title="",
    note=f"{this_machine}\n" + bench.origins(found.origin for found in gpus.values()),
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ```python
# start = time.perf_counter()
# copy(a, out)               # by a kernel: 1 GiB read, 1 GiB written
# seconds = time.perf_counter() - start
# print(f"{(a.nbytes + out.nbytes) / seconds / 1e9:,.0f} GB/s")
# ```

# %% slideshow={"slide_type": "-"} tags=["predict", "hide-input"]
guess_clock = viz.Prediction(
    "02-clock",
    f"An H200 has run this copy before. Its T_peak is {h200_peak:,.0f} GB/s, its datasheet promises {promised['H200']:,.0f}. Now it prints …",
    ["clearly below T_peak", "about T_peak", "above the datasheet"],
)
guess_clock

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Wrong clocks, right clocks

# %% slideshow={"slide_type": "skip"}
# Wrong ways to time, recorded beside the right ones: on GPUs, by `course bench honest --record`.
from course_pkg.bench import pitfalls
from course_pkg.vector import here, suite_honest

honest = bench.records("honest")
wrong_right = {found.device.name: pitfalls.pairs(found.measurements) for found in honest}
no_wait = next(pair for pair in wrong_right["NVIDIA H200"] if pair.pitfall.name == "no_wait")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.wrong_right(
    wrong_right,
    bounds={name: m.bandwidth_gb_s for name in wrong_right if (m := find_machine(name))},
    note=bench.origins(found.origin for found in honest),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert no_wait.wrong.t_eff_gb_s > promised["H200"]
guess_clock.reveal(
    f"{no_wait.wrong.t_eff_gb_s:,.0f} GB/s in {bench.format_time(no_wait.wrong.median_s)}: the call returned before the "
    f"GPU was done; events say {bench.format_time(no_wait.right.median_s)}",
    right="above the datasheet",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes with the question. Most say "less". A launch is *asynchronous*: the call puts the kernel in a queue and
# > returns, so the clock has timed Python. *Events* are time stamps that the GPU itself takes. Then go down the figure. Right of the dashed line no number can
# > be that of the memory. Left of it a wrong number looks like a bad kernel, and is believed. The copies' row is of the link between host and GPU, not of the
# > GPU's memory. A T_peak is a claim by which everything else is judged, so it must stand a sceptic's questions: the notebook defends ours, and in the
# > laboratory each learner defends their own.

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
#   read the host's clock, or let the GPU stamp **[events](glossary.md#event)**, which stand in the queue before and behind the kernel.
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
idle = {
    name: next(pair for pair in found if pair.pitfall.name == "idle_clock")
    for name, found in wrong_right.items()
}


def clock(m, which):
    """Return a clock that a measurement kept, or that nobody told it."""
    return f"{m.observed[which]:,} MHz" if which in m.observed else "unknown"


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
bench.Table([measure().row() for measure in suite_honest.on_cpu(problem=big, samples=2).values()], this_machine)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Defend a T_peak: the H200's.** These are the questions of a sceptic. In the laboratory you defend a T_peak of your own.

# %% slideshow={"slide_type": "skip"}
streams_of_h200 = [m for m in h200.measurements if m.operation in ("copy", "triad") and "n" in m.parameters]
bench.defend(h200_peak, streams_of_h200)

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
# Each line is one loop over the whole plate. A [pass](glossary.md#pass) is one array, read or written once by such a loop. How many passes is that?

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
    "02-paradox",
    "Fused into one loop, the step moves 3 passes instead of 11. Its throughput, all bytes it moves per second, will be …",
    ["about 3.7 times higher", "about twice as high", "hardly different", "about 3.7 times lower"],
)
guess_paradox

# %% slideshow={"slide_type": "skip"}
edge = 2 ** (big.a.size.bit_length() // 2)  # fields that exceed the caches
heat = HeatProblem.random((edge, edge))
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
    # taking turns with the steps, the copy bounds them under the same conditions
    arguments={"a copy": (T_flat, out_flat)},
    check=dict.fromkeys(
        ("four statements", "fused"), lambda: np.testing.assert_allclose(out[:64], oracle[:64], rtol=1e-12)
    ),
    cost={
        "a copy": cost.copy(T_flat.size),
        "four statements": stencil_cost.diffusion_step_2d_four_statements(heat.T.shape),
        "fused": stencil_cost.diffusion_step(heat.T.shape),
    },
    samples=3,
    warmup=1,
)
steps = bench.Comparison(steps.measurements, steps["a copy"].t_eff_gb_s)

# %% slideshow={"slide_type": "skip"}
four_steps = STENCILS["diffusion_step_2d_four_statements"]
heat_steps = four_steps.by(CUPY), four_steps.by(CUDA), STENCILS["diffusion_step_2d"].by(CUDA)
on_gpus = {
    gpu: found.compare(*heat_steps, t_peak_gb_s=t_peaks[gpu], threads_per_block=None)
    for gpu, found in gpu_stencils.items()
}
arrays, four, fused = on_gpus["H200"].measurements

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The heat step, timed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
AREAS = ("array statements", "four loops", "fused")


def areas_of(found):
    """Draw the programs of a GPU as areas."""
    gpu = short_name(found.device.name)
    programs = dict(zip(AREAS, on_gpus[gpu].measurements, strict=True))
    return viz.areas_picture(programs, t_peak_gb_s=t_peaks[gpu], note=viz.Note("16384 × 16384.", found.origin))


here_too = dict(zip(AREAS[1:], steps.measurements[1:], strict=True))  # without array statements
areas = {
    "this CPU": viz.areas_picture(here_too, t_peak_gb_s=steps.t_peak_gb_s, note=f"{edge} × {edge}. {this_machine}"),
    "two GPUs": viz.on_each(areas_of, gpu_stencils.values()),
}
viz.slider(areas.get, areas, label="processor", start="two GPUs")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
speed_up = steps["four statements"].median_s / steps["fused"].median_s
on_h100 = on_gpus["H100"].measurements
assert all(0.9 < one.throughput_gb_s / many.throughput_gb_s < 1.1 for _, many, one in (on_h100, (arrays, four, fused)))
guess_paradox.reveal(
    f"{four.median_s / fused.median_s:.1f} times as fast on the H200, {on_h100[1].median_s / on_h100[2].median_s:.1f} on the H100, "
    f"{speed_up:.1f} on this CPU",
    right="hardly different",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes with the three slides before. The wrong prediction is "much higher: it is optimised, so it must use the
# > memory better". Total throughput says how busy the memory is, not how useful: needless bytes
# > count in it as well. CuPy's array statements move 42 passes, 14 times what is needed, at more than four fifths of T_peak.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Count what *must* move
#
# [A_eff](glossary.md#A_eff) is what must move, [T_eff](glossary.md#T_eff) the throughput that it gives:
#
# - $D_u$, footprint of the **unknown [fields](glossary.md#field)**, in bytes: they depend on their own history; a step reads the old and
#   writes the new.
# - $D_k$, footprint of the **known fields**: they do not change; a step reads them.
#
# $$ A_\text{eff} = 2\,D_u + D_k \qquad\qquad T_\text{eff} = \frac{A_\text{eff}}{t_\text{it}} $$
#
# The heat step: $D_u$ is `T`, $D_k$ is `Cp`. Three passes, whatever the program does.
#
# The problem fixes A_eff: T_eff rises only when time falls, and T_peak is its ceiling.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## T_eff of the fused step, and what it assumes

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
must = stencil_cost.diffusion_step((16384, 16384))
assert must.a_eff_bytes == 2 * must.unknown_bytes + must.known_bytes == fused.cost.a_eff_bytes
bench.Table(
    [
        {
            "16384 × 16384": gpu,
            "2 D_u + D_k = A_eff": f"2 × {must.unknown_bytes / 1e9:.2f} + {must.known_bytes / 1e9:.2f} = {must.a_eff_bytes / 1e9:.2f} GB",
            "t_it": bench.format_time(found[heat_steps[2]].median_s),
            "T_eff": f"{must.t_eff_gb_s(found[heat_steps[2]].median_s):,.0f} GB/s",
            "T_peak": f"{found.t_peak_gb_s:,.0f} GB/s",
        }
        for gpu, found in on_gpus.items()
    ]
)

# %% [markdown] slideshow={"slide_type": "-"}
# 1. The solver is **iterative and stencil-based**: each step visits all points.
# 2. The problem is **much larger than the caches**: each step starts from memory.
# 3. There is no **time blocking**, several steps at once.
#
# Fluxes and [residuals](glossary.md#residual) follow from T: a perfect program never stores them, so **do not count them**.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the slide before. The definition is Räss, Utkin, Duretz, Omlin and Podladchikov's. Coefficients that
# > follow from other fields are not counted either. T_eff does not assume that every fetched byte is used: who wastes bytes takes longer, and T_eff falls. Ask what
# > happens to T_eff when the fields fit in cache (assumption 2): it may exceed T_peak, and then it does not judge memory.

# %% slideshow={"slide_type": "skip"}
from course_pkg.witness import record
from course_pkg.witness.clocks import clocks
from course_pkg.witness.every import every_clock


@cuda.jit
def take(a, stride, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[stride * i]


# The course's SIMT interpreter runs the kernel for all threads at once and counts what the hardware would count.
numbers, taken = np.arange(32 * 1024, dtype=np.float64), np.empty(1024)
strides = {stride: simt.profile(take[8, 128], numbers, stride, taken) for stride in (1, 2, 4, 8, 32)}

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Bytes that are fetched and not used
#
# What the 32 [lanes](glossary.md#lane) of a [warp](glossary.md#warp) load at once is a [request](glossary.md#request). It is answered in [sectors](glossary.md#sector) of 32 bytes.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
line = next(where for where, counts in strides[1].by_line.items() if counts.global_load)
viz.slider(
    lambda stride: viz.access_strip(strides[stride].accesses(line)[1]),
    strides,
    label="stride, in doubles",
    start=2,
)

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
per_request = {stride: p.global_load.sectors_per_request for stride, p in strides.items()}
assert per_request[1] == 8 and per_request[4] == per_request[8] == per_request[32] == 32
Markdown(
    f"{per_request[1]:.0f} sectors per request at stride 1; **{per_request[32]:.0f}** from stride 4 on: one per lane."
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_stride = viz.Prediction(
    "02-stride",
    "The kernel copies as many doubles with stride 32 as with stride 1. How many times as many bytes does the GPU's memory send?",
    ["as many", "4 times", "8 times", "32 times"],
)
guess_stride

# %% slideshow={"slide_type": "skip"}
traffic = {gpu: record.recorded(record.TRAFFIC, found.device.slug) for gpu, found in gpus.items()}
far = {
    gpu: {
        k: clocks(found.counters[f"vector_copy_strided_{k}_large"], t_peaks[gpu])
        for k in (1, 2, 4, 8, 16, 32, 64)
    }
    for gpu, found in traffic.items()
}
sent = {k: c.bytes_read for k, c in far["H200"].items()}
useful = {gpu: {k: 2**24 * 16 / c.time_s / 1e9 for k, c in found.items()} for gpu, found in far.items()}
assert all(abs(far["H100"][k].bytes_read / sent[k] - 1) < 0.001 for k in sent)
for speed in useful.values():
    assert speed[8] > speed[16] > speed[32] > speed[64]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What memory sends

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "stride": k,
            "from memory": f"{sent[k] / 1e6:,.0f} MB",
            "times the least": f"{sent[k] / sent[1]:.1f}",
            **{f"{gpu}: useful GB/s": f"{speed[k]:,.0f}" for gpu, speed in useful.items()},
        }
        for k in (1, 4, 8, 32, 64)
    ],
    "2²⁴ doubles that lie a stride apart, copied. Useful: 8 bytes read and 8 written. Counted and timed by Nsight Compute; both GPUs fetch the same bytes. "
    "From stride 8 to 64 the useful bandwidth falls, though no more bytes come: why, we do not know.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert 7.8 < sent[8] / sent[1] < 8.2 and sent[64] < 1.05 * sent[8]
guess_stride.reveal(
    f"{sent[32] / sent[1]:.0f} times: this memory is fetched by 64 bytes, of which 8 are used",
    right="8 times",
    how="Counted",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the three slides before. Most say 32 times; who counts sectors says 4. L1 asks L2 for sectors of 32 bytes, but
# > the L2 of these GPUs reads memory by 64: so bytes grow until stride 8. CUDA takes a hint for this size, `cudaLimitMaxL2FetchGranularity`; we have left
# > it alone. From 8 to 64 they stay, and the useful bandwidth still falls. From 16 to 64 no other count grows either: not the traffic of L1 and L2, not the
# > instructions. Why, these counters do not say: we do not know. For this kernel, and for nearly all that are recorded, the interpreter's counts of sectors equal the H200's counters
# > (`course verify counters`).

# %% [markdown] slideshow={"slide_type": "skip"}
# The [profile](glossary.md#profile) counts requests and sectors, the flops and the lanes at work, and shows them beside the source:

# %% slideshow={"slide_type": "skip"}
strides[2]

# %% [markdown] slideshow={"slide_type": "skip"}
# **[Three clocks](glossary.md#three-clocks).** Nsight Compute also says which share of a kernel's time its bytes, its traffic in L2 and L1, and its instructions would take, each alone.
# Lecture 3 explains them. The table lists the kernels on vectors, including those of lectures 3 and 4.

# %% slideshow={"slide_type": "skip"}
every_clock("vector")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The roofline
#
# The [roofline](glossary.md#roofline): attainable rate = min(peak, [intensity](glossary.md#arithmetic-intensity) × T_peak), where intensity = flops / bytes.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
at_512 = {"shape": [512] * 3, "dtype": "float64", "threads_per_block": None}
naive = {gpu: found.one(STENCILS["laplacian_naive"].by(CUDA), **at_512) for gpu, found in gpu_stencils.items()}


def under_the_roof(gpu):
    """Return a GPU's roof, and four of its kernels under it."""
    found = gpus[gpu]
    kernels = {
        "triad": streams[gpu][triad],
        "7-point Laplacian, naive": naive[gpu],
        "Horner, 64 flops": found.one(horner, degree=32),
        "Horner, 256 flops": found.one(horner, degree=128),
    }
    roof = find_machine(found.device.name).measured(t_peaks[gpu])
    return roof, [(name, m.cost.intensity, m.gflop_s) for name, m in kernels.items()]


viz.rooflines(map(under_the_roof, gpus))

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Williams, Waterman and Patterson, 2009. The ridge is the balance over the bytes of a number, computed with the
# > measured T_peak. The roofline is a bound, not a promise: the Laplacian stays below it. Its *naive* form computes with 64-bit indices.

# %% [markdown] slideshow={"slide_type": "skip"}
# Horner with 256 flops stays below the flat roof. Its multiply-adds form one chain per element, in which each waits for the one before; whether that
# is the reason, we have not measured. Move the slider from a copy to a matrix product:

# %% slideshow={"slide_type": "skip"}
viz.roofline_explorer(machine("h200").measured(h200_peak))

# %% slideshow={"slide_type": "skip"}
NAMES = "heat step, array statements", "heat step, four kernels", "heat step, fused", "Laplacian, naive"
gain = {gpu: (*on_gpus[gpu].measurements, naive[gpu]) for gpu in gpus}

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What is left to gain?
#
# A memory-bound step takes at least A_eff / T_peak, [its bound](glossary.md#bound). The remaining gain is at most
# t_it / (A_eff / T_peak) = T_peak / T_eff.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def left_to_gain(found):
    """Draw the share of T_peak that each kernel reaches on a GPU, and what it could gain."""
    gpu = short_name(found.device.name)
    shares = [m.t_eff_gb_s / t_peaks[gpu] for m in gain[gpu]]
    shown = [
        {"T_eff GB/s": f"{m.t_eff_gb_s:,.0f}", "still to gain": f"{1 / share:.2f}×"}
        for m, share in zip(gain[gpu], shares, strict=True)
    ]
    rungs = [viz.Rung(*found) for found in zip(NAMES, shares, shown, strict=True)]
    return viz.ladder_picture(rungs, bound="T_peak", bound_gb_s=t_peaks[gpu], steps=False, ceiling=True, note=found.origin)


viz.on_each(left_to_gain, gpu_stencils.values())

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. On the H200 the naive Laplacian could still become more
# > than twice as fast, though it moves no byte too many. Lecture 4 finds a clock that is longer than memory's, and takes the stencil near the bound.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write kernels that move fewer bytes, and functions that judge them. In each of the steps 1 to 9, `...` stands for missing lines or for a
# part of a line. Run the cell: it says what your threads did, in a sentence, a picture and counts. A hint opens on request. When a step is right, it
# asks what would happen if something were different: answer before you open its answer. 45 minutes.

# %% slideshow={"slide_type": "skip"}
from numba import float64

from course_pkg import practice


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. Three loops become one.** A program computes $(a \cdot b + c)^2$ by three loops, `t = a * b`, `u = t + c` and `out = u * u`:
# 3 + 3 + 2 = 8 passes. Write one kernel that reads each input once and writes the result once.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def one_pass(a, b, c, out):
    i = cuda.grid(1)
    if i < out.size:
        ...


practice.check("one_pass", one_pass)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. Compute it again.** A coefficient $c_i = 1 + (i h)^2$ was stored in an array: do not read it.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def recompute(u, c, h, out):
    i = cuda.grid(1)
    if i < out.size:
        ...


practice.check("recompute", recompute)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. Store fewer bytes.** A mask says which points of a [grid](glossary.md#grid) belong to the body: one bit per point, packed, 32 bits in each integer
# of `words`. Bit `i % 32` of `words[i // 32]` is that of point `i`; `>>` shifts bits to the right, and `x & 1` is the lowest bit of `x`.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def mask_bits(u, words, out):
    i = cuda.grid(1)
    if i < out.size:
        bit = ...
        out[i] = u[i] * bit


practice.check("mask_bits", mask_bits)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. From records to fields.** Particles lie in memory as records, x y z m x y z m …. A kernel that needs
# x alone fetches y, z and m as well. Split the records into `fields[0]` to `fields[3]`. The launch has one thread per number, not one per particle.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def split(records, fields):
    i = cuda.grid(1)
    if i < records.size:
        ...


practice.check("split", split)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. Break an assumption.** On a ring of points, one step replaces each `u[i]` by the mean of itself and its two neighbours. Do **two** steps in one
# kernel, with the passes of one. A [barrier](glossary.md#barrier) does not help: it holds a block, and the neighbours may be in another one.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def two_steps(u, out):
    i = cuda.grid(1)
    if i < u.size:
        total = 0.0
        ...
        out[i] = total / 9


practice.check("two_steps", two_steps)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Open: every second.** A coarse grid takes the mean of each pair, `a[2 * i]` and `a[2 * i + 1]`. Ask for each sector
# once, any way you like; each block has 32 threads and may use its `tile`.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def halve(a, out):
    tile = cuda.shared.array(64, float64)
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    i = cuda.grid(1)
    ...


practice.check("halve", halve)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. Count what must move.** A function of the host: `fields` is a dictionary such as `{"T": "unknown", "Cp": "known", "qx": "scratch"}`.
# Scratch fields hold what follows from the others. Return A_eff of one step in bytes.

# %% slideshow={"slide_type": "skip"}
def must_move(fields, n, itemsize):
    passes = {"unknown": ..., "known": ..., "scratch": ...}
    ...


practice.check("must_move", must_move)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. An honest number.** `samples_s` is an array with the seconds of several runs. The first run compiled the kernel, and other programs disturbed
# some of the others. Return the bandwidth in GB/s that you would defend.

# %% slideshow={"slide_type": "skip"}
def bandwidth(samples_s, bytes_moved):
    typical_s = ...
    return ...


practice.check("bandwidth", bandwidth)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 9. What is left to gain?** Return by which factor a step that takes `t_it_s` seconds could still become faster. If its T_eff exceeds T_peak, an assumption
# does not hold (often its data came from a cache), and this bound says nothing: return `float("nan")`.

# %% slideshow={"slide_type": "skip"}
def gain(a_eff_bytes, t_it_s, t_peak_gb_s):
    t_eff_gb_s = ...
    return ...


practice.check("gain", gain)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 10. Fix a T_peak.** This measures copy and triad over sizes, on your GPU if you have one, else on your CPU. The cell after it states a
# T_peak that a sceptic rejects.

# %% slideshow={"slide_type": "skip"}
mine = list(here.sweep(n=big.a.size // 16, samples=3))
viz.t_eff_sweep(
    {operation: [m for m in mine if m.operation == operation] for operation in ("copy", "triad")},
    caches=[("last-level cache", mine[0].device.llc_bytes)],
    note=f"Measured on this machine's {mine[0].device.name}, {date.today()}.",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# The line below takes the peak of the figure. Predict which of the sceptic's questions it fails, and run it. Then **change both cells until the
# verdict is that it is defended**. (Hint: `here.sweep()`, without arguments, takes long vectors and more samples; its last two measurements,
# `mine[-2]` and `mine[-1]`, are a copy and a triad on the longest ones.)

# %% slideshow={"slide_type": "skip"}
my_t_peak = max(m.t_eff_gb_s for m in mine)
bench.defend(my_t_peak, mine)

# %% [markdown] slideshow={"slide_type": "skip"}
# If a question stays unknown, answer it yourself: look up the bandwidth of your memory, and pass `datasheet_gb_s=`. What would you say to somebody
# who measured twice your number on the same machine?

# %% [markdown] slideshow={"slide_type": "skip"}
# **If you have an NVIDIA GPU**, this cell measures yours beside the recorded one; without one, it says so.

# %% slideshow={"slide_type": "skip"} tags=["live"]
bench.live(
    here.on_this_gpu,
    [found.one(what, n=2**26) for found in gpus.values() for what in (copies[2], triad)],
    {VARIANTS[name]: name.replace("_", " ") for name in ("copy_two", "triad")},
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit
#
# When T_eff is close to T_peak, a better *program* that moves the same bytes gains little on this machine. What would it take?
#
# - **Fewer passes per [iteration](glossary.md#iteration)**: fuse more, keep results on the chip (lectures 3 to 5).
# - **Better order of the data**, so that no fetched byte is wasted (lecture 6).
# - **Fewer iterations, or several per [sweep](glossary.md#sweep)**: other algorithms (lectures 7 and 8).
# - **More memories**: several GPUs (lecture 9).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "heat step": name,
            "passes": f"{3 * found[what].cost.redundancy:.0f}",
            "on": where,
            "throughput GB/s": f"{found[what].throughput_gb_s:,.0f}",
            "T_eff GB/s": f"{found[what].t_eff_gb_s:,.0f}",
            "of T_peak": f"{found[what].t_eff_gb_s / found.t_peak_gb_s:.0%}",
        }
        for name, on_cpu, on_gpu in (
            ("four loops", "four statements", heat_steps[1]),
            ("fused", "fused", heat_steps[2]),
        )
        for where, found, what in (
            ("this CPU", steps, on_cpu),
            *((gpu, found, on_gpu) for gpu, found in on_gpus.items()),
        )
    ],
    f"{this_machine} {bench.origins(found.origin for found in gpu_stencils.values())}",
)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# Memory-bound: the bytes that move set the time, and not the flops. Count what must move.

# %% [markdown] slideshow={"slide_type": "skip"}
# **How good is your intuition?** Your predictions of this lecture, beside what was measured:

# %% slideshow={"slide_type": "skip"}
viz.intuition("02")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 2**, `exercises/02_memory_bound`, 20 points: a window in a field, a triad with one array backwards, A_eff of a wave,
#   heat around a pipe, T_eff from a log, what is left to gain, a slow kernel to repair, an open task.
# - **Next**: lectures 3 and 4 take the naive Laplacian from less than half of an H200's T_peak towards the bound.
# - **Read**: McCalpin on STREAM, Wulf and McKee on the memory wall, Williams and others on the roofline, Räss and others on T_eff. The notebook has
#   the full references.

# %% [markdown] slideshow={"slide_type": "skip"}
# - J. D. McCalpin, *Memory bandwidth and machine balance in current high performance computers*, IEEE TCCA Newsletter, 1995: STREAM.
# - W. A. Wulf, S. A. McKee, *Hitting the memory wall*, ACM SIGARCH Computer Architecture News 23(1), 1995.
# - S. Williams, A. Waterman, D. Patterson, *Roofline: an insightful visual performance model for multicore architectures*,
#   Communications of the ACM 52(4), 2009.
# - L. Räss, I. Utkin, T. Duretz, S. Omlin, Y. Podladchikov, *Assessing the robustness and scalability of the accelerated
#   pseudo-transient method*, Geoscientific Model Development 15, 2022. It defines T_eff.
