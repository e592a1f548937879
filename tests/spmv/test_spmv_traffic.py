"""Products that are counted on large matrices: their sizes, their arguments, and what follows from the matrices."""

import pytest

from course_pkg import simt
from course_pkg.bench import recorded
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import gpu_numba, traffic, traffic_meshes
from course_pkg.spmv.formats import Ell, SellCSigma
from course_pkg.spmv.tuning import CHUNK, TILE
from course_pkg.spmv.variants import VARIANTS

CUDA = Library.NUMBA_CUDA
THREADS = gpu_numba.THREADS_PER_BLOCK


@pytest.mark.parametrize("edge", [32, 64])
def test_sizes_of_large_cases_follow_from_the_grid(edge):
    A = problem("poisson_3d", edge).matrix
    assert traffic.sizes(edge) == {"rows": A.shape[0], "columns": A.shape[1], "nonzeros": A.nnz}
    assert traffic.stored_in_slices(edge) == SellCSigma.from_scipy(A, sigma=1).stored
    assert Ell.from_scipy(A).stored == 7 * edge**3


@pytest.fixture
def small(monkeypatch):
    """A small cube and small meshes in place of the large ones."""
    kept = [f for f in vars(traffic_meshes).values() if hasattr(f, "cache_clear")]
    monkeypatch.setattr(traffic, "_matrix", lambda edge: problem("poisson_3d", 16).matrix)
    monkeypatch.setattr(traffic_meshes, "SIZES", {"tetrahedral": 16, "power_law": 16**3, "poisson_3d": 16})
    monkeypatch.setattr(traffic_meshes, "ROWS", 16**3)
    for function in kept:
        function.cache_clear()
    yield
    for function in kept:
        function.cache_clear()


@pytest.mark.usefixtures("small")
def test_large_cases_make_their_arguments():
    """With one block of the launches of the large ones."""
    for case in traffic.large:
        part_of_a_step = "copy" in case.name or case.name.startswith("spmv_splitting_entries_high")
        assert case.cost.bytes_read > (16e6 if part_of_a_step else 120e6), case.name
        assert simt.profile(case.kernel[1, THREADS], *case.args()).global_store.requests, case.name


def test_numbers_that_follow_from_a_matrix_are_those_of_the_record():
    """The grids of launches on meshes are made before the matrices are."""
    meshes, found = traffic_meshes, recorded("spmv")
    for name in ("tetrahedral", "power_law"):
        m = found.one(
            VARIANTS["spmv_csr_balanced"].by(CUDA), matrix=name, tile=TILE, dtype="float64", values=None
        )
        assert (m.parameters["n"], m.parameters["nonzeros"]) == (meshes.ROWS, meshes.NONZEROS[name])
    for name, lanes in meshes.MEAN_LANES.items():
        m = found.one(VARIANTS["splitting_rows_together"].by(CUDA), matrix=f"{name}_scaled", n=meshes.ROWS)
        assert (m.parameters["nonzeros"], m.parameters["lanes"]) == (meshes.NONZEROS[name], lanes)
    for (name, sigma), unroll in meshes.UNROLLED.items():
        usual = {"dtype": "float64", "values": None, "chunk": CHUNK, "unroll": None, "order": None}
        m = found.one(VARIANTS["spmv_sell"].by(CUDA), matrix=name, sigma=sigma, **usual)
        assert m.observed["unroll"] == unroll
    for way, high in (("rows_together", meshes.HIGH_IN_ROWS), ("entries_together", meshes.HIGH_ENTRIES)):
        m = found.one(VARIANTS[f"splitting_{way}"].by(CUDA), matrix="tetrahedral_scaled")
        share = 1 - high / meshes.NONZEROS["tetrahedral"]
        assert m.observed["low_share"] == pytest.approx(share, abs=1e-4)
