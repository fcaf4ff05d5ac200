"""Sentences on intervals of two classes that are refused, or may be too narrow: where simulations show it.

What the simulations show is in ``docs/coverage.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.intervals import ROUNDING
from deciban.messages import counted

FEWEST_EXPECTED = 10.0
"""Independent errors that a limit must allow: with fewer, the threshold that it sets is chance."""

FEW_ERRORS = 30.0
"""The rule of 30: with fewer independent errors at a limit, the interval of the other rate is rough."""

_FEW_ERRORS, _LOW_EER = 5, 0.03
_UNEQUAL = 0.4
"""Effective units of a class, as a share of all that have trials of it."""


@dataclass(frozen=True, slots=True)
class LimitedRate:
    """An error rate where that of the other class is limited.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
    limit : float
    expected : float
        How many of the independent trials of the limited class may be errors.
    """

    limited: str
    limit: float
    expected: float

    @property
    def is_enough(self) -> bool:
        """Whether the trials show where the limit lies."""
        return self.expected >= FEWEST_EXPECTED

    @property
    def is_rough(self) -> bool:
        """Whether there are so few errors that intervals are too short in simulations, or refused."""
        return self.expected < FEW_ERRORS

    def __str__(self) -> str:
        """Write why there is no interval, or a rough one, and what to do.

        Examples
        --------
        >>> str(LimitedRate("fmr", 0.001, 2.6))[:70]
        'No confidence interval for FNMR at FMR 0.001: the limit allows 2.6 ind'
        """
        other, errors = ("FNMR", "false matches") if self.limited == "fmr" else ("FMR", "false non-matches")
        rate = f"{other} at {self.limited.upper()} {self.limit:g}"
        allowed = f"the limit allows {self.expected:.1f} independent {errors}"
        if self.is_enough:
            return f"The interval of {rate} may be too narrow: {allowed}, fewer than {FEW_ERRORS:g}."
        return (
            f"No confidence interval for {rate}: {allowed}, and at least {FEWEST_EXPECTED:g} are needed to find its "
            f"threshold. Limit the {self.limited.upper()} to more, or ask for rates at a fixed threshold."
        )


def is_separated(auc: float) -> bool:
    """Return whether no target scores below a non-target, so that costs say nothing of errors."""
    return auc >= 1.0 - ROUNDING


def notes_on_intervals(
    auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign, noun: str, limited: Sequence[LimitedRate]
) -> tuple[str, ...]:
    """Return the notes.

    Parameters
    ----------
    auc, eer : float
    rates : (float, float)
        Misses and false alarms at the threshold of the EER.
    design : ClusterDesign
    noun : str
        What a unit is called.
    limited : sequence of LimitedRate
    """
    found = [str(one) for one in limited if one.is_rough]
    if not design.too_few():
        found += _few_errors(auc, eer, rates, design)
        found += _unequal(design, noun)
    return tuple(found)


def _few_errors(auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign) -> Iterator[str]:
    if is_separated(auc):
        yield (
            "Targets and non-targets are perfectly separated: no confidence intervals for means of costs (Cllr, "
            "information, log loss, Brier score, calibration loss), as no error was seen that could show how costly "
            "one would be."
        )
        return
    numbers = [round(float(rate * size.n_trials)) for rate, size in zip(rates, design.sizes, strict=True)]
    named = zip(numbers, (("miss", "misses"), ("false alarm", "false alarms")), strict=True)
    few = [f"{n} {one if n == 1 else many}" for n, (one, many) in named if n < _FEW_ERRORS]
    if few and eer < _LOW_EER:
        yield (
            f"Only {' and '.join(few)} at the threshold of the EER: intervals of Cllr, information, log loss, Brier "
            "score and AUC may be too narrow, as rare costly errors were hardly seen."
        )


def _unequal(design: ClusterDesign, noun: str) -> Iterator[str]:
    said = [
        f"the {name} of {counted(one.n_units, noun)} count as those of {one.n_clusters:.1f} {noun}s of equal size"
        for name, one in zip(("targets", "non-targets"), design.sizes, strict=True)
        if one.n_clusters < _UNEQUAL * one.n_units
    ]
    if said:
        words = ", and ".join(said)
        yield f"Numbers of trials are very unequal: {words}. Intervals may be too narrow."
