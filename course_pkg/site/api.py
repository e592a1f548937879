"""Pages about the package: headings that are plain names, an overview of all names, links back from the source."""

import ast
import inspect
import posixpath
import re
from pathlib import Path

from course_pkg.core.files import write
from course_pkg.site.rooms import PACKAGE, documented, file_of, sentence_of, words

DEPTH = re.compile(r"^   :maxdepth: \d+$", re.MULTILINE)
TITLE = re.compile(r"\A(.+) package\n=+\n")
BACK = re.compile(r'(<a class="viewcode-back" href=")([^"#]*)\.html#([^"]*)"')
ATTRIBUTES = re.compile(r"(\w+(?:, \w+)+) : (.+)")
KEPT = "\N{MODIFIER LETTER COLON}"  # stands for a colon while napoleon reads a sentence
HEADING = re.compile(r"^(\S+) module\n-+\n", re.MULTILINE)


def lay_out(pages: Path, fragments: Path) -> None:
    """Change the sources that apidoc has written, and write the overviews that they now include.

    Parameters
    ----------
    pages : Path
        The folder of these sources.
    fragments : Path
        The folder of the overviews; both are in the folder that Sphinx reads.
    """
    on_page: dict[str, list[str]] = {}
    for module, page in documented(pages).items():
        on_page.setdefault(page, []).append(module)
    for page, modules in on_page.items():
        path = pages / f"{page}.rst"
        fragment = fragments / f"{page}.html"
        write(fragment, contents(modules))
        write(path, laid_out(path.read_text(encoding="utf-8"), f"../{fragments.name}/{fragment.name}"))


def laid_out(text: str, fragment: str) -> str:
    """Return the source of a page with names as headings, a menu of one level, and an overview below the title.

    Examples
    --------
    >>> print(laid_out("course\\\\_pkg.cg package\\n==================\\n", "../made/cg.html"))
    cg
    ==
    <BLANKLINE>
    .. raw:: html
       :file: ../made/cg.html
    <BLANKLINE>
    """

    def title(found):
        return f"{_underlined(found[1], '=')}\n.. raw:: html\n   :file: {fragment}\n"

    text = HEADING.sub(lambda found: _underlined(found[1].rpartition(".")[2], "-"), text)
    return DEPTH.sub("   :maxdepth: 1", TITLE.sub(title, text))


def led_back(html: str, page: str, documented_on: dict[str, str]) -> str:
    """Return a page of source whose links back to the documentation lead to names that are there.

    Sphinx takes the names of a module to be all documented under one package; but several may export some of them.

    Parameters
    ----------
    html : str
        The page's body.
    page : str
        Its name, without the ending.
    documented_on : dict of str to str
        For each documented name, with its package, the page that it is on.

    Examples
    --------
    >>> link = '<a class="viewcode-back" href="../api/simt.html#course_pkg.cuda.jit">[docs]</a>'
    >>> led_back(link, "_modules/kernel", {"course_pkg.simt.jit": "api/simt", "course_pkg.cuda.jit": "api/cuda"})
    '<a class="viewcode-back" href="../api/simt.html#course_pkg.simt.jit">[docs]</a>'
    """

    def led(found):
        start, path, name = found.groups()
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        parts = name.split(".")
        tails = [name] + [".".join(parts[i:]) for i in range(1, len(parts))]
        fits = (known for tail in tails for known, on in documented_on.items()
                if on == there and f".{known}".endswith(f".{tail}"))  # fmt: skip
        return f'{start}{path}.html#{next(fits, name)}"'

    return BACK.sub(led, html)


def contents(modules: list[str]) -> str:
    """Return as HTML what modules offer: a table for a single module, a foldable table for each of several."""
    tables = {module: _table(module) for module in modules}
    there = {module: table for module, table in tables.items() if table}
    if len(there) == 1:
        return next(iter(there.values()))
    return "\n".join(
        f'<details class="members"><summary><code>{module.rpartition(".")[2]}</code> '
        f"{words(sentence_of(file_of(module)))}</summary>{table}</details>"
        for module, table in there.items()
    )


