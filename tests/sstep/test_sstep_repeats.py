"""The parts of a pass on a GPU are recorded when they are done for the second time, and repeated from then on."""

import numpy as np
import pytest
from scipy.sparse import diags_array

from course_pkg import cuda
from course_pkg.device import graphs
from course_pkg.precond.build import jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import gpu_numba
from course_pkg.sstep.gpu_numba import room as rooms
from course_pkg.sstep.problem import Laplacian

pytestmark = pytest.mark.slow(40)

METHODS = {
    "pcg": {},
    "pfcg": {},
    "pcg_sstep_moments": {"s": 2},
    "pcg_sstep": {"s": 3},
    "pcg_sstep_moments in passes of one": {"s": 1},
    "pcg_sstep in passes of one": {"s": 1},
    "pcg_sstep with residuals replaced": {"s": 4, "replace": 2},
}


@pytest.fixture(scope="module")
def b():
    return cuda.to_device(np.random.default_rng(7).standard_normal((6, 5, 6)))


def solved(name, options, b):
    return getattr(gpu_numba, name.split()[0])(Laplacian(b.shape), b, rtol=1e-8, **options)


@pytest.mark.family
@pytest.mark.parametrize("name", METHODS)
def test_graphs_compute_the_same_bits_and_count_the_same_products(monkeypatch, b, name):
    recorded, repeated = [], []

    def capture(step, real=graphs.captured):
        recorded.append(step)
        run = real(step)
        return lambda: (repeated.append(step), run())

    monkeypatch.setattr(graphs, "captured", capture)
    found = solved(name, METHODS[name], b)
    assert len(repeated) > len(recorded) > 0 and set(recorded) == set(repeated)

    monkeypatch.setattr(rooms.DeviceRoom, "repeats", False)
    before = len(repeated)
    plain = solved(name, METHODS[name], b)
    assert len(repeated) == before
    assert (found.status, found.iterations, found.extra) == (plain.status, plain.iterations, plain.extra)
    assert found.residual_norms == plain.residual_norms
    np.testing.assert_array_equal(found.x.copy_to_host(), plain.x.copy_to_host())


def test_steps_with_other_arrays_are_other_steps(b):
    room = rooms.DeviceRoom(gpu_numba, Laplacian(b.shape), b, None, None, 1e-6, 0.0, None)
    u, v, out = (room.take(b) for _ in range(3))
    for _ in range(3):
        room.multiply(u, out)
    first = out.copy_to_host()
    for _ in range(3):
        room.combine(2.0, u, 0.0, u, v)  # v = 2 u
        room.multiply(v, out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * first)
    assert room.products == 6 and len(room._repeats.graphs) == 2


def test_a_stored_matrix_is_recorded_and_a_preconditioner_is_not():
    matrix = diags_array([2.0, 4.0, 3.0]).tocsr()
    A, b = Csr.from_scipy(matrix).to_device(), cuda.to_device(np.ones(3))
    room = rooms.DeviceRoom(gpu_numba, A, b, None, None, 1e-6, 0.0, None)
    u, out = room.take(b), room.vector()
    for _ in range(3):
        room.multiply(u, out)
    assert room.repeats and room.products == 3 and len(room._repeats.graphs) == 1
    np.testing.assert_array_equal(out.copy_to_host()[:3], [2.0, 4.0, 3.0])
    M = jacobi(matrix).to_device()
    assert not rooms.DeviceRoom(gpu_numba, A, b, None, M, 1e-6, 0.0, None).repeats
