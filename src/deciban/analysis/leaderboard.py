"""Ranking of saved results: comparable runs, and groups of runs that do not differ significantly."""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from deciban.analysis.compared import holm
from deciban.core.resampling.intervals import checked_level
from deciban.errors import FormatError, InputError, counted, display_name, shortened
from deciban.evaluation.metrics import METRICS, RANKING_NAMES, SPOOFING, metric_of
from deciban.evaluation.saved import SavedMetric, SavedSystem, point_in_words, read_saved
from deciban.types import PathLike


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A system of saved results with its place among comparable runs.

    Attributes
    ----------
    name : str
        Name of the file without its ending.
    system : SavedSystem
    metric : SavedMetric
        The metric that ranks the runs.
    rank : int
        1 for the best value; equal values have equal ranks.
    group : str
        Letters; runs that share one do not differ significantly. Empty without standard errors, or if there would be
        too many letters.
    """

    name: str
    system: SavedSystem
    metric: SavedMetric
    rank: int
    group: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Runs that can be compared: the same kind of scores, trials and operating point.

    Attributes
    ----------
    metrics : tuple of str
        Names of the requested metrics; the first ranks the runs.
    runs : tuple of RankedRun
        The best run is first.
    level : float
        Confidence level of the groups.
    """

    metrics: tuple[str, ...]
    runs: tuple[RankedRun, ...]
    level: float

    @property
    def metric(self) -> str:
        """Name of the metric that ranks the runs."""
        return self.metrics[0]

    @property
    def first(self) -> SavedSystem:
        """The best system."""
        return self.runs[0].system

    @property
    def trials(self) -> str:
        """Description of the trials."""
        own, counts = self.first, _counts(self.first)
        n = f"{sum(counts):,.7g} trials of {len(counts)} classes"
        if own.kind != "classes" and len(counts) == 2:
            n = f"{counts[0]:,.7g} target and {counts[1]:,.7g} non-target trials"
        return "; ".join(filter(None, [n, f"key {own.key}" if own.key else "unknown key", own.choices]))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the metrics in tables; the metric that ranks the runs is first."""
        names = _shown(self.first, self.metrics)
        return tuple(name for name in names if any(value_of(run.system, name) is not None for run in self.runs))

    @property
    def operating_points(self) -> dict[str, dict[str, Any]]:
        """Prior, costs and protocol of the metrics that depend on them, by name of the metric."""
        points = {name: self.first.operating_point(name) for name in self.columns}
        return {name: point for name, point in points.items() if point}

    @property
    def protocols(self) -> str:
        """Description of operating points that headings of tables lack."""
        points = [point for point in self.operating_points.values() if "p_target" not in point]
        words = dict.fromkeys(point_in_words({k: v for k, v in one.items() if k != "role"}) for one in points)
        return "; ".join(one for one in words if not any(other.startswith(f"{one}, ") for other in words))

    @property
    def levels(self) -> list[str]:
        """Confidence levels of the intervals, the lowest first."""
        return [f"{100.0 * one:g} %" for one in sorted({run.metric.level for run in self.runs if run.metric.level})]

    @property
    def units(self) -> list[tuple[int, str]]:
        """Numbers and nouns of the units of the intervals."""
        known = [run.system.numbers.get("units") for run in self.runs if run.metric.level]
        numbers = [(one.get("n"), one.get("noun")) for one in known if isinstance(one, dict)]
        return list(dict.fromkeys((n, str(noun)) for n, noun in numbers if isinstance(n, int)))

    def to_dict(self) -> dict[str, Any]:
        """Return a leaderboard of the JSON object that ``deciban leaderboard --json`` prints."""
        runs = []
        for one in self.runs:
            own, metrics = one.system, {name: value_of(one.system, name) for name in self.columns}
            place = {"run": one.name, "system": own.name, "file": own.origin, "rank": one.rank, "group": one.group}
            runs.append({**place, "metrics": metrics})
        about = {"trials": self.trials, "key": self.first.key, "operating_points": self.operating_points}
        return {"metric": self.metric, "level": self.level, **about, "runs": runs}


def _shown(system: SavedSystem, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics in tables: the requested ones, or one with the usual metrics."""
    kind = system.kind or "two-class"
    usual = [one.name for one in METRICS if kind in one.kinds and one.tables == "all" and not one.needs_llrs]
    first = metrics or ("cllr" if kind == "classes" else "eer",)
    return tuple(dict.fromkeys(first if len(first) > 1 else (*first, *usual)))


def _counts(system: SavedSystem) -> list[float]:
    """Return the numbers of trials of the classes; empty if the results lack them."""
    numbers = system.numbers
    items = numbers.get("counts") if system.kind == "classes" else [numbers.get("n_tar"), numbers.get("n_non")]
    known = items if isinstance(items, list) else []
    return [float(one) for one in known if isinstance(one, int | float)]


def value_of(system: SavedSystem, name: str) -> SavedMetric | None:
    """Return a metric at the first operating point, or None if the system lacks it."""
    try:
        return system.metric(name)
    except InputError:
        return None