def offered(module: str) -> dict[str, str]:
    """Return the functions and classes of a module that others call, each with the first sentence about it.

    Examples
    --------
    >>> offered("course_pkg.topics")["topics"]
    'Return the names of the topics in alphabetical order, without importing them.'
    """
    tree = ast.parse(file_of(module).read_text(encoding="utf-8"))
    names = next(
        (ast.literal_eval(node.value) for node in tree.body
         if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"), None
    )  # fmt: skip
    if names is None:
        names = [name for name in _defined(tree) if not name.startswith("_")]
    found = {name: _found(module, name) for name in names}
    return {name: _first_line(node) for name, node in found.items() if node is not None}


def _found(module: str, name: str):
    """Return the definition of a name, in this module or in the one it is imported from; None for other values."""
    tree = ast.parse(file_of(module).read_text(encoding="utf-8"))
    if name in (here := _defined(tree)):
        return here[name]
    for node in tree.body:
        # a package imports its own modules from itself; these are not names that it offers
        other = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if other.startswith(PACKAGE.name) and other != module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _found(other, alias.name)
    return None


def _defined(tree) -> dict:
    """Return the functions and classes of a syntax tree by name, without intrinsics, which only a compiler calls."""
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and "intrinsic" not in map(ast.unparse, node.decorator_list)
    }


def _first_line(node) -> str:
    return (ast.get_docstring(node) or "").split("\n")[0]


def _table(module: str) -> str:
    rows = "".join(
        f'<tr><td><a href="#{module}.{name}"><code>{name}</code></a></td><td>{words(said)}</td></tr>'
        for name, said in offered(module).items()
    )
    return f'<table class="members">{rows}</table>' if rows else ""


def _underlined(name: str, mark: str) -> str:
    """Return an underlined heading: a name as apidoc has escaped it, without the name of the package."""
    short = name.removeprefix("course\\_pkg.")
    return f"{short}\n{mark * len(short)}\n"


def for_napoleon(what: str, lines: list[str]) -> list[str]:
    """Return a docstring that napoleon does not misread, before it reads it.

    Napoleon takes what stands before a colon in the sentence of a property for its type: the colon gets a stand-in. And
    it takes all but the last of several attributes with one description for a type: each gets an entry of its own.

    Parameters
    ----------
    what : str
        What has the docstring: ``"property"``, ``"class"`` and so on.
    lines : list of str
        The docstring.

    Examples
    --------
    >>> for_napoleon("class", ["Attributes", "----------", "n, m : int", "    Rows and columns."])[2:]
    ['n : int', '    Rows and columns.', 'm : int', '    Rows and columns.']
    """
    if what == "property":
        return [line.replace(":", KEPT) for line in lines[:1]] + lines[1:]
    heads = [at - 1 for at, line in enumerate(lines) if at and re.fullmatch("-{3,}", line.strip())]
    begin = next((at + 2 for at in heads if lines[at].strip() == "Attributes"), len(lines))
    end = next((at for at in heads if at >= begin), len(lines))
    entries: list[list[str]] = []
    for line in lines[begin:end]:
        if entries and (not line.strip() or line.startswith(" ")):
            entries[-1].append(line)
        else:
            entries.append([line])
    apart = [one for entry in entries for one in _apart(entry)]
    return lines[:begin] + apart + lines[end:]


def unseen(member) -> bool:
    """Return whether a member of a class says nothing to a reader: a module, or a named tuple's field.

    A module would be shown with its folder on the machine that builds the site. Python's own sentence about a field
    says only its number; the class describes it under ``Attributes``.

    Parameters
    ----------
    member : object
        What autodoc is about to describe.

    Examples
    --------
    >>> from collections import namedtuple
    >>> unseen(namedtuple("Point", "x").x), unseen(ast), unseen(unseen)
    (True, True, False)
    """
    number = (inspect.getdoc(member) or "").removeprefix("Alias for field number ")
    return inspect.ismodule(member) or (number.isdigit() and hasattr(member, "__get__"))


def unlinked(doctree) -> None:
    """Take the links from words in the types of attributes, in place; names of classes keep theirs.

    In ``ndarray, shape (n,)`` Sphinx links each word to an attribute of that name of some class. Classes of the course
    begin with a capital letter, and its one-letter names are sizes.

    Parameters
    ----------
    doctree : docutils.nodes.document
        A page before its references are resolved.
    """
    from sphinx.addnodes import pending_xref

    for link in list(doctree.findall(pending_xref)):
        name = link.get("reftarget", "").rpartition(".")[2]
        is_class = name[:1].isupper() and len(name) > 1
        if link.get("refdomain") == "py" and link.get("reftype") == "class" and not is_class:
            link.replace_self(link.children)


def _apart(entry: list[str]) -> list[str]:
    """Return an entry of several attributes as one entry for each."""
    found = ATTRIBUTES.fullmatch(entry[0])
    if not found:
        return entry
    return [line for name in found[1].split(", ") for line in (f"{name} : {found[2]}", *entry[1:])]
