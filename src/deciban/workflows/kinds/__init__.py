"""The two kinds of scores, two-class and multiclass: the steps that differ between them, units, and detection."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from deciban import errors
from deciban._lazy import registered
from deciban._validate.arrays import like_probabilities
from deciban._validate.classes import Prior, logarithms_of_ratios
from deciban.core.resampling.units import TrialUnits
from deciban.errors import WARNING, InputError, Message, counted, either, names_apart, negation_note, option, refuse
from deciban.evaluation.uncertainty import MetricKey, Resampling
from deciban.io import Contents
from deciban.io import units as unit_conversion
from deciban.io.columns.headers import UNIT_WORDS
from deciban.io.formats import ContentKind
from deciban.io.reader import Input, read_input, read_two_files
from deciban.io.recognition import TRUTHS, Recognized, is_stream, kind_shown, readable_as, recognize
from deciban.io.units import of_probabilities
from deciban.models.model import Bounds
from deciban.models.score_model import ScoreModel
from deciban.trials import Aligned, AlignedClasses, ClassKey, ClassScores, JoinReport, Key, Scores, Trials
from deciban.trials.classes import ScoreStatistics, ratio_messages
from deciban.trials.lists import Lookup
from deciban.trials.sources import Batch, Engine, TrialSource
from deciban.trials.units import units_of_trials
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, KindName, PathLike, Progress
from deciban.workflows.options import MetricOptions, Options, Reading

if TYPE_CHECKING:
    from deciban.engines.class_problems import UnitsAndStrata
    from deciban.engines.units import UnitsFound
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.two_class.summary import TrialsByUnit

PROBABILITIES = "probabilities"
"""Key in the record of training for the prior in scores that were probabilities."""


NEGATE = "negate"
"""Key in the record of training for negated scores; missing if they were not negated."""


UNIT = "unit"
"""Key in the record of training for the unit of the scores."""


UNDECLARED = "undeclared"
"""Unit of scores without a declared unit: natural logarithms, or any scores."""


_FLAGS = {"lr": "lr", "log10": "log10", "detection-llr": "detection_llr"}
"""Arguments that declare a unit."""


def _in_words(unit: str) -> str:
    """Return the name of a unit, and how the user declares it."""
    words = {
        "lr": f"likelihood ratios ({option(lr=True)}, or a column called lr)",
        "log10": f"common logarithms ({option(log10=True)}, or a format or column that declares them)",
        "detection-llr": f"detection llrs ({option(detection_llr=True)})",
        "probabilities": f"probabilities ({option(probabilities='PRIOR')})",
        "log-posteriors": f"log posteriors ({option(posterior_prior='PRIOR')})",
        UNDECLARED: "scores without a declared type",
    }
    return words.get(unit, unit)


def unit_in_words(reading: Reading, units: Sequence[str]) -> str:
    """Return the unit of scores for the record of training.

    Parameters
    ----------
    reading : Reading
        Options with the declared unit.
    units : sequence of unit
        Units of two-class systems; empty for multiclass scores.

    Returns
    -------
    str
        One word; if systems differ, one for each system, separated by commas.

    Examples
    --------
    >>> from deciban.workflows import Reading
    >>> unit_in_words(Reading(), ["lr", "nats"]), unit_in_words(Reading(log10=True), ())
    ('lr,undeclared', 'log10')
    """
    if reading.probabilities is not None:
        return "probabilities"
    if reading.posterior_prior is not None:
        return "log-posteriors"
    if reading.detection_llr:
        return "detection-llr"
    items = [UNDECLARED if one == "nats" else one for one in units or (reading.unit or "nats",)]
    return items[0] if len(set(items)) == 1 else ",".join(items)


def units_of(systems: Iterable[Any]) -> list[str]:
    """Return the units of two-class scores in files; empty for multiclass scores (declared by the user)."""
    return [one.unit for one in systems if isinstance(one, Scores)]


def read_as(scores: AnyScores) -> str:
    """Return the unit of scores for the message about reading, unless the message contains it."""
    words = UNIT_WORDS[scores.unit] if isinstance(scores, Scores) else ""
    return "" if words in scores.trials.origin.reading else words


def record(reading: Reading, units: Sequence[str], prior: str | None) -> dict[str, Any]:
    """Return the units of training scores and the prior of probabilities for the record of training."""
    entries: dict[str, Any] = {UNIT: unit_in_words(reading, units)}
    if reading.negate:
        entries[NEGATE] = True
    return entries if prior is None else entries | {PROBABILITIES: prior}


def require_same_unit(model: ScoreModel, reading: Reading, units: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another unit than in training.

    Parameters
    ----------
    model : ScoreModel
        Models of earlier versions have no unit in their record, and accept all scores.
    reading : Reading
    units : sequence of unit
        Units of the systems, as in `unit_in_words`.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(UNIT)
    value = unit_in_words(reading, units)
    if not isinstance(trained, str) or trained == value:
        return
    own, others = (" and ".join(map(_in_words, names.split(","))) for names in (trained, value))
    if trained in _FLAGS and value == UNDECLARED:
        way = f"Add {option(**{_FLAGS[trained]: True})} if these scores have the same type"
    elif value in _FLAGS and trained == UNDECLARED:
        way = f"Leave {option(_FLAGS[value])} out if these scores have the type of the training scores"
    else:
        way = "Declare the type of the training scores"
    raise InputError(f"The model was trained on {own}, but these are {others}. {way}, or train another model.")


def require_same(model: ScoreModel, value: str | None, *, negate: bool = False) -> None:
    """Refuse to apply a model to probabilities or negated scores if the training scores were not, or the reverse.

    Parameters
    ----------
    model : ScoreModel
    value : str or None
        Prior of these scores, in the form of the record of training.
    negate : bool
        Whether these scores are negated.

    Raises
    ------
    InputError
    """
    negated = model.training_ is not None and model.training_.results.get(NEGATE) is True
    if negated and not negate:
        raise InputError(
            "negate: the model was trained on negated scores, for which lower scores favour targets. Add "
            f"{option(negate=True)}, or train another model."
        )
    if negate and not negated:
        raise InputError(
            "negate: the model was trained on scores that were not negated. Leave it out, or train with it."
        )
    trained = None if model.training_ is None else model.training_.results.get(PROBABILITIES)
    if trained == value:
        return
    if trained is None:
        raise InputError(
            "probabilities: given, but the model was trained on scores that were not declared as probabilities. Leave "
            "it out, or train with it."
        )
    way = either("probabilities=...", f"--probabilities {trained}")
    now = "these scores are not declared as such" if value is None else f"these have the prior {value}"
    raise InputError(
        f"probabilities: the model was trained on probabilities with the prior {trained}, and {now}. Apply it to "
        f"scores like the training scores: name their prior ({way}), or train another model."
    )


_LOG_10 = math.log(10.0)


def in_nats(score: AnyArray, classes: Sequence[str], reading: Reading) -> AnyArray:
    """Convert scores to natural log-likelihoods; return natural log-likelihoods unchanged.

    Raises
    ------
    InputError
        If the prior in posteriors is 0 for a class, detection llrs are infinite, or likelihoods are negative.
    """
    if reading.lr:
        return np.asarray(logarithms_of_ratios(score))
    if not reading.log10 and reading.posterior_prior is None and not reading.detection_llr:
        return score
    score = score.astype(np.float64)
    if reading.log10:
        with np.errstate(over="ignore"):
            score *= _LOG_10
    if reading.posterior_prior is not None:
        score -= np.log(unit_conversion.prior_above_zero(reading.posterior_prior, classes, "posterior_prior"))
    return unit_conversion.logliks_of_detection_llrs(score) if reading.detection_llr else score


def prior_of_classes(reading: Reading) -> Prior:
    """Return the prior in scores that are probabilities; refuse a single number, which would be the prior of a target.

    Raises
    ------
    InputError
    """
    value: Any = reading.probabilities
    if isinstance(value, Real):
        raise InputError(
            f"probabilities: got {value!r}, but multiclass scores need the prior of each class: 'flat', "
            "[0.2, 0.3, 0.5] in the order of the classes, or a mapping by name."
        )
    prior: Prior = value
    return prior


_APPLIED = (
    "the scores look like probabilities, and the model is applied to them unchanged. If they are probabilities, train "
    "and apply it with {way} instead"
)

_NO_RATIOS = (
    "all likelihood ratios are in [0, 1], like probabilities. If they are probabilities, use {way} instead of {lr}"
)

_NO_DECISIONS = "decisions by thresholds on log-likelihood ratios are meaningless for them"

_DECIDED = {
    "probabilities": (
        f"the scores look like probabilities, so {_NO_DECISIONS}. If they are probabilities, add {{way}}; otherwise "
        "calibrate them first (deciban calibrate)"
    ),
    "cosines": (
        f"all scores are in [-1, 1], like cosine scores. If they are not log-likelihood ratios, {_NO_DECISIONS}: "
        "calibrate them first (deciban calibrate)"
    ),
    "ratios": f"{{ratios}} Otherwise {_NO_DECISIONS}: calibrate them first (deciban calibrate)",
}


def application_messages(names: Sequence[str], looks: Sequence[ScoreStatistics]) -> list[Message]:
    """Return the messages about scores to which a model is applied, by the names of their files."""
    pairs = list(zip(names, looks, strict=False))
    files = dict.fromkeys(name for name, one in pairs if one.like == "probabilities")
    result = [Message(WARNING, ", ".join(files), _APPLIED.format(way=option(probabilities="PRIOR")))] if files else []
    return result + list(dict.fromkeys(ratio_messages(pairs)))


def messages_on_declared_ratios(systems: Iterable[Scores], *, negated: bool) -> list[Message]:
    """Return warnings about declared likelihood ratios that look like probabilities.

    Parameters
    ----------
    systems : iterable of Scores
    negated : bool
        Whether the signs of the logarithms were changed after reading.
    """
    messages = []
    for one in systems:
        if one.unit != "lr" or not len(one.score):
            continue
        logarithms = -one.score if negated else one.score
        low, high = float(np.exp(min(logarithms.min(), 1.0))), float(np.exp(min(logarithms.max(), 1.0)))
        if like_probabilities(low, high, len(one.score)):
            words = _NO_RATIOS.format(way=option(probabilities="PRIOR"), lr=option("lr"))
            messages.append(Message(WARNING, one.name, words))
    return messages


def decision_messages(name: str, looks: ScoreStatistics) -> list[Message]:
    """Return the messages about scores that are decided without a model."""
    if not looks.like:
        return []
    words = _DECIDED[looks.like].format(ratios=looks.note_on_ratios, way=option(probabilities="PRIOR"))
    return [Message(WARNING, name, words)]


AnyScores: TypeAlias = Scores | ClassScores


AnyKey: TypeAlias = Key | ClassKey


Units: TypeAlias = Sequence[str]


PartlyScoredTrials: TypeAlias = tuple[AnyArray, AnyArray, CountArray | None]
"""Scores of trials, their truth (whether they are targets, or their class) and their weights."""


S = TypeVar("S", bound=AnyScores)


K = TypeVar("K", bound=AnyKey)


A = TypeVar("A", bound=Aligned | AlignedClasses)


class CountedUnits(Protocol):
    """Source of trials with units for evaluations; see `deciban.workflows.reading.units.UnitsOfSource`."""

    @property
    def source(self) -> TrialSource:
        """The trials."""

    @property
    def engine(self) -> Engine:
        """Engine for passes over trials that are not in memory."""

    @property
    def units(self) -> TrialUnits | None:
        """Units, without trials; None for no intervals."""

    @property
    def of_classes(self) -> UnitsAndStrata | TrialUnits | None:
        """Units and strata for multiclass evaluations."""

    def of_system(self, system: int, memory: int) -> TrialsByUnit | None:
        """Return the trials of a system with their units."""


class Form(NamedTuple):
    """Form of written scores: multiclass ``loglik`` or ``detection-llr``, two-class bounds of llrs."""

    write_as: str = "loglik"
    bounds: Bounds | None = None


class Kind(ABC, Generic[S, K, A]):
    """Kind of scores: name of a trial, join with a key, and evaluation."""

    name: ClassVar[KindName]
    about: ClassVar[str]
    """Adjective for messages."""
    other: ClassVar[str]
    """Adjective of the other kind."""
    other_reading: ClassVar[tuple[str, ...]]
    """Attributes of `Reading` that are not for this kind."""
    metrics: ClassVar[type[Any]]
    """Class with the attributes of `MetricOptions` for this kind, as evaluations need it."""
    noun: ClassVar[str]
    """Name of a trial."""
    need: ClassVar[ContentKind]
    """Required content of a score file."""
    need_of_key: ClassVar[ContentKind]
    """Required content of a key."""
    units_of_files: ClassVar[bool] = False
    """Whether readers of files convert units of scores; otherwise `as_logarithms` does."""
    filled: ClassVar[str] = ""
    """Number of scores that are filled in for a trial, if several."""
    has_ties: ClassVar[bool] = False
    """Whether metrics depend on ties across classes."""
    compares_systems: ClassVar[bool] = False
    """Whether systems of a fusion can be calibrated separately, for comparison and selection."""
    has_thresholds: ClassVar[bool] = False
    """Whether one threshold decides all trials of a system."""
    has_trial_costs: ClassVar[bool] = False
    """Whether metrics are sums over trials, so that planning can separate segments from speakers."""
    output: ClassVar[str]
    """Name of the output of models."""

    @property
    def way_out(self) -> str:
        """Hint for messages if files contain scores of the other kind; starts with a space."""
        return ""

    def read(self, file: Recognized, reading: Reading, say: Progress, need: ContentKind | None = None) -> Input:
        """Read a score file, or another file with other required content.

        Raises
        ------
        FormatError, OSError
        """
        say(f"reading {errors.display_name(file.path)}")
        result = self.read_classes(file, reading, need)
        unit = reading.unit if self.units_of_files and need is None else None
        if result is None and file.sides is not None:
            result = read_two_files(file, unit=unit)
        elif result is None:
            result = read_input(file, need=need or self.need, unit=unit)
        return replace(result, contents=self.labelled(result.contents, reading))

    def read_classes(self, file: Recognized, reading: Reading, need: ContentKind | None) -> Input | None:
        """Return the input if its columns or labels are two named classes; otherwise None."""
        return None

    def labelled(self, contents: Contents, reading: Reading) -> Contents:
        """Return contents with labels that are named after the columns of scores."""
        return contents

    @abstractmethod
    def systems_of(self, contents: Contents, reading: Reading) -> list[S]:
        """Return the scores of each system in an input."""

    def as_logarithms(self, systems: Sequence[S], reading: Reading) -> list[S]:
        """Return the systems as log-likelihoods or llrs, before the join, so that scores to fill in need no conversion.

        Classes get the order of the first system, so that a prior by position has the same meaning for all.

        Raises
        ------
        FormatError, InputError
            If scores contradict the options, or the prior in them is invalid.
        """
        return list(systems)

    @abstractmethod
    def key_of(self, contents: Contents, reading: Reading, first: S) -> K:
        """Return the truth in an input, for the scores of a first system.

        Raises
        ------
        InputError, KeyMismatchError
            If there is none, or its classes do not match the scores.
        """

    @abstractmethod
    def align(self, systems: Sequence[S], key: K, reading: Reading, *, incomplete: bool = False) -> Sequence[A]:
        """Return the scores of every trial of a key; if ``incomplete``, with NaN for missing scores."""

    @abstractmethod
    def truth_of(self, aligned: A) -> BoolArray | IntArray:
        """Return the truth of the joined trials: whether they are targets, or their class."""

    @abstractmethod
    def in_nats(self, scores: S, reading: Reading) -> S:
        """Return scores as natural logarithms."""

    def units_unasked(self, batch: Batch, key: Batch) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """Return the units of trials if the user named none, and messages.

        Every trial is a unit if nothing links trials; ``key`` also has the trials that were left out, if any.
        """
        return units_of_trials(errors.not_none(batch.trials, "trials"), batch.is_counted, noun=self.noun), ()

    def units_unasked_of_source(self, source: TrialSource, engine: Engine) -> UnitsFound | None:
        """Return the same for data larger than memory; None if every trial is a unit."""
        return None

    @abstractmethod
    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Return the name of each class in messages, and its code in the truth."""

    @abstractmethod
    def evaluate(
        self,
        trials: PartlyScoredTrials,
        metrics: MetricOptions,
        classes: Sequence[str],
        name: str,
        resampling: Resampling | None = None,
    ) -> OneSystem:
        """Evaluate scores of labelled trials, from a system or a model."""

    @abstractmethod
    def n_evaluated(self, result: Any) -> int:
        """Return the number of trials of an evaluation; all must have weight 1."""

    def evaluate_source(self, units: CountedUnits, options: Options, *, system: int, name: str) -> Any:
        """Evaluate one system of a source, by its index."""
        source, batch = units.source, units.source.batch
        if batch is None:
            return self.evaluate_batches(units, options, system=system, name=name)
        resampling = options.how_sure.resampling(None if units.units is None else batch.units)
        if resampling is not None and batch.stratum is not None:
            resampling = replace(resampling, strata=batch.stratum)
        trials: Any = batch.scores[system], batch.truth, batch.weight
        return self.evaluate(trials, options.metrics, source.classes, name=name, resampling=resampling)

    @abstractmethod
    def evaluate_batches(self, units: CountedUnits, options: Options, *, system: int, name: str) -> OneSystem:
        """Evaluate one system of data larger than memory, by its index."""

    @abstractmethod
    def compared_metrics(self, metrics: MetricOptions) -> tuple[MetricKey, ...]:
        """Return the keys of metrics that can be compared or planned for, given the requested metrics.

        Raises
        ------
        InputError
            If a requested metric is invalid.
        """

    def on_axis_of(self, scores: Sequence[S], metrics: MetricOptions) -> MetricOptions:
        """Return requested metrics, with the unit of the scores as the unit of plots and tables."""
        return metrics

    @abstractmethod
    def size(self, scores: S) -> str:
        """Return the number of trials with scores, as text."""

    @abstractmethod
    def counts(self, contents: Contents, key: K) -> str:
        """Return the number of trials of each class, as text."""

    @abstractmethod
    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """Return the number of training trials of each class, as text."""

    def class_order(
        self, model: ScoreModel, classes: tuple[str, ...], name: str
    ) -> tuple[tuple[str, ...], list[Message]]:
        """Return the classes of scores in the order of training, and messages; ``name`` is the name of the scores.

        Raises
        ------
        InputError
            If the classes differ.
        """
        return classes, []

    @abstractmethod
    def written(self, file: Input, scores: S, target: PathLike, to: str | None, form: Form) -> list[Message]:
        """Write an input again with new scores."""

    @abstractmethod
    def rescored(self, contents: Contents, scores: S, form: Form) -> tuple[Contents, list[Message]]:
        """Return contents with new scores, as for a table with named columns; see `written`."""

    def with_trials(self, file: Input, trials: Trials) -> Input:
        """Return an input with some of its trials, unless the writer selects them."""
        return file

    def in_class_order(self, systems: list[S], order: Sequence[str]) -> list[S]:
        """Return scores with the classes in the given order, if the classes are the same."""
        return systems

    @abstractmethod
    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """Return the prior in scores that are probabilities, in the syntax of the command line.

        ``classes`` are the classes of the scores, ``order`` is their order in the text.
        """

    def unit_messages(self, systems: Sequence[S], reading: Reading) -> list[Message]:
        """Return messages about conversions of the units of scores."""
        if reading.probabilities is None or not systems:
            return [Message("note", "", negation_note())] if reading.negate else []
        return of_probabilities(systems, self.prior_of_probabilities(reading, self.classes_of(systems[0])), self.noun)

    def key_messages(self, key: K, reading: Reading) -> list[Message]:
        """Return a message about selected trials of a key."""
        if not reading.where:
            return []
        chosen = (f"{name} = {v if isinstance(v, str) else ' or '.join(v)}" for name, v in reading.where.items())
        return [Message("only", "", f"{self.noun}s with {' and '.join(chosen)}")]

    def refuse_contradictions(self, contents: Sequence[Contents], key: K, reading: Reading) -> None:
        """Refuse labels in score files that contradict the key."""

    def refuse_reading(self, reading: Reading) -> None:
        """Refuse options for reading that would be ignored.

        Raises
        ------
        InputError
        """
        self._refuse([name for name in self.other_reading if reading.says(name)])

    def refuse_metrics(self, metrics: MetricOptions) -> None:
        """Refuse metrics that scores of this kind do not have.

        Raises
        ------
        InputError
        """
        self._refuse([name for name in metrics.given() if name not in self.metrics.__dataclass_fields__])

    def checked(self, metrics: MetricOptions) -> Any:
        """Return requested metrics as evaluations take them.

        Raises
        ------
        InputError
            If a value is invalid, or scores of this kind do not have such metrics.
        """
        self.refuse_metrics(metrics)
        return self.metrics(**metrics.given())

    def _refuse(self, names: Sequence[str]) -> None:
        refuse(names, f"for {self.other} scores, but the scores are {self.about}. Leave it out.")

    def require_trials(self, truth: AnyArray, classes: Sequence[str]) -> None:
        """Refuse classes without trials."""

    def require_model(self, model: ScoreModel, reading: Reading, classes: Sequence[str], units: Units = ()) -> None:
        """Refuse a model for scores in other units than in training; ``units`` are the units of systems in files."""
        value = None
        if reading.probabilities is not None:
            order = getattr(model, "classes_", None) or classes
            value = self.prior_of_probabilities(reading, classes, order)
        require_same(model, value, negate=reading.negate)
        require_same_unit(model, reading, units)

    def record(self, reading: Reading, classes: Sequence[str], units: Units = ()) -> dict[str, Any]:
        """Return further entries of the record of training, so that other scores are read in the same way."""
        prior = None if reading.probabilities is None else self.prior_of_probabilities(reading, classes)
        return record(reading, units, prior)

    def name_after(self, model: ScoreModel, systems: Sequence[str]) -> str:
        """Return the name of the output of a model in results."""
        return names_apart([model.row_name(systems)], systems)[0]

    def read_message(self, scores: S) -> Message:
        """Return the message about reading a system."""
        origin = scores.trials.origin
        unit = read_as(scores)
        return Message("read", origin.name, f"{origin.reading}{unit}   {self.size(scores)}")

    def by_order_messages(self, reading: Reading) -> list[Message]:
        """Return a message if trials are matched by order."""
        words = f"by order: the names of the {self.noun}s were not compared"
        return [Message("join", "", words)] if reading.by_order else []

    def fill_messages(self, reading: Reading, n_missing: int) -> list[Message]:
        """Return a message about filled-in scores, if any."""
        if isinstance(reading.missing, str) or not n_missing:
            return []
        scores = "scores" if self.filled else "a score"
        return [Message("fill", "", f"{self.noun}s without {scores} got {reading.missing:g}{self.filled}")]

    def messages_on_join(self, reading: Reading, report: JoinReport) -> list[Message]:
        """Return the messages about a join."""
        return [
            *self.ids_messages(reading, report),
            report.message(),
            *self.by_order_messages(reading),
            *self.fill_messages(reading, report.missing),
            *report.left_out(reading.missing, self.noun),
        ]

    def ids_messages(self, reading: Reading, report: JoinReport) -> list[Message]:
        """Return a message about the number of renamed trials in each file, if any."""
        if reading.renaming is None or not report.renamed:
            return []
        counts = " · ".join(f"{counted(n, 'name')} of {name}" for name, n in dict.fromkeys(report.renamed))
        return [Message("ids", "", f"{reading.renaming.words} changed {counts}")]

    @abstractmethod
    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """Return the number of trials of each class, as text, from their truth."""

    def classes_of(self, scores: S) -> tuple[str, ...]:
        """Return the names of the classes; empty for two-class scores."""
        return getattr(scores, "classes", ())

    def with_values(self, scores: S, values: FloatArray, name: str) -> S:
        """Return scores with other values, in nats, for the same trials."""
        unit = {"log10": False, "is_from_lr": False} if isinstance(scores, Scores) else {}
        return replace(scores, score=values, name=name, **unit)  # type: ignore[arg-type]


