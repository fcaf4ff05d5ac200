"""The command line: parses, calls, prints, sets exit codes. No arithmetic."""

from __future__ import annotations

from deciban.cli.main import main

__all__ = ["main"]
