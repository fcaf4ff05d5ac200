"""What an input could be read as, found without reading all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
from numpy.lib import format as npy_format

from deciban.errors import FormatError, InputError
from deciban.io.arrays.archives import Archive
from deciban.io.columns.columnar import schema_roles
from deciban.io.columns.headers import Columns, identity_of
from deciban.io.contents import Kind
from deciban.io.format import BinaryFormat, Options, TextFormat
from deciban.io.formats import binary_formats, by_name
from deciban.io.reader import files_of
from deciban.io.source import PathLike, Source, numbered_lines, read_text
from deciban.io.text.labels import Vocabulary
from deciban.io.text.layout import Layout, find_layout
from deciban.trials.frames.to_frames import description

_START = 1 << 20
_SAMPLED_LINES = 1000

_ROLE: dict[Kind, str] = {"scores": "score", "key": "label", "class-key": "class"}


def readable_as(
    path: PathLike,
    kinds: Iterable[Kind],
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[Kind, ...]:
    """Which of several kinds of tables an input could be read as, by its first lines, its header or its schema.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`. Of a pattern, the first file tells.
    kinds : iterable of kinds
        Of ``scores``, ``key``, ``class-scores``, ``class-key``.
    format, columns, labels
        As in `deciban.read_scores`.

    Returns
    -------
    tuple of kinds
        All of them for standard input and pipes, which can be read only once. None if the input makes no sense;
        reading it says why.

    Raises
    ------
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> readable_as(path, ["scores", "class-scores"])
    ('class-scores',)
    """
    if is_stream(path):
        return tuple(kinds)
    options = Options(columns=columns, vocabulary=Vocabulary.of(labels))
    try:
        source = Source(files_of(path)[0])
        chosen = by_name(format) if format is not None else _recognized(source)
        if isinstance(chosen, TextFormat) or chosen is None:
            return _text_kinds(source, chosen, kinds, options)
        return tuple(kind for kind in kinds if kind in chosen.reads and kind in _binary_kinds(source, chosen, options))
    except (FormatError, InputError, ValueError, pa.ArrowException):
        return ()


def is_stream(path: PathLike) -> bool:
    """Whether an input can be read only once: standard input or a pipe."""
    return str(path) == "-" or (Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()))


def _recognized(source: Source) -> BinaryFormat | None:
    if not source.is_binary:
        return None
    return next((one for one in binary_formats().values() if one.recognizes(source)), None)


def _text_kinds(source: Source, chosen: TextFormat | None, kinds: Iterable[Kind], options: Options) -> tuple[Kind, ...]:
    sample = _first_lines(source)
    if not sample:
        return ()
    layouts = {kind: _layout(sample, source.name, chosen, options, kind) for kind in kinds}
    found = {kind: layout for kind, layout in layouts.items() if layout is not None}
    has_header = any(layout.header is not None for layout in found.values())  # it says more than what lines look like
    return tuple(kind for kind, layout in found.items() if not has_header or layout.header is not None)


def _first_lines(source: Source) -> list[str]:
    if source.is_plain:
        with Path(source.path).open("rb") as file:
            data = file.read(_START)
        if len(data) == _START:
            data = data[: data.rfind(b"\n") + 1]
        data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    else:
        data = read_text(source)
    return [line for _, line in islice(numbered_lines(data, source.name), _SAMPLED_LINES)]


def _layout(sample: Sequence[str], name: str, chosen: TextFormat | None, options: Options, kind: Kind) -> Layout | None:
    """How to read lines as tables of a kind; None if they are none."""
    asked = Options(need=kind, columns=options.columns, vocabulary=options.vocabulary)
    try:
        layout = find_layout(sample, name, asked, chosen)
    except (FormatError, InputError):
        return None
    return layout if _holds(kind, layout.roles) else None


def _holds(kind: Kind, roles: Sequence[str]) -> bool:
    if kind == "class-scores":
        return len(identity_of(roles)) < 2 and roles.count("score") > 1
    return _ROLE[kind] in roles


def _binary_kinds(source: Source, chosen: BinaryFormat, options: Options) -> tuple[Kind, ...]:
    if chosen.name == "npy":
        return _of_shape(_npy_shape(source), options)
    if chosen.name == "npz":
        with Archive(source) as archive:
            return _of_arrays(archive)
    schema = _schema(source, chosen)
    if schema is None:
        return chosen.reads
    if description(schema).get("class_scores") is True:
        return ("class-scores", "class-key")
    return tuple(
        kind
        for kind in (*_ROLE, "class-scores")
        if _holds(kind, schema_roles(schema, Options(need=kind, columns=options.columns), source.name))
    )


def _npy_shape(source: Source) -> tuple[int, ...]:
    opened = source.seekable()
    with opened.open("rb") if isinstance(opened, Path) else opened as stream:
        version = npy_format.read_magic(stream)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        return read(stream)[0]


def _of_shape(shape: tuple[int, ...], options: Options) -> tuple[Kind, ...]:
    """A matrix holds class scores, unless columns of it are called scores of systems; a vector one value per trial."""
    if len(shape) == 2 and shape[1] > 1:
        return ("scores",) if options.columns is not None else ("class-scores",)
    return ("scores", "key", "class-key")


def _of_arrays(archive: Archive) -> tuple[Kind, ...]:
    names = set(archive.names)
    score = next((name for name in ("score", "scores") if name in names), None)
    shape = archive.read(score).shape if score is not None else ()
    if "classes" in names or (len(shape) == 2 and shape[1] > 1 and "enroll_names" not in names):
        return ("class-scores", "class-key") if score is not None else ("class-key",)
    return ("scores", "key", "class-key")


def _schema(source: Source, chosen: BinaryFormat) -> pa.Schema | None:
    """The columns of a file of Parquet or Arrow; None for what has no schema."""
    if chosen.name == "parquet":
        import pyarrow.parquet as pq

        if source.is_folder:
            files = (
                path for path in sorted(Path(source.path).rglob("*")) if path.is_file() and path.name[0] not in "._"
            )
            return pq.read_schema(next(files))
        return pq.read_schema(source.seekable())
    if chosen.name == "arrow":
        opened = source.seekable()
        stream = pa.OSFile(str(opened)) if isinstance(opened, Path) else pa.BufferReader(opened.getbuffer())
        opener = pa.ipc.open_file if source.head.startswith(b"ARROW1") else pa.ipc.open_stream
        return opener(stream).schema
    return None
