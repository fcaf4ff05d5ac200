"""Two files for each system, one of targets and one of non-targets: what a user named, checked before it is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from deciban._files import PathLike, display_name
from deciban.errors import InputError
from deciban.io.source import TwoFiles
from deciban.messages import counted
from deciban.workflows.inputs import Paths, paths_of

NAMES = {"tar": ("tar", "same"), "non": ("non", "different")}
"""What the files of targets and those of non-targets are called, as arguments."""


def named_scores(scores: Paths | None, key: PathLike | None, given: Mapping[str, Any]) -> tuple[Paths, dict[str, Any]]:
    """The score files that a user named, one by one with a key, or in two for each system.

    Parameters
    ----------
    scores, key
        As in `deciban.evaluate_files`.
    given : mapping
        Keyword arguments. ``tar`` and ``non``, or ``same`` and ``different``, are paths or sequences of paths: the
        scores of targets and of non-targets, of one system each, in the same order.

    Returns
    -------
    paths
    dict
        The other arguments.

    Raises
    ------
    InputError
        If there are none, only one of two, both kinds, or not as many of targets as of non-targets; if a file is
        there for both, or there is a key.

    Examples
    --------
    >>> named_scores(None, None, {"tar": "a.txt", "non": "b.txt", "log10": True})
    ([TwoFiles(tar='a.txt', non='b.txt')], {'log10': True})
    """
    others = {name: value for name, value in given.items() if not any(name in names for names in NAMES.values())}
    tar, non = (_side(given, names) for names in NAMES.values())
    if not tar and not non:
        if scores is None or _is_empty(scores):
            raise InputError(
                "scores: no file given. Name score files; or two for each system, of targets (tar=, --tar) and of "
                "non-targets (non=, --non)."
            )
        return scores, others
    if scores is not None and not _is_empty(scores):
        raise InputError(
            "scores: there are score files, and others of targets and non-targets (tar, non). Name the ones or the "
            "others; several systems repeat the option (tar=[A, B], --tar A --tar B --non C --non D)."
        )
    if not tar or not non:
        lacking, there = ("targets (tar=, --tar)", "non-targets") if non else ("non-targets (non=, --non)", "targets")
        raise InputError(f"tar, non: there are scores of {there} only. Name the file of {lacking} as well.")
    if len(tar) != len(non):
        raise InputError(
            f"tar, non: {counted(len(tar), 'file')} of targets and {len(non):,} of non-targets. Every system has one "
            "of each, in the same order; several files of one system are named by a pattern ('part-*.txt')."
        )
    if key is not None:
        raise InputError(
            "key: says which trials are targets, and so do two files of scores (tar, non). Leave the key out, or name "
            "the score files alone."
        )
    for one, other in zip(tar, non, strict=True):
        if str(one) != "-" and os.path.realpath(one) == os.path.realpath(other):
            raise InputError(
                f"{display_name(one)}: given as the scores of targets and of non-targets. Name one file for each; a "
                "file that has labels for its trials is named alone."
            )
    return [TwoFiles(one, other) for one, other in zip(tar, non, strict=True)], others


def _is_empty(scores: object) -> bool:
    """Whether a list of score files names none."""
    return isinstance(scores, list | tuple) and not scores


def _side(given: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """The files of one side, by whichever of its names.

    Raises
    ------
    InputError
        If both names are used, or something is no name of a file.
    """
    used = {name: given[name] for name in names if given.get(name) is not None and given[name] != ()}
    if len(used) > 1:
        raise InputError(f"{', '.join(used)}: two names of the same files, and both are given. Leave one out.")
    return [path for name, paths in used.items() for path in paths_of(paths, name=name)]
