# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: One sum for many steps
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # One sum for many steps
#
# s-step conjugate gradients: derived line by line, run, broken, and repaired.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, sums in time 5, the derivation 12, the printed loop 4,
# > bytes and kernels 5, lost digits and the stable method 9, preconditioning 3, limit and summary 3.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **say** why two sums per iteration hold up a whole machine,
# - **derive** an s-step method from three conditions, and assert each line of it,
# - **count** what such a method moves, and what it saves,
# - **see** digits get lost, and choose a basis that keeps them,
# - **decide** whether fewer sums pay on a given machine.
#
# It builds on lecture 5 (conjugate gradients, passes over memory) and lecture 6 (sparse products).

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
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from IPython.display import Markdown

from course_pkg import bench, viz
from course_pkg.cg.variants import VARIANTS as LECTURE_5
from course_pkg.core import Library, Status
from course_pkg.paths import figure
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.precond.cost import vcycle
from course_pkg.sstep import bases, cost, projection, reference, scalar_work
from course_pkg.sstep.problem import PUBLISHED, Laplacian
from course_pkg.sstep.stability import studies
from course_pkg.sstep.demands import OPERATIONS
from course_pkg.sstep.variants import VARIANTS
from course_pkg.witness.every import every_clock
from course_pkg.witness.iterations import Iterations, bytes_per_point
from course_pkg.witness.rounds import Rounds

# %% slideshow={"slide_type": "skip"}
# What is recorded, by GPU: on.solve(variant, edge), on.over_cublas(operation, s), and so on.
GPUS = [Rounds(found) for found in bench.records("sstep")]
PENDING = "Not measured on a GPU yet."
OTHERS = ", ".join(on.name for on in GPUS[:-1])
ORIGIN = f"{GPUS[-1].origin}{f' {OTHERS}: by the same command.' if OTHERS else ''}" if GPUS else PENDING
PCG, PFCG, MOMENTS, STABLE = (VARIANTS[name] for name in ("pcg", "pfcg", "pcg_sstep_moments", "pcg_sstep"))
TWO_KERNEL = LECTURE_5["cg_two_kernel"]
CUBE = min(PUBLISHED)  # of the records
FUSED_BYTES = bytes_per_point(TWO_KERNEL)
assert FUSED_BYTES == 64


# %% slideshow={"slide_type": "skip"}
def per_point(variant, **how):
    """Return the bytes per point of an iteration, by Cost."""
    return variant.cost(10**6, **how).bytes / 10**6


def sums_of(variant, s=1):
    """Return the sums per iteration, as a table writes them."""
    return "2" if variant in (PCG, TWO_KERNEL) else f"1/{s}" if s > 1 else "1"


def power(value):
    """Return a number to one digit, times a power of ten."""
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit} · 10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def solved(method, edge, **how):
    """Solve Poisson's problem with b = 1 here, by a method in NumPy."""
    return getattr(reference, method)(Laplacian((edge,) * 3), np.ones((edge,) * 3), **how)


# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## One sum in place of eight
#
# Conjugate gradients need two sums over all points per iteration, so eight in four iterations. An **[s-step method](glossary.md#s-step-method)** with
# s = 4 needs **one**.

# %% slideshow={"slide_type": "skip"}
EDGE = 32
few, many = solved("pcg_sstep_moments", EDGE, s=4), solved("pcg", EDGE)
assert few.converged and many.converged and few.iterations == many.iterations == 64
ROUNDS = few.iterations // 4
assert many.extra["reductions"] == 2 * many.iterations + 2 and few.extra["reductions"] == ROUNDS + 2

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"On {EDGE}³ points both take **{few.iterations} iterations**: {many.extra['reductions']} sums against {few.extra['reductions']}."
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_bytes = viz.Estimate(
    "07-bytes",
    f"The two kernels of lecture 5 move {FUSED_BYTES:g} bytes per point and iteration of CG. With an eighth of the sums, an iteration moves …",
    *(20, 5_000, "bytes per point"),
)
guess_bytes

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What an iteration moves

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
STEPS = (1, 2, 3, 4, 6, 8, 12, 16)
viz.curves_picture(
    {
        MOMENTS.titled(): [(s, per_point(MOMENTS, s=s)) for s in STEPS],
        STABLE.titled(): [(s, per_point(STABLE, s=s)) for s in STEPS],
    },
    lines={PCG.titled(): per_point(PCG), TWO_KERNEL.titled(): FUSED_BYTES},
    xlabel="s: iterations for one sum",
    ylabel="bytes per point, iteration",
    ticks=STEPS,
    ylim=(0, 170),
    height=3.3,
)

# %% slideshow={"slide_type": "skip"}
at_four = per_point(MOMENTS, s=4)
assert at_four > 1.4 * FUSED_BYTES and per_point(MOMENTS, s=32) > 80
ours_s = {on.name: t for on in GPUS if (t := on.iteration_s(MOMENTS, CUBE, s=4))}
cg_s = {on.name: on.solve(TWO_KERNEL) for on in map(Iterations, bench.records("cg"))}
cg_s = {name: m.median_s / m.observed["iterations"] for name, m in cg_s.items()}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_bytes.reveal(
    at_four,
    how="Counted by moments",
    note=f"half as many again as CG with two kernels, {FUSED_BYTES:g}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Two forms, derived below: by *[moments](glossary.md#moment)*, as published, and *stable*. For s iterations both write s vectors and their products with A. For
# its sums, *moments* reads s + 2 vectors in one [sweep](glossary.md#sweep), and *stable* 4 s + 1. Then both update all vectors.

# %% [markdown] slideshow={"slide_type": "skip"}
# *By operations*: a kernel for each operation, and room for a preconditioner: 144 bytes per point, not the 112 of the five kernels of lecture 5.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Most expect fewer bytes, because there are fewer sums. On one GPU a sum is cheap: it reads what is read in any
# > case. So why would anybody want fewer of them? Leave the question open for one slide.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two sums per iteration, in time

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("sums_in_time.svg"),
    "Four iterations in time, on one GPU and on eight. Conjugate gradients stop eight times to wait for a sum, with one sum per iteration four times, by "
    "moments once, at the end of a longer stretch of work. With less work per GPU, waits are most of the time of the first.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# A sum is done when the **last** block of the **last** GPU has added its part. Until then nobody knows $\alpha$, and nobody goes on.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Five minutes with the next slide. Ask what a wait is made of: the launch of a second small kernel, the host that reads a
# > number, the network, and the GPU that comes last. With more GPUs, each of them moves fewer bytes, but a wait does not become shorter.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One sum per iteration: look ahead
#
# [CG](glossary.md#CG) sums $p^T A p$ when p is there, and $r^T r$ when r is. Flexible CG (Notay and Napov, 2015) waits for neither: with $u = r$, or with a preconditioner $u = M r$,
#
# $$p = u - \frac{u^T A p_\text{old}}{p_\text{old}^T A p_\text{old}}\, p_\text{old}, \qquad
# p^T A p = u^T A u - \frac{(u^T A p_\text{old})^2}{p_\text{old}^T A p_\text{old}}$$

# %% slideshow={"slide_type": "skip"}
A, rng = poisson((6, 6, 6)), np.random.default_rng(0)
b, u, p_old = rng.uniform(-1, 1, (3, A.shape[0]))
s, r = 3, b.copy()  # the first residual, of x = 0

# %% slideshow={"slide_type": "-"}
energy = p_old @ A @ p_old  # known from before
p = u - (u @ A @ p_old) / energy * p_old
assert abs(p @ A @ p_old) < 1e-10 * energy
assert np.isclose(p @ A @ p, u @ A @ u - (u @ A @ p_old) ** 2 / energy)

# %% slideshow={"slide_type": "skip"}
assert np.allclose(A @ p, A @ u - (u @ A @ p_old) / energy * (A @ p_old))
one_sum = solved("pfcg", EDGE)
assert one_sum.iterations == many.iterations and one_sum.extra["reductions"] == one_sum.iterations + 2

# %% [markdown] slideshow={"slide_type": "-"}
# One [reduction](glossary.md#reduction) gives $u^T r$, $u^T A u$ and $u^T A p_\text{old}$ together: **one sum**.

# %% [markdown] slideshow={"slide_type": "skip"}
# From here on, *one sum* is one reduction, however many numbers it adds up.
#
# **The steps between.** Multiply the first formula by $p_\text{old}^T A$: the right side vanishes, so p is conjugate to $p_\text{old}$. Therefore
# $p^T A p = u^T A p$, and the first formula, multiplied by $u^T A$, gives the second. In CG $\alpha$ is $p^T r / p^T A p$; r is orthogonal to
# $p_\text{old}$, so $p^T r = u^T r$. And $A p$ needs no product with A: it is $A u$ minus the same share of $A p_\text{old}$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One sum per s iterations: a round

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("sstep_flow.svg"),
    "A round with s = 3: three products with A turn r into a block of three vectors and their products; one reduction turns the block into six numbers; "
    "small systems of 3 by 3 give beta and alpha; the block before, times beta, is added, and x and r move along the new directions.",
)


