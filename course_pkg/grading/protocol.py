"""The protocol between the judge and the sandbox: it writes plain values as bytes and reads them from bytes.

Bytes from a sandbox may be an attack. So lengths are checked before memory is allocated, arrays are ``.npy`` bytes that
may contain only numbers, nothing is ever unpickled, and all other bytes raise :class:`Malformed`. A frame is a header,
a JSON text and the arrays that the text refers to by number.

The sandbox loads this file by its path, so it imports nothing of the course.
"""

import io
import json
import math
import re
import struct

import numpy as np
from numpy.lib import format as npy

HEADER = struct.Struct(">4sIQ")  # mark, bytes of the JSON text, bytes of the arrays
MARK = b"CRS1"
KINDS = "biufc"
SCALARS = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdgFDG")

TEXT_BYTES = 8 << 20
DEPTH = 32
BLOBS = 10_000
# most entries of a dictionary: if keys are chosen to collide, the time grows with the square of their number
ENTRIES = 4096
INTEGER_BITS = 4096
ITEMS = 1 << 20  # most items of one list or tuple
NPY_HEADER_BYTES = 1024
INT64 = range(-(2**63), 2**63)
# Matches only headers that numpy writes for arrays of numbers. Numpy's own reader would evaluate any header.
NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)(?P<header>\{'descr': '(?P<descr>[<>|][biufc]\d{1,2})', "
    rb"'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:\d{1,19},|\d{1,19}(?:, \d{1,19}){1,63})?)\), \} *\n)",
    re.DOTALL,
)


class NotPlain(TypeError):
    """A value that is not plain; ``what`` describes it, such as ``a Foo``."""

    def __init__(self, what: str):
        super().__init__(what)
        self.what = what


class Malformed(ValueError):
    """Bytes that are not a correct frame."""


# ---------------------------------------------------------------------------------------------------------- encoding


def encode(value, limit: int) -> list[bytes]:
    """Write a plain value as the parts of one frame.

    Parameters
    ----------
    value : plain value
        None, bool, int, float, complex, str, list, tuple, dict, numpy arrays of kinds ``biufc``, numpy scalars.
        An array that occurs twice is sent once and stays one array.
    limit : int
        Largest size of the frame in bytes.

    Raises
    ------
    NotPlain
        For any other value, and for values that are too large.
    """
    blobs, seen = [], {}
    tree = _encode(value, blobs, seen, limit, 0)
    text = json.dumps([[len(b) for b in blobs], tree], separators=(",", ":")).encode("ascii")
    size = sum(map(len, blobs))
    if len(text) > TEXT_BYTES or len(blobs) > BLOBS or size + len(text) > limit:
        raise NotPlain(f"something larger than {limit >> 20} MiB, or too many numbers outside of arrays")
    return [HEADER.pack(MARK, len(text), size), text, *blobs]


def _encode(value, blobs, seen, limit, depth):
    value = _as_plain(value)
    kind = type(value)
    if depth > DEPTH:
        raise NotPlain(f"something nested more than {DEPTH} deep")
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        return value if value in INT64 else {"int": _hexadecimal(value)}
    if kind is str:
        return _text(value)
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if kind is list or kind is tuple:
        if len(value) > ITEMS:
            raise NotPlain(f"a {kind.__name__} of more than {ITEMS} entries")
        return {kind.__name__: [_encode(v, blobs, seen, limit, depth + 1) for v in value]}
    if kind is dict:
        return {"dict": _encode_entries(value, blobs, seen, limit, depth + 1)}
    if kind is np.ndarray:
        return {"array": _blob(value, blobs, seen, limit)}
    if kind in SCALARS:
        return {"scalar": _blob(np.asarray(value), blobs, {}, limit)}
    if hasattr(kind, "copy_to_host"):
        raise NotPlain("an array in GPU memory, which copy_to_host() brings back")
    raise NotPlain(f"a {kind.__name__}")


def _as_plain(value):
    """Return an instance of a derived class as its base class: a Counter as a dict, an IntEnum member as an int."""
    if type(value) is np.ndarray or type(value) in SCALARS or value is None or type(value) is bool:
        return value
    if issubclass(type(value), np.ndarray):
        return value if issubclass(type(value), np.ma.MaskedArray) else value.view(np.ndarray)
    for kind in (int, float, complex, str, list, tuple, dict):
        if issubclass(type(value), kind):  # not isinstance, which trusts the object's own __class__
            return value if type(value) is kind else kind(value)
    return value


def _encode_entries(value, blobs, seen, limit, depth):
    if len(value) > ENTRIES:
        raise NotPlain(f"a dictionary of more than {ENTRIES} entries")
    if not all(_is_key(key) for key in value):
        raise NotPlain("a dictionary whose keys are not plain numbers, texts or tuples of them")
    return [[_encode(part, blobs, seen, limit, depth) for part in entry] for entry in value.items()]


def _is_key(key) -> bool:
    if type(key) is tuple:
        return len(key) <= DEPTH and all(type(part) is not tuple and _is_key(part) for part in key)
    return key is None or type(key) in (bool, float, str) or (type(key) is int and key in INT64)


def _hexadecimal(value):
    if value.bit_length() > INTEGER_BITS:
        raise NotPlain(f"an integer of more than {INTEGER_BITS} bits")
    return hex(value)


def _text(value):
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise NotPlain("a text with half of a surrogate pair") from None
    return value


def _blob(array, blobs, seen, limit) -> int:
    """Append an array as ``.npy`` bytes and return its number."""
    if id(array) in seen:
        return seen[id(array)]
    if array.dtype.kind not in KINDS:
        raise NotPlain(f"an array of dtype {array.dtype}")
    if array.size * array.itemsize > limit:
        raise NotPlain(f"an array of more than {limit >> 20} MiB")
    file = io.BytesIO()
    header = npy.header_data_from_array_1_0(array)
    npy.write_array_header_1_0(file, header)
    blobs.append(file.getvalue() + array.tobytes("F" if header["fortran_order"] else "C"))
    seen[id(array)] = len(blobs) - 1
    seen[-len(blobs)] = array  # kept alive, so that no other array gets the same id meanwhile
    return len(blobs) - 1


# ---------------------------------------------------------------------------------------------------------- decoding


def sizes(header: bytes, limit: int) -> tuple[int, int]:
    """Read a frame's header; return the number of bytes of its text and of its arrays.

    Raises
    ------
    Malformed
        For a wrong mark, or a frame of more than ``limit`` bytes.
    """
    mark, text, arrays = HEADER.unpack(header)
    if mark != MARK or text > TEXT_BYTES or text + arrays > limit:
        raise Malformed("a frame that is too large or none of ours")
    return text, arrays


def decode(text: bytes, data):
    """Decode the value of a frame; its arrays are new, writable and aligned.

    Parameters
    ----------
    text : bytes
        The frame's JSON.
    data : bytes-like
        The bytes of its arrays, one after the other.

    Raises
    ------
    Malformed
        For bytes that :func:`encode` cannot have written.
    """
    try:
        lengths, tree = json.loads(text)
        return _decode(tree, _arrays(lengths, memoryview(data)), 0)
    except Malformed:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, MemoryError) as error:
        raise Malformed(f"{type(error).__name__} in a frame") from None


