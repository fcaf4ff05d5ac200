"""Lazy imports: names of a package are imported when they are first used (PEP 562).

The public names of a package are listed once, in its stub (``__init__.pyi``), where type checkers and editors look:

    from deciban.evaluation.two_class.evaluate import evaluate as evaluate

``__getattr__, __dir__ = late(__name__)`` in the package provides the same names at run time. A module of the package
must not have one of these names, because its import would replace the name by the module.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any


def late(package: str, beside: Iterable[str] = ()) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` for a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    beside : iterable of str
        Modules of the package that can be imported as attributes but are not in ``__all__``.

    Returns
    -------
    two functions
        The first one imports a name and stores it in the package; the second one returns ``__all__``, which is the list
        of names in the stub.
    """
    module = sys.modules[package]

    @functools.cache
    def home_of() -> dict[str, str]:
        import ast

        path = f"{module.__file__}".removesuffix("c") + "i"  # .py or .pyc: .pyi
        stub = ast.parse(module.__spec__.loader.get_data(path))  # type: ignore[union-attr]  # also works in zip files
        entries = {name.target.id: "" for name in stub.body if isinstance(name, ast.AnnAssign)}  # type: ignore[union-attr]
        for node in stub.body:
            if isinstance(node, ast.ImportFrom):
                entries |= {f"{name.asname}": f"{node.module}" for name in node.names}
        return entries

    def get(name: str) -> Any:
        if name == "__all__":
            result: object = sorted(home_of())
        elif home_of().get(name) == package or name in beside:
            return importlib.import_module(f"{package}.{name}")
        elif name in home_of():
            result = getattr(importlib.import_module(home_of()[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module.__dict__[name] = result
        return result

    return get, lambda: list(get("__all__"))


_REGISTERED: dict[str, dict[str, str]] = {}


def register(**places: dict[str, str]) -> None:
    """Register objects of higher packages by topic and name, so that lower packages can use them.

    Parameters
    ----------
    **places : dict of str
        For each topic, the place of each name: ``"package.module:object"``, or ``"package"``. It is imported when it is
        used. `deciban` itself registers all places, whatever package is imported first.
    """
    _REGISTERED.update(places)


def registered(topic: str, name: str) -> Any:
    """Return the object that is registered under a topic and a name."""
    import pkgutil

    return pkgutil.resolve_name(_REGISTERED[topic][name])


def registered_names(topic: str) -> list[str]:
    """Return the sorted names of a topic. Files that name one of them cannot add any."""
    return sorted(_REGISTERED[topic])


class LateMethod:
    """Method of a dataclass that is compiled at its first use, when it replaces this object in its class."""

    def __init__(self, name: str, create: Callable[[], Any]) -> None:
        self.__name__, self._create = name, create

    def __get__(self, instance: object, owner: type) -> Any:
        result = self._create()
        for one in owner.__mro__:
            if one.__dict__.get(self.__name__) is self:
                result.__qualname__ = f"{one.__qualname__}.{self.__name__}"
                setattr(one, self.__name__, result)
        return result.__get__(instance, owner)


def compile_methods_late() -> None:
    """Compile the methods of our dataclasses at their first use: most of them are never called by a command.

    This changes private functions of `dataclasses` (Python 3.11 and 3.12; later ones have other, faster ones) in this
    process, for classes of deciban only. So only the program calls it, not the library.
    """
    import dataclasses  # not with the package

    originals: Any = dict(vars(dataclasses))
    is_ours = False

    def process(cls: type, *args: object) -> object:
        nonlocal is_ours
        is_ours = cls.__module__.startswith("deciban.")
        try:
            return originals["_process_class"](cls, *args)
        finally:
            is_ours = False

    def late(function: str, name: str, *args: Any, **more: object) -> object:
        result = functools.partial(originals[function], *args, **more)
        return LateMethod(name or args[0], result) if is_ours else result()

    def is_type(annotation: str, *args: object) -> bool:
        is_rare = "Var" in annotation or "KW_ONLY" in annotation or not is_ours
        return is_rare and bool(originals["_is_type"](annotation, *args))

    names = {"_create_fn": "", "_init_fn": "__init__", "_repr_fn": "__repr__"}
    changed = {function: functools.partial(late, function, name) for function, name in names.items()}
    if "_create_fn" in originals:
        vars(dataclasses).update(changed, _process_class=process, _is_type=is_type)


_UNUSED = {"char", "core", "ctypeslib", "f2py", "ma", "matlib", "polynomial", "random", "rec", "strings", "testing"}
"""Packages of NumPy that SciPy does not use, although it imports them."""


class _Shortened:
    """Finder without modules: when SciPy is first imported, it shortens the list of NumPy's names."""

    is_done = False

    def find_spec(self, name: str, *_: object) -> None:
        if name == "scipy" and not self.is_done:
            import numpy as np

            self.is_done = True
            names = [one for one in dir(np) if one not in _UNUSED]
            np.__all__ = [one for one in np.__all__ if one not in _UNUSED]
            np.__dir__ = lambda: names  # type: ignore[method-assign]


def import_less_with_scipy() -> None:
    """Keep SciPy from importing all packages of NumPy, which takes a fifth of the time of a small command.

    SciPy copies all names that NumPy lists, and thereby imports even f2py. NumPy finds the omitted names as before,
    but no longer lists them in this process. So only the program calls this function, not the library.
    """
    sys.meta_path.insert(0, _Shortened())
