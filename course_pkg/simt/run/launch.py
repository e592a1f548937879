"""Run a launch: check its arguments, and run the kernel for one wave of blocks after another."""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from course_pkg.simt.counting.sites import Counters, Uncounted
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import names  # noqa: F401  (importing this and others below registers their functions)
from course_pkg.simt.front.chance import data_decide
from course_pkg.simt.front.signatures import arguments_as_declared
from course_pkg.simt.front.source import Program, kept_program
from course_pkg.simt.front.typing import type_of, type_of_number
from course_pkg.simt.memory.hazard_log import HazardLog
from course_pkg.simt.memory.notes import lost_stores
from course_pkg.simt.memory.races import Races
from course_pkg.simt.memory.regions import Array, GlobalMemory
from course_pkg.simt.run import calls, comparisons, conditions, failing, loops  # noqa: F401
from course_pkg.simt.run.arguments import check_arguments, is_array
from course_pkg.simt.run.budget import steps_now
from course_pkg.simt.run.competing import Lots
from course_pkg.simt.run.functions import default_of
from course_pkg.simt.run.lanes import waves
from course_pkg.simt.run.late import MANY_THREADS
from course_pkg.simt.run.named import named, parts_of
from course_pkg.simt.run.order import Order, in_order, put
from course_pkg.simt.run.printing import Printer, without
from course_pkg.simt.run.sketch import Sketched
from course_pkg.simt.run.spinning import may_wait
from course_pkg.simt.run.state import Frame, Run
from course_pkg.simt.run.statements import execute
from course_pkg.simt.run.values import Variable
from course_pkg.simt.run.waits import Apart

WAVE_THREADS = 1 << 18
# statements of all launches with late threads: as a multiple of those of the first launch, least and most, in launches
# of few and of many threads; roles that divide begin again, also those of honest hand-overs
LATE, LATE_OF_MANY = (12, 4_000, 30_000), (8, 500, 4_000)
PATIENCE = 1_000_000  # statements: without a budget, a wave stops after so many (minutes of work)


@dataclass(eq=False)
class State:
    """The data that all waves of a launch share."""

    name: str
    counters: Counters | None
    races: Races | None
    log: HazardLog
    dynamic_shared: int
    types: dict | None = None
    steps: int | None = None
    printer: Printer | None = None
    narrowest: dict = field(default_factory=dict)  # see run/state.py
    may_begin_again: bool = False  # whether the launch may begin again with more roles: see run/roles.py
    lots: Lots | None = None  # the order of threads that compete: see run/competing.py
    patience: int = field(default_factory=lambda: PATIENCE)
    ran: int = 0  # statements so far
    programs: dict = field(default_factory=dict)
    entities: dict = field(default_factory=dict)  # {id of an object: (object, counterpart)}
    local_arrays: list = field(default_factory=list)
    regions: tuple = ()  # the regions of the arrays in global memory
    _numbers: dict = field(default_factory=dict)

    def number(self, site) -> int:
        """Return the number of a region in shared or local memory; it is the same in all waves."""
        return self._numbers.setdefault(site, 1000 + len(self._numbers))

    def program(self, function: Any) -> Program:
        """Return the program of a device function, which is parsed only once."""
        if id(function) not in self.programs:
            program = getattr(function, "program", None)
            self.programs[id(function)] = program or kept_program(function.py_func)
        return self.programs[id(function)]


def run_launch(launch, arguments, *, counters: Counters | None = None, check=False, steps=None) -> State:
    """Interpret a launch.

    Parameters
    ----------
    launch : Launch
    arguments : tuple
        NumPy arrays, device arrays and numbers; arrays are written in place.
    counters : Counters, optional
        Collects the counts; if it is None, nothing is counted.
    check : bool
        Whether to look for races and for reads of uninitialised memory, and to collect hazards instead of raising an
        error.
    steps : int, optional
        Maximum number of statements, each run for all threads of a wave at once; by default, the budget that
        :func:`~.budget.limits` sets.
    """
    steps = steps_now() if steps is None else steps

    arrays = [getattr(a, "host", a) for _, a in _arrays(("", a) for a in arguments)]

    def once(order: Order, counted: bool) -> State:
        looks = check and order.parity is None
        most = None if steps is None else steps * order.times(int(np.prod(launch.grid)))
        return _run_launch(launch, arguments, arrays, counters if counted else None, looks, most, order)

    return in_order(once, launch.kernel, (launch.grid, launch.block), arrays)


