"""Random programs: expressions by type, and control flow that always ends."""

import itertools

from hypothesis import strategies as st

SIGNED = ("a[i]", "b[i]", "c[i]", "i", "3", "-7", "100", "np.int32(11)")
UNSIGNED = ("u[i]", "v[i]", "np.uint32(5)", "np.uint8(200)")
REAL = ("f[i]", "g[i]", "0.5", "np.float32(0.1)", "3.0")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def _binary(operators, left, right=None):
    return st.builds("({} {} {})".format, left, st.sampled_from(operators), left if right is None else right)


def _call(functions, inner):
    return st.builds("{}({})".format, st.sampled_from(functions), inner)


def _call2(functions, inner):
    return st.builds("{}({}, {})".format, st.sampled_from(functions), inner, inner)


def _choice(inner):
    return st.builds(
        "({} if {} {} {} else {})".format, inner, inner, st.sampled_from(COMPARISONS), inner, inner
    )


def _signed_step(inner):
    """Signed numbers stay far from the ends of int64: Numba lets LLVM assume that they do not overflow."""
    shift = st.builds("(({} & 1023) {} ({} & 15))".format, inner, st.sampled_from(("<<", ">>")), inner)
    casts = ("-", "~", "abs", "np.int32", "np.int16", "np.int8", "np.int64", "np.int64(np.uint16")
    return st.one_of(
        _binary(("+", "-", "&", "|", "^"), inner),
        st.builds("({} % 100003 * ({} % 1009))".format, inner, inner),
        st.builds("({} {} ({} | 1))".format, inner, st.sampled_from(("//", "%")), inner),
        _call(casts, inner).map(_close),
        _call2(("min", "max"), inner),
        shift,
        st.builds("(({} & 255) ** {})".format, inner, st.sampled_from((2, 3))),
        _choice(inner),
        st.builds("int({} {} {})".format, inner, st.sampled_from(COMPARISONS), inner),
    )


def _close(text):
    return text + ")" * (text.count("(") - text.count(")"))


def _unsigned_step(inner):
    shift = st.builds("({} {} ({} & np.uint32(15)))".format, inner, st.sampled_from(("<<", ">>")), inner)
    return st.one_of(
        _binary(("+", "-", "*", "&", "|", "^"), inner),
        st.builds("({} {} ({} | np.uint32(1)))".format, inner, st.sampled_from(("//", "%")), inner),
        _call(("np.uint32", "np.uint64", "np.uint8", "np.uint16"), inner),
        _call2(("min", "max"), inner),
        shift,
        _choice(inner),
    )


def _real_step(inner):
    divided = st.builds(
        "({} {} (abs({}) + {}))".format,
        inner,
        st.sampled_from(("/", "//", "%")),
        inner,
        st.sampled_from(("1.5", "np.float32(1.5)")),
    )
    return st.one_of(
        _binary(("+", "-", "*"), inner),
        divided,
        _binary(("+", "*"), inner, st.sampled_from(SIGNED)),
        _call(("-", "abs", "np.float32", "np.float64", "math.fabs"), inner),
        # on a CPU the result is an int64, on a GPU a float: as a float64, it is the same number on both
        st.builds("np.float64({}({}))".format, st.sampled_from(("math.floor", "math.ceil")), inner),
        st.builds("math.sqrt(abs({}))".format, inner),
        st.builds("({} ** {})".format, inner, st.sampled_from((2, 3))),
        _call2(("min", "max"), inner),
        _choice(inner),
    )


signed = st.recursive(st.sampled_from(SIGNED), _signed_step, max_leaves=6)
unsigned = st.recursive(st.sampled_from(UNSIGNED), _unsigned_step, max_leaves=6)
real = st.recursive(st.sampled_from(REAL), _real_step, max_leaves=6)


# --- control flow -------------------------------------------------------------------------------------------------

