"""Plans of evaluations, by name or from a file, and the number by which a plan ranks systems."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias

from deciban.core.ranks.operating import OperatingPoint
from deciban.core.resampling.intervals import Interval
from deciban.errors import FormatError, InputError
from deciban.evaluation.one_system import as_object, plain, shown_interval, with_interval
from deciban.evaluation.uncertainty import Figure

PresetLike: TypeAlias = "Preset | str | os.PathLike[str]"
"""A plan, its name, or the path of a file of one."""

FORM = 1
"""Version of the form of plans."""

PRIMARY = {
    "act_dcf": "actual DCF, normalized",
    "min_dcf": "minimum DCF, normalized",
    "eer": "EER (ROCCH)",
    "fnmr_at_fmr": "FNMR",
    "c_avg": "C_avg",
    "normalized_c_avg": "C_avg, normalized",
    "cluster_c_avg": "C_avg among the classes of a cluster",
    "pair_cost": "actual cost of telling the worst pairs of classes apart",
}
"""What the primary number of a plan is, in words."""

_NEXT_COLUMN = re.compile(r"\s*,\s*(?![-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:,|$))")
"""Between columns, and not between borders of bins."""


@dataclass(frozen=True, slots=True)
class Preset:
    """The plan of one evaluation, where it comes from, and whether that was checked.

    Attributes
    ----------
    name : str
    points : tuple of OperatingPoint
        Of many classes: priors of a target in C_avg, with costs of 1.
    source : str
    status : {"verified", "unverified"}
        Whether the numbers were checked against a paper or a scorer.
    kind : {"two-class", "classes"}
        What scores it is for.
    p_out_of_set : float or None
        Prior of the last class in C_avg, if it is out of set.
    aliases : tuple of str
        Other names: those of single years.
    title : str
    checked : str
        What was checked against what, and what was not.
    positive : str
        What a target is.
    primary : str
        One of `PRIMARY`: what ranks systems. Of several points it is the mean.
    false_match_rates : tuple of float
        At which rates of false matches that of false non-matches is wanted.
    equalize : str or None
        Columns of the key whose combinations of values count alike in each class.
    non_target_shares : mapping of str to float
        What non-targets of each value of a column weigh together; of what is left out, nothing.
    share_column : str
        That column.
    clusters : mapping of str to tuple of str
        Classes that are told apart among each other.
    worst_pairs : int or None
        Of how many pairs of classes the primary number is the mean.
    formats : tuple of str
        Formats in which its scores and keys come.
    remarks : tuple of str
    """

    name: str
    points: tuple[OperatingPoint, ...]
    source: str
    status: str
    kind: Literal["two-class", "classes"] = "two-class"
    p_out_of_set: float | None = None
    aliases: tuple[str, ...] = ()
    title: str = ""
    checked: str = ""
    positive: str = ""
    primary: str = "act_dcf"
    false_match_rates: tuple[float, ...] = ()
    equalize: str | None = None
    non_target_shares: Mapping[str, float] = field(default_factory=dict)
    share_column: str = ""
    clusters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    worst_pairs: int | None = None
    formats: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether the numbers were checked."""
        return self.status == "verified"

    @property
    def is_rate(self) -> bool:
        """Whether the primary number is written in percent."""
        return self.primary in ("eer", "fnmr_at_fmr")

    @property
    def is_minimum(self) -> bool:
        """Whether the primary number is by the best threshold, and not by that of the plan."""
        return self.primary in ("min_dcf", "eer")

    @property
    def class_figures(self) -> dict[str, Any]:
        """Arguments of `deciban.evaluate_classes`, for a plan of many classes."""
        figures: dict[str, Any] = {"p_target": [point.p_target for point in self.points]}
        return figures if self.p_out_of_set is None else {**figures, "p_out_of_set": self.p_out_of_set}

    @property
    def figures(self) -> dict[str, Any]:
        """Arguments of an evaluation of its kind: what the plan asks for, and nothing else.

        Examples
        --------
        >>> preset("iso19795").figures, preset("lre17").figures
        ({'fnmr_at': [0.001]}, {'p_target': [0.5, 0.1]})
        """
        if self.kind == "classes":
            return self.class_figures
        found: dict[str, Any] = {"operating_points": list(self.points)} if self.points else {}
        return found | ({"fnmr_at": list(self.false_match_rates)} if self.false_match_rates else {})

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the key that the primary number needs, with the borders of bins.

        Examples
        --------
        >>> import dataclasses
        >>> dataclasses.replace(preset("sre16"), equalize="gender,duration:5,10").columns
        ('gender', 'duration:5,10')
        """
        from_shares = (self.share_column,) if self.share_column else ()
        return tuple(_NEXT_COLUMN.split(self.equalize)) if self.equalize else from_shares

    @property
    def alike(self) -> str:
        """What counts alike where partitions do, in words."""
        return f"every {'combination' if len(self.columns) > 1 else 'value'} of {', '.join(self.columns)}"

    @property
    def primary_in_words(self) -> str:
        """What the primary number is.

        Examples
        --------
        >>> preset("sre12").primary_in_words
        'mean over 2 points of the actual DCF, normalized'
        >>> preset("lre17").primary_in_words
        'mean over 2 points of the C_avg, normalized, every value of data_source counting alike'
        """
        words = PRIMARY[self.primary]
        if self.primary == "fnmr_at_fmr":
            words = f"{words} at FMR {self.false_match_rates[0]:g}"
        elif self.primary == "pair_cost":
            words = f"mean {words} ({self.worst_pairs} pairs)"
        elif self.primary == "cluster_c_avg":
            words = f"mean over {len(self.clusters)} clusters of the {words}"
        elif len(self.points) > 1 and self.primary != "eer":
            words = f"mean over {len(self.points)} points of the {words}"
        if self.equalize:
            words += f", {self.alike} counting alike"
        if self.non_target_shares:
            shares = ", ".join(f"{value} {share:g}" for value, share in self.non_target_shares.items())
            words += f", non-targets by {self.share_column} in shares ({shares})"
        return words

    def __str__(self) -> str:
        parts = [*map(str, self.points), *(f"FNMR at FMR {rate:g}" for rate in self.false_match_rates)]
        if self.kind == "classes":
            parts[0] = f"C_avg at {parts[0]}"
        parts += [] if self.p_out_of_set is None else [f"the last class out of set with prior {self.p_out_of_set:g}"]
        return f"{self.name} ({'; '.join(parts)}), {self.status}: {self.source}"


def presets() -> dict[str, Preset]:
    """Return the plans that deciban knows, by name.

    Returns
    -------
    dict of str to Preset

    Examples
    --------
    >>> presets()["sre96-08"].points
    (OperatingPoint(p_target=0.01, c_miss=10, c_fa=1),)
    >>> [name for name, one in presets().items() if one.kind == "classes"]
    ['lre05-09', 'lre05-09-open', 'lre11', 'lre15', 'lre17', 'lre22']
    """
    return {name: _of_text(text, name, f"preset {name}") for name, text in _texts().items()}


def preset(given: PresetLike) -> Preset:
    """Return one plan.

    Parameters
    ----------
    given : str or path
        Its name, or that of one of its years: ``lre09`` is ``lre05-09``; or a file, whose name ends in ``.toml``.

    Returns
    -------
    Preset

    Raises
    ------
    InputError
        If there is none of this name.
    FormatError, OSError
        If a file holds no plan, or cannot be read.

    Examples
    --------
    >>> preset("lre09").name, preset("lre17").class_figures
    ('lre05-09', {'p_target': [0.5, 0.1]})
    """
    if isinstance(given, Preset):
        return given
    if isinstance(given, os.PathLike) or is_file(given):
        return _of_file(Path(given))
    known = presets()
    for one in known.values():
        if given == one.name or given in one.aliases:
            return one
    raise InputError(
        f"preset: {given!r} is not known. There are {', '.join(known)}. A plan of your own is a file whose name ends "
        "in .toml."
    )


def is_file(name: str) -> bool:
    """Whether a preset is named by its file.

    Examples
    --------
    >>> is_file("ours.toml"), is_file("sre12")
    (True, False)
    """
    return name.casefold().endswith(".toml")


def text_of(name: str) -> str:
    """Return the file of a plan that deciban knows: what one's own can begin with.

    Examples
    --------
    >>> print(text_of("lre09").splitlines()[1])
    title = "NIST LRE 2005, 2007, 2009, closed set"
    """
    return _texts()[preset(name).name]


def _texts() -> dict[str, str]:
    folder = resources.files(__package__).joinpath("preset_files")
    files = {one.name.removesuffix(".toml"): one for one in folder.iterdir() if one.name.endswith(".toml")}
    return {name: files[name].read_text("utf-8") for name in sorted(files, key=_by_kind_and_year)}


def _by_kind_and_year(name: str) -> tuple[bool, bool, str]:
    """Speakers first, then what else has two classes, then languages."""
    return name.startswith("lre"), not name.startswith("sre"), name.replace("sre96", "sre02")


def _of_file(path: Path) -> Preset:
    """Read a plan of a user's own."""
    most = 1 << 20
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise FormatError(f"{path}: more than {most:,} bytes, and a plan is a page of text.")
    try:
        return _of_text(content.decode("utf-8"), path.stem, str(path))
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: no text in UTF-8 ({error.reason} at byte {error.start}).") from error


