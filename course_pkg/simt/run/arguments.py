"""Check the arguments of a launch: refuse those that Numba would refuse."""

import numpy as np

from course_pkg.core.limits import ARGUMENT_BYTES
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.named import parts_of


def is_array(argument) -> bool:
    """Return whether an argument is a host array or a device array."""
    return isinstance(argument, np.ndarray) or hasattr(argument, "host")


def check_arguments(program, arguments) -> None:
    """Refuse arguments that Numba would refuse. This is checked before any statement runs.

    Raises
    ------
    SimtError
        If the number or the types of the arguments do not fit.
    """
    parameters = program.parameters
    if program.star is not None:
        raise SimtError(
            f"{program.name}: a GPU cannot launch a kernel with *{program.star}: use plain positional ones."
        )
    fits = len(parameters) - len(program.defaults) <= len(arguments) <= len(parameters)
    if {*parameters[:1]} & {"self", "cls"} and not (fits and _is_known(arguments[0])):
        raise SimtError(
            f"{program.name} is a method, and a GPU knows no objects: write the kernel outside the class, without "
            f"{parameters[0]}, and pass to its launch the arrays and numbers that it needs of the object."
        )
    if not fits:
        raise SimtError(
            f"{program.name} takes {len(parameters)} argument(s) ({', '.join(parameters)}) and gets {len(arguments)}."
        )
    size = sum(_check_argument(name, a) for name, a in zip(parameters, arguments, strict=False))
    if size > ARGUMENT_BYTES:
        raise SimtError(
            f"The arguments of {program.name} take {size} bytes and CUDA allows {ARGUMENT_BYTES}: pass an array "
            "instead of a long tuple."
        )


def _check_argument(name, argument) -> int:
    """Refuse an argument that Numba would refuse; return the bytes that it occupies among the kernel's parameters."""
    if isinstance(argument, tuple):
        return sum(_check_argument(*part) for part in parts_of(name, argument))
    if is_array(argument):
        dtype = np.dtype(argument.dtype)
        if dtype.kind not in "biufc" and not _holds_numbers(dtype):
            raise SimtError(f"{name} is an array of {dtype}: kernels take arrays of numbers.")
        if not dtype.isnative:
            raise SimtError(
                f"{name} has foreign byte order: pass {name}.astype({dtype.newbyteorder('=').str!r})."
            )
        return 8 * (5 + 2 * len(argument.shape))  # pointers, sizes, shape and strides
    if not _is_known(argument):
        raise SimtError(
            f"{name} is a {type(argument).__name__}: kernels take NumPy arrays, device arrays, numbers and tuples "
            f"of these; make an array with numpy.asarray({name})."
        )
    return np.asarray(argument).nbytes


def _is_known(argument) -> bool:
    """Return whether an argument is an array, a number or a tuple."""
    numbers = (bool, int, float, complex, np.number, np.bool_)
    return is_array(argument) or isinstance(argument, (tuple, *numbers))


def _holds_numbers(dtype) -> bool:
    """Return whether elements of this dtype are records of numbers."""
    if dtype.subdtype:
        return _holds_numbers(dtype.subdtype[0])
    if dtype.names:
        return all(_holds_numbers(dtype.fields[name][0]) for name in dtype.names)
    return dtype.kind in "biufc"
