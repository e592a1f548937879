"""``course doctor``: check this machine, and say what is wrong and how to fix it."""

import json
import shutil
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict

from course_pkg.commands import doctor_gpu, doctor_system
from course_pkg.commands.doctor_check import Check
from course_pkg.paths import repo_root

MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--quick", action="store_true", help="measure nothing")


def examine(measure: bool = True) -> Iterator[Check]:
    """Run all checks, quick ones first."""
    root = repo_root()
    yield doctor_system.check_python()
    yield from doctor_system.check_packages()
    yield doctor_system.check_pairing()
    yield doctor_system.check_memory()
    yield doctor_system.check_disk(root)
    yield doctor_system.check_browser()
    yield doctor_system.check_sandbox()
    yield doctor_system.check_records(root)
    yield from doctor_gpu.check_gpu(measure)
    if measure:
        from course_pkg.bench import cpu

        yield doctor_gpu.check_bandwidth("cpu", cpu().name)


def line(check: Check, width: int) -> str:
    """Return the result of a check as text; below it, how to fix what is wrong."""
    found = f"{MARKS[check.status]}  {check.name:<24}{check.value}"
    if not check.fix:
        return found
    return found + "\n" + textwrap.fill(check.fix, width, initial_indent=" " * 30, subsequent_indent=" " * 30)


def run(args: Namespace) -> int:
    """Print each result at once; return 1 only if something is missing that the lectures need, else 0."""
    findings = []
    width = max(60, shutil.get_terminal_size((110, 24)).columns)
    for check in examine(measure=not args.quick):
        findings.append(check)
        if not args.json:
            print(line(check, width), flush=True)
    failed = [check for check in findings if check.status == "fail"]
    if args.json:
        print(json.dumps({"ok": not failed, "checks": [asdict(check) for check in findings]}, indent=1))
    elif failed:
        print(f"\nTo fix: {', '.join(check.name for check in failed)}.")
    else:
        print("\nEverything that the lectures need is here.")
    return int(bool(failed))