# %% [markdown] slideshow={"slide_type": "-"}
# A **[round](glossary.md#round)** does the work of s iterations: a **[Krylov block](glossary.md#Krylov-block)** Q of s vectors and their products $A Q$,
# one sum, s × s systems, one update.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## s products, then 2 s numbers in one sum
#
# $$Q_j = A^j r, \qquad \mu_k = r^T A^k r, \qquad k = 0, \dots, 2 s - 1$$

# %% slideshow={"slide_type": "-"}
def powers(r, s):
    Q = [r]
    for _ in range(s - 1):
        Q.append(A @ Q[-1])
    return np.array(Q).T


AQ = A @ (Q := powers(r, s))  # again, for brevity: A Q_j is Q_{j + 1}
mu = np.concatenate([Q.T @ r, Q.T @ AQ[:, -1]])  # 2 s numbers: one reduction
assert np.isclose(mu[5], r @ (A @ (A @ (A @ (A @ (A @ r))))))

# %% [markdown] slideshow={"slide_type": "-"}
# The $\mu_k$ are the **[moments](glossary.md#moment)** of r. With a preconditioner, $Q_j = (M A)^j M r$.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The steps between.** $Q_k^T r = \mu_k$, and the last product gives the other moments: $Q_k^T A Q_{s-1} = r^T A^k A\, A^{s-1} r = \mu_{s+k}$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The moments know all products of Q
#
# $$H_{ij} = Q_i^T A\, Q_j = r^T A^i\, A\, A^j r = \mu_{i+j+1}$$
#
# A is symmetric, so only $i + j$ counts: the s² products are 2 s − 1 numbers.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("hankel.svg"),
    "Eight moments in a row, and the 4 by 4 Gram matrix: each of its diagonals that rises to the right holds one moment.",
)

# %% slideshow={"slide_type": "-"}
H = mu[np.add.outer(np.arange(s), np.arange(s)) + 1]
assert np.allclose(H, Q.T @ A @ Q)

# %% [markdown] slideshow={"slide_type": "-"}
# $H$ is the **[Gram matrix](glossary.md#Gram-matrix)** of Q in the energy of A: s² products, and no further sum.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Step lengths: α solves an s × s system
#
# Directions $P$, the first time $P = Q$. The lowest energy in $x + P \alpha$ is where the new residual is orthogonal to all of $P$:
#
# $$P^T (r - A P \alpha) = 0 \qquad\Longleftrightarrow\qquad W \alpha = P^T r, \quad W = P^T A P$$

# %% slideshow={"slide_type": "-"}
P, AP, W = Q, AQ, H
alpha = np.linalg.solve(W, mu[:s])
assert np.allclose(mu[:s], P.T @ r)
r_new = r - AP @ alpha
assert np.linalg.norm(P.T @ r_new) < 1e-9 * np.linalg.norm(P.T @ r)

# %% [markdown] slideshow={"slide_type": "-"}
# With s = 1 this is $\alpha = r^T r / r^T A r$. With s = 3 it is three steps at once: x is that of three iterations of CG,
# which find the lowest energy in the same space.

# %% slideshow={"slide_type": "skip"}
three = reference.pcg(A, b, maxiter=3)
assert np.isclose(scalar_work.first([b @ b, b @ A @ b]).alpha[0], (b @ b) / (b @ A @ b))
assert three.iterations == 3 and np.allclose(three.x, P @ alpha, rtol=1e-9)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Conjugacy: β solves s such systems
#
# **[Conjugacy](glossary.md#conjugacy)**: steps along new directions do not spoil what the old ones reached.
#
# $$P_\text{new} = Q + P \beta, \; P^T A P_\text{new} = 0 \;\Longrightarrow\; W \beta = C, \; C = -P^T A Q$$

# %% slideshow={"slide_type": "-"}
Q = powers(r_new, s)
AQ, C = A @ Q, -(AP.T @ Q)
beta = np.linalg.solve(W, C)
P_new, AP_new = Q + P @ beta, AQ + AP @ beta  # no further product with A
assert abs(AP.T @ P_new).max() < 1e-9 * abs(C).max()
assert np.allclose(P_new.T @ AP_new, Q.T @ AQ - C.T @ beta)

# %% [markdown] slideshow={"slide_type": "-"}
# $$W_\text{new} = P_\text{new}^T A\, P_\text{new} = Q^T A\, Q - C^T \beta, \qquad P_\text{new}^T r = Q^T r$$

# %% slideshow={"slide_type": "skip"}
assert np.allclose(P_new.T @ r_new, Q.T @ r_new)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The steps between.** $P_\text{new}^T A P_\text{new} = (Q + P \beta)^T A P_\text{new} = Q^T A P_\text{new}$, because $P^T A P_\text{new} = 0$. Put $P_\text{new}$ in on the
# right: $Q^T A Q + Q^T A P \beta = Q^T A Q - C^T \beta$. And the new r is orthogonal to P, so $P_\text{new}^T r = Q^T r + \beta^T P^T r = Q^T r$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## C without another sum
#
# $C_{ij} = -P_i^T A Q_j$: again only $i + j$ counts; we write $C_{ij} = -t_{i+j}$. By orthogonality, $t_0, \dots, t_{s-2}$ are 0; the others follow in turn from
#
# $$\mu_i = Q_i^T r_\text{new} = Q_i^T (r - A P \alpha) = -\sum_j \alpha_j\, t_{i+j}$$

