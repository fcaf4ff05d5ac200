"""The metrics of evaluations in one table: names, labels, units, directions, and where each applies."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, TypeAlias

from deciban.errors import InputError
from deciban.evaluation.uncertainty import Figure
from deciban.messages import counted

Per: TypeAlias = Literal[
    "system", "point", "prior", "rule prior", "requested prior", "factor", "threshold", "application"
]
"""What a metric has one value for: the system, or each operating point, prior, and so on."""

TWO, CLASSES, BOTH = ("two-class",), ("classes",), ("two-class", "classes")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of an evaluation.

    Attributes
    ----------
    name : str
        As attributes of results and JSON have it.
    label : str
        Heading in tables and plots.
    kinds : tuple of str
        Kinds of scores that have the metric.
    per : str
        What it has one value for.
    in_percent : bool
    digits : int
        Decimals where it is not in percent.
    larger_is_better : bool
    is_minimum : bool
        True for a minimum over thresholds or maps, and for what it leaves of the actual cost: it is optimistic.
    is_of_ranks : bool
        True if the metric of two classes follows from the order of the scores alone.
    tables : {"all", "comparisons", "none"}
        Tables that have it without being asked: summaries and comparisons, comparisons alone, or neither.
    by_condition : bool
        True if differences between conditions are shown.
    json : (str, str)
        Where JSON has it if not by its name: a list with one entry for each place, and the key in each entry.
    """

    name: str
    label: str
    kinds: tuple[str, ...] = TWO
    per: Per = "system"
    _: KW_ONLY
    in_percent: bool = False
    digits: int = 3
    larger_is_better: bool = False
    is_minimum: bool = False
    is_of_ranks: bool = False
    tables: Literal["all", "comparisons", "none"] = "all"
    by_condition: bool = False
    json: tuple[str, str] = ("", "")

    def written(self, value: float, *, sign: bool = False) -> str:
        """Write the metric, or a difference of two, without its unit.

        Examples
        --------
        >>> metric_of("eer").written(-0.01234), metric_of("cllr").written(0.1239, sign=True)
        ('-1.23', '+0.124')
        """
        if math.isnan(value):
            return "-"
        plus, digits = "+" if sign else "", 2 if self.in_percent else self.digits
        scaled = 100.0 * value if self.in_percent else value
        return f"{scaled:{plus}z.{digits}f}" if abs(scaled) < 1e6 else f"{scaled:{plus}.{digits + 1}g}"

    def text(self, value: float, *, sign: bool = False) -> str:
        """Write the metric, or a difference of two, with its unit if that is percent."""
        return f"{self.written(value, sign=sign)} %" if self.in_percent else self.written(value, sign=sign)


def _on_request(name: str, per: Per, json: tuple[str, str], kinds: tuple[str, ...] = TWO) -> Metric:
    return Metric(name, name.replace("_", " "), kinds, per, json=json, tables="none")


def _by_rule(name: str, label: str, *, larger_is_better: bool = False) -> Metric:
    place = "rule_costs", name.removeprefix("rule_")
    more: dict[str, bool] = {"larger_is_better": larger_is_better}
    return Metric(name, f"{label} by own rule", TWO, "rule prior", digits=4, tables="comparisons", json=place, **more)


METRICS = (
    Metric("eer", "EER (ROCCH)", in_percent=True, is_minimum=True, is_of_ranks=True, by_condition=True),
    Metric("min_dcf", "minDCF", per="point", is_minimum=True, is_of_ranks=True, by_condition=True),
    Metric("act_dcf", "actDCF", per="point", by_condition=True),
    Metric("mean_min_dcf", "mean minDCF", is_minimum=True, is_of_ranks=True, tables="comparisons", by_condition=True),
    Metric("mean_act_dcf", "mean actDCF", tables="comparisons", by_condition=True),
    Metric("cllr", "Cllr", BOTH, by_condition=True),
    Metric("min_cllr", "min Cllr", BOTH, is_minimum=True, is_of_ranks=True),
    Metric("calibration_loss", "calibration loss", BOTH, is_minimum=True),
    Metric("information", "information", CLASSES, larger_is_better=True),
    Metric("c_avg", "C_avg", CLASSES, "point", digits=4, by_condition=True),
    Metric("min_c_avg", "min C_avg", CLASSES, "point", digits=4, is_minimum=True),
    Metric("error_rate", "error rate", CLASSES, in_percent=True, by_condition=True),
    Metric("brier", "Brier", CLASSES),
    Metric("cross_entropy", "cross-entropy", CLASSES),
    Metric("auc", "AUC", digits=4, larger_is_better=True, is_of_ranks=True),
    _by_rule("rule_cost", "cost"),
    _by_rule("rule_minimum", "minimum"),
    _by_rule("rule_calibration_loss", "calibration loss"),
    _by_rule("rule_information", "information", larger_is_better=True),
    Metric("prbep", "PRBEP", digits=1, tables="none"),
    Metric("p_miss", "misses", per="point", in_percent=True, tables="none"),
    Metric("p_fa", "false alarms", per="point", in_percent=True, tables="none"),
    Metric("normalized", "normalized C_avg", CLASSES, "point", digits=4, tables="none"),
    Metric("normalized_min", "normalized min", CLASSES, "point", digits=4, tables="none"),
    *(
        Metric(f"mean_{name}", f"mean {name}".replace("_", " "), CLASSES, digits=4, tables="none")
        for name in ("c_avg", "min_c_avg", "normalized", "normalized_min")
    ),
    _on_request("misleading_tar", "factor", ("misleading_evidence", "p_tar")),
    _on_request("misleading_non", "factor", ("misleading_evidence", "p_non")),
    replace(_on_request("information", "prior", ("information_at", "delivered"), BOTH), larger_is_better=True),
    replace(_on_request("available", "prior", ("information_at", "available"), BOTH), larger_is_better=True),
    *(
        _on_request(f"at_thresholds_{name}", "threshold", ("at_thresholds", name))
        for name in ("p_miss", "p_fa", "hter")
    ),
    *(
        _on_request(f"{rule}{part}", "requested prior", ("posterior_scores", f"{rule}{part}"))
        for rule in ("log_loss", "brier")
        for part in ("", "_discrimination_loss", "_calibration_loss")
    ),
    _on_request("cost", "application", ("costs", "cost"), BOTH),
)
"""All metrics, in the order of tables; what a system lacks is left out there."""

