"""The figures that answers in words rest on: the same of two classes and of many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import WORSE_THAN_NONE
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.two_class import prior_name
from deciban.evaluation.uncertainty import Figure, shown_interval
from deciban.messages import topic_of
from deciban.report.text import count, number, percent, sure

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


def grounds_of(one: Any) -> Grounds:
    """Collect what is known of one system of either kind.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    """
    own = _of_classes(one) if one.kind == "classes" else _of_two(one)
    known = one.uncertainty
    return Grounds(
        **own,
        cllr=one.cllr,
        min_cllr=one.min_cllr,
        are_llrs=_are_llrs(one),
        has_wrong_certainty=math.isinf(one.cllr),
        n_units=None if known is None else known.n_units,
        noun="speaker" if known is None else known.noun,
    )


def _are_llrs(one: Any) -> bool:
    return not any(topic_of(note) in ("no-llrs", "ratios") for note in one.notes)


def _of_two(one: Evaluation) -> dict[str, Any]:
    eer = sure(percent(one.eer), one, "eer")
    affine = one.affine
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
    return {
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
        "failures": _worse_than_none(one),
        "weak_spots": _misleading(one) if _are_llrs(one) else (),
        "idle": _saving_little(one),
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


def _worse_than_none(one: Evaluation) -> tuple[str, ...]:
    points = [
        f"At {point} its decisions cost {sure(number(point.act_dcf), one, ('act_dcf', k))} times those without scores."
        for k, point in enumerate(one.operating_points)
        if point.act_dcf > WORSE_THAN_NONE
    ]
    return tuple(points or [note for note in one.notes if topic_of(note) == "calibration"])


def _saving_little(one: Evaluation) -> tuple[str, ...]:
    return tuple(
        f"At {point} its decisions save little: they cost {sure(number(point.act_dcf), one, ('act_dcf', k))} of "
        "what those without scores do."
        for k, point in enumerate(one.operating_points)
        if _IDLE <= point.act_dcf <= 1.0
    )


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
        "failures": tuple(
            f"Detection at prior {point.p_target:g} costs {sure(number(point.normalized), one, ('normalized', k))} "
            "times as much as without scores."
            for k, point in enumerate(one.points)
            if point.normalized > WORSE_THAN_NONE
        ),
        "weak_spots": _confused(one),
        "idle": tuple(
            f"Detection at prior {point.p_target:g} saves little: it costs "
            f"{sure(number(point.normalized), one, ('normalized', k))} of what it does without scores."
            for k, point in enumerate(one.points)
            if _IDLE <= point.normalized <= 1.0
        ),
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
