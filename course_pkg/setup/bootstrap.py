#!/usr/bin/env python3
"""Make the course's environment ready, then run a command in it.

    python3 course_pkg/setup/bootstrap.py lab  [arguments of `course lab`]
    python3 course_pkg/setup/bootstrap.py test [arguments of pytest]
    python3 course_pkg/setup/bootstrap.py check
    python3 course_pkg/setup/bootstrap.py lint
    python3 course_pkg/setup/bootstrap.py env  [--extras slides,grade]
    python3 course_pkg/setup/bootstrap.py run  [--extras slides,grade] -- course slides

This file uses the standard library only, and syntax that Python 3.8 can parse: with a Python that is too old, it
prints a sentence that says so instead of a SyntaxError. `.venv/.course-ready.json` is written last, after a trial
import. If it does not match pyproject.toml, constraints.txt and the wanted extras, the next run repairs the
environment.
"""

import os
import shutil
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEWER = ("python3.13", "python3.12", "python3.11")
TRIAL = "import course_pkg, ipykernel, ipywidgets, jupyterlab, jupytext, matplotlib, numba, numpy, psutil"
BASE_GB, REPAIR_GB, GPU_GB = 2.0, 0.5, 6.0
LAB = ("grade",)  # nbgrader adds the buttons Validate, for learners, and Formgrader, for teachers

if __name__ == "__main__":
    # A script finds what lies beside it; the package lies two folders up.
    sys.path.insert(0, ROOT)
from course_pkg.setup import driver, system  # noqa: E402
from course_pkg.setup.environment import NEEDED, Venv, say  # noqa: E402
from course_pkg.setup.troubles import (  # noqa: E402
    BAD_CERTIFICATE,
    NO_NETWORK,
    NO_PERMISSION,
    NO_SPACE,
    Trouble,
    explain_os_error,
)

# One worker more than cores, up to four: for a third of their time, tests wait for browsers, sandboxes and clocks. On
# two cores, a fourth worker made nothing faster. All tests of a file run in one worker, so that what they share is made
# once; tests/conftest.py orders the files.
OPTIONS = ["-n", str(min((os.cpu_count() or 1) + 1, 4)), "--dist", "loadfile", "--no-loadscope-reorder"]
PYTEST = ["python", "-m", "pytest", *OPTIONS]
CHECK_S = 87  # seconds; together with the steps before and after, `make check` ends within 90
# Failures that would also occur without the GPU packages.
WITHOUT_GPU_TOO = (BAD_CERTIFICATE, NO_NETWORK, NO_PERMISSION, NO_SPACE)


def choose_gpu(state):
    """Return the GPU extra for this machine, the facts that led to this choice, and a sentence for the learner."""
    facts = [driver.driver_version(), os.environ.get("COURSE_GPU", "")]
    if facts == state.get("facts"):
        # Counting GPUs starts them, which takes a second. With the same driver and COURSE_GPU, the last answer holds.
        old = 0 < facts[0] < driver.OLDEST and not facts[1]
        return state.get("gpu", ""), facts, driver.gpu_extra(facts[0])[1] if old else ""
    try:
        gpu, sentence = driver.gpu_extra(facts[0])
    except ValueError as error:
        raise Trouble(str(error)) from None
    return gpu, facts, sentence


def check_space(venv, gpu_is_new):
    """Stop before an installation that would not fit: a full disk leaves an incomplete environment."""
    need = (REPAIR_GB if venv.works() else BASE_GB) + (GPU_GB if gpu_is_new else 0)
    if shutil.disk_usage(venv.root).free < need * 1e9:
        raise Trouble(NO_SPACE.format(gb=round(need + 0.5)), kind=NO_SPACE)


def ensure(extras=(), venv=None):
    """Make the environment ready; if it already is, return within milliseconds."""
    venv = venv or Venv()
    state = venv.state()
    gpu, facts, sentence = choose_gpu(state)
    extras = sorted(set(extras) | set(state.get("extras", [])))
    wanted = extras + ([gpu] if gpu else [])
    try:
        key = venv.key(wanted)
    except OSError as error:
        raise Trouble(
            f"{error.filename} is missing: download the complete course again, and run this command there."
        ) from None
    if sentence:
        say(sentence)
    if state.get("key") == key and venv.is_whole():
        return venv
    started = time.time()
    check_space(venv, gpu_is_new=bool(gpu) and gpu != state.get("gpu"))
    if not venv.works():
        venv.make()
    remembered = {"extras": extras, "facts": facts, "gpu": gpu, "root": venv.root}
    for last_try in (False, True):
        # A marker without a key remembers what was asked for, but never says that the environment is ready.
        venv.write_state(key="", **dict(remembered, gpu=state.get("gpu", ""), facts=[]))
        try:
            venv.install(wanted, state.get("gpu", ""), from_cache=not last_try)
        except Trouble as trouble:
            if not gpu or trouble.kind in WITHOUT_GPU_TOO:
                raise
            say(f"The GPU packages could not be installed, so the course goes on without them: {trouble}")
            venv.install(extras, "")
            key, wanted, remembered["gpu"] = venv.key(extras), extras, ""
        try:
            venv.run([venv.python, "-c", TRIAL], "Trying out the environment")
            break
        except Trouble:
            if last_try:
                raise
            say("The environment does not work; making a new one.")
            venv.make()
    venv.write_state(key=key, **remembered)
    say(f"The environment is ready ({time.time() - started:.0f} s).")
    return venv


