# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: First kernels
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # First kernels
#
# How a GPU runs one small function in thousands of threads, what you write so that each thread finds its work, and how to see
# what the threads did.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. The laboratory's puzzles are in the notebook only. Timing: surprise 4,
# > threads and their numbers 13, launches and copies 9, two dimensions and coalescing 9, shared memory and atomics 7, debugging and end 3.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **write** a kernel in Python, and launch it on arrays of any size,
# - **compute** which element a thread takes,
# - **see** which thread touched what, and find a race,
# - **choose** which index goes with x, so that neighbours read neighbours,
# - **let** threads share values: shared memory, barrier, atomics.
#
# It builds on Python, NumPy and lecture 0. No GPU is needed: where there is none, the kernels run in the course's interpreter.

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only: the parts of the package that this lecture uses, and what has been recorded. It may take a quarter
# of a minute.
import numpy as np
from IPython.display import Markdown
from numba import float64

from course_pkg import bench, cuda, practice, simt, viz
from course_pkg.bench.pitfalls import pairs
from course_pkg.core import Library, short_name
from course_pkg.core.checks import unwritten
from course_pkg.paths import figure
from course_pkg.stencil.variants import VARIANTS as STENCILS
from course_pkg.vector import here
from course_pkg.vector.variants import VARIANTS

CUDA = Library.NUMBA_CUDA
copy_two = VARIANTS["copy_two"].by(CUDA)
h200 = bench.recorded("vector", "nvidia-h200")
honest = bench.records("honest")  # on an H100 and on an H200
timed = [{pair.pitfall.name: pair for pair in pairs(found.measurements)} for found in honest]
FEW, MANY = 2**10, 2**23

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
few = h200.one(copy_two, n=FEW)
guess_launch = viz.Estimate(
    "01-launch",
    f"An H200 copies {FEW:,} doubles, numbers of 8 bytes, in {few.median_s * 1e6:.0f} µs, one call at a time. How long for {MANY:,}, {MANY // FEW:,} times as many?",
    1,
    1_000_000,
    "µs",
)
guess_launch

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A thousand doubles, eight million doubles

# %% slideshow={"slide_type": "-"} tags=["hide-input", "live"]
both = [found.one(copy_two, n=n) for found in bench.records("vector") for n in (FEW, MANY)]
found = bench.live(
    lambda: [here.Vectors("gpu", n).copy(n).measure(copy_two, samples=10) for n in (FEW, MANY)],
    both,
)
viz.relative_bars(
    {gpu: {f"{m.parameters['n']:,} doubles": m.median_s for m in ms} for gpu, ms in found.by_device.items()},
    xlabel=f"time, relative to {FEW:,} doubles",
    said=bench.format_time,
    note=f"The kernel is copy_two, in which each thread copies two doubles. {found.caption}",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
many = h200.one(copy_two, n=MANY)
assert many.median_s < 1.1 * few.median_s
guess_launch.reveal(many.median_s * 1e6, note="the call takes longer than the copying")


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes with the question. Most multiply: 0.4 s. The record takes one call at a time, by a clock on the GPU; while
# > the GPU waits for the host, it has time for eight million doubles. Lecture 2 measures without this wait. On another GPU the picture shows that one, too.
# > The host's part of a call varies: on the H100 of the record, the thousand doubles even took longer than the eight million.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## A function that every thread runs
#
# A GPU has many small workers. NumPy says `out = 2 * a`, for all elements at once. A [kernel](glossary.md#kernel) says what **one** worker, a
# [thread](glossary.md#thread), does:

# %% slideshow={"slide_type": "-"}
@cuda.jit
def double(a, out):
    i = cuda.threadIdx.x  # my number
    out[i] = 2 * a[i]


# %% [markdown] slideshow={"slide_type": "-"}
# There is no loop. Ten threads run this function, each once, in no order; only their numbers differ.
#
# Point at a thread to see what it touched.

# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
a = np.arange(10.0)
practice.watch(double, practice.Trial({"a": a, "out": unwritten(10)}, {"out": 2 * a}, grid=1, block=10))

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. The picture is drawn from what the threads did in the interpreter; it is the picture of all puzzles. Ask who
# > returns the result: nobody, a kernel writes into an array that the caller has made. `out = 2 * a[i]` would only name a number.

# %% [markdown] slideshow={"slide_type": "skip"}
# Here and below, `practice.watch(kernel, practice.Trial(arguments, expected, grid, block))` launches a kernel in the interpreter,
# compares its arrays with what is expected, and draws the picture. `unwritten(10)` makes an array that is not written yet. Your
# own kernels need neither.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Thread, warp, block, grid

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("thread_warp_block_grid.svg"),
    "A grid of six blocks; block 2 enlarged: 128 threads in four warps of 32; warp 1 enlarged: lanes 0 to 31; lane 5 is "
    "thread 37 of its block, and thread 2 · 128 + 37 = 293 of the grid.",
)


