# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Between the GPUs
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Between the GPUs
#
# Conjugate gradients on many GPUs: messages, sums, and what hides them.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, slabs and halos 9, messages and overlap 10, sums 8, strong and weak
# > scaling 5, the model 6, limit and summary 3.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **divide** a grid or a matrix among ranks, and list what each needs of others,
# - **hide** a message behind work, and say when that ends,
# - **count** the messages and sums of an iteration,
# - **judge** a run by its speed-up and its efficiency,
# - **predict** from how many GPUs on fewer sums pay.
#
# It builds on lecture 5 (fused conjugate gradients) and lecture 7 (one sum for many steps).

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only. Matrices are small: two threads of BLAS would only wait for each other.
import inspect
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


import numpy as np
from IPython.display import Markdown
from scipy.sparse.linalg import splu

from course_pkg import bench, viz
from course_pkg.cg.variants import VARIANTS as LECTURE_5
from course_pkg.core.units import format_time

# %% slideshow={"slide_type": "skip"}
from course_pkg.distributed import here, model, timeline
from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.operators import RankOperator
from course_pkg.distributed.forecast import observations
from course_pkg.distributed.mailboxes import sum_over_gpus
from course_pkg.distributed.partition import Slab, offsets, owner_of
from course_pkg.distributed.phases import HALO
from course_pkg.distributed.recorded import iteration_s, phases_of
from course_pkg.distributed.serial import Serial
from course_pkg.distributed.slabs import SlabLaplacian
from course_pkg.distributed.suite_ranks import FIELDS
from course_pkg.distributed.work import Work
from course_pkg.paths import figure
from course_pkg.sstep import reference
from course_pkg.sstep.problem import PUBLISHED
from course_pkg.sstep.variants import VARIANTS as LECTURE_7
from course_pkg.witness.iterations import Iterations
from course_pkg.witness.scaling import Scaling

# %% slideshow={"slide_type": "skip"}
# What is recorded of several GPUs, by GPU. Without a record, the network's numbers are assumed, and each slide says so.
GPUS = [on for on in map(Scaling, bench.records("scaling")) if on.ranks and max(on.ranks) > 1]
PENDING = "Not measured on several GPUs yet."
ORIGIN = GPUS[-1].origin if GPUS else PENDING
FIT = GPUS[-1].fit if GPUS else None
H200 = next(on for on in map(Iterations, bench.records("cg")) if on.name == "H200")
BYTE_S = 1 / (H200.copy.t_eff_gb_s * 1e9)  # of a copy on one GPU
PCG, PFCG, MOMENTS, STABLE = (LECTURE_7[name] for name in ("pcg", "pfcg", "pcg_sstep_moments", "pcg_sstep"))
TWO_KERNEL = LECTURE_5["cg_two_kernel"]
BY_NAME = {v.function_name: v for v in (*LECTURE_5, *LECTURE_7)}
EDGE, BIG = min(PUBLISHED), max(PUBLISHED)
CUBE = (EDGE,) * 3

# %% slideshow={"slide_type": "skip"}
# The network: the latency and the rate of a message, and the latency of a round of a sum.
LATENCY_US, LINK_GB_S, ROUND_US = 10, 450, 10
KNOWN = "assumed"
if GPUS:
    one_latency, one_byte = here.latency_and_byte(GPUS[-1].messages(2))
    one_sum = dict(GPUS[-1].sums(2))[1]  # of one number on two ranks: one round
    LATENCY_US, LINK_GB_S, ROUND_US = round(1e6 * one_latency), round(1e-9 / one_byte), round(1e6 * one_sum)
    KNOWN = "measured"
NETWORK = f"{LATENCY_US} µs and {LINK_GB_S} GB/s for a message, {ROUND_US} µs for a round of a sum"
MODEL = f"A model: bytes as by a copy on an H200; {KNOWN}{' on two' if GPUS else ''}: {NETWORK}."


# %% slideshow={"slide_type": "skip"}
def taken(latency_us=None):
    """Return the model's coefficients, or those with one latency for messages and sums; launches are not counted."""
    halo_us, round_us = (LATENCY_US, ROUND_US) if latency_us is None else (latency_us, latency_us)
    byte_s = 1 / (LINK_GB_S * 1e9)
    return timeline.machine(
        byte_s=BYTE_S, halo_s=halo_us / 1e6, halo_byte_s=byte_s, round_s=round_us / 1e6, round_byte_s=byte_s
    )


def seconds(work, latency_us=None):
    """Return the time of an iteration by the model with these coefficients."""
    theta = np.array([*taken(latency_us).values()])
    return float(work.row(theta) @ theta)


# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_speedup = viz.Estimate(
    "09-speedup",
    f"A published run: {EDGE}³ points on one A100, then as many points on each of 64, {BIG}³ in all, to the same tolerance. Perfect would be 64 times the "
    "points in the same time. Points solved per second, over those of one GPU:",
    *(1, 300, "times"),
)
guess_speedup

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where 64 GPUs went

# %% slideshow={"slide_type": "skip"}
PAPER = {PFCG: 7.0, MOMENTS: 7.36}  # scaled speed-up on 64 GPUs: section V-B and figure 4
MANY = 64
more_iterations = PUBLISHED[BIG] / PUBLISHED[EDGE]
slower = MANY / (PAPER[PFCG] * more_iterations)
assert np.isclose(PAPER[PFCG] * more_iterations * slower, MANY)
assert 4 < more_iterations < 4.2 and 2 < slower < 2.5

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_speedup.reveal(PAPER[PFCG], how="Published", note=f"with one sum per iteration; with s-step {PAPER[MOMENTS]}")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "what": "iterations",
            "one GPU": f"{PUBLISHED[EDGE]:,}",
            "64 GPUs": f"{PUBLISHED[BIG]:,}",
            "factor": f"÷ {more_iterations:.2f}",
        },
        {"what": "time of an iteration", "one GPU": "1", "64 GPUs": f"{slower:.2f}", "factor": f"÷ {slower:.2f}"},
        {"what": "points per second", "one GPU": "1", "64 GPUs": f"{PAPER[PFCG]:g}", "factor": f"{MANY} ÷ {more_iterations:.2f} ÷ {slower:.2f}"},
    ],
    "Bernaschi and others, 2025, section V-B. The time of an iteration follows from the other rows.",
)  # fmt: skip

# %% [markdown] slideshow={"slide_type": "-"}
# Each GPU has as many points as before, and still an iteration takes more than **twice as long**. One GPU alone has neither of two costs: **[messages](glossary.md#message)** between GPUs whose parts touch, and **sums** over all.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Ask for the two factors before you show the table. The paper ran on A100 with
# > InfiniBand between nodes. More iterations for a larger grid are a preconditioner's business, not this lecture's.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Slabs: who owns what

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("slabs_and_halos.svg"),
    "A grid of 14 planes, divided among four ranks: 3, 4, 3 and 4 planes. Each rank holds its own planes and, beside them, a copy of each plane that it reads of a "
    "neighbour. Six messages bring these copies.",
)

# %% slideshow={"slide_type": "-"}
first = offsets(14, 4)  # 14 k // 4: rank k owns planes first[k] to first[k + 1] - 1
assert list(first) == [0, 3, 7, 10, 14]

# %% slideshow={"slide_type": "skip"}
assert list(owner_of([2, 3, 9], first)) == [0, 1, 2]

# %% [markdown] slideshow={"slide_type": "-"}
# Each square is a plane of the grid. A **[rank](glossary.md#rank)** is a process with a GPU of its own; its planes are its *slab*, those beside it the **[halo](glossary.md#halo)**. Nobody holds the whole vector.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What travels before a product

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture((*viz.MEMORIES, viz.Level("other GPUs")), "other GPUs")


