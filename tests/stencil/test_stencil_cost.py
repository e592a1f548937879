"""Costs of the stencils, compared with counts of code while it runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg.core import Cost
from course_pkg.stencil import cost, cpu_numba, reference

# ---- the compiled loops, run in Python on fields that count


class Number:
    """A number that counts the arithmetic done with it."""

    __array_ufunc__ = None  # NumPy's numbers leave the arithmetic to this class

    def __init__(self, tally):
        self.tally = tally

    def _flop(self, other):
        self.tally.flops += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _flop


class Field:
    """A field that notes which of its elements are read for which output, and which are written.

    An element that is read again for the same output comes from a cache; for another output, which is another
    pass, it is read from memory again.
    """

    dtype = np.dtype("float64")

    def __init__(self, name, shape, tally):
        self.name, self.shape, self.tally = name, shape, tally
        self.indices = np.arange(np.prod(shape)).reshape(shape)

    def __getitem__(self, key):
        picked = self.indices[key]
        self.tally.pending += [(self.name, int(i)) for i in np.ravel(picked)]
        return Number(self.tally)

    def __setitem__(self, key, value):
        self.tally.reads.setdefault(self.name, set()).update(self.tally.pending)
        self.tally.pending.clear()
        written = self.tally.writes.setdefault(self.name, set())
        for i in np.ravel(self.indices[key]):
            assert int(i) not in written, "written twice"
            written.add(int(i))


def counting(**shapes):
    tally = SimpleNamespace(flops=0, pending=[], reads={}, writes={})
    return tally, *(Field(name, shape, tally) for name, shape in shapes.items())


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 5, 6), (3, 7, 4)], ids=str)
def test_the_laplacian_does_what_its_cost_says(shape):
    tally, u, out = counting(u=shape, out=shape)
    cpu_numba._laplacian.py_func(u, out)
    found = Cost(8 * len(tally.reads["out"]), 8 * len(tally.writes["out"]), tally.flops)
    assert cost.laplacian(shape) == found


@pytest.mark.parametrize("shape", [(6, 9), (4, 5, 6)], ids=str)
def test_the_fused_step_does_what_its_cost_says(shape):
    tally, T, Cp, out = counting(T=shape, Cp=shape, out=shape)
    getattr(cpu_numba, f"_diffusion_step_{len(shape)}d").py_func(T, Cp, 0.1, out)
    inner = tuple(n - 2 for n in shape)
    points, inner_points = int(np.prod(shape)), int(np.prod(inner))
    assert sum(name == "T" for name, _ in tally.reads["out"]) == points
    assert sum(name == "Cp" for name, _ in tally.reads["out"]) == inner_points
    assert len(tally.writes["out"]) == points
    found = cost.diffusion_step(shape)
    assert (found.bytes_read, found.bytes_written) == (2 * 8 * points, 8 * points)
    assert cost.diffusion_step(inner).flops == tally.flops, "only the inner points compute"


def test_four_statements_make_the_passes_that_their_cost_says():
    ny, nx = shape = (6, 9)
    tally, T, Cp, qx, qy, dTdt, out = counting(
        T=shape, Cp=shape, qx=(ny, nx - 1), qy=(ny - 1, nx), dTdt=shape, out=shape
    )
    cpu_numba._flux.py_func(T, -0.1, qx, qy)
    cpu_numba._divergence.py_func(qx, qy, Cp, 0.1, dTdt)
    cpu_numba._update.py_func(T, 0.1, dTdt, out)
    passes = {written: {name for name, _ in read} for written, read in tally.reads.items()}
    assert passes == {"qx": {"T"}, "qy": {"T"}, "dTdt": {"qx", "qy", "Cp"}, "out": {"T", "dTdt"}}
    reads, writes = sum(map(len, passes.values())), len(tally.writes)
    assert (reads, writes) == (7, 4)
    found = cost.diffusion_step_2d_four_statements(shape)
    assert (found.bytes_read, found.bytes_written) == (reads * 8 * ny * nx, writes * 8 * ny * nx)
    for written, indices in tally.writes.items():
        assert len(indices) == {"qx": ny * (nx - 1), "qy": (ny - 1) * nx}.get(written, ny * nx)


# ---- the array statements, run on arrays that count whole passes


class Passes(np.ndarray):
    """An array that counts, for each operation, the arrays read and the one written."""

    tally = None

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        assert method == "__call__"
        assert set(options) <= {"out"}
        arrays = [x for x in inputs if isinstance(x, np.ndarray)]
        self.tally.reads += len({owner(x) for x in arrays})
        self.tally.writes += 1
        self.tally.flops += 1
        result = ufunc(*(np.asarray(x) for x in inputs))
        if "out" not in options:
            return result.view(Passes)
        np.asarray(options["out"][0])[...] = result
        return options["out"][0]

    def __setitem__(self, key, value):
        target = np.asarray(self)[key]
        if isinstance(value, np.ndarray) and target.ctypes.data == value.ctypes.data:
            return  # x[i] += y ends by assigning the result to itself, which NumPy and CuPy leave out
        self.tally.reads += isinstance(value, np.ndarray)
        self.tally.writes += 1
        np.asarray(self)[key] = value


def owner(array):
    """The memory that an array is a view of: a difference of one array reads it once."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array)


