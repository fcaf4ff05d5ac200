"""Five questions about a system with answers by rules, for readers who do not know the metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import WORSE_THAN_NONE
from deciban.core.resampling.units import FEW_UNITS
from deciban.evaluation.one_system import has_llrs, shown_interval
from deciban.evaluation.two_class import prior_name
from deciban.evaluation.uncertainty import Figure
from deciban.messages import counted, topic_of
from deciban.report.numbers import count, number, percent, sure

if TYPE_CHECKING:
    from deciban.evaluation import ClassEvaluation, Evaluation
    from deciban.evaluation.results import AffineCalibration

_SHOWN = 3
"""Classes or confusions that a sentence names."""

_IDLE = 0.9
"""Shares of the cost without scores from which decisions are said to save little."""

_BEYOND_CHANCE = 3.0
"""Standard errors by which scores must be worse than none to be called the wrong way round."""

_STRONG = 100.0
"""A likelihood ratio from which evidence is called strong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What is known of one system.

    Attributes
    ----------
    apart : str
        What it should tell apart.
    n_classes : int
    n_rarest : float
        Trials of the rarest class.
    are_too_few : bool
        Whether figures of all trials together rest on too few, and not only those of single classes.
    reference, cllr, min_cllr : float
        Bits of scores that say nothing, of these, and of these after the best recalibration on the same trials; NaN
        where that is not known.
    scale : float or None
        By which scores would best be multiplied; None where no finite one is best or that is not known.
    mended : float
        Bits after the best scale and offsets; NaN with no scale.
    leaning : str
        Whom the scores favour too much, beside being too sure or too cautious; empty if nobody.
    errors : tuple of str
        Sentences on how many errors there are.
    is_reversed : bool
        Whether scores favour the wrong class, beyond what chance does.
    are_llrs : bool
        Whether scores may be log-likelihoods, or their ratios, at all.
    has_wrong_certainty : bool
        Whether a trial has infinite evidence for the wrong class.
    failures, weak_spots : tuple of str
        Sentences on where decisions are worse than none, and where most goes wrong.
    idle : tuple of str
        Sentences on operating points at which decisions cost hardly less than none.
    helps : bool
        Whether there is a prior at which decisions are better than none.
    scarce : tuple of str
        Sentences on what there is too little of.
    n_units : int or None
        None where units are not known.
    noun : str
        What a unit is called.
    width : float
        Of the interval of the main figure, as a share of it; NaN if there is none.
    main_figure : str
        What that figure is called.
    points : str
        The operating points, the default one where none was asked for.
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
    main_figure: str
    points: str = ""


def grounds_of(one: Any, *, with_scale: bool = True) -> Grounds:
    """Collect what is known of one system of either kind.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    with_scale : bool
        Two classes: fit the best scale and offset, which takes longer than everything else.
    """
    own = _of_classes(one) if one.kind == "classes" else _of_two(one, one.affine if with_scale else None)
    known = one.uncertainty
    return Grounds(
        **own,
        cllr=one.cllr,
        min_cllr=one.min_cllr,
        are_llrs=has_llrs(one),
        has_wrong_certainty=math.isinf(one.cllr),
        n_units=None if known is None else known.n_units,
        noun="speaker" if known is None else known.noun,
    )


