"""A sketch of a run sends one thread through both sides of every branch, without touching memory.

Where two branches meet, Numba gives each variable one type, even if no thread ever takes one of the branches. The
sketch finds these types before the run. It repeats each loop until the types no longer change. It also visits every
construct of the kernel, so the interpreter refuses an unsupported construct before it writes anything to memory.
"""

from dataclasses import replace
from functools import reduce
from math import gcd
from typing import NamedTuple

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.front.instead import refusal
from course_pkg.simt.front.typing import INT64, unify
from course_pkg.simt.memory.regions import Array, Arrays
from course_pkg.simt.run.constructs import at_its_place, unsupported
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.values import Range, Sequence, Torn, TypeName, Value, Variable, layout_of


class Sketched(NamedTuple):
    """What a sketch found.

    Attributes
    ----------
    types : dict
        The type of each of the kernel's variables where two branches meet.
    stored : set of str
        Names of the arrays that the kernel may write to.
    narrowest : dict
        For each array that has views of smaller elements, the bytes of the smallest ones.
    in_parts : bool
        Whether anything other than barriers of whole blocks or whole warps may put the threads in order.
    added : frozenset of int
        The sizes of constant integers that atomics take.
    fetches : bool
        Whether the kernel uses what atomics find, or exchanges numbers.
    by_data : bool
        Whether elements of arrays decide which barriers threads come to.
    waits : bool
        Whether a loop may wait for what other threads do.
    """

    types: dict
    stored: set
    narrowest: dict
    in_parts: bool
    added: frozenset
    fetches: bool
    by_data: bool
    waits: bool

    @classmethod
    def of(cls, run, by_data: bool, waits: bool) -> "Sketched":
        """Return what the sketch of a run found."""
        added = frozenset(run.added)
        return cls(run.types, run.stored, run.narrowest, run.in_parts, added, run.fetches, by_data, waits)


def widen(run, frame, node) -> None:
    """Convert the variables to the types that the sketch found for this place, where two branches meet."""
    for name, numba_type in run.types.get((run.path, id(node)), {}).items():
        variable = frame.variables.get(name)
        if variable is None or not isinstance(variable.value, Value) or variable.value.type is numba_type:
            continue
        if variable.value.type != numba_type:
            frame.variables[name] = Variable(cast(run, variable.value, numba_type), variable.mask)


def sketch_if(run, frame, node, mask, execute):
    """Run both branches, and record the types that their variables have afterwards."""
    before = frame.variables
    ends = []
    for body in (node.body, node.orelse):
        frame.variables = dict(before)
        if execute(run, frame, body, mask):
            ends.append(frame.variables)
    if not ends:
        return run.wave.nobody
    frame.variables = joined(run, frame, node, ends)
    record(run, frame, node)
    return mask


def joined(run, frame, node, ways: list) -> dict:
    """Return the variables after branches meet: all that any branch has, each with a type that fits all branches."""
    found: dict = {}
    for variables in ways:
        for name, variable in variables.items():
            if name not in found:
                found[name] = variable
            else:
                value = _common(run, frame, node, name, found[name].value, variable.value)
                found[name] = Variable(value, None)
    return found


def _common(run, frame, node, name, a, b):
    if isinstance(a, Value) and isinstance(b, Value):
        if a.type == b.type:
            return a if a.key == b.key else run.blank(a.type)
        try:
            return run.blank(unify(a.type, b.type))
        except Unsupported as error:
            raise at_its_place(frame, node, error, name) from None
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return rebuilt(a, (_common(run, frame, node, name, x, y) for x, y in zip(a, b, strict=True)))
    if isinstance(a, Torn) or isinstance(b, Torn):
        return a if isinstance(a, Torn) else b
    try:
        return any_of(run, (a, b))
    except Unsupported as error:
        return Torn(error)


