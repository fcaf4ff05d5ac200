"""Five questions about a system, answered by rules for readers who do not know the metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deciban.core.ranks.roc import FEW_ERRORS, WORSE_THAN_NONE
from deciban.core.resampling.units import FEW_UNITS
from deciban.errors import amount, counted, option, some_of, topic_of
from deciban.evaluation.one_system import OneSystem, advice_before_calibration, has_llrs, shown_interval
from deciban.evaluation.two_class.evaluate import chance_error_of_auc, prior_name
from deciban.evaluation.uncertainty import MetricKey
from deciban.tables.writers import bits, count, number, percent, sure
from deciban.types import Axis

if TYPE_CHECKING:
    from deciban.evaluation import ClassEvaluation, Evaluation
    from deciban.evaluation.curves import AffineCalibration

_SHOWN = 3
"""Number of classes or confusions in a sentence."""

_IDLE = 0.9
"""Share of the cost without scores above which decisions save little."""

_BEYOND_CHANCE = 3.0
"""Standard errors by which scores must be worse than chance to count as reversed."""

_STRONG = 100.0
"""Likelihood ratio above which evidence is strong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """Facts about one system.

    Attributes
    ----------
    apart : str
        Phrase for the classes that it should separate.
    n_classes : int
    n_rarest : float
        Trials of the rarest class.
    are_too_few : bool
        True if there are too few trials for overall metrics, not only for metrics of single classes.
    reference, cllr, min_cllr : float
        Bits: Cllr without information, Cllr of the scores, and Cllr after the best recalibration on the same trials;
        NaN if unknown.
    scale : float or None
        Best factor of the scores; None if no finite one is best, or if it is unknown.
    mended : float
        Bits after the best scale and offsets; NaN without a scale.
    leaning : str
        What a wrong offset does to scores, such as "are too high by 2.8 nats"; empty without this fault.
    is_far_off : bool
        True if the offset is as important: 1 nat or more for two classes; for several, more than the scale.
    errors : tuple of str
        Sentences on the number of errors.
    is_reversed : bool
        True if scores favour the wrong class, beyond chance.
    are_llrs : bool
        False if scores cannot be log-likelihoods or their ratios.
    before : str
        Advice on an option that may make log-likelihoods of the scores, before the advice to calibrate.
    has_wrong_certainty : bool
        True if a trial has infinite evidence for the wrong class.
    failures, weak_spots : tuple of str
        Sentences on decisions that cost more than ignoring the scores, and on the most frequent errors.
    idle : tuple of str
        Sentences on operating points at which decisions save little.
    helps : bool
        True if decisions are better than ignoring the scores at some prior.
    scarce : tuple of str
        Sentences on numbers of trials or errors that are too small.
    n_units : int or None
        None if units are unknown.
    noun : str
        Name of a unit.
    width : float
        Width of the interval of the main metric, divided by the metric; NaN without an interval.
    main_metric : str
        Name of the main metric.
    points : str
        The operating points.
    """

    apart: str
    n_classes: int
    n_rarest: float
    are_too_few: bool
    reference: float
    cllr: float
    min_cllr: float
    scale: float | None
    mended: float
    leaning: str
    is_far_off: bool
    errors: tuple[str, ...]
    is_reversed: bool
    are_llrs: bool
    has_wrong_certainty: bool
    failures: tuple[str, ...]
    weak_spots: tuple[str, ...]
    idle: tuple[str, ...]
    helps: bool
    scarce: tuple[str, ...]
    n_units: int | None
    noun: str
    width: float
    main_metric: str
    points: str = ""
    before: str = ""


def facts_of(one: Any, *, with_scale: bool = True) -> SystemFacts:
    """Collect the facts about one system of either kind.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    with_scale : bool
        Two classes: fit the best scale and offset, which takes longer than everything else.
    """
    own = _of_classes(one) if one.kind == "classes" else _of_two(one, one.affine if with_scale else None)
    known = one.uncertainty
    return SystemFacts(
        **own,
        before=advice_before_calibration(one),
        cllr=one.cllr,
        min_cllr=one.min_cllr,
        are_llrs=has_llrs(one),
        has_wrong_certainty=math.isinf(one.cllr),
        n_units=None if known is None else known.n_units,
        noun="speaker" if known is None else known.noun,
    )


