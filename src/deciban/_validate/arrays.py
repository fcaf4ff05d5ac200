"""Conversion and checks of arguments. All other code works on checked arrays.

Scores become float64 or float32 vectors without NaN. Values that would need a guess are refused. Two-class scores that
look like probabilities are accepted with a warning.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import InputError, Note, TrialError, either, option, warn
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray, ScoreUnit, Weights


def several(values: Any, name: str, example: str) -> list[Any]:
    """Return a sequence as a list; a single string is refused.

    Raises
    ------
    InputError
        If the argument is not a list or similar; ``example`` is a valid one, for the message.

    Examples
    --------
    >>> several((0.01, 0.1), "operating_points", "[0.01]")
    [0.01, 0.1]
    """
    try:
        if not isinstance(values, str | bytes):
            return list(values)
    except TypeError:
        pass
    raise InputError(f"{name}: got {_short(values)}. Write them in a list: {example}.")


def refuse_labels(label: AnyArray, name: str, score: ScoreArray, other: str) -> None:
    """Refuse an array of 0 and 1 as long as the other scores: they are probably labels and scores of the same trials.

    Raises
    ------
    InputError
        If ``label`` contains only 0 and 1, ``score`` has the same length, and some scores are fractions. Floats are
        scores if there are fewer than five.
    """
    few = label.dtype.kind == "f" and len(label) < 5
    if few or len(label) != len(score) or label.min() != 0 or label.max() != 1 or not np.isin(label, (0, 1)).all():
        return
    if np.any(score != np.rint(score)):
        raise InputError(
            f"{name}: only 0 and 1, as many as there are scores in {other}: labels of the same trials? Both arguments "
            f"must be scores: pass {other}[{name} == 1], {other}[{name} == 0] as arrays."
        )


_TARGET = (
    *("target", "tgt", "tar", "genuine", "client", "mated", "match", "bonafide", "bona-fide", "same"),
    *("same-source", "same_source", "same source", "real", "live", "positive", "pos", "true", "h1", "1"),
)
_NONTARGET = (
    *("nontarget", "non-target", "non_target", "nontgt", "non", "impostor", "imposter", "imp", "nonmated", "non-mated"),
    *("nonmatch", "non-match", "spoof", "attack", "fake", "forged", "forgery", "different", "diff"),
    *("different-source", "different_source", "different source", "negative", "neg", "false", "h2", "0"),
)
_PAIRS = (
    *(("1", "-1"), ("1.0", "0.0"), ("1.0", "-1.0"), ("t", "f"), ("ss", "ds"), ("yes", "no"), ("hp", "hd")),
    ("km", "knm"),
)
"""Words that mean target and non-target if the column contains both words of a pair and no other word."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
"""Words for booleans."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words for target and for non-target.

    The default words match in any case. Words of the user replace them and match exactly.
    """

    words: Mapping[str, bool]
    folded: bool

    @classmethod
    def of(cls, labels: Mapping[str, str] | None) -> Vocabulary:
        """Return a vocabulary from ``{"target": "tgt", "nontarget": "imp"}``; ``|`` separates several words.

        Raises
        ------
        InputError
            If ``labels`` has other keys than target and nontarget, or one word for both.
        """
        if labels is None:
            return cls({**dict.fromkeys(_TARGET, True), **dict.fromkeys(_NONTARGET, False)}, folded=True)
        words: object = labels
        if not isinstance(words, Mapping) or not all(isinstance(one, str) for one in words.values()):
            raise InputError(
                f"labels: got {words!r}. Pass a mapping of words: {{'target': 'tgt', 'nontarget': 'imp'}}."
            )
        if set(labels) != {"target", "nontarget"}:
            words = f"Write {option(labels={'target': 'tgt', 'nontarget': 'imp'})}; | separates several words."
            if "spoof" in labels:
                words = f"Words for spoof are for protocols of spoofing ({option(preset=...)}); else use nontarget."
            raise InputError(
                f"labels: expected words for target and nontarget, got {', '.join(map(str, labels)) or 'none'}. {words}"
            )
        target, nontarget = (dict.fromkeys(labels[side].split("|")) for side in ("target", "nontarget"))
        both = [word for word in target if word in nontarget]
        if both:
            raise InputError(f"labels: {both[0]!r} cannot mean target and nontarget at once.")
        return cls({**dict.fromkeys(target, True), **dict.fromkeys(nontarget, False)}, folded=False)

    def meaning(self, word: str) -> bool | None:
        """Return True for target, False for non-target, None for an unknown word."""
        return self.words.get(word.casefold() if self.folded else word)

    @property
    def true_is_target(self) -> bool:
        """True if the boolean True means target, which is the default; words of the user (True, 1, ...) can change it.

        Raises
        ------
        InputError
            If True and False would mean the same.

        Examples
        --------
        >>> Vocabulary.of({"target": "False", "nontarget": "True"}).true_is_target
        False
        """
        if self.folded:
            return True
        own = {word.casefold(): means for word, means in self.words.items()}
        items = {own[word] is value for word, value in _BOOLEANS.items() if word in own}
        if len(items) > 1:
            raise InputError("labels: true and false would mean the same. Use one for target, the other for nontarget.")
        return items != {False}

    def has_kinds(self, words: Collection[str]) -> bool:
        """Return True if words distinguish more than two kinds of trials: in a batch, one of them may be enough.

        Examples
        --------
        >>> Vocabulary.of(None).has_kinds(["target", "nontarget"]), Vocabulary.of(None).has_kinds(["spoof"])
        (False, True)
        """
        return len(words) > 2 or "spoof" in words or not (self.folded or len(self.words) == 2)

    def within(self, words: Iterable[str]) -> Vocabulary:
        """Return the vocabulary for a column that contains these words: some words have a meaning only in pairs.

        Examples
        --------
        >>> Vocabulary.of(None).within(["T", "F"]).meaning("F"), Vocabulary.of(None).within(["F"]).meaning("F")
        (False, None)
        """
        occurring = {word.casefold() for word in words} if self.folded else set()
        pair = next((pair for pair in _PAIRS if occurring == {*pair}), None)
        return self if pair is None else Vocabulary({**self.words, pair[0]: True, pair[1]: False}, folded=True)

    def __str__(self) -> str:
        target, nontarget = (
            "|".join(word for word, means in self.words.items() if means is one) for one in (True, False)
        )
        pairs = f" ({', '.join(map('|'.join, _PAIRS))} if both occur)" if self.folded else ""
        return f"target = {target}, nontarget = {nontarget}{pairs}"


