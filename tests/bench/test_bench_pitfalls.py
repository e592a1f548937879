"""Each pitfall on a fake machine whose clock the tests set: the numbers of the wrong way and of the right way."""

from types import SimpleNamespace

import pytest
from fake_gpu import Array, FakeGpu

from course_pkg.bench import device, load, mistime, pitfalls, record, timers
from course_pkg.bench.pitfalls import PITFALLS, Pair, Work
from course_pkg.core import Cost

LAUNCH_S, COPY_S, KERNEL_S, SHORT_S = 1e-4, 2e-3, 4e-3, 1e-5  # seconds
COST = Cost(10**9, 10**9)


class Asynchronous(FakeGpu):
    """It is three times as slow for a while after a rest."""

    def __init__(self, monkeypatch):
        super().__init__(monkeypatch, LAUNCH_S)
        self.calls = 0
        monkeypatch.setattr(timers.time, "sleep", self.rest)
        monkeypatch.setattr(device, "gpu_clocks", lambda: {"sm_mhz": 345 if self.slow > 1 else 1980})

    def rest(self, seconds):
        self.now += seconds
        self.slow = 3.0

    def kernel(self, seconds):
        def call(*args):
            self.call(seconds=seconds)
            self.calls += 1
            if self.calls % 50 == 0:
                self.slow = 1.0

        return call

    def does(self, seconds, fn=None, check=None):
        return Work(fn or self.kernel(seconds), (Array(),), COST, "a library", {"n": 1}, check)


@pytest.fixture
def gpu(monkeypatch):
    return Asynchronous(monkeypatch)


def test_without_a_wait_the_host_times_the_launch(gpu):
    pair = mistime.no_wait(gpu.does(KERNEL_S), samples=4)
    assert pair.wrong.samples_s == pytest.approx([LAUNCH_S] * 4)
    assert pair.right.median_s == pytest.approx(KERNEL_S)
    assert pair.overstated == pytest.approx(KERNEL_S / LAUNCH_S)
    assert pair.wrong.cost == pair.right.cost == COST
    assert pair.wrong.parameters == {"n": 1}
    assert (pair.wrong.library, pair.wrong.calls_per_sample) == ("a library", 1)


def test_launches_of_samples_do_not_pile_up(gpu):
    """A queue that is full makes the next launch wait: each sample begins with an empty one."""
    waits = []
    synchronize = gpu.synchronize

    def fn(*args):
        waits.append(gpu.busy_until <= gpu.now)
        gpu.kernel(KERNEL_S)()

    mistime.no_wait(gpu.does(0, fn), samples=3)
    assert waits[-3:] == [True] * 3
    synchronize()


def test_the_first_call_of_each_fresh_function_compiles(gpu):
    made = []

    def fresh():
        made.append(0)

        def call(*args):
            made[-1] += 1
            gpu.now += 1.0
            gpu.work("kernel", KERNEL_S)

        return call

    pair = mistime.first_call(fresh, gpu.does(KERNEL_S), samples=3)
    assert made == [1, 1, 1]
    assert pair.wrong.samples_s == pytest.approx([1.0 + KERNEL_S] * 3), "it waits for the kernel, too"
    assert pair.right.median_s == pytest.approx(KERNEL_S)


def test_the_hosts_clock_adds_the_launch_of_a_short_call(gpu):
    pair = mistime.host_clock(gpu.does(SHORT_S), samples=3)
    assert pair.wrong.median_s == pytest.approx(LAUNCH_S + SHORT_S)
    assert pair.right.median_s == pytest.approx(SHORT_S)


def test_events_around_one_launch_time_python(gpu):
    pair = mistime.one_launch(gpu.does(SHORT_S), samples=3)
    assert pair.wrong.samples_s == pytest.approx([LAUNCH_S + SHORT_S] * 3)
    assert pair.right.median_s == pytest.approx(SHORT_S)


def test_arrays_in_a_cache_are_one_call_and_large_ones_another(gpu):
    pair = mistime.in_cache(gpu.does(SHORT_S), gpu.does(KERNEL_S), samples=2)
    assert pair.wrong.median_s == pytest.approx(SHORT_S)
    assert pair.right.median_s == pytest.approx(KERNEL_S)