def any_of(run, things):
    """Return one object that represents any of several objects, such as one array for arrays of the same type.

    Raises
    ------
    Unsupported
        If Numba finds no type that fits all of them.
    """
    first, *rest = [t for t in things if t is not None] or [None]
    if isinstance(first, Value) and all(isinstance(t, Value) for t in rest):
        return run.blank(reduce(unify, (t.type for t in rest), first.type))
    if isinstance(first, tuple) and all(isinstance(t, tuple) and len(t) == len(first) for t in rest):
        return rebuilt(first, (any_of(run, parts) for parts in zip(first, *rest, strict=True)))
    if isinstance(first, Array) and all(isinstance(t, Array) and _alike(t, first) for t in rest):
        if not rest:
            return first
        extents = zip(*(t.shape for t in (first, *rest)), strict=True)
        shape = tuple(one[0] if len({n.key for n in one}) == 1 else run.blank(INT64) for one in extents)
        return replace(first, shape=shape, others=names_of(first).union(*map(names_of, rest)))
    if all(t is first or _same(t, first) for t in rest):
        return first
    if isinstance(first, Sequence) and all(type(t) is type(first) for t in rest):
        things = (first, *rest)
        return type(first)(*(any_of(run, [getattr(t, part) for t in things]) for part in first.parts))
    raise Unsupported.of(
        refusal(
            "a choice between things of different types, or between functions,",
            "give each its own name, or write if and else around its uses",
            compiled=True,
        )
    )


def of_one_type(values: tuple) -> bool:
    """Return whether all items of a tuple have the same type in Numba. If so, its index may be a variable."""
    first = values[0] if values else None
    if isinstance(first, Value):
        return all(isinstance(v, Value) and v.type == first.type for v in values)
    if isinstance(first, Arrays):
        return all(isinstance(v, Arrays) and _alike(v, first) for v in values)
    if isinstance(first, tuple):
        alike = all(isinstance(v, tuple) and len(v) == len(first) for v in values)
        return alike and all(map(of_one_type, zip(*values, strict=True)))
    return not values or all(v is first for v in values)


def require_one_layout(run, frame, node, values: tuple, what: str, way: str) -> None:
    """Refuse, in a sketch, a tuple whose arrays lie differently in memory: Numba knows no type of all its items.

    An array that may be one of several has the layout that fits all of them, which is not known here.
    """
    if not run.dry or not values:
        return
    if isinstance(values[0], tuple):
        for one in zip(*values, strict=True):
            require_one_layout(run, frame, node, one, what, way)
    arrays = [v for v in values if isinstance(v, Array)]
    if all(map(_has_known_layout, arrays)) and len({layout_of(v) for v in arrays}) > 1:
        raise unsupported(
            frame, node, f"{what} a tuple whose arrays lie differently in memory, such as x and y[::2],", way
        )


def _has_known_layout(array: Array) -> bool:
    """Return whether a sketch knows the layout of an array; not of one that may be several, or that was reshaped."""
    extents_known = array.ndim == 1 or all(n.data.all() for n in array.shape)
    return not array.others and extents_known and 0 not in array.strides


def _alike(one: Arrays, other: Arrays) -> bool:
    return (one.type, one.ndim) == (other.type, other.ndim)


def _same(one, other) -> bool:
    """Return whether two objects represent the same function, type or member of a module, or are both ranges."""
    if type(one) is not type(other) or isinstance(one, (Value, Array, tuple)):
        return False
    if isinstance(one, Range):
        return True
    what = "type" if isinstance(one, TypeName) else "name"
    return getattr(one, what, one) == getattr(other, what, other)


def note_store(run, array: Array) -> None:
    """Record that the kernel may write to an array, and to all arrays that it may stand for."""
    run.stored |= names_of(array)


def note_view(run, array: Array, nbytes: int) -> None:
    """Record that the kernel sees an array, or any that it may stand for, as elements of ``nbytes`` bytes."""
    for name in names_of(array):
        run.narrowest[name] = gcd(run.narrowest.get(name, nbytes), nbytes)


def names_of(array: Array) -> frozenset:
    """Return the names of all arrays that an array may stand for; or the place where the kernel makes it."""
    return array.others | {array.region.place or array.name}


def record(run, frame, node) -> None:
    values = {n: v.value for n, v in frame.variables.items()}
    run.types[run.path, id(node)] = {n: v.type for n, v in values.items() if isinstance(v, Value)}
