"""What the recorded H200 shows: the figures of the README, drawn from figures/data."""

from course_pkg import bench, viz
from course_pkg.core import catalogue, machine

HEAT = (
    "diffusion 2D, CuPy arrays",
    "diffusion 2D four statements, Numba CUDA",
    "diffusion 2D fused, Numba CUDA",
)


def pictures() -> dict[str, viz.Picture]:
    vector, stencil = bench.recorded("vector"), bench.recorded("stencil")
    t_peak = vector.select("copy, CuPy", n=2**30)["copy, CuPy"][0].t_eff_gb_s
    laplacian = stencil.select("laplacian flat, Numba CUDA")["laplacian flat, Numba CUDA"][0]
    triad = vector.select("triad, Numba CUDA", n=2**30)["triad, Numba CUDA"][0]
    points = [
        (name, m.cost.intensity, m.gflop_s) for name, m in (("triad", triad), ("7-point stencil", laplacian))
    ]
    return {
        "memory_wall": viz.memory_wall(catalogue().values()),
        "h200_heat_step": viz.bars(
            stencil.compare(*HEAT, t_peak_gb_s=t_peak), title="One heat step on an H200", note=stencil.origin
        ),
        "h200_roofline": viz.roofline(machine("h200").measured(t_peak), points),
    }
