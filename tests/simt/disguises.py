"""Rewrite a kernel: the same accesses under other names, or with something else in place of a barrier."""

import ast
import builtins
import copy
from functools import cache

from course_pkg.simt import api
from course_pkg.simt.run.kernel import Kernel
from course_pkg.simt.run.launch import run_launch

HELPERS = """
def load_(q, i):
    return q[i]

def store_(q, i, v):
    row = q
    row[i] = v

def update_(q, i, v):
    up = cuda.atomic
    up.add(q, i, v)
"""
DUMMY = "dummy_"


@cache
def device_functions():
    """Return the helpers that a kernel in disguise may call."""
    names = {"cuda": api}
    for name in ("load_", "store_", "update_"):
        names[name] = Kernel.from_source(HELPERS, name, names, device=True)
    return names


def disguised(program, transform):
    """Return a kernel of a program whose tree was transformed, or None if that changed nothing."""
    before = _text(program)
    text = ast.unparse(ast.fix_missing_locations(transform(ast.parse(before).body[0])))
    if text == before:
        return None
    return Kernel.from_source(text, program.name, {**program.names, **device_functions()})


@cache
def _text(program):
    tree = copy.copy(program.tree)
    tree.decorator_list = []
    return ast.unparse(tree)


def kinds(launch, arguments):
    """Return the kinds of hazards of a launch."""
    return {h.kind for h in run_launch(launch, arguments, check=True).log.found}


class _Rename(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        return node


def renamed(tree):
    """Give every parameter and variable a name that says nothing."""
    own = [a.arg for a in tree.args.args]
    own += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return _Rename({name: f"v{k}_" for k, name in enumerate(dict.fromkeys(own))}).visit(tree)


def _second_names(tree, pattern):
    """Use another name for each array from where it has its first; ``pattern`` makes it."""
    arrays = _arrays(tree)
    tree.body = [_Rename({name: f"{name}_2" for name in arrays}).visit(s) for s in tree.body]
    parameters = [a.arg for a in tree.args.args if a.arg in arrays]
    head = [line for name in parameters for line in ast.parse(pattern.format(old=name, new=f"{name}_2")).body]
    tree.body = [*head, *tree.body]
    return tree


def _arrays(tree):
    """Names that are subscripted, or updated by atomics, and never assigned anew."""
    parameters = {a.arg for a in tree.args.args}
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bases = {
        n.value.id for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)
    }
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and "atomic" in ast.unparse(n.func)]
    return (bases | {c.args[0].id for c in calls}) & (parameters - stored)


def assigned(tree):
    """Name each array anew by an assignment."""
    return _second_names(tree, "{new} = {old}")


def unpacked(tree):
    """Name each array anew out of a nested tuple."""
    return _second_names(tree, "({new}, x_), y_ = ({old}, 1), 2")


def chosen(tree):
    """Name each array anew by a choice between the same."""
    return _second_names(tree, "{new} = {old} if cuda.threadIdx.x >= 0 else {old}")


def looped(tree):
    """Name each array anew by a loop over a tuple of it."""
    return _second_names(tree, "for {new} in ({old},): pass")


class _Rows(ast.NodeTransformer):
    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Tuple):
            return node
        *outer, last = node.slice.elts
        base = node.value
        for index in outer:
            base = ast.Subscript(base, index, ast.Load())
        return ast.Subscript(base, last, node.ctx)


def rows(tree):
    """Write ``a[i][j]`` for ``a[i, j]``."""
    return _Rows().visit(tree)


class _Helpers(ast.NodeTransformer):
    def __init__(self, arrays):
        self.arrays = arrays

    def _is_ours(self, node):
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.arrays
        )

    def visit_Call(self, node):
        """Leave what a function of the module gets: it may be a row, and Numba lets no function return a row."""
        if isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id):
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if self._is_ours(node) and isinstance(node.ctx, ast.Load):
            return ast.Call(ast.Name("load_", ast.Load()), [node.value, node.slice], [])
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        return (
            ast.Expr(_stored(target, node.value))
            if len(node.targets) == 1 and self._is_ours(target)
            else node
        )

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not self._is_ours(node.target):
            return node
        old = ast.Call(ast.Name("load_", ast.Load()), [node.target.value, node.target.slice], [])
        return ast.Expr(_stored(node.target, ast.BinOp(old, node.op, node.value)))

    def visit_Expr(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "cuda.atomic.add":
            node.value.func = ast.Name("update_", ast.Load())
        return node


def _stored(target, value):
    return ast.Call(ast.Name("store_", ast.Load()), [target.value, target.slice, value], [])


def in_helpers(tree):
    """Load, store and add through device functions."""
    return _Helpers(_arrays(tree) | _made(tree)).visit(tree)


def _made(tree):
    """Names of shared and local arrays."""
    return {
        n.targets[0].id
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign)
        and isinstance(n.value, ast.Call)
        and ast.unparse(n.value.func).endswith(".array")
    }


KEEPING = (renamed, assigned, unpacked, chosen, looped, rows, in_helpers)
INSTEAD = {
    "dropped": "pass",
    "fence of the block": "cuda.threadfence_block()",
    "fence": "cuda.threadfence()",
    "atomic": f"cuda.atomic.add({DUMMY}, 0, 1)",
    "fence and two atomics": f"cuda.threadfence(); cuda.atomic.add({DUMMY}, 0, 1)\n"
    f"if cuda.atomic.add({DUMMY}, 0, 1) >= 0: pass",
}
BLOCK = "cuda.blockIdx.x + cuda.blockIdx.y + cuda.blockIdx.z"
OTHERS = "cuda.gridDim.x + cuda.gridDim.y + cuda.gridDim.z - 3"
SOME_BLOCKS = {
    name: f"if {which}:\n    cuda.syncthreads()"
    for name, which in {
        "the first block": f"{BLOCK} == 0",
        "the last block": f"{BLOCK} == {OTHERS}",
        "even blocks": f"({BLOCK}) % 2 == 0",
        "blocks that data choose": f"{DUMMY}[{BLOCK}] > 0",
    }.items()
}


def barriers(tree):
    """Return the statements that are ``cuda.syncthreads()``, in the order of the source."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Expr) and ast.unparse(n) == "cuda.syncthreads()"]
    return sorted(found, key=lambda n: n.lineno)


def without_barrier(number, instead):
    """Return a transformation that puts something else in place of a barrier, and adds the dummy's parameter."""

    def transform(tree):
        victim = barriers(tree)[number]

        class Replace(ast.NodeTransformer):
            def visit_Expr(self, node):
                return ast.parse(instead).body if node is victim else node

        tree.args.args.append(ast.arg(DUMMY))
        return Replace().visit(tree)

    return transform
