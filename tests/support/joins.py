"""Joins as literally as possible: dictionaries, one trial after another. For tests only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from deciban.trials import Trials


class ConflictError(Exception):
    """Two copies of a trial say different things."""


class CopyError(Exception):
    """A trial occurs twice, and that was not allowed."""


class LackError(Exception):
    """A trial has no score, and that was not allowed."""


@dataclass
class Joined:
    """What is left: trials in the order of the key, their truth and score, and the counts."""

    trials: list
    truth: list
    score: list
    counts: tuple


def once(pairs, *, keep_one):
    """Each trial once, with what came first, and how many copies were left out."""
    first, n_copies = {}, 0
    for trial, value in pairs:
        if trial in first and first[trial] != value:
            raise ConflictError(trial)
        n_copies += trial in first
        first.setdefault(trial, value)
    if n_copies and not keep_one:
        raise CopyError
    return first, n_copies


def join(scores, key, missing, *, keep_one):
    """Look every key trial up among the scores; both are lists of (trial, value)."""
    truth, key_copies = once(key, keep_one=keep_one)
    found, score_copies = once([(trial, score) for trial, score in scores if trial in truth], keep_one=keep_one)
    extra = sum(trial not in truth for trial, _ in scores)
    lacking = [trial for trial in truth if trial not in found]
    if lacking and (missing == "error" or (missing == "drop" and len(lacking) == len(truth))):
        raise LackError(lacking)
    kept = [trial for trial in truth if trial in found or missing != "drop"]
    return Joined(
        kept,
        [truth[trial] for trial in kept],
        [found.get(trial, missing) for trial in kept],
        (len(truth) - len(lacking), len(lacking), extra, key_copies + score_copies),
    )


def trials_of(listed, sides=("enroll", "test"), **more):
    """A list of trials from tuples of names."""
    return Trials.of({side: [trial[i] for trial in listed] for i, side in enumerate(sides)}, **more)


def listed(trials):
    """Tuples of names from a list of trials, through nothing but its codes and names."""
    columns = [pa.array(names).take(pa.array(codes)) for names, codes in zip(trials.names, trials.codes, strict=True)]
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


text = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=3)
few = st.sampled_from(["a", "b", "ab", "", "ä", " c", "a" * 20])
names = st.one_of(few, few, text)
pairs = st.tuples(names, names)
sided = st.tuples(names, names, st.sampled_from(["a", "b"]))


@st.composite
def grids(draw, max_side=4):
    """The same trials as a grid (full, or with a mask) and as a list, row by row; at least one trial."""
    sides = st.lists(names, min_size=1, max_size=max_side, unique=True)
    enroll, test = draw(sides), draw(sides)
    cells = len(enroll) * len(test)
    flags = draw(st.one_of(st.just([True] * cells), st.lists(st.booleans(), min_size=cells, max_size=cells)))
    mask = np.array(flags, np.bool_).reshape(len(enroll), len(test))
    if not mask.any():
        mask[0, 0] = True
    conditions = {
        "group": pa.array(
            draw(st.lists(st.sampled_from(["x", "y", None]), min_size=cells, max_size=cells)), pa.string()
        )
    }
    conditions = {name: column.slice(0, int(mask.sum())) for name, column in conditions.items()}
    grid = Trials.of_grid(enroll, test, mask)
    grid = Trials(grid.sides, grid.names, None, grid.mask, conditions=conditions)
    flat = [(one, other) for i, one in enumerate(enroll) for j, other in enumerate(test) if mask[i, j]]
    return grid, trials_of(flat, conditions=conditions)
