"""The commands of the page on arrays of jobs run in their order."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pages import page

PAGE = page("cluster.md").partition("## Independent jobs")[2]
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_commands_of_the_page_run(tmp_path, deciban):
    rng = np.random.default_rng(2)
    for k in range(2):
        label = rng.random(5000) < 0.1
        score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 1.5, len(label))
        channel = [f"c{one}" for one in rng.integers(0, 40, len(label))]
        columns = {"score": score, "label": label, "channel": channel}
        pq.write_table(pa.table(columns), tmp_path / f"part-{k}.parquet")
        language = rng.integers(0, 3, 500)
        loglik = dict(zip(("deu", "eng", "fra"), rng.normal(size=(3, 500)) + 2 * np.eye(3)[:, language], strict=True))
        names = np.array([*loglik])[language]
        pq.write_table(pa.table({**loglik, "class": names}), tmp_path / f"languages-{k}.parquet")
    assert len(COMMANDS) == 13
    for line in COMMANDS:
        printed = deciban(line, tmp_path)
        of_segments, is_eval = "languages" in line, line.startswith("deciban eval")
        assert ("EER (ROCCH)" in printed) == (is_eval and not of_segments)
        assert ("C_avg" in printed) == (is_eval and of_segments)
    for shards, summary in (("part", "all"), ("languages", "languages")):
        whole, merged = (
            deciban(f"deciban eval {one} --table csv -q", tmp_path)
            for one in (f"{shards}-?.parquet", f"{summary}.summary")
        )
        assert whole.splitlines()[0] == merged.splitlines()[0]
        cells, others = (one.splitlines()[2].split(",")[1:4] for one in (whole, merged))
        assert cells[0] == others[0]
        # Corrected minima of trials without names depend on the order of rows.
        assert [float(one) for one in cells[1:]] == pytest.approx([float(one) for one in others[1:]], rel=0.02)
