"""Options of reading, joining, metrics, uncertainty, memory and names of systems, as frozen objects."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from deciban._files import PathLike, is_file
from deciban._validate.classes import Groups, Prior
from deciban._validate.probabilities import unit_of
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, refuse
from deciban.evaluation.preset_table import Preset, preset
from deciban.evaluation.summary import Resampling
from deciban.io.columns.headers import Columns
from deciban.io.formats import formats
from deciban.io.recognition import memory_of
from deciban.io.units import refuse_negated_probabilities
from deciban.memory import allowed_memory, give_back_at_once, memory_error, memory_for_trials
from deciban.trials import IdMap
from deciban.trials.joining.matching import Duplicates, Missing
from deciban.trials.joining.renaming import IdsLike, Renaming
from deciban.trials.passes import Engine
from deciban.types import Axis, ScoreUnit
from deciban.workflows.partitions import Split


@dataclass(frozen=True, slots=True)
class Renamed:
    """What systems are called in their files, and what users call them, one by one.

    Attributes
    ----------
    before, after : tuple of str
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    def of_others(self, names: Sequence[str]) -> list[str]:
        """Names of the same systems on other trials: by what files call them if these say the same, else in order.

        Raises
        ------
        InputError
            If they are not as many, or only some are called as before.
        """
        if set(names) == set(self.before) and len(names) == len(self.before):
            return [self.after[self.before.index(name)] for name in names]
        known = [name for name in names if name in self.before]
        if known or len(names) != len(self.before):
            raise InputError(
                f"names: are of the systems {', '.join(self.before)}, and those of the other trials are "
                f"{', '.join(names)}. Give files of the same systems, all under the same names or none."
            )
        return list(self.after)


def known_by(names: Sequence[str], renaming: Renamed | None, trained: Sequence[str]) -> list[str]:
    """Names by which a model may know systems: those that they were given, or those of their files if it knows these.

    Examples
    --------
    >>> known_by(["A", "B"], Renamed(("a1", "b1"), ("A", "B")), ["b1", "a1"])
    ['a1', 'b1']
    """
    if renaming is None or not set(renaming.before) & set(trained):
        return list(names)
    before = dict(zip(renaming.after, renaming.before, strict=True))
    return [before.get(name, name) for name in names]


Names: TypeAlias = Sequence[str] | Mapping[str, str] | Renamed
"""Names of systems in their order, or by what their files call them."""


def renamed(systems: Sequence[Any], names: Names | None) -> tuple[list[Any], Renamed | None]:
    """Systems under the names that a user gave them.

    Parameters
    ----------
    systems : sequence of Scores or of ClassScores
        Under names of their own.
    names : sequence of str, or mapping from names of files to names, optional
        One for each system, in order; or of some of them, by what they are called without it.

    Returns
    -------
    list of Scores or of ClassScores
    Renamed or None
        What they were called before; None if nothing was said.

    Raises
    ------
    InputError
        If there are not as many names as systems, one is no name of a system, or two systems would have one name.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> systems = [Scores.of({"trial": ["a"]}, [0.0], name=name) for name in ("resnet_v3", "plda")]
    >>> [one.name for one in renamed(systems, {"resnet_v3": "A"})[0]]
    ['A', 'plda']
    """
    if names is None:
        return list(systems), None
    before = tuple(system.name for system in systems)
    after = new_names(before, names)
    return [replace(system, name=name) for system, name in zip(systems, after, strict=True)], Renamed(before, after)


def new_names(before: Sequence[str], names: Names | None) -> tuple[str, ...]:
    """Return the names that a user gave to systems; see `renamed`."""
    if names is None:
        return tuple(before)
    after = names.of_others(before) if isinstance(names, Renamed) else _names(before, names)
    if twice := sorted({name for name in after if after.count(name) > 1}):
        raise InputError(f"names: {', '.join(map(repr, twice))} is the name of two systems. Give each its own.")
    return tuple(after)


