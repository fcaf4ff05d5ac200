"""Sphinx settings of the site; `build.py` copies this file next to the collected pages."""

from pathlib import Path
from typing import Any

from deciban import __version__

project = "deciban"
author = "The deciban developers"
copyright = author  # noqa: A001  # what Sphinx calls it
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline"]
suppress_warnings = ["ref.python"]  # words in types of arguments are looked up, and many classes have such an attribute
exclude_patterns: list[str] = []

autodoc_typehints = "none"  # docstrings say types, with shapes and units
autodoc_member_order = "bysource"
# What scikit-learn makes for estimators, in the words of its own site.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_transform_request, set_score_request, set_predict_request, "
    "set_predict_proba_request, set_decision_function_request, n_systems_"
}
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries = False  # hundreds of names in the navigation of every page take half of the time

highlight_language = "text"  # blocks without a language are output of commands

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pictures.css", "cards.css"]  # white background on dark pages; four cards on the home page
html_title = f"deciban {__version__}"
html_search_scorer = str(Path(__file__).with_name("ranks.js"))  # pages before names of the code
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def _is_plumbing(app: object, what: str, name: str, found: object, skip: bool, options: object) -> bool | None:  # noqa: ARG001, FBT001
    """Return True for fields of named tuples, which their class documents."""
    return True if str(getattr(found, "__doc__", "")).startswith("Alias for field number") else None


def setup(app: Any) -> None:
    """Connect the filter of members to Sphinx."""
    app.connect("autodoc-skip-member", _is_plumbing)