def _of_text(text: str, name: str, where: str) -> Preset:
    try:
        row = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{where}: {error}. A plan is TOML: deciban presets sre12 --toml shows one.") from error
    _validate(row, where)
    shares = dict(row.get("non_target_shares", {}))
    column = shares.pop("column", "")
    if shares and not math.isclose(math.fsum(shares.values()), 1.0):
        raise FormatError(f"{where}: non_target_shares: {shares} add up to {math.fsum(shares.values()):g}, not to 1.")
    points = row.get("operating_points") or [[p, 1, 1] for p in row.get("target_priors", ())]
    known: dict[str, Any] = {one: row[one] for one in ("title", "source", "status", "checked", "kind", "primary")}
    known |= {one: tuple(row.get(one, ())) for one in ("aliases", "false_match_rates", "formats", "remarks")}
    return Preset(
        name,
        tuple(OperatingPoint(*point) for point in points),
        p_out_of_set=row.get("p_out_of_set"),
        equalize=",".join(row["equalize"]) if "equalize" in row else None,
        non_target_shares=shares,
        share_column=column,
        clusters={cluster: tuple(classes) for cluster, classes in row.get("clusters", {}).items()},
        worst_pairs=row.get("worst_pairs"),
        positive=row.get("positive", ""),
        **known,
    )


