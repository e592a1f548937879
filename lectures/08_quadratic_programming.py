# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Quadratic programs by multiplication
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Quadratic programs by multiplication
#
# A solver whose parallel form is trivial, whose speed is memory alone, and whose zeros need care.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, the problem 6, why F falls 6, the kernels 9, zeros 8,
# > acceleration and rivals 7, batches 3, limit and summary 2.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **state** a quadratic program with bounds at 0, and test an answer by its KKT residual,
# - **derive** why a multiplicative update never raises the objective, and what its shift is for,
# - **place** the matrix, the unknowns and the sums in the memories of a GPU,
# - **skip** zeros so that it saves time, and let them grow again where they must,
# - **choose** another method where this one is the wrong tool.
#
# It builds on lecture 2 (the bound), lecture 4 (bytes in flight, sums) and lecture 6 (gathers, Jacobi's method).

# %% slideshow={"slide_type": "skip"}
# Where the course is not installed, as on Colab, this says how to install it.
import importlib.util

if importlib.util.find_spec("course_pkg") is None:
    raise SystemExit(
        "Install the course first: run  !git clone ADDRESS course && pip install -q -e ./course  "
        "with the address of its repository, then restart the session."
    )

# %% slideshow={"slide_type": "skip"}
# Setup, for the notebook only.
import numpy as np
from IPython.display import Markdown

from course_pkg import bench, simt, viz
from course_pkg.core import Library, machine
from course_pkg.paths import figure
from course_pkg.qp import gpu_numba as gpu
from course_pkg.qp import reference
from course_pkg.qp.problem import problem
from course_pkg.qp.suite import BATCHED, INACTIVE, drawn
from course_pkg.qp.variants import VARIANTS

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Try it: which unknowns are active

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 8**, `exercises/08_quadratic_programming`, 20 points.

# %% slideshow={"slide_type": "skip"}
viz.intuition("08")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
# You write the kernels of this lecture yourself. In each step `...` stands for missing lines. Run the cell: it says what your threads did, in a
# sentence, a picture and counts. Try the variations below it, and answer their questions before you open the answer.

# %% slideshow={"slide_type": "skip"}
from course_pkg import cuda, practice