def _of_two(one: Evaluation, affine: AffineCalibration | None) -> dict[str, Any]:
    eer = sure(percent(one.eer), one, "eer")
    n_low, n_high = one.dr30
    # Of scores that tell nothing, with few ties (Mann and Whitney 1947).
    error_of_auc = math.sqrt((one.n_tar + one.n_non + 1) / (12 * one.n_tar * one.n_non))
    few = [
        f"{count(n)} {name} trial{'' if n == 1 else 's'}"
        for n, name in ((one.n_tar, "target"), (one.n_non, "non-target"))
        if n < FEW_ERRORS
    ]
    if few:
        scarce: tuple[str, ...] = (
            f"There are {' and '.join(few)}, fewer than {FEW_ERRORS}: no figure is better than rough.",
        )
    elif n_low > n_high:
        scarce = (
            f"At no prior are there {FEW_ERRORS} misses and {FEW_ERRORS} false alarms: no figure is better than rough.",
        )
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
        "scale": None if affine is None else affine.scale,
        "mended": math.nan if affine is None else affine.cllr,
        "leaning": "" if affine is None else _side(affine.scale, affine.offset),
        "errors": (f"At equal error rates {eer} of targets and as many of non-targets are taken for the other.",),
        "is_reversed": one.auc < 0.5 - _BEYOND_CHANCE * error_of_auc,
        "weak_spots": _misleading(one) if has_llrs(one) else (),
        "helps": bool((one.curves.act_error < 1.0).any()),
        "scarce": scarce,
        "width": _width(one, "eer"),
        "main_figure": "EER",
        "points": _first([str(point) for point in one.operating_points]),
    }


def _side(scale: float, offset: float) -> str:
    """Whom scores of two classes favour: where the best map has its zero."""
    shift = -offset / scale if scale > 0.0 else 0.0
    if abs(shift) < 0.1:
        return ""
    return f"{'target' if shift > 0 else 'non-target'}, by {number(abs(shift), 1)} nats"


def _by_cost(one: Any, costs: Sequence[tuple[str, float]], figure: str) -> dict[str, tuple[str, ...]]:
    """Sentences on points at which decisions cost more than none, and on those at which they save little."""
    failures, idle = list[str](), list[str]()
    for k, (point, cost) in enumerate(costs):
        text = sure(number(cost), one, (figure, k))
        if cost > WORSE_THAN_NONE:
            failures.append(f"At {point} its decisions cost {text} times those without scores.")
        elif _IDLE <= cost <= 1.0:
            idle.append(f"At {point} its decisions save little: they cost {text} of what those without scores do.")
    return {"failures": tuple(failures), "idle": tuple(idle)}


def _misleading(one: Evaluation) -> tuple[str, ...]:
    """Where decisions help, and how often strong evidence is wrong."""
    helps, said = one.curves.act_error < 1.0, list[str]()
    if helps.any():
        first, last = np.flatnonzero(helps)[[0, -1]]
        low, high = (prior_name(one.curves.prior_log_odds[at]) for at in (first, last))
        where = f"at priors near {low}" if low == high else f"at priors from {low} to {high}"
        gaps = "" if helps[first : last + 1].all() else ", though not at all of these"
        said.append(f"By point estimates, its decisions are better than those by the prior alone {where}{gaps}.")
    for found in one.misleading:
        if found.factor == _STRONG:
            said.append(
                f"A likelihood ratio of more than {_STRONG:g} speaks for the wrong side in {percent(found.p_tar)} of "
                f"targets and {percent(found.p_non)} of non-targets."
            )
    return tuple(said)


def _of_classes(one: ClassEvaluation) -> dict[str, Any]:
    found, unknown = one.calibration, math.isnan(one.min_cllr)
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
        "scale": None if unknown or not found.scale > 0.0 else found.scale,
        "mended": found.minimum,
        "leaning": "" if unknown else _favoured(one),
        "errors": (f"{rate} of decisions are wrong, and {percent(one.default_error_rate)} without any scores.",),
        "is_reversed": one.error_rate > one.default_error_rate + _BEYOND_CHANCE * error_by_chance,
        "weak_spots": _confused(one),
        "helps": True,
        "scarce": _scarce_classes(one),
        "width": _width(one, "error_rate"),
        "main_figure": "error rate",
        "points": _first([f"detection at prior {point.p_target:g}" for point in one.points]),
    }


def _favoured(one: ClassEvaluation) -> str:
    """The class that scores favour most, where offsets alone would save a part of the calibration loss."""
    found = one.calibration
    if not (found.loss > 0.0 and found.scale > 0.0) or found.offset_loss < 0.1 * found.loss:
        return ""
    least = int(np.argmin(found.offset))
    shift = -float(found.offset[least]) / found.scale
    return f"{one.classes[least]}, by {number(shift, 1)} nats" if shift >= 0.1 else ""


