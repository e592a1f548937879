"""Read what a learner passed to ``practice.check``: is it an answer at all, and which lines are still missing?"""

import ast
import types
from dataclasses import dataclass

from course_pkg.practice.step import Step
from course_pkg.simt import Kernel, Launch, SimtError
from course_pkg.simt.front.known import is_device_function
from course_pkg.simt.front.source import Program, program_of


@dataclass(frozen=True)
class Answer:
    """A learner's kernel or function, with its text.

    Attributes
    ----------
    function : callable
        The Python function.
    program : Program
        Its syntax tree, with the line numbers of the cell.
    given : object
        What the learner passed to ``practice.check``. On a machine with a GPU this kernel can be timed.
    """

    function: types.FunctionType
    program: Program
    given: object

    @property
    def kernel(self) -> Kernel:
        """The kernel, for the interpreter."""
        return Kernel(self.function)

    def open_lines(self) -> list[int]:
        """Return the numbers of the lines that still contain ``...``, in the answer and in the kernels of its cell."""
        own, names = (
            _open_lines(self.program),
            {n.id for n in ast.walk(self.program.tree) if isinstance(n, ast.Name)},
        )
        # an unfinished function may not name its kernels yet, so look at all kernels of the cell
        kernels = [k for name, k in self.function.__globals__.items() if own or name in names]
        return sorted(own.union(*map(self._open_lines_of, kernels)))

    def _open_lines_of(self, kernel) -> set[int]:
        """Return the open lines of a kernel from the same cell as this answer; the empty set for anything else."""
        function = getattr(kernel, "py_func", None)
        if not isinstance(function, types.FunctionType):
            return set()
        if function.__code__.co_filename != self.function.__code__.co_filename:
            return set()
        try:
            return _open_lines(program_of(function))
        except SimtError:  # the interpreter will say at the launch what is wrong with this kernel
            return set()


def _open_lines(program: Program) -> set[int]:
    return {n.lineno for n in ast.walk(program.tree) if isinstance(n, ast.Constant) and n.value is ...}


def read(step: Step, given, launched: bool) -> "Answer | str":
    """Return the answer, or a sentence that says why this is not an answer.

    Parameters
    ----------
    launched : bool
        True if the step asks for a kernel, which is then launched; False if it asks for a function.
    """
    if isinstance(given, Launch) or hasattr(given, "dispatcher"):
        return "Hand over the kernel itself, without [blocks, threads] behind its name: the step launches it."
    if given is None:
        return (
            "There is no kernel here but None: hand over the name of your kernel, without calling it."
            if launched
            else "There is no function here but None: hand over the name of your function, without calling it."
        )
    function = getattr(given, "py_func", given)
    if not isinstance(function, types.FunctionType):
        wanted = "a kernel, the name that follows def" if launched else "the name of your function"
        kind = type(given).__name__
        return f"This is {'an' if kind[0] in 'aeiou' else 'a'} {kind}: hand over {wanted}."
    is_kernel = function is not given
    if launched and not is_kernel:
        return f"{function.__name__} is a plain Python function: write @cuda.jit on the line above its def."
    if launched and is_device_function(given):
        return f"{function.__name__} is a device function, which kernels call: write @cuda.jit without device=True."
    if not launched and is_kernel:
        return f"{function.__name__} is a kernel, and this step wants a plain function: remove its @cuda.jit."
    try:
        program = program_of(function)
        if launched:
            program.parameters  # noqa: B018  (raises if something is wrong with the parameters)
    except SimtError as error:
        return str(error)
    return Answer(function, program, given)
