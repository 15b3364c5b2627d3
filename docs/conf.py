"""Sphinx configuration: MyST pages, furo theme; pages for environments come from their module docstrings."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pages

import bidzoo

project, author, copyright = "bidzoo", "The bidzoo authors", "the bidzoo authors, MIT licence"
release = version = bidzoo.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_mock_imports = ["ray"]  # of bidzoo.wrappers.rllib, which has an environment of its own
html_theme = "furo"
html_static_path, html_css_files = ["_static"], ["tables.css"]
html_title = f"bidzoo {bidzoo.__version__}"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "results"]
suppress_warnings = ["myst.xref_missing"]


ARRAY = re.compile(r"~?numpy\.ndarray\[.*?dtype\[~?numpy\.(\w+)\]\]")


def shorten(app, what, name, obj, options, signature, returns):
    """``Array[int8]`` for NumPy's long way to say it."""
    return tuple(text and ARRAY.sub(r"Array[\1]", text) for text in (signature, returns))


def setup(app):
    """Write the generated pages before Sphinx looks for sources; signatures that one can read."""
    app.connect("builder-inited", lambda _: pages.write(Path(__file__).parent))
    app.connect("autodoc-process-signature", shorten)