_BY_NAME = {metric.name: metric for metric in reversed(METRICS)}

JSON_PLACES = {metric.name: metric.json for metric in METRICS if metric.json[0]}
"""Lists in JSON that hold metrics with several places, and keys in their entries, by the name of the metric."""


def metric_of(key: Figure) -> Metric:
    """Return the metric of a name, or of a name and a place; one that the table lacks is smaller where it is better."""
    name = name_of(key)
    return _BY_NAME.get(name) or Metric(name, name.replace("_", " "), tables="none")


def name_of(key: Figure) -> str:
    """Return the name of a metric without its place."""
    return key if isinstance(key, str) else key[0]


def keys_of(metrics: Iterable[Metric], kind: str, n_places: Mapping[str, int]) -> list[Figure]:
    """Return the metrics of a kind of scores, those with several places once for each.

    Parameters
    ----------
    metrics : iterable of Metric
    kind : {"two-class", "classes"}
    n_places : mapping of str to int
        Number of points, priors and so on; none of those that it lacks.

    Examples
    --------
    >>> keys_of(METRICS[:3], "two-class", {"point": 2})
    ['eer', ('min_dcf', 0), ('min_dcf', 1), ('act_dcf', 0), ('act_dcf', 1)]
    """
    found = list[Figure]()
    for one in metrics:
        if kind in one.kinds:
            places = [(one.name, k) for k in range(n_places.get(one.per, 0))]
            found += [one.name] if one.per == "system" else places
    return found


_AT = re.compile(r"(?P<name>\w+)(?:@(?P<point>[1-9]\d*))?")


def key_among(known: Collection[Figure], text: str, whose: str, argument: str = "figure") -> Figure:
    """Return a metric by its name, at the first operating point, or ``min_dcf@2`` for the second one.

    Parameters
    ----------
    known : collection of metrics
    text : str
    whose, argument : str
        For the message: of what there is no such metric, and what asked for it.

    Raises
    ------
    InputError
        If it is not among them.

    Examples
    --------
    >>> known = ["eer", ("min_dcf", 0), ("min_dcf", 1)]
    >>> key_among(known, "eer", "this system"), key_among(known, "min_dcf@2", "this system")
    ('eer', ('min_dcf', 1))
    """
    found = _AT.fullmatch(text)
    at_points = [one[0] for one in known if not isinstance(one, str) and metric_of(one).per == "point"]
    if found is not None:
        name, point = found["name"], int(found["point"] or 1)
        if (name, point - 1) in known:
            return name, point - 1
        if found["point"] is None and name in known:
            return name
        if n_points := at_points.count(name):
            raise InputError(f"{argument}: {text!r} asks for more than {counted(n_points, 'operating point')}.")
    raise InputError(
        f"{argument}: {text!r} is no figure of {whose}. There are {', '.join(dict.fromkeys(map(name_of, known)))}; at "
        f"the second one of several operating points, write {(*at_points, 'min_dcf')[0]}@2."
    )


def name_with_place(key: Figure) -> str:
    """Write a metric in one word, as `key_among` takes it.

    >>> name_with_place("eer"), name_with_place(("min_dcf", 1))
    ('eer', 'min_dcf@2')
    """
    if isinstance(key, str):
        return key
    name, place, *_ = key
    return f"{name}@{place + 1}" if isinstance(place, int) else f"{name}@{place}"
