"""Checks for the tests of exercises, both in a learner's notebook and in the judge.

``check.rng()`` draws inputs. The other functions raise :class:`Failed`, which describes the fault in two ways: by a
message with values, for visible tests, and by a verdict without values, for hidden tests. :func:`explained`,
of :mod:`.explain`, says which line of a kernel is the cause.
"""

import numpy as np

from course_pkg.core.access import SECTOR_BYTES
from course_pkg.core.checks import unwritten
from course_pkg.grading import causes
from course_pkg.grading.draws import rng, seed, seeded
from course_pkg.grading.explain import PROFILES, Failed, explained
from course_pkg.grading.hazard_words import advised, of_hazard
from course_pkg.grading.limits import bounds
from course_pkg.grading.orders import again_in_doubt, in_each_order

__all__ = [
    "Failed",
    "Out",
    "again_in_doubt",
    "at_most",
    "close",
    "explained",
    "in_each_order",
    "no_hazards",
    "out",
    "passed",
    "rng",
    "sectors",
    "seed",
    "that",
    "using",
]


class Out(np.ndarray):
    """An array to which an answer has to write; :func:`out` makes it."""


def out(shape, dtype="float64") -> Out:
    """Return an array for the result of an answer; unwritten elements are NaN, or an unlikely integer.

    A learner's function may write only to such arrays: if it changes another argument, the test fails.

    Examples
    --------
    >>> out((2,)), out(2, "int32")
    (Out([nan, nan]), Out([85, 85], dtype=int32))
    """
    return unwritten(shape, dtype).view(Out)


def passed(points: float) -> None:
    """Print the points of a test that has come to its end; the judge, which says so itself, prints nothing.

    Examples
    --------
    >>> passed(1)
    ✓ 1 of 1 point
    >>> passed(2)
    ✓ 2 of 2 points
    """
    if not seeded():
        print(f"✓ {points:g} of {points:g} point{'s' * (points != 1)}")


def that(condition, message: str) -> None:
    """Check a condition; a hidden test shows the message only if the message is one of the exercise's strings.

    Examples
    --------
    >>> that(1 + 1 == 3, "The sum is wrong.")
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: The sum is wrong.
    """
    if not condition:
        raise Failed(message, message)