_LARGEST_EXACT_INTEGER = 2**53


def scores(values: ArrayLike, name: str) -> ScoreArray:
    """Return ``values`` as a contiguous vector of float64 or float32 without NaN.

    Raises
    ------
    InputError
        If ``values`` is empty, not one-dimensional, not made of real numbers, or holds NaN or booleans.
    """
    vector = _floats(no_labels(_vector(values, name), name), name)
    if np.isnan(np.max(vector)):
        bad = np.flatnonzero(np.isnan(vector))
        raise InputError(
            f"{name}: {len(bad)} of {len(vector)} scores are NaN, the first at index {bad[0]}. Infinite scores are "
            "allowed, NaN is not: leave these trials out, or repair the scores."
        )
    return vector


def no_labels(array: AnyArray, name: str) -> AnyArray:
    """Return an array of scores; refuse booleans, which are labels.

    Raises
    ------
    InputError
        If the array is boolean.
    """
    if array.dtype == np.bool_:
        raise InputError(
            f"{name}: got booleans, which are labels, not scores. If y is True for targets, pass scores[y], scores[~y]."
        )
    return array


def score_matrix(values: ArrayLike, name: str) -> ScoreArray:
    """Return ``values`` as a matrix of float64 or float32 without NaN; a float matrix of any layout is not copied.

    Raises
    ------
    InputError
        If ``values`` is empty, not two-dimensional, not made of real numbers, or holds NaN.
    """
    table = matrix(values, name, "system")
    if not all_finite(table):
        require_no_nan(table, name)
    return table


def require_no_nan(table: ScoreArray, name: str) -> None:
    """Refuse a matrix of scores with NaN.

    Raises
    ------
    InputError
    """
    for k in range(table.shape[1]):
        if np.isnan(np.max(table[:, k])):
            bad = np.flatnonzero(np.isnan(table[:, k]))
            raise InputError(
                f"{name}: {len(bad)} of {len(table)} scores of system {k} are NaN, the first at index {bad[0]}. "
                "Infinite scores are allowed, NaN is not: leave these trials out, or the system."
            )


