# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: What fusion really saves
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # What fusion really saves
#
# Conjugate gradients, operation by operation: which of them may share a kernel, and what each pass over memory is worth.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, the method 6, counting 8, in place and the race 6,
# > what may share a kernel and the planner 7, dots and A p twice 6, measured 4, others and many GPUs 3, limit and summary 1.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **count** what each step of a solver reads, writes and multiplies,
# - **check** such a count against the hardware's counters, and explain each difference,
# - **decide** which steps may share a kernel, and say why others may not,
# - **judge** whether a stencil may be fused in place,
# - **choose** the fusion that saves most, and say how far it is from its bound.
#
# It builds on lecture 1 (threads, blocks, barriers), lecture 2 (T_eff and the bound), and lecture 4 (marching, sums).

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only.
import inspect
import textwrap

import numpy as np
from IPython.display import Markdown, display

from course_pkg import bench, cuda, simt, viz
from course_pkg.cg import cost, fusion
from course_pkg.cg import gpu_numba as gpu
from course_pkg.cg.facts import facts
from course_pkg.cg.problem import PUBLISHED, PoissonProblem
from course_pkg.cg.program import CG, Container, Program
from course_pkg.cg.variants import METHODS, VARIANTS
from course_pkg.core import Library, machine
from course_pkg.device import sums as device_sums
from course_pkg.device.launch import blocks_for
from course_pkg.paths import figure
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.witness import clocks
from course_pkg.witness.every import every_clock
from course_pkg.witness.iterations import Iterations, bytes_per_point, flops_of_dots
from course_pkg.witness.scaling import Scaling

# %% slideshow={"slide_type": "skip"}
# What is recorded, by GPU: on_h100.iteration_s(variant), on_h200.solve(variant), and so on.
GPUS = [Iterations(found) for found in bench.records("cg")]
on_h100, on_h200 = GPUS
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
baseline, map_stencil_fused, fused_dots, two_kernel, deferred_x = METHODS
SMALL, LARGE = PUBLISHED
EVERY_ORIGIN = "\n".join(on.origin for on in GPUS)

# %% slideshow={"slide_type": "skip"}
once = on_h200.flops_per_point("update_p", "matvec", "update_x_and_r") + flops_of_dots()
twice = on_h200.flops_per_point("search", "advance_1")
old, new = on_h200.pair(baseline), on_h200.pair(two_kernel)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## More work, and less throughput
#
# Two programs on one H200: the same method, the same answer.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"- **Five kernels**, one per operation: {once:.0f} flops per point, {old.throughput_gb_s:,.0f} GB/s.\n"
    f"- **Two kernels**, which compute the vector $A p$ twice and never store it: {twice:.0f} flops per point, {new.throughput_gb_s:,.0f} GB/s."
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_twice = viz.Estimate(
    "05-twice",
    f"With five kernels, {SMALL}³ unknowns take {bench.format_time(on_h200.iteration_s(baseline))} per iteration. And with two?",
    *(100, 10_000, "µs per iteration"),
)
guess_twice

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Five kernels and two, timed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
BOTH = {f"{len(v.plan.kernels)} kernels": v for v in (baseline, two_kernel)}


def timed_plans(on, edge, named):
    """Draw the passes of an iteration of each plan, at the bandwidth of a GPU's copy, and the time that was measured."""
    return viz.passes_picture(
        {name: v.plan for name, v in named.items()},
        per_pass=1e6 * on.pass_s(edge),
        axis=f"µs per iteration, {edge}³, by copy",
        measured={name: 1e6 * on.iteration_s(v, edge) for name, v in named.items()},
        written="{:,.0f} µs".format,
        note=viz.Note(f"An iteration on {edge}³ points; a dot is the measured time.", on.origin),
    )


