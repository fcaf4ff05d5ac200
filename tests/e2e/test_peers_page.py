"""The page of peers: its tables are those of the snippets, ours are right by definition, others say it again."""

import itertools
import math
import re
import runpy
import tomllib
from fractions import Fraction

import numpy as np
import pytest

from deciban.metrics import eer_conventions
from support.pages import DOCS, page

BENCHMARKS = DOCS.parent / "benchmarks"
TASKS = tomllib.loads((BENCHMARKS / "peer_tasks.toml").read_text())
WORKER = runpy.run_path(str(BENCHMARKS / "peer_worker.py"))
SETS = {name: tuple(np.array(side, dtype=float) for side in sides) for name, sides in WORKER["SETS"].items()}
HERE = ("numpy", "scipy", "scikit-learn")
"""Peers that are installed where tests run."""


def tables(task):
    """Both tables of a task as lists of rows of cells."""
    (text,) = re.findall(rf"<!-- peers: {task} -->\n(.*?)<!-- end -->", page("peers.md"), flags=re.DOTALL)
    return [
        [
            [cell.strip() for cell in line.split("|")[1:-1]]
            for line in table.splitlines()
            if not line.startswith("| ---")
        ]
        for table in text.strip().split("\n\n")
    ]


@pytest.mark.parametrize("task", TASKS)
def test_tables_are_those_of_the_snippets(task):
    found, cost = tables(task)
    tools = TASKS[task]["tools"]
    assert [row[0] for row in found[1:]] == [row[0] for row in cost[1:]] == list(tools)
    assert [int(row[1]) for row in cost[1:]] == [len(code.strip().splitlines()) for code in tools.values()]
    assert all(len(row) == len(table[0]) for table in (found, cost) for row in table)
    assert found[0][-len(TASKS[task].get("edges", ())) :] == TASKS[task].get("edges", found[0])
    assert not [row for row in found if any("Error" in cell for cell in row) and row[0].startswith("deciban")]


def errors(tar, non):
    """Misses and false alarms at every threshold, in exact fractions."""
    places = [math.inf, *sorted({*tar, *non}, reverse=True)]
    return [
        (Fraction(int(sum(tar < t)), len(tar)), Fraction(int(sum(non >= t)), len(non))) for t in (*places, -math.inf)
    ]


def eer(tar, non):
    """The least rate where a coin between two thresholds makes both rates equal."""
    points = errors(tar, non)
    found = []
    for (m, f), (n, g) in itertools.product(points, repeat=2):
        if m <= f and n >= g:
            coin = Fraction(1) if m == f else (f - m) / ((f - m) + (n - g))
            found.append(m + coin * (n - m) if m != f else m)
    return [min(found)]


def auc(tar, non):
    return [np.mean([(t > n) + (t == n) / 2 for t in tar for n in non])]


def min_dcf(tar, non):
    return [min(p * m + (1 - p) * f for m, f in errors(tar, non)) / p for p in (1e-3, 1e-6)]


def act_dcf(tar, non):
    cuts = {p: math.log((1 - p) / p) for p in (1e-3, 1e-6)}
    return [(p * sum(tar < cut) / len(tar) + (1 - p) * sum(non >= cut) / len(non)) / p for p, cut in cuts.items()]


def cllr(tar, non):
    def bits(llrs):
        return [max(-x, 0) / math.log(2) + math.log2(1 + math.exp(-abs(x))) for x in llrs]

    return [(np.mean(bits(tar)) + np.mean(bits(-non))) / 2]


@pytest.mark.parametrize("edge", SETS)
@pytest.mark.parametrize(
    ("task", "by_definition"), [("eer", eer), ("auc", auc), ("min-dcf", min_dcf), ("act-dcf", act_dcf), ("cllr", cllr)]
)
def test_what_the_page_has_of_deciban_is_right_by_definition(task, by_definition, edge):
    found, _ = tables(task)
    (ours,) = [row for row in found if row[0] == "deciban"]
    cells = ours[found[0].index(edge)].split(", ")
    assert [float(cell) for cell in cells] == pytest.approx(
        [float(one) for one in by_definition(*SETS[edge])], rel=1e-3, abs=1e-12
    )


def answer(task, tool, given):
    names = dict(given)
    exec(TASKS[task]["tools"][tool], names)  # noqa: S102
    return np.asarray(names["answer"], dtype=float)


METRICS = [name for name, task in TASKS.items() if "judge" not in task and not {*HERE}.isdisjoint(task["tools"])]


@pytest.mark.parametrize("task", METRICS)
def test_tools_that_are_here_agree(task):
    pytest.importorskip("sklearn")
    given = WORKER["inputs"](TASKS[task]["inputs"], "300")
    ours = answer(task, "deciban", given)
    if task == "eer":
        ours = eer_conventions(given["tar"], given["non"])["interpolated"]
    for tool in {*HERE} & {*TASKS[task]["tools"]}:
        assert answer(task, tool, given) == pytest.approx(ours, rel=1e-7, abs=1e-9), tool


def test_no_optimum_of_the_page_is_lower_than_ours():
    for task in {*TRAINED} - {"isotonic"}:  # that is judged on other trials
        titles, *rows = tables(task)[0]
        ours = next(row for row in rows if row[0] == "deciban")
        assert all(
            float(cell) < 1e-12 for title, cell in zip(titles, ours, strict=True) if title.startswith("above")
        ), task


TRAINED = [name for name, task in TASKS.items() if "judge" in task]


@pytest.mark.parametrize("task", TRAINED)
def test_nobody_gets_below_what_deciban_reaches(task):
    pytest.importorskip("sklearn")
    given = WORKER["inputs"](TASKS[task]["inputs"], "300")
    reached = {}
    for tool in ("deciban", *({*HERE} & {*TASKS[task]["tools"]})):
        names = given | {"answer": answer(task, tool, given)}
        exec(TASKS[task]["judge"], names)  # noqa: S102
        reached[tool] = names["reached"]
    slack = 0.02 if task == "isotonic" else 1e-9  # that is judged on other trials
    assert reached["deciban"] <= min(reached.values()) + slack