def matrix(values: ArrayLike, name: str, column: str) -> ScoreArray:
    """Return ``values`` as a matrix of float64 or float32; NaN is allowed and means a missing score.

    Raises
    ------
    InputError
        If ``values`` is empty, not two-dimensional, or not made of real numbers; ``column`` is a noun for a column.
    """
    table = array(values, name)
    if column == "system":
        no_labels(table, name)
    if table.ndim != 2:
        plural = column + ("es" if column.endswith("s") else "s")
        raise InputError(
            f"{name}: expected an array of shape (n_trials, n_{plural}), got {table.shape}. Pass one {column} as "
            f"{name}[:, None], and several vectors with np.column_stack."
        )
    if table.size == 0:
        raise InputError(f"{name}: empty, of shape {table.shape}. At least one trial of one {column} is needed.")
    if table.dtype.kind != "f" or table.dtype.itemsize not in (4, 8):
        table = _floats(table.ravel(), name).reshape(table.shape)
    return table


def all_finite(matrix: AnyArray) -> bool:
    """Return True if all numbers are finite; one sum is usually enough.

    A dot product would need more time: BLAS starts threads for it, and they wait for more work without a pause.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(matrix.sum()) or np.isfinite(matrix).all())


def pair(tar: ArrayLike, non: ArrayLike) -> tuple[ScoreArray, ScoreArray]:
    """Return the scores of both classes, checked, with a common float type.

    Raises
    ------
    InputError
        As in `scores`, or if the arguments seem to be labels and scores of the same trials.
    """
    values = array(tar, "tar"), array(non, "non")
    tar, non = scores(values[0], "tar"), scores(values[1], "non")
    for (name, label), (other, score) in ((("tar", values[0]), ("non", non)), (("non", values[1]), ("tar", tar))):
        refuse_labels(label, name, score, other)
    if tar.dtype != non.dtype:
        tar, non = tar.astype(np.float64, copy=False), non.astype(np.float64, copy=False)
    return tar, non


def weights(values: ArrayLike | None, n_trials: int, name: str) -> CountArray | None:
    """Return trial weights, as int64 (exact counts) if all are whole numbers, otherwise as float64.

    Raises
    ------
    InputError
        If the number of weights is wrong, a weight is negative, NaN or extreme, or all are 0.
    """
    if values is None:
        return None
    vector = _floats(_vector(values, name), name).astype(np.float64, copy=False)
    if len(vector) != n_trials:
        raise InputError(f"{name}: {len(vector)} weights for {n_trials} trials. Give one weight per trial.")
    for bad, broken in weight_rules(vector):
        _refuse(vector, bad, name, broken)
    total = float(vector.sum())
    if total == 0:
        raise InputError(f"{name}: all {n_trials} weights are 0. At least one must be above zero.")
    if total <= _LARGEST_EXACT_INTEGER and np.array_equal(vector, np.rint(vector)):
        return vector.astype(np.int64)
    return vector


def weight_rules(vector: FloatArray) -> Iterator[tuple[BoolArray, str]]:
    """Yield, for each rule of a single weight, a mask of the weights that break it, and the rule in words."""
    yield ~(np.isfinite(vector) & (vector >= 0)), "weights are finite and at least 0"
    yield (vector > 0) & ((vector < 1e-100) | (vector > 1e100)), "weights are 0 or within [1e-100, 1e100]"


def truth(values: ArrayLike, n_trials: int, name: str = "is_target") -> BoolArray:
    """Return truth values as booleans; 0 and 1 are accepted, other labels are not.

    Raises
    ------
    InputError
        If there is not one value per trial, or a value is not a boolean, 0 or 1.
    """
    vector = _vector(values, name)
    if len(vector) != n_trials:
        raise InputError(f"{name}: {len(vector)} labels for {n_trials} trials. Give one label per trial.")
    if vector.dtype == np.bool_:
        return vector
    if vector.dtype.kind not in "iufO":
        raise InputError(f"{name}: expected booleans, got {vector.dtype} values such as {_short(vector[0])}.")
    wrong = np.flatnonzero((vector != 0) & (vector != 1))
    if len(wrong):
        raise InputError(
            f"{name}: expected booleans or 0 and 1, got {_short(vector[wrong[0]])} at index {wrong[0]}. Compare "
            "first, for example label == 'target'."
        )
    return np.asarray(vector == 1)


def labels(is_target: ArrayLike, sample_weight: Weights, n_trials: int) -> tuple[BoolArray, CountArray | None]:
    """Return checked truth values and weights of training trials; both classes must occur.

    Raises
    ------
    InputError
        As in `truth`, `weights` and `both_classes`.
    """
    checked = truth(is_target, n_trials)
    weight = weights(sample_weight, n_trials, "sample_weight")
    both_classes(checked, weight)
    return checked, weight


def both_classes(is_target: BoolArray, weight: CountArray | None, name: str = "sample_weight") -> None:
    """Refuse labels of one class only, or a class whose weights are all 0; ``name`` is the argument of the weights.

    Raises
    ------
    InputError
        If a class is empty.
    """
    for rows, kind in ((is_target, "target"), (~is_target, "non-target")):
        if not rows.any():
            raise InputError(f"is_target: none of the {len(rows)} trials is a {kind}. Both classes are needed.")
        if weight is not None and not weight[rows].any():
            raise InputError(f"{name}: all {kind} trials have weight 0. Both classes must count.")


def prior_log_odds(p_target: ArrayLike | None, log_odds: ArrayLike | None) -> FloatArray:
    """Return a prior, given as a probability or as log odds, as log odds; a scalar becomes a 0-d array.

    Raises
    ------
    InputError
        If not exactly one of the two is given, a prior is outside (0, 1), or log odds are not finite.
    """
    if (p_target is None) == (log_odds is None):
        raise InputError(
            "p_target, prior_log_odds: give exactly one of them; p_target is a probability in (0, 1), "
            "prior_log_odds is ln(p / (1 - p)) in nats."
        )
    if p_target is not None:
        prior = _numbers(p_target, "p_target")
        _refuse(prior, ~((prior > 0) & (prior < 1)), "p_target", "a prior must be inside (0, 1)")
        from scipy.special import logit  # not needed to read files, and slow to load

        return np.asarray(logit(prior))
    x = _numbers(log_odds, "prior_log_odds")
    _refuse(x, ~np.isfinite(x), "prior_log_odds", "log odds must be finite; with prior 0 or 1 there is no decision")
    return x


def single_log_odds(
    p_target: ArrayLike | None,
    log_odds: ArrayLike | None = None,
    *,
    largest: float = float("inf"),
    way: str = "Pass a number, not an array",
) -> float:
    """Return a single prior as log odds; see `prior_log_odds`.

    Raises
    ------
    InputError
        As in `prior_log_odds`, or if there are several priors (``way`` is the advice), or log odds beyond ``largest``.
    """
    result = prior_log_odds(p_target, log_odds)
    name = "prior_log_odds" if p_target is None else "p_target"
    if result.ndim:
        raise InputError(f"{name}: expected one prior, got {result.size}. {way}.")
    if abs(result) > largest:
        value = log_odds if p_target is None else p_target
        raise InputError(f"{name}: got {value!r}. Its log odds must be in [-{largest:g}, {largest:g}] here.")
    return float(result)


def in_range(value: object, name: str, low: float, high: float, rule: str) -> float:
    """Return ``value`` as a float if it is a finite number in [low, high].

    Raises
    ------
    InputError
        Otherwise; ``rule`` states in words what is accepted.
    """
    number = _numbers(value, name)
    if number.ndim != 0 or not low <= float(number) <= high:
        raise InputError(f"{name}: got {value!r}. {rule}.")
    return float(number)


def fraction(value: object, name: str, rule: str) -> float:
    """Return ``value`` as a float if it is a number above 0 and below 1.

    Raises
    ------
    InputError
        Otherwise; the message ends with ``rule``.
    """
    return in_range(value, name, math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0), rule)


def whole(value: object, name: str, low: int, high: float, rule: str) -> int:
    """Return ``value`` as an int if it is one whole number in [low, high].

    Raises
    ------
    InputError
        If it is anything else, including a boolean; the message ends with ``rule``, which describes valid values.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not low <= int(value) <= high:
        raise InputError(f"{name}: got {_got(value)}. {rule}.")
    return int(value)


