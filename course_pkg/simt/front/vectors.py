"""CUDA's short vectors in a kernel, such as ``cuda.float32x4(1.0, 2.0, 3.0, 4.0).x``: tuples whose parts have names."""

import re

PARTS = "xyzw"
_NAME = re.compile(r"(u?int(?:8|16|32|64)|float(?:32|64))x([1-4])")
_C_NAMES = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip


def parts_of(name: str) -> tuple[str, int] | None:
    """Return the type and the number of a vector type's parts, from its name; return None for any other name.

    Examples
    --------
    >>> parts_of("float32x4"), parts_of("uchar3")
    (('float32', 4), ('uint8', 3))
    >>> parts_of("float32")
    """
    found = _NAME.fullmatch(name)
    if found:
        return found[1], int(found[2])
    kind = _C_NAMES.get(name[:-1])
    return (kind, int(name[-1])) if kind and name[-1] in "1234" else None
