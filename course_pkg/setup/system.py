"""The programs and fonts that the tests need besides Python: find out which are missing, and install them.

This module uses the standard library only, and syntax that old Pythons can parse, because the bootstrap imports it.
Only `make test` installs anything, and only with apt: as root, or with `sudo` after a question on the terminal. If
something cannot be installed, one line says so, and the tests that need it are skipped (on CI they fail).
"""

import glob
import importlib
import os
import shutil
import subprocess
import sys

from course_pkg.setup.troubles import Trouble

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
LIMIT_S = 600  # time limit of one call of the package manager
# Without a network, apt must give up within seconds; if another installation is running, apt must wait for it.
APT = ["apt-get", "-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15"]
APT += ["-o", "Acquire::https::Timeout=15", "-o", "DPkg::Lock::Timeout=60"]

# need: what it is for. MANAGERS, below, gives the packages for each need.
NEEDS = {
    "python3-venv": "the environment .venv",
    "chromium": "the slides and the lab in a browser",
    "bubblewrap": "the sandbox of the grading",
    "fonts": "testing whether text fits its slide",
    "openmpi": "solvers on several ranks",
}
# manager: (command, packages whose name differs from that of the need)
MANAGERS = {
    "apt-get": ("sudo apt install", {"fonts": "fontconfig fonts-liberation", "openmpi": "openmpi-bin"}),
    "dnf": ("sudo dnf install", {"fonts": "fontconfig liberation-fonts"}),
    "pacman": ("sudo pacman -S", {"fonts": "fontconfig ttf-liberation"}),
    "zypper": ("sudo zypper install", {"fonts": "fontconfig liberation-fonts"}),
    "apk": ("sudo apk add", {"fonts": "fontconfig font-liberation"}),
    "brew": ("brew install --cask", {"chromium": "google-chrome", "fonts": "font-liberation"}),
}


def hidden(name):
    """Return whether COURSE_HIDE, such as ``bwrap,chromium``, names a program: then it counts as missing."""
    return name in os.environ.get("COURSE_HIDE", "").replace(" ", "").split(",")


def bwrap():
    """Return the path of bubblewrap, or None."""
    return None if hidden("bwrap") else shutil.which("bwrap")


def chromium():
    """Return the path of a Chromium or Chrome on this machine, or None; Playwright's own browser does not count."""
    if hidden("chromium"):
        return None
    found = [path for path in map(shutil.which, CHROMIUM) if path]
    return found[0] if found else MACOS_CHROME if os.path.isfile(MACOS_CHROME) else None


def mpirun():
    """Return the path of MPI's launcher, or None."""
    return None if hidden("mpirun") else shutil.which("mpirun")


def has_browser():
    """Tell whether the tests will find a browser: named by CHROMIUM, installed, or downloaded by Playwright."""
    if hidden("chromium"):
        return False
    place = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or os.path.expanduser("~/.cache/ms-playwright")
    return bool(os.environ.get("CHROMIUM") or chromium() or glob.glob(os.path.join(place, "chromium-*")))


