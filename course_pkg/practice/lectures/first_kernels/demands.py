"""What a step of lecture 1 demands besides the right result: that the threads of a block share the work."""

from collections import Counter

from course_pkg.simt import KernelProfile
from course_pkg.simt.report.touches import touches

MOST_FOLDED = 9  # elements of the tile that thread 0 reads: two in each of four folds, and one for the result


def uses_tile(profile, trial) -> str | None:
    """Return a sentence if the kernel does not use shared memory."""
    if not profile.shared_store:
        return "it does not use shared memory: let each thread put its element into the tile first."
    return None


def passes_on(profile, trial) -> str | None:
    """Return a sentence if a thread writes more than one element of the result."""
    who, most = _busiest(profile, "global", "store")
    if most > 1:
        return f"{who} writes {most} elements of out: let each thread write one, that of its own number."
    return uses_tile(profile, trial)


def folds(profile, trial) -> str | None:
    """Return a sentence if one thread goes through the tile, while the others wait."""
    who, most = _busiest(profile, "shared", "load")
    if most > MOST_FOLDED:
        return (
            f"{who} reads {most} elements of the tile, one after the other, while others have nothing to do: fold the "
            f"tile, so that no thread reads more than {MOST_FOLDED}."
        )
    return uses_tile(profile, trial)


def _busiest(profile: KernelProfile, space: str, kind: str) -> tuple[str, int]:
    """Return the name of the thread that touches most elements by one kind of access, and how many it touches."""
    times = Counter()
    for touch in touches(profile):
        if (touch.space, touch.kind) == (space, kind):
            times.update(zip(touch.block.tolist(), touch.thread.tolist(), strict=True))
    if not times:
        return "", 0
    (block, thread), most = max(times.items(), key=lambda item: (item[1], [-n for n in item[0]]))
    return f"thread {thread} of block {block}", most