AnyKind: TypeAlias = Kind[Any, Any, Any]
"""A kind; its methods accept only objects from methods of the same kind."""


def named_apart(systems: Sequence[S]) -> list[S]:
    """Rename systems with equal names: to the path of the file, and within a file with a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [s.trials.origin.name if names.count(s.name) > 1 else s.name for s in systems]
    return [replace(system, name=name) for system, name in zip(systems, names_apart(names, ()), strict=True)]


def of_trials(contents: Contents, old: Trials, trials: Trials) -> Contents:
    """Return contents with some of their trials, without the scores that will be replaced."""
    rows = Lookup(trials).find(old).rows
    fields = {name: getattr(contents, name) for name in ("index", "key", "class_key", "class_scores", "label_words")}
    return replace(contents, **{name: one.take(rows) for name, one in fields.items() if one is not None})


@cache
def kind_called(name: KindName) -> AnyKind:
    """Return the kind with a name."""
    kind: AnyKind = registered("kinds", name)
    return kind


def kind_of(scores: Recognized, key: Recognized | None, options: Options) -> AnyKind:
    """Return the kind from the options, or as detected from score file and key; see `kind_of_scores`.

    Raises
    ------
    InputError, OSError
    """
    if scores.sides is not None and (options.kind == "classes" or options.reading.classes is not None):
        raise InputError(
            f"{errors.display_name(scores.path)}: two files, one of targets and one of non-targets, contain two-class "
            f"scores. Multiclass scores need a key: name it, or leave {option('kind', 'classes')} out."
        )
    if scores.sides is not None:
        return kind_called("two-class")
    if options.kind is None and options.reading.classes is not None:
        return kind_called("classes")
    if options.kind is None and options.reading.from_classes:
        return kind_called("two-class")
    return kind_called(options.kind or kind_shown(scores, key))


def kind_of_scores(scores: PathLike, key: PathLike | None = None, **reading: object) -> KindName:
    """Detect whether a score file is two-class or multiclass; if both are possible, the key decides.

    Parameters
    ----------
    scores : path
        The first score file.
    key : path, optional
        By default the score file can contain the truth.
    **reading
        ``format``, ``columns``, ``key_format``, ``key_columns``, ``labels``; see `deciban.workflows.Reading`.

    Returns
    -------
    {"two-class", "classes"}
        Standard input and pipes are not read: they are assumed to be two-class, unless the key is multiclass.

    Raises
    ------
    InputError
        If both kinds are possible for the scores and for the key.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> kind_of_scores(path)
    'classes'
    """
    read = Options.of("kind_of_scores", reading).reading
    truth = None
    if key is not None:
        truth = recognize(key, format=read.key_format, columns=read.key_columns, labels=read.labels)
    if is_stream(scores):  # looking at a stream would consume it
        return "classes" if truth is not None and readable_as(truth, TRUTHS) == ("class-key",) else "two-class"
    return kind_shown(recognize(scores, format=read.format, columns=read.columns, labels=read.labels), truth)
