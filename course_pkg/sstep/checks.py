"""Checks of arguments, shared by the files of this topic."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_ndim, require_shape

MOST = 32  # largest s: one vector for each lane of a warp
MOST_ELEMENTS = 2**32  # largest number of elements of a block: offsets are unsigned numbers of 32 bits


def check_s(s) -> int:
    """Return s as an int; raise unless it is 1 to 32.

    Examples
    --------
    >>> check_s(0)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: s is 0: a pass does the work of 1 to 32 iterations.
    """
    whole = isinstance(s, (int, np.integer)) and not isinstance(s, bool)
    if not whole or not 1 <= s <= MOST:
        raise CourseError(f"s is {s!r}: a pass does the work of 1 to {MOST} iterations.")
    return int(s)


def check_recurrence(previous, current, product, out, *, device: bool) -> None:
    """Check that the vectors of a recurrence share memory space, precision and shape."""
    require_arrays(device=device, previous=previous, current=current, product=product, out=out)


def check_block(block, r, *, device: bool, **others) -> int:
    """Check that blocks have one shape (2 s, n) and that vectors have n elements; return s.

    Examples
    --------
    >>> check_block(np.ones((4, 5)), np.ones(5), device=False)
    2
    >>> check_block(np.ones((3, 5)), np.ones(5), device=False)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: A block has shape (3, 5): it holds s vectors and, after them, their s products.
    """
    blocks = {"block": block, **{k: a for k, a in others.items() if k not in ("x",)}}
    vectors = {"r": r, **{k: a for k, a in others.items() if k == "x"}}
    require_arrays(device=device, **blocks)
    require_ndim(2, block=block)
    rows, n = block.shape
    if rows % 2:
        raise CourseError(
            f"A block has shape {block.shape}: it holds s vectors and, after them, their s products."
        )
    check_s(rows // 2)
    require_arrays(device=device, dtypes=(np.dtype(block.dtype).name,), **vectors)
    require_shape((n,), **vectors)
    if rows * n >= MOST_ELEMENTS:
        raise CourseError(
            f"A block has {rows * n} numbers, but 32-bit offsets reach fewer than {MOST_ELEMENTS}: choose a smaller s."
        )
    return rows // 2


def check_moments(block, r, out, *, device: bool) -> int:
    """Check the block and r, and check that ``out`` is float64 and has room for 2 s + 1 sums; return s."""
    s = check_block(block, r, device=device)
    require_arrays(device=device, dtypes=("float64",), out=out)
    require_shape((2 * s + 1,), out=out)
    return s


def check_gram(old, fresh, r, out, *, device: bool) -> int:
    """Check the blocks and r, and check that ``out`` is float64 and has the right shape; return s."""
    s = check_block(fresh, r, device=device, **({} if old is None else {"old": old}))
    m = s if old is None else 2 * s
    require_arrays(device=device, dtypes=("float64",), out=out)
    require_shape((m + 1, m + 1), out=out)
    return s


def check_small(s: int, *, device: bool, **arrays) -> None:
    """Check that the coefficients for s vectors are float64 and have the right shapes.

    Examples
    --------
    >>> check_small(2, device=False, alpha=np.ones(2), C=np.ones((4, 2)))
    """
    shapes = {"alpha": (s,), "beta": (s, s), "a": (2 * s,), "C": (2 * s, s)}
    for name, array in arrays.items():
        require_arrays(device=device, dtypes=("float64",), **{name: array})
        require_shape(shapes[name], **{name: array})
