"""Sphinx configuration: MyST pages, furo theme; pages for environments come from their module docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pages

import bidzoo

project, author = "bidzoo", "The bidzoo authors"
release = version = bidzoo.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "bidzoo"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "results"]
suppress_warnings = ["myst.xref_missing"]


def setup(app):
    """Write the generated pages before Sphinx looks for sources."""
    app.connect("builder-inited", lambda _: pages.write(Path(__file__).parent))
