"""The only place that checks arguments of many classes: log-likelihoods, labels, priors, names, groups.

`_validate` checks what is not special to many classes. Everything behind both works on checked arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.arrays import several
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

Names: TypeAlias = tuple[str, ...] | None
"""Checked names of the classes, or None where they are only numbered."""

Class: TypeAlias = int | str
"""How users write a class: as position, or by name where names are known."""

Groups: TypeAlias = Mapping[str, Sequence[Class]] | Sequence[Sequence[Class]]
"""How users write a partition of the classes."""

Prior: TypeAlias = Literal["flat"] | Sequence[float] | Mapping[str, float]
"""A prior of classes: one probability for each in their order, or by name."""

_SUM_TOLERANCE = 1e-6
"""A prior may miss the sum 1 by what rounding to float32 does."""

_LEAST_PRIOR = 1e-60


def loglik(values: ArrayLike, name: str = "loglik") -> ScoreArray:
    """Return log-likelihoods as a matrix of float64 or float32, (n_trials, n_classes), of any layout, not copied.

    Infinite numbers are legal: ``-inf`` excludes a class, ``+inf`` excludes all that have less.

    Raises
    ------
    InputError
        If ``values`` is not a matrix of real numbers with at least one row and two columns, holds NaN, or has a row
        that excludes every class.
    """
    table = _validate.no_labels(_validate.array(values, name), name)
    if table.ndim != 2:
        raise InputError(
            f"{name}: expected an array of shape (n_trials, n_classes), got {table.shape}. One row is a trial, one "
            "column a class; a log-likelihood ratio of two classes becomes two columns by "
            "np.column_stack([llr, np.zeros_like(llr)])."
        )
    if table.shape[0] == 0 or table.shape[1] < 2:
        raise InputError(f"{name}: shape {table.shape}. At least one trial and two classes are needed.")
    table = _validate.matrix(table, name, "column")
    if not _validate.all_finite(table):
        _refuse_bad_rows(table, name)
    return table


def _refuse_bad_rows(table: ScoreArray, name: str) -> None:
    top = table.max(axis=1)
    nan, excluded = np.flatnonzero(np.isnan(top)), np.flatnonzero(top == -np.inf)
    if len(nan):
        column = int(np.argmax(np.isnan(table[nan[0]])))
        raise InputError(
            f"{name}: {len(nan)} of {len(table)} trials hold NaN, the first at row {nan[0]}, column {column}. Infinite "
            "log-likelihoods are allowed, NaN is not: leave these trials out, or repair the scores."
        )
    if len(excluded):
        raise InputError(
            f"{name}: {len(excluded)} of {len(table)} trials exclude every class (-inf throughout), the first at row "
            f"{excluded[0]}. At least one class must be possible: leave these trials out, or repair the scores."
        )


def names(classes: Iterable[str] | None, n_classes: int) -> Names:
    """Return the names of the classes, one for each column.

    Raises
    ------
    InputError
        If there are not as many names as classes, one is no text, or one occurs twice.
    """
    if classes is None:
        return None
    called = () if isinstance(classes, str) else tuple(several(classes, "classes", "['cat', 'dog']"))
    for at, one in enumerate(called):
        if not isinstance(one, str):
            raise InputError(f"classes: names are text, got {one!r} at index {at}. Pass list(map(str, classes)).")
    if len(called) != n_classes:
        raise InputError(f"classes: {len(called)} names for {n_classes} classes. Give one name per column, in order.")
    if len(set(called)) < n_classes:
        twice = next(one for one in called if called.count(one) > 1)
        raise InputError(f"classes: {twice!r} occurs twice. Names of classes are distinct.")
    return tuple(map(str, called))


def called(k: int, classes: Names) -> str:
    """What messages call class ``k``."""
    return f"class {k}" if classes is None else f"class {k} ({classes[k]!r})"


def label(values: ArrayLike, n_trials: int, n_classes: int, classes: Names = None) -> IntArray:
    """Return the true classes as positions, from positions (whole numbers from 0) or names (with ``classes``).

    Raises
    ------
    InputError
        If there is not one label per trial, or one is not a class.
    """
    vector = _validate.array(values, "label")
    if vector.ndim != 1 or len(vector) != n_trials:
        raise InputError(f"label: shape {vector.shape} for {n_trials} trials. Give one label per trial.")
    vector = numbered(vector)
    if vector.dtype.kind in "UTO":
        return _positions(vector, classes)
    if vector.dtype.kind not in "iuf":
        raise InputError(
            f"label: expected classes as whole numbers from 0 or as names, got {vector.dtype} values such as "
            f"{vector[0]!r}."
        )
    good = (vector >= 0) & (vector < n_classes) & (vector == np.floor(vector))
    if not good.all():
        bad = np.flatnonzero(~good)
        hint = ""
        if vector.min() == 1 and vector.max() == n_classes:
            hint = " These count from 1: subtract 1."
        raise InputError(
            f"label: classes are whole numbers from 0 to {n_classes - 1}, but {len(bad)} of {n_trials} labels are not, "
            f"the first at index {bad[0]}: {vector[bad[0]]!s}.{hint}"
        )
    return vector.astype(np.int64, copy=False)


def numbered(vector: AnyArray) -> AnyArray:
    """Return labels as they are, but whole numbers that are Python objects as an array of integers."""
    if vector.dtype.kind == "O" and all(isinstance(one, Integral) and not isinstance(one, bool) for one in vector):
        return vector.astype(np.int64)
    return vector


def _positions(vector: AnyArray, classes: Names) -> IntArray:
    if classes is None:
        raise InputError(
            f"label: got names such as {vector.tolist()[0]!r}. Pass classes=, the names of the columns in their order."
        )
    place = {name: k for k, name in enumerate(classes)}
    codes = np.fromiter((place.get(one, -1) for one in vector.tolist()), np.int64, len(vector))
    bad = np.flatnonzero(codes < 0)
    if len(bad):
        raise InputError(
            f"label: {len(bad)} of {len(vector)} labels are not among the classes, the first at index {bad[0]}: "
            f"{vector.tolist()[bad[0]]!r}. The classes are {', '.join(map(repr, classes))}."
        )
    return codes


def prior(values: ArrayLike | None, n_classes: int, name: str = "prior") -> FloatArray:
    """Return a prior over the classes that sums to 1; flat if None. Classes with prior 0 drop out.

    Raises
    ------
    InputError
        If there is not one probability per class, they do not sum to 1, or fewer than two classes are possible.
    """
    if values is None:
        return np.full(n_classes, 1.0 / n_classes)
    vector = _validate.finite(values, name)
    if vector.shape != (n_classes,):
        raise InputError(f"{name}: shape {vector.shape} for {n_classes} classes. Give one probability per class.")
    bad = np.flatnonzero((vector < 0) | (vector > 1) | ((vector > 0) & (vector < _LEAST_PRIOR)))
    if len(bad):
        raise InputError(
            f"{name}: probabilities are 0 or within [{_LEAST_PRIOR:g}, 1], but that of class {bad[0]} is "
            f"{vector[bad[0]]:g}."
        )
    total = float(vector.sum())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise InputError(f"{name}: probabilities sum to {total:g}, not to 1. Divide them by their sum.")
    if np.count_nonzero(vector) < 2:
        raise InputError(f"{name}: only one class is possible, which leaves nothing to recognize.")
    return vector / total


def prior_of(values: Prior, classes: Sequence[str], name: str = "prior") -> FloatArray:
    """Return a prior as an array in the order of the classes.

    Raises
    ------
    InputError
        If a class is not named, an unknown one is, or the numbers are no prior.

    Examples
    --------
    >>> prior_of({"b": 0.75, "a": 0.25}, ["a", "b"])
    array([0.25, 0.75])
    """
    if isinstance(values, str):
        if values != "flat":
            raise InputError(f"{name}: got {values!r}. It is 'flat', or has a probability for each class.")
        return prior(None, len(classes))
    if isinstance(values, Mapping):
        odd = sorted(set(values) - set(classes), key=str) or sorted(set(classes) - set(values))
        if odd:
            what = "no class" if odd[0] in values else "a class without a probability"
            raise InputError(f"{name}: {odd[0]!r} is {what}. Give one for each of {', '.join(classes)}.")
        values = [values[one] for one in classes]
    return prior(values, len(classes), name)


def all_classes(
    label: IntArray,
    n_classes: int,
    *,
    weights: CountArray | None = None,
    needed: BoolArray | None = None,
    classes: Names = None,
) -> IntArray:
    """Return the number of trials of every class; refuse classes without trials (that count).

    Parameters
    ----------
    label : (n_trials,) int array
    n_classes : int
    weights : (n_trials,) array, optional
        Trials of weight 0 do not count.
    needed : (n_classes,) bool array, optional
        Which classes must have trials; all of them when left out.
    classes : tuple of str, optional

    Raises
    ------
    InputError
        If a class has no trial, by its name.
    """
    everything = np.bincount(label, minlength=n_classes)
    counts = everything if weights is None else np.bincount(label[weights > 0], minlength=n_classes)
    missing = np.flatnonzero((counts == 0) & (needed if needed is not None else True))
    if len(missing):
        first = called(int(missing[0]), classes)
        what = "have no trial" if everything[missing[0]] == 0 else "have only trials of weight 0"
        more = f" (and {len(missing) - 1} more of {n_classes} classes)" if len(missing) > 1 else ""
        raise InputError(
            f"label: {first}{more} {what if more else what.replace('have', 'has')}. Every class is averaged by itself "
            "and needs at least one: leave its column out, or give it prior 0 where there is a prior."
        )
    return counts


def class_index(value: object, n_classes: int, classes: Names, name: str) -> int:
    """Return the position of a class that is given by position or name.

    Raises
    ------
    InputError
        If there is no such class.
    """
    if isinstance(value, str):
        if classes is None:
            raise InputError(f"{name}: got the name {value!r}. Pass classes=, the names of the columns in their order.")
        if value not in classes:
            raise InputError(f"{name}: {value!r} is not among the classes {', '.join(map(repr, classes))}.")
        return classes.index(value)
    place = int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else -1
    if not 0 <= place < n_classes:
        raise InputError(f"{name}: expected a class from 0 to {n_classes - 1} or its name, got {value!r}.")
    return place


def groups(values: Groups, prior: FloatArray, classes: Names) -> tuple[tuple[IntArray, ...], Names]:
    """Return a partition of the classes into at least two groups, and their names if they have some.

    Classes of prior 0 may stand in no group. A sequence of single positions is not taken for a group.

    Raises
    ------
    InputError
        If a class is in two groups or in none, a group has no class of positive prior, or there is one group only.
    """
    if not _is_list(values):
        raise InputError(f"groups: got {values!r}. Give the classes of each group: {{'name': [class, ...], ...}}.")
    titles = tuple(map(str, values)) if isinstance(values, Mapping) else None
    listed = list(values.values() if isinstance(values, Mapping) else values)
    home = np.full(len(prior), -1)
    for g, members in enumerate(listed):
        place = f"groups[{g if titles is None else titles[g]!r}]"
        if not _is_list(members):
            raise InputError(f"{place}: expected a list of classes, got {members!r}.")
        for member in members:
            try:
                k = class_index(member, len(prior), classes, place)
            except InputError as error:
                raise InputError(f"{error}{_with_comma(classes or ())}") from None
            if home[k] >= 0:
                raise InputError(f"{place}: {called(k, classes)} is in a group already. Groups do not overlap.")
            home[k] = g
        if not np.any(prior[home == g] > 0):
            raise InputError(f"{place}: none of its classes has a prior above 0. Leave the group out.")
    if len(listed) < 2:
        raise InputError(f"groups: got {len(listed)}. A partition has at least two groups.")
    homeless = np.flatnonzero((home < 0) & (prior > 0))
    if len(homeless):
        first = int(homeless[0])
        raise InputError(
            f"groups: {called(first, classes)} is in no group. Every class is in one, or has prior 0."
            f"{_with_comma(classes[first : first + 1] if classes else ())}"
        )
    return tuple(np.flatnonzero((home == g) & (prior > 0)) for g in range(len(listed))), titles


def _is_list(given: object) -> bool:
    """Whether something holds others one after the other; a text is none, nor a single number of NumPy."""
    return isinstance(given, Iterable) and not isinstance(given, str) and getattr(given, "ndim", 1) > 0


def _with_comma(classes: Sequence[str]) -> str:
    """What to do where one of these classes has a name that the command line cannot write."""
    found = [name for name in classes if "," in name]
    if not found:
        return ""
    return f" --group cannot name {found[0]!r}, which has a comma in it: rename it, or use evaluate_groups in Python."
