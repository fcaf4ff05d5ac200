"""What an input could be read as, found without reading all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from deciban.errors import FormatError, InputError
from deciban.io.arrays.archives import Archive
from deciban.io.arrays.checked import read_header
from deciban.io.columns.columnar import schema_roles
from deciban.io.columns.headers import Columns, identity_of
from deciban.io.contents import ContentKind
from deciban.io.format import BinaryFormat, Options
from deciban.io.library_errors import only_format_errors
from deciban.io.recognition import Opened, Recognized, recognize, refuse_other_options
from deciban.io.source import PathLike, Source
from deciban.io.text.layout import Layout
from deciban.trials.frames.to_frames import description

_ROLE: dict[ContentKind, str] = {"scores": "score", "key": "label", "class-key": "class"}


def readable_as(
    path: PathLike | Recognized,
    kinds: Iterable[ContentKind],
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[ContentKind, ...]:
    """Which of several kinds of tables an input could be read as, by its first lines, its header or its schema.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`, or what was recognized (`deciban.io.recognition.recognize`), which can be read
        afterwards without being opened again. Of a pattern, the first file tells.
    kinds : iterable of kinds
        Of ``scores``, ``key``, ``class-scores``, ``class-key``.
    format, columns, labels
        As in `deciban.read_scores`.

    Returns
    -------
    tuple of kinds
        All of them for the path of standard input or of a pipe, which can be read only once. None if the input makes no
        sense; reading it says why.

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
    if isinstance(path, Recognized):
        refuse_other_options(path, format, columns, labels)
        return _kinds(path.files[0], kinds)
    if is_stream(path):
        return tuple(kinds)
    try:
        opened = recognize(path, format=format, columns=columns, labels=labels).files[0]
    except InputError:
        return ()
    return _kinds(opened, kinds)


def _kinds(opened: Opened, kinds: Iterable[ContentKind]) -> tuple[ContentKind, ...]:
    try:
        chosen = opened.format_for(None)
        if not isinstance(chosen, BinaryFormat):
            return _text_kinds(opened, kinds)
        fitting = [kind for kind in kinds if kind in chosen.reads]
        with only_format_errors(opened.source.name, chosen.name):
            held = _binary_kinds(opened.source, chosen, opened.options) if fitting else ()
        return tuple(kind for kind in fitting if kind in held)
    except (FormatError, InputError, ValueError, pa.ArrowException):
        return ()


def is_stream(path: PathLike) -> bool:
    """Whether an input can be read only once: standard input or a pipe."""
    return str(path) == "-" or (Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()))


def _text_kinds(opened: Opened, kinds: Iterable[ContentKind]) -> tuple[ContentKind, ...]:
    layouts = {kind: _layout(opened, kind) for kind in kinds}
    found = {kind: layout for kind, layout in layouts.items() if layout is not None}
    has_header = any(layout.header is not None for layout in found.values())  # it says more than what lines look like
    return tuple(kind for kind, layout in found.items() if not has_header or layout.header is not None)


def _layout(opened: Opened, kind: ContentKind) -> Layout | None:
    """How to read lines as tables of a kind; None if they are none."""
    try:
        layout = opened.layout(kind)
    except (FormatError, InputError):
        return None
    return layout if _holds(kind, layout.roles) else None


def _holds(kind: ContentKind, roles: Sequence[str]) -> bool:
    if kind == "class-scores":
        return len(identity_of(roles)) < 2 and roles.count("score") > 1
    return _ROLE[kind] in roles


def _binary_kinds(source: Source, chosen: BinaryFormat, options: Options) -> tuple[ContentKind, ...]:
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
        return read_header(stream, source.name)[0]


def _of_shape(shape: tuple[int, ...], options: Options) -> tuple[ContentKind, ...]:
    """A matrix holds class scores, unless columns of it are called scores of systems; a vector one value per trial."""
    if len(shape) == 2 and shape[1] > 1:
        return ("scores",) if options.columns is not None else ("class-scores",)
    return ("scores", "key", "class-key")


def _of_arrays(archive: Archive) -> tuple[ContentKind, ...]:
    names = set(archive.names)
    score = next((name for name in ("score", "scores") if name in names), None)
    shape = archive.shape(score) if score is not None else ()
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
            first = next(files, None)
            if first is None:
                raise FormatError(f"{source.name}: a folder without a file of Parquet.")
            return pq.read_schema(first)
        return pq.read_schema(source.seekable())
    if chosen.name == "arrow":
        opened = source.seekable()
        stream = pa.OSFile(str(opened)) if isinstance(opened, Path) else pa.BufferReader(opened.getbuffer())
        opener = pa.ipc.open_file if source.head.startswith(b"ARROW1") else pa.ipc.open_stream
        return opener(stream).schema
    return None
