"""The sandbox: the command line of bubblewrap, and the files of this machine that are visible inside.

Inside there is no network, no ``/proc``, no ``/sys`` and none of this machine's environment variables; only a small
working folder can be written. There is no ``/tmp``: without bubblewrap an answer cannot write there either, and its
mark must be the same. Of the course, only the modules that a learner's code may import are visible: no reference
implementation, no judge and no repository.

If an ordinary user starts the sandbox, it gets a user namespace. If root starts it, it gets none: the kernel would
still treat a process in it as root wherever it compares user numbers (limits on processes, ``/proc/sys``). In that case
the worker changes to a new user number, which no other process has, before it reads anything.
"""

import functools
import importlib.util
import os
import secrets
import site
import subprocess
import sys
from pathlib import Path

from course_pkg.grading import leftovers
from course_pkg.setup import system

PACKAGE = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/nix/store")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
IMPORTABLE = (
    *("__init__.py", "core", "simt", "viz"),
    *("cuda.py", "setup", "paths.py", "notebook.py"),
    # exercises import these, so answers may use them
    *("grading/__init__.py", "grading/check.py", "grading/causes.py", "grading/limits.py"),
    *("grading/draws.py", "grading/explain.py", "grading/hazard_words.py", "grading/orders.py"),
    *("grading/ranks.py", "grading/one_rank.py"),
    *("distributed/__init__.py", "distributed/communicator.py", "distributed/serial.py"),
    *(
        "cg/__init__.py",
        "cg/program.py",
        "cg/dependences.py",
        "cg/legality.py",
        "cg/dataflow.py",
        "cg/fusion.py",
    ),
    *("device/__init__.py", "device/pairs.py"),  # lecture 4 teaches pairs
)
INSIDE = "/course"
WORK = "/work"
NOBODY = -1
FIRST_UID = 1 << 20  # far above the numbers of all users and services
JUDGE = ("worker.py", "protocol.py", "loop.py")  # what the worker consists of


def environment(folder: str, mark: str) -> dict[str, str]:
    """Return the whole environment of the learner's code.

    It has the same names with and without bubblewrap, and none of them tells what runs the kernels. ``mark`` names the
    sandbox: :func:`~course_pkg.grading.leftovers.marked` finds its processes by it.
    """
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "PWD": folder,
        "LANG": "C.UTF-8",
        "COURSE_BACKEND": "simt",
        "MPLBACKEND": "Agg",
        "MALLOC_ARENA_MAX": "2",  # each arena takes address space, which is limited
        leftovers.MARK: mark,
        **dict.fromkeys(threads, "1"),
    }


def python() -> str:
    """Return the path of the base interpreter: that of a virtual environment would read files that are not mounted."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def packages() -> list[str]:
    """Return the folders that hold installed packages; no folder of the repository is among them."""
    known = [*site.getsitepackages(), *sys.path]
    numpy = importlib.util.find_spec("numpy").origin
    known.append(str(Path(numpy).parent.parent))
    found = (os.path.realpath(p) for p in known if os.path.basename(p) in ("site-packages", "dist-packages"))
    return [p for p in dict.fromkeys(found) if os.path.isdir(p)]


def packages_inside() -> list[str]:
    """Return the paths that :func:`packages` have in the sandbox; here they may lie in /tmp, which is not there."""
    return [f"{INSIDE}/packages/{number}/site-packages" for number in range(len(packages()))]


def shown() -> list[tuple[Path, str]]:
    """List the visible parts of the course: for each, its path here and its path inside ``course_pkg`` there."""
    return [(PACKAGE / name, name) for name in IMPORTABLE if (PACKAGE / name).exists()]


def readable() -> list[str]:
    """Return the paths that the learner's code may read if Landlock is used instead of bubblewrap."""
    course = [str(path) for path, _ in shown()] + [str(HERE / name) for name in JUDGE]
    return [*SYSTEM, *DEVICES, sys.base_prefix, sys.base_exec_prefix, *packages(), *course]


def new_uid() -> int:
    """Return a new user number for a sandbox that root starts, because limits are counted per user."""
    return FIRST_UID + secrets.randbelow(1 << 28) if os.geteuid() == 0 else NOBODY


def command(tmp_bytes: int, mark: str, *seccomp_fd: int) -> list[str]:
    """Return bubblewrap's command line up to ``--``; the program that it runs must be appended.

    Parameters
    ----------
    tmp_bytes : int
        Size of the working folder inside.
    mark : str
        A name for the sandbox, in its environment.
    seccomp_fd : int, optional
        An open file that holds a seccomp filter.
    """
    line = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    if os.geteuid() == 0:
        line += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        line += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
        line += ["--disable-userns"] if "--disable-userns" in _help() else []
    for name, value in environment(WORK, mark).items():
        line += ["--setenv", name, value]
    for fd in seccomp_fd:
        line += ["--seccomp", str(fd)]
    line += _mounts()
    line += ["--perms", "1777", "--size", str(tmp_bytes), "--tmpfs", WORK, "--remount-ro", "/"]
    return [*line, "--chdir", WORK, "--"]


def _mounts() -> list[str]:
    """Return the read-only view of this machine: system, Python, packages, and a part of the course."""
    line = []
    for path in SYSTEM:
        line += _bind(path, path, "--ro-bind-try")
    for path in DEVICES:
        line += _bind(path, path, "--dev-bind")
    visible = [Path("/usr")]
    for prefix in dict.fromkeys((sys.base_prefix, sys.base_exec_prefix)):
        if not Path(prefix).is_relative_to("/usr"):
            line += _bind(prefix, prefix)
            visible.append(Path(prefix))
    root, folders = PACKAGE.parent, packages()
    # if the repository lies inside a visible folder, hide it again, before its packages are made visible
    if str(root) not in folders and any(root.is_relative_to(path) for path in visible):
        line += ["--tmpfs", str(root)]
    for path, place in zip(folders, packages_inside(), strict=True):
        line += _bind(path, place)
        if os.path.isdir(os.path.join(path, "course_pkg")):
            line += ["--tmpfs", f"{place}/course_pkg"]
    for path, name in shown():
        line += _bind(str(path), f"{INSIDE}/course_pkg/{name}")
    for name in JUDGE:
        line += _bind(str(HERE / name), f"{INSIDE}/judge/{name}")
    return line


def _bind(source: str, target: str, how: str = "--ro-bind") -> list[str]:
    """Show a path; the folders above it are made so that the unprivileged user can pass through them."""
    line = []
    for folder in [*Path(target).parents][-2::-1]:
        line += ["--perms", "0755", "--dir", str(folder)]
    return [*line, how, source, target]


@functools.cache
def _help() -> str:
    """Return the help text of bubblewrap; empty if it is not installed."""
    if system.bwrap() is None:
        return ""
    return subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False).stdout


@functools.cache
def obstacle() -> str:
    """Return why bubblewrap does not work on this machine, as half a sentence; an empty string if it works."""
    if not sys.platform.startswith("linux"):
        return "bubblewrap needs Linux"
    if system.bwrap() is None:
        return "bubblewrap is missing: install it, for instance with `apt install bubblewrap`"
    trial = [*command(1 << 20, "trial"), python(), "-I", "-S", "-c", ""]
    try:
        done = subprocess.run(
            trial,
            env=own_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start: {error}"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it does not say why"]
    return f"bubblewrap cannot make a sandbox here: {said[-1][:200]}"


def own_environment() -> dict[str, str]:
    """Return the environment of bubblewrap itself, which the sandbox might read."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
