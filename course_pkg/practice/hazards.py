"""Describe hazards to learners: the line, the threads as the picture names them, and a question or advice."""

import ast
from dataclasses import replace
from math import prod

from course_pkg.grading import lanes, quotes
from course_pkg.grading.hazard_words import ALL_COME
from course_pkg.grading.updates import both_write, in_order, take_turns
from course_pkg.practice import outside
from course_pkg.practice.answer import Answer
from course_pkg.practice.attempt import Outcome
from course_pkg.practice.outside import waits_for_results
from course_pkg.practice.step import Trial
from course_pkg.simt import KernelProfile
from course_pkg.simt.memory.hazard import EITHER, NOT_IN_STEP, Hazard, all_must_pass, beyond
from course_pkg.simt.memory.places import Thread

_ORDER = ("out_of_bounds", "negative_index", "divergent_barrier", "uninitialised")
_SUMS = {"block_total": "the first thread of the block", "warp_sum": "lane 0"}  # who has the sum
_MISSING = "a cuda.syncthreads() is missing between them"
_ONE_LINE = "no barrier can stand within a line; does this thread read the element that is meant?"


def told(answer: Answer, trial: Trial, outcome: Outcome) -> str:
    """Return a sentence on the worst hazard of an attempt, with the learner's line; empty if there is no hazard."""
    found = [(profile, hazard) for profile in outcome.profiles for hazard in profile.hazards]
    if not found:
        return ""
    profile, worst = min(found, key=lambda pair: _rank(pair[1]))
    where = _where(answer, profile, worst)
    said = f"{worst.event}{_rest(answer, worst)}".rstrip(".")
    if worst.kind == "out_of_bounds":
        said = f"{_with_number(profile, worst)}{outside.why_beyond(answer, trial, worst, outcome)}"
    elif worst.kind == "negative_index":
        said = outside.why_negative(answer, trial, worst)
    elif worst.kind == "divergent_barrier" and not worst.operation:
        said = f"{worst.event}: {all_must_pass(_out_of_what(answer, worst))}"
    elif worst.array in trial.arrays and worst.array not in trial.expected:
        said = f"{worst.event}, but {worst.array} is only to be read: write elsewhere"
    elif both_write(worst) and (by := _summed_by(answer, worst)):
        said = f"{worst.event}, but {by} gives the sum to {_SUMS[by]} alone; let no other thread write it"
    elif both_write(worst) and waits_for_results(trial, worst.array):
        said = _belongs_to_one(answer, trial, profile, worst)
    elif both_write(worst):
        said = take_turns(answer.program, worst) or _only_one_stays(trial, worst) or said
    return f"{where}: {said}" + "." * (said[-1] not in "?!")


def worst_of(profile: KernelProfile) -> Hazard | None:
    """Return the hazard of a launch that the verdict is about; None if the launch has no hazard."""
    return min(profile.hazards, key=_rank, default=None)


def _rank(hazard: Hazard) -> int:
    return _ORDER.index(hazard.kind) if hazard.kind in _ORDER else len(_ORDER)


def _where(answer: Answer, profile: KernelProfile, hazard: Hazard) -> str:
    """Quote the lines if they are in the learner's cell; otherwise name the function that the answer calls."""
    source = profile.sources.get(hazard.function, answer.program.source)
    if source.file != answer.program.source.file:
        return f"In {hazard.function}, which it calls"
    quoted = " and ".join(f"`{source.text(line)}`" for line in hazard.lines)
    return f"Line{'s' * (len(hazard.lines) > 1)} {' and '.join(map(str, hazard.lines))}, {quoted}"


def listed(answer: Answer, trial: Trial, outcome: Outcome) -> tuple[str, ...]:
    """Return a sentence on each hazard of an attempt, with its line; :func:`told` adds advice for the worst one."""
    found = []
    for profile in outcome.profiles:
        for hazard in profile.hazards:
            own = both_write(hazard) and waits_for_results(trial, hazard.array)
            found.append(replace(hazard, rest="." if own else _rest(answer, hazard)).message)
    return tuple(found)


def skipped(answer: Answer, outcomes: list[Outcome]) -> str:
    """Return a sentence on the first barrier of the answer that threads skip without harm; empty if there is none."""
    for profile in (profile for outcome in outcomes for profile in outcome.profiles):
        for note in profile.notes:
            if note.kind == "skipped_barrier" and note.function == answer.program.name:
                who, absent = note.threads
                return (
                    f"Line {note.line}, {quotes.quoted(answer.program, note.line)}: {who} waits at this barrier, and "
                    f"{absent} ends without coming to it. Here that does no harm, because a barrier does not wait for "
                    f"threads that have ended; if {absent} did anything later, it would be a mistake. {ALL_COME}."
                )
    left = lanes.leaves_before_a_barrier(answer.program.tree)
    if left is None:
        return ""
    return (
        f"Line {left}, {quotes.quoted(answer.program, left)}: threads that end here never come to the barriers after "
        "it. That does no harm, because a barrier does not wait for threads that have ended. "
        f"{ALL_COME} all the same: then it stays right when more is done after it."
    )


