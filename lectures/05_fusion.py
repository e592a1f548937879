# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Fusion in conjugate gradient
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # What fusion really saves
#
# Conjugate gradient, container by container: which of them may share a kernel, and what each pass over memory is worth.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, the method as a graph 5, counting 8, in place and the race 6,
# > what is legal and the planner 8, dots and A p twice 6, measured 6, limit and summary 2; libraries and the host if time is left.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **count** what each container of a solver reads, writes and multiplies,
# - **hold** such a count against the hardware's, and explain each difference,
# - **decide** which containers may share a kernel, and say why others may not,
# - **spot** the race in a stencil that is fused in place,
# - **find** the fusion that pays most, and how far it is from its bound.
#
# It builds on lecture 2 (T_eff, the bound) and lecture 3 (marching, pairs, sums).

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
import inspect
import textwrap

import numpy as np
from IPython.display import Markdown

from course_pkg import bench, cuda, simt, viz
from course_pkg.cg import cost, cpu_numba, fusion, reference
from course_pkg.cg import gpu_numba as gpu
from course_pkg.cg.cases import BOXES
from course_pkg.cg.demands import COPY, RTOL
from course_pkg.cg.problem import PUBLISHED, PoissonProblem
from course_pkg.cg.program import CG
from course_pkg.cg.rivals import scipy_csr
from course_pkg.cg.variants import METHODS, VARIANTS
from course_pkg.core import CourseError, Library, machine
from course_pkg.device import sums as device_sums
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams
from course_pkg.witness import clocks, record
from course_pkg.witness.cases import large_cases

# %% slideshow={"slide_type": "skip"}
from course_pkg.vector.variants import VARIANTS as STREAMS

recorded = bench.recorded("cg")
counters, traffic = record.recorded(), record.recorded(record.TRAFFIC)
CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
baseline, map_stencil_fused, fused_dots, two_kernel, deferred_x = METHODS
SMALL, LARGE = PUBLISHED


# %% slideshow={"slide_type": "skip"}
def on_h200(what, edge, **parameters):
    """Return a recorded measurement on a cube."""
    return recorded.one(what, shape=[edge] * 3, **parameters)


def two_iterations(variant, edge=SMALL):
    """Return the recorded pair of iterations in the midst of a solve: one graph."""
    return on_h200(variant.by(CUDA), edge, iterations=2)


def iteration_s(variant, edge=SMALL):
    """Return the seconds of one iteration: two were timed together."""
    return two_iterations(variant, edge).median_s / 2


def solved(variant, edge=SMALL):
    """Return the recorded solve to a residual of 1e-6: all iterations, and what comes before and after."""
    return on_h200(variant.by(CUDA), edge, rtol=RTOL)


# %% slideshow={"slide_type": "skip"}
def flops_a_point(*kernels):
    """Return what Nsight Compute counted in some kernels, an fma as two flops, for each point of their cases."""
    total = 0
    for kernel in kernels:
        counted = counters.counters[f"cg_{kernel}_64_float64"]
        add, mul, fma = (counted[f"smsp__sass_thread_inst_executed_op_d{kind}_pred_on.sum"] for kind in ("add", "mul", "fma"))
        total += (add + mul + 2 * fma) / np.prod(BOXES["64"])
    return total


def bytes_a_point(variant):
    """Return what an iteration moves for each point, in double precision."""
    return 8 * sum(variant.plan.passes)


long_copy = on_h200(COPY, LARGE)
h200 = machine("h200").measured(long_copy.t_eff_gb_s)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## More work, and less throughput
#
# Two programs for the same method, on the same H200, for the same answer. The first has a kernel for every operation. The second has
# two: it uses $A p$ for one dot, does **not store it**, and computes it again. (Both also launch two kernels of one block for scalars.)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
old, new = two_iterations(baseline), two_iterations(two_kernel)
dots = sum(c.flops for c in CG.containers if c.kind == "reduction")  # their kernels are counted on another grid
flops = {
    "five kernels, A p once": flops_a_point("update_p", "matvec", "update_x_and_r") + dots,
    "two kernels, A p twice": flops_a_point("search", "advance_1"),
}
bench.Table(
    [
        {"program": what, "flops a point": f"{flops[what]:.0f}", "throughput": f"{m.throughput_gb_s:,.0f} GB/s"}
        for what, m in zip(flops, (old, new), strict=True)
    ],
    f"One iteration, {SMALL}³ unknowns, double precision. {recorded.origin}",
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_twice = viz.Prediction(
    "03-twice",
    f"The second program does {flops['two kernels, A p twice'] / flops['five kernels, A p once']:.1f} times the flops, at a lower "
    "throughput. An iteration takes …",
    ["longer", "about as long", "clearly less"],
)
guess_twice

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Faster, by what it does not move

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "program": words,
            "bytes a point": f"{bytes_a_point(v):g}",
            "time of an iteration": bench.format_time(iteration_s(v)),
            "a whole solve": bench.format_time(solved(v).median_s),
        }
        for v, words in zip((baseline, two_kernel), flops, strict=True)
    ],
    recorded.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert iteration_s(two_kernel) < 0.7 * iteration_s(baseline) and new.throughput_gb_s < old.throughput_gb_s
