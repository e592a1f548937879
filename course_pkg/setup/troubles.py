"""Turn error messages of pip, uv and the operating system into one sentence that says what to do.

This module uses the standard library only, and syntax that old Pythons can parse, because the bootstrap imports it.
"""

import errno
import re

NO_SPACE = (
    "The disk is too full: free about {gb} GB on the disk of this folder, then run the same command again."
)
NO_NETWORK = (
    "The package index could not be reached: check the network (behind a proxy set HTTPS_PROXY), "
    "then run the same command again; what was already fetched is kept. Details: {log}"
)
BAD_CERTIFICATE = (
    "The package index answered with a certificate that this machine does not trust: set SSL_CERT_FILE to your "
    "network's certificate bundle, then run the same command again. Details: {log}"
)
NO_PERMISSION = (
    "This folder is write-protected: take ownership of it, or copy the course to a folder of your own, "
    "then run the same command again. Details: {log}"
)
NO_SOLUTION = (
    "The packages in constraints.txt do not fit this Python ({python}): use Python 3.11, 3.12 or 3.13 "
    "(make lab PYTHON=python3.12) after deleting .venv. Details: {log}"
)
NO_BUILD = (
    "A package has no ready build for this machine and could not be built: use Python 3.11, 3.12 or 3.13 "
    "(make lab PYTHON=python3.12) after deleting .venv. Details: {log}"
)
OTHER = "Installing stopped: {last} Run the same command again; if it stops again, send your teacher {log}"

# The first match decides, so causes come before their consequences: without a network, pip may also say "no solution
# found", and with a full disk it may say almost anything.
_PATTERNS = [
    (r"no space left|os error 28\b|os error 112\b|disk quota exceeded|not enough space", NO_SPACE),
    (r"certificate_verify_failed|invalid peer certificate|unknownissuer", BAD_CERTIFICATE),
    (
        r"error sending request|dns error|connection refused|connection reset|network is unreachable"
        r"|timed out|name resolution|newconnectionerror|could not connect|failed to fetch|proxyerror|tunnel",
        NO_NETWORK,
    ),
    (r"permission denied|access is denied|read-only file system", NO_PERMISSION),
    (r"no solution found|unsatisfiable|no matching distribution|no wheels with a matching", NO_SOLUTION),
    (r"failed to build|build backend|metadata-generation-failed|failed building", NO_BUILD),
]


class Trouble(Exception):
    """A failure; its message is the only sentence shown to the learner."""

    def __init__(self, sentence, kind=""):
        super().__init__(sentence)
        self.kind = kind


def explain(output, log, python="", gb=2):
    """Return a `Trouble` that explains an installer's output.

    Parameters
    ----------
    output : str
        All that pip or uv printed.
    log : str
        Path of the file with the output; the sentence names it.
    python : str
        Version of the Python that the packages were meant for.
    gb : int
        Space that the installation needs, in GB.
    """
    for pattern, sentence in _PATTERNS:
        if re.search(pattern, output, re.IGNORECASE):
            return Trouble(sentence.format(log=log, python=python, gb=gb), kind=sentence)
    lines = [line.strip(" ×╰─▶") for line in output.splitlines() if line.strip(" ×╰─▶│")]
    last = next(
        (line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "no message."
    )
    last = last if last.endswith((".", "!", "?")) else last + "."
    return Trouble(OTHER.format(last=last, log=log))


def explain_os_error(error, log, gb=2):
    """Return a `Trouble` that explains an `OSError` of our own file handling."""
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return Trouble(NO_SPACE.format(gb=gb), kind=NO_SPACE)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Trouble(NO_PERMISSION.format(log=log), kind=NO_PERMISSION)
    return Trouble(OTHER.format(last=str(error) + ".", log=log))