def environment_of(venv):
    """Return the variables of a shell in which the environment is active, so that `!course …` works in a notebook.

    Containers often forbid Python to keep compiled modules. Each process must then compile all its imports again, which
    takes longer than most commands of the course. So the environment allows Python to keep them.
    """
    environment = dict(os.environ, VIRTUAL_ENV=venv.path)
    environment["PATH"] = venv.bin + os.pathsep + environment.get("PATH", "")
    for name in ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    return environment


def resolve(venv, command):
    """Return the full command line for `course …`, `python …` or another tool of the environment."""
    if command[0] == "course":
        return [venv.python, "-m", "course_pkg.cli", *command[1:]]
    if command[0] == "python":
        return [venv.python, *command[1:]]
    return [shutil.which(command[0], path=venv.bin) or command[0], *command[1:]]


def hand_over(venv, command):
    """Replace this process by the command; on Windows, which would detach it from the terminal, run it and wait."""
    command, environment = resolve(venv, command), environment_of(venv)
    os.chdir(venv.root)
    if os.name != "nt":
        os.execve(command[0], command, environment)
    return subprocess.call(command, env=environment)


def lint(venv):
    """Run the checks that read the source; stop at the first that fails."""
    ruff = ["ruff", "check", "--output-format=concise", "."], ["ruff", "format", "--quiet", "--diff", "."]
    for command in (*ruff, ["lint-imports"]):
        code = subprocess.call(resolve(venv, command), cwd=venv.root, env=environment_of(venv))
        if code:
            return code
    return 0


def test(venv, arguments):
    """Run the tests; on CI, first run those that use a browser or bubblewrap with both programs hidden.

    The summary of all tests comes last.
    """
    if not os.environ.get("CI") or arguments:
        return hand_over(venv, [*PYTEST, *arguments])
    bare = dict(environment_of(venv), COURSE_HIDE="bwrap,chromium")
    del bare["CI"]  # with CI=true, the skips that are expected here would be failures
    say("The tests that depend on bubblewrap or a browser, with both hidden:")
    command = resolve(venv, [*PYTEST, "-m", "bare or browser"])
    first = subprocess.call(command, cwd=venv.root, env=bare)
    say("All tests:")
    return subprocess.call(resolve(venv, PYTEST), cwd=venv.root, env=environment_of(venv)) or first


def check(venv, started):
    """Run the tests of changed files, the most direct ones first, until the time is up."""
    os.environ["COURSE_CHECK_UNTIL"] = str(started + CHECK_S)
    return hand_over(venv, ["python", "-m", "course_pkg.setup.touched", *OPTIONS])


def newer_python():
    """Return the path of a Python on this machine that is new enough, or None."""
    for name in NEWER:
        path = shutil.which(name)
        check = [path, "-c", f"import sys, ensurepip, venv; sys.exit(sys.version_info < {NEEDED})"]
        if path and subprocess.call(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def run(arguments):
    """Carry out the command line; return the exit status."""
    action = arguments[0] if arguments else "help"
    rest = arguments[1:]
    extras = []
    if rest == ["--extras"]:
        raise Trouble("--extras needs names, such as --extras slides,grade.")
    if rest[:1] == ["--extras"]:
        extras, rest = [extra for extra in rest[1].split(",") if extra], rest[2:]
    if rest[:1] == ["--"] and action != "lab":
        rest = rest[1:]
    if action == "env":
        ensure(extras)
        return 0
    if action == "lab":
        return hand_over(ensure([*extras, *LAB]), ["course", "lab", *rest])
    if action == "run" and rest:
        return hand_over(ensure(extras), rest)
    if action in ("lint", "check", "test"):
        if action == "test":
            system.bring(say, os.path.join(ROOT, ".course", "system.log"))
        venv = ensure(["test"])
        started = time.time()  # the time limit of `make check` does not count the installation
        code = lint(venv)
        if code or action == "lint":
            return code
        return test(venv, rest) if action == "test" else check(venv, started)
    say(__doc__.split("\n\n")[1])
    return 0 if action in ("help", "-h", "--help") else 2


def main(arguments):
    """Run the command line; print one sentence for any failure."""
    if sys.version_info < NEEDED:
        found = newer_python()
        if found:
            return subprocess.call([found, os.path.abspath(__file__), *arguments])
        version = "{}.{}".format(*sys.version_info[:2])
        print(
            f"The course needs Python 3.11 or newer, but this is Python {version}. Install a newer one from "
            "https://www.python.org/downloads and give its name, for example: make lab PYTHON=python3.12",
            file=sys.stderr,
        )
        return 1
    log = os.path.join(".course", "install.log")
    try:
        return run(arguments)
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to continue.", file=sys.stderr)
        return 130
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except OSError as error:
        print(explain_os_error(error, log), file=sys.stderr)
    except Exception as error:
        # A learner should not see the traceback of our bug; the log keeps it for the developers.
        os.makedirs(os.path.join(ROOT, ".course"), exist_ok=True)
        with open(os.path.join(ROOT, log), "a", encoding="utf-8") as file:
            file.write(traceback.format_exc())
        print(
            f"The installation met a bug of the course ({type(error).__name__}): please report it and attach {log}.",
            file=sys.stderr,
        )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
