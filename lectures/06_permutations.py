# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: The order of the unknowns
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # The order of the unknowns
#
# Permutations, sparse products, and vectors in two precisions: the same mathematics, other bytes.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** 45 minutes of talk, 45 minutes of laboratory. Timing: surprise 4, permutations 8, Jacobi 4, products by rows 8, tables 6,
# > the gather of x 7, two precisions 7, limit and summary 1.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# - **write** a permutation as an index vector, invert it, and apply it to vectors and matrices,
# - **count** what a sparse product must move, and what its warps ask for,
# - **choose** a format and a number of lanes per row for the lengths of the rows,
# - **order** the unknowns so that neighbours share sectors,
# - **keep** a vector in two precisions, and say what each way to swap it costs.
#
# It builds on lecture 2 (sectors, the bound), lecture 3 (coalescing, clocks) and lecture 5 (passes, conjugate gradients).

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
from course_pkg import viz

# %% [markdown] slideshow={"slide_type": "slide"} tags=["predict"]
# ## One matrix, two numberings

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A permutation is an index vector

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Permute the rows; then the columns, too

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Jacobi's method, in three orders

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What a sparse product must move

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A thread per row, or several lanes

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A table instead of a list

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where a warp reads x

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Sector and line

# %% [markdown] slideshow={"slide_type": "slide"}
# ## One vector, two precisions

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The limit

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 6**, `exercises/06_permutations`, 20 points.

# %% slideshow={"slide_type": "skip"}
viz.intuition("06")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