def _of_two(one: Evaluation, affine: AffineCalibration | None) -> dict[str, Any]:
    rate, key = one.quoted_eer
    eer = sure(percent(rate), one, key)
    n_low, n_high = one.dr30
    few = [
        f"{count(n)} {name} trial{'' if n == 1 else 's'}"
        for n, name in ((one.n_tar, "target"), (one.n_non, "non-target"))
        if n < FEW_ERRORS
    ]
    if few:
        scarce: tuple[str, ...] = (f"There are {' and '.join(few)}, fewer than {FEW_ERRORS}: all metrics are rough.",)
    elif n_low >= n_high:
        scarce = (f"No prior has {FEW_ERRORS} misses and {FEW_ERRORS} false alarms: all metrics are rough.",)
    else:
        scarce = tuple(
            f"At {point} there are {count(point.n_miss)} misses and {count(point.n_fa)} false alarms, fewer than "
            f"{FEW_ERRORS} of a kind."
            for point in one.operating_points
            if min(point.n_miss, point.n_fa) < FEW_ERRORS
        )
    costs = _by_cost(one, [(str(point), point.act_dcf) for point in one.operating_points], "act_dcf")
    costs["failures"] = costs["failures"] or tuple(note for note in one.notes if topic_of(note) == "calibration")
    return {
        **costs,
        "apart": "targets from non-targets",
        "n_classes": 2,
        "n_rarest": float(min(one.n_tar, one.n_non)),
        "are_too_few": bool(few),
        "reference": 1.0,
        "scale": None if affine is None or affine.scale <= 0.0 else affine.scale,
        "mended": math.nan if affine is None else affine.cllr,
        "is_far_off": affine is not None and abs(affine.offset) >= 1.0,
        "leaning": "" if affine is None else _side(affine.scale, affine.offset, one.axis),
        "errors": (f"At equal error rates, {eer} of targets and of non-targets are decided wrongly.",),
        "is_reversed": one.auc < 0.5 - _BEYOND_CHANCE * chance_error_of_auc(one.n_tar, one.n_non),
        "weak_spots": _misleading(one) if has_llrs(one) else (),
        "helps": bool((one.curves.act_error < 1.0).any()),
        "scarce": scarce,
        "width": _width(one, "eer"),
        "main_metric": "EER",
        "points": some_of([str(point) for point in one.operating_points]),
    }


def _side(scale: float, offset: float, axis: Axis) -> str:
    """Return how far two-class scores are too high or too low, from the zero of the best map."""
    shift = -offset / scale if scale > 0.0 else 0.0
    size, unit = (abs(shift) / math.log(10), "in log10") if axis == "log10" else (abs(shift), "nats")
    return f"are too {'high' if shift > 0 else 'low'} by {number(size, 1)} {unit}" if abs(shift) >= 0.1 else ""


def _by_cost(one: OneSystem, costs: Sequence[tuple[str, float]], metric: str) -> dict[str, tuple[str, ...]]:
    """Return sentences on points at which decisions cost more than ignoring the scores, or save little."""
    failures, idle = list[str](), list[str]()
    for k, (point, cost) in enumerate(costs):
        text = sure(number(cost), one, (metric, k))
        if cost > WORSE_THAN_NONE:
            failures.append(f"At {point} decisions cost {text} times as much as ignoring the scores.")
        elif _IDLE <= cost <= 1.0:
            idle.append(f"At {point} decisions save little: they cost {text} times as much as ignoring the scores.")
        elif (known := shown_interval(one, (metric, k))) is not None and known.high > WORSE_THAN_NONE:
            idle.append(f"At {point} decisions cost {text} times as much as ignoring the scores: they may be worse.")
    return {"failures": tuple(failures), "idle": tuple(idle)}


