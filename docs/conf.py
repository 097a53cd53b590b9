"""Sphinx's settings.

The site builds and is read without a network.  Nothing is fetched while it is built: there is no
intersphinx.  Nothing is fetched while it is read: the theme's styles, scripts and icons are files
of its package that Sphinx copies into ``_static``; texts are in the reader's own fonts; formulas
are plain text, so that no page asks for MathJax.  ``tests/test_docs.py`` builds the pages and looks
for outside addresses in them.
"""

import os
import sys
from pathlib import Path

# The gallery draws without a window.
os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import srff

project = "srff"
author = "The srff developers"
copyright = author
version = release = srff.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "source_links",
]
exclude_patterns = ["_build", "_templates", "_ext"]
templates_path = ["_templates"]

myst_heading_anchors = 3

source_links_pages = ["method", "design-note", "extending"]
"""Pages where `module.function` in plain code becomes a link to its lines."""

autosummary_generate = True
autosummary_imported_members = False
# Beside srff.confidence: some file systems know no difference between large and small letters.
autosummary_filename_map = {"srff.Confidence": "srff.Confidence-class"}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # seconds differ from build to build
    "write_computation_times": False,
    "remove_config_comments": True,
    "reference_url": {"srff": None},
    "doc_module": ("srff",),
    "backreferences_dir": None,
}

html_theme = "pydata_sphinx_theme"
html_title = "srff"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_theme_options = {
    "logo": {"text": "srff"},
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    "index": [],
    "start": [],
    "faq": [],
    "extending": [],
}
