"""Ask the NVIDIA driver of this machine what it supports, without any CUDA package.

This module uses the standard library only, because the bootstrap imports it before anything is installed.
"""

import ctypes
import os
import subprocess
import sys

OLDEST = 12000  # CUDA 12.0, as cuDriverGetVersion counts: 1000 major + 10 minor
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE

UPDATE_DRIVER = "install driver 525 or newer (580 or newer for CUDA 13) from https://www.nvidia.com/drivers"


def _library():
    """Open the driver's own library, or return None where there is no driver."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _from_nvidia_smi():
    """Read the CUDA version that nvidia-smi prints; 0 if it prints none.

    In containers and WSL, nvidia-smi can be on the path although the loader does not find the driver's library.
    """
    try:
        banner = subprocess.run(
            ["nvidia-smi"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False
        ).stdout.decode("utf-8", "replace")
        major, minor = banner.split("CUDA Version:")[1].split()[0].split(".")[:2]
        return 1000 * int(major) + 10 * int(minor)
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return 0


def driver_version():
    """Return the newest CUDA version that the driver supports, such as 12040 for 12.4; 0 without a driver.

    This takes a few milliseconds: it loads the library but starts no GPU.
    """
    if sys.platform == "darwin":
        return 0
    library = _library()
    if library is None:
        return _from_nvidia_smi()
    version = ctypes.c_int(0)
    if library.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return 0
    return version.value


def device_count():
    """Return how many GPUs the driver offers; -1 if the driver gives no answer."""
    library = _library()
    if library is None:
        return -1
    status = library.cuInit(0)
    count = ctypes.c_int(0)
    if status == NO_DEVICE:
        return 0
    if status != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return -1
    return count.value


def device_name(index=0):
    """Return the name of a GPU, such as ``NVIDIA H200``, or an empty string."""
    library = _library()
    name = ctypes.create_string_buffer(256)
    handle = ctypes.c_int(0)
    if library is None or library.cuInit(0) != 0 or library.cuDeviceGet(ctypes.byref(handle), index) != 0:
        return ""
    if library.cuDeviceGetName(name, len(name), handle) != 0:
        return ""
    return name.value.decode("utf-8", "replace")


def text(version):
    """Return a version number as people write it: ``12.4`` for 12040."""
    return f"{version // 1000}.{version % 1000 // 10}"


def gpu_extra(version=None, count=device_count):
    """Choose the optional dependencies for this machine's GPU.

    Parameters
    ----------
    version : int, optional
        CUDA version of the driver; by default, the driver is asked.
    count : callable
        Returns the number of GPUs; replaced in tests.

    Returns
    -------
    (extra, sentence) : tuple of str
        ``extra`` is ``"gpu13"``, ``"gpu12"`` or ``""``; ``sentence`` says why, or is empty.

    Raises
    ------
    ValueError
        If ``COURSE_GPU`` is set to anything but none, 12 or 13.
    """
    wish = os.environ.get("COURSE_GPU", "").strip().lower()
    if wish:
        if wish not in ("none", "12", "13"):
            raise ValueError(f"COURSE_GPU is {wish!r}: set it to none, 12 or 13, or unset it.")
        return ("" if wish == "none" else "gpu" + wish), f"GPU packages are chosen by COURSE_GPU={wish}."
    version = driver_version() if version is None else version
    if version == 0:
        return "", ""
    if version < OLDEST:
        return "", (
            f"The NVIDIA driver supports only CUDA {text(version)}, but the course needs 12.0: "
            f"{UPDATE_DRIVER}, then run this command again. Until then, kernels run in the SIMT interpreter."
        )
    if count() == 0:
        return "", "An NVIDIA driver is installed, but it finds no GPU; kernels run in the SIMT interpreter."
    return ("gpu13" if version >= 13000 else "gpu12"), f"NVIDIA driver with CUDA {text(version)} found."
