"""Pages from results, and from score files: the implementation of ``deciban report``, and its Python function."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from deciban import plots
from deciban._files import read_short_text
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError, display_name, option
from deciban.evaluation.one_system import OneSystem
from deciban.evaluation.results import Results
from deciban.io.source import require_one_stream, single_files
from deciban.io.writing import refuse_overwriting, write_plainly
from deciban.models import Model
from deciban.models.score_model import ScoreModel
from deciban.report.tables import Page, Provenance, date_written, level_of
from deciban.types import PathLike, Progress
from deciban.workflows.evaluate import ModelEvaluation, evaluate_model
from deciban.workflows.options import Options, Split
from deciban.workflows.reading.inputs import Opened, Paths, named_scores, opened, paths_of
from deciban.workflows.reading.units import DEFAULT_FOLDS, HoldOut

if TYPE_CHECKING:
    from deciban.analysis import FusionMetrics, Selection
    from deciban.analysis.comparison import Comparison
    from deciban.evaluation.saved import SavedSystem
    from deciban.workflows.model_files import AnyModel
    from deciban.workflows.reading.quality import QualityFiles


_WORST = 20
"""Default number of misleading trials on a page; for two classes, of each class."""

_MOST_WORST = 200
"""Largest number of misleading trials, so that a page of ten systems stays below 3 MB."""

_MOST_NOTE = 500_000
"""Largest note, in bytes."""

PAGE_ENDINGS = (".html", ".htm")
"""File name extensions of pages."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """Arguments of a page, in the order of `report_files`.

    Attributes
    ----------
    scores, key, output, model, quality, train, train_key, train_quality, select, cross_validate, n_folds
        See `report_files`.
    title, author, note, baseline, link
        See `report_files`.
    verifier : mapping
        See `report_files`.
    typed : str
        The command or function call.
    again : tuple of str
        Shell words that evaluate the same scores in the same way, if the command line contained everything.
    has_options : bool
        True if a function was called with options that these words would lack.
    """

    scores: Paths
    key: PathLike | None
    output: PathLike
    model: AnyModel | None = None
    quality: QualityFiles | None = None
    train: Paths = field(default=())
    train_key: PathLike | None = None
    train_quality: QualityFiles | None = None
    select: bool = False
    cross_validate: int | str | tuple[str, str] = DEFAULT_FOLDS
    n_folds: int = DEFAULT_FOLDS
    title: str | None = None
    author: str | None = None
    note: PathLike | None = None
    baseline: PathLike | None = None
    link: str | None = None
    typed: str = "deciban.report_files(...)"
    again: tuple[str, ...] = ()
    has_options: bool = False
    verifier: Mapping[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> tuple[str, ...]:
        """Shell words that evaluate the same scores; empty if some are no files or options are unknown."""
        if self.again or self.has_options:
            return self.again
        scores = [os.fspath(one) for one in paths_of(self.scores) if isinstance(one, str | os.PathLike)]
        model = _path_of(self.model)
        if len(scores) < len(paths_of(self.scores)) or (self.model is not None and model is None):
            return ()
        more = {"key": self.key, "model": model}
        named = [word for name, path in more.items() if path is not None for word in (f"--{name}", os.fspath(path))]
        return ("deciban", "eval", *scores, *named)

    def __post_init__(self) -> None:
        """Refuse to overwrite an input, to write a page with another extension or date, and to read a stream twice.

        Raises
        ------
        InputError
        """
        date_written()
        train = paths_of(self.train) if self.train else ()
        others = [self.train_key, _path_of(self.model), self.note, self.baseline]
        read = single_files([*paths_of(self.scores), self.key, *train, *others])
        require_one_stream(read)
        refuse_overwriting([self.output], [*read, *_measures(self.quality), *_measures(self.train_quality)])
        ending = Path(os.fspath(self.output)).suffix.casefold()
        if ending not in PAGE_ENDINGS and os.fspath(self.output) != "-":
            raise InputError(
                f"output: '{display_name(self.output)}' must end in {' or '.join(PAGE_ENDINGS)}, because a page is "
                "HTML. For pictures only, use plots."
            )

    def texts(self) -> dict[str, Any]:
        """Return title, author, note, link and earlier results of the page.

        Raises
        ------
        FormatError, InputError, OSError
            If the note is not text, or the baseline is not saved results.
        """
        note = None if self.note is None else read_short_text(self.note, _MOST_NOTE)
        baseline: tuple[SavedSystem, ...] = ()
        if self.baseline is not None:
            from deciban.evaluation.saved import read_saved  # loads on request

            baseline = tuple(read_saved(self.baseline))
        return {"title": self.title, "author": self.author, "note": note, "link": self.link, "baseline": baseline}

    @property
    def roles(self) -> dict[str, list[Any]]:
        """The input files by role."""
        return {
            "scores": paths_of(self.scores),
            "key": [self.key],
            "model": [_path_of(self.model)],
            "quality": _measures(self.quality),
            "train": paths_of(self.train) if self.train else [],
            "train-key": [self.train_key],
            "train-quality": _measures(self.train_quality),
            "asv": [self.verifier.get("asv")],
            "asv-key": [self.verifier.get("asv_key")],
            "note": [self.note],
            "baseline": [self.baseline],
        }


def report_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    output: PathLike = "report.html",
    *,
    model: PathLike | Model | None = None,
    quality: QualityFiles | None = None,
    train: Paths = (),
    train_key: PathLike | None = None,
    train_quality: QualityFiles | None = None,
    select: bool = False,
    cross_validate: int | str | tuple[str, str] = DEFAULT_FOLDS,
    n_folds: int = DEFAULT_FOLDS,
    title: str | None = None,
    author: str | None = None,
    note: PathLike | None = None,
    baseline: PathLike | None = None,
    link: str | None = None,
    verifier: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Results[Any]:
    """Evaluate score files and write one HTML page with tables and plots, readable offline.

    Parameters
    ----------
    scores, key, model, quality, progress
        As in `deciban.evaluate_files`. With a calibration, the page shows results before and after, and the record of
        training. With a fusion, it shows the systems and the fusion, its weights, and (with ``train``) the contribution
        of each system.
    output : path
        The page.
    train, train_key, train_quality : optional
        Scores of the same systems on training trials, with their key and quality: the page shows both sets.
    select : bool
        Show which systems of a fusion help, in order of their contribution, on the training trials.
    cross_validate, n_folds : optional
        Held-out data for the selection, as in `deciban.train_files`.
    title, author : str, optional
        Heading of the page, and the author below it.
    note : path, optional
        Markdown text to show on the page, for example intended use, data and limitations.
    baseline : path, optional
        Results of an earlier run, as ``deciban eval --json`` prints them. The page shows the differences.
    link : str, optional
        Address of the recording or image of a trial, with columns in braces: ``"https://host/{test}.wav"``.
    verifier : mapping of str to value, optional
        With a protocol of spoofing: ``asv``, ``asv_key`` or ``asv_errors``, as in `evaluate_spoofing_files`.
    **options
        As in `deciban.evaluate_files`; all files are read in the same way.

    Returns
    -------
    Results
        Results that the page shows.

    Raises
    ------
    FormatError, KeyMismatchError, InputError, OSError
        As in `deciban.evaluate_files`, or if the page would replace an input.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,score,label\\na,2.5,1\\nb,1,1\\nc,-0.5,0\\nd,1.5,0\\n")
    >>> results = report_files(path, output=path.with_suffix(".html"), title="Four trials")
    >>> "<h1>Four trials</h1>" in path.with_suffix(".html").read_text("utf-8"), results.systems[0].n_tar
    (True, 2)
    """
    named, options = named_scores(scores, key, options)
    inputs = named, key, output, model, quality, train, train_key, train_quality, select, cross_validate, n_folds
    texts = title, author, note, baseline, link
    request = ReportRequest(*inputs, *texts, has_options=bool(options), verifier=verifier or {})
    return write_report(request, Options.of("report_files", options), progress).results


def write_report(
    request: ReportRequest, options: Options, progress: Progress | None = None, *, files: Opened | None = None
) -> Page:
    """Write the page atomically, and return its content; see `report_files`.

    Parameters
    ----------
    request : ReportRequest
    options : Options
    progress : function, optional
    files : Opened, optional
        Scores and key of the request, if already open.
    """
    refuse_overwriting([request.output], options.files)
    _require_short_list(options)
    held = HoldOut(request.cross_validate, request.n_folds)
    loaded, model = None, None
    if request.model is not None:
        from deciban.workflows.model_files import LoadedModel, trained_model  # loads all of training

        loaded = LoadedModel.of(request.model)
        model = trained_model(loaded)
    files = files or opened(request.scores, request.key, options)
    chosen = replace(options, kind=files.kind_name(options))
    if chosen.worst is None and files.is_at_hand:
        chosen = replace(chosen, worst=_WORST)
    if loaded is not None:
        trained_model(loaded, chosen.kind)
    _refuse_what_fusions_take(request, model)
    of_training = {"train_key": request.train_key, "train_quality": request.train_quality, "select": request.select}
    if not request.train and (name := next((name for name, value in of_training.items() if value), None)):
        raise InputError(f"{name}: needs training scores. Name them ({option(train=...)}), or leave it out.")
    has_train = isinstance(request.train, str) or bool(request.train)
    own = chosen.lenient() if has_train else chosen
    test = evaluate_model(model, files, own, quality=request.quality, progress=progress)
    results, before = _before_and_after(model, test.results)
    sure = chosen.how_sure
    level = sure.level if sure.intervals else None
    page = Page(results=results, before=before, model=model, level=level, command=request.command, **request.texts())
    if has_train:
        trained_on = opened(request.train, request.train_key, chosen).in_order_of(test.results.classes)
        quality = request.quality if request.train_quality is None else request.train_quality
        # Conditions are those of the test.
        every = replace(chosen.of_systems(test.renamed).lenient_on_units(), split=Split(), worst=0)
        train = evaluate_model(model, trained_on, every, quality=quality, of_training=True, progress=progress)
        results, before = _before_and_after(model, train.results)
        page = replace(page, train=results, train_before=before)
        if model is not None and model.is_fusion:
            page = _with_worth(page, model, (test, train), held if request.select else None, progress)
    page = _with_spoofing(page, request, chosen, progress)
    if progress is not None:
        progress("hashing files")
    page = replace(page, provenance=Provenance.of({**request.roles, "units": sure.files}, request.typed))
    write_plainly(request.output, render_page(page))
    return page


def _with_spoofing(page: Page, request: ReportRequest, chosen: Options, progress: Progress | None) -> Page:
    """Return a page with the results of a protocol of spoofing, if that is the preset."""
    if chosen.plan is not None and chosen.plan.spoofing and page.model is None:
        from deciban.workflows.spoofing import evaluate_spoofing_files  # loads on request

        make = partial(evaluate_spoofing_files, options=replace(chosen, worst=None), progress=progress)
        return replace(page, spoofing=make(request.scores, request.key, **request.verifier))
    if request.verifier:
        raise InputError("asv: is for protocols of spoofing, without a model. Leave it out.")
    return page


def _path_of(model: AnyModel | None) -> PathLike | None:
    """Return the file of a model."""
    if model is None or isinstance(model, str | os.PathLike):
        return model
    from deciban.workflows.model_files import path_of_model  # loads all of training

    return path_of_model(model)


def _measures(quality: QualityFiles | None) -> list[PathLike]:
    """Return the files of quality measures."""
    if quality is None:
        return []
    from deciban.workflows.reading.quality import quality_paths  # loads all of training

    return quality_paths(quality)


def _require_short_list(options: Options) -> None:
    if isinstance(options.worst, int) and options.worst > _MOST_WORST:
        raise InputError(
            f"worst: got {options.worst:,}, but a page lists at most {_MOST_WORST} trials of each class. Use a smaller "
            "number, or list all trials in a table or in JSON (deciban eval)."
        )


def _refuse_what_fusions_take(request: ReportRequest, model: ScoreModel | None) -> None:
    if model is not None and model.is_fusion and model.scores_kind == "two-class":
        return
    entries = {"select": request.select, "quality": request.quality is not None or request.train_quality is not None}
    for name in (name for name, is_given in entries.items() if is_given):
        raise InputError(f"{name}: is for two-class fusions. Name one ({option(model=...)}), or leave it out.")


def _before_and_after(model: ScoreModel | None, results: Results[Any]) -> tuple[Results[Any], Results[Any] | None]:
    """Return the results, and the results before the model; a two-class fusion is listed with its systems."""
    before = results.before
    if model is None or before is None or not model.is_fusion or results.kind == "classes":
        return results, before
    conditions = (*before.conditions, *results.conditions)
    return replace(results, systems=(*before.systems, *results.systems), before=None, conditions=conditions), None


def _with_worth(
    page: Page, model: ScoreModel, of: Sequence[ModelEvaluation], out: HoldOut | None, progress: Progress | None
) -> Page:
    """Return a page with the contribution of each system to a fusion, and with the selection of systems."""
    from deciban.workflows.model_files import selected  # loads all of training
    from deciban.workflows.train.rows import Compared, rows_of_model

    (test, every), say = (Compared(*one.trials) for one in of), progress or (lambda _words: None)
    metrics = rows_of_model(model, every, test, say)
    selection = None if out is None else selected(every.source, model, out, every.options, say)
    return replace(page, metrics=metrics, selection=selection)


_ABOUT = {"two-class": "two-class", "classes": "multiclass"}


Evaluated: TypeAlias = Results[Any] | OneSystem | Sequence[OneSystem]
"""Results, an evaluation, or several."""


def render(
    results: Evaluated,
    *,
    title: str | None = None,
    message_lines: Sequence[str] = (),
    train: Evaluated | None = None,
    before: Evaluated | None = None,
    train_before: Evaluated | None = None,
    model: Model | None = None,
    metrics: FusionMetrics | None = None,
    selection: Selection | None = None,
) -> str:
    """Render results as one HTML page that works offline and without scripts.

    Parameters
    ----------
    results : Results, Evaluation or ClassEvaluation, or sequence of evaluations
        The systems of the page, two-class or multiclass, with the counts of their join.
    title : str, optional
        Heading of the page; by default, the names of the systems.
    message_lines : sequence of str
        Lines on input files and assumptions; by default, those of ``results``.
    train : Results or evaluations, optional
        The same systems on the training trials, shown next to ``results``.
    before, train_before : Results or evaluations, optional
        The same before calibration; for multiclass also before fusion. By default ``results.before``.
    model : Model, optional
        The calibration or fusion model; the page shows its settings, its parameters and the record of training.
    metrics : FusionMetrics, optional
        Metrics of a fusion and its systems, on training trials and optionally on others.
    selection : Selection, optional
        Systems of a two-class fusion in order of their contribution.

    Returns
    -------
    str
        The page. The same results give the same page.

    Raises
    ------
    InputError
        If there is no system in ``results``, an object has another type, kinds are mixed, or numbers of systems differ.

    Examples
    --------
    >>> import deciban
    >>> page = render(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="sysA"), title="First try")
    >>> "<h1>First try</h1>" in page, "16.67 %" in page
    (True, True)
    """
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
        metrics=metrics,
        selection=selection,
        level=level_of(shown.systems) or LEVEL,
    )
    return render_page(page)


def render_page(page: Page) -> str:
    """Write a page; see `render`."""
    if not page.results.systems:
        raise InputError("results: no system to report on.")
    _require_one_kind(page)
    if page.results.kind == "classes":
        from deciban.report.multiclass import multiclass_page as written
    else:
        from deciban.report.page import two_class_page as written
    text = written(replace(page, message_lines=page.message_lines or page.results.message_lines))
    # File names that are not valid Unicode contain lone surrogates, which no file can contain.
    return text.encode("utf-8", "replace").decode("utf-8")


def _as_results(value: object, name: str) -> Results[Any]:
    """Return arguments as Results."""
    if isinstance(value, Results):
        return value
    systems = tuple(value) if isinstance(value, list | tuple) else (value,)
    for one in systems:
        if not hasattr(one, "kind") or not hasattr(one, "to_dict") or not hasattr(one, "notes"):
            raise InputError(
                f"{name}: got {type(one).__name__}. Pass the result of evaluate, evaluate_classes or evaluate_files."
            )
    return Results(systems)


def _require_model(model: object, kind: str) -> None:
    """Refuse objects that are no models, and models for scores of the other kind."""
    if model is None:
        return
    if not isinstance(model, Model):
        raise InputError(f"model: got {type(model).__name__}. Pass the model: deciban.load_model reads its file.")
    if isinstance(model, ScoreModel) and model.scores_kind != kind:
        raise InputError(
            f"model: a model of kind {model.kind!r} is for {_ABOUT[model.scores_kind]} scores, but the results are "
            f"{_ABOUT[kind]}. Leave it out."
        )
    model.require_fitted()


def _require_one_kind(page: Page) -> None:
    """Refuse two-class and multiclass systems on one page, since they cannot be compared."""
    for name in ("results", "before", "train", "train_before"):
        shown: Results[Any] | None = getattr(page, name)
        for one in () if shown is None else shown.systems:
            if one.kind != page.results.kind:
                raise InputError(
                    f"{name}: {one.name} is {_ABOUT[one.kind]}, but {page.results.systems[0].name} is "
                    f"{_ABOUT[page.results.kind]}. Write a page for each kind of scores."
                )


render_classes = render
"""Another name of `render`."""


_SMALL = {"two-class": ("det", "bayes_error"), "classes": ("class_losses", "c_avg_curve"), "comparison": ("forest",)}
"""Plots below a table, by kind of results; each shows all systems."""

_WIDTH = "24em"


@dataclass(frozen=True, slots=True)
class Exploration:
    """A page inside a notebook.

    Attributes
    ----------
    page : str
        A standalone HTML page.
    height : int
        Height of the frame in pixels.
    """

    page: str = field(repr=False)
    height: int

    def _repr_html_(self) -> str:
        """Return a frame with the page, whose scripts have no access to the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="deciban report" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #bbb"></iframe>'
        )

    def save(self, path: PathLike) -> None:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : path
        """
        refuse_overwriting([path], [])
        write_plainly(path, self.page)


def explore(results: Any, *, title: str | None = None, height: int = 720) -> Exploration:
    """Show the page of results inside a notebook; see `deciban.evaluation.Results.explore`.

    Parameters
    ----------
    results : Results, Evaluation, ClassEvaluation or Comparison
    title : str, optional
    height : int
        Height of the frame in pixels.

    Returns
    -------
    Exploration
        Notebooks show it as a frame; it can be saved as a file.

    Raises
    ------
    InputError
        If there is nothing to show.

    Examples
    --------
    >>> import deciban
    >>> explore(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), height=500)
    Exploration(height=500)
    """
    one = results.results if results.kind == "comparison" else results
    return Exploration(render(one, title=title), height)


def shown(result: OneSystem | Results[Any] | Comparison) -> str:
    """Return the table of a result with small plots below it, as HTML.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or Comparison
    """
    from deciban.report.scripts import picture  # loads matplotlib

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