def _confused(one: ClassEvaluation) -> tuple[str, ...]:
    """The classes that are missed most, and what is mostly taken for what."""
    rates = [(rate, name) for rate, name in zip(one.class_error_rates.tolist(), one.classes, strict=True) if rate > 0]
    said = []
    if rates:
        worst = sorted(rates, key=lambda pair: -pair[0])[:_SHOWN]
        named = ", ".join(f"{name} ({sure(percent(rate), one, ('class_error_rates', name))})" for rate, name in worst)
        said.append(f"Missed most: {named}.")
    for name, other, n, share in one.frequent_confusions(1):
        said.append(
            f"The most frequent confusion is {name} taken for {other}: {count(n)}, {percent(share)} of its trials."
        )
    return tuple(said)


def _scarce_classes(one: ClassEvaluation) -> tuple[str, ...]:
    few = [name for name, n in zip(one.classes, one.counts.tolist(), strict=True) if n < FEW_ERRORS]
    n_errors, said = float(one.confusion.sum() - np.trace(one.confusion)), list[str]()
    if few:
        said.append(f"There are fewer than {FEW_ERRORS} trials of {_first(few)}.")
    if n_errors < FEW_ERRORS:
        said.append(f"There are {count(n_errors)} errors, fewer than {FEW_ERRORS}: the error rate is rough.")
    errors = one.confusion.sum(axis=1) - np.diagonal(one.confusion)
    rough = [
        f"{name} ({count(n)})"
        for name, n in zip(one.classes, errors.tolist(), strict=True)
        if n < FEW_ERRORS <= n_errors
    ]
    if rough:
        said.append(f"There are fewer than {FEW_ERRORS} errors of {_first(rough)}: their error rates are rough.")
    return tuple(said)


