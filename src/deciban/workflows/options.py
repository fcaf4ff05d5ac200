"""Options of reading, joining, metrics, uncertainty, memory and names of systems, as frozen objects."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from deciban._files import is_file
from deciban._validate.arrays import unit_of
from deciban._validate.classes import Groups, Prior
from deciban.core.ranks.roc import PointLike, as_operating_point
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, counted, option, refuse
from deciban.evaluation.preset_table import Preset, preset
from deciban.evaluation.uncertainty import Resampling
from deciban.io.formats import formats
from deciban.io.recognition import JoinOptions, memory_of
from deciban.io.units import refuse_negated_probabilities
from deciban.memory import allowed_memory, give_back_at_once, memory_for_trials, require_room
from deciban.trials import IdMap
from deciban.trials.joining import IdsLike, Renaming
from deciban.trials.sources import Engine
from deciban.types import Axis, KindName, PathLike, Raw, ScoreUnit
from deciban.workflows.reading.partitions import SplitColumn, require_apart, split_columns

if TYPE_CHECKING:
    from deciban.rules.families import ThresholdRule


Columns: TypeAlias = str | Sequence[str]
"""Columns that are crossed, separated by commas; a sequence contains several separate partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Requested conditions of trials.

    Attributes
    ----------
    by : str or sequence of str, optional
        Columns of the key: every combination of their values is a condition with all metrics. ``"gender,channel"``
        crosses two columns, ``["gender", "channel"]`` uses each separately; ``"duration:5,10,30"`` makes bins of
        numbers; ``"enroll=spk2age"`` looks up the names of a side in a file with two columns.
    equalize : str or sequence of str, optional
        Columns in the same syntax: metrics in which every combination of their values has equal weight.

    Raises
    ------
    InputError
        If the columns cannot be parsed.

    Examples
    --------
    >>> [[one.name for one in columns] for columns in Split(by=["gender,channel", "gender"]).partitions]
    [['gender', 'channel'], ['gender']]
    """

    by: Columns | None = None
    equalize: Columns | None = None

    def __post_init__(self) -> None:
        """Parse the columns, which refuses invalid ones."""
        _ = self.partitions
        for columns in self.equalized:
            require_apart(columns, "equalize")

    @property
    def partitions(self) -> tuple[tuple[SplitColumn, ...], ...]:
        """Columns of each partition."""
        return _columns_of(self.by, "by")

    @property
    def equalized(self) -> tuple[tuple[SplitColumn, ...], ...]:
        """Columns of each partition whose conditions get equal weights."""
        return _columns_of(self.equalize, "equalize")

    @property
    def is_asked(self) -> bool:
        """True if conditions are requested."""
        return bool(self.partitions or self.equalized)

    @property
    def files(self) -> list[PathLike]:
        """Files that are read besides scores and key."""
        return [one.path for columns in (*self.partitions, *self.equalized) for one in columns if one.path]

    def refuse(self, what: str, way_out: str = "Leave it out.") -> None:
        """Refuse conditions where they have no effect.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Split(by="gender").refuse("a plan")
        Traceback (most recent call last):
        deciban.errors.InputError: by: a plan needs all trials together. Leave it out.
        """
        items = (one.name for one in fields(self) if getattr(self, one.name))
        refuse(items, f"{what} needs all trials together. {way_out}")


def _columns_of(columns: Columns | None, argument: str) -> tuple[tuple[SplitColumn, ...], ...]:
    if columns is None:
        return ()
    texts = [columns] if isinstance(columns, str) or not isinstance(columns, Sequence) else columns
    return tuple(split_columns(one, argument) for one in texts)


@dataclass(frozen=True, slots=True)
class RenamedSystems:
    """Original and new names of systems.

    Attributes
    ----------
    before, after : tuple of str
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    def of_others(self, names: Sequence[str]) -> list[str]:
        """Return the new names of the same systems on other trials, by original names if they match, else in order.

        Raises
        ------
        InputError
            If the number of systems differs, or only some names match.
        """
        if set(names) == set(self.before) and len(names) == len(self.before):
            return [self.after[self.before.index(name)] for name in names]
        if set(names) & set(self.before) or len(names) != len(self.before):
            raise InputError(
                f"names: are for the systems {', '.join(self.before)}, but the systems of the other trials are "
                f"{', '.join(names)}. Name files of the same systems: all with the same names, or none."
            )
        return list(self.after)


