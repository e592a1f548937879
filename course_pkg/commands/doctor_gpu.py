"""The doctor's checks of the GPU, its driver and its packages, and of the copy bandwidths."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

from course_pkg.commands.doctor_check import Check
from course_pkg.core.errors import CourseError
from course_pkg.core.machine import find_machine
from course_pkg.setup import driver

# This runs in a process of its own, so that the doctor survives if the driver crashes.
TRIAL = """
import numpy, cupy
from numba import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2.0

x = cuda.to_device(numpy.ones(1000))
double[8, 128](x)
assert (x.copy_to_host() == 2.0).all(), "the kernel's result is wrong"
assert float(cupy.ones(1000).sum()) == 1000.0, "CuPy's sum is wrong"
"""
# If the measured bandwidth is below this share of the datasheet's, something other than the hardware limits it.
LOW = {"cpu": 0.3, "gpu": 0.7}


def installed(prefix: str) -> dict[str, str]:
    """Return the versions of the installed distributions whose names begin with the prefix, by name."""
    found = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name.startswith(prefix):
            found[name] = distribution.version
    return found


def check_driver(version: int, name: str = "") -> Check:
    """Is the driver new enough?"""
    if version == 0:
        return Check("GPU", "ok", "no NVIDIA driver: kernels run in the SIMT interpreter")
    if version < driver.OLDEST:
        value = f"the driver supports only CUDA {driver.text(version)}; the course needs 12.0"
        return Check("GPU", "warn", value, f"{driver.UPDATE_DRIVER}, then run `make lab`.")
    if not name:
        fix = (
            "check with nvidia-smi that the GPU is free and visible (CUDA_VISIBLE_DEVICES); until "
            "then, kernels run in the SIMT interpreter."
        )
        return Check("GPU", "warn", f"driver for CUDA {driver.text(version)}, but no GPU answers", fix)
    return Check("GPU", "ok", f"{name}, driver for CUDA {driver.text(version)}")


def check_cupy(version: int, builds: dict[str, str]) -> Check:
    """Is exactly one CuPy installed, and does it fit the driver's CUDA version?

    Parameters
    ----------
    version : int
        The driver's CUDA version, as 12040.
    builds : dict
        Installed CuPy distributions and their versions.
    """
    text = ", ".join(f"{name} {number}" for name, number in sorted(builds.items()))
    if len(builds) > 1:
        names = " ".join(sorted(builds))
        fix = f"run `python -m pip uninstall -y {names}` and then `make lab`."
        return Check("CuPy", "fail", f"several builds, which overwrite each other's files: {text}", fix)
    if version < driver.OLDEST:
        return Check("CuPy", "ok", text or "not needed without a GPU")
    wanted = f"cupy-cuda{version // 1000 if version < 14000 else 13}x"
    if not builds:
        return Check("CuPy", "warn", "missing", f"run `make lab`, which installs {wanted}.")
    name = next(iter(builds))
    made_for = name.removeprefix("cupy-cuda").removesuffix("x")
    # built from source, or by conda: no CUDA version in its name
    if not made_for.isdigit() or name == wanted:
        return Check("CuPy", "ok", text)
    # A driver also runs programs made for older CUDA versions, not for newer ones.
    if int(made_for[:2]) * 1000 > version or int(made_for[:2]) < 12:
        fix = f"run `python -m pip uninstall -y {name}` and then `make lab`, which installs {wanted}."
        return Check(
            "CuPy", "fail", f"{text} does not fit the driver, which supports CUDA {driver.text(version)}", fix
        )
    return Check("CuPy", "ok", f"{text}, made for an older CUDA, which this driver also supports")


def check_numba_cuda(version: int, builds: dict[str, str]) -> Check:
    """Is Numba's CUDA target installed?"""
    if builds.get("numba-cuda"):
        return Check("numba-cuda", "ok", builds["numba-cuda"])
    if version < driver.OLDEST:
        return Check("numba-cuda", "ok", "not needed without a GPU")
    return Check("numba-cuda", "warn", "missing", "run `make lab`, which installs it.")


def check_launch() -> Check:
    """Does a kernel run, and is its result right?"""
    try:
        done = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        fix = "find out with nvidia-smi whether another program uses the GPU, or restart the machine."
        return Check("trial kernel", "fail", "no answer within 180 s", fix)
    if done.returncode == 0:
        return Check("trial kernel", "ok", "Numba and CuPy give the right result")
    reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
    fix = (
        "the driver and the packages need the same CUDA version: update the driver, or install the packages "
        "for CUDA 12 with `COURSE_GPU=12 make lab`."
    )
    return Check("trial kernel", "fail", reason, fix)


def check_bandwidth(kind: str, name: str, measure=None) -> Check:
    """Measure the copy bandwidth (bytes read and written), and compare it with the datasheet.

    Parameters
    ----------
    kind : {"cpu", "gpu"}
    name : str
        The device's name as the system prints it.
    measure : callable, optional
        Returns GB/s for a kind; by default, the course's own measurement.
    """
    label = f"{kind.upper()} copy bandwidth"
    try:
        if measure is None:
            from course_pkg.vector.peak import copy_bandwidth as measure
        found = measure(kind)
    except ImportError as error:
        return Check(
            label,
            "warn",
            f"not measured: {error.msg}",
            "run `make lab` again, which repairs the environment.",
        )
    except (CourseError, MemoryError) as error:
        return Check(label, "warn", f"not measured: {error}", "free memory and run `course doctor` again.")
    machine = find_machine(name)
    if machine is None or not machine.bandwidth_gb_s:
        return Check(label, "ok", f"{found:.1f} GB/s; the catalogue has no datasheet figure for {name}")
    share = found / machine.bandwidth_gb_s
    value = (
        f"{found:.1f} GB/s, {share:.0%} of the datasheet's {machine.bandwidth_gb_s:g} GB/s ({machine.name})"
    )
    if share >= LOW[kind]:
        return Check(label, "ok", value)
    fix = {
        "cpu": "close other programs, and plug in the power supply. In a virtual machine this is normal: it has "
        "only part of the processor.",
        "gpu": "check with nvidia-smi the other programs on the GPU, its power limit and its temperature.",
    }[kind]
    return Check(label, "warn", value, fix)


def check_gpu(measure: bool = True) -> Iterator[Check]:
    """Yield all checks of the GPU, from the driver to a kernel and the bandwidth."""
    version = driver.driver_version()
    name = driver.device_name() if version else ""
    yield check_driver(version, name)
    cupy, numba_cuda = installed("cupy"), installed("numba-cuda")
    yield check_cupy(version, cupy)
    yield check_numba_cuda(version, numba_cuda)
    if name and version >= driver.OLDEST and cupy and numba_cuda:
        launch = check_launch()
        yield launch
        if measure and launch.status == "ok":
            yield check_bandwidth("gpu", name)
