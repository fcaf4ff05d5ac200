"""Which conditions differ beyond doubt: differences of figures by the units that conditions share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.analysis.compared_figures import figures_of, in_words, shown, with_unit, written
from deciban.analysis.paired import PairedUnits, fewest_degrees, holm, interval_of_difference
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.rates import FEWEST_CLUSTERS
from deciban.evaluation.conditions import ByConditions, ConditionDifference
from deciban.evaluation.uncertainty import Figure, Uncertainty, bounds_in_words
from deciban.messages import shortened

MOST_PAIRED = 10
"""Conditions of which all pairs are compared; of more, each with the mean of the others alone."""

_PAIRS_IN_WORDS = 3
"""Conditions of which pairs are told; of more, each against the mean of the others."""

_OF_CLASSES = ("cllr", "error_rate")
_OF_TWO = ("eer", "cllr", "mean_act_dcf", "mean_min_dcf")
"""Figures of which differences are made, besides costs at the first operating point."""


def differences_between(evaluated: Sequence[Any], level: float) -> tuple[tuple[ConditionDifference, ...], str]:
    """Differences between conditions, and of each from the mean of the others.

    Parameters
    ----------
    evaluated : sequence of Evaluation or ClassEvaluation
        Of conditions, by whose names they are called.
    level : float
        Of the intervals, each for itself.

    Returns
    -------
    differences : tuple of ConditionDifference
        P-values are corrected by Holm's method, for all pairs of a figure and for all comparisons with the others.
    why_none : str
        Why there are none; empty where there are some.

    Notes
    -----
    A unit with trials in two conditions acts on both figures, so that its influences subtract before they are squared,
    as those of two systems do (see `deciban.compare`). Limits are those of comparisons of systems.
    """
    if len(evaluated) < 2:
        return (), "fewer than two conditions have figures"
    sure = _sure(evaluated)
    if len(sure) < 2:
        return (), "units are not known, or too few in each condition"
    figures = _figures(sure)
    if not figures:
        return (), "no metric has a confidence interval in all conditions"
    kept = [name for name in figures if all(name in one.uncertainty.influences for one in sure)]
    if not kept:
        return (), "influences of so many units are not kept; name units of which there are fewer, such as speakers"
    found = list[ConditionDifference]()
    pairs = list(itertools.combinations(sure, 2)) if len(sure) <= MOST_PAIRED else []
    paired = [PairedUnits.of(one.uncertainty, other.uncertainty) for one, other in pairs]
    together = _Together.of([one.uncertainty for one in sure]) if len(sure) > 2 else None
    for figure in kept:
        of_pairs = [
            ConditionDifference(
                one.name,
                other.name,
                figure,
                _values(figure, one, other),
                p.difference(figure, level, same_trials=False),
                1.0,
            )
            for (one, other), p in zip(pairs, paired, strict=True)
        ]
        of_others = [] if together is None else together.against_others(sure, figure, level)
        found += [*_corrected(of_pairs), *_corrected(of_others)]
    return tuple(found), "" if found else "in each figure, some condition shows no error"


def _sure(evaluated: Sequence[Any]) -> list[Any]:
    """Return the conditions whose metrics have intervals."""
    return [one for one in evaluated if one.uncertainty is not None and not one.uncertainty.too_few]


def _corrected(rows: Sequence[ConditionDifference]) -> list[ConditionDifference]:
    """With p-values for all of them at once."""
    adjusted = holm(np.array([one.interval.p_value for one in rows], np.float64)).tolist()
    return [replace(one, holm=share) for one, share in zip(rows, adjusted, strict=True)]


def _figures(sure: Sequence[Any]) -> list[Figure]:
    """Figures that all conditions have, of those that a reader asks for first."""
    wanted = _OF_CLASSES if sure[0].kind == "classes" else _OF_TWO
    at_first = [("c_avg", 0)] if sure[0].kind == "classes" else [("min_dcf", 0), ("act_dcf", 0)]
    return [one for one in figures_of(tuple(sure)) if one in wanted or one in at_first]


def _values(figure: Figure, *systems: Any) -> tuple[float, float]:
    one, other = (system.uncertainty.estimates[figure].value for system in systems)
    return one, other


class _Together:
    """The units of all conditions: influences of a condition and of the mean of all others subtract.

    Parameters
    ----------
    parts : sequence of Uncertainty
    places : sequence of int arrays
        Where the units of each stand among all.
    n_units : int
        All of them.
    """

    def __init__(self, parts: Sequence[Uncertainty], places: Sequence[Any], n_units: int) -> None:
        self.parts, self.places, self.n_units = parts, places, n_units

    @classmethod
    def of(cls, parts: Sequence[Uncertainty]) -> _Together:
        """Find the units that conditions share."""
        keys, places = np.unique(np.concatenate([one.keys for one in parts]), return_inverse=True)
        ends = np.cumsum([len(one.keys) for one in parts])
        return cls(parts, np.split(places, ends[:-1]), len(keys))

    def against_others(self, named: Sequence[Any], figure: Figure, level: float) -> list[ConditionDifference]:
        """Each condition minus the mean of the others."""
        influences = np.zeros((len(self.parts), self.n_units))
        for row, one, at in zip(influences, self.parts, self.places, strict=True):
            row[at] = one.influences[figure]
        estimates = [one.estimates[figure] for one in self.parts]
        n_units, n_others = min(one.n_units for one in self.parts), len(self.parts) - 1
        total, found = influences.sum(axis=0), []
        for k, one in enumerate(named):
            others, rest = [*estimates[:k], *estimates[k + 1 :]], (total - influences[k]) / n_others
            of_unit = influences[k] - rest
            error, error_of_rest = (math.sqrt(float(x @ x) * n_units / (n_units - 1)) for x in (of_unit, rest))
            mean = _MeanOf(others, error_of_rest)
            mine = estimates[k].value
            plain = Estimate(mine - mean.value, error, n_units, "identity", degrees=fewest_degrees(estimates))
            interval = interval_of_difference(estimates[k], mean, plain, level)
            found.append(ConditionDifference(one.name, None, figure, (mine, mean.value), interval, 1.0))
        return found


class _MeanOf:
    """The mean of a metric over several conditions.

    Parameters
    ----------
    estimates : sequence of Estimate
    standard_error : float
        Of the mean.
    """

    def __init__(self, estimates: Sequence[Estimate], standard_error: float) -> None:
        self.estimates, self.standard_error = estimates, standard_error
        self.value = math.fsum(one.value for one in estimates) / len(estimates)

    def distances(self, level: float) -> tuple[float, float]:
        """Return how far the mean may fall and rise."""
        return self._shrunk([one.distances(level) for one in self.estimates])

    def _shrunk(self, each: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Add squares of distances, with the correlation that the standard error of the mean has."""
        spread = math.hypot(*(one.standard_error for one in self.estimates))
        factor = self.standard_error * len(each) / spread if spread > 0.0 and self.standard_error > 0.0 else 1.0
        below, above = (math.hypot(*(one[way] for one in each)) / len(each) for way in (0, 1))
        return factor * below, factor * above


