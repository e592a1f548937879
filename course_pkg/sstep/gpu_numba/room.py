"""The vectors of a solve in GPU memory; ``sstep/room.py`` says what a room is."""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba import copy_rows_kernel, dot_kernel, fill_kernel, row_pitch
from course_pkg.cg.gpu_numba.maps import DOT_BLOCKS, THREADS_MAP
from course_pkg.core import CourseError
from course_pkg.core.checks import byte_range, require_arrays, require_ndim, require_shape
from course_pkg.core.systems import check_stops
from course_pkg.device.graphs import Repeats
from course_pkg.precond import cycle
from course_pkg.precond import gpu_numba as precond
from course_pkg.precond.preconditioners import Preconditioner
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.gpu_numba import spmv_csr_vector
from course_pkg.sstep.gpu_numba.gram_matrix import parts
from course_pkg.sstep.gpu_numba.iterations import Iterations
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.room import Room

LINE = 16  # elements of a cache line in float64; each vector of a block begins at a multiple of it
BLOCKS_ROWS = 1024


class DeviceRoom(Iterations, Room):
    """Vectors in GPU memory, padded to whole cache lines: the gap behind each row of the grid is zero and stays zero.

    Parameters
    ----------
    A : Laplacian or Csr
        The Laplacian is not stored; a Csr is in GPU memory.
    b, x0 : device array
        A grid for a Laplacian, a vector for a Csr.
    M : Preconditioner in GPU memory, optional
        Only with a Csr.
    """

    def __init__(self, ops, A, b, x0, M, rtol, atol, maxiter):
        self.A, self.M, self.partial = A, M, None
        self.stream, self._repeats, self._kept, self._done = 0, Repeats(), {}, {}
        super().__init__(ops, A, b, x0, M, rtol, atol, maxiter)

    def check(self, b, x0, rtol, atol, maxiter) -> None:
        """Check the arguments of a solve, and choose the size of vectors."""
        check_stops(rtol, atol, maxiter)
        require_arrays(device=True, b=b, **({} if x0 is None else {"x0": x0}))
        if isinstance(self.A, Laplacian):
            require_shape(tuple(self.A.shape), b=b)
            nz, ny, nx = b.shape
            self.pitch = row_pitch(nx, b.dtype)
            self.stored = nz * ny * self.pitch
        elif isinstance(self.A, Csr):
            require_ndim(1, b=b)
            self.stored = -(-b.size // LINE) * LINE
        else:
            raise CourseError(f"A is a {type(self.A).__name__}: on a GPU, pass a Laplacian or a Csr.")
        if self.M is not None and not (isinstance(self.M, Preconditioner) and isinstance(self.A, Csr)):
            raise CourseError("With M, pass A as a Csr, and M from precond/build.py, both in GPU memory.")

    def zeros(self, shape, dtype=None):
        """Return zeros in GPU memory; the number of elements may be odd."""
        size = int(np.prod(shape))
        out = cuda.device_array(size + size % 2, np.dtype(dtype or self.dtype))
        fill_kernel[-(-out.size // (2 * THREADS_MAP)), THREADS_MAP](np.dtype(out.dtype).type(0), out)
        return out[:size].reshape(shape)

    def vector(self):
        """Return a vector of zeros."""
        return self.zeros(self.stored)

    def block(self, s: int):
        """Return a block of zeros."""
        if self.partial is None:
            self.partial = parts(s)
        return self.zeros((2 * s, self.stored))

    def take(self, array):
        """Return a copy of a grid or a vector in padded memory; an array in host memory is copied to the GPU."""
        out, source = (
            self.vector(),
            cuda.to_device(np.asarray(array)) if isinstance(array, np.ndarray) else array,
        )
        source = cuda.as_cuda_array(source).reshape(source.size)
        if isinstance(self.A, Laplacian):
            nx, pitch = np.uint32(self.shape[2]), np.uint32(self.pitch)
            copy_rows_kernel[BLOCKS_ROWS, THREADS_MAP](source, nx, nx, out, pitch)
        else:
            out[: self.n].copy_to_device(source)
        return out

    def give(self, vector):
        """Return a vector as a new array of b's shape."""
        out = cuda.device_array(self.n, self.dtype)
        if isinstance(self.A, Laplacian):
            nx, pitch = np.uint32(self.shape[2]), np.uint32(self.pitch)
            copy_rows_kernel[BLOCKS_ROWS, THREADS_MAP](vector, pitch, nx, out, nx)
        else:
            out.copy_to_device(vector[: self.n])
        return out.reshape(self.shape)

    def to_host(self, array) -> np.ndarray:
        """Copy an array to the host, which waits for all that is queued."""
        return array.copy_to_host()

    def kept(self, shape, what="sums"):
        """Return the same memory for what has this shape in every pass, because a graph keeps its addresses."""
        if (what, shape) not in self._kept:
            self._kept[what, shape] = self.zeros(shape, np.float64)
        return self._kept[what, shape]

    def put(self, array):
        """Copy coefficients to the GPU, unless they are there."""
        if cuda.is_cuda_array(array):
            return array
        host = np.ascontiguousarray(array, np.float64)
        out = self.kept(host.shape, "coefficients")
        out.copy_to_device(host)
        return out

    def copy(self, source, target) -> None:
        """Copy a vector within GPU memory."""
        target.copy_to_device(source, stream=self.stream)

    @property
    def repeats(self) -> bool:
        """Whether CUDA graphs may hold the launches of a pass: not those of preconditioners, which allocate memory."""
        return self.M is None

    def again(self, key, step, *arguments) -> None:
        """Do ``step(*arguments)``, a part of a pass without sums on the host; by a CUDA graph if it was done before.

        Parameters
        ----------
        key : tuple
            Arrays, numbers and text, which together tell the step apart from all others.
        step : callable
            Launches kernels on ``self.stream``.
        """
        if self.repeats and not self.stream:  # a step within a step belongs to the graph of that
            self._again(key, step, *arguments)
        else:
            step(*arguments)

    def _again(self, key, step, *arguments) -> None:
        key = tuple(byte_range(part) if hasattr(part, "dtype") else part for part in key)

        def queue(stream):
            self.stream = stream
            try:
                step(*arguments)
            finally:
                self.stream = 0

        before = self.products, self.reductions
        self._repeats(key, queue)
        done = self._done.setdefault(key, (self.products - before[0], self.reductions - before[1]))
        self.products, self.reductions = before[0] + done[0], before[1] + done[1]

    @property
    def longest(self) -> int:
        """Number of elements of the longest vector that takes part in a dot product."""
        return self.stored

    @property
    def rows(self):
        """The operator with its rows in host memory, for Gershgorin's circles."""
        if isinstance(self.A, Laplacian):
            return self.A
        host = [part.copy_to_host() for part in (self.A.indptr, self.A.indices, self.A.data)]
        return Csr(*host, self.A.shape)

    def multiply(self, v, out) -> None:
        """Compute ``out = A v``."""
        self.products += 1
        self.again(("product", v, out), self._multiply, v, out)

    def _multiply(self, v, out) -> None:
        if isinstance(self.A, Laplacian):
            self.fused(v, v, None, out, None)
        else:
            spmv_csr_vector(self.A, v[: self.n], out[: self.n], stream=self.stream)

    def precondition(self, v, out) -> None:
        """Compute ``out = M v``."""
        cycle.apply(precond, self.M, v[: self.n], out[: self.n])

    def fused(self, previous, current, step, product, out) -> None:
        """Compute the product with the Laplacian and the next vector of the basis in one sweep."""
        padded = (*self.shape[:2], self.pitch)
        grids = [None if v is None else v.reshape(padded) for v in (previous, current, product, out)]
        self.ops.laplacian_recurrence(
            *grids[:2], *(step or (0.0, 0.0, 0.0)), *grids[2:], nx=self.shape[2], stream=self.stream
        )

    def recurrence(self, previous, current, product, a, c, g, out) -> None:
        """Compute ``out = a (product - c current) - g previous``."""
        self.ops.recurrence(previous, current, product, a, c, g, out, stream=self.stream)

    def dots(self, *pairs) -> list[float]:
        """Return the dot products of pairs of vectors: one reduction, for which the host waits once."""
        return [float(row.sum()) for row in self.collect(self._parts(*pairs))]

    def _parts(self, *pairs):
        """Return the blocks' parts of dot products."""
        self.reductions += 1
        blocks = min(DOT_BLOCKS, -(-self.longest // (2 * THREADS_MAP)))
        partial = self.kept((len(pairs), blocks), "dots")
        for k, (u, v) in enumerate(pairs):
            dot_kernel[blocks, THREADS_MAP, self.stream](u, v, partial[k])
        return partial

    def residual(self, x, out) -> float:
        """Compute ``out = b - A x`` and return its norm; one reduction."""
        self.multiply(x, out)
        self.combine(1.0, self.b, -1.0, out, out)
        return float(np.sqrt(self.dots((out, out))[0]))

    def moments(self, block, r) -> np.ndarray:
        """Return the 2 s moments and r·r: one reduction."""
        self.reductions += 1
        out = self.kept((len(block) + 1,))
        self.again(("moments", block, r), self._moments, block, r, out)
        return self.collect(out)

    def _moments(self, block, r, out) -> None:
        self.ops.moments(block, r, out, self.partial, stream=self.stream)

    def sums(self, old, fresh, r, out) -> None:
        """Write the Gram matrix of a pass to ``out``."""
        self.again(("gram", "" if old is None else old, fresh, r), self._gram, old, fresh, r, out)

    def _gram(self, old, fresh, r, out) -> None:
        self.ops.gram(old, fresh, r, out, self.partial, stream=self.stream)

    def powers(self, r, basis, block) -> None:
        """Fill a block with the vectors of a basis and their products."""
        self.again(("powers", basis, r, block), super().powers, r, basis, block)

    def update(self, old, fresh, beta, alpha, out) -> None:
        """Update a block, x and r by the coefficients of the moments."""
        self._move("update", self.ops.update_block, old, fresh, beta, alpha, out)

    def project(self, old, fresh, C, a, out) -> None:
        """Update a block, x and r by the coefficients of the Gram matrix."""
        self._move("project", self.ops.project_block, old, fresh, C, a, out)

    def _move(self, name, sweep, old, fresh, matrix, vector, out) -> None:
        arguments = old, fresh, self.put(matrix), self.put(vector), self.x, self.r, out
        self.again((name, *arguments), lambda: sweep(*arguments, stream=self.stream))
