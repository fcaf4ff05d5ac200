"""Registry of metrics (names, labels, units, directions, kinds of scores), and two-class metrics on request."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.expected import cross_entropy_curve, mixed
from deciban.core.ranks.roc import CoarseTable, ErrorKind, ErrorsAt, eer_readings, limited
from deciban.core.resampling.intervals import LEVEL, ROUNDING
from deciban.errors import DecibanWarning, InputError, counted, not_none
from deciban.evaluation.two_class.summary import CUSTOM, Summary
from deciban.evaluation.uncertainty import MetricKey
from deciban.metrics import classification
from deciban.metrics.costs import RULES, ScoreParts, parts_of
from deciban.metrics.scores import ScoredTrials
from deciban.types import ByValue

if TYPE_CHECKING:
    from deciban.metrics.intervals import CalibrationDiscrepancy
    from deciban.rules.delivered import Information
    from deciban.rules.families import ThresholdRule
from deciban.metrics.costs import REGISTERED, OwnCosts

Per: TypeAlias = Literal[
    "system", "point", "prior", "rule prior", "requested prior", "factor", "threshold", "application", "share"
]
"""Index of the values of a metric: one for the system, or one for each operating point, prior, and so on."""

TWO, CLASSES, BOTH = ("two-class",), ("classes",), ("two-class", "classes")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of an evaluation.

    Attributes
    ----------
    name : str
        Name of the attribute in results and of the JSON key.
    label : str
        Heading in tables and plots.
    kinds : tuple of str
        Kinds of scores that have the metric.
    per : str
        Index of its values.
    in_percent : bool
    digits : int
        Decimals if it is not in percent.
    larger_is_better : bool
    is_minimum : bool
        True for a minimum over thresholds or maps, and for the rest of the actual cost: it is optimistic.
    is_of_ranks : bool
        True if the two-class metric depends on the order of the scores only.
    needs_llrs : bool
        True if the two-class metric is meaningless for scores that are not log-likelihood ratios.
    tables : {"all", "comparisons", "none"}
        Tables that have it by default: summaries and comparisons, comparisons only, or neither.
    by_condition : bool
        True if differences between conditions are shown.
    has_interval : bool
        False if there are no intervals, so that systems are not compared by it.
    json : (str, str)
        Place in JSON if it is not the name: a list with one entry for each place, and the key in each entry.
    costs : callable, optional
        For `register_metric`: function of an array of llrs in nats that returns two arrays, the costs of target trials
        and of non-target trials with these llrs, each at least 0. The metric is the sum of both mean costs. Summaries
        can be pickled only if the function can: define it in a module.
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
    needs_llrs: bool = False
    tables: Literal["all", "comparisons", "none"] = "all"
    by_condition: bool = False
    has_interval: bool = True
    json: tuple[str, str] = ("", "")
    costs: OwnCosts | None = None

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
    row = Metric(name, f"{label} by the custom rule", TWO, "rule prior", digits=4, tables="comparisons", json=place)
    return replace(row, larger_is_better=larger_is_better)


_OF_BOTH = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy"}, {"ece": "ECE", "ace": "ACE"}
_RULES = {"sample_log_loss": "log loss", "sample_brier": "Brier"}

OF_CLASSIFIERS = {
    "two-class": (
        _OF_BOTH[0]
        | {"f1": "F1", "matthews": "MCC", "youden": "Youden", "best_f1": "best F1"}
        | {"average_precision": "average precision"},
        _OF_BOTH[1] | {"mce": "MCE", "smooth_ece": "smooth ECE"} | _RULES,
    ),
    "classes": (
        _OF_BOTH[0] | {"top_k_accuracy": "top-k accuracy", "sample_macro_f1": "macro F1"},
        _OF_BOTH[1] | {"top_ece": "top-label ECE", "top_ace": "top-label ACE"} | _RULES,
    ),
}
"""Names and labels of metrics of classifier papers by kind of scores: of decisions and ranks, and of posteriors."""

METRICS = [
    Metric("eer", "EER (ROCCH)", in_percent=True, is_minimum=True, is_of_ranks=True, by_condition=True),
    Metric("min_dcf", "minDCF", per="point", is_minimum=True, is_of_ranks=True, by_condition=True),
    Metric("act_dcf", "actDCF", per="point", needs_llrs=True, by_condition=True),
    Metric("mean_min_dcf", "mean minDCF", is_minimum=True, is_of_ranks=True, tables="comparisons", by_condition=True),
    Metric("mean_act_dcf", "mean actDCF", tables="comparisons", needs_llrs=True, by_condition=True),
    Metric("cllr", "Cllr", BOTH, needs_llrs=True, by_condition=True),
    Metric("min_cllr", "min Cllr", BOTH, is_minimum=True, is_of_ranks=True),
    Metric("calibration_loss", "calibration loss", BOTH, is_minimum=True, needs_llrs=True),
    Metric("information", "information", CLASSES, larger_is_better=True),
    Metric("c_avg", "C_avg", CLASSES, "point", digits=4, by_condition=True),
    Metric("min_c_avg", "min C_avg", CLASSES, "point", digits=4, is_minimum=True),
    Metric("error_rate", "error rate", CLASSES, in_percent=True, by_condition=True),
    Metric("brier", "Brier", CLASSES),
    Metric("macro_f1", "macro F1", CLASSES, larger_is_better=True, tables="none", has_interval=False),
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
    *(
        Metric(name, label, kinds, "share", larger_is_better=good, json=("classifier", name), tables="none")
        for good, (two, several) in zip((True, False), zip(*OF_CLASSIFIERS.values(), strict=True), strict=True)
        for name, label in (two | several).items()
        for kinds in [BOTH if name in two and name in several else TWO if name in two else CLASSES]
    ),
]
"""All metrics, in the order of tables; tables leave out metrics that a system lacks. See `register_metric`."""

SPOOFING = (
    Metric("min_t_dcf", "min t-DCF", digits=4, is_of_ranks=True),
    Metric("act_t_dcf", "act t-DCF", digits=4, needs_llrs=True),
    Metric("min_a_dcf", "min a-DCF", digits=4, is_of_ranks=True),
    Metric("act_a_dcf", "act a-DCF", digits=4, needs_llrs=True),
    Metric("cm_eer", "EER", in_percent=True, is_of_ranks=True),
    Metric("t_eer", "t-EER", in_percent=True, is_of_ranks=True),
    Metric("sasv_eer", "SASV-EER", in_percent=True, is_of_ranks=True),
    Metric("sv_eer", "SV-EER", in_percent=True, is_of_ranks=True),
    Metric("spf_eer", "SPF-EER", in_percent=True, is_of_ranks=True),
    *(Metric(f"bpcer{n}", f"BPCER{n}", in_percent=True, is_of_ranks=True) for n in (10, 20, 100)),
)
"""Metrics that only protocols of spoofing have."""

_BY_NAME = {metric.name: metric for metric in reversed((*METRICS, *SPOOFING))}

RANKING_NAMES = _BY_NAME.keys()
"""Names of metrics, as opposed to other numbers in JSON such as thresholds and counts."""

JSON_PLACES = {metric.name: metric.json for metric in METRICS if metric.json[0]}
"""Lists in JSON that hold metrics with several places, and keys in their entries, by the name of the metric."""


def register_metric(metric: Metric) -> Callable[[], None]:
    """Add a two-class metric to all evaluations that follow in this process.

    Tables, JSON and its schemas, data frames, pages, comparisons, conditions and requirements on saved results show it
    like every other metric, with intervals if units are known. To replace a metric, remove it first.

    Parameters
    ----------
    metric : Metric
        With ``costs``, and one value for each system.

    Returns
    -------
    function
        Removes the metric.

    Raises
    ------
    InputError
        If the metric has no costs, is no two-class metric with one value for each system, or has the name of another
        number in results.

    Examples
    --------
    >>> import deciban, numpy as np
    >>> from deciban.evaluation import Metric, register_metric
    >>> def hinge(llr):
    ...     return np.maximum(1 - llr, 0), np.maximum(1 + llr, 0)
    >>> remove = register_metric(Metric("hinge", "hinge loss", costs=hinge))
    >>> result = deciban.evaluate([1.0, 2.0, 2.0], [0.0, 0.5, -1.0])
    >>> round(result.value("hinge"), 3), "hinge loss" in result.table()
    (0.833, True)
    >>> remove()
    """
    name = metric.name
    if metric.costs is None or metric.kinds != TWO or metric.per != "system" or metric.is_minimum:
        raise InputError(f"metric {name!r}: needs costs, one value for each system, and two classes; it is no minimum.")
    layout = json.loads(resources.files("deciban").joinpath("schemas", "layout.json").read_text("utf-8"))
    objects = (layout["definitions"]["two_class_evaluation"], *layout["groups"].values(), *layout["parts"].values())
    taken = {key.removesuffix("?") for one in objects for key in one} | {"name", "notes", "bootstrap"} | {*_BY_NAME}
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) is None or name in taken:
        raise InputError(
            f"metric {name!r}: results have a number of this name, or it has other characters than small letters of "
            "ASCII, digits and _. Choose another."
        )
    if not metric.label.strip() or not 0 <= metric.digits <= 15:
        raise InputError(f"metric {name!r}: needs a label, and 0 to 15 digits.")
    METRICS.append(metric)
    _BY_NAME[name], REGISTERED[name] = metric, metric.costs

    def remove() -> None:
        if _BY_NAME.get(name) is metric:
            METRICS.remove(metric)
            del _BY_NAME[name], REGISTERED[name]

    return remove


def metric_of(key: MetricKey) -> Metric:
    """Return the metric of a name, or of a name and a place; for unregistered metrics, smaller is better."""
    name = name_of(key)
    return _BY_NAME.get(name) or Metric(name, name.replace("_", " "), tables="none")


def name_of(key: MetricKey) -> str:
    """Return the name of a metric without its place."""
    return key if isinstance(key, str) else key[0]


def keys_of(metrics: Iterable[Metric], kind: str, n_places: Mapping[str, int]) -> list[MetricKey]:
    """Return the keys of metrics for a kind of scores, one for each place.

    Parameters
    ----------
    metrics : iterable of Metric
    kind : {"two-class", "classes"}
    n_places : mapping of str to int
        Number of points, priors and so on; missing entries count as 0.

    Examples
    --------
    >>> keys_of(METRICS[:3], "two-class", {"point": 2})
    ['eer', ('min_dcf', 0), ('min_dcf', 1), ('act_dcf', 0), ('act_dcf', 1)]
    """
    keys = list[MetricKey]()
    for one in metrics:
        if kind in one.kinds:
            places = [(one.name, k) for k in range(n_places.get(one.per, 0))]
            keys += [one.name] if one.per == "system" else places
    return keys


_AT = re.compile(r"(?P<name>\w+)(?:@(?P<point>[1-9]\d*))?")


def key_among(keys: Collection[MetricKey], text: str, whose: str, argument: str = "metric") -> MetricKey:
    """Return the key of a metric by its name, at the first operating point, or ``min_dcf@2`` for the second one.

    Parameters
    ----------
    keys : collection of metrics
    text : str
    whose, argument : str
        For the message: the owner of the metrics, and the argument that named the metric.

    Raises
    ------
    InputError
        If ``keys`` does not contain it.

    Examples
    --------
    >>> known = ["eer", ("min_dcf", 0), ("min_dcf", 1)]
    >>> key_among(known, "eer", "this system"), key_among(known, "min_dcf@2", "this system")
    ('eer', ('min_dcf', 1))
    """
    result = _AT.fullmatch(text)
    at_points = [one[0] for one in keys if not isinstance(one, str) and metric_of(one).per == "point"]
    if result is not None:
        name, point = result["name"], int(result["point"] or 1)
        if (name, point - 1) in keys:
            return name, point - 1
        if result["point"] is None and name in keys:
            return name
        if n_points := at_points.count(name):
            raise InputError(f"{argument}: {text!r} needs more than {counted(n_points, 'operating point')}.")
    raise InputError(
        f"{argument}: {text!r} is not a metric of {whose}. Use one of "
        f"{', '.join(dict.fromkeys(map(name_of, keys)))}; for the second operating point, write "
        f"{(*at_points, 'min_dcf')[0]}@2."
    )


def name_with_place(key: MetricKey) -> str:
    """Write the key of a metric as one word, in the notation of `key_among`.

    >>> name_with_place("eer"), name_with_place(("min_dcf", 1))
    ('eer', 'min_dcf@2')
    """
    if isinstance(key, str):
        return key
    name, place, *_ = key
    return f"{name}@{place + 1}" if isinstance(place, int) else f"{name}@{place}"


@dataclass(frozen=True, slots=True)
class RateAt:
    """The minimum rate of one error at a limit of the other; see `deciban.metrics.fnmr_at_fmr`.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
        The limited rate.
    limit : float
        Its maximum, a fraction.
    errors : ErrorsAt
        Errors at the threshold with the minimum.
    """

    limited: str
    limit: float
    errors: ErrorsAt

    @property
    def rate(self) -> float:
        """The other rate: of misses (FNMR) or false alarms (FMR), a fraction."""
        return self.errors.p_miss if self.limited == "fmr" else self.errors.p_fa

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        other = "fnmr" if self.limited == "fmr" else "fmr"
        return {self.limited: self.limit, other: self.rate, **errors_in_words(self.errors)}


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """Errors at a threshold that was chosen elsewhere.

    Attributes
    ----------
    name : str
        Source of the threshold.
    errors : ErrorsAt
    """

    name: str
    errors: ErrorsAt

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {"name": self.name, **errors_in_words(self.errors), "hter": self.errors.hter}


@dataclass(frozen=True, slots=True)
class PosteriorScores:
    """Proper scores of posteriors at one prior; see `deciban.metrics.score_parts`.

    Attributes
    ----------
    p_target : float
    log_loss : ScoreParts
        In nats.
    brier : ScoreParts
    """

    p_target: float
    log_loss: ScoreParts
    brier: ScoreParts


@dataclass(frozen=True, slots=True, eq=False)
class Requested(ByValue):
    """Requested metrics; empty if not requested.

    Attributes
    ----------
    eer_conventions : dict of str to float
        Equal error rates by name, as in `deciban.metrics.eer_conventions`.
    rates_at : tuple of RateAt
        FNMR at each FMR, then FMR at each FNMR.
    at_thresholds : tuple of AtThreshold
    posterior_scores : tuple of PosteriorScores
    rule_costs : tuple of RuleCosts
        Costs by a custom rule.
    classifier : tuple of dict
        Metrics of classifier papers, as one entry, with ``p_target``, the share of targets in the data; multiclass:
        with ``k`` of the top-k accuracy.
    discrepancies : tuple of CalibrationDiscrepancy
        For each decade of the likelihood ratio.
    """

    eer_conventions: Mapping[str, float]
    rates_at: tuple[RateAt, ...]
    at_thresholds: tuple[AtThreshold, ...]
    posterior_scores: tuple[PosteriorScores, ...]
    rule_costs: tuple[RuleCosts, ...] = ()
    classifier: tuple[Mapping[str, float], ...] = ()
    discrepancies: tuple[CalibrationDiscrepancy, ...] = ()

    @property
    def discrepancy(self) -> float:
        """Largest confirmed discrepancy in log10; 0 if calibrated llrs are compatible with the data."""
        return max((one.confirmed for one in self.discrepancies), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, without empty entries."""
        entries = {
            "eer_conventions": self.eer_conventions,
            "fnmr_at_fmr": [one for one in self.rates_at if one.limited == "fmr"],
            "fmr_at_fnmr": [one for one in self.rates_at if one.limited == "fnmr"],
            "at_thresholds": self.at_thresholds,
            "posterior_scores": self.posterior_scores,
            "rule_costs": self.rule_costs,
            "classifier": self.classifier,
            "calibration_discrepancies": self.discrepancies,
        }
        result = {name: value for name, value in entries.items() if value}
        return result | ({"calibration_discrepancy": self.discrepancy} if self.discrepancies else {})