def known_by(names: Sequence[str], renaming: RenamedSystems | None, trained: Sequence[str]) -> list[str]:
    """Return the names that a model knows: the new names of systems, or their original names if the model has them.

    Examples
    --------
    >>> known_by(["A", "B"], RenamedSystems(("a1", "b1"), ("A", "B")), ["b1", "a1"])
    ['a1', 'b1']
    """
    if renaming is None or not set(renaming.before) & set(trained):
        return list(names)
    before = dict(zip(renaming.after, renaming.before, strict=True))
    return [before.get(name, name) for name in names]


Names: TypeAlias = Sequence[str] | Mapping[str, str] | RenamedSystems
"""Names of systems in order, or by original name."""


def renamed(systems: Sequence[Any], names: Names | None) -> tuple[list[Any], RenamedSystems | None]:
    """Return systems with new names.

    Parameters
    ----------
    systems : sequence of Scores or of ClassScores
        Systems with their original names.
    names : sequence of str, or mapping from names of files to names, optional
        New names for all systems, in order; or for some of them, by original name.

    Returns
    -------
    list of Scores or of ClassScores
    Renamed or None
        Original and new names; None without `names`.

    Raises
    ------
    InputError
        If the number of names differs, a name is unknown, or two systems would have the same name.

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
    result = [replace(system, name=name) for system, name in zip(systems, after, strict=True)]
    return result, RenamedSystems(before, after)


def new_names(before: Sequence[str], names: Names | None) -> tuple[str, ...]:
    """Return the new names of systems; see `renamed`."""
    if names is None:
        return tuple(before)
    after = names.of_others(before) if isinstance(names, RenamedSystems) else _names(before, names)
    if twice := sorted({name for name in after if after.count(name) > 1}):
        raise InputError(f"names: {', '.join(map(repr, twice))} is the name of two systems. Give each its own.")
    return tuple(after)


def _names(before: Sequence[str], names: Sequence[str] | Mapping[str, str]) -> list[str]:
    named: Iterable[Any] = names.values() if isinstance(names, Mapping) else names
    values = [names] if isinstance(names, str) else list(named)
    for name in values:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"names: got {name!r}. A name of a system must be printable text.")
    if isinstance(names, Mapping):
        for name in names:
            if name not in before:
                raise InputError(f"names: there is no system {name!r}. Use one of {', '.join(before)}.")
        return [names.get(name, name) for name in before]
    if len(values) != len(before):
        raise InputError(
            f"names: {counted(len(values), 'name')} for {counted(len(before), 'system')} ({', '.join(before)}). Give "
            f"all names in this order, or some by their current names: {before[0]}=NAME."
        )
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Options for data larger than memory.

    Attributes
    ----------
    memory : str or int, optional
        Limit in bytes, as ``"2GB"``, ``"500MB"`` or a number; larger data are read in batches. By default half of the
        free memory.
    dask : str or distributed.Client, optional
        Address of a Dask scheduler, ``"local:N"`` for N processes of this machine, or a client, to distribute the
        work.
    speakers : path, or sequence of one or two of these, optional
        Files with the speaker of every name, one or one for each side: a trial is a target if both sides have the same
        speaker, and no key is needed.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> Scale(memory="2GB").n_bytes
    1940000000
    """

    memory: str | int | None = None
    dask: Raw = None
    speakers: Raw = None

    def __post_init__(self) -> None:
        """Check the memory limit."""
        if self.memory is not None:
            allowed_memory(self.memory)

    @property
    def n_bytes(self) -> int:
        """Memory for trials in bytes: the limit minus the memory for Python and its libraries."""
        return memory_for_trials(self.memory)

    def require_room(self, what: str, scores: Sequence[Any], key: PathLike | None = None, *, way: str = "") -> None:
        """Refuse files that must be read as a whole, if they do not fit in the given memory.

        Raises
        ------
        InputError
            See `deciban.memory.memory_error`.
        """
        if self.memory is not None:
            require_room(what, memory_of(scores, key), self.n_bytes, way=way)

    @property
    def is_asked(self) -> bool:
        """True if an option needs reading in batches."""
        return self.dask is not None or self.speakers is not None

    def refuse(self, what: str) -> None:
        """Refuse options for reading in batches, where all trials are read at once.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Scale(memory="2GB").refuse("a plan")
        Traceback (most recent call last):
        deciban.errors.InputError: memory: a plan needs all trials in memory. Leave it out.
        """
        items = [one.name for one in fields(self) if getattr(self, one.name) not in (None, False)]
        refuse(items, f"{what} needs all trials in memory. Leave it out.")

    @property
    def speaker_files(self) -> tuple[Any, ...]:
        """One file of speakers, or one for each side."""
        if self.speakers is None:
            return ()
        if isinstance(self.speakers, str):
            return tuple(part.strip() for part in self.speakers.split(","))
        return (self.speakers,) if isinstance(self.speakers, os.PathLike | Mapping) else tuple(self.speakers)

    @property
    def files(self) -> list[PathLike]:
        """Files that are read besides scores and key."""
        return [one for one in self.speaker_files if isinstance(one, str | os.PathLike)]

    def engine(self) -> Engine:
        """Return the engine for passes, as a context manager, with settings for its memory.

        Raises
        ------
        ClusterError, InputError
            If there is no such cluster.
        """
        give_back_at_once(self.n_bytes)
        if self.dask is None:
            from deciban.engines import Threads

            return Threads()
        from deciban.engines.dask import DaskEngine

        return DaskEngine.of(self.dask)


