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
from course_pkg.vector import peak

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One minute: is your computer limited by arithmetic?
#
# The next cell works through a long vector five times: with 2 *flops* (operations on floating-point numbers) for each
# number, then 4, 8, 16 and 32. The bytes that it moves stay the same.
#
# If arithmetic were the limit, each run would take twice as long as the one before. Predict, then run: `Shift` + `Enter`.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess = viz.Prediction(
    "00-flops",
    "Eight flops instead of two, on the same bytes: on this machine the time grows to …",
    ["about 4 times", "about twice", "hardly more"],
)
guess

# %% slideshow={"slide_type": "skip"}
live = peak.horner_sweep((1, 2, 4, 8, 16), samples=7)
assert [m.cost.flops // (m.cost.bytes // 16) for m in live] == [2, 4, 8, 16, 32]  # on the same bytes

# %% slideshow={"slide_type": "slide"} tags=["hide-input"]
viz.flops_sweep({"live": live}, note=f"Live: {live[0].device.name}, {live[0].device.units} cores, {live[0].date}.")

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess.reveal(f"with 4 times the flops on the same bytes, this machine took {live[2].median_s / live[0].median_s:.2f} times as long")

# %% [markdown] slideshow={"slide_type": "-"}
# While the line is nearly flat, arithmetic is not what your processor waits for. Lecture 2 explains what is.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. Let the room run the cell before any explanation. Expected question: "is the compiler cheating?" No: each
# > result is checked against NumPy before it is timed, and with enough arithmetic the line rises: lecture 2 shows where.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Is everything in place?
#
# `course doctor`, in a terminal, checks everything and says how to mend what is missing. **No GPU is needed**: without
# one, the course's *SIMT interpreter* runs the GPU's programs on your CPU, beside recorded measurements of an H200.
# (SIMT, *single instruction, multiple threads*, is how a GPU works: many threads run the same instruction.)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
cpu, gpu = bench.cpu(), bench.gpu()
bench.Table(
    [
        {"this machine": "processor", "found": f"{cpu.name}, {cpu.units} cores"},
        {"this machine": "memory", "found": f"{cpu.memory_bytes / 2**30:.0f} GiB"},
        {"this machine": "last-level cache", "found": f"{cpu.llc_bytes / 2**20:.0f} MiB"},
        {"this machine": "GPU", "found": gpu.name if gpu.kind == "gpu" else "none: kernels run in the SIMT interpreter"},
    ]
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How a lecture works
#
# 1. **Change one small thing** in a *kernel*, a function that a GPU runs, or in its data.
# 2. **Predict** what it does to the time. Guess, even wildly: a guess makes the answer stick.
# 3. **Measure**, on your machine, beside a recorded H200.
# 4. **Explain** the difference: count the bytes.
#
# Two words say where a number comes from: *live* is what this machine just did; *recorded* names its device, driver and
# date.

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
# Open **`02_memory_bound.ipynb`**: why processors wait for memory, how to measure it, and how to tell how much faster a
# program could become.
#
# If something does not work, run `course doctor` in a terminal: it says how to mend each problem that it finds.