NOTHING = Requested({}, (), (), ())
"""Result without requests."""


def requested_of(summary: Summary, level: float = LEVEL) -> Requested:
    """Compute the requested metrics of a summary, with limits of the calibration discrepancy at a level."""
    request, ranks = summary.metrics, summary.ranks
    rates = [RateAt("fmr", *row) for row in _limited(summary, request.fnmr_at, "fa")]
    rates += [RateAt("fnmr", *row) for row in _limited(summary, request.fmr_at, "miss")]
    scores = [
        PosteriorScores(p, *(parts_of(sums[name], summary.recalibrated, name, float(logit(p))) for name in RULES))
        for p, sums in zip(
            request.posteriors_at, summary.posterior_costs, strict=False
        )  # the rest is for a custom rule
    ]
    at = [AtThreshold(name, ErrorsAt.of(ranks.tar, ranks.non, place)) for name, place in request.at_thresholds]
    every = eer_readings(summary.ranks.rocch.eer(), ranks.tar, ranks.non) if request.eer_conventions else {}
    readings = {name: every[name] for name in request.eer_conventions}
    result = _classifier_metrics(summary) if request.classifier else ()
    levels = _discrepancies(summary, level) if request.discrepancy else ()
    return Requested(readings, tuple(rates), tuple(at), tuple(scores), _rule_costs(summary), result, levels)