def threshold(value: object, name: str = "threshold") -> float:
    """Return a threshold as a float: one number, possibly infinite.

    Raises
    ------
    InputError
        If it is NaN or not one number.
    """
    number = _numbers(value, name)
    if number.ndim != 0 or np.isnan(number):
        raise InputError(f"{name}: got {_got(value)}. It is one number, or inf to reject all trials.")
    return float(number)


def flag(value: object, name: str) -> None:
    """Raise if a value is not True or False.

    Raises
    ------
    InputError
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name}: got {_got(value)}. It is True or False.")


def one_of(value: object, name: str, choices: Sequence[str]) -> None:
    """Raise if a value is not one of the words ``choices``.

    Raises
    ------
    InputError
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}: got {_got(value)}. It is {' or '.join(map(repr, choices))}.")


def finite(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 array of any shape if all are finite.

    Raises
    ------
    InputError
        If one is infinite, NaN or not a number.
    """
    array = _numbers(values, name)
    _refuse(array, ~np.isfinite(array), name, "values must be finite")
    return array


def rule(alpha: float, beta: float) -> tuple[float, float]:
    """Return the two parameters of a beta-family scoring rule, each in [0.05, 100]."""
    words = "The parameters of a scoring rule must be in [0.05, 100]"
    return in_range(alpha, "alpha", 0.05, 100.0, words), in_range(beta, "beta", 0.05, 100.0, words)


def costs(c_miss: float, c_fa: float) -> tuple[float, float]:
    """Return the two costs of a detection problem, each finite and at least 0, not both 0."""
    largest = float(np.finfo(np.float64).max)
    c_miss = in_range(c_miss, "c_miss", 0.0, largest, "A cost must be finite and at least 0")
    c_fa = in_range(c_fa, "c_fa", 0.0, largest, "A cost must be finite and at least 0")
    if c_miss == 0 and c_fa == 0:
        raise InputError("c_miss, c_fa: both are 0. At least one kind of error must cost something.")
    return c_miss, c_fa


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name}: expected real numbers, got {_short(values)}.")


def refuse_trials(wrong: BoolArray, before: str, after: str, numbers: IntArray | None = None) -> None:
    """Raise `TrialError` if some trials are wrong.

    Parameters
    ----------
    wrong : (n_trials,) bool array
    before, after : str
        The message before and after the index of the first wrong trial; ``{n}`` is replaced by their number.
    numbers : (n_trials,) int array, optional
        The index of each trial in the arrays of the user, if these trials are a part of them.

    Raises
    ------
    TrialError
        If a trial is wrong.
    """
    indices = np.flatnonzero(wrong)
    if len(indices):
        first = indices[0] if numbers is None else numbers[indices[0]]
        raise TrialError(before.replace("{n}", f"{len(indices)}"), int(first), after)


def array(values: ArrayLike, name: str) -> AnyArray:
    """Return ``values`` as an array, of any shape and type.

    Raises
    ------
    InputError
        If this is impossible, or if some values are masked: without the mask they would be used.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        way = "Pass values.compressed()" if values.ndim == 1 else "Leave these rows out, or fill them in"
        raise InputError(
            f"{name}: {np.count_nonzero(np.ma.getmaskarray(values))} of {values.size} entries are masked. {way}."
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name}: cannot be read as an array: {error}.") from error


def _vector(values: ArrayLike, name: str) -> AnyArray:
    vector = array(values, name)
    if vector.ndim != 1:
        raise InputError(
            f"{name}: expected a one-dimensional array, got shape {vector.shape}. "
            "Pass one score per trial, for example values.ravel()."
        )
    if vector.size == 0:
        raise InputError(f"{name}: empty. Pass at least one trial.")
    return vector


def _floats(array: AnyArray, name: str) -> ScoreArray:
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        wide = array.dtype.itemsize == 8
        return np.ascontiguousarray(array, dtype=np.float64 if wide else np.float32)
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    elif array.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected real numbers, got {array.dtype} values such as {_short(array[0])}.")
    vector = array.astype(np.float64)
    if array.dtype.kind in "iu" and (array.max() > _LARGEST_EXACT_INTEGER or array.min() < -_LARGEST_EXACT_INTEGER):
        raise InputError(f"{name}: integers beyond 2**53 do not fit a float exactly. Convert them to float yourself.")
    if array.dtype.kind == "f" and np.any((vector != array) & ~np.isnan(array)):
        raise InputError(f"{name}: {array.dtype} values do not fit float64 exactly. Convert them to float64 yourself.")
    return vector


def _from_objects(array: AnyArray, name: str) -> AnyArray:
    for index, value in enumerate(array):
        if not isinstance(value, numbers.Real):
            raise InputError(f"{name}: expected real numbers, got {_short(value)} at index {index}.")
        if isinstance(value, numbers.Integral) and abs(int(value)) > _LARGEST_EXACT_INTEGER:
            raise InputError(f"{name}: {_short(value)} at index {index} is beyond 2**53. Convert it to float yourself.")
    return array.astype(np.float64)


def _refuse(values: FloatArray, bad: AnyArray, name: str, rule: str) -> None:
    positions = np.flatnonzero(bad)
    if len(positions) == 0:
        return
    value = values.ravel()[positions[0]]
    if values.size == 1:
        raise InputError(f"{name}: {rule}, got {value:g}.")
    where = f", the first at index {positions[0]}" if values.ndim else ""
    raise InputError(f"{name}: {rule}, but {len(positions)} of {values.size} values are not{where}: {value:g}.")


def _short(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def _got(value: object) -> str:
    """Return a short number or text as it is, and any other value with its type."""
    text = repr(value)
    return text if isinstance(value, str | numbers.Number) and len(text) <= 60 else _short(value)


FEWEST = 10
"""Smallest number of trials for a warning that scores look like probabilities."""


_SPREAD = 0.1
"""Smallest range of scores that look like probabilities: uninformative llrs are all near 0 and may have one sign."""


def note_on_probabilities(words: str, whose: str, function: str) -> Note:
    """Return a note on scores that look like probabilities, with what to do if they are, and if not."""
    way = f"{option(probabilities='PRIOR')}{either(f', or {function}', '')}"
    fact = f"{words}: for probabilities pass the share of {whose} in the training data of the classifier ({way})"
    return Note(fact, "no-llrs", "; for other scores calibrate.")


def probabilities_note() -> Note:
    """Return the note on two-class scores that look like probabilities."""
    words = "All scores lie in [0, 1], so they are not log-likelihood ratios, and actual costs and Cllr are meaningless"
    return note_on_probabilities(words, "targets", "decisions.llr_from_probability")


def like_probabilities(lowest: float, highest: float, n_trials: float) -> bool:
    """Return True if scores look like probabilities, given the smallest and the largest score.

    Log-likelihood ratios have both signs: for calibrated ones, the mean of ``exp(-llr)`` over targets is 1. So `FEWEST`
    scores that are all in [0, 1] are not log-likelihood ratios, unless they are nearly equal (uninformative).

    >>> like_probabilities(0.02, 0.97, 100), like_probabilities(-0.2, 0.97, 100), like_probabilities(0.0, 0.001, 100)
    (True, False, False)
    """
    return n_trials >= FEWEST and 0.0 <= lowest <= highest <= 1.0 and highest - lowest >= _SPREAD


def tell_of_two(*sets: ArrayLike) -> None:
    """Warn if checked log-likelihood ratios look like probabilities."""
    arrays = [one for one in map(np.asarray, sets) if one.size]
    lowest, highest = min(float(one.min()) for one in arrays), max(float(one.max()) for one in arrays)
    if like_probabilities(lowest, highest, sum(one.size for one in arrays)):
        warn(probabilities_note())


def unit_of(*, log10: bool = False, lr: bool = False) -> ScoreUnit | None:
    """Return the unit that two flags declare for scores, or None.

    Raises
    ------
    InputError
        If both are true.

    Examples
    --------
    >>> unit_of(lr=True), unit_of()
    ('lr', None)
    """
    if log10 and lr:
        raise InputError("log10, lr: scores are common logarithms or likelihood ratios, not both. Leave one out.")
    return "lr" if lr else "log10" if log10 else None


def owned(array: AnyArray, values: ArrayLike) -> AnyArray:
    """Return an array made from an argument, as a copy if it shares the memory of the argument."""
    if isinstance(values, list | tuple):
        return array
    return array.copy() if np.may_share_memory(array, np.asarray(values)) else array
