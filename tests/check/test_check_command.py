"""``course check`` as a command: what it refuses, and the status with which it ends."""

import json

import pytest
from check_sources import NO_GUARD, SAXPY

from course_pkg import cli
from course_pkg.check import check_file
from course_pkg.check.errors import NotChecked


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("cuda.synchronize()\n", {}, "has no kernel"),
        (SAXPY, {"only": "axpy"}, "has no kernel axpy: its kernels are saxpy"),
        (SAXPY, {"values": {"M": 3}}, "gives M no value"),
        (SAXPY, {"inputs": "gone.py"}, r"gone\.py is not there"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write(file, text, options, said):
    name = file(text)
    with pytest.raises(NotChecked, match=said):
        check_file(name, **options)


def test_a_file_without_cuda_is_refused_and_not_run(tmp_path):
    (tmp_path / "a.py").write_text("raise SystemExit('it ran')\n", encoding="utf-8")
    with pytest.raises(NotChecked, match="has no CUDA kernel: name a file with functions"):
        check_file(tmp_path / "a.py")


def test_the_command_ends_with_the_status_and_writes_json_and_a_page(file, capsys):
    name = file(NO_GUARD)
    assert cli.main(["check", name, "--json", "--html", "page.html"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    (kernel,) = told["kernels"]
    (hazard,) = kernel["hazards"]
    assert (hazard["file"], hazard["line"], kernel["status"]) == ("a.py", 8, "hazards")
    assert kernel["launches"][0]["facts"]["compulsory_bytes"] > 0
    with open("page.html", encoding="utf-8") as page:
        text = page.read()
    assert "out of bounds" in text and 'alt="' in text and "data:image/svg+xml" in text


@pytest.mark.parametrize(
    "arguments",
    [["gone.py"], ["a.py", "--set", "N"], ["a.py", "--gpu", "no-gpu"], ["a.py", "--seconds", "-1"]],
)
def test_wrong_arguments_end_with_two_and_one_sentence(file, capsys, arguments):
    file(SAXPY)
    assert cli.main(["check", *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert said and "\n" not in said


def test_clean_files_end_with_zero(file, capsys):
    assert cli.main(["check", file(SAXPY)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("a.py: 1 kernel: 1 clean")