viz.on_each(lambda on: timed_plans(on, SMALL, BOTH), GPUS)

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
bench.Table(
    [
        {
            "program": f"{len(v.plan.kernels)}\N{NO-BREAK SPACE}kernels",
            "flops per point": f"{flops:.0f}",
            "bytes per point": f"{bytes_per_point(v):g}",
            **{f"iteration, {on.name}": bench.format_time(on.iteration_s(v)) for on in GPUS},
            **{f"whole solve, {on.name}": bench.format_time(on.solve(v).median_s) for on in GPUS},
        }
        for v, flops in ((baseline, once), (two_kernel, twice))
    ],
    EVERY_ORIGIN,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert all(on.iteration_s(two_kernel) < 0.7 * on.iteration_s(baseline) for on in GPUS)
assert new.throughput_gb_s < old.throughput_gb_s and twice > 1.8 * once
guess_twice.reveal(1e6 * on_h200.iteration_s(two_kernel), note=f"{1 - new.median_s / old.median_s:.0%} less time")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Programs are praised for their throughput and used for their time. Here the faster program shows the
# > lower number. Leave it standing: the lecture shows how to come to such a program, and how to know when to stop.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What conjugate gradients need

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("why_definite.svg"),
    "Left: the energy of a positive definite matrix as rings around its lowest point; conjugate gradients reach it in two steps, "
    "steepest descent does not in six. Right: along a direction p the energy is a valley if ⟨p, Ap⟩ is positive, else a hill.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# We solve $A x = b$. If $A$ is **symmetric**, the residual $b - A x$ points straight downhill on the energy $\tfrac12\langle x, A x\rangle -
# \langle b, x\rangle$; if **[positive definite](glossary.md#SPD)**, $\langle p, A p\rangle > 0$ for all $p \neq 0$, it is a bowl, lowest at the solution. Our $A$
# is $-\Delta$, not $\Delta$: 6 on the diagonal, $-1$ per neighbour.

# %% [markdown] slideshow={"slide_type": "skip"}
# The wrong sign is the likeliest mistake with this method. Here is the check on a small grid, with the matrix written out:

# %% slideshow={"slide_type": "skip"}
written_out = PoissonProblem.ones(4).matrix().toarray()
assert (written_out == written_out.T).all() and np.linalg.eigvalsh(written_out).min() > 0
assert np.linalg.eigvalsh(-written_out).max() < 0 and set(np.unique(written_out)) == {-1, 0, 6}
print("−Δ: eigenvalues from {:.2f} to {:.2f}".format(*np.linalg.eigvalsh(written_out)[[0, -1]]))

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Conjugate gradients, step by step

# %% [markdown] slideshow={"slide_type": "-"}
# 1. $r = b - A x,\;\, p = r,\;\, \delta = \langle r, r\rangle$
# 2. $s = A p$
# 3. $\langle p, s\rangle$
# 4. $\alpha = \delta / \langle p, s\rangle$
# 5. $x \leftarrow x + \alpha p$
# 6. $r \leftarrow r - \alpha s$
# 7. *only with a* [preconditioner](glossary.md#preconditioner)
# 8. $\delta_\text{old} = \delta,\quad \delta = \langle r, r\rangle$
# 9. $\beta = \delta / \delta_\text{old},\quad p \leftarrow r + \beta p$

# %% [markdown] slideshow={"slide_type": "-"}
# **Start**: step 1, with $x = 0$. **Repeat** steps 2 to 9: $p$ is the direction of a step, $\alpha$ its length.
#
# **Stop** when $\sqrt\delta \le 10^{-6}\,\lVert b\rVert$, and compute $b - A x$ once more to confirm it.
#
# Steps 3 and 8 are sums over all points: all threads wait for them.
#
# *Key to the numbers: `cg/reference.py`.*

# %% slideshow={"slide_type": "skip"}
from course_pkg.cg import reference

steps = inspect.getsource(reference.cg)
assert all(f"# {number}\n" in steps for number in range(1, 10))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One iteration, as a graph

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.graph_picture(CG.containers, CG.edges)

# %% [markdown] slideshow={"slide_type": "-"}
# A [container](glossary.md#container) is an operation on all points: [maps](glossary.md#map) read their own point only, **stencils** also read
# neighbours, [reductions](glossary.md#reduction) make one number of all points. Here step 9 comes first. **A kernel will be a frame around containers**; a field that crosses a frame goes
# through memory.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Count by hand: the map and the stencil
#
# $$ \text{fused:}\quad p_2 \leftarrow r + \beta p_1, \qquad s \leftarrow A (r + \beta p_1) $$

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
EDGE = 64
BOX, POINTS, FACE = (EDGE,) * 3, EDGE**3, EDGE**2


def counted_row(name, count):
    """Return a row of the table: in units of the points, m, and of a face, n²."""
    return {
        "": name,
        "reads, no cache": f"{count.reads // POINTS} m",
        "reads, perfect cache": f"{count.reads_reused // POINTS} m",
        "writes": f"{count.writes // POINTS} m",
        "multiplications": f"{count.multiplications // POINTS} m",
        "halo": f"{count.halo // FACE} n²",
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
apart, fused = cost.map_and_stencil(BOX), cost.map_stencil_fused(BOX)
bench.Table(
    [
        counted_row("map", cost.update_p(BOX)),
        counted_row("stencil", cost.matvec(BOX)),
        counted_row("map, then stencil", apart),
        counted_row("fused", fused),
    ],
    "m = n³ points, boundaries ignored. Halo: what one GPU between two others receives.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Fused, $p_2$ is computed again at each of seven points, from two fields: 14 reads.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Let the audience count the stencil before you show the table. The halo is what one GPU receives from its two
# > neighbours when the grid is cut along z. The first and the last GPU have one neighbour, and receive half of it.

# %% [markdown] slideshow={"slide_type": "skip"}
# The notes on a conjugate-gradient solver from which this count comes have a table of it:

# %% slideshow={"slide_type": "skip"}
viz.Picture.load(
    figure("fusion_notes.svg"),
    "The notes' table, redrawn: reads without a cache and with a full one, writes, flops, halo and intensity of the baseline and of the "
    "fused kernel. The fused kernel's intensity, 5, is marked: 14m flops over 2m reads are 7.",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **A count that others made, checked.** The count above follows notes on a conjugate-gradient solver for many GPUs. They make four statements that
# do not agree with their own numbers. They state an intensity of **5** multiplications per read for the fused kernel; 14 m / 2 m is
# **7**. They state a halo of 2 n² in one line and of 4 n² in another; two fields with two faces each are **4 n²**. They give the first and the
# last GPU n elements of halo where it is n². And they let the fused kernel write $p_1$ where it writes $p_2$. Two conventions are also
# theirs: only multiplications count as flops, and boundaries are ignored. The lecture uses both, and checks them by running the kernel.

# %% slideshow={"slide_type": "skip"}
assert fused.intensity == 7 and fused.halo == 4 * FACE

# %% [markdown] slideshow={"slide_type": "skip"}
# **Write-allocate.** On many CPUs a store first reads its cache line from memory. A count for such a CPU adds a read per write. Does the H200 do it?

# %% slideshow={"slide_type": "skip"}
allocating = cost.update_p(BOX) + cost.matvec(BOX).allocating(1)
print(f"reads with write-allocate for s: {allocating.reads_reused // POINTS} m in place of {apart.reads_reused // POINTS} m")
assert allocating.reads_reused - apart.reads_reused == POINTS

# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## The same count, by running it
#
# The fused kernel, one thread per point, as plain as the count by hand. The interpreter runs it on 64³ points and counts.

# %% slideshow={"slide_type": "skip"}
rng, n = np.random.default_rng(0), [np.uint32(EDGE)] * 3
r, p1 = rng.random((2, POINTS))
p2, s = np.empty((2, POINTS))
launch = blocks_for(BOX, stencil.BLOCK_3D), stencil.BLOCK_3D
counted = {"fused": simt.profile(gpu.map_stencil_flat_kernel[launch], r, p1, 0.5, *n, p2, s)}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_count = viz.Estimate(
    "05-count",
    "By hand it is 14 multiplications per point. How many are executed? An fma, one instruction that multiplies and adds, counts as one.",
    *(2, 200, "multiplications per point"),
)
guess_count

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.map_stencil_flat_kernel)

# %% slideshow={"slide_type": "skip"}
counted["map"] = simt.profile(gpu.update_p_flat_kernel[launch], r, p1, 0.5, *n, p2)
counted["stencil"] = simt.profile(stencil.laplacian_flat_kernel[launch], p2, *n, s)
CASES = {"map": "cg_update_p_flat", "stencil": "laplacian_flat", "fused": "cg_map_stencil_flat"}


def by_interpreter(of, *names):
    """Return a count of some kernels in turn, per point of 64³."""
    return sum(of(counted[name]) for name in names) / POINTS


def by_gpus(quantity, *names):
    """Return what Nsight Compute counted on each GPU, per point of 64³."""
    return [sum(on.seen(f"{CASES[name]}_64")[quantity] for name in names) / POINTS for on in GPUS]


def from_memory(way, *names):
    """Return the numbers that each GPU reads from memory, or writes to it, per point of 512³."""
    return [sum(getattr(on.clocks(f"{CASES[name]}_512"), way) for name in names) / 8 / 512**3 for on in GPUS]


# %% slideshow={"slide_type": "skip"}
def row(what, paper, interpreter, hardware=None):
    """Return a row with three witnesses, the third on each GPU; all per point."""
    gpus = [f"{count:.2f}" for count in hardware] if hardware is not None else ["–"] * len(GPUS)
    cells = [f"{paper / POINTS:.0f}" if paper else "–", f"{interpreter:.2f}", *gpus]
    return {"per point": what, **dict(zip(("by hand", "interpreter", *(on.name for on in GPUS)), cells, strict=True))}


# %% slideshow={"slide_type": "skip"}
def witnesses(by_hand, *names):
    """Return the rows of a table with three witnesses."""

    def flop(kind):
        counts = by_interpreter(lambda p: p.flops.instructions("float64", kind), *names)
        return counts, *by_gpus(f"float64 {kind}", *names)

    def asked(of):
        return by_interpreter(lambda p: of(p.global_load), *names)

    add, mul, fma = (np.array(flop(kind)) for kind in ("add", "mul", "fma"))
    stored = by_interpreter(lambda p: p.global_store.bytes_requested / 8, *names)
    read, written = from_memory("bytes_read", *names), from_memory("bytes_written", *names)
    return [
        row("reads, no cache", by_hand.reads, asked(lambda t: t.bytes_requested / 8)),
        row("load sectors", 0, asked(lambda t: t.sectors), by_gpus("global load sectors", *names)),
        row("perfect cache", by_hand.reads_reused, asked(lambda t: t.unique_bytes / 8), read),
        row("writes", by_hand.writes, stored, written),
        row("multiplications", by_hand.multiplications, (mul + fma)[0], (mul + fma)[1:]),
        row("additions", 0, (add + fma)[0], (add + fma)[1:]),
    ]


WHERE = "Interpreter, sectors, flops: 64³ points. Reads and writes of the GPUs: memory, 512³ points, Nsight Compute."

# %% slideshow={"slide_type": "skip"}
products = by_interpreter(lambda p: sum(p.flops.instructions("float64", k) for k in ("mul", "fma")), "fused")
assert counted["fused"].global_load.bytes_requested == 8 * 2 * (7 * POINTS - 6 * FACE)
by_name = {name: [sum(two) for two in zip(by_gpus("float64 fma", name), by_gpus("float64 mul", name), strict=True)] for name in CASES}
assert round(products) == 7 + 1 and all(round(count) == 7 + 1 for count in by_name["fused"])
assert all(round(count) == 1 for count in by_name["stencil"])  # 6 p, and nothing else

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Three witnesses

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table([found for found in witnesses(fused, "fused") if found["by hand"] != "–"], WHERE)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_count.reveal(products, how="Counted")

# %% [markdown] slideshow={"slide_type": "-"}
# - **Multiplications**: a coefficient of $-1$ needs none. Each of seven points costs one [fma](glossary.md#fma), and the centre is multiplied by 6: 7 + 1.
# - **Reads**: a point on a face has one neighbour less.
# - **A perfect cache** is nearly what memory sees.
# - **Writes**: the last ones are still in L2 when the kernel ends.

# %% [markdown] slideshow={"slide_type": "skip"}
# All that was counted, for the fused kernel:

# %% slideshow={"slide_type": "skip"}
for on in GPUS:
    display(Markdown(f"{on.counters.origin} {on.traffic.origin}"))
bench.Table(witnesses(fused, "fused"), WHERE)

# %% [markdown] slideshow={"slide_type": "skip"}
# The same for the map and the stencil apart:

# %% slideshow={"slide_type": "skip"}
bench.Table(witnesses(apart, "map", "stencil"), WHERE)

# %% [markdown] slideshow={"slide_type": "skip"}
# **In numbers.** By hand, every neighbour has a coefficient of its own; the Laplacian's are $-1$. The faces take $6 n^2$ reads from each field, which vanish as $n$ grows. The caches of an H200 keep the neighbours of 512³ points: its
# memory reads at most two per cent more than a perfect cache would need. An H100, whose L2 is smaller, reads seven per cent more in the fused kernel.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Write-allocate, answered.** On the H200 memory reads nothing more for these stores, which write whole sectors. On a CPU with
# write-allocate it would read one number more per point.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes for the counting. The expected wrong answer is 14: boundaries are seen, the missing coefficients are not.
# > A count that nobody compares with a counter is an opinion.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What a warp reads in the fused kernel

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
places = ("the point itself", "west", "east", "north", "south", "below", "above")
lines = dict(zip(places, (w for w, c in counted["fused"].by_line.items() if c.global_load), strict=True))
loads = {place: counted["fused"].by_line[where].global_load for place, where in lines.items()}
assert round(sum(c.requests for c in loads.values()) / (POINTS / 32)) == 14


def asked_sectors(place):
    """Return how many sectors a warp in the middle of the grid asks for."""
    return counted["fused"].access(lines[place], block=35).sectors


assert {place: asked_sectors(place) for place in ("west", "north", "the point itself")} == {
    "west": 9,
    "north": 8,
    "the point itself": 8,
}
viz.slider(
    lambda place: viz.access_strip(counted["fused"].access(lines[place], block=35)), places, label="neighbour", start="west"
)


# %% [markdown] slideshow={"slide_type": "-"}
# Every line reads r **and** p₁: fourteen requests per warp. A neighbour to the west or east costs one sector more.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## In place: one field, not two
#
# The fused kernel reads $p_1$ and writes $p_2$. This one has a single p, and a plane for short:

# %% slideshow={"slide_type": "-"}
@cuda.jit
def fused_in_place(r, p, beta, s):
    j, i = cuda.blockIdx.x, cuda.threadIdx.x
    new = r[j, i] + beta * p[j, i]
    total = 4 * new
    for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= j + dj < p.shape[0] and 0 <= i + di < p.shape[1]:
            total -= r[j + dj, i + di] + beta * p[j + dj, i + di]
    p[j, i] = new
    s[j, i] = total


# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_race = viz.Prediction(
    "05-race",
    "Each thread reads its neighbours' old p, computes, and only then replaces its own p. The result is …",
    ["right in every run", "wrong in every run", "right in some runs"],
)
guess_race

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The two threads, in time

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
R, P = rng.random((2, 8, 64))
racy = simt.profile(fused_in_place[8, 64], R, P, 0.5, np.empty((8, 64)))
hazard = next(h for h in racy.hazards if len({t.block for t in h.threads}) > 1)
assert len({t.block for t in hazard.threads}) == 2
viz.race_picture(hazard, wanted="old")

# %% slideshow={"slide_type": "skip"}
code, first = inspect.getsourcelines(fused_in_place.py_func)
for line in sorted({hazard.line, hazard.other_line}):
    print(f"{line:3} {code[line - first].strip()}")
print()
print(textwrap.fill(hazard.message, 84))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_race.reveal(
    "where a neighbour has replaced its p already, β is applied twice", right="right in some runs", how="Found"
)

# %% [markdown] slideshow={"slide_type": "-"}
# **A barrier does not fix it**: `syncthreads` orders the threads of one block, and these two are in different blocks. Two launches would
# fix it: that is the baseline. So would two fields: read $p_1$, write $p_2$, **swap**. That is one more field to *hold*, and none more to
# *move*.

# %% slideshow={"slide_type": "skip"}
assert sum(map_stencil_fused.plan.passes) < sum(baseline.plan.passes)
assert len(map_stencil_fused.plan.fields) == len(baseline.plan.fields) + 1

# %% [markdown] slideshow={"slide_type": "skip"}
# **A barrier for all blocks** exists: a *cooperative launch* has one. It would fix the kernel, on one condition: all threads of the launch are
# on the GPU at the same time, because a block that has not begun cannot come to a barrier. An H200 holds 270,336 threads, and 250³ points are
# 15,625,000. So each thread would have to keep the new p of 58 points on the chip from one side of the barrier to the other. They do not
# fit: 250³ doubles are 125 MB, and all registers and shared memory of an H200 are 65 MB.

# %% slideshow={"slide_type": "skip"}
h200, h100 = (machine(key).measured(on.copy.t_eff_gb_s) for key, on in (("h200", on_h200), ("h100-sxm", on_h100)))
resident = h200.sms * h200.max_warps_per_sm * 32
assert resident == 270_336 and -(-(SMALL**3) // resident) == 58
inside = h200.sms * (4 * h200.registers_per_sm + 1024 * h200.shared_kib_per_sm)
assert round(inside / 1e6) == 65 and 8 * SMALL**3 == 125_000_000


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes. Whether the numbers come out right depends on which block is first; a right answer is worse than a wrong
# > one. The interpreter needs no luck: it remembers who wrote and who read each element, and which barriers lay between.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which containers may share a kernel?

# %% slideshow={"slide_type": "skip"}
def shares(*names, **how):
    """Return whether these containers of conjugate gradients may share a kernel, each of the others having its own."""
    others = [c.name for c in CG.containers if c.name not in names[1:]]
    return fusion.plan(CG, fusion.cut(CG, others), **how).legal


first = Container("A u", "stencil", neighbours=("u",), writes=("v",))
again = Container("A v", "stencil", neighbours=("v",), writes=("u",))
two_stencils = Program("two steps", (first, again), results=("u",))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.rules_picture(
    [
        viz.Rule(("map", "stencil"), shares("updateP", "matVec"), "Each neighbour's value is computed again; the field is kept twice.", "p"),
        viz.Rule(("map", "stencil"), shares("updateP", "matVec", in_place=True), "With one field p: neighbours still read what is overwritten.", "p"),
        viz.Rule(("stencil", "reduction"), shares("matVec", "dot pAp"), "Fields are summed on their way to memory.", "s"),
        viz.Rule(("reduction", "map"), shares("dot pAp", "updateXandR"), "The sum is known when all blocks have ended; blocks do not wait.", "α"),
        viz.Rule(("stencil", "stencil"), fusion.plan(two_stencils, [["A u", "A v"]]).legal, "It would need the neighbours of neighbours.", "v"),
    ]
)

# %% [markdown] slideshow={"slide_type": "skip"}
# - **A map joins what follows it**: its value stays in a register.
# - **A map joins a stencil** if each neighbour's value is computed again; a field that it updates is then kept twice.
# - **A reduction joins what makes its fields**: they are summed on their way to memory.
# - **What needs the sum does not join it**: the sum is known when all blocks have ended, and blocks do not wait for each other.
# - **A stencil does not join a stencil** that it reads: it would need the neighbours of neighbours.

# %% [markdown] slideshow={"slide_type": "skip"}
# The last rule has an exception that this lecture leaves out: *time blocking* computes the neighbours of neighbours again, in larger tiles.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_saving = viz.Estimate(
    "05-saving",
    "Fuse map and stencil as above, and nothing else. What part of all the bytes that an iteration moves does this save?",
    *(0.1, 100, "% of the bytes"),
)
guess_saving

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What each fusion saves

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
PLANS = {v.title: v.plan for v in METHODS}
viz.passes_picture(PLANS, per_pass=8, axis="bytes per point and iteration")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_saving.reveal(100 * (1 - bytes_per_point(map_stencil_fused) / bytes_per_point(baseline)), how="Counted")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The planner

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.planner(fusion.CHOICES, [h200, h100], facts)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Seven minutes, with the audience deciding. Refused plans teach as much: ask for the reason before you show it. A plan
# > that a barrier for the whole grid or time blocking would allow is refused here, too: say that these exist.
# > In JupyterLab the laboratory has a free planner, with a switch for each boundary.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_digits = viz.Prediction(
    "05-digits",
    f"Dots are sums of {SMALL**3:,} products, shared out among all blocks. An H100 and an H200 solve the same problem with the same "
    f"program. After {PUBLISHED[SMALL]} iterations, their residuals agree in …",
    ["the first 5 digits", "the first 10 digits", "all 16 digits"],
)
guess_digits

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The dot product, on its way to memory

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "registers")

