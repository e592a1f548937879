"""`course bench`: what is left to gain, from a record or measured on this machine; each wrong word is answered."""

import re
from importlib import import_module

import pytest

from course_pkg import bench
from course_pkg.bench.folder import devices
from course_pkg.bench.lookup import function_name
from course_pkg.cli import main
from course_pkg.commands import bench as command
from course_pkg.commands import limits
from course_pkg.commands.bench import suites
from course_pkg.paths import recorded_dir
from course_pkg.topics import topics, with_module
from course_pkg.vector import latency, suite
from course_pkg.vector.peak import recorded_t_peak


def printed(capsys, *argv):
    assert main(["bench", *argv]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys, *argv):
    """Return the one sentence with which a command is refused."""
    assert main(["bench", *argv]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    return said.err


def test_the_engineers_question_is_answered_without_a_gpu(capsys):
    out = printed(capsys, "stencil", "--device", "h100", "--case", "laplacian_marching", "--size", "512")
    data, vector = bench.recorded("stencil", "h100"), bench.recorded("vector", "h100")
    marching = data.one("laplacian_marching", size=512, dtype="float64", max_registers=None)
    copy = data.one("copy", size=512, dtype="float64")
    head, row = out.splitlines()[0], out.splitlines()[3]
    assert head.startswith(
        f"T_peak on NVIDIA H100 80GB HBM3: {recorded_t_peak(vector):,.0f} GB/s, triad, Numba CUDA"
    )
    assert row.endswith("laplacian marching, Numba CUDA (512³)")
    assert f"{marching.over_bound(copy):.2f}×" in row
    assert f"{recorded_t_peak(vector) / marching.t_eff_gb_s:.2f}×" in row
    assert "marching tiled" not in out and data.origin in out


KINDS = {"h200": "gpu", "h100": "gpu", "xeon": "cpu"}


def is_recorded(topic, device):
    return any(device in slug for slug in devices(recorded_dir(), topic))


def skip_what_is_new(topic, device):
    """Skip a suite that nobody has recorded on a device yet, though it can be measured there."""
    usual = getattr(import_module(suites()[topic]), "DEVICE", KINDS[device])
    kinds = {bench.recorded(topic, slug).device.kind for slug in devices(recorded_dir(), topic)}
    if KINDS[device] in {usual, *kinds} and not is_recorded(topic, device):
        pytest.skip(f"not recorded on {device} yet: `course bench {topic} --record` there")


@pytest.mark.parametrize("device", KINDS)
@pytest.mark.parametrize("topic", suites())
def test_every_record_is_printed_whole(topic, device, capsys):
    if not is_recorded(topic, device):
        assert "name one of the devices with such a record" in refused(capsys, topic, "--device", device)
        skip_what_is_new(topic, device)
        return
    out = printed(capsys, topic, "--device", device)
    for m in bench.recorded(topic, device).measurements:
        assert f"  {m.label}" in out
    assert ("T_peak" in out) == (topic in topics()), "only where memory is the limit"


def test_a_record_is_printed_with_the_tables_of_its_suite(capsys):
    """Reading says what measuring has said: of chains of loads ns and cycles, and no 0 GB/s."""
    skip_what_is_new("latency", "h200")
    out = printed(capsys, "latency", "--device", "h200")
    found = latency.by_level(bench.recorded("latency", "h200").measurements)
    assert "GB/s" not in out and "GFLOP" not in out
    table = out[out.index("ns per step") :]
    for name, one in found.items():
        assert re.search(rf" {name} +{one.ns:.1f} +{one.cycles:.0f}\n", table)
    part = printed(capsys, "latency", "--device", "h200", "--size", "2^18")
    assert part.count("1 MiB ") == 1 and " memory  ns" in part and part.count("memory") == 1, "L2 answers"
    assert "demand" in printed(capsys, "simt", "--device", "xeon")
    assert "demand" not in printed(capsys, "cg", "--device", "h200", "--case", "cg_two_kernel"), (
        "of the whole"
    )


def test_the_bound_of_conjugate_gradient_is_the_one_of_its_demands(capsys):
    out = printed(capsys, "cg", "--device", "recorded", "--case", "cg_two_kernel", "--size", "250")
    data = bench.recorded("cg")
    pair = data.one("cg_two_kernel", size=250, iterations=2)
    assert f"{pair.over_bound(data.one('copy', size=1000)):.2f}×" in out
    assert "copy, CuPy (1000³)" in out


@pytest.mark.parametrize("topic", suites())
def test_the_list_names_everything_that_was_measured(topic, capsys):
    out = printed(capsys, topic, "--list")
    names = {line.split()[0] for line in out.splitlines() if line}
    if topic in topics():
        listed = import_module(f"course_pkg.{topic}.variants").VARIANTS
        assert {v.function_name for v in listed} <= names
    recorded = devices(recorded_dir(), topic)
    assert recorded, "no suite is without a record"
    for device in recorded:
        assert {function_name(m) for m in bench.recorded(topic, device).measurements} <= names
    if topic == "stencil":
        assert "threads march along z with a queue in registers" in out


def test_each_wrong_word_is_answered_with_what_to_write(capsys):
    assert (
        "there is no device 'a100': choose cpu or gpu of this machine, or a recorded one, amd-epyc, intel"
        in refused(capsys, "stencil", "--device", "a100")
    )
    assert "--against: there is no device 'tpu': choose a recorded one, amd-epyc, intel" in refused(
        capsys, "stencil", "--against", "tpu"
    )
    assert "leave out one of the two" in refused(capsys, "cg", "--device", "cpu", "--against", "h100")
    assert "leave out one of the two" in refused(capsys, "cg", "--device", "h200", "--against", "h100")
    assert "add --device recorded" in refused(capsys, "cg", "--device", "cpu", "--case", "baseline")
    said = refused(capsys, "qp", "--device", "cpu", "--case", "cube")
    assert (
        "or leave out --case, or measure one of nnls_diabetes, nnls_digits," in said and "by --case." in said
    )
    assert "or leave out --size, or measure" in refused(capsys, "qp", "--device", "cpu", "--size", "7")
    assert "(did you mean cg_baseline" in refused(capsys, "cg", "--device", "h200", "--case", "cg_baselin")
    assert "leave out --record and --quick" in refused(capsys, "cg", "--device", "h200", "--record")
    assert "with size='7'; there are: library" in refused(capsys, "cg", "--device", "h200", "--size", "7")
    assert "--out says where to record: add --record" in refused(
        capsys, "cg", "--device", "cpu", "--out", "x"
    )


def test_help_names_the_recorded_devices(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("nvidia-h100-80gb-hbm3, nvidia-h200, or a part of such a name") == 2


def test_a_measurement_here_has_the_same_columns(capsys, monkeypatch):
    """The streams of this machine are the yardstick; those of the longest vectors are measured once more."""
    data = bench.recorded("vector", "xeon")
    triad = data.one("triad", library="C", size="2^27")
    copy = data.one("copy", library="Numba", size="2^27")
    monkeypatch.setattr(suite, "run", lambda device, quick: iter([triad]))
    monkeypatch.setattr("course_pkg.vector.peak.streams_here", lambda device: (copy, triad))
    out = printed(capsys, "vector", "--device", "cpu", "--quick")
    assert f"{triad.over_bound(copy):.2f}×" in out and f"T_peak on {copy.device.name}" in out
    assert "Medians on" in out


def test_a_part_of_a_suite_is_measured_alone(capsys, monkeypatch):
    asked = []

    def run(device, **options):
        asked.append((device, options))
        return iter([bench.recorded("qp").one("apg", problem="portfolio")])

    monkeypatch.setattr("course_pkg.qp.suite.run", run)
    monkeypatch.setattr(limits, "here", lambda device: None)
    printed(capsys, "qp", "--device", "cpu", "--case", "dense")
    printed(capsys, "qp", "--device", "cpu")
    assert asked == [("cpu", {"quick": False, "only": "dense"}), ("cpu", {"quick": False})]


def test_a_device_without_streams_has_no_limits():
    assert limits.recorded("stencil", "no-such-device") is None
    assert limits.recorded("witness", "nvidia-h200").stream.operation == "copy"


def test_a_suite_in_a_new_file_is_found_by_the_name_that_it_says(monkeypatch, tmp_path):
    folder = tmp_path / "another"
    folder.mkdir()
    (folder / "suite_new.py").write_text('RATES = False\nSUITE = ("new", "what is new")\n', encoding="utf-8")
    (folder / "suite_gpu.py").write_text("SUITES = ()\n", encoding="utf-8")
    monkeypatch.setattr(command, "PACKAGE", tmp_path)
    assert suites()["new"] == "course_pkg.another.suite_new"
    assert set(suites()) - {"new"} == set(topics()) & set(with_module("suite")), "no other file says a name"
