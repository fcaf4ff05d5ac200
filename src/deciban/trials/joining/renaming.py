"""Names of trials that differ by an ending, a folder or a separator, made alike before they are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import borders, of_numpy, text_of, to_numpy
from deciban._arrow import compute as pc
from deciban.errors import DecibanError, InputError, KeyMismatchError
from deciban.trials.joining.lookup import Lookup
from deciban.trials.lists import ROW, Trials
from deciban.trials.names import IdMap, encode, positions
from deciban.types import AnyArray, BoolArray, IntArray

_ENDING = r"([^/\\])\.[0-9]?[A-Za-z][A-Za-z0-9]{0,4}$"
"""A point, a letter, perhaps behind a digit, and up to four more letters or digits; no name begins with it."""

_SLASH, _BACKSLASH = b"/\\"

_ONE_SEPARATOR = bytes.maketrans(b"/\\_|~", b"-----")


def _without_ending(names: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(names, _ENDING, r"\1")


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
    borders_of_both = np.column_stack([begins, ends]).ravel()  # folders and what is left take turns
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
    "strip-ending": _without_ending,
    "basename": _base_names,
    "separators": _with_one_separator,
}
"""How names are made alike: without an ending such as ``.wav``, without the folders before them, or with one sign for
``/``, ``\\``, ``_``, ``|``, ``~`` and ``-``."""


@dataclass(frozen=True, slots=True, eq=False)
class Renaming:
    """How names of trials are read when they are compared; the trials keep the names that they have.

    Attributes
    ----------
    words : str
        What messages call it.
    rules : tuple of str
        Keys of `RULES`, one after the other, for scores and key.
    id_map : IdMap, optional
        In place of rules: what names of the scores are called in the key. Others stay as they are.
    of_all : bool
        Whether names of what stands for the key are changed by an id map as well, because it holds scores, too.
    """

    words: str
    rules: tuple[str, ...] = ()
    id_map: IdMap | None = None
    of_all: bool = False

    @classmethod
    def of(cls, given: IdsLike | None) -> Renaming | None:
        """What a user said about names.

        Raises
        ------
        InputError
            If there is no such rule.

        Examples
        --------
        >>> Renaming.of("strip-ending,basename").rules
        ('strip-ending', 'basename')
        """
        if given is None or isinstance(given, Renaming):
            return given
        if isinstance(given, IdMap):
            return cls("id map", id_map=given)
        rules = rules_in(given)
        if rules is None:
            raise InputError(
                f"ids: got {given!r}. Names are compared by {', '.join(RULES)}, several of these (with commas between "
                "them), or an id map (deciban.io.read_id_map)."
            )
        return cls(",".join(rules), rules)

    def of_scores(self, trials: Trials) -> Renamed:
        """The trials of scores, by the names by which they are compared."""
        return _renamed(trials, self, self._named)

    def of_key(self, trials: Trials) -> Renamed:
        """The trials of a key, by the names by which they are compared; an id map has these already."""
        return Renamed(trials) if self._keeps_key else self.of_scores(trials)

    def compared(self, names: pa.Array, *, of_key: bool = False) -> pa.Array:
        """Names of one side of scores, or of a key, as they are compared: some may become the same."""
        return names if of_key and self._keeps_key else self._named(names)

    @property
    def _keeps_key(self) -> bool:
        return self.id_map is not None and not self.of_all

    def for_scores_alone(self) -> Renaming:
        """The same where there is no key, and scores are compared with scores."""
        return replace(self, of_all=True)

    def both(self, scores: Trials, key: Trials) -> tuple[Trials, Trials]:
        """The trials of scores and those of a key, by the names by which they are compared."""
        return self.of_scores(scores).trials, self.of_key(key).trials

    def _named(self, names: pa.Array) -> pa.Array:
        if self.id_map is not None:
            found = positions(names, self.id_map.left)
            return pc.coalesce(self.id_map.right.take(of_numpy(found, lacking=found < 0)), names)
        for rule in self.rules:
            names = RULES[rule](names)
        return names


IdsLike: TypeAlias = str | Iterable[str] | IdMap | Renaming
"""How users say by which names trials are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Renamed:
    """Trials by other names, row by row.

    Attributes
    ----------
    trials : Trials
    n_changed : int
        How many distinct names, of all sides, are other ones now.
    """

    trials: Trials
    n_changed: int = 0


def rules_in(given: Any) -> tuple[str, ...] | None:
    """The rules that a text or a list names; None if it names anything else.

    >>> rules_in(["basename", "strip-ending"]), rules_in("map.csv")
    (('basename', 'strip-ending'), None)
    """
    if not isinstance(given, str | list | tuple):
        return None
    words = [word.strip() for word in given.split(",")] if isinstance(given, str) else list(given)
    return tuple(words) if words and all(isinstance(word, str) and word in RULES for word in words) else None


def _renamed(trials: Trials, how: Renaming, named: Callable[[pa.Array], pa.Array]) -> Renamed:
    """Give trials other names, of which no two may become one.

    Raises
    ------
    InputError
        If the trials have no names.
    KeyMismatchError
        If two names become one.
    """
    if trials.sides == ROW:
        raise InputError(
            f"ids: {trials.origin.name} has no names that could be changed: its trials are told apart by their rows. "
            "Leave it out."
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
    """Refuse two names of trials that become one; names without a trial do not count."""
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
        "names must stay different: compare by something else, or by an id map of your own (--ids MAP.csv)."
    )


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
        rows = Lookup(ours).find(theirs).rows
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
