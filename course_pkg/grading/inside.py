"""The code that the sandbox runs before a learner's first cell. The judge sends it as text and never imports it.

It does two things. First, it replaces both ``course_pkg.cuda`` and ``numba.cuda`` by one module, which has exactly the
names of Numba's, so that an answer cannot find out where it runs. Second, it defines :func:`_look`, which tells the
judge what a name stands for. The judge has to ask, because a learner may make a kernel in any way that Python allows,
and only the running Python process knows from which text it was made. The answer of ``_look`` is not trusted, since
learners can change it: the judge accepts from it only the place of a text in the learner's own cell, numbers, and names
of an allow-list.
"""


def _prepare():
    import importlib.abc
    import importlib.machinery
    import os
    import sys
    import types

    doors, pairs = ("course_pkg.cuda", "numba.cuda"), "course_pkg.device.pairs"
    modules = {}

    class Door(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        """Finds ``cuda`` under both names. The module is made at its first import, because that takes time."""

        def find_spec(self, name, path=None, target=None):
            if name in changed:
                spec = importlib.machinery.PathFinder.find_spec(name, path, target)
                spec.loader.exec_module = types.MethodType(changed[name], spec.loader)
                return spec
            return importlib.machinery.ModuleSpec(name, self) if name in doors else None

        def create_module(self, spec):
            if "cuda" not in modules:
                modules["cuda"] = made()
            return modules["cuda"]

        def exec_module(self, module):
            module.__name__ = module.__package__ = "numba.cuda"

    def in_the_interpreter(loader, module):
        """Run a module of the course whose definitions depend on ``cuda.BACKEND``, with the interpreter's value."""
        from course_pkg import cuda

        cuda.BACKEND = "simt"
        try:
            type(loader).exec_module(loader, module)
        finally:
            del cuda.BACKEND

    def without_files(loader, module):
        """Run Numba's module for ``cache=True``; the text of a cell is in no file, so nothing is kept in files."""
        type(loader).exec_module(loader, module)
        module.FunctionCache = lambda function: module.NullCache()

    changed = {pairs: in_the_interpreter, "numba.core.caching": without_files}

    def made():
        from course_pkg.simt import api, door_of_numba

        cuda = types.ModuleType("numba.cuda", "CUDA for Python.")
        own = ("Device", "DeviceArray", "Event", "Stream")  # numba.cuda itself does not have these names
        vars(cuda).update({name: getattr(api, name) for name in api.__all__ if name not in own})

        later = api.__getattr__  # for names that need Numba: types, reductions and universal functions

        def absent(name):
            try:
                return later(name)
            except AttributeError:
                raise AttributeError(
                    f"cuda.{name} is not there where answers are judged: do without it."
                ) from None

        cuda.__getattr__ = absent
        door_of_numba.serve()
        api.Device.name = b"NVIDIA H200"  # the interpreter has the limits of this GPU
        del sys.modules["course_pkg.simt.api"], sys.modules["course_pkg.simt"].api
        return cuda

    for name in doors:
        if name in sys.modules:
            del sys.modules[name]
            vars(sys.modules[name.partition(".")[0]]).pop("cuda", None)
    sys.meta_path.insert(0, Door())
    os.environ.pop("COURSE_BACKEND", None)
    # keep these functions: a learner may replace them later
    main, plain = sys.modules["__main__"], (bool, int, float, complex)
    function, module, missing = types.FunctionType, types.ModuleType, object()

    def about(thing, numpy, depth=0):
        """Describe a value by plain values."""
        if thing is None:
            return {"is": "None"}
        if isinstance(thing, plain) or (numpy and isinstance(thing, (numpy.number, numpy.bool_))):
            value = number(thing)
            small = type(value) is not int or abs(value) < 1 << 64
            return {"is": "number", "value": value} if small else {"is": "int"}
        if isinstance(thing, tuple) and depth < 4:
            return {"is": "tuple", "parts": [about(part, numpy, depth + 1) for part in thing[:100]]}
        if numpy and isinstance(thing, numpy.ndarray):
            small = thing.nbytes <= 1 << 16 and thing.dtype.kind in "biufc"
            return {"is": "array", "value": numpy.array(thing, subok=False)} if small else {"is": "array"}
        if numpy and isinstance(thing, numpy.dtype):
            return {"is": "member", "of": "numpy", "name": thing.name}
        if isinstance(thing, module):
            return {"is": "module", "name": str(thing.__name__)}
        if isinstance(getattr(type(thing), "simt_name", None), str):
            return {"is": "cuda", "name": str(thing.simt_name)}
        if callable(getattr(thing, "py_func", None)):
            return kernel(thing, numpy, depth)
        if isinstance(thing, function):
            return {"is": "function"}
        name = getattr(thing, "__name__", None) or getattr(thing, "name", None)
        home = getattr(thing, "__module__", None) or "numpy"
        if isinstance(name, str) and isinstance(home, str):
            return {"is": "member", "of": home, "name": name, "kind": type(thing).__name__[:40]}
        return {"is": type(thing).__name__[:40]}

    def number(thing):
        for kind in plain:
            if isinstance(thing, kind):
                return kind(thing)
        return thing

    def kernel(thing, numpy, depth):
        code = getattr(thing.py_func, "__code__", None)
        if code is None:
            return {"is": "kernel of no text"}
        held = zip(code.co_freevars, thing.py_func.__closure__ or (), strict=False)
        free = {}
        for name, cell in held:
            try:
                free[name] = about(cell.cell_contents, numpy, depth + 1) if depth < 4 else {"is": "cell"}
            except ValueError:  # a cell of the closure that is still empty
                continue
        place = {"cell": code.co_filename.strip("<>"), "line": code.co_firstlineno, "name": code.co_name}
        declared = [[kind(one) for one in s.arguments] for s in getattr(thing, "signatures", ())]
        told = {"is": "kernel", "device": bool(getattr(thing, "device", False)), "signatures": declared}
        return told | {"free": free} | place

    def kind(declared):
        """Describe a type of a signature: its name, the parts of a tuple, or what an array's elements are."""
        if hasattr(declared, "layout"):
            return {"of": str(declared.dtype), "ndim": int(declared.ndim), "layout": str(declared.layout)}
        return [kind(part) for part in declared] if hasattr(declared, "types") else str(declared)

    def look(names):
        """Describe what names in the cells stand for."""
        numpy = sys.modules.get("numpy")
        found = {name: vars(main).get(name, missing) for name in names}
        return {name: about(thing, numpy) for name, thing in found.items() if thing is not missing}

    return look


_look = _prepare()
del _prepare
