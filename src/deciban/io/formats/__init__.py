"""One small module per file format, which defines ``FORMAT`` (or ``FORMATS``) and is imported when it is needed."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from deciban.errors import InputError
from deciban.io.format import BinaryFormat, Format, TextFormat
from deciban.io.packing import unpacked_name

__all__ = [
    "SILENT_ENDINGS",
    "bare_name",
    "binary_formats",
    "by_name",
    "endings",
    "for_ending",
    "formats",
    "text_formats",
]

SILENT_ENDINGS = frozenset(
    (
        *(".txt", ".text", ".lst", ".list", ".out", ".dat", ".scores", ".score", ".scr", ".llr", ".key", ".keys"),
        *(".trl", ".trial", ".trials", ".ndx", ".index", ".idx", ".labels", ".quality", ".idmap"),
    )
)
"""Endings that say nothing of the format."""


_BINARY: dict[str, tuple[str, ...]] = {
    "arrow": ("arrow",),
    "bosaris_hdf5": ("bosaris-hdf5",),
    "bosaris_mat": ("bosaris-mat", "bosaris-mat73"),
    "dca_plda": ("dca-plda",),
    "hyperion": ("hyperion",),
    "npy": ("npy",),
    "npz": ("npz",),
    "parquet": ("parquet",),
    "pybosaris": ("pybosaris",),
    "sidekit": ("sidekit",),
}
"""Modules that need more than text does (HDF5, MATLAB, archives, ...), with the names of their formats: they are
imported when such a file is at hand. All other modules are data, and imported together."""

_ENDINGS = {
    "arrow": (".arrow", ".feather", ".ipc"),
    "bosaris-hdf5": (".h5", ".hdf5"),
    "bosaris-mat": (".mat",),
    "npy": (".npy",),
    "npz": (".npz",),
    "parquet": (".parquet", ".parq", ".pq"),
}
"""The file endings of these formats."""

_OF_KIND = {
    "Arrow": ("arrow",),
    "NumPy": ("npy",),
    "npz": ("npz",),
    "Parquet": ("parquet",),
    "folder": ("parquet",),
    "HDF5": ("bosaris_hdf5", "bosaris_mat", "dca_plda", "hyperion", "pybosaris", "sidekit"),
    "MATLAB": ("bosaris_mat",),
}
"""The modules whose formats could be in a file of a kind (`deciban.io.source.Source.kind`)."""


@cache
def formats() -> dict[str, Format]:
    """Every format by its name; this imports them all."""
    return {one.name: one for module in _modules() for one in _formats_of(module)}


@cache
def _modules() -> tuple[str, ...]:
    return tuple(sorted(one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_")))


@cache
def _formats_of(module: str) -> tuple[Format, ...]:
    home = importlib.import_module(f"{__name__}.{module}")
    return getattr(home, "FORMATS", None) or (home.FORMAT,)


@cache
def _of_text() -> dict[str, Format]:
    """The formats of files of text, by name."""
    return {one.name: one for module in _modules() if module not in _BINARY for one in _formats_of(module)}


@cache
def text_formats() -> dict[str, TextFormat]:
    """Formats of one trial per line."""
    return {name: one for name, one in _of_text().items() if isinstance(one, TextFormat)}


def binary_formats(kind: str | None = None) -> dict[str, BinaryFormat]:
    """All other formats, or those that a file of a kind could be in (`deciban.io.source.Source.kind`)."""
    modules = _modules() if kind is None else _OF_KIND.get(kind, ())
    found = (one for module in modules for one in _formats_of(module))
    return {one.name: one for one in found if isinstance(one, BinaryFormat)}


def by_name(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    asked: object = name
    if not isinstance(asked, str):
        raise InputError(f"format: got {asked!r}. It is the name of a format: {', '.join(formats())}.")
    home = next((module for module, names in _BINARY.items() if name in names), None)
    known = _of_text() if home is None else {one.name: one for one in _formats_of(home)}
    if name not in known:
        raise InputError(f"format: {name!r} is not known. There are {', '.join(formats())}.")
    return known[name]


def endings() -> dict[str, tuple[str, ...]]:
    """The file endings of every format that has some."""
    return {name: one.endings for name, one in _of_text().items() if one.endings} | _ENDINGS


def for_ending(file_name: str) -> Format | None:
    """The format that a file of this name is written in when none is asked for; None if the ending says nothing."""
    name = unpacked_name(file_name).casefold()
    found = next((one for one, own in endings().items() if name.endswith(own)), None)
    return None if found is None else by_name(found)


def bare_name(file_name: str) -> str:
    """The name of a file without all its endings that mean something.

    Examples
    --------
    >>> bare_name("dev.v2.scores.TXT.gz")
    'dev.v2'
    """
    known = {*SILENT_ENDINGS, *(ending for own in endings().values() for ending in own)}
    name = unpacked_name(file_name)
    while Path(name).suffix.casefold() in known:
        name = Path(name).stem
    return name