def _misleading(one: Evaluation) -> tuple[str, ...]:
    """Return sentences on priors at which decisions help, and on strong evidence for the wrong class."""
    helps, messages = one.curves.act_error < 1.0, list[str]()
    if helps.any():
        first, last = np.flatnonzero(helps)[[0, -1]]
        low, high = (prior_name(one.curves.prior_log_odds[at]) for at in (first, last))
        where = f"at priors near {low}" if low == high else f"at priors from {low} to {high}"
        gaps = "" if helps[first : last + 1].all() else ", with gaps"
        messages.append(f"On these trials, decisions cost less than ignoring the scores {where}{gaps}.")
    messages += [
        f"A likelihood ratio of more than {_STRONG:g} favours the wrong class in {amount(result.n_tar)} of "
        f"{amount(one.n_tar)} targets and {amount(result.n_non)} of {amount(one.n_non)} non-targets."
        for result in one.misleading
        if result.factor == _STRONG
    ]
    return tuple(messages)


def _of_classes(one: ClassEvaluation) -> dict[str, Any]:
    result, unknown = one.calibration, math.isnan(one.min_cllr)
    leaning, now = ("", "") if unknown or not (own := _favoured(one)) else (own, " before calibration")
    rate = sure(percent(one.error_rate), one, "error_rate")
    by_chance = one.default_error_rate * (1.0 - one.default_error_rate)
    error_by_chance = math.sqrt(by_chance / (one.n_classes * float(one.counts.min())))
    return {
        **_by_cost(one, [(f"target prior {point.p_target:g}", point.normalized) for point in one.points], "normalized"),
        "apart": f"the {one.n_classes:,} classes",
        "n_classes": one.n_classes,
        "n_rarest": float(one.counts.min()),
        "are_too_few": float(np.median(one.counts)) < FEW_ERRORS,
        "reference": one.reference,
        "scale": None if unknown or not result.scale > 0.0 else result.scale,
        "mended": result.minimum,
        "is_far_off": bool(leaning) and result.offset_loss > result.scale_loss,
        "leaning": leaning,
        "errors": (f"{rate} of decisions are wrong{now}; without scores, {percent(one.default_error_rate)} would be.",),
        "is_reversed": one.error_rate > one.default_error_rate + _BEYOND_CHANCE * error_by_chance,
        "weak_spots": _confused(one),
        "helps": True,
        "scarce": _scarce_classes(one),
        "width": _width(one, "error_rate"),
        "main_metric": "error rate",
        "points": some_of([f"detection at prior {point.p_target:g}" for point in one.points]),
    }


def _favoured(one: ClassEvaluation) -> str:
    """Return the class that scores favour or underrate most, if offsets alone would reduce the calibration loss."""
    result = one.calibration
    if not (result.loss > 0.0 and result.scale > 0.0) or result.offset_loss < 0.1 * result.loss:
        return ""
    shifts = -result.offset / result.scale * one.n_classes / (one.n_classes - 1)  # offsets sum to 0
    most = int(np.argmax(np.abs(shifts)))
    verb, word = ("favour", "over") if shifts[most] > 0.0 else ("underrate", "against")
    words = f"{verb} class {one.classes[most]!r} {word} the other{'s' * (one.n_classes > 2)}"
    return f"{words}, by {number(abs(shifts[most]), 1)} nats" if abs(shifts[most]) >= 0.2 else ""


def _confused(one: ClassEvaluation) -> tuple[str, ...]:
    """Return sentences on the classes with the highest error rates, and on the most frequent confusion."""
    rates = [(rate, name) for rate, name in zip(one.class_error_rates.tolist(), one.classes, strict=True) if rate > 0]
    items = []
    if rates:
        worst = sorted(rates, key=lambda pair: -pair[0])[:_SHOWN]
        named = ", ".join(f"{name} ({sure(percent(rate), one, ('class_error_rates', name))})" for rate, name in worst)
        items.append(f"Highest error rates: {named}.")
    for name, other, n, share in one.frequent_confusions(1):
        items.append(f"Most frequent confusion: {name} decided as {other} ({count(n)}, {percent(share)} of the class).")
    return tuple(items)


def _scarce_classes(one: ClassEvaluation) -> tuple[str, ...]:
    few = [name for name, n in zip(one.classes, one.counts.tolist(), strict=True) if n < FEW_ERRORS]
    n_errors, messages = float(one.confusion.sum() - np.trace(one.confusion)), list[str]()
    if few:
        messages.append(f"There are fewer than {FEW_ERRORS} segments of {some_of(few)}.")
    if n_errors < FEW_ERRORS:
        messages.append(f"There are {count(n_errors)} errors, fewer than {FEW_ERRORS}: the error rate is rough.")
    errors = (one.confusion.sum(axis=1) - np.diagonal(one.confusion)).tolist()
    of_class = zip(one.classes, errors, strict=True)
    rough = [f"{name} ({count(n)})" for name, n in of_class if n < FEW_ERRORS <= n_errors]
    if rough:
        messages.append(f"There are fewer than {FEW_ERRORS} errors of {some_of(rough)}: their error rates are rough.")
    return tuple(messages)