# %% [markdown] slideshow={"slide_type": "-"}
# The thread that computes $s$ at a point has $p$ and $s$ in registers. It adds $p \cdot s$ to a sum of its own; warps and blocks add up
# theirs. One number per block is left, and a launch with one block sums those.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
residuals = {on.name: on.solve(two_kernel).observed["true_residual"] for on in GPUS}
assert len(set(residuals.values())) == 1
print("\n".join(f"{name}  ‖b − A x‖ / ‖b‖ = {residual!r}" for name, residual in residuals.items()))
guess_digits.reveal("to the last digit", right="all 16 digits")

# %% [markdown] slideshow={"slide_type": "-"}
# A sum in floating point depends on its order. With [atomics](glossary.md#atomic), blocks would add in the order in which they end. Here each block leaves its
# sum in its own place, and the places are added in a fixed order. Both GPUs launch the same blocks.

# %% slideshow={"slide_type": "skip"}
viz.source(device_sums.leave_total)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Throw A p away
#
# With the dots fused, $s = A p$ is still written once and read once. The next kernel reads $p$ in any case. So it can compute $s$
# **again**: some more flops, two passes less.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
lean = two_kernel.plan
viz.graph_picture(lean.containers, lean.edges, groups=lean.groups, again=lean.again, badges=lean.badges)

