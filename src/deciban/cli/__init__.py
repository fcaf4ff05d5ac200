"""The command line: parses, calls, prints, sets exit codes. No arithmetic."""

from __future__ import annotations

import sys

from deciban.cli import interrupts

if interrupts.is_program():
    interrupts.listen()  # before all that takes time to import

try:
    from deciban.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("deciban: interrupted\n")
    raise SystemExit(interrupts.EXIT_CODE) from None

__all__ = ["main"]
