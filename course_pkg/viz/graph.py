"""A program drawn as a graph: operations as nodes, the fields between them as edges, kernels as frames around them.

A field that one kernel passes to another goes through memory: its edge is thick and blue. A field that is used
within the same kernel stays in registers: its edge is thin. Edges above the nodes carry fields that are used in the
same iteration; edges below them carry scalars, and fields that the next iteration reads.
"""

from dataclasses import dataclass

from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, Polygon

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.nodes import COLOURS, MEMORY_LINE, REGISTER_LINE, SCALAR_LINE, legend, line, shape
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import INK, MEMORY, MUTED

WIDTH, SIDE = strip.WIDTH, 13.0  # points
NODE_HEIGHT, LEVEL, FRAME = 50.0, 18.0, 8.0
MOST_NODES = 8


@dataclass(frozen=True)
class Bus:
    """The edges that carry one field or scalar from a node to all its readers, by their places in the row."""

    name: str
    source: int
    targets: tuple[int, ...]
    fan: tuple[int, ...]  # targets that also read it at neighbouring points
    scalar: bool
    below: bool

    @property
    def span(self) -> tuple[int, int]:
        return min(self.source, *self.targets), max(self.source, *self.targets)


def graph_picture(containers, edges, *, groups=(), again=(), badges=None, title="") -> Picture:
    """Draw a program, and the kernels that it is cut into.

    Parameters
    ----------
    containers : sequence
        At most 8, in their order; each has a ``name``, a ``kind`` (``"map"``, ``"stencil"`` or ``"reduction"``) and a
        ``formula``.
    edges : sequence
        Each has ``source``, ``target``, ``name``, ``kind`` (only ``"flow"`` is drawn), ``carried``, ``scalar`` and
        ``neighbours``.
    groups : sequence of sequences of str
        Names of the containers that share a kernel; without groups no frame is drawn.
    again : sequence of str
        Names of containers that repeat a computation of another container; they are hatched.
    badges : dict of str to str
        A short word at the corner of a container.

    Raises
    ------
    CourseError
        If there is nothing or too much to draw, or if a container is in no group or in two groups.

    Examples
    --------
    >>> from course_pkg.cg.program import CG
    >>> graph_picture(CG.containers, CG.edges).alt
    'updateP, a map: p ← r + β p; matVec, a stencil: s ← A p; ...'
    """
    graph = Graph(containers, edges, groups, again, badges or {})
    height = graph.height + (34 if title else 10) + 28

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        if title:
            ax.text(7, height - 8, title, size=15.5, weight="bold", va="top")
        graph.draw(ax, 30)
        legend(ax, 15, framed=bool(graph.groups), again=bool(graph.again))

    return draw(plot, f"{title + '. ' if title else ''}{graph.described()}", size=(WIDTH / 72, height / 72))


