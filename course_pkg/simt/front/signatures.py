"""Explicit signatures: ``@cuda.jit("void(float32[:], int32)")`` fixes the types of a function's arguments."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import sigutils, types
from numba.core.errors import NumbaError

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import best_match, dtype_of, type_of, type_of_number


@dataclass(frozen=True)
class Signature:
    """The types that a function is compiled for.

    Attributes
    ----------
    arguments : tuple of numba type
    result : numba type or None
        None if there is no result, or the signature does not name it.
    whole : bool
        Whether the signature says what is returned; ``void`` says it, too.
    """

    arguments: tuple
    result: Any
    whole: bool = False

    def __str__(self):
        return f"({', '.join(map(str, self.arguments))})"


def read(given, device: bool) -> tuple[Signature, ...]:
    """Return the signatures that ``cuda.jit`` was given instead of a function: one signature, or a list of them.

    Parameters
    ----------
    given : str, tuple, numba signature, or list of these
    device : bool
        Whether the signature belongs to a device function. Unlike a kernel, it may return a value.

    Raises
    ------
    SimtError
        If ``given`` is not a signature, or lets a kernel return a value.

    Examples
    --------
    >>> [str(one) for one in read("void(float32[:], int32)", device=False)]
    ['(array(float32, 1d, A), int32)']
    """
    found = []
    for one in given if isinstance(given, list) else [given]:
        try:
            arguments, result = sigutils.normalize_signature(one)
        except (NumbaError, TypeError, NameError, SyntaxError, AttributeError) as error:
            raise SimtError(
                f"cuda.jit cannot read the signature {one!r} ({error}): write it as "
                '"void(float32[:], int32)", or leave it out, and types follow from the call.'
            ) from None
        if not device and result not in (None, types.void):
            raise SimtError(
                f"The signature {one!r} lets a kernel return {result}: a kernel returns nothing, so write "
                "void(…), or add device=True."
            )
        found.append(
            Signature(tuple(arguments), None if result == types.void else result, result is not None)
        )
    if not found:
        raise SimtError("cuda.jit is given an empty list of signatures: leave it out, or name the types.")
    return tuple(found)


def arguments_as_declared(kernel, arguments: tuple) -> tuple:
    """Return a launch's arguments with the types that the kernel's signature gives them.

    Raises
    ------
    SimtError
        If an argument does not fit its type. With a single signature, a GPU would read its bytes as another type.
    """
    names = kernel.program.parameters
    for one in kernel.signatures:
        if len(one.arguments) > len(names):
            raise _other_number(kernel, one)
    signatures = [s for s in kernel.signatures if len(s.arguments) == len(arguments)]
    if not signatures and len(arguments) == len(names):
        raise _other_number(kernel, kernel.signatures[0])
    if not signatures:
        return arguments  # check_arguments refuses a wrong number of arguments, for every launch
    signature = signatures[0]
    if len(kernel.signatures) > 1:
        signature = _chosen(kernel, signatures, tuple(map(type_of_argument, arguments)))
    return tuple(
        _as_declared(f"{kernel.__name__}: {name}", wanted, argument)
        for name, wanted, argument in zip(names, signature.arguments, arguments, strict=True)
    )


def _other_number(kernel, signature: Signature) -> SimtError:
    return SimtError(
        f"The signature {signature} has {len(signature.arguments)} type(s), and {kernel.__name__} takes "
        f"{len(kernel.program.parameters)} argument(s): name one type for each."
    )


def _chosen(kernel, signatures: list, given: tuple) -> Signature:
    """Return the signature that Numba's dispatcher chooses for arguments of these types."""
    try:
        at = best_match([s.arguments for s in signatures], given)
    except (NumbaError, TypeError) as error:  # several signatures fit equally well
        raise SimtError(f"{kernel.__name__}: {error}") from None
    if at is None:
        raise SimtError(
            f"{kernel.__name__} has no signature for arguments of the types {', '.join(map(str, given))}: it has "
            f"{' and '.join(map(str, signatures))}."
        )
    return signatures[at]


def type_of_argument(argument):
    """Return the Numba type of a launch's argument.

    Examples
    --------
    >>> type_of_argument((1.5, True))
    Tuple((float64, bool))
    """
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(tuple(map(type_of_argument, argument)))
    if hasattr(argument, "dtype") and hasattr(argument, "strides") and not isinstance(argument, np.generic):
        host = getattr(argument, "host", argument)
        layout = "C" if host.flags.c_contiguous else "F" if host.flags.f_contiguous else "A"
        return types.Array(type_of(host.dtype), host.ndim, layout, readonly=not host.flags.writeable)
    return type_of_number(argument)


def _as_declared(name: str, wanted, argument):
    """Return an argument, converted to the type that the signature declares for it."""
    if isinstance(wanted, types.BaseTuple) and isinstance(argument, tuple) and len(wanted) == len(argument):
        parts = enumerate(zip(wanted, argument, strict=True))
        return tuple(_as_declared(f"{name}[{i}]", one, part) for i, (one, part) in parts)
    given = type_of_argument(argument)
    if isinstance(wanted, types.Array) and isinstance(given, types.Array):
        if not _same_array(wanted, given):
            raise SimtError(
                f"{name} is declared {wanted} and gets {given}: a GPU would read its bytes as another array. Pass an "
                f"array of {dtype_of(wanted.dtype)} with {wanted.ndim} dimension(s), or leave the signature out."
            )
        return argument
    if isinstance(wanted, (types.Number, types.Boolean)) and isinstance(given, (types.Number, types.Boolean)):
        if isinstance(wanted, types.Integer) and isinstance(given, (types.Float, types.Complex)):
            raise SimtError(
                f"{name} is declared {wanted} and gets the {given} {argument}: pass int({argument}), or declare it "
                f"{given}."
            )
        return np.asarray(argument).astype(dtype_of(wanted))[()]
    raise SimtError(f"{name} is declared {wanted} and gets {given}: pass what the signature names.")


def _same_array(wanted, given) -> bool:
    """Return whether an array has the element type, number of dimensions and order that a signature demands."""
    ordered = wanted.layout in ("A", given.layout) or (given.ndim <= 1 and given.layout in "CF")
    return (wanted.dtype, wanted.ndim) == (given.dtype, given.ndim) and ordered
