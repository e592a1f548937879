"""A sketch of a run sends one thread through both sides of every branch, without touching memory.

Where two branches meet, Numba gives each variable one type, even if no thread ever takes one of the branches. The
sketch finds these types before the run. It repeats each loop until the types no longer change. It also visits every
construct of the kernel, so the interpreter refuses an unsupported construct before it writes anything to memory.
"""

import ast
from dataclasses import replace
from functools import cache, reduce
from math import gcd
from typing import NamedTuple

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.front.instead import refusal
from course_pkg.simt.front.typing import INT64, unify
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array, Arrays
from course_pkg.simt.run.constructs import at_its_place, unsupported
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.state import Loop
from course_pkg.simt.run.values import Range, Sequence, Torn, TypeName, Value, Variable, layout_of

# each round except the last changes the type of a variable, and no kernel has nearly this many variables
MOST_ROUNDS = 1000


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
    frame.variables = _join(run, frame, node, ends)
    _record(run, frame, node)
    return mask


@cache
def _changed(node) -> frozenset:
    """Return the names that a loop assigns."""
    return frozenset(n.id for n in walk(node) if isinstance(n, ast.Name) and _stored(n))


def sketch_loop(run, frame, node, mask, execute, begin):
    """Run a loop's body until the types of its variables no longer change; ``begin`` starts a trip."""
    header, leaving = dict(frame.variables), []
    changed = _changed(node)
    for _ in range(MOST_ROUNDS):
        frame.variables = {n: _unknown(run, v) if n in changed else v for n, v in header.items()}
        loop = Loop(run.wave.nobody, run.wave.nobody, [], [])
        frame.loops.append(loop)
        endless = begin()
        at_head = dict(frame.variables)
        end = execute(run, frame, node.body, mask)
        frame.loops.pop()
        ways = [*([frame.variables] if end else []), *loop.continuing]
        joined = _join(run, frame, node, [header, *ways])
        leaving = loop.breaking
        if _settled(joined) == _settled(header):
            break
        header = joined
    else:
        raise unsupported(frame, node, "a loop whose variables are something else after every trip")
    frame.variables = header
    _record(run, frame, node)
    out = [*([] if endless else [header if header is not at_head else at_head]), *leaving]
    if not out:
        return run.wave.nobody
    frame.variables = _join(run, frame, node, out)
    if node.orelse:
        execute(run, frame, node.orelse, mask)
    return mask


def require_no_growth(frame, node, before: dict) -> None:
    """Raise an error if a loop has made a tuple longer or shorter: its type would be another one in each trip."""
    for name, variable in before.items():
        old, new = variable.value, frame.variables[name].value
        if isinstance(old, tuple) and isinstance(new, tuple) and len(old) != len(new):
            raise unsupported(
                frame,
                node,
                f"a tuple that grows in a loop, {name!r},",
                way="fill a cuda.local.array in the loop",
            )


def _unknown(run, variable):
    return Variable(_of_any_trip(run, variable.value), variable.mask)


def _of_any_trip(run, value):
    """Return a value that represents a variable in all trips of a loop that changes it; no part of it is constant."""
    if isinstance(value, Value):
        return run.blank(value.type)
    if isinstance(value, tuple):
        return rebuilt(value, (_of_any_trip(run, part) for part in value))
    if isinstance(value, Array):
        return replace(value, shape=tuple(run.blank(extent.type) for extent in value.shape))
    return value


def _join(run, frame, node, ways: list) -> dict:
    """Return the variables after branches meet: all that any branch has, each with a type that fits all branches."""
    joined: dict = {}
    for variables in ways:
        for name, variable in variables.items():
            if name not in joined:
                joined[name] = variable
            else:
                value = _common(run, frame, node, name, joined[name].value, variable.value)
                joined[name] = Variable(value, None)
    return joined


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
        return replace(first, shape=shape, others=_names(first).union(*map(_names, rest)))
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
    run.stored |= _names(array)


def note_view(run, array: Array, nbytes: int) -> None:
    """Record that the kernel sees an array, or any that it may stand for, as elements of ``nbytes`` bytes."""
    for name in _names(array):
        run.narrowest[name] = gcd(run.narrowest.get(name, nbytes), nbytes)


def _names(array: Array) -> frozenset:
    """Return the names of all arrays that an array may stand for; or the place where the kernel makes it."""
    return array.others | {array.region.place or array.name}


def _settled(variables: dict) -> dict:
    """Return the properties of the variables that a round must not change if the sketch of a loop is to end."""
    return {n: _outline(v.value) for n, v in variables.items()}


def _outline(value):
    if isinstance(value, tuple):
        return tuple(map(_outline, value))
    return value.type if isinstance(value, Value) else _names(value) if isinstance(value, Array) else None


def _record(run, frame, node) -> None:
    values = {n: v.value for n, v in frame.variables.items()}
    run.types[run.path, id(node)] = {n: v.type for n, v in values.items() if isinstance(v, Value)}


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
