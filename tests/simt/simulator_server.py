"""Numba's CUDA simulator in a process of its own: it can only be chosen before numba.cuda is imported.

Requests and answers are pickles, each after its length in eight bytes. A request is a dict with the kernel's
``source``, ``name``, ``blocks``, ``threads``, ``shared_bytes`` and ``arguments``; the answer is the arguments after
the launch, or a text that says what went wrong.
"""

import os
import pickle
import subprocess
import sys
import traceback


def send(stream, thing):
    """Write one message."""
    data = pickle.dumps(thing)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def receive(stream):
    """Read one message; None when the other side is gone."""
    head = stream.read(8)
    return pickle.loads(stream.read(int.from_bytes(head, "little"))) if len(head) == 8 else None


class Simulator:
    """The client: starts the server, and runs kernels in it."""

    def __init__(self):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, __file__], env=environment, **pipes)

    def launch(self, source, name, blocks, threads, arguments, shared_bytes=0):
        """Return the arguments as a launch leaves them.

        Raises
        ------
        RuntimeError
            With the simulator's traceback, when it does not run the kernel.
        """
        request = {"source": source, "name": name, "blocks": blocks, "threads": threads}
        send(self._process.stdin, {**request, "arguments": arguments, "shared_bytes": shared_bytes})
        answer = receive(self._process.stdout)
        if not isinstance(answer, list):
            raise RuntimeError(answer or "the simulator's process ended")
        return answer

    def close(self):
        """End the server."""
        self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()


def _run(request):
    import math

    import numba
    import numpy as np
    from numba import cuda

    names = {"cuda": cuda, "np": np, "math": math, "numba": numba}
    exec(compile(request["source"], "<simulated>", "exec"), names)
    kernel = names[request["name"]]
    kernel = kernel if hasattr(kernel, "__getitem__") else cuda.jit(kernel)
    kernel[request["blocks"], request["threads"], 0, request["shared_bytes"]](*request["arguments"])
    return list(request["arguments"])


def _serve(requests, answers):
    import warnings

    warnings.simplefilter("ignore")
    while (request := receive(requests)) is not None:
        try:
            send(answers, _run(request))
        except Exception:
            send(answers, traceback.format_exc())


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    _serve(sys.stdin.buffer, answers)
