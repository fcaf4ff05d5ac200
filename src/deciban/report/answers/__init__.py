"""What the figures of a system say to someone who knows no figures: five questions, each with an answer by rules."""

from __future__ import annotations

from typing import Any

from deciban.report.answers.grounds import grounds_of
from deciban.report.answers.questions import QUESTIONS, Answer, next_steps


def in_words(one: Any) -> tuple[Answer, ...]:
    """Answer five questions about one system from its figures.

    Does it tell the classes apart, can its numbers be taken at their word, where would it fail, are there enough trials
    and speakers, and what should be done next?

    Parameters
    ----------
    one : Evaluation or ClassEvaluation

    Returns
    -------
    tuple of Answer
        One for each question, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import evaluate
    >>> rng = np.random.default_rng(1)
    >>> too_sure = evaluate(2.5 * rng.normal(2, 2, 2000), 2.5 * rng.normal(-2, 2, 2000))
    >>> [(answer.question, answer.verdict) for answer in in_words(too_sure)][1]
    ('Can its numbers be taken at their word?', 'no')
    """
    grounds = grounds_of(one)
    answers = [ask(grounds) for ask in QUESTIONS]
    return (*answers, next_steps(grounds, answers))


__all__ = ["Answer", "in_words"]
