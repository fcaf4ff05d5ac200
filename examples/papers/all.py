"""All figures of the papers that are reproduced: ``python examples/papers/all.py pictures/``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import bosaris
import languages
import subsets
import thesis_rules
import thesis_scores
import weighted_rules

SCRIPTS = (bosaris, weighted_rules, languages, thesis_rules, thesis_scores, subsets)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run each script into one folder, at its own number of trials unless one is given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", metavar="FOLDER")
    parser.add_argument("--trials", help="trials of each class, in all scripts")
    options = parser.parse_args(arguments)
    more = [] if options.trials is None else ["--trials", options.trials]
    for script in SCRIPTS:
        script.main(["-o", options.output, *more])


if __name__ == "__main__":
    main()
