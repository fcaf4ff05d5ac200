"""Checks of multiclass arguments (log-likelihoods, labels, priors, names, groups), and of probabilities and ratios.

`deciban._validate.arrays` checks the other arguments. All other code works on checked arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.arrays import FEWEST, note_on_probabilities, several
from deciban.errors import InputError, Note, TrialError, either, option, warn
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

Names: TypeAlias = tuple[str, ...] | None
"""Checked names of the classes, or None if they are only numbered."""

Class: TypeAlias = int | str
"""A class in arguments: its index, or its name if names are given."""

Groups: TypeAlias = Mapping[str, Sequence[Class]] | Sequence[Sequence[Class]]
"""A partition of the classes in arguments."""

Prior: TypeAlias = Literal["flat"] | Sequence[float] | Mapping[str, float]
"""A prior over the classes: a probability for each class, in their order or by name."""

_SUM_TOLERANCE = 1e-6
"""Largest difference of the sum of a prior from 1, as from rounding to float32."""

_LEAST_PRIOR = 1e-60


def loglik(values: ArrayLike, name: str = "loglik") -> ScoreArray:
    """Return log-likelihoods as a matrix of float64 or float32, (n_trials, n_classes), without a copy if possible.

    Infinite numbers are allowed: ``-inf`` excludes a class, ``+inf`` excludes all classes with smaller numbers.

    Raises
    ------
    InputError
        If ``values`` is not a matrix of real numbers with at least one row and two columns, contains NaN, or has a
        row that excludes every class.
    """
    table = _validate.no_labels(_validate.array(values, name), name)
    if table.ndim != 2:
        raise InputError(
            f"{name}: expected an array of shape (n_trials, n_classes), got {table.shape}. Rows are trials, columns "
            "are classes. Convert a log-likelihood ratio of two classes by np.column_stack([llr, np.zeros_like(llr)])."
        )
    if table.shape[0] == 0 or table.shape[1] < 2:
        raise InputError(f"{name}: shape {table.shape}. At least one trial and two classes are needed.")
    table = _validate.matrix(table, name, "column")
    if not _validate.all_finite(table):
        top = table.max(axis=1)
        nan, excluded = np.flatnonzero(np.isnan(top)), np.flatnonzero(top == -np.inf)
        if len(nan):
            column = int(np.argmax(np.isnan(table[nan[0]])))
            raise InputError(
                f"{name}: {len(nan)} of {len(table)} trials contain NaN, the first at row {nan[0]}, column {column}. "
                "Infinite log-likelihoods are allowed, NaN is not: leave these trials out, or repair the scores."
            )
        if len(excluded):
            raise InputError(
                f"{name}: {len(excluded)} of {len(table)} trials exclude every class (all -inf), the first at row "
                f"{excluded[0]}. At least one class must be possible: leave these trials out, or repair the scores."
            )
    return table


def names(classes: Iterable[str] | None, n_classes: int) -> Names:
    """Return the names of the classes, one for each column.

    Raises
    ------
    InputError
        If the number of names is wrong, a name is not a string, or a name occurs twice.
    """
    if classes is None:
        return None
    called = () if isinstance(classes, str) else tuple(several(classes, "classes", "['cat', 'dog']"))
    for at, one in enumerate(called):
        if not isinstance(one, str):
            raise InputError(
                f"classes: names must be strings, got {one!r} at index {at}. Pass list(map(str, classes))."
            )
    if len(called) != n_classes:
        raise InputError(f"classes: {len(called)} names for {n_classes} classes. Pass one name per column, in order.")
    if len(set(called)) < n_classes:
        twice = next(one for one in called if called.count(one) > 1)
        raise InputError(f"classes: {twice!r} occurs twice. Names of classes must be distinct.")
    return tuple(map(str, called))


def called(k: int, classes: Names) -> str:
    """Return the name of class ``k`` for messages."""
    return f"class {k}" if classes is None else f"class {k} ({classes[k]!r})"


def label(values: ArrayLike, n_trials: int, n_classes: int, classes: Names = None) -> IntArray:
    """Return the true classes as indices; ``values`` are indices (integers from 0) or names (with ``classes``).

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
            hint = " Labels must count from 0: subtract 1."
        raise InputError(
            f"label: classes are whole numbers from 0 to {n_classes - 1}, but {len(bad)} of {n_trials} labels are not, "
            f"the first at index {bad[0]}: {vector[bad[0]]!s}.{hint}"
        )
    return vector.astype(np.int64, copy=False)