def runs_of(paths: Iterable[PathLike]) -> tuple[list[tuple[str, SavedSystem]], list[str]]:
    """Read the saved results of files, and of all JSON files in folders.

    Parameters
    ----------
    paths : iterable of path

    Returns
    -------
    runs : list of (str, SavedSystem)
        Systems with the names of their files; files in folders have their path in the folder as name.
    left_out : list of str
        Reasons why JSON files in folders were left out.

    Notes
    -----
    A file that is named twice, or is also in a folder, is read once. Of files with the same content, the first counts.

    Raises
    ------
    FormatError, OSError
        If a named file has no results, or no file has results.
    """
    runs, left_out, seen = list[tuple[str, SavedSystem]](), list[str](), set[Path]()
    originals = dict[str, Path]()
    for path in map(Path, paths):
        is_folder = path.is_dir()
        for file in sorted(path.rglob("*.json")) if is_folder else [path]:
            if file.resolve() in seen or (is_folder and file.is_dir()):
                continue
            seen.add(file.resolve())
            name = file.relative_to(path).with_suffix("").as_posix() if is_folder else file.stem
            try:
                systems = read_saved(file)
                content = repr([replace(one, origin="") for one in systems])
                if (first := originals.setdefault(content, file)) is not file:
                    left_out.append(f"{display_name(file)}: same results as {display_name(first)}. Counted once.")
                    continue
                runs += [(name, one) for one in systems]
            except (FormatError, OSError) as error:
                if not is_folder:
                    raise
                left_out.append(f"{error} Left out.")
    if not runs:
        raise FormatError("no results: save the output of deciban eval --json in files whose names end in .json.")
    return runs, left_out


def leaderboards(
    runs: Sequence[tuple[str, SavedSystem]], metrics: Sequence[str] = (), *, level: float = 0.95
) -> tuple[list[Leaderboard], list[str]]:
    """Rank saved systems, separately for each set of comparable systems.

    Systems can be compared if they have the same kind of scores, classes, numbers of trials, hash of the key, options
    that choose trials, and operating points of the shown metrics: prior, costs, preset and verifier.

    Parameters
    ----------
    runs : sequence of (str, SavedSystem)
        See `runs_of`.
    metrics : sequence of str
        Names in JSON, such as ``min_dcf@2``. The first ranks the runs; by default ``eer``, or ``cllr`` for multiclass
        scores.
    level : float
        Confidence level of the groups.

    Returns
    -------
    boards : list of Leaderboard
        The largest is first.
    left_out : list of str
        Sentences on systems without the metric that ranks the runs.

    Raises
    ------
    InputError
        If a name is not a metric, or no system has the first one.

    Notes
    -----
    Two runs differ significantly if the p-value of their difference, with Holm's correction for all pairs, is at most
    ``1 - level``. Saved results contain no trials, so the runs are treated as independent. On shared trials, errors are
    usually positively correlated; the test then finds fewer differences than `deciban.compare`.
    """
    level = checked_level(level)
    for name in metrics:
        if name.partition("@")[0] not in RANKING_NAMES:
            usual = ", ".join(dict.fromkeys(one.name for one in (*METRICS, *SPOOFING) if one.tables != "none"))
            raise InputError(
                f"metric: {name!r} is not a metric that ranks runs. Use {usual}, or a metric of classifiers."
            )
    sets: dict[str, list[tuple[str, SavedSystem]]] = {}
    lacking: dict[str, list[SavedSystem]] = {}
    for name, one in runs:
        shown = _shown(one, metrics)
        if value_of(one, shown[0]) is None:
            lacking.setdefault(shown[0], []).append(one)
            continue
        points = [one.operating_point(metric) for metric in shown]
        alike = str((one.kind, one.numbers.get("classes"), _counts(one), points, one.key, one.choices))
        sets.setdefault(alike, []).append((name, one))
    if not sets:
        for name, (one, *_) in lacking.items():
            one.metric(name)  # raises an error
    left_out = [
        f"{shortened(', '.join(f'{one.name} in {one.origin}' for one in some))}: no metric {name!r}. Left out."
        for name, some in lacking.items()
    ]
    boards = [_ranked(some, tuple(metrics) or _shown(some[0][1], ())[:1], level) for some in sets.values()]
    return sorted(boards, key=lambda one: -len(one.runs)), left_out


def _ranked(some: Sequence[tuple[str, SavedSystem]], metrics: tuple[str, ...], level: float) -> Leaderboard:
    metric = metrics[0]
    sign = -1.0 if metric_of(metric.partition("@")[0]).larger_is_better else 1.0
    items = sorted(((name, one, one.metric(metric)) for name, one in some), key=lambda row: sign * row[2].value)
    values = [sign * row[2].value for row in items]
    groups = _groups([(one, result) for _, one, result in items], level)
    runs = [
        RankedRun(name, one, result, 1 + values.index(value), group)
        for (name, one, result), value, group in zip(items, values, groups, strict=True)
    ]
    return Leaderboard(metrics, tuple(runs), level)


