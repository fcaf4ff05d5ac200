"""Two-class scores: one number for each trial, which is a target or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deciban import errors
from deciban._arrow import pc
from deciban._validate.classes import like_posteriors, target_prior
from deciban.core.resampling.units import TrialUnits, UnitFacts
from deciban.errors import WARNING, InputError, KeyMismatchError, Message, counted, in_lines, not_none, option
from deciban.evaluation import Evaluation, TwoClassMetrics
from deciban.evaluation.metrics import METRICS, information_priors, keys_of
from deciban.evaluation.two_class.evaluate import evaluation_of, summary_of_labelled
from deciban.evaluation.uncertainty import MetricKey, Resampling
from deciban.io.columns.headers import labels_option, words_in_options
from deciban.io.formats import ContentKind, Contents, by_name
from deciban.io.reader import Input, read_input
from deciban.io.recognition import Recognized, readable_as
from deciban.io.units import logliks_of_likelihoods, logs_of_probabilities
from deciban.metrics.scores import FACTORS
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassKey, ClassScores, Key, Scores, Trials
from deciban.trials.joining.join import refuse_conflicts
from deciban.trials.joining.matching import Aligned, align_incomplete, align_systems
from deciban.trials.lists import PAIR, Lookup
from deciban.trials.sources import Batch, Engine, TrialSource
from deciban.trials.units import notes_on_speakers, speakers_of
from deciban.types import BoolArray, FloatArray, IntArray, PathLike, ScoreUnit
from deciban.workflows import kinds
from deciban.workflows.options import MetricOptions, Options, Reading

if TYPE_CHECKING:
    from deciban._validate.arrays import Vocabulary
    from deciban.engines.units import UnitsFound


def read_two_columns(file: Recognized, *, unit: ScoreUnit | None, prior: object = None) -> Input | None:
    """Read a file with scores of two classes, and return the score of the target class minus that of the other class.

    The difference of two log-likelihoods is the log-likelihood ratio; a constant added to both cancels out.

    Parameters
    ----------
    file : Recognized
        Its label words define the target class.
    unit : {"nats", "log10", "lr"}, optional
        Unit of the scores; logarithms of likelihoods are taken before the difference.
    prior : float, optional
        The scores are probabilities of the two classes with this prior of a target. They become log-likelihood ratios,
        exactly even if one of them rounds to 1.

    Returns
    -------
    Input or None
        None if the file does not contain class scores, or can also be read as scores of two-class systems.

    Raises
    ------
    FormatError, OSError
    InputError
        If there are more classes, the target class is unknown, or both scores of a segment are the same infinite
        number.
    """
    if readable_as(file, ("scores", "class-scores")) != ("class-scores",):
        return None
    result = read_input(file, need="class-scores")
    scores = not_none(result.contents.class_scores, "class_scores")
    vocabulary = file.files[0].options.vocabulary
    target = _target(scores, vocabulary)
    names = scores.classes[target], scores.classes[1 - target]
    notes: list[str | Message] = [f"scores of class {names[0]} minus scores of class {names[1]}"]
    if prior is not None:
        p_target = target_prior(prior, "probabilities")
        in_order = (p_target, 1.0 - p_target) if target == 0 else (1.0 - p_target, p_target)
        scores = logs_of_probabilities(scores, in_order)
    elif unit == "lr":
        scores = logliks_of_likelihoods(scores)
    elif like_posteriors(scores.score):
        words = (
            "the scores of each segment sum to 1: are they probabilities? Then their difference is not a "
            f"log-likelihood ratio: add the prior of a target in them ({option(probabilities='PRIOR')})"
        )
        notes.append(Message(WARNING, result.contents.origin.name, words))
    differences = Scores(scores.trials, _differences(scores, target), scores.name, unit == "log10", unit == "lr")
    key = result.contents.class_key
    truth = None if key is None else _key(key, vocabulary)
    own = replace(result.contents, class_scores=None, class_key=None, systems=(differences,), key=truth)
    changed = replace(own, notes=(*own.notes, *notes), from_probabilities=prior is not None)
    return Input(changed, result.format)


def refuse_two_columns(file: Recognized) -> None:
    """Refuse class scores in two files of targets and of non-targets.

    Raises
    ------
    InputError
    """
    if any(readable_as(one, ("scores", "class-scores")) == ("class-scores",) for one in file.sides or ()):
        raise InputError(
            f"{errors.display_name(file.path)}: contains scores of classes, but one of two files, of targets or of "
            f"non-targets, must contain one score for each trial. Name its column ({option(columns=...)}); "
            f"or, for the difference of two columns ({option(kind='two-class')}), name one file and its key."
        )


def read_two_classes(file: Recognized) -> Input | None:
    """Read a key with two classes as a key of targets and non-targets.

    Returns
    -------
    Input or None
        None if the file contains no true classes, or can also be read as a key of targets.

    Raises
    ------
    FormatError, OSError
    InputError
        If the target class is unknown.
    """
    if readable_as(file, ("key", "class-key")) != ("class-key",):
        return None
    result = read_input(file, need="class-key")
    key = not_none(result.contents.class_key, "class_key")
    own_key = _key(key, file.files[0].options.vocabulary)
    words = {name: bool(own_key.is_target[key.label == at].any()) for at, name in enumerate(key.classes)}
    changed: Contents = replace(result.contents, class_key=None, key=own_key, words=words)
    return replace(result, contents=changed)


def _target(scores: ClassScores, vocabulary: Vocabulary) -> int:
    """Return the index of the target class."""
    name, classes = scores.trials.origin.name, scores.classes
    if len(classes) != 2:
        raise InputError(
            f"{name}: has scores of {len(classes)} classes, but {option(kind='two-class')} needs two. Name the column "
            f"of the target class ({option(columns=...)}), or evaluate all classes ({option(kind='classes')})."
        )
    known = vocabulary.within(classes)
    meanings = [known.meaning(one) for one in classes]
    if sorted(map(str, meanings)) != ["False", "True"]:
        raise InputError(_unknown(name, classes))
    return meanings.index(True)


def _unknown(name: str, classes: Sequence[str]) -> str:
    return (
        f"{name}: it is unknown which class is the target: {' or '.join(classes[:4])}. Set it "
        f"({labels_option('CLASS', 'CLASS')}):{in_lines(words_in_options(classes))}"
    )


def _differences(scores: ClassScores, target: int) -> FloatArray:
    """Return the score of the target class minus that of the other class."""
    tar: FloatArray = scores.score[:, target].astype(np.float64)
    non: FloatArray = scores.score[:, 1 - target].astype(np.float64)
    alike = np.isinf(tar) & (tar == non)
    if alike.any():
        row = int(np.argmax(alike))
        raise InputError(
            f"{scores.trials.origin.where(row)}: both classes of {scores.trials.name_of(row)} have the score "
            f"{tar[row]:g}, so their difference is undefined ({np.count_nonzero(alike):,} such segments). Correct the "
            "scores, or leave these segments out."
        )
    with np.errstate(over="ignore"):
        difference: FloatArray = tar - non
    beyond = np.isinf(difference) & np.isfinite(tar) & np.isfinite(non)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(f"{scores.trials.origin.where(row)}: the difference of its scores exceeds the largest float.")
    return difference


def _key(key: ClassKey, vocabulary: Vocabulary) -> Key:
    """Return a class key as a key of targets and non-targets."""
    occurring = [name for at, name in enumerate(key.classes) if np.any(key.label == at)]
    known = vocabulary.within(occurring)
    meanings = {name: known.meaning(name) for name in occurring}
    if None in meanings.values():
        raise InputError(_unknown(key.trials.origin.name, occurring))
    means_target = np.array([bool(meanings.get(name)) for name in key.classes], np.bool_)
    return Key(key.trials, means_target[key.label])


_DELIMITED = {",": "table", "\t": "tsv"}

_ALL_ONCE = 0.9
"""If the share of distinct names is at least this, names are assumed not to identify speakers."""


def _names_occur_once(n_units: int, n_tar: int, n_non: int) -> bool:
    """Return True if nearly every trial has its own names, so that names do not identify speakers."""
    return n_units >= _ALL_ONCE * (n_tar + 2 * n_non)


class TwoClass(kinds.Kind[Scores, Key, Aligned]):
    """Scores of targets and non-targets; a system has one score for each trial."""

    name = "two-class"
    noun = "trial"
    need = "scores"
    units_of_files = True
    need_of_key = "key"
    has_ties = compares_systems = has_thresholds = has_trial_costs = True
    output = "llrs"
    about, other = "two-class", "multiclass"
    other_reading = ("classes", "posterior_prior", "detection_llr")
    metrics = TwoClassMetrics

    @property
    def way_out(self) -> str:
        """See `Kind.way_out`."""
        second, kind = option(columns="score=2"), option(kind="two-class")
        ways = f"if the file has one ({second} for the second column of a matrix); or, for the difference of scores"
        return f" Name the column of the scores, {ways} of two classes, pass {kind}."

    def read_classes(self, file: Recognized, reading: Reading, need: ContentKind | None) -> Input | None:
        """Return the input if its columns or labels are two named classes; otherwise None."""
        if reading.from_classes and file.sides is not None:
            refuse_two_columns(file)
        elif reading.from_classes and need in (None, "scores"):
            return read_two_columns(file, unit=reading.unit, prior=reading.probabilities)
        elif reading.from_classes and need == "key":
            return read_two_classes(file)
        return None

    def systems_of(self, contents: Contents, reading: Reading) -> list[Scores]:
        """Return the scores of each system in an input: probabilities as llrs, or negated on request."""
        if reading.negate:
            return [one.negated() for one in contents.systems]
        if reading.probabilities is None or contents.from_probabilities:
            return list(contents.systems)
        return [logs_of_probabilities(one, reading.probabilities) for one in contents.systems]

    def unit_messages(self, systems: Sequence[Scores], reading: Reading) -> list[Message]:
        """Return messages about conversions of the units of scores, and contradictions to declared units."""
        more = kinds.messages_on_declared_ratios(systems, negated=reading.negate)
        return [*super().unit_messages(systems, reading), *more]

    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """Return the prior of a target."""
        return repr(target_prior(reading.probabilities, "probabilities"))

    def key_of(self, contents: Contents, reading: Reading, first: Scores) -> Key:
        """Return the truth in an input."""
        if contents.key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} contains no labels. Name a file with labels "
                f"({option(key='FILE')}), or two score files, of targets and of non-targets "
                f"({option(tar='FILE', non='FILE')}; or {option(same='FILE', different='FILE')})."
            )
        return contents.key

    def align(
        self, systems: Sequence[Scores], key: Key, reading: Reading, *, incomplete: bool = False
    ) -> Sequence[Aligned]:
        """Return the scores of every trial of a key."""
        align = align_incomplete if incomplete else partial(align_systems, missing=reading.missing)
        return align(systems, key, duplicates=reading.duplicates, by_order=reading.by_order, ids=reading.renaming)

    def truth_of(self, aligned: Aligned) -> BoolArray:
        """Return whether trials are targets."""
        return not_none(aligned.is_target, "is_target")

    def in_nats(self, scores: Scores, reading: Reading) -> Scores:
        """Return scores as natural logarithms."""
        return scores.in_nats()

    def units_unasked(self, batch: Batch, key: Batch) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """Return speakers, found from target trials; if names do not identify speakers, every trial as a unit."""
        trials, mask = not_none(key.trials, "trials"), key.is_counted
        if trials.sides[:2] != PAIR:
            return super().units_unasked(batch, key)
        result, truth = speakers_of(trials, key.labels, mask), key.labels if mask is None else key.labels[mask]
        n_tar = int(np.count_nonzero(truth))
        if _names_occur_once(result.units.n_units, n_tar, len(truth) - n_tar):
            return super().units_unasked(batch, key)
        if key is batch:
            return result.units, notes_on_speakers(result.by_name, result.units.keys, result.n_contradictions)
        units = result.units.take(not_none(Lookup(not_none(batch.trials, "trials")).find(trials).rows, "rows"))
        some = slice(None) if batch.is_counted is None else batch.is_counted
        facts = UnitFacts.of_partition(units.take(some), batch.labels[some])
        return units.among(facts.keys), notes_on_speakers(result.by_name, facts.keys, facts.n_contradictions)

    def units_unasked_of_source(self, source: TrialSource, engine: Engine) -> UnitsFound | None:
        """Return speakers; None if every trial is a unit, as for trials in memory."""
        from deciban.engines.units import UnitsFound, look_at_units, speakers_by_batch

        if source.sides[:2] != PAIR:
            return None
        facts, by_name = speakers_by_batch(replace(source, partitions=source.of_key or source.partitions), engine)
        if _names_occur_once(len(facts.keys), *(facts.trials_of(c) for c in (1, 0))):
            return None
        if source.of_key:
            (facts,) = look_at_units(source, engine, [by_name])
        return UnitsFound(facts, by_name, notes_on_speakers(by_name, facts.keys, facts.n_contradictions))

    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Return the names of the classes with their codes: targets have 1."""
        return [("targets", 1), ("non-targets", 0)]

    def evaluate(
        self,
        trials: kinds.PartlyScoredTrials,
        metrics: MetricOptions,
        classes: Sequence[str],
        name: str,
        resampling: Resampling | None = None,
    ) -> Evaluation:
        """Evaluate scores of labelled trials."""
        summary = summary_of_labelled(*trials, metrics=self.checked(metrics), resampling=resampling)
        return evaluation_of(summary, name=name, resampling=resampling)

    def n_evaluated(self, evaluation: Evaluation) -> int:
        """Return the number of targets and non-targets."""
        return int(evaluation.n_tar + evaluation.n_non)

    def evaluate_batches(self, units: kinds.CountedUnits, options: Options, *, system: int, name: str) -> Evaluation:
        """Evaluate one system of data larger than memory."""
        from deciban.engines.sorting import evaluate_system

        resampling = options.how_sure.resampling(units.units)
        memory = units.engine.bounded(options.scale.n_bytes)
        by_unit = None if resampling is None else (units.of_system(system, memory), resampling)
        compute = partial(evaluate_system, metrics=self.checked(options.metrics), by_unit=by_unit)
        return replace(compute(units.source, units.engine, memory, system=system), name=name)

    def compared_metrics(self, metrics: MetricOptions) -> tuple[MetricKey, ...]:
        """Return the keys of single metrics, of metrics at each operating point, and of misleading evidence."""
        checked = checked_metrics(metrics)
        n_points, n_priors = len(checked.operating_points), len(information_priors(checked.thresholds))
        places = {"point": n_points, "prior": n_priors, "rule prior": len(checked.rule_priors), "factor": len(FACTORS)}
        return tuple(keys_of(METRICS, self.name, places))

    def on_axis_of(self, scores: Sequence[Scores], metrics: MetricOptions) -> MetricOptions:
        """Return requested metrics; plots use common logarithms if scores do and nothing else is set."""
        if metrics.axis is not None or not all(one.log10 for one in scores):
            return metrics
        return replace(metrics, axis="log10")

    def size(self, scores: Scores) -> str:
        """Return the number of trials with scores, as text."""
        return counted(len(scores.trials), self.noun)

    def counts(self, contents: Contents, key: Key) -> str:
        """Return the number of targets and non-targets with their label words, as text."""
        return replace(contents, key=key).label_counts

    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """Return the number of training targets and non-targets, as text."""
        words = {"n_tar": "target", "n_non": "non-target", "n_spoof": "spoof"}
        return " · ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items())

    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """Return the number of targets and non-targets, as text."""
        n_tar = int(np.count_nonzero(truth))
        return self.counts_in_words({"n_tar": n_tar, "n_non": len(truth) - n_tar})

    def key_messages(self, key: Key, reading: Reading) -> list[Message]:
        """Return messages about selected trials, and a warning about a key with several subsets."""
        messages = super().key_messages(key, reading)
        if "subset" not in key.trials.conditions or (reading.where and "subset" in reading.where):
            return messages
        subsets = pc.unique(key.trials.conditions["subset"]).to_pylist()
        if len(subsets) < 2:
            return messages
        way = option(where={"subset": subsets[0]})
        words = f"contains the subsets {', '.join(map(str, subsets))}; {way} selects one of them"
        return [Message(WARNING, key.trials.origin.name, words), *messages]

    def refuse_contradictions(self, contents: Sequence[Contents], key: Key, reading: Reading) -> None:
        """Refuse labels in score files that contradict the key."""
        for one in contents:
            if one.key is not None:
                _refuse_contradiction(one.key, key, reading)

    def name_after(self, model: ScoreModel, systems: Sequence[str]) -> str:
        """Return the name of the output of a model in results; a calibrated system keeps its name."""
        return super().name_after(model, systems) if model.is_fusion else systems[0]

    def with_trials(self, file: Input, trials: Trials) -> Input:
        """Return an input with some of its trials; its text lines are kept only if each remains and has one score."""
        contents = file.contents
        scored = contents.systems[0].trials
        whole = len(trials) == len(scored)
        if whole and len(contents.systems) == 1:
            return file
        return as_table(file, contents if whole else kinds.of_trials(contents, scored, trials))

    def written(self, file: Input, scores: Scores, target: PathLike, to: str | None, form: kinds.Form) -> list[Message]:
        """Write an input again with llrs, and possibly their bounds."""
        from deciban.io.rewrite import write_rescored  # not needed for evaluations

        return list(write_rescored(file, scores, target, to=to, interval=form.bounds))

    def rescored(self, contents: Contents, scores: Scores, form: kinds.Form) -> tuple[Contents, list[Message]]:
        """Return contents with llrs, and possibly their bounds."""
        from deciban.io.rewrite import natural_logarithms, rescored

        result, messages = rescored(contents, scores, interval=form.bounds)
        return result, [*natural_logarithms(contents), *messages]


