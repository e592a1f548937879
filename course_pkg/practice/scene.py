"""Make the picture of an attempt: which thread touched which elements, and which results are right."""

from math import prod

import numpy as np

from course_pkg.core.access import Touches
from course_pkg.practice.attempt import Outcome
from course_pkg.practice.hazards import thread_number, worst_of
from course_pkg.practice.step import RESULT, Step, Trial
from course_pkg.practice.verdict import unwritten_elements, wrong_elements
from course_pkg.simt import KernelProfile
from course_pkg.simt.report.touches import touches
from course_pkg.viz import Picture, access_strip, deeds_picture
from course_pkg.viz.threads import threads_picture
from course_pkg.viz.threads_layout import fits
from course_pkg.viz.threads_scene import Cells, Link, Scene


def picture(step: Step, trial: Trial, outcome: Outcome) -> Picture | None:
    """Return the picture of the last launch, or of what ranks did; None if nothing was launched or it is too large."""
    if any(outcome.done):
        return deeds_picture({f"rank {rank}": done for rank, done in enumerate(outcome.done)})
    if not outcome.profiles:
        return None
    scene = scene_of(step, trial, outcome)
    return threads_picture(scene, _alt(scene)) if fits(scene) else None


def strip(step: Step, outcome: Outcome) -> Picture | None:
    """Return the access strip of the request with most sectors or wavefronts, or None if the step limits neither."""
    words = {name.rpartition(".")[2] for name in step.limits}
    if not outcome.profiles or not words & {"sectors", "wavefronts", "bank_conflicts"}:
        return None
    spaces = {name.partition("_")[0] for name in step.limits}
    profile = outcome.profiles[-1]
    lines = dict.fromkeys(site.where for site in profile.sites)
    found = [a for line in lines for a in profile.accesses(line) if a.space in spaces]
    return access_strip(max(found, key=lambda a: max(a.sectors, a.wavefronts))) if found else None


def scene_of(step: Step, trial: Trial, outcome: Outcome) -> Scene:
    """Return the threads and arrays of the last launch, and a link for each access."""
    profile, held = outcome.profiles[-1], outcome.held[-1]
    found = touches(profile)
    size = prod(profile.block)
    arrays = [
        *(_global(step, trial, name, array, found, profile) for name, array in held.items()),
        *_shared(found, prod(profile.grid)),
    ]
    links = [
        Link(int(b) * size + int(t), touch.array, int(e), touch.kind)
        for touch in found
        for b, t, e in zip(touch.block, touch.thread, touch.element, strict=True)
        if touch.space == "global" or b == 0
    ]
    astray = frozenset(
        thread_number(profile, thread)
        for h in profile.hazards
        if h.kind == "out_of_bounds"
        for thread in (*h.threads, *h.alike)
    )
    shown = _shown(profile, arrays, links)
    return Scene(profile.grid, profile.block, tuple(arrays), tuple(links), shown, astray)


def _global(step, trial, name, array, found: list[Touches], profile: KernelProfile) -> Cells:
    mine = [t for t in found if t.array == name and t.space == "global"]
    expected = trial.expected.get(name)
    if expected is None and any(t.kind != "load" for t in mine):
        expected = trial.expected.get(RESULT)
    texts = tuple(map(_text, array.reshape(-1).tolist()))
    shape = array.shape or (1,)
    if not isinstance(expected, np.ndarray) or expected.shape != array.shape:
        return Cells(name, shape, texts, _touched(mine, array.size), "above")
    states = np.where(wrong_elements(array, expected, step.rtol), "wrong", "right").astype(object)
    states[unwritten_elements(array, expected)] = "nobody"
    texts = tuple("?" if state == "nobody" else t for t, state in zip(texts, states.flat, strict=True))
    flat = states.reshape(-1)
    if any(h.kind == "race" and h.array == name for h in profile.hazards):
        flat[_written_twice(mine)] = "two"
    return Cells(name, shape, texts, tuple(flat), "below")


def _shared(found: list[Touches], blocks: int) -> list[Cells]:
    """Return the shared arrays of the first block; they show indices, because a profile does not keep their values."""
    shapes = {t.array: t.shape for t in found if t.space == "shared"}
    made = []
    for name, shape in shapes.items():
        mine = [t for t in found if t.array == name and t.space == "shared"]
        size = prod(shape)
        texts = tuple(map(str, range(size)))
        title = f"{name}: shared memory of block 0{' alone' * (blocks > 1)}, by index"
        made.append(Cells(name, shape, texts, _touched(mine, size), "shared", title))
    return made


def _touched(mine: list[Touches], size: int) -> tuple[str, ...]:
    states = np.full(size, "idle", object)
    for touch in mine:
        states[touch.element] = "read"
    return tuple(states)


def _written_twice(mine: list[Touches]) -> list[int]:
    """Return the elements that more than one thread writes."""
    writers: dict[int, set] = {}
    for touch in mine:
        if touch.kind == "store":
            for b, t, e in zip(touch.block, touch.thread, touch.element, strict=True):
                writers.setdefault(int(e), set()).add((int(b), int(t)))
    return [element for element, who in writers.items() if len(who) > 1]


def _shown(profile, arrays, links) -> frozenset[int]:
    """Return the threads that the picture shows at first: those at fault, or else the first that accesses memory."""
    worst = worst_of(profile)
    if worst is not None:  # the verdict names these threads
        return frozenset(thread_number(profile, thread) for thread in worst.threads)
    bad = {(a.name, e) for a in arrays for e, state in enumerate(a.states) if state in ("wrong", "two")}
    if bad:
        array, element = min(bad, key=lambda place: place[1])
        touching = {k.thread for k in links if (k.array, k.element) == (array, element) and k.kind != "load"}
        if touching:
            return frozenset(sorted(touching)[:4])
    return frozenset([min(k.thread for k in links)] if links else [])


def _text(value) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return str(value) if not isinstance(value, complex) else f"{value:.2g}"


def _alt(scene: Scene) -> str:
    blocks, threads = prod(scene.grid), prod(scene.block)
    many = f"{blocks} block{'s' * (blocks != 1)} of {threads} thread{'s' * (threads != 1)}"
    said = []
    words = {
        "right": "right",
        "wrong": "wrong",
        "nobody": "written by nobody",
        "two": "written by two at once",
    }
    for array in scene.arrays:
        counts = {word: array.states.count(state) for state, word in words.items() if state in array.states}
        if counts:
            said.append(f"{array.name}: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
        else:
            said.append(
                f"{array.name}: {len(array.states) - array.states.count('idle')} of {len(array.states)} touched"
            )
    return f"{many}. {'. '.join(said)}."
