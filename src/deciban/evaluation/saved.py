"""JSON of results: its schemas, results that an earlier run saved, requirements on them, and criteria of a method."""

from __future__ import annotations

import json
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._files import read_short_text, toml_of
from deciban.core.resampling.intervals import combined
from deciban.errors import FormatError, InputError, display_name, option, shortened
from deciban.evaluation.metrics import JSON_PLACES, RANKING_NAMES, metric_of
from deciban.metrics.costs import REGISTERED
from deciban.types import PathLike

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.uncertainty import MetricKey
    from deciban.types import Json


@dataclass(frozen=True, slots=True)
class SavedMetric:
    """A metric with its confidence interval.

    Attributes
    ----------
    value : float
    low, high, standard_error, level : float or None
        Interval, its standard error and confidence level; None without an interval.
    """

    value: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class SavedSystem:
    """One system of saved results.

    Attributes
    ----------
    name : str
    kind : str or None
        "two-class" or "classes".
    numbers : mapping
        The object of the system in JSON.
    origin : str
        Name of the file.
    key : str
        Start of the hash of the key; empty if the file has none.
    choices : str
        Options that change the trials or their weights.
    protocol : mapping
        Preset, and error rates and file of the verifier, of a protocol of spoofing.
    """

    name: str
    kind: str | None
    numbers: Mapping[str, Any]
    origin: str
    key: str = ""
    choices: str = ""
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def metric(self, text: str) -> SavedMetric:
        """Return a metric by its name in JSON, at the first operating point or, as ``min_dcf@2``, at another one.

        Raises
        ------
        InputError
            If the system does not have the metric.
        """
        name, holder = self._place_of(text)
        if not _is_number(holder.get(name)):
            raise InputError(f"{self.origin}: {self.name} has no metric {text!r}. It has {', '.join(self.names)}.")
        known = holder.get("intervals")
        bounds = known.get(name) if isinstance(known, dict) else None
        bounds = bounds if isinstance(bounds, dict) else {}
        ends = ("low", "high", "standard_error", "level")
        return SavedMetric(
            float(holder[name]), *(float(bounds[end]) if _is_number(bounds.get(end)) else None for end in ends)
        )

    def operating_point(self, text: str) -> dict[str, Any]:
        """Return the prior, costs and protocol that a metric depends on, by name in JSON; empty if it needs none."""
        name, holder = self._place_of(text)
        if holder is not self.numbers:
            entries = {one: holder[one] for one in _OF_PLACES if holder.get(one) is not None}
            out_of_set = self.numbers.get("p_out_of_set") if "c_avg" in holder else None
            return entries | ({} if out_of_set is None else {"p_out_of_set": out_of_set})
        if self.kind == "classes":
            return {"prior": holder.get("prior")} if name in _OF_PRIOR else {}
        if name in ("mean_act_dcf", "mean_min_dcf"):
            points = holder.get("operating_points") or ()
            return {"points": [[one.get(part) for part in _OF_PLACES[:3]] for one in points]}
        role = holder.get("role")
        if role is None or not (name == "eer" or name.endswith(("_eer", "_dcf"))):
            return {}
        own = {"preset": self.protocol.get("preset"), "role": role}
        is_tandem = role == "countermeasure" and name not in ("eer", "cm_eer")
        return own | ({"verifier": self.protocol.get("verifier")} if is_tandem else {})

    def _place_of(self, text: str) -> tuple[str, Mapping[str, Any]]:
        """Return the key of a metric and the object that contains it; an empty object if there is none."""
        name, _, place = text.partition("@")
        if place and not place.isdecimal():
            raise InputError(f"{text}: write the number of an operating point after @, such as min_dcf@2.")
        if name in self.numbers and not place:
            return name, self.numbers
        several, key = JSON_PLACES.get(name, ("operating_points", name))
        entries, at = self.numbers.get(several) or (), int(place or 1) - 1
        return key, entries[at] if 0 <= at < len(entries) else {}

    def require_like(self, other: SavedSystem, text: str) -> None:
        """Refuse to compare a metric of different kinds of scores, at different operating points or protocols.

        Raises
        ------
        InputError
        """
        if self.kind != other.kind:
            raise InputError(
                f"{other.origin}: results of {other.kind} scores; {self.origin} has {self.kind} scores. Pass results "
                "of the same evaluation."
            )
        points = self.operating_point(text), other.operating_point(text)
        if points[0] != points[1]:
            own, earlier = map(point_in_words, points)
            raise InputError(
                f"{text}: {self.origin} and {other.origin} have different operating points: {own}, and {earlier}. "
                "Evaluate both with the same prior, costs, preset and verifier."
            )

    @property
    def names(self) -> list[str]:
        """Names of all metrics of the system and of its first operating point."""
        places: Json = self.numbers.get("operating_points") or ({},)
        known = {**self.numbers, **places[0]}
        return [name for name, value in known.items() if name in RANKING_NAMES and _is_number(value)]