def _discrepancies(summary: Summary, level: float) -> tuple[CalibrationDiscrepancy, ...]:
    """Return the calibration discrepancy by decade; empty if the scores are not in memory."""
    from deciban.metrics.intervals import discrepancies_of  # loads on request

    if isinstance(summary.ranks.table, CoarseTable):
        return ()
    trials = summary.ranks.trials
    return discrepancies_of(trials.tar, trials.non, level=level)


def _classifier_metrics(summary: Summary) -> tuple[Mapping[str, float], ...]:
    """Return the metrics of classifier papers at the share of targets in the data.

    Raises
    ------
    InputError
        If the scores are not in memory.
    """
    if isinstance(summary.ranks.table, CoarseTable):
        raise InputError("classifier: these metrics need all scores in memory. Leave them out, or allow more memory.")
    tar, non = summary.ranks.tar, summary.ranks.non
    scores = tar.scores, non.scores
    weights: dict[str, Any] = {"tar_weights": tar.weights, "non_weights": non.weights}
    share = float(summary.n_tar / (summary.n_tar + summary.n_non))
    errors = ErrorsAt.of(tar, non, -float(logit(share)))
    entries = {"p_target": share, **decision_metrics(share, errors.p_miss, errors.p_fa)}
    entries["best_f1"] = classification.best_decision_of(summary.ranks, "f1").value
    entries["average_precision"] = classification.precision_recall_of(summary.ranks).average
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)  # notes state that scores look like probabilities
        entries["ece"] = classification.ece(*scores, prior=share, **weights)
        entries["ace"] = classification.ece(*scores, prior=share, scheme="mass", **weights)
        entries["mce"] = classification.mce(*scores, prior=share, **weights)
        entries["smooth_ece"] = classification.smooth_ece(*scores, prior=share, **weights)
    trials, log_odds = summary.ranks.trials, float(logit(share))
    for name, rule in zip(("sample_log_loss", "sample_brier"), RULES, strict=True):
        entries[name] = mixed(*RULES[rule](trials.tar, trials.non, log_odds), log_odds)
    return (entries,)


