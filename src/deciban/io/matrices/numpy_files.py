"""Arrays of NumPy files, single and in archives: checked before memory is allocated; pickles are never loaded."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from collections.abc import Mapping
from typing import IO, Self

import numpy as np
import pyarrow as pa
from numpy.lib import format as npy_format

from deciban._arrow import pc
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError
from deciban.io.formats import truth_of
from deciban.io.source import Source
from deciban.types import AnyArray, BoolArray, IntArray, ScoreArray

MAGIC = b"\x93NUMPY"
MOST_CLASSES = 100_000
"""Largest plausible number of classes."""

_LONGEST_HEADER = 10_000
_BATCH = 1 << 24
_LARGEST_EXACT_INTEGER = 2**53
_NO_PICKLES = (
    "it contains Python objects, and deciban never loads pickles, because they can run any program. Save numbers as "
    "array.astype(float), names as array.astype(str)"
)
_KINDS = {"c": "complex numbers", "V": "records", "m": "time differences", "M": "dates"}


def read_array(stream: IO[bytes], n_bytes: int, name: str) -> AnyArray:
    """Read one array of numbers, booleans or text.

    Parameters
    ----------
    stream : binary stream
        At its beginning.
    n_bytes : int
        Number of bytes.
    name : str
        Name of the array for messages.

    Returns
    -------
    array
        In the byte order of this machine and the memory order of the file.

    Raises
    ------
    FormatError
        If the bytes are not exactly one array. This is checked before memory is allocated.
    """
    shape, fortran_order, dtype = read_header(stream, name)
    _check_type(dtype, name)
    n_values: int = math.prod(shape)
    n_promised, n_there = n_values * dtype.itemsize, n_bytes - stream.tell()
    if n_promised != n_there or (dtype.itemsize == 0 and n_values):
        raise FormatError(
            f"{name}: the header declares {' x '.join(f'{n:,}' for n in shape) or 'one'} {dtype} values in "
            f"{n_promised:,} bytes, but {n_there:,} bytes follow. The file is cut off or damaged: copy it again."
        )
    array = np.empty(n_values, dtype)
    _fill(array, stream, name)
    if not dtype.isnative:
        array = array.byteswap(inplace=True).view(dtype.newbyteorder("="))
    return array.reshape(shape[::-1]).T if fortran_order else array.reshape(shape)


def read_header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Return shape, memory order (True for Fortran order) and type from the header of an array.

    Raises
    ------
    FormatError
        If there is no header of an array, or it is longer than NumPy writes.
    """
    start = stream.read(len(MAGIC) + 2)
    version = tuple(start[len(MAGIC) :])
    if not start.startswith(MAGIC) or version not in ((1, 0), (2, 0)):
        raise FormatError(
            f"{name}: does not begin like a NumPy array in version 1 or 2 of the file format. Save it with numpy.save."
        )
    length = stream.read(2 if version == (1, 0) else 4)
    n_header = int.from_bytes(length, "little")
    if n_header > _LONGEST_HEADER:
        raise FormatError(f"{name}: the header declares a length of {n_header:,} bytes. The file is damaged.")
    header = io.BytesIO(length + stream.read(n_header))
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 2 wrote 3L, which NumPy can read
        shape, fortran_order, dtype = read(header, max_header_size=_LONGEST_HEADER)
    if any(n < 0 or isinstance(n, bool) for n in shape):
        raise FormatError(f"{name}: the header declares the shape {shape}. The file is damaged.")
    return shape, fortran_order, dtype


def _check_type(dtype: np.dtype[np.generic], name: str) -> None:
    if dtype.hasobject:
        raise FormatError(f"{name}: {_NO_PICKLES}.")
    if dtype.kind not in "biufUS" or (dtype.kind == "f" and dtype.itemsize > 8):
        what = _KINDS.get(dtype.kind, "numbers")
        raise FormatError(
            f"{name}: contains {what} ({dtype}). Expected booleans, integers, floats of at most 64 bits, or text: "
            "convert them before saving."
        )


def _fill(array: AnyArray, stream: IO[bytes], name: str) -> None:
    left = array.view(np.uint8).data
    while n_read := stream.readinto(left[:_BATCH]):  # type: ignore[attr-defined]
        left = left[n_read:]
    if len(left) or stream.read(1):  # reading to the end also checks the checksum of an archive
        raise FormatError(f"{name}: not the {array.nbytes:,} bytes that its header declares. Copy the file again.")


def as_scores(array: AnyArray, name: str) -> ScoreArray:
    """Return numbers as scores of any shape: float32 and float64 unchanged, others if they can be represented exactly.

    Raises
    ------
    FormatError
        If they are not numbers, too large, or NaN.
    """
    if array.dtype.kind not in "iuf":
        raise FormatError(f"{name}: contains {array.dtype} values, but scores must be numbers.")
    refuse_nan(array, name)
    return as_floats(array, name)


