"""Make Numba's own decorators use the interpreter, instead of a GPU, for the target ``cuda``.

``numba.vectorize(…, target="cuda")`` looks up its target when it is called. Importing Numba takes a second, so this
module does not import Numba itself. It waits until the learner's program does.
"""

import importlib.util
import sys
from importlib.abc import MetaPathFinder

_MODULE = "numba.np.ufunc"  # importing it also registers Numba's own target for CUDA


def serve() -> None:
    """Register the target now if Numba is already imported; otherwise, as soon as Numba is imported."""
    if _MODULE in sys.modules:
        register()
    elif not any(isinstance(finder, _AfterNumba) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterNumba())


def register() -> None:
    """Register the interpreter's targets with Numba's decorators."""
    decorators = sys.modules[f"{_MODULE}.decorators"]
    for registry, made in (
        (decorators.Vectorize.target_registry, _vectorized),
        (decorators.GUVectorize.target_registry, _generalized),
    ):
        registry.ondemand.pop("cuda", None)  # Numba's own CUDA target needs a GPU
        dict.__setitem__(registry, "cuda", made)


def _vectorized(function, identity=None, cache=False, targetoptions=None):
    from course_pkg.simt.vectorizing import Vectorized

    return Vectorized(function)


def _generalized(function, signature, identity=None, cache=False, targetoptions=None, writable_args=()):
    from course_pkg.simt.vectorizing import Generalized

    return Generalized(function, signature)


class _AfterNumba(MetaPathFinder):
    """Calls :func:`register` when Numba's decorators have been imported."""

    def find_spec(self, name, path, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            register()

        spec.loader.exec_module = exec_module
        return spec
