"""Whatever a library raises over a damaged file becomes our own error, which names the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deciban.errors import DecibanError, FormatError
from deciban.io.contents import RowError

_OBJECT = re.compile(r"<[\w.]+ object at 0x[0-9a-fA-F]+>")
"""How Python shows what has no text: an address says nothing to anybody."""


@contextmanager
def only_format_errors(name: str, kind: str, where: Callable[[int], str] | None = None) -> Iterator[None]:
    """Turn every error inside the block into a `FormatError` that begins with the name of the file.

    Parameters
    ----------
    name : str
        What messages call the file.
    kind : str
        What the file should be, for messages.
    where : function, optional
        Names the place of a row; left out, it is the name and the row.

    Examples
    --------
    >>> with only_format_errors("dev.npy", "npy"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    deciban.errors.FormatError: dev.npy: damaged, or not npy as it should be (KeyError: 'shape'). Write the file again.
    """
    try:
        yield
    except RowError as error:
        row = error.row
        place = name if row is None else f"{name}, row {row}" if where is None else where(row)
        raise FormatError(f"{place}: {error}.") from error
    except DecibanError as error:
        message = str(error)
        raise FormatError(message if message.startswith(name) else f"{name}: {message}") from error
    # Libraries for binary files raise whatever their code stumbles over; none of it is a fault of the caller.
    except Exception as error:
        words = _OBJECT.sub("what is no plain value", f"{type(error).__name__}: {error}")
        reason = " ".join(words.split())[:300]
        raise FormatError(
            f"{name}: damaged, or not {kind} as it should be ({reason}). Write the file again."
        ) from error