class Graph:
    """Where everything of a graph lies; the unit is the point."""

    def __init__(self, containers, edges, groups, again, badges):
        self.containers, self.groups = list(containers), [tuple(g) for g in groups]
        self.again, self.badges = set(again), badges
        names = [c.name for c in self.containers]
        if not 1 <= len(names) <= MOST_NODES:
            raise CourseError(f"A row has room for 1 to {MOST_NODES} containers, not for {len(names)}.")
        if unknown := sorted({c.kind for c in self.containers} - set(COLOURS)):
            raise CourseError(f"A container is one of {', '.join(COLOURS)}, not a {', '.join(unknown)}.")
        if self.groups and [n for g in self.groups for n in g] != names:
            raise CourseError(f"groups must name {', '.join(names)} once each, in this order.")
        self.place = {name: i for i, name in enumerate(names)}
        self.kernel = {name: k for k, group in enumerate(self.groups) for name in group}
        self.buses = self._buses([e for e in edges if e.kind == "flow"])
        self.levels = {**self._levels(False), **self._levels(True)}
        gap = 30 if len(names) < 6 else 24
        self.width = min(104, (WIDTH - 2 * SIDE - gap * (len(names) - 1)) / len(names))
        self.pitch = self.width + gap
        self.left = (WIDTH - self.pitch * len(names) + gap) / 2

    def _buses(self, edges):
        found = {}
        for e in edges:
            if e.source != e.target:  # no edge from a container to itself: its formula shows it
                found.setdefault((e.name, e.source, e.scalar, e.scalar or e.carried), []).append(e)
        return [
            Bus(
                name,
                self.place[source],
                tuple(self.place[e.target] for e in those),
                tuple(self.place[e.target] for e in those if e.neighbours),
                scalar,
                below,
            )
            for (name, source, scalar, below), those in found.items()
        ]

    def _levels(self, below):
        """Give each bus of one side the lowest level at which it overlaps no other bus; the shortest choose first."""
        taken, found = [], {}
        for bus in sorted((b for b in self.buses if b.below == below), key=lambda b: b.span[1] - b.span[0]):
            first, last = bus.span
            level = next(n for n in range(99) if all(n != m or last < a or first > b for m, a, b in taken))
            taken.append((level, first, last))
            found[bus] = level
        return found

    def _rows(self, below):
        return 1 + max((level for bus, level in self.levels.items() if bus.below == below), default=-1)

    @property
    def height(self) -> float:
        """Height of the whole graph, without its title and legend."""
        return NODE_HEIGHT + 2 * FRAME + 8 + LEVEL * (self._rows(False) + self._rows(True)) + 6

    def through_memory(self, bus, target) -> bool:
        """Return whether a field goes through memory: it does unless its writer and its reader share a kernel."""
        names = [c.name for c in self.containers]
        source, target = names[bus.source], names[target]
        carried = self.place[target] <= self.place[source]
        return carried or not self.groups or self.kernel[source] != self.kernel[target]

    def draw(self, ax, bottom) -> None:
        """Draw all of it above y = ``bottom``."""
        low = bottom + 4 + LEVEL * self._rows(True) + FRAME + 4
        for number, group in enumerate(self.groups, 1):
            self._frame(ax, number, group, low)
        for bus in self.buses:
            self._bus(ax, bus, low)
        for i, container in enumerate(self.containers):
            self._node(ax, container, self.left + i * self.pitch, low)

    def _frame(self, ax, number, group, low):
        x = self.left + self.place[group[0]] * self.pitch - FRAME
        width = (len(group) - 1) * self.pitch + self.width + 2 * FRAME
        strip.cell(
            ax, x, low - FRAME, width, NODE_HEIGHT + 2 * FRAME, f"kernel-{number}", radius=9,
            facecolor=to_rgba(MUTED, 0.1), edgecolor=MUTED, linewidth=1.4, zorder=0.2,
        )  # fmt: skip
        top = low + NODE_HEIGHT + FRAME
        ax.add_artist(Circle((x + 5, top - 2), 8.5, facecolor=INK, edgecolor="white", linewidth=1, zorder=4))
        ax.text(x + 5, top - 2, str(number), size=11.5, weight="bold", color="white", ha="center",
                va="center_baseline", zorder=5)  # fmt: skip

    def _port(self, bus, place):
        """Return where a bus meets a node: incoming buses at the left half, outgoing ones at the right half."""
        side = [b for b in self.buses if b.below == bus.below]
        ins = sorted((b for b in side if place in b.targets), key=lambda b: -self.levels[b])
        outs = sorted((b for b in side if b.source == place), key=lambda b: self.levels[b])
        # an outgoing edge that runs to the left leaves at the left, so that it crosses no incoming one
        ports = outs + ins if bus.below and outs and min(outs[0].targets) < place else ins + outs
        share = (ports.index(bus) + 1) / (len(ports) + 1)
        return self.left + place * self.pitch + self.width * (0.14 + 0.72 * share)

    def _bus(self, ax, bus, low):
        up = -1 if bus.below else 1
        node = low if bus.below else low + NODE_HEIGHT
        y = node + up * (FRAME + 7 + LEVEL * self.levels[bus] + (8 if bus.below else 0))
        start = self._port(bus, bus.source)
        for target in bus.targets:
            memory = self.through_memory(bus, target)
            style = SCALAR_LINE if bus.scalar else MEMORY_LINE if memory else REGISTER_LINE
            end, z = self._port(bus, target), 2 if memory else 1.5
            points = [(start, node), (start, y), (end, y), (end, node + 5 * up)]
            gid = f"edge-{bus.name}-{bus.source}-{target}"
            line(ax, points, gid, zorder=z, **style)
            for slant in (-10, 0, 10) if target in bus.fan else (0,):
                tip = (end + slant, node + up)
                if slant:
                    fan = [(end, node + 14 * up), (end + slant, node + 8 * up), (end + slant, node + 4 * up)]
                    line(ax, fan, f"{gid}-fan{slant}", zorder=z, **style)
                self._head(ax, tip, up, style["edgecolor"], z)
        first = min(start, *(self._port(bus, t) for t in bus.targets))
        last = max(start, *(self._port(bus, t) for t in bus.targets))
        ink = (
            INK if bus.scalar else MEMORY if any(self.through_memory(bus, t) for t in bus.targets) else MUTED
        )
        x, side = (start + 4, "left") if start == first else (start - 4, "right")
        if last - first < 8:
            x, side = last + 5, "left"
        ax.text(
            x,
            y + (4 if bus.below else 5.5),
            bus.name,
            size=11.5,
            weight="bold",
            color=ink,
            ha=side,
            va="baseline",
            zorder=3,
        )

    def _head(self, ax, tip, up, colour, z):
        x, y = tip
        head = Polygon(
            [(x, y), (x - 3.4, y + 7 * up), (x + 3.4, y + 7 * up)], facecolor=colour, edgecolor="none"
        )
        head.set_zorder(z + 0.1)
        ax.add_artist(head)

    def _node(self, ax, container, x, low):
        middle = x + self.width / 2
        shape(ax, container.kind, x, low, self.width, NODE_HEIGHT, f"node-{container.name}",
              hatched=container.name in self.again)  # fmt: skip
        lines = [container.name, *container.formula.split(", ")] if container.formula else [container.name]
        if len(lines) > 3 or "⟨" in container.formula:  # the comma of a dot product separates no formulas
            lines = [container.name, container.formula]
        for i, text in enumerate(lines):
            size, weight = (12.5, "bold") if i == 0 else (11.5, "normal")
            # the page's font is narrower
            room = 1.12 * (self.width - (10 if container.kind == "map" else 16))
            size *= min(1, room / strip.breadth(text, size, weight=weight))
            y = low + NODE_HEIGHT / 2 + (len(lines) - 1) * 7 - 14 * i
            ax.text(middle, y, text, size=size, weight=weight, ha="center", va="center_baseline", zorder=4,
                    parse_math=False)  # fmt: skip
        if badge := self.badges.get(container.name):
            self._badge(ax, badge, x + self.width, low)

    def _badge(self, ax, text, right, low):
        width = strip.breadth(text, 11, weight="bold") + 9
        strip.cell(ax, right - width + 6, low - 8, width, 16, f"badge-{text}", radius=7, facecolor="white",
                   edgecolor=INK, linewidth=1.2, zorder=5)  # fmt: skip
        ax.text(right - width / 2 + 6, low, text, size=11.5, weight="bold", ha="center", va="center_baseline",
                zorder=6)  # fmt: skip

    def described(self) -> str:
        """Return what the graph shows, for its alternative text."""
        names = [c.name for c in self.containers]
        parts = [f"{c.name}, a {c.kind}: {c.formula}" for c in self.containers]
        said = f"{'; '.join(parts)}."
        for number, group in enumerate(self.groups, 1):
            said += f" Kernel {number}: {', '.join(group)}."
        flows = []
        for b in self.buses:
            to = [f"{names[t]}{' (next iteration)' if t <= b.source else ''}" for t in b.targets]
            flows.append(f"{b.name} from {names[b.source]} to {', '.join(to)}")
        if flows:
            said += f" Edges: {'; '.join(flows)}; thick ones pass through memory, thin ones stay in registers, dotted "
            said += "ones are scalars."
        said += "".join(f" {name} is evaluated {badge}." for name, badge in self.badges.items())
        return said + "".join(
            f" {name} computes once more what is not stored." for name in names if name in self.again
        )
