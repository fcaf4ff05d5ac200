"""Which of the files that are given is which system of a model: by their names, or else by their order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from deciban.errors import InputError
from deciban.io.source import PathLike, display_name
from deciban.messages import Message, counted


def refuse_twice(paths: Iterable[PathLike]) -> None:
    """Refuse to take one file for two systems.

    Raises
    ------
    InputError
    """
    seen: set[str] = set()
    for path in paths:
        if str(path) != "-" and os.path.realpath(path) in seen:
            raise InputError(
                f"{display_name(path)}: given twice. A system that is there twice says nothing that it does not say "
                "alone; name every file once."
            )
        seen.add(os.path.realpath(path))


def require_same_places(trained: Sequence[str], tested: Sequence[str]) -> None:
    """Refuse systems of training and of test, both in the order of a model, that have one name in two places.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_same_places(["a", "b"], ["x", "b"])
    """
    for k, name in enumerate(tested):
        if name in trained and trained.index(name) != k:
            raise InputError(
                f"scores: by the order given, {name} is system {k + 1} of the fusion for the test, and system "
                f"{trained.index(name) + 1} for training. Give both in the order of training of the model, or under "
                "the names that the systems had there."
            )


def order_of_training(given: Sequence[str], trained: Sequence[str], n_systems: int) -> tuple[list[int], list[Message]]:
    """Find out which of the systems that were given is which of those of training.

    Parameters
    ----------
    given : sequence of str
        Names of the systems, in the order given.
    trained : sequence of str
        Names in training; empty if they are not known.
    n_systems : int
        How many there were.

    Returns
    -------
    list of int
        For each system of training its position among those given.
    list of Message
        What is to be said about it.

    Raises
    ------
    InputError
        If they are not as many, or some names say another order than the one given while others say nothing.

    Examples
    --------
    >>> order_of_training(["b", "a"], ["a", "b"], 2)[0]
    [1, 0]
    >>> print(*order_of_training(["x", "y"], ["a", "b"], 2)[1])
    note  systems in the order given: x for a, y for b
    """
    names = list(given)
    if len(given) > n_systems and trained and set(trained) <= set(given) and len(set(given)) == len(given):
        unused = ", ".join(name for name in given if name not in trained)
        return [names.index(name) for name in trained], [Message("note", "", f"not part of the fusion: {unused}")]
    if len(given) != n_systems:
        known = f" ({', '.join(trained)})" if trained else ""
        raise InputError(
            f"scores: {counted(len(given), 'system')} ({', '.join(given)}), but the fusion was trained on "
            f"{n_systems:,}{known}. Give the scores of each of them."
        )
    if set(given) == set(trained) and len(set(given)) == len(given):
        order = [names.index(name) for name in trained]
        if order == sorted(order):
            return order, []
        return order, [Message("note", "", f"systems in the order of training, by their names: {', '.join(trained)}")]
    wrong = next((k for k, name in enumerate(given) if trained and name in trained and trained[k] != name), None)
    if wrong is not None:
        raise InputError(
            f"scores: {given[wrong]} is system {list(trained).index(given[wrong]) + 1} of the fusion and was given as "
            f"number {wrong + 1}, and other names are not those of training ({', '.join(trained)}). Give the systems "
            "in the order of training, or all under their names."
        )
    if not trained:
        return list(range(n_systems)), [
            Message("note", "", "systems in the order given: the model does not know their names")
        ]
    pairs = [f"{name} for {old}" for name, old in zip(given, trained, strict=True) if name != old]
    return list(range(n_systems)), [Message("note", "", f"systems in the order given: {', '.join(pairs)}")]