def test_a_kernel_with_its_copies(gpu):
    def whole(*args):
        gpu.synchronize()
        gpu.now += 2 * COPY_S  # there and back: the host waits for both
        gpu.kernel(KERNEL_S)()

    pair = mistime.with_copies(gpu.does(0, whole), gpu.does(KERNEL_S), samples=2)
    assert pair.wrong.median_s == pytest.approx(2 * COPY_S + LAUNCH_S + KERNEL_S)
    assert pair.right.median_s == pytest.approx(KERNEL_S)


def test_copies_are_timed_until_they_are_done(gpu):
    pair = mistime.pageable(gpu.does(COPY_S), gpu.does(KERNEL_S), samples=2)
    assert pair.wrong.median_s == pytest.approx(LAUNCH_S + COPY_S)
    assert pair.right.median_s == pytest.approx(LAUNCH_S + KERNEL_S)


def test_a_gpu_that_rested_is_timed_at_its_low_clock_and_says_so(gpu):
    pair = mistime.idle_clock(gpu.does(KERNEL_S), rest_s=5.0, samples=3)
    assert pair.wrong.samples_s == pytest.approx([3 * KERNEL_S] * 3)
    assert pair.right.samples_s == pytest.approx([KERNEL_S] * 3)
    assert (pair.wrong.observed, pair.right.observed) == ({"sm_mhz": 345}, {"sm_mhz": 1980})


@pytest.fixture
def clock(monkeypatch):
    """A CPU's clock, which takes a microsecond to read."""
    clock = SimpleNamespace(now=0.0)

    def read():
        clock.now += 1e-6
        return clock.now

    monkeypatch.setattr(timers, "time", SimpleNamespace(perf_counter=read))
    return clock


def on_cpu(clock, seconds):
    def fn():
        clock.now += seconds

    return Work(fn, (), COST, "NumPy")


def test_a_short_call_is_timed_with_the_clock_itself(clock):
    pair = mistime.one_call(on_cpu(clock, 1e-6), samples=5)
    assert pair.wrong.samples_s == pytest.approx([2e-6] * 5)
    assert pair.right.median_s == pytest.approx(1e-6, rel=0.01)


def test_a_new_array_and_one_that_is_there(clock):
    pair = mistime.allocates(on_cpu(clock, 3e-3), on_cpu(clock, 1e-3))
    assert pair.wrong.median_s / pair.right.median_s == pytest.approx(3, rel=0.01)
    assert pair.pitfall is PITFALLS["allocates"]


def test_a_wrong_result_is_timed_by_no_way(gpu):
    def check():
        raise AssertionError("wrong result")

    work = gpu.does(SHORT_S, check=check)
    for way in (mistime.no_wait, mistime.host_clock, mistime.one_launch, mistime.idle_clock):
        with pytest.raises(AssertionError, match="wrong result"):
            way(work)


def of(pair, wrong_s, right_s):
    """The pair with one sample of each."""
    values = [
        dict(vars(m), samples_s=(s,)) for m, s in zip(pair.measurements, (wrong_s, right_s), strict=True)
    ]
    return Pair(*(type(pair.wrong)(**v) for v in values))


@pytest.mark.parametrize(
    ("wrong_s", "stated"),
    [
        (0.1, "10× too high"),
        (1234.0, "1,234× too low"),
        (1.25, "1.25× too low"),
        (1.02, "the same, here"),
        (0.98, "the same, here"),
    ],
)
def test_a_row_says_how_far_off_the_wrong_way_is(clock, wrong_s, stated):
    row = of(mistime.one_call(on_cpu(clock, 1e-6)), wrong_s, 1.0).row()
    assert row["stated"] == stated
    assert row["pitfall"] == "one short call"
    assert (row["wrong GB/s"], row["right GB/s"]) == (f"{2 / wrong_s:#.3g}".rstrip("."), "2.00")


def test_pairs_are_found_in_a_record_in_the_order_of_the_list(clock, tmp_path):
    short, new = mistime.one_call(on_cpu(clock, 1e-6)), mistime.allocates(*[on_cpu(clock, 1e-6)] * 2)
    ms = [*new.measurements, *short.measurements]
    path = record("honest", ms, tmp_path, origin="a test")
    assert [pair.pitfall.name for pair in pitfalls.pairs(load(path))] == ["one_call", "allocates"]
    assert [pair.pitfall.name for pair in pitfalls.pairs(ms[1:])] == ["one_call"], "half a pair is none"
    assert pitfalls.pairs([]) == []
