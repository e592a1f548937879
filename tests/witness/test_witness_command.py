"""`course verify`: the same table with and without a GPU, and an exit status that says whether the witnesses agree."""

import runpy
from types import SimpleNamespace

import pytest
from verify_cases import arguments

from course_pkg.bench import Device
from course_pkg.commands import verify
from course_pkg.core import CourseError
from course_pkg.paths import repo_root
from course_pkg.simt import FlopCounts, Flops
from course_pkg.witness import compare, ncu, record, sanitizer
from course_pkg.witness.cases import all_cases, fixed_cases, racy_cases

DEVICE = Device("gpu", "NVIDIA H200", 132, 1, 1, driver="580.1")
NAME = "strided_by_2"
FMA = "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"


@pytest.fixture
def profiles(monkeypatch):
    """Profiles that count 7 of everything, in place of the interpreter's."""
    counts = SimpleNamespace(requests=7, sectors=7, wavefronts=7, bank_conflicts=7)
    names = [f"{space}_{way}" for space in ("global", "local", "shared") for way in ("load", "store")]
    flops = Flops({"float64": FlopCounts(add=7, mul=7, fma=7)})
    found = SimpleNamespace(**dict.fromkeys(names, counts), atomics=counts, flops=flops)
    monkeypatch.setattr(compare, "profile", lambda case: found)


@pytest.fixture
def counters(monkeypatch, tmp_path, profiles):
    """A record of all cases in a folder of its own; returns the way to change it."""
    monkeypatch.setattr(record, "recorded_dir", lambda: tmp_path)
    monkeypatch.setattr(compare, "exceptions", dict)

    def keep(fma):
        collected = ncu.Collected(
            {name: {FMA: fma} for name in all_cases()}, ("idc__requests.sum",), "2025.3"
        )
        return record.record(collected, DEVICE, tmp_path, origin="x")

    return keep


def test_agreement_with_the_record_is_status_0(counters, capsys):
    counters(7)
    assert verify.run(arguments("counters", "--device", "recorded")) == 0
    printed = capsys.readouterr().out
    assert printed.count("exact") >= len(all_cases())
    assert "did not count idc__requests.sum" in printed
    assert "Recorded on NVIDIA H200, driver 580.1" in printed


def test_a_difference_is_named_and_status_1(counters, capsys):
    counters(8)
    assert verify.run(arguments("counters", "--device", "recorded", "--case", NAME)) == 1
    printed = capsys.readouterr().out
    assert f"{NAME}: float64 fma 7 by the interpreter, 8 by the hardware." in printed
    assert "copy_float64" not in printed


def test_a_case_that_is_not_in_the_record_is_named_with_the_command_that_counts_it(counters, capsys):
    path = counters(7)
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if f'"{NAME}"' not in line]
    assert len(kept) == len(lines) - 1
    path.write_text("\n".join(kept), encoding="utf-8")
    said = f"{NAME}: not recorded yet; to record it, run `course verify counters --device gpu --record --case {NAME}`."
    assert verify.run(arguments("counters", "--device", "recorded")) == 0
    printed = capsys.readouterr().out
    assert said in printed and printed.count("exact") >= len(all_cases()) - 1
    assert verify.run(arguments("counters", "--device", "recorded", "--case", NAME)) == 1, (
        "nothing was compared"
    )
    assert said in capsys.readouterr().out


def test_the_gpus_counters_are_compared_and_kept(monkeypatch, tmp_path, counters, capsys):
    monkeypatch.setattr(verify.bench, "gpu", lambda: DEVICE)
    collected = ncu.Collected({name: {FMA: 7} for name in all_cases()}, (), "2025.3")
    monkeypatch.setattr(ncu, "collect", lambda cases, wanted: collected)
    assert verify.run(arguments("counters", "--record", "--out", str(tmp_path))) == 0
    assert "Counted on NVIDIA H200" in capsys.readouterr().out
    assert record.load(tmp_path / "nvidia-h200" / "counters.json").counters == collected.counters


