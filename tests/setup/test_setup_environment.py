"""The environment files name the same packages within the same bounds."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# conda-forge has no package of them: environment.yml leaves them to pip, which reads the extra.
PIP_ALONE = {"pyseccomp"}
# Per CUDA major version, so one name cannot have one pin; constraints.txt says why.
BY_CUDA = {"cuda-bindings", "cuda-toolkit", "nvidia-nvjitlink"}


def bounds(requirements: list[str]) -> dict[str, str]:
    found = map(Requirement, requirements)
    return {canonicalize_name(r.name): str(r.specifier) for r in found if r.name != "course_pkg"}


def pins() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            found.setdefault(canonicalize_name(requirement.name), []).append(str(requirement.specifier)[2:])
    return found


def test_environment_yml_has_pyprojects_bounds():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [item for item in environment["dependencies"] if isinstance(item, str) and item != "pip"]
    conda = bounds(conda)
    python = conda.pop("python")
    wanted = bounds(PROJECT["dependencies"] + [r for extra in ("grade", "mpi") for r in EXTRAS[extra]])
    assert conda == {name: bound for name, bound in wanted.items() if name not in PIP_ALONE}
    assert PROJECT["requires-python"] in python.split(",")
    assert environment["dependencies"][-1] == {"pip": ["-e .[grade]"]}


@pytest.mark.parametrize("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_requirement_is_pinned_within_its_bounds(extra):
    requirements = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    pinned = pins()
    for name, specifier in bounds(requirements).items():
        assert name in pinned, f"{name} is not in constraints.txt: make it anew as its header says"
        assert all(Requirement(name + specifier).specifier.contains(version) for version in pinned[name])


def test_constraints_hold_versions_only():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.match(r"^[a-z0-9-]+==[^ ]+( ; .+)?$", line) for line in lines)
    assert not re.search(r"://|--hash|@", "\n".join(lines))
    assert not BY_CUDA & set(pins())


def test_no_import_builds_a_grammar_of_web_addresses():
    """It takes a second in each process that reads a notebook; constraints.txt says which version began with it."""
    assert not {"rfc3987-syntax", "lark"} & set(pins())


def test_a_name_has_one_pin_for_each_python():
    """Two pins of one name need markers that exclude each other."""
    from packaging.markers import default_environment

    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    for python in ("3.11.2", "3.11.9", "3.12.3", "3.13.1"):
        for platform in ("linux", "darwin", "win32"):
            here = default_environment() | {
                "python_version": ".".join(python.split(".")[:2]),
                "python_full_version": python,
                "sys_platform": platform,
            }
            names = [r.name for r in requirements if r.marker is None or r.marker.evaluate(here)]
            assert len(names) == len(set(names)), (python, platform)
