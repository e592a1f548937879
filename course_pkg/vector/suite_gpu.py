"""The copy by the driver as suites of other topics measure it on a GPU, beside their own variants."""

from course_pkg.bench import Measurement, measure
from course_pkg.vector.bound import COPY
from course_pkg.vector.gpu_cupy import cp
from course_pkg.vector.variants import VARIANTS

COPIED, COPIED_QUICK = 2**27, 2**16  # doubles


def copy_by_driver(a, out):
    """Copy an array within GPU memory, without the checks that ``gpu_cupy.copy`` makes before each call."""
    out.data.copy_from_device_async(a.data, a.nbytes)


def measured_copy(shape, parameters: dict, **options) -> Measurement:
    """Measure the copy of an array of doubles; ``parameters`` say its size, ``options`` are those of ``measure``."""
    source, out = cp.ones(shape), cp.empty(shape)
    return measure(
        copy_by_driver,
        source,
        out,
        cost=VARIANTS["copy"].cost(source.size),
        check=lambda: cp.testing.assert_array_equal(out, source),
        name=COPY,
        parameters={**parameters, "dtype": "float64"},
        **options,
    )
