"""Tests of unlabelled scores that look like something other than log-likelihoods or their ratios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deciban._validate.probabilities import LIKE_RATIOS, SHARE_BELOW_1, like_posteriors, like_probabilities, like_ratios
from deciban.messages import WARNING, Message
from deciban.trials import ClassScores, Scores

_FEWEST = 10
_SPREAD = 0.1

_APPLIED = (
    "look like probabilities, and the model takes them as they are: right if it was trained on such. "
    "--probabilities PRIOR in training and here makes logarithms of them"
)

_NO_RATIOS = (
    "all likelihood ratios lie in [0, 1], as probabilities do: if they are probabilities, use --probabilities PRIOR in "
    "place of --lr"
)

_NO_DECISIONS = "decisions by thresholds on log-likelihood ratios mean nothing for them"

_DECIDED = {
    "probabilities": (
        f"look like probabilities, so {_NO_DECISIONS}. If they are probabilities, add --probabilities PRIOR; otherwise "
        "calibrate them first (deciban calibrate)"
    ),
    "cosines": (
        f"all lie in [-1, 1], as cosine scores do. If they are not log-likelihood ratios, {_NO_DECISIONS}: calibrate "
        "them first (deciban calibrate)"
    ),
    "ratios": f"{{ratios}} Otherwise {_NO_DECISIONS}: calibrate them first (deciban calibrate)",
}


@dataclass(frozen=True, slots=True)
class Looks:
    """What the scores of one input look like, without labels; batches add up.

    Attributes
    ----------
    n : int
    low, high : float
        The smallest and the largest finite score; ``low`` is -inf if one is.
    low_positive : float
        The smallest score above 0.
    n_below_1 : int
    are_posteriors : bool or None
        Of many classes: whether the scores of each trial sum to 1.
    """

    n: int = 0
    low: float = np.inf
    high: float = -np.inf
    low_positive: float = np.inf
    n_below_1: int = 0
    are_posteriors: bool | None = None

    @classmethod
    def of(cls, scores: Scores | ClassScores) -> Looks:
        """Look at scores as they were read; those with a declared unit look like what they are.

        Examples
        --------
        >>> Looks.of(Scores.of({"trial": list("abcdefghij")}, np.geomspace(0.001, 1000, 10))).like
        'ratios'
        """
        values = scores.score
        if not len(values):
            return cls()
        if isinstance(scores, ClassScores):
            return cls(len(values), are_posteriors=like_posteriors(values))
        if scores.unit != "nats":
            return cls(len(values))
        positive = values[(values > 0.0) & np.isfinite(values)]
        finite = values[np.isfinite(values)]
        low_positive = float(positive.min()) if len(positive) else np.inf
        high = float(finite.max()) if len(finite) else -np.inf
        return cls(len(values), float(values.min()), high, low_positive, int(np.count_nonzero(values < 1.0)))

    def __add__(self, other: Looks) -> Looks:
        if not self.n or not other.n:
            return self if self.n else other
        both = None if self.are_posteriors is None else self.are_posteriors and bool(other.are_posteriors)
        ends = min(self.low, other.low), max(self.high, other.high), min(self.low_positive, other.low_positive)
        return Looks(self.n + other.n, *ends, self.n_below_1 + other.n_below_1, both)

    @property
    def like(self) -> Literal["", "probabilities", "ratios", "cosines"]:
        """The name of what the scores look like; empty if they may be log-likelihoods or their ratios."""
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
        return LIKE_RATIOS.format(low=self.low_positive, high=self.high)


def application_messages(names: Sequence[str], looks: Sequence[Looks]) -> list[Message]:
    """Return what to tell about scores to which a model is applied, by the names of their files."""
    pairs = list(zip(names, looks, strict=False))
    files = dict.fromkeys(name for name, one in pairs if one.like == "probabilities")
    found = [Message(WARNING, ", ".join(files), _APPLIED)] if files else []
    return found + list(dict.fromkeys(_on_ratios(pairs)))


def messages_on_ratios(systems: Iterable[Scores | ClassScores]) -> list[Message]:
    """Return what to tell about the scores of systems that look like likelihood ratios."""
    return _on_ratios((one.name, Looks.of(one)) for one in systems)


def _on_ratios(looks: Iterable[tuple[str, Looks]]) -> list[Message]:
    return [Message(WARNING, name, one.note_on_ratios) for name, one in looks if one.like == "ratios"]


def messages_on_declared_ratios(systems: Iterable[Scores], *, negated: bool) -> list[Message]:
    """Return what to tell about scores that were declared likelihood ratios, but look like probabilities.

    Parameters
    ----------
    systems : iterable of Scores
    negated : bool
        Whether the signs of these logarithms were changed after reading.
    """
    found = []
    for one in systems:
        if one.unit != "lr" or not len(one.score):
            continue
        logarithms = -one.score if negated else one.score
        low, high = float(np.exp(min(logarithms.min(), 1.0))), float(np.exp(min(logarithms.max(), 1.0)))
        if like_probabilities(low, high, len(one.score)):
            found.append(Message(WARNING, one.name, _NO_RATIOS))
    return found


def decision_messages(name: str, looks: Looks) -> list[Message]:
    """Return what to tell about scores that are decided as they are."""
    if not looks.like:
        return []
    return [Message(WARNING, name, _DECIDED[looks.like].format(ratios=looks.note_on_ratios))]