guess_twice.reveal(f"{1 - iteration_s(two_kernel) / iteration_s(baseline):.0%} less")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Throughput is what a program is praised for; time is what it is used for. Here the faster program shows
# > the lower number. Leave it standing: the rest of the lecture is how one comes to such a program, and how one knows when to stop.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## The method, step by step

# %% [markdown] slideshow={"slide_type": "-"}
# | container | | |
# |---|---|---|
# | updateP | $p \leftarrow r + \beta p$ | map |
# | matVec | $s \leftarrow A p$ | stencil |
# | dot | $\langle p, s\rangle$ | reduction |
# | updateXandR | $x \leftarrow x + \alpha p$ | map |
# | | $r \leftarrow r - \alpha s$ | |
# | dot | $\delta \leftarrow \langle r, r\rangle$ | reduction |
#
# $\alpha = \delta / \langle p, s\rangle$, and $\beta = \delta / \delta_\text{old}$.

# %% [markdown] slideshow={"slide_type": "-"}
# Three kinds of *containers*: a **map** touches its own point, a **stencil** reads the neighbours, too, and a **reduction** needs every
# point before anybody has its result.
#
# It solves $A x = b$: $r$ is what is left, $b - A x$, and $p$ the direction of the next step. $A$ is the 7-point Laplacian, never
# stored.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The same, as a graph

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.graph_picture(CG.containers, CG.edges)

# %% [markdown] slideshow={"slide_type": "-"}
# These arrows are computed from the fields that each container reads and writes. **A kernel will be a frame around some containers**, and
# what crosses a frame goes through memory.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Count the map and the stencil
#
# `updateP` and `matVec` on $m = n^3$ points, counted as in notes on multi-GPU solvers, the *fusion document* from here on: elements; a
# multiplication is a flop; no boundary.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
EDGE = 64
BOX, POINTS, FACE = (EDGE,) * 3, EDGE**3, EDGE**2