def _width(one: OneSystem, metric: MetricKey) -> float:
    result, value = shown_interval(one, metric), getattr(one, str(metric))
    return math.nan if result is None or not value > 0.0 else (result.high - result.low) / value


Mood: TypeAlias = Literal["good", "fair", "bad", "unknown"]
"""Rating of an answer; pages colour it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question about a system.

    Attributes
    ----------
    question : str
    verdict : str
        The answer in a few words, for tables of several systems.
    mood : {"good", "fair", "bad", "unknown"}
    sentences : tuple of str
        The answer, with the numbers that support it.
    """

    question: str
    verdict: str
    mood: Mood
    sentences: tuple[str, ...]


APART, CALIBRATED = "Does it separate the classes?", "Is it calibrated?"

FAILS, ENOUGH, NEXT = "Where does it fail?", "Is there enough data?", "What next?"


_TOO_FEW = "too few trials"

_SO_FAR = "yes, on these trials"


_TELLS: tuple[tuple[float, str, Mood], ...] = (
    (0.9, "very well", "good"),
    (0.7, "well", "good"),
    (0.4, "in part", "fair"),
    (0.1, "poorly", "bad"),
    (-math.inf, "no", "bad"),
)
"""Least share of the information for each verdict on the separation of classes."""


_FINE, _SLIGHT = 0.05, 0.2
"""Shares of Cllr below which a calibration loss is negligible, and small."""


_FINE_OF_HELD, _SLIGHT_OF_HELD = 0.01, 0.03
"""The same as shares of the available information, for Cllr close to 0."""


_CHANCE = 6.0
"""Twice the logarithm of a likelihood ratio, exceeded by chance in one of twenty data sets (two parameters)."""


_SURE, _CAUTIOUS = 0.8, 1.25
"""Scales below which scores are overconfident, and above which they are underconfident."""


_NEARLY_RIGHT = 1.5
"""Factor by which the llrs of nearly calibrated scores are too extreme or too weak, at most."""


_ROUGH = 1.0
"""Width of an interval, divided by its metric, above which the metric is rough."""


def apart(facts: SystemFacts) -> Answer:
    """Answer how much information the scores contain, for any calibration."""
    if facts.is_reversed:
        words = "Scores favour the wrong class more often than the right one."
        return Answer(APART, "reversed", "bad", (words, *facts.errors))
    if math.isnan(facts.min_cllr) or (facts.has_wrong_certainty and facts.n_classes > 2):
        words = "The answer needs all trials at once, and none of them with infinite evidence for the wrong class."
        return Answer(APART, "unknown", "unknown", (words, *facts.errors))
    held = facts.reference - facts.min_cllr
    share = held / facts.reference
    verdict, mood = next((verdict, mood) for least, verdict, mood in _TELLS if share >= least)
    if facts.are_too_few:
        verdict, mood = _TOO_FEW, "unknown"
    words = (
        f"With ideal calibration, its scores would deliver {number(held, 2)} of the {bits(facts.reference)} needed to "
        f"tell {facts.apart}{'' if facts.main_metric == 'EER' else ' apart'} at equal priors."
    )
    return Answer(APART, verdict, mood, (words, *facts.errors))


def calibrated(facts: SystemFacts) -> Answer:
    """Answer whether probabilities that follow from the scores are correct."""
    if unusable := _unusable(facts):
        return Answer(CALIBRATED, "no", "bad", (unusable,))
    cost = f"Cllr is {number(facts.cllr)} bits"
    if facts.cllr > facts.reference and not _is_chance(facts):
        words = f"{cost}, above the {bits(facts.reference)} of scores without information: the scores mislead."
        return Answer(CALIBRATED, "no", "bad", (words, *_how(facts)))
    if math.isnan(facts.min_cllr):
        return Answer(CALIBRATED, "unknown", "unknown", (f"{cost}; its minimum is unknown.",))
    verdict, mood, more = _judged(facts, lost := max(facts.cllr - facts.min_cllr, 0.0))
    return Answer(CALIBRATED, verdict, mood, (f"{cost}; {number(lost)} of it is calibration loss.", *more))