# %% slideshow={"slide_type": "-"}
def multiply(comm, grid):  # every rank calls it, with a comm of its own
    A = SlabLaplacian(grid, comm)  # this rank's planes
    v = np.random.default_rng(0).standard_normal(grid)  # the same on all ranks
    return A.whole(A @ A.part(v))  # part: own planes; whole: those of all ranks


world = Serial(ranks=3)  # all ranks in one process, and every message kept
product = world.run(multiply, (6, 4, 4))[0]  # what rank 0 returned
sent = [(m.source, m.destination, m.count) for m in world.messages]

# %% slideshow={"slide_type": "skip"}
alone = Serial(1).run(multiply, (6, 4, 4))[0]
assert np.allclose(product, alone, rtol=0, atol=1e-14)
assert sorted(sent) == [(0, 1, 16), (1, 0, 16), (1, 2, 16), (2, 1, 16)]

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"Messages of {sent[0][2]} numbers, a plane each: rank "
    + ", ".join(f"{a} → {b}" for a, b, _ in sorted(sent))
    + "."
)

# %% slideshow={"slide_type": "skip"}
plan = slab_plan(Slab((6, 4, 4), rank=1, ranks=3))
assert plan.sends == ((0, slice(0, 16)), (2, slice(16, 32)))
assert plan.receives == ((0, slice(0, 16)), (2, slice(16, 32)))  # places in the halo

# %% [markdown] slideshow={"slide_type": "-"}
# All ranks run the **same program**. `comm`, the **[communicator](glossary.md#communicator)**, tells each its number, sends, receives and adds up. Ranks in one process take turns; processes use [MPI](glossary.md#MPI), GPUs [NCCL](glossary.md#NCCL).

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** The product is that of one rank, up to the last digit: the neighbours' planes are subtracted last. A plane is contiguous, so it is sent from where it lies.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_surface = viz.Estimate(
    "09-surface",
    f"{EDGE}³ points in slabs on {MANY} ranks. A rank with two neighbours receives a halo; its size, in percent of the points that the rank owns, is …",
    *(0.5, 500, "%"),
)
guess_surface


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Surface against volume

# %% slideshow={"slide_type": "skip"}
def slab_share(ranks):
    """Return the halo of a slab with two neighbours over its points."""
    return 2 * EDGE**2 / (EDGE**3 / ranks)


def cube_share(ranks):
    """Return the same for cubes with six neighbours: ranks is the cube of a whole number."""
    side = EDGE / ranks ** (1 / 3)
    return 6 * side**2 / side**3


shares = {"slabs": [(p, 100 * slab_share(p)) for p in (8, 27, 64, 125, 250)]}
shares["cubes"] = [(p, 100 * cube_share(p)) for p in (8, 27, 64, 125)]
exact = 2 * EDGE**2 / (Slab(CUBE, 31, MANY).shape[0] * EDGE**2)
assert abs(exact - slab_share(MANY)) < 0.2 * exact and slab_share(250) == 2.0
assert cube_share(1) > slab_share(1) and all(cube_share(p) < slab_share(p) for p in (8, 27, 64, 125))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    shares,
    xlabel="ranks",
    ylabel="halo, % of own points",
    log="xy",
    ticks=(8, 27, 64, 125, 250),
    yticks=(5, 10, 20, 50, 100, 200),
    note=f"{EDGE}³ points in all. Cubes of equal size.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_surface.reveal(100 * slab_share(MANY), how="On average")


# %% [markdown] slideshow={"slide_type": "-"}
# Two planes stay two planes while the slab gets thinner. Cubes have smaller halos from 8 ranks on, but up to six messages in place of two.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which pass needs which halo

# %% slideshow={"slide_type": "skip"}
def halo_row(name):
    """Return a row: the kernels of a method of lecture 5, and the fields that its neighbours send per iteration."""
    method = LECTURE_5[name]
    fields = [f for kernel in method.plan.kernels for f in kernel.halo]
    return {
        "method": method.idea,
        "bytes per point": f"{method.cost((100,) * 3).bytes / 1e6:.0f}",
        "halo of": " and ".join(fields),
        "halo per face": f"{8 * len(fields)} n² bytes",
    }


def faces(name):
    return sum(len(kernel.halo) for kernel in LECTURE_5[name].plan.kernels)


PLANS = ("cg_baseline", "cg_fused_dots", "cg_map_stencil_fused", "cg_two_kernel")
assert [faces(name) for name in PLANS] == [1, 1, 2, 2]
assert LECTURE_5["cg_two_kernel"].cost((100,) * 3).bytes == 64e6

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [halo_row(name) for name in PLANS],
    "Per iteration of CG. Planes have n² points; from the plans of lecture 5.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Fused with the product, p = r + β p is computed for neighbours as well. So a rank needs **r and the old p** beside its slab. Both travel, or r alone: then a rank keeps the halo of p, and
# updates it by itself, as our code for GPUs does. The last row is called **CG with two kernels** from here on.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Nine minutes since the picture of slabs. Ask how r alone can be enough before you show the last sentences: p's halo is
# > r + β p of the halos of r and of the old p. Step 7 of the laboratory asks it again.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A message: latency, and bytes over bandwidth

# %% slideshow={"slide_type": "skip"} tags=["live"]
LIVE = here.on_ranks(2, 16)  # two processes of MPI, where it is installed
RECORDED = GPUS[-1].messages(2) if GPUS else []


# %% slideshow={"slide_type": "skip"}
def message_picture(points, origin):
    """Draw the time of an exchange over its bytes, and the line that is fitted to it."""
    latency, per_byte = here.latency_and_byte(points)
    shortest, longest = min(t for _, t in points), max(t for _, t in points)
    steps = [1e-6 * digit * 10**k for k in range(6) for digit in (1, 2, 5)]
    return viz.curves_picture(
        {
            "measured": [(n, 1e6 * t) for n, t in points],
            "fitted": [(n, 1e6 * (latency + n * per_byte)) for n, _ in points],
        },
        lines={"latency": 1e6 * latency},
        xlabel="bytes that a rank receives",
        ylabel="µs",
        log="xy",
        yticks=[1e6 * t for t in steps if shortest / 2 < t < 2 * longest],
        note=f"Latency {1e6 * latency:.1f} µs, {1e-9 / per_byte:.1f} GB/s; n½ = {latency / per_byte / 1e3:,.0f} kB. {origin}",
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
shown, its_origin = (RECORDED, ORIGIN) if RECORDED else (LIVE.halos, LIVE.origin)
message_picture(shown, its_origin) if shown else Markdown(LIVE.origin)

# %% [markdown] slideshow={"slide_type": "-"}
# $t = \ell + \text{bytes} / B$, with the bandwidth $B$. A message of $n_{1/2} = \ell B$ bytes takes twice the **[latency](glossary.md#latency)** ℓ; by this model, a shorter one takes between ℓ and 2 ℓ.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Overlap: start, compute, wait, finish

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.source(RankOperator.multiply)


# %% slideshow={"slide_type": "skip"}
class Noted(SlabLaplacian):  # says what it does
    def inside(self, v, out, ops=None):
        noted.append("inside")
        super().inside(v, out, ops)

    def outside(self, halo, out, factor=1.0):
        noted.append("outside")
        super().outside(halo, out, factor)


noted, world = [], Serial(2)
world.run(lambda comm: Noted((6, 4, 4), comm) @ np.ones((3, 4, 4)))
assert noted[0] == "inside" and noted[-1] == "outside" and len(world.messages) == 2

# %% [markdown] slideshow={"slide_type": "-"}
# **[Overlap](glossary.md#overlap)**: `start` returns at once, `finish` waits. `inside` needs nothing of others, so the halo travels meanwhile. `outside` adds what came to the planes at the slab's ends. On a GPU
# the messages have a [stream](glossary.md#stream) of their own. `phases` is a stopwatch.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_hidden = viz.Estimate(
    "09-hidden",
    f"{EDGE}³ points in slabs. A GPU reads and writes {H200.copy.t_eff_gb_s / 1e3:.1f} TB/s; the product moves 16 bytes per point. Two planes of {EDGE}² numbers come at "
    f"{LINK_GB_S} GB/s, {LATENCY_US} µs after they were sent. The halo is hidden on up to …",
    *(1, 250, "GPUs"),
)
guess_hidden

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where overlap ends

