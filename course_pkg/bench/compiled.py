"""Registers, shared memory and local memory of a compiled kernel."""

from course_pkg.core import CourseError


def compiled(kernel, dtype=None) -> dict[str, int]:
    """Return the registers and memory that a compiled kernel uses; an empty dictionary for the interpreter.

    Parameters
    ----------
    kernel : object
        The result of ``cuda.jit``, after a launch.
    dtype : str, optional
        The dtype of the first array argument, such as ``"float64"``, because a kernel is compiled for each dtype. By
        default, the version that was compiled last.

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
            f"The kernel has not been compiled{f' for {dtype}' if dtype else ''}: launch it first."
        )
    return {name: int(by_signature[fits[-1]]) for name, by_signature in found.items()}


def _dtype_of(signature) -> str:
    """Return the dtype of a signature's first array."""
    return next((str(argument.dtype) for argument in signature if hasattr(argument, "dtype")), "")
