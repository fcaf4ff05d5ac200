"""What each system is worth to a fusion: what is lost without it, in bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deciban.analysis.fused_systems import FigureRow
from deciban.analysis.paired import PairedUnits
from deciban.core.resampling.intervals import LEVEL, Interval, checked_level


@dataclass(frozen=True, slots=True)
class Loss:
    """A rise of Cllr, with its interval.

    Attributes
    ----------
    value : float
        In bits; below 0 if the fusion is better without the system.
    interval : Interval or None
        By the units that both fusions share; None where units are not known.
    """

    value: float
    interval: Interval | None = None

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.interval is None else self.interval.high


@dataclass(frozen=True, slots=True)
class SystemWorth:
    """What a fusion loses without one of its systems.

    Attributes
    ----------
    name : str
        The system that is left out.
    dev : Loss or None
        On the trials of training, which flatters what has more to adjust. None if nothing can be trained without it, or
        costs are infinite.
    eval : Loss or None
        On other trials, where there are any.
    """

    name: str
    dev: Loss | None
    eval: Loss | None = None


def worth_of_systems(
    names: Sequence[str], fusion: FigureRow, without: Sequence[FigureRow], *, level: float = LEVEL
) -> tuple[SystemWorth, ...]:
    """Say how much Cllr rises where a fusion is trained anew without each of its systems.

    Parameters
    ----------
    names : sequence of str
        Of the systems.
    fusion : FigureRow
        Of all systems; of two classes or of many.
    without : sequence of FigureRow
        Without each system, on the same trials: of two systems the other one alone, calibrated.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of SystemWorth
        In the order of the systems; none where nothing was left out.

    Raises
    ------
    InputError
        If the level is not inside (0, 1).

    Notes
    -----
    Both fusions are evaluated on the same trials, so intervals are paired, by the units of these trials. They say how
    sure these trials are of the loss of these two fusions; that other training trials would have given others is not
    in them. Cllr is the cross-entropy at the flat prior.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.analysis import analyse_fusion
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 100
    >>> scores = rng.normal(size=(400, 3)) + np.where(is_target, 1.0, -1.0)[:, None]
    >>> found = analyse_fusion(scores, is_target, names=["A", "B", "C"])
    >>> for one in worth_of_systems(found.names, found.fusion, found.leave_one_out):
    ...     print(f"{one.name}  {one.dev.value:.3f}")
    A  0.143
    B  0.150
    C  0.100
    """
    level = checked_level(level)
    return tuple(
        SystemWorth(name, _loss(row.dev, fusion.dev, level), _loss(row.eval, fusion.eval, level))
        for name, row in zip(names, without, strict=False)
    )


def _loss(without: Any, fusion: Any, level: float) -> Loss | None:
    """By how much the first one is worse; evaluations of the same trials."""
    if without is None or fusion is None or not math.isfinite(without.cllr - fusion.cllr):
        return None
    known, other = without.uncertainty, fusion.uncertainty
    if (
        known is None
        or other is None
        or not all("cllr" in one.influences and "cllr" in one.estimates for one in (known, other))
    ):
        return Loss(float(without.cllr - fusion.cllr))
    found = PairedUnits.of(known, other).difference("cllr", level)
    return Loss(found.estimate, found)
