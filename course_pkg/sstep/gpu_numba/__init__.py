"""S-step conjugate gradient as CUDA kernels.

``basis`` makes vectors and their products, ``sums`` and ``gram_matrix`` take all sums of a pass, ``updates`` move
blocks, x and r, and ``follow`` takes a coefficient from GPU memory. ``room`` holds the vectors of a solve in GPU
memory, and ``methods`` the methods. The variants, each with its idea, are listed in ``course_pkg/sstep/variants.py``.

Arguments and equations are those of ``reference.py``; arrays are in GPU memory. If an argument does not fit, a function
raises ``CourseError`` before anything is written. A launch does not synchronise. In pcg and pfcg, and in the s-step
methods with s = 1, the host looks at the numbers after every eighth iteration. With a larger s it looks after passes of
which it is sure that they have to be done, at most eight (``passes.py`` of the topic).
"""

from course_pkg.sstep.gpu_numba.basis import (
    laplacian_recurrence,
    laplacian_recurrence_kernel,
    recurrence,
    recurrence_kernel,
)
from course_pkg.sstep.gpu_numba.follow import follow_kernel
from course_pkg.sstep.gpu_numba.gram_matrix import finish_gram_kernel, gram, parts
from course_pkg.sstep.gpu_numba.methods import pcg, pcg_sstep, pcg_sstep_moments, pfcg
from course_pkg.sstep.gpu_numba.passes import gram_pass_kernel, moments_pass_kernel
from course_pkg.sstep.gpu_numba.scalars import (
    gram_scalars_kernel,
    moments_scalars_kernel,
    pcg_alpha_kernel,
    pcg_beta_kernel,
    pfcg_scalars_kernel,
)
from course_pkg.sstep.gpu_numba.sums import (
    blocks_of,
    finish_kernel,
    moments,
    moments_kernel,
    tiles_of,
)
from course_pkg.sstep.gpu_numba.tiles import gram_kernel, groups_of, points_of
from course_pkg.sstep.gpu_numba.updates import (
    project_block,
    project_block_kernel,
    project_block_warps_kernel,
    update_block,
    update_block_kernel,
    update_block_warps_kernel,
)
from course_pkg.sstep.gpu_numba.warps import Tiling, gram_warps_kernel

__all__ = [
    "Tiling",
    "blocks_of",
    "finish_gram_kernel",
    "finish_kernel",
    "follow_kernel",
    "gram",
    "gram_kernel",
    "gram_pass_kernel",
    "gram_scalars_kernel",
    "gram_warps_kernel",
    "groups_of",
    "laplacian_recurrence",
    "laplacian_recurrence_kernel",
    "moments",
    "moments_kernel",
    "moments_pass_kernel",
    "moments_scalars_kernel",
    "parts",
    "pcg",
    "pcg_alpha_kernel",
    "pcg_beta_kernel",
    "pcg_sstep",
    "pcg_sstep_moments",
    "pfcg",
    "pfcg_scalars_kernel",
    "points_of",
    "project_block",
    "project_block_kernel",
    "project_block_warps_kernel",
    "recurrence",
    "recurrence_kernel",
    "tiles_of",
    "update_block",
    "update_block_kernel",
    "update_block_warps_kernel",
]