def numbered(vector: AnyArray) -> AnyArray:
    """Convert integers that are Python objects to an array of integers; return other labels unchanged."""
    if vector.dtype.kind == "O" and all(isinstance(one, Integral) and not isinstance(one, bool) for one in vector):
        return vector.astype(np.int64)
    return vector


def _positions(vector: AnyArray, classes: Names) -> IntArray:
    if classes is None:
        raise InputError(
            f"label: got names such as {vector.tolist()[0]!r}. Pass {option(classes=...)}: the columns in order."
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
    """Return a prior over the classes that sums to 1; flat if None. Prior 0 excludes a class.

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
        raise InputError(f"{name}: only one class is possible, so there is nothing to recognize. Name another one.")
    return vector / total


def prior_of(values: Prior, classes: Sequence[str], name: str = "prior") -> FloatArray:
    """Return a prior as an array in the order of the classes.

    Raises
    ------
    InputError
        If a class has no probability, a name is unknown, or the numbers are not a prior.

    Examples
    --------
    >>> prior_of({"b": 0.75, "a": 0.25}, ["a", "b"])
    array([0.25, 0.75])
    """
    if isinstance(values, str):
        if values != "flat":
            raise InputError(f"{name}: got {values!r}. Write 'flat', or a probability for each class.")
        return prior(None, len(classes))
    if isinstance(values, Mapping):
        odd = sorted(set(values) - set(classes), key=str) or sorted(set(classes) - set(values))
        if odd:
            what = "not a class" if odd[0] in values else "a class without a probability"
            raise InputError(f"{name}: {odd[0]!r} is {what}. Pass a probability for each of {', '.join(classes)}.")
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
    """Return the number of trials of each class; refuse classes without trials of positive weight.

    Parameters
    ----------
    label : (n_trials,) int array
    n_classes : int
    weights : (n_trials,) array, optional
        Trials of weight 0 do not count.
    needed : (n_classes,) bool array, optional
        True for classes that must have trials; by default all.
    classes : tuple of str, optional

    Raises
    ------
    InputError
        If a class has no trial; the message contains its name.
    """
    everything = np.bincount(label, minlength=n_classes)
    counts = everything if weights is None else np.bincount(label[weights > 0], minlength=n_classes)
    missing = np.flatnonzero((counts == 0) & (needed if needed is not None else True))
    if len(missing):
        first = called(int(missing[0]), classes)
        what = "have no trial" if everything[missing[0]] == 0 else "have only trials of weight 0"
        more = f" (and {len(missing) - 1} more of {n_classes} classes)" if len(missing) > 1 else ""
        raise InputError(
            f"label: {first}{more} {what if more else what.replace('have', 'has')}. Each class contributes its own "
            "mean, so it needs at least one trial: leave its column out, or set its prior to 0 if there is a prior."
        )
    return counts


def class_index(value: object, n_classes: int, classes: Names, name: str) -> int:
    """Return the index of a class, given its index or its name.

    Raises
    ------
    InputError
        If the class does not exist.
    """
    if isinstance(value, str):
        if classes is None:
            raise InputError(f"{name}: got the name {value!r}. Pass {option(classes=...)}: the columns in order.")
        if value not in classes:
            raise InputError(f"{name}: {value!r} is not among the classes {', '.join(map(repr, classes))}.")
        return classes.index(value)
    place = int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else -1
    if not 0 <= place < n_classes:
        raise InputError(f"{name}: expected a class from 0 to {n_classes - 1} or its name, got {value!r}.")
    return place


def groups(values: Groups, prior: FloatArray, classes: Names) -> tuple[tuple[IntArray, ...], Names]:
    """Return a partition of the classes into at least two groups, and the names of the groups, if given.

    Classes with prior 0 may be in no group. A flat list of indices is not accepted as groups.

    Raises
    ------
    InputError
        If a class is in two groups or in none, a group has no class with positive prior, or there is only one group.
    """
    if not _is_list(values):
        raise InputError(f"groups: got {values!r}. Pass the classes of each group: {{'name': [class, ...], ...}}.")
    titles = tuple(map(str, values)) if isinstance(values, Mapping) else None
    items = list(values.values() if isinstance(values, Mapping) else values)
    home = np.full(len(prior), -1)
    for g, members in enumerate(items):
        place = f"groups[{g if titles is None else titles[g]!r}]"
        if not _is_list(members):
            raise InputError(f"{place}: expected a list of classes, got {members!r}.")
        for member in members:
            try:
                k = class_index(member, len(prior), classes, place)
            except InputError as error:
                raise InputError(f"{error}{_with_comma(classes or ())}") from None
            if home[k] >= 0:
                fault = "is listed twice" if home[k] == g else "is in another group, too. Groups must not overlap"
                raise InputError(f"{place}: {called(k, classes)} {fault}.")
            home[k] = g
        if not np.any(prior[home == g] > 0):
            raise InputError(f"{place}: none of its classes has a prior above 0. Leave the group out.")
    if len(items) < 2:
        raise InputError(f"groups: got {len(items)}. At least two groups are needed.")
    homeless = np.flatnonzero((home < 0) & (prior > 0))
    if len(homeless):
        first = int(homeless[0])
        raise InputError(
            f"groups: {called(first, classes)} is in no group. Put it in one, or set its prior to 0."
            f"{_with_comma(classes[first : first + 1] if classes else ())}"
        )
    return tuple(np.flatnonzero((home == g) & (prior > 0)) for g in range(len(items))), titles


def _is_list(value: object) -> bool:
    """Return True for iterables, except strings and NumPy scalars."""
    return isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0


def _with_comma(classes: Sequence[str]) -> str:
    """Return advice if the command line cannot write the name of one of these classes."""
    items = [name for name in classes if "," in name]
    if not items:
        return ""
    words = f"cannot contain the name {items[0]!r} with its comma: rename it, or use evaluate_groups in Python."
    return either("", f" {option('groups')} {words}")


ROUNDING = 1e-3
"""Largest difference from 1 of the sum of all probabilities: the rounding error of four decimals, twenty classes."""


def posteriors_note() -> Note:
    """Return the note on multiclass scores that look like probabilities."""
    words = "Scores lie in [0, 1] and sum to 1, so they are not log-likelihoods, and Cllr and costs are meaningless"
    return note_on_probabilities(words, "each class", "multiclass.loglik_from_posterior")


def target_prior(values: object, name: str) -> float:
    """Return the prior of a target, a number inside (0, 1) or a list with one; ``"flat"`` is 0.5.

    Raises
    ------
    InputError
    """
    value = values
    if isinstance(values, str) and values == "flat":
        return 0.5
    if isinstance(values, Iterable) and not isinstance(values, str | dict):
        items = list(values)
        value = items[0] if len(items) == 1 else values
    if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise InputError(
            f"{name}: got {values!r}. For two classes, pass the prior of a target that the probabilities contain, one "
            "number inside (0, 1)."
        )
    return float(value)


def of_target(values: ArrayLike, name: str) -> FloatArray:
    """Return probabilities of targets as float64.

    Raises
    ------
    TrialError
        If one is outside [0, 1].
    InputError
        If there are no values, or they are not numbers.
    """
    checked: FloatArray = _validate.scores(values, name).astype(np.float64, copy=False)
    _refuse_outside(checked[:, None], name)
    return checked


def of_classes(table: ScoreArray, name: str) -> FloatArray:
    """Return a checked matrix of probabilities of classes as float64.

    Raises
    ------
    TrialError
        If a value is outside [0, 1], or the values of a trial do not sum to 1.
    """
    checked: FloatArray = table.astype(np.float64, copy=False)
    _refuse_outside(checked, name)
    total = checked.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1.0) > ROUNDING)
    if len(wrong):
        raise TrialError(
            f"{name}: the probabilities of {len(wrong):,} of {len(checked):,} trials do not sum to 1, the first ",
            int(wrong[0]),
            f" to {total[wrong[0]]:.6g}. The columns must be the probabilities of all classes, without another column.",
        )
    return checked


def distributions(values: ArrayLike, name: str) -> FloatArray:
    """Return rows of probabilities of two or more classes that sum to 1, to 1e-6, as float64.

    Raises
    ------
    InputError
    """
    table = _validate.matrix(values, name, "class").astype(np.float64, copy=False)
    if table.shape[1] < 2:
        raise InputError(f"{name}: shape {table.shape}. At least two classes are needed.")
    wrong = np.flatnonzero(~((table >= 0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) <= 1e-6)))
    if len(wrong):
        raise InputError(
            f"{name}: {len(wrong)} of {len(table)} rows are not probabilities that sum to 1, the first is row "
            f"{wrong[0]}: {table[wrong[0]].tolist()}. Convert log-likelihoods with deciban.multiclass.posterior."
        )
    return table


def _refuse_outside(table: FloatArray, name: str) -> None:
    wrong = np.flatnonzero(~((table >= 0.0) & (table <= 1.0)).all(axis=1))
    if not len(wrong):
        return
    row = table[wrong[0]]
    value = row[~((row >= 0.0) & (row <= 1.0))][0]
    way = f"leave {option('probabilities')} out (it applies to all score files) if they are logarithms"
    if (table >= 0.0).all() and (table <= 100.0).all():
        way = f"divide percentages by 100, or {way}"
    raise TrialError(
        f"{name}: {len(wrong):,} of {len(table):,} trials have scores outside [0, 1], the first ",
        int(wrong[0]),
        f": {value:.6g}. The scores are not probabilities: {way}.",
    )


def like_posteriors(table: AnyArray) -> bool:
    """Return True if at least `FEWEST` rows of multiclass scores are in [0, 1] and sum to about 1.

    Rows of only 0 and 1 are decisions, not probabilities.

    >>> like_posteriors(np.full((10, 4), 0.25)), like_posteriors(np.full((10, 4), 0.5))
    (True, False)
    """
    if len(table) < FEWEST or table.min() < 0.0 or table.max() > 1.0:
        return False
    sums_to_one = np.allclose(table.sum(axis=1, dtype=np.float64), 1.0, rtol=0.0, atol=ROUNDING)
    return bool(sums_to_one and not np.isin(table, (0.0, 1.0)).all())


def tell_of_many(loglik: AnyArray) -> None:
    """Warn if checked log-likelihoods look like probabilities."""
    if like_posteriors(loglik):
        warn(posteriors_note())


SPREAD = 1000.0
"""Smallest ratio of the largest to the smallest positive score that suggests likelihood ratios."""

SHARE_BELOW_1 = 0.25
"""Without labels: smallest share of scores below 1 that suggests likelihood ratios."""


def ratios_note(low: float, high: float) -> str:
    """Return the note on scores that look like likelihood ratios."""
    words = f"All scores are positive, from {low:.3g} to {high:.3g}: if they are likelihood ratios and not logarithms"
    return f"{words}, add {option(lr=True)}."


def logarithms_of_ratios(values: AnyArray, name: str = "lr") -> FloatArray:
    """Return the natural logarithms of likelihood ratios or likelihoods; 0 becomes -inf, and inf stays.

    Parameters
    ----------
    values : (n,) or (n, n_classes) array
        Float32 stays float32.
    name : str
        The argument, for messages.

    Raises
    ------
    TrialError
        If a value is negative or NaN.

    Examples
    --------
    >>> logarithms_of_ratios(np.array([0.0, 1.0, np.inf]))
    array([-inf,   0.,  inf])
    """
    if len(values) and not values.min() >= 0.0:
        wrong = ~(values >= 0.0)
        row = int(np.argmax(wrong if wrong.ndim == 1 else wrong.any(axis=1)))
        n_wrong = int(np.count_nonzero(wrong))
        first = values[wrong][0]
        raise TrialError(
            f"{name}: {n_wrong:,} of {values.size:,} scores are negative or NaN, the first ",
            row,
            f": {first:.6g}. A likelihood ratio is at least 0. If the scores are logarithms, leave {option('lr')} out, "
            "or rename the column lr.",
        )
    with np.errstate(divide="ignore"):
        return np.log(values)


def llrs_of_ratios(values: ArrayLike, name: str) -> FloatArray:
    """Return the natural logarithms of likelihood ratios or likelihoods in an argument.

    Raises
    ------
    InputError
        If a value is negative, NaN or not a number.

    Examples
    --------
    >>> llrs_of_ratios([1, 0], "tar")
    array([  0., -inf])
    """
    ratios = _validate.array(values, name)
    if ratios.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected numbers, got values of type {ratios.dtype}.")
    return logarithms_of_ratios(ratios if ratios.dtype == np.float32 else ratios.astype(np.float64), name)


def like_ratios(low: float, high: float, n_trials: float, share_below_1: float, least_share: float) -> bool:
    """Return True if scores look like likelihood ratios and not like their logarithms.

    Parameters
    ----------
    low, high : float
        The smallest positive score and the largest finite one, if no score is negative.
    n_trials : float
    share_below_1 : float
        Share of all scores, or of non-targets if labels are known.
    least_share : float
        Smallest share that suggests likelihood ratios.

    Examples
    --------
    >>> like_ratios(0.001, 500.0, 100, 0.4, SHARE_BELOW_1), like_ratios(0.1, 9.0, 100, 0.4, SHARE_BELOW_1)
    (True, False)
    """
    return n_trials >= FEWEST and 0.0 < low < 1.0 < high and high >= SPREAD * low and share_below_1 >= least_share