# %% slideshow={"slide_type": "skip"}
PARTS = (2, 4, 8, 16, 32, 64, 125, 250)


def product_s(ranks, edge=EDGE):
    """Return the time of a product beside which the halo may travel."""
    return BYTE_S * Work.of("pcg", (edge,) * 3, ranks).hidden_bytes


def halo_s(ranks, edge=EDGE):
    """Return the time of the halo of a rank with most neighbours."""
    work = Work.of("pcg", (edge,) * 3, ranks)
    return LATENCY_US / 1e6 + work.halo_bytes / (LINK_GB_S * 1e9)


hidden_to = max(p for p in range(2, EDGE + 1) if halo_s(p) <= product_s(p))
big_to = max(p for p in range(2, BIG + 1) if halo_s(p, BIG) <= product_s(p, BIG))
assert 2 < hidden_to < 8 and big_to > 10 * hidden_to
assert Work.of("pcg", CUBE, 2).hidden_bytes == 16 * EDGE**3 / 2

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        f"product, {EDGE}³": [(p, 1e6 * product_s(p)) for p in PARTS],
        f"halo, {EDGE}³": [(p, 1e6 * halo_s(p)) for p in PARTS],
    },
    lines={"latency": LATENCY_US},
    xlabel="GPUs",
    ylabel="µs",
    log="xy",
    ticks=PARTS,
    yticks=(0.2, 1, 5, 20),
    note=MODEL,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_hidden.reveal(hidden_to, how="By the model", note=f"with {BIG}³ points {big_to}")

# %% [markdown] slideshow={"slide_type": "-"}
# *The model*: bytes over bandwidth, and a latency. Work shrinks with the number of GPUs, the latency does not. After the crossing, the halo's rest is waited for.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Four iterations in time, rank by rank

# %% slideshow={"slide_type": "skip"}
KINDS = (timeline.PRODUCT, timeline.VECTORS, timeline.BOUNDARY, timeline.HALO_WAIT, timeline.SUM)
IN_TIME = {v.titled(s=s): (v.function_name, s) for v, s in ((PCG, None), (STABLE, 4))}
LATENCIES_US = {"2 µs": 2, KNOWN: None, "50 µs": 50}


def in_time(method, GPUs, latency):
    """Draw four iterations with and without overlap: the first two ranks and the last."""
    name, s = IN_TIME[method]
    ranks = sorted({0, 1, GPUs - 1})
    panels = [
        viz.Panel(
            title,
            {
                f"rank {rank}": spans
                for rank, spans in timeline.timeline(
                    name, CUBE, GPUs, taken(LATENCIES_US[latency]), s=s, overlap=overlap, shown=ranks
                ).items()
            },
        )
        for title, overlap in (("without overlap", False), ("with overlap", True))
    ]
    return viz.ranks_picture(panels, KINDS, timeline.HALO, rows=3, note=f"{EDGE}³ points in all. The same model.")


# %% slideshow={"slide_type": "skip"}
def waited(spans):
    return sum(span.end - span.start for span in spans if span.kind == timeline.SUM)


first_rank, second_rank = timeline.timeline("pcg", CUBE, 8, taken(), shown=(0, 1)).values()
assert waited(first_rank) > waited(second_rank)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.explorer(
    in_time,
    start={"GPUs": 8, "latency": KNOWN},
    method=IN_TIME,
    GPUs=(2, 8, 32),
    latency=LATENCIES_US,
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Ten minutes since the formula of a message. Move the number of GPUs first, then the latency. What grows is orange: the next slides are about it. Ranks 0 and the last have one
# > neighbour, and some slabs have a plane less: they come earlier to each sum, and wait there.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A sum over all ranks: log₂ P rounds

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("all_reduce.svg"),
    "Eight ranks bring a number each. In round 1 each swaps its number with a neighbour and adds, in round 2 with a rank two away, in round 3 with a rank four away. After three rounds "
    "all of them hold the sum.",
)


# %% slideshow={"slide_type": "skip"}
def rounds(ranks):
    return Work.allreduce(1, ranks).rounds


assert [rounds(p) for p in (2, 8, 64, 1024)] == [1, 3, 6, 10]
tiny, gram = (seconds(Work.allreduce(n, MANY)) for n in (1, 81))
assert gram < 1.1 * tiny
assert Work.allreduce(81, MANY).rounds == Work.allreduce(1, MANY).rounds

# %% slideshow={"slide_type": "skip"}
summed = dict(GPUS[-1].sums(2)) if GPUS else {1: tiny, 81: gram}
assert summed[81] < 1.2 * summed[1]
where = "On two H200" if GPUS else f"By the model, on {MANY} ranks"
# What NCCL expects of its trees: a start of 4.4 µs; up and down again, 0.52 µs for each GPU of a host (0.94 µs if there
# are several hosts), and 5 µs for each level of the tree of hosts.
by_nccl = {8: 4.4 + 2 * 7 * 0.52, MANY: 4.4 + 2 * (7 * 0.52 * 1.8 + 3 * 5.0)}
assert [round(t) for t in by_nccl.values()] == [12, 48] and (not GPUS or ROUND_US == 10)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"**[All-reduce](glossary.md#all-reduce)**, as MPI can do it: {rounds(8)} rounds for 8 ranks, {rounds(MANY)} for {MANY}, {rounds(1024)} for 1,024. {where}, one number took {format_time(summed[1])} "
    f"and the 81 of s-step with s = 4 took {format_time(summed[81])}: **latencies, not bytes**. NCCL goes up a tree and down again."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** The picture is recursive doubling, one of MPI's algorithms for short messages. NCCL chooses among rings, trees and a network that sums. Its trees are a chain within a host and a
# > binary tree among hosts. A part of what two GPUs take is the start of NCCL's kernel, and two ranks cannot tell it from a round. So our model makes sums within a host too slow: for 8 GPUs of one host NCCL's
# > own estimate is 12 µs, ours 30; for 64 GPUs of 8 hosts it is 48 µs, ours 60.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Why conjugate gradients cannot hide it
#
# | in turn | needs | and so waits for |
# |:--|:--|:--|
# | p = r + β p | β | **the sum r·r, of all ranks** |
# | A p | p, and p of the neighbours | a message, hidden by work |
# | x += α p, r −= α A p | α | **the sum p·A p, of all ranks** |
#
# Each row needs the one before it. As the method stands, while a sum is under way **only x += α p is left to do**, which no other row reads.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_share = viz.Estimate(
    "09-share",
    f"{EDGE}³ points on {MANY} GPUs, CG with two kernels: 64 bytes per point at {H200.copy.t_eff_gb_s / 1e3:.1f} TB/s, {ROUND_US} µs per round of a sum. Waiting for sums takes, in percent of an iteration …",
    *(0.9, 100, "%"),
)
guess_share


# %% [markdown] slideshow={"slide_type": "slide"}
# ## One grid on many GPUs, part by part

