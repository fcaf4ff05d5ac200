"""Packages whose names are imported when they are first used (PEP 562), so that nobody pays for what they leave alone.

A package lists where its names live, once for programs and once for type checkers and editors:

    if TYPE_CHECKING:
        from deciban.evaluation.two_class import evaluate
    else:
        __getattr__, __dir__ = late(__name__, {"deciban.evaluation.two_class": ("evaluate",)})
    __all__ = ["evaluate"]

No module of the package may be called like one of these names: importing it would put the module in place of the name.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def late(
    package: str, homes: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to iterable of str
        For each module the names that live in it.
    modules : iterable of str
        Modules of the package that are names of it, too.

    Returns
    -------
    two functions
        The first one imports, and remembers in the package what it found; the second one lists ``__all__``.
    """
    namespace = sys.modules[package].__dict__
    home_of = {name: home for home, names in homes.items() for name in names}
    known = frozenset(modules)

    def get(name: str) -> Any:
        if name in home_of:
            namespace[name] = getattr(importlib.import_module(home_of[name]), name)
            return namespace[name]
        if name in known:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return list(namespace["__all__"])

    return get, names
