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

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One minute: is your computer limited by arithmetic?
#
# The next cell works through a long vector five times: with 2 flops for each number, then 4, 8, 16 and 32. The bytes
# that it moves stay the same.
#
# If arithmetic were the limit, each run would take twice as long as the one before. Run it: `Shift` + `Enter`.

# %% slideshow={"slide_type": "skip"}
from course_pkg import bench, viz
from course_pkg.vector import peak

live = peak.horner_sweep((1, 2, 4, 8, 16), samples=7)

# %% slideshow={"slide_type": "slide"} tags=["hide-input"]
viz.flops_sweep({"this machine": live}, note=f"{live[0].device.name}, {live[0].device.units} cores, {live[0].date}.")

# %% [markdown] slideshow={"slide_type": "-"}
# If the line is nearly flat, your processor was waiting for memory all the time. Lecture 1 explains why.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. Let the room run the cell before any explanation. Expected question: "is the compiler cheating?" No: each
# > result is checked against NumPy before it is timed, and the line rises once the arithmetic exceeds the balance.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Is everything in place?
#
# `course doctor`, in a terminal, checks everything and says how to mend what is missing. **No GPU is needed**: without
# one, the course's *SIMT interpreter* runs the GPU's programs on your CPU, beside recorded measurements of an H200.

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
# 1. **Change one small thing** in a kernel or in its data.
# 2. **Predict** what it does to the time. Guess, even wildly: a guess makes the answer stick.
# 3. **Measure**, on your machine, beside a recorded H200.
# 4. **Explain** the difference: count the bytes.
#
# Numbers are never mixed: *live* is what this machine just did, *recorded* names its device, driver and date.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess = viz.Prediction(
    "00-add",
    "An addition of two vectors reads 16 bytes and writes 8 for each flop. What limits it?",
    ["the arithmetic units", "the memory", "both alike"],
)
guess

# %% slideshow={"slide_type": "fragment"} tags=["hide-input"]
guess.reveal(f"with 4 times the flops on the same bytes, this machine took {live[2].median_s / live[0].median_s:.2f} times as long")

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
# Open **`01_memory_bound.ipynb`**: why processors wait for memory, how to measure it, and how to tell how much faster a
# program could become.
#
# If something does not work, run `course doctor` in a terminal: it says how to mend each problem that it finds.
