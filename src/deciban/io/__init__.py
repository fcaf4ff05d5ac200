"""Files in and out: scores, keys, and whole-or-nothing writing."""

from __future__ import annotations

from deciban.io.atomic import atomic_write
from deciban.io.contents import Contents
from deciban.io.read import read_contents, read_index, read_key, read_scores
from deciban.io.synthetic import write_demo
from deciban.io.writing import write

__all__ = ["Contents", "atomic_write", "read_contents", "read_index", "read_key", "read_scores", "write", "write_demo"]
