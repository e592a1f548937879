"""What the containers of all formats of a sparse matrix have in common: sizes, precision and copies to a GPU."""

from dataclasses import fields, replace

import numpy as np

from course_pkg.core.checks import on_device


class StoredMatrix:
    """A sparse matrix in a format; the class of a format has fields ``data``, ``nonzeros`` and ``shape``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import Ell
    >>> A = Ell.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]])))
    >>> A.stored, A.fill, A.astype("float32").dtype
    (64, 21.333333333333332, dtype('float32'))
    """

    @property
    def dtype(self) -> np.dtype:
        """Precision of the values."""
        return np.dtype(self.data.dtype)

    @property
    def stored(self) -> int:
        """Number of values in memory, padding included."""
        return int(self.data.size)

    @property
    def fill(self) -> float:
        """Number of values in memory divided by the number of nonzeros: 1 without padding."""
        return self.stored / max(1, self.nonzeros)

    @property
    def layout(self) -> dict[str, int]:
        """Arguments of the format's cost function that depend on the format, by name."""
        return {}

    def sizes(self) -> dict:
        """Return the arguments of the format's function in ``cost.py``, except the dtype of the vectors."""
        rows, columns = self.shape
        matrix = {"rows": rows, "columns": columns, "nonzeros": self.nonzeros}
        return {**matrix, "values": self.dtype.name, **self.layout}

    def astype(self, dtype):
        """Return the same container with values of another precision."""
        return replace(self, data=self.data.astype(dtype))

    def to_device(self):
        """Return the same container with its arrays in GPU memory."""
        from course_pkg import cuda

        arrays = {
            f.name: getattr(self, f.name) for f in fields(self) if hasattr(getattr(self, f.name), "dtype")
        }
        return replace(self, **{name: cuda.to_device(a) for name, a in arrays.items() if not on_device(a)})