def _first(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _width(one: Any, figure: Figure) -> float:
    found, value = shown_interval(one, figure), getattr(one, str(figure))
    return math.nan if found is None or not value > 0.0 else (found.high - found.low) / value


Mood: TypeAlias = Literal["good", "fair", "bad", "unknown"]
"""What an answer means for the use of a system; pages colour it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the figures of a system say to one question.

    Attributes
    ----------
    question : str
    verdict : str
        The answer in one to three words, as tables of many systems show it.
    mood : {"good", "fair", "bad", "unknown"}
    sentences : tuple of str
        The answer, with the figures that it rests on.
    """

    question: str
    verdict: str
    mood: Mood
    sentences: tuple[str, ...]


APART, CALIBRATED = "Does it tell the classes apart?", "Can its numbers be taken at their word?"

FAILS, ENOUGH, NEXT = "Where would it fail?", "Is there enough data?", "What next?"


_TOO_FEW = "too few trials to tell"

_SO_FAR = "as far as these trials tell"


_TELLS: tuple[tuple[float, str, Mood], ...] = (
    (0.9, "very well", "good"),
    (0.7, "well", "good"),
    (0.4, "in part", "fair"),
    (0.1, "hardly", "bad"),
    (-math.inf, "no", "bad"),
)
"""From which share of all information a system tells the classes apart, and how well."""


_FINE, _SLIGHT = 0.05, 0.2
"""Shares of Cllr up to which a calibration loss is none, and small."""


_FINE_OF_HELD, _SLIGHT_OF_HELD = 0.01, 0.03
"""The same as shares of what the scores hold, where Cllr is next to nothing."""


_CHANCE = 6.0
"""Twice the logarithm of a likelihood ratio that two parameters exceed by chance in one of twenty sets."""


_SURE, _CAUTIOUS = 0.8, 1.25
"""Scales below which scores are too sure, and above which they are too cautious."""


_ROUGH = 1.0
"""Width of an interval, as a share of its figure, from which the figure is called rough."""


def apart(grounds: Grounds) -> Answer:
    """How much of what there is to know the scores hold, however they are calibrated."""
    if grounds.is_reversed:
        words = "Scores favour the wrong class more often than the right one."
        return Answer(APART, "the wrong way round", "bad", (words, *grounds.errors))
    if math.isnan(grounds.min_cllr):
        words = "What the scores hold after the best recalibration is not known: the trials were summed up in parts."
        return Answer(APART, "not known exactly", "unknown", (words, *grounds.errors))
    held = grounds.reference - grounds.min_cllr
    share = held / grounds.reference
    verdict, mood = next((verdict, mood) for least, verdict, mood in _TELLS if share >= least)
    if grounds.are_too_few:
        verdict, mood = _TOO_FEW, "unknown"
    words = (
        f"Well calibrated, its scores would give {number(held, 2)} of the {_bits(grounds.reference)} that it takes to "
        f"tell {grounds.apart} when all are equally probable."
    )
    return Answer(APART, verdict, mood, (words, *grounds.errors))


def calibrated(grounds: Grounds) -> Answer:
    """Whether probabilities that follow from the scores are what they claim to be."""
    unusable = _unusable(grounds)
    if unusable:
        return Answer(CALIBRATED, "no", "bad", (unusable,))
    told = f"Cllr is {number(grounds.cllr)} bits"
    if grounds.cllr > grounds.reference and not _is_chance(grounds):
        words = f"{told}, above the {_bits(grounds.reference)} of scores that say nothing: believed, they mislead."
        return Answer(CALIBRATED, "no", "bad", (words, *_how(grounds)))
    if math.isnan(grounds.min_cllr):
        words = f"{told}; its minimum is not known."
        return Answer(CALIBRATED, "not known exactly", "unknown", (words,))
    lost = max(grounds.cllr - grounds.min_cllr, 0.0)
    verdict, mood, more = _judged(grounds, lost)
    return Answer(CALIBRATED, verdict, mood, (f"{told}, of which bad calibration takes {number(lost)}.", *more))


def _judged(grounds: Grounds, lost: float) -> tuple[str, Mood, tuple[str, ...]]:
    """What a calibration loss means."""
    cllr, held = grounds.cllr, grounds.reference - grounds.min_cllr
    if grounds.are_too_few and (grounds.scale is None or lost <= _SLIGHT * cllr):
        return _TOO_FEW, "unknown", ()
    if lost <= _FINE * cllr or lost <= _FINE_OF_HELD * held:
        return "yes", "good", ()
    if _is_chance(grounds):
        more = ("A scale and an offset would gain no more than chance does.",)
        return (_TOO_FEW, "unknown", more) if grounds.are_too_few else (_SO_FAR, "good", more)
    if lost <= _SLIGHT * cllr or lost <= _SLIGHT_OF_HELD * held:
        return "nearly", "fair", _how(grounds)
    return "no", "bad", _how(grounds)


def _unusable(grounds: Grounds) -> str:
    """Why nothing more is to be said of numbers as they are; empty if there is."""
    if not grounds.are_llrs:
        return "They are on another scale than log-likelihoods: calibrate before anything is decided by them."
    if grounds.has_wrong_certainty:
        return "At least one trial has infinite evidence for the wrong class: whoever relied on it would lose all."
    return ""


def _bits(value: float) -> str:
    return f"{value:.3g} bit{'' if value == 1.0 else 's'}"


def _is_chance(grounds: Grounds) -> bool:
    """Whether the best scale and offsets gain no more than they would of calibrated scores."""
    gained = grounds.cllr - grounds.mended  # NaN where no scale is known
    return 2.0 * grounds.n_classes * grounds.n_rarest * gained * math.log(2) < _CHANCE


def _how(grounds: Grounds) -> tuple[str, ...]:
    """In which way scores are off; of reversed ones nothing."""
    said = list[str]()
    if grounds.is_reversed:
        return ()
    if grounds.scale is not None and grounds.scale < _SURE:
        said.append(
            f"It is too sure: its evidence is {_times(1 / grounds.scale)} too strong (best scale {grounds.scale:.2g})."
        )
    elif grounds.scale is not None and grounds.scale > _CAUTIOUS:
        said.append(
            f"It is too cautious: its evidence is {_times(grounds.scale)} too weak (best scale {grounds.scale:.2g})."
        )
    if grounds.leaning:
        said.append(f"It leans towards {grounds.leaning}.")
    if not said:
        said.append("No scale and offset would mend that: see where in the plot of the normalized Bayes error rate.")
    return tuple(said)


def _times(factor: float) -> str:
    return f"{factor:.0f} times" if factor >= 99.5 else f"{factor:.2g} times"


def fails(grounds: Grounds) -> Answer:
    """Where decisions are worse than none, and where most goes wrong."""
    if not grounds.are_llrs:
        words = "Decisions by these scores say nothing of what they will do once they are calibrated."
        return Answer(FAILS, "not known", "unknown", (words, *grounds.weak_spots))
    if not grounds.helps:
        words = "At no prior are its decisions better than those by the prior alone."
        return Answer(FAILS, "at every prior", "bad", (*grounds.failures, words, *grounds.weak_spots))
    if grounds.failures:
        return Answer(FAILS, "at some priors", "bad", (*grounds.failures, *grounds.idle, *grounds.weak_spots))
    if grounds.are_too_few:
        return Answer(FAILS, _TOO_FEW, "unknown", (*grounds.idle, *grounds.weak_spots))
    if grounds.idle:
        return Answer(FAILS, "saves little at operating points", "fair", (*grounds.idle, *grounds.weak_spots))
    named = (f"Operating points: {grounds.points}.",) if grounds.points else ()
    return Answer(FAILS, "at none of the operating points", "good", (*named, *grounds.weak_spots))


def enough(grounds: Grounds) -> Answer:
    """Whether errors, and units that share trials, are enough to rely on the figures."""
    said, mood = list(grounds.scarce), "fair" if grounds.scarce else "good"
    if grounds.n_units is None:
        said.append("Which trials share a speaker, or another source, is not known, so that no figure has an interval.")
        if grounds.are_too_few:
            return Answer(ENOUGH, "no", "bad", tuple(said))
        return Answer(ENOUGH, "not known", "unknown" if not grounds.scarce else "fair", tuple(said))
    units = counted(grounds.n_units, grounds.noun)
    if grounds.n_units < FEW_UNITS:
        said.append(f"Figures rest on {units}, fewer than {FEW_UNITS}: their intervals are rough.")
        return Answer(ENOUGH, "no", "bad", tuple(said))
    if grounds.width > _ROUGH:
        said.append(f"Figures rest on {units}, and the interval of the {grounds.main_figure} is as wide as the figure.")
        mood = "fair"
    else:
        said.append(f"Figures rest on {units}.")
    return Answer(
        ENOUGH, "yes" if mood == "good" else "not for all figures", "good" if mood == "good" else "fair", tuple(said)
    )


def next_steps(grounds: Grounds, answers: Sequence[Answer]) -> Answer:
    """What should be done, given the answers to the other questions."""
    moods = {answer.question: answer.mood for answer in answers}
    if grounds.is_reversed:
        words = "Check the sign of the scores, which label means target, and the order of classes and columns."
        return Answer(NEXT, "check the input", "bad", (words,))
    steps, verdicts = list[str](), list[str]()
    if moods[CALIBRATED] in ("bad", "fair"):
        verdicts.append("calibrate")
        steps.append("Calibrate on other trials of the same kind (deciban calibrate), and evaluate again.")
    if moods[APART] in ("bad", "fair"):
        verdicts.append("improve the recognizer")
        steps.append(
            "What it does not tell apart no calibration brings back: improve the recognizer, or fuse it with others."
        )
    if grounds.n_units is None:
        verdicts.append("name the units")
        steps.append(
            "Say which trials share a speaker or another source (--units), so that figures come with intervals."
        )
    if grounds.are_too_few or (grounds.n_units is not None and moods[ENOUGH] in ("bad", "fair")):
        verdicts.append("collect more")
        steps.append("Collect more speakers and trials (deciban plan shows how many), or quote the metrics as rough.")
    if not steps:
        return Answer(NEXT, "use it", "good", ("Nothing in these figures speaks against using it at these priors.",))
    return Answer(NEXT, ", ".join(verdicts), "fair", tuple(steps))


_SEPARATES = {
    "very well": "separates {} very well",
    "well": "separates {} well",
    "in part": "separates {} moderately well",
    "hardly": "hardly separates {}",
    "no": "does not separate {}",
    _TOO_FEW: "has too few trials for a verdict",
}
"""Words for the verdicts of `apart` in a sentence."""


def verdict(one: Any) -> str:
    """Return a sentence on a system: how well it separates the classes, how well it is calibrated, and what to do.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import evaluate
    >>> rng = np.random.default_rng(1)
    >>> verdict(evaluate(9 * rng.normal(2, 1.2, 2000), 9 * rng.normal(-2, 1.2, 2000), name="A"))
    'A: separates targets from non-targets well (EER 4.4 %), but its llrs are 3.3 times too extreme: calibrate.'
    """
    grounds = grounds_of(one, with_scale=False)
    rate = one.error_rate if one.kind == "classes" else one.eer
    separation = apart(grounds)
    if separation.mood == "bad" and grounds.is_reversed:
        return f"{one.name}: scores favour the wrong class: check their sign (--lower-is-better) and the labels."
    words = _SEPARATES.get(separation.verdict, "separates {} to an unknown degree").format(grounds.apart)
    in_percent = f"{100 * rate:.0f}" if rate >= 0.0995 else f"{100 * rate:.2g}"
    more = "" if grounds.are_too_few else f", {_calibration_in_words(one, grounds)}"
    return f"{one.name}: {words} ({grounds.main_figure} {in_percent} %){more}."


def _calibration_in_words(one: Any, grounds: Grounds) -> str:
    scores = "log-likelihoods" if one.kind == "classes" else "llrs"
    if not grounds.are_llrs:
        return f"but its scores are not {scores}: calibrate"
    if grounds.has_wrong_certainty:
        return "but at least one trial has infinite evidence for the wrong class"
    if max(one.cllr - one.min_cllr, 0.0) > _FINE * one.cllr:
        grounds = grounds_of(one)
    mood = calibrated(grounds).mood
    if mood in ("good", "unknown"):
        return "and is well calibrated" if mood == "good" else "and its calibration is not known"
    return f"{'but' if mood == 'bad' else 'and is nearly calibrated, but'} {_fault(grounds, scores)}: calibrate"


def _fault(grounds: Grounds, scores: str) -> str:
    """Return the most important fault of calibration."""
    scale = grounds.scale
    if scale is not None and scale < _SURE:
        return f"its {scores} are {_times(1 / scale)} too extreme"
    if scale is not None and scale > _CAUTIOUS:
        return f"its {scores} are {_times(scale)} too weak"
    if grounds.leaning:
        return f"its {scores} favour {grounds.leaning.replace(', by', ' by')}"
    return f"bad calibration costs {number(grounds.cllr - grounds.min_cllr)} bits"


QUESTIONS = (apart, calibrated, fails, enough)
"""All but the last, which follows from their answers."""


def in_words(one: Any) -> tuple[Answer, ...]:
    """Answer five questions about one system from its figures.

    Does it tell the classes apart, can its numbers be taken at their word, where would it fail, are there enough trials
    and speakers, and what should be done next?

    Parameters
    ----------
    one : Evaluation or ClassEvaluation

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
    ('Can its numbers be taken at their word?', 'no')
    """
    grounds = grounds_of(one)
    answers = [ask(grounds) for ask in QUESTIONS]
    return (*answers, next_steps(grounds, answers))


__all__ = ["Answer", "in_words", "verdict"]
