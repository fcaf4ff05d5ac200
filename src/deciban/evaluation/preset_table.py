"""Protocols of evaluations, by name or from a file, and the primary metric that ranks systems."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from deciban._files import read_short_text, toml_of
from deciban.core.ranks.roc import OperatingPoint
from deciban.core.resampling.intervals import Interval
from deciban.errors import FormatError, InputError, some_of
from deciban.evaluation.one_system import OneSystem, as_object, plain, shown_interval, with_interval
from deciban.evaluation.uncertainty import MetricKey
from deciban.metrics.scores import EER_CONVENTIONS
from deciban.types import KindName

PresetLike: TypeAlias = "Preset | str | os.PathLike[str]"
"""A protocol, its name, or the path of its file."""

FORM = 1
"""Version of the file format of protocols."""

PRIMARY = {
    "act_dcf": "normalized actual DCF",
    "min_dcf": "normalized minimum DCF",
    "eer": "EER (ROCCH)",
    "cllr": "Cllr in bits",
    "fnmr_at_fmr": "FNMR",
    "c_avg": "C_avg",
    "normalized_c_avg": "normalized C_avg",
    "cluster_c_avg": "C_avg among the classes of a cluster",
    "pair_cost": "actual cost of distinguishing the worst pairs of classes",
}
"""Names of primary metrics."""

_NEXT_COLUMN = re.compile(r"\s*,\s*(?![-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:,|$))")
"""Separator between columns, but not between borders of bins."""


@dataclass(frozen=True, slots=True)
class Preset:
    """An evaluation protocol, with its source.

    Attributes
    ----------
    name : str
    points : tuple of OperatingPoint
        Multiclass: priors of a target in C_avg, with costs of 1.
    source : str
    status : {"verified", "unverified"}
        Verified if the numbers were checked against a paper or a scorer.
    kind : {"two-class", "classes"}
        Kind of scores.
    p_out_of_set : float or None
        Prior of the last class in C_avg, if it is out of set.
    aliases : tuple of str
        Other names, such as names of single years.
    title : str
    checked : str
        Checks against sources, and numbers that were not checked.
    positive : str
        Meaning of a target.
    primary : str
        A key of `PRIMARY`: the metric that ranks systems. With several points, it is the mean.
    false_match_rates : tuple of float
        False-match rates at which the false non-match rate is reported.
    equalize : str or None
        Columns of the key; each combination of their values has equal weight in each class.
    non_target_shares : mapping of str to float
        Total weight of non-targets with each value of a column; other non-targets have weight 0.
    share_column : str
        The column of ``non_target_shares``.
    clusters : mapping of str to tuple of str
        Classes that are distinguished within each cluster.
    worst_pairs : int or None
        Number of pairs of classes over which the primary metric is averaged.
    formats : tuple of str
        Formats of its scores and keys.
    remarks : tuple of str
    spoofing : mapping of str to value
        Metrics of countermeasures and of single scores, with priors and costs; empty for other protocols.
    eer : str
        Convention of the EER; see `deciban.metrics.eer_conventions`. Empty for the convex hull.
    """

    name: str
    points: tuple[OperatingPoint, ...]
    source: str
    status: str
    kind: KindName = "two-class"
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
    spoofing: Mapping[str, Any] = field(default_factory=dict)
    eer: str = ""

    @property
    def is_verified(self) -> bool:
        """True if the numbers were checked."""
        return self.status == "verified"

    @property
    def is_rate(self) -> bool:
        """True if the primary metric is written in percent."""
        return self.primary in ("eer", "fnmr_at_fmr")

    @property
    def is_minimum(self) -> bool:
        """True if the primary metric uses the best threshold instead of the threshold of the protocol."""
        return self.primary in ("min_dcf", "eer")

    @property
    def class_metrics(self) -> dict[str, Any]:
        """Arguments of `deciban.evaluate_classes`, for a multiclass protocol."""
        metrics: dict[str, Any] = {"p_target": [point.p_target for point in self.points]}
        return metrics if self.p_out_of_set is None else {**metrics, "p_out_of_set": self.p_out_of_set}

    @property
    def metrics(self) -> dict[str, Any]:
        """Arguments of the evaluation function of its kind, without defaults.

        Examples
        --------
        >>> preset("iso19795-fmr1e-3").metrics, preset("lre17").metrics
        ({'fnmr_at': [0.001]}, {'p_target': [0.5, 0.1]})
        """
        if self.kind == "classes":
            return self.class_metrics
        entries: dict[str, Any] = {"operating_points": list(self.points)} if self.points else {}
        entries |= {"eer_conventions": self.eer} if self.eer else {}
        entries |= {"discrepancy": True} if self.primary == "cllr" else {}
        return entries | ({"fnmr_at": list(self.false_match_rates)} if self.false_match_rates else {})

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the key that the primary metric needs, with the borders of bins.

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
        """Name of the conditions that have equal weight."""
        return f"every {'combination' if len(self.columns) > 1 else 'value'} of {', '.join(self.columns)}"

    @property
    def primary_in_words(self) -> str:
        """Description of the primary metric.

        Examples
        --------
        >>> preset("sre12").primary_in_words
        'mean of the normalized actual DCF at 2 operating points'
        >>> preset("lre17").primary_in_words
        'mean of the normalized C_avg at 2 operating points, with the same weight for every value of data_source'
        """
        words = PRIMARY[self.primary]
        if self.primary == "eer" and self.eer:
            words = f"EER, {EER_CONVENTIONS[self.eer].definition}"
        elif self.primary == "fnmr_at_fmr":
            words = f"{words} at FMR {100 * self.false_match_rates[0]:g} %"
        elif self.primary == "pair_cost":
            words = f"mean {words} ({self.worst_pairs} pairs)"
        elif self.primary == "cluster_c_avg":
            words = f"mean over {len(self.clusters)} clusters of the {words}"
        elif len(self.points) > 1 and self.primary not in ("eer", "cllr"):
            words = f"mean of the {words} at {len(self.points)} operating points"
        if self.equalize:
            words += f", with the same weight for {self.alike}"
        if self.non_target_shares:
            shares = ", ".join(f"{value} {share:g}" for value, share in self.non_target_shares.items())
            words += f", non-targets by {self.share_column} in shares ({shares})"
        return words

    def __str__(self) -> str:
        parts = [*map(str, self.points), *(f"FNMR at FMR {100 * rate:g} %" for rate in self.false_match_rates)]
        if self.kind == "classes":
            parts[0] = f"C_avg at {parts[0]}"
        parts += [] if self.p_out_of_set is None else [f"the last class out of set with prior {self.p_out_of_set:g}"]
        points = f" ({'; '.join(parts)})" if parts else ""
        return f"{self.name}{points}: {self.source}, definition {self.status}"


def presets() -> dict[str, Preset]:
    """Return the protocols of deciban, by name.

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
    return {name: _of_text(text, name, f"preset {name}", is_own=True) for name, text in _texts().items()}