def decision_metrics(share: float, p_miss: float, p_fa: float) -> dict[str, float]:
    """Return metrics of decisions from their error rates, at a share of targets.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in decision_metrics(0.5, 0.1, 0.2).items()}
    {'accuracy': 0.85, 'balanced_accuracy': 0.85, 'f1': 0.857, 'matthews': 0.704, 'youden': 0.7}
    """
    counts = share * (1.0 - p_miss), share * p_miss, (1.0 - share) * p_fa, (1.0 - share) * (1.0 - p_fa)
    means = {"accuracy": counts[0] + counts[3], "balanced_accuracy": 1.0 - 0.5 * (p_miss + p_fa)}
    return means | {name: float(of(*counts)) for name, of in classification.OF_COUNTS.items()}


def _limited(summary: Summary, limits: tuple[float, ...], which: ErrorKind) -> list[tuple[float, ErrorsAt]]:
    return list(zip(limits, limited(summary.ranks.table, limits, which), strict=True)) if limits else []


def errors_in_words(errors: ErrorsAt) -> dict[str, Any]:
    """Return threshold, rates and counts by name."""
    rates = {"p_miss": errors.p_miss, "p_fa": errors.p_fa}
    return {"threshold": errors.threshold, **rates, "n_miss": errors.n_miss, "n_fa": errors.n_fa}