def _names(before: Sequence[str], names: Sequence[str] | Mapping[str, str]) -> list[str]:
    named: Iterable[Any] = names.values() if isinstance(names, Mapping) else names
    given = [names] if isinstance(names, str) else list(named)
    for name in given:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"names: got {name!r}. A name of a system is text that can be printed.")
    if isinstance(names, Mapping):
        for name in names:
            if name not in before:
                raise InputError(f"names: there is no system {name!r}; there are {', '.join(before)}.")
        return [names.get(name, name) for name in before]
    if len(given) != len(before):
        raise InputError(
            f"names: {len(given)} for {len(before)} systems ({', '.join(before)}). Give each one, in this order, or "
            f"name some by what they are called now: {before[0]}=NAME."
        )
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What is done about trials that are too many for the memory.

    Attributes
    ----------
    memory : str or int, optional
        Bytes that may be taken in all, as ``"2GB"``, ``"500MB"`` or a number; what would take more is read in pieces.
        Left out, half of what is free.
    dask : str or distributed.Client, optional
        Where work is spread: the address of a scheduler of Dask, ``"local:N"`` for N processes of this machine, or a
        client.
    speakers : path, or sequence of one or two of these, optional
        Files with the speaker of every name, one or one for each side: a trial is a target if and only if both
        speakers agree, and no key is needed.

    Raises
    ------
    InputError
        If one of these is none.

    Examples
    --------
    >>> Scale(memory="2GB").n_bytes
    1940000000
    """

    memory: str | int | None = None
    dask: Any = None
    speakers: Any = None

    def __post_init__(self) -> None:
        """Check the size."""
        if self.memory is not None:
            allowed_memory(self.memory)

    @property
    def n_bytes(self) -> int:
        """Bytes that trials may take: what is allowed, less what Python and its libraries take."""
        return memory_for_trials(self.memory)

    def require_room(self, what: str, scores: Sequence[Any], key: Any = None, *, way: str = "") -> None:
        """Refuse files that must be read as a whole and do not fit in the memory that the user allows.

        Raises
        ------
        InputError
            See `deciban.memory.memory_error`.
        """
        needed = 0 if self.memory is None else memory_of(scores, key)
        if needed > self.n_bytes:
            raise memory_error(what, needed=needed, given=self.n_bytes, way=way)

    @property
    def is_asked(self) -> bool:
        """Whether something was said that only work in pieces can do."""
        return self.dask is not None or self.speakers is not None

    def refuse(self, what: str) -> None:
        """Refuse that something is said of trials that do not fit, where all are read at once.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Scale(memory="2GB").refuse("a plan")
        Traceback (most recent call last):
        deciban.errors.InputError: memory: a plan needs all trials in memory, and reads nothing in pieces. Leave it out.
        """
        said = [one.name for one in fields(self) if getattr(self, one.name) not in (None, False)]
        refuse(said, f"{what} needs all trials in memory, and reads nothing in pieces. Leave it out.")

    @property
    def speaker_files(self) -> tuple[Any, ...]:
        """One file of speakers, or one for each side."""
        if self.speakers is None:
            return ()
        if isinstance(self.speakers, str):
            return tuple(part.strip() for part in self.speakers.split(","))
        single = isinstance(self.speakers, os.PathLike | Mapping)
        return (self.speakers,) if single else tuple(self.speakers)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key."""
        return [one for one in self.speaker_files if isinstance(one, str | os.PathLike)]

    def engine(self) -> Engine:
        """Where passes run, as thriftily with memory as is asked for: a context, in which it is used.

        Raises
        ------
        ClusterError, InputError
            If there is no such cluster.
        """
        give_back_at_once(self.n_bytes)
        if self.dask is None:
            from deciban.engines.threads import Threads

            return Threads()
        from deciban.engines.dask import DaskEngine

        return DaskEngine.of(self.dask)


UnitsLike: TypeAlias = str | PathLike | Mapping[str, str] | IdMap
"""What names the units of one side: a column, a file, or a mapping of names to units."""

TRIALS, PRODUCT, COLUMN = "trials", "product", "column:"
"""Words that name no column and no file: every trial is a unit; the sides share none; and what names a column."""

_HOW = (
    "Name a column of the key or a file of two columns, name and unit, or one for each side with a comma between them; "
    "'trials' takes every trial for a unit, 'product' says that the sides share no units"
)


