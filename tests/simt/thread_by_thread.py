"""An oracle for hazards: run a kernel one thread at a time, and note who touches what.

The kernel's source becomes a generator that yields at every barrier, shuffle and vote. Between two of them a thread
runs alone, so results are those of one legal schedule, and which accesses are ordered is known exactly. Nothing here
is shared with the interpreter that it judges; it takes any time it needs.
"""

import ast
import inspect
import itertools
from typing import NamedTuple

import numpy as np
from recorded_arrays import Access, Found, Recorded, Thread
from thread_collectives import BLOCK_LEVEL, WARP_LEVEL, answer

WARP = 32
RETURNED = "returned"


class Run:
    """One launch: accesses, hazards, and the position of the thread that runs now.

    Parameters
    ----------
    source, name : str
        Text of the kernel (lines count from 1) and its name.
    names : dict
        Globals of the kernel; ``cuda`` is replaced.
    grid, block : tuple of int
        Sizes as (x, y, z).
    arguments : dict
        Arrays and scalars by parameter; arrays are written.
    shared_bytes : int
        Dynamic shared memory of a block.
    """

    def __init__(self, source, name, names, grid, block, arguments, shared_bytes=0):
        self.grid, self.block, self.shared_bytes = grid, block, shared_bytes
        self.accesses: list[Access] = []
        self.found: list[Found] = []
        self.targets, kernel = _generator(source, name, names, FakeCuda(self))
        self.arguments = {
            key: Recorded(self, value, key, "global") if isinstance(value, np.ndarray) else value
            for key, value in arguments.items()
        }
        for z, y, x in np.ndindex(*reversed(grid)):
            self._run_block(kernel, (x, y, z))

    def _run_block(self, kernel, block):
        self.epoch, self.shared, self.reached_the_end = 0, {}, False
        threads = [Thread(block, (x, y, z)) for z, y, x in np.ndindex(*reversed(self.block))]
        self.warp_epoch = [0] * -(-len(threads) // WARP)
        bodies = [kernel(**self.arguments) for _ in threads]
        running = dict.fromkeys(range(len(threads)))
        waiting = {}
        while running or waiting:
            for number, value in running.items():
                self.current, self.number = threads[number], number
                try:
                    waiting[number] = bodies[number].send(value)
                except StopIteration as end:
                    self.reached_the_end |= end.value != RETURNED
            running = self._release(waiting, threads)

    def _release(self, waiting, threads):
        """The threads that go on, with what their barrier or shuffle hands them."""
        for warp in sorted({n // WARP for n in waiting}):
            ready = {n: w for n, w in waiting.items() if n // WARP == warp and w[0] in WARP_LEVEL}
            if ready:
                first = min(w[1] for w in ready.values())
                group = {n: waiting.pop(n) for n, w in ready.items() if w[1] == first}
                self.warp_epoch[warp] += 1
                return answer(group, len(threads))
        if waiting and (self.reached_the_end or len({w[:2] for w in waiting.values()}) > 1):
            for number, (_, line, *_rest) in waiting.items():
                self.found.append(Found("divergent_barrier", line, None, None, threads[number]))
        self.epoch += 1
        group = dict(waiting)
        waiting.clear()
        return answer(group, len(threads))

    def note(self, array, index, line, write, atomic):
        """Record an access of the thread that runs now."""
        warp = self.number // WARP
        order = (self.epoch, self.warp_epoch[warp], warp)
        self.accesses.append(Access(array.address(index), self.current, line, write, atomic, order))

    def conflicts(self):
        """Each conflict ``(address, access, access)``: two threads, one writes, nothing orders them."""
        by_address = {}
        for access in self.accesses:
            by_address.setdefault(access.address, set()).add(access)
        for address, accesses in by_address.items():
            for a, b in itertools.combinations(accesses, 2):
                if unordered(a, b):
                    yield address, a, b

    def conflict_lines(self):
        """The set of (frozenset of two lines, whether the threads share a warp) of all conflicts."""
        return {(frozenset((a.line, b.line)), same_warp(a, b)) for _, a, b in self.conflicts()}


def same_warp(a, b):
    """Whether two accesses come from one warp."""
    return a.thread.block == b.thread.block and a.order[2] == b.order[2]


def unordered(a, b):
    """Whether two accesses of one element are a race."""
    if a.thread == b.thread or not (a.write or b.write) or (a.atomic and b.atomic):
        return False
    if a.thread.block != b.thread.block:
        return True
    if a.order[0] != b.order[0]:
        return False
    return a.order[2] != b.order[2] or a.order[1] == b.order[1]


class _Yields(ast.NodeTransformer):
    """Turn ``cuda.syncthreads()`` and its like into ``yield (name, line, arguments...)``, and mark each ``return``.

    A thread that returned counts as arrived at later barriers; one that went around a barrier to the end does not.
    """

    def visit_Return(self, node):
        node.value = ast.Constant(RETURNED)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in BLOCK_LEVEL | WARP_LEVEL:
            head = [ast.Constant(called.attr), ast.Constant(node.lineno)]
            return ast.Yield(ast.Tuple([*head, *node.args], ast.Load()))
        return node


def _generator(source, name, names, fake):
    tree = ast.parse(source)
    targets = {
        node.lineno: node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in tree.body:
        node.decorator_list = []
    tree = ast.fix_missing_locations(_Yields().visit(tree))
    namespace = {**names, "cuda": fake}
    exec(compile(tree, "<kernel>", "exec"), namespace)
    function = namespace[name]
    if inspect.isgeneratorfunction(function):
        return targets, function

    def body(**arguments):
        function(**arguments)
        return
        yield

    return targets, body


class FakeCuda:
    """The part of ``numba.cuda`` that the mutants use, for the thread that runs now."""

    warpsize = WARP

    def __init__(self, run):
        self._run = run
        self.shared = _Space(run, "shared")
        self.local = _Space(run, "local")
        self.atomic = _Atomic()

    threadIdx = property(lambda self: _XYZ(*self._run.current.thread))
    blockIdx = property(lambda self: _XYZ(*self._run.current.block))
    blockDim = property(lambda self: _XYZ(*self._run.block))
    gridDim = property(lambda self: _XYZ(*self._run.grid))
    laneid = property(lambda self: self._run.number % WARP)

    def grid(self, ndim):
        """Position of the thread in the grid."""
        run = self._run
        place = zip(run.current.block, run.block, run.current.thread, strict=True)
        position = tuple(b * size + t for b, size, t in place)[:ndim]
        return position[0] if ndim == 1 else position

    def gridsize(self, ndim):
        """Threads of the grid in each direction."""
        sizes = tuple(g * b for g, b in zip(self._run.grid, self._run.block, strict=True))[:ndim]
        return sizes[0] if ndim == 1 else sizes


class _XYZ(NamedTuple):
    x: int
    y: int
    z: int


class _Space:
    def __init__(self, run, space):
        self.run, self.space = run, space

    def array(self, shape, dtype):
        from numba.np.numpy_support import as_dtype

        run = self.run
        line = inspect.currentframe().f_back.f_lineno
        dtype = as_dtype(dtype)
        if self.space == "local":
            return Recorded(run, np.zeros(shape, dtype), run.targets[line], "local")
        if line not in run.shared:
            size = run.shared_bytes // dtype.itemsize if shape == 0 else shape
            run.shared[line] = Recorded(run, np.zeros(size, dtype), run.targets[line], "shared")
        return run.shared[line]


class _Atomic:
    def add(self, array, index, value):
        return array.atomic(index, lambda old: old + value)

    def max(self, array, index, value):
        return array.atomic(index, lambda old: max(old, value))

    def min(self, array, index, value):
        return array.atomic(index, lambda old: min(old, value))
