"""Trials of many classes with their units, class by class: what is needed of each to say how sure figures are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.core.classes.counts import chosen, ordered_by_class
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.unit_counts import joined_units, merged_units
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.multiclass.costs import calibrated_surprises, trial_quadratic_costs, trial_surprises
from deciban.multiclass.recalibration import ClassCalibration
from deciban.multiclass.tables import ByClass, ScoredClasses
from deciban.types import FloatArray, IntArray, Units


@dataclass(frozen=True, slots=True, eq=False)
class ClassUnitTrials:
    """Trials that count, class by class.

    Attributes
    ----------
    costs : ByClass
        Rows are the logarithmic cost at the flat prior and at the prior, in nats, the quadratic cost, and the position
        of the class that was decided for.
    stratum : (n_trials,) int array
        Position of what has a mean of its own: the class, or of a group of classes each of these.
    units : TrialUnits
    least : (n_trials,) array or None
        Logarithmic cost after the best scale and offsets, at the flat prior; None where only parts of the trials were
        at hand.
    """

    costs: ByClass
    stratum: IntArray
    units: TrialUnits
    least: FloatArray | None = None

    @classmethod
    def of(
        cls,
        trials: ScoredClasses,
        prior: FloatArray,
        units: TrialUnits,
        *,
        stratum: IntArray | None = None,
        calibration: ClassCalibration | None = None,
    ) -> ClassUnitTrials:
        """From checked trials with their units; a part may lack classes.

        Parameters
        ----------
        trials : ScoredClasses
        prior : (n_classes,) array
            Positive.
        units : TrialUnits
            In the order of the trials.
        stratum : (n_trials,) int array, optional
            Ascending within each class; the class when left out.
        calibration : ClassCalibration, optional
            At the flat prior.
        """
        n_classes = trials.n_classes
        rows = [trials.rows(k) for k in range(n_classes)]
        order, flat = np.concatenate(rows), np.full(n_classes, 1.0 / n_classes)
        surprise = trial_surprises(trials, flat)
        costs: FloatArray = np.stack(
            (
                surprise,
                surprise if np.array_equal(prior, flat) else trial_surprises(trials, prior),
                trial_quadratic_costs(trials, prior),
                chosen(trials.loglik, prior)[order].astype(np.float64),
            )
        )
        least = None if calibration is None else calibrated_surprises(trials, calibration.scale, calibration.offset)
        by_class = ByClass(costs, np.array([len(one) for one in rows]), trials.weights_of(order))
        own = by_class.label if stratum is None else stratum[order]
        return cls(by_class, own, units.take(order), least)

    @classmethod
    def merged(cls, parts: Sequence[ClassUnitTrials | None]) -> ClassUnitTrials | None:
        """All trials of all parts; a unit may have trials in several.

        Raises
        ------
        InputError
            If units are known of some parts only.
        """
        known = [part for part in parts if part is not None]
        if not known:
            return None
        if len(known) < len(parts):
            raise InputError(
                "summaries: units are known of some, not of others. Name the units of all parts, or of none."
            )
        order = ordered_by_class(np.concatenate([part.costs.label for part in known]), len(known[0].costs.lengths))
        units = joined_units(merged_units([part.units for part in known]))
        stratum = np.concatenate([part.stratum for part in known])[order]
        return cls(ByClass.merged([part.costs for part in known]), stratum, units.take(order))

    def means(self) -> ClassMeans:
        """What the influences of units are made of."""
        return ClassMeans.of(self.costs.label, self.stratum, self.costs.weights, self.units)


def units_of_trials(units: Units, n_trials: int) -> TrialUnits | None:
    """Units as they were given, for so many trials; None if there are none.

    Raises
    ------
    InputError
        If they are not as many as trials, or no units.
    """
    if units is None:
        return None
    found = units if isinstance(units, TrialUnits) else TrialUnits.of(units)
    if found.n_trials != n_trials:
        raise InputError(
            f"units: of {found.n_trials} trials for {n_trials} rows of loglik. Give one row for each trial."
        )
    return found