# %% slideshow={"slide_type": "skip"}
def two_kernel(grid, ranks):
    """Return the work of an iteration of CG with two kernels: 64 bytes per point, one field of halo, two sums."""
    return Work.of("cg_two_kernel", grid, ranks)


# %% slideshow={"slide_type": "skip"}
def split(work):
    """Return the µs of an iteration by the model: kernels, what the halo adds, sums."""
    theta = np.array([*taken().values()])
    sums = work.rounds * theta[5] + work.round_bytes * theta[6]
    kernels = work.bytes * theta[0]
    return {
        "kernels": 1e6 * kernels,
        "halo": 1e6 * (work.row(theta) @ theta - kernels - sums),
        "sums": 1e6 * sums,
    }


splits = {p: split(two_kernel(CUBE, p)) for p in PARTS}
share = splits[MANY]["sums"] / sum(splits[MANY].values())
assert share > 0.75 and splits[2]["sums"] < splits[2]["kernels"]
assert two_kernel(CUBE, 4).hidden_bytes * 16 == Work.of("pcg", CUBE, 4).hidden_bytes * 40
assert splits[8]["halo"] < 1 < splits[16]["halo"] and halo_s(8) > product_s(8)
assert splits[MANY]["sums"] > splits[8]["sums"] and splits[MANY]["kernels"] < splits[8]["kernels"]

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        name: [(p, max(parts[name], 0.1)) for p, parts in splits.items()]
        for name in ("kernels", "halo", "sums")
    },
    xlabel="GPUs",
    ylabel="µs of an iteration",
    log="xy",
    ticks=PARTS,
    yticks=(0.1, 1, 10, 100),
    height=3.3,
    note=f"CG with two kernels, {EDGE}³ points. The halo: what is not hidden; 0.1 stands for nothing. {MODEL}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_share.reveal(100 * share, how="By the model")

# %% slideshow={"slide_type": "skip"}
L2_BYTES = H200.found.device.llc_bytes
fits_from = next(p for p in PARTS if 8 * FIELDS * EDGE**3 / p <= L2_BYTES)
assert FIELDS == 4 and 8 * FIELDS * EDGE**3 / (fits_from - 1) > L2_BYTES

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"The paper, on A100: beyond 8 GPUs, dots can cost more than products. From {fits_from} GPUs on, a slab's {FIELDS} fields fit into an H200's L2: there kernels can be faster than this line, down to "
    "their launches, which the model leaves out."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes since the picture of the sum. The kernels' line falls, the sums' line rises: more GPUs make the wait longer. At 8 GPUs the halo is still hidden, all but 1 µs, but not beside the product of
# > the question before: the kernel of CG with two kernels moves 40 bytes per point, not 16, while the halo travels.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fewer sums, the same iterations

# %% slideshow={"slide_type": "skip"}
SMALL = 12


def counted(name, options, ranks):
    """Solve on some ranks in one process: iterations, sums, numbers in each sum, and messages."""

    def solve(comm):
        A = SlabLaplacian((SMALL,) * 3, comm)
        return getattr(reference, name)(A, np.ones(A.own_shape), **options)

    world = Serial(ranks, keep=False)
    return world.run(solve)[0], world


# %% slideshow={"slide_type": "skip"}
def sums_row(method, options):
    its = [counted(method, options, p)[0].iterations for p in (1, 2, 3)]
    found, world = counted(method, options, 3)
    most = max(world.reductions[1:])  # the first one compares the ranks' grids
    sums[method], widest[method] = found.extra["reductions"] / found.iterations, most
    assert len(set(its)) == 1
    return {
        "method": BY_NAME[method].titled(**options),
        "sums per iteration": f"{sums[method]:.2f}",
        "numbers in one": str(most),
        "iterations on 1, 2, 3 ranks": ", ".join(map(str, its)),
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
sums, widest = {}, {}
bench.Table(
    [sums_row(*method) for method in here.METHODS],
    f"{SMALL}³ points to 1e-6, counted here: with the two sums before and after the loop.",
)

# %% slideshow={"slide_type": "skip"}
assert sums["pcg"] > 1.8 * sums["pfcg"] and sums["pcg_sstep"] < 0.6
assert widest["pcg_sstep_moments"] == 2 * 2 + 1 and widest["pcg_sstep"] == (2 * 4 + 1) ** 2

# %% [markdown] slideshow={"slide_type": "-"}
# The solvers of lecture 7 run **unchanged**: only products and sums know of ranks. A message with more numbers costs no more rounds. In one sum, *moments* has 2 s + 1 numbers, *stable* (2 s + 1)².

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two processes, on this machine

# %% slideshow={"slide_type": "-"}
single = here.on_ranks(1, 16)  # and LIVE with two ranks, as before
assert single.iterations == LIVE.iterations

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
timed = dict(LIVE.sums)
bench.Table(
    [
        {"method": BY_NAME[name].titled(**options), "iterations, 1 rank": single.iterations[name], "2 ranks": LIVE.iterations[name]}
        for name, options in here.METHODS
    ],
    f"16³ points to 1e-6. {LIVE.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "A sum over both ranks took "
    + ", ".join(f"**{format_time(t)}** for {n:,} number{'s' * (n > 1)}" for n, t in timed.items())
    + "."
    if timed
    else "Without MPI, ranks take turns in one process: a time would mean nothing."
)


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** `mpirun` starts a process for each rank, where MPI is installed. If other programs use the cores, a rank waits for its turn, and a sum may take milliseconds.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Speed-up and efficiency
#
# $T_P(n)$: seconds of an iteration on P GPUs, with n points in all.
#
# | | the grid | **[speed-up](glossary.md#speed-up)** (times) | efficiency (1, or %) |
# |:--|:--|:--|:--|
# | **[strong scaling](glossary.md#strong-scaling)** | stays | $S = T_1(n) \,/\, T_P(n)$ | $E = S / P$ |
# | **[weak scaling](glossary.md#weak-scaling)** | n per GPU | $S = P\, T_1(n) \,/\, T_P(P n)$, *scaled* | $E = S / P$ |
#
# **[Efficiency](glossary.md#efficiency)** is the share of P GPUs that you got. Of a whole solve, iterations count as well: the 7 at the start of this lecture is the scaled speed-up of a whole solve.

# %% slideshow={"slide_type": "skip"}
def efficiency(work_of, ranks, weak=False):
    """Return the efficiency of an iteration, by the model; work_of takes a grid and a number of ranks."""
    grid = (EDGE * ranks, EDGE, EDGE) if weak else CUBE
    t1, tp = seconds(work_of(CUBE, 1)), seconds(work_of(grid, ranks))
    return t1 / tp if weak else t1 / (ranks * tp)


assert efficiency(two_kernel, 1) == 1 and efficiency(two_kernel, MANY, weak=True) > 4 * efficiency(
    two_kernel, MANY
)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Strong and weak, CG and s-step

# %% slideshow={"slide_type": "skip"}
def moments(grid, ranks, s=4):
    return Work.of("pcg_sstep_moments", grid, ranks, s)


COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128)
curves = {
    "CG, weak": [(p, 100 * efficiency(two_kernel, p, weak=True)) for p in COUNTS],
    "s = 4, weak": [(p, 100 * efficiency(moments, p, weak=True)) for p in COUNTS],
    "CG, strong": [(p, 100 * efficiency(two_kernel, p)) for p in COUNTS],
    "s = 4, strong": [(p, 100 * efficiency(moments, p)) for p in COUNTS],
}
for p in COUNTS[1:]:
    for weak in (False, True):
        assert efficiency(moments, p, weak) > efficiency(two_kernel, p, weak)
