"""Numbers that threads both swap and add to, such as a lock of readers and writers that is -1 while a writer has it.

A reader finds how many readers there are, and swaps this number for one more; it leaves by an addition. So each swap
names the number that it needs, and which atomics can come before another one depends on the numbers between them, and
not on their sum alone. The interpreter goes through what the element may hold in all orders of the atomics.

It does not tell threads apart in this. A *balance* is what a thread has added so far, by swaps or by additions, since
it last exchanged the number. A state is the element's number, and how many threads have each balance but 0. From a
state, each atomic can come next whose thread would not have noticed another number than the one that it found, if a
thread has the balance that this thread had. So there are more orders here than there can be, and what holds in all of
them is certain.
"""

from dataclasses import dataclass, field, replace

from course_pkg.simt.memory.publications import Publication, Sight

ADDS = ("add", "inc", "dec")
SWAPS = ("cas", "compare_and_swap")
MOST_STATES = 4096
MOST_BALANCES = 4


@dataclass(frozen=True)
class Step:
    """An atomic that some thread did: its thread had this balance before it, and the balance ``then`` after it.

    Attributes
    ----------
    adds : bool
        Whether it adds ``number``; otherwise it puts ``number`` there.
    needs : int or None
        The number that the atomic has to find; None if the thread would notice no other one.
    """

    balance: int
    then: int
    adds: bool
    number: int
    needs: int | None

    def after(self, state: tuple) -> tuple | None:
        """Return the state after the atomic; None if it cannot come next."""
        now, counts = state
        if self.needs not in (None, now):
            return None
        counts = dict(counts)
        if self.balance:
            if not counts.get(self.balance):
                return None
            counts[self.balance] -= 1
        if self.then:
            counts[self.then] = counts.get(self.then, 0) + 1
        left = frozenset((balance, count) for balance, count in counts.items() if count)
        return (now + self.number if self.adds else self.number), left


@dataclass(eq=False)
class Balances:
    """The atomics of an element, and what it may hold in any order of them.

    Attributes
    ----------
    known : bool
        Whether all of them are additions, swaps that won, and exchanges whose result nobody uses.
    steps : list of Step
        For each publication, its step.
    of : dict of int to list of int
        For each thread, the numbers of its publications.
    """

    known: bool = True
    steps: list[Step] = field(default_factory=list)
    of: dict[int, list] = field(default_factory=dict)
    _balance: dict[int, int] = field(default_factory=dict)
    _reached: tuple = (None, None)

    def note(self, name: str, looks: bool, thread: int, one: Publication, after: int) -> None:
        """Note an atomic that has been published."""
        before = int(one.before)
        swap, balance = name in SWAPS, self._balance.get(thread, 0)
        adds = name == "add" or (name in ADDS and abs(after - before) == 1)
        self.known &= adds or (swap and looks) or (name == "exch" and not looks)
        then = 0 if name == "exch" else balance + after - before
        self.of.setdefault(thread, []).append(len(self.steps))
        self._balance[thread] = then
        self.steps.append(
            Step(balance, then, adds, after - before if adds else after, before if swap else None)
        )

    @property
    def mixed(self) -> bool:
        """Whether a swap needs another number than 0, or threads also add; and whether balances are few."""
        kinds = {
            (step.adds, None if step.adds else step.needs) for step in self.steps if step.needs or step.adds
        }
        return self.known and bool(kinds) and len(set(self._balance.values())) <= MOST_BALANCES

    def reached(self, published: list, start: set | None = None) -> set | None:
        """Return all states behind some states, or behind the first one; None if they are too many."""
        pairs = [*zip(self.steps, published, strict=True)]
        steps = frozenset(step if _sure(step, one) else _nothing(step) for step, one in pairs).union(
            self.steps
        )
        if start is None and self._reached[0] == steps:
            return self._reached[1]
        states = {(int(published[0].before), frozenset())} if start is None else set(start)
        new = list(states)
        while new and len(states) <= MOST_STATES:
            state = new.pop()
            for step in steps:
                then = step.after(state)
                if then is not None and then not in states:
                    states.add(then)
                    new.append(then)
        states = states if len(states) <= MOST_STATES else None
        if start is None:
            self._reached = steps, states
        return states

    def learnt(self, sight: Sight, thread: int, clocks: list[dict]) -> list[dict]:
        """Return clocks of what a thread learns by a swap that won, if it would have noticed any other number.

        Parameters
        ----------
        sight : Sight
        thread : int
            The thread whose swap it was.
        clocks : list of dict
            What the thread knows.
        """
        name, published = sight.element.name, sight.element.published
        missing = {}
        for other in (one for one in self.of if one != thread):
            seen = seen_of(name, other, clocks)
            missing[other] = [number for number in self.of[other] if seen <= number < sight.until]
        sure = self._before(sight, {other: numbers for other, numbers in missing.items() if numbers})
        last = {other: numbers[-1] for other, numbers in sure.items() if numbers}
        found = [clock for number in last.values() for clock in published[number].clocks]
        found.append({("updates", *name, other): number + 1 for other, number in last.items()})
        if all(numbers == missing[other] for other, numbers in sure.items()):
            found.append({("element", *name): sight.after})
        return found

    def _before(self, sight: Sight, missing: dict) -> dict[int, list]:
        """Return which publications of each thread came before a swap in every order, of those that may be missing."""
        published = sight.element.published
        mine = replace(
            self.steps[sight.until], then=0
        )  # its thread does nothing more before the others' atomics
        states = self.reached(published)
        sure: dict[int, list] = {thread: [] for thread in missing}
        behind: dict[int, set | None] = {}
        for thread, numbers in missing.items() if states is not None else ():
            for number in numbers:
                balance = self.steps[number].balance
                if balance not in behind:
                    with_it = (s for s in states if not balance or dict(s[1]).get(balance))
                    start = {then for then in map(mine.after, with_it) if then is not None}
                    behind[balance] = self.reached(published, start)
                if behind[balance] is None or _may_follow(
                    self.steps[number], published[number], behind[balance]
                ):
                    break
                sure[thread].append(number)
        return sure


def seen_of(name: tuple, thread: int, clocks: list[dict]) -> int:
    """Return a number below which clocks contain all publications of an element by a thread."""
    keys = ("element", *name), ("updates", *name, thread)
    return max((clock.get(key, 0) for clock in clocks for key in keys), default=0)


def _sure(step: Step, one: Publication) -> bool:
    """Tell whether a swap surely found the number that it needs: its thread would have noticed if it had not."""
    return step.needs is None or bool(one.noticed and all(one.noticed.values()))


def _nothing(step: Step) -> Step:
    """Return the step of a swap that might have failed as well."""
    return Step(step.balance, step.then, True, 0, None)


def _may_follow(step: Step, one: Publication, states: set) -> bool:
    return bool(states) and (not _sure(step, one) or any(step.after(state) for state in states))