def as_table(first: Input, contents: Contents) -> Input:
    """Return other contents in the format of the first input, without its text lines."""
    form = first.format
    if form.name == "table" and first.layout is not None:
        form = by_name(_DELIMITED.get(first.layout.delimiter, form.name))
    return replace(first, contents=contents, format=form, source=None, layout=None)


def checked_metrics(metrics: MetricOptions) -> TwoClassMetrics:
    """Return the requested operating points, or the default, after checking them.

    Raises
    ------
    InputError
        If a point is invalid, or multiclass metrics are requested.
    """
    result: TwoClassMetrics = TWO_CLASS.checked(metrics)
    return result


def _refuse_contradiction(labels: Key, key: Key, reading: Reading) -> None:
    if not reading.by_order:
        refuse_conflicts(labels, key, ids=reading.renaming)
        return
    # Files of different lengths were refused by the join.
    same = len(labels) == len(key)
    rows = np.flatnonzero(labels.is_target != key.is_target) if same else np.empty(0, np.int64)
    if len(rows):
        row = int(rows[0])
        raise KeyMismatchError(
            f"{labels.trials.origin.where(row)}: has another label than {key.trials.origin.where(row)} "
            f"({counted(len(rows), 'such trial')}). The files have different orders, or one of them is wrong."
        )


TWO_CLASS = TwoClass()