assert BIG**3 == MANY * EDGE**3 and halo_s(MANY, BIG) > 1.5 * product_s(MANY, BIG)
# of an iteration, in percent
published = {name: 100 * times * more_iterations / MANY for name, times in PAPER.items()}
assert max(published.values()) < 100 * min(efficiency(of, MANY, weak=True) for of in (two_kernel, moments))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    curves,
    xlabel="GPUs",
    ylabel="efficiency of an iteration, %",
    log="x",
    marks={"published, weak": [(MANY, value) for value in published.values()]},
    ticks=(1, 2, 4, 8, 16, 32, 64, 128),
    ylim=(0, 105),
    note=f"CG with two kernels; s-step by moments. Strong: {EDGE}³ in all; weak: {EDGE}³ per GPU, longer along z alone (published: a cube; one sum and s-step, A100). {MODEL}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# An efficiency compares a method **with itself** on one GPU, and the s-step method moves more bytes there. To choose a method, compare seconds.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A model: kernels, sums, and the halo's rest

# %% slideshow={"slide_type": "skip"}
MEANING = {
    "byte_s": ("byte", "bytes that kernels move"),
    "sweep_s": ("sweep", "sweeps: launch, start, end"),
    "reduction_s": ("reduction", "sums, before any message"),
    "halo_s": ("halo", "1: the latency of a halo *"),
    "halo_byte_s": ("halo_byte", "bytes of a halo *"),
    "round_s": ("round", "rounds of all sums"),
    "round_byte_s": ("round_byte", "bytes of these rounds"),
}


def coefficient_row(name):
    title, meaning = MEANING[name]
    row = {"coefficient": title, "multiplies": meaning, "in the pictures": small(taken()[name])}
    if FIT:
        row["fitted"] = small(FIT.coefficients[name], FIT.uncertainty(name))
    return row


# %% slideshow={"slide_type": "skip"}
def small(value, half=None):
    """Return seconds, also of a byte; half of an interval has the same unit."""
    if value == 0:
        return "0"
    scale, unit = (1e12, "ps") if value < 1e-9 else (1e6, "µs")
    numbers = [f"{scale * x:#.{digits}g}".rstrip(".") for x, digits in ((value, 3), (half, 2)) if x is not None]
    return f"{' ± '.join(numbers)} {unit}"


# %% slideshow={"slide_type": "skip"}
fitted_to = [m for m in GPUS[-1].iterations if m.parameters["ranks"] == 1] if FIT else []
assert all(work.sweeps == work.reductions for work, _ in observations(fitted_to))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [coefficient_row(name) for name in MEANING],
    f"The seconds of an iteration are the sum of all coefficients, each times what it multiplies; * only what is longer than the product. Fitted to CG on one GPU and to messages of two, which scatter by {FIT.scatter:.0%}; ± is half the interval of 95%. {ORIGIN}"
    if FIT
    else PENDING,
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The model, written out.** With the coefficients of the table, P ranks, and B for bytes of the rank with the most points:
#
# $$
# \begin{aligned}
# t = {} & \text{byte}\, B_\text{kernels} + \text{sweep} \cdot \text{sweeps} \\
# & + \text{sums}\,\bigl(\text{reduction} \\
# & \quad + \lceil \log_2 P \rceil (\text{round} + \text{round\_byte}\, B_\text{sum})\bigr) \\
# & + \max\bigl(0,\; \text{halo} + \text{halo\_byte}\, B_\text{halo} \\
# & \quad - \text{byte}\, B_\text{product}\bigr)
# \end{aligned}
# $$

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** The time is linear in seven coefficients. Least squares of relative errors give them with their covariance, so each prediction has an interval. Sweeps and sums cannot be told apart in these measurements:
# > each is taken for half of what both take together, and ± says that it may be anything in between. The column "in the pictures" is what they take: messages and sums as measured alone, bytes by a copy, and no launches. Weak scaling along z is
# > kind to slabs: as a cube of 1000³ on 64 GPUs, a rank's halo is on its way for longer than the product takes.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_crossover = viz.Estimate(
    "09-crossover",
    f"Weak scaling, {EDGE}³ points per GPU, {ROUND_US} µs per round of a sum. On one GPU, s-step by moments with s = 4 takes longer than CG with two kernels: more bytes. It is faster from … on",
    *(1, 1_024, "GPUs"),
)
guess_crossover


# %% [markdown] slideshow={"slide_type": "slide"}
# ## From how many GPUs on fewer sums pay

# %% slideshow={"slide_type": "skip"}
def gain(ranks, latency_us=None):
    """Return the time of CG over that of the s-step method, weak scaling."""
    grid = (EDGE * ranks, EDGE, EDGE)
    return seconds(two_kernel(grid, ranks), latency_us) / seconds(moments(grid, ranks), latency_us)


def fitted_gain(ranks):
    """Return that ratio by the fitted model, and the ends of its interval of 95%."""
    grid = (EDGE * ranks, EDGE, EDGE)
    (slow, _), (fast, _) = FIT.predict(two_kernel(grid, ranks)), FIT.predict(moments(grid, ranks))
    _, half = FIT.gain(two_kernel(grid, ranks), moments(grid, ranks))
    return slow / fast, (slow - half) / fast, (slow + half) / fast


# %% slideshow={"slide_type": "skip"}
# a sum takes ⌈log₂ P⌉ rounds, so lines rise between 2ᵏ and the next number
SOME = sorted({*range(1, 17), *(2**k + more for k in range(4, 10) for more in (0, 1)), 1024})
FEW_US, MUCH_US = 2, 50
TITLE = f"{ROUND_US} µs, {KNOWN}"
lines = {TITLE: [(p, gain(p)) for p in SOME]}
bands = {TITLE: [(p, gain(p, FEW_US), gain(p, MUCH_US)) for p in SOME]}
if FIT:
    lines["fitted"] = [(p, fitted_gain(p)[0]) for p in SOME]
    bands["fitted"] = [(p, *fitted_gain(p)[1:]) for p in SOME]
    assert max(high - low for _, low, high in bands["fitted"]) < 0.1  # a thirtieth of the picture's height
pays_from = next(p for p in range(1, 1025) if gain(p) > 1)
sooner, later = (next((p for p in model.GPUS if gain(p, us) > 1), None) for us in (MUCH_US, FEW_US))
assert gain(1) < 1 < gain(1024) and 8 < pays_from < 512 and sooner < pays_from
PAIR = {"slow": "cg_two_kernel", "fast": "pcg_sstep_moments"}
sure = model.crossover(FIT, CUBE, 4, **PAIR, weak=True) if FIT else model.Crossover(None, None, None)
bounds = sure.earliest, sure.ranks, sure.latest
assert all(n is None or (n - 1) & (n - 2) == 0 for n in bounds), "one more than a power of two"

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    lines,
    bands=bands,
    lines={"as fast": 1.0},
    xlabel=f"GPUs, {EDGE}³ points on each",
    ylabel="time of CG over s-step",
    log="x",
    ylim=(0, 3),
    ticks=(1, 4, 16, 64, 256, 1024),
    note=f"The wide shade: {FEW_US} to {MUCH_US} µs per message and round{'; the narrow one, hardly wider than its line: 95% of the fit to CG on one GPU. ' + ORIGIN if FIT else '. ' + MODEL}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_crossover.reveal(pays_from, how="By the model", note="with the coefficients of the pictures")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "With the fitted ones: from **{1}** GPUs on, with 95% between **{0}** and **{2}**.".format(
        *(n or "over 1,024" for n in bounds)
    )
    if FIT
    else PENDING
)

