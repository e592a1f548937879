"""A lecture with a slide of each kind."""

BODY = """\
# %% slideshow={"slide_type": "skip"}
import base64

import ipywidgets
from IPython.display import HTML


def figure(radius):
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="400"><rect width="800" height="400" '
        f'fill="#ffffff"/><circle cx="400" cy="200" r="{radius}" fill="#0072B2"/></svg>'
    )
    source = base64.b64encode(svg.encode()).decode()
    alt = f"A disc of radius {radius}"
    return f'<img class="course-figure" src="data:image/svg+xml;base64,{source}" alt="{alt}">'


# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Bytes & <flops>
#
# After this you can count bytes.

# %% [markdown] slideshow={"slide_type": "notes"}
# Ask for a **guess** of $B$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mathematics and code
#
# $$ t \\\\ge \\\\frac{Q}{B} $$

# %%
print("bytes", 2 * 8 * 64**3)

# %% [markdown] slideshow={"slide_type": "fragment"}
# It shows when asked: 8 GB/s, new[i] = old[i], 2 · 10⁶ times, in lecture 9, and so on …, where $B$: it ends.
# At s = 4 it does 5,300 GFLOP/s, a + b.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A figure

# %% tags=["hide-input"]
HTML(figure(150))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A figure that builds up

# %% tags=["hide-input"]
from course_pkg.viz import draw



def words(figure):
    for i in (1, 2):
        figure.text(0.1, 0.2 * i, "word").set_gid(f"step-{i}-word")


draw(words, "Two words.", steps=True)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A figure that moves

# %% tags=["hide-input"]
stack = ipywidgets.Stack([ipywidgets.HTML(figure(r)) for r in (40, 80, 120, 160)], selected_index=1)
slider = ipywidgets.IntSlider(value=1, min=0, max=3, description="radius")
ipywidgets.jslink((slider, "value"), (stack, "selected_index"))
answers = ipywidgets.ToggleButtons(options=["as many", "twice as many"], value=None)
ipywidgets.VBox([answers, slider, stack])

# %% [markdown] slideshow={"slide_type": "slide"} tags=["statement"]
# One sentence to remember.
""".replace("\\\\\\\\", "\\\\")
