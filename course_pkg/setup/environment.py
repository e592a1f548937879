"""The environment `.venv` of the course: how it is made and filled, and how to tell that it is complete.

This module uses the standard library only, and syntax that old Pythons can parse, because the bootstrap imports it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

from course_pkg.setup.troubles import Trouble, explain

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEEDED = (3, 11)


def say(line):
    """Print a line and flush it at once, also into a pipe."""
    print(line, flush=True)


class Venv:
    """The environment `.venv`: the paths of its parts, and its marker, which records what was installed."""

    def __init__(self, root=ROOT, windows=os.name == "nt"):
        self.root = root
        self.path = os.path.join(root, ".venv")
        self.bin = os.path.join(self.path, "Scripts" if windows else "bin")
        self.python = os.path.join(self.bin, "python.exe" if windows else "python")
        self.marker = os.path.join(self.path, ".course-ready.json")
        self.log = os.path.join(root, ".course", "install.log")

    def state(self):
        """Return the content of the marker; an empty dictionary if it is missing or damaged."""
        try:
            with open(self.marker, encoding="utf-8") as file:
                state = json.load(file)
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def write_state(self, **state):
        """Replace the marker in one step, so that nobody ever reads a half-written one."""
        with open(self.marker + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file, indent=1)
        os.replace(self.marker + ".new", self.marker)

    def key(self, extras):
        """Return a hash of all that the environment depends on, including its folder: its scripts contain that path."""
        digest = hashlib.sha256(repr((self.root, sorted(extras))).encode())
        for name in ("pyproject.toml", "constraints.txt"):
            with open(os.path.join(self.root, name), "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def is_whole(self):
        """Tell, without starting a process, whether Python and the largest packages are still in place."""
        library = os.path.join(self.path, "Lib" if self.bin.endswith("Scripts") else "lib")
        if not os.path.exists(self.python) or not os.path.isdir(library):
            return False
        folders = [library] + [os.path.join(library, name) for name in os.listdir(library)]
        return any(
            all(
                os.path.isdir(os.path.join(folder, "site-packages", name))
                for name in ("jupyterlab", "numba", "numpy")
            )
            for folder in folders
        )

    def works(self):
        """Start the environment's Python; tell whether it is new enough, has pip, and was made for this folder."""
        check = f"import os, sys, pip; sys.exit(sys.version_info < {NEEDED})"
        try:
            done = subprocess.run([self.python, "-c", check], stderr=subprocess.DEVNULL, check=False)
        except OSError:
            return False
        return done.returncode == 0 and self.state().get("root", self.root) == self.root

    def make(self):
        """Remove the environment, if there is one, and make an empty one."""
        try:
            import ensurepip  # noqa: F401
            import venv
        except ImportError:
            raise Trouble(
                "This Python cannot make virtual environments: install its venv module (Debian and Ubuntu: "
                f"sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv), then run "
                "the same command again."
            ) from None
        assert venv  # imported only to see whether it exists; a separate process makes the environment
        if os.path.lexists(self.path):
            try:
                shutil.rmtree(self.path) if not os.path.islink(self.path) else os.remove(self.path)
            except OSError:
                raise Trouble(
                    "The broken .venv could not be removed: close JupyterLab and other programs that use it, "
                    "delete the folder .venv, then run the same command again."
                ) from None
        base = getattr(sys, "_base_executable", None) or sys.executable
        self.run([base, "-m", "venv", self.path], "Making .venv")

    def run(self, command, what):
        """Run an installer with its output in the log; raise `Trouble` when it fails."""
        os.makedirs(os.path.dirname(self.log), exist_ok=True)
        started = time.time()
        say(f"{what} …")
        # These variables would make the installation go elsewhere than into .venv.
        bend = (
            "PYTHONHOME",
            "VIRTUAL_ENV",
            "PIP_USER",
            "PIP_TARGET",
            "PIP_PREFIX",
            "UV_SYSTEM_PYTHON",
            "UV_TARGET",
        )
        environment = {name: value for name, value in os.environ.items() if name not in bend}
        with open(self.log, "w+b") as log:
            try:
                process = subprocess.Popen(command, cwd=self.root, env=environment, stdout=log, stderr=log)
            except OSError as error:
                raise Trouble(
                    f"{command[0]} could not be started ({error.strerror}): delete .venv, then run the same command "
                    "again."
                ) from None
            try:
                while process.poll() is None:
                    time.sleep(0.05)
                    if sys.stdout.isatty() and time.time() - started > 3:
                        sys.stdout.write(f"\r  {time.time() - started:4.0f} s ")
                        sys.stdout.flush()
            except BaseException:
                process.terminate()
                process.wait()
                raise
            finally:
                if sys.stdout.isatty():
                    sys.stdout.write("\r          \r")
            if process.returncode != 0:
                log.seek(0)
                output = log.read().decode("utf-8", "replace")
                version = "{}.{}".format(*sys.version_info[:2])
                raise explain(output, os.path.relpath(self.log, self.root), version)

    def install(self, extras, last_gpu, from_cache=True):
        """Install uv, then the course with its extras; leave other packages as they are."""
        constraints = ["-c", "constraints.txt"]
        pip = [
            self.python,
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--timeout",
            "15",
        ]
        self.run([*pip, *constraints, "uv"], "Fetching uv, the installer")
        uv = [self.python, "-m", "uv", "pip"]
        gpu = [extra for extra in extras if extra.startswith("gpu")]
        if last_gpu and gpu and gpu != [last_gpu]:
            # Both builds of CuPy use the same folder, so the old one must be removed first.
            old = f"cupy-cuda{last_gpu[3:]}x"
            self.run([*uv, "uninstall", "--python", self.python, old], f"Removing {old}")
        course = "." if not extras else ".[{}]".format(",".join(sorted(extras)))
        size = " with GPU packages (a download of over 2 GB)" if gpu else ""
        what = f"Installing the course{size}; this is done only once"
        # uv links files from its cache: a file that is damaged in one environment would also be damaged in the next.
        cache = [] if from_cache else ["--no-cache"]
        self.run([*uv, "install", *cache, "--python", self.python, *constraints, "-e", course], what)
