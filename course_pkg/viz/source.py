"""Code of the package, shown in a notebook or on a slide."""

import ast
import inspect
import textwrap

from IPython.display import Markdown

from course_pkg.core import CourseError


def source(function) -> Markdown:
    """Return a function's source for a notebook or a slide, without its docstring.

    Parameters
    ----------
    function : callable
        A Python function, or a kernel or device function under ``cuda.jit``; for a kernel that is
        made by another function, pass what that function returned.

    Examples
    --------
    >>> from course_pkg.device.launch import blocks_for
    >>> print(source(blocks_for).data[:30])
    ```python
    def blocks_for(shape
    """
    function = getattr(function, "py_func", function)
    text = textwrap.dedent(inspect.getsource(function))
    lines, tree = text.splitlines(), ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise CourseError("Only a function that was written with def can be shown: pass its name.")
    if ast.get_docstring(tree) is not None:
        del lines[tree.body[0].lineno - 1 : tree.body[0].end_lineno]
    return Markdown("```python\n" + "\n".join(lines) + "\n```")