def counted_row(name, count, allocating):
    """Return a row of the document's table: in units of the points, m, and of a face, n²."""

    def either(plain, more):
        return f"{plain // POINTS} m" + (f" or {more // POINTS} m" if more != plain else "")

    return {
        "": name,
        "reads, no reuse": either(count.reads, allocating.reads),
        "full reuse": either(count.reads_reused, allocating.reads_reused),
        "writes": f"{count.writes // POINTS} m",
        "flops": f"{count.multiplications // POINTS} m",
        "halo": f"{count.halo // FACE} n²",
        "flops a read": f"{count.intensity:.2g}",
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
step_map, step_stencil = cost.update_p(BOX), cost.matvec(BOX)
both, fused = cost.map_and_stencil(BOX), cost.map_stencil_fused(BOX)
rows = {
    "map": counted_row("map", step_map, step_map),
    "stencil": counted_row("stencil", step_stencil, step_stencil.allocating(1)),
    "both": counted_row("map, then stencil", both, step_map + step_stencil.allocating(1)),
    "fused": counted_row("fused", fused, fused.allocating(2)),
}
bench.Table(
    [rows["map"], rows["stencil"], rows["both"]],
    "The second number: where a store first reads its cache line (write-allocate). Halo: what one GPU between two others receives.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Seven reads of the stencil or one? Both are right: without a cache, and with one that keeps every neighbour.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Let the room count the stencil before the table is shown. The halo is what one GPU receives from its two neighbours when
# > the grid is cut along z; the first and the last GPU have one neighbour and half of it.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fuse them, on paper
#
# $$ p_2 = r + \beta p_1, \qquad s = A (r + \beta p_1) $$
#
# The stencil computes $p_2$ again at each of its seven points.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table([rows["both"], rows["fused"]], "For any n, from `cost.py`.")

# %% [markdown] slideshow={"slide_type": "-"}
# The fusion document prints **5** flops a read; by its own counts it is 14 m / 2 m = **7**. It gives the halo as 2 n² and as 4 n²: of two
# fields, two faces each, it is **4 n²**.

# %% [markdown] slideshow={"slide_type": "skip"}
# Three slips more, which change no count: the boundary GPUs are given n elements of halo where n² is meant, the fused kernel is said to
# write p1 where it writes p2, and "7 fused multiplications and adds" counts the first sum, which has nothing to be added to.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The same count, by running it
#
# One thread a point, as plain as the document: the interpreter runs it for 64³ points and counts.

# %% slideshow={"slide_type": "-"}
rng, n = np.random.default_rng(0), [np.uint32(EDGE)] * 3
r, p1 = rng.random((2, POINTS))
p2, s = np.empty((2, POINTS))
launch = blocks_for(BOX, stencil.BLOCK_3D), stencil.BLOCK_3D
update_p, matvec = gpu.update_p_flat_kernel, stencil.laplacian_flat_kernel
together = gpu.map_stencil_flat_kernel
counted = {
    "map": simt.profile(update_p[launch], r, p1, 0.5, *n, p2),
    "stencil": simt.profile(matvec[launch], p2, *n, s),
    "fused": simt.profile(together[launch], r, p1, 0.5, *n, p2, s),
}

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.map_stencil_flat_kernel)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_count = viz.Prediction(
    "03-count",
    "The document counts 14 reads and 14 multiplications a point for the fused kernel. The interpreter counts …",
    ["14 and 14", "a little less of both", "nearly 14 reads, 8 multiplications"],
)
guess_count

# %% slideshow={"slide_type": "skip"}
CASES = {"map": "cg_update_p_flat", "stencil": "laplacian_flat", "fused": "cg_map_stencil_flat"}
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
DADD, DMUL, DFMA = (f"smsp__sass_thread_inst_executed_op_d{kind}_pred_on.sum" for kind in ("add", "mul", "fma"))


def by_interpreter(of, *names):
    """Return a count of some kernels in turn, for each of the 64³ points."""
    return sum(of(counted[name]) for name in names) / POINTS


def by_ncu(metric, *names):
    return sum(counters.counters[f"{CASES[name]}_64"][metric] for name in names) / POINTS


def from_memory(direction, *names):
    """Return the numbers that moved between the H200 and its memory for each of 512³ points."""
    moved = sum(traffic.counters[f"{CASES[name]}_512"][f"dram__bytes_{direction}.sum"] for name in names)
    return moved / 8 / 512**3


# %% slideshow={"slide_type": "skip"}
def witnesses(document, *names):
    """Return the rows of a table with three witnesses; all for one point."""

    def row(what, paper, interpreter, hardware):
        cells = (f"{paper / POINTS:.0f}" if paper else "–", f"{interpreter:.2f}", hardware)
        return {"for one point": what, **dict(zip(("document", "interpreter", "H200"), cells, strict=True))}

    asked = by_interpreter(lambda p: p.global_load.bytes_requested / 8, *names)
    sectors = by_interpreter(lambda p: p.global_load.sectors, *names)
    unique = by_interpreter(lambda p: p.global_load.unique_bytes / 8, *names)
    stored = by_interpreter(lambda p: p.global_store.bytes_requested / 8, *names)
    add, mul, fma = (
        by_interpreter(lambda p, k=k: p.flops.instructions("float64", k), *names) for k in ("add", "mul", "fma")
    )
    return [
        row("reads, no reuse", document.reads, asked, "–"),
        row("load sectors", 0, sectors, f"{by_ncu(SECTORS, *names):.2f}"),
        row("reads, full reuse", document.reads_reused, unique, f"{from_memory('read', *names):.2f}"),
        row("writes", document.writes, stored, f"{from_memory('write', *names):.2f}"),
        row("multiplications", document.multiplications, mul + fma, f"{by_ncu(DMUL, *names) + by_ncu(DFMA, *names):.2f}"),
        row("additions", 0, add + fma, f"{by_ncu(DADD, *names) + by_ncu(DFMA, *names):.2f}"),
    ]


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Three witnesses: map, then stencil

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
WHERE = "Interpreter, sectors, flops: 64³ points. Reads and writes of the H200: memory, 512³. By `course verify counters` and `traffic`."
bench.Table(witnesses(both, "map", "stencil"), WHERE)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Three witnesses: fused

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(witnesses(fused, "fused"), WHERE)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
products = by_interpreter(lambda p: sum(p.flops.instructions("float64", k) for k in ("mul", "fma")), "fused")
assert 13.7 < by_interpreter(lambda p: p.global_load.bytes_requested / 8, "fused") < 14 and round(products) == 8
guess_count.reveal("nearly 14 reads, 8 multiplications", how="Counted")

# %% slideshow={"slide_type": "skip"}
print(counters.origin, traffic.origin, sep="\n")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Why they differ
#
# - **Reads**: points on a face have no neighbour beyond it: $6n^2$ reads less for each field, which vanish as $n$ grows.
# - **Multiplications**: the document gives every neighbour a coefficient. Ours are $-1$: six subtractions, and one product, $6p$. Fused,
#   each neighbour costs $\beta p_1$; one *fma*, a fused multiply-add, adds it to r, and a subtraction takes both from the sum.
# - **Full reuse** is what memory sees here, within two per cent: the caches hold the neighbours of 512³ points.
# - **Writes** are a little under 2 here: when a kernel ends, its last writes are still in the L2 cache.
#
# A count that nobody holds against a counter is an opinion.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Write-allocate.** The document adds a read for each store that first fetches its cache line. On the H200 memory reads nothing more for these
# stores, which write whole sectors. On a CPU with write-allocate it would, unless the stores go around the cache.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes for the counting. The expected wrong answer is "a little less of both": boundaries are seen, the
# > missing coefficients are not.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What a warp reads in the fused kernel

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
places = ("the point itself", "west", "east", "north", "south", "below", "above")
lines = dict(zip(places, (w for w, c in counted["fused"].by_line.items() if c.global_load), strict=True))
loads = {place: counted["fused"].by_line[where].global_load for place, where in lines.items()}
assert round(sum(c.requests for c in loads.values()) / (POINTS / 32)) == 14
assert loads["west"].sectors_per_request > loads["north"].sectors_per_request == loads["the point itself"].sectors_per_request
viz.slider(
    lambda place: viz.access_strip(counted["fused"].access(lines[place], block=35)), places, label="neighbour", start="west"
)


# %% [markdown] slideshow={"slide_type": "-"}
# Every line reads r **and** p₁: fourteen requests a warp. A neighbour to the west or east costs a sector more.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Why not in place?
#
# The fused kernel reads $p_1$ and writes $p_2$. One field less would do, it seems (five points of a plane, for short):

# %% slideshow={"slide_type": "-"}
@cuda.jit
def fused_in_place(r, p, beta, s):
    j, i = cuda.blockIdx.x, cuda.threadIdx.x
    new = r[j, i] + beta * p[j, i]
    total = 4 * new
    for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= j + dj < p.shape[0] and 0 <= i + di < p.shape[1]:
            total -= r[j + dj, i + di] + beta * p[j + dj, i + di]
    p[j, i] = new  # nobody needs the old one any more?
    s[j, i] = total


# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_race = viz.Prediction(
    "03-race",
    "Each thread reads its neighbours' old p, computes, and only then replaces its own. This is …",
    ["right", "always wrong", "right or wrong, as it happens"],
)
guess_race

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Line, threads, and why

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
R, P = rng.random((2, 8, 64))
racy = simt.profile(fused_in_place[8, 64], R, P, 0.5, np.empty((8, 64)))
hazard = next(h for h in racy.hazards if len({t.block for t in h.threads}) > 1)
assert len({t.block for t in hazard.threads}) == 2
code = inspect.getsource(fused_in_place.py_func).splitlines()
for line in sorted({hazard.line, hazard.other_line}):
    print(f"{line:3} {code[line - 1].strip()}")
