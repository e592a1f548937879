"""Steps of lecture 7 on the host: step lengths from the moments, and directions conjugate to the old ones."""

import numpy as np

from course_pkg.practice.step import RESULT, Step, Trial, WhatIf
from course_pkg.sstep import scalar_work

RTOL = 1e-9  # relative tolerance of results of small linear systems


def _moments(s, rng):
    """Return 2 s moments of a residual, of a matrix with the eigenvalues 1, 2, …, 2 s."""
    eigenvalues, shares = np.arange(1.0, 2 * s + 1), rng.integers(1, 5, 2 * s) / 4
    return np.array([np.sum(shares * eigenvalues**k) for k in range(2 * s)]), eigenvalues, np.sqrt(shares)


def _step_lengths(s, rng):
    mu, _, _ = _moments(s, rng)
    right, by_diagonal = scalar_work.first(mu).alpha, mu[:s] / mu[1::2]
    mistakes = {
        "So the system says that the first vector alone is the solution: W and the right-hand side are equally many "
        "moments along. W begins with mu[1], the right-hand side with mu[0].": np.eye(s)[0],
        "Each length was found for itself, from the diagonal of W. They solve the system together.": by_diagonal,
    }
    return Trial({"mu": mu}, {RESULT: right}, mistakes={says: {RESULT: a} for says, a in mistakes.items()})


def two_rounds(s, rng):
    """Return the result of a first round, with its step lengths, and the 2 s moments of the residual that it leaves."""
    mu, eigenvalues, r = _moments(s, rng)
    step = scalar_work.first(mu)
    r = r - eigenvalues * (step.alpha @ (r * eigenvalues ** np.arange(s)[:, None]))
    return step, np.array([np.sum(r * r * eigenvalues**k) for k in range(2 * s)])


def _conjugate(s, rng):
    step, mu = two_rounds(s, rng)
    C = scalar_work.coupling(mu, step.alpha)
    printed = scalar_work.coupling_printed(mu, step.alpha)
    mistakes = {
        "This is the loop as it is printed, up to j = i - 1: entries on the diagonal and above it stay 0.": printed,
        "The loop ends at the diagonal: entries above it stay 0.": np.tril(C),
        "The sign is that of t. C is minus PᵀAQ, with the old P, so that the new directions lose what they share.": -C,
    }
    wrong = {says: {RESULT: np.linalg.solve(step.W, c)} for says, c in mistakes.items()}
    wrong["This is C itself. β solves W β = C."] = {RESULT: C}
    arguments = {"mu": mu, "alpha": step.alpha, "W": step.W}
    return Trial(arguments, {RESULT: np.linalg.solve(step.W, C)}, mistakes=wrong)


STEPS = (
    Step(
        name="step_lengths",
        title="α from an s × s system",
        ask="Fill W with the moments, and return the s step lengths: W α = (mu[0], …, mu[s - 1]).",
        trial=_step_lengths,
        sizes=(2, 1, 3, 4),
        rtol=RTOL,
        tell="one small system gave the lengths of s steps, without another look at the vectors",
        hints=(
            "W is QᵀAQ. What are Q_i and Q_j, as powers of A times r?",
            "Q_i·AQ_j is r with A applied i + j + 1 times, times r: a single moment. The right-hand side is the "
            "first s of the 2 s moments.",
            "`W[i, j] = mu[i + j + 1]`, and `np.linalg.solve(W, mu[:s])`",
        ),
        what_if=(
            WhatIf(
                "Take s = 1 and write the formula down.",
                "Which formula of conjugate gradient do you find?",
                "α = r·r / r·Ar: the step length of a first step along the residual.",
            ),
            WhatIf(
                "Print np.linalg.cond(W) for s = 2, 4 and 8.",
                "Why does it grow so fast?",
                "The rows of W are those of powers of A, which turn into one direction. So they become nearly "
                "dependent, and a solve loses as many digits as the condition has.",
            ),
        ),
    ),
    Step(
        name="conjugate",
        title="β, by the right line",
        ask="From t, fill all of C with C[i, j] = -t[i + j], and return β, which solves W β = C.",
        trial=_conjugate,
        sizes=(2, 1, 3),
        needs="step_lengths",
        rtol=1e-7,
        tell="with this β, each new direction is conjugate to each old one",
        hints=(
            "How many entries does C have, and which of them does the printed loop reach?",
            "Both i and j run over all of 0 to s - 1. β has s right-hand sides: np.linalg.solve takes a matrix, too.",
            "`for i in range(s):`, `for j in range(s):`, `C[i, j] = -t[i + j]`; `return np.linalg.solve(W, C)`",
        ),
        what_if=(
            WhatIf(
                "Let j end at i - 1, as printed, and take s = 1.",
                "What is β then, and which old method is left?",
                "The loop is empty, so β is 0: every round begins anew with the residual. That is steepest descent.",
            ),
            WhatIf(
                "Print C for s = 3.",
                "Why is its upper left corner 0?",
                "t[0] to t[s - 2] are 0: A times an old direction of low degree lies in the old space, and the new "
                "residual is orthogonal to that.",
            ),
        ),
    ),
)
