"""Results in notebooks: a table with small pictures below it, and the whole page inside a frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from deciban import plots
from deciban.evaluation.results import Results
from deciban.io.writing import plainly_opened, refuse_overwriting
from deciban.report.page import picture
from deciban.report.rendering import render

_SMALL = {"two-class": ("det", "bayes_error"), "classes": ("class_losses", "c_avg_curve"), "comparison": ("forest",)}
"""Pictures below a table, by kind of results: of all systems in one."""

_WIDTH = "24em"


@dataclass(frozen=True, slots=True)
class Exploration:
    """A page inside a notebook.

    Attributes
    ----------
    page : str
        HTML that needs nothing else.
    height : int
        Of the frame, in pixels.
    """

    page: str = field(repr=False)
    height: int

    def _repr_html_(self) -> str:
        """A frame that holds the page, whose scripts see nothing of the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="deciban report" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #bbb"></iframe>'
        )

    def save(self, path: Any) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : path
        """
        refuse_overwriting([path], [])
        with plainly_opened(path) as stream:
            stream.write(self.page.encode())


def explore(results: Any, *, title: str | None = None, height: int = 720) -> Exploration:
    """Show the page of results inside a notebook; see `deciban.evaluation.Results.explore`.

    Parameters
    ----------
    results : Results, Evaluation, ClassEvaluation or Comparison
    title : str, optional
    height : int
        Of the frame, in pixels.

    Returns
    -------
    Exploration
        What notebooks show as a frame, and what can be saved as a file.

    Raises
    ------
    InputError
        If there is nothing that a page could show.

    Examples
    --------
    >>> import deciban
    >>> explore(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), height=500)
    Exploration(height=500)
    """
    one = results.results if results.kind == "comparison" else results
    return Exploration(render(one, title=title), height)


def shown(result: Any) -> str:
    """The table of a result with small pictures below it, as HTML.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or Comparison
    """
    table: str = result.table("html")
    systems = result.systems if isinstance(result, Results) else (result,)
    if not systems:
        return table
    drawn = (
        picture(getattr(plots, name)(result), (name.replace("_", " "), ""), "", "") for name in _SMALL[result.kind]
    )
    images = "".join(
        f'<img src="{one["source"]}" alt="{escape(one["title"])}" style="width: {_WIDTH}; background: #fff">'
        for one in drawn
    )
    return f'{table}\n<div style="display: flex; flex-wrap: wrap; gap: 1em">{images}</div>'
