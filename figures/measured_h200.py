"""The README's figures and its table, from the catalogue and from figures/data."""

from course_pkg import bench, viz
from course_pkg.cg.cost import PASSES
from course_pkg.core import catalogue, machine
from course_pkg.vector.peak import recorded_t_peak

HEAT = (
    "diffusion 2D, CuPy arrays",
    "diffusion 2D four statements, Numba CUDA",
    "diffusion 2D fused, Numba CUDA",
)


STREAM = (
    "copy, CuPy",
    "copy, Numba CUDA",
    "copy, two doubles a thread",
    "triad, Numba CUDA",
)
LAPLACIAN = (
    "laplacian naive, Numba CUDA",
    "laplacian flat, Numba CUDA",
    "laplacian tiled, Numba CUDA",
    "laplacian marching, Numba CUDA",
    "laplacian vectorised, Numba CUDA",
    "laplacian vectorised, CuPy",
)
CG = {
    "baseline": "cg_baseline",
    "map-stencil fused": "cg_map_stencil_fused",
    "fused dots": "cg_fused_dots",
    "two-kernel": "cg_two_kernel",
    "deferred x": "cg_deferred_x",
}
CG_EDGES = (250, 1000)
GRID = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None, "max_registers": None}


def pictures() -> dict[str, viz.Picture]:
    vector, stencil = bench.recorded("vector"), bench.recorded("stencil")
    t_peak = recorded_t_peak(vector)
    laplacian = stencil.compare("laplacian vectorised, Numba CUDA", **GRID).measurements[0]
    triad = vector.select("triad, Numba CUDA", n=2**30)["triad, Numba CUDA"][0]
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
    """Return an iteration of each variant, beside the time that its bytes take a copy."""
    cg = bench.recorded("cg")
    small, large = CG_EDGES
    copy_gb_s = cg.one("copy, CuPy", shape=[large] * 3).t_eff_gb_s
    lines = [
        f"| conjugate gradient on an H200, fp64 | bytes a point | {small}³ | of its bound | {large}³ | of its bound |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, variant in CG.items():
        cells, bytes_a_point = [name, f"{8 * sum(PASSES[variant]):g}"], 8 * sum(PASSES[variant])
        for edge in CG_EDGES:
            pair = cg.one(f"cg {name}, Numba CUDA", shape=[edge] * 3, iterations=2)
            bound_s = bytes_a_point * edge**3 / copy_gb_s / 1e9
            cells += [bench.format_time(pair.median_s / 2), f"{pair.median_s / 2 / bound_s:.2f}×"]
        lines.append("| " + " | ".join(cells) + " |")
    solves = (cg.one("cg two-kernel, Numba CUDA: solve", shape=[edge] * 3) for edge in CG_EDGES)
    told = "; ".join(
        f"{edge}³ to 1e-6 in {m.observed['iterations']} iterations, {bench.format_time(m.median_s)}"
        for edge, m in zip(CG_EDGES, solves, strict=True)
    )
    bound = f"The bound is the bytes over the bandwidth of a copy, {copy_gb_s:,.0f} GB/s."
    return "\n".join([*lines, "", f"An iteration. {bound} Two-kernel: {told}. {cg.origin}"])


def _streams_and_stencils() -> str:
    vector, stencil = bench.recorded("vector"), bench.recorded("stencil")
    t_peak = recorded_t_peak(vector)
    measured = [
        *vector.compare(*STREAM, n=2**30).measurements,
        *stencil.compare(*LAPLACIAN, **GRID).measurements,
        *stencil.compare(*HEAT).measurements,
    ]
    lines = [
        "| on an H200, fp64 | time | moved, GB/s | T_eff, GB/s | still to gain |",
        "|---|---:|---:|---:|---:|",
    ]
    for m in measured:
        gain = f"{t_peak / m.t_eff_gb_s:.2f}×"
        row = (
            m.name,
            bench.format_time(m.median_s),
            f"{m.throughput_gb_s:,.0f}",
            f"{m.t_eff_gb_s:,.0f}",
            gain,
        )
        lines.append("| " + " | ".join(row) + " |")
    sizes = "Streams of 2^30 numbers, a stencil of 512³ points, a heat step of 16384²."
    lines += [
        "",
        f"T_peak {t_peak:,.0f} GB/s, the best copy or triad. {sizes} {vector.origin} {stencil.origin}",
    ]
    return "\n".join(lines)