# %% [markdown] slideshow={"slide_type": "skip"}
# The rule: a field need not be stored if every kernel that reads it can compute it again, from fields that have not changed since.

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.search_kernel)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.advance_kernel)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Measured: time follows bytes

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(lambda on: timed_plans(on, SMALL, {v.title: v for v in METHODS}), GPUS)

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read it.** Where the blocks end is the bound: the bytes of an iteration at the bandwidth of a copy of 1000³ numbers. Time follows
# bytes, but not exactly: on the H200, fusing map and stencil saves 7% of the bytes and 4% of the time. A copy of 250³ numbers
# does not reach the bandwidth of a long one either. And the bound is not a law: a kernel that reads more than it writes, such as a dot, moves
# more bytes per second than a copy. The baseline has such kernels, and at 1000³ it reaches its "bound" to a percent.

# %% slideshow={"slide_type": "skip"}
fused_saves = 1 - on_h200.iteration_s(map_stencil_fused) / on_h200.iteration_s(baseline)
assert round(100 * (1 - bytes_per_point(map_stencil_fused) / bytes_per_point(baseline))) == 7 and round(100 * fused_saves) == 4
assert on_h200.copy_of(SMALL).t_eff_gb_s < 0.95 * on_h200.copy.t_eff_gb_s and abs(on_h200.over_bound(baseline, LARGE) - 1) < 0.01


