# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: One sum for many steps
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # One sum for many steps
#
# s-step conjugate gradients: derived line by line, run, broken, and repaired.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## After this lecture you can
#
# (in work)

# %% slideshow={"slide_type": "skip"}
from course_pkg import bench, viz

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Try it: s, basis, size

# %% slideshow={"slide_type": "-"} tags=["hide-input"]
# viz.StabilityExplorer(...) of branch lab7

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Onward
#
# - **Exercise 7**, `exercises/07_sstep_cg`, 20 points. **Next**: lecture 8 solves quadratic programs.

# %% slideshow={"slide_type": "skip"}
viz.intuition("07")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Laboratory
#
