"""What the scripts of a page know of posteriors, beside the blocks of PAV, which they have."""

from __future__ import annotations

from typing import Any

from deciban.evaluation import Evaluation
from deciban.evaluation.consistency import consistency_of

_DIGITS, _EVERY = 4, 2
"""Of shares; and of the places of the band one of so many is written."""


def posterior_data(one: Evaluation, *, has_band: bool) -> dict[str, Any]:
    """The prior of the reliability diagram, its histogram, and the band of posteriors that are right.

    Parameters
    ----------
    one : Evaluation
    has_band : bool
        Whether the band is wanted, which is found by resampling.

    Returns
    -------
    dict
        Shares of ``happened`` and ``failed`` are those of bins of equal width over all posteriors.

    Examples
    --------
    >>> from deciban import evaluate
    >>> found = posterior_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), has_band=False)
    >>> found["prior"], len(found["happened"]), found["band"]
    (0.5, 40, None)
    """
    curve = one.curves.reliability
    band = consistency_of(one) if has_band else None
    return {
        "prior": curve.prior[0],
        "happened": _shares(curve.happened),
        "failed": _shares(curve.failed),
        "band": None
        if band is None
        else {
            "x": _shares(band.posterior[::_EVERY]),
            "low": _shares(band.low[::_EVERY]),
            "high": _shares(band.high[::_EVERY]),
            "noun": band.noun,
        },
    }


def _shares(values: Any) -> list[float]:
    return [float(f"{x:.{_DIGITS}g}") for x in values.tolist()]