# %% slideshow={"slide_type": "-"}
mu = np.concatenate([Q.T @ r_new, Q.T @ AQ[:, -1]])
t = np.zeros(2 * s - 1)  # t[0] … t[s - 2] stay zero
for i in range(s):
    known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
    t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
i_plus_j = np.add.outer(np.arange(s), np.arange(s))
assert np.allclose(C, -t[i_plus_j], atol=1e-9 * abs(C).max())

# %% [markdown] slideshow={"slide_type": "skip"}
# **The steps between.** Here P is the old Q, so $P_i = A^i r$, and $Q_j = A^j r_\text{new}$. A is symmetric, so
# $t_{i+j} = P_i^T A Q_j = r^T A^{i+j+1} r_\text{new}$. While $i + j + 1 < s$, this is $P_{i+j+1}^T r_\text{new}$, which vanishes: the new r is orthogonal to P. In
# the formula above, $Q_i^T r = r_\text{new}^T A^i r = r_\text{new}^T P_i = 0$ for the same reason. Of t, its row i holds
# $t_{s-1}, \dots, t_{s-1+i}$; the rows before have given all of them but $t_{s-1+i}$. So the cell sums `for j in range(i)`: over the t that are known.

# %% slideshow={"slide_type": "skip"}
assert np.allclose(mu[:s], [-alpha @ t[i : i + s] for i in range(s)])
step = scalar_work.following(mu, scalar_work.first(np.concatenate([P.T @ b, P.T @ AP[:, -1]])))
assert np.allclose(step.beta, beta) and np.allclose(step.W, P_new.T @ AP_new)

# %% slideshow={"slide_type": "skip"}
# The same one round later, where P is no longer Q: its older parts are conjugate to the newest Q.
r_third = r_new - AP_new @ step.alpha
third = powers(r_third, s)
mu_third = np.concatenate([third.T @ r_third, third.T @ (A @ third[:, -1])])
C_third = -(AP_new.T @ third)
assert np.allclose(scalar_work.coupling(mu_third, step.alpha), C_third, atol=1e-8 * abs(C_third).max())
assert abs(third.T @ r_new).max() < 1e-8 * abs(mu_third).max()  # Q_i·r is 0

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Twelve minutes for the derivation. So a round needs 2 s moments, and α and W of the round before. Each line has its assertion: run them live, then change one sign and run them again. Who
# > derives a method in this way finds a wrong line: the next slides have one. If somebody asks:
# > the last formula of "Conjugacy" holds because the new r is orthogonal to P. $Q_i^T r = 0$ because A moves to the other side again, and the new r is orthogonal to all that r and its products span. In later rounds P has older
# > parts as well; they are conjugate to the new Q and add nothing.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_printed = viz.Prediction(
    "07-printed",
    "The paper that this lecture follows prints the loop that fills row i of C for j = 1 … i − 1: only what lies below the diagonal. On 10³ points CG takes "
    "26 iterations to 1e-10. A program with that loop and s = 4 …",
    [
        "converges in a few rounds more: C is symmetric",
        "goes on like steepest descent: slow, but it falls",
        "stops soon: W is not positive definite",
        "converges to a wrong x: its residual is wrong",
    ],
)
guess_printed

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The loop, as printed

# %% slideshow={"slide_type": "skip"}
to_ten = {"rtol": 1e-10, "maxiter": 60}
right = {k: solved("pcg_sstep_moments", 10, s=k, **to_ten) for k in (1, 4)}
printed = {k: solved("pcg_sstep_printed", 10, s=k, **to_ten) for k in (1, 2, 3, 4, 5)}
plain = solved("pcg", 10, **to_ten)
assert scalar_work.coupling_printed([0.25, 1.0], np.array([0.5])) == 0  # s = 1: p = r, as in steepest descent
assert plain.iterations == 26 and right[4].converged and right[4].iterations == 28
assert not any(found.converged for found in printed.values())
assert all(found.iterations <= 2 * k for k, found in printed.items() if k > 1)
assert all(printed[k].status is Status.STAGNATED for k in (2, 3, 4, 5))  # W is not positive definite


def fall(found, k=1):
    """Return the points of a residual's line: iterations, and the norm over the first."""
    norms = np.array(found.residual_norms) / found.residual_norms[0]
    return [(min(k * i, found.iterations), n) for i, n in enumerate(norms) if k * i <= 32]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {"CG": fall(plain), f"right, s = {4}": fall(right[4], 4), f"printed, s = {1}": fall(printed[1])},
    marks={f"printed, s = {4}: stops": fall(printed[4], 4)[-1:]},
    xlabel="iterations",
    ylabel="‖r‖ / ‖b‖",
    log="y",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_printed.reveal(
    f"after {printed[4].iterations} iterations, at {printed[4].residual_norms[-1] / printed[4].residual_norms[0]:.1f} of the first residual",
    right="stops soon: W is not positive definite",
    how="Found",
)

# %% [markdown] slideshow={"slide_type": "-"}
# The right loop ends at **s**. With s = 1 the printed one leaves C at 0: that **is** steepest descent. The assertion on conjugacy fails at once.

# %% slideshow={"slide_type": "skip"}
wrong = np.tril(C, -1)  # j = 1 … i - 1
spoiled = AP.T @ (Q + P @ np.linalg.solve(W, wrong))
assert abs(spoiled).max() > 0.1 * abs(C).max()

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. The loop must run to s. The authors' program surely does; a slip in a printed loop is easy to make. The point is
# > the tool: an assertion for each line.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The same iterations, within a round

# %% slideshow={"slide_type": "skip"}
SAME = ((PCG, {}), (PFCG, {}), *((MOMENTS, {"s": k}) for k in (1, 2, 3)))
here = [solved(v.operation, EDGE, **how) for v, how in SAME]
assert all(0 <= found.iterations - here[0].iterations < 3 for found in here)


def counted_row(v, how, found_here):
    """Return a row: iterations, here and as they are recorded."""
    there = {edge: GPUS[-1].solve(v, edge, **how) for edge in (64, 128, CUBE) if GPUS}
    there = {f"{edge}³": f"{found.observed['iterations']}" for edge, found in there.items() if found}
    row = {"method": v.titled(**how), "sums per iteration": sums_of(v, **how)}
    return row | {f"{EDGE}³, here": f"{found_here.iterations}", **there}


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [counted_row(*method, found) for method, found in zip(SAME, here, strict=True)],
    f"Iterations to 1e-6 of ‖b‖, b = 1. {GPUS[-1].origin if GPUS and GPUS[-1].solve(PCG, CUBE) else PENDING}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"The paper reports **{PUBLISHED[CUBE]}** iterations for {CUBE}³ points, with one sum per iteration and by moments with s = 1. In exact arithmetic the methods "
    "are the same; they differ in when they look at the residual."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A round's bytes: one kernel, or calls

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "registers")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("block_update.svg"),
    "The update of a round for s = 3. By four calls of cuBLAS the new block is written, and read again for x and r. In one kernel a thread keeps its row of "
    "the new block in registers, and beta lies in shared memory.",
)

