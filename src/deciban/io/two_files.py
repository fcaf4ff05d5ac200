"""Scores of targets in one file and those of non-targets in another, read as one input that holds its own labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from deciban._files import PathLike, display_name
from deciban.errors import InputError, KeyMismatchError
from deciban.io.contents import Contents
from deciban.io.formats import bare_name
from deciban.io.reader import Input, joined, read_input
from deciban.io.recognition import Recognized
from deciban.io.source import TwoFiles
from deciban.messages import counted
from deciban.trials import Key
from deciban.trials.lists import ROW
from deciban.types import ScoreUnit

_SEPARATORS = "-_. "


def read_two_files(found: Recognized, *, unit: ScoreUnit | None = None) -> Input:
    """Read the scores of targets and those of non-targets, with what they are as labels.

    Trials that have names keep them. Without names they are known by their rows, those of targets first.

    Parameters
    ----------
    found : Recognized
        Of `deciban.io.source.TwoFiles`.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.

    Returns
    -------
    Input
        The targets, then the non-targets, each in the order of their file.

    Raises
    ------
    FormatError, OSError
        If a file cannot be read, or one holds what the other does not.
    KeyMismatchError
        If a file has labels that say otherwise, or the trials of one have names and those of the other have none.
    """
    names, sides = found.path, found.sides
    if sides is None or not isinstance(names, TwoFiles):
        raise InputError(f"{display_name(found.path)}: one input. Name two, of targets and of non-targets.")
    tar, non = (read_input(one, need="scores", unit=unit) for one in sides)
    parts = [tar.contents, non.contents]
    lists = [one.systems[0].trials for one in parts]
    for part, is_target in zip(parts, (True, False), strict=True):
        _refuse_other_labels(part, is_target=is_target)
    if (lists[0].sides == ROW) != (lists[1].sides == ROW):
        nameless, named = sorted(lists, key=lambda trials: trials.sides != ROW)
        raise KeyMismatchError(
            f"{named.origin.name} names its trials, {nameless.origin.name} does not. Of targets and non-targets of one "
            "system, both have names or none; name the columns if they were taken wrongly (--columns)."
        )
    whole = joined(parts, display_name(names), name_of_both(names))
    trials = whole.systems[0].trials
    truth = np.arange(len(trials)) < len(lists[0])
    shown = [display_name(one) for one in (names.tar, names.non)]
    origin = replace(whole.origin, reading=" and ".join(dict.fromkeys(one.origin.reading for one in parts)))
    words = dict(zip(shown, (True, False), strict=True))
    return Input(replace(whole, origin=origin, key=Key(trials, truth), words=words), tar.format)


def name_of_both(files: TwoFiles) -> str:
    """Return the name of the system of two files: the words that both begin with, else their folder, else both names.

    Examples
    --------
    >>> name_of_both(TwoFiles("lab/plda_tar.txt", "lab/plda_non.txt"))
    'plda'
    >>> name_of_both(TwoFiles("lab/same_log10.csv", "lab/different_log10.csv"))
    'lab'
    >>> name_of_both(TwoFiles("same.csv", "different.csv"))
    'same + different'
    """
    (folder, one), (other_folder, other) = (_folder_and_stem(path) for path in (files.tar, files.non))
    words, others = (re.split(f"([{_SEPARATORS}]+)", name) for name in (one, other))
    shared = "".join(words[: _n_alike(words, others)]).strip(_SEPARATORS)
    if shared or folder != other_folder:
        return shared or f"{one} + {other}"
    return folder.rpartition("/")[2].strip(".") or f"{one} + {other}"


def _folder_and_stem(path: PathLike) -> tuple[str, str]:
    folder, _, name = display_name(path).rpartition("/")
    return folder, bare_name(name)


class UnpairedError(KeyMismatchError):
    """Systems in two files each whose trials cannot be paired: each can be evaluated by itself."""


def require_as_many(counts: Mapping[str, tuple[int, int]]) -> None:
    """Refuse systems whose trials are told apart by their rows and are not as many of each class.

    Parameters
    ----------
    counts : mapping of str to (n_tar, n_non)
        By the names of the files.

    Raises
    ------
    UnpairedError
    """
    if len(set(counts.values())) > 1:
        (name, (n_tar, n_non)), *others = counts.items()
        other, (m_tar, m_non) = next(pair for pair in others if pair[1] != (n_tar, n_non))
        raise UnpairedError(
            f"{other} has {counted(m_tar, 'target')} and {counted(m_non, 'non-target')}, {name} {n_tar:,} and "
            f"{n_non:,}. Their trials have no names and are told apart by their rows, so that all systems must have as "
            "many of each where trials are paired. Name one system at a time, or give the trials names; deciban eval "
            "evaluates each on its own trials."
        )


def _n_alike(words: list[str], others: list[str]) -> int:
    """How many words two lists begin with alike."""
    same = [a == b for a, b in zip(words, others, strict=False)]
    return same.index(False) if False in same else len(same)


def _refuse_other_labels(contents: Contents, *, is_target: bool) -> None:
    """Refuse a file of targets that labels non-targets, or the reverse."""
    if contents.key is None:
        return
    rows = np.flatnonzero(contents.key.is_target != is_target)
    if len(rows):
        where, said = contents.key.trials.origin.where(int(rows[0])), ("non-target", "target")[not is_target]
        asked = "targets" if is_target else "non-targets"
        raise KeyMismatchError(
            f"{where}: is labelled {said} ({len(rows):,} of {len(contents.key):,} trials), but {contents.origin.name} "
            f"was given as the scores of {asked}. Are the two files swapped? A file that has labels for all its trials "
            "needs no second one: name it alone."
        )
