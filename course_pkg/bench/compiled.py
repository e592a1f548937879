"""What the compiler says of a kernel: registers, shared and local memory."""

from course_pkg.core import CourseError


def compiled(kernel, dtype=None) -> dict[str, int]:
    """Return what a thread and a block of a compiled kernel occupy; nothing for a kernel of the interpreter.

    Parameters
    ----------
    kernel : object
        What ``cuda.jit`` returned, after a launch.
    dtype : str, optional
        That of the first array argument, such as ``"float64"``: a kernel is compiled anew for each. The signature that
        was compiled last when it is left out.

    Returns
    -------
    dict
        ``registers`` (32-bit, of a thread), ``shared_bytes`` (static, of a block) and ``local_bytes`` (of a thread:
        local arrays, and registers that did not fit and went to memory).

    Examples
    --------
    >>> from course_pkg.vector.gpu_numba import copy, copy_kernel
    >>> copy(cuda.to_device(np.ones(4)), cuda.device_array(4))
    >>> "registers" in compiled(copy_kernel) or compiled(copy_kernel) == {}  # without a GPU
    True
    """
    if not hasattr(kernel, "get_regs_per_thread"):
        return {}
    found = {
        "registers": kernel.get_regs_per_thread(),
        "shared_bytes": kernel.get_shared_mem_per_block(),
        "local_bytes": kernel.get_local_mem_per_thread(),
    }
    fits = [s for s in found["registers"] if dtype is None or _dtype_of(s) == str(dtype)]
    if not fits:
        raise CourseError(
            f"The kernel was not compiled for {dtype or 'anything'}: launch it once, and then ask the compiler."
        )
    return {name: int(by_signature[fits[-1]]) for name, by_signature in found.items()}


def _dtype_of(signature) -> str:
    """Return the dtype of a signature's first array."""
    return next((str(argument.dtype) for argument in signature if hasattr(argument, "dtype")), "")