print()
print(textwrap.fill(hazard.message, 84))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_race.reveal("as it happens: a neighbour may have replaced its p already, and β would be applied twice", how="Found")

# %% [markdown] slideshow={"slide_type": "-"}
# **No barrier of a block mends it**: blocks of one launch run in any order. Two launches would: that is the baseline. Or two fields: read
# $p_1$, write $p_2$, **swap**. One more field to *hold*, and none more to *move*. (The document's reason: p has a loop in its graph.)

# %% [markdown] slideshow={"slide_type": "skip"}
# **A barrier for all blocks** exists: a *cooperative launch* has one. It would mend the kernel, on one condition: all threads of the launch are
# resident at the same time, for a block that has not begun cannot come to a barrier. An H200 holds 270,336 threads, and 250³ points are
# 15,625,000: each thread would have to keep the new p of 58 points in registers from the barrier's one side to its other. They do not fit: 250³ doubles are 125 MB, all registers of an H200 35 MB.

# %% slideshow={"slide_type": "skip"}
resident = h200.sms * h200.max_warps_per_sm * 32
assert resident == 270_336 and -(-(SMALL**3) // resident) == 58

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes. Whether the numbers come out right depends on which block is first; a right answer is worse than a wrong
# > one. The interpreter needs no luck: it remembers who wrote and who read each element, and which barriers lay between.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which containers may share a kernel?
#
# - **A map joins what follows it.** What it computes stays in a register.
# - **A map joins a stencil** if it is computed again at each neighbour; a field that it updates in place is then kept twice.
# - **A reduction joins what makes its fields**: they are summed on their way to memory.
# - **Nothing that needs its result joins a reduction**: it is known when all blocks have ended. Blocks do not wait for each other.
# - **A stencil does not join a stencil** that it reads: it would need neighbours of neighbours. (*Time blocking* does just that.)
# - **A field need not be stored** if every kernel that reads it can compute it again, from what has not changed since.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_saving = viz.Prediction(
    "03-saving",
    "Map and stencil fused, and nothing else: of all the bytes of an iteration, that saves …",
    ["about a third", "about a fifth", "under a tenth"],
)
guess_saving

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The planner

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
gpus = [h200, machine("a100-80"), machine("v100")]
viz.planner(fusion.CHOICES, gpus, cost.facts)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes, with the room deciding. Refused plans teach as much: ask for the reason before you show it. A plan that
# > a barrier for the whole grid or time blocking would allow is refused here, too: say that these exist.
# > In JupyterLab the laboratory has a free planner, with a switch for each boundary.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What each fusion saves

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
all_fused = fusion.CHOICES["map, stencil, dots"]
steps = [(v.title, v.idea, v.plan) for v in METHODS]
steps.insert(METHODS.index(two_kernel), ("map, stencil, dots", "both of them (not timed)", all_fused))
bench.Table(
    [
        {
            "variant": title,
            "idea": idea,
            "read, written": "{:g}, {:g}".format(*plan.passes),
            "bytes a point": f"{8 * sum(plan.passes):g}",
            "saved": f"{1 - sum(plan.passes) / sum(baseline.plan.passes):.0%}" if title != baseline.title else "",
        }
        for title, idea, plan in steps
    ]
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_saving.reveal(
    f"{1 - bytes_a_point(map_stencil_fused) / bytes_a_point(baseline):.0%}; after the dots, "
    f"{1 - 8 * sum(all_fused.passes) / bytes_a_point(fused_dots):.0%}",
    how="Counted",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The dot, on its way to memory
#
# The thread that computes $s$ at a point has $p$ and $s$ in registers. It adds $p \cdot s$ to a sum of its own; warps and blocks add up;
# one number a block is left, and one block sums those.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.source(device_sums.leave_total)

# %% [markdown] slideshow={"slide_type": "-"}
# No *atomics* (updates in whatever order threads come): the order of the additions is fixed, so two runs agree to the last digit.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Throw A p away
#
# With the dots fused, $s = A p$ is still written once and read once. To compute it again takes $p$, which the next kernel reads in any
# case, and some flops, which cost far less time than the bytes that are saved.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
lean = two_kernel.plan
viz.graph_picture(lean.containers, lean.edges, groups=lean.groups, again=lean.again, badges=lean.badges)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.search_kernel)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.advance_kernel)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_bound = viz.Prediction(
    "03-bound",
    f"{bytes_a_point(two_kernel):g} bytes a point, over the bandwidth of a copy of {LARGE}³, is the yardstick. The two kernels take …",
    ["as long", "about a tenth longer", "twice as long"],
)
guess_bound


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Measured: a step at a time

