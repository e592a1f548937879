# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Quadratic programs by multiplication
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Quadratic programs by multiplication
#
# A solver whose parallel form is trivial, whose large updates run at the speed of memory, and whose zeros need care.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, the problem 6, why F falls 6, the kernels 9, zeros 8,
# > acceleration and rivals 7, batches 3, limit and summary 2.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **state** a quadratic program with bounds at 0, and test an answer by its KKT residual,
# - **derive** why a multiplicative update never raises the objective, and what its shift is for,
# - **place** the matrix, the unknowns and the sums in the memories of a GPU,
# - **skip** zeros so that it saves time, and let them grow again where they must,
# - **choose** another method where this one is the wrong tool.
#
# It builds on lecture 2 (the bound), lecture 4 (bytes in flight, sums) and lecture 6 (gathers, Jacobi's method).

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
from course_pkg.core import Library, machine
from course_pkg.core.access import WARP
from course_pkg.paths import figure
from course_pkg.qp import gpu_numba as gpu
from course_pkg.qp import here, reference
from course_pkg.qp.history import history
from course_pkg.qp.problem import blurred_picture, least_squares, problem
from course_pkg.qp.suite import BATCHED, SIZES, SOLVED
from course_pkg.qp.suite_solves import INACTIVE, RTOL, drawn
from course_pkg.qp.variants import VARIANTS
from course_pkg.witness.clocks import NOT_COUNTED
from course_pkg.witness.every import every_clock
from course_pkg.witness.programs import Programs

# %% slideshow={"slide_type": "skip"}
# What is recorded, by GPU: on_h200.update("update_rows"), on_h200.batch(), and so on.
GPUS = [Programs(found) for found in bench.records("qp")]
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
UPDATE, BATCH, PQP, APG = (VARIANTS[name] for name in ("update", "update_batch", "pqp", "apg"))
on_h200, others = GPUS[-1], ", ".join(on.name for on in GPUS[:-1])
assert on_h200.name == "H200"
ORIGIN = f"{on_h200.origin} " + (f"{others}: by the same command." if others else "Not recorded on an H100 yet.")

# %% slideshow={"slide_type": "skip"}
string = problem("obstacle_1d", 200)
LOOPS = 2000
start = reference.starting_guess(string.Q, string.h)
stuck, energies = reference.serial(string.Q, string.h, start, LOOPS)
taut = reference.pqp(string.Q, string.h, rtol=1e-9)
gradient = string.Q @ stuck + string.h
touching = int((taut.x == 0).sum())
assert taut.converged and taut.extra["least_multiplier"] > -1e-9 * abs(string.h).max()
assert abs(energies[-1] - energies[-2]) < 1e-12 * abs(energies[-1])
first, _ = reference.serial(string.Q, string.h, start, 1)
left, at_first = abs(stuck * gradient).max(), abs(first * (string.Q @ first + string.h)).max()
assert left < 1e-6 * at_first

# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## A loop says that it has finished

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"A string, fixed at both ends, is stretched over an arc. Its height above the arc at {string.n} points is x ≥ 0, and it takes the shape of least "
    f"energy F. A program multiplies each xᵢ by a factor, again and again. After {LOOPS:,} iterations **F no longer changes** in 12 digits, and "
    f"xᵢ times its gradient ∂F/∂xᵢ, which must be 0, is **at most {np.ceil(1e4 * left) / 1e4:.4f}** (at first: {at_first:,.0f}). The true string touches the arc at {touching} points."
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_zeros = viz.Estimate(
    "08-zeros", "In the loop's answer, the string lies on the arc, xᵢ = 0, at …", *(1, 200, "of 200 points")
)
guess_zeros

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The loop's answer, drawn

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
place = np.arange(1, string.n + 1) / (string.n + 1)
arc = 0.01 - 2 * (place - 0.5) ** 2
assert np.allclose(string.Q @ arc, string.h)
viz.curves_picture(
    {
        "the loop's answer": np.c_[place, arc + stuck].tolist(),
        "the string": np.c_[place, arc + taut.x].tolist(),
        "arc": np.c_[place, arc].tolist(),
    },
    xlabel="place",
    ylabel="height",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
lost = int((stuck == 0).sum())
stuck_kkt = reference.kkt_residual(stuck, gradient)
assert lost > 20 * touching and stuck_kkt > 0.01 * abs(string.h).max()
guess_zeros.reveal(
    lost, how="Counted", note=f"the residual that this lecture uses is {stuck_kkt:.0f}; it should be 0"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Let the audience say where the string
# > pulls. It pulls at the two ends of the part that is glued: there the gradient is negative. Nobody asks for it, since x_i is 0.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A quadratic program with bounds at zero
#
# $$\text{minimise}\; F(x) = \tfrac12\, x^T Q\, x + h^T x \;\text{over}\; x \ge 0; \;\; \nabla F = Q x + h$$

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("qp_plane.svg"),
    "F over two unknowns that are not negative, as rings, and the path of the update of this lecture. Left: it ends at the lowest point, inside. "
    "Right: the lowest point has a negative x₁; the path ends on the boundary.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# A [quadratic program](glossary.md#quadratic-program): Q is symmetric and positive semidefinite. Which of the unknowns are 0, the
# [active set](glossary.md#active-set), is part of the answer; the others are **free**.

# %% slideshow={"slide_type": "skip"}
from sklearn.datasets import load_diabetes

diabetes = load_diabetes()
progression = diabetes.target - diabetes.target.mean()
free_weights = np.linalg.lstsq(diabetes.data, progression)[0]
fit = least_squares(diabetes.data, progression, "diabetes", "Efron et al., 2004")
weights = reference.pqp(fit.Q, fit.h, rtol=1e-8)
assert weights.converged and diabetes.data.shape == (442, 10)
assert 3 <= (weights.x == 0).sum() <= 7
opposite = np.argsort(abs(free_weights))[-2:]
correlated = float(diabetes.data[:, 4] @ diabetes.data[:, 5])
assert correlated > 0.85 and set(opposite) == {4, 8} and free_weights[4] < 0 < free_weights[5]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Weights that must not be negative

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.signed_bars(
    {
        "least squares": dict(zip(diabetes.feature_names, free_weights, strict=True)),
        "the same with x ≥ 0": dict(zip(diabetes.feature_names, weights.x, strict=True)),
    },
    ylabel="weight",
    note="442 patients: the progression of diabetes by ten quantities that were measured a year before. B. Efron and others, 2004.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"$\\tfrac12 \\lVert A x - b\\rVert^2$ is F and a constant: $Q = A^T A$, $h = -A^T b$. Two blood values, s1 and s2, are correlated by {correlated:.2f}: least squares plays "
    f"them off against each other. With x ≥ 0, **{(weights.x == 0).sum()} of 10 weights are exactly 0**, and nobody chose which."
)

# %% slideshow={"slide_type": "skip"}
SIDE = 24
sharp, blurred, blur = blurred_picture(SIDE)
deblurring = problem("deblurring", SIDE)
unbounded = np.linalg.solve(deblurring.Q, -deblurring.h)
restored = reference.pqp(deblurring.Q, deblurring.h)


def error(x):
    """Return the distance from the sharp picture, relative to it."""
    return float(np.linalg.norm(x.reshape(-1) - sharp.reshape(-1)) / np.linalg.norm(sharp))


errors = {"blurred": error(blurred), "without bounds": error(unbounded), "bounded": error(restored.x)}
assert restored.converged and errors["bounded"] < 0.8 * errors["without bounds"]
assert 0.5 < (restored.x == 0).mean() < 0.9

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A picture, blurred, and made sharp again

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
shown = {"blurred, noise": blurred, "without bounds": unbounded, "with x ≥ 0": restored.x, "before": sharp}
viz.images_picture(
    {name: np.clip(a.reshape(SIDE, SIDE), -0.3, 1.2) for name, a in shown.items()},
    told="Three bright shapes: blurred; restored by least squares, with ripples around the shapes; restored with x ≥ 0, on an even ground; and as they were.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"Light cannot be negative. This bound takes the ripples of the ground away: the error falls from {errors['without bounds']:.2f} to {errors['bounded']:.2f} of the "
    f"picture. Of {deblurring.n} pixels, {(restored.x == 0).mean():.0%} are exactly 0."
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes for the problem, with pictures. Other problems of this form in the package: support vector machines without
# > bias, long-only portfolios, obstacles, model-predictive control.

# %% [markdown] slideshow={"slide_type": "skip"}
# **The problems**, by the names that they have in this lecture's tables and pictures:
#
# - *diabetes*: the fit above, with each quantity and its opposite. A weight of either sign is then a difference of two that are not negative.
# - *digits*: the picture of one handwritten digit as a sum of others; x are their weights.
# - *deblurring*: the picture above.
# - *portfolio*: x are the shares of assets; Q is their risk, and −h their expected return.
# - *support vectors*: x are the weights of patients; those with xᵢ > 0 decide where two kinds of tumour are told apart.
# - *string* and *membrane*: stretched over an arc and over a dome; x is the height above it.
# - *random*: Q and h are drawn at random.
# - *model-predictive control*: a mass is to be brought to rest by pushes to one side; x are the pushes. There are thousands of such problems, all small.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## When is x the solution?

# %% [markdown] slideshow={"slide_type": "-"}
# For each i: $x_i \ge 0$, $\;\nabla F_i \ge 0$, and one of the two is 0. The [KKT residual](glossary.md#KKT-residual) tests all three,
#
# $$\lVert \min(x, \nabla F) \rVert_\infty$$
#
# [Complementarity](glossary.md#complementarity) alone, $x_i \nabla F_i = 0$, holds on the whole cross, also where $x_i$ ought to grow.
#
# **Certificate**: with $\nabla F \ge 0$, no $y \ge 0$ has $F(y) < F(x) - x^T \nabla F$, a [dual certificate](glossary.md#dual-certificate).

# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
viz.Picture.load(
    figure("qp_corner.svg"),
    "A plane of x_i and its gradient. Right answers lie on the corner of the two half-axes. A test of the product also accepts the gradient's "
    "negative half-axis, where x_i is 0 and ought to grow.",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **Why the certificate holds.** F is convex, so $F(y) \ge F(x) + \nabla F^T (y - x) = F(x) - x^T \nabla F + y^T \nabla F$. With $\nabla F \ge 0$ and $y \ge 0$ the last term is not
# negative. So $x^T \nabla F$ says by how much F can still fall at most.

# %% slideshow={"slide_type": "skip"}
rng = np.random.default_rng(8)


def objective(p, y):
    """Return F(y) of a problem."""
    return 0.5 * y @ p.Q @ y + p.h @ y


certified = reference.pqp(deblurring.Q, deblurring.h, rtol=1e-3)
above = certified.x + 1.0  # anywhere: here the gradient is not negative
slope = deblurring.Q @ above + deblurring.h
assert slope.min() >= 0
least = objective(deblurring, above) - above @ slope
others = rng.uniform(0, 2, (200, deblurring.n)) * (rng.random((200, deblurring.n)) < 0.5)
assert all(objective(deblurring, y) >= least for y in others)
assert objective(deblurring, restored.x) >= least
assert reference.kkt_residual(np.array([0.0, 2.0]), np.array([-5.0, 0.0])) == 5
assert (stuck[stuck == 0] * gradient[stuck == 0] == 0).all() and gradient[stuck == 0].min() < 0

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Why F never rises

# %% [markdown] slideshow={"slide_type": "-"}
# Split $Q = Q^+ - Q^-$ and $h = h^+ - h^-$ into parts $\ge 0$. The [multiplicative update](glossary.md#multiplicative-update) is
#
# $$x_i \leftarrow x_i\, \frac{h_i^- + (Q^- x)_i}{h_i^+ + (Q^+ x)_i}$$
#
# 1. It is $d = -D\,\nabla F$, a gradient step: $D_i = x_i / (h_i^+ + (Q^+ x)_i)$.
# 2. F changes by $-\tfrac12\, d^T (2 D^{-1} - Q)\, d$.

# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
viz.Picture.load(
    figure("qp_auxiliary.svg"),
    "F of one unknown and three parabolas above it. Each touches F at the present x; its lowest point is the next x.",
)


# %% [markdown] slideshow={"slide_type": "-"}
# 3. $v^T Q^+ v \le v^T D^{-1} v$: a lemma
# 4. $-v^T Q^- v \le |v|^T Q^+ |v|$, since $|v|^T Q |v| \ge 0$
# 5. So $v^T Q v \le 2\, v^T D^{-1} v$. ∎

# %% [markdown] slideshow={"slide_type": "skip"}
# **Each line, checked**, for $x > 0$ and every v.
#
# - Line 2: F changes by $d^T \nabla F + \tfrac12 d^T Q d$, and $\nabla F = -D^{-1} d$ by line 1.
# - Line 3 is a lemma of Sha, Lin, Saul and Lee (2007): for a symmetric matrix K with entries that are not negative, the matrix with
# $(Kx)_i / x_i$ on its diagonal, minus K, is positive semidefinite, because $v^T(\ldots)v = \tfrac12 \sum_{ij} K_{ij}\, x_i x_j\, (v_i / x_i - v_j / x_j)^2$. Here K is
# $Q^+$, and the diagonal of $D^{-1}$ is $(Q^+x)_i / x_i + h_i^+ / x_i$.
# - Line 4 needs $|v|^T Q |v| \ge 0$: a semidefinite Q.
# - Line 5: $v^T Q v = v^T Q^+ v - v^T Q^- v \le v^T D^{-1} v + |v|^T Q^+ |v|$ by lines 3 and 4, and by line 3 once more the last term is at most $|v|^T D^{-1} |v| = v^T D^{-1} v$.
# With v = d, line 2 then says that F does not rise.

# %% slideshow={"slide_type": "skip"}
def quadratic(K, v):
    """Return vᵀ K v for each row of v."""
    return np.einsum("ki,ij,kj->k", v, K, v)


cases = [problem("dense", 40), problem("portfolio", 40), problem("svm_breast_cancer", 60), problem("obstacle_2d", 6)]

# %% slideshow={"slide_type": "skip"}
for p in cases:
    (plus, minus), (h_plus, h_minus) = reference.split(p.Q), reference.split(p.h)
    assert plus.min() >= 0 and minus.min() >= 0 and (plus - minus == p.Q).all()
    x = 10 ** rng.uniform(-2, 1, p.n)
    D, slope = x / (h_plus + plus @ x), p.Q @ x + p.h
    d = x * (h_minus + minus @ x) / (h_plus + plus @ x) - x
    assert np.allclose(d, -D * slope)  # line 1
    change = -0.5 * d @ (np.diag(2 / D) - p.Q) @ d
    assert np.isclose(objective(p, x + d) - objective(p, x), change)  # line 2
    v = rng.standard_normal((200, p.n))
    tiny = 1e-9 * quadratic(abs(p.Q), abs(v))
    assert (quadratic(plus, v) <= quadratic(np.diag(1 / D), v) + tiny).all()  # line 3
    squares = 0.5 * (plus * np.outer(x, x) * np.subtract.outer(v[0] / x, v[0] / x) ** 2).sum()
    assert np.isclose(v[0] @ (np.diag(plus @ x / x) - plus) @ v[0], squares)
    assert (-quadratic(minus, v) <= quadratic(minus, abs(v)) + tiny).all()  # line 4
    assert (quadratic(minus, abs(v)) <= quadratic(plus, abs(v)) + tiny).all()
    assert np.allclose(quadratic(np.diag(1 / D), abs(v)), quadratic(np.diag(1 / D), v))  # line 5
    assert np.linalg.eigvalsh(np.diag(2 / D) - p.Q)[0] >= -1e-9 * (2 / D).max()
    assert change <= 0

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Six minutes with the next slide. The parabola on the right is the auxiliary function of one unknown: it touches F at x and lies
# > above it elsewhere, so its lowest point has a lower F. With many unknowns, each has a parabola of its own; without a shift they need not lie above F,
# > but a step is at most twice too long. The picture is drawn with a shift r = 1: without one, the update of a single unknown with h < 0 is the solution at once.

# %% slideshow={"slide_type": "skip"}
swap_Q = np.array([[1.0, -1.0], [-1.0, 1.0]])
walks = {}
for kind in reference.SHIFTS:
    x, r, walk = np.array([1.0, 2.0]), reference.diagonal_shift(swap_Q, kind), []
    for _ in range(9):
        walk.append(x.copy())
        new, parts = np.empty(2), np.empty(2)
        reference.update(swap_Q, np.zeros(2), r, x, new, parts)
        x = new
    walks[kind] = np.array(walk)
assert (walks["none"][::2] == [1, 2]).all() and (walks["none"][1::2] == [2, 1]).all()
assert np.allclose(walks["contraction"][1:], 1.5) and (walks["descent"] == walks["none"]).all()

# %% slideshow={"slide_type": "skip"}
indefinite = np.array([[1.0, -3.0], [-3.0, 1.0]])
twice_over_d = {kind: 2 * np.diag(1 + reference.diagonal_shift(indefinite, kind)) for kind in reference.SHIFTS}  # with h = 0, where Q⁺ is the identity
assert np.linalg.eigvalsh(twice_over_d["none"] - indefinite)[0] < -1 < -1e-12 < np.linalg.eigvalsh(twice_over_d["descent"] - indefinite)[0]
SHIFTED = problem("portfolio", 200)
plain = {"accelerate": False, "rtol": 1e-4, "maxiter": 5000}
needed = {kind: reference.pqp(SHIFTED.Q, SHIFTED.h, shift=kind, **plain) for kind in reference.SHIFTS}
assert all(found.converged for found in needed.values())
needed_by = {kind: found.iterations for kind, found in needed.items()}
assert needed_by["none"] < needed_by["descent"]
digits, random = problem("nnls_digits", 300), problem("dense", 300)
with_none, with_shift = (
    reference.pqp(random.Q, random.h, shift=kind, **(plain | {"rtol": 1e-3})).iterations for kind in ("none", "contraction")
)
assert with_shift > 2 * with_none

# %% [markdown] slideshow={"slide_type": "slide"}
# ## "Never rises" does not mean "arrives"
#
# $F = \tfrac12 (x_1 - x_2)^2$: the update **exchanges** $x_1$ and $x_2$, for ever.

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        "no shift": list(enumerate(walks["none"][:, 0])),
        "r = Σ Q⁻": list(enumerate(walks["contraction"][:, 0])),
    },
    xlabel="iterations",
    ylabel="x₁, from x = (1, 2)",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(f"A [diagonal shift](glossary.md#diagonal-shift), $x_i (\\ldots + r_i x_i) / (\\ldots + r_i x_i)$ with $r_i = \\sum_j Q^-_{{ij}}$, ends it, at a price: for a random problem, {with_shift} updates, not {with_none}.")

# %% [markdown] slideshow={"slide_type": "skip"}
# **The three choices of the package** (`reference.SHIFTS`). Without a shift and with *descent*, F never rises; the exchange above is possible with both. With
# *contraction*, the shift of Brand and Chen (2011), it is not. *Descent* is for a Q that is not semidefinite: line 4 fails there, and this r makes up for it. The table counts updates for a portfolio of 200 assets, to a KKT residual of 1e-4 ‖h‖∞.

# %% slideshow={"slide_type": "skip"}
bench.Table(
    [
        {"shift": kind, "what it is": idea, "updates": f"{needed[kind].iterations:,}"}
        for kind, idea in reference.SHIFTS.items()
    ],
    "Counted on this CPU.",
)


# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## The loop, and its parts

# %% [markdown] slideshow={"slide_type": "-"}
# A row of Q yields all that its unknown needs: $(Q^+x)_i$ and $(Q^-x)_i$; from them the new $x_i$ **and** its part of the objective,
#
# $$F_i = x_i\left(\tfrac12 (Qx)_i + h_i\right)$$
#
# - All $x_i$ are independent.
# - $F = \sum_i F_i$ is one [reduction](glossary.md#reduction).
# - x is read by all; nothing else is shared. $F_i$ belongs to the old x.

# %% slideshow={"slide_type": "-"} tags=["right"]
def iterate(Qp, Qm, hp, hm, r, x):
    plus = Qp @ x + r * x
    minus = Qm @ x + r * x
    Qx, h = plus - minus, hp - hm
    F = x * (Qx / 2 + h)
    x = x * (hm + minus) / (hp + plus)
    return x, F.sum()


# %% slideshow={"slide_type": "skip"}
for p in cases:
    x, r = rng.uniform(0.5, 1.5, p.n), np.ones(p.n)
    new, parts = np.empty(p.n), np.empty(p.n)
    reference.update(p.Q, p.h, r, x, new, parts)
    once, F = iterate(*reference.split(p.Q), *reference.split(p.h), r, x)
    assert np.allclose(once, new) and np.isclose(F, objective(p, x)) and np.isclose(parts.sum(), F)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What lies where

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("qp_memories.svg"),
    "Where things lie: Q in memory, each entry passes through a register once; x is read by all rows, from caches or shared memory; a row yields the "
    "new x_i and F_i, and one sum over all i yields F.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
N = SIZES["gpu"]
once, twice = UPDATE.cost(N), UPDATE.cost_by(CUPY)(N)
balance = machine("h200").fp64_gflop_s / machine("h200").bandwidth_gb_s
assert once.intensity < 0.51 and balance > 5 * once.intensity and 1.99 < twice.bytes / once.bytes < 2.01
Markdown(
    f"{once.intensity:.2f} flops per byte; an H200 can do {balance:.0f}. Only the bytes of Q count. Libraries of whole arrays need $Q^+$ and $Q^-$ as two "
    "matrices: **twice the bytes**."
)

# %% slideshow={"slide_type": "skip"}
SMALL = 512
Q, h, shift, x = drawn(SMALL)
out, parts = np.zeros(SMALL), np.zeros(SMALL)
BLOCK = gpu.THREADS_PER_BLOCK
LAUNCHES = {
    "naive": (gpu.update_naive_kernel, SMALL // BLOCK),
    "columns": (gpu.update_columns_kernel, SMALL // BLOCK),
    "staged": (gpu.update_staged_kernel, SMALL // BLOCK),
    "rows": (gpu.update_rows_kernel(gpu.ROWS, gpu.UNROLL), SMALL // gpu.ROWS),
}
profiles = {name: simt.profile(k[blocks, BLOCK], Q, h, shift, x, out, parts) for name, (k, blocks) in LAUNCHES.items()}
asked = {name: found.by_array["Q"].global_load for name, found in profiles.items()}
per_request = {name: load.sectors / load.requests for name, load in asked.items()}
assert (per_request["naive"], per_request["columns"], per_request["staged"], per_request["rows"]) == (32, 8, 8, 8)
assert all(32 * asked[name].sectors == 8 * SMALL**2 for name in ("columns", "staged", "rows"))


def load_of(found, array="Q", warp=0):
    """Return the first load of an array by a warp of block 0."""
    for line in (w for w, c in found.by_line.items() if c.global_load):
        for access in found.accesses(line):
            if access.array == array and access.warp == warp:
                return access


# %% [markdown] slideshow={"slide_type": "slide"}
# ## A thread per row, or per column

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.slider(
    lambda name: viz.access_strip(load_of(profiles[name])), ("naive", "columns"), label="Q, a request", start="naive"
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Naive**: thread i reads row i, so a warp asks for 32 sectors of 32 rows. Q is symmetric: if thread i reads **column** i, neighbours read neighbours.

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.update_staged_kernel)

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
naive, staged = (on_h200.update(f"update_{name}") for name in ("naive", "staged"))
assert N == 16384 and 32 * per_request["naive"] == 1024 and 32 * per_request["columns"] == 256
guess_columns = viz.Estimate(
    "08-columns",
    f"16,384 unknowns on an H200. With a thread per row, 32 sectors for each request, an update takes {bench.format_time(naive.median_s)}. With a thread per "
    "column, 8 sectors for each request, and x and h in shared memory, it takes …",
    *(0.1, 100, "ms"),
)
guess_columns

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Ways through Q, timed

# %% slideshow={"slide_type": "skip"}
THREADS = {"naive": N, "columns": N, "staged": N, "rows": N // gpu.ROWS * BLOCK}
TIMED = f"time, n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{N:,}"
AT_A_TIME = {"naive": 1, "columns": 1, "staged": 1, "rows": gpu.ROWS * gpu.UNROLL}


def rungs_of(on):
    """Draw what share of a copy's speed each kernel reaches, counting Q once, on one GPU."""
    rungs = []
    for name in LAUNCHES:
        m = on.update(f"update_{name}")
        found = {
            "sectors per request": f"{per_request[name]:.0f}",
            "threads": f"{THREADS[name]:,}",
            TIMED: bench.format_time(m.median_s),
        }
        rungs.append(viz.Rung(name, on.of_copy(m), found, on.longest_clock(f"qp_update_{name}_{N}")))
    whole = on.update("update", CUPY)
    found = {"sectors per request": "–", "threads": "–", TIMED: bench.format_time(whole.median_s)}
    rungs.append(viz.Rung("CuPy, Q⁺ and Q⁻", on.of_copy(whole), found, NOT_COUNTED))
    return viz.ladder_picture(rungs, bound_gb_s=on.copy.t_eff_gb_s, note=viz.Note(f"Sectors: n = {SMALL}.", on.origin))


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(rungs_of, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
share = {name: on_h200.of_copy(on_h200.update(f"update_{name}")) for name in LAUNCHES}
assert share["rows"] > 0.9 > 4 * share["naive"] and share["columns"] < share["staged"] < share["naive"]
guess_columns.reveal(1e3 * staged.median_s, note="more than with four times the sectors")

# %% slideshow={"slide_type": "skip"}
h200 = machine("h200")
blocks = N // BLOCK
by_columns, by_rows = (on_h200.clocks(f"qp_update_{name}_{N}") for name in ("columns", "rows"))
assert abs(by_columns.bytes_read / by_rows.bytes_read - 1) < 0.001 and blocks < h200.sms
assert by_columns.binds == "none" and by_rows.binds == "memory" and max(by_columns.shares.values()) < 0.3

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"Columns and rows read {by_rows.bytes_read / 1e9:.2f} GB on an H200; by columns no clock binds. Probably too few [bytes in flight](glossary.md#bytes-in-flight): "
    f"{blocks} blocks for {h200.sms} SMs. **Rows**, in pairs: {N // gpu.ROWS:,}."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The kernel *rows*.** A block takes two rows of Q, and all its threads walk along both: neighbours read neighbours. `sums` leaves the two sums of each warp in shared memory, as in lecture 4; then one
# thread for each row adds them up, and finishes the row.

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.update_rows_kernel(gpu.ROWS, gpu.UNROLL))

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Nine minutes with the three slides before. The expected wrong answer is a quarter of the time. Ask for the three clocks:
# > memory, L2, instructions: none of them explains ten times the time. A request is for 256 B by columns and for 1,024 by the naive kernel: it has four times the bytes
# > on their way, and its next three find theirs in L1. That this is the reason is likely, and not measured. In float32 the naive kernel is the slower one.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Which clock binds?** As in lecture 3: the share of a kernel's time that its bytes, its traffic in L2 and L1, and its instructions would take, each alone. Only rows are held by memory. The kernels
# *a list* and *a block per problem* come later: a list in "Few bytes are not yet little time", a block per problem in "Thousands of problems".

# %% slideshow={"slide_type": "skip"}
COUNTED = {"naive": "update_naive", "columns": "update_columns", "staged": "update_staged", "rows": "update_rows", "a list": "update_compacted", "a block per problem": "update_batch"}
held = {(on.name, name): on.clocks(f"qp_{case}_{N}") for on in GPUS for name, case in COUNTED.items()}
assert {key for key, c in held.items() if c.binds == "memory"} == {(on.name, "rows") for on in GPUS} and {c.binds for c in held.values()} == {"memory", "none"}
bench.Table(
    [{"GPU": gpu_name, "kernel": name, "time": bench.format_time(c.time_s), **c.row()} for (gpu_name, name), c in held.items()],
    f"Shares of a kernel's time; the batch has fewer problems and updates than in its section. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **On your GPU.** If there is one, this cell measures two of the kernels on it, on a smaller matrix, beside what was recorded. Without a GPU it shows
# the record.

# %% slideshow={"slide_type": "skip"} tags=["live"]
LIVE = ("update_staged", "update_rows")
bench.live(
    lambda: here.on_this_gpu(*LIVE), [on.update(name) for on in GPUS for name in LIVE], {VARIANTS[name]: VARIANTS[name].title for name in LIVE}
)

# %% slideshow={"slide_type": "skip"}
WATCHED = {"portfolio": problem("portfolio", 200), "digits": problem("nnls_digits", 200), "deblurring": problem("deblurring", 14)}
SHOWN = np.unique(np.round(np.geomspace(1, 1001, 60)).astype(int)) - 1
runs = {name: history(p, 1000, shift="none") for name, p in WATCHED.items()}
exact = {name: reference.pqp(p.Q, p.h, rtol=1e-8) for name, p in WATCHED.items()}
in_solution = {name: float((found.x == 0).mean()) for name, found in exact.items()}
in_loop = {name: float((run.x[-1] == 0).mean()) for name, run in runs.items()}
tiny = {name: float((run.x[-1] < 1e-3 * run.x[-1].max()).mean()) for name, run in runs.items()}
assert all(found.converged for found in exact.values())
assert all(in_loop[name] < in_solution[name] for name in WATCHED)


def shades(run):
    """Return log10 of x over its largest element, a column per iteration, with NaN where x is exactly 0."""
    x = run.x[SHOWN] / run.x[SHOWN].max(axis=1, keepdims=True)
    order = np.lexsort(((run.x > 0).sum(axis=0), run.x[-1]))
    with np.errstate(divide="ignore"):
        return np.where(x > 0, np.maximum(np.log10(x), -9), np.nan)[:, order].T


# %% [markdown] slideshow={"slide_type": "slide"}
# ## The unknowns on their way to zero

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.images_picture(
    {f"{name}, n = {p.n}": shades(runs[name]) for name, p in WATCHED.items()},
    xlabel="iterations",
    ylabel="unknowns, by size at the end",
    ticks={int(np.argmin(abs(SHOWN - k))): f"{k:,}" for k in (1, 10, 100, 1000)},
    marked="exactly 0",
    flat=False,
    told="Each unknown over 1,000 iterations, from light, a billionth of the largest or less, to dark. Most fade slowly; few become exactly 0.",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "Zeros in the **solutions** here: "
    + ", ".join(f"{name} {in_solution[name]:.0%}" for name in WATCHED)
    + ". But x fades by factors: after 1,000 updates, **exactly** 0 are "
    + ", ".join(f"{in_loop[name]:.0%}" for name in WATCHED)
    + ". Small is not zero."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **How does a product become exactly 0?** What stands above in the fraction is $h_i^- + (Q^- x)_i$. In the portfolio some $h_i$ are not negative, and row i of Q has no negative entry: the factor is 0, and so is $x_i$
# after one update. Others fade until they are less than the least double, about 5 · 10⁻³²⁴. The string gets there in a hundred updates: its factors are made of the neighbours, which fade, too.

# %% slideshow={"slide_type": "skip"}
nothing_above = (WATCHED["portfolio"].Q.min(axis=1) >= 0) & (WATCHED["portfolio"].h >= 0)
assert nothing_above.any() and ((runs["portfolio"].x[1] == 0) == nothing_above).all()
assert ((reference.serial(string.Q, string.h, start, 100)[0] == 0) == (stuck == 0)).all()

# %% slideshow={"slide_type": "skip"}
Qz, hz, rz, xz = drawn(1024, "float64", INACTIVE)
active = np.flatnonzero(xz).astype(np.uint32)
listed = np.zeros(xz.size, np.uint32)
listed[: active.size] = active
outz, partsz = np.zeros(xz.size), np.zeros(xz.size)
count = np.array([active.size], np.uint32)
skipped = {
    "rows": simt.profile(
        gpu.update_rows_kernel(gpu.ROWS, gpu.UNROLL)[xz.size // gpu.ROWS, BLOCK], Qz, hz, rz, xz, outz, partsz
    ),
    "skip": simt.profile(gpu.update_skip_kernel[xz.size * WARP // BLOCK, BLOCK], Qz, hz, rz, xz, outz, partsz),
    "compacted": simt.profile(
        gpu.update_compacted_kernel(gpu.GATHERED)[40, BLOCK], Qz, hz, rz, xz, listed, count, outz, partsz
    ),
}
of_q = {name: found.by_array["Q"].global_load for name, found in skipped.items()}
fetched = {name: load.sectors / of_q["rows"].sectors for name, load in of_q.items()}
working = {name: load.thread_accesses / load.requests for name, load in of_q.items()}
entries = (active.size / xz.size) ** 2

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_sectors = viz.Estimate(
    "08-sectors",
    "1,024 unknowns, of which 9 in 10 are 0, at random places. A kernel reads Qᵢⱼ only where neither xᵢ nor xⱼ is 0: 1 entry in 100. "
    "What share of the sectors of Q does it ask for?",
    *(0.1, 100, "% of the sectors"),
)
guess_sectors

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What is read where zeros are skipped

# %% slideshow={"slide_type": "skip"}
alive = next(i for i in range(xz.size) if xz[i] > 0)
block, warp = divmod(alive, BLOCK // WARP)
loads = [
    a
    for line, c in skipped["skip"].by_line.items()
    if c.global_load
    for a in skipped["skip"].accesses(line, block=block)
    if a.array == "Q" and a.warp == warp
]
one_load = next(a for a in loads if 2 <= (np.asarray(a.offsets) >= 0).sum() <= 5)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.access_strip(one_load)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
any_of_four, any_of_eight = 1 - INACTIVE**4, 1 - INACTIVE**8
by_list = on_h200.clocks(f"qp_update_compacted_{N}")  # whose DRAM answers by 64 bytes, eight entries
assert abs(by_list.bytes_read / (8 * N**2 * (1 - INACTIVE)) - any_of_eight) < 0.01
assert 0.008 < entries < 0.012 and 3 * entries < fetched["skip"] < 4 * entries
assert abs(fetched["skip"] / entries * (1 - INACTIVE) - any_of_four) < 0.05
guess_sectors.reveal(100 * fetched["skip"], how="Counted", note="a zero saves a row, but not a column")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    f"In rows that are read, **one** column brings its three neighbours: {1 - INACTIVE:.0%} of the columns ask for {any_of_four:.0%} of the "
    f"sectors, and for {any_of_eight:.0%} of memory's 64-byte pieces."
)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Few bytes are not yet little time

# %% slideshow={"slide_type": "skip"}
def zeros_of(on):
    """Draw sectors and time of an update with zeros, relative to the whole update, on one GPU."""
    times = {name: on.update(f"update_{name}", zeros=True).median_s for name in skipped}
    titles = {"rows": "read all", "skip": "skip zeros", "compacted": "by a list"}
    return viz.relative_bars(
        {
            "sectors of Q": {titles[name]: fetched[name] for name in skipped},
            "time": {titles[name]: times[name] for name in skipped},
        },
        xlabel=f"relative to an update that reads all; {INACTIVE:.0%} of x are 0",
        note=viz.Note(f"Sectors: counted, n = 1,024. Time: {N:,}.", on.origin),
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(zeros_of, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
timed = {name: on_h200.update(f"update_{name}", zeros=True).median_s for name in skipped}
assert working["skip"] < 4 < 24 < working["compacted"] and fetched["compacted"] < 1.3 * fetched["skip"]
assert timed["rows"] > 2 * timed["skip"] > 4 * timed["compacted"] and timed["rows"] > 5 * timed["compacted"]
Markdown(
    f"Both ask for about as many sectors. Where zeros are **skipped**, {working['skip']:.1f} of 32 lanes have a load; the others wait. "
    f"[Compaction](glossary.md#compaction) lists the free unknowns, those that are not 0: **{working['compacted']:.0f} of 32** lanes have a load. "
    f"That is {timed['rows'] / timed['compacted']:.0f} times as fast as reading all."
)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.update_compacted_kernel(gpu.GATHERED))

# %% [markdown] slideshow={"slide_type": "skip"}
# **What a list cannot do.** It still fetches whole sectors, and memory answers by 64 bytes. Only a dense copy of the rows and columns of the free unknowns asks for the entries alone; such a copy
# pays off if they stay the same for several updates.

# %% slideshow={"slide_type": "skip"}
from course_pkg.qp import cost

free = round(N * (1 - INACTIVE))
moved, copied = cost.moved_by_a_list(N, free), 8 * free**2
pays, half_pays = cost.updates_that_pay(N, free), cost.updates_that_pay(N, N // 2)
assert abs(moved / by_list.bytes_read - 1) < 0.02 and copied < 0.2 * moved and 1 < pays < half_pays < 10
Markdown(
    f"At {INACTIVE:.0%} zeros, an update by a list moves {moved / 1e6:,.0f} MB of Q, and an update on a dense copy {copied / 1e6:,.0f} MB. To make the copy takes both. "
    f"By bytes, it pays from {pays} updates on; with half of the unknowns free, from {half_pays} updates on."
)

# %% slideshow={"slide_type": "skip"}
on_copy = on_h200.packed()
if on_copy is None:
    told = "Times of the dense copy are not recorded yet."
else:
    making, once_packed, often = on_copy
    each = often.median_s / often.parameters["iterations"]
    told = (
        f"To make the copy takes {bench.format_time(making.median_s)}, an update on it {bench.format_time(once_packed.median_s)}, "
        f"and each of {often.parameters['iterations']} in a row {bench.format_time(each)}; by a list, {bench.format_time(timed['compacted'])}. {on_h200.origin}"
    )
Markdown(told)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.pack_kernel(gpu.GATHERED))

# %% slideshow={"slide_type": "skip"}
LOOKS = {"the loop": False, "with re-admission": True}
looked = {name: {"kkt": [], "product": []} for name in LOOKS}


def watch(name):
    """Return a callback that keeps both tests of an answer."""

    def see(x):
        g = string.Q @ x + string.h
        looked[name]["kkt"].append(reference.kkt_residual(x, g))
        looked[name]["product"].append(float(abs(x * g).max()))

    return see


for name, readmit in LOOKS.items():
    ended = reference.pqp(
        string.Q, string.h, shift="none", accelerate=False, readmit=readmit, maxiter=LOOPS, callback=watch(name)
    )
    looked[name]["x"] = ended.x
trapped, freed = (looked[name] for name in LOOKS)
assert np.isclose(trapped["kkt"][-1], stuck_kkt, rtol=0.01) and trapped["product"][-1] < 1e-6 * trapped["kkt"][-1]
assert freed["kkt"][-1] < 0.02 * trapped["kkt"][-1] and (freed["x"] == 0).sum() < 0.4 * lost

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The trap: a zero stays a zero

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.curves_picture(
    {
        "KKT, loop": list(enumerate(trapped["kkt"], 1))[::10],
        "product, loop": list(enumerate(trapped["product"], 1))[::10],
        "KKT, re-admitted": list(enumerate(freed["kkt"], 1))[::10],
    },
    xlabel="iterations, for the string",
    ylabel="residual",
    log="y",
)

# %% [markdown] slideshow={"slide_type": "-"}
# An $x_i$ below the least double is exactly 0: an [absorbing zero](glossary.md#absorbing-zero). **The safe skip**: from time to time look at the gradient of
# the zeros; where it is negative, let $x_i = -\nabla F_i / \sum_j |Q_{ij}|$, and F falls.

# %% [markdown] slideshow={"slide_type": "skip"}
# Here the gradient is negative at **2** of the zeros, the ends of the glued part. Set free, they free their neighbours.
#
# **Why F falls.** Let $w_i = \sum_j |Q_{ij}|$. For every d, $d^T Q d \le \sum_i w_i d_i^2$, because $2\,|d_i d_j| \le d_i^2 + d_j^2$. So the new $x_i$, which are $d_i$ here, change F by at most
# $\sum_i (\nabla F_i\, d_i + \tfrac12 w_i d_i^2)$. Each term is least at $d_i = -\nabla F_i / w_i$, and there it is $-\tfrac12 (\nabla F_i)^2 / w_i$.

# %% slideshow={"slide_type": "skip"}
zeros = (stuck == 0) & (gradient < 0)
regrown = np.where(zeros, -gradient / abs(string.Q).sum(axis=1), stuck)
assert zeros.sum() == 2 and objective(string, regrown) < objective(string, stuck)
w = abs(string.Q).sum(axis=1)
assert np.linalg.eigvalsh(np.diag(w) - string.Q)[0] >= -1e-9 * w.max()
assert objective(string, regrown) <= objective(string, stuck) - 0.999999 * (gradient[zeros] ** 2 / w[zeros]).sum() / 2
assert 5e-324 > 0 and 5e-324 * 0.4 == 0

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Eight minutes for zeros. This answers the first slide. The lowest curve is what a test of the products sees: it falls and falls. Whoever
# > skips zeros to save time takes the gradient of exactly those away from every test; that is why the check has to be a part of the solver.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Two steps that cost little
#
# **An exact [line search](glossary.md#line-search).** The update points in a direction d. Along it F is a parabola, lowest at
#
# $$t = -\frac{d^T \nabla F}{d^T Q d}, \qquad x \leftarrow x + t\, d, \qquad Q^\pm x \leftarrow Q^\pm x + t\, Q^\pm d$$
#
# Carry $Q^+x$ and $Q^-x$ along. Then a step takes one product, $Q^\pm d$, as an update without a search does: **the search is free**. t may not carry an $x_i$ below 0.
#
# **Polishing.** Once the zeros are found, the rest is the linear system $Q_{JJ}\, x_J = -h_J$ on the free unknowns J: conjugate gradients (lecture 5),
# until one of them meets its bound or a zero ought to grow. Then updates again.

# %% slideshow={"slide_type": "skip"}
from course_pkg.qp.arrays import Arrays

p = WATCHED["digits"]
calls = []


def product_of(v):
    """Return Q⁺v and Q⁻v, and count the call."""
    calls.append(1)
    return np.maximum(p.Q, 0) @ v, np.maximum(-p.Q, 0) @ v


work = Arrays(np, product_of, p.Q, p.h, np.zeros(p.n), reference.starting_guess(p.Q, p.h))
before = work.look().objective
calls.clear()
work.towards_update()
along = work.measure()
best = min(along.most, -along.slope / along.curvature)
one_step = objective(p, work.x + work.d)
work.advance(best)
after = work.look().objective
assert len(calls) == 1 and after <= one_step < before
assert np.isclose(after, objective(p, work.x)) and np.allclose(work.plus, np.maximum(p.Q, 0) @ work.x)

# %% slideshow={"slide_type": "skip"}
TO = 1e-3  # of ‖h‖∞
METHODS = {
    "updates": lambda p: reference.pqp(p.Q, p.h, rtol=TO, shift="none", accelerate=False, maxiter=5000),
    "accelerated": lambda p: reference.pqp(p.Q, p.h, rtol=TO, shift="none"),
    "projected gradient": lambda p: reference.apg(p.Q, p.h, rtol=TO),
}
RACED = {
    "deblurring": deblurring,
    "membrane": problem("obstacle_2d", 20),
    "digits": digits,
    "portfolio": SHIFTED,
    "random": random,
}
race = {name: {how: solve(p) for how, solve in METHODS.items()} for name, p in RACED.items()}
assert all(found.converged for by in race.values() for found in by.values())
products = {name: {how: found.extra["products"] for how, found in by.items()} for name, by in race.items()}

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_rival = viz.Estimate(
    "08-rival",
    f"The picture again, {deblurring.n} pixels. To a KKT residual of a thousandth of the largest |hᵢ|, the update of this lecture takes "
    f"{products['deblurring']['updates']} products with Q. Gradient steps of one length for all unknowns, with momentum, cut off at 0, take …",
    *(5, 5000, "products with Q"),
)
guess_rival

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Products with Q, counted

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.ladder_picture(
    [
        viz.Rung(
            name,
            products[name]["projected gradient"] / products[name]["accelerated"],
            {how: f"{products[name][how]:,}" for how in METHODS},
        )
        for name in RACED
    ],
    bound="projected gradient",
    note="Bars: products of projected gradients over ours. Blue: ours takes fewer; orange: projected gradients do. At right: products with Q to 1e-3 ‖h‖∞, counted here.",
    steps=False,
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
won = [name for name in RACED if products[name]["accelerated"] < products[name]["projected gradient"]]
assert 1 <= len(won) < len(RACED) and "membrane" not in won
assert all(products[name]["updates"] > products[name]["projected gradient"] for name in RACED)
guess_rival.reveal(products["deblurring"]["projected gradient"], how="Counted")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
Markdown(
    "Plain updates lose to accelerated [projected gradients](glossary.md#projected-gradient) on **every** problem here. With line search and polishing, ours takes "
    f"fewer products on {len(won)} of {len(RACED)}."
)

# %% slideshow={"slide_type": "skip"}
from course_pkg.qp.solver import minimise


# %% slideshow={"slide_type": "skip"}
def rows_needed(p):
    """Return the mean share of a direction that is not 0, over the products of a solve."""
    shares, (plus, minus) = [], reference.split(p.Q)

    def product(v):
        shares.append(np.count_nonzero(v) / p.n)
        return plus @ v, minus @ v

    work = Arrays(np, product, p.Q, p.h, np.zeros(p.n), reference.starting_guess(p.Q, p.h))
    assert minimise(work, TO, 0.0, None, None, True, True).converged
    return float(np.mean(shares))


needed = {name: rows_needed(RACED[name]) for name in ("deblurring", "digits", "portfolio")}
v = np.where(rng.random(deblurring.n) < 0.3, 1.0, 0.0)
assert np.allclose(v[v != 0] @ deblurring.Q[v != 0], deblurring.Q @ v) and max(needed.values()) < 0.75
Markdown(
    "**Zeros in the solver.** It needs the gradient of the zeros too, so a copy is not enough. But Q is symmetric: a product is a sum of rows, those of the vⱼ that are not 0, and "
    "no sector of them is wasted. To a thousandth, the products need "
    + ", ".join(f"{share:.0%} ({name})" for name, share in needed.items())
    + " of the rows of Q."
)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.split_product_listed_kernel(gpu.ROWS_AHEAD))

# %% slideshow={"slide_type": "skip"}
SOLVERS = {
    "accelerated": (PQP, CUDA, True),
    "accelerated, CuPy": (PQP, CUPY, True),
    "projected gradient": (APG, CUPY, None),
    "updates alone": (PQP, CUDA, False),
    "MPAX": (PQP, Library.MPAX, None),
    "OSQP, CPU": (PQP, Library.OSQP, None),
    "SciPy, CPU": (PQP, Library.SCIPY, None),
}

# %% slideshow={"slide_type": "skip"}
TARGET = {name: RTOL * np.abs(problem(name, SOLVED[name]).h).max() for name in SOLVED}


def cell(on, problem, solver):
    """Return a solver's time, "–" if it is not recorded; in brackets if it did not reach the tolerance."""
    m = on.solve(*solver[:2], problem, solver[2])
    if m is None:
        return "–"
    time = bench.format_time(m.median_s)
    return time if m.observed["converged"] else f"({time})"


# %% slideshow={"slide_type": "skip"}
AT_ONCE = ("accelerated", "accelerated, CuPy", "projected gradient")
BESIDE = [title for title in ("MPAX", "OSQP, CPU") if any(on_h200.solve(*SOLVERS[title][:2], name) for name in SOLVED)]
NOT_THERE = {"MPAX", "OSQP, CPU"} - {*BESIDE}
near = {(name, title): on_h200.solve(*SOLVERS[title][:2], name) for name in SOLVED for title in BESIDE}
assert all(m.observed["kkt"] <= TARGET[name] for (name, _), m in near.items() if m is not None and m.observed["converged"])
BESIDE_TOLD = "".join(f" {title}: not recorded." for title in sorted(NOT_THERE))
SHORT = {
    "nnls_diabetes": "diabetes",
    "nnls_digits": "digits",
    "svm_breast_cancer": "support vectors",
    "obstacle_1d": "string",
    "obstacle_2d": "membrane",
    "dense": "random",
}


# %% slideshow={"slide_type": "skip"}
def solve_row(name, which=AT_ONCE):
    """Return a row: the time of each solver for a problem."""
    row = {"problem": SHORT.get(name, name), "n": f"{problem(name, SOLVED[name]).n:,}"}
    row |= {title: cell(on_h200, name, SOLVERS[title]) for title in which}
    return row


# %% slideshow={"slide_type": "skip"}
def beats(on, title, name):
    """Return whether another solver reached the tolerance in less time than our method, or None if one is missing."""
    ours, theirs = on.solve(PQP, CUDA, name, True), on.solve(*SOLVERS[title][:2], name)
    if ours is None or theirs is None:
        return None
    return theirs.median_s < ours.median_s and theirs.observed["kkt"] <= TARGET[name]


compared = [name for name in SOLVED if beats(on_h200, "projected gradient", name) is not None]
beaten = [name for name in compared if beats(on_h200, "projected gradient", name)]
by_arrays = [name for name in compared if on_h200.solve(PQP, CUPY, name, True).median_s < on_h200.solve(PQP, CUDA, name, True).median_s]
assert "obstacle_1d" in beaten and len(beaten) < len(compared) and len(by_arrays) > 0
timed_solves = {how: [on_h200.solve(*SOLVERS[how][:2], name, SOLVERS[how][2]) for name in compared] for how in AT_ONCE}
slower = [name for name in beaten if on_h200.solve(PQP, CUDA, name, True).observed["products"] < on_h200.solve(APG, CUPY, name).observed["products"]]
an_iteration = {how: [m.median_s / m.observed["iterations"] for m in ms if m is not None] for how, ms in timed_solves.items()}
q_bytes = 8 * max(problem(name, SOLVED[name]).n for name in compared) ** 2
assert slower and min(an_iteration["accelerated, CuPy"]) > max(an_iteration["projected gradient"])
assert min(min(found) for found in an_iteration.values()) > 20 * q_bytes / (1e9 * machine("h200").bandwidth_gb_s)

# %% slideshow={"slide_type": "skip"}
recorded = on_h200.solve(PQP, CUDA, "obstacle_1d", True).observed["products"]
ours_by, rival_by = (
    {n: solve((one := problem("obstacle_1d", n)).Q, one.h, rtol=RTOL).extra["products"] for n in (50, 100, string.n)}
    for solve in (reference.pqp, reference.apg)
)
now, rival = ours_by[string.n], rival_by[string.n]
assert rival < now == recorded and all(by[50] < 0.8 * by[100] < 0.64 * by[200] for by in (ours_by, rival_by))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Time to a solution

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
rows = [solve_row(name, (*AT_ONCE, *BESIDE)) for name in compared[:5]]
bench.Table(
    rows,
    f"To a KKT residual of {RTOL:g} ‖h‖∞; in brackets: did not reach it.{BESIDE_TOLD} {on_h200.origin}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
faster = {title: [name for name in compared if beats(on_h200, title, name)] for title in BESIDE}
others = "".join(f", {SOLVERS[title][1]} on {len(names)}" for title, names in faster.items())
Markdown(
    f"**Less time than our kernel**, on {len(compared)} recorded problems: projected gradients on {len(beaten)} ({', '.join(SHORT.get(name, name) for name in beaten)}){others}, our method by CuPy on {len(by_arrays)}."
)

# %% slideshow={"slide_type": "skip"}
Markdown(
    "**An iteration takes** "
    + ", ".join(f"*{how}* {1e3 * min(found):.1f} to {1e3 * max(found):.1f} ms" for how, found in an_iteration.items())
    + ", at every n: probably launches and the host, not memory. So ours may take longer than projected gradients with **fewer** products: "
    + ", ".join(SHORT.get(name, name) for name in slower)
    + "."
)

# %% [markdown] slideshow={"slide_type": "skip"}
# **The other solvers.** *Accelerated* is the method of this lecture with line search and polishing, by our kernel or by CuPy. *MPAX* and *OSQP* solve quadratic programs with any linear constraints: MPAX on the GPU,
# by products with Q; OSQP on the CPU, by a factorisation of the matrix. *SciPy* is `scipy.optimize.nnls`, for least squares with bounds at 0.

# %% slideshow={"slide_type": "skip"}
bench.Table([solve_row(name, [*SOLVERS]) for name in SOLVED], f"All problems, all solvers; –: not recorded. {on_h200.origin}")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Seven minutes with the three slides before. Be frank: the method of this lecture is a good lesson about memory, and seldom the best
# > solver. Small problems probably take the time of their launches: there, one problem is the wrong size for a GPU. Why the string? A zero grows only after its
# > neighbour has grown, so the number of products grows with the number of points; for projected gradients it grows, too.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Thousands of problems: a block for each

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.here_picture(viz.MEMORIES, "registers")

# %% slideshow={"slide_type": "skip"}
problems, unknowns, iterations = BATCHED
whole_batch = BATCH.cost(unknowns, problems, iterations)


def batch_of(on):
    """Draw the times of a batch on the CPU, by CuPy and by our kernel, on one GPU."""
    ours = on.batch()
    return viz.relative_bars(
        {
            "time": {
                "a block per problem": ours.median_s,
                "CuPy": on.batch(CUPY).median_s,
                "all cores of the CPU": ours.observed["cpu_s"],
            }
        },
        xlabel="time, relative to our kernel",
        said=bench.format_time,
        note=viz.Note(f"The CPU: all cores of the recorded machine's {ours.observed['cpu']}.", on.origin),
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.on_each(batch_of, GPUS)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
small = on_h200.batch()
assert small.observed["cpu_s"] > 20 * small.median_s
assert whole_batch.bytes == BATCH.cost(unknowns, problems, 1).bytes and 8 * unknowns**2 < 256 * 1024
assert whole_batch.intensity > 20 * UPDATE.cost(unknowns).intensity
by_gpu = {on.name: (on.batch().median_s / small.median_s, on.copy.t_eff_gb_s / on_h200.copy.t_eff_gb_s) for on in GPUS[:-1]}
assert all(abs(time - 1) < 0.02 and rate < 0.75 for time, rate in by_gpu.values())
slower_memory = "".join(f": an {name}, with {rate:.0%} of the bandwidth, takes as long" for name, (_, rate) in by_gpu.items())
Markdown(
    f"{problems:,} problems of model-predictive control, {unknowns} unknowns each. A small Q, {8 * unknowns**2 // 1024} KiB, is read **once** into the registers of its block, and stays there for all {iterations} updates: "
    f"{whole_batch.intensity:.0f} flops per byte, not {UPDATE.cost(unknowns).intensity:.1f}. It is no longer [memory-bound](glossary.md#memory-bound){slower_memory}."
)

# %% slideshow={"slide_type": "skip"}
viz.source(gpu.update_batch_kernel(unknowns // 2))


# %% slideshow={"slide_type": "skip"}
def control_row(m):
    """Return a row: how a solver ended a batch."""
    steps = m.observed.get("iterations", m.parameters.get("iterations"))
    return {
        "solver": m.label,
        "time": bench.format_time(m.median_s),
        "problems solved": f"{m.observed['solved']:.1%}",
        "worst residual": f"{m.observed['worst']:.1e} ‖h‖∞",
        "most steps of a problem": "–" if steps is None else f"{steps:,}",
    }


bench.Table([control_row(m) for m in on_h200.control()], f"Every problem of the batch to {RTOL:g} ‖h‖∞. {on_h200.origin}")

# %% slideshow={"slide_type": "skip"}
controls = {on.name: {(m.operation, m.library): m for m in on.control()} for on in GPUS}
for ended in controls.values():
    ours, updates = ended["apg_batch", CUDA], ended["update_batch", CUDA]
    assert ours.observed["solved"] == 1 > 2 * updates.observed["solved"] and updates.median_s > 20 * ours.median_s
    assert all(ended["apg_batch", rival].median_s > 20 * ours.median_s for rival in (CUPY, Library.OSQP))
Markdown(
    "**To a solution**, the updates are the wrong tool here as well: "
    + "; ".join(
        f"on an {name}, one block per problem solves all {problems:,} by accelerated projected gradients in {bench.format_time(ended['apg_batch', CUDA].median_s)}, where {ended['update_batch', CUDA].parameters['iterations']:,} updates "
        f"take {bench.format_time(ended['update_batch', CUDA].median_s)} and solve {ended['update_batch', CUDA].observed['solved']:.0%}; OSQP on all cores of that host takes {bench.format_time(ended['apg_batch', Library.OSQP].median_s)}"
        for name, ended in controls.items()
    )
    + "."
)

# %% slideshow={"slide_type": "skip"}
from course_pkg.spmv import jacobi_reference
from course_pkg.spmv.jacobi import plain_system

membrane = problem("obstacle_2d", 30)
resting = reference.pqp(membrane.Q, membrane.h, rtol=1e-9)
load = -rng.uniform(0, 1, membrane.n)
x = rng.uniform(0.5, 1.5, membrane.n)
by_update, by_jacobi, parts = np.empty((3, membrane.n))
reference.update(membrane.Q, load, np.zeros(membrane.n), x, by_update, parts)

# %% slideshow={"slide_type": "skip"}
import scipy.sparse

jacobi_reference.jacobi_plain(plain_system(scipy.sparse.csr_array(membrane.Q), -load), x, by_jacobi)
beside = membrane.Q - np.diag(np.diag(membrane.Q))
assert beside.max() == 0 and np.linalg.eigvalsh(membrane.Q)[0] > 0 and np.allclose(by_update, by_jacobi)
assert (reference.diagonal_shift(membrane.Q) < 1e-9).all() and resting.converged
rests = float((resting.x == 0).mean())
assert 0.1 < rests < 0.5

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Where h ≤ 0, an M-matrix makes the update Jacobi's step

# %% [markdown] slideshow={"slide_type": "-"}
# A membrane over a dome: an [M-matrix](glossary.md#M-matrix) has no positive entry beside its diagonal, so $Q^+$ **is** the diagonal. Where $h_i \le 0$,
#
# $$x_i \leftarrow \frac{-h_i + (Q^- x)_i}{Q_{ii}},$$
#
# which is [Jacobi's](06_permutations.ipynb) step. Where $h_i > 0$ the factor moves $x_i$ towards Jacobi's value, or towards 0 if that is negative.

# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
viz.images_picture(
    {"height above the dome": np.where(resting.x == 0, np.nan, resting.x).reshape(30, 30)},
    marked="on the dome",
    told=f"A square membrane above a dome: in the middle it lies on the dome, {rests:.0%} of the points.",
)

# %% slideshow={"slide_type": "skip"}
p = problem("obstacle_2d", 9)
x, _ = reference.serial(p.Q, p.h, np.full(p.n, 0.01), 6000)
jacobi_value = x - (p.Q @ x + p.h) / np.diag(p.Q)
assert (p.h > 0).any() and np.allclose(x, np.maximum(jacobi_value, 0), atol=1e-6 * x.max())

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Try it: which unknowns are free

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
EXPLORED = {
    "string": history(problem("obstacle_1d", 64), 1000),
    "string, re-admitted": history(problem("obstacle_1d", 64), 1000, readmit=True),
    "deblurring": history(problem("deblurring", 12), 1000, shape=(12, 12)),
    "portfolio": history(problem("portfolio", 100), 1000),
}
viz.ActiveSetExplorer(EXPLORED, iterations=(0, 10, 30, 100, 300, 1000), start={"problem": "string", "iteration": 300})


# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
def limit_of(on):
    """Return in a sentence what one update takes on a GPU, over the copy of its bytes."""
    double, single = on.update("update_rows"), on.update("update_rows", dtype="float32")
    return (
        f"- {on.name}: an update of {N:,} unknowns takes **{bench.format_time(double.median_s)}**, {on.of_copy(double):.0%} of the speed of a copy; in float32 "
        f"{bench.format_time(single.median_s)}, {on.of_copy(single):.0%}."
    )


Markdown("\n".join(limit_of(on) for on in GPUS))


# %% [markdown] slideshow={"slide_type": "-"}
# A kernel that reads Q once has nothing left to gain. What is left is **not to read Q**:
#
# - **half of it**: Q is symmetric, and the upper triangle would do; each entry then belongs to two rows, whose sums two blocks write,
# - **fewer bytes per entry**: float32 for Q, sums in double (lecture 6),
# - **fewer iterations**: another method,
# - **many right-hand sides**: one pass over Q for all of them.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "skip"}
def gain_row(decision, pair):
    """Return a row: what a decision gains, by Cost and by measurement."""
    pairs = {on.name: pair(on) for on in GPUS}
    first, second = pairs[on_h200.name]
    return {
        "decision": decision,
        "bytes": f"{first.cost.bytes / second.cost.bytes:.2f}×",
        **{f"speed, {name}": f"{a.median_s / b.median_s:.2f}×" for name, (a, b) in pairs.items()},
    }


DECISIONS = {  # the measurement before a decision, and the one after it
    "a thread per column, not per row": lambda on: [on.update(f"update_{name}") for name in ("naive", "columns")],
    "x in shared memory": lambda on: [on.update(f"update_{name}") for name in ("columns", "staged")],
    "a block for two rows": lambda on: [on.update(f"update_{name}") for name in ("staged", "rows")],
    "one Q, not Q⁺ and Q⁻": lambda on: [on.update("update", CUPY), on.update("update_rows")],
    "a list of the free unknowns, at 90% zeros": lambda on: [
        on.update(f"update_{name}", zeros=True) for name in ("rows", "compacted")
    ],
}

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
bench.Table(
    [gain_row(decision, pair) for decision, pair in DECISIONS.items()],
    f"Before over after. {ORIGIN}",
)

# %% [markdown] slideshow={"slide_type": "-"}
# **Read Q once, leave no thread without work, and believe an answer by its KKT residual.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 8**, `exercises/08_quadratic_programming`, 20 points. **Next**: lecture 9 divides a solver among many GPUs.
# - M. Brand, D. Chen, *Parallel quadratic programming …*, ICIP 2011: the update.
# - F. Sha, Y. Lin, L. K. Saul, D. D. Lee, *Multiplicative updates …*, Neural Comp. 19, 2007.
# - J. J. Moré, G. Toraldo, *On the solution of large QP …*, SIAM J. Optim. 1, 1991.
# - A. Beck, M. Teboulle, *A fast iterative shrinkage-thresholding …*, SIAM J. Imaging Sci. 2, 2009.
# - B. Stellato and others, *OSQP …*, Math. Prog. Comp. 12, 2020.

# %% [markdown] slideshow={"slide_type": "skip"}
# **In full**
#
# - M. Brand and D. Chen: *Parallel quadratic programming for image processing*, IEEE International Conference on Image Processing, 2011, pages 2261–2264
# - F. Sha, Y. Lin, L. K. Saul and D. D. Lee: *Multiplicative updates for nonnegative quadratic programming*, Neural Computation 19, 2007, pages 2004–2031
# - J. J. Moré and G. Toraldo: *On the solution of large quadratic programming problems with bound constraints*, SIAM Journal on Optimization 1, 1991, pages 93–113
# - A. Beck and M. Teboulle: *A fast iterative shrinkage-thresholding algorithm for linear inverse problems*, SIAM Journal on Imaging Sciences 2, 2009, pages 183–202
# - B. O'Donoghue and E. Candès: *Adaptive restart for accelerated gradient schemes*, Foundations of Computational Mathematics 15, 2015, pages 715–732
# - B. Stellato, G. Banjac, P. Goulart, A. Bemporad and S. Boyd: *OSQP: an operator splitting solver for quadratic programs*, Mathematical Programming Computation 12, 2020, pages 637–672
# - B. Efron, T. Hastie, I. Johnstone and R. Tibshirani: *Least angle regression*, Annals of Statistics 32, 2004, pages 407–499

# %% slideshow={"slide_type": "skip"}
viz.intuition("08")

# %% [markdown] slideshow={"slide_type": "skip"}
# **The clocks of the updates**, as Nsight Compute counted them, on both GPUs; two numbers before the size are rows per block and loads at a time.

# %% slideshow={"slide_type": "skip"}
every_clock("qp")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write the kernels of this lecture yourself. In each step `...` stands for missing lines. Run the cell: it says what your threads did, in a
# sentence, a picture and counts. Try the variations below it, and answer their questions before you open the answer.

# %% slideshow={"slide_type": "skip"}
from course_pkg import cuda, practice


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 1. On the host.** A function, in NumPy. Split Q and h into what is positive and what is negative, and make one update, without a shift. All x_i are positive.

# %% slideshow={"slide_type": "skip"}
def one_update(Q, h, x):
    Q_plus, Q_minus = ...
    h_plus, h_minus = ...
    return ...


practice.check("one_update", one_update)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 2. A thread for each unknown.** The same as a kernel. Neither Q⁺ nor Q⁻ is stored: a thread splits an entry of Q where it needs it.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        ...


practice.check("each_unknown", each_unknown)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 3. x in tiles.** Q is symmetric, so threads may walk down columns: then neighbours read neighbours. Each block needs all of x, but only a part of it has room in
# shared memory: here, eight elements at a time, with blocks of eight threads. Write the lines that fetch a tile, use it, and keep threads from overtaking each other.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        ...
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                ...
        ...
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)


practice.check("tile_of_x", tile_of_x)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 4. A warp for each row.** Now 32 lanes share a row. Both products come from one walk through it: load each entry once.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(...):
            ...
    for distance in (16, 8, 4, 2, 1):
        ...
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down


practice.check("warp_per_row", warp_per_row)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 5. F and the residual.** Both products are known. One warp, however many unknowns there are: lane t takes unknown t, t + 32, and so on. A sum and a maximum
# are collected in the same way.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        ...
    for distance in (16, 8, 4, 2, 1):
        ...
    if t == 0:
        found[0], found[1] = total, worst


practice.check("f_and_residual", f_and_residual)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 6. Who is free to change?** A function for the host. It gets x and the gradient at x, and returns a vector of True and False. For vectors, *or* is `|`, and each comparison beside it
# needs its parentheses.

# %% slideshow={"slide_type": "skip"}
def free_to_change(x, gradient):
    return ...


practice.check("free_to_change", free_to_change)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 7. Products by a list.** `active` holds the numbers of the unknowns that the kernel works on: the free ones, with x_i > 0. The others are 0 and stay so for now: nobody needs their rows, and their
# columns add nothing. `plus` and `minus` are 0 before the launch.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = ...
        for b in range(lane, active.size, 32):
            j = ...
            q, x_j = ...
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        ...


practice.check("by_list", by_list)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 8. How far?** A function for the host. An update says where to go: d is the new x minus the old one. How far to go along d is still open. Qx and Qd are known, so no
# product with Q is left to do. Where d_i is negative, x_i must not become negative on the way; perhaps no d_i is negative.

# %% slideshow={"slide_type": "skip"}
def best_step(x, d, Qx, Qd, h):
    slope = ...
    curvature = ...
    falls = d < 0
    longest = ...
    t = min(-slope / curvature, longest)
    return x + t * d


practice.check("best_step", best_step)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Step 9. A block for each small problem.** Problem p has eight unknowns, and its matrix is `Q[p]`. Block p keeps it in shared memory for all its updates.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    for j in range(8):
        ...
    now[i] = own_x
    for _ in range(times):
        ...
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            ...
        own_x *= above / below
        ...
        now[i] = own_x
    out[p, i] = own_x


practice.check("one_block_each", one_block_each)

# %% [markdown] slideshow={"slide_type": "skip"}
# What have you solved?

# %% slideshow={"slide_type": "skip"}
practice.progress("quadratic_programming")