def as_floats(array: AnyArray, name: str) -> ScoreArray:
    """Return numbers as float64 or float32, without rounding.

    Raises
    ------
    FormatError
        If a number cannot be represented exactly.
    """
    if array.dtype.kind == "f":
        return array.astype(np.float32) if array.dtype.itemsize < 4 else array
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        extreme = max(int(array.max()), -int(array.min()))
        if extreme > _LARGEST_EXACT_INTEGER:
            raise FormatError(f"{name}: contains an integer beyond 2**53 ({extreme}), which no float can represent.")
    return array.astype(np.float64)


def refuse_nan(
    values: AnyArray,
    name: str,
    chosen: BoolArray | None = None,
    names: tuple[pa.Array, pa.Array] | None = None,
    start: int = 0,
) -> None:
    """Raise if the score of a trial is NaN, in scores or in some rows of a matrix of scores.

    Parameters
    ----------
    values : array
        Rows and columns, or one number for each trial.
    name : str
        Text for the place in messages.
    chosen : bool array, optional
        True for cells that are trials; by default all cells.
    names : pair of pyarrow arrays, optional
        Names of all rows and columns.
    start : int
        The first of the rows.

    Raises
    ------
    FormatError
        At the first NaN.
    """
    if not (values.dtype.kind == "f" and values.size and np.isnan(np.max(values))):
        return
    bad = np.isnan(values) if chosen is None else np.isnan(values) & chosen
    if not bad.any():
        return
    row, *column = (int(at) for at in np.unravel_index(int(np.argmax(bad)), bad.shape))
    where = f"row {start + row}" + (f", column {column[0]}" if column else "")
    if names is not None:
        where += f" ({names[0][start + row].as_py()}, {names[1][column[0]].as_py()})"
    way_out = "drop these trials" if chosen is None else "clear the mask there"
    raise FormatError(
        f"{name}: {np.count_nonzero(bad):,} of {bad.size if chosen is None else np.count_nonzero(chosen):,} scores are "
        f"NaN, the first in {where}. Infinite scores are allowed, NaN is not: repair the file, or {way_out}."
    )


def as_truth(array: AnyArray, name: str) -> BoolArray:
    """Return booleans, or numbers 0 and 1, as truth values.

    Raises
    ------
    FormatError
        If there is another value.
    """
    if array.dtype.kind == "b":
        return array
    refuse_text(array, name)
    known = (array == 0) | (array == 1)
    if not known.all():
        row = int(np.argmin(known.ravel()))
        raise FormatError(
            f"{name}, row {row}: the label is {array.ravel()[row]}, expected booleans, or 1 for target and 0 for "
            "non-target."
        )
    return np.asarray(array == 1)


def truth_by_words(array: AnyArray, vocabulary: Vocabulary, name: str) -> tuple[BoolArray, dict[str, bool]]:
    """Return labels as truth values, and the meaning of each label; see `truth_of`.

    Raises
    ------
    FormatError
        If a label has no known meaning.
    """
    refuse_text(array, name)
    if vocabulary.folded and not np.all(np.abs(array) == 1):
        return as_truth(array, name), {}
    return truth_of(pa.array(array.astype(np.float64) if array.dtype.kind == "f" else array), vocabulary)


def as_labels(array: AnyArray, name: str, n_classes: int = MOST_CLASSES, start: int = 0) -> IntArray:
    """Return integers from 0, of any type, as indices of classes; ``start`` is the first of the rows.

    Raises
    ------
    FormatError
        If a value is not such an integer.
    """
    refuse_text(array, name)
    with np.errstate(invalid="ignore"):
        labels = array.astype(np.int64)
    known = (labels == array) & (labels >= 0) & (labels < n_classes)
    if not known.all():
        row = int(np.argmin(known))
        raise FormatError(
            f"{name}, row {start + row}: the label is {array[row]}, expected the number of a class, an integer from 0 "
            f"below {n_classes:,}."
        )
    return labels


def of_one_hot(array: AnyArray) -> AnyArray:
    """Return the column of the 1 in each row of a one-hot matrix of labels; return other arrays unchanged.

    Examples
    --------
    >>> of_one_hot(np.array([[0, 1, 0], [0, 0, 1]])).tolist(), of_one_hot(np.array([[1, 1]])).tolist()
    ([1, 2], [[1, 1]])
    """
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "biuf":
        return array
    is_one = array == 1
    one_hot = bool(np.all(is_one | (array == 0))) and bool(np.all(is_one.sum(axis=1) == 1))
    return np.asarray(is_one.argmax(axis=1)) if one_hot else array