def has_fonts():
    """Tell whether Liberation Sans is installed: its letters are as wide as those of Arial, the slides' font."""
    try:
        listed = subprocess.run(["fc-list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    return b"liberation" in listed.stdout.lower()


def has_venv():
    """Tell whether this Python can make virtual environments."""
    importlib.invalidate_caches()  # it may have been installed a moment ago
    try:
        import ensurepip
        import venv
    except ImportError:
        return False
    return bool(ensurepip and venv)


def missing():
    """List the needs that this machine does not meet, in the order of NEEDS."""
    linux = sys.platform.startswith("linux")
    met = {
        "python3-venv": has_venv,
        "chromium": has_browser,
        # bubblewrap exists on Linux only; other systems have fonts of their own
        "bubblewrap": lambda: not linux or bwrap() is not None,
        "fonts": lambda: not linux or has_fonts(),
        # only on Linux is a package certain to exist; elsewhere, tests that need it are skipped
        "openmpi": lambda: not linux or mpirun() is not None,
    }
    return [need for need in NEEDS if not met[need]()]


def manager():
    """Return the package manager of this machine, or an empty string."""
    return next((name for name in MANAGERS if shutil.which(name)), "")


def packages(needs, name):
    """Name the packages that meet the needs, as a package manager calls them."""
    own = MANAGERS[name][1]
    return [package for need in needs for package in own.get(need, need).split()]


def advice(needs):
    """Return a sentence that says how to install what is missing."""
    name = manager()
    if not name:
        return "Please install {}.".format(", ".join(needs))
    return "To install: `{} {}`.".format(MANAGERS[name][0], " ".join(packages(needs, name)))


def prefix(needs, ask=input):
    """Return what has to precede `apt-get` on the command line, or the reason why nothing may be installed.

    Returns
    -------
    (prefix, reason) : tuple of list of str or None, and str
        An empty list for root, ``["sudo"]`` if the user agrees, None if nothing may be installed.
    """
    if manager() != "apt-get":
        return None, "`make test` installs with apt only"
    if os.geteuid() == 0:
        return [], ""
    if not shutil.which("sudo"):
        return None, "installing needs root, and there is no sudo"
    if os.environ.get("CI"):
        # There is no terminal on which to ask, or to type a password.
        granted = subprocess.call(
            ["sudo", "-n", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return (["sudo", "-n"], "") if granted == 0 else (None, "sudo asks for a password")
    if not (sys.stdin and sys.stdin.isatty()):
        return None, "installing needs root, and there is no terminal to ask on"
    question = "The tests need {}. Install with sudo apt? [y/N] (COURSE_SYSTEM=none: never ask) "
    try:
        answer = ask(question.format(", ".join(packages(needs, "apt-get"))))
    except EOFError:
        answer = ""
    return (["sudo"], "") if answer.strip().lower() in ("y", "yes") else (None, "you declined")


def apt(before, needs, log):
    """Install the needs one by one with apt, so that a package that apt does not find cannot block the others.

    Returns
    -------
    str
        The last error message of apt; empty if there was none.
    """
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    complaint = ""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    # Even if the update fails, the old index may know the packages: go on.
    steps = [["update"]] + [
        ["install", "-y", "--no-install-recommends", *packages([n], "apt-get")] for n in needs
    ]
    with open(log, "w", encoding="utf-8") as file:
        for step in steps:
            # sudo clears the environment, so the variable is set after it, by env
            command = [*before, "env", "DEBIAN_FRONTEND=noninteractive", *APT, *step]
            try:
                done = subprocess.run(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=LIMIT_S,
                    check=False,
                )
                said, failed = done.stdout.decode("utf-8", "replace"), done.returncode != 0
            except subprocess.TimeoutExpired:
                said, failed = f"E: {step[0]} took longer than {LIMIT_S} s", True
            except OSError as error:
                said, failed = f"E: {error}", True
            file.write(said)
            if failed:
                errors = [line for line in said.splitlines() if line.startswith("E: ")] or said.splitlines()[
                    -1:
                ]
                complaint = errors[0].replace("E: ", "", 1) if errors else "apt-get does not say why"
    return complaint


def bring(say, log, ask=input):
    """Install what the tests need, where this is allowed, and say in one line what is still missing.

    Parameters
    ----------
    say : callable
        Prints a line.
    log : str
        Where the package manager's output is kept.
    ask : callable
        Asks a question on the terminal; replaced in tests.

    Returns
    -------
    list of str
        The needs that are still missing afterwards.

    Raises
    ------
    Trouble
        If COURSE_SYSTEM is set to anything but none.
    """
    wish = os.environ.get("COURSE_SYSTEM", "").strip().lower()
    if wish not in ("", "none"):
        raise Trouble(f"COURSE_SYSTEM is {wish!r}: set it to none (install nothing), or unset it.")
    needs = missing()
    # Programs that were hidden on purpose need not be installed.
    needs = [
        need for need in needs if not hidden({"bubblewrap": "bwrap", "openmpi": "mpirun"}.get(need, need))
    ]
    if not needs:
        return []
    if wish:
        before, reason = None, "COURSE_SYSTEM=none"
    else:
        before, reason = prefix(needs, ask)
    if before is not None:
        say("Installing {} with apt …".format(" ".join(packages(needs, "apt-get"))))
        reason = apt(before, needs, log)
        needs = [need for need in missing() if need in needs]
    if needs:
        uses = ", ".join(f"{need} (for {NEEDS[need]})" for need in needs)
        fate = "fail on CI" if os.environ.get("CI") else "are skipped"
        say(
            f"Missing: {uses}. Reason: {reason or 'not found'}. Tests that depend on this {fate}. {advice(needs)}"
        )
    return needs