def _groups(runs: Sequence[tuple[SavedSystem, SavedMetric]], level: float) -> list[str]:
    """Return the letters of each run; empty for runs without a standard error, or if there are too many letters."""
    sure = _with_errors([result for _, result in runs])
    pairs = list(itertools.combinations(sure, 2))
    p_values = np.array([_p_value(runs[i], runs[j]) for i, j in pairs], np.float64)
    differ = [pair for pair, p in zip(pairs, holm(p_values).tolist(), strict=True) if p <= 1.0 - level]
    return group_letters(len(runs), differ, sure) if len(sure) > 1 else [""] * len(runs)


def _with_errors(metrics: Sequence[SavedMetric]) -> list[int]:
    return [k for k, one in enumerate(metrics) if one.standard_error and math.isfinite(one.value)]


def _p_value(one: tuple[SavedSystem, SavedMetric], other: tuple[SavedSystem, SavedMetric]) -> float:
    """Return the p-value of the difference of two independent runs."""
    error = math.hypot(one[1].standard_error or 0.0, other[1].standard_error or 0.0)
    units = [run.numbers.get("units") for run, _ in (one, other)]
    numbers = [result.get("n") for result in units if isinstance(result, dict)]
    degrees = min([n - 1 for n in numbers if isinstance(n, int) and n > 1], default=math.inf)
    return float(2.0 * special.stdtr(min(degrees, 1e9), -abs(one[1].value - other[1].value) / error))


def group_letters(n_runs: int, differ: Sequence[tuple[int, int]], among: Sequence[int]) -> list[str]:
    """Return letters for runs so that two runs share a letter if and only if they do not differ.

    Texts are empty if more than ``2 * n_runs + 26`` letters would be necessary: their number can grow exponentially.

    Parameters
    ----------
    n_runs : int
    differ : sequence of (int, int)
        Pairs of runs that differ.
    among : sequence of int
        Runs that get letters.

    References
    ----------
    H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational
    and Graphical Statistics 13, 2004.

    Examples
    --------
    >>> group_letters(3, [(0, 2)], [0, 1, 2])
    ['a', 'ab', 'b']
    """
    columns = {sum(1 << k for k in among)}
    for i, j in differ:
        split = {one for one in columns if one >> i & 1 and one >> j & 1}
        parts = {one & ~(1 << k) for one in split for k in (i, j)}
        kept = columns - split
        columns = kept | {one for one in parts if not any(one & ~other == 0 for other in kept | (parts - {one}))}
        if len(columns) > 2 * n_runs + 26:
            return [""] * n_runs
    ordered = sorted(columns, key=lambda one: [k for k in range(n_runs) if one >> k & 1])
    names = [f"{string.ascii_lowercase[k % 26]}{k // 26 or ''}" for k in range(len(ordered))]
    return ["".join(name for name, one in zip(names, ordered, strict=True) if one >> k & 1) for k in range(n_runs)]


def ranges_of_letters(group: str) -> str:
    """Return letters of a group with three or more neighbours as a range.

    Examples
    --------
    >>> ranges_of_letters("abcdf"), ranges_of_letters("yza1b1"), ranges_of_letters("ab")
    ('a-d f', 'y-b1', 'ab')
    """
    letters = _LETTER.findall(group)
    places = [string.ascii_lowercase.index(one[0]) + 26 * int(one[1:] or 0) for one in letters]
    runs = list[list[int]]()
    for k, place in enumerate(places):
        if runs and place == places[runs[-1][-1]] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    if all(len(run) < 3 for run in runs):
        return group
    parts = [letters[run[0]] + ("-" if len(run) > 2 else "") + (letters[run[-1]] if run[1:] else "") for run in runs]
    return " ".join(parts)


_LETTER = re.compile(r"[a-z]\d*")


def remarks(boards: Sequence[Leaderboard]) -> list[str]:
    """Return sentences about the comparability of the runs."""
    lines = list[str]()
    if len(boards) > 1:
        lines.append(
            f"Not all runs can be compared with each other: they have {len(boards)} different combinations of trials, "
            "key and operating point. Each combination has its own table."
        )
    if levels := next((one.levels for one in boards if len(one.levels) > 1), []):
        lines.append(
            f"Intervals have different confidence levels ({', '.join(levels)}): do not compare their widths. Groups do "
            "not depend on these levels."
        )
    if units := next((one.units for one in boards if len(one.units) > 1), []):
        items = shortened(", ".join(counted(*one) for one in units))
        lines.append(f"Intervals have different units ({items}), so that groups can be wrong. Use the same units.")
    ungrouped = [[run.metric for run in one.runs] for one in boards if not any(run.group for run in one.runs)]
    if any(len(_with_errors(metrics)) > 1 for metrics in ungrouped):  # too many letters
        lines.append("No groups: more letters than useful would be necessary. Compare a few runs with deciban compare.")
    unknown = dict.fromkeys(run.system.origin for one in boards for run in one.runs if not run.system.key)
    if unknown:
        lines.append(
            f"Unknown key: {shortened(', '.join(unknown))}. Equal numbers of trials do not prove equal trials: use "
            "deciban eval with a key."
        )
    if any(run.group for one in boards for run in one.runs):
        lines.append(
            "The groups assume independent runs. On the same trials, deciban compare finds smaller differences."
        )
    return lines
