"""From score files to a page: what ``deciban report`` does, from Python."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deciban._files import PathLike, display_name
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.source import require_one_stream, single_files
from deciban.io.writing import plainly_opened, refuse_overwriting
from deciban.models import Model
from deciban.models.score_model import ScoreModel
from deciban.report.rendering import render_page
from deciban.report.tables import Page, Provenance, date_written
from deciban.types import Progress
from deciban.workflows.evaluate import ModelEvaluation, evaluate_model, opened
from deciban.workflows.inputs import Opened, Paths, named_scores, paths_of
from deciban.workflows.model_files import AnyModel, LoadedModel, path_of_model, trained_model
from deciban.workflows.options import Options
from deciban.workflows.partitions import Split
from deciban.workflows.quality import QualityFiles, quality_paths
from deciban.workflows.units import DEFAULT_FOLDS, HoldOut

_WORST = 20
"""Misleading trials that a page lists if nothing is said, of two classes of each."""

_MOST_WORST = 200
"""As many at most: a page of ten systems is to stay below 3 MB."""

PAGE_ENDINGS = (".html", ".htm")
"""How the name of a page ends."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a page is to be about, in the order of the arguments of `report_files`.

    Attributes
    ----------
    scores, key, output, model, quality, train, train_key, train_quality, select, cross_validate, n_folds, title
        See `report_files`.
    typed : str
        What was called, or typed.
    again : tuple of str
        Words of a shell that evaluate the same scores in the same way, where somebody typed all that is needed.
    has_options : bool
        Whether a function was called with options of reading or figures, which these words would lack.
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
    typed: str = "deciban.report_files(...)"
    again: tuple[str, ...] = ()
    has_options: bool = False

    @property
    def command(self) -> tuple[str, ...]:
        """Words of a shell that evaluate the same scores; empty where some are no files or options are not known."""
        if self.again or self.has_options:
            return self.again
        scores = [os.fspath(one) for one in paths_of(self.scores) if isinstance(one, str | os.PathLike)]
        model = path_of_model(self.model)
        if len(scores) < len(paths_of(self.scores)) or (self.model is not None and model is None):
            return ()
        more = {"--key": self.key, "--model": model}
        named = [word for name, path in more.items() if path is not None for word in (name, os.fspath(path))]
        return ("deciban", "eval", *scores, *named)

    def __post_init__(self) -> None:
        """Refuse to write onto an input, under the name of what is no page or at no date, and to read a stream twice.

        Raises
        ------
        InputError
        """
        date_written()
        train = paths_of(self.train) if self.train else ()
        read = single_files([*paths_of(self.scores), self.key, *train, self.train_key, path_of_model(self.model)])
        require_one_stream(read)
        refuse_overwriting([self.output], [*read, *quality_paths(self.quality), *quality_paths(self.train_quality)])
        ending = Path(os.fspath(self.output)).suffix.casefold()
        if ending not in PAGE_ENDINGS and os.fspath(self.output) != "-":
            raise InputError(
                f"output: '{display_name(self.output)}' should end in {' or '.join(PAGE_ENDINGS)}, for a page is HTML. "
                "Name it so; for pictures alone there are plots."
            )

    @property
    def roles(self) -> dict[str, list[Any]]:
        """The files that are read, by what they are for."""
        return {
            "scores": paths_of(self.scores),
            "key": [self.key],
            "model": [path_of_model(self.model)],
            "quality": quality_paths(self.quality),
            "train": paths_of(self.train) if self.train else [],
            "train-key": [self.train_key],
            "train-quality": quality_paths(self.train_quality),
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
    progress: Progress | None = None,
    **options: Any,
) -> Results[Any]:
    """Evaluate score files into one HTML page with tables and plots, readable offline.

    Parameters
    ----------
    scores, key, model, quality, progress
        As in `deciban.evaluate_files`. With a calibration, everything is shown before and after, with the record of
        training. With a fusion, its systems and the fusion are shown, its weights, and (with ``train``) what each
        system is worth to it.
    output : path
        The page.
    train, train_key, train_quality : optional
        Scores of the same systems on trials of training, their key and quality: both sets stand side by side.
    select : bool
        Whether to show which systems of a fusion help, in which order, on trials of training.
    cross_validate, n_folds : optional
        What that holds out, as in `deciban.train_files`.
    title : str, optional
        Heading of the page.
    **options
        As in `deciban.evaluate_files`; all files are read in the same way.

    Returns
    -------
    Results
        What the page shows of the scores.

    Raises
    ------
    FormatError, KeyMismatchError, InputError, OSError
        As in `deciban.evaluate_files`, or if the page would replace an input.
    TypeError
        If an option is none.

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
    request = ReportRequest(
        named,
        key,
        output,
        model,
        quality,
        train,
        train_key,
        train_quality,
        select,
        cross_validate,
        n_folds,
        title,
        has_options=bool(options),
    )
    return write_report(request, Options.of("report_files", options), progress).results


def write_report(
    request: ReportRequest, options: Options, progress: Progress | None = None, *, files: Opened | None = None
) -> Page:
    """Write the page, whole or not at all, and return what it shows; see `report_files`.

    Parameters
    ----------
    request : ReportRequest
    options : Options
    progress : function, optional
    files : Opened, optional
        Scores and key of the request, where they were opened already.
    """
    refuse_overwriting([request.output], options.files)
    _require_short_list(options)
    held = HoldOut(request.cross_validate, request.n_folds)
    loaded = None if request.model is None else LoadedModel.of(request.model)
    model = None if loaded is None else trained_model(loaded)
    files = files or opened(request.scores, request.key, options)
    chosen = replace(options, kind=files.kind_name(options))
    if chosen.worst is None and files.is_at_hand:
        chosen = replace(chosen, worst=_WORST)
    if loaded is not None:
        trained_model(loaded, chosen.kind)
    _refuse_what_fusions_take(request, model)
    of_training = {"train_key": request.train_key, "train_quality": request.train_quality, "select": request.select}
    if not request.train and (name := next((name for name, given in of_training.items() if given), None)):
        raise InputError(f"{name}: is about training scores. Name them (train=, --train), or leave it out.")
    has_train = isinstance(request.train, str) or bool(request.train)
    own = chosen.lenient() if has_train else chosen
    test = evaluate_model(model, files, own, quality=request.quality, progress=progress)
    results, before = _before_and_after(model, test.results)
    sure = chosen.how_sure
    page = Page(
        results=results,
        before=before,
        model=model,
        title=request.title,
        level=sure.level if sure.intervals else None,
        command=request.command,
    )
    if has_train:
        trained_on = opened(request.train, request.train_key, chosen).in_order_of(test.results.classes)
        quality = request.quality if request.train_quality is None else request.train_quality
        how: Any = {"quality": quality, "of_training": True, "progress": progress}
        every = replace(
            chosen.of_systems(test.renamed).lenient_on_units(), split=Split(), worst=0
        )  # conditions are those of the test
        train = evaluate_model(model, trained_on, every, **how)
        results, before = _before_and_after(model, train.results)
        page = replace(page, train=results, train_before=before)
        if model is not None and model.is_fusion:
            page = _with_worth(page, test, train, held if request.select else None, progress)
    if progress is not None:
        progress("hashing files")
    page = replace(page, provenance=Provenance.of({**request.roles, "units": sure.files}, request.typed))
    text = render_page(page)
    with plainly_opened(request.output) as stream:
        stream.write(text.encode())
    return page


def _require_short_list(options: Options) -> None:
    if isinstance(options.worst, int) and options.worst > _MOST_WORST:
        raise InputError(
            f"worst: got {options.worst:,}, and a page lists {_MOST_WORST} trials of each class at most. Ask for "
            "fewer, or list them all as a table (deciban eval --worst) or as JSON (--json with it)."
        )


def _refuse_what_fusions_take(request: ReportRequest, model: ScoreModel | None) -> None:
    if model is not None and model.is_fusion and model.scores_kind == "two-class":
        return
    given = {"select": request.select, "quality": request.quality is not None or request.train_quality is not None}
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{name}: is for fusions of two classes. Name one as the model (--model), or leave it out.")


def _before_and_after(model: ScoreModel | None, results: Results[Any]) -> tuple[Results[Any], Results[Any] | None]:
    """What stands in the first table, and before it: the systems of a fusion of two classes stand beside the fusion."""
    before = results.before
    if model is None or before is None or not model.is_fusion or results.kind == "classes":
        return results, before
    conditions = (*before.conditions, *results.conditions)
    return replace(results, systems=(*before.systems, *results.systems), before=None, conditions=conditions), None


def _with_worth(
    page: Page, test: ModelEvaluation, train: ModelEvaluation, held: HoldOut | None, progress: Progress | None
) -> Page:
    """A page with what each system is worth to a fusion, and which of them help."""
    from deciban.workflows.model_files import selected  # all of training
    from deciban.workflows.training_rows import Compared, rows_of_model

    assert isinstance(page.model, ScoreModel)  # noqa: S101  # which is a fusion, as who calls this has seen
    model, every, say = page.model, Compared(*train.trials), progress or (lambda _words: None)
    figures = rows_of_model(model, every, Compared(*test.trials), say)
    selection = None if held is None else selected(every.source, model, held, every.options, say)
    return replace(page, figures=figures, selection=selection)