# %% slideshow={"slide_type": "skip"}
def measured_row(on, variant, edge):
    """Return a row: the bytes of an iteration, the time they would take a copy, and the time they took."""
    return {
        "GPU": on.name,
        "points": f"{edge}³",
        "variant": variant.title,
        "bytes per point": f"{bytes_per_point(variant):g}",
        "bound": bench.format_time(on.pair(variant, edge).bound_s(on.copy) / 2),
        "measured": bench.format_time(on.iteration_s(variant, edge)),
        "time / bound": f"{on.over_bound(variant, edge):.2f}×",
        "time / baseline": f"{on.iteration_s(variant, edge) / on.iteration_s(baseline, edge):.0%}",
        "bytes / baseline": f"{bytes_per_point(variant) / bytes_per_point(baseline):.0%}",
    }


bench.Table([measured_row(on, v, edge) for on in GPUS for edge in (SMALL, LARGE) for v in METHODS], EVERY_ORIGIN)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A billion unknowns, on one GPU

# %% slideshow={"slide_type": "-"} tags=["hide-input"]


def billion(on):
    """Draw how near to a copy of the fewest bytes two methods come, beside their times."""
    least_s = on.iteration_s(deferred_x, LARGE) / on.over_bound(deferred_x, LARGE)
    together = "Longest clock: of an iteration's launches over fields, taken together."
    rungs = [
        viz.Rung(
            v.title,
            least_s / on.iteration_s(v, LARGE),
            {
                "iteration": bench.format_time(on.iteration_s(v, LARGE)),
                "iterations": f"{on.solve(v, LARGE).observed['iterations']:,}",
                "whole solve": bench.format_time(on.solve(v, LARGE).median_s),
            },
            on.iteration_clock(v, LARGE),
        )
        for v in (two_kernel, deferred_x)
    ]
    return viz.ladder_picture(rungs, bound="copy of 60 B per point", bound_gb_s=on.copy.t_eff_gb_s, note=viz.Note(f"{LARGE}³ unknowns, to 1e-6 of ‖b‖.", together, on.origin))


assert bytes_per_point(deferred_x) == 60
viz.on_each(billion, GPUS)

# %% [markdown] slideshow={"slide_type": "-"}
# A published solver takes as many iterations for a problem of this size, on **64 A100** (M. Bernaschi and others, 2025). Without a stored
# matrix there are four vectors, 32 GB: they fit into the memory of one GPU.

# %% slideshow={"slide_type": "skip"}
assert len(two_kernel.plan.fields) == 4 and 8 * 4 * LARGE**3 == 32_000_000_000


# %% [markdown] slideshow={"slide_type": "skip"}
# ## What memory really moved