_OF_PLACES = ("p_target", "c_miss", "c_fa", "prior", "factor", "name", "by_prior", "default")
"""Keys of operating points and similar entries that are no metrics."""

_OF_PRIOR = ("error_rate", "cross_entropy", "brier", "macro_f1")
"""Multiclass metrics at the prior of the evaluation."""


def point_in_words(point: Mapping[str, Any]) -> str:
    """Return an operating point in one line.

    Examples
    --------
    >>> point_in_words({"p_target": 0.1, "c_miss": 1.0}), point_in_words({"prior": [0.5, 0.25, 0.25]})
    ('p_target 0.1, c_miss 1', 'prior 0.5:0.25:0.25')
    """

    def text(value: object) -> str:
        if isinstance(value, dict):
            return f"({point_in_words(value)})"
        if isinstance(value, list):
            is_flat = len(value) > 1 and all(one == value[0] for one in value)
            is_nested = bool(value) and isinstance(value[0], list)
            between = " and " if is_nested else ":"
            return "flat" if is_flat else shortened(", ".join(map(text, value))).replace(", ", between)
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    return ", ".join(f"{name} {text(value)}" for name, value in point.items()) or "none"


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return is_number or value in ("inf", "-inf")


def read_saved(path: PathLike) -> list[SavedSystem]:
    """Return the systems of a file that ``deciban eval --json`` or ``deciban report --json`` wrote.

    Raises
    ------
    FormatError
        If the file contains something else.
    OSError
        If it cannot be read.
    """
    origin = display_name(path)
    try:
        result = json.loads(_text_of(path))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FormatError(f"{origin}: not JSON ({error}). Pass what deciban eval --json printed.") from error
    systems = result.get("systems") if isinstance(result, dict) else None
    if not isinstance(systems, list) or not systems or not all(_is_system(one) for one in systems):
        raise FormatError(f"{origin}: no evaluated systems. Pass what deciban eval --json printed.")
    if result.get("decisions") is True:
        raise FormatError(f"{origin}: results of decisions, which have no metrics of scores.")
    files, options = result.get("files"), result.get("options")
    known = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    keys = sorted({str(one["sha256"]) for one in known if one.get("role") == "key" and one.get("sha256")})
    entries = options if isinstance(options, dict) else {}
    choices = ", ".join(f"{name} {entries[name]}" for name in _OF_TRIALS if entries.get(name))
    join = result.get("join")
    if isinstance(join, dict) and join.get("missing"):
        choices = ", ".join(filter(None, [choices, f"{join['missing']} trials without scores"]))
    key = "+".join(one[:12] for one in keys)
    protocol = dict[str, Any](preset=result.get("preset"))
    if isinstance(verifier := result.get("verifier"), dict):
        rates = {name: verifier.get(name) for name in ("p_miss", "p_fa", "p_fa_spoof")}
        hashes = [str(one.get("sha256"))[:12] for one in known if str(one.get("role")).startswith("asv")]
        protocol["verifier"] = rates | ({"sha256": "+".join(hashes)} if hashes else {})
    return [SavedSystem(one["name"], one.get("kind"), one, origin, key, choices, protocol) for one in systems]


_OF_TRIALS = ("where", "weights", "equalize", "trials", "labels", "by-order")
"""Options that change the trials or their weights."""


