"""Metrics of results as Arrow tables, data frames and Excel workbooks, and in experiment trackers (MLflow, W&B)."""

from __future__ import annotations

import io
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, overload

import pyarrow as pa

from deciban.errors import InputError, one_line
from deciban.evaluation.metrics import METRICS, Metric
from deciban.evaluation.one_system import OneSystem, Tabular, shown_interval
from deciban.evaluation.uncertainty import MetricKey
from deciban.tables.results import TableConsole
from deciban.tables.writers import Table, bare
from deciban.trials.frames import require_library
from deciban.types import ByValue, Foreign, Frame, Json

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

    from deciban.core.resampling.intervals import Interval
    from deciban.evaluation.multiclass.result import ClassEvaluation

_INFINITE = {"inf": float("inf"), "-inf": float("-inf")}
_TEXTS = ("name", "kind", "class", "role", "trials", "part", "by", "condition")
"""Columns of text, in which `inf` would be a name."""


def arrow_of(result: Tabular, by: str = "system") -> pa.Table:
    """Return an Arrow table of metrics; see `deciban.evaluation.Results.to_arrow`.

    Parameters
    ----------
    result : Results, Evaluation, ClassEvaluation or Trained
    by : {"system", "point", "class"}

    Raises
    ------
    InputError
    """
    ways = ("system", "point", "class")
    if by not in ways:
        raise InputError(f"by: got {by!r}. It must be one of {', '.join(map(repr, ways))}.")
    rows = [
        {"name": one.name, **labels, **row}
        for labels, one in result.labelled()
        for row in _rows(one, one.to_dict(), by)
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def frame_of(result: Tabular, by: str = "system") -> Frame:
    """Return a pandas data frame of metrics; see `deciban.evaluation.Results.to_frame`.

    Raises
    ------
    InputError
        If pandas is not installed, or as in `arrow_of`.
    """
    require_library("pandas", "to_frame")
    return arrow_of(result, by).to_pandas()


def _rows(one: OneSystem, entries: Mapping[str, Any], by: str) -> list[dict[str, Any]]:
    if by == "class":
        return _class_rows(one, entries)
    return [_scalars(part) for part in (entries["operating_points"] if by == "point" else [entries])]


def _class_rows(one: Any, entries: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not getattr(one, "classes", ()):
        raise InputError(f"by: the scores of {one.name} have two classes. Use by='system' or by='point'.")
    detectors = {metrics.pop("target"): metrics for metrics in entries["detectors"]}
    rows = zip(one.classes, entries["counts"], entries["class_error_rates"], strict=True)
    none = dict.fromkeys(next(iter(detectors.values()), {}))
    return [
        {"class": name, "count": n, "error_rate": rate} | _scalars(detectors.get(name, none)) for name, n, rate in rows
    ]


def _scalars(entries: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the scalars of an object and of nested objects, with the bounds of intervals; lists are left out."""
    row: dict[str, Any] = {}
    for name, value in entries.items():
        if name == "intervals":
            row |= _bounds(value, before)
        elif isinstance(value, Mapping):
            row |= _scalars(value, f"{before}{name}_")
        elif not isinstance(value, list | tuple):
            is_infinite = isinstance(value, str) and name not in _TEXTS
            row[f"{before}{name}"] = _INFINITE.get(value, value) if is_infinite else value
    return row


def _bounds(intervals: Mapping[str, Any], before: str) -> dict[str, Any]:
    """Return both bounds of each metric; metrics of nested objects have joined names."""
    row: dict[str, Any] = {}
    for name, result in intervals.items():
        if "low" in result:
            row |= {f"{before}{name}_{side}": _INFINITE.get(result[side], result[side]) for side in ("low", "high")}
        else:
            row |= _bounds(result, f"{before}{name}_")
    return row


@dataclass(frozen=True, slots=True, eq=False)
class MetricRow(ByValue):
    """The value of one metric.

    Attributes
    ----------
    system, condition : str
        The condition is empty for all trials.
    metric : str
        Name, as in `deciban.evaluation.metrics`.
    place : str
        Operating point, prior or class; empty if the metric has one value.
    value : float
    low, high, corrected : float or None
        Limits of the confidence interval, and the value to expect on new units; None if unknown.
    """

    system: str
    condition: str
    metric: str
    place: str
    value: float
    low: float | None
    high: float | None
    corrected: float | None


@dataclass(frozen=True, slots=True, repr=False)
class MetricTable(Sequence[MetricRow]):
    """Table of all metrics of results, one per row; see `deciban.evaluation.Results.metrics`.

    Parameters
    ----------
    rows : tuple of MetricRow
        Tables with equal rows are equal; NaN equals NaN.
    """

    rows: tuple[MetricRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> MetricRow: ...

    @overload
    def __getitem__(self, at: slice) -> MetricTable: ...

    def __getitem__(self, at: int | slice) -> MetricRow | MetricTable:
        return MetricTable(self.rows[at]) if isinstance(at, slice) else self.rows[at]

    def __repr__(self) -> str:
        return f"MetricTable({len(self)} rows)"

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; unknown values are null."""
        texts, numbers = ("system", "condition", "metric", "place"), ("value", "low", "high", "corrected")
        schema = pa.schema([(name, pa.string()) for name in texts] + [(name, pa.float64()) for name in numbers])
        return pa.Table.from_pylist([asdict(row) for row in self.rows], schema=schema)

    def to_frame(self) -> Frame:
        """Return the rows as a pandas data frame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        require_library("pandas", "to_frame")
        return self.to_arrow().to_pandas()


def metric_table(result: Tabular) -> MetricTable:
    """Return all metrics of results, one per row; the metrics of a protocol of spoofing come first.

    Parameters
    ----------
    result : Results, SpoofingResults, Evaluation or ClassEvaluation
    """
    rows = list[MetricRow]()
    for name, where, metric, one in getattr(result, "of_protocol", ()):
        rows.append(MetricRow(name, where, metric.name, "", one.value, *_ends(one.interval)))
    for labels, one in result.labelled():
        condition = labels.get("condition", labels.get("part", ""))
        by = labels.get("by", "")
        where = "" if condition == "pooled" else f"{by}: equalized" if condition == "equalized" else condition
        system, lists = (one if hasattr(one, "estimates") else one.evaluation), dict[str, Any]()
        for metric in METRICS:
            if system.kind in metric.kinds:
                values = _values(metric, system, lists)
                rows += [_row(one.name, where, metric.name, *entry, system) for entry in values]
        rows += _requested_metrics(one.name, where, system, lists)
        rows += _class_metrics(one.name, where, system)
    return MetricTable(tuple(rows))


def _row(  # noqa: PLR0917
    name: str, condition: str, metric: str, key: MetricKey, place: str, value: float, one: OneSystem
) -> MetricRow:
    return MetricRow(name, condition, metric, place, value, *_ends(shown_interval(one, key)))


def _ends(interval: Interval | None) -> tuple[float | None, float | None, float | None]:
    """Return both ends of an interval, and the corrected value."""
    return (None, None, None) if interval is None else (interval.low, interval.high, interval.corrected)


def _values(metric: Metric, one: OneSystem, lists: dict[str, Any]) -> Iterator[tuple[MetricKey, str, float]]:
    """Yield key, place and value of a metric; `lists` caches the JSON of the system."""
    if metric.per == "system":
        if metric.name.startswith("mean_") or hasattr(one, metric.name):
            yield metric.name, "", one.value(metric.name)
    elif metric.per == "point":
        for k, name in enumerate(one.point_names):
            yield (metric.name, k), name, one.value((metric.name, k))
    else:
        if not lists:
            lists.update(one.to_dict())
        place, key = metric.json
        for k, entry in enumerate(lists.get(place) or ()):
            value = _entry_value(entry, key)
            if isinstance(value, int | float | str):
                at = "" if "k" in entry and metric.name != "top_k_accuracy" else _place_of(entry)
                yield (metric.name, k), at, float(value)


def _entry_value(entry: Mapping[str, Any], key: str) -> Json:
    """Return a number of a JSON entry; posterior scores have a total and parts."""
    for name, value in entry.items():
        if isinstance(value, Mapping) and key.startswith(name):
            return value.get(key.removeprefix(name).removeprefix("_") or "total")
    return entry.get(key)


def _place_of(entry: Mapping[str, Any]) -> str:
    """Return the place of a JSON entry from its first value: a prior, a factor or a name."""
    name, first = next(iter(entry.items()))
    if isinstance(first, list):
        first = first[0] if len(first) == 2 else "flat" if len(set(first)) == 1 else ",".join(f"{p:.4g}" for p in first)
    return first if name == "name" else f"{name} {first:.6g}" if isinstance(first, float) else f"{name} {first}"


def _requested_metrics(name: str, condition: str, one: OneSystem, entries: Mapping[str, Any]) -> Iterator[MetricRow]:
    """Yield rates at a limit of the other rate, and the EER by other conventions."""
    at = 0
    for where, key in (("fnmr_at_fmr", "fnmr"), ("fmr_at_fnmr", "fmr")):
        for entry in entries.get(where) or ():
            yield _row(name, condition, where, ("rates_at", at), _place_of(entry), float(entry[key]), one)
            at += 1
    for convention, value in (entries.get("eer_conventions") or {}).items():
        metric = "eer_conventions"
        yield _row(name, condition, metric, (metric, convention), convention, float(value), one)


def _class_metrics(name: str, condition: str, one: ClassEvaluation) -> Iterator[MetricRow]:
    """Yield error rate and detection metrics of each class."""
    for k, target in enumerate(getattr(one, "classes", ())):
        rate = float(one.class_error_rates[k])
        yield _row(name, condition, "class_error_rate", ("class_error_rates", target), target, rate, one)
        for which, value in one.detectors.get(target, {}).items():
            key = ("detectors", target, which)
            yield _row(name, condition, f"detection_{which}", key, target, float(value), one)


_ALLOWED = re.compile(r"[^\w ./-]")
"""Characters that MLflow refuses in names of metrics."""

_MOST = 1000
"""Number of metrics that MLflow accepts in one call."""

_KINDS = (
    "run: got {}. Pass the module mlflow, a run of mlflow.start_run, (MlflowClient, run_id), or a run of wandb.init."
)


def logged_metrics(result: Tabular, prefix: str = "") -> dict[str, float]:
    """Return finite metrics and bounds by name: ``eer``, ``eer_low``, ``min_dcf p_target 0.01``, ...

    Parameters
    ----------
    result : Results, Evaluation or ClassEvaluation
    prefix : str
        Start of all names.

    Notes
    -----
    Names start with the system if there are several, and with the condition if there is one.
    """
    rows = metric_table(result)
    several = len({row.system for row in rows}) > 1
    entries: dict[str, float] = {}
    for row in rows:
        folders = [row.system if several else "", row.condition]
        for end, value in (("", row.value), ("_low", row.low), ("_high", row.high)):
            parts = [part for part in (*folders, f"{row.metric}{end} {row.place}".rstrip()) if part]
            if value is not None and math.isfinite(value):
                name = prefix + "/".join(_ALLOWED.sub("_", part.replace("/", "_")) for part in parts)
                if name in entries:
                    raise InputError(f"log_to: two metrics would be called {name!r}. Rename the systems.")
                entries[name] = float(value)
    return entries


_CURVES = {"two-class": ("det", "bayes_error"), "classes": ("class_losses", "c_avg_curve")}
"""Plots that are logged, by the kind of results."""


def log_to(
    result: Any, run: Foreign, *, prefix: str = "", page: bool = True, curves: bool = True, step: int | None = None
) -> None:
    """Log metrics, curves and the page of results to a run; see `deciban.Evaluation.log_to`."""
    metrics = logged_metrics(result, prefix)
    log, keep, image = _functions(run, step)
    with tempfile.TemporaryDirectory() as folder:
        start = f"{folder}/{re.sub(r'[^0-9A-Za-z._-]', '-', prefix)}"
        pictures = {name: Path(f"{start}{name}.png") for name in (_CURVES[result.kind] if curves else ())}
        for name, path in pictures.items():
            getattr(result.plot, name)().figure.savefig(path)
        log(metrics | {prefix + name: image(str(path)) for name, path in pictures.items() if image})
        kept = [] if image else [*pictures.values()]
        if page:
            kept.append(Path(f"{start}deciban.html"))
            result.explore().save(kept[-1])
        for path in kept:
            keep(path)


def _functions(run: Foreign, step: int | None) -> tuple[Any, Any, Any]:
    """Return functions that log metrics and keep a file; and for Weights & Biases one that makes a loggable image.

    Raises
    ------
    InputError
        If the run is of another kind.
    """
    more: dict[str, Any] = {} if step is None else {"step": step}
    if isinstance(run, tuple) and len(run) == 2 and hasattr(run[0], "log_batch"):
        return _of_client(run[0], str(run[1]), step)
    if hasattr(run, "log_metrics") and hasattr(run, "log_artifact"):  # the module mlflow

        def log(metrics: dict[str, float]) -> None:
            for some in _batches(metrics):
                run.log_metrics(some, **more)

        return log, lambda path: run.log_artifact(str(path)), None
    if hasattr(run, "log") and hasattr(run, "log_artifact"):  # a run of Weights & Biases

        def keep(path: Path) -> None:
            logged = run.log_artifact(str(path), name=path.stem, type="report")
            if hasattr(logged, "wait") and getattr(run, "offline", False) is False:
                logged.wait()  # the file is temporary

        image = sys.modules["wandb"].Image if type(run).__module__.startswith("wandb.") else None
        return lambda metrics: run.log(metrics, **more), keep, image
    if hasattr(getattr(run, "info", None), "run_id"):  # a run of MLflow
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            raise InputError("run: a run of MLflow, but mlflow is not installed.") from error
        return _of_client(MlflowClient(), run.info.run_id, step)
    raise InputError(_KINDS.format(type(run).__name__))


def _of_client(client: Foreign, run_id: str, step: int | None) -> tuple[Any, Any, None]:
    def log(metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            client.log_metric(run_id, name, value, step=step)

    return log, lambda path: client.log_artifact(run_id, str(path)), None


def _batches(metrics: dict[str, float]) -> Iterator[dict[str, float]]:
    """Yield metrics in parts that MLflow accepts."""
    names = list(metrics)
    for first in range(0, len(names), _MOST):
        yield {name: metrics[name] for name in names[first : first + _MOST]}


_MOST_ROWS, _WIDEST = 1_048_575, 60
"""Rows of a sheet below its headings, and the width of the widest column."""

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
"""Characters that names of sheets must not contain."""


class WorkbookConsole(TableConsole):
    """Console that keeps tables and texts for an Excel workbook instead of printing them."""

    def __init__(self) -> None:
        super().__init__("csv", file=io.StringIO())
        self._tables, self._texts = list[Table](), list[str]()

    def print(self, *objects: object, **_how: object) -> None:
        """Keep tables, or a text."""
        for one in objects:
            if isinstance(one, Table):
                self._tables.append(one)
            elif str(one).strip():
                self._texts.append(str(one))

    def save(self, stream: IO[bytes], metrics: Iterable[MetricRow] = ()) -> None:
        """Write the workbook: metrics, tables, and notes.

        Parameters
        ----------
        stream : binary stream
        metrics : iterable of MetricRow

        Raises
        ------
        InputError
            If openpyxl is not installed, or a table has too many rows for Excel.
        """
        try:
            import openpyxl
        except ImportError as error:
            raise InputError("table: xlsx needs openpyxl: pip install 'deciban[excel]'.") from error
        book = openpyxl.Workbook()
        book.remove(book.active)
        rows = [astuple(row) for row in metrics]
        if rows:
            _fill(book.create_sheet("metrics"), [one.name for one in fields(MetricRow)], rows)
        for k, table in enumerate(self._tables, 1):
            result = bare(table, bounds_apart=True)
            named = _FORBIDDEN.sub(" ", one_line(next(filter(None, (table.headings[0], *table.headings[1:])), "table")))
            sheet = book.create_sheet(f"{k} {named}"[:31])
            cells = [
                [one if at < result.n_left else _as_number(one) for at, one in enumerate(result.cells(row))]
                for row in result.rows
            ]
            _fill(sheet, result.headings, cells, result.caption.splitlines())
        if self._texts:
            _fill(book.create_sheet("notes"), ["notes"], [[text] for text in self._texts])
        book.save(stream)


def _as_number(text: str) -> str | float:
    """Return the number that a cell contains, otherwise its text."""
    return float(text) if _NUMBER.fullmatch(text) else text


def _fill(sheet: Worksheet, headings: Sequence[str], rows: Sequence[Sequence[Any]], below: Sequence[str] = ()) -> None:
    """Write headings, rows and lines below them; text is never a formula."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    if len(rows) > _MOST_ROWS:
        raise InputError(f"table: {len(rows):,} rows, but a sheet has {_MOST_ROWS:,}. Write JSON.")
    for at, row in enumerate([headings, *rows, *([[], *([line] for line in below)] if below else [])], 1):
        for k, value in enumerate(row, 1):
            if value is None or (isinstance(value, float) and math.isnan(value)):
                continue
            cell = sheet.cell(at, k)
            is_number = isinstance(value, int | float) and math.isfinite(value)
            cell.value = value if is_number else one_line(str(value))
            if not is_number:
                cell.data_type = "s"
            if at == 1:
                cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for k in range(len(headings)):
        longest = max((len(str(row[k])) for row in [headings, *rows[:1000]] if k < len(row)), default=8)
        sheet.column_dimensions[get_column_letter(k + 1)].width = min(longest + 2, _WIDEST)