def _judged(facts: SystemFacts, lost: float) -> tuple[str, Mood, tuple[str, ...]]:
    """Return the verdict on a calibration loss, with its mood and reasons."""
    cllr, held = facts.cllr, facts.reference - facts.min_cllr
    if facts.are_too_few and (facts.scale is None or lost <= _SLIGHT * cllr):
        return _TOO_FEW, "unknown", ()
    if lost <= _FINE * cllr or lost <= _FINE_OF_HELD * held:
        return "yes", "good", ()
    if _is_chance(facts):
        more = ("That is no more than chance explains.",)
        return (_TOO_FEW, "unknown", more) if facts.are_too_few else (_SO_FAR, "good", more)
    if lost <= _SLIGHT * cllr or lost <= _SLIGHT_OF_HELD * held:
        return "nearly", "fair", _how(facts)
    return "no", "bad", _how(facts)


def _unusable(facts: SystemFacts) -> str:
    """Return the reason why scores are not usable without calibration; empty if they are."""
    if not facts.are_llrs:
        return f"The scores are not log-likelihoods or their ratios: {facts.before}calibrate them before decisions."
    if facts.has_wrong_certainty:
        return "At least one trial has infinite evidence for the wrong class, which has infinite cost."
    return ""


def _is_chance(facts: SystemFacts) -> bool:
    """Return True if the gain of the best scale and offsets is within chance for calibrated scores."""
    gained = facts.cllr - facts.mended  # NaN without a scale
    return 2.0 * facts.n_classes * facts.n_rarest * gained * math.log(2) < _CHANCE


def _how(facts: SystemFacts) -> tuple[str, ...]:
    """Return sentences on the kind of miscalibration; empty for reversed scores."""
    messages, scores = list[str](), "llrs" if facts.n_classes == 2 else "log-likelihoods"
    if facts.is_reversed:
        return ()
    scale = facts.scale or 1.0
    if off := _off_scale(scale):
        messages += [f"{'Over' if scale < 1.0 else 'Under'}confident: its {scores} are {off} (best scale {scale:.2g})."]
    if facts.leaning:
        messages.append(f"Its {scores} {facts.leaning}.")
    if not messages and facts.scale is not None:
        messages.append(
            "A scale and an offset would not correct this: see the plot of the normalized Bayes error rate."
        )
    return tuple(messages)


def _off_scale(scale: float) -> str:
    """Return how many times scores are too extreme or too weak; empty if the best scale is nearly 1."""
    factor = max(scale, 1.0 / scale)
    words = f"{factor:.0f} times" if factor >= 99.5 else f"{factor:.2g} times"
    return "" if _SURE <= scale <= _CAUTIOUS else f"{words} too {'extreme' if scale < 1.0 else 'weak'}"


def fails(facts: SystemFacts) -> Answer:
    """Answer where decisions cost more than ignoring the scores, and which errors are most frequent."""
    if not facts.are_llrs:
        words = "Decisions by uncalibrated scores do not show how decisions will be after calibration."
        return Answer(FAILS, "unknown", "unknown", (words, *facts.weak_spots))
    if not facts.helps:
        words = "At every prior, decisions cost at least as much as ignoring the scores."
        return Answer(FAILS, "at every prior", "bad", (*facts.failures, words, *facts.weak_spots))
    if facts.failures:
        return Answer(FAILS, "at some priors", "bad", (*facts.failures, *facts.idle, *facts.weak_spots))
    if facts.are_too_few:
        return Answer(FAILS, _TOO_FEW, "unknown", (*facts.idle, *facts.weak_spots))
    if facts.idle:
        return Answer(FAILS, "may save little at operating points", "fair", (*facts.idle, *facts.weak_spots))
    named = (f"Operating points: {facts.points}.",) if facts.points else ()
    return Answer(FAILS, "at none of the operating points", "good", (*named, *facts.weak_spots))


