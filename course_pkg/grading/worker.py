"""Runs a learner's cells inside the sandbox and answers the judge; started by its path, never imported by the course.

The command is ``python -I -S worker.py SETTINGS``. The protocol uses the file descriptors of standard input and output.
Before any code of the learner runs, they are moved to other numbers, and 0, 1 and 2 are connected to ``/dev/null``. The
learner's code runs in this process and can change anything in it, so the judge trusts nothing that this process says.
"""

import ast
import builtins
import contextlib
import ctypes
import fcntl
import importlib.util
import inspect
import io
import json
import linecache
import os
import resource
import sys
import types

NOBODY = -1


def limit(settings: dict) -> None:
    """Set this process's limits, then become the unprivileged user that the settings name."""
    for name, value in settings["rlimits"].items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # one second between soft and hard limit: the signal at the soft limit tells the reason
        top = value + 1 if name == "RLIMIT_CPU" and value != hard else value
        try:
            resource.setrlimit(number, (value, top))
        except (ValueError, OSError):  # macOS refuses some of them
            continue
    if settings["alone"] and sys.platform == "linux":  # without bubblewrap: end this process with its parent
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    if settings["uid"] != NOBODY:
        os.setgroups([])
        os.setresgid(*[settings["uid"]] * 3)
        os.setresuid(*[settings["uid"]] * 3)


