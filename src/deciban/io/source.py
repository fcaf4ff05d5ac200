"""Bytes of files and streams, compressed or not; files of a folder or pattern; detection of copies."""

from __future__ import annotations

import bz2
import filecmp
import glob
import gzip
import hashlib
import io
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

import pyarrow as pa

from deciban import errors
from deciban._files import content_of, stream_of
from deciban.errors import FormatError, InputError, not_none, option, teller
from deciban.types import Json, PathLike, Readable

_HARMLESS = 256 << 20
"""Number of bytes that any compressed file may expand to, however small it is."""

_BLOCK = 1 << 20


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Codec:
    """A compression method: its file ending, its first bytes, and how to decompress and compress.

    ``ratio`` is the largest accepted ratio of decompressed to compressed bytes. Sorted lists of trials with very long
    names reach 110 with gzip, 300 with bzip2 and zstd. Zeros reach 229 with the fastest gzip, 1,028 with the best,
    32,000 with zstd and 600,000 with bzip2.
    """

    name: str
    ending: str
    tool: str
    magic: re.Pattern[bytes]
    ratio: int
    open: Callable[[BinaryIO], _Reader]
    pack: Callable[[IO[bytes]], Any]


class _Bzip2:
    """Reader for all streams of a bzip2 file. Unlike `bz2.BZ2File`, it detects data after the last stream."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._stream = bz2.BZ2Decompressor()

    def read(self, size: int, /) -> bytes:
        while True:
            if self._stream.eof:
                rest = self._stream.unused_data or self._packed.read(_BLOCK)
                if not rest:
                    return b""
                self._stream = bz2.BZ2Decompressor()
            else:
                rest = self._packed.read(1 << 16) if self._stream.needs_input else b""
                if self._stream.needs_input and not rest:
                    raise EOFError("compressed file ended before the end-of-stream marker")
            data = self._stream.decompress(rest, size)
            if data:
                return data


def _zstd(packed: BinaryIO) -> _Reader:
    stream: _Reader = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")
    return stream


def _to_gzip(stream: IO[bytes]) -> Any:
    return gzip.GzipFile("", "wb", 6, stream, mtime=0)  # no name and no time, so that equal data give equal bytes


def _to_zstd(stream: IO[bytes]) -> Any:
    # Arrow closes its stream.
    return pa.CompressedOutputStream(os.fdopen(os.dup(stream.fileno()), "wb"), "zstd")


_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
# Parallel zstd writes a skippable frame first.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

CODECS = (
    Codec("gzip", ".gz", "gzip -dc", re.compile(rb"\x1f\x8b"), 200, gzip.open, _to_gzip),
    Codec("bzip2", ".bz2", "bzip2 -dc", _BZIP2, 1000, _Bzip2, partial(bz2.BZ2File, mode="wb")),
    Codec("zstd", ".zst", "zstd -dc", _ZSTD, 1000, _zstd, _to_zstd),
)


def codec_for(file_name: str) -> Codec | None:
    """Return the compression for a file name, or None."""
    ending = Path(file_name).suffix.casefold()
    return next((codec for codec in CODECS if codec.ending == ending), None)


def unpacked_name(file_name: str) -> str:
    """Return a file name without the ending of a compression method."""
    codec = codec_for(file_name)
    return file_name if codec is None else file_name[: -len(codec.ending)]


def codec_of(head: bytes) -> Codec | None:
    """Return the compression of data that begin with these bytes, or None."""
    return next((codec for codec in CODECS if codec.magic.match(head)), None)


def _length(stream: BinaryIO) -> int:
    """Return the number of bytes from here to the end."""
    here = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(here)
    return end - here


def unpack(packed: BinaryIO, codec: Codec, name: str, size: int | None = None) -> bytes:
    """Decompress a stream, or its first ``size`` bytes.

    Parameters
    ----------
    packed : binary stream
        A seekable stream at its beginning.
    codec : Codec
    name : str
        Name for messages.
    size : int, optional

    Raises
    ------
    FormatError
        If the data are damaged or incomplete, followed by other data, compressed twice, or expand implausibly.
    """
    out = io.BytesIO()
    unpack_into(out, packed, codec, name, size)
    return out.getvalue()


def unpack_into(out: IO[bytes], packed: BinaryIO, codec: Codec, name: str, size: int | None = None) -> None:
    """Decompress into another stream; see `unpack`.

    Raises
    ------
    FormatError
        As in `unpack`.
    OSError
        If writing fails.
    """
    n_out, tell = 0, teller(_length(packed), "bytes") if size is None else None
    for block in _blocks(packed, codec, name, size):
        if not n_out and codec_of(block[:16]) is not None:
            raise FormatError(
                f"{name}: compressed twice, last with {codec.name}. Decompress it once: {codec.tool} FILE > COPY."
            )
        out.write(block)
        n_out += len(block)
        if tell is not None:
            tell(packed.tell())
        if n_out > max(_HARMLESS, codec.ratio * packed.tell()):
            raise FormatError(
                f"{name}: {packed.tell():,} bytes of {codec.name} expand to more than {n_out:,}, so this may be a "
                f"decompression bomb. Above {_HARMLESS >> 20} MiB, the ratio must be at most {codec.ratio}. If you "
                f"trust the file, decompress it yourself: {codec.tool} FILE | deciban ... -"
            )


def _blocks(packed: BinaryIO, codec: Codec, name: str, size: int | None) -> Iterator[bytes]:
    n_out = 0
    try:
        stream = codec.open(packed)
        while size is None or n_out < size:
            block = stream.read(_BLOCK if size is None else size - n_out)
            if not block:
                return
            n_out += len(block)
            yield block
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FormatError(f"{name}: compressed data are damaged or cut off ({error}). Copy the file again.") from error


_KINDS = {
    "HDF5": re.compile(rb"\x89HDF\r\n\x1a\n"),
    "NumPy": re.compile(rb"\x93NUMPY"),
    "Parquet": re.compile(rb"PAR[1E][\x00-\x08\x0e-\x1f]"),
    "Arrow": re.compile(rb"ARROW1\x00\x00|\xff\xff\xff\xff|FEA1\x00"),
    # Archives from numpy.savez contain only arrays, so the first entry is sufficient.
    "npz": re.compile(rb"(?s)PK\x03\x04.{26}[^\x00]{1,300}?\.npy"),
    "Excel": re.compile(rb"(?s)PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/|docProps/|xl/)"),
    "old Excel": re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    "zip": re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"),
    "MATLAB": re.compile(rb"MATLAB (?:5\.0|7\.3) MAT-file"),
    # Protocols 2 to 5 have a magic number; older ones begin with objects, dictionaries or lists.
    "pickle": re.compile(rb"\x80[\x02-\x05]|c[\w.]+\n_reconstruct(?:or)?\n|\([dl]p\d+\n|[\]}]q\x00"),
    "JSON": re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"'),
    "OpenBR": re.compile(rb"[SD]2[^\n]{0,9}\n[^\n]{0,1000}\n[^\n]{0,1000}\nM[FB] \d+ \d+ "),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "tar": re.compile(rb"(?s).{257}ustar"),
    "7z": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "rar": re.compile(rb"Rar!\x1a\x07"),
    "UTF-32": re.compile(rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff"),
    # With a byte order mark, or with every second byte zero as in Latin text.
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff|(?:[\t\n\r -~]\x00){4}|(?:\x00[\t\n\r -~]){4}"),
}
"""First bytes of files that are not text."""


_USER_BLOCKS = (512, 1024, 2048)
"""Offsets at which an HDF5 file may begin after a user block."""


_ADVICE = {
    "pickle": "deciban never loads pickles, because they can run any program. Save the arrays with numpy.save",
    "zip": "The only zip archives that deciban reads are .npz files. Unpack it and name the file inside",
    "tar": "It is an archive of files. Unpack it (tar -xf) and name the files inside",
    "7z": "It is an archive of files. Unpack it and name the files inside",
    "rar": "It is an archive of files. Unpack it and name the files inside",
    "Excel": "Save the sheet as CSV",
    "old Excel": "Save the sheet as .xlsx or CSV",
    "UTF-16": "Text must be UTF-8. Save it as CSV UTF-8, or convert it: iconv -f utf-16 -t utf-8 FILE > COPY",
    "UTF-32": "Text must be UTF-8. Convert it: iconv -f utf-32 -t utf-8 FILE > COPY",
    "xz": "Only gzip, bzip2 and zstd can be decompressed. Decompress it yourself: xz -dc FILE | deciban ... -",
}

_HEAD = 4096

_COMMENT = re.compile(rb"(?m)^[ \t\v\f]*(?:#|;;).*$")

BLANKS = " \t\v\f"
"""White space inside a line. Other blanks of Unicode are part of a name."""


@dataclass(frozen=True, slots=True)
class TwoFiles:
    """Two files that are one input: scores of targets, and scores of non-targets by the same system.

    Attributes
    ----------
    tar, non : path
        As in `deciban.io.read_contents`.
    """

    tar: PathLike
    non: PathLike

    def __str__(self) -> str:
        """Return the name of both for messages."""
        return f"{errors.display_name(self.tar)} + {errors.display_name(self.non)}"


def single_files(inputs: Iterable[PathLike | TwoFiles | None]) -> list[PathLike]:
    """Return all files, with the two files of a `TwoFiles` as separate entries.

    Examples
    --------
    >>> single_files(["key.txt", None, TwoFiles("same.txt", "different.txt")])
    ['key.txt', 'same.txt', 'different.txt']
    """
    named = [one for one in inputs if one is not None]
    return [path for one in named for path in ((one.tar, one.non) if isinstance(one, TwoFiles) else (one,))]


def require_one_stream(paths: Iterable[object]) -> None:
    """Raise if standard input is used twice, because it can be read only once.

    Parameters
    ----------
    paths : iterable
        All inputs of a call; objects that are not names, such as None, are ignored.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_one_stream(["-", None, "key.txt"])
    >>> require_one_stream(["-", "-"])
    Traceback (most recent call last):
    deciban.errors.InputError: standard input (-) can be read only once, but 2 inputs use it. Save all but one to files,
    and name these.
    """
    n_streams = [str(path) for path in paths if isinstance(path, str | os.PathLike)].count("-")
    if n_streams > 1:
        raise InputError(
            f"standard input (-) can be read only once, but {n_streams} inputs use it. Save all but one to files, and "
            "name these."
        )


def files_of(path: Readable) -> list[Any]:
    """Return the files that match a pattern, or the path itself if it is not a pattern.

    Raises
    ------
    InputError
        If no file matches the pattern, or the name is empty.
    """
    errors.require_file_name(path)
    text = str(path)
    if errors.is_open_file(path) or text == "-" or not set(text) & set("*?[") or Path(text).exists():
        return [path]
    result: list[Any] = [*sorted(glob.glob(text, recursive=True))]  # noqa: PTH207  # a whole path, absolute or not
    if not result:
        raise InputError(f"{errors.display_name(path)}: no file matches this pattern.")
    return result


class Source:
    """One input: a file, a folder, standard input or an open file; compressed or not. It is read once, when needed.

    Attributes
    ----------
    path : path
    name : str
        Name for messages.
    """

    def __init__(self, path: Readable) -> None:
        errors.require_file_name(path)
        value: Any = path
        self._file: Any = value if errors.is_open_file(path) else None
        self.name = errors.display_name(path)
        self.path: PathLike = value if self._file is None else self.name

    @cached_property
    def is_folder(self) -> bool:
        """True for a folder (a partitioned table)."""
        return self._is_path and Path(self.path).is_dir()

    @property
    def _is_path(self) -> bool:
        return self._file is None and str(self.path) != "-"

    @cached_property
    def is_file(self) -> bool:
        """True if the bytes can be read more than once."""
        return self._is_path and Path(self.path).is_file()

    @property
    def is_plain(self) -> bool:
        """True for a regular file without compression."""
        return self.is_file and self._codec is None

    @cached_property
    def _streamed(self) -> bytes:
        if self._file is not None:
            return content_of(self._file, self.name)
        with stream_of(self.path) as stream:
            content: bytes = stream.read()
            return content

    def _open(self) -> BinaryIO:
        return Path(self.path).open("rb") if self.is_file else io.BytesIO(self._streamed)

    @cached_property
    def _codec(self) -> Codec | None:
        with self._open() as stream:
            return codec_of(stream.read(16))

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file, decompressed.

        Raises
        ------
        FormatError
            If they are compressed and damaged, or expand implausibly.
        OSError
            If they cannot be read.
        """
        if self._codec is None:
            return Path(self.path).read_bytes() if self.is_file else self._streamed
        with self._open() as stream:
            return unpack(stream, self._codec, self.name)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed, to recognize a format; empty for a folder."""
        if self.is_folder:
            return b""
        with self._open() as stream:
            return stream.read(_HEAD) if self._codec is None else unpack(stream, self._codec, self.name, _HEAD)

    @property
    def size(self) -> int:
        """The number of bytes, decompressed."""
        return Path(self.path).stat().st_size if self.is_file and self._codec is None else len(self.data)

    @property
    def kind(self) -> str:
        """The kind of data by their first bytes: a key of ``_KINDS``, ``folder``, ``binary`` (unknown), or ``text``."""
        if self.is_folder:
            return "folder"
        head = self.head
        kind = next((kind for kind, begin in _KINDS.items() if begin.match(head)), None)
        if kind is None and any(_KINDS["HDF5"].match(head, start) for start in _USER_BLOCKS):
            kind = "HDF5"
        return kind or ("binary" if b"\x00" in head else "text")

    @property
    def is_binary(self) -> bool:
        """True for data other than text."""
        return self.kind != "text"

    def seekable(self) -> Path | io.BytesIO:
        """Return an argument for libraries that open binary files: the path, or the decompressed bytes."""
        return Path(self.path) if self.is_file and self._codec is None else io.BytesIO(self.data)

    def stream(self) -> BinaryIO:
        """Return all bytes, decompressed, as a stream."""
        opened = self.seekable()
        return opened.open("rb") if isinstance(opened, Path) else opened


@contextmanager
def as_file(value: Any, source: Source, copy: Path) -> Iterator[Path]:
    """Yield an uncompressed file with the same content, which is never in memory as a whole."""
    if source.is_plain:
        yield Path(value)
        return
    try:
        with copy.open("wb") as out:
            if source.is_file:
                _unpack(source, out)
            else:
                _pour(value, out)
        again = Source(copy)
        if not again.is_plain:
            again.name = source.name
            with copy.with_suffix(".plain").open("wb") as out:
                _unpack(again, out)
            copy.with_suffix(".plain").replace(copy)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def _unpack(source: Source, out: IO[bytes]) -> None:
    with Path(source.path).open("rb") as packed:
        codec = not_none(codec_of(packed.read(16)), "compression")
        packed.seek(0)
        unpack_into(out, packed, codec, source.name)


def _pour(value: Any, out: IO[bytes]) -> None:
    """Copy the rest of a stream."""
    if errors.is_open_file(value):
        while block := value.read(1 << 20):
            out.write(block.encode("utf-8", "surrogateescape") if isinstance(block, str) else block)
    else:
        with stream_of(value) as stream:
            shutil.copyfileobj(stream, out, 1 << 20)


def read_text(path: PathLike | Source) -> bytes:
    """Read a whole text file, decompressed; ``-`` is standard input.

    Lines are converted to end in a line feed, and a byte order mark is removed.

    Raises
    ------
    FormatError
        If the file is damaged, or not text.
    OSError
        If it cannot be read.
    """
    source = path if isinstance(path, Source) else Source(path)
    name, kind = source.name, source.kind
    if kind not in ("text", "binary", "folder"):
        advice = _ADVICE.get(kind, "Convert it to text first")
        article = "an" if kind in ("Excel", "old Excel", "npz", "xz", "rar") else "a"
        raise FormatError(f"{name}: this is {article} {kind} file, expected a text table. {advice}.")
    return clean_text(source.data, name).removeprefix(b"\xef\xbb\xbf")


def clean_text(data: bytes, name: str, n_lines: int = 0) -> bytes:
    """Convert line ends to line feeds; ``n_lines`` lines are before these data.

    Raises
    ------
    FormatError
        If the data contain NUL bytes.
    """
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1 + n_lines
        raise FormatError(f"{name}:{line}: contains NUL bytes, so it is not text. Expected a text table in UTF-8.")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def without_comments(data: bytes) -> bytes:
    """Replace lines that begin with ``#`` or ``;;`` by empty lines, so that line numbers stay."""
    return _COMMENT.sub(b"", data) if b"#" in data or b";" in data else data