def _rest(answer: Answer, hazard: Hazard) -> str:
    """Return the rest of a hazard's message; it names ``cuda.syncwarp``, which few know, only if the kernel uses it."""
    if hazard.kind != "missing_syncwarp":
        return hazard.rest
    text = ast.unparse(answer.program.tree)
    within_a_line = len(hazard.lines) == 1 and "syncthreads" in text
    if "syncwarp" in text:
        return f", but {NOT_IN_STEP}: {_ONE_LINE}" if within_a_line else hazard.rest
    cure = _ONE_LINE if within_a_line else f"{_MISSING}."
    return f", but nothing makes one wait for the other: {cure}"


def thread_number(profile: KernelProfile, thread: Thread) -> int:
    """Return a thread's number in the launch; the threads of a block have consecutive numbers."""
    (gx, gy, _), (nx, ny, nz) = profile.grid, profile.block
    bx, by, bz = thread.block
    x, y, z = thread.thread
    return (bx + gx * (by + gy * bz)) * nx * ny * nz + x + nx * (y + ny * z)


def _with_number(profile: KernelProfile, hazard: Hazard) -> str:
    """Return what happened, with the thread's number in the grid, if the thread used this number as its index."""
    number = thread_number(profile, hazard.threads[0])
    line_of_threads = profile.grid[1:] == (1, 1) and profile.block[1:] == (1, 1)
    if not line_of_threads or hazard.index != (number,) or number < profile.block[0]:
        return hazard.event
    return beyond(f"{hazard.threads[0]} (thread {number} of the grid)", hazard.element, hazard.shape)


def _out_of_what(answer: Answer, hazard: Hazard) -> str:
    """Return what is around a barrier: the branch, the loop, or one of them if that is not certain."""
    own = hazard.function == answer.program.name
    around = lanes.around(answer.program.tree, hazard.line) if own else []
    if around and isinstance(around[-1], ast.If):
        return "the branch"
    if around and not any(isinstance(node, ast.If) for node in around):
        return "the loop"
    return EITHER


def _only_one_stays(trial: Trial, hazard: Hazard) -> str | None:
    """Say that two blocks overwrite each other's number, and ask how to add instead; None if this is not so."""
    if hazard.array not in trial.expected or hazard.threads[0].block == hazard.threads[1].block:
        return None
    who, whom = in_order(hazard)
    return (
        f"{who} and {whom} both write {hazard.element}, in any order, and only the last number stays; which function "
        "adds to an element, so that threads take turns?"
    )


def _summed_by(answer: Answer, hazard: Hazard) -> str | None:
    """Return the function that gave one thread of a block the sum that others store as well; else None."""
    if hazard.function != answer.program.name or hazard.threads[0].block != hazard.threads[1].block:
        return None
    return lanes.summed_by(answer.program.tree, hazard.array, (hazard.line, hazard.other_line), _SUMS)


def _belongs_to_one(answer: Answer, trial: Trial, profile: KernelProfile, hazard: Hazard) -> str:
    """Say that two threads write the same element, and ask about the likely reason."""
    both = sorted(hazard.threads, key=lambda thread: thread_number(profile, thread))
    names = " and ".join(map(str, both))
    said = f"{names} both write {hazard.element}"
    question = "which element is this thread's own?"
    if hazard.function == answer.program.name:
        stores = lanes.stores(answer.program.tree, hazard.array, (hazard.line, hazard.other_line))
        other_block = hazard.threads[0].block != hazard.threads[1].block
        for store in stores:
            more = trial.arrays[hazard.array].size > prod(profile.grid)
            of_block = more and not other_block and outside.counts_blocks(answer, hazard)
            if of_block and not store.loop and not store.own_index:
                return f"{said}: in all threads of a block the index is the same; it must use cuda.threadIdx.x, too"
            if not store.loop and not store.own_index and not store.own_value:
                return f"{said}: every thread runs this line; let only one do it"
        if stores:
            number = lanes.number_of_thread(answer.program.tree)
            unused = number if stores[0].loop and not stores[0].own_index else None
            question = f"no index uses {unused}" if unused else _question(stores[0], other_block)
    return f"{said}, and each element should belong to one thread: {question}"


def _question(store: lanes.Store, other_block: bool) -> str:
    if store.loop is None:
        if other_block and store.own_index:
            return f"does {store.index} count the threads of the blocks before?"
        return "which element is this thread's own?"
    if other_block and "," in store.index:
        return "which part of the loop belongs to this block?"
    numbers = store.loop.iter.args
    if len(numbers) == 1 or (len(numbers) == 2 and not store.own_start):
        return "is the loop needed, and if so, where must each thread begin, and how far must it jump?"
    if not store.own_start:
        return "where must each thread begin?"
    if len(numbers) == 3 and other_block:
        return "do the loop's first number and its jump count the threads of all blocks?"
    return "how far must the loop jump?"
