"""Interface for two-class and multiclass scores: the steps that differ between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from deciban._files import PathLike, display_name
from deciban.core.resampling.units import TrialUnits
from deciban.errors import NEGATED, Message, counted, names_apart, refuse
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Figure
from deciban.io import Contents
from deciban.io.formats import ContentKind
from deciban.io.reader import Input, read_input, read_two_files
from deciban.io.recognition import Recognized
from deciban.io.units import of_probabilities
from deciban.models.model import Bounds
from deciban.models.score_model import ScoreModel
from deciban.trials import Aligned, AlignedClasses, ClassKey, ClassScores, JoinReport, Key, Scores, Trials
from deciban.trials.joining import Lookup
from deciban.trials.sources import Engine, ShardSource
from deciban.trials.units import units_of_trials
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, Progress
from deciban.workflows.kinds.score_units import read_as, require_same, require_same_unit
from deciban.workflows.kinds.score_units import record as unit_record
from deciban.workflows.options import Figures, KindName, Options, Reading

if TYPE_CHECKING:
    from deciban.engines.units import UnitsFound


AnyScores: TypeAlias = Scores | ClassScores


AnyKey: TypeAlias = Key | ClassKey


Units: TypeAlias = Sequence[str]


PartlyScoredTrials: TypeAlias = tuple[AnyArray, AnyArray, CountArray | None]
"""Scores of trials, their truth (whether they are targets, or their class) and their weights."""


S = TypeVar("S", bound=AnyScores)


K = TypeVar("K", bound=AnyKey)


A = TypeVar("A", bound=Aligned | AlignedClasses)


class CountedUnits(Protocol):
    """Source of trials with units for evaluations; see `deciban.workflows.units.UnitsOfSource`."""

    @property
    def source(self) -> ShardSource:
        """The trials."""

    @property
    def engine(self) -> Engine:
        """Engine for passes over trials that are not in memory."""

    @property
    def units(self) -> TrialUnits | None:
        """Units, without trials; None for no intervals."""

    @property
    def of_classes(self) -> Any:
        """Units and strata for multiclass evaluations."""

    def of_system(self, system: int, memory: int) -> Any:
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
    way_out: ClassVar[str] = ""
    """Hint for messages if files contain scores of the other kind; starts with a space."""
    other_reading: ClassVar[tuple[str, ...]]
    """Attributes of `Reading` that are not for this kind."""
    figures: ClassVar[type[Any]]
    """Class with the attributes of `Figures` for this kind, as evaluations need it."""
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

    def read(self, file: Recognized, reading: Reading, say: Progress, need: ContentKind | None = None) -> Input:
        """Read a score file, or another file with other required content.

        Raises
        ------
        FormatError, OSError
        """
        say(f"reading {display_name(file.path)}")
        unit = reading.unit if self.units_of_files and need is None else None
        if file.sides is not None:
            return read_two_files(file, unit=unit)
        return read_input(file, need=need or self.need, unit=unit)

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

    def units_unasked(
        self, trials: Trials, truth: AnyArray, counting: BoolArray | None
    ) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """Return the units of trials if the user named none, and messages.

        Every trial is a unit if nothing links trials; ``counting`` marks the trials of positive weight, by default all.
        """
        return units_of_trials(trials, counting, noun=self.noun), ()

    def units_unasked_of_source(self, source: ShardSource, engine: Engine) -> UnitsFound | None:
        """Return the same for data larger than memory; None if every trial is a unit."""
        return None

    @abstractmethod
    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Return the name of each class in messages, and its code in the truth."""

    @abstractmethod
    def evaluate(
        self,
        trials: PartlyScoredTrials,
        figures: Figures,
        classes: Sequence[str],
        name: str,
        resampling: Resampling | None = None,
    ) -> Any:
        """Evaluate scores of labelled trials, from a system or a model."""

    @abstractmethod
    def n_evaluated(self, found: Any) -> int:
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
        return self.evaluate(trials, options.figures, source.classes, name=name, resampling=resampling)

    @abstractmethod
    def evaluate_batches(self, units: CountedUnits, options: Options, *, system: int, name: str) -> Any:
        """Evaluate one system of data larger than memory, by its index."""

    @abstractmethod
    def compared_figures(self, figures: Figures) -> tuple[Figure, ...]:
        """Return the keys of metrics that can be compared or planned for, given the requested metrics.

        Raises
        ------
        InputError
            If a requested metric is invalid.
        """

    def on_axis_of(self, scores: Sequence[S], figures: Figures) -> Figures:
        """Return requested metrics, with the unit of the scores as the unit of plots and tables."""
        return figures

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
    def written(self, found: Input, scores: S, target: PathLike, to: str | None, form: Form) -> list[Message]:
        """Write an input again with new scores."""

    @abstractmethod
    def rescored(self, contents: Contents, scores: S, form: Form) -> tuple[Contents, list[Message]]:
        """Return contents with new scores, as for a table with named columns; see `written`."""

    def with_trials(self, found: Input, trials: Trials) -> Input:
        """Return an input with some of its trials, unless the writer selects them."""
        return found

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
            return [Message("note", "", NEGATED)] if reading.negate else []
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

    def refuse_figures(self, figures: Figures) -> None:
        """Refuse metrics that scores of this kind do not have.

        Raises
        ------
        InputError
        """
        self._refuse([name for name in figures.given() if name not in self.figures.__dataclass_fields__])

    def checked(self, figures: Figures) -> Any:
        """Return requested metrics as evaluations take them.

        Raises
        ------
        InputError
            If a value is invalid, or scores of this kind do not have such metrics.
        """
        self.refuse_figures(figures)
        return self.figures(**figures.given())

    def _refuse(self, given: Sequence[str]) -> None:
        refuse(given, f"for {self.other} scores, but the scores are {self.about}. Leave it out.")

    def require_trials(self, truth: AnyArray, classes: Sequence[str]) -> None:
        """Refuse classes without trials."""

    def require_model(self, model: ScoreModel, reading: Reading, classes: Sequence[str], units: Units = ()) -> None:
        """Refuse a model for scores in other units than in training; ``units`` are the units of systems in files."""
        given = None
        if reading.probabilities is not None:
            order = getattr(model, "classes_", None) or classes
            given = self.prior_of_probabilities(reading, classes, order)
        require_same(model, given, negate=reading.negate)
        require_same_unit(model, reading, units)

    def record(self, reading: Reading, classes: Sequence[str], units: Units = ()) -> dict[str, Any]:
        """Return further entries of the record of training, so that other scores are read in the same way."""
        prior = None if reading.probabilities is None else self.prior_of_probabilities(reading, classes)
        return unit_record(reading, units, prior)

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
        words = f"{self.noun}s without {scores} got {reading.missing:g}{self.filled}"
        return [Message("fill", "", words)]

    def join_message(self, report: JoinReport, ties: str) -> Message:
        """Return the message about the join, with surplus copies by file."""
        copies = {name: n for name, n in reversed(report.copies) if n}
        counts = [f"{report.matched:,} matched", f"{report.missing:,} missing", f"{report.extra:,} extra"]
        counts += [f"{n:,} duplicate in {name}" for name, n in copies.items()] or [f"{report.duplicate:,} duplicate"]
        return Message("join", "", " · ".join([*counts, *([ties] if ties else [])]))

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