def beyond_doubt(part: ByConditions, level: float) -> list[str]:
    """Which conditions differ beyond doubt, in words: corrected p-values below ``1 - level``.

    Pairs where there are at most three conditions; of more, each against the mean of the others.

    Parameters
    ----------
    part : ByConditions
    level : float

    Returns
    -------
    list of str
        A sentence for each pair that differs in some figure; one that says so where none does.
    """
    if not part.differences:
        return [f"no differences: {part.no_differences}"] if part.no_differences else []
    in_pairs = len(_sure(part.evaluated)) <= _PAIRS_IN_WORDS
    told = dict[tuple[str, str | None, bool], list[str]]()
    asked = [one for one in part.differences if (one.second is not None) == in_pairs]
    known = {one.name: one for one in part.evaluated}
    for one in asked:
        how, value = shown(one.figure), one.interval.estimate
        if one.holm >= 1.0 - level or value == 0.0:
            continue
        worse = (value > 0) != how.larger_is_better
        low, high = bounds_in_words(one.interval, in_percent=how.in_percent)
        amount = with_unit(written(value, how, sign=True), how)
        words = f"{in_words(one.figure, known[one.first])} {amount} [{low}, {high}]"
        told.setdefault((one.first, one.second, worse), []).append(words)
    if not told:
        words = "no two conditions differ" if in_pairs else "no condition differs from the mean of the others"
        return [f"{words} beyond doubt ({_rule(level)})", *_left_out(part)]
    return [
        f"{first} is {'worse' if worse else 'better'} than {second or 'the mean of the others'}: {', '.join(words)}"
        for (first, second, worse), words in told.items()
    ] + [f"beyond doubt: {_rule(level)}; intervals of single differences", *_left_out(part)]


def _left_out(part: ByConditions) -> list[str]:
    """Conditions that are not compared, and figures: what has no interval has no differences."""
    alone = [one.name for one in part.evaluated if one.uncertainty is None]
    few = [one.name for one in part.evaluated if one.uncertainty is not None and one.uncertainty.too_few]
    endless = [one.name for one in part.evaluated if not math.isfinite(one.cllr)]
    found = [f"not compared, as all trials are of one unit: {shortened('; '.join(alone))}"] if alone else []
    if few:
        found.append(
            f"not compared, as a class has fewer than {FEWEST_CLUSTERS:g} effective units: {shortened('; '.join(few))}"
        )
    if endless:
        found.append(f"no differences of Cllr, which is infinite in {shortened('; '.join(endless))}")
    return found


def _rule(level: float) -> str:
    return f"p below {1.0 - level:.3g} by Holm's correction for all that are asked of a figure"
