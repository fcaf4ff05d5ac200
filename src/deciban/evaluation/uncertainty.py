"""How sure the figures of an evaluation are: their derivatives in the weights of units, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from deciban.core.resampling.intervals import LEVEL, Estimate, Interval, NothingSeen, checked_level
from deciban.core.resampling.rates import FEWEST_CLUSTERS, ClassSize, RateSum
from deciban.core.resampling.units import FEW_UNITS, INDEPENDENT, Keys
from deciban.core.resampling.variances import ClassSizes
from deciban.errors import InputError
from deciban.messages import counted
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.bootstrap import Bootstrap

Known = TypeVar("Known")

Figure: TypeAlias = str | tuple[str, int | str] | tuple[str, int | str, str]
"""Name of a figure; of several of a name with the position of its operating point or the name of its class."""


KEPT_CURVES = 1 << 21
"""Influences on curves that are kept without being asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class CurveInfluences:
    """A curve over prior log odds, with what every unit does to it: what differences of curves are made of.

    Attributes
    ----------
    log_odds : (n_places,) array
        In nats.
    values : (n_places,) array
    influences : (n_places, n_units) array
        Derivatives in the weight of each unit.
    unseen : (2, n_places, 2) array
        How far the curve would rise, and how far it would fall, if all units showed an error of a class that none
        shows, or none showed what all show.
    n_seen : (int, int)
        Units with trials of each class.
    ceiling : float
        What the curve cannot exceed.
    """

    log_odds: FloatArray
    values: FloatArray
    influences: FloatArray
    unseen: FloatArray
    n_seen: tuple[int, int]
    ceiling: float = math.inf

    def reach(self, level: float) -> tuple[FloatArray, FloatArray]:
        """How far the curve may rise and fall by what no unit shows: the rule of three, see `NothingSeen`."""
        shares = [NothingSeen(n).share(level) for n in self.n_seen]
        rise, fall = self.unseen @ np.array(shares)
        return np.minimum(rise, np.maximum(self.ceiling - self.values, 0.0)), fall


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """How sure the figures of one system are, by units.

    Attributes
    ----------
    n_units : int
    noun : str
        What a unit is called.
    source : str
        How units were found.
    keys : (n_units,) uint64 array
        Of the units, in the order of influences.
    estimates : mapping of figure to Estimate
    influences : mapping of figure to (n_units,) array
        Derivatives in the weight of each unit; empty where units are too many to be kept.
    curves : mapping of str to array
        Standard errors of curves at the places of `deciban.evaluation.Curves`, on the scale that is said there; of many
        classes ``"c_avg"``.
    level : float
        Of the intervals that are shown.
    bootstrap : Bootstrap or None
        Replicates, where they were asked for: intervals that are shown are theirs.
    curve_influences : mapping of str to CurveInfluences
        Of curves that comparisons show; empty where units are too many to be kept.
    sizes : ClassSizes or None
        Of targets and non-targets; None of many classes.
    error_rates : mapping of str, or of ("detectors", class, str), to ((n_places,) array, RateSum)
        Of the curves ``"act_error"`` and ``"min_error"`` over prior log odds, and of vertices of the hull by number:
        places, and the error rates there with their variances. Of many classes those of ``"c_avg"``, and both curves
        of each class against the rest.
    too_few : mapping of str to float
        Effective units of classes that have fewer than five: what needs these has no interval.
    remarks : tuple of str
        Sentences on intervals that are refused for another reason, or may be too narrow.
    """

    n_units: int
    noun: str
    source: str
    keys: Keys
    estimates: Mapping[Figure, Estimate]
    influences: Mapping[Figure, FloatArray] = field(default_factory=dict)
    curves: Mapping[Figure, FloatArray] = field(default_factory=dict)
    level: float = LEVEL
    bootstrap: Bootstrap | None = None
    curve_influences: Mapping[str, CurveInfluences] = field(default_factory=dict)
    sizes: ClassSizes | None = None
    error_rates: Mapping[Figure, tuple[FloatArray, RateSum]] = field(default_factory=dict)
    too_few: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def interval(self, figure: Figure, *, level: float | None = None) -> Interval:
        """Return the interval of a figure: by the bootstrap where there is one with the figure, or linearised.

        Parameters
        ----------
        figure : str, or (str, place)
            Such as ``"eer"``, ``"act_dcf"`` (at the first operating point), ``("act_dcf", 1)`` (at the second one).
        level : float, optional
            That of this object when left out.

        Raises
        ------
        InputError
            If there is no such figure, or it is infinite, or the level is not inside (0, 1).
        """
        if self.bootstrap is None or not self.bootstrap.has(figure):
            return self.linearised(figure, level=level)
        return self.bootstrap.interval(figure, level=self.level if level is None else level)

    def linearised(self, figure: Figure, *, level: float | None = None) -> Interval:
        """Return the linearised interval of a figure, also where there is a bootstrap; see `interval`.

        Raises
        ------
        InputError
            As `interval`.
        """
        found = looked_up(self.estimates, figure)
        return found.interval(self.level if level is None else checked_level(level))

    def size_of(self, rate: str) -> ClassSize | None:
        """Return the size of the class of an error rate, ``"p_miss"`` or ``"p_fa"``; None if it has no intervals."""
        found = None if self.sizes is None else self.sizes.both[rate == "p_fa"]
        return found if found is not None and found.is_enough else None

    @property
    def degrees(self) -> float:
        """Degrees of freedom of curves: the effective number of clusters minus 1."""
        return self.n_units - 1.0 if self.sizes is None else self.sizes.degrees(1.0, 1.0)

    @property
    def units_in_words(self) -> str:
        """How many units there are: ``100 speakers``, or ``100 trials taken as independent``."""
        from deciban.core.resampling.unit_notes import number_of_units  # words are for who looks at them

        return number_of_units(self.n_units, self.noun, self.source)

    @property
    def are_independent(self) -> bool:
        """Whether the units are the trials themselves."""
        return self.source.endswith(INDEPENDENT)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the intervals must know."""
        found = []
        if len(self.too_few) > _MOST_NAMED:
            names = ", ".join([*list(self.too_few)[:_MOST_NAMED], f"and {len(self.too_few) - _MOST_NAMED} more"])
            found.append(
                f"No confidence intervals for metrics that need one of {len(self.too_few)} classes ({names}): each has "
                f"fewer than {FEWEST_CLUSTERS:g} effective {self.noun}s."
            )
        else:
            found += [too_few_in_words(name, n, self.noun) for name, n in self.too_few.items()]
        if self.n_units < FEW_UNITS and self.estimates:
            units = counted(self.n_units, self.noun)
            found.append(f"Intervals rest on {units}: with fewer than {FEW_UNITS} they are rough.")
        return (*found, *self.remarks, *(() if self.bootstrap is None else self.bootstrap.notes))


def looked_up(known: Mapping[Figure, Known], figure: Figure) -> Known:
    """What is known of a figure; a name alone is that at the first operating point.

    Raises
    ------
    InputError
        If there is nothing.
    """
    found = known.get(figure, known.get((figure, 0)) if isinstance(figure, str) else None)
    if found is None:
        names = ", ".join(dict.fromkeys(one if isinstance(one, str) else one[0] for one in known))
        raise InputError(
            f"figure: no interval of {figure!r}. There are those of {names or 'nothing'}. Metrics that are infinite "
            f"or constant, or rest on fewer than {FEWEST_CLUSTERS:g} effective units of a class have none."
        )
    return found


_MOST_NAMED = 3
"""Classes with too few units that have a note each."""


def too_few_in_words(name: str, n: float, noun: str) -> str:
    """Return the sentence on a class with too few effective units for intervals.

    Examples
    --------
    >>> too_few_in_words("targets", 2.25, "speaker")[:79]
    'No confidence intervals for metrics that need targets: they come from 2.2 effec'
    """
    number = f"{n:.1f}".removesuffix(".0")
    units = f"{number} effective {noun}{'' if number == '1' else 's'}"
    return (
        f"No confidence intervals for metrics that need {name}: they come from {units}; at least "
        f"{FEWEST_CLUSTERS:g} are needed."
    )


def no_units(name: str) -> InputError:
    """What to say of intervals where units are unknown."""
    return InputError(
        f"{name}: which speakers or other units the trials share is not known, so there are no intervals. Name the "
        "units (tar_units and non_units of arrays, units= of files and data frames, --units): at least two."
    )