UnitsLike: TypeAlias = str | PathLike | Mapping[str, str] | IdMap
"""Units of one side: a column, a file, or a mapping of names to units."""

TRIALS, PRODUCT, COLUMN = "trials", "product", "column:"
"""Words that are not names of columns or files: every trial is a unit; sides share no units; prefix of a column."""

_HOW = (
    "Name a column of the key or a file with two columns, name and unit, or one for each side, separated by a comma; "
    "'trials': every trial is a unit; 'product': the sides share no units"
)


@dataclass(frozen=True, slots=True)
class UnitNaming:
    """Parsed names of the units of trials.

    Attributes
    ----------
    each_trial : bool
        Whether every trial is a unit.
    apart : bool
        Whether the sides share no units: the same name on both sides is not the same unit.
    parts : tuple of str, path, mapping or IdMap
        One, or one for each side; empty if the names of the trials are the units.
    """

    each_trial: bool = False
    apart: bool = False
    parts: tuple[UnitsLike, ...] = ()

    @classmethod
    def of(cls, units: object) -> UnitNaming:
        """Parse the argument ``units``.

        Raises
        ------
        InputError
            If it cannot name units.

        Examples
        --------
        >>> UnitNaming.of("product:model_speaker,test_speaker")
        UnitNaming(each_trial=False, apart=True, parts=('model_speaker', 'test_speaker'))
        """
        values, apart = units, False
        if isinstance(values, str):
            if values in (TRIALS, PRODUCT):
                return cls(each_trial=values == TRIALS, apart=values == PRODUCT)
            first, colon, rest = values.partition(":")
            values, apart = (rest, True) if colon and first == PRODUCT else (values, False)
            values = [part.strip() for part in values.split(",")]
        parts = tuple(values) if isinstance(values, Sequence) else (values,)
        if not 1 <= len(parts) <= 2 or not all(map(_names_units, parts)):
            raise InputError(f"units: got {_short(units)}. {_HOW}.")
        if any(isinstance(part, str) and part == "-" for part in parts):
            raise InputError("units: '-' is standard input, which cannot contain units. Name a file.")
        return cls(apart=apart, parts=parts)


