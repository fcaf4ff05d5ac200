"""Results in experiment trackers: metrics and the page, for MLflow and Weights & Biases."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deciban.errors import InputError
from deciban.evaluation.one_system import Tabular
from deciban.tables.frames import metric_table

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
    found: dict[str, float] = {}
    for row in rows:
        folders = [row.system if several else "", row.condition]
        for end, value in (("", row.value), ("_low", row.low), ("_high", row.high)):
            parts = [part for part in (*folders, f"{row.metric}{end} {row.place}".rstrip()) if part]
            if value is not None and math.isfinite(value):
                name = prefix + "/".join(_ALLOWED.sub("_", part.replace("/", "_")) for part in parts)
                if name in found:
                    raise InputError(f"log_to: two metrics would be called {name!r}. Rename the systems (names=).")
                found[name] = float(value)
    return found


def log_to(result: Any, run: Any, *, prefix: str = "", page: bool = True, step: int | None = None) -> None:
    """Log metrics and the page of results to a run; see `deciban.Evaluation.log_to`."""
    metrics = logged_metrics(result, prefix)
    log, keep = _functions(run, step)
    log(metrics)
    if page:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{re.sub(r'[^0-9A-Za-z._-]', '-', prefix)}deciban.html"
            result.explore().save(path)
            keep(path)


def _functions(run: Any, step: int | None) -> tuple[Any, Any]:
    """Return functions that log metrics and keep a file.

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

        return log, lambda path: run.log_artifact(str(path))
    if hasattr(run, "log") and hasattr(run, "log_artifact"):  # a run of Weights & Biases

        def keep(path: Path) -> None:
            logged = run.log_artifact(str(path), name=path.stem, type="report")
            if hasattr(logged, "wait") and getattr(run, "offline", False) is False:
                logged.wait()  # the file is temporary

        return lambda metrics: run.log(metrics, **more), keep
    if hasattr(getattr(run, "info", None), "run_id"):  # a run of MLflow
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            raise InputError("run: a run of MLflow, but mlflow is not installed.") from error
        return _of_client(MlflowClient(), run.info.run_id, step)
    raise InputError(_KINDS.format(type(run).__name__))


def _of_client(client: Any, run_id: str, step: int | None) -> tuple[Any, Any]:
    def log(metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            client.log_metric(run_id, name, value, step=step)

    return log, lambda path: client.log_artifact(run_id, str(path))


def _batches(metrics: dict[str, float]) -> Iterator[dict[str, float]]:
    """Yield metrics in parts that MLflow accepts."""
    names = list(metrics)
    for first in range(0, len(names), _MOST):
        yield {name: metrics[name] for name in names[first : first + _MOST]}
