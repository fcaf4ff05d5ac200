"""Words that are labels, and arguments that are labels or single values where others are expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.errors import InputError
from deciban.types import AnyArray, ScoreArray


def several(values: Any, name: str, example: str) -> list[Any]:
    """Return what was given one after the other as a list; one text is none.

    Raises
    ------
    InputError
        If this is no list, nor anything like it; ``example`` shows one.

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
    shown = repr(values)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise InputError(f"{name}: got {type(values).__name__} {shown}. Write them in a list: {example}.")


def refuse_labels(label: AnyArray, name: str, score: ScoreArray, other: str) -> None:
    """Refuse whole numbers 0 and 1 beside as many fractions: labels and scores of the same trials.

    Raises
    ------
    InputError
        If this is what they are.
    """
    if label.dtype.kind not in "iu" or len(label) != len(score) or label.min() != 0 or label.max() != 1:
        return
    if np.any(score != np.rint(score)):
        raise InputError(
            f"{name}: only 0 and 1, as many as there are scores in {other}: labels of the same trials? Both arguments "
            f"are scores: pass {other}[{name} == 1], {other}[{name} == 0], as arrays; or floats, if these are scores."
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
"""Words that mean target and non-target where both of a pair occur and no other word; alone they may mean anything."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
"""What users call booleans."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which words mean target and which non-target.

    The well-known words count in any case; words given by the user count exactly as they are, and alone.
    """

    words: Mapping[str, bool]
    folded: bool

    @classmethod
    def of(cls, labels: Mapping[str, str] | None) -> Vocabulary:
        """Make a vocabulary from ``{"target": "tgt", "nontarget": "imp"}``; ``|`` separates several words.

        Raises
        ------
        InputError
            If ``labels`` names anything but target and nontarget, or one word for both.
        """
        if labels is None:
            return cls({**dict.fromkeys(_TARGET, True), **dict.fromkeys(_NONTARGET, False)}, folded=True)
        words: Any = labels
        if not isinstance(words, Mapping) or not all(isinstance(one, str) for one in words.values()):
            raise InputError(
                f"labels: got {words!r}. Write a mapping of words: {{'target': 'tgt', 'nontarget': 'imp'}}."
            )
        if set(labels) != {"target", "nontarget"}:
            raise InputError(
                f"labels: expected words for target and nontarget, got {', '.join(map(str, labels)) or 'none'}. "
                "Write for example target=tgt,nontarget=imp; | separates several words."
            )
        target, nontarget = (dict.fromkeys(labels[side].split("|")) for side in ("target", "nontarget"))
        both = [word for word in target if word in nontarget]
        if both:
            raise InputError(f"labels: {both[0]!r} cannot mean target and nontarget at once.")
        return cls({**dict.fromkeys(target, True), **dict.fromkeys(nontarget, False)}, folded=False)

    def meaning(self, word: str) -> bool | None:
        """True for target, False for non-target, None for a word that is not known."""
        return self.words.get(word.casefold() if self.folded else word)

    @property
    def true_is_target(self) -> bool:
        """Whether a boolean that is true means target: unless the words of the user (True, 1, ...) say otherwise.

        Raises
        ------
        InputError
            If they say that true and false mean the same.

        Examples
        --------
        >>> Vocabulary.of({"target": "False", "nontarget": "True"}).true_is_target
        False
        """
        if self.folded:
            return True
        said = {word.casefold(): means for word, means in self.words.items()}
        found = {said[word] is value for word, value in _BOOLEANS.items() if word in said}
        if len(found) > 1:
            raise InputError(
                "labels: true and false would mean the same. Say target=False,nontarget=True, or the reverse."
            )
        return found != {False}

    def within(self, words: Iterable[str]) -> Vocabulary:
        """The same vocabulary for a column of these words: a pair of words that says little alone may be all of it.

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
        pairs = f" ({', '.join(map('|'.join, _PAIRS))} where both occur)" if self.folded else ""
        return f"target = {target}, nontarget = {nontarget}{pairs}"
