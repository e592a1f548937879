"""Steps that run on several ranks: planes that are swapped, sums, and a product during which the halo travels."""

from itertools import pairwise

import numpy as np

from course_pkg.core.units import how_many
from course_pkg.distributed.partition import offsets
from course_pkg.practice.on_ranks import COMPUTES, STARTS, WAITS, Heard, Part
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf


def _divided(whole, ranks):
    """Return the parts of an array, one for each rank."""
    first = offsets(len(whole), ranks)
    return tuple(whole[a:b].copy() for a, b in pairwise(first))


def _swap_faces(size, rng):
    nz, plane, ranks = size
    u = rng.integers(1, 100, (nz, plane)).astype(np.float64)
    parts, nothing = _divided(u, ranks), np.zeros(plane)

    def halos(of_below, of_above):
        found = []
        for rank in range(ranks):
            found.append(of_below(parts[rank - 1]) if rank else nothing)
            found.append(of_above(parts[rank + 1]) if rank < ranks - 1 else nothing)
        return np.concatenate(found)

    mistakes = {}
    if ranks > 1:
        mistakes = {
            "To the rank above goes the last plane of the slab, not its first: neighbours touch there.": {
                RESULT: halos(lambda p: p[0], lambda p: p[0])
            },
            "What the rank above sends lies in the second half of the halo: the first half is for the plane below.": {
                RESULT: np.concatenate(
                    [
                        np.concatenate([parts[r + 1][0] if r < ranks - 1 else parts[r - 1][-1], nothing])
                        for r in range(ranks)
                    ]
                )
            },
        }
    flat = tuple(part.reshape(-1) for part in parts)
    return Trial(
        {"v": flat, "plane": plane},
        {RESULT: halos(lambda p: p[-1], lambda p: p[0])},
        mistakes=mistakes,
        ranks=ranks,
    )


def _one_number(heard: Heard) -> str:
    if heard.sums != [1]:
        return _sums_told(heard, 1)
    return ""


def _sums_told(heard: Heard, wanted: int) -> str:
    if not heard.sums:
        return "The result is right, but no rank has asked the others."
    if len(heard.sums) > 1:
        return (
            f"The result is right, but it took {len(heard.sums)} sums over all ranks, and each is waited for: one is "
            "enough."
        )
    return (
        f"The result is right, but {how_many(heard.sums[0], 'number')} went from rank to rank, and {wanted} "
        f"{'is' if wanted == 1 else 'are'} enough: add up a rank's own part before."
    )


def _dot_on_ranks(size, rng):
    n, ranks = size
    a, b = rng.integers(-5, 6, (2, n)).astype(np.float64)
    parts = list(zip(_divided(a, ranks), _divided(b, ranks), strict=True))
    mine = np.array([x @ y for x, y in parts])
    mistakes = {"Each rank has the sum of its own part: the others' are missing.": mine} if ranks > 1 else {}
    if ranks > 1 and n % ranks == 0:  # parts of different sizes cannot be added up
        of_a, of_b, products = (sum(many) for many in zip(*((x, y, x * y) for x, y in parts), strict=True))
        mistakes |= {
            "A product of sums is not the sum of products: multiply first.": np.full(ranks, of_a @ of_b),
            "The products of elements were added up over the ranks, but not those of one rank.": np.tile(
                products, ranks
            ),
        }
    return Trial(
        {"a": tuple(x for x, _ in parts), "b": tuple(y for _, y in parts)},
        {RESULT: np.full(ranks, a @ b)},
        mistakes={says: {RESULT: value} for says, value in mistakes.items()},
        ranks=ranks,
        heard=_one_number,
    )


