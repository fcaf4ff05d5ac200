"""Summaries of shards: a format that holds no trials, so that reading some from it is refused with the way out."""

from __future__ import annotations

from typing import NoReturn

import pyarrow.parquet as pq

from deciban.errors import FormatError
from deciban.io.formats import Options
from deciban.io.source import Source
from deciban.io.summary_files import is_summary_file, refuse_summary


def read(source: Source, _options: Options) -> NoReturn:
    """Refuse to read trials from a summary.

    Raises
    ------
    FormatError
        Always: also where it is no summary, which is said then.
    """
    if is_summary_file(source.path):
        refuse_summary(pq.read_metadata(source.path).metadata, source.name)
    raise FormatError(f"{source.name}: is no summary of shards. deciban summarize writes some; leave the format out.")