# %% slideshow={"slide_type": "skip"}
def moved_row(on, variant):
    """Return a row: bytes per point that must move in an iteration, and that did, by Nsight Compute."""
    must_read, must_write, read, written = on.moved(SMALL, *variant.launches)
    return {
        "GPU": on.name,
        "variant": variant.title,
        "kernels over fields": len(variant.launches),
        "must read": f"{must_read:.0f} B",
        "is read": f"{read:.1f} B",
        "must be written": f"{must_write:.0f} B",
        "is written": f"{written:.1f} B",
    }


bench.Table(
    [moved_row(on, v) for on in GPUS for v in METHODS if v is not deferred_x],
    f"Per point of {SMALL}³; each kernel by itself, with an empty cache. {bench.origins(on.traffic.origin for on in GPUS)}",
)

# %% slideshow={"slide_type": "skip"}
must_read, must_write, is_read, is_written = on_h200.moved(SMALL, "search", "advance")
assert is_read > must_read and is_written < must_write
must_move, is_moved = (sum(half) for half in np.split(np.array(on_h200.moved(LARGE, "search", "advance")), 2))
on_h100_moved = sum(on_h100.moved(LARGE, "search", "advance")[2:])
Markdown(
    f"**Read**, by the two kernels on the H200: {is_read / must_read - 1:.0%} more. About half of it is padding: rows of {SMALL} numbers are stored 256 apart. The rest "
    "are planes that are read twice, where two *chunks* meet (a chunk: the planes through which one block marches). "
    "**Written**: less, because the last writes are still in L2 when a kernel ends. "
    f"At {LARGE}³, where both hardly count: {is_moved:.1f} B of {must_move:.0f}; on an H100 {on_h100_moved:.1f} B, which this does not explain."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which clock binds?** As in lecture 3: the share of a kernel's time that its bytes would take, and how busy L2, L1 and the schedulers are.
# Memory is the longest clock of every kernel. It fills the least of the time of `matvec_dot`, `matvec` and `map_stencil`; on an H100 it binds there, too.

# %% slideshow={"slide_type": "skip"}
KERNELS = ["update_p", "matvec", "dot_pAp", "update_x_and_r", "dot_rr", "matvec_dot", "update_x_and_r_dot"]
KERNELS += ["map_stencil", "search", "advance"]
binds, there = ({name: on.clocks(f"cg_{name}_{SMALL}") for name in KERNELS} for on in (on_h200, on_h100))
assert all(max(c.shares, key=c.shares.get) == clocks.MEMORY for c in binds.values())
assert set(sorted(binds, key=lambda name: binds[name].shares[clocks.MEMORY])[:3]) == {"matvec", "matvec_dot", "map_stencil"}
assert {c.binds for c in there.values()} == {clocks.MEMORY}
bench.Table(
    [
        {"GPU": on.name, "kernel": name, "time": bench.format_time(c.time_s), **c.row()}
        for on, found in ((on_h200, binds), (on_h100, there))
        for name, c in found.items()
    ],
    f"Shares of a kernel's time, {SMALL}³ points. {bench.origins(on.traffic.origin for on in GPUS)}",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The longest clock of an iteration**, as the figures of this lecture show it, takes its launches over fields together: the bytes of all, and what all ask of
# L2, L1 and the schedulers, beside the sum of their times. The launches with one block, which make α and β, are left out. Memory is the longest clock
# wherever all launches of a method were counted: at 250³ each method, at 1000³ the two kernels and deferred x.

# %% slideshow={"slide_type": "skip"}
longest = {(on.name, v, edge): on.iteration_clocks(v, edge) for on in GPUS for v in METHODS for edge in (SMALL, LARGE)}
of_memory = {key for key, its in longest.items() if its and its.longest_unit == clocks.MEMORY}
uncounted = {(on.name, v, LARGE) for on in GPUS for v in METHODS if v not in (two_kernel, deferred_x)}
assert {key for key, its in longest.items() if its is None} == uncounted == longest.keys() - of_memory

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Do not ask the host
#
# $\alpha$ and $\beta$ stay on the GPU: a launch with one block computes each. So "two kernels" are **four launches** per iteration.
#
# - **Two iterations are one [CUDA graph](glossary.md#CUDA-graph)**, a recording of launches: one call queues them all.
# - **The GPU stops by itself**: when $\langle r, r\rangle$ meets the tolerance it sets a flag. Kernels that find the flag return at once.
# - The host looks now and then, and finds x as it was when the tolerance was met.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "The five kernels by CuPy, whose host asks in every iteration: "
    + ", ".join(f"**{bench.format_time(on.whole_s(baseline, CUPY))}** on an {on.name}" for on in GPUS)
    + ". By ours, in graphs: "
    + ", ".join(f"**{bench.format_time(on.iteration_s(baseline))}**" for on in GPUS)
    + "."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# The host is not the only reason: CuPy's dot product is also slower than ours.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_jax = viz.Prediction(
    "05-jax",
    f"JAX compiles its own conjugate gradients, with a stencil made of array slices, from Python. On an H200 our five kernels take "
    f"{bench.format_time(on_h200.whole_s(baseline))} per iteration of a whole solve. JAX takes …",
    ["about twice as long", "about as long", "clearly less"],
)
guess_jax


# %% [markdown] slideshow={"slide_type": "slide"}
# ## What others reach

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def by_others(on):
    """Draw the speed of four programs, as a share of a copy of the bytes of our two kernels."""
    least = on.pair(two_kernel).bound_s(on.copy) / 2
    rungs = []
    for how, variant, library in (
        ("CuPy, stored matrix (CSR)", VARIANTS["cg_csr"], CUPY),
        ("five kernels, ours", baseline, CUDA),
        ("JAX, slices", VARIANTS["cg_slices"], Library.JAX),
        ("two kernels, ours", two_kernel, CUDA),
    ):
        time_s = on.whole_s(variant, library)
        over = f"{time_s / on.whole_s(two_kernel):.1f}×"
        shown = {"iteration": bench.format_time(time_s), "over two kernels": over}
        rungs.append(viz.Rung(how, least / time_s, shown, on.iteration_clock(variant, library=library)))
    note = viz.Note(f"An iteration of a whole call, {SMALL}³, double precision.", on.origin)
    return viz.ladder_picture(rungs, bound="copy of 64 B per point", bound_gb_s=on.copy.t_eff_gb_s, note=note)


assert bytes_per_point(two_kernel) == 64
viz.on_each(by_others, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
jax_s = on_h200.whole_s(VARIANTS["cg_slices"], Library.JAX)
assert jax_s < 0.9 * on_h200.whole_s(baseline)
guess_jax.reveal(f"{1 - jax_s / on_h200.whole_s(baseline):.0%} less", right="clearly less")

# %% [markdown] slideshow={"slide_type": "-"}
# [CSR](glossary.md#CSR) stores the nonzeros, row by row; every iteration reads them. JAX takes less time than a copy of the five kernels' bytes: its compiler
# seems to fuse, too.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## On many GPUs: what the halo costs

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
LINK_GB_S = 450  # NVLink of an H100 or H200, in one direction
longest = [on.messages(2)[-1] for on in map(Scaling, bench.records("scaling")) if on.messages(2)]
by_link = "".join(f" Measured between two H200: {n / 1e6:.0f} MB in {1e6 * t:.0f} µs." for n, t in longest)
assert all(t > n / LINK_GB_S / 1e9 for n, t in longest)


def halo_row(gpus):
    """Return a row: points per GPU, their time, and the halo's bytes and least time, plain and fused."""
    received = {fields: 8 * max(cost.halo((LARGE,) * 3, gpus, fields=fields)) for fields in (1, 2)}
    plain, wide = (f"{n / 1e6:.0f} MB, ≥ {1e6 * n / LINK_GB_S / 1e9:.0f} µs" for n in received.values())
    return {
        "GPUs": gpus,
        "iteration, two kernels": bench.format_time(on_h200.iteration_s(two_kernel, LARGE) / gpus),
        "halo, apart: p": plain,
        "halo, fused: r and p": wide,
        "a pass saved": bench.format_time(on_h200.pass_s(LARGE) / gpus),
    }


bench.Table(
    [halo_row(gpus) for gpus in (2, 8, 64)],
    f"{LARGE}³ unknowns cut along z. Iteration: that of one H200, divided. Halo: what a GPU receives, at {LINK_GB_S} GB/s (NVLink, one direction).{by_link}",
)

# %% slideshow={"slide_type": "skip"}
more_halo_s = (cost.halo((LARGE,) * 3, 64, fields=2)[1] - cost.halo((LARGE,) * 3, 64)[1]) * 8 / LINK_GB_S / 1e9
assert more_halo_s > on_h200.pass_s(LARGE) / 64 and more_halo_s < on_h200.pass_s(LARGE) / 8

# %% [markdown] slideshow={"slide_type": "-"}
# Map and stencil fused save one pass and need the halo of two fields. On 64 GPUs the second takes **longer** than the pass, unless it travels while
# the GPU computes, or need not travel at all (lecture 9). And two sums per iteration let all GPUs wait: lectures 7 and 9.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of the solver's kernels**, as Nsight Compute counted them, on both GPUs.

# %% slideshow={"slide_type": "skip"}
every_clock("cg")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write an iteration of conjugate gradients, fused step by step, until nothing is left to ask the host. In each step `...` stands for
# missing lines. Run the cell: it says what your threads did, in a sentence, a picture and counts. Try the variations below it, and answer
# their questions before you open the answer. The grids are two-dimensional here, so that they can be drawn:
# $(A p)_{j,i} = 4 p_{j,i}$ minus the four neighbours.

# %% slideshow={"slide_type": "skip"}
from course_pkg import practice


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. In place.** A map first, because it is the simplest kernel of the iteration: $p \leftarrow r + \beta p$. It has one field p, and overwrites it.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def update_p(r, beta, p):
    i = cuda.grid(1)
    ...


practice.check("update_p", update_p)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. Map and stencil.** The fused kernel of the lecture, for an operator in which c weighs the neighbours above and below:
# $s = 2 (1 + c)\, p_2 - p_2^\text{west} - p_2^\text{east} - c\,(p_2^\text{north} + p_2^\text{south})$, where $p_2 = r + \beta p_1$. Which counts will
# the bytes follow, those with a cache or those without?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def map_stencil(r, p1, beta, c, p2, s):
    i, j = cuda.grid(2)
    ny, nx = p1.shape
    if i < nx and j < ny:
        new = ...
        total = 2 * (1 + c) * new
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            weight = c if di == 0 else 1.0
            ...
        ...


practice.check("map_stencil", map_stencil)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. Without the [race](glossary.md#race).** The kernel is complete here. Its parameters are called `old` and `new`, but nothing keeps a caller from handing over the
# same field for both. Write the loop of the host that launches it again and again. Neither a barrier nor a copy is needed.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def search(r, old, beta, new, s):
    i, j = cuda.grid(2)
    ny, nx = old.shape
    if i < nx and j < ny:
        mine = r[j, i] + beta * old[j, i]
        total = 4 * mine
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= r[j + dj, i + di] + beta * old[j + dj, i + di]
        new[j, i] = mine
        s[j, i] = total

def alternate(r, p1, p2, beta, s, times):
    grid = -(-r.shape[1] // 8), -(-r.shape[0] // 4)
    for _ in range(times):
        ...
    return p1


practice.check("alternate", alternate)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. A dot on its way.** `block_total(value)` gives the first thread of a block the sum of `value` over the block. Where does ⟨p, s⟩ cost no load?

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        ...
    ...


practice.check("stencil_dot", stencil_dot)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. Two maps and a dot.** Which r belongs into ⟨r, r⟩, the one that was read or the one that is written? Mind the order of loads and stores:
# after a store to one array the compiler reads from the others again, because two names may mean the same memory.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import block_total

@cuda.jit
def update_x_r_dot(p, s, alpha, x, r, partial):
    i = cuda.grid(1)
    square = 0.0
    if i < x.size:
        x[i] += alpha * p[i]
        ...
    part = block_total(square)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = part


practice.check("update_x_r_dot", update_x_r_dot)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Throw A p away.** The same step without s. `leave_total(value, partial)` sums over the block and stores the sum in the block's place.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import leave_total

@cuda.jit
def advance(p, alpha, x, r, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    square = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                ...
        ...
    leave_total(square, partial)


practice.check("advance", advance)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. Stop without being told.** One warp, launched after all blocks of step 6 have ended. `state` holds ⟨r, r⟩ of the last iteration, β, and the
# flag; `warp_sum(value)` gives the first lane the sum of `value` over the warp.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import warp_sum

@cuda.jit
def stop_flag(partial, enough, state):
    t = cuda.threadIdx.x
    mine = 0.0
    ...
    total = warp_sum(mine)
    if ...:
        state[1] = total / state[0]
        state[0] = total
        ...


practice.check("stop_flag", stop_flag)

# %% [markdown] slideshow={"slide_type": "skip"}
# What have you solved?

# %% slideshow={"slide_type": "skip"}
practice.progress("fusion")


# %% [markdown] slideshow={"slide_type": "skip"}
# **Plan freely.** Switch boundaries on and off. Which plan has the fewest bytes if s must be stored? Which of the kernels above does it contain?

# %% slideshow={"slide_type": "skip"}
def judge(starts, chosen):
    """Return the plan in which these containers begin a kernel."""
    recompute = ["s"] if "compute A p again" in chosen else []
    return fusion.plan(CG, fusion.cut(CG, starts), recompute=recompute, in_place="one field p" in chosen)


viz.free_planner(
    judge, [c.name for c in CG.containers], [h200, h100], facts, options=("compute A p again", "one field p")
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On this CPU.** The two kernels, compiled for all cores, against SciPy with a stored matrix, in turns; a call does five
# iterations. The yardstick is a triad of the same numbers. Which of them is nearer to it?

# %% slideshow={"slide_type": "skip"}
from course_pkg.cg import cpu_numba
from course_pkg.cg.rivals import scipy_csr
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams

TURNS = 5
problem = PoissonProblem.ones(96)
library, shape = scipy_csr(problem.b), problem.b.shape
ones, result = np.ones((2, problem.b.size)), np.empty(problem.b.size)
first = cpu_numba.cg_two_kernel(problem.b, rtol=1e-100, maxiter=1)  # the first call compiles

# %% slideshow={"slide_type": "skip"}
on_cpu = bench.compare(
    {
        "triad": streams.triad,
        "SciPy, CSR": lambda b: library.call(TURNS),
        "two kernels": lambda b: cpu_numba.cg_two_kernel(b, rtol=1e-100, maxiter=TURNS),
    },
    problem.b,
    arguments={"triad": (*ones, 3.0, result)},
    cost={
        "triad": stream_cost.triad(problem.b.size),
        "SciPy, CSR": TURNS * cost.with_matrix(shape),
        "two kernels": TURNS * two_kernel.cost(shape),
    },
    samples=3,
)

# %% slideshow={"slide_type": "skip"}
bench.Comparison(on_cpu.measurements, on_cpu["triad"].t_eff_gb_s)

# %% slideshow={"slide_type": "skip"}
xeon = bench.recorded("cg", "intel-xeon-processor")
ours, theirs = (
    xeon.one(what, shape=[SMALL] * 3) for what in (two_kernel.by(Library.NUMBA_CPU), VARIANTS["cg_csr"].by(Library.SCIPY))
)
Markdown(f"{SMALL}³ unknowns: {theirs.median_s / ours.median_s:.1f} times as fast as SciPy. {xeon.origin}")

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures two iterations of two methods on it, in a few seconds, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.cg import here

both_ends = baseline, two_kernel
bench.live(
    lambda: here.on_this_gpu(*both_ends, edge=SMALL),
    [on.pair(v) for on in GPUS for v in both_ends],
    {v: v.title for v in both_ends},
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
best = on_h200.iteration_s(deferred_x, LARGE)
moved_h100 = on_h100_moved / must_move
assert 1.03 < moved_h100 < 1.05
Markdown(
    f"At {LARGE}³ the two kernels move **{is_moved / must_move:.2f} times** the bytes that must move on the H200, and take "
    f"**{on_h200.over_bound(two_kernel, LARGE):.2f} times** as long as a copy would; on the H100, {moved_h100:.2f} and {on_h100.over_bound(two_kernel, LARGE):.2f} times. "
    "We have not found where the rest of the time goes. And beyond?\n\n"
    f"- **x every second iteration**: {bytes_per_point(deferred_x):g} bytes, {bench.format_time(best)} in place of "
    f"{bench.format_time(on_h200.iteration_s(two_kernel, LARGE))}.\n"
    "- **Smaller numbers**: p or r in single precision, with care for the last digits (lecture 6).\n"
    "- **Fewer iterations**: a preconditioner; it has passes of its own.\n"
    "- **Several steps for one sum**: s-step methods (lecture 7)."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "variant": v.title,
            "bytes per point": f"{bytes_per_point(v):g}",
            **{f"{edge}³, {on.name}": bench.format_time(on.iteration_s(v, edge)) for edge in PUBLISHED for on in GPUS},
        }
        for v in METHODS
    ],
    f"Time per iteration. {EVERY_ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Count the passes of the whole iteration, not of the part that you are about to fuse.**

# %% [markdown] slideshow={"slide_type": "skip"}
# **How good is your intuition?** Here are your six predictions of this lecture.

# %% slideshow={"slide_type": "skip"}
viz.intuition("05")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 5**, `exercises/05_fusion`, 20 points. **Next**: lecture 6 reorders unknowns, so that what is read together lies together.
# - M. R. Hestenes, E. Stiefel, *Methods of conjugate gradients for solving linear systems*, Journal of Research of the National Bureau of
#   Standards 49(6), 1952.
# - Y. Saad, *Iterative methods for sparse linear systems*, 2nd edition, SIAM, 2003: algorithms 6.18 and 9.1.
# - M. Bernaschi, M. G. Carrozzo, A. Celestini, G. Piperno, P. D'Ambra, *Communication-reduced conjugate gradient variants for
#   GPU-accelerated clusters*, 2025.
# - NVIDIA, *CUDA C++ Programming Guide*: CUDA graphs.