def _text_of(path: PathLike) -> str:
    """Read a file, or standard input for ``-``; a byte order mark is left out."""
    value = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    return value.decode("utf-16" if value[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def _is_system(one: object) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        return False
    lists = [one[name] for name in ("operating_points", *(name for name, _ in JSON_PLACES.values())) if one.get(name)]
    return all(isinstance(some, list) and all(isinstance(entry, dict) for entry in some) for some in lists)


def system_named(systems: Sequence[SavedSystem], name: str, *, is_alone: bool = False) -> SavedSystem:
    """Return the system of a name; if each run has one system, the names can differ.

    Parameters
    ----------
    systems : sequence of SavedSystem
    name : str
    is_alone : bool
        True if the other run has one system.

    Raises
    ------
    InputError
        If there is no such system.
    """
    result = next((one for one in systems if one.name == name), None)
    if result is None and is_alone and len(systems) == 1:
        return systems[0]
    if result is None:
        names = ", ".join(one.name for one in systems)
        raise InputError(f"{systems[0].origin}: no system {name!r}. Its systems: {names}.")
    return result


_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_REQUIREMENT = re.compile(
    rf"""\s*(?:(?P<system>.+?):)?(?P<metric>[a-z]\w*(?:@\d+)?)(?:\.(?P<end>low|high))?\s*(?P<sign><=|>=|<|>)\s*
    (?:(?P<limit>{_NUMBER})\s*(?P<percent>%)?|(?P<base>baseline)(?:\s*(?P<how>[-+*])\s*(?P<by>{_NUMBER})\s*(?P<by_percent>%)?)?)\s*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on a metric, such as ``eer<=5%``, ``sysA:cllr.high<0.2`` or ``min_dcf@2<=baseline+0.01``.

    Attributes
    ----------
    text : str
    system : str or None
        None for all systems.
    metric : str
    end : {"low", "high"} or None
        A limit of the interval in place of the value.
    sign : {"<=", ">=", "<", ">"}
    limit : float
        The limit, or the term or factor of the baseline.
    how : {"", "+", "*"}
        Empty for a limit without a baseline.
    """

    text: str
    system: str | None
    metric: str
    end: str | None
    sign: str
    limit: float
    how: str

    @classmethod
    def of(cls, text: str) -> Requirement:
        """Read a requirement.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Requirement.of("eer <= 5%").limit, Requirement.of("cllr<=baseline*1.1").how
        (0.05, '*')
        """
        result = _REQUIREMENT.fullmatch(text)
        if result is None:
            raise InputError(
                f"require: got {text!r}. Write a metric, a sign and a limit: 'eer<=0.05', 'eer<=5%', "
                "'sysA:cllr.high<0.2', 'min_dcf@2<=baseline+0.01'."
            )
        sign, end = 1.0 if result["how"] != "-" else -1.0, result["end"] and result["end"].casefold()
        if result["base"]:
            share = 0.01 if result["by_percent"] else 1.0
            by = float(result["by"]) * share * sign if result["by"] else 0.0
            limit, how = by, "*" if result["how"] == "*" else "+"
        else:
            limit, how = float(result["limit"]) * (0.01 if result["percent"] else 1.0), ""
        return cls(text.strip(), result["system"], result["metric"].casefold(), end, result["sign"], limit, how)

    @property
    def name(self) -> str:
        """The metric, with the limit of its interval that is checked, if any."""
        return self.metric + (f".{self.end}" if self.end else "")

    def checks(self, systems: Sequence[SavedSystem], baseline: Sequence[SavedSystem] | None) -> list[Check]:
        """Check the requirement for its system, or for all.

        Parameters
        ----------
        systems : sequence of SavedSystem
        baseline : sequence of SavedSystem or None
            Of the earlier run.

        Raises
        ------
        InputError
            If a system, the metric, its interval or the baseline is missing.
        """
        if self.how and baseline is None:
            raise InputError(f"require: {self.text!r} needs the results of an earlier run ({option(baseline=...)}).")
        metric = metric_of(self.metric.partition("@")[0])
        if self.how != "*" and abs(self.limit) > 1.0 and metric.in_percent and metric.costs is None:
            way = f" Write {self.limit / 100:g} or {self.limit:g}%." if 1.0 < abs(self.limit) <= 100.0 else ""
            raise InputError(f"require: {self.text!r}: {self.metric} is a fraction, at most 1 or 100%.{way}")
        shown = list(systems) if self.system is None else [system_named(systems, self.system)]
        result = []
        for one in shown:
            limit = self.limit
            if self.how and baseline is not None:
                earlier = system_named(baseline, one.name, is_alone=len(systems) == 1)
                one.require_like(earlier, self.metric)
                base = earlier.metric(self.metric).value
                limit = base * self.limit if self.how == "*" else base + self.limit
            value = self._value_of(one)
            result.append(Check(self, one.name, value, limit, _OPERATORS[self.sign](value, limit)))
        return result

    def _value_of(self, one: SavedSystem) -> float:
        metric = one.metric(self.metric)
        if self.end is None:
            return metric.value
        bound = metric.low if self.end == "low" else metric.high
        if bound is None:
            raise InputError(
                f"{one.origin}: {one.name} has no interval of {self.metric}: evaluate with {option('units')}."
            )
        return bound


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement and whether a system meets it.

    Attributes
    ----------
    requirement : Requirement
    system : str
    value, limit : float
    is_met : bool
    """

    requirement: Requirement
    system: str
    value: float
    limit: float
    is_met: bool

    def _in_unit(self) -> tuple[str, str]:
        """Return value and limit with the digits of the metric, or with as many as show on which side the value is."""
        request, metric = self.requirement, metric_of(self.requirement.metric.partition("@")[0])
        unit, factor, digits = (" %", 100.0, 2) if "%" in request.text else ("", 1.0, metric.digits)
        value, limit, digits = self.value * factor, self.limit * factor, digits + 2 * (metric.in_percent and not unit)
        is_above = _OPERATORS[request.sign]
        while digits < 15 and is_above(round(value, digits), round(limit, digits)) is not self.is_met:
            digits += 1
        own = f"{limit:.{digits}f}" if request.how else f"{limit:.15g}"
        return f"{value:.{digits}f}{unit}", own + unit

    @property
    def written(self) -> str:
        """The value in the unit of the requirement."""
        return self._in_unit()[0]

    def __str__(self) -> str:
        """Write the outcome."""
        request = self.requirement
        value, limit = self._in_unit()
        limit += f" ({request.text.rpartition(request.sign)[2].strip()})" if request.how else ""
        outcome = "met" if self.is_met else "not met"
        return f"{outcome}: {self.system}: {request.name} is {value}, required {request.sign} {limit}"


def differences(new: Any, old: SavedSystem) -> list[tuple[str, str, str, str]]:
    """Return rows of a table: metric, earlier value, new value, and difference with its interval.

    The interval treats both runs as independent (Zou and Donner 2008). For the same trials, it is too wide.

    Parameters
    ----------
    new : Evaluation or ClassEvaluation
    old : SavedSystem
    """
    from deciban.evaluation.one_system import plain  # loads on request

    rows, now = [], SavedSystem(new.name, old.kind, plain(new.to_dict()), "")
    for key in new.summary_keys():
        how = metric_of(key)
        name = key if isinstance(key, str) else f"{key[0]}@{key[1] + 1}"
        try:
            before = old.metric(name)
        except InputError:
            continue
        if old.operating_point(name) != now.operating_point(name):
            continue
        value = float(new.value(key))
        if not (math.isfinite(value) and math.isfinite(before.value)):
            continue
        label = how.label if isinstance(key, str) else f"{how.label}, point {key[1] + 1}"
        text = how.written(value - before.value, sign=True) + (" pp" if how.in_percent else "")
        bounds = _bounds(new, key, value, before)
        if bounds is not None:
            text += " [{}, {}]".format(*(how.written(bound) for bound in bounds))
        rows.append((label, how.text(before.value), how.text(value), text))
    return rows


def _bounds(new: OneSystem, key: MetricKey, value: float, before: SavedMetric) -> tuple[float, float] | None:
    try:
        now = new.interval(key)
    except (InputError, KeyError):
        return None
    if before.low is None or before.high is None:
        return None
    own = np.array([value - now.low, now.high - value])
    below, above = combined([own, np.array([before.high - before.value, before.value - before.low])], 0.0).tolist()
    return value - before.value - below, value - before.value + above


CHARACTERISTICS = ("accuracy", "discrimination", "calibration", "robustness", "coherence", "generalization")
"""Performance characteristics of the guideline (Forensic Science International 276, 142-153)."""


@dataclass(frozen=True, slots=True)
class MethodCriterion:
    """A criterion for one performance characteristic.

    Attributes
    ----------
    characteristic : str
    requirement : Requirement
    results : Path or None
        Other saved results, such as noisy recordings; their baseline is the validated result.
    """

    characteristic: str
    requirement: Requirement
    results: Path | None = None

    def checks(self, systems: Sequence[SavedSystem], earlier: Sequence[SavedSystem] | None) -> list[Check]:
        """Check the criterion for the validated systems, or on its own results.

        Raises
        ------
        FormatError, InputError, OSError
        """
        if self.results is None:
            return self.requirement.checks(systems, earlier)
        return self.requirement.checks(read_saved(self.results), systems)


def read_criteria(path: PathLike) -> tuple[MethodCriterion, ...]:
    """Read criteria from a TOML file with tables ``[[criterion]]``.

    Each has a ``characteristic``, a requirement as for ``deciban check`` (``require``), and perhaps a file of
    ``results``, whose name is relative to the folder of the criteria.

    Raises
    ------
    FormatError, InputError, OSError
        If the file is not TOML, or a table has other keys or an unknown characteristic.
    """
    name = display_name(path)
    rows = toml_of(read_short_text(path), name, "Criteria are tables: [[criterion]].")
    items = rows.get("criterion")
    if set(rows) != {"criterion"} or not isinstance(items, list) or not items:
        raise FormatError(f"{name}: must contain only tables [[criterion]], at least one.")
    criterions = list[MethodCriterion]()
    for k, row in enumerate(items, 1):
        keys = set(row) if isinstance(row, dict) else set()
        if not {"characteristic", "require"} <= keys <= {"characteristic", "require", "results"} or not all(
            isinstance(one, str) and one for one in row.values()
        ):
            raise FormatError(f"{name}: criterion {k}: needs text for characteristic and require, and perhaps results.")
        if row["characteristic"] not in CHARACTERISTICS:
            known = ", ".join(CHARACTERISTICS)
            raise FormatError(f"{name}: criterion {k}: characteristic {row['characteristic']!r}. Use one of {known}.")
        other = Path(path).parent / row["results"] if "results" in row else None
        criterions.append(MethodCriterion(row["characteristic"], Requirement.of(row["require"]), other))
    return tuple(sorted(criterions, key=lambda one: CHARACTERISTICS.index(one.characteristic)))


_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_COMMON = "urn:deciban:common"
_TYPES = frozenset({"number", "integer", "string", "boolean", "null", "object"})
_BOUNDS = {">=": "minimum", "<=": "maximum", ">": "exclusiveMinimum", "<": "exclusiveMaximum"}
_BOUND = re.compile(r" ([<>]=?)(\S+)")


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return JSON Schemas (draft 2020-12) of all JSON output, by name.

    Each schema is complete. Names of commands are for their output with ``--json``; ``results`` and ``training`` are
    for ``to_json`` of the results of `deciban.evaluate_files` and `deciban.train_files`.

    Returns
    -------
    dict of str to dict
        New objects with every call.

    Examples
    --------
    >>> import deciban, json, jsonschema
    >>> results = deciban.Results((deciban.evaluate([1.0, 2.0], [0.0, 1.0]),))
    >>> jsonschema.validate(json.loads(results.to_json()), json_schemas()["results"])
    >>> sorted(json_schemas())
    ['apply', 'calibrate', 'check', 'compare', 'convert', 'decide', 'demo', 'eval', 'export', 'formats', 'fuse',
    'identify', 'inspect', 'leaderboard', 'merge', 'normalize', 'objective', 'plan', 'plot', 'presets', 'report',
    'results', 'statement', 'summarize', 'training', 'validate']
    """
    layout = json.loads(resources.files("deciban").joinpath("schemas", "layout.json").read_text("utf-8"))
    layout["definitions"]["two_class_evaluation"] |= {f"{name}?": "figure" for name in REGISTERED}
    parts, definitions = layout["parts"], layout["definitions"]
    within, beside = (_Notation(base, layout["groups"], definitions) for base in ("", _COMMON))
    known = {name: within.schema(one) for name, one in definitions.items()}
    known |= {name: within.members(one) for name, one in parts.items()}
    common = json.dumps({"$id": _COMMON, "$schema": _DRAFT, **layout["about"], "$defs": known})
    return {
        name: {**beside.printed(name, one), "$defs": {"common": json.loads(common)}}
        for name, one in sorted(layout["printed"].items())
    }


@dataclass(frozen=True, slots=True)
class _Notation:
    """Converter of the notation of ``schemas/layout.json`` to JSON Schema.

    Attributes
    ----------
    base : str
        URN before references to definitions.
    groups : dict
        Keys that are common to several objects.
    definitions : dict
        Definitions that can be referenced.

    Notes
    -----
    An object stands for an object with exactly these keys; a key that ends in ``?`` is optional. Special keys:
    ``"#"`` is the description, ``"*"`` alone is the value of any key, ``"+"`` adds the keys of a group, and
    ``"|": "null"`` allows null. ``{"|": [...]}`` stands for exactly one of several values, and ``{"$": ...}`` for a
    literal JSON Schema.

    A list stands for a list: ``[item, "LEAST..MOST", "null", ": description"]``; only the item is required.

    A text names types or definitions, with bounds and a pattern: ``"number|null >=0 <=1: description"``. With an equals
    sign it lists constants: ``"=verified|unverified"``.

    A command also has the keys of its ``parts``, and can have a further ``rule`` in JSON Schema.
    """

    base: str
    groups: dict[str, Any]
    definitions: dict[str, Any]

    def schema(self, one: Json) -> dict[str, Any]:
        """Return the schema of a value."""
        if isinstance(one, str):
            return self._named(one)
        if isinstance(one, list):
            return self._array(one)
        if "$" in one:
            return dict(one["$"])
        about = {"description": one["#"]} if "#" in one else {}
        if isinstance(one.get("|"), list):
            return {"oneOf": [self.schema(other) for other in one["|"]], **about}
        entries = {"additionalProperties": False, **self.members(one), **about}
        return entries | ({"type": ["object", "null"]} if "|" in one else {})

    def members(self, one: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of an object that can have further keys."""
        keys = {**self.groups.get(one.get("+", ""), {}), **one}
        own = {key: value for key, value in keys.items() if key not in ("#", "|", "+")}
        if "*" in one:
            return {"type": "object", "additionalProperties": self.schema(one["*"])}
        required = [key for key in own if not key.endswith("?")]
        properties = {key.removesuffix("?"): self.schema(value) for key, value in own.items()}
        return {"type": "object", "required": required, "properties": properties}

    def printed(self, name: str, one: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of the output of a command: the keys of some parts, and its own keys."""
        more = {"parts": (), "as": f"Output of deciban {name} --json", "rule": {}, **one}
        own = {key: value for key, value in one.items() if key not in ("parts", "as", "rule")}
        command = {} if "as" in one else {"command": f"={name}"}
        result = self.members({**command, **own})
        result["allOf"] = [{"$ref": f"{_COMMON}#/$defs/{part}"} for part in more["parts"]]
        start = {"$schema": _DRAFT, "$id": f"urn:deciban:{name}", "title": more["as"]}
        return {**start, **result, **more["rule"], "unevaluatedProperties": False}

    def _array(self, one: list[Any]) -> dict[str, Any]:
        """Return the schema of a list."""
        item, *more = one
        if isinstance(item, str) and isinstance(self.definitions.get(item), str):
            item = self.definitions[item].partition(": ")[0]  # validators look up no reference for each number
        entries: dict[str, Any] = {"type": ["array", "null"] if "null" in more else "array", "items": self.schema(item)}
        for word in more:
            if word.startswith(": "):
                entries["description"] = word[2:]
            elif word != "null":
                ends = zip(("minItems", "maxItems"), word.split(".."), strict=True)
                entries |= {end: int(n) for end, n in ends if n}
        return entries

    def _named(self, one: str) -> dict[str, Any]:
        """Return the schema of types, definitions or constants."""
        text, _, about = one.partition(": ")
        result = {"description": about} if about else {}
        if text.startswith("="):
            values = [_constant(word) for word in text[1:].split("|")]
            return {**({"const": values[0]} if len(values) == 1 else {"enum": values}), **result}
        text, _, pattern = text.partition(" /")
        names = _BOUND.sub("", text).split("|")
        if not _TYPES.issuperset(names):
            references = [{"type": name} if name in _TYPES else self._reference(name) for name in names]
            return {**(references[0] if len(references) == 1 else {"oneOf": references}), **result}
        if pattern:
            result["pattern"] = pattern.removesuffix("/")
        bounds = {_BOUNDS[sign]: json.loads(value) for sign, value in _BOUND.findall(text)}
        return {"type": names if len(names) > 1 else names[0], **bounds, **result}

    def _reference(self, name: str) -> dict[str, Any]:
        return {"$ref": f"{self.base}#/$defs/{name}"}


def _constant(word: str) -> Json:
    """Return a number or a truth value, otherwise the text."""
    try:
        return json.loads(word)
    except ValueError:
        return word
