"""Answers to the questions of readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Mood: TypeAlias = Literal["good", "fair", "bad", "unknown"]
"""What an answer means for the use of a system; pages colour it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the figures of a system say to one question.

    Attributes
    ----------
    question : str
    verdict : str
        The answer in one to three words, as tables of many systems show it.
    mood : {"good", "fair", "bad", "unknown"}
    sentences : tuple of str
        The answer, with the figures that it rests on.
    """

    question: str
    verdict: str
    mood: Mood
    sentences: tuple[str, ...]
