"""Look up the names in a kernel. An allow-list ensures that a kernel uses only numbers and known functions."""

import ast
from difflib import get_close_matches
from enum import EnumType

import numpy as np
from numba.core import types

from course_pkg.simt import libdevice, random
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import vectors
from course_pkg.simt.front.functions import FUNCTIONS
from course_pkg.simt.front.given import index_value
from course_pkg.simt.front.instead import of_attribute, of_member
from course_pkg.simt.front.known import ARRAY_FUNCTIONS, BUILTINS, MODULES, NUMBER_FUNCTIONS, TYPES, entity
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.stubs import MEANINGS, for_the_host
from course_pkg.simt.memory.regions import Array, Arrays, Choice
from course_pkg.simt.run.constructs import at_its_place, unsupported
from course_pkg.simt.run.cooperative import Grid
from course_pkg.simt.run.expressions import evaluate, handles
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.members import array_member, part_of_number
from course_pkg.simt.run.named import Member, Named, rebuilt
from course_pkg.simt.run.values import (
    Builtin,
    Intrinsic,
    Method,
    Module,
    Range,
    Torn,
    TypeName,
    Value,
    undefined,
)
from course_pkg.simt.run.views import SliceOf

_PARTS: dict = {}  # the objects for names in cuda that are not numbers, such as shared.array
_LEFT_OUT = {"start": 0, "stop": 2**63 - 1, "step": 1}  # the parts of a slice that the source leaves out
MAKERS = ("zeros", "empty", "ones", "full", "array", "zeros_like", "empty_like", "arange")
CONSTANTS = ("pi", "e", "tau", "inf", "nan", "euler_gamma")


@handles(ast.Name)
def _name(run, frame, node, mask):
    around = frame
    while around is not None:  # a nested function sees the variables of the function around it
        variable = around.variables.get(node.id)
        if variable is not None:
            return _in_these_lanes(run, frame, node, variable, mask)
        if node.id in around.program.assigned:
            raise SimtError.at(
                frame.program.name, node.lineno, f"the variable {node.id!r} is used before it has a value."
            )
        around = around.outer
    thing = frame.program.lookup(node.id, node.lineno)
    known = run.launch.entities.get(id(thing))
    if known is None:
        known = thing, entity(run, frame, node, thing)
        if isinstance(known[1], (Builtin, Intrinsic, Module, TypeName)) or hasattr(thing, "py_func"):
            run.launch.entities[id(thing)] = known  # keeps the object, so that no other gets its id
    return known[1]


def _in_these_lanes(run, frame, node, variable, mask):
    """Return the value of a variable; lanes that have not assigned it get a value that is easily noticed."""
    value, known = variable.number or variable.value, variable.mask
    if isinstance(value, Torn):
        raise at_its_place(frame, node, value.reason, node.id)
    if variable.newest is not None and not run.dry and mask.within(variable.newest[1]):
        return variable.newest[0]
    if known is None or run.dry or mask.within(known):
        return value
    return _known_in(run, frame, node, value, known, mask)


def _known_in(run, frame, node, thing, known, mask):
    if isinstance(thing, Value):
        missing = mask.minus(known)
        if missing:
            run.log.notes.unset(run, SourceLine(frame.program.name, node.lineno), node.id, missing)
        if thing.constant:
            return thing
        nothing = undefined(thing.data.dtype)
        data = np.where(known.data, thing.data, nothing)
        value = run.derived(data, thing.type, run.numbering.fresh(), (thing,), known)
        return follow(value, lambda data: np.where(known.data, data, nothing), thing)
    if isinstance(thing, tuple):
        return rebuilt(thing, (_known_in(run, frame, node, part, known, mask) for part in thing))
    if isinstance(thing, (Array, Choice, Range)):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"some threads get here without having assigned {node.id!r}: assign it before the branch.",
        )
    return thing


@handles(ast.Attribute)
def _attribute(run, frame, node, mask):
    return member(run, frame, node, evaluate(run, frame, node.value, mask), mask)