def as_names(array: AnyArray, name: str) -> pa.Array:
    """Return text as an Arrow array; bytes must be UTF-8.

    Raises
    ------
    FormatError
        If it is not text.
    """
    if array.dtype.kind not in "US" or array.ndim != 1:
        raise FormatError(f"{name}: expected a vector of text, got {array.dtype} values of shape {array.shape}.")
    characters = array.view(np.uint32 if array.dtype.kind == "U" else np.uint8).reshape(len(array), -1)
    broken = (characters[:, :-1] == 0) & (characters[:, 1:] != 0)
    if broken.any():  # Arrow would cut the name at the NUL character
        raise FormatError(f"{name}, row {int(np.argmax(broken.any(axis=1)))}: the name contains a NUL character.")
    try:
        return pc.cast(pa.array(array), pa.string())
    except (pa.ArrowException, ValueError, UnicodeError) as error:
        raise FormatError(f"{name}: contains invalid characters ({error}). Save it again.") from error


def refuse_text(array: AnyArray, name: str) -> None:
    """Raise if an array contains text, but numbers or booleans are expected."""
    if array.dtype.kind in "US":
        raise FormatError(f"{name}: contains text, expected numbers or booleans.")


_HARMLESS = 256 << 20
_RATIO = 200
"""An array above the first number of bytes may expand at most by the second factor. Zeros reach 1030."""


class Archive:
    """The arrays of an archive, read when they are needed.

    Parameters
    ----------
    source : Source

    Raises
    ------
    FormatError
        If two arrays have the same name, or an entry is not an array, encrypted, or expands implausibly.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self._zip = zipfile.ZipFile(source.seekable())
        self._entries: dict[str, zipfile.ZipInfo] = {}
        n_packed = 0
        for entry in self._zip.infolist():
            array = entry.filename.removesuffix(".npy")
            if array in self._entries:
                raise FormatError(f"{self.name}: two arrays are called {array!r}.")
            if array == entry.filename:
                raise FormatError(f"{self.name}: {array!r} is not an array. Only .npz archives can be read: unpack it.")
            self._check(entry, array)
            self._entries[array] = entry
            n_packed += entry.compress_size
        if n_packed > source.size:
            raise FormatError(f"{self.name}: its arrays overlap, or declare more bytes than there are. Save it again.")

    def _check(self, entry: zipfile.ZipInfo, array: str) -> None:
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(
                f"{self.name}: array {array!r} is encrypted, or has a compression that NumPy does not use. Save the "
                "file with numpy.savez or numpy.savez_compressed."
            )
        if entry.file_size > max(_HARMLESS, _RATIO * entry.compress_size):
            raise FormatError(
                f"{self.name}: array {array!r} would expand from {entry.compress_size:,} to {entry.file_size:,} bytes, "
                f"so this may be a decompression bomb. Above {_HARMLESS >> 20} MiB, the ratio must be at most "
                f"{_RATIO}. If you trust the file, save it again uncompressed, with numpy.savez."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays, in their order."""
        return tuple(self._entries)

    def shape(self, array: str) -> tuple[int, ...]:
        """Return the shape of one array from its header, without reading the rest.

        Raises
        ------
        FormatError
            If there is no valid header.
        """
        with self._zip.open(self._entries[array]) as stream:
            return read_header(stream, f"{self.name}: {array}")[0]

    def read(self, array: str) -> AnyArray:
        """Read one array.

        Raises
        ------
        FormatError
            If it does not agree with its header.
        """
        entry = self._entries[array]
        with self._zip.open(entry) as stream:
            return read_array(stream, entry.file_size, f"{self.name}: {array}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()


def write_archive(arrays: Mapping[str, AnyArray], stream: IO[bytes]) -> None:
    """Write arrays as numpy.savez does; text (four bytes per character) is compressed, numbers are not."""
    with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # with a constant date, so that equal data give equal bytes
            entry.compress_type = zipfile.ZIP_DEFLATED if array.dtype.kind == "U" else zipfile.ZIP_STORED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as member:
                npy_format.write_array(member, np.asanyarray(array), allow_pickle=False)


def n_classes_of(labels: IntArray) -> int:
    """Return the number of classes of labels from 0, at least two."""
    return max(2, int(labels.max()) + 1)


_WASTE = 4
"""An array of text above `_HARMLESS` bytes may be longer than its names by this factor."""


def text_of_names(names: pa.Array, array: str) -> AnyArray:
    """Return names as a NumPy array.

    Raises
    ------
    FormatError
        If they contain NUL characters, or the array would be mostly padding.
    """
    if pc.any(pc.match_substring(names, "\0")).as_py():
        raise FormatError(f"npz cannot contain NUL characters, which {array} has. Use parquet.")
    lengths = pc.utf8_length(names)
    n_bytes = 4 * len(names) * (pc.max(lengths).as_py() or 0)
    if n_bytes > max(_HARMLESS, _WASTE * 4 * (pc.sum(lengths).as_py() or 0)):
        raise FormatError(
            f"npz: {array} would be {n_bytes:,} bytes long, because NumPy stores all names with the length of the "
            "longest. Choose parquet."
        )
    return np.array(names.to_pylist(), np.str_)