def enough(facts: SystemFacts) -> Answer:
    """Answer whether there are enough errors and units for reliable metrics."""
    messages, is_wide = list(facts.scarce), facts.width > _ROUGH
    if facts.n_units is None:
        messages.append("The speakers or other units of the trials are unknown, so no metric has an interval.")
        if facts.are_too_few:
            return Answer(ENOUGH, "no", "bad", tuple(messages))
        return Answer(ENOUGH, "unknown", "unknown" if not facts.scarce else "fair", tuple(messages))
    units = counted(facts.n_units, facts.noun)
    if facts.n_units < FEW_UNITS:
        messages.append(f"Intervals rest on {units}, fewer than {FEW_UNITS}: they are rough.")
        return Answer(ENOUGH, "no", "bad", tuple(messages))
    wide = f", and the interval of the {facts.main_metric} is wide" if is_wide else ""
    messages.append(f"Intervals rest on {units}{wide}.")
    if is_wide or facts.scarce:
        return Answer(ENOUGH, "not for all metrics", "fair", tuple(messages))
    return Answer(ENOUGH, "yes", "good", tuple(messages))


def next_steps(facts: SystemFacts, answers: Sequence[Answer]) -> Answer:
    """Answer what to do, given the answers to the other questions."""
    moods, steps, verdicts = {answer.question: answer.mood for answer in answers}, list[str](), list[str]()
    if facts.is_reversed:
        words = "Check the sign of the scores, which label means target, and the order of classes and columns."
        return Answer(NEXT, "check the input", "bad", (words,))
    if moods.get(CALIBRATED) in ("bad", "fair"):
        verdicts.append(f"{facts.before}calibrate")
        words = f"{facts.before}calibrate on other trials of the same kind (deciban calibrate), and evaluate again."
        steps.append(f"{words[0].upper()}{words[1:]}")
    if moods[APART] in ("bad", "fair"):
        verdicts.append("improve the recognizer")
        steps.append("Calibration cannot separate the classes better: improve the recognizer, or fuse it with others.")
    if facts.n_units is None:
        verdicts.append("give the units")
        steps.append(f"Give the speakers or other units of the trials ({option(units=...)}) for intervals of metrics.")
    if facts.are_too_few or (facts.n_units is not None and moods[ENOUGH] in ("bad", "fair")):
        verdicts.append("collect more")
        steps.append(f"Collect more {facts.noun}s and trials (deciban plan shows how many), or quote rough metrics.")
    if not steps:
        words = f"At {facts.points}," if moods.get(FAILS) != "bad" else "Use it at priors where"
        words = f"No calibration is needed. {words} decisions cost less than ignoring the scores."
        return Answer(NEXT, "use it", "good", (words if CALIBRATED in moods else "The error rates are known well.",))
    steps = [f"{k}. {step}" for k, step in enumerate(steps, 1)] if len(steps) > 1 else steps
    return Answer(NEXT, " and ".join(verdicts), "fair", tuple(steps))


_SEPARATES = {
    "very well": "separates{} very well",
    "well": "separates{} well",
    "in part": "separates{} moderately well",
    "poorly": "separates{} poorly",
    "no": "does not separate{}",
    _TOO_FEW: "has too few trials for a verdict",
}
"""Phrases for the verdicts of `apart` in a sentence."""


def verdict(one: Evaluation | ClassEvaluation, *, with_calibration: bool = True) -> str:
    """Return a sentence on a system: how well it separates the classes, how well it is calibrated, and what to do.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    with_calibration : bool
        False for error rates alone, which need no llrs.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import evaluate
    >>> rng = np.random.default_rng(1)
    >>> verdict(evaluate(9 * rng.normal(2, 1.2, 2000), 9 * rng.normal(-2, 1.2, 2000), name="A"))
    'A: separates well (EER 4.4 %), but its llrs are 3.3 times too extreme: calibrate.'
    """
    facts = facts_of(one, with_scale=False)
    rate, separation = (one.error_rate if one.kind == "classes" else one.quoted_eer[0]), apart(facts)
    if separation.mood == "bad" and facts.is_reversed:
        return f"{one.name}: scores favour the wrong class: see the note on their sign."
    what = f" {facts.apart}" if one.kind == "classes" or separation.mood == "bad" else ""
    words = _SEPARATES.get(separation.verdict, "its separation is not known").format(what)
    measure = f"{facts.main_metric} {100 * rate:{'.0f' if rate >= 0.0995 else '.2g'}} %"
    if one.kind == "classes" and facts.is_far_off:  # decisions are wrong by calibration, too
        measure = f"min Cllr {number(facts.min_cllr)}, without scores {bits(facts.reference)}"
    is_final = separation.verdict in ("no", _TOO_FEW) or not with_calibration
    more = "" if is_final else f", {_calibration_in_words(one, facts, 'and' if separation.mood == 'bad' else 'but')}"
    return f"{one.name}: {words} ({measure}){more}."