def preset(value: PresetLike) -> Preset:
    """Return one protocol.

    Parameters
    ----------
    value : str or path
        A name, such as ``lre05-09``, the name of a single year, such as ``lre09``, or a file that ends in ``.toml``.

    Returns
    -------
    Preset

    Raises
    ------
    InputError
        If the name is unknown.
    FormatError, OSError
        If the file contains no protocol, or cannot be read.

    Examples
    --------
    >>> preset("lre09").name, preset("lre17").class_metrics
    ('lre05-09', {'p_target': [0.5, 0.1]})
    """
    if isinstance(value, Preset):
        return value
    if isinstance(value, os.PathLike) or is_file(value):
        return _of_text(read_short_text(Path(value)), Path(value).stem, str(value))
    known = presets()
    for one in known.values():
        if value == one.name or value in one.aliases:
            return one
    names = ", ".join(name for one in known.values() for name in (one.name, *one.aliases))
    raise InputError(
        f"preset: {value!r} is not known. Use one of {names}. You can also name a .toml file with your own protocol."
    )


def is_file(name: str) -> bool:
    """Return True if the name of a preset is the name of a file.

    Examples
    --------
    >>> is_file("ours.toml"), is_file("sre12")
    (True, False)
    """
    return name.casefold().endswith(".toml")


