"""Files in and out: scores, keys, and whole-or-nothing writing."""

from __future__ import annotations

from deciban.io.atomic import atomic_write
from deciban.io.read import Reading, read_key, read_scores, read_table
from deciban.io.synthetic import write_demo

__all__ = ["Reading", "atomic_write", "read_key", "read_scores", "read_table", "write_demo"]
