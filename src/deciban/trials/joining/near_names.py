"""Trials that would be found if their names were written in the same way: what to tell those whose join fails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban.errors import DecibanError
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.renaming import RULES, Renaming
from deciban.trials.lists import ROW, Trials
from deciban.types import IntArray

_TRIED = (
    ("strip-ending",),
    ("basename",),
    ("separators",),
    ("strip-ending", "basename"),
    ("strip-ending", "separators"),
)
"""What is tried, the simplest first."""

_SAMPLE = 10_000
"""Names that are looked at to see whether a rule could matter."""

_WORDS = {
    "strip-ending": "without the endings of their names",
    "basename": "by the last part of their names, without folders",
    "separators": "if '/', '\\', '_' and '-' were the same in their names",
}


@dataclass(frozen=True, slots=True)
class NearNames:
    """A way to compare names by which more trials match.

    Attributes
    ----------
    rules : tuple of str
    n_matched, n_wanted : int
        How many of the wanted trials match by it.
    ending : str
        The ending that all names lose, if it is one.
    """

    rules: tuple[str, ...]
    n_matched: int
    n_wanted: int
    ending: str = ""

    @property
    def option(self) -> str:
        """What to say to have it."""
        return ",".join(self.rules)

    def __str__(self) -> str:
        """Say what would match."""
        words, n = [_WORDS[rule] for rule in self.rules], self.n_wanted
        if self.ending:
            words[0] = f"without '{self.ending}'"
        how_many = f"all {n:,}" if self.n_matched == n else f"{self.n_matched:,} of {n:,}"
        return f"{how_many} would match {' and '.join(words)}"


def near_names(offered: Trials, wanted: Trials, n_matched: int | None = None) -> NearNames | None:
    """Find out whether more trials would match by names that are written in the same way.

    A rule that changes none of the first names of both lists is not tried, so that this costs next to nothing where
    names have neither endings nor folders, and a few joins where they have.

    Parameters
    ----------
    offered, wanted : Trials
        Identified in the same way.
    n_matched : int, optional
        How many of the wanted ones are among the others as they are, if that is known.

    Returns
    -------
    NearNames or None
        The simplest way by which most match; None if no more do than as they are.

    Examples
    --------
    >>> key = Trials.of({"trial": ["a.wav", "b.wav"]})
    >>> near = near_names(Trials.of({"trial": ["b", "a"]}), key)
    >>> print(near, "by", near.option)
    all 2 would match without '.wav' by strip-ending
    """
    if offered.sides != wanted.sides or offered.sides == ROW or not len(offered):
        return None
    samples = [_some(names) for trials in (offered, wanted) for names in trials.names]
    useful = {rule for rule, change in RULES.items() if any(not change(names).equals(names) for names in samples)}
    best = None
    if useful and n_matched is None:
        n_matched = _matched(offered, wanted, ())
    for rules in _TRIED:
        if not useful.issuperset(rules):
            continue
        found = _matched(offered, wanted, rules)
        if found > ((n_matched or 0) if best is None else best.n_matched):
            best = NearNames(rules, found, len(wanted), _ending(samples) if rules[0] == "strip-ending" else "")
        if best is not None and best.n_matched == len(wanted):
            break
    return best


def _matched(offered: Trials, wanted: Trials, rules: tuple[str, ...]) -> int:
    """How many wanted trials are among the others by some rules; none if these make one name of two."""
    how = Renaming(",".join(rules), rules)
    try:
        theirs, ours = how.both(offered, wanted)
        rows = Wanted(ours).find(theirs).rows
    except DecibanError:
        return 0
    return len(wanted) if rows is None else int(np.count_nonzero(rows >= 0))


def _some(names: pa.Array) -> pa.Array:
    """Names from all over a list."""
    rows: IntArray = np.linspace(0, len(names) - 1, min(len(names), _SAMPLE), dtype=np.int64)
    return names.take(of_numpy(rows))


def _ending(samples: list[pa.Array]) -> str:
    """The ending that names lose, if all that lose one lose the same."""
    endings = set()
    for names in samples:
        bare = RULES["strip-ending"](names)
        changed = names.filter(of_numpy(~to_numpy(pc.equal(bare, names))))
        endings |= {name[name.rindex(".") :] for name in changed.to_pylist()}
    return endings.pop() if len(endings) == 1 else ""