def test_one_case_is_added_to_the_record(monkeypatch, tmp_path, counters):
    path = counters(7)
    before = record.load(path)
    monkeypatch.setattr(verify.bench, "gpu", lambda: DEVICE)
    collected = ncu.Collected({NAME: {FMA: 9}}, ("idc__requests.sum",), "2025.3")
    monkeypatch.setattr(ncu, "collect", lambda cases, wanted: collected)
    words = ("counters", "--device", "gpu", "--record", "--case", NAME, "--out", str(tmp_path))
    assert verify.run(arguments(*words)) == 1, "the interpreter counts 7"
    after = record.load(path)
    assert after.counters == {**before.counters, NAME: {FMA: 9}}
    assert "--case" not in after.origin, "the command makes them all"


@pytest.mark.parametrize(
    "words",
    [
        ("counters", "--record", "--device", "recorded"),
        ("races", "--record", "--device", "gpu"),
    ],
)
def test_only_what_a_gpu_counted_is_recorded(words):
    with pytest.raises(CourseError, match="Only counters and traffic of a GPU can be recorded"):
        verify.run(arguments(*words))


def test_a_missing_record_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(record, "recorded_dir", lambda: tmp_path)
    with pytest.raises(
        CourseError, match=r"counters\.json does not exist: .*`course verify counters --device gpu"
    ):
        verify.run(arguments("counters", "--device", "recorded"))


@pytest.mark.parametrize("name", [*racy_cases(), *fixed_cases()])
def test_the_interpreter_tells_a_racy_kernel_from_its_fixed_twin(name, capsys):
    assert verify.run(arguments("races", "--device", "recorded", "--case", name)) == 0, (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(("errors", "status"), [(3, 0), (0, 1)])
def test_the_sanitizers_verdict_counts(monkeypatch, capsys, errors, status):
    found = SimpleNamespace(hazards=[SimpleNamespace(kind="race")])
    monkeypatch.setattr(compare, "profile", lambda case: found)
    monkeypatch.setattr(sanitizer, "find", lambda: "compute-sanitizer")
    monkeypatch.setattr(sanitizer, "findings", lambda case, tool: errors)
    assert verify.run(arguments("races", "--device", "gpu", "--case", "one_counter")) == status
    assert ("Not as expected: one_counter" in capsys.readouterr().out) == bool(status)


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", 0),
        ("========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)", 1),
        (
            "========= Barrier error detected. Divergent thread(s) in warp.\n========= ERROR SUMMARY: 24 errors",
            24,
        ),
        ("========= ERROR SUMMARY: 1 error", 1),
    ],
)
def test_the_sanitizers_summary_is_read(text, errors):
    assert sanitizer.read_summary(f"========= COMPUTE-SANITIZER\n{text}\n", "a") == errors


def test_a_sanitizer_without_a_summary_is_an_error():
    with pytest.raises(CourseError, match=r"no summary of a \(========= Error: Device not supported\)"):
        sanitizer.read_summary("========= COMPUTE-SANITIZER\n========= Error: Device not supported\n", "a")


def test_the_readmes_table_follows_from_the_record_and_the_list(monkeypatch, counters):
    tables = runpy.run_path(str(repo_root() / "figures" / "counters.py"))["tables"]
    assert "counters" not in tables()
    path = counters(7)
    same = compare.summary([c for c in all_cases().values() if not c.data_dependent], {})
    table = tables()["counters"]
    assert f"| the same for all threads | {same.kernels} | {same.kernels} (100.0%) |" in table
    assert "Recorded on NVIDIA H200" in table
    monkeypatch.setattr(compare, "exceptions", lambda: {"gather": compare.Inexact(("float64 fma",), "why")})
    assert f"| {same.kernels} | {same.kernels - 1} (" in tables()["counters"]
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if '"gather"' not in line), encoding="utf-8")
    monkeypatch.setattr(compare, "exceptions", dict)
    table = tables()["counters"]
    assert f"Not recorded yet on an H200: 1 of {len(all_cases())} launches." in table
