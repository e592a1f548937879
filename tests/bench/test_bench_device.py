"""The description of the device that measurements are stored with."""

import platform

import pytest

from course_pkg import cuda
from course_pkg.bench import Device, cpu, gpu
from course_pkg.bench import device as module


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "intel-xeon-cpu-2-20ghz"),
        ("AMD EPYC(TM) 9654 / 96 cores", "amd-epyc-9654-96-cores"),
        ("../../somewhere", "somewhere"),
    ],
)
def test_the_slug_is_a_folder_name(name, slug):
    assert Device("gpu", name, 1, 0, 0).slug == slug


def test_this_cpu():
    found = cpu()
    assert found.kind == "cpu"
    assert found.name
    assert found.units >= 1
    assert found.memory_bytes > 2**28
    assert found.versions["python"] == platform.python_version()
    assert {"numpy", "numba"} <= set(found.versions)
    assert found.slug


def test_the_interpreter_is_not_called_a_gpu():
    found = gpu()
    interpreted = cuda.__name__ == "course_pkg.simt.api"
    assert found.kind == ("simt" if interpreted else "gpu")
    if interpreted:
        assert found.name == f"SIMT interpreter on {cpu().name}"
        assert found.driver == ""


def test_to_dict_keeps_everything():
    device = Device("gpu", "A GPU", 132, 10**11, 6 * 10**7, "580.1", "13.0", {"numpy": "2.4"})
    assert Device(**device.to_dict()) == device


def test_without_nvidia_smi_the_driver_is_unknown(monkeypatch):
    def missing(*args, **kwargs):
        raise FileNotFoundError

    monkeypatch.setattr(module.subprocess, "run", missing)
    assert module._driver_version() == ""
