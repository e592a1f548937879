"""Hazards in the words of exercises: what is wrong, without values, and what to do about it."""

from dataclasses import replace

from course_pkg.simt.memory.hazard import OTHER_DATA

GUARD = "guard the access, so that threads without an element do nothing"
ALL_COME = "Let all threads of the block come to each barrier"
HAZARDS = {
    "race": "different threads touch one element, at least one of them writes it, and no barrier puts them in order",
    "missing_syncwarp": "threads of one warp exchange elements without a cuda.syncwarp() or cuda.syncthreads() between "
    "the two accesses",
    "divergent_barrier": "some threads of a block never reach a barrier at which others wait",
    "out_of_bounds": f"a thread uses an index outside its array; {GUARD}",
    "negative_index": "a thread uses a negative index, which counts from the end of the array: probably a mistake",
    "uninitialised": "a thread reads an element of shared or local memory before any thread has written it",
    "absent_lane": "a thread takes a value from a lane of its warp that does not take part, and uses it",
    "skipped_barrier": "some threads of a block end without coming to a barrier at which the others wait; let all "
    "threads of the block come to each barrier",
    "same_value": "different threads write the same constant to one element",
    "unused_read": "a thread reads an element of shared or local memory that no thread has written, but does not use "
    "what it finds there",
    "unset_variable": "a thread reads a variable that only other threads, or other branches, have set",
    "packed_record": "fields of records are accessed byte by byte, because their type was made without align=True",
    "lost_store": "a result is stored in an argument that is a number, of which each thread has a copy of its own",
}


def of_hazard(hazard) -> str:
    """Return a sentence on the kind of a hazard, without line, array, thread and index."""
    what = HAZARDS.get(hazard.kind, "threads disturb each other")
    return f"In one of the launches, {what}."


def advised(hazard):
    """Return a hazard whose sentence also says what to do about it."""
    if hazard.kind == "skipped_barrier":
        return replace(hazard, rest=f"{hazard.rest} {ALL_COME}.")
    if hazard.kind == "out_of_bounds":
        return replace(hazard, rest=f": {OTHER_DATA}; {GUARD}.")
    return hazard
