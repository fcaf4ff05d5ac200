"""Joins of trials. Here are rules that make names of scores and of a key alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import borders, encode, of_numpy, pc, positions, text_of, to_numpy
from deciban.errors import DecibanError, InputError, KeyMismatchError, option
from deciban.trials.lists import ROW, Lookup, Trials
from deciban.trials.tables import IdMap
from deciban.types import AnyArray, BoolArray, IntArray

_ENDING = r"([^/\\])\.[0-9]?[A-Za-z][A-Za-z0-9]{0,4}$"
"""A dot, a letter, optionally after a digit, and up to four more letters or digits; not at the start of a name."""

_SLASH, _BACKSLASH = b"/\\"

_ONE_SEPARATOR = bytes.maketrans(b"/\\_|~", b"-----")


def _base_names(names: pa.Array) -> pa.Array:
    text, cuts = text_of(names), borders(names) - borders(names)[0]
    folders = np.flatnonzero((text == _SLASH) | (text == _BACKSLASH))
    if not len(folders):
        return names
    begins, ends = cuts[:-1].copy(), cuts[1:]
    last = np.searchsorted(folders, ends) - 1
    place = folders[np.maximum(last, 0)]
    inside = (last >= 0) & (place >= begins) & (place < ends - 1)
    begins[inside] = place[inside] + 1
    borders_of_both = np.column_stack([begins, ends]).ravel()  # alternately a base name and a folder
    turns = _text_array(borders_of_both, text, len(borders_of_both) - 1)
    return turns.take(of_numpy(np.arange(0, len(borders_of_both), 2)))


def _with_one_separator(names: pa.Array) -> pa.Array:
    text = text_of(names).tobytes()
    changed = text.translate(_ONE_SEPARATOR)
    cuts = borders(names) - borders(names)[0]
    return names if changed == text else _text_array(cuts, changed, len(names))


def _text_array(cuts: AnyArray, text: AnyArray | bytes, n: int) -> pa.Array:
    return pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(np.ascontiguousarray(cuts)), pa.py_buffer(text)])


RULES: dict[str, Callable[[pa.Array], pa.Array]] = {
    "strip-ending": lambda names: pc.replace_substring_regex(names, _ENDING, r"\1"),
    "basename": _base_names,
    "separators": _with_one_separator,
}
"""Rules for names: remove an ending such as ``.wav``, remove the folders, or replace ``/``, ``\\``, ``_``, ``|``, ``~``
and ``-`` by one character."""


@dataclass(frozen=True, slots=True, eq=False)
class Renaming:
    """Rules that change names for the comparison; the trials keep their names.

    Attributes
    ----------
    words : str
        Text for messages.
    rules : tuple of str
        Keys of `RULES`, applied in order, for scores and key.
    id_map : IdMap, optional
        In place of rules: a map from names of the scores to names of the key. Other names are unchanged.
    of_all : bool
        True if the id map also applies to the key, because it is a table of scores, too.
    """

    words: str
    rules: tuple[str, ...] = ()
    id_map: IdMap | None = None
    of_all: bool = False

    @classmethod
    def of(cls, value: IdsLike | None) -> Renaming | None:
        """Return the rules from an argument.

        Raises
        ------
        InputError
            If the rule does not exist.

        Examples
        --------
        >>> Renaming.of("strip-ending,basename").rules
        ('strip-ending', 'basename')
        """
        if value is None or isinstance(value, Renaming):
            return value
        if isinstance(value, IdMap):
            return cls("id map", id_map=value)
        rules = rules_in(value)
        if rules is None:
            raise InputError(
                f"ids: got {value!r}. Use {', '.join(RULES)}, several of these separated by commas, or an id map "
                "(deciban.io.read_id_map)."
            )
        return cls(",".join(rules), rules)

    def of_scores(self, trials: Trials) -> Renamed:
        """Return the trials of scores with the names to compare."""
        return _renamed(trials, self, self._named)

    def of_key(self, trials: Trials) -> Renamed:
        """Return the trials of a key with the names to compare; an id map does not change them."""
        return Renamed(trials) if self._keeps_key else self.of_scores(trials)

    def compared(self, names: pa.Array, *, of_key: bool = False) -> pa.Array:
        """Return the names of one side of scores, or of a key, as they are compared; some may become equal."""
        return names if of_key and self._keeps_key else self._named(names)

    @property
    def _keeps_key(self) -> bool:
        return self.id_map is not None and not self.of_all

    def for_scores_alone(self) -> Renaming:
        """Return the rules for comparing scores with scores, without a key."""
        return replace(self, of_all=True)

    def both(self, scores: Trials, key: Trials) -> tuple[Trials, Trials]:
        """Return the trials of scores and of a key with the names to compare."""
        return self.of_scores(scores).trials, self.of_key(key).trials

    def _named(self, names: pa.Array) -> pa.Array:
        if self.id_map is not None:
            result = positions(names, self.id_map.left)
            return pc.coalesce(self.id_map.right.take(of_numpy(result, lacking=result < 0)), names)
        for rule in self.rules:
            names = RULES[rule](names)
        return names


IdsLike: TypeAlias = str | Iterable[str] | IdMap | Renaming
"""Rules to compare names of trials, as an argument."""


@dataclass(frozen=True, slots=True, eq=False)
class Renamed:
    """Trials with changed names, in the same order.

    Attributes
    ----------
    trials : Trials
    n_changed : int
        Number of distinct names, on all sides, that were changed.
    """

    trials: Trials
    n_changed: int = 0


def rules_in(value: Any) -> tuple[str, ...] | None:
    """Return the rules in a text or a list; None if it contains anything else.

    >>> rules_in(["basename", "strip-ending"]), rules_in("map.csv")
    (('basename', 'strip-ending'), None)
    """
    if not isinstance(value, str | list | tuple):
        return None
    words = [word.strip() for word in value.split(",")] if isinstance(value, str) else list(value)
    return tuple(words) if words and all(isinstance(word, str) and word in RULES for word in words) else None


def _renamed(trials: Trials, how: Renaming, named: Callable[[pa.Array], pa.Array]) -> Renamed:
    """Change names of trials; two names must not become equal.

    Raises
    ------
    InputError
        If the trials have no names.
    KeyMismatchError
        If two names become equal.
    """
    if trials.sides == ROW:
        raise InputError(
            f"ids: {trials.origin.name} has no names that could be changed: its trials are identified by their rows. "
            "Leave ids out."
        )
    n_changed = 0
    for at in range(len(trials.sides)):
        old = trials.names[at]
        new = named(old)
        n_new = 0 if new is old else int(np.count_nonzero(~to_numpy(pc.equal(new, old))))
        if not n_new:
            continue
        n_changed += n_new
        codes, distinct = encode(new)
        if len(distinct) == len(new):
            trials = replace(trials, names=(*trials.names[:at], new, *trials.names[at + 1 :]))
        else:
            _refuse_one_for_two(trials, at, new, codes, how)
            trials = trials.with_names(at, new)
    return Renamed(trials, n_changed)


def _refuse_one_for_two(trials: Trials, at: int, new: pa.Array, codes: IntArray, how: Renaming) -> None:
    """Raise if two names of trials become equal; names without a trial are ignored."""
    used: BoolArray = np.zeros(len(new), np.bool_)
    used[trials.codes[at]] = True
    times = np.bincount(codes[used])
    if times.max(initial=0) < 2:
        return
    one, other = np.flatnonzero(used & (codes == int(np.argmax(times > 1))))[:2].tolist()
    side, old = trials.codes[at], trials.names[at]
    places = trials.origin.where_all([int(np.argmax(side == name)) for name in (one, other)])
    n_lost = int(np.sum(times[times > 1] - 1))
    raise KeyMismatchError(
        f"ids: by {how.words}, {old[one].as_py()!r} ({places[0]}) and {old[other].as_py()!r} ({places[1]}) would both "
        f"be {new[one].as_py()!r} ({n_lost:,} such names of {trials.sides[at]} in {trials.origin.name}). Different "
        f"names must stay different: use another rule, or your own id map ({option(ids='MAP.csv')})."
    )


_TRIED = (
    ("strip-ending",),
    ("basename",),
    ("separators",),
    ("strip-ending", "basename"),
    ("strip-ending", "separators"),
)
"""Combinations of rules to try, the simplest first."""


_SAMPLE = 10_000
"""Number of names in the check whether a rule changes any."""


_WORDS = {
    "strip-ending": "without the endings of their names",
    "basename": "by the last part of their names, without folders",
    "separators": "if '/', '\\', '_' and '-' were the same in their names",
}


@dataclass(frozen=True, slots=True)
class NearNames:
    """Rules that match more trials.

    Attributes
    ----------
    rules : tuple of str
    n_matched, n_wanted : int
        Number of trials that match with the rules, of the wanted trials.
    ending : str
        The ending that the rules remove, if all names have the same.
    """

    rules: tuple[str, ...]
    n_matched: int
    n_wanted: int
    ending: str = ""

    @property
    def option(self) -> str:
        """The value of the option ``ids``."""
        return ",".join(self.rules)

    def __str__(self) -> str:
        """Return a text about the trials that would match."""
        words, n = [_WORDS[rule] for rule in self.rules], self.n_wanted
        if self.ending:
            words[0] = f"without '{self.ending}'"
        how_many = f"all {n:,}" if self.n_matched == n else f"{self.n_matched:,} of {n:,}"
        return f"{how_many} would match {' and '.join(words)}"


def near_names(offered: Trials, expected: Trials, n_matched: int | None = None) -> NearNames | None:
    """Find the rules for names that match most trials.

    A rule is tried only if it changes a name in a sample of both lists. So this costs almost nothing for names without
    endings and folders, and a few joins otherwise.

    Parameters
    ----------
    offered, expected : Trials
        With the same identifiers.
    n_matched : int, optional
        Number of wanted trials that match without rules, if known.

    Returns
    -------
    NearNames or None
        The simplest rules that match most trials; None if no more trials match than without rules.

    Examples
    --------
    >>> key = Trials.of({"trial": ["a.wav", "b.wav"]})
    >>> near = near_names(Trials.of({"trial": ["b", "a"]}), key)
    >>> print(near, "by", near.option)
    all 2 would match without '.wav' by strip-ending
    """
    if offered.sides != expected.sides or offered.sides == ROW or not len(offered):
        return None
    samples = [_some(names) for trials in (offered, expected) for names in trials.names]
    useful = {rule for rule, change in RULES.items() if any(not change(names).equals(names) for names in samples)}
    best = None
    if useful and n_matched is None:
        n_matched = _matched(offered, expected, ())
    for rules in _TRIED:
        if not useful.issuperset(rules):
            continue
        result = _matched(offered, expected, rules)
        if result > ((n_matched or 0) if best is None else best.n_matched):
            best = NearNames(rules, result, len(expected), _ending(samples) if rules[0] == "strip-ending" else "")
        if best is not None and best.n_matched == len(expected):
            break
    return best


def _matched(offered: Trials, trials: Trials, rules: tuple[str, ...]) -> int:
    """Return the number of wanted trials that match with some rules; 0 if the rules make two names equal."""
    how = Renaming(",".join(rules), rules)
    try:
        theirs, ours = how.both(offered, trials)
        rows = Lookup(ours).find(theirs).rows
    except DecibanError:
        return 0
    return len(trials) if rows is None else int(np.count_nonzero(rows >= 0))


def _some(names: pa.Array) -> pa.Array:
    """Return a sample of names, evenly spaced."""
    rows: IntArray = np.linspace(0, len(names) - 1, min(len(names), _SAMPLE), dtype=np.int64)
    return names.take(of_numpy(rows))


def _ending(samples: list[pa.Array]) -> str:
    """Return the ending that names lose, if it is the same for all."""
    endings = set()
    for names in samples:
        bare = RULES["strip-ending"](names)
        changed = names.filter(of_numpy(~to_numpy(pc.equal(bare, names))))
        endings |= {name[name.rindex(".") :] for name in changed.to_pylist()}
    return endings.pop() if len(endings) == 1 else ""