def _two_in_one(size, rng):
    n, ranks = size
    r, u, w = rng.integers(-5, 6, (3, n)).astype(np.float64)
    parts = [_divided(v, ranks) for v in (r, u, w)]
    right = np.tile([r @ u, w @ u], ranks)

    def heard(heard: Heard) -> str:
        return "" if heard.sums == [2] else _sums_told(heard, 2)

    return Trial(
        dict(zip(("r", "u", "w"), parts, strict=True)),
        {RESULT: right},
        mistakes={
            "The two products are exchanged: ⟨r, u⟩ comes first.": {RESULT: np.tile([w @ u, r @ u], ranks)},
            "Each rank has the products of its own parts: the others' are missing.": {
                RESULT: np.concatenate([[x @ y, z @ y] for x, y, z in zip(*parts, strict=True)])
            },
        },
        ranks=ranks,
        heard=heard,
    )


class Line(Part):
    """A rank's part of the second difference on a line, computed in two pieces; each piece records its computation.

    Examples
    --------
    >>> line, out = Line(), np.empty(3)
    >>> line.inside(np.array([1.0, 2.0, 4.0]), out)
    >>> line.outside(np.zeros(1), np.array([5.0]), out)
    >>> out, [deed.what for deed in line.done]
    (array([ 0., -1.,  1.]), ['inside', 'outside'])
    """

    def inside(self, v, out) -> None:
        """Compute ``out = 2 v`` minus both neighbours, as if zeros were around this part."""
        self.note("inside")
        out[:] = 2 * v
        out[1:] -= v[:-1]
        out[:-1] -= v[1:]

    def outside(self, below, above, out) -> None:
        """Subtract ``below`` from the first element of ``out``, ``above`` from the last; both are 0 beyond the line."""
        self.note("outside")
        out[0] -= below[0]
        out[-1] -= above[0]


ORDER = (STARTS, COMPUTES, WAITS, COMPUTES)


def _hidden(heard: Heard) -> str:
    for rank, done in enumerate(heard.done):
        if wrong := _not_hidden([deed.kind for deed in done], [deed.what for deed in done]):
            return f"The result is right, but rank {rank} {wrong}"
    return ""


def _not_hidden(kinds, words) -> str:
    starts, waits = kinds.count(STARTS), kinds.count(WAITS)
    if (starts, waits) != (1, 1):
        return f"has {starts} starts and {waits} waits: one of each."
    if "inside" not in words:
        return "did not use line.inside: its piece is computed while the messages travel."
    if words.index("inside") < kinds.index(STARTS):
        return "computed inside before its messages were under way: start them first."
    if kinds.index(WAITS) < words.index("inside"):
        return "waited before it computed inside, so nothing was hidden: wait after it."
    if tuple(kinds) != ORDER:
        return f"did this: {', '.join(words)}. Compute each piece once."
    return ""


def _beside_the_halo(size, rng):
    n, ranks = size
    v = rng.integers(-9, 10, n).astype(np.float64)
    parts = _divided(v, ranks)
    padded = np.concatenate([[0], v, [0]])
    right = 2 * v - padded[:-2] - padded[2:]
    alone = np.concatenate(
        [2 * p - np.concatenate([[0], p[:-1]]) - np.concatenate([p[1:], [0]]) for p in parts]
    )
    mistakes = (
        {
            "Points beside another rank lack their neighbour there: outside has to come after the wait, with what has "
            "arrived.": {RESULT: alone}
        }
        if ranks > 1
        else {}
    )
    return Trial(
        {"line": tuple(Line() for _ in range(ranks)), "v": parts},
        {RESULT: right},
        mistakes=mistakes,
        ranks=ranks,
        heard=_hidden,
    )