def member(run, frame, node, owner, mask):
    """Return ``owner.attribute``."""
    name = node.attr
    if isinstance(owner, Intrinsic):
        known = _PARTS.get((owner.name, name))
        if known is not None:
            return known
        whole = f"{owner.name}.{name}" if owner.name else name
        if whole in MEANINGS:
            found = index_value(run, whole)
            if isinstance(found, Intrinsic):
                _PARTS[owner.name, name] = found
            return found
        if whole == "random":
            return Module("numba.cuda.random", random)
        if whole == "libdevice":
            return Module("numba.cuda.libdevice", libdevice)
        if vectors.parts_of(whole):
            return Intrinsic(whole)
        if id(getattr(types, whole, None)) in TYPES:
            return TypeName(TYPES[id(getattr(types, whole))])
        if whole.startswith("_") or whole in for_the_host:
            barrier = "; the threads of a block wait in cuda.syncthreads()" * (whole == "synchronize")
            raise SimtError.at(
                frame.program.name,
                node.lineno,
                f"cuda.{whole} is for host code: a kernel cannot use it, and "
                f"cannot find out where it runs{barrier}.",
            )
        near = get_close_matches(whole, MEANINGS, 1)
        if near:
            raise SimtError.at(
                frame.program.name, node.lineno, f"cuda has no {whole}: do you mean cuda.{near[0]}?"
            )
        raise unsupported(frame, node, of_member("cuda", whole))
    if isinstance(owner, Module):
        return _module_member(run, frame, node, owner, name)
    if isinstance(owner, Arrays):
        found = array_member(run, frame, node, owner, name, mask)
        if found is not None:
            return found
    if isinstance(owner, TypeName) and name == "type":
        return owner
    if isinstance(owner, Named) and name in owner.fields:
        return owner[owner.fields.index(name)]
    if isinstance(owner, Member) and name == "value":
        return entity(run, frame, node, owner.member.value)
    if isinstance(owner, tuple) and not isinstance(owner, Named) and name in vectors.PARTS[: len(owner)]:
        return owner[vectors.PARTS.index(name)]
    if isinstance(owner, Grid) and name == "sync":
        return Method(name, owner)
    if isinstance(owner, Value) and name in ("real", "imag"):
        return part_of_number(run, owner, name)
    if isinstance(owner, Range) and name in ("start", "stop", "step"):
        return getattr(owner, name)
    if isinstance(owner, SliceOf) and name in _LEFT_OUT:
        part = getattr(owner, name)
        return run.constant(_LEFT_OUT[name]) if part is None else part
    if isinstance(owner, Value) and name == "value" and _is_of_an_enum(run, frame, node.value, mask):
        return owner
    if isinstance(owner, Value) and name in ("conjugate", "item", "view"):
        return Method(name, owner)
    if isinstance(owner, Value):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{ast.unparse(node.value)} is a number and has no .{name}: "
            "check the order of the arguments of the launch.",
        )
    raise unsupported(frame, node, of_attribute(name))


def _is_of_an_enum(run, frame, node, mask) -> bool:
    """Return whether an expression such as ``Colour.RED`` names a member of an IntEnum, which is a number itself."""
    owner = evaluate(run, frame, node.value, mask) if isinstance(node, ast.Attribute) else None
    return isinstance(owner, Module) and isinstance(owner.module, EnumType)


def _module_member(run, frame, node, owner, name):
    if owner.name == "numba" and name in ("types", "cuda"):
        return Module("numba.types", types) if name == "types" else Intrinsic("")
    if owner.name == "numpy" and name == "newaxis":
        return None
    if owner.name == "cmath" and name in ("infj", "nanj"):
        return run.constant(getattr(owner.module, name))
    if owner.name in ("math", "numpy", "cmath") and name in CONSTANTS and hasattr(owner.module, name):
        return run.constant(float(getattr(owner.module, name)))
    thing = getattr(owner.module, name, None) if not name.startswith("_") else None
    if thing is not None and (id(thing) in TYPES or id(thing) in FUNCTIONS or id(thing) in BUILTINS):
        return entity(run, frame, node, thing)
    where = frame.program.name, node.lineno
    if owner.name == "numpy" and name in (*ARRAY_FUNCTIONS, *NUMBER_FUNCTIONS):
        return Builtin(f"numpy.{name}", thing)
    if owner.name == "numpy" and name in MAKERS:
        raise SimtError.at(
            *where,
            f"a kernel cannot make arrays with numpy.{name}: use cuda.local.array, cuda.shared.array, or pass "
            "the array as an argument.",
        )
    if owner.name not in MODULES.values() and thing is not None:
        return entity(run, frame, node, thing)
    if thing is None and owner.name == "numba.cuda.libdevice":
        raise SimtError.at(
            *where,
            f"cuda.libdevice.{name} is an instruction of its own, which only a GPU has: use a function of "
            "math, or round and cast by yourself.",
        )
    raise unsupported(frame, node, of_member(owner.name, name))