# %% slideshow={"slide_type": "skip"}
def measured_row(variant, edge):
    """Return a row: the bytes of an iteration, the time they would take a copy, and the time they took."""
    pair = two_iterations(variant, edge)
    return {
        "variant": variant.title,
        "bytes a point": f"{bytes_a_point(variant):g}",
        "bound": bench.format_time(pair.bound_s(long_copy) / 2),
        "measured": bench.format_time(pair.median_s / 2),
        "time / bound": f"{pair.over_bound(long_copy):.2f}×",
        "against baseline": f"{pair.median_s / two_iterations(baseline, edge).median_s:.0%}",
        "of the bytes": f"{bytes_a_point(variant) / bytes_a_point(baseline):.0%}",
    }


def measured(edge):
    return bench.Table([measured_row(v, edge) for v in METHODS], f"An iteration, {edge}³. {recorded.origin}")


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
measured(SMALL)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
over = {e: two_iterations(two_kernel, e).over_bound(long_copy) for e in (SMALL, LARGE)}
own = two_iterations(two_kernel).over_bound(on_h200(COPY, SMALL))
guess_bound.reveal(f"{over[SMALL]:.2f} times at {SMALL}³, {over[LARGE]:.2f} at {LARGE}³; over a copy of {SMALL}³ itself, {own:.2f}")

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read it.** Rows do not add up: *fused dots* keeps `updateP` apart, and *two-kernel* has everything. Time follows bytes, and not
# exactly: on the H200, map and stencil together save 7 % of the bytes and 4 % of the time. A copy of 250³ numbers does not reach the bandwidth of a long
# one either. And the yardstick is no law: it is the bandwidth of a copy, and a kernel that reads more than it writes, such as a dot or a
# map of two fields, is faster for each byte. That flatters the baseline: at 1000³ it takes less than its "bound".

# %% slideshow={"slide_type": "skip"}
fused_saves = 1 - iteration_s(map_stencil_fused) / iteration_s(baseline)
assert round(100 * (1 - bytes_a_point(map_stencil_fused) / bytes_a_point(baseline))) == 7 and round(100 * fused_saves) == 4
assert on_h200(COPY, SMALL).t_eff_gb_s < 0.95 * long_copy.t_eff_gb_s and two_iterations(baseline, LARGE).over_bound(long_copy) < 1


