"""Bytes that are not a correct frame raise Malformed at once, and no other error."""

import io
import json
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib import format as npy

from course_pkg.grading import protocol
from course_pkg.grading.protocol import Malformed

MOST = 1 << 20


def frame(value, limit=MOST):
    """Encode a value and take the frame apart."""
    header, text, *arrays = protocol.encode(value, limit)
    assert protocol.sizes(header, limit) == (len(text), sum(map(len, arrays)))
    return text, b"".join(arrays)


def array_frame(data):
    """Return the text of a frame whose value is one array."""
    return json.dumps([[len(data)], {"array": 0}]).encode(), data


def npy_bytes(descr, shape, body, fortran=False, version=1):
    """Write an .npy file by hand, true or not."""
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2, "little") + header + body


def test_written_by_hand_as_it_must_be():
    text, data = array_frame(npy_bytes("'<f8'", "(2,)", np.arange(2.0).tobytes()))
    np.testing.assert_array_equal(protocol.decode(text, data), [0.0, 1.0])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        pickle.dumps([1, 2]),
        npy_bytes("'<f8'", "(2,)", bytes(15)),
        npy_bytes("'<f8'", "(2,)", bytes(17)),
        npy_bytes("'<f8'", "(1152921504606846976,)", bytes(8)),
        npy_bytes("'<f8'", "(-1,)", bytes(8)),
        npy_bytes("'<f8'", "(-1, -1)", bytes(8)),
        npy_bytes("'<f8'", "(True,)", bytes(8)),
        npy_bytes("'<f8'", "(1.0,)", bytes(8)),
        npy_bytes("'<f8'", "1", bytes(8)),
        npy_bytes("'<f8'", "(0, 4611686018427387904, 4611686018427387904)", b""),
        npy_bytes("'<f8'", "(" + "1, " * 64 + "1" + ")", bytes(8)),
        npy_bytes("'<f8'", "(1,)", bytes(8), fortran="3"),
        npy_bytes("'<f8'", "(1,)", bytes(8), version=2),
        npy_bytes("'|O'", "(1,)", pickle.dumps(print)),
        npy_bytes("'|O'", "(1,)", bytes(8)),
        npy_bytes("'<U1'", "(1,)", bytes(4)),
        npy_bytes("'|V8'", "(1,)", bytes(8)),
        npy_bytes("'<M8[s]'", "(1,)", bytes(8)),
        npy_bytes("[('a', '<f8')]", "(1,)", bytes(8)),
        npy_bytes("('<f8', (2,))", "(1,)", bytes(16)),
        npy_bytes("'f8,f8'", "(1,)", bytes(16)),
        npy_bytes("__import__('os').getpid()", "(1,)", bytes(8)),
        npy_bytes("'<f8'", "(" * 150, bytes(8)),
        npy_bytes("'<f8'" + " " * 2000, "(1,)", bytes(8)),
        npy_bytes("-" * 900 + "1", "(1,)", bytes(8)),
    ],
)
def test_arrays_that_are_none(data):
    with pytest.raises(Malformed):
        protocol.decode(*array_frame(data))


def test_object_array_file_is_refused_though_numpy_wrote_it():
    file = io.BytesIO()
    npy.write_array(file, np.array([print], object), allow_pickle=True)
    with pytest.raises(Malformed):
        protocol.decode(*array_frame(file.getvalue()))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "null",
            "[]",
            "[[]]",
            "[[],1,2]",
            "[{},1]",
            "[[1],1]",
            "[[-1],1]",
            "[[true],1]",
            "[[0.0],1]",
            "\xff",
        ),
        *("[[],[1]]", "[[],{}]", '[[],{"list":1}]', '[[],{"list":[],"tuple":[]}]', '[[],{"object":1}]'),
        *(
            '[[],{"array":0}]',
            '[[],{"array":-1}]',
            '[[],{"array":true}]',
            '[[],{"array":"0"}]',
            '[[],{"scalar":0}]',
        ),
        *('[[],{"int":5}]', '[[],{"int":"zz"}]', '[[],{"complex":[1]}]', '[[],{"complex":["a","b"]}]'),
        *('[[],{"dict":[[1]]}]', '[[],{"dict":[[{"list":[]},1]]}]', '[[],{"dict":5}]', '[[],"\\ud800"]'),
        *("[[]," + "9" * 5000 + "]", "[[]," + "9" * 30 + "]", '[[],{"int":"' + "f" * 5000 + '"}]'),
        *("[[]," + "[" * 10**6, "[[]," + '{"list":[' * 40 + "]}" * 40 + "]"),
        '[[],{"dict":[' + ",".join(f"[{k},0]" for k in range(5000)) + "]}]",
        '[[],{"dict":[[{"int":"0x1fffffffffffffffffff"},1]]}]',
    ],
    ids=lambda text: text[:24],
)
def test_texts_that_are_none(text):
    with pytest.raises(Malformed):
        protocol.decode(text.encode("latin-1"), b"")


def test_a_scalar_must_have_no_shape():
    _, data = frame(np.zeros(1))
    with pytest.raises(Malformed, match="scalar"):
        protocol.decode(json.dumps([[len(data)], {"scalar": 0}]).encode(), data)


@pytest.mark.parametrize(
    "mark, text, arrays",
    [(b"CRS2", 1, 1), (b"CRS1", 1, MOST), (b"CRS1", 2**32 - 1, 0), (b"CRS1", 0, 2**64 - 1)],
)
def test_lengths_are_checked_before_memory_is_taken(mark, text, arrays):
    with pytest.raises(Malformed):
        protocol.sizes(protocol.HEADER.pack(mark, text, arrays), MOST)


def test_an_announced_array_takes_no_memory():
    data = npy_bytes("'<f8'", "(100000000,)", bytes(8))
    tracemalloc.start()
    with pytest.raises(Malformed):
        protocol.decode(*array_frame(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_large_values_are_refused_when_sent():
    protocol.encode(np.zeros(1000), MOST)
    with pytest.raises(protocol.NotPlain, match="more than 1 MiB"):
        protocol.encode(np.zeros(MOST // 8 + 1), MOST)
    with pytest.raises(protocol.NotPlain, match="larger than 1 MiB"):
        protocol.encode([np.zeros(MOST // 16), np.zeros(MOST // 16)], MOST)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_random_bytes(text, data):
    with pytest.raises(Malformed):
        protocol.decode(b"[[1]," + text, data)


VALUE = [1.5, {"a": (np.arange(3), np.float32(2))}, "text", 2**70, 1j]


@given(st.data())
def test_one_changed_byte_is_a_value_or_malformed(data):
    text, arrays = frame(VALUE)
    whole = bytearray(text + arrays)
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    try:
        found = protocol.decode(bytes(whole[: len(text)]), bytes(whole[len(text) :]))
    except Malformed:
        return
    frame(found)  # whatever came is plain


def test_the_module_cannot_unpickle():
    words = {name for name in dir(protocol) if "pickle" in name.lower()}
    assert not words
    assert protocol.decode(*frame(VALUE))[0] == 1.5