def test_array_statements_make_the_passes_that_their_cost_says(monkeypatch):
    tally = SimpleNamespace(reads=0, writes=0, flops=0)
    monkeypatch.setattr(Passes, "tally", tally)
    ny, nx = shape = (6, 9)
    T, Cp, out, dTdt = (np.ones(shape).view(Passes) for _ in range(4))
    qx, qy = np.ones((ny, nx - 1)).view(Passes), np.ones((ny - 1, nx)).view(Passes)
    reference.diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 0.5, out, (qx, qy, dTdt))
    assert tally.reads + tally.writes == 42
    found = cost.diffusion_step_2d_arrays(shape)
    size = 8 * ny * nx
    assert (found.bytes_read, found.bytes_written) == (tally.reads * size, tally.writes * size)
    assert found.flops == tally.flops * ny * nx


def test_the_laplacian_in_arrays_makes_the_passes_that_its_cost_says(monkeypatch):
    tally = SimpleNamespace(reads=0, writes=0, flops=0)
    monkeypatch.setattr(Passes, "tally", tally)
    u, out = (np.ones((4, 5, 6)).view(Passes) for _ in range(2))
    reference.laplacian(u, out)
    found = cost.laplacian_arrays((4, 5, 6))
    assert (tally.reads, tally.writes) == (13, 7)
    assert (found.bytes_read, found.bytes_written) == (13 * out.nbytes, 7 * out.nbytes)
    assert found.redundancy == 10
    assert found.flops == cost.laplacian((4, 5, 6)).flops


@pytest.mark.parametrize("shape", [(6, 9), (4, 5, 6)])
def test_the_array_formula_makes_the_passes_that_its_cost_says(monkeypatch, shape):
    tally = SimpleNamespace(reads=0, writes=0, flops=0)
    monkeypatch.setattr(Passes, "tally", tally)
    T, Cp, out = (np.ones(shape).view(Passes) for _ in range(3))
    getattr(reference, f"diffusion_step_{len(shape)}d")(T, Cp, 1.0, 0.1, 0.5, out)
    found = cost.diffusion_step_arrays(shape)
    size = out.nbytes
    assert (found.bytes_read, found.bytes_written) == (tally.reads * size, tally.writes * size)
    assert tally.reads + tally.writes == 12 + 6 * len(shape)
    assert found.flops == tally.flops * out.size


def test_the_compiled_statements_fold_their_factors():
    # two fluxes of a difference and a product; three sums, a product, a division; a product and a sum
    assert cost.diffusion_step_2d_four_statements((6, 9)).flops == (2 * 2 + 5 + 2) * 54


# ---- by hand


def test_the_laplacian_on_64_cubed_by_hand():
    found = cost.laplacian((64, 64, 64))
    multiplications = 64**3
    subtractions = 6 * 64**3 - 6 * 64**2  # a neighbour is missing on each of six faces
    assert (subtractions, multiplications) == (1_548_288, 262_144)
    assert found.flops == 1_810_432
    assert found.bytes_read == found.bytes_written == 2_097_152


def test_the_laplacian_on_a_box_by_hand():
    assert cost.laplacian((3, 4, 5)).flops == 7 * 60 - 2 * (20 + 15 + 12)
    assert cost.laplacian((3, 4, 5), "float32").bytes == 2 * 4 * 60
    assert cost.laplacian((3, 4, 5)).redundancy == 1


@pytest.mark.parametrize(("dtype", "size"), [("float64", 8), ("float32", 4)])
@pytest.mark.parametrize(
    ("variant", "reads", "writes", "redundancy"),
    [
        (cost.diffusion_step, 2, 1, 1),
        (cost.diffusion_step_2d_four_statements, 7, 4, 11 / 3),
        (cost.diffusion_step_2d_arrays, 22, 20, 14),
    ],
)
def test_the_passes_of_a_step_by_hand(variant, reads, writes, redundancy, dtype, size):
    field = 10 * 20 * size
    found = variant((10, 20), dtype)
    assert (found.bytes_read, found.bytes_written) == (reads * field, writes * field)
    assert (found.unknown_bytes, found.known_bytes) == (field, field)
    assert found.a_eff_bytes == 3 * field
    assert found.redundancy == pytest.approx(redundancy)


def test_redundancies_as_the_lecture_prints_them():
    shape = (10, 20)
    assert f"{cost.diffusion_step_2d_four_statements(shape).redundancy:.2f}" == "3.67"
    assert f"{cost.diffusion_step_2d_arrays(shape).redundancy:.2f}" == "14.00"


def test_flops_of_a_step_by_hand():
    # four or six neighbours and the centre: 3 or 5 additions, a product, a difference; factor, division, update
    assert cost.diffusion_step((10, 20)).flops == 8 * 200
    assert cost.diffusion_step((3, 4, 5)).flops == 10 * 60