@dataclass(frozen=True, slots=True)
class RuleCosts:
    """Costs of posteriors at one prior by a custom rule, in its units of cost.

    Attributes
    ----------
    p_target : float
        The prior.
    parts : Information
        Default, actual and minimum cost.
    rule : ThresholdWeights or ThresholdDensity
        The rule, to distinguish costs by different rules.
    """

    p_target: float
    parts: Information
    rule: ThresholdRule

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {
            "p_target": self.p_target,
            "cost": self.parts.cost,
            "minimum": not_none(self.parts.minimum, "minimum"),
            "calibration_loss": not_none(self.parts.lost_by_calibration, "calibration_loss"),
            "default": self.parts.entropy,
            "information": self.parts.delivered,
        }


def _rule_costs(summary: Summary) -> tuple[RuleCosts, ...]:
    """Return the costs by a custom rule at each distinct prior of the operating points."""
    request = summary.metrics
    if request.rule is None:
        return ()
    from deciban.rules.delivered import Information, costs_of_llrs

    result, rule = list[RuleCosts](), request.rule
    for p, sums in zip(request.rule_priors, summary.posterior_costs[len(request.posteriors_at) :], strict=False):
        log_odds, entropy = float(logit(p)), float(rule.entropy([p, 1.0 - p]))
        cost = mixed(*sums[CUSTOM], log_odds)
        least = mixed(*costs_of_llrs(summary.recalibrated, rule, log_odds), log_odds)
        result.append(RuleCosts(p, Information(entropy, cost, min(cost, least), rule.unit), rule))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class InformationAt:
    """Information that scores deliver at one prior, in bits.

    Attributes
    ----------
    prior : tuple of float
        Probabilities of the classes; with two classes target, then non-target.
    entropy : float
        Entropy of the prior, the maximum.
    delivered : float
        Entropy minus cross-entropy. Negative if the scores are worse than the prior alone; ``-inf`` if a trial has
        infinite evidence for a wrong class.
    available : float or None
        Information after the best recalibration on the same trials; None if unknown.
    """

    prior: tuple[float, ...]
    entropy: float
    delivered: float
    available: float | None


