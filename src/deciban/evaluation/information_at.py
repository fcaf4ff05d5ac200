"""How much scores tell at a prior: information in bits, of how many there are (thesis 2.43 to 2.47)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from deciban.core.resampling.intervals import ROUNDING
from deciban.core.rules.expected import cross_entropy_curve
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.summary import Summary
    from deciban.metrics.scores import ScoredTrials
    from deciban.rules import Capacity


@dataclass(frozen=True, slots=True)
class InformationAt:
    """How much scores tell at one prior, in bits.

    Attributes
    ----------
    prior : tuple of float
        Probabilities of the classes; of two classes target, then non-target.
    entropy : float
        Of the prior: what there is to tell.
    delivered : float
        What the scores tell, the entropy less the cross-entropy; below 0 where the prior alone is better, ``-inf``
        where a trial has infinite evidence for a wrong class.
    available : float or None
        What they would tell after the best recalibration on the same trials; None where that is not known.
    """

    prior: tuple[float, ...]
    entropy: float
    delivered: float
    available: float | None

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        names = ("prior", "entropy", "delivered", "available")
        return {name: getattr(self, name) for name in names}


EVEN = 0.0
"""Log odds of the prior at which Cllr is a cross-entropy."""


def priors_told(thresholds: Sequence[float]) -> list[float]:
    """Prior log odds at which information is shown: even odds, and the first operating point.

    Examples
    --------
    >>> priors_told([4.5, 2.0]), priors_told([0.0])
    ([0.0, -4.5], [0.0])
    """
    return list(dict.fromkeys([EVEN, *(-threshold + 0.0 for threshold in thresholds[:1])]))


def information_of(summary: Summary, thresholds: Sequence[float], trials: ScoredTrials) -> tuple[InformationAt, ...]:
    """How much the scores of two classes tell: at even odds, and at the effective prior of the first operating point.

    Parameters
    ----------
    summary : Summary
    thresholds : sequence of float
        Bayes thresholds of the operating points, in nats.
    trials : ScoredTrials
        The trials, many of them in narrow cells, which moves a cross-entropy by less than 2e-5 bits.
    """
    log_odds, nothing = np.array(priors_told(thresholds)), (np.zeros(1), None)
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
    available = np.maximum(entropy - least, 0.0)  # what rounding leaves below
    delivered = entropy - actual
    delivered[np.abs(delivered) <= ROUNDING * entropy] = 0.0
    delivered[1:] = np.minimum(delivered, available)[1:]  # the same, of cells
    return tuple(
        InformationAt((float(expit(at)), float(expit(-at))), *numbers)
        for at, *numbers in zip(
            log_odds.tolist(), entropy.tolist(), delivered.tolist(), available.tolist(), strict=True
        )
    )


UNCERTAIN = (("available", 0), ("information", 1), ("available", 1))
"""Figures that `known_information` leaves out."""


def known_information(found: Sequence[InformationAt]) -> tuple[InformationAt, ...]:
    """What of it is certain where the order of some trials is not known: at even odds, without recalibration."""
    return tuple(InformationAt(one.prior, one.entropy, one.delivered, None) for one in found[:1])


class WithCapacity:
    """Mixin of evaluations of two classes, whose curves hold the blocks of PAV."""

    __slots__ = ()
    curves: Any

    @property
    def capacity(self) -> Capacity:
        """The most that the scores tell at any prior, after the best recalibration; see `deciban.rules.capacity`."""
        from deciban.rules.delivered import capacity_of  # which searches: only for who asks

        tar, n_tar, non, n_non = self.curves.pav.as_trials()
        return capacity_of((tar, n_tar), (non, n_non))


def information_dicts(found: Sequence[InformationAt], most: Capacity | None) -> dict[str, Any]:
    """Information and capacity as JSON has them."""
    capacity = None if most is None else capacity_dict(most)
    return {"information_at": [one.to_dict() for one in found], "capacity": capacity}


def capacity_dict(most: Capacity) -> dict[str, Any]:
    """A capacity as JSON has it."""
    return {"bits": most.bits, "prior": most.prior}


def sentence(one: OneSystem) -> str:
    """How much the scores of a system tell, in a sentence, with intervals where units are known.

    Examples
    --------
    >>> from deciban import evaluate
    >>> sentence(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="A"))
    'A tells 0.306 of 1 bit at prior 0.5 (0.667 if calibrated); at prior 0.01, 0.0183 of 0.0808 (0.0539 if calibrated)'
    """
    from deciban.evaluation.uncertainty import with_interval

    parts = list[str]()
    for k, at in enumerate(one.information_at):
        told = with_interval(_three_digits(at.delivered), one, ("information", k))
        unit = " bit" if at.entropy == 1.0 else " bits"
        words = f"{told} of {at.entropy:.3g}"
        words = f"at {_at(at)}, {words}" if k else f"tells {words}{unit} at {_at(at)}"
        if at.available is not None:
            words += f" ({with_interval(_three_digits(at.available), one, ('available', k))} if calibrated)"
        parts.append(words)
    most = one.capacity if one.kind == "classes" else None  # type: ignore[attr-defined]  # of two classes JSON has it
    if most is not None:
        parts.append(f"at the best prior {_three_digits(most.bits)} bits if calibrated ({_listed(one, most.prior)})")
    return f"{one.name} {'; '.join(parts)}"


_SHOWN = 5
"""Classes of greatest prior that are named."""


def _listed(one: Any, prior: FloatArray) -> str:
    """The classes of greatest prior."""
    order = np.argsort(-prior, kind="stable")
    words = [f"{one.classes[k]} {prior[k]:.2g}" for k in order[:_SHOWN].tolist()]
    return ", ".join(words) + (f", {len(order) - _SHOWN} more" if len(order) > _SHOWN else "")


def _at(one: InformationAt) -> str:
    """Name the prior; of two classes that of a target."""
    if len(one.prior) == 2:
        return f"prior {one.prior[0]:.4g}"
    return "the flat prior" if len(set(one.prior)) == 1 else "the given prior"


def _three_digits(value: float) -> str:
    return f"{value:z#.3g}".rstrip(".")


def constant_costs(entropy: float, log_odds: float, n_cells: int) -> FloatArray:
    """Costs (2, n_cells) of targets and non-targets whose means add up to an entropy, whatever the scores."""
    shares = np.array([[expit(log_odds)], [expit(-log_odds)]])
    return np.repeat(shares * entropy, n_cells, axis=1)
