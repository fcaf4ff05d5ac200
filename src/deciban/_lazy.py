"""Packages whose names are imported when they are first used (PEP 562), so that nobody pays for what they leave alone.

What a package offers stands once, in the stub beside it (``__init__.pyi``), where type checkers and editors look:

    from deciban.evaluation.two_class import evaluate as evaluate

and ``__getattr__, __dir__ = late(__name__)`` in the package gives the same names to programs. No module of the package
may be called like one of these names: importing it would put the module in place of the name.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any


def late(package: str, beside: Iterable[str] = ()) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    beside : iterable of str
        Modules of the package that are found as well, but are not among what it offers.

    Returns
    -------
    two functions
        The first one imports, and remembers in the package what it found; the second one lists ``__all__``, which is
        all that the stub names.
    """
    module = sys.modules[package]

    @functools.cache
    def home_of() -> dict[str, str]:
        import ast

        path = f"{module.__file__}".removesuffix("c") + "i"  # .py or .pyc: .pyi
        stub = ast.parse(module.__spec__.loader.get_data(path))  # type: ignore[union-attr]  # as zipped packages want it
        found = {name.target.id: "" for name in stub.body if isinstance(name, ast.AnnAssign)}  # type: ignore[union-attr]
        for node in stub.body:
            if isinstance(node, ast.ImportFrom):
                found |= {f"{name.asname}": f"{node.module}" for name in node.names}
        return found

    def get(name: str) -> Any:
        if name == "__all__":
            found: Any = sorted(home_of())
        elif home_of().get(name) == package or name in beside:
            return importlib.import_module(f"{package}.{name}")
        elif name in home_of():
            found = getattr(importlib.import_module(home_of()[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module.__dict__[name] = found
        return found

    return get, lambda: list(get("__all__"))


_REGISTERED: dict[str, Callable[..., Any]] = {}


def register(**functions: Callable[..., Any]) -> None:
    """Offer functions of higher packages to lower ones, which call them by these names; see `deciban._views`."""
    _REGISTERED.update(functions)


def registered(name: str) -> Callable[..., Any]:
    """Return the function that `register` was given under a name."""
    return _REGISTERED[name]
