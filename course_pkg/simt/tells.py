"""The differences by which a host program could distinguish the interpreter from a GPU. The judge hides them.

A kernel cannot distinguish the two: :mod:`course_pkg.simt.front.names` refuses every name of ``cuda`` that is not for
kernels. Results that CUDA leaves undefined (the order of atomics, the content of unwritten memory) also differ between
GPUs.
"""

# names of course_pkg.simt.api that numba.cuda does not have: the first is for the course, the others are internal
NAMES = frozenset(
    {
        "BACKEND",
        *("Context", "Device", "DeviceArray", "DeviceList", "Event", "Stream"),
        *(
            "CourseError",
            "Iterator",
            "allocate",
            "contextmanager",
            "get_close_matches",
            "kernel_names",
            "on_device",
        ),
        *("require_contiguous", "require_plain"),
    }
)

# names that both have, but that behave differently on a GPU
ANSWERS = {
    "is_available": "False here, True on a GPU",
    "gpus": "its device is named 'SIMT interpreter'; list_devices, select_device, get_current_device give the same",
    "current_context": "get_memory_info() returns the size of the host's memory",
    "event": "uses the host's clock, and so does event_elapsed_time",
    "jit": "returns a simt.Kernel, without inspect_asm or overloads; its launches have another type",
    "device_array": "returns memory filled with NaN or bytes 0xA5; so do pinned_array and mapped_array",
    "to_device": "returns a simt DeviceArray, which has host, but no gpu_data",
    "grid": "this and other names for kernels are objects of another type, with simt_name",
}
