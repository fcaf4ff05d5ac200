"""A fusion trained on the score files of several systems and a key, and what it is worth beside them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from deciban.analysis import Selection, select_systems
from deciban.core.ranks.operating import PointLike
from deciban.errors import InputError, MissingScoresError
from deciban.evaluation.two_class import DEFAULT_POINTS
from deciban.fusion import LinearFusion, QualityFusion
from deciban.fusion.quality_measures import KINDS, Kind
from deciban.io.source import PathLike
from deciban.trials import SegmentQuality
from deciban.types import Progress
from deciban.workflows.combination import Combined, Selected, combination_of
from deciban.workflows.fused_figures import Fused, figures_of
from deciban.workflows.fusers import Fuser, measures_needed, takes_incomplete
from deciban.workflows.fusion_trials import FusionTrials
from deciban.workflows.held_out import DEFAULT_FOLDS, HoldOut
from deciban.workflows.joined import Reading
from deciban.workflows.measures import QualityFiles, read_measures
from deciban.workflows.training import tell_training


def fuse_files(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None,
    fusion: Fuser | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    quality: QualityFiles | None = None,
    measures: Selected | None = None,
    combine: Combined | None = None,
    cross_validate: int | str | tuple[str, str] | None = None,
    n_folds: int = DEFAULT_FOLDS,
    select: bool = False,
    test_scores: Sequence[PathLike] | PathLike | None = None,
    test_key: PathLike | None = None,
    test_quality: QualityFiles | None = None,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> Fused:
    """Train a fusion on the score files of several systems and a key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files, of one system each or of several; see `deciban.read_scores`. No file twice.
    key : path or None
        Which trials are targets; None if the first score file holds labels.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        What to train; a copy is, it stays as it is. The default is ``QualityFusion()`` if there is quality, else
        ``LinearFusion()``. For ``SubsetFusion(missing="subset")`` the systems need not have scored the same trials:
        ``missing`` has no meaning then.
    operating_points : iterable
        As in `deciban.evaluate`: where detection costs are compared.
    quality : path, or mapping of side to path, optional
        Quality measures by name. HDF5 and MATLAB files hold those of both sides; text files those of segments, which
        belong to every side whose names they know. ``{"enroll": path, "test": path}`` are one file for each, and
        ``{"trial": path}`` is for trials that have one name. Trials of names without measures are counted, and fused by
        scores alone.
    measures : sequence of str, or mapping of side to such, optional
        Names of the quality measures to take, or their numbers from 1; all of them if left out.
    combine : matrix, path, or mapping of side to such, optional
        Makes few measures out of many: one row for each new one, with weights of those that are taken (BOSARIS paper,
        section 2.7). A file of text holds such rows of numbers. The model remembers it: `deciban.apply_files` takes
        the file of all measures.
    cross_validate, n_folds
        As in `deciban.calibrate_files`: how to fuse every trial by a model that has not seen its like, as well.
    select : bool
        Whether to take only systems that help; see `deciban.analysis.select_systems`. Trials are held out as
        ``cross_validate`` says, by all their names if it says nothing.
    test_scores, test_key : optional
        Scores of the same systems on other trials, and their key: everything is evaluated on these, too. The systems
        have the same names, or are in the same order.
    test_quality : path, or mapping of side to path, optional
        Quality measures of these trials, if ``quality`` does not hold them.
    progress : function, optional
        Called with a few words at every step.
    **reading
        How files are read and joined; see `deciban.workflows.read_joined`. With ``weights``, trials count that much in
        training, selection, cross-validation and all figures; those of a ``test_key`` without that column count alike.

    Returns
    -------
    Fused

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.workflows.read_joined` and the ``fit`` of the fusion, or if test files are no such systems.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "a,3,1", "b,1,1", "c,2,1", "d,-1,0", "e,1.5,0", "f,0,0"
    >>> _ = (folder / "A.csv").write_text("\\n".join(("trial,score,label", *rows)))
    >>> _ = (folder / "B.txt").write_text("f -1\\na 1\\nb 2\\nc -0.5\\nd 0.5\\ne 0\\n")
    >>> done = fuse_files([folder / "A.csv", folder / "B.txt"], None, LinearFusion(ridge=0.1))
    >>> done.model.training_.systems, done.model.weights_.round(2)
    (('A', 'B'), array([0.85, 0.72]))
    >>> [(row.name, round(row.dev.cllr, 2)) for row in done.analysis.rows]
    [('A', 0.64), ('B', 0.82), ('fusion', 0.5)]
    """
    say = progress or (lambda _words: None)
    model = _copied(fusion, with_quality=quality is not None)
    measured = None if quality is None else read_measures(quality)
    how: _How = {"incomplete": takes_incomplete(model), "progress": progress}
    with _subsets_told(model):
        read = FusionTrials.read(scores, key, reading, measured=measured, **how)
    model, combining = _combining(model, read, measured, measures, combine)
    held_out = None if cross_validate is None else HoldOut(cross_validate, n_folds)
    selection = selection_of(model, read, held_out or HoldOut(n_folds), say) if select else None
    chosen = tuple(sorted(selection.systems)) if selection else tuple(range(len(read.systems)))
    dev = read.choose(chosen)
    say(f"training on {', '.join(dev.systems)}")
    model.system_names = dev.systems
    with dev.with_names():
        dev.labelled.fit(model)
    tell_training(model, dev.systems, reading.get("weights"))
    crossed = None
    if held_out is not None:
        say("cross-validating")
        folds: dict[str, Any] = {"groups": held_out.groups(dev.scores.trials), "n_folds": held_out.parts}
        with dev.with_names():
            crossed = dev.labelled.cross_validated(model, **folds)
    others = every = None
    if test_scores is not None:
        other = measured if test_quality is None else read_measures(test_quality)
        sides = measures_needed(model) or None
        lenient: Reading = {**reading, "weights_required": False}
        others = FusionTrials.read(test_scores, test_key, lenient, measured=other, sides=sides, **how)
        every = others.ordered_as(read.systems)
        others = every.choose(chosen)
        with others.with_names():
            others.counting.data.transform(model)  # figures would refuse the same trials, without their names
    say("evaluating")
    points = list(operating_points)
    figures = figures_of(model, dev, others, crossed, points).with_left_out(model, read, every, chosen, points)
    facts = (*dev.all_facts(), *combining)
    if held_out is not None:
        facts += (held_out.fact(dev.scores.trials, "fuses"),)
    if others is not None:
        facts += ("other trials", *others.all_facts())
    llr = None if crossed is None else dev.with_scores(crossed, "fusion")
    return Fused(model, chosen, figures, selection, llr, dev.joined.report, facts)


@contextmanager
def _subsets_told(model: Fuser) -> Iterator[None]:
    """Name one more way out where systems lack scores of trials."""
    try:
        yield
    except MissingScoresError as error:
        if isinstance(model, QualityFusion):
            raise
        way = "Or train a fusion for every set of systems: SubsetFusion(missing='subset') (--missing subset)."
        raise MissingScoresError(f"{error} {way}") from error


class _How(TypedDict):
    """How all trials of one call are read."""

    incomplete: bool
    progress: Progress | None


def selection_of(model: Fuser, read: FusionTrials, held_out: HoldOut, say: Progress) -> Selection:
    """Choose systems on the trials that all of them scored."""
    whole = read.take(read.data.complete).counting
    if not whole.labelled.has_both_classes:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so that these cannot be compared. "
            "Leave the system out that lacks most."
        )
    with whole.with_names():
        found = select_systems(
            whole.data.scores,
            whole.labelled.is_target,
            fusion=model,
            names=read.systems,
            groups=held_out.groups(whole.scores.trials),
            n_folds=held_out.parts,
            sample_weight=whole.labelled.weight,
            quality=whole.data.quality or None,
            progress=say,
        )
    return replace(found, held_out=held_out.words(whole.scores.trials))


def _combining(
    model: Fuser,
    read: FusionTrials,
    measured: Mapping[Kind, SegmentQuality] | None,
    measures: Selected | None,
    combine: Combined | None,
) -> tuple[Fuser, list[str]]:
    """The fusion with measures chosen and combined as files call them; and what is to be said about it."""
    if measures is None and combine is None:
        return model, []
    if measured is None or not isinstance(model, QualityFusion):
        raise InputError("measures, combine: are about quality measures. Name their file (--quality FILE).")
    used = {kind: measured[kind] for kind in KINDS if f"{kind}_quality" in read.data.quality}
    setting, facts = combination_of(used, measures, combine)
    return QualityFusion(**{**model.settings, "combine": setting}), facts


def _copied(fusion: Fuser | None, *, with_quality: bool) -> Fuser:
    if fusion is None:
        return QualityFusion() if with_quality else LinearFusion()
    if isinstance(fusion, QualityFusion) != with_quality:
        raise InputError(
            f"quality: given, but {type(fusion).__name__} takes none. Leave it out, or pass QualityFusion()."
            if with_quality
            else "quality: none given, but QualityFusion is there to take it. Name its file, or pass LinearFusion()."
        )
    return copy.deepcopy(fusion)
