"""Helpers that the tests of the sandbox share."""

import psutil
import pytest
from needs import need

from course_pkg.grading import bubblewrap, seccomp
from course_pkg.grading.sandbox import LearnerError, Limits, Sandbox, SandboxLost


def need_bubblewrap():
    """Skip where there can be no sandbox, and say so; on CI that is an error."""
    need(bubblewrap.obstacle())


def need_filter():
    """Go on only where system calls can be filtered."""
    need("" if seccomp.program() else "libseccomp is missing")


def contained(**limits) -> Sandbox:
    """Start a sandbox behind bubblewrap."""
    need_bubblewrap()
    return Sandbox(Limits(**limits), require=True)


def raised(sandbox, source) -> LearnerError:
    """Run a cell that must raise, and return what it raised; the sandbox lives on."""
    with pytest.raises(LearnerError) as caught:
        sandbox.run(source, "cell")
    return caught.value


def lost(sandbox, source) -> str:
    """Run a cell that must end the sandbox, and return the reason."""
    with pytest.raises(SandboxLost) as caught:
        sandbox.run(source, "cell")
    with pytest.raises(SandboxLost) as again:
        sandbox.get("anything")
    assert again.value.reason == caught.value.reason
    return caught.value.reason


def alive(marker) -> list[int]:
    """Return the processes of this machine that carry a marker on their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(marker in part for part in process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
