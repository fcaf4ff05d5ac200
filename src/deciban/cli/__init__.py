"""The command line: parses options, calls the library, prints results and sets exit codes."""

import sys

from deciban._lazy import compile_methods_late, import_less_with_scipy
from deciban.cli.running import EXIT_CODE, is_program, listen

if is_program():
    listen()  # before slow imports
    compile_methods_late()
    import_less_with_scipy()

try:
    from deciban.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("deciban: interrupted\n")
    raise SystemExit(EXIT_CODE) from None

__all__ = ["main"]
