"""Comparisons of the systems of score files, and sample-size planning from the files of a pilot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.analysis.comparison import Against, Comparison, compare_results
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, Message, names_apart, option, refuse, topic_of
from deciban.evaluation.metrics import key_among
from deciban.evaluation.results import Results
from deciban.evaluation.uncertainty import MetricKey
from deciban.trials import Trials
from deciban.trials.classes import ScoreStatistics, ratio_messages
from deciban.trials.lists import PAIR, ROW
from deciban.trials.sources import TrialSource, ordered
from deciban.trials.tables import LOG_10
from deciban.trials.units import side_of, units_of_columns
from deciban.types import AnyArray, PathLike, Progress
from deciban.workflows.evaluate import evaluate_model, evaluate_source
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.kinds.two_class import checked_metrics
from deciban.workflows.options import Options, UncertaintyOptions
from deciban.workflows.reading.inputs import Paths, ScoreFiles, named_scores
from deciban.workflows.reading.units import units_of_batch
from deciban.workflows.spoofing import evaluate_spoofing_files

if TYPE_CHECKING:
    from deciban.analysis.pilots import Pilot, Plan
    from deciban.analysis.planning import TrialsPerSegment
    from deciban.analysis.systems import ScorePairs
    from deciban.biometrics import Zoo
    from deciban.evaluation.breakdowns import Menagerie
    from deciban.evaluation.spoofing import SpoofingResults
    from deciban.models import Model
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.model_files import AnyModel
    from deciban.workflows.reading.quality import QualityFiles


def compare_files(
    scores: Paths | ScoreFiles | None = None,
    key: PathLike | None = None,
    *,
    model: PathLike | Model | None = None,
    quality: QualityFiles | None = None,
    against: Against | str | None = None,
    permutations: int = 0,
    verifier: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Comparison:
    """Compare the systems of score files on the trials of a key that all of them scored.

    Parameters
    ----------
    scores : sequence of paths, or ScoreFiles
        Score files of at least two systems, or of one system with a model.
    key : path, optional
        As in `deciban.evaluate_files`.
    model : path or Model, optional
        Compare scores before and after this model: a calibration with its system, a fusion with each of its systems.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some.
    against : {"all", "first"} or str, optional
        Pairs to compare, as in `deciban.compare`. By default all; with a model, the new scores with each system.
    permutations : int
        As in `deciban.compare`.
    verifier : mapping of str to value, optional
        With a protocol of spoofing: ``asv``, ``asv_key`` or ``asv_errors``, as in `evaluate_spoofing_files`.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `deciban.evaluate_files`, but ``missing`` is ``"drop"`` by default: systems are compared on the trials
        that all of them scored, and ``messages`` contain the number of dropped trials.

    Returns
    -------
    Comparison

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`, or as in `deciban.compare`.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> trials = [(f"m{i}", f"s{j}", int(i == j)) for i in range(5) for j in range(5)]
    >>> _ = (folder / "key.txt").write_text("".join(f"{m} {s} {'non' * (1 - t)}target\\n" for m, s, t in trials))
    >>> for name, slope in (("a", 3), ("b", 1)):
    ...     lines = [f"{m} {s} {slope * t - 1 + 0.1 * k % 1.3:.1f}\\n" for k, (m, s, t) in enumerate(trials)]
    ...     _ = (folder / f"{name}.txt").write_text("".join(lines))
    >>> found = compare_files([folder / "a.txt", folder / "b.txt"], folder / "key.txt")
    >>> str(found.pairs[0]), found.difference("eer").n_units
    ('a − b', 5)
    """
    named, options = named_scores(scores, key, options)
    chosen = Options.of("compare_files", options if "options" in options else {"missing": "drop", **options})
    chosen.scale.refuse("a comparison")
    if not chosen.how_sure.intervals:
        raise InputError(f"intervals: a comparison needs them. Leave {option(intervals=False)} out.")
    chosen = replace(chosen, how_sure=replace(chosen.how_sure, keep=True))
    sure = chosen.how_sure
    differ = partial(compare_results, level=sure.level, permutations=permutations, seed=sure.seed)
    if chosen.plan is not None and chosen.plan.spoofing:
        if model is not None:
            raise InputError("model: not for protocols of spoofing. Compare the llrs of the model (deciban apply).")
        result = evaluate_spoofing_files(named, key, options=chosen, progress=progress, **(verifier or {}))
        return _compared_by_protocol(result, partial(differ, against=against or "all"))
    files, loaded = ScoreFiles.of(named, key, chosen.reading), _trained(model, chosen)
    plan = chosen.plan
    if has_rates := plan is not None and plan.primary == "fnmr_at_fmr":
        chosen = replace(chosen, plan=replace(plan, primary="eer"), metrics=replace(chosen.metrics, fnmr_at=None))
    results = evaluate_model(loaded, files, chosen, quality=quality, progress=progress).results
    if has_rates:
        note = Message("note", "", "FNMR at limits of FMR is not compared: evaluate each system (deciban eval)")
        results = replace(results, messages=(*results.messages, note))
    if loaded is not None and results.before is not None:
        before, (after,) = results.before.systems, results.systems
        name = names_apart([loaded.row_name([one.name for one in before])], [one.name for one in before])[0]
        systems = (*before, replace(after, name=name))
        against = against or (name if len(before) > 1 else "all")
        results = Results(systems, results.join, results.messages)
    texts = (one.text for one in results.messages if isinstance(one, Message))
    notes = " ".join(text for text in texts if topic_of(text) == "no-intervals")
    if notes and any(one.uncertainty is None for one in results.systems):
        raise InputError(notes)
    if progress is not None:
        progress("comparing")
    return differ(results, against=against or "all")


def _compared_by_protocol(results: SpoofingResults, differ: Callable[..., Comparison]) -> Comparison:
    """Compare systems in the metrics of a protocol of spoofing.

    Raises
    ------
    InputError
        If some systems are countermeasures and others single scores.
    """
    if len({one.role for one in results.systems}) > 1:
        names = ", ".join(f"{one.name} ({one.role})" for one in results.systems)
        raise InputError(f"scores: systems of two roles have no common metrics: {names}. Compare systems of one role.")
    measures = [{name: one.metrics[name] for name in results.shown(one)} for one in results.systems]
    result = differ(results.results, measures=measures)
    return replace(result, notes=(*result.notes, *results.remarks))


def require_metrics(names: Sequence[str], kind: AnyKind, options: Options, argument: str) -> None:
    """Refuse names of metrics that no evaluation with these options has, before evaluating.

    Parameters
    ----------
    names : sequence of str
        For example ``"eer"``, or ``"min_dcf@2"`` at the second operating point.
    kind : Kind
        Kind of the scores.
    options : Options
    argument : str
        Argument with the names, for the message.

    Raises
    ------
    InputError

    Examples
    --------
    >>> from deciban.workflows.kinds import kind_called
    >>> from deciban.workflows.options import Options
    >>> options = Options.of("compare_files", {"operating_points": [0.1, 0.5]})
    >>> require_metrics(["eer", "min_dcf@2"], kind_called("two-class"), options, "metric")
    """
    known = kind.compared_metrics(options.metrics)
    for name in names:
        key_among(known, name, f"{kind.about} scores that has an interval", argument)


def _trained(model: AnyModel | None, options: Options) -> ScoreModel | None:
    """Return a trained model for scores of the given kind; None without a model."""
    if model is None:
        return None
    from deciban.workflows.model_files import trained_model

    return trained_model(model, options.kind)


def menageries_of(
    files: ScoreFiles, options: Options, progress: Progress | None = None
) -> tuple[list[Menagerie], tuple[Message, ...]]:
    """Return the mean scores of the speakers of every system, and messages about inputs and assumptions.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are multiclass, or units are unknown; or as in
        `deciban.evaluation.menagerie`.
    """
    from deciban.evaluation.breakdowns import menagerie

    source, units, messages = _with_speakers(files, options, progress)
    batch, scores = source.held, zip(source.systems, _in_units_of_files(source), strict=True)
    systems = [menagerie(one, batch.labels, units, sample_weight=batch.weight, name=name) for name, one in scores]
    return systems, messages


def zoo_of(files: ScoreFiles, options: Options, progress: Progress | None = None) -> tuple[Zoo, tuple[Message, ...]]:
    """Return goats, lambs and wolves of a system, and messages about inputs and assumptions.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `menageries_of`; or if there are several systems or trials do not have two sides.
    """
    from deciban.biometrics import zoo

    source, units, messages = _with_speakers(files, options, progress)
    batch = source.held
    if len(units.codes) < 2 or batch.trials is None or batch.trials.sides[:2] != PAIR:
        raise InputError("units: goats, lambs and wolves need a speaker on each side of a trial (enroll, test).")
    if len(source.systems) > 1:
        raise InputError(f"scores: got {len(source.systems)} systems ({', '.join(source.systems)}). Name one.")
    names: AnyArray = np.empty(units.n_units, np.object_)
    # A speaker is called by the first reference, or by a probe without one.
    for side, codes in zip(reversed(PAIR), reversed(units.codes), strict=True):
        own, first = np.unique(codes, return_index=True)
        of_side, called = side_of(batch.trials, side)
        names[own] = [str(called[int(k)]) for k in of_side[first]]
    named = names.astype(str)
    scores, sides = _in_units_of_files(source)[0], [named[codes] for codes in units.codes]
    return replace(zoo(scores, batch.labels, *sides, level=options.how_sure.level), name=source.systems[0]), messages


def _with_speakers(
    files: ScoreFiles, options: Options, progress: Progress | None
) -> tuple[TrialSource, TrialUnits, tuple[Message, ...]]:
    """Return the trials of a plot of speakers with their units, and messages."""
    source = _of_two_classes(files, options, progress)
    source, messages = units_of_batch(source, options.how_sure, kind_called("two-class"))
    if source.held.units is None:
        result = "; ".join(one.text for one in messages).rstrip(".") or "no units"
        raise InputError(f"units: a zoo plot shows speakers: {result}. Name the units ({option(units=...)}).")
    return source, source.held.units, (*source.messages, *messages)


def score_pairs_of(
    files: ScoreFiles, options: Options, *, model: AnyModel | None = None, progress: Progress | None = None
) -> tuple[ScorePairs, tuple[Message, ...]]:
    """Return the scores of two systems in pairs, and messages about inputs and assumptions.

    With a fusion of both systems, matched by their names in training, there is a line for each operating point.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are multiclass; or as in `deciban.analysis.score_pairs`.
    """
    from deciban.analysis.systems import score_pairs

    source, messages = _of_two_classes(files, options, progress), list[Message]()
    loaded = _trained(model, options)
    if loaded is not None:
        from deciban.workflows.model_files import order_of_training

        order, messages = order_of_training(source.systems, loaded.trained_systems, loaded.n_systems_)
        source = ordered(source, systems=order)
    batch = source.held
    points = checked_metrics(options.metrics).operating_points
    compute = partial(score_pairs, names=source.systems, model=loaded, operating_points=points)
    result = compute(np.column_stack(_in_units_of_files(source)), batch.labels, sample_weight=batch.weight)
    return result, (*source.messages, *messages)


def _of_two_classes(files: ScoreFiles, options: Options, progress: Progress | None) -> TrialSource:
    source = files.as_source(options, progress)
    if source.classes:
        raise InputError("scores: multiclass. This plot is for targets and non-targets.")
    return source


def _in_units_of_files(source: TrialSource) -> list[AnyArray]:
    """Return the scores of each system, in common logarithms if the file has this unit."""
    pairs = zip(source.held.scores, source.units, strict=True)
    return [scores / LOG_10 if unit == "log10" else scores for scores, unit in pairs]


def plan_files(
    scores: Paths | ScoreFiles | None = None,
    key: PathLike | None = None,
    *,
    metric: MetricKey | None = None,
    width: float | None = None,
    difference: float | None = None,
    relative: bool = False,
    power: float = 0.8,
    segments: Iterable[float] | None = None,
    trials_per_segment: TrialsPerSegment = None,
    progress: Progress | None = None,
    **options: object,
) -> Plan:
    """Plan an evaluation from the score files of a pilot: numbers of speakers and trials for a required precision.

    Parameters
    ----------
    scores : path, sequence of one or two paths, or ScoreFiles
        Scores of one system, or of two systems to plan for their difference.
    key : path, optional
        As in `deciban.evaluate_files`.
    metric, width, difference, relative, power, segments, trials_per_segment
        As in `deciban.plan`. Segments are the names on the sides of the trials. By default the metric is the EER;
        multiclass Cllr.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `deciban.evaluate_files`, including ``units`` and ``level``, but no other options of intervals.

    Returns
    -------
    Plan

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files` and `deciban.plan`.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.io import write_demo
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (first, _), key = write_demo(folder)
    >>> found = plan_files(first, key, width=0.01)
    >>> found.pilot.n_units, found.pilot.noun, found.pilot.n_segments
    (100, 'speaker', 6.0)
    >>> found.designs[0].reached <= 0.01 and found.designs[0].n_units > 100
    True
    """
    from deciban.analysis.planning import Goal, plan_of_pilot  # not needed for comparisons

    named, options = named_scores(scores, key, options)
    chosen = Options.of("plan_files", options)
    make = partial(Goal, width=width, difference=difference, segments=segments, trials_per_segment=trials_per_segment)
    goal = make(relative=relative, level=chosen.how_sure.level, power=power)
    chosen.scale.refuse("a plan")
    _refuse_other_options(chosen.how_sure)
    source = ScoreFiles.of(named, key, chosen.reading).as_source(chosen, progress)
    if len(source.systems) > 2:
        raise InputError(
            f"scores: got {len(source.systems)} systems ({', '.join(source.systems)}). Plan for one system, or for the "
            "difference of two."
        )
    if progress is not None:
        progress("computing components of variance")
    kind = kind_called(source.kind_name())
    metric = kind.compared_metrics(chosen.metrics)[0] if metric is None else metric
    pilot, messages = _pilot(source, kind, chosen, metric)
    return replace(plan_of_pilot(pilot, goal), messages=messages)


def _refuse_other_options(how_sure: UncertaintyOptions) -> None:
    """Refuse options of intervals that do not affect a plan.

    Raises
    ------
    InputError
    """
    other = replace(how_sure, units=None, level=LEVEL)
    values = (one.name for one in fields(UncertaintyOptions) if getattr(other, one.name) != one.default)
    refuse(values, "is not used by a plan, which needs only the variance between units. Leave it out.")


def _pilot(
    source: TrialSource, kind: AnyKind, options: Options, metric: MetricKey
) -> tuple[Pilot, tuple[Message, ...]]:
    """Return the pilot with the components of variance of a metric, and messages about assumptions."""
    from deciban.analysis.pilots import pilot_of_evaluations, pilot_of_trials

    if not kind.has_trial_costs:
        results = evaluate_source(source, options)
        first, *others = results.systems
        result = pilot_of_evaluations(first, others[0] if others else None, metric)
        return result, tuple(one for one in results.messages if isinstance(one, Message))
    kind.require_trials(source.held.labels, ())
    source, messages = units_of_batch(source, replace(options.how_sure, intervals=True), kind)
    batch = source.held
    units, weight, truth, trials = batch.units, batch.weight, batch.labels, batch.trials
    if units is None or trials is None:
        raise InputError(f"units: {' '.join(one.text for one in messages) or 'there are none'}")
    counts = np.ones(len(truth), np.bool_) if weight is None else np.asarray(weight > 0)
    some = [counts & truth, counts & ~truth]
    named = _segments_of(trials, units)
    pilot = pilot_of_trials(
        [(one[some[0]], one[some[1]]) for one in batch.scores],
        (units.take(some[0]), units.take(some[1])),
        None if named is None else (named.take(some[0]), named.take(some[1])),
        metric=metric,
        names=source.systems,
        metrics=checked_metrics(kind.on_axis_of([source], options.metrics)),
        weights=(None, None) if weight is None else (weight[some[0]], weight[some[1]]),
    )
    looks = map(ScoreStatistics.of_llrs, batch.scores)
    return pilot, (*source.messages, *messages, *ratio_messages(zip(source.systems, looks, strict=True)))


def _segments_of(trials: Trials, units: TrialUnits) -> TrialUnits | None:
    """Return the segments of trials by name; the same name on both sides is one segment, unless its units differ."""
    if trials.sides == ROW:
        return None
    sides = trials.sides[:2] if trials.sides[:2] == PAIR else trials.sides[:1]
    columns = [side_of(trials, side) for side in sides]
    result = units_of_columns(columns, noun="segment", source="names of trials")
    if len(columns) == 1:
        return result
    owner = []
    for codes, own in zip(result.codes, (units.codes[0], units.codes[-1]), strict=True):
        owner.append(np.full(result.n_units, -1))
        owner[-1][codes] = own
    on_both = (owner[0] >= 0) & (owner[1] >= 0)
    if np.array_equal(owner[0][on_both], owner[1][on_both]):
        return result
    return units_of_columns(columns, apart=True, noun="segment", source="names of trials")
