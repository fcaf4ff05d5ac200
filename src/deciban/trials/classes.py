"""Multiclass trials: scores of segments for named classes, and keys with the true classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban._arrow import Ids, NamesLike, encode, plain_names, positions
from deciban._validate import arrays as _validate
from deciban._validate.arrays import like_probabilities
from deciban._validate.classes import SHARE_BELOW_1, like_posteriors, like_ratios, ratios_note
from deciban.errors import WARNING, InputError, KeyMismatchError, Message, option, shortened
from deciban.trials.joining import IdsLike
from deciban.trials.joining.matching import Duplicates, JoinReport, Missing, match, picked
from deciban.trials.lists import NO_CONDITIONS, Conditions, Trials
from deciban.trials.tables import Scores, TrialTable
from deciban.types import IntArray, Names, ScoreArray


def _class_names(classes: Sequence[str], fewest: int = 2) -> tuple[str, ...]:
    names = tuple(plain_names(classes, "classes").to_pylist())
    if len(names) < fewest or len(set(names)) < len(names):
        result = ", ".join(map(repr, names)) or "none"
        raise InputError(f"classes: expected at least {fewest} distinct name{'s' * (fewest > 1)}, got {result}.")
    return names


def _trials(ids: Ids | Trials, conditions: Conditions) -> Trials:
    if isinstance(ids, Trials) and conditions:
        raise InputError("conditions: these trials already have conditions. Pass names, or no conditions.")
    return ids if isinstance(ids, Trials) else Trials.of(ids, conditions=conditions)


def _matrix(score: ArrayLike) -> ScoreArray:
    matrix = _validate.array(score, "score")
    if not matrix.size or matrix.dtype in (np.float32, np.float64):
        return matrix
    return _validate.scores(matrix.ravel(), "score").reshape(matrix.shape)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassScores(TrialTable):
    """Scores of segments for each of several classes.

    Attributes
    ----------
    trials : Trials
        The segments, one name each.
    classes : tuple of str
    score : (n_segments, n_classes) float array
    name : str
        Name of the system in tables and legends.
    """

    trials: Trials
    classes: tuple[str, ...]
    score: ScoreArray
    name: str = "system"
    holds: ClassVar[str] = "score"
    conflict: ClassVar[str] = "has two different sets of scores"

    def _in_words(self) -> Sequence[str]:
        return (shortened(f"{len(self.classes):,} classes: {', '.join(self.classes)}"),)

    @classmethod
    def of(
        cls,
        ids: Ids | Trials,
        classes: Sequence[str],
        score: ArrayLike,
        *,
        name: str = "system",
        conditions: Conditions = NO_CONDITIONS,
    ) -> ClassScores:
        """Return class scores from names and a matrix.

        Raises
        ------
        InputError
            If the shapes do not match, a score is NaN, or the names of the classes are not distinct.

        Examples
        --------
        >>> ClassScores.of({"trial": ["a", "b"]}, ["cat", "dog"], [[0.0, -1.0], [-2.0, 0.0]]).score.shape
        (2, 2)
        """
        trials = _trials(ids, conditions)
        called, matrix = _class_names(classes), _matrix(score)
        if matrix.shape != (len(trials), len(called)):
            raise InputError(
                f"score: expected {len(trials)} segments x {len(called)} classes, got shape {matrix.shape}."
            )
        if matrix.size and np.isnan(np.max(matrix)):
            row = int(np.argmax(np.isnan(matrix).any(axis=1)))
            raise InputError(
                f"{trials.origin.where(row)}: a score of {trials.name_of(row)} is NaN. Infinite scores are allowed, "
                "NaN is not."
            )
        return cls(trials, called, _validate.owned(matrix, score), name)

    def of_classes(self, classes: Sequence[str]) -> ClassScores:
        """Return the scores of these classes, in this order.

        Parameters
        ----------
        classes : sequence of str
            Two or more of the classes.

        Returns
        -------
        ClassScores

        Raises
        ------
        InputError
            If a class does not exist, or fewer than two distinct classes are given.

        Examples
        --------
        >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog", "eel"], [[0.0, -1.0, 2.0]])
        >>> scores.of_classes(["eel", "cat"]).score
        array([[2., 0.]])
        """
        called = _class_names(classes)
        place = {name: at for at, name in enumerate(self.classes)}
        lacking = [name for name in called if name not in place]
        if lacking:
            raise InputError(
                f"classes: {self.trials.origin.name} has no scores for {', '.join(map(repr, lacking[:5]))}, only for "
                f"{', '.join(self.classes)}."
            )
        return replace(self, classes=called, score=self.score[:, [place[name] for name in called]])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassKey(TrialTable):
    """The true class of each segment.

    Attributes
    ----------
    trials : Trials
    classes : tuple of str
    label : (n_segments,) int array
        Indices in ``classes``.
    """

    trials: Trials
    classes: tuple[str, ...]
    label: IntArray
    holds: ClassVar[str] = "label"
    conflict: ClassVar[str] = "is of two classes at once"

    def _in_words(self) -> Sequence[str]:
        return (shortened(f"{len(self.classes):,} classes: {', '.join(self.classes)}"),)

    @classmethod
    def of(
        cls, ids: Ids | Trials, label: NamesLike, *, classes: Names = None, conditions: Conditions = NO_CONDITIONS
    ) -> ClassKey:
        """Return a class key from the names of segments and of their classes.

        Parameters
        ----------
        ids : mapping of str to names, or Trials
        label : sequence of str
            Name of the class of each segment.
        classes : sequence of str, optional
            All classes in their order; by default the classes that occur, sorted.
        conditions : mapping, optional

        Raises
        ------
        InputError
            If there is not one label per segment, or a label is not one of the classes.

        Examples
        --------
        >>> ClassKey.of({"trial": ["a", "b"]}, ["dog", "cat"]).label
        array([1, 0])
        """
        trials = _trials(ids, conditions)
        codes, names = encode(label, "label")
        if len(codes) != len(trials):
            raise InputError(f"label: {len(codes)} labels for {len(trials)} segments.")
        known = sorted(names.to_pylist()) if classes is None else classes
        called = _class_names(known, fewest=1)  # a partition may contain one class
        places = positions(names, encode(list(called))[1])
        if (places < 0).any():
            row = int(np.argmax(places[codes] < 0))
            raise InputError(
                f"{trials.origin.where(row)}: class {names[int(codes[row])].as_py()!r} is not among the classes "
                f"{', '.join(called)}."
            )
        return cls(trials, called, places[codes])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AlignedClasses:
    """Class scores of segments with known class.

    Attributes
    ----------
    scores : ClassScores
        On the trials of the key, in its order.
    label : (n_segments,) int array
        The true classes, as indices in ``classes``.
    report : JoinReport
    """

    scores: ClassScores
    label: IntArray
    report: JoinReport

    def __repr__(self) -> str:
        return f"AlignedClasses({self.name!r}: {self.trials.in_words}; {len(self.classes):,} classes)"

    @property
    def name(self) -> str:
        """Name of the system in tables and legends."""
        return self.scores.name

    @property
    def trials(self) -> Trials:
        """The matched segments, in the order of the key."""
        return self.scores.trials

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in the order of the scores."""
        return self.scores.classes

    @property
    def score(self) -> ScoreArray:
        """Scores, (n_segments, n_classes)."""
        return self.scores.score


