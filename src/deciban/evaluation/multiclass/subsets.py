"""Whether costs of subsets of the classes come with an evaluation, and if not, why."""

from __future__ import annotations

from deciban.errors import InputError
from deciban.multiclass.subsets import MOST_CLASSES

_QUICK = 10
"""Classes up to which the costs of all subsets come unasked."""

_OPEN = (
    "they are of the closed set, and here the last class is out of set. Leave p_out_of_set (--out-of-set, a preset of "
    "an open set) or the subsets out."
)
WEIGHTED = (
    "in their costs all trials count alike, and these have weights. Leave the weights (sample_weight, --weights) or "
    "the subsets out."
)
UNEVEN = (
    "in their costs all trials count alike, but in these groups trials of rare classes count more, so that each class "
    "weighs as its prior says. Leave the groups (--group) or the subsets out."
)


def why_no_subsets(n_classes: int, *, wanted: bool | None, p_out_of_set: float | None, uneven: str = "") -> str:
    """Return why an evaluation has no costs of subsets; nothing if it has.

    Parameters
    ----------
    n_classes : int
    wanted : bool or None
        What was asked for; None where nothing was said.
    p_out_of_set : float or None
    uneven : str
        Why trials do not count alike, where they do not.

    Raises
    ------
    InputError
        If they are asked for and impossible.

    Examples
    --------
    >>> why_no_subsets(3, wanted=None, p_out_of_set=None)
    ''
    >>> why_no_subsets(21, wanted=None, p_out_of_set=None)
    '21 classes have too many; at most 20 classes are possible.'
    """
    obstacle = "" if p_out_of_set is None else _OPEN
    obstacle = obstacle or uneven
    if n_classes > MOST_CLASSES and not obstacle:
        obstacle = f"{n_classes} classes have too many; at most {MOST_CLASSES} classes are possible."
    if obstacle and wanted:
        raise InputError(f"subsets: {obstacle}")
    if obstacle or wanted or (wanted is None and n_classes <= _QUICK):
        return obstacle
    return "they were not asked for. Pass subsets=True to evaluate_classes (--subsets)."