@dataclass(frozen=True, slots=True)
class UnitNaming:
    """What names the units of trials, as it was sorted.

    Attributes
    ----------
    each_trial : bool
        Whether every trial is a unit.
    apart : bool
        Whether the sides are unrelated: what is called the same on both is not the same unit.
    parts : tuple of str, path, mapping or IdMap
        One, or one for each side; none if units have the names of trials.
    """

    each_trial: bool = False
    apart: bool = False
    parts: tuple[UnitsLike, ...] = ()

    @classmethod
    def of(cls, units: Any) -> UnitNaming:
        """Sort what was said of units.

        Raises
        ------
        InputError
            If this is nothing that could name them.

        Examples
        --------
        >>> UnitNaming.of("product:model_speaker,test_speaker")
        UnitNaming(each_trial=False, apart=True, parts=('model_speaker', 'test_speaker'))
        """
        given, apart = units, False
        if isinstance(given, str):
            if given in (TRIALS, PRODUCT):
                return cls(each_trial=given == TRIALS, apart=given == PRODUCT)
            first, colon, rest = given.partition(":")
            given, apart = (rest, True) if colon and first == PRODUCT else (given, False)
            given = [part.strip() for part in given.split(",")]
        parts = tuple(given) if isinstance(given, Sequence) else (given,)
        if not 1 <= len(parts) <= 2 or not all(map(_names_units, parts)):
            raise InputError(f"units: got {_short(units)}. {_HOW}.")
        if any(isinstance(part, str) and part == "-" for part in parts):
            raise InputError("units: '-' is standard input, from which units are not read. Name a file.")
        return cls(apart=apart, parts=parts)


