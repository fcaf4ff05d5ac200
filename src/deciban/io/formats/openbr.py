r"""Similarity matrices and masks of OpenBR (``.mtx``, ``.mask``), those of NIST's Biometric Evaluation Environment.

Four lines of text, then the cells row by row, probes down and gallery across::

    S2                            D2 if smaller scores favour a match (distances)
    gallery.xml                   what was enrolled
    probes.xml                    what was tested
    MF 100 20 xV4\x12             F: float32, a similarity; B: a byte, a mask. Rows, columns, and the integer 0x12345678
                                  as the machine stores it, from which the order of bytes follows

A mask says 0xff for a match (target), 0x7f for a non-match, and 0 for what is no trial. NaN among similarities is no
trial either: so Bob writes them. Names stand in other files; trials are called by their column and row, "3/20" the
third of 20, so that matrices of different sizes share none. Distances are read with the other sign, as OpenBR does it.
Layout, words and signs were seen in the code of OpenBR and of Bob, which reads and writes such files, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError, InputError
from deciban.io.contents import ContentKind, Contents, only_format_errors
from deciban.io.formats import Options
from deciban.io.source import Source
from deciban.trials import Index, Key, Origin, Trials
from deciban.types import AnyArray

_HEADER = re.compile(rb"([SD])2[^\n]*\n([^\n]*)\n([^\n]*)\nM([FB]) (\d{1,9}) (\d{1,9}) ([\x00-\xff]{4})\n")
_MAGIC = 0x12345678
_MATCH, _NO_MATCH, _NO_TRIAL = 0xFF, 0x7F, 0x00


@dataclass(frozen=True, slots=True)
class _Header:
    """What the four lines say.

    Attributes
    ----------
    length : int
        Of the lines, in bytes.
    kind : np.dtype
        Of a cell.
    shape : tuple of int
        Probes and gallery.
    is_distance : bool
    sets : pair of str
        What the lists of the gallery and of the probes are called.
    """

    length: int
    kind: np.dtype[Any]
    shape: tuple[int, int]
    is_distance: bool
    sets: tuple[str, str]


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if options.columns is not None:
        raise FormatError(f"{source.name}: a matrix of OpenBR has no columns to name. Leave out --columns.")
    with only_format_errors(source.name, "a matrix of OpenBR"):
        header = _header(source)
        cells = _cells(source, header).T  # the gallery down, as trials are listed
        what = "a mask" if header.kind.itemsize == 1 else "distances, with the other sign" if header.is_distance else ""
        size = f"{header.shape[1]:,} gallery x {header.shape[0]:,} probes"
        sets = f"{header.sets[0]} against {header.sets[1]}"
        origin = Origin(source.name, f"openbr, {size}{', ' if what else ''}{what}, {sets}")
        if header.kind.itemsize == 1:
            return _key(cells, origin)
        return _scores(cells, header, origin, options)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:  # noqa: ARG001  # nothing can be said otherwise
    """Scores, or a key if it is a mask."""
    return ("key",) if _header(source).kind.itemsize == 1 else ("scores",)


def _header(source: Source) -> _Header:
    found = _HEADER.match(source.head)
    if found is None:
        raise FormatError(
            f"{source.name}: no matrix of OpenBR: expected a line S2 or D2, two lines with the names of lists, and a "
            "line 'MF rows columns' or 'MB rows columns' with the order of bytes."
        )
    order = next((sign for sign in "<>" if np.frombuffer(found[7], f"{sign}i4")[0] == _MAGIC), None)
    if order is None:
        raise FormatError(
            f"{source.name}: the fourth line ends with the bytes {found[7].hex()}, expected 0x12345678 in the order of "
            "bytes of a machine. Write the file again, in binary mode."
        )
    kind: np.dtype[Any] = np.dtype(np.uint8) if found[4] == b"B" else np.dtype(f"{order}f4")
    sets = tuple(found[at].decode("utf-8", "replace").strip() or "a list without a name" for at in (2, 3))
    return _Header(found.end(), kind, (int(found[5]), int(found[6])), found[1] == b"D", (sets[0], sets[1]))


def _cells(source: Source, header: _Header) -> AnyArray:
    """The cells, probes down; refused if there are more or fewer of them than the header says."""
    rows, columns = header.shape
    expected, held = rows * columns * header.kind.itemsize, source.size - header.length
    if not expected or held != expected:
        why = "it was cut off" if held < expected else "something stands behind them"
        why = why if expected else "there is no trial"
        raise FormatError(
            f"{source.name}: {rows:,} x {columns:,} cells of {header.kind.itemsize} bytes are {expected:,} bytes, but "
            f"there are {held:,}: {why}. Write the file again."
        )
    with source.stream() as stream:
        stream.seek(header.length)
        data = stream.read(expected)
    return np.frombuffer(data, header.kind).reshape(rows, columns)


def _trials(cells: AnyArray, held: AnyArray, origin: Origin) -> Trials:
    """The cells that are trials, called by the numbers of their columns and rows."""
    if not held.any():
        raise FormatError(f"{origin.name}: no cell is a trial. Expected a score, or a match or non-match, in some.")
    gallery, probes = (pa.array([f"{at + 1}/{n}" for at in range(n)]) for n in cells.shape)
    try:
        return Trials.of_grid(gallery, probes, held, origin=origin)
    except InputError as error:
        raise FormatError(f"{origin.name}: {error}") from error


def _key(cells: AnyArray, origin: Origin) -> Contents:
    known = np.isin(cells, (_MATCH, _NO_MATCH, _NO_TRIAL))
    if not known.all():
        column, row = np.unravel_index(int(np.argmin(known)), cells.shape)
        raise FormatError(
            f"{origin.name}: the mask holds 0x{cells[column, row]:02x} in row {row + 1}, column {column + 1}; only "
            "0xff (match), 0x7f (non-match) and 0x00 (no trial) mean anything."
        )
    trials = _trials(cells, cells != _NO_TRIAL, origin)
    key = Key(trials, np.ascontiguousarray(cells if trials.mask is None else cells[trials.mask]).ravel() == _MATCH)
    return Contents(origin=origin, index=Index(trials), key=key)


def _scores(cells: AnyArray, header: _Header, origin: Origin, options: Options) -> Contents:
    held = ~np.isnan(cells)
    trials = _trials(cells, held, origin)
    score = np.ascontiguousarray(cells if trials.mask is None else cells[trials.mask]).ravel()
    score = score.astype(np.float32)  # in the order of bytes of this machine
    if header.is_distance:
        np.negative(score, out=score)
    n_absent = held.size - len(score)
    notes = (f"{n_absent:,} cells are NaN, and no trials.",) if n_absent else ()
    system = options.system(trials, score, options.name or "system")
    return Contents(origin=origin, index=Index(trials), systems=(system,), notes=notes)
