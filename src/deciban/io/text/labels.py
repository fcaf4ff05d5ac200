"""Words for target and non-target. A word that is not listed is an error, never a non-target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deciban.errors import InputError

_TARGET = ("target", "tgt", "tar", "genuine", "mated", "bonafide", "bona-fide", "same", "true", "h1", "1")
_NONTARGET = (
    *("nontarget", "non-target", "non_target", "nontgt", "non", "impostor", "imposter", "imp", "nonmated", "non-mated"),
    *("spoof", "different", "false", "h2", "0"),
)


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
        if set(labels) != {"target", "nontarget"}:
            raise InputError(
                f"labels: expected words for target and nontarget, got {', '.join(labels) or 'none'}. "
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

    def __str__(self) -> str:
        target = "|".join(word for word, means in self.words.items() if means)
        return f"target = {target}, nontarget = " + "|".join(w for w, means in self.words.items() if not means)