def _names_units(part: object) -> bool:
    if isinstance(part, str):
        return bool(part) and part not in (TRIALS, PRODUCT, COLUMN)
    return isinstance(part, os.PathLike | Mapping | IdMap)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyOptions:
    """Options for the uncertainty of metrics.

    Attributes
    ----------
    units : str, path, mapping of str to str, or sequence of one or two of these, optional
        Clusters for confidence intervals, for example speakers. A column of the key, a side of the trials, a file with
        the unit of every name (such as ``utt2spk`` of Kaldi, or CSV), or a mapping of names to units; one, or one for
        each side: ``"speaker"``, ``"enroll_spk,test_spk"``, ``("enroll_spk", "test.utt2spk")``. ``"trials"``: every
        trial is a unit. ``"product"``: the two sides share no units; the units are their names, or named columns as in
        ``"product:enroll_spk,test_spk"``. By default, speakers are found from target trials; for multiclass scores,
        every segment is a unit.
    level : float
        Level of intervals, in (0, 1).
    intervals : bool
        Whether metrics have intervals.
    bootstrap : int
        Number of bootstrap replicates; 0 for none.
    seed : int
        Seed of the bootstrap, 0 to 2**64 - 1.
    optimism : bool, optional
        Whether to compute corrected minima, too; by default only for two classes.
    units_required : bool
        Whether to refuse trials without the units that ``units`` names. If not, they have no intervals, and there is a
        message.
    keep : bool, optional
        Whether to keep the influences of units, for comparisons; by default, unless they are very many.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> UncertaintyOptions(units="speaker", level=0.9).naming.parts
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
                raise InputError(f"{name}: got {value!r}. It must be True or False.")
        for name in ("bootstrap", "optimism"):
            if getattr(self, name) and not self.intervals:
                raise InputError(f"{name}: is for intervals, but {option(intervals=False)} switches them off.")

    @property
    def naming(self) -> UnitNaming | None:
        """Parsed names of the units; None by default."""
        return None if self.units is None else UnitNaming.of(self.units)

    @property
    def of_source(self) -> dict[str, Any]:
        """Options for the units of a source."""
        naming = self.naming
        if naming is None or not self.intervals:
            return {"find_speakers": self.intervals, "find_segments": self.intervals and self.bootstrap > 0}
        if naming.each_trial:
            return {"units": TRIALS}
        return {"units": naming.parts, "units_apart": naming.apart, "units_required": self.units_required}

    def resampling(self, units: TrialUnits | None) -> Resampling | None:
        """Return the settings of intervals; None if units are unknown, or intervals are switched off."""
        if units is None or not self.intervals:
            return None
        drawn = Resampling(units=units, bootstrap=self.bootstrap, seed=self.seed)
        return replace(drawn, level=self.level, optimism=self.optimism, keep=self.keep)

    @property
    def files(self) -> list[PathLike]:
        """Files that are read besides scores and key."""
        parts = () if self.naming is None else self.naming.parts
        return [one for one in parts if isinstance(one, str | os.PathLike) and is_file(one)]


def _whole(value: object, name: str, what: str, most: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value <= most:
        raise InputError(f"{name}: got {_short(value)}. It must be {what}, a whole number from 0 to {most:,}.")
    return int(value)


Where: TypeAlias = Mapping[str, str | Sequence[str]]
"""Values of condition columns of a key: only trials with these values are used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(JoinOptions):
    """Options for reading and joining score files and a key.

    Attributes
    ----------
    missing : {"error", "drop"} or float
        As in `deciban.align`: action for key trials without a score. A trial dropped for one system is dropped for all.
        A value to fill in is used for all classes, so that the segment has no information.
    duplicates : {"error", "keep-one"}
        As in `deciban.align`.
    format, columns : optional
        As in `deciban.read_scores`, for the score files.
    key_format, key_columns : optional
        The same for the key.
    labels : mapping, optional
        Label words of two classes, as in `deciban.read_scores`, for key and score files.
    where : mapping of str to str or sequence of str, optional
        Values of condition columns of the key: only trials with these values are used.
    log10 : bool
        Whether the scores are common logarithms.
    lr : bool
        Whether the scores are likelihood ratios (multiclass: likelihoods), which are converted to natural logarithms.
    negate : bool
        Two classes: lower scores favour targets, as for distances; the signs of all scores are changed first.
    by_order : bool
        As in `deciban.align`: trials are matched by order, not by name.
    weights : str, optional
        Column of the key with the weight of each trial, a number of at least 0. A trial of weight 2 counts like two
        copies.
    weights_required : bool
        Whether to refuse a key without this column. If not, all its trials have equal weight, and there is a message.
    classes : sequence of str, optional
        Multiclass: names of the columns of a matrix, in order; for a table, the columns of class scores.
    posterior_prior : prior, optional
        Multiclass: the scores are log posteriors with this prior, whose logarithm is subtracted.
    probabilities : float or prior, optional
        The scores are probabilities with this prior, of a target or of the classes. They become log-likelihood ratios,
        or log-likelihoods.
    ids : str, path, sequence of str, or IdMap, optional
        Rules for comparing trial names, as in `deciban.align`; or the file of an id map with two columns: the name in
        the scores and the name in the key.
    detection_llr : bool
        Multiclass: the scores are log-likelihood ratios of each class against the others, with a flat prior of the
        others, as in the NIST language recognition evaluations since 2017.
    from_classes : bool
        Two classes: also accept a file with a score for each of two named classes, as the score of the target class
        minus that of the other class. Set by ``kind="two-class"``.
    names : sequence of str, or mapping of str to str, optional
        Names of systems, in order or by original name, which is the file name without its ending.
    """

    log10: bool = False
    lr: bool = False
    negate: bool = False
    posterior_prior: Prior | None = None
    probabilities: float | Prior | None = None
    ids: IdsLike | PathLike | None = None
    detection_llr: bool = False
    from_classes: bool = False
    names: Names | None = None

    def with_ids_read(self) -> Self:
        """Return the options after reading ``ids``, if they are in a file.

        Raises
        ------
        InputError, FormatError, OSError
            As in `deciban.io.reader.read_renaming`.
        """
        from deciban.io.reader import read_renaming

        return self if self.ids is None else replace(self, ids=read_renaming(self.ids))

    def says(self, name: str) -> bool:
        """Return True if an attribute with the default None or False is set; arrays are set."""
        value = getattr(self, name)
        return value is not None and value is not False

    @property
    def unit(self) -> ScoreUnit | None:
        """Declared unit of the scores in files; None if none was declared."""
        return unit_of(log10=self.log10, lr=self.lr)

    @property
    def files(self) -> list[PathLike]:
        """Files that are read besides scores and key: an id map, unless it has been read."""
        from deciban.io.reader import is_id_map_file

        return [self.ids] if is_id_map_file(self.ids) else []  # type: ignore[list-item]

    @property
    def renaming(self) -> Renaming | None:
        """Rules for comparing trial names, after reading."""
        return self.ids if isinstance(self.ids, Renaming) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions:
    """Requested metrics; None for the defaults.

    Attributes
    ----------
    operating_points : iterable
        Two classes: operating points of detection costs, as in `deciban.evaluate`.
    eer_conventions, discrepancy, fnmr_at, fmr_at, at_thresholds, posteriors_at, axis, rule
        Two classes: as in `deciban.evaluation.TwoClassMetrics`. By default the axis has the unit of the scores: common
        logarithms stay common logarithms in plots.
    classifier : bool
        Report metrics of classifier papers at the shares of the classes in the data.
    prior, p_target, p_out_of_set, subsets, pairs, capacity
        Multiclass: as in `deciban.evaluate_classes`; the prior also by class name.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences
        Multiclass: evaluate these groups instead of classes; see `deciban.evaluation.evaluate_groups`.
    """

    operating_points: Iterable[PointLike] | None = None
    eer_conventions: bool | str | None = None
    classifier: bool | None = None
    discrepancy: bool | None = None
    fnmr_at: float | Sequence[float] | None = None
    fmr_at: float | Sequence[float] | None = None
    at_thresholds: Mapping[str, float] | None = None
    posteriors_at: float | Sequence[float] | None = None
    axis: Axis | None = None
    rule: ThresholdRule | None = None
    prior: Prior | None = None
    p_target: float | Sequence[float] | None = None
    p_out_of_set: float | None = None
    subsets: bool | None = None
    pairs: bool | None = None
    capacity: bool | None = None
    groups: Groups | None = None

    def given(self) -> dict[str, Any]:
        """Return the attributes that are not None."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Options:
    """Options for files and metrics.

    Attributes
    ----------
    reading : Reading
    metrics : MetricOptions
    kind : {"two-class", "classes"}, optional
        Kind of scores; by default detected from the files.
    how_sure : UncertaintyOptions
        Options for uncertainty.
    scale : Scale
        Options for data larger than memory.
    split : Split
        Requested conditions.
    plan : Preset, optional
        Protocol (``preset``, its name or its file), whose metrics are requested, too.
    groups : tuple of str, optional
        Columns that are read in batches for cross-validation; see `BatchReading`.
    incomplete : bool
        Whether trials can lack scores of some systems, which are NaN.
    worst : int, optional
        Number of most misleading trials, for each of two classes; None by default.
    has_pages : bool
        Whether pages may show the results: then batches of many classes are also counted at other priors.
    """

    reading: Reading = field(default_factory=Reading)
    metrics: MetricOptions = field(default_factory=MetricOptions)
    kind: KindName | None = None
    how_sure: UncertaintyOptions = field(default_factory=UncertaintyOptions)
    scale: Scale = field(default_factory=Scale)
    split: Split = field(default_factory=Split)
    plan: Preset | None = None
    groups: tuple[str, ...] | None = None
    incomplete: bool = False
    worst: int | None = None
    has_pages: bool = True

    @classmethod
    def of(cls, function: str, entries: Mapping[str, Any]) -> Self:
        """Sort the keyword arguments of a function into the parts of the options.

        A single argument ``options`` can contain all of them, already sorted.

        Raises
        ------
        TypeError
            If an argument is unknown; the message contains the called function and a similar argument.
        InputError
            If ``kind`` or an option of uncertainty is invalid.

        Examples
        --------
        >>> Options.of("evaluate_files", {"log10": True, "p_target": 0.1}).reading.log10
        True
        >>> Options.of("evaluate_files", {"operating_point": [0.01]})
        Traceback (most recent call last):
        ...
        TypeError: evaluate_files() got an unexpected keyword argument 'operating_point'. Did you mean operating_points?
        """
        whole = entries.get("options")
        if isinstance(whole, cls):
            if others := [name for name in entries if name != "options"]:
                raise TypeError(f"{function}() got options, and also {', '.join(others)}. Use only one of both.")
            return whole
        known = {name: part for part, result in _PARTS.items() for name in result.__dataclass_fields__}
        for name in entries:
            elsewhere = (known.get(name) == "split" and entries[name] and function not in _BY_CONDITION) or (
                name == "worst" and entries[name] is not None and function not in _OF_FILES
            )
            if name not in (*known, *_OWN) or elsewhere:
                near = [] if name in known else difflib.get_close_matches(name, [*known, *_OWN], n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{meant}")
        plan = None if entries.get("preset") is None else preset(entries["preset"])
        entries = dict(entries) if plan is None else with_metrics_of(plan, entries)
        kind = entries.get("kind")
        if kind not in (None, "two-class", "classes"):
            raise InputError(f"kind: got {kind!r}. It must be 'two-class' or 'classes', or left out.")
        if isinstance(entries.get("operating_points"), Iterable):
            entries["operating_points"] = list(entries["operating_points"])
        entries = {"from_classes": kind == "two-class", **entries}
        parts: dict[str, Any] = {
            part: result(**{name: value for name, value in entries.items() if known.get(name) == part})
            for part, result in _PARTS.items()
        }
        _refuse_units(parts["reading"])
        return cls(**parts, kind=kind, plan=plan, worst=entries.get("worst"))

    def of_systems(self, systems: RenamedSystems | None) -> Options:
        """Return options for other trials of systems with new names."""
        return self if systems is None else replace(self, reading=replace(self.reading, names=systems))

    def with_metrics(self, **metrics: Raw) -> Options:
        """Return options with more requested metrics; None, False and empty values are ignored."""
        entries = {name: value for name, value in metrics.items() if value not in (None, False, ())}
        every = entries if self.plan is None else with_metrics_of(self.plan, entries)  # metrics of the protocol stay
        return replace(self, metrics=replace(self.metrics, **{name: every[name] for name in entries}))

    @property
    def files(self) -> list[PathLike]:
        """Files that are read besides scores and key."""
        return [*self.reading.files, *self.how_sure.files, *self.scale.files, *self.split.files]

    def lenient_on_units(self) -> Options:
        """Return options for other trials, which can lack the named units."""
        return replace(self, how_sure=replace(self.how_sure, units_required=False))

    def lenient(self) -> Options:
        """Return options for other trials, whose key can lack the column of weights."""
        return replace(self, reading=replace(self.reading, weights_required=False))


_PARTS: dict[str, type[Any]] = {
    "reading": Reading,
    "metrics": MetricOptions,
    "how_sure": UncertaintyOptions,
    "scale": Scale,
    "split": Split,
}
"""Classes that sort the keyword arguments of functions, by attribute of `Options`."""

_OWN = ("kind", "preset", "worst")
"""Arguments that are attributes of `Options` itself."""


def with_metrics_of(plan: Preset, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the metrics of a protocol first, and then other requested metrics, each once.

    Raises
    ------
    InputError
        If the prior of the out-of-set class differs.

    Examples
    --------
    >>> from deciban.evaluation import preset
    >>> with_metrics_of(preset("lre17"), {"p_target": [0.2, 0.5]})
    {'p_target': [0.5, 0.1, 0.2]}
    """
    entries, share = dict(argument), argument.get("p_out_of_set")
    if plan.kind == "classes" and share not in (None, plan.p_out_of_set):
        last = f"the last class is out of set, with prior {plan.p_out_of_set:g}" if plan.p_out_of_set else ""
        known = last or "no class is out of set"
        raise InputError(f"p_out_of_set: in the preset {plan.name}, {known}. Leave one of the two out.")
    for name, value in plan.metrics.items():
        own = argument.get(name)
        if name in ("p_out_of_set", "eer_conventions", "discrepancy"):
            entries[name] = own or value
            continue
        added = [] if own is None else list(own) if isinstance(own, Iterable) else [own]
        if name == "operating_points":
            added = [as_operating_point(one) for one in added]
        entries[name] = list(dict.fromkeys([*value, *added]))
    return entries