# %% slideshow={"slide_type": "skip"}
power = np.log(more_iterations) / np.log(BIG / EDGE)  # iterations grow with this power of the edge
assert 1 < power < 1.1


def flexible_cg(grid, ranks):
    return Work.of("pfcg", grid, ranks)


def cubes_of(work_of, ranks):
    """Return the work on one GPU, that of a rank of a cube with as many points per GPU, and the factor of iterations."""
    edge = round(EDGE * ranks ** (1 / 3))
    return work_of(CUBE, 1), work_of((edge,) * 3, ranks), (edge / EDGE) ** power


def scaled(work_of, ranks=MANY, latency_us=None):
    """Return the scaled speed-up of a whole solve by the model, with the paper's iterations."""
    one, many, more = cubes_of(work_of, ranks)
    return ranks / more * seconds(one, latency_us) / seconds(many, latency_us)


flexible, stepped = scaled(flexible_cg), scaled(moments)
assert seconds(two_kernel(CUBE, 1)) < seconds(Work.of("pfcg", CUBE, 1))
assert stepped > flexible > PAPER[MOMENTS] > PAPER[PFCG]

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(
    f"Scaled speed-up of solves on {MANY} GPUs: the paper **{PAPER[PFCG]:g}** (one sum) and **{PAPER[MOMENTS]:g}** (s-step); this model {flexible:.1f} and {stepped:.1f}."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes for the model. The paper's reference is CG with one sum, ours is CG with two kernels, which is harder to beat. Figure 4 of the paper shows the scaled speed-ups. The order is the same. The paper's runs lose more:
# > they wait for longer, or for what the model leaves out.
# > Ask what would have to be measured to narrow the shade. The interval comes from the covariance of the fit: errors of latencies, bandwidths and kernels, carried to the difference
# > of both times. What the model leaves out is not in it. With as many points on each GPU, only ⌈log₂ P⌉ moves the lines: each of the three numbers is one more than a power of two.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The published solves, beside the model.** Scaled speed-up of whole solves, as the paper defines it, of cubes with as many points per GPU as one GPU had alone. The lines are the model as fitted to one H200 and to
# messages of two; the shade is its interval of 95%. Between and beyond the two cubes of which the paper tells the iterations, these grow as a power of the edge. The last line is the model of the pictures with
# another latency.

# %% slideshow={"slide_type": "skip"}
SLOW_US = 100


def scaled_by_fit(work_of, ranks):
    """Return the scaled speed-up of a solve by the fitted model, and the ends of its interval of 95%."""
    one, many, more = cubes_of(work_of, ranks)
    value, half = (ranks / more * part for part in FIT.ratio(one, many))
    return value, value - half, value + half


if FIT:
    SOLVED = {PFCG.titled(): flexible_cg, MOMENTS.titled(s=4): moments}
    by_fit = {name: [(p, *scaled_by_fit(of, p)) for p in SOME] for name, of in SOLVED.items()}
    slow_line = [(p, scaled(flexible_cg, p, SLOW_US)) for p in SOME]
    at_many = {name: next(row for row in rows if row[0] == MANY) for name, rows in by_fit.items()}
    assert all(1.6 < value / PAPER[MOMENTS] < 2.2 for _, value, _, _ in at_many.values())
    assert 0.9 < dict(slow_line)[MANY] / PAPER[PFCG] < 1.1

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
viz.curves_picture(
    {name: [row[:2] for row in rows] for name, rows in by_fit.items()}
    | {f"{PFCG.titled()}, {SLOW_US} µs": slow_line},
    bands={name: [(p, low, high) for p, _, low, high in rows] for name, rows in by_fit.items()},
    marks={"published, 64 A100": [(MANY, value) for value in PAPER.values()]},
    xlabel=f"GPUs, about {EDGE}³ points on each",
    ylabel="scaled speed-up of a solve",
    log="xy",
    ticks=(1, 4, 16, 64, 256, 1024),
    yticks=(1, 2, 5, 10, 20, 50),
    note=f"Published: one sum {PAPER[PFCG]:g}, s-step {PAPER[MOMENTS]:g}. {ORIGIN}",
) if FIT else Markdown(PENDING)

# %% [markdown] slideshow={"slide_type": "skip"}
# The published solves reach about half of what the model says of H200s that are connected as the two were. With about ten times the latency, for each message and each round of a sum, the model says what was published. So
# their network and their host may be the difference; the model cannot tell which.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Measured on two GPUs

# %% slideshow={"slide_type": "skip"}
SHOWN_S = (None, 8)
FUSED = {v.function_name: v.name for v in LECTURE_5}


def forecast(on, name, edge, ranks):
    """Return the seconds of an iteration that follow from a rank's part alone and two sums, if both are recorded."""
    return on.forecast(FUSED[name], (edge,) * 3, ranks) if name in FUSED else None


# %% slideshow={"slide_type": "skip"}
def measured_row(on, name, s, edge, ranks):
    """Return a row of recorded solves: seconds of an iteration, and efficiencies."""
    one, many = on.solve(name, edge, 1, s=s), on.solve(name, edge, ranks, s=s)
    weak = on.efficiency(name, edge, ranks, s=s, scaling="weak")
    solves = [on.solve(name, edge, p, s=s, whole=True) for p in (1, ranks)]
    return {
        "method": BY_NAME[name].titled(s=s),
        "iterations": ", ".join(str(m.observed["iterations"]) if m else "–" for m in solves),
        "one rank": format_time(iteration_s(one)),
        f"{ranks} ranks": format_time(iteration_s(many)),
        "forecast": format_time(told) if (told := forecast(on, name, edge, ranks)) else "–",
        "strong": f"{on.efficiency(name, edge, ranks, s=s):.0%}",
        "weak": f"{weak:.0%}" if weak else "–",
    }


# %% slideshow={"slide_type": "skip"}
def cubes(on):
    """Return the edges of the cubes that were solved on one rank and on the most."""
    return [edge for edge in on.edges if on.methods(edge, max(on.ranks))]


def shown_of(on, edge, ranks):
    """Return the methods of the table, each with its s; by NCCL only those of lecture 5: the others follow by another link."""
    shown = [(name, s) for name, s in on.methods(edge, ranks) if s in SHOWN_S]
    fused = [(name, s) for name, s in shown if name in FUSED]
    return fused if on is GPUS[-1] and fused else shown


# %% slideshow={"slide_type": "skip"}
def measured_table(on):
    """Return the table of one record: of the published cube, or of the largest that was solved on one rank and more."""
    ranks, edge = max(on.ranks), EDGE if EDGE in cubes(on) else max(cubes(on))
    shown = shown_of(on, edge, ranks)
    hosted = "; others: whole solves over iterations" * any(name not in FUSED for name, _ in shown)
    return bench.Table(
        [measured_row(on, name, s, edge, ranks) for name, s in shown],
        f"{edge}³ points; per iteration. Strong, weak: efficiency. Two kernels: CUDA graphs in mid-solve{hosted}. {on.origin}",
    )


def best_told(on):
    """Return a sentence: the efficiency in strong scaling of the method that is fastest, for each cube."""
    ranks = max(on.ranks)
    fastest = {
        e: min(on.methods(e, ranks), key=lambda m, e=e: iteration_s(on.solve(m[0], e, ranks, s=m[1])))
        for e in cubes(on)
    }
    told = {}
    for e, (name, s) in fastest.items():
        told.setdefault(BY_NAME[name].titled(s=s), []).append(f"{e}³ **{on.efficiency(name, e, ranks, s=s):.0%}**")
    return "Strong efficiency by NCCL" + "".join(f", *{name}*: {', '.join(best)}" for name, best in told.items()) + "."


# %% slideshow={"slide_type": "skip"}
def forecast_told(on, edge=EDGE, ranks=2, name="cg_two_kernel"):
    """Return a sentence: how far the forecast is from what was measured, and what overlap hid."""
    beside, behind = (on.iteration(FUSED[name], (edge,) * 3, ranks, overlap) for overlap in (True, False))
    told = forecast(on, name, edge, ranks)
    if not (told and beside and behind):
        return ""
    off, hid = told / iteration_s(beside) - 1, iteration_s(behind) - iteration_s(beside)
    assert 0 < hid < phases_of(behind)[HALO] / 2
    assert abs(off) < 0.1
    signed = f"{off:+.0%}".replace("-", "−")
    return f" For CG with two kernels the forecast, half of the grid on one GPU and two sums, is off by **{signed}**. Overlap saves {format_time(hid)} of the halo's {format_time(phases_of(behind)[HALO])}."


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
measured_table(GPUS[-1]) if GPUS else Markdown(PENDING)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    best_told(GPUS[-1]) + forecast_told(GPUS[-1])
    if GPUS
    else "Run `course bench scaling` where there are several GPUs."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Most of the halo's time is not saved, though the product is long enough. We have not measured why; perhaps the kernel of the messages and the kernel of the boundary need time of their own beside the product.
# > `course bench scaling` starts itself on 1, 2, … ranks of your machine, and writes times by phase, as in the paper's figures 1 and 3.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The model, tested.** The time of an iteration of CG with two kernels, on two GPUs. The model of the pictures gives the shortest time, because it leaves out launches and the start of a sum.
# The fitted model includes both, from measurements on one GPU and of messages, but its time is still a few per cent too short.

# %% slideshow={"slide_type": "skip"}
TESTED = {"strong": CUBE, "weak": (2 * EDGE, EDGE, EDGE)}
tests = {}
for scaling, grid in TESTED.items() if FIT else ():
    found, work = GPUS[-1].iteration("two_kernel", grid, 2), two_kernel(grid, 2)
    tests[scaling] = (iteration_s(found), seconds(work), FIT.predict(work)[0])
assert all(
    0.7 * found < by_model < by_fit < found < 1.1 * by_fit for found, by_model, by_fit in tests.values()
)
HEADS = ("measured", "by the model", "as fitted")
bench.Table(
    [
        {"scaling": name, **dict(zip(HEADS, map(format_time, times), strict=True))}
        for name, times in tests.items()
    ],
    ORIGIN,
) if tests else Markdown(PENDING)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A sum that needs no message
#
# NCCL's sum is a kernel of its own. But a kernel can write **into mailboxes in other GPUs' memory** (`theirs`), and wait for them in its own (`here`):

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
code = inspect.getsource(sum_over_gpus.py_func).splitlines()
first = next(
    i for i, line in enumerate(code) if "for there in theirs" in line
)  # the lines before say what a NaN means
Markdown("\n".join(["```python", *(line[4:] for line in code[first:-1]), "```"]))

# %% slideshow={"slide_type": "skip"}
BY_LINK = {"NCCL": GPUS[-1], "peer memory": Scaling(GPUS[-1].found, "direct")} if GPUS else {}
BY_LINK = {name: on for name, on in BY_LINK.items() if on.sums(2)}


def linked_row(name, on):
    """Return a row: a sum, a halo exchange, an iteration on two GPUs and its forecast, by one kind of link."""
    its = on.iteration("two_kernel", CUBE, 2)
    halo = next(took for size, took in on.messages(2) if size == 8 * EDGE**2)
    return {
        "by": name,
        "a sum of one number": format_time(dict(on.sums(2))[1]),
        f"a halo of {EDGE}²": format_time(halo),
        f"an iteration, {EDGE}³": format_time(iteration_s(its)),
        "forecast": format_time(on.forecast("two_kernel", CUBE, 2)),
        f"efficiency, {EDGE}³": f"{on.efficiency('cg_two_kernel', EDGE, 2):.0%}",
        f"and {BIG}³": f"{on.efficiency('cg_deferred_x', BIG, 2):.0%}",
    }


# %% slideshow={"slide_type": "skip"}
if len(BY_LINK) > 1:
    nccl, direct = BY_LINK.values()
    assert 3 * dict(direct.sums(2))[1] < dict(nccl.sums(2))[1]
    assert all(
        on.efficiency("cg_two_kernel", EDGE, 2) >= least for on, least in ((nccl, 0.7), (direct, 0.85))
    )
    assert (
        abs(direct.forecast("two_kernel", CUBE, 2) / iteration_s(direct.iteration("two_kernel", CUBE, 2)) - 1)
        < 0.1
    )

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [linked_row(name, on) for name, on in BY_LINK.items()],
    f"CG, two kernels; {BIG}³ with x later. {ORIGIN}",
) if len(BY_LINK) > 1 else Markdown(PENDING)