def _names_units(part: Any) -> bool:
    if isinstance(part, str):
        return bool(part) and part not in (TRIALS, PRODUCT, COLUMN)
    return isinstance(part, os.PathLike | Mapping | IdMap)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class HowSure:
    """What is wanted about the uncertainty of figures.

    Attributes
    ----------
    units : str, path, mapping of str to str, or sequence of one or two of these, optional
        Whose draw makes figures uncertain. A column of the key, a side of the trials, or a file with the unit of every
        name (as ``utt2spk`` of Kaldi; CSV too), or a mapping of names to units; one, or one for each side:
        ``"speaker"``, ``"enroll_spk,test_spk"``, ``("enroll_spk", "test.utt2spk")``. ``"trials"``: every trial is a
        unit. ``"product"``: the two sides have no units in common, which are their names or, as in
        ``"product:enroll_spk,test_spk"``, what is named. Left out, speakers are found from target trials, and of many
        classes every segment is a unit.
    level : float
        Of intervals: a share inside (0, 1).
    intervals : bool
        Whether figures have intervals.
    bootstrap : int
        Number of bootstrap replicates; 0 for none.
    seed : int
        From which replicates are drawn: 0 to 2**64 - 1.
    optimism : bool, optional
        Whether the optimism of minima is estimated; left out, of two classes only.
    units_required : bool
        Whether trials that lack what ``units`` names are refused. If not, they have no intervals, and a message says
        so.
    keep : bool, optional
        Whether the influences of units are kept, as comparisons need them; left out, unless they are very many.

    Raises
    ------
    InputError
        If one of these is none.

    Examples
    --------
    >>> HowSure(units="speaker", level=0.9).naming.parts
    ('speaker',)
    """

    units: UnitsLike | Sequence[UnitsLike] | None = None
    level: float = LEVEL
    intervals: bool = True
    bootstrap: int = 0
    seed: int = 0
    optimism: bool | None = None
    units_required: bool = True
    keep: bool | None = None

    def __post_init__(self) -> None:
        _ = self.naming
        object.__setattr__(self, "level", checked_level(self.level))
        object.__setattr__(self, "bootstrap", _whole(self.bootstrap, "bootstrap", "a number of replicates", 2**31 - 1))
        object.__setattr__(self, "seed", _whole(self.seed, "seed", "a seed", 2**64 - 1))
        for name in ("intervals", "optimism"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_) and (name == "intervals" or value is not None):
                raise InputError(f"{name}: got {value!r}. It is True or False.")
        for name in ("bootstrap", "optimism"):
            if getattr(self, name) and not self.intervals:
                raise InputError(f"{name}: is about intervals, and intervals=False (--no-intervals) asks for none.")

    @property
    def naming(self) -> UnitNaming | None:
        """What names the units; None if nothing was said."""
        return None if self.units is None else UnitNaming.of(self.units)

    def resampling(self, units: TrialUnits | None) -> Resampling | None:
        """What evaluations make intervals of; None where units are not known, or no intervals are wanted."""
        if units is None or not self.intervals:
            return None
        drawn = Resampling(units=units, bootstrap=self.bootstrap, seed=self.seed)
        return replace(drawn, level=self.level, optimism=self.optimism, keep=self.keep)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key, as far as there is such a file."""
        parts = () if self.naming is None else self.naming.parts
        return [one for one in parts if isinstance(one, str | os.PathLike) and is_file(one)]


def _whole(value: Any, name: str, what: str, most: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value <= most:
        raise InputError(f"{name}: got {_short(value)}. It is {what}, a whole number from 0 to {most:,}.")
    return int(value)


Where: TypeAlias = Mapping[str, str | Sequence[str]]
"""Values of condition columns of a key: only such trials are used."""

KindName: TypeAlias = Literal["two-class", "classes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How score files and a key are read and joined.

    Attributes
    ----------
    missing : {"error", "drop"} or float
        As in `deciban.align`: what to do about trials of the key without a score. A trial dropped for one system is
        dropped for all; a value to fill in is that of all classes, so that such a segment says nothing.
    duplicates : {"error", "keep-one"}
        As in `deciban.align`.
    format, columns : optional
        As in `deciban.read_scores`, for the score files.
    key_format, key_columns : optional
        The same for the key.
    labels : mapping, optional
        Label words of two classes, as in `deciban.read_scores`, for key and score files.
    where : mapping of str to str or sequence of str, optional
        Values of condition columns of the key: only such trials are used.
    log10 : bool
        Whether the scores are common logarithms.
    lr : bool
        Whether the scores are likelihood ratios (of many classes, likelihoods), whose natural logarithms are taken.
    negate : bool
        Two classes: lower scores favour target, as distances do; their signs are changed before anything else.
    by_order : bool
        As in `deciban.align`: trials are matched by their order, not by their names.
    weights : str, optional
        Column of the key that says how much each trial counts, by a number of at least 0: a trial of weight 2 counts
        like two copies of it.
    weights_required : bool
        Whether a key without this column is refused. If not, all its trials count alike, and a message says so.
    classes : sequence of str, optional
        Many classes: names of the columns of a matrix, in order; of a table, the columns that are scores of classes.
    posterior_prior : prior, optional
        Many classes: the scores are log posteriors by this prior, whose logarithm is subtracted.
    probabilities : float or prior, optional
        The scores are probabilities by this prior, that of a target or that of the classes: they become log-likelihood
        ratios, or log-likelihoods.
    ids : str, path, sequence of str, or IdMap, optional
        By which names trials are compared, as in `deciban.align`; or the file of an id map, of two columns: the name in
        the scores and that in the key.
    detection_llr : bool
        Many classes: the scores are log-likelihood ratios of detecting each class against the others, by a flat prior
        of these, as the language recognition evaluations of NIST from 2017 ask for.
    from_classes : bool
        Two classes: a file with a score for each of two named classes is taken, too, as the score of the target class
        minus that of the other one. Asked for by ``kind="two-class"``.
    names : sequence of str, or mapping of str to str, optional
        What systems are called: in their order, or by what they are called without it, that is by the names of their
        files without the ending.
    """

    missing: Missing = "error"
    duplicates: Duplicates = "error"
    format: str | None = None
    columns: Columns | None = None
    key_format: str | None = None
    key_columns: Columns | None = None
    labels: Mapping[str, str] | None = None
    where: Where | None = None
    log10: bool = False
    lr: bool = False
    negate: bool = False
    by_order: bool = False
    weights: str | None = None
    weights_required: bool = True
    classes: Sequence[str] | None = None
    posterior_prior: Prior | None = None
    probabilities: float | Prior | None = None
    ids: IdsLike | PathLike | None = None
    detection_llr: bool = False
    from_classes: bool = False
    names: Names | None = None

    def with_ids_read(self) -> Self:
        """The same with ``ids`` read, if they are in a file.

        Raises
        ------
        InputError, FormatError, OSError
            As in `deciban.io.reader.read_renaming`.
        """
        from deciban.io.reader import read_renaming

        return self if self.ids is None else replace(self, ids=read_renaming(self.ids))

    def says(self, name: str) -> bool:
        """Whether something was said of an attribute that is left out as None or False; an array says something."""
        value = getattr(self, name)
        return value is not None and value is not False

    @property
    def unit(self) -> ScoreUnit | None:
        """The unit that was declared for the scores of files; None if none was."""
        return unit_of(log10=self.log10, lr=self.lr)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key: the file of an id map, until it was read."""
        from deciban.io.reader import is_id_map_file

        return [self.ids] if is_id_map_file(self.ids) else []  # type: ignore[list-item]

    @property
    def renaming(self) -> Renaming | None:
        """By which names trials are compared, once it was read."""
        return self.ids if isinstance(self.ids, Renaming) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Which figures are wanted; None where that is left to the defaults.

    Attributes
    ----------
    operating_points : iterable
        Two classes: where detection costs are wanted, as in `deciban.evaluate`.
    eer_conventions, fnmr_at, fmr_at, at_thresholds, posteriors_at, axis, rule
        Two classes: as in `deciban.evaluation.TwoClassFigures`. Where nothing is said of the axis, it is that of the
        scores: common logarithms stay such in plots.
    prior, p_target, p_out_of_set, subsets, pairs, capacity
        Many classes: as in `deciban.evaluate_classes`; the prior also by names of classes.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences
        Many classes: evaluate which of these groups a segment is of; see `deciban.evaluation.evaluate_groups`.
    """

    operating_points: Iterable[PointLike] | None = None
    eer_conventions: bool | None = None
    fnmr_at: float | Sequence[float] | None = None
    fmr_at: float | Sequence[float] | None = None
    at_thresholds: Mapping[str, float] | None = None
    posteriors_at: float | Sequence[float] | None = None
    axis: Axis | None = None
    rule: Any = None
    prior: Prior | None = None
    p_target: float | Sequence[float] | None = None
    p_out_of_set: float | None = None
    subsets: bool | None = None
    pairs: bool | None = None
    capacity: bool | None = None
    groups: Groups | None = None

    def given(self) -> dict[str, Any]:
        """Those that something was said about."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that is said about files and figures beside their names.

    Attributes
    ----------
    reading : Reading
    figures : Figures
    kind : {"two-class", "classes"}, optional
        What the scores are about; left out, the files decide.
    how_sure : HowSure
        What is wanted about uncertainty.
    scale : Scale
        What is done about trials that do not fit in memory.
    split : Split
        Into which conditions trials are split.
    plan : Preset, optional
        The plan of an evaluation (``preset``, its name or its file), whose figures are among those that are wanted.
    groups : tuple of str, optional
        What is read of trials in pieces so that they can be held out together; see `HowToRead`.
    incomplete : bool
        Whether trials may lack scores of some systems, in place of which there is NaN.
    worst : int, optional
        How many of the most misleading trials are wanted, of two classes of each; None if nothing was said.
    """

    reading: Reading = field(default_factory=Reading)
    figures: Figures = field(default_factory=Figures)
    kind: KindName | None = None
    how_sure: HowSure = field(default_factory=HowSure)
    scale: Scale = field(default_factory=Scale)
    split: Split = field(default_factory=Split)
    plan: Preset | None = None
    groups: tuple[str, ...] | None = None
    incomplete: bool = False
    worst: int | None = None

    @classmethod
    def of(cls, function: str, given: Mapping[str, Any]) -> Self:
        """Sort the keyword arguments of a function into reading, figures and uncertainty.

        In their place, ``options`` may hold all of them, sorted already.

        Raises
        ------
        TypeError
            If there is an argument that none of them has; it names the function that was called, and a similar one.
        InputError
            If ``kind`` is none, or what is said about uncertainty.

        Examples
        --------
        >>> Options.of("evaluate_files", {"log10": True, "p_target": 0.1}).reading.log10
        True
        >>> Options.of("evaluate_files", {"operating_point": [0.01]})
        Traceback (most recent call last):
        ...
        TypeError: evaluate_files() got an unexpected keyword argument 'operating_point'. Did you mean operating_points?
        """
        whole = given.get("options")
        if isinstance(whole, cls):
            if others := [name for name in given if name != "options"]:
                raise TypeError(f"{function}() got options, and {', '.join(others)} besides. Give all in one way.")
            return whole
        known = {name: part for part, made in _PARTS.items() for name in made.__dataclass_fields__}
        for name in given:
            elsewhere = (known.get(name) == "split" and given[name] and function not in _BY_CONDITION) or (
                name == "worst" and given[name] is not None and function not in _OF_FILES
            )
            if name not in (*known, *_OWN) or elsewhere:
                near = [] if name in known else difflib.get_close_matches(name, [*known, *_OWN], n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{meant}")
        plan = None if given.get("preset") is None else preset(given["preset"])
        given = dict(given) if plan is None else with_figures_of(plan, given)
        kind = given.get("kind")
        if kind not in (None, "two-class", "classes"):
            raise InputError(f"kind: got {kind!r}. It is 'two-class' or 'classes', or left out.")
        if isinstance(given.get("operating_points"), Iterable):
            given["operating_points"] = list(given["operating_points"])
        given = {"from_classes": kind == "two-class", **given}
        parts: dict[str, Any] = {
            part: made(**{name: value for name, value in given.items() if known.get(name) == part})
            for part, made in _PARTS.items()
        }
        _refuse_units(parts["reading"])
        return cls(**parts, kind=kind, plan=plan, worst=given.get("worst"))

    def of_systems(self, known: Renamed | None) -> Options:
        """The same for other trials of systems that were given names."""
        return self if known is None else replace(self, reading=replace(self.reading, names=known))

    def with_figures(self, **figures: Any) -> Options:
        """The same with more figures: those that something was said about."""
        given = {name: value for name, value in figures.items() if value not in (None, False, ())}
        return replace(self, figures=replace(self.figures, **given))

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key."""
        return [*self.reading.files, *self.how_sure.files, *self.scale.files, *self.split.files]

    def lenient_on_units(self) -> Options:
        """The same for other trials, whose units may not be among those that were named."""
        return replace(self, how_sure=replace(self.how_sure, units_required=False))

    def lenient(self) -> Options:
        """The same for other trials, whose key may lack the column of weights."""
        return replace(self, reading=replace(self.reading, weights_required=False))


_PARTS: dict[str, type[Any]] = {
    "reading": Reading,
    "figures": Figures,
    "how_sure": HowSure,
    "scale": Scale,
    "split": Split,
}
"""What sorts the keyword arguments of functions, by the attribute of `Options` that it becomes."""

_OWN = ("kind", "preset", "worst")
"""Arguments that belong to none of these."""


def with_figures_of(plan: Preset, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with the figures of a plan first, and then those that were asked for beside it, each once.

    Raises
    ------
    InputError
        If the prior of the class that is out of set is another one.

    Examples
    --------
    >>> from deciban.evaluation import preset
    >>> with_figures_of(preset("lre17"), {"p_target": [0.2, 0.5]})
    {'p_target': [0.5, 0.1, 0.2]}
    """
    found, share = dict(given), given.get("p_out_of_set")
    if plan.kind == "classes" and share not in (None, plan.p_out_of_set):
        last = f"the last class is out of set, with prior {plan.p_out_of_set:g}" if plan.p_out_of_set else ""
        known = last or "no class is out of set"
        raise InputError(f"p_out_of_set: by the preset {plan.name}, {known}. Leave one of the two out.")
    for name, value in plan.figures.items():
        own = given.get(name)
        if name == "p_out_of_set":
            found[name] = value
            continue
        added = [] if own is None else list(own) if isinstance(own, Iterable) else [own]
        if name == "operating_points":
            added = [as_operating_point(one) for one in added]
        found[name] = list(dict.fromkeys([*value, *added]))
    return found


_OF_FILES = ("evaluate_files", "report_files", "deciban")
"""Functions that can say which trials are the worst."""

_BY_CONDITION = ("evaluate_files", "evaluate", "evaluate_classes", "report_files", "deciban")
"""Functions that split trials into conditions; the last one is the command line, where commands have options or not."""

_UNITS = {
    "detection_llr": "detection llrs",
    "posterior_prior": "log posteriors",
    "probabilities": "probabilities",
    "lr": "likelihood ratios",
    "log10": "logarithms to base 10",
}
"""What attributes of `Reading` say that scores are."""


def _refuse_units(reading: Reading) -> None:
    """Refuse scores that are said to be two things, or that the format declares; log posteriors may be of either base.

    Raises
    ------
    InputError
    """
    given = [name for name in _UNITS if reading.says(name)]
    if reading.negate:
        refuse_negated_probabilities(reading.probabilities)
    if len(given) > 1 and given not in (["posterior_prior", "log10"], ["detection_llr", "log10"]):
        what = " or ".join(_UNITS[name] for name in given)
        raise InputError(f"{', '.join(given)}: scores are {what}, not both. Leave one out.")
    known = formats().get(reading.format) if isinstance(reading.format, str) else None
    if known is not None and known.detection_llr and given:
        raise InputError(
            f"{given[0]}: files of format {known.name} hold detection llrs, and are read as log-likelihoods. Leave "
            "it out."
        )
