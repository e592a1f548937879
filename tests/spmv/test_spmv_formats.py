"""The formats: what they hold, that a matrix comes back from each, and what is no matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import on_device
from course_pkg.permutation import checks as of_matrices
from course_pkg.permutation.problem import problem
from course_pkg.spmv import checks, formats
from course_pkg.spmv.formats import Csr, CsrBalanced, Ell, EllR, SellCSigma
from course_pkg.spmv.placing import PADDING

FORMATS = (Csr, CsrBalanced, Ell, EllR, SellCSigma)


def random(rows, columns, density, seed=0):
    dense = np.random.default_rng(seed).random((rows, columns))
    return sp.csr_array(np.where(dense < density, dense + 1, 0.0))


def dense_of(M):
    """Return the matrix that a container holds, read as its docstring says."""
    dense = np.zeros(M.shape)
    rows = M.shape[0]
    for i in range(rows):
        if isinstance(M, Csr):
            at = np.arange(M.indptr[i], M.indptr[i + 1])
            row = i
        elif isinstance(M, SellCSigma):
            piece = i // M.chunk
            at = np.arange(M.offsets[piece] + i % M.chunk, M.offsets[piece + 1], M.chunk)
            row = M.perm[i] if M.sigma > 1 else i
        else:
            at, row = i + M.pitch * np.arange(M.width), i
        at = at[M.indices[at] != PADDING]
        dense[row, M.indices[at]] = M.data[at]
    return dense


@settings(max_examples=40)
@given(
    rows=st.integers(1, 80),
    columns=st.integers(1, 40),
    density=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
    sigma=st.integers(1, 100),
    tile=st.integers(1, 90),
)
def test_a_matrix_comes_back_from_every_format(rows, columns, density, seed, sigma, tile):
    A = random(rows, columns, density, seed)
    for made in (
        Csr.from_scipy(A),
        CsrBalanced.from_scipy(A, tile=tile),
        Ell.from_scipy(A),
        EllR.from_scipy(A),
        SellCSigma.from_scipy(A, sigma=sigma),
        SellCSigma.from_scipy(A, chunk=64, sigma=sigma),
    ):
        np.testing.assert_array_equal(dense_of(made), A.toarray())
        assert made.nonzeros == A.nnz and made.shape == A.shape
        assert made.fill == made.stored / max(1, A.nnz)
        assert np.count_nonzero(made.indices == PADDING) == made.stored - A.nnz
        assert np.all(made.data[made.indices == PADDING] == 0)
        assert made.indices.dtype == np.int32


@settings(max_examples=40)
@given(
    rows=st.integers(1, 80),
    density=st.sampled_from([0.0, 0.05, 1.0]),
    tile=st.integers(1, 90),
    seed=st.integers(0, 10**6),
)
def test_every_tile_has_the_same_work(rows, density, tile, seed):
    A = random(rows, 30, density, seed)
    begins = CsrBalanced.from_scipy(A, tile=tile).tile_rows
    ends = A.indptr[1:] + np.arange(rows)  # where each row ends, counted in nonzeros and ends of rows
    for b, first in enumerate(begins[:-1]):
        assert np.count_nonzero(ends < b * tile) == first
        assert A.indptr[first] <= b * tile - first <= A.indptr[min(first + 1, rows)]
    assert begins[-1] == rows and begins.size == 1 + -(-(rows + A.nnz) // tile)


def test_rows_are_sorted_within_windows_and_slices_padded_by_themselves():
    lengths = [1, 3, 2, 0, 5, 5, 1, 0]
    A = sp.csr_array(np.tri(8, 5, -1)[np.minimum(lengths, 5)][:, :5])
    assert list(np.diff(A.indptr)) == lengths
    M = SellCSigma.from_scipy(A, sigma=4)
    assert list(M.perm) == [1, 2, 0, 3, 4, 5, 6, 7]
    assert SellCSigma.from_scipy(A, sigma=1).perm.size == 0
    A = problem("power_law", 1000, seed=1).matrix
    stored = [SellCSigma.from_scipy(A, sigma=sigma).stored for sigma in (1, 64, 1024)]
    assert stored[0] > stored[1] > stored[2] >= A.nnz
    assert Ell.from_scipy(A).stored > 5 * stored[0]


def test_precision_and_memory_of_a_container_can_be_changed():
    A = random(20, 10, 0.3)
    for kind in FORMATS:
        M = kind.from_scipy(A)
        single, there = M.astype("float32"), M.to_device()
        assert (M.dtype, single.dtype, kind.from_scipy(A, "float32").dtype) == (
            "float64",
            "float32",
            "float32",
        )
        assert type(there) is kind and there.shape == M.shape and there.nonzeros == M.nonzeros
        arrays = {name for name, value in vars(M).items() if isinstance(value, np.ndarray)}
        assert {"indices", "data"} <= arrays
        assert all(on_device(getattr(there, name)) for name in arrays)
        np.testing.assert_array_equal(there.data.copy_to_host(), M.data)
        assert there.to_device().data is there.data, "what is there already is not copied"


def test_arrays_of_scipy_are_shared_and_not_copied():
    A = random(20, 10, 0.3)
    M = Csr.from_scipy(A)
    assert np.shares_memory(M.data, A.data) and np.shares_memory(M.indices, A.indices)


# ---- what is no matrix


def parts(indptr, indices, data=None, columns=4):
    """Return a matrix that scipy does not look at."""
    data = np.ones(len(indices)) if data is None else data
    return Csr(np.array(indptr, np.int32), np.array(indices, np.int32), data, (len(indptr) - 1, columns))


WRONG = {
    "unsorted": (parts([0, 1, 3], [0, 2, 1]), r"Row 1 of A has column 1 behind 2, at indices\[2\]"),
    "twice": (parts([0, 1, 3], [0, 2, 2]), r"Row 1 of A has column 2 twice, at indices\[2\]"),
    "beyond": (parts([0, 1, 3], [0, 2, 4]), r"A.indices\[2\], in row 1, is 4"),
    "negative": (parts([0, 1, 3], [0, -1, 2]), r"A.indices\[1\], in row 1, is -1"),
    "falling": (parts([0, 3, 2, 3], [0, 1, 2]), r"A.indptr falls from 3 to 2 in row 1"),
    "short": (parts([0, 1, 2], [0, 1, 2]), r"A.indptr ends at 2, but there are 3 entries"),
    "integers": (parts([0, 1], [0], np.ones(1, "int64")), r"A.data has dtype int64"),
    "complex": (parts([0, 1], [0], np.ones(1, "complex128")), r"A.data has dtype complex128"),
    "dense": (np.eye(3), r"A is a ndarray, not a matrix in compressed rows"),
    "coo": (sp.coo_array(np.eye(3)), r"A is a coo_array, not a matrix in compressed rows"),
}


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", WRONG)
def test_the_first_wrong_entry_is_named(kind, name):
    A, message = WRONG[name]
    with pytest.raises(CourseError, match=message):
        kind.from_scipy(A)


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.__name__)
def test_more_nonzeros_than_32_bits_count_are_refused(kind, monkeypatch):
    A = random(5, 5, 0.9)
    monkeypatch.setattr(of_matrices, "MOST_ENTRIES", A.nnz - 1)
    with pytest.raises(CourseError, match=f"A has {A.nnz} entries, more than the {A.nnz - 1}"):
        kind.from_scipy(A)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (CsrBalanced, "rows and nonzeros together"),
        (Ell, "values in a table of rows of 5"),
        (EllR, "values in a table of rows of 5"),
        (SellCSigma, "values in slices of 32 rows"),
    ],
)
def test_padding_may_not_overflow_either(kind, what, monkeypatch):
    A = sp.csr_array(np.ones((6, 5)))
    monkeypatch.setattr(checks, "MOST_ENTRIES", 32)
    with pytest.raises(CourseError, match=f"The matrix has .* {what}, more than 32-bit offsets reach"):
        kind.from_scipy(A)


def test_wrong_settings_of_a_format_are_named():
    A = random(5, 5, 0.5)
    for made, message in (
        (lambda: CsrBalanced.from_scipy(A, tile=0), "tile is 0: a tile needs at least 1 item"),
        (lambda: SellCSigma.from_scipy(A, chunk=16), "chunk is 16: a slice has a multiple of 32 rows"),
        (lambda: SellCSigma.from_scipy(A, sigma=0), "sigma is 0: a window has at least 1 row"),
        (lambda: SellCSigma.from_scipy(A, sigma=1.5), "sigma is 1.5: it must be an integer"),
    ):
        with pytest.raises(CourseError, match=message):
            made()


def test_a_matrix_without_rows_is_refused():
    for shape in ((0, 3), (3, 0)):
        for kind in FORMATS:
            with pytest.raises(CourseError, match="at least one of each"):
                kind.from_scipy(sp.csr_array(shape))


def test_device_arrays_of_a_container_hold_nothing_else():
    M = SellCSigma.from_scipy(random(5, 5, 0.5)).to_device()
    assert M.chunk == formats.CHUNK and isinstance(M.perm, type(cuda.to_device(np.ones(1))))
