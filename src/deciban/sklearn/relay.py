"""What models say, in the words of scikit-learn and at the line of the user."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from deciban.errors import InputError

_INSIDE = {"contextlib", "deciban", "joblib", "sklearn"}


@contextmanager
def relayed(**names: str) -> Iterator[None]:
    """Rename the arguments with which messages begin, and let warnings point to the first line outside."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            yield
    except InputError as error:
        words = str(error)
        named = re.match(r"(\w+)(?:\[:, (\d+)\])?(?=[:,])", words)
        if named is None or named[1] not in names:
            raise
        system = "" if named[2] is None else f", system {named[2]}"
        raise InputError(names[named[1]] + system + words[named.end() :]) from error
    for one in told:
        warnings.warn(one.message, stacklevel=_level())


def _level() -> int:
    """How far the nearest code is that is neither ours nor scikit-learn's, for ``stacklevel``."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001  # what warnings itself counts by
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame = frame.f_back
        level += 1
    return level