STEPS = (
    Step(
        name="swap_faces",
        title="Faces of a slab",
        ask="Add the message to the rank above, and the place where its plane is put, as for the rank below.",
        trial=_swap_faces,
        sizes=((8, 3, 3), (5, 4, 2), (4, 2, 4), (3, 2, 1)),
        tell="each slab has the two planes beside it, and zeros where the grid ends",
        hints=(
            "Which of a slab's planes touches the rank above: the first, or the last?",
            "The last plane is v[-plane:]. What comes from above lies in the second half of halo.",
            "`if comm.rank < comm.ranks - 1:`, `sends.append((comm.rank + 1, v[-plane:]))`, "
            "`receives.append((comm.rank + 1, halo[plane:]))`",
        ),
        what_if=(
            WhatIf(
                "Leave out the line with `receives`, but keep the one with `sends`.",
                "Who notices, and how would it look under MPI?",
                "The rank above has sent a plane that nobody takes: here it is a sentence at the end. Under MPI a "
                "small message would wait in a buffer, a large one keep its sender waiting for ever.",
            ),
        ),
    ),
    Step(
        name="dot_on_ranks",
        title="A dot product of divided vectors",
        ask="Return ⟨a, b⟩ of the whole vectors, of which each rank has a part; one number goes from rank to rank.",
        trial=_dot_on_ranks,
        sizes=((12, 3), (10, 4), (5, 1)),
        tell="each rank brought one number, and all have the same sum",
        hints=(
            "What can a rank compute of the sum without the others?",
            "comm.sum takes an array and returns its sum over all ranks: pass an array of one number.",
            "`return comm.sum([a @ b])[0]`",
        ),
        what_if=(
            WhatIf(
                "Let each rank send its products a * b to all others instead.",
                "How many bytes would travel, with 250³ points on 64 ranks?",
                "All of the vector, 125 MB, to each rank, instead of 8 bytes in each of 6 rounds.",
            ),
        ),
    ),
    Step(
        name="two_in_one",
        title="Two products, one message",
        ask="Return ⟨r, u⟩ and ⟨w, u⟩ of the whole vectors, in an array, with a single sum over all ranks.",
        trial=_two_in_one,
        sizes=((12, 3), (10, 4), (6, 2)),
        needs="dot_on_ranks",
        tell="two numbers shared one wait",
        hints=(
            "How many numbers may an array have that comm.sum takes?",
            "Compute both products of this rank first, then add up both at once.",
            "`return comm.sum([r @ u, w @ u])`",
        ),
        what_if=(
            WhatIf(
                "Add up 81 numbers at once, the Gram matrix of an s-step method with s = 4.",
                "Does that take 40 times as long?",
                "No: 648 bytes take hardly longer than 16, as long as the latency is most of a message's time.",
            ),
            WhatIf(
                "Try it with p·Ap and r·r of conjugate gradients as they stand in a book.",
                "Why can these two not share a sum?",
                "The new r needs α, and α needs p·Ap: the second sum cannot begin before the first has ended. The "
                "method has to be rearranged first.",
            ),
        ),
    ),
    Step(
        name="beside_the_halo",
        title="A product beside the halo",
        ask="Begin the messages, compute inside, wait, and compute outside: in the order that hides the halo.",
        trial=_beside_the_halo,
        sizes=((12, 3), (7, 2), (9, 4), (5, 1)),
        needs="swap_faces",
        tell="the halo was on its way while each rank computed inside",
        hints=(
            "Which of the two pieces needs nothing of other ranks?",
            "comm.start returns at once, with something to wait for. What can be done between the two?",
            "`pending = comm.start(sends, receives)`, `line.inside(v, out)`, `pending.wait()`, "
            "`line.outside(below, above, out)`",
        ),
        what_if=(
            WhatIf(
                "Wait at once, as in step 4, and then compute inside and outside.",
                "The result is the same. What is lost?",
                "The time of the messages is added to that of the product, where it could be hidden by it.",
            ),
            WhatIf(
                "A fused method needs the halo of p = r + β p, so it asks for r's and for the old p's.",
                "Can one of both messages be saved?",
                "Yes: a rank keeps the halo of the old p, and updates it itself by r + β p when r's halo has come. It "
                "costs a few operations on planes, and half of the messages.",
            ),
        ),
    ),
)