EVEN = 0.0
"""Log odds of the prior at which Cllr is a cross-entropy."""


def information_priors(thresholds: Sequence[float]) -> list[float]:
    """Return prior log odds at which information is shown: even odds, and the first operating point.

    Examples
    --------
    >>> information_priors([4.5, 2.0]), information_priors([0.0])
    ([0.0, -4.5], [0.0])
    """
    return list(dict.fromkeys([EVEN, *(-threshold + 0.0 for threshold in thresholds[:1])]))


def information_of(summary: Summary, trials: ScoredTrials) -> tuple[InformationAt, ...]:
    """Return the information of two-class scores, at even odds and at the effective prior of the first operating point.

    Parameters
    ----------
    summary : Summary
    trials : ScoredTrials
        The trials; if many, in narrow bins, which changes a cross-entropy by less than 2e-5 bits.
    """
    log_odds, nothing = np.array(information_priors(summary.metrics.thresholds)), (np.zeros(1), None)
    with np.errstate(over="ignore"):
        entropy, actual, least = (
            cross_entropy_curve(tar, non, log_odds) / math.log(2)
            for tar, non in (
                (nothing, nothing),
                (trials.tar, trials.non),
                (summary.recalibrated.tar, summary.recalibrated.non),
            )
        )
    actual[0], least[0] = summary.cllr, summary.recalibrated.cllr()
    available = np.maximum(entropy - least, 0.0)  # rounding can be negative
    delivered = entropy - actual
    delivered[np.abs(delivered) <= ROUNDING * entropy] = 0.0
    delivered[1:] = np.minimum(delivered, available)[1:]  # bins can exceed the maximum slightly
    return tuple(
        InformationAt((float(expit(at)), float(expit(-at))), *numbers)
        for at, *numbers in zip(
            log_odds.tolist(), entropy.tolist(), delivered.tolist(), available.tolist(), strict=True
        )
    )
