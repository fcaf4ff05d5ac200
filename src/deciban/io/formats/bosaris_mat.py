"""MATLAB files of the BOSARIS toolkit's layout: one struct variable. Read in versions 5 (``-v6``, ``-v7``) and 7.3.

========  =======================================================================================================
``ndx``   ``modelset`` (m x 1 cells of text), ``segset`` (n x 1), ``trialmask`` (m x n logical)
``key``   ``modelset``, ``segset``, ``tar``, ``non`` (m x n logical)
``scr``   ``modelset``, ``segset``, ``scoremat`` (m x n double or single), ``scoremask`` (m x n logical)
``qual``  of segments: ``ids`` (n x 1 cells), ``values`` (q x n); of both sides: ``modelset``, ``segset``, ``modelQ``
          (q x m), ``segQ`` (q x n), ``hasmodel``, ``hasseg`` (1 x m, 1 x n logical), ``scoremask``. Unverified
``idmap``  ``leftids``, ``rightids`` (cells of text). Unverified
========  =======================================================================================================

Names of quality measures are a list of ours (``measures``; ``modelmeasures``, ``segmeasures``), left out for q1, q2...
Version 5 is written unless version 7.3 is asked for by name (``bosaris-mat73``), which has room for more than 2 GB.

A file is recognized by its header alone, and the name of its struct tells what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import KIND_OF, ContentKind, Contents, Item, Written
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.matrices.from_tables import Fields, Mask, fields_of, item_to_write, matrix_of, without_nul, written_of
from deciban.io.matrices.hdf5 import Hdf5, opened
from deciban.io.matrices.matlab5 import Value, load_struct, read_cells, read_field, variables, write_struct
from deciban.io.matrices.named_matrix import Grid, Matrix, Names, measures_of
from deciban.io.source import Source
from deciban.trials import IdMap, Key, Origin, Trials
from deciban.types import AnyArray, BoolArray

NAME, NAME73 = "bosaris-mat", "bosaris-mat73"
_LARGEST = 2**31 - 1
"""Bytes that a variable of version 5 may have."""


@dataclass(frozen=True, slots=True)
class _Struct:
    """A struct of either version: how its fields are looked up, and what messages call them."""

    source: str
    variable: str
    has: Callable[[str], bool]
    cells: Callable[[str], list[str]]
    numbers: Callable[[str], Matrix]

    def names(self, field: str) -> Names:
        """The names in a cell array."""
        place = self._required(field)
        return Names(pa.array(self.cells(field), pa.string()), place)

    def matrix(self, field: str) -> Matrix:
        """The numbers of a matrix."""
        self._required(field)
        return self.numbers(field)

    def _required(self, field: str) -> str:
        """What messages call a field, which has to be there."""
        place = f"{self.source}, {self.variable}.{field}"
        if not self.has(field):
            raise FormatError(f"{place}: there is no such field. Save the struct again.")
        return place

    def optional(self, field: str) -> Matrix | None:
        """The numbers of a matrix that need not be there."""
        return self.numbers(field) if self.has(field) else None

    def flags(self, field: str) -> BoolArray | None:
        """A list of 0 and 1 that need not be there."""
        return np.ravel(self.numbers(field).only((0, 1)) == 1) if self.has(field) else None

    def words(self, field: str) -> list[str] | None:
        """A list of words that need not be there."""
        return self.cells(field) if self.has(field) else None


def is_version_5(source: Source) -> bool:
    """Whether the header is that of version 5."""
    return source.head.startswith(b"MATLAB 5.0 MAT-file")


def is_version_73(source: Source) -> bool:
    """Whether the header is that of version 7.3, which is HDF5."""
    return source.head.startswith(b"MATLAB 7.3 MAT-file")


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if is_version_5(source):
        with only_format_errors(source.name, "a MATLAB file"):
            found = variables(source)
            variable = _chosen(source, list(found), options)
            struct = _of_version_5(source, variable, load_struct(source, variable, *found[variable]))
            return _READERS[variable](struct, options)
    with opened(source) as file:
        variable = _chosen(source, [one for one in _READERS if file.has(f"/{one}")], options)
        return _READERS[variable](_of_version_73(file, variable), options)


def _chosen(source: Source, found: list[str], options: Options) -> str:
    """The variable to read: the only one whose name is known, or the one that holds what is needed."""
    known = [one for one in _READERS if one in found]
    wanted = _VARIABLE_OF.get(options.need)
    if wanted is not None and wanted in known:
        return wanted
    if len(known) == 1:
        return known[0]
    if known:
        raise FormatError(f"{source.name}: holds {' and '.join(known)}. Save the one that is meant to its own file.")
    there = f"; there are {', '.join(sorted(found)[:20])}" if found else ""
    raise FormatError(f"{source.name}: no variable {', '.join(_READERS)} of the BOSARIS layout{there}.")


def _of_version_5(source: Source, variable: str, fields: Mapping[str, Value]) -> _Struct:
    def cells(field: str) -> list[str]:
        value = fields[field]
        if isinstance(value, list):
            return value
        if isinstance(value, np.ndarray) and not value.size:
            return []
        raise FormatError(f"{source.name}, {variable}.{field}: expected a cell array of text. In MATLAB: cellstr(...).")

    def numbers(field: str) -> Matrix:
        value = fields[field]
        if isinstance(value, np.ndarray) and value.ndim == 2:
            return Matrix.of(value, f"{source.name}, {variable}.{field}")
        raise FormatError(f"{source.name}, {variable}.{field}: expected a matrix of numbers.")

    return _Struct(source.name, variable, fields.__contains__, cells, numbers)


def _of_version_73(file: Hdf5, variable: str) -> _Struct:
    home = f"/{variable}/"
    return _Struct(
        file.name,
        variable,
        lambda field: file.has(home + field),
        lambda field: read_cells(file, home + field),
        lambda field: read_field(file, home + field),
    )


def _grid(struct: _Struct, options: Options) -> Grid:
    return Grid(struct.source, NAME, struct.names("modelset"), struct.names("segset"), options)


def _read_index(struct: _Struct, options: Options) -> Contents:
    return _grid(struct, options).trial_mask(struct.matrix("trialmask"), is_key=False)


def _read_key(struct: _Struct, options: Options) -> Contents:
    return _grid(struct, options).key(struct.matrix("tar"), struct.matrix("non"))


def _read_scores(struct: _Struct, options: Options) -> Contents:
    return _grid(struct, options).scores(struct.matrix("scoremat"), struct.optional("scoremask"))


def _read_quality(struct: _Struct, options: Options) -> Contents:
    if struct.has("ids"):
        table, notes = measures_of(
            struct.names("ids"), struct.matrix("values"), struct.words("measures"), struct.source
        )
        return Contents(origin=Origin(struct.source, f"{NAME} segment quality"), segment_quality=table, notes=notes)
    return _grid(struct, options).quality(
        (struct.optional("modelQ"), struct.optional("segQ")),
        (struct.flags("hasmodel"), struct.flags("hasseg")),
        (struct.words("modelmeasures"), struct.words("segmeasures")),
        struct.optional("scoremask"),
    )


def _read_id_map(struct: _Struct, options: Options) -> Contents:  # noqa: ARG001  # all readers are called alike
    left, right = struct.names("leftids"), struct.names("rightids")
    id_map = IdMap.from_columns(left.values, right.values, source=struct.source)
    return Contents(origin=Origin(struct.source, f"{NAME} id map"), id_map=id_map)


_READERS: dict[str, Callable[[_Struct, Options], Contents]] = {
    "ndx": _read_index,
    "key": _read_key,
    "scr": _read_scores,
    "qual": _read_quality,
    "idmap": _read_id_map,
}
_VARIABLE_OF: dict[ContentKind | None, str] = {
    "index": "ndx",
    "key": "key",
    "scores": "scr",
    "quality": "qual",
    "segment-quality": "qual",
    "id-map": "idmap",
}


_CALLED = {
    "row_ids": "modelset",
    "column_ids": "segset",
    "scores": "scoremat",
    "score_mask": "scoremask",
    "trial_mask": "trialmask",
    "has_row": "hasmodel",
    "has_column": "hasseg",
    "model_measures": "modelmeasures",
    "seg_measures": "segmeasures",
    "left_ids": "leftids",
    "right_ids": "rightids",
}
"""What MATLAB calls fields that have other names in HDF5 files."""


def _fields_of(item: Item) -> dict[str, list[str] | AnyArray]:
    """The struct of a table."""
    return {_CALLED.get(field, field): _value(value) for field, value in fields_of(item, NAME, _of_key).items()}


def _of_key(key: Key) -> tuple[Trials, Fields]:
    grid, targets = matrix_of(key.trials, key.is_target)
    return grid, {"tar": targets, "non": Mask.of(grid).full() & ~targets}


def _value(value: pa.Array | AnyArray | Mask) -> list[str] | AnyArray:
    if isinstance(value, Mask):
        return value.full()
    if isinstance(value, np.ndarray):
        return value if value.ndim == 2 else value[None, :]
    return list(without_nul(value, "MATLAB").to_pylist())


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    import scipy.io

    item = item_to_write(contents, NAME)
    fields = _fields_of(item)
    n_bytes = sum(value.nbytes if isinstance(value, np.ndarray) else 0 for value in fields.values())
    if n_bytes > _LARGEST:
        raise FormatError(
            f"{NAME}: {n_bytes:,} bytes do not fit a MATLAB file of version 5, which ends at 2 GB. Choose {NAME73} or "
            "bosaris-hdf5."
        )
    struct = {
        field: np.array(value, object)[:, None] if isinstance(value, list) else value for field, value in fields.items()
    }
    scipy.io.savemat(cast("Any", stream), {_VARIABLE_OF[KIND_OF[type(item)]]: struct})
    return written_of(item)


def write73(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of version 7.3."""
    item = item_to_write(contents, NAME73)
    write_struct(stream, _VARIABLE_OF[KIND_OF[type(item)]], _fields_of(item))
    return written_of(item)