# %% [markdown] slideshow={"slide_type": "skip"}
# **Is it so on another GPU?** Here is each GPU that has been recorded, with the bandwidth of its own copy as the yardstick:

# %% slideshow={"slide_type": "skip"}
def other_row(found, variant, edge):
    """Return a row of :func:`measured`, for a device."""
    pair, copy = found.one(variant.by(CUDA), shape=[edge] * 3, iterations=2), found.one(COPY, shape=[LARGE] * 3)
    times = {"an iteration": bench.format_time(pair.median_s / 2), "time / bound": f"{pair.over_bound(copy):.2f}×"}
    return {"GPU": found.device.name, "points": f"{edge}³", "variant": variant.title, **times}


bench.Table(
    [other_row(found, v, edge) for found in bench.records("cg") for edge in (SMALL, LARGE) for v in METHODS],
    "\n".join(found.origin for found in bench.records("cg")),
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A billion unknowns, on one GPU

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
measured(LARGE)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
big = solved(two_kernel, LARGE)
Markdown(
    f"**{LARGE}³ unknowns: {big.observed['iterations']} iterations in {big.median_s:.1f} s**, true residual "
    f"{big.observed['true_residual']:.2e} of ‖b‖. The s-step paper solved a problem of this size, in as many iterations, on 64 A100; without a "
    "stored matrix it fits in the memory of one H200."
)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## What memory really moved

# %% slideshow={"slide_type": "skip"}
def moved_row(variant, *names):
    """Return a row: bytes a point that must move in an iteration, and that did, by Nsight Compute."""
    must_read, must_write, read, written = bytes_moved(SMALL, *names)
    return {
        "variant": variant.title,
        "kernels over fields": len(names),
        "must read": f"{must_read:.0f} B",
        "is read": f"{read:.1f} B",
        "must be written": f"{must_write:.0f} B",
        "is written": f"{written:.1f} B",
    }


def bytes_moved(edge, *names):
    """Return bytes a point of some kernels: that must be read and written, and that were."""
    cases = [(large_cases()[f"cg_{name}_{edge}"].cost, traffic.counters[f"cg_{name}_{edge}"]) for name in names]
    must = (sum(getattr(cost, what) for cost, _ in cases) for what in ("bytes_read", "bytes_written"))
    moved = (sum(c[f"dram__bytes_{way}.sum"] for _, c in cases) for way in ("read", "write"))
    return [n / edge**3 for n in (*must, *moved)]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        moved_row(baseline, "update_p", "matvec", "dot_pAp", "update_x_and_r", "dot_rr"),
        moved_row(map_stencil_fused, "map_stencil", "dot_pAp", "update_x_and_r", "dot_rr"),
        moved_row(fused_dots, "update_p", "matvec_dot", "update_x_and_r_dot"),
        moved_row(two_kernel, "search", "advance"),
    ],
    f"For a point of {SMALL}³; each kernel by itself, with an empty cache. {traffic.origin}",
)

# %% slideshow={"slide_type": "skip"}
must_read, must_write, is_read, is_written = bytes_moved(SMALL, "search", "advance")
assert is_read > must_read and is_written < must_write
large_read, large_write, large_is_read, large_is_written = bytes_moved(LARGE, "search", "advance")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"**Read**: {is_read / must_read - 1:.0%} more. About half of it is padding: rows of {SMALL} numbers are stored 256 apart. The rest: where two *chunks* of "
    "planes, which threads march through, meet, planes are read again. "
    "**Written**: less, for the last writes are still in L2 when a kernel ends. "
    f"At {LARGE}³, where both hardly count: {large_is_read + large_is_written:.1f} B of {large_read + large_write:.0f}."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which clock binds?** As in lecture 3: the share of a kernel's time that its bytes would take, and how busy L2, L1 and the schedulers are.
# Memory is the longest clock of every kernel. It fills the least of the time of `matvec` and `matvec_dot`; on an H100 it binds there, too.

