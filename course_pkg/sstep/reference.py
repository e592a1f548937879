"""S-step conjugate gradient in plain NumPy: the operations of a pass, and the methods. Tests compare others with it."""

from course_pkg.sstep.reference_methods import pcg, pcg_sstep, pcg_sstep_moments, pcg_sstep_printed, pfcg
from course_pkg.sstep.reference_operations import (
    gram,
    laplacian_recurrence,
    moments,
    project_block,
    recurrence,
    update_block,
)

__all__ = [
    "gram",
    "laplacian_recurrence",
    "moments",
    "pcg",
    "pcg_sstep",
    "pcg_sstep_moments",
    "pcg_sstep_printed",
    "pfcg",
    "project_block",
    "recurrence",
    "update_block",
]
