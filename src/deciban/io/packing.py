"""Compressed bytes: recognized by how they begin, unpacked as a stream and never without bound; and made."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

import pyarrow as pa

from deciban.errors import FormatError
from deciban.steps import teller

_HARMLESS = 256 << 20
"""Bytes that may come out of any compressed file, however small it is."""

_BLOCK = 1 << 20


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to compress: by which ending it is asked for, how it is recognized and undone, and how it is done.

    ``ratio`` is how many times more than what was read may come out. Lists of trials with very long names in order
    reach 110 with gzip, 300 with bzip2 and zstd. Zeros reach 229 with the fastest gzip, 1,028 with the best, 32,000
    with zstd and 600,000 with bzip2.
    """

    name: str
    ending: str
    tool: str
    magic: re.Pattern[bytes]
    ratio: int
    open: Callable[[BinaryIO], _Reader]
    pack: Callable[[IO[bytes]], Any]


class _Bzip2:
    """All streams of a bzip2 file. Unlike `bz2.BZ2File` it does not overlook what follows the last of them."""

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
    return gzip.GzipFile("", "wb", 6, stream, mtime=0)  # no name and no time: same data, same bytes


def _to_zstd(stream: IO[bytes]) -> Any:
    # Arrow closes the stream that it is given.
    return pa.CompressedOutputStream(os.fdopen(os.dup(stream.fileno()), "wb"), "zstd")


_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
# A skippable frame may come first: parallel zstd writes one.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

CODECS = (
    Codec("gzip", ".gz", "gzip -dc", re.compile(rb"\x1f\x8b"), 200, gzip.open, _to_gzip),
    Codec("bzip2", ".bz2", "bzip2 -dc", _BZIP2, 1000, _Bzip2, partial(bz2.BZ2File, mode="wb")),
    Codec("zstd", ".zst", "zstd -dc", _ZSTD, 1000, _zstd, _to_zstd),
)


def codec_for(file_name: str) -> Codec | None:
    """How a file of this name is to be compressed; None if it is not."""
    ending = Path(file_name).suffix.casefold()
    return next((codec for codec in CODECS if codec.ending == ending), None)


def unpacked_name(file_name: str) -> str:
    """A file name without the ending that says how the file is compressed."""
    codec = codec_for(file_name)
    return file_name if codec is None else file_name[: -len(codec.ending)]


def codec_of(head: bytes) -> Codec | None:
    """How bytes that begin like this are compressed; None if they are not."""
    return next((codec for codec in CODECS if codec.magic.match(head)), None)


def _length(stream: BinaryIO) -> int:
    """How many bytes there are from here to the end."""
    here = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(here)
    return end - here


def unpack(packed: BinaryIO, codec: Codec, name: str, size: int | None = None) -> bytes:
    """Decompress a stream, or its first ``size`` bytes.

    Parameters
    ----------
    packed : binary stream
        Positioned at its begin; knows its position.
    codec : Codec
    name : str
        What messages call it.
    size : int, optional

    Raises
    ------
    FormatError
        If the data are damaged or cut off, something else follows them, they are compressed once more, or more comes
        out of them than of any honest file.
    """
    out = io.BytesIO()
    unpack_into(out, packed, codec, name, size)
    return out.getvalue()


def unpack_into(out: IO[bytes], packed: BinaryIO, codec: Codec, name: str, size: int | None = None) -> None:
    """The same into another stream.

    Raises
    ------
    FormatError
        As in `unpack`.
    OSError
        If the stream takes no more.
    """
    n_out, tell = 0, teller(_length(packed), "bytes") if size is None else None
    for block in _blocks(packed, codec, name, size):
        if not n_out and codec_of(block[:16]) is not None:
            raise FormatError(
                f"{name}: compressed twice, {codec.name} is the outer one. Unpack that: {codec.tool} FILE > COPY."
            )
        out.write(block)
        n_out += len(block)
        if tell is not None:
            tell(packed.tell())
        if n_out > max(_HARMLESS, codec.ratio * packed.tell()):
            raise FormatError(_bomb(name, codec, n_out, packed.tell()))


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


def _bomb(name: str, codec: Codec, n_out: int, n_in: int) -> str:
    return (
        f"{name}: {n_in:,} bytes of {codec.name} became more than {n_out:,}, so this may be a bomb. More than "
        f"{_HARMLESS >> 20} MiB are unpacked only at a ratio of at most {codec.ratio}. If you trust the file, unpack "
        f"it yourself: {codec.tool} FILE | deciban ... -"
    )
