"""By what a host program can tell the interpreter from a GPU: one list, for whoever must hide the difference.

A kernel cannot: :mod:`course_pkg.simt.front.names` refuses every name of ``cuda`` that is not for kernels. Results that
CUDA leaves undefined (who comes first at an atomic, what unwritten memory holds) differ from GPU to GPU as well.
"""

# names of course_pkg.simt.api that numba.cuda lacks: the first is for the course, the others are what it is made of
NAMES = frozenset(
    {
        "BACKEND",
        *("Context", "Device", "DeviceArray", "DeviceList", "Event", "Stream"),
        *("CourseError", "Iterator", "allocate", "contextmanager", "kernel_names", "on_device", "poison"),
        *("require_contiguous", "require_plain"),
    }
)

# names that both have and that answer otherwise on a GPU
ANSWERS = {
    "is_available": "False here, True on a GPU",
    "gpus": "its device is named 'SIMT interpreter'; list_devices, select_device, get_current_device give the same",
    "current_context": "get_memory_info() tells of the host's memory",
    "event": "keeps time on the host's clock, as event_elapsed_time does",
    "jit": "makes a simt.Kernel: no specialize, inspect_asm or overloads, and a call of another type",
    "device_array": "gives memory that holds NaN or 0xA5 bytes, as pinned_array and mapped_array do",
    "to_device": "gives a simt DeviceArray: it has host, and no gpu_data",
    "grid": "the names for kernels are objects of another type, with simt_name",
}
