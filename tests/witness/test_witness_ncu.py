"""The output of Nsight Compute is read to the last unit, and each number is assigned to its case."""

import subprocess
from types import SimpleNamespace

import pytest

from course_pkg.core import CourseError
from course_pkg.witness import ncu

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC","dram__bytes_read.sum","smsp__inst_executed.sum","idc__requests.sum"'
)
UNITS = '"","","","","","","","","","","","byte","inst",""'
DEMANGLED = (
    "cudapy::course_pkg::witness::kernels_global::strided[abi:v1,cw51cXTLSUwv](Array<double, (int)1, C, mutable, "
    "aligned>, long long, Array<double, (int)1, C, mutable, aligned>)"
)
MANGLED = "_ZN6cudapy10course_pkg7witness14kernels_flow8two_waysB2v1E5ArrayIdLi1E1C7mutable7alignedE"


def row(number, kernel, block, grid, *values):
    cells = (number, 4242, "python3.11", "127.0.0.1", kernel, 1, 7, block, grid, 0, "9.0", *values)
    return ",".join(f'"{cell}"' for cell in cells)


SAMPLE = "\n".join(
    [
        "==PROF== Connected to process 4242 (/usr/bin/python3.11)",
        '==PROF== Profiling "strided" - 0: 0%....50%....100% - 12 passes',
        "a line that the program printed, with a comma",
        HEAD,
        UNITS,
        row(0, DEMANGLED, "(128, 1, 1)", "(8, 1, 1)", "2,100,736", "1,234", "n/a"),
        row(1, MANGLED, "(32, 4, 2)", "(2, 16, 32)", "0", "56,832", "12.5"),
        "==PROF== Disconnected from process 4242",
    ]
)


def case(name, function, grid, block):
    return SimpleNamespace(name=name, function=function, grid=grid, block=block)


CASES = [
    case("strided_by_2", "strided", (8, 1, 1), (128, 1, 1)),
    case("two_ways", "two_ways", (2, 16, 32), (32, 4, 2)),
]


def test_launches_are_read_with_their_sizes_and_values():
    first, second = ncu.parse(SAMPLE)
    assert (first.grid, first.block, first.kernel) == ((8, 1, 1), (128, 1, 1), DEMANGLED)
    assert first.counters == {"dram__bytes_read.sum": 2100736, "smsp__inst_executed.sum": 1234}
    assert all(isinstance(value, int) for value in first.counters.values())
    assert second.counters["idc__requests.sum"] == 12.5
    assert second.counters["dram__bytes_read.sum"] == 0


def test_each_case_gets_its_launch():
    counters = ncu.assign(ncu.parse(SAMPLE), CASES)
    assert list(counters) == ["strided_by_2", "two_ways"]
    assert counters["two_ways"]["smsp__inst_executed.sum"] == 56832


@pytest.mark.parametrize(
    ("cases", "sentence"),
    [
        (CASES[::-1], "saw 'cudapy::.*where case 'two_ways' launches two_ways"),
        ([case("a", "stride", (8, 1, 1), (128, 1, 1)), CASES[1]], "where case 'a' launches stride with"),
        ([case("a", "strided", (4, 1, 1), (128, 1, 1)), CASES[1]], r"launches strided with \(4, 1, 1\)"),
        ([case("a", "strided", (8, 1, 1), (64, 1, 1)), CASES[1]], r"and \(64, 1, 1\)"),
        (CASES[:1], "saw 2 launches of 1 cases"),
        ([*CASES, CASES[0]], "saw 2 launches of 3 cases"),
    ],
)
def test_a_launch_in_another_cases_place_is_an_error(cases, sentence):
    with pytest.raises(CourseError, match=sentence):
        ncu.assign(ncu.parse(SAMPLE), cases)