# %% slideshow={"slide_type": "skip"}
calls, fused = (
    VARIANTS["update_block"].cost_by(Library.CUPY)(10**6, 4).bytes,
    cost.update_block(10**6, 4).bytes,
)
assert (
    calls / fused < 1.3
    and VARIANTS["moments"].cost_by(Library.CUPY)(10**6, 4).bytes / cost.moments(10**6, 4).bytes > 1.8
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"In the picture s is 3. With s = 4, one kernel for the update moves {fused / 1e6:.0f} bytes per point; calls of cuBLAS, NVIDIA's library for vectors and matrices, move {calls / 1e6:.0f}. One kernel for all sums reads s + 2 vectors, "
    f"{cost.moments(10**6, 4).bytes / 1e6:.0f} bytes; three calls read {VARIANTS['moments'].cost_by(Library.CUPY)(10**6, 4).bytes / 1e6:.0f}."
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Measured against cuBLAS

# %% slideshow={"slide_type": "skip"}
NAMES = {
    "moments": "2 s moments",
    "gram": "Gram matrix",
    "update_block": "update",
    "project_block": "projection",
}


def against_cublas(on):
    """Draw how many times as fast as cuBLAS's calls each operation is, for each s."""
    return viz.curves_picture(
        {NAMES[name]: [(k, on.over_cublas(name, k)) for k in on.steps(name)] for name in OPERATIONS},
        lines={"as cuBLAS": 1.0},
        xlabel="s",
        ylabel="times as fast",
        ticks=on.steps("moments"),
        among=NAMES.values(),
        height=3.4,
        note=viz.Note(f"{CUBE}³ points. Gram matrix and projection: of the stable method, below.", on.origin),
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(against_cublas, GPUS) if GPUS else Markdown(PENDING)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ratios = [(on.over_cublas(o, k), NAMES[o], k, on.name) for on in GPUS for o in OPERATIONS for k in on.steps(o)]
assert min(ratios)[0] > 1.5 and min(r[0] for r in ratios if r[3] == "H200") >= 2
by_bytes = cost.update_block_by_library(1000, 2).bytes / cost.update_block(1000, 2).bytes
of_calls = [(on, on.operation("update_block", 2, Library.CUPY)) for on in GPUS]
slow_calls = [f"{m.of_copy(on.copy):.0%} ({on.name})" for on, m in of_calls if m]
by_time = " and ".join(f"{on.over_cublas('update_block', 2):.1f}" for on, m in of_calls if m)
assert all(on.over_cublas("update_block", 2) > 2 * by_bytes and m.of_copy(on.copy) < 0.5 for on, m in of_calls if m)
Markdown(
    "The paper reports factors of two to three. "
    + (
        "Ours, at the least: {:.2f} ({}, s = {}, {}). ".format(*min(ratios))
        + f"At s = 2, bytes explain {by_bytes:.2f} of our update's {by_time}: the calls reach **{' and '.join(slow_calls)}** of a copy's speed."
        if ratios
        else PENDING
    )
)

# %% slideshow={"slide_type": "skip"}
EACH = ", ".join(on.name for on in GPUS)
bench.Table(
    [
        {EACH: NAMES[name], **{f"s = {k}": tuple(f"{on.of_copy(name, k):.0%}" for on in GPUS) for k in GPUS[0].steps(name)}}
        for name in OPERATIONS
    ],
    f"The share of a copy's bandwidth that each operation reaches. {ORIGIN}",
) if GPUS else Markdown(PENDING)

# %% [markdown] slideshow={"slide_type": "skip"}
# **[Three clocks](glossary.md#three-clocks)** of these kernels: the share of its time that each unit would need alone. On both GPUs memory holds all four, the Gram
# matrix as well, though each number takes part in many products. A share can exceed 100%: it is measured by a copy of 250³ numbers, and long sweeps that only read
# are faster than this copy.

# %% slideshow={"slide_type": "skip"}
from course_pkg.vector.variants import VARIANTS as LECTURE_2
from course_pkg.witness.clocks import NOT_COUNTED

clocked = every_clock("sstep")
names = {f"sstep_{name}_4_{CUBE}": title for name, title in NAMES.items()}
held = [{"kernel, s = 4": names[row.pop("case")], **row} for row in clocked.rows if row["case"] in names]
binding = [[its for on in GPUS if (its := on.clock_row(case)["binds"]) != NOT_COUNTED] for case in names]
assert len(held) == 4 and all(len(of) >= 2 and set(of) == {"memory"} for of in binding)
for on in GPUS:
    *_, longest = bench.matching(bench.recorded("vector", on.found.device.slug).measurements, LECTURE_2["dot"].by(Library.NUMBA_CUDA))
    assert on.copy.parameters["n"] == CUBE**3 and longest.t_eff_gb_s > 1.05 * on.copy.t_eff_gb_s
bench.Table(held, f"{CUBE}³ points. {clocked.caption}")

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_condition = viz.Estimate(
    "07-condition",
    f"{EDGE}³ points, a random r. The eight vectors r, Ar, …, A⁷r, each scaled to length 1 in the energy of A. The condition number (largest over smallest eigenvalue) of their Gram matrix is …",
    *(10, 1e15, ""),
)
guess_condition

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Powers of A, and other polynomials

# %% slideshow={"slide_type": "skip"}
DEPTHS = tuple(range(1, 17))
cube, bounds = Laplacian((EDGE,) * 3), (0.0, 12.0)
start = rng.uniform(-1, 1, cube.n)


def gram_of(name, k):
    """Return the Gram matrix of k vectors of a basis, each scaled to length 1 in the energy of A."""
    from course_pkg.sstep.room import Room

    room = Room(reference, cube, start, None, None, 1e-6, 0.0, None)
    block = room.block(k)
    room.powers(start, bases.basis(name, k, bounds), block)
    G = block[:k] @ block[k:].T
    d = 1 / np.sqrt(np.diag(G))
    return d[:, None] * (G + G.T) / 2 * d


# %% slideshow={"slide_type": "skip"}
conditions = {}
for name in bases.BASES:
    largest = gram_of(name, max(DEPTHS))  # of the other two, fewer vectors are the first of more
    conditions[name] = [
        projection.condition(largest[:k, :k] if name != "newton" else gram_of(name, k)) for k in DEPTHS
    ]
at_eight = {name: found[7] for name, found in conditions.items()}
assert (
    at_eight["chebyshev"] < 1e-3 * at_eight["monomial"]
    and at_eight["chebyshev"] < at_eight["newton"] < at_eight["monomial"]
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        name.capitalize() if name != "monomial" else name: [
            (k, c) for k, c in zip(DEPTHS, found, strict=True) if np.isfinite(c)
        ]
        for name, found in conditions.items()
    },
    lines={"1 / rounding": 1 / np.finfo(float).eps},
    xlabel="s: vectors (Newton and Chebyshev: see below)",
    ylabel="condition of the Gram matrix",
    log="y",
    ticks=DEPTHS,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
shown = float(f"{at_eight['monomial']:.1e}")
guess_condition.reveal(shown, how="Computed")

# %% [markdown] slideshow={"slide_type": "-"}
# Products with A enlarge the components that belong to large eigenvalues. Where the [condition number](glossary.md#condition-number) of a
# **Gram matrix** meets the line, the matrix is singular within rounding, though the vectors still differ. The **[monomial basis](glossary.md#monomial-basis)** meets it first.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The computed residual falls, the true one does not

# %% slideshow={"slide_type": "skip"}
DRIFT = 48


def watched(method, **how):
    """Solve, and return the solution with the norms that it computes and the true ones, both over ‖b‖."""
    system, ones = Laplacian((DRIFT,) * 3), np.ones((DRIFT,) * 3)
    true = [1.0]
    found = getattr(reference, method)(
        system,
        ones,
        rtol=1e-8,
        callback=lambda x: true.append(np.linalg.norm(ones - system @ x) / np.linalg.norm(ones)),
        **how,
    )
    return found, np.array(found.residual_norms) / found.residual_norms[0], np.array(true)


# %% slideshow={"slide_type": "skip"}
drifts, computed, true = watched("pcg_sstep_moments", s=8)
keeps, _, stays_true = watched("pcg_sstep", s=8)
assert not drifts.converged and computed[-1] < 1e-8 and true[-1] > 30 * computed[-1]
assert keeps.converged and stays_true[-1] < 1.01e-8


def by_rounds(norms, k=8):
    return [(k * i, float(n)) for i, n in enumerate(norms)]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        "moments, computed": by_rounds(computed),
        "moments, true": by_rounds(true),
        "stable, true": by_rounds(stays_true),
    },
    lines={"tolerance": 1e-8},
    xlabel=f"iterations; {DRIFT}³ points, s = 8",
    ylabel="‖r‖ / ‖b‖",
    log="y",
)