# %% slideshow={"slide_type": "skip"}
binds = {
    name: clocks.clocks(traffic.counters[f"cg_{name}_{SMALL}"], long_copy.t_eff_gb_s)
    for name in (
        *("update_p", "matvec", "dot_pAp", "update_x_and_r", "dot_rr"),
        *("matvec_dot", "update_x_and_r_dot", "map_stencil", "search", "advance"),
    )
}
h100, h100_copy = record.recorded(record.TRAFFIC, "nvidia-h100-80gb-hbm3"), bench.recorded("cg", "nvidia-h100-80gb-hbm3").one(COPY, shape=[LARGE] * 3)
there = {name: clocks.clocks(h100.counters[f"cg_{name}_{SMALL}"], h100_copy.t_eff_gb_s) for name in binds}
assert all(max(c.shares, key=c.shares.get) == clocks.MEMORY for c in binds.values())
assert set(sorted(binds, key=lambda name: binds[name].shares[clocks.MEMORY])[:2]) == {"matvec", "matvec_dot"}
assert {c.binds for c in there.values()} == {clocks.MEMORY}
bench.Table(
    [{"kernel": name, "time": bench.format_time(c.time_s), **c.row()} for name, c in binds.items()],
    f"Shares of a kernel's time, {SMALL}³ points. {traffic.origin}",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The host must not be asked
#
# $\alpha$ and $\beta$ stay on the GPU. A kernel of one block makes each of them, the next kernel reads it there. So "two kernels" are **four
# launches** an iteration.
#
# - **Two iterations are one CUDA graph**, a recording of launches: one call queues them all.
# - **The device stops by itself**: it compares $\langle r, r\rangle$ with the tolerance and sets a flag; kernels that find it return at once.
# - The host looks now and then, and finds x as it was in the iteration that met the tolerance.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
asked = on_h200(baseline.by(CUPY), SMALL)
asked_s = asked.median_s / asked.parameters["iterations"]
Markdown(
    f"The same by CuPy, whose host asks in every iteration: **{bench.format_time(asked_s)}**; by ours, in graphs: "
    f"**{bench.format_time(iteration_s(baseline))}**. CuPy's slow dot adds to it: "
    f"{bench.recorded('vector').one(STREAMS['dot'].by(CUPY), n=2**30).t_eff_gb_s:,.0f} GB/s on 2³⁰ numbers."
)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## What others make of it

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def library_row(variant, library, how):
    m = on_h200(variant.by(library), SMALL)
    return row(m.label, how, m.median_s / m.parameters["iterations"])


def row(method, how, t):
    return {"method": method, "how": how, "an iteration": bench.format_time(t), "over two kernel": f"{t / whole_s(two_kernel):.1f}×"}


def whole_s(variant):
    """Return the seconds of an iteration with its share of what comes before and after: as libraries are timed."""
    return solved(variant).median_s / solved(variant).observed["iterations"]


bench.Table(
    [
        library_row(VARIANTS["cg_csr"], CUPY, "cupyx cg, stored matrix"),
        library_row(VARIANTS["cg_matrix_free"], CUPY, "cupyx cg, our stencil"),
        library_row(baseline, CUPY, "containers, by CuPy"),
        row(baseline.by(CUDA).label, "the same, by our kernels", whole_s(baseline)),
        library_row(VARIANTS["cg_slices"], Library.JAX, "jax cg, padded slices"),
    ],
    f"{SMALL}³ unknowns, fp64, whole calls. {recorded.origin}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# A stored matrix (CSR: its numbers that are not zero, row by row) is read in every iteration. JAX beats our baseline.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## On many GPUs: the halo

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "GPUs": g,
            "first and last": f"{cost.halo((LARGE,) * 3, g)[0]:,}",
            "between two": f"{cost.halo((LARGE,) * 3, g)[1]:,}" if g > 2 else "–",
            "fused: first and last": f"{cost.halo((LARGE,) * 3, g, fields=2)[0]:,}",
            "fused: between": f"{cost.halo((LARGE,) * 3, g, fields=2)[1]:,}" if g > 2 else "–",
            "points of a GPU": f"{LARGE**3 // g:,}",
        }
        for g in (1, 2, 8, 64)
    ],
    f"Numbers that a GPU receives in an iteration, {LARGE}³ unknowns cut along z; fused: updateP inside matVec.",
)


# %% [markdown] slideshow={"slide_type": "-"}
# Fusing the map into the stencil pays for fewer passes with a larger halo. And each iteration has **two reductions**, for which all GPUs wait: lectures 5 and 7.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# **Step 1. Plan freely.** Switch boundaries on and off. Which plan has the fewest bytes if s must be stored?

# %% slideshow={"slide_type": "skip"}
def judge(starts, chosen):
    """Return the plan in which these containers begin a kernel."""
    recompute = ["s"] if "compute A p again" in chosen else []
    return fusion.plan(CG, fusion.cut(CG, starts), recompute=recompute, in_place="one field p" in chosen)


