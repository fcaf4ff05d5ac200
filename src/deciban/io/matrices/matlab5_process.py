"""Program that reads one struct of a MATLAB file of version 5 with scipy, under limits of memory, time and output.

`deciban.io.formats.hdf5_and_matlab` runs it as a separate process, because a hostile file can crash
`scipy.io.loadmat` or fill the memory (docs/design/untrusted-files.md). It does not import deciban. Arguments: the
file, the archive to write, its largest size in bytes, seconds, the preferred struct, and the known structs. The archive
contains the matrices, and a JSON object of texts and faults by field; field "" contains the names of all variables.
"""

import codecs
import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.io import loadmat, whosmat


def limit(n_bytes: int, seconds: int) -> None:
    """Limit the resources of this process; not possible on Windows, and without a memory limit on macOS."""
    try:
        import resource
    except ImportError:
        return
    sizes = {"CORE": 0, "CPU": seconds, "FSIZE": n_bytes + (1 << 20)}
    if os.path.exists("/proc/self/statm"):  # noqa: PTH110
        with open("/proc/self/statm") as stream:  # noqa: PTH123
            used = int(stream.read().split()[0]) * resource.getpagesize()
        sizes["AS"] = used + 3 * n_bytes
    for name, size in sizes.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (size, size))


def register_units(order: str) -> None:
    """Register a codec with one character per 16-bit unit; with other codecs, scipy refuses surrogate pairs."""

    def decode(data: Any, _: str = "") -> tuple[str, int]:
        return "".join(map(chr, np.frombuffer(data, f"{order}u2"))), len(data)

    info = codecs.CodecInfo(lambda text, _="": (bytes(2 * len(text)), len(text)), decode)
    codecs.register(lambda name: info if name == "units" else None)


def text_of(cell: Any) -> str:
    """Return the text of a cell, which may be nested in cells.

    Raises
    ------
    ValueError
        If the cell contains anything else.
    """
    while getattr(cell, "dtype", None) == np.object_ and cell.size == 1:
        cell = cell.item()
    if not isinstance(cell, np.ndarray) or (cell.size and (cell.dtype.kind != "U" or cell.size != cell.shape[-1])):
        raise ValueError("a cell that does not contain one line of text")
    text = cell.astype("<U1").tobytes().decode("utf-32-le", "surrogatepass")
    if "\ufffd" in text:
        raise ValueError("a text with bytes that are not characters")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def value_of(field: Any) -> Any:
    """Return a matrix of numbers unchanged, a cell array as a list of texts, and otherwise a description."""
    if type(field) is np.ndarray and field.dtype.kind in "biuf":
        return field
    if type(field) is not np.ndarray or field.dtype.kind != "O":
        kind = "a sparse matrix, expected a full one" if hasattr(field, "nnz") else f"a {type(field).__name__}"
        return {"U": "text, expected cellstr(...)", "V": "a struct"}.get(field.dtype.kind, kind)
    try:
        return [text_of(cell) for cell in field.ravel(order="F")]
    except ValueError as error:
        return str(error)


def main() -> None:
    """Read the file and write the archive."""
    path, archive, n_bytes, seconds, expected, *known = sys.argv[1:]
    limit(int(n_bytes), int(seconds))
    warnings.simplefilter("error")  # scipy only warns when it drops an imaginary part
    with open(path, "rb") as stream:  # noqa: PTH123
        order = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}.get(stream.read(128)[124:])
    if order is None:
        raise ValueError("not a MATLAB file of version 5 (written with save -v7 or -v6)")
    register_units(order)
    names = [name for name, _, _ in whosmat(path)]
    there = [name for name in known if name in names]
    chosen = [expected] if expected in there else there if len(there) == 1 else []
    values: dict[str, Any] = {"": names}
    load: Callable[..., dict[str, Any]] = partial(loadmat, mat_dtype=True, chars_as_strings=False)
    for name, struct in load(path, variable_names=chosen, uint16_codec="units").items() if chosen else ():
        if name == chosen[0] and (struct.dtype.names is None or struct.size != 1):
            raise ValueError(f"the variable {name} must be a single struct: struct({name})")
        if name == chosen[0]:
            values |= {field: value_of(struct[field].item()) for field in struct.dtype.names}
    matrices = {field: value for field, value in values.items() if isinstance(value, np.ndarray)}
    rest = json.dumps({field: value for field, value in values.items() if field not in matrices})
    np.savez(archive, allow_pickle=False, **{"": np.frombuffer(rest.encode(), np.uint8)}, **matrices)


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        sys.exit("more memory is needed than the size of the file allows")
    except Exception as error:  # noqa: BLE001  # scipy raises errors of any type
        sys.exit(" ".join(str(error).split()) or type(error).__name__)
