"""Frozen tables stay frozen: their arrays cannot be written to, and no caller holds a way round that."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from deciban.types import AnyArray


class Frozen:
    """A dataclass whose arrays are read-only, also after it was copied or pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        own: Any = self
        return type(self), tuple(getattr(self, field.name) for field in fields(own))

    def _freeze(self, *names: str) -> None:
        """Make arrays of a new object read-only; for ``__post_init__``."""
        for name in names:
            object.__setattr__(self, name, read_only(getattr(self, name)))


def read_only(array: Any) -> Any:
    """The same numbers as an array that refuses to be changed; what is none, or refuses already, as it is."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def owned(array: AnyArray, given: Any) -> AnyArray:
    """An array made from an argument, copied if the caller could still change it through that argument."""
    if isinstance(given, list | tuple):
        return array
    return array.copy() if np.may_share_memory(array, np.asarray(given)) else array
