# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Start here
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Start here
#
# **At the Speed of Memory**: why numerical solvers on GPUs run as fast as their memory, and what to do about it.
#
# A live measurement in the first minute; then how the course works.

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
from course_pkg import bench, viz
from course_pkg.core import Library
from course_pkg.vector import here, peak
from course_pkg.vector.variants import VARIANTS

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One minute: what does arithmetic cost?
#
# The next cell works through a long vector three times: with 2 [flops](glossary.md#flop) (operations on floating-point numbers) for each
# number, then with 4, then with 8. The bytes that it moves stay the same.
#
# If arithmetic sets the time, each run takes twice as long as the one before. If something else sets it, they differ less.
# Predict, then run: `Shift` + `Enter`.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
ANSWERS = FOUR, TWICE, SAME = "about 4 times", "about twice", "hardly at all"
guess = viz.Prediction(
    "00-flops", "Eight flops instead of two, on the same bytes: on this machine the time grows …", ANSWERS
)
guess

# %% slideshow={"slide_type": "skip"}
live = peak.horner_sweep((1, 2, 4), samples=5)
assert [m.cost.flops // (m.cost.bytes // 16) for m in live] == [2, 4, 8]  # on the same bytes

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What it cost here

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.flops_sweep(
    {viz.OfDevice("live", viz.THIS_MACHINE): live}, note=f"Live: {live[0].device.name}, {live[0].device.units} cores, {live[0].date}."
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
times = live[2].median_s / live[0].median_s
guess.reveal(
    f"with 4 times the flops on the same bytes, this machine took {times:.2f} times as long",
    right=FOUR if times > 2.8 else TWICE if times > 1.4 else SAME,
)

# %% [markdown] slideshow={"slide_type": "-"}
# Where the line is nearly flat, your processor does not wait for arithmetic.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The same on a GPU

# %% slideshow={"slide_type": "-"} tags=["hide-input", "live"]
horner = VARIANTS["horner"].by(Library.NUMBA_CUDA)
recorded = [found.one(horner, degree=d) for found in bench.records("vector") for d in (1, 2, 4)]
assert all(abs(eight.median_s / two.median_s - 1) < 0.01 for two, eight in zip(recorded[::3], recorded[2::3], strict=True))
found = bench.live(lambda: here.flops_on_this_gpu((1, 2, 4)), recorded)
viz.relative_bars(
    {gpu: {f"{2 * m.parameters['degree']} flops": m.median_s for m in ms} for gpu, ms in found.by_device.items()},
    xlabel="time, relative to 2 flops",
    said=bench.format_time,
    note=found.caption,
)

# %% [markdown] slideshow={"slide_type": "-"}
# On both recorded GPUs, eight flops take as long as two, to a hundredth.

# %% [markdown] slideshow={"slide_type": "skip"}
# Lecture 2 asks what processors wait for, and how much more arithmetic a GPU can do in that time.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. Let everybody run the cell before any explanation. Expected question: "is the compiler cheating?" No: each
# > result is compared with NumPy's before it is timed. Do not say yet where the line begins to rise: lecture 2 lets the learners estimate it.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Is everything in place?
#
# `course doctor`, in a terminal, checks everything and says how to fix what is missing. **No GPU is needed**: without
# one, the course's [SIMT](glossary.md#SIMT) interpreter runs the GPU's programs on your CPU, beside recorded measurements of an H100 and an H200.
# (SIMT, *single instruction, multiple threads*, is how a GPU works: many [threads](glossary.md#thread) run the same instruction.)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
cpu, gpu = bench.cpu(), bench.gpu()
bench.Table(
    [
        {"this machine": "processor", "found": f"{cpu.name}, {cpu.units} cores"},
        {"this machine": "memory", "found": f"{cpu.memory_bytes / 2**30:.0f} GiB"},
        {"this machine": "last-level cache", "found": f"{cpu.llc_bytes / 2**20:.0f} MiB"},
        {
            "this machine": "GPU",
            "found": gpu.name if gpu.kind == "gpu" else "none: kernels run in the SIMT interpreter",
        },
    ]
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How a lecture works
#
# 1. **Change one small thing** in a [kernel](glossary.md#kernel), a function that a GPU runs, or in its data.
# 2. **Predict** what it does to the time. Guess, even wildly: a guess makes the answer stick. Some questions want a choice, some a number.
# 3. **Measure**, on your machine, beside two recorded GPUs.
# 4. **Explain** the difference: count the bytes.
#
# Two words say where a number comes from: *live* is what this machine just did; *recorded* names its device, driver and
# date. Your guesses are kept, and the end of each lecture shows how good they were. A word that is a link leads to the
# [glossary](glossary.md).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One source, three uses
#
# - **Notebook**: every `NN_topic.ipynb` is paired with `NN_topic.py`; edit either, JupyterLab keeps both in step.
# - **Slides**: `make slides` turns the same lecture into a deck that opens without a network.
# - **Exercise**: `exercises/NN_topic` is what you hand in; each task says its points.
#
# The kernels and solvers live in `course_pkg/`, ready to read and to measure; recorded measurements in `figures/data/`,
# each with its origin.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **If you have never written a GPU kernel**, open `01_first_kernels.ipynb`: threads, [blocks](glossary.md#block) and [launches](glossary.md#launch), with puzzles.
# - **If you have**, open `02_memory_bound.ipynb`: why processors wait for memory, how to measure it, and how to tell how
#   much faster a program could become.
#
# If something does not work, run `course doctor` in a terminal: it says how to fix each problem that it finds.
