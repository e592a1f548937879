"""``course check FILE``: find hazards and count traffic in the kernels of a Numba CUDA file or notebook, without a GPU.

The file runs in a process of its own, in which ``numba.cuda`` is the interpreter (:mod:`course_pkg.check.stage`);
:func:`check_file` returns a :class:`Report`.
"""

from course_pkg.check.found import Report
from course_pkg.check.run import check_file

__all__ = ["Report", "check_file"]
