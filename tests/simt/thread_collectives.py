"""The results of barriers, votes and shuffles for each thread, for an oracle that runs one thread at a time."""

BLOCK_LEVEL = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"}
WARP_LEVEL = {
    "syncwarp",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_down_sync",
    "shfl_xor_sync",
    "ballot_sync",
    "any_sync",
    "all_sync",
}
WARP = 32


def answer(group, threads):
    """Map each thread of a group that met at one call to the call's value.

    Parameters
    ----------
    group : dict
        Thread number to ``(name, line, arguments...)``.
    threads : int
        Threads of the block.
    """
    if not group:
        return {}
    name = next(iter(group.values()))[0]
    arguments = {number: call[2:] for number, call in group.items()}
    if name.startswith("shfl"):
        return {number: _shuffle(name, number, arguments) for number in group}
    if name in ("syncthreads", "syncwarp"):
        return dict.fromkeys(group)
    predicates = {number: bool(a[-1]) for number, a in arguments.items()}
    return dict.fromkeys(group, _vote(name, predicates))


def _vote(name, predicates):
    if name == "ballot_sync":
        return sum(1 << (number % WARP) for number, true in predicates.items() if true)
    if name.endswith("count"):
        return sum(predicates.values())
    if name in ("syncthreads_and", "all_sync"):
        return int(all(predicates.values()))
    return int(any(predicates.values()))


def _shuffle(name, number, arguments):
    _, value, by = arguments[number]
    lane = number % WARP
    source = {
        "shfl_sync": by % WARP,
        "shfl_up_sync": lane - by,
        "shfl_down_sync": lane + by,
        "shfl_xor_sync": lane ^ by,
    }[name]
    source = number - lane + source if 0 <= source < WARP else number
    return arguments[source][1] if source in arguments and source // WARP == number // WARP else value
