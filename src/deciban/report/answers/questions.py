"""The rules: from grounds to answers. Limits are conventions of this page, said with the figures that they judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from deciban.core.resampling.units import FEW_UNITS
from deciban.messages import counted
from deciban.report.answers.grounds import Grounds
from deciban.report.text import number

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
        words = "What the scores hold after the best recalibration is not known after one pass."
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
        words = f"{told}; its minimum is known within bounds alone."
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
    return f"{factor:.2g} times"


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


QUESTIONS = (apart, calibrated, fails, enough)

"""All but the last, which follows from their answers."""