# %% [markdown] slideshow={"slide_type": "-"}
# A [grid](glossary.md#grid) has any number of [blocks](glossary.md#block), in no order. The threads of a block can work together. 32 of them are a
# [warp](glossary.md#warp); a thread's place there is its [lane](glossary.md#lane).

# %% [markdown] slideshow={"slide_type": "skip"}
# A warp's lanes often run together, but nothing promises it: only a [barrier](glossary.md#barrier) does.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. You choose blocks and threads per block; warps are made by the hardware. Each block runs from beginning to end
# > on one multiprocessor (SM); an H200 has 132 of them. Why blocks at all: a small GPU runs them one after the other, a large one side by side.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Which element is mine?
#
# Threads are numbered from 0 in **each** block. The number in the grid counts the threads of all blocks before:
#
# $$ i = \text{blockIdx.x} \cdot \text{blockDim.x} + \text{threadIdx.x} $$

# %% slideshow={"slide_type": "-"}
@cuda.jit
def double_grid(a, out):
    i = cuda.grid(1)  # short for cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i] = 2 * a[i]


# %% [markdown] slideshow={"slide_type": "-"}
# It is launched as `double_grid[2, 8](a, out)`: 2 blocks of 8 threads for 16 elements. Thread 3 of block 1 takes element 1 · 8 + 3 = 11.

# %% slideshow={"slide_type": "skip"}
a = np.arange(16.0)
practice.watch(double_grid, practice.Trial({"a": a, "out": unwritten(16)}, {"out": 2 * a}, grid=2, block=8))

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_guard = viz.Prediction(
    "01-guard",
    "12 elements, 2 blocks of 8 threads: on a GPU, threads 12 to 15 run out[i]\u00a0=\u00a02\u00a0*\u00a0a[i], too. What do you see?",
    [
        "an IndexError with the line",
        "nothing: memory behind out is overwritten",
        "nothing: such writes are dropped",
        "an error before the launch",
    ],
)
guess_guard

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What thread 12 does

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
a = np.arange(12.0)
practice.watch(double_grid, practice.Trial({"a": a, "out": unwritten(12)}, {"out": 2 * a}, grid=2, block=8))

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
guess_guard.reveal(
    "a GPU checks no index; the interpreter does",
    right="nothing: memory behind out is overwritten",
    how="Answer",
)


# %% slideshow={"slide_type": "skip"}
@cuda.jit
def double_guarded(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]


# %% slideshow={"slide_type": "skip"}
guarded = practice.watch(
    double_guarded, practice.Trial({"a": a, "out": unwritten(12)}, {"out": 2 * a}, grid=2, block=8)
)
assert guarded.good
guarded

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Where there is no memory behind the array, CUDA stops with an error, but at a later call and without a line.
# > Negative indices are as bad: Numba counts them from the end, as NumPy does, so that a[-1] is a wrong neighbour and no error.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A guard, and how many blocks
#
# A [guard](glossary.md#guard) sends threads without an element away: `if i < a.size:` before the access. So the number of blocks may be rounded up:
#
# ```python
# threads = 256
# blocks = (n + threads - 1) // threads      # rounded up
# double_guarded[blocks, threads](a, out)
# ```
#
# - **Threads per block**: a multiple of 32, since warps are whole; at most 1,024. 128 or 256 is a good start.
# - **Blocks**: thousands, so that no part of the GPU is idle.
# - Fewer threads than elements? Let each thread take several, in a loop (puzzle 5).

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. NumPy asks for no such number. Too many blocks waste a little time; with too few, elements stay unwritten, and the
# > picture shows which.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## To the GPU and back
#
# A GPU has memory of its own. Arrays go there, kernels work on them there, results come back.

