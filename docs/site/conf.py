"""Sphinx reads this for the site; tools/docs-site calls it and sets the three variables."""
import os
import sys

project = "photonrail"
version = release = os.environ["PHOTONRAIL_VERSION"]
extensions = ["myst_parser"]
if os.environ.get("PHOTONRAIL_PYTHON"):  # the folder of the module that was built
    sys.path.insert(0, os.environ["PHOTONRAIL_PYTHON"])
    extensions.append("sphinx.ext.autodoc")
    autodoc_member_order = "bysource"
source_suffix = {".md": "markdown"}
exclude_patterns = ["site", "examples", "notebooks"]
myst_heading_anchors = 4  # what GitHub makes of a heading is what a link may name
html_theme = "furo"
html_title = f"photonrail {version}"
html_extra_path = [os.environ["PHOTONRAIL_CPP_REFERENCE"]]  # reference/cpp/, by doxygen
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
suppress_warnings = ["misc.highlighting_failure"]  # JSON that leaves a part out


def show_code_as_code(app, what, name, obj, options, lines):
    """An indented block after a blank line of a docstring is code, as readers of help() take it; reStructuredText wants a "::"
    before it, or joins its lines."""
    shown = []
    for i, line in enumerate(lines):
        begins = line.startswith("    ") and i >= 2 and not lines[i - 1].strip() and not lines[i - 2].startswith("    ")
        if begins and not lines[i - 2].rstrip().endswith("::"):
            shown += ["::", ""]
        shown.append(line)
    lines[:] = shown


def setup(app):
    if "sphinx.ext.autodoc" in extensions:
        app.connect("autodoc-process-docstring", show_code_as_code)
