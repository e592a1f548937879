"""Find measurements by the names that people use: function, variant or operation, and size, number type and library.

Programs do not need this module, because they can pass the implementation itself. The ways to name a measurement are
tried one after the other, and the first that finds any measurement decides.
"""

import difflib
import re
from collections.abc import Iterable, Iterator

import numpy as np

from course_pkg.bench.measurement import Measurement, matching
from course_pkg.core import CourseError, Implementation, Variant
from course_pkg.core.units import format_size

_DTYPES = {"fp64": "float64", "double": "float64", "fp32": "float32", "single": "float32", "float": "float32"}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SIZES = ("n", "shape")


def function_name(m: Measurement) -> str:
    """Return the name of the function that was measured, such as ``laplacian_tiled``, without its library."""
    return "_".join(word for word in (m.operation, m.variant) if word)


def find(
    measurements: Iterable[Measurement],
    what: str | Implementation | Variant | None,
    *,
    size=None,
    dtype=None,
    library: str | None = None,
    whole_operation: bool = False,
    **parameters,
) -> list[Measurement]:
    """Return the measurements that a name and other properties describe, in their original order.

    Parameters
    ----------
    what : str or Implementation or Variant or None
        A string is the name of a function (``"laplacian_tiled"``), a label of a table, a variant (``"tiled"``), an
        operation (``"laplacian"``), or words of a function's name (``"marching tiled"``); None means all.
    size : int or str or tuple of int
        Points along each edge of a grid, or numbers of a vector: ``512``, ``"512^3"``, ``(512, 512, 512)``, ``"2^30"``.
    dtype : str or numpy.dtype
        ``"fp64"`` and ``"double"`` mean ``"float64"``.
    library : str
        Its name or a word of it: ``"CUDA"``.
    whole_operation : bool
        If a function has the name of its operation, select all variants of the operation.
    **parameters
        Other parameters; with the value None, measurements without that parameter are selected.

    Raises
    ------
    CourseError
        If no measurement has these properties; the message lists the values that exist.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> a = np.ones(8)
    >>> runs = [measure(np.copyto, a[:n], a[:n], name="copy", parameters={"n": n}, samples=2) for n in (4, 8)]
    >>> [m.parameters for m in find(runs, "copy", size="2^3")]
    [{'n': 8}]
    """
    measurements = list(measurements)
    named = _named(measurements, what, library, whole_operation)
    if not named:
        raise CourseError(_no_such_name(measurements, what))
    chosen = named if library is None else [m for m in named if m.library in _libraries(named, library)]
    if size is not None:
        edges = parse_size(size)
        chosen = [m for m in chosen if _has_size(m, edges)]
    wanted = {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()}
    if dtype is not None:
        wanted["dtype"] = dtype
    chosen = [m for m in chosen if all(_agree(k, m.parameters.get(k), v) for k, v in wanted.items())]
    if not chosen:
        asked = {"library": library, "size": size, "dtype": dtype}
        given = {k: v for k, v in asked.items() if v is not None} | parameters
        raise CourseError(_no_such_parameters(named, what, given))
    return chosen


def parse_size(size) -> tuple[int, ...]:
    """Return a size as a tuple: one number for a vector or a cube, several for the edges of a grid.

    Raises
    ------
    CourseError
        If it is not a size.

    Examples
    --------
    >>> parse_size("512³"), parse_size("16384x16384"), parse_size("2^30")
    ((512, 512, 512), (16384, 16384), (1073741824,))
    """
    if not isinstance(size, str):
        return tuple(map(int, size)) if isinstance(size, Iterable) else (int(size),)
    text = re.sub(r"(?<=\d)([⁰¹²³⁴-⁹]+)", r"^\1", size).translate(_SUPERSCRIPT)
    power = re.fullmatch(r"\s*(\d+)\s*(?:\^|\*\*)\s*(\d+)\s*", text)
    if power:
        base, exponent = map(int, power.groups())
        return (base,) * exponent if exponent in (2, 3) and base > 10 else (base**exponent,)
    if not re.fullmatch(r"\s*\d+(\s*[x×,]\s*\d+)*\s*", text):
        raise CourseError(f"{size!r} is no size: write 512, 512^3, 16384x16384 or 2^30.")
    return tuple(int(edge) for edge in re.findall(r"\d+", text))


