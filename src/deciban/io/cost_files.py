"""Files of costs: actions, classes, and what each action costs when each class is true, as TOML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban._files import PathLike, display_name
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Prior
from deciban.decisions import Application
from deciban.errors import FormatError, InputError
from deciban.types import FloatArray

_KEYS = {"actions", "classes", "costs", "prior"}

_MOST = 1e300
"""Costs up to which sums and ratios of some are finite."""

EXAMPLE = 'actions = ["accept", "reject"]\nclasses = ["target", "nontarget"]\ncosts = [[0, 1], [10, 0]]'
"""What messages show."""


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """What each action costs when each class is true.

    Attributes
    ----------
    actions, classes : tuple of str
        Of two classes the first one is the target.
    costs : (n_actions, n_classes) array
        From 0 to 1e300.
    prior : (n_classes,) array or None
        If the file says one.
    name : str
        What messages call the file.
    """

    actions: tuple[str, ...]
    classes: tuple[str, ...]
    costs: FloatArray
    prior: FloatArray | None = None
    name: str = "costs"

    def application(self, prior: Prior | float | None = None) -> Application:
        """The costs at a prior.

        Parameters
        ----------
        prior : float, sequence, mapping of class to probability, "flat" or None
            One number is the prior of the first of two classes; None that of the file.

        Returns
        -------
        Application

        Raises
        ------
        InputError
            If it is no prior of these classes, or none is given and the file says none.
        """
        if prior is None:
            if self.prior is None:
                raise InputError(
                    f"prior: none is given, and {self.name} says none. Say how probable the classes are (--prior 0.01, "
                    "--prior flat), or write it into the file: prior = [0.01, 0.99]."
                )
            return Application(self.costs, self.prior)
        if isinstance(prior, float | int):
            if len(self.classes) != 2:
                raise InputError(f"prior: one number for {len(self.classes)} classes. Give one for each, by name.")
            if not 0.0 < prior < 1.0:
                raise InputError(
                    f"prior: {prior}. The probability of {self.classes[0]} is inside (0, 1): at 0 and 1 there is "
                    "nothing to decide."
                )
            return Application(self.costs, [prior, 1.0 - prior])
        return Application(self.costs, _validate_classes.prior_of(prior, self.classes))


def read_costs(path: PathLike) -> CostTable:
    """Read a file of costs.

    Parameters
    ----------
    path : path
        TOML with ``actions`` and ``classes``, lists of names, and ``costs``, a row of numbers for each action;
        ``prior`` may be there: a probability for each class, or one number, that of the first of two classes.

    Returns
    -------
    CostTable

    Raises
    ------
    FormatError
        If it is no TOML, a key is missing or unknown, or shapes do not agree; the message names key and row.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "costs.toml"
    >>> _ = path.write_text('actions = ["yes", "no"]\\nclasses = ["a", "b"]\\ncosts = [[0, 5], [1, 0]]')
    >>> table = read_costs(path)
    >>> table.actions, table.application(0.2).default_action
    (('yes', 'no'), 1)
    """
    name = display_name(path)
    try:
        found = tomllib.loads(Path(path).read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{name}: no TOML ({error}). A file of costs reads:\n{EXAMPLE}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: no text in UTF-8 ({error.reason} at byte {error.start}).") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        raise FormatError(f"{name}: numbers too long, or lists too deep. A file of costs reads:\n{EXAMPLE}") from error
    missing, unknown = {"actions", "classes", "costs"} - set(found), set(found) - _KEYS
    if missing or unknown:
        words = (
            f"has no {', '.join(sorted(missing))}" if missing else f"has {', '.join(sorted(unknown))}, which is none"
        )
        raise FormatError(
            f"{name}: {words}. A file of costs has actions, classes, costs and perhaps a prior:\n{EXAMPLE}"
        )
    actions, classes = (_names(found[key], key, name) for key in ("actions", "classes"))
    costs = _matrix(found["costs"], actions, classes, name)
    try:
        table = CostTable(actions, classes, costs, None, name)
        given = found.get("prior")
        prior = None if given is None else np.asarray(table.application(given).prior)
    except InputError as error:
        raise FormatError(f"{name}: {error}") from error
    return replace(table, prior=prior)


def _names(values: Any, key: str, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
        raise FormatError(f'{name}: {key}: expected a list of names, such as ["accept", "reject"], got {values!r}.')
    double = [one for one in dict.fromkeys(values) if values.count(one) > 1]
    if double:
        raise FormatError(f"{name}: {key}: {double[0]!r} is there {values.count(double[0])} times. Names are unique.")
    return tuple(values)


def _matrix(rows: Any, actions: tuple[str, ...], classes: tuple[str, ...], name: str) -> FloatArray:
    if not isinstance(rows, list) or len(rows) != len(actions):
        given = f"{len(rows)} rows" if isinstance(rows, list) else repr(rows)
        raise FormatError(f"{name}: costs: {given} for {len(actions)} actions. Give a row for each, in their order.")
    for action, row in zip(actions, rows, strict=True):
        if not isinstance(row, list) or len(row) != len(classes):
            raise FormatError(f"{name}: costs of {action}: {row!r} for {len(classes)} classes. Give a number for each.")
        for label, one in zip(classes, row, strict=True):
            is_number = isinstance(one, int | float) and not isinstance(one, bool)
            if not is_number or not 0.0 <= one <= _MOST:
                raise FormatError(
                    f"{name}: costs of {action} when {label} is true: {one!r}. Costs are numbers from 0 to 1e300."
                )
    return np.array(rows, np.float64)