# %% [markdown] slideshow={"slide_type": "-"}
# By moments, the true norm ends more than 30 times above the computed one; the stable method's true norm reaches the tolerance. The computed r
# does not say so: only the **[true residual](glossary.md#true-residual)** $b - A x$ tells.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## First repair: other polynomials

# %% slideshow={"slide_type": "skip"}
LAMBDA = np.linspace(0.0, 12.0, 121)
assert abs(bases.values(bases.basis("chebyshev", 6, bounds), LAMBDA)).max() < 1 + 1e-12
spectrum = np.linalg.eigvalsh(A.toarray())
assert (A.diagonal() == 6).all() and (abs(A).sum(axis=1) <= 12).all() and spectrum[0] > 0 and spectrum[-1] < 12
first = (A @ b - 6 * b) / 6
assert not np.isclose(b @ A @ ((A @ first - 6 * first) / 3 - b), first @ A @ first)  # entries (0, 2) and (1, 1) of a Gram matrix


def polynomials(name):
    """Draw what the vectors of a basis are for each eigenvalue, each over its largest value."""
    found = bases.values(bases.basis(name.lower(), 6, bounds), LAMBDA)
    found = found / abs(found).max(axis=1)[:, None]
    return viz.curves_picture(
        {f"Q{j}": list(zip(LAMBDA, row, strict=True)) for j, row in enumerate(found)},
        xlabel="eigenvalue of A",
        ylabel="share of its largest",
        ylim=(-1.1, 1.1),
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.slider(polynomials, ["monomial", "Newton", "Chebyshev"], label="basis", start="Chebyshev")

# %% [markdown] slideshow={"slide_type": "-"}
# $Q_1 = \tfrac{1}{h} (A - c) Q_0$, $Q_{j+1} = \tfrac{2}{h} (A - c) Q_j - Q_{j-1}$, with c and h the centre and half-width of an interval that holds all eigenvalues: the
# **[Chebyshev basis](glossary.md#Chebyshev-basis)**. In the [Newton basis](glossary.md#Newton-basis), $A$ minus another shift makes each vector from the one before.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why it helps.** $A^j$ weighs the part of r that belongs to an eigenvalue λ by $\lambda^j$: after some products the large eigenvalues outweigh the others,
# and the vectors look alike. Chebyshev polynomials go up and down between −1 and 1 over the whole interval, so no part outgrows the others.
# The shifts of the Newton basis come from all over the interval, each next one far from those before. And why 0 to 12? A row of A has 6 on the diagonal and at
# most six times −1 beside it; by Gershgorin's theorem, no eigenvalue is further than that from 6.
#
# **What it costs.** For such vectors, $Q_i^T A Q_j$ does not depend on $i + j$ alone, so moments do not give the Gram matrix.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Second repair: sum what you need
#
# Moments know powers of A alone, and leave C and W to a recurrence that carries rounding errors along. So sum the Gram matrix of **all 2 s vectors**, old
# directions P and new Q: still one reduction. Nothing is carried over but vectors.

# %% slideshow={"slide_type": "-"}
Z, AZ = np.hstack([P, Q]), np.hstack([AP, AQ])
G, g = Z.T @ AZ, Z.T @ r_new
d = 1 / np.sqrt(np.diag(G))
scaled = d[:, None] * G * d  # to unit diagonal
inverse = np.linalg.pinv(scaled, rcond=2 * s * 1e-14, hermitian=True)
a = d * (inverse @ (d * g))
assert np.linalg.norm(Z.T @ (r_new - AZ @ a)) < 1e-8 * np.linalg.norm(g)

# %% [markdown] slideshow={"slide_type": "-"}
# **Third repair**: eigenvalues of the scaled G below 2 s · 10⁻¹⁴ of the largest are rounding errors; leave them out. The new directions are made of the same G.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The steps between.** $G a = g$ is the system of "Step lengths" with Z in place of P: $x + Z a$ has the lowest energy that old and new directions together can
# reach. The cell scales its diagonal, and `pinv` leaves out the eigenvalues of the third repair. The blocks of G are
# $P^T A P$, $P^T A Q$ and $Q^T A Q$: all that "Conjugacy" needs. So the new directions follow without another sum.

# %% slideshow={"slide_type": "skip"}
found = projection.projected(G, g, s)
assert (
    np.allclose(Z @ found.a, Z @ a, atol=1e-9 * abs(Z @ a).max())
    and abs(AZ[:, :s].T @ (Z @ found.C)).max() < 1e-8
)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
WIDE = (6.0, 9.0, 12.0, 12.6, 15.0, 18.0)
by_bound = {hi: solved("pcg_sstep", EDGE, s=16, bounds=(0.0, hi), rtol=1e-8) for hi in WIDE}
guess_bounds = viz.Estimate(
    "07-bounds",
    f"{EDGE}³ points, s = 16, to 1e-8: the stable method takes {by_bound[12.0].iterations} iterations if it is told that eigenvalues lie between 0 and 12. "
    "If it is told 0 and 18, 50% too much, it takes …",
    *(20, 2_000, "iterations"),
)
guess_bounds

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Iterations with a wrong bound

# %% slideshow={"slide_type": "skip"}
assert all(found.converged for found in by_bound.values())
exact_hi, little, much = (by_bound[hi] for hi in (12.0, 12.6, 18.0))
worse = max(little.extra["conditions"]) / max(exact_hi.extra["conditions"])
assert exact_hi.iterations == little.iterations < much.iterations and worse > 20
assert by_bound[9.0].extra["growth"] > 1e6 and by_bound[9.0].iterations > exact_hi.iterations
with_eight = [solved("pcg_sstep", EDGE, s=8, bounds=(0.0, hi), rtol=1e-8).iterations for hi in (12.0, 18.0)]
assert with_eight[0] == with_eight[1] < much.iterations

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {"s = 16": [(hi / 12, found.iterations) for hi, found in by_bound.items()]},
    lines={"CG": solved("pcg", EDGE, rtol=1e-8).iterations},
    xlabel="upper bound, over the right one",
    ylabel="iterations to 1e-8",
    ylim=(0, 230),
    height=3.2,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_bounds.reveal(much.iterations, how="Counted")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"**5% too much costs no iteration, 50% costs {much.iterations - exact_hi.iterations}.** Double precision absorbs a condition number {worse:.0f} times as large. With 9 (0.75), a vector of the basis grew "
    f"{power(by_bound[9.0].extra['growth'])} times: beyond the interval, the polynomials explode. The solver says so."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Nine minutes from the condition numbers to here. Bounds come from Gershgorin's circles, which need the rows of the matrix, or from a few
# > steps of Lanczos' method. Ask which of the two errors is worse before you show the picture. With s = 8, even 50% too much costs no iteration here.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Try it: monomial is by moments, the others are stable

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.StabilityExplorer(studies((12, 20)), start={"n": 20, "basis": "monomial", "s": 8})

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Monomial: the method by moments; else: the stable one. CG here is "CG, by operations", 144 bytes per point, not the 64 of two
# > kernels: so a bar of bytes below 1 is not a gain over lecture 5.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A preconditioner that is nothing but products

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("vcycle.svg"),
    "A V-cycle on four levels of a 32 cubed grid: smooth and restrict on the way down, solve on the coarsest level, prolong and smooth on the way up. Each arrow "
    "and each smoothing step is a product with a sparse matrix.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Algebraic multigrid: one **[V-cycle](glossary.md#V-cycle)** is a [preconditioner](glossary.md#preconditioner). **[Aggregation](glossary.md#aggregation)** puts 8 points
# into one; a **[smoother](glossary.md#smoother)** is a step of Jacobi's method, lecture 6.

# %% [markdown] slideshow={"slide_type": "skip"}
# A cycle solves $A z = r$ roughly. The smoother removes from the error what changes from point to point. What is left is smooth, so a coarser grid can hold it: the residual
# is *restricted* to that grid, the error is computed there in the same way, and *prolonged* back to the points.

# %% slideshow={"slide_type": "skip"}
GROWING = (8, 16, 24, 32)
plain_by_edge, cycled = {}, {}
for edge in GROWING:
    system, ones = poisson((edge,) * 3), np.ones(edge**3)
    V = amg(system)
    plain_by_edge[edge] = reference.pcg(Laplacian((edge,) * 3), ones.reshape((edge,) * 3)).iterations
    cycled[edge] = reference.pcg(system, ones, M=V).iterations
    if edge == EDGE:
        cycle_bytes = vcycle(**V.sizes()).bytes / edge**3
        cycled_rounds = reference.pcg_sstep(system, ones, s=4, M=V)
assert cycled_rounds.converged and cycled_rounds.iterations <= cycled[EDGE] + 4

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Iterations that grow slowly

# %% slideshow={"slide_type": "skip"}
lines = {"CG": dict(plain_by_edge), "CG, V-cycle": dict(cycled)}
for edge in (64, 128, CUBE) if GPUS else ():
    ways = {"CG": GPUS[-1].solve(PCG, edge), "CG, V-cycle": GPUS[-1].stored(PCG, edge, M="vcycle")}
    for name, found in ways.items():
        lines[name] |= {edge: found.observed["iterations"]} if found else {}
grown = max(lines["CG, V-cycle"]) > EDGE  # whether there is a record beyond what is counted here
assert (
    cycle_bytes > 5 * FUSED_BYTES
    and cycled[EDGE] < 1.6 * cycled[8]
    and plain_by_edge[EDGE] > 3 * plain_by_edge[8]
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {name: sorted(found.items()) for name, found in lines.items()},
    xlabel="points along an edge",
    ylabel="iterations to 1e-6",
    log="xy",
    ticks=sorted(lines["CG"]),
    yticks=(5, 10, 20, 50, 100, 200, 500) if grown else (5, 10, 20, 50, 100),
    note=f"To {EDGE}³: counted here. Beyond: {f'on a GPU. {GPUS[-1].origin}' if grown else 'not recorded on a GPU yet.'}",
)

# %% slideshow={"slide_type": "skip"}
whole = [GPUS[-1].stored(PCG, CUBE, M=M) for M in (None, "vcycle")] if GPUS else [None]
timed = "Whole solves with a V-cycle: not timed on a GPU yet."
if all(whole):
    fused = next(on for on in map(Iterations, bench.records("cg")) if on.name == GPUS[-1].name).solve(TWO_KERNEL)
    stored_s, cycle_s, fused_s = (m.median_s for m in (*whole, fused))
    assert cycle_s < stored_s / 4 and cycle_s < fused_s < 1.5 * cycle_s
    timed = (
        f"{GPUS[-1].name}, {CUBE}³, a stored matrix: **{bench.format_time(cycle_s)}** with it, {bench.format_time(stored_s)} without. "
        f"Two kernels, no matrix: {bench.format_time(fused_s)}, and nothing to set up."
    )

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"A cycle takes no inner product; it moves as many bytes as **{cycle_bytes / FUSED_BYTES:.0f} iterations** of CG with two kernels. {timed}"
)

