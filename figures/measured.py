"""The README's figures and its tables, from the catalogue and from figures/data: the recorded GPUs side by side."""

import io
from contextlib import redirect_stdout

from course_pkg import bench, cli, viz
from course_pkg.cg.demands import RTOL
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import METHODS
from course_pkg.cg.variants import VARIANTS as CG
from course_pkg.core import Library, catalogue, find_machine, short_name
from course_pkg.stencil.variants import VARIANTS as STENCIL
from course_pkg.vector.bound import COPY
from course_pkg.vector.peak import recorded_t_peak
from course_pkg.vector.variants import VARIANTS as VECTOR

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
STREAM = (VECTOR["copy"].by(CUPY), *(VECTOR[name].by(CUDA) for name in ("copy", "copy_two", "triad")))
LAPLACIAN = (
    *(STENCIL[f"laplacian_{name}"].by(CUDA) for name in ("naive", "flat", "tiled", "marching", "vectorised")),
    STENCIL["laplacian_vectorised"].by(CUPY),
)
HEAT = (
    *(STENCIL["diffusion_step_2d_four_statements"].by(library) for library in (CUPY, CUDA)),
    STENCIL["diffusion_step_2d"].by(CUDA),
)
SOLVER = CG["cg_two_kernel"]
GRID = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None, "max_registers": None}


def pictures() -> dict[str, viz.Picture]:
    """Return the memory wall, and the rooflines of the recorded GPUs with their best kernels."""
    roofs = []
    for vector, stencil in _on_each_gpu("vector", "stencil"):
        laplacian = stencil.one(STENCIL["laplacian_vectorised"].by(CUDA), **GRID)
        triad = vector.one(VECTOR["triad"].by(CUDA), n=2**30)
        points = [
            (name, m.cost.intensity, m.gflop_s)
            for name, m in (("triad", triad), ("7-point stencil", laplacian))
        ]
        roofs.append((find_machine(vector.device.name).measured(recorded_t_peak(vector)), points))
    return {"memory_wall": viz.memory_wall(catalogue().values()), "rooflines": viz.rooflines(roofs)}


def tables() -> dict[str, str]:
    """Return the README's tables of measurements, as Markdown, by the name of their place."""
    return {
        "measured": _streams_and_stencils(),
        "measured-cg": _conjugate_gradient(),
        "engineers": _printed("stencil", "--device", "h100", "--case", "laplacian_marching", "--size", "512"),
    }


def _printed(*words: str) -> str:
    """Return what ``course bench`` prints, as a block of Markdown."""
    out = io.StringIO()
    with redirect_stdout(out):
        cli.main(["bench", *words])
    return f"```\n{out.getvalue()}```"


def _on_each_gpu(*topics: str) -> list[tuple[bench.Recorded, ...]]:
    """Return the records of these topics, for each GPU that has all of them."""
    by_device = [{one.device.slug: one for one in bench.records(topic)} for topic in topics]
    return [
        tuple(found[slug] for found in by_device)
        for slug in by_device[0]
        if all(slug in f for f in by_device)
    ]


def _gpu(recorded) -> str:
    """Return a device's short name: H200."""
    return short_name(recorded.device.name)


def _conjugate_gradient() -> str:
    """Return the time of an iteration of each variant, and its ratio to the time of a copy that moves as many bytes."""
    records = bench.records("cg")
    copies = [cg.one(COPY, shape=[max(PUBLISHED)] * 3) for cg in records]
    columns = [f"{_gpu(cg)}, {edge}³: time | time / bound" for cg in records for edge in PUBLISHED]
    lines = [
        f"| conjugate gradient, fp64 | bytes per point | {' | '.join(columns)} |",
        "|---|---:|" + "---:|---:|" * len(columns),
    ]
    for variant in METHODS:
        cells = [variant.title, f"{8 * sum(variant.plan.passes):g}"]
        for cg, copy in zip(records, copies, strict=True):
            for edge in PUBLISHED:
                pair = cg.one(variant.by(CUDA), shape=[edge] * 3, iterations=2)
                cells += [bench.format_time(pair.median_s / 2), f"{pair.over_bound(copy):.2f}×"]
        lines.append("| " + " | ".join(cells) + " |")
    speeds = " and ".join(
        f"{copy.throughput_gb_s:,.0f} GB/s ({_gpu(cg)})" for cg, copy in zip(records, copies, strict=True)
    )
    bound = (
        "Times are of one iteration. The bound is the time in which a copy, at "
        f"{speeds}, moves as many bytes; a kernel that reads more than it writes can be faster."
    )
    solves = "; ".join(_solves(cg) for cg in records)
    origins = bench.origins(cg.origin for cg in records)
    return "\n".join([*lines, "", f"{bound} Full solves, {SOLVER.title}: {solves}. {origins}"])


def _solves(cg) -> str:
    """Return iterations and times of whole solves, in half a sentence."""
    solves = (cg.one(SOLVER.by(CUDA), shape=[edge] * 3, rtol=RTOL) for edge in PUBLISHED)
    told = " and ".join(
        f"{edge}³ takes {m.observed['iterations']} iterations and {bench.format_time(m.median_s)}"
        for edge, m in zip(PUBLISHED, solves, strict=True)
    )
    return f"on an {_gpu(cg)} to rtol {RTOL:.0e}, {told}"


def _streams_and_stencils() -> str:
    records = _on_each_gpu("vector", "stencil")
    t_peaks = [recorded_t_peak(vector) for vector, _ in records]
    measured = zip(*(_measurements(vector, stencil) for vector, stencil in records), strict=True)
    names = [_gpu(vector) for vector, _ in records]
    columns = [f"{name}: time | {name}: T_eff, GB/s | {name}: remaining gain" for name in names]
    lines = [
        f"| fp64 | bytes moved / A_eff | {' | '.join(columns)} |",
        "|---|---:|" + "---:|---:|---:|" * len(records),
    ]
    for row in measured:
        cells = [row[0].label, f"{row[0].cost.redundancy:.2f}"]
        for m, t_peak in zip(row, t_peaks, strict=True):
            gain = t_peak / m.t_eff_gb_s
            cells += [bench.format_time(m.median_s), f"{m.t_eff_gb_s:,.0f}", f"{gain:.2f}×"]
        lines.append("| " + " | ".join(cells) + " |")
    peaks = " and ".join(f"{t:,.0f} GB/s on an {name}" for name, t in zip(names, t_peaks, strict=True))
    sizes = "The streams have 2^30 numbers, the stencils 512³ points, the diffusion steps 16384² points."
    origins = bench.origins(one.origin for pair in records for one in pair)
    return "\n".join([*lines, "", f"T_peak is the best of the copies and triads: {peaks}. {sizes} {origins}"])


def _measurements(vector, stencil) -> list[bench.Measurement]:
    return [
        *vector.compare(*STREAM, n=2**30).measurements,
        *stencil.compare(*LAPLACIAN, **GRID).measurements,
        *stencil.compare(*HEAT, threads_per_block=None).measurements,
    ]