viz.free_planner(
    judge, [c.name for c in CG.containers], gpus, cost.facts, options=("compute A p again", "one field p")
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. On this CPU.** Two of the variants, compiled for all cores, against SciPy with a stored matrix, in turns; a call does ten
# iterations. The yardstick is a triad of the same numbers. Which of them is nearest to it?

# %% slideshow={"slide_type": "skip"}
problem = PoissonProblem.ones(128)
library, shape = scipy_csr(problem.b), problem.b.shape
ones, room = np.ones((2, problem.b.size)), np.empty(problem.b.size)
on_cpu = bench.compare(
    {
        "triad": streams.triad,
        "SciPy, CSR": lambda b: library.call(10),
        "baseline": lambda b: cpu_numba.cg_baseline(b, rtol=1e-100, maxiter=10),
        "two kernel": lambda b: cpu_numba.cg_two_kernel(b, rtol=1e-100, maxiter=10),
    },
    problem.b,
    arguments={"triad": (*ones, 3.0, room)},
    cost={
        "triad": stream_cost.triad(problem.b.size),
        "SciPy, CSR": 10 * cost.with_matrix(shape),
        "baseline": 10 * baseline.cost(shape),
        "two kernel": 10 * two_kernel.cost(shape),
    },
    samples=5,
)
bench.Comparison(on_cpu.measurements, on_cpu["triad"].t_eff_gb_s)

# %% slideshow={"slide_type": "skip"}
xeon = bench.recorded("cg", "intel-xeon-processor")
ours, theirs = (xeon.one(what, shape=[SMALL] * 3) for what in (two_kernel.by(CPU), VARIANTS["cg_csr"].by(Library.SCIPY)))
print(f"{SMALL}³ unknowns: {theirs.median_s / ours.median_s:.1f} times as fast as SciPy. {xeon.origin}")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. Solve, and compare with the textbook.** The GPU's solver runs here in the interpreter, on a small grid; it is the same code.

# %% slideshow={"slide_type": "skip"}
small = PoissonProblem.ones(12)
found = gpu.cg_two_kernel(cuda.to_device(small.b))
print(found)
print(reference.cg(small.matvec, small.b))

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Make it fail.** Each of these says what is wrong and what to try. Predict which raises an error, and which returns a `Solution`
# that has not converged.

# %% slideshow={"slide_type": "skip"}
spoilt = small.b.copy()
spoilt[3, 4, 5] = np.nan
for what, call in {
    "NaN in b": lambda: gpu.cg_two_kernel(cuda.to_device(spoilt)),
    "too few iterations": lambda: gpu.cg_two_kernel(cuda.to_device(small.b), maxiter=5),
    "b is zero": lambda: gpu.cg_two_kernel(cuda.to_device(0 * small.b)),
    "A of the wrong sign": lambda: reference.cg(lambda u: -small.matvec(u), small.b),
    "x0 of another shape": lambda: reference.cg(small.matvec, small.b, np.ones((3, 3, 3))),
}.items():
    try:
        print(f"{what}: {call()}\n")
    except CourseError as error:
        print(f"{what}: CourseError: {error}\n")

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures two iterations of two methods on it, in a few seconds, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.cg import here

both_ends = baseline, two_kernel
bench.live(
    lambda: here.on_this_gpu(*both_ends, edge=SMALL),
    [found.one(v.by(CUDA), shape=[SMALL] * 3, iterations=2) for found in bench.records("cg") for v in both_ends],
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
best = iteration_s(deferred_x, LARGE)
Markdown(
    f"At {LARGE}³ the two kernels take **{over[LARGE]:.2f} times** as long as a copy would for the bytes that must move, and they move "
    f"**{(large_is_read + large_is_written) / (large_read + large_write):.2f} times** these bytes. What the rest of the time goes to, we have not "
    "found. And beyond?\n\n"
    f"- **x every second iteration**: {bytes_a_point(deferred_x):g} bytes, {bench.format_time(best)} in place of {bench.format_time(iteration_s(two_kernel, LARGE))}.\n"
    "- **Smaller numbers**: p or r in single precision, with care for the last digits (lecture 4).\n"
    "- **Fewer iterations**: a preconditioner; it has passes of its own.\n"
    "- **Several steps for one reduction**: s-step methods (lecture 5)."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "variant": v.title,
            "bytes a point": f"{bytes_a_point(v):g}",
            f"iteration, {SMALL}³": bench.format_time(iteration_s(v)),
            f"solve, {SMALL}³": bench.format_time(solved(v).median_s),
            f"iteration, {LARGE}³": bench.format_time(iteration_s(v, LARGE)),
        }
        for v in METHODS
    ],
    recorded.origin,
)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# Count the passes of the whole iteration, not of the part that you are about to fuse.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 5**, `exercises/05_fusion`, 20 points: count a program, fuse two maps, a dot and a stencil, mend a race, and plan.
# - **Next**: lecture 4 reorders unknowns, so that what is read together lies together.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Read
#
# - M. R. Hestenes, E. Stiefel, *Methods of conjugate gradients for solving linear systems*, Journal of Research of the National Bureau of
#   Standards 49(6), 1952.
# - M. Bernaschi, M. G. Carrozzo, A. Celestini, G. Piperno, P. D'Ambra, *Communication-reduced conjugate gradient variants for
#   GPU-accelerated clusters*: the s-step paper.
# - Y. Saad, *Iterative methods for sparse linear systems*, 2nd edition, SIAM, 2003: section 6.7, algorithm 6.18.
# - NVIDIA, *CUDA C++ Programming Guide*: CUDA graphs.
