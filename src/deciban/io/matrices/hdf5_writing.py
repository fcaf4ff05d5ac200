"""Names and masks into HDF5 files, so that reading them costs nothing more than it must."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import pyarrow as pa

from deciban.io.matrices.from_tables import without_nul
from deciban.types import BoolArray


class _Noticing:
    """A stream that remembers how writing to it failed: HDF5 goes on for a while, and then fails in another way."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, data: memoryview) -> int:
        try:
            return self.stream.write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def created(stream: IO[bytes], *, user_block: int = 0) -> Iterator[Any]:
    """A new HDF5 file in a stream that can be written and sought.

    Raises
    ------
    OSError
        If the stream takes no more: a full disk.
    """
    import h5py

    noticing = _Noticing(stream)
    try:
        with h5py.File(noticing, "w", userblock_size=user_block) as file:
            yield file
    except Exception:
        if noticing.failure is None:
            raise
    if noticing.failure is not None:
        raise noticing.failure


def write_names(file: Any, path: str, names: pa.Array) -> None:
    """Write names as UTF-8 strings of the length of the longest, or of variable length if that would waste much room.

    Raises
    ------
    FormatError
        If a name holds a NUL character, which would end it.
    """
    import h5py

    raw = without_nul(names, "HDF5").cast(pa.binary()).to_pylist()
    longest = max(map(len, raw), default=0) or 1
    wasteful = longest * len(raw) > max(1 << 24, 4 * sum(map(len, raw)))
    kind = h5py.string_dtype("utf-8", None if wasteful else longest)
    file.create_dataset(path, data=np.array(raw, kind), dtype=kind)


def write_mask(file: Any, path: str, mask: BoolArray | None, shape: tuple[int, int]) -> None:
    """Write which cells are trials; a full mask is not stored but the fill value of a dataset that has no cells."""
    if mask is None:
        file.create_dataset(path, shape, np.uint8, fillvalue=1)
    else:
        file.create_dataset(path, data=mask.view(np.uint8))