# %% slideshow={"slide_type": "-"}
a = np.arange(20.0)
on_gpu = cuda.to_device(a)  # copies a to the GPU
out = cuda.device_array(20)  # memory on the GPU; nobody has written it yet
double_guarded[3, 8](on_gpu, out)  # the launch: 3 blocks of 8 threads
result = out.copy_to_host()  # copies back, when the kernel has ended
result[-3:]

# %% slideshow={"slide_type": "skip"}
assert np.array_equal(result, 2 * a)

# %% [markdown] slideshow={"slide_type": "-"}
# The computer around the GPU, with its own memory, is called the **host**. A [launch](glossary.md#launch) is the call with square brackets.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_copies = viz.Estimate(
    "01-copies",
    "A kernel works on 2²⁶ doubles, 0.5 GB, in the memory of an H200. Now we also copy the doubles there and the result back. How many times as long?",
    1,
    20_000,
    "times as long",
)
guess_copies

# %% [markdown] slideshow={"slide_type": "slide"}
# ## There and back

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
copied = {found.device.name: pair["with_copies"] for found, pair in zip(honest, timed, strict=True)}
viz.relative_bars(
    {
        viz.OfDevice(f"{short_name(gpu)}, recorded", short_name(gpu)): {
            "the kernel alone": pair.right.median_s,
            "with its copies": pair.wrong.median_s,
        }
        for gpu, pair in copied.items()
    },
    xlabel="time, relative to the kernel alone",
    said=bench.format_time,
    note="A kernel that copies 2²⁶ doubles. " + bench.origins(found.origin for found in honest),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
on_h200 = copied["NVIDIA H200"]
guess_copies.reveal(
    on_h200.wrong.median_s / on_h200.right.median_s,
    note="the data should stay on the GPU as long as there is work for it",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. One kernel on data that comes and goes is hardly ever worth it. Solvers copy once and launch thousands of kernels.
# > A NumPy array can be passed to a kernel directly: Numba then copies it both ways at each launch, and warns.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A launch returns before the kernel ends

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
viz.Picture.load(
    figure("launches_in_time.svg"),
    "Three launches in time: the host has made all three while the first kernel still runs, and then waits in copy_to_host "
    "until the third has ended.",
)

# %% [markdown] slideshow={"slide_type": "-"}
# - The host goes on at once. `copy_to_host()` waits, and `cuda.synchronize()` does nothing else.
# - Here, kernels run one after the other, in the order of their launches.
# - The **first** call of a kernel also compiles it, for these types of arguments.

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
said = (
    f"first call {bench.format_time(pair['first_call'].wrong.median_s)} on an {short_name(found.device.name)}, "
    f"later calls {bench.format_time(pair['first_call'].right.median_s)}"
    for found, pair in zip(honest, timed, strict=True)
)
Markdown(f"Recorded for a kernel that copies 2²⁷ doubles, twice as many as before: {'; '.join(said)}.")


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. The consequence for errors: what goes wrong in a kernel shows at a later call, often `copy_to_host`. The
# > consequence for clocks is a question of lecture 2: say nothing about it here.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What of Python a kernel may use
#
# | in a kernel | not in a kernel |
# |---|---|
# | numbers, tuples, `a[i, j]`, `a.size`, `a.shape` | lists, dicts, sets |
# | `if`, `while`, `for k in range(…)` | `try`, `with`, `yield` |
# | `+ - * / // % **`, `min`, `max`, `abs`, `math.sqrt` … | NumPy on whole arrays: `2 * a`, `np.dot(a, b)` |
# | functions with `@cuda.jit(device=True)` | `return` of a value; new arrays |
#
# A kernel is compiled: Numba must find a type for each name. What Numba cannot compile is an error at the first call, and nothing has run.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. The table is a summary of Numba's list of supported features. A frequent first mistake is the third row: a kernel sees one
# > element at a time.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Two dimensions: x counts columns
#
# `cuda.grid(2)` gives two numbers: first along x, then along y. NumPy writes the row first.

# %% slideshow={"slide_type": "-"}
@cuda.jit
def double_2d(a, out):
    x, y = cuda.grid(2)
    rows, columns = a.shape
    if y < rows and x < columns:
        out[y, x] = 2 * a[y, x]


# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
a = np.arange(12.0).reshape(3, 4)
practice.watch(
    double_2d, practice.Trial({"a": a, "out": unwritten((3, 4))}, {"out": 2 * a}, grid=(2, 2), block=(3, 2))
)

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. `double_2d[(2, 2), (3, 2)]`: blocks along x and y, threads along x and y. Two guards, one for each direction. Why x
# > and columns belong together is the next question: the warp decides it.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What a warp asks for
#
# The 32 lanes of a warp ask together: one [request](glossary.md#request). The answer comes in [sectors](glossary.md#sector) of 32 bytes, whole ones.

# %% slideshow={"slide_type": "skip"}
square, results = np.arange(64.0 * 64).reshape(64, 64), {}
by_rows = simt.profile(double_2d[(2, 8), (32, 8)], square, results.setdefault("rows", np.empty((64, 64))))


def first_load(profile):
    """Return the first request of a profile that loads from global memory."""
    return next(
        a
        for line in profile.by_line
        for a in profile.accesses(line)
        if (a.space, a.kind) == ("global", "load")
    )


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
assert [int(x) for x in first_load(by_rows).offsets[:2]] == [0, 8]
viz.access_strip(first_load(by_rows))

# %% [markdown] slideshow={"slide_type": "skip"}
# This is a request of `double_2d` on 64 × 64 doubles, in blocks of 32 × 8 threads: lane 0 reads `a[0, 0]`, lane 1 reads `a[0, 1]`.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. This is the course's signature picture: lanes above, memory below; coloured bytes are used, grey ones were moved for
# > nothing. Here all are used. It is drawn from the kernel's profile.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_swap = viz.Prediction(
    "01-swap",
    "We swap two names, y, x = cuda.grid(2), and launch on the same 64 × 64 doubles with the same blocks. What changes?",
    ["nothing", "the result is transposed", "4 times as many sectors", "32 times as many sectors"],
)
guess_swap


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Coalesced, and not

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def double_swapped(a, out):
    y, x = cuda.grid(2)  # the names are swapped; nothing else
    rows, columns = a.shape
    if y < rows and x < columns:
        out[y, x] = 2 * a[y, x]


# %% slideshow={"slide_type": "skip"}
by_columns = simt.profile(
    double_swapped[(2, 8), (32, 8)], square, results.setdefault("columns", np.empty((64, 64)))
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
kernels = {"x, y = cuda.grid(2)": by_rows, "y, x = cuda.grid(2)": by_columns}
viz.slider(
    lambda name: viz.access_strip(first_load(kernels[name])),
    kernels,
    label="names",
    start="y, x = cuda.grid(2)",
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
ratio = by_columns.global_load.sectors / by_rows.global_load.sectors
assert (
    np.array_equal(results["rows"], results["columns"])
    and by_columns.global_load.requests == by_rows.global_load.requests
)
assert (by_rows.global_load.sectors_per_request, by_columns.global_load.sectors_per_request) == (8, 32)
guess_swap.reveal(
    f"{by_columns.global_load.sectors_per_request:.0f} sectors per request instead of {by_rows.global_load.sectors_per_request:.0f}",
    right=f"{ratio:.0f} times as many sectors",
    how="Counted",
)

# %% [markdown] slideshow={"slide_type": "-"}
# Accesses are [coalesced](glossary.md#coalesced) if neighbouring lanes touch neighbouring addresses.

# %% [markdown] slideshow={"slide_type": "skip"}
# So x, which changes fastest from lane to lane, is the **last** index.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Four minutes. Who says 32 forgets that a row's request needs 8 sectors, not 1. Each lane now has a sector to itself and uses a quarter
# > of it. What that does to time is for lectures 2 and 3; here we count.

# %% slideshow={"slide_type": "slide"} tags=["predict", "hide-input"]
guess_shape = viz.Prediction(
    "01-shape",
    "A kernel for 16,384 × 16,384 points has 256 threads per block: as 32 × 8, as 64 × 4 or as 128 × 2. On an H200 the slowest of these takes …",
    [
        "hardly longer than the fastest",
        "about a quarter longer",
        "about twice as long",
        "about four times as long",
    ],
)
guess_shape

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Blocks of 256 threads

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
step, shapes = STENCILS["diffusion_step_2d"].by(CUDA), ([32, 8], [64, 4], [128, 2])
rows = {
    short_name(record.device.name): [
        record.one(step, shape=[16384, 16384], dtype="float64", threads_per_block=s).median_s for s in shapes
    ]
    for record in bench.records("stencil")
}
bench.Table(
    [
        {
            "threads along x, y": f"{x} × {y}",
            **{gpu: bench.format_time(times[i]) for gpu, times in rows.items()},
        }
        for i, (x, y) in enumerate(shapes)
    ],
    "A heat step on 16,384 × 16,384 doubles. "
    + bench.origins(record.origin for record in bench.records("stencil")),
)

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
apart = max(max(times) / min(times) for times in rows.values())
wide = np.zeros((8, 256))
by_shape = [simt.profile(double_2d[(256 // x, 8 // y), (x, y)], wide, np.empty((8, 256))) for x, y in shapes]
assert apart < 1.02 and {p.global_load.sectors_per_request for p in by_shape} == {8}
guess_shape.reveal(
    f"a ratio of {apart:.2f} between the largest and the smallest; in all three, a warp is 32 neighbours of one row, so its requests are the same",
    right="hardly longer than the fastest",
)


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. "No difference" is an answer. A block 8 wide is another matter: there a warp covers pieces of four rows. Lecture 3
# > measures that.

# %% [markdown] slideshow={"slide_type": "slide"} tags=["two-columns"]
# ## Shared memory, and a race
#
# The threads of a block share a small array on the chip: [shared memory](glossary.md#shared-memory). Here each takes its neighbour's element:

# %% slideshow={"slide_type": "-"}
@cuda.jit
def shift_racy(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    out[i] = tile[(t + 1) % 8]


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
a = np.arange(16.0)
turned = np.roll(a.reshape(2, 8), -1, axis=1).reshape(16)
racy = practice.watch(
    shift_racy, practice.Trial({"a": a, "out": unwritten(16)}, {"out": turned}, grid=2, block=8)
)
assert not racy.good and "cuda.syncthreads() is missing" in str(racy)
result = np.empty(16)
two_threads = simt.profile(shift_racy[2, 8], a, result).hazards[0]
assert np.array_equal(result, turned) and len(set(two_threads.threads)) == 2
assert two_threads.line != two_threads.other_line
Markdown(f"A [hazard](glossary.md#hazard): *{two_threads.event}.*")

# %% slideshow={"slide_type": "-"} tags=["hide-input", "right"]
racy.pictures[0]

# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
Markdown(f"All elements are right, and yet the verdict is: *{racy}*")

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. The result is right, here and often on a GPU; nothing promises it. The interpreter reports each hazard
# > in every run, with both threads and both lines. On a GPU, Compute Sanitizer is the tool for it.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The barrier
#
# A [race](glossary.md#race): one thread writes what another one reads, and nothing decides who is first. A [barrier](glossary.md#barrier) decides:

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
[undecided] = simt.profile(shift_racy[1, 8], a[:8], np.empty(8)).hazards
viz.race_picture(undecided, barrier="syncthreads")


# %% slideshow={"slide_type": "skip"}
@cuda.jit
def shift(a, out):
    tile = cuda.shared.array(8, float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()  # all threads of the block wait here for each other
    out[i] = tile[(t + 1) % 8]


# %% slideshow={"slide_type": "skip"} tags=["hide-input"]
mended = practice.watch(
    shift, practice.Trial({"a": a, "out": unwritten(16)}, {"out": turned}, grid=2, block=8)
)
assert mended.good
Markdown(f"The interpreter says: *{mended}*")


# %% [markdown] slideshow={"slide_type": "-"}
# The line `cuda.syncthreads()` stands between the write and the read. **All** threads of the block must come to the barrier: never put it into
# an `if` that some skip. Threads of other blocks do not wait.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Three minutes. Shared memory is private to the block: it is there when the block begins, unwritten, and gone when it ends. (CUDA has
# > grids that wait together, cooperative ones; they need all blocks on the GPU at once, and the course does without.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Atomics: threads that take turns
#
# How many elements are at least 50? All threads count in one place:

# %% slideshow={"slide_type": "-"}
@cuda.jit
def count_large(a, count):
    i = cuda.grid(1)
    if i < a.size and a[i] >= 50:
        cuda.atomic.add(count, 0, 1)  # instead of count[0] += 1


# %% slideshow={"slide_type": "skip"}
@cuda.jit
def count_large_racy(a, count):
    i = cuda.grid(1)
    if i < a.size and a[i] >= 50:
        count[0] += 1


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
a = np.random.default_rng(1).integers(0, 100, 60).astype(float)
large = np.array([np.count_nonzero(a >= 50)])
counted = {
    name: practice.watch(
        kernel, practice.Trial({"a": a, "count": np.zeros(1, int)}, {"count": large}, grid=2, block=32)
    )
    for name, kernel in {"count[0] += 1": count_large_racy, "cuda.atomic.add": count_large}.items()
}
assert [result.good for result in counted.values()] == [False, True]
race = simt.profile(count_large_racy[2, 32], a, np.zeros(1, int)).hazards[0]
assert (race.kind, race.array, race.index) == ("race", "count", (0,))
Markdown(f"With `count[0] += 1`, the interpreter finds a race: *{race.event}.*")


# %% [markdown] slideshow={"slide_type": "-"}
# `count[0] += 1` reads, adds and writes: two threads may read the same number. An [atomic](glossary.md#atomic) does it without anybody between, across blocks,
# too.

# %% [markdown] slideshow={"slide_type": "skip"}
# Threads that meet take turns, which takes time.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Two minutes. The puzzles build it up: block sum, dot product, histogram. Atomics take turns in any order, so a sum of
# > floating-point numbers may differ in its last digits from run to run.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## When it does not work
#
# 1. **Make it small**: ten elements, two blocks. The picture shows who did what.
# 2. **Let one thread speak**: `print`, under an `if`; otherwise all threads print.
# 3. **Ask for hazards**: races, missing barriers and lost threads, each with its line.
# 4. **Read the [profile](glossary.md#profile)**: what each line moved, beside the source.

# %% slideshow={"slide_type": "-"}
@cuda.jit
def double_told(a, out):
    i = cuda.grid(1)
    out[i] = 2 * a[i]
    if i == 3:
        print("thread", i, "wrote", out[i])


# %% slideshow={"slide_type": "-"} tags=["hide-input"]
double_told[2, 8](cuda.to_device(np.arange(16.0)), cuda.device_array(16))
cuda.synchronize()

# %% [markdown] slideshow={"slide_type": "skip"}
# The profile of `double_swapped`: requests, sectors and flops beside each line. Which line asks for four times the sectors that it needs? The flops are
# additions, since the compiler computes `2 * a[y, x]` as a sum of two equal numbers. Of the other words, *unique bytes* counts each byte
# once, however often it is asked for, and *intensity* is [flops per byte](glossary.md#arithmetic-intensity); lecture 2 needs
# them, and lecture 3 the [wavefronts](glossary.md#wavefront) of shared memory.

# %% slideshow={"slide_type": "skip"}
assert ratio == 4 and by_columns.flops.by_precision["float64"].add == by_columns.flops.total == square.size
by_columns


# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** One minute. `print` in a kernel knows numbers and plain texts, no format strings; on a GPU the lines come out at the next
# > `cuda.synchronize()`, in an order of the GPU's choice.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# Sixteen puzzles, each a kernel with a few lines missing. Replace the `...` and run the cell. You see at once whether it is right, a picture of what **your**
# threads read and wrote, and hints if you want them. Wrong answers are welcome: they cannot break anything, not even with an endless loop. The kernels run
# in the interpreter, with or without a GPU. What you solve is remembered.
#
# Where there is a GPU, a right answer is also timed on it, on arrays that no cache holds; puzzles of a single block say why they are not. Blocks are small
# here, so that you can read the picture, and a GPU starts only
# so many per ns: in lecture 3, blocks of one warp start at 1.66 per ns on an H200 and on an H100, whose memory is slower. Blocks of eight warps do that
# work in less than a third of the time.
#
# **Puzzle 1. One thread for each element.** The block has exactly as many threads as `a` has elements. Add 10 to each.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    ...


practice.check("map", add_ten)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 2. Two arrays.** Add `a` and `b`, element by element.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add(a, b, out):
    i = cuda.threadIdx.x
    ...


practice.check("zip", add)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 3. A guard.** The block has 32 threads, and `a` has fewer elements. Add 10 to each, and let no thread fall off.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    ...


practice.check("guard", add_ten_guarded)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 4. Many blocks.** Blocks of 8 threads, and as many of them as are needed. Let each thread find its element in the grid.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten_blocks(a, out):
    i = ...
    if i < a.size:
        out[i] = a[i] + 10


practice.check("blocks", add_ten_blocks)


# %% [markdown] slideshow={"slide_type": "skip"}
# In this puzzle and in others after it, a right answer is followed by counts. A *load* reads and a *store* writes. *Global* is the memory of the arrays that a
# launch is given ([global memory](glossary.md#global-memory)), *shared* that of a block. A *thread access* is one thread that reads or
# writes one element; those of a warp are one request. The picture below the counts also marks each
# [cache line](glossary.md#cache-line), which is four sectors: caches, [L1](glossary.md#L1) and [L2](glossary.md#L2), keep what was read
# near the threads.
#
# **Puzzle 5. Fewer threads than elements.** The grid has 16 threads, whatever the size of `a`. Each takes element i, i + 16, i + 32 and so on: a
# [grid-stride loop](glossary.md#grid-stride-loop). `cuda.gridsize(1)` is the number of all threads of the grid.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten_stride(a, out):
    for i in range(...):
        out[i] = a[i] + 10


practice.check("stride", add_ten_stride)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 6. Two dimensions.** Add 10 to each element of a matrix that is not square, in blocks of 4 × 4 threads. Guard both directions.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten_square(a, out):
    x, y = cuda.grid(2)
    ...


practice.check("square", add_ten_square)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 7. Transposed reading.** `out` is the transpose of `a`, `a.T` in NumPy: its rows are the columns of `a`. The grid fits `out`, in blocks of
# 8 × 1 threads. Let neighbours write neighbours; then look at the counts of what they read.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    ...


practice.check("transposed_read", transpose)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 8. A column plus a row.** NumPy would broadcast: `column[:, None] + row`. Which elements does thread (x, y) need?

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def outer_sum(column, row, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        ...


practice.check("broadcast", outer_sum)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 9. Neighbours read neighbours.** A square matrix, and one thread for each of its columns. In each [trip](glossary.md#trip) of the loop, a thread adds
# 10 to one element. Choose which, so that the accesses are coalesced. The sectors are counted.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        ...


practice.check("coalesced", add_ten_coalesced)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 10. A stencil.** In a [stencil](glossary.md#stencil), an element follows from its neighbours: here it is the mean of the one to the left and the one
# to the right. The first and the last element have one neighbour: copy them.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if ...:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    ...


practice.check("stencil", neighbours)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 11. Shared memory.** Each block of 8 threads turns its 8 elements round: the last one becomes the first. Pass them on through `tile`.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    ...


practice.check("reverse", reverse_blocks)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 12. The sum of a block.** Fold the [tile](glossary.md#tile) in half: 8 threads add the upper 8 elements to the lower 8, then 4 threads, then 2, then 1. The number that
# is left is the sum. This is a [reduction](glossary.md#reduction). It needs one barrier per fold, before it.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        ...
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = ...


practice.check("block_sum", sum_blocks)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 13. A dot product.** The grid has 2 blocks of 16 threads, whatever the size of `a`. Three things that you have written come together: a loop over the grid, a sum in the block, and one number per block that is
# added to `out[0]`.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(...):
        s += ...
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        ...


practice.check("dot", dot)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 14. A histogram.** How often does each of the numbers 0 to 4 occur in `a`? Several threads may meet in one counter.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        ...


practice.check("histogram", histogram)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 15. A convolution with a halo.** Each result needs five elements: its own and two on either side. So a block of 8 threads needs 12 elements: its
# own and a [halo](glossary.md#halo) of two on each side. Load each of them once. Beyond the ends of `a`, take 0. The weights run as the elements do:
# `out[i] = w[0] * a[i - 2] + … + w[4] * a[i + 2]`. (Some books, and `np.convolve`, turn `w` round.)

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = ...
        tile[k] = ...
    ...
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += ...
        out[i] = s


practice.check("convolution", convolve)


# %% [markdown] slideshow={"slide_type": "skip"}
# **Puzzle 16. As fast as memory allows.** One block of 16 threads for each row of a matrix: add up the row. No sector may be asked for twice. Write the loop
# over the row so that neighbours read neighbours, and fold the tile as before.

# %% slideshow={"slide_type": "skip"}
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(...):
        s += ...
    tile[t] = s
    half = 8
    while half > 0:
        ...
        half //= 2
    if t == 0:
        out[r] = tile[0]


practice.check("row_sums", row_sums)

# %% [markdown] slideshow={"slide_type": "skip"}
# **What you have solved**, on this computer, today and before:

# %% slideshow={"slide_type": "skip"}
practice.progress("01_first_kernels")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit
#
# A kernel is right, and its accesses are coalesced. What is left?
#
# - **The launch** from Numba costs tens of microseconds. Launch few kernels, and give each much to do.
# - **Copies** between host and GPU take long. Keep data on the GPU.
# - **Memory**: `double` does one [flop](glossary.md#flop) for 16 bytes that it moves. Lecture 2 shows that the bytes decide its time, and how to tell how fast it could be.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
sixty_four = np.arange(64.0)
launches = {
    "double_guarded": (
        simt.profile(double_guarded[3, 32], sixty_four, np.empty(64)),
        "one thread per element, a guard",
    ),
    "double_2d": (by_rows, "x is the last index"),
    "double_swapped": (by_columns, "x is the first index"),
    "shift_racy": (simt.profile(shift_racy[8, 8], sixty_four, np.empty(64)), "shared memory, no barrier"),
    "shift": (simt.profile(shift[8, 8], sixty_four, np.empty(64)), "shared memory, a barrier"),
    "count_large": (simt.profile(count_large[2, 32], sixty_four, np.zeros(1, int)), "an atomic"),
}
bench.Table(
    [
        {
            "kernel": name,
            "idea": idea,
            "bytes used of those loaded": f"{8 * p.global_load.thread_accesses / (32 * p.global_load.sectors):.0%}",
            "hazards": len(p.hazards) or "none",
        }
        for name, (p, idea) in launches.items()
    ],
    "Counted by the interpreter.",
)

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# Write for one thread, guard it, and let neighbouring threads touch neighbouring elements.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Laboratory**: sixteen puzzles in this notebook, from `out[i] = a[i] + 10` to row sums without a wasted byte.
# - **Exercise 1**, `exercises/01_first_kernels`, 20 points.
# - **Next**: lecture 2, why processors wait for memory, and how to measure it.
#
# **Read**: J. Nickolls, I. Buck, M. Garland, K. Skadron, *Scalable parallel programming with CUDA*, ACM Queue 6(2), 2008 ·
# *CUDA C++ Programming Guide*, NVIDIA, version 12: programming model and interface · *Numba documentation*, section "Numba for CUDA GPUs" ·
# S. Rush, *GPU Puzzles*, 2022, a collection of puzzles that runs on a GPU.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## How good is my intuition?

# %% slideshow={"slide_type": "skip"}
viz.intuition("01")
