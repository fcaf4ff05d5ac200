"""The command line: parses, calls, prints, sets exit codes. No arithmetic."""

from __future__ import annotations

import sys

try:
    from deciban.cli.main import main
except KeyboardInterrupt:  # Ctrl-C before there is anything that could answer it
    sys.stderr.write("deciban: interrupted\n")
    raise SystemExit(130) from None

__all__ = ["main"]
