"""Code such as `features.random_features` in a page as a link to its lines in the package.

The pages stay plain Markdown.  A name that starts with a module of srff is looked up in its
source, and linked to the page that sphinx.ext.viewcode makes of the module; a name that is not
found stays as it was.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

PACKAGE = "srff"
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def find(text: str) -> tuple[str, str] | None:
    """The module and the name in it (empty for the module itself) that a text stands for.

    >>> find("features.random_features")
    ('srff.core.features', 'random_features')
    >>> find("alpha") is None
    True
    """
    if not NAME.fullmatch(text):
        return None
    parts = text.removeprefix(f"{PACKAGE}.").split(".")
    for size in range(len(parts), 0, -1):
        module = ".".join([PACKAGE, *parts[:size]])
        try:
            found = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:
            continue
        if found:
            name = ".".join(parts[size:])
            code, tags = tags_of(module)
            if not name or name in tags:
                return module, name
            # A variable has no place of its own in viewcode: the module's page.
            return (module, "") if re.search(rf"^{name}\b", code, re.MULTILINE) else None
    return None


def tags_of(module: str) -> tuple[str, dict[str, Any]]:
    """A module's source, and where its functions and classes stand in it."""
    try:
        analyzer = ModuleAnalyzer.for_module(module)
        return analyzer.code, analyzer.find_tags()
    except PycodeError:
        return "", {}


def link(app: Any, doctree: nodes.document) -> None:
    """Turn the names of a page into links, and have viewcode show their modules."""
    docname = app.env.current_document.docname
    if docname not in app.config.source_links_pages or app.builder.format != "html":
        return
    # viewcode keeps what it will show here: module -> (source, places, {name: page}, module).
    if not hasattr(app.env, "_viewcode_modules"):
        app.env._viewcode_modules = {}
    shown = app.env._viewcode_modules
    for literal in list(doctree.findall(nodes.literal)):
        place = find(literal.astext())
        if place is None or isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            continue
        module, name = place
        if not shown.get(module):
            shown[module] = (*tags_of(module), {}, module)
        page = f"_modules/{module.replace('.', '/')}"
        uri = app.builder.get_relative_uri(docname, page)
        reference = nodes.reference("", "", internal=True, refuri=f"{uri}#{name}" if name else uri)
        literal.replace_self(reference)
        reference += literal
        if name and name not in shown[module][2]:
            shown[module][2][name] = docname
            reference["ids"].append(f"{module}.{name}")  # where viewcode's way back leads


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_config_value("source_links_pages", [], "env")
    app.connect("doctree-read", link)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
