"""Results of either kind as an HTML page, in a file or in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from deciban import plots
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.writing import plainly_opened, refuse_overwriting

if TYPE_CHECKING:
    from deciban.analysis import FusionFigures, Selection
    from deciban.models import Model
    from deciban.report.tables import Page


_ABOUT = {"two-class": "two classes", "classes": "many classes"}


def render(
    results: Any,
    *,
    title: str | None = None,
    message_lines: Sequence[str] = (),
    train: Any = None,
    before: Any = None,
    train_before: Any = None,
    model: Model | None = None,
    figures: FusionFigures | None = None,
    selection: Selection | None = None,
) -> str:
    """Write results as one HTML page that needs nothing else: no network, no other files, and works without scripts.

    Parameters
    ----------
    results : Results, Evaluation or ClassEvaluation, or sequence of evaluations
        The systems to report on, of two classes or of many, and how their trials were joined.
    title : str, optional
        Heading of the page; by default it names the systems.
    message_lines : sequence of str
        Lines that say what was read and assumed; by default those of ``results``.
    train : Results or evaluations, optional
        The same systems on the trials of training: shown side by side with ``results``.
    before, train_before : Results or evaluations, optional
        The same before calibration; of many classes also before fusion. By default ``results.before``.
    model : Model, optional
        What calibrated or fused the scores: the page shows its settings, its parameters and how training went.
    figures : FusionFigures, optional
        What a fusion is worth beside its systems, on its trials of training and maybe on others.
    selection : Selection, optional
        Which of the systems of a fusion of two classes help, in which order.

    Returns
    -------
    str
        The page. The same results give the same page.

    Raises
    ------
    InputError
        If there is no system in ``results``, it is something else, some are of two classes and some of many, or the
        others do not have as many.

    Examples
    --------
    >>> import deciban
    >>> page = render(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="sysA"), title="First try")
    >>> "<h1>First try</h1>" in page, "16.67 %" in page
    (True, True)
    """
    from deciban.report.tables import Page

    shown = _as_results(results, "results")
    _require_model(model, shown.kind)
    page = Page(
        results=shown,
        title=title,
        message_lines=tuple(message_lines),
        train=None if train is None else _as_results(train, "train"),
        before=shown.before if before is None else _as_results(before, "before"),
        train_before=None if train_before is None else _as_results(train_before, "train_before"),
        model=model,
        figures=figures,
        selection=selection,
        level=_level_of(shown),
    )
    return render_page(page)


def render_page(page: Page) -> str:
    """Write a page; see `render`."""
    if not page.results.systems:
        raise InputError("results: there is no system to report on.")
    _require_one_kind(page)
    if page.results.kind == "classes":
        from deciban.report.multiclass import multiclass_page as written
    else:
        from deciban.report.page import two_class_page as written
    text = written(replace(page, message_lines=page.message_lines or page.results.message_lines))
    # File names that are no Unicode reach us with half characters, which no file could hold.
    return text.encode("utf-8", "replace").decode("utf-8")


def _as_results(given: Any, name: str) -> Results[Any]:
    """Results out of what a user passed."""
    if isinstance(given, Results):
        return given
    systems = tuple(given) if isinstance(given, list | tuple) else (given,)
    for one in systems:
        if not hasattr(one, "kind") or not hasattr(one, "to_dict") or not hasattr(one, "notes"):
            raise InputError(
                f"{name}: got {type(one).__name__}. Pass what evaluate, evaluate_classes or evaluate_files returned."
            )
    return Results(systems)


def _level_of(results: Results[Any]) -> float:
    """The level of the intervals of results, for what else has some."""
    levels = [one.uncertainty.level for one in results.systems if one.uncertainty is not None]
    return levels[0] if levels else LEVEL


def _require_model(model: Any, kind: str) -> None:
    """Refuse what has no parameters to show, or is for scores of the other kind."""
    if model is None:
        return
    from deciban.models import Model
    from deciban.models.score_model import ScoreModel

    if not isinstance(model, Model):
        raise InputError(f"model: got {type(model).__name__}. Pass the model: deciban.load_model reads its file.")
    if isinstance(model, ScoreModel) and model.scores_kind != kind:
        raise InputError(
            f"model: a model of kind {model.kind!r} is for {_ABOUT[model.scores_kind]}, but the results are of "
            f"{_ABOUT[kind]}. Leave it out."
        )
    model.require_fitted()


def _require_one_kind(page: Page) -> None:
    """Refuse systems of two classes beside systems of many: nothing that a page shows could be compared."""
    for name in ("results", "before", "train", "train_before"):
        shown: Results[Any] | None = getattr(page, name)
        for one in () if shown is None else shown.systems:
            if one.kind != page.results.kind:
                raise InputError(
                    f"{name}: {one.name} is of {_ABOUT[one.kind]}, and {page.results.systems[0].name} of "
                    f"{_ABOUT[page.results.kind]}. A page is about one kind of scores: write a page for each."
                )


render_classes = render
"""Another name of `render`."""


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
    from deciban.report.scripts import picture  # loads matplotlib, which the rest of this module does without

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