_OF_FILES = ("evaluate_files", "report_files", "deciban")
"""Functions that can list the most misleading trials."""

_BY_CONDITION = ("evaluate_files", "evaluate", "evaluate_classes", "report_files", "deciban")
"""Functions with results by condition; ``deciban`` is the command line, where options depend on the command."""

_UNITS = {
    "detection_llr": "detection llrs",
    "posterior_prior": "log posteriors",
    "probabilities": "probabilities",
    "lr": "likelihood ratios",
    "log10": "logarithms to base 10",
}
"""Names of units that attributes of `Reading` declare."""


def _refuse_units(reading: Reading) -> None:
    """Refuse two declared units, or a unit that the format implies; log posteriors can have base 10.

    Raises
    ------
    InputError
    """
    values = [name for name in _UNITS if reading.says(name)]
    if reading.negate:
        refuse_negated_probabilities(reading.probabilities)
    if len(values) > 1 and values not in (["posterior_prior", "log10"], ["detection_llr", "log10"]):
        what = " or ".join(_UNITS[name] for name in values)
        raise InputError(f"{', '.join(values)}: scores are {what}, not both. Leave one out.")
    known = formats().get(reading.format) if isinstance(reading.format, str) else None
    if known is not None and known.detection_llr and values:
        raise InputError(
            f"{values[0]}: files of format {known.name} contain detection llrs, and are read as log-likelihoods. Leave "
            "it out."
        )