def _calibration_in_words(one: Evaluation | ClassEvaluation, facts: SystemFacts, fault: str) -> str:
    """Return a phrase on the calibration; ``fault`` is the word before a fault: "but", or "and" after another one."""
    scores = "log-likelihoods" if one.kind == "classes" else "llrs"
    if not facts.are_llrs:
        return f"{fault} its scores are not {scores}: {facts.before}calibrate"
    if facts.has_wrong_certainty:
        return f"{fault} at least one trial has infinite evidence for the wrong class"
    if max(one.cllr - one.min_cllr, 0.0) > _FINE * one.cllr:
        facts = facts_of(one)
    if (mood := calibrated(facts).mood) in ("good", "unknown"):
        at_points = one.kind == "two-class" and not facts.are_too_few and one.dr30[0] < one.dr30[1]
        where = "in some classes " if one.kind == "classes" else "at some operating points " * at_points
        unsure = f"and seems well calibrated, but {where}there are too few errors to be sure"
        fine = unsure if facts.scarce else "and is well calibrated"
        loss = shown_interval(one, "calibration_loss")
        if loss is not None and loss.low > 0.0:
            fine = f"and bad calibration costs little ({number(loss.estimate)} bits)"
        if getattr(one.requested, "discrepancy", 0.0) > 0.0:
            fine = "and is well calibrated on average, but not in all ranges of the LR"
        return fine if mood == "good" else "and its calibration is not known"
    has_scale = facts.scale is None or 1.0 / _NEARLY_RIGHT <= facts.scale <= _NEARLY_RIGHT
    words = _fault(facts, scores)
    fair = f"and its calibration can be improved ({words})" if mood == "fair" and has_scale else f"{fault} {words}"
    return f"{fair}: calibrate{f' with {option(ridge=0.001)}' if facts.min_cllr == 0.0 else ''}"


def _fault(facts: SystemFacts, scores: str) -> str:
    """Return the faults of calibration: a wrong scale and, without it or if it is large, a wrong offset."""
    leaning = facts.leaning.replace(", by", " by")
    if off := _off_scale(facts.scale or 1.0):
        faults = [off, leaning]
        if leaning.startswith("are too "):
            faults = ["shifted up" if leaning.startswith("are too high") else "shifted down", off]
        return f"its {scores} are {' and '.join(faults if facts.is_far_off else [off])}"
    return f"its {scores} {leaning}" if leaning else f"bad calibration costs {number(facts.cllr - facts.min_cllr)} bits"


QUESTIONS = (apart, calibrated, fails, enough)
"""The first four questions; the last one follows from their answers."""


def in_words(one: OneSystem, *, with_calibration: bool = True) -> tuple[Answer, ...]:
    """Answer five questions about one system from its metrics.

    Does it separate the classes, is it calibrated, where does it fail, is there enough data, and what next?

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    with_calibration : bool
        False for error rates alone: the questions about calibration and decisions are left out.

    Returns
    -------
    tuple of Answer
        One for each question, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import evaluate
    >>> rng = np.random.default_rng(1)
    >>> too_sure = evaluate(2.5 * rng.normal(2, 2, 2000), 2.5 * rng.normal(-2, 2, 2000))
    >>> [(answer.question, answer.verdict) for answer in in_words(too_sure)][1]
    ('Is it calibrated?', 'no')
    """
    facts = facts_of(one)
    answers = [ask(facts) for ask in (QUESTIONS if with_calibration else (apart, enough))]
    return (*answers, next_steps(facts, answers))


__all__ = ["Answer", "in_words", "verdict"]
