"""Sphinx's settings. `course site` gathers the sources in a folder, and calls Sphinx with this one.

Nothing is executed here: the lectures come with their outputs. Nothing is loaded from another machine: what the browser
needs lies in the site, and the decks share it.
"""

import importlib
import os
import pkgutil
from pathlib import Path

import course_pkg
from course_pkg.core.files import write
from course_pkg.site.api import KEPT, for_napoleon, lay_out, led_back, unlinked, unseen
from course_pkg.site.rooms import overview
from course_pkg.slides.convert import COURSE_NAME, LICENCE

PACKAGE = Path(course_pkg.__file__).parent
ASSETS = "../slides/assets"  # of the decks, as it is seen from _static
# These rooms are the inside of commands. In the others a name is public if its package exports it, or, where the
# package exports nothing, if its module is none of those that the course itself finds by their names.
ROOMS_APART = (
    "check",
    "cli",
    "commands",
    "grading",
    "paths",
    "setup",
    "site",
    "slides",
    "witness",
    "notebook",
)
FOUND_BY_NAME = ("suite", "cases", "traffic", "demands", "checks", "rivals")
INSIDE = [
    str(init.parent / "[!_]*")
    for init in PACKAGE.rglob("__init__.py")
    if "\n__all__ =" in init.read_text(encoding="utf-8")
]
APART = [
    *(str(PACKAGE / name) + end for name in ROOMS_APART for end in ("", ".py")),
    *(str(PACKAGE / "*" / f"{name}*") for name in FOUND_BY_NAME),
    *INSIDE,
]

project, author, copyright = COURSE_NAME, "the authors of the course", f"Text: {LICENCE}; code: MIT"
language = "en"
# A block that names no language is what a program prints; with "none", the package's sources would have no colours.
highlight_language = "text"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.apidoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["made", "served", "api/modules.rst"]  # the page about the package lists what there is

nb_execution_mode = "off"
nb_ipywidgets_js = {f"{ASSETS}/require.js": {}, "widgets.js": {}, f"{ASSETS}/embed-amd.js": {}}
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_heading_slug_func = "course_pkg.site.sources.slug"
myst_update_mathjax = False
mathjax_path = f"{ASSETS}/tex-svg-full.js"
mathjax_options = {"defer": "defer"}

apidoc_modules = [
    {
        "path": str(PACKAGE),
        "destination": "api",
        "separate_modules": False,  # a page for each package: menus of hundreds of modules help nobody
        "module_first": True,
        "exclude_patterns": APART,
    }
]
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_mock_imports = ["cupy", "cupyx", "mpi4py", "nbgrader", "jax", "torch", "osqp", "mpax", "nvmath"]
autodoc_preserve_defaults = True  # as the source has them: a module or a thousand numbers have a name there
autodoc_typehints = "none"  # numpydoc's paragraphs say more
napoleon_google_docstring = False
napoleon_use_rtype = napoleon_use_param = False  # "ndarray, shape (n,)" is a sentence, not names to link
napoleon_use_ivar = True
add_module_names = False
if tags.has("without_api"):  # noqa: F821
    apidoc_modules = []

html_theme = "furo"
html_title = COURSE_NAME
html_static_path = ["static"]
html_extra_path = [str(Path(os.environ["COURSE_SITE_SOURCE"]) / "served")]
html_css_files = ["site.css"]
html_js_files = [
    (f"{ASSETS}/mathjax-config.js", {"priority": 100}),
    (f"{ASSETS}/accessible.js", {"defer": "defer"}),
    ("site.js", {"defer": "defer"}),
]
html_favicon = "static/favicon.svg"
html_copy_source = False
html_show_search_summary = (
    False  # it would fetch the pages found, which a browser refuses to a page that is opened as a file
)
html_theme_options = {
    f"{theme}_css_variables": {f"color-brand-{use}": colour for use in ("primary", "content", "visited")}
    for theme, colour in {"light": "#0069a5", "dark": "#6cc0ef"}.items()
}
# ref.python: an attribute of a class and a word of its description may have the same name
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "ref.python"]


def setup(app):
    """Let Sphinx see functions where a compiler or the interpreter has put an object in their place."""
    app.connect("builder-inited", write_rooms)  # after apidoc, which has written the pages' sources by then
    app.connect("builder-inited", show_functions)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", restore_colon, priority=600)  # after it
    app.connect("autodoc-skip-member", skip_member)
    app.connect("doctree-read", unlink_words)
    app.connect("html-page-context", load_formulas_with_widgets)
    app.connect("html-page-context", lead_back)


def write_rooms(app):
    """Write what the pages about the package include, and give these pages names as headings."""
    pages, made = Path(app.srcdir) / "api", Path(app.srcdir) / "made"
    said = "<p>This site was built without the pages about the package.</p>\n"
    write(made / "package.html", overview(pages) if apidoc_modules else said)
    if apidoc_modules:
        lay_out(pages, made)


def show_functions(app):
    """Put the function of each compiled function and of each kernel back into its module."""
    if not apidoc_modules:
        return
    for found in pkgutil.walk_packages([str(PACKAGE)], "course_pkg."):
        if found.name.split(".")[1] in ROOMS_APART:
            continue
        try:
            module = importlib.import_module(found.name)
        except Exception:  # what this module needs is not installed: autodoc imports it with a stand-in
            continue
        for name, what in list(vars(module).items()):
            function = getattr(what, "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("course_pkg."):
                setattr(module, name, function)


def prepare_docstring(app, what, name, obj, options, lines):
    """Write a docstring so that napoleon does not misread it."""
    lines[:] = for_napoleon(what, lines)


def restore_colon(app, what, name, obj, options, lines):
    """Put the colon back that napoleon was not to see."""
    lines[:] = [line.replace(KEPT, ":") for line in lines]


def skip_member(app, what, name, obj, skip, options):
    """Leave out what has nothing to say; None leaves the choice to autodoc."""
    return True if unseen(obj) else None


def unlink_words(app, doctree):
    """Leave no link where the type of an attribute is a word and not the name of a class."""
    unlinked(doctree)


def load_formulas_with_widgets(app, pagename, templatename, context, doctree):
    """Load MathJax wherever a page has widgets: their labels ask for it, even if the page has no formula."""
    if pagename.startswith(("lectures/", "exercises/")):
        app.add_js_file(mathjax_path, **mathjax_options)


def lead_back(app, pagename, templatename, context, doctree):
    """Let a page of source link to names where they are documented."""
    if pagename.startswith("_modules/"):
        known = app.env.domains.python_domain.objects
        context["body"] = led_back(
            context["body"], pagename, {name: one.docname for name, one in known.items()}
        )
