"""What the page on clusters shows runs, and prints what it says."""

import ast
import logging
import re
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pages import page, run_python

distributed = pytest.importorskip("distributed", reason="needs dask and distributed")

PAGE = page("cluster.md").partition("## Independent jobs")[0]
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


def test_what_needs_a_cluster_to_run_is_python_at_least():
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", PAGE, flags=re.MULTILINE)
    programs = [block for block in blocks if "import deciban" in block]
    assert len(programs) == 2
    for program in programs:
        ast.parse(textwrap.dedent(program))


@pytest.fixture(scope="module")
def address():
    """Of a scheduler with a worker, both in this process."""
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": "127.0.0.1:0"}
    here = {"processes": False, "protocol": "tcp://", "n_workers": 1, "threads_per_worker": 1}
    with distributed.LocalCluster(**quiet, **here) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run(line, tmp_path, deciban, address):
    rng = np.random.default_rng(2)
    label = rng.random(20_000) < 0.1
    score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 1.5, len(label))
    (tmp_path / "trials").mkdir()
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "trials" / "part.parquet")
    line = line.replace("/shared/", f"{tmp_path}/")
    assert deciban(re.sub(r"tcp://\S+", address, line), tmp_path)
