"""``course lab``: open the lectures in a JupyterLab that only this machine can reach, protected by a token."""

import errno
import http.client
import os
import secrets
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from argparse import ArgumentParser, Namespace
from pathlib import Path

from course_pkg.commands.sync import pairs, sync
from course_pkg.core.errors import CourseError
from course_pkg.paths import repo_root

HOST = "127.0.0.1"
FIRST_PORT = 8888
PORTS_TRIED = 50
ANSWER_WITHIN_S = 120
CONFIG = Path(__file__).parent / "jupyter"
KERNEL_STARTUP = CONFIG / "kernel_startup.py"
EXTENSIONS = Path(__file__).parents[1] / "viz" / "labextensions"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "lecture", nargs="?", default="00", help="start of a lecture's name, such as 02 (default: 00)"
    )
    parser.add_argument(
        "--port", type=int, help=f"port to use (default: the first free one from {FIRST_PORT})"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def has_browser() -> bool:
    """Tell whether a graphical browser can be opened.

    On Linux without a display, `webbrowser` offers text browsers, in which JupyterLab does not work.
    """
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    ):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def choose_port(wanted: int | None) -> int:
    """Return the wanted port, or the first free one.

    Raises
    ------
    CourseError
        If the wanted port is taken, reserved, or not a port number.
    """
    if wanted is not None and not 1 <= wanted <= 65535:
        raise CourseError(f"{wanted} is not a port: choose one between 1024 and 65535, or omit --port.")
    for port in [wanted] if wanted else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with socket.socket() as probe:
            if os.name != "nt":
                # With this option, which the server sets too, a port whose server has just ended counts as free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
                return port
            except OSError as error:
                if wanted and error.errno in (errno.EACCES, errno.EPERM):
                    raise CourseError(
                        f"Port {port} is reserved by the system: choose a number from 1024 on, or omit --port."
                    ) from None
                if wanted:
                    raise CourseError(
                        f"Port {port} is taken: stop the program that uses it, choose another one (--port "
                        f"{port + 1}), or omit --port to use the first free one."
                    ) from None
    raise CourseError(
        f"No port between {FIRST_PORT} and {FIRST_PORT + PORTS_TRIED - 1} is free: stop some of the "
        "servers that use them, or choose another port with --port."
    )


def notebook_for(folder: Path, prefix: str) -> Path:
    """Return the notebook to open; if the default one does not exist, return the first lecture."""
    if prefix == "00" and not list(folder.glob("00_*.py")):
        prefix = ""
    chosen = pairs(folder, [prefix] if prefix else [])
    if not chosen:
        raise CourseError(f"{folder} has no lectures: download the complete course again.")
    return chosen[0].notebook


def sync_all(folder: Path) -> None:
    """Synchronise all lectures without overwriting any edit; if one fails, say so and go on."""
    for pair in pairs(folder):
        try:
            line, _ = sync(pair)
        except CourseError as error:
            line = str(error)
        if line:
            print(line, flush=True)


def announce(path: str, token: str) -> None:
    """Wait until the server answers, then print its address, so that nobody opens it too early."""
    from jupyter_server.serverapp import ServerApp

    # A proxy cannot reach this machine's loopback address, so none is used.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + ANSWER_WITHIN_S
    while time.monotonic() < deadline:
        time.sleep(0.1)
        # If the chosen port was taken in the meantime, the server uses another one.
        port = ServerApp.instance().port if ServerApp.initialized() else 0
        request = urllib.request.Request(f"http://{HOST}:{port}/api/status")
        request.add_header("Authorization", f"token {token}")
        try:
            with opener.open(request, timeout=2):
                break
        except (OSError, http.client.HTTPException):
            continue  # the server is not ready yet, or it is another server, which refuses our token
    else:
        return
    url = f"http://{HOST}:{port}/{path}?token={token}"
    print(f"\nThe lectures are at\n\n    {url}\n\nCtrl-C here stops the server.", flush=True)


def server_arguments(root: Path, path: str, port: int, retries: int, browser: bool) -> list[str]:
    """Return JupyterLab's command line; the learner's own configuration still applies."""
    arguments = [
        f"--ServerApp.ip={HOST}",
        f"--ServerApp.port={port}",
        f"--ServerApp.port_retries={retries}",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/{path}",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        f"--ServerApp.open_browser={browser}",
        "--ServerApp.answer_yes=True",  # Ctrl-C ends it without a question
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
        *encryption(),
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--ServerApp.allow_root=True")
    return arguments


def encryption() -> list[str]:
    """Return the option that encrypts messages between server and kernels; an empty list if Jupyter lacks it.

    The option also prevents ipykernel's warning about TCP, which would appear for each notebook that is opened.
    """
    import zmq
    from jupyter_client.manager import KernelManager

    known = KernelManager.class_traits().get("transport_encryption") is not None
    return ["--KernelManager.transport_encryption=auto"] if known and zmq.has("curve") else []


def run(args: Namespace) -> int:
    """Synchronise the lectures, start the server, print its address, and wait until the server ends."""
    root = repo_root()
    port = choose_port(args.port)
    sync_all(root / "lectures")
    notebook = notebook_for(root / "lectures", args.lecture)
    # The token is passed by the environment, because `ps` shows command lines to other users.
    token = os.environ["JUPYTER_TOKEN"] = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    own = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join([str(CONFIG), own] if own else [str(CONFIG)])
    os.environ.setdefault("PYTHONSTARTUP", str(KERNEL_STARTUP))  # kernels run it; a learner's own value stays
    browser = not args.no_browser and has_browser()
    if not browser and not args.no_browser:
        print("No browser can open here: open the address below in a browser that can reach this machine.")
    print("Starting JupyterLab …", flush=True)

    from jupyterlab.labapp import LabApp

    path = f"lab/tree/{notebook.relative_to(root).as_posix()}"
    arguments = server_arguments(root, path, port, 0 if args.port else PORTS_TRIED, browser)
    threading.Thread(target=announce, args=(path, token), daemon=True).start()
    try:
        LabApp.launch_instance(arguments + args.extra)
    except SystemExit as end:
        if end.code not in (0, None):
            raise CourseError(
                "JupyterLab did not start: the lines above say why, and `course doctor` checks the environment."
            ) from None
    return 0
