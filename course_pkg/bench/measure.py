"""Time a callable, after checking that its result is right."""

import gc
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from course_pkg.bench.measurement import EXCEEDS, FLUSHED, WARM, Measurement
from course_pkg.bench.timers import DeviceTimer, HeldTimer, HostTimer, WaitingTimer
from course_pkg.core import Cost, CourseError, Implementation, Variant
from course_pkg.core.checks import on_device, require_count


def measure(
    fn: Callable,
    *args,
    cost: Cost | None = None,
    check: Callable[[], None] | None = None,
    name: "str | Implementation | Variant | None" = None,
    parameters: dict | None = None,
    samples: int = 20,
    warmup: int = 2,
    min_sample_s: float = 1e-3,
    flush: bool = False,
    hold: bool = False,
    wait: Callable[[], None] | None = None,
    observe: Callable[[], dict] | None = None,
    footprint: int | None = None,
) -> Measurement:
    """Time ``fn(*args)``: call it, check the result, warm up, then take samples.

    Parameters
    ----------
    fn : callable
        If any of ``args`` is in GPU memory, the call runs asynchronously on the GPU, and events on the default stream
        time it. An extra call, which is not timed, keeps the GPU busy while Python launches the timed ones. So Python's
        launch time is not measured, provided that a call takes longer than its launch. If no argument is in GPU memory,
        the host's clock times the call.
    cost : Cost, optional
        What one call moves and computes; by default, this is unknown.
    name : str or Implementation or Variant
        What is measured; by default, the name of the function.
    check : callable
        Called once after the first call. If the result is wrong, it must raise an error, such as those of
        ``numpy.testing``. Then nothing is timed, because the speed of a wrong result is of no interest.
    samples, warmup : int
        Number of samples, and of warm-up calls before them.
    min_sample_s : float
        A sample is the mean of as many calls as are needed to last this long.
    parameters : dict
        Size, dtype, and everything else that distinguishes this measurement from others of the same name.
    flush : bool
        If True, each sample is one call, and a buffer twice as large as the last-level cache is written before it.
    hold : bool
        Keep the GPU busy with copies until Python has launched all calls of a sample. So Python's launch time is not
        measured, even if a call takes less time than its launch.
    wait : callable
        For a library with queues of its own: a function that waits until all its work is done. Samples are then timed
        by the host's clock, and each ends with one wait. So ``min_sample_s`` should be long compared with a wait.
    observe : callable
        Called at the end; returns further observations, such as the registers per thread.
    footprint : int
        Number of bytes that a call works on, if they are not all in ``args``. It decides whether a cache may hold them.

    Raises
    ------
    CourseError
        If ``samples``, ``warmup`` or ``min_sample_s`` make no sense.
    AssertionError
        If ``check`` raises it: then nothing is timed.

    Examples
    --------
    >>> out = np.zeros(8)
    >>> def check():
    ...     np.testing.assert_array_equal(out, 1)
    >>> measure(np.copyto, out, np.ones(8), check=check, samples=3).cache_state
    'warm'
    """
    run = Run(
        fn,
        args,
        cost=cost,
        check=check,
        name=name,
        parameters=parameters,
        warmup=warmup,
        min_sample_s=min_sample_s,
        flush=flush,
        hold=hold,
        wait=wait,
        observe=observe,
        footprint=footprint,
    )
    run.sample(samples)
    return run.finish()


class Run:
    """A callable that has been checked and warmed up, so that samples of it can be taken at any time.

    The arguments are those of :func:`measure`. :func:`~course_pkg.bench.compare` samples several runs in turn.
    """

    def __init__(
        self,
        fn,
        args,
        *,
        cost=None,
        check=None,
        name=None,
        parameters=None,
        warmup=2,
        min_sample_s=1e-3,
        flush=False,
        hold=False,
        wait=None,
        observe=None,
        footprint=None,
    ):
        if not (np.isfinite(min_sample_s) and min_sample_s >= 0):
            raise CourseError(
                f"min_sample_s is {min_sample_s!r}: it must be a finite number of seconds, at least 0."
            )
        require_count(warmup=warmup)
        if wait is not None and (flush or hold):
            raise CourseError(
                "wait is for another library's queue, which flush and hold do not reach: leave them out."
            )
        if flush and hold:
            raise CourseError(
                "A sample is flushed or held, not both: hold fills the cache that flush empties."
            )
        self.fn, self.args, self.cost = fn, args, cost
        self.what = Implementation.of(name or getattr(fn, "__name__", str(fn)))
        self.parameters = dict(parameters or {})
        self.observe = observe
        self.footprint = _footprint(args) if footprint is None else footprint
        on_gpu = wait is None and any(on_device(a) for a in args)
        hold = hold and on_gpu
        self.timer = (
            WaitingTimer(wait) if wait else HeldTimer() if hold else DeviceTimer() if on_gpu else HostTimer()
        )
        self.warmup_s = [self.timer.once(fn, args)]
        if check is not None:
            check()
        self.warmup_s += [self.timer.once(fn, args) for _ in range(warmup)]
        self.calls = 1 if flush else max(1, int(np.ceil(min_sample_s / max(min(self.warmup_s), 1e-7))))
        self.flush = self.timer.flusher() if flush else None
        if hold:
            self.calls = self.timer.calls_for(fn, args, min_sample_s)
        self.samples_s = []

    def sample(self, samples: int = 1) -> None:
        """Take samples."""
        if samples < 1:
            raise CourseError(f"samples is {samples}: pass at least 1; with 20, the median is reliable.")
        collecting = gc.isenabled()
        gc.disable()  # otherwise garbage collection during a sample would be measured, too
        try:
            for _ in range(samples):
                if self.flush is not None:
                    self.flush()
                self.samples_s.append(self.timer.many(self.fn, self.args, self.calls))
        finally:
            if collecting:
                gc.enable()

    def finish(self) -> Measurement:
        """Return the samples as a measurement."""
        exceeds = self.footprint > 2 * self.timer.device.llc_bytes
        return Measurement(
            what=self.what,
            samples_s=tuple(self.samples_s),
            warmup_s=tuple(self.warmup_s),
            calls_per_sample=self.calls,
            cache_state=FLUSHED if self.flush else EXCEEDS if exceeds else WARM,
            cost=self.cost,
            device=self.timer.device,
            parameters=self.parameters,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            observed=self.observe() if self.observe else {},
        )


def _footprint(args) -> int:
    return sum(int(np.prod(a.shape)) * np.dtype(a.dtype).itemsize for a in args if hasattr(a, "shape"))
