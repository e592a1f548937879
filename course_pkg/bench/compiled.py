"""What the compiler says of a kernel: registers, shared and local memory."""


def compiled(kernel) -> dict[str, int]:
    """Return what a thread and a block of a compiled kernel occupy; nothing for a kernel of the interpreter.

    Parameters
    ----------
    kernel : object
        What ``cuda.jit`` returned, after a launch. Of several signatures the last one counts.

    Returns
    -------
    dict
        ``registers`` (32-bit, of a thread), ``shared_bytes`` (static, of a block) and ``local_bytes`` (of a thread:
        local arrays, and registers that did not fit and went to memory).
    """
    if not hasattr(kernel, "get_regs_per_thread"):
        return {}
    found = {
        "registers": kernel.get_regs_per_thread(),
        "shared_bytes": kernel.get_shared_mem_per_block(),
        "local_bytes": kernel.get_local_mem_per_thread(),
    }
    return {name: int(list(by_signature.values())[-1]) for name, by_signature in found.items()}