# %% slideshow={"slide_type": "skip"}
if len(BY_LINK) > 1:
    best, steps = min(((name, s) for name, s in direct.methods(EDGE, 2) if s), key=lambda one: iteration_s(direct.solve(one[0], EDGE, 2, s=one[1])))
    by_two = {name: {p: iteration_s(direct.solve(name, EDGE, p, s=s)) for p in (1, 2)} for name, s in (("pcg", None), (best, steps), ("cg_two_kernel", None))}
    assert all(took[1] > 1.3 * took[2] for took in by_two.values())
    gain = 1 - by_two[best][2] / by_two["pcg"][2]
    assert 0.1 < gain < 0.3 and by_two[best][2] > 1.8 * by_two["cg_two_kernel"][2]
    assert all(direct.solve(name, EDGE, 2, s=s).observed["iterations"] == direct.solve(name, EDGE, 1, s=s).observed["iterations"] for name, s in direct.methods(EDGE, 2) if name not in FUSED)
Markdown(
    f"**The methods of lecture 7 on two GPUs.** By peer memory, whole iterations of CG, by operations, are CUDA graphs, and so are whole passes of s-step: the GPUs solve the small systems themselves, and the host looks after up to eight passes. Both gain from the second GPU: an iteration of CG takes {format_time(by_two['pcg'][1])} on one and {format_time(by_two['pcg'][2])} on two, of s-step ({BY_NAME[best].titled(s=steps)}) {format_time(by_two[best][1])} and {format_time(by_two[best][2])}. "
    f"Against CG by operations, this best s gains {100 * gain:.0f}%. CG with two kernels is far ahead, {format_time(by_two['cg_two_kernel'][2])}: where a sum takes {format_time(dict(direct.sums(2))[1])}, two of them are cheaper than the bytes that s-step moves besides."
) if len(BY_LINK) > 1 else Markdown(PENDING)

# %% slideshow={"slide_type": "skip"}
bench.Table(
    [measured_row(direct, name, s, EDGE, 2) for name, s in direct.methods(EDGE, 2)],
    f"{EDGE}³ points; per iteration, by peer memory. Two kernels: CUDA graphs in mid-solve; others: whole solves over iterations. {ORIGIN}",
) if len(BY_LINK) > 1 else Markdown(PENDING)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Nothing that is added or sent has changed: only kernels are gone. A place of the mailbox holds NaN while it is empty, so a number needs no flag beside it. `taken` looks until it finds a number. The planes go the same way, with a flag for each
# > block of threads, on a stream of their own (`course_pkg/distributed/mailboxes.py`). It works between GPUs that reach each other's memory, in one host.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit
#
# - **Slabs end** where there are as many ranks as planes; at half as many, their halo is as large as they are.
# - **Latency stays.** A larger s means fewer sums, up to where digits are lost (lecture 7).
# - **A preconditioner needs messages, or more iterations**: in block Jacobi each rank solves its own rows without the others; the iterations grow with the number of ranks.

