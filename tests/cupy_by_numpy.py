"""NumPy in the place of CuPy, so that code for CuPy runs without a GPU and its results can be tested.

An array of the stand-in says that it is in GPU memory, so arguments are checked as on a GPU. Element-wise kernels run
the text with which they are made, as far as Python reads it as C++ does. Products with a sparse matrix are SciPy's.
What is not defined here is NumPy's function of the same name.
"""

import re
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import scipy.sparse as sp

from course_pkg.topics import with_module

MAKERS = ("array", "asarray", "asfortranarray", "empty", "zeros", "ones", "full", "empty_like", "stack")
HIDDEN = with_module("gpu_cupy")  # topics whose gpu_cupy may have been imported with the real one


class Array(np.ndarray):
    """An array that counts as one in GPU memory."""

    __cuda_ndarray__ = True

    def get(self):
        """Return a copy in host memory."""
        return np.array(self)


class Matrix:
    """What the course needs of ``cupyx.scipy.sparse.csr_matrix``."""

    def __init__(self, parts, shape):
        self.data, self.indices, self.indptr = parts
        self.shape, self.dtype, self.nnz = shape, self.data.dtype, self.data.size

    def times(self, x):
        """Return the product with a vector."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape) @ np.asarray(x)


class ElementwiseKernel:
    """Run assignments as Python would; what is computed is written only at the end, so outputs may be inputs."""

    def __init__(self, inputs, outputs, operation, name):
        self.inputs, self.outputs = (
            [part.split()[-1] for part in text.split(",")] for text in (inputs, outputs)
        )
        choices = re.sub(r"= ([^?;]+) \? ([^:;]+) : ([^;]+)", r"= (\2) if (\1) else (\3)", operation)
        self.operation = re.sub(r"\bT (\w+ =)", r"\1", choices)

    def __call__(self, *arguments):
        names = dict(zip((*self.inputs, *self.outputs), arguments, strict=True))
        found = {name: names[name] for name in self.inputs}
        exec(self.operation, {}, found)
        for name in self.outputs:
            names[name][...] = found[name]


def _on_device(make):
    return lambda *arguments, **options: make(*arguments, **options).view(Array)


def _turned(a, how):
    return a.T if how == "T" else a


def _gemm(a_turned, b_turned, a, b, out=None, alpha=1.0, beta=0.0):
    found = alpha * (_turned(a, a_turned) @ _turned(b, b_turned))
    if out is None:
        return found
    out[...] = found + (beta * out if beta else 0.0)
    return out


def _gemv(turned, alpha, a, x, beta, y):
    y[...] = alpha * (_turned(a, turned) @ x) + (beta * y if beta else 0.0)


def _spmv(A, x, y, alpha, beta):
    y[...] = alpha * A.times(x) + (beta * y if beta else 0.0)


def stand_in(monkeypatch):
    """Let ``import cupy`` find the stand-in, and let the topics' ``gpu_cupy`` be imported anew, now and afterwards."""
    names = ("cupy", "cupyx", "cupyx.cusparse", "cupyx.scipy", "cupyx.scipy.sparse")
    modules = {name: ModuleType(name) for name in names}
    cupy = modules["cupy"]
    for name in MAKERS:
        setattr(cupy, name, _on_device(getattr(np, name)))
    cupy.__getattr__ = partial(getattr, np)
    cupy.ndarray, cupy.ElementwiseKernel, cupy.asnumpy = Array, ElementwiseKernel, np.asarray
    modules["cupyx.cusparse"].spmv = _spmv
    modules["cupyx"].cusparse = modules["cupyx.cusparse"]
    cupy.cublas = SimpleNamespace(gemm=_gemm, gemv=_gemv)
    modules["cupyx.scipy.sparse"].csr_matrix = Matrix
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    for topic in HIDDEN:
        monkeypatch.delitem(sys.modules, f"course_pkg.{topic}.gpu_cupy", raising=False)
        monkeypatch.delattr(f"course_pkg.{topic}.gpu_cupy", raising=False)
    return cupy


def forget():
    """Forget the modules that were imported with the stand-in."""
    for topic in HIDDEN:
        sys.modules.pop(f"course_pkg.{topic}.gpu_cupy", None)
        vars(sys.modules.get(f"course_pkg.{topic}")).pop("gpu_cupy", None)