def _arrays(lengths, data):
    honest = type(lengths) is list and len(lengths) <= BLOBS
    if not honest or not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) != len(data):
        raise Malformed("arrays that do not fill their frame")
    arrays, at = [], 0
    for length in lengths:
        arrays.append(_array(data[at : at + length]))
        at += length
    return arrays


def _array(data) -> np.ndarray:
    """Return the array in ``.npy`` bytes, which must contain plain numbers and nothing after them."""
    found = NPY.match(data[:NPY_HEADER_BYTES])
    if found is None or int.from_bytes(found["length"], "little") != len(found["header"]):
        raise Malformed("an array of something else than numbers")
    dtype = np.dtype(found["descr"].decode())
    shape = tuple(int(n) for n in found["shape"].split(b",") if n.strip())
    body, order = data[found.end() :], "F" if found["fortran"] == b"True" else "C"
    if math.prod(shape) * dtype.itemsize != len(body):
        raise Malformed("an array whose size is not its shape's")
    flat = np.frombuffer(body, dtype) if len(body) else np.empty(0, dtype)
    return np.array(flat.reshape(shape, order=order), order=order)


def _decode(tree, arrays, depth):
    if depth > DEPTH:
        raise Malformed("a value nested too deep")
    if tree is None or type(tree) in (bool, float) or (type(tree) is int and tree in INT64):
        return tree
    if type(tree) is str:
        tree.encode("utf-8")  # raises on half of a surrogate pair
        return tree
    if type(tree) is not dict or len(tree) != 1:
        raise Malformed("a value without a kind")
    ((kind, inner),) = tree.items()
    return _READERS[kind](inner, arrays, depth + 1)


def _read_list(inner, arrays, depth):
    if type(inner) is not list:
        raise Malformed("a list that is none")
    return [_decode(part, arrays, depth) for part in inner]


def _read_dict(inner, arrays, depth):
    if len(inner) > ENTRIES:
        raise Malformed("a dictionary with too many entries")
    found = {}
    for key, value in inner:
        key = _decode(key, arrays, depth)
        if not _is_key(key):
            raise Malformed("a key that is none")
        found[key] = _decode(value, arrays, depth)
    return found


def _read_complex(inner, _arrays, _depth):
    real, imag = inner
    if type(real) is not float or type(imag) is not float:
        raise Malformed("a complex number of something else")
    return complex(real, imag)


def _read_int(inner, _arrays, _depth):
    if type(inner) is not str or len(inner) > INTEGER_BITS // 4 + 4:
        raise Malformed("an integer that is none")
    return int(inner, 16)


def _read_array(inner, arrays, _depth):
    if type(inner) is not int or inner < 0:
        raise Malformed("an array that was not sent")
    return arrays[inner]


def _read_scalar(inner, arrays, depth):
    found = _read_array(inner, arrays, depth)
    if found.ndim:
        raise Malformed("a scalar with a shape")
    return found[()]


_READERS = {
    "list": _read_list,
    "tuple": lambda inner, arrays, depth: tuple(_read_list(inner, arrays, depth)),
    "dict": _read_dict,
    "complex": _read_complex,
    "int": _read_int,
    "array": _read_array,
    "scalar": _read_scalar,
}
