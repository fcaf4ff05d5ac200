"""One interface for two-class and multiclass scores: the steps that differ between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from deciban._files import PathLike, display_name
from deciban.core.resampling.units import TrialUnits
from deciban.errors import refuse
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Figure
from deciban.io import Contents
from deciban.io.contents import ContentKind
from deciban.io.reader import Input, read_input, read_two_files
from deciban.io.recognition import Recognized
from deciban.io.units import of_probabilities
from deciban.messages import NEGATED, Message, counted, names_apart
from deciban.models.model import Bounds
from deciban.models.score_model import ScoreModel
from deciban.trials import Aligned, AlignedClasses, ClassKey, ClassScores, JoinReport, Key, Scores, Trials
from deciban.trials.joining.lookup import Lookup
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
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


Scored: TypeAlias = tuple[AnyArray, AnyArray, CountArray | None]
"""Scores of trials, their truth (whether targets, or which class) and their weights."""


S = TypeVar("S", bound=AnyScores)


K = TypeVar("K", bound=AnyKey)


A = TypeVar("A", bound=Aligned | AlignedClasses)


class CountedUnits(Protocol):
    """A source of trials with their units, as evaluations need it; see `deciban.workflows.units.UnitsOfSource`."""

    @property
    def source(self) -> ShardSource:
        """The trials."""

    @property
    def engine(self) -> Engine:
        """Runs passes over trials that are not in memory."""

    @property
    def units(self) -> TrialUnits | None:
        """The units of no trial; None where there are no intervals."""

    @property
    def of_classes(self) -> Any:
        """The same as evaluations of many classes ask for them."""

    def of_system(self, system: int, memory: int) -> Any:
        """Return the trials of a system with their units."""


class Form(NamedTuple):
    """How scores are written: of many classes as ``loglik`` or ``detection-llr``, of two with the bounds of llrs."""

    write_as: str = "loglik"
    bounds: Bounds | None = None


class Kind(ABC, Generic[S, K, A]):
    """Scores of one kind: what a trial is called, how scores meet a key, which evaluation there is."""

    name: ClassVar[KindName]
    about: ClassVar[str]
    """What the scores are about, in words."""
    other: ClassVar[str]
    """The same of the other kind."""
    way_out: ClassVar[str] = ""
    """What to do where files hold scores of the other kind, for messages; begins with a space."""
    other_reading: ClassVar[tuple[str, ...]]
    """Attributes of `Reading` that mean nothing for this kind."""
    figures: ClassVar[type[Any]]
    """The attributes of `Figures` that mean something for this kind, as evaluations take them."""
    noun: ClassVar[str]
    """What a trial is called."""
    need: ClassVar[ContentKind]
    """What a score file has to hold."""
    need_of_key: ClassVar[ContentKind]
    """What a key has to hold."""
    units_of_files: ClassVar[bool] = False
    """Whether readers of files are given the unit of scores; else `as_logarithms` converts them."""
    filled: ClassVar[str] = ""
    """Where a score goes that is filled in, if it is not the only one."""
    has_ties: ClassVar[bool] = False
    """Whether figures depend on which scores trials of different classes share."""
    compares_systems: ClassVar[bool] = False
    """Whether systems of a fusion can be calibrated alone, to be compared with it and to choose among them."""
    has_thresholds: ClassVar[bool] = False
    """Whether one threshold decides on all trials of a system."""
    has_trial_costs: ClassVar[bool] = False
    """Whether a figure is a sum over trials, so that plans tell segments from speakers."""
    output: ClassVar[str]
    """What models make of the scores."""

    def read(self, file: Recognized, reading: Reading, say: Progress, need: ContentKind | None = None) -> Input:
        """Read a score file; or another file, which has to hold something else.

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
        """The scores of each system that an input holds."""

    def as_logarithms(self, systems: Sequence[S], reading: Reading) -> list[S]:
        """The systems as likelihoods or their ratios, before trials meet: what is filled in then has no prior in it.

        Classes are in the order of the first system, so that a prior by position means the same for all.

        Raises
        ------
        FormatError, InputError
            If scores are not what the user says they are, or the prior in them is none.
        """
        return list(systems)

    @abstractmethod
    def key_of(self, contents: Contents, reading: Reading, first: S) -> K:
        """The truth that an input holds, for the scores of a first system.

        Raises
        ------
        InputError, KeyMismatchError
            If it holds none, or what it says of classes does not fit the scores.
        """

    @abstractmethod
    def align(self, systems: Sequence[S], key: K, reading: Reading, *, incomplete: bool = False) -> Sequence[A]:
        """Find the scores of every trial of a key; if ``incomplete``, with NaN where a system has none."""

    @abstractmethod
    def truth_of(self, aligned: A) -> BoolArray | IntArray:
        """The truth of the trials that are left: whether targets, or which class."""

    @abstractmethod
    def in_nats(self, scores: S, reading: Reading) -> S:
        """Scores as natural logarithms, whatever the user said they are."""

    def units_unasked(
        self, trials: Trials, truth: AnyArray, counting: BoolArray | None
    ) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """The units of trials of which the user named none, and what is to be said besides how many there are.

        Every trial is one, where nothing says that some belong together; ``counting`` are the trials that count, if
        others do not.
        """
        return units_of_trials(trials, counting, noun=self.noun), ()

    def units_unasked_in_pieces(self, source: ShardSource, engine: Engine) -> UnitsFound | None:
        """The same of trials in pieces; None where every trial is a unit."""
        return None

    @abstractmethod
    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """What messages call trials of each class, and the number that is their truth."""

    @abstractmethod
    def evaluate(
        self, trials: Scored, figures: Figures, classes: Sequence[str], name: str, resampling: Resampling | None = None
    ) -> Any:
        """Evaluate scores of labelled trials, those of a system or what a model made of them."""

    @abstractmethod
    def n_evaluated(self, found: Any) -> int:
        """How many trials, which all count alike, an evaluation is of."""

    def evaluate_source(self, units: CountedUnits, options: Options, *, system: int, name: str) -> Any:
        """Evaluate one system of a source; ``system`` is its position."""
        source, batch = units.source, units.source.batch
        if batch is None:
            return self.evaluate_pieces(units, options, system=system, name=name)
        resampling = options.how_sure.resampling(None if units.units is None else batch.units)
        if resampling is not None and batch.stratum is not None:
            resampling = replace(resampling, strata=batch.stratum)
        trials: Any = batch.scores[system], batch.truth, batch.weight
        return self.evaluate(trials, options.figures, source.classes, name=name, resampling=resampling)

    @abstractmethod
    def evaluate_pieces(self, units: CountedUnits, options: Options, *, system: int, name: str) -> Any:
        """Evaluate one system of trials in pieces; ``system`` is its position."""

    @abstractmethod
    def compared_figures(self, figures: Figures) -> tuple[Figure, ...]:
        """Figures that may be compared or planned for by their names, once these are evaluated.

        Raises
        ------
        InputError
            If a figure that is asked for is none.
        """

    def on_axis_of(self, scores: Sequence[S], figures: Figures) -> Figures:
        """Figures with the unit in which plots and tables write what was said in this unit."""
        return figures

    @abstractmethod
    def size(self, scores: S) -> str:
        """How many trials there are scores of, in words."""

    @abstractmethod
    def counts(self, contents: Contents, key: K) -> str:
        """How many trials there are of each class, in words."""

    @abstractmethod
    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """How many trials of each class a model was trained on."""

    def class_order(
        self, model: ScoreModel, classes: tuple[str, ...], name: str
    ) -> tuple[tuple[str, ...], list[Message]]:
        """Return the classes of scores in the order of training, and the messages on that; ``name`` is of the scores.

        Raises
        ------
        InputError
            If they are other classes.
        """
        return classes, []

    @abstractmethod
    def written(self, found: Input, scores: S, target: PathLike, to: str | None, form: Form) -> list[Message]:
        """Write an input again with other scores."""

    @abstractmethod
    def rescored(self, contents: Contents, scores: S, form: Form) -> tuple[Contents, list[Message]]:
        """Contents with other scores, as they are written to a table whose columns have names; see `written`."""

    def with_trials(self, found: Input, trials: Trials) -> Input:
        """An input with these of its trials, as far as what writes it does not find them itself."""
        return found

    def in_class_order(self, systems: list[S], order: Sequence[str]) -> list[S]:
        """Scores with the classes in the order of other trials, if they are the same classes."""
        return systems

    @abstractmethod
    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """The prior by which scores are probabilities, as the record of training has it and the command line takes it.

        ``classes`` says whose probabilities these are, ``order`` in which order the text has them.
        """

    def unit_messages(self, systems: Sequence[S], reading: Reading) -> list[Message]:
        """What was done to the units of scores."""
        if reading.probabilities is None or not systems:
            return [Message("note", "", NEGATED)] if reading.negate else []
        return of_probabilities(systems, self.prior_of_probabilities(reading, self.classes_of(systems[0])), self.noun)

    def key_messages(self, key: K, reading: Reading) -> list[Message]:
        """Which trials of a key were chosen."""
        if not reading.where:
            return []
        chosen = (f"{name} = {v if isinstance(v, str) else ' or '.join(v)}" for name, v in reading.where.items())
        return [Message("only", "", f"{self.noun}s with {' and '.join(chosen)}")]

    def refuse_contradictions(self, contents: Sequence[Contents], key: K, reading: Reading) -> None:
        """Refuse labels beside scores that are not those of the key."""

    def refuse_reading(self, reading: Reading) -> None:
        """Refuse what was said about reading and would be overlooked.

        Raises
        ------
        InputError
        """
        self._refuse([name for name in self.other_reading if reading.says(name)])

    def refuse_figures(self, figures: Figures) -> None:
        """Refuse figures that scores of this kind do not have.

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
        refuse(given, f"for scores of {self.other}, but these are of {self.about}. Leave it out.")

    def require_trials(self, truth: AnyArray, classes: Sequence[str]) -> None:
        """Refuse to evaluate classes that no trial is of."""

    def require_model(self, model: ScoreModel, reading: Reading, classes: Sequence[str], units: Units = ()) -> None:
        """Refuse a model for scores in other units than those of training; ``units`` are those of systems in files."""
        given = None
        if reading.probabilities is not None:
            order = getattr(model, "classes_", None) or classes
            given = self.prior_of_probabilities(reading, classes, order)
        require_same(model, given, negate=reading.negate)
        require_same_unit(model, reading, units)

    def record(self, reading: Reading, classes: Sequence[str], units: Units = ()) -> dict[str, Any]:
        """What the record of training says besides, so that other scores are read in the same way."""
        prior = None if reading.probabilities is None else self.prior_of_probabilities(reading, classes)
        return unit_record(reading, units, prior)

    def name_after(self, model: ScoreModel, systems: Sequence[str]) -> str:
        """What results call that which a model makes of systems."""
        return names_apart([model.row_name(systems)], systems)[0]

    def read_message(self, scores: S) -> Message:
        """Say how the scores of a system were read."""
        origin = scores.trials.origin
        unit = read_as(scores)
        return Message("read", origin.name, f"{origin.reading}{unit}   {self.size(scores)}")

    def by_order_messages(self, reading: Reading) -> list[Message]:
        """Say that trials were matched by their order, if they were."""
        words = f"by order: the names of the {self.noun}s were not compared"
        return [Message("join", "", words)] if reading.by_order else []

    def fill_messages(self, reading: Reading, n_missing: int) -> list[Message]:
        """Say which score trials without one were given, if there are such."""
        if isinstance(reading.missing, str) or not n_missing:
            return []
        scores = "scores" if self.filled else "a score"
        words = f"{self.noun}s without {scores} were given {reading.missing:g}{self.filled}"
        return [Message("fill", "", words)]

    def join_message(self, report: JoinReport, ties: str) -> Message:
        """Say how trials met; surplus copies by the file that they are in, of which one may hold scores and truth."""
        copies = {name: n for name, n in reversed(report.copies) if n}
        counts = [f"{report.matched:,} matched", f"{report.missing:,} missing", f"{report.extra:,} extra"]
        counts += [f"{n:,} duplicate in {name}" for name, n in copies.items()] or [f"{report.duplicate:,} duplicate"]
        return Message("join", "", " · ".join([*counts, *([ties] if ties else [])]))

    def ids_messages(self, reading: Reading, report: JoinReport) -> list[Message]:
        """Say how many names of each file were compared by other names, if they were."""
        if reading.renaming is None or not report.renamed:
            return []
        counts = " · ".join(f"{counted(n, 'name')} of {name}" for name, n in dict.fromkeys(report.renamed))
        return [Message("ids", "", f"{reading.renaming.words} changed {counts}")]

    @abstractmethod
    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """How many trials of each class there are, by their truth."""

    def classes_of(self, scores: S) -> tuple[str, ...]:
        """Names of the classes, where there are many."""
        return getattr(scores, "classes", ())

    def with_values(self, scores: S, values: FloatArray, name: str) -> S:
        """Scores with other numbers, in nats, on the same trials."""
        unit = {"log10": False, "is_from_lr": False} if isinstance(scores, Scores) else {}
        return replace(scores, score=values, name=name, **unit)  # type: ignore[arg-type]


AnyKind: TypeAlias = Kind[Any, Any, Any]
"""A kind, whichever it is: its methods take what others of its methods gave."""


def named_apart(systems: Sequence[S]) -> list[S]:
    """Give systems of one name the path of their file, and systems of one file a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [s.trials.origin.name if names.count(s.name) > 1 else s.name for s in systems]
    return [replace(system, name=name) for system, name in zip(systems, names_apart(names, ()), strict=True)]


def of_trials(contents: Contents, old: Trials, trials: Trials) -> Contents:
    """Contents with some of their trials, but for the scores that are to be written in place of theirs."""
    rows = Lookup(trials).find(old).rows
    fields = {name: getattr(contents, name) for name in ("index", "key", "class_key", "class_scores")}
    return replace(contents, **{name: one.take(rows) for name, one in fields.items() if one is not None})
