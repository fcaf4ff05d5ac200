"""Score files and keys in the form of text tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from deciban.errors import FormatError
from deciban.io.labels import Vocabulary
from deciban.io.layout import Columns, Layout, find_layout
from deciban.io.source import PathLike, display_name, numbered_lines, read_text
from deciban.io.table import line_of_row, parse_table
from deciban.trials import Key, Origin, Scores, Trials

_SAMPLED_LINES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What one text table holds, and how it was understood.

    ``scores`` and ``key`` are None where the file has no such column; ``words`` are the label words that occur, and
    whether each means target.
    """

    layout: Layout
    scores: Scores | None
    key: Key | None
    words: Mapping[str, bool]

    @property
    def label_counts(self) -> str:
        """How many targets and non-targets there are, and by which words."""
        if self.key is None:
            return "no labels"
        told = {side: sorted(word for word, means in self.words.items() if means == side) for side in (True, False)}
        if told == {True: ["target"], False: ["nontarget"]}:
            return f"{self.key.n_tar:,} target · {self.key.n_non:,} non-target"
        target, nontarget = (" (" + ", ".join(told[side]) + ")" for side in (True, False))
        return f"{self.key.n_tar:,} target{target} · {self.key.n_non:,} non-target{nontarget}".replace(" ()", "")


def read_table(
    path: PathLike,
    *,
    need: str = "score",
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Reading:
    """Read a text table that holds scores, truth, or both.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    need : {"score", "label"}
        What the file must hold; the other is taken where it is there.
    format, columns, labels, name : optional
        See `deciban.read_scores`.

    Returns
    -------
    Reading
    """
    shown = display_name(path)
    vocabulary = Vocabulary.of(labels)
    data = read_text(path)
    sample = [line for _, line in islice(numbered_lines(data, shown), _SAMPLED_LINES)]
    if not sample:
        raise FormatError(f"{shown}: the file is empty. Expected one trial per line.")
    layout = find_layout(sample, need=need, name=shown, vocabulary=vocabulary, format=format, columns=columns)
    table = parse_table(data, layout, vocabulary, shown)
    del data
    trials = Trials(layout.sides, table.ids, _origin(path, layout))
    scores = None if table.score is None else Scores(trials, table.score, name or _system_name(path))
    key = None if table.is_target is None else Key(trials, table.is_target)
    return Reading(layout, scores, key, table.words)


def read_scores(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Scores:
    """Read the scores of one system from a text table; gzip and bzip2 are transparent, ``-`` is standard input.

    Parameters
    ----------
    path : path
        White space, commas or tabs between the columns; with or without a header. Blank lines and lines that begin
        with ``#`` or ``;;`` are skipped.
    format : str, optional
        ``kaldi``, ``voxceleb``, ``wespeaker``, ``3d-speaker``, ``speechbrain``, ``asvspoof2019``, ``trial``, or
        ``table`` (with a header). Left out, the first lines decide; what was assumed is in ``trials.origin.reading``.
    columns : str, sequence or mapping, optional
        What the columns are, in order (``"enroll,test,score"``, ``-`` for one to ignore) or by header name or number
        (``"trial=utt,score=llr"``). The roles are enroll, test, trial, score, label.
    labels : mapping, optional
        Words for ``target`` and ``nontarget`` if the file has labels, ``|`` between several.
    name : str, optional
        What tables and legends call the system; the file name without its endings when left out.

    Returns
    -------
    Scores

    Raises
    ------
    FormatError
        With file and line, if the file does not hold what it should or could be read in more than one way.
    InputError
        If an argument makes no sense.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sysA.txt"
    >>> _ = path.write_text("ann x 1.5\\nann y -inf\\n")
    >>> scores = read_scores(path)
    >>> scores.name, scores.score, scores.trials.origin.reading
    ('sysA', array([ 1.5, -inf]), "kaldi 'enroll test score'")
    """
    reading = read_table(path, need="score", format=format, columns=columns, labels=labels, name=name)
    assert reading.scores is not None  # noqa: S101  # a score column was asked for
    return reading.scores


def read_key(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Key:
    """Read which trials are targets from a text table; a score file that holds labels will do.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns, labels : optional
        See `deciban.read_scores`. A label word that is not known is an error.

    Returns
    -------
    Key

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "key.txt"
    >>> _ = path.write_text("ann x target\\nann y nontarget\\n")
    >>> read_key(path).is_target
    array([ True, False])
    """
    reading = read_table(path, need="label", format=format, columns=columns, labels=labels)
    assert reading.key is not None  # noqa: S101  # a label column was asked for
    return reading.key


def _origin(path: PathLike, layout: Layout) -> Origin:
    shown = display_name(path)
    if str(path) == "-" or not Path(path).is_file():
        return Origin(shown, str(layout))  # a stream can be read only once: messages count rows instead of lines

    def line(row: int) -> int | None:
        # Only for messages: reading the file again costs less than keeping it, or a line number for every trial.
        try:
            return line_of_row(read_text(path), layout, row, shown)
        except (OSError, FormatError):
            return None

    return Origin(shown, str(layout), line)


def _system_name(path: PathLike) -> str:
    name = Path(display_name(path)).name
    for ending in (".gz", ".bz2", ".txt", ".csv", ".tsv", ".scores", ".score", ".lst"):
        name = name.removesuffix(ending) or name
    return name
