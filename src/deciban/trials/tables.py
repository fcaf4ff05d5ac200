"""What is known of trials: which there are, what is true, what was scored. Frozen, in the user's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.trials.base import TrialTable
from deciban.trials.frozen import NO_CONDITIONS, owned
from deciban.trials.lists import Trials
from deciban.trials.names.codes import NamesLike
from deciban.types import AnyArray, BoolArray, IntArray, ScoreArray

__all__ = ["LOG_10", "Index", "Key", "Scores", "TrialTable"]

LOG_10 = float(np.log(10.0))


@dataclass(frozen=True, slots=True, eq=False)
class Index(TrialTable):
    """Which trials there are.

    Attributes
    ----------
    trials : Trials
    """

    trials: Trials

    @classmethod
    def of(cls, ids: Mapping[str, NamesLike], *, conditions: Mapping[str, Any] = NO_CONDITIONS) -> Index:
        """Make an index from names.

        Examples
        --------
        >>> len(Index.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}))
        2
        """
        return cls(Trials.of(ids, conditions=conditions))

    @property
    def content(self) -> None:
        """Nothing."""
        return

    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Index:  # noqa: ARG002  # an index has no values
        return Index(trials)


@dataclass(frozen=True, slots=True, eq=False)
class Key(TrialTable):
    """Which trials there are, and which of them are targets.

    Attributes
    ----------
    trials : Trials
    is_target : (n_trials,) bool array
    """

    trials: Trials
    is_target: BoolArray
    conflict: ClassVar[str] = "is target and non-target at once"

    def __post_init__(self) -> None:
        self._freeze("is_target")

    @classmethod
    def of(
        cls, ids: Mapping[str, NamesLike], is_target: ArrayLike, *, conditions: Mapping[str, Any] = NO_CONDITIONS
    ) -> Key:
        """Make a key from names and truth.

        Raises
        ------
        InputError
            If the truth is not one boolean per trial.

        Examples
        --------
        >>> key = Key.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, [True, False])
        >>> key.n_tar, key.n_non
        (1, 1)
        """
        truth = _validate.array(is_target, "is_target")
        trials = Trials.of(ids, conditions=conditions)
        if truth.dtype != np.bool_ or truth.shape != (len(trials),):
            raise InputError(
                f"is_target: expected {len(trials)} booleans, got {truth.dtype} values of shape {truth.shape}."
            )
        return cls(trials, owned(truth, is_target))

    @property
    def content(self) -> AnyArray:
        """Same as ``is_target``."""
        return self.is_target

    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Key:
        return Key(trials, self.is_target[rows])

    @property
    def index(self) -> Index:
        """The trials without the truth."""
        return Index(self.trials)

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.is_target))

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return len(self.is_target) - self.n_tar


@dataclass(frozen=True, slots=True, eq=False)
class Scores(TrialTable):
    """The scores of one system.

    Attributes
    ----------
    trials : Trials
    score : (n_trials,) float array
    name : str
        What tables and legends call the system.
    log10 : bool
        Whether these are common logarithms of likelihood ratios, as forensic tools write them. They are kept as they
        came; ``nats`` gives natural logarithms.
    """

    trials: Trials
    score: ScoreArray
    name: str = "system"
    log10: bool = False
    conflict: ClassVar[str] = "has two different scores"

    def __post_init__(self) -> None:
        self._freeze("score")

    @classmethod
    def of(
        cls,
        ids: Mapping[str, NamesLike],
        score: ArrayLike,
        *,
        name: str = "system",
        log10: bool = False,
        conditions: Mapping[str, Any] = NO_CONDITIONS,
    ) -> Scores:
        """Make scores from names and numbers.

        Raises
        ------
        InputError
            If there is not one score per trial, or one is NaN.

        Examples
        --------
        >>> len(Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]))
        2
        """
        trials, values = Trials.of(ids, conditions=conditions), _validate.scores(score, "score")
        if len(values) != len(trials):
            raise InputError(f"score: {len(values)} scores for {len(trials)} trials.")
        return cls(trials, owned(values, score), name, log10)

    @property
    def content(self) -> AnyArray:
        """Same as ``score``."""
        return self.score

    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Scores:
        return replace(self, trials=trials, score=self.score[rows])

    @property
    def index(self) -> Index:
        """The trials without the scores."""
        return Index(self.trials)

    @property
    def nats(self) -> ScoreArray:
        """Scores on the natural scale: as they are, or common logarithms times ln 10."""
        return self.score * self.score.dtype.type(LOG_10) if self.log10 else self.score

    def in_nats(self) -> Scores:
        """The same scores as natural logarithms.

        Examples
        --------
        >>> natural = Scores.of({"trial": ["a", "b"]}, [0.0, 1.0], log10=True).in_nats()
        >>> natural.score.round(3).tolist(), natural.log10
        ([0.0, 2.303], False)
        """
        return replace(self, score=self.nats, log10=False)

    def transform(self, function: Callable[[ScoreArray], ArrayLike], *, log10: bool | None = None) -> Scores:
        """Pass the scores through a function of the whole array, a calibration for example.

        Parameters
        ----------
        function : callable
            Gets a copy of the scores as they are, common logarithms too (`in_nats` turns them into natural ones).
        log10 : bool, optional
            Whether the results are common logarithms; left out, as the scores were.

        Raises
        ------
        InputError
            If the result is not one number per trial, or one is NaN.

        Examples
        --------
        >>> Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]).transform(lambda score: 2 * score + 1).score
        array([ 2., -1.])
        """
        made = function(self.score.copy())
        values = owned(_validate.scores(made, "result of the function"), made)
        if values.shape != self.score.shape:
            raise InputError(f"transform: the function made {len(values)} scores of {len(self.score)}.")
        return replace(self, score=values, log10=self.log10 if log10 is None else log10)
