# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: The order of the unknowns
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # The order of the unknowns
#
# Permutations, sparse products, and vectors in two precisions: the same mathematics, other bytes.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, permutations 8, Jacobi 4, products by rows 8, tables 6,
# > the gather of x 7, two precisions 7, limit and summary 1.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **write** a permutation as an index vector, invert it, and apply it to vectors and matrices,
# - **count** what a sparse product must move, and what its warps ask for,
# - **choose** a format and a number of lanes per row for the lengths of the rows,
# - **order** the unknowns so that neighbours share sectors,
# - **keep** a vector in two precisions, and say what each way to swap it costs.
#
# It builds on lecture 2 (sectors, the bound), lecture 3 (coalescing, clocks) and lecture 5 (passes, conjugate gradients).

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

import numpy as np
from IPython.display import Markdown

from course_pkg import bench, simt, viz
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.updates import DROP
from course_pkg.cg.variants import VARIANTS as CG
from course_pkg.core import Library, machine
from course_pkg.paths import figure
from course_pkg.permutation import measures, reference
from course_pkg.permutation.problem import problem
from course_pkg.spmv import jacobi_reference, swap
from course_pkg.spmv import gpu_numba as gpu
from course_pkg.spmv.formats import Csr, SellCSigma
from course_pkg.spmv.jacobi import FORMS, system_of
from course_pkg.spmv.orders import views
from course_pkg.spmv.suite_jacobi import SPLIT, TOLERANCE, scaled
from course_pkg.spmv.suite_orders import ORDERS, ordered
from course_pkg.spmv.variants import VARIANTS
from course_pkg.witness.iterations import SMALL, Iterations
from course_pkg.witness.products import Products

# %% slideshow={"slide_type": "skip"}
# What is recorded, by GPU: on_h200.one(variant, matrix), on_h200.swap(way, matrix), and so on.
GPUS = [Products(found) for found in bench.records("spmv")]
on_h200, others = GPUS[-1], ", ".join(on.name for on in GPUS[:-1])
assert on_h200.name == "H200"
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
SCALAR, VECTOR, SELL = (VARIANTS[f"spmv_{name}"] for name in ("csr_scalar", "csr_vector", "sell"))
BESIDE = f"{others}: by the same command." if others else "Not recorded on an H100 yet."
ORIGIN = f"{on_h200.origin} {BESIDE}"
AS_IT_COMES, RCM, RANDOM = ORDERS
TITLES = {AS_IT_COMES: "along the mesh", RCM: "RCM", RANDOM: "random"}

# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## One matrix, two numberings

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
mesh = on_h200.one(SELL, "tetrahedral", AS_IT_COMES)
shuffled = on_h200.one(SELL, "tetrahedral", RANDOM)
assert mesh.what == shuffled.what and mesh.cost.a_eff_bytes == shuffled.cost.a_eff_bytes
assert mesh.cost.flops == shuffled.cost.flops
Markdown(
    f"A mesh of tetrahedra with {mesh.parameters['n']:,} nodes, numbered along the mesh. Its matrix A has a row per node, and "
    f"[nonzeros](glossary.md#CSR) where nodes are neighbours: {mesh.parameters['nonzeros']:,}. The product y = A x takes **{bench.format_time(mesh.median_s)}** on an H200. Now the same nodes are numbered "
    f"**at random**: as many nonzeros, as many flops, and the same kernel."
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_order = viz.Estimate(
    "06-order", "With the nodes numbered at random, the same product takes …", *(0.5, 50, "times as long")
)
guess_order

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Only the numbers of the nodes have changed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
by_order = {on.name: {order: on.one(SELL, "tetrahedral", order) for order in ORDERS} for on in GPUS}
viz.relative_bars(
    {
        viz.OfDevice(f"time, {name}", name): {TITLES[order]: found[order].median_s for order in (AS_IT_COMES, RANDOM)}
        for name, found in by_order.items()
    },
    xlabel="time of a product, relative to the numbering along the mesh",
    note=ORIGIN,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
slower = {name: found[RANDOM].median_s / found[AS_IT_COMES].median_s for name, found in by_order.items()}
assert min(slower.values()) > 1.5 and shuffled.cost.bytes < 1.05 * mesh.cost.bytes
guess_order.reveal(
    slower["H200"],
    note=f"{bench.format_time(shuffled.median_s)} in place of {bench.format_time(mesh.median_s)}",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. The usual count of bytes, each array once, hardly differs between the two. So it cannot explain the time. Leave it open: the slide with the sectors of x answers it.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## A permutation is an index vector

# %% [markdown] slideshow={"slide_type": "-"}
# $$\text{new}[i] = \text{old}[\text{perm}[i]]$$
#
# - A [permutation](glossary.md#permutation) names the **old** place of what comes to place i: a [gather](glossary.md#gather).
# - [Scatter](glossary.md#scatter) with perm, $\text{old}[\text{perm}[i]] = \text{new}[i]$, and you undo the gather. To do the same as the
#   gather, scatter with the **inverse**: it has i at place perm[i].
# - As a matrix, $P x$ is `x[perm]`, and $P^{-1} = P^T$.

# %% slideshow={"slide_type": "-"} tags=["right"]
# elements go 1 → 2, 2 → 3, 3 → 1;
# their new places, from 0:
inverse = np.array([1, 2, 0])
perm = reference.invert(inverse)
old = np.array([10.0, 20, 30])
new = old[perm]
back = np.empty(3)
back[perm] = new
print(perm, new, back)

# %% slideshow={"slide_type": "skip"}
assert perm.tolist() == [2, 0, 1] and (back == old).all() and (new[inverse] == old).all()
again = np.empty(3)
again[inverse] = old
assert (again == new).all()
found = np.empty(3, int)
found[perm] = np.arange(3)  # the inverse, by a scatter of the places
assert (found == inverse).all()
P = reference.permutation_matrix(perm).toarray()
assert (P @ old == new).all() and np.array_equal(P.T @ P, np.eye(3))
p, q = reference.random_permutation(50, 1), reference.random_permutation(50, 2)
PQ = reference.permutation_matrix(p) @ reference.permutation_matrix(q)
assert np.array_equal(PQ.toarray(), reference.permutation_matrix(reference.compose(p, q)).toarray())

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** "1 → 2, 2 → 3, 3 → 1" lists where the elements go, so it is the inverse of our index vector. Ask: which of the two does `x[perm]` need?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Permute the rows; then the columns, too

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
FILM = (
    "A x = y, as it was",
    *["Rows move, and y with them"] * 3,
    "A row permutation: y has a new order, x has not",
    *["Columns move, and x with them"] * 3,
    "A symmetric permutation: x and y have the same order again",
)
STEPS_OF_FILM = [f"step {k}" for k in range(9)]
viz.slider(
    lambda step: viz.Picture.load(figure(f"permuted_matrix_{STEPS_OF_FILM.index(step)}.svg"), FILM[STEPS_OF_FILM.index(step)] + "."),
    STEPS_OF_FILM,
    label="1 → 2, 2 → 3, 3 → 1",
    start=STEPS_OF_FILM[0],
)

# %% [markdown] slideshow={"slide_type": "-"}
# A [row permutation](glossary.md#row-permutation) orders the equations: $(P A)\, x = P y$. A [symmetric permutation](glossary.md#symmetric-permutation)
# orders the unknowns, too: $(P A P^T)(P x) = P y$. The numbers on the diagonal stay on the diagonal.

# %% slideshow={"slide_type": "skip"}
A = np.arange(9.0).reshape(3, 3) + 1
y = A @ old
assert np.allclose(A[perm] @ old, y[perm]) and np.allclose(A[perm][:, perm] @ old[perm], y[perm])
assert set(np.diag(A[perm][:, perm])) == set(np.diag(A))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Jacobi's method, in three orders
#
# Split $A = D + E$ into its diagonal, kept as a vector $d$, and the rest. A step computes $x \leftarrow (b - E x) / d$, element by element.
#
# | | a step | after the step |
# |---|---|---|
# | **plain** | $x_\text{new} = (b - E x) / d$ | – |
# | **rows permuted** | $z = (P b - (P E)\, x) / P d$ | put back in order: $x_\text{new} = P^T z$ |
# | **symmetric** | $x'_\text{new} = (P b - (P E P^T)\, x') / P d$ | –; $x = P^T x'$ after the **last** step |
#
# The next step reads x by the columns of E. So whoever permutes the rows alone has to put x back in order **in every step**.

# %% slideshow={"slide_type": "skip"}
small = problem("tetrahedral", size=8).matrix
b = np.random.default_rng(0).uniform(-1, 1, small.shape[0])
shuffle, iterates = reference.random_permutation(b.size), {}
for form in FORMS:
    system = system_of(form, small, b, None if form == "plain" else shuffle)
    x = system.taken(np.zeros_like(b))
    for _ in range(20):
        x_new = np.empty_like(x)
        getattr(jacobi_reference, f"jacobi_{form}")(system, x, x_new)
        x = x_new
    iterates[form] = system.given(x)
differ = {form: float(abs(found - iterates["plain"]).max()) for form, found in iterates.items()}
assert max(differ.values()) <= 1e-14 * abs(iterates["plain"]).max()
print(differ)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
in_order = on_h200.gathered("permute_vector", "random")
guess_scatter = viz.Prediction(
    "06-scatter",
    f"2²⁷ doubles in random order, on an H200. The gather, new[i] = old[perm[i]], takes {bench.format_time(in_order.median_s)}. "
    "The scatter, new[perm[i]] = old[i], takes …",
    ["clearly more time", "about as much time", "clearly less time"],
)
guess_scatter

# %% [markdown] slideshow={"slide_type": "slide"}
# ## To read at random, to write at random

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
PERMUTED = {"identity": "in order", "local": "shuffled nearby", "strided": "by strides", "random": "at random"}


WAYS = {"gather": "permute_vector", "scatter": "unpermute_vector"}


def moved(on):
    """Draw how many times as long as a copy a gather and a scatter take in each order, on one GPU."""
    times = {
        what: {"copy": on.copied.median_s} | {title: on.gathered(operation, order).median_s for order, title in PERMUTED.items()}
        for what, operation in WAYS.items()
    }
    return viz.relative_bars(times, xlabel="time, relative to a copy", note=viz.Note("2²⁷ doubles.", on.permuted.origin))


viz.on_each(moved, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
against = on_h200.gathered("unpermute_vector", "random").median_s / in_order.median_s
guess_scatter.reveal(
    f"{against:.2f} times the time of the gather",
    right="clearly more time"
    if against > 1.15
    else "clearly less time"
    if against < 1 / 1.15
    else "about as much time",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# *Shuffled nearby*: at random within 1,024 neighbours. *By strides*: every 32nd element first. A random load uses 8 bytes of a sector's 32, and of the 64 that memory sends.

# %% slideshow={"slide_type": "skip"}
elements = in_order.parameters["n"]
from course_pkg.witness import record
from course_pkg.witness.clocks import READ, WRITTEN

counted = record.recorded(record.TRAFFIC, on_h200.found.device.slug).counters
gather, scatter = (
    {what: counted[f"{WAYS[way]}_random_large"][what] / elements for what in (READ, WRITTEN)} for way in WAYS
)
moved_in_order, copied_bytes = in_order.cost.bytes / elements, 2 * 8
over_copy = in_order.median_s / on_h200.copied.median_s
assert moved_in_order == 4 + 8 + 8 and over_copy > 1.5 * sum(gather.values()) / copied_bytes
assert 60 < gather[READ] - 4 <= 64 and 31 < scatter[READ] - (4 + 8) <= 32 and 31 < scatter[WRITTEN] <= 32
assert abs(sum(scatter.values()) / sum(gather.values()) - 1) < 0.02
assert all(on.clock_row(f"{WAYS[way]}_random_large")["binds"] == "none" for on in GPUS for way in WAYS)

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(
    f"**What explains this picture.** In order, a gather moves {moved_in_order:.0f} bytes per element, an index and two doubles; a copy moves "
    f"{copied_bytes}. At random, Nsight Compute counts {sum(gather.values()):.0f} on an H200: for each double, memory sends nearly 64 bytes. "
    f"These are {sum(gather.values()) / copied_bytes:.1f} times the bytes of a copy; the gather takes {over_copy:.1f} times as long.\n\n"
    f"The scatter moves {sum(scatter.values()):.0f} bytes per element, about as many. For each double that it writes, memory sends a sector and gets one "
    f"back: the L2 does not hold the other numbers of the sector. But the scatter takes {against:.1f} times as long as the gather, and the bytes do not explain "
    "that. As the next table shows, no clock binds at random, in the gather or in the scatter."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Clocks of a gather and a [scatter](glossary.md#scatter)**, as in lecture 3: the share of the time that the bytes, the traffic in L2 and L1, and the instructions would take, each alone.

# %% slideshow={"slide_type": "skip"}
bench.Table(
    [
        {"GPU": on.name, "kernel": f"{way}, {title}", **on.clock_row(f"{operation}_{order}_large")}
        for on in GPUS
        for way, operation in WAYS.items()
        for order, title in PERMUTED.items()
    ],
    f"Shares of a kernel's time, 2²⁷ doubles. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which form pays, and when?

# %% slideshow={"slide_type": "skip"}
STEPS = (
    ("plain", None),
    ("row_permuted", "rcm"),
    ("symmetric", "rcm"),
    ("row_permuted", "random"),
    ("symmetric", "random"),
)


def steps_of(on):
    """Draw the speed of a step of Jacobi's method in each form, as a share of the plain one's, on one GPU."""
    plain, rungs = on.jacobi("plain", "tetrahedral"), []
    for form, order in STEPS:
        m = on.jacobi(form, "tetrahedral", order)
        found = {
            "bytes per row": f"{m.cost.bytes / m.parameters['n']:.0f}",
            "a step": bench.format_time(m.median_s),
        }
        name = f"{form.replace('_', ' ')}, {TITLES.get(order, 'along the mesh')}"
        case = f"spmv_jacobi_{form}_tetrahedral" + (f"_{order}" if order else "")
        rungs.append(viz.Rung(name, plain.median_s / m.median_s, found, on.longest_clock(case)))
    return viz.ladder_picture(rungs, bound="plain", note=on.origin, steps=False)


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(steps_of, GPUS)

# %% [markdown] slideshow={"slide_type": "-"}
# The iterates are the same, up to rounding. (RCM: an order of neighbours, explained below.) The row-permuted form scatters x **in every step**; the symmetric one permutes once.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes with the three slides before. Row permutations are worth their scatter if the rows gain something by it: we
# > come to that with sorted rows.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What a sparse product must move
#
# [CSR](glossary.md#CSR), *compressed sparse rows*: per nonzero a value and a column; per row a pointer to its first nonzero, an x and a y:
#
# $$12 \text{ bytes} \times \text{nonzeros} + 20 \text{ bytes} \times \text{rows}, \qquad 2 \text{ flops} \times \text{nonzeros}$$

# %% slideshow={"slide_type": "skip"}
MATRICES = {
    "poisson_2d": "Poisson, 2D",
    "poisson_3d": "Poisson, 3D",
    "tetrahedral": "tetrahedra",
    "power_law": "power law",
}


def bound_row(name):
    """Return a row: the size of a matrix, the bytes of its product, and the time of a copy of as many on each GPU."""
    m = on_h200.library(name)
    rows, nonzeros = m.parameters["n"], m.parameters["nonzeros"]
    assert m.cost.bytes == (8 + 4) * nonzeros + (4 + 8 + 8) * rows + 4
    return {
        "matrix": MATRICES[name],
        "rows": f"{rows:,}",
        "nonzeros per row": f"{nonzeros / rows:.1f}",
        "bytes": f"{m.cost.bytes / 1e6:,.0f} MB",
        "flops per byte": f"{m.cost.intensity:.2f}",
        **{f"bound, {on.name}": bench.format_time(on.library(name).bound_s(on.copy)) for on in GPUS},
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table([bound_row(name) for name in MATRICES], f"Bound: as fast as a copy. {ORIGIN}")

# %% [markdown] slideshow={"slide_type": "skip"}
# **The matrices.** Poisson in 2D and 3D: finite differences on a square and a cube. Tetrahedra: linear finite elements on an irregular mesh.
# Power law: a network, in which most nodes have a few neighbours and a few have thousands.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A thread per row, or several lanes

# %% slideshow={"slide_type": "skip"}
LANES = (1, 2, 4, 8, 16, 32)
box = problem("poisson_3d", size=12).matrix
CSR = Csr.from_scipy(box)


def profiled(lanes):
    """Profile the product by CSR with so many lanes per row, on 12³ points."""
    kernel = gpu.spmv_csr_scalar_kernel if lanes == 1 else gpu.spmv_csr_vector_kernel(lanes)
    x, y = np.ones(box.shape[1]), np.empty(box.shape[0])
    found = simt.profile(
        kernel[-(-box.shape[0] * lanes // 128), 128], CSR.indptr, CSR.indices, CSR.data, x, y
    )
    assert np.allclose(y, box @ x)
    return found


by_lanes = {lanes: profiled(lanes) for lanes in LANES}
loaded = {lanes: found.by_array["data"].global_load for lanes, found in by_lanes.items()}
at_work = {lanes: load.thread_accesses / load.requests / 32 for lanes, load in loaded.items()}
assert (np.diff(box.indptr) == 7).sum() == 1000 and np.diff(box.indptr).max() == 7
assert 0.18 < at_work[32] < 0.22


# %% slideshow={"slide_type": "skip"}
def load_of(array, lanes):
    """Return the first load of an array by the warp that has row 160."""
    found = by_lanes[lanes]
    row = 160  # most rows that follow it have all seven nonzeros
    block, warp = divmod(row * lanes // 32, 4)
    line = max(where for where, c in found.by_line.items() if c.global_load)
    return next(a for a in found.accesses(line, block=block) if a.array == array and a.warp == warp)


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert load_of("data", 1).sectors == 32
viz.slider(lambda lanes: viz.access_strip(load_of("data", lanes)), LANES, label="lanes per row", start=1)

# %% [markdown] slideshow={"slide_type": "-"}
# **One lane per row**: 32 rows begin 7 values apart, in 32 sectors. **32 lanes**: 7 of them have a nonzero.

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.spmv_csr_scalar_kernel)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.spmv_csr_vector_kernel(8))

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
one_lane = on_h200.one(SCALAR, "poisson_3d")
guess_lanes = viz.Estimate(
    "06-lanes",
    f"Poisson's matrix in 3D has 7 nonzeros per row. On an H200, the product takes {1e6 * one_lane.median_s:.0f} µs with a thread per row. "
    "With a whole warp per row, it takes …",
    *(100, 20_000, "µs"),
)
guess_lanes


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Lanes per row, timed

# %% slideshow={"slide_type": "skip"}
def by_csr(on, matrix, lanes):
    """Return the measurement of the product by CSR with so many lanes per row."""
    return on.one(SCALAR, matrix) if lanes == 1 else on.one(VECTOR, matrix, lanes=lanes)


swept = {on.name: {lanes: by_csr(on, "poisson_3d", lanes) for lanes in LANES} for on in GPUS}
best_lanes = min(LANES, key=lambda lanes: swept["H200"][lanes].median_s)


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def lanes_of(on):
    """Draw how near to a copy of its bytes the product comes with so many lanes per row, and what its loads ask for."""
    rungs = []
    for lanes, m in swept[on.name].items():
        found = {
            "lanes at work": f"{at_work[lanes]:.0%}",
            "sectors over least": f"{32 * loaded[lanes].sectors / (8 * box.nnz):.2f}×",
            "time": bench.format_time(m.median_s),
        }
        clock = on.longest_clock(f"spmv_csr_scalar_{SMALL}" if lanes == 1 else f"spmv_csr_vector_{lanes}_{SMALL}")
        rungs.append(viz.Rung(f"{lanes} lane{'s' if lanes > 1 else ''}", m.of_copy(on.copy), found, clock))
    return viz.ladder_picture(
        rungs, bound="copy of its bytes", bound_gb_s=on.copy.t_eff_gb_s, note=viz.Note(f"Loads of values. Counted on 12³ points, timed on {SMALL}³.", on.origin)
    )


viz.on_each(lanes_of, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert abs(swept["H200"][1].median_s / swept["H200"][4].median_s - 1) < 0.02
assert 3 < loaded[1].sectors / loaded[8].sectors < 5 and swept["H200"][1].median_s < swept["H200"][8].median_s
assert all(1.7 < found[2 * k].median_s / found[k].median_s < 2.1 for found in swept.values() for k in (8, 16))
assert swept["H200"][8].median_s > 1.3 * swept["H200"][4].median_s
guess_lanes.reveal(
    1e6 * swept["H200"][32].median_s, note="from 8 lanes on, the time grows with the number of warps"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# With a whole warp per row, four of five lanes have nothing to do. A likely reason for the times, not measured: each warp waits for pointer, column and x in turn.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes with the two slides before. One lane per row asks for four times the sectors that 8 lanes ask for, and takes less
# > time: caches can put its sectors together again, which is not counted here. Why 8 lanes take longer than 4, these counts do not say. If each warp waits for pointer, column and x in
# > turn, the time follows Little's law (lecture 4): a warp has few bytes on their way, and there are more warps to wait for. With 2 lanes, one has four
# > trips and the other three; the compiler unrolls by four, so their requests part.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A table instead of a list

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("sparse_formats.svg"),
    "A matrix of 8 rows and 20 nonzeros: as a table as wide as its longest row, in two slices of 4 rows, and in two slices of rows sorted by length. "
    "Stored values: 40, 36 and 28.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# [ELL](glossary.md#ELL), as wide as the longest row, is stored **column by column**: neighbouring threads read neighbours.
# [SELL-C-σ](glossary.md#SELL-C-σ) has slices of C rows, **sorted** by length within σ rows: a row permutation, undone by `y[perm[i]]`.

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.spmv_sell_kernel(32, 1, True))

# %% [markdown] slideshow={"slide_type": "skip"}
# **How to read it.** `piece` is a slice and `chunk` its C rows. Padding has column −1: it is read and not added. `unroll` is how many places a thread asks
# for at a time; behind the end of a slice it asks for the last place again, and leaves it out. `cuda.ldcs` loads what nobody needs a second time.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
network = problem("power_law", size=2**17).matrix
lengths = np.diff(network.indptr)
guess_fill = viz.Estimate(
    "06-fill",
    f"A power law with {network.shape[0]:,} rows has {network.nnz / network.shape[0]:.1f} nonzeros per row in the mean. ELL would store, "
    "per nonzero, …",
    *(1, 10_000, "values"),
)
guess_fill

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Fill: what is stored per nonzero

# %% slideshow={"slide_type": "skip"}
SAMPLES = {
    "Poisson, 3D": problem("poisson_3d", size=32).matrix,
    "tetrahedra": problem("tetrahedral", size=32).matrix,
    "power law": network,
}


def fills(A):
    """Return the fill of ELL and of SELL, with and without sorted rows."""
    n, rows = A.shape[0], np.diff(A.indptr)
    slices = {
        f"SELL-32-{sigma if sigma < n else 'all'}": SellCSigma.from_scipy(A, sigma=sigma).fill
        for sigma in (1, 256, n)
    }
    return {"ELL": n * rows.max() / A.nnz, **slices}


filled = {name: fills(A) for name, A in SAMPLES.items()}
assert all(list(found.values()) == sorted(found.values(), reverse=True) for found in filled.values())
by_length = [reference.by_row_length(SAMPLES["tetrahedra"], window=sigma) for sigma in (1, 256)]
unsorted, apart = (measures.x_footprint(SAMPLES["tetrahedra"][rows]) for rows in by_length)
assert apart.sectors_per_warp > 1.5 * unsorted.sectors_per_warp

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [
        {
            "matrix": name,
            "rows": f"{A.shape[0]:,}",
            "longest row": f"{np.diff(A.indptr).max():,}",
            **{k: f"{v:,.2f}" for k, v in filled[name].items()},
        }
        for name, A in SAMPLES.items()
    ],
    "Fill: values stored per nonzero. SELL-32-256: slices of 32 rows, sorted within windows of 256.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
fill = network.shape[0] * lengths.max() / network.nnz
assert (
    np.isclose(fill, filled["power law"]["ELL"])
    and filled["power law"]["SELL-32-all"] < 1.3 < filled["power law"]["SELL-32-256"]
)
guess_fill.reveal(fill, how="Counted", note="every row becomes as long as the longest")

# %% [markdown] slideshow={"slide_type": "-"}
# A larger σ leaves less [fill](glossary.md#fill), but on a mesh it separates rows that read the same sectors of x. And one long row holds up its warp.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
in_slices, in_tiles = (
    on_h200.one(VARIANTS[f"spmv_{name}"], "power_law") for name in ("sell", "csr_balanced")
)
assert in_slices.median_s > 20 * in_tiles.median_s
Markdown(
    f"With {in_slices.parameters['n']:,} rows, the power law takes {bench.format_time(in_slices.median_s)} in slices on an H200. In **tiles** of equally many "
    f"nonzeros, which share long rows among blocks, it takes {bench.format_time(in_tiles.median_s)}."
)


# %% [markdown] slideshow={"slide_type": "skip"}
# ## Which format is best?
#
# The fastest kernel of this package for each matrix, beside cuSPARSE, which CuPy calls. The bound is the time of a copy, which does not have to hold for a product:
# it may be passed, and "The limit" says why.

# %% slideshow={"slide_type": "skip"}
def best_row(on, name):
    """Return a row: the best kernel for a matrix, its time and bound, and cuSPARSE's time."""
    best, theirs = on.best(name), on.library(name)
    setting = {k: v for k, v in best.parameters.items() if k in ("lanes", "sigma", "tile", "unroll")}
    return {
        "GPU": on.name,
        "matrix": MATRICES[name],
        "best": best.variant.replace("_", " ") + "".join(f", {k} {v}" for k, v in setting.items()),
        "time": bench.format_time(best.median_s),
        "of the bound": f"{best.of_copy(on.copy, theirs.cost.bytes):.0%}",
        "cuSPARSE": bench.format_time(theirs.median_s),
        "over cuSPARSE": f"{theirs.median_s / best.median_s:.2f}×",
    }


bench.Table([best_row(on, name) for on in GPUS for name in MATRICES], f"Double precision. {ORIGIN}")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which clock binds?** As in lecture 3: the share of a kernel's time that its bytes, its traffic in L2 and L1, and its instructions would take, each alone.
# On the H200, memory binds the tables, the slices and the tiles of equal work. For CSR by threads or by lanes no clock binds: warps wait.

# %% slideshow={"slide_type": "skip"}
from course_pkg.witness.clocks import MEMORY
from course_pkg.witness.every import every_clock

KERNELS = ("csr_scalar", "csr_vector_4", "csr_balanced", "ell", "ellr", "sell")
binds = {name: on_h200.clocks(name) for name in KERNELS}
assert {name for name, c in binds.items() if c.binds == MEMORY} == {"csr_balanced", "ell", "ellr", "sell"}
bench.Table(
    [
        {"GPU": on.name, "kernel": name, "time": bench.format_time(c.time_s), **c.row()}
        for on in GPUS
        for name, c in ((name, on.clocks(name)) for name in KERNELS)
    ],
    f"Shares of a kernel's time, for Poisson's matrix on a cube. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On a CPU** a product moves the same bytes. Numba's product gives each core consecutive rows, with equal shares of
# nonzeros and rows; SciPy's runs on one core. With two cores, the first is faster on every matrix.

# %% slideshow={"slide_type": "skip"}
from course_pkg.spmv import suite

on_cpu = bench.recorded("spmv", "amd-epyc")
gains = {}
for name, _ in suite.MATRICES["cpu"]:
    numba, scipy = (on_cpu.one(VARIANTS["spmv"].by(library), matrix=name) for library in (Library.NUMBA_CPU, Library.SCIPY))
    gains[MATRICES[name]] = scipy.median_s / numba.median_s
assert min(gains.values()) > 1
Markdown(" ".join([*(f"{title}: {gain:.2f} times as fast as SciPy." for title, gain in gains.items()), on_cpu.origin]))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where a warp reads x

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("orders.svg"),
    "The nonzeros of one matrix in three orders. Along the mesh they lie in three bands beside the diagonal; in the order of Cuthill and McKee, "
    "reversed, in one band; in random order everywhere.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# [Bandwidth](glossary.md#bandwidth-of-a-matrix): the greatest distance of a nonzero from the diagonal. [Footprint](glossary.md#footprint-of-x): the sectors of x that a warp touches.

# %% slideshow={"slide_type": "skip"}
tetrahedra = problem("tetrahedral", size=16).matrix
orders = {order: ordered(tetrahedra, order) for order in ORDERS}
touched = {order: measures.x_footprint(B) for order, B in orders.items()}
bench.Table(
    [
        {
            "order": TITLES[order],
            "bandwidth": f"{measures.bandwidth(B):,}",
            "envelope": f"{measures.profile(B):,}",
            "sectors of x per warp": f"{touched[order].sectors_per_warp:.0f}",
            "warps that need a sector": f"{touched[order].reuse:.1f}",
        }
        for order, B in orders.items()
    ],
    f"{tetrahedra.shape[0]:,} rows; a warp multiplies 32 of them.",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# The [envelope](glossary.md#envelope) is the sum, over all rows, of the distance from the first nonzero to the diagonal.

# %% slideshow={"slide_type": "skip"}
assert touched[RANDOM].sectors_per_warp > 1.5 * touched[AS_IT_COMES].sectors_per_warp
assert (
    measures.bandwidth(orders[RCM])
    < measures.bandwidth(orders[AS_IT_COMES])
    < measures.bandwidth(orders[RANDOM])
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Reverse Cuthill–McKee** (RCM) numbers the unknowns as a wave runs over the graph: a node at the border first, then its neighbours, then theirs, each
# neighbourhood by rising number of neighbours; in the end, the order is reversed. So neighbours get numbers that lie close together.
#
# To reverse it was A. George's idea: *Computer implementation of the finite element method*, Stanford STAN-CS-71-208.

# %% slideshow={"slide_type": "skip"}
recovered = measures.x_footprint(ordered(orders[RANDOM], RCM))
assert touched[AS_IT_COMES].sectors_per_warp < touched[RCM].sectors_per_warp
assert measures.profile(orders[AS_IT_COMES]) < measures.profile(orders[RCM])
assert by_order["H200"][AS_IT_COMES].observed["bandwidth"] < by_order["H200"][RCM].observed["bandwidth"]
assert 3 * recovered.sectors_per_warp < touched[RANDOM].sectors_per_warp

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(
    f"The mesh's own numbering is already good, and RCM does not beat it: {touched[RCM].sectors_per_warp:.0f} sectors per warp against "
    f"{touched[AS_IT_COMES].sectors_per_warp:.0f}. RCM is for a matrix that comes in a bad order: from random, {touched[RANDOM].sectors_per_warp:.0f} "
    f"sectors per warp become **{recovered.sectors_per_warp:.0f}**."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A random order: most sectors, most time

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "L2")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.relative_bars(
    {
        "sectors of x, counted": {
            TITLES[order]: m.observed["sectors"] for order, m in by_order["H200"].items()
        },
        **{
            viz.OfDevice(f"time, {name}", name): {TITLES[order]: m.median_s for order, m in found.items()}
            for name, found in by_order.items()
        },
    },
    xlabel="relative to the numbering along the mesh; SELL-32-1",
    note=ORIGIN,
)

# %% slideshow={"slide_type": "skip"}
KERNELS = {
    "CSR, a thread per row": (SCALAR, {}),
    "CSR, 8 lanes per row": (VECTOR, {"lanes": 8}),
    "SELL-32-1": (SELL, {"sigma": 1}),
    "SELL-32-256": (SELL, {"sigma": 256}),
}
in_orders = {
    name: {order: on_h200.one(v, "tetrahedral", order, **more) for order in ORDERS}
    for name, (v, more) in KERNELS.items()
}
for found in in_orders.values():
    times, sectors = (
        {o: of(m) for o, m in found.items()} for of in (lambda m: m.median_s, lambda m: m.observed["sectors"])
    )
    assert max(times, key=times.get) == max(sectors, key=sectors.get) == RANDOM
assert [min(found, key=lambda o: found[o].observed["sectors"]) for found in by_order.values()] == [
    AS_IT_COMES
] * len(GPUS)

# %% slideshow={"slide_type": "skip"}
x_bytes = 8 * mesh.parameters["n"]
assert x_bytes < 1024 * machine("h200").l2_kib


def rises(found, of):
    """Return whether a quantity of a kernel is greater by RCM than along the mesh."""
    return of(found[RCM]) > of(found[AS_IT_COMES])


against_count = [
    name
    for name, found in in_orders.items()
    if rises(found, lambda m: m.observed["sectors"]) != rises(found, lambda m: m.median_s)
]
assert len(against_count) == 3 and len(in_orders) == 4
eager, sparing = (in_orders[name][AS_IT_COMES] for name in ("SELL-32-256", "CSR, 8 lanes per row"))
assert eager.observed["sectors"] > 2 * sparing.observed["sectors"] and eager.median_s < sparing.median_s

# %% slideshow={"slide_type": "skip"}
bench.Table(
    [
        {
            "kernel": name,
            "order": TITLES[order],
            "sectors of x": f"{m.observed['sectors'] / 1e6:.1f} M",
            "over along the mesh": f"{m.observed['sectors'] / found[AS_IT_COMES].observed['sectors']:.2f}×",
            "time": bench.format_time(m.median_s),
            "time, over along the mesh": f"{m.median_s / found[AS_IT_COMES].median_s:.2f}×",
        }
        for name, found in in_orders.items()
        for order, m in found.items()
    ],
    on_h200.origin,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"This holds for all four kernels of the notebook. Between mesh and RCM the count does not decide: the {x_bytes / 1e6:.0f} MB of x "
    "fit into the L2, so one sector more need not be a trip to memory."
)

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(
    "**Two counts.** A footprint counts a sector once for each warp. These sectors are counted in every request, so one that a warp asks for again "
    "counts again: the two need not rise alike.\n\n"
    f"From mesh to RCM, count and time go opposite ways in {len(against_count)} of {len(in_orders)} kernels: {'; '.join(against_count)}. The count does "
    f"not rank kernels either: along the mesh, SELL-32-256 asks for {eager.observed['sectors'] / 1e6:.1f} M sectors of x and takes "
    f"{bench.format_time(eager.median_s)}, CSR with 8 lanes asks for {sparing.observed['sectors'] / 1e6:.1f} M and takes {bench.format_time(sparing.median_s)}."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures the product by CSR in two orders on it, on a smaller mesh, beside what was recorded. Without
# a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.spmv import here

bench.live(
    lambda: here.on_this_gpu(AS_IT_COMES, RANDOM),
    [on.one(VECTOR, "tetrahedral", order, lanes=8) for on in GPUS for order in (AS_IT_COMES, RANDOM)],
    {VECTOR: "CSR, 8 lanes per row"},
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Try it: matrix, order, lanes per row

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
EXPLORED = {
    "tetrahedra": problem("tetrahedral", size=12).matrix,
    "airfoil": problem("airfoil").matrix,
    "Poisson, 2D": problem("poisson_2d", size=40).matrix,
    "power law": problem("power_law_symmetric", size=1500).matrix,
}
viz.PermutationExplorer(
    {name: views(A) for name, A in EXPLORED.items()}, start={"matrix": "tetrahedra", "order": "random"}
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Sector and line, from the V100 to the H200

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
MACHINES = {
    name: machine(key)
    for name, key in (("V100", "v100"), ("A100", "a100-80"), ("H100", "h100-sxm"), ("H200", "h200"))
}
FACTS = {
    "line of L1": lambda m: f"{m.l1_line_bytes} B",
    "sector": lambda m: f"{m.sector_bytes} B",
    "L2": lambda m: f"{m.l2_kib / 1024:g} MiB",
    "fp64": lambda m: f"{m.fp64_gflop_s / 1000:.1f} TF/s",
    "memory": lambda m: f"{m.bandwidth_gb_s:,.0f} GB/s",
}
bench.Table(
    [
        {"": what, **{name: of(m) for name, m in MACHINES.items()}}
        for what, of in FACTS.items()
    ],
    "From datasheets and NVIDIA's guides; the L2 of the H200 is what the device reports.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# One often reads that "L2 has lines of 32 bytes". That is the **sector**: a [line](glossary.md#cache-line) has four, 128 bytes, which are 32 floats or 16 doubles.
# L1 asks L2 by sectors; memory answers an H200's L2 by 64 bytes (lecture 2).

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Seven minutes with the four slides before. In the explorer, ask what a random order will do to each bar before you move the
# > slider. What a gather costs per double: a sector of 32 bytes on the way to L1, and a pair of them on the way from memory.

# %% slideshow={"slide_type": "skip"}
fetched = on_h200.strided_bytes()
assert all(round(fetched[k] / (8 * 2**24)) == min(k, 8) for k in fetched)
assert all(m.l1_line_bytes == 4 * m.sector_bytes == 128 == 32 * 4 == 16 * 8 for m in MACHINES.values())

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One vector, two precisions
#
# An iteration $y = A x$, $x := y$: the matrix and the x that it meets in single precision, the result in double. So there are `x32`, `x64`, `y64`.
# x64 is kept because a stopping test compares y with the x before. After a product, y has to become x, in both precisions:

# %% slideshow={"slide_type": "skip"}
IDEAS = {
    "naive": "copy y64 to x32 and x64",
    "cast": "no x32: the product rounds x64",
    "fused": "the product also writes y32; swap pointers",
    "hybrid": "copy y64 to x32; swap x64 and y64",
}


def way_row(way):
    """Return a row: what an iteration in one of the four ways moves besides the matrix, per row, and what it holds."""
    its = VARIANTS[f"swap_{way}"].cost(10**6, 7 * 10**6, dtype="float32")
    matrix = 8 * 7 * 10**6 + 4 * (10**6 + 1)
    held = swap.vectors_for(way, np.ones(1)).nbytes
    return {
        "way": way,
        "": IDEAS[way],
        "moved": f"{(its.bytes - matrix) / 10**6:.0f} B",
        "held": f"{held} B",
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [way_row(way) for way in swap.WAYS],
    "Vectors, per row. All four give the same bits.",
)

# %% slideshow={"slide_type": "skip"}
steps, x0, swapped = swap.stepping_matrix(small), np.random.default_rng(1).uniform(-1, 1, small.shape[0]), {}
for way in swap.WAYS:
    vectors = swap.vectors_for(way, x0).to_device()
    for _ in range(3):
        vectors = VARIANTS[f"swap_{way}"].function(CUDA)(steps.to_device(), vectors)
    swapped[way] = vectors.x64.copy_to_host()
assert all(np.array_equal(found, swapped["naive"]) for found in swapped.values())

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_swap = viz.Prediction(
    "06-swap",
    "Poisson's matrix in 3D with 7 nonzeros per row, on an H200. Which takes less time per iteration, the fused way or the hybrid?",
    ["the fused way: write y32, too", "the hybrid: copy y64 to x32", "no difference beyond 3%"],
)
guess_swap

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Four ways, timed

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
SWAPPED = ("poisson_3d", "tetrahedral")
ways = {(on.name, name): {way: on.swap(way, name) for way in swap.WAYS} for on in GPUS for name in SWAPPED}
[in_both] = {m.parameters["n"] for found in ways.values() for m in found.values()}
bench.Table(
    [
        {
            "way": way,
            **{
                f"{MATRICES[name]}, {gpu_name}": f"{bench.format_time(found[way].median_s)} ({found[way].cost.bytes / 1e6:,.0f} MB)"
                for (gpu_name, name), found in ways.items()
            },
        }
        for way in swap.WAYS
    ],
    f"{in_both:,} rows each. {ORIGIN}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
fused, hybrid, cast = (ways["H200", "poisson_3d"][way] for way in ("fused", "hybrid", "cast"))
fused_over = fused.median_s / hybrid.median_s
assert (
    fused_over < 0.97
    and cast.cost.bytes == fused.cost.bytes
    and fused.median_s < cast.median_s < hybrid.median_s
)
guess_swap.reveal(
    f"fused: {1 - fused_over:.0%} less time than hybrid",
    right="the fused way: write y32, too"
    if fused_over < 0.97
    else "the hybrid: copy y64 to x32"
    if fused_over > 1 / 0.97
    else "no difference beyond 3%",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ORDER = ("fused", "cast", "hybrid", "naive")
again = (hybrid.cost.bytes - fused.cost.bytes) / in_both
assert all([*ORDER] == sorted(found, key=lambda way: found[way].median_s) for found in ways.values()) and again == 8
Markdown(
    f"On both GPUs and with both matrices: {', '.join(ORDER)}. The hybrid's copy reads y64 again, **{again:.0f} bytes per row** that the fused way leaves out."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Clocks of the kernels of a swap.** The product without y32 is that of the naive way and of the hybrid; what they copy does not depend on the matrix.

# %% slideshow={"slide_type": "skip"}
PARTS = {"naive, hybrid: product": "product", "cast: product": "cast", "fused: product": "fused"}
COPIES = {"naive: x32 and x64 from y64": "both", "hybrid: x32 from y64": "rounded"}
of_swaps = [(f"{title}, {MATRICES[name]}", f"spmv_swap_{part}_{name}") for name in SWAPPED for title, part in PARTS.items()]
of_swaps += [(title, f"spmv_copy_{copied}_{in_both}") for title, copied in COPIES.items()]
bench.Table(
    [{"GPU": on.name, "kernel": title, **on.clock_row(case)} for on in GPUS for title, case in of_swaps],
    f"Shares of a kernel's time. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# Unpublished notes, which list the data of a V100, found the hybrid faster. They cannot be checked.

# %% slideshow={"slide_type": "skip"}
from course_pkg.witness.ladder import L2_READS

swaps = [record.recorded(record.TRAFFIC, on.found.device.slug).counters for on in GPUS]
gathered = [found[f"spmv_swap_cast_{m}"][L2_READS] / found[f"spmv_swap_fused_{m}"][L2_READS] for found in swaps for m in SWAPPED]
assert len(gathered) == 4 and 1.15 < min(gathered) <= max(gathered) < 1.25

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(
    f"The cast moves as many bytes as the fused way, and takes {cast.median_s / fused.median_s - 1:.0%} longer on an H200. "
    f"It gathers x in double: on both GPUs and with both matrices, its product reads at least {min(gathered) - 1:.0%} more sectors from the L2."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the three slides before. First let the audience say what each way moves: a second kernel reads y64 again;
# > the fused way has one more array to hold. Then look at the table.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Precision by row, or by entry

# %% slideshow={"slide_type": "skip"}
assert TOLERANCE == 2.0**-26
SPLITTINGS = ("rows_together", "entries_together", "entries_apart")


split = [[on_h200.splitting(way, name, edge**3) for way in (None, *SPLITTINGS)] for name, edge in SPLIT]
assert all(m.cost.bytes < plain.cost.bytes for plain, *together, apart in split for m in together)
assert all(m.median_s > plain.median_s for plain, *ways in split for m in ways)
rounding = max(plain.observed["error"] for plain, *ways in split)
lost = [m.observed["error"] for plain, *ways in split for m in ways]
assert rounding < 1e-12 and min(lost) > 1e5 * rounding
too_small = [
    plain.parameters["n"] for plain, *ways in split if plain.of_copy(on_h200.copy) < 1 / 3
]
assert too_small == [16**3, 32**3]
assert all(on.clock_row("spmv_splitting_rows_together_tetrahedral")["binds"] == "none" for on in GPUS)
exact = box.data.astype(np.float32)
assert (exact == box.data).all() and (scaled(box).data.astype(np.float32) != scaled(box).data).any()
factors = np.sqrt(scaled(box).diagonal() / box.diagonal())
assert 0.9 <= factors.min() < 0.91 and 1.09 < factors.max() <= 1.1


# %% slideshow={"slide_type": "skip"}
def split_row(name, edge):
    """Return a row: how much faster a product in two precisions is than that in double, and its error."""
    found = {way: on_h200.splitting(way, name, edge**3) for way in (None, *SPLITTINGS)}
    one = found["entries_together"]
    return {
        "matrix": f"{MATRICES[name]}, {edge}³",
        "single, by rows": f"{found['rows_together'].observed['low_share']:.0%}",
        "by entries": f"{one.observed['low_share']:.0%}",
        "bytes": f"{one.cost.bytes / found[None].cost.bytes:.2f}×",
        "double": bench.format_time(found[None].median_s),
        **{
            way.replace("_", ", "): f"{found[None].median_s / found[way].median_s:.2f}×" for way in SPLITTINGS
        },
        "error": f"{one.observed['error']:.0e}",
    }


# %% [markdown] slideshow={"slide_type": "-"}
# An entry is stored in single precision if rounding changes it by at most 2⁻²⁶ of the largest in its row; by rows, if this holds for all of its row.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [split_row(name, edge) for name, edge in SPLIT[3:]],
    f"Single: share of nonzeros. Together, apart: speed over double, in one launch or two. Bytes: entries, together. Error: greatest of y, with x in [−1, 1]; in double, at most {rounding:.0e}. {on_h200.origin}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# To choose by rows is an idea of Tezcan and others (2022), the rule is ours. **Fewer bytes, and no gain**: by entries, each row becomes two pieces.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The matrices.** Rows and columns are scaled by random numbers from 0.9 to 1.1; otherwise single precision would hold Poisson's matrix exactly. At 16³ and
# 32³ the bytes alone would take less than a third of the time. In double precision the error is rounding alone, more than a hundred thousand
# times smaller. Why the product by rows takes longer, too, is not measured: no clock binds.

# %% slideshow={"slide_type": "skip"}
bench.Table([split_row(name, edge) for name, edge in SPLIT[:3]], f"Smaller matrices. {on_h200.origin}")

# %% slideshow={"slide_type": "skip"}
# Iterations are counted here, on the CPU. Times are those of the record, on each GPU that has one.
plain_cg, mixed_cg = CG["cg_two_kernel"], CG["cg_mixed"]
assert DROP == 0.1
assert (plain_cg.cost((8,) * 3).bytes, mixed_cg.cost((8,) * 3).bytes) == (64 * 512, 32 * 512)
CUBE = PoissonProblem.ones(64)
solved = {v: v.function(Library.NUMBA_CPU)(CUBE.b, rtol=1e-6) for v in (plain_cg, mixed_cg)}
iterations = {v: found.iterations for v, found in solved.items()}
gaps = {
    v: np.linalg.norm(CUBE.b - CUBE.matvec(found.x)) / np.linalg.norm(CUBE.b) for v, found in solved.items()
}
assert all(found.converged for found in solved.values()) and max(gaps.values()) <= 1e-6

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_cg = viz.Estimate(
    "06-mixed",
    f"Conjugate gradients on 64³ unknowns take {iterations[plain_cg]} iterations in double precision. With r and p stored in single precision, "
    "to make ‖b − A x‖ as small takes …",
    *(40, 10_000, "iterations"),
)
guess_cg

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What the pair is for: conjugate gradients
#
# r, p and y (the part of x since the last update) are in single precision: 32 bytes per point between updates, not 64. When r has fallen to a tenth of its
# largest since the last update, a [reliable update](glossary.md#reliable-update) computes the **[true residual](glossary.md#true-residual)** $b - A x$ in double.

# %% slideshow={"slide_type": "skip"}
STORED = {"all in double": plain_cg, "r, p, y in single": mixed_cg}
CGS = [Iterations(found) for found in bench.records("cg")]
CGS = [on for on in CGS if any(m.variant == mixed_cg.name for m in on.found.measurements)]


def solve_row(stored, v):
    """Return a row: iterations, counted here, and the time of a whole solve on each GPU that has a record of both."""
    recorded = {f"{SMALL}³, {on.name}": bench.format_time(on.solve(v).median_s) for on in CGS}
    speed = {f"speed, {on.name}": f"{on.solve(plain_cg).median_s / on.solve(v).median_s:.2f}×" for on in CGS}
    bytes_ = f"{v.cost((8,) * 3).bytes / 512:.0f} B"
    return {
        "stored": stored,
        "per point": bytes_,
        "iterations": iterations[v],
        "true residual": f"{gaps[v]:.2e}",
        **recorded,
        **speed,
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [solve_row(stored, v) for stored, v in STORED.items()],
    "Iterations: 64³ unknowns, to 1e-6 of ‖b‖, counted on this CPU. "
    + (f"Times: whole solves. {CGS[-1].origin} {BESIDE}" if CGS else "On a GPU it is not recorded yet."),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert iterations[plain_cg] <= iterations[mixed_cg] < 1.5 * iterations[plain_cg]
guess_cg.reveal(iterations[mixed_cg], how="Counted")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Without updates the computed residual would fall on, and the true one would not: single precision has seven digits.
# > The update keeps the search direction.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "skip"}
in_a_table = on_h200.best("poisson_2d")
assert in_a_table.variant == "ell" and on_h200.over_bound(in_a_table) < 1
assert (
    max(on_h200.library(name).cost.bytes_written / on_h200.library(name).cost.bytes for name in MATRICES)
    < 0.11
)
assert on_h200.copy.cost.bytes_written == on_h200.copy.cost.bytes_read

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "The best kernel, over the time of a copy of as many bytes as CSR's product must move:\n\n"
    + "\n".join(
        f"- {MATRICES[name]}: "
        + ", ".join(f"**{on.over_bound(on.best(name)):.2f} times** on an {on.name}" for on in GPUS)
        for name in MATRICES
    )
    + "\n\nNot a law: a copy writes half of its bytes, a product almost only reads, and ELL has no row pointers.\n\nBeyond it: fewer bytes per nonzero, no stored matrix at all, or several vectors for one pass over the matrix."
)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "skip"}
def gain_row(decision, pair):
    """Return a row: what a decision gains, by Cost and by measurement."""
    pairs = {on.name: pair(on) for on in GPUS}
    moved = [m.cost.bytes for m in pairs["H200"]]
    return {
        "decision": decision,
        "bytes": f"{moved[0] / moved[1]:.2f}×",
        **{f"speed, {name}": f"{a.median_s / b.median_s:.2f}×" for name, (a, b) in pairs.items()},
    }


# %% slideshow={"slide_type": "skip"}
DECISIONS = {  # the measurement before a decision, and the one after it
    "number along the mesh": lambda on: [by_order[on.name][order] for order in (RANDOM, AS_IT_COMES)],
    f"{best_lanes} lane{'s' * (best_lanes > 1)} per row, not 32": lambda on: [swept[on.name][lanes] for lanes in (32, best_lanes)],
    "SELL, not CSR by threads": lambda on: [on.one(kernel, "tetrahedral") for kernel in (SCALAR, SELL)],
    "values in single": lambda on: [on.one(SELL, "tetrahedral", values=v) for v in (None, "float32")],
    "swap fused, not naive": lambda on: [on.swap(way, "tetrahedral") for way in ("naive", "fused")],
}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [gain_row(decision, pair) for decision, pair in DECISIONS.items()],
    f"Before over after. Lanes: Poisson, 3D; the others: tetrahedra. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# **How many nonzeros there are does not depend on the order; what a warp has to fetch for them does.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 6**, `exercises/06_permutations`, 20 points. **Next**: lecture 7 does several steps of conjugate gradients for one sum.
# - E. Cuthill, J. McKee, *Reducing the bandwidth …*, 1969; reversed: A. George, Stanford STAN-CS-71-208, 1971.
# - N. Bell, M. Garland, *Implementing sparse matrix-vector multiplication …*, SC 2009.
# - M. Kreutzer and others, *A unified sparse matrix data format …*, 2014: the format SELL.
# - M. A. Clark and others, *Solving lattice QCD systems …*, 2010: reliable updates.
# - E. Tezcan and others, *Mixed and multi-precision SpMV …*, SBAC-PAD 2022.

# %% slideshow={"slide_type": "skip"}
viz.intuition("06")

# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of all launches** of this lecture that Nsight Compute counted.

# %% slideshow={"slide_type": "skip"}
every_clock("permutation", "spmv")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write the kernels of this lecture yourself: vectors in a new order, products by rows, by lanes and by slices, and a vector in two precisions.
# In each step `...` stands for missing lines. Run the cell: it says what your threads did, in a sentence, a picture and counts. Try the variations
# below it, and answer their questions before you open the answer. All matrices are small here, so that they can be drawn.

# %% slideshow={"slide_type": "skip"}
from course_pkg import cuda, practice


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. A vector in a new order.** `perm[i]` is the old place of what comes to place i. After your kernel has run, look at the picture: which of the
# three vectors is read in order, and which is not?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    ...


practice.check("reorder", reorder)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. And back.** The inverse of `perm` is not stored, and you need not compute it.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def bring_back(perm, new, old):
    i = cuda.grid(1)
    ...


practice.check("bring_back", bring_back)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. A row for each thread.** The matrix lies in three vectors: row i has the places `indptr[i]`, …, `indptr[i + 1] - 1` of two
# of them: `indices` holds the columns of its nonzeros there, and `data` their values. Some rows are empty: their element of y is 0.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        ...


practice.check("one_row_each", one_row_each)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. Rows in a new order.** A step of Jacobi's method. The rows of A and the elements of b were permuted by `perm`; the columns of A, and x, were not. The
# diagonal is not stored apart: recognise it by its column. The next step will read `x_new` in the order of x.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            ...
        ...


practice.check("back_in_place", back_in_place)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. Rows and columns in a new order.** A function for the host, in NumPy. It fills the three vectors of the new matrix, row by row. In each row of
# the old matrix the columns rise, and so they should in the new one.

# %% slideshow={"slide_type": "skip"}
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    inverse = ...
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        columns = ...
        order = ...
        begin, end = new_indptr[i], new_indptr[i] + columns.size
        new_indptr[i + 1] = end
        new_indices[begin:end] = ...
        new_data[begin:end] = ...


practice.check("renumber", renumber)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Four lanes per row.** The rows have up to seven nonzeros. A warp of 32 lanes would be too many for one of them, so a warp takes eight rows. Which lanes
# have to take part in a shuffle?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        ...
    ...


practice.check("lanes_share", lanes_share)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. Slices.** SELL-32-σ: the rows were sorted by length, and sorted row i is row `perm[i]` of the matrix. 32 sorted rows are a slice, which is stored
# column by column: first the first nonzero of each of its rows, then the second of each, and so on. Shorter rows are filled up: such places have column −1. Slice s has the places `offsets[s]`, …, `offsets[s + 1] - 1`.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(...):
            ...
        y[...] = total


practice.check("slices", slices)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. Two precisions.** The matrix and the x that it meets are float32, sums are float64. Each product leaves its result in both precisions, and the
# vectors change places; `x64` is what the last product gave. Complete the kernel and the loop of the host.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            ...
        ...


def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        ...
    return x64


practice.check("both_precisions", both_precisions)

# %% [markdown] slideshow={"slide_type": "skip"}
# What have you solved?

# %% slideshow={"slide_type": "skip"}
practice.progress("permutations")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Explore.** Three matrices of PyAMG's gallery. Sectors are counted in each request, as if no cache kept any. Before you move a slider, predict for each
# matrix: which number of lanes per row asks for the fewest sectors? Does it change with the order?

# %% slideshow={"slide_type": "skip"}
viz.PermutationExplorer({name: views(problem(name).matrix) for name in ("knot", "bar", "recirc_flow")})
