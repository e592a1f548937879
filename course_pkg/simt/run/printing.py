"""``print`` in a kernel: print the same lines as Numba on a GPU, thread by thread, up to a limit."""

import ast
import sys

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.effects import effects
from course_pkg.simt.front.literal import is_text
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.values import Value

MOST_LINES = 1_000  # maximum per launch
MOST_ITEMS = 32  # maximum per line; for more items, Numba prints only the format string
_INSTEAD = 'write print("i =", i), with text and numbers separated by commas.'


def print_call(run, frame, node: ast.Call, mask) -> None:
    """Print a line for each active lane, in the order of the threads.

    Raises
    ------
    SimtError
        If Numba could not print one of the arguments.
    """
    if node.keywords:
        raise _refused(frame, node, f"print takes no {node.keywords[0].arg} in a kernel: {_INSTEAD}")
    if len(node.args) > MOST_ITEMS:
        raise _refused(
            frame, node, f"print takes at most {MOST_ITEMS} items in a kernel: use several prints."
        )
    items = [_item(run, frame, one, mask) for one in node.args]
    if run.dry:
        if not effects(run, frame, [node]):
            run.vain.add(node)
        return
    for item in items:
        _demand(run, item, mask)
    if run.launch.printer is not None:
        run.launch.printer.lines(run.wave, mask, items)


def _demand(run, item, mask) -> None:
    for part in item if isinstance(item, tuple) else ():
        _demand(run, part, mask)
    if isinstance(item, Value):
        run.ledger.demand(item, mask)


def _item(run, frame, node, mask) -> "str | Value | tuple":
    """Return an item of a printed line: a text from the source, a value with a number per lane, or a tuple of these."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if any(isinstance(part, ast.JoinedStr) or is_text(part) for part in walk(node)):
        raise _refused(frame, node, f"a kernel cannot put a text together: {_INSTEAD}")
    written = ast.unparse(node)
    value = evaluate(run, frame, node, mask)
    return _printable(frame, node, written, value)


def _printable(frame, node, written: str, value) -> "Value | tuple":
    if isinstance(value, tuple):
        return tuple(_printable(frame, node, f"{written}[{at}]", part) for at, part in enumerate(value))
    if isinstance(value, Arrays):
        raise _refused(
            frame, node, f"{written} is an array, and print takes numbers: print one element of it."
        )
    if not isinstance(value, Value):
        raise _refused(frame, node, f"{written} is no number and no text, and a kernel prints nothing else.")
    if isinstance(value.type, types.Complex):
        raise _refused(
            frame,
            node,
            f"Numba does not print complex numbers in a kernel: print ({written}).real and .imag.",
        )
    return value


def _refused(frame, node, why: str) -> SimtError:
    return SimtError.at(frame.program.name, node.lineno, f"{why}")


class Printer:
    """Writes the lines of one launch to Python's output, up to ``MOST_LINES``.

    ``later``: whether they are kept until the end of the launch, because it may begin again.
    """

    def __init__(self, later: bool = False):
        self.written, self.left_out, self._kept = 0, 0, [] if later else None

    def lines(self, wave, mask, items: list) -> None:
        """Write the lines of one call of ``print``: one line for each active lane."""
        room = MOST_LINES - self.written
        threads = np.flatnonzero(wave.spread(mask.full))[:room]
        self.left_out += mask.threads - threads.size
        self.written += threads.size
        if threads.size:
            columns = [_column(wave, item, threads) for item in items]
            lines = map(" ".join, zip(*columns, strict=True)) if columns else [""] * threads.size
            write = sys.stdout.write if self._kept is None else self._kept.append
            write("".join(f"{line}\n" for line in lines))

    def forget(self) -> None:
        """Forget the lines of a launch that begins again."""
        self.written, self.left_out, self._kept = 0, 0, []

    def close(self) -> None:
        """Print the lines that were kept, and how many were left out, at the end of a launch."""
        sys.stdout.write("".join(self._kept or ()))
        if self.left_out:
            sys.stdout.write(
                f"… and {self.left_out:,} more lines were left out: let one thread print, as in "
                "`if cuda.grid(1) == 3:`.\n"
            )


def _column(wave, item, threads) -> list[str]:
    if isinstance(item, str):
        return [item] * threads.size
    if isinstance(item, tuple):
        parts = [_column(wave, part, threads) for part in item]
        end = ",)" if len(parts) == 1 else ")"
        return [f"({', '.join(line)}{end}" for line in zip(*parts, strict=True)] or ["()"] * threads.size
    numbers = wave.spread(item.data).reshape(-1)[threads].tolist()
    return [f"{n:f}" if isinstance(item.type, types.Float) else str(n) for n in numbers]


def without(tree: ast.AST, vain: set) -> None:
    """Remove the given calls of ``print`` from a function, in place; also remove branches that contain nothing else."""
    for field in ("body", "orelse"):
        body = getattr(tree, field, None)
        if not isinstance(body, list) or not body:
            continue
        for node in body:
            without(node, vain)
        kept = [node for node in body if not (isinstance(node, ast.Expr) and node.value in vain)]
        if len(kept) < len(body) or any(map(_emptied, kept)):
            kept = [node for node in kept if not _emptied(node)]
            if not kept and field == "body":
                kept = [ast.copy_location(ast.Pass(), body[0])]
            body[:] = kept


def _emptied(node) -> bool:
    """Return whether a branch is empty and its condition calls no function, so that the branch has no effect."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and all(isinstance(one, ast.Pass) for one in node.body)
        and not any(isinstance(part, ast.Call) for part in walk(node.test))
    )
