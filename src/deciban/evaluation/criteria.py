"""Validation of a method by criteria for its performance characteristics, after Meuwly, Ramos and Haraksim (2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deciban._files import PathLike, display_name, read_short_text, toml_of
from deciban.errors import FormatError
from deciban.evaluation.saved import Check, Requirement, SavedSystem, read_saved

CHARACTERISTICS = ("accuracy", "discrimination", "calibration", "robustness", "coherence", "generalization")
"""Performance characteristics of the guideline (Forensic Science International 276, 142-153)."""


@dataclass(frozen=True, slots=True)
class MethodCriterion:
    """A criterion for one performance characteristic.

    Attributes
    ----------
    characteristic : str
    requirement : Requirement
    results : Path or None
        Other saved results, such as noisy recordings; their baseline is the validated result.
    """

    characteristic: str
    requirement: Requirement
    results: Path | None = None

    def checks(self, systems: Sequence[SavedSystem], earlier: Sequence[SavedSystem] | None) -> list[Check]:
        """Check the criterion for the validated systems, or on its own results.

        Raises
        ------
        FormatError, InputError, OSError
        """
        if self.results is None:
            return self.requirement.checks(systems, earlier)
        return self.requirement.checks(read_saved(self.results), systems)


def read_criteria(path: PathLike) -> tuple[MethodCriterion, ...]:
    """Read criteria from a TOML file with tables ``[[criterion]]``.

    Each has a ``characteristic``, a requirement as for ``deciban check`` (``require``), and perhaps a file of
    ``results``, whose name is relative to the folder of the criteria.

    Raises
    ------
    FormatError, InputError, OSError
        If the file is not TOML, or a table has other keys or an unknown characteristic.
    """
    name = display_name(path)
    rows = toml_of(read_short_text(path), name, "Criteria are tables: [[criterion]].")
    listed = rows.get("criterion")
    if set(rows) != {"criterion"} or not isinstance(listed, list) or not listed:
        raise FormatError(f"{name}: must contain only tables [[criterion]], at least one.")
    found = list[MethodCriterion]()
    for k, row in enumerate(listed, 1):
        keys = set(row) if isinstance(row, dict) else set()
        if not {"characteristic", "require"} <= keys <= {"characteristic", "require", "results"} or not all(
            isinstance(one, str) and one for one in row.values()
        ):
            raise FormatError(f"{name}: criterion {k}: needs text for characteristic and require, and perhaps results.")
        if row["characteristic"] not in CHARACTERISTICS:
            known = ", ".join(CHARACTERISTICS)
            raise FormatError(f"{name}: criterion {k}: characteristic {row['characteristic']!r}. Use one of {known}.")
        other = Path(path).parent / row["results"] if "results" in row else None
        found.append(MethodCriterion(row["characteristic"], Requirement.of(row["require"]), other))
    return tuple(sorted(found, key=lambda one: CHARACTERISTICS.index(one.characteristic)))
