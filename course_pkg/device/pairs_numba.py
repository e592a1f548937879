"""``load_pair`` and ``store_pair`` for Numba's compiler: loads and stores of two numbers, written for LLVM."""

from llvmlite import ir
from numba import types
from numba.core.errors import NumbaTypeError
from numba.cuda.extending import intrinsic

INT32, INT64 = ir.IntType(32), ir.IntType(64)


def _check(array, index):
    fits = isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"
    if not (fits and array.dtype in (types.float64, types.float32) and isinstance(index, types.Integer)):
        raise NumbaTypeError(
            "a pair needs a contiguous vector of float64 or float32 in global memory, and an integer index: "
            "pass u.reshape(u.size)"
        )


def _pair_at(context, builder, array_type, array, index_type, index):
    """Return the address of a pair and its alignment in bytes."""
    number = context.get_value_type(array_type.dtype)
    vector = context.make_array(array_type)(context, builder, array)
    widen = builder.sext if index_type.signed else builder.zext
    offset = index if index_type.bitwidth == 64 else widen(index, INT64)
    place = builder.gep(vector.data, [offset])
    size = array_type.dtype.bitwidth // 8
    return builder.bitcast(place, ir.VectorType(number, 2).as_pointer()), 2 * size


@intrinsic
def load_pair(typing_context, array, index):
    """Return elements ``index`` and ``index + 1`` of a vector, by one load."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        place, alignment = _pair_at(
            context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1]
        )
        pair = builder.load(place, align=alignment)
        parts = [builder.extract_element(pair, INT32(which)) for which in (0, 1)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(array.dtype, 2)(array, index), generate


@intrinsic
def store_pair(typing_context, array, index, first, second):
    """Write two numbers to elements ``index`` and ``index + 1`` of a vector, by one store."""
    _check(array, index)
    if not array.mutable:
        raise NumbaTypeError("the array of store_pair is read-only: pass a writable array")

    def generate(context, builder, signature, arguments):
        kind = signature.args[0].dtype
        place, alignment = _pair_at(
            context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1]
        )
        pair = ir.Constant(ir.VectorType(context.get_value_type(kind), 2), ir.Undefined)
        for which in (0, 1):
            number = context.cast(builder, arguments[2 + which], signature.args[2 + which], kind)
            pair = builder.insert_element(pair, number, INT32(which))
        builder.store(pair, place, align=alignment)
        return context.get_dummy_value()

    return types.void(array, index, first, second), generate