# %% slideshow={"slide_type": "skip"}
assert slab_share(EDGE // 2) == 1.0


def with_own_blocks(comm):
    """Solve with a preconditioner that solves each rank's own block exactly: block Jacobi."""
    A = SlabLaplacian((SMALL,) * 3, comm)
    own = splu(A.own_block().tocsc())
    return reference.pcg(
        A, np.ones(A.own_shape), M=lambda v: own.solve(v.ravel()).reshape(v.shape)
    ).iterations


blocks = [Serial(p, keep=False).run(with_own_blocks)[0] for p in (1, 2, 4)]
assert blocks[0] < blocks[1] < blocks[2]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "skip"}
SUMMED = {
    TWO_KERNEL.titled(): (two_kernel, 2),
    PFCG.titled(): (flexible_cg, 1),
    MOMENTS.titled(s=4): (moments, 1 / 4),
}


def summary_row(name):
    work_of, per_iteration = SUMMED[name]
    one, many = work_of(CUBE, 1), work_of(CUBE, MANY)
    assert one.reductions == per_iteration
    return {
        "method": name,
        "bytes per point": f"{one.bytes / EDGE**3:.0f}",
        "halo, both faces": f"{many.halo_bytes / EDGE**2:.0f} n² bytes",
        "sums": f"{per_iteration:g}",
        "1 GPU": format_time(seconds(one)),
        "8": format_time(seconds(work_of(CUBE, 8))),
        f"{MANY}": format_time(seconds(many)),
        f"{MANY}, weak": format_time(seconds(work_of((EDGE * MANY, EDGE, EDGE), MANY))),
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table([summary_row(name) for name in SUMMED], f"Per iteration, {EDGE}³ points. {MODEL}")

# %% [markdown] slideshow={"slide_type": "-"}
# **A message can hide behind work; in CG as it stands, a sum hardly can. Count both.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 9**, `exercises/09_many_gpus`.
# - M. Bernaschi and others, *Communication-reduced conjugate gradient variants …*, 2025: the paper.
# - R. W. Hockney, *The communication challenge for MPP*, Parallel Computing 20, 1994: latency and $n_{1/2}$.
# - R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective communication operations in MPICH*, 2005.
# - P. Ghysels, W. Vanroose, *Hiding global synchronization latency in the preconditioned conjugate gradient algorithm*, 2014: a sum that travels beside a product.

# %% slideshow={"slide_type": "skip"}
viz.intuition("09")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write what ranks have to know and to say. In each step `...` stands for missing lines. Run the cell: it says in a sentence what is right or wrong. Where your function
# runs on several ranks, a picture shows what each of them did, in its order. All ranks run in this process, in turn; so you need no MPI, and ranks that would wait for each
# other without end are named. Try the variations below, and answer their questions before you open the answer.
#
# From step 4 on, every rank calls your function with a `comm` of its own: `comm.rank` is its number, from 0, and `comm.ranks` how many there are. `comm.start(sends, receives)` begins messages and returns at once,
# with an object whose `wait()` ends when they have arrived. `comm.sum(values)` adds up over all ranks, number by number, and gives the sums to all; every rank has to call it.

# %% slideshow={"slide_type": "skip"}
from course_pkg import practice


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. Who owns a plane.** A grid of `nz` planes is divided among ranks: rank k owns the planes `first[k]` to `first[k + 1] - 1`. Return two rows: the rank that owns each of `planes`, and the
# plane's number in that rank's slab.

# %% slideshow={"slide_type": "skip"}
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = ...
    return np.array([rank, ...])


practice.check("plane_owner", plane_owner)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. The halo of a block of rows.** A rank owns the rows `first` to `last - 1` of a sparse matrix in [CSR](glossary.md#CSR), and the same entries of x. `indices` are the columns of its nonzeros. Which entries of
# x have to come from others? Return their numbers in an array, in rising order, each once.

# %% slideshow={"slide_type": "skip"}
def beyond_rows(indices, first, last):
    return ...


practice.check("beyond_rows", beyond_rows)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. A rank's own numbers.** The rank keeps the x that it owns in one array, and behind it what comes from others, in the order of `halo`, the result of step 2: its entry k has the number last − first + k. Return the columns in these numbers.

# %% slideshow={"slide_type": "skip"}
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, ..., ...)


practice.check("own_numbers", own_numbers)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Faces of a slab.** `v` holds the slab of a rank, one plane of `plane` numbers after the other. The halo has two planes: that of the rank below, whose number is smaller by one, then that of the rank above. The first and the
# last rank have one neighbour. `sends` and `receives` are lists of pairs of a rank and an array; a message carries a slice, such as `v[:plane]`, which is one piece of memory.

# %% slideshow={"slide_type": "skip"}
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    ...
    comm.start(sends, receives).wait()
    return halo


practice.check("swap_faces", swap_faces)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. A dot product of divided vectors.** Each rank has its part of a and of b. Return the product of the whole vectors, on every rank; one number per rank is enough.

# %% slideshow={"slide_type": "skip"}
def dot_on_ranks(comm, a, b):
    return ...


practice.check("dot_on_ranks", dot_on_ranks)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Two products, one message.** A method with one reduction needs ⟨r, u⟩ and ⟨w, u⟩ at the same time. Return both in one array.

# %% slideshow={"slide_type": "skip"}
def two_in_one(comm, r, u, w):
    return ...


practice.check("two_in_one", two_in_one)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. A product beside the halo.** On a line, A has 2 on its diagonal and −1 beside it. `line.inside(v, out)` computes what needs no halo and writes it into `out`, `line.outside(below, above, out)` subtracts the two numbers that have come.
# Call both, and start and await the messages, in the order that hides the halo.

# %% slideshow={"slide_type": "skip"}
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    ...
    return out


practice.check("beside_the_halo", beside_the_halo)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. Latency and the time of a byte.** Messages of `nbytes` took `seconds`. Fit a straight line by least squares, all times with the same weight (`np.polyfit`); return the latency and the time of a byte, both in microseconds.

# %% slideshow={"slide_type": "skip"}
def message_line(nbytes, seconds):
    byte, latency = ...
    return ...


practice.check("message_line", message_line)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 9. What efficiency is left.** On one rank, the kernels of an iteration take `kernels_us`, and nobody waits. On several ranks the kernels are divided evenly, and each of the `sums` of an
# iteration waits for $\lceil \log_2 P \rceil$ latencies. Return the efficiency of strong scaling, between 0 and 1.

# %% slideshow={"slide_type": "skip"}
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = ...
    return ...


practice.check("efficiency", efficiency_left)

# %% [markdown] slideshow={"slide_type": "skip"}
# What have you solved?

# %% slideshow={"slide_type": "skip"}
practice.progress("many_gpus")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Explore.** The same four iterations with other numbers of points. Before you move a slider, predict: with how many points does the s-step method gain most, with how many least, and why?

# %% slideshow={"slide_type": "skip"}


def explored(points, GPUs, method):
    """Draw four iterations on a cube with so many points along its edge."""
    name, s = IN_TIME[method]
    spans = timeline.timeline(name, (points,) * 3, GPUs, taken(), s=s, shown=(0, GPUs - 1))
    panel = viz.Panel(f"{points}³ points, {method}", {f"rank {rank}": found for rank, found in spans.items()})
    return viz.ranks_picture([panel], KINDS, timeline.HALO, note=MODEL)


viz.explorer(explored, points=(64, EDGE, BIG), GPUs=(2, 16), method=IN_TIME)
