"""Words for target and non-target. A word that is not listed is an error, never a non-target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deciban.errors import InputError

_TARGET = (
    *("target", "tgt", "tar", "genuine", "client", "mated", "match", "bonafide", "bona-fide", "same"),
    *("positive", "pos", "true", "h1", "1"),
)
_NONTARGET = (
    *("nontarget", "non-target", "non_target", "nontgt", "non", "impostor", "imposter", "imp", "nonmated", "non-mated"),
    *("nonmatch", "non-match", "spoof", "attack", "fake", "different", "diff", "negative", "neg", "false", "h2", "0"),
)
_PAIRS = (("1", "-1"), ("1.0", "0.0"), ("1.0", "-1.0"), ("t", "f"), ("ss", "ds"))
"""Words that mean target and non-target where both of a pair occur and no other word; alone they may mean anything."""


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