def take_pipes() -> tuple[int, int]:
    """Move the pipes of the protocol to other file descriptors, and connect 0, 1 and 2 to ``/dev/null``."""
    pipes = tuple(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    return pipes


def load(path: str):
    """Load a module of the judge from its file, since it is not on ``sys.path``."""
    spec = importlib.util.spec_from_file_location("_" + os.path.basename(path)[: -len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Kept(io.RawIOBase):
    """Stores what the learner prints, up to a limit; the rest is dropped."""

    def __init__(self, size: int):
        self.room, self.parts = size, []

    def writable(self):
        """Return True."""
        return True

    def write(self, data):
        """Store the text up to the limit; return the length of the whole text, as if all of it were stored."""
        part = bytes(data[: self.room])
        if part:
            self.parts.append(part)
            self.room -= len(part)
        return len(data)


class Shell:
    """Stands for IPython's shell: every method call on it does nothing."""

    def __getattr__(self, name):
        return lambda *things, **options: None


class Worker:
    """Answers requests until the judge closes the pipe."""

    def __init__(self, protocol, pipes, settings):
        self.protocol, self.settings = protocol, settings
        self.reader, self.writer = pipes
        self.pid, self.loop = os.getpid(), None
        self.cells = set()
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names = module.__dict__
        builtins.display = lambda *things, **options: None  # what a notebook offers
        builtins.get_ipython = Shell
        self.own = frozenset(self.names) | {"__builtins__"}

    # ------------------------------------------------------------------------------------------------ transport

    def read(self, size: int) -> bytes:
        """Read exactly ``size`` bytes; end this process if the judge has closed the pipe."""
        data = bytearray()
        while len(data) < size:
            part = os.read(self.reader, min(size - len(data), 1 << 20))
            if not part:
                os._exit(0)
            data += part
        return data

    def write(self, parts) -> None:
        """Write a frame."""
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[os.write(self.writer, view) :]

    def serve(self) -> None:
        """Send the first message, then answer one request after the other."""
        most = self.settings["message_bytes"]
        self.write(self.protocol.encode({"id": 0}, most))
        while True:
            text, arrays = self.protocol.sizes(self.read(self.protocol.HEADER.size), most)
            request = self.protocol.decode(self.read(text), self.read(arrays))
            reply = self.answer(request)
            if os.getpid() != self.pid:  # this is a copy that the learner's code has forked
                os._exit(0)
            self.write(reply)

    # --------------------------------------------------------------------------------------------------- answers

    def answer(self, request: dict) -> list[bytes]:
        """Carry out a request; whatever the learner's code raises becomes part of the answer."""
        kept = Kept(self.settings["output_bytes"])
        sys.stdout = sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(kept), encoding="utf-8", errors="replace", write_through=True
        )
        reply = {"id": request["id"]}
        try:
            reply |= getattr(self, "do_" + request["do"])(request)
            return self.packed(reply | {"output": self.output(kept)}, request)
        except BaseException as error:
            reply = {"id": request["id"], "error": self.describe(error), "output": self.output(kept)}
            return self.protocol.encode(reply, self.settings["message_bytes"])

    def packed(self, reply, request) -> list[bytes]:
        """Encode an answer; if a value in it is not plain, say which."""
        most = self.settings["message_bytes"]
        try:
            return self.protocol.encode(reply, most)
        except self.protocol.NotPlain as error:
            name, what = request.get("name"), error.what
        try:
            self.protocol.encode(reply["value"], most)
        except self.protocol.NotPlain as error:
            if request["do"] == "get":
                raise self.protocol.NotPlain(
                    f"{name} is {error.what}: make it a number or an array"
                ) from None
            raise self.protocol.NotPlain(f"{name} returned {error.what}: return numbers or arrays") from None
        raise self.protocol.NotPlain(f"{name} left {what} in its arguments: put only numbers or arrays there")

    def do_run(self, request) -> dict:
        """Execute a cell."""
        source, filename = request["source"], f"<{request['name']}>"
        self.cells.add(filename)
        # inspect looks for a cell's text here, and @cuda.jit uses inspect
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # a notebook allows it
        code = compile(source, filename, "exec", flags, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            self.loop = self.loop or load(self.settings["loop"]).make()
            self.loop.run_until_complete(eval(code, self.names))
        else:
            exec(code, self.names)
        return {}

    def do_call(self, request) -> dict:
        """Call one of the learner's functions; kernels named in ``instead`` do what other kernels do."""
        args = request["args"]
        with contextlib.ExitStack() as stack:
            for name, other in request["instead"].items():
                stack.enter_context(self.named(name)._doing(self.named(other)))
            value = self.named(request["name"])(*args, **request["kwargs"])
        return {"value": value, "args": list(args)}

    def do_get(self, request) -> dict:
        """Return one of the learner's variables."""
        return {"value": self.named(request["name"])}

    def do_names(self, request) -> dict:
        """Return the names that the cells have defined."""
        return {"value": [name for name in self.names if type(name) is str and name not in self.own]}

    def named(self, name):
        """Return the value of a name, looked up as in the learner's own code."""
        if name not in self.names:
            raise NameError(f"{name} is not defined: define it in the cell that asks for it")
        return self.names[name]

    # ---------------------------------------------------------------------------------------------------- errors

    def output(self, kept) -> str:
        """Return what was printed."""
        with contextlib.suppress(BaseException):  # the learner may have replaced or closed the stream
            sys.stdout.flush()
        return b"".join(kept.parts).decode("utf-8", "replace")

    def describe(self, error) -> dict:
        """Return the kind of an error, its message and its line in the cell."""
        try:
            message = "".join(str(error))
            message.encode("utf-8")
        except BaseException:
            message = "an error that cannot be written"
        if isinstance(error, MemoryError):
            message = f"your code asked for more than {self.settings['memory_bytes'] >> 20} MiB of memory"
        return {
            "kind": str(type(error).__name__)[:100],
            "message": message[:2000],
            "line": self.line(error),
        }

    def line(self, error):
        """Return the error's line in the innermost cell that it passed through; None if there is no cell."""
        found, trace = None, error.__traceback__
        if isinstance(error, SyntaxError) and error.filename in self.cells:
            return error.lineno
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in self.cells:
                found = trace.tb_lineno
            trace = trace.tb_next
        return found


def main() -> None:
    """Start the worker with the settings on its command line."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    limit(settings)
    os.chdir(settings["folder"])
    if settings["landlock"]:
        wall = load(settings["landlock"])
        wall.confine(settings["readable"], settings["writable"])
        own = settings["uid_alone"]
        if own != NOBODY and wall.give_up_root(own, settings["folder"]):
            # no other process of this user is there, so the limit need not leave room for any
            resource.setrlimit(resource.RLIMIT_NPROC, (settings["processes"], settings["processes"]))
        wall.refuse_calls(bytes.fromhex(settings["filter"]))
    sys.path += settings["path"]
    protocol = load(settings["protocol"])
    Worker(protocol, take_pipes(), settings).serve()


if __name__ == "__main__":
    main()
