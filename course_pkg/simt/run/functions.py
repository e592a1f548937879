"""Calls of device functions: their arguments and signatures, and functions defined inside a kernel."""

import ast

import numpy as np

from course_pkg.simt.counting.selecting import name_of
from course_pkg.simt.counting.waiting import has_branches
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import FunctionSource, Program
from course_pkg.simt.front.typing import SCALARS, best_match, type_of
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import cast, evaluate, handles
from course_pkg.simt.run.recursing import called, result_of
from course_pkg.simt.run.state import Frame, LocalFunction
from course_pkg.simt.run.statements import assign_name, execute, runs
from course_pkg.simt.run.values import TypeName, Value, Variable, numba_type_of


def arguments_of(run, frame, node: ast.Call, mask, *, types_by_name=False) -> tuple[list, dict]:
    """Return the positional and the named arguments of a call. A starred tuple yields one argument for each item.

    ``types_by_name``: whether a text such as ``"float32"`` or ``"f4"`` denotes a type, as in NumPy.
    """

    def value_of(one):
        if types_by_name and isinstance(one, ast.List):
            shape = ast.unparse(ast.Tuple(one.elts, ast.Load()))
            raise SimtError.at(frame.program.name, node.lineno, f"a shape is no list: write it as {shape}.")
        named = _type_named(one) if types_by_name else None
        return evaluate(run, frame, one, mask) if named is None else TypeName(named)

    arguments: list = []
    for one in node.args:
        if not isinstance(one, ast.Starred):
            arguments.append(value_of(one))
            continue
        several = evaluate(run, frame, one.value, mask)
        if not isinstance(several, tuple):
            raise SimtError.at(
                frame.program.name,
                node.lineno,
                f"*{ast.unparse(one.value)} is no tuple, and Numba takes "
                "only tuples apart: write the arguments out.",
            )
        arguments += several
    if not node.keywords:
        return arguments, {}
    if any(k.arg is None for k in node.keywords):
        raise unsupported(frame, node, "a call with **arguments", way="write the arguments out")
    return arguments, {k.arg: value_of(k.value) for k in node.keywords}


def _type_named(node):
    """Return the scalar type that a text names; None if the text names no type."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    try:
        named = np.dtype(text) if text else None
    except TypeError:
        return None
    return None if named is None or named.name not in ("bool", *SCALARS) else type_of(named)


def call_function(run, frame, node, function, arguments: list, named: dict, mask):
    """Run a function's statements with its own local variables; return its result."""
    inside = isinstance(function, LocalFunction)
    if inside and named:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "Numba ignores the names of arguments of a function inside a kernel: give them by their place.",
        )
    program = function.program if inside else run.launch.program(function)
    given = _folded(run, frame, node, program, arguments, named, mask)
    signature = _signature(frame, node, function, program, given)
    if signature is not None:
        given = dict(zip(given, _as_declared(run, signature.arguments, given.values()), strict=True))
    call = called(run, frame, node, program, signature, given)
    if call is None or (call.inner and not run.dry and not mask):
        return result_of(run, frame, node, signature)
    variables = {name: Variable(value, None) for name, value in given.items()}
    inner = Frame(program, mask, variables, outer=function.frame if inside else None)
    run.calling.append(call)
    before, run.path = run.path, call.path
    run.scopes.append(inner.scope)
    if has_branches(program):
        run.ledger.opens(name_of(program.tree))
        with run.ledger.putting_off(False):
            execute(run, inner, program.tree.body, mask)
    else:
        execute(run, inner, program.tree.body, mask)
    run.scopes.pop()
    run.path = before
    run.calling.pop()
    if inner.raised is not None and inner.result is None:
        raise inner.raised  # it raises and returns no value, so its caller cannot go on
    if inner.result_mask is not None and not run.dry and mask.minus(inner.result_mask):
        raise SimtError.at(
            program.name,
            program.tree.lineno,
            "some threads come to its end without a value, and others "
            "return one: write a return for each way out.",
        )
    if signature is not None and signature.result is not None and isinstance(inner.result, Value):
        return cast(run, inner.result, signature.result)
    return inner.result


def _folded(run, frame, node, program, arguments, named, mask) -> dict:
    """Return the value of each parameter: given by position, by name, by default, or collected by a starred one."""
    parameters = program.parameters
    given = dict(zip(parameters, arguments, strict=False))
    further = tuple(arguments[len(parameters) :])
    wrong = set(named) - set(parameters) or set(given) & set(named)
    if wrong or (further and program.star is None):
        raise _wrong_arguments(frame, node, program, len(arguments) + len(named))
    given.update(named)
    for name in parameters:
        if name not in given and name in program.defaults:
            given[name] = default_of(run, program, name, mask)
    if len(given) != len(parameters):
        raise _wrong_arguments(frame, node, program, len(given))
    ordered = {name: given[name] for name in parameters}
    return ordered if program.star is None else {**ordered, program.star: further}


def default_of(run, program, name: str, mask):
    """Return the default of a parameter; its expression can use the names around the function."""
    around = Program(program.tree, program.source, program.names)
    around.__dict__["assigned"] = frozenset()
    return evaluate(run, Frame(around, mask), program.defaults[name], mask)


def _wrong_arguments(frame, node, program, found):
    return SimtError.at(
        frame.program.name,
        node.lineno,
        f"{program.name} takes {len(program.parameters)} argument(s) "
        f"({', '.join(program.parameters)}) and gets {found}.",
    )


def _signature(frame, node, function, program, given: dict):
    """Return the signature that Numba chooses for a call, among those that a device function declares."""
    signatures = getattr(function, "signatures", ())
    signatures = signatures if isinstance(signatures, tuple) else ()
    if not signatures:
        return None
    kinds = tuple(numba_type_of(thing) for thing in given.values())
    at = None if None in kinds else best_match([s.arguments for s in signatures], kinds)
    if at is None:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{program.name} has no signature for arguments of the types "
            f"{', '.join(map(str, kinds))}: it has {' and '.join(map(str, signatures))}.",
        )
    return signatures[at]


def _as_declared(run, wanted, given) -> list:
    return [
        cast(run, thing, one) if isinstance(thing, Value) else thing
        for one, thing in zip(wanted, given, strict=True)
    ]


@runs(ast.FunctionDef)
def _function_inside(run, frame, node, mask):
    """Define a function inside a function. Numba inlines its statements at each call."""
    if node.decorator_list:
        raise unsupported(
            frame, node, "a decorated function inside a kernel", way="write it beside the kernel"
        )
    assign_name(run, frame, node.name, _local(run, frame, node, node), mask)
    return mask


@handles(ast.Lambda)
def _lambda(run, frame, node, mask):
    body = [ast.copy_location(ast.Return(node.body), node)]
    function = ast.FunctionDef("lambda", node.args, body, [], None, type_params=[])
    return _local(run, frame, node, ast.copy_location(function, node))


def _local(run, frame, node, tree) -> LocalFunction:
    if (node, frame) not in run.local_functions:
        programs = run.launch.programs
        if id(node) not in programs:
            source = frame.program.source
            name = f"{frame.program.name}.{tree.name}"
            shown = FunctionSource(name, source.file, source.first_line, source.lines)
            programs[id(node)] = Program(tree, shown, frame.program.names)
        run.local_functions[node, frame] = LocalFunction(programs[id(node)], frame)
    return run.local_functions[node, frame]