_VARIABLES = ("p", "q", "r")
_small = st.sampled_from((*_VARIABLES, "x[i]", "i", "1", "2", "5", "-3"))
_value = st.one_of(
    _binary(("+", "-", "*", "&", "^"), _small),
    _binary(("//", "%"), _small, st.sampled_from(("3", "-5", "7"))),
)
_condition = st.one_of(
    st.builds("{} {} {}".format, _small, st.sampled_from(COMPARISONS), _small),
    st.builds("{} % {} == {}".format, _small, st.sampled_from((2, 3)), st.sampled_from((0, 1))),
    st.builds("{} < {} <= {}".format, _small, _small, _small),
    st.builds("{} > 0 and {} < 3".format, _small, _small),
    st.builds("not {} > 2 or {} == 1".format, _small, _small),
)
_range = st.one_of(
    st.builds("range({} & 3)".format, _small),
    st.builds("range({} & 3, {} & 7)".format, _small, _small),
    st.builds("range({} & 7, {} & 3, {})".format, _small, _small, st.sampled_from((-1, -3, 2))),
)


def _assignment(draw):
    variable, value = draw(st.sampled_from(_VARIABLES)), draw(_value)
    return [
        draw(st.sampled_from((f"{variable} = {value} & 1023", f"{variable} = ({variable} + {value}) % 997")))
    ]


def _store(draw):
    column, name = draw(st.integers(0, 2)), draw(st.sampled_from(_VARIABLES))
    return [draw(st.sampled_from((f"out[i, {column}] = {name}", f"out[i, {column}] += {name} % 64")))]


def _exchange(draw):
    return [draw(st.sampled_from(("p, q = q, p", "p, q, r = r, p, q", "q, r = (r, q) if p > r else (q, r)")))]


@st.composite
def control_flow(draw, most=12):
    """The body of a kernel on the integers p, q, r of a thread; reads ``x[i]``, stores to ``out[i, 0..2]``."""
    numbers = itertools.count()
    left = [most]

    def statement(depth, loops):
        left[0] -= 1
        kinds = [_assignment, _assignment, _store, _exchange]
        if loops:
            kinds += [leave]
        if depth < 4 and left[0] > 0:
            kinds += [branch, branch, counted_loop, while_loop, give_up]
        kind = draw(st.sampled_from(kinds))
        return kind(draw) if kind in (_assignment, _store, _exchange) else kind(depth, loops)

    def block(depth, loops):
        lines = [line for _ in range(draw(st.integers(1, 3))) for line in statement(depth, loops)]
        return ["    " + line for line in lines]

    def branch(depth, loops):
        lines = [f"if {draw(_condition)}:", *block(depth + 1, loops)]
        if draw(st.booleans()):
            lines += [f"elif {draw(_condition)}:", *block(depth + 1, loops)]
        return lines + (["else:", *block(depth + 1, loops)] if draw(st.booleans()) else [])

    def counted_loop(depth, loops):
        name = f"k{next(numbers)}"
        body = [f"    p = (p + {name}) & 1023", *block(depth + 1, loops + 1)]
        return [f"for {name} in {draw(_range)}:", *body, *_else(draw, block, depth, loops)]

    def while_loop(depth, loops):
        name = f"w{next(numbers)}"
        head = [
            f"{name} = 0",
            f"while {name} < ({draw(_small)} & 3) + {draw(st.integers(0, 2))}:",
            f"    {name} += 1",
        ]
        return [*head, *block(depth + 1, loops + 1), *_else(draw, block, depth, loops)]

    def leave(depth, loops):
        return [f"if {draw(_condition)}:", "    " + draw(st.sampled_from(("break", "continue")))]

    def give_up(depth, loops):
        return [f"if {draw(_condition)}:", "    return"]

    lines = ["p = x[i]", "q = i", "r = 1"]
    for _ in range(draw(st.integers(2, 5))):
        lines += statement(0, 0)
    return "\n".join([*lines, "out[i, 0] += p", "out[i, 1] += q", "out[i, 2] += r"])


def _else(draw, block, depth, loops):
    return ["else:", *block(depth + 1, loops)] if draw(st.integers(0, 5)) == 0 else []