def _run_launch(launch, arguments, arrays, counters, check, steps, order) -> State:
    program = launch.kernel.program
    if launch.kernel.signatures:
        arguments = arguments_as_declared(launch.kernel, arguments)
    check_arguments(program, arguments)
    lost_stores(program.tree)  # the sketch removes statements without an effect from the tree
    with np.errstate(all="ignore"):
        memory = _memory(program, arguments)
        sketched = _sketch(launch, program, arguments, memory)
        order.meetings.fetches, order.meetings.by_data = sketched.fetches, sketched.by_data
        again = check and (sketched.in_parts or sketched.fetches)
        keep = again or order.may_begin_again(sketched.waits)
        before = [a.copy() for a in arrays] if keep else []

        def run(order, counters, steps):
            while True:
                memory = _memory(program, arguments)
                try:
                    return _run_waves(launch, arguments, memory, counters, check, steps, order, sketched)
                except Apart as apart:
                    put(arrays, before)
                    steps = order.begin_again(apart)
                    if counters is not None:
                        counters.begin_again()

        state, pairs = run(order, counters, steps), {}
        if check:
            state.races.handovers.yielding.settle(pairs)
        if again and not state.log.raced:
            after = [a.copy() for a in arrays]
            threads = min(WAVE_THREADS, int(np.prod((*launch.grid, *launch.block))))
            times, least, most = LATE if threads <= MANY_THREADS else LATE_OF_MANY
            left = min(most, max(least, times * order.ran))
            others, racing = {}, []
            try:
                for other in order.others(state.races, threads, others, racing):
                    put(arrays, before)
                    # all come first, which is no possible order: it only shows who has to come first for a race
                    looks, ended = other.lots is not None and other.lots.all_first, False
                    with suppress(
                        SimtError
                    ):  # too long, or threads need the late ones, though no atomic says so
                        races = run(other, None, left).races
                        others |= races.excused()
                        if not looks:
                            races.handovers.yielding.settle(pairs)
                        ended = True
                    if looks:
                        racing += other.log.races.pairs
                    else:
                        state.log.add_all(other.log, races_only=not ended)
                    left -= other.ran
                    if state.log.raced or left <= 0:
                        break
            finally:
                put(arrays, after)
        for pair in pairs.values():
            if pair.races:
                state.log.add(pair.hazard)
        return state


def _memory(program, arguments) -> GlobalMemory:
    return GlobalMemory(dict(_arrays(zip(program.parameters, arguments, strict=False))))


def _run_waves(launch, arguments, memory, counters, check, steps, order, sketched) -> State:
    program = launch.kernel.program
    grid, block = launch.grid[::-1], launch.block[::-1]
    races = Races(int(np.prod(block)), sketched.in_parts, sketched.added) if check else None
    for region in memory.regions.values():
        region.written = any(r is region and n in sketched.stored for n, r in memory.regions.items())
    for name, region in memory.regions.items():
        region.divide(sketched.narrowest.get(name, region.unit))
    log = order.log = HazardLog(races, fatal_only=not check)
    may_begin_again = order.may_begin_again(sketched.waits)
    prints = launch.kernel.prints and order.parity is None and order.late is None and order.lots is None
    printer = Printer(later=may_begin_again) if prints else None
    state = State(
        program.name, counters, races, log, launch.dynamic_shared, sketched.types, steps, printer,
        sketched.narrowest, may_begin_again, lots=order.lots,
    )  # fmt: skip
    state.programs[id(launch.kernel)] = program
    if check and counters is None:
        state.counters = Uncounted()  # the ledger must note which values are used
    state.regions = tuple({id(region): region for region in memory.regions.values()}.values())
    try:
        for wave in waves(grid, block, 1 if order.by_block else WAVE_THREADS):
            run = order.run(wave, partial(_run, state, program, arguments, memory, wave))
            if races is not None:
                for found in (*races.doubts.lost(), *races.doubts.unproven.races()):
                    log.fetched(run, *found)
            if counters is not None:
                counters.end_of_wave(wave.blocks)
    except Apart as apart:
        apart.steps = state.steps
        if printer is not None:
            printer.forget()
        raise
    finally:
        order.ran += state.ran
        if printer is not None:
            printer.close()
    if counters is not None:
        counters.finish()
    log.notes.lost(program, dict(zip(program.parameters, arguments, strict=False)))
    log.notes.finish(log.found)
    return state


