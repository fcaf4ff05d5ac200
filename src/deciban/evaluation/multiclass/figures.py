"""What is asked of an evaluation of many classes, and what it leaves out for which reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, Prior, prior_of
from deciban.core.by_value import ByValue
from deciban.core.ranks.operating import OperatingPoint
from deciban.errors import InputError
from deciban.multiclass.analysis import MOST_CLASSES, checked_out_of_set, out_of_set_prior
from deciban.types import FloatArray

P_TARGET = 0.5
"""Prior of a target in C_avg where none is given: that of the language recognition evaluations."""

_QUICK = 10
"""Classes up to which the costs of all subsets come unasked."""

_MANY = 100
"""Classes up to which all pairs come unasked: there are half as many as their square."""

_OPEN = (
    "they are of the closed set, and here the last class is out of set. Leave p_out_of_set (--out-of-set, a preset of "
    "an open set) or the subsets out."
)
WEIGHTED = (
    "in their costs all trials count alike, and these have weights. Leave the weights (sample_weight, --weights) or "
    "the subsets out."
)
IN_PARTS = "trials were summed up in parts, and these need all at once."
"""Why there are no subsets where summaries were merged."""
UNEVEN = (
    "in their costs all trials count alike, but in these groups trials of rare classes count more, so that each class "
    "weighs as its prior says. Leave the groups (--group) or the subsets out."
)


@dataclass(frozen=True, eq=False, init=False)
class ClassFigures(ByValue):
    """What is asked of the scores of many classes; checked when it is made, and passed whole.

    Parameters
    ----------
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Prior of cross-entropy, Brier cost, error rate and confusion; flat when left out.
    p_target : float or sequence of float
        Priors of a target in the average detection cost. One that is given twice is one point.
    p_out_of_set : float, optional
        The last class is out of set: no target, and with this prior among the non-targets.
    subsets : bool, optional
        Whether to evaluate C_avg on every subset of the classes; by default if there are at most 10 of them.
    groups : mapping or sequence of sequences of classes, optional
        Evaluate groups of classes in place of the classes: see `evaluate_groups`.
    pairs : bool, optional
        Whether to evaluate all pairs of classes; by default if there are at most 100 classes.
    capacity : bool, optional
        Whether to look for the prior at which most is told, which takes many passes over the trials.

    Raises
    ------
    InputError
        If a prior of a target or of the class that is out of set is not inside (0, 1), there is no prior of a target,
        or priors are no numbers or no list of them.

    Examples
    --------
    >>> ClassFigures(p_target=[0.5, 0.1, 0.5]).p_target
    (0.5, 0.1)
    >>> ClassFigures() == ClassFigures(p_target=0.5)
    True
    """

    prior: Prior | None
    p_target: tuple[float, ...]
    p_out_of_set: float | None
    subsets: bool | None
    groups: Groups | None
    pairs: bool | None
    capacity: bool | None

    def __init__(
        self,
        *,
        prior: Prior | ArrayLike | None = None,
        p_target: float | Sequence[float] = P_TARGET,
        p_out_of_set: float | None = None,
        subsets: bool | None = None,
        groups: Groups | None = None,
        pairs: bool | None = None,
        capacity: bool | None = None,
    ) -> None:
        out_of_set = None if p_out_of_set is None else out_of_set_prior(p_out_of_set)
        kept = {"prior": _listed(prior), "p_target": _points(p_target), "p_out_of_set": out_of_set}
        more = {"subsets": subsets, "groups": _frozen(groups), "pairs": pairs, "capacity": capacity or None}
        for name, value in {**kept, **more}.items():
            object.__setattr__(self, name, value)

    @property
    def thresholds(self) -> list[float]:
        """Bayes thresholds of the priors of a target, in nats."""
        return [OperatingPoint(p).threshold for p in self.p_target]

    def prior_of(self, classes: Sequence[str]) -> FloatArray:
        """Return the prior of these classes, all of which it holds possible.

        Raises
        ------
        InputError
            If it does not fit the classes, or one of them has prior 0.
        """
        checked = prior_of("flat" if self.prior is None else self.prior, classes)
        zero = np.flatnonzero(checked == 0.0)
        if len(zero):
            raise InputError(
                f"prior: that of {_validate_classes.called(int(zero[0]), tuple(classes))} is 0. An evaluation is of "
                "all classes: leave its column and its trials out, or give it a small prior."
            )
        return checked

    def of_groups(self, prior: FloatArray) -> ClassFigures:
        """Return what is asked of the groups, as if they were classes of this prior."""
        kept = {name: getattr(self, name) for name in ("p_target", "p_out_of_set", "subsets", "pairs", "capacity")}
        return ClassFigures(prior=prior, **kept)

    def out_of_set(self, n_classes: int) -> float | None:
        """Return the prior of the last class if it is out of set.

        Raises
        ------
        InputError
            If it leaves nothing for the other non-targets, or there are too few classes.
        """
        if self.p_out_of_set is None:
            return None
        return checked_out_of_set(self.p_out_of_set, np.array(self.p_target), n_classes)

    def rivals(self, n_classes: int) -> tuple[FloatArray, ...]:
        """Priors of detectors: a flat one for all points, or one for each where a class is out of set.

        Then other non-targets share evenly what the target and that class leave.
        """
        share = self.out_of_set(n_classes)
        if share is None:
            return (np.full(n_classes, 1.0 / n_classes),)
        found = []
        for p_target in self.p_target:
            prior = np.full(n_classes, (1.0 - p_target - share) / (n_classes - 2))
            prior[-1] = share
            found.append(np.asarray(prior / prior.sum()))
        return tuple(found)

    def why_no_subsets(self, n_classes: int, uneven: str = "") -> str:
        """Return why there are no costs of subsets; nothing if there are.

        Parameters
        ----------
        n_classes : int
        uneven : str
            Why trials do not count alike, where they do not.

        Raises
        ------
        InputError
            If they are asked for and impossible.

        Examples
        --------
        >>> ClassFigures().why_no_subsets(3)
        ''
        >>> ClassFigures().why_no_subsets(21)
        '21 classes have too many; at most 20 classes are possible.'
        """
        obstacle = uneven if self.p_out_of_set is None else _OPEN
        if n_classes > MOST_CLASSES and not obstacle:
            obstacle = f"{n_classes} classes have too many; at most {MOST_CLASSES} classes are possible."
        if obstacle and self.subsets:
            raise InputError(f"subsets: {obstacle}")
        if obstacle or self.subsets or (self.subsets is None and n_classes <= _QUICK):
            return obstacle
        return "they were not asked for. Pass subsets=True to evaluate_classes (--subsets)."

    def why_no_pairs(self, n_classes: int) -> str:
        """Return why pairs are left out; nothing if they are not.

        Examples
        --------
        >>> ClassFigures().why_no_pairs(200)
        '200 classes have 19,900 pairs. Pass pairs=True to evaluate_classes.'
        >>> ClassFigures(pairs=True).why_no_pairs(200)
        ''
        """
        if self.pairs or (self.pairs is None and n_classes <= _MANY):
            return ""
        many = f"{n_classes} classes have {n_classes * (n_classes - 1) // 2:,} pairs"
        return f"{many if self.pairs is None else 'they were not asked for'}. Pass pairs=True to evaluate_classes."

    def require_parts(self) -> None:
        """Refuse what needs many passes over all trials, where these are in parts.

        Raises
        ------
        InputError
        """
        if self.capacity:
            raise InputError(
                "capacity: trials in pieces are not asked for the prior at which most is told. Leave capacity "
                "(--capacity) out, or evaluate a part of the trials that fits in memory."
            )

    def __str__(self) -> str:
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return ", ".join(f"{name} {value}" for name, value in kept.items() if value is not None)


def _points(p_target: float | Sequence[float]) -> tuple[float, ...]:
    """Priors of a target, each once."""
    given = np.atleast_1d(_validate.finite(p_target, "p_target"))
    if given.ndim > 1:
        raise InputError(f"p_target: expected a prior of a target or a list of them, got shape {given.shape}.")
    points = tuple(dict.fromkeys(given.tolist()))
    if not points:
        raise InputError("p_target: none given. Name at least one prior of a target, such as 0.5.")
    for point in points:
        OperatingPoint(point)  # which refuses what is no prior
    return points


def _listed(prior: Prior | ArrayLike | None) -> Any:
    """A prior of classes as it is kept: what it must be for which classes is checked when they are known."""
    if prior is None or isinstance(prior, str | Mapping):
        return _frozen(prior)
    given = _validate.finite(prior, "prior")
    if given.ndim != 1:
        raise InputError(f"prior: shape {given.shape}. Give one probability per class, in a list or by name.")
    return tuple(given.tolist())


def _frozen(value: Any) -> Any:
    """A copy that does not change with what the caller still holds."""
    if isinstance(value, Mapping):
        return {name: _frozen(one) for name, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
