"""The names that expressions in ``lectures/claims`` may use: rows of records, counts and arithmetic."""

import re
import runpy
import tomllib
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from course_pkg import bench, simt
from course_pkg.bench import pitfalls
from course_pkg.cg import fusion
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import METHODS
from course_pkg.core import Library, catalogue, machine, occupancy
from course_pkg.paths import repo_root
from course_pkg.spmv import jacobi_cost, swap
from course_pkg.stencil.tuning import planes_for
from course_pkg.stencil.variants import VARIANTS as STENCIL
from course_pkg.topics import topics, with_module
from course_pkg.vector import peak, suite_latency
from course_pkg.vector.bound import COPY
from course_pkg.vector.latency import latencies
from course_pkg.witness import record

KINDS = ("record", "asserts", "source", "derived", "definition")
PLACE = re.compile(
    r"\b(?i:pages?|pp?\.|sections?|chapters?|equations?|eq\.|tables?|figures?|algorithms?|columns?) ?[\d\"“`(A-Z]"
    r"|\bas a whole\b"  # a short work, or one whose place could not be confirmed
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b|\bversion \d")


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    Attributes
    ----------
    says : str
        A part of one sentence, as it stands there.
    cell : str
        The heading under which it stands.
    backing : dict
        What backs it, by its kind; a ``reason`` where the sentence claims nothing.
    """

    says: str
    cell: str
    backing: dict = field(hash=False)


def entries(path: Path) -> tuple[list[Entry], list[Entry]]:
    """Return the claims of a table, and what it says is none."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        [Entry(row.pop("says", ""), row.pop("cell", ""), row) for row in found.get(kind, [])]
        for kind in ("claim", "not_a_claim")
    )


class Records:
    """The recorded rows, by short names. It remembers whether anybody asked.

    Each method returns the first row that fits, and raises CourseError where there is none.
    """

    def __init__(self):
        self.asked = False

    def of(self, topic):
        """Return the function that returns rows of a topic: a method below if the topic's rows need one, else `row`."""
        return getattr(self, topic, partial(self.row, topic))

    def row(
        self, topic, name, *, library=Library.NUMBA_CUDA.value, device="nvidia-h200", edge=None, **parameters
    ):
        """Return the measurement of a variant, such as ``stencil("laplacian_flat", edge=512)``."""
        self.asked = True
        if edge is not None:
            parameters["shape"] = [edge] * 3
        what = COPY if (topic, name) == ("cg", "copy") else _variants()[name].by(Library(library))
        return _measured(topic, device).one(what, **parameters)

    def stencil(self, name, **parameters):
        """Return a measurement of the topic stencil: 512³ doubles, its launcher's blocks, unless said otherwise."""
        usual = {"dtype": "float64", "threads_per_block": None, "max_registers": None}
        if "shape" not in parameters:
            parameters.setdefault("edge", 512)
        return self.row("stencil", name, **{**usual, **parameters})

    def cg(self, name, edge, **parameters):
        """Return a measurement of the topic cg."""
        return self.row("cg", name, edge=edge, **parameters)

    def spmv(self, name, matrix, **parameters):
        """Return a measurement of the topic spmv: in double precision and in the matrix's own order, unless said."""
        usual = {"values": None, "order": None}
        return self.row("spmv", name, matrix=matrix, **{**usual, **parameters})

    def permutation(self, name, order, **parameters):
        """Return a measurement of the topic permutation."""
        return self.row("permutation", name, order=order, **parameters)

    def qp(self, name, **parameters):
        """Return a measurement of the topic qp; an update in double precision, without zeros, unless said otherwise."""
        usual = {"dtype": "float64", "inactive": None, "rows": None, "unroll": None}
        return self.row("qp", name, **{**usual, **parameters})

    def pitfall(self, name, device="nvidia-h200"):
        """Return a pair of a wrong measurement and the right one, as ``course bench honest`` recorded it."""
        self.asked = True
        return next(
            pair
            for pair in pitfalls.pairs(_measured("honest", device).measurements)
            if pair.pitfall.name == name
        )

    def answers(self, device="nvidia-h200"):
        """Return the ns of a load by the bytes of its ring, as ``course bench latency`` recorded them."""
        self.asked = True
        return {one.footprint_bytes: one.ns for one in latencies(_measured("latency", device).measurements)}

    def traffic(self, case, device="nvidia-h200"):
        """Return the counters of a case of the record of traffic."""
        return self._counted(record.TRAFFIC, case, device)

    def counted(self, case, device="nvidia-h200"):
        """Return the counters of a case of the record of counters."""
        return self._counted(record.COUNTERS, case, device)

    def _counted(self, kind, case, device):
        self.asked = True
        return _counters(kind, device).counters[case]


_measured, _counters = cache(bench.recorded), cache(record.recorded)


@cache
def drawn(name: str) -> dict:
    """Return what a script of ``figures/`` defines: the numbers that its pictures show."""
    return runpy.run_path(str(repo_root() / "figures" / f"{name}.py"))


@cache
def _variants():
    """Return the variants of all topics by the names of their functions."""
    listed = [
        v for topic in with_module("variants") for v in import_module(f"course_pkg.{topic}.variants").VARIANTS
    ]
    found = {v.function_name: v for v in listed}
    assert len(found) == len(listed), (
        "two topics have a function of one name: let row() look in its topic alone"
    )
    return found


@cache
def _costs():
    """Return the module ``cost`` of each topic that has one, as ``stencil_cost``."""
    there = set(topics()) & set(with_module("cost"))
    return {f"{topic}_cost": import_module(f"course_pkg.{topic}.cost") for topic in there}


def holds(expression: str, *, by_record: bool) -> str:
    """Return why an expression does not back a claim, or nothing.

    Parameters
    ----------
    expression : str
        Python; true where the claim is.
    by_record : bool
        Whether it must ask for a row of a record, or must not.
    """
    records = Records()
    names = {topic: records.of(topic) for topic in topics()}
    names |= {name: getattr(records, name) for name in ("pitfall", "answers", "traffic", "counted")}
    names |= _costs() | {
        "machine": machine, "catalogue": catalogue, "occupancy": occupancy, "jacobi_cost": jacobi_cost,
        "swap": swap, "fusion": fusion, "PUBLISHED": PUBLISHED, "METHODS": METHODS, "STENCIL": STENCIL,
        "drawn": drawn, "peak": peak, "bench": bench, "simt": simt, "planes_for": planes_for,
        "suite_latency": suite_latency,
        "READ": "dram__bytes_read.sum", "WRITE": "dram__bytes_write.sum", "TIME": "gpu__time_duration.sum",
        "INSTRUCTIONS": "smsp__inst_executed.sum", "BOTH": ("nvidia-h200", "nvidia-h100-80gb-hbm3"),
    }  # fmt: skip
    try:
        value = eval(expression, names)  # a table of the repository, as trusted as this file
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not value:
        return "it is not so"
    if records.asked != by_record:
        return "it asks for no record: call it derived" if by_record else "it asks for a record: call it so"
    return ""


def names_a_place(source: str) -> bool:
    """Return whether a citation says the year, and where in the work to look."""
    return bool(PLACE.search(source) and YEAR.search(source))
