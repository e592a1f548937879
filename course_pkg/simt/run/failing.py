"""``assert`` and ``raise``: they stop the launch here; in a compiled kernel, the thread leaves without a message."""

import ast

from course_pkg.simt.errors import Raised, SimtError, Unsupported
from course_pkg.simt.run.expressions import condition
from course_pkg.simt.run.hindsight import decide
from course_pkg.simt.run.statements import runs

# nodes that the text of an exception may have, because Numba cannot build text while a kernel runs
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.JoinedStr),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.UnaryOp, ast.USub),
)


@runs(ast.Assert)
def _assert(run, frame, node, mask):
    """Stop the launch if an assertion fails."""
    if isinstance(node.test, ast.Tuple) and node.test.elts:
        test = ast.unparse(node.test.elts[0])
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f'an assertion of a tuple never fails: leave the brackets out, as in assert {test}, "a text".',
        )
    _require_plain(frame, node, [node.msg] if node.msg else [], "the text of an assertion")
    test = condition(run, frame, node.test, mask)
    if run.dry:
        return mask
    run.ledger.demand(test, mask)
    decide(run, test, mask)
    if mask.narrow(test.data) is not mask:
        text = ast.unparse(node.test)
        raise SimtError.at(frame.program.name, node.lineno, f"the assertion {text} fails.")
    return mask


@runs(ast.Raise)
def _raise(run, frame, node, mask):
    """Stop the launch if a lane runs a raise statement."""
    _require_exception(frame, node)
    name, text = _exception(node.exc)
    exception = f"{name}: {text}" if text else name
    error = Raised.at(frame.program.name, node.lineno, f"raises {exception}.")
    error.name, error.exception = name, exception
    if not run.dry:
        raise error
    frame.raised = frame.raised or error
    return run.wave.nobody


def _require_plain(frame, node, parts: list, what: str) -> None:
    """Raise an error for a text that only the running kernel could put together."""
    if not all(_is_plain(frame, part) for part in parts):
        raise Unsupported.at(
            frame.program.name,
            node.lineno,
            f"Numba knows {what} before the kernel runs: write a plain text, and put numbers into an array.",
        )


def _is_plain(frame, part) -> bool:
    if isinstance(part, ast.IfExp):  # a choice between two plain texts
        return _is_plain(frame, part.body) and _is_plain(frame, part.orelse)
    if isinstance(part, ast.Name) and part.id in frame.program.assigned:
        return False
    return isinstance(part, _PLAIN) and all(_is_plain(frame, one) for one in ast.iter_child_nodes(part))


def _require_exception(frame, node) -> None:
    """Raise an error for a ``raise`` that Numba does not compile."""
    where = frame.program.name, node.lineno
    if node.cause is not None:
        raise SimtError.at(*where, "Numba compiles no `raise … from …`: leave out what stands behind from.")
    call = node.exc if isinstance(node.exc, ast.Call) else None
    parts = [*call.args, *(k.value for k in call.keywords)] if call else []
    _require_plain(frame, node, parts, "the text of an exception")
    name = call.func if call else node.exc
    if name is None or (isinstance(name, ast.Attribute) and not (call and call.keywords)):
        return
    known = isinstance(name, ast.Name) and name.id not in frame.program.assigned
    thing = frame.program.lookup(name.id, node.lineno) if known else None
    if not (isinstance(thing, type) and issubclass(thing, Exception)) or (call and call.keywords):
        raise SimtError.at(*where, "write an exception and its text, as in `raise ValueError('too large')`.")


def _exception(node) -> tuple[str, str]:
    """Return the name of the exception in a raise statement, and its text if that is a literal; otherwise no text."""
    arguments = node.args if isinstance(node, ast.Call) else []
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node) if node else "an exception"
    text = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else ""
    if name == "NotImplementedError" and not text:
        text = "the kernel is not written yet"
    return name, " ".join(str(text).split()).rstrip(".")
