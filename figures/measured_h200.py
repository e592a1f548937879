"""The README's figures and its table, from the catalogue and from figures/data."""

from course_pkg import bench, viz
from course_pkg.cg.demands import COPY, RTOL
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import METHODS
from course_pkg.cg.variants import VARIANTS as CG
from course_pkg.core import Library, catalogue, machine
from course_pkg.stencil.variants import VARIANTS as STENCIL
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
GRID = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None, "max_registers": None}


def pictures() -> dict[str, viz.Picture]:
    vector, stencil = bench.recorded("vector"), bench.recorded("stencil")
    t_peak = recorded_t_peak(vector)
    laplacian = stencil.one(STENCIL["laplacian_vectorised"].by(CUDA), **GRID)
    triad = vector.one(VECTOR["triad"].by(CUDA), n=2**30)
    points = [
        (name, m.cost.intensity, m.gflop_s) for name, m in (("triad", triad), ("7-point stencil", laplacian))
    ]
    return {
        "memory_wall": viz.memory_wall(catalogue().values()),
        "h200_roofline": viz.roofline(machine("h200").measured(t_peak), points),
    }


def tables() -> dict[str, str]:
    """Return the README's tables of measurements, as Markdown, by the name of their place."""
    return {"measured-h200": _streams_and_stencils(), "measured-cg": _conjugate_gradient()}


def _conjugate_gradient() -> str:
    """Return the time of an iteration of each variant, and its ratio to the time of a copy that moves as many bytes."""
    cg = bench.recorded("cg")
    small, large = PUBLISHED
    copy = cg.one(COPY, shape=[large] * 3)
    lines = [
        "| conjugate gradient on an H200, fp64 | bytes per point "
        f"| {small}³ | time / bound | {large}³ | time / bound |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for variant in METHODS:
        cells = [variant.title, f"{8 * sum(variant.plan.passes):g}"]
        for edge in PUBLISHED:
            pair = cg.one(variant.by(CUDA), shape=[edge] * 3, iterations=2)
            cells += [bench.format_time(pair.median_s / 2), f"{pair.over_bound(copy):.2f}×"]
        lines.append("| " + " | ".join(cells) + " |")
    two_kernel = CG["cg_two_kernel"]
    solves = (cg.one(two_kernel.by(CUDA), shape=[edge] * 3, rtol=RTOL) for edge in PUBLISHED)
    told = "; ".join(
        f"{edge}³ to rtol {RTOL:.0e} takes {m.observed['iterations']} iterations and {bench.format_time(m.median_s)}"
        for edge, m in zip(PUBLISHED, solves, strict=True)
    )
    bound = (
        "Times are of one iteration. The bound is the time in which a copy, at "
        f"{copy.throughput_gb_s:,.0f} GB/s, moves as many bytes; a kernel that reads more than it "
        "writes can be faster."
    )
    return "\n".join([*lines, "", f"{bound} Full solves, {two_kernel.title}: {told}. {cg.origin}"])


def _streams_and_stencils() -> str:
    vector, stencil = bench.recorded("vector"), bench.recorded("stencil")
    t_peak = recorded_t_peak(vector)
    measured = [
        *vector.compare(*STREAM, n=2**30).measurements,
        *stencil.compare(*LAPLACIAN, **GRID).measurements,
        *stencil.compare(*HEAT, threads_per_block=None).measurements,
    ]
    lines = [
        "| on an H200, fp64 | time | moved, GB/s | T_eff, GB/s | remaining gain |",
        "|---|---:|---:|---:|---:|",
    ]
    for m in measured:
        gain = f"{t_peak / m.t_eff_gb_s:.2f}×"
        row = (
            m.label,
            bench.format_time(m.median_s),
            f"{m.throughput_gb_s:,.0f}",
            f"{m.t_eff_gb_s:,.0f}",
            gain,
        )
        lines.append("| " + " | ".join(row) + " |")
    sizes = "The streams have 2^30 numbers, the stencils 512³ points, the diffusion steps 16384² points."
    lines += [
        "",
        f"T_peak is the best of the copies and triads, {t_peak:,.0f} GB/s. {sizes} {vector.origin} {stencil.origin}",
    ]
    return "\n".join(lines)
