"""The hazards of a launch. Each is reported once, in a sentence for learners."""

from functools import partial

import numpy as np

from course_pkg.simt.errors import HazardError, SimtError
from course_pkg.simt.memory.conflict import conflict, index_of, split
from course_pkg.simt.memory.hazard import EITHER, OTHER_DATA, WRAPS, Hazard, all_must_pass, beyond
from course_pkg.simt.memory.notes import Notes
from course_pkg.simt.memory.order import SITES, thread_of
from course_pkg.simt.memory.places import place_of_thread
from course_pkg.simt.memory.races import Access
from course_pkg.simt.memory.shadow import Shadow
from course_pkg.simt.memory.unwritten import Reads, Unwritten

RACES = ("race", "missing_syncwarp")
FATAL = ("out_of_bounds", "divergent_barrier")
MOST = 200
MOST_ALIKE = 256


class HazardLog:
    """Collects hazards, or raises those that would corrupt memory or hang a GPU.

    Parameters
    ----------
    races : Races or None
        None outside ``profile``, where races are not looked for.
    fatal_only : bool
        Whether only fatal hazards are looked for; these raise a HazardError.
    """

    def __init__(self, races, fatal_only: bool):
        self.races, self.fatal_only = races, fatal_only
        self.found: list[Hazard] = []
        self.notes, self.reads = Notes(), Reads()
        self._told: set = set()

    def add(self, hazard: Hazard) -> None:
        """Keep a hazard, unless one of the same kind, line and array is kept already."""
        if self.fatal_only:
            if hazard.kind in FATAL:
                raise HazardError(hazard)
            return
        name = hazard.kind, hazard.function, hazard.line, hazard.array, hazard.other_line
        if name not in self._told and len(self.found) < MOST:
            self._told.add(name)
            self.found.append(hazard)

    def add_all(self, other: "HazardLog", *, races_only: bool) -> None:
        """Keep the hazards, or the races alone, of another launch of the same kernel."""
        for hazard in other.found:
            if hazard.kind in RACES or not races_only:
                self.add(hazard)

    @property
    def raced(self) -> bool:
        """Whether a race has been found."""
        return any(hazard.kind in RACES for hazard in self.found)

    def index(self, run, kind, array, indices, lanes, where) -> None:
        """Report an index that lies outside its array, or that is negative and wraps."""
        if self.fatal_only and kind not in FATAL:
            return
        block, thread = _first(lanes)
        index = index_of(run, indices, block, thread)
        who = place_of_thread(run.wave, block, thread)
        shape = index_of(
            run, array.shape, block, thread
        )  # the extent can differ from thread to thread, for example of a slice
        what = f"{array.name}[{', '.join(map(str, index))}]"
        if kind == "negative_index":
            event = f"{who} uses the negative index {what}"
            rest = f", {WRAPS}: is a boundary test missing?"
        else:
            event = beyond(who, what, shape)
            rest = f": {OTHER_DATA}."
        more = np.flatnonzero(lanes.full.reshape(-1))[1 : MOST_ALIKE + 1]
        alike = tuple(place_of_thread(run.wave, *divmod(int(at), run.wave.threads_per_block)) for at in more)
        told = kind, where.line, array.name, index, (who,), event, rest, where.function
        self.add(Hazard(*told, alike=alike, shape=shape))

    def divergent(self, run, where, mask, alive, torn) -> None:
        """Report a barrier that only some threads of a block reach."""
        staying = alive.minus(run.leaving) if run.leaving else alive
        here, living, needed = (run.wave.spread(lanes.full) for lanes in (mask, alive, staying))
        harmful = torn & (needed & ~here).any(axis=1)
        row = int(np.flatnonzero(harmful if harmful.any() else torn)[0])
        absent = (needed if harmful.any() else living)[row] & ~here[row]
        came, missed = int(here[row].argmax()), int(absent.argmax())
        if not harmful.any():
            self.notes.skipped(run, where, came, missed, row, "barrier")
            return
        who, absent = (place_of_thread(run.wave, row, t) for t in (came, missed))
        event = f"{who} waits at this barrier and {absent} never comes to it"
        rest = f": {all_must_pass(EITHER)}."
        told = where.line, None, None, (who, absent), event, rest, where.function
        self.add(Hazard("divergent_barrier", *told))

    def torn_warp(self, run, where, rows, torn, name) -> None:
        """Report a warp-level function that only some of the named lanes reach, or reach with different masks.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of the warps in the wave.
        torn : ndarray of bool, shape (rows, 32, 32)
            For each lane, the lanes that it waits for in vain. A lane that is missing in its own mask waits for itself.
        """
        row, came, missed = (int(found[0]) for found in np.nonzero(torn))
        block, warp = divmod(int(rows[row]), run.wave.warps_per_block)
        who, absent = (place_of_thread(run.wave, block, lane + 32 * warp) for lane in (came, missed))
        if came == missed:
            event = f"{who} calls {name} with a mask that does not contain its own lane"
            rest = ": set the bit of that lane, too."
        else:
            event = f"{who} waits at this {name} and {absent}, of the same warp, never comes to it with the same mask"
            rest = f": move the {name} out of the branch, or let the mask name only the lanes that come."
        told = where.line, None, None, (who, absent), event, rest, where.function
        self.add(Hazard("divergent_barrier", *told, operation=name))

    def absent_lane(self, where, run, asleep, source, name) -> Hazard:
        """Return the hazard to report if a lane uses a value that it takes from a lane that does not take part.

        Parameters
        ----------
        asleep : ndarray of bool, shape (warps, 32)
            The lanes that take such a value.
        source : ndarray of int, shape (warps, 32)
            The lane from which each lane takes its value.
        """
        row, came = (int(found[0]) for found in np.nonzero(asleep))
        block, warp = divmod(row, run.wave.warps_per_block)
        other = int(np.broadcast_to(source, asleep.shape)[row, came])
        who = place_of_thread(run.wave, block, came + 32 * warp)
        event = (
            f"{who} takes a value by {name} from lane {other} of its warp, which does not take part with the same "
            "mask, and uses it"
        )
        told = where.line, None, None, (who,), event, ": on a GPU it may be any number.", where.function
        return Hazard("absent_lane", *told, operation=name)

    def access(
        self,
        run,
        place,
        kind,
        verb,
        lanes,
        operation="",
        looks=False,
        replaces=None,
        stored=None,
        later=False,
    ) -> Unwritten | None:
        """Check an access against what other threads did to the same element.

        Parameters
        ----------
        replaces : ndarray, optional
            The numbers that an atomic stores, if the kernel does not use the old numbers that the atomic returns.
        stored : Value, optional
            What is stored.
        later : bool
            Whether the caller reports reads of unwritten memory, as soon as their values are used.

        Returns
        -------
        Unwritten or None
            The lanes that have read an element that no thread has written; the caller reports them.
        """
        array, region = place.array, place.array.region
        if kind != "load" and not region.written:
            raise SimtError.at(
                place.where.function,
                place.where.line,
                f"the interpreter did not expect that the kernel "
                f"writes to {array.name}, so it cannot find races there: write to the array under its own name.",
            )
        private = region.owner == "thread" or not region.written
        if (private and region.initialised is None) or not region.size:
            return None  # an array has no elements if the launch provides no dynamic shared memory for it
        wave = self._who_stands_for_all(run, place, kind, lanes)
        at = place.at if wave is run.wave else place.at[:1, :1, :1]
        lanes = lanes.of_box(wave)
        chosen = slice(None) if lanes.data is None else lanes.full.reshape(wave.blocks, -1)
        units, threads, stamps = (
            one[chosen].reshape(-1)
            for one in (wave.spread(at), wave.thread_numbers, run.clock.stamps()[: wave.blocks])
        )
        scale = array.dtype.itemsize // region.unit
        unwritten = None
        if region.initialised is not None:
            replaced = kind == "store" or replaces is not None
            unwritten = self._initialised(run, place, kind, replaced, units, scale, threads)
            if unwritten is not None and not later:
                unwritten.used_by(run.wave.everyone)
        if private:
            return unwritten
        if region.shadow is None:
            total = region.size * (wave.blocks if region.owner == "block" else 1)
            region.shadow = Shadow(total, self.races.in_parts)
        site = self.races.site(Access(*place.where, verb, operation, looks, array.floating))
        check = {"load": self.races.read, "store": self.races.write, "atomic": self.races.update}[kind]
        if replaces is not None:
            check = partial(self.races.replace, wave.spread(replaces)[wave.spread(lanes.full)])
        if kind == "store" and stored is not None:
            check = partial(check, number=self.races.number_of(stored))
        for piece in range(scale):
            at = array.units(units) + piece
            clash, other = check(region, at, threads, stamps, site)
            if clash.any():
                lane = self._clearest(clash, other, threads)
                self._race(run, place, verb, int(threads[lane]), int(other[lane]))
                break
            self._put_off(run, place, verb)
            if kind == "store" and self.races.harmless is not None:
                lane, entry = self.races.harmless
                self._rewritten(run, place, stored, int(threads[lane]), entry)
        return unwritten

    def _put_off(self, run, place, verb) -> None:
        """Note exchanges that are a race unless their threads give way to each other."""
        for element, thread, entry in self.races.put_off:
            threads = thread, int(thread_of(entry))
            told = conflict(run, place, verb, self.races.access_of(entry), threads)
            self.races.handovers.yielding.note(element, frozenset(threads), told)
        self.races.put_off = []

    def _rewritten(self, run, place, stored, thread: int, entry: int) -> None:
        index = index_of(run, place.indices, *split(run, thread))
        self.notes.rewritten(run, place, stored.number, index, thread, int(thread_of(entry)))

    def _who_stands_for_all(self, run, place, kind, lanes):
        """Return the blocks to check: only the first while all blocks access their own memory alike, otherwise all."""
        region, wave = place.array.region, run.wave
        if not region.alike:
            return wave
        if kind != "atomic" and not self.races.in_parts and run.clock.alike:
            first = wave.box(place.offset, lanes.data)
            if first.blocks == 1:
                return first
        region.alike = False
        if region.initialised is not None:
            of_block = region.initialised.reshape(wave.blocks, -1)
            of_block[:] = of_block[0].copy()
        if region.shadow is not None:
            region.shadow.spread(wave.block_numbers - wave.block_numbers[0], wave.threads_per_block)
        return wave

    def _clearest(self, clash, other, threads) -> int:
        """Return the lane to report: one that clashes with a thread of another warp, if there is any."""
        lanes = np.flatnonzero(clash)
        same_warp = self.races.order.same_warp(other[lanes], threads[lanes] * SITES)
        return int(lanes[int(same_warp.argmin())])

    def _initialised(self, run, place, kind, replaces, units, scale, threads) -> Unwritten | None:
        """Note writes to memory that began unwritten, and find reads of its elements that were not written."""
        region = place.array.region
        at = place.array.units(units)[:, None] + np.arange(scale)
        if replaces:
            region.initialised[at] = True
            return None
        empty = ~region.initialised[at].all(axis=1)
        if not empty.any():
            return None
        if kind != "load":
            self._unwritten(run, place, int(threads[int(empty.argmax())]))
            return None
        who = threads[empty]
        rows = np.searchsorted(run.wave.block_numbers, who // run.wave.threads_per_block)
        lanes = np.zeros((run.wave.blocks, run.wave.threads_per_block), bool)
        lanes[slice(None) if region.alike else rows, who % run.wave.threads_per_block] = True
        self.notes.unread(hazard := self._unwritten_hazard(run, place, int(who[0])))

        def report(lane):
            block, thread = divmod(lane, run.wave.threads_per_block)
            number = int(run.wave.block_numbers[block]) * run.wave.threads_per_block + thread
            self._unwritten(run, place, number)

        name = hazard.function, hazard.line, hazard.array
        return self.reads.add(name, lanes.reshape(run.wave.shape), report)

    def _unwritten(self, run, place, thread: int) -> None:
        self.add(self._unwritten_hazard(run, place, thread))

    def _unwritten_hazard(self, run, place, number: int) -> Hazard:
        block, thread = split(run, number)
        index = index_of(run, place.indices, block, thread)
        who = place_of_thread(run.wave, block, thread)
        name, where = place.array.name, place.where
        event = f"{who} reads {name}[{', '.join(map(str, index))}], which nobody has written"
        rest = f": {place.array.space} memory begins with whatever was there before."
        return Hazard("uninitialised", where.line, name, index, (who,), event, rest, where.function)

    def _race(self, run, place, verb, thread: int, entry: int) -> None:
        other = self.races.access_of(entry)
        if other.place[:2] != (place.where.function, place.where.line):
            self.races.pairs += thread, int(thread_of(entry))
        self.add(conflict(run, place, verb, other, (thread, thread_of(entry))))

    def fetched(self, run, place, thread: int, entry: int) -> None:
        """Report an atomic that read a number while another thread's atomic was storing it.

        Not where threads come in another order: what an atomic is for is judged by all lanes that run it in lock step.
        """
        if run.launch.lots is None:
            self._race(run, place, "updates", thread, entry)


def _first(lanes) -> tuple[int, int]:
    at = int(lanes.full.reshape(-1).argmax())
    return divmod(at, lanes.wave.threads_per_block)
