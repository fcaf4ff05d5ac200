"""What a user says about reading, joining and figures: frozen objects, made in one place, that travel whole."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeAlias

from deciban._files import PathLike
from deciban._validate.classes import Groups, Prior
from deciban._validate.probabilities import unit_of
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.preset_table import Preset, preset
from deciban.io.columns.headers import Columns
from deciban.io.formats import formats
from deciban.io.units import refuse_negated_probabilities
from deciban.trials.joining.matching import Duplicates, Missing
from deciban.trials.joining.renaming import IdsLike, Renaming
from deciban.types import Axis, ScoreUnit
from deciban.workflows.how_sure import HowSure
from deciban.workflows.scale import Scale
from deciban.workflows.split import Split
from deciban.workflows.system_names import Names, Renamed

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
            As in `deciban.io.renaming.read_renaming`.
        """
        from deciban.io.renaming import read_renaming

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
        from deciban.io.renaming import is_id_map_file

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
        What is read of trials in pieces so that they can be held out together; see `deciban.io.shards.how.HowToRead`.
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
        groups = (Reading, Figures, HowSure, Scale, Split)
        reads, shows, sure, large, split = ({one.name for one in fields(made)} for made in groups)
        known = [*reads, *shows, *sure, *large, *split, "kind", "preset", "worst"]
        for name in given:
            elsewhere = (name in split and given[name] and function not in _BY_CONDITION) or (
                name == "worst" and given[name] is not None and function not in _OF_FILES
            )
            if name not in known or elsewhere:
                near = [] if name in known else difflib.get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{meant}")
        plan = None if given.get("preset") is None else preset(given["preset"])
        given = given if plan is None else with_figures_of(plan, given)
        kind = given.get("kind")
        if kind not in (None, "two-class", "classes"):
            raise InputError(f"kind: got {kind!r}. It is 'two-class' or 'classes', or left out.")
        read: dict[str, Any] = {"from_classes": kind == "two-class"}
        read |= {name: value for name, value in given.items() if name in reads}
        reading = Reading(**read)
        _refuse_two_units(reading)
        _refuse_unit_of_format(reading)
        figures = Figures(**{name: value for name, value in given.items() if name in shows})
        if figures.operating_points is not None and isinstance(figures.operating_points, Iterable):
            figures = replace(figures, operating_points=list(figures.operating_points))
        how_sure = HowSure(**{name: value for name, value in given.items() if name in sure})
        scale = Scale(**{name: value for name, value in given.items() if name in large})
        parts = Split(**{name: value for name, value in given.items() if name in split})
        return cls(reading, figures, kind, how_sure, scale, parts, plan, worst=given.get("worst"))

    @property
    def arguments(self) -> dict[str, Any]:
        """The same as keyword arguments, of which `of` makes it again."""
        parts = (self.reading, self.figures, self.how_sure, self.scale, self.split)
        return {one.name: getattr(part, one.name) for part in parts for one in fields(part)} | {
            "kind": self.kind,
            "preset": self.plan,
            "worst": self.worst,
        }

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
    found = dict(given)
    for name, value in plan.figures.items():
        own = given.get(name)
        if name == "p_out_of_set":
            if own not in (None, value):
                raise InputError(
                    f"p_out_of_set: {own:g}, and by the preset {plan.name} the prior out of set is {value:g}. Leave "
                    "one of the two out."
                )
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


def _refuse_unit_of_format(reading: Reading) -> None:
    """Refuse to say again, or otherwise, what the name of the format says.

    Raises
    ------
    InputError
    """
    known = formats().get(reading.format) if isinstance(reading.format, str) else None
    given = [name for name in _UNITS if reading.says(name)]
    if known is not None and known.detection_llr and given:
        raise InputError(
            f"{given[0]}: files of format {known.name} hold detection llrs, and are read as log-likelihoods. Leave "
            "it out."
        )


def _refuse_two_units(reading: Reading) -> None:
    """Refuse scores that are said to be two things; log posteriors alone may be of either base.

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