def _validate(row: dict[str, Any], where: str) -> None:
    import jsonschema

    text = resources.files(__package__).joinpath("preset_files", "preset.schema.json").read_text("utf-8")
    if row.get("form") != FORM:
        raise FormatError(f"{where}: form: got {row.get('form')!r}; this version of deciban reads form = {FORM}.")
    validator = jsonschema.Draft202012Validator(json.loads(text))
    error = jsonschema.exceptions.best_match(validator.iter_errors(row))
    if error is not None:
        place = ".".join(map(str, error.absolute_path)) or "the plan"
        about = error.schema.get("description") if isinstance(error.schema, dict) else None
        rule = f"{about} " if about else ""
        wrong = "has no place here" if error.validator == "not" else error.message[:200]
        raise FormatError(
            f"{where}: {place}: {wrong}. {rule}deciban presets NAME --toml shows plans that are whole, "
            "and docs/presets.md what each field means."
        )
    for name, value in row.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            raise FormatError(f"{where}: {name}: {value} has numbers that are not finite.") from None


_AT_POINTS = {"dcf": ("act_dcf", "min_dcf"), "c_avg": ("c_avg", "min_c_avg"), "norm": ("normalized", "normalized_min")}

_MOST_PARTS = 8

ESTIMATORS = (
    "actual and minimum are different estimators: the one is of mean error rates of the conditions at the threshold of "
    "the plan, the other of one threshold for all trials, weighted by largest condition over own"
)
"""Said where both stand beside each other and conditions count alike."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanFigure:
    """A figure of a plan: its value, and how sure it is.

    Attributes
    ----------
    value : float
    of : Evaluation, ClassEvaluation or None
        The evaluation that it is a figure of, where it is one.
    name : str or (str, place)
        What it is called there.
    """

    value: float
    of: Any = None
    name: Figure = ""

    @property
    def interval(self) -> Interval | None:
        """How sure it is; None where there is no interval, or it is no metric of one evaluation."""
        return None if self.of is None else shown_interval(self.of, self.name)

    def written(self, write: Callable[[float], str], typeset: Callable[[str], str] = str) -> str:
        """As tables show it: with its interval."""
        text = write(self.value)
        return text if self.of is None else with_interval(text, self.of, self.name, typeset)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of it."""
        interval = self.interval
        return {"value": self.value, "interval": None if interval is None else as_object(interval)}


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """The primary number of a plan for one system.

    Attributes
    ----------
    plan : Preset
    system : str
    actual, minimum : PlanFigure or None
        By decisions at the threshold of the plan, and by the best ones; None where the plan has no such figure.
    how : str
        Of which trials, where this is not simply all of them.
    departs : str
        Why this is not what the plan asks for; empty where it is.
    parts : mapping of str to float
        What it is the mean of, by name.
    """

    plan: Preset
    system: str
    actual: PlanFigure | None
    minimum: PlanFigure | None
    how: str = ""
    departs: str = ""
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def figure(self) -> PlanFigure:
        """That which ranks systems."""
        chosen = self.minimum if self.actual is None or self.plan.is_minimum else self.actual
        if chosen is None:
            raise ValueError("a primary number has a figure")
        return chosen

    @property
    def shown(self) -> list[tuple[str, PlanFigure]]:
        """What tables show of it, that which ranks systems first, with headings."""
        pairs = [("actual", self.actual), ("minimum", self.minimum)]
        there = [(name, one) for name, one in pairs if one is not None]
        there.sort(key=lambda pair: pair[1] is not self.figure)
        what = "not primary" if self.departs else "primary"
        alone = what if len(there) == 1 else f"{what} ({there[0][0]})"
        return [(name if at else alone, one) for at, (name, one) in enumerate(there)]

    @property
    def remarks(self) -> list[str]:
        """Of which trials it is, of what it is the mean, and why it is not the number of the plan."""
        found = [f"not the primary number of {self.plan.name}: {self.departs}"] if self.departs else []
        found += [f"{self.plan.name}: {self.how}"] if self.how else []
        both = self.actual is not None and self.minimum is not None
        found += [ESTIMATORS] if both and self.plan.equalize and not self.departs else []
        parts = [f"{name} {value:.4f}" for name, value in self.parts.items()]
        if parts:
            more = [f"{len(parts) - _MOST_PARTS} more"] if len(parts) > _MOST_PARTS else []
            found.append(f"{self.system}: {', '.join([*parts[:_MOST_PARTS], *more])}")
        return found

    @property
    def value(self) -> float:
        """That which ranks systems."""
        return self.figure.value

    @property
    def status(self) -> str:
        """Whether the plan was checked, in words that stand beside the number.

        Empty where it was, and the number is not that of the plan: nothing about this one was checked.
        """
        if not self.plan.is_verified:
            return "unverified: check it with the plan before you quote it"
        return "" if self.departs else "verified"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of it."""
        found: dict[str, Any] = {
            "plan": self.plan.name,
            "status": self.plan.status,
            "figure": self.plan.primary_in_words,
            "value": self.value,
            "is_of_plan": not self.departs,
        }
        names = ("departs", "how", "actual", "minimum", "parts")
        return dict(plain(found | {name: getattr(self, name) for name in names}))


def primary_of(plan: Preset, found: Any, *, how: str = "", departs: str = "") -> Primary:
    """Return the primary number of a plan from an evaluation that has all of its points, and maybe others.

    Parameters
    ----------
    plan : Preset
        Not of clusters or pairs of classes, whose numbers are of parts of the scores.
    found : Evaluation or ClassEvaluation
    how, departs : str
        See `Primary`.

    Raises
    ------
    InputError
        If a point of the plan is not among those of the evaluation.

    Examples
    --------
    >>> from deciban import evaluate
    >>> from deciban.evaluation import preset
    >>> found = evaluate([2.0, -1.0, 3.0], [-4.0, 0.5, -3.0], operating_points=[0.5, 0.01, 0.001])
    >>> one = primary_of(preset("sre12"), found)
    >>> one.value == (found.operating_points[1].act_dcf + found.operating_points[2].act_dcf) / 2
    True
    """
    pair: tuple[PlanFigure | None, PlanFigure | None]
    if plan.primary == "eer":
        pair = None, PlanFigure(found.eer, found, "eer")
    elif plan.primary == "fnmr_at_fmr":
        places = [k for k, one in enumerate(found.requested.rates_at) if one.limited == "fmr"]
        at = [k for k in places if found.requested.rates_at[k].limit == plan.false_match_rates[0]]
        _require(bool(at), plan, found.name)
        pair = PlanFigure(found.requested.rates_at[at[0]].rate, found, ("rates_at", at[0])), None
    else:
        kind = "dcf" if plan.kind == "two-class" else "norm" if plan.primary == "normalized_c_avg" else "c_avg"
        pair = _means(plan, found, _AT_POINTS[kind])
    actual, minimum = pair
    return Primary(plan, found.name, actual, minimum, how, departs)


def _means(plan: Preset, found: Any, names: tuple[str, str]) -> tuple[PlanFigure, PlanFigure]:
    """Means over the points of the plan, of actual costs and of minimum costs."""
    known = [(one.p_target, getattr(one, "c_miss", 1), getattr(one, "c_fa", 1)) for one in found.cost_points]
    wanted = [(one.p_target, one.c_miss, one.c_fa) for one in plan.points]
    _require(set(wanted) <= set(known), plan, found.name)
    at = [known.index(one) for one in wanted]

    def mean(name: str) -> PlanFigure:
        value = math.fsum(found.value((name, k)) for k in at) / len(at)
        if 1 < len(at) < len(known):
            return PlanFigure(value)
        return PlanFigure(value, found, (name, at[0]) if len(at) == 1 else f"mean_{name}")

    return mean(names[0]), mean(names[1])


def _require(is_there: bool, plan: Preset, name: str) -> None:  # noqa: FBT001  # one answer
    if not is_there:
        raise InputError(
            f"preset: {name} was not evaluated at all points of {plan.name}, of which the primary number is made. "
            "Evaluate it with this preset."
        )