@pytest.mark.parametrize(
    "printed", [DEMANGLED, MANGLED, "strided", "two_ways(Array<double>)", "void strided<1>(int)"]
)
def test_a_kernel_is_known_by_its_name_and_not_by_a_part_of_it(printed):
    right = "strided" if "strided" in printed else "two_ways"
    assert ncu.is_kernel(printed, right)
    for wrong in ("stride", "ways", "rided", "kernels_global", "two"):
        assert not ncu.is_kernel(printed, wrong)


def test_rounded_units_and_strange_numbers_are_refused():
    with pytest.raises(CourseError, match=r"gave dram__bytes_read\.sum in Mbyte: pass --print-units base"):
        ncu.parse(SAMPLE.replace('"byte"', '"Mbyte"'))
    with pytest.raises(CourseError, match=r"gave '1\.2\.3' for smsp__inst_executed.sum: set LC_ALL=C"):
        ncu.parse(SAMPLE.replace('"1,234"', '"1.2.3"'))


def test_output_without_a_table_is_an_error_with_its_last_words():
    with pytest.raises(CourseError, match=r"printed no table \(No kernels were profiled\.\)"):
        ncu.parse("==PROF== Connected\n==ERROR== No kernels were profiled.\n")


def test_refused_metrics_are_those_that_the_error_names():
    log = r"==ERROR== Failed to find metric regex:^smsp__inst_executed\.(sum|min|max|avg)$" + "\n"
    log += "==PROF== metric idc__requests.sum is fine\n"
    assert ncu.refused_metrics(log, ncu.METRICS) == {"smsp__inst_executed.sum"}
    both = log + "==ERROR== Failed to find metric idc__requests.sum\n"
    assert ncu.refused_metrics(both, ncu.METRICS) == {"smsp__inst_executed.sum", "idc__requests.sum"}
    assert ncu.refused_metrics("==ERROR== The application returned an error code (9).", ncu.METRICS) == set()


def test_metrics_differ_and_are_sums():
    assert len(set(ncu.METRICS)) == len(ncu.METRICS)
    assert all(metric.endswith(".sum") and "__" in metric for metric in ncu.METRICS)


@pytest.fixture
def tool(monkeypatch):
    """Put a stand-in in the place of the profiler; it answers with these logs, in turn, and keeps its commands."""
    stand_in = SimpleNamespace(answers=[], commands=[])

    def run(command, **options):
        if "--version" in command:
            return SimpleNamespace(stdout="NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 1)\n")
        stand_in.commands.append(command)
        log, status = stand_in.answers.pop(0)
        return SimpleNamespace(stdout=log, stderr="", returncode=status)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(ncu, "find", lambda: "ncu")
    return stand_in


def test_a_metric_that_the_device_refuses_is_left_out_and_named(tool):
    tool.answers = [
        ("==ERROR== Failed to find metric smsp__inst_executed_op_shared_atom_dot_alu.sum\n", 9),
        (SAMPLE, 0),
    ]
    collected = ncu.collect(CASES)
    assert collected.version == "2025.3.1.0"
    assert "smsp__inst_executed_op_shared_atom_dot_alu.sum" in collected.absent
    assert "dram__bytes_read.sum" not in collected.absent
    first, second = (command[command.index("--metrics") + 1].split(",") for command in tool.commands)
    assert set(first) - set(second) == {"smsp__inst_executed_op_shared_atom_dot_alu.sum"}
    assert tool.commands[1][-2:] == ["strided_by_2", "two_ways"]


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n",
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        (
            "==ERROR== The application returned an error code (1).\n",
            r"stopped with status 1 \(The application",
        ),
    ],
)
def test_what_the_tool_cannot_do_is_one_sentence(tool, log, sentence):
    tool.answers = [(log, 1)]
    with pytest.raises(CourseError, match=sentence):
        ncu.collect(CASES)


def test_without_the_tool_a_sentence_says_where_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.which", lambda *a, **k: None)
    monkeypatch.setattr(ncu, "_FOLDERS", (str(tmp_path),))
    with pytest.raises(CourseError, match=r"Nsight Compute \(ncu\) is not on the path: install it"):
        ncu.find()
    program = tmp_path / "2025.3" / "ncu"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert ncu.find() == str(program)
