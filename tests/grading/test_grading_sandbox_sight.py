"""What code in the sandbox can see, import, write and reach."""

import os
import secrets
import socket
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sandbox_cases import contained, need_bubblewrap, raised

from course_pkg.grading import bubblewrap, seccomp
from course_pkg.paths import repo_root

# --------------------------------------------------------------------------------------------------- what it can see


@pytest.mark.parametrize("name", ["solutions", "exercises", "course_pkg", "tests", "pyproject.toml"])
def test_the_repository_is_not_there(shared, name):
    path = str(repo_root() / name)
    assert os.path.exists(path)
    assert raised(shared, f"import os\nos.stat({path!r})").kind == "FileNotFoundError"


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/proc/1/environ", "/sys", "/etc/passwd", "/dev/shm", "/var"]
)
def test_this_machine_is_not_there(shared, path):
    assert os.path.exists(path)
    assert raised(shared, f"import os\nos.stat({path!r})").kind == "FileNotFoundError"


def test_gradebook_beside_the_submission_is_not_there(shared, tmp_path):
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_bytes(b"marks")
    assert raised(shared, f"open({str(gradebook)!r}, 'rb')").kind == "FileNotFoundError"
    assert raised(shared, f"open({str(gradebook)!r}, 'wb')").kind == "FileNotFoundError"
    assert gradebook.read_bytes() == b"marks"


WRITES = """
import os, tempfile
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("x")
    file.seek(0)
    read, (folder, name) = file.read(), os.path.split(file.name)
"""


def test_environment_is_cleared(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_TEACHER", "42")
    with contained() as sandbox:
        sandbox.run("import os\nfound = dict(os.environ)", "cell")
        found = sandbox.get("found")
    assert set(found) == set(bubblewrap.environment(bubblewrap.WORK, "mark"))


@pytest.mark.parametrize(
    "module",
    [
        *(
            "course_pkg.vector.reference",
            "course_pkg.stencil",
            "course_pkg.stencil.reference",
            "course_pkg.cli",
        ),
        *(
            "course_pkg.grading.sandbox",
            "course_pkg.grading.judge",
            "course_pkg.witness",
            "course_pkg.commands",
        ),
    ],
)
def test_the_courses_answers_cannot_be_imported(shared, module):
    assert raised(shared, f"import {module}").kind == "ModuleNotFoundError"


def test_what_a_learner_needs_can_be_imported_and_starts_in_time():
    need_bubblewrap()
    begin = time.monotonic()
    with contained() as sandbox:
        sandbox.run("import numpy as np\nfrom course_pkg import cuda", "setup")
        took = time.monotonic() - begin
        sandbox.run(
            "@cuda.jit\ndef twice(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] *= 2\n"
            "def run(a):\n    d = cuda.to_device(a)\n    twice[1, 32](d)\n    return d.copy_to_host()\n",
            "cell",
        )
        np.testing.assert_array_equal(sandbox.call("run", (np.arange(5.0),))[0], 2 * np.arange(5.0))
    assert took < 60, "far above what it takes (about 1.5 s): a hang, not a slow machine"


def test_numba_stays_closed_until_it_is_asked_for(shared):
    with contained() as sandbox:
        sandbox.run("import sys\nbefore = 'numba' in sys.modules", "cell")
        assert sandbox.get("before") is False


def test_unprivileged(shared):
    shared.run("import os\nids = sorted({*os.getresuid(), *os.getresgid(), *os.getgroups()})", "cell")
    assert len(shared.get("ids")) == 1
    assert shared.get("ids")[0] >= 65534
    assert raised(shared, "os.setuid(0)").kind in ("PermissionError", "OSError")  # root is not even mapped
    source = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))"
    assert raised(shared, source).kind == "ValueError"


def test_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            server.accept()[0].close()  # it does listen
        with contained() as sandbox:
            error = raised(
                sandbox, f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=2)"
            )
        assert error.kind == ("PermissionError" if seccomp.program() else "ConnectionRefusedError")
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "folder", ["/", "/usr", "/course/course_pkg", "/course/judge", "/dev", sys.base_prefix], ids=str
)
def test_writing_outside(shared, folder):
    error = raised(shared, f"open({folder + '/mine'!r}, 'w')")
    assert error.kind in ("OSError", "PermissionError")
    assert not os.path.exists(folder + "/mine")


def test_writing_inside_is_not_seen_outside(shared):
    shared.run(WRITES, "cell")
    folder, name = shared.get("folder"), shared.get("name")
    assert shared.get("read") == "x"
    assert folder == bubblewrap.WORK and not Path(folder, name).exists()


def test_temporary_files_of_the_machine_cannot_be_written(shared):
    name = "course-" + secrets.token_hex(8)
    assert raised(shared, f"open('/tmp/{name}', 'w')").kind == "FileNotFoundError"
    assert not Path("/tmp", name).exists()


def test_shipped_modules_have_no_effect(tmp_path, monkeypatch):
    for name in ("numpy", "numba", "sitecustomize", "usercustomize", "json", "_protocol", "course_pkg"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the submission was imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with contained() as sandbox:
        sandbox.run(
            "for n in ('numba', 'sitecustomize', 'numpy'): open(n + '.py', 'w').write('raise SystemExit')",
            "a",
        )
        sandbox.run("import numpy, numba\nplaces = [numpy.__file__, numba.__file__]", "b")
        assert all("site-packages" in p or "dist-packages" in p for p in sandbox.get("places"))


def test_builtins_patched_inside_do_not_reach_the_judge(shared):
    with contained() as sandbox:
        sandbox.run(
            "import builtins, numpy as np\nbuiltins.abs = np.allclose = lambda *a, **k: True\nx = abs(-3)",
            "cell",
        )
        assert sandbox.get("x") is True
    assert abs(-3) == 3
    assert not np.allclose(1, 2)