def align_classes(
    scores: ClassScores,
    key: ClassKey,
    missing: Missing = "error",
    *,
    duplicates: Duplicates = "error",
    ids: IdsLike | None = None,
) -> AlignedClasses:
    """Return the class scores of each segment of a key. Classes are matched by name.

    Parameters
    ----------
    scores : ClassScores
    key : ClassKey
        Its classes may be in another order, and may be fewer than the classes of the scores.
    missing : {"error", "drop"} or float
        Treatment of segments without scores: raise, drop them, or use this score for every class.
    duplicates : {"error", "keep-one"}
        Treatment of segments that occur twice with the same content. Different content is always an error.
    ids : optional
        Rules to match names of segments, as in `deciban.align`.

    Returns
    -------
    AlignedClasses

    Raises
    ------
    KeyMismatchError
        If segments are missing, duplicate or conflicting, or the scores lack the class of a segment.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a", "b"]}, ["cat", "dog"], [[2.0, -1.0], [0.0, 1.0]])
    >>> aligned = align_classes(scores, ClassKey.of({"trial": ["b", "a"]}, ["dog", "cat"]))
    >>> aligned.score.tolist(), aligned.label.tolist()
    ([[0.0, 1.0], [2.0, -1.0]], [1, 0])
    """
    return align_class_systems([scores], key, missing, duplicates=duplicates, ids=ids)[0]