def end_of_lines(data: bytes, n: int) -> int:
    """Return the end of the first lines of a text."""
    end = 0
    for _ in range(n):
        end = data.find(b"\n", end) + 1 or len(data)
    return end


def numbered_lines(data: bytes, name: str, first: int = 0) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is neither blank nor a comment; ``first`` lines are before these data.

    Raises
    ------
    FormatError
        At the first line that is not UTF-8.
    """
    start, number = 0, first
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = data[start:end]
        start = end + 1
        content = raw.lstrip()
        if not content or content.startswith((b"#", b";;")):
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{name}:{number}: not UTF-8 ({error.reason} at byte {error.start} of the line). "
                "Convert the file, for example with iconv -t utf-8."
            ) from error


def several_systems(name: str, systems: Sequence[str]) -> FormatError:
    """Return the error for a file with scores of several systems if one is needed."""
    return FormatError(
        f"{name}: contains scores of {len(systems)} systems: {', '.join(systems)}. Choose one: "
        f"{option(columns=f'score={systems[0]},...')}."
    )


def other_file(more: str, *, is_target: bool) -> str:
    """Return the message on a trial whose label contradicts its file; ``more`` is text about similar trials."""
    own, other = ("non-target", "targets") if is_target else ("target", "non-targets")
    return (
        f"is labelled {own}{more}, but its file was given as the scores of {other}. Are the two files swapped? If a "
        "file has labels for all its trials, no second one is needed: name it alone"
    )


_PIECE = 1 << 24
"""Number of bytes of a file that are hashed between two progress messages."""


def described(roles: Mapping[str, Iterable[PathLike | TwoFiles | None]]) -> list[dict[str, Json]]:
    """Describe files by path, role, size in bytes and SHA-256 of their bytes on disk.

    This reads every file once more. Standard input and pipes have neither size nor hash.

    Parameters
    ----------
    roles : mapping of str to iterable of path, TwoFiles or None
        Files by role; a pattern or a folder is replaced by its files, and None is ignored. The roles of two files of
        one system are ``tar`` and ``non``.

    Returns
    -------
    list of dict

    Raises
    ------
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty.txt"
    >>> path.touch()
    >>> [(one["role"], one["size"], one["sha256"][:8]) for one in described({"key": [path]})]
    [('key', 0, 'e3b0c442')]
    """
    entries: dict[tuple[str, PathLike], None] = {}
    for role, value in roles.items():
        for one in value:
            if one is not None:
                sides = [("tar", one.tar), ("non", one.non)] if isinstance(one, TwoFiles) else [(role, one)]
                entries |= dict.fromkeys(sides)
    return [_one(role, file) for role, path in entries for file in parts_of(path, ".parquet")]


def stamps(inputs: Iterable[PathLike | TwoFiles | None]) -> dict[str, tuple[int, int] | None]:
    """Return time and size of each file, which change when it is written; None for files that do not exist.

    Parameters
    ----------
    inputs : iterable of path, TwoFiles or None
        Files, folders of Parquet files and patterns.
    """
    entries = dict[str, tuple[int, int] | None]()
    for path in single_files(inputs):
        try:
            known = {str(file): Path(file).stat() for file in parts_of(path, ".parquet")}
        except (OSError, InputError):
            entries[str(path)] = None
        else:
            entries |= {name: (one.st_mtime_ns, one.st_size) for name, one in known.items()}
    return entries


def parts_of(path: PathLike, ending: str = "") -> list[PathLike]:
    """Return the files of a pattern, or the files of a folder with an ending."""
    parts = list[PathLike]()
    for one in files_of(path):
        if Path(one).is_dir():
            parts += [part for part in files_inside(Path(one)) if part.name.endswith(ending)]
        else:
            parts.append(one)
    return parts


def files_inside(folder: Path) -> list[Path]:
    """Return the files of a folder and its folders in order, without hidden ones, but with broken links."""
    result = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted(path for path in result if not any(part[0] in "_." for part in path.relative_to(folder).parts))


def _one(role: str, path: PathLike) -> dict[str, Json]:
    name = "-" if str(path) == "-" else errors.display_name(path)
    known: dict[str, Json] = {"role": role, "path": name, "size": None, "sha256": None}
    if name == "-" or not Path(path).is_file():
        return known
    with Path(path).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        return known | {"size": size, "sha256": _digest(stream, size)}


def _digest(stream: BinaryIO, size: int) -> str:
    """Return the hash of a file; report progress if it is large."""
    result, tell = hashlib.sha256(), teller(size, "bytes")
    while partition := stream.read(_PIECE):
        result.update(partition)
        if size > _PIECE:
            tell(stream.tell())
    return result.hexdigest()


_SAMPLE = 1 << 13
"""Number of bytes in samples from begin, middle and end. Files are compared only if their samples are equal."""


def refuse_doubles(paths: Sequence[Path]) -> None:
    """Raise if a file is listed twice, also by a link, or if two files have the same content.

    The trials of such a file would count twice.

    Raises
    ------
    FormatError

    Examples
    --------
    >>> refuse_doubles([Path("a.parquet"), Path("./a.parquet")])
    Traceback (most recent call last):
    deciban.errors.FormatError: a.parquet is read twice, as a.parquet and as a.parquet. Name each file once.
    """
    known: dict[Path, Path] = {}
    for path in paths:
        first = known.setdefault(path.resolve(), path)
        if first is not path:
            names = errors.display_name(first), errors.display_name(path)
            raise FormatError(f"{names[1]} is read twice, as {names[0]} and as {names[1]}. Name each file once.")
    alike: dict[tuple[int, bytes], Path] = {}
    for path in paths:
        first = alike.setdefault(_sampled(path), path)
        if first is not path and filecmp.cmp(first, path, shallow=False):
            raise FormatError(
                f"{errors.display_name(path)}: the same content as {errors.display_name(first)}, so its trials would "
                "count twice. Remove one of the two. If the trials differ, put both into one file."
            )


def _sampled(path: Path) -> tuple[int, bytes]:
    """Return the size of a file, and a hash of samples from its begin, middle and end."""
    result, size = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as stream:
        for start in (0, size // 2, max(size - _SAMPLE, 0)):
            stream.seek(start)
            result.update(stream.read(_SAMPLE))
    return size, result.digest()
