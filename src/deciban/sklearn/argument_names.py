"""Error messages of models, with arguments called as in scikit-learn: ``X`` and ``y`` for scores and truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from deciban.errors import InputError


@contextmanager
def renaming_arguments(**names: str) -> Iterator[None]:
    """Rename the arguments with which messages begin."""
    try:
        yield
    except InputError as error:
        words = str(error)
        named = re.match(r"(\w+)(?:\[:, (\d+)\])?(?=[:,])", words)
        if named is None or named[1] not in names:
            raise
        system = "" if named[2] is None else f", system {named[2]}"
        raise InputError(names[named[1]] + system + words[named.end() :]) from error