def align_class_systems(
    systems: Sequence[ClassScores],
    key: ClassKey,
    missing: Missing = "error",
    *,
    duplicates: Duplicates = "error",
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> list[AlignedClasses]:
    """Return the class scores of each segment of a key for several systems; segments are dropped for all systems.

    Parameters
    ----------
    systems : sequence of ClassScores
        They need the same classes; the first system determines the order.
    key : ClassKey
    missing, duplicates
        As in `align_classes`.
    by_order : bool
        If True, match scores and segments by position and ignore their names.
    ids : optional
        As in `deciban.align`.

    Returns
    -------
    list of AlignedClasses
        One for each system, on the same segments, with one order of classes and one report.

    Raises
    ------
    KeyMismatchError
        As in `align_classes`, or if systems have different classes.
    InputError
        If there is no system.
    """
    if not systems:
        raise InputError("systems: none given. Alignment needs at least one set of scores.")
    classes = systems[0].classes
    ordered = [_in_order_of(systems[0], system) for system in systems]
    place_of = {name: at for at, name in enumerate(classes)}
    place = np.array([place_of.get(name, -1) for name in key.classes])
    unknown = np.flatnonzero(place[key.label] < 0)
    if len(unknown):
        row = int(unknown[0])
        raise KeyMismatchError(
            f"{key.trials.origin.where(row)}: {key.trials.name_of(row)} is of class "
            f"{key.classes[int(key.label[row])]!r} ({len(unknown):,} segments of such classes), but "
            f"{systems[0].trials.origin.name} has scores for {', '.join(classes)} only. Remove these segments from the "
            "key, or use scores for all of its classes."
        )
    result = match(ordered, key, missing, duplicates, by_order=by_order, ids=ids)
    label = place[result.key.label]
    return [
        AlignedClasses(
            replace(system, trials=result.key.trials, score=picked(system.score, rows, missing)), label, result.report
        )
        for system, rows in zip(ordered, result.rows, strict=True)
    ]


def _in_order_of(first: ClassScores, system: ClassScores) -> ClassScores:
    """Return the scores of a system with the classes in the order of the first system."""
    if system.classes == first.classes:
        return system
    if set(system.classes) != set(first.classes):
        odd = sorted(set(system.classes) ^ set(first.classes))
        raise KeyMismatchError(
            f"{system.trials.origin.name} scores other classes than {first.trials.origin.name}: only one of them has "
            f"{', '.join(odd[:5])}. Systems need the same classes; choose classes by name ({option(classes=...)})."
        )
    return system.of_classes(first.classes)


_FEWEST = 10
"""Smallest number of scores that can look like cosines."""

_SPREAD = 0.1
"""Smallest range of scores that look like cosines."""


@dataclass(frozen=True, slots=True)
class ScoreStatistics:
    """Statistics of the scores of one input that show their kind, without labels; objects of batches can be added.

    Attributes
    ----------
    n : int
    low, high : float
        The smallest score (may be -inf), and the largest finite score.
    low_positive : float
        The smallest score above 0; infinite if a score is negative, so that the scores cannot be ratios.
    n_below_1 : int
    are_posteriors : bool or None
        For multiclass scores: True if the scores of each trial sum to 1.
    """

    n: int = 0
    low: float = np.inf
    high: float = -np.inf
    low_positive: float = np.inf
    n_below_1: int = 0
    are_posteriors: bool | None = None

    @classmethod
    def of(cls, scores: Scores | ClassScores) -> ScoreStatistics:
        """Compute the statistics of scores; a declared unit is trusted.

        Examples
        --------
        >>> ScoreStatistics.of(Scores.of({"trial": list("abcdefghij")}, np.geomspace(0.001, 1000, 10))).like
        'ratios'
        """
        values = scores.score
        if not len(values):
            return cls()
        if isinstance(scores, ClassScores):
            return cls(len(values), are_posteriors=like_posteriors(values))
        return cls.of_llrs(values) if scores.unit == "nats" else cls(len(values))

    @classmethod
    def of_llrs(cls, values: ScoreArray) -> ScoreStatistics:
        """Compute the statistics of scores that should be log-likelihood ratios."""
        if not len(values):
            return cls()
        low, high = float(values.min()), float(values.max())
        if high == np.inf:
            high = float(np.max(values, where=values < np.inf, initial=-np.inf))
        low_positive = low if low > 0.0 else np.inf
        if low == 0.0:
            low_positive = float(np.min(values, where=values > 0.0, initial=np.inf))
        return cls(len(values), low, high, low_positive, int(np.count_nonzero(values < 1.0)))

    def __add__(self, other: ScoreStatistics) -> ScoreStatistics:
        if not self.n or not other.n:
            return self if self.n else other
        both = None if self.are_posteriors is None else self.are_posteriors and bool(other.are_posteriors)
        low, high = min(self.low, other.low), max(self.high, other.high)
        low_positive = np.inf if low < 0.0 else min(self.low_positive, other.low_positive)
        return ScoreStatistics(self.n + other.n, low, high, low_positive, self.n_below_1 + other.n_below_1, both)

    @property
    def like(self) -> Literal["", "probabilities", "ratios", "cosines"]:
        """The kind of values that the scores look like; empty if they may be log-likelihoods or their ratios."""
        if self.are_posteriors is not None:
            return "probabilities" if self.are_posteriors else ""
        if not np.isfinite([self.low, self.high]).all():
            return ""
        if like_probabilities(self.low, self.high, self.n):
            return "probabilities"
        if self.low >= 0.0:
            share = self.n_below_1 / self.n
            return "ratios" if like_ratios(self.low_positive, self.high, self.n, share, SHARE_BELOW_1) else ""
        is_narrow = self.low >= -1.0 and self.high <= 1.0 and self.high - self.low >= _SPREAD
        return "cosines" if is_narrow and self.n >= _FEWEST else ""

    @property
    def note_on_ratios(self) -> str:
        """The note on scores that look like likelihood ratios."""
        return ratios_note(self.low_positive, self.high)


def messages_on_ratios(systems: Iterable[Scores | ClassScores]) -> list[Message]:
    """Return warnings about systems whose scores look like likelihood ratios."""
    return ratio_messages((one.name, ScoreStatistics.of(one)) for one in systems)


def ratio_messages(looks: Iterable[tuple[str, ScoreStatistics]]) -> list[Message]:
    """Return warnings about scores that look like likelihood ratios, given names of systems or files."""
    return [Message(WARNING, name, one.note_on_ratios) for name, one in looks if one.like == "ratios"]