# %% [markdown] slideshow={"slide_type": "skip"}
# The paper: 45 iterations at 250³, 119 at 1000³, with its own aggregation.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit: what a sum may cost

# %% slideshow={"slide_type": "skip"}
copies = {on.name: on.copy.t_eff_gb_s for on in map(Iterations, bench.records("cg"))}
t_copy = copies["H200"]


def break_even_us(edge, variant=MOMENTS, s=4):
    """Return the time of a sum, in µs, from which on s steps for one sum take less time than CG with two kernels."""
    more_s = (per_point(variant, s=s) - FUSED_BYTES) * edge**3 / (t_copy * 1e9)
    return 1e6 * more_s / (2 - 1 / s)


def seconds(variant, sums, sum_us, edge, **how):
    """Return the time of an iteration by the model: its bytes at the bandwidth of a copy, and its sums."""
    its = FUSED_BYTES if variant is TWO_KERNEL else per_point(variant, **how)
    return its * edge**3 / (t_copy * 1e9) + sums * sum_us / 1e6


for more in (0.9, 1.1):
    us = more * break_even_us(128)
    saved = seconds(TWO_KERNEL, 2, us, 128) - seconds(MOMENTS, 1 / 4, us, 128, s=4)
    assert (saved > 0) == (more > 1)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