def _run(state, program, arguments, memory, wave, half, lanes) -> Run:
    """Run the kernel for some lanes of a wave of blocks, which may be a part of the wave."""
    run = Run(wave, state, half)
    if half is not None:
        half.joins(run)
    if lanes is not wave.everyone:
        run.exited = wave.everyone.minus(lanes)
    frame = Frame(program, lanes, is_kernel=True)
    run.scopes.append(frame.scope)
    for name, argument in zip(program.parameters, arguments, strict=False):
        frame.variables[name] = Variable(bind_argument(run, name, argument, memory), None)
    for name in program.parameters[len(arguments) :]:
        frame.variables[name] = Variable(default_of(run, program, name, lanes), None)
    execute(run, frame, program.tree.body, lanes)
    run.ledger.finish()
    return run


def _sketch(launch, program, arguments, memory) -> Sketched:
    """Return what a sketch of the kernel found; it runs once for each combination of argument types."""
    kinds = tuple(_kind(a) for a in arguments)
    known = launch.kernel.sketches
    if kinds not in known:
        one = (1, 1, 1)
        state = State(program.name, None, None, HazardLog(None, fatal_only=True), launch.dynamic_shared)
        state.programs[id(launch.kernel)] = program
        wave = next(waves(one, one, 1))
        run = _run(state, program, arguments, memory, wave, None, wave.everyone)
        programs = state.programs.values()
        known[kinds] = Sketched.of(run, data_decide(programs), may_wait(p.tree for p in programs))
        if not launch.kernel.prints and run.vain:
            for one in state.programs.values():
                without(one.tree, run.vain)
    return known[kinds]


def _kind(argument):
    if is_array(argument):
        writeable = getattr(argument, "host", argument).flags.writeable
        return np.dtype(argument.dtype), len(argument.shape), writeable
    if isinstance(argument, tuple):
        return getattr(argument, "_fields", ()), *map(_kind, argument)
    return type_of_number(argument)


def _arrays(named):
    """Yield the arrays among the arguments, including those in tuples, each with the name of the kernel's variable."""
    for name, argument in named:
        if is_array(argument):
            yield name, argument
        elif isinstance(argument, tuple):
            yield from _arrays(parts_of(name, argument))


def bind_argument(run: Run, name: str, argument, memory: GlobalMemory):
    """Return the interpreter's value for an argument: what the kernel's parameter holds."""
    if is_array(argument):
        return _array(run, name, argument, memory)
    if isinstance(argument, tuple):
        bound = tuple(bind_argument(run, *part, memory) for part in parts_of(name, argument))
        return named(bound, argument._fields) if hasattr(argument, "_fields") else bound
    kind = type_of_number(argument)
    return run.given(np.array(argument).reshape((1,) * 6), kind, ("argument", name))


def _array(run, name, argument, memory) -> Array:
    flat, offset, byte0 = memory.memory[name]
    dtype = np.dtype(argument.dtype)
    key = run.numbering.of(
        ("array", flat.__array_interface__["data"][0], str(dtype), offset, argument.strides)
    )
    shape = tuple(
        run.given(np.array(n).reshape((1,) * 6), type_of(np.int64), ("shape", d), key)
        for d, n in enumerate(argument.shape)
    )
    strides = tuple(s // dtype.itemsize for s in argument.strides)
    return Array(
        name,
        "global",
        dtype,
        type_of(dtype),
        flat,
        flat.size,
        shape,
        strides,
        offset,
        byte0,
        memory.regions[name],
        key,
    )
