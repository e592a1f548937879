"""Conjugate gradient on the 7-point Laplacian as CUDA kernels.

``methods`` holds the methods: for each, what one iteration launches. ``stencils``, ``maps`` and ``scalars`` hold the
kernels, ``workspace`` the fields, and ``solver`` the loop. ``reliable`` holds the method in two precisions, and
``mixed`` its kernels. ``plain`` has the kernels that the fusion document counts.
Steps are numbered as ``cg/reference.py`` explains.
"""

from course_pkg.cg.gpu_numba.maps import (
    add_kernel,
    copy_rows_kernel,
    dot_kernel,
    fill_kernel,
    update_p_kernel,
    update_x_and_r_dot_kernel,
    update_x_and_r_kernel,
)
from course_pkg.cg.gpu_numba.marches import March, Marches, march_for, row_pitch
from course_pkg.cg.gpu_numba.methods import (
    ITERATIONS,
    cg_baseline,
    cg_deferred_x,
    cg_fused_dots,
    cg_map_stencil_fused,
    cg_two_kernel,
)
from course_pkg.cg.gpu_numba.mixed import (
    advance_mixed_kernel,
    gather_kernel,
    refresh_kernel,
    search_mixed_kernel,
)
from course_pkg.cg.gpu_numba.plain import map_stencil_flat_kernel, update_p_flat_kernel
from course_pkg.cg.gpu_numba.reliable import (
    MIXED_AT_ONCE,
    MixedSolver,
    MixedWorkspace,
    beta_mixed_kernel,
    cg_mixed,
    endless,
    settle_kernel,
)
from course_pkg.cg.gpu_numba.scalars import (
    STATE_SIZE,
    alpha_kernel,
    beta_kernel,
    total_kernel,
)
from course_pkg.cg.gpu_numba.solver import Iteration, Solver
from course_pkg.cg.gpu_numba.stencils import (
    advance_kernel,
    map_stencil_kernel,
    matvec_dot_kernel,
    matvec_kernel,
    residual_kernel,
    search_kernel,
)
from course_pkg.cg.gpu_numba.workspace import Workspace

__all__ = [
    "ITERATIONS",
    "MIXED_AT_ONCE",
    "STATE_SIZE",
    "Iteration",
    "March",
    "Marches",
    "MixedSolver",
    "MixedWorkspace",
    "Solver",
    "Workspace",
    "add_kernel",
    "advance_kernel",
    "advance_mixed_kernel",
    "alpha_kernel",
    "beta_kernel",
    "beta_mixed_kernel",
    "cg_baseline",
    "cg_deferred_x",
    "cg_fused_dots",
    "cg_map_stencil_fused",
    "cg_mixed",
    "cg_two_kernel",
    "copy_rows_kernel",
    "dot_kernel",
    "endless",
    "fill_kernel",
    "gather_kernel",
    "map_stencil_flat_kernel",
    "map_stencil_kernel",
    "march_for",
    "matvec_dot_kernel",
    "matvec_kernel",
    "refresh_kernel",
    "residual_kernel",
    "row_pitch",
    "search_kernel",
    "search_mixed_kernel",
    "settle_kernel",
    "total_kernel",
    "update_p_flat_kernel",
    "update_p_kernel",
    "update_x_and_r_dot_kernel",
    "update_x_and_r_kernel",
]
