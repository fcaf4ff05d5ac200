"""Terminal tables of fields: spoofing, error rates of biometric verification, and metrics of classifier papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from deciban.biometrics import generalized_rates
from deciban.core.resampling.intervals import LEVEL, Interval
from deciban.errors import amount, not_none, option
from deciban.evaluation.metrics import OF_CLASSIFIERS
from deciban.evaluation.one_system import WithInterval, bounds_in_words, with_interval
from deciban.evaluation.spoofing import COUNTERMEASURE, SINGLE_SCORE, SPOOFING_METRICS
from deciban.tables.results import captioned, errors_in_words, number, percent, rate, say, say_all, table
from deciban.tables.writers import Table

if TYPE_CHECKING:
    from deciban.evaluation import ClassEvaluation, Evaluation, Results
    from deciban.evaluation.spoofing import Measured, SpoofingResults, SpoofingSystem
    from deciban.metrics import CalibrationDiscrepancy
    from deciban.workflows.identifying import Identification
    from deciban.workflows.spoofing.fusion import FusedSpoofing


def print_spoofing(results: SpoofingResults, out: Console, *, everything: bool = False) -> None:
    """Print the metrics of a protocol of spoofing, in its order.

    Parameters
    ----------
    results : SpoofingResults
    out : Console
    everything : bool
        Whether scores that are not log-likelihood ratios also have actual costs and Cllr.
    """
    for one in spoofing_tables(results, everything=everything):
        out.print(one)
    say_all(out, results.remarks, "yellow")


def spoofing_tables(results: SpoofingResults, *, everything: bool = False) -> list[Table]:
    """Return the tables of a protocol of spoofing: systems of each role, their conditions, and the verifier."""
    about = {COUNTERMEASURE: "bona fide trials and spoofs", SINGLE_SCORE: "targets, non-targets and spoofs"}
    tables = list[Table]()
    for role, words in about.items():
        systems = results.of_role(role)
        if not systems:
            continue
        shown = results.shown(systems[0])
        headings = [SPOOFING_METRICS[name].label for name in shown]
        rows = [(one.name, *_cells(one, one.metrics, shown, everything=everything)) for one in systems]
        caption = captioned(f"{results.edition.plan.name}: {words}", [one.evaluation for one in systems])
        tables.append(table(["system", *headings], rows, caption=caption))
        for one in systems:
            tables += _tables_of_conditions(one, shown, everything=everything)
    if results.verifier is not None:
        errors = results.verifier.errors
        cells = [percent(rate) for rate in (errors.p_miss, errors.p_fa, errors.p_fa_spoof)]
        row = (results.verifier.name, *cells, number(errors.threshold, 4))
        headings = ["verifier", "targets rejected", "non-targets accepted", "spoofs accepted", "threshold"]
        has_scores = results.verifier.scores is not None
        tables.append(table(headings, [row], caption="at the threshold of its EER" if has_scores else "as given"))
    return tables


_OF_FUSION = ("min_a_dcf", "act_a_dcf", "sasv_eer", "sv_eer", "spf_eer")


def print_fused_spoofing(done: FusedSpoofing, out: Console) -> None:
    """Print the costs of a countermeasure, a verifier, their cascade and their fusion, and the weights of the fusion.

    Parameters
    ----------
    done : FusedSpoofing
    out : Console
    """
    headings = ["system", *(SPOOFING_METRICS[name].label for name in _OF_FUSION)]
    parts = {"Training trials": done.dev, "Training trials, cross-validated": done.cross_validated}
    parts |= {"Other trials": done.eval}
    for title, one in parts.items():
        if one is None:
            continue
        say(out, title, "bold")
        rows = [(each.name, *_cells(each, each.metrics, _OF_FUSION, everything=False)) for each in one.results.systems]
        cascade = ("cascade", *_cells(one.results.systems[-1], one.costs, _OF_FUSION, everything=True))
        plan = one.results.edition.plan
        caption = captioned(f"costs of {plan.name}, normalized", [each.evaluation for each in one.results.systems])
        out.print(table(headings, [*rows[:-1], cascade, rows[-1]], caption=caption))
        out.print()
    say(out, "Weights", "bold")
    out.print(table(["", "weight"], [(row.name, row.texts[0]) for row in done.model.parameter_rows()]))
    cm, asv = done.model.trained_systems
    best = not_none(done.dev.least, "cascade of the training trials")
    at = f"{cm} >= {best.cm_threshold:.4f} and {asv} >= {best.asv_threshold:.4f}"
    lines = [f"cascade: accept if {at}, the best pair of thresholds for the training trials"]
    if done.dev.costs["act_a_dcf"].interval is not None:
        lines.append("Intervals of the cascade hold its thresholds fixed.")
    shares = ", ".join(f"{share:.3f}" for share in done.model.prior or ())
    lines.append(f"weights of targets, non-targets and spoofs in training (prior x cost, sum 1): {shares}")
    if done.eval is None and done.cross_validated is None:
        lines.append(
            f"Costs on training trials are optimistic: cross-validate, or use other trials ({option(test_key=...)})."
        )
    say_all(out, [*lines, *done.model.training_lines()])


def _tables_of_conditions(one: SpoofingSystem, lines: Sequence[str], *, everything: bool) -> list[Table]:
    """Return the metrics of a system in each condition, one table for each partition of the trials."""
    by_columns = dict[tuple[str, ...], list[tuple[str, ...]]]()
    lines = [name for name in lines if any(name in metrics for _, metrics in one.conditions)]
    for condition, metrics in one.conditions:
        cells = _cells(one, metrics, lines, everything=everything)
        names = ["-" if value is None else value for value in condition.values.values()]
        row = (*names, *map(amount, condition.trials.values()), *cells)
        by_columns.setdefault(tuple(condition.values), []).append(row)
    words = ("bona fide", "spoofs") if one.role == COUNTERMEASURE else ("targets", "others")
    headings = [SPOOFING_METRICS[name].label for name in lines]
    return [
        table([*columns, *words, *headings], rows, n_left=len(columns), caption=f"{one.name} by {', '.join(columns)}")
        for columns, rows in by_columns.items()
    ]


def _cells(
    one: SpoofingSystem, metrics: Mapping[str, Measured], shown: Sequence[str], *, everything: bool
) -> list[str]:
    """Write metrics with their intervals."""
    lines = list[str]()
    for name in shown:
        metric, measured = SPOOFING_METRICS[name], metrics.get(name)
        if measured is None or (metric.needs_llrs and not (everything or one.are_llrs)):
            lines.append("-")
            continue
        text = metric.text(measured.value)
        if measured.interval is not None:
            low, high = bounds_in_words(measured.interval, in_percent=metric.in_percent, beside=text)
            text = WithInterval(text, low, high)
        lines.append(text)
    return lines


def biometric_rates(systems: Sequence[Evaluation], heading: str = "system") -> Table:
    """Return a table of FNMR at limits of the FMR, the highest limit first, with numbers of errors."""
    unit = "log10" if all(one.axis == "log10" for one in systems) else "nats"
    rows = list[Sequence[str]]()
    for one in systems:
        items = [(k, row) for k, row in enumerate(one.requested.rates_at) if row.limited == "fmr"]
        for k, row in sorted(items, key=lambda pair: -pair[1].limit):
            place, *counts = errors_in_words(row.errors, unit)
            text = with_interval(rate(row.rate), one, ("rates_at", k))
            fmr = rate(row.errors.n_fa / row.errors.n_non)
            rows.append((one.name, f"{100 * row.limit:.6g} %", fmr, text, *counts, place))
    words = "FMR: no interval, as the threshold was chosen on these comparisons; threshold: accept at and above"
    threshold = "threshold in log10" if unit == "log10" else "threshold"
    headings = [heading, "FMR at most", "FMR", "FNMR", "false non-matches", "false matches", threshold]
    return table(headings, rows, caption=captioned(words, systems))


def identification_tables(systems: Sequence[Identification]) -> list[Table]:
    """Return a table of rates by rank, and one of rates in an open set if there are probes without a mate."""
    ranks, note = systems[0].ranks, f"{100 * systems[0].cmc.level:.6g} % intervals by subject"
    rows, more = list[Sequence[str]](), list[Sequence[str]]()
    for one in systems:
        rates = one.cmc.rates
        cells = [_with_bounds(rates.value[k - 1], rates.low[k - 1], rates.high[k - 1]) for k in ranks]
        counts = map(amount, (one.n_mated, one.cmc.n_subjects))
        rows.append((one.name, *cells, *counts))
        for row in one.open_set:
            shares = (f"{k:,} of {n:,}" for k, n in ((row.n_identified, row.n_mated), (row.n_false, row.n_nonmated)))
            dir_cell = _with_bounds(row.rate, row.low, row.high)
            rates_of_row = (f"{100 * row.limit:.6g} %", rate(row.fpir), dir_cell)
            more.append((one.name, *rates_of_row, *shares, number(row.threshold, 4)))
    headings = ["system", *(f"rank {k}" for k in ranks), "mated probes", "subjects"]
    caption = f"share of mated probes with the mate among the first k candidates; [{note}]"
    tables = [table(headings, rows, caption=caption)]
    if more:
        headings = ["system", "FPIR at most", "FPIR", "DIR", "identified", "false positives", "threshold"]
        words = "DIR: rank 1, at or above the threshold"
        tables.append(table(headings, more, caption=f"{words}; [{note}, threshold held fixed]"))
    return tables


def _with_bounds(value: float, low: float, high: float) -> str:
    """Write a rate in percent with its interval, if it has one."""
    text = rate(float(value))
    if not math.isfinite(low):
        return text
    ends = Interval(float(value), float(low), float(high), math.nan, None, LEVEL, 0, "")
    return WithInterval(text, *bounds_in_words(ends, in_percent=True, beside=text))


def field_tables(results: Results[Evaluation]) -> list[Table]:
    """Return the tables of the field of a protocol, biometric or forensic; none for others."""
    primary = results.primaries[0].plan.primary if results.primaries else ""
    makers = {"fnmr_at_fmr": (biometric_rates,), "cllr": (forensic_metrics, discrepancy_table)}
    return [make(results.systems) for make in makers.get(primary, ())]


def forensic_metrics(systems: Sequence[Evaluation]) -> Table:
    """Return a table of accuracy, discrimination and calibration of likelihood ratios, and of misleading evidence."""
    names = ("cllr", "min_cllr", "calibration_loss")
    rows = []
    for one in systems:
        evidence = one.misleading[0]
        rates = ((evidence.p_tar, "misleading_tar"), (evidence.p_non, "misleading_non"))
        cells = [with_interval(number(getattr(one, name)), one, name) for name in names]
        cells += [with_interval(percent(one.eer), one, "eer"), number(one.curves.pav.deviation)]
        cells += [with_interval(rate(value), one, (name, 0)) for value, name in rates]
        rows.append((one.name, *cells))
    evidence_of = ("LR < 1, targets", "LR > 1, non-targets")
    headings = ["system", "Cllr", "min Cllr", "calibration loss", "EER (ROCCH)", "devPAV", *evidence_of]
    words = "Cllr in bits; calibration loss = Cllr - min Cllr; devPAV in log10; LR < 1 for targets and LR > 1 for "
    caption = captioned(f"{words}non-targets are misleading evidence", systems)
    return table(headings, rows, caption=caption)


def discrepancy_table(systems: Sequence[Evaluation]) -> Table:
    """Return a table of the calibration discrepancy in each decade of the likelihood ratio."""
    rows = [
        (one.name, f"{row.low_edge:g} to {row.high_edge:g}", amount(row.n_tar), amount(row.n_non), _discrepancy(row))
        for one in systems
        for row in one.requested.discrepancies
    ]
    together = [(one.name, one.requested.discrepancy) for one in systems]
    least = [
        f"{name}: {f'some exclude 0, by at most {number(x, 2)}' if x else 'all contain 0'}" for name, x in together
    ]
    words = (
        "log10(reported LR / LR of the data): above 0, reported LRs are too large; a row with limits alone: one "
        "class has no trials in this range"
    )
    intervals = "[95 % fiducial limits of each row, trials taken as independent]"
    headings = ["system", "log10 LR", "targets", "non-targets", "discrepancy"]
    caption = f"{words}; {intervals}; limits that hold for all rows together: {'; '.join(least)}"
    return table(headings, rows, n_left=2, caption=caption)


def _discrepancy(row: CalibrationDiscrepancy) -> str:
    if math.isnan(row.value):
        return "-"
    value, low, high = (f"{end:+.2f}" for end in (row.value, row.low, row.high))
    return f"{value if math.isfinite(row.value) else ''} [{low}, {high}]".lstrip()


def generalized_table(systems: Sequence[Evaluation], failures: Mapping[str, tuple[int, int]]) -> Table:
    """Return a table of error rates of transactions at limits of a rate, with failures to enrol and to acquire."""
    rows, (enrol, acquire) = list[Sequence[str]](), (failures["enrol"], failures["acquire"])
    for one in systems:
        for row in sorted(one.requested.rates_at, key=lambda row: (row.limited, -row.limit)):
            result = generalized_rates(row.errors.p_fa, row.errors.p_miss, enrol=enrol, acquire=acquire)
            limit = f"{'FMR' if row.limited == 'fmr' else 'FNMR'} {100 * row.limit:.6g} %"
            rows.append((one.name, limit, *map(rate, (result.far, result.frr, result.gfar, result.gfrr))))
    counts = [
        f"{name} {rate(value)} [{', '.join(f'{100 * end:.2g}' for end in ends)}], {k} of {n:,}"
        for name, value, ends, (k, n) in (
            ("FTE", result.fte, result.fte_interval, enrol),
            ("FTA", result.fta, result.fta_interval, acquire),
        )
    ]
    caption = f"{'; '.join(counts)}; intervals for independent attempts"
    return table(["system", "limit", "FAR", "FRR", "GFAR", "GFRR"], rows, n_left=2, caption=caption)


def classifier_tables(systems: Sequence[Evaluation | ClassEvaluation]) -> Iterator[Table]:
    """Yield tables of the metrics of classifier papers: of decisions and ranks, and of posteriors."""
    items = [(one, values) for one in systems for values in one.requested.classifier]
    if not items:
        return
    kind, (_, first) = systems[0].kind, items[0]
    about, captions = {"p_target": "share"}, _OF_TWO_CLASSES
    if kind == "classes":
        about, captions = {}, (_OF_DECISIONS.format(k=int(first["k"])), _OF_POSTERIORS)
    for labels, words in zip(OF_CLASSIFIERS[kind], captions, strict=True):
        rows = [
            (
                one.name,
                *(f"{values[name]:.4g}" for name in about),
                *(with_interval(number(values[name], 4), one, (name, 0)) for name in labels),
            )
            for one, values in items
        ]
        yield table(["system", *about.values(), *labels.values()], rows, caption=captioned(words, systems))


_OF_TWO_CLASSES = (
    "at the share of targets in the data; decisions at posterior 0.5; best F1: at its best threshold",
    "posteriors at this share; ECE, ACE and MCE (15 bins) are also 0 for scores without information; log loss in nats",
)
_OF_DECISIONS = "decisions for the largest posterior at the shares of the classes in the data; k = {k}"
_OF_POSTERIORS = "posteriors at these shares; ECE and ACE (15 bins): mean over classes; log loss in nats"
