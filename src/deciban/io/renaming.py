"""What a user says about names that are compared: rules by their names, or a file of pairs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from deciban._files import display_name, require_file_name
from deciban.errors import InputError
from deciban.io.read import read_id_map
from deciban.trials.joining.renaming import RULES, Renaming, rules_in


def is_id_map_file(ids: Any) -> bool:
    """Whether this names a file, not rules.

    >>> is_id_map_file("map.csv"), is_id_map_file("basename"), is_id_map_file(None)
    (True, False, False)
    """
    return isinstance(ids, str | os.PathLike) and rules_in(ids) is None


def read_renaming(ids: Any) -> Renaming | None:
    """By which names trials are compared.

    Parameters
    ----------
    ids : str, path, sequence of str, or IdMap, optional
        As in `deciban.align`; or the file of an id map: what a name on the left, of the scores, is called on the right,
        in the key.

    Returns
    -------
    Renaming or None
        None if names are compared as they are.

    Raises
    ------
    InputError
        If there is neither such a rule nor such a file.
    FormatError, OSError
        If the file cannot be read.

    Examples
    --------
    >>> read_renaming("basename").rules
    ('basename',)
    """
    if not is_id_map_file(ids):
        return Renaming.of(ids)
    require_file_name(ids)
    if str(ids) != "-" and not Path(ids).exists():
        raise InputError(
            f"ids: {display_name(ids)!r} is none of {', '.join(RULES)} (or several of these with commas between them), "
            "and no file of an id map."
        )
    return Renaming(display_name(ids), id_map=read_id_map(ids))