def describe(m: Measurement) -> str:
    """Return the size and other parameters of a measurement as text for people; double precision is not mentioned.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> parameters = {"shape": [8, 8, 8], "dtype": "float32", "padding": 1}
    >>> describe(measure(np.copyto, np.empty(8), np.ones(8), parameters=parameters, samples=2))
    '8³, float32, padding=1'
    """
    return ", ".join(filter(None, [size_of(m), settings_of(m)]))


def settings_of(m: Measurement) -> str:
    """Return the parameters of a measurement other than its size, as text; double precision is not mentioned.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> parameters = {"shape": [8, 8, 8], "dtype": "float64", "padding": 1}
    >>> settings_of(measure(np.copyto, np.empty(8), np.ones(8), parameters=parameters, samples=2))
    'padding=1'
    """
    dtype = [d for d in [m.parameters.get("dtype", "float64")] if d != "float64"]
    return ", ".join([*dtype, *(f"{k}={v}" for k, v in m.parameters.items() if k not in (*_SIZES, "dtype"))])


def size_of(m: Measurement) -> str:
    """Return the size of what was measured, as :func:`parse_size` reads it; empty if it has none."""
    return next((format_size(m.parameters[k]) for k in _SIZES if k in m.parameters), "")


def _named(measurements, what, library, whole_operation) -> list[Measurement]:
    if what is None:
        return measurements
    if isinstance(what, Variant) and library is not None:
        return [m for m in measurements if (m.operation, m.variant) == (what.operation, what.name)]
    if not isinstance(what, str):
        return matching(measurements, what)
    wanted = _key(what)
    words = set(wanted.split("_"))
    ways = [
        lambda m: _key(function_name(m)) == wanted,
        lambda m: _key(m.label) == wanted,
        lambda m: _key(m.variant) == wanted,
        lambda m: _key(m.operation) == wanted,
        lambda m: words <= set(_key(function_name(m)).split("_")),
    ]
    if whole_operation:
        ways.insert(0, ways.pop(3))
    found = ([m for m in measurements if way(m)] for way in ways)
    return next(filter(None, found), [])


def _libraries(measurements, library) -> set[str]:
    """Return the libraries that have this name, or whose names contain all words of it."""
    there = {m.library for m in measurements}
    words = set(_key(library).split("_"))
    same = {name for name in there if _key(name) == _key(library)}
    return same or {name for name in there if words <= set(_key(name).split("_"))}


def _has_size(m, edges) -> bool:
    own = tuple(m.parameters.get("shape", [m.parameters.get("n")]))
    return own == edges or (len(edges) == 1 and set(own) == set(edges))


def _agree(name, found, wanted) -> bool:
    return found == wanted or (name == "dtype" and _dtype(found) == _dtype(wanted))


def _dtype(name) -> str:
    try:
        return np.dtype(_DTYPES.get(name, name)).name
    except TypeError:
        return str(name)


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _label(what) -> str:
    if what is None:
        return "anything"
    return what if isinstance(what, str) else getattr(what, "label", None) or what.function_name


def _no_such_name(measurements, what) -> str:
    by_name, label = isinstance(what, str), _label(what)
    there = dict.fromkeys((function_name(m) if by_name else m.label) for m in measurements)
    near = difflib.get_close_matches(_key(label) if by_name else label, there, n=3)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return f"There is no recorded measurement of {label!r}{hint}; there are: {'; '.join(sorted(there))}."


def _no_such_parameters(named, what, asked) -> str:
    there = "; ".join(f"{name} {', '.join(values)}" for name, values in _values(named))
    pairs = ", ".join(f"{k}={v!r}" for k, v in asked.items())
    return f"There is no recorded measurement of {_label(what)!r} with {pairs}; there are: {there}."


def _values(measurements) -> Iterator[tuple[str, list[str]]]:
    """Yield each property of some measurements, with the values that occur."""
    yield "library", list(dict.fromkeys(m.library or "none" for m in measurements))
    yield "size", list(dict.fromkeys(size_of(m) or "none" for m in measurements))
    for name in dict.fromkeys(k for m in measurements for k in m.parameters if k not in _SIZES):
        yield name, list(dict.fromkeys(str(m.parameters.get(name)) for m in measurements))