PER_GPU = (16, 32, 64, 128, CUBE, 2 * CUBE)
viz.curves_picture(
    {
        v.titled(s=s): [(e, break_even_us(e, v, s)) for e in PER_GPU] for v, s in ((MOMENTS, 4), (STABLE, 8))
    },
    xlabel="points along an edge of a GPU's part",
    ylabel="a sum's time, µs",
    log="xy",
    ticks=PER_GPU,
    height=3.4,
    note="A model, without launches: bytes by a copy (H200), and sums. Above its line, a method beats CG with two kernels. "
    "By moments, up to 64³ the 18 vectors fit the L2.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
on_h200 = next((on for on in GPUS if on.name == "H200" and on.name in ours_s), None)
if on_h200:
    measured, few = ours_s["H200"] / cg_s["H200"], on_h200.iteration_s(MOMENTS, 64, s=4) / ours_s["H200"]
    assert 1.02 < measured / (at_four / FUSED_BYTES) < 1.2 and few > 10 * (64 / CUBE) ** 3
Markdown(
    f"Fewer sums pay with {CUBE}³ points on one GPU if a sum takes **{break_even_us(CUBE):.0f} µs**; with 32³ on each of many GPUs, **{break_even_us(32):.1f} µs** are enough. "
    + (f"Measured on one H200: **{measured:.2f}×** the time of CG, for {at_four / FUSED_BYTES:.2f}× its bytes. Launches and the beginning of a solve remain: with {(64 / CUBE) ** 3:.1%} of the points, 64³, an iteration takes **{few:.0%}** of the time." if on_h200 else "")
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The model.** By moments, with s = 4, an iteration moves 94 bytes per point in place of 64, and waits for a quarter of a sum in place of two. On the line, the time of
# these bytes is that of these waits. The 18 vectors of the note: two blocks of 8 rows, x and r.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "skip"}
SUMMED = ((TWO_KERNEL, {}), (PFCG, {}), (MOMENTS, {"s": 4}), (STABLE, {"s": 8}), (STABLE, {"s": 16}))
TIMED = {on.name: on for on in GPUS if on.name in ours_s}
FEW = 20  # points along an edge: a short solve
FEW_TAKE, MORE_TAKE = (solved("pcg", edge, rtol=1e-8).iterations for edge in (FEW, EDGE))


def whole_rounds(iterations, s):
    """Return a number of iterations, rounded up to whole rounds."""
    return -(-iterations // s) * s


for s_of, edge, take in ((4, FEW, FEW_TAKE), (12, FEW, FEW_TAKE), (12, EDGE, MORE_TAKE), (16, EDGE, MORE_TAKE)):
    assert take <= solved("pcg_sstep", edge, s=s_of, rtol=1e-8).iterations <= 1.05 * take
assert FEW_TAKE == 49 and MORE_TAKE == 79 and whole_rounds(FEW_TAKE, 4) == 52 and whole_rounds(FEW_TAKE, 16) == 64
ending = solved("pcg_sstep", FEW, s=16, rtol=1e-8).extra
assert ending["lengths"] == (16, 16, 11, 5, 2) and ending["looks"] > 0
assert solved("pcg", 12, rtol=1e-8).iterations == 28 and solved("pcg_sstep", 12, s=16, rtol=1e-8).iterations == 34


# %% slideshow={"slide_type": "skip"}
def summary_row(v, how):
    """Return a row: sums and bytes of an iteration, iterations on few points to 1e-8, and the recorded times."""
    ours = v is not TWO_KERNEL
    its = solved(v.operation if ours else "pcg", FEW, rtol=1e-8, **how)
    most = 1.05 * FEW_TAKE if v is STABLE else whole_rounds(FEW_TAKE, how.get("s", 1))
    assert its.converged and FEW_TAKE <= its.iterations <= most and (v is STABLE or its.iterations == most)
    times = {name: on.iteration_s(v, CUBE, **how) if ours else cg_s[name] for name, on in TIMED.items()}
    return {
        "method": v.titled(**how),
        "sums": sums_of(v, **how),
        "bytes per point": f"{per_point(v, **how) if ours else FUSED_BYTES:.0f}",
        f"iterations, {FEW}³": f"{its.iterations}",
        **{f"{CUBE}³, {gpu}": bench.format_time(t) if t else "–" for gpu, t in times.items()},
    }


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [summary_row(*method) for method in SUMMED],
    f"Per iteration. Iterations to 1e-8 of ‖b‖, counted here: the stable method's are at most 5% more than CG's. All times but the first: whole solves, of which CUDA graphs do whole iterations or the parts of a round. {ORIGIN if TIMED else PENDING}",
)


# %% [markdown] slideshow={"slide_type": "-"}
# **No method here moves fewer bytes than fused CG: count the bytes, measure the wait.**

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** The iterations: by moments, a method cannot stop within a round, so it takes 52 iterations in place of 49. With whole rounds of 16
# > it would be 64. The Gram matrix tells the stable method the norm of r after each iteration of a round. When the end seems near, it makes rounds only as
# > long as needed, here 16, 16, 11, 5 and 2, and spends a sum on a norm. Rounds after the first may come too late: on 12³ points, with s = 16, it takes 34 in place of 28.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Every recorded method**, to 1e-6 of ‖b‖: bytes and sums beside the time. The stable method moves more bytes with s = 4 than *by moments*, and sums as often.

# %% slideshow={"slide_type": "skip"}
def recorded_row(variant, s):
    """Return a row: bytes and sums of an iteration, and its time on each GPU."""
    how = {"s": s} if s else {}
    found = {on.name: m for on in GPUS if (m := on.solve(variant, CUBE, **how))}
    sums = sorted({f"{m.observed['reductions'] / m.observed['iterations']:.2f}" for m in found.values()})
    assert all(m.observed["bytes_iteration"] == per_point(variant, **how) * CUBE**3 for m in found.values())
    row = {"method": variant.titled(**how), "bytes per point": f"{per_point(variant, **how):.0f}", "sums": " or ".join(sums)}
    times = {gpu: bench.format_time(m.median_s / m.observed["iterations"]) for gpu, m in found.items()}
    return row | {f"iteration, {on.name}": times.get(on.name, "not recorded") for on in GPUS}


# %% slideshow={"slide_type": "skip"}
solves = {
    v: [m for on in GPUS for m in bench.matching(on.found.measurements, v.by(Library.NUMBA_CUDA), shape=[CUBE] * 3, rtol=1e-6)]
    for v in (PCG, PFCG, MOMENTS, STABLE)
}
rows = [recorded_row(v, s) for v, found in solves.items() for s in sorted({m.parameters.get("s", 0) for m in found})]
assert per_point(STABLE, s=4) > per_point(MOMENTS, s=4) and len(rows) >= 10
bench.Table(rows, f"{CUBE}³ points, whole solves by CUDA graphs. No iteration waits for the host: it looks at the numbers after up to eight iterations or rounds that it has queued. Sums include those before and after the loop, and those queued when the solve ended. {ORIGIN}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 7**, `exercises/07_sstep_cg`, 20 points. **Next**: lecture 8 solves [quadratic programs](glossary.md#quadratic-program), whose unknowns may not be negative.
# - A. T. Chronopoulos, C. W. Gear, *s-step iterative methods for symmetric linear systems*, J. Comput. Appl. Math. 25, 1989.
# - E. Carson, *Communication-avoiding Krylov subspace methods in theory and practice*, Berkeley, 2015.
# - Y. Notay, A. Napov, J. Comput. Phys. 281, 2015: flexible CG.
# - M. Bernaschi and others, *Communication-reduced conjugate gradient variants …*, 2025: the paper.
# - P. D'Ambra and others, arXiv:2603.09790: its sequel, with a Chebyshev basis.

# %% slideshow={"slide_type": "skip"}
viz.intuition("07")

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell solves a small problem by three methods on it, beside what was recorded. Without a GPU it shows the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
from course_pkg.sstep import here as on_gpu

ASKED = ((PCG, {}), (MOMENTS, {"s": 4}), (STABLE, {"s": 8}))
known = [found for on in GPUS for v, how in ASKED if (found := on.solve(v, 128, **how))]
titles = {v: v.titled(**how) for v, how in ASKED}
bench.live(lambda: on_gpu.on_this_gpu(*ASKED), known, titles) if known else Markdown(PENDING)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of the s-step kernels**, as Nsight Compute counted them. What a GPU has not counted says so.

# %% slideshow={"slide_type": "skip"}
every_clock("sstep")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write the decisive lines of a round: sums, coefficients, and vectors. In each step `...` stands for missing lines. Run the cell: it says what your
# threads did, in a sentence, a picture and counts. Try the variations below it, and answer their questions before you open the answer. All vectors are
# small here, so that they can be drawn, and a block of threads is one warp.

# %% slideshow={"slide_type": "skip"}
from course_pkg import cuda, practice

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. Two dots, one sweep.** The method with one reduction needs ⟨u, r⟩ and ⟨u, w⟩ at the same time, where w is A u. Each warp leaves its part of both: in row 0
# and in row 1 of `parts`. `warp_sum` adds up a number over a warp and gives the sum to lane 0; all 32 lanes have to call it.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import warp_sum


@cuda.jit
def both_dots(u, w, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    first, second = 0.0, 0.0
    ...
    if lane == 0:
        parts[0, cuda.blockIdx.x], parts[1, cuda.blockIdx.x] = first, second


practice.check("both_dots", both_dots)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. The moments of a block.** Rows 0, …, s − 1 of `block` are the vectors $Q_k$, rows s, …, 2 s − 1 their products with A. Row k of `parts` is for $Q_k \cdot r$, and row
# s + k for $Q_k \cdot A Q_{s-1}$. What all trips of the loop need is loaded before it.

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import warp_sum


@cuda.jit
def block_moments(block, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    s = block.shape[0] // 2
    residual, last = 0.0, 0.0
    if i < r.size:
        residual, last = r[i], block[2 * s - 1, i]
    for k in range(s):
        q = 0.0
        ...


practice.check("block_moments", block_moments)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. A Gram matrix in one sweep.** The stable method forms all products of its vectors directly. Here are two vectors, the rows of `Z`, and their products with A, the rows of `AZ`. The five
# rows of `parts` are for $z_0 \cdot A z_0$, $z_0 \cdot A z_1$, $z_1 \cdot A z_1$, $z_0 \cdot r$ and $z_1 \cdot r$. Why is $z_1 \cdot A z_0$ not among them?

# %% slideshow={"slide_type": "skip"}
from course_pkg.device.sums import warp_sum


@cuda.jit
def gram_once(Z, AZ, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    products = (0.0, 0.0, 0.0, 0.0, 0.0)
    if i < r.size:
        ...
    for entry in range(5):
        total = warp_sum(products[entry])
        if lane == 0:
            parts[entry, cuda.blockIdx.x] = total


practice.check("gram_once", gram_once)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. α from an s × s system.** A function for the host, for the first round. `mu[k]` is the moment $r^T A^k r$, and the vectors are $Q_j = A^j r$. Which moment is $W_{i,j} = Q_i^T A Q_j$?

# %% slideshow={"slide_type": "skip"}
def step_lengths(mu):
    s = mu.size // 2
    W = np.empty((s, s))
    for i in range(s):
        for j in range(s):
            W[i, j] = ...
    return ...


practice.check("step_lengths", step_lengths)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. β, by the right line.** A later round. `alpha` and `W` are those of the round before, `mu` are the new moments, and t is there already. Write the loops that fill C,
# with $C_{i,j} = -t_{i+j}$, and solve for β. The lecture has shown which entries the loop in the paper forgets.

# %% slideshow={"slide_type": "skip"}
def conjugate(mu, alpha, W):
    s = alpha.size
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    C = np.zeros((s, s))
    ...


practice.check("conjugate", conjugate)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. The next vector, on the way.** In two dimensions, A has 4 on its diagonal. A round needs A times a vector in `product`, and the next vector of the Chebyshev basis in
# `after`: $2\,(A S_j - c\,S_j) / h - S_{j-1}$. `now` is $S_j$, and `before` is $S_{j-1}$.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def chebyshev_step(before, now, c, h, product, after):
    i, j = cuda.grid(2)
    ny, nx = now.shape
    if i < nx and j < ny:
        centre = now[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= now[j + dj, i + di]
        ...


practice.check("chebyshev_step", chebyshev_step)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. A block, x and r in one sweep.** Here s is 2, so a block has four rows: two vectors, then their products. New vector j is
# made of fresh vector j, `beta[0, j]` times the first old one and `beta[1, j]` times the second, and takes the fresh one's place. The first half moves x, the second half r: by
# the sum of `alpha[j]` times new vector j.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def advance_block(old, fresh, beta, alpha, x, r):
    i = cuda.grid(1)
    if i < x.size:
        for half in range(2):
            first, second = old[2 * half, i], old[2 * half + 1, i]
            moved = 0.0
            for j in range(2):
                row = 2 * half + j
                ...
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved


practice.check("advance_block", advance_block)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. A smoother is a product.** A preconditioner must not need a sum of its own. This one does a step of Jacobi's method for A z = r, with the weight `omega`:
# $z_\text{new} = z + \omega\,(r - A z) / d$. The diagonal of A is `d`, and each neighbour has −1.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        centre, diagonal = z[j, i], d[j, i]
        ...


practice.check("smoother_step", smoother_step)

# %% [markdown] slideshow={"slide_type": "skip"}
# What have you solved?

# %% slideshow={"slide_type": "skip"}
practice.progress("sstep_cg")

# %% [markdown] slideshow={"slide_type": "skip"}
# **Explore.** The same solver, with other s and other numbers of unknowns. Before you move a slider, predict: with which s does the monomial basis break down? Do the other bases need
# more iterations than conjugate gradient, and why?

# %% slideshow={"slide_type": "skip"}
viz.StabilityExplorer(studies((10, 16), steps=(2, 6, 10)))