def close(found, expected, what: str, *, rtol: float = 1e-12, atol: float = 0.0) -> None:
    """Check that numbers or arrays agree in value and shape.

    Parameters
    ----------
    found : array_like
        The learner's result.
    expected : array_like
        The right result. Where it is NaN, ``found`` must be NaN, too.
    what : str
        Name of what is compared, without values: ``"the triad in single precision"``.
    rtol, atol : float
        ``|found - expected| <= atol + rtol |expected|``.

    Examples
    --------
    >>> close([1.0, 2.5], [1.0, 2.0], "the triad")
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: the triad: 1 of 2 elements are wrong; at [1] found 2.5, expected 2.
    """
    expected = np.asarray(expected)
    array = _numbers(found, what)
    if array.shape != expected.shape:
        kind = "a single number" if expected.ndim == 0 else f"an array of {expected.ndim} dimension(s)"
        raise Failed(
            f"{what}: found the shape {array.shape} and expected {expected.shape}.",
            what,
            f": expected {kind} of another shape.",
        )
    wrong = ~np.isclose(array, expected, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return
    if expected.ndim == 0:
        raise Failed(
            f"{what}: found {array.item():.10g}, expected {expected.item():.10g}.", what, " is wrong."
        )
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    missing = np.isnan(array[wrong]) & ~np.isnan(expected[wrong])
    why = " (nan: if a kernel computes it, no thread has written it, or one has only added to it)"
    raise Failed(
        f"{what}: {int(wrong.sum())} of {wrong.size} elements are wrong; at {list(at)} found {array[at]:.10g}, "
        f"expected {expected[at]:.10g}{why if missing.any() and np.isnan(array[at]) else ''}.",
        what,
        f": some elements are wrong{' or were written by no thread' if missing.any() else ''}.",
    )


def using(function, **kernels):
    """Return a learner's function with other kernels in place of those that it launches.

    So a test can find out whether the function launches its kernel or computes the result by itself.

    Parameters
    ----------
    function : callable
    **kernels : kernel
        The replacement for each kernel, by the kernel's name in the answer. A replacement is a kernel of the exercise
        or of the test; answers do not know the latter.

    Examples
    --------
    >>> names = {"kernel": print, "other": repr}
    >>> exec("def f(x):\\n    return kernel(x)", names)
    >>> using(names["f"], kernel=names["other"])(1)
    '1'
    """
    if hasattr(function, "using"):  # in the judge, the function is in the sandbox
        return function.using(kernels)

    def changed(*args, **kwargs):
        __tracebackhide__ = (
            True  # in any notebook, an error of the learner's function is shown without this one
        )
        names = function.__globals__
        before = {name: names[name] for name in kernels}
        names.update({name: _InPlaceOf(before[name], kernel) for name, kernel in kernels.items()})
        try:
            return function(*args, **kwargs)
        finally:
            names.update(before)

    return changed


class _InPlaceOf:
    """A kernel with the name and the repr of the kernel that it replaces, so that neither tells an answer about it."""

    def __init__(self, own, kernel):
        self.__name__, self.__doc__ = getattr(own, "__name__", ""), getattr(own, "__doc__", None)
        self._kernel, self._text = kernel, repr(own)

    def __repr__(self):
        return self._text

    def __getitem__(self, configuration):
        return self._kernel[configuration]

    def __call__(self, *args, **kwargs):
        return self._kernel(*args, **kwargs)

    def forall(self, *args, **kwargs):
        """Return a launch of at least as many threads as are asked for."""
        return self._kernel.forall(*args, **kwargs)


def no_hazards(profile, *, notes: bool = False) -> None:
    """Check that a profile has no hazard: race, wrong index, divergent barrier or read of unwritten memory.

    Parameters
    ----------
    profile : KernelProfile
    notes : bool
        Whether notes fail the test, too; a note is about something that looks like a hazard but does no harm.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import sum_kernel
    >>> no_hazards(simt.profile(sum_kernel[1, 256], np.ones(256), np.empty(1)))
    >>> no_hazards(simt.profile(sum_kernel[2, 256], np.ones(256), np.empty(1)))  # two blocks, one result
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: sum_kernel, line ... but blocks of one launch run in any order: ...
    """
    PROFILES.get([]).append(profile)
    found = [*profile.hazards, *(profile.notes if notes else ())]
    if found:
        first = advised(found[0])
        raise Failed(str(first), verdict=of_hazard(first), hazard=first)


def at_most(profile, limits: dict, *, compulsory: dict) -> None:
    """Check counters against limits; counters without a limit are bounded, too: see :mod:`.limits`.

    Parameters
    ----------
    profile : KernelProfile
    limits : dict of str to float
        The largest ratio of a counter to what is needed: ``{"global_load.sectors": 1.15}``. The names are those of the
        profile, such as ``"flops.total"`` or ``"flops.float64.add"``.
    compulsory : dict of str to float
        The counts that are needed, by the same names. If a count is 0, nothing is allowed, whatever the limit.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> profile = simt.profile(copy_kernel[1, 32], np.ones(32), np.empty(32))
    >>> at_most(profile, {"global_load.sectors": 1.15}, compulsory={"global_load.sectors": sectors(32)})
    >>> at_most(profile, {"global_load.sectors": 1.15}, compulsory={"global_load.sectors": sectors(16)})
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: copy_kernel needs 4 global load sectors and makes 8, 2.0×; 1.15× is allowed.
    """
    for bound in bounds(profile, limits, compulsory):
        if bound.kept:
            continue
        words, why = bound.words, causes.why(profile, bound)
        if not bound.needed:
            raise Failed(
                f"{profile.kernel} needs no {words} and makes {bound.found:,.0f}{why}; none is allowed.",
                verdict=f"The kernel makes {words} and needs none.",
            )
        raise Failed(
            f"{profile.kernel} needs {bound.needed:,.0f} {words} and makes {bound.found:,.0f}, {bound.times}{why}; "
            f"{bound.limit:g}× is allowed.",
            verdict=f"The kernel makes more {words} than its limit allows.",
        )


def _numbers(found, what: str) -> np.ndarray:
    if hasattr(found, "copy_to_host"):
        raise Failed(
            f"{what}: got an array in GPU memory; copy it to the host, `array.copy_to_host()`.",
            what,
            ": got an array in GPU memory, and expected one of the host.",
        )
    try:
        array = np.asarray(found)
    except (ValueError, TypeError):
        array = np.asarray(None)
    if array.dtype.kind not in "biufc":
        got = "nothing (None)" if found is None else f"a {type(found).__name__}"
        wanted = ": expected a number or an array of numbers"
        raise Failed(f"{what}{wanted}, and got {got}.", what, f"{wanted}.")
    return array


def sectors(elements: int, dtype="float64") -> float:
    """Return the smallest number of 32-byte sectors that contain this number of elements.

    Examples
    --------
    >>> sectors(1024), sectors(1024, "float32")
    (256.0, 128.0)
    """
    return elements * np.dtype(dtype).itemsize / SECTOR_BYTES