def text_of(name: str) -> str:
    """Return the file of a protocol, for use as a template.

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
    """Return a sort key: speaker recognition first, then other two-class protocols, then languages."""
    return name.startswith("lre"), not name.startswith("sre"), name.replace("sre96", "sre02")


def _of_text(text: str, name: str, where: str, *, is_own: bool = False) -> Preset:
    """Read a protocol; those of deciban are valid, as a test ensures."""
    row = toml_of(text, where, "deciban presets sre12 --toml shows a protocol.")
    if not is_own:
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
        spoofing=row.get("spoofing", {}),
        eer=row.get("eer", "closest_mean" if "spoofing" in row else ""),
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
            f"{where}: {place}: {wrong}. {rule}deciban presets NAME --toml prints complete plans, "
            "and docs/presets.md explains each field."
        )
    for name, value in row.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            raise FormatError(f"{where}: {name}: {value} contains infinite numbers or NaN.") from None


_AT_POINTS = {"dcf": ("act_dcf", "min_dcf"), "c_avg": ("c_avg", "min_c_avg"), "norm": ("normalized", "normalized_min")}

_MOST_PARTS = 8

ESTIMATORS = (
    "actual and minimum are different estimators: the actual value averages the error rates of the conditions at the "
    "threshold of the plan; the minimum uses one threshold for all trials, weighted so that conditions count equally"
)
"""Caption of tables with both metrics and equal weight of conditions."""


@dataclass(frozen=True, slots=True, eq=False)
class PresetMetric:
    """A metric of a protocol: its value and interval.

    Attributes
    ----------
    value : float
    of : Evaluation, ClassEvaluation or None
        The evaluation that contains the metric, if one does.
    name : str or (str, place)
        Name of the metric there.
    """

    value: float
    of: OneSystem | None = None
    name: MetricKey = ""

    @property
    def interval(self) -> Interval | None:
        """Interval of the metric; None if unknown, or if no single evaluation has the metric."""
        return None if self.of is None else shown_interval(self.of, self.name)

    def written(self, write: Callable[[float], str], typeset: Callable[[str], str] = str) -> str:
        """Return the text of the metric with its interval."""
        text = write(self.value)
        return text if self.of is None else with_interval(text, self.of, self.name, typeset)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        interval = self.interval
        return {"value": self.value, "interval": None if interval is None else as_object(interval)}


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """The primary metric of a protocol for one system.

    Attributes
    ----------
    plan : Preset
    system : str
    actual, minimum : PresetMetric or None
        Values at the threshold of the protocol and at the best threshold; None if the protocol lacks them.
    how : str
        Trials used, if not simply all.
    departs : str
        Departure from the protocol; empty if there is none.
    parts : mapping of str to float
        Values that are averaged, by name.
    """

    plan: Preset
    system: str
    actual: PresetMetric | None
    minimum: PresetMetric | None
    how: str = ""
    departs: str = ""
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def metric(self) -> PresetMetric:
        """Metric that ranks systems."""
        chosen = self.minimum if self.actual is None or self.plan.is_minimum else self.actual
        if chosen is None:
            raise ValueError("a primary number has a metric")
        return chosen

    @property
    def shown(self) -> list[tuple[str, PresetMetric]]:
        """Metrics for tables with headings, the one that ranks systems first."""
        pairs = [("actual", self.actual), ("minimum", self.minimum)]
        there = [(name, one) for name, one in pairs if one is not None]
        there.sort(key=lambda pair: pair[1] is not self.metric)
        if self.departs:
            return there
        if self.plan.primary == "cllr":  # its protocol ranks no systems
            return [("Cllr" if name == "actual" else "min Cllr", one) for name, one in there]
        alone = "primary" if len(there) == 1 else f"primary ({there[0][0]})"
        return [(name if at else alone, one) for at, (name, one) in enumerate(there)]

    @property
    def departure(self) -> str:
        """Remark on the departure from the protocol; empty if there is none."""
        return f"these values are not the primary metric of {self.plan.name}: {self.departs}" if self.departs else ""

    @property
    def remarks(self) -> list[str]:
        """Remarks on the trials, on the averaged values, and on departures from the protocol."""
        lines = [self.departure] if self.departs else []
        lines += [f"{self.plan.name}: {self.how}"] if self.how else []
        both = self.actual is not None and self.minimum is not None
        lines += [ESTIMATORS] if both and self.plan.equalize and not self.departs else []
        parts = [f"{name} {value:.4f}" for name, value in self.parts.items()]
        if parts:
            lines.append(f"{self.system}: {some_of(parts, most=_MOST_PARTS)}")
        return lines

    @property
    def value(self) -> float:
        """Value that ranks systems."""
        return self.metric.value

    @property
    def status(self) -> str:
        """Verification status of the protocol, as text beside the metric.

        Empty if the protocol was verified but the metric departs from it.
        """
        if not self.plan.is_verified:
            return "not checked against its source; check it before you quote the metric"
        return "" if self.departs else "checked against its source"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        entries: dict[str, Any] = {
            "plan": self.plan.name,
            "status": self.plan.status,
            "figure": self.plan.primary_in_words,
            "value": self.value,
            "is_of_plan": not self.departs,
        }
        names = ("departs", "how", "actual", "minimum", "parts")
        return dict(plain(entries | {name: getattr(self, name) for name in names}))


def primary_of(plan: Preset, result: Any, *, how: str = "", departs: str = "") -> Primary:
    """Return the primary metric of a protocol from an evaluation at all of its points, and maybe others.

    Parameters
    ----------
    plan : Preset
        Without clusters or pairs of classes, whose metrics use parts of the scores.
    result : Evaluation or ClassEvaluation
    how, departs : str
        See `Primary`.

    Raises
    ------
    InputError
        If the evaluation lacks a point of the protocol.

    Examples
    --------
    >>> from deciban import evaluate
    >>> from deciban.evaluation import preset
    >>> found = evaluate([2.0, -1.0, 3.0], [-4.0, 0.5, -3.0], operating_points=[0.5, 0.01, 0.001])
    >>> one = primary_of(preset("sre12"), found)
    >>> one.value == (found.operating_points[1].act_dcf + found.operating_points[2].act_dcf) / 2
    True
    """
    pair: tuple[PresetMetric | None, PresetMetric | None]
    if plan.primary == "eer":
        value, key = result.quoted_eer
        _require(plan.eer in ("", key[-1]), plan, result.name)
        pair = None, PresetMetric(value, result, key)
    elif plan.primary == "cllr":
        pair = PresetMetric(result.cllr, result, "cllr"), PresetMetric(result.min_cllr, result, "min_cllr")
    elif plan.primary == "fnmr_at_fmr":
        places = [k for k, one in enumerate(result.requested.rates_at) if one.limited == "fmr"]
        at = [k for k in places if result.requested.rates_at[k].limit == plan.false_match_rates[0]]
        _require(bool(at), plan, result.name)
        pair = PresetMetric(result.requested.rates_at[at[0]].rate, result, ("rates_at", at[0])), None
    else:
        kind = "dcf" if plan.kind == "two-class" else "norm" if plan.primary == "normalized_c_avg" else "c_avg"
        pair = _means(plan, result, _AT_POINTS[kind])
    actual, minimum = pair
    return Primary(plan, result.name, actual, minimum, how, departs)


def _means(plan: Preset, evaluation: OneSystem, names: tuple[str, str]) -> tuple[PresetMetric, PresetMetric]:
    """Return means over the points of the protocol, of actual costs and of minimum costs."""
    known = [(one.p_target, getattr(one, "c_miss", 1), getattr(one, "c_fa", 1)) for one in evaluation.cost_points]
    items = [(one.p_target, one.c_miss, one.c_fa) for one in plan.points]
    _require(set(items) <= set(known), plan, evaluation.name)
    at = [known.index(one) for one in items]

    def mean(name: str) -> PresetMetric:
        value = math.fsum(evaluation.value((name, k)) for k in at) / len(at)
        if 1 < len(at) < len(known):
            return PresetMetric(value)
        return PresetMetric(value, evaluation, (name, at[0]) if len(at) == 1 else f"mean_{name}")

    return mean(names[0]), mean(names[1])


def _require(is_there: bool, plan: Preset, name: str) -> None:  # noqa: FBT001  # one answer
    if not is_there:
        raise InputError(
            f"preset: {name} was not evaluated at all points of {plan.name}, which the primary number needs. "
            "Evaluate it with this preset."
        )
