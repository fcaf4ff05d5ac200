"""Time until something happens: importing deciban, and its help on the command line."""

from __future__ import annotations

import subprocess
import sys

from side_by_side import machine, measure, show

COMMANDS = {
    "import numpy, scipy.special": [sys.executable, "-c", "import numpy, scipy.special"],
    "import deciban": [sys.executable, "-c", "import deciban"],
    "import deciban.metrics": [sys.executable, "-c", "import deciban.metrics"],
    "deciban --help": [sys.executable, "-m", "deciban", "--help"],
}


def main() -> None:
    print(machine())
    jobs = {
        name: (lambda words=words: subprocess.run(words, check=True, stdout=subprocess.DEVNULL))
        for name, words in COMMANDS.items()
    }
    show("processes", measure(jobs, rounds=7), "import numpy, scipy.special", 1)


if __name__ == "__main__":
    main()
